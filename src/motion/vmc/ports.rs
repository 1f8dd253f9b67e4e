//! The ports of a program that opens another one for each packet, message or frame.

use std::collections::BTreeMap;

/// A port that is silent for this long is forgotten, seconds.
const KEPT_SECS: f64 = 1.0;
/// A port that was heard so often is that of a program that keeps it. Of thousands of new ports a second some are the same by
/// chance.
const KEPT_TIMES: usize = 3;

/// The ports of the last second, at most all that there are.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ports {
    by_port: BTreeMap<u16, Heard>,
    /// When those were forgotten last that are too old, seconds.
    at: f64,
}

/// When a port was heard.
#[derive(Clone, Debug, PartialEq)]
struct Heard {
    /// First and last before another port was, seconds.
    span: [f64; 2],
    /// How often, with other ports between, each within `KEPT_SECS` after the one before.
    times: usize,
}

impl Ports {
    /// Whether there was none.
    pub(super) fn is_empty(&self) -> bool {
        self.by_port.is_empty()
    }

    /// Adds a port, with when it was heard first and last, seconds.
    pub(super) fn add(&mut self, port: u16, span: [f64; 2]) {
        let now = span[1];
        if now - self.at > KEPT_SECS {
            self.by_port.retain(|_, heard| is_recent(heard, now));
            self.at = now;
        }
        let times = 1 + self.recent(port, span[0]).map_or(0, |heard| heard.times);
        self.by_port.insert(port, Heard { span, times });
    }

    fn recent(&self, port: u16, now: f64) -> Option<&Heard> {
        let heard = self.by_port.get(&port);
        heard.filter(|heard| is_recent(heard, now))
    }

    /// When a port was heard first and last, if it was within the last second, seconds.
    pub(super) fn heard(&self, port: u16, now: f64) -> Option<[f64; 2]> {
        Some(self.recent(port, now)?.span)
    }

    /// Whether a port has come back so often that another program keeps it.
    pub(super) fn is_kept(&self, port: u16, now: f64) -> bool {
        let heard = self.recent(port, now);
        heard.is_some_and(|heard| heard.times >= KEPT_TIMES)
    }
}

fn is_recent(heard: &Heard, now: f64) -> bool {
    now - heard.span[1] <= KEPT_SECS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_known_for_a_second_however_many_there_are() {
        let mut ports = Ports::default();
        // 4,000 a second for five seconds, and among them one that comes back.
        for i in 0..20_000_u16 {
            let now = f64::from(i) / 4000.0;
            ports.add(20_000 + i, [now; 2]);
            if i % 1000 == 0 {
                assert_eq!(ports.is_kept(7, now), i > 2000, "{i}");
                ports.add(7, [now, now + 1e-4]);
            }
        }
        assert_eq!(ports.heard(7, 5.0), Some([4.75, 4.7501]));
        assert_eq!(ports.heard(36_500, 5.0), Some([4.125; 2]));
        assert_eq!(ports.heard(35_500, 5.0), None);
        assert!(ports.by_port.len() <= 8002, "{}", ports.by_port.len());
        assert!(!ports.is_kept(7, 6.0) && !ports.is_kept(36_500, 5.0));
        // One that comes back after a longer time begins anew.
        ports.add(7, [6.0; 2]);
        assert!(!ports.is_kept(7, 6.1));
    }
}
