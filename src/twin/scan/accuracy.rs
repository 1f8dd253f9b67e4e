//! How far a body and a scan are apart.

use super::align::{Align, Alignment, align};
use super::distances::Distances;
use super::error::ScanError;
use super::pairs;
use super::points::{Scan, diagonal};
use super::rigid::Rigid;
use super::surface::SignedSurface;
use super::trim::{Trimmed, trim};
use crate::finding::{counted, trimmed};
use crate::mesh::box_tree::{Bounds, BoxTree};
use crate::task::Task;
use glam::DVec3;
use rayon::prelude::*;

/// A scan that is so many times as large as the body, or as small, has another unit.
pub const MAX_SCALE: f64 = 4.0;

/// Points between two checks for cancellation.
const SPAN: u32 = 1 << 15;

/// The signed distances between a scan and a body, metres: positive where the scan is outside of the body.
#[derive(Clone, Debug)]
pub struct Accuracy {
    /// `None`: the scan lies where its file says.
    pub alignment: Option<Alignment>,
    /// The points of the scan that do not count in the alignment.
    pub trimmed: Trimmed,
    /// From every point of the scan to the body.
    pub scan: Distances,
    /// From those that count in the alignment; `None`: it was not aligned.
    pub kept: Option<Distances>,
    /// From every point of the body that has a face to the scan.
    pub body: Distances,
    /// Points of the body whose nearest place of the scan is on its open edge.
    pub n_beyond: usize,
    /// One a point of the scan.
    pub of_scan: Vec<f64>,
    /// One a point of the body; NaN where it has no face.
    pub of_body: Vec<f64>,
    /// The place of the largest distance of the scan: its point, moved to the body.
    pub farthest: DVec3,
    /// The point of the body that is nearest to it.
    pub farthest_point: u32,
    /// What should be looked at.
    pub warnings: Vec<String>,
}

impl Accuracy {
    /// Compares a scan with a body. Fails, in a sentence, where it cannot be aligned, or when `task` is cancelled.
    pub fn new(
        body: &SignedSurface,
        scan: &Scan,
        how: Align,
        task: &Task,
    ) -> Result<Self, ScanError> {
        let alignment = match how {
            Align::Icp => Some(align(body, scan, task)?),
            Align::None => None,
        };
        let motion = alignment.as_ref().map_or(Rigid::IDENTITY, |a| a.motion);
        let size = diagonal(body.points());
        let n = scan.points().len() as u32;
        let mut measured = Vec::with_capacity(n as usize);
        for first in (0..n).step_by(SPAN as usize) {
            task.step("Measuring the scan", 0.7 + 0.2 * first as f32 / n as f32)?;
            let end = n.min(first.saturating_add(SPAN));
            measured.extend(pairs::distances(body, scan, &motion, first..end));
        }
        let of_scan: Vec<f64> = measured.iter().map(|m| m.distance).collect();
        let trim = trim(&measured, size);
        drop(measured);
        let kept = (0..).zip(&of_scan).zip(&trim.keeps);
        let kept = kept.filter_map(|((i, d), keep)| keep.then_some((i, *d)));
        let kept = alignment.as_ref().and_then(|_| Distances::of(kept));
        let (of_body, n_beyond) = distances_of_body(body, scan, &motion, task)?;
        let with_faces = (0..).zip(&of_body).zip(body.normals());
        let with_faces = with_faces.filter(|(_, normal)| **normal != DVec3::ZERO);
        let nothing = || ScanError::of("there is nothing to compare");
        let over_scan = Distances::of((0..).zip(of_scan.iter().copied())).ok_or_else(nothing)?;
        let over_body = Distances::of(with_faces.map(|((i, d), _)| (i, *d))).ok_or_else(nothing)?;
        let farthest = motion.apply(scan.points()[over_scan.max_at as usize]);
        let mut accuracy = Self {
            trimmed: match alignment {
                Some(_) => trim.trimmed,
                None => Trimmed::default(),
            },
            alignment,
            scan: over_scan,
            kept,
            body: over_body,
            n_beyond,
            of_scan,
            of_body,
            farthest,
            farthest_point: nearest_point(body, farthest).unwrap_or(0),
            warnings: Vec::new(),
        };
        accuracy.warn(diagonal(scan.points()) / size, trim.is_inside_out);
        Ok(accuracy)
    }

    /// Adds the warnings; `scale`: how many times as large as the body the scan is.
    fn warn(&mut self, scale: f64, is_inside_out: bool) {
        let mut say = |text: String| self.warnings.push(text);
        if !(MAX_SCALE.recip()..=MAX_SCALE).contains(&scale) {
            let (times, what) = if scale > 1.0 {
                (scale, "large")
            } else {
                (scale.recip(), "small")
            };
            let times = trimmed((times * 10.0).round() / 10.0);
            say(format!(
                "The scan is {times} times as {what} as the body: check its unit."
            ));
        }
        if let Some(alignment) = &self.alignment {
            if !alignment.converged {
                say(
                    "The alignment did not converge: align the scan with the body roughly first."
                        .into(),
                );
            }
            if alignment.n_free > 0 {
                let n = alignment.n_free;
                say(format!(
                    "The shape does not determine {n} of 6 degrees of freedom, such as the rotation of a round limb about its axis."
                ));
            }
            if self.trimmed.n() * 2 > self.scan.n {
                say("More than half of the points were trimmed from the alignment: check that the scan shows the same person in the same pose.".into());
            }
        }
        if is_inside_out {
            say("The faces of the scan point inwards.".into());
        }
        let n_failed = self.scan.failed + self.body.failed;
        if n_failed > 0 {
            say(format!("{} no number.", counted_are(n_failed)));
        }
    }
}

fn counted_are(n: usize) -> String {
    let verb = if n == 1 { "is" } else { "are" };
    format!("{} {verb}", counted(n, "distance"))
}

/// The point of the nearest triangle of a surface that is nearest to a place.
fn nearest_point(surface: &SignedSurface, place: DVec3) -> Option<u32> {
    let foot = surface.nearest(place)?;
    let corners = surface.triangles()[foot.triangle as usize];
    let [a, b, c] = foot.barycentric;
    let k = if a >= b && a >= c {
        0
    } else if b >= c {
        1
    } else {
        2
    };
    Some(corners[k])
}

/// The signed distance of each point of a body from a scan that was moved, and the number of those beyond its border.
fn distances_of_body(
    body: &SignedSurface,
    scan: &Scan,
    motion: &Rigid,
    task: &Task,
) -> Result<(Vec<f64>, usize), ScanError> {
    let back = motion.inverse();
    let tree = match scan.surface() {
        Some(_) => BoxTree::default(),
        None => {
            let points = scan.points();
            BoxTree::new(points.len(), |i| Bounds::around([points[i as usize]]))
        }
    };
    let nearest = |p: DVec3| match scan.surface() {
        Some(surface) => surface.nearest(p).map(|foot| (foot.place, foot.is_open)),
        None => {
            let points = scan.points();
            let measure = |i: u32, _| Some(points[i as usize].distance_squared(p));
            let found = tree.nearest(p, f64::INFINITY, measure)?;
            Some((points[found as usize], false))
        }
    };
    let distance = |(point, normal): (&DVec3, &DVec3)| {
        if *normal == DVec3::ZERO {
            return (f64::NAN, false);
        }
        let Some((place, is_open)) = nearest(back.apply(*point)) else {
            return (f64::NAN, false);
        };
        let away = motion.apply(place) - *point;
        let distance = away.length();
        let is_inside = away.dot(*normal) < 0.0;
        (if is_inside { -distance } else { distance }, is_open)
    };
    let (points, normals) = (body.points(), body.normals());
    let mut all = Vec::with_capacity(points.len());
    let mut n_beyond = 0;
    let chunks = points.chunks(SPAN as usize);
    for (points, normals) in chunks.zip(normals.chunks(SPAN as usize)) {
        task.step("Measuring the body", 0.9)?;
        let found = points.par_iter().zip(normals).with_min_len(64);
        let found: Vec<(f64, bool)> = found.map(distance).collect();
        n_beyond += found.iter().filter(|(_, is_open)| *is_open).count();
        all.extend(found.into_iter().map(|(distance, _)| distance));
    }
    Ok((all, n_beyond))
}
