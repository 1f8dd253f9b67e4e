//! What is on screen: deformed meshes and weight colours.

use super::views::DisplayedMeshes;
use crate::deform::MaskKind;
use crate::document::{Document, MeshItem};
use crate::evaluate::{InstanceUpdate, Updated, Worker};
use crate::mesh::{Mesh, SurfaceIndex};
use crate::skinning::influences::CHUNK;
use glam::Vec3;
use std::sync::Arc;

/// A deformed instance as the viewport draws it and tools hit it.
pub struct Displayed {
    /// Names its buffers: no other instance, view or model has the same.
    pub key: u64,
    /// Its geometry.
    pub mesh: Arc<Mesh>,
    /// n_points, world. Shared with the picture that is being drawn.
    pub positions: Arc<Vec<Vec3>>,
    /// n_normals, world, unit.
    pub normals: Arc<Vec<Vec3>>,
    /// Grows whenever positions or normals change.
    pub generation: u64,
    pub(super) index: Option<SurfaceIndex>,
    pub(super) index_stale: bool,
}

/// What the colours on a mesh stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HeatOf {
    /// The weights of a bone, by its index in the influences of the mesh.
    Weights(u16),
    /// A painted map.
    Mask(MaskKind),
}

/// The weight of the active bone, or the value of the map that is painted, at every point of a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    /// What it shows.
    pub of: HeatOf,
    /// n_points. Of weights 0 - 1, or -1 where the bone has no influence at all; of a map the part of its largest value,
    /// 0 - 1.
    pub values: Arc<Vec<f32>>,
    /// How many points the bone moves, or were painted.
    pub n_marked: usize,
    /// Grows whenever a value changes.
    pub generation: u64,
}

impl Heat {
    /// What `of` says at the points of `item`.
    pub(super) fn new(item: &MeshItem, of: HeatOf, generation: u64) -> Self {
        let mut heat = Self {
            of,
            values: Arc::default(),
            n_marked: 0,
            generation,
        };
        heat.values = Arc::new(vec![heat.plain(); item.influences.len()]);
        heat.update(item, 0..item.influences.chunks().len() as u32);
        heat
    }

    /// The value that is hatched, because it says nothing: no influence, or never painted.
    pub fn plain(&self) -> f32 {
        match self.of {
            HeatOf::Weights(_) => -1.0,
            HeatOf::Mask(kind) => MaskKind::UNPAINTED / kind.limit(),
        }
    }

    /// Reads some chunks of points again.
    pub(super) fn update(&mut self, item: &MeshItem, chunks: impl Iterator<Item = u32>) {
        self.generation += 1;
        let plain = self.plain();
        let n_marked = &mut self.n_marked;
        let values = Arc::make_mut(&mut self.values);
        let mut set = |value: &mut f32, new: f32| {
            *n_marked -= usize::from(*value != plain);
            *n_marked += usize::from(new != plain);
            *value = new;
        };
        for chunk in chunks {
            let Some(rows) = item.influences.chunks().get(chunk as usize) else {
                continue;
            };
            let values = values[chunk as usize * CHUNK..].iter_mut();
            match self.of {
                HeatOf::Weights(joint) => {
                    for (value, row) in values.zip(rows.iter()) {
                        let weight = row.weight_of(joint);
                        set(value, if weight > 0.0 { weight } else { plain });
                    }
                }
                HeatOf::Mask(kind) => {
                    let painted = item.masks.chunk(kind, chunk as usize);
                    for (i, value) in values.take(CHUNK).enumerate() {
                        set(value, painted.map_or(plain, |c| c[i] / kind.limit()));
                    }
                }
            }
        }
    }
}

/// Puts a result of the worker on screen and hands its old buffers back.
pub(super) fn apply(
    displayed: &mut DisplayedMeshes,
    next_key: &mut u64,
    document: &Document,
    updated: Updated,
    worker: &Worker,
) {
    let id = updated.instance;
    let geometry = document
        .instances()
        .get(&id)
        .and_then(|i| document.meshes().get(&i.mesh))
        .map(|m| &m.geometry);
    let Some(geometry) = geometry else { return };
    match updated.update {
        InstanceUpdate::Full { positions, normals } => {
            // A result for the model that was open before.
            if positions.len() != geometry.n_points() || normals.len() != geometry.normals.len() {
                return;
            }
            let shown = displayed.entry(id).or_insert_with(|| Displayed {
                key: {
                    *next_key += 1;
                    *next_key
                },
                mesh: geometry.clone(),
                positions: Arc::default(),
                normals: Arc::default(),
                generation: 0,
                index: None,
                index_stale: false,
            });
            if !Arc::ptr_eq(&shown.mesh, geometry) {
                shown.mesh = geometry.clone();
                shown.index = None;
                // Buffers are named after the geometry, too.
                *next_key += 1;
                shown.key = *next_key;
            }
            for (slot, new) in [
                (&mut shown.positions, positions),
                (&mut shown.normals, normals),
            ] {
                // A buffer that the picture still holds is freed by it.
                if let Ok(old) = Arc::try_unwrap(std::mem::replace(slot, Arc::new(new))) {
                    worker.recycle(old);
                }
            }
            shown.generation += 1;
            shown.index_stale = true;
        }
        InstanceUpdate::Sparse { points, normals } => {
            let Some(shown) = displayed
                .get_mut(&id)
                .filter(|s| Arc::ptr_eq(&s.mesh, geometry))
            else {
                return;
            };
            let (shown_positions, shown_normals) = (
                Arc::make_mut(&mut shown.positions),
                Arc::make_mut(&mut shown.normals),
            );
            for (point, position) in points {
                shown_positions[point as usize] = position;
            }
            for (normal, direction) in normals {
                shown_normals[normal as usize] = direction;
            }
            shown.generation += 1;
            shown.index_stale = true;
        }
    }
}
