//! The range of a driver, its curve, and its course over the clip or over its range with the pose on screen marked.

use super::ClustersPanel;
use super::curve::CurveField;
use super::layer_row::icon_ui;
use super::plot::live_plot;
use crate::cluster::DriverLayer;
use crate::cluster::procedural::{CurveSettings, DriverInput, Normalisation};
use crate::editor::Editor;
use crate::editor::clusters::DriverValue;
use crate::finding::trimmed;
use crate::view::panels::correctives::fields::{Number, named_ui, pick_ui};
use crate::view::theme;
use egui::{Label, RichText, Role, Ui, WidgetInfo};
use egui_material_icons::icons;
use egui_plot::{Line, PlotPoints, Points, VLine};

/// The width of a field of the range, points.
const HALF: f32 = 58.0;
/// Values of the plot over the range.
const VALUES: usize = 97;
/// How far the plot goes beyond the range, in lengths of it.
const BEYOND: f64 = 0.25;
/// The smallest range, in the input's unit.
const LEAST: f64 = 1e-6;

/// The unit in which an input is shown.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ShownUnit {
    /// After a number.
    pub(super) suffix: String,
    /// An input divided by this is what is shown.
    pub(super) size: f64,
    /// A step of a drag, as shown.
    speed: f64,
}

impl ShownUnit {
    pub(super) fn of(editor: &Editor, driver: &DriverLayer) -> Self {
        let unit = |suffix: &str, size: f64, speed: f64| Self {
            suffix: suffix.to_owned(),
            size,
            speed,
        };
        match &driver.settings.input {
            DriverInput::Distance { .. } => unit(" m", 1.0, 0.002),
            DriverInput::Time => unit(" s", 1.0, 0.01),
            DriverInput::Constant { .. } => unit("", 1.0, 0.01),
            DriverInput::Channel { name } => {
                let played = driver.played.map(|played| played.recording);
                let item = played.and_then(|id| editor.document().recordings().get(&id));
                let of = item.and_then(|item| item.recording());
                let (text, size) = of.map_or(("", 1.0), |of| of.shown_unit(name));
                let space = if text.is_empty() || text == "\u{b0}" {
                    ""
                } else {
                    " "
                };
                let span = (driver.settings.to - driver.settings.from).abs() / size;
                unit(&format!("{space}{text}"), size, (span * 0.005).max(1e-3))
            }
            _ => unit("\u{b0}", std::f64::consts::PI / 180.0, 0.5),
        }
    }

    fn text(&self, input: f64) -> String {
        let shown = input / self.size;
        let number = if shown.abs() >= 100.0 {
            format!("{shown:.0}")
        } else {
            trimmed((shown * 1000.0).round() / 1000.0)
        };
        format!("{number}{}", self.suffix)
    }
}

impl ClustersPanel {
    /// Draws the range of the input.
    pub(super) fn range_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        index: usize,
        driver: &DriverLayer,
    ) {
        let unit = ShownUnit::of(editor, driver);
        let now = editor.driver_value().and_then(|value| value.input);
        let settings = &driver.settings;
        let step = editor.driver_step(index, "range");
        let ends = [
            (
                "Start",
                settings.from,
                "The value of the input that counts as 0: the driver does not act.",
            ),
            (
                "End",
                settings.to,
                "The value of the input that counts as 1: the driver acts in full.",
            ),
        ];
        for (at, (label, shown, about)) in ends.into_iter().enumerate() {
            named_ui(ui, label, about, |ui| {
                ui.spacing_mut().interact_size.x = HALF;
                let number = Number {
                    label: &format!("{label} of the range"),
                    range: -1e9..=1e9,
                    speed: unit.speed,
                    decimals: 3,
                    suffix: &unit.suffix,
                    about,
                    step: &step,
                };
                let wanted =
                    number.show_step_ui(ui, &mut self.is_dragging, editor, shown / unit.size);
                let mut wanted = wanted.map(|shown| shown * unit.size);
                let name = format!("{label} from pose");
                let about = "Use the value of the input in the pose on screen.";
                if icon_ui(ui, icons::ICON_MY_LOCATION, &name, about, now.is_some()) {
                    wanted = now;
                }
                let Some(value) = wanted else {
                    return;
                };
                let other = [settings.to, settings.from][at];
                // A drag goes past the other end without a fault.
                if (value - other).abs() < LEAST {
                    return;
                }
                editor.set_driver(index, "range", |layer| {
                    let settings = &mut layer.settings;
                    *[&mut settings.from, &mut settings.to][at] = value;
                });
            });
        }
        let about = "What happens beyond the range.";
        named_ui(ui, "Extrapolation", about, |ui| {
            let choices = Normalisation::ALL.map(|mode| (mode, mode.label(), mode.about()));
            let width = ui.available_width();
            let (response, chosen) = pick_ui(ui, "Extrapolation", width, settings.mode, &choices);
            response.on_hover_text(settings.mode.about());
            if let Some(mode) = chosen {
                editor.set_driver(index, "extrapolation", |layer| layer.settings.mode = mode);
            }
        });
    }

    /// Draws the value now, the course of the driver, and its curve.
    pub(super) fn response_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        index: usize,
        driver: &DriverLayer,
    ) {
        let unit = ShownUnit::of(editor, driver);
        let value = editor.driver_value();
        let text = value_text(value, &unit);
        ui.horizontal(|ui| {
            ui.label("Now");
            let dim = theme::palette(ui).text_dim;
            let label = Label::new(RichText::new(&text).color(dim)).truncate();
            ui.add(label).on_hover_text(
                "The value of the input in the pose on screen, and how far it moves the clusters.",
            );
        });
        plot_ui(ui, editor, driver, &unit, value, &text);
        let settings = &driver.settings;
        let choices = [
            (false, "Linear", "The amount grows evenly over the range."),
            (
                true,
                "Curve",
                "Your own curve over the range: monotone cubic, so that it never overshoots its points.",
            ),
        ];
        let about = "How the amount grows over the range.";
        named_ui(ui, "Response", about, |ui| {
            let width = ui.available_width();
            let is_curve = settings.curve.is_some();
            let (response, chosen) = pick_ui(ui, "Response", width, is_curve, &choices);
            response.on_hover_text(about);
            if let Some(is_curve) = chosen {
                editor.set_driver(index, "response", |layer| {
                    layer.settings.curve = is_curve.then(CurveSettings::default);
                });
            }
        });
        let Some(curve) = &settings.curve else {
            return;
        };
        let input = value.and_then(|value| value.input);
        let span = settings.to - settings.from;
        let marked = input.map(|input| settings.mode.apply((input - settings.from) / span));
        let steps = ["curve", "rest offset"].map(|what| editor.driver_step(index, what));
        let field = CurveField {
            label: "Curve of the driver: amount over its range",
            curve,
            marked,
            offset_about: "Let the curve start above 0, so that the driver acts at the start of its range too.",
            steps: [&steps[0], &steps[1]],
        };
        self.curve_ui(ui, editor, &field, |editor, step, curve| {
            editor.change_group_layer::<DriverLayer>(index, step, |layer| {
                layer.settings.curve = Some(curve);
            });
        });
    }
}

/// The value of the input and the response to it.
fn value_text(value: Option<DriverValue>, unit: &ShownUnit) -> String {
    match value {
        None => "It cannot be read in this pose.".to_owned(),
        Some(DriverValue {
            input: None,
            amount,
        }) => format!("no value, moves by {}", length_text(amount)),
        Some(DriverValue {
            input: Some(input),
            amount,
        }) => format!("{}, moves by {}", unit.text(input), length_text(amount)),
    }
}

/// A length in metres, or in millimetres where it is small.
pub(super) fn length_text(metres: f64) -> String {
    if metres.abs() >= 0.1 || metres == 0.0 {
        format!("{} m", trimmed((metres * 1000.0).round() / 1000.0))
    } else {
        let mm = metres * 1000.0;
        format!("{} mm", trimmed((mm * 100.0).round() / 100.0))
    }
}

/// Draws the amount over the clip on screen; without one, over the input.
fn plot_ui(
    ui: &mut Ui,
    editor: &mut Editor,
    driver: &DriverLayer,
    unit: &ShownUnit,
    value: Option<DriverValue>,
    text: &str,
) {
    let course = editor.driver_course();
    let over_clip = course.is_some();
    let secs = editor.document().shown_moment().secs;
    let (line, now) = match course {
        Some(course) => (course, value.map(|value| [secs, value.amount])),
        None => {
            let now = value.and_then(|value| Some([value.input? / unit.size, value.amount]));
            (over_range(editor, driver, unit), now)
        }
    };
    if line.len() < 2 {
        return;
    }
    let palette = theme::palette(ui);
    let lengths = line.iter().map(|p| p[1].abs()).fold(0.0, f64::max);
    let (scale, metre) = if lengths < 0.1 {
        (1000.0, " mm")
    } else {
        (1.0, " m")
    };
    let line: Vec<[f64; 2]> = line.into_iter().map(|[x, y]| [x, y * scale]).collect();
    let now = now.map(|[x, y]| [x, y * scale]);
    let suffix = if over_clip {
        " s".to_owned()
    } else {
        unit.suffix.clone()
    };
    let number = |value: f64| trimmed((value * 1000.0).round() / 1000.0);
    let plot = live_plot(ui, "driver")
        .x_axis_formatter(move |mark, _| format!("{}{suffix}", number(mark.value)))
        .y_axis_formatter(move |mark, _| format!("{}{metre}", number(mark.value)))
        .y_axis_min_width(46.0)
        .include_y(0.0);
    let response = plot
        .show(ui, |plot| {
            plot.line(
                Line::new("amount", PlotPoints::from(line))
                    .color(palette.text)
                    .width(2.0),
            );
            if let Some(at) = now {
                plot.vline(VLine::new("now", at[0]).color(palette.accent));
                plot.points(
                    Points::new("now", vec![at])
                        .radius(4.0)
                        .color(palette.accent),
                );
            }
        })
        .response;
    let over = if over_clip {
        "over the clip"
    } else {
        "over the input"
    };
    response.widget_info(|| {
        WidgetInfo::labeled(
            Role::Image,
            true,
            format!("Amount of the driver {over}: {text}"),
        )
    });
    response.on_hover_text(format!(
        "How far the driver moves the clusters {over}. The dot is the pose on screen."
    ));
}

/// The amounts over the range and a little beyond it.
fn over_range(editor: &mut Editor, driver: &DriverLayer, unit: &ShownUnit) -> Vec<[f64; 2]> {
    let (from, to) = (driver.settings.from, driver.settings.to);
    let span = to - from;
    let inputs = (0..VALUES).map(|i| {
        let t = i as f64 / (VALUES - 1) as f64;
        from + span * (t * (1.0 + 2.0 * BEYOND) - BEYOND)
    });
    let inputs: Vec<f64> = inputs.collect();
    let values = inputs.into_iter().filter_map(|input| {
        let amount = editor.driver_response(input)?;
        Some([input / unit.size, amount])
    });
    values.collect()
}
