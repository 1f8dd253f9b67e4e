//! Texture coordinates of a body: each limb is unrolled around its axis into its own rectangle.

use super::body::Body;
use crate::document::PrimitiveSource;
use crate::skinning::Rows;
use glam::{DVec3, Vec2, Vec3};
use rayon::prelude::*;

/// A limb that is unrolled in one piece.
#[derive(Clone, Debug)]
pub(super) struct Chart {
    /// Bones whose surface it contains.
    pub(super) bones: Vec<u16>,
    /// Its axis, from `low` to `high`.
    pub(super) low: DVec3,
    pub(super) high: DVec3,
    /// The direction of the centre of the rectangle; the seam is opposite.
    pub(super) front: DVec3,
    /// Typical radius, metres: the rectangle's width is its circumference.
    pub(super) radius: f64,
}

/// Fraction of a rectangle's width for triangles that cross the seam.
const PAST_SEAM: f64 = 0.25;

/// The primitive of a body: vertices of a point differ only in their texture coordinates.
pub(super) fn unwrap(
    body: &Body,
    positions: &[Vec3],
    normals: &[Vec3],
    rows: &[Vec<(u16, f32)>],
    triangles: &[[u32; 3]],
) -> PrimitiveSource {
    let charts = &body.charts;
    let mut chart_of_bone = vec![0u8; body.rig.bones.len()];
    for (c, chart) in charts.iter().enumerate() {
        for &b in &chart.bones {
            chart_of_bone[b as usize] = c as u8;
        }
    }
    // Angle around the axis in revolutions (0 at the seam), and position along it as a fraction of the height.
    let unrolled = |point: u32, c: u8| {
        let chart = &charts[c as usize];
        let axis = chart.high - chart.low;
        let offset = positions[point as usize].as_dvec3() - chart.low;
        let along = offset.dot(axis) / axis.length_squared();
        let y = axis.try_normalize().unwrap_or(DVec3::Y);
        let side = y.cross(chart.front).try_normalize().unwrap_or(DVec3::X);
        let front = side.cross(y);
        let angle = libm::atan2(offset.dot(side), offset.dot(front));
        (0.5 + angle / std::f64::consts::TAU, along)
    };
    let corners: Vec<[u64; 3]> = triangles
        .par_iter()
        .map(|t| {
            let mut held = [0f32; 256];
            for &v in t {
                for &(j, w) in &rows[v as usize] {
                    held[chart_of_bone[j as usize] as usize] += w;
                }
            }
            let chart =
                (0..charts.len()).fold(0, |best, c| if held[c] > held[best] { c } else { best });
            let turns = t.map(|v| unrolled(v, chart as u8).0);
            let high = turns.iter().fold(0.0, |a: f64, &b| a.max(b));
            std::array::from_fn(|k| {
                let wound = u64::from(high - turns[k] > 0.5);
                u64::from(t[k]) << 9 | (chart as u64) << 1 | wound
            })
        })
        .collect();
    let mut keys: Vec<u64> = corners.par_iter().flatten_iter().copied().collect();
    keys.par_sort_unstable();
    keys.dedup();
    let index = |key: u64| keys.partition_point(|&k| k < key) as u32;
    let places = pack(charts);
    let mut influences = Rows::with_capacity(keys.len());
    for &key in &keys {
        influences.push_pairs(rows[(key >> 9) as usize].iter().copied());
    }
    PrimitiveSource {
        positions: keys.iter().map(|k| positions[(k >> 9) as usize]).collect(),
        normals: keys.iter().map(|k| normals[(k >> 9) as usize]).collect(),
        uvs: keys
            .par_iter()
            .map(|&key| {
                let chart = (key >> 1 & 255) as u8;
                let (turn, along) = unrolled((key >> 9) as u32, chart);
                let [x, y, width, height] = places[chart as usize];
                let u = (turn + (key & 1) as f64) / (1.0 + PAST_SEAM);
                // glTF's v runs down; limbs reach a little past their axis' ends.
                let v = 0.1 + 0.8 * (1.0 - along);
                Vec2::new(
                    (x + width * u.clamp(0.0, 1.0)) as f32,
                    (y + height * v.clamp(0.0, 1.0)) as f32,
                )
            })
            .collect(),
        influences,
        triangles: corners.par_iter().map(|c| c.map(index)).collect(),
        ..Default::default()
    }
}

/// A rectangle (x, y, width, height) of the unit square for each chart, all at one scale, in shelves.
fn pack(charts: &[Chart]) -> Vec<[f64; 4]> {
    let sizes: Vec<(f64, f64)> = charts
        .iter()
        .map(|c| {
            let width = c.radius * std::f64::consts::TAU * (1.0 + PAST_SEAM);
            (width, c.low.distance(c.high) / 0.8)
        })
        .collect();
    let mut order: Vec<usize> = (0..charts.len()).collect();
    order.sort_by(|&a, &b| sizes[b].1.total_cmp(&sizes[a].1).then(a.cmp(&b)));
    let area: f64 = sizes.iter().map(|s| s.0 * s.1).sum();
    let mut side = area.sqrt();
    loop {
        let margin = side / 256.0;
        let mut places = vec![[0.0; 4]; charts.len()];
        let (mut x, mut y, mut shelf) = (margin, margin, 0.0);
        let mut fits = true;
        for &i in &order {
            let (width, height) = sizes[i];
            if x + width + margin > side && x > margin {
                (x, y, shelf) = (margin, y + shelf + margin, 0.0);
            }
            shelf = height.max(shelf);
            fits &= x + width + margin <= side && y + height + margin <= side;
            places[i] = [x / side, y / side, width / side, height / side];
            x += width + margin;
        }
        if fits {
            return places;
        }
        side *= 1.02;
    }
}
