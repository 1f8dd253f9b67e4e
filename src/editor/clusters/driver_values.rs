//! What the active driver reads: in the pose on screen, and over the clip.
//!
//! Bones, time and channels are read at once. The vertices of a distance are where the deformer stack puts them before the
//! clusters act: they are computed on the job lane, one pose after the other while the artist poses or plays. Until the pose on
//! screen is there, what was read last stands for it.

use super::Editor;
use crate::cluster::DriverLayer;
use crate::cluster::channel::Recordings;
use crate::cluster::procedural::{DriverInput, DriverPoint};
use crate::deform::{DriverReader, InstancePlan, PoseInputs};
use crate::document::{Document, InstanceId, MeshId};
use crate::editor::jobs::EditorJob;
use crate::evaluate::{Evaluator, JobHandle, SlowCooks};
use crate::skeleton::{Clip, Moment, Pose, PoseAt};
use crate::task::{Cancelled, Task};
use glam::{DAffine3, Vec3};
use std::sync::Arc;

/// The number of times of a clip at which a driver is read.
const TIMES: usize = 129;
/// The number where vertices are computed.
const VERTEX_TIMES: usize = 49;

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
    size: Option<(Document, MeshId, f64)>,
}

/// The caches, and the value in the pose.
type NowRead = (Evaluator, Result<Inputs, Cancelled>);

/// The input as it was read; `None` where it has no value.
#[derive(Clone, Copy)]
struct Reading(Option<f64>);

/// Times, seconds, and the values of the input then.
type Inputs = Vec<(f64, Option<f64>)>;

struct KnownReader {
    layer: DriverLayer,
    recordings: Arc<Recordings>,
    reader: Option<DriverReader>,
}

/// What a course is read from.
#[derive(Clone)]
struct Subject {
    document: Document,
    mesh: MeshId,
    input: DriverInput,
    /// The clip that is played over, else the pose on screen.
    clip: Option<Arc<Clip>>,
    pose: Option<Arc<Pose>>,
}

struct Course {
    of: Subject,
    inputs: Inputs,
}

impl Subject {
    fn is(&self, other: &Self) -> bool {
        let same_clip = match (&self.clip, &other.clip) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        same_clip
            && self.mesh == other.mesh
            && self.input == other.input
            && self.pose == other.pose
            && self.document.bends_the_same(&other.document)
    }

    /// Whether it is the same input of the same object, in whatever pose.
    fn reads_as(&self, other: &Self) -> bool {
        self.mesh == other.mesh && self.input == other.input
    }

    fn reads_vertices(&self) -> bool {
        matches!(
            self.input,
            DriverInput::Distance { a, b }
                if [a, b].iter().any(|point| matches!(point, DriverPoint::Vertex(_)))
        )
    }
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

    /// The size of the object: the diagonal of its box at bind, metres of the world.
    pub fn object_size(&mut self) -> f64 {
        let Some(mesh) = self.clustered_mesh() else {
            return 1.0;
        };
        let known = self.driver_values.size.as_ref();
        let known = known
            .filter(|(document, of, _)| *of == mesh && document.bends_the_same(&self.document));
        if let Some((_, _, size)) = known {
            return *size;
        }
        let size = size_of_object(&self.document, mesh);
        let size = size.filter(|size| *size > 0.0 && size.is_finite());
        let size = size.unwrap_or(1.0);
        self.driver_values.size = Some((self.document.clone(), mesh, size));
        size
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
        let cooks = SlowCooks {
            centres: self.centres.known(),
            layouts: self.layouts.known(),
        };
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
        let cooks = SlowCooks {
            centres: self.centres.known(),
            layouts: self.layouts.known(),
        };
        let of = subject.clone();
        let work =
            move |task: &Task| inputs_of_vertices(&of, &mut Evaluator::default(), cooks, task);
        let job = self
            .lane
            .submit(EditorJob::DriverInputs, "Reading vertices", work);
        self.driver_values.job = Some((subject, job));
    }
}

/// Even times of a clip, its ends among them, seconds.
fn times(clip: &Clip, n: usize) -> impl Iterator<Item = f64> {
    let (start, end) = (f64::from(clip.start_secs()), f64::from(clip.end_secs()));
    (0..n).map(move |i| start + (end - start) * i as f64 / (n - 1) as f64)
}

/// The poses of a subject, and their times.
fn poses(subject: &Subject, n: usize) -> Vec<(f64, Arc<Pose>)> {
    match (&subject.clip, &subject.pose) {
        (Some(clip), _) => times(clip, n)
            .map(|secs| (secs, Arc::new(subject.document.pose_of_clip(clip, secs))))
            .collect(),
        (None, Some(pose)) => vec![(0.0, pose.clone())],
        (None, None) => Vec::new(),
    }
}

fn inputs_over(subject: &Subject) -> Inputs {
    let document = &subject.document;
    let rest_world = document.rest_pose().world_matrices(document.skeleton());
    let poses = poses(subject, TIMES).into_iter();
    let inputs = poses.map(|(secs, pose)| {
        let world = pose.world_matrices(document.skeleton());
        let moment = Moment { clip: None, secs };
        let at = inputs_of(document, (&rest_world, &world), &pose, &[], moment);
        (secs, subject.input.value(&at))
    });
    inputs.collect()
}

fn inputs_of_vertices(
    subject: &Subject,
    evaluator: &mut Evaluator,
    cooks: SlowCooks,
    task: &Task,
) -> Result<Inputs, Cancelled> {
    let document = subject.document.clone().without_clusters();
    let rest_world = document.rest_pose().world_matrices(document.skeleton());
    let Some(instance) = first_instance(&document, subject.mesh) else {
        return Ok(Inputs::new());
    };
    evaluator.set_cooks(cooks);
    let mut inputs = Inputs::new();
    for (secs, pose) in poses(subject, VERTEX_TIMES) {
        task.check()?;
        let moment = Moment { clip: None, secs };
        evaluator.evaluate(
            &document,
            PoseAt {
                pose: &pose,
                moment,
            },
        );
        let plan = evaluator.plan(instance);
        let positions = plan.map_or(&[][..], InstancePlan::positions);
        let at = inputs_of(
            &document,
            (&rest_world, evaluator.world()),
            &pose,
            positions,
            moment,
        );
        inputs.push((secs, subject.input.value(&at)));
    }
    Ok(inputs)
}

fn inputs_of<'a>(
    document: &'a Document,
    (rest_world, world): (&'a [DAffine3], &'a [DAffine3]),
    pose: &'a Pose,
    positions: &'a [Vec3],
    moment: Moment,
) -> PoseInputs<'a> {
    PoseInputs {
        skeleton: document.skeleton(),
        rest_world,
        locals: &pose.locals,
        world,
        positions,
        moment,
    }
}

/// The value between the two times around one.
fn input_at(inputs: &[(f64, Option<f64>)], secs: f64) -> Option<f64> {
    let after = inputs.partition_point(|(at, _)| *at <= secs);
    let (from, a) = *inputs.get(after.saturating_sub(1))?;
    let Some(&(to, b)) = inputs.get(after) else {
        return a;
    };
    let t = ((secs - from) / (to - from)).clamp(0.0, 1.0);
    Some(a? + (b? - a?) * t)
}

fn first_instance(document: &Document, mesh: MeshId) -> Option<InstanceId> {
    let mut instances = document.instances().iter();
    instances.find(|(_, i)| i.mesh == mesh).map(|(&id, _)| id)
}

fn size_of_object(document: &Document, mesh: MeshId) -> Option<f64> {
    let positions = document.meshes().get(&mesh)?.geometry.positions.iter();
    let (low, high) = positions.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), p| {
        (low.min(*p), high.max(*p))
    });
    let unit = match crate::correctives::skinned_instance(document, mesh) {
        Some(instance) => document.point_rotations(instance)?.unit_scale(),
        None => {
            let node = document.instances()[&first_instance(document, mesh)?].joint;
            let rest = document.rest_pose().world_matrices(document.skeleton());
            rest.get(node.get())?.matrix3.determinant().abs().cbrt()
        }
    };
    Some(f64::from((high - low).length()) * unit)
}
