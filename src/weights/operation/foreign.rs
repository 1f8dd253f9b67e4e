//! Converts rows of another mesh or file to rows of the skin, by the names of the bones.

use super::Subject;
use crate::finding::counted;
use crate::mesh::SurfaceIndex;
use crate::skinning::{RowRef, Rows};
use glam::Vec3;
use std::collections::BTreeMap;

/// Maximum number of names in a note.
const MAX_NAMES: usize = 8;

/// The bone of the skin for each foreign joint.
pub(in crate::weights) struct Names {
    /// One for each foreign joint; `None` if the skin has no bone of that name.
    index: Vec<Option<u16>>,
    missing: Vec<String>,
    /// Names shared by several bones, in either skin.
    shared: Vec<String>,
}

impl Names {
    /// Finds the bones of the skin by name; bones that share a name are matched by their order, and any beyond the last
    /// one to that one.
    pub(in crate::weights) fn new(subject: &Subject<'_>, joints: &[String]) -> Self {
        let mut known: BTreeMap<String, Vec<u16>> = BTreeMap::new();
        for (i, &joint) in subject.joints.iter().enumerate() {
            if !subject.skeleton.is_live(joint) {
                continue;
            }
            let label = subject.skeleton.label(joint);
            known.entry(label).or_default().push(i as u16);
        }
        let mut met: BTreeMap<&str, usize> = BTreeMap::new();
        let mut index: Vec<Option<u16>> = Vec::with_capacity(joints.len());
        for name in joints {
            let n_met = met.entry(name).or_default();
            let here = known.get(name).map_or(&[][..], |here| here);
            index.push(here.get(*n_met).or(here.last()).copied());
            *n_met += 1;
        }
        let is_shared = |name: &str, n_there: usize| {
            let n_here = known.get(name).map_or(0, Vec::len);
            n_here > 0 && (n_here > 1 || n_there > 1)
        };
        let shared = met.iter().filter(|(name, n)| is_shared(name, **n));
        let shared = shared.map(|(name, _)| (*name).to_owned()).collect();
        let absent = joints.iter().zip(&index).filter(|(_, i)| i.is_none());
        Self {
            missing: absent.map(|(name, _)| name.clone()).collect(),
            shared,
            index,
        }
    }

    /// Whether no name is known.
    pub(in crate::weights) fn none_known(&self) -> bool {
        self.index.iter().all(Option::is_none)
    }

    /// n_skin_joints: whether a foreign joint is this one.
    pub(in crate::weights) fn named(&self, n_joints: usize) -> Vec<bool> {
        let mut named = vec![false; n_joints];
        for i in self.index.iter().flatten() {
            named[usize::from(*i)] = true;
        }
        named
    }

    /// Adds `share` of a foreign row to `out`.
    pub(in crate::weights) fn add(&self, row: RowRef<'_>, share: f32, out: &mut Vec<(u16, f32)>) {
        for (joint, weight) in row.iter() {
            let Some(Some(index)) = self.index.get(usize::from(joint)) else {
                continue;
            };
            let weight = if share == 1.0 { weight } else { weight * share };
            match out.iter_mut().find(|(j, _)| j == index) {
                Some((_, sum)) => *sum += weight,
                None => out.push((*index, weight)),
            }
        }
    }

    /// The notes about names that the skin lacks, and about names shared by several bones.
    pub(in crate::weights) fn notes(&self, from: &str) -> Vec<String> {
        let mut notes: Vec<String> = self.note_missing(from).into_iter().collect();
        if !self.shared.is_empty() {
            notes.push(format!(
                "Several bones share a name and were matched by their order: {}.",
                listed(&self.shared)
            ));
        }
        notes
    }

    fn note_missing(&self, from: &str) -> Option<String> {
        if self.missing.is_empty() {
            return None;
        }
        Some(format!(
            "{} of {from} {} not in this skin; {} weight was shared among the others: {}.",
            counted(self.missing.len(), "bone"),
            if self.missing.len() == 1 { "is" } else { "are" },
            if self.missing.len() == 1 {
                "its"
            } else {
                "their"
            },
            listed(&self.missing)
        ))
    }
}

/// The first few names.
fn listed(names: &[String]) -> String {
    let few = names.iter().take(MAX_NAMES).map(|n| format!("\"{n}\""));
    let mut few: Vec<String> = few.collect();
    if names.len() > MAX_NAMES {
        few.push("...".into());
    }
    few.join(", ")
}

/// The rows of a foreign surface at any position.
pub(in crate::weights) struct ForeignSurface<'a> {
    positions: &'a [Vec3],
    triangles: Vec<[u32; 3]>,
    index: SurfaceIndex,
    /// n_positions: the index in `rows` of each; `None`: the same index.
    row_of: Option<Vec<u32>>,
    rows: &'a Rows,
}

/// No row.
const NONE: u32 = u32::MAX;

impl<'a> ForeignSurface<'a> {
    /// The surface whose points `points` (ascending) have `rows`; positions between others have none. `None`: every
    /// point has a row.
    pub(in crate::weights) fn new(
        positions: &'a [Vec3],
        triangles: &[[u32; 3]],
        points: Option<&[u32]>,
        rows: &'a Rows,
    ) -> Self {
        let row_of = points.map(|points| {
            let mut row_of = vec![NONE; positions.len()];
            for (i, &point) in points.iter().enumerate() {
                if let Some(slot) = row_of.get_mut(point as usize) {
                    *slot = i as u32;
                }
            }
            row_of
        });
        let has_row = |&p: &u32| match &row_of {
            Some(row_of) => row_of.get(p as usize).is_some_and(|&r| r != NONE),
            None => (p as usize) < rows.len().min(positions.len()),
        };
        let whole = triangles.iter().filter(|t| t.iter().all(has_row));
        let mut triangles: Vec<[u32; 3]> = whole.copied().collect();
        if triangles.is_empty() {
            // Single points are surfaces of zero size.
            let n = positions.len() as u32;
            triangles = (0..n).filter(|p| has_row(p)).map(|p| [p; 3]).collect();
        }
        let index = SurfaceIndex::new(&triangles, positions);
        Self {
            positions,
            triangles,
            index,
            row_of,
            rows,
        }
    }

    /// Adds the row at the position closest to `at`, with joints mapped by `names`; `false` if there is none.
    pub(in crate::weights) fn row_at(
        &self,
        at: Vec3,
        names: &Names,
        out: &mut Vec<(u16, f32)>,
    ) -> bool {
        out.clear();
        let place = self
            .index
            .closest(at, f32::MAX, &self.triangles, self.positions, |_| true);
        let Some(place) = place else {
            return false;
        };
        let corners = self.triangles[place.triangle as usize];
        for (corner, share) in corners.into_iter().zip(place.barycentric.to_array()) {
            if share > 0.0 {
                let row = match &self.row_of {
                    Some(row_of) => row_of[corner as usize],
                    None => corner,
                };
                names.add(self.rows.row(row as usize), share, out);
            }
        }
        true
    }
}
