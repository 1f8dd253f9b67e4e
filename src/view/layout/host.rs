//! Who draws the panels of a dock, and what their headings are asked for.

use crate::view::frame::PanelKind;
use egui::Ui;

/// The drawer of the panels.
pub trait PanelHost {
    /// Draws a panel over all of `ui`.
    fn panel_ui(&mut self, ui: &mut Ui, panel: PanelKind);

    /// The title of its tab: the name, and the number of pending items.
    fn panel_title(&self, panel: PanelKind) -> String {
        panel.label().to_owned()
    }
}

/// An action from a panel heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Close(PanelKind),
    Float(PanelKind),
    Dock(PanelKind),
    Maximise(PanelKind),
}
