//! Two-bone inverse kinematics.

use super::joint_limits::ChainLimits;
use super::orientation::{orientation, world_of};
use super::world_rotation::rotate_in_world;
use super::{JointId, Pose, Skeleton};
use glam::{DMat3, DQuat, DVec3};

/// Lengths below this fraction of the size of the chain count as zero.
const NOTHING: f64 = 1e-9;
/// A chain whose bend angle has a sine below this has no bend plane of its own.
pub(super) const STRAIGHT: f64 = 5e-3;

/// The positions of a chain's joints in one space: shoulder, elbow, wrist.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoBone {
    /// The root joint, which keeps its position.
    pub root: DVec3,
    /// The middle joint, which bends.
    pub mid: DVec3,
    /// The end joint, which reaches for the target.
    pub end: DVec3,
}

/// The solution for a chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reached {
    /// The new positions; bone lengths are kept.
    pub positions: TwoBone,
    /// The rotation of the bone from the root, in the space of the positions.
    pub root_rotation: DQuat,
    /// The total rotation of the bone from the mid joint (that of the root included).
    pub mid_rotation: DQuat,
}

impl TwoBone {
    /// Bends the chain so that its end reaches `target`, or comes as close as the lengths of the bones allow.
    ///
    /// `pole`: the direction in which the mid joint points; without one the bend plane only swings with the target. All
    /// numbers are finite for straight, folded and zero-length chains. Source: the law of cosines.
    pub fn reach(&self, target: DVec3, pole: Option<DVec3>) -> Reached {
        let (upper, lower) = (self.mid - self.root, self.end - self.mid);
        let (a, b) = (upper.length(), lower.length());
        let tiny = NOTHING * (a + b);
        let finite = target.is_finite() && (a + b).is_finite();
        if !finite || a + b <= f64::MIN_POSITIVE {
            return Reached {
                positions: *self,
                root_rotation: DQuat::IDENTITY,
                mid_rotation: DQuat::IDENTITY,
            };
        }
        let pull = target - self.root;
        let distance = pull.length().clamp((a - b).abs(), a + b);
        let along_before = direction(self.end - self.root, tiny)
            .or(direction(upper, tiny))
            .or(direction(lower, tiny))
            .unwrap_or(DVec3::X);
        let along = direction(pull, tiny).unwrap_or(along_before);

        let bend = upper.cross(lower);
        let normal_before = direction(bend, STRAIGHT * a * b + f64::MIN_POSITIVE);
        let swing = swing(along_before, along, normal_before);
        // `normal` = (direction towards the mid joint) x (direction to the end).
        let poled = pole.and_then(|pole| {
            let side = (pole - self.root).reject_from_normalized(along);
            Some(direction(side, tiny.max(NOTHING))?.cross(along))
        });
        let normal = poled
            .or(normal_before.map(|n| swing * n))
            .and_then(|n| direction(n.reject_from_normalized(along), NOTHING))
            .unwrap_or_else(|| along.any_orthonormal_vector());
        // A straight chain gets the normal that needs no twist.
        let normal_before = normal_before.unwrap_or_else(|| swing.inverse() * normal);

        let side = along.cross(normal);
        let x = if distance > tiny {
            ((a * a - b * b + distance * distance) / (2.0 * distance)).clamp(-a, a)
        } else {
            0.0
        };
        let height = (a * a - x * x).max(0.0).sqrt();
        let mid = self.root + along * x + side * height;
        let end = self.root + along * distance;
        let root_rotation = frame_rotation(upper, normal_before, mid - self.root, normal, tiny);
        let mid_rotation = frame_rotation(lower, normal_before, end - mid, normal, tiny);
        Reached {
            positions: TwoBone {
                root: self.root,
                mid,
                end,
            },
            root_rotation: root_rotation.or(mid_rotation).unwrap_or(swing),
            mid_rotation: mid_rotation.or(root_rotation).unwrap_or(swing),
        }
    }

    /// Whether the chain is too straight (or folded) to define a bend plane.
    pub fn is_straight(&self) -> bool {
        let (upper, lower) = (self.mid - self.root, self.end - self.mid);
        upper.cross(lower).length() <= STRAIGHT * upper.length() * lower.length()
    }
}

/// An IK chain of a skeleton: an end joint and two of its ancestors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The joint that keeps its position.
    pub root: JointId,
    /// The joint that bends.
    pub mid: JointId,
    /// The joint that reaches for the target.
    pub end: JointId,
}

impl Chain {
    /// The chain that ends in `end`: its next two ancestors that are bones, have a length and are no helpers. `None`
    /// where there are not two.
    pub fn above(
        skeleton: &Skeleton,
        end: JointId,
        is_bone: impl Fn(JointId) -> bool,
    ) -> Option<Self> {
        let rest = Pose::rest(skeleton);
        let position = |joint| world_of(skeleton, &rest, joint).translation;
        let mut below = position(end);
        let mut found = skeleton.logical_ancestors(end).filter(|&joint| {
            let at = position(joint);
            let counts = is_bone(joint)
                && !is_helper(&skeleton.joint(joint).name)
                && at.distance(below) > NOTHING * (1.0 + at.length());
            if counts {
                below = at;
            }
            counts
        });
        let mid = found.next()?;
        let root = found.next()?;
        Some(Self { root, mid, end })
    }

    /// The positions of its joints in `pose`, world.
    pub fn positions(&self, skeleton: &Skeleton, pose: &Pose) -> TwoBone {
        let position = |joint| world_of(skeleton, pose, joint).translation;
        TwoBone {
            root: position(self.root),
            mid: position(self.mid),
            end: position(self.end),
        }
    }

    /// Rotates the root and the mid joint so that the end reaches `target` (world), and the end so that it has the
    /// world orientation `end_orientation`, if given. Returns the remaining distance to the target.
    ///
    /// `rest` defines which way a straight chain bends. Under non-uniform scale the lengths change with the direction:
    /// the remaining distance is then reduced by damped least squares (Wampler 1986, Nakamura & Hanafusa 1986).
    pub fn reach(
        &self,
        skeleton: &Skeleton,
        pose: &mut Pose,
        rest: &Pose,
        target: DVec3,
        end_orientation: Option<DMat3>,
    ) -> f64 {
        let limits = self.limits(skeleton);
        self.reach_within(skeleton, pose, rest, target, end_orientation, limits)
    }

    /// As [`Chain::reach`], with other limits of the rotations of the root and the mid joint than theirs.
    pub fn reach_within(
        &self,
        skeleton: &Skeleton,
        pose: &mut Pose,
        rest: &Pose,
        target: DVec3,
        end_orientation: Option<DMat3>,
        limits: ChainLimits,
    ) -> f64 {
        let side = BendSide::of(skeleton, rest, &[self.root, self.mid, self.end]);
        let (mut gap, _) = self.bend(skeleton, pose, target, |pose, now| {
            now.is_straight()
                .then(|| side.pole(skeleton, pose, self.root, now))
        });
        if gap > 1e-9 * (1.0 + target.length()) {
            gap = self.reduce_gap(skeleton, pose, target, gap);
        }
        gap = self.hold_limits(skeleton, pose, target, gap, limits);
        if let Some(wanted) = end_orientation {
            let now = orientation(world_of(skeleton, pose, self.end).matrix3);
            let rotation = wanted * now.transpose();
            if rotation.determinant() > 0.0 {
                rotate_in_world(skeleton, pose, self.end, DQuat::from_mat3(&rotation));
            }
        }
        gap
    }

    /// Rotates the root so that the end is in the direction of `target`.
    pub(super) fn aim(&self, skeleton: &Skeleton, pose: &mut Pose, target: DVec3) {
        let now = self.positions(skeleton, pose);
        let tiny = NOTHING * (1.0 + target.length());
        if let (Some(from), Some(to)) = (
            direction(now.end - now.root, tiny),
            direction(target - now.root, tiny),
        ) {
            rotate_in_world(skeleton, pose, self.root, swing(from, to, None));
        }
    }

    /// Rotates the root and the mid joint as [`Chain::reach`], for evaluations in every frame: allocates nothing.
    ///
    /// `side`: which way a straight chain bends; `pole`: the place that the mid joint points at, if there is one. Lengths that
    /// do not change with the direction are solved exactly, the others by damped least squares.
    pub fn reach_towards(
        &self,
        skeleton: &Skeleton,
        pose: &mut Pose,
        side: BendSide,
        target: DVec3,
        pole: Option<DVec3>,
    ) -> f64 {
        let (gap, is_exact) = self.bend(skeleton, pose, target, |pose, now| {
            let pull = target - now.root;
            let least = NOTHING * (1.0 + pull.length());
            let across = |pole: &DVec3| (*pole - now.root).cross(pull).length() > least;
            let natural = || {
                now.is_straight()
                    .then(|| side.pole(skeleton, pose, self.root, now))
            };
            pole.filter(across).or_else(natural)
        });
        let gap = if is_exact || gap <= 1e-9 * (1.0 + target.length()) {
            gap
        } else {
            self.reduce_gap(skeleton, pose, target, gap)
        };
        self.hold_limits(skeleton, pose, target, gap, self.limits(skeleton))
    }

    /// Bends the chain by the law of cosines, again where non-uniform scale changed its lengths. Returns the remaining distance
    /// and whether the end is where the law of cosines puts it.
    pub(super) fn bend(
        &self,
        skeleton: &Skeleton,
        pose: &mut Pose,
        target: DVec3,
        pole: impl Fn(&Pose, &TwoBone) -> Option<DVec3>,
    ) -> (f64, bool) {
        const ROUNDS: usize = 12;
        let mut gap = f64::INFINITY;
        for _ in 0..ROUNDS {
            let before = self.positions(skeleton, pose);
            let reached = before.reach(target, pole(pose, &before));
            rotate_in_world(skeleton, pose, self.root, reached.root_rotation);
            rotate_in_world(
                skeleton,
                pose,
                self.mid,
                reached.mid_rotation * reached.root_rotation.inverse(),
            );
            let now = self.positions(skeleton, pose);
            gap = now.end.distance(target);
            let size = 1.0 + target.length();
            if now.end.distance(reached.positions.end) <= 1e-12 * size || !gap.is_finite() {
                return (gap, true);
            }
            // Non-uniform scale changed the angle: aim at the target first, then bend again.
            self.aim(skeleton, pose, target);
            gap = self.positions(skeleton, pose).end.distance(target);
        }
        (gap, false)
    }

    /// Reduces the distance of the end to `target` by small rotations of the root and the mid joint, until it is 0 or
    /// no rotation helps. `gap`: the distance before; returns the distance after.
    fn reduce_gap(&self, skeleton: &Skeleton, pose: &mut Pose, target: DVec3, mut gap: f64) -> f64 {
        const STEPS: usize = 60;
        /// Step of the finite differences, radians.
        const SMALL: f64 = 1e-6;
        let carries = |above, below| skeleton.ancestors(below).any(|j| j == above);
        if !carries(self.root, self.mid) || !carries(self.mid, self.end) {
            // Steps change only the local rotations of the root and the mid joint, which here do not move the end.
            return gap;
        }
        let axes = [DVec3::X, DVec3::Y, DVec3::Z];
        let rotations: [(JointId, DVec3); 6] =
            std::array::from_fn(|i| ([self.root, self.mid][i / 3], axes[i % 3]));
        let end_after = |pose: &mut Pose, joint: JointId, rotation: DQuat| {
            let kept = pose.locals[joint.get()];
            rotate_in_world(skeleton, pose, joint, rotation);
            let end = world_of(skeleton, pose, self.end).translation;
            pose.locals[joint.get()] = kept;
            end
        };
        let mut damping = 1e-4;
        for _ in 0..STEPS {
            let end = world_of(skeleton, pose, self.end).translation;
            let columns = rotations.map(|(joint, axis)| {
                (end_after(pose, joint, DQuat::from_axis_angle(axis, SMALL)) - end) / SMALL
            });
            // J J^T, 3 x 3.
            let outer = |c: DVec3| DMat3::from_cols(c * c.x, c * c.y, c * c.z);
            let square = columns.iter().fold(DMat3::ZERO, |sum, &c| sum + outer(c));
            let size = square.x_axis.x + square.y_axis.y + square.z_axis.z;
            let damped = square + DMat3::from_diagonal(DVec3::splat(damping * size));
            let is_solvable = damped.is_finite() && damped.determinant() > 0.0;
            if !is_solvable {
                break;
            }
            let pull = damped.inverse() * (target - end);
            let kept = [self.root, self.mid].map(|j| pose.locals[j.get()]);
            for (i, joint) in [self.root, self.mid].into_iter().enumerate() {
                let of = |axis: usize| columns[3 * i + axis].dot(pull);
                let rotation = DQuat::from_scaled_axis(DVec3::new(of(0), of(1), of(2)));
                rotate_in_world(skeleton, pose, joint, rotation);
            }
            let now = world_of(skeleton, pose, self.end)
                .translation
                .distance(target);
            if now < gap {
                let gained = gap - now;
                gap = now;
                damping = (damping * 0.1).max(1e-12);
                if gap <= 1e-12 * (1.0 + target.length()) || gained <= 1e-14 * gap {
                    break;
                }
            } else {
                for (joint, local) in [self.root, self.mid].into_iter().zip(kept) {
                    pose.locals[joint.get()] = local;
                }
                damping *= 10.0;
                if damping > 1e3 {
                    break;
                }
            }
        }
        gap
    }
}

/// Which way a straight chain bends: as in the rest pose; where that is straight too, elbows bend backwards and knees
/// forwards (+Z, the front of a glTF model). In the axes of the chain's root, with which it turns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BendSide(DVec3);

impl Default for BendSide {
    fn default() -> Self {
        Self(DVec3::Z)
    }
}

impl BendSide {
    /// The side of a chain of joints, the root first.
    pub fn of(skeleton: &Skeleton, rest: &Pose, joints: &[JointId]) -> Self {
        let place = |joint: &JointId| world_of(skeleton, rest, *joint).translation;
        let ([root, .., end], [first, ..]) = (joints, joints) else {
            return Self::default();
        };
        let (root, end) = (place(root), place(end));
        let along = end - root;
        let is_straight = joints.windows(3).all(|three| {
            let bones = TwoBone {
                root: place(&three[0]),
                mid: place(&three[1]),
                end: place(&three[2]),
            };
            bones.is_straight()
        });
        let side = if is_straight {
            let forward = along.y.abs() > along.x.abs() && along.y < 0.0;
            if forward { DVec3::Z } else { DVec3::NEG_Z }
        } else {
            let off = joints.iter().map(|j| (place(j) - root).reject_from(along));
            off.max_by(|a, b| a.length().total_cmp(&b.length()))
                .unwrap_or(DVec3::Z)
        };
        let was = orientation(world_of(skeleton, rest, *first).matrix3);
        Self(direction(was.transpose() * side, 1e-12).unwrap_or(DVec3::Z))
    }

    /// The direction in the world, unit, for the pose of the chain's root.
    pub fn in_world(self, skeleton: &Skeleton, pose: &Pose, root: JointId) -> DVec3 {
        orientation(world_of(skeleton, pose, root).matrix3) * self.0
    }

    /// The place that the mid joint of a straight chain bends towards.
    fn pole(self, skeleton: &Skeleton, pose: &Pose, root: JointId, now: &TwoBone) -> DVec3 {
        let size = (now.end - now.root).length().max(1e-6);
        now.root + self.in_world(skeleton, pose, root) * size
    }
}

/// Whether a joint is a twist or roll joint, which only supports another one.
fn is_helper(name: &str) -> bool {
    let name = name.to_lowercase();
    ["twist", "roll", "helper"]
        .iter()
        .any(|word| name.contains(word))
}

/// `v` as a unit vector; `None` where it is no longer than `least`.
fn direction(v: DVec3, least: f64) -> Option<DVec3> {
    let length = v.length();
    (length > least && length.is_finite()).then(|| v / length)
}

/// The shortest rotation from one direction to the other; about `normal` for opposite ones.
fn swing(from: DVec3, to: DVec3, normal: Option<DVec3>) -> DQuat {
    match normal {
        Some(normal) if from.dot(to) < -1.0 + 1e-9 => {
            DQuat::from_axis_angle(normal, std::f64::consts::PI)
        }
        _ => DQuat::from_rotation_arc(from, to),
    }
}

/// The rotation that takes (bone, normal) to the new (bone, normal); `None` for a bone of zero length.
fn frame_rotation(
    bone: DVec3,
    normal: DVec3,
    bone_after: DVec3,
    normal_after: DVec3,
    tiny: f64,
) -> Option<DQuat> {
    let frame = |bone: DVec3, normal: DVec3| {
        let x = direction(bone, tiny)?;
        let y = direction(normal.reject_from_normalized(x), NOTHING)?;
        Some(DMat3::from_cols(x, y, x.cross(y)))
    };
    let rotation = frame(bone_after, normal_after)? * frame(bone, normal)?.transpose();
    Some(crate::math::transform::normalize_or_identity(
        DQuat::from_mat3(&rotation),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Transform;
    use crate::skeleton::Joint;
    use proptest::prelude::*;

    fn arm() -> TwoBone {
        TwoBone {
            root: DVec3::ZERO,
            mid: DVec3::new(3.0, 0.0, 0.0),
            end: DVec3::new(3.0, 4.0, 0.0),
        }
    }

    #[test]
    fn a_right_angle_opens_to_the_sum_and_closes_to_the_difference() {
        let far = arm().reach(DVec3::new(0.0, 100.0, 0.0), None).positions;
        assert!(far.end.abs_diff_eq(DVec3::new(0.0, 7.0, 0.0), 1e-12));
        assert!(far.mid.abs_diff_eq(DVec3::new(0.0, 3.0, 0.0), 1e-12));
        let near = arm().reach(DVec3::new(0.1, 0.0, 0.0), None).positions;
        assert!((near.end.length() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_reachable_target_is_reached_in_the_plane_of_the_bend() {
        // 3-4-5: pulled to distance 5 along x, the elbow is at 9/5 with height 12/5, below as before.
        let Reached { positions, .. } = arm().reach(DVec3::new(5.0, 0.0, 0.0), None);
        assert!(positions.end.abs_diff_eq(DVec3::new(5.0, 0.0, 0.0), 1e-12));
        assert!(positions.mid.abs_diff_eq(DVec3::new(1.8, -2.4, 0.0), 1e-12));
    }

    #[test]
    fn the_pole_chooses_the_side() {
        let pole = DVec3::new(2.0, 0.0, 9.0);
        let Reached { positions, .. } = arm().reach(DVec3::new(5.0, 0.0, 0.0), Some(pole));
        assert!(positions.mid.abs_diff_eq(DVec3::new(1.8, 0.0, 2.4), 1e-12));
    }

    #[test]
    fn a_straight_chain_bends_to_its_pole_without_twist() {
        let straight = TwoBone {
            root: DVec3::ZERO,
            mid: DVec3::X,
            end: DVec3::new(2.0, 0.0, 0.0),
        };
        let reached = straight.reach(DVec3::new(1.0, 0.0, 0.0), Some(DVec3::NEG_Z));
        let height = 0.75f64.sqrt();
        assert!(
            reached
                .positions
                .mid
                .abs_diff_eq(DVec3::new(0.5, 0.0, -height), 1e-12)
        );
        // The rotation is about y alone.
        assert!(reached.root_rotation.x.abs() < 1e-12 && reached.root_rotation.z.abs() < 1e-12);
    }

    fn position() -> impl Strategy<Value = DVec3> {
        prop_oneof![
            4 => [-2.0..2.0f64, -2.0..2.0, -2.0..2.0].prop_map(DVec3::from),
            1 => (0..27usize).prop_map(|i| DVec3::new((i % 3) as f64, (i / 3 % 3) as f64, (i / 9) as f64) - 1.0),
        ]
    }

    proptest! {
        #[test]
        fn lengths_are_kept_the_end_is_as_near_as_possible_and_rotations_agree(
            root in position(), mid in position(), end in position(), target in position(),
            pole in proptest::option::of(position()),
        ) {
            let chain = TwoBone { root, mid, end };
            let Reached { positions, root_rotation, mid_rotation } = chain.reach(target, pole);
            let (a, b) = (root.distance(mid), mid.distance(end));
            prop_assert!(positions.mid.is_finite() && positions.end.is_finite());
            prop_assert!(root_rotation.is_finite() && mid_rotation.is_finite());
            prop_assert!((root.distance(positions.mid) - a).abs() < 1e-6, "{:?}", positions);
            prop_assert!((positions.mid.distance(positions.end) - b).abs() < 1e-6);
            let wanted = root.distance(target).clamp((a - b).abs(), a + b);
            prop_assert!((root.distance(positions.end) - wanted).abs() < 1e-9);
            prop_assert!((root + root_rotation * (mid - root)).abs_diff_eq(positions.mid, 1e-6));
            prop_assert!((positions.mid + mid_rotation * (end - mid)).abs_diff_eq(positions.end, 1e-6));
        }
    }

    /// Root at the origin, then two bones along x, the first bent by `bend`.
    fn limb(names: [&str; 4], scale: DVec3) -> Skeleton {
        let joint = |name: &str, parent: Option<u32>, translation, scale| Joint {
            name: name.into(),
            parent: parent.map(JointId),
            rest: Transform::from_trs(translation, DQuat::IDENTITY, scale),
            source_node: None,
            content_of: None,
            removed: false,
            rule: crate::skeleton::JointRule::default(),
        };
        Skeleton::new(vec![
            joint(names[0], None, DVec3::new(0.0, 1.0, 0.0), scale),
            joint(names[1], Some(0), DVec3::X, DVec3::ONE),
            joint(names[2], Some(1), DVec3::X * 0.5, DVec3::ONE),
            joint(names[3], Some(2), DVec3::new(0.5, 0.3, 0.0), DVec3::ONE),
        ])
        .unwrap()
    }

    #[test]
    fn twist_joints_are_left_out_of_a_chain() {
        let names = ["upperarm", "lowerarm", "lowerarm_twist", "hand"];
        let chain = Chain::above(&limb(names, DVec3::ONE), JointId(3), |_| true);
        let expected = Chain {
            root: JointId(0),
            mid: JointId(1),
            end: JointId(3),
        };
        assert_eq!(chain, Some(expected));
        assert_eq!(
            Chain::above(&limb(names, DVec3::ONE), JointId(1), |_| true),
            None
        );
    }

    #[test]
    fn a_pose_reaches_also_under_scale_that_is_not_uniform() {
        for scale in [
            DVec3::ONE,
            DVec3::new(2.0, 1.0, 1.5),
            DVec3::new(-1.0, 1.0, 1.0),
        ] {
            let skeleton = limb(["a", "b", "b_twist", "c"], scale);
            let rest = Pose::rest(&skeleton);
            let mut pose = rest.clone();
            let chain = Chain::above(&skeleton, JointId(3), |_| true).unwrap();
            let before = chain.positions(&skeleton, &pose).end;
            let target = before + DVec3::new(-0.3 * scale.x, 0.2, 0.1);
            let wanted = orientation(world_of(&skeleton, &pose, chain.end).matrix3);
            let gap = chain.reach(&skeleton, &mut pose, &rest, target, Some(wanted));
            assert!(gap < 1e-9, "{scale}: {gap}");
            if scale.abs() == DVec3::ONE {
                let now = orientation(world_of(&skeleton, &pose, chain.end).matrix3);
                assert!(now.abs_diff_eq(wanted, 1e-12), "{scale}");
            }
        }
    }
}
