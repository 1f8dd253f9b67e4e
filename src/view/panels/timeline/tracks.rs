//! The keyframes: a summary row, one row for each selected bone, and one for each group of clusters that has some.

use super::ruler;
use super::scale::Scale;
use crate::document::MeshId;
use crate::editor::Editor;
use crate::editor::clusters::GroupKeys;
use crate::finding::counted;
use crate::skeleton::clip_keys::{KeyMark, key_marks};
use crate::skeleton::{Clip, Interpolation, JointId, Skeleton};
use crate::view::chord::take_escape;
use crate::view::middle;
use crate::view::theme::{self, Palette};
use egui::scroll_area::ScrollSource;
use egui::{
    Align2, Color32, CursorIcon, Painter, PointerButton, Pos2, Rect, Response, Role, ScrollArea,
    Sense, Shape, Stroke, TextStyle, TextWrapMode, Ui, UiBuilder, WidgetInfo, WidgetText, pos2,
    vec2,
};
use egui_material_icons::icons;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Height of a row, points.
pub(super) const ROW: f32 = 18.0;
/// Half the size of a keyframe marker, points.
const KEY: f32 = 4.5;
/// Distance within which a press hits a keyframe, points.
const REACH: f32 = 6.0;

/// The displayed keyframes and the state of a drag.
#[derive(Default)]
pub(super) struct Tracks {
    is_collapsed: bool,
    made_of: Option<Source>,
    rows: Vec<Row>,
    hold: Grab,
    /// Whether the pointer was over the rows in the last frame, and the keyframe under it.
    is_hovered: bool,
    pointed: Option<(Owner, KeyMark)>,
    /// The keyframe whose menu is open.
    menu_of: Option<(Owner, KeyMark)>,
}

/// The source of the rows.
#[derive(PartialEq)]
struct Source {
    clip: ByPointer<Clip>,
    selected: BTreeSet<JointId>,
    model: u64,
    /// The names.
    skeleton: ByPointer<Skeleton>,
    groups: Vec<GroupKeys>,
}

struct ByPointer<T>(Arc<T>);

impl<T> PartialEq for ByPointer<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

struct Row {
    label: String,
    owner: Owner,
    marks: Vec<KeyMark>,
}

/// Whose keyframes a row shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Owner {
    /// Those of all shown bones.
    Bones,
    /// A bone.
    Bone(JointId),
    /// A group of clusters that are moved by hand.
    Group(MeshId, u16),
}

/// What the button was pressed on.
#[derive(Clone, Copy, Default, PartialEq)]
enum Grab {
    #[default]
    Nothing,
    /// The background: scrub the time.
    Time,
    /// A keyframe: move it.
    Key { owner: Owner, mark: KeyMark },
    /// The move was cancelled; the button is still down.
    GivenUp,
}

impl Tracks {
    /// Deletes the keyframe under the pointer; returns whether there is one.
    pub(super) fn delete_pointed(&mut self, editor: &mut Editor) -> bool {
        let pointed = self.pointed.take();
        if let Some((owner, mark)) = pointed {
            delete(owner, mark, editor);
        }
        pointed.is_some()
    }

    /// Whether the pointer was over the keyframes in the last frame.
    pub(super) fn is_hovered(&self) -> bool {
        self.is_hovered
    }

    /// Resets the hover state: a hidden panel cannot be hovered.
    pub(super) fn forget_pointer(&mut self) {
        (self.pointed, self.is_hovered) = (None, false);
    }

    /// Draws the rows in `rect`; the part left of `scale` holds the names.
    pub(super) fn show_ui(
        &mut self,
        ui: &mut Ui,
        rect: Rect,
        scale: &Scale,
        editor: &mut Editor,
    ) -> Response {
        self.gather(editor);
        let n_rows = if self.is_collapsed {
            1
        } else {
            self.rows.len()
        };
        let names = Rect::from_min_max(rect.min, pos2(scale.x.min, rect.max.y));
        // Over the keyframes the wheel zooms.
        let source = ScrollSource {
            mouse_wheel: ui.rect_contains_pointer(names),
            ..ScrollSource::SCROLL_BAR
        };
        let inner = ui.scope_builder(UiBuilder::new().max_rect(rect), |ui| {
            ScrollArea::vertical()
                .auto_shrink(false)
                .min_scrolled_height(0.0)
                .scroll_source(source)
                .show(ui, |ui| {
                    let size = vec2(ui.available_width(), n_rows as f32 * ROW);
                    let (_, content) = ui.allocate_space(size);
                    self.rows_ui(ui, content, rect, scale, editor, n_rows)
                })
        });
        inner.inner.inner
    }

    /// Rebuilds the rows when the clip or the selection changed.
    fn gather(&mut self, editor: &Editor) {
        let document = editor.document();
        let clip = editor
            .shown_clip()
            .and_then(|(id, _)| document.clips().get(&id));
        let Some(clip) = clip else {
            self.made_of = None;
            self.rows.clear();
            return;
        };
        let selected = &document.session().selected_joints;
        let source = Source {
            clip: ByPointer(clip.clone()),
            selected: selected.clone(),
            model: editor.model_serial(),
            skeleton: ByPointer(document.skeleton().clone()),
            groups: editor.group_keys(),
        };
        if self.made_of.as_ref() == Some(&source) {
            return;
        }
        let all = match selected.len() {
            0 => "All bones".to_owned(),
            n => counted(n, "bone"),
        };
        self.rows = vec![Row {
            label: all,
            owner: Owner::Bones,
            marks: key_marks(clip, |c| editor.shows_keys_of(c)),
        }];
        self.rows.extend(selected.iter().map(|&joint| Row {
            label: document.skeleton().label(joint),
            owner: Owner::Bone(joint),
            marks: key_marks(clip, |c| c.joint == joint),
        }));
        self.rows.extend(source.groups.iter().map(|keys| Row {
            label: format!("Clusters · {}", keys.name),
            owner: Owner::Group(keys.mesh, keys.group),
            marks: marks_of(&keys.times),
        }));
        self.made_of = Some(source);
    }

    fn rows_ui(
        &mut self,
        ui: &mut Ui,
        content: Rect,
        visible: Rect,
        scale: &Scale,
        editor: &mut Editor,
        n_rows: usize,
    ) -> Response {
        let palette = theme::palette(ui);
        // The background continues below the last row.
        let ground = Rect::from_min_max(
            pos2(scale.x.min, content.top().max(visible.top())),
            pos2(scale.x.max, visible.bottom()),
        );
        let response = ui.interact(ground, ui.scope_id().with("keys"), Sense::click_and_drag());
        let row_rect = |i: usize| {
            let top = content.top() + i as f32 * ROW;
            Rect::from_min_max(pos2(content.left(), top), pos2(content.right(), top + ROW))
        };
        let under = |at: Pos2| -> Option<(usize, KeyMark)> {
            let i = ((at.y - content.top()) / ROW).floor();
            let row = self.rows[..n_rows]
                .get(i.max(0.0) as usize)
                .filter(|_| i >= 0.0)?;
            Some((i as usize, nearest(&row.marks, scale, at.x)?))
        };
        let hovered = response.hover_pos().and_then(under);
        let of_row = |(row, mark): (usize, KeyMark)| (self.rows[row].owner, mark);
        let pressed = response.interact_pointer_pos();
        let pressed = pressed.filter(|_| response.secondary_clicked());
        self.pointed = hovered.map(of_row);
        self.is_hovered = response.contains_pointer();
        if response.secondary_clicked() {
            self.menu_of = pressed.and_then(under).map(of_row);
        }
        let holdable = |at| under(at).map(|(row, mark)| (self.rows[row].owner, mark));
        self.hold = update_grab(ui, &response, self.hold, holdable, scale, editor);

        let keys = ui.painter_at(ground);
        for i in 0..n_rows {
            let rect = row_rect(i);
            if !rect.intersects(visible) {
                continue;
            }
            if i % 2 == 1 {
                let band = rect.with_min_x(scale.x.min).with_max_x(scale.x.max);
                keys.rect_filled(band, 0.0, palette.stripe);
            }
            self.name_ui(ui, i, rect.with_max_x(scale.x.min - 4.0));
            let looks = MarkerStyle {
                palette,
                now: editor.playback().time_secs as f32,
                hovered: hovered.filter(|(row, _)| *row == i).map(|(_, mark)| mark),
            };
            paint_marks(&keys, &self.rows[i].marks, rect.center().y, scale, &looks);
        }
        if self.rows.len() < 2 && editor.document().session().selected_joints.is_empty() {
            let at = pos2(content.left() + 4.0, content.top() + 1.5 * ROW);
            if at.y + 0.5 * ROW <= visible.bottom() {
                let font = TextStyle::Small.resolve(ui.style());
                let text = "Select bones for separate rows.";
                ui.painter_at(visible)
                    .text(at, Align2::LEFT_CENTER, text, font, palette.text_dim);
            }
        }
        let response = response.on_hover_cursor(match hovered {
            Some(_) => CursorIcon::Grab,
            None => CursorIcon::Default,
        });
        if let Some((owner, mark)) = self.menu_of {
            response.context_menu(|ui| menu_ui(ui, owner, mark, editor));
        }
        match hovered {
            Some((i, mark)) if !response.dragged() => {
                let about = self.about(i, mark, editor);
                response.on_hover_text_at_pointer(about)
            }
            _ => response,
        }
    }

    /// The name of a row; the name of the summary folds the other rows.
    fn name_ui(&mut self, ui: &mut Ui, i: usize, rect: Rect) {
        let palette = theme::palette(ui);
        let row = &self.rows[i];
        let can_fold = i == 0 && self.rows.len() > 1;
        let id = ui.scope_id().with(("row", row.owner));
        let sense = if can_fold {
            Sense::click()
        } else {
            Sense::hover()
        };
        let response = ui.interact(rect, id, sense);
        let label = format!("{}: {}", row.label, counted(row.marks.len(), "keyframe"));
        let open = !self.is_collapsed;
        response.widget_info(|| {
            if can_fold {
                WidgetInfo::selected(Role::Button, true, open, &label)
            } else {
                WidgetInfo::labeled(Role::Label, true, &label)
            }
        });
        let colour = if i == 0 {
            palette.text
        } else {
            palette.text_dim
        };
        let mut left = rect.left() + 4.0;
        if can_fold {
            let icon = if open {
                icons::ICON_EXPAND_MORE
            } else {
                icons::ICON_CHEVRON_RIGHT
            };
            let text: WidgetText = icon.rich_text().size(14.0).into();
            let galley = text.into_galley(
                ui,
                Some(TextWrapMode::Extend),
                f32::INFINITY,
                TextStyle::Body,
            );
            let at = pos2(rect.left(), rect.center().y - galley.size().y * 0.5);
            ui.painter().galley(at, galley, colour);
        }
        left += if self.rows.len() > 1 { 12.0 } else { 0.0 };
        let galley = middle::body(ui, &row.label, rect.right() - left);
        let at = pos2(left, rect.center().y - galley.size().y * 0.5);
        ui.painter().galley(at, galley, colour);
        if response.has_focus() {
            let stroke = ui.visuals().selection.stroke;
            ui.painter()
                .rect_stroke(rect, 2.0, stroke, egui::StrokeKind::Inside);
        }
        if response.on_hover_text(label).clicked() {
            self.is_collapsed = open;
        }
    }

    fn about(&self, row: usize, mark: KeyMark, editor: &Editor) -> String {
        let kind = match mark.interpolation {
            Some(Interpolation::Step) => "Constant interpolation",
            Some(Interpolation::Linear) => "Linear interpolation",
            Some(Interpolation::CubicSpline) => "Cubic spline interpolation",
            None => "Mixed interpolation",
        };
        let time = f64::from(mark.time_secs);
        let frame = time * f64::from(editor.playback().fps);
        let owner = &self.rows[row].label;
        format!(
            "{owner}, frame {frame:.1} ({time:.2} s)\n{kind}.\nClick to jump there. Drag to move it in whole \
             frames, with Ctrl freely. Press Delete, or click with the right button, to delete it."
        )
    }
}

/// Deletes a keyframe; in the summary row, the keyframes of all shown bones.
fn delete(owner: Owner, mark: KeyMark, editor: &mut Editor) {
    match owner {
        Owner::Bones => editor.delete_keys_at(mark.time_secs, None),
        Owner::Bone(joint) => editor.delete_keys_at(mark.time_secs, Some(joint)),
        Owner::Group(mesh, group) => editor.delete_group_key_at(mesh, group, mark.time_secs),
    }
}

/// The menu of a keyframe.
fn menu_ui(ui: &mut Ui, owner: Owner, mark: KeyMark, editor: &mut Editor) {
    let label = match owner {
        Owner::Bones => "Delete keyframes",
        Owner::Bone(_) | Owner::Group(..) => "Delete keyframe",
    };
    if ui.button(label).clicked() {
        delete(owner, mark, editor);
        ui.close();
    }
}

/// Linear keyframes at `times`, ascending.
fn marks_of(times: &[f32]) -> Vec<KeyMark> {
    let marks = times.iter().map(|&time_secs| KeyMark {
        time_secs,
        interpolation: Some(Interpolation::Linear),
    });
    marks.collect()
}

/// Applies the pressed button in this frame: keyframes or time follow the pointer.
fn update_grab(
    ui: &Ui,
    response: &Response,
    was: Grab,
    under: impl Fn(Pos2) -> Option<(Owner, KeyMark)>,
    scale: &Scale,
    editor: &mut Editor,
) -> Grab {
    if editor.is_dragging_keys() && ui.input_mut(take_escape) {
        editor.cancel_key_drag();
        return Grab::GivenUp;
    }
    let down = response.is_pointer_button_down_on()
        && ui.input(|i| i.pointer.button_down(PointerButton::Primary));
    if !down {
        if let Grab::Key { mark, .. } = was
            && !editor.is_dragging_keys()
        {
            // Not moved: a click.
            editor.pause();
            editor.set_time(f64::from(mark.time_secs));
        }
        editor.end_key_drag();
        return Grab::Nothing;
    }
    let Some(at) = response.interact_pointer_pos() else {
        return was;
    };
    let origin = ui.input(|i| i.pointer.press_origin()).unwrap_or(at);
    let now = match was {
        Grab::Nothing => {
            under(origin).map_or(Grab::Time, |(owner, mark)| Grab::Key { owner, mark })
        }
        held => held,
    };
    match now {
        Grab::Time => ruler::scrub(ui, response, scale, editor),
        Grab::Key { owner, mark } => {
            if response.drag_started_by(PointerButton::Primary) {
                match owner {
                    Owner::Bones => editor.begin_key_drag(mark.time_secs, None),
                    Owner::Bone(joint) => editor.begin_key_drag(mark.time_secs, Some(joint)),
                    Owner::Group(mesh, group) => {
                        editor.begin_group_key_drag(mesh, group, mark.time_secs);
                    }
                }
            } else if !editor.is_dragging_keys() && response.dragged_by(PointerButton::Primary) {
                // Undone while the button was down.
                return Grab::GivenUp;
            }
            let from = f64::from(mark.time_secs);
            let mut to = from + f64::from(at.x - origin.x) / scale.points_per_sec();
            if !ui.input(|i| i.modifiers.command) {
                to = editor.at_frame(to);
            }
            editor.drag_keys_by((to - from) as f32);
        }
        Grab::Nothing | Grab::GivenUp => {}
    }
    now
}

/// The keyframe that a press at `x` hits.
fn nearest(marks: &[KeyMark], scale: &Scale, x: f32) -> Option<KeyMark> {
    let time = scale.time_at(x) as f32;
    let after = marks.partition_point(|m| m.time_secs < time);
    let distance = |m: &KeyMark| (scale.x_of(f64::from(m.time_secs)) - x).abs();
    let around = marks[after.saturating_sub(1)..].iter().take(2);
    around
        .filter(|m| distance(m) <= REACH)
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))
        .copied()
}

struct MarkerStyle<'a> {
    palette: &'a Palette,
    now: f32,
    hovered: Option<KeyMark>,
}

fn paint_marks(
    painter: &Painter,
    marks: &[KeyMark],
    y: f32,
    scale: &Scale,
    looks: &MarkerStyle<'_>,
) {
    let margin = f64::from(KEY + 1.0) / scale.points_per_sec();
    let first = marks.partition_point(|m| f64::from(m.time_secs) < scale.span.start - margin);
    let mut last_x = f32::NEG_INFINITY;
    for mark in &marks[first..] {
        let time = f64::from(mark.time_secs);
        if time > scale.span.end + margin {
            break;
        }
        let x = scale.x_of(time);
        let is_hovered = looks.hovered == Some(*mark);
        let is_now = (mark.time_secs - looks.now).abs() < 1e-4;
        // Keyframes at the same pixel are drawn once.
        if x - last_x < 1.0 && !is_now && !is_hovered {
            continue;
        }
        last_x = x;
        let palette = looks.palette;
        let colour = if is_now {
            palette.accent
        } else if is_hovered {
            palette.text
        } else {
            palette.text_dim
        };
        paint_key(
            painter,
            pos2(x, y),
            mark.interpolation,
            colour,
            palette.field,
        );
    }
}

/// Draws a marker: diamond for linear, square for constant, circle for spline; hollow for mixed.
fn paint_key(
    painter: &Painter,
    at: Pos2,
    kind: Option<Interpolation>,
    colour: Color32,
    ground: Color32,
) {
    let rim = Stroke::new(1.0, ground);
    match kind {
        Some(Interpolation::CubicSpline) => {
            painter.circle(at, KEY - 0.5, colour, rim);
        }
        Some(Interpolation::Step) => {
            let rect = Rect::from_center_size(at, vec2(2.0, 2.0) * (KEY - 1.0));
            painter.rect(rect, 0.0, colour, rim, egui::StrokeKind::Outside);
        }
        Some(Interpolation::Linear) | None => {
            let size = KEY + 0.5;
            let corners = vec![
                at + vec2(0.0, -size),
                at + vec2(size, 0.0),
                at + vec2(0.0, size),
                at + vec2(-size, 0.0),
            ];
            let shape = if kind.is_some() {
                Shape::convex_polygon(corners, colour, rim)
            } else {
                Shape::convex_polygon(corners, ground, Stroke::new(1.5, colour))
            };
            painter.add(shape);
        }
    }
}
