//! `sinew psd --suggest`: proposed corrective samples of a bone.

use super::psd_args::PsdArgs;
use super::{Failure, load, scene};
use crate::document::{Document, Edit};
use crate::finding::counted;
use crate::io::project;
use crate::relax::Metrics;
use crate::suggest::{Proposal, SuggestSettings, Suggestion, suggest};
use crate::task::Task;
use serde_json::{Value, json};
use std::io::Write;
use std::process::ExitCode;

pub(super) fn run(args: &PsdArgs, wanted: &str, out: &mut dyn Write) -> Result<ExitCode, Failure> {
    let mut loaded = load::load(&args.file)?;
    let output = match args.out.as_deref() {
        Some(path) if !crate::io::is_project(path) => {
            return Err(Failure::Usage(
                "--suggest writes a project: give --out a name that ends in .ron.".into(),
            ));
        }
        Some(path) => Some(loaded.outputs.claim_project(path).map_err(Failure::input)?),
        None => None,
    };
    let mut document = loaded.document;
    let joint = scene::find_joint(&document, wanted).ok_or_else(|| {
        Failure::Usage(format!(
            "--suggest {wanted}: there is no bone of that name."
        ))
    })?;
    let task = Task::new();
    let found =
        suggest(&document, joint, &SuggestSettings::default(), &task).map_err(Failure::input)?;
    if args.json {
        let found: Vec<Value> = found.iter().map(|s| as_json(&document, s)).collect();
        writeln!(out, "{:#}", json!({ "suggestions": found }))?;
    } else {
        for suggestion in &found {
            print(&document, suggestion, out)?;
        }
    }
    let Some(output) = output else {
        return Ok(ExitCode::SUCCESS);
    };
    let mut n_added = 0;
    for suggestion in &found {
        let is_taken = |k: usize| suggestion.proposals[k].is_recommended;
        let n = (0..suggestion.proposals.len())
            .filter(|&k| is_taken(k))
            .count();
        if n > 0 {
            let edit = suggestion
                .accept(&document, is_taken)
                .map_err(Failure::input)?;
            document
                .apply(&mut Edit::Correctives(edit))
                .map_err(Failure::input)?;
            n_added += n;
        }
    }
    project::save(&document, output.path(), &task).map_err(Failure::input)?;
    if !args.json {
        let samples = counted(n_added, "sample");
        writeln!(
            out,
            "Wrote {} with {samples} added",
            output.path().display()
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print(document: &Document, suggestion: &Suggestion, out: &mut dyn Write) -> Result<(), Failure> {
    let mesh = document.meshes().get(&suggestion.mesh);
    writeln!(
        out,
        "{}, mesh \"{}\": {}, radius {:.4} m, {} may move",
        document.skeleton().label(suggestion.joint),
        mesh.map_or("", |item| item.geometry.name.as_str()),
        suggestion.mode.name(),
        suggestion.radius,
        counted(suggestion.n_free, "vertex"),
    )?;
    for note in &suggestion.notes {
        writeln!(out, "  {note}")?;
    }
    for proposal in &suggestion.proposals {
        let (before, after) = (&proposal.before, &proposal.after);
        writeln!(
            out,
            "  {:24} crossing triangles {} -> {}   volume {:.1} -> {:.1} %   strain {:.2} -> {:.2}   \
             dihedral angles {:.1} -> {:.1}°   outline {:.2} -> {:.2} r   moved by up to {:.2} r",
            proposal.name,
            before.crossings,
            after.crossings,
            before.volume * 100.0,
            after.volume * 100.0,
            before.strain,
            after.strain,
            before.dihedral.to_degrees(),
            after.dihedral.to_degrees(),
            before.outline,
            after.outline,
            after.displacement,
        )?;
        for note in &proposal.notes {
            writeln!(out, "    {note}")?;
        }
    }
    Ok(())
}

fn as_json(document: &Document, suggestion: &Suggestion) -> Value {
    let proposals = suggestion.proposals.iter().map(of_proposal);
    json!({
        "mesh": suggestion.mesh.0,
        "node": document.skeleton().joint(suggestion.joint).source_node,
        "mode": suggestion.mode.name(),
        "axis": suggestion.mode.axis().map(|axis| axis.to_array()),
        "radius": suggestion.radius,
        "reach": suggestion.reach,
        "free": suggestion.n_free,
        "notes": suggestion.notes,
        "proposals": proposals.collect::<Vec<_>>(),
    })
}

fn of_proposal(proposal: &Proposal) -> Value {
    json!({
        "name": proposal.name,
        "axis": proposal.axis.to_array(),
        "degrees": proposal.angle.to_degrees(),
        "points": proposal.captured.displacements.n_points(),
        "recommended": proposal.is_recommended,
        "before": of_metrics(&proposal.before),
        "after": of_metrics(&proposal.after),
        "notes": proposal.notes,
    })
}

fn of_metrics(metrics: &Metrics) -> Value {
    json!({
        "crossings": metrics.crossings,
        "volume": metrics.volume,
        "strain": metrics.strain,
        "dihedral_degrees": metrics.dihedral.to_degrees(),
        "outline": metrics.outline,
        "displacement": metrics.displacement,
    })
}
