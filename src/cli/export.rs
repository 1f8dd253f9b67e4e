//! `sinew export`: a glTF with what a project changed.

use super::args::{CorrectArg, ExportArgs};
use super::{Failure, load, scene};
use crate::io::gltf_export::{Container, ExportOptions, export_to_file};
use crate::task::Task;
use std::io::Write;
use std::process::ExitCode;

pub(crate) fn run(args: &ExportArgs, out: &mut dyn Write) -> Result<ExitCode, Failure> {
    let Some(container) = Container::of_path(&args.out) else {
        return Err(Failure::Usage(format!(
            "--out {} must end in .glb or .gltf.",
            args.out.display()
        )));
    };
    let CorrectArg::None = args.correct;
    let mut loaded = load::load(&args.file)?;
    scene::apply_stack(&mut loaded.document, &args.stack)?;
    let options = ExportOptions {
        container,
        influences: if args.influences == "8" { 8 } else { 4 },
        write_pose_as_rest: args.write_pose_as_rest,
        ..ExportOptions::default()
    };
    let report = export_to_file(&loaded.document, &args.out, &options, &Task::new())
        .map_err(Failure::input)?;
    for finding in &report.findings {
        writeln!(out, "{finding}")?;
    }
    writeln!(
        out,
        "{}: {}",
        args.out.display(),
        if report.verbatim {
            "the source's own bytes, nothing was edited".to_owned()
        } else {
            format!(
                "{} primitives and {} clips written anew, {} bytes added",
                report.n_primitives_rewritten, report.n_clips_written, report.n_bytes_added
            )
        }
    )?;
    Ok(ExitCode::SUCCESS)
}
