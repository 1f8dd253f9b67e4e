//! Bulge projection (Kim & Han 2014): back to the bind distance from the bone.

use super::bones::{Bones, Segment, dominant, moved, nearest};
use super::{Rigid, Row};
use glam::DVec3;

/// Where the projection to `radius` around `segments` takes `p`: only ever inwards.
pub(crate) fn pull_in(p: DVec3, segments: &[Segment], radius: f64) -> DVec3 {
    let near = nearest(segments, p);
    let distance = p.distance(near);
    if distance > radius && distance > 1e-12 {
        near + (p - near) * (radius / distance)
    } else {
        p
    }
}

/// As published: around the bones of the joint of largest weight.
pub(crate) fn published(
    bind: DVec3,
    row: &Row,
    posed: DVec3,
    bones: &Bones,
    motions: &[Rigid],
) -> DVec3 {
    let joint = dominant(row);
    let segments: Vec<Segment> = bones
        .segments(joint)
        .into_iter()
        .map(|s| moved(&motions[joint], s))
        .collect();
    pull_in(posed, &segments, bones.distance(joint, bind))
}

/// The continuous form: the corrections of all influences, blended by w^p.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blended {
    pub(crate) p: f64,
    pub(crate) strength: f64,
    /// Less where two limbs that are not on one chain pull.
    pub(crate) sibling_fade: bool,
}

impl Default for Blended {
    fn default() -> Self {
        Self {
            p: 2.0,
            strength: 1.0,
            sibling_fade: false,
        }
    }
}

impl Blended {
    pub(crate) fn project(
        &self,
        bind: DVec3,
        row: &Row,
        posed: DVec3,
        bones: &Bones,
        motions: &[Rigid],
    ) -> DVec3 {
        let (mut sum, mut total) = (DVec3::ZERO, 0.0);
        for &(joint, w) in row.iter().filter(|r| r.1 > 1e-6) {
            let segments = bones.segments(joint);
            let distances: Vec<f64> = segments
                .iter()
                .map(|&(a, b)| super::distance_to_segment(bind, a, b))
                .collect();
            let near = distances
                .iter()
                .copied()
                .fold(f64::INFINITY, f64::min)
                .max(1e-12);
            // d^-4, scaled so that the nearest has 1.
            let betas: Vec<f64> = distances
                .iter()
                .map(|d| (near / d.max(near)).powi(4))
                .collect();
            let share: f64 = betas.iter().sum();
            let mut correction = DVec3::ZERO;
            for ((&s, &d), beta) in segments.iter().zip(&distances).zip(&betas) {
                let s = moved(&motions[joint], s);
                correction += (pull_in(posed, &[s], d) - posed) * (beta / share);
            }
            sum += correction * w.powf(self.p);
            total += w.powf(self.p);
        }
        if total == 0.0 {
            return posed;
        }
        let kappa = if self.sibling_fade {
            sibling_fade(row, bones)
        } else {
            1.0
        };
        posed + sum * (self.strength * kappa / total)
    }
}

/// `1 - max min(w_i, w_j) / w_1` over the pairs of influences that are not on one chain.
pub(crate) fn sibling_fade(row: &Row, bones: &Bones) -> f64 {
    let largest = row.iter().map(|r| r.1).fold(0.0, f64::max);
    let mut worst = 0.0f64;
    for (k, &(i, wi)) in row.iter().enumerate() {
        for &(j, wj) in &row[..k] {
            if !bones.on_one_chain(i, j) {
                worst = worst.max(wi.min(wj) / largest);
            }
        }
    }
    1.0 - worst
}
