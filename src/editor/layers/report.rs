//! Notices about a step that changed layers: points left unchanged, and changes that are not visible.

use crate::document::{Edit, MaskOf, MeshId};
use crate::editor::Editor;
use crate::finding::counted;
use crate::mesh::PointSet;
use crate::skinning::Influences;
use std::collections::BTreeMap;

/// The notices about a step.
#[derive(Default)]
pub(super) struct LayerReport {
    /// Points left unchanged because of locked bones at their mirror images.
    pub(super) spared: BTreeMap<MeshId, PointSet>,
    /// Points of a layer mask left unchanged because of locked bones.
    n_mask_spared: usize,
    /// Points on the mirrored side, which show the other side.
    n_covered: usize,
    /// The visible influences before the layers changed.
    pub(super) shown_before: Option<(MeshId, Influences)>,
}

impl LayerReport {
    fn is_empty(&self) -> bool {
        self.spared.is_empty()
            && self.n_mask_spared == 0
            && self.n_covered == 0
            && self.shown_before.is_none()
    }
}

impl Editor {
    /// `edit` without the points of a layer mask where it would change locked bones. Collects the notices for the end
    /// of the step.
    pub(in crate::editor) fn watch_layers(&mut self, edit: Edit) -> Edit {
        let report = &mut self.layering.report;
        report.n_covered = report.n_covered.max(self.document.n_covered(&edit));
        match edit {
            Edit::Mask(edit) if matches!(edit.mask, MaskOf::Layer(_)) => {
                let (edit, n_spared) = self.document.without_locked_changes(Edit::Mask(edit));
                report.n_mask_spared = report.n_mask_spared.max(n_spared);
                edit
            }
            Edit::Influences(edit) => {
                if !edit.left_alone.is_empty() {
                    let spared = report.spared.entry(edit.mesh).or_default();
                    for &point in &edit.left_alone {
                        spared.insert(point);
                    }
                }
                Edit::Influences(edit)
            }
            edit => edit,
        }
    }

    /// Reports what a closed step left unchanged, what of it is not visible, and the locked bones that it changed
    /// nevertheless. Returns whether there was anything to report. Waits while a step is open.
    pub(in crate::editor) fn report_layers(&mut self) -> bool {
        if self.history.is_open() || self.layering.report.is_empty() {
            return false;
        }
        let report = std::mem::take(&mut self.layering.report);
        if report.n_covered > 0 {
            self.notify(
                "Some vertices are on the mirrored side of the layer. Paint on them is not visible.",
            );
        }
        if report.n_mask_spared > 0 {
            self.notify(
                "Some vertices stayed unchanged: the mask would change their locked bones.",
            );
        }
        let n_spared: usize = report.spared.values().map(PointSet::count).sum();
        if n_spared > 0 {
            let was = if n_spared == 1 { "was" } else { "were" };
            self.notify(format!(
                "{} {was} left unchanged: the layer's mirror would change locked bones.",
                counted(n_spared, "vertex")
            ));
        }
        let Some((mesh, before)) = report.shown_before else {
            return true;
        };
        let (n_joints, n_points) = self.document.n_locked_changes(mesh, &before);
        if n_points > 0 {
            self.notify(format!(
                "{} changed on {}: locks protect a layer, not the result of all layers.",
                counted(n_joints, "locked bone"),
                counted(n_points, "vertex")
            ));
        }
        true
    }

    /// Drops the notices of a cancelled step.
    pub(in crate::editor) fn forget_of_layers(&mut self) {
        self.layering.report = LayerReport::default();
    }
}
