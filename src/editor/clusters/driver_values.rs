//! What the active driver reads: in the pose on screen, and over the clip.
//!
//! Bones, time and channels are read at once. The vertices of a distance are where the deformer stack puts them before the
//! clusters act: they are computed on the job lane, one pose after the other while the artist poses or plays. Until the pose on
//! screen is there, what was read last stands for it.

use super::Editor;
use super::driver_subject::{
    Inputs, Subject, TIMES, input_at, inputs_of, inputs_of_vertices, inputs_over, times,
};
use crate::cluster::DriverLayer;
use crate::cluster::channel::Recordings;
use crate::cluster::procedural::DriverInput;
use crate::deform::{BodyChoice, DriverReader};
use crate::editor::jobs::EditorJob;
use crate::evaluate::{Evaluator, JobHandle};
use crate::skeleton::Moment;
use crate::task::{Cancelled, Task};
use std::sync::Arc;

/// What a driver reads, and the amount that it makes of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DriverValue {
    /// In the input's unit; `None` where it has no value.
    pub input: Option<f64>,
    /// Metres.
    pub amount: f64,
}

/// What was read last, and for what.
#[derive(Default)]
pub(in crate::editor) struct DriverValues {
    reader: Option<KnownReader>,
    course: Option<Course>,
    job: Option<(Subject, JobHandle<Result<Inputs, Cancelled>>)>,
    /// Of vertices in one pose.
    now: Option<Course>,
    now_job: Option<(Subject, JobHandle<NowRead>)>,
    /// Has the caches of the last pose.
    evaluator: Evaluator,
}

/// The caches, and the value in the pose.
type NowRead = (Evaluator, Result<Inputs, Cancelled>);

/// The input as it was read; `None` where it has no value.
#[derive(Clone, Copy)]
struct Reading(Option<f64>);

struct KnownReader {
    layer: DriverLayer,
    recordings: Arc<Recordings>,
    reader: Option<DriverReader>,
}

struct Course {
    of: Subject,
    inputs: Inputs,
}

impl Editor {
    /// The value of the active driver in the pose on screen; `None` without one, or where it cannot be evaluated.
    pub fn driver_value(&mut self) -> Option<DriverValue> {
        self.read_driver();
        let moment = self.document.shown_moment();
        let subject = self.driver_subject()?;
        if subject.reads_vertices() {
            let Reading(input) = self.vertices_now(&subject, moment.secs)?;
            let amount = self.driver_reader()?.amount_of(input);
            return Some(DriverValue { input, amount });
        }
        let rest = self.document.rest_pose();
        let rest_world = rest.world_matrices(self.document.skeleton());
        let pose = self.document.shown_pose();
        let world = pose.world_matrices(self.document.skeleton());
        let at = inputs_of(&self.document, (&rest_world, &world), &pose, &[], moment);
        let reader = self.driver_reader()?;
        Some(DriverValue {
            input: reader.input(&at),
            amount: reader.amount(&at),
        })
    }

    /// The course of the active driver over the clip on screen: times, seconds, and amounts, metres. `None` without a clip, or
    /// while it is being computed.
    pub fn driver_course(&mut self) -> Option<Vec<[f64; 2]>> {
        self.read_driver();
        let subject = self.driver_subject()?;
        let clip = subject.clip.clone()?;
        let is_channel = matches!(subject.input, DriverInput::Channel { .. });
        if is_channel || subject.input == DriverInput::Time {
            // They do not read the pose.
            let id = self.document.shown_moment().clip?;
            let reader = self.driver_reader()?;
            let pose = self.document.rest_pose();
            let times = times(&clip, TIMES);
            let amounts = times.map(|secs| {
                let at = inputs_of(&self.document, (&[], &[]), pose, &[], Moment::of(id, secs));
                [secs, reader.amount(&at)]
            });
            return Some(amounts.collect());
        }
        let inputs = self.driver_inputs(subject)?.clone();
        let reader = self.driver_reader()?;
        let inputs = inputs.into_iter();
        Some(
            inputs
                .map(|(secs, input)| [secs, reader.amount_of(input)])
                .collect(),
        )
    }

    /// The amount of the active driver for a value of its input, metres; a channel counts as if it had this value.
    pub fn driver_response(&mut self, input: f64) -> Option<f64> {
        self.read_driver();
        Some(self.driver_reader()?.amount_of(Some(input)))
    }

    /// Takes the vertices of a distance that were computed.
    pub(in crate::editor) fn take_driver_inputs(&mut self) {
        let values = &mut self.driver_values;
        let Some((of, job)) = values.job.take_if(|(_, job)| job.has_ended()) else {
            return;
        };
        if let Ok(Ok(inputs)) = job.into_result() {
            values.course = Some(Course { of, inputs });
        }
    }

    /// Takes the vertices of a distance in one pose.
    pub(in crate::editor) fn take_driver_now(&mut self) {
        let values = &mut self.driver_values;
        let Some((of, job)) = values.now_job.take_if(|(_, job)| job.has_ended()) else {
            return;
        };
        if let Ok((evaluator, inputs)) = job.into_result() {
            values.evaluator = evaluator;
            if let Ok(inputs) = inputs {
                values.now = Some(Course { of, inputs });
            }
        }
    }

    /// The distance of vertices in the pose on screen. While it is being computed, that of the clip between the times at which
    /// it is known, else the last one. `None`: there is none yet.
    fn vertices_now(&mut self, subject: &Subject, secs: f64) -> Option<Reading> {
        let here = Subject {
            clip: None,
            pose: Some(self.document.shown_pose()),
            ..subject.clone()
        };
        let known = self.driver_values.now.as_ref();
        let last = known.filter(|known| known.of.reads_as(&here));
        let last = last.and_then(|last| Some(Reading(last.inputs.first()?.1)));
        if known.is_some_and(|known| known.of.is(&here)) {
            return last;
        }
        self.compute_driver_now(here);
        let course = self.driver_values.course.as_ref();
        let course = course.filter(|course| course.of.clip.is_some() && course.of.is(subject));
        let between = course.map(|course| Reading(input_at(&course.inputs, secs)));
        between.or(last)
    }

    /// Starts to read the vertices in one pose, after the pose that is being read.
    fn compute_driver_now(&mut self, here: Subject) {
        if let Some((running, job)) = &self.driver_values.now_job {
            if !running.reads_as(&here) {
                job.task().cancel();
            }
            return;
        }
        let cooks = self.cooks_of(BodyChoice::Template);
        let mut evaluator = std::mem::take(&mut self.driver_values.evaluator);
        let of = here.clone();
        let work = move |task: &Task| {
            let inputs = inputs_of_vertices(&of, &mut evaluator, cooks, task);
            (evaluator, inputs)
        };
        let job = self
            .lane
            .submit(EditorJob::DriverNow, "Reading vertices", work);
        self.driver_values.now_job = Some((here, job));
    }

    /// Makes the reader of the active driver.
    fn read_driver(&mut self) {
        let layer = self.active_group_layer::<DriverLayer>();
        let Some(layer) = layer.map(|(_, layer)| layer.clone()) else {
            self.driver_values.reader = None;
            return;
        };
        let recordings = self.document.recordings();
        let known = self.driver_values.reader.as_ref();
        let is_known = known.is_some_and(|known| {
            known.layer == layer && Arc::ptr_eq(&known.recordings, recordings)
        });
        if !is_known {
            self.driver_values.reader = Some(KnownReader {
                reader: DriverReader::new(&layer, Some(recordings)),
                recordings: recordings.clone(),
                layer,
            });
        }
    }

    fn driver_reader(&self) -> Option<&DriverReader> {
        self.driver_values.reader.as_ref()?.reader.as_ref()
    }

    fn driver_subject(&self) -> Option<Subject> {
        let playback = &self.document.session().playback;
        let clip = playback.clip.filter(|_| !playback.unkeyed);
        let clip = clip.and_then(|id| self.document.clips().get(&id)).cloned();
        let known = self.driver_values.reader.as_ref()?;
        Some(Subject {
            document: self.document.clone(),
            mesh: self.clustered_mesh()?,
            input: known.layer.settings.input.clone(),
            pose: clip.is_none().then(|| self.document.shown_pose()),
            clip,
        })
    }

    /// The values of the input over the clip, or in the pose on screen; `None` while they are being computed.
    fn driver_inputs(&mut self, subject: Subject) -> Option<&Inputs> {
        let known = self.driver_values.course.as_ref();
        if !known.is_some_and(|known| known.of.is(&subject)) {
            if subject.reads_vertices() {
                self.compute_driver_inputs(subject);
                return None;
            }
            let inputs = inputs_over(&subject);
            self.driver_values.course = Some(Course {
                of: subject,
                inputs,
            });
        }
        self.driver_values
            .course
            .as_ref()
            .map(|course| &course.inputs)
    }

    fn compute_driver_inputs(&mut self, subject: Subject) {
        if let Some((running, job)) = &self.driver_values.job {
            if !running.is(&subject) {
                job.task().cancel();
            }
            return;
        }
        let cooks = self.cooks_of(BodyChoice::Template);
        let of = subject.clone();
        let work =
            move |task: &Task| inputs_of_vertices(&of, &mut Evaluator::default(), cooks, task);
        let job = self
            .lane
            .submit(EditorJob::DriverInputs, "Reading vertices", work);
        self.driver_values.job = Some((subject, job));
    }
}
