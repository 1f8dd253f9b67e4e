//! Quartic Gregory triangles that meet with one tangent plane (G1).

use super::bezier::BezierTriangle;
use glam::DVec3;

/// Beside a corner the two values of an interior point are averaged.
const AT_CORNER: f64 = 1e-9;

/// A quartic triangle with two values of each interior control point. Its boundary depends on the two corners of each edge
/// alone, and so does the tangent plane along it.
///
/// Source: Walton & Meek 1996, "A triangular G1 patch from boundary curves".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GregoryTriangle {
    /// Edge i runs from corner i to the next: five control points.
    boundary: [[DVec3; 5]; 3],
    /// The interior points that edge i asks for: beside its first corner, beside its second.
    interior: [[DVec3; 2]; 3],
}

impl GregoryTriangle {
    /// The triangle on the boundary of `cubic`, whose edges leave each corner perpendicular to its normal.
    pub fn new(cubic: &BezierTriangle, normals: [DVec3; 3]) -> Self {
        let curves = [0, 1, 2].map(|i| {
            let j = (i + 1) % 3;
            [
                cubic.corners[i],
                cubic.edges[i][0],
                cubic.edges[j][1],
                cubic.corners[j],
            ]
        });
        let boundary = curves.map(|[a, b, c, d]| {
            [
                a,
                (a + b * 3.0) / 4.0,
                (b + c) / 2.0,
                (c * 3.0 + d) / 4.0,
                d,
            ]
        });
        let interior = [0, 1, 2].map(|i| {
            let (next, before) = (boundary[(i + 1) % 3], boundary[(i + 2) % 3]);
            let normals = [normals[i], normals[(i + 1) % 3]];
            across(curves[i], boundary[i], normals, [before[3], next[1]])
        });
        Self { boundary, interior }
    }

    /// The place at barycentric coordinates `u`.
    pub fn at(&self, u: [f64; 3]) -> DVec3 {
        let mut sum = DVec3::ZERO;
        for i in 0..3 {
            let (own, next, before) = (u[i], u[(i + 1) % 3], u[(i + 2) % 3]);
            let [corner, first, middle, last, _] = self.boundary[i];
            let both = 4.0 * own * next;
            sum += corner * own.powi(4)
                + first * (both * own * own)
                + middle * (1.5 * both * own * next)
                + last * (both * next * next);
            // Beside corner i: the value of the edge that starts there, weighted by the distance from the other edge.
            let [from_here, _] = self.interior[i];
            let [_, from_before] = self.interior[(i + 2) % 3];
            let blended = if next + before < AT_CORNER {
                (from_here + from_before) / 2.0
            } else {
                (from_here * next + from_before * before) / (next + before)
            };
            sum += blended * (3.0 * both * own * before);
        }
        sum
    }
}

/// The two interior points for the tangent plane along an edge: `beside` are the neighbours of its ends on the other edges.
fn across(v: [DVec3; 4], q: [DVec3; 5], normals: [DVec3; 2], beside: [DVec3; 2]) -> [DVec3; 2] {
    let w = [v[1] - v[0], v[2] - v[1], v[3] - v[2]];
    let unit = |a: DVec3| a.try_normalize().unwrap_or(DVec3::ZERO);
    let (a0, a2) = (unit(normals[0].cross(w[0])), unit(normals[1].cross(w[2])));
    let a1 = unit(a0 + a2);
    let (d0, d3) = (
        beside[0] - (q[0] + q[1]) / 2.0,
        beside[1] - (q[3] + q[4]) / 2.0,
    );
    let along = |d: DVec3, w: DVec3| {
        let squared = w.length_squared();
        if squared > 0.0 {
            d.dot(w) / squared
        } else {
            0.0
        }
    };
    let (l0, l1) = (along(d0, w[0]), along(d3, w[2]));
    let (m0, m1) = (d0.dot(a0), d3.dot(a2));
    [
        (q[1] + q[2]) / 2.0 + (w[1] * (2.0 * l0) + w[0] * l1 + a1 * (2.0 * m0) + a0 * m1) / 3.0,
        (q[2] + q[3]) / 2.0 + (w[2] * l0 + w[1] * (2.0 * l1) + a2 * m0 + a1 * (2.0 * m1)) / 3.0,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn octant() -> GregoryTriangle {
        let axes = [DVec3::X, DVec3::Y, DVec3::Z];
        GregoryTriangle::new(&BezierTriangle::point_normal(axes, axes), axes)
    }

    #[test]
    fn an_octant_has_the_centre_of_the_reference() {
        let centre = octant().at([1.0 / 3.0; 3]);
        for c in centre.to_array() {
            assert!((c - 0.46914).abs() < 5e-6, "{centre}");
        }
        assert_eq!(octant().at([0.0, 1.0, 0.0]), DVec3::Y);
        // Its boundary is that of the cubic.
        assert!((octant().at([0.5, 0.5, 0.0]) - DVec3::new(0.625, 0.625, 0.0)).length() < 1e-15);
    }

    #[test]
    fn neighbours_share_tangent_planes() {
        // Two triangles over an edge, with corners and normals of no particular shape.
        let corner = [
            (DVec3::ZERO, DVec3::new(0.1, -0.2, 1.0)),
            (DVec3::new(1.0, 0.1, 0.2), DVec3::new(0.3, 0.1, 1.0)),
            (DVec3::new(0.4, 0.9, -0.1), DVec3::new(-0.2, 0.3, 0.9)),
            (DVec3::new(0.6, -1.1, 0.3), DVec3::new(0.1, -0.4, 1.0)),
        ]
        .map(|(p, n)| (p, n.try_normalize().unwrap()));
        let patch = |t: [usize; 3]| {
            let (p, n) = (t.map(|i| corner[i].0), t.map(|i| corner[i].1));
            GregoryTriangle::new(&BezierTriangle::point_normal(p, n), n)
        };
        let (a, b) = (patch([0, 1, 2]), patch([1, 0, 3]));
        let h = 1e-6;
        let mut worst: f64 = 0.0;
        for k in 1..10 {
            let t = f64::from(k) / 10.0;
            let on = [a.at([1.0 - t, t, 0.0]), b.at([t, 1.0 - t, 0.0])];
            assert!(on[0].distance(on[1]) < 1e-15);
            let along = a.at([1.0 - t - h, t + h, 0.0]) - a.at([1.0 - t + h, t - h, 0.0]);
            // Second-order differences into each patch.
            let inward = |p: &GregoryTriangle, u: [f64; 2], start: DVec3| {
                let at = |h: f64| p.at([u[0] - h / 2.0, u[1] - h / 2.0, h]);
                at(h) * 4.0 - at(2.0 * h) - start * 3.0
            };
            let n = [
                along.cross(inward(&a, [1.0 - t, t], on[0])),
                inward(&b, [t, 1.0 - t], on[1]).cross(along),
            ]
            .map(|n| n.try_normalize().unwrap());
            worst = worst.max(n[0].cross(n[1]).length().to_degrees());
        }
        assert!(worst < 1e-4, "a crease of {worst} degrees");
    }
}
