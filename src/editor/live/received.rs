//! A sender of live motion: its packets, its clock, and its pose.

mod calibrating;

use super::settings::{LATENCIES, LATENCY, LiveKind};
use crate::finding::Finding;
use crate::io::live::{Access, Listener, Packet};
use crate::motion::ChannelKind;
use crate::motion::bindings::Binding;
use crate::motion::live::{
    Calibration, JsonSource, LiveBindings, LiveClock, LiveMorphs, LivePose, LiveSamples, Origin,
};
use crate::motion::retarget::{MotionSettings, RetargetOptions};
use crate::motion::vmc::VmcSource;
use crate::rig::Character;
use crate::sentence::sentence;
use crate::skeleton::{Pose, Skeleton};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

/// Packets that are read in one poll.
const MOST_PACKETS: usize = 1024;
/// The time that is kept while not recording, seconds.
pub(super) const KEPT_SECS: f64 = 3.0;
/// The longest recording, seconds.
const MAX_RECORDING_SECS: f64 = 1_800.0;
/// The largest recording, bytes.
const MAX_RECORDING_BYTES: usize = 1 << 30;
/// After this time without a packet a sender counts as silent, seconds.
const SILENCE: f64 = 1.0;
/// After this time without a value the next ones may be those of another body, seconds.
const PAUSE: f64 = 2.0;
/// The latency of *Auto* changes by at most this a second, seconds.
const AUTO_RATE: f64 = 0.05;
/// Lost values have faded to the rest pose after this time and the latency, seconds.
const FADED: f64 = 1.0;

/// Counters of live motion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveCounts {
    /// Packets or lines.
    pub received: usize,
    /// Those that do not follow the protocol, and invalid values.
    pub malformed: usize,
    /// The fault of the last one, a sentence without its full stop.
    pub last_malformed: Option<String>,
    /// Messages that are not read.
    pub ignored: usize,
    /// Packets that were dropped because too many arrived.
    pub dropped: usize,
    /// Packets of others than the chosen sender address, and of further senders while four are heard.
    pub others: usize,
    /// Packets that arrived after the time at which they would have been shown.
    pub late: usize,
    /// Frames that are missing between others.
    pub lost: usize,
}

/// Whether a calibration is offered.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Offer {
    /// The first values have not all arrived.
    #[default]
    Waits,
    /// The body began so far from a T- or an A-pose, degrees.
    Made(f64),
    /// It began near one, or the offer was declined or taken.
    Over,
}

/// The result of a calibration.
pub(super) enum Calibrated {
    Found,
    /// No body moved the character in that time.
    NoBody,
}

/// The messages of one sender.
#[derive(Debug)]
enum Source {
    Vmc(Box<VmcSource>),
    Json(Box<JsonSource>),
}

impl Source {
    fn samples(&self) -> &LiveSamples {
        match self {
            Self::Vmc(source) => &source.samples,
            Self::Json(source) => &source.samples,
        }
    }
}

/// The rotations, each with whether it is one of the world and whether it is bound, and the skeleton that a live pose was made for.
type MadeFor = (Vec<(String, bool, bool)>, Arc<Skeleton>);

/// Whether motion is being recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Taking {
    #[default]
    Off,
    /// From the first value.
    Waits,
    /// From a time of the sender.
    Since(f64),
}

/// Motion that is being received.
#[derive(Debug)]
pub struct LiveMotion {
    listener: Listener,
    kind: LiveKind,
    access: Access,
    source: Source,
    clock: LiveClock,
    /// When the newest packet with a value arrived.
    arrived: Option<f64>,
    pose: Option<LivePose>,
    morphs: LiveMorphs,
    pub(super) bindings: LiveBindings,
    retarget: RetargetOptions,
    /// The bindings that do not fit, with why they do not.
    unfit: Vec<(Binding, String)>,
    /// What the pose was made for.
    made_for: Option<MadeFor>,
    /// Where the body was first, from which it travels and stretches: a pose that is made anew goes on from it.
    origin: Origin,
    calibration: Calibration,
    /// The sender's time at which the calibration starts.
    calibrating: Option<f64>,
    /// The sender's time from which the start of the body is judged: of the first value, until a body is there.
    first: Option<f64>,
    offer: Offer,
    taking: Taking,
    why: Option<String>,
    /// The fault of the first malformed packet or value.
    malformed: Option<String>,
    /// The latency of *Auto* and when it was set last, seconds.
    auto: Option<(f64, f64)>,
}

impl LiveMotion {
    pub(super) fn new(listener: Listener, kind: LiveKind, access: Access) -> Self {
        Self {
            listener,
            kind,
            access,
            source: match kind {
                LiveKind::Vmc => Source::Vmc(Box::default()),
                LiveKind::JsonLines => Source::Json(Box::default()),
            },
            clock: LiveClock::default(),
            arrived: None,
            pose: None,
            morphs: LiveMorphs::default(),
            bindings: LiveBindings::default(),
            retarget: RetargetOptions::default(),
            unfit: Vec::new(),
            made_for: None,
            origin: Origin::default(),
            calibration: Calibration::default(),
            calibrating: None,
            first: None,
            offer: Offer::Waits,
            taking: Taking::Off,
            why: None,
            malformed: None,
            auto: None,
        }
    }

    /// Where it listens.
    pub fn address(&self) -> Option<SocketAddr> {
        self.listener.address()
    }

    /// The protocol of the sender.
    pub fn kind(&self) -> LiveKind {
        self.kind
    }

    /// Whether other computers may send.
    pub fn hears_all(&self) -> bool {
        self.access.all_interfaces
    }

    /// The address of the only computer that is heard; `None` for any.
    pub fn only(&self) -> Option<Ipv4Addr> {
        self.access.only
    }

    /// The number of programs that send now.
    pub fn n_senders(&self) -> usize {
        match &self.source {
            Source::Vmc(source) => source.n_senders(),
            Source::Json(_) => 1,
        }
    }

    /// Whether more programs send than are heard.
    pub fn has_too_many_senders(&self) -> bool {
        match &self.source {
            Source::Vmc(source) => source.has_too_many_senders(),
            Source::Json(_) => false,
        }
    }

    /// The delay of packets beyond the median at the 95th percentile, seconds.
    pub fn jitter(&self) -> f64 {
        self.clock.jitter()
    }

    /// The latency at which nearly all packets are in time, seconds.
    pub(super) fn auto_latency(&self) -> f64 {
        self.auto.map_or(LATENCY, |(latency, _)| latency)
    }

    /// Moves the latency of *Auto* to what the sender needs, slowly, so that the motion neither jumps nor stands still.
    pub(super) fn follow_latency(&mut self) {
        let (now, Some(needed)) = (self.listener.now(), self.clock.steady_latency()) else {
            return;
        };
        let needed = needed.clamp(*LATENCIES.start(), *LATENCIES.end());
        let (latency, at) = self.auto.unwrap_or((needed, now));
        let most = AUTO_RATE * (now - at).max(0.0);
        self.auto = Some((latency + (needed - latency).clamp(-most, most), now));
    }

    /// Frames a second.
    pub fn rate(&self) -> Option<f64> {
        self.clock.rate()
    }

    /// Whether any value has arrived.
    pub fn has_received(&self) -> bool {
        self.arrived.is_some()
    }

    /// Whether values are arriving.
    pub fn is_receiving(&self) -> bool {
        self.silence().is_some_and(|silence| silence < SILENCE)
    }

    /// The seconds since the newest value arrived.
    fn silence(&self) -> Option<f64> {
        Some(self.listener.now() - self.arrived?)
    }

    /// Whether the pose may change without another packet: lost values fade.
    pub(super) fn needs_frames(&self, latency: f64) -> bool {
        let silence = self.silence();
        silence.is_some_and(|silence| silence < latency + self.samples().longest_gap() + FADED)
    }

    /// Whether the sender reports that it tracks the body; true if it reports nothing.
    pub fn is_tracked(&self) -> bool {
        match &self.source {
            Source::Vmc(source) => source.is_tracked(),
            Source::Json(_) => true,
        }
    }

    /// Whether anything moves the character.
    pub fn moves(&self) -> bool {
        self.morphs.moves() || self.pose.as_ref().is_some_and(LivePose::moves)
    }

    /// Whether a body is retargeted to the character.
    pub(super) fn has_body(&self) -> bool {
        self.pose.as_ref().is_some_and(LivePose::has_body)
    }

    /// Why a body or bound channels that are received do not move the character.
    pub fn failure(&self) -> Option<Cow<'_, str>> {
        let why = || self.why.as_deref().map(Cow::Borrowed);
        unfit(&self.unfit).map(Cow::Owned).or_else(why)
    }

    /// Whether the sender is calibrated.
    pub fn is_calibrated(&self) -> bool {
        self.calibration != Calibration::default()
    }

    /// The seconds until a calibration starts, 0 while it runs; `None` without one.
    pub fn calibrates_in(&self) -> Option<f64> {
        Some((self.calibrating? - self.clock.newest()?).max(0.0))
    }

    /// The recorded seconds; `None` while not recording.
    pub fn recorded_secs(&self) -> Option<f64> {
        let newest = self.clock.newest();
        match self.taking {
            Taking::Off => None,
            Taking::Waits => Some(0.0),
            Taking::Since(since) => Some(newest.map_or(0.0, |newest| (newest - since).max(0.0))),
        }
    }

    /// The number of channels.
    pub fn n_channels(&self) -> usize {
        self.samples().n_channels()
    }

    /// Whether more channels arrived than are kept.
    pub fn has_too_many(&self) -> bool {
        self.samples().has_too_many()
    }

    /// The counters.
    pub fn counts(&self) -> LiveCounts {
        let mut counts = LiveCounts {
            dropped: self.listener.n_dropped(),
            others: self.listener.n_others(),
            late: self.clock.late(),
            lost: self.clock.lost(),
            ..LiveCounts::default()
        };
        match &self.source {
            Source::Vmc(source) => {
                let of = source.counts();
                (counts.received, counts.malformed) = (of.received, of.malformed);
                counts.ignored = of.ignored;
                counts.others += of.others;
                counts.last_malformed = of.last_malformed.map(str::to_owned);
            }
            Source::Json(source) => {
                let of = source.counts();
                (counts.received, counts.malformed) = (of.received, of.malformed);
                counts.last_malformed.clone_from(&of.last_malformed);
            }
        }
        counts
    }

    /// What is wrong with what arrives, as one problem that stays the same however many packets are malformed.
    pub(super) fn problem(&mut self) -> Option<Finding> {
        if self.malformed.is_none() {
            let counts = self.counts();
            self.malformed = counts.last_malformed;
        }
        let why = self.malformed.as_ref()?;
        let text = format!(
            "Malformed packets arrive and are left out; the first: {why}. Check the protocol and the port of the sender."
        );
        Some(Finding::warning("live motion", text))
    }

    /// The device that is recorded.
    pub(super) fn device(&self) -> Option<String> {
        match &self.source {
            Source::Vmc(_) => Some("VMC".to_owned()),
            Source::Json(source) => source.device().map(str::to_owned),
        }
    }

    pub(super) fn samples(&self) -> &LiveSamples {
        self.source.samples()
    }

    fn samples_mut(&mut self) -> &mut LiveSamples {
        match &mut self.source {
            Source::Vmc(source) => &mut source.samples,
            Source::Json(source) => &mut source.samples,
        }
    }

    /// Reads the packets that have arrived; those older than `latency` seconds are late. Returns whether there were any.
    pub(super) fn take_packets(&mut self, latency: f64) -> bool {
        let mut came = false;
        for _ in 0..MOST_PACKETS {
            let Some(packet) = self.listener.next_within(Duration::ZERO) else {
                break;
            };
            came = true;
            self.receive(&packet, latency);
        }
        let said = match &mut self.source {
            Source::Vmc(_) => BTreeMap::new(),
            Source::Json(source) => source.take_rest_places(),
        };
        let samples = self.source.samples();
        if came && (self.origin.set_bones(said) | self.origin.add_bones(samples)) {
            self.made_for = None;
        }
        came
    }

    fn receive(&mut self, packet: &Packet, latency: f64) {
        let time = match &mut self.source {
            Source::Vmc(source) => source.receive_from(packet.arrival, packet.from, &packet.bytes),
            Source::Json(source) => {
                let time = source.receive(packet.arrival, &packet.bytes);
                time.map(|time| (0, time))
            }
        };
        if let Some((sender, time)) = time {
            let silence = self.arrived.map(|arrived| packet.arrival - arrived);
            if silence.is_some_and(|silence| silence > PAUSE) && self.taking == Taking::Off {
                // Another performer may have come, or another avatar.
                self.origin.forget_bones(time);
                self.made_for = None;
            }
            self.clock.receive_of(sender, packet.arrival, time, latency);
            self.arrived = Some(packet.arrival);
            // A sender that starts again is judged from its new start on.
            let is_earlier = self.first.is_some_and(|first| time < first);
            if self.first.is_none() || is_earlier {
                self.first = Some(time);
            }
            if self.taking == Taking::Waits {
                self.taking = Taking::Since(time);
            }
        }
    }

    /// Drops what is neither shown nor recorded. Returns whether a recording has become too long.
    pub(super) fn trim(&mut self) -> bool {
        let Some(newest) = self.clock.newest() else {
            return false;
        };
        if let Taking::Since(since) = self.taking {
            return newest - since > MAX_RECORDING_SECS
                || self.samples().heap_bytes() > MAX_RECORDING_BYTES
                || self.samples().recording_bytes() > MAX_RECORDING_BYTES;
        }
        self.samples_mut().forget_before(newest - KEPT_SECS);
        false
    }

    /// Starts recording: now, or at the next value where none arrives.
    pub(super) fn record(&mut self) {
        let newest = self.clock.newest().filter(|_| self.is_receiving());
        self.taking = newest.map_or(Taking::Waits, Taking::Since);
    }

    /// Ends the recording. Returns the samples before calibration, and the sender's time at which the recording starts.
    pub(super) fn take_recording(&mut self) -> Option<(LiveSamples, f64)> {
        let Taking::Since(since) = std::mem::take(&mut self.taking) else {
            return None;
        };
        let newest = self.clock.newest()?;
        Some((self.samples_mut().hand_over(newest - KEPT_SECS), since))
    }

    /// Stops recording and showing, for another model.
    pub(super) fn forget_model(&mut self) {
        self.made_for = None;
        // How long the bones of the performer are does not depend on the model.
        self.origin = Origin {
            hips: None,
            root_rotation: None,
            root_place: None,
            ..std::mem::take(&mut self.origin)
        };
        self.bindings.forget_places();
        self.pose = None;
        self.taking = Taking::Off;
    }

    /// The pose is made for another character from now on.
    pub(super) fn forget_character(&mut self) {
        self.made_for = None;
    }

    /// The bindings that fit, and what is wrong with the others, in sentences.
    pub(super) fn fitting_bindings(&self) -> (LiveBindings, Option<String>) {
        (self.bindings.without(&self.unfit), unfit(&self.unfit))
    }

    /// How a body is retargeted from now on.
    pub(super) fn set_retarget(&mut self, options: RetargetOptions) {
        if self.retarget != options {
            self.retarget = options;
            self.made_for = None;
        }
    }

    /// Writes the pose of now less `latency` seconds over a rest pose. Returns whether anything moves it.
    pub(super) fn pose(&mut self, character: &Character, latency: f64, pose: &mut Pose) -> bool {
        let skeleton = character.skeleton();
        let time = self.clock.shown(self.listener.now(), latency);
        let Some(time) = time else {
            return false;
        };
        let samples = self.source.samples();
        let target = character.bind_target();
        let body = self.pose.as_ref().filter(|pose| pose.has_body());
        let calibration = body.map(|_| &self.calibration);
        let bound = self.bindings.newest(samples, time, &target, calibration);
        self.unfit.clone_from(&bound.faults);
        let names = || {
            let named = samples
                .rotation_names()
                .filter(|(name, _)| !bound.has(name, ChannelKind::Rotation));
            let named = named.map(|(name, is_world)| (name, is_world, false));
            let by_hand = bound.rotation_names();
            named.chain(by_hand.map(|(name, is_world)| (name, is_world, true)))
        };
        let is_same = self.made_for.as_ref().is_some_and(|(known, of)| {
            let known = known.iter();
            let known = known.map(|(name, is_world, is_bound)| (&**name, *is_world, *is_bound));
            Arc::ptr_eq(of, skeleton) && names().eq(known)
        });
        if !is_same {
            let settings = MotionSettings {
                retarget: self.retarget,
                ..MotionSettings::default()
            };
            let calibration = self.calibration.clone();
            self.origin = std::mem::take(&mut self.origin).or_newest(samples);
            let (found, why) = LivePose::new(
                samples,
                &bound,
                skeleton,
                &character.rig,
                &settings,
                calibration,
                self.origin.clone(),
            );
            self.pose = Some(match &self.pose {
                Some(before) => found.going_on(before),
                None => found,
            });
            self.morphs = std::mem::take(&mut self.morphs).going_on(character.morphs());
            self.why = why;
            let names =
                names().map(|(name, is_world, is_bound)| (name.to_owned(), is_world, is_bound));
            self.made_for = Some((names.collect(), skeleton.clone()));
        }
        let Some(live) = &mut self.pose else {
            return false;
        };
        live.apply(samples, &bound, time, skeleton, pose);
        let is_morphed = self.morphs.apply(samples, &bound, time, pose);
        live.moves() || is_morphed
    }
}

/// What is wrong with bindings that do not fit, in sentences; `None` where all fit.
fn unfit(faults: &[(Binding, String)]) -> Option<String> {
    let ((_, first), others) = faults.split_first()?;
    let others = match others.len() {
        0 => String::new(),
        1 => " Another binding does not fit either.".into(),
        n => format!(" {n} other bindings do not fit either."),
    };
    Some(sentence(first) + &others)
}
