//! Meshes whose vertices are not the source's <-> the project format.

use super::apply::Opening;
use super::v11::{MorphShape, ShapeEntry};
use crate::document::Document;
use crate::mesh::{Mesh, Morph};
use glam::Vec3;
use std::sync::Arc;

/// The shapes, one entry per mesh.
pub(super) fn collect(document: &Document) -> Vec<ShapeEntry> {
    let items = document.reshaped().iter();
    let items = items.filter_map(|id| Some((id, document.meshes().get(id)?)));
    items
        .map(|(id, item)| {
            let mesh = &item.geometry;
            let morph = |morph: &Morph| MorphShape {
                deltas: to_arrays(&morph.deltas),
                normals: (morph.normals.iter())
                    .map(|(vertex, d)| (*vertex, d.to_array()))
                    .collect(),
            };
            ShapeEntry {
                mesh: id.0,
                name: mesh.name.clone(),
                positions: to_arrays(&mesh.positions),
                normals: to_arrays(&mesh.normals),
                morphs: mesh.morphs.iter().map(morph).collect(),
            }
        })
        .collect()
}

impl Opening {
    /// Gives meshes the shapes of the project; one that does not fit its mesh is a finding.
    pub(super) fn shapes(&mut self, entries: Vec<ShapeEntry>) {
        for entry in entries {
            let place = format!("mesh {} “{}”", entry.mesh, entry.name);
            let Some(id) = self.mesh(entry.mesh, &entry.name) else {
                continue;
            };
            let made = self.document.meshes().get(&id);
            match made.and_then(|item| restored(&item.geometry, entry)) {
                Some(mesh) => self.document.restore_shape(id, Arc::new(mesh)),
                None => self.warn(
                    place,
                    "The mesh of the file has other vertices than when its shape was changed. It has the shape of the file, but \
                     its bones are bound to the changed one.",
                ),
            }
        }
    }
}

/// A mesh with the shape of an entry; `None` where their numbers of vertices differ, or where a number is not finite.
fn restored(mesh: &Mesh, entry: ShapeEntry) -> Option<Mesh> {
    let positions = of_arrays(&entry.positions, mesh.positions.len())?;
    let normals = of_arrays(&entry.normals, mesh.normals.len())?;
    if entry.morphs.len() != mesh.morphs.len() {
        return None;
    }
    let morphs = mesh.morphs.iter().zip(entry.morphs);
    let morphs = morphs.map(|(old, new)| {
        let n_vertices = mesh.n_vertices();
        let normals = new.normals.into_iter().map(|(vertex, d)| {
            let d = Vec3::from_array(d);
            ((vertex as usize) < n_vertices && d.is_finite()).then_some((vertex, d))
        });
        Some(Morph {
            name: old.name.clone(),
            deltas: of_arrays(&new.deltas, old.deltas.len())?,
            normals: normals.collect::<Option<_>>()?,
        })
    });
    let morphs = morphs.collect::<Option<Vec<Morph>>>()?;
    Some(mesh.with_shape(positions, normals, morphs))
}

fn to_arrays(vectors: &[Vec3]) -> Vec<[f32; 3]> {
    vectors.iter().map(Vec3::to_array).collect()
}

fn of_arrays(arrays: &[[f32; 3]], n: usize) -> Option<Vec<Vec3>> {
    let vectors: Vec<Vec3> = arrays.iter().map(|&a| Vec3::from_array(a)).collect();
    (vectors.len() == n && vectors.iter().all(|v| v.is_finite())).then_some(vectors)
}
