//! Kinds of patches, and the options of their evaluation.

/// How free vertices follow the clusters.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Interpolation {
    /// Cubic Bezier triangles whose control points the Jacobians of the corners carry along.
    #[default]
    TransportedBezier,
    /// Cubic Bezier triangles rebuilt from deformed positions and normals (PN triangles, Vlachos et al. 2001).
    PointNormal,
}

impl Interpolation {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::TransportedBezier, Self::PointNormal];
}
