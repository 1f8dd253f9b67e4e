//! The header of a pane with its stack selector, and the badges over its picture.

use super::Viewport;
use super::panes::{MOST, Pane};
use crate::deform::{BodyChoice, StackChoice};
use crate::document::PaneLayout;
use crate::editor::Editor;
use crate::view::theme;
use egui::emath::GuiRounding as _;
use egui::{
    Align, ComboBox, CornerRadius, FontId, Galley, Label, Layout, Painter, PopupCloseBehavior,
    Pos2, Rangef, Rect, Role, Sense, Stroke, StrokeKind, TextStyle, Ui, UiBuilder, Vec2,
    WidgetInfo,
};
use std::sync::Arc;

/// Width of the view name at the top left, points.
const VIEW_NAME: f32 = 150.0;
/// Below this width headers use short stack names, points.
const NARROW: f32 = 300.0;
/// What a badge is larger than its text by, points.
const PADDING: Vec2 = Vec2::new(24.0, 8.0);
/// Maximum radius of the corners of a badge, points: that of one line.
const ROUND: f32 = 14.0;

impl Viewport {
    /// Draws the header of a pane with the stack selector; returns its free range.
    pub(super) fn head_ui(
        &mut self,
        ui: &mut Ui,
        pane: &Pane,
        layout: PaneLayout,
        editor: &mut Editor,
    ) -> Rangef {
        let Some(head) = pane.head else {
            return pane.picture.x_range();
        };
        let palette = theme::palette(ui);
        ui.painter().rect_filled(head, 0.0, palette.panel);
        let is_right = layout == PaneLayout::Wipe && pane.index == 1;
        let flow = if is_right {
            Layout::right_to_left(Align::Center)
        } else {
            Layout::left_to_right(Align::Center)
        };
        let builder = UiBuilder::new()
            .id_salt(("pane head", pane.index))
            .max_rect(head.shrink2(Vec2::new(6.0, 2.0)))
            .layout(flow);
        let mut row = ui.new_child(builder);
        row.spacing_mut().item_spacing.x = 8.0;
        let (combo, chosen) = if editor.exporting().beside().is_some() {
            (fixed_ui(&mut row, pane), None)
        } else {
            choice_ui(&mut row, pane, layout, editor)
        };
        if let Some(chosen) = chosen {
            let slot = if layout == PaneLayout::One {
                self.panes.active.min(MOST - 1)
            } else {
                pane.index
            };
            editor.compare_mut().choices[slot] = chosen;
            ui.ctx().request_repaint();
        }
        let n = layout.n_panes();
        let is_split = matches!(layout, PaneLayout::Two | PaneLayout::Four);
        if is_split && self.active_in(n) == pane.index {
            let (mark, _) = head.split_top_bottom_at_y(head.top() + 2.0);
            ui.painter().rect_filled(mark, 0.0, palette.accent);
        }
        if is_right {
            Rangef::new(head.left(), combo.left())
        } else {
            Rangef::new(combo.right(), head.right())
        }
    }

    /// Draws the badge of the comparison stack, in the header or at the top of the picture.
    pub(super) fn before_badge_ui(&self, ui: &Ui, pane: &Pane, room: Rangef, editor: &Editor) {
        let Some(instead) = self.instead(editor).filter(|_| pane.is_before) else {
            return;
        };
        let what = if self.shows_before() {
            "Comparison"
        } else {
            "View"
        };
        let label = format!("{what}: {}", instead.short_label());
        let palette = theme::palette(ui);
        let font = FontId::proportional(14.0);
        let painter = ui.painter();
        let galley = painter.layout_no_wrap(label.clone(), font, palette.text);
        let size = galley.size() + PADDING;
        let room = room.shrink(6.0 + 0.5 * size.x);
        let middle = pane.picture.center().x;
        let middle = match pane.head {
            // In the header, if there is space.
            Some(head) if room.min <= room.max => Pos2::new(room.clamp(middle), head.center().y),
            _ => {
                // In a small picture below the view name.
                let is_small = pane.picture.width() < 2.0 * VIEW_NAME + size.x;
                let gap = if is_small { 30.0 } else { 10.0 };
                Pos2::new(middle, pane.picture.top() + gap + 0.5 * size.y)
            }
        };
        badge_ui(ui, painter, middle, galley, ("before", pane.index), &label);
    }

    /// Draws the badge shown where a body is missing, where a heat map is of another body or another state, or until the centres
    /// of rotation are computed.
    pub(super) fn centres_badge_ui(ui: &Ui, pane: &Pane, editor: &Editor) {
        let badge = editor.body_badge(pane.view);
        let badge = badge.or_else(|| editor.scan_badge(pane.view));
        let badge = badge.or_else(|| editor.centres_badge(pane.view));
        let Some(label) = badge.or_else(|| editor.layout_badge(pane.view)) else {
            return;
        };
        let palette = theme::palette(ui);
        let font = FontId::proportional(14.0);
        let painter = ui.painter().with_clip_rect(pane.clip);
        let room = (pane.clip.width() - 44.0).max(40.0);
        let galley = painter.layout(label.to_owned(), font, palette.text, room);
        let size = galley.size() + PADDING;
        // The comparison badge stands above it.
        let above = if pane.is_before { 44.0 } else { 10.0 };
        let middle = pane.clip.center_top() + Vec2::new(0.0, above + 0.5 * size.y);
        badge_ui(ui, &painter, middle, galley, ("centres", pane.index), label);
    }
}

/// Draws a text on a plate around `middle`, with `label` as its accessible name.
fn badge_ui(
    ui: &Ui,
    painter: &Painter,
    middle: Pos2,
    galley: Arc<Galley>,
    id: (&str, usize),
    label: &str,
) {
    let palette = theme::palette(ui);
    let plate = Rect::from_center_size(middle, galley.size() + PADDING);
    let plate = plate.round_to_pixels(ui.pixels_per_point());
    let line = Stroke::new(1.5, palette.accent);
    let round = CornerRadius::same((plate.height() * 0.5).min(ROUND) as u8);
    painter.rect(plate, round, palette.panel, line, StrokeKind::Inside);
    painter.galley(plate.min + 0.5 * PADDING, galley, palette.text);
    let response = ui.interact(plate, ui.scope_id().with(id), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, label));
}

/// The stack selector of a pane; returns its rectangle and the choice.
fn choice_ui(
    ui: &mut Ui,
    pane: &Pane,
    layout: PaneLayout,
    editor: &Editor,
) -> (Rect, Option<StackChoice>) {
    let room = ui.available_width();
    let shown = if room < NARROW {
        pane.choice.short_label()
    } else {
        pane.choice.label()
    };
    let font = TextStyle::Button.resolve(ui.style());
    let text = ui
        .painter()
        .layout_no_wrap(shown.to_owned(), font, theme::palette(ui).text);
    let spacing = ui.spacing();
    // The padding and the arrow of the combo box.
    let around = 2.0 * spacing.button_padding.x + spacing.icon_width + spacing.icon_spacing;
    let width = (text.size().x + around + 4.0).clamp(100.0, room.max(100.0));
    let mut chosen = None;
    let combo = ComboBox::from_id_salt("stack")
        .width(width)
        .truncate()
        .selected_text(shown)
        .height(f32::INFINITY)
        .close_behavior(PopupCloseBehavior::CloseOnClick)
        .show_ui(ui, |ui| {
            ui.set_min_width(220.0);
            let kept = matches!(pane.choice, StackChoice::Custom(_)).then(|| pane.choice.clone());
            let bodies = BodyChoice::ALL.map(StackChoice::Body);
            for choice in StackChoice::offered().chain(kept).chain(bodies) {
                let is_on = choice == pane.choice;
                let item = ui.selectable_label(is_on, choice.label());
                if item.on_hover_text(choice.about()).clicked() {
                    chosen = Some(choice);
                }
            }
            ui.separator();
            let about = "Keep a copy of the project's current stack in this pane.";
            let item = ui.selectable_label(false, "Keep current stack");
            if item.on_hover_text(about).clicked() {
                chosen = editor.stack_to_keep();
            }
        });
    let name = match (layout, pane.index) {
        (PaneLayout::Wipe, 0) => "Left of the line".to_owned(),
        (PaneLayout::Wipe, _) => "Right of the line".to_owned(),
        (PaneLayout::One, _) => "Stack in view".to_owned(),
        (_, index) => format!("Stack of pane {}", index + 1),
    };
    combo
        .response
        .widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));
    let response = combo.response;
    let rect = response.rect;
    response.on_hover_text(format!("{}\n{}", pane.choice.label(), pane.choice.about()));
    (rect, chosen)
}

/// Draws the fixed name of a pane's stack; returns its rectangle.
fn fixed_ui(ui: &mut Ui, pane: &Pane) -> Rect {
    let text = if ui.available_width() < NARROW {
        pane.choice.short_label()
    } else {
        pane.choice.label()
    };
    let label = Label::new(text).truncate().selectable(false);
    let response = ui.add(label);
    let rect = response.rect;
    response.on_hover_text(pane.choice.about());
    rect
}
