//! Imports rows from a weights file.

use super::each_point::each_point;
use super::foreign::Names;
use super::settle::{RowResult, Rules};
use super::{OperationError, Outcome, Subject};
use crate::mesh::point_tree::PointTree;
use crate::task::Task;
use crate::weights::file::{WeightsFile, WeightsOfMesh};
use glam::Vec3;
use std::sync::Arc;

/// Tolerance of equal positions, as a fraction of the bounding-box diagonal: other programs round.
const POSITION_TOLERANCE: f32 = 1e-5;
/// Maximum distance of the nearest point of the file, as a fraction of the diagonal.
const MAX_DISTANCE: f32 = 0.02;
/// Points without one in the file.
const FAR: &str = "without a nearby vertex in the file";

/// The import of a weights file.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// The contents of the file.
    pub file: Arc<WeightsFile>,
    /// Whether rows are replaced, or only bones that the file names change.
    pub replace: bool,
}

impl Import {
    /// Gives each point the row of the file's point at its position: by index if all positions agree, else the nearest.
    pub(super) fn run(
        &self,
        subject: &Subject<'_>,
        task: &Task,
    ) -> Result<Outcome, OperationError> {
        let name = &subject.mesh.name;
        let found = self.file.of_mesh(name, &subject.mesh.positions);
        let (source, choice) = found.ok_or_else(|| {
            let names: Vec<&str> = self.file.meshes.iter().map(|m| m.name.as_str()).collect();
            OperationError::Refused(format!(
                "The file has no mesh \"{name}\"; it has {}.",
                names.join(", ")
            ))
        })?;
        let bones = Names::new(subject, &source.bones);
        if bones.none_known() {
            return Err(OperationError::Refused(format!(
                "The skin of \"{name}\" has none of the file's bones."
            )));
        }
        let mut notes: Vec<String> = choice.into_iter().chain(bones.notes("the file")).collect();
        let named = bones.named(subject.joints.len());
        let matching = Matching::new(source, subject);
        if matching.tree.is_some() {
            notes.push(
                "The mesh differs from the one of the file: each vertex took the row of the nearest one."
                    .into(),
            );
        }
        let rules = Rules::new(subject);
        let tally = each_point(&rules, task, "Importing weights", |point, before, pen| {
            let Some(from) = matching.of_point(source, subject, point) else {
                return RowResult::Left(FAR);
            };
            pen.other.clear();
            bones.add(source.rows.row(from as usize), 1.0, &mut pen.other);
            let is_asked =
                |joint: u16| subject.acts_on(joint) && (self.replace || named[usize::from(joint)]);
            rules.adopt(before, &pen.other, is_asked, &mut pen.row)
        })?;
        Ok(tally.outcome(notes))
    }
}

/// The point of the file for each point.
struct Matching {
    /// `None`: the point of the same index.
    tree: Option<PointTree>,
    reach: f32,
}

impl Matching {
    fn new(source: &WeightsOfMesh, subject: &Subject<'_>) -> Self {
        let positions = &subject.mesh.positions;
        let (low, high) = positions.iter().fold(
            (Vec3::splat(f32::INFINITY), Vec3::splat(f32::NEG_INFINITY)),
            |(low, high), p| (low.min(*p), high.max(*p)),
        );
        let diagonal = (high - low).length();
        let is_same = source.positions.len() == positions.len()
            && source
                .positions
                .iter()
                .zip(positions)
                .all(|(a, b)| a.distance(*b) <= POSITION_TOLERANCE * diagonal);
        let tree = || {
            let all = (0..source.positions.len() as u32).collect();
            PointTree::new(&source.positions, all)
        };
        Self {
            tree: (!is_same).then(tree),
            reach: MAX_DISTANCE * diagonal,
        }
    }

    fn of_point(&self, source: &WeightsOfMesh, subject: &Subject<'_>, point: u32) -> Option<u32> {
        match &self.tree {
            None => Some(point),
            Some(tree) => {
                let at = subject.mesh.positions[point as usize];
                tree.nearest(&source.positions, at, self.reach)
            }
        }
    }
}
