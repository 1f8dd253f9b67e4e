//! Modes, and the transforms and gizmos that belong to them.

use super::SinewApp;
use crate::document::session::{SculptKind, SelectKind, TransformKind};
use crate::view::commands::Command;
use crate::view::keymap::{self, Preset};
use crate::view::mode::Mode;
use crate::view::scene::Shading;
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
        if mode == Mode::Cluster {
            // Keys such as Ctrl+Plus then mean vertices.
            self.kind_before = self.editor.select_kind();
            self.editor.set_select_kind(SelectKind::Points);
        } else if was == Mode::Cluster {
            self.editor.set_select_kind(self.kind_before);
        }
        let shading = &mut self.viewport.options.shading;
        if mode == Mode::Paint {
            self.shading_before = std::mem::replace(shading, Shading::Weights);
        } else if was == Mode::Paint && *shading == Shading::Weights {
            *shading = self.shading_before;
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
