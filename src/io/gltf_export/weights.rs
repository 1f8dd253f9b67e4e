//! Writes edited influences as JOINTS_n and WEIGHTS_n of the primitives that use them.

use super::error::GltfWriteError;
use super::interleaved::Interleaved;
use super::json::index;
use super::patch::{NewAccessor, Patch};
use super::primitives::{attributes, attributes_mut, points_of};
use super::report::ExportReport;
use super::rows::{FittedRow, fit};
use super::slots::{FileSlots, SlotMap};
use super::smaller_weights::smaller_primitives;
use super::uncompress;
use super::written_mesh::{WrittenMesh, is_skinned};
use crate::bake::Baked;
use crate::document::{Document, MeshId, MeshItem};
use crate::io::gltf_json::{ComponentType, Target};
use crate::skinning::{Influences, Rows};
use crate::task::Task;
use ::gltf::json::accessor::Type;
use bytes::Bytes;
use rayon::prelude::*;
use serde_json::Map;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The accessors of JOINTS_n and WEIGHTS_n.
type SetAccessors = (Option<usize>, Option<usize>);

/// A primitive whose weights are rewritten.
struct Job<'a> {
    mesh: MeshId,
    item: &'a MeshItem,
    /// The influences to write.
    influences: &'a Influences,
    primitive: usize,
    /// The slots in the file; `None` where they equal those of the document.
    slots: Option<&'a SlotMap>,
    /// n_points: whether the user edited the point.
    edited: Arc<[bool]>,
    /// The accessors of JOINTS_n and WEIGHTS_n in the source.
    old: Vec<SetAccessors>,
    /// Whether the mesh is corrected to a tolerance, for which weights of 16 bits suffice.
    short: bool,
}

/// Rewrites the influences of every primitive with a point that was edited or `baked`, with invalid weights in the
/// source, or with compressed ones that new points or morph targets uncompress; and those of a mesh with baked morph targets
/// where that frees bytes for these.
///
/// First, all of these primitives are uncompressed. Then the weights of the source are released, and the attributes that were
/// interleaved with them are packed. Last, the new weights are stored.
pub(super) fn patch_weights(
    document: &Document,
    baked: Option<&Baked>,
    slots: &FileSlots,
    limit: usize,
    patch: &mut Patch,
    report: &mut ExportReport,
    task: &Task,
) -> Result<(), GltfWriteError> {
    let mut written = Vec::new();
    let mut dropped = Vec::new();
    for (&mesh, item) in document.meshes() {
        task.check()?;
        if document.kept_weights().contains_key(&mesh) {
            let all = 0..item.geometry.primitives.len();
            let skinned = all.filter(|p| is_skinned(&mut patch.json, mesh, item, *p));
            let skinned: Vec<usize> = skinned.collect();
            for &primitive in &skinned {
                uncompress::uncompress_once(document, patch, mesh, primitive, report)?;
            }
            dropped.push((mesh, item, skinned));
        } else {
            let baked = baked.and_then(|baked| baked.meshes.get(&mesh));
            let found = WrittenMesh::of(document, (mesh, item), baked, slots, patch);
            for &primitive in &found.primitives {
                uncompress::uncompress_once(document, patch, mesh, primitive, report)?;
            }
            written.push(found);
        }
    }
    // Nothing is stored from here to `narrow`, which moves the attributes of interleaved views onto released bytes.
    let interleaved = interleaved_of_kept_points(document, patch);
    let smaller = smaller_primitives(&written, patch, &interleaved);
    let mut jobs = Vec::new();
    for (of_mesh, smaller) in written.iter().zip(smaller) {
        let (mesh, item) = (of_mesh.mesh, of_mesh.item);
        let is_reweighted = of_mesh.baked.is_some_and(|baked| baked.reweighted);
        for &primitive in of_mesh.primitives.iter().chain(&smaller) {
            let old = release(patch, mesh, item, primitive, report)?;
            jobs.push(Job {
                mesh,
                item,
                influences: of_mesh.influences,
                primitive,
                slots: slots.of_mesh(document, mesh),
                edited: of_mesh.edited.clone(),
                old,
                short: is_reweighted || smaller.contains(&primitive),
            });
        }
    }
    for (mesh, item, primitives) in dropped {
        drop_weights((mesh, item), &primitives, patch, report)?;
    }
    patch.narrow(&interleaved);
    let n_jobs = jobs.len();
    // Counted per mesh: a point of several primitives counts once.
    let mut cost: Option<(MeshId, Cost)> = None;
    for (done, job) in jobs.iter().enumerate() {
        task.step("Writing weights", done as f32 / n_jobs as f32)?;
        if cost.as_ref().is_none_or(|(mesh, _)| *mesh != job.mesh) {
            if let Some((mesh, cost)) = cost.take() {
                cost.add_findings(document, mesh, limit, report);
            }
            cost = Some((job.mesh, Cost::default()));
        }
        if let Some((_, cost)) = &mut cost {
            write(job, limit, patch, cost);
        }
    }
    if let Some((mesh, cost)) = cost {
        cost.add_findings(document, mesh, limit, report);
    }
    // Second sets that the new weights do not need.
    patch.settle();
    report.n_primitives_rewritten += n_jobs;
    Ok(())
}

/// The interleaved buffer views without those of reshaped meshes, whose points are written anew afterwards: bytes of packed rows
/// do not become free again.
fn interleaved_of_kept_points(document: &Document, patch: &Patch) -> BTreeMap<usize, Interleaved> {
    let mut interleaved = patch.interleaved();
    for mesh in document.reshaped() {
        let Some(item) = document.meshes().get(mesh) else {
            continue;
        };
        for primitive in 0..item.geometry.primitives.len() {
            let attributes = attributes(&patch.json, *mesh, primitive);
            let accessors = attributes.into_iter().flat_map(Map::values);
            for accessor in accessors.filter_map(|i| index(Some(i))) {
                if let Some(view) = patch.view_of(accessor) {
                    interleaved.remove(&view);
                }
            }
        }
    }
    interleaved
}

/// The changes that fitted the rows of a mesh to the format.
#[derive(Default)]
struct Cost {
    /// Points in the order of their first vertex, may repeat.
    reduced: Vec<u32>,
    pinned: Vec<u32>,
    largest_lost: f32,
}

impl Cost {
    fn count(points: &mut Vec<u32>) -> usize {
        points.sort_unstable();
        points.dedup();
        points.len()
    }

    fn add_findings(
        mut self,
        document: &Document,
        mesh: MeshId,
        limit: usize,
        report: &mut ExportReport,
    ) {
        let name = document
            .meshes()
            .get(&mesh)
            .map_or("", |item| item.geometry.name.as_str());
        let n_reduced = Self::count(&mut self.reduced);
        if n_reduced > 0 {
            report.reduced(mesh, name, n_reduced, limit, self.largest_lost);
        }
        let n_pinned = Self::count(&mut self.pinned);
        if n_pinned > 0 {
            report.pinned(mesh, name, n_pinned);
        }
    }
}

/// Takes the influences of an unbound mesh from its primitives: without a skin they mean nothing (glTF 2.0, 3.7.3.3).
fn drop_weights(
    (mesh, item): (MeshId, &MeshItem),
    primitives: &[usize],
    patch: &mut Patch,
    report: &mut ExportReport,
) -> Result<(), GltfWriteError> {
    for &primitive in primitives {
        let old = release(patch, mesh, item, primitive, report)?;
        if let Some(attributes) = attributes_mut(&mut patch.json, mesh, primitive) {
            for set in 0..old.len() {
                attributes.shift_remove(&format!("JOINTS_{set}"));
                attributes.shift_remove(&format!("WEIGHTS_{set}"));
            }
        }
        report.n_primitives_rewritten += 1;
    }
    Ok(())
}

/// Releases the accessors of a primitive's influences.
fn release(
    patch: &mut Patch,
    mesh: MeshId,
    item: &MeshItem,
    primitive: usize,
    report: &mut ExportReport,
) -> Result<Vec<SetAccessors>, GltfWriteError> {
    let expected = points_of(item, primitive).len();
    let missing = GltfWriteError::PrimitiveMissing {
        mesh: mesh.0,
        primitive,
    };
    let attributes = attributes_mut(&mut patch.json, mesh, primitive).ok_or(missing)?;
    let positions = index(attributes.get("POSITION"));
    let mut old = Vec::new();
    for set in 0.. {
        let joints = index(attributes.get(&format!("JOINTS_{set}")));
        let weights = index(attributes.get(&format!("WEIGHTS_{set}")));
        if joints.is_none() && weights.is_none() {
            break;
        }
        old.push((joints, weights));
    }
    let found = positions
        .and_then(|i| patch.json.get("accessors")?.get(i))
        .and_then(|accessor| index(accessor.get("count")))
        .unwrap_or(0);
    if found != expected {
        return Err(GltfWriteError::VertexCount {
            mesh: mesh.0,
            primitive,
            found,
            expected,
        });
    }
    let accessors = old.iter().flat_map(|&(j, w)| [j, w]).flatten();
    if accessors
        .clone()
        .any(|accessor| patch.is_compressed(accessor))
    {
        report.uncompressed(mesh, primitive, "meshopt", "weights");
    }
    for accessor in accessors {
        patch.release(Some(accessor));
    }
    Ok(old)
}

fn write(job: &Job<'_>, limit: usize, patch: &mut Patch, cost: &mut Cost) {
    let points = points_of(job.item, job.primitive);
    let rows: Vec<FittedRow> = points
        .par_iter()
        .map(|&point| {
            let is_edited = job.edited.get(point as usize) == Some(&true);
            let row = job.influences.row(point);
            let mut row = match job.slots {
                Some(slots) => {
                    let kept = row
                        .iter()
                        .filter_map(|(slot, w)| Some((slots.get(slot)?, w)));
                    let kept: Rows = std::iter::once(kept.collect::<Vec<_>>()).collect();
                    fit(kept.row(0), is_edited, limit)
                }
                None => fit(row, is_edited, limit),
            };
            if job.short {
                // A weight that rounds to 0 in 16 bits needs no joint.
                row.pairs.retain(|&(_, weight)| weight >= 1.0 / 65535.0);
            }
            row
        })
        .collect();
    for (row, &point) in rows.iter().zip(points) {
        if row.lost > 0.0 {
            cost.reduced.push(point);
            cost.largest_lost = cost.largest_lost.max(row.lost);
        }
        if row.pinned {
            cost.pinned.push(point);
        }
    }
    let longest = rows.iter().map(|row| row.pairs.len()).max().unwrap_or(0);
    let n_sets = longest.div_ceil(4).max(1);
    for set in 0..n_sets {
        let (old_joints, old_weights) = job.old.get(set).copied().unwrap_or_default();
        let joints = patch.put_shared(encode_joints(&rows, set, old_joints));
        let weights = patch.put_shared(if job.short && n_sets == 1 {
            encode_short_weights(&rows, old_weights)
        } else {
            encode_weights(&rows, set, old_weights)
        });
        if let Some(attributes) = attributes_mut(&mut patch.json, job.mesh, job.primitive) {
            attributes.insert(format!("JOINTS_{set}"), joints.into());
            attributes.insert(format!("WEIGHTS_{set}"), weights.into());
        }
    }
    if let Some(attributes) = attributes_mut(&mut patch.json, job.mesh, job.primitive) {
        for set in n_sets..job.old.len() {
            attributes.shift_remove(&format!("JOINTS_{set}"));
            attributes.shift_remove(&format!("WEIGHTS_{set}"));
        }
    }
}

/// The four influences of a set, padded with joint 0 and weight 0.
fn quad(row: &FittedRow, set: usize) -> [(u16, f32); 4] {
    std::array::from_fn(|i| row.pairs.get(4 * set + i).copied().unwrap_or_default())
}

fn encode_joints(rows: &[FittedRow], set: usize, replaces: Option<usize>) -> NewAccessor {
    let joints = || {
        rows.iter()
            .flat_map(|row| quad(row, set).map(|(joint, _)| joint))
    };
    let (component, bytes) = match joints().map(u8::try_from).collect::<Result<Vec<u8>, _>>() {
        Ok(bytes) => (ComponentType::U8, bytes),
        Err(_) => (
            ComponentType::U16,
            joints().flat_map(u16::to_le_bytes).collect(),
        ),
    };
    vec4(rows.len(), component, bytes, replaces)
}

fn encode_weights(rows: &[FittedRow], set: usize, replaces: Option<usize>) -> NewAccessor {
    let bytes = rows
        .iter()
        .flat_map(|row| quad(row, set).map(|(_, weight)| weight.to_le_bytes()))
        .flatten()
        .collect();
    vec4(rows.len(), ComponentType::F32, bytes, replaces)
}

/// The weights of one set as normalised u16 that sum to 65535: the largest absorbs the rounding.
fn encode_short_weights(rows: &[FittedRow], replaces: Option<usize>) -> NewAccessor {
    let mut bytes = Vec::with_capacity(8 * rows.len());
    for row in rows {
        let weights = quad(row, 0).map(|(_, weight)| f64::from(weight));
        let sum: f64 = weights.iter().sum();
        let mut short = weights.map(|w| (w / sum * 65535.0).round() as i32);
        let rest = 65535 - short.iter().sum::<i32>();
        if let Some(largest) = short.iter_mut().max() {
            *largest += rest;
        }
        bytes.extend(short.iter().flat_map(|&w| (w as u16).to_le_bytes()));
    }
    NewAccessor {
        normalized: true,
        ..vec4(rows.len(), ComponentType::U16, bytes, replaces)
    }
}

fn vec4(
    count: usize,
    component: ComponentType,
    bytes: Vec<u8>,
    replaces: Option<usize>,
) -> NewAccessor {
    NewAccessor {
        replaces,
        component,
        kind: Type::Vec4,
        normalized: false,
        count,
        bytes: Bytes::from(bytes),
        target: Some(Target::ArrayBuffer),
        bounds: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_filled_four_at_a_time_and_padded_with_zeros() {
        let row = FittedRow {
            pairs: (1..=5).map(|j| (j, 0.2)).collect(),
            ..Default::default()
        };
        let rows = [row];
        assert_eq!(&encode_joints(&rows, 0, None).bytes[..], [1, 2, 3, 4]);
        assert_eq!(&encode_joints(&rows, 1, None).bytes[..], [5, 0, 0, 0]);
        let weights = encode_weights(&rows, 1, None);
        assert_eq!(weights.bytes[..4], 0.2f32.to_le_bytes());
        assert_eq!(weights.bytes[4..], [0; 12]);
    }

    #[test]
    fn weights_in_16_bits_sum_to_the_whole() {
        let row = FittedRow {
            pairs: vec![(1, 1.0 / 3.0), (2, 1.0 / 3.0), (3, 1.0 / 3.0)],
            ..Default::default()
        };
        let weights = encode_short_weights(&[row], None);
        let short: Vec<u16> = weights
            .bytes
            .chunks_exact(2)
            .map(|b| u16::from_le_bytes([b[0], b[1]]))
            .collect();
        assert_eq!(short.iter().map(|&w| u32::from(w)).sum::<u32>(), 65535);
        assert!(weights.normalized && short[3] == 0);
    }

    #[test]
    fn joints_beyond_255_take_two_bytes() {
        let row = FittedRow {
            pairs: vec![(256, 1.0)],
            ..Default::default()
        };
        let joints = encode_joints(&[row], 0, None);
        assert_eq!(
            (joints.component, &joints.bytes[..2]),
            (ComponentType::U16, &[0, 1][..])
        );
    }
}
