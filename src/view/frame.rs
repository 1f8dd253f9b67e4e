//! Panels and workspaces, as named by commands.

use super::mode::Mode;
use serde::{Deserialize, Serialize};

/// A dockable panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PanelKind {
    /// The 3D view; always open.
    Viewport,
    /// The tree of objects and bones.
    Hierarchy,
    /// Settings of the mode and the selection.
    Properties,
    /// Clips, time, keyframes.
    Timeline,
    /// Problems in the model, with fixes.
    Problems,
    /// The undo history.
    History,
    /// Volume and bulge over the clip.
    Volume,
    /// Weights as numbers.
    Influences,
    /// Weight layers.
    Layers,
    /// Corrective samples at poses.
    Correctives,
    /// Control clusters and their groups.
    Clusters,
    /// Live motion and recordings.
    Motion,
    /// Measurements of a person.
    Individual,
    /// The pose library.
    Poses,
}

impl PanelKind {
    /// All panels.
    pub const ALL: [Self; 14] = [
        Self::Viewport,
        Self::Hierarchy,
        Self::Properties,
        Self::Timeline,
        Self::Problems,
        Self::History,
        Self::Volume,
        Self::Influences,
        Self::Layers,
        Self::Correctives,
        Self::Clusters,
        Self::Motion,
        Self::Individual,
        Self::Poses,
    ];

    /// The title of the panel.
    pub fn label(self) -> &'static str {
        match self {
            Self::Viewport => "Viewport",
            Self::Hierarchy => "Hierarchy",
            Self::Properties => "Properties",
            Self::Timeline => "Timeline",
            Self::Problems => "Problems",
            Self::History => "History",
            Self::Volume => "Volume",
            Self::Influences => "Influences",
            Self::Layers => "Layers",
            Self::Correctives => "Correctives",
            Self::Clusters => "Clusters",
            Self::Motion => "Motion",
            Self::Individual => "Individual",
            Self::Poses => "Poses",
        }
    }
}

/// A saved layout with a mode.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Workspace {
    /// Inspecting a model and selecting in it.
    #[default]
    Rig,
    /// Painting weights.
    Weights,
    /// Marking control clusters.
    Clusters,
    /// Correcting the shape at poses.
    Correctives,
    /// Posing and keyframing.
    Animate,
    /// Comparing stacks side by side.
    Compare,
}

impl Workspace {
    /// All workspaces, in tab order.
    pub const ALL: [Self; 6] = [
        Self::Rig,
        Self::Weights,
        Self::Clusters,
        Self::Correctives,
        Self::Animate,
        Self::Compare,
    ];

    /// The name of the workspace.
    pub fn label(self) -> &'static str {
        match self {
            Self::Rig => "Rig",
            Self::Weights => "Weights",
            Self::Clusters => "Clusters",
            Self::Correctives => "Correctives",
            Self::Animate => "Animate",
            Self::Compare => "Compare",
        }
    }

    /// The initial mode.
    pub fn mode(self) -> Mode {
        match self {
            Self::Rig | Self::Compare => Mode::Select,
            Self::Weights => Mode::Paint,
            Self::Clusters => Mode::Cluster,
            Self::Correctives | Self::Animate => Mode::Pose,
        }
    }
}
