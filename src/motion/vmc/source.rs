//! What a sender of VMC packets says over time.

use super::guard::guard;
use super::message::{Message, NoEffect, messages, read};
use super::root::ROOT;
use crate::motion::live::LiveSamples;
use crate::motion::recording::{Note, Recording};
use glam::{DQuat, DVec3};
use serde::Serialize;
use std::collections::BTreeMap;

/// The largest number of channels.
const MAX_CHANNELS: usize = 256;
/// A sender's time that jumps back by more than this begins anew, seconds.
const RESTART_SECS: f64 = 1.0;
/// One that jumps ahead of the arrivals by more than this does, too, seconds.
const AHEAD_SECS: f64 = 60.0;

/// Whether a sender whose time has passed by `step` while `passed` seconds went by has begun another clock.
pub(crate) fn is_other_clock(step: f64, passed: f64) -> bool {
    step < -RESTART_SECS || step > passed + AHEAD_SECS
}

/// How many packets and messages came.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VmcCounts {
    /// Packets.
    pub received: usize,
    /// Messages.
    pub messages: usize,
    /// Packets and messages that are not as the protocol has them.
    pub malformed: usize,
    /// Messages that are not read.
    pub ignored: usize,
    /// Why the last malformed one is.
    pub last_malformed: Option<&'static str>,
}

/// What one sender has said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VmcSource {
    counts: VmcCounts,
    /// By name: bones, [`ROOT`], and `tracker:` with the serial of a device; scalars `blend:` with a name.
    pub samples: LiveSamples,
    /// Values that were not applied yet.
    pending: BTreeMap<String, f64>,
    /// The sender's last time and its arrival, seconds.
    last: Option<(f64, f64)>,
    /// Added to the sender's time, after it began anew.
    offset: f64,
    /// Whether the sender loses track of the body.
    is_lost: bool,
}

impl VmcSource {
    /// How many packets and messages came.
    pub fn counts(&self) -> &VmcCounts {
        &self.counts
    }

    /// Takes a packet that arrived at a time, seconds. One that is malformed is counted, and changes nothing.
    pub fn receive(&mut self, arrival: f64, packet: &[u8]) {
        self.counts.received += 1;
        if let Err(why) = guard(packet) {
            self.malformed(why);
            return;
        }
        let decoded = match rosc::decoder::decode_udp(packet) {
            Ok((&[], decoded)) => decoded,
            Ok(_) => return self.malformed("bytes follow the last message"),
            Err(_) => return self.malformed("it is not an OSC packet"),
        };
        let mut found = Vec::new();
        for message in messages(decoded) {
            self.counts.messages += 1;
            match read(&message) {
                Ok(message) => found.push(message),
                Err(NoEffect::Ignored) => self.counts.ignored += 1,
                Err(NoEffect::Malformed(why)) => self.malformed(why),
            }
        }
        let time = found.iter().find_map(|message| match message {
            Message::Time(time) => Some(*time),
            _ => None,
        });
        let now = self.time(arrival, time);
        for message in found {
            self.take(now, message);
        }
    }

    fn malformed(&mut self, why: &'static str) {
        self.counts.malformed += 1;
        self.counts.last_malformed = Some(why);
    }

    /// The time of a packet's values: the sender's, in the packet or before it, else its arrival.
    fn time(&mut self, arrival: f64, time: Option<f64>) -> f64 {
        let Some(time) = time else {
            return self.last.map_or(arrival, |(last, _)| last + self.offset);
        };
        if let Some((last, arrived)) = self.last
            && is_other_clock(time - last, (arrival - arrived).max(0.0))
        {
            // The sender began anew: its time goes on as the packets arrive.
            self.offset += last - time + (arrival - arrived).max(0.0);
        }
        self.last = Some((time, arrival));
        time + self.offset
    }

    fn take(&mut self, now: f64, message: Message) {
        match message {
            Message::Ok { is_tracked } => self.is_lost = !is_tracked,
            Message::Time(_) => {}
            Message::Root(place, rotation) => self.push(ROOT, now, place, rotation),
            Message::Bone(bone, place, rotation) => self.push(bone, now, place, rotation),
            Message::Tracker(serial, place, rotation) => {
                self.push(&format!("tracker:{serial}"), now, place, rotation);
            }
            Message::Blend(name, value) => {
                if self.pending.len() < MAX_CHANNELS {
                    self.pending.insert(name, value);
                }
            }
            Message::Apply => {
                let pending = std::mem::take(&mut self.pending);
                if self.is_lost {
                    return;
                }
                for (name, value) in pending {
                    self.samples
                        .push_scalar(&format!("blend:{name}"), now, value);
                }
            }
        }
    }

    fn push(&mut self, name: &str, now: f64, place: DVec3, rotation: DQuat) {
        if !self.is_lost {
            self.samples.push_position(name, now, place);
            self.samples.push_rotation(name, now, rotation);
        }
    }

    /// Whether the sender reports that it tracks the body; true if it reports nothing.
    pub fn is_tracked(&self) -> bool {
        !self.is_lost
    }

    /// The sender's newest time, which goes on where it begins anew, and when that arrived, seconds.
    pub fn newest(&self) -> Option<(f64, f64)> {
        self.last
            .map(|(time, arrival)| (time + self.offset, arrival))
    }

    /// The channels as a recording that begins at 0: of each bone its local rotation and position.
    pub fn recording(&self) -> Recording {
        self.recording_since(f64::NEG_INFINITY)
    }

    /// The same since a time of the sender.
    pub fn recording_since(&self, since: f64) -> Recording {
        let mut recording = Recording {
            device: Some("VMC".into()),
            ..self.samples.recording(since)
        };
        let counts = &self.counts;
        if counts.malformed > 0 {
            let why = counts.last_malformed.unwrap_or_default();
            let text = format!(
                "{} packets or messages are malformed; the last: {why}.",
                counts.malformed
            );
            recording.notes.push(Note::new(0, text));
        }
        if counts.ignored > 0 {
            let text = format!("{} messages are not read.", counts.ignored);
            recording.notes.push(Note::new(0, text));
        }
        recording
    }
}
