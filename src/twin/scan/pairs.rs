//! The places of a body that are nearest to points of a scan.

use super::points::Scan;
use super::rigid::Rigid;
use super::surface::SignedSurface;
use glam::DVec3;
use rayon::prelude::*;

/// Where a point of a scan lies relative to the body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    /// Its signed distance from the body, metres; NaN where there is none.
    pub(super) distance: f64,
    /// The cosine between its normal and that of the body; 0 where it has none.
    pub(super) facing: f64,
    /// Whether its nearest place is on an open edge of the body.
    pub(super) is_open: bool,
}

/// A point of a scan and the tangent plane of its nearest place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    /// The moved point.
    pub(super) point: DVec3,
    /// Its nearest place.
    pub(super) foot: DVec3,
    /// The normal there, unit; zero where there is none.
    pub(super) normal: DVec3,
}

fn measure(body: &SignedSurface, scan: &Scan, motion: &Rigid, index: u32) -> (Measured, Pair) {
    let point = motion.apply(scan.points()[index as usize]);
    let Some(foot) = body.nearest(point) else {
        let nothing = Measured {
            distance: f64::NAN,
            facing: 0.0,
            is_open: false,
        };
        let pair = Pair {
            point,
            foot: point,
            normal: DVec3::ZERO,
        };
        return (nothing, pair);
    };
    let normal = foot.normal.normalize_or_zero();
    let measured = Measured {
        distance: foot.signed_distance(point),
        facing: (motion.rotation * scan.normal(index)).dot(normal),
        is_open: foot.is_open,
    };
    let pair = Pair {
        point,
        foot: foot.place,
        normal,
    };
    (measured, pair)
}

/// The pairs of some points of a scan that was moved.
pub(super) fn pairs(
    body: &SignedSurface,
    scan: &Scan,
    motion: &Rigid,
    sample: &[u32],
) -> (Vec<Measured>, Vec<Pair>) {
    let points = sample.par_iter().with_min_len(64);
    points.map(|&i| measure(body, scan, motion, i)).unzip()
}

/// The distances of points of a scan that was moved.
pub(super) fn distances(
    body: &SignedSurface,
    scan: &Scan,
    motion: &Rigid,
    points: std::ops::Range<u32>,
) -> Vec<Measured> {
    let points = points.into_par_iter().with_min_len(64);
    points.map(|i| measure(body, scan, motion, i).0).collect()
}
