//! The mirror plane between left and right.

use super::Subject;
use crate::finding::counted;
use crate::math::Axis;
use crate::mesh::{Symmetry, SymmetryCounts};
use crate::task::{Cancelled, Task};
use glam::Vec3;

/// The smallest distance of the plane from the origin, as a fraction of the diagonal of the bounds, at which the joints
/// define it.
const MIN_OFFSET: f32 = 0.02;

impl Subject<'_> {
    /// The axis of the bind pose that separates left from right; `None` if the pairs of bones do not
    /// determine it.
    pub fn side_axis(&self) -> Option<Axis> {
        self.pairs.side_axis(self.joints, self.bind)
    }

    /// Whether a mirror plane perpendicular to `axis` has left bones on one side and right bones on the other. Across
    /// any other plane (front to back) a bone is its own mirror image.
    pub fn swaps_sides(&self, axis: Axis) -> bool {
        self.side_axis().is_none_or(|side| side == axis)
    }

    /// The coordinate of the mirror plane on an axis in bind pose, metres: 0, unless mesh and joint pairs are both centred
    /// elsewhere.
    pub fn mirror_centre(&self, axis: Axis) -> f32 {
        let i = axis.index();
        let (low, high) = bounds(&self.mesh.positions);
        let (middle, size) = ((low + high) * 0.5, low.distance(high));
        let Some(centre) = self.pairs.centre(axis, self.joints, self.bind) else {
            return 0.0;
        };
        let centre = centre as f32;
        let agrees = (middle[i] - centre).abs() < middle[i].abs();
        if size.is_finite() && centre.abs() > MIN_OFFSET * size && agrees {
            centre
        } else {
            0.0
        }
    }

    /// The mirror images of points across that plane. `tolerance` is a fraction of the diagonal of the bounds.
    pub fn symmetry(&self, axis: Axis, tolerance: f32, task: &Task) -> Result<Symmetry, Cancelled> {
        let (low, high) = bounds(&self.mesh.positions);
        let reach = tolerance * low.distance(high);
        let centre = self.mirror_centre(axis);
        Symmetry::find_about(self.mesh, axis, centre, reach, task)
    }
}

fn bounds(positions: &[Vec3]) -> (Vec3, Vec3) {
    positions
        .iter()
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), &p| {
            (low.min(p), high.max(p))
        })
}

/// The note about a mirror plane that does not separate left from right.
pub(super) fn side_note(subject: &Subject<'_>, axis: Axis) -> Option<String> {
    let side = subject.side_axis().filter(|&side| side != axis)?;
    Some(format!(
        "Left and right bones of this mesh are apart along {}, not along {}, so left and right bones were not swapped.",
        side.letter(),
        axis.letter()
    ))
}

/// The notes about how points were matched.
pub(super) fn match_notes(symmetry: &Symmetry) -> Vec<String> {
    let SymmetryCounts {
        centre,
        position,
        topology,
        nearest,
        substitutes,
        ..
    } = symmetry.counts();
    let mut parts = Vec::new();
    let mut add = |n: usize, how: &str| {
        if n > 0 {
            parts.push(format!("{} {how}", counted(n, "vertex")));
        }
    };
    add(position, "by position");
    add(topology, "by the surrounding edges");
    add(nearest, "by nearness");
    add(centre, "on the centre line");
    let mut notes = Vec::new();
    if !parts.is_empty() {
        notes.push(format!("Matched {}.", parts.join(", ")));
    }
    if substitutes > 0 {
        notes.push(format!(
            "{} of the side with more vertices use the nearest of the other side.",
            counted(substitutes, "vertex")
        ));
    }
    if symmetry.centre() != 0.0 {
        notes.push(format!(
            "The mirror plane is at {} = {:.4} m, halfway between left and right bones.",
            symmetry.axis().letter(),
            symmetry.centre()
        ));
    }
    notes
}
