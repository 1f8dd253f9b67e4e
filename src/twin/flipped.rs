//! Faces that a fit flips, and corrective smoothing of them (METHODS-twin 5.2, *Fix*).

use super::body::Shape;
use glam::DVec3;
use std::collections::{BTreeMap, BTreeSet};

/// Rounds until faces that are still flipped stay so. The region grows by a ring with each.
const MAX_ROUNDS: usize = 24;
/// Steps of smoothing in one round.
const STEPS: usize = 8;

/// The triangles whose normals turned by more than 90 degrees, ascending.
pub(super) fn flipped(triangles: &[[u32; 3]], before: &[DVec3], after: &[DVec3]) -> Vec<u32> {
    let normal = |points: &[DVec3], t: [u32; 3]| {
        let [a, b, c] = t.map(|p| points[p as usize]);
        (b - a).cross(c - a)
    };
    let turned = triangles.iter().enumerate();
    let turned = turned.filter(|(_, t)| normal(before, **t).dot(normal(after, **t)) < 0.0);
    turned.map(|(i, _)| i as u32).collect()
}

/// Smooths the displacements of points of flipped faces and their neighbours until no face is flipped: the shape of the template
/// between them stays, as in the Corrective Smooth modifier. Returns the points that moved, ascending, and by how much, metres.
///
/// Points at one place move alike, so that no seam opens. Sequential: the same bits for any number of threads.
pub(super) fn smooth_flipped(shape: &Shape, points: &mut [DVec3]) -> Vec<(u32, DVec3)> {
    let mut turned = flipped(&shape.triangles, &shape.points, points);
    if turned.is_empty() {
        return Vec::new();
    }
    let before = points.to_vec();
    let rings = rings(shape);
    let welded = |p: u32| shape.welded[p as usize];
    let mut region: BTreeSet<u32> = BTreeSet::new();
    for _ in 0..MAX_ROUNDS {
        let corners = turned.iter().flat_map(|t| shape.triangles[*t as usize]);
        region.extend(corners.map(welded));
        let near = region.iter().filter_map(|p| rings.get(p));
        let grown: BTreeSet<u32> = near.flatten().copied().collect();
        region.extend(grown);
        for _ in 0..STEPS {
            let moved = |p: u32| points[p as usize] - shape.points[p as usize];
            let mean = region.iter().filter_map(|p| {
                let ring = rings.get(p).filter(|ring| !ring.is_empty())?;
                let sum: DVec3 = ring.iter().map(|q| moved(*q)).sum();
                Some((*p, shape.points[*p as usize] + sum / ring.len() as f64))
            });
            let mean: Vec<(u32, DVec3)> = mean.collect();
            for (p, place) in mean {
                points[p as usize] = place;
            }
        }
        for p in 0..points.len() {
            let at = welded(p as u32);
            if at as usize != p && region.contains(&at) {
                points[p] = before[p] + (points[at as usize] - before[at as usize]);
            }
        }
        turned = flipped(&shape.triangles, &shape.points, points);
        if turned.is_empty() {
            break;
        }
    }
    let moved = before.iter().zip(points.iter()).enumerate();
    let moved = moved.filter(|(_, (before, now))| before != now);
    moved
        .map(|(p, (before, now))| (p as u32, *now - *before))
        .collect()
}

/// The neighbours of each point, welded by place, ascending.
fn rings(shape: &Shape) -> BTreeMap<u32, BTreeSet<u32>> {
    let mut rings: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for triangle in &shape.triangles {
        let [a, b, c] = triangle.map(|p| shape.welded[p as usize]);
        for (p, q) in [(a, b), (b, c), (c, a), (b, a), (c, b), (a, c)] {
            if p != q {
                rings.entry(p).or_default().insert(q);
            }
        }
    }
    rings
}
