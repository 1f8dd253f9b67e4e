//! Polygons as triangles.

use crate::task::{Cancelled, Task};
use earcut::Earcut;
use earcut::utils3d::project3d_to_2d;
use glam::{DVec2, DVec3, Vec3};

/// The largest number of corners of a polygon that is triangulated by ear clipping, which takes quadratic time. Larger
/// polygons become fans.
const MAX_CLIPPED: usize = 256;

/// Faces between two checks for cancellation.
const SPAN: usize = 1 << 12;

/// Polygons with three corners or more as triangles of the same points. `corners`: in range; `ends`: of each polygon.
pub(super) fn triangulated(
    positions: &[DVec3],
    corners: &[u32],
    ends: impl Iterator<Item = u32>,
    task: &Task,
) -> Result<Vec<[u32; 3]>, Cancelled> {
    let mut triangles = Vec::with_capacity(corners.len() / 3);
    let mut splitter = Splitter::default();
    let mut first = 0;
    for (i, end) in ends.enumerate() {
        if i.is_multiple_of(SPAN) {
            task.check()?;
        }
        let face = &corners[first..end as usize];
        first = end as usize;
        if let [a, b, c] = *face {
            triangles.push([a, b, c]);
            continue;
        }
        splitter.split(face.iter().map(|&p| positions[p as usize]));
        let of_face = |t: &[u32; 3]| t.map(|i| face[i as usize]);
        triangles.extend(splitter.triangles.iter().map(of_face));
    }
    Ok(triangles)
}

/// Triangulates polygons, with buffers that are used again.
#[derive(Default)]
pub(super) struct Splitter {
    ears: Earcut<f64>,
    points: Vec<[f64; 3]>,
    flat: Vec<[f64; 2]>,
    clipped: Vec<u32>,
    /// Of the latest polygon, as indices of its corners.
    pub(super) triangles: Vec<[u32; 3]>,
    /// Its unit normal, up where it has no area.
    pub(super) normal: Vec3,
}

impl Splitter {
    /// Triangulates a polygon of three corners or more: a convex or large one as a fan, others by ear clipping.
    pub(super) fn split(&mut self, corners: impl Iterator<Item = DVec3>) {
        self.points.clear();
        self.points.extend(corners.map(|p| p.to_array()));
        self.triangles.clear();
        let n = self.points.len();
        self.normal = self.newell();
        let is_small = (4..=MAX_CLIPPED).contains(&n);
        if is_small && project3d_to_2d(&self.points, n, &mut self.flat) && !self.is_convex() {
            self.ears.earcut_slice(&self.flat, &[], &mut self.clipped);
            // Ear clipping leaves out corners on a straight edge, which would open a gap to the next face.
            if self.clipped.len() == 3 * (n - 2) {
                self.triangles.extend(self.clipped.as_chunks::<3>().0);
                let area = |ring: &[u32]| -> f64 {
                    let at = |i: usize| self.flat[ring[i % ring.len()] as usize];
                    let cross = |i: usize| at(i)[0] * at(i + 1)[1] - at(i)[1] * at(i + 1)[0];
                    (0..ring.len()).map(cross).sum()
                };
                let whole: Vec<u32> = (0..n as u32).collect();
                let split: f64 = self.triangles.iter().map(|t| area(t)).sum();
                if split * area(&whole) < 0.0 {
                    self.triangles.iter_mut().for_each(|t| t.swap(1, 2));
                }
                return;
            }
        }
        self.triangles.extend((2..n as u32).map(|i| [0, i - 1, i]));
    }

    /// Whether every corner of the flat polygon bends to the same side as the whole.
    fn is_convex(&self) -> bool {
        let n = self.flat.len();
        let at = |i: usize| DVec2::from_array(self.flat[i % n]);
        let bend = |i: usize| (at(i + 1) - at(i)).perp_dot(at(i + 2) - at(i + 1));
        let area: f64 = (0..n).map(|i| at(i).perp_dot(at(i + 1))).sum();
        (0..n).all(|i| bend(i) * area >= 0.0)
    }

    /// The normal of a polygon by Newell's method.
    fn newell(&self) -> Vec3 {
        let points = self.points.iter().map(|p| DVec3::from_array(*p));
        let next = points.clone().cycle().skip(1);
        let sum: DVec3 = points.zip(next).map(|(a, b)| a.cross(b)).sum();
        sum.try_normalize().unwrap_or(DVec3::Y).as_vec3()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(points: &[[f64; 2]]) -> Vec<[u32; 3]> {
        let mut splitter = Splitter::default();
        splitter.split(points.iter().map(|&[x, y]| DVec3::new(x, y, 0.0)));
        splitter.triangles
    }

    #[test]
    fn a_concave_polygon_is_not_folded() {
        // An arrow head: the corner 2 points inwards.
        let points = [[0., 0.], [2., 0.], [0.5, 0.5], [0., 2.]];
        let triangles = split(&points);
        let area = |&[a, b, c]: &[u32; 3]| {
            let [a, b, c] = [a, b, c].map(|i| DVec2::from(points[i as usize]));
            (b - a).perp_dot(c - a)
        };
        assert_eq!(triangles.len(), 2);
        assert!(triangles.iter().all(|t| area(t) > 0.0), "{triangles:?}");
        let mut reversed = points;
        reversed.reverse();
        assert!(split(&reversed).len() == 2);
    }

    #[test]
    fn corners_on_a_line_keep_their_triangles() {
        let points = [[0., 0.], [1., 0.], [2., 0.], [2., 2.], [0., 2.]];
        assert_eq!(split(&points).len(), 3);
        assert_eq!(split(&[[0., 0.], [1., 0.], [2., 0.], [3., 0.]]).len(), 2);
    }
}
