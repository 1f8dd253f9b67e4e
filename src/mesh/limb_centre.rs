//! The middle of a limb around a position inside it.

use super::spatial::SurfaceIndex;
use crate::math::Ray;
use glam::{DVec3, Vec3};

/// Rays in the plane across the limb.
const N_RAYS: usize = 64;
/// Rounds, each from the middle that the one before found.
const N_ROUNDS: usize = 4;
/// With a smaller fraction of rays that meet the surface the position lies outside.
pub const INSIDE: f64 = 0.75;

/// The middle of a limb.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimbCentre {
    /// The area centroid of the cross-section, metres; the position itself where it lies outside.
    pub centre: DVec3,
    /// The fraction of rays from the position itself that meet the surface.
    pub hits: f64,
}

/// The middle of the cross-section around `at` in the plane across `along`: the area centroid of the polygon of the nearest
/// hits of rays in that plane, from the centroid of the round before.
///
/// `triangles` index `positions`, bind space, metres.
pub fn limb_centre(
    index: &SurfaceIndex,
    triangles: &[[u32; 3]],
    positions: &[Vec3],
    at: DVec3,
    along: DVec3,
) -> LimbCentre {
    limb_centre_after(N_ROUNDS, index, triangles, positions, at, along)
}

/// [`limb_centre`] after another number of rounds.
pub fn limb_centre_after(
    n_rounds: usize,
    index: &SurfaceIndex,
    triangles: &[[u32; 3]],
    positions: &[Vec3],
    at: DVec3,
    along: DVec3,
) -> LimbCentre {
    let along = along.try_normalize().unwrap_or(DVec3::Y);
    let side = along.any_orthonormal_vector();
    let other = along.cross(side);
    let mut found = LimbCentre {
        centre: at,
        hits: 0.0,
    };
    for round in 0..n_rounds {
        let origin = found.centre;
        let rays = (0..N_RAYS).map(|k| {
            let angle = std::f64::consts::TAU * (k as f64 + 0.5) / N_RAYS as f64;
            let (sine, cosine) = angle.sin_cos();
            let ray = Ray {
                origin: origin.as_vec3(),
                direction: (side * cosine + other * sine).as_vec3(),
            };
            let hit = index.cast_ray(&ray, triangles, positions, |_| true)?;
            let distance = f64::from(hit.distance);
            Some([distance * cosine, distance * sine])
        });
        let rays: Vec<Option<[f64; 2]>> = rays.collect();
        let polygon: Vec<[f64; 2]> = rays.into_iter().flatten().collect();
        let hits = polygon.len() as f64 / N_RAYS as f64;
        if round == 0 {
            found.hits = hits;
        }
        if hits < INSIDE {
            break;
        }
        let Some([x, y]) = centroid(&polygon) else {
            break;
        };
        found.centre = origin + side * x + other * y;
    }
    found
}

/// The area centroid of a polygon; `None` where it has no area.
fn centroid(polygon: &[[f64; 2]]) -> Option<[f64; 2]> {
    let (mut area, mut sum) = (0.0, [0.0; 2]);
    for (i, a) in polygon.iter().enumerate() {
        let b = polygon[(i + 1) % polygon.len()];
        let cross = a[0] * b[1] - a[1] * b[0];
        area += cross;
        sum[0] += (a[0] + b[0]) * cross;
        sum[1] += (a[1] + b[1]) * cross;
    }
    let centre = sum.map(|s| s / (3.0 * area));
    (area > 0.0 && centre.iter().all(|c| c.is_finite())).then_some(centre)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A closed tube around y of radius 1, from -2 to 2, with 64 sides.
    fn tube() -> (Vec<[u32; 3]>, Vec<Vec3>) {
        let (n, mut triangles, mut positions) = (64u32, Vec::new(), Vec::new());
        for y in [-2.0, 2.0] {
            for k in 0..n {
                let angle = std::f32::consts::TAU * k as f32 / n as f32;
                positions.push(Vec3::new(angle.cos(), y, angle.sin()));
            }
        }
        for k in 0..n {
            let (a, b) = (k, (k + 1) % n);
            triangles.extend([[a, n + a, b], [b, n + a, n + b]]);
        }
        (triangles, positions)
    }

    #[test]
    fn the_middle_of_a_tube_is_its_axis() {
        let (triangles, positions) = tube();
        let index = SurfaceIndex::new(&triangles, &positions);
        for at in [
            DVec3::new(0.3, 0.2, -0.1),
            DVec3::new(0.3, 0.7, 0.5),
            DVec3::new(0.3, 0.1, 0.9),
        ] {
            let found = limb_centre(&index, &triangles, &positions, at, DVec3::Y);
            assert!(found.hits == 1.0);
            let off = found.centre - DVec3::new(0.0, at.y, 0.0);
            assert!(off.length() < 1e-5, "{at}: {off}");
        }
        let outside = DVec3::new(3.0, 0.0, 0.0);
        let found = limb_centre(&index, &triangles, &positions, outside, DVec3::Y);
        assert!(found.hits < INSIDE && found.centre == outside);
    }
}
