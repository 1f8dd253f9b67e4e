//! The times at which layers of control clusters bend their course: samples of recordings, and gaps in them.

use crate::cluster::channel::{Channel, Ends, Played, Recording, RecordingItem};
use crate::cluster::fade::Fade;
use crate::cluster::procedural::DriverInput;
use crate::cluster::signal::Signal;
use crate::document::Document;
use std::collections::BTreeSet;

/// Steps of what follows time itself, seconds.
const TIME_STEP: f64 = 1.0 / 30.0;
/// Times within one fade.
const FADE_PARTS: usize = 8;
/// The largest number of times of a clip.
const MOST: usize = 100_000;

/// The times between `start` and `end` of a clip, seconds, at which the layers of the clusters of `document` may change
/// direction; in no order.
pub(super) fn driven_times(document: &Document, start: f64, end: f64) -> Vec<f64> {
    let mut times = Vec::new();
    let mut seen: BTreeSet<(u32, u64, &str)> = BTreeSet::new();
    let mut follows_time = false;
    let maps = document.meshes().values().map(|item| &item.clusters);
    for map in maps.filter(|map| map.acts()) {
        let recording = |played: &Played| {
            let item = document.recordings().get(&played.recording)?;
            Some((&**item, item.recording()?))
        };
        for (_, driver) in map.drivers().filter(|(_, driver)| !driver.muted) {
            match (&driver.settings.input, &driver.played) {
                (DriverInput::Time, _) => follows_time = true,
                (DriverInput::Channel { name }, Some(played)) => {
                    let fade = &driver.settings.fade;
                    if let Some((item, of)) = recording(played)
                        && seen.insert((played.recording.0, played.start.to_bits(), name))
                    {
                        let channel = of.scalar(name, played.sampling).and_then(Result::ok);
                        times.extend(
                            channel
                                .iter()
                                .flat_map(|c| of_channel(c, fade))
                                .flat_map(|time| in_clip(played, (item, of), time, start, end)),
                        );
                    }
                }
                _ => {}
            }
        }
        for (_, data) in map.data().filter(|(_, data)| !data.muted) {
            let played = &data.played;
            let Some((item, of)) = recording(played) else {
                continue;
            };
            for binding in &data.bindings {
                let name = binding.channel.as_str();
                if !seen.insert((played.recording.0, played.start.to_bits(), name)) {
                    continue;
                }
                let scalar = of.scalar(name, played.sampling).and_then(Result::ok);
                let marker = of.marker(name, played.sampling).and_then(Result::ok);
                let scalar = scalar.iter().flat_map(|c| of_channel(c, &data.fade));
                let marker = marker.iter().flat_map(|c| of_channel(c, &data.fade));
                let own: Vec<f64> = scalar.chain(marker).collect();
                let own = own.into_iter();
                times.extend(own.flat_map(|time| in_clip(played, (item, of), time, start, end)));
            }
        }
    }
    if follows_time {
        let n = ((end - start) / TIME_STEP).clamp(0.0, MOST as f64) as usize;
        times.extend((1..=n).map(|i| start + i as f64 * TIME_STEP));
    }
    times.truncate(MOST);
    times
}

/// The times of the samples of a channel, and of the fades in its gaps.
fn of_channel<V: Signal>(channel: &Channel<V>, fade: &Fade) -> Vec<f64> {
    let mut times = channel.times().to_vec();
    for [from, to] in channel.gaps() {
        let parts = (0..=FADE_PARTS).map(|i| i as f64 / FADE_PARTS as f64);
        for part in parts {
            let fading = from + fade.hold + part * fade.fade;
            times.extend((fading < to).then_some(fading));
            times.push(to + part * fade.ease);
        }
    }
    times
}

/// The times in a clip at which a time of the recording plays.
fn in_clip(
    played: &Played,
    (item, recording): (&RecordingItem, &Recording),
    time: f64,
    start: f64,
    end: f64,
) -> impl Iterator<Item = f64> {
    let first = recording.times.first().copied().unwrap_or(0.0);
    let last = recording.times.last().copied().unwrap_or(0.0);
    let at = played.in_clip(item, time);
    let period = (last - first) * item.clock.a;
    let repeats = played.sampling.ends == Ends::Loop && period > 0.0;
    let rounds = if repeats {
        ((start - at) / period).floor() as i64..=((end - at) / period).ceil() as i64
    } else {
        0..=0
    };
    rounds
        .take(MOST)
        .map(move |round| at + round as f64 * period)
        .filter(move |at| (start..=end).contains(at))
}
