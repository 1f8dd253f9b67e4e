//! Version 9 of the format, which has no constraints of joints.

use super::cluster_entries::ClusterEntry;
use super::joints::JointRef;
use super::recording_entries::RecordingEntry;
use super::sample_entries::CorrectiveEntry;
use super::session::Session;
// Everything else is as in version 11.
use super::v10::{self, ClipEntry};
use super::v11::{
    InstanceEntry, JointEntry, JointPose, LayerEntry, MeshMask, MeshPoints, MeshWeights, ModelRef,
    Named, Renamed, RuleEntry, SkinEntry, StackEntry,
};
use serde::Deserialize;

/// A project of version 9.
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

impl From<Project> for v10::Project {
    fn from(old: Project) -> Self {
        Self {
            version: 10,
            app: old.app,
            model: old.model,
            recovers: old.recovers,
            unsaved_steps: old.unsaved_steps,
            joints: old.joints,
            skins: old.skins,
            instances: old.instances,
            weights: old.weights,
            layers: old.layers,
            stacks: old.stacks,
            masks: old.masks,
            correctives: old.correctives,
            recordings: old.recordings,
            clusters: old.clusters,
            pose: old.pose,
            renamed: old.renamed,
            rules: old.rules,
            constraints: Vec::new(),
            locked: old.locked,
            clips: old.clips,
            removed_clips: old.removed_clips,
            points: old.points,
            session: old.session,
        }
    }
}
