//! How the artist compares stacks: panes, what each shows, the wipe, and what "before" means.

use crate::deform::{StackChoice, StackPreset};

/// How the viewport is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PaneLayout {
    /// One picture.
    #[default]
    One,
    /// Two side by side.
    Two,
    /// Two by two.
    Four,
    /// Two over each other, with a line between them that is dragged.
    Wipe,
}

impl PaneLayout {
    /// All of them, as lists show them.
    pub const ALL: [Self; 4] = [Self::One, Self::Two, Self::Four, Self::Wipe];

    /// How many pictures there are.
    pub fn n_panes(self) -> usize {
        match self {
            Self::One => 1,
            Self::Two | Self::Wipe => 2,
            Self::Four => 4,
        }
    }
}

/// How the artist compares stacks.
#[derive(Clone, Debug, PartialEq)]
pub struct Compare {
    /// How the Compare workspace is divided.
    pub layout: PaneLayout,
    /// How the viewport of all other workspaces is divided.
    pub elsewhere: PaneLayout,
    /// What each pane shows, from the left and the top; a wipe has the first two.
    pub choices: [StackChoice; 4],
    /// Where the line of the wipe is: 0 at the left, 1 at the right.
    pub wipe: f32,
    /// What a picture was before the project's own stacks.
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
