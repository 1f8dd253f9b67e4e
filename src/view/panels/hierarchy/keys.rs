//! Keyboard navigation of the tree.

use super::tree::Item;
use super::{Action, Hierarchy};
use crate::editor::Editor;
use egui::{Key, Modifiers, Ui};

/// Rows that Page Up and Page Down skip.
const PAGE: usize = 12;

/// The actions of the keys pressed in this frame. The tree has the focus.
pub(super) fn pressed(list: &Hierarchy, ui: &Ui, editor: &Editor) -> Vec<Action> {
    let visible = list.tree.visible();
    let Some(last) = visible.len().checked_sub(1) else {
        return Vec::new();
    };
    let item_at = |place: usize| list.tree.row(visible[place].row).item;
    let active = editor.document().session().active_joint.map(Item::Joint);
    let cursor = list.cursor.or(active);
    let place = cursor.and_then(|item| list.tree.place(item));
    let here = place.unwrap_or(0);
    let mut actions = Vec::new();
    let mut go = None;
    ui.input(|input| {
        let hit = |key| input.key_pressed(key);
        if hit(Key::ArrowDown) {
            go = Some(place.map_or(0, |p| (p + 1).min(last)));
        } else if hit(Key::ArrowUp) {
            go = Some(here.saturating_sub(1));
        } else if hit(Key::Home) {
            go = Some(0);
        } else if hit(Key::End) {
            go = Some(last);
        } else if hit(Key::PageDown) {
            go = Some((here + PAGE).min(last));
        } else if hit(Key::PageUp) {
            go = Some(here.saturating_sub(PAGE));
        }
        let Some(item) = cursor.filter(|_| place.is_some()) else {
            return;
        };
        let has_rows = list.tree.row(visible[here].row).n_below > 0;
        let is_folded = list.tree.is_collapsed(item);
        if hit(Key::ArrowLeft) {
            if has_rows && !is_folded {
                actions.push(Action::Fold(item, true));
            } else if let Some(parent) = list.tree.parent(item) {
                go = list.tree.place(parent);
            }
        } else if hit(Key::ArrowRight) && has_rows {
            if is_folded {
                actions.push(Action::Fold(item, false));
            } else {
                go = Some((here + 1).min(last));
            }
        }
        if let (Key::Enter, Item::Joint(joint)) = (Key::Enter, item)
            && hit(Key::Enter)
        {
            actions.push(Action::Rename(joint));
        }
    });
    if let Some(place) = go {
        // Shift extends the selection. Ctrl is ignored: moving with it would select every row passed.
        let shift = ui.input(|i| i.modifiers.shift);
        let modifiers = if shift {
            Modifiers::SHIFT
        } else {
            Modifiers::NONE
        };
        actions.push(Action::Select(item_at(place), modifiers));
    }
    actions
}
