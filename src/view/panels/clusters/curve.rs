//! The curve of a layer: points that are dragged, each drag one undo step.

use super::ClustersPanel;
use crate::cluster::procedural::{CurveSettings, ResponseCurve};
use crate::editor::Editor;
use crate::view::panels::curve_editor::{CurveChange, CurveEditor};
use egui::Ui;
use glam::Vec2 as Place;

/// Keys of a curve are at least this far apart.
const APART: f64 = 0.01;

/// A curve to be edited, over 0 - 1.
pub(super) struct CurveField<'a> {
    /// What it is, for screen readers.
    pub(super) label: &'a str,
    pub(super) curve: &'a CurveSettings,
    /// An x that is marked.
    pub(super) marked: Option<f64>,
    /// What *Rest offset* does.
    pub(super) offset_about: &'a str,
    /// The names of the undo steps: of a point, of the rest offset.
    pub(super) steps: [&'a str; 2],
}

impl ClustersPanel {
    /// Draws the curve; `set` applies a change as part of the open undo step, or as the one of this name.
    pub(super) fn curve_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        field: &CurveField<'_>,
        set: impl Fn(&mut Editor, &str, CurveSettings),
    ) {
        let curve = field.curve;
        let Ok(response) = ResponseCurve::new(curve) else {
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
            label: field.label,
            points: &points,
            at: &|x| response.at(f64::from(x)) as f32,
            range: [low, high],
            marked: field.marked.map(|x| x as f32),
        }
        .show_ui(ui);
        let [step, offset_step] = field.steps;
        if shown.began {
            self.is_dragging = true;
            editor.begin_step(step);
        }
        if let Some(changed) = shown.change.and_then(|change| changed(curve, change)) {
            set(editor, step, changed);
        }
        if shown.ended {
            self.is_dragging = false;
            editor.end_step();
        }
        let mut offset = curve.rest_offset;
        let check = ui.checkbox(&mut offset, "Rest offset");
        if check.on_hover_text(field.offset_about).changed() {
            let mut curve = curve.clone();
            curve.rest_offset = offset;
            if !offset {
                curve.keys[0] = [0.0, 0.0];
            }
            set(editor, offset_step, curve);
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
