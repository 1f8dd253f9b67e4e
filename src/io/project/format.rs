//! What a project file says, version 3: the words of the format and nothing else.

use crate::deform::{DeformStack, MaskKind};
use crate::document::Session;
use crate::math::Axis;
use crate::skeleton::{InBetweens, Interpolation, Property};
use serde::{Deserialize, Serialize};

/// What the artist made of a model. `version` comes first in the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Project {
    /// The version of the format.
    pub version: u32,
    /// The version of Sinew that wrote it; for people, never read.
    pub app: String,
    /// The model that all the rest is about.
    pub model: ModelRef,
    /// In an autosave: the artist's own project file, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovers: Option<String>,
    /// Of an autosave: steps since the artist last saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsaved_steps: Option<u64>,
    /// Influences that differ from the source's, one entry a mesh.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) weights: Vec<MeshWeights>,
    /// Layers of weights, one entry a layer, of each mesh from the bottom to the top. The first one is the base, whose rows
    /// are those in `weights`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) layers: Vec<LayerEntry>,
    /// Every mesh's stack, also an untouched one: a project must look the same when defaults have changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) stacks: Vec<StackEntry>,
    /// Painted maps, one entry a map.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) masks: Vec<MeshMask>,
    /// The artist's pose where it differs from rest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) pose: Vec<JointPose>,
    /// Joints that the artist renamed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) renamed: Vec<Renamed>,
    /// What the artist overrides of joints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) rules: Vec<RuleEntry>,
    /// Joints whose weights no tool may change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) locked: Vec<Named>,
    /// Clips added or changed, whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) clips: Vec<ClipEntry>,
    /// Clips of the source that the artist removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) removed_clips: Vec<Named>,
    /// Selected and hidden points.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) points: Vec<MeshPoints>,
    /// Where the artist was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Session>,
}

/// Which model a project is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum ModelRef {
    /// A file.
    File {
        /// Relative to the folder of the project file, with `/` separators; absolute in an autosave.
        path: String,
        /// xxh3-64 of the file and its buffers, 16 hex digits.
        fingerprint: String,
        /// What to call it.
        name: String,
    },
    /// A built-in sample.
    Sample {
        /// Its name, "arm".
        name: String,
        /// xxh3-64 of the model as it was generated, 16 hex digits; empty in the first projects.
        #[serde(default)]
        fingerprint: String,
    },
}

impl ModelRef {
    /// What to call the model.
    pub fn name(&self) -> &str {
        match self {
            Self::File { name, .. } | Self::Sample { name, .. } => name,
        }
    }
}

/// An index in the source and its name there, as a check: `(3, "Elbow")`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Named(pub(super) u32, pub(super) String);

/// A joint of a skin: its index in the skin's list (what rows use), its node and the node's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SkinJoint(pub(super) u16, pub(super) u32, pub(super) String);

/// Influences of one mesh.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MeshWeights {
    pub(super) mesh: u32,
    pub(super) name: String,
    /// The joints that the rows use, by skin index.
    pub(super) joints: Vec<SkinJoint>,
    /// Rows in text, ascending by primitive and vertex.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) rows: Vec<Row>,
    /// Rows encoded, where they are too many for text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) blocks: Vec<RowBlock>,
}

/// A layer of weights of one mesh.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LayerEntry {
    pub(super) mesh: u32,
    pub(super) name: String,
    /// Its number, which the session names it by.
    pub(super) layer: u32,
    /// What the artist calls it.
    pub(super) title: String,
    #[serde(default = "whole", skip_serializing_if = "is_whole")]
    pub(super) opacity: f32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) muted: bool,
    /// Whether only this one is shown over the base.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) alone: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) mirror: Option<MirrorEntry>,
    /// The joints that the rows and the mirror effect use, by skin index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) joints: Vec<SkinJoint>,
    /// Rows in text, ascending by primitive and vertex.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) rows: Vec<Row>,
    /// Rows encoded, where they are too many for text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) blocks: Vec<RowBlock>,
    /// Painted values of its mask in text, ascending by primitive and vertex.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) mask_values: Vec<MaskValue>,
    /// The same encoded, where they are too many for text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) mask_blocks: Vec<MaskBlock>,
}

fn whole() -> f32 {
    1.0
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_whole(opacity: &f32) -> bool {
    opacity.to_bits() == 1f32.to_bits()
}

/// A layer that shows one of its sides on the other one too. The mirror images of points follow from the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MirrorEntry {
    /// Across the plane where this coordinate of the bind pose is `centre`.
    pub(super) axis: Axis,
    /// Metres; left out where it is 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) centre: f32,
    pub(super) from_positive: bool,
    /// How far mirror images may be off, as a fraction of the diagonal of the bounds.
    pub(super) tolerance: f32,
    /// Skin joints and who takes their weight on the other side; those that are not named do so themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) pairs: Vec<(u16, u16)>,
    /// Skin joints that have no partner.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) unpaired: Vec<u16>,
}

/// The influences of one point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    /// The primitive; left out where it is the first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) p: u32,
    /// The point's lowest vertex, counted within the primitive.
    pub(super) v: u32,
    /// (skin joint index, weight) in the order of the row.
    pub(super) w: Vec<(u16, f32)>,
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// The encoded rows of one primitive whose vertex numbers fall into one span (see `rows`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RowBlock {
    pub(super) primitive: u32,
    pub(super) n_rows: u32,
    pub(super) n_influences: u32,
    pub(super) data: String,
}

/// A painted map of one mesh.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MeshMask {
    pub(super) mesh: u32,
    pub(super) name: String,
    /// Which map.
    pub(super) map: MaskKind,
    /// Painted values in text, ascending by primitive and vertex.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) values: Vec<MaskValue>,
    /// Painted values encoded, where they are too many for text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) blocks: Vec<MaskBlock>,
}

/// The painted value of one point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MaskValue {
    /// The primitive; left out where it is the first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) p: u32,
    /// The point's lowest vertex, counted within the primitive.
    pub(super) v: u32,
    /// The value.
    pub(super) x: f32,
}

/// The encoded values of one primitive whose vertex numbers fall into one span (see `masks`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MaskBlock {
    pub(super) primitive: u32,
    pub(super) n_values: u32,
    pub(super) data: String,
}

/// Selected and hidden points of one mesh.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MeshPoints {
    pub(super) mesh: u32,
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) selected: Vec<PointRuns>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) hidden: Vec<PointRuns>,
}

/// Points of one primitive, named by their vertices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PointRuns {
    /// The primitive; left out where it is the first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) primitive: u32,
    /// (first vertex, how many), counted within the primitive.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) runs: Vec<(u32, u32)>,
    /// A bit for each vertex, where there would be too many runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) bits: Option<PointBits>,
}

/// A bit for each vertex, lowest first, encoded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PointBits {
    pub(super) n_vertices: u32,
    pub(super) data: String,
}

/// A stack and the meshes that have it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StackEntry {
    pub(super) meshes: Vec<Named>,
    pub(super) stack: DeformStack,
}

/// What differs from rest in one joint's pose; numbers as in [`crate::math::Transform`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JointPose {
    pub(super) joint: u32,
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) translation: Option<(f64, f64, f64)>,
    /// x, y, z, w.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rotation: Option<(f64, f64, f64, f64)>,
    /// A stretch without shear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) scale: Option<(f64, f64, f64)>,
    /// A stretch with shear: three columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stretch: Option<[(f64, f64, f64); 3]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) morph_weights: Option<Vec<f32>>,
}

/// What the artist overrides of a joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleEntry {
    pub(super) joint: u32,
    pub(super) name: String,
    /// Where its bone ends, in the joint's rest space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tail: Option<(f64, f64, f64)>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) compensates_scale: bool,
    /// The joint whose inflation its place follows instead of its parent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) inflation_parent: Option<Named>,
}

/// A joint's new name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Renamed {
    pub(super) joint: u32,
    pub(super) was: String,
    pub(super) name: String,
}

/// A clip, whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClipEntry {
    pub(super) clip: u32,
    pub(super) name: String,
    /// The name of the source's clip that it replaces; left out for an added clip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) replaces: Option<String>,
    /// How bones come from key to key; left out where it is component by component.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) in_betweens: InBetweens,
    /// Whether it is not exported; left out where it is.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) preview: bool,
    pub(super) channels: Vec<ChannelEntry>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A channel; keys in text or encoded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChannelEntry {
    pub(super) joint: u32,
    pub(super) name: String,
    pub(super) property: Property,
    pub(super) interpolation: Interpolation,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) times: Vec<f32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) values: Vec<f32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) keys: Option<KeyBlock>,
}

/// Encoded keys: times, then values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeyBlock {
    pub(super) n_times: u32,
    pub(super) n_values: u32,
    pub(super) data: String,
}
