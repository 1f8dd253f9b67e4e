//! Takes rows from a weights file.

use super::each_point::each_point;
use super::foreign::Names;
use super::settle::{Rules, Verdict};
use super::{OperationError, Outcome, Subject};
use crate::mesh::point_tree::PointTree;
use crate::task::Task;
use crate::weights::file::{WeightsFile, WeightsOfMesh};
use glam::Vec3;
use std::sync::Arc;

/// A point of the file is the same as one of the mesh up to this fraction of the diagonal of the bounds: files of other
/// programs round.
const SAME_PLACE: f32 = 1e-5;
/// The nearest point of the file may be as far as this fraction of the diagonal.
const REACH: f32 = 0.02;
/// Points without one in the file.
const FAR: &str = "without a point of the file nearby";

/// Taking rows from a weights file.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// What was read.
    pub file: Arc<WeightsFile>,
    /// Whether rows take the place of what is there, or only bones that the file names change.
    pub replace: bool,
}

impl Import {
    /// Gives each point the row of the file's point at its place: of the same number where all places agree, else the
    /// nearest.
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
                "The mesh is not the one of the file: each point took the row of the nearest one."
                    .into(),
            );
        }
        let rules = Rules::new(subject);
        let tally = each_point(&rules, task, "Importing weights", |point, before, pen| {
            let Some(from) = matching.of_point(source, subject, point) else {
                return Verdict::Left(FAR);
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

/// Which point of the file each point takes.
struct Matching {
    /// `None`: that of the same number.
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
                .all(|(a, b)| a.distance(*b) <= SAME_PLACE * diagonal);
        let tree = || {
            let all = (0..source.positions.len() as u32).collect();
            PointTree::new(&source.positions, all)
        };
        Self {
            tree: (!is_same).then(tree),
            reach: REACH * diagonal,
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
