//! How the user compares stacks: panes, what each shows, the wipe, and the comparison stack.

use crate::deform::{StackChoice, StackPreset};

/// How the viewport is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PaneLayout {
    /// One pane.
    #[default]
    One,
    /// Two side by side.
    Two,
    /// Two by two.
    Four,
    /// Two over each other, with a divider that the user drags.
    Wipe,
}

impl PaneLayout {
    /// All layouts, in the order of lists.
    pub const ALL: [Self; 4] = [Self::One, Self::Two, Self::Four, Self::Wipe];

    /// The number of panes.
    pub fn n_panes(self) -> usize {
        match self {
            Self::One => 1,
            Self::Two | Self::Wipe => 2,
            Self::Four => 4,
        }
    }
}

/// How the user compares stacks.
#[derive(Clone, Debug, PartialEq)]
pub struct Compare {
    /// How the Compare workspace is divided.
    pub layout: PaneLayout,
    /// How the viewport is divided in all other workspaces.
    pub elsewhere: PaneLayout,
    /// What each pane shows, in reading order; a wipe uses the first two.
    pub choices: [StackChoice; 4],
    /// Position of the divider of the wipe: 0 at the left, 1 at the right.
    pub wipe: f32,
    /// The comparison stack: what a pane that does not show the project's own stacks uses.
    pub before: StackChoice,
}

impl Default for Compare {
    fn default() -> Self {
        Self {
            layout: PaneLayout::Two,
            elsewhere: PaneLayout::One,
            choices: [
                StackChoice::Preset(StackPreset::Lbs),
                StackChoice::Project,
                StackChoice::Preset(StackPreset::Dqs),
                StackChoice::Preset(StackPreset::CentresOfRotation),
            ],
            wipe: 0.5,
            before: StackChoice::Preset(StackPreset::Lbs),
        }
    }
}
