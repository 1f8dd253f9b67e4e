//! The channels of all recordings: their values at the playhead, and what one of them is over the clip.

use super::clusters::layer_row::dim_ui;
use super::correctives::sets::text_ui;
use super::recording_binding::{BindingOf, BindingRows};
use crate::cluster::channel::{RecordingId, RecordingItem, Recordings};
use crate::editor::Editor;
use crate::finding::{counted, trimmed};
use crate::motion::statistics::{Numbers, Statistics};
use crate::motion::{ChannelKind, ChannelSummary, Reading, Recording};
use crate::view::theme;
use egui::{DragValue, Response, Role, ScrollArea, Sense, Stroke, Ui, Vec2, WidgetInfo, pos2};
use egui_material_icons::icons;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The height of the list of channels of one recording, points.
const CHANNELS: f32 = 112.0;
/// The height of the list of channels of several recordings, points.
const ALL_CHANNELS: f32 = 180.0;
/// The height of a channel, points.
pub(super) const ROW: f32 = 18.0;
/// Stretches above the threshold that are listed.
const MOST_STRETCHES: usize = 6;

/// The channels of the recordings and what they are asked.
#[derive(Default)]
pub(super) struct RecordingChannels {
    /// Recordings whose channels are folded away.
    closed: BTreeSet<RecordingId>,
    /// The recording to which the list was scrolled.
    scrolled: Option<RecordingId>,
    /// The recording and the name of the channel whose statistics are shown.
    asked: Option<(RecordingId, String, ChannelKind)>,
    threshold: f64,
    binding: BindingRows,
    answers: Option<Answers>,
}

/// A row of the list.
#[derive(Clone, Copy)]
enum Row {
    /// The name of a recording.
    Head(RecordingId),
    /// A channel, by its place in the summary.
    Channel(RecordingId, usize),
}

/// What answers depend on.
#[derive(Clone)]
struct Question {
    numbers: Arc<Vec<Numbers>>,
    /// By how much a rotation exceeds its limits.
    beyond: Option<Arc<Numbers>>,
    range: [f64; 2],
    threshold: f64,
}

/// What some numbers are over a range.
struct Answer {
    statistics: Statistics,
    above: Vec<[f64; 2]>,
}

/// What a question was answered.
struct Answers {
    question: Question,
    of: Vec<Answer>,
    beyond: Option<Answer>,
}

impl Question {
    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.numbers, &other.numbers)
            && self.beyond.is_some() == other.beyond.is_some()
            && self.range == other.range
            && self.threshold == other.threshold
    }
}

impl RecordingChannels {
    /// Draws the channels of all recordings that can be read.
    pub(super) fn show_ui(&mut self, ui: &mut Ui, editor: &mut Editor, recordings: &Recordings) {
        let active = editor.active_recording();
        let item = active.and_then(|id| recordings.get(&id));
        if let Some((id, of)) = active.zip(item.and_then(|item| item.recording())) {
            about_ui(ui, editor, id, of);
        }
        let rows = self.rows(editor, recordings);
        if rows.is_empty() {
            return;
        }
        let (has_heads, height) = match rows[0] {
            Row::Head(_) => (true, ALL_CHANNELS),
            Row::Channel(..) => (false, CHANNELS),
        };
        let mut area = ScrollArea::vertical()
            .id_salt("channels")
            .max_height(height)
            // The panel scrolls where it is lower.
            .min_scrolled_height(height)
            .auto_shrink([false, true]);
        if has_heads && self.scrolled != active {
            // The recording that becomes active is shown.
            let is_its = |row: &Row| matches!(row, Row::Head(id) if Some(*id) == active);
            if let Some(at) = rows.iter().position(is_its) {
                area = area.vertical_scroll_offset(at as f32 * ROW);
            }
            self.scrolled = active;
        }
        let time = editor.playback().time_secs;
        // Rows touch; the list counts on the spacing around it.
        let spacing = std::mem::take(&mut ui.spacing_mut().item_spacing.y);
        area.show_rows(ui, ROW, rows.len(), |ui, range| {
            for row in &rows[range] {
                match *row {
                    Row::Head(id) => self.head_ui(ui, editor, (id, &recordings[&id])),
                    Row::Channel(id, at) => {
                        if let Some(summary) = editor.recording_summary(id) {
                            let item = &recordings[&id];
                            let value = value_of(item, at, &summary.channels[at], time);
                            self.channel_ui(ui, id, &summary.channels[at], value.as_deref());
                        }
                    }
                }
            }
        });
        ui.spacing_mut().item_spacing.y = spacing;
        self.asked_ui(ui, editor);
    }

    /// The rows of the list: those of one recording have no head.
    fn rows(&self, editor: &Editor, recordings: &Recordings) -> Vec<Row> {
        let mut rows = Vec::new();
        for &id in recordings.keys() {
            if recordings.len() > 1 {
                rows.push(Row::Head(id));
            }
            if recordings.len() > 1 && self.closed.contains(&id) {
                continue;
            }
            let summary = editor.recording_summary(id);
            let n = summary.map_or(0, |summary| summary.channels.len());
            rows.extend((0..n).map(|at| Row::Channel(id, at)));
        }
        rows
    }

    fn head_ui(&mut self, ui: &mut Ui, editor: &Editor, (id, item): (RecordingId, &RecordingItem)) {
        let palette = theme::palette(ui);
        let (place, response) = row_ui(ui, false);
        let is_open = !self.closed.contains(&id);
        let (name, state) = match editor.recording_summary(id) {
            Some(summary) => (&item.name, counted(summary.channels.len(), "channel")),
            None if item.content.is_err() => (&item.name, "cannot be read".to_owned()),
            None if editor.has_no_summary(id) => (&item.name, "channels unreadable".to_owned()),
            None => (&item.name, "reading\u{2026}".to_owned()),
        };
        let spoken = format!("Channels of {name}");
        response.widget_info(|| WidgetInfo::selected(Role::TreeItem, true, is_open, &spoken));
        let icon = if is_open {
            icons::ICON_ARROW_DROP_DOWN
        } else {
            icons::ICON_ARROW_RIGHT
        };
        let arrow = place.with_max_x(place.left() + 16.0);
        text_ui(ui, icon.codepoint, palette.text_dim, arrow, false, 16.0);
        let place = place.with_min_x(place.left() + 16.0);
        let half = place.width() * 0.5;
        let right = text_ui(ui, &state, palette.text_dim, place, true, half);
        let own = place.with_max_x(right - 6.0);
        text_ui(ui, name, palette.text, own, false, own.width());
        if response.clicked() && !self.closed.remove(&id) {
            self.closed.insert(id);
        }
        response.on_hover_text("Click to show or hide the channels of this recording.");
    }

    fn channel_ui(
        &mut self,
        ui: &mut Ui,
        id: RecordingId,
        channel: &ChannelSummary,
        value: Option<&str>,
    ) {
        let palette = theme::palette(ui);
        let asked = self.asked.as_ref();
        let is_asked = asked.is_some_and(|(of, name, kind)| {
            (*of, name, *kind) == (id, &channel.name, channel.kind)
        });
        let (rect, response) = row_ui(ui, is_asked);
        let beside = value.unwrap_or("no value");
        let spoken = format!("{}: {beside}", channel.name);
        response.widget_info(|| WidgetInfo::selected(Role::ListBoxOption, true, is_asked, &spoken));
        // A ring beside a disc: valid or not, whatever the colour.
        let dot = pos2(rect.left() + 8.0, rect.center().y);
        if value.is_some() {
            ui.painter().circle_filled(dot, 3.0, palette.accent);
        } else {
            let ring = Stroke::new(1.0, palette.text_dim);
            ui.painter().circle_stroke(dot, 3.0, ring);
        }
        let place = rect.with_min_x(rect.left() + 16.0);
        let right = text_ui(
            ui,
            beside,
            palette.text_dim,
            place,
            true,
            place.width() * 0.6,
        );
        let own = place.with_max_x(right - 6.0);
        text_ui(ui, &channel.name, palette.text, own, false, own.width());
        if response.clicked() {
            self.asked = (!is_asked).then(|| (id, channel.name.clone(), channel.kind));
        }
        response.on_hover_text(about(channel));
    }

    /// Draws the statistics of the channel that was clicked.
    fn asked_ui(&mut self, ui: &mut Ui, editor: &mut Editor) {
        let Some((id, name, kind)) = self.asked.clone() else {
            return;
        };
        let summary = editor.recording_summary(id);
        let mut channels = summary.iter().flat_map(|summary| &summary.channels);
        let is_there = channels.any(|channel| channel.name == name && channel.kind == kind);
        if !is_there || kind == ChannelKind::Text {
            return;
        }
        let of = BindingOf::Recording(id);
        self.binding.show_ui(ui, editor, (of, (&name, kind)));
        match editor.channel_numbers(id, (&name, kind)) {
            Some(numbers) => self.statistics_ui(ui, editor, &name, &numbers),
            None => dim_ui(ui, "Reading the channel\u{2026}"),
        }
    }

    /// Draws the statistics of a channel over the range of the timeline, or over all of it.
    fn statistics_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        channel: &str,
        all: &Arc<Vec<Numbers>>,
    ) {
        let range = editor.playback().range.map(|(from, to)| [from, to]);
        let question = Question {
            numbers: all.clone(),
            beyond: editor.channel_beyond_limits(channel).cloned(),
            range: range.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]),
            threshold: self.threshold,
        };
        let known = self.answers.as_ref();
        if known.is_none_or(|known| !known.question.is(&question)) {
            let (range, threshold) = (question.range, self.threshold);
            let answer = |numbers: &Numbers, threshold: f64| Answer {
                statistics: numbers.statistics(range),
                above: numbers.above(threshold, range),
            };
            let of = all.iter().map(|numbers| answer(numbers, threshold));
            self.answers = Some(Answers {
                of: of.collect(),
                beyond: question.beyond.as_ref().map(|beyond| answer(beyond, 0.0)),
                question,
            });
        }
        let over = match range {
            Some([from, to]) => format!("from {from:.2} to {to:.2} s"),
            None => "over the whole recording".to_owned(),
        };
        dim_ui(ui, &format!("{channel} {over}"));
        let mut unit = String::new();
        let answers = self.answers.as_ref().map_or(&[][..], |known| &known.of);
        let mut go = None;
        for (numbers, answer) in all.iter().zip(answers) {
            unit.clone_from(&numbers.unit);
            let component = numbers.name[channel.len()..].trim_start_matches('.');
            let found = extremes_ui(ui, component, &numbers.unit, &answer.statistics);
            go = go.or(found);
        }
        ui.horizontal(|ui| {
            ui.label("Above");
            let speed = (self.threshold.abs() * 0.01).max(0.01);
            let field = DragValue::new(&mut self.threshold).speed(speed);
            let field = field.suffix(with_unit("", &unit)).max_decimals(4);
            let response = ui.add(field);
            response.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "Above"));
            response.on_hover_text("Shows when the channel is above this value.");
        });
        for (numbers, answer) in all.iter().zip(answers) {
            let component = numbers.name[channel.len()..].trim_start_matches('.');
            let found = above_ui(ui, component, &answer.above);
            go = go.or(found);
        }
        let beyond = self
            .answers
            .as_ref()
            .and_then(|known| known.beyond.as_ref());
        if let Some(beyond) = beyond {
            go = go.or(beyond_ui(ui, beyond));
        }
        if let Some(time) = go {
            editor.pause();
            editor.set_time(time.max(0.0));
        }
    }
}

/// Draws how many samples and channels the active recording has.
fn about_ui(ui: &mut Ui, editor: &Editor, id: RecordingId, of: &Recording) {
    if editor.has_no_summary(id) {
        dim_ui(ui, "Its channels could not be read.");
        return;
    }
    let Some(summary) = editor.recording_summary(id) else {
        dim_ui(ui, "Reading channels\u{2026}");
        return;
    };
    let text = format!(
        "{}, {}",
        counted(of.times.len(), "sample"),
        counted(of.n_channels(), "channel")
    );
    let delay = summary.delay.map(|delay| format!(", {}", delay.text()));
    dim_ui(ui, &(text + &delay.unwrap_or_default()));
}

/// The ground of a row.
pub(super) fn row_ui(ui: &mut Ui, is_chosen: bool) -> (egui::Rect, Response) {
    let palette = theme::palette(ui);
    let size = Vec2::new(ui.available_width() - 10.0, ROW);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    if is_chosen {
        ui.painter().rect_filled(rect, 3.0, palette.selected);
    } else if response.hovered() {
        ui.painter().rect_filled(rect, 3.0, palette.stripe);
    }
    (rect, response)
}

/// The value of a channel at a time of the timeline, as text; `None` where it has none.
fn value_of(
    item: &RecordingItem,
    at: usize,
    channel: &ChannelSummary,
    time: f64,
) -> Option<String> {
    let of = item.recording()?;
    match of.reading(at, item.clock.device(time), channel.max_gap)? {
        Reading::Word(word) => Some(word.to_owned()),
        Reading::Numbers(values, unit) => {
            let values: Vec<String> = values.into_iter().map(number).collect();
            Some(with_unit(&values.join(", "), &unit))
        }
    }
}

/// Draws the least and the largest value; returns the time of the one that was clicked.
fn extremes_ui(ui: &mut Ui, component: &str, unit: &str, found: &Statistics) -> Option<f64> {
    let mut go = None;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 8.0;
        if !component.is_empty() {
            ui.strong(component);
        }
        let Some((min, max)) = found.min.zip(found.max) else {
            ui.label("no value here");
            return;
        };
        for (name, [time, value]) in [("Min", min), ("Max", max)] {
            let text = format!("{name} {} at {time:.2} s", with_unit(&number(value), unit));
            if ui
                .link(text)
                .on_hover_text("Move the playhead there.")
                .clicked()
            {
                go = Some(time);
            }
        }
        if let Some(mean) = found.mean {
            let about = format!("The mean over {:.2} s of valid samples.", found.valid);
            let text = format!("Mean {}", with_unit(&number(mean), unit));
            ui.label(text).on_hover_text(about);
        }
    });
    go
}

/// Draws by how much and how long a rotation exceeds the rotation limits of its bone; returns the time that was clicked.
fn beyond_ui(ui: &mut Ui, beyond: &Answer) -> Option<f64> {
    let most = beyond.statistics.max.filter(|[_, angle]| *angle > 0.0);
    let Some([time, angle]) = most else {
        ui.label("Within the rotation limits of its bone.");
        return None;
    };
    let mut go = None;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 8.0;
        ui.label("Beyond rotation limits");
        let link = ui.link(format!("by {}° at {time:.2} s", number(angle)));
        if link.on_hover_text("Move the playhead there.").clicked() {
            go = Some(time);
        }
    });
    go.or(above_ui(ui, "", &beyond.above))
}

/// Draws the stretches above the threshold; returns the start of the one that was clicked.
fn above_ui(ui: &mut Ui, component: &str, stretches: &[[f64; 2]]) -> Option<f64> {
    let mut go = None;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 8.0;
        if !component.is_empty() {
            ui.strong(component);
        }
        let seconds: f64 = stretches.iter().map(|[from, to]| to - from).sum();
        ui.label(format!(
            "{seconds:.2} s in {}",
            counted(stretches.len(), "stretch")
        ));
        for [from, to] in stretches.iter().take(MOST_STRETCHES) {
            let link = ui.link(format!("{from:.2} - {to:.2} s"));
            if link
                .on_hover_text("Move the playhead to its start.")
                .clicked()
            {
                go = Some(*from);
            }
        }
        if let Some(more) = stretches.len().checked_sub(MOST_STRETCHES + 1) {
            ui.label(format!("and {} more", more + 1));
        }
    });
    go
}

/// A number as the list shows it.
fn number(value: f64) -> String {
    if value.abs() >= 100.0 {
        trimmed((value * 10.0).round() / 10.0)
    } else {
        trimmed((value * 1000.0).round() / 1000.0)
    }
}

fn with_unit(number: &str, unit: &str) -> String {
    match unit {
        "" => number.to_owned(),
        "deg" | "°" => format!("{number}°"),
        unit => format!("{number} {unit}"),
    }
}

fn about(channel: &ChannelSummary) -> String {
    let use_of = match channel.kind {
        ChannelKind::Marker => "A data layer can bind it to clusters.",
        ChannelKind::Rotation => {
            "A driver can use its angle or its twist about an axis. The list shows its angle."
        }
        ChannelKind::Scalar => "A data layer or a driver can use it.",
        ChannelKind::Text => "A text channel drives nothing.",
    };
    let part = 100.0 * channel.coverage;
    let kind = channel.kind.label();
    format!(
        "A {kind}: {part:.1} % of its samples have a value. {use_of}\nClick to see its extremes and mean."
    )
}
