//! Clips that were added, changed or removed <-> the project format.

use super::ProjectError;
use super::block;
use super::joints::{self, Joints};
use super::v11::{ChannelEntry, ClipEntry, KeyBlock, Named};
use crate::document::{ClipId, Document};
use crate::finding::Finding;
use crate::skeleton::{Channel, Clip};
use std::sync::Arc;

/// A channel with more numbers than this is encoded.
const MAX_TEXT_NUMBERS: usize = 256;
/// The limit of the decoded size of all keyframes of a project, bytes: days of a whole character at 60 keyframes a
/// second.
const MAX_KEY_BYTES: usize = 1 << 29;

/// The clips that differ from the source's, and the source's clips that were removed.
pub(super) fn collect(document: &Document) -> Result<(Vec<ClipEntry>, Vec<Named>), ProjectError> {
    let source = document.source_clips();
    let edited = document
        .clips()
        .iter()
        .filter(|&(id, clip)| {
            source
                .get(id)
                .is_none_or(|before| !Arc::ptr_eq(before, clip) && before != clip)
        })
        .map(|(&id, clip)| {
            let replaces = source.get(&id).map(|before| before.name.clone());
            clip_entry(document, id.0, clip, replaces)
        });
    let removed = source
        .iter()
        .filter(|(id, _)| !document.clips().contains_key(id))
        .map(|(id, clip)| Named(id.0, clip.name.clone()));
    Ok((edited.collect::<Result<_, _>>()?, removed.collect()))
}

/// The poses of the library.
pub(super) fn collect_poses(document: &Document) -> Result<Vec<ClipEntry>, ProjectError> {
    let poses = document.poses().iter();
    poses
        .map(|(id, pose)| clip_entry(document, id.0, pose, None))
        .collect()
}

fn clip_entry(
    document: &Document,
    id: u32,
    clip: &Clip,
    replaces: Option<String>,
) -> Result<ClipEntry, ProjectError> {
    let channels = clip.channels.iter().map(|c| channel_entry(document, c));
    let channels = channels.collect::<Result<_, _>>();
    Ok(ClipEntry {
        clip: id,
        name: clip.name.clone(),
        replaces,
        rigid_interpolation: clip.rigid_interpolation.into(),
        preview: clip.preview,
        pose_names: clip.pose_names.clone(),
        channels: channels.map_err(|why| ProjectError::Damaged {
            place: place(id, &clip.name),
            why,
        })?,
    })
}

/// Reads clips; all share one limit of decoded bytes.
pub(super) struct Reader {
    bytes_left: usize,
}

impl Reader {
    /// A reader for the clips of one project.
    pub(super) fn new() -> Self {
        Self {
            bytes_left: MAX_KEY_BYTES,
        }
    }

    /// The clip of `entry`, without the channels of joints that this model does not have.
    pub(super) fn clip(
        &mut self,
        entry: &ClipEntry,
        joints: &mut Joints,
        findings: &mut Vec<Finding>,
    ) -> Result<Clip, ProjectError> {
        let mut channels = Vec::with_capacity(entry.channels.len());
        for channel in &entry.channels {
            let keys = self.keys(channel).map_err(|why| ProjectError::Damaged {
                place: place(entry.clip, &entry.name),
                why,
            })?;
            let found = joints.find(channel.joint, Some(&channel.name), findings);
            if let Some(joint) = found {
                channels.push(Channel {
                    joint,
                    property: channel.property.into(),
                    interpolation: channel.interpolation.into(),
                    times: keys.0.into(),
                    values: keys.1.into(),
                });
            }
        }
        Ok(Clip {
            name: entry.name.clone(),
            channels,
            rigid_interpolation: entry.rigid_interpolation.into(),
            preview: entry.preview,
            pose_names: entry.pose_names.clone(),
        })
    }

    /// Times and values of a channel.
    fn keys(&mut self, channel: &ChannelEntry) -> Result<(Vec<f32>, Vec<f32>), String> {
        let Some(keys) = &channel.keys else {
            return Ok((channel.times.clone(), channel.values.clone()));
        };
        let (n_times, n_values) = (keys.n_times as usize, keys.n_values as usize);
        let n_bytes = 4 * (n_times + n_values);
        self.bytes_left = self
            .bytes_left
            .checked_sub(n_bytes)
            .ok_or_else(|| format!("{n_times} keyframes exceed the limit of the project format"))?;
        let bytes = block::from_text(&keys.data, n_bytes)?;
        let mut rest = bytes.as_slice();
        let mut floats = |n| {
            block::take_planes::<4>(&mut rest, n)
                .map(|values| values.map(f32::from_le_bytes).collect::<Vec<_>>())
                .ok_or_else(|| "its encoded data is too short".to_owned())
        };
        Ok((floats(n_times)?, floats(n_values)?))
    }
}

/// The place of a clip in the file, for messages.
pub(super) fn place(clip: u32, name: &str) -> String {
    format!("clip {clip} \"{name}\"")
}

/// The id of an added clip: `wanted`, or a free one where the model now has a clip with that id.
pub(super) fn free_id(document: &Document, wanted: u32) -> Option<ClipId> {
    let clips = document.clips();
    if !clips.contains_key(&ClipId(wanted)) {
        return Some(ClipId(wanted));
    }
    let last = clips.keys().next_back().map_or(0, |id| id.0);
    last.checked_add(1).map(ClipId)
}

fn channel_entry(document: &Document, channel: &Channel) -> Result<ChannelEntry, String> {
    let mut entry = ChannelEntry {
        joint: joints::key(document, channel.joint),
        name: joints::name(document, channel.joint),
        property: channel.property.into(),
        interpolation: channel.interpolation.into(),
        times: Vec::new(),
        values: Vec::new(),
        keys: None,
    };
    if channel.times.len() + channel.values.len() <= MAX_TEXT_NUMBERS {
        entry.times = channel.times.to_vec();
        entry.values = channel.values.to_vec();
    } else {
        let mut bytes = Vec::with_capacity(4 * (channel.times.len() + channel.values.len()));
        for numbers in [&channel.times, &channel.values] {
            block::push_planes(&mut bytes, numbers.iter().map(|n| n.to_le_bytes()));
        }
        entry.keys = Some(KeyBlock {
            n_times: channel.times.len() as u32,
            n_values: channel.values.len() as u32,
            data: block::to_text(&bytes)?,
        });
    }
    Ok(entry)
}
