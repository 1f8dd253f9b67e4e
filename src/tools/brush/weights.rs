//! Painting weights of one or several bones.

use super::action::Action;
use super::changed_rows::{ChangedRows, Row};
use super::painted_bones::{mirrored_joints, painted_joints, swaps_sides};
use super::ring;
use super::touched::{SIDES, Touched};
use crate::document::session::{BrushKind, Normalising, SmoothedBones};
use crate::document::{Document, Edit, InstanceId, MeshId, MeshItem};
use crate::finding::counted;
use crate::mesh::PointSet;
use crate::skeleton::JointId;
use crate::skinning::{PaintRows, RowRef, Rows};
use crate::tools::Stamped;
use crate::weights::{PaintRules, blend_row, set_weights, settle_row};
use rayon::prelude::*;

/// A stroke on the weights of one bone, or of several together.
#[derive(Debug)]
pub(super) struct WeightPaint {
    action: Action,
    /// The painted bones, as indices of the skin: under the pointer, and on the other side.
    joints: [Vec<u16>; SIDES],
    /// n_skin_joints.
    locked: Vec<bool>,
    /// Whether all unlocked bones are smoothed.
    all: bool,
    /// Whether each dab starts from the result of the last one.
    accumulate: bool,
    normalise: Normalising,
    max_influences: usize,
    /// The row of each slot before the stroke.
    before: Rows,
    /// Whether the layer did not affect each slot: `before` is then the row of the layers below.
    was_empty: Vec<bool>,
    /// The present rows of the slots that changed.
    now: ChangedRows,
    /// The reason why the last dab did not change each slot.
    blocked: Vec<Option<Blocked>>,
    /// Slots that changed since the last edit.
    changed: Vec<u32>,
    any: bool,
    /// Points that lost influences because of the limit.
    limited: PointSet,
    /// More notes for the end of the stroke.
    note: Option<String>,
}

/// The target of a stroke.
#[derive(Clone, Copy)]
pub(super) struct StrokeTarget<'a> {
    pub(super) item: &'a MeshItem,
    pub(super) rows: PaintRows<'a>,
    pub(super) touched: &'a Touched,
    pub(super) slots: &'a Stamped<u32>,
}

impl WeightPaint {
    /// A stroke on `instance`, or the reason why it cannot start.
    pub(super) fn begin(
        document: &Document,
        instance: InstanceId,
        action: Action,
    ) -> Result<(MeshId, Self), String> {
        let (skeleton, brush) = (document.skeleton(), &document.session().brush);
        let Some(drawn) = document.instances().get(&instance) else {
            return Err("The mesh does not exist any more.".into());
        };
        let name = document
            .meshes()
            .get(&drawn.mesh)
            .map_or("", |m| m.geometry.name.as_str());
        let Some(skin) = drawn.skin.and_then(|s| document.skins().get(&s)) else {
            return Err(format!(
                "\"{name}\" is not skinned: it follows one bone and has no weights to paint."
            ));
        };
        let Some(active) = document.session().active_joint else {
            return Err(
                "No bone is active. Click a bone in the view or in the list, then paint.".into(),
            );
        };
        let label = skeleton.label(active);
        let Some(joint) = skin.joints.iter().position(|&j| j == active) else {
            return Err(format!(
                "\"{label}\" is not a bone of the skin that moves \"{name}\"."
            ));
        };
        let locked = document.skin_locks(drawn.mesh);
        let n_shared = document.n_skin_joints(drawn.mesh).unwrap_or(0);
        if joint >= n_shared {
            return Err(format!(
                "Not every skin that moves \"{name}\" has the bone \"{label}\", so it cannot be painted."
            ));
        }
        if locked[joint] {
            return Err(format!("\"{label}\" is locked. Unlock it to paint."));
        }
        if let Some(why) = document.why_not_paintable(drawn.mesh) {
            return Err(why);
        }
        let painted = painted_joints(document, skin, active, |j| j < n_shared && !locked[j]);
        let n_free = locked.iter().filter(|l| !**l).count();
        if brush.normalise != Normalising::Off && locked.len() > 1 {
            if n_free == 1 {
                return Err(format!(
                    "All bones except \"{label}\" are locked, so no weight can move. Unlock another bone."
                ));
            }
            if n_free <= painted.len() && action.kind.has_value() {
                return Err(
                    "All bones that are not locked are painted together, so no weight can move. Select fewer bones."
                        .to_owned(),
                );
            }
        }
        let all = brush.smoothed == SmoothedBones::All && action.kind.averages();
        let index = |j: JointId| skin.joints.iter().position(|&k| k == j);
        let can_paint = |j| index(j).filter(|&i| i < n_shared && !locked[i]);
        let indices = painted.iter().filter_map(|&j| index(j));
        let indices: Vec<u16> = indices.map(|i| i as u16).collect();
        let (other_side, note) = match brush.symmetry {
            // Smoothing all bones needs no active bone.
            Some(axis) if !all && swaps_sides(document, drawn.mesh, axis) => {
                mirrored_joints(document, &painted, can_paint)
            }
            // Across any other plane the other half of the same bone is painted.
            Some(_) if !all => (indices.clone(), None),
            _ => (Vec::new(), None),
        };
        let paint = Self {
            action,
            joints: [indices, other_side],
            locked,
            all,
            accumulate: brush.accumulate,
            normalise: brush.normalise,
            max_influences: brush.max_influences,
            before: Rows::default(),
            was_empty: Vec::new(),
            now: ChangedRows::default(),
            blocked: Vec::new(),
            changed: Vec::new(),
            any: false,
            limited: PointSet::default(),
            note,
        };
        Ok((drawn.mesh, paint))
    }

    fn rules(&self) -> PaintRules<'_> {
        PaintRules {
            locked: &self.locked,
            normalise: self.normalise == Normalising::Live,
            max_influences: self.max_influences,
        }
    }

    /// Stores the row of a point before the stroke.
    pub(super) fn add_slot(&mut self, rows: PaintRows<'_>, point: u32) {
        self.before.push(rows.row(point));
        self.was_empty.push(rows.layer.row(point).is_empty());
        self.now.push();
        self.blocked.push(None);
    }

    /// Computes the new rows of the slots.
    pub(super) fn update(&mut self, target: StrokeTarget<'_>, dirty: &[u32]) {
        let this = &*self;
        let parts: Vec<Part> = if dirty.len() <= SLOTS_PER_TASK {
            vec![this.part_of(dirty, target)]
        } else {
            let parts = dirty.par_chunks(SLOTS_PER_TASK);
            parts.map(|dirty| this.part_of(dirty, target)).collect()
        };
        for (dirty, part) in dirty.chunks(SLOTS_PER_TASK).zip(parts) {
            let mut begin = 0;
            for (&slot, (end, what)) in dirty.iter().zip(part.ends) {
                let row = &part.entries[begin..end];
                begin = end;
                self.take(slot, what, row, target);
            }
        }
    }

    /// The new rows of some slots.
    fn part_of(&self, dirty: &[u32], target: StrokeTarget<'_>) -> Part {
        let (mut scratch, mut out) = (Scratch::default(), Row::new());
        let mut part = Part::default();
        for &slot in dirty {
            let what = self.row_of(slot, target, &mut scratch, &mut out);
            if what == DabResult::New {
                part.entries.extend_from_slice(&out);
            }
            part.ends.push((part.entries.len(), what));
        }
        part
    }

    /// Stores the new row of a slot.
    fn take(&mut self, slot: u32, what: DabResult, row: &[(u16, f32)], target: StrokeTarget<'_>) {
        let index = slot as usize;
        self.blocked[index] = match what {
            DabResult::Blocked(why) => Some(why),
            DabResult::New | DabResult::Same => None,
        };
        let now = self.now.get(index);
        if what == DabResult::New {
            self.any = true;
            let n_before = self.before.row(index).len();
            if n_before > self.max_influences && row.len() < n_before {
                self.limited.insert(target.touched.points[index]);
            }
            if now != Some(row) {
                self.now.set(index, row);
                self.changed.push(slot);
            }
        } else if now.is_some() && !self.accumulate {
            self.now.clear(index);
            self.changed.push(slot);
        }
    }

    /// Writes to `out` the new row of a slot if it differs from its start.
    fn row_of(
        &self,
        slot: u32,
        target: StrokeTarget<'_>,
        scratch: &mut Scratch,
        out: &mut Row,
    ) -> DabResult {
        let point = target.touched.points[slot as usize];
        let effects = target.touched.effects[slot as usize];
        let rules = self.rules();
        let Scratch {
            joints,
            weights,
            near,
            mean,
            wanted,
        } = scratch;
        self.base(slot, joints, weights);
        let base = RowRef { joints, weights };
        if self.action.kind.averages() {
            ring(target.item, point, near);
            self.mean_of(near, target, mean);
            if mean.is_empty() {
                return DabResult::Same;
            }
        }
        if self.all {
            let effect = effects[0].max(effects[1]);
            let share = if self.action.kind == BrushKind::Smooth {
                effect
            } else {
                -effect
            };
            let is_new = effect > 0.0 && blend_row(base, mean, share, &rules, out);
            return if is_new {
                DabResult::New
            } else {
                DabResult::Same
            };
        }
        wanted.clear();
        for (side, &effect) in effects.iter().enumerate() {
            if effect > 0.0 {
                self.want(side, effect, base, mean, effects, wanted);
            }
        }
        if set_weights(base, wanted, &rules, out) {
            DabResult::New
        } else {
            why_blocked(base, wanted, &rules).map_or(DabResult::Same, DabResult::Blocked)
        }
    }

    /// Adds the requested weights of the bones of one side at a point.
    fn want(
        &self,
        side: usize,
        effect: f32,
        base: RowRef<'_>,
        mean: &[(u16, f32)],
        effects: [f32; SIDES],
        wanted: &mut Row,
    ) {
        let group = &self.joints[side];
        let mut put = |joint: u16, weight: f32| match wanted.iter_mut().find(|w| w.0 == joint) {
            // A bone in the middle belongs to both halves: the stronger dab counts.
            Some(known) if effect > effects[0] => known.1 = weight,
            Some(_) => {}
            None => wanted.push((joint, weight)),
        };
        if self.action.kind.averages() {
            for &joint in group {
                let of_mean = mean.iter().find(|(j, _)| *j == joint);
                let weight = self.action.of(
                    base.weight_of(joint),
                    of_mean.map_or(0.0, |(_, w)| *w),
                    effect,
                );
                put(joint, weight);
            }
            return;
        }
        let before: f32 = group.iter().map(|&j| base.weight_of(j)).sum();
        let after = self.action.of(before.min(1.0), 0.0, effect);
        for &joint in group {
            let share = if group.len() == 1 {
                1.0
            } else if before > 0.0 {
                base.weight_of(joint) / before
            } else {
                1.0 / group.len() as f32
            };
            put(joint, after * share);
        }
    }

    /// The row from which a dab starts at a slot.
    fn base(&self, slot: u32, joints: &mut Vec<u16>, weights: &mut Vec<f32>) {
        joints.clear();
        weights.clear();
        match self.now.get(slot as usize).filter(|_| self.accumulate) {
            Some(row) => {
                joints.extend(row.iter().map(|e| e.0));
                weights.extend(row.iter().map(|e| e.1));
            }
            None => {
                let row = self.before.row(slot as usize);
                joints.extend_from_slice(row.joints);
                weights.extend_from_slice(row.weights);
            }
        }
    }

    /// The mean of the rows of some points, as a dab starts from them.
    fn mean_of(&self, points: &[u32], target: StrokeTarget<'_>, mean: &mut Row) {
        mean.clear();
        let share = 1.0 / points.len().max(1) as f32;
        let mut add = |joint: u16, weight: f32| match mean.iter_mut().find(|m| m.0 == joint) {
            Some((_, sum)) => *sum += weight * share,
            None => mean.push((joint, weight * share)),
        };
        for &point in points {
            let slot = target.slots.get(point).map(|slot| slot as usize);
            match (slot, slot.and_then(|slot| self.now.get(slot))) {
                (Some(_), Some(row)) if self.accumulate => {
                    for &(joint, weight) in row {
                        add(joint, weight);
                    }
                }
                (Some(slot), _) => {
                    self.before.row(slot).iter().for_each(|(j, w)| add(j, w));
                }
                (None, _) => {
                    let row = target.rows.row(point);
                    row.iter().for_each(|(j, w)| add(j, w));
                }
            }
        }
    }

    /// Normalises rows if that was deferred to the end of the stroke.
    pub(super) fn settle(&mut self) {
        if self.normalise != Normalising::OnRelease {
            return;
        }
        let painted: Vec<u16> = if self.all {
            Vec::new()
        } else {
            self.joints.iter().flatten().copied().collect()
        };
        let mut kept = painted;
        kept.sort_unstable();
        kept.dedup();
        let mut out = Row::new();
        for slot in 0..self.now.len() {
            let Some(row) = self.now.get(slot) else {
                continue;
            };
            let (joints, weights): (Vec<u16>, Vec<f32>) = row.iter().copied().unzip();
            let raw = RowRef {
                joints: &joints,
                weights: &weights,
            };
            if settle_row(raw, &kept, &self.rules(), &mut out) {
                self.now.set(slot, &out);
                self.changed.push(slot as u32);
            }
        }
    }

    pub(super) fn take_edit(
        &mut self,
        document: &Document,
        mesh: MeshId,
        touched: &Touched,
    ) -> Option<Edit> {
        let mut changed = std::mem::take(&mut self.changed);
        if changed.is_empty() {
            return None;
        }
        changed.sort_unstable();
        changed.dedup();
        let mut rows = Rows::with_capacity(changed.len());
        let mut points = Vec::with_capacity(changed.len());
        let is_over = document.paints_over(mesh);
        for slot in changed {
            points.push(touched.points[slot as usize]);
            let before = self.before.row(slot as usize);
            match (self.now.get(slot as usize), before.joints.first()) {
                // The layer affects the point, with no weight.
                (Some([]), Some(&joint)) if is_over => rows.push_pairs([(joint, 0.0)]),
                (Some(row), _) => rows.push_pairs(row.iter().copied()),
                (None, _) if self.was_empty[slot as usize] => rows.push_pairs([]),
                (None, _) => rows.push(before),
            }
        }
        Some(document.layer_edit(mesh, points, rows))
    }

    pub(super) fn take_note(&mut self) -> Option<String> {
        let n = self.limited.count();
        if let Some(note) = self.note.take() {
            return Some(note);
        }
        if n > 0 {
            return Some(format!(
                "{n} vertices had more influences than the brush allows; the smallest were dropped."
            ));
        }
        if let Some(reason) = self.action.no_effect_reason().filter(|_| !self.any) {
            return Some(reason.to_owned());
        }
        let count = |why: Blocked| {
            let slots = self.blocked.iter().enumerate();
            let blocked = slots
                .filter(|(slot, blocked)| **blocked == Some(why) && self.now.get(*slot).is_none());
            blocked.count()
        };
        let alone = count(Blocked::Alone);
        if alone > 0 {
            let follow = if alone == 1 { "follows" } else { "follow" };
            return Some(format!(
                "{} {follow} only this bone. Paint another bone there instead.",
                counted(alone, "vertex")
            ));
        }
        let locked = count(Blocked::Locked);
        if locked > 0 {
            return Some(format!(
                "Locked bones have all weight of {}. Unlock one to move weight there.",
                counted(locked, "vertex")
            ));
        }
        let full = count(Blocked::Full);
        (full > 0 && !self.any).then(|| {
            format!(
                "{} already have {} stronger influences, the brush's limit. Use more strength or raise the limit.",
                counted(full, "vertex"),
                self.max_influences
            )
        })
    }
}

/// The reason why a point does not change although the dab reaches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blocked {
    /// No other bone could take its weight.
    Alone,
    /// Locked bones leave no other weight.
    Locked,
    /// Stronger influences fill the limit.
    Full,
}

/// The result of a dab at a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DabResult {
    New,
    Same,
    Blocked(Blocked),
}

/// The results of dabs at some slots.
#[derive(Debug, Default)]
struct Part {
    /// One new row after the other.
    entries: Row,
    /// For each slot the end of its row, and its result.
    ends: Vec<(usize, DabResult)>,
}

/// Number of slots that one thread computes at a time.
const SLOTS_PER_TASK: usize = 512;

/// Smallest change of a weight that counts as missing.
const NOTICEABLE: f32 = 1e-3;

/// The reason why the row `base` does not change although other weights are requested.
fn why_blocked(base: RowRef<'_>, wanted: &[(u16, f32)], rules: &PaintRules<'_>) -> Option<Blocked> {
    let is_asked = |&(joint, weight): &(u16, f32)| {
        let change = weight.clamp(0.0, 1.0) - base.weight_of(joint);
        !rules.is_locked(joint) && change.abs() > NOTICEABLE
    };
    if !rules.normalise || !wanted.iter().any(is_asked) {
        return None;
    }
    let is_wanted = |joint: u16| wanted.iter().any(|w| w.0 == joint);
    let weighted = || base.iter().filter(|e| e.1 > 0.0);
    Some(
        if weighted().any(|(j, _)| !rules.is_locked(j) && !is_wanted(j)) {
            Blocked::Full
        } else if weighted().any(|(j, _)| rules.is_locked(j)) {
            Blocked::Locked
        } else {
            Blocked::Alone
        },
    )
}

/// Memory for one row after the other.
#[derive(Default)]
struct Scratch {
    joints: Vec<u16>,
    weights: Vec<f32>,
    near: Vec<u32>,
    mean: Row,
    wanted: Row,
}
