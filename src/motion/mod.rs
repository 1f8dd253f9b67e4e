//! Motion: recorded channels and skeletons in motion.
//!
//! Data flow: the text of a file -> [`table`] (CSV, TRC) -> a [`Recording`], or [`bvh`] -> a [`bvh::Bvh`]. A channel of a
//! recording is read at any time as a [`Channel`]: interpolated ([`Sampling`]), and in gaps held and faded to rest
//! ([`fade`]). [`align`] puts the clocks of devices on a common one, [`aggregate`] samples several recordings at common times,
//! [`timing`] replaces scattered stamps by those of a regular rate.
//! [`statistics`] says what their numbers are over a range of it. [`stamp_pairs`] aligns two by the moments that both have,
//! [`correlate`] by channels that show the same motion.
//! A [`Take`] is a skeleton in motion, of a BVH file or a clip; [`retarget`] puts it on another one by the [`roles`] of both.
//! [`by_name`] puts channels on the joints and morph targets of their names instead.
//! [`bindings`] puts channels on what the artist chose.
//! [`vmc`] reads packets of live motion, [`live`] shows and keeps it.
//!
//! Invariant: a channel gives its samples back at their times, to the bit.
//! Invariant: inside a gap longer than the limit a channel is invalid, whatever the interpolation.
//! Invariant: every fault of a text is a sentence with its line where it has one.

pub mod aggregate;
mod aggregate_lines;
pub mod align;
pub mod beyond_limits;
pub mod bindings;
pub mod bvh;
pub mod by_name;
mod channel_kind;
pub mod contacts;
pub mod correlate;
mod delay;
pub mod fade;
pub mod fault;
mod gaps;
mod known_bones;
pub mod live;
mod morphs;
mod percentile;
mod reading;
mod recording;
mod recording_summary;
pub mod retarget;
mod rig;
pub mod roles;
mod rotation_part;
mod sampling;
mod series;
pub mod signal;
mod source;
pub mod stamp_pairs;
pub mod statistics;
pub mod table;
mod take;
pub mod text;
pub mod thin;
pub mod timing;
pub mod vmc;

pub use channel_kind::ChannelKind;
pub use delay::DelayFigures;
pub use morphs::MorphedJoint;
pub use reading::Reading;
pub use recording::{Event, LabelTrack, Note, Recording, ScalarTrack, Track};
pub use recording_summary::{ChannelSummary, RecordingSummary};
pub use rig::Rig;
pub use rotation_part::RotationPart;
pub use sampling::{Ends, Interpolation, Sampling};
pub use series::{Channel, ChannelError};
pub use source::MotionSource;
pub use take::Take;
pub use timing::Timing;
