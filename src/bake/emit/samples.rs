//! Corrective samples as morph targets that engines drive in any clip.
//!
//! Stage 7 of the stack adds `R d` to a point. A morph target adds `A m` with A the blended matrix of the file's joints and
//! helpers, so at the pose of its sample `m = A^-1 R d` moves each point by what the sample moves it. In other poses the
//! two differ as far as A is no rotation: hardly, where helpers follow dual quaternion blends.

use super::add_tracks;
use super::targets::MorphTargets;
use crate::bake::problem::Problem;
use crate::bake::problem::group::{Group, GroupMesh};
use crate::bake::problem::key_times::{key_jumps, key_times, step_jumps};
use crate::bake::problem::rows::{WeightRow, blended};
use crate::bake::problem::sampler::FrameTime;
use crate::bake::solve::{MeshSolution, Solution};
use crate::bake::{Baked, BakedMesh, BakedTarget, TRAINING_CLIP};
use crate::deform::correctives::{Driver, WeightsWork};
use crate::deform::{InstancePlan, carried};
use crate::document::{Document, MeshItem};
use crate::mesh::Mesh;
use crate::psd::PoseInterpolation;
use crate::skeleton::{Channel, Pose, PoseAt};
use crate::task::Cancelled;
use glam::{DAffine3, DVec3, Quat, Vec3};
use std::collections::{BTreeMap, BTreeSet};

/// Where A^-1 makes a displacement longer by more than this factor, the surface has collapsed: the displacement is taken
/// as it is.
const MAX_GAIN: f64 = 4.0;
/// Shorter normal deltas are left out: 0.06 degrees.
const MIN_NORMAL_DELTA: f32 = 1e-3;

/// Adds the samples of the group's meshes in `document`, whose stacks the problem has without them. `solved`: the solution
/// of the group, if it needed one.
pub(crate) fn add(
    baked: &mut Baked,
    problem: &Problem<'_>,
    group: &Group,
    solved: Option<&Solution>,
    document: &Document,
) -> Result<(), Cancelled> {
    let mut tracks: Vec<Vec<Channel>> = vec![Vec::new(); problem.clips.ids.len()];
    let movers = group.movers(problem.sampler);
    let rest = document.rest_pose();
    let keys: Vec<Vec<f32>> = match solved {
        Some(solved) => solved.keys.clone(),
        // Keyframes of clusters are no times of these: without a solution clusters are left out, and the export says so.
        None => {
            let clips = problem.clips.written.iter();
            let keys = clips.map(|clip| {
                let mut keys = key_times(clip, rest, &movers);
                key_jumps(&mut keys, step_jumps(clip, &movers));
                keys
            });
            keys.collect()
        }
    };
    let unsolved = || vec![false; keys.len()];
    let stepped = solved.map_or_else(unsolved, |solved| solved.stepped.clone());
    for (i, part) in group.meshes.iter().enumerate() {
        let Some(item) = document.meshes().get(&part.mesh) else {
            continue;
        };
        if !item.correctives.acts() {
            continue;
        }
        // Sets that are off come last.
        let solved_sets = item.correctives.interpolations().iter();
        let n_solved = solved_sets.map(PoseInterpolation::n_samples).sum();
        let sets = item.correctives.sets().iter();
        let by_set = sets.flat_map(|set| set.samples.iter().map(move |sample| (set, sample)));
        let samples = by_set
            .enumerate()
            .take(n_solved)
            .filter(|(_, (set, sample))| {
                sample.acts() && !set.needs_patches(sample, &item.clusters)
            });
        let samples: Vec<usize> = samples.map(|(s, _)| s).collect();
        let solution = solved.map(|solved| (solved, &solved.meshes[i]));
        let displacements = displacements(problem, part, solution, item, &samples)?;
        let targets = samples.iter().zip(&displacements).map(|(&s, moved)| {
            let sample = &item.correctives.samples()[s];
            BakedTarget {
                name: sample.name.clone(),
                positions: moved.clone(),
                normals: if problem.options.normals {
                    normal_deltas(&part.geometry, moved)
                } else {
                    Vec::new()
                },
            }
        });
        let targets: Vec<BakedTarget> = targets.collect();
        let weights = weights(problem, part, &keys, document, &samples)?;
        let unit_scale = solved.map_or(1.0, |solved| solved.unit_scale);
        let morphs = MorphTargets::of_samples(targets, &weights, &part.geometry, unit_scale);
        for (instance, &d) in part.instances.iter().enumerate() {
            morphs.add_channels(problem, d, instance, (&keys, &stepped), &mut tracks);
        }
        morphs.widen_others(problem, part, &mut tracks);
        let mesh = baked.meshes.entry(part.mesh).or_insert_with(|| BakedMesh {
            influences: item.influences.clone(),
            reweighted: false,
            targets: Vec::new(),
        });
        mesh.targets = morphs.targets;
        baked.samples.insert(part.mesh, samples);
    }
    add_tracks(baked, problem, tracks);
    Ok(())
}

/// The displacements of each sample, mesh space, at the sample's pose in the first instance of the mesh.
fn displacements(
    problem: &Problem<'_>,
    part: &GroupMesh,
    solution: Option<(&Solution, &MeshSolution)>,
    item: &MeshItem,
    samples: &[usize],
) -> Result<Vec<Vec<(u32, Vec3)>>, Cancelled> {
    let (sampler, correctives) = (problem.sampler, &item.correctives);
    let skeleton = sampler.document.skeleton();
    let sets = correctives.sets().iter();
    let by_set: Vec<_> = sets
        .flat_map(|set| set.samples.iter().map(move |sample| (set, sample)))
        .collect();
    let poses = samples.iter().map(|&s| {
        let mut pose = Pose::clone(sampler.document.rest_pose());
        let (set, sample) = by_set[s];
        correctives.pose(set, sample, skeleton, &mut pose.locals);
        sampler.document.constrain(&mut pose);
        pose
    });
    let poses: Vec<Pose> = poses.collect();
    let Some(&d) = part.instances.first() else {
        return Ok(vec![Vec::new(); samples.len()]);
    };
    let mut rows: BTreeMap<u32, &WeightRow> = BTreeMap::new();
    if let Some((_, mesh)) = solution {
        rows.extend(part.active.iter().copied().zip(&mesh.rows));
    }
    let joint_set = sampler.instances[d].joint_set;
    let codebook = solution.map_or(&[][..], |(solved, _)| &solved.codebook[..]);
    let helpers = match solution {
        Some((solved, _)) if solved.helpers.iter().all(Vec::is_empty) => &[][..],
        _ => codebook,
    };
    let Some(stack) = sampler.item(part.mesh).map(|item| &item.stack) else {
        return Ok(vec![Vec::new(); samples.len()]);
    };
    let moved = |s: usize, plans: &[InstancePlan]| {
        let world = poses[s].world_matrices(&sampler.player_skeleton);
        let frame = sampler.joint_set_frame(joint_set, plans, &world);
        let helpers: Vec<DAffine3> = helpers.iter().map(|row| frame.blend(row)).collect();
        let matrices = frame.with_helpers(&helpers);
        let (set, sample) = by_set[samples[s]];
        let mut moved = Vec::with_capacity(sample.displacements.n_points());
        for (point, displacement) in sample.displacements.iter() {
            let displacement = displacement * sample.strength;
            let carried = carried(&plans[d], stack, &item.masks, set, (point, displacement));
            let (Some(carried), Some(own)) = (carried, part.file_weights.get(point as usize))
            else {
                continue;
            };
            let row = rows.get(&point).map_or(own, |row| *row);
            let matrix = blended(row, &matrices).matrix3;
            let through = matrix.inverse() * carried;
            let plain = displacement.as_dvec3() / frame.unit_scale;
            // NaN of a singular matrix fails the comparison, too.
            let is_sound = through.length() <= MAX_GAIN * plain.length();
            moved.push((point, if is_sound { through } else { plain }.as_vec3()));
        }
        moved
    };
    let at: Vec<PoseAt<'_>> = poses.iter().map(PoseAt::from).collect();
    sampler.sample_poses(&at, problem.task, moved)
}

/// The weights of the samples by instance, clip and keyframe; empty for clips that are not in the file or not corrected.
fn weights(
    problem: &Problem<'_>,
    part: &GroupMesh,
    keys: &[Vec<f32>],
    document: &Document,
    samples: &[usize],
) -> Result<Vec<Vec<Vec<Vec<f64>>>>, Cancelled> {
    let Some(item) = document.meshes().get(&part.mesh) else {
        return Ok(Vec::new());
    };
    let correctives = &item.correctives;
    let (sampler, clips) = (problem.sampler, problem.clips);
    let skeleton = sampler.document.skeleton();
    let mut work = WeightsWork::default();
    // Under another skin the bones of that one drive the samples.
    let drawn = part.instances.iter().map(|&d| sampler.instances[d].id);
    let drivers = drawn.map(|id| document.drivers_of(document.instances().get(&id)?));
    let drivers: Vec<Option<Vec<Driver>>> = drivers.collect();
    let mut by_instance = vec![Vec::with_capacity(keys.len()); drivers.len()];
    for (clip, times) in keys.iter().enumerate() {
        let is_written = clips.ids[clip] != TRAINING_CLIP && problem.corrected[clip];
        let mut rows = vec![Vec::new(); drivers.len()];
        for &time in times.iter().filter(|_| is_written) {
            problem.task.check()?;
            let time = FrameTime {
                clip: Some(clip),
                secs: f64::from(time),
            };
            let pose = clips.authored_pose(sampler.document, time);
            for (drivers, rows) in drivers.iter().zip(&mut rows) {
                let drivers = drivers.as_deref();
                let all = correctives.weights_by(drivers, skeleton, &pose.locals, &mut work);
                rows.push(samples.iter().map(|&s| all[s]).collect());
            }
        }
        for (by_clip, rows) in by_instance.iter_mut().zip(rows) {
            by_clip.push(rows);
        }
    }
    Ok(by_instance)
}

/// The deltas of the normals around displaced points: each normal rotates as the area-weighted normal of its point does.
fn normal_deltas(mesh: &Mesh, moved: &[(u32, Vec3)]) -> Vec<(u32, Vec3)> {
    let topology = mesh.topology();
    let displacement_of: BTreeMap<u32, Vec3> = moved.iter().copied().collect();
    let touched: BTreeSet<u32> = moved
        .iter()
        .flat_map(|&(point, _)| topology.neighbours(point).iter().copied().chain([point]))
        .collect();
    let position = |point: u32, is_moved: bool| -> DVec3 {
        let d = displacement_of.get(&point).filter(|_| is_moved);
        (mesh.positions[point as usize] + d.copied().unwrap_or_default()).as_dvec3()
    };
    let area_normal = |point: u32, is_moved: bool| -> DVec3 {
        let faces = topology.faces(point).iter();
        let corners = faces.map(|&face| topology.triangles[face as usize]);
        let areas = corners.map(|corners| {
            let [a, b, c] = corners.map(|corner| position(corner, is_moved));
            (b - a).cross(c - a)
        });
        areas.sum::<DVec3>().normalize_or_zero()
    };
    let mut deltas = Vec::new();
    let mut first = 0;
    for point in touched {
        let (before, after) = (area_normal(point, false), area_normal(point, true));
        if before == DVec3::ZERO || after == DVec3::ZERO {
            continue;
        }
        let rotation = Quat::from_rotation_arc(before.as_vec3(), after.as_vec3());
        // Normals are sorted by point, as the touched points are.
        first += mesh.point_of_normal[first..].partition_point(|&p| p < point);
        let own = (first..mesh.normals.len()).take_while(|&n| mesh.point_of_normal[n] == point);
        for n in own {
            let delta = rotation * mesh.normals[n] - mesh.normals[n];
            if delta.is_finite() && delta.length() > MIN_NORMAL_DELTA {
                deltas.push((n as u32, delta));
            }
        }
    }
    deltas
}
