//! Bulge: the increase of the distance between a point and its bones.

use super::{Segment, ShapeView, for_each};
use crate::math::segment::distance_to_segment;

/// Joints of a point with at most this weight are left out.
const MIN_WEIGHT: f32 = 0.01;

/// The smallest rest distance, as a share of the diagonal of the model: a point on a bone has no radius.
const MIN_RADIUS: f64 = 1e-3;

/// `(D'(v') - D(v)) / max(D(v), eps)`, D the distance to the nearest bone of the joints that move the point with a
/// weight above 0.01. NaN for points that no joint with a bone moves, infinite for those without a finite position.
///
/// Of the heaviest joint alone, the metric would jump where another becomes the heaviest.
pub(super) fn values(shape: &ShapeView<'_>, buffer: Vec<f32>) -> Vec<f32> {
    let least = MIN_RADIUS * shape.diagonal();
    for_each(buffer, shape.n_points(), |point| {
        if point >= shape.influences.len() {
            return f64::NAN;
        }
        let (mut rest, mut posed) = (f64::INFINITY, f64::INFINITY);
        let (p, q) = (shape.at_rest(point), shape.in_pose(point));
        for (joint, weight) in shape.influences.row(point as u32).iter() {
            if weight <= MIN_WEIGHT {
                continue;
            }
            for Segment {
                inflated,
                posed: moved,
            } in shape.segments.of(joint)
            {
                rest = rest.min(distance_to_segment(p, *inflated));
                posed = posed.min(distance_to_segment(q, *moved));
            }
        }
        let radius = rest.max(least);
        if rest.is_finite() && radius > 0.0 {
            // `posed` stays infinite where no distance is a number.
            (posed - rest) / radius
        } else {
            f64::NAN
        }
    })
}

/// The rest distance of a point from the nearest of its bones, metres; `None` where no joint with a bone moves it.
pub(super) fn radius(shape: &ShapeView<'_>, point: u32) -> Option<f64> {
    let index = point as usize;
    if index >= shape.influences.len() || index >= shape.n_points() {
        return None;
    }
    let p = shape.at_rest(index);
    let row = shape.influences.row(point).iter();
    row.filter(|(_, weight)| *weight > MIN_WEIGHT)
        .flat_map(|(joint, _)| shape.segments.of(joint))
        .map(|segment| distance_to_segment(p, segment.inflated))
        .reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::super::shape::tests::Tube;
    use super::*;

    #[test]
    fn a_tube_blown_up_by_a_tenth_bulges_by_a_tenth() {
        let mut tube = Tube::new();
        for p in &mut tube.posed {
            *p *= glam::Vec3::new(1.0, 1.1, 1.1);
        }
        let values = values(&tube.view(), Vec::new());
        assert!(values.iter().all(|v| (v - 0.1).abs() < 1e-6), "{values:?}");
    }

    #[test]
    fn no_bones_or_influences_have_no_bulge() {
        let mut tube = Tube::new();
        tube.segments = super::super::Segments::default();
        assert!(values(&tube.view(), Vec::new()).iter().all(|v| v.is_nan()));
    }
}
