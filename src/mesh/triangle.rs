//! Closest point of a triangle, and whether two triangles cross.

use glam::DVec3;

/// The point of a triangle closest to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Closest {
    /// Weights of the corners, sum 1.
    pub(crate) barycentric: [f64; 3],
    /// It.
    pub(crate) place: DVec3,
    /// Whether it is inside of the face, on no edge.
    pub(crate) is_inside: bool,
}

/// The point of the triangle `[a, b, c]` closest to `p` (Ericson 2005, 5.1.5).
pub(crate) fn closest(p: DVec3, [a, b, c]: [DVec3; 3]) -> Closest {
    let on_edge = |a: DVec3, b: DVec3| {
        let ab = b - a;
        let t = (p - a).dot(ab) / ab.length_squared();
        // A degenerate edge gives NaN.
        let t = if t > 0.0 { t.min(1.0) } else { 0.0 };
        let place = a + ab * t;
        (t, place, p.distance_squared(place))
    };
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let normal = ab.cross(ac);
    let square = normal.length_squared();
    let v = ap.cross(ac).dot(normal) / square;
    let w = ab.cross(ap).dot(normal) / square;
    if v > 0.0 && w > 0.0 && v + w < 1.0 {
        return Closest {
            barycentric: [1.0 - v - w, v, w],
            place: a + ab * v + ac * w,
            is_inside: true,
        };
    }
    let (ab, bc, ca) = (on_edge(a, b), on_edge(b, c), on_edge(c, a));
    let (barycentric, place) = if ab.2 <= bc.2 && ab.2 <= ca.2 {
        ([1.0 - ab.0, ab.0, 0.0], ab.1)
    } else if bc.2 <= ca.2 {
        ([0.0, 1.0 - bc.0, bc.0], bc.1)
    } else {
        ([ca.0, 0.0, 1.0 - ca.0], ca.1)
    };
    Closest {
        barycentric,
        place,
        is_inside: false,
    }
}

/// The unit normal of a triangle, zero where it is degenerate.
pub(crate) fn normal([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a).normalize_or_zero()
}

/// Whether the edges of one of two triangles pass through the other. Triangles that only touch do not cross.
pub(crate) fn cross(a: [DVec3; 3], b: [DVec3; 3]) -> bool {
    let edges_pass = |from: [DVec3; 3], to: [DVec3; 3]| {
        let normal = (to[1] - to[0]).cross(to[2] - to[0]);
        let sides = from.map(|p| normal.dot(p - to[0]));
        [(0, 1), (1, 2), (2, 0)].into_iter().any(|(i, j)| {
            if sides[i] * sides[j] >= 0.0 {
                return false;
            }
            // The lines along the edges of the other all pass the segment on one side.
            let along = from[j] - from[i];
            let turns = [0, 1, 2].map(|k| {
                let (p, q) = (to[k] - from[i], to[(k + 1) % 3] - from[i]);
                along.dot(p.cross(q))
            });
            turns.iter().all(|t| *t > 0.0) || turns.iter().all(|t| *t < 0.0)
        })
    };
    edges_pass(a, b) || edges_pass(b, a)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAT: [DVec3; 3] = [DVec3::ZERO, DVec3::X, DVec3::Y];

    #[test]
    fn the_closest_point_is_inside_or_on_an_edge() {
        let above = closest(DVec3::new(0.25, 0.25, 2.0), FLAT);
        assert!(above.is_inside && above.place == DVec3::new(0.25, 0.25, 0.0));
        assert_eq!(above.barycentric, [0.5, 0.25, 0.25]);
        let beside = closest(DVec3::new(-1.0, 0.5, 1.0), FLAT);
        assert!(!beside.is_inside && beside.place == DVec3::new(0.0, 0.5, 0.0));
        let needle = closest(DVec3::Y, [DVec3::ZERO, DVec3::ZERO, DVec3::X]);
        assert_eq!(needle.place, DVec3::ZERO);
    }

    #[test]
    fn triangles_cross_where_an_edge_passes_through_a_face() {
        let through =
            |z: f64| [[0.2, 0.2, z], [0.2, 0.2, z + 1.0], [0.9, 0.9, z]].map(DVec3::from_array);
        assert!(cross(FLAT, through(-0.5)) && cross(through(-0.5), FLAT));
        assert!(!cross(FLAT, through(0.0)) && !cross(FLAT, through(0.1)));
        assert!(!cross(FLAT, FLAT));
    }
}
