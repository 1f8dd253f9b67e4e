//! Mirrored layers: one side of a layer is applied to the other side, too.

use crate::document::layers::MirrorEffect;
use crate::document::layers::change::mirror_label;
use crate::document::{LayerId, MeshId};
use crate::editor::Editor;
use crate::editor::jobs::EditorJob;
use crate::editor::symmetries::TOLERANCE;
use crate::evaluate::{JobError, JobHandle};
use crate::finding::counted;
use crate::math::Axis;
use crate::task::{Cancelled, Task};
use std::sync::Arc;

/// A mirror effect whose mirror images are being matched.
pub(super) struct Mirroring {
    mesh: MeshId,
    layer: LayerId,
    pub(super) job: JobHandle<Result<Result<MirrorEffect, Cancelled>, String>>,
}

impl Editor {
    /// Mirrors a layer from the positive or negative side of an axis; `None` turns mirroring off. One undo step,
    /// applied once the mirror images are matched.
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
        let (document, symmetries) = (self.document.clone(), self.symmetries.clone());
        let work = move |task: &Task| match symmetries.of(&document, mesh, axis, task) {
            Err(cancelled) => Ok(Err(cancelled)),
            Ok(symmetry) => document
                .mirror_effect(mesh, &symmetry, from_positive, TOLERANCE)
                .map(Ok),
        };
        self.layering.mirroring = Some(Mirroring {
            mesh,
            layer: id,
            job: self
                .lane
                .submit(EditorJob::MirrorLayer, "Match mirror images", work),
        });
    }

    /// The layer whose mirror images are being matched.
    pub fn mirroring_layer(&self) -> Option<LayerId> {
        let mirroring = self.layering.mirroring.as_ref()?;
        (Some(mirroring.mesh) == self.layered_mesh()).then_some(mirroring.layer)
    }

    /// Cancels the matching of mirror images.
    pub fn cancel_mirroring(&mut self) {
        if let Some(mirroring) = self.layering.mirroring.take() {
            mirroring.job.task().cancel();
        }
    }

    /// Takes the mirror images once they are matched.
    pub(in crate::editor) fn take_layer_mirror(&mut self) {
        let mirroring = &mut self.layering.mirroring;
        let Some(found) = mirroring.take_if(|found| found.job.has_ended()) else {
            return;
        };
        match found.job.into_result() {
            Ok(Ok(Ok(effect))) => self.set_mirror(found.mesh, found.layer, effect),
            Ok(Ok(Err(Cancelled))) | Err(JobError::Cancelled) => {}
            Ok(Err(why)) => self.notify(why),
            Err(JobError::Failed) => {
                self.notify_error("The mirror images could not be matched.");
            }
        }
    }

    fn set_mirror(&mut self, mesh: MeshId, id: LayerId, effect: MirrorEffect) {
        let notice = mirror_notice(&effect);
        let edit = self.document.change_layer(mesh, id, |layer| {
            layer.mirror = Some(Arc::new(effect));
        });
        if let Some(edit) = edit {
            self.apply_layers(edit, "Mirror layer");
            self.notify(notice);
        }
    }
}

/// The notice about a new mirror effect and its limitations.
fn mirror_notice(effect: &MirrorEffect) -> String {
    let label = mirror_label(effect.axis(), effect.from_positive());
    let mut notice = format!("The layer is mirrored {label}.");
    let unmatched = effect.unmatched().count();
    if unmatched > 0 {
        notice = format!(
            "{notice} {} without a mirror image keep their own paint.",
            counted(unmatched, "vertex")
        );
    }
    let unpaired = effect.joints().unpaired.len();
    if unpaired > 0 {
        notice = format!(
            "{notice} {} without a counterpart: their weights go to the parents' counterparts.",
            counted(unpaired, "bone")
        );
    }
    notice
}
