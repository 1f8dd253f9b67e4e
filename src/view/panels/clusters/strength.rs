//! The strength of a muscle over the bend of its joint, and its curve.

use super::ClustersPanel;
use crate::cluster::MuscleLayer;
use crate::cluster::procedural::{CurveSettings, Envelope, EnvelopeShape, ResponseCurve};
use crate::editor::Editor;
use crate::view::panels::curve_editor::{CurveChange, CurveEditor};
use crate::view::theme;
use egui::{Color32, Id, Label, RichText, Role, Ui, Vec2, WidgetInfo};
use egui_plot::{Line, Plot, PlotPoints, Points, VLine};
use glam::Vec2 as Place;

/// The height of the plot, points.
const HEIGHT: f32 = 104.0;
/// Degrees between two values of the plot.
const STEP: usize = 2;
/// Keys of a curve are at least this far apart.
const APART: f64 = 0.01;

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
                format!("{percent:.0} % at a bend of {:.0}\u{b0}", bend.to_degrees())
            },
        );
        ui.horizontal(|ui| {
            ui.label("Strength");
            ui.add(Label::new(RichText::new(&text).color(palette.text_dim)).truncate());
        });
        let angles = (0..=180).step_by(STEP).map(f64::from);
        let line: Vec<[f64; 2]> = angles
            .map(|degrees| [degrees, 100.0 * envelope.at(degrees.to_radians())])
            .collect();
        let highest = line.iter().map(|p| p[1]).fold(1.0, f64::max);
        let lowest = line.iter().map(|p| p[1]).fold(0.0, f64::min);
        let plot = Plot::new(Id::unique("muscle strength"))
            .width(ui.available_width() - 12.0)
            .height(HEIGHT)
            .allow_drag(false)
            .allow_zoom(false)
            .allow_scroll(false)
            .allow_boxed_zoom(false)
            .allow_double_click_reset(false)
            .allow_axis_zoom_drag(false)
            .show_x(false)
            .show_y(false)
            .set_margin_fraction(Vec2::new(0.0, 0.08))
            .grid_color(palette.text_dim.gamma_multiply(0.45))
            .cursor_color(Color32::TRANSPARENT)
            .y_axis_min_width(34.0)
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
        if let EnvelopeShape::Curve(curve) = &muscle.settings.envelope.shape {
            let span = muscle.settings.envelope.end - muscle.settings.envelope.start;
            let marked = now.map(|bend| (bend - muscle.settings.envelope.start) / span);
            self.curve_ui(ui, editor, curve, marked);
        }
    }

    fn curve_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        curve: &CurveSettings,
        marked: Option<f64>,
    ) {
        let (Some((index, _)), Ok(response)) = (editor.active_muscle(), ResponseCurve::new(curve))
        else {
            return;
        };
        let points: Vec<Place> = curve
            .keys
            .iter()
            .map(|&[x, y]| Place::new(x as f32, y as f32))
            .collect();
        let high = points.iter().map(|p| p.y).fold(1.0, f32::max);
        let low = points.iter().map(|p| p.y).fold(0.0, f32::min);
        let shown = CurveEditor {
            label: "Curve of the muscle: strength from the first angle to the last",
            points: &points,
            at: &|x| response.at(f64::from(x)) as f32,
            range: [low, high],
            marked: marked.map(|x| x as f32),
        }
        .show_ui(ui);
        let label = "Curve of muscle";
        if shown.began {
            self.is_dragging = true;
            editor.begin_step(label);
        }
        if let Some(changed) = shown.change.and_then(|change| changed(curve, change)) {
            editor.set_muscle(index, label, |s| {
                s.envelope.shape = EnvelopeShape::Curve(changed);
            });
        }
        if shown.ended {
            self.is_dragging = false;
            editor.end_step();
        }
        let mut offset = curve.rest_offset;
        let about = "Let the curve start above 0, so that the muscle bulges in the rest pose too.";
        let check = ui.checkbox(&mut offset, "Rest offset");
        if check.on_hover_text(about).changed() {
            let mut curve = curve.clone();
            curve.rest_offset = offset;
            if !offset {
                curve.keys[0] = [0.0, 0.0];
            }
            editor.set_muscle(index, "Rest offset of muscle", |s| {
                s.envelope.shape = EnvelopeShape::Curve(curve);
            });
        }
    }
}

/// A curve after a change; `None` where that leaves it as it is. The first key stays at 0, and without a rest offset in
/// (0, 0).
fn changed(curve: &CurveSettings, change: CurveChange) -> Option<CurveSettings> {
    let mut curve = curve.clone();
    let n = curve.keys.len();
    match change {
        CurveChange::Moved(i, to) if i < n => {
            let (x, y) = (f64::from(to.x), f64::from(to.y).clamp(-1.0, 2.0));
            if i == 0 {
                if !curve.rest_offset {
                    return None;
                }
                curve.keys[0][1] = y;
            } else {
                let low = curve.keys[i - 1][0] + APART;
                let high = curve.keys.get(i + 1).map_or(1.0, |next| next[0] - APART);
                curve.keys[i] = [x.clamp(low.min(high), high), y];
            }
        }
        CurveChange::Added(at) if n < CurveSettings::MAX_KEYS => {
            let (x, y) = (f64::from(at.x), f64::from(at.y));
            if curve.keys.iter().any(|key| (key[0] - x).abs() < APART) {
                return None;
            }
            let place = curve.keys.partition_point(|key| key[0] < x);
            curve.keys.insert(place.max(1), [x, y]);
        }
        CurveChange::Removed(i) if i > 0 && n > 2 => {
            curve.keys.remove(i);
        }
        _ => return None,
    }
    Some(curve)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stay_in_order_and_the_first_at_rest() {
        let curve = CurveSettings::default();
        assert_eq!(
            changed(&curve, CurveChange::Moved(0, Place::new(0.3, 0.3))),
            None
        );
        let added = changed(&curve, CurveChange::Added(Place::new(0.5, 0.25))).unwrap();
        assert_eq!(added.keys, [[0.0, 0.0], [0.5, 0.25], [1.0, 1.0]]);
        let far = changed(&added, CurveChange::Moved(1, Place::new(3.0, 0.5))).unwrap();
        assert_eq!(far.keys[1], [1.0 - APART, 0.5]);
        assert_eq!(far.check(), Ok(()));
        assert_eq!(
            changed(&added, CurveChange::Added(Place::new(0.501, 0.9))),
            None
        );
        assert_eq!(changed(&added, CurveChange::Removed(0)), None);
        assert_eq!(
            changed(&added, CurveChange::Removed(1)),
            Some(curve.clone())
        );
        assert_eq!(changed(&curve, CurveChange::Removed(1)), None);
        let lifted = CurveSettings {
            rest_offset: true,
            ..curve
        };
        let lifted = changed(&lifted, CurveChange::Moved(0, Place::new(0.3, 0.25))).unwrap();
        assert_eq!(lifted.keys[0], [0.0, 0.25]);
    }
}
