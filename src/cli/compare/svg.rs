//! Charts as SVG, coloured by the styles of the page.

use super::chart::{Anchor, CHART_HEIGHT, CHART_WIDTH, Chart, Ink, Paper};
use super::page::escape;
use std::fmt::Write;

/// Dash patterns of the stacks: colour is never the only sign.
pub(crate) const DASHES: [&[f32]; 8] = [
    &[],
    &[8.0, 4.0],
    &[2.0, 3.0],
    &[10.0, 3.0, 2.0, 3.0],
    &[5.0, 2.0],
    &[1.0, 2.0],
    &[12.0, 3.0],
    &[6.0, 2.0, 1.0, 2.0, 1.0, 2.0],
];

struct Svg(String);

fn class(ink: Ink) -> String {
    match ink {
        Ink::Text => "text".into(),
        Ink::Dim => "dim".into(),
        Ink::Grid => "grid".into(),
        Ink::Stack(k) => format!("s{}", k % DASHES.len()),
        Ink::Amber => "amber".into(),
        Ink::Red => "red".into(),
    }
}

impl Paper for Svg {
    fn line(&mut self, points: &[[f32; 2]], ink: Ink, width: f32) {
        if points.is_empty() {
            return;
        }
        let dashes: &[f32] = match ink {
            Ink::Stack(k) => DASHES[k % DASHES.len()],
            Ink::Amber | Ink::Red => &[4.0, 4.0],
            _ => &[],
        };
        let _ = write!(
            self.0,
            "<polyline class=\"{}\" stroke-width=\"{width}\"",
            class(ink)
        );
        if !dashes.is_empty() {
            let list: Vec<String> = dashes.iter().map(f32::to_string).collect();
            let _ = write!(self.0, " stroke-dasharray=\"{}\"", list.join(" "));
        }
        self.0.push_str(" points=\"");
        for [x, y] in points {
            let _ = write!(self.0, "{x:.1},{y:.1} ");
        }
        if let [[x, y]] = points {
            // A single value is drawn as a dash.
            let _ = write!(self.0, "{:.1},{y:.1}", x + 3.0);
        }
        self.0.push_str("\"/>");
    }

    fn text(&mut self, text: &str, [x, y]: [f32; 2], anchor: Anchor, ink: Ink, size: f32) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let weight = if size > 13.0 {
            " font-weight=\"600\""
        } else {
            ""
        };
        let _ = write!(
            self.0,
            "<text class=\"{}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\"{weight}>{}</text>",
            class(ink),
            escape(text)
        );
    }
}

/// The chart as an element; `description` for screen readers.
pub(crate) fn svg(chart: &Chart, description: &str) -> String {
    let mut paper = Svg(format!(
        "<svg viewBox=\"0 0 {CHART_WIDTH} {CHART_HEIGHT}\" role=\"img\" aria-label=\"{}\">",
        escape(description)
    ));
    chart.draw(&mut paper, [0.0, 0.0]);
    paper.0.push_str("</svg>");
    paper.0
}
