//! Displacements and keyframes of clusters that are moved by hand <-> the project format.
//!
//! Few displacements of a time are text, many are blocks, as those of corrective samples ([`super::moved_blocks`]).

use super::keys::{self, Key, SPAN};
use super::moved_blocks::{decode, encode};
use super::sample_entries::{MovedBlock, MovedPoint};
use crate::cluster::{ControlKey, ControlMotion};
use crate::document::{ClipId, Document};
use crate::finding::Finding;
use crate::mesh::Mesh;
use glam::Vec3;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// More displacements of a time than this are encoded.
const MAX_TEXT_POINTS: usize = 32;
/// The limit of the decoded size of the displacements of a group, bytes.
const MAX_BYTES: usize = 1 << 28;
/// Bytes of a displacement in a block.
const BYTES: usize = 16;

/// What the artist adds to the clusters of a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MotionEntry {
    /// Outside of clips.
    #[serde(default, skip_serializing_if = "OffsetsEntry::is_empty")]
    still: OffsetsEntry,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    clips: Vec<ClipMotionEntry>,
}

/// The keyframes in a clip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClipMotionEntry {
    clip: u32,
    name: String,
    keys: Vec<ControlKeyEntry>,
}

/// The displacements at a time, seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ControlKeyEntry {
    secs: f32,
    #[serde(default, skip_serializing_if = "OffsetsEntry::is_empty")]
    offsets: OffsetsEntry,
}

/// Displacements at one time, metres of the bind shape at the size of the world.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OffsetsEntry {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    points: Vec<MovedPoint>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    blocks: Vec<MovedBlock>,
}

impl OffsetsEntry {
    fn is_empty(&self) -> bool {
        self.points.is_empty() && self.blocks.is_empty()
    }
}

/// The entry of a motion; `None` where nothing is displaced.
pub(super) fn collect(
    document: &Document,
    mesh: &Mesh,
    motion: &ControlMotion,
) -> Result<Option<MotionEntry>, String> {
    if motion.is_empty() {
        return Ok(None);
    }
    let key_entry = |key: &ControlKey| {
        Ok(ControlKeyEntry {
            secs: key.secs,
            offsets: offsets_entry(mesh, &key.offsets)?,
        })
    };
    let clips = motion.clips().map(|(clip, keys)| {
        let known = document.clips().get(&clip);
        Ok(ClipMotionEntry {
            clip: clip.0,
            name: known.map_or_else(String::new, |clip| clip.name.clone()),
            keys: keys.iter().map(key_entry).collect::<Result<_, String>>()?,
        })
    });
    Ok(Some(MotionEntry {
        still: offsets_entry(mesh, motion.still())?,
        clips: clips.collect::<Result<_, String>>()?,
    }))
}

/// Finds the clip of a number and a name in a project.
pub(super) type FindClip<'a> = &'a mut dyn FnMut(u32, &str, &mut Vec<Finding>) -> Option<ClipId>;

/// The motion of an entry, and how many displacements the mesh has no vertex for. Keyframes of clips that `find_clip` does
/// not find are left out. Fails for what cannot be decoded, or is not valid.
pub(super) fn restore(
    entry: &MotionEntry,
    mesh: &Mesh,
    find_clip: FindClip<'_>,
    findings: &mut Vec<Finding>,
) -> Result<(ControlMotion, usize), String> {
    let mut reader = Reader {
        mesh,
        n_missing: 0,
        bytes_left: MAX_BYTES,
    };
    let still = reader.offsets(&entry.still)?;
    let mut clips = Vec::new();
    for clip in &entry.clips {
        let mut keys = Vec::with_capacity(clip.keys.len());
        for key in &clip.keys {
            keys.push((key.secs, reader.offsets(&key.offsets)?));
        }
        if let Some(id) = find_clip(clip.clip, &clip.name, findings) {
            clips.push((id, keys));
        }
    }
    let motion = ControlMotion::new(still, clips).map_err(|why| why.to_string())?;
    Ok((motion, reader.n_missing))
}

struct Reader<'a> {
    mesh: &'a Mesh,
    n_missing: usize,
    bytes_left: usize,
}

impl Reader<'_> {
    fn offsets(&mut self, entry: &OffsetsEntry) -> Result<Vec<(u32, Vec3)>, String> {
        let n_encoded: u64 = entry.blocks.iter().map(|b| u64::from(b.n_points)).sum();
        let n_vertices = self.mesh.n_vertices();
        if n_encoded > 4 * n_vertices as u64 + u64::from(SPAN) {
            return Err(format!("it moves {n_encoded} of {n_vertices} vertices"));
        }
        let bytes = BYTES * n_encoded as usize;
        let left = self.bytes_left.checked_sub(bytes);
        self.bytes_left = left.ok_or("its keyframes are too large")?;
        let mut found: Vec<(u32, Vec3)> = Vec::new();
        let mut add =
            |primitive, vertex, offset: Vec3| match keys::point_of(self.mesh, primitive, vertex) {
                Some(point) => found.push((point, offset)),
                None => self.n_missing += 1,
            };
        for point in &entry.points {
            add(point.p, point.v, point.d.into());
        }
        for block in &entry.blocks {
            for (vertex, offset) in decode(block)? {
                add(block.primitive, vertex, offset);
            }
        }
        Ok(found)
    }
}

fn offsets_entry(mesh: &Mesh, offsets: &[(u32, Vec3)]) -> Result<OffsetsEntry, String> {
    let values: HashMap<u32, Vec3> = offsets.iter().copied().collect();
    let keys = keys::of_points(mesh, offsets.iter().map(|offset| offset.0).collect());
    let value = |key: &Key| values.get(&key.point).copied().unwrap_or_default();
    let mut entry = OffsetsEntry::default();
    if keys.len() <= MAX_TEXT_POINTS {
        entry.points.extend(keys.iter().map(|key| MovedPoint {
            p: key.primitive,
            v: key.vertex,
            d: value(key).into(),
        }));
    } else {
        for keys in keys::spans(&keys) {
            entry.blocks.push(encode(keys, value)?);
        }
    }
    Ok(entry)
}
