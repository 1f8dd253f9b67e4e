//! Copying weights.

use super::{Editor, OperationKind};
use crate::document::MeshId;
use crate::finding::counted;
use crate::skinning::Rows;
use crate::weights::operation::Copied;
use std::sync::Arc;

/// Copied weight rows.
pub type CopiedWeights = Copied;

impl Editor {
    /// Copies the weights of the selected points, or of the whole active object, and returns the number of points.
    pub fn copy_weights(&mut self) -> usize {
        let document = &self.document;
        let session = document.session();
        let is_skinned = |mesh: &MeshId| document.n_skin_joints(*mesh).is_some();
        let selected = session.selected_points.iter();
        let mut selected = selected.filter(|(mesh, _)| is_skinned(mesh));
        let chosen = match (selected.next(), selected.next()) {
            (Some(_), Some(_)) => {
                self.notify(
                    "Vertices of several objects are selected. Copy from one object at a time.",
                );
                return 0;
            }
            (Some((&mesh, points)), None) => Some((mesh, Some(points.clone()))),
            _ => {
                let mut skinned = document.meshes().keys().copied().filter(is_skinned);
                let mesh = match session.active_mesh {
                    Some(active) => Some(active).filter(is_skinned),
                    None => skinned.next(),
                };
                mesh.map(|mesh| (mesh, None))
            }
        };
        let Some((mesh, points)) = chosen else {
            self.notify("No skinned object is active.");
            return 0;
        };
        let (Some(item), Some((_, skin))) =
            (document.meshes().get(&mesh), document.skin_of_mesh(mesh))
        else {
            return 0;
        };
        let points: Vec<u32> = match points {
            Some(points) => points.iter().collect(),
            None => (0..item.geometry.n_points() as u32).collect(),
        };
        let mut rows = Rows::with_capacity(points.len());
        for &point in &points {
            rows.push(item.influences.row(point));
        }
        let skeleton = document.skeleton();
        let names = skin.joints.iter().map(|&joint| skeleton.label(joint));
        let n = points.len();
        let copied = Copied {
            mesh_name: item.geometry.name.clone(),
            n_points: item.geometry.n_points(),
            points,
            rows,
            joints: names.collect(),
            surface: Arc::new((
                item.geometry.positions.clone(),
                item.geometry.topology().triangles.clone(),
            )),
        };
        self.operations.copied = Some(Arc::new(copied));
        // The settings of an earlier paste do not apply to a new copy.
        let is_paste = |kind: &OperationKind| matches!(kind, OperationKind::Paste(_));
        self.operations.remembered.retain(|r| !is_paste(&r.0));
        self.notify(format!("Copied the weights of {}.", counted(n, "vertex")));
        n
    }

    /// Whether weights are copied.
    pub fn has_copied_weights(&self) -> bool {
        self.operations.copied.is_some()
    }
}
