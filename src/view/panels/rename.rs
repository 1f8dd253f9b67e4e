//! The text field that renames a list row.

use egui::text::CCursorRange;
use egui::text_edit::TextEditState;
use egui::{Id, Key, Margin, Rect, Role, TextEdit, Ui, WidgetInfo, vec2};

/// A name being edited.
#[derive(Debug)]
pub(super) struct NameField {
    text: String,
    /// Whether the field still has to take the focus.
    is_new: bool,
}

/// How the edit ended.
#[derive(Debug)]
pub(super) enum RenameEnd {
    /// Confirmed with this name.
    Named(String),
    /// Cancelled with Esc.
    GivenUp,
}

impl NameField {
    /// A field with `name`, fully selected.
    pub(super) fn new(name: String) -> Self {
        Self {
            text: name,
            is_new: true,
        }
    }

    /// Draws the field over `rect`; returns how the edit ended, once it has.
    pub(super) fn show_ui(
        &mut self,
        ui: &mut Ui,
        rect: Rect,
        id: Id,
        label: &str,
    ) -> Option<RenameEnd> {
        let field = TextEdit::singleline(&mut self.text)
            .id(id)
            .margin(Margin::symmetric(2, 2));
        let response = ui.put(rect.expand2(vec2(2.0, -1.0)), field);
        response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, label));
        if std::mem::take(&mut self.is_new) {
            response.request_focus();
            let mut state = TextEditState::load(ui.ctx(), id).unwrap_or_default();
            let all = CCursorRange::select_all_str(&self.text);
            state.cursor.set_char_range(Some(all));
            state.store(ui.ctx(), id);
            return None;
        }
        response.lost_focus().then(|| {
            if ui.input(|i| i.key_pressed(Key::Escape)) {
                RenameEnd::GivenUp
            } else {
                RenameEnd::Named(self.text.clone())
            }
        })
    }
}
