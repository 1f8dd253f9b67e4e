//! Area change of faces.

use super::{ShapeView, for_each};
use glam::DVec3;

/// Faces smaller than this share of the squared diagonal are left out.
const MIN_AREA: f64 = 1e-14;

/// A face that collapses counts as 2^-16 of its area: a mean over faces stays finite.
const MIN_RATIO: f64 = 1.0 / 65536.0;

/// `log2(A' / A)` of the faces at a point, weighted by their area at rest; NaN where no face has one, infinite where one has
/// a corner without a finite position.
pub(super) fn values(shape: &ShapeView<'_>, buffer: Vec<f32>) -> Vec<f32> {
    let least = MIN_AREA * shape.diagonal().powi(2);
    let triangles = shape.triangles();
    let topology = shape.mesh.topology();
    for_each(buffer, shape.n_points(), |point| {
        if triangles.is_empty() {
            return f64::NAN;
        }
        let (mut sum, mut all) = (0.0, 0.0);
        for &f in topology.faces(point as u32) {
            let corners = triangles[f as usize].map(|p| p as usize);
            let rest = area(corners.map(|p| shape.at_rest(p)));
            if rest > least {
                let posed = area(corners.map(|p| shape.in_pose(p)));
                if !posed.is_finite() {
                    return f64::INFINITY;
                }
                let ratio = posed / rest;
                sum += rest * ratio.max(MIN_RATIO).log2();
                all += rest;
            }
        }
        if all > 0.0 { sum / all } else { f64::NAN }
    })
}

/// The area of a triangle.
pub(super) fn area([a, b, c]: [DVec3; 3]) -> f64 {
    0.5 * (b - a).cross(c - a).length()
}

#[cfg(test)]
mod tests {
    use super::super::shape::tests::Tube;
    use super::*;

    #[test]
    fn twice_the_area_is_one_doubling() {
        let mut tube = Tube::new();
        for p in &mut tube.posed {
            *p *= std::f32::consts::SQRT_2;
        }
        assert!(
            values(&tube.view(), Vec::new())
                .iter()
                .all(|v| (v - 1.0).abs() < 1e-5)
        );
    }

    #[test]
    fn a_collapsed_surface_stays_finite() {
        let mut tube = Tube::new();
        tube.posed.fill(glam::Vec3::ZERO);
        assert!(values(&tube.view(), Vec::new()).iter().all(|&v| v == -16.0));
        tube.inflated.fill(glam::Vec3::ZERO);
        assert!(values(&tube.view(), Vec::new()).iter().all(|v| v.is_nan()));
    }
}
