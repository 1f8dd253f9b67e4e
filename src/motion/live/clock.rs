//! The sender's clock mapped to ours, and which samples are late.

use std::collections::{BTreeMap, VecDeque};

/// The window of the running minimum of delays, seconds.
const WINDOW: f64 = 2.0;
/// The offset rises by at most this per second, seconds, so that the picture never freezes.
const RISE: f64 = 1e-3;
/// Where all packets have been late for this long, the offset begins anew, seconds.
const ALL_LATE: f64 = 1.0;
/// The most delays in the window; the jitter is measured over them.
const MAX_DELAYS: usize = 4096;
/// The number of steps of the median.
const MAX_STEPS: usize = 64;
/// A step of more than this many median steps has lost frames.
const LOST: f64 = 1.5;

/// A sender's time that jumps back by more than this begins anew, seconds.
const RESTART_SECS: f64 = 1.0;
/// One that jumps ahead of the arrivals by more than this does, too, seconds.
const AHEAD_SECS: f64 = 60.0;

/// Whether a sender whose time has passed by `step` while `passed` seconds went by has begun another clock.
pub(crate) fn is_other_clock(step: f64, passed: f64) -> bool {
    step < -RESTART_SECS || step > passed + AHEAD_SECS
}

/// The running minimum over 2 s of how much later packets arrive than their times say: downwards at once, upwards by at most
/// 1 ms a second, as a delay can only be too long.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Delays {
    /// Arrival and arrival - time of the packets of the last seconds.
    recent: VecDeque<(f64, f64)>,
    offset: Option<f64>,
    /// When the offset was set last.
    at: f64,
}

impl Delays {
    /// Adds a packet. Returns the offset: what is added to its times to give the arrival of those that were fastest, seconds.
    pub(crate) fn add(&mut self, arrival: f64, time: f64) -> f64 {
        let delay = arrival - time;
        self.recent.push_back((arrival, delay));
        while self.recent.len() > MAX_DELAYS
            || self
                .recent
                .front()
                .is_some_and(|(at, _)| *at < arrival - WINDOW)
        {
            self.recent.pop_front();
        }
        let smallest = self.recent.iter().map(|(_, delay)| *delay);
        let smallest = smallest.fold(f64::INFINITY, f64::min);
        let offset = match self.offset {
            Some(offset) if smallest > offset => {
                let most = RISE * (arrival - self.at).max(0.0);
                offset + (smallest - offset).min(most)
            }
            _ => smallest,
        };
        self.offset = Some(offset);
        self.at = arrival;
        offset
    }

    /// Sets the offset to the delay of the newest packet, and forgets the others.
    fn start_again(&mut self) {
        if let Some(newest) = self.recent.pop_back() {
            self.recent.clear();
            self.recent.push_back(newest);
            self.offset = Some(newest.1);
        }
    }

    /// The delay that a share of the packets of the last seconds does not exceed, seconds; 0 without one.
    fn quantile(&self, share: f64) -> f64 {
        let mut delays: Vec<f64> = self.recent.iter().map(|(_, delay)| *delay).collect();
        if delays.is_empty() {
            return 0.0;
        }
        let at = (share * (delays.len() - 1) as f64).round() as usize;
        *delays.select_nth_unstable_by(at, f64::total_cmp).1
    }
}

/// The steps between the times of one sender.
#[derive(Clone, Debug, Default, PartialEq)]
struct Steps {
    recent: VecDeque<f64>,
    newest: Option<f64>,
}

impl Steps {
    /// Adds a time. Returns how many frames are missing before it.
    fn add(&mut self, time: f64) -> usize {
        let Some(newest) = self.newest else {
            self.newest = Some(time);
            return 0;
        };
        if time <= newest {
            return 0;
        }
        let step = time - newest;
        let median = self.median();
        let missing = median.filter(|median| step > LOST * median);
        let missing = missing.map_or(0, |median| {
            ((step / median).round() as usize).saturating_sub(1)
        });
        self.recent.push_back(step);
        if self.recent.len() > MAX_STEPS {
            self.recent.pop_front();
        }
        self.newest = Some(time);
        missing
    }

    fn median(&self) -> Option<f64> {
        let mut steps: Vec<f64> = self.recent.iter().copied().collect();
        steps.sort_by(f64::total_cmp);
        steps.get(steps.len() / 2).copied()
    }
}

/// The map from a sender's time to ours, and its jitter.
///
/// The offset b of the sender's times follows the running minimum of arrival - time over 2 s: downwards at once, upwards by at
/// most 1 ms a second, as a delay can only be too long. Where all packets of a second are late, as those of a clock that runs
/// slow, it follows upwards at once, too: nothing would be shown any more.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveClock {
    delays: Delays,
    /// By sender.
    steps: BTreeMap<usize, Steps>,
    newest: Option<f64>,
    /// When the first of the packets arrived that have all been late since.
    late_since: Option<f64>,
    lost: usize,
    late: usize,
}

impl LiveClock {
    /// Adds the time of a frame and its time of arrival, seconds; a frame in several packets counts once for each. `latency`: the
    /// delay before a frame is shown, seconds.
    pub fn receive(&mut self, arrival: f64, time: f64, latency: f64) {
        self.receive_of(0, arrival, time, latency);
    }

    /// The same of one of several senders whose times are on one clock: each has its own steps.
    pub fn receive_of(&mut self, sender: usize, arrival: f64, time: f64, latency: f64) {
        if !(arrival - time).is_finite() {
            return;
        }
        // A jump of a second is another clock.
        if self.newest.is_some_and(|newest| time < newest - 1.0) {
            *self = Self {
                lost: self.lost,
                late: self.late,
                ..Self::default()
            };
        }
        let offset = self.delays.add(arrival, time);
        if time + offset < arrival - latency {
            self.late += 1;
            let since = *self.late_since.get_or_insert(arrival);
            if arrival - since > ALL_LATE {
                self.delays.start_again();
                self.late_since = None;
            }
        } else {
            self.late_since = None;
        }
        let lost = self.steps.entry(sender).or_default().add(time);
        self.lost = self.lost.saturating_add(lost);
        self.newest = Some(self.newest.map_or(time, |newest| newest.max(time)));
    }

    /// The sender's time that is shown `latency` after it, now; `None` before the first frame.
    pub fn shown(&self, now: f64, latency: f64) -> Option<f64> {
        Some(now - latency - self.delays.offset?)
    }

    /// The newest time of the sender.
    pub fn newest(&self) -> Option<f64> {
        self.newest
    }

    /// Frames that are missing between those that arrived.
    pub fn lost(&self) -> usize {
        self.lost
    }

    /// Packets that arrived after the time at which they would have been shown.
    pub fn late(&self) -> usize {
        self.late
    }

    /// How much longer than the median a packet may take: the 95th percentile of the delays over the median, seconds.
    pub fn jitter(&self) -> f64 {
        self.delays.quantile(0.95) - self.delays.quantile(0.5)
    }

    /// The latency at which 95 % of the packets are in time and have a next one to interpolate to: the 95th percentile of the
    /// delays over the offset, and one step, seconds; `None` before the second frame.
    pub fn steady_latency(&self) -> Option<f64> {
        let step = self.median_step()?;
        Some((self.delays.quantile(0.95) - self.delays.offset?).max(0.0) + step)
    }

    /// Frames a second, of the fastest sender.
    pub fn rate(&self) -> Option<f64> {
        Some(1.0 / self.median_step()?)
    }

    fn median_step(&self) -> Option<f64> {
        let steps = self.steps.values().filter_map(Steps::median);
        steps.min_by(f64::total_cmp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_offset_follows_the_shortest_delay_and_late_frames_are_counted() {
        let mut clock = LiveClock::default();
        assert_eq!(clock.shown(1.0, 0.06), None);
        for i in 0..120 {
            let time = f64::from(i) / 60.0;
            // Every fourth packet takes 20 ms, one takes 200.
            let delay = match i {
                60 => 0.2,
                i if i % 4 == 0 => 0.02,
                _ => 0.005,
            };
            clock.receive(time + 7.0 + delay, time, 0.06);
        }
        let shown = clock.shown(10.0, 0.06).unwrap();
        assert!((shown - (10.0 - 0.06 - 7.005)).abs() < 1e-3, "{shown}");
        assert_eq!((clock.late(), clock.lost()), (1, 0));
        assert!((clock.rate().unwrap() - 60.0).abs() < 1e-6);
        assert!((clock.jitter() - 0.015).abs() < 1e-9, "{}", clock.jitter());
        let steady = clock.steady_latency().unwrap();
        assert!((steady - 0.015 - 1.0 / 60.0).abs() < 2e-3, "{steady}");
        // Three frames are lost; then the sender begins anew.
        clock.receive(2.05 + 7.005, 123.0 / 60.0, 0.06);
        assert_eq!(clock.lost(), 3);
        clock.receive(9.2, 0.5, 0.06);
        assert_eq!(clock.newest(), Some(0.5));
        assert!((clock.shown(9.2, 0.0).unwrap() - 0.5).abs() < 1e-12);
        // The delay grows: the picture goes on almost as fast.
        let before = clock.shown(11.2, 0.0).unwrap();
        clock.receive(12.2, 2.5, 0.06);
        let after = clock.shown(11.2, 0.0).unwrap();
        assert!(
            (before - after) < 4e-3 && before >= after,
            "{before} {after}"
        );
        clock.receive(12.3, f64::NAN, 0.06);
        assert_eq!(clock.newest(), Some(2.5));
    }

    #[test]
    fn a_clock_that_runs_slow_is_followed() {
        // A sender that counts 1/60 s a frame, and draws 57 frames a second.
        let mut clock = LiveClock::default();
        let (mut n_in_time, mut steps_back) = (0, Vec::new());
        let mut before = f64::NEG_INFINITY;
        for i in 0..57 * 60 {
            let (arrival, time) = (f64::from(i) / 57.0, f64::from(i) / 60.0);
            clock.receive(arrival, time, 0.06);
            let shown = clock.shown(arrival, 0.06).unwrap();
            let ahead = shown - time;
            // The newest sample is held for 0.1 s: nothing is lost.
            assert!(ahead < 0.06, "frame {i}: {ahead}");
            n_in_time += usize::from(ahead <= 0.0);
            if shown < before {
                steps_back.push(before - shown);
            }
            before = shown;
        }
        assert!(n_in_time > 57 * 60 / 2, "{n_in_time}");
        // It loses 50 ms a second. Once it is late by the latency for a second, it is followed at once: the time shown goes back by what
        // was lost since, less a step.
        assert!(steps_back.len() <= 60 / 2, "{} times", steps_back.len());
        let worst = steps_back.into_iter().fold(0.0, f64::max);
        assert!(worst < 0.06 + 0.05 - 1.0 / 60.0 + 2e-3, "{worst} s");
    }
}
