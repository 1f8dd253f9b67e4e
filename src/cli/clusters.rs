//! `sinew clusters`: control clusters printed, marked or suggested.

use super::args::ClustersArgs;
use super::cluster_marks::{self, Marks};
use super::{Failure, cluster_layers, cluster_report, cluster_suggest, load, scene};
use crate::io::project;
use crate::suggest::ClusterGoal;
use crate::task::Task;
use std::io::Write;
use std::process::ExitCode;

pub(crate) fn run(args: &ClustersArgs, out: &mut dyn Write) -> Result<ExitCode, Failure> {
    if let Some(path) = &args.out
        && !crate::io::is_project(path)
    {
        return Err(Failure::Usage(
            "clusters writes a project: give --out a name that ends in .ron.".into(),
        ));
    }
    let mut loaded = load::load(&args.file)?;
    for (path, what) in [
        (&args.pose.pose, "the pose file"),
        (&args.mark, "the marks"),
        (&args.layers, "the layers"),
    ] {
        if let Some(path) = path {
            loaded.outputs.protect(path, what);
        }
    }
    let output = match &args.out {
        Some(path) => Some(loaded.outputs.claim_project(path).map_err(Failure::input)?),
        None => None,
    };
    scene::apply_stack(&mut loaded.document, &args.stack)?;
    let pose = scene::pose(&loaded, &args.pose)?;
    if let Some(path) = &args.mark {
        let marks = Marks::read(path)?;
        cluster_marks::apply(&mut loaded.document, &marks, path)?;
    }
    if let Some(path) = &args.layers {
        let layers = cluster_layers::read(path)?;
        cluster_layers::apply(&mut loaded.document, layers, path)?;
    }
    let suggested = match args.suggest {
        Some(error) => {
            let share = args.at_most.unwrap_or(1.0);
            cluster_suggest::apply(&mut loaded.document, ClusterGoal { error, share })?
        }
        None => Vec::new(),
    };
    let document = loaded.document;
    if let Some(output) = &output {
        project::save(&document, output.path(), &Task::new()).map_err(Failure::input)?;
    }
    let report = cluster_report::Report::of(&document, pose.at(), &suggested);
    if args.json {
        report.print_json(out)?;
    } else {
        report.print(out)?;
        if let Some(path) = &args.out {
            writeln!(out, "Wrote {}", path.display())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
