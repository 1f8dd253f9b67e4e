//! What is proposed for a joint of a mesh.

use super::skin::OutlineOf;
use crate::deform::Captured;
use crate::document::{Image, InstanceId, MeshId};
use crate::finding::counted;
use crate::psd::DriverMode;
use crate::relax::{Metrics, RelaxSettings};
use crate::skeleton::JointId;
use glam::{DQuat, DVec3};
use std::sync::Arc;

/// How samples are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SuggestSettings {
    /// The parameters of the relaxation.
    pub relax: RelaxSettings,
    /// The shape whose outline stretched skin keeps.
    pub outline: OutlineOf,
    /// How far the region reaches beyond blended vertices, in radii of the joint; `None`: as far as needed.
    pub reach: Option<f64>,
    /// Whether vertices that are selected stay as skinned.
    pub protects_selected: bool,
    /// Whether the skin starts as its present samples shape it, and not without them. Those at nearly the same pose are replaced.
    pub on_samples: bool,
}

/// Pixels of the pictures of a proposal.
pub const PICTURE_PX: [usize; 2] = [192, 144];

/// A proposed sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// The name that the sample gets.
    pub name: String,
    /// The axis of its rotation from rest, unit, in the joint's own space.
    pub axis: DVec3,
    /// The angle about it, radians.
    pub angle: f64,
    /// What it moves.
    pub captured: Captured,
    /// The skinned shape against bind.
    pub before: Metrics,
    /// The same with the sample.
    pub after: Metrics,
    /// Whether it is recommended: no triangles cross.
    pub is_recommended: bool,
    /// What to know about it: sentences.
    pub notes: Vec<String>,
    /// The skin in its pose, before and with the sample.
    pub pictures: Option<[Arc<Image>; 2]>,
}

impl Proposal {
    /// The rotation of the joint from rest, in its own space.
    pub fn rotation(&self) -> DQuat {
        DQuat::from_axis_angle(self.axis, self.angle)
    }
}

/// The proposed samples of a joint on one mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    /// The joint.
    pub joint: JointId,
    /// The mesh.
    pub mesh: MeshId,
    /// The instance on which it was measured.
    pub instance: InstanceId,
    /// What drives the samples.
    pub mode: DriverMode,
    /// The radius of the limb at the joint, metres.
    pub radius: f64,
    /// How far the region reaches beyond blended vertices, in radii.
    pub reach: f64,
    /// Number of welded vertices that may move.
    pub n_free: usize,
    /// The samples; none where the skinning is good enough.
    pub proposals: Vec<Proposal>,
    /// What to know about all of them: sentences.
    pub notes: Vec<String>,
}

/// Why there is no suggestion.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SuggestError {
    /// It was cancelled.
    #[error(transparent)]
    Cancelled(#[from] crate::task::Cancelled),
    /// The joint moves no mesh.
    #[error("\"{joint}\" moves no mesh.")]
    NoMesh {
        /// Its label.
        joint: String,
    },
    /// No weights blend across it.
    #[error("No vertices blend across \"{joint}\".")]
    NothingBlends {
        /// Its label.
        joint: String,
    },
    /// The mesh is too coarse.
    #[error(
        "Too coarse to fold: edges are {percent} % of the limb's radius at \"{joint}\", and {} can move.",
        counted(*n_free, "vertex")
    )]
    TooCoarse {
        /// Its label.
        joint: String,
        /// The median edge, in per cent of the radius.
        percent: usize,
        /// Number of vertices that may move.
        n_free: usize,
    },
    /// A system of equations was not solved.
    #[error("The shape of \"{joint}\" was not found: {why}.")]
    Unsolved {
        /// Its label.
        joint: String,
        /// The solver's message.
        why: String,
    },
}
