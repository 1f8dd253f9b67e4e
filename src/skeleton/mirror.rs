//! Symmetry of a skeleton: the pairs of left and right joints, and mirrored poses.

use super::orientation::orientation;
use super::{JointId, Pose, Skeleton};
use crate::math::Transform;
use glam::{DMat3, DQuat, DVec3};
use std::collections::BTreeMap;

/// A side of the body, from a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The character's left.
    Left,
    /// The character's right.
    Right,
}

/// The symmetry pairs of a skeleton, and the normal of its mirror plane.
#[derive(Clone, Debug, PartialEq)]
pub struct Mirror {
    /// n_joints: the counterpart on the other side; `None` for a joint in the middle and for an unpaired one.
    partner: Vec<Option<JointId>>,
    /// n_joints: whether the name contains a side but no joint of the other side matches it.
    unpaired: Vec<bool>,
    /// n_joints: the world orientation of each joint's rest space, and of its parent's; orthonormal.
    rest: Vec<[DMat3; 2]>,
    /// The normal of the plane, a unit world axis.
    normal: DVec3,
    /// The distance of the plane from the origin along the normal, metres.
    offset: f64,
}

impl Mirror {
    /// Finds pairs by name ("LeftArm", "Arm_L", "arm.l", "L_Arm", "mixamorig:LeftArm", "Bip01 L Arm" ...); where the
    /// two sides are numbered differently, by their rest positions.
    pub fn new(skeleton: &Skeleton) -> Self {
        let world = Pose::rest(skeleton).world_matrices(skeleton);
        let sided: Vec<Option<Sided>> = skeleton
            .joints()
            .iter()
            .map(|joint| side_of_name(&joint.name).filter(|_| !joint.removed))
            .collect();
        let position = |joint: usize| world[joint].translation;
        let middle_of = |side: Side| {
            let positions: Vec<DVec3> = (0..world.len())
                .filter(|&j| {
                    sided[j]
                        .as_ref()
                        .is_some_and(|s| s.side == side && s.is_sure)
                })
                .map(position)
                .collect();
            let n = positions.len() as f64;
            (n > 0.0).then(|| positions.into_iter().sum::<DVec3>() / n)
        };
        let (normal, plane) = match (middle_of(Side::Left), middle_of(Side::Right)) {
            (Some(left), Some(right)) => {
                let normal = dominant_axis(left - right);
                (normal, (left + right).dot(normal) * 0.5)
            }
            _ => (DVec3::X, 0.0),
        };
        let in_mirror = |p: DVec3| p - normal * (2.0 * (p.dot(normal) - plane));

        let mut partner = vec![None; skeleton.len()];
        // Names that differ only in side and numbers are matched together.
        let mut groups: BTreeMap<&str, [Vec<usize>; 2]> = BTreeMap::new();
        for (joint, sided) in sided.iter().enumerate() {
            if let Some(sided) = sided {
                groups.entry(&sided.stem).or_default()[sided.side as usize].push(joint);
            }
        }
        for [left, right] in groups.values() {
            let exact = |j: &usize| sided[*j].as_ref().map(|s| s.exact.as_str());
            let twin = |j: &usize| {
                let mut same = right.iter().filter(|r| exact(r) == exact(j));
                let found = same.next().copied();
                found.filter(|_| same.next().is_none())
            };
            let by_name: Vec<_> = left.iter().filter_map(|l| Some((*l, twin(l)?))).collect();
            let all = by_name.len() == left.len() && left.len() == right.len();
            let pairs = if all {
                by_name
            } else {
                by_position(left, right, |l, r| {
                    in_mirror(position(l)).distance(position(r))
                })
            };
            for (l, r) in pairs {
                partner[l] = Some(JointId(r as u32));
                partner[r] = Some(JointId(l as u32));
            }
        }
        let unpaired = (0..skeleton.len())
            .map(|j| partner[j].is_none() && sided[j].as_ref().is_some_and(|s| s.is_sure))
            .collect();
        let of_linear: Vec<DMat3> = world.iter().map(|w| orientation(w.matrix3)).collect();
        let rest = skeleton.joints().iter().zip(&of_linear);
        let rest = rest
            .map(|(joint, &own)| {
                let parent = joint.parent.map_or(DMat3::IDENTITY, |p| of_linear[p.get()]);
                [own, parent]
            })
            .collect();
        Self {
            partner,
            unpaired,
            rest,
            normal,
            offset: plane,
        }
    }

    /// The counterpart: the joint itself in the middle, `None` for an unpaired one.
    pub fn partner(&self, joint: JointId) -> Option<JointId> {
        match self.partner.get(joint.get())? {
            Some(partner) => Some(*partner),
            None => (!self.unpaired[joint.get()]).then_some(joint),
        }
    }

    /// Joints whose name contains a side while no joint of the other side matches it, ascending.
    pub fn unpaired(&self) -> impl Iterator<Item = JointId> + '_ {
        let joints = self.unpaired.iter().enumerate();
        joints
            .filter(|(_, unpaired)| **unpaired)
            .map(|(j, _)| JointId(j as u32))
    }

    /// The normal of the mirror plane, a unit world axis.
    pub fn normal(&self) -> DVec3 {
        self.normal
    }

    /// The distance of the mirror plane from the origin along its normal, metres.
    pub fn offset(&self) -> f64 {
        self.offset
    }

    /// The world orientations of the rest spaces of `joint` and of its parent, orthonormal.
    pub fn rest_spaces(&self, joint: JointId) -> [DMat3; 2] {
        self.rest[joint.get()]
    }

    /// The reflection of world directions in the plane.
    pub fn reflection(&self) -> DMat3 {
        let n = self.normal;
        DMat3::IDENTITY - DMat3::from_cols(n * n.x, n * n.y, n * n.z) * 2.0
    }
}

/// A local transform with the data of its joint that are needed to transfer it to another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PosedJoint {
    /// The local transform.
    pub local: Transform,
    /// The rest transform.
    pub rest: Transform,
    /// The world orientations of the rest spaces of the joint and of its parent, orthonormal.
    pub spaces: [DMat3; 2],
}

impl PosedJoint {
    /// The local transform of another joint (with the rest transform `rest` in `spaces`) that differs from its rest
    /// transform as this one does, mapped by `map` (orthonormal, of world directions: a reflection, or the identity).
    ///
    /// The rotation and translation relative to the rest pose are transferred in world space, so the axes of the two
    /// joints may differ.
    pub fn carried_to(&self, rest: &Transform, spaces: [DMat3; 2], map: DMat3) -> Transform {
        if self.local == self.rest {
            return *rest;
        }
        let [own, parent] = spaces;
        // From this joint's parent space to the other's, through world space and the mirror.
        let between = parent.transpose() * map * self.spaces[1];
        // The true inverse: a file's rotation is unit only to six digits.
        let inverse_rest =
            self.rest.rotation.conjugate() * self.rest.rotation.length_squared().recip();
        let rotation = self.local.rotation * inverse_rest;
        let rotation = rotation_in_space_of(between, rotation);
        let moved = between * (self.local.translation - self.rest.translation);
        let axes = own.transpose() * map * self.spaces[0];
        Transform {
            translation: rest.translation + moved,
            rotation: rotation * rest.rotation,
            stretch: rest.stretch * carried_scale(self.local.scale(), self.rest.scale(), axes),
        }
    }
}

/// The rotation in the target space of `between`: the inverse of `rotation_in_space`.
fn rotation_in_space_of(between: DMat3, rotation: DQuat) -> DQuat {
    super::orientation::rotation_in_space(between.transpose(), rotation)
}

/// The scale along the axes of the other joint; a mixture where the axes do not correspond.
fn carried_scale(scale: DVec3, rest: DVec3, axes: DMat3) -> DMat3 {
    let ratio = DVec3::select(rest.cmpne(DVec3::ZERO), scale / rest, DVec3::ONE);
    if ratio == DVec3::ONE {
        return DMat3::IDENTITY;
    }
    let share = |row: DVec3| {
        let share = row * row;
        // Rounding errors of the axes must not turn a scale of 1 into slightly less.
        DVec3::ONE.dot(share * (ratio - 1.0)) + 1.0
    };
    let rows = axes.transpose();
    DMat3::from_diagonal(DVec3::new(
        share(rows.x_axis),
        share(rows.y_axis),
        share(rows.z_axis),
    ))
}

/// A name with its side exchanged, in the same spelling ("upperLeg.L" -> "upperLeg.R"); `None` where it has none.
pub fn flipped_name(name: &str) -> Option<String> {
    let found = side_of_name(name).filter(|sided| sided.is_sure)?;
    let chars: Vec<char> = name.chars().collect();
    let word: String = chars[found.start..][..found.len].iter().collect();
    let flipped = match (found.side, found.len) {
        (Side::Left, 1) => "r",
        (Side::Left, _) => "right",
        (Side::Right, 1) => "l",
        (Side::Right, _) => "left",
    };
    let is_capital = |c: char| c.is_uppercase();
    let flipped = if word.chars().all(is_capital) {
        flipped.to_uppercase()
    } else if word.starts_with(is_capital) {
        let (first, rest) = flipped.split_at(1);
        format!("{}{rest}", first.to_uppercase())
    } else {
        flipped.to_owned()
    };
    let parts = [
        chars[..found.start].iter().collect(),
        flipped,
        chars[found.start + found.len..].iter().collect::<String>(),
    ];
    Some(parts.concat())
}

/// Whether two names certainly have different sides.
pub fn are_opposite(a: &str, b: &str) -> bool {
    let side = |name: &str| side_of_name(name).filter(|sided| sided.is_sure);
    let sides = side(a).zip(side(b));
    sides.is_some_and(|(a, b)| a.side != b.side)
}

/// A name that contains a side.
struct Sided {
    /// Where the word of the side begins, and its length, characters.
    start: usize,
    len: usize,
    side: Side,
    /// The name without the side, lower case.
    exact: String,
    /// `exact` without numbers and separators.
    stem: String,
    /// Whether the side is certain without a matching joint: "bright" could be "b" + "right".
    is_sure: bool,
}

/// The side in `name`; of several candidates a certain one first, then the first.
fn side_of_name(name: &str) -> Option<Sided> {
    let chars: Vec<char> = name.chars().collect();
    let lower: Vec<char> = chars
        .iter()
        .map(|c| c.to_lowercase().next().unwrap_or(*c))
        .collect();
    let mut best: Option<(bool, usize, usize, Side)> = None;
    for (word, side) in [
        ("left", Side::Left),
        ("right", Side::Right),
        ("l", Side::Left),
        ("r", Side::Right),
    ] {
        let word: Vec<char> = word.chars().collect();
        let n = word.len();
        for start in (0..chars.len()).filter(|&s| lower[s..].starts_with(&word)) {
            let before = start.checked_sub(1).map(|i| chars[i]);
            let after = chars.get(start + n).copied();
            let opens = before.is_none_or(|c| !c.is_alphabetic());
            // Camel case: "upperLeft", "LeftArm", "lArm".
            let hump = before.is_some_and(char::is_lowercase) && chars[start].is_uppercase();
            let closes = after.is_none_or(|c| !c.is_alphabetic());
            let next_hump =
                after.is_some_and(char::is_uppercase) && chars[start + n - 1].is_lowercase();
            let sure = if n > 1 {
                (opens || hump) && (closes || next_hump || opens)
            } else {
                opens && closes
            };
            // "ArmL", "lArm", "armleft": only with a matching joint on the other side.
            let likely = if n > 1 {
                closes
            } else {
                (hump && closes) || (opens && next_hump)
            };
            let better = best.is_none_or(|(best_sure, ..)| sure && !best_sure);
            if (sure || likely) && better {
                best = Some((sure, start, n, side));
            }
        }
    }
    let (is_sure, start, n, side) = best?;
    let exact: String = lower[..start]
        .iter()
        .chain(&['#'])
        .chain(&lower[start + n..])
        .collect();
    let stem = exact
        .chars()
        .filter(|c| c.is_alphabetic() || *c == '#')
        .collect();
    Some(Sided {
        start,
        len: n,
        side,
        exact,
        stem,
        is_sure,
    })
}

/// Pairs by rest position, the nearest first.
fn by_position(
    left: &[usize],
    right: &[usize],
    distance: impl Fn(usize, usize) -> f64,
) -> Vec<(usize, usize)> {
    let mut all: Vec<(f64, usize, usize)> = left
        .iter()
        .flat_map(|&l| right.iter().map(move |&r| (l, r)))
        .map(|(l, r)| (distance(l, r), l, r))
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (_, l, r) in all {
        if pairs.iter().all(|&(a, b)| a != l && b != r) {
            pairs.push((l, r));
        }
    }
    pairs
}

/// The largest component of `v` as an axis; X for zero.
fn dominant_axis(v: DVec3) -> DVec3 {
    let size = v.abs();
    if size.z > size.x && size.z > size.y {
        DVec3::Z
    } else if size.y > size.x {
        DVec3::Y
    } else {
        DVec3::X
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skeleton::Joint;

    fn skeleton(joints: &[(&str, [f64; 3])]) -> Skeleton {
        let joints = joints
            .iter()
            .map(|&(name, at)| Joint {
                name: name.into(),
                parent: None,
                rest: Transform {
                    translation: DVec3::from(at),
                    ..Transform::IDENTITY
                },
                source_node: None,
                content_of: None,
                removed: false,
                rule: crate::skeleton::JointRule::default(),
            })
            .collect();
        Skeleton::new(joints).unwrap()
    }

    #[test]
    fn the_usual_names_are_paired() {
        for (left, right) in [
            ("LeftArm", "RightArm"),
            ("mixamorig:LeftArm", "mixamorig:RightArm"),
            ("arm_left", "arm_right"),
            ("LEFT_ARM", "RIGHT_ARM"),
            ("leftArm", "rightArm"),
            ("leftarm", "rightarm"),
            ("armLeft", "armRight"),
            ("armleft", "armright"),
            ("Arm_L", "Arm_R"),
            ("arm_l", "arm_r"),
            ("Arm.L", "Arm.R"),
            ("Arm.l", "Arm.r"),
            ("L_Arm", "R_Arm"),
            ("l_arm", "r_arm"),
            ("Arm.L.001", "Arm.R.001"),
            ("Arm_L_end", "Arm_R_end"),
            ("Bip01 L UpperArm", "Bip01 R UpperArm"),
            ("ArmL", "ArmR"),
            ("lShldr", "rShldr"),
            ("b_LeftForeArm_010", "b_RightForeArm_07"),
            ("Skeleton_arm_joint_L__4_", "Skeleton_arm_joint_R"),
        ] {
            let mirror = Mirror::new(&skeleton(&[
                (left, [0.2, 1.0, 0.0]),
                ("Spine", [0.0; 3]),
                (right, [-0.2, 1.0, 0.0]),
            ]));
            assert_eq!(mirror.partner(JointId(0)), Some(JointId(2)), "{left}");
            assert_eq!(mirror.partner(JointId(2)), Some(JointId(0)), "{right}");
            assert_eq!(mirror.partner(JointId(1)), Some(JointId(1)));
            assert_eq!(mirror.unpaired().count(), 0);
        }
    }

    #[test]
    fn a_flipped_name_keeps_its_spelling() {
        for (name, flipped) in [
            ("LeftArm", "RightArm"),
            ("mixamorig:RightHand", "mixamorig:LeftHand"),
            ("LEFT_ARM", "RIGHT_ARM"),
            ("arm_left", "arm_right"),
            ("Arm.L.001", "Arm.R.001"),
            ("lowerarm_twist_01.l", "lowerarm_twist_01.r"),
            ("Bip01 R UpperArm", "Bip01 L UpperArm"),
        ] {
            assert_eq!(flipped_name(name).as_deref(), Some(flipped));
            assert_eq!(flipped_name(flipped).as_deref(), Some(name));
        }
        assert_eq!(flipped_name("spine"), None);
        assert_eq!(flipped_name("bright"), None);
    }

    #[test]
    fn words_that_only_contain_a_side_are_in_the_middle_and_a_missing_counterpart_is_reported() {
        let mirror = Mirror::new(&skeleton(&[
            ("bright", [0.0; 3]),
            ("Leftover", [0.0; 3]),
            ("Roll", [0.0; 3]),
            ("pelvis", [0.0; 3]),
            ("Hand_L", [0.1, 0.0, 0.0]),
        ]));
        assert_eq!(mirror.partner(JointId(0)), Some(JointId(0)));
        assert_eq!(mirror.partner(JointId(2)), Some(JointId(2)));
        assert_eq!(mirror.partner(JointId(4)), None);
        assert!(mirror.unpaired().any(|j| j == JointId(4)));
        assert!(!mirror.unpaired().any(|j| [0, 2, 3].contains(&j.0)));
    }

    #[test]
    fn fingers_are_paired_by_number_and_chains_numbered_otherwise_by_position() {
        let mirror = Mirror::new(&skeleton(&[
            ("index_01.l", [0.3, 0., 0.]),
            ("index_02.l", [0.4, 0., 0.]),
            ("index_02.r", [-0.4, 0., 0.]),
            ("index_01.r", [-0.3, 0., 0.]),
            ("arm_R", [-0.1, 1., 0.]),
            ("arm_R_2", [-0.2, 1., 0.]),
            ("arm_L_3", [0.1, 1., 0.]),
            ("arm_L_2", [0.2, 1., 0.]),
        ]));
        for (a, b) in [(0, 3), (1, 2), (4, 6), (5, 7)] {
            assert_eq!(mirror.partner(JointId(a)), Some(JointId(b)));
        }
    }

    #[test]
    fn a_rotation_is_mirrored_for_any_rest_axes() {
        // The left joint's space is the world's, the right one's is rotated about all axes.
        let odd = DQuat::from_xyzw(0.5, -0.5, 0.5, 0.5);
        let left = PosedJoint {
            local: Transform {
                translation: DVec3::new(0.1, 0.2, 0.3),
                rotation: DQuat::from_rotation_z(0.7) * DQuat::from_rotation_x(0.2),
                stretch: DMat3::from_diagonal(DVec3::new(1.0, 2.0, 1.0)),
            },
            rest: Transform::IDENTITY,
            spaces: [DMat3::IDENTITY; 2],
        };
        let rest = Transform {
            rotation: odd,
            ..Transform::IDENTITY
        };
        let reflect = DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0));
        let spaces = [DMat3::from_quat(odd), DMat3::IDENTITY];
        let right = left.carried_to(&rest, spaces, reflect);
        let turned = right.rotation * odd.inverse();
        let expected = DQuat::from_rotation_z(-0.7) * DQuat::from_rotation_x(0.2);
        assert!(turned.abs_diff_eq(expected, 1e-12));
        assert!(
            right
                .translation
                .abs_diff_eq(DVec3::new(-0.1, 0.2, 0.3), 1e-12)
        );
        // The axis of the rotated space that points along world y.
        let long = (odd.inverse() * DVec3::Y).abs();
        assert!(right.scale().abs_diff_eq(DVec3::ONE + long, 1e-12));

        let back = PosedJoint {
            local: right,
            rest,
            spaces,
        }
        .carried_to(&Transform::IDENTITY, [DMat3::IDENTITY; 2], reflect);
        assert!(back.rotation.abs_diff_eq(left.local.rotation, 1e-12));
        assert!(back.stretch.abs_diff_eq(left.local.stretch, 1e-12));
    }
}
