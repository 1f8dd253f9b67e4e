//! Version 11 of the format, the one that Sinew writes.
//!
//! The types of the format belong to this folder. The types of the document are not serialised, so that a change of the
//! editor changes no file. Joints are identified by a [`JointKey`], which also covers joints that the source does not
//! have.

use super::cluster_entries::ClusterEntry;
use super::constraint_entries::ConstraintsEntry;
use super::individual_entry::IndividualEntry;
use super::joints::{JointKey, JointRef};
use super::recording_entries::RecordingEntry;
use super::sample_entries::CorrectiveEntry;
use super::session::Session;
use super::stack::Stack;
use super::types::{
    Axis, Interpolation, PaintedMap, Property, RigidInterpolation, is_default, is_whole, is_zero,
    whole,
};
use serde::{Deserialize, Serialize};

/// The number of this version.
pub(super) const VERSION: u32 = 11;

/// The user's edits of a model. `version` comes first in the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Project {
    /// The version of the format.
    pub version: u32,
    /// The version of Sinew that wrote the file; for information only.
    pub app: String,
    /// The edited model.
    pub model: ModelRef,
    /// In an autosave: the user's own project file, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovers: Option<String>,
    /// In an autosave: steps since the user last saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsaved_steps: Option<u64>,
    /// Joints that are new or removed, or whose parent or rest transform differs from the source's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) joints: Vec<JointEntry>,
    /// Skins whose joint list or inverse bind matrices differ from the source's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) skins: Vec<SkinEntry>,
    /// Objects whose node or skin is not the one of the source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) instances: Vec<InstanceEntry>,
    /// Copies of meshes of the source, which some of their objects draw instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) mesh_copies: Vec<MeshCopyEntry>,
    /// Influences that differ from the source's, one entry per mesh.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) weights: Vec<MeshWeights>,
    /// The weights that unbound meshes had, one entry per mesh.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) kept_weights: Vec<KeptEntry>,
    /// Meshes whose vertices are not the source's, one entry per mesh.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) shapes: Vec<ShapeEntry>,
    /// Layers of weights, one entry per layer, of each mesh from the bottom to the top. The first one is the base,
    /// whose rows are in `weights`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) layers: Vec<LayerEntry>,
    /// Every mesh's stack, even an unchanged one: a project must look the same after a change of the defaults.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) stacks: Vec<StackEntry>,
    /// Painted maps, one entry per map.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) masks: Vec<MeshMask>,
    /// Sets of corrective samples, of each mesh in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) correctives: Vec<CorrectiveEntry>,
    /// Recordings that layers of control clusters read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) recordings: Vec<RecordingEntry>,
    /// Control clusters, one entry per mesh that has groups of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) clusters: Vec<ClusterEntry>,
    /// The artist's pose where it differs from the rest pose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) pose: Vec<JointPose>,
    /// Joints that the user renamed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) renamed: Vec<Renamed>,
    /// The values of joints that the user overrides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) rules: Vec<RuleEntry>,
    /// The constraints of joints whose list differs from the source's, complete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) constraints: Vec<ConstraintsEntry>,
    /// Joints whose weights no tool may change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) locked: Vec<JointRef>,
    /// Bones of the humanoid map that are set by hand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) humanoid: Vec<HumanBoneEntry>,
    /// Clips that were added or changed, complete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) clips: Vec<ClipEntry>,
    /// The poses of the library, each as a clip of one keyframe.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) poses: Vec<ClipEntry>,
    /// Clips of the source that the user removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) removed_clips: Vec<Named>,
    /// The measurements of a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) individual: Option<IndividualEntry>,
    /// A changed copy of them, to compare with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) what_if: Option<IndividualEntry>,
    /// Selected and hidden points.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) points: Vec<MeshPoints>,
    /// View, selection and tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<Session>,
}

/// The model that a project edits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum ModelRef {
    /// A file.
    File {
        /// Relative to the folder of the project file, with `/` separators; absolute in an autosave.
        path: String,
        /// xxh3-64 of the file and its buffers, 16 hex digits.
        fingerprint: String,
        /// The name that the user sees.
        name: String,
    },
    /// A built-in sample.
    Sample {
        /// Its name, "arm".
        name: String,
        /// xxh3-64 of the model as it was generated, 16 hex digits; empty in the oldest projects.
        #[serde(default)]
        fingerprint: String,
    },
}

impl ModelRef {
    /// The name of the model that the user sees.
    pub fn name(&self) -> &str {
        match self {
            Self::File { name, .. } | Self::Sample { name, .. } => name,
        }
    }
}

/// The index of a mesh or clip of the source and its name there, as a check: `(3, "Walk")`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Named(pub(super) u32, pub(super) String);

/// A joint of a skin: its index in the skin's list (what rows use), its key and its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SkinJoint(pub(super) u16, pub(super) JointKey, pub(super) String);

/// A joint that is new, removed or changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JointEntry {
    pub(super) joint: JointKey,
    /// Its name. For a node of the source model: the name there, by which a changed model is noticed.
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) removed: bool,
    /// Omitted where it is the source's, and for a new root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<Parent>,
    /// The difference from the source's rest transform, or from the identity for a new joint.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) rest: TransformEntry,
    /// The node whose mesh, camera or light it draws instead of that node's joint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) content_of: Option<JointRef>,
}

/// The parent of a joint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Parent {
    Root,
    Under(JointKey, String),
}

/// A skin that is new, or whose list of joints or matrices changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SkinEntry {
    pub(super) skin: u32,
    pub(super) name: String,
    /// Whether the source does not have it; it has a number after those of the source.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) new: bool,
    /// The entries of its list that differ from the source's, ascending; new ones follow those of the source.
    pub(super) slots: Vec<SkinSlot>,
}

/// One entry of a skin's list of joints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SkinSlot {
    /// Its index in the list.
    pub(super) slot: u16,
    pub(super) joint: JointKey,
    pub(super) name: String,
    /// Three columns of the linear part, then the translation.
    pub(super) inverse_bind: [(f64, f64, f64); 4],
}

/// An object, the joint that draws it, and the skin that it was bound to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InstanceEntry {
    /// The node of the source that draws the object.
    pub(super) instance: u32,
    pub(super) joint: JointRef,
    /// The new skin that moves its mesh.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) skin: Option<u32>,
    /// Whether it was taken from the skin that it has in the source.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) unbound: bool,
}

/// The weights that an unbound mesh had, and the number of the skin that moved it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeptEntry {
    pub(super) skin: u32,
    pub(super) weights: MeshWeights,
}

/// A copy of a mesh: its number and name, and those of the mesh of the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MeshCopyEntry {
    pub(super) mesh: Named,
    pub(super) of: Named,
    /// The nodes of the source that draw the copy.
    pub(super) instances: Vec<JointRef>,
}

/// The vertices of one mesh: positions one a point, normals one a distinct normal, in mesh space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ShapeEntry {
    pub(super) mesh: u32,
    pub(super) name: String,
    pub(super) positions: Vec<[f32; 3]>,
    pub(super) normals: Vec<[f32; 3]>,
    /// As many as the mesh has morph targets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) morphs: Vec<MorphShape>,
}

/// A morph target of a [`ShapeEntry`]: a displacement a point, and those of the normals of some vertices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MorphShape {
    pub(super) deltas: Vec<[f32; 3]>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) normals: Vec<(u32, [f32; 3])>,
}

/// A bone by its name in VRM 1.0, and the joint that it is; without one the body has no such bone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HumanBoneEntry(pub(super) String, pub(super) Option<JointRef>);

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
    /// Its id, which the session uses.
    pub(super) layer: u32,
    /// Its name.
    pub(super) title: String,
    #[serde(default = "whole", skip_serializing_if = "is_whole")]
    pub(super) opacity: f32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) muted: bool,
    /// Whether only this one is shown above the base.
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

/// The mirror effect of a layer: the other side shows the rows of one side. The pairs of points are computed from the
/// model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MirrorEntry {
    /// The mirror plane is where this coordinate of the bind pose is `centre`.
    pub(super) axis: Axis,
    /// Metres; omitted where it is 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) centre: f32,
    pub(super) from_positive: bool,
    /// The largest distance between mirror images, as a fraction of the diagonal of the bounds.
    pub(super) tolerance: f32,
    /// Skin joints and the joints that receive their weight on the other side; a joint that is not listed keeps its
    /// own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) pairs: Vec<(u16, u16)>,
    /// Skin joints without a counterpart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) unpaired: Vec<u16>,
}

/// The influences of one point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    /// The primitive; omitted where it is the first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) p: u32,
    /// The point's lowest vertex, counted within the primitive.
    pub(super) v: u32,
    /// (skin joint index, weight) in the order of the row.
    pub(super) w: Vec<(u16, f32)>,
}

/// The encoded rows of one primitive whose vertex indices are in one span (see `rows`).
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
    pub(super) map: PaintedMap,
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
    /// The primitive; omitted where it is the first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) p: u32,
    /// The point's lowest vertex, counted within the primitive.
    pub(super) v: u32,
    /// The value.
    pub(super) x: f32,
}

/// The encoded values of one primitive whose vertex indices are in one span (see `masks`).
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

/// Points of one primitive, by their vertices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PointRuns {
    /// The primitive; omitted where it is the first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) primitive: u32,
    /// (first vertex, number of vertices), counted within the primitive.
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
    pub(super) stack: Stack,
    /// Whether the stack is of version 8 or older and compensates as published, which was neither the paper's text nor its
    /// algorithm: the displacement of the text with the sign of the algorithm.
    #[serde(skip)]
    pub(super) had_other_sign: bool,
}

impl StackEntry {
    /// The same, read from a file of version 8 or older.
    pub(super) fn of_version_8(self) -> Self {
        Self {
            had_other_sign: self.stack.compensates_as_published(),
            ..self
        }
    }
}

/// The differences of one joint's pose from its rest transform.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JointPose {
    pub(super) joint: JointKey,
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) translation: Option<(f64, f64, f64)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rotation: Option<(f64, f64, f64, f64)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) scale: Option<(f64, f64, f64)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stretch: Option<[(f64, f64, f64); 3]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) morph_weights: Option<Vec<f32>>,
}

/// The components in which a local transform differs from another; numbers as in [`crate::math::Transform`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct TransformEntry {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) translation: Option<(f64, f64, f64)>,
    /// x, y, z, w.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rotation: Option<(f64, f64, f64, f64)>,
    /// A scale without shear.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) scale: Option<(f64, f64, f64)>,
    /// A stretch with shear: three columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stretch: Option<[(f64, f64, f64); 3]>,
}

/// The values of a joint that the user overrides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleEntry {
    pub(super) joint: JointKey,
    pub(super) name: String,
    /// The tail of its bone, in the joint's rest space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tail: Option<(f64, f64, f64)>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) compensates_scale: bool,
    /// The joint whose inflation moves this one, instead of its parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) inflation_parent: Option<JointRef>,
    /// The joint above this one along the limb, instead of its parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) logical_parent: Option<JointRef>,
    /// The smallest and largest angles about x, y and z, radians.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) limits: Option<[(f64, f64); 3]>,
}

/// A joint's new name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Renamed {
    pub(super) joint: JointKey,
    pub(super) was: String,
    pub(super) name: String,
}

/// A clip, complete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClipEntry {
    pub(super) clip: u32,
    pub(super) name: String,
    /// The name of the source's clip that it replaces; omitted for an added clip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) replaces: Option<String>,
    /// The interpolation of rotation and translation; omitted where it is per component.
    #[serde(default, skip_serializing_if = "is_default")]
    #[serde(rename = "in_betweens")]
    pub(super) rigid_interpolation: RigidInterpolation,
    /// Whether it is a preview, which is not exported.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) preview: bool,
    /// The names of the poses in a clip of poses, by their times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) pose_names: Vec<(f32, String)>,
    pub(super) channels: Vec<ChannelEntry>,
}

/// A channel; keyframes as text or encoded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChannelEntry {
    pub(super) joint: JointKey,
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

/// Encoded keyframes: times, then values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeyBlock {
    pub(super) n_times: u32,
    pub(super) n_values: u32,
    pub(super) data: String,
}
