//! The Laplace operator of a triangulated surface.

use glam::Vec3;

/// Maximum cotangent of one angle: needle triangles must not dominate.
const STEEPEST: f64 = 50.0;

/// Minimum weight of an edge: with positive weights solutions stay between their boundary values, also on obtuse and
/// degenerate triangles.
const LEAST: f64 = 1e-3;

/// Cotangent weights and areas (Pinkall and Polthier 1993; Meyer et al. 2003), made robust.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceLaplacian {
    /// (a, b, weight > 0), a < b, ascending, each pair once: half the sum of the cotangents opposite.
    pub edges: Vec<(u32, u32, f64)>,
    /// n_points: a third of the area of the triangles at each; above 0.
    pub areas: Vec<f64>,
}

impl SurfaceLaplacian {
    /// The operator of `triangles` (indices of `positions`), which may be degenerate, open or non-manifold.
    pub fn new(positions: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let mut edges = Vec::with_capacity(3 * triangles.len());
        let mut areas = vec![0.0; positions.len()];
        let mut total = 0.0;
        for &triangle in triangles {
            let corners = triangle.map(|p| positions[p as usize].as_dvec3());
            let double_area = (corners[1] - corners[0])
                .cross(corners[2] - corners[0])
                .length();
            for k in 0..3 {
                let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                areas[triangle[k] as usize] += double_area / 6.0;
                let (a, b) = (triangle[i].min(triangle[j]), triangle[i].max(triangle[j]));
                if a == b {
                    continue;
                }
                let dot = (corners[i] - corners[k]).dot(corners[j] - corners[k]);
                let cotangent = dot / double_area;
                let cotangent = if cotangent.is_finite() {
                    cotangent.clamp(-STEEPEST, STEEPEST)
                } else {
                    0.0
                };
                edges.push((a, b, 0.5 * cotangent));
            }
            total += double_area * 0.5;
        }
        edges.sort_by_key(|e| (e.0, e.1));
        edges.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
        for edge in &mut edges {
            edge.2 = edge.2.max(LEAST);
        }
        let mean = total / positions.len().max(1) as f64;
        let least = if mean > 0.0 { mean * 1e-4 } else { 1.0 };
        for area in &mut areas {
            *area = area.max(least);
        }
        Self { edges, areas }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_right_angle_weighs_nothing_and_the_legs_a_half() {
        let positions = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let laplacian = SurfaceLaplacian::new(&positions, &[[0, 1, 2]]);
        assert_eq!(laplacian.edges, [(0, 1, 0.5), (0, 2, 0.5), (1, 2, LEAST)]);
        assert_eq!(laplacian.areas, [1.0 / 6.0; 3]);
    }

    #[test]
    fn degenerate_triangles_give_finite_positive_numbers() {
        let positions = [Vec3::ZERO, Vec3::X, Vec3::X * 2.0, Vec3::ZERO, Vec3::Y];
        let triangles = [[0, 1, 2], [0, 3, 1], [1, 1, 2], [0, 0, 0]];
        let laplacian = SurfaceLaplacian::new(&positions, &triangles);
        assert!(laplacian.edges.iter().all(|e| e.2 > 0.0 && e.2.is_finite()));
        assert!(laplacian.areas.iter().all(|&a| a > 0.0));
        assert!(
            laplacian
                .edges
                .windows(2)
                .all(|w| (w[0].0, w[0].1) < (w[1].0, w[1].1))
        );
    }
}
