//! Clips in which joints exceed their rotation limits.

use crate::document::Document;
use crate::finding::{Finding, Place, counted};
use crate::skeleton::{Channel, JointId, Property};
use glam::DQuat;
use std::collections::BTreeMap;

/// Samples between two keyframes: an interpolated rotation can exceed limits that both keyframes respect.
const BETWEEN: usize = 4;

/// The largest excess of a joint over the clips.
#[derive(Clone, Copy, Debug)]
struct Worst<'a> {
    radians: f64,
    clip: &'a str,
    secs: f64,
}

/// A finding for each joint that exceeds its rotation limits in a clip.
pub fn of_joint_limits(document: &Document) -> Vec<Finding> {
    let skeleton = document.skeleton();
    let mut worst: BTreeMap<JointId, Worst<'_>> = BTreeMap::new();
    for clip in document.clips().values() {
        let rotations = clip
            .channels
            .iter()
            .filter(|c| c.property == Property::Rotation);
        for channel in rotations.filter(|c| skeleton.is_live(c.joint)) {
            let joint = skeleton.joint(channel.joint);
            let Some(limits) = joint.rule.limits else {
                continue;
            };
            for secs in times(channel) {
                let mut values = [0.0; 4];
                channel.sample(secs, &mut values);
                let radians = limits.excess(DQuat::from_array(values), &joint.rest);
                let known = worst.get(&channel.joint).map_or(0.0, |known| known.radians);
                if radians > known {
                    let clip = &clip.name;
                    worst.insert(
                        channel.joint,
                        Worst {
                            radians,
                            clip,
                            secs,
                        },
                    );
                }
            }
        }
    }
    let note = |(joint, worst): (JointId, Worst<'_>)| {
        Finding::info(
            format!("bone \"{}\"", skeleton.label(joint)),
            format!(
                "It exceeds its rotation limits by up to {:.1} degrees, in “{}” at {:.2} s.",
                worst.radians.to_degrees(),
                worst.clip,
                worst.secs
            ),
        )
        .at(Place::Joints([joint.0].into()))
    };
    let mut found: Vec<Finding> = worst.into_iter().map(note).collect();
    if found.len() > 1 {
        let n = counted(found.len(), "bone");
        found.insert(
            0,
            Finding::info("clips", format!("{n} exceed their rotation limits.")),
        );
    }
    found
}

/// The keyframes of a channel, and times between them.
fn times(channel: &Channel) -> impl Iterator<Item = f64> + '_ {
    let between = channel.times.windows(2).flat_map(|pair| {
        let [from, to] = [f64::from(pair[0]), f64::from(pair[1])];
        (0..BETWEEN).map(move |i| from + (to - from) * i as f64 / BETWEEN as f64)
    });
    let last = channel.times.last().map(|&t| f64::from(t));
    between.chain(last)
}
