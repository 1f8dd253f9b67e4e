//! Giving one joint a weight at one point.

use crate::skinning::RowRef;

/// What painting must respect.
#[derive(Clone, Copy)]
pub struct PaintRules<'a> {
    /// n_skin_joints: joints whose weights stay as they are.
    pub locked: &'a [bool],
    /// Keep the sum at 1 by scaling the other unlocked joints.
    pub normalise: bool,
    /// Most influences the row may have afterwards.
    pub max_influences: usize,
}

impl PaintRules<'_> {
    fn is_locked(&self, joint: u16) -> bool {
        self.locked
            .get(usize::from(joint))
            .copied()
            .unwrap_or(false)
    }
}

/// Writes to `out` the row in which `joint` has `weight`, clamped to what locks leave; `false` where nothing changes.
///
/// With `normalise` the other unlocked joints share what is left in their old proportion. Where there is no such joint
/// the painted one takes all that locked ones leave, so that the sum stays 1. The smallest unlocked influences beyond
/// the limit go; locked ones and the painted one stay even above it.
pub fn set_weight(
    row: RowRef<'_>,
    joint: u16,
    weight: f32,
    rules: &PaintRules<'_>,
    out: &mut Vec<(u16, f32)>,
) -> bool {
    out.clear();
    if rules.is_locked(joint) {
        return false;
    }
    let locked_sum: f32 = row
        .iter()
        .filter(|&(j, _)| rules.is_locked(j))
        .map(|(_, w)| w)
        .sum();
    let room = (1.0 - locked_sum).max(0.0);
    let mut weight = weight.clamp(0.0, if rules.normalise { room } else { 1.0 });

    if weight == row.weight_of(joint) {
        // Nothing is asked of this point: its other weights keep every bit.
        return false;
    }
    out.extend(
        row.iter()
            .filter(|&(j, w)| j != joint && (w > 0.0 || rules.is_locked(j))),
    );
    limit(out, rules, usize::from(weight > 0.0));
    if rules.normalise {
        let others: f32 = out
            .iter()
            .filter(|&&(j, _)| !rules.is_locked(j))
            .map(|&(_, w)| w)
            .sum();
        if others > 0.0 {
            let scale = (room - weight) / others;
            for (j, w) in out.iter_mut() {
                if !rules.is_locked(*j) {
                    *w *= scale;
                }
            }
        } else {
            weight = room;
        }
    }
    out.retain(|&(j, w)| w > 0.0 || rules.is_locked(j));
    // The painted joint keeps its place in the row, so that painting and taking it back is no change.
    if weight > 0.0 {
        let place = row
            .joints
            .iter()
            .position(|&j| j == joint)
            .unwrap_or(row.len());
        let place = row.joints[..place]
            .iter()
            .filter(|j| out.iter().any(|(k, _)| k == *j))
            .count();
        out.insert(place, (joint, weight));
    }
    !out.iter().copied().eq(row.iter())
}

/// Drops the smallest unlocked entries until `reserved` more fit below the limit.
fn limit(row: &mut Vec<(u16, f32)>, rules: &PaintRules<'_>, reserved: usize) {
    while row.len() + reserved > rules.max_influences.max(1) {
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
    fn locked_joints_keep_every_bit() {
        let locked = [false, true, false];
        let row = painted(&[(0, 0.5), (1, 0.3), (2, 0.2)], 0, 1.0, &locked, 4).unwrap();
        assert_eq!(row, [(0, 1.0 - 0.3), (1, 0.3)]);
        assert_eq!(painted(&[(0, 0.5), (1, 0.5)], 1, 1.0, &locked, 4), None);
    }

    #[test]
    fn the_only_joint_of_a_point_cannot_be_taken_away() {
        assert_eq!(painted(&[(4, 1.0)], 4, 0.2, &[], 4), None);
    }

    #[test]
    fn a_point_of_which_nothing_is_asked_keeps_every_bit() {
        let many: Vec<(u16, f32)> = (0..8).map(|j| (j, 0.1)).collect();
        assert_eq!(painted(&many, 9, -0.5, &[], 4), None);
        assert_eq!(painted(&[], 3, -0.5, &[], 4), None);
    }

    #[test]
    fn an_unweighted_point_takes_the_whole_weight() {
        assert_eq!(painted(&[], 3, 0.4, &[], 4).unwrap(), [(3, 1.0)]);
    }
}
