//! Runs the commands of live motion.

use super::SinewApp;
use crate::view::commands::Command;
use crate::view::frame::PanelKind;

/// The seconds to take a T-pose before a calibration.
const COUNTDOWN: f64 = 3.0;

impl SinewApp {
    /// Runs a command of live motion; others are not its own.
    pub(super) fn run_on_live_motion(&mut self, command: Command) {
        let editor = &mut self.editor;
        match command {
            Command::ToggleListening => {
                if editor.live().is_some() {
                    editor.stop_listening();
                } else {
                    editor.start_listening();
                    // Also where its tab is behind another: the state of the listener is there.
                    self.dock.open(PanelKind::Motion);
                }
            }
            Command::CalibrateLive => editor.calibrate_live(COUNTDOWN),
            Command::ToggleRecording => {
                if editor.is_recording_live() {
                    editor.stop_recording();
                } else {
                    editor.record_live();
                }
            }
            Command::ToggleLive => {
                let mut settings = *editor.live_settings();
                settings.is_shown = !settings.is_shown;
                editor.set_live_settings(settings);
            }
            _ => {}
        }
    }
}
