//! Faces that a fit flips, and corrective smoothing of them (METHODS-twin 5.2, *Fix*).

use super::body::Shape;
use glam::{DMat3, DVec3};
use std::collections::{BTreeMap, BTreeSet};

/// Rounds until faces that are still flipped stay so. The region grows by a ring with each.
const MAX_ROUNDS: usize = 12;
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

/// Smooths the points of flipped faces and their neighbours until no face is flipped, as the Corrective Smooth modifier does: a
/// point goes to the mean of its neighbours, plus what it differs from theirs on the template, mapped by `map` of the point.
/// Returns the points that moved, ascending, and by how much, metres; the smallest number of flipped faces that was found counts.
///
/// Points at one place move alike, so that no seam opens. Sequential: the same bits for any number of threads.
pub(super) fn smooth_flipped(
    shape: &Shape,
    points: &mut [DVec3],
    map: impl Fn(u32) -> DMat3,
) -> Vec<(u32, DVec3)> {
    let mut turned = flipped(&shape.triangles, &shape.points, points);
    if turned.is_empty() {
        return Vec::new();
    }
    let before = points.to_vec();
    let mut best = (turned.len(), before.clone());
    let rings = rings(shape);
    let welded = |p: u32| shape.welded[p as usize];
    let mut region: BTreeSet<u32> = BTreeSet::new();
    for _ in 0..MAX_ROUNDS {
        let corners = turned.iter().flat_map(|t| shape.triangles[*t as usize]);
        region.extend(corners.map(welded));
        let near = region.iter().filter_map(|p| rings.get(p));
        let grown: BTreeSet<u32> = near.flatten().copied().collect();
        region.extend(grown);
        // What each point differs by from the mean of its neighbours.
        let offsets = region.iter().filter_map(|p| {
            let ring = rings.get(p).filter(|ring| !ring.is_empty())?;
            let offset = shape.points[*p as usize] - mean(&shape.points, ring);
            Some((*p, ring, map(*p) * offset))
        });
        let offsets: Vec<(u32, &BTreeSet<u32>, DVec3)> = offsets.collect();
        for _ in 0..STEPS {
            let places = offsets
                .iter()
                .map(|(_, ring, off)| mean(points, ring) + *off);
            let places: Vec<DVec3> = places.collect();
            for ((p, ..), place) in offsets.iter().zip(places) {
                points[*p as usize] = place;
            }
        }
        for p in 0..points.len() {
            let at = welded(p as u32);
            if at as usize != p && region.contains(&at) {
                points[p] = before[p] + (points[at as usize] - before[at as usize]);
            }
        }
        turned = flipped(&shape.triangles, &shape.points, points);
        if turned.len() < best.0 {
            best = (turned.len(), points.to_vec());
        }
        if turned.is_empty() {
            break;
        }
    }
    points.copy_from_slice(&best.1);
    let moved = before.iter().zip(points.iter()).enumerate();
    let moved = moved.filter(|(_, (before, now))| before != now);
    moved
        .map(|(p, (before, now))| (p as u32, *now - *before))
        .collect()
}

fn mean(points: &[DVec3], of: &BTreeSet<u32>) -> DVec3 {
    let sum: DVec3 = of.iter().map(|p| points[*p as usize]).sum();
    sum / of.len() as f64
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
