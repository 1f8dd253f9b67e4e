//! Lanes: each recording over the time of the clip, with its coverage, gaps, events, stamps and foot contacts. A lane that is dragged
//! sideways moves its recording in time.

use super::contact_bars::ContactBars;
use super::scale::Scale;
use super::slider_keys::slider_ui;
use super::tracks::ROW;
use crate::cluster::channel::{RecordingId, RecordingItem};
use crate::editor::Editor;
use crate::finding::trimmed;
use crate::motion::RecordingSummary;
use crate::motion::align::ClockMap;
use crate::view::middle;
use crate::view::panels::correctives::sets::text_ui;
use crate::view::theme;
use egui::scroll_area::ScrollSource;
use egui::{
    CursorIcon, Key, Painter, PointerButton, Rangef, Rect, Role, ScrollArea, Sense, Shape, Stroke,
    Ui, UiBuilder, WidgetInfo, pos2, vec2,
};
use std::collections::BTreeSet;

/// Lanes that are shown without scrolling.
const MOST: usize = 3;
/// The distance of the hatches of a gap, points.
const HATCH: f32 = 6.0;
/// Gaps that are less wide are drawn, but cannot be pointed at, points.
const NARROW: f32 = 2.0;
/// The width of a flag, points.
const FLAG: f32 = 7.0;
/// Samples that are at least this far apart are seen as dots, points.
const APART: f32 = 6.0;
/// A flag that is dragged stays at the playhead within this distance, points.
const SNAP: f32 = 8.0;
/// The part of the name's width that the rate and the drift take at most.
const BESIDE: f32 = 0.55;

/// The lanes and what is dragged in them.
#[derive(Default)]
pub(super) struct Lanes {
    contacts: ContactBars,
    drag: Option<LaneDrag>,
    /// The pass of egui in which they were drawn last.
    pass: u64,
}

/// A lane that is dragged sideways.
#[derive(Clone, Copy)]
struct LaneDrag {
    recording: RecordingId,
    /// Where the drag began, seconds.
    from: f64,
    /// By how much the recording is moved, seconds.
    by: f64,
    /// The time of the flag by which it is dragged; it stays at the playhead when it is near.
    flag: Option<f64>,
}

/// A marked moment on the timeline.
struct Flag<'a> {
    name: &'a str,
    time: f64,
    /// Its place among the stamps; `None` for an event of the recording.
    stamp: Option<usize>,
}

impl Lanes {
    /// The height that the recordings of the document take, points.
    pub(super) fn height(editor: &Editor) -> f32 {
        let readable = editor.document().recordings().values();
        let readable = readable.filter(|item| item.content.is_ok());
        let heights = readable.map(|item| ROW + ContactBars::height(editor, item));
        heights.take(MOST).sum()
    }

    /// Draws the lanes in `rect`; the part left of `scale` holds the names.
    pub(super) fn show_ui(&mut self, ui: &mut Ui, rect: Rect, scale: &Scale, editor: &mut Editor) {
        let recordings = editor.document().recordings().clone();
        let pass = ui.ctx().cumulative_pass_nr();
        if pass > self.pass + 1 {
            // They were out of sight: the button may have been released meanwhile.
            self.keep_drags(|_| false);
        }
        self.pass = pass;
        let mut drawn = BTreeSet::new();
        ui.scope_builder(UiBuilder::new().id_salt("lanes").max_rect(rect), |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            ScrollArea::vertical()
                .id_salt("lanes")
                .auto_shrink(false)
                // Else it reaches over the keyframes in a low panel.
                .min_scrolled_height(0.0)
                .scroll_source(ScrollSource::SCROLL_BAR)
                .show(ui, |ui| {
                    for (&id, item) in recordings.iter() {
                        if item.content.is_err() {
                            continue;
                        }
                        let bars = ContactBars::height(editor, item);
                        let size = vec2(ui.available_width(), ROW + bars);
                        let (_, row) = ui.allocate_space(size);
                        let row = Rect::from_x_y_ranges(rect.x_range(), row.y_range());
                        if !ui.is_rect_visible(row) {
                            continue;
                        }
                        let (lane, feet) = row.split_top_bottom_at_y(row.top() + ROW);
                        drawn.insert(id);
                        self.lane_ui(ui, lane, scale, editor, (id, item));
                        if bars > 0.0 {
                            self.contacts.show_ui(ui, feet, scale, editor, id);
                        }
                    }
                });
        });
        // What is dragged out of sight stays where it was.
        self.keep_drags(|id| drawn.contains(&id));
    }

    /// Drops drags of other recordings than these.
    fn keep_drags(&mut self, is_drawn: impl Fn(RecordingId) -> bool) {
        self.drag = self.drag.filter(|drag| is_drawn(drag.recording));
        self.contacts.keep_drag(is_drawn);
    }
}

impl Lanes {
    fn lane_ui(
        &mut self,
        ui: &mut Ui,
        row: Rect,
        scale: &Scale,
        editor: &mut Editor,
        (id, item): (RecordingId, &RecordingItem),
    ) {
        let name = row.with_max_x(scale.x.min - 4.0);
        let beside = editor
            .recording_summary(id)
            .map_or_else(String::new, |summary| beside_text(summary, item.clock));
        name_ui(ui, name, editor, (id, item), &beside);
        let plot = Rect::from_x_y_ranges(scale.x, row.y_range());
        let clock = self.drag_ui(ui, plot, scale, editor, (id, item));
        let painter = ui.painter_at(plot.intersect(ui.clip_rect()));
        if let Some(summary) = editor.recording_summary(id).cloned() {
            let name = item.name.as_str();
            coverage_ui(ui, &painter, plot, scale, (id, name, clock), &summary);
        }
        samples_ui(ui, &painter, plot, scale, item, clock);
        let events = item.recording().into_iter().flat_map(|of| &of.events);
        let events = events.map(|event| (event, None));
        let stamps = item.stamps.iter().enumerate();
        let stamps = stamps.map(|(i, stamp)| (stamp, Some(i)));
        for (k, (event, stamp)) in events.chain(stamps).enumerate() {
            let flag = Flag {
                name: &event.name,
                time: clock.common(event.time),
                stamp,
            };
            let drags = self.drag.is_some_and(|drag| drag.recording == id);
            let from = flag_ui(ui, &painter, plot, scale, editor, (id, k, drags), &flag);
            if let Some(from) = from {
                self.drag = Some(LaneDrag {
                    recording: id,
                    from,
                    by: 0.0,
                    flag: Some(flag.time),
                });
            }
        }
    }

    /// Moves a recording in time with a drag of its lane; returns its clock now.
    fn drag_ui(
        &mut self,
        ui: &Ui,
        plot: Rect,
        scale: &Scale,
        editor: &mut Editor,
        (id, item): (RecordingId, &RecordingItem),
    ) -> ClockMap {
        let mut clock = item.clock;
        let Some(span) = item.span() else {
            return clock;
        };
        let mut drag = self.drag.take_if(|drag| drag.recording == id);
        let by = drag.map_or(0.0, |drag| drag.by);
        let x = span.map(|time| scale.x_of(time + by));
        let bar = Rect::from_x_y_ranges(x[0]..=x[1].max(x[0] + 2.0), plot.y_range());
        let bar_id = ui.scope_id().with(("clock", id.0));
        let response = ui.interact(bar.intersect(plot), bar_id, Sense::drag());
        let label = format!(
            "Recording {} from {:.2} to {:.2} s",
            item.name, span[0], span[1]
        );
        let by_keys = slider_ui(ui, &response, clock.b, &label);
        if by_keys != 0.0 && drag.is_none() {
            editor.set_recording_offset(id, clock.b + by_keys);
        }
        if let Some(at) = response.interact_pointer_pos() {
            let time = scale.time_at(at.x);
            if response.drag_started_by(PointerButton::Primary) {
                editor.choose_recording(id);
                drag = Some(LaneDrag {
                    recording: id,
                    from: time,
                    by: 0.0,
                    flag: None,
                });
            }
            if let Some(drag) = drag.as_mut().filter(|drag| drag.flag.is_none()) {
                drag.by = time - drag.from;
            }
        }
        let pointed = ui.input(|i| i.pointer.latest_pos());
        if let Some(drag) = &mut drag
            && let Some((flag, at)) = drag.flag.zip(pointed)
        {
            drag.by = scale.time_at(at.x) - drag.from;
            let now = editor.playback().time_secs;
            if (scale.x_of(flag + drag.by) - scale.x_of(now)).abs() < SNAP {
                drag.by = now - flag;
            }
        }
        let ended = ui.input(|i| !i.pointer.primary_down());
        let is_cancelled = ui.input(|i| i.key_pressed(Key::Escape));
        match drag {
            Some(_) if is_cancelled => {}
            Some(drag) => {
                clock.b += drag.by;
                if !ended {
                    self.drag = Some(drag);
                } else if drag.by != 0.0 {
                    editor.set_recording_offset(id, clock.b);
                }
            }
            None => {}
        }
        let response = response.on_hover_and_drag_cursor(CursorIcon::ResizeHorizontal);
        let text = format!(
            "{label}\nDrag sideways, or press the arrow keys, to move it in time: its offset is {:.3} s, its drift {:.1} ppm.",
            clock.b,
            clock.drift()
        );
        response.on_hover_text(text);
        clock
    }
}

/// Draws where a recording has values, and its gaps.
fn coverage_ui(
    ui: &Ui,
    painter: &Painter,
    plot: Rect,
    scale: &Scale,
    (id, name, clock): (RecordingId, &str, ClockMap),
    summary: &RecordingSummary,
) {
    let palette = theme::palette(ui);
    let bar = plot.shrink2(vec2(0.0, 4.0));
    let place = |from: f64, to: f64| {
        let x = [from, to].map(|time| scale.x_of(clock.common(time)));
        // A single sample is seen too.
        Rect::from_x_y_ranges(x[0]..=x[1].max(x[0] + 1.0), bar.y_range())
    };
    let (full, light) = (
        palette.button_pressed,
        palette.button_pressed.gamma_multiply(0.45),
    );
    let mut between = summary.interpolated.iter().peekable();
    for &[mut from, to] in &summary.stretches {
        while let Some([low, high]) = between.next_if(|part| part[1] <= to) {
            let part = place(*low, *high);
            // Narrower ones are not told from what is beside them.
            if part.width() >= NARROW && part.intersects(plot) {
                painter.rect_filled(place(from, *low), 1.0, full);
                painter.rect_filled(part, 0.0, light);
                from = *high;
            }
        }
        painter.rect_filled(place(from, to), 1.0, full);
    }
    for (i, pair) in summary.stretches.windows(2).enumerate() {
        let (from, to) = (pair[0][1], pair[1][0]);
        let gap = place(from, to).intersect(plot);
        if !gap.is_positive() {
            continue;
        }
        hatch(painter, gap, Stroke::new(1.0, palette.text_dim));
        // Of the narrowest there may be thousands.
        if gap.width() < NARROW {
            continue;
        }
        let [from, to] = [from, to].map(|time| clock.common(time));
        let text = format!("Gap from {from:.2} to {to:.2} s");
        let response = ui.interact(gap, ui.scope_id().with(("gap", id.0, i)), Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &text));
        response.on_hover_text(format!("{text}\nNo channel of {name} has a value."));
    }
}

/// The rate of a recording and the drift of its clock.
fn beside_text(summary: &RecordingSummary, clock: ClockMap) -> String {
    let rate = summary
        .rate
        .map(|rate| format!("{} Hz", trimmed((rate * 10.0).round() / 10.0)));
    let drift = (clock.drift().abs() >= 0.05).then(|| format!("{:+.1} ppm", clock.drift()));
    let parts: Vec<String> = rate.into_iter().chain(drift).collect();
    parts.join(" ")
}

/// Draws the samples in sight as dots where they are far enough apart.
fn samples_ui(
    ui: &Ui,
    painter: &Painter,
    plot: Rect,
    scale: &Scale,
    item: &RecordingItem,
    clock: ClockMap,
) {
    let Some(of) = item.recording() else {
        return;
    };
    let [from, to] = [plot.left(), plot.right()].map(|x| clock.device(scale.time_at(x)));
    let first = of.times.partition_point(|time| *time < from);
    let end = of.times.partition_point(|time| *time <= to);
    let seen = &of.times[first..end.max(first)];
    let room = plot.width() / APART;
    if seen.is_empty() || seen.len() as f32 > room {
        return;
    }
    let y = plot.center().y;
    let colour = theme::palette(ui).text_dim;
    let mut last = f32::NEG_INFINITY;
    for time in seen {
        let x = scale.x_of(clock.common(*time));
        if x - last >= 0.5 * APART {
            painter.circle_filled(pos2(x, y), 1.5, colour);
            last = x;
        }
    }
}

/// Draws the name of a lane, with its rate and drift; a click makes its recording the active one, which stamps go to.
fn name_ui(
    ui: &Ui,
    rect: Rect,
    editor: &mut Editor,
    (id, item): (RecordingId, &RecordingItem),
    beside: &str,
) {
    let palette = theme::palette(ui);
    let is_active = editor.active_recording() == Some(id);
    let response = ui.interact(rect, ui.scope_id().with(("lane", id.0)), Sense::click());
    let label = format!("Recording {}", item.name);
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_active, &label));
    let place = rect.shrink2(vec2(4.0, 0.0));
    let right = text_ui(
        ui,
        beside,
        palette.text_dim,
        place,
        true,
        place.width() * BESIDE,
    );
    let colour = if is_active {
        palette.accent
    } else {
        palette.text_dim
    };
    let galley = middle::body(ui, &item.name, right - 6.0 - place.left());
    let at = pos2(rect.left() + 4.0, rect.center().y - galley.size().y * 0.5);
    ui.painter().galley(at, galley, colour);
    if response.has_focus() {
        let stroke = ui.visuals().selection.stroke;
        ui.painter()
            .rect_stroke(rect, 2.0, stroke, egui::StrokeKind::Inside);
    }
    if response.clicked() {
        editor.choose_recording(id);
    }
    response.on_hover_text(format!("{label}, {beside}\nClick to add stamps to it."));
}

/// Draws a marked moment; a click goes there. Returns the time from which a drag with Alt begins. `drags`: whether its recording is
/// dragged.
fn flag_ui(
    ui: &Ui,
    painter: &Painter,
    plot: Rect,
    scale: &Scale,
    editor: &mut Editor,
    (id, k, drags): (RecordingId, usize, bool),
    flag: &Flag<'_>,
) -> Option<f64> {
    let x = scale.x_of(flag.time);
    if !plot.x_range().expand(FLAG).contains(x) {
        return None;
    }
    let palette = theme::palette(ui);
    let reach = Rangef::new(x - 0.5 * FLAG, x + FLAG);
    let place = Rect::from_x_y_ranges(reach, plot.y_range());
    // Without Alt a drag is that of the lane.
    let sense = if drags || ui.input(|i| i.modifiers.alt) {
        Sense::click_and_drag()
    } else {
        Sense::click()
    };
    let response = ui.interact(place, ui.scope_id().with(("flag", id.0, k)), sense);
    let label = format!("{} at {:.2} s", flag.name, flag.time);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &label));
    let colour = if response.hovered() || response.has_focus() {
        palette.overlay
    } else {
        palette.text
    };
    let stroke = Stroke::new(1.0, colour);
    painter.vline(x, plot.y_range(), stroke);
    let top = plot.top() + 1.0;
    let corners = vec![pos2(x, top), pos2(x + FLAG, top + 3.5), pos2(x, top + 7.0)];
    // A stamp of the artist is filled, an event of the recording is not.
    painter.add(if flag.stamp.is_some() {
        Shape::convex_polygon(corners, colour, Stroke::NONE)
    } else {
        Shape::closed_line(corners, stroke)
    });
    if response.clicked() {
        editor.pause();
        editor.set_time(flag.time.max(0.0));
    }
    let mut from = None;
    if !drags && response.drag_started_by(PointerButton::Primary) {
        editor.choose_recording(id);
        // Not where the pointer is once the drag is one: the flag stays under the pointer.
        let at = ui.input(|i| i.pointer.press_origin());
        from = at.map(|at| scale.time_at(at.x));
    }
    response.context_menu(|ui| {
        let about = "Move the recording in time, so that this moment is at the playhead.";
        let button = ui.button("Move to playhead").on_hover_text(about);
        if button.clicked() {
            let offset = editor.document().recordings().get(&id);
            let offset = offset.map_or(0.0, |item| item.clock.b);
            let by = editor.playback().time_secs - flag.time;
            editor.set_recording_offset(id, offset + by);
            ui.close();
        }
        if let Some(stamp) = flag.stamp
            && ui.button("Delete stamp").clicked()
        {
            editor.delete_stamp(id, stamp);
            ui.close();
        }
    });
    let hint = match flag.stamp {
        Some(_) => {
            "Click to go there. Drag with Alt to move the recording; it snaps to the playhead. Right-click to delete it."
        }
        None => "Click to go there. Drag with Alt to move the recording; it snaps to the playhead.",
    };
    response.on_hover_text(format!("{label}\n{hint}"));
    from
}

/// Fills a rectangle with slanted lines.
fn hatch(painter: &Painter, rect: Rect, stroke: Stroke) {
    let painter = painter.with_clip_rect(rect.intersect(painter.clip_rect()));
    let mut x = rect.left() - rect.height();
    while x < rect.right() {
        painter.line_segment(
            [pos2(x, rect.bottom()), pos2(x + rect.height(), rect.top())],
            stroke,
        );
        x += HATCH;
    }
}
