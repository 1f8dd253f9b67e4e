//! Transfers weights from another model.
//!
//! Data flow: joints are matched by `names`, each position gets the row of the closest position of the source within
//! the limits, and `in_paint` fills in the rest over the surface.
//!
//! Invariant: points without a match are in the report, with their number and how they were filled in.

mod in_paint;
mod names;

pub use names::match_names;

use super::automatic::{TopRows, WeldedSurface, finish, islands_note, some};
use crate::math::FactorError;
use crate::mesh::{ClosestPosition, PointSet, SurfaceIndex};
use crate::skinning::Rows;
use crate::task::{Cancelled, Task};
use crate::weights::outcome::{LeftOut, OperationError, Outcome};
use crate::weights::subject::Subject;
use glam::Vec3;
use in_paint::in_paint;
use rayon::prelude::*;
use std::sync::Arc;

/// A surface with weights.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransferSource {
    /// Its name in reports.
    pub name: String,
    /// n_points bind positions in the world of the bind pose ([`Subject::to_world`]), metres.
    pub positions: Vec<Vec3>,
    /// Triangles of points.
    pub triangles: Vec<[u32; 3]>,
    /// n_points rows; joints index `joints`.
    pub rows: Rows,
    /// Names of the joints.
    pub joints: Vec<String>,
}

/// Its numbers are finite. `Eq` lets an `Arc` compare by pointer first.
impl Eq for TransferSource {}

/// A transfer of weights from the closest positions of another surface; the rest is filled in over the surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// The source.
    pub source: Arc<TransferSource>,
    /// Maximum distance of a match, as a fraction of the bounding-box diagonal.
    pub max_distance: f32,
    /// Maximum angle between the normals of a match, degrees.
    pub max_angle_degrees: f32,
    /// Whether points without a match are filled in over the surface (Laplace), or left as they are.
    pub in_paint: bool,
}

impl Transfer {
    /// From `source`, with the default limits.
    pub fn new(source: Arc<TransferSource>) -> Self {
        Self {
            source,
            max_distance: 0.05,
            max_angle_degrees: 60.0,
            in_paint: true,
        }
    }

    /// The new rows of `subject`.
    ///
    /// Both are compared in the world space of their bind poses. Joints are matched by name ([`match_names`]); weights
    /// of unmatched joints are shared by the others. Fails if no joint matches.
    pub fn run(&self, subject: &Subject<'_>, task: &Task) -> Result<Outcome, OperationError> {
        task.step("Reading the surfaces", 0.0)?;
        let source = &*self.source;
        let ours: Vec<String> = subject
            .joints
            .iter()
            .map(|&j| subject.skeleton.label(j))
            .collect();
        let same = match_names(&source.joints, &ours);
        let mut notes = Vec::new();
        self.note_names(&same, &mut notes)?;
        let mut surface = WeldedSurface::new(subject);
        surface.transform(subject.to_world);
        let known = Known::find(self, &surface, &same, subject, task)?;
        let mut rows = known.rows;
        let mut wanted = vec![false; surface.n()];
        for point in 0..subject.n_points() as u32 {
            wanted[surface.of_point[point as usize] as usize] |= subject.includes(point);
        }
        let mut is_known = known.has_row;
        let unmatched = |is_known: &[bool]| {
            let points = 0..subject.n_points() as u32;
            points
                .filter(|&p| {
                    subject.includes(p) && !is_known[surface.of_point[p as usize] as usize]
                })
                .collect::<PointSet>()
        };
        let far = unmatched(&is_known);
        let mut left_out = Vec::new();
        if !self.in_paint {
            let why = format!("without a match on \"{}\"", source.name);
            left_out.push(LeftOut { why, points: far });
        } else if !far.is_empty() {
            let blind = known.closest.islands_without(&surface, &is_known, &wanted);
            if !blind.is_empty() {
                known.closest.take(&blind, &mut rows, &mut is_known);
                let sizes: Vec<usize> = island_sizes(&surface, &blind);
                notes.push(islands_note(
                    &sizes,
                    &format!("had no match on \"{}\"", source.name),
                    "used the closest position at any distance",
                ));
            }
            let n_filled = unmatched(&is_known).count();
            match in_paint(&surface, &is_known, &wanted, &mut rows, task) {
                Ok(keeps_slopes) if n_filled > 0 => {
                    let how = if keeps_slopes {
                        ""
                    } else {
                        ", without keeping slopes: there are too many"
                    };
                    notes.push(format!(
                        "{n_filled} vertices without a match were filled in over the surface{how}."
                    ));
                }
                Ok(_) => {}
                Err(FactorError::Cancelled(cancelled)) => return Err(cancelled.into()),
                Err(failed) => {
                    let rest: Vec<u32> = (0..surface.n() as u32)
                        .filter(|&p| wanted[p as usize] && !is_known[p as usize])
                        .collect();
                    known.closest.take(&rest, &mut rows, &mut is_known);
                    notes.push(format!(
                        "Filling in failed: {failed}. {n_filled} vertices used the closest position at any distance."
                    ));
                }
            }
        }
        task.step("Writing weights", 0.97)?;
        let mut outcome = finish(subject, &surface, &rows, notes);
        // Points without a match are reported already; that they have no row is the same fact.
        let untouched = left_out.first().map(|l: &LeftOut| l.points.clone());
        outcome
            .report
            .left_out
            .retain(|l| Some(&l.points) != untouched.as_ref());
        outcome
            .report
            .left_out
            .extend(left_out.into_iter().filter(|l| !l.points.is_empty()));
        Ok(outcome)
    }

    /// Names the joints of the other model that this one lacks; fails where it lacks all that carry weight.
    fn note_names(
        &self,
        same: &[Option<u16>],
        notes: &mut Vec<String>,
    ) -> Result<(), OperationError> {
        let source = &*self.source;
        let mut carries = vec![false; source.joints.len()];
        for joint in source.rows.iter().flat_map(|row| row.joints) {
            if let Some(slot) = carries.get_mut(usize::from(*joint)) {
                *slot = true;
            }
        }
        let lacking: Vec<String> = (0..same.len())
            .filter(|&j| carries[j] && same[j].is_none())
            .map(|j| format!("\"{}\"", source.joints[j]))
            .collect();
        let n_carrying = carries.iter().filter(|c| **c).count();
        if lacking.len() == n_carrying {
            return Err(OperationError::Refused(format!(
                "No bone of \"{}\" that has weight matches a bone of this skin by name: it has {}.",
                source.name,
                some(lacking.into_iter())
            )));
        }
        if !lacking.is_empty() {
            notes.push(format!(
                "Bones without a match in this skin: {}. The other bones share their weight.",
                some(lacking.into_iter())
            ));
        }
        Ok(())
    }
}

/// The rows at the closest positions that are within the limits.
struct Known {
    rows: TopRows,
    /// n_positions: whether the position has a row.
    has_row: Vec<bool>,
    closest: Closest,
}

/// The row at the closest position of the source for each position, with joints of the subject.
struct Closest {
    rows: Vec<Vec<(u16, f32)>>,
}

impl Known {
    fn find(
        transfer: &Transfer,
        surface: &WeldedSurface,
        same: &[Option<u16>],
        subject: &Subject<'_>,
        task: &Task,
    ) -> Result<Self, Cancelled> {
        let source = &*transfer.source;
        let index = SurfaceIndex::new(&source.triangles, &source.positions);
        task.step("Finding the closest positions", 0.1)?;
        let low_high = |positions: &[Vec3]| {
            let start = (Vec3::INFINITY, Vec3::NEG_INFINITY);
            positions
                .iter()
                .fold(start, |(low, high), &p| (low.min(p), high.max(p)))
        };
        let (low, high) = low_high(&source.positions);
        let reach = transfer.max_distance.max(0.0) * low.distance(high).max(surface.diagonal());
        let least = transfer
            .max_angle_degrees
            .clamp(0.0, 180.0)
            .to_radians()
            .cos();
        let mut found: Vec<(Vec<(u16, f32)>, bool)> = Vec::new();
        let all: Vec<u32> = (0..surface.n() as u32).collect();
        let find = |&position: &u32| {
            if task.is_cancelled() {
                return (Vec::new(), false);
            }
            let p = surface.positions[position as usize];
            let normal = surface.normals[position as usize];
            let agrees = |t: u32| {
                let theirs = normal_of(source, t);
                normal == Vec3::ZERO || theirs == Vec3::ZERO || theirs.dot(normal) >= least
            };
            let at = |wanted: &dyn Fn(u32) -> bool, reach: f32| {
                let position =
                    index.closest(p, reach, &source.triangles, &source.positions, wanted)?;
                Some(row_at(source, same, position)).filter(|row| !row.is_empty())
            };
            match at(&agrees, reach) {
                Some(row) => (row, true),
                None => (at(&|_| true, f32::MAX).unwrap_or_default(), false),
            }
        };
        all.par_chunks(512)
            .map(|some| some.iter().map(find).collect::<Vec<_>>())
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|some| found.extend(some));
        task.check()?;
        let mut rows = TopRows::new(surface.n(), subject.max_influences.max(8));
        let mut is_known = Vec::with_capacity(surface.n());
        for (position, (row, known)) in found.iter().enumerate() {
            is_known.push(*known);
            if *known {
                for &(joint, weight) in row {
                    rows.offer(position as u32, joint, weight);
                }
            }
        }
        let closest = Closest {
            rows: found.into_iter().map(|f| f.0).collect(),
        };
        Ok(Self {
            rows,
            has_row: is_known,
            closest,
        })
    }
}

impl Closest {
    /// The positions of islands that have positions to fill in but no known one.
    fn islands_without(
        &self,
        surface: &WeldedSurface,
        is_known: &[bool],
        wanted: &[bool],
    ) -> Vec<u32> {
        let mut has = vec![false; surface.n_islands];
        for (position, known) in is_known.iter().enumerate() {
            has[surface.islands[position] as usize] |= known;
        }
        let without = |&p: &u32| wanted[p as usize] && !has[surface.islands[p as usize] as usize];
        (0..self.rows.len() as u32).filter(without).collect()
    }

    /// Uses the closest row for the positions `those`, at any distance.
    fn take(&self, those: &[u32], rows: &mut TopRows, is_known: &mut [bool]) {
        for &position in those {
            let row = &self.rows[position as usize];
            for &(joint, weight) in row {
                rows.offer(position, joint, weight);
            }
            is_known[position as usize] = true;
        }
    }
}

/// The number of positions on each island that `those` touch.
fn island_sizes(surface: &WeldedSurface, those: &[u32]) -> Vec<usize> {
    let mut sizes = vec![0; surface.n_islands];
    for &position in those {
        sizes[surface.islands[position as usize] as usize] += 1;
    }
    sizes.retain(|&n| n > 0);
    sizes
}

fn normal_of(source: &TransferSource, triangle: u32) -> Vec3 {
    let [a, b, c] = source.triangles[triangle as usize].map(|p| source.positions[p as usize]);
    (b - a).cross(c - a).normalize_or_zero()
}

/// The interpolated rows of a triangle's corners, with joints of the subject.
fn row_at(
    source: &TransferSource,
    same: &[Option<u16>],
    position: ClosestPosition,
) -> Vec<(u16, f32)> {
    let mut row: Vec<(u16, f32)> = Vec::new();
    let corners = source.triangles[position.triangle as usize];
    for (corner, share) in corners.into_iter().zip(position.barycentric.to_array()) {
        for (joint, weight) in source.rows.row(corner as usize).iter() {
            let Some(joint) = same.get(usize::from(joint)).copied().flatten() else {
                continue;
            };
            match row.iter_mut().find(|e| e.0 == joint) {
                Some(entry) => entry.1 += share * weight,
                None => row.push((joint, share * weight)),
            }
        }
    }
    row.retain(|e| e.1 > 0.0);
    row
}
