//! The input of an operation.

use super::outcome::OperationError;
use super::pairs::JointPairs;
use crate::mesh::{Mesh, PointSet};
use crate::skeleton::{JointId, Skeleton};
use crate::skinning::{PaintRows, RowRef};
use glam::DAffine3;

/// One mesh, with the scope of the operation.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Its geometry in bind pose.
    pub mesh: &'a Mesh,
    /// Its rows: the edited layer over what lies below.
    pub rows: PaintRows<'a>,
    /// The joints that influences index: the skin's list, as far as all skins that draw the mesh agree.
    pub joints: &'a [JointId],
    /// The joint hierarchy.
    pub skeleton: &'a Skeleton,
    /// n_skin_joints: joint space -> mesh space in bind pose.
    pub bind: &'a [DAffine3],
    /// Mesh space -> world in bind pose: the space in which models are compared.
    pub to_world: DAffine3,
    /// n_skin_joints: weights that keep every bit.
    pub locked: &'a [bool],
    /// n_skin_joints: the joints in scope; other unlocked joints are scaled to keep the sum. `None`: all.
    pub acts_on: Option<&'a [bool]>,
    /// The points in scope; `None`: all.
    pub points: Option<&'a PointSet>,
    /// The symmetry pairs of joints.
    pub pairs: &'a JointPairs,
    /// Maximum number of influences of a changed point.
    pub max_influences: usize,
    /// Whether the sum of a changed point is 1.
    pub keep_sum: bool,
}

impl<'a> Subject<'a> {
    /// Number of points of the mesh.
    pub fn n_points(&self) -> usize {
        self.mesh.n_points()
    }

    /// The row of `point`.
    pub fn row(&self, point: u32) -> RowRef<'a> {
        self.rows.row(point)
    }

    /// Whether `joint`, an index of the skin, keeps its weights.
    pub fn is_locked(&self, joint: u16) -> bool {
        self.locked
            .get(usize::from(joint))
            .copied()
            .unwrap_or(false)
    }

    /// Whether `joint`, an index of the skin, is in scope.
    pub fn acts_on(&self, joint: u16) -> bool {
        let is_in = |joints: &[bool]| joints.get(usize::from(joint)).copied().unwrap_or(false);
        !self.is_locked(joint) && self.acts_on.is_none_or(is_in)
    }

    /// Whether `point` is in scope.
    pub fn includes(&self, point: u32) -> bool {
        self.points.is_none_or(|points| points.contains(point))
    }

    /// The points in scope, ascending.
    pub fn scope(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.n_points() as u32).filter(|&point| self.includes(point))
    }

    /// Refuses a subject that cannot change; the error is a message.
    pub(super) fn check(&self) -> Result<(), OperationError> {
        let refused = |why: String| Err(OperationError::Refused(why));
        if self.rows.len() != self.n_points() {
            return refused(format!(
                "\"{}\" has {} vertices but weights for {}.",
                self.mesh.name,
                self.n_points(),
                self.rows.len()
            ));
        }
        let mut joints = 0..self.joints.len() as u16;
        if joints.clone().all(|joint| self.is_locked(joint)) {
            return refused(format!(
                "All bones that move \"{}\" are locked. Unlock some to change their weights.",
                self.mesh.name
            ));
        }
        if !joints.any(|joint| self.acts_on(joint)) {
            return refused(format!(
                "None of the chosen bones can change on \"{}\": they are locked or do not move it.",
                self.mesh.name
            ));
        }
        Ok(())
    }

    /// The same as [`Subject::index_of`], of a joint that must not be locked.
    pub fn unlocked_index_of(&self, joint: JointId) -> Result<u16, OperationError> {
        let index = self.index_of(joint)?;
        if self.is_locked(index) {
            return Err(OperationError::Refused(format!(
                "\"{}\" is locked. Unlock it to change its weights.",
                self.skeleton.label(joint)
            )));
        }
        Ok(index)
    }

    /// The index of a joint in the skin; the error is a message that it has none.
    pub fn index_of(&self, joint: JointId) -> Result<u16, OperationError> {
        let found = self.joints.iter().position(|&j| j == joint);
        found.map(|i| i as u16).ok_or_else(|| {
            OperationError::Refused(format!(
                "\"{}\" is not a bone of the skin that moves \"{}\".",
                self.skeleton.label(joint),
                self.mesh.name
            ))
        })
    }
}
