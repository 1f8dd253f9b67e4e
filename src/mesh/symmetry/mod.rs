//! Mirror images of points in bind pose.

mod search;

pub use search::FoundBy;

use super::{Mesh, PointSet};
use crate::math::Axis;
use crate::task::{Cancelled, Task};
use rayon::prelude::*;
use search::{Matches, Search};

/// The number of points by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SymmetryCounts {
    /// Points on the centre line: their own counterpart.
    pub centre: usize,
    /// Points with a counterpart at the mirrored position.
    pub position: usize,
    /// Points matched by the surrounding edges.
    pub topology: usize,
    /// Points matched with the nearest one.
    pub nearest: usize,
    /// Points without a counterpart that have a substitute ([`Symmetry::source`]).
    pub substitutes: usize,
    /// Points with neither.
    pub unmatched: usize,
}

/// The mirror images of the points of a mesh across a plane of its bind pose.
///
/// It depends on the bind positions and the faces only, never on the pose shown.
///
/// Invariant: the counterpart of a point's counterpart is the point.
#[derive(Clone, Debug, PartialEq)]
pub struct Symmetry {
    axis: Axis,
    centre: f32,
    /// n_points: the counterpart; itself on the centre line; `None` if there is none.
    partners: Vec<Option<(u32, FoundBy)>>,
    /// For points without a counterpart, ascending: the closest substitute.
    substitutes: Vec<(u32, u32)>,
}

impl Symmetry {
    /// Finds every point's counterpart across the plane through the origin: by position, then by topology, then the
    /// nearest within `tolerance`, metres.
    pub fn find(mesh: &Mesh, axis: Axis, tolerance: f32, task: &Task) -> Result<Self, Cancelled> {
        Self::find_about(mesh, axis, 0.0, tolerance, task)
    }

    /// The same across the plane where the coordinate is `centre`, metres.
    pub fn find_about(
        mesh: &Mesh,
        axis: Axis,
        centre: f32,
        tolerance: f32,
        task: &Task,
    ) -> Result<Self, Cancelled> {
        task.step("Finding mirrored points", 0.0)?;
        let mut search = Search::new(mesh, axis, centre);
        let all = search.unmatched();
        search.by_position(all, search::exact_tolerance(mesh), FoundBy::Position, task)?;
        task.step("Finding mirrored points", 0.5)?;
        search.by_topology(tolerance, task)?;
        task.step("Finding mirrored points", 0.8)?;
        let rest = search.unmatched();
        search.by_position(rest, tolerance, FoundBy::Nearest, task)?;
        task.step("Finding mirrored points", 0.9)?;
        let Matches {
            partners,
            substitutes,
        } = search.finish(tolerance, task)?;
        Ok(Self {
            axis,
            centre,
            partners,
            substitutes,
        })
    }

    /// The axis perpendicular to the plane.
    pub fn axis(&self) -> Axis {
        self.axis
    }

    /// The coordinate of the plane, metres.
    pub fn centre(&self) -> f32 {
        self.centre
    }

    /// Number of points of the mesh.
    pub fn n_points(&self) -> usize {
        self.partners.len()
    }

    /// The counterpart of a point; itself on the centre line.
    pub fn partner(&self, point: u32) -> Option<u32> {
        self.found(point).map(|(partner, _)| partner)
    }

    /// The same, and how it was found.
    pub fn found(&self, point: u32) -> Option<(u32, FoundBy)> {
        *self.partners.get(point as usize)?
    }

    /// The point whose mirrored weights fit this one: its counterpart; if the other side has fewer points here, the
    /// counterpart of a point at the same position, else the nearest one within the tolerance.
    pub fn source(&self, point: u32) -> Option<u32> {
        self.partner(point).or_else(|| {
            let at = self.substitutes.binary_search_by_key(&point, |&(p, _)| p);
            at.ok().map(|i| self.substitutes[i].1)
        })
    }

    /// Points without a counterpart, ascending, with the substitute of [`Symmetry::source`].
    pub fn substitutes(&self) -> &[(u32, u32)] {
        &self.substitutes
    }

    /// Points without a counterpart.
    pub fn unmatched(&self) -> PointSet {
        self.points_where(Option::is_none)
    }

    /// Points on the centre line.
    pub fn centre_points(&self) -> PointSet {
        let points = self.partners.iter().enumerate();
        points
            .filter(|(p, partner)| matches!(partner, Some((q, _)) if *q as usize == *p))
            .map(|(p, _)| p as u32)
            .collect()
    }

    /// The number of points by result.
    pub fn counts(&self) -> SymmetryCounts {
        let mut counts = SymmetryCounts::default();
        for (point, partner) in self.partners.iter().enumerate() {
            *match partner {
                Some((q, _)) if *q as usize == point => &mut counts.centre,
                Some((_, FoundBy::Position)) => &mut counts.position,
                Some((_, FoundBy::Topology)) => &mut counts.topology,
                Some((_, FoundBy::Nearest)) => &mut counts.nearest,
                None => &mut counts.unmatched,
            } += 1;
        }
        counts.substitutes = self.substitutes.len();
        counts.unmatched -= counts.substitutes;
        counts
    }

    fn points_where(&self, is_in: impl Fn(&Option<(u32, FoundBy)>) -> bool + Sync) -> PointSet {
        let word = |partners: &[Option<(u32, FoundBy)>]| {
            let bits = partners.iter().enumerate();
            bits.fold(0, |word, (i, p)| word | u64::from(is_in(p)) << i)
        };
        PointSet::from_words(self.partners.par_chunks(64).map(word).collect())
    }
}

#[cfg(test)]
mod tests;
