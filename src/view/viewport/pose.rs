//! Pose mode: what the left button does.

use super::Viewport;
use crate::editor::Editor;
use egui::{Response, Ui};

impl Viewport {
    /// A click picks the bone to pose.
    pub(super) fn pose(&mut self, _ui: &Ui, response: &Response, editor: &mut Editor) {
        self.select(response, editor);
    }
}
