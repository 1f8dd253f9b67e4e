//! What an applied edit made stale.

use super::mask_of::MaskOf;
use super::{ClipId, MeshId, PoseId};
use crate::cluster::channel::RecordingId;
use std::collections::{BTreeMap, BTreeSet};

/// What an applied edit made stale.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // parts of a document, each on its own
pub struct Dirty {
    /// For each mesh, the chunks of points whose influences changed, ascending.
    pub influences: BTreeMap<MeshId, BTreeSet<u32>>,
    /// For each mesh, the painted maps whose values changed, with the chunks of points, ascending.
    pub masks: BTreeMap<(MeshId, MaskOf), BTreeSet<u32>>,
    /// Meshes whose layers changed, even where the composite stays the same.
    pub layers: BTreeSet<MeshId>,
    /// The artist's pose or morph weights.
    pub pose: bool,
    /// Names, locks or rules of joints.
    pub joints: bool,
    /// The set of joints, their hierarchy, or the skins.
    pub rig: bool,
    /// Meshes whose stack changed.
    pub stacks: BTreeSet<MeshId>,
    /// Meshes whose corrective samples changed.
    pub correctives: BTreeSet<MeshId>,
    /// Meshes whose control clusters changed.
    pub clusters: BTreeSet<MeshId>,
    /// Clips that were added, changed or removed.
    pub clips: BTreeSet<ClipId>,
    /// Poses of the library that were added, changed or removed.
    pub poses: BTreeSet<PoseId>,
    /// Recordings that were added, changed or removed.
    pub recordings: BTreeSet<RecordingId>,
    /// The measurements of a person.
    pub individual: bool,
}

impl Dirty {
    /// Adds what `other` made stale.
    pub fn merge(&mut self, other: Self) {
        for (mesh, chunks) in other.influences {
            self.influences.entry(mesh).or_default().extend(chunks);
        }
        for (map, chunks) in other.masks {
            self.masks.entry(map).or_default().extend(chunks);
        }
        self.layers.extend(other.layers);
        self.pose |= other.pose;
        self.joints |= other.joints;
        self.rig |= other.rig;
        self.stacks.extend(other.stacks);
        self.correctives.extend(other.correctives);
        self.clusters.extend(other.clusters);
        self.clips.extend(other.clips);
        self.poses.extend(other.poses);
        self.recordings.extend(other.recordings);
        self.individual |= other.individual;
    }

    /// Whether nothing is stale.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
