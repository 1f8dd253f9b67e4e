//! Searches for the smallest solution of a group: solves candidates one after another until one meets the tolerance.

use super::candidates::Candidate;
use super::frame_rounds::SharedInput;
use super::{Initialisation, PLAYBACK_SHARE, Solution};
use crate::bake::problem::group::Group;
use crate::bake::problem::{Budget, Problem};
use crate::task::Cancelled;

/// The largest number of candidates to solve, which bounds the time.
const MAX_SOLVED: usize = 5;
/// After the first solution, candidates are skipped if their estimated error exceeds the limit on the training set by this
/// factor.
const SKIP_FACTOR: f64 = 1.3;
/// After a solution with helper joints, a candidate with displacements of regions is solved too if its estimate is less than
/// this fraction of the solution's bytes.
const SMALLER_SHARE: f64 = 0.95;
/// If a candidate fails, the next one has at least this many times its helpers, as a few more rarely suffice.
const MORE_HELPERS: f64 = 1.5;

impl Problem<'_> {
    /// The solution of a group; `None` where no point needs correction.
    pub(crate) fn solve(&self, group: &mut Group) -> Result<Option<Solution>, Cancelled> {
        let Some(initialisation) = self.initialise(group, &Budget::FULL)? else {
            return Ok(None);
        };
        let Initialisation {
            sampling,
            mut training,
            regularisation,
            found,
            candidates,
        } = initialisation;
        let group: &Group = group;
        let grounds = SharedInput {
            sampling: &sampling,
            found: &found,
            regularisation,
        };
        let mut best: Option<Solution> = None;
        let mut given_up: Option<(f64, &Candidate)> = None;
        let mut least = 0;
        let mut tries = 0;
        let mut untried: Vec<&Candidate> = Vec::new();
        for candidate in &candidates {
            // Skip candidates that cannot meet the tolerance and, unless they have regions, those with fewer than
            // `MORE_HELPERS` times the helpers of the last candidate that failed.
            let is_regional = candidate.regional.contains(&true);
            let limit = SKIP_FACTOR * self.training_limit(group, candidate.helpers);
            if best.as_ref().is_some_and(|best| self.meets(best))
                || candidate.helpers < least && !is_regional
                || tries >= MAX_SOLVED
                || best.is_some() && candidate.max_error > limit
            {
                untried.push(candidate);
                continue;
            }
            tries += 1;
            self.task
                .step("Solving for motions and weights", 0.4 + 0.1 * tries as f32)?;
            match self.solve_candidate(group, &mut training, candidate, grounds, true)? {
                Ok(solved) => best = Some(self.better(best, solved)),
                Err(max_error) if given_up.is_none_or(|other| max_error < other.0) => {
                    given_up = Some((max_error, candidate));
                }
                Err(_) => {}
            }
            if self.refines(group) && candidate.helpers > 0 && !is_regional {
                least = (MORE_HELPERS * candidate.helpers as f64).ceil() as usize;
            }
        }
        if let Some((_, candidate)) = given_up.filter(|_| best.is_none())
            && let Ok(solved) =
                self.solve_candidate(group, &mut training, candidate, grounds, false)?
        {
            best = Some(solved);
        }
        if let Some(bytes) = self
            .bytes_with_helpers(best.as_ref())
            .filter(|_| tries < MAX_SOLVED)
            && let Some(candidate) = smaller_regions(&untried, bytes, |candidate| {
                SKIP_FACTOR * self.training_limit(group, candidate.helpers)
            })
            && let Ok(solved) =
                self.solve_candidate(group, &mut training, candidate, grounds, true)?
        {
            best = Some(self.better(best, solved));
        }
        Ok(best)
    }

    fn meets(&self, solved: &Solution) -> bool {
        solved.max_error <= PLAYBACK_SHARE * self.tolerance
    }

    /// The smaller of the solutions that meet the tolerance or, if neither does, the one with the smaller error.
    fn better(&self, best: Option<Solution>, solved: Solution) -> Solution {
        match best {
            Some(best) => {
                let better = match (self.meets(&best), self.meets(&solved)) {
                    (false, false) => solved.max_error < best.max_error,
                    (met, meets) => meets && (!met || solved.bytes < best.bytes),
                };
                if better { solved } else { best }
            }
            None => solved,
        }
    }

    /// The bytes of a solution, if it has helper joints and meets the tolerance.
    fn bytes_with_helpers(&self, solved: Option<&Solution>) -> Option<f64> {
        let solved = solved.filter(|solved| self.meets(solved))?;
        (!solved.codebook.is_empty()).then_some(solved.bytes)
    }
}

/// The smallest candidate with displacements of regions, if its estimate is below the `bytes` of a solution. Estimates can
/// mislead: they may be far too low for helper joints, and too high for the errors that the ranks of regions leave where
/// motions are not solved for. `limit`: the largest error that a candidate may have.
fn smaller_regions<'c>(
    candidates: &[&'c Candidate],
    bytes: f64,
    limit: impl Fn(&Candidate) -> f64,
) -> Option<&'c Candidate> {
    let regional = candidates.iter().copied().filter(|candidate| {
        candidate.regional.contains(&true)
            && candidate.max_error <= limit(candidate)
            && candidate.growth() < bytes - (1.0 - SMALLER_SHARE) * bytes.abs()
    });
    regional.min_by(|a, b| a.growth().total_cmp(&b.growth()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_candidate_of_regions_that_promises_fewer_bytes_is_solved_too() {
        let candidate = |regional, bytes, max_error| Candidate {
            snapshot: 0,
            helpers: 0,
            morphs: vec![4],
            regional: vec![regional],
            bytes,
            saved: 0.0,
            max_error,
        };
        let all = [
            candidate(false, 10.0, 0.5),
            candidate(true, 30.0, 0.5),
            candidate(true, 20.0, 2.0),
            candidate(true, 40.0, 0.5),
        ];
        let all: Vec<&Candidate> = all.iter().collect();
        let frees = Candidate {
            saved: 35.0,
            ..candidate(true, 60.0, 0.5)
        };
        let found = |bytes| smaller_regions(&all, bytes, |_| 1.0).map(|found| found.bytes);
        assert_eq!(found(100.0), Some(30.0));
        assert_eq!(found(31.0), None);
        assert_eq!(found(f64::NAN), None);
        // Bytes that become free count.
        let growth = |bytes| smaller_regions(&[&frees], bytes, |_| 1.0).map(Candidate::growth);
        assert_eq!(growth(27.0), Some(25.0));
        assert_eq!(growth(25.5), None);
        assert_eq!(growth(-25.0), None);
    }
}
