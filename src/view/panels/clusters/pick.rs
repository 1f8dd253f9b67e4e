//! A drop-down with a filter, for long lists: bones, channels, markers.

use crate::view::theme;
use egui::{
    ComboBox, Key, PopupCloseBehavior, Response, RichText, Role, ScrollArea, TextEdit, Ui,
    WidgetInfo,
};

/// From this number of choices on there is a filter.
const LONG: usize = 8;
/// The height of the list, points.
const HEIGHT: f32 = 220.0;

/// Draws a drop-down of names; returns the index of a new choice.
pub(in crate::view::panels) fn filtered_ui(
    ui: &mut Ui,
    label: &str,
    width: f32,
    chosen: Option<usize>,
    shown: &str,
    names: &[String],
) -> (Response, Option<usize>) {
    let id = ui.scope_id().with(("filter", label));
    let mut picked = None;
    let response = ComboBox::from_id_salt(label)
        .width(width)
        .truncate()
        .selected_text(shown)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .show_ui(ui, |ui| {
            let mut filter: String = ui.data(|data| data.get_temp(id)).unwrap_or_default();
            let pass = ui.ctx().cumulative_pass_nr();
            let last = ui.data_mut(|data| {
                let last: Option<u64> = data.get_temp(id.with("pass"));
                data.insert_temp(id.with("pass"), pass);
                last
            });
            let opens = last.is_none_or(|last| last + 1 < pass);
            let mut takes_first = false;
            if names.len() >= LONG {
                let field = TextEdit::singleline(&mut filter).hint_text("Filter");
                let response = ui.add(field);
                // As it opens, so that typing filters at once; Enter takes the first.
                if opens {
                    response.request_focus();
                }
                takes_first = response.lost_focus() && ui.input(|i| i.key_pressed(Key::Enter));
                response.widget_info(|| {
                    WidgetInfo::labeled(Role::TextInput, true, format!("Filter of {label}"))
                });
            }
            let wanted = filter.to_lowercase();
            ScrollArea::vertical().max_height(HEIGHT).show(ui, |ui| {
                let mut any = false;
                for (index, name) in names.iter().enumerate() {
                    if !name.to_lowercase().contains(&wanted) {
                        continue;
                    }
                    let is_taken = takes_first && !any;
                    any = true;
                    if ui.selectable_label(chosen == Some(index), name).clicked() || is_taken {
                        picked = Some(index);
                        filter.clear();
                        ui.close();
                    }
                }
                if !any {
                    let dim = theme::palette(ui).text_dim;
                    ui.label(RichText::new("Nothing with this name.").color(dim));
                }
            });
            ui.data_mut(|data| data.insert_temp(id, filter));
        })
        .response;
    response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, label));
    (response, picked.filter(|index| chosen != Some(*index)))
}
