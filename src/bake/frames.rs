//! Clips as shapes: one morph target for each moment that is needed, one after the other, straight in between.
//!
//! The way of the data: each clip's keys and the middles between them -> the shape of every skinned instance there, in
//! the space of its node -> the fewest moments between which straight lines stay within the tolerance (greedily the
//! farthest next one) -> targets, shared where shapes are equal.

use super::compare::{Comparison, InstanceErrors, moments};
use super::stage::Stage;
use super::still::into_node;
use super::times::key_times;
use super::{clips_of, stage::Clips};
use crate::document::{ClipId, Document, InstanceId};
use crate::skeleton::{Channel, Clip, JointIndex};
use crate::task::{Cancelled, Task};
use glam::{DAffine3, DMat3, Vec3};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Share of the tolerance that straight lines may take; the rest is for what shared shapes and rounding add.
const STRAIGHT: f64 = 0.9;
/// Shapes this near, as a share of the tolerance, are one target.
const EQUAL: f64 = 0.05;
/// Steps of errors that are counted, as fractions of the diagonal.
const STEP: f64 = 2e-6;
const STEPS: usize = 100_000;

/// Bytes that shapes may take in memory.
const MOST_BYTES: usize = 2_000_000_000;

/// Why there are no frames.
#[derive(Debug, thiserror::Error)]
pub enum FramesError {
    /// Somebody asked to stop.
    #[error("The work was cancelled.")]
    Cancelled(#[from] Cancelled),
    /// They do not fit.
    #[error(
        "Finding frames would take {:.1} GB of memory, more than the {:.0} GB that it may; choose fewer or shorter clips.",
        *bytes as f64 / 1e9,
        MOST_BYTES as f64 / 1e9
    )]
    TooLarge {
        /// What they would take.
        bytes: usize,
    },
}

/// A shape in the space of a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// The moment, in words.
    pub name: String,
    /// n_points.
    pub positions: Vec<Vec3>,
    /// n_normals, unit.
    pub normals: Vec<Vec3>,
}

/// Keys of a clip: seconds, ascending, and the target shown there; `None`: the base.
pub type FrameKeys = Vec<(f32, Option<usize>)>;

/// A skinned instance as shapes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FramedInstance {
    /// Its node is flat or mirrors at some moment: the shapes are in the world's space.
    pub freed: bool,
    /// The rest pose.
    pub base: Frame,
    /// One a target.
    pub targets: Vec<Frame>,
    /// By clip; none where it shows the base throughout.
    pub tracks: BTreeMap<ClipId, FrameKeys>,
    /// The largest distance from what the stacks show, at the keys of the clips and midway between them, as a fraction
    /// of the diagonal at rest.
    pub off: f64,
}

impl FramedInstance {
    /// The points where a target is shown; `None`: the base.
    fn shape(&self, target: Option<usize>) -> &[Vec3] {
        &target.map_or(&self.base, |t| &self.targets[t]).positions
    }

    fn n_bytes(&self) -> usize {
        let frames = self.targets.iter();
        let vectors = frames.map(|f| f.positions.len() + f.normals.len());
        vectors.sum::<usize>() * size_of::<Vec3>()
    }
}

/// The shapes of one instance along a clip.
struct Samples {
    times: Vec<f64>,
    /// n_times x n_points, node space.
    positions: Vec<Vec<Vec3>>,
    /// The node's own turn and stretch at each time.
    node: Vec<DMat3>,
}

/// Shapes for all skinned instances of `document` in the clips `played`, which are as the file will have them.
///
/// `tolerance`: the largest distance from what the stacks show, as a fraction of the diagonal at rest.
pub fn frames(
    document: &Document,
    played: &BTreeMap<ClipId, Arc<Clip>>,
    tolerance: f64,
    task: &Task,
) -> Result<BTreeMap<InstanceId, FramedInstance>, FramesError> {
    task.step("Finding frames", 0.0)?;
    let stage = Stage::new(document, task)?;
    let clips = clips_of(document, played);
    let tolerance = tolerance * stage.diagonal();
    let all: BTreeSet<u32> = (0..document.skeleton().len() as u32).collect();
    let times: Vec<Vec<f64>> = clips
        .seen
        .iter()
        .zip(&clips.played)
        .map(|(seen, played)| sample_times(seen, played, document, &all))
        .collect();
    let freed = freed(&stage, &clips, &times, task)?;
    let rest = [document.rest_pose().as_ref().clone()];
    let rest_world = rest[0].world_matrices(&stage.player_skeleton);
    let base = stage.map_poses(&rest, task, |_, plans| {
        let frame = |(d, plan): (usize, &crate::deform::InstancePlan)| {
            let into = space(&stage, &freed, d, &rest_world);
            local_frame(String::new(), plan.positions(), plan.normals(), into)
        };
        plans.iter().enumerate().map(frame).collect::<Vec<_>>()
    })?;
    let mut framed: Vec<FramedInstance> = base
        .into_iter()
        .flatten()
        .zip(&freed)
        .map(|(base, &freed)| FramedInstance {
            freed,
            base,
            ..FramedInstance::default()
        })
        .collect();
    for (c, &id) in clips.ids.iter().enumerate() {
        task.step("Finding frames", c as f32 / clips.ids.len() as f32)?;
        add_clip(
            &stage,
            &clips,
            c,
            id,
            &times[c],
            tolerance,
            &mut framed,
            task,
        )?;
    }
    for instance in &mut framed {
        instance.off /= stage.diagonal();
    }
    let ids = stage.drawn.iter().map(|d| d.id);
    Ok(ids.zip(framed).collect())
}

/// Keys of a clip and the middles between them, ascending; its start and end among them.
fn sample_times(seen: &Clip, played: &Clip, document: &Document, all: &BTreeSet<u32>) -> Vec<f64> {
    let mut keys: Vec<f32> = [seen, played]
        .iter()
        .flat_map(|clip| key_times(clip, document.rest_pose(), all))
        .filter(|t| *t >= 0.0)
        .collect();
    keys.sort_by(f32::total_cmp);
    // Keys of both that are almost one are one.
    keys.dedup_by(|b, a| *b - *a < 0.0015);
    let mut times: Vec<f64> = Vec::with_capacity(2 * keys.len());
    for &key in &keys {
        let key = f64::from(key);
        if let Some(&last) = times.last()
            && key - last > 0.005
        {
            times.push(f64::from((0.5 * (last + key)) as f32));
        }
        times.push(key);
    }
    times
}

/// Where a node is that holds the shapes of a drawn instance: itself, or the world.
fn space(stage: &Stage<'_>, freed: &[bool], d: usize, world: &[DAffine3]) -> DAffine3 {
    if freed[d] {
        DAffine3::IDENTITY
    } else {
        world[stage.drawn[d].node.get()]
    }
}

/// Which drawn instances have nodes that cannot hold their shapes at every moment.
fn freed(
    stage: &Stage<'_>,
    clips: &Clips<'_>,
    times: &[Vec<f64>],
    task: &Task,
) -> Result<Vec<bool>, Cancelled> {
    let document = stage.document;
    let mut freed = vec![false; stage.drawn.len()];
    let mut look = |world: &[DAffine3]| {
        for (freed, drawn) in freed.iter_mut().zip(&stage.drawn) {
            *freed |= into_node(world[drawn.node.get()]).is_none();
        }
    };
    look(&document.rest_pose().world_matrices(&stage.player_skeleton));
    for (clip, times) in clips.played.iter().zip(times) {
        task.check()?;
        for &time in times {
            let pose = document.pose_of_clip(clip, time);
            look(&pose.world_matrices(&stage.player_skeleton));
        }
    }
    Ok(freed)
}

fn local_frame(name: String, positions: &[Vec3], normals: &[Vec3], node: DAffine3) -> Frame {
    let into = node.inverse();
    let turned = node.matrix3.transpose();
    Frame {
        name,
        positions: positions
            .iter()
            .map(|p| into.transform_point3(p.as_dvec3()).as_vec3())
            .collect(),
        normals: normals
            .iter()
            .map(|n| {
                let local = (turned * n.as_dvec3()).try_normalize();
                local.map_or(*n, glam::DVec3::as_vec3)
            })
            .collect(),
    }
}

#[allow(
    clippy::too_many_arguments,
    reason = "one clip of `frames`, with all that it has"
)]
fn add_clip(
    stage: &Stage<'_>,
    clips: &Clips<'_>,
    c: usize,
    id: ClipId,
    times: &[f64],
    tolerance: f64,
    framed: &mut [FramedInstance],
    task: &Task,
) -> Result<(), FramesError> {
    if times.is_empty() {
        return Ok(());
    }
    let n_points: usize = framed.iter().map(|f| f.base.positions.len()).sum();
    let held: usize = framed.iter().map(FramedInstance::n_bytes).sum();
    afford(held + times.len() * n_points * size_of::<Vec3>())?;
    let document = stage.document;
    let freed: Vec<bool> = framed.iter().map(|f| f.freed).collect();
    let poses = |times: &[f64]| {
        let pose = |&t: &f64| document.pose_of_clip(clips.seen[c], t);
        times.iter().map(pose).collect::<Vec<_>>()
    };
    let world_at = |time: f64| {
        let pose = document.pose_of_clip(clips.played[c], time);
        pose.world_matrices(&stage.player_skeleton)
    };
    let shapes = stage.map_poses(&poses(times), task, |t, plans| {
        let world = world_at(times[t]);
        let local = |(d, plan): (usize, &crate::deform::InstancePlan)| {
            let node = space(stage, &freed, d, &world);
            let into = node.inverse();
            let local = plan.positions().iter();
            let local = local.map(|p| into.transform_point3(p.as_dvec3()).as_vec3());
            (local.collect::<Vec<Vec3>>(), node.matrix3)
        };
        plans.iter().enumerate().map(local).collect::<Vec<_>>()
    })?;
    let mut samples: Vec<Samples> = framed
        .iter()
        .map(|_| Samples {
            times: times.to_vec(),
            positions: Vec::with_capacity(times.len()),
            node: Vec::with_capacity(times.len()),
        })
        .collect();
    for moment in shapes {
        for (sample, (positions, node)) in samples.iter_mut().zip(moment) {
            sample.positions.push(positions);
            sample.node.push(node);
        }
    }
    // Which sample each new target is made from.
    let mut new: Vec<Vec<usize>> = vec![Vec::new(); framed.len()];
    for ((instance, sample), new) in framed.iter_mut().zip(&samples).zip(&mut new) {
        task.check()?;
        let mut keys = Vec::new();
        for s in kept(sample, STRAIGHT * tolerance, task)? {
            task.check()?;
            keys.push((s, target_of(instance, sample, s, new, tolerance)));
        }
        instance.off = instance.off.max(off(instance, sample, &keys, task)?);
        if keys.iter().any(|(_, target)| target.is_some()) {
            let keys = keys.into_iter();
            let keys = keys.map(|(s, target)| (sample.times[s] as f32, target));
            instance.tracks.insert(id, keys.collect());
        }
    }
    drop(samples);
    // The normals of the new ones.
    let wanted: BTreeSet<usize> = new.iter().flatten().copied().collect();
    let wanted: Vec<usize> = wanted.into_iter().collect();
    let of_new = framed.iter().zip(&new);
    let n_normals: usize = of_new
        .map(|(f, new)| f.base.normals.len() * new.len())
        .sum();
    let held: usize = framed.iter().map(FramedInstance::n_bytes).sum();
    afford(held + 2 * n_normals * size_of::<Vec3>())?;
    let wanted_times: Vec<f64> = wanted.iter().map(|&s| times[s]).collect();
    let normals = stage.map_poses(&poses(&wanted_times), task, |w, plans| {
        let world = world_at(wanted_times[w]);
        let local = |(d, plan): (usize, &crate::deform::InstancePlan)| {
            if new[d].binary_search(&wanted[w]).is_err() {
                return Vec::new();
            }
            let node = space(stage, &freed, d, &world);
            local_frame(String::new(), &[], plan.normals(), node).normals
        };
        plans.iter().enumerate().map(local).collect::<Vec<_>>()
    })?;
    for (d, (instance, new)) in framed.iter_mut().zip(&new).enumerate() {
        let first = instance.targets.len() - new.len();
        for (i, s) in new.iter().enumerate() {
            if let Ok(w) = wanted.binary_search(s) {
                instance.targets[first + i]
                    .normals
                    .clone_from(&normals[w][d]);
            }
            instance.targets[first + i].name =
                format!("{} {:.3} s", clips.played[c].name, times[*s]);
        }
    }
    Ok(())
}

/// Whether so many bytes of shapes may be held.
fn afford(bytes: usize) -> Result<(), FramesError> {
    if bytes > MOST_BYTES {
        return Err(FramesError::TooLarge { bytes });
    }
    Ok(())
}

/// The target that shows a sample, a known one where that is equal; `None`: the base does.
fn target_of(
    instance: &mut FramedInstance,
    sample: &Samples,
    s: usize,
    new: &mut Vec<usize>,
    tolerance: f64,
) -> Option<usize> {
    let shape = &sample.positions[s];
    let node = sample.node[s];
    let base = &instance.base.positions;
    // The point that moved farthest tells most shapes apart by itself.
    let moved = |i: usize| shape[i].distance_squared(base[i]);
    let farthest = (0..shape.len()).max_by(|&a, &b| moved(a).total_cmp(&moved(b)));
    let is_near = |a: Vec3, b: Vec3| (node * (a - b).as_dvec3()).length() <= EQUAL * tolerance;
    let near = |other: &[Vec3]| {
        farthest.is_none_or(|i| is_near(shape[i], other[i]))
            && shape.iter().zip(other).all(|(a, b)| is_near(*a, *b))
    };
    if near(&instance.base.positions) {
        return None;
    }
    let known = instance.targets.iter().position(|t| near(&t.positions));
    Some(known.unwrap_or_else(|| {
        instance.targets.push(Frame {
            positions: shape.clone(),
            ..Frame::default()
        });
        new.push(s);
        instance.targets.len() - 1
    }))
}

/// The samples to keep, ascending: the first, the last, and as few as straight lines within `tolerance` allow.
fn kept(samples: &Samples, tolerance: f64, task: &Task) -> Result<Vec<usize>, Cancelled> {
    let last = samples.times.len() - 1;
    let mut kept = vec![0];
    let mut from = 0;
    while from < last {
        let (mut good, mut step) = (from + 1, 1);
        let mut bad = None;
        while good < last {
            task.check()?;
            let next = (good + step).min(last);
            if is_straight(samples, from, next, tolerance) {
                good = next;
                step *= 2;
            } else {
                bad = Some(next);
                break;
            }
        }
        while let Some(end) = bad.filter(|end| end - good > 1) {
            task.check()?;
            let middle = good.midpoint(end);
            if is_straight(samples, from, middle, tolerance) {
                good = middle;
            } else {
                bad = Some(middle);
            }
        }
        kept.push(good);
        from = good;
    }
    Ok(kept)
}

/// The largest distance of all samples from what these keys of samples and targets show there, metres.
fn off(
    instance: &FramedInstance,
    samples: &Samples,
    keys: &[(usize, Option<usize>)],
    task: &Task,
) -> Result<f64, Cancelled> {
    let mut most = 0.0f64;
    for (k, &(from, first)) in keys.iter().enumerate() {
        task.check()?;
        let (to, second) = keys.get(k + 1).copied().unwrap_or((from, first));
        let (a, b) = (instance.shape(first), instance.shape(second));
        let (start, end) = (samples.times[from], samples.times[to]);
        for s in from..=to {
            let share = if to > from {
                ((samples.times[s] - start) / (end - start)) as f32
            } else {
                0.0
            };
            let node = samples.node[s];
            let here = samples.positions[s].par_iter().with_min_len(4096);
            let distances = here.enumerate().map(|(i, p)| {
                let off = (a[i].lerp(b[i], share) - *p).as_dvec3();
                (node * off).length()
            });
            most = most.max(distances.reduce(|| 0.0, f64::max));
        }
    }
    Ok(most)
}

/// Whether all samples between two lie on the straight lines from one to the other.
fn is_straight(samples: &Samples, from: usize, to: usize, tolerance: f64) -> bool {
    let (a, b) = (&samples.positions[from], &samples.positions[to]);
    let (start, end) = (samples.times[from], samples.times[to]);
    (from + 1..to).all(|s| {
        let share = ((samples.times[s] - start) / (end - start)) as f32;
        let node = samples.node[s];
        let here = &samples.positions[s];
        let near = |(i, p): (usize, &Vec3)| {
            let off = (a[i].lerp(b[i], share) - *p).as_dvec3();
            (node * off).length() <= tolerance
        };
        here.par_iter().with_min_len(4096).enumerate().all(near)
    })
}

/// Compares what the stacks of `seen` show with `shown`, read from a file of frames, at all keys of both, midway between
/// them and at moments besides.
///
/// `clips`: those of the file, as `seen` has them; `nodes`: the instance of `shown` for each of `seen`.
pub fn compare_frames(
    seen: &Document,
    shown: &Document,
    clips: &BTreeMap<ClipId, Arc<Clip>>,
    nodes: &BTreeMap<InstanceId, InstanceId>,
    task: &Task,
) -> Result<Comparison, Cancelled> {
    let stage = Stage::new(seen, task)?;
    let own = clips_of(seen, clips);
    let diagonal = stage.diagonal();
    let mut comparison = Comparison {
        diagonal,
        ..Comparison::default()
    };
    let read: Vec<&Clip> = shown.clips().values().map(AsRef::as_ref).collect();
    if read.len() != own.ids.len() {
        // Not one to one: nothing can be told.
        comparison.max = f64::INFINITY;
        return Ok(comparison);
    }
    let mut counts = vec![0u64; STEPS + 1];
    let (mut square, mut n) = (0.0, 0u64);
    for (c, &id) in own.ids.iter().enumerate() {
        task.step("Checking what was written", c as f32 / read.len() as f32)?;
        let mut times = moments(read[c]);
        times.extend(moments(own.played[c]));
        times.sort_by(f64::total_cmp);
        times.dedup();
        for stretch in times.chunks(64) {
            let poses: Vec<_> = stretch
                .iter()
                .map(|&t| seen.pose_of_clip(own.seen[c], t))
                .collect();
            let errors = stage.map_poses(&poses, task, |t, plans| {
                let pose = shown.pose_of_clip(read[c], stretch[t]);
                let world = pose.world_matrices(shown.skeleton());
                let errors = stage.drawn.iter().zip(plans).map(|(drawn, plan)| {
                    let there = nodes.get(&drawn.id);
                    let there =
                        there.and_then(|id| place_points(shown, *id, &pose.morph_weights, &world));
                    errors_of(
                        &stage,
                        drawn.mesh,
                        plan.positions(),
                        there.as_ref(),
                        diagonal,
                    )
                });
                errors.collect::<Vec<_>>()
            })?;
            for (&time, errors) in stretch.iter().zip(errors) {
                for (d, errors) in errors.into_iter().enumerate() {
                    for (point, error) in errors.into_iter().enumerate() {
                        square += error * error;
                        n += 1;
                        counts[((error / STEP) as usize).min(STEPS)] += 1;
                        if comparison.worst.is_none() || error > comparison.max {
                            comparison.max = error;
                            comparison.worst = Some(InstanceErrors {
                                clip: id,
                                time,
                                instance: stage.drawn[d].id,
                                mesh: stage.drawn[d].mesh,
                                point: point as u32,
                                error,
                            });
                        }
                    }
                }
            }
        }
        comparison.n_moments += times.len();
    }
    comparison.rms = if n > 0 {
        (square / n as f64).sqrt()
    } else {
        0.0
    };
    let mut above = 0;
    for (step, count) in counts.iter().enumerate().rev() {
        above += count;
        if above as f64 > 0.001 * n as f64 {
            comparison.p999 = ((step + 1) as f64 * STEP).min(comparison.max);
            break;
        }
    }
    Ok(comparison)
}

/// Where a player has the points of an instance without a skin, and the point of each vertex.
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

/// By point of the first, as fractions of the diagonal.
fn errors_of(
    stage: &Stage<'_>,
    mesh: crate::document::MeshId,
    target: &[Vec3],
    there: Option<&(Vec<Vec3>, &[u32])>,
    diagonal: f64,
) -> Vec<f64> {
    let Some((item, (points, of_vertex))) = stage.item(mesh).zip(there) else {
        // What is not there is as far off as can be.
        return vec![f64::INFINITY; target.len().max(1)];
    };
    let first = item.geometry.first_vertex_of_point();
    let place = |v: u32| points.get(*of_vertex.get(v as usize)? as usize).copied();
    let errors = target.iter().zip(first).map(|(target, vertex)| {
        let place = place(vertex).unwrap_or(Vec3::NAN);
        let error = f64::from(target.distance(place)) / diagonal;
        if error.is_nan() { f64::INFINITY } else { error }
    });
    errors.collect()
}

/// The track of a node that shows these frames: weights of `n_targets`, one of them 1 at each key.
pub fn frame_channel(keys: &FrameKeys, n_targets: usize, node: JointIndex) -> Channel {
    let mut values = vec![0.0f32; keys.len() * n_targets];
    for (k, (_, target)) in keys.iter().enumerate() {
        if let Some(target) = target {
            values[k * n_targets + target] = 1.0;
        }
    }
    Channel {
        joint: node,
        property: crate::skeleton::Property::MorphWeights,
        interpolation: crate::skeleton::Interpolation::Linear,
        times: keys.iter().map(|(time, _)| *time).collect(),
        values: values.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(heights: &[f32]) -> Samples {
        Samples {
            times: (0..heights.len()).map(|i| i as f64).collect(),
            positions: heights
                .iter()
                .map(|&y| vec![Vec3::new(0.0, y, 0.0)])
                .collect(),
            node: vec![DMat3::IDENTITY; heights.len()],
        }
    }

    #[test]
    fn straight_runs_keep_their_ends() {
        let kept = |heights: &[f32], tolerance| {
            super::kept(&samples(heights), tolerance, &Task::new()).unwrap()
        };
        assert_eq!(kept(&[0.0; 9], 0.01), [0, 8]);
        let tent = [0.0, 1.0, 2.0, 3.0, 4.0, 2.0, 0.0];
        assert_eq!(kept(&tent, 0.01), [0, 4, 6]);
        assert_eq!(kept(&[1.0], 0.01), [0]);
        // Within a wide tolerance the tip may be cut.
        assert_eq!(kept(&[0.0, 0.1, 0.0], 0.2), [0, 2]);
    }

    #[test]
    fn what_keys_cut_off_is_measured() {
        let frame = |y: f32| Frame {
            positions: vec![Vec3::new(0.0, y, 0.0)],
            ..Frame::default()
        };
        let instance = FramedInstance {
            base: frame(0.0),
            targets: vec![frame(1.0)],
            ..FramedInstance::default()
        };
        let samples = samples(&[0.0, 0.75, 1.0]);
        let off = |keys: &[_]| off(&instance, &samples, keys, &Task::new()).unwrap();
        assert_eq!(off(&[(0, None), (2, Some(0))]), 0.25);
        assert_eq!(off(&[(0, None), (2, None)]), 1.0);
        let stopped = Task::new();
        stopped.cancel();
        assert!(kept(&samples, 0.01, &stopped).is_err());
    }

    #[test]
    fn more_shapes_than_fit_are_refused_in_a_sentence() {
        assert!(afford(MOST_BYTES).is_ok());
        let said = afford(2 * MOST_BYTES).unwrap_err().to_string();
        assert!(
            said.contains("4.0 GB of memory, more than the 2 GB"),
            "{said}"
        );
    }

    #[test]
    fn a_track_shows_one_target_at_a_time() {
        let keys = vec![(0.0, None), (0.5, Some(1)), (1.0, Some(0))];
        let channel = frame_channel(&keys, 2, JointIndex(3));
        assert_eq!(channel.values[..], [0.0, 0.0, 0.0, 1.0, 1.0, 0.0]);
    }
}
