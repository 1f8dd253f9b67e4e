//! Derivatives over the mesh around corners, for the Jacobian of a skin (mode A).

use super::frame::TangentPlane;
use super::gradient::gradient_coefficients;
use super::surface::ClusterSurface;
use glam::DVec3;

/// A mesh ring with a larger condition number gives no Jacobian.
const CONDITION: f64 = 1e6;

/// Virtual points lie this fraction of the mean edge from the corner.
const STEP: f64 = 0.25;

/// What [`Stencil::virtual_points`] needs of the mesh around a corner.
///
/// Mode A: the whole skin F is differentiated along both tangents t by central differences between the virtual points
/// `v ± h t` whose weights are `w ± h (g . t)`, with g the gradient of the weights over the mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Stencil {
    /// The tangent plane at bind.
    pub plane: TangentPlane,
    /// The distance of the virtual points, metres; 0 where the ring gives no Jacobian.
    pub step: f64,
    /// The mesh ring: vertices, and c such that the gradient of a weight w is `sum (w_j - w) c_j`.
    pub ring: Vec<(u32, DVec3)>,
}

impl Stencil {
    /// The stencils of some vertices of a surface.
    pub fn of(surface: &ClusterSurface, vertices: &[u32]) -> Vec<Self> {
        let mut number = vec![u32::MAX; surface.n_vertices()];
        for (i, &v) in (0u32..).zip(vertices) {
            number[v as usize] = i;
        }
        let mut rings: Vec<Vec<u32>> = vec![Vec::new(); vertices.len()];
        for t in &surface.triangles {
            for i in 0..3 {
                if let Some(ring) = rings.get_mut(number[t[i] as usize] as usize) {
                    ring.extend([t[(i + 1) % 3], t[(i + 2) % 3]]);
                }
            }
        }
        vertices
            .iter()
            .zip(rings)
            .map(|(&v, mut ring)| {
                ring.sort_unstable();
                ring.dedup();
                Self::new(surface, v, &ring)
            })
            .collect()
    }

    fn new(surface: &ClusterSurface, vertex: u32, ring: &[u32]) -> Self {
        let plane = TangentPlane::new(surface.normals[vertex as usize]);
        let centre = surface.positions[vertex as usize];
        let edges: Vec<DVec3> = ring
            .iter()
            .map(|&j| surface.positions[j as usize] - centre)
            .collect();
        let coefficients = gradient_coefficients(&plane, &edges, CONDITION);
        let is_singular = coefficients.iter().all(|c| *c == DVec3::ZERO);
        let mean = edges.iter().map(|e| e.length()).sum::<f64>() / edges.len().max(1) as f64;
        Self {
            plane,
            step: if is_singular { 0.0 } else { STEP * mean },
            ring: ring.iter().copied().zip(coefficients).collect(),
        }
    }

    /// The gradient of a value over the surface, in the tangent plane; `value` gives it at a vertex.
    pub fn gradient(&self, own: f64, value: impl Fn(u32) -> f64) -> DVec3 {
        self.ring.iter().map(|&(j, c)| c * (value(j) - own)).sum()
    }

    /// The offsets `h t` of the four virtual points: along the first tangent and against it, then the second.
    pub fn virtual_points(&self) -> [DVec3; 4] {
        let [a, b] = self.plane.tangents.map(|t| t * self.step);
        [a, -a, b, -b]
    }

    /// The columns of the Jacobian from the skinned virtual points; `None` where the ring gives none.
    pub fn columns(&self, skinned: [DVec3; 4]) -> Option<[DVec3; 2]> {
        let [a, b, c, d] = skinned;
        (self.step > 0.0).then(|| [a - b, c - d].map(|e| e * (0.5 / self.step)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_weight_and_a_linear_map_are_differentiated_exactly() {
        let positions: Vec<DVec3> = (0..9u32)
            .map(|i| DVec3::new(f64::from(i % 3), f64::from(i / 3) * 1.5, 0.0))
            .collect();
        let quads = [0u32, 1, 3, 4].map(|v| [[v, v + 1, v + 4], [v, v + 4, v + 3]]);
        let surface = ClusterSurface::from_triangles(positions.clone(), &quads.concat());
        let stencil = &Stencil::of(&surface, &[4])[0];
        let weight = |v: u32| positions[v as usize].dot(DVec3::new(0.2, -0.1, 7.0));
        let gradient = stencil.gradient(weight(4), weight);
        assert!((gradient - DVec3::new(0.2, -0.1, 0.0)).length() < 1e-15);
        let map = |p: DVec3| DVec3::new(p.y, 2.0 * p.x, 0.5);
        let skinned = stencil.virtual_points().map(|o| map(positions[4] + o));
        let columns = stencil.columns(skinned).unwrap();
        for (t, column) in stencil.plane.tangents.into_iter().zip(columns) {
            assert!((column - DVec3::new(t.y, 2.0 * t.x, 0.0)).length() < 1e-14);
        }
        // A corner whose neighbours lie on a line.
        let line = ClusterSurface::from_triangles(
            vec![DVec3::ZERO, DVec3::X, DVec3::X * 2.0],
            &[[0, 1, 2]],
        );
        assert_eq!(Stencil::of(&line, &[1])[0].columns([DVec3::ZERO; 4]), None);
    }
}
