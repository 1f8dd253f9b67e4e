//! Problems of weights, by chunk.

use crate::document::{MeshId, MeshItem};
use crate::finding::{Finding, Fix, Place, Severity, counted};
use crate::skinning::influences::CHUNK;
use crate::skinning::{Influences, RowRef, Rows};
use crate::weights::repair::{SUM_TOLERANCE, limit, normalise};
use rayon::prelude::*;
use std::sync::Arc;

/// Influences that every player supports.
pub(super) const FEW: usize = 4;
/// The largest number of influences that an edit or an export keeps.
pub(super) const MANY: usize = 8;

/// The report of one chunk of influences. Points are those of the mesh, ascending.
#[derive(Debug, Default)]
pub(super) struct ChunkReport {
    /// The chunk.
    pub(super) rows: Arc<Rows>,
    /// The number of points that each skin joint moves; only joints that move some.
    pub(super) n_moved: Vec<(u16, u32)>,
    pub(super) unweighted: Vec<u32>,
    pub(super) off_sum: Vec<u32>,
    over_few: Vec<u32>,
    over_many: Vec<u32>,
    pub(super) n_influences: usize,
    pub(super) most: usize,
}

/// A report of each chunk; reports in `old` of the same chunk are reused.
pub(super) fn chunk_reports(old: Vec<ChunkReport>, influences: &Influences) -> Vec<ChunkReport> {
    let mut reports = old;
    reports.resize_with(influences.chunks().len(), ChunkReport::default);
    reports
        .par_iter_mut()
        .zip(influences.chunks())
        .enumerate()
        .filter(|(_, (report, rows))| !Arc::ptr_eq(&report.rows, rows))
        .for_each(|(i, (report, rows))| *report = ChunkReport::new((i * CHUNK) as u32, rows));
    reports
}

impl ChunkReport {
    fn new(first: u32, rows: &Arc<Rows>) -> Self {
        let mut report = Self {
            rows: rows.clone(),
            ..Self::default()
        };
        let mut counts: Vec<u32> = Vec::new();
        for (point, row) in (first..).zip(rows.iter()) {
            let mut sum = 0.0;
            let mut n = 0;
            for (joint, weight) in row.iter().filter(|e| e.1 > 0.0) {
                let joint = usize::from(joint);
                if counts.len() <= joint {
                    counts.resize(joint + 1, 0);
                }
                counts[joint] += 1;
                sum += weight;
                n += 1;
            }
            report.n_influences += n;
            report.most = report.most.max(n);
            if n == 0 {
                report.unweighted.push(point);
            } else if (sum - 1.0).abs() > SUM_TOLERANCE {
                report.off_sum.push(point);
            }
            if n > FEW {
                report.over_few.push(point);
            }
            if n > MANY {
                report.over_many.push(point);
            }
        }
        report.n_moved = counts
            .into_iter()
            .enumerate()
            .filter(|&(_, n)| n > 0)
            .map(|(joint, n)| (joint as u16, n))
            .collect();
        report
    }
}

/// Findings about the rows of a mesh. `locked`: n_skin_joints.
pub(super) fn findings(
    mesh: MeshId,
    place: &str,
    chunks: &[ChunkReport],
    item: &MeshItem,
    locked: &[bool],
) -> Vec<Finding> {
    let most = chunks.iter().map(|c| c.most).max().unwrap_or(0);
    let mut findings = Vec::new();
    let mut add = |severity: Severity,
                   points: Vec<u32>,
                   fix: Fix,
                   helps: &dyn Fn(RowRef<'_>) -> bool,
                   message: String| {
        if points.is_empty() {
            return;
        }
        let helps = points.iter().any(|&p| helps(item.influences.row(p)));
        let place = Finding::new(severity, place, message).at(Place::Points {
            mesh: mesh.0,
            points: points.into(),
        });
        findings.push(place.fixed_by(helps.then_some(fix)));
    };
    let gather = |list: fn(&ChunkReport) -> &[u32]| -> Vec<u32> {
        chunks.iter().flat_map(list).copied().collect()
    };

    let unweighted = gather(|c| &c.unweighted);
    let n = unweighted.len();
    let anyone_is_free = locked.contains(&false);
    let message = format!(
        "{} {} no influences and will not follow the pose.",
        counted(n, "vertex"),
        have(n)
    );
    add(
        Severity::Warning,
        unweighted,
        Fix::GiveToNearest,
        &|_| anyone_is_free,
        message,
    );

    let missing = item.points_to_fix();
    let n = missing.len();
    let has_valid = n < item.influences.len();
    let is_free = |joint: &u16| locked.get(usize::from(*joint)) != Some(&true);
    let message = format!(
        "{} {} no valid weight in the file and {} the first bone named there.",
        counted(n, "vertex"),
        have(n),
        if n == 1 { "follows" } else { "follow" }
    );
    add(
        Severity::Warning,
        missing,
        Fix::CopyNearest,
        &|row| has_valid && row.joints.iter().all(is_free),
        message,
    );

    let off_sum = gather(|c| &c.off_sum);
    let n = off_sum.len();
    let message = format!(
        "{} {} weights that do not add up to 1.",
        counted(n, "vertex"),
        have(n)
    );
    let out = std::cell::RefCell::new(Vec::new());
    add(
        Severity::Warning,
        off_sum,
        Fix::Normalise,
        &|row| normalise(row, locked, &mut out.borrow_mut()),
        message,
    );

    let over_many = gather(|c| &c.over_many);
    let over_few = gather(|c| &c.over_few);
    for (points, bound, consequence) in [
        (
            over_many,
            MANY,
            "an edit or an export keeps the 8 largest weights",
        ),
        (
            over_few,
            FEW,
            "an export keeps the 4 largest weights by default",
        ),
    ] {
        let n = points.len();
        let message = format!(
            "{} {} more than {bound} influences (up to {most}); {consequence}.",
            counted(n, "vertex"),
            have(n)
        );
        add(
            Severity::Info,
            points,
            Fix::Limit(bound as u8),
            &|row| limit(row, bound, locked, &mut out.borrow_mut()),
            message,
        );
    }
    findings
}

/// The verb after a subject of `n` things.
fn have(n: usize) -> &'static str {
    if n == 1 { "has" } else { "have" }
}
