//! `sinew psd --out`: samples added, mirrored or captured again, written as a project.

use super::load::Loaded;
use super::psd_args::PsdArgs;
use super::{Failure, load, psd_report, scene};
use crate::correctives::{self, NewSample, Retargeted, sculpt};
use crate::deform::Captured;
use crate::deform::correctives::{Correctives, SampleSet, SampleVertices};
use crate::document::{Document, MeshId};
use crate::finding::counted;
use crate::io::project;
use crate::skeleton::{JointId, PoseAt};
use crate::task::Task;
use crate::weights::operation::Mirroring;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

pub(super) fn run(args: &PsdArgs, path: &Path, out: &mut dyn Write) -> Result<ExitCode, Failure> {
    if !crate::io::is_project(path) {
        return Err(Failure::Usage(
            "psd writes a project: give --out a name that ends in .ron.".into(),
        ));
    }
    let adds = args.extract.is_some() || args.from_stack.is_some() || args.from_morph.is_some();
    if adds && args.pose.clip.is_none() && args.pose.pose.is_none() {
        return Err(Failure::Usage(
            "A new sample needs the pose that it corrects: --pose or --clip.".into(),
        ));
    }
    let mut loaded = load::load(&args.file)?;
    if let Some(pose) = &args.pose.pose {
        loaded.outputs.protect(pose, "the pose file");
    }
    let is_model = |path: &&Path| !crate::io::is_obj(path);
    let model = args.extract.as_deref().filter(is_model);
    let sculpted = model.map(load::load).transpose()?;
    if let Some(target) = &args.extract {
        loaded.outputs.protect(target, "the sculpted mesh");
    }
    if let Some(sculpted) = &sculpted {
        let what = "the model of the sculpted mesh";
        loaded.outputs.protect_model(&sculpted.document, what);
    }
    let output = loaded.outputs.claim_project(path).map_err(Failure::input)?;
    let posed = scene::pose(&loaded, &args.pose)?;
    let captured = captured(args, &loaded, sculpted.as_ref(), posed.at())?;
    let pose = &posed.pose;
    let mut document = loaded.document;
    let new = NewSample {
        name: args.name.clone(),
        drivers: drivers(&document, &args.drivers)?,
    };
    let mut lines = Vec::new();
    for (mesh, captured) in captured {
        let added = correctives::add_sample(&document, mesh, &captured, pose, &new);
        let mut added = added.map_err(Failure::Input)?;
        document.apply(&mut added.edit).map_err(Failure::input)?;
        lines.push(added.message);
    }
    if let Some(wanted) = &args.vertices {
        lines.push(hold(&mut document, wanted)?);
    }
    if args.mirror || args.flip {
        lines.extend(mirror(&mut document, args.flip)?);
    }
    if args.retarget || args.keep {
        lines.push(settle_stale(&mut document, args.retarget)?);
    }
    project::save(&document, output.path(), &Task::new()).map_err(Failure::input)?;
    if args.json {
        psd_report::print(&document, pose, true, out)?;
    } else {
        for line in lines {
            writeln!(out, "{line}")?;
        }
        writeln!(out, "Wrote {}", path.display())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What each skinned mesh gets from the sculpt, stack or morph target of the flags.
fn captured(
    args: &PsdArgs,
    loaded: &Loaded,
    sculpted: Option<&Loaded>,
    at: PoseAt<'_>,
) -> Result<BTreeMap<MeshId, Captured>, Failure> {
    let (document, task) = (&loaded.document, Task::new());
    if let Some(target) = &args.extract {
        return match sculpted {
            Some(sculpted) => sculpt::of_sculpted_model(document, at, &sculpted.document, &task)
                .map_err(|why| Failure::Input(format!("{} {why}.", target.display()))),
            None => sculpt::of_file(document, at, target, &task).map_err(Failure::Input),
        };
    }
    let mut found = BTreeMap::new();
    let mut why_not = None;
    let skinned = document.meshes().keys();
    let skinned = skinned.filter(|id| document.skin_of_mesh(**id).is_some());
    for &mesh in skinned {
        let result = if let Some(stack) = &args.from_stack {
            let fuller = stack.document(document);
            let result = sculpt::of_stack(document, mesh, at, &fuller, &task);
            result.map_err(|why| format!("The stack \"{}\" {why}.", stack.name))
        } else if let Some(name) = &args.from_morph {
            let item = &document.meshes()[&mesh];
            let mut morphs = item.geometry.morphs.iter();
            match morphs.position(|morph| morph.name == *name) {
                Some(target) => sculpt::of_morph_target(document, mesh, at, target, &task)
                    .map_err(|why| format!("The morph target \"{name}\" {why}.")),
                None => Err(format!("No skinned mesh has the morph target \"{name}\".")),
            }
        } else {
            return Ok(found);
        };
        match result {
            Ok(captured) => {
                found.insert(mesh, captured);
            }
            Err(why) => why_not = Some(why),
        }
    }
    match why_not {
        Some(why) if found.is_empty() => Err(Failure::Input(why)),
        _ => Ok(found),
    }
}

/// Sets which vertices the samples of all sets hold, and deletes their displacements of others.
fn hold(document: &mut Document, wanted: &str) -> Result<String, Failure> {
    let vertices = match wanted {
        "all" => SampleVertices::All,
        "clusters" => SampleVertices::Clusters,
        name => SampleVertices::Group(name.to_owned()),
    };
    let meshes = document.meshes().iter();
    let meshes = meshes.filter(|(_, item)| !item.correctives.is_empty());
    let meshes: Vec<MeshId> = meshes.map(|(id, _)| *id).collect();
    if meshes.is_empty() {
        return Err(Failure::Input("There are no corrective samples.".into()));
    }
    let n_held = |document: &Document| -> usize {
        let samples = meshes
            .iter()
            .flat_map(|id| document.meshes()[id].correctives.samples());
        samples.map(|s| s.displacements.n_points()).sum()
    };
    let before = n_held(document);
    for &mesh in &meshes {
        let item = &document.meshes()[&mesh];
        if vertices.is_lost(&item.clusters) {
            return Err(Failure::Usage(format!(
                "--vertices {wanted}: mesh \"{}\" has no group of control clusters of that name.",
                item.geometry.name
            )));
        }
        let sets = item.correctives.sets().iter().map(|set| {
            Arc::new(SampleSet {
                vertices: vertices.clone(),
                ..SampleSet::clone(set)
            })
        });
        let made = Correctives::new(sets.collect()).map_err(Failure::input)?;
        let mut edit = correctives::edit_of(document, mesh, made);
        document.apply(&mut edit).map_err(Failure::input)?;
    }
    let n_left_out = before - n_held(document);
    Ok(format!(
        "The samples hold {}: {} left out.",
        match &vertices {
            SampleVertices::All => "all vertices that they move".to_owned(),
            SampleVertices::Clusters => "control clusters".to_owned(),
            SampleVertices::Group(name) => format!("control clusters of \"{name}\""),
        },
        counted(n_left_out, "displacement")
    ))
}

/// Copies all samples to the other side, or exchanges the sides.
fn mirror(document: &mut Document, flips: bool) -> Result<Vec<String>, Failure> {
    let mut lines = Vec::new();
    let meshes: Vec<_> = document.meshes().keys().copied().collect();
    for mesh in meshes {
        let n = document.meshes()[&mesh].correctives.samples().len();
        if n == 0 {
            continue;
        }
        let across = Mirroring {
            axis: document.side_axis(mesh).unwrap_or_default(),
            ..Mirroring::default()
        };
        let all = (0..n).collect();
        let mirrored = correctives::mirror(document, mesh, &all, across, flips, &Task::new());
        let mirrored = mirrored.map_err(Failure::input)?;
        lines.push(mirrored.summary());
        if let Some(mut edit) = mirrored.edit {
            document.apply(&mut edit).map_err(Failure::input)?;
        }
    }
    Ok(lines)
}

/// Captures stale samples again, or accepts their displacements.
fn settle_stale(document: &mut Document, retargets: bool) -> Result<String, Failure> {
    let (mut n_kept, mut retargeted) = (0, Retargeted::default());
    let meshes: Vec<_> = document.meshes().keys().copied().collect();
    for mesh in meshes {
        let stale = correctives::stale(document, mesh);
        if stale.is_empty() {
            continue;
        }
        let edit = if retargets {
            let made = correctives::retarget(document, mesh, &stale, &Task::new());
            let made = made.map_err(Failure::input)?.map_err(Failure::input)?;
            retargeted.add(made)
        } else {
            n_kept += stale.len();
            let made = correctives::keep(document, mesh, &stale).map_err(Failure::input)?;
            Some(correctives::edit_of(document, mesh, made))
        };
        if let Some(mut edit) = edit {
            document.apply(&mut edit).map_err(Failure::input)?;
        }
    }
    Ok(if retargets {
        retargeted.summary()
    } else {
        format!("{} kept.", counted(n_kept, "stale sample"))
    })
}

/// The joints of these names or nodes.
fn drivers(document: &Document, wanted: &[String]) -> Result<BTreeSet<JointId>, Failure> {
    let by_name = |name: &String| {
        scene::find_joint(document, name).ok_or_else(|| {
            Failure::Usage(format!("--drivers {name}: there is no bone of that name."))
        })
    };
    wanted.iter().map(by_name).collect()
}
