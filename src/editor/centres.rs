//! Centres of rotation, computed on the job lane while the viewport shows the previous ones, or none.

use super::Editor;
use super::jobs::EditorJob;
use crate::document::{Document, MeshId};
use crate::evaluate::{
    CentreMap, JobError, JobHandle, ViewId, ViewRequest, has_centres, meshes_about_centres,
};
use crate::mesh::Mesh;
use crate::skinning::{Centres, Influences};
use crate::task::Cancelled;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The known centres, and the computation under way.
#[derive(Default)]
pub(super) struct CentreSearch {
    known: CentreMap,
    job: Option<(MeshId, JobHandle<Result<Centres, Cancelled>>)>,
    /// Geometry and weights for which the artist cancelled the computation: it restarts when the weights change.
    cancelled: BTreeMap<MeshId, (Arc<Mesh>, Influences)>,
}

impl CentreSearch {
    /// The centres for the worker.
    pub(super) fn known(&self) -> CentreMap {
        self.known.clone()
    }

    /// Drops everything, for another model.
    pub(super) fn clear(&mut self) {
        if let Some((_, job)) = &self.job {
            job.task().cancel();
        }
        *self = Self::default();
    }

    fn is_cancelled(&self, document: &Document, mesh: MeshId) -> bool {
        let Some(item) = document.meshes().get(&mesh) else {
            return true;
        };
        self.cancelled.get(&mesh).is_some_and(|(geometry, rows)| {
            let (before, now) = (rows.chunks(), item.influences.chunks());
            Arc::ptr_eq(geometry, &item.geometry)
                && before.len() == now.len()
                && before.iter().zip(now).all(|(a, b)| Arc::ptr_eq(a, b))
        })
    }
}

impl Editor {
    /// A sentence about what a view shows instead of the centres of rotation of the current weights; `None` if it shows
    /// those, or if its stack does not use any.
    pub fn centres_badge(&self, view: ViewId) -> Option<&'static str> {
        let shown = self.views.requests();
        let is_shown = |r: &ViewRequest| shown.iter().any(|s| s.view == r.view);
        let of_view: Vec<_> = self
            .views_to_know()
            .into_iter()
            // The reference of a heat map matters in every view.
            .filter(|r| r.view == view || !is_shown(r))
            .collect();
        let missing: Vec<MeshId> = meshes_about_centres(&self.document, &of_view)
            .into_iter()
            .filter(|&mesh| !has_centres(&self.document, &self.centres.known, mesh))
            .collect();
        let first = *missing.first()?;
        let cancelled = missing
            .iter()
            .all(|&mesh| self.centres.is_cancelled(&self.document, mesh));
        let has_previous = self.centres.known.contains_key(&first);
        let job = self.centres.job.as_ref();
        let is_computed =
            job.is_some_and(|(mesh, job)| missing.contains(mesh) && job.has_started());
        Some(match (cancelled, is_computed, has_previous) {
            (false, true, true) => "Computing centres of rotation. The previous ones are shown.",
            (false, true, false) => {
                "Computing centres of rotation. Dual quaternion skinning is shown."
            }
            (false, false, true) => {
                "Waiting to compute centres of rotation. The previous ones are shown."
            }
            (false, false, false) => {
                "Waiting to compute centres of rotation. Dual quaternion skinning is shown."
            }
            (true, _, true) => {
                "Centres of rotation were not computed. The previous ones are shown."
            }
            (true, _, false) => {
                "Centres of rotation were not computed. Dual quaternion skinning is shown."
            }
        })
    }

    /// Starts the next computation, and returns whether it did. Waits for the end of a stroke, which changes weights at
    /// every dab.
    pub(super) fn start_centres(&mut self) -> bool {
        if self.centres.job.is_some() || self.history.is_open() {
            return false;
        }
        let wanted = meshes_about_centres(&self.document, &self.views_to_know())
            .into_iter()
            .find(|&mesh| {
                !has_centres(&self.document, &self.centres.known, mesh)
                    && !self.centres.is_cancelled(&self.document, mesh)
            });
        let next = wanted.and_then(|mesh| Some((mesh, self.document.meshes().get(&mesh)?)));
        let Some((mesh, item)) = next else {
            return false;
        };
        let (geometry, rows) = (item.geometry.clone(), item.influences.clone());
        let label = format!("Centres of rotation of {}", self.mesh_label(mesh));
        let job = self.lane.submit(EditorJob::Centres, &label, move |task| {
            Centres::compute(&geometry, &rows, task)
        });
        self.centres.job = Some((mesh, job));
        true
    }

    /// Takes the result of a computation that has ended.
    pub(super) fn take_centres(&mut self) {
        let Some((mesh, job)) = self.centres.job.take_if(|(_, job)| job.has_ended()) else {
            return;
        };
        let item = self.document.meshes().get(&mesh);
        let why = match job.into_result() {
            Ok(Ok(centres)) => {
                if item.is_some_and(|item| centres.fit(&item.geometry)) {
                    self.centres.known.insert(mesh, Arc::new(centres));
                    self.centres.cancelled.remove(&mesh);
                    self.evaluation.stale = true;
                }
                return;
            }
            Ok(Err(Cancelled)) | Err(JobError::Cancelled) => {
                ": cancelled; change a weight to restart.".to_owned()
            }
            Err(error @ JobError::Failed) => format!(". {error}"),
        };
        if let Some(item) = item {
            let of = (item.geometry.clone(), item.influences.clone());
            self.centres.cancelled.insert(mesh, of);
            self.notify_error(format!(
                "No centres of rotation for {}{why}",
                self.mesh_label(mesh)
            ));
        }
    }

    pub(super) fn mesh_label(&self, mesh: MeshId) -> String {
        let item = self.document.meshes().get(&mesh);
        item.map(|item| item.geometry.name.clone())
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| "the mesh".to_owned())
    }
}
