//! Comparison of a corrected file, as players show it, with the result of the stacks.

use super::driving::Drivers;
use super::error::ExportError;
use super::read_back::document_of;
use super::report::MeasuredErrors;
use crate::bake::compare::{Comparison, compare, uncorrected};
use crate::bake::frames::compare_frames;
use crate::bake::{BakeMode, BakeOptions, Baked, TRAINING_CLIP, driven_part, training_clip};
use crate::document::{ClipId, Document, Parts};
use crate::io::gltf_export::{ExportReport, WrittenFrames, source_drivers};
use crate::skeleton::Clip;
use crate::task::Task;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The comparisons of a corrected file.
pub(super) struct Verified {
    /// Without correction.
    pub(super) before: Comparison,
    pub(super) after: Comparison,
    /// A file for any clip, with its helper joints and samples driven through poses outside its clips.
    pub(super) driven: Option<MeasuredErrors>,
    /// A file for any clip against the complete stacks, if these have bulge corrections or smoothing.
    pub(super) whole_stack: Option<MeasuredErrors>,
}

/// Compares a file with helper joints and morph targets, read as `parts` and as a document, with the stacks. `clips`:
/// the clips of the file before baking.
pub(super) fn verify_skin(
    document: &Document,
    baked: Option<&Baked>,
    clips: &BTreeMap<ClipId, Arc<Clip>>,
    options: &BakeOptions,
    report: &ExportReport,
    (parts, read): (&Parts, &Document),
    task: &Task,
) -> Result<Verified, ExportError> {
    let retarget = options.mode == BakeMode::Retarget;
    // What any clip can drive: the skinning and the corrective samples, not the operations in between.
    let part = retarget.then(|| driven_part(document)).flatten();
    let wanted = part.as_ref().unwrap_or(document);
    let is_there = |id: &ClipId| report.clips.contains(id);
    let there = clips.iter().filter(|(id, _)| is_there(id));
    let there = there.map(|(id, clip)| (*id, clip.clone())).collect();
    let mut after = compare(wanted, read, &there, &options.clips, task)?;
    // The reader makes weights valid that players would use as they are.
    if read
        .meshes()
        .values()
        .any(|item| !item.invalid.broken.is_empty())
    {
        after.max = f64::INFINITY;
    }
    let before = match baked {
        Some(_) => uncorrected(wanted, clips, &options.clips, task)?,
        None => after.clone(),
    };
    let driven = (retarget && baked.is_some()).then(|| verify_driving(wanted, parts, read, task));
    let driven = driven.transpose()?;
    let whole_stack = match &part {
        Some(_) => {
            let whole = compare(document, read, &there, &options.clips, task)?;
            Some(MeasuredErrors::new(&whole, None))
        }
        None => None,
    };
    Ok(Verified {
        before,
        after,
        driven,
        whole_stack,
    })
}

/// Compares a file of morph frames, read back as `read`, with the stacks. `clips`: the clips that the frames were made
/// of.
pub(super) fn verify_frames(
    document: &Document,
    clips: &BTreeMap<ClipId, Arc<Clip>>,
    frames: &WrittenFrames,
    read: &Document,
    task: &Task,
) -> Result<Verified, ExportError> {
    let instances = frames.written.report.instances.clone().unwrap_or_default();
    let after = compare_frames(document, read, &frames.clips, &instances, task)?;
    let chosen: Vec<ClipId> = clips.keys().copied().collect();
    let mut before = uncorrected(document, clips, &chosen, task)?;
    // The normals of morph frames are not compared.
    before.normals = after.normals;
    Ok(Verified {
        before,
        after,
        driven: None,
        whole_stack: None,
    })
}

/// A clip of `document` for the joints of its file, read back as `read`.
fn for_joints_of(read: &Document, clip: &Clip, document: &Document) -> Clip {
    let mut clip = clip.clone();
    clip.channels.retain_mut(|channel| {
        let node = document.skeleton().joint(channel.joint).source_node;
        let joint = node.and_then(|node| read.skeleton().joint_of_node(node));
        joint.is_some_and(|joint| {
            channel.joint = joint;
            true
        })
    });
    clip
}

/// Compares a file whose driver block drives its helper joints through poses outside its clips.
fn verify_driving(
    document: &Document,
    parts: &Parts,
    read: &Document,
    task: &Task,
) -> Result<MeasuredErrors, ExportError> {
    let mut training = Arc::new(training_clip(document));
    // Helper joints of the source are driven, too.
    let own = source_drivers(document).and_then(|json| Drivers::of(&json));
    if let Some(own) = own {
        training = Arc::new(own.driven(document, &training));
    }
    let drivers = parts.source.as_ref().and_then(|s| Drivers::of(&s.json));
    let there = for_joints_of(read, &training, document);
    let driven = match drivers {
        Some(drivers) => Arc::new(drivers.driven(read, &there)),
        None => Arc::new(there),
    };
    let mut parts = parts.clone();
    parts.clips = BTreeMap::from([(ClipId(0), driven)]);
    let clips = BTreeMap::from([(TRAINING_CLIP, training)]);
    let found = compare(document, &document_of(parts)?, &clips, &[], task)?;
    let before = uncorrected(document, &clips, &[], task)?.max;
    Ok(MeasuredErrors::new(&found, Some(before)))
}
