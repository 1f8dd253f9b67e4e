//! Drop-downs of bones and other names: long lists have a filter, which has the focus when the list opens.

use egui::{ComboBox, Id, Key, PopupCloseBehavior, Role, TextEdit, Ui, WidgetInfo};
use std::hash::Hash;

/// Lists of at least this many entries have a filter.
const LEAST: usize = 12;

/// A drop-down that stays open when its filter is clicked.
pub(super) fn bone_combo(id: impl Hash + std::fmt::Debug) -> ComboBox<'static> {
    ComboBox::from_id_salt(id).close_behavior(PopupCloseBehavior::CloseOnClickOutside)
}

/// Draws the entries of a [`bone_combo`]: values and their names. A click chooses an entry and closes the list; Enter in
/// the filter chooses the first match.
pub(super) fn bone_list_ui<T: PartialEq>(
    ui: &mut Ui,
    chosen: &mut T,
    entries: impl IntoIterator<Item = (T, String)>,
) {
    let mut entries: Vec<(T, String)> = entries.into_iter().collect();
    if entries.len() >= LEAST {
        let (filter, is_entered) = filter_ui(ui);
        let filter = filter.to_lowercase();
        entries.retain(|(_, name)| name.to_lowercase().contains(&filter));
        if is_entered && !entries.is_empty() {
            *chosen = entries.swap_remove(0).0;
            ui.close();
            return;
        }
        if entries.is_empty() {
            ui.weak("No match");
        }
    }
    for (value, name) in entries {
        if ui.selectable_value(chosen, value, name).clicked() {
            ui.close();
        }
    }
}

/// What the artist typed into the filter, and when it was last drawn.
#[derive(Clone, Default)]
struct Filter {
    text: String,
    pass: u64,
}

/// Draws the filter, which is empty when the list opens; returns its text, and whether Enter was pressed.
fn filter_ui(ui: &mut Ui) -> (String, bool) {
    let id: Id = ui.scope_id().with("filter");
    let pass = ui.ctx().cumulative_pass_nr();
    let mut filter = ui
        .data(|data| data.get_temp::<Filter>(id))
        .unwrap_or_default();
    let opens = filter.pass + 1 != pass;
    if opens {
        filter.text.clear();
    }
    filter.pass = pass;
    let about = "Filter the list";
    let field = TextEdit::singleline(&mut filter.text)
        .id(id.with("field"))
        .hint_text("Filter")
        .desired_width(ui.available_width());
    let response = ui.add(field);
    if opens {
        response.request_focus();
    }
    let is_entered = response.lost_focus() && ui.input(|i| i.key_pressed(Key::Enter));
    response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, about));
    let text = filter.text.clone();
    ui.data_mut(|data| data.insert_temp(id, filter));
    (text, is_entered)
}
