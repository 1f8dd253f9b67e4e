//! The size of a model, of which tolerances are fractions, and the rounding of its positions.

use super::extent::Extent;
use super::sampler::{JointSet, Sampler};
use crate::skeleton::Pose;
use glam::DAffine3;

/// A rest pose below this fraction of the size in the clips and of the meshes has no size of its own: the armature is
/// scaled down to appear in its clips.
const NO_SIZE: f64 = 1e-3;
/// Clips whose first, middle and last poses are measured.
const MAX_CLIPS: usize = 16;
/// Roundings of f32 that add up in a player, units in the last place of the largest coordinate: what three.js shows of a
/// model 10 km from the origin is off by 3 to 4.
const ROUNDINGS: f64 = 4.0;
/// Rounding below this fraction of the diagonal is not looked for: it is the smallest tolerance.
const LEAST: f64 = 1e-5;

impl Sampler<'_> {
    /// The diagonal of the bounding box of everything in the rest pose, metres; in the middle of the clips where the rest
    /// pose has no size; 1 for an empty document.
    pub(crate) fn diagonal(&self) -> f64 {
        let rest = self.extent(self.document.rest_pose()).diagonal();
        let of_meshes = self.of_meshes();
        let of_meshes = of_meshes.iter().map(Extent::diagonal).fold(0.0, f64::max);
        let is_small = |size: f64| rest < NO_SIZE * size;
        let found = if is_small(of_meshes) {
            let poses = self.poses();
            let sizes = poses.iter().map(|pose| self.extent(pose).diagonal());
            median(sizes.filter(|size| *size > 0.0)).filter(|size| is_small(*size))
        } else {
            None
        };
        found.or((rest > 0.0).then_some(rest)).unwrap_or(1.0)
    }

    /// The distance by which players round positions in the clips, metres; 0 where it is below all tolerances of a model
    /// of this `diagonal`.
    pub(crate) fn rounding(&self, diagonal: f64) -> f64 {
        let of_reach = |reach: f64| ROUNDINGS * f64::from(f32::EPSILON) * reach;
        let is_seen = |rounding: &f64| *rounding > LEAST * diagonal;
        let poses = self.poses();
        let of_meshes = self.of_meshes();
        let bounds = poses
            .iter()
            .map(|pose| self.bound(pose, &of_meshes).reach());
        let bound = median(bounds).map(of_reach).filter(is_seen);
        let exact = bound.and_then(|_| median(poses.iter().map(|pose| self.extent(pose).reach())));
        exact.map(of_reach).filter(is_seen).unwrap_or(0.0)
    }

    /// The poses at the beginning, in the middle and at the end of clips; the rest pose without any.
    fn poses(&self) -> Vec<Pose> {
        let clips: Vec<_> = self.document.clips().values().collect();
        let step = clips.len().div_ceil(MAX_CLIPS).max(1);
        let chosen = clips.iter().step_by(step);
        let poses = chosen.flat_map(|clip| {
            let ends = [clip.start_secs(), clip.end_secs()].map(f64::from);
            let times = [ends[0], 0.5 * (ends[0] + ends[1]), ends[1]];
            times.map(|secs| self.document.pose_of_clip(clip, secs))
        });
        let poses: Vec<Pose> = poses.collect();
        if poses.is_empty() {
            vec![Pose::clone(self.document.rest_pose())]
        } else {
            poses
        }
    }

    /// The box of everything in a pose under linear blend skinning.
    fn extent(&self, pose: &Pose) -> Extent {
        let mut extent = self.linear_extent(pose);
        let world = pose.world_matrices(self.document.skeleton());
        let instances = self.document.instances().values();
        for instance in instances.filter(|i| i.skin.is_none()) {
            let place = world[instance.joint.get()];
            if let Some(item) = self.item(instance.mesh) {
                let points = item.geometry.positions.iter();
                points.for_each(|p| extent.extend(place.transform_point3(p.as_dvec3()).as_vec3()));
            }
        }
        extent
    }

    /// The box of the mesh of each instance with a skin, bind space.
    fn of_meshes(&self) -> Vec<Extent> {
        let mesh = self.instances.iter().map(|drawn| self.item(drawn.mesh));
        let points = mesh.map(|item| item.map_or(&[][..], |item| &item.geometry.positions));
        points
            .map(|points| points.iter().copied().collect())
            .collect()
    }

    /// A box around the skinned meshes in a pose: each joint moves the box of a mesh.
    fn bound(&self, pose: &Pose, of_meshes: &[Extent]) -> Extent {
        let world = pose.world_matrices(self.document.skeleton());
        let mut extent = Extent::EMPTY;
        for (drawn, of_mesh) in self.instances.iter().zip(of_meshes) {
            for matrix in matrices(&self.joint_sets[drawn.joint_set], &world) {
                let corners = of_mesh
                    .corners()
                    .map(|p| matrix.transform_point3(p.as_dvec3()));
                corners.for_each(|p| extent.extend(p.as_vec3()));
            }
        }
        extent
    }
}

/// Bind space -> world of each joint.
fn matrices<'a>(set: &'a JointSet, world: &'a [DAffine3]) -> impl Iterator<Item = DAffine3> + 'a {
    let joints = set.joints.iter().zip(&set.inverse_bind);
    joints.map(|(joint, inverse)| world[joint.get()] * *inverse)
}

/// The middle of some numbers, the larger of two.
fn median(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let mut all: Vec<f64> = numbers.collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_two_is_the_larger() {
        assert_eq!(median([2.0, 1.0].into_iter()), Some(2.0));
        assert_eq!(median([5.0, 1e20, 3.0].into_iter()), Some(5.0));
        assert_eq!(median(std::iter::empty()), None);
    }
}
