//! Suggested corrective samples: poses at which a joint bends badly, and relaxed shapes there.
//!
//! Data flow: a joint and a mesh of a document -> [`JointSkin`] (the welded surface around the joint) -> [`Range`] (rays of
//! poses, from clips) -> [`Poser`] (its skinned points in each pose, by the deformer stack) -> `crate::relax` ->
//! [`suggest()`], which picks the few poses whose interpolation carries the others -> [`Suggestion`]; accepting one gives
//! an edit. [`push_skin_out`] pushes the skin apart in the shape that a sample has already. [`suggest_clusters`] chooses control
//! clusters.
//!
//! Invariant: the document does not change before a proposal is accepted.
//! Invariant: the same document gives the same bits for any number of threads.

mod accept;
mod choose;
mod clusters;
mod proposal;
mod propose;
mod push_out;
mod rays;
mod skin;

pub use clusters::{
    ClusterGoal, ClusterRound, SUGGESTED_GROUP, SuggestClustersError, SuggestedClusters, Training,
    TrainingPoses, suggest_clusters,
};
pub use proposal::{PICTURE_PX, Proposal, SuggestError, SuggestSettings, Suggestion};
pub use propose::suggest;
pub use push_out::{PushError, PushedOut, push_skin_out};
pub use rays::{Range, Ray};
pub use skin::{JointSkin, OutlineOf, Poser};
