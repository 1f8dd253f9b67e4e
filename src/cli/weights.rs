//! `sinew weights`: operations on weights, in the order given, with a report of each.

use super::weights_args::{Step, WeightsArgs};
use super::written::{self, USUAL, Writing};
use super::{Failure, load};
use crate::document::session::Normalising;
use crate::document::subject::{PointScope, SubjectScope};
use crate::document::transfer_source::transfer_source;
use crate::document::{Document, Edit, MeshId, fixes};
use crate::finding::{Fix, counted, thousands};
use crate::io::atomic::WriteError;
use crate::io::weights_file::{read_weights, write_weights};
use crate::io::{Output, Outputs, is_project};
use crate::math::Axis;
use crate::skeleton::JointId;
use crate::task::Task;
use crate::weights::automatic::Automatic;
use crate::weights::operation::{Flood, Import, Levels, Mirroring, Operation, Report};
use crate::weights::transfer::Transfer;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

/// What errors call the file of `--transfer`.
const TRANSFER_SOURCE: &str = "the model that weights are transferred from";

pub(crate) fn run(args: &WeightsArgs, out: &mut dyn Write) -> Result<ExitCode, Failure> {
    written::check_out(args.out.as_deref())?;
    if !(0.0..=1.0).contains(&args.falloff) {
        return Err(Failure::Usage(format!(
            "--falloff must be 0 - 1, not {}.",
            args.falloff
        )));
    }
    let load::Loaded {
        mut document,
        mut outputs,
        ..
    } = load::load(&args.file)?;
    let locked = args.lock.iter().map(|name| bone(&document, "lock", name));
    let locked: BTreeSet<JointId> = locked.collect::<Result<_, _>>()?;
    let bones = args.bones.iter().map(|name| bone(&document, "bones", name));
    let bones: BTreeSet<JointId> = bones.collect::<Result<_, _>>()?;
    let locks_before = document.locked().clone();
    let both = locks_before.union(&locked).copied().collect();
    document
        .apply(&mut Edit::Locks(Arc::new(both)))
        .map_err(Failure::input)?;
    let brush_before = document.session().brush;
    let brush = &mut document.session_mut().brush;
    brush.max_influences = args.max_influences.map_or(USUAL, usize::from);
    brush.normalise = Normalising::Live;
    let meshes = meshes_of(&document, &args.mesh)?;
    let (actions, to) = actions(&document, args, &mut outputs)?;
    let mut steps = Vec::new();
    let mut fixes_weights = false;
    for (step, action) in args.steps.0.iter().zip(actions) {
        let report = match action {
            Action::ExportWeights(output) => {
                write_weights(&document, output, &Task::new()).map_err(Failure::input)?;
                if !args.json {
                    writeln!(out, "Wrote {}", step.value)?;
                }
                json!({"operation": "Export weights", "file": step.value})
            }
            Action::Operation(_) | Action::Later => {
                let operation = match action {
                    Action::Operation(operation) => operation,
                    _ => operation(&document, step, args, &mut outputs)?,
                };
                if matches!(operation, Operation::Normalise) {
                    fixes_weights = true;
                    fix_invalid(&mut document, &meshes, args.json, out)?;
                }
                perform(
                    &mut document,
                    &operation,
                    step,
                    &meshes,
                    &bones,
                    args.json,
                    out,
                )?
            }
        };
        steps.push(report);
    }
    // Locks and settings of the flags apply to the operations only, not to the project.
    document.session_mut().brush = brush_before;
    document
        .apply(&mut Edit::Locks(Arc::new(locks_before)))
        .map_err(Failure::input)?;
    let writing = Writing {
        max_influences: args.max_influences,
        include_outside: args.include_outside,
        fix_weights: fixes_weights,
    };
    let written = match &args.out {
        Some(path) => Some(written::write(&document, path, to, writing, &mut outputs)?),
        None => None,
    };
    written::report(&args.file, &steps, written.as_ref(), args.json, out)?;
    Ok(ExitCode::SUCCESS)
}

/// What a step does.
enum Action {
    Operation(Operation),
    /// An import of what an earlier step writes.
    Later,
    ExportWeights(Output),
}

/// What all steps do, and where `--out` goes, if that is a project. Every file that any step reads is protected before
/// the first is written.
fn actions(
    document: &Document,
    args: &WeightsArgs,
    outputs: &mut Outputs,
) -> Result<(Vec<Action>, Option<Output>), Failure> {
    let steps = &args.steps.0;
    let mut written = Outputs::default();
    let mut actions = Vec::new();
    for step in steps {
        let path = Path::new(&step.value);
        actions.push(match step.flag {
            "export-weights" => {
                // Twice the same file is refused below, where the inputs are known.
                let _ = written.claim(path);
                None
            }
            "import" | "import-merge" if written.check(path).is_err() => Some(Action::Later),
            _ => Some(Action::Operation(operation(document, step, args, outputs)?)),
        });
    }
    let actions = steps.iter().zip(actions).map(|(step, action)| {
        let mut claim = || outputs.claim(Path::new(&step.value));
        action.map_or_else(|| claim().map(Action::ExportWeights), Ok)
    });
    let actions = actions.collect::<Result<_, WriteError>>();
    let project = args.out.as_deref().filter(|path| is_project(path));
    let project = project.map(|path| outputs.claim_project(path)).transpose();
    let model = args.out.as_deref().filter(|path| !is_project(path));
    if let Some(path) = model {
        outputs.check(path).map_err(Failure::input)?;
    }
    Ok((
        actions.map_err(Failure::input)?,
        project.map_err(Failure::input)?,
    ))
}

/// The skinned meshes to work on.
fn meshes_of(document: &Document, names: &[String]) -> Result<Vec<MeshId>, Failure> {
    let skinned = document.meshes().iter();
    let skinned = skinned.filter(|(id, _)| document.n_skin_joints(**id).is_some());
    let of_name = |name: &String| {
        let found = skinned
            .clone()
            .find(|(_, item)| item.geometry.name == *name);
        found.map(|(&id, _)| id).ok_or_else(|| {
            let all: Vec<&str> = skinned
                .clone()
                .map(|(_, m)| m.geometry.name.as_str())
                .collect();
            Failure::Usage(format!(
                "--mesh {name}: there is no skinned mesh of that name; there is {}.",
                all.join(", ")
            ))
        })
    };
    if !names.is_empty() {
        return names.iter().map(of_name).collect();
    }
    let all: Vec<MeshId> = skinned.clone().map(|(&id, _)| id).collect();
    if all.is_empty() {
        return Err(Failure::Input(
            "No mesh is skinned, so there are no weights.".into(),
        ));
    }
    Ok(all)
}

/// The joint of a bone, by name.
fn bone(document: &Document, flag: &str, name: &str) -> Result<JointId, Failure> {
    let skeleton = document.skeleton();
    let is_bone = document.skin_joint_mask();
    let mut bones = skeleton.live_joints();
    bones
        .find(|&j| is_bone[j.get()] && skeleton.label(j) == name)
        .ok_or_else(|| Failure::Usage(format!("--{flag} {name}: no skin has a bone of that name.")))
}

/// The operation of a flag; protects the files that it reads.
fn operation(
    document: &Document,
    step: &Step,
    args: &WeightsArgs,
    outputs: &mut Outputs,
) -> Result<Operation, Failure> {
    let flag = step.flag;
    let wrong = |why: &str| Failure::Usage(format!("--{flag} {}: {why}.", step.value));
    let number = |text: &str| {
        let number = text.parse::<f32>().ok().filter(|x| x.is_finite());
        number.ok_or_else(|| wrong(&format!("\"{text}\" is not a number")))
    };
    let count = |text: &str| {
        let count = text.parse::<u32>();
        count.map_err(|_| wrong(&format!("\"{text}\" is not a whole number")))
    };
    let bone = |name: &str| bone(document, flag, name);
    let parts: Vec<&str> = step.value.split('=').collect();
    Ok(match (flag, &parts[..]) {
        ("normalize", [""]) => Operation::Normalise,
        ("hammer", [""]) => Operation::Hammer,
        ("limit", [n]) => Operation::Limit {
            most: count(n)? as usize,
        },
        ("prune", [x]) => Operation::Prune { below: number(x)? },
        ("quantize", [n]) => Operation::Quantise { steps: count(n)? },
        ("smooth", [n]) => Operation::Smooth {
            iterations: count(n)?,
            strength: 0.5,
        },
        ("smooth", [n, x]) => Operation::Smooth {
            iterations: count(n)?,
            strength: number(x)?,
        },
        ("flood", [name, x]) => Operation::Flood {
            joint: bone(name)?,
            value: number(x)?,
            how: Flood::Replace,
        },
        ("invert", [name]) => Operation::Invert { joint: bone(name)? },
        ("levels", [name, low, high, rest @ ..]) if rest.len() <= 1 => Operation::Levels(Levels {
            joint: Some(bone(name)?),
            low: number(low)?,
            high: number(high)?,
            gamma: rest.first().map_or(Ok(1.0), |x| number(x))?,
            ..Levels::default()
        }),
        ("move", [from, to, rest @ ..]) if rest.len() <= 1 => Operation::Move {
            from: bone(from)?,
            to: bone(to)?,
            share: rest.first().map_or(Ok(1.0), |x| number(x))?,
        },
        ("merge", [from, to]) => Operation::Merge {
            from: from.split(',').map(bone).collect::<Result<_, _>>()?,
            to: bone(to)?,
        },
        ("swap", [a, b]) => Operation::Swap {
            a: bone(a)?,
            b: bone(b)?,
        },
        ("mirror", [side]) => {
            let axis = |text: &str| {
                axis_of(text).ok_or_else(|| wrong("a side is +x, -x, +y, -y, +z or -z"))
            };
            let (from_positive, axis) = match side.strip_prefix('-') {
                Some(rest) => (false, axis(rest)?),
                None => (true, axis(side.strip_prefix('+').unwrap_or(side))?),
            };
            Operation::Mirror(Mirroring {
                axis,
                from_positive,
                ..Mirroring::default()
            })
        }
        ("flip", [axis]) => Operation::Flip(Mirroring {
            axis: axis_of(axis).ok_or_else(|| wrong("an axis is x, y or z"))?,
            ..Mirroring::default()
        }),
        ("auto", ["heat"]) => Operation::Automatic(Automatic::Heat),
        ("auto", ["voxel"]) => Operation::Automatic(Automatic::Voxel {
            resolution: args.resolution.unwrap_or(128),
            falloff: args.falloff,
        }),
        ("auto", ["biharmonic"]) => Operation::Automatic(Automatic::Biharmonic {
            resolution: args.resolution.unwrap_or(32),
        }),
        ("auto", ["rigid"]) => Operation::Automatic(Automatic::Rigid),
        ("auto", _) => return Err(wrong("use heat, voxel, biharmonic or rigid")),
        ("transfer", _) => {
            let path = Path::new(&step.value);
            let other = load::load(path)?.document;
            outputs.protect(path, TRANSFER_SOURCE);
            outputs.protect_model(&other, TRANSFER_SOURCE);
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let source = transfer_source(&other, &name).map_err(Failure::Input)?;
            Operation::Transfer(Transfer::new(Arc::new(source)))
        }
        ("import" | "import-merge", _) => {
            let path = Path::new(&step.value);
            let file = read_weights(path, &Task::new());
            outputs.protect(path, "the weights file that is imported");
            Operation::Import(Import {
                file: Arc::new(file.map_err(Failure::input)?),
                replace: flag == "import",
            })
        }
        _ => return Err(wrong("see --help for its values")),
    })
}

fn axis_of(text: &str) -> Option<Axis> {
    let letter = |axis: &Axis| axis.letter().eq_ignore_ascii_case(text);
    Axis::ALL.into_iter().find(letter)
}

/// Gives the points of `meshes` without a valid weight in the source those of the nearest point that has some.
fn fix_invalid(
    document: &mut Document,
    meshes: &[MeshId],
    quiet: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    for &mesh in meshes {
        let Some(item) = document.meshes().get(&mesh) else {
            continue;
        };
        let points = item.points_to_fix();
        if points.is_empty() {
            continue;
        }
        let name = item.geometry.name.clone();
        let fixed = fixes::fix(document, mesh, &points, Fix::CopyNearest, &Task::new());
        let fixed = fixed.map_err(Failure::input)?;
        if let Some(mut edit) = fixed.edit {
            document.apply(&mut edit).map_err(Failure::input)?;
        }
        if !quiet {
            writeln!(out, "{} · {name}: {}", fixed.label, fixed.message)?;
        }
    }
    Ok(())
}

/// Runs an operation on each mesh and writes its report.
fn perform(
    document: &mut Document,
    operation: &Operation,
    step: &Step,
    meshes: &[MeshId],
    bones: &BTreeSet<JointId>,
    quiet: bool,
    out: &mut dyn Write,
) -> Result<Value, Failure> {
    let label = operation.label();
    let began = Instant::now();
    let (mut reports, mut refused) = (Vec::new(), Vec::new());
    for &mesh in meshes {
        let scope = SubjectScope {
            points: PointScope::All,
            bones: (!bones.is_empty()).then(|| bones.clone()),
        };
        let name = document
            .meshes()
            .get(&mesh)
            .map_or_else(String::new, |m| m.geometry.name.clone());
        let outcome = document.subject(mesh, scope).and_then(|subject| {
            operation
                .run(&subject.view(), &Task::new())
                .map_err(|e| e.to_string())
        });
        let outcome = match outcome {
            Ok(outcome) => outcome,
            // One of several meshes may lack the bone.
            Err(why) => {
                refused.push((name, why));
                continue;
            }
        };
        if !outcome.points.is_empty() {
            let mut edit = document.paint_edit(mesh, outcome.points, outcome.rows);
            document.apply(&mut edit).map_err(Failure::input)?;
        }
        reports.push((name, outcome.report));
    }
    if reports.is_empty() {
        let why = refused.first().map_or("", |(_, why)| why.as_str());
        return Err(Failure::Input(format!(
            "--{} {}: {why}",
            step.flag, step.value
        )));
    }
    if !quiet {
        for (name, report) in &reports {
            write_report(label, name, report, out)?;
        }
        for (name, why) in &refused {
            writeln!(out, "{label} · {name}: not done. {why}")?;
        }
    }
    let meshes = reports.iter().map(|(name, report)| {
        let left_out = report.left_out.iter();
        let left_out = left_out.map(|l| json!({"why": l.why, "points": l.points.count()}));
        json!({
            "mesh": name,
            "considered": report.considered,
            "changed": report.changed,
            "left_out": left_out.collect::<Vec<_>>(),
            "notes": report.notes,
        })
    });
    let not_done = refused
        .iter()
        .map(|(name, why)| json!({"mesh": name, "why": why}));
    Ok(json!({
        "operation": label,
        "flag": format!("--{} {}", step.flag, step.value).trim_end(),
        "secs": began.elapsed().as_secs_f64(),
        "meshes": meshes.collect::<Vec<_>>(),
        "not_done": not_done.collect::<Vec<_>>(),
    }))
}

fn write_report(
    label: &str,
    name: &str,
    report: &Report,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    writeln!(
        out,
        "{label} · {name}: {} of {} changed",
        thousands(report.changed),
        counted(report.considered, "vertex")
    )?;
    for part in &report.left_out {
        writeln!(out, "  {} {}", thousands(part.points.count()), part.why)?;
    }
    for note in &report.notes {
        writeln!(out, "  {note}")?;
    }
    Ok(())
}
