//! The legend of the weight colours, and the badge of vertices that are not normalised.

use super::Viewport;
use super::heat_legend::menu_ui;
use super::overlays::{MARGIN, color, colour_bar, text};
use super::panes::Pane;
use crate::document::session::PaintTarget;
use crate::editor::{Editor, WeightView};
use crate::finding::{counted, thousands};
use crate::sentence::shortened_name;
use crate::skeleton::JointId;
use crate::view::commands::Command;
use crate::view::heat::{Ramp, count_color, hex, sum_color};
use crate::view::joint_colour::joint_colour;
use crate::view::mode::Mode;
use crate::view::scene::Shading;
use crate::view::scenery::Scenery;
use crate::view::theme;
use egui::emath::GuiRounding as _;
use egui::{
    Align, Align2, Button, Color32, CornerRadius, FontId, Layout, Painter, Pos2, Rect, Role, Sense,
    Stroke, StrokeKind, Ui, UiBuilder, Vec2, WidgetInfo,
};
use egui_material_icons::icons;

/// Size of the colour bar, points.
const BAR: Vec2 = Vec2::new(14.0, 132.0);
/// Most characters of a bone's name: names can be long.
const MOST_LETTERS: usize = 24;
/// Side of the swatches, points.
const SWATCH: f32 = 14.0;
/// Distance of the swatches, points.
const STEP: f32 = 18.0;
/// Maximum number of bones listed.
const MOST_BONES: usize = 12;
/// Influence counts from 1 to this have their own colour.
const MAX_COUNTED: u8 = 8;
/// Background and stripes of locked weights.
const LOCKED: [[f32; 3]; 2] = [hex(0x9A9DA1), hex(0x404244)];

/// The parameters for drawing a legend.
struct Pen<'a> {
    painter: &'a Painter,
    scenery: &'a Scenery,
}

impl Viewport {
    /// Draws the legend at the bottom left: the selector and the colour scale.
    pub(super) fn weight_legend_ui(&mut self, ui: &mut Ui, rect: Rect, editor: &Editor) {
        let height = BAR.y + SWATCH + 34.0;
        if rect.height() < height + 120.0 || rect.width() < 200.0 {
            return;
        }
        let scenery = Scenery::of(self.options.theme);
        let painter = ui.painter().with_clip_rect(rect);
        let pen = Pen {
            painter: &painter,
            scenery,
        };
        let ramp = self.options.ramp;
        let view = self.options.weight_view;
        let target = editor.paint_target();
        let is_map = view == WeightView::Painted && target != PaintTarget::Weights;
        let mut place = Rect::from_min_size(
            rect.left_bottom() + Vec2::new(MARGIN, -MARGIN - SWATCH),
            Vec2::splat(SWATCH),
        );
        let bottom = place.bottom();
        let locks = self.options.lock_pattern && !editor.document().locked().is_empty();
        if locks && !is_map {
            pen.striped(place, LOCKED.map(color));
            pen.mark(place, place.center().y, "locked");
            place = place.translate(Vec2::new(0.0, -STEP));
        }
        pen.hatched(place, ramp.hatch().map(color));
        let nothing = match (view, is_map) {
            (WeightView::Painted, false) => "0 (none)",
            (WeightView::Painted, true) => "1 (not painted)",
            _ => "no influence",
        };
        pen.mark(place, place.center().y, nothing);
        let low = place.top() - 8.0;
        let left = place.left();
        let (top, about) = match view {
            WeightView::Painted => self.painted_ui(&pen, Pos2::new(left, low), editor),
            WeightView::Bones => {
                let room = rect.height() - 200.0;
                bones_ui(&pen, Pos2::new(left, low), room, editor)
            }
            WeightView::Count => {
                let limit = editor.document().session().brush.max_influences;
                counts_ui(&pen, Pos2::new(left, low), ramp, limit)
            }
            WeightView::Sum => sums_ui(&pen, Pos2::new(left, low)),
        };
        let area = Rect::from_min_max(Pos2::new(left, top), Pos2::new(left + BAR.x + 60.0, bottom));
        let response = ui.interact(area, ui.scope_id().with("legend"), Sense::hover());
        let locked = if locks && !is_map {
            "; striped where weights are locked"
        } else {
            ""
        };
        let label = format!("{about}{locked}");
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &label));
        let title = match view {
            WeightView::Painted => painted_name(editor),
            _ => view.label().to_owned(),
        };
        let title_rect = Rect::from_min_max(
            Pos2::new(left, top - 8.0 - theme::ROW),
            Pos2::new((left + 260.0).min(rect.right() - MARGIN), top - 8.0),
        );
        let builder = UiBuilder::new()
            .id_salt("weight legend title")
            .max_rect(title_rect)
            .layout(Layout::left_to_right(Align::Center));
        let mut column = ui.new_child(builder);
        column.set_clip_rect(rect);
        let response = menu_ui(&mut column, &title, |ui| {
            for other in WeightView::ALL {
                let command = Command::UseWeightView(other);
                let item = ui.selectable_label(other == view, command.label());
                if item.on_hover_text(command.about()).clicked() {
                    self.chosen.push(command);
                    ui.close();
                }
            }
        });
        let label = format!("Weight colours: {title}");
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &label));
        response.on_hover_text(format!(
            "{}\nClick to choose another display.",
            Command::UseWeightView(view).about()
        ));
    }

    /// Draws the ramp from 0 to the maximum; returns its top and its description.
    fn painted_ui(&self, pen: &Pen<'_>, at: Pos2, editor: &Editor) -> (f32, String) {
        let ramp = self.options.ramp;
        let target = editor.paint_target();
        let limit = target.limit();
        let bar = Rect::from_min_size(at - Vec2::new(0.0, BAR.y), BAR);
        colour_bar(pen.painter, bar, ramp.stops());
        if self.options.isolines {
            for tenth in 1..10u8 {
                let part = f32::from(tenth) * 0.1;
                let y = bar.bottom() - bar.height() * part;
                let [r, g, b] = ramp.color(part).unwrap_or_default();
                let is_light = 0.299 * r + 0.587 * g + 0.114 * b > 0.42;
                let line = if is_light {
                    Color32::from_black_alpha(130)
                } else {
                    Color32::from_white_alpha(110)
                };
                pen.painter.hline(bar.x_range(), y, Stroke::new(1.0, line));
            }
        }
        pen.edge(bar);
        // A map has a colour for 0; weights use the hatch.
        for quarter in u8::from(!target.is_map())..=4 {
            let part = f32::from(quarter) * 0.25;
            let y = bar.bottom() - bar.height() * part;
            pen.mark(bar, y, &format!("{}", part * limit));
        }
        let what = if target.is_map() {
            painted_name(editor)
        } else {
            format!("Weights of {}", painted_name(editor))
        };
        let lines = if self.options.isolines {
            ", a line at every 0.1"
        } else {
            ""
        };
        let about = format!("{what}: {} colours from 0 to {limit}{lines}", ramp.label());
        (bar.top(), about)
    }

    /// Draws the badge of vertices that are not normalised, with two buttons.
    pub(super) fn sum_badge_ui(&mut self, ui: &mut Ui, pane: &Pane, editor: &mut Editor) {
        let is_about_weights = self.mode == Mode::Paint || self.options.shading == Shading::Weights;
        let n_off = editor.n_off_sum();
        if !is_about_weights || n_off == 0 {
            return;
        }
        let full = format!("{} not normalised", counted(n_off, "vertex"));
        let short = format!("{} not normalised", thousands(n_off));
        let font = FontId::proportional(13.0);
        let width = |label: &str| {
            let galley =
                ui.painter()
                    .layout_no_wrap(label.to_owned(), font.clone(), Color32::WHITE);
            galley.size().x
        };
        // Icon, gaps, both buttons with their padding, both edges.
        let around = 15.0 + width("Select") + width("Normalise") + 2.0 * 14.0 + 3.0 * 6.0 + 18.0;
        let room = pane.clip.width() - 20.0;
        let label = if width(&full) + around <= room {
            full
        } else {
            short
        };
        let size = Vec2::new(width(&label) + around, theme::ROW + 8.0);
        if size.x > room || pane.clip.height() < 120.0 {
            return;
        }
        let has_badge =
            editor.centres_badge(pane.view).is_some() || editor.layout_badge(pane.view).is_some();
        let above = [pane.is_before, has_badge];
        let above = 10.0 + 36.0 * above.iter().filter(|is_there| **is_there).count() as f32;
        let middle = pane.clip.center_top() + Vec2::new(0.0, above + 0.5 * size.y);
        let plate = Rect::from_center_size(middle, size).round_to_pixels(ui.pixels_per_point());
        let palette = theme::palette(ui);
        let line = Stroke::new(1.0, palette.line);
        let round = CornerRadius::same(6);
        ui.painter()
            .rect(plate, round, palette.panel, line, StrokeKind::Inside);
        let builder = UiBuilder::new()
            .id_salt("sums off 1")
            .max_rect(plate.shrink2(Vec2::new(8.0, 4.0)))
            .layout(Layout::left_to_right(Align::Center));
        let mut row = ui.new_child(builder);
        row.spacing_mut().item_spacing.x = 6.0;
        row.spacing_mut().button_padding.x = 7.0;
        let icon = icons::ICON_WARNING.rich_text().size(15.0);
        row.add(egui::Label::new(icon).selectable(false));
        row.add(egui::Label::new(&label).selectable(false));
        let select = row.add(Button::new("Select"));
        select.widget_info(|| {
            WidgetInfo::labeled(Role::Button, true, "Select vertices not normalised")
        });
        let about = "Select these vertices and frame them.";
        if select.on_hover_text(about).clicked() {
            self.chosen.push(Command::SelectOffSum);
        }
        let enabled = editor.job().is_none();
        let normalise = row.add_enabled(enabled, Button::new("Normalise"));
        normalise
            .widget_info(|| WidgetInfo::labeled(Role::Button, enabled, "Normalise these vertices"));
        let about = "Scale the weights of these vertices so that they add up to 1. Locked bones keep their weights.";
        if normalise.on_hover_text(about).clicked() {
            editor.normalise_off_sum();
        }
    }
}

/// The name of the painted bone or map.
fn painted_name(editor: &Editor) -> String {
    let document = editor.document();
    match (editor.paint_target(), document.session().active_joint) {
        (PaintTarget::Mask(kind), _) => kind.label().to_owned(),
        (PaintTarget::LayerMask, _) => "Layer mask".to_owned(),
        (PaintTarget::Weights, Some(joint)) => document.skeleton().label(joint),
        (PaintTarget::Weights, None) => "No active bone".to_owned(),
    }
}

/// Draws the bones with their colours: selected bones first, then in skeleton order.
fn bones_ui(pen: &Pen<'_>, at: Pos2, room: f32, editor: &Editor) -> (f32, String) {
    let document = editor.document();
    let session = document.session();
    let is_bone = document.bone_mask();
    let is_shown = |joint: &JointId| is_bone[joint.get()] && editor.is_weighted(*joint);
    let is_first = |joint: &JointId| {
        session.selected_joints.contains(joint) || session.active_joint == Some(*joint)
    };
    let all: Vec<JointId> = (0..is_bone.len() as u32)
        .map(JointId)
        .filter(is_shown)
        .collect();
    let (mut bones, others): (Vec<JointId>, Vec<JointId>) = all.into_iter().partition(is_first);
    bones.extend(others);
    let n_rows = ((room / STEP) as usize).clamp(2, MOST_BONES);
    let n_named = if bones.len() > n_rows {
        n_rows - 1
    } else {
        bones.len()
    };
    let mut top = at.y;
    let mut row = |fill: Option<Color32>, label: &str| {
        top -= STEP;
        let place = Rect::from_min_size(Pos2::new(at.x, top), Vec2::splat(SWATCH));
        if let Some(fill) = fill {
            pen.painter.rect_filled(place, 0.0, fill);
            pen.edge(place);
        }
        pen.mark(place, place.center().y, label);
    };
    if n_named < bones.len() {
        row(None, &format!("and {} more", bones.len() - n_named));
    }
    for &joint in bones[..n_named].iter().rev() {
        let name = document.skeleton().label(joint);
        let label = shortened_name(&name, MOST_LETTERS);
        row(Some(joint_colour(session, joint)), &label);
    }
    let about = format!(
        "The colours of {}, mixed by weight",
        counted(bones.len(), "bone")
    );
    (top, about)
}

/// Draws one swatch per number of influences.
fn counts_ui(pen: &Pen<'_>, at: Pos2, ramp: Ramp, limit: usize) -> (f32, String) {
    let mut top = at.y;
    for count in 1..=MAX_COUNTED {
        top -= SWATCH + 2.0;
        let place = Rect::from_min_size(Pos2::new(at.x, top), Vec2::splat(SWATCH));
        let fill = count_color(ramp, count);
        if usize::from(count) > limit {
            pen.striped(place, [color(fill), color(contrasting(fill))]);
        } else {
            pen.painter.rect_filled(place, 0.0, color(fill));
            pen.edge(place);
        }
        let label = match count {
            MAX_COUNTED => "8 or more".to_owned(),
            n if usize::from(n) == limit => format!("{n}, the limit"),
            n => n.to_string(),
        };
        pen.mark(place, place.center().y, &label);
    }
    let about = format!("Number of influences, 1 to 8 and more; more than {limit} are striped");
    (top, about)
}

/// Draws the colours of weight sums from 0.5 to 1.5.
fn sums_ui(pen: &Pen<'_>, at: Pos2) -> (f32, String) {
    const STRIPS: u8 = 44;
    let bar = Rect::from_min_size(at - Vec2::new(0.0, BAR.y), BAR);
    let strip = bar.height() / f32::from(STRIPS);
    for i in 0..STRIPS {
        let part = (f32::from(i) + 0.5) / f32::from(STRIPS);
        let y = bar.bottom() - strip * f32::from(i + 1);
        let place = Rect::from_min_size(Pos2::new(bar.left(), y), Vec2::new(BAR.x, strip + 0.5));
        pen.painter
            .rect_filled(place, 0.0, color(sum_color(0.5 + part)));
    }
    pen.stripes(bar, -1.0, Color32::from_black_alpha(80));
    let middle = Rect::from_center_size(bar.center(), Vec2::new(BAR.x, 6.0));
    pen.painter.rect_filled(middle, 0.0, color(sum_color(1.0)));
    pen.edge(bar);
    for (sum, label) in [
        (0.5, "0.50 or less"),
        (0.75, "0.75"),
        (1.0, "1 (normalised)"),
        (1.25, "1.25"),
        (1.5, "1.50 or more"),
    ] {
        pen.mark(bar, bar.bottom() - bar.height() * (sum - 0.5), label);
    }
    let about = "Sums of weights: light at 1, blue below, red above, both striped".to_owned();
    (bar.top(), about)
}

/// A colour that contrasts with `c`, as in `shaders/mesh.frag`.
fn contrasting(c: [f32; 3]) -> [f32; 3] {
    let light = 0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2];
    c.map(|c| {
        if light > 0.42 {
            c * 0.42
        } else {
            c + (1.0 - c) * 0.42
        }
    })
}

impl Pen<'_> {
    /// Draws a swatch with the hatch of missing values.
    fn hatched(&self, place: Rect, [ground, stripe]: [Color32; 2]) {
        self.painter.rect_filled(place, 0.0, ground);
        self.stripes(place, 1.0, stripe);
        self.edge(place);
    }

    /// Draws a swatch with stripes in the opposite direction.
    fn striped(&self, place: Rect, [ground, stripe]: [Color32; 2]) {
        self.painter.rect_filled(place, 0.0, ground);
        self.stripes(place, -1.0, stripe);
        self.edge(place);
    }

    /// Draws diagonal stripes: rising to the right, or falling if `way` is negative.
    fn stripes(&self, place: Rect, way: f32, colour: Color32) {
        let clip = place.intersect(self.painter.clip_rect());
        let painter = self.painter.with_clip_rect(clip);
        let n = ((place.width() + place.height()) / 6.0) as u32 + 1;
        for i in 0..n {
            let x = place.left() - place.height() + i as f32 * 6.0;
            let (from, to) = if way > 0.0 {
                (place.bottom(), place.top())
            } else {
                (place.top(), place.bottom())
            };
            let ends = [Pos2::new(x, from), Pos2::new(x + place.height(), to)];
            painter.line_segment(ends, Stroke::new(2.0, colour));
        }
    }

    fn edge(&self, place: Rect) {
        let line = Stroke::new(1.0, color(self.scenery.text_halo));
        self.painter
            .rect_stroke(place, 0.0, line, StrokeKind::Outside);
    }

    /// Draws a tick and its label, right of `place`.
    fn mark(&self, place: Rect, y: f32, label: &str) {
        let from = Pos2::new(place.right() + 1.0, y);
        self.painter.line_segment(
            [from, from + Vec2::new(4.0, 0.0)],
            Stroke::new(1.0, color(self.scenery.text)),
        );
        let at = from + Vec2::new(8.0, 0.0);
        text(
            self.painter,
            at,
            Align2::LEFT_CENTER,
            label,
            11.0,
            self.scenery,
        );
    }
}
