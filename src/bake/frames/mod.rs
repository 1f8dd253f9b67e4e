//! Clips as shapes: one morph target for each needed frame, with linear interpolation between them.
//!
//! Data flow: the keyframes of each clip and the middles between them -> the shape of every skinned instance, in the
//! space of its node, and more where these bend (`refine`) -> the fewest frames between which linear interpolation stays within the tolerance (greedily the
//! farthest next one) -> targets, shared by equal shapes.

mod compare;
mod driven_times;
mod estimate;
mod refine;
mod samples;

pub use compare::compare_frames;
pub(crate) use compare::place_points;
pub use estimate::estimate_frames;

use crate::bake::problem::sampler::{Clips, FrameTime, Sampler};
use crate::bake::static_shapes::into_node;
use crate::deform::InstancePlan;
use crate::document::{ClipId, Document, InstanceId};
use crate::math::Worse;
use crate::skeleton::{Channel, Clip, JointId};
use crate::task::{Cancelled, Task};
use glam::{DAffine3, Vec3};
use refine::{join, times_between};
use samples::{Samples, insert, kept, off, times_of};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The fraction of the tolerance for linear interpolation; the rest is for shared shapes and rounding.
const INTERPOLATION_SHARE: f64 = 0.9;
/// Shapes nearer than this fraction of the tolerance share a target.
const SHARING_SHARE: f64 = 0.05;

/// Between sampled times the shapes bend by no more than about this fraction of the tolerance; as often as intervals are
/// halved for that, which narrows a jump of the shapes within half a second down.
const BETWEEN_SHARE: f64 = 0.05;
const MOST_HALVINGS: usize = 8;

/// The largest memory of shapes, bytes.
const MAX_BYTES: usize = 2_000_000_000;

/// Why frames cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum FramesError {
    /// The task was cancelled.
    #[error("The work was cancelled.")]
    Cancelled(#[from] Cancelled),
    /// The shapes do not fit into memory.
    #[error(
        "Finding frames would take {:.1} GB of memory, more than the {:.0} GB allowed; choose fewer or shorter clips.",
        *bytes as f64 / 1e9,
        MAX_BYTES as f64 / 1e9
    )]
    TooLarge {
        /// Bytes they would take.
        bytes: usize,
    },
}

/// A shape in the space of a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Clip and time, for the target's name.
    pub name: String,
    /// n_points.
    pub positions: Vec<Vec3>,
    /// n_normals, normalised.
    pub normals: Vec<Vec3>,
}

/// Times of clips, seconds, at which a file of frames was found to miss the tolerance; in no order.
pub type MissedTimes = BTreeMap<ClipId, Vec<f64>>;

/// Keyframes of a clip: seconds, ascending, and the target shown there; `None`: the base.
pub type FrameKeys = Vec<(f32, Option<usize>)>;

/// A skinned instance as shapes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FramedInstance {
    /// Whether the shapes are in world space, because the node is flat or mirrors at some time.
    pub freed: bool,
    /// The rest pose.
    pub base: Frame,
    /// The morph targets.
    pub targets: Vec<Frame>,
    /// Keyframes by clip; none where a clip shows only the base.
    pub tracks: BTreeMap<ClipId, FrameKeys>,
    /// The largest error at the keyframes of the clips and in the middle between them, as a fraction of the diagonal.
    pub off: f64,
}

impl FramedInstance {
    /// The points of a target; `None`: of the base.
    fn shape(&self, target: Option<usize>) -> &[Vec3] {
        &target.map_or(&self.base, |t| &self.targets[t]).positions
    }

    fn n_bytes(&self) -> usize {
        let frames = self.targets.iter();
        let vectors = frames.map(|f| f.positions.len() + f.normals.len());
        vectors.sum::<usize>() * size_of::<Vec3>()
    }
}

/// Selects frames and measures their error.
struct Finder<'s, 'a> {
    sampler: &'s Sampler<'a>,
    clips: &'s Clips<'s>,
    /// Sampled times by clip.
    times: &'s [Vec<f64>],
    /// World, metres.
    tolerance: f64,
    task: &'s Task,
}

/// Shapes of all skinned instances of `document` in the clips `played`, which are as the file will have them.
///
/// `tolerance`: the largest error, as a fraction of the diagonal in the rest pose; `missed`: times to be looked at besides.
pub fn frames(
    document: &Document,
    played: &BTreeMap<ClipId, Arc<Clip>>,
    tolerance: f64,
    missed: &MissedTimes,
    task: &Task,
) -> Result<BTreeMap<InstanceId, FramedInstance>, FramesError> {
    task.step("Finding frames", 0.0)?;
    let sampler = Sampler::with_driven(document, task)?;
    let clips = Clips::new(document, played);
    let mut times = times_of(document, &clips);
    for (times, id) in times.iter_mut().zip(&clips.ids) {
        insert(times, missed.get(id).map_or(&[], Vec::as_slice));
    }
    let diagonal = sampler.diagonal();
    let finder = Finder {
        sampler: &sampler,
        clips: &clips,
        times: &times,
        tolerance: tolerance * diagonal,
        task,
    };
    let mut framed = finder.bases()?;
    for (c, times) in times.iter().enumerate() {
        task.step("Finding frames", c as f32 / clips.ids.len() as f32)?;
        finder.add_clip(c, times, &mut framed)?;
    }
    for instance in &mut framed {
        instance.off /= diagonal;
    }
    let ids = sampler.instances.iter().map(|d| d.id);
    Ok(ids.zip(framed).collect())
}

/// The space of the shapes of an instance: its node, or the world.
fn space(sampler: &Sampler<'_>, freed: bool, d: usize, world: &[DAffine3]) -> DAffine3 {
    if freed {
        DAffine3::IDENTITY
    } else {
        world[sampler.instances[d].node.get()]
    }
}

impl Finder<'_, '_> {
    /// By instance: whether its node is flat or mirrors at some time.
    fn freed(&self) -> Result<Vec<bool>, Cancelled> {
        let (sampler, document) = (self.sampler, self.sampler.document);
        let mut freed = vec![false; sampler.instances.len()];
        let mut look = |world: &[DAffine3]| {
            for (freed, drawn) in freed.iter_mut().zip(&sampler.instances) {
                *freed |= into_node(world[drawn.node.get()]).is_none();
            }
        };
        look(
            &document
                .rest_pose()
                .world_matrices(&sampler.player_skeleton),
        );
        for (clip, times) in self.clips.written.iter().zip(self.times) {
            self.task.check()?;
            for &time in times {
                let pose = document.keyed_pose(clip, time);
                look(&pose.world_matrices(&sampler.player_skeleton));
            }
        }
        Ok(freed)
    }

    /// All instances in the rest pose, without targets.
    fn bases(&self) -> Result<Vec<FramedInstance>, Cancelled> {
        let freed = self.freed()?;
        let sampler = self.sampler;
        let rest = sampler.document.rest_pose();
        let rest_world = rest.world_matrices(&sampler.player_skeleton);
        let base = sampler.sample_poses(&[rest.into()], self.task, |_, plans| {
            let frame = |(d, plan): (usize, &InstancePlan)| {
                let into = space(sampler, freed[d], d, &rest_world);
                local_frame(String::new(), plan.positions(), plan.normals(), into)
            };
            plans.iter().enumerate().map(frame).collect::<Vec<_>>()
        })?;
        let framed = base.into_iter().flatten().zip(&freed);
        let framed = framed.map(|(base, &freed)| FramedInstance {
            freed,
            base,
            ..FramedInstance::default()
        });
        Ok(framed.collect())
    }

    /// World transforms of the nodes in a player.
    fn world_at(&self, time: FrameTime) -> Vec<DAffine3> {
        let pose = self.clips.played_pose(self.sampler.document, time);
        pose.world_matrices(&self.sampler.player_skeleton)
    }

    /// The shapes of each instance at `times` of a clip.
    fn samples(
        &self,
        c: usize,
        times: &[f64],
        framed: &[FramedInstance],
    ) -> Result<Vec<Samples>, Cancelled> {
        let of_clip = times_of_clip(c, times);
        let shapes = self
            .sampler
            .sample_times(self.clips, &of_clip, self.task, |t, plans| {
                let world = self.world_at(of_clip[t]);
                let local = |(d, plan): (usize, &InstancePlan)| {
                    let node = space(self.sampler, framed[d].freed, d, &world);
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
        for frame in shapes {
            for (sample, (positions, node)) in samples.iter_mut().zip(frame) {
                sample.positions.push(positions);
                sample.node.push(node);
            }
        }
        Ok(samples)
    }

    /// The shapes of each instance at `times` of a clip, and at times between them where they bend: as many as fit into
    /// memory beside `held` bytes.
    fn course(
        &self,
        c: usize,
        times: &[f64],
        framed: &[FramedInstance],
        held: usize,
    ) -> Result<Vec<Samples>, FramesError> {
        let n_points: usize = framed.iter().map(|f| f.base.positions.len()).sum();
        let bytes = |n_times: usize| held + n_times * n_points * size_of::<Vec3>();
        afford(bytes(times.len()))?;
        let mut samples = self.samples(c, times, framed)?;
        let mut n_times = times.len();
        // A half is off by a quarter.
        let bent = 4.0 * BETWEEN_SHARE * self.tolerance;
        for _ in 0..MOST_HALVINGS {
            let more = times_between(&samples, bent, self.task)?;
            n_times += more.len();
            if more.is_empty() || afford(bytes(n_times)).is_err() {
                break;
            }
            for (samples, more) in samples.iter_mut().zip(self.samples(c, &more, framed)?) {
                join(samples, more);
            }
        }
        Ok(samples)
    }

    /// The selected samples and the target of each; `new`: the samples of new targets.
    fn keys(
        &self,
        instance: &mut FramedInstance,
        sample: &Samples,
        new: &mut Vec<usize>,
    ) -> Result<Vec<(usize, Option<usize>)>, Cancelled> {
        let mut keys = Vec::new();
        for s in kept(sample, INTERPOLATION_SHARE * self.tolerance, self.task)? {
            self.task.check()?;
            keys.push((s, target_of(instance, sample, s, new, self.tolerance)));
        }
        instance.off = instance.off.worse(off(instance, sample, &keys, self.task)?);
        Ok(keys)
    }

    /// Adds the frames of a clip.
    fn add_clip(
        &self,
        c: usize,
        times: &[f64],
        framed: &mut [FramedInstance],
    ) -> Result<(), FramesError> {
        if times.is_empty() {
            return Ok(());
        }
        let held: usize = framed.iter().map(FramedInstance::n_bytes).sum();
        let mut samples = self.course(c, times, framed, held)?;
        // By instance: the sample of each new target.
        let mut new: Vec<Vec<usize>> = vec![Vec::new(); framed.len()];
        for ((instance, sample), new) in framed.iter_mut().zip(&samples).zip(&mut new) {
            self.task.check()?;
            let keys = self.keys(instance, sample, new)?;
            if keys.iter().any(|(_, target)| target.is_some()) {
                let keys = keys.into_iter();
                let keys = keys.map(|(s, target)| (sample.times[s] as f32, target));
                instance.tracks.insert(self.clips.ids[c], keys.collect());
            }
        }
        let times = samples.first_mut().map(|s| std::mem::take(&mut s.times));
        let times = times.unwrap_or_default();
        drop(samples);
        // Normals of the new targets.
        let wanted: BTreeSet<usize> = new.iter().flatten().copied().collect();
        let wanted: Vec<usize> = wanted.into_iter().collect();
        let of_new = framed.iter().zip(&new);
        let n_normals: usize = of_new
            .map(|(f, new)| f.base.normals.len() * new.len())
            .sum();
        let held: usize = framed.iter().map(FramedInstance::n_bytes).sum();
        afford(held + 2 * n_normals * size_of::<Vec3>())?;
        let wanted_times: Vec<f64> = wanted.iter().map(|&s| times[s]).collect();
        let of_clip = times_of_clip(c, &wanted_times);
        let normals = self
            .sampler
            .sample_times(self.clips, &of_clip, self.task, |w, plans| {
                let world = self.world_at(of_clip[w]);
                let local = |(d, plan): (usize, &InstancePlan)| {
                    if new[d].binary_search(&wanted[w]).is_err() {
                        return Vec::new();
                    }
                    let node = space(self.sampler, framed[d].freed, d, &world);
                    local_frame(String::new(), &[], plan.normals(), node).normals
                };
                plans.iter().enumerate().map(local).collect::<Vec<_>>()
            })?;
        for (d, (instance, new)) in framed.iter_mut().zip(&new).enumerate() {
            let first = instance.targets.len() - new.len();
            for (i, s) in new.iter().enumerate() {
                let target = &mut instance.targets[first + i];
                if let Ok(w) = wanted.binary_search(s) {
                    target.normals.clone_from(&normals[w][d]);
                }
                target.name = format!("{} {:.3} s", self.clips.written[c].name, times[*s]);
            }
        }
        Ok(())
    }
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

/// Times of a clip, by its index.
fn times_of_clip(c: usize, times: &[f64]) -> Vec<FrameTime> {
    let time = |&secs: &f64| FrameTime {
        clip: Some(c),
        secs,
    };
    times.iter().map(time).collect()
}

/// Checks that shapes of this size fit into memory.
fn afford(bytes: usize) -> Result<(), FramesError> {
    if bytes > MAX_BYTES {
        return Err(FramesError::TooLarge { bytes });
    }
    Ok(())
}

/// The target equal to a sample, added if there is none; `None`: the base.
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
    // Most unequal shapes differ at the point that moved farthest, so it is compared first.
    let moved = |i: usize| shape[i].distance_squared(base[i]);
    let farthest = (0..shape.len()).max_by(|&a, &b| moved(a).total_cmp(&moved(b)));
    let is_near =
        |a: Vec3, b: Vec3| (node * (a - b).as_dvec3()).length() <= SHARING_SHARE * tolerance;
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

/// The weights channel of a node: one of `n_targets` weights is 1 at each keyframe.
pub fn frame_channel(keys: &FrameKeys, n_targets: usize, node: JointId) -> Channel {
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

    #[test]
    fn more_shapes_than_fit_are_refused_in_a_sentence() {
        assert!(afford(MAX_BYTES).is_ok());
        let said = afford(2 * MAX_BYTES).unwrap_err().to_string();
        assert!(
            said.contains("4.0 GB of memory, more than the 2 GB"),
            "{said}"
        );
    }

    #[test]
    fn a_track_shows_one_target_at_a_time() {
        let keys = vec![(0.0, None), (0.5, Some(1)), (1.0, Some(0))];
        let channel = frame_channel(&keys, 2, JointId(3));
        assert_eq!(channel.values[..], [0.0, 0.0, 0.0, 1.0, 1.0, 0.0]);
    }
}
