//! A pose of the library: its picture, its name, and the amount by which it is being applied.

use super::PosesPanel;
use super::menu::menu_ui;
use crate::document::PoseId;
use crate::editor::{Editor, PoseAmount};
use crate::finding::counted;
use crate::skeleton::Clip;
use crate::skeleton::library_pose::MAX_AMOUNT;
use crate::view::commands::Command;
use crate::view::panels::correctives::sets::text_ui;
use crate::view::panels::list::switch_ui;
use crate::view::theme;
use egui::{Color32, PointerButton, Rect, Response, Role, Sense, Ui, Vec2, WidgetInfo, pos2, vec2};
use egui_material_icons::icons;

/// Size of a picture, points.
const PICTURE: Vec2 = Vec2::new(64.0, 48.0);
/// Height of a row with the gap below it.
pub(super) const HEIGHT: f32 = PICTURE.y + 8.0;
/// Length of the ticks at 100 %, points.
const TICK: f32 = 7.0;
/// Width of the button of the menu.
const ICON: f32 = 22.0;

impl PosesPanel {
    /// Draws a pose; returns whether it was clicked.
    pub(super) fn row_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        id: PoseId,
        rect: Rect,
        commands: &mut Vec<Command>,
    ) -> bool {
        let Some(pose) = editor.document().poses().get(&id).cloned() else {
            return false;
        };
        let palette = theme::palette(ui);
        let row = ui.scope_id().with(("pose", id.0));
        let response = ui.interact(rect, row, Sense::click_and_drag());
        let is_active = editor.active_pose() == Some(id);
        let spoken = format!("{}, {}", pose.name, bones(&pose));
        response
            .widget_info(|| WidgetInfo::selected(Role::ListBoxOption, true, is_active, &spoken));
        if !ui.is_rect_visible(rect) {
            return false;
        }
        if is_active {
            ui.painter().rect_filled(rect, 3.0, palette.selected);
            let bar = Rect::from_min_size(rect.min, vec2(3.0, rect.height()));
            ui.painter().rect_filled(bar, 1.0, palette.accent);
        } else if response.hovered() {
            ui.painter().rect_filled(rect, 3.0, palette.stripe);
        }
        self.drag_ui(ui, editor, id, &response);
        let applied = editor.applied_pose().filter(|(of, _)| *of == id);
        if let Some((_, how)) = applied {
            amount_bar_ui(ui, rect, how);
        }
        let picture = Rect::from_min_size(rect.min + vec2(6.0, 3.0), PICTURE);
        if let Some(image) = editor.pose_picture(id)
            && let Some(texture) = self.textures.of(ui.ctx(), &image)
        {
            let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
            ui.painter().image(texture, picture, whole, Color32::WHITE);
        }
        let more = Rect::from_min_size(
            pos2(rect.right() - ICON - 2.0, rect.top() + 2.0),
            Vec2::splat(ICON),
        );
        let text = Rect::from_min_max(
            pos2(picture.right() + 6.0, rect.top() + 4.0),
            pos2(more.left() - 2.0, rect.bottom() - 4.0),
        );
        let (upper, lower) = text.split_top_bottom_at_fraction(0.5);
        let name = palette.text;
        let name = if is_active { palette.accent } else { name };
        if !self.rename_ui(ui, editor, id, upper) {
            text_ui(ui, &pose.name, name, upper, false, upper.width());
        }
        let (second, colour) = match applied {
            Some((_, how)) => (readout(how), palette.text),
            None => (bones(&pose), palette.text_dim),
        };
        text_ui(ui, &second, colour, lower, false, lower.width());
        let name = &pose.name;
        let icon = icons::ICON_MORE_VERT;
        let more = switch_ui(ui, row.with("more"), more, icon, true, palette);
        more.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("Menu of {name}")));
        egui::Popup::menu(&more).show(|ui| menu_ui(ui, editor, id, commands));
        more.on_hover_text(format!("More commands for {name}."));
        let clicked = response.clicked();
        if clicked {
            let added = ui.input(|i| i.modifiers.command);
            let how = PoseAmount {
                added,
                ..PoseAmount::WHOLE
            };
            editor.apply_library_pose(id, how);
        }
        response.context_menu(|ui| menu_ui(ui, editor, id, commands));
        if applied.is_none() {
            response.on_hover_text(about(&pose));
        }
        clicked
    }

    /// Applies the pose by how far the row is dragged to the right, or flipped to the left.
    fn drag_ui(&mut self, ui: &Ui, editor: &mut Editor, id: PoseId, response: &Response) {
        if response.drag_started_by(PointerButton::Primary) {
            self.is_dragging = editor.begin_library_pose(id);
        }
        let is_applied = editor.applied_pose().is_some_and(|(of, _)| of == id);
        if !self.is_dragging || !is_applied || !(response.dragged() || response.drag_stopped()) {
            return;
        }
        let (from, to, added) = ui.input(|i| {
            let pointer = &i.pointer;
            let to = pointer.latest_pos();
            (pointer.press_origin(), to, i.modifiers.command)
        });
        if let Some((from, to)) = from.zip(to).filter(|_| response.dragged()) {
            let whole = response.rect.width() * (1.0 / MAX_AMOUNT) as f32;
            let share = f64::from((to.x - from.x) / whole.max(1.0));
            editor.set_library_pose(PoseAmount {
                // Whole percents, which the row shows.
                amount: (share.abs() * 100.0).round() / 100.0,
                flipped: share < 0.0,
                added,
            });
        }
        if response.drag_stopped() {
            self.is_dragging = false;
            editor.confirm_transform();
        }
    }
}

/// How many bones a pose holds, in words.
fn bones(pose: &Clip) -> String {
    match pose.posed_joints().len() {
        0 => "No bones".to_owned(),
        n => counted(n, "bone"),
    }
}

/// The amount while it is dragged.
fn readout(how: PoseAmount) -> String {
    let percent = how.amount * 100.0;
    let added = if how.added { "Added, " } else { "" };
    let flipped = if how.flipped { ", flipped" } else { "" };
    format!("{added}{percent:.0} %{flipped}")
}

/// Draws the amount as a bar behind the row, with ticks at 100 %; flipped from the right.
fn amount_bar_ui(ui: &Ui, rect: Rect, how: PoseAmount) {
    let palette = theme::palette(ui);
    let share = |amount: f64| (amount / MAX_AMOUNT).clamp(0.0, 1.0) as f32 * rect.width();
    let x = |amount: f64| {
        if how.flipped {
            rect.right() - share(amount)
        } else {
            rect.left() + share(amount)
        }
    };
    let filled = if how.flipped {
        rect.with_min_x(x(how.amount))
    } else {
        rect.with_max_x(x(how.amount))
    };
    let colour = palette.accent.gamma_multiply(0.35);
    ui.painter().rect_filled(filled, 3.0, colour);
    let line = egui::Stroke::new(1.0, palette.text_dim);
    // Short, so that it does not cross the text.
    for ends in [
        rect.with_max_y(rect.top() + TICK),
        rect.with_min_y(rect.bottom() - TICK),
    ] {
        ui.painter().vline(x(1.0), ends.y_range(), line);
    }
}

/// The tooltip of a row.
fn about(pose: &Clip) -> String {
    format!(
        "{}\n{}.\nClick to apply it. Drag to the right to apply it by 0 - 150 %, to the left to apply it flipped; hold Ctrl to \
         add it to the current pose. Esc cancels.",
        pose.name,
        bones(pose)
    )
}
