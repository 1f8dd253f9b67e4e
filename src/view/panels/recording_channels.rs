//! The channels of a recording: their values at the playhead, and what one of them is over the clip.

use super::clusters::layer_row::dim_ui;
use super::correctives::sets::text_ui;
use crate::cluster::channel::RecordingItem;
use crate::editor::Editor;
use crate::finding::{counted, trimmed};
use crate::motion::align::ClockMap;
use crate::motion::statistics::{Numbers, Statistics, Words, numbers, words};
use crate::motion::{ChannelSummary, Recording, RecordingSummary};
use crate::view::theme;
use egui::{DragValue, Role, ScrollArea, Sense, Stroke, Ui, Vec2, WidgetInfo, pos2};
use glam::DQuat;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The height of the list of channels, points.
const CHANNELS: f32 = 112.0;
/// The height of a channel, points.
const ROW: f32 = 18.0;
/// Stretches above the threshold that are listed.
const MOST_STRETCHES: usize = 6;

/// The channels of the active recording and what they are asked.
#[derive(Default)]
pub(super) struct RecordingChannels {
    read: Option<Read>,
    /// The name of the channel whose statistics are shown.
    asked: Option<String>,
    threshold: f64,
    answers: Option<(Question, Vec<Answer>)>,
}

/// A recording on the clock of the timeline.
struct Read {
    recording: Arc<Recording>,
    clock: ClockMap,
    /// By name, what was asked for: a recording of half an hour has millions of samples.
    numbers: BTreeMap<String, Vec<Numbers>>,
    words: Vec<Words>,
}

/// What answers depend on, besides the recording.
#[derive(Clone, PartialEq)]
struct Question {
    channel: String,
    range: [f64; 2],
    threshold: f64,
}

/// What some numbers are over a range.
struct Answer {
    statistics: Statistics,
    above: Vec<[f64; 2]>,
}

impl RecordingChannels {
    /// Draws the channels of a recording that can be read.
    pub(super) fn show_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        (item, of): (&RecordingItem, &Arc<Recording>),
        summary: &RecordingSummary,
    ) {
        self.read(of, item.clock);
        let text = format!(
            "{}, {}",
            counted(of.times.len(), "sample"),
            counted(of.n_channels(), "channel")
        );
        dim_ui(ui, &text);
        let time = editor.playback().time_secs;
        ScrollArea::vertical()
            .id_salt("channels")
            .max_height(CHANNELS)
            .auto_shrink([false, true])
            .show_rows(ui, ROW, summary.channels.len(), |ui, range| {
                ui.spacing_mut().item_spacing.y = 0.0;
                for channel in &summary.channels[range] {
                    self.read_numbers(channel);
                    self.channel_ui(ui, channel, time);
                }
            });
        let is_of = |channel: &&ChannelSummary| Some(&channel.name) == self.asked.as_ref();
        let Some(channel) = summary.channels.iter().find(is_of) else {
            return;
        };
        if channel.kind != "text" {
            self.read_numbers(channel);
            let range = editor.playback().range.map(|(from, to)| [from, to]);
            self.statistics_ui(ui, editor, &channel.clone(), range);
        }
    }

    /// Reads the channels where the recording or its clock changed.
    fn read(&mut self, of: &Arc<Recording>, clock: ClockMap) {
        let known = self.read.as_ref();
        if known.is_some_and(|read| Arc::ptr_eq(&read.recording, of) && read.clock == clock) {
            return;
        }
        self.answers = None;
        self.read = Some(Read {
            recording: of.clone(),
            clock,
            numbers: BTreeMap::new(),
            words: of
                .labels
                .iter()
                .map(|track| words(of, track, clock))
                .collect(),
        });
    }

    /// Reads the numbers of a channel, unless they are known.
    fn read_numbers(&mut self, channel: &ChannelSummary) {
        let Some(read) = self.read.as_mut() else {
            return;
        };
        if channel.kind == "text" || read.numbers.contains_key(&channel.name) {
            return;
        }
        let is_asked = |name: &str| name == channel.name;
        let found = numbers(&read.recording, read.clock, is_asked, |_| DQuat::IDENTITY);
        // The samples of a recording were checked when it was read.
        let found = found.unwrap_or_default();
        read.numbers.insert(channel.name.clone(), found);
    }

    /// The numbers of a channel that were read: three of a marker.
    fn numbers_of(&self, channel: &ChannelSummary) -> impl Iterator<Item = &Numbers> {
        let read = self.read.as_ref();
        let found = read.and_then(|read| read.numbers.get(&channel.name));
        found.into_iter().flatten()
    }

    /// The value of a channel at a time of the timeline, as text; `None` where it has none.
    fn value(&self, channel: &ChannelSummary, time: f64) -> Option<String> {
        if channel.kind == "text" {
            let mut words = self.read.iter().flat_map(|read| &read.words);
            let words = words.find(|words| words.name == channel.name)?;
            return words.at(time).map(str::to_owned);
        }
        let mut unit = "";
        let mut values = Vec::new();
        for numbers in self.numbers_of(channel) {
            unit = &numbers.unit;
            values.push(number(numbers.channel.at(time)?));
        }
        (!values.is_empty()).then(|| with_unit(&values.join(", "), unit))
    }

    fn channel_ui(&mut self, ui: &mut Ui, channel: &ChannelSummary, time: f64) {
        let palette = theme::palette(ui);
        let size = Vec2::new(ui.available_width() - 10.0, ROW);
        let (rect, response) = ui.allocate_exact_size(size, Sense::click());
        let is_asked = self.asked.as_ref() == Some(&channel.name);
        if is_asked {
            ui.painter().rect_filled(rect, 3.0, palette.selected);
        } else if response.hovered() {
            ui.painter().rect_filled(rect, 3.0, palette.stripe);
        }
        let value = self.value(channel, time);
        let beside = value.as_deref().unwrap_or("no value");
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
            self.asked = (!is_asked).then(|| channel.name.clone());
        }
        response.on_hover_text(about(channel));
    }

    /// Draws the statistics of a channel over the range of the timeline, or over all of it.
    fn statistics_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        channel: &ChannelSummary,
        range: Option<[f64; 2]>,
    ) {
        let question = Question {
            channel: channel.name.clone(),
            range: range.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]),
            threshold: self.threshold,
        };
        if self
            .answers
            .as_ref()
            .is_none_or(|known| known.0 != question)
        {
            let (range, threshold) = (question.range, self.threshold);
            let answers = self.numbers_of(channel).map(|numbers| Answer {
                statistics: numbers.statistics(range),
                above: numbers.above(threshold, range),
            });
            let answers = answers.collect();
            self.answers = Some((question, answers));
        }
        let over = match range {
            Some([from, to]) => format!("from {from:.2} to {to:.2} s"),
            None => "over the whole recording".to_owned(),
        };
        dim_ui(ui, &format!("{} {over}", channel.name));
        let mut unit = String::new();
        let answers = self.answers.as_ref().map_or(&[][..], |known| &known.1);
        let mut go = None;
        for (numbers, answer) in self.numbers_of(channel).zip(answers) {
            unit.clone_from(&numbers.unit);
            let component = numbers.name[channel.name.len()..].trim_start_matches('.');
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
        for (numbers, answer) in self.numbers_of(channel).zip(answers) {
            let component = numbers.name[channel.name.len()..].trim_start_matches('.');
            let found = above_ui(ui, component, &answer.above);
            go = go.or(found);
        }
        if let Some(time) = go {
            editor.pause();
            editor.set_time(time.max(0.0));
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
            let about = format!("The mean of {:.2} s with a value.", found.valid);
            let text = format!("Mean {}", with_unit(&number(mean), unit));
            ui.label(text).on_hover_text(about);
        }
    });
    go
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
        "marker" => "Data binds it to clusters.",
        "rotation" => {
            "A driver can use its angle or its twist about an axis. The list shows its angle."
        }
        "scalar" => "A data layer or a driver can use it.",
        _ => "Text cannot drive.",
    };
    let part = 100.0 * channel.coverage;
    let kind = channel.kind;
    format!(
        "A {kind}: {part:.1} % of its samples have a value. {use_of}\nClick to see its extremes and mean."
    )
}
