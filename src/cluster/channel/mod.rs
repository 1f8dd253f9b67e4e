//! Recorded channels: markers, rotations and scalars over time, and how they move clusters.
//!
//! Data flow: a [`Recording`] (read by `io::channels`) -> [`Channel`], a sampled signal with its gaps -> [`Binding`]: the
//! place (absolute) or the displacement (delta, scalar) of its clusters. [`fit_similarity`] lines markers up with
//! vertices; [`find_jumps`] finds swapped markers.
//!
//! Invariant: a channel gives its samples back at their times, to the bit.
//! Invariant: inside a gap longer than the limit a channel is invalid, whatever the interpolation.

mod axis_map;
mod binding;
mod item;
mod jumps;
mod recording;
mod rotation_part;
mod sampling;
mod series;
mod similarity;

pub use axis_map::{AxisMap, SignedAxis};
pub use binding::{Binding, BindingKind, ScalarDirection, check_bindings};
pub use item::{Played, RecordingId, RecordingItem, Recordings};
pub use jumps::{Jump, find_jumps};
pub use recording::{Event, LabelTrack, Note, Recording, ScalarTrack, Track};
pub use rotation_part::RotationPart;
pub use sampling::{Ends, Interpolation, Sampling};
pub use series::{Channel, ChannelError};
pub use similarity::{Similarity, SimilarityError, SimilarityFit, fit_similarity};
