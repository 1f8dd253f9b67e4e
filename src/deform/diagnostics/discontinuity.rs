//! Discontinuity: how much the correction changes along an edge.

use super::{ShapeView, for_each};

/// Edges shorter than this share of the model's diagonal are seams, not edges.
const LEAST_EDGE: f64 = 1e-9;

/// `max |c_i - c_j| / |v_i - v_j|` over the edges at a point, c what the stack adds to plain dual quaternion skinning;
/// NaN without edges, and everywhere where the plain shape is not given.
///
/// Where the correction is smooth it has a bound that does not depend on how fine the mesh is; where it jumps it grows
/// as edges get shorter.
pub(super) fn values(shape: &ShapeView<'_>) -> Vec<f32> {
    let plain = shape.plain.filter(|p| p.len() >= shape.n_points());
    let least = LEAST_EDGE * shape.diagonal();
    for_each(shape.n_points(), |point| {
        let Some(plain) = plain else {
            return f64::NAN;
        };
        let correction = |p: usize| shape.in_pose(p) - plain[p].as_dvec3();
        let here = correction(point);
        let p = shape.at_rest(point);
        let mut worst = f64::NAN;
        for &other in shape.neighbours(point) {
            let length = p.distance(shape.at_rest(other as usize));
            if length > least {
                worst = worst.max(here.distance(correction(other as usize)) / length);
            }
        }
        worst
    })
}

#[cfg(test)]
mod tests {
    use super::super::shape::tests::Tube;
    use super::*;

    #[test]
    fn a_linear_correction_has_its_slope_and_a_jump_its_height_by_the_edge() {
        let mut tube = Tube::new();
        let plain = tube.posed.clone();
        assert!(values(&tube.view()).iter().all(|v| v.is_nan()));
        for p in &mut tube.posed {
            *p += glam::Vec3::Z * (0.25 * p.x);
        }
        let view = ShapeView {
            plain: Some(&plain),
            ..tube.view()
        };
        assert!(values(&view).iter().all(|v| (v - 0.25).abs() < 1e-5));

        let mut tube = Tube::new();
        for p in tube.posed.iter_mut().filter(|p| p.x > 0.1) {
            p.y += 1.0;
        }
        let view = ShapeView {
            plain: Some(&plain),
            ..tube.view()
        };
        let worst = values(&view).into_iter().fold(0.0, f32::max);
        assert!(
            (worst - 2.0).abs() < 1e-5,
            "rings are half a metre apart: {worst}"
        );
    }
}
