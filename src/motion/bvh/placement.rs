//! Whether a position channel replaces the offset of its joint, or adds to it.

use super::{Bvh, BvhChannel, BvhJoint};
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// What position channels are. Peers differ: Blender replaces the offset by the channel, three.js adds it, and real files
/// need both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Positions {
    /// For each joint what keeps the body whole ([`Placement::of`]).
    #[default]
    Auto,
    /// The position in the parent, in place of the offset.
    Replace,
    /// A displacement, added to the offset.
    Add,
}

/// What the position channels of a joint are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// There are none.
    None,
    /// Its position in its parent.
    Replace,
    /// A displacement from its offset.
    Add,
}

impl Placement {
    /// What the position channels of a joint are: its position if their median is as near to the offset as to zero, or
    /// nearer; else a displacement. A root travels, so that only the axis counts along which its offset is longest.
    pub fn of(bvh: &Bvh, joint: &BvhJoint, rule: Positions) -> Self {
        if !joint.has_position() {
            return Self::None;
        }
        match rule {
            Positions::Replace => Self::Replace,
            Positions::Add => Self::Add,
            Positions::Auto => {
                let (mut median, mut offset) = (DVec3::ZERO, DVec3::ZERO);
                for (i, channel) in joint.channels.iter().enumerate() {
                    if let BvhChannel::Position(axis) = *channel {
                        median[axis] = median_of(bvh, joint.first_channel + i);
                        offset[axis] = joint.offset[axis];
                    }
                }
                if joint.parent.is_none() {
                    let axis = offset.abs().max_position();
                    (median, offset) = (DVec3::X * median[axis], DVec3::X * offset[axis]);
                }
                if median.distance(offset) <= median.length() {
                    Self::Replace
                } else {
                    Self::Add
                }
            }
        }
    }
}

/// The median of a channel over all frames; 0 without any.
fn median_of(bvh: &Bvh, channel: usize) -> f64 {
    let values = bvh.values.iter().skip(channel).step_by(bvh.n_channels);
    let mut values: Vec<f64> = values.copied().filter(|v| v.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    let n = values.len();
    match n {
        0 => 0.0,
        _ => (values[(n - 1) / 2] + values[n / 2]) * 0.5,
    }
}
