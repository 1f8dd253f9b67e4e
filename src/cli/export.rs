//! `sinew export`: a glTF file with the changes of a project.

use super::args::{CorrectArg, ExportArgs, PresetArg};
use super::{Failure, load, scene};
use crate::bake::static_shapes::StaticPose;
use crate::bake::{BakeMode, BakeOptions};
use crate::document::Document;
use crate::export::{ExportOptions, ExportPreset, GltfFormat, export_to_file};
use crate::export::{export_static_mesh_to_file, preflight};
use crate::finding::{Finding, Severity, counted};
use crate::io::is_obj;
use crate::task::Task;
use std::io::Write;
use std::process::ExitCode;

pub(crate) fn run(args: &ExportArgs, out: &mut dyn Write) -> Result<ExitCode, Failure> {
    if args.still {
        return static_mesh(args, out);
    }
    if is_obj(&args.out) {
        return Err(Failure::Usage(
            "An .obj file holds one frame: add --still, and --clip and --time to choose a frame of a clip."
                .into(),
        ));
    }
    let Some(format) = GltfFormat::of_path(&args.out) else {
        return Err(Failure::Usage(format!(
            "--out {} must end in .glb or .gltf.",
            args.out.display()
        )));
    };
    check_use(args)?;
    let mut loaded = load::load(&args.file)?;
    let body = args.body.apply(&mut loaded.document)?;
    scene::apply_stack(&mut loaded.document, &args.stack)?;
    let mut options = ExportOptions {
        format,
        write_pose_as_rest: args.write_pose_as_rest,
        fix_weights: args.fix_weights,
        include_outside: args.include_outside,
        meshopt: args.meshopt,
        sample_targets: args.sample_targets,
        node_constraints: args.node_constraints,
        correct: correction(args, &loaded.document)?,
        ..ExportOptions::default()
    };
    if let Some(preset) = args.preset {
        preset_of(preset).apply(&mut options);
    }
    over_preset(args, &mut options);
    // Damage that was found on opening the model: the file has what is left.
    let damage = loaded.findings.iter();
    for finding in damage.filter(|f| f.severity == Severity::Error) {
        writeln!(out, "{finding}")?;
    }
    for finding in &body.warnings {
        writeln!(out, "{finding}")?;
    }
    // What the export itself refuses, it says itself.
    let checks = preflight(&loaded.document, &options);
    for finding in checks.iter().filter(|f| f.severity != Severity::Error) {
        writeln!(out, "{finding}")?;
    }
    let outputs = &mut loaded.outputs;
    let claimed = args.report.as_ref().map(|path| outputs.claim(path));
    let report_to = claimed.transpose().map_err(Failure::input)?;
    let exported = export_to_file(&loaded.document, &args.out, &options, outputs, &Task::new())
        .map_err(Failure::input)?;
    let report = &exported.report;
    let is_said = |finding: &&Finding| checks.iter().any(|check| check.message == finding.message);
    for finding in report.findings.iter().filter(|finding| !is_said(finding)) {
        writeln!(out, "{finding}")?;
    }
    writeln!(
        out,
        "{}: {}",
        args.out.display(),
        if report.verbatim && report.is_converted {
            "the source converted to glTF, nothing was edited".to_owned()
        } else if report.verbatim {
            "a copy of the source, nothing was edited".to_owned()
        } else {
            format!(
                "{} and {} rewritten, {} of buffer data added",
                counted(report.n_primitives_rewritten, "primitive"),
                counted(report.n_clips_written, "clip"),
                counted(report.n_bytes_added, "byte")
            )
        }
    )?;
    if let Some(correction) = &exported.correction {
        writeln!(out, "{}", correction.summary())?;
        if let Some(report_to) = report_to {
            let text = serde_json::to_string_pretty(correction).map_err(Failure::input)?;
            report_to.write(text.as_bytes()).map_err(Failure::input)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn preset_of(arg: PresetArg) -> ExportPreset {
    match arg {
        PresetArg::ThreeJs => ExportPreset::ThreeJs,
        PresetArg::Godot => ExportPreset::Godot,
        PresetArg::Unity => ExportPreset::Unity,
        PresetArg::Unreal => ExportPreset::Unreal,
        PresetArg::Blender => ExportPreset::Blender,
    }
}

/// Sets what flags say; they win over a preset.
fn over_preset(args: &ExportArgs, options: &mut ExportOptions) {
    match args.influences.as_deref() {
        Some("8") => options.influences = 8,
        Some(_) => options.influences = 4,
        None => {}
    }
    options.meshopt |= args.meshopt;
    if let Some(bake) = &mut options.correct {
        bake.unipolar &= !args.signed_weights;
        bake.normals &= !args.no_normals;
        bake.normals |= args.normals_share.is_some();
        bake.sparse &= !args.dense;
        bake.quantize |= args.quantize;
    }
}

/// Writes one frame as a static mesh.
fn static_mesh(args: &ExportArgs, out: &mut dyn Write) -> Result<ExitCode, Failure> {
    if GltfFormat::of_path(&args.out).is_none() && !is_obj(&args.out) {
        return Err(Failure::Usage(format!(
            "--out {} must end in .glb, .gltf or .obj.",
            args.out.display()
        )));
    }
    let idle = [
        ("--correct", args.correct != CorrectArg::None),
        ("--write-pose-as-rest", args.write_pose_as_rest),
        ("--influences 8", args.influences.as_deref() == Some("8")),
        ("--meshopt", args.meshopt),
    ];
    if let Some((flag, _)) = idle.iter().find(|(_, idle)| *idle) {
        return Err(Failure::Usage(format!(
            "{flag} cannot be used with --still, which writes a static mesh."
        )));
    }
    check_use(args)?;
    let mut loaded = load::load(&args.file)?;
    args.body.apply(&mut loaded.document)?;
    scene::apply_stack(&mut loaded.document, &args.stack)?;
    let mut pose = StaticPose::default();
    let mut words = "its pose".to_owned();
    if let Some(wanted) = &args.clip {
        let (id, clip) = scene::find_clip_id(&loaded.document, wanted)?;
        let time = args.time.unwrap_or_else(|| f64::from(clip.start_secs()));
        if !time.is_finite() {
            return Err(Failure::Usage(format!("--time {time} is not a time.")));
        }
        pose = StaticPose {
            clip: Some(id),
            time,
        };
        words = format!("\"{}\" at {time} s", clip.name);
    }
    let report = export_static_mesh_to_file(
        &loaded.document,
        &args.out,
        &pose,
        args.include_outside,
        &mut loaded.outputs,
        &Task::new(),
    )
    .map_err(Failure::input)?;
    for finding in &report.findings {
        writeln!(out, "{finding}")?;
    }
    writeln!(
        out,
        "{}: {words}, {} deformed",
        args.out.display(),
        counted(report.n_primitives_rewritten, "primitive"),
    )?;
    Ok(ExitCode::SUCCESS)
}

/// Refuses flags of corrections that are not used.
fn check_use(args: &ExportArgs) -> Result<(), Failure> {
    let mode = match args.correct {
        CorrectArg::None => None,
        CorrectArg::Clips => Some("clips"),
        CorrectArg::Retarget => Some("retarget"),
        CorrectArg::Frames => Some("frames"),
    };
    if let Some(mode) = mode {
        if args.write_pose_as_rest {
            return Err(Failure::Usage(format!(
                "--write-pose-as-rest cannot be used with --correct {mode}: corrections are computed for the file's own rest pose."
            )));
        }
        let of_skins = [
            ("--max-joints", args.max_joints.is_some()),
            ("--influences 8", args.influences.as_deref() == Some("8")),
        ];
        let of_morphs = [
            ("--max-morphs", args.max_morphs.is_some()),
            ("--signed-weights", args.signed_weights),
            ("--normals-share", args.normals_share.is_some()),
            ("--quantize", args.quantize),
        ];
        let given =
            |flags: &[(&'static str, bool)]| flags.iter().find(|(_, given)| *given).map(|f| f.0);
        let frames = args.correct == CorrectArg::Frames;
        if let Some(flag) = given(&of_skins)
            .or_else(|| given(&of_morphs))
            .filter(|_| frames)
        {
            return Err(Failure::Usage(format!(
                "{flag} cannot be used with --correct frames, which writes no skin and as many morph targets as --tolerance requires."
            )));
        }
        let of_targets = [("--no-normals", args.no_normals), ("--dense", args.dense)];
        let given_of_either = given(&of_morphs).or_else(|| given(&of_targets));
        if let Some(flag) = given_of_either.filter(|_| args.correct == CorrectArg::Retarget) {
            return Err(Failure::Usage(format!(
                "{flag} cannot be used with --correct retarget: such a file has no morph targets, which are made for clips."
            )));
        }
        return Ok(());
    }
    let idle = [
        ("--tolerance", args.tolerance.is_some()),
        ("--max-morphs", args.max_morphs.is_some()),
        ("--max-joints", args.max_joints.is_some()),
        ("--clips", !args.clips.is_empty()),
        ("--signed-weights", args.signed_weights),
        ("--no-normals", args.no_normals),
        ("--normals-share", args.normals_share.is_some()),
        ("--dense", args.dense),
        ("--quantize", args.quantize),
        ("--report", args.report.is_some()),
    ];
    match idle.iter().find(|(_, idle)| *idle) {
        Some((flag, _)) => Err(Failure::Usage(format!(
            "{flag} needs --correct clips, retarget or frames."
        ))),
        None => Ok(()),
    }
}

/// The options of the correction; `None` without one.
fn correction(args: &ExportArgs, document: &Document) -> Result<Option<BakeOptions>, Failure> {
    if args.sample_targets && args.correct != CorrectArg::None {
        return Err(Failure::Usage(
            "--sample-targets cannot be used with --correct, which plays the samples in the clips."
                .into(),
        ));
    }
    if args.correct == CorrectArg::None {
        return Ok(None);
    }
    let default = BakeOptions::default();
    let clips = args.clips.iter();
    let clips = clips.map(|wanted| scene::find_clip_id(document, wanted).map(|(id, _)| id));
    Ok(Some(BakeOptions {
        mode: match args.correct {
            CorrectArg::Retarget => BakeMode::Retarget,
            CorrectArg::Frames => BakeMode::Frames,
            CorrectArg::Clips | CorrectArg::None => BakeMode::Clips,
        },
        tolerance: args.tolerance.unwrap_or(default.tolerance),
        max_morphs: args.max_morphs.map_or(default.max_morphs, |n| n as usize),
        max_joints: args.max_joints.map_or(default.max_joints, |n| n as usize),
        unipolar: !args.signed_weights,
        normals: !args.no_normals,
        normals_share: args.normals_share.unwrap_or(default.normals_share),
        sparse: !args.dense,
        quantize: args.quantize,
        clips: clips.collect::<Result<_, _>>()?,
    }))
}
