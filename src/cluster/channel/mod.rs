//! Recorded channels: markers, rotations and scalars over time, and how they move clusters.
//!
//! Data flow: a [`Recording`] (read by `io::channels`) -> [`Channel`], a sampled signal with its gaps (both of
//! [`crate::motion`]) -> [`Binding`]: the place (absolute) or the displacement (delta, scalar) of its clusters. [`fit_similarity`] lines markers up with
//! vertices; [`find_jumps`] finds swapped markers.
//!
//! Invariant: an absolute binding moves one vertex, and no vertex is moved by two.

mod axis_map;
mod binding;
mod item;
mod jumps;
mod similarity;

pub use crate::motion::{
    Channel, ChannelError, Ends, Event, Interpolation, LabelTrack, Note, Recording, RotationPart,
    Sampling, ScalarTrack, Track,
};
pub use axis_map::{AxisMap, SignedAxis};
pub use binding::{Binding, BindingError, BindingKind, ScalarDirection, check_bindings};
pub use item::{Played, RecordingId, RecordingItem, Recordings, UnreadBlock};
pub use jumps::{Jump, find_jumps};

pub use similarity::{Similarity, SimilarityError, SimilarityFit, fit_similarity};
