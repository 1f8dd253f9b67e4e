//! The pairs that count in an alignment.

use super::pairs::Measured;
use serde::Serialize;

/// The least share of the points that must agree.
const LEAST_SHARE: f64 = 0.4;
/// The exponent lambda of the objective.
const OVERLAP_EXPONENT: i32 = 2;
/// Distances below this share of the body's size are equally good.
const RESOLUTION: f64 = 1e-6;

/// Why points of a scan did not count in the alignment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Trimmed {
    /// Too far from the body, beyond `limit`.
    pub far: usize,
    /// Nearest to an open edge of the body, which it may continue beyond.
    pub border: usize,
    /// Facing away from the nearest place of the body.
    pub facing: usize,
    /// The distance up to which points count, metres.
    pub limit: f64,
}

impl Trimmed {
    /// Of all reasons.
    pub fn n(&self) -> usize {
        self.far + self.border + self.facing
    }
}

/// Which pairs count, and how well they fit.
pub(super) struct Trim {
    /// One a pair.
    pub(super) keeps: Vec<bool>,
    pub(super) trimmed: Trimmed,
    /// The objective; lower is better.
    pub(super) score: f64,
    /// Whether the faces of the scan look inwards.
    pub(super) is_inside_out: bool,
}

/// Chooses the pairs that count. `size`: the diagonal of the body, metres.
///
/// The share x of pairs, those of the least distances, that minimises `e(x) x^-(1 + lambda)`, e their mean squared distance
/// (Chetverikov, Svirko, Stepanov & Krsek 2002, "The trimmed iterative closest point algorithm", equation 7, with lambda = 2
/// and x from 0.4). Pairs on open edges never count (Turk & Levoy 1994), nor those of points that face away.
pub(super) fn trim(measured: &[Measured], size: f64) -> Trim {
    let sum: f64 = measured.iter().map(|m| m.facing).sum();
    let is_inside_out = sum < 0.0;
    let side = if is_inside_out { -1.0 } else { 1.0 };
    let mut trimmed = Trimmed::default();
    let mut squares = Vec::with_capacity(measured.len());
    let mut counts = |m: &Measured| {
        if m.is_open {
            trimmed.border += 1;
            return false;
        }
        if m.facing * side < 0.0 {
            trimmed.facing += 1;
            return false;
        }
        squares.push(m.distance * m.distance);
        true
    };
    let mut keeps: Vec<bool> = measured.iter().map(&mut counts).collect();
    squares.sort_unstable_by(f64::total_cmp);
    let (limit, score) = best_share(&squares, measured.len(), size);
    for (keep, m) in keeps.iter_mut().zip(measured) {
        let is_near = m.distance * m.distance <= limit;
        if *keep && !is_near {
            trimmed.far += 1;
            *keep = false;
        }
    }
    trimmed.limit = limit.sqrt();
    Trim {
        keeps,
        trimmed,
        score,
        is_inside_out,
    }
}

/// The largest squared distance that counts, and the objective; of `n` pairs, those of `squares`, ascending.
fn best_share(squares: &[f64], n: usize, size: f64) -> (f64, f64) {
    let least = ((LEAST_SHARE * n as f64).ceil() as usize).clamp(1, squares.len().max(1));
    let floor = (RESOLUTION * size).powi(2);
    let (mut sum, mut best) = (0.0, (0.0, f64::INFINITY));
    for (i, square) in squares.iter().enumerate() {
        sum += square;
        let count = (i + 1) as f64;
        let share = count / n as f64;
        let score = (sum / count + floor) * share.powi(-1 - OVERLAP_EXPONENT);
        if i + 1 >= least && score <= best.1 {
            best = (*square, score);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(distance: f64) -> Measured {
        Measured {
            distance,
            facing: 1.0,
            is_open: false,
        }
    }

    #[test]
    fn outliers_are_trimmed_and_agreement_is_kept() {
        let mut measured: Vec<Measured> = (0..80).map(|i| at(1e-3 * f64::from(i % 7))).collect();
        let all = trim(&measured, 2.0);
        assert_eq!((all.trimmed.n(), all.trimmed.limit), (0, 6e-3));
        measured.extend((0..20).map(|i| at(0.3 + 0.01 * f64::from(i))));
        measured[3].is_open = true;
        measured[4].facing = -0.1;
        measured[5].distance = f64::NAN;
        let trim = trim(&measured, 2.0);
        let t = trim.trimmed;
        assert_eq!((t.far, t.border, t.facing), (21, 1, 1));
        assert_eq!(trim.keeps.iter().filter(|keep| **keep).count(), 77);
        assert!(!trim.is_inside_out && trim.score < 1e-4);
    }

    #[test]
    fn exact_pairs_all_count_and_none_is_no_fit() {
        let exact: Vec<Measured> = (0..50).map(|i| at(1e-15 * f64::from(i))).collect();
        assert_eq!(trim(&exact, 2.0).trimmed.n(), 0);
        let mut open = exact;
        for m in &mut open {
            m.is_open = true;
        }
        let none = trim(&open, 2.0);
        assert_eq!((none.score, none.trimmed.border), (f64::INFINITY, 50));
        let mut turned = vec![at(0.0); 3];
        for m in &mut turned {
            m.facing = -1.0;
        }
        let turned = trim(&turned, 1.0);
        assert!(turned.is_inside_out && turned.trimmed.n() == 0);
    }
}
