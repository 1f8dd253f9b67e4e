//! `sinew motion`: recorded motion without a window.

use super::motion_args::{MotionArgs, MotionCommand};
use super::{Failure, motion_info, motion_listen, motion_query, motion_retarget, motion_table};
use crate::io::Outputs;
use crate::io::motion_file::{MotionFile, read_motion};
use crate::motion::bvh::BvhPoses;
use crate::task::Task;
use glam::DVec3;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(args: &MotionArgs, out: &mut dyn Write) -> Result<ExitCode, Failure> {
    if let Some(MotionCommand::Info(args)) = &args.command {
        return motion_info::run(args, out);
    }
    if let Some(listen) = args.listen {
        return motion_listen::run(args, listen, out);
    }
    if args.query {
        return motion_query::run(args, out);
    }
    if let Some(table) = &args.table {
        return motion_table::run(args, table, out);
    }
    if let (Some(file), Some(to), true) = (
        &args.file,
        &args.out,
        args.bvh.is_some()
            || args.from.is_some()
            || args.replay.is_some()
            || !args.streams.0.is_empty(),
    ) {
        return motion_retarget::run(args, file, to, out);
    }
    if let (Some(file), Some(to), false) = (&args.file, &args.out, args.places.is_empty()) {
        return places(args, file, to);
    }
    Err(Failure::Usage(
        "motion needs an action: info FILE, --places, --stream with --table, --query or a model and --out, --bvh, --from, --replay or --listen."
            .into(),
    ))
}

/// Writes the places of the joints of a BVH file at some frames.
fn places(args: &MotionArgs, file: &Path, to: &Path) -> Result<ExitCode, Failure> {
    if to
        .extension()
        .is_none_or(|e| !e.eq_ignore_ascii_case("npy"))
    {
        return Err(Failure::Usage(format!(
            "--out {} must end in .npy.",
            to.display()
        )));
    }
    let MotionFile::Bvh(bvh) = read_motion(file, &Task::new()).map_err(Failure::input)? else {
        return Err(Failure::Usage(format!(
            "--places needs a BVH file, which {} is not.",
            file.display()
        )));
    };
    if let Some(frame) = args.places.iter().find(|frame| **frame >= bvh.n_frames) {
        return Err(Failure::Usage(format!(
            "--places {frame}: {} has {} frames, counted from 0.",
            file.display(),
            bvh.n_frames
        )));
    }
    let mut outputs = Outputs::default();
    outputs.protect(file, "the motion itself");
    let output = outputs.claim(to).map_err(Failure::input)?;
    let poses = BvhPoses::new(&bvh, args.positions.into());
    let frames = args.places.iter();
    let places: Vec<DVec3> = frames
        .flat_map(|frame| poses.places(Some(*frame)))
        .collect();
    let bytes = npy(&places, args.places.len())?;
    output.write(&bytes).map_err(Failure::input)?;
    Ok(ExitCode::SUCCESS)
}

/// A float64 array of shape (n_frames, n_joints, 3).
fn npy(places: &[DVec3], n_frames: usize) -> std::io::Result<Vec<u8>> {
    use npyz::WriterBuilder;
    let mut bytes = Vec::with_capacity(places.len() * 24 + 128);
    let n_joints = places.len() / n_frames.max(1);
    let mut writer = npyz::WriteOptions::new()
        .default_dtype()
        .shape(&[n_frames as u64, n_joints as u64, 3])
        .writer(&mut bytes)
        .begin_nd()?;
    writer.extend(places.iter().flat_map(DVec3::to_array))?;
    writer.finish()?;
    Ok(bytes)
}
