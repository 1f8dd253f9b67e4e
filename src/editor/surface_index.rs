//! The spatial index of a large surface, built or refitted on the lane after it moved: no press waits for that on the
//! window's thread. A sculpting stroke that comes first waits, with the way of the pointer, and begins when it is there.

use super::Editor;
use super::display::Displayed;
use super::jobs::EditorJob;
use crate::document::InstanceId;
use crate::evaluate::{JobError, JobHandle, ViewId};
use crate::mesh::SurfaceIndex;
use crate::task::Cancelled;
use crate::tools::surface::BRUTE_FORCE_TRIANGLES;
use crate::tools::{PointerEvent, PointerKind};
use glam::Vec3;
use std::sync::Arc;

/// The index that is being fitted, and what waits for it.
#[derive(Default)]
pub(super) struct IndexFit {
    job: Option<Fit>,
    /// Whether the pointer is over a surface without an index.
    is_wanted: bool,
    /// The events of a stroke, from its press on.
    stroke: Option<Vec<PointerEvent>>,
}

struct Fit {
    view: ViewId,
    instance: InstanceId,
    /// The surface that it fits.
    positions: Arc<Vec<Vec3>>,
    job: JobHandle<Result<Arc<SurfaceIndex>, Cancelled>>,
}

impl IndexFit {
    /// Whether a stroke waits.
    pub(super) fn has_stroke(&self) -> bool {
        self.stroke.is_some()
    }

    /// Drops the stroke that waits. Returns whether there was one.
    pub(super) fn drop_stroke(&mut self) -> bool {
        self.stroke.take().is_some()
    }

    /// Adds the event of a stroke that waits. Returns whether one does.
    pub(super) fn add(&mut self, event: &PointerEvent) -> bool {
        let Some(events) = &mut self.stroke else {
            return false;
        };
        if event.kind == PointerKind::Cancel {
            self.stroke = None;
        } else {
            events.push(*event);
        }
        true
    }
}

impl Displayed {
    /// Whether a stroke can begin without fitting the index of a large surface.
    fn is_fitted(&self) -> bool {
        // Faces that moved are refitted one by one, unless somebody else reads the index.
        let follows = |index| self.unfitted.is_empty() || Arc::strong_count(index) == 1;
        self.mesh.triangles.len() <= BRUTE_FORCE_TRIANGLES
            || (!self.index_stale && self.index.as_ref().is_some_and(follows))
    }
}

impl Editor {
    /// Keeps the press of a stroke for later if a large surface has no index yet. Returns whether it does.
    pub(super) fn waits_for_index(&mut self, press: &PointerEvent) -> bool {
        let waits = self.unfitted_surface().is_some();
        if waits {
            self.index_fit.stroke = Some(vec![*press]);
        }
        waits
    }

    /// Asks for the index of what is under the pointer before it is pressed.
    pub(super) fn want_index(&mut self) {
        self.index_fit.is_wanted |= self.unfitted_surface().is_some();
    }

    /// The first large surface without an index, in the view with the pointer.
    fn unfitted_surface(&self) -> Option<(ViewId, InstanceId)> {
        let view = self.views.pointed();
        let hidden = &self.document.session().hidden_instances;
        let mut shown = self.views.of(view).iter();
        let (&instance, _) =
            shown.find(|(id, shown)| !hidden.contains(id) && !shown.is_fitted())?;
        Some((view, instance))
    }

    /// Starts what is wanted and begins the stroke that waits, once the surface rests. Returns whether it did something.
    pub(super) fn fit_index(&mut self) -> bool {
        if !(self.index_fit.is_wanted || self.index_fit.has_stroke())
            || self.index_fit.job.is_some()
            || !self.evaluation.is_current()
        {
            return false;
        }
        let Some((view, instance)) = self.unfitted_surface() else {
            self.index_fit.is_wanted = false;
            return self.begin_waiting_stroke();
        };
        // A stroke fits what it moves itself.
        if self.brush.is_active() || self.sculpt.is_active() {
            return false;
        }
        let Some(shown) = self.views.of(view).get(&instance) else {
            return false;
        };
        let (mesh, positions) = (shown.mesh.clone(), shown.positions.clone());
        let known = shown.index.clone();
        let of = positions.clone();
        let label = "Preparing the surface for brushes";
        let job = self.lane.submit(EditorJob::FitIndex, label, move |task| {
            task.check()?;
            let triangles = &mesh.topology().triangles;
            let fitted = match known {
                Some(known) => {
                    let mut fitted = (*known).clone();
                    fitted.refit(triangles, &of);
                    fitted
                }
                None => SurfaceIndex::new(triangles, &of),
            };
            task.check()?;
            Ok(Arc::new(fitted))
        });
        self.index_fit.job = Some(Fit {
            view,
            instance,
            positions,
            job,
        });
        true
    }

    /// Takes an index that was fitted; that of a surface that has moved since is dropped.
    pub(super) fn take_fitted_index(&mut self) {
        let Some(fit) = self.index_fit.job.take_if(|fit| fit.job.has_ended()) else {
            return;
        };
        match fit.job.into_result() {
            Ok(Ok(index)) => {
                let shown = self.views.shown_mut(fit.view, fit.instance);
                if let Some(shown) = shown.filter(|s| Arc::ptr_eq(&s.positions, &fit.positions)) {
                    shown.index = Some(index);
                    shown.index_stale = false;
                    shown.unfitted.clear();
                }
            }
            Ok(Err(Cancelled)) | Err(JobError::Cancelled) => self.index_fit = IndexFit::default(),
            Err(error @ JobError::Failed) => {
                self.index_fit = IndexFit::default();
                self.notify_error(error.to_string());
            }
        }
    }

    /// Replays the events of the stroke that waited. Returns whether one did.
    fn begin_waiting_stroke(&mut self) -> bool {
        let Some(events) = self.index_fit.stroke.take() else {
            return false;
        };
        let last = events.len() - 1;
        for (i, event) in events.iter().enumerate() {
            match event.kind {
                PointerKind::Drag if i < last => self.sculpt.trace(event),
                _ => self.with_sculpt(|sculpt, context| sculpt.pointer(event, context)),
            }
        }
        true
    }
}
