//! Version 3 of the format. The joints of the session are node indices without names; joints cannot be added or
//! removed.

// Everything else is as in version 4.
pub(super) use super::v4::{
    ClipEntry, JointPose, LayerEntry, MeshMask, MeshPoints, MeshWeights, ModelRef, Named, Renamed,
    RuleEntry, StackEntry,
};

use super::brush::Brush;
use super::joints::{JointKey, JointRef};
use super::session::{Camera, Compare, Playback, PoseOptions, SelectKind};
use super::{session, v4};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// A project of version 3.
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
    pub(super) weights: Vec<MeshWeights>,
    #[serde(default)]
    pub(super) layers: Vec<LayerEntry>,
    #[serde(default)]
    pub(super) stacks: Vec<StackEntry>,
    #[serde(default)]
    pub(super) masks: Vec<MeshMask>,
    #[serde(default)]
    pub(super) pose: Vec<JointPose>,
    #[serde(default)]
    pub(super) renamed: Vec<Renamed>,
    #[serde(default)]
    pub(super) rules: Vec<RuleEntry>,
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

/// The session of versions 1 to 3.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Session {
    camera: Camera,
    playback: Playback,
    brush: Brush,
    active_joint: Option<u32>,
    active_mesh: Option<u32>,
    active_layers: BTreeMap<u32, u32>,
    selected_joints: Vec<u32>,
    pose: PoseOptions,
    pins: Vec<u32>,
    select_kind: SelectKind,
    select_through: bool,
    hidden_joints: Vec<u32>,
    hidden_instances: BTreeSet<u32>,
    joint_colours: BTreeMap<u32, [u8; 3]>,
    joint_pairs: BTreeMap<u32, u32>,
    compare: Compare,
}

impl From<Project> for v4::Project {
    fn from(old: Project) -> Self {
        Self {
            version: 4,
            app: old.app,
            model: old.model,
            recovers: old.recovers,
            unsaved_steps: old.unsaved_steps,
            joints: Vec::new(),
            skins: Vec::new(),
            instances: Vec::new(),
            weights: old.weights,
            layers: old.layers,
            stacks: old.stacks,
            masks: old.masks,
            pose: old.pose,
            renamed: old.renamed,
            rules: old.rules,
            locked: old.locked,
            clips: old.clips,
            removed_clips: old.removed_clips,
            points: old.points,
            session: old.session.map(Into::into),
        }
    }
}

impl From<Session> for session::Session {
    fn from(old: Session) -> Self {
        let joint = |node| JointRef(JointKey::Node(node), None);
        let joints = |nodes: Vec<u32>| nodes.into_iter().map(joint).collect();
        let colours = old.joint_colours.into_iter();
        let pairs = old.joint_pairs.into_iter();
        Self {
            camera: old.camera,
            playback: old.playback,
            brush: old.brush,
            active_joint: old.active_joint.map(joint),
            active_mesh: old.active_mesh,
            active_layers: old.active_layers,
            selected_joints: joints(old.selected_joints),
            pose: old.pose,
            pins: joints(old.pins),
            select_kind: old.select_kind,
            select_through: old.select_through,
            hidden_joints: joints(old.hidden_joints),
            hidden_instances: old.hidden_instances,
            joint_colours: colours
                .map(|(node, colour)| (joint(node), colour))
                .collect(),
            joint_pairs: pairs.map(|(a, b)| (joint(a), joint(b))).collect(),
            compare: old.compare,
            shows_individual: false,
        }
    }
}
