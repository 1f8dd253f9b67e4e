//! Who draws the panels of a dock, and what their headings are asked for.

use crate::view::frame::PanelKind;
use egui::Ui;

/// Who draws the panels.
pub trait PanelHost {
    /// Draws a panel over all of `ui`.
    fn panel_ui(&mut self, ui: &mut Ui, panel: PanelKind);

    /// What its tab says: its name, and how many things wait in it.
    fn panel_title(&self, panel: PanelKind) -> String {
        panel.label().to_owned()
    }
}

/// What a panel's heading was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Close(PanelKind),
    Float(PanelKind),
    Dock(PanelKind),
    Maximise(PanelKind),
}
