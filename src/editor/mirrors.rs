//! Mirror images of points for painting with symmetry, matched on the lane.

use super::Editor;
use super::jobs::EditorJob;
use crate::document::MeshId;
use crate::evaluate::{JobError, JobHandle};
use crate::math::Axis;
use crate::mesh::{Mesh, Symmetry};
use crate::skeleton::JointId;
use crate::task::Cancelled;
use crate::weights::operation::Mirroring;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The tables of one axis, and the one being computed.
#[derive(Default)]
pub(super) struct Mirrors {
    axis: Option<Axis>,
    /// The user's symmetry pairs, which determine the mirror plane.
    pairs: BTreeMap<JointId, JointId>,
    known: BTreeMap<MeshId, Arc<Symmetry>>,
    /// The number of points without a mirror image, per mesh: panels read it in every frame.
    n_unmatched: BTreeMap<MeshId, usize>,
    /// The geometry of each request, including failed ones.
    requested: BTreeMap<MeshId, Arc<Mesh>>,
    job: Option<(MeshId, JobHandle<Result<Symmetry, Cancelled>>)>,
}

impl Mirrors {
    /// The finished tables.
    pub(super) fn known(&self) -> &BTreeMap<MeshId, Arc<Symmetry>> {
        &self.known
    }

    /// Drops everything.
    pub(super) fn clear(&mut self) {
        if let Some((_, job)) = &self.job {
            job.task().cancel();
        }
        *self = Self::default();
    }
}

impl Editor {
    /// The number of points of a mesh without a mirror image across the plane of the brush's symmetry; `None` while
    /// unknown, or if symmetry is off.
    pub fn n_without_mirror_image(&self, mesh: MeshId) -> Option<usize> {
        let axis = self.document.session().brush.symmetry?;
        let known = self.mirrors.known.get(&mesh)?;
        (known.axis() == axis).then(|| self.mirrors.n_unmatched.get(&mesh).copied())?
    }

    /// The mirror image of a point across the plane of the brush's symmetry.
    pub fn mirror_image(&self, mesh: MeshId, point: u32) -> Option<u32> {
        self.document.session().brush.symmetry?;
        self.mirrors.known.get(&mesh)?.partner(point)
    }

    /// Drops tables of another axis or of other symmetry pairs.
    fn follow_symmetry(&mut self) -> bool {
        let axis = self.document.session().brush.symmetry;
        let pairs = &self.document.session().joint_pairs;
        let is_other = axis != self.mirrors.axis || *pairs != self.mirrors.pairs;
        if is_other {
            self.mirrors.clear();
            self.mirrors.axis = axis;
            self.mirrors.pairs.clone_from(pairs);
        }
        is_other
    }

    /// Starts the next table, that of the active object first. Returns whether it did something.
    pub(super) fn start_mirror_table(&mut self) -> bool {
        let is_other = self.follow_symmetry();
        let axis = self.mirrors.axis;
        let Some(axis) = axis.filter(|_| self.mirrors.job.is_none()) else {
            return is_other;
        };
        let (meshes, requested) = (self.document.meshes(), &self.mirrors.requested);
        let is_known = |mesh: &MeshId| {
            let geometry = meshes.get(mesh).map(|item| &item.geometry);
            let before = requested.get(mesh);
            geometry.is_none_or(|g| before.is_some_and(|b| Arc::ptr_eq(b, g)))
        };
        let active = self.document.session().active_mesh.into_iter();
        let next = active
            .chain(meshes.keys().copied())
            .find(|&mesh| !is_known(&mesh) && self.document.skin_of_mesh(mesh).is_some());
        let Some((mesh, item)) = next.and_then(|mesh| Some((mesh, meshes.get(&mesh)?))) else {
            return is_other;
        };
        let geometry = item.geometry.clone();
        self.mirrors.requested.insert(mesh, geometry.clone());
        self.mirrors.known.remove(&mesh);
        let label = format!("Mirror image of {}", self.mesh_label(mesh));
        let document = self.document.clone();
        let job = self
            .lane
            .submit(EditorJob::MirrorTable, &label, move |task| {
                let tolerance = Mirroring::default().tolerance * diagonal(&geometry);
                let centre = document.mirror_centre(mesh, axis);
                Symmetry::find_about(&geometry, axis, centre, tolerance, task)
            });
        self.mirrors.job = Some((mesh, job));
        true
    }

    /// Takes a table that has ended; one of another axis is dropped.
    pub(super) fn take_mirror_table(&mut self) {
        self.follow_symmetry();
        let Some((mesh, job)) = self.mirrors.job.take_if(|(_, job)| job.has_ended()) else {
            return;
        };
        match job.into_result() {
            Ok(Ok(symmetry)) => {
                let n_unmatched = symmetry.unmatched().count();
                self.mirrors.n_unmatched.insert(mesh, n_unmatched);
                self.mirrors.known.insert(mesh, Arc::new(symmetry));
            }
            Ok(Err(Cancelled)) | Err(JobError::Cancelled) => {
                self.stop_symmetry("The mirror search was cancelled. Symmetry is off.".to_owned());
            }
            Err(error @ JobError::Failed) => {
                self.stop_symmetry(format!(
                    "No mirror image was found: {error}. Symmetry is off."
                ));
            }
        }
    }

    fn stop_symmetry(&mut self, why: String) {
        self.document.session_mut().brush.symmetry = None;
        self.mirrors.clear();
        self.notify_error(why);
    }
}

/// The bounding-box diagonal of a mesh in its bind pose, metres.
fn diagonal(mesh: &Mesh) -> f32 {
    let finite = mesh.positions.iter().filter(|p| p.is_finite());
    let bounds = finite.fold(None, |bounds, &p| {
        let (low, high) = bounds.unwrap_or((p, p));
        Some((low.min(p), high.max(p)))
    });
    bounds.map_or(0.0, |(low, high)| low.distance(high))
}
