//! A mesh of the document as the subject of operations on weights.

use super::session::Normalising;
use super::{Document, MeshId};
use crate::math::Axis;
use crate::mesh::{Mesh, PointSet};
use crate::skeleton::{JointId, Skeleton};
use crate::skinning::PaintRows;
use crate::weights::{JointPairs, Subject};
use glam::DAffine3;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The points and joints that an operation changes.
#[derive(Clone, Debug, Default)]
pub struct SubjectScope {
    /// Which points.
    pub points: PointScope,
    /// Which joints; `None`: all. Locked ones are never changed.
    pub bones: Option<BTreeSet<JointId>>,
}

/// The points that an operation changes.
#[derive(Clone, Debug, Default)]
pub enum PointScope {
    /// All points.
    #[default]
    All,
    /// Only these.
    These(Arc<PointSet>),
}

/// The data that a [`Subject`] borrows.
#[derive(Debug)]
pub struct SubjectParts<'a> {
    mesh: &'a Mesh,
    rows: PaintRows<'a>,
    joints: Vec<JointId>,
    skeleton: &'a Skeleton,
    bind: Vec<DAffine3>,
    to_world: DAffine3,
    locked: Vec<bool>,
    acts_on: Option<Vec<bool>>,
    points: PointScope,
    pairs: JointPairs,
    max_influences: usize,
    keep_sum: bool,
}

impl SubjectParts<'_> {
    /// The subject of the operation.
    pub fn view(&self) -> Subject<'_> {
        Subject {
            mesh: self.mesh,
            rows: self.rows,
            joints: &self.joints,
            skeleton: self.skeleton,
            bind: &self.bind,
            to_world: self.to_world,
            locked: &self.locked,
            acts_on: self.acts_on.as_deref(),
            points: match &self.points {
                PointScope::All => None,
                PointScope::These(points) => Some(points),
            },
            pairs: &self.pairs,
            max_influences: self.max_influences,
            keep_sum: self.keep_sum,
        }
    }
}

impl Document {
    /// The position of the symmetry plane of a mesh along `axis`, in its bind pose, metres
    /// ([`Subject::mirror_centre`]).
    pub fn mirror_centre(&self, mesh: MeshId, axis: Axis) -> f32 {
        let parts = self.subject_to_read(mesh, SubjectScope::default());
        parts.map_or(0.0, |parts| parts.view().mirror_centre(axis))
    }

    /// The axis of the bind pose of a mesh that separates left from right ([`Subject::side_axis`]).
    pub fn side_axis(&self, mesh: MeshId) -> Option<Axis> {
        let parts = self.subject_to_read(mesh, SubjectScope::default()).ok()?;
        parts.view().side_axis()
    }

    /// The subject of an operation on the weights of `mesh`, or a message why there is none.
    pub fn subject(&self, mesh: MeshId, scope: SubjectScope) -> Result<SubjectParts<'_>, String> {
        match self.why_not_paintable(mesh) {
            Some(why) => Err(why),
            None => self.subject_to_read(mesh, scope),
        }
    }

    /// As [`Document::subject`], for operations that only read: the active layer may be hidden.
    pub fn subject_to_read(
        &self,
        mesh: MeshId,
        scope: SubjectScope,
    ) -> Result<SubjectParts<'_>, String> {
        let item = self
            .meshes
            .get(&mesh)
            .ok_or("The mesh does not exist any more.")?;
        let name = &item.geometry.name;
        let not_skinned =
            || format!("\"{name}\" is not skinned: it follows one bone, so it has no weights.");
        let (_, skin) = self.skin_of_mesh(mesh).ok_or_else(not_skinned)?;
        let n = self.n_skin_joints(mesh).unwrap_or(0);
        let rows = self.paint_rows(mesh).ok_or_else(not_skinned)?;
        let joints = skin.joints[..n].to_vec();
        let inverse = |m: &DAffine3| {
            let inverse = m.inverse();
            if inverse.is_finite() {
                inverse
            } else {
                DAffine3::IDENTITY
            }
        };
        let session = self.session();
        Ok(SubjectParts {
            mesh: &item.geometry,
            rows,
            skeleton: &self.skeleton,
            bind: skin.inverse_bind[..n].iter().map(inverse).collect(),
            to_world: self.world_from_bind(mesh),
            // The slot of a removed joint gets no weight.
            locked: self.skin_locks(mesh)[..n].to_vec(),
            acts_on: scope
                .bones
                .map(|bones| joints.iter().map(|j| bones.contains(j)).collect()),
            points: scope.points,
            pairs: JointPairs::new(&self.skeleton, &session.joint_pairs),
            max_influences: session.brush.max_influences,
            keep_sum: session.brush.normalise != Normalising::Off,
            joints,
        })
    }
}
