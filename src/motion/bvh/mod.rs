//! BVH: a skeleton and its motion as text, from motion capture. The format has no standard; this reads what real files
//! hold.
//!
//! ```text
//! file    = "HIERARCHY" root+ "MOTION" "Frames:" N "Frame Time:" dt row*
//! root    = "ROOT" NAME "{" OFFSET x y z [CHANNELS n c1..cn] (joint | end)* "}"    joint = the same with "JOINT"
//! end     = "End Site" "{" OFFSET x y z "}"          NAME = the rest of the line; empty: "joint <i>"
//! channel = [XYZ] ("position" | "rotation")           row = the numbers of all channels, in the order of the joints
//! ```
//!
//! Key words may have any case, lines any break; a comma in a number is a decimal comma. The local transform of a joint is
//! `T(t) R1(a1) R2(a2) R3(a3)`, degrees, rotations in the order in which they are named; positions apply first, wherever they
//! are named.
//!
//! Data flow: a text -> `hierarchy` -> `rows` -> [`Bvh`] -> [`BvhPoses`]: places of the joints at a frame.
//!
//! Invariant: no number in a file reserves memory.
//! Invariant: every fault is a sentence with its line.

mod hierarchy;
mod placement;
mod poses;
mod rows;

pub use placement::{Placement, Positions};
pub use poses::BvhPoses;
pub use rows::{frame_rate_note, frame_time_note};

use super::fault::Fault;
use super::recording::Note;
use super::text::{Lines, decode_or_latin};
use crate::task::Task;
use glam::DVec3;

/// The largest file that is read: 512 MiB.
pub const MAX_BVH_BYTES: u64 = 512 << 20;

/// What a BVH file holds, in its own axes and units.
#[derive(Clone, Debug, PartialEq)]
pub struct Bvh {
    /// In the order of the file: parents before children.
    pub joints: Vec<BvhJoint>,
    /// Seconds from frame to frame, above 0.
    pub frame_secs: f64,
    /// The number of frames.
    pub n_frames: usize,
    /// The number of channels of all joints.
    pub n_channels: usize,
    /// n_frames x n_channels: lengths and degrees; NaN is missing.
    pub values: Vec<f64>,
    /// What was repaired, left out or is odd, in the order of the file.
    pub notes: Vec<Note>,
}

/// A joint of a BVH file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BvhJoint {
    /// As in the file.
    pub name: String,
    /// `None` for a root.
    pub parent: Option<usize>,
    /// From its parent, at rest.
    pub offset: DVec3,
    /// What its numbers in a frame are, up to six; empty for a rigid joint.
    pub channels: Vec<BvhChannel>,
    /// The index of its first number in a frame.
    pub first_channel: usize,
    /// The ends of its bone, from the joint.
    pub end_sites: Vec<DVec3>,
}

/// What a number of a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BvhChannel {
    /// A position along an axis (0 - 2).
    Position(usize),
    /// A rotation about an axis (0 - 2), degrees.
    Rotation(usize),
}

impl Bvh {
    /// Reads the bytes of a file.
    pub fn read(bytes: Vec<u8>, task: &Task) -> Result<Self, Fault> {
        Self::parse(&decode_or_latin(bytes)?, task)
    }

    /// Reads the text of a file.
    pub fn parse(text: &str, task: &Task) -> Result<Self, Fault> {
        task.step("Reading motion", 0.0)?;
        let mut lines = Lines::new(text);
        let mut notes = Vec::new();
        let joints = hierarchy::read(&mut lines, &mut notes)?;
        let n_channels = joints.iter().map(|joint| joint.channels.len()).sum();
        let rows = rows::read(&mut lines, n_channels, &mut notes, task)?;
        Ok(Self {
            joints,
            frame_secs: rows.frame_secs,
            n_frames: rows.values.len().checked_div(n_channels).unwrap_or(0),
            n_channels,
            values: rows.values,
            notes,
        })
    }

    /// The numbers of a frame, n_channels; `None` past the last frame.
    pub fn frame(&self, frame: usize) -> Option<&[f64]> {
        let start = frame.checked_mul(self.n_channels)?;
        self.values.get(start..start.checked_add(self.n_channels)?)
    }

    /// The time of the last frame, seconds; 0 without frames.
    pub fn duration(&self) -> f64 {
        self.n_frames.saturating_sub(1) as f64 * self.frame_secs
    }
}

impl BvhJoint {
    /// Whether it has a channel of a position.
    pub fn has_position(&self) -> bool {
        let is_position = |channel: &BvhChannel| matches!(channel, BvhChannel::Position(_));
        self.channels.iter().any(is_position)
    }
}
