//! How good a deformation is, point by point: bulge, volume, strain, area, jumps, folds and normals.

use super::bones::{Bones, moved, nearest};
use super::larger;
use super::normals::face_map;
use super::{Rigid, Row, dqs_rotation};
use glam::{DMat3, DVec3};
use std::collections::{BTreeMap, BTreeSet};

/// Joints of less weight have no say in the bulge.
const INFLUENCING: f64 = 0.01;

/// `(D'(v') - D(v)) / D(v)`, D = distance to the nearest bone of the influencing joints.
pub(crate) fn bulge(bind: DVec3, posed: DVec3, row: &Row, bones: &Bones, motions: &[Rigid]) -> f64 {
    let mut segments = (Vec::new(), Vec::new());
    for &(j, _) in row.iter().filter(|r| r.1 > INFLUENCING) {
        for s in bones.segments(j) {
            segments.0.push(s);
            segments.1.push(moved(&motions[j], s));
        }
    }
    let before = bind.distance(nearest(&segments.0, bind));
    let after = posed.distance(nearest(&segments.1, posed));
    (after - before) / before.max(1e-12)
}

/// Every edge once, the lower point first.
pub(crate) fn edges(triangles: &[[usize; 3]]) -> Vec<(usize, usize)> {
    let mut edges = BTreeSet::new();
    for t in triangles {
        for k in 0..3 {
            let (a, b) = (t[k], t[(k + 1) % 3]);
            edges.insert((a.min(b), a.max(b)));
        }
    }
    edges.into_iter().collect()
}

/// Whether every edge has two faces that run through it in opposite directions.
pub(crate) fn is_closed(triangles: &[[usize; 3]]) -> bool {
    let mut directed: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for t in triangles {
        for k in 0..3 {
            *directed.entry((t[k], t[(k + 1) % 3])).or_default() += 1;
        }
    }
    directed
        .iter()
        .all(|(&(a, b), &n)| n == 1 && directed.get(&(b, a)) == Some(&1))
}

/// The relative change of length of largest magnitude among the edges at each point.
pub(crate) fn strain(bind: &[DVec3], posed: &[DVec3], triangles: &[[usize; 3]]) -> Vec<f64> {
    let mut worst = vec![0.0f64; bind.len()];
    for (a, b) in edges(triangles) {
        let rest = bind[a].distance(bind[b]);
        if rest > 1e-9 {
            let e = posed[a].distance(posed[b]) / rest - 1.0;
            for v in [a, b] {
                if e.abs() > worst[v].abs() {
                    worst[v] = e;
                }
            }
        }
    }
    worst
}

/// `log2(A' / A)` of the faces, weighted by their rest area at each point.
pub(crate) fn area_change(bind: &[DVec3], posed: &[DVec3], triangles: &[[usize; 3]]) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); bind.len()];
    for t in triangles {
        let rest = area(bind, *t);
        if rest > 1e-12 {
            let change = (area(posed, *t) / rest).max(1e-12).log2();
            for &v in t {
                sums[v].0 += rest * change;
                sums[v].1 += rest;
            }
        }
    }
    sums.iter()
        .map(|&(sum, weight)| if weight > 0.0 { sum / weight } else { 0.0 })
        .collect()
}

fn area(positions: &[DVec3], t: [usize; 3]) -> f64 {
    let [a, b, c] = t.map(|v| positions[v]);
    0.5 * (b - a).cross(c - a).length()
}

/// The largest difference of `corrections` across an edge longer than `shortest`, and the largest ratio of it to the
/// edge's bind length.
pub(crate) fn jumps(
    bind: &[DVec3],
    corrections: &[DVec3],
    triangles: &[[usize; 3]],
    shortest: f64,
) -> (f64, f64) {
    let (mut jump, mut ratio) = (0.0f64, 0.0f64);
    for (a, b) in edges(triangles) {
        let length = bind[a].distance(bind[b]);
        if length > shortest {
            let d = corrections[a].distance(corrections[b]);
            jump = larger(jump, d);
            ratio = larger(ratio, d / length);
        }
    }
    (jump, ratio)
}

/// Largest difference of the linear maps of two faces across an edge (Frobenius).
pub(crate) fn map_jump(bind: &[DVec3], posed: &[DVec3], triangles: &[[usize; 3]]) -> f64 {
    let mut across: BTreeMap<(usize, usize), Vec<DMat3>> = BTreeMap::new();
    for t in triangles.iter().filter(|t| area(bind, **t) > 1e-12) {
        let map = face_map(t.map(|v| bind[v]), t.map(|v| posed[v]));
        for k in 0..3 {
            let (a, b) = (t[k], t[(k + 1) % 3]);
            across.entry((a.min(b), a.max(b))).or_default().push(map);
        }
    }
    let frobenius = |m: DMat3| m.to_cols_array().iter().map(|v| v * v).sum::<f64>().sqrt();
    across
        .values()
        .filter(|maps| maps.len() == 2)
        .map(|maps| frobenius(maps[0] - maps[1]))
        .fold(0.0, larger)
}

/// Number and posed area of the faces that look the other way than the blended rotation of their points says.
pub(crate) fn folds(
    bind: &[DVec3],
    posed: &[DVec3],
    triangles: &[[usize; 3]],
    rows: &[Row],
    motions: &[Rigid],
) -> (usize, f64) {
    let normal = |positions: &[DVec3], t: &[usize; 3]| {
        let [a, b, c] = t.map(|v| positions[v]);
        (b - a).cross(c - a)
    };
    let (mut count, mut total) = (0, 0.0);
    for t in triangles {
        let mut mean: BTreeMap<usize, f64> = BTreeMap::new();
        for &v in t {
            for &(j, w) in &rows[v] {
                *mean.entry(j).or_default() += w / 3.0;
            }
        }
        let rotation = dqs_rotation(&mean.into_iter().collect(), motions);
        if normal(posed, t).dot(rotation * normal(bind, t)) < 0.0 {
            count += 1;
            total += area(posed, *t);
        }
    }
    (count, total)
}
