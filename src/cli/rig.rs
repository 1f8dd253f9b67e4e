//! `sinew rig`: operations on bones, in the order given, with a report of each.

use super::rig_args::{RigArgs, RigStep};
use super::written::{self, USUAL, Writing};
use super::{Failure, constraint_args, load, scene};
use crate::document::rig::{Axis, Intent, PIN_EASE_SECS, Pin};
use crate::document::{ClipId, Document, Edit};
use crate::io::is_project;
use crate::rig::{Operation, Report, Template};
use crate::skeleton::joint_limits::JointLimits;
use crate::skeleton::{JointId, Pose};
use crate::task::Task;
use crate::weights::automatic::Automatic;
use glam::DVec3;
use serde_json::Value;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

pub(crate) fn run(args: &RigArgs, out: &mut dyn Write) -> Result<ExitCode, Failure> {
    written::check_out(args.out.as_deref())?;
    let mut loaded = load::load(&args.file)?;
    if let Some(pose) = &args.pose.pose {
        loaded.outputs.protect(pose, "the pose file");
    }
    // What is wrong with the flags of the pose is said before anything is done.
    scene::pose(&loaded, &args.pose)?;
    let project = args.out.as_deref().filter(|path| is_project(path));
    let project = project.map(|path| loaded.outputs.claim_project(path));
    let project = project.transpose().map_err(Failure::input)?;
    if let Some(path) = args.out.as_deref().filter(|path| !is_project(path)) {
        loaded.outputs.check(path).map_err(Failure::input)?;
    }
    if args.steps.0.is_empty() {
        return Err(Failure::Usage(
            "No operation was given: --help lists them.".into(),
        ));
    }
    let pose = &args.pose;
    let has_pose = pose.clip.is_some() || pose.pose.is_some();
    let takes_pose = |step: &RigStep| ["pose-as-rest", "apply-pose"].contains(&step.flag);
    if has_pose && !args.steps.0.iter().any(takes_pose) {
        return Err(Failure::Usage(
            "--clip, --time and --pose need --pose-as-rest or --apply-pose.".into(),
        ));
    }
    let brush_before = loaded.document.session().brush;
    let most = written::longest_row(&loaded.document).max(USUAL);
    loaded.document.session_mut().brush.max_influences = most;
    let mut steps = Vec::new();
    let mut given = args.steps.0.iter().peekable();
    while let Some(step) = given.next() {
        let intent = given.next_if(|next| next.flag == "intent");
        // In the axes that the operations before have left.
        let pose = || scene::pose(&loaded, &args.pose).map(|posed| posed.pose);
        let operation = operation(&loaded.document, step, intent, pose)?;
        let document = &mut loaded.document;
        steps.push(perform(document, &operation, step, args.json, out)?);
    }
    let load::Loaded {
        mut document,
        mut outputs,
        ..
    } = loaded;
    // The setting applies to the operations only, not to the project.
    document.session_mut().brush = brush_before;
    let writing = Writing {
        include_outside: args.include_outside,
        ..Writing::default()
    };
    let written = match &args.out {
        Some(path) => Some(written::write(
            &document,
            path,
            project,
            writing,
            &mut outputs,
        )?),
        None => None,
    };
    written::report(&args.file, &steps, written.as_ref(), args.json, out)?;
    Ok(ExitCode::SUCCESS)
}

/// Applies an operation and writes its report.
fn perform(
    document: &mut Document,
    operation: &Operation,
    step: &RigStep,
    quiet: bool,
    out: &mut dyn Write,
) -> Result<Value, Failure> {
    let refused = |why: String| Failure::Input(format!("{}: {why}", step.line()));
    let done = operation.run(document, &Task::new());
    let done = done.map_err(|error| refused(error.to_string()))?;
    let mut after = document.clone();
    after
        .apply(&mut Edit::Rig(Box::new(done.edit.clone())))
        .map_err(|error| refused(error.to_string()))?;
    if let Operation::Rename { joint, name } = operation {
        for mut edit in document.follow_renamed_bone(*joint, name.trim()) {
            after
                .apply(&mut edit)
                .map_err(|error| refused(error.to_string()))?;
        }
    }
    let report = Report::new(operation, &done, document, &after);
    *document = after;
    if !quiet {
        writeln!(out, "{}", step.line())?;
        for line in report.lines() {
            writeln!(out, "{line}")?;
        }
    }
    let mut value = report.to_json();
    if let Some(value) = value.as_object_mut() {
        value.insert("flag".into(), step.line().into());
    }
    Ok(value)
}

/// The operation of a flag. `intent`: the flag `--intent` after it; `pose`: the pose of the flags.
fn operation(
    document: &Document,
    step: &RigStep,
    intent: Option<&RigStep>,
    pose: impl FnOnce() -> Result<Arc<Pose>, Failure>,
) -> Result<Operation, Failure> {
    let wrong = |why: &str| Failure::Usage(format!("{}: {why}.", step.line()));
    let is_move = step.flag == "move";
    if let Some(intent) = intent.filter(|_| !is_move) {
        return Err(Failure::Usage(format!(
            "{}: it must follow a --move.",
            intent.line()
        )));
    }
    let value = |i: usize| step.values.get(i).map_or("", String::as_str);
    let joint = |i: usize| joint(document, step, value(i));
    let count = || {
        let count = value(1).parse::<usize>();
        count.map_err(|_| wrong("N must be a whole number"))
    };
    Ok(match step.flag {
        "insert" => Operation::Insert {
            joint: joint(0)?,
            n: count()?,
        },
        "move" => Operation::Move {
            joint: joint(0)?,
            by: offset(value(1))
                .ok_or_else(|| wrong("an offset is x,y,z in metres, as 0,0.1,0"))?,
            intent: match intent.map(|intent| intent.values.concat()).as_deref() {
                None | Some("pivot") => Intent::NewPivot,
                Some("motion") => Intent::KeepMotion,
                Some("children") => Intent::ChildrenKeepMotion,
                Some(_) => return Err(wrong("--intent is pivot, motion or children")),
            },
        },
        "orient" => {
            let [aim, second] = axes(value(1))
                .ok_or_else(|| wrong("axes are two of +x, -x, +y, -y, +z, -z, as +y,+z"))?;
            Operation::Orient {
                joint: joint(0)?,
                aim,
                second,
            }
        }
        "reparent" => Operation::Reparent {
            joint: joint(0)?,
            parent: joint(1)?,
        },
        "remove" => Operation::Remove { joint: joint(0)? },
        "symmetrize" => Operation::Symmetrize { joint: joint(0)? },
        "twist" => Operation::Twist {
            joint: joint(0)?,
            n: count()?,
        },
        "half" => Operation::Half { joint: joint(0)? },
        "freeze-scale" => Operation::FreezeScale { joint: joint(0)? },
        "rename" => Operation::Rename {
            joint: joint(0)?,
            name: value(1).to_owned(),
        },
        "centre" => Operation::Centre { joint: joint(0)? },
        "constraint" => {
            let of = joint(0)?;
            let find = |name: &str| bone(document, name);
            let made = constraint_args::parse(value(1), document.skeleton(), of, find);
            Operation::Constrain {
                joint: of,
                constraint: Box::new(made.map_err(|why| wrong(&why))?),
            }
        }
        "template" => Operation::Template(
            Template::ALL
                .into_iter()
                .find(|kind| kind.label().eq_ignore_ascii_case(value(0)))
                .ok_or_else(|| wrong("use humanoid, quadruped, chain or hand"))?,
        ),
        "bind" => Operation::Bind(match value(0) {
            "heat" => Automatic::Heat,
            "voxel" => Automatic::Voxel {
                resolution: 128,
                falloff: 0.3,
            },
            "biharmonic" => Automatic::Biharmonic { resolution: 32 },
            "rigid" => Automatic::Rigid,
            _ => return Err(wrong("use heat, voxel, biharmonic or rigid")),
        }),
        "unbind" => Operation::Unbind,
        "bind-kept" => Operation::BindKept,
        "infer-parents" => Operation::InferParents,
        "limits" => Operation::Limit {
            joint: joint(0)?,
            limits: match value(1) {
                "none" => None,
                ranges => Some(limits(ranges).ok_or_else(|| {
                    wrong("limits are three ranges of degrees, as -10:150,0:0,free, or none")
                })?),
            },
        },
        "logical-parent" => Operation::LogicalParent {
            joint: joint(0)?,
            parent: match value(1) {
                "none" => None,
                _ => Some(joint(1)?),
            },
        },
        "pin" => {
            let (clip, _) = scene::find_clip_id(document, value(1))?;
            Operation::Pin(pin(joint(0)?, clip, value(2)).ok_or_else(|| {
                wrong("write the range as FROM..TO in seconds, such as 0.2..0.8,at=0.3")
            })?)
        }
        "apply-pose" => Operation::ApplyPose(pose()?),
        "pose-as-rest" => Operation::PoseAsRest(pose()?),
        "intent" => return Err(wrong("it must follow a --move")),
        _ => return Err(wrong("see --help for its values")),
    })
}

/// A range `LOW:HIGH` in degrees or `free` for each axis, separated by commas.
fn limits(text: &str) -> Option<JointLimits> {
    let mut ranges = text.split(',').map(|range| {
        if range == "free" {
            return Some(JointLimits::FREE);
        }
        let (low, high) = range.split_once(':')?;
        let angle = |text: &str| Some(text.trim().parse::<f64>().ok()?.to_radians());
        Some([angle(low)?, angle(high)?])
    });
    let limits = JointLimits([ranges.next()??, ranges.next()??, ranges.next()??]);
    (ranges.next().is_none() && limits.is_valid()).then_some(limits)
}

/// A pin over a range "0.2..0.8,at=0.3,ease=0.1", seconds.
fn pin(joint: JointId, clip: ClipId, text: &str) -> Option<Pin> {
    let mut parts = text.split(',');
    let (from, to) = parts.next()?.split_once("..")?;
    let secs = |text: &str| text.trim().parse::<f64>().ok().filter(|s| s.is_finite());
    let range = [secs(from)?, secs(to)?];
    let mut pin = Pin {
        joint,
        clip,
        range,
        at: range[0],
        place: None,
        ease: PIN_EASE_SECS,
    };
    for part in parts {
        match part.split_once('=')? {
            ("at", text) => pin.at = secs(text)?,
            ("ease", text) => pin.ease = secs(text).filter(|s| *s >= 0.0)?,
            _ => return None,
        }
    }
    Some(pin)
}

/// The bone of a name, of `#NODE`, or of a name that several have and a number: "name.001" is the second one.
fn joint(document: &Document, step: &RigStep, wanted: &str) -> Result<JointId, Failure> {
    let found = bone(document, wanted);
    found.map_err(|why| Failure::Usage(format!("{}: {why}.", step.line())))
}

/// As [`joint`]; the error is the end of a sentence.
fn bone(document: &Document, wanted: &str) -> Result<JointId, String> {
    let skeleton = document.skeleton();
    let of_node = |node: &str| {
        let joint = skeleton.joint_of_node(node.parse().ok()?)?;
        skeleton.is_live(joint).then_some(joint)
    };
    let by_number = || {
        if let Some(node) = wanted.strip_prefix('#') {
            return of_node(node);
        }
        let (name, number) = wanted.rsplit_once('.')?;
        let number = (number.len() == 3).then(|| number.parse::<usize>().ok())??;
        let named = scene::named_joints(document, name);
        named.get(number).copied().filter(|_| number > 0)
    };
    let named = scene::named_joints(document, wanted);
    match &named[..] {
        [joint] => Ok(*joint),
        [] => by_number().ok_or_else(|| format!("there is no bone “{wanted}”")),
        several => {
            let names = several.iter().enumerate().take(4);
            let names = names.filter_map(|(n, &j)| match skeleton.joint(j).source_node {
                Some(node) => Some(format!("#{node}")),
                None => (n > 0).then(|| format!("{wanted}.{n:03}")),
            });
            Err(format!(
                "{} bones are named “{wanted}”; give one by its node or number: {}",
                several.len(),
                names.collect::<Vec<_>>().join(", ")
            ))
        }
    }
}

/// "x,y,z"
fn offset(text: &str) -> Option<DVec3> {
    let numbers = text.split(',').map(|part| part.trim().parse::<f64>().ok());
    let numbers: Vec<f64> = numbers.collect::<Option<_>>()?;
    match numbers[..] {
        [x, y, z] if numbers.iter().all(|n| n.is_finite()) => Some(DVec3::new(x, y, z)),
        _ => None,
    }
}

/// "+y,+z"
fn axes(text: &str) -> Option<[Axis; 2]> {
    let axis = |text: &str| {
        Some(match text.to_ascii_lowercase().as_str() {
            "+x" | "x" => Axis::X,
            "-x" => Axis::NegX,
            "+y" | "y" => Axis::Y,
            "-y" => Axis::NegY,
            "+z" | "z" => Axis::Z,
            "-z" => Axis::NegZ,
            _ => return None,
        })
    };
    let (aim, second) = text.split_once(',')?;
    Some([axis(aim.trim())?, axis(second.trim())?])
}
