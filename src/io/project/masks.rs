//! Painted maps <-> the project's words.
//!
//! Only what is not [`MaskKind::UNPAINTED`] is kept: few values as text, many as blocks, one for each span of
//! [`keys::SPAN`] vertices of a primitive. A block holds, in ascending order of vertex: u32 steps to the next vertex, f32
//! values; all as byte planes.
//!
//! [`MaskKind::UNPAINTED`]: crate::deform::MaskKind::UNPAINTED

use super::ProjectError;
use super::block;
use super::format::{MaskBlock, MaskValue, MeshMask};
use super::keys::{self, Key, SPAN};
use crate::deform::{MaskKind, PointMask};
use crate::document::{MeshId, MeshItem};
use crate::mesh::Mesh;
use rayon::prelude::*;

/// More values of a map than this are encoded.
const MAX_TEXT_VALUES: usize = 1024;

/// The painted maps of a mesh.
pub(super) fn collect(id: MeshId, item: &MeshItem) -> Result<Vec<MeshMask>, ProjectError> {
    let masks = item.masks.iter();
    masks
        .map(|(kind, mask)| entry(id, item, kind, mask))
        .collect()
}

fn entry(
    id: MeshId,
    item: &MeshItem,
    kind: MaskKind,
    mask: &PointMask,
) -> Result<MeshMask, ProjectError> {
    let points = mask.painted().map(|(point, _)| point).collect();
    let keys = keys::of_points(&item.geometry, points);
    let mut entry = MeshMask {
        mesh: id.0,
        name: item.geometry.name.clone(),
        map: kind,
        values: Vec::new(),
        blocks: Vec::new(),
    };
    if keys.len() <= MAX_TEXT_VALUES {
        let values = keys.iter().map(|key| MaskValue {
            p: key.primitive,
            v: key.vertex,
            x: mask.get(key.point),
        });
        entry.values = values.collect();
    } else {
        entry.blocks = keys::spans(&keys)
            .into_par_iter()
            .map(|keys| encode(keys, mask))
            .collect::<Result<_, _>>()
            .map_err(|why| ProjectError::Damaged {
                place: place(&entry),
                why,
            })?;
    }
    Ok(entry)
}

/// What [`restore`] found in a project.
#[derive(Debug, Default)]
pub(super) struct Restored {
    /// Distinct points.
    pub(super) points: Vec<u32>,
    /// One a point.
    pub(super) values: Vec<f32>,
    /// Values for vertices that the mesh does not have.
    pub(super) n_missing: usize,
    /// Values outside of the map's range.
    pub(super) n_invalid: usize,
    /// Values for a point that already had another one.
    pub(super) n_conflicts: usize,
}

/// The points and values of `entry` in `mesh`. Fails for a block that does not decode.
pub(super) fn restore(entry: &MeshMask, mesh: &Mesh) -> Result<Restored, ProjectError> {
    let damaged = |why: String| ProjectError::Damaged {
        place: place(entry),
        why,
    };
    let n_values: u64 = entry.blocks.iter().map(|b| u64::from(b.n_values)).sum();
    // Values of a model that has become smaller are findings; numbers beyond any use are damage.
    if n_values > 4 * mesh.n_vertices() as u64 + u64::from(SPAN) {
        return Err(damaged(format!(
            "it has {n_values} values for {} vertices",
            mesh.n_vertices()
        )));
    }
    let blocks = entry.blocks.par_iter().map(decode);
    let blocks = blocks.collect::<Result<Vec<_>, _>>().map_err(damaged)?;
    let text = entry.values.iter().map(|value| (value.p, value.v, value.x));
    let mut restored = Restored::default();
    let range = 0.0..=entry.map.limit();
    let mut value_of_point: Vec<Option<f32>> = vec![None; mesh.n_points()];
    for (primitive, vertex, value) in blocks.into_iter().flatten().chain(text) {
        let slot = keys::point_of(mesh, primitive, vertex)
            .and_then(|point| value_of_point.get_mut(point as usize));
        match slot {
            _ if !range.contains(&value) => restored.n_invalid += 1,
            None => restored.n_missing += 1,
            Some(Some(other)) => {
                restored.n_conflicts += usize::from(other.to_bits() != value.to_bits());
            }
            Some(slot) => *slot = Some(value),
        }
    }
    let painted = (0..).zip(value_of_point);
    (restored.points, restored.values) = painted
        .filter_map(|(point, value)| Some((point, value?)))
        .unzip();
    Ok(restored)
}

/// Where in the file a map stands, for sentences.
pub(super) fn place(entry: &MeshMask) -> String {
    let map = entry.map.label().to_lowercase();
    format!("{map} of mesh {} \"{}\"", entry.mesh, entry.name)
}

fn encode(keys: &[Key], mask: &PointMask) -> Result<MaskBlock, String> {
    let mut bytes = Vec::with_capacity(8 * keys.len());
    block::push_planes(&mut bytes, keys::steps(keys).map(u32::to_le_bytes));
    let values = keys.iter().map(|key| mask.get(key.point));
    block::push_planes(&mut bytes, values.map(f32::to_le_bytes));
    Ok(MaskBlock {
        primitive: keys.first().map_or(0, |key| key.primitive),
        n_values: keys.len() as u32,
        data: block::to_text(&bytes)?,
    })
}

/// (primitive, vertex, value) of each value of a block.
fn decode(block: &MaskBlock) -> Result<Vec<(u32, u32, f32)>, String> {
    let n = block.n_values as usize;
    let bytes = block::from_text(&block.data, 8 * n)?;
    let mut rest = bytes.as_slice();
    let short = || "its encoded data is too short".to_owned();
    let steps = block::take_planes::<4>(&mut rest, n).ok_or_else(short)?;
    let values = block::take_planes::<4>(&mut rest, n).ok_or_else(short)?;
    let mut vertex = 0u32;
    let place = steps.zip(values).map(|(step, value)| {
        vertex = vertex.wrapping_add(u32::from_le_bytes(step));
        (block.primitive, vertex, f32::from_le_bytes(value))
    });
    Ok(place.collect())
}
