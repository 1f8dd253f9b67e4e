//! Line charts over the time of a clip, drawn on any canvas.

/// The role of a drawn element; the canvas chooses its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    /// Text.
    Text,
    /// Explanatory text.
    Dim,
    /// Lines behind the data.
    Grid,
    /// The data of stack k, from 0; each stack has its own dashes.
    Stack(usize),
    /// The warning threshold.
    Amber,
    /// The error threshold.
    Red,
}

/// The alignment of text to its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// Starts at it.
    Start,
    /// Centred on it.
    Middle,
    /// Ends at it.
    End,
}

/// A canvas; coordinates in pixels from the upper left.
pub(crate) trait Paper {
    /// A line through points.
    fn line(&mut self, points: &[[f32; 2]], ink: Ink, width: f32);
    /// Text whose baseline is at y.
    fn text(&mut self, text: &str, at: [f32; 2], anchor: Anchor, ink: Ink, size: f32);
}

/// The values of one stack.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) label: String,
    /// One for each time; `None` where undefined.
    pub(crate) values: Vec<Option<f32>>,
}

/// One quantity of several stacks over time.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    pub(crate) title: String,
    /// The factor from values to shown numbers, and their unit.
    pub(crate) shown: (f32, &'static str),
    pub(crate) times: Vec<f64>,
    pub(crate) lines: Vec<Line>,
    /// The warning and error thresholds, if it has them.
    pub(crate) thresholds: Option<[f32; 2]>,
    /// Times of the pictures.
    pub(crate) marks: Vec<f64>,
}

pub(crate) const CHART_WIDTH: f32 = 620.0;
pub(crate) const CHART_HEIGHT: f32 = 250.0;
const LEFT: f32 = 52.0;
const TOP: f32 = 34.0;
const BOTTOM: f32 = 30.0;
/// Minimum distance between the baselines of labels.
const LABEL_STEP: f32 = 15.0;

impl Chart {
    /// Whether any value is defined.
    pub(crate) fn has_values(&self) -> bool {
        self.lines
            .iter()
            .any(|l| l.values.iter().any(Option::is_some))
    }

    /// Draws it in a box of [`CHART_WIDTH`] x [`CHART_HEIGHT`] whose upper left corner is at `origin`.
    pub(crate) fn draw(&self, paper: &mut dyn Paper, origin: [f32; 2]) {
        let [x0, y0] = origin;
        let (left, right) = (x0 + LEFT, x0 + CHART_WIDTH - self.label_room());
        let (top, bottom) = (y0 + TOP, y0 + CHART_HEIGHT - BOTTOM);
        paper.text(&self.title, [x0, y0 + 16.0], Anchor::Start, Ink::Text, 14.0);
        if !self.has_values() {
            let words = "Open: no part of the model encloses a volume.";
            paper.text(words, [left, y0 + 60.0], Anchor::Start, Ink::Dim, 12.0);
            return;
        }
        let (low, high) = self.extent();
        let ticks = ticks(low, high, 5);
        let (low, high) = (
            low.min(ticks.first().copied().unwrap_or(low)),
            high.max(ticks.last().copied().unwrap_or(high)),
        );
        let start = self.times.first().copied().unwrap_or(0.0);
        let end = self.times.last().copied().unwrap_or(1.0);
        let x = |time: f64| {
            let share = if end > start {
                (time - start) / (end - start)
            } else {
                0.5
            };
            left + (right - left) * share as f32
        };
        let y = |value: f64| bottom - (bottom - top) * ((value - low) / (high - low)) as f32;
        self.axes(paper, &ticks, [left, right, top, bottom], &x, &y);
        let factor = f64::from(self.shown.0);
        for (value, ink) in self.thresholds.iter().flatten().zip([Ink::Amber, Ink::Red]) {
            let value = f64::from(*value) * factor;
            if value < high {
                paper.line(&[[left, y(value)], [right, y(value)]], ink, 1.0);
            }
        }
        let mut ends = Vec::new();
        for (k, line) in self.lines.iter().enumerate() {
            let mut run: Vec<[f32; 2]> = Vec::new();
            for (&time, value) in self.times.iter().zip(&line.values) {
                match value {
                    Some(v) => run.push([x(time), y(f64::from(*v) * factor)]),
                    None => {
                        paper.line(&run, Ink::Stack(k), 2.0);
                        run.clear();
                    }
                }
            }
            paper.line(&run, Ink::Stack(k), 2.0);
            if let Some(last) = run.last() {
                ends.push((last[1], k));
            }
        }
        for (label_y, k) in spread(ends, top + 4.0, bottom + 4.0) {
            paper.line(
                &[[right + 6.0, label_y - 4.0], [right + 22.0, label_y - 4.0]],
                Ink::Stack(k),
                2.0,
            );
            let label = &self.lines[k].label;
            paper.text(
                label,
                [right + 27.0, label_y],
                Anchor::Start,
                Ink::Stack(k),
                12.0,
            );
        }
    }

    fn axes(
        &self,
        paper: &mut dyn Paper,
        y_ticks: &[f64],
        [left, right, top, bottom]: [f32; 4],
        x: &dyn Fn(f64) -> f32,
        y: &dyn Fn(f64) -> f32,
    ) {
        let step = y_ticks.windows(2).next().map_or(1.0, |t| t[1] - t[0]);
        for &tick in y_ticks {
            paper.line(&[[left, y(tick)], [right, y(tick)]], Ink::Grid, 1.0);
            let label = format!("{}{}", number(tick, step), self.shown.1);
            paper.text(
                &label,
                [left - 7.0, y(tick) + 4.0],
                Anchor::End,
                Ink::Dim,
                11.0,
            );
        }
        let start = self.times.first().copied().unwrap_or(0.0);
        let end = self.times.last().copied().unwrap_or(1.0);
        let times = ticks(start, end, 6);
        let step = times.windows(2).next().map_or(1.0, |t| t[1] - t[0]);
        for &time in times.iter().filter(|t| (start..=end).contains(*t)) {
            let label = format!("{} s", number(time, step));
            paper.text(
                &label,
                [x(time), bottom + 18.0],
                Anchor::Middle,
                Ink::Dim,
                11.0,
            );
        }
        for &mark in &self.marks {
            paper.line(&[[x(mark), top], [x(mark), bottom]], Ink::Grid, 1.0);
            let tick = [[x(mark), bottom], [x(mark), bottom + 5.0]];
            paper.line(&tick, Ink::Dim, 1.5);
        }
    }

    /// Width of the names at the ends of the lines.
    fn label_room(&self) -> f32 {
        let longest = self.lines.iter().map(|l| l.label.chars().count()).max();
        (36.0 + 7.0 * longest.unwrap_or(0) as f32).clamp(80.0, 240.0)
    }

    /// The smallest and the largest value as shown, 0 between them, never equal.
    fn extent(&self) -> (f64, f64) {
        let values = self.lines.iter().flat_map(|l| l.values.iter().flatten());
        let (mut low, mut high) = (0.0f64, 0.0f64);
        for &v in values {
            let v = f64::from(v * self.shown.0);
            low = low.min(v);
            high = high.max(v);
        }
        if high - low < 1e-6 {
            high = low + 1.0;
        }
        (low, high)
    }
}

/// Round numbers from at or below `low` to at or above `high`, about `n` of them.
fn ticks(low: f64, high: f64, n: usize) -> Vec<f64> {
    let rough = (high - low) / n as f64;
    if !(rough > 0.0 && rough.is_finite()) {
        return vec![low];
    }
    let magnitude = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|s| s * magnitude)
        .find(|&s| s >= rough * 0.999)
        .unwrap_or(10.0 * magnitude);
    let (first, last) = ((low / step + 1e-9).floor(), (high / step - 1e-9).ceil());
    (0..=(last - first) as usize)
        .map(|i| (first + i as f64) * step)
        .collect()
}

/// A tick's number with as many decimals as its step needs.
fn number(value: f64, step: f64) -> String {
    let decimals = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
    let text = format!("{value:.decimals$}");
    // No negative zero.
    if text.trim_start_matches(['-', '0', '.']).is_empty() {
        return format!("{:.decimals$}", 0.0);
    }
    text
}

/// Label heights near their lines, at least [`LABEL_STEP`] apart, between `top` and `bottom` as far as they fit.
fn spread(mut wanted: Vec<(f32, usize)>, top: f32, bottom: f32) -> Vec<(f32, usize)> {
    wanted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut at = top;
    for (y, _) in &mut wanted {
        *y = (*y + 4.0).max(at);
        at = *y + LABEL_STEP;
    }
    let mut at = bottom;
    for (y, _) in wanted.iter_mut().rev() {
        *y = y.min(at);
        at = *y - LABEL_STEP;
    }
    wanted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_cover_the_values() {
        assert_eq!(ticks(0.0, 14.2, 5), [0.0, 5.0, 10.0, 15.0]);
        let below = ticks(-0.7, 0.0, 5);
        let expected = [-0.8, -0.6, -0.4, -0.2, 0.0];
        assert_eq!(below.len(), expected.len());
        assert!(
            below
                .iter()
                .zip(expected)
                .all(|(a, b)| (a - b).abs() < 1e-12)
        );
        assert_eq!(ticks(1.0, 1.0, 5), [1.0]);
        assert_eq!(number(0.30000000000000004, 0.1), "0.3");
        assert_eq!(number(-0.0, 0.5), "0.0");
        assert_eq!(number(20.0, 5.0), "20");
    }

    #[test]
    fn labels_keep_apart() {
        let labels = spread(
            vec![(100.0, 0), (101.0, 1), (99.0, 2), (250.0, 3)],
            30.0,
            220.0,
        );
        assert!(
            labels
                .windows(2)
                .all(|l| l[1].0 - l[0].0 >= LABEL_STEP - 1e-3)
        );
        assert_eq!(labels.iter().map(|l| l.1).collect::<Vec<_>>(), [2, 0, 1, 3]);
        assert!(labels[3].0 <= 220.0);
    }

    #[derive(Default)]
    struct Count {
        stacks: usize,
        words: Vec<String>,
        faults: usize,
    }

    impl Paper for Count {
        fn line(&mut self, points: &[[f32; 2]], ink: Ink, _width: f32) {
            assert!(points.iter().flatten().all(|v| v.is_finite()));
            self.stacks += usize::from(matches!(ink, Ink::Stack(_)) && points.len() > 1);
            self.faults += usize::from(ink == Ink::Red || ink == Ink::Amber);
        }

        fn text(&mut self, text: &str, _at: [f32; 2], _anchor: Anchor, _ink: Ink, _size: f32) {
            self.words.push(text.to_owned());
        }
    }

    #[test]
    fn gaps_split_a_line_and_no_values_are_words() {
        let mut chart = Chart {
            title: "Discontinuity".into(),
            shown: (1.0, ""),
            times: vec![0.0, 1.0, 2.0, 3.0, 4.0],
            lines: vec![Line {
                label: "dqs".into(),
                values: vec![Some(0.0), Some(3.0), None, Some(1.0), Some(2.5)],
            }],
            thresholds: Some([2.0, 4.0]),
            marks: vec![1.0],
        };
        let mut count = Count::default();
        chart.draw(&mut count, [0.0, 0.0]);
        // Two runs and the key beside the label; of the thresholds amber alone is in sight.
        assert_eq!((count.stacks, count.faults), (3, 1));
        assert!(count.words.contains(&"dqs".to_owned()));
        chart.lines[0].values = vec![None; 5];
        let mut count = Count::default();
        chart.draw(&mut count, [0.0, 0.0]);
        assert!(count.words.iter().any(|w| w.starts_with("Open")));
    }
}
