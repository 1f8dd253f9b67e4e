//! Version 7 of the format, whose groups of control clusters have no layers besides muscles.

// Everything else is as in version 11.
pub(super) use super::v10::ClipEntry;
pub(super) use super::v11::{
    JointPose, LayerEntry, MeshMask, MeshPoints, MeshWeights, ModelRef, Named, Renamed, RuleEntry,
    StackEntry,
};

use super::cluster_entries::{ClusterGlyph, PatchSettings, PointBlock};
use super::joints::JointRef;
use super::muscles::MuscleEntry;
use super::points_of_primitives::PrimitivePoints;
use super::sample_entries::CorrectiveEntry;
use super::session::Session;
use super::v8;
use super::v11::{InstanceEntry, JointEntry, SkinEntry};
use serde::Deserialize;

/// A project of version 7.
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

/// The control clusters of one mesh.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClusterEntry {
    mesh: u32,
    name: String,
    settings: PatchSettings,
    groups: Vec<GroupEntry>,
}

/// A group of clusters.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupEntry {
    title: String,
    colour: (u8, u8, u8),
    glyph: ClusterGlyph,
    #[serde(default)]
    base: ClusterBase,
    #[serde(default)]
    muscles: Vec<MuscleEntry>,
    #[serde(default)]
    points: Vec<PrimitivePoints>,
    #[serde(default)]
    blocks: Vec<PointBlock>,
}

/// What moves the clusters of a group.
#[derive(Clone, Copy, Default, Deserialize)]
enum ClusterBase {
    #[default]
    Stack,
    Lbs,
    Dqs,
    Fixed,
}

impl From<ClusterEntry> for v8::ClusterEntry {
    fn from(old: ClusterEntry) -> Self {
        Self {
            mesh: old.mesh,
            name: old.name,
            settings: old.settings,
            groups: old.groups.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<GroupEntry> for v8::GroupEntry {
    fn from(old: GroupEntry) -> Self {
        Self {
            title: old.title,
            colour: old.colour,
            glyph: old.glyph,
            base: old.base.into(),
            muscles: old.muscles,
            hand: None,
            drivers: Vec::new(),
            data: Vec::new(),
            points: old.points,
            blocks: old.blocks,
        }
    }
}

impl From<ClusterBase> for v8::ClusterBase {
    fn from(old: ClusterBase) -> Self {
        match old {
            ClusterBase::Stack => Self::Stack,
            ClusterBase::Lbs => Self::Lbs,
            ClusterBase::Dqs => Self::Dqs,
            ClusterBase::Fixed => Self::Fixed,
        }
    }
}

impl From<Project> for v8::Project {
    fn from(old: Project) -> Self {
        Self {
            version: 8,
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
            recordings: Vec::new(),
            clusters: old.clusters.into_iter().map(Into::into).collect(),
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
