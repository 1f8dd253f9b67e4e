//! Modes, and the transforms and gizmos that belong to them.

use super::SinewApp;
use crate::document::session::{SculptKind, SelectKind, TransformKind};
use crate::editor::OperationKind;
use crate::view::commands::Command;
use crate::view::keymap::{self, Preset};
use crate::view::mode::Mode;
use crate::view::scene::Shading;
use crate::weights::operation::PasteBy;
use eframe::egui;

impl SinewApp {
    /// Sets the mode; Paint mode shows the painted values and restores the shading afterwards.
    pub(super) fn set_mode(&mut self, mode: Mode) {
        let was = std::mem::replace(&mut self.viewport.mode, mode);
        if was == mode {
            return;
        }
        self.mode_before = was;
        if self.editor.select_tool().armed().is_some() && mode.has_brush() {
            self.editor.arm_select(None);
        }
        if selected_in(was).is_none() {
            self.kind_before = self.editor.select_kind();
        }
        self.editor
            .set_select_kind(selected_in(mode).unwrap_or(self.kind_before));
        let shading = &mut self.viewport.options.shading;
        if mode == Mode::Paint {
            self.shading_before = std::mem::replace(shading, Shading::Weights);
        } else if was == Mode::Paint && *shading == Shading::Weights {
            *shading = self.shading_before;
        }
    }

    /// The command that the keys of `command` run, given the selection and the pointer: with vertices selected, the keys
    /// that copy and paste a pose copy and paste weights. `None` where no command runs; a message says why.
    pub(super) fn meant_by_key(
        &mut self,
        command: Command,
        ctx: &egui::Context,
    ) -> Option<Command> {
        let has_vertices = self.viewport.mode == Mode::Select
            && self.editor.select_kind() == SelectKind::Points
            && self.editor.n_selected() > 0;
        let paste = |by| Command::Operate(OperationKind::Paste(by));
        let moves = [Command::PoseMove, Command::PoseRotate, Command::PoseScale];
        match command {
            Command::CopyPose if has_vertices => Some(Command::CopyWeights),
            Command::PastePose if has_vertices => Some(paste(PasteBy::Point)),
            Command::PasteFlipped if has_vertices => Some(paste(PasteBy::Surface)),
            // The transform would start far from the bone.
            _ if moves.contains(&command)
                && self.timeline.is_hovered()
                && keymap::of(ctx).preset == Preset::Blender =>
            {
                self.editor
                    .tell("Drag keyframes to move them. To pose bones, move the pointer over the viewport.");
                None
            }
            _ => Some(command),
        }
    }

    /// Starts a transform; in the Maya preset the key selects the gizmo instead.
    pub(super) fn pose_by(&mut self, command: Command, kind: TransformKind, ctx: &egui::Context) {
        match keymap::of(ctx).preset {
            Preset::Blender => {
                let stays = match self.viewport.mode {
                    Mode::Sculpt | Mode::Cluster => true,
                    Mode::Rig => kind == TransformKind::Move,
                    Mode::Select | Mode::Pose | Mode::Paint => false,
                };
                if !stays {
                    self.set_mode(Mode::Pose);
                }
                self.viewport.pointer_commands.push(command);
            }
            Preset::Maya => self.use_gizmo(kind),
        }
    }

    /// Selects the gizmo of the selected bones, in Sculpt mode that of the selected vertices, in Cluster mode that of the
    /// selected clusters.
    pub(super) fn use_gizmo(&mut self, kind: TransformKind) {
        match self.viewport.mode {
            Mode::Sculpt => self.editor.use_sculpt(SculptKind::Vertices),
            Mode::Cluster => self.editor.set_moves_clusters(true),
            Mode::Rig if kind == TransformKind::Move => return,
            Mode::Select | Mode::Pose | Mode::Paint | Mode::Rig => self.set_mode(Mode::Pose),
        }
        self.editor.set_gizmo(kind);
    }

    /// Selects the gizmo of a toolbar button; returns whether it is one.
    pub(super) fn choose_gizmo(&mut self, command: Command) -> bool {
        let kind = match command {
            Command::PoseMove => TransformKind::Move,
            Command::PoseRotate => TransformKind::Rotate,
            Command::PoseScale => TransformKind::Scale,
            _ => return false,
        };
        self.use_gizmo(kind);
        true
    }
}

/// What a mode selects, and so what keys such as `H` and `Ctrl+Plus` act on there; `None`: what the artist chose.
fn selected_in(mode: Mode) -> Option<SelectKind> {
    match mode {
        Mode::Cluster => Some(SelectKind::Points),
        Mode::Pose | Mode::Rig => Some(SelectKind::Bones),
        Mode::Select | Mode::Paint | Mode::Sculpt => None,
    }
}
