//! The deformed meshes on screen.

use super::weight_colours::{HeatChange, MAX_CHANGES};
use crate::document::{Document, InstanceId};
use crate::evaluate::{InstanceUpdate, Updated, Worker};
use crate::math::same_bits;
use crate::mesh::{Mesh, SurfaceIndex};
use crate::skinning::influences::CHUNK;
use glam::Vec3;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The meshes of one view.
pub type DisplayedMeshes = BTreeMap<InstanceId, Displayed>;

/// A deformed instance, as the viewport draws it and tools pick it.
pub struct Displayed {
    /// Identifies its GPU buffers: unique among instances, views and models.
    pub key: u64,
    /// The geometry.
    pub mesh: Arc<Mesh>,
    /// n_points, world space. Shared with the frame being drawn.
    pub positions: Arc<Vec<Vec3>>,
    /// n_normals, world space, unit length.
    pub normals: Arc<Vec<Vec3>>,
    /// Increases whenever positions or normals change.
    pub generation: u64,
    /// The chunks of positions that changed last, by consecutive generation; an older generation means that everything
    /// changed.
    pub position_changes: Arc<Vec<HeatChange>>,
    /// The same for normals.
    pub normal_changes: Arc<Vec<HeatChange>>,
    pub(super) index: Option<Arc<SurfaceIndex>>,
    pub(super) index_stale: bool,
    /// Faces that moved while a stroke shared the index.
    pub(super) unfitted: Vec<u32>,
}

/// Records the chunks of `changed`, ascending, for `generation`.
fn note(changes: &mut Vec<HeatChange>, generation: u64, changed: &[(u32, Vec3)]) {
    let mut chunks: Vec<u32> = changed.iter().map(|(i, _)| i / CHUNK as u32).collect();
    chunks.dedup();
    if changes.len() == MAX_CHANGES {
        changes.remove(0);
    }
    changes.push((generation, chunks.into()));
}

/// Refitting the whole BVH is faster once more than 1 / `REFIT_DIVISOR` of the triangles moved.
const REFIT_DIVISOR: usize = 8;

impl Displayed {
    /// Takes new positions and normals; unchanged chunks are neither copied nor uploaded again.
    fn take(&mut self, mut points: Vec<(u32, Vec3)>, mut normals: Vec<(u32, Vec3)>) {
        points.retain(|(point, position)| !same_bits(self.positions[*point as usize], *position));
        normals
            .retain(|(normal, direction)| !same_bits(self.normals[*normal as usize], *direction));
        if !points.is_empty() {
            let positions = Arc::make_mut(&mut self.positions);
            for &(point, position) in &points {
                positions[point as usize] = position;
            }
        }
        if !normals.is_empty() {
            let shown = Arc::make_mut(&mut self.normals);
            for &(normal, direction) in &normals {
                shown[normal as usize] = direction;
            }
        }
        if !points.is_empty() || !normals.is_empty() {
            self.generation += 1;
            let changes = Arc::make_mut(&mut self.position_changes);
            note(changes, self.generation, &points);
            let changes = Arc::make_mut(&mut self.normal_changes);
            note(changes, self.generation, &normals);
        }
        let moved: Vec<u32> = points.into_iter().map(|(point, _)| point).collect();
        self.follow(&moved);
    }

    /// Refits the BVH to the moved points, so that picking stays fast on large meshes.
    fn follow(&mut self, moved: &[u32]) {
        if self.index_stale || self.index.is_none() {
            self.index_stale |= !moved.is_empty();
            return;
        }
        let topology = self.mesh.topology();
        let mut faces: Vec<u32> = moved
            .iter()
            .flat_map(|&point| topology.faces(point).iter().copied())
            .collect();
        faces.sort_unstable();
        faces.dedup();
        let limit = topology.triangles.len() / REFIT_DIVISOR;
        if faces.len() + self.unfitted.len() > limit {
            self.index_stale = true;
            self.unfitted.clear();
        } else if let Some(index) = self.index.as_mut().and_then(Arc::get_mut) {
            index.move_triangles(faces, &topology.triangles, &self.positions);
        } else {
            self.unfitted.extend(faces);
        }
    }
}

/// Puts a result of the worker on screen and returns the old buffers to it.
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
            // A result for the previous model.
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
                position_changes: Arc::default(),
                normal_changes: Arc::default(),
                index: None,
                index_stale: false,
                unfitted: Vec::new(),
            });
            if !Arc::ptr_eq(&shown.mesh, geometry) {
                shown.mesh = geometry.clone();
                shown.index = None;
                // The GPU buffers depend on the geometry, too.
                *next_key += 1;
                shown.key = *next_key;
            }
            for (slot, new) in [
                (&mut shown.positions, positions),
                (&mut shown.normals, normals),
            ] {
                // A buffer still in use by the frame being drawn is freed with that frame.
                if let Ok(old) = Arc::try_unwrap(std::mem::replace(slot, Arc::new(new))) {
                    worker.recycle(old);
                }
            }
            shown.generation += 1;
            shown.position_changes = Arc::default();
            shown.normal_changes = Arc::default();
            shown.index_stale = true;
            shown.unfitted.clear();
        }
        InstanceUpdate::Sparse { points, normals } => {
            let Some(shown) = displayed
                .get_mut(&id)
                .filter(|s| Arc::ptr_eq(&s.mesh, geometry))
            else {
                return;
            };
            shown.take(points, normals);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_did_not_move_is_neither_copied_nor_drawn_again() {
        let mut shown = Displayed {
            key: 1,
            mesh: Arc::default(),
            positions: Arc::new(vec![Vec3::ZERO, Vec3::X]),
            normals: Arc::new(vec![Vec3::Y]),
            generation: 7,
            position_changes: Arc::default(),
            normal_changes: Arc::default(),
            index: None,
            index_stale: false,
            unfitted: Vec::new(),
        };
        let (positions, normals) = (shown.positions.clone(), shown.normals.clone());
        shown.take(vec![(1, Vec3::X)], vec![(0, Vec3::Y)]);
        assert_eq!((shown.generation, shown.index_stale), (7, false));
        assert!(Arc::ptr_eq(&positions, &shown.positions));
        assert!(Arc::ptr_eq(&normals, &shown.normals));
        shown.take(vec![(0, Vec3::ZERO), (1, Vec3::Z)], vec![(0, Vec3::Y)]);
        assert_eq!((shown.generation, shown.index_stale), (8, true));
        assert_eq!(*shown.positions, [Vec3::ZERO, Vec3::Z]);
        assert!(Arc::ptr_eq(&normals, &shown.normals));
        shown.take(Vec::new(), vec![(0, Vec3::Z)]);
        assert_eq!((shown.generation, shown.normals[0]), (9, Vec3::Z));
        let changes = |changes: &[HeatChange]| -> Vec<(u64, Vec<u32>)> {
            changes.iter().map(|(g, c)| (*g, c.to_vec())).collect()
        };
        let moved = [(8, vec![0]), (9, vec![])];
        assert_eq!(changes(&shown.position_changes), moved);
        let turned = [(8, vec![]), (9, vec![0])];
        assert_eq!(changes(&shown.normal_changes), turned);
    }
}
