//! The plots of volume and bulge over the clip.

use super::rows::{Row, Subject, percent};
use crate::editor::Editor;
use crate::evaluate::volumes::VolumeStudy;
use crate::view::theme;
use egui::{Color32, Id, Rect, Role, Sense, Ui, UiBuilder, Vec2, WidgetInfo};
use egui_plot::{HLine, Line, LineStyle, Plot, PlotPoints, VLine};

/// Height of the title of a plot, points.
const TITLE: f32 = 18.0;

/// One plot.
struct Curve<'a> {
    title: String,
    /// The accessible name.
    spoken: String,
    about: &'static str,
    values: &'a [f32],
    /// The minimum range of values, percent.
    least: [f64; 2],
}

/// Draws two plots, side by side, or stacked in a narrow panel.
pub(super) fn plots_ui(ui: &mut Ui, editor: &mut Editor, study: &VolumeStudy, row: &Row) {
    let room = ui.max_rect();
    if study.times_secs.len() < 2 {
        let dim = theme::palette(ui).text_dim;
        let text = "A single pose has no curve over time. Select a clip and measure again.";
        ui.label(egui::RichText::new(text).color(dim));
        return;
    }
    let curves = [
        Curve {
            title: format!("Volume of {}", name(row)),
            spoken: format!("Plot of the volume of {} over time", name(row)),
            about: "Change of the enclosed volume from the rest pose, in %. Click or drag to set the time.",
            values: &row.changes,
            least: [-1.0, 1.0],
        },
        Curve {
            title: "Largest bulge".to_owned(),
            spoken: "Plot of the largest bulge over time".to_owned(),
            about: "The largest increase of the distance between skin and bones from the rest pose, in %. Click or \
                    drag to set the time.",
            values: &row.bulges,
            least: [0.0, 5.0],
        },
    ];
    let is_high = room.height() > room.width();
    let halves = if is_high {
        let (a, b) = room.split_top_bottom_at_fraction(0.5);
        [a, b.with_min_y(b.top() + 6.0)]
    } else {
        let (a, b) = room.split_left_right_at_fraction(0.5);
        [a.with_max_x(a.right() - 6.0), b.with_min_x(b.left() + 6.0)]
    };
    let mut clicked_time = None;
    for (i, (curve, half)) in curves.iter().zip(halves).enumerate() {
        if half.height() < 40.0 || half.width() < 80.0 {
            continue;
        }
        let mut part = ui.new_child(UiBuilder::new().id_salt(("curve", i)).max_rect(half));
        part.set_clip_rect(half.intersect(ui.clip_rect()));
        clicked_time = clicked_time.or(curve_ui(&mut part, half, curve, study, editor));
    }
    if let Some(time) = clicked_time {
        if editor.document().session().playback.clip != study.clip {
            editor.show_clip(study.clip);
        }
        editor.set_time(time);
    }
}

/// The name of a row within a sentence.
fn name(row: &Row) -> &str {
    match row.subject {
        Subject::All => "all closed parts",
        Subject::Object(_) | Subject::Joint(..) => &row.name,
    }
}

/// Draws one plot; returns the clicked time.
fn curve_ui(
    ui: &mut Ui,
    room: Rect,
    curve: &Curve<'_>,
    study: &VolumeStudy,
    editor: &Editor,
) -> Option<f64> {
    let palette = theme::palette(ui);
    let known: Vec<f32> = curve
        .values
        .iter()
        .copied()
        .filter(|v| !v.is_nan())
        .collect();
    ui.spacing_mut().item_spacing.y = 2.0;
    let time = editor.document().session().playback.time_secs;
    let now = curve.values.get(study.moment(time)).copied();
    let now = percent(now.unwrap_or(f32::NAN));
    ui.allocate_ui(Vec2::new(room.width(), TITLE), |ui| {
        let text = if known.is_empty() {
            format!("{}: no value", curve.title)
        } else {
            format!("{}: {now}", curve.title)
        };
        ui.add(egui::Label::new(text).truncate().selectable(false))
            .on_hover_text(curve.about);
    });
    if known.is_empty() {
        return None;
    }
    let [low, high] = curve.least;
    let height = (room.height() - TITLE - 4.0).max(20.0);
    let has_axes = height > 56.0;
    let grid = palette.text_dim;
    let plot = Plot::new(Id::unique(("volume plot", &curve.spoken)))
        .width(room.width())
        .height(height)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_double_click_reset(false)
        .allow_axis_zoom_drag(false)
        .show_axes([has_axes, true])
        .show_x(false)
        .show_y(false)
        .set_margin_fraction(Vec2::new(0.0, 0.08))
        .grid_color(grid.gamma_multiply(0.45))
        .cursor_color(Color32::TRANSPARENT)
        .y_axis_min_width(34.0)
        .x_axis_formatter(|mark, _| format!("{} s", short(mark.value)))
        .y_axis_formatter(|mark, _| format!("{} %", short(mark.value)))
        .include_y(low)
        .include_y(high)
        .sense(Sense::click_and_drag());
    let line = palette.text;
    let accent = palette.accent;
    let lines = runs(&study.times_secs, curve.values);
    let shown = plot.show(ui, |plot| {
        plot.hline(HLine::new("zero", 0.0).color(grid.gamma_multiply(0.6)));
        for run in lines {
            let points = PlotPoints::from(run);
            plot.line(Line::new("value", points).color(line).width(1.5));
        }
        // The current time is the active element.
        plot.vline(
            VLine::new("now", time)
                .color(accent)
                .style(LineStyle::Solid),
        );
    });
    let largest = known.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let smallest = known.iter().copied().fold(f32::INFINITY, f32::min);
    let spoken = format!(
        "{}: from {} to {}, now {now}",
        curve.spoken,
        percent(smallest),
        percent(largest)
    );
    let response = shown.response;
    response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, &spoken));
    let is_asked = response.clicked() || response.dragged();
    let at = response.interact_pointer_pos().filter(|_| is_asked)?;
    let time = shown.transform.value_from_position(at).x;
    let (first, last) = (study.times_secs.first()?, study.times_secs.last()?);
    Some(time.clamp(*first, *last))
}

/// The runs of consecutive valid values, percent.
fn runs(times: &[f64], values: &[f32]) -> Vec<Vec<[f64; 2]>> {
    let mut runs: Vec<Vec<[f64; 2]>> = vec![Vec::new()];
    for (&time, &value) in times.iter().zip(values) {
        if !value.is_finite() {
            if runs.last().is_some_and(|run| !run.is_empty()) {
                runs.push(Vec::new());
            }
        } else if let Some(run) = runs.last_mut() {
            run.push([time, f64::from(value) * 100.0]);
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

/// An axis number without trailing zeros.
fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0" } else { text }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_has_gaps_where_there_is_no_value() {
        let found = runs(&[0.0, 1.0, 2.0, 3.0], &[0.01, f32::NAN, 0.02, 0.5]);
        assert_eq!(found.len(), 2);
        assert!(runs(&[0.0, 1.0], &[f32::INFINITY; 2]).is_empty());
        assert_eq!(found[1][1], [3.0, 50.0]);
        assert!(runs(&[0.0], &[f32::NAN]).is_empty());
        assert_eq!([1.5, -0.001, 20.0].map(short), ["1.5", "0", "20"]);
    }
}
