//! The relaxed shapes of poses in a row.

use super::neighbourhood::Neighbourhood;
use super::posed::Posed;
use super::region::Region;
use super::settings::RelaxSettings;
use super::solve::{Relaxed, Start, relax};
use crate::math::Worse;
use crate::math::sparse::FactorError;
use crate::task::{Cancelled, Task};
use rayon::prelude::*;

/// A fold snaps where a point moves by more than this between two poses in a row, in radii.
pub const SNAP: f64 = 0.25;

/// The shape from the pose before is taken where the step is shorter than this fraction of the snap.
const NEARER: f64 = 0.75;

/// The relaxed surfaces of poses some degrees apart, each from its own skinned shape.
///
/// A fold that has passed deep through itself can open to either side. Where its shape snaps between two poses, the second
/// is relaxed once more from the displacements of the first; that shape is taken if it is much nearer and has no more
/// crossings. `done` is called after each pose. Fails when it is cancelled.
pub fn relax_sweep(
    around: &Neighbourhood,
    region: &Region,
    poses: &[Posed],
    settings: &RelaxSettings,
    task: &Task,
    done: &(dyn Fn() -> Result<(), Cancelled> + Sync),
) -> Result<Vec<Relaxed>, FactorError> {
    let of_pose = |posed: &Posed| {
        let relaxed = relax(around, region, posed, settings, Start::Skinned, task)?;
        done()?;
        Ok(relaxed)
    };
    let all: Result<Vec<Relaxed>, FactorError> = poses.par_iter().map(of_pose).collect();
    let mut all = all?;
    for k in 1..all.len() {
        let posed = &poses[k];
        let before = all[k - 1].of_free(region, &poses[k - 1]);
        let step = |relaxed: &Relaxed| {
            let here = relaxed.of_free(region, posed).into_iter();
            let apart = here.zip(&before).map(|(a, b)| a.distance(*b));
            apart.fold(0.0, f64::worse)
        };
        let snap = step(&all[k]);
        if snap > SNAP * around.radius {
            let start = Start::Near(&all[k - 1].displacements);
            let again = relax(around, region, posed, settings, start, task)?;
            let crossings = |relaxed: &Relaxed| region.n_crossings(around, &relaxed.positions);
            if step(&again) < NEARER * snap && crossings(&again) <= crossings(&all[k]) {
                all[k] = again;
            }
        }
    }
    Ok(all)
}
