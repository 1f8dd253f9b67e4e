//! Replaces the cage mesh of a group. The displacements of its vertices are resampled for the new cage, on the job lane where
//! that takes long.
//!
//! Invariant: the group changes when the new cage is there, in one undo step; until then, and after Cancel, it has the old one.

use super::Editor;
use crate::cluster::cage::CageError;
use crate::cluster::{CageControls, CageMesh, CageSource, ClusterGroup};
use crate::document::MeshId;
use crate::editor::jobs::EditorJob;
use crate::evaluate::{JobError, JobHandle};
use crate::task::Task;
use std::sync::Arc;

/// The replacement under way.
#[derive(Default)]
pub(super) struct CageReplacement(Option<Running>);

struct Running {
    mesh: MeshId,
    group: u16,
    /// The group with its old cage.
    known: Arc<ClusterGroup>,
    source: CageSource,
    label: String,
    job: JobHandle<Result<CageControls, CageError>>,
}

impl CageReplacement {
    fn cancel(&mut self) {
        if let Some(running) = self.0.take() {
            running.job.task().cancel();
        }
    }
}

impl Drop for CageReplacement {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl Editor {
    /// The source of the cage that is replacing the one of a group of the active object; `None` if no job is running.
    pub fn coming_cage(&self, group: u16) -> Option<&CageSource> {
        let running = self.clustering.replacement.0.as_ref()?;
        let is_it = running.group == group && self.clustered_mesh() == Some(running.mesh);
        is_it.then_some(&running.source)
    }

    /// Gives a group of the active object another cage, whose vertices take over the shape; at once, or with a job that takes
    /// the place of the last one.
    pub(super) fn change_cage(&mut self, group: u16, label: &str, mesh: CageMesh) {
        self.clustering.replacement.cancel();
        let Some(known) = self.cluster_groups().get(usize::from(group)).cloned() else {
            return;
        };
        let slow = known.cage.clone();
        if let Some(cage) = slow.filter(|cage| cage.is_slow_to_replace(&mesh)) {
            self.replace_cage_later((group, known), cage, label, mesh);
            return;
        }
        let cage = match &known.cage {
            Some(cage) => cage.with_mesh(mesh, &Task::new()),
            None => Ok(CageControls::new(mesh)),
        };
        self.take_cage((group, &known), label, cage);
    }

    /// Takes a cage that has been computed.
    pub(in crate::editor) fn take_replaced_cage(&mut self) {
        let running = &mut self.clustering.replacement.0;
        let Some(ended) = running.take_if(|running| running.job.has_ended()) else {
            return;
        };
        let cage = match ended.job.into_result() {
            Ok(cage) => cage,
            Err(JobError::Cancelled) => return,
            Err(why @ JobError::Failed) => {
                self.notify_error(why.to_string());
                return;
            }
        };
        let now = self.cluster_groups().get(usize::from(ended.group));
        if self.clustered_mesh() != Some(ended.mesh) || now != Some(&ended.known) {
            self.notify(
                "The group changed while its new cage was computed. Choose the cage again.",
            );
            return;
        }
        self.take_cage((ended.group, &ended.known), &ended.label, cage);
    }

    fn replace_cage_later(
        &mut self,
        (group, known): (u16, Arc<ClusterGroup>),
        cage: Arc<CageControls>,
        label: &str,
        mesh: CageMesh,
    ) {
        let Some(own) = self.clustered_mesh() else {
            return;
        };
        let source = mesh.source().clone();
        let job = self
            .lane
            .submit(EditorJob::ReplaceCage, label, move |task| {
                cage.with_mesh(mesh, task)
            });
        self.clustering.replacement.0 = Some(Running {
            mesh: own,
            group,
            known,
            source,
            label: label.to_owned(),
            job,
        });
    }

    fn take_cage(
        &mut self,
        (group, known): (u16, &ClusterGroup),
        label: &str,
        cage: Result<CageControls, CageError>,
    ) {
        match cage {
            Ok(cage) => {
                let mut changed = known.clone();
                changed.cage = Some(Arc::new(cage));
                self.replace_group(group, changed, label);
            }
            Err(CageError::Cancelled(_)) => {}
            Err(why) => self.notify(super::sentence(&why)),
        }
    }
}
