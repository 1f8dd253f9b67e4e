//! Version 2 of the format. It has no layers of weights.

// Everything else is as in version 3. A brush of version 2 has neither the falloff `Custom` nor normalising "on release".
pub(super) use super::v3::{
    ClipEntry, JointPose, MeshMask, MeshPoints, MeshWeights, ModelRef, Named, Renamed, RuleEntry,
    Session, StackEntry,
};

use super::joints::JointRef;
use super::v3;
use serde::Deserialize;

/// A project of version 2.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Project {
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

impl From<Project> for v3::Project {
    fn from(old: Project) -> Self {
        Self {
            version: old.version,
            app: old.app,
            model: old.model,
            recovers: old.recovers,
            unsaved_steps: old.unsaved_steps,
            weights: old.weights,
            layers: Vec::new(),
            stacks: old.stacks,
            masks: old.masks,
            pose: old.pose,
            renamed: old.renamed,
            rules: old.rules,
            locked: old.locked,
            clips: old.clips,
            removed_clips: old.removed_clips,
            points: old.points,
            session: old.session,
        }
    }
}
