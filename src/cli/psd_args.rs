//! The arguments of `sinew psd`.

use super::named_stack::NamedStack;
use super::pose_args::PoseArgs;
use clap::Args;
use std::path::PathBuf;

/// `sinew psd`
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // flags of the command line, each on its own
pub struct PsdArgs {
    /// Model (.gltf, .glb, .obj) or project (.ron).
    pub file: PathBuf,
    /// Machine-readable output.
    #[arg(long)]
    pub json: bool,
    /// Add a sample: a mesh with the vertices of the model, sculpted in the pose of --pose or --clip.
    #[arg(long, value_name = "TARGET", requires = "out", groups = ["adds", "edits"])]
    pub extract: Option<PathBuf>,
    /// Add a sample: the shape of another stack in that pose, as for --against.
    #[arg(long, value_name = "STACK", requires = "out", groups = ["adds", "edits"])]
    pub from_stack: Option<NamedStack>,
    /// Add a sample: what a morph target of the model adds in that pose.
    #[arg(long, value_name = "MORPH", requires = "out", groups = ["adds", "edits"])]
    pub from_morph: Option<String>,
    /// Copy all samples across x = 0 to the other side, from positive to negative.
    #[arg(long, requires = "out", group = "edits")]
    pub mirror: bool,
    /// Swap the samples of the two sides.
    #[arg(long, requires = "out", group = "edits")]
    pub flip: bool,
    /// Recompute samples that were captured on another deformer stack or other weights, so that they keep the sculpted shape.
    #[arg(long, requires = "out", group = "edits")]
    pub retarget: bool,
    /// Accept the displacements of samples that were captured on another deformer stack or other weights as they are.
    #[arg(long, requires = "out", group = "edits")]
    pub keep: bool,
    /// The vertices that samples of every set may move: all, clusters, or the name of a group of clusters.
    #[arg(long, value_name = "WHICH", requires = "out", group = "edits")]
    pub vertices: Option<String>,
    /// Suggest samples for a bone, by name or node number: relaxed shapes in the poses where it bends badly. With --out
    /// those without crossing triangles are added.
    #[arg(long, value_name = "BONE", group = "edits")]
    pub suggest: Option<String>,
    /// The project to write: .ron.
    #[arg(long, short, requires = "edits")]
    pub out: Option<PathBuf>,
    /// The bones that drive the sample; default: the posed bones that move the sculpted vertices.
    #[arg(long, value_name = "A,B", value_delimiter = ',', requires = "adds")]
    pub drivers: Vec<String>,
    /// The name of the sample; an existing one of its set is replaced.
    #[arg(long, requires = "adds")]
    pub name: Option<String>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub pose: PoseArgs,
}
