//! Discontinuity: the change of the correction along an edge.

use super::{ShapeView, for_each, larger};

/// Edges shorter than this share of the diagonal of the model are left out as seams: rounding of their positions would
/// look like a jump.
const MIN_EDGE: f64 = 1e-6;

/// Edges shorter than this share of the longest edge they meet are measured as if they had that length.
const SLIVER: f64 = 0.25;

/// `max |c_i - c_j| / |v_i - v_j|` over the edges at a point, c the offset of the stack from plain dual quaternion
/// skinning; NaN without edges, and everywhere if the plain shape is not given; infinite where an offset is not finite.
///
/// Where the correction is continuous, the value is bounded for any density of the mesh; where it jumps, the value
/// grows as edges get shorter. Very short edges count as longer ones ([`SLIVER`]): one sliver would else decide the
/// maximum.
pub(super) fn values(shape: &ShapeView<'_>, buffer: Vec<f32>) -> Vec<f32> {
    let n = shape.n_points();
    let Some(plain) = shape.plain.filter(|p| p.len() >= n) else {
        return vec![f32::NAN; n];
    };
    let least = MIN_EDGE * shape.diagonal();
    let length = |p: usize, q: u32| shape.at_rest(p).distance(shape.at_rest(q as usize));
    let longest = for_each(Vec::new(), n, |point| {
        let edges = shape.neighbours(point).iter();
        let longest = edges.map(|&q| length(point, q)).fold(0.0, f64::max);
        longest.min(f64::from(f32::MAX))
    });
    let correction = |p: usize| shape.in_pose(p) - plain[p].as_dvec3();
    for_each(buffer, n, |point| {
        let here = correction(point);
        let mut worst = f64::NAN;
        for &other in shape.neighbours(point) {
            let edge = length(point, other);
            if edge > least {
                let around = longest[point].max(longest[other as usize]);
                let edge = edge.max(SLIVER * f64::from(around));
                worst = larger(worst, here.distance(correction(other as usize)) / edge);
            }
        }
        worst
    })
}

#[cfg(test)]
mod tests {
    use super::super::shape::tests::Tube;
    use super::*;
    use crate::math::Worse;

    #[test]
    fn a_linear_correction_has_its_slope_and_a_jump_its_height_by_the_edge() {
        let mut tube = Tube::new();
        let plain = tube.posed.clone();
        assert!(values(&tube.view(), Vec::new()).iter().all(|v| v.is_nan()));
        for p in &mut tube.posed {
            *p += glam::Vec3::Z * (0.25 * p.x);
        }
        let view = ShapeView {
            plain: Some(&plain),
            ..tube.view()
        };
        assert!(
            values(&view, Vec::new())
                .iter()
                .all(|v| (v - 0.25).abs() < 1e-5)
        );

        let mut tube = Tube::new();
        for p in tube.posed.iter_mut().filter(|p| p.x > 0.1) {
            p.y += 1.0;
        }
        let view = ShapeView {
            plain: Some(&plain),
            ..tube.view()
        };
        let worst = values(&view, Vec::new()).into_iter().fold(0.0, f32::worse);
        assert!(
            (worst - 2.0).abs() < 1e-5,
            "rings are half a metre apart: {worst}"
        );
    }
}
