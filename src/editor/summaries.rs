//! Summaries of the recordings, read in the background: a recording of half an hour has millions of samples.
//!
//! Invariant: a summary is shown for the content that it was read from.

use super::Editor;
use super::jobs::EditorJob;
use crate::cluster::channel::RecordingId;
use crate::evaluate::JobHandle;
use crate::math::Transform;
use crate::motion::align::ClockMap;
use crate::motion::beyond_limits::beyond_limits;
use crate::motion::statistics::{Numbers, numbers};
use crate::motion::{ChannelKind, Recording, RecordingSummary};
use crate::skeleton::joint_limits::JointLimits;
use crate::task::Task;
use glam::DQuat;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The summaries that are known, and the one that is being read.
#[derive(Default)]
pub(super) struct Summaries {
    /// `None`: it could not be read.
    known: BTreeMap<RecordingId, (Arc<Recording>, Option<Arc<RecordingSummary>>)>,
    reading: Option<(RecordingId, Arc<Recording>, JobHandle<RecordingSummary>)>,
    /// Those of the channel that was asked for last.
    numbers: Option<(Asked, AskedNumbers)>,
    reading_numbers: Option<(Asked, JobHandle<AskedNumbers>)>,
}

/// The numbers of a channel.
#[derive(Clone, Default)]
struct AskedNumbers {
    numbers: Arc<Vec<Numbers>>,
    /// By how many degrees it exceeds the rotation limits of the joint of its name.
    beyond: Option<Arc<Numbers>>,
}

/// A channel on the clock of the timeline.
struct Asked {
    content: Arc<Recording>,
    clock: ClockMap,
    channel: String,
    kind: ChannelKind,
    /// The rotation limits of the joint of its name, and the joint's rest transform.
    limits: Option<(JointLimits, Transform)>,
}

impl Asked {
    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.content, &other.content)
            && self.clock == other.clock
            && (&self.channel, self.kind) == (&other.channel, other.kind)
            && self.limits == other.limits
    }
}

impl Summaries {
    /// Drops what belongs to the previous model.
    pub(super) fn forget_model(&mut self) {
        *self = Self::default();
    }
}

impl Editor {
    /// The rate of a recording, how much of each channel it has, and its gaps; `None` until they are read.
    pub fn recording_summary(&self, recording: RecordingId) -> Option<&Arc<RecordingSummary>> {
        let content = self.document.recordings().get(&recording)?;
        let content = content.content.as_ref().ok()?;
        let (of, summary) = self.summaries.known.get(&recording)?;
        summary.as_ref().filter(|_| Arc::ptr_eq(of, content))
    }

    /// Whether the summary of a recording could not be read.
    pub fn has_no_summary(&self, recording: RecordingId) -> bool {
        let item = self.document.recordings().get(&recording);
        let content = item.and_then(|item| item.content.as_ref().ok());
        let known = self.summaries.known.get(&recording);
        let known = known.zip(content);
        known.is_some_and(|((of, summary), content)| summary.is_none() && Arc::ptr_eq(of, content))
    }

    /// Reads the summary of a recording that is new or has another content. Returns whether it started.
    pub(super) fn start_summary(&mut self) -> bool {
        if self.summaries.reading.is_some() {
            return false;
        }
        let recordings = self.document.recordings().clone();
        let known = &mut self.summaries.known;
        known.retain(|id, _| recordings.contains_key(id));
        let next = recordings.iter().find_map(|(&id, item)| {
            let content = item.content.as_ref().ok()?;
            let is_known = known
                .get(&id)
                .is_some_and(|(of, _)| Arc::ptr_eq(of, content));
            (!is_known).then(|| (id, content.clone()))
        });
        let Some((id, content)) = next else {
            return false;
        };
        let theirs = content.clone();
        let work = move |_: &Task| RecordingSummary::new(&theirs);
        let label = "Reading the recording";
        let job = self.lane.submit(EditorJob::Summary, label, work);
        self.summaries.reading = Some((id, content, job));
        true
    }

    /// The numbers of a channel of a recording on the timeline, three of a marker; `None` until they are read, which starts
    /// here: a channel of half an hour has millions of samples.
    pub fn channel_numbers(
        &mut self,
        recording: RecordingId,
        (channel, kind): (&str, ChannelKind),
    ) -> Option<Arc<Vec<Numbers>>> {
        let item = self.document.recordings().get(&recording)?;
        let asked = Asked {
            content: item.content.as_ref().ok()?.clone(),
            clock: item.clock,
            channel: channel.to_owned(),
            kind,
            limits: self
                .limits_of_joint(channel)
                .filter(|_| kind == ChannelKind::Rotation),
        };
        let known = self.summaries.numbers.as_ref();
        if let Some((_, found)) = known.filter(|(of, _)| of.is(&asked)) {
            return Some(found.numbers.clone());
        }
        let reading = self.summaries.reading_numbers.as_ref();
        if reading.is_some_and(|(of, _)| of.is(&asked)) {
            return None;
        }
        let (content, clock, name) = (asked.content.clone(), asked.clock, asked.channel.clone());
        let limits = asked.limits;
        let work = move |_: &Task| {
            let is_its = |of: &str| of == name;
            let found = numbers(&content, clock, is_its, |_| DQuat::IDENTITY);
            // The samples of a recording were checked when it was read.
            let mut found = found.unwrap_or_default();
            // Of the channels of one name the rotation comes before the number, and a marker has three of other names.
            found.retain(|of| (of.name == name) == (kind != ChannelKind::Marker));
            match kind {
                ChannelKind::Rotation => found.truncate(1),
                ChannelKind::Scalar => drop(found.drain(..found.len().saturating_sub(1))),
                ChannelKind::Marker | ChannelKind::Text => {}
            }
            let beyond = beyond_limits(&content, clock, is_its, |_| limits);
            AskedNumbers {
                numbers: Arc::new(found),
                beyond: beyond
                    .ok()
                    .and_then(|found| found.into_iter().next().map(Arc::new)),
            }
        };
        let job = self
            .lane
            .submit(EditorJob::ChannelNumbers, "Reading the channel", work);
        self.summaries.reading_numbers = Some((asked, job));
        None
    }

    /// By how many degrees the rotation that [`Editor::channel_numbers`] read last exceeds the limits of the joint of its name, on
    /// the timeline; `None` for another channel, or where there are no limits.
    pub fn channel_beyond_limits(&self, channel: &str) -> Option<&Arc<Numbers>> {
        let (asked, found) = self.summaries.numbers.as_ref()?;
        found.beyond.as_ref().filter(|_| asked.channel == channel)
    }

    /// The rotation limits of the first joint of a name, with its rest transform.
    fn limits_of_joint(&self, name: &str) -> Option<(JointLimits, Transform)> {
        let skeleton = self.document.skeleton();
        let joint = skeleton.joint(skeleton.joint_named(name)?);
        Some((joint.rule.limits?, joint.rest))
    }

    /// Takes the numbers of a channel that were read.
    pub(super) fn take_channel_numbers(&mut self) {
        let reading = &mut self.summaries.reading_numbers;
        if let Some((asked, job)) = reading.take_if(|reading| reading.1.has_ended()) {
            let found = job.into_result().unwrap_or_default();
            self.summaries.numbers = Some((asked, found));
        }
    }

    /// Takes a summary that was read.
    pub(super) fn take_summary(&mut self) {
        let reading = &mut self.summaries.reading;
        if let Some((id, content, job)) = reading.take_if(|reading| reading.2.has_ended()) {
            let summary = job.into_result().ok().map(Arc::new);
            self.summaries.known.insert(id, (content, summary));
        }
    }
}
