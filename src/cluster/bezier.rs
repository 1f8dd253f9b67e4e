//! Cubic Bezier triangles.

use glam::DVec3;

/// The control points of a cubic Bezier triangle, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BezierTriangle {
    /// b300, b030, b003.
    pub corners: [DVec3; 3],
    /// Beside each corner: towards the next corner, and towards the one before: b210, b201; b021, b120; b102, b012.
    pub edges: [[DVec3; 2]; 3],
    /// b111.
    pub centre: DVec3,
}

impl BezierTriangle {
    /// The triangle whose centre is `E + (E - V) / 2`, E the mean of the edge points and V that of the corners
    /// (Vlachos et al. 2001): it reproduces quadratic polynomials.
    pub fn new(corners: [DVec3; 3], edges: [[DVec3; 2]; 3]) -> Self {
        let e = edges.iter().flatten().sum::<DVec3>() / 6.0;
        let v = corners.iter().sum::<DVec3>() / 3.0;
        Self {
            corners,
            edges,
            centre: e + (e - v) / 2.0,
        }
    }

    /// The curved PN triangle (Vlachos et al. 2001): edge points in the tangent planes of the corners.
    pub fn point_normal(corners: [DVec3; 3], normals: [DVec3; 3]) -> Self {
        let edge = |i: usize, j: usize| {
            let along = corners[j] - corners[i];
            corners[i] + (along - normals[i] * along.dot(normals[i])) / 3.0
        };
        let edges = [0, 1, 2].map(|i| [edge(i, (i + 1) % 3), edge(i, (i + 2) % 3)]);
        Self::new(corners, edges)
    }

    /// The place at barycentric coordinates `u`: `sum 3! / (i! j! k!) u1^i u2^j u3^k b_ijk`.
    pub fn at(&self, u: [f64; 3]) -> DVec3 {
        let mut sum = self.centre * (6.0 * u[0] * u[1] * u[2]);
        for i in 0..3 {
            let (own, next, before) = (u[i], u[(i + 1) % 3], u[(i + 2) % 3]);
            let [to_next, to_before] = self.edges[i];
            sum += self.corners[i] * (own * own * own)
                + (to_next * next + to_before * before) * (3.0 * own * own);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_octant_has_the_control_points_of_the_paper() {
        let axes = [DVec3::X, DVec3::Y, DVec3::Z];
        let patch = BezierTriangle::point_normal(axes, axes);
        let near = |a: DVec3, b: [f64; 3]| (a - DVec3::from_array(b)).length() < 1e-15;
        assert!(near(patch.edges[0][0], [1.0, 1.0 / 3.0, 0.0]));
        assert!(near(patch.edges[0][1], [1.0, 0.0, 1.0 / 3.0]));
        assert!(near(patch.edges[1][1], [1.0 / 3.0, 1.0, 0.0]));
        assert!(near(patch.centre, [0.5; 3]));
        assert!(near(patch.at([1.0 / 3.0; 3]), [4.0 / 9.0; 3]));
        assert!(near(patch.at([0.5, 0.5, 0.0]), [0.625, 0.625, 0.0]));
        assert_eq!(patch.at([0.0, 1.0, 0.0]), DVec3::Y);
    }

    #[test]
    fn flat_triangles_are_reproduced() {
        let corners = [DVec3::ZERO, DVec3::X * 2.0, DVec3::new(0.5, 3.0, 0.0)];
        let patch = BezierTriangle::point_normal(corners, [DVec3::Z; 3]);
        let u = [0.2, 0.5, 0.3];
        let expected = corners[0] * 0.2 + corners[1] * 0.5 + corners[2] * 0.3;
        assert!((patch.at(u) - expected).length() < 1e-15);
    }
}
