//! The flags that choose a pose.

use clap::Args;
use std::path::PathBuf;

/// The pose. Default: the project's pose, else the file's rest pose.
#[derive(Debug, Args)]
#[command(next_help_heading = "Pose (default: the project's, else the file's rest pose)")]
pub struct PoseArgs {
    /// A clip, by number from 0 or by name.
    #[arg(long, value_name = "K|NAME", conflicts_with = "pose")]
    pub clip: Option<String>,
    /// Time in the clip, seconds; default: the clip's start.
    #[arg(
        long,
        value_name = "S",
        requires = "clip",
        allow_negative_numbers = true
    )]
    pub time: Option<f64>,
    /// Local transforms by node: {"nodes": [{"node": 3, "rotation": [x, y, z, w]}]}, also name, translation, scale and weights;
    /// or the name of a pose in the project's library.
    #[arg(long, value_name = "POSE.json|NAME")]
    pub pose: Option<PathBuf>,
}

impl PoseArgs {
    /// Whether a pose is asked for.
    pub(super) fn is_given(&self) -> bool {
        self.clip.is_some() || self.pose.is_some()
    }
}
