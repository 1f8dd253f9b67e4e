//! The arguments, as `--help` teaches them.

use super::stack_args::{NamedStack, StackArgs};
use super::weights_args::WeightsArgs;
#[cfg(feature = "render")]
use crate::deform::diagnostics::Metric;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Make rigged characters bend well: open a glTF model, paint weights, choose the skinning, export plain glTF.
///
/// Without a subcommand the editor's window opens, on FILE if one is given.
#[derive(Debug, Parser)]
#[command(name = "sinew", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// A glTF model (.gltf, .glb) or a Sinew project (.ron) to open in the editor.
    pub file: Option<PathBuf>,
    /// What to do without the window.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print what a model holds: meshes, bones, skins, clips, extensions, findings.
    Info(InfoArgs),
    /// Deform a model and write the positions of its vertices.
    ///
    /// Vertices come in ascending order of node, then primitive, then the file's own order; world space, metres.
    Skin(SkinArgs),
    /// Draw a model to a PNG, without a window, as the viewport shows it.
    #[cfg(feature = "render")]
    Render(RenderArgs),
    /// Measure how good a deformation is, in a pose or over a whole clip: bulge, strain, jumps, folds, volume.
    Measure(MeasureArgs),
    /// Put deformer stacks side by side: pictures at the same moments, plots over a clip, a table of numbers.
    Compare(CompareArgs),
    /// Change weights: clean up, smooth, mirror, transfer, compute; in the order in which the flags stand.
    Weights(WeightsArgs),
    /// Write a glTF with what a project changed; everything else as it came.
    Export(ExportArgs),
    /// Check a model or project: every import finding and broken rule; exit 1 if one is an error.
    Check(CheckArgs),
    /// Measure the kernels on generated points.
    Bench(BenchArgs),
    /// Generate a sample model.
    Sample(SampleArgs),
}

/// `sinew info`
#[derive(Debug, Args)]
pub struct InfoArgs {
    /// Model (.gltf, .glb) or project (.ron).
    pub file: PathBuf,
    /// Machine-readable output.
    #[arg(long)]
    pub json: bool,
}

/// The pose. None of these given: the project's pose, else the file's rest pose.
#[derive(Debug, Args)]
#[command(next_help_heading = "Pose (none: the project's, else the file's rest)")]
pub struct PoseArgs {
    /// A clip, by number from 0 or by name.
    #[arg(long, value_name = "K|NAME", conflicts_with = "pose")]
    pub clip: Option<String>,
    /// Time in the clip, seconds; without it the clip's start.
    #[arg(long, value_name = "S", requires = "clip")]
    pub time: Option<f64>,
    /// Local transforms by node: {"nodes": [{"node": 3, "rotation": [x, y, z, w]}]}, also translation and scale.
    #[arg(long, value_name = "POSE.json")]
    pub pose: Option<PathBuf>,
}

/// `sinew skin`
#[derive(Debug, Args)]
pub struct SkinArgs {
    /// Model (.gltf, .glb) or project (.ron).
    pub file: PathBuf,
    /// Where to write: .npy (float32, n x 3) or .json.
    #[arg(long, short)]
    pub out: PathBuf,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub stack: StackArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub pose: PoseArgs,
}

/// `sinew measure`
#[derive(Debug, Args)]
pub struct MeasureArgs {
    /// Model (.gltf, .glb) or project (.ron).
    pub file: PathBuf,
    /// Machine-readable output, with every pose of a clip.
    #[arg(long)]
    pub json: bool,
    /// Poses a second where a clip is given without --time: then all of it is measured.
    #[arg(long, value_name = "HZ", default_value = "30", value_parser = parse_rate)]
    pub rate: f64,
    /// The stack that the difference is measured from: lbs, dqs, cor, blend, default, project, dqs+compensation ...
    #[arg(long, value_name = "STACK", default_value = "lbs")]
    pub against: NamedStack,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub stack: StackArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub pose: PoseArgs,
}

/// `sinew compare`
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Model (.gltf, .glb) or project (.ron).
    pub file: PathBuf,
    /// The stacks, with commas: lbs, dqs, cor, blend, default, project; corrections are added with +, as in
    /// dqs+compensation, dqs+projection, dqs+projection+published.
    #[arg(
        long,
        value_name = "A,B,C",
        value_delimiter = ',',
        default_value = "lbs,dqs,default"
    )]
    pub methods: Vec<NamedStack>,
    /// A folder for the report (index.html and numbers.json), or a .png file for one sheet.
    #[arg(long, short)]
    pub out: PathBuf,
    /// Poses a second where a clip is given without --time.
    #[arg(long, value_name = "HZ", default_value = "30", value_parser = parse_rate)]
    pub rate: f64,
    /// How many moments of a clip get pictures, 1 - 8.
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u8).range(1..=8))]
    pub moments: u8,
    /// Width x height of a picture in pixels.
    #[cfg(feature = "render")]
    #[arg(long, value_name = "WxH", default_value = "560x420", value_parser = parse_size)]
    pub size: (u32, u32),
    /// Where to look from.
    #[cfg(feature = "render")]
    #[arg(long, value_enum, default_value = "three-quarter")]
    pub view: ViewArg,
    /// What to show: textured, shaded, form, wire, or a heat map as for render; differences are from the first stack.
    #[cfg(feature = "render")]
    #[arg(long, default_value = "shaded", value_parser = parse_show)]
    pub show: Show,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub pose: PoseArgs,
}

fn parse_rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate > 0.0 && rate <= 1000.0 => Ok(rate),
        _ => Err("give poses a second, above 0 and up to 1000".into()),
    }
}

/// `sinew render`
#[cfg(feature = "render")]
#[derive(Debug, Args)]
pub struct RenderArgs {
    /// Model (.gltf, .glb) or project (.ron).
    pub file: PathBuf,
    /// The PNG to write.
    #[arg(long, short)]
    pub out: PathBuf,
    /// Width x height in pixels.
    #[arg(long, value_name = "WxH", default_value = "1280x960", value_parser = parse_size)]
    pub size: (u32, u32),
    /// Where to look from.
    #[arg(long, value_enum, default_value = "three-quarter")]
    pub view: ViewArg,
    /// What to show: textured, shaded, form, wire, weights:BONE (name or node number), or a heat map: bulge, strain,
    /// area, discontinuity, crease, fold, normals, difference.
    #[arg(long, alias = "shading", default_value = "textured", value_parser = parse_show)]
    pub show: Show,
    /// The stack that `--show difference` compares with, named as for compare.
    #[arg(long, value_name = "STACK", default_value = "lbs")]
    pub against: NamedStack,
    /// Leave the legend of a heat map out of the picture.
    #[arg(long)]
    pub no_legend: bool,
    /// The colours of weights.
    #[arg(long, value_enum, default_value = "perceptual")]
    pub ramp: RampArg,
    /// The colours around the model.
    #[arg(long, value_enum, default_value = "dark")]
    pub theme: ThemeArg,
    /// Draw the bones too; weights show them anyway.
    #[arg(long)]
    pub bones: bool,
    /// Draw edges over the surface.
    #[arg(long)]
    pub wire: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub stack: StackArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub pose: PoseArgs,
}

/// `--view`
#[cfg(feature = "render")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ViewArg {
    /// Along -Z.
    Front,
    /// Along +Z.
    Back,
    /// Along -X.
    Side,
    /// Along -Y.
    Top,
    /// From the front, the right and above.
    ThreeQuarter,
}

/// `--ramp`
#[cfg(feature = "render")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RampArg {
    /// Viridis: even steps of lightness.
    Perceptual,
    /// Blue, green, yellow, red.
    Rainbow,
    /// Black to white.
    Grey,
}

#[cfg(feature = "render")]
impl From<RampArg> for crate::view::Ramp {
    fn from(value: RampArg) -> Self {
        match value {
            RampArg::Perceptual => Self::Perceptual,
            RampArg::Rainbow => Self::Rainbow,
            RampArg::Grey => Self::Grey,
        }
    }
}

/// `--theme`
#[cfg(feature = "render")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ThemeArg {
    /// Light lines on dark grey.
    Dark,
    /// Dark lines on light grey.
    Light,
    /// White lines on black.
    HighContrast,
}

#[cfg(feature = "render")]
impl From<ThemeArg> for crate::view::Theme {
    fn from(value: ThemeArg) -> Self {
        match value {
            ThemeArg::Dark => Self::Dark,
            ThemeArg::Light => Self::Light,
            ThemeArg::HighContrast => Self::HighContrast,
        }
    }
}

/// `--show`
#[cfg(feature = "render")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Show {
    /// With its textures.
    Textured,
    /// Plain.
    Shaded,
    /// Under strip lights.
    Form,
    /// Edges.
    Wire,
    /// The weights of a bone.
    Weights(String),
    /// The heat map of a metric.
    HeatMap(Metric),
}

#[cfg(feature = "render")]
fn parse_size(text: &str) -> Result<(u32, u32), String> {
    let parsed = text
        .split_once(['x', 'X'])
        .and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    match parsed {
        Some((w, h)) if (1..=8192).contains(&w) && (1..=8192).contains(&h) => Ok((w, h)),
        _ => Err("give width x height in pixels, each 1 - 8192, such as 1280x960".into()),
    }
}

#[cfg(feature = "render")]
fn parse_show(text: &str) -> Result<Show, String> {
    match text {
        "textured" => Ok(Show::Textured),
        "shaded" => Ok(Show::Shaded),
        "form" => Ok(Show::Form),
        "wire" => Ok(Show::Wire),
        "folds" => Ok(Show::HeatMap(Metric::FoldOver)),
        _ if Metric::of_key(text).is_some() => {
            Ok(Show::HeatMap(Metric::of_key(text).unwrap_or(Metric::Bulge)))
        }
        _ => match text.strip_prefix("weights:") {
            Some(bone) if !bone.is_empty() => Ok(Show::Weights(bone.to_owned())),
            _ => {
                let metrics = Metric::ALL.map(Metric::key);
                Err(format!(
                    "give textured, shaded, form, wire, weights:BONE, or a heat map: {}",
                    metrics.join(", ")
                ))
            }
        },
    }
}

/// `sinew export`
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // flags of the command line, each on its own
pub struct ExportArgs {
    /// Model (.gltf, .glb) or project (.ron).
    pub file: PathBuf,
    /// The file to write: .glb or .gltf; with --still also .obj.
    #[arg(long, short)]
    pub out: PathBuf,
    /// One moment as a mesh, as the stack deforms it, without skins, clips and morph targets.
    #[arg(long)]
    pub still: bool,
    /// The clip of that moment, by number from 0 or by name; without it the project's pose, else the file's rest.
    #[arg(long, value_name = "K|NAME", requires = "still")]
    pub clip: Option<String>,
    /// The moment, seconds into the clip; without it the clip's start.
    #[arg(long, value_name = "S", requires = "clip")]
    pub time: Option<f64>,
    /// What the stack does beyond linear skinning, baked into the file.
    #[arg(long, value_enum, default_value = "none")]
    pub correct: CorrectArg,
    /// How far the corrected file may be off, in percent of the model's diagonal at rest; without it 0.1%.
    #[arg(long, value_name = "P%", value_parser = percent)]
    pub tolerance: Option<f64>,
    /// Most morph targets that a mesh gets, 0 - 64; without it 8.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=64))]
    pub max_morphs: Option<u32>,
    /// Most joints of a skin, helper joints included, 1 - 1024; without it 256.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub max_joints: Option<u32>,
    /// Clips to correct, by number from 0 or by name; without it all.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub clips: Vec<String>,
    /// Let morph weights be negative: a target less.
    #[arg(long)]
    pub signed_weights: bool,
    /// Leave the normals to the skin: smaller, and shaded less well where morph targets correct.
    #[arg(long)]
    pub no_normals: bool,
    /// Write every displacement of a morph target, for players that do not read sparse ones.
    #[arg(long)]
    pub dense: bool,
    /// Where to write what correction came to, as JSON.
    #[arg(long, value_name = "R.json")]
    pub report: Option<PathBuf>,
    /// Most influences a vertex keeps where its primitive is rewritten.
    #[arg(long, default_value = "4", value_parser = ["4", "8"])]
    pub influences: String,
    /// Write the project's pose into the nodes' rest transforms.
    #[arg(long)]
    pub write_pose_as_rest: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub stack: StackArgs,
}

/// `--correct`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CorrectArg {
    /// Weights, poses and clips only.
    None,
    /// Helper joints and morph targets, so that any player shows in these clips what the stack shows.
    Clips,
    /// Helper joints that an engine can drive in any clip by what the file says of them, with tracks for the clips in it:
    /// the stack's skinning, without what corrects it.
    Retarget,
    /// No skins: a morph target for each frame that is needed, for players that cannot skin. Only these clips are in
    /// the file.
    Frames,
}

/// "0.1%" as a fraction.
fn percent(text: &str) -> Result<f64, String> {
    let number = text
        .strip_suffix('%')
        .and_then(|text| text.trim().parse::<f64>().ok());
    match number {
        Some(percent) if (0.001..=10.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("give a percentage from 0.001% to 10%, such as 0.1%".into()),
    }
}

/// `sinew check`
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Model (.gltf, .glb) or project (.ron).
    pub file: PathBuf,
    /// Machine-readable output.
    #[arg(long)]
    pub json: bool,
}

/// `sinew bench`
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// How many points; without it 10,000, 100,000 and 1,000,000.
    #[arg(long)]
    pub points: Option<usize>,
    /// Machine-readable output: [{name, points, threads, ns_per_point}].
    #[arg(long)]
    pub json: bool,
}

/// `sinew sample`
#[derive(Debug, Args)]
pub struct SampleArgs {
    /// Which model.
    #[arg(value_enum)]
    pub kind: SampleArg,
    /// About how many points; without it the model's own number.
    #[arg(long)]
    pub points: Option<usize>,
    /// The .glb to write.
    #[arg(long, short)]
    pub out: PathBuf,
}

/// `sinew sample KIND`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SampleArg {
    /// Two bones and an elbow.
    Arm,
    /// A palm and five fingers.
    Hand,
    /// A whole figure with a walk and a range of motion.
    Mannequin,
    /// The analytic test cylinder.
    Cylinder,
}
