//! The report as one picture.

use super::chart::{Anchor, CHART_HEIGHT, CHART_WIDTH, Chart, Ink, Paper};
use super::gather::Series;
use super::page::Legend;
use super::panes::Row;
use super::svg::DASHES;
use super::table::table;
use crate::document::Image;
use crate::view::lettering::{Lettering, blend};

/// Everything on the sheet.
pub(crate) struct Sheet<'a> {
    pub(crate) model: &'a str,
    pub(crate) scope: &'a str,
    pub(crate) series: &'a [Series],
    pub(crate) charts: &'a [Chart],
    pub(crate) rows: &'a [Row],
    pub(crate) legend: Option<&'a Legend>,
}

const MARGIN: f32 = 24.0;
const GAP: f32 = 12.0;
const ROW: f32 = 26.0;
const CAPTION: f32 = 26.0;
/// Length of the bar of a heat map's colours.
const LEGEND: f32 = 360.0;

const PAGE: [u8; 3] = [0x24, 0x26, 0x29];
const STACKS: [[u8; 3]; 8] = [
    [0x6E, 0xA8, 0xF0],
    [0xEE, 0x7F, 0x86],
    [0x86, 0xC4, 0x6A],
    [0xB8, 0x9A, 0xF0],
    [0x4F, 0xC4, 0xC4],
    [0xD3, 0xB0, 0x6A],
    [0xAE, 0xB2, 0xB8],
    [0xE5, 0x8A, 0xC4],
];

fn colour(ink: Ink) -> [u8; 3] {
    match ink {
        Ink::Text => [0xD6, 0xD8, 0xDB],
        Ink::Dim => [0x9D, 0xA1, 0xA7],
        Ink::Grid => [0x3C, 0x3F, 0x44],
        Ink::Stack(k) => STACKS[k % STACKS.len()],
        Ink::Amber => [0xE8, 0xA3, 0x3D],
        Ink::Red => [0xF0, 0x7C, 0x84],
    }
}

/// A picture with lines and text.
struct Canvas {
    image: Image,
    lettering: Lettering,
}

impl Paper for Canvas {
    fn line(&mut self, points: &[[f32; 2]], ink: Ink, width: f32) {
        let dashes: &[f32] = match ink {
            Ink::Stack(k) => DASHES[k % DASHES.len()],
            Ink::Amber | Ink::Red => &[4.0, 4.0],
            _ => &[],
        };
        let mut along = 0.0;
        for ends in points.windows(2) {
            along = self.segment([ends[0], ends[1]], colour(ink), width, dashes, along);
        }
    }

    fn text(&mut self, text: &str, [x, y]: [f32; 2], anchor: Anchor, ink: Ink, size: f32) {
        let shift = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => 0.5,
            Anchor::End => 1.0,
        };
        let x = x - shift * self.lettering.width(text, size);
        self.lettering
            .draw(&mut self.image, text, [x, y], size, colour(ink));
    }
}

impl Canvas {
    fn new(width: f32, height: f32) -> Self {
        let (width, height) = (width.ceil() as u32, height.ceil() as u32);
        let pixel = [PAGE[0], PAGE[1], PAGE[2], 255];
        Self {
            image: Image {
                width,
                height,
                rgba: pixel.repeat(width as usize * height as usize),
            },
            lettering: Lettering::default(),
        }
    }

    /// Draws one straight, antialiased segment; `along`: the length of the dash pattern so far. Returns it at the end.
    fn segment(
        &mut self,
        [[ax, ay], [bx, by]]: [[f32; 2]; 2],
        rgb: [u8; 3],
        width: f32,
        dashes: &[f32],
        along: f32,
    ) -> f32 {
        let (dx, dy) = (bx - ax, by - ay);
        let length = dx.hypot(dy);
        if !length.is_finite() || length == 0.0 {
            return along;
        }
        let period: f32 = dashes.iter().sum();
        let is_drawn = |at: f32| {
            if period <= 0.0 {
                return true;
            }
            let mut rest = at % period;
            for (i, dash) in dashes.iter().enumerate() {
                if rest < *dash {
                    return i % 2 == 0;
                }
                rest -= dash;
            }
            true
        };
        let reach = 0.5 * width + 1.0;
        let range = |a: f32, b: f32| {
            let (low, high) = (a.min(b) - reach, a.max(b) + reach);
            low.floor() as i64..=high.ceil() as i64
        };
        for y in range(ay, by) {
            for x in range(ax, bx) {
                let (px, py) = (x as f32 + 0.5 - ax, y as f32 + 0.5 - ay);
                let t = (px * dx + py * dy) / (length * length);
                // Segments are half-open, so that no pixel at a corner is drawn twice.
                if !(0.0..1.0).contains(&t) || !is_drawn(along + t * length) {
                    continue;
                }
                let off = (px * dy - py * dx).abs() / length;
                let coverage = (0.5 * width + 0.5 - off).clamp(0.0, 1.0);
                if coverage > 0.0 {
                    blend(&mut self.image, [x, y], rgb, coverage);
                }
            }
        }
        along + length
    }

    /// A bar of colours with its numbers below and its title to the left.
    fn legend(&mut self, legend: &Legend, [left, top]: [f32; 2]) {
        let last = legend.stops.len().saturating_sub(1);
        for x in 0..LEGEND as u32 {
            let at = x as f32 / LEGEND * last as f32;
            let i = (at as usize).min(last.saturating_sub(1));
            let (Some(a), Some(b)) = (legend.stops.get(i), legend.stops.get(i + 1)) else {
                return;
            };
            for y in 0..12 {
                let place = [(left + x as f32) as i64, top as i64 + y];
                blend(&mut self.image, place, *a, 1.0);
                blend(&mut self.image, place, *b, at - i as f32);
            }
        }
        for (place, label) in &legend.ticks {
            let at = [left + place * LEGEND, top + 27.0];
            self.text(label, at, Anchor::Middle, Ink::Dim, 11.0);
        }
        let at = [left - 14.0, top + 11.0];
        self.text(&legend.title, at, Anchor::End, Ink::Text, 13.0);
    }

    fn picture(&mut self, picture: &Image, [left, top]: [f32; 2]) {
        let (left, top) = (left.round() as usize, top.round() as usize);
        let stride = self.image.width as usize * 4;
        let row_bytes = picture.width as usize * 4;
        for (y, row) in picture.rgba.chunks_exact(row_bytes.max(1)).enumerate() {
            let start = (top + y) * stride + left * 4;
            if let Some(target) = self.image.rgba.get_mut(start..start + row_bytes) {
                target.copy_from_slice(row);
            }
        }
    }
}

impl Sheet<'_> {
    /// The picture.
    pub(crate) fn draw(&self) -> Image {
        let n = self.series.len().max(1);
        let pane = self.rows.iter().flat_map(|r| &r.pictures).next();
        let (pane_width, pane_height) =
            pane.map_or((320.0, 0.0), |p| (p[0].width as f32, p[0].height as f32));
        let across = n.min(6);
        let columns = self.columns();
        let panes_width = across as f32 * (pane_width + GAP) - GAP;
        let width = panes_width
            .max(columns.last().copied().unwrap_or(0.0))
            .max(CHART_WIDTH)
            + 2.0 * MARGIN;
        let charts_across = (((width - 2.0 * MARGIN + GAP) / (CHART_WIDTH + GAP)) as usize).max(1);
        let pane_lines = n.div_ceil(across);
        let row_height = ROW + pane_lines as f32 * (pane_height + CAPTION + GAP);
        let chart_lines = self.charts.len().div_ceil(charts_across);
        let height = MARGIN
            + 52.0
            + self.rows.len() as f32 * row_height
            + chart_lines as f32 * (CHART_HEIGHT + GAP)
            + (n as f32 + 3.0) * ROW
            + MARGIN;
        let mut canvas = Canvas::new(width, height);
        canvas.text(
            self.model,
            [MARGIN, MARGIN + 16.0],
            Anchor::Start,
            Ink::Text,
            20.0,
        );
        canvas.text(
            self.scope,
            [MARGIN, MARGIN + 36.0],
            Anchor::Start,
            Ink::Dim,
            13.0,
        );
        if let Some(legend) = self.legend {
            canvas.legend(legend, [width - MARGIN - LEGEND, MARGIN + 6.0]);
        }
        let mut y = MARGIN + 52.0;
        for row in self.rows {
            canvas.text(
                &row.title,
                [MARGIN, y + 16.0],
                Anchor::Start,
                Ink::Dim,
                13.0,
            );
            for (k, [dark, _]) in row.pictures.iter().enumerate() {
                let x = MARGIN + (k % across) as f32 * (pane_width + GAP);
                let top = y + ROW + (k / across) as f32 * (pane_height + CAPTION + GAP);
                canvas.picture(dark, [x, top]);
                self.name(&mut canvas, k, [x, top + pane_height + 17.0]);
            }
            y += row_height;
        }
        for (i, chart) in self.charts.iter().enumerate() {
            let x = MARGIN + (i % charts_across) as f32 * (CHART_WIDTH + GAP);
            let top = y + (i / charts_across) as f32 * (CHART_HEIGHT + GAP);
            chart.draw(&mut canvas, [x, top]);
        }
        y += chart_lines as f32 * (CHART_HEIGHT + GAP);
        self.numbers(&mut canvas, &columns, y);
        canvas.image
    }

    /// A stack's line and name.
    fn name(&self, canvas: &mut Canvas, k: usize, [x, y]: [f32; 2]) {
        canvas.line(&[[x, y - 4.5], [x + 24.0, y - 4.5]], Ink::Stack(k), 2.0);
        let name = &self.series[k].name;
        canvas.text(name, [x + 32.0, y], Anchor::Start, Ink::Text, 13.0);
    }

    /// Where the columns of the table end, from its left.
    fn columns(&self) -> Vec<f32> {
        let mut lettering = Lettering::default();
        let (heads, rows) = table(self.series);
        let names = self.series.iter().map(|s| s.name.as_str());
        let mut width = |text: &str, size: f32| lettering.width(text, size);
        let first = names.map(|n| width(n, 13.0) + 32.0).fold(0.0, f32::max);
        let mut at = first;
        let mut ends = vec![at];
        for (c, head) in heads.iter().enumerate() {
            let mut widest = width(&head.label, 12.0).max(width(head.unit, 11.0));
            for row in &rows {
                widest = widest.max(width(&row[c].text, 13.0) + 14.0);
            }
            at += widest + 24.0;
            ends.push(at);
        }
        ends
    }

    fn numbers(&self, canvas: &mut Canvas, ends: &[f32], top: f32) {
        let (heads, rows) = table(self.series);
        for (head, end) in heads.iter().zip(&ends[1..]) {
            let x = MARGIN + end;
            canvas.text(&head.label, [x, top + 18.0], Anchor::End, Ink::Dim, 12.0);
            canvas.text(head.unit, [x, top + 33.0], Anchor::End, Ink::Dim, 11.0);
        }
        let right = MARGIN + ends.last().copied().unwrap_or(0.0);
        for (k, row) in rows.iter().enumerate() {
            let y = top + 1.6 * ROW + k as f32 * ROW;
            canvas.line(&[[MARGIN, y], [right, y]], Ink::Grid, 1.0);
            self.name(canvas, k, [MARGIN, y + 18.0]);
            for (cell, end) in row.iter().zip(&ends[1..]) {
                let (ink, mark) = match cell.alarm {
                    0 => (if cell.best { Ink::Text } else { Ink::Dim }, ""),
                    1 => (Ink::Amber, " !"),
                    _ => (Ink::Red, " !!"),
                };
                let text = format!("{}{mark}", cell.text);
                canvas.text(&text, [MARGIN + end, y + 18.0], Anchor::End, ink, 13.0);
            }
        }
        let y = top + 1.6 * ROW + rows.len() as f32 * ROW + 20.0;
        let words = "The worst over all poses; the best of a column is brighter. ! from 2: the surface begins to tear; \
                     !! from 4: it is torn.";
        canvas.text(words, [MARGIN, y], Anchor::Start, Ink::Dim, 12.0);
    }
}
