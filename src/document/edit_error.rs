//! Why an edit cannot be applied.

use super::mask_of::MaskOf;
use super::{LayerId, MeshId, PoseId};
use crate::cluster::channel::RecordingId;
use crate::skeleton::JointId;

/// Why an edit cannot be applied; the document is unchanged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EditError {
    /// The document has no such mesh.
    #[error("there is no mesh {}", .0.0)]
    NoMesh(MeshId),
    /// The document has no such joint.
    #[error("there is no bone {}; the model has {n_joints}", joint.0)]
    NoJoint {
        /// The joint that does not exist.
        joint: JointId,
        /// How many joints there are.
        n_joints: usize,
    },
    /// The document has no such recording.
    #[error("there is no recording {}", .0.0)]
    NoRecording(RecordingId),
    /// A recording is read by a layer.
    #[error(
        "layers of the cluster group \"{group}\" read \"{recording}\": remove those layers first"
    )]
    RecordingInUse {
        /// Its name.
        recording: String,
        /// The group.
        group: String,
    },
    /// A recording colours a surface.
    #[error("\"{recording}\" colours the surface of \"{mesh}\": set Colour by to None first")]
    RecordingColours {
        /// Its name.
        recording: String,
        /// The mesh.
        mesh: String,
    },
    /// Two recordings have one name.
    #[error("there is a recording with the name \"{0}\" already")]
    RecordingName(String),
    /// Two lists of an edit have different lengths.
    #[error("{what}: {found} given, {expected} needed")]
    Length {
        /// Which list.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The expected length.
        expected: usize,
    },
    /// A point does not exist in the mesh or is listed twice.
    #[error("vertex {point} is listed twice or not among the mesh's {n_points} vertices")]
    Point {
        /// The point.
        point: u32,
        /// How many points there are.
        n_points: usize,
    },
    /// A row is not a list of distinct joints of the skin with finite weights >= 0.
    #[error("the weights of vertex {point} are not valid: {why}")]
    Row {
        /// The point.
        point: u32,
        /// What is wrong.
        why: String,
    },
    /// A number of a stack is out of its range.
    #[error("{0}")]
    Stack(String),
    /// The mesh has no such layer.
    #[error("there is no layer {}", .0.0)]
    NoLayer(LayerId),
    /// Layers do not fit the mesh or each other.
    #[error("the layers are not valid: {0}")]
    Layers(String),
    /// A value of a painted map is out of its range.
    #[error("{value} is not a valid {}: it must be 0 - {}", .mask.label().to_lowercase(), .mask.limit())]
    MaskValue {
        /// The map.
        mask: MaskOf,
        /// The value.
        value: f32,
    },
    /// A joint's rule is not valid.
    #[error("\"{joint}\": {why}")]
    JointRule {
        /// The joint.
        joint: String,
        /// What is wrong.
        why: String,
    },
    /// A constraint is not valid.
    #[error("{rule} of “{joint}”: {why}")]
    Constraint {
        /// The joint that it acts on.
        joint: String,
        /// Its name.
        rule: &'static str,
        /// What is wrong.
        why: String,
    },
    /// Constraints would form a dependency cycle: a sentence that names it.
    #[error("the constraints would form a dependency cycle: {}", .0.trim_end_matches('.'))]
    Cycle(String),
    /// A joint is listed twice.
    #[error("bone {} is listed twice", .0.0)]
    Twice(JointId),
    /// A number is not finite.
    #[error("{0} has a value that is not a finite number")]
    NotFinite(String),
    /// A clip's channels do not fit the document.
    #[error("the clip \"{name}\" is not valid: {why}")]
    Clip {
        /// The clip.
        name: String,
        /// What is wrong.
        why: String,
    },
    /// The library has no such pose.
    #[error("there is no pose {}", .0.0)]
    NoPose(PoseId),
    /// A pose of the library does not fit the document.
    #[error("the pose \"{name}\" is not valid: {why}")]
    LibraryPose {
        /// The pose.
        name: String,
        /// What is wrong.
        why: String,
    },
    /// A measurement of a person is not valid.
    #[error("the measurements are not valid: {0}")]
    Individual(String),
    /// A change of the rig breaks an invariant.
    #[error("{0}")]
    Rig(String),
}

/// Checks that two lists of an edit have the same length.
pub(super) fn length(what: &'static str, found: usize, expected: usize) -> Result<(), EditError> {
    if found == expected {
        Ok(())
    } else {
        Err(EditError::Length {
            what,
            found,
            expected,
        })
    }
}
