//! Constraints of a bone: added, removed, reordered, muted and changed. Each change is one undo step.

use super::Editor;
use crate::document::Edit;
use crate::sentence::sentence;
use crate::skeleton::bone_segments::automatic_tail;
use crate::skeleton::constraint::limit::Cone;
use crate::skeleton::constraint::{Constraint, CopiedAxes, EulerOrder, Rule, Space};
use crate::skeleton::{JointId, Skeleton};
use glam::DVec3;
use std::f64::consts::PI;
use std::sync::Arc;

/// An axis of the bone that a direction this near is, as the sine of the angle between the two.
const NEAR_AXIS: f64 = 1e-3;
/// A unit direction whose part across an axis is shorter lies along it.
const NEAR_ALONG: f64 = 0.2;
/// The bones of a new chain, where there are as many.
const USUAL_BONES: usize = 3;
/// The fewest bones of a chain.
pub const FEWEST_BONES: usize = 2;

/// What a new constraint does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstraintKind {
    /// Another bone's rotation.
    CopyRotation,
    /// Another bone's place.
    CopyLocation,
    /// Another bone's scale.
    CopyScale,
    /// An axis points at another bone.
    Aim,
    /// A share of another bone's twist.
    TwistShare,
    /// A range for each angle.
    LimitRotation,
    /// A cone and a range of twist.
    LimitSwing,
    /// Two bones reach for another one.
    TwoBoneIk,
    /// A chain of bones reaches for another one.
    ChainIk,
}

impl ConstraintKind {
    /// All kinds, in the order of the menu.
    pub const ALL: [Self; 9] = [
        Self::CopyRotation,
        Self::CopyLocation,
        Self::CopyScale,
        Self::Aim,
        Self::TwistShare,
        Self::LimitRotation,
        Self::LimitSwing,
        Self::TwoBoneIk,
        Self::ChainIk,
    ];

    /// Its name in the menu.
    pub fn label(self) -> &'static str {
        match self {
            Self::CopyRotation => "Copy Rotation",
            Self::CopyLocation => "Copy Location",
            Self::CopyScale => "Copy Scale",
            Self::Aim => "Damped Track",
            Self::TwistShare => "Twist Share",
            Self::LimitRotation => "Limit Rotation",
            Self::LimitSwing => "Limit Swing and Twist",
            Self::TwoBoneIk => "Two-Bone IK",
            Self::ChainIk => "Inverse Kinematics",
        }
    }

    /// Whether it follows another bone.
    pub fn follows(self) -> bool {
        !matches!(self, Self::LimitRotation | Self::LimitSwing)
    }

    /// The tooltip: one sentence.
    pub fn about(self) -> &'static str {
        match self {
            Self::CopyRotation => {
                "Copy the rotation of the target. An influence of 0.5 copies half of it."
            }
            Self::CopyLocation => "Copy the location of the target.",
            Self::CopyScale => "Copy the scale of the target.",
            Self::Aim => "Point an axis of the bone at the target, by the smallest rotation.",
            Self::TwistShare => {
                "Copy a fraction of the target's twist, as the twist bones of a forearm do."
            }
            Self::LimitRotation => "Limit the rotation from the rest pose, as Euler angles.",
            Self::LimitSwing => {
                "Limit the swing from the rest pose to a cone, and the twist to a range."
            }
            Self::TwoBoneIk => {
                "Rotate the two parent bones so that this bone reaches the target. A pole target directs the elbow."
            }
            Self::ChainIk => "Rotate a chain of parent bones so that this bone reaches the target.",
        }
    }

    /// A rule of this kind that follows `other` and, where it limits, allows everything. `along`: the direction of the bone
    /// in its own space, unit; `n_above`: the bones above it.
    pub fn rule(self, other: JointId, along: DVec3, n_above: usize) -> Rule {
        match self {
            Self::CopyRotation => Rule::CopyRotation {
                source: other,
                space: Space::Local,
                keeps_offset: true,
                axes: CopiedAxes::ALL,
            },
            Self::CopyLocation => Rule::CopyLocation {
                source: other,
                keeps_offset: true,
                axes: [true; 3],
                space: Space::World,
            },
            Self::CopyScale => Rule::CopyScale {
                source: other,
                axes: [true; 3],
            },
            Self::Aim => Rule::Aim {
                target: other,
                axis: along,
                up: None,
            },
            Self::TwistShare => Rule::TwistShare {
                source: other,
                axis: along,
                share: 0.5,
                centre: 0.0,
            },
            Self::LimitRotation => Rule::LimitAngles {
                ranges: [[-PI, PI]; 3],
                order: EulerOrder::Xyz,
            },
            Self::LimitSwing => Rule::LimitCone(Cone {
                axis: along,
                side: side_of(along),
                half_angles: [PI; 2],
                twist: [-PI, PI],
            }),
            Self::TwoBoneIk => Rule::ReachTwoBones {
                target: other,
                pole: None,
                softness: 0.0,
            },
            Self::ChainIk => Rule::ReachChain {
                target: other,
                n_bones: n_above.clamp(FEWEST_BONES, USUAL_BONES),
            },
        }
    }
}

impl Editor {
    /// Adds a constraint to a bone. It follows another selected bone; without one it is added muted, because the model would
    /// jump to whatever it followed.
    pub fn add_constraint(&mut self, joint: JointId, kind: ConstraintKind) {
        self.finish_tool();
        let skeleton = self.document.skeleton().clone();
        if !skeleton.is_live(joint) {
            return;
        }
        let selected = &self.document.session().selected_joints;
        let selected = selected.iter().copied().find(|&other| other != joint);
        let Some(other) = selected
            .or_else(|| unrelated(&skeleton, joint))
            .or((!kind.follows()).then_some(joint))
        else {
            return self.notify("There is no other bone to follow.");
        };
        let along = axis_along(self.bone_end(joint));
        let n_above = skeleton.ancestors(joint).count();
        let is_muted = kind.follows() && selected.is_none();
        let mut list = self.document.constraints_of(joint).to_vec();
        list.push(Constraint {
            is_muted,
            ..Constraint::new(kind.rule(other, along, n_above))
        });
        let label = format!("Add {} to {}", kind.label(), skeleton.label(joint));
        if self.set_constraints(joint, list, &label) && is_muted {
            self.notify(format!(
                "“{}” is muted: choose its target, then unmute it. A second selected bone becomes the target.",
                kind.label()
            ));
        }
    }

    /// Removes a constraint of a bone.
    pub fn remove_constraint(&mut self, joint: JointId, index: usize) {
        let mut list = self.document.constraints_of(joint).to_vec();
        if index < list.len() {
            let label = format!("Remove {}", self.constraint_name(joint, index));
            let removed = list.remove(index);
            let keyed = removed.keyed_as;
            let keyed = keyed.filter(|_| self.document.keys_influence(joint, &removed));
            let Some(number) = keyed else {
                self.set_constraints(joint, list, &label);
                return;
            };
            self.finish_tool();
            self.history.begin(&self.document, &label);
            if self.set_constraints(joint, list, &label) {
                self.delete_influence(joint, number, &label);
            }
            self.history.commit(&self.document);
        }
    }

    /// Deletes a constraint that the project keeps without a place in the model, by its index.
    pub fn delete_kept_constraint(&mut self, index: usize) {
        let mut left = Vec::clone(self.document.unplaced_constraints());
        if index >= left.len() {
            return;
        }
        let kept = left.remove(index);
        let label = format!("Delete kept {} of {}", kept.rule, kept.bone);
        self.finish_tool();
        let edit = Edit::UnplacedConstraints(Arc::new(left));
        if let Err(error) = self.apply(edit, &label) {
            self.notify_error(sentence(&error.to_string()));
        }
    }

    /// Moves a constraint of a bone to the place of the one before or after it, which acts earlier or later.
    pub fn move_constraint(&mut self, joint: JointId, index: usize, earlier: bool) {
        let mut list = self.document.constraints_of(joint).to_vec();
        let other = if earlier {
            index.checked_sub(1)
        } else {
            Some(index + 1)
        };
        if let Some(other) = other.filter(|&other| index.max(other) < list.len()) {
            let way = if earlier { "up" } else { "down" };
            let label = format!("Move {} {way}", self.constraint_name(joint, index));
            list.swap(index, other);
            self.set_constraints(joint, list, &label);
        }
    }

    /// Switches a constraint of a bone off or on.
    pub fn mute_constraint(&mut self, joint: JointId, index: usize, muted: bool) {
        let does = if muted { "Mute" } else { "Unmute" };
        let label = format!("{does} {}", self.constraint_name(joint, index));
        self.change_constraint(joint, index, &label, |c| c.is_muted = muted);
    }

    /// Changes a constraint of a bone: one undo step, or part of the open one.
    pub fn change_constraint(
        &mut self,
        joint: JointId,
        index: usize,
        label: &str,
        change: impl FnOnce(&mut Constraint),
    ) {
        let mut list = self.document.constraints_of(joint).to_vec();
        if let Some(constraint) = list.get_mut(index) {
            change(constraint);
            self.set_constraints(joint, list, label);
        }
    }

    /// Each selected bone with each visible one that a constraint of it follows, unless that is off.
    pub fn followed_by_selected(&self) -> Vec<[JointId; 2]> {
        let session = self.document.session();
        let mut found = Vec::new();
        for &joint in &session.selected_joints {
            let list = self.document.constraints_of(joint).iter();
            let acting = list.filter(|c| c.acts());
            for other in acting.flat_map(|c| c.rule.sources()) {
                let pair = [joint, other];
                let is_hidden = pair.iter().any(|j| session.hidden_joints.contains(j));
                if !is_hidden && !found.contains(&pair) {
                    found.push(pair);
                }
            }
        }
        found
    }

    /// The words for a constraint in undo steps: "Copy Rotation 2 of hand.l".
    pub fn constraint_name(&self, joint: JointId, index: usize) -> String {
        let names = constraint_names(self.document.constraints_of(joint));
        let name = names.get(index).map_or("constraint", String::as_str);
        format!("{name} of {}", self.document.skeleton().label(joint))
    }

    /// Whether the list is set; else a toast says why not.
    fn set_constraints(&mut self, joint: JointId, list: Vec<Constraint>, label: &str) -> bool {
        let Some(edit) = self.document.constraints_edit(joint, list) else {
            return false;
        };
        if !self.history.is_open() {
            self.finish_tool();
        }
        match self.apply(Edit::Constraints(edit), label) {
            Ok(()) => true,
            Err(error) => {
                self.notify_error(sentence(&error.to_string()));
                false
            }
        }
    }
}

/// The names of the constraints of one bone: those of a kind that comes more than once are numbered from the second on.
pub fn constraint_names(list: &[Constraint]) -> Vec<String> {
    let labels: Vec<&str> = list.iter().map(|c| c.rule.label()).collect();
    let numbered = labels.iter().enumerate().map(|(i, label)| {
        match labels[..i]
            .iter()
            .filter(|earlier| *earlier == label)
            .count()
        {
            0 => (*label).to_owned(),
            n => format!("{label} {}", n + 1),
        }
    });
    numbered.collect()
}

/// The first bone that lies neither above nor below `joint`; else its parent or a child.
fn unrelated(skeleton: &Skeleton, joint: JointId) -> Option<JointId> {
    let is_above = |a: JointId, b: JointId| skeleton.ancestors(b).any(|j| j == a);
    let mut beside = other_joints(skeleton, joint);
    let found = beside.find(|&other| !is_above(other, joint) && !is_above(joint, other));
    let parent = skeleton.joint(joint).parent;
    found
        .or(parent)
        .or_else(|| other_joints(skeleton, joint).next())
}

/// A direction across a bone, unit: an axis of it where the bone lies along one.
pub fn side_of(along: DVec3) -> DVec3 {
    let across = DVec3::AXES.into_iter().find(|axis| axis.dot(along) == 0.0);
    across.unwrap_or_else(|| along.any_orthonormal_vector())
}

/// The axis along the bone of a joint, in the joint's own space: one of its axes where the bone lies along one.
pub fn axis_of_bone(skeleton: &Skeleton, joint: JointId) -> DVec3 {
    let tail = skeleton.joint(joint).rule.tail;
    axis_along(tail.unwrap_or_else(|| automatic_tail(skeleton, joint)))
}

/// The part of a direction across the unit `axis`, unit; `None` where it lies along.
pub fn across(direction: DVec3, axis: DVec3) -> Option<DVec3> {
    let part = direction.reject_from_normalized(axis);
    part.try_normalize().filter(|_| part.length() > NEAR_ALONG)
}

/// The axis of a bone nearest to `end`, where that is one of its axes; else the direction; X where there is none.
fn axis_along(end: DVec3) -> DVec3 {
    let Some(along) = end.try_normalize() else {
        return DVec3::X;
    };
    let axes = DVec3::AXES.into_iter().flat_map(|axis| [axis, -axis]);
    let mut near = axes.filter(|axis| axis.distance(along) < NEAR_AXIS);
    near.next().unwrap_or(along)
}

/// The bones that a constraint of `joint` may name, in the order of the hierarchy.
pub fn other_joints(skeleton: &Skeleton, joint: JointId) -> impl Iterator<Item = JointId> + '_ {
    let all = skeleton.order().iter().map(|&j| JointId(j));
    all.filter(move |&other| other != joint && skeleton.is_live(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_near_an_axis_are_that_axis() {
        assert_eq!(axis_along(DVec3::new(1e-5, -0.3, 0.0)), DVec3::NEG_Y);
        assert_eq!(axis_along(DVec3::ZERO), DVec3::X);
        let slanted = axis_along(DVec3::ONE);
        assert!((slanted.length() - 1.0).abs() < 1e-12 && slanted.x > 0.5);
        assert_eq!(side_of(DVec3::NEG_X), DVec3::Y);
        assert!(side_of(slanted).dot(slanted).abs() < 1e-12);
    }

    #[test]
    fn constraints_of_one_kind_are_numbered() {
        let kinds = [
            ConstraintKind::CopyScale,
            ConstraintKind::LimitRotation,
            ConstraintKind::CopyScale,
        ];
        let list = kinds.map(|kind| Constraint::new(kind.rule(JointId(0), DVec3::X, 3)));
        let names = constraint_names(&list);
        assert_eq!(names, ["Copy Scale", "Limit Rotation", "Copy Scale 2"]);
    }

    #[test]
    fn kinds_and_rules_have_the_same_names() {
        for kind in ConstraintKind::ALL {
            let rule = kind.rule(JointId(0), DVec3::X, 3);
            assert_eq!(kind.label(), rule.label());
            assert_eq!(kind.follows(), rule.sources().next().is_some());
        }
    }
}
