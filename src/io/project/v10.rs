//! Version 10 of the format, in which copies of rotations, locations and scales have no axes of their own, and influences no
//! keyframes.

use super::cluster_entries::ClusterEntry;
use super::constraint_entries::{self, RuleOfConstraint, UpEntry};
use super::joints::{JointKey, JointRef};
use super::recording_entries::RecordingEntry;
use super::sample_entries::CorrectiveEntry;
use super::session::Session;
use super::types::{self, EulerOrder, Interpolation, RigidInterpolation};
// Everything else is as in version 11.
use super::v11::{
    self, InstanceEntry, JointEntry, JointPose, KeyBlock, LayerEntry, MeshMask, MeshPoints,
    MeshWeights, ModelRef, Named, Renamed, RuleEntry, SkinEntry, StackEntry,
};
use serde::Deserialize;

/// A project of version 10.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Project {
    #[expect(dead_code, reason = "read before the rest")]
    pub(super) version: u32,
    pub(super) app: String,
    pub(super) model: ModelRef,
    #[serde(default)]
    pub(super) recovers: Option<String>,
    #[serde(default)]
    pub(super) unsaved_steps: Option<u64>,
    #[serde(default)]
    pub(super) joints: Vec<JointEntry>,
    #[serde(default)]
    pub(super) skins: Vec<SkinEntry>,
    #[serde(default)]
    pub(super) instances: Vec<InstanceEntry>,
    #[serde(default)]
    pub(super) weights: Vec<MeshWeights>,
    #[serde(default)]
    pub(super) layers: Vec<LayerEntry>,
    #[serde(default)]
    pub(super) stacks: Vec<StackEntry>,
    #[serde(default)]
    pub(super) masks: Vec<MeshMask>,
    #[serde(default)]
    pub(super) correctives: Vec<CorrectiveEntry>,
    #[serde(default)]
    pub(super) recordings: Vec<RecordingEntry>,
    #[serde(default)]
    pub(super) clusters: Vec<ClusterEntry>,
    #[serde(default)]
    pub(super) pose: Vec<JointPose>,
    #[serde(default)]
    pub(super) renamed: Vec<Renamed>,
    #[serde(default)]
    pub(super) rules: Vec<RuleEntry>,
    #[serde(default)]
    pub(super) constraints: Vec<ConstraintsEntry>,
    #[serde(default)]
    pub(super) locked: Vec<JointRef>,
    #[serde(default)]
    pub(super) clips: Vec<ClipEntry>,
    #[serde(default)]
    pub(super) removed_clips: Vec<Named>,
    #[serde(default)]
    pub(super) points: Vec<MeshPoints>,
    #[serde(default)]
    pub(super) session: Option<Session>,
}

impl From<Project> for v11::Project {
    fn from(old: Project) -> Self {
        Self {
            version: v11::VERSION,
            app: old.app,
            model: old.model,
            recovers: old.recovers,
            unsaved_steps: old.unsaved_steps,
            joints: old.joints,
            skins: old.skins,
            instances: old.instances,
            mesh_copies: Vec::new(),
            weights: old.weights,
            kept_weights: Vec::new(),
            shapes: Vec::new(),
            layers: old.layers,
            stacks: old.stacks,
            masks: old.masks,
            correctives: old.correctives,
            recordings: old.recordings,
            clusters: old.clusters,
            pose: old.pose,
            renamed: old.renamed,
            rules: old.rules,
            constraints: old.constraints.into_iter().map(Into::into).collect(),
            locked: old.locked,
            humanoid: Vec::new(),
            clips: old.clips.into_iter().map(Into::into).collect(),
            poses: Vec::new(),
            removed_clips: old.removed_clips,
            individual: None,
            what_if: None,
            points: old.points,
            session: old.session,
        }
    }
}

/// A clip, complete.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClipEntry {
    pub(super) clip: u32,
    pub(super) name: String,
    #[serde(default)]
    pub(super) replaces: Option<String>,
    #[serde(default, rename = "in_betweens")]
    pub(super) rigid_interpolation: RigidInterpolation,
    #[serde(default)]
    pub(super) preview: bool,
    pub(super) channels: Vec<ChannelEntry>,
}

/// A channel; keyframes as text or encoded.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChannelEntry {
    joint: JointKey,
    name: String,
    property: Property,
    interpolation: Interpolation,
    #[serde(default)]
    times: Vec<f32>,
    #[serde(default)]
    values: Vec<f32>,
    #[serde(default)]
    keys: Option<KeyBlock>,
}

/// What a channel animates.
#[derive(Clone, Copy, Deserialize)]
enum Property {
    Translation,
    Rotation,
    Scale,
    MorphWeights,
}

impl From<ClipEntry> for v11::ClipEntry {
    fn from(old: ClipEntry) -> Self {
        Self {
            clip: old.clip,
            name: old.name,
            replaces: old.replaces,
            rigid_interpolation: old.rigid_interpolation,
            preview: old.preview,
            pose_names: Vec::new(),
            channels: old.channels.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<ChannelEntry> for v11::ChannelEntry {
    fn from(old: ChannelEntry) -> Self {
        Self {
            joint: old.joint,
            name: old.name,
            property: match old.property {
                Property::Translation => types::Property::Translation,
                Property::Rotation => types::Property::Rotation,
                Property::Scale => types::Property::Scale,
                Property::MorphWeights => types::Property::MorphWeights,
            },
            interpolation: old.interpolation,
            times: old.times,
            values: old.values,
            keys: old.keys,
        }
    }
}

/// The constraints of one joint, in the order in which they act.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConstraintsEntry {
    joint: JointKey,
    name: String,
    list: Vec<ConstraintEntry>,
}

/// A constraint.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConstraintEntry {
    rule: Rule,
    #[serde(default = "constraint_entries::all")]
    influence: f64,
    #[serde(default)]
    muted: bool,
}

/// How a joint follows others.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename = "Constraint")]
enum Rule {
    CopyRotation {
        source: JointRef,
        #[serde(default)]
        world: bool,
        keep_offset: bool,
    },
    CopyLocation {
        source: JointRef,
        keep_offset: bool,
    },
    CopyScale {
        source: JointRef,
    },
    Aim {
        target: JointRef,
        axis: (f64, f64, f64),
        #[serde(default)]
        up: Option<UpEntry>,
    },
    TwistShare {
        source: JointRef,
        axis: (f64, f64, f64),
        share: f64,
        #[serde(default)]
        centre: f64,
    },
    LimitRotation {
        x: (f64, f64),
        y: (f64, f64),
        z: (f64, f64),
    },
    LimitSwingAndTwist {
        axis: (f64, f64, f64),
        side: (f64, f64, f64),
        half_angles: (f64, f64),
        twist: (f64, f64),
    },
    TwoBoneIk {
        target: JointRef,
        #[serde(default)]
        pole: Option<JointRef>,
        #[serde(default)]
        softness: f64,
    },
    ChainIk {
        target: JointRef,
        bones: u32,
    },
}

impl From<ConstraintsEntry> for constraint_entries::ConstraintsEntry {
    fn from(old: ConstraintsEntry) -> Self {
        let list = old.list.into_iter();
        Self {
            joint: old.joint,
            name: old.name,
            list: list
                .map(|old| constraint_entries::ConstraintEntry {
                    rule: old.rule.into(),
                    influence: old.influence,
                    muted: old.muted,
                    keyed_as: None,
                })
                .collect(),
        }
    }
}

impl From<Rule> for RuleOfConstraint {
    fn from(old: Rule) -> Self {
        let (axes, inverted) = ((true, true, true), (false, false, false));
        match old {
            Rule::CopyRotation {
                source,
                world,
                keep_offset,
            } => Self::CopyRotation {
                source,
                world,
                keep_offset,
                axes,
                inverted,
                order: EulerOrder::Xyz,
            },
            Rule::CopyLocation {
                source,
                keep_offset,
            } => Self::CopyLocation {
                source,
                keep_offset,
                axes,
                local: false,
            },
            Rule::CopyScale { source } => Self::CopyScale { source, axes },
            Rule::Aim { target, axis, up } => Self::Aim { target, axis, up },
            Rule::TwistShare {
                source,
                axis,
                share,
                centre,
            } => Self::TwistShare {
                source,
                axis,
                share,
                centre,
            },
            Rule::LimitRotation { x, y, z } => Self::LimitRotation {
                x,
                y,
                z,
                order: EulerOrder::Xyz,
            },
            Rule::LimitSwingAndTwist {
                axis,
                side,
                half_angles,
                twist,
            } => Self::LimitSwingAndTwist {
                axis,
                side,
                half_angles,
                twist,
            },
            Rule::TwoBoneIk {
                target,
                pole,
                softness,
            } => Self::TwoBoneIk {
                target,
                pole,
                softness,
            },
            Rule::ChainIk { target, bones } => Self::ChainIk { target, bones },
        }
    }
}
