//! The training set: frames with the matrices and displacements of the current iterate.

use super::displacements::{Residuals, displacement};
use crate::bake::problem::group::{Group, GroupMesh};
use crate::bake::problem::rows::{WeightRow, blended};
use crate::bake::problem::sampler::{Frame, InstanceFrame, Sampler};
use crate::math::coprime_stride;
use glam::{DAffine3, DMat3, DVec3};
use rayon::prelude::*;

/// Frames with matrices of joints and helpers, and displacements.
pub(crate) struct TrainingSet {
    pub(crate) frames: Vec<Frame>,
    /// By frame, then by joint set of the group.
    pub(crate) matrices: Vec<Vec<Vec<DAffine3>>>,
    /// By mesh: k and n x k displacements of its active points.
    pub(crate) bases: Vec<(usize, Vec<DVec3>)>,
    /// By frame, then by instance of the sampler: weights of the displacements; empty where there are none.
    pub(crate) weights: Vec<Vec<Vec<f64>>>,
}

/// A state of the placement.
#[derive(Clone)]
pub(crate) struct Snapshot {
    /// The number of helpers.
    pub(crate) helpers: usize,
    /// By mesh: rows of the points that were evaluated.
    pub(crate) rows: Vec<Vec<WeightRow>>,
    /// Matrices of the training set: by frame, then by joint set of the group.
    pub(crate) matrices: Vec<Vec<Vec<DAffine3>>>,
}

impl TrainingSet {
    pub(crate) fn new(frames: Vec<Frame>, group: &Group) -> Self {
        let of = |frame: &Frame| {
            let joint_sets = group.joint_sets.iter();
            joint_sets
                .map(|&u| frame.joint_sets[u].with_helpers(&[]))
                .collect()
        };
        Self {
            matrices: frames.iter().map(of).collect(),
            bases: Vec::new(),
            weights: vec![Vec::new(); frames.len()],
            frames,
        }
    }

    /// The displacements of a point of mesh `i`; empty where there are none.
    #[inline]
    pub(crate) fn displacements(&self, part: &GroupMesh, i: usize, point: u32) -> &[DVec3] {
        match (self.bases.get(i), part.active.binary_search(&point)) {
            (Some((k, b)), Ok(a)) => &b[a * k..(a + 1) * k],
            _ => &[],
        }
    }

    /// The bind position of a mesh's point with morph targets and its `displacements`.
    #[inline]
    pub(crate) fn bind_position(
        &self,
        part: &GroupMesh,
        point: u32,
        displacements: &[DVec3],
        m: usize,
        d: usize,
    ) -> DVec3 {
        let position = part.bind(point, &self.frames[m].instances[d]);
        match self.weights[m].get(d) {
            Some(w) if w.len() == displacements.len() => position + displacement(displacements, w),
            _ => position,
        }
    }

    /// The observations of a mesh, at most `most`, at a regular stride: (frame, instance, joint set of the group).
    pub(crate) fn of_part(
        &self,
        sampler: &Sampler<'_>,
        group: &Group,
        part: &GroupMesh,
        most: usize,
    ) -> Vec<(usize, usize, usize)> {
        let joint_set_of = |d: usize| {
            let joint_set = sampler.instances[d].joint_set;
            group
                .joint_sets
                .iter()
                .position(|&u| u == joint_set)
                .unwrap_or(0)
        };
        let all = (0..self.frames.len())
            .flat_map(|m| part.instances.iter().map(move |&d| (m, d, joint_set_of(d))));
        let all: Vec<_> = all.collect();
        let step = stride(all.len(), part.instances.len(), most);
        all.into_iter().step_by(step).collect()
    }

    /// Adds a helper that follows the blend of a row; given a point, it is translated so that the point meets its
    /// target.
    pub(crate) fn add(
        &mut self,
        sampler: &Sampler<'_>,
        group: &Group,
        blend_weights: &WeightRow,
        point: Option<(usize, u32)>,
    ) {
        for (frame, matrices) in self.frames.iter().zip(&mut self.matrices) {
            for (&joint_set, matrices) in group.joint_sets.iter().zip(matrices) {
                let mut matrix = frame.joint_sets[joint_set].blend(blend_weights);
                if let Some((i, point)) = point {
                    let part = &group.meshes[i];
                    let drawn = part
                        .instances
                        .iter()
                        .find(|&&d| sampler.instances[d].joint_set == joint_set);
                    if let Some(&d) = drawn {
                        let drawn = &frame.instances[d];
                        let at = matrix.transform_point3(part.bind(point, drawn));
                        let shift = drawn.target[point as usize].as_dvec3() - at;
                        if shift.is_finite() {
                            matrix.translation += shift;
                        }
                    }
                }
                matrices.push(matrix);
            }
        }
    }

    /// Restores the state of a snapshot and its frames.
    pub(crate) fn restore(&mut self, snapshot: &Snapshot) {
        self.frames.truncate(snapshot.matrices.len());
        self.bases.clear();
        self.weights = vec![Vec::new(); self.frames.len()];
        self.matrices.clone_from(&snapshot.matrices);
    }
}

/// The linear part of a point's matrix and its residual, world.
#[inline]
pub(crate) fn residual(
    part: &GroupMesh,
    point: u32,
    row: &[(u16, f64)],
    matrices: &[DAffine3],
    drawn: &InstanceFrame,
) -> (DMat3, DVec3) {
    let matrix = blended(row, matrices);
    let position = matrix.transform_point3(part.bind(point, drawn));
    (
        matrix.matrix3,
        drawn.target[point as usize].as_dvec3() - position,
    )
}

/// The residuals of `points` with their rows in these observations.
pub(crate) fn residuals(
    part: &GroupMesh,
    frames: &[Frame],
    matrices: &[Vec<Vec<DAffine3>>],
    observations: &[(usize, usize, usize)],
    points: &[(u32, &WeightRow)],
) -> Residuals {
    let t = observations.len();
    let mut a = vec![[0.0f32; 9]; t * points.len()];
    let mut r = vec![[0.0f32; 3]; t * points.len()];
    let rows = a.par_chunks_mut(t.max(1)).zip(r.par_chunks_mut(t.max(1)));
    rows.zip(points).for_each(|((a, r), (p, row))| {
        for ((a, r), &(m, d, u)) in a.iter_mut().zip(r).zip(observations) {
            let (matrix, rest) = residual(part, *p, row, &matrices[m][u], &frames[m].instances[d]);
            *a = matrix.to_cols_array().map(|x| x as f32);
            *r = rest.to_array().map(|x| x as f32);
        }
    });
    Residuals { t, a, r }
}

/// The stride that leaves at most `most` of `n` observations. They are ordered by frame, then by instance: the stride is
/// coprime to the number of instances, so that every instance is observed.
fn stride(n: usize, n_instances: usize, most: usize) -> usize {
    let least = n.div_ceil(most.max(1)).max(1);
    coprime_stride(least, n_instances)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instance_is_observed() {
        assert_eq!(stride(80, 1, 128), 1);
        assert_eq!(stride(170, 1, 128), 2);
        for (n_frames, n_instances, most) in [(85, 2, 128), (40, 6, 100), (7, 9, 12), (3, 1, 1)] {
            let n = n_frames * n_instances;
            let step = stride(n, n_instances, most);
            let kept: Vec<usize> = (0..n).step_by(step).collect();
            assert!(!kept.is_empty() && kept.len() <= most);
            for instance in 0..n_instances.min(kept.len()) {
                assert!(
                    kept.iter().any(|i| i % n_instances == instance),
                    "{instance} of {n_instances}"
                );
            }
        }
        // No instances.
        assert_eq!((stride(0, 0, 48), stride(0, 3, 0)), (1, 1));
    }
}
