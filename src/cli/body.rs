//! `sinew body`: the measures of a template, and the body of a person made of it.

use super::body_args::{BodyArgs, OnOff};
use super::written::{self, Writing};
use super::{Failure, body_scan, load};
use crate::document::{Document, Edit, Individual, IndividualEdit, IndividualShape};
use crate::finding::{counted, trimmed};
use crate::io::is_project;
use crate::io::measurements_file::read_measurements;
use crate::task::Task;
use crate::twin::template::{SITES, TemplateMeasures};
use crate::twin::{FitOptions, FitReport, FittedRow, FlippedFaces};
use serde_json::{Value, json};
use std::io::Write;
use std::process::ExitCode;

pub(crate) fn run(args: &BodyArgs, out: &mut dyn Write) -> Result<ExitCode, Failure> {
    written::check_out(args.out.as_deref())?;
    let mut loaded = load::load(&args.file)?;
    if args.template {
        let measures = loaded
            .document
            .template_measures()
            .map_err(Failure::input)?;
        print_template(&measures, args.json, out)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(table) = &args.measure {
        loaded.outputs.protect(table, "the table of measurements");
    }
    if args.scan.is_none() && args.pose.is_given() {
        let what = "The pose flags need --scan: without it the body is measured at rest.";
        return Err(Failure::Usage(what.into()));
    }
    if let Some(scan) = &args.scan {
        loaded.outputs.protect(scan, "the scan");
    }
    if let Some(pose) = &args.pose.pose {
        loaded.outputs.protect(pose, "the pose file");
    }
    let report_to = args.report.as_ref().map(|path| loaded.outputs.claim(path));
    let report_to = report_to.transpose().map_err(Failure::input)?;
    let project = args.out.as_deref().filter(|path| is_project(path));
    let project = project.map(|path| loaded.outputs.claim_project(path));
    let project = project.transpose().map_err(Failure::input)?;
    if let Some(to) = args.out.as_ref().filter(|to| !is_project(to)) {
        loaded.outputs.check(to).map_err(Failure::input)?;
    }
    // The template itself is compared with a scan where there are no measurements.
    let is_template = args.scan.is_some() && args.out.is_none() && args.measure.is_none();
    let (individual, place) = if is_template && loaded.document.individual().is_none() {
        (Individual::default(), String::new())
    } else {
        individual(args, &loaded.document)?
    };
    let shape = IndividualShape::new(
        &loaded.document,
        &individual.rows,
        &individual.options,
        &Task::new(),
    );
    let shape = shape.map_err(|why| Failure::Input(format!("{place}: {why}")))?;
    let has_rows = !individual.rows.is_empty();
    let mut report = if has_rows {
        serde_json::to_value(&shape.report).map_err(Failure::input)?
    } else {
        json!({})
    };
    let compared = match &args.scan {
        Some(scan) => {
            let made = shape.of(&loaded.document);
            let template = std::mem::replace(&mut loaded.document, made);
            let compared = body_scan::compare(&loaded, args, scan)?;
            loaded.document = template;
            report["scan"] = compared.json();
            Some(compared)
        }
        None => None,
    };
    if args.json {
        writeln!(out, "{report:#}")?;
    } else {
        if has_rows {
            print_report(&shape.report, out)?;
        }
        if let Some(compared) = &compared {
            compared.print(out)?;
        }
    }
    if let Some(to) = &args.out {
        let made = if project.is_some() {
            let mut document = loaded.document.clone();
            let edit = IndividualEdit::new(Some(individual));
            let applied = document.apply(&mut Edit::Individual(edit));
            applied.map_err(Failure::input)?;
            document
        } else {
            shape.of(&loaded.document)
        };
        let outputs = &mut loaded.outputs;
        let (shown, findings) = written::write(&made, to, project, Writing::default(), outputs)?;
        if !args.json {
            writeln!(out, "Wrote {shown}")?;
            for finding in findings {
                let (place, message) = (&finding.place, &finding.message);
                writeln!(out, "  {} {place}: {message}", finding.severity.label())?;
            }
        }
    } else if !args.json && has_rows {
        writeln!(out, "No file was written: --out is missing.")?;
    }
    if let Some(report_to) = report_to {
        let text = format!("{report:#}\n");
        report_to.write(text.as_bytes()).map_err(Failure::input)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The measurements of the table or, without one, of the project, and what a refusal calls them.
fn individual(args: &BodyArgs, document: &Document) -> Result<(Individual, String), Failure> {
    let Some(table) = &args.measure else {
        let known = document.individual().ok_or_else(|| {
            Failure::Usage(
                "No measurements are given: use --measure, or a project that has some.".into(),
            )
        })?;
        let place = args.file.display().to_string();
        return Ok((Individual::clone(known), place));
    };
    let individual = Individual {
        template: document.template_fingerprint(),
        rows: read_measurements(table).map_err(Failure::input)?,
        options: FitOptions {
            fit_height: args.fit_height == OnOff::On,
            sides: args.sides.into(),
            neighbours: args.neighbours,
            taper: args.taper,
            flipped: if args.smooth_flipped {
                FlippedFaces::Smooth
            } else {
                FlippedFaces::Keep
            },
        },
        variations: Vec::new(),
    };
    Ok((individual, table.display().to_string()))
}

fn print_template(
    measures: &TemplateMeasures,
    as_json: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if as_json {
        let bones = measures.bones.iter().map(|bone| {
            let girths = SITES.iter().zip(&bone.girths);
            let girths = girths.map(|(at, girth)| (at.to_string(), json!(girth)));
            json!({
                "bone": bone.bone,
                "role": bone.role,
                "length": bone.length,
                "girth": girths.collect::<serde_json::Map<String, Value>>(),
            })
        });
        let value = json!({
            "height": measures.height,
            "points": measures.n_points,
            "bones": bones.collect::<Vec<_>>(),
        });
        writeln!(out, "{value:#}")?;
        return Ok(());
    }
    writeln!(
        out,
        "height {} m, {}",
        trimmed(measures.height),
        counted(measures.n_points, "point")
    )?;
    let label = |bone: &crate::twin::template::BoneMeasure| match &bone.role {
        Some(role) => format!("{} ({role})", bone.bone),
        None => bone.bone.clone(),
    };
    let width = measures
        .bones
        .iter()
        .map(|b| label(b).chars().count())
        .max()
        .unwrap_or(0);
    let head = "bone";
    writeln!(out, "{head:width$}  length m  girth m at 25 %, 50 %, 75 %")?;
    for bone in &measures.bones {
        let girths = bone
            .girths
            .map(|girth| girth.map_or("open".into(), trimmed));
        let (label, length) = (label(bone), trimmed(bone.length));
        writeln!(out, "{label:width$}  {length:8}  {}", girths.join(", "))?;
    }
    Ok(())
}

fn print_report(report: &FitReport, out: &mut dyn Write) -> std::io::Result<()> {
    for row in &report.rows {
        writeln!(out, "{}", row_line(row))?;
    }
    if let Some(trunk) = report.trunk {
        writeln!(
            out,
            "trunk {} times the template's, in {}",
            trimmed(trunk),
            counted(report.trunk_steps, "step")
        )?;
    }
    if report.girth_errors.len() > 1 {
        let percent = |error: &f64| trimmed(error * 100.0);
        let errors: Vec<String> = report.girth_errors.iter().map(percent).collect();
        writeln!(
            out,
            "girths off by {} % before and after each round",
            errors.join(", ")
        )?;
    }
    writeln!(
        out,
        "height {} m (template {} m), lifted by {} m, {} of {} flipped",
        trimmed(report.height[1]),
        trimmed(report.height[0]),
        trimmed(report.lift),
        report.flipped,
        counted(report.triangles, "face")
    )?;
    for warning in &report.warnings {
        writeln!(out, "  warning: {warning}")?;
    }
    Ok(())
}

fn row_line(row: &FittedRow) -> String {
    let what = match (row.bone.as_str(), row.at) {
        ("", _) => row.kind.to_owned(),
        (bone, None) => format!("{} of {bone}", row.kind),
        (bone, Some(at)) => format!("{} of {bone} at {} %", row.kind, trimmed(at * 100.0)),
    };
    let side = if row.mirrored {
        ", as the other side"
    } else {
        ""
    };
    format!(
        "{what}: {} m (template {} m, factor {}), reached {} m, off by {} %{side}",
        trimmed(row.target),
        trimmed(row.template),
        trimmed(row.factor),
        trimmed(row.measured),
        trimmed(row.error * 100.0)
    )
}
