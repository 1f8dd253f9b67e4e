//! Centres of rotation, sought on the lane while the picture goes on without them or with the previous ones.

use super::Editor;
use crate::document::{Document, MeshId};
use crate::evaluate::{
    CentreMap, Job, JobError, ViewId, ViewRequest, has_centres, meshes_about_centres,
};
use crate::mesh::Mesh;
use crate::skinning::{Centres, Influences};
use crate::task::{Cancelled, Task};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is known of centres, and the search under way.
#[derive(Default)]
pub(super) struct CentreSearch {
    known: CentreMap,
    job: Option<(MeshId, Job<Result<Centres, Cancelled>>)>,
    /// What the artist cancelled the search for: it begins again when the weights change.
    declined: BTreeMap<MeshId, (Arc<Mesh>, Influences)>,
}

impl CentreSearch {
    /// What to give the worker.
    pub(super) fn known(&self) -> CentreMap {
        self.known.clone()
    }

    /// Whether no search is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.job.is_none()
    }

    /// Forgets everything, for another model.
    pub(super) fn clear(&mut self) {
        if let Some((_, job)) = &self.job {
            job.task.cancel();
        }
        *self = Self::default();
    }

    fn is_declined(&self, document: &Document, mesh: MeshId) -> bool {
        let Some(item) = document.meshes().get(&mesh) else {
            return true;
        };
        self.declined.get(&mesh).is_some_and(|(geometry, rows)| {
            let (before, now) = (rows.chunks(), item.influences.chunks());
            Arc::ptr_eq(geometry, &item.geometry)
                && before.len() == now.len()
                && before.iter().zip(now).all(|(a, b)| Arc::ptr_eq(a, b))
        })
    }
}

impl Editor {
    /// The job that the status bar shows: the file job, then an export that is computed, an operation on weights, then the search for centres of
    /// rotation, then those for mirror images.
    pub fn running(&self) -> Option<(&str, &Task)> {
        let of_centres = self.centres.job.as_ref();
        let of_mirrors = self.mirrors.running();
        self.job
            .as_ref()
            .map(|job| (job.label(), job.task()))
            .or_else(|| self.exporting.running())
            .or_else(|| self.operations.running())
            .or_else(|| of_centres.map(|(_, job)| (job.label.as_str(), &job.task)))
            .or(of_mirrors)
            .or_else(|| self.mirrored_running())
            .or_else(|| self.mirroring_running())
    }

    /// Stops the job that the status bar shows.
    pub fn cancel_running(&mut self) {
        if let Some((_, task)) = self.running() {
            task.cancel();
        }
    }

    /// What a view shows instead of centres of rotation of the present weights, in a sentence; `None` while it shows
    /// those, or was not asked to.
    pub fn centres_badge(&self, view: ViewId) -> Option<&'static str> {
        let shown = self.views.requests();
        let is_shown = |r: &ViewRequest| shown.iter().any(|s| s.view == r.view);
        let of_view: Vec<_> = self
            .views_to_know()
            .into_iter()
            // What a heat map compares with is seen in every view.
            .filter(|r| r.view == view || !is_shown(r))
            .collect();
        let missing: Vec<MeshId> = meshes_about_centres(&self.document, &of_view)
            .into_iter()
            .filter(|&mesh| !has_centres(&self.document, &self.centres.known, mesh))
            .collect();
        let first = *missing.first()?;
        let declined = missing
            .iter()
            .all(|&mesh| self.centres.is_declined(&self.document, mesh));
        let has_previous = self.centres.known.contains_key(&first);
        Some(match (declined, has_previous) {
            (false, true) => "Centres are being computed; shown with the previous ones",
            (false, false) => "Centres are being computed; shown as dual quaternion skinning",
            (true, true) => "Centres were not computed; shown with the previous ones",
            (true, false) => "Centres were not computed; shown as dual quaternion skinning",
        })
    }

    /// Takes a finished search over and begins the next one. A stroke is waited for: it changes weights at every dab.
    pub(super) fn poll_centres(&mut self) {
        self.take_centres();
        if self.centres.job.is_some() || self.history.is_open() {
            return;
        }
        let wanted = meshes_about_centres(&self.document, &self.views_to_know())
            .into_iter()
            .find(|&mesh| {
                !has_centres(&self.document, &self.centres.known, mesh)
                    && !self.centres.is_declined(&self.document, mesh)
            });
        let Some(mesh) = wanted else { return };
        let Some(item) = self.document.meshes().get(&mesh) else {
            return;
        };
        let (geometry, rows) = (item.geometry.clone(), item.influences.clone());
        let label = format!("Centres of rotation of {}", self.mesh_label(mesh));
        let job = self
            .lane
            .submit(&label, move |task| Centres::compute(&geometry, &rows, task));
        self.centres.job = Some((mesh, job));
    }

    fn take_centres(&mut self) {
        let Some((mesh, job)) = self.centres.job.take() else {
            return;
        };
        let item = self.document.meshes().get(&mesh);
        match job.try_result() {
            Err(JobError::NotReady) => self.centres.job = Some((mesh, job)),
            Ok(Ok(centres)) => {
                if item.is_some_and(|item| centres.fit(&item.geometry)) {
                    self.centres.known.insert(mesh, Arc::new(centres));
                    self.centres.declined.remove(&mesh);
                    self.state.stale = true;
                }
            }
            result @ (Ok(Err(Cancelled)) | Err(JobError::Failed)) => {
                if let Some(item) = item {
                    let of = (item.geometry.clone(), item.influences.clone());
                    self.centres.declined.insert(mesh, of);
                    let what = match result {
                        Err(error) => error.to_string(),
                        _ => "they were cancelled; change a weight to begin again".to_owned(),
                    };
                    self.say_error(format!(
                        "No centres of rotation for {}: {what}.",
                        self.mesh_label(mesh)
                    ));
                }
            }
        }
    }

    pub(super) fn mesh_label(&self, mesh: MeshId) -> String {
        let item = self.document.meshes().get(&mesh);
        item.map(|item| item.geometry.name.clone())
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| "the mesh".to_owned())
    }
}
