//! Difference: the distance between the results of two stacks.

use super::{ShapeView, for_each};
use crate::math::Worse;

/// `|v' - v'_other|`, metres; NaN where the other shape is not given, infinite where a position is not finite.
pub(super) fn values(shape: &ShapeView<'_>, buffer: Vec<f32>) -> Vec<f32> {
    let other = shape.other.filter(|o| o.len() >= shape.n_points());
    for_each(buffer, shape.n_points(), |point| {
        other.map_or(f64::NAN, |o| {
            0.0.worse(shape.in_pose(point).distance(o[point].as_dvec3()))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::shape::tests::Tube;
    use super::*;

    #[test]
    fn a_shift_is_its_length() {
        let tube = Tube::new();
        let other: Vec<_> = tube
            .posed
            .iter()
            .map(|p| *p + glam::Vec3::new(3., 4., 0.))
            .collect();
        let view = ShapeView {
            other: Some(&other),
            ..tube.view()
        };
        assert!(
            values(&view, Vec::new())
                .iter()
                .all(|v| (v - 5.0).abs() < 1e-5)
        );
        assert!(values(&tube.view(), Vec::new()).iter().all(|v| v.is_nan()));
    }
}
