//! The parts of the frame that commands name: panels and workspaces.

use super::mode::Mode;
use serde::{Deserialize, Serialize};

/// A panel that docks, floats and closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PanelKind {
    /// The 3D view; never closed.
    Viewport,
    /// The tree of objects and bones.
    Hierarchy,
    /// What the mode and the selection need.
    Properties,
    /// Clips, time, keys.
    Timeline,
    /// What is wrong with the model, and fixes.
    Problems,
    /// The undo steps.
    History,
    /// Volume and bulge over the clip.
    Volume,
    /// Weights as numbers.
    Influences,
    /// Layers of weights.
    Layers,
}

impl PanelKind {
    /// Every panel.
    pub const ALL: [Self; 9] = [
        Self::Viewport,
        Self::Hierarchy,
        Self::Properties,
        Self::Timeline,
        Self::Problems,
        Self::History,
        Self::Volume,
        Self::Influences,
        Self::Layers,
    ];

    /// Its title.
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
        }
    }
}

/// A saved layout plus a mode.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Workspace {
    /// Looking at a model and picking in it.
    #[default]
    Rig,
    /// Painting weights.
    Weights,
    /// Posing and keying.
    Animate,
    /// Looking at stacks side by side.
    Compare,
}

impl Workspace {
    /// Every workspace, in the order of the tabs.
    pub const ALL: [Self; 4] = [Self::Rig, Self::Weights, Self::Animate, Self::Compare];

    /// Its name.
    pub fn label(self) -> &'static str {
        match self {
            Self::Rig => "Rig",
            Self::Weights => "Weights",
            Self::Animate => "Animate",
            Self::Compare => "Compare",
        }
    }

    /// The mode it begins with.
    pub fn mode(self) -> Mode {
        match self {
            Self::Rig | Self::Compare => Mode::Select,
            Self::Weights => Mode::Paint,
            Self::Animate => Mode::Pose,
        }
    }
}
