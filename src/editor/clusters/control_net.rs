//! The control net of the active object's patches on screen.

use super::Editor;
use crate::document::InstanceId;
use crate::evaluate::ControlNetShape;

/// Whether the control net is shown, and what was found of it.
#[derive(Default)]
pub(in crate::editor) struct ShownNet {
    is_shown: bool,
    /// Whether the view draws it.
    is_visible: bool,
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

    /// Says whether the view draws the control net where it is shown: it does in Cluster mode. It is not evaluated elsewhere.
    pub fn set_control_net_visible(&mut self, is_visible: bool) {
        self.clustering.net.is_visible = is_visible;
    }

    /// The control net on screen, once it is evaluated.
    pub fn control_net(&self) -> Option<&ControlNetShape> {
        self.clustering.net.shape.as_ref()
    }

    /// Whose control net is to be shown.
    fn wanted_net(&self) -> Option<InstanceId> {
        let ShownNet {
            is_shown,
            is_visible,
            ..
        } = self.clustering.net;
        let is_wanted = is_shown && is_visible && self.current_layout().is_some();
        self.clustered_instance().filter(|_| is_wanted)
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
