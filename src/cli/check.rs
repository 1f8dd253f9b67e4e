//! `sinew check`: every finding of a file.

use super::args::CheckArgs;
use super::{Failure, centres, load};
use crate::document::{checks, invariants};
use crate::finding::{Severity, counted};
use std::io::Write;
use std::process::ExitCode;

pub(crate) fn run(args: &CheckArgs, out: &mut dyn Write) -> Result<ExitCode, Failure> {
    let loaded = load::load(&args.file)?;
    let mut findings = loaded.findings;
    findings.extend(invariants::check(&loaded.document));
    findings.extend(checks::of_correctives(&loaded.document));
    findings.extend(checks::of_layers(&loaded.document));
    findings.extend(checks::of_compensation(&loaded.document));
    findings.extend(checks::of_rig(&loaded.document));
    findings.extend(checks::of_joint_limits(&loaded.document));
    findings.extend(checks::of_constraints(&loaded.document));
    findings.extend(checks::of_kept_constraints(&loaded.document));
    let mut meshes = loaded.document.meshes().values();
    if meshes.any(|item| item.clusters.data().next().is_some()) {
        let layouts = centres::find([&loaded.document]).layouts;
        findings.extend(checks::of_jumps(&loaded.document, &layouts));
    }
    findings.sort_by_key(|f| std::cmp::Reverse(f.severity));
    let mut seen = std::collections::HashSet::new();
    findings.retain(|f| seen.insert(f.to_string()));
    if args.json {
        serde_json::to_writer_pretty(&mut *out, &findings).map_err(Failure::input)?;
        writeln!(out)?;
    } else {
        for finding in &findings {
            writeln!(out, "{finding}")?;
        }
        let count = |s| findings.iter().filter(|f| f.severity == s).count();
        writeln!(
            out,
            "{}: {}, {}, {}",
            args.file.display(),
            counted(count(Severity::Error), "error"),
            counted(count(Severity::Warning), "warning"),
            counted(count(Severity::Info), "note")
        )?;
    }
    let failed = findings.iter().any(|f| f.severity == Severity::Error);
    Ok(ExitCode::from(u8::from(failed)))
}
