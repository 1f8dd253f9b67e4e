//! Sets the weights of joints at one point.

use crate::skinning::RowRef;

/// The constraints of painting.
#[derive(Clone, Copy)]
pub struct PaintRules<'a> {
    /// n_skin_joints: locked joints.
    pub locked: &'a [bool],
    /// Whether the other unlocked joints are scaled to keep the sum at 1.
    pub normalise: bool,
    /// Maximum number of influences of the new row.
    pub max_influences: usize,
}

impl PaintRules<'_> {
    /// Whether `joint` keeps its weight.
    pub fn is_locked(&self, joint: u16) -> bool {
        self.locked
            .get(usize::from(joint))
            .copied()
            .unwrap_or(false)
    }

    /// 1 minus the sum of the locked weights.
    fn room(&self, row: RowRef<'_>) -> f32 {
        let locked = row.iter().filter(|&(j, _)| self.is_locked(j));
        let locked_sum: f32 = locked.map(|(_, w)| w).sum();
        (1.0 - locked_sum).max(0.0)
    }
}

/// Smallest weight of a new influence.
const MIN_NEW_WEIGHT: f32 = 1e-5;

/// [`set_weights`] of one joint.
pub fn set_weight(
    row: RowRef<'_>,
    joint: u16,
    weight: f32,
    rules: &PaintRules<'_>,
    out: &mut Vec<(u16, f32)>,
) -> bool {
    set_weights(row, &[(joint, weight)], rules, out)
}

/// Writes to `out` the row in which each joint of `wanted` (distinct) has its weight, clamped to the weight that locks
/// leave; `false` if nothing changes. Locked joints in `wanted` are ignored.
///
/// With `normalise` the other unlocked joints get the rest in their old proportion. Without such a joint the requested
/// ones get all that locked ones leave, so that the sum stays 1. The smallest unlocked influences beyond the limit are
/// dropped: others, or a requested one that is new. Locked ones, and requested ones that were there, stay even above
/// the limit, and so does the last other one while it is larger than the requested ones: a faint dab must not remove
/// all of it.
pub fn set_weights(
    row: RowRef<'_>,
    wanted: &[(u16, f32)],
    rules: &PaintRules<'_>,
    out: &mut Vec<(u16, f32)>,
) -> bool {
    out.clear();
    let most = if rules.normalise {
        rules.room(row)
    } else {
        1.0
    };
    // Where all joints have the requested weights already, the other weights keep every bit.
    let changes = wanted.iter().any(|&(joint, weight)| {
        !rules.is_locked(joint) && weight.clamp(0.0, most) != row.weight_of(joint)
    });
    changes && write_row(row, wanted, most, rules, out)
}

/// Writes to `out` the row normalised to 1 as far as locks allow; the joints of `kept` are scaled last. `false` where
/// nothing changes.
pub fn settle_row(
    row: RowRef<'_>,
    kept: &[u16],
    rules: &PaintRules<'_>,
    out: &mut Vec<(u16, f32)>,
) -> bool {
    out.clear();
    let rules = PaintRules {
        normalise: true,
        ..*rules
    };
    let room = rules.room(row);
    let kept: Vec<(u16, f32)> = kept
        .iter()
        .map(|&joint| (joint, row.weight_of(joint)))
        .collect();
    write_row(row, &kept, room, &rules, out)
}

fn write_row(
    row: RowRef<'_>,
    wanted: &[(u16, f32)],
    most: f32,
    rules: &PaintRules<'_>,
    out: &mut Vec<(u16, f32)>,
) -> bool {
    let mut wanted: Vec<(u16, f32)> = wanted
        .iter()
        .filter(|(joint, _)| !rules.is_locked(*joint))
        .map(|&(joint, weight)| (joint, weight.clamp(0.0, most)))
        .collect();
    let sum: f32 = wanted.iter().map(|(_, w)| w).sum();
    let is_all = rules.normalise && sum > most && wanted.len() > 1;
    if is_all {
        scale(&mut wanted, most / sum);
    }
    let is_wanted = |joint: u16| wanted.iter().any(|(j, _)| *j == joint);
    out.extend(
        row.iter()
            .filter(|&(j, w)| !is_wanted(j) && (w > 0.0 || rules.is_locked(j))),
    );
    let refused = make_room(row, &mut wanted, most, rules, out);
    if refused && wanted.is_empty() {
        out.clear();
        return false;
    }
    let sum = if is_all && !refused {
        most
    } else {
        wanted.iter().map(|(_, w)| w).sum()
    };
    if rules.normalise {
        let others: f32 = out
            .iter()
            .filter(|&&(j, _)| !rules.is_locked(j))
            .map(|&(_, w)| w)
            .sum();
        if others > 0.0 {
            let factor = (most - sum).max(0.0) / others;
            for (j, w) in out.iter_mut() {
                if !rules.is_locked(*j) {
                    *w *= factor;
                }
            }
        } else {
            fill(&mut wanted, row, sum, most);
        }
    }
    out.retain(|&(j, w)| w > 0.0 || rules.is_locked(j));
    // A painted joint keeps its index in the row, so that painting and subtracting the same restores the row.
    let place_of = |joint: u16| row.joints.iter().position(|&j| j == joint);
    wanted.sort_by_key(|&(joint, _)| place_of(joint).unwrap_or(usize::MAX));
    for (joint, weight) in wanted.into_iter().filter(|(_, w)| *w > 0.0) {
        let before = &row.joints[..place_of(joint).unwrap_or(row.len())];
        let is_new = before.len() == row.len();
        let place = if is_new {
            out.len()
        } else {
            let is_kept = |j: &&u16| out.iter().any(|(k, _)| k == *j);
            before.iter().filter(is_kept).count()
        };
        out.insert(place, (joint, weight));
    }
    !out.iter().copied().eq(row.iter())
}

/// Drops the smallest influences beyond the limit, compared as if all fitted: others from `out`, or those of `wanted`
/// that are new in the row. Returns whether some of `wanted` were dropped.
fn make_room(
    row: RowRef<'_>,
    wanted: &mut Vec<(u16, f32)>,
    most: f32,
    rules: &PaintRules<'_>,
    out: &mut Vec<(u16, f32)>,
) -> bool {
    let mut refused = false;
    loop {
        let n_wanted = wanted.iter().filter(|(_, w)| *w > 0.0).count();
        if out.len() + n_wanted <= rules.max_influences.max(1) {
            return refused;
        }
        let free = || out.iter().filter(|(j, _)| !rules.is_locked(*j));
        let (n_free, others) = (free().count(), free().map(|(_, w)| w).sum::<f32>());
        let sum: f32 = wanted.iter().map(|(_, w)| w).sum();
        let factor = if rules.normalise && others > 0.0 {
            (most - sum).max(0.0) / others
        } else {
            1.0
        };
        let by_weight = |a: &(usize, f32), b: &(usize, f32)| a.1.total_cmp(&b.1);
        let places = out.iter().enumerate();
        let places = places.filter(|(_, (j, _))| !rules.is_locked(*j));
        let smallest = places.map(|(i, (_, w))| (i, w * factor)).min_by(by_weight);
        let Some((other, weight)) = smallest else {
            return refused;
        };
        let newcomers = wanted.iter().enumerate();
        let newcomers = newcomers.filter(|(_, (j, w))| *w > 0.0 && row.weight_of(*j) <= 0.0);
        let newcomer = newcomers.map(|(i, (_, w))| (i, *w)).min_by(by_weight);
        match newcomer {
            Some((i, new)) if new <= MIN_NEW_WEIGHT || new <= weight => {
                wanted.remove(i);
                refused = true;
            }
            None if rules.normalise && n_free == 1 && sum <= weight => return refused,
            _ => {
                out.remove(other);
            }
        }
    }
}

/// Scales `wanted` to the sum `room`: in their proportion, else in that of `row`, else equally.
fn fill(wanted: &mut [(u16, f32)], row: RowRef<'_>, sum: f32, room: f32) {
    if let [(_, weight)] = wanted {
        *weight = room;
    } else if sum > 0.0 {
        scale(wanted, room / sum);
    } else {
        let before: f32 = wanted.iter().map(|&(j, _)| row.weight_of(j)).sum();
        let equal = room / wanted.len().max(1) as f32;
        for (joint, weight) in wanted {
            *weight = if before > 0.0 {
                row.weight_of(*joint) / before * room
            } else {
                equal
            };
        }
    }
}

fn scale(weights: &mut [(u16, f32)], factor: f32) {
    for (_, weight) in weights {
        *weight *= factor;
    }
}

/// Writes to `out` the row whose unlocked joints moved by the fraction `share` towards `mean`, or away from it if
/// negative; `false` where nothing changes. Joints may come from `mean`. With `normalise` the sum is 1 again.
pub fn blend_row(
    row: RowRef<'_>,
    mean: &[(u16, f32)],
    share: f32,
    rules: &PaintRules<'_>,
    out: &mut Vec<(u16, f32)>,
) -> bool {
    out.clear();
    let in_mean = |joint: u16| mean.iter().find(|(j, _)| *j == joint).map_or(0.0, |e| e.1);
    out.extend(row.iter().map(|(j, w)| {
        let moved = (w + (in_mean(j) - w) * share).clamp(0.0, 1.0);
        (j, if rules.is_locked(j) { w } else { moved })
    }));
    if share > 0.0 {
        let is_new = |j: u16| !rules.is_locked(j) && !row.joints.contains(&j);
        let new = mean.iter().map(|&(j, m)| (j, m * share));
        out.extend(new.filter(|&(j, w)| w > MIN_NEW_WEIGHT && is_new(j)));
    }
    out.retain(|&(j, w)| w > 0.0 || rules.is_locked(j));
    limit(out, rules);
    if rules.normalise {
        let room = rules.room(row);
        let free = out.iter().filter(|(j, _)| !rules.is_locked(*j));
        let sum: f32 = free.map(|(_, w)| w).sum();
        if sum <= 0.0 {
            return false;
        }
        for (joint, weight) in out.iter_mut() {
            if !rules.is_locked(*joint) {
                *weight *= room / sum;
            }
        }
        out.retain(|&(j, w)| w > 0.0 || rules.is_locked(j));
    }
    !out.iter().copied().eq(row.iter())
}

/// Drops the smallest unlocked entries above the limit. The last one stays where locks leave it weight: without it the
/// sum could not be 1.
fn limit(row: &mut Vec<(u16, f32)>, rules: &PaintRules<'_>) {
    while row.len() > rules.max_influences.max(1) {
        let free = || row.iter().filter(|(j, _)| !rules.is_locked(*j));
        if free().count() == 1 && free().all(|(_, w)| *w > MIN_NEW_WEIGHT) {
            break;
        }
        let smallest = row
            .iter()
            .enumerate()
            .filter(|(_, (j, _))| !rules.is_locked(*j))
            .min_by(|(_, (_, a)), (_, (_, b))| a.total_cmp(b))
            .map(|(i, _)| i);
        match smallest {
            Some(i) => row.remove(i),
            None => break,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skinning::Rows;

    #[test]
    fn a_limit_leaves_the_weight_that_locks_do_not_have() {
        let rows: Rows = [vec![(1, 0.95), (2, 0.05)]].into_iter().collect();
        for normalise in [false, true] {
            let rules = PaintRules {
                locked: &[false, false, true],
                normalise,
                max_influences: 1,
            };
            let mut out = Vec::new();
            let mean = [(0, 0.2), (1, 0.8)];
            blend_row(rows.row(0), &mean, 0.5, &rules, &mut out);
            let row = if out.is_empty() {
                vec![(1, 0.95), (2, 0.05)]
            } else {
                out
            };
            let weight = |joint: u16| row.iter().find(|e| e.0 == joint).map_or(0.0, |e| e.1);
            assert!(weight(1) > 0.8, "{row:?}");
            assert_eq!(weight(2), 0.05);
        }
    }

    fn painted(
        row: &[(u16, f32)],
        joint: u16,
        weight: f32,
        locked: &[bool],
        max: usize,
    ) -> Option<Vec<(u16, f32)>> {
        let rows: Rows = [row.to_vec()].into_iter().collect();
        let rules = PaintRules {
            locked,
            normalise: true,
            max_influences: max,
        };
        let mut out = Vec::new();
        set_weight(rows.row(0), joint, weight, &rules, &mut out).then_some(out)
    }

    #[test]
    fn the_others_share_the_rest_in_their_proportion() {
        let row = [(0, 0.5), (1, 0.3), (2, 0.2)];
        assert_eq!(
            painted(&row, 0, 0.75, &[], 4).unwrap(),
            [(0, 0.75), (1, 0.15), (2, 0.1)]
        );
    }

    #[test]
    fn a_new_joint_joins_and_the_smallest_leaves() {
        let row = [(0, 0.4), (1, 0.3), (2, 0.2), (3, 0.1)];
        let joints: Vec<u16> = painted(&row, 9, 0.5, &[], 4)
            .unwrap()
            .iter()
            .map(|e| e.0)
            .collect();
        assert_eq!(joints, [0, 1, 2, 9]);
    }

    #[test]
    fn a_faint_dab_replaces_no_real_influence() {
        let row = [(0, 0.3), (1, 0.3), (2, 0.2), (3, 0.2)];
        for faint in [1e-6, 0.01, 0.1] {
            assert_eq!(painted(&row, 9, faint, &[], 4), None, "{faint}");
        }
        let strong = painted(&row, 9, 0.5, &[], 4).unwrap();
        assert!(
            strong.contains(&(9, 0.5)) && strong.len() == 4,
            "{strong:?}"
        );
        let free = painted(&row[..3], 9, 0.01, &[], 4).unwrap();
        assert!(free.contains(&(9, 0.01)), "{free:?}");
    }

    #[test]
    fn a_faint_dab_does_not_replace_the_last_unlocked_influence() {
        let row = [(0, 0.2), (1, 0.2), (2, 0.2), (3, 0.4)];
        let locked = [true, true, true, false, false];
        assert_eq!(painted(&row, 4, 0.01, &locked, 4), None);
        let all = painted(&row, 4, 1.0, &locked, 4).unwrap();
        assert_eq!(all[..3], row[..3]);
        assert!(all[3].0 == 4 && (all[3].1 - 0.4).abs() < 1e-6, "{all:?}");
        // The same with a limit of 1, and where the painted joint was in a row that is too long.
        assert_eq!(painted(&[(3, 1.0)], 4, 0.1, &[], 1), None);
        assert_eq!(painted(&[(3, 1.0)], 4, 0.9, &[], 1).unwrap(), [(4, 1.0)]);
        let long = [(0, 0.2), (1, 0.2), (2, 0.2), (3, 0.3), (4, 0.1)];
        let kept = painted(&long, 4, 0.12, &locked, 4).unwrap();
        assert!(kept.contains(&(4, 0.12)) && kept.len() == 5, "{kept:?}");
    }

    #[test]
    fn locked_joints_keep_every_bit() {
        let locked = [false, true, false];
        let row = painted(&[(0, 0.5), (1, 0.3), (2, 0.2)], 0, 1.0, &locked, 4).unwrap();
        assert_eq!(row, [(0, 1.0 - 0.3), (1, 0.3)]);
        assert_eq!(painted(&[(0, 0.5), (1, 0.5)], 1, 1.0, &locked, 4), None);
    }

    #[test]
    fn the_only_joint_of_a_point_cannot_be_removed() {
        assert_eq!(painted(&[(4, 1.0)], 4, 0.2, &[], 4), None);
    }

    #[test]
    fn a_point_without_requests_keeps_every_bit() {
        let many: Vec<(u16, f32)> = (0..8).map(|j| (j, 0.1)).collect();
        assert_eq!(painted(&many, 9, -0.5, &[], 4), None);
        assert_eq!(painted(&[], 3, -0.5, &[], 4), None);
    }

    #[test]
    fn an_unweighted_point_takes_the_whole_weight() {
        assert_eq!(painted(&[], 3, 0.4, &[], 4).unwrap(), [(3, 1.0)]);
    }

    fn painted_all(
        row: &[(u16, f32)],
        wanted: &[(u16, f32)],
        locked: &[bool],
        normalise: bool,
    ) -> Vec<(u16, f32)> {
        let rows: Rows = [row.to_vec()].into_iter().collect();
        let rules = PaintRules {
            locked,
            normalise,
            max_influences: 8,
        };
        let mut out = Vec::new();
        if set_weights(rows.row(0), wanted, &rules, &mut out) {
            out
        } else {
            row.to_vec()
        }
    }

    #[test]
    fn several_joints_are_set_at_once_and_the_others_share_the_rest() {
        let row = [(0, 0.5), (1, 0.25), (2, 0.25)];
        assert_eq!(
            painted_all(&row, &[(2, 0.5), (1, 0.25)], &[], true),
            [(0, 0.25), (1, 0.25), (2, 0.5)]
        );
        // More than the available weight: in their proportion.
        assert_eq!(
            painted_all(&row, &[(0, 0.9), (1, 0.9)], &[], true),
            [(0, 0.5), (1, 0.5)]
        );
        assert_eq!(
            painted_all(&row, &[(0, 0.9), (1, 0.9)], &[], false),
            [(0, 0.9), (1, 0.9), (2, 0.25)]
        );
        // There is no other joint: they keep all weight.
        assert_eq!(
            painted_all(&[(0, 0.75), (1, 0.25)], &[(0, 0.0), (1, 0.0)], &[], true),
            [(0, 0.75), (1, 0.25)]
        );
        assert_eq!(
            painted_all(&[], &[(3, 0.1), (4, 0.3)], &[], true),
            [(3, 0.25), (4, 0.75)]
        );
        let locked = [true, false, false];
        assert_eq!(
            painted_all(&row, &[(0, 0.0), (1, 0.5)], &locked, true),
            [(0, 0.5), (1, 0.5)]
        );
    }

    #[test]
    fn a_settled_row_has_a_sum_of_1_and_keeps_what_was_painted() {
        let rows: Rows = [vec![(0, 0.5), (1, 0.75), (2, 0.5)]].into_iter().collect();
        let rules = PaintRules {
            locked: &[],
            normalise: false,
            max_influences: 8,
        };
        let mut out = Vec::new();
        assert!(settle_row(rows.row(0), &[1], &rules, &mut out));
        assert_eq!(out, [(0, 0.125), (1, 0.75), (2, 0.125)]);
        assert!(settle_row(rows.row(0), &[], &rules, &mut out));
        let sum: f32 = out.iter().map(|e| e.1).sum();
        assert!((sum - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_blended_row_moves_towards_its_neighbours_and_away_from_them() {
        let rows: Rows = [vec![(0, 0.75), (1, 0.25)]].into_iter().collect();
        let rules = PaintRules {
            locked: &[],
            normalise: true,
            max_influences: 8,
        };
        let mean = [(0, 0.25), (2, 0.75)];
        let mut out = Vec::new();
        assert!(blend_row(rows.row(0), &mean, 0.5, &rules, &mut out));
        assert_eq!(out, [(0, 0.5), (1, 0.125), (2, 0.375)]);
        assert!(blend_row(rows.row(0), &mean, -0.5, &rules, &mut out));
        assert!(out.iter().all(|e| e.0 != 2), "{out:?}");
        assert!(out[0].1 > 0.7 && (out[0].1 + out[1].1 - 1.0).abs() < 1e-6);
        let locked = PaintRules {
            locked: &[true],
            ..rules
        };
        assert!(blend_row(rows.row(0), &mean, 0.5, &locked, &mut out));
        assert_eq!(out[0], (0, 0.75));
    }
}
