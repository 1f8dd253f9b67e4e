//! The properties of the active object: size, weights, skin.

use super::{fact_ui, rows_ui};
use crate::document::{Instance, InstanceId, MeshItem};
use crate::editor::Editor;
use crate::finding::{counted, thousands};
use egui::Ui;
use std::sync::Arc;

/// The first instance of the active mesh.
pub(super) fn active(editor: &Editor) -> Option<(InstanceId, Arc<Instance>, Arc<MeshItem>)> {
    let document = editor.document();
    let mesh = document.session().active_mesh?;
    let (&id, instance) = document.instances().iter().find(|(_, i)| i.mesh == mesh)?;
    Some((id, instance.clone(), document.meshes().get(&mesh)?.clone()))
}

/// Whether an object is active.
pub(super) fn has_object(editor: &Editor) -> bool {
    active(editor).is_some()
}

/// Draws the active object.
pub(super) fn object_ui(ui: &mut Ui, editor: &mut Editor) {
    let Some((_, instance, item)) = active(editor) else {
        return;
    };
    let document = editor.document();
    let figures = editor.report().meshes.get(&instance.mesh).copied();
    let geometry = &item.geometry;
    let skin = instance.skin.and_then(|id| document.skins().get(&id));
    let label = document.skeleton().label(instance.joint);
    rows_ui(ui, "object", |ui| {
        fact_ui(ui, "Name", label, "The node that draws the mesh.");
        if !geometry.name.is_empty() {
            fact_ui(ui, "Mesh", &geometry.name, "The mesh that the node draws.");
        }
        let about = "Vertices that you paint and deform. Vertices of the file that share a position and weights count \
                     once.";
        let points = thousands(geometry.n_points());
        fact_ui(ui, "Vertices", points, about);
        let triangles = thousands(geometry.triangles.len());
        fact_ui(ui, "Triangles", triangles, "");
        if let Some(figures) = figures {
            let value = format!("up to {}, {:.1} on average", figures.most, figures.mean);
            fact_ui(ui, "Influences", value, "Number of bones per vertex.");
        }
        let skin = match skin {
            Some(skin) if skin.name.is_empty() => counted(skin.joints.len(), "bone"),
            Some(skin) => format!("{}, {}", skin.name, counted(skin.joints.len(), "bone")),
            None => "none (follows one node)".to_owned(),
        };
        fact_ui(ui, "Skin", skin, "The bones that can move it.");
    });
}
