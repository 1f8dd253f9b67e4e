//! The arguments, as `--help` explains them.

use super::body_args::BodyArgs;
use super::motion_args::MotionArgs;
use super::named_stack::NamedStack;
pub use super::pose_args::PoseArgs;
use super::psd_args::PsdArgs;
use super::rig_args::RigArgs;
use super::shown_body::ShownBodyArgs;
use super::stack_args::StackArgs;
use super::weights_args::WeightsArgs;
use crate::bake::NORMALS_SHARE;
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
    /// A model (.gltf, .glb, .obj) or a Sinew project (.ron) to open in the editor.
    pub file: Option<PathBuf>,
    /// The work to do without the window.
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
    /// Measure a deformation, in a pose or over a whole clip: bulge, strain, discontinuity, folds, volume.
    Measure(MeasureArgs),
    /// Compare deformer stacks side by side: pictures of the same frames, plots over a clip, a table of numbers.
    Compare(CompareArgs),
    /// Change weights: clean up, smooth, mirror, transfer, compute. Operations run in the order of their flags.
    Weights(WeightsArgs),
    /// Change bones: subdivide, move, orient, reparent, remove, mirror, add twist and half bones, bind. Operations run
    /// in the order of their flags.
    ///
    /// A bone is given by its name, or by the number of its node in the file as #NODE.
    Rig(RigArgs),
    /// Write a glTF file with the changes of a project; everything else stays as imported.
    Export(ExportArgs),
    /// Check a model or project: lists every finding; exit code 1 if one is an error.
    Check(CheckArgs),
    /// Print the corrective samples of a project with their weights in a pose, add one from a sculpted mesh, or suggest some.
    Psd(PsdArgs),
    /// Print the control clusters of a project with their patches, mark vertices, or suggest clusters.
    ///
    /// A mesh with control clusters is deformed by patches between them; the weights of its other vertices are ignored.
    Clusters(ClustersArgs),
    /// Retarget a motion to a character, or read one: list what a file holds, write joint positions, or resample
    /// recordings to common times.
    Motion(MotionArgs),
    /// Measure the body of a template, or give it the measurements of a person.
    Body(BodyArgs),
    /// Measure the speed of the kernels on a generated mesh.
    Bench(BenchArgs),
    /// Generate a sample model.
    Sample(SampleArgs),
}

/// `sinew info`
#[derive(Debug, Args)]
pub struct InfoArgs {
    /// Model (.gltf, .glb, .obj) or project (.ron).
    pub file: PathBuf,
    /// Machine-readable output.
    #[arg(long)]
    pub json: bool,
}

/// `sinew skin`
#[derive(Debug, Args)]
pub struct SkinArgs {
    /// Model (.gltf, .glb, .obj) or project (.ron).
    pub file: PathBuf,
    /// Where to write: .npy (float32, n x 3) or .json.
    #[arg(long, short)]
    pub out: PathBuf,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub stack: StackArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub body: ShownBodyArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub pose: PoseArgs,
}

/// `sinew measure`
#[derive(Debug, Args)]
pub struct MeasureArgs {
    /// Model (.gltf, .glb, .obj) or project (.ron).
    pub file: PathBuf,
    /// Machine-readable output, with every pose of a clip.
    #[arg(long)]
    pub json: bool,
    /// Poses per second at which a whole clip (no --time) is measured.
    #[arg(long, value_name = "HZ", default_value = "30", value_parser = parse_rate)]
    pub rate: f64,
    /// The stack to compare with, for the difference: lbs, dqs, cor, blend, default, project, dqs+compensation ...
    #[arg(long, value_name = "STACK", default_value = "lbs")]
    pub against: NamedStack,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub stack: StackArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub body: ShownBodyArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub pose: PoseArgs,
}

/// `sinew compare`
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Model (.gltf, .glb, .obj) or project (.ron).
    pub file: PathBuf,
    /// The stacks, with commas: lbs, dqs, cor, blend, default, project; corrections are added with +, as in
    /// dqs+compensation, dqs+projection, dqs+projection+published, corrective samples with +psd, control clusters with +ccm;
    /// psd and ccm are the project's stack with its samples, without and with its clusters.
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
    /// Poses per second for a clip without --time.
    #[arg(long, value_name = "HZ", default_value = "30", value_parser = parse_rate)]
    pub rate: f64,
    /// Number of frames of a clip to draw, 1 - 8.
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u8).range(1..=8))]
    pub moments: u8,
    /// Draw evenly spaced frames of the clip, from its first to its last, in place of the worst ones.
    #[arg(long, requires = "clip")]
    pub even: bool,
    /// Width x height of a picture in pixels.
    #[cfg(feature = "render")]
    #[arg(long, value_name = "WxH", default_value = "560x420", value_parser = parse_size)]
    pub size: (u32, u32),
    /// The direction to look from.
    #[cfg(feature = "render")]
    #[arg(long, value_enum, default_value = "three-quarter")]
    pub view: ViewArg,
    /// What to show: textured, shaded, form, wire, or a heat map as for render; differences are from the first stack.
    #[cfg(feature = "render")]
    #[arg(long, default_value = "shaded", value_parser = parse_show)]
    pub show: Show,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub body: ShownBodyArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub pose: PoseArgs,
}

fn parse_rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate > 0.0 && rate <= 1000.0 => Ok(rate),
        _ => Err("give poses per second, above 0 and up to 1000".into()),
    }
}

/// `sinew render`
#[cfg(feature = "render")]
#[derive(Debug, Args)]
pub struct RenderArgs {
    /// Model (.gltf, .glb, .obj) or project (.ron).
    pub file: PathBuf,
    /// The PNG to write.
    #[arg(long, short)]
    pub out: PathBuf,
    /// Width x height in pixels.
    #[arg(long, value_name = "WxH", default_value = "1280x960", value_parser = parse_size)]
    pub size: (u32, u32),
    /// The direction to look from.
    #[arg(long, value_enum, default_value = "three-quarter")]
    pub view: ViewArg,
    /// What to show: textured, shaded, form, wire, weights:BONE (name or node number), or a heat map: bulge, strain,
    /// area, discontinuity, crease, fold, normals, difference.
    #[arg(long, alias = "shading", default_value = "textured", value_parser = parse_show)]
    pub show: Show,
    /// The stack that `--show difference` compares with, named as for compare.
    #[arg(long, value_name = "STACK", default_value = "lbs")]
    pub against: NamedStack,
    /// Draw no legend for a heat map.
    #[arg(long)]
    pub no_legend: bool,
    /// The colour ramp of weights.
    #[arg(long, value_enum, default_value = "perceptual")]
    pub ramp: RampArg,
    /// The theme: colours of background, grid and lines.
    #[arg(long, value_enum, default_value = "dark")]
    pub theme: ThemeArg,
    /// Draw the bones; with --show weights:BONE they are always drawn.
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
    pub body: ShownBodyArgs,
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
    /// Clay between strip lights.
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

/// `sinew clusters`
#[derive(Debug, Args)]
pub struct ClustersArgs {
    /// Model (.gltf, .glb, .obj) or project (.ron).
    pub file: PathBuf,
    /// Machine-readable output.
    #[arg(long)]
    pub json: bool,
    /// Mark vertices, numbered as the file numbers them:
    /// {"meshes": [{"mesh": 0, "primitive": 0, "vertices": [4, 7], "group": "Elbow"}]}.
    #[arg(long, value_name = "MARKS.json", requires = "out")]
    pub mark: Option<PathBuf>,
    /// Set the bases, muscles, drivers and recorded data of groups, and add recordings: a JSON file, described in the
    /// manual.
    #[arg(long, value_name = "LAYERS.json", requires = "out")]
    pub layers: Option<PathBuf>,
    /// Add clusters until no vertex is farther from the deformer stack's result than this, in percent of the model's
    /// diagonal, in poses of all clips, or of a range of motion where there are none.
    #[arg(long, value_name = "P%", value_parser = error_percent)]
    pub suggest: Option<f64>,
    /// With --suggest: the largest number of clusters, as a percentage of each mesh's vertices.
    #[arg(long, value_name = "P%", value_parser = error_percent, requires = "suggest")]
    pub at_most: Option<f64>,
    /// The project to write: .ron.
    #[arg(long, short)]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub stack: StackArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub pose: PoseArgs,
}

/// `sinew export`
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // flags of the command line, each on its own
pub struct ExportArgs {
    /// Model (.gltf, .glb, .obj) or project (.ron).
    pub file: PathBuf,
    /// The file to write: .glb or .gltf; with --still also .obj.
    #[arg(long, short)]
    pub out: PathBuf,
    /// Write one frame as a static mesh, as the stack deforms it, without skins, clips and morph targets.
    #[arg(long)]
    pub still: bool,
    /// The clip of that frame, by number from 0 or by name; default: the project's pose, else the file's rest pose.
    #[arg(long, value_name = "K|NAME", requires = "still")]
    pub clip: Option<String>,
    /// The time of that frame, seconds into the clip; default: the clip's start.
    #[arg(
        long,
        value_name = "S",
        requires = "clip",
        allow_negative_numbers = true
    )]
    pub time: Option<f64>,
    /// How to bake into the file what the stack does beyond linear skinning.
    #[arg(long, value_enum, default_value = "none")]
    pub correct: CorrectArg,
    /// Largest error to accept, in percent of the bounding-box diagonal in the rest pose; default: 0.1%.
    #[arg(long, value_name = "P%", value_parser = percent)]
    pub tolerance: Option<f64>,
    /// Maximum number of morph targets to add to a mesh, 0 - 256; default: 128.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=256))]
    pub max_morphs: Option<u32>,
    /// Maximum number of joints of a skin, helper joints included, 1 - 1024; default: 256.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub max_joints: Option<u32>,
    /// Clips to correct, by number from 0 or by name; default: all.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub clips: Vec<String>,
    /// Allow negative morph weights: saves one morph target.
    #[arg(long)]
    pub signed_weights: bool,
    /// Write no normals in morph targets: a smaller file, with less exact shading where they act.
    #[arg(long)]
    pub no_normals: bool,
    /// About how much normals in morph targets may add, in percent of the model's size; default: 9%.
    #[arg(long, value_name = "P%", value_parser = share_percent, conflicts_with = "no_normals")]
    pub normals_share: Option<f64>,
    /// Write every displacement of a morph target, for players that do not read sparse accessors.
    #[arg(long)]
    pub dense: bool,
    /// Quantize morph targets to 16 bits and their normals to 8: a smaller file, for players that read KHR_mesh_quantization.
    #[arg(long)]
    pub quantize: bool,
    /// Compress the data of the file without loss: a smaller file, for players that read EXT_meshopt_compression.
    #[arg(long)]
    pub meshopt: bool,
    /// The file for the report of the correction, as JSON.
    #[arg(long, value_name = "R.json")]
    pub report: Option<PathBuf>,
    /// The program that is to read the file: sets influences, normals and quantization to what its importer reads.
    #[arg(long, value_enum, value_name = "PROGRAM", conflicts_with = "still")]
    pub preset: Option<PresetArg>,
    /// Maximum number of influences of a vertex in a rewritten primitive; default: 4, or the preset's.
    #[arg(long, value_parser = ["4", "8"])]
    pub influences: Option<String>,
    /// Write valid weights in place of the model's invalid ones even if nothing else changes.
    #[arg(long, conflicts_with = "still")]
    pub fix_weights: bool,
    /// Include files that the model references outside its folder; without this flag they are refused or stay
    /// references.
    #[arg(long)]
    pub include_outside: bool,
    /// Add the corrective samples as morph targets with their names, which nothing drives.
    #[arg(long, conflicts_with = "still")]
    pub sample_targets: bool,
    /// Also write constraints of bones as VRMC_node_constraint, beside their keyframes; VRM models always get them.
    #[arg(long, conflicts_with = "still")]
    pub node_constraints: bool,
    /// Write the project's pose into the nodes as the rest pose.
    #[arg(long)]
    pub write_pose_as_rest: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub body: ShownBodyArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub stack: StackArgs,
}

/// `--preset`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PresetArg {
    /// three.js.
    #[value(name = "three.js")]
    ThreeJs,
    /// Godot 4.
    #[value(name = "godot")]
    Godot,
    /// Unity with glTFast.
    #[value(name = "unity")]
    Unity,
    /// Unreal Engine.
    #[value(name = "unreal")]
    Unreal,
    /// Blender.
    #[value(name = "blender")]
    Blender,
}

/// `--correct`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CorrectArg {
    /// Weights, poses and clips only.
    None,
    /// Helper joints and morph targets: any player shows these clips as the stack deforms them.
    Clips,
    /// Helper joints that an engine can drive in any clip, as the file describes, with tracks for the clips in it.
    /// They follow the stack's skinning without its corrections.
    Retarget,
    /// No skins: one morph target for each frame that is needed, for players without skinning. The file has only
    /// these clips.
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

/// "20%" as a fraction.
fn share_percent(text: &str) -> Result<f64, String> {
    let number = text
        .strip_suffix('%')
        .and_then(|text| text.trim().parse::<f64>().ok());
    match number.map(|percent| percent / 100.0) {
        Some(share) if NORMALS_SHARE.contains(&share) => Ok(share),
        _ => Err("give a percentage from 1% to 100%, such as 20%".into()),
    }
}

/// "0.5%" as a fraction.
fn error_percent(text: &str) -> Result<f64, String> {
    let number = text
        .strip_suffix('%')
        .and_then(|text| text.trim().parse::<f64>().ok());
    match number {
        Some(percent) if (0.001..=100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("give a percentage from 0.001% to 100%, such as 0.5%".into()),
    }
}

/// `sinew check`
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Model (.gltf, .glb, .obj) or project (.ron).
    pub file: PathBuf,
    /// Machine-readable output.
    #[arg(long)]
    pub json: bool,
}

/// `sinew bench`
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Number of vertices; default: 10,000, 100,000 and 1,000,000.
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
    /// Approximate number of vertices; default: the number of the model in assets/.
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
    /// Thigh, shin, foot and toes.
    Leg,
    /// A figure with a walk and a range of motion.
    Mannequin,
    /// The analytic test cylinder.
    Cylinder,
    /// An arm with a fist of a few hundred vertices, for control clusters.
    CoarseArm,
}
