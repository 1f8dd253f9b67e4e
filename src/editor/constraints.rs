//! Constraints of a bone: added, removed, reordered, muted and changed. Each change is one undo step.

use super::Editor;
use crate::document::Edit;
use crate::skeleton::constraint::limit::Cone;
use crate::skeleton::constraint::{Constraint, Rule, Space};
use crate::skeleton::{JointId, Skeleton};
use glam::DVec3;
use std::f64::consts::PI;

/// An axis of the bone that a direction this near is, as the sine of the angle between the two.
const NEAR_AXIS: f64 = 1e-3;

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
            Self::CopyRotation => "Copy rotation",
            Self::CopyLocation => "Copy location",
            Self::CopyScale => "Copy scale",
            Self::Aim => "Aim (damped track)",
            Self::TwistShare => "Twist share",
            Self::LimitRotation => "Limit rotation",
            Self::LimitSwing => "Limit swing and twist",
            Self::TwoBoneIk => "Inverse kinematics, two bones",
            Self::ChainIk => "Inverse kinematics, chain",
        }
    }

    /// What it does, in a sentence.
    pub fn about(self) -> &'static str {
        match self {
            Self::CopyRotation => {
                "Turn the bone as another one turns. An influence of 0.5 makes a half rotation."
            }
            Self::CopyLocation => "Keep the bone at the place of another one.",
            Self::CopyScale => "Scale the bone as another one is scaled.",
            Self::Aim => "Point an axis of the bone at another one, by the shortest turn.",
            Self::TwistShare => {
                "Turn the bone by a share of another one's twist, as twist bones of a forearm do."
            }
            Self::LimitRotation => {
                "Keep each angle in a range, relative to the rest pose: X first, then Y, then Z."
            }
            Self::LimitSwing => {
                "Keep the bone in a cone about its rest direction, and its twist in a range."
            }
            Self::TwoBoneIk => {
                "Bend the two bones above so that this one reaches another bone; a pole directs the elbow."
            }
            Self::ChainIk => "Bend a chain of bones above so that this one reaches another bone.",
        }
    }

    /// A rule of this kind that follows `other`. `along`: the direction of the bone in its own space, unit.
    fn rule(self, other: JointId, along: DVec3) -> Rule {
        match self {
            Self::CopyRotation => Rule::CopyRotation {
                source: other,
                space: Space::Local,
                keeps_offset: true,
            },
            Self::CopyLocation => Rule::CopyLocation {
                source: other,
                keeps_offset: true,
            },
            Self::CopyScale => Rule::CopyScale { source: other },
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
            Self::LimitRotation => Rule::LimitAngles([[-PI, PI]; 3]),
            Self::LimitSwing => Rule::LimitCone(Cone {
                axis: along,
                side: along.any_orthonormal_vector(),
                half_angles: [PI / 2.0; 2],
                twist: [-PI / 2.0, PI / 2.0],
            }),
            Self::TwoBoneIk => Rule::ReachTwoBones {
                target: other,
                pole: None,
                softness: 0.0,
            },
            Self::ChainIk => Rule::ReachChain {
                target: other,
                n_bones: 3,
            },
        }
    }
}

impl Editor {
    /// Adds a constraint to a bone. It follows another selected bone, or the first bone that it can follow.
    pub fn add_constraint(&mut self, joint: JointId, kind: ConstraintKind) {
        self.finish_tool();
        let skeleton = self.document.skeleton().clone();
        if !skeleton.is_live(joint) {
            return;
        }
        let along = axis_along(self.bone_end(joint));
        let session = self.document.session();
        let selected = session.selected_joints.iter().copied();
        let candidates: Vec<JointId> = selected.chain(skeleton.live_joints()).collect();
        let list = self.document.constraints_of(joint).to_vec();
        let mut fault = None;
        for other in candidates.into_iter().filter(|&other| other != joint) {
            let mut wanted = list.clone();
            wanted.push(Constraint::new(kind.rule(other, along)));
            let Some(edit) = self.document.constraints_edit(joint, wanted) else {
                return;
            };
            match self.apply(Edit::Constraints(edit), "Add constraint") {
                Ok(()) => return,
                Err(error) => {
                    fault.get_or_insert(error);
                }
            }
        }
        match fault {
            Some(error) => self.notify_error(format!("{error}.")),
            None => self.notify("There is no other bone to follow."),
        }
    }

    /// Removes a constraint of a bone.
    pub fn remove_constraint(&mut self, joint: JointId, index: usize) {
        let mut list = self.document.constraints_of(joint).to_vec();
        if index < list.len() {
            list.remove(index);
            self.set_constraints(joint, list, "Remove constraint");
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
            list.swap(index, other);
            self.set_constraints(joint, list, "Reorder constraints");
        }
    }

    /// Switches a constraint of a bone off or on.
    pub fn mute_constraint(&mut self, joint: JointId, index: usize, muted: bool) {
        let label = if muted {
            "Mute constraint"
        } else {
            "Unmute constraint"
        };
        self.change_constraint(joint, index, label, |c| c.is_muted = muted);
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

    fn set_constraints(&mut self, joint: JointId, list: Vec<Constraint>, label: &str) {
        let Some(edit) = self.document.constraints_edit(joint, list) else {
            return;
        };
        if !self.history.is_open() {
            self.finish_tool();
        }
        if let Err(error) = self.apply(Edit::Constraints(edit), label) {
            self.notify_error(format!("{error}."));
        }
    }
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
    all.filter(move |&other| other != joint)
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
    }
}
