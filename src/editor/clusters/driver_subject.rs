//! The input of a driver: which object it belongs to, in which pose or clip, and its values there.

use super::object_size::first_instance;
use crate::cluster::procedural::{DriverInput, DriverPoint};
use crate::deform::{InstancePlan, PoseInputs};
use crate::document::{Document, MeshId};
use crate::evaluate::{Evaluator, SlowCooks};
use crate::skeleton::{Clip, Moment, Pose, PoseAt};
use crate::task::{Cancelled, Task};
use glam::{DAffine3, Vec3};
use std::sync::Arc;

/// Samples of a clip.
pub(super) const TIMES: usize = 129;
/// Samples of a clip where vertices have to be evaluated.
const VERTEX_TIMES: usize = 49;

/// Times, seconds, and the values of the input then.
pub(super) type Inputs = Vec<(f64, Option<f64>)>;

/// The input of a driver of an object, in a pose or over a clip.
#[derive(Clone)]
pub(super) struct Subject {
    pub(super) document: Document,
    pub(super) mesh: MeshId,
    pub(super) input: DriverInput,
    /// The clip that is played over, else the pose on screen.
    pub(super) clip: Option<Arc<Clip>>,
    pub(super) pose: Option<Arc<Pose>>,
}

impl Subject {
    /// Whether it gives the same values.
    pub(super) fn is(&self, other: &Self) -> bool {
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

    /// Whether both are the same input of the same object, regardless of the pose.
    pub(super) fn reads_as(&self, other: &Self) -> bool {
        self.mesh == other.mesh && self.input == other.input
    }

    /// Whether it is a distance to a vertex.
    pub(super) fn reads_vertices(&self) -> bool {
        matches!(
            self.input,
            DriverInput::Distance { a, b }
                if [a, b].iter().any(|point| matches!(point, DriverPoint::Vertex(_)))
        )
    }
}

/// Even times of a clip, its ends among them, seconds.
pub(super) fn times(clip: &Clip, n: usize) -> impl Iterator<Item = f64> {
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

/// The values of an input that reads no vertices, over the poses of a subject.
pub(super) fn inputs_over(subject: &Subject) -> Inputs {
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

/// The values of a distance of vertices, where the stack puts them before the clusters act.
pub(super) fn inputs_of_vertices(
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

/// What an input reads in a pose; `positions`: of the vertices, if it reads any.
pub(super) fn inputs_of<'a>(
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
pub(super) fn input_at(inputs: &[(f64, Option<f64>)], secs: f64) -> Option<f64> {
    let after = inputs.partition_point(|(at, _)| *at <= secs);
    let (from, a) = *inputs.get(after.saturating_sub(1))?;
    let Some(&(to, b)) = inputs.get(after) else {
        return a;
    };
    let t = ((secs - from) / (to - from)).clamp(0.0, 1.0);
    Some(a? + (b? - a?) * t)
}
