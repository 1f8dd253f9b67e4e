//! Live motion: samples as they come, the clock of their sender, and the pose of a body now.
//!
//! Data flow: packets ([`super::vmc`]) or lines ([`JsonSource`]) -> [`LiveSamples`] with the sender's times -> at the time that
//! [`LiveClock`] gives for now, [`LivePose`] (gaps interpolated, held, faded) -> local rotations of the character. [`LiveBindings`]
//! choose what channels move in place of what has their names. The samples since a time are a [`Recording`](super::Recording).
//!
//! Invariant: memory is bounded by the time that is kept, the number of channels and the bytes of a recording.
//! Invariant: a channel that has no value is held and fades to rest, and returns without a jump.

mod arrivals;
mod bound;
mod calibration;
mod clock;
mod json;
mod morphs;
mod pose;
mod samples;
mod start_pose;

pub use bound::{BoundSamples, LiveBindings};
pub use calibration::{Calibration, Origin};
pub use clock::LiveClock;
pub(in crate::motion) use clock::{Delays, is_other_clock};
pub use json::{JsonCounts, JsonSource};
pub use morphs::LiveMorphs;
pub use pose::LivePose;
pub use samples::LiveSamples;
pub use start_pose::FAR_DEGREES;
