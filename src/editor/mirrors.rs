//! Mirror images of points for painting with symmetry, matched on the lane.

use super::Editor;
use super::jobs::EditorJob;
use crate::document::{Document, MeshId, Skin};
use crate::evaluate::{JobError, JobHandle};
use crate::math::Axis;
use crate::mesh::{Mesh, Symmetry};
use crate::skeleton::{JointId, Skeleton};
use crate::task::Cancelled;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The tables of one axis, and the one being computed.
#[derive(Default)]
pub(super) struct Mirrors {
    axis: Option<Axis>,
    /// The user's symmetry pairs, which determine the mirror plane.
    pairs: BTreeMap<JointId, JointId>,
    known: BTreeMap<MeshId, Arc<Symmetry>>,
    /// The axis that separates left from right, per mesh: panels read it in every frame.
    sides: BTreeMap<MeshId, Option<Axis>>,
    /// The number of points without a mirror image, per mesh: panels read it in every frame.
    n_unmatched: BTreeMap<MeshId, usize>,
    /// The source of each requested table, including failed ones.
    requested: BTreeMap<MeshId, Source>,
    job: Option<(MeshId, TableJob)>,
}

type TableJob = JobHandle<Result<Arc<Symmetry>, Cancelled>>;

/// What a table depends on: the points, and the bones that place the mirror plane.
struct Source {
    geometry: Arc<Mesh>,
    skeleton: Arc<Skeleton>,
    skin: Arc<Skin>,
}

impl Source {
    /// `None` for a mesh that no longer exists or has no skin: it needs no table.
    fn of(document: &Document, mesh: MeshId) -> Option<Self> {
        let geometry = document.meshes().get(&mesh)?.geometry.clone();
        let (_, skin) = document.skin_of_mesh(mesh)?;
        Some(Self {
            geometry,
            skeleton: document.skeleton().clone(),
            skin: skin.clone(),
        })
    }

    fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.geometry, &other.geometry)
            && Arc::ptr_eq(&self.skeleton, &other.skeleton)
            && Arc::ptr_eq(&self.skin, &other.skin)
    }
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

    /// The axis that separates left from right in the active mesh; X if its bones do not determine it.
    pub fn side_axis(&self) -> Axis {
        let mesh = self.document.session().active_mesh;
        let axis = mesh.and_then(|mesh| self.document.side_axis(mesh));
        axis.unwrap_or_default()
    }

    /// The axis that separates left from right in a mesh, if the brush's symmetry uses another one.
    pub fn other_side_axis(&self, mesh: MeshId) -> Option<Axis> {
        let axis = self.document.session().brush.symmetry?;
        let side = self.mirrors.sides.get(&mesh).copied().flatten()?;
        (side != axis).then_some(side)
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

    /// Starts the next table, that of the active object first. Returns whether it did something. Waits while a step is
    /// open, because its edits may still move bones.
    pub(super) fn start_mirror_table(&mut self) -> bool {
        let is_other = self.follow_symmetry();
        let is_ready = self.mirrors.job.is_none() && !self.history.is_open();
        let Some(axis) = self.mirrors.axis.filter(|_| is_ready) else {
            return is_other;
        };
        let requested = &self.mirrors.requested;
        let active = self.document.session().active_mesh.into_iter();
        let mut meshes = active.chain(self.document.meshes().keys().copied());
        let next = meshes.find_map(|mesh| {
            let source = Source::of(&self.document, mesh)?;
            let is_known = requested
                .get(&mesh)
                .is_some_and(|known| known.is_same(&source));
            (!is_known).then_some((mesh, source))
        });
        let Some((mesh, source)) = next else {
            return is_other;
        };
        self.mirrors.requested.insert(mesh, source);
        let side = self.document.side_axis(mesh);
        self.mirrors.sides.insert(mesh, side);
        self.mirrors.known.remove(&mesh);
        let label = format!("Mirror image of {}", self.mesh_label(mesh));
        let (document, symmetries) = (self.document.clone(), self.symmetries.clone());
        let job = self
            .lane
            .submit(EditorJob::MirrorTable, &label, move |task| {
                symmetries.of(&document, mesh, axis, task)
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
                self.mirrors.known.insert(mesh, symmetry);
            }
            Ok(Err(Cancelled)) | Err(JobError::Cancelled) => {
                self.stop_symmetry("The mirror search was cancelled. Symmetry is off.".to_owned());
            }
            Err(error @ JobError::Failed) => {
                self.stop_symmetry(format!(
                    "No mirror image was found. {error} Symmetry is off."
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
