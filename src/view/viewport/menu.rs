//! The menu under the right button.

use super::Viewport;
use crate::editor::Editor;
use crate::view::commands::Command;
use crate::view::mode::Mode;
use crate::view::panels;
use egui::Response;

/// What one does with a selection.
const SELECT: &[&[Command]] = &[
    &[
        Command::SelectBones,
        Command::SelectPoints,
        Command::SelectThrough,
    ],
    &[
        Command::SelectAll,
        Command::SelectNone,
        Command::SelectInverse,
        Command::SelectLinked,
        Command::SelectMore,
        Command::SelectLess,
        Command::SelectMoved,
    ],
    &[
        Command::Hide,
        Command::HideOthers,
        Command::ShowAll,
        Command::Isolate,
    ],
    &[
        Command::Rename,
        Command::LockActive,
        Command::LockOthers,
        Command::FrameSelected,
    ],
];

/// What one does with bones in their pose.
const POSE: &[&[Command]] = &[
    &[Command::PoseMove, Command::PoseRotate, Command::PoseScale],
    &[
        Command::ClearLocation,
        Command::ClearRotation,
        Command::ClearScale,
        Command::ResetPose,
    ],
    &[Command::CopyPose, Command::PastePose, Command::PasteFlipped],
    &[Command::TogglePin, Command::KeyPose, Command::DeleteKeys],
    &[
        Command::Rename,
        Command::SelectLinked,
        Command::FrameSelected,
        Command::Hide,
    ],
];

impl Viewport {
    /// The menu of the mode, where the right button was clicked.
    pub(super) fn menu_ui(&mut self, response: &Response, editor: &mut Editor) {
        let any_down = response.ctx.input(|i| i.pointer.any_down());
        if self.menu_blocked {
            // Until the frame after the release.
            self.menu_blocked = any_down || response.secondary_clicked();
            return;
        }
        let mode = self.mode;
        let chosen = &mut self.chosen;
        response.context_menu(|ui| {
            let parts = match mode {
                Mode::Select => SELECT,
                Mode::Pose => POSE,
                Mode::Paint => {
                    panels::brush_ui(ui, editor);
                    return;
                }
            };
            for (i, part) in parts.iter().enumerate() {
                if i > 0 {
                    ui.separator();
                }
                for &command in *part {
                    panels::item_ui(ui, command, editor, &|_| None, chosen);
                }
            }
        });
    }

    /// The right button took something back: no menu comes up when it is released.
    pub(super) fn block_menu(&mut self) {
        self.menu_blocked = true;
    }
}
