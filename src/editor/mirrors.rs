//! Mirror images of points for painting with symmetry, worked out on the lane.

use super::Editor;
use crate::document::MeshId;
use crate::evaluate::{Job, JobError};
use crate::math::Axis;
use crate::mesh::{Mesh, Symmetry};
use crate::skeleton::JointId;
use crate::task::{Cancelled, Task};
use crate::weights::operation::Mirroring;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The tables of one axis, and the one that is being made.
#[derive(Default)]
pub(super) struct Mirrors {
    axis: Option<Axis>,
    /// The artist's own pairs of bones: the plane lies half way between left and right ones.
    pairs: BTreeMap<JointId, JointId>,
    known: BTreeMap<MeshId, Arc<Symmetry>>,
    /// How many points of each have no mirror image: panels show it in each frame.
    n_unmatched: BTreeMap<MeshId, usize>,
    /// The geometry each was made of, also where it could not be made.
    asked: BTreeMap<MeshId, Arc<Mesh>>,
    job: Option<(MeshId, Job<Result<Symmetry, Cancelled>>)>,
}

impl Mirrors {
    /// The tables there are.
    pub(super) fn known(&self) -> &BTreeMap<MeshId, Arc<Symmetry>> {
        &self.known
    }

    /// Whether none is being made.
    pub(super) fn is_idle(&self) -> bool {
        self.job.is_none()
    }

    /// What is being made.
    pub(super) fn running(&self) -> Option<(&str, &Task)> {
        let job = self.job.as_ref();
        job.map(|(_, job)| (job.label.as_str(), &job.task))
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        if let Some((_, job)) = &self.job {
            job.task.cancel();
        }
        *self = Self::default();
    }
}

impl Editor {
    /// How many points of a mesh have no mirror image across the plane of the brush's symmetry; `None` while that is not
    /// known, or symmetry is off.
    pub fn n_without_mirror_image(&self, mesh: MeshId) -> Option<usize> {
        let axis = self.document.session().brush.symmetry?;
        let known = self.mirrors.known.get(&mesh)?;
        (known.axis() == axis).then(|| self.mirrors.n_unmatched.get(&mesh).copied())?
    }

    /// The point on the other side of the brush's symmetry.
    pub fn mirror_image(&self, mesh: MeshId, point: u32) -> Option<u32> {
        self.document.session().brush.symmetry?;
        self.mirrors.known.get(&mesh)?.partner(point)
    }

    /// Takes a finished table over and begins the next one, that of the active object first.
    pub(super) fn poll_mirrors(&mut self) {
        let axis = self.document.session().brush.symmetry;
        let pairs = &self.document.session().joint_pairs;
        if axis != self.mirrors.axis || *pairs != self.mirrors.pairs {
            self.mirrors.clear();
            self.mirrors.axis = axis;
            self.mirrors.pairs.clone_from(pairs);
        }
        self.take_mirror();
        let Some(axis) = axis.filter(|_| self.mirrors.job.is_none()) else {
            return;
        };
        let (meshes, asked) = (self.document.meshes(), &self.mirrors.asked);
        let is_known = |mesh: &MeshId| {
            let geometry = meshes.get(mesh).map(|item| &item.geometry);
            let before = asked.get(mesh);
            geometry.is_none_or(|g| before.is_some_and(|b| Arc::ptr_eq(b, g)))
        };
        let active = self.document.session().active_mesh.into_iter();
        let next = active
            .chain(meshes.keys().copied())
            .find(|&mesh| !is_known(&mesh) && self.document.skin_of_mesh(mesh).is_some());
        let Some((mesh, item)) = next.and_then(|mesh| Some((mesh, meshes.get(&mesh)?))) else {
            return;
        };
        let geometry = item.geometry.clone();
        self.mirrors.asked.insert(mesh, geometry.clone());
        self.mirrors.known.remove(&mesh);
        let label = format!("Mirror image of {}", self.mesh_label(mesh));
        let document = self.document.clone();
        let job = self.lane.submit(&label, move |task| {
            let tolerance = Mirroring::default().tolerance * diagonal(&geometry);
            let centre = document.mirror_centre(mesh, axis);
            Symmetry::find_about(&geometry, axis, centre, tolerance, task)
        });
        self.mirrors.job = Some((mesh, job));
    }

    fn take_mirror(&mut self) {
        let Some((mesh, job)) = self.mirrors.job.take() else {
            return;
        };
        match job.try_result() {
            Err(JobError::NotReady) => self.mirrors.job = Some((mesh, job)),
            Ok(Ok(symmetry)) => {
                let n_unmatched = symmetry.unmatched().count();
                self.mirrors.n_unmatched.insert(mesh, n_unmatched);
                self.mirrors.known.insert(mesh, Arc::new(symmetry));
            }
            Ok(Err(Cancelled)) => self.stop_symmetry(
                "The search for mirror images was cancelled, so symmetry is off.".to_owned(),
            ),
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
        self.say_error(why);
    }
}

/// The diagonal of the bounds of a mesh in bind pose, metres.
fn diagonal(mesh: &Mesh) -> f32 {
    let finite = mesh.positions.iter().filter(|p| p.is_finite());
    let bounds = finite.fold(None, |bounds, &p| {
        let (low, high) = bounds.unwrap_or((p, p));
        Some((low.min(p), high.max(p)))
    });
    bounds.map_or(0.0, |(low, high)| low.distance(high))
}
