//! The fixes of findings: new rows for the points of a finding.

use super::checks::seams;
use super::{Document, Edit, MeshId, MeshItem};
use crate::finding::{Fix, counted};
use crate::mesh::spatial::SurfaceIndex;
use crate::skinning::{RowRef, Rows};
use crate::task::{Cancelled, Task};
use crate::weights::repair::{SUM_TOLERANCE, limit, normalise, weld};
use glam::{DVec3, Vec3};
use rayon::prelude::*;

/// Points between two checks for cancellation.
const SPAN: usize = 1 << 14;

/// The result of a fix.
#[derive(Clone, Debug)]
pub struct Fixed {
    /// The edit; `None` where nothing can be changed.
    pub edit: Option<Edit>,
    /// The label of the undo step.
    pub label: &'static str,
    /// The message for the user.
    pub message: String,
}

/// A point and its new row.
type NewRow = (u32, Vec<(u16, f32)>);

/// The result of applying `fix` to `points` of `mesh`. Locked joints keep the bits of their weights.
///
/// Points that the mesh does not have are ignored. The edit is not applied.
pub fn fix(
    document: &Document,
    mesh: MeshId,
    points: &[u32],
    fix: Fix,
    task: &Task,
) -> Result<Fixed, Cancelled> {
    let (label, done) = match fix {
        Fix::Normalise => ("Normalise weights", "normalised"),
        Fix::GiveToNearest => (
            "Assign vertices to the nearest bone",
            "assigned to the nearest bone",
        ),
        Fix::CopyNearest => ("Copy nearest weights", "given the nearest valid weights"),
        Fix::Limit(_) => ("Limit influences", "limited"),
        Fix::Weld => ("Weld weights", "welded"),
        // They deform the mesh: `correctives::fix` has them.
        Fix::Samples(_) => ("Fix corrective samples", "fixed"),
        // The window asks for a file.
        Fix::Relink => ("Relink recording", "relinked"),
        // The editor reads it.
        Fix::Reload => ("Reload recording", "read again"),
        // It changes no points: the editor deletes it.
        Fix::DeleteConstraint => ("Delete kept constraint", "changed"),
        // An operation on the rig.
        Fix::InferParents => ("Infer logical parents", "changed"),
    };
    task.step(label, 0.0)?;
    let Some(item) = document.meshes().get(&mesh) else {
        return Ok(Fixed {
            edit: None,
            label,
            message: "The mesh does not exist any more.".into(),
        });
    };
    let n_points = item.influences.len() as u32;
    let points: Vec<u32> = points.iter().copied().filter(|&p| p < n_points).collect();
    let locked = document.skin_locks(mesh);
    let rows = match fix {
        Fix::Samples(_) | Fix::Relink | Fix::Reload | Fix::DeleteConstraint | Fix::InferParents => {
            Vec::new()
        }
        Fix::Weld => welded(item, &points, &locked, task)?,
        Fix::CopyNearest => {
            let nearest = NearestValid::new(item);
            each(&points, task, |point| nearest.row(item, point, &locked))?
        }
        Fix::GiveToNearest => {
            let segments = segments(document, mesh, item, &locked);
            let nearest = |point: u32| {
                let at = item.geometry.positions[point as usize];
                nearest(&segments, at).map(|joint| vec![(joint, 1.0)])
            };
            each(&points, task, nearest)?
        }
        Fix::Normalise => each(&points, task, |point| {
            let mut out = Vec::new();
            normalise(item.influences.row(point), &locked, &mut out).then_some(out)
        })?,
        Fix::Limit(most) => each(&points, task, |point| {
            let mut out = Vec::new();
            limit(
                item.influences.row(point),
                usize::from(most),
                &locked,
                &mut out,
            )
            .then_some(out)
        })?,
    };
    let n_changed = rows.len();
    let mut message = format!("{} {done}.", counted(n_changed, "vertex"));
    // One side of a seam may already have the mean weights.
    if n_changed < points.len() && fix != Fix::Weld {
        message = format!(
            "{message} {} unchanged: the other bones are locked.",
            counted(points.len() - n_changed, "vertex")
        );
    }
    let (points, rows): (Vec<u32>, Vec<_>) = rows.into_iter().unzip();
    let rows: Rows = rows.into_iter().collect();
    let edit = if points.is_empty() {
        None
    } else if item.layers.is_plain() {
        Some(Edit::influences(mesh, points, rows))
    } else if item.layers.solo().is_some() {
        return Ok(Fixed {
            edit: None,
            label,
            message: "Only one layer is visible. Show all layers first.".into(),
        });
    } else {
        // The finding is about the composite of all layers, so a layer above them holds the fix.
        message.push_str(" The fix is stored in a new layer.");
        document.add_filled_layer(mesh, label, &points, rows)
    };
    Ok(Fixed {
        edit,
        label,
        message,
    })
}

/// The rows that `new_row` changes, in order of points.
fn each(
    points: &[u32],
    task: &Task,
    new_row: impl Fn(u32) -> Option<Vec<(u16, f32)>> + Sync,
) -> Result<Vec<NewRow>, Cancelled> {
    let mut rows = Vec::with_capacity(points.len());
    for span in points.chunks(SPAN) {
        task.check()?;
        let new: Vec<Option<NewRow>> = span
            .par_iter()
            .map(|&point| Some((point, new_row(point)?)))
            .collect();
        rows.extend(new.into_iter().flatten());
    }
    Ok(rows)
}

fn welded(
    item: &MeshItem,
    points: &[u32],
    locked: &[bool],
    task: &Task,
) -> Result<Vec<NewRow>, Cancelled> {
    let mut wanted = vec![false; item.influences.len()];
    for &p in points {
        wanted[p as usize] = true;
    }
    let seams = seams::Seams::of(&item.geometry, task)?;
    let mut rows = Vec::with_capacity(points.len());
    let mut out = Vec::new();
    for (i, group) in seams.groups().enumerate() {
        if i.is_multiple_of(SPAN) {
            task.check()?;
        }
        let is_meant = group.iter().any(|&p| wanted[p as usize]);
        if is_meant && seams::differs(item, group) {
            weld(&seams::rows(item, group), locked, &mut out);
            let changed = group.iter().zip(out.drain(..));
            rows.extend(
                changed
                    .filter(|(p, row)| !row.iter().copied().eq(item.influences.row(**p).iter()))
                    .map(|(&p, row)| (p, row)),
            );
        }
    }
    Ok(rows)
}

/// The points of a mesh with valid weights in its source, to be found by position.
struct NearestValid {
    /// The point of each leaf, three times: a triangle without area.
    leaves: Vec<[u32; 3]>,
    index: SurfaceIndex,
}

impl NearestValid {
    fn new(item: &MeshItem) -> Self {
        let missing = item.points_to_fix();
        let points = 0..item.influences.len() as u32;
        let valid = points.filter(|p| missing.binary_search(p).is_err());
        let leaves: Vec<[u32; 3]> = valid.map(|p| [p; 3]).collect();
        Self {
            index: SurfaceIndex::new(&leaves, &item.geometry.positions),
            leaves,
        }
    }

    /// The unlocked weights of the nearest point, normalised; `None` where the point may not change or has valid
    /// weights itself.
    fn row(&self, item: &MeshItem, point: u32, locked: &[bool]) -> Option<Vec<(u16, f32)>> {
        let positions = &item.geometry.positions;
        let is_locked = |joint: u16| locked.get(usize::from(joint)) == Some(&true);
        let own = item.influences.row(point);
        if self.leaves.binary_search(&[point; 3]).is_ok() || own.iter().any(|e| is_locked(e.0)) {
            return None;
        }
        let at = positions[point as usize];
        let nearest = self
            .index
            .closest(at, f32::MAX, &self.leaves, positions, |_| true)?;
        let [nearest, ..] = self.leaves[nearest.triangle as usize];
        let row = item.influences.row(nearest).iter();
        let mut row: Vec<(u16, f32)> = row.filter(|e| !is_locked(e.0)).collect();
        let sum: f32 = row.iter().map(|e| e.1).sum();
        if sum <= 0.0 {
            return None;
        }
        if (sum - 1.0).abs() > SUM_TOLERANCE {
            for (_, weight) in &mut row {
                *weight /= sum;
            }
        }
        (!row.iter().copied().eq(own.iter())).then_some(row)
    }
}

/// A bone in the bind pose: its skin joint, head and tail.
struct Segment {
    joint: u16,
    head: DVec3,
    tail: DVec3,
}

/// The unlocked bones of the skin of `mesh` in bind-pose mesh space. Only bones with weights where there are any:
/// exporters write arbitrary bind matrices for the others.
fn segments(document: &Document, mesh: MeshId, item: &MeshItem, locked: &[bool]) -> Vec<Segment> {
    let Some((_, skin)) = document.skin_of_mesh(mesh) else {
        return Vec::new();
    };
    let n_joints = document.n_skin_joints(mesh).unwrap_or(0);
    let mut moves = vec![false; n_joints];
    for (joint, weight) in item.influences.iter().flat_map(RowRef::iter) {
        if let Some(moves) = moves.get_mut(usize::from(joint)) {
            *moves |= weight > 0.0;
        }
    }
    let heads: Vec<Option<DVec3>> = skin
        .inverse_bind
        .iter()
        .map(|m| Some(m.inverse().translation).filter(|t| t.is_finite()))
        .collect();
    let head_of = |index: usize| heads.get(index).copied().flatten();
    let index_of = |joint| skin.joints.iter().position(|&j| j == joint);
    let is_open = |k: usize| locked.get(k) != Some(&true);
    let any_moves = (0..n_joints).any(|k| moves[k] && is_open(k));
    let mut segments = Vec::new();
    for k in (0..n_joints).filter(|&k| is_open(k) && (moves[k] || !any_moves)) {
        let Some(head) = head_of(k) else { continue };
        let mut add = |tail| {
            segments.push(Segment {
                joint: k as u16,
                head,
                tail,
            });
        };
        let children = document.skeleton().children(skin.joints[k]).iter();
        let tails: Vec<DVec3> = children
            .filter_map(|&child| index_of(child).and_then(head_of))
            .collect();
        if tails.is_empty() {
            let parent = document.skeleton().joint(skin.joints[k]).parent;
            let from = parent.and_then(index_of).and_then(head_of).unwrap_or(head);
            add(head + (head - from) * 0.5);
        } else {
            tails.into_iter().for_each(add);
        }
    }
    segments
}

/// The skin joint of the nearest segment; the first of equally near ones.
fn nearest(segments: &[Segment], at: Vec3) -> Option<u16> {
    let at = at.as_dvec3();
    let distance = |segment: &Segment| {
        let along = segment.tail - segment.head;
        let t = (at - segment.head).dot(along) / along.length_squared().max(1e-30);
        at.distance_squared(segment.head + along * t.clamp(0.0, 1.0))
    };
    segments
        .iter()
        .map(|segment| (distance(segment), segment.joint))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, joint)| joint)
}
