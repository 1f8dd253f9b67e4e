//! The error of a written file of frames, compared with the deformer stacks.

use super::MissedTimes;
use crate::bake::compared_times::ComparedTimes;
use crate::bake::comparison::{Comparison, FrameErrors, Measured, Player, compare_closely};
use crate::bake::played_file::{PlayedFile, Shown};
use crate::bake::problem::sampler::{Clips, FrameTime, Sampler};
use crate::deform::InstancePlan;
use crate::document::{ClipId, Document, InstanceId};
use crate::skeleton::Clip;
use crate::task::{Cancelled, Task};
use glam::{DAffine3, Vec3};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Compares the stacks of `seen` with `shown`, read from a file of frames: at all keyframes of both and just before each
/// step, in the middle between them, at other times, and around the largest errors. Jumps between keyframes are measured
/// apart. Also measures `plain`, a file without correction, at the same times, and returns the times
/// at which the error exceeds `tolerance`, a fraction of the diagonal. Normals are not compared.
///
/// `clips`: the clips of `seen` as written; `nodes`: the instance of `shown` for each of `seen`.
pub fn compare_frames(
    (seen, shown, plain): (&Document, &Document, Shown<'_>),
    clips: &BTreeMap<ClipId, Arc<Clip>>,
    nodes: &BTreeMap<InstanceId, InstanceId>,
    tolerance: f64,
    task: &Task,
) -> Result<([Comparison; 2], MissedTimes), Cancelled> {
    let sampler = Sampler::with_driven(seen, task)?;
    let own = Clips::new(seen, clips);
    let diagonal = sampler.diagonal();
    let read: Vec<&Clip> = shown.clips().values().map(AsRef::as_ref).collect();
    if read.len() != own.ids.len() {
        let unknown = || Comparison::unknown(diagonal);
        return Ok(([unknown(), unknown()], MissedTimes::new()));
    }
    let pairs = read.iter().zip(&own.written);
    let times = pairs.map(|(read, written)| ComparedTimes::of(&[read, written]));
    let times: Vec<_> = times.enumerate().collect();
    let player = FramePlayer {
        seen: (&sampler, &own),
        diagonal,
        shown,
        read,
        nodes,
        plain: PlayedFile::new(&sampler, &own, plain, task)?,
    };
    let compared = compare_closely(&player, &times, task)?;
    let (comparison, measured) = (compared.found, compared.measured);
    let plain = compared.plain;
    let plain = plain.unwrap_or_else(|| Comparison::unknown(diagonal));
    let mut missed = MissedTimes::new();
    // What is not finite, no frame mends.
    let is_missed = |error: f64| error > tolerance && comparison.max.is_finite();
    for (time, _) in measured.into_iter().filter(|found| is_missed(found.1)) {
        if let Some(clip) = time.clip {
            missed.entry(own.ids[clip]).or_default().push(time.secs);
        }
    }
    Ok(([comparison, plain], missed))
}

/// A file of frames beside the document that it was made of.
struct FramePlayer<'s, 'a> {
    seen: (&'s Sampler<'a>, &'s Clips<'s>),
    diagonal: f64,
    shown: &'s Document,
    /// The clips of `shown`, in the order of those of `seen`.
    read: Vec<&'s Clip>,
    /// The instance of `shown` for each of `seen`.
    nodes: &'s BTreeMap<InstanceId, InstanceId>,
    /// The file without correction; `None` if its clips do not match.
    plain: Option<PlayedFile<'s>>,
}

impl FramePlayer<'_, '_> {
    /// The errors at a time, at which the stacks have run in `plans`.
    fn errors(&self, time: FrameTime, plans: &[InstancePlan]) -> FrameErrors {
        let sampler = self.seen.0;
        let clip = time.clip.and_then(|clip| self.read.get(clip));
        let pose = clip.map(|clip| self.shown.keyed_pose(clip, time.secs));
        let pose = pose.unwrap_or_else(|| self.shown.rest_pose().as_ref().clone());
        let world = pose.world_matrices(self.shown.skeleton());
        let mut errors = FrameErrors::default();
        for (d, (drawn, plan)) in sampler.instances.iter().zip(plans).enumerate() {
            let there = self.nodes.get(&drawn.id);
            let there =
                there.and_then(|id| place_points(self.shown, *id, &pose.morph_weights, &world));
            let Some((item, (points, of_vertex))) = sampler.item(drawn.mesh).zip(there) else {
                errors.add_missing(d);
                continue;
            };
            let place = |v: u32| points.get(*of_vertex.get(v as usize)? as usize).copied();
            let vertices = item.geometry.first_vertex_of_point();
            for (point, (target, vertex)) in plan.positions().iter().zip(vertices).enumerate() {
                let place = place(vertex).unwrap_or(Vec3::NAN);
                let error = f64::from(target.distance(place)) / self.diagonal;
                errors.add(error, d, point);
            }
        }
        errors
    }
}

impl Player for FramePlayer<'_, '_> {
    fn seen(&self) -> (&Sampler<'_>, &Clips<'_>) {
        self.seen
    }

    fn diagonal(&self) -> f64 {
        self.diagonal
    }

    fn has_plain(&self) -> bool {
        self.plain.is_some()
    }

    fn measure_with(
        &self,
        with_plain: bool,
        times: &[FrameTime],
        task: &Task,
    ) -> Result<Vec<Measured>, Cancelled> {
        let plain = self.plain.as_ref().filter(|_| with_plain);
        let plain = plain.map(|file| Ok((file, file.show(times, task)?)));
        let plain = plain.transpose()?;
        let (sampler, clips) = self.seen;
        sampler.sample_times(clips, times, task, |t, plans| {
            let seen = |d: usize| (plans[d].positions(), &[][..]);
            let plain = plain.as_ref();
            Measured {
                file: self.errors(times[t], plans),
                plain: plain.map(|(file, shown)| file.errors(&shown[t], seen, self.diagonal)),
            }
        })
    }
}

/// A player's points of an instance without a skin, and the point of each vertex.
pub(crate) fn place_points<'a>(
    shown: &'a Document,
    id: InstanceId,
    morph_weights: &[Vec<f32>],
    world: &[DAffine3],
) -> Option<(Vec<Vec3>, &'a [u32])> {
    let instance = shown.instances().get(&id)?;
    let mesh = &shown.meshes().get(&instance.mesh)?.geometry;
    let weights = morph_weights.get(instance.joint.get())?;
    let mut points = mesh.positions.clone();
    for (morph, &weight) in mesh.morphs.iter().zip(weights).filter(|(_, w)| **w != 0.0) {
        for (point, delta) in points.iter_mut().zip(&morph.deltas) {
            *point += *delta * weight;
        }
    }
    let place = world.get(instance.joint.get())?;
    for point in &mut points {
        *point = place.transform_point3(point.as_dvec3()).as_vec3();
    }
    Some((points, &mesh.point_of_vertex))
}
