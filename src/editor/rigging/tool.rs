//! The operations on bones with their settings, and the steps that each takes on the selected bones.

use crate::document::rig::{Axis, Intent, PIN_EASE_SECS, Pin};
use crate::document::{ClipId, Document};
use crate::rig::{Operation, Template};
use crate::skeleton::orientation::world_of;
use crate::skeleton::{JointId, Pose};
use crate::tools::transform::topmost;
use crate::weights::automatic::Automatic;
use glam::DVec3;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A kind of operation on bones, without settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RigKind {
    /// Divides the bones.
    Subdivide,
    /// Aims an axis along the bones.
    Orient(Axis),
    /// Gives the bones the active one as parent.
    SetParent,
    /// Takes the bones from their parents.
    ClearParent,
    /// Removes the bones.
    Remove,
    /// Merges the bones into their parents.
    Dissolve,
    /// Mirrors the bones and all below them.
    Symmetrize,
    /// Adds twist bones.
    Twist,
    /// Adds half bones.
    Half,
    /// Makes the scale of the bones 1.
    FreezeScale,
    /// Moves the bones into the middle of their limbs.
    Centre,
    /// Adds the bones of a template.
    Template(Template),
    /// Computes the weights of all meshes anew.
    Bind,
    /// Takes the meshes from their skins.
    Unbind,
    /// Binds unbound meshes again with the weights that they had.
    BindKept,
    /// Makes the pose the bind pose.
    ApplyPose,
    /// Makes the pose the rest pose.
    PoseAsRest,
    /// Holds the bones in place over a range of the clip.
    Pin,
    /// Finds the logical parents of flat rigs.
    InferParents,
}

/// An operation on bones with its settings.
#[derive(Clone, Debug, PartialEq)]
pub enum RigTool {
    /// Divides the bones by new ones.
    Subdivide {
        /// How many, 1 - 16.
        n: usize,
    },
    /// Moves the heads of the bones.
    Move {
        /// The offset in world space, metres.
        by: DVec3,
        /// What the move does to the clips.
        intent: Intent,
    },
    /// Moves the heads of the bones with all below them.
    MoveTree {
        /// The offset in world space, metres.
        by: DVec3,
    },
    /// Rotates the axes of the bones about the bones.
    Roll {
        /// The angle, radians.
        angle: f64,
    },
    /// Rotates the axes of the bones.
    Orient {
        /// The axis along the bone.
        aim: Axis,
        /// The axis towards the normal of the bend.
        second: Axis,
    },
    /// Gives the bones another parent.
    SetParent {
        /// The parent.
        parent: JointId,
    },
    /// Takes the bones from their parents.
    ClearParent,
    /// Removes the bones.
    Remove,
    /// Merges the bones into their parents.
    Dissolve,
    /// Mirrors the bones and all below them.
    Symmetrize,
    /// Adds twist bones.
    Twist {
        /// Segments, 1 - 6.
        n: usize,
    },
    /// Adds half bones.
    Half,
    /// Makes the scale of the bones 1.
    FreezeScale,
    /// Adds a child to the bones.
    Extrude {
        /// The offset of the new bone's head in world space, metres.
        by: DVec3,
    },
    /// Moves the bones into the middle of their limbs.
    Centre,
    /// Adds the bones of a template.
    Template(Template),
    /// Computes the weights of all meshes anew.
    Bind(Automatic),
    /// Takes the meshes from their skins.
    Unbind,
    /// Binds unbound meshes again with the weights that they had.
    BindKept,
    /// Makes a pose the bind pose.
    ApplyPose(Arc<Pose>),
    /// Makes a pose the rest pose.
    PoseAsRest(Arc<Pose>),
    /// Holds the bones in place over a range of a clip.
    Pin(PinSettings),
    /// Finds the logical parents of flat rigs.
    InferParents,
}

/// Where and how long bones are held in place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PinSettings {
    /// The clip.
    pub clip: ClipId,
    /// The times from and to which they are held, seconds.
    pub range: [f64; 2],
    /// The time at which they are where they are held, seconds.
    pub at: f64,
    /// The time at which the pose on screen differs from the clip; there they are held as on screen.
    pub posed_at: Option<f64>,
    /// The time to their place and back, seconds.
    pub ease: f64,
}

impl RigTool {
    /// Its name in menus and in the history.
    pub fn label(&self) -> &'static str {
        self.operation(JointId(0)).label()
    }

    /// Whether it may take long, and waits for its settings.
    pub(super) fn is_slow(&self) -> bool {
        matches!(self, Self::Bind(_))
    }

    /// Whether it works on bones, not on the model as a whole.
    pub(super) fn is_about_bones(&self) -> bool {
        !matches!(
            self,
            Self::Template(_)
                | Self::Bind(_)
                | Self::Unbind
                | Self::BindKept
                | Self::ApplyPose(_)
                | Self::PoseAsRest(_)
                | Self::InferParents
        )
    }

    /// Whether a drag ends in it, which shows its result before it is there.
    pub(super) fn is_by_hand(&self) -> bool {
        matches!(
            self,
            Self::Move { .. } | Self::MoveTree { .. } | Self::Extrude { .. } | Self::Roll { .. }
        )
    }

    /// Whether it has settings to adjust.
    pub fn has_settings(&self) -> bool {
        matches!(
            self,
            Self::Subdivide { .. }
                | Self::Move { .. }
                | Self::MoveTree { .. }
                | Self::Roll { .. }
                | Self::Orient { .. }
                | Self::SetParent { .. }
                | Self::Twist { .. }
                | Self::Extrude { .. }
                | Self::Bind(_)
                | Self::Pin(_)
        )
    }

    /// The steps on `joints`, one after another.
    pub(super) fn operations(&self, document: &Document, joints: &[JointId]) -> Vec<Operation> {
        if !self.is_about_bones() {
            return vec![self.operation(JointId(0))];
        }
        let skeleton = document.skeleton();
        let mut joints = joints.to_vec();
        match self {
            // They take all below with them.
            Self::Symmetrize | Self::MoveTree { .. } => {
                let all: BTreeSet<JointId> = joints.into_iter().collect();
                joints = topmost(skeleton, &all).collect();
            }
            Self::SetParent { parent } => joints.retain(|joint| joint != parent),
            _ => {}
        }
        joints.sort_by_key(|&joint| skeleton.rank(joint));
        if matches!(self, Self::Remove | Self::Dissolve) {
            // From the tip, so that the weights of a chain end in the bone above it.
            joints.reverse();
        }
        let shown = self.is_as_posed().then(|| document.current_pose());
        let steps = joints.into_iter().map(|joint| {
            let mut step = self.operation(joint);
            if let (Operation::Pin(pin), Some(pose)) = (&mut step, &shown) {
                pin.place = Some(world_of(skeleton, pose, joint));
            }
            step
        });
        steps.collect()
    }

    /// Whether it holds bones where the pose on screen has them, not the clip.
    fn is_as_posed(&self) -> bool {
        matches!(self, Self::Pin(settings) if settings.posed_at == Some(settings.at))
    }

    fn operation(&self, joint: JointId) -> Operation {
        match self {
            &Self::Subdivide { n } => Operation::Insert { joint, n },
            &Self::Move { by, intent } => Operation::Move { joint, by, intent },
            &Self::MoveTree { by } => Operation::MoveTree { joint, by },
            &Self::Roll { angle } => Operation::Roll { joint, angle },
            &Self::Orient { aim, second } => Operation::Orient { joint, aim, second },
            &Self::SetParent { parent } => Operation::Reparent { joint, parent },
            Self::ClearParent => Operation::ClearParent { joint },
            Self::Remove => Operation::Remove { joint },
            Self::Dissolve => Operation::Dissolve { joint },
            Self::Symmetrize => Operation::Symmetrize { joint },
            &Self::Twist { n } => Operation::Twist { joint, n },
            Self::Half => Operation::Half { joint },
            Self::FreezeScale => Operation::FreezeScale { joint },
            &Self::Extrude { by } => Operation::Extrude { joint, by },
            Self::Centre => Operation::Centre { joint },
            &Self::Template(template) => Operation::Template(template),
            &Self::Bind(method) => Operation::Bind(method),
            Self::ApplyPose(pose) => Operation::ApplyPose(pose.clone()),
            Self::PoseAsRest(pose) => Operation::PoseAsRest(pose.clone()),
            Self::Unbind => Operation::Unbind,
            Self::BindKept => Operation::BindKept,
            &Self::Pin(PinSettings {
                clip,
                range,
                at,
                ease,
                posed_at: _,
            }) => Operation::Pin(Pin {
                joint,
                clip,
                range,
                at,
                place: None,
                ease,
            }),
            Self::InferParents => Operation::InferParents,
        }
    }
}

/// The settings used last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Remembered {
    pub(super) n_parts: usize,
    pub(super) n_twist: usize,
    pub(super) intent: Intent,
    /// Whether moved bones take their children along.
    pub(super) follow: bool,
    pub(super) method: Automatic,
    /// The time in which pinned bones go to their places, seconds.
    pub(super) ease: f64,
}

impl Default for Remembered {
    fn default() -> Self {
        Self {
            n_parts: 1,
            n_twist: 2,
            intent: Intent::default(),
            follow: false,
            method: Automatic::Heat,
            ease: PIN_EASE_SECS,
        }
    }
}

impl Remembered {
    /// Keeps the settings of `tool`.
    pub(super) fn keep(&mut self, tool: &RigTool) {
        match *tool {
            RigTool::Subdivide { n } => self.n_parts = n,
            RigTool::Twist { n } => self.n_twist = n,
            RigTool::Move { intent, .. } => {
                self.intent = intent;
                self.follow = false;
            }
            RigTool::MoveTree { .. } => self.follow = true,
            RigTool::Bind(method) => self.method = method,
            RigTool::Pin(settings) => self.ease = settings.ease,
            _ => {}
        }
    }
}

/// The second axis beside an axis along the bone: +Z beside +Y as Blender's bones, else +Y.
pub(super) fn usual_second(aim: Axis) -> Axis {
    match aim {
        Axis::Y | Axis::NegY => Axis::Z,
        _ => Axis::Y,
    }
}
