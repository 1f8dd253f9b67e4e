//! Rigid weights: each position follows the bone nearest to it, alone.

use super::bones::Deformers;
use super::rows::TopRows;
use super::welded_surface::WeldedSurface;
use crate::task::{Cancelled, Task};
use crate::weights::subject::Subject;

/// The weights of each position: 1 for the bone at the least Euclidean distance; ties go to the first bone.
pub(crate) fn weights(
    subject: &Subject<'_>,
    surface: &WeldedSurface,
    deformers: &Deformers,
    task: &Task,
) -> Result<TopRows, Cancelled> {
    task.step("Finding the nearest bones", 0.5)?;
    let mut rows = TopRows::new(surface.n(), subject.max_influences);
    for (position, &at) in (0u32..).zip(&surface.positions) {
        let distances = deformers.list.iter().map(|d| (d.joint, d.distance(at)));
        let nearest = distances.min_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((joint, _)) = nearest {
            rows.offer(position, joint, 1.0);
        }
    }
    Ok(rows)
}
