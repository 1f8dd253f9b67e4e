//! The operations.

use super::bone::{locked_note, tail_of};
use super::done::Done;
use super::template::Template;
use super::{bind, centre, layers, parent, pin, remove, roll, side, template, twist, unbind};
use crate::document::Document;
use crate::document::rig::measure::diagonal;
use crate::document::rig::{
    self, Axis, Children, Draw, Extrude, Insert, Intent, KEY_TOLERANCE, Keep, Move, Orient, Pin,
    Reparent, RigError, SecondAxis, WeightRecipient,
};
use crate::skeleton::constraint::Constraint;
use crate::skeleton::joint_limits::JointLimits;
use crate::skeleton::orientation::world_of;
use crate::skeleton::{JointId, Pose};
use crate::task::Task;
use crate::weights::automatic::Automatic;
use glam::DVec3;
use std::sync::Arc;

/// The largest move, in diagonals of the model: farther away the positions of single precision are too coarse.
const FARTHEST: f64 = 1e4;

/// An operation on the rig.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// Divides the bone of a joint by new joints at equal distances.
    Insert {
        /// The joint at the bone's head.
        joint: JointId,
        /// How many, 1 - 16.
        n: usize,
    },
    /// Moves a joint; its children stay.
    Move {
        /// The joint.
        joint: JointId,
        /// The offset in world space, metres.
        by: DVec3,
        /// What the move does to the clips.
        intent: Intent,
    },
    /// Moves a joint with all below it; clips rotate about the new places.
    MoveTree {
        /// The joint.
        joint: JointId,
        /// The offset in world space, metres.
        by: DVec3,
    },
    /// Rotates the axes of a joint about its bone; every motion stays.
    Roll {
        /// The joint.
        joint: JointId,
        /// The angle, radians.
        angle: f64,
    },
    /// Turns the axes of a joint; every motion stays.
    Orient {
        /// The joint.
        joint: JointId,
        /// The axis along the bone.
        aim: Axis,
        /// The axis towards the normal of the bend.
        second: Axis,
    },
    /// Makes another joint the parent of a joint; every motion stays.
    Reparent {
        /// The joint.
        joint: JointId,
        /// The new parent.
        parent: JointId,
    },
    /// Makes the root of the rig the parent of a joint; every motion stays.
    ClearParent {
        /// The joint.
        joint: JointId,
    },
    /// Removes a joint; its weights pass on by the rule that changes the clips less.
    Remove {
        /// The joint.
        joint: JointId,
    },
    /// Merges a joint into its parent, which gets all its weights.
    Dissolve {
        /// The joint.
        joint: JointId,
    },
    /// Adds a child to a joint.
    Extrude {
        /// The parent.
        joint: JointId,
        /// The offset of the new joint from its parent in world space, metres.
        by: DVec3,
    },
    /// Adds a joint at a place of the world, and its counterpart on the other side.
    Draw(Draw),
    /// Mirrors a joint and all below it to the other side.
    Symmetrize {
        /// The joint of the side that is copied.
        joint: JointId,
    },
    /// Adds a twist chain to the bone of a joint.
    Twist {
        /// The joint at the bone's head.
        joint: JointId,
        /// Segments, 1 - 6.
        n: usize,
    },
    /// Adds a half joint between a joint and its parent.
    Half {
        /// The lower joint.
        joint: JointId,
    },
    /// Makes the scale of a joint 1 and keeps every size.
    FreezeScale {
        /// The joint.
        joint: JointId,
    },
    /// Renames a joint.
    Rename {
        /// The joint.
        joint: JointId,
        /// Its new name.
        name: String,
    },
    /// Moves a joint into the middle of the limb around it; its children stay.
    Centre {
        /// The joint.
        joint: JointId,
    },
    /// Adds a constraint to a joint, after those that it has.
    Constrain {
        /// The joint.
        joint: JointId,
        /// The constraint.
        constraint: Box<Constraint>,
    },
    /// Adds the bones of a template to a model without bones.
    Template(Template),
    /// Binds the meshes to their joints, with new weights; those without a skin get one.
    Bind(Automatic),
    /// Takes the meshes from their skins; their weights are kept.
    Unbind,
    /// Binds unbound meshes again, with the weights that they had.
    BindKept,
    /// Makes a pose the bind pose: the meshes get the shape that they have in it.
    ApplyPose(Arc<Pose>),
    /// Makes a pose the rest pose; clips stay.
    PoseAsRest(Arc<Pose>),
    /// Holds a joint in place over a range of a clip.
    Pin(Pin),
    /// Infers the logical parents of flat rigs, whose joints are all children of one node.
    InferParents,
    /// Sets the rotation limits of a joint.
    Limit {
        /// The joint.
        joint: JointId,
        /// The limits; `None`: it rotates freely.
        limits: Option<JointLimits>,
    },
    /// Sets the logical parent of a joint.
    LogicalParent {
        /// The joint.
        joint: JointId,
        /// The joint above it along the limb; `None`: its parent.
        parent: Option<JointId>,
    },
}

impl Operation {
    /// Its name in menus, reports and undo steps.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Insert { .. } => "Subdivide bone",
            Self::Move { .. } => "Move bone",
            Self::MoveTree { .. } => "Move bone with children",
            Self::Roll { .. } => "Roll bone",
            Self::Orient { .. } => "Orient bone",
            Self::Reparent { .. } => "Set parent",
            Self::ClearParent { .. } => "Clear parent",
            Self::Remove { .. } => "Remove bone",
            Self::Dissolve { .. } => "Dissolve bone",
            Self::Extrude { .. } => "Extrude bone",
            Self::Draw(_) => "Draw joint",
            Self::Symmetrize { .. } => "Symmetrize bones",
            Self::Twist { .. } => "Add twist bones",
            Self::Half { .. } => "Add half bone",
            Self::FreezeScale { .. } => "Freeze scale",
            Self::Rename { .. } => "Rename bone",
            Self::Centre { .. } => "Centre in limb",
            Self::Constrain { .. } => "Add constraint",
            Self::Template(_) => "Add skeleton",
            Self::Bind(_) => "Bind",
            Self::Unbind => "Unbind",
            Self::BindKept => "Bind with kept weights",
            Self::ApplyPose(_) => "Apply pose to mesh",
            Self::PoseAsRest(_) => "Use pose as rest pose",
            Self::Pin(_) => "Pin over range",
            Self::InferParents => "Infer logical parents",
            Self::Limit { .. } => "Set rotation limits",
            Self::LogicalParent { .. } => "Set logical parent",
        }
    }

    /// The edit of `document`, which stays as it is, with the new joints and notes.
    ///
    /// Fails, with one sentence for the artist, where the operation cannot be done; where it would change nothing, a note says so.
    pub fn run(&self, document: &Document, task: &Task) -> Result<Done, RigError> {
        let done = match self.of(document, task) {
            Err(why @ RigError::Unchanged(_)) => {
                let mut done = Done::of(rig::RigEdit::between(document, document));
                done.notes.push(why.to_string());
                return Ok(done);
            }
            done => done?,
        };
        Ok(if done.edit.changes_nothing(document) {
            Done {
                notes: vec![RigError::Unchanged(self.why_unchanged(document)).to_string()],
                ..done
            }
        } else {
            done
        })
    }

    /// Why the edit has no effect.
    fn why_unchanged(&self, document: &Document) -> String {
        let label = |joint: JointId| document.skeleton().label(joint);
        match self {
            &Self::Move { joint, .. } | &Self::MoveTree { joint, .. } => {
                format!("“{}” is already there", label(joint))
            }
            &Self::Orient { joint, .. } | &Self::Roll { joint, .. } => {
                format!("“{}” already has these axes", label(joint))
            }
            &Self::Reparent { joint, parent } => format!(
                "“{}” is already a child of “{}”",
                label(joint),
                label(parent)
            ),
            Self::Rename { joint, .. } => format!("“{}” already has this name", label(*joint)),
            Self::Bind(_) => "the meshes already have these weights".into(),
            _ => "the rig is already as requested".into(),
        }
    }

    fn of(&self, document: &Document, task: &Task) -> Result<Done, RigError> {
        match self {
            &Self::Insert { joint, n } => insert(document, joint, n),
            &Self::Move { joint, by, intent } => {
                move_by(document, (joint, by), intent, Children::Stay)
            }
            &Self::MoveTree { joint, by } => {
                move_by(document, (joint, by), Intent::NewPivot, Children::Follow)
            }
            &Self::Roll { joint, angle } => roll::run(document, joint, angle),
            &Self::Orient { joint, aim, second } => {
                let request = Orient {
                    joints: vec![joint],
                    aim,
                    second,
                    towards: SecondAxis::BendNormal,
                    roll: 0.0,
                    leaves_stay: false,
                };
                rig::orient(document, &request).map(Done::of)
            }
            &Self::Reparent { joint, parent } => {
                let request = Reparent {
                    joint,
                    parent: Some(parent),
                    keep: Keep::Motion,
                    nearest: false,
                    tolerance: KEY_TOLERANCE,
                };
                let mut done = Done::of(rig::reparent(document, &request)?);
                done.notes.extend(layers::of_new_parent(document, joint));
                Ok(done)
            }
            &Self::ClearParent { joint } => parent::clear(document, joint),
            &Self::Remove { joint } => remove::run(document, joint),
            &Self::Dissolve { joint } => {
                rig::remove(document, joint, WeightRecipient::IntoParent).map(Done::of)
            }
            &Self::Extrude { joint, by } => extrude(document, joint, by),
            Self::Draw(request) => draw(document, request),
            &Self::Symmetrize { joint } => side::run(document, joint, task),
            &Self::Twist { joint, n } => twist::run(document, joint, n),
            &Self::Half { joint } => half(document, joint),
            &Self::FreezeScale { joint } => rig::freeze_scale(document, joint).map(Done::of),
            Self::Rename { joint, name } => rename(document, *joint, name),
            &Self::Centre { joint } => centre::run(document, joint),
            Self::Constrain { joint, constraint } => {
                rig::add_constraint(document, *joint, constraint).map(Done::of)
            }
            &Self::Template(kind) => template::run(document, kind),
            Self::Bind(method) => bind::run(document, *method, task),
            Self::Unbind => unbind::unbind(document),
            Self::BindKept => unbind::bind_kept(document),
            Self::Pin(request) => pin::run(document, request, task),
            Self::InferParents => rig::infer_logical_parents(document).map(Done::of),
            &Self::Limit { joint, limits } => {
                rig::set_limits(document, joint, limits).map(Done::of)
            }
            &Self::LogicalParent { joint, parent } => {
                rig::set_logical_parent(document, joint, parent).map(Done::of)
            }
            Self::ApplyPose(pose) => apply_pose(document, pose),
            Self::PoseAsRest(pose) => {
                let mut done = Done::of(rig::pose_as_rest(document, pose)?);
                done.notes.extend(layers::of_new_rest(document, pose));
                Ok(done)
            }
        }
    }
}

fn apply_pose(document: &Document, pose: &Pose) -> Result<Done, RigError> {
    let mut done = Done::of(rig::apply_pose(document, pose)?);
    done.notes.extend(layers::of_new_rest(document, pose));
    let n_new = done.edit.new_meshes().count();
    if let Some(name) = done.edit.new_meshes().next() {
        let note = format!(
            "Objects that share a mesh got different shapes, so {} added, such as “{name}”.",
            counted_are(n_new)
        );
        done.notes.push(note);
    }
    done.notes.push(
        "The shape is that of linear blend skinning. Vertices of several bones move differently in other poses now.".into(),
    );
    Ok(done)
}

/// "1 copy was", "2 copies were".
fn counted_are(n: usize) -> String {
    if n == 1 {
        "1 copy was".into()
    } else {
        format!("{n} copies were")
    }
}

fn insert(document: &Document, joint: JointId, n: usize) -> Result<Done, RigError> {
    let child = tail_of(document, joint)?;
    let request = Insert {
        joint,
        child,
        n,
        half_width: None,
    };
    let (edit, made) = rig::insert(document, &request)?;
    Ok(Done {
        edit,
        made,
        notes: locked_note(document, &[joint]).into_iter().collect(),
    })
}

fn move_by(
    document: &Document,
    (joint, by): (JointId, DVec3),
    intent: Intent,
    children: Children,
) -> Result<Done, RigError> {
    let skeleton = document.skeleton();
    let by = into_joint(document, joint, by)?;
    let request = Move {
        joint,
        by,
        intent,
        children,
        tolerance: KEY_TOLERANCE,
    };
    let mut done = Done::of(rig::move_joint(document, &request)?);
    if intent == Intent::ChildrenKeepMotion && !skeleton.children(joint).is_empty() {
        done.notes.push(
            "The children keep their motions, so the length of the bone changes over the clips."
                .into(),
        );
    }
    Ok(done)
}

/// A direction of the world in the space of a joint at rest.
fn into_joint(document: &Document, joint: JointId, by: DVec3) -> Result<DVec3, RigError> {
    let skeleton = document.skeleton();
    if !skeleton.is_live(joint) {
        return Err(RigError::NoJoint(joint.0));
    }
    let is_near = by.length() <= FARTHEST * diagonal(document);
    if !is_near {
        return Err(RigError::Value(format!(
            "The offset of “{}” is more than 10,000 times the size of the model.",
            skeleton.label(joint)
        )));
    }
    let world = world_of(skeleton, document.rest_pose(), joint).matrix3;
    let by = world.inverse() * by;
    if by.is_finite() {
        Ok(by)
    } else {
        Err(RigError::Singular {
            joint: skeleton.label(joint),
            place: "in the rest pose".into(),
        })
    }
}

fn extrude(document: &Document, joint: JointId, by: DVec3) -> Result<Done, RigError> {
    let request = Extrude {
        parent: Some(joint),
        at: into_joint(document, joint, by)?,
        name: String::new(),
    };
    let (edit, made) = rig::extrude(document, &request)?;
    let mut notes: Vec<String> = locked_note(document, &[joint]).into_iter().collect();
    if notes.is_empty() {
        notes.push("The new bone has no weights: paint them, or bind the mesh again.".into());
    }
    Ok(Done {
        edit,
        made: vec![made],
        notes,
    })
}

fn draw(document: &Document, request: &Draw) -> Result<Done, RigError> {
    let (edit, made) = rig::draw(document, request)?;
    Ok(Done {
        edit,
        made,
        notes: Vec::new(),
    })
}

fn half(document: &Document, joint: JointId) -> Result<Done, RigError> {
    let (edit, made) = rig::half(document, joint)?;
    let skeleton = document.skeleton();
    let mut notes = vec![format!(
        "A constraint gives it half of the rotation of “{}”. Exports write its keyframes.",
        skeleton.label(joint)
    )];
    let parent = skeleton.joint(joint).parent;
    let both: Vec<JointId> = parent.into_iter().chain([joint]).collect();
    notes.extend(locked_note(document, &both));
    Ok(Done {
        edit,
        made: vec![made],
        notes,
    })
}

fn rename(document: &Document, joint: JointId, name: &str) -> Result<Done, RigError> {
    let mut done = Done::of(rig::rename(document, joint, name)?);
    let skeleton = document.skeleton();
    let is_same = |j: JointId| j != joint && skeleton.joint(j).name == name.trim();
    if skeleton.live_joints().any(is_same) {
        done.notes
            .push(format!("Another bone is named “{}” too.", name.trim()));
    }
    Ok(done)
}
