//! The offset between two recordings from two signals that show the same motion: their normalised cross-correlation.
//!
//! Both signals are resampled to one rate, that of the faster one. For each offset by whole samples, Pearson's correlation
//! of the samples that both have there is computed: means and deviations are those of the overlap, so that neither units
//! nor gaps nor ends count (the masked correlation of Padfield 2012, by Fourier transforms). The largest one wins, refined
//! by the parabola through it and its neighbours. Signals that move against each other do not fit: a negative correlation
//! is none.
//!
//! Limits: an offset needs an overlap of at least a third of the shorter signal and of 1 s; a drift of the clocks is not
//! found, fit stamps for that ([`super::align::fit_clock`]).

use super::recording::Recording;
use super::sampling::{Ends, Sampling};
use super::series::{Channel, ChannelError};
use super::signal::Signal;
use crate::math::transform::normalize_or_identity;
use crate::task::{Cancelled, Task};
use glam::{DQuat, DVec3};
use rustfft::FftPlanner;
use rustfft::num_complex::Complex64;

/// Signals are resampled to at most this many samples a second.
const MAX_RATE: f64 = 1_000.0;
/// And at least to this many; longer signals are refused.
const MIN_RATE: f64 = 5.0;
/// And to at most this many samples.
const MAX_SAMPLES: f64 = 524_288.0;
/// The least overlap, seconds, and as a part of the shorter signal.
const MIN_OVERLAP: (f64, f64) = (1.0, 1.0 / 3.0);
/// An offset with a smaller correlation is not clear.
const CLEAR: f64 = 0.5;
/// Another offset with more than this part of the correlation makes it unclear.
const RIVAL: f64 = 0.9;
/// The part of the correlation's peak down to which it is one peak.
const LOBE: f64 = 0.5;

/// A signal on the common clock.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// Its name, for errors.
    pub name: String,
    /// Common times, seconds, strictly ascending.
    pub times: Vec<f64>,
    /// Its values, in any unit; NaN where there is none.
    pub values: Vec<f64>,
}

/// An offset at which one signal fits another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Match {
    /// How much later the moved signal must play, seconds.
    pub offset: f64,
    /// Pearson's correlation coefficient there, up to 1.
    pub coefficient: f64,
}

/// The offset at which a signal fits another best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Suggestion {
    /// The best offset.
    pub best: Match,
    /// The best one away from its peak; `None` where no other correlates.
    pub rival: Option<Match>,
    /// How long both have values at the best offset, seconds.
    pub overlap: f64,
    /// The rate at which they were compared, samples a second.
    pub rate: f64,
}

/// Why signals cannot be compared.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CorrelateError {
    /// It was cancelled.
    #[error("it was cancelled")]
    Cancelled,
    /// The times of a signal do not ascend.
    #[error("\"{name}\": {why}")]
    Times {
        /// Its name.
        name: String,
        /// What is wrong.
        why: ChannelError,
    },
    /// A signal has too few values.
    #[error("\"{0}\" has values for less than 1 s: a comparison needs more")]
    Short(String),
    /// A signal is constant.
    #[error("\"{0}\" does not change: choose a channel that shows the motion")]
    Constant(String),
    /// A signal is too long.
    #[error(
        "\"{name}\" is {secs:.0} s long, too long to be compared: is the unit of its times right?"
    )]
    Long {
        /// Its name.
        name: String,
        /// Its length, seconds.
        secs: f64,
    },
}

impl From<Cancelled> for CorrelateError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl Suggestion {
    /// Whether the offset stands out: it correlates by at least 0.5, and no other one nearly as well.
    pub fn is_clear(&self) -> bool {
        let rival = self.rival.map_or(0.0, |rival| rival.coefficient);
        self.best.coefficient >= CLEAR && rival <= RIVAL * self.best.coefficient
    }
}

/// The numbers of a channel that show how it moves, one a sample of the recording: a scalar as it is, of a rotation the
/// angular speed (rad/s), of a marker the speed (m/s). NaN where there is none; `None` without such a channel.
pub fn motion_of(of: &Recording, channel: &str) -> Option<Vec<f64>> {
    if let Some(track) = of.scalars.iter().find(|track| track.name == channel) {
        return Some(track.values.clone());
    }
    if let Some(track) = of.rotations.iter().find(|track| track.name == channel) {
        return Some(speeds(&of.times, &track.values, |a: DQuat, b: DQuat| {
            let between = normalize_or_identity(a).conjugate() * normalize_or_identity(b);
            2.0 * between.xyz().length().atan2(between.w.abs())
        }));
    }
    let track = of.markers.iter().find(|track| track.name == channel)?;
    Some(speeds(&of.times, &track.values, |a: DVec3, b: DVec3| {
        a.distance(b)
    }))
}

/// How fast a signal changes at each sample, by its neighbours; NaN where one of them is missing.
fn speeds<V: Signal>(times: &[f64], values: &[V], distance: impl Fn(V, V) -> f64) -> Vec<f64> {
    let last = times.len().saturating_sub(1);
    (0..times.len())
        .map(|i| {
            let (before, after) = (i.saturating_sub(1), (i + 1).min(last));
            let (a, b) = (values[before], values[after]);
            if before == after || !(a.is_valid() && b.is_valid()) {
                return f64::NAN;
            }
            distance(a, b) / (times[after] - times[before])
        })
        .collect()
}

/// The offset at which `moved` fits `reference` best; see the module. Fails where a signal has values for less than 1 s,
/// does not change or is longer than 29 hours, or where it is cancelled.
pub fn suggest_offset(
    reference: &Samples,
    moved: &Samples,
    task: &Task,
) -> Result<Suggestion, CorrelateError> {
    task.step("Resampling", 0.0)?;
    let channels = [Resampled::channel(reference)?, Resampled::channel(moved)?];
    let longest = channels.iter().map(span).fold(0.0, f64::max);
    let steps = channels.iter().map(Channel::median_step);
    let fastest = steps.map(f64::recip).fold(MIN_RATE, f64::max);
    let rate = fastest.min(MAX_RATE).min(MAX_SAMPLES / longest);
    if rate < MIN_RATE {
        let [a, b] = [&channels[0], &channels[1]].map(span);
        let (name, secs) = if a > b {
            (&reference.name, a)
        } else {
            (&moved.name, b)
        };
        let name = name.clone();
        return Err(CorrelateError::Long { name, secs });
    }
    let [fixed, other] = [(&channels[0], reference), (&channels[1], moved)]
        .map(|(channel, of)| Resampled::new(channel, rate, &of.name));
    let (fixed, other) = (fixed?, other?);
    let sums = Sums::new(&fixed, &other, task)?;
    let shorter = fixed.n_valid().min(other.n_valid()) as f64;
    let least = (shorter * MIN_OVERLAP.1)
        .max(MIN_OVERLAP.0 * rate)
        .min(shorter);
    task.step("Comparing", 0.95)?;
    // Lags of the second signal in samples, from the one at which only its last sample overlaps.
    let n_other = other.values.len();
    let curve: Vec<f64> = (0..fixed.values.len() + n_other - 1)
        .map(|i| sums.coefficient(i, n_other, least))
        .collect();
    let zero = fixed.start - other.start;
    let at = |i: usize| zero + (i as f64 - (n_other - 1) as f64) / rate;
    let peak = |range: &mut dyn Iterator<Item = usize>| {
        let best = range.filter(|i| curve[*i].is_finite());
        best.max_by(|i, j| curve[*i].total_cmp(&curve[*j]).then(j.cmp(i)))
    };
    let Some(top) = peak(&mut (0..curve.len())) else {
        return Err(CorrelateError::Short(moved.name.clone()));
    };
    // The peak reaches down to half of it on both sides.
    let falls = |i: &usize| curve[*i].is_nan() || curve[*i] <= LOBE * curve[top];
    let from = (0..top).rev().find(falls).map_or(0, |i| i + 1);
    let to = (top + 1..curve.len()).find(falls).unwrap_or(curve.len());
    let rival = peak(&mut (0..from).chain(to..curve.len()));
    let rival = rival.filter(|i| curve[*i] > 0.0).map(|i| Match {
        offset: at(i),
        coefficient: curve[i],
    });
    Ok(Suggestion {
        best: Match {
            offset: at(top) + refined(&curve, top) / rate,
            coefficient: curve[top].clamp(-1.0, 1.0),
        },
        rival,
        overlap: sums.overlap(top, n_other) / rate,
        rate,
    })
}

/// Where the top of the parabola through a peak and its neighbours is, in samples from the peak.
fn refined(curve: &[f64], top: usize) -> f64 {
    let near = |i: Option<usize>| i.and_then(|i| curve.get(i)).filter(|r| r.is_finite());
    let (Some(before), Some(after)) = (near(top.checked_sub(1)), near(top.checked_add(1))) else {
        return 0.0;
    };
    let bend = before - 2.0 * curve[top] + after;
    if bend < 0.0 {
        (0.5 * (before - after) / bend).clamp(-0.5, 0.5)
    } else {
        0.0
    }
}

/// How long a channel is, seconds.
fn span(channel: &Channel<f64>) -> f64 {
    let times = channel.times();
    times.last().zip(times.first()).map_or(0.0, |(b, a)| b - a)
}

/// A signal at a fixed rate, without its mean.
struct Resampled {
    /// The common time of the first value, seconds.
    start: f64,
    /// Divided by their deviation; 0 where there is none.
    values: Vec<f64>,
    /// Whether there is a value.
    valid: Vec<bool>,
}

impl Resampled {
    fn channel(of: &Samples) -> Result<Channel<f64>, CorrelateError> {
        let sampling = Sampling {
            ends: Ends::Invalid,
            ..Sampling::default()
        };
        let channel = Channel::new(&of.times, &of.values, sampling).map_err(|why| {
            let name = of.name.clone();
            CorrelateError::Times { name, why }
        })?;
        if span(&channel) < MIN_OVERLAP.0 || channel.median_step() <= 0.0 {
            return Err(CorrelateError::Short(of.name.clone()));
        }
        Ok(channel)
    }

    fn new(channel: &Channel<f64>, rate: f64, name: &str) -> Result<Self, CorrelateError> {
        let start = channel.times()[0];
        let n = (span(channel) * rate).floor() as usize + 1;
        let means = channel.median_step() * rate < 0.75;
        let found: Vec<Option<f64>> = (0..n)
            .map(|i| {
                let time = start + i as f64 / rate;
                let value = channel.at(time)?;
                let mean = means.then(|| mean_around(channel, time, 0.5 / rate));
                Some(mean.flatten().unwrap_or(value))
            })
            .collect();
        let count = found.iter().flatten().count();
        if (count as f64) < MIN_OVERLAP.0 * rate {
            return Err(CorrelateError::Short(name.to_owned()));
        }
        let mean = found.iter().flatten().sum::<f64>() / count as f64;
        let square = found.iter().flatten().map(|v| (v - mean).powi(2));
        let deviation = (square.sum::<f64>() / count as f64).sqrt();
        let size = found.iter().flatten().fold(0.0, |m, v| v.abs().max(m));
        if !(deviation.is_finite() && deviation > 1e-9 * size) {
            return Err(CorrelateError::Constant(name.to_owned()));
        }
        let scaled = found
            .iter()
            .map(|v| v.map_or(0.0, |v| (v - mean) / deviation));
        Ok(Self {
            start,
            values: scaled.collect(),
            valid: found.iter().map(Option::is_some).collect(),
        })
    }

    fn n_valid(&self) -> usize {
        self.valid.iter().filter(|valid| **valid).count()
    }
}

/// The mean of the samples around a time; `None` without any. What is faster than the common rate would be read as
/// something slower otherwise.
fn mean_around(channel: &Channel<f64>, time: f64, half: f64) -> Option<f64> {
    let times = channel.times();
    let from = times.partition_point(|t| *t < time - half);
    let to = times.partition_point(|t| *t < time + half);
    let inside = &channel.values()[from..to];
    (!inside.is_empty()).then(|| inside.iter().sum::<f64>() / inside.len() as f64)
}

/// Sums over the overlap of two signals at each lag, by Fourier transforms.
struct Sums {
    size: usize,
    /// The number of samples that both have, and the sum of products.
    counts_products: Vec<Complex64>,
    /// Of the first signal: its sum and its sum of squares.
    first: Vec<Complex64>,
    /// The same of the second one.
    second: Vec<Complex64>,
}

impl Sums {
    fn new(fixed: &Resampled, other: &Resampled, task: &Task) -> Result<Self, CorrelateError> {
        let size = (fixed.values.len() + other.values.len() - 1).next_power_of_two();
        let mut planner = FftPlanner::new();
        let (forward, inverse) = (
            planner.plan_fft_forward(size),
            planner.plan_fft_inverse(size),
        );
        let spectrum = |values: &mut dyn Iterator<Item = Complex64>| {
            let mut padded = vec![Complex64::default(); size];
            for (place, value) in padded.iter_mut().zip(values) {
                *place = value;
            }
            forward.process(&mut padded);
            padded
        };
        // Two real signals in each transform: the values and the mask; the squares alone.
        let mask = |valid: bool| f64::from(u8::from(valid));
        let of = |signal: &Resampled, step: f32| {
            let both = signal.values.iter().zip(&signal.valid);
            let both = spectrum(&mut both.map(|(v, m)| Complex64::new(*v, mask(*m))));
            task.step("Comparing", step)?;
            let squares = spectrum(&mut signal.values.iter().map(|v| Complex64::new(v * v, 0.0)));
            task.step("Comparing", step + 0.15)?;
            let (values, mask) = split(&both);
            Ok::<_, Cancelled>([values, mask, squares])
        };
        let [f, mf, ff] = of(fixed, 0.1)?;
        let [g, mg, gg] = of(other, 0.4)?;
        // Both results are real: one is put into the imaginary part of the other.
        let pair = |a: [&[Complex64]; 2], b: [&[Complex64]; 2]| {
            let mut joined: Vec<Complex64> = (0..size)
                .map(|k| {
                    let (x, y) = (a[0][k] * a[1][k].conj(), b[0][k] * b[1][k].conj());
                    // The inverse transform is not divided by the number of values.
                    Complex64::new(x.re - y.im, x.im + y.re) / size as f64
                })
                .collect();
            inverse.process(&mut joined);
            joined
        };
        let counts_products = pair([&mf, &mg], [&f, &g]);
        task.step("Comparing", 0.75)?;
        let first = pair([&f, &mg], [&ff, &mg]);
        task.step("Comparing", 0.85)?;
        let second = pair([&mf, &g], [&mf, &gg]);
        Ok(Self {
            size,
            counts_products,
            first,
            second,
        })
    }

    /// The place of a lag, counted from the one at which only the last sample of the second signal overlaps.
    fn place(&self, lag: usize, n_other: usize) -> usize {
        (lag + self.size - (n_other - 1)) % self.size
    }

    /// The number of samples that both have at a lag.
    fn overlap(&self, lag: usize, n_other: usize) -> f64 {
        self.counts_products[self.place(lag, n_other)].re.round()
    }

    /// Pearson's correlation at a lag; NaN where they overlap by less than `least` samples or one does not change there.
    fn coefficient(&self, lag: usize, n_other: usize, least: f64) -> f64 {
        let at = self.place(lag, n_other);
        let n = self.overlap(lag, n_other);
        if n < least.max(2.0) {
            return f64::NAN;
        }
        let product = self.counts_products[at].im;
        let (f, ff) = (self.first[at].re, self.first[at].im);
        let (g, gg) = (self.second[at].re, self.second[at].im);
        let (own, theirs) = (ff - f * f / n, gg - g * g / n);
        // The signals have a deviation of 1: less than this is constant within the overlap.
        if own < 1e-6 * n || theirs < 1e-6 * n {
            return f64::NAN;
        }
        (product - f * g / n) / (own * theirs).sqrt()
    }
}

/// The spectra of the real and of the imaginary part of a signal, from its spectrum.
fn split(both: &[Complex64]) -> (Vec<Complex64>, Vec<Complex64>) {
    let n = both.len();
    let parts = (0..n).map(|k| {
        let (x, y) = (both[k], both[(n - k) % n].conj());
        let half = (x - y) * 0.5;
        // (x - y) / 2i.
        ((x + y) * 0.5, Complex64::new(half.im, -half.re))
    });
    parts.unzip()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random, in -1 - 1.
    fn noise(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed;
        move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        }
    }

    /// Something that never repeats.
    fn course(t: f64) -> f64 {
        (1.1 * t).sin() + 0.7 * (2.9 * t * (1.0 + 0.05 * t)).sin() + 0.3 * (0.23 * t * t).cos()
    }

    fn samples(name: &str, rate: f64, [from, to]: [f64; 2], of: impl FnMut(f64) -> f64) -> Samples {
        let n = ((to - from) * rate) as usize;
        let times: Vec<f64> = (0..=n).map(|i| from + i as f64 / rate).collect();
        Samples {
            name: name.into(),
            values: times.iter().copied().map(of).collect(),
            times,
        }
    }

    #[test]
    fn a_copy_that_is_shifted_is_found_within_a_sample() {
        let reference = samples("a", 100.0, [0.0, 20.0], course);
        // In another unit, turned up by 4, at another rate, shorter and 0.37 s early.
        for (rate, range) in [
            (100.0, [0.0, 20.0]),
            (60.0, [3.0, 15.0]),
            (250.0, [-2.0, 9.0]),
        ] {
            let moved = samples("b", rate, range, |t| 4.0 + 1e3 * course(t + 0.37));
            let found = suggest_offset(&reference, &moved, &Task::new()).unwrap();
            let off = found.best.offset - 0.37;
            assert!(off.abs() < 1.0 / rate.max(100.0), "{rate}: {found:?}");
            assert!(found.best.coefficient > 0.999, "{found:?}");
            assert!(found.is_clear(), "{found:?}");
            let back = suggest_offset(&moved, &reference, &Task::new()).unwrap();
            assert!((back.best.offset + found.best.offset).abs() < 5e-3);
        }
    }

    #[test]
    fn gaps_and_what_is_missing_do_not_count() {
        let reference = samples("a", 100.0, [0.0, 20.0], course);
        let mut moved = samples("b", 100.0, [0.0, 20.0], |t| course(t - 1.25));
        let mut random = noise(3);
        for (time, value) in moved.times.iter().zip(&mut moved.values) {
            if (4.0..7.0).contains(time) {
                *value = f64::NAN;
            }
            *value += 0.2 * random();
        }
        let found = suggest_offset(&reference, &moved, &Task::new()).unwrap();
        assert!((found.best.offset + 1.25).abs() < 0.01, "{found:?}");
        assert!(
            found.is_clear() && found.best.coefficient > 0.95,
            "{found:?}"
        );
        // Both have values for 18.75 s, less the gap.
        assert!((found.overlap - 15.7).abs() < 0.1, "{found:?}");
        // The coefficient is that of the definition.
        let pairs = moved.times.iter().zip(&moved.values).filter_map(|(t, v)| {
            let i = ((t + found.best.offset) * 100.0).round();
            let known = reference.values.get(i as usize)?;
            (i >= 0.0 && v.is_finite()).then_some((*known, *v))
        });
        let pairs: Vec<(f64, f64)> = pairs.collect();
        let n = pairs.len() as f64;
        let (x, y) = (
            pairs.iter().map(|p| p.0).sum::<f64>() / n,
            pairs.iter().map(|p| p.1).sum::<f64>() / n,
        );
        let sum = |f: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(f).sum::<f64>();
        let product = sum(&|p| (p.0 - x) * (p.1 - y));
        let squares = sum(&|p| (p.0 - x).powi(2)) * sum(&|p| (p.1 - y).powi(2));
        assert!((product / squares.sqrt() - found.best.coefficient).abs() < 1e-3);
    }

    #[test]
    fn noise_and_what_repeats_have_no_clear_offset() {
        let (mut one, mut other) = (noise(1), noise(2));
        let a = samples("a", 100.0, [0.0, 20.0], |_| one());
        let b = samples("b", 100.0, [0.0, 20.0], |_| other());
        let found = suggest_offset(&a, &b, &Task::new()).unwrap();
        assert!(
            !found.is_clear() && found.best.coefficient < 0.3,
            "{found:?}"
        );
        // A walk: each step is as good as the other.
        let a = samples("a", 100.0, [0.0, 20.0], |t| (6.0 * t).sin());
        let b = samples("b", 100.0, [0.0, 20.0], |t| (6.0 * t + 1.0).sin());
        let found = suggest_offset(&a, &b, &Task::new()).unwrap();
        assert!(!found.is_clear() && found.rival.is_some(), "{found:?}");
        // Against each other is no fit.
        let a = samples("a", 100.0, [0.0, 20.0], |t| t);
        let b = samples("b", 100.0, [0.0, 20.0], |t| -t);
        assert!(!suggest_offset(&a, &b, &Task::new()).unwrap().is_clear());
    }

    #[test]
    fn what_cannot_be_compared_is_said() {
        let good = samples("good", 100.0, [0.0, 20.0], course);
        let said = |other: &Samples| {
            let why = suggest_offset(&good, other, &Task::new()).unwrap_err();
            why.to_string()
        };
        let short = samples("short", 100.0, [0.0, 0.5], course);
        assert!(said(&short).starts_with("\"short\" has values for less than 1 s"));
        let flat = samples("flat", 100.0, [0.0, 9.0], |_| 9.81);
        assert!(said(&flat).starts_with("\"flat\" does not change"));
        let none = samples("none", 100.0, [0.0, 9.0], |_| f64::NAN);
        assert!(said(&none).starts_with("\"none\" has values for less than 1 s"));
        let mut long = samples("long", 1.0, [0.0, 9.0], course);
        long.times[9] = 1e12;
        assert!(said(&long).starts_with("\"long\" is 1000000000000 s long"));
        let task = Task::new();
        task.cancel();
        let why = suggest_offset(&good, &good, &task);
        assert_eq!(why, Err(CorrelateError::Cancelled));
    }

    #[test]
    fn rotations_and_markers_are_read_by_their_speed() {
        use crate::motion::{ScalarTrack, Track};
        let times: Vec<f64> = (0..50).map(|i| f64::from(i) * 0.02).collect();
        // Every other one with the other sign: the same rotation.
        let turn = |(i, t): (usize, &f64)| {
            let q = DQuat::from_rotation_y(3.0 * t);
            if i % 2 == 0 { q } else { -q }
        };
        let recording = Recording {
            rotations: vec![Track {
                name: "arm".into(),
                values: times.iter().enumerate().map(turn).collect(),
            }],
            markers: vec![Track {
                name: "wrist".into(),
                values: times.iter().map(|t| DVec3::X * 2.0 * *t).collect(),
            }],
            scalars: vec![ScalarTrack {
                name: "emg".into(),
                unit: String::new(),
                values: times.clone(),
            }],
            times: times.clone(),
            ..Recording::default()
        };
        let is = |name: &str, value: f64| {
            let found = motion_of(&recording, name).unwrap();
            assert!(
                found.iter().all(|v| (v - value).abs() < 1e-9),
                "{name}: {found:?}"
            );
        };
        is("arm", 3.0);
        is("wrist", 2.0);
        assert_eq!(motion_of(&recording, "emg").unwrap(), times);
        assert_eq!(motion_of(&recording, "none"), None);
    }
}
