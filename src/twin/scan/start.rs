//! Where an alignment starts.

use super::points::Scan;
use super::rigid::Rigid;
use super::surface::SignedSurface;
use crate::math::dual_quaternion::quat_from_rotation;
use crate::math::symmetric_eigen;
use crate::math::transform::normalize_or_identity;
use glam::{DMat3, DVec3};
use serde::Serialize;

/// Where an alignment started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// From the places in the file.
    Given,
    /// From the centroids of both, without rotation.
    Centroid,
    /// From the centroids and the principal axes of both.
    Axes,
}

/// The motions to try: as given, the centroids, and the 24 rotations that take principal axes to principal axes.
pub(super) fn starts(body: &SignedSurface, scan: &Scan) -> Vec<(Start, Rigid)> {
    let to = Moments::of_surface(body);
    let from = match scan.surface() {
        Some(surface) => Moments::of_surface(surface),
        None => Moments::of_points(scan.points()),
    };
    let mut starts = vec![(Start::Given, Rigid::IDENTITY)];
    let (Some(to), Some(from)) = (to, from) else {
        return starts;
    };
    let centred = Rigid {
        translation: to.centre - from.centre,
        ..Rigid::IDENTITY
    };
    starts.push((Start::Centroid, centred));
    for turn in axis_rotations() {
        let rotation = to.axes * turn * from.axes.transpose();
        let rotation = normalize_or_identity(quat_from_rotation(rotation));
        starts.push((Start::Axes, Rigid::about(rotation, from.centre, to.centre)));
    }
    starts
}

/// The rotations that take the axes to axes.
fn axis_rotations() -> impl Iterator<Item = DMat3> {
    let axes = [DVec3::X, DVec3::Y, DVec3::Z];
    let signed = move || axes.into_iter().flat_map(|axis| [axis, -axis]);
    let pairs = signed().flat_map(move |x| signed().map(move |y| (x, y)));
    let pairs = pairs.filter(|(x, y)| x.dot(*y) == 0.0);
    pairs.map(|(x, y)| DMat3::from_cols(x, y, x.cross(y)))
}

/// The centroid and the principal axes of a shape.
struct Moments {
    centre: DVec3,
    /// As columns, a rotation; the longest first.
    axes: DMat3,
}

impl Moments {
    /// Of a surface, by area.
    fn of_surface(surface: &SignedSurface) -> Option<Self> {
        let points = surface.points();
        let corners = |t: &[u32; 3]| t.map(|p| points[p as usize]);
        // About a point nearby, so that places far away lose no digits.
        let origin = *points.first()?;
        let (mut area, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
        for t in surface.triangles() {
            let [a, b, c] = corners(t).map(|p| p - origin);
            let twice = (b - a).cross(c - a).length();
            let sum = a + b + c;
            area += twice;
            first += sum * (twice / 3.0);
            // The integral of x x^T over a triangle: its area / 12 times the sum over its corners and their sum.
            for v in [a, b, c, sum] {
                second += outer(v) * (twice / 12.0);
            }
        }
        Self::of(origin, area, first, second)
    }

    fn of_points(points: &[DVec3]) -> Option<Self> {
        let origin = *points.first()?;
        let (mut first, mut second) = (DVec3::ZERO, DMat3::ZERO);
        for p in points {
            let v = *p - origin;
            first += v;
            second += outer(v);
        }
        Self::of(origin, points.len() as f64, first, second)
    }

    fn of(origin: DVec3, mass: f64, first: DVec3, second: DMat3) -> Option<Self> {
        let mean = first / mass;
        let spread = second * (1.0 / mass) - outer(mean);
        let size = spread.x_axis.x + spread.y_axis.y + spread.z_axis.z;
        if !(mass > 0.0 && size > 0.0 && size.is_finite() && mean.is_finite()) {
            return None;
        }
        let rows = (spread * (1.0 / size)).transpose().to_cols_array_2d();
        let (values, vectors) = symmetric_eigen(rows);
        let mut order = [0, 1, 2];
        order.sort_by(|&i: &usize, &j| values[j].total_cmp(&values[i]).then(i.cmp(&j)));
        let axis =
            |k: usize| DVec3::from_array([0, 1, 2].map(|i| vectors[i][k])).normalize_or_zero();
        let (long, middle) = (axis(order[0]), axis(order[1]));
        Some(Self {
            centre: origin + mean,
            axes: DMat3::from_cols(long, middle, long.cross(middle)),
        })
    }
}

fn outer(v: DVec3) -> DMat3 {
    DMat3::from_cols(v * v.x, v * v.y, v * v.z)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axes_of_a_box_are_its_edges_and_24_rotations_map_them() {
        let all: Vec<DMat3> = axis_rotations().collect();
        assert_eq!(all.len(), 24);
        assert!(all.iter().all(|m| (m.determinant() - 1.0).abs() < 1e-15));
        assert!((1..24).all(|i| !all[..i].contains(&all[i])));
        let corners = (0..8).map(|i| {
            let side = |bit: i32| if i & bit == 0 { -1.0 } else { 1.0 };
            DVec3::new(side(1) * 0.1, side(2) * 3.0, side(4)) + DVec3::splat(7.0)
        });
        let corners: Vec<DVec3> = corners.collect();
        let moments = Moments::of_points(&corners).unwrap();
        assert!(moments.centre.distance(DVec3::splat(7.0)) < 1e-12);
        let axes = [
            moments.axes.x_axis,
            moments.axes.y_axis,
            moments.axes.z_axis,
        ];
        for (axis, wanted) in axes.into_iter().zip([DVec3::Y, DVec3::Z, DVec3::X]) {
            assert!((axis.dot(wanted).abs() - 1.0).abs() < 1e-12, "{axis}");
        }
        assert!(Moments::of_points(&corners[..1]).is_none());
    }
}
