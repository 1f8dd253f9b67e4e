//! The modes of the viewport.

use egui_material_icons::{MaterialIcon, icons};
use serde::{Deserialize, Serialize};

/// A mode: the action of the left mouse button in the viewport.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Mode {
    /// Selects bones and vertices.
    #[default]
    Select,
    /// Moves, rotates and scales bones.
    Pose,
    /// Paints weights.
    Paint,
    /// Marks control clusters.
    Cluster,
    /// Sculpts the active corrective sample.
    Sculpt,
    /// Edits bones in the rest pose.
    Rig,
}

impl Mode {
    /// All modes, in the order of the toolbar.
    pub const ALL: [Self; 6] = [
        Self::Select,
        Self::Pose,
        Self::Paint,
        Self::Cluster,
        Self::Sculpt,
        Self::Rig,
    ];

    /// Those with a brush.
    pub const BRUSHES: [Self; 3] = [Self::Paint, Self::Cluster, Self::Sculpt];

    /// Those in which number keys change the view: in Cluster mode they assign groups.
    pub const NUMBERS_FOR_VIEWS: [Self; 5] = [
        Self::Select,
        Self::Pose,
        Self::Paint,
        Self::Sculpt,
        Self::Rig,
    ];

    /// The name of the mode.
    pub fn label(self) -> &'static str {
        match self {
            Self::Select => "Select",
            Self::Pose => "Pose",
            Self::Paint => "Paint",
            Self::Cluster => "Cluster",
            Self::Sculpt => "Sculpt",
            Self::Rig => "Edit bones",
        }
    }

    /// The icon in the toolbar.
    pub fn icon(self) -> MaterialIcon {
        match self {
            Self::Select => icons::ICON_ARROW_SELECTOR_TOOL,
            Self::Pose => icons::ICON_ACCESSIBILITY_NEW,
            Self::Paint => icons::ICON_BRUSH,
            Self::Cluster => icons::ICON_SCATTER_PLOT,
            Self::Sculpt => icons::ICON_GESTURE,
            Self::Rig => icons::ICON_SKELETON,
        }
    }

    /// Whether the left mouse button moves a brush.
    pub fn has_brush(self) -> bool {
        Self::BRUSHES.contains(&self)
    }
}
