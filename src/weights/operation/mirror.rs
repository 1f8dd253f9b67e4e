//! Mirrors and flips weights.

use super::each_point::{Pen, each_of};
use super::plane;
use super::settle::{RowResult, Rules, Sum};
use super::{Mirroring, OperationError, Outcome, Subject};
use crate::math::Axis;
use crate::mesh::Symmetry;
use crate::skeleton::JointId;
use crate::skinning::RowRef;
use crate::task::Task;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// The point has no counterpart.
const NO_PARTNER: &str = "without a counterpart on the other side";
/// Locks prevent the change.
const LOCKED: &str = "whose locked bones keep weights that differ from the other side";

/// Half of a pair would not be symmetric.
const TOO_MANY: &str = "on the centre line that need more influences than the limit";

/// Locked weights that differ by less are equal.
const EQUAL_TOLERANCE: f32 = 1e-4;

/// The mirror image of each joint of the skin.
struct Sides {
    /// n_skin_joints: an involution; an unpaired joint is its own.
    other: Vec<u16>,
    /// n_skin_joints: the joint that receives the weight of an unpaired joint on the other side; the image for all
    /// others.
    recipient: Vec<u16>,
    unpaired: Vec<bool>,
    /// n_skin_joints: whether the joint or its image is in scope.
    in_scope: Vec<bool>,
    /// n_skin_joints: unpaired joints with weight at a mirrored point.
    affected: Vec<AtomicBool>,
}

impl Sides {
    /// The joints across a plane perpendicular to `axis`.
    fn new(subject: &Subject<'_>, axis: Axis) -> Self {
        let swaps = subject.swaps_sides(axis);
        let n = subject.joints.len();
        // A joint may be listed more than once: its first entry corresponds to its counterpart's first.
        let mut entries: BTreeMap<JointId, Vec<u16>> = BTreeMap::new();
        for (i, &joint) in subject.joints.iter().enumerate() {
            entries.entry(joint).or_default().push(i as u16);
        }
        let image = |i: usize| {
            if !swaps {
                return Some(i as u16);
            }
            let joint = subject.joints[i];
            let rank = entries[&joint].iter().position(|&e| usize::from(e) == i)?;
            let partner = subject.pairs.partner(joint)?;
            entries.get(&partner)?.get(rank).copied()
        };
        let mut other: Vec<u16> = (0..n as u16).collect();
        let mut unpaired = vec![false; n];
        for i in 0..n {
            match image(i) {
                Some(k) if image(usize::from(k)) == Some(i as u16) => other[i] = k,
                _ => unpaired[i] = true,
            }
        }
        let recipient_of = |i: usize| {
            if !unpaired[i] {
                return other[i];
            }
            let above = subject.skeleton.ancestors(subject.joints[i]);
            let known = above.filter_map(|joint| Some(usize::from(*entries.get(&joint)?.first()?)));
            let mut paired = known.filter(|&k| k != i && !unpaired[k]);
            paired.next().map_or(i as u16, |k| other[k])
        };
        Self {
            recipient: (0..n).map(recipient_of).collect(),
            in_scope: (0..n as u16)
                .map(|i| {
                    let image = other[usize::from(i)];
                    !subject.is_locked(i) && (subject.acts_on(i) || subject.acts_on(image))
                })
                .collect(),
            affected: unpaired.iter().map(|_| AtomicBool::new(false)).collect(),
            unpaired,
            other,
        }
    }

    fn is_in_scope(&self, joint: u16) -> bool {
        self.in_scope
            .get(usize::from(joint))
            .copied()
            .unwrap_or(false)
    }

    /// Writes the mirror image of a row. `hand_on`: unpaired joints pass their weight to their parent.
    fn image(&self, row: RowRef<'_>, hand_on: bool, out: &mut Vec<(u16, f32)>) {
        out.clear();
        for (joint, weight) in row.iter() {
            let i = usize::from(joint);
            if weight > 0.0 && self.unpaired.get(i) == Some(&true) {
                self.affected[i].store(true, Ordering::Relaxed);
            }
            let map = if hand_on {
                &self.recipient
            } else {
                &self.other
            };
            let image = map.get(i).copied().unwrap_or(joint);
            match out.iter_mut().find(|(j, _)| *j == image) {
                Some((_, sum)) => *sum += weight,
                None => out.push((image, weight)),
            }
        }
    }

    fn notes(&self, subject: &Subject<'_>, handed_on: bool) -> Vec<String> {
        let affected = self.affected.iter().enumerate();
        let affected: Vec<usize> = affected
            .filter(|(_, affected)| affected.load(Ordering::Relaxed))
            .map(|(i, _)| i)
            .collect();
        let name = |i: usize| format!("\"{}\"", subject.skeleton.label(subject.joints[i]));
        let few = 8;
        if affected.len() > few {
            let names: Vec<String> = affected.iter().take(few).map(|&i| name(i)).collect();
            return vec![format!(
                "{} bones have no matching bone on the other side; their weight {}: {} ...",
                affected.len(),
                if handed_on {
                    "goes to the parent there"
                } else {
                    "stays on them"
                },
                names.join(", ")
            )];
        }
        affected
            .into_iter()
            .map(|i| {
                let recipient = usize::from(self.recipient[i]);
                if handed_on && recipient != i {
                    format!(
                        "{} has no matching bone on the other side: there its weight goes to {}.",
                        name(i),
                        name(recipient)
                    )
                } else {
                    format!(
                        "{} has no matching bone on the other side: it keeps its weight.",
                        name(i)
                    )
                }
            })
            .collect()
    }
}

/// n_skin_joints: the joint that receives a joint's weight on the other side, if unpaired joints pass it to their
/// parent; and the unpaired joints, ascending.
pub fn joints_in_mirror(subject: &Subject<'_>, axis: Axis) -> (Vec<u16>, Vec<u16>) {
    let sides = Sides::new(subject, axis);
    let unpaired = (0..).zip(&sides.unpaired);
    let unpaired = unpaired.filter(|(_, unpaired)| **unpaired);
    let unpaired = unpaired.map(|(joint, _)| joint).collect();
    (sides.recipient, unpaired)
}

fn check(mirroring: Mirroring) -> Result<(), OperationError> {
    if (0.0..=1.0).contains(&mirroring.tolerance) {
        Ok(())
    } else {
        Err(OperationError::Refused(format!(
            "The tolerance must be 0 - 1 of the model's size, not {}.",
            mirroring.tolerance
        )))
    }
}

/// Whether a point, or the point it copies, is in scope.
fn is_included(subject: &Subject<'_>, symmetry: &Symmetry, point: u32) -> bool {
    subject.includes(point)
        || symmetry
            .source(point)
            .is_some_and(|source| subject.includes(source))
}

/// Copies one side to the other. Points on the centre line become symmetric.
pub(super) fn mirror(
    mirroring: Mirroring,
    subject: &Subject<'_>,
    task: &Task,
) -> Result<Outcome, OperationError> {
    check(mirroring)?;
    let symmetry = subject.symmetry(mirroring.axis, mirroring.tolerance, task)?;
    let sides = Sides::new(subject, mirroring.axis);
    let rules = Rules::new(subject);
    let axis = mirroring.axis.index();
    let across = |point: u32| subject.mesh.positions[point as usize][axis] - symmetry.centre();
    // Of a pair the point farther along the axis is on the positive side.
    let is_given = |point: u32, partner: Option<u32>| {
        let (here, there) = (across(point), partner.map_or(0.0, across));
        let positive = match here.total_cmp(&there) {
            std::cmp::Ordering::Equal => partner.is_none_or(|q| point < q),
            order => order.is_gt(),
        };
        positive == mirroring.from_positive
    };
    let tally = each_of(
        &rules,
        task,
        "Mirroring",
        |point| is_included(subject, &symmetry, point),
        |point, before, pen| {
            let partner = symmetry.partner(point);
            if partner == Some(point) {
                return centred(&rules, &sides, before, pen);
            }
            let Some(source) = symmetry.source(point) else {
                return RowResult::Left(NO_PARTNER);
            };
            if is_given(point, partner) {
                return RowResult::Same;
            }
            // The source of an unmatched point must not change itself.
            let other = symmetry.partner(source);
            if partner.is_none() && (other == Some(source) || !is_given(source, other)) {
                return RowResult::Left(NO_PARTNER);
            }
            take(&rules, &sides, before, subject.row(source), true, pen)
        },
    )?;
    let mut notes = Vec::from_iter(plane::side_note(subject, mirroring.axis));
    notes.extend(plane::match_notes(&symmetry));
    notes.extend(sides.notes(subject, true));
    Ok(tally.outcome(notes))
}

/// Exchanges the two sides.
pub(super) fn flip(
    mirroring: Mirroring,
    subject: &Subject<'_>,
    task: &Task,
) -> Result<Outcome, OperationError> {
    check(mirroring)?;
    let symmetry = subject.symmetry(mirroring.axis, mirroring.tolerance, task)?;
    let sides = Sides::new(subject, mirroring.axis);
    let rules = Rules::new(subject);
    let tally = each_of(
        &rules,
        task,
        "Flipping",
        |point| is_included(subject, &symmetry, point),
        |point, before, pen| match symmetry.source(point) {
            Some(source) => take(&rules, &sides, before, subject.row(source), false, pen),
            None => RowResult::Left(NO_PARTNER),
        },
    )?;
    let mut notes = Vec::from_iter(plane::side_note(subject, mirroring.axis));
    notes.extend(plane::match_notes(&symmetry));
    notes.extend(sides.notes(subject, false));
    Ok(tally.outcome(notes))
}

/// Gives a point the mirror image of another row.
fn take(
    rules: &Rules<'_>,
    sides: &Sides,
    before: RowRef<'_>,
    source: RowRef<'_>,
    hand_on: bool,
    pen: &mut Pen,
) -> RowResult {
    let Pen {
        row,
        other,
        remarks,
    } = pen;
    sides.image(source, hand_on, other);
    let differs = |&(joint, weight): &(u16, f32)| {
        rules.subject.is_locked(joint) && (before.weight_of(joint) - weight).abs() > EQUAL_TOLERANCE
    };
    let is_kept = |(joint, weight): (u16, f32)| {
        rules.subject.is_locked(joint)
            && weight > EQUAL_TOLERANCE
            && other.iter().all(|(image, _)| *image != joint)
    };
    if other.iter().any(differs) || before.iter().any(is_kept) {
        remarks.push(LOCKED);
    }
    rules.adopt(before, other, |joint| sides.is_in_scope(joint), row)
}

/// Makes the weights of a point on the centre line symmetric. If one side is locked the other follows it.
fn centred(rules: &Rules<'_>, sides: &Sides, before: RowRef<'_>, pen: &mut Pen) -> RowResult {
    let row = &mut pen.row;
    row.clear();
    row.extend(before.iter());
    // (joint, weight of its image) of joints that the row does not have yet
    let image = |joint: u16| {
        let i = usize::from(joint);
        sides.other.get(i).copied().unwrap_or(joint)
    };
    for (joint, weight) in before.iter() {
        let other = image(joint);
        if other == joint {
            if sides.unpaired.get(usize::from(joint)) == Some(&true) && weight > 0.0 {
                sides.affected[usize::from(joint)].store(true, Ordering::Relaxed);
            }
            continue;
        }
        if weight > 0.0 && !before.joints.contains(&other) {
            row.push((other, 0.0));
        }
    }
    let follows = |joint: u16| sides.is_in_scope(joint) && rules.subject.is_locked(image(joint));
    for (joint, weight) in row.iter_mut().filter(|e| sides.is_in_scope(e.0)) {
        let there = before.weight_of(image(*joint));
        *weight = if follows(*joint) {
            there
        } else {
            // Halves first: the sum of two equal halves does not depend on the order.
            0.5 * *weight + 0.5 * there
        };
    }
    row.retain(|&(joint, weight)| weight > 0.0 || before.joints.contains(&joint));
    if super::settle::is_same(before, row) {
        return RowResult::Same;
    }
    row.retain(|&(joint, weight)| weight > 0.0 || rules.subject.is_locked(joint));
    let lost = row.len() > rules.most;
    if lost && !keep_largest(rules, sides, row, image, follows) {
        return RowResult::Left(TOO_MANY);
    }
    match rules.settle(before, row, Sum::Kept, |joint| {
        if follows(joint) {
            2
        } else {
            u8::from(sides.is_in_scope(joint))
        }
    }) {
        RowResult::New { lost: more } => RowResult::New { lost: lost || more },
        other => other,
    }
}

/// Limits influences by pairs, so that the row stays symmetric; images of locked joints are kept first. `false` if they
/// do not fit, or if none fits.
fn keep_largest(
    rules: &Rules<'_>,
    sides: &Sides,
    row: &mut Vec<(u16, f32)>,
    image: impl Fn(u16) -> u16,
    follows: impl Fn(u16) -> bool,
) -> bool {
    // (whether it must stay, the larger weight, the lower joint, how many)
    let mut groups: Vec<(bool, f32, u16, usize)> = Vec::new();
    for &(joint, weight) in row.iter().filter(|e| sides.is_in_scope(e.0)) {
        let name = joint.min(image(joint));
        match groups.iter_mut().find(|g| g.2 == name) {
            Some(group) => {
                group.1 = group.1.max(weight);
                group.3 += 1;
            }
            None => groups.push((follows(joint), weight, name, 1)),
        }
    }
    groups.sort_by(|a, b| {
        let by_need = b.0.cmp(&a.0).then(b.1.total_cmp(&a.1));
        by_need.then(a.2.cmp(&b.2))
    });
    let n_asked = groups.iter().map(|g| g.3).sum::<usize>();
    let mut room = rules.most.saturating_sub(row.len() - n_asked);
    let mut all_needed = true;
    groups.retain(|&(needed, _, _, n)| {
        let fits = n <= room;
        room -= if fits { n } else { 0 };
        all_needed &= fits || !needed;
        fits
    });
    let is_kept = |joint: u16| {
        let name = joint.min(image(joint));
        groups.iter().any(|g| g.2 == name)
    };
    row.retain(|&(joint, _)| !sides.is_in_scope(joint) || is_kept(joint));
    all_needed && !groups.is_empty()
}
