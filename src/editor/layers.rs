//! The layers of weights of the active object: which one is painted, and everything that is done to them.

use super::Editor;
use super::jobs::EditorJob;
use crate::document::layers::MirrorEffect;
use crate::document::session::PaintTarget;
use crate::document::{Dirty, Edit, Layer, LayerId, LayerStack, MaskOf, MeshId};
use crate::evaluate::{JobError, JobHandle};
use crate::finding::counted;
use crate::math::Axis;
use crate::mesh::{Mesh, PointSet, Symmetry};
use crate::skinning::{Influences, RowRef, Rows};
use crate::task::{Cancelled, Task};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

/// How far a mirror image may be from the mirrored place where it is found by neither position nor topology, as a fraction
/// of the diagonal of the bounds.
const TOLERANCE: f32 = 0.01;

/// What the editor remembers of layers; no part of the document.
#[derive(Default)]
pub(super) struct Layering {
    /// A mirror effect whose mirror images are being looked for.
    mirroring: Option<Mirroring>,
    /// Mirror images that were found: a mesh's bind pose never changes.
    symmetries: Vec<(Arc<Mesh>, Arc<Symmetry>)>,
    /// What there is to say once the step under way is closed.
    said: ToSay,
    /// What [`Editor::n_over_limit`] counted last.
    over_limit: Option<OverLimit>,
}

/// What the artist should know of a step.
#[derive(Default)]
struct ToSay {
    /// Points that were left alone for locked bones of their images.
    spared: BTreeMap<MeshId, PointSet>,
    /// Points of a layer's mask that were left alone for locked bones.
    n_mask_spared: usize,
    /// Points that show those of the other side.
    n_covered: usize,
    /// What was shown before the layers changed.
    shown_before: Option<(MeshId, Influences)>,
}

/// How many points follow too many bones, by chunk: an edit counts those that it changed.
struct OverLimit {
    mesh: MeshId,
    revision: u64,
    limit: usize,
    /// Each chunk that was counted - it is another one when it changed - and how many there are in it.
    chunks: Vec<(Weak<Rows>, usize)>,
    n: usize,
}

struct Mirroring {
    mesh: MeshId,
    layer: LayerId,
    geometry: Arc<Mesh>,
    job: JobHandle<Result<Found, String>>,
}

/// The effect, and the mirror images that were found for it.
type Found = Result<(MirrorEffect, Arc<Symmetry>), Cancelled>;

impl ToSay {
    fn is_empty(&self) -> bool {
        self.spared.is_empty()
            && self.n_mask_spared == 0
            && self.n_covered == 0
            && self.shown_before.is_none()
    }
}

impl Layering {
    /// Nothing of the model that was open before is of use.
    pub(super) fn forget_model(&mut self) {
        if let Some(mirroring) = &self.mirroring {
            mirroring.job.task().cancel();
        }
        *self = Self::default();
    }
}

impl Editor {
    /// The object whose layers are shown and changed: the active one, where it has a skin.
    pub fn layered_mesh(&self) -> Option<MeshId> {
        let mesh = self.document.session().active_mesh?;
        self.document.skin_of_mesh(mesh).map(|_| mesh)
    }

    /// Its layers; empty where it has none.
    pub fn layers(&self) -> Option<&LayerStack> {
        let item = self.document.meshes().get(&self.layered_mesh()?)?;
        Some(&item.layers)
    }

    /// The layer that is painted, where there are layers.
    pub fn active_layer(&self) -> Option<LayerId> {
        self.document.active_layer(self.layered_mesh()?)
    }

    /// The active layer where it lies over the base: the one that can be faded, muted and thrown away.
    pub fn active_upper_layer(&self) -> Option<LayerId> {
        self.active_layer().filter(|id| *id != LayerStack::BASE)
    }

    /// Whether the active layer is not shown by the artist's wish.
    pub fn is_layer_muted(&self) -> bool {
        let layer = self.active_layer().and_then(|id| self.layers()?.get(id));
        layer.is_some_and(|layer| layer.muted)
    }

    /// Chooses the layer that is painted.
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

    /// Adds an empty layer over the active one and makes it active: one undo step.
    pub fn add_layer(&mut self) {
        self.finish_tool();
        let Some((mesh, stack)) = self.layered_mesh().zip(self.layers()) else {
            self.say("Select an object with a skin first.");
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

    /// Adds a copy of the active layer over it and makes it active: one undo step.
    pub fn duplicate_layer(&mut self) {
        self.finish_tool();
        let Some((mesh, id)) = self.upper_layer_to_change() else {
            return;
        };
        if let Some((edit, id)) = self.document.duplicate_layer(mesh, id) {
            self.change_layers_to(mesh, edit, "Duplicate layer", Some(id));
        }
    }

    /// Throws the active layer away: one undo step.
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

    /// Gives a layer another name: one undo step.
    pub fn rename_layer(&mut self, id: LayerId, name: &str) {
        self.finish_tool();
        let name = name.trim();
        if !name.is_empty() {
            self.change_layer(id, "Rename layer", |layer| name.clone_into(&mut layer.name));
        }
    }

    /// Puts the active layer over the one above it, or under the one below it: one undo step.
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

    /// Whether the active layer has a layer above it, or one below it that is not the base, to change places with.
    pub fn can_move_layer(&self, up: bool) -> bool {
        let place = self.active_upper_layer().and_then(|id| {
            let stack = self.layers()?;
            Some((stack.position(id)?, stack.layers().len()))
        });
        place.is_some_and(|(index, n)| if up { index + 1 < n } else { index > 1 })
    }

    /// Makes the active layer and the one below it one, with the look of both: one undo step.
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
            Err(why) => self.say(why),
        }
    }

    /// Makes what the layers show the weights of the object, without layers: one undo step.
    pub fn flatten_layers(&mut self) {
        self.finish_tool();
        let Some(mesh) = self.layered_mesh() else {
            return;
        };
        match self.document.flatten_layers(mesh) {
            Some(edit) => self.change_layers_to(mesh, edit, "Flatten layers", None),
            None => self.say("The object has no layers."),
        }
    }

    /// Sets how much of a layer is shown, 0 - 1; inside a step opened with [`Editor::begin_step`] a whole drag is one step.
    pub fn set_layer_opacity(&mut self, id: LayerId, opacity: f32) {
        if self.is_painting() || self.is_posing() || self.is_dragging_keys() {
            self.finish_tool();
        }
        let opacity = if opacity.is_finite() { opacity } else { 1.0 };
        self.change_layer(id, "Layer opacity", |layer| {
            layer.opacity = opacity.clamp(0.0, 1.0);
        });
    }

    /// Shows a layer, or not: one undo step.
    pub fn mute_layer(&mut self, id: LayerId, muted: bool) {
        self.finish_tool();
        let label = if muted { "Mute layer" } else { "Show layer" };
        self.change_layer(id, label, |layer| layer.muted = muted);
    }

    /// Shows only this layer over the base, or all again: one undo step.
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

    /// Shows one side of a layer on the other one too, from the positive side of an axis or from the negative one; `None`:
    /// no more. One undo step, which comes when the mirror images have been found.
    pub fn mirror_layer(&mut self, id: LayerId, mirror: Option<(Axis, bool)>) {
        self.finish_tool();
        self.cancel_mirroring();
        let Some(mesh) = self.layered_mesh() else {
            return;
        };
        let Some((axis, from_positive)) = mirror else {
            self.change_layer(id, "Mirror layer off", |layer| layer.mirror = None);
            return;
        };
        let Some(item) = self.document.meshes().get(&mesh) else {
            return;
        };
        let geometry = item.geometry.clone();
        let known = self.layering.symmetries.iter();
        let mut known = known.filter(|(g, s)| Arc::ptr_eq(g, &geometry) && s.axis() == axis);
        let known = known.next_back().map(|(_, symmetry)| symmetry.clone());
        let document = self.document.clone();
        let way = (axis, from_positive);
        let work = move |task: &Task| document.mirror_effect(mesh, way, TOLERANCE, known, task);
        self.layering.mirroring = Some(Mirroring {
            mesh,
            layer: id,
            geometry,
            job: self
                .lane
                .submit(EditorJob::MirrorLayer, "Match mirror images", work),
        });
    }

    /// The layer whose mirror images are being looked for.
    pub fn mirroring_layer(&self) -> Option<LayerId> {
        let mirroring = self.layering.mirroring.as_ref()?;
        (Some(mirroring.mesh) == self.layered_mesh()).then_some(mirroring.layer)
    }

    /// Stops looking for mirror images.
    pub fn cancel_mirroring(&mut self) {
        if let Some(mirroring) = self.layering.mirroring.take() {
            mirroring.job.task().cancel();
        }
    }

    /// Takes mirror images over once they were found.
    pub(super) fn take_layer_mirror(&mut self) {
        let mirroring = &mut self.layering.mirroring;
        let Some(found) = mirroring.take_if(|found| found.job.has_ended()) else {
            return;
        };
        match found.job.into_result() {
            Ok(Ok(Ok((effect, symmetry)))) => {
                let symmetries = &mut self.layering.symmetries;
                if !symmetries.iter().any(|(_, s)| Arc::ptr_eq(s, &symmetry)) {
                    symmetries.push((found.geometry, symmetry));
                }
                self.set_mirror(found.mesh, found.layer, effect);
            }
            Ok(Ok(Err(Cancelled))) | Err(JobError::Cancelled) => {}
            Ok(Err(why)) => self.say(why),
            Err(JobError::Failed) => {
                self.say_error("The mirror images could not be matched.");
            }
        }
    }

    fn set_mirror(&mut self, mesh: MeshId, id: LayerId, effect: MirrorEffect) {
        let said = said_of_mirror(&effect);
        let edit = self.document.change_layer(mesh, id, |layer| {
            layer.mirror = Some(Arc::new(effect));
        });
        if let Some(edit) = edit {
            self.apply_layers(edit, "Mirror layer");
            self.say(said);
        }
    }

    /// Makes the active layer say nothing at the selected points, or nowhere: one undo step. Points at which that would
    /// change a locked bone stay; says so.
    pub fn erase_from_layer(&mut self) {
        self.finish_tool();
        let Some((mesh, id)) = self.upper_layer_to_change() else {
            return;
        };
        let (chosen, is_selection) = self.points_to_change();
        let points = chosen.into_iter().find(|(m, _)| *m == mesh);
        let points = points.map_or_else(PointSet::default, |(_, points)| points);
        let Some((edit, n_spared)) = self.document.erase_from_layer(mesh, id, &points) else {
            self.say(if is_selection {
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
        // What was left alone is part of the sentence below.
        self.layering.said.spared.remove(&mesh);
        let mut said = format!("Erase from layer: {} cleared.", counted(n_erased, "vertex"));
        if n_spared > 0 {
            said = format!(
                "{said} {} unchanged because of locked bones.",
                counted(n_spared, "vertex")
            );
        }
        self.say(said);
    }

    /// Makes a layer active and its mask what the brush paints.
    pub fn paint_layer_mask(&mut self, id: LayerId) {
        self.set_active_layer(id);
        self.set_paint_target(PaintTarget::LayerMask);
    }

    /// How many points of the object follow more bones than `limit` because its layers together give them more.
    pub fn n_over_limit(&mut self, limit: usize) -> usize {
        let Some(mesh) = self.layered_mesh() else {
            return 0;
        };
        let revision = self.history.revision();
        // Counting waits for the end of a stroke.
        let waits = self.history.is_open();
        let known = self.layering.over_limit.take();
        let mut known = known.filter(|known| known.mesh == mesh && known.limit == limit);
        if let Some(known) = known.take_if(|known| waits || known.revision == revision) {
            let n = known.n;
            self.layering.over_limit = Some(known);
            return n;
        }
        let item = self.document.meshes().get(&mesh);
        let item = item.filter(|item| !item.layers.is_plain());
        let before = known.map_or(Vec::new(), |known| known.chunks);
        let chunks = item.map_or(&[][..], |item| item.influences.chunks());
        let count = |(i, rows): (usize, &Arc<Rows>)| {
            let same = before.get(i);
            let same = same.filter(|(known, _)| std::ptr::eq(known.as_ptr(), Arc::as_ptr(rows)));
            let n = same.map_or_else(|| n_rows_over(rows, limit), |(_, n)| *n);
            (Arc::downgrade(rows), n)
        };
        let chunks: Vec<_> = chunks.par_iter().enumerate().map(count).collect();
        let n = chunks.iter().map(|(_, n)| n).sum();
        self.layering.over_limit = Some(OverLimit {
            mesh,
            revision,
            limit,
            chunks,
            n,
        });
        n
    }

    /// The active layer and its mesh; says why there is none to change.
    fn upper_layer_to_change(&mut self) -> Option<(MeshId, LayerId)> {
        let found = self.layered_mesh().zip(self.active_upper_layer());
        if found.is_none() {
            self.say(match self.active_layer() {
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

    /// One undo step, after which another layer is active.
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
            && self.layering.said.shown_before.is_none()
            && let Some(item) = self.document.meshes().get(&edit.mesh)
        {
            self.layering.said.shown_before = Some((edit.mesh, item.influences.clone()));
        }
        if let Err(error) = self.apply(edit, label) {
            self.say_error(format!("{error}."));
        }
    }

    /// Brings the colours up to date where they show the mask of another layer than the one that is active now.
    fn layer_colours(&mut self) {
        if self.paint_target() == PaintTarget::LayerMask {
            self.rebuild_heat();
        }
    }

    /// What an edit made stale of what is shown of layers.
    pub(super) fn follow_layers(&mut self, dirty: &Dirty) {
        if self.paint_target() != PaintTarget::LayerMask {
            return;
        }
        let shows = |mesh: &MeshId| {
            let shown = self.heat.get(mesh).and_then(|heat| heat.of.map());
            shown == self.document.map_seen(*mesh)
        };
        if !dirty.layers.iter().all(shows) {
            self.rebuild_heat();
        }
    }

    /// `edit` without the points of a layer's mask at which it would change locked bones. Remembers what the artist should
    /// know once the step is closed.
    pub(super) fn watch_layers(&mut self, edit: Edit) -> Edit {
        let said = &mut self.layering.said;
        said.n_covered = said.n_covered.max(self.document.n_covered(&edit));
        match edit {
            Edit::Mask(edit) if matches!(edit.mask, MaskOf::Layer(_)) => {
                let (edit, n_spared) = self.document.spare_locked(Edit::Mask(edit));
                said.n_mask_spared = said.n_mask_spared.max(n_spared);
                edit
            }
            Edit::Influences(edit) => {
                if !edit.left_alone.is_empty() {
                    let spared = said.spared.entry(edit.mesh).or_default();
                    for &point in &edit.left_alone {
                        spared.insert(point);
                    }
                }
                Edit::Influences(edit)
            }
            edit => edit,
        }
    }

    /// Notes what of the step that was closed is not seen, what it left alone, and which locked bones it changed all the
    /// same; whether there was something. Waits while a step is open.
    pub(super) fn report_layers(&mut self) -> bool {
        if self.history.is_open() || self.layering.said.is_empty() {
            return false;
        }
        let said = std::mem::take(&mut self.layering.said);
        if said.n_covered > 0 {
            self.say(
                "Some vertices lie on the mirrored side of the layer. Paint on them is not visible.",
            );
        }
        if said.n_mask_spared > 0 {
            self.say("Some vertices stayed unchanged: the mask would change their locked bones.");
        }
        let n_spared: usize = said.spared.values().map(PointSet::count).sum();
        if n_spared > 0 {
            let was = if n_spared == 1 { "was" } else { "were" };
            self.say(format!(
                "{} {was} left unchanged: the layer's mirror would change locked bones.",
                counted(n_spared, "vertex")
            ));
        }
        let Some((mesh, before)) = said.shown_before else {
            return true;
        };
        let (n_joints, n_points) = self.document.n_locked_changes(mesh, &before);
        if n_points > 0 {
            self.say(format!(
                "{} changed at {}: layers show through locks.",
                counted(n_joints, "locked bone"),
                counted(n_points, "vertex")
            ));
        }
        true
    }

    /// The step that was open was taken back: there is nothing to say of it.
    pub(super) fn forget_of_layers(&mut self) {
        self.layering.said = ToSay::default();
    }
}

/// How many rows have more weights above 0 than `limit`.
fn n_rows_over(rows: &Rows, limit: usize) -> usize {
    let is_over = |row: &RowRef<'_>| row.weights.iter().filter(|w| **w > 0.0).count() > limit;
    rows.iter().filter(is_over).count()
}

/// What became of a mirror effect, with what it could not do.
fn said_of_mirror(effect: &MirrorEffect) -> String {
    let label =
        crate::document::layers::change::mirror_label(effect.axis(), effect.from_positive());
    let mut said = format!("The layer is mirrored {label}.");
    let unmatched = effect.unmatched().count();
    if unmatched > 0 {
        said = format!(
            "{said} {} without a mirror image keep their own paint.",
            counted(unmatched, "vertex")
        );
    }
    let unpaired = effect.joints().unpaired.len();
    if unpaired > 0 {
        said = format!(
            "{said} {} without a counterpart: their weights go to the parents' counterparts.",
            counted(unpaired, "bone")
        );
    }
    said
}
