//! The strength of a muscle over the bend of its joint, and its curve.

use super::ClustersPanel;
use super::curve::CurveField;
use super::plot::live_plot;
use crate::cluster::MuscleLayer;
use crate::cluster::procedural::{Envelope, EnvelopeShape};
use crate::editor::Editor;
use crate::view::theme;
use egui::{Label, RichText, Role, Ui, WidgetInfo};
use egui_plot::{Line, PlotPoints, Points, VLine};

/// Degrees between two values of the plot.
const STEP: usize = 2;

impl ClustersPanel {
    /// Draws the strength over the bend with the pose on screen marked, and the curve where it is the artist's.
    pub(super) fn strength_ui(&mut self, ui: &mut Ui, editor: &mut Editor, muscle: &MuscleLayer) {
        let Ok(envelope) = Envelope::new(&muscle.settings.envelope) else {
            return;
        };
        let now = editor.muscle_bend();
        let palette = theme::palette(ui);
        let text = now.map_or_else(
            || "The joint of the muscle is not on screen.".to_owned(),
            |bend| {
                let percent = 100.0 * envelope.at(bend);
                let way = match muscle.settings.flexion {
                    Some(_) if bend.to_degrees() < -0.5 => "of extension",
                    Some(_) => "of flexion",
                    None => "of bend",
                };
                let degrees = bend.abs().to_degrees();
                format!("{percent:.0} % at {degrees:.0}\u{b0} {way}")
            },
        );
        ui.horizontal(|ui| {
            ui.label("Strength");
            ui.add(Label::new(RichText::new(&text).color(palette.text_dim)).truncate());
        });
        // A bend away from the flexor side counts as none.
        let first = now.map_or(0.0, f64::to_degrees).min(0.0);
        let angles = (0..=180).step_by(STEP).map(f64::from);
        let angles = (first < 0.0).then_some(first).into_iter().chain(angles);
        let line: Vec<[f64; 2]> = angles
            .map(|degrees| [degrees, 100.0 * envelope.at(degrees.to_radians())])
            .collect();
        let highest = line.iter().map(|p| p[1]).fold(1.0, f64::max);
        let lowest = line.iter().map(|p| p[1]).fold(0.0, f64::min);
        let plot = live_plot(ui, "muscle strength")
            .x_axis_formatter(|mark, _| format!("{:.0}\u{b0}", mark.value))
            .y_axis_formatter(|mark, _| format!("{:.0} %", mark.value))
            .include_x(0.0)
            .include_x(180.0)
            .include_y(lowest)
            .include_y(highest);
        let response = plot
            .show(ui, |plot| {
                plot.line(
                    Line::new("strength", PlotPoints::from(line))
                        .color(palette.text)
                        .width(2.0),
                );
                if let Some(bend) = now {
                    let at = [bend.to_degrees(), 100.0 * envelope.at(bend)];
                    plot.vline(VLine::new("now", at[0]).color(palette.accent));
                    plot.points(
                        Points::new("now", vec![at])
                            .radius(4.0)
                            .color(palette.accent),
                    );
                }
            })
            .response;
        response.widget_info(|| {
            WidgetInfo::labeled(Role::Image, true, format!("Strength of the muscle: {text}"))
        });
        response.on_hover_text(
            "The strength of the bulge over the bend of the joint. The line is the pose on screen.",
        );
        let settings = &muscle.settings.envelope;
        let index = editor.active_muscle().map(|(index, _)| index);
        let (EnvelopeShape::Curve(curve), Some(index)) = (&settings.shape, index) else {
            return;
        };
        let span = settings.end - settings.start;
        let field = CurveField {
            label: "Curve of the muscle: strength from the first angle to the last",
            curve,
            marked: now.map(|bend| (bend - settings.start) / span),
            offset_about: "Let the curve start above 0, so that the muscle bulges in the rest pose too.",
            steps: ["Curve of muscle", "Rest offset of muscle"],
        };
        self.curve_ui(ui, editor, &field, |editor, step, curve| {
            editor.set_muscle(index, step, |s| {
                s.envelope.shape = EnvelopeShape::Curve(curve);
            });
        });
    }
}
