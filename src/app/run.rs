//! What each command does. One `match`, grouped as the menus are.

use super::SinewApp;
use super::dialogs::{PathDialog, PathPurpose};
use crate::editor::{LockSet, OpenRequest};
use crate::view::commands::Command;
use crate::view::mode::Mode;
use crate::view::scene::Shading;
use crate::view::theme;
use eframe::egui;
use egui::ViewportCommand;

impl SinewApp {
    /// Does what a command asks for, if it can be asked for now.
    pub(super) fn run_command(&mut self, command: Command, ctx: &egui::Context) {
        if !command.is_enabled(&self.editor) {
            return;
        }
        let options = &mut self.viewport.options;
        match command {
            Command::Open => self.dialog = Some(PathDialog::new(PathPurpose::Open, &self.editor)),
            Command::Sample(name) => self.open(OpenRequest::Sample(name.into())),
            Command::Save => match self.editor.project_path().cloned() {
                Some(path) => self.editor.save_as(&path),
                None => self.dialog = Some(PathDialog::new(PathPurpose::Save, &self.editor)),
            },
            Command::SaveAs => self.dialog = Some(PathDialog::new(PathPurpose::Save, &self.editor)),
            Command::Export => {
                self.dialog = Some(PathDialog::new(PathPurpose::Export, &self.editor));
            }
            Command::Quit => ctx.send_viewport_cmd(ViewportCommand::Close),

            Command::Undo => self.editor.undo(),
            Command::Redo => self.editor.redo(),
            // panels: Rename

            // select: SelectBones, SelectPoints, SelectAll, SelectNone, SelectInverse, SelectLinked, SelectMore,
            // SelectLess, SelectMoved, SelectBox, SelectCircle, SelectLasso, Hide, HideOthers, ShowAll, Isolate

            // looks: all of the view
            Command::Show(shading) => options.shading = shading,
            Command::ToggleBones => options.show_bones = !options.show_bones,
            Command::ToggleXray => options.xray_bones = !options.xray_bones,
            Command::ToggleGrid => options.show_grid = !options.show_grid,
            Command::ToggleWire => options.wire_overlay = !options.wire_overlay,
            Command::ToggleNames => options.show_names = !options.show_names,
            Command::UseRamp(ramp) => options.ramp = ramp,
            Command::FrameAll
            | Command::FrameSelected
            | Command::ViewFront
            | Command::ViewBack
            | Command::ViewRight
            | Command::ViewLeft
            | Command::ViewTop
            | Command::ViewBottom
            | Command::ViewOpposite
            | Command::OrbitLeft
            | Command::OrbitRight
            | Command::OrbitUp
            | Command::OrbitDown
            | Command::ToggleOrthographic => {
                self.viewport.run_camera(command, &mut self.editor);
            }

            // pose: PoseMove, PoseRotate, PoseScale, CycleSpace, ClearLocation, ClearRotation, ClearScale, ResetPose,
            // CopyPose, PastePose, PasteFlipped, TogglePin
            Command::BrushRadius
            | Command::BrushStrength
            | Command::BrushWeight
            | Command::SampleWeight
            | Command::PickBone => self.viewport.asked.push(command),
            Command::SwapWeight => {
                let brush = self.editor.brush_mut();
                brush.weight = if brush.weight > 0.5 { 0.0 } else { 1.0 };
            }
            Command::LockActive => {
                if let Some(joint) = self.editor.document().session().active_joint {
                    self.editor.toggle_lock(joint);
                }
            }
            Command::LockOthers => self.editor.set_locks(LockSet::Others),
            Command::InvertLocks => self.editor.set_locks(LockSet::Inverse),
            Command::UnlockAll => self.editor.set_locks(LockSet::None),
            Command::SmallerBrush => self.scale_brush(1.0 / 1.2),
            Command::LargerBrush => self.scale_brush(1.2),

            // timeline: the rest of the animation
            Command::PlayPause => self.editor.toggle_play(),

            Command::UseMethod(method) => self.editor.set_method(method),

            Command::SetMode(mode) => self.set_mode(mode),
            Command::SwapMode => self.set_mode(self.mode_before),
            Command::ModePie
            | Command::LockPie
            | Command::FindCommand
            | Command::ShowKeys
            | Command::Preferences => self.open_overlay(command, ctx),
            // frame: workspaces, panels, tool bar, interface size
            Command::UseTheme(choice) => theme::set(ctx, choice),

            // frame: Welcome, About
            _ => {}
        }
    }

    /// Of a command that switches something, whether it is on.
    pub(super) fn is_on(&self, command: Command) -> Option<bool> {
        let options = &self.viewport.options;
        Some(match command {
            Command::Show(shading) => options.shading == shading,
            Command::ToggleBones => options.show_bones,
            Command::ToggleXray => options.xray_bones,
            Command::ToggleGrid => options.show_grid,
            Command::ToggleNames => options.show_names,
            Command::UseRamp(ramp) => options.ramp == ramp,
            Command::ToggleWire => options.wire_overlay,
            Command::ToggleOrthographic => self.editor.document().session().camera.orthographic,
            Command::LockActive => {
                let document = self.editor.document();
                let active = document.session().active_joint;
                active.is_some_and(|joint| document.locked().contains(&joint))
            }
            Command::ToggleLoop => self.editor.document().session().playback.looping,
            Command::UseMethod(method) => self.editor.method() == method,
            Command::SetMode(mode) => self.viewport.mode == mode,
            _ => return None,
        })
    }

    /// Changes what the left button does; who paints wants to see what is painted, and afterwards what was seen before.
    pub(super) fn set_mode(&mut self, mode: Mode) {
        let was = std::mem::replace(&mut self.viewport.mode, mode);
        if was == mode {
            return;
        }
        self.mode_before = was;
        let shading = &mut self.viewport.options.shading;
        if mode == Mode::Paint {
            self.shading_before = std::mem::replace(shading, Shading::Weights);
        } else if was == Mode::Paint && *shading == Shading::Weights {
            *shading = self.shading_before;
        }
    }

    fn scale_brush(&mut self, factor: f32) {
        let brush = self.editor.brush_mut();
        brush.radius_px = (brush.radius_px * factor).clamp(1.0, 500.0);
    }
}
