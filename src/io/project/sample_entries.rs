//! Corrective samples as the project format has them.

use super::joints::JointRef;
use super::stack::Stack;
use super::types::{Kernel, is_default, is_whole, is_zero, whole};
use serde::{Deserialize, Serialize};

/// A set of corrective samples of one mesh.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CorrectiveEntry {
    pub(super) mesh: u32,
    pub(super) name: String,
    /// Its name.
    pub(super) title: String,
    pub(super) drivers: Vec<DriverEntry>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) kernel: Kernel,
    /// The factor of the kernel's shape parameter.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub(super) radius: f64,
    /// The ridge of the solve.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) smoothing: f64,
    /// The range of weights.
    pub(super) clamp: (f64, f64),
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) fade: bool,
    /// Whether each vertex weighs the drivers by its own skin weights.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) weighted: bool,
    /// Whether displacements stretch with the joints' scale.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) scale_with_limb: bool,
    /// Which vertices the samples hold; omitted for all that they move.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) vertices: HeldVertices,
    pub(super) samples: Vec<SampleEntry>,
}

/// Which vertices the samples of a set hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum HeldVertices {
    #[default]
    All,
    /// Control clusters.
    Clusters,
    /// Control clusters of the group with this name.
    Group(String),
}

fn one() -> f64 {
    1.0
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde expects"
)]
fn is_one(factor: &f64) -> bool {
    factor.to_bits() == 1f64.to_bits()
}

/// A joint whose rotation drives a set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DriverEntry {
    pub(super) joint: JointRef,
    /// The joint that its rotation is relative to; omitted for the world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) relative_to: Option<JointRef>,
    pub(super) mode: SampleMode,
    /// The weight of its squared distance.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub(super) lambda: f64,
    pub(super) bind: Rotation,
}

/// What of a driver's rotation counts; with the axis in the joint's own space.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum SampleMode {
    Hinge(f64, f64, f64),
    Ball,
    Swing(f64, f64, f64),
    Twist(f64, f64, f64),
}

/// A unit quaternion: x, y, z, w.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Rotation(
    pub(super) f64,
    pub(super) f64,
    pub(super) f64,
    pub(super) f64,
);

/// A corrective sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SampleEntry {
    pub(super) name: String,
    /// One for each driver.
    pub(super) rotations: Vec<Rotation>,
    /// Drivers of other sets that were off bind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) beside: Vec<(JointRef, Rotation)>,
    /// The stack that it was captured on; omitted where it is the mesh's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) captured_on: Option<Stack>,
    /// The checksum of the weights and painted maps that it was captured over, 16 hex digits. Omitted where nobody wrote it
    /// down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) captured_over: Option<String>,
    #[serde(default = "whole", skip_serializing_if = "is_whole")]
    pub(super) strength: f32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) muted: bool,
    /// Displacements in text, ascending by primitive and vertex.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) points: Vec<MovedPoint>,
    /// Displacements encoded, where they are too many for text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) blocks: Vec<MovedBlock>,
}

/// The displacement of one point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MovedPoint {
    /// The primitive; omitted where it is the first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) p: u32,
    /// The point's lowest vertex, counted within the primitive.
    pub(super) v: u32,
    /// In the frame of its blended rotation at bind, metres.
    pub(super) d: (f32, f32, f32),
}

/// The encoded displacements of one primitive whose vertex indices are in one span (see `correctives`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MovedBlock {
    pub(super) primitive: u32,
    pub(super) n_points: u32,
    pub(super) data: String,
}
