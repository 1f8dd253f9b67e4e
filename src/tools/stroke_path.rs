//! The path of the pointer in a stroke, and the evenly spaced dabs along it.

use super::PointerEvent;
use glam::Vec2;
use std::collections::VecDeque;

/// A position on the path of the pointer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PathPoint {
    pub(super) ndc: Vec2,
    pub(super) pressure: Option<f32>,
}

impl PathPoint {
    /// The position of an event.
    pub(super) fn of(event: &PointerEvent) -> Self {
        Self {
            ndc: event.ndc,
            pressure: event.pressure,
        }
    }
}

/// The path of a stroke, of which a part is done and the rest queued.
///
/// Invariant: the dabs do not depend on the speed of the pointer or on the number of events.
#[derive(Debug)]
pub(super) struct StrokePath {
    /// The position up to which the path is done.
    pub(super) at: PathPoint,
    /// Pixels from the last dab to `at`; `None` before the first one.
    since: Option<f32>,
    queue: VecDeque<PathPoint>,
}

impl StrokePath {
    /// A path with only its first position, queued.
    pub(super) fn new(start: PathPoint) -> Self {
        Self {
            at: start,
            since: None,
            queue: [start].into(),
        }
    }

    /// Queues a position; the newest one again is left out.
    pub(super) fn push(&mut self, position: PathPoint) {
        if self.queue.back().unwrap_or(&self.at).ndc != position.ndc {
            self.queue.push_back(position);
        }
    }

    /// Whether all of it is done.
    pub(super) fn is_done(&self) -> bool {
        self.queue.is_empty()
    }

    /// Leaves the rest out.
    pub(super) fn clear(&mut self) {
        self.queue.clear();
    }

    /// Goes on to the newest position without dabs.
    pub(super) fn skip_to_end(&mut self) {
        if let Some(&newest) = self.queue.back() {
            self.at = newest;
        }
        self.queue.clear();
    }

    /// The position of the next dab, `spacing_px` pixels from the last one. `size_px`: pixels of the viewport.
    pub(super) fn next_dab(&mut self, spacing_px: f32, size_px: Vec2) -> Option<PathPoint> {
        loop {
            let to = *self.queue.front()?;
            let Some(since) = self.since else {
                self.queue.pop_front();
                (self.since, self.at) = (Some(0.0), to);
                return Some(to);
            };
            let length = ((to.ndc - self.at.ndc) * size_px * 0.5).length();
            if since + length < spacing_px {
                self.queue.pop_front();
                (self.since, self.at) = (Some(since + length), to);
                continue;
            }
            let share = ((spacing_px - since) / length.max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
            let pressure = match (self.at.pressure, to.pressure) {
                (Some(a), Some(b)) => Some(a + (b - a) * share),
                (a, b) => b.or(a),
            };
            self.at = PathPoint {
                ndc: self.at.ndc.lerp(to.ndc, share),
                pressure,
            };
            self.since = Some(0.0);
            return Some(self.at);
        }
    }
}
