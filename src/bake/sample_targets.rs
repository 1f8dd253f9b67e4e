//! Corrective samples as morph targets of the file, for programs that drive targets on their own.

use super::{Baked, BakedMesh, BakedTarget};
use crate::deform::correctives::{Sample, SampleSet};
use crate::document::{ClipId, Document, MeshItem};
use crate::mesh::Mesh;
use crate::skeleton::{Channel, Clip, JointId, Property};
use glam::{Quat, Vec3};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The samples of each mesh as morph targets with their names: at weight 1 their displacement in the bind pose times their
/// strength, and their normals there. `None` where no sample acts. Muted samples, those of sets that are off, and
/// those that move control clusters alone are left out.
///
/// Weight channels of `clips` get zeros for the new targets; nothing else changes.
pub fn sample_targets(document: &Document, clips: &BTreeMap<ClipId, Arc<Clip>>) -> Option<Baked> {
    let mut baked = Baked::default();
    for (&id, item) in document.meshes() {
        let mut instances = document.instances().iter();
        let skinned = instances.find(|(_, i)| i.mesh == id && i.skin.is_some());
        let rotations = skinned.and_then(|(&skinned, _)| document.point_rotations(skinned));
        let unit = rotations.map_or(1.0, |rotations| rotations.unit_scale());
        let targets = targets(item, unit);
        if !targets.is_empty() {
            let mesh = BakedMesh {
                influences: item.influences.clone(),
                reweighted: false,
                targets,
            };
            baked.meshes.insert(id, mesh);
        }
    }
    if baked.meshes.is_empty() {
        return None;
    }
    let widths: BTreeMap<JointId, (usize, usize)> = document
        .instances()
        .values()
        .filter_map(|instance| {
            let own = document.meshes().get(&instance.mesh)?;
            let new = baked.meshes.get(&instance.mesh)?.targets.len();
            Some((instance.joint, (own.geometry.morphs.len(), new)))
        })
        .collect();
    let clips = clips.iter().map(|(&id, clip)| (id, widened(clip, &widths)));
    baked.clips = clips.collect();
    Some(baked)
}

/// `unit`: metres of the world in one unit of the mesh.
fn targets(item: &MeshItem, unit: f64) -> Vec<BakedTarget> {
    let sets = item.correctives.sets().iter();
    let sets = sets.filter(|set| set.fault.is_none());
    let samples = sets.flat_map(|set| set.samples.iter().map(move |sample| (set, sample)));
    let is_whole = |set: &SampleSet, sample: &Sample| !set.needs_patches(sample, &item.clusters);
    let acting = samples.filter(|(set, sample)| sample.acts() && is_whole(set, sample));
    let acting: Vec<_> = acting.collect();
    let is_alone = |name: &str| acting.iter().filter(|(_, s)| s.name == name).count() < 2;
    let target = |(set, sample): &(&Arc<SampleSet>, &Arc<Sample>)| {
        let moved = sample.displacements.iter();
        let factor = (f64::from(sample.strength) / unit) as f32;
        let moved = moved.map(|(point, d)| (point, d * factor));
        let moved: Vec<(u32, Vec3)> = moved.filter(|(_, d)| *d != Vec3::ZERO).collect();
        BakedTarget {
            name: if is_alone(&sample.name) {
                sample.name.clone()
            } else {
                format!("{} {}", set.name, sample.name)
            },
            normals: normals(&item.geometry, &moved),
            positions: moved,
        }
    };
    acting.iter().map(target).collect()
}

/// The deltas of the normals whose faces a displacement rotates in the bind pose: the file's normals follow the mean of
/// their faces by area.
fn normals(mesh: &Mesh, moved: &[(u32, Vec3)]) -> Vec<(u32, Vec3)> {
    let topology = mesh.topology();
    let displaced: BTreeMap<u32, Vec3> = moved.iter().copied().collect();
    let around = moved.iter().flat_map(|(point, _)| topology.faces(*point));
    let corners = around.flat_map(|&face| topology.triangles[face as usize]);
    let points: BTreeSet<u32> = corners.collect();
    let bind = |point: u32| mesh.positions[point as usize];
    let shown = |point: u32| bind(point) + displaced.get(&point).copied().unwrap_or_default();
    let mean = |normal: u32, place: &dyn Fn(u32) -> Vec3| {
        let faces = topology.faces_of_normal(normal).iter();
        let areas = faces.map(|&face| {
            let [a, b, c] = topology.triangles[face as usize].map(place);
            (b - a).cross(c - a)
        });
        areas.sum::<Vec3>().normalize_or_zero()
    };
    let delta = |normal: u32| {
        let (before, after) = (mean(normal, &bind), mean(normal, &shown));
        let known = mesh.normals[normal as usize];
        let is_flat = before == Vec3::ZERO || after == Vec3::ZERO;
        let delta = if is_flat {
            Vec3::ZERO
        } else {
            Quat::from_rotation_arc(before, after) * known - known
        };
        (delta.length() > LEAST_NORMAL).then_some((normal, delta))
    };
    let normals = points
        .into_iter()
        .flat_map(|p| topology.normals_of_point(p));
    normals.filter_map(delta).collect()
}

/// Deltas of normals below this length are left out: a rotation by a hundredth of a degree.
const LEAST_NORMAL: f32 = 1.7e-4;

/// The clip with zeros for new targets. `widths`: for each joint that draws a mesh, its targets so far and the new ones.
fn widened(clip: &Arc<Clip>, widths: &BTreeMap<JointId, (usize, usize)>) -> Arc<Clip> {
    let width = |channel: &Channel| {
        let is_weights = channel.property == Property::MorphWeights;
        let known = widths.get(&channel.joint).copied();
        known.filter(|(own, _)| is_weights && *own > 0)
    };
    if clip.channels.iter().all(|channel| width(channel).is_none()) {
        return clip.clone();
    }
    let mut clip = Clip::clone(clip);
    for channel in &mut clip.channels {
        if let Some((own, new)) = width(channel) {
            let rows = channel.values.chunks(own);
            let wide =
                rows.flat_map(|row| row.iter().copied().chain(std::iter::repeat_n(0.0, new)));
            channel.values = wide.collect();
        }
    }
    Arc::new(clip)
}
