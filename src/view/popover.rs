//! A context menu with fields: it stays open while the drop-downs and sliders in it are used.
//!
//! egui remembers one open popup of a window, so that the drop-down of a popup that it remembers closes that popup.
//! This one remembers its own place.

use egui::{Key, Popup, PopupCloseBehavior, Pos2, Response, Ui};

/// Draws `content` where `response` was clicked with the right button, until a click elsewhere, Esc or [`Ui::close`].
/// While a drop-down in it is open, these close the drop-down only.
pub(crate) fn popover_ui(response: &Response, content: impl FnOnce(&mut Ui)) {
    let ctx = response.ctx.clone();
    let id = response.id.with("popover");
    let clicked_at = response
        .secondary_clicked()
        .then(|| response.interact_pointer_pos())
        .flatten();
    let place = clicked_at.or_else(|| ctx.data(|data| data.get_temp::<Pos2>(id)));
    let Some(place) = place else { return };
    let has_drop_down = Popup::is_any_open(&ctx);
    let behavior = if has_drop_down {
        PopupCloseBehavior::IgnoreClicks
    } else {
        PopupCloseBehavior::CloseOnClickOutside
    };
    let mut is_open = true;
    Popup::context_menu(response)
        .open_bool(&mut is_open)
        .at_position(place)
        .close_behavior(behavior)
        .show(content);
    let escapes_drop_down = has_drop_down && ctx.input(|i| i.key_pressed(Key::Escape));
    if is_open || escapes_drop_down || clicked_at.is_some() {
        ctx.data_mut(|data| data.insert_temp(id, place));
    } else {
        ctx.data_mut(|data| data.remove::<Pos2>(id));
    }
}
