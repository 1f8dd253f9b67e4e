//! VMC, the Virtual Motion Capture protocol: poses of a body as OSC 1.0 packets.
//!
//! Data flow: a packet -> `guard` (bounded, before it is decoded) -> `message` -> [`VmcSource`]: samples of each bone with the
//! sender's times -> a [`Recording`](super::Recording), or the [`Take`](super::Take) of a body. [`read_log`] reads packets that were logged.
//!
//! Unity is left-handed with Y up and faces +Z, with its left at -X; here left is +X: positions (x, y, z) become (-x, y, z),
//! rotations (x, y, z, w) become (x, -y, -z, w).
//!
//! Invariant: no packet makes the decoder panic or recurse, and a malformed one changes nothing but a counter.
//! Invariant: a packet only gives values: no path, file or option in it is used.

mod body;
mod guard;
mod log;
mod message;
mod ports;
mod root;
mod sender;
mod source;
mod take;

pub use body::BONES;
pub use guard::{MAX_PACKET_BYTES, guard};
pub use log::read_log;
pub(crate) use message::of_vrm1;
pub use root::{LiveRoot, ROOT, Root};
pub use sender::MAX_SENDERS;
pub use source::{VmcCounts, VmcSource};
pub use take::{Body, is_body_bone, is_body_channel, is_of_body, length_fault, take_of_body};
