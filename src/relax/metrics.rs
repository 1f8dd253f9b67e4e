//! How well a posed surface keeps its shape: crossings, volume, strain, creases, outline.

use super::crossing::triangles_of;
use super::neighbourhood::Neighbourhood;
use super::region::Region;
use crate::math::Worse;
use crate::mesh::triangle::normal;
use glam::DVec3;
use std::collections::BTreeMap;

/// Measures of the region of a joint at a pose against bind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Metrics {
    /// Triangles that cross another one of their shell, and do not at bind.
    pub crossings: usize,
    /// The volume's change, as a fraction of that at bind.
    pub volume: f64,
    /// The 99th percentile of the edges' change of length, as a fraction.
    pub strain: f64,
    /// The root mean square of the change of the dihedral angles, radians.
    pub dihedral: f64,
    /// The 99th percentile of what points are farther from the bones than at bind, in radii of the joint.
    pub outline: f64,
    /// The longest displacement, in radii of the joint; 0 of the skinned surface.
    pub displacement: f64,
}

/// The directions of the bones that meet at a joint, away from it, unit, at bind and in the pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoneAxes {
    /// Towards the parent and the child, at bind.
    pub bind: [DVec3; 2],
    /// The same in the pose.
    pub posed: [DVec3; 2],
    /// The place of the joint in the pose.
    pub joint: DVec3,
}

impl Metrics {
    /// The measures at `x` of a surface that skinning puts at `skinned`; both n_points, world.
    pub fn new(
        around: &Neighbourhood,
        region: &Region,
        skinned: &[DVec3],
        x: &[DVec3],
        bones: &BoneAxes,
    ) -> Self {
        let surface = &around.surface;
        let pairs = around.crossings(&region.near_triangles, x);
        let moves = |points: &[u32]| points.iter().any(|&p| region.is_free(p));
        let strains = surface
            .edges()
            .filter(|&(a, b)| moves(&[a, b]))
            .map(|(a, b)| {
                let (a, b) = (a as usize, b as usize);
                (x[a].distance(x[b]) / surface.bind[a].distance(surface.bind[b]) - 1.0).abs()
            });
        let gains = region.free.iter().map(|&p| {
            let bind = bones.distance(bones.bind, surface.bind[p as usize]);
            let posed = bones.distance(bones.posed, x[p as usize] - bones.joint);
            (posed - bind) / around.radius
        });
        let moved = region
            .free
            .iter()
            .map(|&p| x[p as usize].distance(skinned[p as usize]));
        Self {
            crossings: triangles_of(pairs).len(),
            volume: region.closed.volume(x) / region.bind_volume - 1.0,
            strain: percentile_99(strains.collect()),
            dihedral: dihedral_change(around, region, x),
            outline: percentile_99(gains.collect()),
            displacement: moved.fold(0.0, f64::worse) / around.radius,
        }
    }
}

impl BoneAxes {
    /// The distance of a place (from the joint) to the nearer of two rays from the joint.
    #[expect(
        clippy::unused_self,
        reason = "It reads beside the fields it is given."
    )]
    fn distance(&self, axes: [DVec3; 2], place: DVec3) -> f64 {
        let to_ray = |axis: DVec3| (place - axis * place.dot(axis).max(0.0)).length();
        to_ray(axes[0]).min(to_ray(axes[1]))
    }
}

/// The 99th percentile of some values, 0 of none.
fn percentile_99(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let last = values.len().saturating_sub(1) as f64;
    let at = last * 0.99;
    let (low, high) = (at.floor() as usize, at.ceil() as usize);
    match (values.get(low), values.get(high)) {
        (Some(a), Some(b)) => a + (b - a) * at.fract(),
        _ => 0.0,
    }
}

/// The root mean square change of the dihedral angles across edges with a free end, radians.
fn dihedral_change(around: &Neighbourhood, region: &Region, x: &[DVec3]) -> f64 {
    let surface = &around.surface;
    // For each edge, from its lower point, the triangles to its left and right.
    let mut sides: BTreeMap<(u32, u32), [Option<usize>; 2]> = BTreeMap::new();
    for (t, &[a, b, c]) in surface.triangles.iter().enumerate() {
        for (from, to) in [(a, b), (b, c), (c, a)] {
            if region.is_free(from) || region.is_free(to) {
                let pair = sides.entry((from.min(to), from.max(to))).or_default();
                pair[usize::from(from > to)].get_or_insert(t);
            }
        }
    }
    let angle = |x: &[DVec3], (a, b): (u32, u32), [left, right]: [usize; 2]| {
        let face = |t: usize| normal(surface.triangles[t].map(|p| x[p as usize]));
        let along = (x[b as usize] - x[a as usize]).normalize_or_zero();
        let (n, m) = (face(left), face(right));
        along.dot(n.cross(m)).atan2(n.dot(m))
    };
    let (mut sum, mut n) = (0.0, 0);
    for (&edge, &pair) in &sides {
        if let [Some(left), Some(right)] = pair {
            let change = angle(x, edge, [left, right]) - angle(&surface.bind, edge, [left, right]);
            let change = libm::remainder(change, std::f64::consts::TAU);
            sum += change * change;
            n += 1;
        }
    }
    (sum / f64::from(n.max(1))).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_lie_between_the_values_around_them() {
        assert_eq!(percentile_99(Vec::new()), 0.0);
        assert_eq!(percentile_99(vec![7.0]), 7.0);
        assert_eq!(
            percentile_99((0..=100).rev().map(f64::from).collect()),
            99.0
        );
        assert!((percentile_99(vec![0.0, 1.0]) - 0.99).abs() < 1e-15);
    }
}
