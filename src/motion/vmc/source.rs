//! What a sender of VMC packets says over time.

use super::guard::guard;
use super::message::{Message, NoEffect, messages, read};
use super::root::ROOT;
use super::sender::{MAX_SENDERS, Senders};
use crate::motion::live::LiveSamples;
use crate::motion::recording::{Note, Recording};
use glam::{DQuat, DVec3};
use serde::Serialize;
use std::net::SocketAddr;

/// The largest number of channels.
const MAX_CHANNELS: usize = 256;
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
    /// Packets of further senders while four are heard.
    pub others: usize,
}

/// What up to four senders have said, on the clock of the one that was heard first. A channel of several is that of the one that
/// was heard first, until that does not send it for a second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VmcSource {
    counts: VmcCounts,
    /// By name: bones, [`ROOT`], and `tracker:` with the serial of a device; scalars `blend:` with a name.
    pub samples: LiveSamples,
    senders: Senders,
    /// The newest time and its arrival, seconds.
    newest: Option<(f64, f64)>,
}

impl VmcSource {
    /// How many packets and messages came.
    pub fn counts(&self) -> &VmcCounts {
        &self.counts
    }

    /// Takes a packet of one sender that arrived at a time, seconds. One that is malformed is counted, and changes nothing.
    pub fn receive(&mut self, arrival: f64, packet: &[u8]) {
        self.receive_from(arrival, None, packet);
    }

    /// Takes a packet of one of several senders, each with a clock of its own. Returns the place of the sender, at most three, and
    /// the time of the packet's values on the clock of all; `None` for a packet without a time or a value.
    pub fn receive_from(
        &mut self,
        arrival: f64,
        from: Option<SocketAddr>,
        packet: &[u8],
    ) -> Option<(usize, f64)> {
        self.counts.received += 1;
        let found = match self.read(packet) {
            Ok(found) => found,
            Err(why) => {
                self.malformed(why);
                return None;
            }
        };
        if found.is_empty() {
            // Whoever sends no motion takes no place.
            return None;
        }
        let time = found.iter().find_map(|message| match message {
            Message::Time(time) => Some(*time),
            _ => None,
        });
        let Some(place) = self.senders.place(arrival, from, time) else {
            self.counts.others += 1;
            return None;
        };
        let has_value = found
            .iter()
            .any(|message| !matches!(message, Message::Ok { .. } | Message::Time(_)));
        if time.is_none() && !has_value {
            for message in found {
                self.take(place, arrival, arrival, message);
            }
            return None;
        }
        let now = self.senders.time(place, arrival, time);
        for message in found {
            self.take(place, arrival, now, message);
        }
        self.samples.push_arrival(now, arrival);
        if self.newest.is_none_or(|(newest, _)| now >= newest) {
            self.newest = Some((now, arrival));
        }
        Some((place, now))
    }

    /// The messages of a packet that are read; an error for a packet that is malformed as a whole.
    fn read(&mut self, packet: &[u8]) -> Result<Vec<Message>, &'static str> {
        guard(packet)?;
        let decoded = match rosc::decoder::decode_udp(packet) {
            Ok((&[], decoded)) => decoded,
            Ok(_) => return Err("bytes follow the last message"),
            Err(_) => return Err("it is not an OSC packet"),
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
        Ok(found)
    }

    fn malformed(&mut self, why: &'static str) {
        self.counts.malformed += 1;
        self.counts.last_malformed = Some(why);
    }

    fn take(&mut self, place: usize, arrival: f64, now: f64, message: Message) {
        let at = (place, arrival, now);
        match message {
            Message::Ok { is_tracked } => self.senders.get(place).is_lost = !is_tracked,
            Message::Time(_) => {}
            Message::Root(place, rotation) => self.push(ROOT, at, place, rotation),
            Message::Bone(bone, place, rotation) => self.push(bone, at, place, rotation),
            Message::Tracker(serial, place, rotation) => {
                self.push(&format!("tracker:{serial}"), at, place, rotation);
            }
            Message::Blend(name, value) => {
                let pending = &mut self.senders.get(place).pending;
                if pending.len() < MAX_CHANNELS {
                    pending.insert(name, value);
                }
            }
            Message::Apply => {
                let sender = self.senders.get(place);
                let pending = std::mem::take(&mut sender.pending);
                if sender.is_lost {
                    return;
                }
                for (name, value) in pending {
                    let name = format!("blend:{name}");
                    if self.senders.moves(place, &name, arrival, MAX_CHANNELS) {
                        self.samples.push_scalar(&name, now, value);
                    }
                }
            }
        }
    }

    /// Adds a transform of the sender at a place, with its arrival and its time.
    fn push(&mut self, name: &str, at: (usize, f64, f64), place: DVec3, rotation: DQuat) {
        let (sender, arrival, now) = at;
        if !self.senders.get(sender).is_lost
            && self.senders.moves(sender, name, arrival, MAX_CHANNELS)
        {
            self.samples.push_position(name, now, place);
            self.samples.push_rotation(name, now, rotation);
        }
    }

    /// Whether the senders report that they track the body; true if they report nothing.
    pub fn is_tracked(&self) -> bool {
        !self.senders.has_lost()
    }

    /// The number of senders that were heard in the last second before the newest packet.
    pub fn n_senders(&self) -> usize {
        self.senders.n_heard()
    }

    /// Whether packets of a further sender were left out in that second.
    pub fn has_too_many_senders(&self) -> bool {
        self.senders.has_too_many()
    }

    /// The newest time on the clock of the first sender, which goes on where it begins anew, and when that arrived, seconds.
    pub fn newest(&self) -> Option<(f64, f64)> {
        self.newest
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
        if counts.others > 0 {
            let text = format!(
                "{} packets of further senders are not read: {MAX_SENDERS} are heard at a time.",
                counts.others
            );
            recording.notes.push(Note::new(0, text));
        }
        recording
    }
}
