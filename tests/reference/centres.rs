//! Optimised centres of rotation (Le & Hodgins 2016), every point against every triangle, and binned.

use super::{Rigid, Row, dqs_rotation};
use glam::DVec3;
use std::collections::BTreeMap;

const SIGMA: f64 = 0.1;

/// How alike two weight vectors are over ordered pairs of joints; 0 for points of one bone.
pub(crate) fn similarity(a: &[f64], b: &[f64]) -> f64 {
    let mut sum = 0.0;
    for j in 0..a.len() {
        for k in 0..j {
            let product = a[j] * a[k] * b[j] * b[k];
            if product > 0.0 {
                let difference = (a[j] * b[k] - a[k] * b[j]) / SIGMA;
                sum += 2.0 * product * (-difference * difference).exp();
            }
        }
    }
    sum
}

/// Area, area times centroid and area times mean weights of some triangles.
#[derive(Clone, Debug)]
pub(crate) struct Patch {
    area: f64,
    moment: DVec3,
    weights: Vec<f64>,
}

/// A row as a vector over all joints.
pub(crate) fn dense(row: &Row, n_joints: usize) -> Vec<f64> {
    let mut weights = vec![0.0; n_joints];
    for &(j, w) in row {
        weights[j] += w;
    }
    weights
}

/// One patch a triangle.
pub(crate) fn patches(
    positions: &[DVec3],
    triangles: &[[usize; 3]],
    weights: &[Vec<f64>],
) -> Vec<Patch> {
    triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|v| positions[v]);
            let area = 0.5 * (b - a).cross(c - a).length();
            let mean = |j: usize| t.iter().map(|&v| weights[v][j]).sum::<f64>() / 3.0;
            Patch {
                area,
                moment: (a + b + c) / 3.0 * area,
                weights: (0..weights[0].len()).map(|j| area * mean(j)).collect(),
            }
        })
        .collect()
}

/// Patches of like weights, rounded to `delta`, joined.
pub(crate) fn binned(patches: &[Patch], delta: f64) -> Vec<Patch> {
    binned_by(patches, |w| w / delta)
}

/// Patches whose weights, each through `key`, round to the same numbers, joined.
pub(crate) fn binned_by(patches: &[Patch], key_of: impl Fn(f64) -> f64) -> Vec<Patch> {
    let mut bins: BTreeMap<Vec<i64>, Patch> = BTreeMap::new();
    for patch in patches.iter().filter(|p| p.area > 0.0) {
        let key = patch
            .weights
            .iter()
            .map(|w| key_of(w / patch.area).round() as i64);
        match bins.entry(key.collect()) {
            std::collections::btree_map::Entry::Vacant(slot) => {
                slot.insert(patch.clone());
            }
            std::collections::btree_map::Entry::Occupied(mut slot) => {
                let bin = slot.get_mut();
                bin.area += patch.area;
                bin.moment += patch.moment;
                for (sum, w) in bin.weights.iter_mut().zip(&patch.weights) {
                    *sum += w;
                }
            }
        }
    }
    bins.into_values().collect()
}

/// The centre of rotation of a weight vector; `None` where it has less than two influences or nothing is like it.
pub(crate) fn centre(weights: &[f64], patches: &[Patch]) -> Option<DVec3> {
    let (mut moment, mut total) = (DVec3::ZERO, 0.0);
    let mut mean = vec![0.0; weights.len()];
    for patch in patches.iter().filter(|p| p.area > 0.0) {
        for (m, w) in mean.iter_mut().zip(&patch.weights) {
            *m = w / patch.area;
        }
        let s = similarity(weights, &mean);
        moment += patch.moment * s;
        total += patch.area * s;
    }
    (total >= 1e-300).then(|| moment / total)
}

/// Where a point turns about its centre; linear blending without one.
pub(crate) fn skin(p: DVec3, row: &Row, centre: Option<DVec3>, motions: &[Rigid]) -> DVec3 {
    let blend = |p: DVec3| -> DVec3 { row.iter().map(|&(j, w)| motions[j].apply(p) * w).sum() };
    match centre {
        Some(centre) => dqs_rotation(row, motions) * (p - centre) + blend(centre),
        None => blend(p),
    }
}
