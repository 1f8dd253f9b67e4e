//! The report of a corrected file: measured errors, sizes and findings.

use super::normals_report::{normals_finding, normals_hint};
use crate::bake::{
    Angles, BakeMode, BakeOptions, Baked, Comparison, InstanceErrors, Jump, JumpCause,
};
use crate::document::{ClipId, Document};
use crate::finding::{Finding, Place, counted, trimmed};
use crate::math::Worse;
use serde::Serialize;

/// The number of morph targets that every player shows at once (glTF 2.0, 3.7.2.2).
const COMMON_TARGETS: usize = 8;

/// An error that rounding explains, as a fraction of the diagonal.
const ROUNDING: f64 = 1e-5;

/// The measured result of a correction. Errors are distances in percent of the model's bounding-box diagonal in the
/// rest pose, over all points of its skinned meshes, at all keyframes, just before each step, midway between them, at
/// further times and around the largest errors, measured on the file as read back. Between these times an error may be
/// larger.
///
/// A file for any clip is compared with the skinning and the corrective samples of the stacks: drivers cannot represent
/// the operations in between.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CorrectionReport {
    /// The kind of correction.
    pub mode: BakeMode,
    /// The tolerance, percent.
    pub tolerance_percent: f64,
    /// Whether the largest error is within the tolerance.
    pub met: bool,
    /// Whether no correction was needed.
    pub nothing_to_do: bool,
    /// Whether correction is needed, but no chosen clip has a keyframe: nothing was measured.
    pub lacks_clip: bool,
    /// The largest error of the best correction that was found, where it was not smaller than without one: the file has
    /// none then.
    pub rejected_percent: Option<f64>,
    /// The clips without a correction, since every one that was found made them worse.
    pub left_out: Vec<String>,
    /// Number of helper joints added.
    pub helper_joints: usize,
    /// The largest number of morph targets added to a mesh.
    pub morph_targets: usize,
    /// The additions to each changed mesh.
    pub meshes: Vec<CorrectedMesh>,
    /// The model's bounding-box diagonal in the rest pose, metres; in the clips where the rest pose has no size.
    pub diagonal: f64,
    /// The rounding of positions far from the origin in players, percent; 0 where it is below all tolerances. No smaller
    /// error is aimed at.
    pub rounding_percent: f64,
    /// The largest error of the same file without correction, as players show it.
    pub before_max_percent: f64,
    /// The largest error found with correction, an estimate from [`Self::moments`]; infinite (null in JSON) where a vertex
    /// has no finite position.
    pub max_percent: f64,
    /// The largest error within the moments in which the file passes from one side of a jump to the other; no
    /// other figure includes it.
    pub jump_max_percent: f64,
    /// The largest error that the solver predicts, at keyframes and between them.
    pub expected_max_percent: f64,
    /// The 99.9th percentile of the error.
    pub p999_percent: f64,
    /// The RMS error.
    pub rms_percent: f64,
    /// Normal error without correction, measured at the same moments as the error with correction. All zero, and omitted
    /// from the JSON, if no normals were measured.
    #[serde(skip_serializing_if = "NormalAngles::is_empty")]
    pub normals_before: NormalAngles,
    /// Normal error with correction.
    #[serde(skip_serializing_if = "NormalAngles::is_empty")]
    pub normals: NormalAngles,
    /// Names the options that would correct normals further, as a sentence; empty if no option would.
    #[serde(skip)]
    pub normals_hint: &'static str,
    /// The location of the largest error.
    pub worst: Option<WorstPlace>,
    /// Number of times at which the error was measured.
    pub moments: usize,
    /// Errors of a file for any clip when its driver block drives the helper joints through poses outside its clips:
    /// each bone rotated up to 110 degrees about each axis, and all at once.
    pub driven: Option<MeasuredErrors>,
    /// Errors of a file for any clip against the complete stacks, if these have bulge corrections or smoothing.
    pub whole_stack: Option<MeasuredErrors>,
    /// Size of the source and the files it references, bytes.
    pub source_bytes: usize,
    /// Size of all exported files, bytes.
    pub bytes: usize,
    /// `bytes` divided by `source_bytes`.
    pub size_ratio: f64,
    /// Duration of the bake, seconds.
    pub bake_seconds: f64,
    /// Duration of the verification, seconds.
    pub check_seconds: f64,
}

/// Angles between the normals that players show and those of the stacks, over the points with several influences,
/// degrees. Parts without normals in the file are excluded.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NormalAngles {
    /// The mean.
    pub mean_degrees: f64,
    /// The 99th percentile.
    pub p99_degrees: f64,
    /// The largest.
    pub max_degrees: f64,
}

impl NormalAngles {
    /// Whether all angles are 0.
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

/// Errors in percent of the model's bounding-box diagonal in the rest pose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MeasuredErrors {
    /// The largest error without correction, if measured.
    pub before_max_percent: Option<f64>,
    /// The largest error.
    pub max_percent: f64,
    /// The 99.9th percentile of the error.
    pub p999_percent: f64,
    /// The RMS error.
    pub rms_percent: f64,
    /// Number of times at which the error was measured.
    pub moments: usize,
}

impl MeasuredErrors {
    /// The errors of a comparison; `before`: the largest error without correction.
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

/// The additions to a mesh.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CorrectedMesh {
    /// The mesh index in the file.
    pub mesh: u32,
    /// Its name.
    pub name: String,
    /// Whether its weights were refitted.
    pub reweighted: bool,
    /// Morph targets added.
    pub morph_targets: usize,
    /// Number of non-zero point displacements, over all targets.
    pub displacements: usize,
    /// Number of rotated normals, over all targets.
    pub turned_normals: usize,
}

/// The location of the largest error.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WorstPlace {
    /// The clip's name.
    pub clip: String,
    /// The time, seconds.
    pub time: f64,
    /// The node that draws the mesh.
    pub node: u32,
    /// The mesh index.
    pub mesh: u32,
    /// The lowest vertex index of the point, counted over all primitives.
    pub vertex: u32,
    /// The clip in the document.
    #[serde(skip)]
    pub clip_id: Option<ClipId>,
    /// The point of the document's mesh.
    #[serde(skip)]
    pub point: u32,
}

impl WorstPlace {
    fn of(document: &Document, worst: &InstanceErrors) -> Self {
        let item = document.meshes().get(&worst.mesh);
        let vertices = item.map(|item| &item.geometry.point_of_vertex[..]);
        let mut vertices = vertices.unwrap_or_default().iter();
        let clip = document.clips().get(&worst.clip);
        Self {
            clip: clip.map_or_else(String::new, |clip| clip.name.clone()),
            time: worst.time,
            node: worst.instance.0,
            mesh: worst.mesh.0,
            vertex: vertices.position(|&p| p == worst.point).unwrap_or(0) as u32,
            clip_id: Some(worst.clip),
            point: worst.point,
        }
    }

    /// The place in a sentence.
    fn in_brackets(&self) -> String {
        format!(
            " (clip \"{}\" at {:.3} s, vertex {})",
            self.clip, self.time, self.vertex
        )
    }
}

/// The message of a corrected file without clips.
pub(super) const LACKS_CLIP: &str = "There is no clip to correct: linear blend skinning deforms the model. Make a clip, or \
                                     choose other clips, or make the file retargetable.";

impl CorrectionReport {
    /// The report of a file with the comparison `after`, and `before` without correction.
    ///
    /// `needs_correction`: whether players would show any mesh differently from its stack.
    pub(super) fn new(
        document: &Document,
        options: &BakeOptions,
        baked: Option<&Baked>,
        before: &Comparison,
        after: &Comparison,
        needs_correction: bool,
    ) -> Self {
        // Without a measured time, the tolerance counts as missed.
        let lacks_clip =
            after.n_moments == 0 && options.mode != BakeMode::Retarget && needs_correction;
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
        let worst = after.worst.as_ref();
        let worst = worst.map(|worst| WorstPlace::of(document, worst));
        let morph_targets = meshes.iter().map(|m| m.morph_targets).max().unwrap_or(0);
        Self {
            mode: options.mode,
            tolerance_percent: 100.0 * options.tolerance,
            met: after.max <= options.tolerance && !lacks_clip,
            lacks_clip,
            nothing_to_do: baked.is_none() && !lacks_clip,
            helper_joints: baked_or_none.joints.len(),
            morph_targets,
            meshes,
            diagonal: after.diagonal,
            rounding_percent: 100.0 * after.rounding,
            before_max_percent: 100.0 * before.max,
            max_percent: 100.0 * after.max,
            jump_max_percent: 100.0 * after.max_in_jumps,
            expected_max_percent: 100.0 * baked_or_none.expected,
            p999_percent: 100.0 * after.p999,
            rms_percent: 100.0 * after.rms,
            normals_before: before.normals.into(),
            normals: after.normals.into(),
            normals_hint: normals_hint(options, morph_targets),
            worst,
            moments: after.n_moments,
            ..Self::default()
        }
    }

    /// Adds the errors of driven helper joints.
    pub(super) fn add_driven(&mut self, driven: MeasuredErrors) {
        self.met &= driven.max_percent <= self.tolerance_percent;
        self.driven = Some(driven);
    }

    /// Makes it the report of a file without correction, since `rejected` is not better.
    pub(super) fn reject(&mut self, rejected: &Self) {
        self.rejected_percent = Some(rejected.max_percent);
        (self.bake_seconds, self.check_seconds) = (rejected.bake_seconds, rejected.check_seconds);
        if let Some(driven) = &rejected.driven {
            let before = driven.before_max_percent.unwrap_or(f64::INFINITY);
            self.met &= before <= self.tolerance_percent;
            self.rejected_percent = Some(rejected.max_percent.worse(driven.max_percent));
        }
    }

    /// Whether it moves vertices but changes no normals, as displacements alone do.
    fn leaves_normals(&self) -> bool {
        let changes = |mesh: &CorrectedMesh| mesh.reweighted || mesh.turned_normals > 0;
        !self.meshes.is_empty() && !self.meshes.iter().any(changes)
    }

    /// The result as one line.
    pub fn summary(&self) -> String {
        if self.lacks_clip {
            return LACKS_CLIP.into();
        }
        let largest = if self.max_percent.is_finite() {
            let moments = counted(self.moments, "moment");
            let found = self.max_percent;
            format!("found {found:.4} % of the diagonal, an estimate from {moments}")
        } else {
            "unknown".into()
        };
        let mut errors = format!(
            "largest error {largest} (99.9th percentile {:.4} %, RMS {:.4} %; without correction {:.3} %)",
            self.p999_percent, self.rms_percent, self.before_max_percent
        );
        if !self.normals_before.is_empty() {
            let (before, after) = (&self.normals_before, &self.normals);
            errors = format!(
                "{errors}, normal error {:.2} degrees at the 99th percentile (without correction {:.2})",
                after.p99_degrees, before.p99_degrees
            );
        }
        if self.nothing_to_do {
            return format!("No correction is needed: {errors}.");
        }
        if let Some(rejected) = self.rejected_percent {
            let rejected = if rejected.is_finite() {
                format!("found {rejected:.4} %")
            } else {
                "unknown".into()
            };
            return format!(
                "The file has no correction, as the one that was found is not better (largest error {rejected}): {errors}."
            );
        }
        let Some(driven) = &self.driven else {
            return format!(
                "{} helper joints, {} morph targets: {errors}; {:.3} times the size of the source.",
                self.helper_joints, self.morph_targets, self.size_ratio
            );
        };
        let in_clips = if self.moments > 0 {
            format!("in the clips {errors}; ")
        } else {
            String::new()
        };
        format!(
            "{} helper joints for any clip: {in_clips}driven through {} poses outside the clips, largest error found {:.4} % (99.9th \
             percentile {:.4} %, RMS {:.4} %; without correction {:.3} %); {:.3} times the size of the source.",
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

/// Inserts the result of the correction before all other findings; a missed tolerance comes first. The error within jumps
/// comes last.
pub(super) fn add_correction_findings(findings: &mut Vec<Finding>, correction: &CorrectionReport) {
    if correction.jump_max_percent > correction.tolerance_percent {
        let message = format!(
            "Where a clip jumps, the jump takes up to {} ms in the file. During jumps, and between keyframes less \
             than 2.6 ms apart, the error reaches {:.4} % of the diagonal; no other figure includes it.",
            correction.mode.jump_ms(),
            correction.jump_max_percent
        );
        findings.push(Finding::info("correction", message));
    }
    if let Some(whole) = &correction.whole_stack {
        let message = format!(
            "Helper joints reproduce the skinning; later operations of the stack (bulges, smoothing) are not in the file. \
                 Compared with the complete stack, the largest error found is {:.4} % of the diagonal.",
            whole.max_percent
        );
        findings.insert(0, Finding::info("correction", message));
    }
    let clips_only = correction.mode == BakeMode::Clips;
    let many = correction
        .meshes
        .iter()
        .filter(|mesh| clips_only && mesh.morph_targets > COMMON_TARGETS);
    for mesh in many {
        let message = format!(
            "It gets {} morph targets; some players show only {COMMON_TARGETS}. Limit them with Morph targets \
             (`--max-morphs {COMMON_TARGETS}`), for a larger file or error.",
            mesh.morph_targets
        );
        let place = format!("mesh {} \"{}\"", mesh.mesh, mesh.name);
        findings.push(Finding::info(place, message).at(Place::Mesh(mesh.mesh)));
    }
    if !correction.nothing_to_do {
        let normals = [&correction.normals_before, &correction.normals].map(|n| n.p99_degrees);
        let is_unchanged = correction.leaves_normals();
        findings.extend(normals_finding(
            normals,
            is_unchanged,
            correction.normals_hint,
        ));
    }
    let most = correction.tolerance_percent;
    let tolerance = trimmed(most);
    if let Some(driven) = &correction.driven
        && driven.max_percent > most
    {
        let message = format!(
            "The tolerance of {tolerance} % is missed in poses outside the clips, with each bone rotated up to 110 \
                 degrees: the largest error found is {:.4} % of the diagonal, compared with {:.3} % without correction.",
            driven.max_percent,
            driven.before_max_percent.unwrap_or(0.0)
        );
        findings.insert(0, Finding::warning("correction", message));
    }
    if correction.lacks_clip {
        findings.insert(0, Finding::warning("correction", LACKS_CLIP));
    }
    if correction.rounding_percent > most {
        let message = format!(
            "The model is so far from the origin of the scene that players round positions by up to {:.3} % of its \
             diagonal. The correction aims at that instead of {tolerance} %.",
            correction.rounding_percent
        );
        findings.insert(0, Finding::warning("correction", message));
    }
    if let Some(rejected) = correction.rejected_percent {
        let message = if rejected.is_finite() {
            format!(
                "The file has no correction: the largest error found with the best one is {rejected:.4} % of the diagonal, \
                 which is not smaller than without one."
            )
        } else {
            "The file has no correction, because the largest error with the best one is unknown."
                .into()
        };
        findings.insert(0, Finding::warning("correction", message));
    }
    if correction.max_percent.is_infinite() {
        let message = format!(
            "The tolerance of {tolerance} % is missed: some vertices have no finite position, or the file has invalid \
             weights, so that the largest error is unknown."
        );
        findings.insert(0, Finding::warning("correction", message));
    } else if correction.max_percent > most {
        let at = correction.worst.as_ref();
        let at = at.map_or_else(String::new, WorstPlace::in_brackets);
        let message = format!(
            "The tolerance of {tolerance} % is missed: the largest error found is {:.4} % of the diagonal{at}.",
            correction.max_percent
        );
        findings.insert(0, Finding::warning("correction", message));
    }
}

/// The finding about the clips `names` of a corrected file, which have no correction.
pub(super) fn left_out_finding(names: &[String]) -> Option<Finding> {
    let (first, rest) = names.split_first()?;
    let who = match rest.len() {
        0 => format!("Clip \"{first}\" has"),
        n => format!("Clip \"{first}\" and {} have", counted(n, "more clip")),
    };
    let message = format!(
        "{who} no correction: the one that was found has an error that is not smaller than without it."
    );
    Some(Finding::warning("correction", message))
}

/// The error of a file without correction in which `n` bones no longer compensate for the scale of their parents; `None`
/// where it is rounding.
pub(super) fn scale_finding(document: &Document, n: usize, found: &Comparison) -> Option<Finding> {
    if found.max < ROUNDING {
        return None;
    }
    let who = match n {
        1 => "1 bone compensates".to_owned(),
        n => format!("{n} bones compensate"),
    };
    let worst = found.worst.as_ref();
    let at = worst.map_or_else(String::new, |worst| {
        WorstPlace::of(document, worst).in_brackets()
    });
    let message = format!(
        "{who} for the scale of the parent bone, which glTF cannot store. Players show the clips with an error of up to \
         {:.3} % of the diagonal{at}; a correction (`--correct clips`) writes what you see.",
        100.0 * found.max
    );
    Some(Finding::warning("joints", message))
}

/// Adds a finding for each clip in which the skinning itself is discontinuous.
pub(super) fn add_jump_findings(findings: &mut Vec<Finding>, document: &Document, jumps: &[Jump]) {
    for of_clip in jumps.chunk_by(|a, b| a.clip == b.clip) {
        let [first, rest @ ..] = of_clip else {
            continue;
        };
        let clip = document.clips().get(&first.clip);
        let name = clip.map_or("", |clip| clip.name.as_str());
        let label = |joint| document.skeleton().label(joint);
        let more = match rest.len() {
            0 => String::new(),
            1 => " It jumps once more.".to_owned(),
            n => format!(" It jumps {n} more times."),
        };
        let (joint, other) = (label(first.joints.0), label(first.joints.1));
        let why = match first.cause {
            JumpCause::Antipodal => format!(
                "{joint} and {other} rotate by 180 degrees relative to each other there, and dual quaternions switch to the \
                 other direction."
            ),
            JumpCause::Flat => format!(
                "{joint} is flat there, as a scale passes through 0, and its rotation relative to {other} jumps."
            ),
        };
        let message = format!(
            "The skin jumps at {:.3} s: {why} The file reproduces the jump within {} ms.{more}",
            first.time,
            BakeMode::Clips.jump_ms()
        );
        findings.push(Finding::warning(format!("clip \"{name}\""), message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_error_is_said_to_be_an_estimate() {
        let mut report = CorrectionReport {
            max_percent: 0.0997,
            moments: 398,
            ..CorrectionReport::default()
        };
        let said = "largest error found 0.0997 % of the diagonal, an estimate from 398 moments (";
        assert!(report.summary().contains(said), "{}", report.summary());
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["moments"], 398);
        report.driven = Some(MeasuredErrors {
            max_percent: 0.2,
            ..MeasuredErrors::default()
        });
        let said = "poses outside the clips, largest error found 0.2000 %";
        assert!(report.summary().contains(said), "{}", report.summary());
    }

    #[test]
    fn displacements_alone_leave_normals() {
        let mut report = CorrectionReport::default();
        let mesh = |reweighted: bool, turned_normals: usize| CorrectedMesh {
            reweighted,
            turned_normals,
            ..CorrectedMesh::default()
        };
        for (mesh, leaves) in [
            (mesh(false, 0), true),
            (mesh(true, 0), false),
            (mesh(false, 9), false),
        ] {
            report.meshes = vec![mesh];
            assert_eq!(report.leaves_normals(), leaves);
        }
    }
}
