//! Pastes copied rows.

use super::each_point::each_point;
use super::foreign::{ForeignSurface, Names};
use super::settle::{RowResult, Rules};
use super::{Copied, OperationError, Outcome, PasteBy, Subject};
use crate::finding::thousands;
use crate::mesh::SurfaceIndex;
use crate::task::Task;
use glam::Vec3;

/// Barycentric coordinates below this are ignored.
const AT_CORNER: f32 = 1e-3;

/// The point was not copied.
const NOT_COPIED: &str = "that were not copied";
/// The copied weights have no bone of this skin.
const NO_BONES: &str = "whose copied weights have no bone of this skin";

/// Gives points the rows of the same index, or those at the closest positions.
pub(super) fn run(
    copied: &Copied,
    by: PasteBy,
    subject: &Subject<'_>,
    task: &Task,
) -> Result<Outcome, OperationError> {
    let refused = |why: String| Err(OperationError::Refused(why));
    if copied.points.is_empty() || copied.rows.len() != copied.points.len() {
        return refused("No weights were copied.".into());
    }
    let names = Names::new(subject, &copied.joints);
    if names.none_known() {
        return refused(format!(
            "None of the bones copied from \"{}\" is in the skin of \"{}\".",
            copied.mesh_name, subject.mesh.name
        ));
    }
    let single = copied.points.len() == 1;
    if by == PasteBy::Point && !single && copied.n_points != subject.n_points() {
        return refused(format!(
            "\"{}\" has {} vertices and \"{}\" {}: paste by the closest surface instead.",
            copied.mesh_name,
            thousands(copied.n_points),
            subject.mesh.name,
            thousands(subject.n_points())
        ));
    }
    let surface = (by == PasteBy::Surface && !single).then(|| {
        let (positions, triangles) = &*copied.surface;
        ForeignSurface::new(positions, triangles, Some(&copied.points), &copied.rows)
    });
    // Without a scope only points on the copied part are in scope.
    let is_part = copied.points.len() < copied.n_points;
    let whole = (surface.is_some() && is_part && subject.points.is_none()).then(|| {
        let (positions, triangles) = &*copied.surface;
        SurfaceIndex::new(triangles, positions)
    });
    let is_beside = |at: Vec3| {
        let (positions, triangles) = &*copied.surface;
        let index = whole.as_ref();
        let place = index.and_then(|i| i.closest(at, f32::MAX, triangles, positions, |_| true));
        place.is_some_and(|place| {
            let corners = triangles[place.triangle as usize].into_iter();
            let mut shares = corners.zip(place.barycentric.to_array());
            shares.any(|(corner, share)| {
                share > AT_CORNER && copied.points.binary_search(&corner).is_err()
            })
        })
    };
    let rules = Rules::new(subject);
    let tally = each_point(&rules, task, "Pasting", |point, before, pen| {
        let wanted = &mut pen.other;
        wanted.clear();
        if let Some(surface) = &surface {
            let at = subject.mesh.positions[point as usize];
            if is_beside(at) {
                return RowResult::Same;
            }
            if !surface.row_at(at, &names, wanted) {
                return RowResult::Left(NOT_COPIED);
            }
        } else {
            let found = copied.points.binary_search(&point);
            let row = match found {
                _ if single => 0,
                Ok(row) => row,
                // Without a scope only the copied points are in scope.
                Err(_) if subject.points.is_none() => return RowResult::Same,
                Err(_) => return RowResult::Left(NOT_COPIED),
            };
            names.add(copied.rows.row(row), 1.0, wanted);
        }
        if wanted.is_empty() {
            return RowResult::Left(NO_BONES);
        }
        rules.adopt(before, wanted, |joint| subject.acts_on(joint), &mut pen.row)
    })?;
    let notes = names.notes(&format!("\"{}\"", copied.mesh_name));
    Ok(tally.outcome(notes))
}
