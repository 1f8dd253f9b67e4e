//! The points that follow the leaf joints of a skin: they give the length of the bones of those joints.

use super::RowRef;
use glam::{DVec3, Vec3};

/// The points that follow each joint of a skin: they give the virtual tails of leaf joints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeafPoints {
    /// n_joints of the skin: the sum of weight x position over all points, and of weight.
    pub(super) centroids: Vec<(DVec3, f64)>,
    /// n_joints: points that the joint dominates; only of leaves are they kept.
    pub(super) dominated: Vec<Vec<Vec3>>,
}

impl LeafPoints {
    /// Of a skin of `n_joints`; `leaves[k]`: whether joint k may need a tail.
    pub fn new(leaves: &[bool]) -> Self {
        Self {
            centroids: vec![(DVec3::ZERO, 0.0); leaves.len()],
            dominated: vec![Vec::new(); leaves.len()],
        }
    }

    /// Adds a mesh: bind positions and rows of (joint of the skin, weight), one a point; only `leaves` are read.
    pub fn add<'a>(
        &mut self,
        leaves: &[bool],
        positions: &[Vec3],
        rows: impl Iterator<Item = RowRef<'a>>,
    ) {
        for (&p, row) in positions.iter().zip(rows) {
            let mut top: Option<(u16, f32)> = None;
            for (joint, weight) in row.iter() {
                // The order of ties does not change the length of a bone.
                if weight > top.map_or(0.0, |t| t.1) {
                    top = Some((joint, weight));
                }
                if leaves.get(joint as usize) == Some(&true) {
                    let (sum, total) = &mut self.centroids[joint as usize];
                    *sum += p.as_dvec3() * f64::from(weight);
                    *total += f64::from(weight);
                }
            }
            if let Some((joint, _)) = top
                && leaves.get(joint as usize) == Some(&true)
            {
                self.dominated[joint as usize].push(p);
            }
        }
    }
}
