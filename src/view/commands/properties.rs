//! Properties of commands: labels and tooltips from the table, and how keys run them.

use super::Command;
use super::table::{Group, Row, TABLE};
use crate::editor::Editor;

impl Command {
    /// All commands, in menu order.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.command)
    }

    /// The command's row of the table.
    pub fn row(self) -> &'static Row {
        // A test ensures that every command has one.
        TABLE
            .iter()
            .find(|row| row.command == self)
            .unwrap_or(&TABLE[0])
    }

    /// The command with the settings id `id`.
    pub fn by_id(id: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.id == id).map(|row| row.command)
    }

    /// The label in menus and on buttons.
    pub fn label(self) -> &'static str {
        self.row().label
    }

    /// The tooltip without keys.
    pub fn about(self) -> &'static str {
        self.row().about
    }

    /// The command's menu.
    pub fn group(self) -> Group {
        self.row().group
    }

    /// Whether a key may run the command during a stroke: undo, and mode changes that end the stroke.
    pub fn may_end_a_stroke(self) -> bool {
        matches!(self, Self::Undo | Self::SetMode(_) | Self::SwapMode)
    }

    /// Whether the command lasts while its key is held ([`crate::view::keymap::KeyMap::is_held`]).
    pub fn is_held(self) -> bool {
        self == Self::ShowBefore
    }

    /// Whether a held key repeats the command.
    pub fn repeats(self) -> bool {
        matches!(
            self,
            Self::Undo
                | Self::Redo
                | Self::SmallerBrush
                | Self::LargerBrush
                | Self::NextFrame
                | Self::PreviousFrame
                | Self::NextKey
                | Self::PreviousKey
                | Self::OrbitLeft
                | Self::OrbitRight
                | Self::OrbitUp
                | Self::OrbitDown
                | Self::SelectMore
                | Self::SelectLess
                | Self::LargerInterface
                | Self::SmallerInterface
        )
    }

    /// The label in menus; undo and redo append the name of their step.
    pub fn full_label(self, editor: &Editor) -> String {
        let step = match self {
            Self::Undo => editor.history().undo_label(),
            Self::Redo => editor.history().redo_label(),
            _ => None,
        };
        step.map_or_else(
            || self.label().to_owned(),
            |step| format!("{} {}", self.label(), step.to_lowercase()),
        )
    }
}
