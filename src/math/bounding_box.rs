//! Bounding boxes, represented by their corners.

use glam::Vec3;

/// The corners of a box, which may be rotated or sheared. Bits 0, 1 and 2 of an index tell whether the corner lies at the
/// upper end of the box's x, y and z axis.
pub type Corners = [Vec3; 8];

/// The twelve edges of a box, as pairs of corner indices.
pub const EDGES: [[u32; 2]; 12] = [
    [0, 1],
    [2, 3],
    [4, 5],
    [6, 7],
    [0, 2],
    [1, 3],
    [4, 6],
    [5, 7],
    [0, 4],
    [1, 5],
    [2, 6],
    [3, 7],
];

/// The bounding box of those `points` that are finite; `None` if no point is.
pub fn bounding_box(points: &[Vec3]) -> Option<Corners> {
    let finite = points.iter().filter(|p| p.is_finite());
    let (low, high) = finite.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), &p| {
        (low.min(p), high.max(p))
    });
    let end = |bit: usize, at: usize| if at >> bit & 1 == 0 { low } else { high };
    let corner = |at: usize| Vec3::new(end(0, at).x, end(1, at).y, end(2, at).z);
    (low.x <= high.x).then(|| std::array::from_fn(corner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_join_corners_that_differ_along_one_axis() {
        let points = [Vec3::new(1.0, -2.0, 3.0), Vec3::splat(f32::NAN), Vec3::ZERO];
        let corners = bounding_box(&points).unwrap();
        assert_eq!(corners[0], Vec3::new(0.0, -2.0, 0.0));
        assert_eq!(corners[7], Vec3::new(1.0, 0.0, 3.0));
        let mut length = Vec3::ZERO;
        for [a, b] in EDGES {
            let edge = corners[b as usize] - corners[a as usize];
            assert_eq!(edge.to_array().iter().filter(|x| **x != 0.0).count(), 1);
            length += edge;
        }
        assert_eq!(length, Vec3::new(4.0, 8.0, 12.0));
        assert_eq!(bounding_box(&points[1..2]), None);
    }
}
