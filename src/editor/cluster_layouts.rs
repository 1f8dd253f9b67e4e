//! Patch layouts, computed on the job lane while the viewport shows the previous ones, or none.

use super::Editor;
use super::jobs::EditorJob;
use crate::cluster::{ClusterMap, MeshLayout};
use crate::document::MeshId;
use crate::evaluate::{
    JobError, JobHandle, LayoutMap, ViewId, ViewRequest, has_layout, meshes_with_clusters,
};
use crate::task::Cancelled;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The known layouts, and the computation under way.
#[derive(Default)]
pub(super) struct LayoutSearch {
    known: LayoutMap,
    job: Option<(MeshId, JobHandle<Result<MeshLayout, Cancelled>>)>,
    /// Clusters for which no layout could be computed: it restarts when they change.
    given_up: BTreeMap<MeshId, Arc<ClusterMap>>,
}

impl LayoutSearch {
    /// The layouts for the worker.
    pub(super) fn known(&self) -> LayoutMap {
        self.known.clone()
    }

    /// Drops everything, for another model.
    pub(super) fn clear(&mut self) {
        if let Some((_, job)) = &self.job {
            job.task().cancel();
        }
        *self = Self::default();
    }
}

impl Editor {
    /// The patch layout of a mesh for its clusters, or for earlier ones while it is computed; `None` without any.
    pub fn patch_layout(&self, mesh: MeshId) -> Option<&Arc<MeshLayout>> {
        self.layouts.known.get(&mesh)
    }

    /// A sentence about what a view shows instead of the patches of the current clusters; `None` if it shows those.
    pub fn layout_badge(&self, view: ViewId) -> Option<&'static str> {
        let mut views = self.views_to_know();
        views.retain(|request| request.view == view);
        let mut missing = meshes_with_clusters(&self.document, &views)
            .filter(|&mesh| !has_layout(&self.document, &self.layouts.known, mesh));
        let first = missing.next()?;
        let gave_up = self.layouts.given_up.contains_key(&first);
        let has_previous = self.layouts.known.contains_key(&first);
        Some(match (gave_up, has_previous) {
            (false, true) => {
                "Laying out the patches between clusters. The previous ones are shown."
            }
            (false, false) => {
                "Laying out the patches between clusters. The deformer stack is shown."
            }
            (true, true) => "The patches were not laid out. The previous ones are shown.",
            (true, false) => "The patches were not laid out. The deformer stack is shown.",
        })
    }

    /// Starts the next computation, and returns whether it did. Waits for the end of a stroke, which marks points at every
    /// dab.
    pub(super) fn start_layout(&mut self) -> bool {
        if self.layouts.job.is_some() || self.history.is_open() {
            return false;
        }
        let views: Vec<ViewRequest> = self.views_to_know();
        let is_given_up = |mesh: MeshId, map: &Arc<ClusterMap>| {
            let known = self.layouts.given_up.get(&mesh);
            known.is_some_and(|known| known.marks_same(map) && known.binds_same(map))
        };
        let next = meshes_with_clusters(&self.document, &views)
            .filter_map(|mesh| Some((mesh, self.document.meshes().get(&mesh)?)))
            .find(|&(mesh, item)| {
                !has_layout(&self.document, &self.layouts.known, mesh)
                    && !is_given_up(mesh, &item.clusters)
            });
        let Some((mesh, item)) = next else {
            return false;
        };
        let (geometry, map) = (item.geometry.clone(), item.clusters.clone());
        let label = format!("Patches of {}", self.mesh_label(mesh));
        let earlier = self.layouts.known.get(&mesh).cloned();
        let job = self.lane.submit(EditorJob::Patches, &label, move |task| {
            MeshLayout::compute_after(earlier.as_deref(), &geometry, &map, task)
        });
        self.layouts.job = Some((mesh, job));
        true
    }

    /// Takes the result of a computation that has ended.
    pub(super) fn take_layout(&mut self) {
        let Some((mesh, job)) = self.layouts.job.take_if(|(_, job)| job.has_ended()) else {
            return;
        };
        let item = self.document.meshes().get(&mesh);
        let why = match job.into_result() {
            Ok(Ok(layout)) => {
                if item.is_some_and(|item| layout.fits(&item.geometry)) {
                    self.layouts.known.insert(mesh, Arc::new(layout));
                    self.layouts.given_up.remove(&mesh);
                    self.evaluation.stale = true;
                }
                return;
            }
            Ok(Err(Cancelled)) | Err(JobError::Cancelled) => {
                ": cancelled; change a cluster or its cage to restart.".to_owned()
            }
            Err(error @ JobError::Failed) => format!(". {error}"),
        };
        if let Some(item) = item {
            let map = item.clusters.clone();
            self.layouts.given_up.insert(mesh, map);
            self.notify_error(format!("No patches for {}{why}", self.mesh_label(mesh)));
        }
    }
}
