//! Centres of rotation, computed on the job lane while the viewport shows the previous ones, or none.

use super::Editor;
use super::jobs::EditorJob;
use crate::deform::BodyChoice;
use crate::document::{MeshId, MeshItem};
use crate::evaluate::{CentreMap, JobError, JobHandle, ViewId, ViewRequest, meshes_about_centres};
use crate::mesh::Mesh;
use crate::skinning::{Centres, Influences};
use crate::task::Cancelled;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The known centres, and the computation under way.
#[derive(Default)]
pub(super) struct CentreSearch {
    /// Each body has its own.
    known: BTreeMap<Owner, Arc<Centres>>,
    job: Option<(Owner, JobHandle<Result<Centres, Cancelled>>)>,
    /// Geometry and weights for which the artist cancelled the computation: it restarts when the weights change.
    cancelled: BTreeMap<Owner, (Arc<Mesh>, Influences)>,
}

/// A mesh of a body.
type Owner = (BodyChoice, MeshId);

impl CentreSearch {
    /// The centres of a body, for the worker.
    pub(super) fn known(&self, body: BodyChoice) -> CentreMap {
        let of_body = self.known.iter().filter(|((of, _), _)| *of == body);
        of_body
            .map(|((_, mesh), centres)| (*mesh, centres.clone()))
            .collect()
    }

    /// Drops everything, for another model.
    pub(super) fn clear(&mut self) {
        if let Some((_, job)) = &self.job {
            job.task().cancel();
        }
        *self = Self::default();
    }

    fn has(&self, of: Owner, item: &MeshItem) -> bool {
        let known = self.known.get(&of);
        known.is_some_and(|c| c.are_of(&item.geometry, &item.influences))
    }

    fn is_cancelled(&self, of: Owner, item: &MeshItem) -> bool {
        self.cancelled.get(&of).is_some_and(|(geometry, rows)| {
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
        let mut missing: Vec<(Owner, Arc<MeshItem>)> = Vec::new();
        for request in &of_view {
            let body = self.body_of_view(request);
            for mesh in meshes_about_centres(&self.document, std::slice::from_ref(request)) {
                let of = (body, mesh);
                let item = self.item_of_body(body, mesh);
                if let Some(item) = item.filter(|item| !self.centres.has(of, item)) {
                    missing.push((of, item));
                }
            }
        }
        let (first, item) = missing.first()?;
        let cancelled = missing
            .iter()
            .all(|(of, item)| self.centres.is_cancelled(*of, item));
        let previous = self.centres.known.get(first);
        let has_previous = previous.is_some_and(|centres| centres.fit(&item.geometry));
        let job = self.centres.job.as_ref();
        let is_computed = job.is_some_and(|(running, job)| {
            missing.iter().any(|(of, _)| of == running) && job.has_started()
        });
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
        let mut wanted = self
            .views_of_bodies()
            .into_iter()
            .flat_map(|(body, views)| {
                let meshes = meshes_about_centres(&self.document, &views);
                meshes.into_iter().map(move |mesh| (body, mesh))
            });
        let next = wanted.find_map(|of| {
            let item = self.item_of_body(of.0, of.1)?;
            let is_known = self.centres.has(of, &item) || self.centres.is_cancelled(of, &item);
            (!is_known).then_some((of, item))
        });
        let Some((of, item)) = next else {
            return false;
        };
        let (geometry, rows) = (item.geometry.clone(), item.influences.clone());
        let label = format!("Centres of rotation of {}", self.mesh_label(of.1));
        let job = self.lane.submit(EditorJob::Centres, &label, move |task| {
            Centres::compute(&geometry, &rows, task)
        });
        self.centres.job = Some((of, job));
        true
    }

    /// Takes the result of a computation that has ended.
    pub(super) fn take_centres(&mut self) {
        let Some((of, job)) = self.centres.job.take_if(|(_, job)| job.has_ended()) else {
            return;
        };
        let item = self.item_of_body(of.0, of.1);
        let why = match job.into_result() {
            Ok(Ok(centres)) => {
                if item
                    .as_ref()
                    .is_some_and(|item| centres.fit(&item.geometry))
                {
                    self.centres.known.insert(of, Arc::new(centres));
                    self.centres.cancelled.remove(&of);
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
            let mesh = (item.geometry.clone(), item.influences.clone());
            self.centres.cancelled.insert(of, mesh);
            self.notify_error(format!(
                "No centres of rotation for {}{why}",
                self.mesh_label(of.1)
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
