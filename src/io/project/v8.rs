//! Version 8 of the format, whose groups of control clusters have neither lattices nor cages.

use super::cluster_entries::{self, ClusterGlyph, PatchSettings, PointBlock};
use super::driven::{DataEntry, DriverEntry};
use super::joints::JointRef;
use super::motions::MotionEntry;
use super::muscles::MuscleEntry;
use super::points_of_primitives::PrimitivePoints;
use super::recording_entries::RecordingEntry;
use super::sample_entries::CorrectiveEntry;
use super::session::Session;
use super::v9;
// Everything else is as in version 11.
use super::v10::ClipEntry;
use super::v11::{
    InstanceEntry, JointEntry, JointPose, LayerEntry, MeshMask, MeshPoints, MeshWeights, ModelRef,
    Named, Renamed, RuleEntry, SkinEntry, StackEntry,
};
use serde::Deserialize;

/// A project of version 8.
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

/// The control clusters of one mesh.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClusterEntry {
    pub(super) mesh: u32,
    pub(super) name: String,
    pub(super) settings: PatchSettings,
    pub(super) groups: Vec<GroupEntry>,
}

/// A group of clusters.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupEntry {
    pub(super) title: String,
    pub(super) colour: (u8, u8, u8),
    pub(super) glyph: ClusterGlyph,
    #[serde(default)]
    pub(super) base: ClusterBase,
    #[serde(default)]
    pub(super) muscles: Vec<MuscleEntry>,
    #[serde(default)]
    pub(super) hand: Option<MotionEntry>,
    #[serde(default)]
    pub(super) drivers: Vec<DriverEntry>,
    #[serde(default)]
    pub(super) data: Vec<DataEntry>,
    #[serde(default)]
    pub(super) points: Vec<PrimitivePoints>,
    #[serde(default)]
    pub(super) blocks: Vec<PointBlock>,
}

/// What moves the clusters of a group.
#[derive(Clone, Copy, Default, Deserialize)]
pub(super) enum ClusterBase {
    #[default]
    Stack,
    Lbs,
    Dqs,
    Fixed,
    Hand,
    Data,
}

impl From<ClusterEntry> for cluster_entries::ClusterEntry {
    fn from(old: ClusterEntry) -> Self {
        Self {
            mesh: old.mesh,
            name: old.name,
            settings: old.settings,
            groups: old.groups.into_iter().map(Into::into).collect(),
            colour_by: None,
            shore: false,
        }
    }
}

impl From<GroupEntry> for cluster_entries::GroupEntry {
    fn from(old: GroupEntry) -> Self {
        Self {
            title: old.title,
            colour: old.colour,
            glyph: old.glyph,
            base: old.base.into(),
            muscles: old.muscles,
            hand: old.hand,
            lattice: None,
            cage: None,
            drivers: old.drivers,
            data: old.data,
            points: old.points,
            blocks: old.blocks,
        }
    }
}

impl From<ClusterBase> for cluster_entries::ClusterBase {
    fn from(old: ClusterBase) -> Self {
        match old {
            ClusterBase::Stack => Self::Stack,
            ClusterBase::Lbs => Self::Lbs,
            ClusterBase::Dqs => Self::Dqs,
            ClusterBase::Fixed => Self::Fixed,
            ClusterBase::Hand => Self::Hand,
            ClusterBase::Data => Self::Data,
        }
    }
}

impl From<Project> for v9::Project {
    fn from(old: Project) -> Self {
        Self {
            version: 9,
            app: old.app,
            model: old.model,
            recovers: old.recovers,
            unsaved_steps: old.unsaved_steps,
            joints: old.joints,
            skins: old.skins,
            instances: old.instances,
            weights: old.weights,
            layers: old.layers,
            stacks: old
                .stacks
                .into_iter()
                .map(StackEntry::of_version_8)
                .collect(),
            masks: old.masks,
            correctives: old.correctives,
            recordings: old.recordings,
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
