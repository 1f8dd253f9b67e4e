//! Writes a changed document as a model or a project.

use super::Failure;
use crate::document::Document;
use crate::export::{ExportOptions, GltfFormat, export_to_file};
use crate::finding::Finding;
use crate::io::{Output, Outputs, is_project, project};
use crate::task::Task;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;

/// Number of influences that every player reads.
pub(super) const USUAL: usize = 4;

/// How a document is written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Writing {
    /// Maximum number of influences of a vertex in a model; `None`: that of its rows, up to 8.
    pub(super) max_influences: Option<u8>,
    /// Include files that the model references outside of its folder.
    pub(super) include_outside: bool,
    /// Replace invalid weights of the source even where nothing else changed.
    pub(super) fix_weights: bool,
}

/// Refuses a name that is neither a model's nor a project's.
pub(super) fn check_out(out: Option<&Path>) -> Result<(), Failure> {
    match out {
        Some(path) if GltfFormat::of_path(path).is_none() && !is_project(path) => {
            Err(Failure::Usage(format!(
                "--out {} must end in .glb, .gltf or .ron.",
                path.display()
            )))
        }
        _ => Ok(()),
    }
}

/// The largest number of influences of any row.
pub(super) fn longest_row(document: &Document) -> usize {
    let items = document.meshes().values();
    let rows = items.flat_map(|item| item.influences.chunks().iter().map(|c| c.max_len()));
    rows.max().unwrap_or(0)
}

/// Writes the model to `path`, or the project to `project`; returns its path and the findings.
pub(super) fn write(
    document: &Document,
    path: &Path,
    project: Option<Output>,
    writing: Writing,
    outputs: &mut Outputs,
) -> Result<(String, Vec<Finding>), Failure> {
    let shown = path.display().to_string();
    if let Some(project) = project {
        project::save(document, project.path(), &Task::new()).map_err(Failure::input)?;
        return Ok((shown, Vec::new()));
    }
    let most = writing
        .max_influences
        .map_or_else(|| longest_row(document), usize::from);
    let options = ExportOptions {
        influences: if most > USUAL { 8 } else { USUAL },
        fix_weights: writing.fix_weights,
        include_outside: writing.include_outside,
        ..ExportOptions::default()
    };
    let exported =
        export_to_file(document, path, &options, outputs, &Task::new()).map_err(Failure::input)?;
    Ok((shown, exported.report.findings))
}

/// Reports the steps and what was written: as JSON, or as lines after those of the steps.
pub(super) fn report(
    file: &Path,
    steps: &[Value],
    written: Option<&(String, Vec<Finding>)>,
    as_json: bool,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    if as_json {
        let report = json!({
            "file": file.display().to_string(),
            "steps": steps,
            "out": written.map(|(path, _)| path),
            "findings": written.map_or(&[][..], |(_, findings)| findings),
        });
        return writeln!(out, "{report:#}");
    }
    let Some((path, findings)) = written else {
        return writeln!(out, "No file was written: --out is missing.");
    };
    writeln!(out, "Wrote {path}")?;
    for finding in findings {
        let (place, message) = (&finding.place, &finding.message);
        writeln!(out, "  {} {place}: {message}", finding.severity.label())?;
    }
    Ok(())
}
