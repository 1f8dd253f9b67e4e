//! Symmetry pairs: each joint's counterpart on the other side.

use crate::math::Axis;
use crate::skeleton::mirror::Mirror;
use crate::skeleton::{JointId, Skeleton};
use glam::{DAffine3, DVec3};
use std::collections::BTreeMap;

/// Pairs of left and right joints: by name and position; the user's own pairs have precedence.
///
/// Invariant: the counterpart of a joint's counterpart is the joint.
#[derive(Clone, Debug, PartialEq)]
pub struct JointPairs {
    mirror: Mirror,
    own: BTreeMap<JointId, JointId>,
    joints: Vec<JointId>,
}

/// The origin of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairedBy {
    /// The user.
    Artist,
    /// Names and positions.
    Name,
}

/// One joint in the table of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairRow {
    /// The joint.
    pub joint: JointId,
    /// Its counterpart: itself for a joint in the middle, `None` for an unpaired one.
    pub partner: Option<JointId>,
    /// The origin of the pair.
    pub by: PairedBy,
}

impl JointPairs {
    /// The pairs of a skeleton. `own`: the user's choices, in one direction at least; a joint paired with itself is in
    /// the middle. Of contradicting choices that of the lowest joint wins.
    pub fn new(skeleton: &Skeleton, own: &BTreeMap<JointId, JointId>) -> Self {
        let mut both: BTreeMap<JointId, JointId> = BTreeMap::new();
        let is_live =
            |(a, b): &(&JointId, &JointId)| skeleton.is_live(**a) && skeleton.is_live(**b);
        for (&a, &b) in own.iter().filter(is_live) {
            let is_free = |x, y| both.get(&x).is_none_or(|&z| z == y);
            if is_free(a, b) && is_free(b, a) {
                both.insert(a, b);
                both.insert(b, a);
            }
        }
        Self {
            mirror: Mirror::new(skeleton),
            own: both,
            joints: skeleton.live_joints().collect(),
        }
    }

    /// The counterpart of a joint: itself for a joint in the middle, `None` for an unpaired one.
    pub fn partner(&self, joint: JointId) -> Option<JointId> {
        if let Some(&own) = self.own.get(&joint) {
            return Some(own);
        }
        // A counterpart by name that the user paired with another joint does not count.
        let by_name = self.mirror.partner(joint);
        by_name.filter(|other| *other == joint || !self.own.contains_key(other))
    }

    /// The table of all joints, in their order.
    pub fn rows(&self) -> impl Iterator<Item = PairRow> + '_ {
        self.joints.iter().map(|&joint| {
            let by = if self.own.contains_key(&joint) {
                PairedBy::Artist
            } else {
                PairedBy::Name
            };
            PairRow {
                joint,
                partner: self.partner(joint),
                by,
            }
        })
    }

    /// Joints without a counterpart, ascending.
    pub fn unmatched(&self) -> impl Iterator<Item = JointId> + '_ {
        self.rows()
            .filter(|row| row.partner.is_none())
            .map(|row| row.joint)
    }

    /// The axis that separates left from right in the bind pose: the one along which most pairs of a skin are apart.
    /// `None` without pairs, or where no axis has more than half of them. `bind`: n_skin_joints, joint space -> mesh space.
    pub fn side_axis(&self, joints: &[JointId], bind: &[DAffine3]) -> Option<Axis> {
        let mut n_along = [0_usize; 3];
        let mut n_pairs = 0;
        for (place, other) in self.pair_places(joints, bind) {
            let between = (place - other).abs();
            if !between.is_finite() || between.max_element() == 0.0 {
                continue;
            }
            n_pairs += 1;
            n_along[between.max_position()] += 1;
        }
        let mut axes = Axis::ALL.into_iter();
        axes.find(|axis| 2 * n_along[axis.index()] > n_pairs)
    }

    /// The places of the joints of each pair of a skin, in mesh space.
    fn pair_places(&self, joints: &[JointId], bind: &[DAffine3]) -> Vec<(DVec3, DVec3)> {
        let places: BTreeMap<JointId, DVec3> = joints
            .iter()
            .zip(bind)
            .map(|(&joint, bind)| (joint, bind.translation))
            .collect();
        let pair = |(joint, place): (&JointId, &DVec3)| {
            let other = self.partner(*joint).filter(|other| other > joint)?;
            Some((*place, *places.get(&other)?))
        };
        places.iter().filter_map(pair).collect()
    }

    /// The coordinate on `axis` of the plane between left and right joints: the median over the pairs of a skin; `None`
    /// without pairs on both sides of it. `bind`: n_skin_joints, joint space -> mesh space.
    pub fn centre(&self, axis: Axis, joints: &[JointId], bind: &[DAffine3]) -> Option<f64> {
        let of = axis.unit();
        let mut middles: Vec<f64> = Vec::new();
        for (place, other) in self.pair_places(joints, bind) {
            let between = place - other;
            // A pair that is not apart along the axis does not define the plane.
            if between.is_finite() && between.dot(of).abs() > 0.5 * between.length() {
                middles.push((place + other).dot(of) * 0.5);
            }
        }
        middles.sort_by(f64::total_cmp);
        (!middles.is_empty()).then(|| middles[middles.len() / 2])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Transform;
    use crate::skeleton::{Joint, JointRule};

    fn skeleton(names: &[&str]) -> Skeleton {
        let joints = names.iter().enumerate().map(|(i, name)| {
            let x = [1.0, -1.0, 0.0][i % 3];
            Joint {
                name: (*name).into(),
                parent: None,
                rest: Transform {
                    translation: DVec3::new(x, i as f64, 0.0),
                    ..Transform::IDENTITY
                },
                source_node: None,
                content_of: None,
                removed: false,
                rule: JointRule::default(),
            }
        });
        Skeleton::new(joints.collect()).unwrap()
    }

    fn partners(pairs: &JointPairs) -> Vec<Option<u32>> {
        pairs.rows().map(|r| r.partner.map(|p| p.0)).collect()
    }

    #[test]
    fn what_the_artist_paired_comes_before_names() {
        let skeleton = skeleton(&["Arm.L", "Arm.R", "Spine", "Fin.L", "Tail", "Wing"]);
        let by_name = JointPairs::new(&skeleton, &BTreeMap::new());
        assert_eq!(
            partners(&by_name),
            [Some(1), Some(0), Some(2), None, Some(4), Some(5)]
        );
        assert_eq!(by_name.unmatched().collect::<Vec<_>>(), [JointId(3)]);
        let own = [(4, 5), (0, 3)].map(|(a, b)| (JointId(a), JointId(b)));
        let pairs = JointPairs::new(&skeleton, &own.into_iter().collect());
        assert_eq!(
            partners(&pairs),
            [Some(3), None, Some(2), Some(0), Some(5), Some(4)]
        );
        assert_eq!(pairs.rows().next().unwrap().by, PairedBy::Artist);
        assert_eq!(pairs.rows().nth(1).unwrap().by, PairedBy::Name);
    }

    #[test]
    fn choices_that_contradict_each_other_stay_pairs() {
        let skeleton = skeleton(&["a", "b", "c"]);
        let own = [(0, 1), (2, 1)].map(|(a, b)| (JointId(a), JointId(b)));
        let pairs = JointPairs::new(&skeleton, &own.into_iter().collect());
        assert_eq!(partners(&pairs), [Some(1), Some(0), Some(2)]);
    }

    #[test]
    fn the_axis_between_the_sides_is_that_of_most_pairs() {
        let skeleton = skeleton(&["Arm.L", "Arm.R", "Spine", "Leg.L", "Leg.R", "Tail"]);
        let pairs = JointPairs::new(&skeleton, &BTreeMap::new());
        let joints: Vec<JointId> = skeleton.live_joints().collect();
        let at = |places: [DVec3; 6]| places.map(DAffine3::from_translation);
        let (side, ahead) = (DVec3::Y, DVec3::X * 0.4);
        let bind = at([side, -side, ahead, side + ahead, ahead - side, DVec3::ZERO]);
        assert_eq!(pairs.side_axis(&joints, &bind), Some(Axis::Y));
        // One pair along each of two axes: neither has more than half of them.
        let bind = at([side, -side, ahead, ahead, -ahead, DVec3::ZERO]);
        assert_eq!(pairs.side_axis(&joints, &bind), None);
        // Pairs at the same place, or at none, do not tell.
        let nowhere = DVec3::splat(f64::NAN);
        let bind = at([ahead, ahead, ahead, nowhere, side, side]);
        assert_eq!(pairs.side_axis(&joints, &bind), None);
        assert_eq!(pairs.side_axis(&[], &[]), None);
    }

    #[test]
    fn the_plane_lies_half_way_between_left_and_right() {
        let skeleton = skeleton(&["Arm.L", "Arm.R", "Spine"]);
        let pairs = JointPairs::new(&skeleton, &BTreeMap::new());
        let joints: Vec<JointId> = (0..3).map(JointId).collect();
        let bind = [5.0, 3.0, 9.0].map(|x| DAffine3::from_translation(DVec3::X * x));
        assert_eq!(pairs.centre(Axis::X, &joints, &bind), Some(4.0));
        assert_eq!(pairs.centre(Axis::Y, &joints, &bind), None);
    }
}
