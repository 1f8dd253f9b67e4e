//! Recordings as items of a document, and how a clip plays them.

use crate::cluster::check::within;
use crate::motion::align::ClockMap;
use crate::motion::contacts::FeetSecs;
use crate::motion::retarget::BodyMotion;
use crate::motion::timing::{TimingError, moved_time, regular_times};
use crate::motion::vmc::take_of_body;
use crate::motion::{Event, MotionSource, Recording, Sampling, Timing};
use crate::skeleton::Moment;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// A recording that begins later than this has the stamps of a time of day, or of a calendar, seconds.
const LATE_SECS: f64 = 3_600.0;

/// A recording of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct RecordingId(pub u32);

/// The recordings of a document.
pub type Recordings = BTreeMap<RecordingId, Arc<RecordingItem>>;

/// Recorded channels: layers of control clusters read them, and those of a skeleton move the character.
#[derive(Clone, Debug)]
pub struct RecordingItem {
    /// A label.
    pub name: String,
    /// The file, absolute; empty for live motion, whose content the project keeps.
    pub path: PathBuf,
    /// xxh3-64 of its content when it was last read.
    pub fingerprint: u64,
    /// What it holds, or the sentence that says why it cannot be read. Layers that read it then do not act.
    pub content: Result<Arc<Recording>, String>,
    /// What the times in `content` are. [`Self::timed`] changes it.
    pub timing: Timing,
    /// What the file holds, where `content` has other times.
    pub stamped: Option<Arc<Recording>>,
    /// The time of the timeline at each time of its device. Lanes, tables, layers and drivers all follow it.
    pub clock: ClockMap,
    /// Moments that the artist marked, in the device's time, ascending.
    pub stamps: Vec<Event>,
    /// The skeleton that it moves and what became of it; `None` for channels alone.
    pub motion: Option<Arc<BodyMotion>>,
    /// What a project keeps of live motion, where this program cannot read it: it is written back as it is.
    pub unread: Option<Arc<UnreadBlock>>,
}

/// A text, compressed, that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadBlock {
    /// The length of the text.
    pub n_bytes: usize,
    /// The text, compressed and encoded.
    pub data: String,
}

/// A recording as a clip plays it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Played {
    /// The recording.
    pub recording: RecordingId,
    /// The time in the clip at which its first sample plays as long as nothing is done to the recording's clock, seconds:
    /// while it is [`ClockMap::SAME`] or the one it was added with, [`RecordingItem::first_clock`].
    ///
    /// What is done to the clock comes on top: an offset that is 1 s later plays all of it 1 s later, and a drift stretches
    /// it, see [`Played::time`]. With [`RecordingItem::first_start`] it plays where its lane is.
    pub start: f64,
    /// Between, before and after its samples.
    pub sampling: Sampling,
}

impl PartialEq for RecordingItem {
    /// Whether both are the same content of the same file; a missing value, NaN, equals itself.
    fn eq(&self, other: &Self) -> bool {
        let content = match (&self.content, &other.content) {
            // The fingerprint is that of the content.
            (Ok(_), Ok(_)) => true,
            (Err(a), Err(b)) => a == b,
            _ => false,
        };
        content
            && self.fingerprint == other.fingerprint
            && self.name == other.name
            && self.path == other.path
            && self.timing == other.timing
            && self.clock == other.clock
            && self.stamps == other.stamps
            && self.motion == other.motion
    }
}

impl RecordingItem {
    /// One on the clock of the timeline, without stamps.
    pub fn new(
        name: impl Into<String>,
        path: impl Into<PathBuf>,
        fingerprint: u64,
        content: Result<Arc<Recording>, String>,
    ) -> Self {
        Self {
            name: name.into(),
            path: path.into(),
            fingerprint,
            content,
            timing: Timing::AsStamped,
            stamped: None,
            clock: ClockMap::SAME,
            stamps: Vec::new(),
            motion: None,
            unread: None,
        }
    }

    /// What its file holds, as it is stamped; `None` where it cannot be read.
    pub fn as_stamped(&self) -> Option<&Arc<Recording>> {
        self.stamped.as_ref().or(self.content.as_ref().ok())
    }

    /// The same recording with other times of its samples. Its events and stamps, and the foot contacts that were set by hand, keep their
    /// places among them, and its skeleton moves at the same times. One that cannot be read remembers the setting.
    pub fn timed(&self, timing: Timing) -> Result<Self, TimingError> {
        let mut next = self.with_timing(timing)?;
        let (Some(now), Some(then)) = (self.recording(), next.recording()) else {
            return Ok(next);
        };
        if timing == self.timing {
            return Ok(next);
        }
        let moved = |stamp: &Event| {
            let ends = [-0.5, 0.5].map(|side| stamp.time + side * stamp.width);
            let ends = ends.map(|end| moved_time(end, &now.times, &then.times));
            Event {
                time: moved_time(stamp.time, &now.times, &then.times),
                width: ends[1] - ends[0],
                ..stamp.clone()
            }
        };
        let stamps = self.stamps.iter().map(moved).collect();
        let motion = next.motion.as_ref().and_then(|motion| {
            let by_hand = motion.settings.bake.contacts.as_ref()?;
            let mut motion = BodyMotion::clone(motion);
            motion.settings.bake.contacts = Some(self.moved_contacts(by_hand, &next));
            Some(Arc::new(motion))
        });
        next.motion = motion.or(next.motion);
        next.stamps = stamps;
        Ok(next)
    }

    /// Foot contacts, seconds of its clip, in the clip of the same recording with other times.
    pub fn moved_contacts(&self, contacts: &FeetSecs, timed: &Self) -> FeetSecs {
        let source = |item: &Self| item.motion.as_ref()?.source.clone();
        let (Some(now), Some(then)) = (source(self), source(timed)) else {
            return contacts.clone();
        };
        let recordings = (self.recording(), timed.recording());
        let [from, to] = match recordings {
            // The skeleton of a file moves at the times of the file.
            _ if now.is_frame_rate() != then.is_frame_rate() => [now.times(), then.times()],
            _ if now.odd_frame_time().is_some() || Arc::ptr_eq(&now, &then) => {
                return contacts.clone();
            }
            (Some(now), Some(then)) => [now.times.clone(), then.times.clone()],
            _ => return contacts.clone(),
        };
        // A clip begins at 0.
        let [first, first_then] = [&from, &to].map(|of| of.first().copied().unwrap_or(0.0));
        let moved = |secs: f64| moved_time(secs + first, &from, &to) - first_then;
        let of_foot = |of: &Vec<[f64; 2]>| of.iter().map(|of| of.map(moved)).collect();
        contacts.each_ref().map(of_foot)
    }

    /// As [`Self::timed`] where what the artist set is of these times already: stamps and foot contacts stay.
    pub fn with_timing(&self, timing: Timing) -> Result<Self, TimingError> {
        let mut next = self.clone();
        if timing == self.timing {
            return Ok(next);
        }
        next.timing = timing;
        let (Some(stamped), Ok(_)) = (self.as_stamped(), &self.content) else {
            return Ok(next);
        };
        let source = self
            .motion
            .as_ref()
            .and_then(|motion| motion.source.clone());
        let is_frame_rate = timing == Timing::FramesPerSecond;
        let other = source
            .as_ref()
            .and_then(|source| source.with_frame_rate(is_frame_rate));
        let content = match timing {
            Timing::AsStamped => stamped.clone(),
            Timing::Regular => Arc::new(stamped.at_times(regular_times(&stamped.times)?)),
            Timing::FramesPerSecond => {
                let source = other.as_ref().ok_or(TimingError::NoFrameRate)?;
                let made = stamped.at_times(source.times());
                Arc::new(Recording {
                    notes: source.notes.clone(),
                    ..made
                })
            }
        };
        next.motion = self.motion.as_ref().map(|motion| {
            let source = match (other, source) {
                (Some(other), _) => Some(Arc::new(other)),
                // The skeleton of a file moves as the file says; that of channels as they do.
                (None, Some(source)) if source.times() != stamped.times => {
                    let take = take_of_body(&content);
                    let made =
                        take.map(|take| MotionSource::of_take(&*self.name, take, Vec::new()));
                    made.map(Arc::new).or(Some(source))
                }
                (None, source) => source,
            };
            Arc::new(BodyMotion {
                source,
                ..BodyMotion::clone(motion)
            })
        });
        next.stamped = (timing != Timing::AsStamped).then(|| stamped.clone());
        next.content = Ok(content);
        Ok(next)
    }

    /// Whether the project keeps its content, as there is no file.
    pub fn is_kept(&self) -> bool {
        self.path.as_os_str().is_empty()
    }

    /// The first and the last time of its samples on the timeline, seconds; `None` without any.
    pub fn span(&self) -> Option<[f64; 2]> {
        let times = &self.recording()?.times;
        let [first, last] = [times.first()?, times.last()?].map(|time| self.clock.common(*time));
        Some([first, last])
    }

    /// The clock with which it is added: stamps that are a time of day, or of a calendar, begin at 0 on the timeline.
    pub fn first_clock(&self) -> ClockMap {
        match self.first_time() {
            first if first.abs() >= LATE_SECS => ClockMap { a: 1.0, b: -first },
            _ => ClockMap::SAME,
        }
    }

    /// The start with which a layer plays it where its lane is, seconds: when its first sample is on the timeline on
    /// [`Self::first_clock`].
    pub fn first_start(&self) -> f64 {
        self.first_clock().common(self.first_time())
    }

    /// The time of its first sample on its device, seconds; 0 without any.
    fn first_time(&self) -> f64 {
        let first = self.recording().and_then(|of| of.times.first());
        first.copied().unwrap_or(0.0)
    }

    /// Whether nothing was done to its clock: starts in clips are then those of its first sample.
    fn has_own_clock(&self) -> bool {
        self.clock == ClockMap::SAME || self.clock == self.first_clock()
    }

    /// Whether it has rotations or values, which can move a skeleton or morph targets.
    pub fn moves_body(&self) -> bool {
        let can_move = |recording: &Recording| {
            !(recording.rotations.is_empty() && recording.scalars.is_empty())
        };
        self.motion.is_some() || self.recording().is_some_and(can_move)
    }

    /// What it holds; `None` where the file cannot be read.
    pub fn recording(&self) -> Option<&Recording> {
        self.content.as_deref().ok()
    }

    /// The memory of its content where nothing else keeps it, bytes.
    pub fn heap_bytes(&self) -> usize {
        let own = self.content.as_ref().ok().into_iter().chain(&self.stamped);
        let own = own.filter(|content| Arc::strong_count(content) == 1);
        let content = own.map(|recording| {
            8 * recording.times.len()
                * (1 + 3 * recording.markers.len()
                    + 4 * recording.rotations.len()
                    + recording.scalars.len()
                    + recording.labels.len())
        });
        let content: usize = content.sum();
        let stamps = self.stamps.len() * size_of::<Event>();
        content + stamps + self.name.len() + self.path.as_os_str().len()
    }
}

impl Played {
    /// The recording from the start of the clip.
    pub fn from_start(recording: RecordingId) -> Self {
        Self {
            recording,
            start: 0.0,
            sampling: Sampling::default(),
        }
    }

    /// As a layer that is added plays it: where its lane is.
    pub fn on_lane(recording: RecordingId, item: &RecordingItem) -> Self {
        Self {
            start: item.first_start(),
            ..Self::from_start(recording)
        }
    }

    /// Another recording in its place, as far from its lane as this one is from its own.
    #[must_use]
    pub fn of(self, recording: RecordingId, recordings: &Recordings) -> Self {
        if recording == self.recording {
            return self;
        }
        let lane = |id: &RecordingId| recordings.get(id).map_or(0.0, |item| item.first_start());
        Self {
            recording,
            start: lane(&recording) + (self.start - lane(&self.recording)),
            ..self
        }
    }

    /// The time of the recording that is played at a moment, seconds: the timeline is taken to the device by the recording's
    /// clock, from there to the timeline as it was with [`RecordingItem::first_clock`], and then to what the start says.
    pub fn time(&self, item: &RecordingItem, moment: Moment) -> f64 {
        let mut secs = moment.secs;
        if !item.has_own_clock() {
            secs = item.first_clock().common(item.clock.device(secs));
        }
        item.first_time() + (secs - self.start)
    }

    /// The time in the clip at which a time of the recording plays, seconds: the inverse of [`Self::time`].
    pub fn in_clip(&self, item: &RecordingItem, time: f64) -> f64 {
        let secs = time - item.first_time() + self.start;
        if item.has_own_clock() {
            secs
        } else {
            item.clock.common(item.first_clock().device(secs))
        }
    }

    /// An error that names a value out of its range.
    pub fn check(&self) -> Result<(), String> {
        within("the start in the clip", self.start, -1e6, 1e6)?;
        self.sampling.check()
    }
}
