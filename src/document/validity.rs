//! Whether rows and clips are valid for a document.

use crate::skeleton::{Clip, Interpolation, Pose, Property};
use crate::skinning::RowRef;

/// Checks that `row` lists distinct joints below `n_joints` with finite weights >= 0; the error names the problem.
pub fn check_row(row: RowRef<'_>, n_joints: usize) -> Result<(), String> {
    for (i, (joint, weight)) in row.iter().enumerate() {
        if usize::from(joint) >= n_joints {
            return Err(format!("bone {joint} of a skin with {n_joints} bones"));
        }
        if row.joints[..i].contains(&joint) {
            return Err(format!("bone {joint} is named twice"));
        }
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(format!("the weight {weight} of bone {joint}"));
        }
    }
    Ok(())
}

/// Checks that the channels of `clip` fit the model: existing joints, ascending finite times, values of the right
/// count; the error names the problem.
pub fn check_clip(clip: &Clip, rest: &Pose) -> Result<(), String> {
    for (c, channel) in clip.channels.iter().enumerate() {
        let joint = channel.joint.get();
        let Some(targets) = rest.morph_weights.get(joint) else {
            return Err(format!(
                "channel {c} moves bone {joint}, which does not exist"
            ));
        };
        let per_key = if channel.interpolation == Interpolation::CubicSpline {
            3
        } else {
            1
        };
        let expected = channel.times.len() * per_key * channel.property.width(targets.len());
        if channel.times.is_empty() || (expected == 0 && channel.property != Property::MorphWeights)
        {
            return Err(format!("channel {c} has no keys"));
        }
        if channel.values.len() != expected {
            return Err(format!(
                "channel {c} has {} values, {expected} needed",
                channel.values.len()
            ));
        }
        if !channel.times.iter().all(|t| t.is_finite())
            || !channel.values.iter().all(|v| v.is_finite())
        {
            return Err(format!(
                "channel {c} has a time or value that is not finite"
            ));
        }
        if !channel.times.is_sorted() {
            return Err(format!("the times of channel {c} do not ascend"));
        }
    }
    Ok(())
}
