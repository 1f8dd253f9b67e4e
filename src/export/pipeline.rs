//! The export pipeline: plan, bake, write, read back once, verify, report.

use super::error::ExportError;
use super::frames::{add_frame_findings, corrected_meshes, n_targets, skinning_finding};
use super::improvement::Improvement;
use super::left_out;
use super::options::{ExportOptions, Exported};
use super::plan::Plan;
use super::preflight::{n_compensating, needs_correction};
use super::read_back::{document_of, drawn_in, read_parts};
use super::refusals::{refuse_cut_short, refuse_outside};
use super::report::{CorrectionReport, add_correction_findings, add_jump_findings, scale_finding};
use super::suited::{of_lacking_joints, suited};
use super::verify::{ReadFile, Verified, verify_frames, verify_skin};
use crate::bake::compare::compare_uncorrected;
use crate::bake::frames::{MissedTimes, frames};
use crate::bake::{BakeMode, BakeOptions, Baked, bake, sample_targets};
use crate::document::{ClipId, Document};
use crate::finding::Finding;
use crate::io::gltf_export::{
    BakedUse, Changes, Destination, Framed, Written, copy_source, for_file, size_of_source,
    write_frames, write_model,
};
use crate::math::Worse;
use crate::task::Task;
use std::time::Instant;

/// A file whose largest error exceeds the tolerance by up to this factor is baked again, if the solver itself came
/// within the second factor of the tolerance at the times that it samples.
const MAX_EXCESS: f64 = 1.5;
const MAX_SOLVER_EXCESS: f64 = 1.1;

/// The next tolerance as a fraction of the one that would do if errors were proportional to it.
const TIGHTER: f64 = 0.95;
/// Maximum number of bakes of a file.
const MAX_BAKES: usize = 3;

/// An export, and the file as read back for verification.
pub(super) struct Made {
    pub(super) exported: Exported,
    pub(super) read: Option<Document>,
}

impl Made {
    /// The seconds of the bake and of the verification.
    fn seconds(&self) -> (f64, f64) {
        let correction = self.exported.correction.as_ref();
        correction.map_or((0.0, 0.0), |c| (c.bake_seconds, c.check_seconds))
    }

    /// Whether its largest error is smaller.
    fn is_nearer_than(&self, other: &Self) -> bool {
        let largest = |made: &Self| Some(made.exported.correction.as_ref()?.max_percent);
        let pair = largest(self).zip(largest(other));
        pair.is_some_and(|(own, other)| own < other)
    }

    /// Adds those of an earlier attempt.
    fn add_seconds(&mut self, (bake, check): (f64, f64)) {
        if let Some(correction) = &mut self.exported.correction {
            correction.bake_seconds += bake;
            correction.check_seconds += check;
        }
    }
}

/// Exports the document's model to memory: the model and every file it needs beside it.
pub fn export(
    document: &Document,
    options: &ExportOptions,
    task: &Task,
) -> Result<Exported, ExportError> {
    Ok(make(document, options, &|_| true, task)?.exported)
}

/// [`export`], with new files beside the model only under names for which `is_free` is true.
pub(super) fn make(
    document: &Document,
    options: &ExportOptions,
    is_free: &dyn Fn(&str) -> bool,
    task: &Task,
) -> Result<Made, ExportError> {
    let mut made = make_files(document, options, is_free, task)?;
    let findings = &mut made.exported.report.findings;
    findings.extend(left_out::of_correction(document, options));
    let correct = options.correct.as_ref();
    findings.extend(correct.and_then(|correct| of_lacking_joints(document, correct)));
    Ok(made)
}

fn make_files(
    document: &Document,
    options: &ExportOptions,
    is_free: &dyn Fn(&str) -> bool,
    task: &Task,
) -> Result<Made, ExportError> {
    task.step("Preparing the export", 0.0)?;
    let document = &*for_file(document);
    let plan = Plan::new(document, options, task)?;
    refuse_outside(document, options)?;
    refuse_cut_short(document)?;
    let destination = Destination::new(document, options.format, &options.name, is_free)
        .including_outside(options.include_outside)
        .compressed(options.meshopt);
    match &options.correct {
        None => {
            let targets = options.sample_targets;
            let targets = targets.then(|| sample_targets(document, &plan.clips.clips));
            let (targets, as_targets) = (targets.flatten(), BakeOptions::default());
            let with = targets.as_ref().map(|targets| (targets, &as_targets));
            let mut written = write(document, &plan, with, &destination, task)?;
            let (read, scale) = compensated_scale(document, &plan, &written, task)?;
            written.report.findings.extend(scale);
            plan.clips.add_findings(&mut written.report);
            let exported = Exported::uncorrected(written);
            Ok(Made { exported, read })
        }
        Some(correct) if correct.mode == BakeMode::Frames => {
            framed(document, &plan, correct, &destination, task)
        }
        Some(correct) => {
            let correct = suited(document, correct);
            skinned(document, &plan, &correct, &destination, task)
        }
    }
}

/// The file without correction, as written and as read again.
type Plain = (Written, ReadFile);

/// A corrected file with its errors and those without correction; `None` where no point needs correction.
type Attempt = (Made, Option<Improvement>);

/// A file with helper joints and morph targets. Where it nearly meets the tolerance, as with a larger error between the
/// times that the solver samples, it is baked again for a smaller tolerance, up to twice. Where it is not better than without
/// correction, it is baked once more for the clips in which it is, and has no correction if that is not better either.
fn skinned(
    document: &Document,
    plan: &Plan<'_>,
    correct: &BakeOptions,
    destination: &Destination<'_>,
    task: &Task,
) -> Result<Made, ExportError> {
    let mut plain = None;
    let within = |options: &BakeOptions| {
        let options = (correct, options);
        skinned_within(document, plan, options, destination, &mut plain, task)
    };
    let Found {
        mut made,
        is_better,
        left_out,
    } = best(correct, within)?;
    if !left_out.is_empty() {
        let names = left_out.iter().filter_map(|id| document.clips().get(id));
        made.exported
            .leave_out(names.map(|clip| clip.name.clone()).collect());
    }
    match plain.filter(|_| !is_better) {
        Some(plain) => without_correction(document, correct, plain, &made, task),
        None => Ok(made),
    }
}

/// The best of some corrections.
struct Found {
    made: Made,
    /// Whether it is better than none, or none is needed.
    is_better: bool,
    /// The clips that it does not correct.
    left_out: Vec<ClipId>,
}

/// The best correction. `within`: a correction for some options.
fn best(
    correct: &BakeOptions,
    mut within: impl FnMut(&BakeOptions) -> Result<Attempt, ExportError>,
) -> Result<Found, ExportError> {
    let (mut made, improvement) = nearly_met(correct, &mut within)?;
    let improvement = improvement.filter(|found| !found.is_one());
    let Some((worse, better)) = improvement.map(|found| (found.worse(), found.better())) else {
        return Ok(Found {
            made,
            is_better: true,
            left_out: Vec::new(),
        });
    };
    if correct.mode == BakeMode::Clips && !worse.is_empty() && !better.is_empty() {
        let of_better = BakeOptions {
            clips: better,
            ..correct.clone()
        };
        let (mut second, improvement) = within(&of_better)?;
        if improvement.is_some_and(|found| found.is_one_without(&worse)) {
            second.add_seconds(made.seconds());
            return Ok(Found {
                made: second,
                is_better: true,
                left_out: worse,
            });
        }
        made.add_seconds(second.seconds());
    }
    Ok(Found {
        made,
        is_better: false,
        left_out: Vec::new(),
    })
}

/// [`skinned`] without a comparison with the file without correction.
fn nearly_met(
    correct: &BakeOptions,
    within: &mut impl FnMut(&BakeOptions) -> Result<Attempt, ExportError>,
) -> Result<Attempt, ExportError> {
    let mut best = within(correct)?;
    let mut excess = excess_of(&best.0);
    let mut tolerance = correct.tolerance;
    for _ in 1..MAX_BAKES {
        let Some(of_latest) = excess.filter(|_| correct.mode == BakeMode::Clips) else {
            break;
        };
        tolerance *= TIGHTER / of_latest;
        let tighter = BakeOptions {
            tolerance,
            ..correct.clone()
        };
        let mut latest = within(&tighter)?;
        excess = excess_of(&latest.0);
        if latest.0.is_nearer_than(&best.0) {
            std::mem::swap(&mut best, &mut latest);
        }
        best.0.add_seconds(latest.0.seconds());
    }
    Ok(best)
}

/// [`near_miss`] of a corrected file.
fn excess_of(made: &Made) -> Option<f64> {
    made.exported.correction.as_ref().and_then(near_miss)
}

/// The factor by which a file exceeds the tolerance, if another bake can be expected to meet it.
fn near_miss(found: &CorrectionReport) -> Option<f64> {
    let excess = found.max_percent / found.tolerance_percent;
    let of_solver = found.expected_max_percent / found.tolerance_percent;
    let is_near = (1.0..=MAX_EXCESS).contains(&excess) && of_solver <= MAX_SOLVER_EXCESS;
    let is_rounding = found.rounding_percent > found.tolerance_percent;
    (is_near && !found.met && !is_rounding).then_some(excess)
}

/// [`skinned`], baked once with the second options and measured against the first. `plain`: the file without correction,
/// written if it is needed.
fn skinned_within(
    document: &Document,
    plan: &Plan<'_>,
    (correct, tighter): (&BakeOptions, &BakeOptions),
    destination: &Destination<'_>,
    plain: &mut Option<Plain>,
    task: &Task,
) -> Result<Attempt, ExportError> {
    let start = Instant::now();
    let baked = bake(document, &plan.clips.clips, tighter, task)?;
    let bake_seconds = start.elapsed().as_secs_f64();
    let with = baked.as_ref().map(|baked| (baked, correct));
    let mut written = write(document, plan, with, destination, task)?;
    plan.clips.add_findings(&mut written.report);
    let start = Instant::now();
    let file = ReadFile::of(document, &written, &plan.clips.clips, task)?;
    if baked.is_some() && plain.is_none() {
        *plain = Some(plain_file(document, plan, destination, task)?);
    }
    let plain = plain.as_ref().filter(|_| baked.is_some());
    let plain = plain.map(|(_, file)| file);
    let verified = verify_skin(document, correct, &file, plain, task)?;
    let mut correction = report(document, correct, baked.as_ref(), &verified);
    correction.check_seconds = start.elapsed().as_secs_f64();
    correction.bake_seconds = bake_seconds;
    let findings = &mut written.report.findings;
    let jumps = baked.as_ref().map_or(&[][..], |baked| &baked.jumps);
    add_jump_findings(findings, document, jumps);
    let improvement = plain.map(|_| Improvement::of(&verified, correct.tolerance));
    let made = finish(document, written, correction, file.document);
    Ok((made, improvement))
}

/// The file without correction, in place of a corrected one that is not better.
fn without_correction(
    document: &Document,
    correct: &BakeOptions,
    (written, file): Plain,
    corrected: &Made,
    task: &Task,
) -> Result<Made, ExportError> {
    let start = Instant::now();
    let verified = verify_skin(document, correct, &file, None, task)?;
    let mut correction = report(document, correct, None, &verified);
    correction.nothing_to_do = false;
    if let Some(rejected) = &corrected.exported.correction {
        correction.reject(rejected);
    }
    correction.check_seconds += start.elapsed().as_secs_f64();
    Ok(finish(document, written, correction, file.document))
}

/// A file of morph frames. Where it misses the tolerance between the times at which shapes were sampled, they are sampled
/// there too and frames are found again, as long as that makes the error smaller.
fn framed(
    document: &Document,
    plan: &Plan<'_>,
    correct: &BakeOptions,
    destination: &Destination<'_>,
    task: &Task,
) -> Result<Made, ExportError> {
    let mut plain = None;
    let mut within = |missed: &MissedTimes| {
        framed_once(
            document,
            plan,
            (correct, missed),
            destination,
            &mut plain,
            task,
        )
    };
    let mut missed = MissedTimes::new();
    let (mut best, mut more) = within(&missed)?;
    for _ in 1..MAX_BAKES {
        if more.is_empty() {
            break;
        }
        for (clip, times) in more {
            missed.entry(clip).or_default().extend(times);
        }
        let mut latest = match within(&missed) {
            // More shapes than fit into memory.
            Err(ExportError::Frames(_)) => break,
            latest => latest?,
        };
        let is_nearer = latest.0.is_nearer_than(&best);
        if is_nearer {
            std::mem::swap(&mut best, &mut latest.0);
        }
        best.add_seconds(latest.0.seconds());
        if !is_nearer {
            break;
        }
        more = latest.1;
    }
    Ok(best)
}

/// [`framed`], with frames found once, and the times at which it misses the tolerance. `plain`: the file without correction,
/// written if it is missing.
fn framed_once(
    document: &Document,
    plan: &Plan<'_>,
    (correct, missed): (&BakeOptions, &MissedTimes),
    destination: &Destination<'_>,
    plain: &mut Option<Plain>,
    task: &Task,
) -> Result<(Made, MissedTimes), ExportError> {
    let clips = &plan.clips.clips;
    let start = Instant::now();
    let framed: Framed = frames(document, clips, correct.tolerance, missed, task)?;
    let bake_seconds = start.elapsed().as_secs_f64();
    let mut frames = write_frames(document, clips, &framed, correct, destination, task)?;
    plan.clips.add_findings(&mut frames.written.report);
    let start = Instant::now();
    let drawn = drawn_in(document, &frames.written.report);
    let read = document_of(read_parts(&frames.written.files, &drawn, task)?)?;
    let (_, plain) = match plain {
        Some(plain) => plain,
        None => plain.insert(plain_file(document, plan, destination, task)?),
    };
    let (verified, missed) = verify_frames(document, &frames, &read, plain, correct, task)?;
    let mut correction = report(document, correct, None, &verified);
    correction.nothing_to_do = false;
    let off = framed.values().map(|framed| framed.off);
    correction.expected_max_percent = 100.0 * off.fold(0.0, f64::worse);
    correction.meshes = corrected_meshes(document, &framed, correct.normals);
    correction.morph_targets = n_targets(&framed);
    correction.bake_seconds = bake_seconds;
    correction.check_seconds = start.elapsed().as_secs_f64();
    let mut findings = std::mem::take(&mut frames.written.report.findings);
    add_frame_findings(&mut findings, plan, &framed, &frames);
    let improvement = Improvement::of(&verified, correct.tolerance);
    findings.extend(skinning_finding(document, &improvement));
    frames.written.report.findings = findings;
    let made = finish(document, frames.written, correction, read);
    Ok((made, missed))
}

/// The file of the same clips without correction, and as read again: what players show without one.
fn plain_file(
    document: &Document,
    plan: &Plan<'_>,
    destination: &Destination<'_>,
    task: &Task,
) -> Result<Plain, ExportError> {
    let mut written = write(document, plan, None, destination, task)?;
    plan.clips.add_findings(&mut written.report);
    let file = ReadFile::of(document, &written, &plan.clips.clips, task)?;
    Ok((written, file))
}

/// What players make of a file without correction whose bones compensate for the scale of their parents: the largest
/// error in its clips, and the file read again.
fn compensated_scale(
    document: &Document,
    plan: &Plan<'_>,
    written: &Written,
    task: &Task,
) -> Result<(Option<Document>, Option<Finding>), ExportError> {
    let n = n_compensating(document);
    if n == 0 || plan.clips.clips.is_empty() {
        return Ok((None, None));
    }
    let file = ReadFile::of(document, written, &plan.clips.clips, task)?;
    let found = compare_uncorrected(document, file.shown(), task)?;
    Ok((Some(file.document), scale_finding(document, n, &found)))
}

/// Writes the model, or copies the source if nothing changed.
fn write(
    document: &Document,
    plan: &Plan<'_>,
    baked: Option<(&Baked, &BakeOptions)>,
    destination: &Destination<'_>,
    task: &Task,
) -> Result<Written, ExportError> {
    let clips = baked.map_or(&plan.clips.clips, |(baked, _)| &baked.clips);
    let is_changed = baked.is_some() || plan.changes(document);
    let source = document.source();
    if !is_changed && source.is_some_and(|source| destination.can_copy(source)) {
        return Ok(copy_source(document, clips, destination)?);
    }
    let changes = Changes {
        clips,
        baked,
        baked_use: match plan.options.correct {
            Some(_) => BakedUse::Correction,
            None => BakedUse::SampleTargets,
        },
        influences: plan.options.influences,
        write_pose_as_rest: plan.options.write_pose_as_rest,
        node_constraints: plan.options.node_constraints,
        repair: plan.repairs(document),
    };
    Ok(write_model(document, &changes, destination, task)?)
}

fn report(
    document: &Document,
    correct: &BakeOptions,
    baked: Option<&Baked>,
    verified: &Verified,
) -> CorrectionReport {
    let (before, after) = (&verified.before, &verified.after);
    let needs = needs_correction(document);
    let mut report = CorrectionReport::new(document, correct, baked, before, after, needs);
    if let Some(driven) = verified.driven {
        report.add_driven(driven);
    }
    report.whole_stack = verified.whole_stack;
    report
}

/// Adds the sizes of the files and the findings of the correction.
fn finish(
    document: &Document,
    written: Written,
    mut correction: CorrectionReport,
    read: Document,
) -> Made {
    let Written { files, mut report } = written;
    correction.bytes = files.iter().map(|(_, bytes)| bytes.len()).sum();
    correction.source_bytes = document.source().map_or(0, |source| size_of_source(source));
    correction.size_ratio = correction.bytes as f64 / correction.source_bytes.max(1) as f64;
    add_correction_findings(&mut report.findings, &correction);
    let exported = Exported {
        files,
        report,
        correction: Some(correction),
    };
    Made {
        exported,
        read: Some(read),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::gltf_export::ExportReport;

    #[test]
    fn only_near_misses_are_baked_again() {
        let report = |max_percent: f64, expected_max_percent: f64| CorrectionReport {
            tolerance_percent: 0.1,
            met: max_percent <= 0.1,
            max_percent,
            expected_max_percent,
            ..CorrectionReport::default()
        };
        let near = near_miss(&report(0.12, 0.101));
        assert!(near.is_some_and(|excess| (excess - 1.2).abs() < 1e-9));
        for (max, expected) in [(0.09, 0.09), (0.2, 0.09), (0.12, 0.12)] {
            assert_eq!(near_miss(&report(max, expected)), None);
        }
        for unknown in [f64::NAN, f64::INFINITY] {
            assert_eq!(near_miss(&report(unknown, 0.09)), None);
            assert_eq!(near_miss(&report(0.12, unknown)), None);
        }
    }

    /// An attempt whose errors before and after are these, by clip.
    fn attempt(clips: &[(f64, f64)]) -> Attempt {
        let exported = Exported {
            files: Vec::new(),
            report: ExportReport::default(),
            correction: Some(CorrectionReport {
                tolerance_percent: 0.1,
                bake_seconds: 1.0,
                ..CorrectionReport::default()
            }),
        };
        let made = Made {
            exported,
            read: None,
        };
        (made, Some(Improvement::of_clips(0.001, clips)))
    }

    /// The best of some attempts, and the clips of each.
    fn best_of(attempts: &[&[(f64, f64)]]) -> (Found, Vec<Vec<ClipId>>) {
        let mut asked = Vec::new();
        let within = |options: &BakeOptions| {
            asked.push(options.clips.clone());
            Ok(attempt(attempts[asked.len() - 1]))
        };
        let found = best(&BakeOptions::default(), within).unwrap();
        (found, asked)
    }

    #[test]
    fn near_misses_are_baked_for_ever_smaller_tolerances() {
        let bakes = |errors: &[f64]| {
            let mut tolerances = Vec::new();
            let mut within = |options: &BakeOptions| {
                tolerances.push(options.tolerance);
                let mut attempt = attempt(&[]);
                if let Some(correction) = &mut attempt.0.exported.correction {
                    correction.max_percent = errors[tolerances.len() - 1];
                    correction.met = correction.max_percent <= 0.1;
                }
                Ok(attempt)
            };
            let found = nearly_met(&BakeOptions::default(), &mut within).unwrap();
            let correction = found.0.exported.correction.unwrap();
            (correction.max_percent, tolerances, correction.bake_seconds)
        };
        let (max, tolerances, seconds) = bakes(&[0.12, 0.101, 0.099]);
        assert_eq!((max, tolerances.len(), seconds), (0.099, 3, 3.0));
        assert!(tolerances.is_sorted_by(|a, b| a > b));
        // The best one is kept, and the last try is the last.
        let (max, tolerances, seconds) = bakes(&[0.104, 0.102, 0.103, 0.09]);
        assert_eq!((max, tolerances.len(), seconds), (0.102, 3, 3.0));
        assert_eq!(bakes(&[0.104, 0.2, 0.09]).1.len(), 2);
        assert_eq!(bakes(&[0.1]).1.len(), 1);
    }

    #[test]
    fn a_correction_that_makes_a_clip_worse_leaves_it_out_or_is_none() {
        let (found, asked) = best_of(&[&[(0.05, 0.0005), (0.04, 0.02)]]);
        assert!(found.is_better && found.left_out.is_empty());
        assert_eq!(asked.len(), 1);
        let worse: &[(f64, f64)] = &[(0.05, 0.0005), (0.003, 0.07)];
        let (found, asked) = best_of(&[worse, &[(0.05, 0.0005), (0.003, 0.003)]]);
        assert!(found.is_better);
        assert_eq!(found.left_out, [ClipId(1)]);
        assert_eq!(asked[1..], [vec![ClipId(0)]]);
        assert_eq!(found.made.seconds().0, 2.0);
        let (found, _) = best_of(&[worse, worse]);
        assert!(!found.is_better && found.left_out.is_empty());
        let (found, asked) = best_of(&[&[(0.003, 0.07)]]);
        assert_eq!((found.is_better, asked.len()), (false, 1));
    }
}
