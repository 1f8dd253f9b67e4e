//! Selected and hidden points <-> the project format.
//!
//! Points are identified by their vertices, as indices within the primitive: runs as text, or where there are many runs
//! a bit per vertex, encoded. A point is restored to the set if one of its vertices is in it.

use super::block;
use super::v11::{MeshPoints, PointBits, PointRuns};
use crate::document::{Document, MeshId};
use crate::mesh::{Mesh, PointSet};

/// More runs of a primitive than this are encoded.
const MAX_TEXT_RUNS: usize = 256;

/// The entries of all meshes with selected or hidden points.
pub(super) fn collect(document: &Document) -> Result<Vec<MeshPoints>, String> {
    let session = document.session();
    let none = PointSet::default();
    let mut entries = Vec::new();
    for (id, item) in document.meshes() {
        let (selected, hidden) = (
            session.selected_points.get(id).map_or(&none, |s| s),
            session.hidden_points.get(id).map_or(&none, |s| s),
        );
        if selected.is_empty() && hidden.is_empty() {
            continue;
        }
        let mesh = &item.geometry;
        entries.push(MeshPoints {
            mesh: id.0,
            name: mesh.name.clone(),
            selected: runs(mesh, selected)?,
            hidden: runs(mesh, hidden)?,
        });
    }
    Ok(entries)
}

/// The points of `runs` in `mesh`, or why they are skipped. Vertices that the mesh does not have are ignored.
pub(super) fn restore(runs: &[PointRuns], mesh: &Mesh) -> Result<PointSet, String> {
    let mut set = PointSet::default();
    for entry in runs {
        let Some(primitive) = mesh.primitives.get(entry.primitive as usize) else {
            continue;
        };
        let vertices = &mesh.point_of_vertex
            [primitive.vertices.start as usize..primitive.vertices.end as usize];
        for &(first, n) in &entry.runs {
            let end = (first as usize).saturating_add(n as usize);
            let run = vertices.get(first as usize..end.min(vertices.len()));
            run.unwrap_or_default().iter().for_each(|&p| {
                set.insert(p);
            });
        }
        if let Some(bits) = &entry.bits {
            // A model that has fewer vertices now is not damage; an implausible count is.
            if bits.n_vertices as usize > 4 * vertices.len() + (1 << 16) {
                return Err("it has more vertices than the mesh could have".into());
            }
            let bytes = block::from_text(&bits.data, bits.n_vertices.div_ceil(8) as usize)?;
            for (v, &point) in vertices.iter().enumerate() {
                if bytes
                    .get(v / 8)
                    .is_some_and(|byte| byte >> (v % 8) & 1 == 1)
                {
                    set.insert(point);
                }
            }
        }
    }
    Ok(set)
}

/// The place of the points in the file, for messages.
pub(super) fn place(entry: &MeshPoints) -> String {
    format!(
        "selected and hidden vertices of mesh {} \"{}\"",
        entry.mesh, entry.name
    )
}

/// Sets the entry of `mesh` in the session; no entry where `set` is empty.
pub(super) fn keep(
    sets: &mut crate::document::session::PointsOfMeshes,
    mesh: MeshId,
    set: PointSet,
) {
    if !set.is_empty() {
        sets.insert(mesh, set.into());
    }
}

fn runs(mesh: &Mesh, set: &PointSet) -> Result<Vec<PointRuns>, String> {
    let mut all = Vec::new();
    if set.is_empty() {
        return Ok(all);
    }
    for (index, primitive) in mesh.primitives.iter().enumerate() {
        let vertices = &mesh.point_of_vertex
            [primitive.vertices.start as usize..primitive.vertices.end as usize];
        let marked: PointSet = (0..)
            .zip(vertices)
            .filter(|&(_, &point)| set.contains(point))
            .map(|(v, _)| v)
            .collect();
        if marked.is_empty() {
            continue;
        }
        let runs = marked.runs();
        let mut entry = PointRuns {
            primitive: index as u32,
            ..PointRuns::default()
        };
        if runs.len() <= MAX_TEXT_RUNS {
            entry.runs = runs
                .into_iter()
                .map(|r| (r.start, r.end - r.start))
                .collect();
        } else {
            let mut bytes: Vec<u8> = marked
                .words()
                .iter()
                .flat_map(|w| w.to_le_bytes())
                .collect();
            bytes.resize(vertices.len().div_ceil(8), 0);
            entry.bits = Some(PointBits {
                n_vertices: vertices.len() as u32,
                data: block::to_text(&bytes)?,
            });
        }
        all.push(entry);
    }
    Ok(all)
}
