//! The analytic test shape "cylinder C": radius 1, from -5 to 5 along x, bent and twisted at its middle.

use super::bones::Bones;
use super::{Row, erf};
use glam::{DAffine3, DQuat, DVec3};

pub(crate) const N_SIDES: usize = 64;

/// The falloff of the weights that the compensation's polynomial was made for.
pub(crate) const SIGMA: f64 = 0.63;

pub(crate) struct Cylinder {
    pub(crate) positions: Vec<DVec3>,
    pub(crate) triangles: Vec<[usize; 3]>,
    pub(crate) rows: Vec<Row>,
}

impl Cylinder {
    /// 201 rings of 64 points and two cap centres, weights by the error function.
    pub(crate) fn new() -> Self {
        Self::with(201, SIGMA, 0.0)
    }

    /// The cylinder with another number of rings, falloff and place where the two weights are equal.
    pub(crate) fn with(n_rings: usize, sigma: f64, shift: f64) -> Self {
        let mut positions = Vec::new();
        for i in 0..n_rings {
            for k in 0..N_SIDES {
                let theta = std::f64::consts::TAU * k as f64 / N_SIDES as f64;
                let x = -5.0 + 10.0 / (n_rings - 1) as f64 * i as f64;
                positions.push(DVec3::new(x, theta.cos(), theta.sin()));
            }
        }
        let left = positions.len();
        positions.push(DVec3::new(-5.0, 0.0, 0.0));
        positions.push(DVec3::new(5.0, 0.0, 0.0));
        let at = |i: usize, k: usize| i * N_SIDES + k % N_SIDES;
        let mut triangles = Vec::new();
        for i in 0..n_rings - 1 {
            for k in 0..N_SIDES {
                let (a, b) = (at(i, k), at(i, k + 1));
                let (c, d) = (at(i + 1, k), at(i + 1, k + 1));
                triangles.push([a, b, c]);
                triangles.push([b, d, c]);
            }
        }
        for k in 0..N_SIDES {
            triangles.push([left, at(0, k + 1), at(0, k)]);
            triangles.push([left + 1, at(n_rings - 1, k), at(n_rings - 1, k + 1)]);
        }
        if super::metrics::volume(&positions, &triangles) < 0.0 {
            for t in &mut triangles {
                t.swap(1, 2);
            }
        }
        let rows = positions
            .iter()
            .map(|p| row_of(p.x - shift, sigma))
            .collect();
        Self {
            positions,
            triangles,
            rows,
        }
    }
}

/// Weights of the two joints at x.
pub(crate) fn row_at(x: f64) -> Row {
    row_of(x, SIGMA)
}

fn row_of(x: f64, sigma: f64) -> Row {
    let w = 0.5 * (1.0 + erf(x / (sigma * std::f64::consts::SQRT_2)));
    vec![(0, 1.0 - w), (1, w)]
}

/// Its two bones: from -5 to 0 and on to the tail at 5.
pub(crate) fn bones() -> Bones {
    let at = |x: f64| DVec3::new(x, 0.0, 0.0);
    Bones {
        parents: vec![None, Some(0)],
        origins: vec![at(-5.0), at(0.0)],
        tails: vec![None, Some(at(5.0))],
    }
}

/// Skin matrices of a bend about z after a twist about x, degrees.
pub(crate) fn pose(bend: f64, twist: f64) -> [DAffine3; 2] {
    let q = DQuat::from_rotation_z(bend.to_radians()) * DQuat::from_rotation_x(twist.to_radians());
    [DAffine3::IDENTITY, DAffine3::from_quat(q)]
}
