//! Patch layouts, computed on the job lane while the viewport shows the previous ones, or none.

use super::Editor;
use super::jobs::EditorJob;
use crate::cluster::{ClusterMap, MeshLayout};
use crate::deform::BodyChoice;
use crate::document::{MeshId, MeshItem};
use crate::evaluate::{JobError, JobHandle, LayoutMap, ViewId, meshes_with_clusters};
use crate::task::Cancelled;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The known layouts, and the computation under way.
#[derive(Default)]
pub(super) struct LayoutSearch {
    /// Each body has its own.
    known: BTreeMap<Owner, Arc<MeshLayout>>,
    job: Option<(Owner, JobHandle<Result<MeshLayout, Cancelled>>)>,
    /// Clusters for which no layout could be computed: it restarts when they change.
    given_up: BTreeMap<Owner, Arc<ClusterMap>>,
}

/// A mesh of a body.
type Owner = (BodyChoice, MeshId);

impl LayoutSearch {
    /// The layouts of a body, for the worker.
    pub(super) fn known(&self, body: BodyChoice) -> LayoutMap {
        let of_body = self.known.iter().filter(|((of, _), _)| *of == body);
        of_body
            .map(|((_, mesh), layout)| (*mesh, layout.clone()))
            .collect()
    }

    fn has(&self, of: Owner, item: &MeshItem) -> bool {
        let known = self.known.get(&of);
        known.is_some_and(|layout| layout.is_of(&item.geometry, &item.clusters))
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
        let known = &self.layouts.known;
        let shown = known.get(&(self.shown_choice(), mesh));
        shown.or_else(|| known.get(&(BodyChoice::Template, mesh)))
    }

    /// A sentence about what a view shows instead of the patches of the current clusters; `None` if it shows those.
    pub fn layout_badge(&self, view: ViewId) -> Option<&'static str> {
        let mut views = self.views_to_know();
        views.retain(|request| request.view == view);
        let body = self.body_of_view(views.first()?);
        let mut missing = meshes_with_clusters(&self.document, &views).filter_map(|mesh| {
            let of = (body, mesh);
            let item = self.item_of_body(body, mesh)?;
            (!self.layouts.has(of, &item)).then_some((of, item))
        });
        let (first, item) = missing.next()?;
        let gave_up = self.layouts.given_up.contains_key(&first);
        let previous = self.layouts.known.get(&first);
        let has_previous = previous.is_some_and(|layout| layout.fits(&item.geometry));
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
        let is_given_up = |of: Owner, map: &Arc<ClusterMap>| {
            let known = self.layouts.given_up.get(&of);
            known.is_some_and(|known| known.marks_same(map) && known.binds_same(map))
        };
        let mut wanted = self
            .views_of_bodies()
            .into_iter()
            .flat_map(|(body, views)| {
                meshes_with_clusters(&self.document, &views).map(move |mesh| (body, mesh))
            });
        let next = wanted.find_map(|of| {
            let item = self.item_of_body(of.0, of.1)?;
            let is_known = self.layouts.has(of, &item) || is_given_up(of, &item.clusters);
            (!is_known).then_some((of, item))
        });
        let Some((of, item)) = next else {
            return false;
        };
        let (geometry, map) = (item.geometry.clone(), item.clusters.clone());
        let label = format!("Patches of {}", self.mesh_label(of.1));
        let earlier = self.layouts.known.get(&of).cloned();
        let job = self.lane.submit(EditorJob::Patches, &label, move |task| {
            MeshLayout::compute_after(earlier.as_deref(), &geometry, &map, task)
        });
        self.layouts.job = Some((of, job));
        true
    }

    /// Takes the result of a computation that has ended.
    pub(super) fn take_layout(&mut self) {
        let Some((of, job)) = self.layouts.job.take_if(|(_, job)| job.has_ended()) else {
            return;
        };
        let item = self.item_of_body(of.0, of.1);
        let why = match job.into_result() {
            Ok(Ok(layout)) => {
                if item
                    .as_ref()
                    .is_some_and(|item| layout.fits(&item.geometry))
                {
                    self.layouts.known.insert(of, Arc::new(layout));
                    self.layouts.given_up.remove(&of);
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
            self.layouts.given_up.insert(of, map);
            self.notify_error(format!("No patches for {}{why}", self.mesh_label(of.1)));
        }
    }
}
