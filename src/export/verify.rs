//! Comparison of a corrected file, as players show it, with the result of the stacks.

use super::driving::Drivers;
use super::error::ExportError;
use super::read_back::{document_of, drawn_in, read_parts};
use super::report::MeasuredErrors;
use crate::bake::compare::{Shown, compare, compare_with_plain};
use crate::bake::frames::{MissedTimes, compare_frames};
use crate::bake::{BakeMode, BakeOptions, Comparison, TRAINING_CLIP, driven_part, training_clip};
use crate::document::{ClipId, Document, InstanceId, Parts};
use crate::io::gltf_export::{Written, WrittenFrames, source_drivers};
use crate::skeleton::Clip;
use crate::task::Task;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A file read again: its content, as parsed and as a document, and the clips of the exported document that it has.
pub(super) struct ReadFile {
    pub(super) parts: Parts,
    pub(super) document: Document,
    pub(super) clips: BTreeMap<ClipId, Arc<Clip>>,
    instances: Option<BTreeMap<InstanceId, InstanceId>>,
}

impl ReadFile {
    /// The files of an export of a document with `clips`, read again.
    pub(super) fn of(
        document: &Document,
        written: &Written,
        clips: &BTreeMap<ClipId, Arc<Clip>>,
        task: &Task,
    ) -> Result<Self, ExportError> {
        let drawn = drawn_in(document, &written.report);
        let parts = read_parts(&written.files, &drawn, task)?;
        let there = clips.iter();
        let there = there.filter(|(id, _)| written.report.clips.contains(id));
        Ok(Self {
            document: document_of(parts.clone())?,
            parts,
            clips: there.map(|(id, clip)| (*id, clip.clone())).collect(),
            instances: written.report.instances.clone(),
        })
    }

    /// The file as a player shows it.
    pub(super) fn shown(&self) -> Shown<'_> {
        self.showing(&self.document, &self.clips)
    }

    /// Plays `document`, which has the nodes of the file, with `clips`.
    fn showing<'a>(
        &'a self,
        document: &'a Document,
        clips: &'a BTreeMap<ClipId, Arc<Clip>>,
    ) -> Shown<'a> {
        Shown {
            document,
            clips,
            instances: self.instances.as_ref(),
        }
    }

    /// The file with one clip in place of its own.
    fn playing(&self, clip: Clip) -> Result<Document, ExportError> {
        let mut parts = self.parts.clone();
        parts.clips = BTreeMap::from([(ClipId(0), Arc::new(clip))]);
        document_of(parts)
    }
}

/// The comparisons of a corrected file.
pub(super) struct Verified {
    /// Without correction.
    pub(super) before: Comparison,
    pub(super) after: Comparison,
    /// A file for any clip, with its helper joints and samples driven through poses outside its clips.
    pub(super) driven: Option<MeasuredErrors>,
    /// The same without correction.
    pub(super) undriven: Option<MeasuredErrors>,
    /// A file for any clip against the complete stacks, if these have bulge corrections or smoothing.
    pub(super) whole_stack: Option<MeasuredErrors>,
}

/// Compares `file`, which has helper joints and morph targets, with the stacks. `plain`: the file of the same clips
/// without correction; `None` if that is `file` itself.
pub(super) fn verify_skin(
    document: &Document,
    options: &BakeOptions,
    file: &ReadFile,
    plain: Option<&ReadFile>,
    task: &Task,
) -> Result<Verified, ExportError> {
    let retarget = options.mode == BakeMode::Retarget;
    // What any clip can drive: the skinning and the corrective samples, not the operations in between.
    let part = retarget.then(|| driven_part(document)).flatten();
    let wanted = part.as_ref().unwrap_or(document);
    let read = &file.document;
    let chosen = &options.clips;
    let (mut after, before) = match plain {
        Some(plain) => {
            let (after, before) =
                compare_with_plain(wanted, file.shown(), plain.shown(), chosen, task)?;
            (after, Some(before))
        }
        None => (compare(wanted, file.shown(), chosen, task)?, None),
    };
    // The reader makes weights valid that players would use as they are.
    if read
        .meshes()
        .values()
        .any(|item| !item.invalid.broken.is_empty())
    {
        after.max = f64::INFINITY;
    }
    let before = before.unwrap_or_else(|| after.clone());
    let driven = plain.filter(|_| retarget);
    let driven = driven.map(|plain| verify_driving(wanted, file, plain, task));
    let (driven, undriven) = driven.transpose()?.unzip();
    let whole_stack = match &part {
        Some(_) => {
            let whole = compare(document, file.shown(), chosen, task)?;
            Some(MeasuredErrors::new(&whole, None))
        }
        None => None,
    };
    Ok(Verified {
        before,
        after,
        driven,
        undriven,
        whole_stack,
    })
}

/// Compares a file of morph frames, read back as `read`, with the stacks; also returns the times at which it misses the
/// tolerance. `plain`: the file of the same clips without correction.
pub(super) fn verify_frames(
    document: &Document,
    frames: &WrittenFrames,
    read: &Document,
    plain: &ReadFile,
    correct: &BakeOptions,
    task: &Task,
) -> Result<(Verified, MissedTimes), ExportError> {
    let instances = frames.written.report.instances.clone().unwrap_or_default();
    let files = (document, read, plain.shown());
    let (clips, most) = (&frames.clips, correct.tolerance);
    let ([after, before], missed) = compare_frames(files, clips, &instances, most, task)?;
    let verified = Verified {
        before,
        after,
        driven: None,
        undriven: None,
        whole_stack: None,
    };
    Ok((verified, missed))
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

/// Compares a file whose driver block drives its helper joints through poses outside its clips: its errors, and those
/// without correction.
fn verify_driving(
    document: &Document,
    file: &ReadFile,
    plain: &ReadFile,
    task: &Task,
) -> Result<(MeasuredErrors, MeasuredErrors), ExportError> {
    let mut training = Arc::new(training_clip(document));
    // Helper joints of the source are driven, too.
    let own = source_drivers(document).and_then(|json| Drivers::of(&json));
    if let Some(own) = own {
        training = Arc::new(own.driven(document, &training));
    }
    let source = file.parts.source.as_ref();
    let drivers = source.and_then(|source| Drivers::of(&source.json));
    let mut driven = for_joints_of(&file.document, &training, document);
    if let Some(drivers) = drivers {
        driven = drivers.driven(&file.document, &driven);
    }
    let driven = file.playing(driven)?;
    let undriven = plain.playing(for_joints_of(&plain.document, &training, document))?;
    let clips = BTreeMap::from([(TRAINING_CLIP, training)]);
    let shown = file.showing(&driven, &clips);
    let undriven = plain.showing(&undriven, &clips);
    let (found, before) = compare_with_plain(document, shown, undriven, &[], task)?;
    Ok((
        MeasuredErrors::new(&found, Some(before.max)),
        MeasuredErrors::new(&before, Some(before.max)),
    ))
}
