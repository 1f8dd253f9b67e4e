//! Commands on the painted maps of the stack: the paint target, fill, clear, invert.

use super::Editor;
use crate::deform::{MaskKind, SkinningMethod};
use crate::document::session::{PaintTarget, SelectKind};
use crate::document::{Edit, MaskOf, MeshId};
use crate::finding::counted;
use crate::mesh::PointSet;

impl Editor {
    /// The paint target, which the weight colours show.
    pub fn paint_target(&self) -> PaintTarget {
        self.document.session().brush.target
    }

    /// Sets the paint target, which the weight colours show.
    pub fn set_paint_target(&mut self, target: PaintTarget) {
        if self.paint_target() == target {
            return;
        }
        self.finish_tool();
        self.document.session_mut().brush.target = target;
        self.refresh_heat();
    }

    /// Whether the shown stack reads a map.
    pub fn reads_mask(&self, kind: MaskKind) -> bool {
        self.stack().is_some_and(|stack| stack.reads_mask(kind))
    }

    /// Turns on the operation that reads a map, in the stacks of the scope: one undo step.
    pub fn turn_on_part_of(&mut self, kind: MaskKind) {
        match kind {
            MaskKind::Blend => self.set_method(SkinningMethod::Blend),
            MaskKind::Compensation => self.change_stack("Turn compensation on", |stack| {
                stack.compensation.enabled = true;
            }),
            MaskKind::Projection => self.change_stack("Turn projection on", |stack| {
                stack.projection.enabled = true;
            }),
            MaskKind::Smooth => self.change_stack("Turn corrective smooth on", |stack| {
                stack.smooth.enabled = true;
            }),
        }
    }

    /// Fills the painted map with the brush value, on the selected points or on the whole active object.
    pub fn fill_map(&mut self) {
        let value = self.document.session().brush.value();
        self.change_map("Fill", |_, _| value);
    }

    /// Clears the painted map, on the selected points or on the whole active object.
    pub fn clear_map(&mut self) {
        self.change_map("Clear", |_, _| MaskKind::UNPAINTED);
    }

    /// Inverts the painted map within its range, on the selected points or on the whole active object.
    pub fn invert_map(&mut self) {
        self.change_map("Invert", |map, value| {
            (map.limit() - value).clamp(0.0, map.limit())
        });
    }

    /// Changes the painted map in one undo step, and notifies how many points changed.
    fn change_map(&mut self, verb: &str, new: impl Fn(MaskOf, f32) -> f32) {
        self.finish_tool();
        let what = match self.paint_target() {
            PaintTarget::Weights => {
                self.notify(
                    "Choose a map as paint target first. This command does not change weights.",
                );
                return;
            }
            PaintTarget::Mask(kind) => kind.label().to_lowercase(),
            PaintTarget::LayerMask => "layer mask".to_owned(),
        };
        let label = format!("{verb} {what}");
        let (chosen, is_selection) = self.points_to_change();
        if chosen.is_empty() {
            self.notify("The active object is not skinned, so the map has no effect.");
            return;
        }
        let mut edits = Vec::new();
        let (mut n_changed, mut refused) = (0, false);
        for (mesh, points) in chosen {
            let map = match self.document.painted_map(mesh) {
                Some(Ok(map)) => map,
                Some(Err(why)) => {
                    self.notify(why);
                    refused = true;
                    continue;
                }
                None => continue,
            };
            let Some(item) = self.document.meshes().get(&mesh) else {
                continue;
            };
            let changes = points.iter().filter_map(|point| {
                let before = map.value(item, point);
                let after = new(map, before);
                (after.to_bits() != before.to_bits()).then_some((point, after))
            });
            let (points, values): (Vec<u32>, Vec<f32>) = changes.unzip();
            if !points.is_empty() {
                n_changed += points.len();
                edits.push(Edit::mask(mesh, map, points, values));
            }
        }
        if refused && edits.is_empty() {
            return;
        }
        self.begin_step(&label);
        for edit in edits {
            if let Err(error) = self.apply(edit, &label) {
                self.notify_error(error.to_string());
            }
        }
        self.end_step();
        let of_what = if is_selection {
            "of the selection"
        } else {
            "of the active object"
        };
        self.notify(match n_changed {
            0 => format!("{label}: no vertex {of_what} changed."),
            n => format!("{label}: {} {of_what} changed.", counted(n, "vertex")),
        });
    }

    /// The selected points, and `true`; without a selection, the points of the active object. Only visible points of
    /// skinned meshes.
    pub(super) fn points_to_change(&self) -> (Vec<(MeshId, PointSet)>, bool) {
        let session = self.document.session();
        let is_skinned = |mesh: &MeshId| self.document.skin_of_mesh(*mesh).is_some();
        let is_selection =
            session.select_kind == SelectKind::Points && !session.selected_points.is_empty();
        if is_selection {
            // Hidden points are never selected.
            let selected = session.selected_points.iter();
            let selected = selected.filter(|(mesh, _)| is_skinned(mesh));
            let sets = selected.map(|(&mesh, set)| (mesh, PointSet::clone(set)));
            return (sets.collect(), true);
        }
        let whole = session.active_mesh.filter(is_skinned).and_then(|mesh| {
            let n_points = self.document.meshes().get(&mesh)?.influences.len();
            let mut points = PointSet::full(n_points);
            if let Some(hidden) = session.hidden_points.get(&mesh) {
                points.subtract(hidden);
            }
            Some((mesh, points))
        });
        (whole.into_iter().collect(), false)
    }
}
