//! When the samples of a sender arrived.

/// The times of samples, each with when the first of that time arrived, in order of arrival.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Arrivals {
    /// Time and arrival, seconds.
    pub(super) of_times: Vec<(f64, f64)>,
}

impl Arrivals {
    /// Says when samples of a time arrived, seconds. Of one time the first counts.
    pub(super) fn push(&mut self, time: f64, arrival: f64) {
        if self.of_times.last().is_none_or(|last| last.0 != time) {
            self.of_times.push((time, arrival));
        }
    }

    /// Those of times since one.
    pub(super) fn since(&self, time: f64) -> Self {
        let recent = self.of_times.iter().filter(|of| of.0 >= time);
        Self {
            of_times: recent.copied().collect(),
        }
    }

    /// Their memory, bytes.
    pub(super) fn heap_bytes(&self) -> usize {
        self.of_times.len() * size_of::<(f64, f64)>()
    }

    /// When the samples of times after `first` arrived, seconds since the first of them did, to the microsecond; empty where that is
    /// not known.
    pub(super) fn at(&self, times: &[f64], first: f64) -> Vec<f64> {
        let mut arrivals = vec![f64::NAN; times.len()];
        // Of one time the first counts. A packet without a value has a time that no sample has.
        for (time, arrival) in self.of_times.iter().rev() {
            let time = time - first;
            let at = times.partition_point(|t| *t < time);
            if times.get(at) == Some(&time) {
                arrivals[at] = *arrival;
            }
        }
        let begin = arrivals.iter().copied().fold(f64::NAN, f64::min);
        if begin.is_nan() {
            return Vec::new();
        }
        // A product with 1e-6 would have digits after the sixth.
        let micros = arrivals.iter().map(|at| ((at - begin) * 1e6).round() / 1e6);
        micros.collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::motion::live::LiveSamples;

    #[test]
    fn a_recording_has_the_arrivals_of_its_times() {
        let mut samples = LiveSamples::default();
        for i in 0..4 {
            let time = 100.0 + 0.5 * f64::from(i);
            samples.push_scalar("emg", time, 1.0);
            samples.push_arrival(time, 7.0 + 0.5 * f64::from(i) + 0.01 * f64::from(i % 2));
            // A second half of the frame, and a packet without a value.
            samples.push_arrival(time, 9.0);
            samples.push_arrival(time + 0.1, 9.5);
        }
        let found = samples.recording(100.4);
        assert_eq!(found.times, [0.0, 0.5, 1.0]);
        assert_eq!(found.arrivals, [0.0, 0.49, 1.0]);
        let kept = samples.hand_over(101.2).recording(0.0);
        assert_eq!(kept.arrivals, [0.0, 0.51, 1.0, 1.51]);
        assert_eq!(samples.recording(0.0).arrivals, [0.0]);
        samples.forget_before(1e3);
        assert!(samples.recording(0.0).arrivals.is_empty());
    }

    #[test]
    fn arrivals_have_six_digits() {
        let mut samples = LiveSamples::default();
        for i in 0..1000_u32 {
            let time = f64::from(i) / 60.0;
            samples.push_scalar("emg", time, 1.0);
            samples.push_arrival(time, 31.7 + time);
        }
        let found = samples.recording(0.0);
        assert_eq!(found.arrivals.len(), 1000);
        for arrival in found.arrivals {
            let text = arrival.to_string();
            let digits = text.split('.').nth(1).unwrap_or_default();
            assert!(digits.len() <= 6, "{text}");
        }
    }
}
