//! Influence rows that differ from the source's <-> the project format.
//!
//! Few rows are text. Many are blocks, one for each span of [`keys::SPAN`] vertices of a primitive, so that a stroke
//! changes a few lines of the file and blocks are compressed on all cores. A block holds, for its rows in ascending
//! order of vertex: u32 steps to the next vertex, u16 lengths, u16 joints, f32 weights without each row's last one, u32
//! codes of the last ones; all as byte planes. A code is the distance in bits from 1 minus the other weights: where
//! they sum to 1, a row stores one weight less.

use super::ProjectError;
use super::block;
use super::joints;
use super::keys::{self, Key, SPAN};
use super::v11::{MeshWeights, Row, RowBlock, SkinJoint};
use crate::document::{Document, MeshId, MeshItem, validity};
use crate::mesh::Mesh;
use crate::skeleton::JointId;
use crate::skinning::influences::CHUNK;
use crate::skinning::{Influences, RowRef, Rows};
use rayon::prelude::*;

/// More rows of a mesh than this are encoded.
const MAX_TEXT_ROWS: usize = 4096;
/// Points whose rows one edit sets when a project opens: whole chunks, decoded in parallel.
const POINTS_PER_EDIT: usize = 64 * CHUNK;
/// A mesh with more influences per row than this (on average) is written as text, so that a reader can bound a block.
const MAX_MEAN_INFLUENCES: usize = 16;

/// The rows of `influences` at `points`; `None` where there are no points.
pub(super) fn collect(
    document: &Document,
    id: MeshId,
    influences: &Influences,
    points: Vec<u32>,
) -> Result<Option<MeshWeights>, ProjectError> {
    let skin_joints = document
        .skin_of_mesh(id)
        .map_or(&[][..], |(_, skin)| &skin.joints);
    collect_of(document, id, (influences, skin_joints), points)
}

/// [`collect`] with the joints of the rows by slot.
pub(super) fn collect_of(
    document: &Document,
    id: MeshId,
    (influences, skin_joints): (&Influences, &[JointId]),
    points: Vec<u32>,
) -> Result<Option<MeshWeights>, ProjectError> {
    let Some(item) = document.meshes().get(&id).filter(|_| !points.is_empty()) else {
        return Ok(None);
    };
    let keys = keys::of_points(&item.geometry, points);
    let mut used = vec![false; 1 << 16];
    let mut n_influences = 0;
    for key in &keys {
        let row = influences.row(key.point);
        n_influences += row.len();
        for &joint in row.joints {
            used[usize::from(joint)] = true;
        }
    }
    let joints = skin_joints
        .iter()
        .enumerate()
        .filter(|&(i, _)| used.get(i) == Some(&true))
        .map(|(i, &j)| {
            SkinJoint(
                i as u16,
                joints::key(document, j),
                joints::name(document, j),
            )
        })
        .collect();
    let mut weights = MeshWeights {
        mesh: id.0,
        name: item.geometry.name.clone(),
        joints,
        rows: Vec::new(),
        blocks: Vec::new(),
    };
    if keys.len() <= MAX_TEXT_ROWS || n_influences > keys.len() * MAX_MEAN_INFLUENCES {
        weights.rows = keys
            .iter()
            .map(|key| Row {
                p: key.primitive,
                v: key.vertex,
                w: influences.row(key.point).iter().collect(),
            })
            .collect();
    } else {
        weights.blocks = keys::spans(&keys)
            .into_par_iter()
            .map(|keys| encode(keys, influences))
            .collect::<Result<_, _>>()
            .map_err(|why| ProjectError::Damaged {
                place: place(&weights),
                why,
            })?;
    }
    Ok(Some(weights))
}

/// The result of [`restore`].
#[derive(Debug, Default)]
pub(super) struct Restored {
    /// Points, ascending, and one row per point: each part is one edit.
    pub(super) spans: Vec<(Vec<u32>, Rows)>,
    /// Rows for vertices that the mesh does not have.
    pub(super) n_missing: usize,
    /// Rows whose weights or joints are not valid.
    pub(super) n_invalid: usize,
    /// Rows for a point that already had another one.
    pub(super) n_conflicts: usize,
}

/// The points and rows of `weights` in the mesh `item`, whose skins have the slots `live`.
///
/// `skin_joint_of[i]`: the skin joint in this model for skin joint i of the project. Fails for a block that cannot be
/// decoded.
pub(super) fn restore(
    weights: &MeshWeights,
    item: &MeshItem,
    live: &[bool],
    skin_joint_of: &[Option<u16>],
) -> Result<Restored, ProjectError> {
    let mesh = &item.geometry;
    let damaged = |why: String| ProjectError::Damaged {
        place: place(weights),
        why,
    };
    let total = |count: fn(&RowBlock) -> u32| -> u64 {
        weights.blocks.iter().map(|b| u64::from(count(b))).sum()
    };
    let (n_rows, n_influences) = (total(|b| b.n_rows), total(|b| b.n_influences));
    // Rows for vertices that the model no longer has are findings; an implausible count is damage.
    if n_rows > 4 * mesh.n_vertices() as u64 + u64::from(SPAN)
        || n_influences > n_rows * MAX_MEAN_INFLUENCES as u64
    {
        return Err(damaged(format!(
            "it has {n_rows} rows with {n_influences} influences for {} vertices",
            mesh.n_vertices()
        )));
    }
    let mut pieces = weights
        .blocks
        .par_iter()
        .map(|block| {
            let mut piece = Piece::new(live, skin_joint_of);
            decode(block, &mut piece).map(|()| piece)
        })
        .collect::<Result<Vec<_>, _>>()
        .map_err(damaged)?;
    let mut text = Piece::new(live, skin_joint_of);
    for row in &weights.rows {
        let (joints, weights): (Vec<u16>, Vec<f32>) = row.w.iter().copied().unzip();
        let (joints, weights) = (&joints[..], &weights[..]);
        text.push((row.p, row.v), RowRef { joints, weights });
    }
    pieces.push(text);
    Ok(in_order_of_points(&pieces, mesh))
}

/// The place of the weights in the file, for messages.
pub(super) fn place(weights: &MeshWeights) -> String {
    format!("weights of mesh {} \"{}\"", weights.mesh, weights.name)
}

fn encode(keys: &[Key], influences: &Influences) -> Result<RowBlock, String> {
    let rows = || keys.iter().map(|key| influences.row(key.point));
    let n_influences: usize = rows().map(RowRef::len).sum();
    let mut joints = Vec::with_capacity(n_influences);
    let mut weights = Vec::with_capacity(n_influences);
    let mut last_weights = Vec::with_capacity(keys.len());
    for row in rows() {
        joints.extend_from_slice(row.joints);
        if let Some((last, others)) = row.weights.split_last() {
            weights.extend_from_slice(others);
            last_weights.push(zigzag(last.to_bits().wrapping_sub(rest_of_one(others))));
        }
    }
    let lengths = keys
        .iter()
        .map(|key| influences.row(key.point).len() as u16);
    let mut bytes = Vec::with_capacity(6 * keys.len() + 6 * n_influences);
    block::push_planes(&mut bytes, keys::steps(keys).map(u32::to_le_bytes));
    block::push_planes(&mut bytes, lengths.map(u16::to_le_bytes));
    block::push_planes(&mut bytes, joints.into_iter().map(u16::to_le_bytes));
    block::push_planes(&mut bytes, weights.into_iter().map(f32::to_le_bytes));
    block::push_planes(&mut bytes, last_weights.into_iter().map(u32::to_le_bytes));
    Ok(RowBlock {
        primitive: keys.first().map_or(0, |key| key.primitive),
        n_rows: keys.len() as u32,
        n_influences: n_influences as u32,
        data: block::to_text(&bytes)?,
    })
}

/// Passes each row of `block` to `piece`.
fn decode(block: &RowBlock, piece: &mut Piece<'_>) -> Result<(), String> {
    let (n_rows, n_influences) = (block.n_rows as usize, block.n_influences as usize);
    let bytes = block::from_text(&block.data, 6 * n_rows + 6 * n_influences)?;
    let mut rest = bytes.as_slice();
    let short = || "its encoded data is too short".to_owned();
    let steps = block::take_planes::<4>(&mut rest, n_rows).ok_or_else(short)?;
    let lengths: Vec<usize> = block::take_planes::<2>(&mut rest, n_rows)
        .ok_or_else(short)?
        .map(|length| usize::from(u16::from_le_bytes(length)))
        .collect();
    if lengths.iter().sum::<usize>() != n_influences {
        return Err("the lengths of its rows do not add up".into());
    }
    let n_last = lengths.iter().filter(|&&length| length > 0).count();
    let mut joints = block::take_planes::<2>(&mut rest, n_influences).ok_or_else(short)?;
    let n_others = n_influences - n_last;
    let mut weights = block::take_planes::<4>(&mut rest, n_others).ok_or_else(short)?;
    let mut last_weights = block::take_planes::<4>(&mut rest, n_last).ok_or_else(short)?;
    piece.reserve(n_rows);
    let mut vertex = 0u32;
    let (mut row_joints, mut row_weights) = (Vec::new(), Vec::new());
    for (step, length) in steps.zip(lengths) {
        vertex = vertex.wrapping_add(u32::from_le_bytes(step));
        row_joints.clear();
        row_joints.extend(joints.by_ref().take(length).map(u16::from_le_bytes));
        row_weights.clear();
        let n_others = length.saturating_sub(1);
        row_weights.extend(weights.by_ref().take(n_others).map(f32::from_le_bytes));
        if length > 0 {
            let distance = unzigzag(u32::from_le_bytes(last_weights.next().ok_or_else(short)?));
            let bits = rest_of_one(&row_weights).wrapping_add(distance);
            row_weights.push(f32::from_bits(bits));
        }
        let row = RowRef {
            joints: &row_joints,
            weights: &row_weights,
        };
        piece.push((block.primitive, vertex), row);
    }
    Ok(())
}

/// The bits of 1 minus `others`, subtracted one after the other: part of the format; never reorder it.
fn rest_of_one(others: &[f32]) -> u32 {
    others.iter().fold(1.0f32, |rest, w| rest - w).to_bits()
}

/// Zigzag code: small distances of either sign -> small numbers.
fn zigzag(distance: u32) -> u32 {
    (distance << 1) ^ ((distance as i32 >> 31) as u32)
}

fn unzigzag(code: u32) -> u32 {
    (code >> 1) ^ (code & 1).wrapping_neg()
}

/// Rows with this model's skin joints, without the invalid ones.
struct Piece<'a> {
    /// For each skin joint of the project, that of this model.
    skin_joint_of: &'a [Option<u16>],
    /// [`Document::live_slots`](crate::document::Document::live_slots) of this model.
    live: &'a [bool],
    /// (primitive, vertex) of each row.
    keys: Vec<(u32, u32)>,
    rows: Rows,
    n_invalid: usize,
    /// The joints of the current row.
    joints: Vec<u16>,
}

impl<'a> Piece<'a> {
    fn new(live: &'a [bool], skin_joint_of: &'a [Option<u16>]) -> Self {
        Self {
            skin_joint_of,
            live,
            keys: Vec::new(),
            rows: Rows::default(),
            n_invalid: 0,
            joints: Vec::new(),
        }
    }

    /// Reserves memory for `n_rows` rows, in a piece without rows.
    fn reserve(&mut self, n_rows: usize) {
        self.keys.reserve(n_rows);
        self.rows = Rows::with_capacity(n_rows);
    }

    fn push(&mut self, key: (u32, u32), row: RowRef<'_>) {
        let known = |&joint: &u16| {
            self.skin_joint_of
                .get(usize::from(joint))
                .copied()
                .flatten()
        };
        self.joints.clear();
        self.joints.extend(row.joints.iter().map_while(known));
        let all_known = self.joints.len() == row.len();
        let row = RowRef {
            joints: &self.joints,
            weights: row.weights,
        };
        if all_known && validity::check_row(row, self.live).is_ok() {
            self.keys.push(key);
            self.rows.push(row);
        } else {
            self.n_invalid += 1;
        }
    }
}

/// Where a point has no row.
const NONE: (u32, u32) = (u32::MAX, u32::MAX);

/// In ascending order of points, swapping rows accesses memory sequentially.
fn in_order_of_points(pieces: &[Piece<'_>], mesh: &Mesh) -> Restored {
    let mut restored = Restored {
        n_invalid: pieces.iter().map(|piece| piece.n_invalid).sum(),
        ..Restored::default()
    };
    let row = |&(i, j): &(u32, u32)| pieces[i as usize].rows.row(j as usize);
    let mut row_of_point = vec![NONE; mesh.n_points()];
    for (i, piece) in pieces.iter().enumerate() {
        for (j, &(primitive, vertex)) in piece.keys.iter().enumerate() {
            let place = (i as u32, j as u32);
            let slot = keys::point_of(mesh, primitive, vertex)
                .and_then(|point| row_of_point.get_mut(point as usize));
            match slot {
                None => restored.n_missing += 1,
                Some(slot) if *slot == NONE => *slot = place,
                Some(slot) => restored.n_conflicts += usize::from(row(slot) != row(&place)),
            }
        }
    }
    restored.spans = row_of_point
        .par_chunks(POINTS_PER_EDIT)
        .enumerate()
        .map(|(span, places)| {
            let first = (span * POINTS_PER_EDIT) as u32;
            let set = || (first..).zip(places).filter(|&(_, place)| *place != NONE);
            let points: Vec<u32> = set().map(|(point, _)| point).collect();
            let mut rows = Rows::with_capacity(points.len());
            set().for_each(|(_, place)| rows.push(row(place)));
            (points, rows)
        })
        .filter(|(points, _)| !points.is_empty())
        .collect();
    restored
}
