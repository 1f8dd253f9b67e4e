//! Seams: groups of coincident points, which should move alike.

use crate::document::{MeshId, MeshItem};
use crate::finding::{Finding, Fix, Place, counted};
use crate::mesh::{Mesh, PointSet};
use crate::skinning::RowRef;
use crate::task::{Cancelled, Task};
use crate::weights::repair::{difference, weld};

/// The largest difference of the weights of coincident points that opens no visible gap.
const TOLERANCE: f32 = 1e-3;
/// Points between two checks for cancellation.
const SPAN: usize = 4096;

/// The groups of points that share a bind position.
#[derive(Debug, Default)]
pub(crate) struct Seams {
    points: Vec<u32>,
    ends: Vec<u32>,
}

impl Seams {
    /// The groups of `mesh`, in the order of their lowest points.
    pub(crate) fn of(mesh: &Mesh, task: &Task) -> Result<Self, Cancelled> {
        let topology = mesh.topology();
        let mut seams = Self::default();
        // Each group is walked once, from its lowest point: all points of a mesh may coincide.
        let mut done = PointSet::default();
        for first in 0..mesh.n_points() as u32 {
            if (first as usize).is_multiple_of(SPAN) {
                task.check()?;
            }
            let Some(mut point) = topology.next_coincident(first) else {
                continue;
            };
            if !done.insert(first) {
                continue;
            }
            seams.points.push(first);
            while done.insert(point) {
                seams.points.push(point);
                if seams.points.len().is_multiple_of(SPAN) {
                    task.check()?;
                }
                point = topology.next_coincident(point).unwrap_or(first);
            }
            seams.ends.push(seams.points.len() as u32);
        }
        Ok(seams)
    }

    /// The groups, each at least two points.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, &end)| &self.points[start as usize..end as usize])
    }

    /// The finding about the groups whose rows differ.
    pub(super) fn finding(
        &self,
        mesh: MeshId,
        place: &str,
        item: &MeshItem,
        locked: &[bool],
    ) -> Option<Finding> {
        let differing: Vec<&[u32]> = self.groups().filter(|g| differs(item, g)).collect();
        if differing.is_empty() {
            return None;
        }
        let mut out = Vec::new();
        let helps = differing
            .iter()
            .any(|group| weld(&rows(item, group), locked, &mut out));
        let n = differing.len();
        let message = if n == 1 {
            "At 1 position vertices coincide but follow different bones. The surface opens there when posed."
                .to_owned()
        } else {
            format!(
                "At {} vertices coincide but follow different bones. The surface opens there when posed.",
                counted(n, "position")
            )
        };
        let mut points: Vec<u32> = differing.concat();
        points.sort_unstable();
        let target = Place::Points {
            mesh: mesh.0,
            points: points.into(),
        };
        Some(
            Finding::warning(place, message)
                .at(target)
                .fixed_by(helps.then_some(Fix::Weld)),
        )
    }
}

/// The rows of a group of points.
pub(crate) fn rows<'a>(item: &'a MeshItem, group: &[u32]) -> Vec<RowRef<'a>> {
    group.iter().map(|&p| item.influences.row(p)).collect()
}

/// Whether the points of a group would separate.
pub(crate) fn differs(item: &MeshItem, group: &[u32]) -> bool {
    let first = item.influences.row(group[0]);
    group[1..]
        .iter()
        .any(|&p| difference(first, item.influences.row(p)) > TOLERANCE)
}
