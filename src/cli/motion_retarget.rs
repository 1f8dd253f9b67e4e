//! `sinew motion --bvh`, `--from`, `--replay`, `--stream`: a motion on a character, as a clip.

use super::motion_args::{
    FeetArg, FrameTimeArg, HeadingArg, MapArg, MotionArgs, ReferenceArg, ScaleArg,
};
use super::motion_streams::read_timed;
use super::retarget_args::StretchArg;
use super::{Failure, load, scene};
use crate::document::{ClipId, Document, Edit};
use crate::export::{ExportOptions, GltfFormat, export_to_file};
use crate::io::channels::read_recording;
use crate::io::mapping_file::read_mapping;
use crate::io::motion_item::motion_of_clip;
use crate::io::motion_source::read_motion_source;
use crate::io::{Outputs, project};
use crate::motion::retarget::{
    BakeOptions, MotionSettings, Reference, RetargetOptions, RetargetReport, RoleSearch, Scale,
};
use crate::motion::roles::RoleMap;
use crate::motion::timing::TimingError;
use crate::motion::vmc::take_of_body;
use crate::motion::{MotionSource, Recording};
use crate::rig::{AddedMotion, Character};
use crate::task::Task;
use serde::Serialize;
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
    let (source, channels) = source(args, &mut loaded.outputs)?;
    if channels.is_none() && !args.bind.is_empty() {
        return Err(Failure::Usage(
            "--bind needs the channels of a recording: use --stream or --replay.".into(),
        ));
    }
    // The map is read, too: it is protected before the outputs are chosen.
    let settings = settings(args, &mut loaded.outputs)?;
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
    let character = Character::of(&document);
    let take = source.take(settings.positions);
    let roles = character
        .roles(&take.rest, &settings)
        .map_err(|why| match &args.map {
            MapArg::File(path) => Failure::Input(format!("{}: {why}.", path.display())),
            _ => Failure::Input(why),
        })?;
    let name = free_name(&document, &source.name);
    let task = Task::new();
    let added = match &channels {
        Some(channels) => character.add_recorded(&take, channels, &roles, &settings, &name, &task),
        None => character.add(&take, &roles, &settings, &name, &task),
    };
    let added = added.map_err(Failure::input)?;
    let last = document.clips().keys().next_back();
    let id = ClipId(last.map_or(0, |id| id.0.saturating_add(1)));
    let clip = Some(Arc::new(added.baked.clip.clone()));
    document
        .apply(&mut Edit::Clip { id, clip })
        .map_err(Failure::input)?;
    for line in added.lines() {
        writeln!(out, "{line}")?;
    }
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
        let report = report(&added);
        let text = serde_json::to_string_pretty(&report).map_err(Failure::input)?;
        report_to.write(text.as_bytes()).map_err(Failure::input)?;
    }
    writeln!(out, "Wrote {}", to.display())?;
    Ok(ExitCode::SUCCESS)
}

/// A motion, and what is recorded beside its body.
type Source = (MotionSource, Option<Recording>);

/// The motion of `--bvh`, `--from`, `--replay` or `--stream`.
fn source(args: &MotionArgs, outputs: &mut Outputs) -> Result<Source, Failure> {
    if let Some(path) = &args.bvh {
        outputs.protect(path, "the motion");
        let source = read_motion_source(path, &Task::new()).map_err(Failure::input)?;
        if args.frame_time == FrameTimeArg::Seconds {
            return Ok((source, None));
        }
        let timed = source.with_frame_rate(true).ok_or_else(|| {
            let why = TimingError::NoFrameRate;
            Failure::Input(format!("--frame-time fps: {}: {why}.", path.display()))
        })?;
        return Ok((timed, None));
    }
    let stream = match &args.streams.0[..] {
        [] => None,
        [stream] if stream.clock.is_none() && stream.events.is_empty() => Some(stream),
        _ => {
            return Err(Failure::Usage(
                "--out makes a clip of one --stream, without --clock and --event.".into(),
            ));
        }
    };
    if let Some(path) = &args.replay {
        outputs.protect(path, "the motion");
        let recording = read_recording(path, &Task::new()).map_err(Failure::input)?;
        return Ok(recorded(path, recording));
    }
    if let Some(stream) = stream.filter(|_| args.from.is_none()) {
        outputs.protect(&stream.path, "the motion");
        return Ok(recorded(&stream.path, read_timed(stream)?));
    }
    let Some(path) = &args.from else {
        return Err(Failure::Usage(
            "No motion is given: use --bvh, --from, --replay or --stream.".into(),
        ));
    };
    let other = load::load(path)?;
    outputs.protect(path, "the motion");
    outputs.protect_model(&other.document, "the model of the motion");
    let wanted = args.clip.as_deref().unwrap_or("0");
    let clip = scene::find_clip(&other.document, wanted)?;
    Ok((motion_of_clip(&other.document, clip), None))
}

/// The body of a recording, if it has one, and its channels.
fn recorded(path: &Path, recording: Recording) -> Source {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let notes = recording.notes.clone();
    let source = match take_of_body(&recording) {
        Some(take) => MotionSource::of_take(name, take, notes),
        None => MotionSource::without_body(name, notes),
    };
    (source, Some(recording))
}

/// The settings of the arguments, with the pairs of a map file.
fn settings(args: &MotionArgs, outputs: &mut Outputs) -> Result<MotionSettings, Failure> {
    let (search, mut by_hand) = match &args.map {
        MapArg::Auto => (RoleSearch::Auto, RoleMap::default()),
        MapArg::Names => (RoleSearch::Names, RoleMap::default()),
        MapArg::Structure => (RoleSearch::Structure, RoleMap::default()),
        MapArg::File(path) => {
            outputs.protect(path, "the map");
            let fault = |why: String| Failure::Input(format!("{}: {why}.", path.display()));
            (RoleSearch::Auto, read_mapping(path).map_err(fault)?)
        }
    };
    by_hand.twists.extend(args.twist.iter().cloned());
    Ok(MotionSettings {
        positions: args.positions.into(),
        search,
        by_hand,
        retarget: RetargetOptions {
            reference: match args.reference {
                ReferenceArg::Auto => Reference::Auto,
                ReferenceArg::Best => Reference::Best,
                ReferenceArg::Zero => Reference::Zero,
                ReferenceArg::Frame(frame) => Reference::Frame(frame),
            },
            keeps_heading: args.heading == HeadingArg::Recorded,
            scale: match args.scale {
                ScaleArg::Leg => Scale::Leg,
                ScaleArg::Hip => Scale::Hip,
                ScaleArg::Fixed(scale) => Scale::Fixed(scale),
            },
            travel: args.travel.into(),
            root: args.root.into(),
            keeps_stretch: args.stretch == StretchArg::Keep,
        },
        bake: BakeOptions {
            locks_feet: args.feet == FeetArg::Lock,
            tolerance: args.tolerance,
            contacts: None,
        },
        bindings: args.bind.clone(),
    })
}

/// A name that no clip of the document has.
fn free_name(document: &Document, wanted: &str) -> String {
    let wanted = if wanted.is_empty() { "Motion" } else { wanted };
    let is_free = |name: &String| document.clips().values().all(|clip| clip.name != *name);
    let numbered = (2..).map(|n| format!("{wanted} {n}"));
    let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
    names.find(is_free).unwrap_or_default()
}

fn report(added: &AddedMotion) -> Report<'_> {
    let feet = &added.baked.feet;
    Report {
        clip: &added.baked.clip.name,
        frames: added.times.len(),
        retarget: &added.report,
        feet: Feet {
            held: feet.holds,
            contacts: added.feet_secs(),
            slide_before: feet.slide_before,
            slide_after: feet.slide_after,
            hip_drop: feet.hip_drop,
            out_of_reach: feet.out_of_reach,
        },
        keys: added.baked.keys,
    }
}
