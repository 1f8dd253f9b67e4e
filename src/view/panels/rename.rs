//! The field in a list's row in which another name is typed.

use egui::text::CCursorRange;
use egui::text_edit::TextEditState;
use egui::{Id, Key, Margin, Rect, Role, TextEdit, Ui, WidgetInfo, vec2};

/// A name while it is typed.
#[derive(Debug)]
pub(super) struct NameField {
    text: String,
    /// It waits for the keyboard.
    is_new: bool,
}

/// How a name's field was left.
#[derive(Debug)]
pub(super) enum Left {
    /// With this name in it.
    Named(String),
    /// With Esc: the name stays as it was.
    GivenUp,
}

impl NameField {
    /// A field that begins with `name`, all of it selected.
    pub(super) fn new(name: String) -> Self {
        Self {
            text: name,
            is_new: true,
        }
    }

    /// The field over `rect`, and how it was left, once it is.
    pub(super) fn show_ui(&mut self, ui: &mut Ui, rect: Rect, id: Id, label: &str) -> Option<Left> {
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
                Left::GivenUp
            } else {
                Left::Named(self.text.clone())
            }
        })
    }
}
