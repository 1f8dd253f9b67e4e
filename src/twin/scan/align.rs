//! The rigid motion that lays a scan on a body.

use super::error::ScanError;
use super::pairs::pairs;
use super::points::{Scan, diagonal};
use super::rigid::Rigid;
use super::start::{Start, starts};
use super::step::step;
use super::surface::SignedSurface;
use super::trim::trim;
use crate::task::Task;

/// How a scan is aligned with a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// By the trimmed iterative closest point algorithm.
    #[default]
    Icp,
    /// Not at all: it stays where its file places it.
    None,
}

/// How a scan was aligned with a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Alignment {
    /// From the scan to the body, metres.
    pub motion: Rigid,
    /// The start that led to it.
    pub start: Start,
    /// Iterations from there.
    pub iterations: usize,
    /// Whether it converged.
    pub converged: bool,
    /// The degrees of freedom, of six, that the shape does not determine: 1 for the rotation of a cylinder about its axis.
    pub n_free: usize,
}

/// Points and iterations of the three rounds: every start, the best ones, the best.
const ROUNDS: [(usize, usize); 3] = [(500, 15), (2_000, 30), (20_000, 100)];
/// Starts that go on to the second round.
const BEST: usize = 3;
/// A start must be better than the ones before it by this factor.
const BETTER: f64 = 0.98;
/// The alignment ends where an iteration moves less, as a share of the body's size.
const STILL: f64 = 1e-8;
/// One that is no better for so many iterations ends.
const PATIENCE: usize = 12;
/// It then has found its place if it moves less, as a share of the body's size.
const ALMOST_STILL: f64 = 1e-4;
/// The fewest points that can be aligned: as many as there are degrees of freedom.
const FEWEST: usize = 6;

/// Aligns a scan with a body: trimmed iterative closest points with point-to-plane distances.
///
/// Besl & McKay 1992; Chen & Medioni 1992; the trimming of Chetverikov 2002. A few iterations on few points from each start
/// choose the start. The scan is not scaled. The same bits for any number of threads.
///
/// Fails where the scan has too few points or none that fits.
pub(super) fn align(
    body: &SignedSurface,
    scan: &Scan,
    task: &Task,
) -> Result<Alignment, ScanError> {
    let n = scan.points().len();
    let size = diagonal(body.points());
    if n < FEWEST || diagonal(scan.points()) <= 0.0 {
        return Err(ScanError::of(format!(
            "the scan has too few different points to be aligned, fewer than {FEWEST}: turn Align off (--align none) to compare it where it is"
        )));
    }
    let starts = starts(body, scan);
    let mut runs = Vec::with_capacity(starts.len());
    let sample = sample(n, ROUNDS[0].0);
    for (i, (_, motion)) in starts.iter().enumerate() {
        task.step("Aligning the scan", 0.2 * i as f32 / starts.len() as f32)?;
        let run = run(body, scan, &sample, *motion, ROUNDS[0].1, size, task)?;
        runs.push((i, run));
    }
    runs.sort_by(|a, b| a.1.score.total_cmp(&b.1.score).then(a.0.cmp(&b.0)));
    runs.truncate(BEST);
    // The first ones win among equals.
    runs.sort_by_key(|(i, _)| *i);
    let sample = self::sample(n, ROUNDS[1].0);
    let mut best: Option<(usize, Run)> = None;
    for (k, (i, from)) in runs.iter().enumerate() {
        task.step("Aligning the scan", 0.2 + 0.1 * k as f32)?;
        let run = run(body, scan, &sample, from.motion, ROUNDS[1].1, size, task)?;
        if best
            .as_ref()
            .is_none_or(|(_, known)| run.score < known.score * BETTER)
        {
            best = Some((*i, run));
        }
    }
    let best = best.filter(|(_, run)| run.score.is_finite());
    let (i, before) = best.ok_or_else(|| {
        ScanError::of(
            "the scan cannot be aligned with the body: check that it shows the same person",
        )
    })?;
    let sample = self::sample(n, ROUNDS[2].0);
    task.step("Aligning the scan", 0.5)?;
    let last = run(body, scan, &sample, before.motion, ROUNDS[2].1, size, task)?;
    Ok(Alignment {
        motion: last.motion,
        start: starts[i].0,
        iterations: last.iterations,
        converged: last.converged,
        n_free: last.n_free,
    })
}

/// Where some iterations led.
struct Run {
    motion: Rigid,
    score: f64,
    iterations: usize,
    converged: bool,
    n_free: usize,
}

fn run(
    body: &SignedSurface,
    scan: &Scan,
    sample: &[u32],
    start: Rigid,
    most: usize,
    size: f64,
    task: &Task,
) -> Result<Run, ScanError> {
    let mut best = Run {
        motion: start,
        score: f64::INFINITY,
        iterations: 0,
        converged: false,
        n_free: 0,
    };
    let mut motion = start;
    let (mut moved, mut n_worse) = (f64::INFINITY, 0);
    for i in 0..=most {
        task.check()?;
        let (measured, pairs) = pairs(body, scan, &motion, sample);
        let trim = trim(&measured, size);
        if trim.score <= best.score {
            best.motion = motion;
            best.score = trim.score;
            n_worse = 0;
        } else {
            n_worse += 1;
        }
        best.iterations = i;
        best.converged =
            moved <= STILL * size || n_worse > PATIENCE && moved <= ALMOST_STILL * size;
        if best.converged || n_worse > PATIENCE || i == most {
            break;
        }
        let Some(step) = step(&pairs, &trim.keeps) else {
            break;
        };
        motion = motion.then(&step.motion);
        moved = step.moved;
        best.n_free = step.n_free;
    }
    Ok(best)
}

/// At most `most` of `n` points, evenly.
fn sample(n: usize, most: usize) -> Vec<u32> {
    let m = n.min(most);
    (0..m).map(|i| (i * n / m) as u32).collect()
}
