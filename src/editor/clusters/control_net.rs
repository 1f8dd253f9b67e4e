//! The control net of the active object's patches on screen.

use super::Editor;
use crate::document::InstanceId;
use crate::evaluate::ControlNetShape;

/// Whether the control net is shown, and what was found of it.
#[derive(Default)]
pub(in crate::editor) struct ShownNet {
    is_shown: bool,
    /// Whose net the latest request asked for.
    asked: Option<InstanceId>,
    shape: Option<ControlNetShape>,
}

impl ShownNet {
    /// Puts a result on screen.
    pub(in crate::editor) fn take(&mut self, shape: Option<ControlNetShape>) {
        self.shape = shape;
    }
}

impl Editor {
    /// Shows or hides the control points of the active object's patches.
    pub fn show_control_net(&mut self, show: bool) {
        self.clustering.net.is_shown = show;
    }

    /// Whether the control points of the active object's patches are shown.
    pub fn shows_control_net(&self) -> bool {
        self.clustering.net.is_shown
    }

    /// The control net on screen, once it is evaluated.
    pub fn control_net(&self) -> Option<&ControlNetShape> {
        self.clustering.net.shape.as_ref()
    }

    /// Whose control net is to be shown.
    fn wanted_net(&self) -> Option<InstanceId> {
        let is_shown = self.clustering.net.is_shown && self.current_layout().is_some();
        self.clustered_instance().filter(|_| is_shown)
    }

    /// Whether the latest request asked for another control net than is to be shown.
    pub(in crate::editor) fn wants_other_net(&self) -> bool {
        self.clustering.net.asked != self.wanted_net()
    }

    /// Whose control net the next request asks for.
    pub(in crate::editor) fn ask_for_net(&mut self) -> Option<InstanceId> {
        self.clustering.net.asked = self.wanted_net();
        self.clustering.net.asked
    }
}
