//! Models made of rings around an axis: the arm, and the cylinder of the published tables.

use super::weights::{exact_row, normal_integral};
use crate::document::{MeshSource, PrimitiveSource};
use crate::skinning::Rows;
use glam::{DVec3, Vec2, Vec3};
use rayon::prelude::*;
use std::f64::consts::TAU;

/// Standard deviation of the weights across the joint, in radii.
const FALLOFF: f64 = 0.63;

/// A tube along x, closed at both ends.
pub(super) struct Tube<'a> {
    pub(super) n_rings: usize,
    pub(super) n_sides: usize,
    /// Position at the angle `turn` (0 to 1, from +y over +z) on the ring at `t` (0 to 1), and the unit normal.
    pub(super) place: &'a (dyn Fn(f64, f64) -> (DVec3, DVec3) + Sync),
    /// The points that close the ends.
    pub(super) ends: [DVec3; 2],
}

/// The test cylinder: radius 1 from x = -5 to 5, elbow at 0; by default 201 rings of 64 points and two cap centres.
pub(super) fn cylinder(n_points: usize) -> MeshSource {
    let (n_rings, n_sides) = if n_points == 12_866 {
        (201, 64)
    } else {
        grid(n_points, 201.0 / 64.0)
    };
    let tube = Tube {
        n_rings,
        n_sides,
        place: &|t, turn| {
            let (sin, cos) = libm::sincos(turn * TAU);
            let normal = DVec3::new(0.0, cos, sin);
            (DVec3::new(-5.0 + 10.0 * t, cos, sin), normal)
        },
        ends: [DVec3::new(-5.0, 0.0, 0.0), DVec3::new(5.0, 0.0, 0.0)],
    };
    tube.mesh("cylinder", &|p| {
        let w = normal_integral(p.x / FALLOFF);
        vec![(0, (1.0 - w) as f32), (1, w as f32)]
    })
}

/// Half length of the arm, metres: the shoulder's end is at -`HALF`, the elbow at 0.
pub(super) const ARM_HALF: f64 = 0.30;
/// Height of the arm's axis above the ground, metres.
pub(super) const ARM_HEIGHT: f64 = 0.15;
const ELBOW_RADIUS: f64 = 0.041;

/// A human arm without a hand, stretched along x, its elbow at the origin of x.
pub(super) fn arm(n_points: usize) -> MeshSource {
    let (n_rings, n_sides) = grid(n_points, 2.3);
    let tube = Tube {
        n_rings,
        n_sides,
        place: &|t, turn| {
            // The ends are points of their own.
            let t = (t * (n_rings - 1) as f64 + 1.0) / (n_rings + 1) as f64;
            // Central differences: the surface is smooth, and normals need no more than six digits.
            let h = 1e-4;
            let p = arm_point(t, turn);
            let across = arm_point(t, turn + h) - arm_point(t, turn - h);
            let along = arm_point((t + h).min(1.0), turn) - arm_point((t - h).max(0.0), turn);
            let normal = along.cross(across);
            (p, -normal.try_normalize().unwrap_or(DVec3::X))
        },
        ends: [
            DVec3::new(-ARM_HALF - 0.052, ARM_HEIGHT, 0.0),
            DVec3::new(ARM_HALF + 0.024, ARM_HEIGHT, 0.0),
        ],
    };
    tube.mesh("arm", &|p| {
        let w = normal_integral(p.x / (FALLOFF * ELBOW_RADIUS));
        exact_row([1.0 - w, w])
    })
}

/// A point of the arm's skin: `t` runs along it, `turn` around it from the upper (flexor) side.
fn arm_point(t: f64, turn: f64) -> DVec3 {
    // Radii of the limb at stations along x.
    const STATIONS: [(f64, f64); 8] = [
        (-0.36, 0.051),
        (-0.30, 0.053),
        (-0.22, 0.050),
        (-0.13, 0.045),
        (0.0, 0.039),
        (0.08, 0.041),
        (0.20, 0.032),
        (0.33, 0.026),
    ];
    let (low, high) = (-ARM_HALF - 0.052, ARM_HALF + 0.024);
    // Rings are denser towards the rounded ends: equal steps of angle there, of length between.
    let x = low + (high - low) * end_spacing(t);
    let (sin, cos) = libm::sincos(turn * TAU);
    let bump = |centre: f64, width: f64| {
        let d = (x - centre) / width;
        libm::exp(-d * d)
    };
    // Muscles: biceps above, triceps below, the forearm's flexors above and its extensors beside, the elbow's tip.
    let up = cos.max(0.0) * cos.max(0.0);
    let below = (-cos).max(0.0) * (-cos).max(0.0);
    let muscle = 0.0085 * up * bump(-0.13, 0.075)
        + 0.0060 * below * bump(-0.17, 0.080)
        + 0.0045 * up * bump(0.075, 0.05)
        + 0.0030 * sin * sin * bump(0.07, 0.06)
        + 0.0030 * below * below * bump(-0.004, 0.022)
        - 0.0025 * cos * cos * bump(0.31, 0.09);
    let radius = smooth_stations(&STATIONS, x) + muscle;
    let round = |depth: f64, reach: f64| {
        let d = 1.0 - (depth / reach).clamp(0.0, 1.0);
        (1.0 - d * d).max(0.0).sqrt()
    };
    let radius = radius * round(x - low, 0.052) * round(high - x, 0.024);
    DVec3::new(x, ARM_HEIGHT + radius * cos, radius * sin)
}

/// Maps 0..1 to 0..1 so that steps shrink with the square towards the ends.
fn end_spacing(t: f64) -> f64 {
    const END: f64 = 0.09;
    let ramp = |t: f64| {
        if t < END {
            t * t / (2.0 * END)
        } else {
            t - END / 2.0
        }
    };
    let length = 1.0 - END;
    if t <= 0.5 {
        ramp(t) / length
    } else {
        1.0 - ramp(1.0 - t) / length
    }
}

/// Cubic interpolation of (x, value) pairs, with slopes by central differences.
pub(super) fn smooth_stations(stations: &[(f64, f64)], x: f64) -> f64 {
    let n = stations.len();
    let i = stations.partition_point(|s| s.0 <= x).clamp(1, n - 1) - 1;
    let slope = |k: usize| {
        let (a, b) = (stations[k.saturating_sub(1)], stations[(k + 1).min(n - 1)]);
        (b.1 - a.1) / (b.0 - a.0)
    };
    let ((x0, y0), (x1, y1)) = (stations[i], stations[i + 1]);
    let width = x1 - x0;
    let t = ((x - x0) / width).clamp(0.0, 1.0);
    let (t2, t3) = (t * t, t * t * t);
    y0 * (2.0 * t3 - 3.0 * t2 + 1.0)
        + slope(i) * width * (t3 - 2.0 * t2 + t)
        + y1 * (3.0 * t2 - 2.0 * t3)
        + slope(i + 1) * width * (t3 - t2)
}

/// Rings and points a ring for about `n_points`, with `ratio` rings for each point of a ring.
pub(super) fn grid(n_points: usize, ratio: f64) -> (usize, usize) {
    let n = n_points.saturating_sub(2).max(24) as f64;
    // An even number of sides keeps the tube symmetric in z.
    let n_sides = (((n / ratio).sqrt() / 2.0).round() as usize * 2).max(6);
    let n_rings = ((n / n_sides as f64).round() as usize).max(4);
    (n_rings, n_sides)
}

impl Tube<'_> {
    /// The mesh; `row` gives the influences at a place.
    pub(super) fn mesh(
        &self,
        name: &str,
        row: &(dyn Fn(DVec3) -> Vec<(u16, f32)> + Sync),
    ) -> MeshSource {
        let (n_rings, n_sides) = (self.n_rings, self.n_sides);
        let n = n_rings * n_sides;
        let mut points: Vec<(DVec3, DVec3)> = (0..n)
            .into_par_iter()
            .map(|v| {
                let t = (v / n_sides) as f64 / (n_rings - 1) as f64;
                (self.place)(t, (v % n_sides) as f64 / n_sides as f64)
            })
            .collect();
        points.extend([(self.ends[0], DVec3::NEG_X), (self.ends[1], DVec3::X)]);
        let rows: Vec<Vec<(u16, f32)>> = points.par_iter().map(|p| row(p.0)).collect();

        let at = |i: usize, k: usize| (i * n_sides + k % n_sides) as u32;
        let mut triangles: Vec<[u32; 3]> = (0..(n_rings - 1) * n_sides)
            .into_par_iter()
            .flat_map_iter(|quad| {
                let (i, k) = (quad / n_sides, quad % n_sides);
                let (a, b, c, d) = (at(i, k), at(i, k + 1), at(i + 1, k), at(i + 1, k + 1));
                [[a, b, c], [b, d, c]]
            })
            .collect();
        for k in 0..n_sides {
            triangles.push([n as u32, at(0, k + 1), at(0, k)]);
        }
        for k in 0..n_sides {
            triangles.push([n as u32 + 1, at(n_rings - 1, k), at(n_rings - 1, k + 1)]);
        }
        let mut influences = Rows::with_capacity(rows.len());
        for row in &rows {
            influences.push_pairs(row.iter().copied().filter(|&(_, w)| w > 0.0));
        }
        MeshSource {
            name: name.to_owned(),
            primitives: vec![PrimitiveSource {
                positions: points.iter().map(|p| p.0.as_vec3()).collect(),
                normals: points.iter().map(|p| p.1.as_vec3()).collect::<Vec<Vec3>>(),
                // Front and back share the texture: no seam, so vertices are points.
                uvs: (0..n + 2)
                    .map(|v| {
                        if v >= n {
                            return Vec2::new(0.5, (v - n) as f32);
                        }
                        let u = 2.0 * (v % n_sides) as f64 / n_sides as f64;
                        let t = (v / n_sides) as f64 / (n_rings - 1) as f64;
                        Vec2::new(u.min(2.0 - u) as f32, t as f32)
                    })
                    .collect(),
                influences,
                triangles,
                ..Default::default()
            }],
            morph_names: Vec::new(),
        }
    }
}
