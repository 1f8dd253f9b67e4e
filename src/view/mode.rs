//! What the left button does in the viewport.

use egui_material_icons::{MaterialIcon, icons};
use serde::{Deserialize, Serialize};

/// What the left button does in the viewport.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Mode {
    /// Picks bones and points.
    #[default]
    Select,
    /// Moves, rotates and scales bones.
    Pose,
    /// Paints weights.
    Paint,
}

impl Mode {
    /// Every mode, in the order of the tool bar.
    pub const ALL: [Self; 3] = [Self::Select, Self::Pose, Self::Paint];

    /// Its name.
    pub fn label(self) -> &'static str {
        match self {
            Self::Select => "Select",
            Self::Pose => "Pose",
            Self::Paint => "Paint",
        }
    }

    /// Its sign in the tool bar.
    pub fn icon(self) -> MaterialIcon {
        match self {
            Self::Select => icons::ICON_ARROW_SELECTOR_TOOL,
            Self::Pose => icons::ICON_ACCESSIBILITY_NEW,
            Self::Paint => icons::ICON_BRUSH,
        }
    }
}
