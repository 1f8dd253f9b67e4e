//! The time scale of the ruler and its ticks.

use egui::Rangef;

/// Minimum distance of labelled ticks, points.
const LABEL_ROOM: f64 = 44.0;
/// Minimum distance of ticks, points.
const TICK_ROOM: f64 = 7.0;
/// The shortest visible span, seconds.
const SHORTEST: f64 = 0.1;
/// The longest visible span, seconds: one day.
const LONGEST: f64 = 86_400.0;

/// The visible span of time, seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Span {
    pub(super) start: f64,
    pub(super) end: f64,
}

impl Span {
    /// The span of a clip with a margin on both sides.
    pub(super) fn around(start: f64, end: f64) -> Self {
        let end = end.max(start + 1.0);
        let air = (end - start) * 0.04;
        Self {
            start: start - air,
            end: end + air,
        }
    }

    pub(super) fn length(self) -> f64 {
        self.end - self.start
    }

    /// The span zoomed by `factor` about `time`, which keeps its position.
    pub(super) fn zoomed(self, factor: f64, time: f64) -> Self {
        let length = (self.length() / factor).clamp(SHORTEST, LONGEST);
        let part = (time - self.start) / self.length();
        let start = time - part * length;
        Self {
            start,
            end: start + length,
        }
        .kept()
    }

    pub(super) fn moved(self, by: f64) -> Self {
        Self {
            start: self.start + by,
            end: self.end + by,
        }
        .kept()
    }

    /// The span scrolled just enough to show `time`.
    pub(super) fn showing(self, time: f64) -> Self {
        if (self.start..=self.end).contains(&time) {
            return self;
        }
        // Scroll by a page, so that the following time is visible too.
        let air = self.length() * 0.04;
        self.moved(time - air - self.start)
    }

    /// The span with at most half of it before time 0.
    fn kept(self) -> Self {
        let least = -0.5 * self.length();
        let by = (least - self.start).max(0.0);
        Self {
            start: self.start + by,
            end: self.end + by,
        }
    }
}

/// A span mapped to horizontal positions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    pub(super) span: Span,
    pub(super) x: Rangef,
}

/// A tick of the ruler.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) time_secs: f64,
    /// The frame number, or seconds where frames are too dense.
    pub(super) label: Option<String>,
    /// Whether it is a full second.
    pub(super) is_second: bool,
}

impl Scale {
    pub(super) fn x_of(&self, time_secs: f64) -> f32 {
        let part = (time_secs - self.span.start) / self.span.length();
        self.x.min + (part * f64::from(self.x.span())) as f32
    }

    pub(super) fn time_at(&self, x: f32) -> f64 {
        let part = f64::from((x - self.x.min) / self.x.span().max(1.0));
        self.span.start + part * self.span.length()
    }

    pub(super) fn points_per_sec(&self) -> f64 {
        f64::from(self.x.span().max(1.0)) / self.span.length()
    }

    /// The ticks from 0 on, ascending.
    pub(super) fn ticks(&self, fps: u32) -> Vec<Tick> {
        let fps = i64::from(fps.max(1));
        let points_per_frame = self.points_per_sec() / fps as f64;
        let steps = steps(fps);
        let fits = |step: i64, room: f64| step as f64 * points_per_frame >= room;
        let last = steps[steps.len() - 1];
        let labelled = steps.iter().copied().find(|&s| fits(s, LABEL_ROOM));
        let labelled = labelled.unwrap_or(last);
        let small = steps
            .iter()
            .copied()
            .find(|&s| labelled % s == 0 && fits(s, TICK_ROOM))
            .unwrap_or(labelled);
        let first = ((self.span.start * fps as f64) / small as f64)
            .ceil()
            .max(0.0) as i64;
        let end = ((self.span.end * fps as f64) / small as f64).floor() as i64;
        let tick = |i: i64| {
            let frame = i * small;
            let label = (frame % labelled == 0).then(|| label(frame, fps, labelled));
            Tick {
                time_secs: frame as f64 / fps as f64,
                label,
                is_second: frame % fps == 0,
            }
        };
        (first..=end).map(tick).collect()
    }
}

/// Tick distances in frames, ascending: divisors of a second, then seconds and minutes.
fn steps(fps: i64) -> Vec<i64> {
    let within = (1..=fps).filter(|d| fps % d == 0);
    let beyond = [2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600];
    within.chain(beyond.iter().map(|s| s * fps)).collect()
}

fn label(frame: i64, fps: i64, step: i64) -> String {
    if step < fps {
        return frame.to_string();
    }
    let seconds = frame / fps;
    if step >= 5 * fps || seconds >= 60 {
        format!("{}:{:02}", seconds / 60, seconds % 60)
    } else {
        format!("{seconds} s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(start: f64, end: f64) -> Scale {
        Scale {
            span: Span { start, end },
            x: Rangef::new(100.0, 1100.0),
        }
    }

    fn labels(scale: &Scale, fps: u32) -> Vec<String> {
        let ticks = scale.ticks(fps);
        ticks.into_iter().filter_map(|t| t.label).collect()
    }

    #[test]
    fn time_and_place_are_each_others_inverse() {
        let s = scale(-0.5, 4.5);
        assert_eq!(s.x_of(2.0), 600.0);
        assert!((s.time_at(s.x_of(1.25)) - 1.25).abs() < 1e-6);
    }

    #[test]
    fn ticks_are_frames_then_seconds_then_minutes() {
        // 1000 points: 33 per frame, so every second frame fits.
        assert_eq!(labels(&scale(0.0, 1.0), 30)[..3], ["0", "2", "4"]);
        assert_eq!(labels(&scale(0.0, 3.0), 24)[..3], ["0", "4", "8"]);
        assert_eq!(labels(&scale(-1.0, 19.0), 30)[..3], ["0 s", "1 s", "2 s"]);
        assert_eq!(
            labels(&scale(0.0, 600.0), 30)[..3],
            ["0:00", "0:30", "1:00"]
        );
        let ticks = scale(0.0, 3.0).ticks(30);
        assert!(ticks.iter().filter(|t| t.is_second).count() == 4);
        assert!(
            ticks
                .iter()
                .filter(|t| t.is_second)
                .all(|t| t.label.is_some())
        );
        // Never too many, however short the span.
        for length in [0.1, 1.0, 77.0, 4000.0, 86_400.0] {
            for fps in [1, 24, 25, 30, 60, 1000] {
                let ticks = scale(0.0, length).ticks(fps).len();
                assert!(ticks <= 1000 / 7 + 2, "{length} s at {fps}: {ticks}");
            }
        }
    }

    #[test]
    fn zooming_holds_what_is_under_the_pointer() {
        let span = Span {
            start: 1.0,
            end: 3.0,
        };
        let near = span.zoomed(2.0, 1.5);
        assert_eq!((near.start, near.end), (1.25, 2.25));
        assert!(span.zoomed(1e9, 2.0).length() >= 0.999 * SHORTEST);
        assert!(span.moved(-99.0).start >= -1.0);
        assert_eq!(span.showing(2.0), span);
        let on = span.showing(5.0);
        assert!(on.start < 5.0 && on.end > 5.0 && (on.length() - 2.0).abs() < 1e-9);
    }
}
