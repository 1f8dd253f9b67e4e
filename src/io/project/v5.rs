//! Version 5 of the format, without weighted sample sets.

// Everything else is as in version 6.
pub(super) use super::v10::ClipEntry;
pub(super) use super::v11::{
    JointPose, LayerEntry, MeshMask, MeshPoints, MeshWeights, ModelRef, Named, Renamed, RuleEntry,
    StackEntry,
};

use super::joints::JointRef;
use super::sample_entries::{self, DriverEntry, SampleEntry};
use super::session::Session;
use super::types::Kernel;
use super::v6;
use super::v11::{InstanceEntry, JointEntry, SkinEntry};
use serde::Deserialize;

/// A project of version 5.
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

/// A set of corrective samples of one mesh.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CorrectiveEntry {
    mesh: u32,
    name: String,
    title: String,
    drivers: Vec<DriverEntry>,
    #[serde(default)]
    kernel: Kernel,
    #[serde(default = "one")]
    radius: f64,
    #[serde(default)]
    smoothing: f64,
    clamp: (f64, f64),
    #[serde(default)]
    fade: bool,
    samples: Vec<SampleEntry>,
}

fn one() -> f64 {
    1.0
}

impl From<CorrectiveEntry> for sample_entries::CorrectiveEntry {
    fn from(old: CorrectiveEntry) -> Self {
        Self {
            mesh: old.mesh,
            name: old.name,
            title: old.title,
            drivers: old.drivers,
            kernel: old.kernel,
            radius: old.radius,
            smoothing: old.smoothing,
            clamp: old.clamp,
            fade: old.fade,
            weighted: false,
            scale_with_limb: false,
            vertices: sample_entries::HeldVertices::All,
            samples: old.samples,
        }
    }
}

impl From<Project> for v6::Project {
    fn from(old: Project) -> Self {
        Self {
            version: 6,
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
            correctives: old.correctives.into_iter().map(Into::into).collect(),
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
