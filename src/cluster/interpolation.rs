//! Kinds of patches, and the options of their evaluation.

use serde::{Deserialize, Serialize};

/// How free vertices follow the clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interpolation {
    /// Cubic Bezier triangles whose control points the Jacobians of the corners carry along.
    #[default]
    TransportedBezier,
    /// Cubic Bezier triangles rebuilt from deformed positions and normals (PN triangles, Vlachos et al. 2001).
    PointNormal,
    /// Quartic Gregory triangles, which meet with one tangent plane (Walton & Meek 1996).
    Gregory,
    /// Cardinal splines along lines of the mesh, the paper's earlier method; elsewhere as
    /// [`Interpolation::TransportedBezier`].
    Strands,
    /// Free vertices keep their skin weights, and follow the displacements of clusters alone
    /// ([`super::Patches::displacements`]). [`super::Patches::evaluate`] does as [`Interpolation::TransportedBezier`].
    SkinnedFree,
}

impl Interpolation {
    /// All kinds.
    pub const ALL: [Self; 5] = [
        Self::TransportedBezier,
        Self::PointNormal,
        Self::Gregory,
        Self::Strands,
        Self::SkinnedFree,
    ];
}

/// Options of [`super::Patches`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PatchOptions {
    /// The kind of the patches.
    pub interpolation: Interpolation,
    /// The tension of strands, 0 (Catmull-Rom) - 1 (tangents vanish).
    pub tension: f64,
}

impl PatchOptions {
    /// Options of a kind of patches.
    pub fn new(interpolation: Interpolation) -> Self {
        Self {
            interpolation,
            ..Self::default()
        }
    }
}
