//! The written file read again, and looked at as a player does.

use super::drivers::Drivers;
use super::nodes::node_of;
use super::read_back::{document_of, read_files, read_parts};
use super::{ExportError, Exported};
use crate::bake::compare::{Comparison, compare, uncorrected};
use crate::bake::{Angles, BakeMode, BakeOptions, Baked, PRACTICE, practice};
use crate::document::{ClipId, Document};
use crate::skeleton::Clip;
use crate::task::Task;
use bytes::Bytes;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What correcting a file came to. Errors are in percent of the model's diagonal at rest, over all points of its skinned
/// meshes, at all keys, midway between them and at moments besides, as read back from the written bytes.
///
/// In a file for any clip they are against the stacks' skinning alone, since helper joints can follow no more.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CorrectionReport {
    /// What the file is made for.
    pub mode: BakeMode,
    /// What was asked for, percent.
    pub tolerance_percent: f64,
    /// Whether the largest error is within it.
    pub met: bool,
    /// Whether the file needed no correction.
    pub nothing_to_do: bool,
    /// Whether the file needs correction, but no clip that was to be corrected has a key: nothing was looked at.
    pub lacks_clip: bool,
    /// Helper joints added.
    pub helper_joints: usize,
    /// The most morph targets added to a mesh.
    pub morph_targets: usize,
    /// What each changed mesh got.
    pub meshes: Vec<CorrectedMesh>,
    /// The model's diagonal at rest, metres.
    pub diagonal: f64,
    /// The largest error without correction.
    pub before_max_percent: f64,
    /// The largest error.
    pub max_percent: f64,
    /// The largest error that the bake itself found, at keys and between them.
    pub expected_max_percent: f64,
    /// What 99.9 % stay below.
    pub p999_percent: f64,
    /// The root of the mean square.
    pub rms_percent: f64,
    /// Angles of normals without correction. Nothing but zeros, and not in a report, where no normals were looked at.
    #[serde(skip_serializing_if = "NormalAngles::is_empty")]
    pub normals_before: NormalAngles,
    /// The same with it.
    #[serde(skip_serializing_if = "NormalAngles::is_empty")]
    pub normals: NormalAngles,
    /// Where the largest error is.
    pub worst: Option<WorstPlace>,
    /// Moments looked at.
    pub moments: usize,
    /// A file for any clip, its helpers driven by what it says of them, in poses that none of its clips has: each bone
    /// turned up to 110 degrees about each axis, and all at once.
    pub driven: Option<MeasuredErrors>,
    /// A file for any clip against the whole stacks, where these do more than skinning.
    pub whole_stack: Option<MeasuredErrors>,
    /// Bytes of the source and of all files of the export.
    pub source_bytes: usize,
    /// Of these.
    pub bytes: usize,
    /// The second by the first.
    pub size_ratio: f64,
    /// Time taken to bake.
    pub bake_seconds: f64,
    /// And to check.
    pub check_seconds: f64,
}

/// Angles between the normals that a player shows and those that the stacks show, over the points that joints share,
/// degrees. Parts without normals of their own in the file do not count.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NormalAngles {
    /// The mean.
    pub mean_degrees: f64,
    /// What 99 % stay below.
    pub p99_degrees: f64,
    /// The largest.
    pub max_degrees: f64,
}

impl NormalAngles {
    /// Whether there is no angle.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl From<Angles> for NormalAngles {
    fn from(angles: Angles) -> Self {
        Self {
            mean_degrees: angles.mean,
            p99_degrees: angles.p99,
            max_degrees: angles.max,
        }
    }
}

/// Errors in percent of the model's diagonal at rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MeasuredErrors {
    /// The largest without correction, where that was measured too.
    pub before_max_percent: Option<f64>,
    /// The largest.
    pub max_percent: f64,
    /// What 99.9 % stay below.
    pub p999_percent: f64,
    /// The root of the mean square.
    pub rms_percent: f64,
    /// Moments looked at.
    pub moments: usize,
}

impl MeasuredErrors {
    /// A comparison, and the largest error without correction.
    pub(super) fn new(found: &Comparison, before: Option<f64>) -> Self {
        Self {
            before_max_percent: before.map(|x| 100.0 * x),
            max_percent: 100.0 * found.max,
            p999_percent: 100.0 * found.p999,
            rms_percent: 100.0 * found.rms,
            moments: found.n_moments,
        }
    }
}

/// What a mesh got.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CorrectedMesh {
    /// Its index in the file.
    pub mesh: u32,
    /// Its name.
    pub name: String,
    /// Whether its weights were fitted anew.
    pub reweighted: bool,
    /// Morph targets added.
    pub morph_targets: usize,
    /// Displacements that are not zero, of points, over all targets.
    pub displacements: usize,
    /// Normals turned, over all targets.
    pub turned_normals: usize,
}

/// Where the largest error is.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WorstPlace {
    /// The clip's name.
    pub clip: String,
    /// Seconds.
    pub time: f64,
    /// The node that draws the mesh.
    pub node: u32,
    /// The mesh.
    pub mesh: u32,
    /// Its lowest vertex there, counted over all primitives.
    pub vertex: u32,
    /// The document's clip.
    #[serde(skip)]
    pub clip_id: Option<ClipId>,
    /// The point of the document's mesh.
    #[serde(skip)]
    pub point: u32,
}

/// Looks at what was written as a player does.
pub(super) fn check_files(
    document: &Document,
    exported: &Exported,
    clips: &BTreeMap<ClipId, Arc<Clip>>,
    options: &BakeOptions,
    task: &Task,
) -> Result<Comparison, ExportError> {
    let written = read_files(&exported.files)?;
    let is_there = |id: &ClipId| exported.report.clips.contains(id);
    let there = clips.iter().filter(|(id, _)| is_there(id));
    let clips = there.map(|(id, clip)| (*id, clip.clone())).collect();
    Ok(compare(document, &written, &clips, &options.clips, task)?)
}

/// Drives the helper joints of the written `files` by what they say of them, through poses that no clip has.
pub(super) fn check_driving(
    document: &Document,
    files: &[(String, Bytes)],
    task: &Task,
) -> Result<MeasuredErrors, ExportError> {
    let mut parts = read_parts(files)?;
    let mut practised = Arc::new(practice(document));
    // Helpers that the source had are driven there, too.
    let own = document.source().and_then(|s| Drivers::of(&s.json));
    if let Some(own) = own {
        practised = Arc::new(own.driven(document, &practised));
    }
    let drivers = parts.source.as_ref().and_then(|s| Drivers::of(&s.json));
    let written = document_of(parts.clone())?;
    let there = in_file(&practised, document, &written);
    let driven = match drivers {
        Some(drivers) => Arc::new(drivers.driven(&written, &there)),
        None => Arc::new(there),
    };
    parts.clips = BTreeMap::from([(ClipId(0), driven)]);
    let clips = BTreeMap::from([(PRACTICE, practised)]);
    let found = compare(document, &document_of(parts)?, &clips, &[], task)?;
    let before = uncorrected(document, &clips, &[], task)?.max;
    Ok(MeasuredErrors::new(&found, Some(before)))
}

/// A clip of `document` for the joints of its file as `written`.
fn in_file(clip: &Clip, document: &Document, written: &Document) -> Clip {
    let mut clip = clip.clone();
    clip.channels.retain_mut(|channel| {
        let node = u32::try_from(node_of(document, channel.joint)).ok();
        let joint = node.and_then(|node| written.skeleton().joint_of_node(node));
        joint.is_some_and(|joint| {
            channel.joint = joint;
            true
        })
    });
    clip
}

/// What a file for clips is without one.
pub(super) const LACKS_CLIP: &str = "There is no clip to correct: the file looks as linear skinning has it. Make a clip, or \
                                     choose others, or make the file retargetable.";

impl CorrectionReport {
    /// The report of a file whose played result compares like `after`, and without correction like `before`.
    pub(super) fn new(
        document: &Document,
        options: &BakeOptions,
        baked: Option<&Baked>,
        before: &Comparison,
        after: &Comparison,
    ) -> Self {
        // Having looked at nothing, it cannot promise anything.
        let lacks_clip = after.n_moments == 0
            && options.mode != BakeMode::Retarget
            && super::preflight::needs_correction(document);
        let empty = Baked::default();
        let baked_or_none = baked.unwrap_or(&empty);
        let meshes = baked_or_none
            .meshes
            .iter()
            .map(|(&mesh, baked)| CorrectedMesh {
                mesh: mesh.0,
                name: document
                    .meshes()
                    .get(&mesh)
                    .map_or_else(String::new, |item| item.geometry.name.clone()),
                reweighted: baked.reweighted,
                morph_targets: baked.targets.len(),
                displacements: baked.targets.iter().map(|t| t.positions.len()).sum(),
                turned_normals: baked.targets.iter().map(|t| t.normals.len()).sum(),
            });
        let meshes: Vec<CorrectedMesh> = meshes.collect();
        let worst = after.worst.as_ref().map(|worst| {
            let item = document.meshes().get(&worst.mesh);
            let vertices = item
                .map(|item| &item.geometry.point_of_vertex[..])
                .unwrap_or_default();
            WorstPlace {
                clip: document
                    .clips()
                    .get(&worst.clip)
                    .map_or_else(String::new, |clip| clip.name.clone()),
                time: worst.time,
                node: worst.instance.0,
                mesh: worst.mesh.0,
                vertex: vertices.iter().position(|&p| p == worst.point).unwrap_or(0) as u32,
                clip_id: Some(worst.clip),
                point: worst.point,
            }
        });
        Self {
            mode: options.mode,
            tolerance_percent: 100.0 * options.tolerance,
            met: after.max <= options.tolerance && !lacks_clip,
            lacks_clip,
            nothing_to_do: baked.is_none() && !lacks_clip,
            helper_joints: baked_or_none.joints.len(),
            morph_targets: meshes.iter().map(|m| m.morph_targets).max().unwrap_or(0),
            meshes,
            diagonal: after.diagonal,
            before_max_percent: 100.0 * before.max,
            max_percent: 100.0 * after.max,
            expected_max_percent: 100.0 * baked_or_none.expected,
            p999_percent: 100.0 * after.p999,
            rms_percent: 100.0 * after.rms,
            normals_before: before.normals.into(),
            normals: after.normals.into(),
            worst,
            moments: after.n_moments,
            ..Self::default()
        }
    }

    /// Keeps how far driven helper joints are off.
    pub(super) fn tell_driven(&mut self, driven: MeasuredErrors) {
        self.met &= driven.max_percent <= self.tolerance_percent;
        self.driven = Some(driven);
    }

    /// What it came to, a line.
    pub fn summary(&self) -> String {
        if self.lacks_clip {
            return LACKS_CLIP.into();
        }
        let mut errors = format!(
            "at most {:.4} % of the diagonal off (99.9 % below {:.4} %, rms {:.4} %; without correction {:.3} %)",
            self.max_percent, self.p999_percent, self.rms_percent, self.before_max_percent
        );
        if !self.normals_before.is_empty() {
            let (before, after) = (&self.normals_before, &self.normals);
            errors = format!(
                "{errors}, 99 % of normals below {:.2} degrees (without {:.2})",
                after.p99_degrees, before.p99_degrees
            );
        }
        if self.nothing_to_do {
            return format!("No correction is needed: {errors}.");
        }
        let Some(driven) = &self.driven else {
            return format!(
                "{} helper joints, {} morph targets: {errors}; {:.3} times the size.",
                self.helper_joints, self.morph_targets, self.size_ratio
            );
        };
        let in_clips = if self.moments > 0 {
            format!("in the clips {errors}; ")
        } else {
            String::new()
        };
        format!(
            "{} helper joints for any clip: {in_clips}driven through {} poses that no clip has at most {:.4} % (99.9 % below \
             {:.4} %, rms {:.4} %; without correction {:.3} %); {:.3} times the size.",
            self.helper_joints,
            driven.moments,
            driven.max_percent,
            driven.p999_percent,
            driven.rms_percent,
            driven.before_max_percent.unwrap_or(0.0),
            self.size_ratio
        )
    }
}
