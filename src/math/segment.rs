//! Segments in space.

use glam::DVec3;

/// The distance of `p` to a segment, which may be a point.
pub fn distance_to_segment(p: DVec3, [a, b]: [DVec3; 2]) -> f64 {
    let along = b - a;
    let squared = along.length_squared();
    let t = if squared > 0.0 {
        ((p - a).dot(along) / squared).clamp(0.0, 1.0)
    } else {
        0.0
    };
    p.distance(a + along * t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_place_lies_between_the_ends_or_at_one_of_them() {
        let ends = [DVec3::ZERO, DVec3::X * 2.0];
        assert_eq!(distance_to_segment(DVec3::new(1.0, 3.0, 0.0), ends), 3.0);
        assert_eq!(distance_to_segment(DVec3::new(5.0, 4.0, 0.0), ends), 5.0);
        assert_eq!(distance_to_segment(DVec3::Y, [DVec3::ZERO; 2]), 1.0);
    }
}
