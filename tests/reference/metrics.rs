//! The quality metrics of the tables on cylinder C.

use super::cylinder::{Cylinder, N_SIDES};
use super::distance_to_segment;
use super::larger;
use glam::{DAffine3, DVec3};
use std::collections::BTreeSet;

/// Columns of the tables, in their order.
#[derive(Debug)]
pub(crate) struct Metrics(pub(crate) [f64; 10]);

pub(crate) const COLUMNS: [&str; 10] = [
    "bulge",
    "pinch",
    "rms",
    "outer_rms",
    "outer_max",
    "outer_min",
    "side_rms",
    "vol",
    "strain_rms",
    "area_rms",
];

/// The metrics of deformed cylinder points under the skin matrices of the pose.
pub(crate) fn measure(shape: &Cylinder, posed: &[DVec3], pose: &[DAffine3; 2]) -> Metrics {
    let joint = pose[1].transform_point3(DVec3::ZERO);
    let head = pose[0].transform_point3(DVec3::new(-5.0, 0.0, 0.0));
    let tail = pose[1].transform_point3(DVec3::new(5.0, 0.0, 0.0));
    let in_zone = |v: usize| {
        let p = shape.positions[v];
        p.x.abs() <= 2.51 && p.y.hypot(p.z) > 0.5
    };
    let error = |v: usize| {
        let p = posed[v];
        distance_to_segment(p, head, joint).min(distance_to_segment(p, joint, tail)) - 1.0
    };
    let zone: Vec<usize> = (0..posed.len()).filter(|&v| in_zone(v)).collect();
    let errors: Vec<f64> = zone.iter().map(|&v| error(v)).collect();
    let generatrix = |side: usize| -> Vec<f64> {
        let on_it = |v: &&usize| **v % N_SIDES == side;
        zone.iter().filter(on_it).map(|&v| error(v)).collect()
    };
    let (outer, side) = (generatrix(32), generatrix(16));
    let max = |e: &[f64]| e.iter().copied().fold(f64::MIN, larger);
    let min = |e: &[f64]| e.iter().copied().fold(f64::MAX, f64::min);

    let mut edges = BTreeSet::new();
    let (mut area_sum, mut area_error) = (0.0, 0.0);
    for t in &shape.triangles {
        if !t.iter().all(|&v| in_zone(v)) {
            continue;
        }
        for (a, b) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
            edges.insert((a.min(b), a.max(b)));
        }
        let rest = area(&shape.positions, t);
        area_sum += rest;
        area_error += rest * (area(posed, t) / rest - 1.0).powi(2);
    }
    let strains: Vec<f64> = edges
        .iter()
        .map(|&(a, b)| {
            posed[a].distance(posed[b]) / shape.positions[a].distance(shape.positions[b]) - 1.0
        })
        .collect();
    Metrics([
        max(&errors),
        -min(&errors),
        rms(&errors),
        rms(&outer),
        max(&outer),
        min(&outer),
        rms(&side),
        volume(posed, &shape.triangles) / volume(&shape.positions, &shape.triangles),
        rms(&strains),
        (area_error / area_sum).sqrt(),
    ])
}

/// The signed volume inside of a closed mesh.
pub(crate) fn volume(positions: &[DVec3], triangles: &[[usize; 3]]) -> f64 {
    triangles
        .iter()
        .map(|t| positions[t[0]].dot(positions[t[1]].cross(positions[t[2]])) / 6.0)
        .sum()
}

fn area(positions: &[DVec3], t: &[usize; 3]) -> f64 {
    let [a, b, c] = t.map(|v| positions[v]);
    0.5 * (b - a).cross(c - a).length()
}

fn rms(values: &[f64]) -> f64 {
    (values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64).sqrt()
}
