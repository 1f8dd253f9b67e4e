//! The error of a written file of frames, compared with the deformer stacks.

use crate::bake::compare::{Comparison, InstanceErrors};
use crate::bake::compared_times::compared_times;
use crate::bake::problem::sampler::{Clips, Sampler};
use crate::document::{ClipId, Document, InstanceId, MeshId};
use crate::math::Worse;
use crate::skeleton::Clip;
use crate::task::{Cancelled, Task};
use glam::{DAffine3, Vec3};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The bin width of the error histogram, as a fraction of the diagonal.
const BIN: f64 = 2e-6;
const N_BINS: usize = 100_000;

/// Compares the stacks of `seen` with `shown`, read from a file of frames: at all keyframes of both, in the middle
/// between them, and at other times.
///
/// `clips`: the clips of `seen` as written; `nodes`: the instance of `shown` for each of `seen`.
pub fn compare_frames(
    seen: &Document,
    shown: &Document,
    clips: &BTreeMap<ClipId, Arc<Clip>>,
    nodes: &BTreeMap<InstanceId, InstanceId>,
    task: &Task,
) -> Result<Comparison, Cancelled> {
    let sampler = Sampler::with_driven(seen, task)?;
    let own = Clips::new(seen, clips);
    let diagonal = sampler.diagonal();
    let mut comparison = Comparison {
        diagonal,
        ..Comparison::default()
    };
    let read: Vec<&Clip> = shown.clips().values().map(AsRef::as_ref).collect();
    if read.len() != own.ids.len() {
        // The clips do not match: the error is unknown.
        comparison.max = f64::INFINITY;
        return Ok(comparison);
    }
    let mut counts = vec![0u64; N_BINS + 1];
    let (mut square, mut n) = (0.0, 0u64);
    for (c, &id) in own.ids.iter().enumerate() {
        task.step("Verifying the file", c as f32 / read.len() as f32)?;
        let mut times = compared_times(read[c]);
        times.extend(compared_times(own.written[c]));
        times.sort_by(f64::total_cmp);
        times.dedup();
        let mut of_clip = 0.0f64;
        for stretch in times.chunks(64) {
            let errors = sampler.sample_times((&own, c), stretch, task, |t, plans| {
                let pose = shown.keyed_pose(read[c], stretch[t]);
                let world = pose.world_matrices(shown.skeleton());
                let errors = sampler.instances.iter().zip(plans).map(|(drawn, plan)| {
                    let there = nodes.get(&drawn.id);
                    let there =
                        there.and_then(|id| place_points(shown, *id, &pose.morph_weights, &world));
                    errors_of(
                        &sampler,
                        drawn.mesh,
                        plan.positions(),
                        there.as_ref(),
                        diagonal,
                    )
                });
                errors.collect::<Vec<_>>()
            })?;
            for (&time, errors) in stretch.iter().zip(errors) {
                let all = errors.iter().flatten();
                of_clip = of_clip.worse(all.copied().fold(0.0, f64::worse));
                for (d, errors) in errors.into_iter().enumerate() {
                    for (point, error) in errors.into_iter().enumerate() {
                        square += error * error;
                        n += 1;
                        counts[((error / BIN) as usize).min(N_BINS)] += 1;
                        if comparison.worst.is_none() || error > comparison.max {
                            comparison.max = error;
                            comparison.worst = Some(InstanceErrors {
                                clip: id,
                                time,
                                instance: sampler.instances[d].id,
                                mesh: sampler.instances[d].mesh,
                                point: point as u32,
                                error,
                            });
                        }
                    }
                }
            }
        }
        comparison.by_clip.insert(id, of_clip);
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
            // The last bin has no upper end.
            let end = if step < N_BINS {
                (step + 1) as f64 * BIN
            } else {
                f64::INFINITY
            };
            comparison.p999 = end.min(comparison.max);
            break;
        }
    }
    Ok(comparison)
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

/// Errors by point of the first, as fractions of the diagonal.
fn errors_of(
    sampler: &Sampler<'_>,
    mesh: MeshId,
    target: &[Vec3],
    there: Option<&(Vec<Vec3>, &[u32])>,
    diagonal: f64,
) -> Vec<f64> {
    let Some((item, (points, of_vertex))) = sampler.item(mesh).zip(there) else {
        // A missing instance has an infinite error.
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
