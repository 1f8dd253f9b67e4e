//! Suggested clusters: what they are for, their error over their number, and the chosen point.

use crate::editor::Editor;
use crate::finding::thousands;
use crate::suggest::{ClusterRound, TrainingPoses};
use crate::view::commands::Command;
use crate::view::panels::correctives::fields::{Number, named_ui, pick_ui};
use crate::view::panels::correctives::heading_ui;
use crate::view::theme;
use egui::{Button, Color32, Id, Label, ProgressBar, RichText, Role, Sense, Ui, Vec2, WidgetInfo};
use egui_plot::{Line, Plot, PlotPoints, Points, VLine};

/// The height of the plot, points.
const HEIGHT: f32 = 120.0;

const POSES: [(TrainingPoses, &str, &str); 3] = [
    (
        TrainingPoses::Clips,
        "Clips",
        "Evenly spaced moments of all clips, or of a generated range of motion if there are none.",
    ),
    (
        TrainingPoses::RangeOfMotion,
        "Range of motion",
        "Evenly spaced moments of a generated range of motion: each bone rotates about each axis.",
    ),
    (
        TrainingPoses::Current,
        "Current pose",
        "The pose on screen alone.",
    ),
];

/// Draws the settings, then the progress or the result.
pub(super) fn suggestion_ui(ui: &mut Ui, editor: &mut Editor, commands: &mut Vec<Command>) {
    heading_ui(ui, "Suggest clusters", "");
    if let Some(task) = editor.suggesting_clusters() {
        let (fraction, what) = (task.fraction(), task.label());
        ui.horizontal(|ui| {
            let cancel = ui.button("Cancel");
            if cancel.on_hover_text("Cancel the computation.").clicked() {
                editor.cancel_suggesting_clusters();
            }
            let bar = ProgressBar::new(fraction)
                .desired_width(ui.available_width())
                .desired_height(16.0)
                .show_percentage();
            ui.add(bar).widget_info(|| {
                WidgetInfo::labeled(Role::ProgressIndicator, true, "Suggesting clusters")
            });
        });
        let dim = theme::palette(ui).text_dim;
        ui.add(Label::new(RichText::new(what).color(dim)).truncate());
        return;
    }
    target_ui(ui, editor);
    let command = Command::SuggestClusters;
    ui.horizontal(|ui| {
        let enabled = command.is_enabled(editor);
        let button = ui.add_enabled(enabled, Button::new("Suggest"));
        button.widget_info(|| WidgetInfo::labeled(Role::Button, enabled, command.label()));
        let button = button.on_hover_text(command.tooltip(ui.ctx()));
        if button.on_disabled_hover_text(command.about()).clicked() {
            commands.push(command);
        }
        if editor.suggested_clusters().is_some() {
            let about =
                "Mark the suggested clusters of the chosen point of the curve, as one undo step.";
            if ui.button("Accept").on_hover_text(about).clicked() {
                editor.accept_suggested_clusters();
            }
            let about = "Drop the suggestion. The object stays as it is.";
            if ui.button("Drop").on_hover_text(about).clicked() {
                editor.drop_suggested_clusters();
            }
        }
    });
    if let Some(why) = editor.cluster_suggestion_failure() {
        ui.add(Label::new(why).wrap());
    }
    curve_ui(ui, editor);
}

fn target_ui(ui: &mut Ui, editor: &mut Editor) {
    let mut target = editor.cluster_target();
    let about = "The largest distance of a vertex from where the deformer stack has it, as a part of the diagonal of the \
                 model. Clusters are added until it is reached.";
    named_ui(ui, "Target error", about, |ui| {
        let number = Number {
            label: "Target error",
            range: 0.01..=20.0,
            speed: 0.01,
            decimals: 2,
            suffix: " %",
            about,
            step: "",
        };
        if let Some(percent) = number.show_free_ui(ui, 100.0 * target.error) {
            target.error = percent / 100.0;
        }
    });
    let about = "The poses in which the error is measured.";
    named_ui(ui, "Poses", about, |ui| {
        let width = ui.available_width();
        let (response, chosen) = pick_ui(ui, "Training poses", width, target.poses, &POSES);
        response.on_hover_text(about);
        target.poses = chosen.unwrap_or(target.poses);
    });
    editor.set_cluster_target(target);
}

/// Draws the error over the number of clusters; a click chooses the nearest point.
fn curve_ui(ui: &mut Ui, editor: &mut Editor) {
    let Some((rounds, chosen)) = editor
        .suggested_clusters()
        .map(|(suggested, chosen)| (suggested.rounds.clone(), chosen))
    else {
        return;
    };
    let Some(round) = rounds.get(chosen) else {
        return;
    };
    let palette = theme::palette(ui);
    let target = 100.0 * editor.cluster_target().error;
    let text = format!(
        "{} clusters: at most {:.2} % off, {:.2} % rms",
        thousands(round.n_clusters),
        100.0 * round.max,
        100.0 * round.rms
    );
    ui.add(Label::new(&text).wrap());
    let of = |value: fn(&ClusterRound) -> f64| -> Vec<[f64; 2]> {
        let points = rounds.iter();
        points
            .map(|round| [round.n_clusters as f64, 100.0 * value(round)])
            .collect()
    };
    let (largest, rms) = (of(|round| round.max), of(|round| round.rms));
    let plot = Plot::new(Id::unique("cluster errors"))
        .width(ui.available_width())
        .height(HEIGHT)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_double_click_reset(false)
        .allow_axis_zoom_drag(false)
        .show_x(false)
        .show_y(false)
        .set_margin_fraction(Vec2::new(0.04, 0.08))
        .grid_color(palette.text_dim.gamma_multiply(0.45))
        .cursor_color(Color32::TRANSPARENT)
        .y_axis_min_width(34.0)
        .y_axis_formatter(|mark, _| format!("{} %", (100.0 * mark.value).round() / 100.0))
        .include_y(0.0)
        .sense(Sense::click_and_drag());
    let shown = plot.show(ui, |plot| {
        let ends = [largest[0][0], largest[largest.len() - 1][0]];
        let line = PlotPoints::from(vec![[ends[0], target], [ends[1], target]]);
        let dashed = egui_plot::LineStyle::dashed_loose();
        plot.line(
            Line::new("target", line)
                .color(palette.text_dim)
                .style(dashed),
        );
        let dim = palette.text_dim;
        plot.line(
            Line::new("rms", PlotPoints::from(rms))
                .color(dim)
                .width(1.25),
        );
        let line = PlotPoints::from(largest.clone());
        plot.line(Line::new("largest", line).color(palette.text).width(2.0));
        let dots = Points::new("rounds", PlotPoints::from(largest.clone()));
        plot.points(dots.radius(2.5).color(palette.text));
        let at = largest[chosen];
        plot.vline(VLine::new("chosen", at[0]).color(palette.accent));
        plot.points(
            Points::new("chosen", vec![at])
                .radius(4.5)
                .color(palette.accent),
        );
    });
    let response = shown.response;
    response.widget_info(|| {
        WidgetInfo::labeled(
            Role::Canvas,
            true,
            format!("Error over the number of clusters: {text}"),
        )
    });
    let at = response.interact_pointer_pos();
    if let Some(at) = at.filter(|_| response.clicked() || response.dragged()) {
        let wanted = shown.transform.value_from_position(at).x;
        let far = |i: &usize| (largest[*i][0] - wanted).abs();
        let nearest = (0..largest.len()).min_by(|a, b| far(a).total_cmp(&far(b)));
        editor.choose_suggested_round(nearest.unwrap_or(chosen));
    }
    response.on_hover_text(
        "The error over the number of clusters: thick the largest, thin the rms over all vertices, dashed the target. Click \
         to choose how many are marked.",
    );
}
