//! Commands on the weight layers of the active object.

mod limit;
mod mirror;
mod report;

use super::Editor;
use crate::document::session::PaintTarget;
use crate::document::{Dirty, Edit, Layer, LayerId, LayerStack, MeshId};
use crate::finding::counted;
use crate::mesh::PointSet;
use limit::OverLimit;
use mirror::Mirroring;
use report::LayerReport;

/// The editor's state for layers; not part of the document.
#[derive(Default)]
pub(super) struct Layering {
    /// A mirror effect whose mirror images are being matched.
    mirroring: Option<Mirroring>,
    /// What to report once the open step is closed.
    report: LayerReport,
    /// The latest count of [`Editor::n_over_limit`].
    over_limit: Option<OverLimit>,
}

impl Layering {
    /// Drops everything that belongs to the previous model.
    pub(super) fn forget_model(&mut self) {
        if let Some(mirroring) = &self.mirroring {
            mirroring.job.task().cancel();
        }
        *self = Self::default();
    }
}

impl Editor {
    /// The object whose layers are shown and edited: the active one, if it has a skin.
    pub fn layered_mesh(&self) -> Option<MeshId> {
        let mesh = self.document.session().active_mesh?;
        self.document.skin_of_mesh(mesh).map(|_| mesh)
    }

    /// Its layers; `None` without any.
    pub fn layers(&self) -> Option<&LayerStack> {
        let item = self.document.meshes().get(&self.layered_mesh()?)?;
        Some(&item.layers)
    }

    /// The active layer, which is painted; `None` without layers.
    pub fn active_layer(&self) -> Option<LayerId> {
        self.document.active_layer(self.layered_mesh()?)
    }

    /// The active layer if it is above the base: one that can be faded, muted and deleted.
    pub fn active_upper_layer(&self) -> Option<LayerId> {
        self.active_layer().filter(|id| *id != LayerStack::BASE)
    }

    /// Whether the active layer is muted.
    pub fn is_layer_muted(&self) -> bool {
        let layer = self.active_layer().and_then(|id| self.layers()?.get(id));
        layer.is_some_and(|layer| layer.muted)
    }

    /// Makes a layer active, so that it is painted.
    pub fn set_active_layer(&mut self, layer: LayerId) {
        let Some(mesh) = self.layered_mesh() else {
            return;
        };
        if self.active_layer() != Some(layer) {
            self.finish_tool();
            self.document
                .session_mut()
                .active_layers
                .insert(mesh, layer);
            self.layer_colours();
        }
    }

    /// Adds an empty layer above the active one and makes it active: one undo step.
    pub fn add_layer(&mut self) {
        self.finish_tool();
        let Some((mesh, stack)) = self.layered_mesh().zip(self.layers()) else {
            self.notify("Select an object with a skin first.");
            return;
        };
        let names: Vec<&str> = stack.layers().iter().map(|l| l.name.as_str()).collect();
        let free = |n: &usize| !names.contains(&format!("Layer {n}").as_str());
        let n = (1..=names.len() + 1).find(free).unwrap_or(1);
        let above = self.active_layer();
        if let Some((edit, id)) = self.document.add_layer(mesh, above, &format!("Layer {n}")) {
            self.change_layers_to(mesh, edit, "Add layer", Some(id));
        }
    }

    /// Adds a copy of the active layer above it and makes it active: one undo step.
    pub fn duplicate_layer(&mut self) {
        self.finish_tool();
        let Some((mesh, id)) = self.upper_layer_to_change() else {
            return;
        };
        if let Some((edit, id)) = self.document.duplicate_layer(mesh, id) {
            self.change_layers_to(mesh, edit, "Duplicate layer", Some(id));
        }
    }

    /// Deletes the active layer: one undo step.
    pub fn delete_layer(&mut self) {
        self.finish_tool();
        let Some((mesh, id)) = self.upper_layer_to_change() else {
            return;
        };
        let below = self.layers().and_then(|stack| {
            let index = stack.position(id)?.checked_sub(1)?;
            Some(stack.layers().get(index)?.id)
        });
        let edit = self.document.change_layers(mesh, |layers, _| {
            layers.retain(|layer| layer.id != id);
        });
        if let Some(edit) = edit {
            self.change_layers_to(mesh, edit, "Delete layer", below);
        }
    }

    /// Renames a layer: one undo step.
    pub fn rename_layer(&mut self, id: LayerId, name: &str) {
        self.finish_tool();
        let name = name.trim();
        if !name.is_empty() {
            self.change_layer(id, "Rename layer", |layer| name.clone_into(&mut layer.name));
        }
    }

    /// Moves the active layer up or down by one: one undo step.
    pub fn move_layer(&mut self, up: bool) {
        self.finish_tool();
        let Some((mesh, id)) = self.upper_layer_to_change() else {
            return;
        };
        let edit = self.document.change_layers(mesh, |layers, _| {
            let Some(index) = layers.iter().position(|layer| layer.id == id) else {
                return;
            };
            let other = if up { index + 1 } else { index - 1 };
            // The base stays at the bottom.
            if other > 0 && other < layers.len() {
                layers.swap(index, other);
            }
        });
        let label = if up {
            "Move layer up"
        } else {
            "Move layer down"
        };
        if let Some(edit) = edit {
            self.change_layers_to(mesh, edit, label, Some(id));
        }
    }

    /// Whether the active layer can move up or down: the base stays at the bottom.
    pub fn can_move_layer(&self, up: bool) -> bool {
        let place = self.active_upper_layer().and_then(|id| {
            let stack = self.layers()?;
            Some((stack.position(id)?, stack.layers().len()))
        });
        place.is_some_and(|(index, n)| if up { index + 1 < n } else { index > 1 })
    }

    /// Merges the active layer into the one below it without changing the result: one undo step.
    pub fn merge_layer_down(&mut self) {
        self.finish_tool();
        let Some((mesh, id)) = self.upper_layer_to_change() else {
            return;
        };
        let below = self.layers().and_then(|stack| {
            let index = stack.position(id)?.checked_sub(1)?;
            Some(stack.layers().get(index)?.id)
        });
        match self.document.merge_layer_down(mesh, id) {
            Ok(edit) => self.change_layers_to(mesh, edit, "Merge layer down", below),
            Err(why) => self.notify(why),
        }
    }

    /// Replaces the layers by their result: one undo step.
    pub fn flatten_layers(&mut self) {
        self.finish_tool();
        let Some(mesh) = self.layered_mesh() else {
            return;
        };
        match self.document.flatten_layers(mesh) {
            Some(edit) => self.change_layers_to(mesh, edit, "Flatten layers", None),
            None => self.notify("The object has no layers."),
        }
    }

    /// Sets the opacity of a layer, 0 - 1. Inside a step opened with [`Editor::begin_step`], a whole drag is one step.
    pub fn set_layer_opacity(&mut self, id: LayerId, opacity: f32) {
        if self.is_painting() || self.is_posing() || self.is_dragging_keys() {
            self.finish_tool();
        }
        let opacity = if opacity.is_finite() { opacity } else { 1.0 };
        self.change_layer(id, "Layer opacity", |layer| {
            layer.opacity = opacity.clamp(0.0, 1.0);
        });
    }

    /// Mutes or unmutes a layer: one undo step.
    pub fn mute_layer(&mut self, id: LayerId, muted: bool) {
        self.finish_tool();
        let label = if muted { "Mute layer" } else { "Show layer" };
        self.change_layer(id, label, |layer| layer.muted = muted);
    }

    /// Shows only this layer and the base; `None` shows all. One undo step.
    pub fn solo_layer(&mut self, alone: Option<LayerId>) {
        self.finish_tool();
        let Some(mesh) = self.layered_mesh() else {
            return;
        };
        let label = if alone.is_some() {
            "Solo layer"
        } else {
            "Show all layers"
        };
        if let Some(edit) = self.document.change_layers(mesh, |_, solo| *solo = alone) {
            self.apply_layers(edit, label);
        }
    }

    /// Clears the active layer on the selected points, or everywhere: one undo step. Points where that would change a
    /// locked bone stay unchanged, and a notice counts them.
    pub fn erase_from_layer(&mut self) {
        self.finish_tool();
        let Some((mesh, id)) = self.upper_layer_to_change() else {
            return;
        };
        let (chosen, is_selection) = self.points_to_change();
        let points = chosen.into_iter().find(|(m, _)| *m == mesh);
        let points = points.map_or_else(PointSet::default, |(_, points)| points);
        let Some((edit, n_spared)) = self.document.erase_from_layer(mesh, id, &points) else {
            self.notify(if is_selection {
                "The layer does not affect the selected vertices."
            } else {
                "The layer is empty."
            });
            return;
        };
        let n_erased = match &edit {
            Edit::Influences(edit) => edit.points.len(),
            _ => 0,
        };
        if n_erased > 0 {
            self.apply_layers(edit, "Erase from layer");
        }
        // The message below includes the unchanged points.
        self.layering.report.spared.remove(&mesh);
        let mut notice = format!("Erase from layer: {} cleared.", counted(n_erased, "vertex"));
        if n_spared > 0 {
            notice = format!(
                "{notice} {} unchanged because of locked bones.",
                counted(n_spared, "vertex")
            );
        }
        self.notify(notice);
    }

    /// Makes a layer active and its mask the paint target.
    pub fn paint_layer_mask(&mut self, id: LayerId) {
        self.set_active_layer(id);
        self.set_paint_target(PaintTarget::LayerMask);
    }

    /// The active layer above the base and its mesh; otherwise notifies why there is none.
    fn upper_layer_to_change(&mut self) -> Option<(MeshId, LayerId)> {
        let found = self.layered_mesh().zip(self.active_upper_layer());
        if found.is_none() {
            self.notify(match self.active_layer() {
                Some(_) => "The base has no such settings. Select a layer above it.",
                None => "The object has no layers. Add one first.",
            });
        }
        found
    }

    fn change_layer(&mut self, id: LayerId, label: &str, change: impl FnOnce(&mut Layer)) {
        let Some(mesh) = self.layered_mesh() else {
            return;
        };
        if let Some(edit) = self.document.change_layer(mesh, id, change) {
            self.apply_layers(edit, label);
        }
    }

    /// Applies `edit` as one undo step and makes another layer active.
    fn change_layers_to(&mut self, mesh: MeshId, edit: Edit, label: &str, active: Option<LayerId>) {
        self.history.begin(&self.document, label);
        self.apply_layers(edit, label);
        let active_layers = &mut self.document.session_mut().active_layers;
        match active {
            Some(id) => active_layers.insert(mesh, id),
            None => active_layers.remove(&mesh),
        };
        if self.document.active_layer(mesh).is_none() {
            self.document.session_mut().active_layers.remove(&mesh);
        }
        self.history.commit(&self.document);
        self.layer_colours();
    }

    fn apply_layers(&mut self, edit: Edit, label: &str) {
        if let Edit::Layers(edit) = &edit
            && self.layering.report.shown_before.is_none()
            && let Some(item) = self.document.meshes().get(&edit.mesh)
        {
            self.layering.report.shown_before = Some((edit.mesh, item.influences.clone()));
        }
        if let Err(error) = self.apply(edit, label) {
            self.notify_error(format!("{error}."));
        }
    }

    /// Updates the colours if they show the mask of a layer that is no longer active.
    fn layer_colours(&mut self) {
        if self.paint_target() == PaintTarget::LayerMask {
            self.rebuild_heat();
        }
    }

    /// Updates what is derived from layers after an edit.
    pub(super) fn follow_layers(&mut self, dirty: &Dirty) {
        if self.paint_target() != PaintTarget::LayerMask {
            return;
        }
        let shows = |mesh: &MeshId| {
            let shown = self.heat.get(mesh).and_then(|heat| heat.of.map());
            shown == self.document.visible_map(*mesh)
        };
        if !dirty.layers.iter().all(shows) {
            self.rebuild_heat();
        }
    }
}
