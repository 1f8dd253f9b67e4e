//! Painted maps <-> the project format.
//!
//! Only values other than [`MaskKind::UNPAINTED`] are stored: few values as text, many as blocks, one for each span of
//! [`keys::SPAN`] vertices of a primitive. A block holds, in ascending order of vertex: u32 steps to the next vertex,
//! f32 values; all as byte planes.

use super::ProjectError;
use super::block;
use super::keys::{self, Key, SPAN};
use super::v11::{MaskBlock, MaskValue, MeshMask};
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
        .map(|(kind, mask)| {
            let mut entry = MeshMask {
                mesh: id.0,
                name: item.geometry.name.clone(),
                map: kind.into(),
                values: Vec::new(),
                blocks: Vec::new(),
            };
            let painted = painted(&item.geometry, mask);
            (entry.values, entry.blocks) = painted.map_err(|why| ProjectError::Damaged {
                place: place(&entry),
                why,
            })?;
            Ok(entry)
        })
        .collect()
}

/// The painted values of a map, as text or encoded; or why they cannot be encoded.
pub(super) fn painted(
    mesh: &Mesh,
    mask: &PointMask,
) -> Result<(Vec<MaskValue>, Vec<MaskBlock>), String> {
    let points = mask.painted().map(|(point, _)| point).collect();
    let keys = keys::of_points(mesh, points);
    if keys.len() <= MAX_TEXT_VALUES {
        let values = keys.iter().map(|key| MaskValue {
            p: key.primitive,
            v: key.vertex,
            x: mask.get(key.point),
        });
        return Ok((values.collect(), Vec::new()));
    }
    let spans = keys::spans(&keys).into_par_iter();
    let blocks = spans.map(|keys| encode(keys, mask));
    Ok((Vec::new(), blocks.collect::<Result<_, _>>()?))
}

/// The result of [`restore`].
#[derive(Debug, Default)]
pub(super) struct Restored {
    /// Distinct points.
    pub(super) points: Vec<u32>,
    /// One value per point.
    pub(super) values: Vec<f32>,
    /// Values for vertices that the mesh does not have.
    pub(super) n_missing: usize,
    /// Values outside of the map's range.
    pub(super) n_invalid: usize,
    /// Values for a point that already had another one.
    pub(super) n_conflicts: usize,
}

/// The points and values of a map in `mesh`, 0 - `limit`. Fails for a block that cannot be decoded; the error names
/// `place`.
pub(super) fn restore(
    (values, blocks): (&[MaskValue], &[MaskBlock]),
    limit: f32,
    mesh: &Mesh,
    place: &str,
) -> Result<Restored, ProjectError> {
    let damaged = |why: String| ProjectError::Damaged {
        place: place.to_owned(),
        why,
    };
    let n_values: u64 = blocks.iter().map(|b| u64::from(b.n_values)).sum();
    // Values for vertices that the model no longer has are findings; an implausible count is damage.
    if n_values > 4 * mesh.n_vertices() as u64 + u64::from(SPAN) {
        return Err(damaged(format!(
            "it has {n_values} values for {} vertices",
            mesh.n_vertices()
        )));
    }
    let blocks = blocks.par_iter().map(decode);
    let blocks = blocks.collect::<Result<Vec<_>, _>>().map_err(damaged)?;
    let text = values.iter().map(|value| (value.p, value.v, value.x));
    let mut restored = Restored::default();
    let range = 0.0..=limit;
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

/// The place of a map in the file, for messages.
pub(super) fn place(entry: &MeshMask) -> String {
    let map = MaskKind::from(entry.map).label().to_lowercase();
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
