//! Runs the commands on the pose library.

use super::SinewApp;
use crate::editor::PoseAmount;
use crate::view::commands::Command;
use crate::view::frame::PanelKind;
use eframe::egui;
use egui::{Context, Event, ViewportCommand};

/// Frames in which the clipboard must deliver its text; after them it counts as empty.
const CLIPBOARD_FRAMES: u8 = 30;

impl SinewApp {
    /// Runs a command on the pose library or its active pose.
    pub(super) fn run_on_poses(&mut self, command: Command, ctx: &Context) {
        match command {
            Command::CreatePose => {
                self.dock.open(PanelKind::Poses);
                if self.editor.create_pose().is_some() {
                    self.poses.start_renaming(&self.editor);
                }
            }
            Command::PosesToClip => self.editor.poses_to_clip(),
            Command::ClipToPoses => {
                if self.editor.clip_to_poses() > 0 {
                    self.dock.open(PanelKind::Poses);
                }
            }
            Command::PastePoseText => {
                // The windowing layer sends the text as an event in a later frame.
                self.pose_text_frames = CLIPBOARD_FRAMES;
                ctx.send_viewport_cmd(ViewportCommand::RequestPaste);
                ctx.request_repaint();
            }
            _ => self.run_on_active_pose(command, ctx),
        }
    }

    fn run_on_active_pose(&mut self, command: Command, ctx: &Context) {
        let Some(pose) = self.editor.active_pose() else {
            return;
        };
        match command {
            Command::UpdatePose => self.editor.update_pose(pose),
            Command::ApplyPose => {
                self.editor.apply_library_pose(pose, PoseAmount::WHOLE);
            }
            Command::ApplyPoseFlipped => {
                self.editor.apply_library_pose(pose, PoseAmount::FLIPPED);
            }
            Command::SelectPoseBones => self.editor.select_pose_bones(pose),
            Command::RenamePose => {
                self.dock.open(PanelKind::Poses);
                self.poses.start_renaming(&self.editor);
            }
            Command::RemovePose => self.editor.remove_pose(pose),
            Command::CopyPoseText => {
                if let Some(text) = self.editor.pose_as_text(pose) {
                    ctx.copy_text(text);
                    self.editor.tell("Copied the pose as text.");
                }
            }
            _ => {}
        }
    }

    /// Pastes the text that the clipboard delivers after [`Command::PastePoseText`].
    pub(super) fn take_pose_text(&mut self, ctx: &Context) {
        if self.pose_text_frames == 0 {
            return;
        }
        let mut text = None;
        ctx.input_mut(|input| {
            input.events.retain(|event| match event {
                Event::Paste(pasted) => {
                    text = Some(pasted.clone());
                    false
                }
                _ => true,
            });
        });
        if let Some(text) = text {
            self.pose_text_frames = 0;
            if self.editor.paste_pose_text(&text).is_some() {
                self.dock.open(PanelKind::Poses);
            }
            return;
        }
        self.pose_text_frames -= 1;
        if self.pose_text_frames == 0 {
            self.editor.tell("The clipboard has no text.");
        }
        ctx.request_repaint();
    }
}
