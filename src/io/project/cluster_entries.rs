//! Control clusters as the project format has them.

use super::controls::{CageEntry, LatticeEntry};
use super::driven::{DataEntry, DriverEntry};
use super::motions::MotionEntry;
use super::muscles::MuscleEntry;
use super::points_of_primitives::PrimitivePoints;
use super::types::{enums, is_default, structs};
use crate::cluster;
use serde::{Deserialize, Serialize};

enums! {
    /// What moves the clusters of a group.
    #[derive(Default)]
    ClusterBase = cluster::Base { #[default] Stack, Lbs, Dqs, Fixed, Hand, Lattice, Cage, Data }

    /// The shape of the marks of a group.
    #[derive(Default)]
    ClusterGlyph = cluster::Glyph { #[default] Circle, Square, Diamond, Triangle, Cross, Star }

    /// The kind of the patches.
    #[derive(Default)]
    Interpolation = cluster::Interpolation {
        #[default] TransportedBezier, PointNormal, Gregory, Strands, SkinnedFree
    }
}

structs! {
    /// How the free points follow the clusters.
    PatchSettings = cluster::PatchSettings {
        interpolation: Interpolation,
        tension: f64,
        positions_only: bool,
        couples_normals: bool,
    }
}

/// The control clusters of one mesh.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClusterEntry {
    pub(super) mesh: u32,
    pub(super) name: String,
    pub(super) settings: PatchSettings,
    /// The recorded quantity that colours the surface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) colour_by: Option<ColourEntry>,
    /// Whether the line is drawn where the surface meets the other meshes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) shore: bool,
    pub(super) groups: Vec<GroupEntry>,
}

/// A recorded quantity that colours a surface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ColourEntry {
    pub(super) recording: u32,
    pub(super) quantity: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) range: Option<(f64, f64)>,
}

/// A group of clusters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupEntry {
    pub(super) title: String,
    /// sRGB.
    pub(super) colour: (u8, u8, u8),
    pub(super) glyph: ClusterGlyph,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) base: ClusterBase,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) muscles: Vec<MuscleEntry>,
    /// What the artist adds by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) hand: Option<MotionEntry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) lattice: Option<LatticeEntry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cage: Option<CageEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) drivers: Vec<DriverEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) data: Vec<DataEntry>,
    /// Clusters in text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) points: Vec<PrimitivePoints>,
    /// Clusters encoded, where they are too many for text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) blocks: Vec<PointBlock>,
}

/// Points of one primitive, encoded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PointBlock {
    pub(super) primitive: u32,
    pub(super) n_points: u32,
    pub(super) data: String,
}
