//! The keyframe times of a clip's channels, which a timeline shows.

use super::clip_edit::{KeyIndex, SAME_KEY_SECS};
use super::{Channel, Clip, Interpolation};
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// A time with keyframes of one or more channels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeyMark {
    /// The earliest of the keyframes, seconds.
    pub time_secs: f32,
    /// Interpolation after this time; `None` where channels differ.
    pub interpolation: Option<Interpolation>,
}

/// The frame rates on offer, frames per second.
pub const FRAME_RATES: [u32; 4] = [24, 25, 30, 60];

/// The frame rate at which all keyframes of `clip` lie on whole frames: 30 if it fits, otherwise the lowest of
/// [`FRAME_RATES`]. `None` if none fits, or if no keyframe lies after the start.
pub fn frame_rate(clip: &Clip) -> Option<u32> {
    /// The largest distance of a keyframe from a whole frame, frames: exporters write rounded times.
    const NEAR: f64 = 0.01;
    let marks = key_marks(clip, |_| true);
    if marks.iter().all(|mark| mark.time_secs <= 0.0) {
        return None;
    }
    let fits = |rate: &u32| {
        marks.iter().all(|mark| {
            let frame = f64::from(mark.time_secs) * f64::from(*rate);
            // 32-bit seconds are this coarse.
            let coarse = frame.abs() * f64::from(f32::EPSILON);
            (frame - frame.round()).abs() <= NEAR + coarse
        })
    };
    std::iter::once(30).chain(FRAME_RATES).find(fits)
}

/// The times, ascending, of the keyframes of channels that `wants` accepts.
pub fn key_marks(clip: &Clip, wants: impl Fn(&Channel) -> bool) -> Vec<KeyMark> {
    // Most channels of a file share their times.
    let mut seen = HashSet::new();
    let mut keys: Vec<(f32, Interpolation)> = Vec::new();
    for channel in clip.channels.iter().filter(|c| wants(c)) {
        if seen.insert((Arc::as_ptr(&channel.times), channel.interpolation)) {
            keys.extend(channel.times.iter().map(|&t| (t, channel.interpolation)));
        }
    }
    keys.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut marks: Vec<KeyMark> = Vec::new();
    for (time_secs, interpolation) in keys {
        match marks.last_mut() {
            Some(mark) if time_secs - mark.time_secs < SAME_KEY_SECS => {
                mark.interpolation = mark.interpolation.filter(|&i| i == interpolation);
            }
            _ => marks.push(KeyMark {
                time_secs,
                interpolation: Some(interpolation),
            }),
        }
    }
    marks
}

/// The keyframes within `reach_secs` of `time_secs`, of the channels that `wants` accepts.
pub fn keys_near(
    clip: &Clip,
    time_secs: f32,
    reach_secs: f32,
    wants: impl Fn(&Channel) -> bool,
) -> BTreeSet<KeyIndex> {
    let mut found = BTreeSet::new();
    let wanted = clip.channels.iter().enumerate().filter(|(_, c)| wants(c));
    for (channel, keys) in wanted {
        let first = keys
            .times
            .partition_point(|&t| t < time_secs && time_secs - t > reach_secs);
        let near = keys.times[first..]
            .iter()
            .take_while(|&&t| t - time_secs <= reach_secs);
        found.extend((first..first + near.count()).map(|key| KeyIndex { channel, key }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skeleton::{JointId, Property};

    fn channel(joint: u32, interpolation: Interpolation, times: &[f32]) -> Channel {
        Channel {
            joint: JointId(joint),
            property: Property::Translation,
            interpolation,
            times: times.into(),
            values: vec![0.0; times.len() * 9].into(),
        }
    }

    #[test]
    fn the_frame_rate_is_the_one_at_which_keys_lie_on_frames() {
        let at = |fps: f32, frames: &[f32]| {
            let times: Vec<f32> = frames.iter().map(|frame| frame / fps).collect();
            frame_rate(&Clip {
                channels: vec![channel(0, Interpolation::Linear, &times)],
                ..Clip::default()
            })
        };
        for fps in FRAME_RATES {
            assert_eq!(at(fps as f32, &[0.0, 1.0, 7.0, 1001.0]), Some(fps));
        }
        // On whole seconds every rate fits.
        assert_eq!(at(1.0, &[0.0, 1.0, 2.0]), Some(30));
        assert_eq!(at(1.0, &[0.0]), None);
        assert_eq!(at(23.3, &[0.0, 1.0, 2.0, 5.0]), None);
    }

    #[test]
    fn keys_of_one_moment_are_one_mark() {
        let clip = Clip {
            channels: vec![
                channel(0, Interpolation::Linear, &[0.0, 0.5, 1.0]),
                channel(1, Interpolation::Step, &[0.50005, 2.0]),
                channel(2, Interpolation::Linear, &[9.0]),
            ],
            ..Clip::default()
        };
        let marks = key_marks(&clip, |c| c.joint.0 < 2);
        let shown: Vec<_> = marks
            .iter()
            .map(|m| (m.time_secs, m.interpolation))
            .collect();
        let (linear, step) = (Some(Interpolation::Linear), Some(Interpolation::Step));
        assert_eq!(
            shown,
            [(0.0, linear), (0.5, None), (1.0, linear), (2.0, step)]
        );
        let near = keys_near(&clip, 0.5, SAME_KEY_SECS, |_| true);
        let near: Vec<_> = near.iter().map(|i| (i.channel, i.key)).collect();
        assert_eq!(near, [(0, 1), (1, 0)]);
        assert!(keys_near(&clip, 0.4, 0.01, |_| true).is_empty());
    }
}
