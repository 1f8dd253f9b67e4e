//! Derivatives over the coarse surface: of displacements, and of positions alone (mode B).

use super::frame::{CornerFrame, MIRROR, TangentPlane, polar_rotation};
use super::rotation_fit::fit_rotation;
use glam::{DMat2, DMat3, DQuat, DVec2, DVec3};

/// A ring whose normal equations have a larger condition number gives no gradient.
pub(super) const CONDITION: f64 = 1e4;

/// The coarse ring of each corner, with the coefficients of a least-squares gradient, as compressed rows.
#[derive(Clone, Debug, Default)]
pub struct CornerRings {
    starts: Vec<u32>,
    neighbours: Vec<u32>,
    /// One a neighbour: its vector from the corner at bind, metres.
    edges: Vec<DVec3>,
    /// One a neighbour: the gradient of f is `sum (f_j - f) coefficient_j`, in the tangent plane at bind.
    coefficients: Vec<DVec3>,
}

impl CornerRings {
    /// The rings of `triangles` between corners at `positions` with tangent planes `planes`.
    pub(super) fn new(
        positions: &[DVec3],
        planes: &[TangentPlane],
        triangles: &[[u32; 3]],
    ) -> Self {
        let mut pairs: Vec<(u32, u32)> = triangles
            .iter()
            .flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a), (b, a), (c, b), (a, c)])
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut rings = Self::default();
        let mut pairs = pairs.into_iter().peekable();
        rings.starts.push(0);
        for (corner, plane) in planes.iter().enumerate() {
            let first = rings.neighbours.len();
            while let Some((_, j)) = pairs.next_if(|pair| pair.0 as usize == corner) {
                rings.neighbours.push(j);
                rings.edges.push(positions[j as usize] - positions[corner]);
            }
            rings.coefficients.extend(gradient_coefficients(
                plane,
                &rings.edges[first..],
                CONDITION,
            ));
            rings.starts.push(rings.neighbours.len() as u32);
        }
        rings
    }

    /// The corners that share a coarse edge with `corner`, ascending.
    pub fn neighbours(&self, corner: u32) -> &[u32] {
        &self.neighbours[self.row(corner)]
    }

    /// The gradient of displacements `d` (one a corner) at a corner: bind tangent plane to world; zero where the ring gives
    /// none.
    pub fn gradient(&self, corner: u32, d: &[DVec3]) -> DMat3 {
        let own = d[corner as usize];
        self.row(corner)
            .map(|k| {
                let change = d[self.neighbours[k] as usize] - own;
                outer(change, self.coefficients[k])
            })
            .fold(DMat3::ZERO, |sum, m| sum + m)
    }

    /// The frame of a corner from the positions of all (mode B): a rigid fit of the ring, and the gradient of what it leaves.
    ///
    /// `mirrored`: the surface is, which its positions alone do not tell; then the ring's mirror image is fitted.
    pub(super) fn frame(
        &self,
        corner: u32,
        plane: &TangentPlane,
        x: &[DVec3],
        mirrored: bool,
    ) -> CornerFrame {
        let position = x[corner as usize];
        if !mirrored {
            let deformed = |k: usize| x[self.neighbours[k] as usize] - position;
            return self.fit(corner, plane, position, deformed);
        }
        let deformed = |k: usize| MIRROR * (x[self.neighbours[k] as usize] - position);
        let image = self.fit(corner, plane, position, deformed);
        // The reflection D of the fit: `D J`, and `D R e = (D R D) D e` for details.
        let q = image.rotation;
        CornerFrame {
            position,
            jacobian: MIRROR * image.jacobian,
            rotation: DQuat::from_xyzw(q.x, -q.y, -q.z, q.w),
            mirrored: true,
        }
    }

    /// The frame of a corner at `position`, from where the corners of its ring are seen from it.
    fn fit(
        &self,
        corner: u32,
        plane: &TangentPlane,
        position: DVec3,
        deformed: impl Fn(usize) -> DVec3 + Copy,
    ) -> CornerFrame {
        let row = self.row(corner);
        let pairs = row.clone().map(|k| {
            let e = self.edges[k];
            (weight(e), e, deformed(k))
        });
        let rotation = fit_rotation(pairs);
        let fitted = DMat3::from_quat(rotation);
        let back = fitted.transpose();
        let residual = row
            .map(|k| outer(back * deformed(k) - self.edges[k], self.coefficients[k]))
            .fold(DMat3::ZERO, |sum, m| sum + m);
        let columns = plane.tangents.map(|t| fitted * (t + residual * t));
        match plane.jacobian(columns) {
            Some(jacobian) => CornerFrame {
                position,
                jacobian,
                rotation: polar_rotation(jacobian),
                mirrored: false,
            },
            None => {
                // The plane collapsed: the normal is that of the fit.
                let normal = fitted * plane.normal;
                let frame = DMat3::from_cols(columns[0], columns[1], normal);
                let [t, s] = plane.tangents;
                CornerFrame {
                    position,
                    jacobian: frame * DMat3::from_cols(t, s, plane.normal).transpose(),
                    rotation,
                    mirrored: false,
                }
            }
        }
    }

    fn row(&self, corner: u32) -> std::ops::Range<usize> {
        self.starts[corner as usize] as usize..self.starts[corner as usize + 1] as usize
    }
}

/// `a b^T`.
fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// The weight of a ring edge.
fn weight(edge: DVec3) -> f64 {
    let squared = edge.length_squared();
    if squared > 0.0 { 1.0 / squared } else { 0.0 }
}

/// For each edge of a ring, c such that `sum (f_j - f) c_j` is the gradient of f in the tangent plane: least squares with
/// weights 1 / |e|^2. All zero with fewer than two edges or a condition number above `condition`.
pub(super) fn gradient_coefficients(
    plane: &TangentPlane,
    edges: &[DVec3],
    condition: f64,
) -> Vec<DVec3> {
    let flat = |e: DVec3| DVec2::new(e.dot(plane.tangents[0]), e.dot(plane.tangents[1]));
    let mut normal = DMat2::ZERO;
    for &e in edges {
        let (f, w) = (flat(e), weight(e));
        normal += DMat2::from_cols(f * (w * f.x), f * (w * f.y));
    }
    // Eigenvalues of a symmetric 2x2 matrix.
    let mean = f64::midpoint(normal.x_axis.x, normal.y_axis.y);
    let spread = DVec2::new((normal.x_axis.x - normal.y_axis.y) / 2.0, normal.x_axis.y).length();
    if edges.len() < 2 || !(mean - spread > 0.0 && mean + spread <= condition * (mean - spread)) {
        return vec![DVec3::ZERO; edges.len()];
    }
    let inverse = normal.inverse();
    edges
        .iter()
        .map(|&e| {
            let c = inverse * flat(e) * weight(e);
            plane.tangents[0] * c.x + plane.tangents[1] * c.y
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A centre with five neighbours, not quite in a plane.
    fn fan() -> (Vec<DVec3>, Vec<TangentPlane>, Vec<[u32; 3]>) {
        let mut positions = vec![DVec3::ZERO];
        positions.extend((0..5u32).map(|i| {
            let angle = 1.2 * f64::from(i);
            DVec3::new(angle.cos(), angle.sin() * 1.3, 0.1 * f64::from(i % 2))
        }));
        let planes = vec![TangentPlane::new(DVec3::Z); 6];
        let triangles = (0..5).map(|i| [0, 1 + i, 1 + (i + 1) % 5]).collect();
        (positions, planes, triangles)
    }

    #[test]
    fn the_gradient_of_a_linear_field_is_exact_in_the_plane() {
        let (mut positions, planes, triangles) = fan();
        for p in &mut positions {
            p.z = 0.0;
        }
        let rings = CornerRings::new(&positions, &planes, &triangles);
        assert_eq!(rings.neighbours(0), [1, 2, 3, 4, 5]);
        assert_eq!(rings.neighbours(1), [0, 2, 5]);
        let field = DMat3::from_cols(DVec3::new(1.0, 2.0, 3.0), DVec3::NEG_Y, DVec3::ZERO);
        let d: Vec<DVec3> = positions.iter().map(|&p| field * p + DVec3::ONE).collect();
        let gradient = rings.gradient(0, &d);
        assert!(gradient.abs_diff_eq(field, 1e-14), "{gradient}");
        // The open ring of corner 1 as well.
        assert!(rings.gradient(1, &d).abs_diff_eq(field, 1e-14));
    }

    #[test]
    fn rigid_motions_are_exact_from_positions_alone() {
        let (positions, planes, triangles) = fan();
        let rings = CornerRings::new(&positions, &planes, &triangles);
        let turn = DQuat::from_xyzw(0.1, -0.7, 0.5, 0.5);
        let x: Vec<DVec3> = positions.iter().map(|&p| turn * p + DVec3::ONE).collect();
        let frame = rings.frame(0, &planes[0], &x, false);
        assert_eq!(frame.position, DVec3::ONE);
        assert!(frame.jacobian.abs_diff_eq(DMat3::from_quat(turn), 1e-14));
        assert!(frame.rotation.dot(turn).abs() > 1.0 - 1e-15);
        // And those that mirror.
        let across = |p: DVec3| DVec3::new(p.x, p.y, -p.z);
        let mirrored: Vec<DVec3> = x.iter().map(|&p| across(p)).collect();
        let frame = rings.frame(0, &planes[0], &mirrored, true);
        let detail = DVec3::new(0.2, 0.5, -0.7);
        assert!((frame.carry(detail) - across(turn * detail)).length() < 1e-14);
        assert!((frame.jacobian * detail - across(turn * detail)).length() < 1e-14);
    }

    #[test]
    fn collinear_and_single_neighbours_have_no_gradient() {
        let plane = TangentPlane::new(DVec3::Z);
        for edges in [
            &[DVec3::X, -DVec3::X][..],
            &[DVec3::X],
            &[],
            &[DVec3::ZERO; 3],
        ] {
            let c = gradient_coefficients(&plane, edges, CONDITION);
            assert!(c.iter().all(|c| *c == DVec3::ZERO), "{edges:?}");
        }
    }
}
