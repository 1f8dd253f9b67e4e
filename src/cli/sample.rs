//! `sinew sample`: a generated model as a GLB.

use super::Failure;
use super::args::{SampleArg, SampleArgs};
use crate::io::Outputs;
use crate::sample::SampleKind;
use std::process::ExitCode;

/// Maximum number of points of a sample: enough for the benchmarks.
const MAX_POINTS: usize = 2_000_000;
const MIN_POINTS: usize = 100;

pub(crate) fn run(args: &SampleArgs) -> Result<ExitCode, Failure> {
    let kind = match args.kind {
        SampleArg::Arm => SampleKind::Arm,
        SampleArg::Hand => SampleKind::Hand,
        SampleArg::Leg => SampleKind::Leg,
        SampleArg::Mannequin => SampleKind::Mannequin,
        SampleArg::Cylinder => SampleKind::Cylinder,
        SampleArg::CoarseArm => SampleKind::CoarseArm,
    };
    let n_points = args.points.unwrap_or_else(|| kind.default_points());
    if !(MIN_POINTS..=MAX_POINTS).contains(&n_points) {
        return Err(Failure::Usage(format!(
            "--points must be {MIN_POINTS} - {MAX_POINTS}."
        )));
    }
    if args
        .out
        .extension()
        .is_none_or(|e| !e.eq_ignore_ascii_case("glb"))
    {
        return Err(Failure::Usage(format!(
            "--out {} must end in .glb.",
            args.out.display()
        )));
    }
    let model = crate::sample::sample(kind, n_points);
    let glb = crate::io::gltf_build::to_glb(&model);
    let out = Outputs::default().claim(&args.out);
    out.and_then(|out| out.write(&glb))
        .map_err(Failure::input)?;
    Ok(ExitCode::SUCCESS)
}
