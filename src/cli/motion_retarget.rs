//! `sinew motion --bvh`, `--from`, `--replay`: a motion on a character, as a clip.

use super::motion_args::{MapArg, MotionArgs, ReferenceArg, ScaleArg};
use super::{Failure, load, scene};
use crate::document::{ClipId, Document, Edit};
use crate::export::{ExportOptions, GltfFormat, export_to_file};
use crate::finding::{counted, trimmed};
use crate::io::motion_file::{read_bvh, read_vmc};
use crate::io::{Outputs, project, read_small_text};
use crate::motion::retarget::{
    BakeOptions, Baked, Reference, Retarget, RetargetOptions, RetargetReport, Scale,
};
use crate::motion::roles::{RoleMap, Roles, by_names, by_structure, find_roles};
use crate::motion::{Note, Rig, Take};
use crate::skeleton::JointId;
use crate::task::Task;
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// What `--report` writes.
#[derive(Serialize)]
struct Report<'a> {
    clip: &'a str,
    frames: usize,
    #[serde(flatten)]
    retarget: &'a RetargetReport,
    feet: Feet,
    keys: crate::motion::retarget::KeyReport,
}

/// Resting feet, seconds and metres.
#[derive(Serialize)]
struct Feet {
    held: bool,
    contacts: [Vec<[f64; 2]>; 2],
    slide_before: [f64; 2],
    slide_after: [f64; 2],
    hip_drop: f64,
    out_of_reach: f64,
}

/// A motion and what was noted while reading it.
struct Source {
    take: Take,
    name: String,
    notes: Vec<Note>,
}

pub(super) fn run(
    args: &MotionArgs,
    file: &Path,
    to: &Path,
    out: &mut dyn Write,
) -> Result<ExitCode, Failure> {
    let is_project = crate::io::is_project(to);
    let format = GltfFormat::of_path(to);
    if !is_project && format.is_none() {
        return Err(Failure::Usage(format!(
            "--out {} must end in .glb, .gltf or .ron.",
            to.display()
        )));
    }
    let mut loaded = load::load(file)?;
    let source = source(args, &mut loaded.outputs)?;
    let report_to = args.report.as_ref().map(|path| loaded.outputs.claim(path));
    let report_to = report_to.transpose().map_err(Failure::input)?;
    let project_to = is_project.then(|| loaded.outputs.claim_project(to));
    let project_to = project_to.transpose().map_err(Failure::input)?;
    if project_to.is_none() {
        loaded.outputs.check(to).map_err(Failure::input)?;
    }
    for note in &source.notes {
        writeln!(out, "{}", note.placed())?;
    }
    let mut document = loaded.document;
    let bones = bones(&document);
    let skeleton = document.skeleton().clone();
    let rig = Rig::of_skeleton(&skeleton, |j| bones.contains(&j));
    let [ours, theirs] = roles(args, &source.take.rest, &rig, &mut loaded.outputs)?;
    let options = RetargetOptions {
        reference: match args.reference {
            ReferenceArg::Auto => Reference::Auto,
            ReferenceArg::Best => Reference::Best,
            ReferenceArg::Zero => Reference::Zero,
            ReferenceArg::Frame(frame) => Reference::Frame(frame),
        },
        keeps_heading: args.heading == super::motion_args::HeadingArg::Recorded,
        scale: match args.scale {
            ScaleArg::Leg => Scale::Leg,
            ScaleArg::Hip => Scale::Hip,
            ScaleArg::Fixed(scale) => Scale::Fixed(scale),
        },
        travel: args.travel.into(),
    };
    let retarget = Retarget::new(&source.take, &ours, &skeleton, &rig, &theirs, &options);
    let retarget = retarget.map_err(|why| Failure::Input(sentence(&why.to_string())))?;
    let bake = BakeOptions {
        locks_feet: args.feet == super::motion_args::FeetArg::Lock,
        tolerance: args.tolerance,
    };
    let name = free_name(&document, &source.name);
    let baked = retarget
        .bake(&name, &bake, &Task::new())
        .map_err(Failure::input)?;
    let last = document.clips().keys().next_back();
    let id = ClipId(last.map_or(0, |id| id.0.saturating_add(1)));
    let clip = Some(Arc::new(baked.clip.clone()));
    document
        .apply(&mut Edit::Clip { id, clip })
        .map_err(Failure::input)?;
    print(&retarget, &baked, out)?;
    match (project_to, format) {
        (Some(output), _) => {
            project::save(&document, output.path(), &Task::new()).map_err(Failure::input)?;
        }
        (None, Some(format)) => {
            let options = ExportOptions {
                format,
                ..ExportOptions::default()
            };
            export_to_file(&document, to, &options, &mut loaded.outputs, &Task::new())
                .map_err(Failure::input)?;
        }
        (None, None) => {}
    }
    if let Some(report_to) = report_to {
        let report = report(&retarget, &baked);
        let text = serde_json::to_string_pretty(&report).map_err(Failure::input)?;
        report_to.write(text.as_bytes()).map_err(Failure::input)?;
    }
    writeln!(out, "Wrote {}", to.display())?;
    Ok(ExitCode::SUCCESS)
}

/// The motion of `--bvh`, `--from` or `--replay`.
fn source(args: &MotionArgs, outputs: &mut Outputs) -> Result<Source, Failure> {
    if let Some(path) = &args.bvh {
        outputs.protect(path, "the motion");
        let bvh = read_bvh(path, &Task::new()).map_err(Failure::input)?;
        let stem = path
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned());
        return Ok(Source {
            take: Take::of_bvh(&bvh, args.positions.into()),
            name: stem.unwrap_or_default(),
            notes: bvh.notes,
        });
    }
    if let Some(path) = &args.replay {
        outputs.protect(path, "the motion");
        let packets = read_vmc(path, &Task::new()).map_err(Failure::input)?;
        let take = packets.take_of_body().ok_or_else(|| {
            Failure::Input(format!("{}: no packet moves a bone.", path.display()))
        })?;
        let stem = path
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned());
        return Ok(Source {
            take,
            name: stem.unwrap_or_default(),
            notes: packets.recording().notes,
        });
    }
    let Some(path) = &args.from else {
        return Err(Failure::Usage(
            "No motion is given: use --bvh, --from or --replay.".into(),
        ));
    };
    let other = load::load(path)?;
    outputs.protect(path, "the motion");
    outputs.protect_model(&other.document, "the model of the motion");
    let wanted = args.clip.as_deref().unwrap_or("0");
    let clip = scene::find_clip(&other.document, wanted)?;
    let bones = bones(&other.document);
    Ok(Source {
        take: Take::of_clip(other.document.skeleton(), clip, |j| bones.contains(&j)),
        name: clip.name.clone(),
        notes: Vec::new(),
    })
}

/// The joints that move a skin; all of them where there is none.
fn bones(document: &Document) -> BTreeSet<usize> {
    let skins = document.skins().values();
    let joints: BTreeSet<usize> = skins
        .flat_map(|skin| skin.joints.iter().map(|joint| joint.get()))
        .collect();
    if joints.is_empty() {
        return document
            .skeleton()
            .live_joints()
            .map(JointId::get)
            .collect();
    }
    joints
}

/// The roles of the motion and of the character.
fn roles(
    args: &MotionArgs,
    source: &Rig,
    target: &Rig,
    outputs: &mut Outputs,
) -> Result<[Roles; 2], Failure> {
    let both = |find: &dyn Fn(&Rig) -> Roles| [find(source), find(target)];
    match &args.map {
        MapArg::Auto => Ok(both(&find_roles)),
        MapArg::Names => Ok(both(&by_names)),
        MapArg::Structure => Ok(both(&|rig| by_structure(rig).unwrap_or_default())),
        MapArg::File(path) => {
            outputs.protect(path, "the map");
            let fault = |why: String| Failure::Input(format!("{}: {why}.", path.display()));
            let text = read_small_text(path).map_err(|why| fault(why.to_string()))?;
            let map: RoleMap = ron::from_str(&text).map_err(|why| fault(why.to_string()))?;
            let [mut ours, mut theirs] = both(&find_roles);
            map.apply([source, target], &mut ours, &mut theirs)
                .map_err(fault)?;
            Ok([ours, theirs])
        }
    }
}

/// A name that no clip of the document has.
fn free_name(document: &Document, wanted: &str) -> String {
    let wanted = if wanted.is_empty() { "Motion" } else { wanted };
    let is_free = |name: &String| document.clips().values().all(|clip| clip.name != *name);
    let numbered = (2..).map(|n| format!("{wanted} {n}"));
    let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
    names.find(is_free).unwrap_or_default()
}

/// A fault as a sentence.
fn sentence(why: &str) -> String {
    let mut chars = why.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), chars.as_str())
}

fn report<'a>(retarget: &'a Retarget<'_>, baked: &'a Baked) -> Report<'a> {
    let times = retarget.times();
    let secs = |contacts: &Vec<crate::motion::contacts::Contact>| {
        contacts
            .iter()
            .map(|c| [times[c.first], times[c.last]])
            .collect()
    };
    let feet = &baked.feet;
    Report {
        clip: &baked.clip.name,
        frames: retarget.n_frames(),
        retarget: &retarget.report,
        feet: Feet {
            held: feet.holds,
            contacts: [secs(&feet.contacts[0]), secs(&feet.contacts[1])],
            slide_before: feet.slide_before,
            slide_after: feet.slide_after,
            hip_drop: feet.hip_drop,
            out_of_reach: feet.out_of_reach,
        },
        keys: baked.keys,
    }
}

fn print(retarget: &Retarget<'_>, baked: &Baked, out: &mut dyn Write) -> std::io::Result<()> {
    let report = &retarget.report;
    writeln!(
        out,
        "{} moved, {} up, reference {}, scale {}",
        counted(report.mapped, "bone"),
        report.up,
        report.reference,
        trimmed(report.scale)
    )?;
    for warning in &report.warnings {
        writeln!(out, "{warning}")?;
    }
    let feet = &baked.feet;
    let n: usize = feet.contacts.iter().map(Vec::len).sum();
    if feet.holds {
        writeln!(
            out,
            "{} of the feet locked: they slide {} cm/s instead of {}, the hips are lowered by {} cm",
            counted(n, "contact"),
            trimmed(feet.slide_after[0] * 100.0),
            trimmed(feet.slide_before[0] * 100.0),
            trimmed(feet.hip_drop * 100.0)
        )?;
    } else if feet.is_searched {
        writeln!(
            out,
            "{} found: the feet are hardly planted, so they are not locked",
            counted(n, "contact")
        )?;
    }
    let keys = &baked.keys;
    writeln!(
        out,
        "clip \"{}\": {} s, {} of {} keys, joints within {} % of the height",
        baked.clip.name,
        trimmed(retarget.times().last().copied().unwrap_or(0.0)),
        keys.keys,
        keys.of,
        trimmed(keys.worst * 100.0)
    )
}
