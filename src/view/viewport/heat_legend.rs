//! The overlays of a heat map: legend, statistics, worst vertex, and the value under the pointer.

use super::overlays::{MARGIN, color, colour_bar, text};
use super::panes::Pane;
use super::{Viewport, ndc, size};
use crate::deform::diagnostics::{Metric, Summary};
use crate::deform::{BodyChoice, StackChoice};
use crate::document::PaneLayout;
use crate::editor::Editor;
use crate::evaluate::Difference;
use crate::sentence::shortened_name;
use crate::view::commands::Command;
use crate::view::heat_map::{HeatScale, figures_of, verdict, worst_text};
use crate::view::scene::Shading;
use crate::view::scenery::Scenery;
use crate::view::theme;
use egui::{
    Align, Align2, Atom, Button, Color32, FontId, Layout, Painter, Pos2, Rect, Response, RichText,
    Role, Sense, Stroke, Ui, UiBuilder, Vec2, WidgetInfo,
};
use egui_material_icons::icons;

/// Most characters of a title: names of bones can be long.
const MOST_LETTERS: usize = 48;
/// Size of the colour bar in a large pane, points.
const BAR: Vec2 = Vec2::new(14.0, 132.0);
/// Side of the hatched swatch, points.
const SWATCH: f32 = 14.0;
/// Panes lower than this show no legend, points.
const LEAST_HEIGHT: f32 = 150.0;
/// Panes narrower than this show no statistics, points.
const LEAST_WIDTH: f32 = 150.0;
/// Radius of the ring around the worst vertex, points.
const RING: f32 = 8.0;

impl Viewport {
    /// Requests the measurement of the visible metric.
    pub(super) fn ask_for_heat_map(&mut self, editor: &mut Editor) {
        if self.options.metric == Metric::ScanDistance && editor.scan_comparison().is_none() {
            self.options.metric = Metric::Bulge;
        }
        let is_shown = self.options.shading == Shading::HeatMap;
        let metric = is_shown.then_some(self.options.metric);
        editor.show_heat_map(metric);
        self.options.diagonal = match metric {
            Some(Metric::Difference) => editor.heat_diagonal(),
            _ => 0.0,
        };
    }

    /// Draws the legend: the metric selector and the colour scale.
    pub(super) fn heat_legend_ui(&mut self, ui: &mut Ui, rect: Rect, editor: &mut Editor) {
        if self.options.shading != Shading::HeatMap || rect.height() < LEAST_HEIGHT {
            return;
        }
        let scenery = Scenery::of(self.options.theme);
        let scale = self.options.heat_scale();
        let painter = ui.painter().with_clip_rect(rect);
        let is_difference = scale.metric == Metric::Difference;
        let titles = if is_difference { 2.0 } else { 1.0 } * (theme::ROW + 4.0);
        let room = rect.height() - 2.0 * MARGIN - titles - SWATCH - 60.0;
        let bar_size = Vec2::new(BAR.x, room.clamp(40.0, BAR.y));
        let bottom = rect.left_bottom() + Vec2::new(MARGIN, -MARGIN);
        let swatch = Rect::from_min_size(bottom - Vec2::new(0.0, SWATCH), Vec2::splat(SWATCH));
        let bar = Rect::from_min_size(swatch.min - Vec2::new(0.0, bar_size.y + 8.0), bar_size);
        let marks = bar_ui(&painter, bar, swatch, &scale, scenery);
        let spoken: Vec<String> = scale.ticks().into_iter().map(|tick| tick.1).collect();
        let label = format!(
            "Colours of {}: {}; hatched: no value",
            scale.title(),
            spoken.join(", ")
        );
        let id = ui.scope_id().with("heat legend");
        let response = ui.interact(bar.union(swatch).union(marks), id, Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &label));
        response.on_hover_text(format!(
            "{}\nLines connect equal values. Stripes mark values outside the range.",
            scale.metric.description()
        ));
        let place = Rect::from_min_max(
            Pos2::new(rect.left() + MARGIN, bar.top() - 10.0 - titles),
            Pos2::new(rect.right() - MARGIN, bar.top() - 10.0),
        );
        let builder = UiBuilder::new()
            .id_salt("heat legend titles")
            .max_rect(place)
            .layout(Layout::top_down(Align::LEFT));
        let mut column = ui.new_child(builder);
        column.set_clip_rect(rect);
        let has_scan = editor.scan_comparison().is_some();
        self.metric_ui(&mut column, &scale, has_scan);
        if is_difference {
            difference_ui(&mut column, editor);
        }
    }

    /// Draws the title, which is also the metric selector.
    fn metric_ui(&mut self, ui: &mut Ui, scale: &HeatScale, has_scan: bool) {
        let title = scale.title();
        let response = menu_ui(ui, &title, |ui| {
            let of_scan = has_scan.then_some(Metric::ScanDistance);
            for metric in Metric::ALL.into_iter().chain(of_scan) {
                let on = metric == scale.metric;
                let item = ui.selectable_label(on, metric.label());
                if item.on_hover_text(metric.description()).clicked() {
                    self.chosen.push(Command::UseMetric(metric));
                    ui.close();
                }
            }
        });
        let label = format!("Heat map: {title}");
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &label));
        response.on_hover_text(format!(
            "{}\nClick to choose another heat map.",
            scale.metric.description()
        ));
    }

    /// Draws the statistics of a pane at its lower right, and a ring around its worst vertex.
    pub(super) fn heat_figures_ui(
        &mut self,
        ui: &mut Ui,
        pane: &Pane,
        layout: PaneLayout,
        editor: &Editor,
    ) {
        if self.options.shading != Shading::HeatMap || pane.clip.width() < LEAST_WIDTH {
            return;
        }
        let scenery = Scenery::of(self.options.theme);
        let painter = ui.painter().with_clip_rect(pane.clip);
        let Some(figures) = editor.heat_figures(pane.view) else {
            if !editor.is_idle() {
                let at = pane.clip.right_bottom() - Vec2::splat(MARGIN);
                let align = Align2::RIGHT_BOTTOM;
                text(&painter, at, align, "Computing…", 12.0, scenery);
            }
            return;
        };
        let worst = editor.worst_place(pane.view);
        // Without a fault there is nothing to mark.
        let is_in_order = |value| figures.metric.format(value) == figures.metric.format(0.0);
        if let Some((place, value)) = worst.filter(|(_, value)| !is_in_order(*value)) {
            let camera = &editor.document().session().camera;
            let rect = pane.picture;
            let clip = camera.clip_from_world(rect.aspect_ratio()) * place.extend(1.0);
            if clip.w > 0.0 {
                let at = clip.truncate() / clip.w;
                let at = rect.min + Vec2::new(0.5 + 0.5 * at.x, 0.5 - 0.5 * at.y) * rect.size();
                let label = worst_text(figures.metric, value);
                mark(&painter, pane.clip, at, &label, scenery);
            }
        }
        let rows = figures_of(figures.metric, &figures.summary);
        let font = FontId::proportional(12.0);
        let line = 16.0;
        let widths = rows.iter().map(|(name, value)| {
            let text = format!("{name}  {value}");
            painter
                .layout_no_wrap(text, font.clone(), Color32::WHITE)
                .size()
                .x
        });
        let width = widths.fold(0.0, f32::max).max(96.0) + 16.0;
        let button = theme::ROW;
        let size = Vec2::new(width, button + rows.len() as f32 * line + 12.0);
        // The stack names beside a wipe line stand below.
        let below = if layout == PaneLayout::Wipe {
            32.0
        } else {
            0.0
        };
        let corner = pane.clip.right_bottom() - Vec2::new(MARGIN, MARGIN + below);
        let plate = Rect::from_min_max(corner - size, corner);
        if !pane.clip.contains_rect(plate) {
            return;
        }
        let palette = theme::palette(ui);
        painter.rect_filled(plate, 4.0, palette.panel.gamma_multiply(0.88));
        let builder = UiBuilder::new()
            .id_salt(("heat figures", pane.index))
            .max_rect(plate.shrink(4.0))
            .layout(Layout::top_down(Align::LEFT));
        let mut column = ui.new_child(builder);
        column.spacing_mut().item_spacing.y = 0.0;
        if worst_ui(&mut column, figures.metric, &figures.summary, pane.index) {
            self.frame_of = Some(pane.view);
        }
        for (i, (name, value)) in rows.iter().enumerate() {
            let y = plate.top() + 4.0 + button + (i as f32 + 0.5) * line + 2.0;
            let left = Pos2::new(plate.left() + 8.0, y);
            let right = Pos2::new(plate.right() - 8.0, y);
            let dim = palette.text_dim;
            painter.text(left, Align2::LEFT_CENTER, name, font.clone(), dim);
            let shown = palette.text;
            painter.text(right, Align2::RIGHT_CENTER, value, font.clone(), shown);
        }
        let spoken: Vec<String> = rows.iter().map(|(n, v)| format!("{n} {v}")).collect();
        let spoken = format!("{}: {}", figures.metric.label(), spoken.join(", "));
        let numbers = plate.with_min_y(plate.top() + 4.0 + button);
        let id = ui.scope_id().with(("heat numbers", pane.index));
        let response = ui.interact(numbers, id, Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &spoken));
        response.on_hover_text(about(figures.metric));
    }

    /// Frames the worst vertex of a pane, if requested by a click.
    pub(super) fn frame_worst_of_pane(&mut self, editor: &mut Editor) {
        if let Some(view) = self.frame_of.take() {
            let before = editor.pointed_view();
            editor.point_in(view);
            self.run_camera(Command::FrameWorst, editor);
            editor.point_in(before);
        }
    }

    /// Draws the value under the pointer.
    pub(super) fn heat_probe_ui(&self, ui: &Ui, response: &Response, editor: &mut Editor) {
        if self.options.shading != Shading::HeatMap || self.is_moving(editor) {
            return;
        }
        let Some(at) = response.hover_pos() else {
            return;
        };
        if !editor.is_picking_fast() {
            return;
        }
        let Some(value) = editor.heat_at(ndc(at, response.rect), size(response.rect)) else {
            return;
        };
        let text = self.options.metric.format(value);
        let palette = theme::palette(ui);
        let painter = ui.painter().with_clip_rect(response.rect);
        let font = FontId::proportional(13.0);
        let galley = painter.layout_no_wrap(text, font, palette.text);
        let room = galley.size() + Vec2::new(22.0, 10.0);
        let from = at + Vec2::new(16.0, -10.0 - room.y);
        // Beside the pointer, inside the pane.
        let low = response.rect.min;
        let high = (response.rect.max - room).max(low);
        let plate = Rect::from_min_size(from.clamp(low, high), room);
        painter.rect_filled(plate, 4.0, palette.panel.gamma_multiply(0.94));
        let swatch =
            Rect::from_center_size(plate.left_center() + Vec2::new(9.0, 0.0), Vec2::splat(10.0));
        if let Some(rgb) = self.options.heat_scale().color(value) {
            painter.rect_filled(swatch, 2.0, color(rgb));
        }
        painter.galley(plate.min + Vec2::new(18.0, 5.0), galley, palette.text);
    }
}

/// A drop-down over the viewport.
pub(super) fn menu_ui(ui: &mut Ui, title: &str, items: impl FnOnce(&mut Ui)) -> Response {
    let arrow = icons::ICON_ARROW_DROP_DOWN.rich_text().size(14.0);
    let text = RichText::new(shortened_name(title, MOST_LETTERS)).size(13.0);
    let fill = theme::palette(ui).panel.gamma_multiply(0.88);
    ui.spacing_mut().button_padding.x = 6.0;
    let button = Button::new((text, arrow)).truncate().fill(fill);
    egui::containers::menu::MenuButton::from_button(button)
        .ui(ui, items)
        .0
}

/// Draws the selectors of the two stacks that the difference compares.
fn difference_ui(ui: &mut Ui, editor: &mut Editor) {
    let difference = editor.difference().clone();
    let of = difference
        .of
        .as_ref()
        .map_or("As shown", StackChoice::short_label);
    let title = format!("{of} vs {}", difference.to.short_label());
    let has_bodies = editor.document().individual().is_some();
    let bodies = BodyChoice::ALL.map(StackChoice::Body);
    let is_there = |choice: &StackChoice| match choice {
        StackChoice::Body(body) => editor.has_body(*body),
        _ => true,
    };
    let bodies = bodies.into_iter().filter(|_| has_bodies).filter(is_there);
    let offered: Vec<StackChoice> = StackChoice::offered().chain(bodies).collect();
    let mut chosen = None;
    let response = menu_ui(ui, &title, |ui| {
        let dim = theme::palette(ui).text_dim;
        ui.label(RichText::new("Difference of").color(dim));
        let as_shown = ui.selectable_label(difference.of.is_none(), "As shown");
        if as_shown
            .on_hover_text("The stack that each pane shows.")
            .clicked()
        {
            chosen = Some(Difference {
                of: None,
                ..difference.clone()
            });
        }
        for choice in offered.iter().cloned() {
            let on = difference.of.as_ref() == Some(&choice);
            let item = ui.selectable_label(on, choice.label());
            if item.on_hover_text(choice.about()).clicked() {
                chosen = Some(Difference {
                    of: Some(choice),
                    ..difference.clone()
                });
            }
        }
        ui.separator();
        ui.label(RichText::new("vs").color(dim));
        for choice in offered.iter().cloned() {
            let on = difference.to == choice;
            // The same names stand above.
            let item = ui.push_id("against", |ui| ui.selectable_label(on, choice.label()));
            let response = item.inner.on_hover_text(choice.about());
            let name = format!("vs {}", choice.label());
            response.widget_info(|| WidgetInfo::selected(Role::Button, true, on, &name));
            if response.clicked() {
                chosen = Some(Difference {
                    to: choice,
                    ..difference.clone()
                });
            }
        }
    });
    let label = format!("Difference: {title}");
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &label));
    response.on_hover_text("The two deformer stacks to compare.");
    if let Some(chosen) = chosen {
        editor.set_difference(chosen);
        ui.close();
        ui.request_repaint();
    }
}

/// Draws the colour bar with its ticks and the hatched swatch; returns the occupied rectangle.
fn bar_ui(
    painter: &Painter,
    bar: Rect,
    swatch: Rect,
    scale: &HeatScale,
    scenery: &Scenery,
) -> Rect {
    colour_bar(painter, bar, scale.stops());
    let [ground, stripe] = scale.hatch().map(color);
    painter.rect_filled(swatch, 0.0, ground);
    let stripes = painter.with_clip_rect(swatch.intersect(painter.clip_rect()));
    for i in 0..6 {
        let x = swatch.left() - SWATCH + i as f32 * 5.0;
        let ends = [
            Pos2::new(x, swatch.bottom()),
            Pos2::new(x + SWATCH, swatch.top()),
        ];
        stripes.line_segment(ends, Stroke::new(2.0, stripe));
    }
    let edge = Stroke::new(1.0, color(scenery.text_halo));
    for outlined in [bar, swatch] {
        painter.rect_stroke(outlined, 0.0, edge, egui::StrokeKind::Outside);
    }
    let mut taken = Rect::NOTHING;
    let mut mark = |y: f32, label: &str| {
        let from = Pos2::new(bar.right() + 1.0, y);
        let line = Stroke::new(1.0, color(scenery.text));
        painter.line_segment([from, from + Vec2::new(4.0, 0.0)], line);
        let at = from + Vec2::new(8.0, 0.0);
        taken |= text(painter, at, Align2::LEFT_CENTER, label, 11.0, scenery);
    };
    let ticks = scale.ticks();
    // In a low pane only every other tick has a label.
    let gap = bar.height() / (ticks.len().max(2) - 1) as f32;
    let every = (13.0 / gap).ceil().max(1.0) as usize;
    let zero = ticks.iter().position(|tick| tick.1 == "0").unwrap_or(0);
    for (i, (place, label)) in ticks.iter().enumerate() {
        if i.abs_diff(zero).is_multiple_of(every) {
            mark(bar.bottom() - bar.height() * place, label);
        }
    }
    mark(swatch.center().y, "no value");
    taken
}

/// Draws a ring with a cross around a position, and its value.
fn mark(painter: &Painter, clip: Rect, at: Pos2, label: &str, scenery: &Scenery) {
    let halo = Stroke::new(3.5, color(scenery.text_halo).gamma_multiply(0.6));
    let line = Stroke::new(1.5, color(scenery.text));
    for stroke in [halo, line] {
        painter.circle_stroke(at, RING, stroke);
        for direction in [Vec2::X, Vec2::Y, -Vec2::X, -Vec2::Y] {
            let ends = [at + direction * RING, at + direction * (RING + 5.0)];
            painter.line_segment(ends, stroke);
        }
    }
    let beside = at + Vec2::new(RING + 8.0, -RING - 2.0);
    // A label that would leave the pane moves to the other side.
    if beside.x + 60.0 < clip.right() {
        text(painter, beside, Align2::LEFT_BOTTOM, label, 12.0, scenery);
    } else {
        let beside = at + Vec2::new(-RING - 8.0, -RING - 2.0);
        text(painter, beside, Align2::RIGHT_BOTTOM, label, 12.0, scenery);
    }
}

/// Draws the worst value as a button; returns whether it was clicked.
fn worst_ui(ui: &mut Ui, metric: Metric, summary: &Summary, pane: usize) -> bool {
    let value = summary.worst_value();
    let text = worst_text(metric, value);
    let palette = theme::palette(ui);
    let (verdict, colour) = match verdict(metric, value) {
        Some((words, true)) => (format!(", {words}"), palette.error),
        Some((words, false)) => (format!(", {words}"), palette.accent),
        None => (String::new(), palette.text),
    };
    let icon = icons::ICON_MY_LOCATION.rich_text().size(14.0);
    let shown = RichText::new(format!("{text}{verdict}")).color(colour);
    ui.spacing_mut().button_padding.x = 4.0;
    let room = Vec2::new(ui.available_width(), theme::ROW);
    let button = Button::new((icon, Atom::grow(), shown))
        .truncate()
        .min_size(room);
    let has_value = summary.n > 0;
    let response = ui.add_enabled(has_value, button);
    let label = format!("Worst vertex of pane {}: {text}{verdict}", pane + 1);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, has_value, &label));
    response
        .on_hover_text("The worst vertex. Click to frame it.")
        .clicked()
}

/// The explanation of the statistics.
fn about(metric: Metric) -> String {
    if metric == Metric::FoldOver {
        return "Percentage of vertices at an inverted face.".to_owned();
    }
    format!(
        "Statistics of all visible vertices. p99: 99th percentile, rms: root mean square.\n{}",
        metric.description()
    )
}
