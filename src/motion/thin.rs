//! Keyframes of sampled motion: as few as keep to a tolerance.

use super::signal::Signal;
use glam::{DQuat, DVec3};

/// The indices of the samples that linear interpolation needs to stay within a tolerance of all: the first and the last, and
/// by splitting each stretch at its worst sample. One for samples that stay within it of the first. times: n, ascending;
/// `error`: how far two values are apart.
pub fn thin<V: Signal>(
    times: &[f64],
    values: &[V],
    tolerance: f64,
    error: impl Fn(V, V) -> f64,
) -> Vec<usize> {
    let n = times.len().min(values.len());
    if n == 0 || tolerance.is_nan() || tolerance <= 0.0 {
        return (0..n).collect();
    }
    if (1..n).all(|i| error(values[0], values[i]) <= tolerance) {
        return vec![0];
    }
    let mut keys = vec![false; n];
    (keys[0], keys[n - 1]) = (true, true);
    let mut open = vec![(0, n - 1)];
    while let Some((first, last)) = open.pop() {
        let mut worst = (tolerance, None);
        for i in first + 1..last {
            let u = (times[i] - times[first]) / (times[last] - times[first]);
            let off = error(V::mix(values[first], values[last], u), values[i]);
            if off > worst.0 {
                worst = (off, Some(i));
            }
        }
        if let Some(split) = worst.1 {
            keys[split] = true;
            open.push((first, split));
            open.push((split, last));
        }
    }
    (0..n).filter(|i| keys[*i]).collect()
}

/// The first angle that thinned keys may be off, degrees; for a tolerance above `USUAL` as much more.
const FIRST_ANGLE: f64 = 0.1;
/// The tolerance for which the first angle was chosen (METHODS-twin 4.6), a share of the height.
const USUAL: f64 = 1e-3;
/// How often it is halved.
const MAX_ROUNDS: usize = 12;

/// A round of thinning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// The largest angle that keys may be off, degrees; 0 keeps all.
    pub angle_deg: f64,
    /// The angle of this round as a share of the first.
    pub of_first: f64,
    /// How much of the rounds is over, 0 - 1.
    pub share: f32,
}

/// Thins keys so that what they move stays within a tolerance: the allowed angle is halved until it does. keys: the keys of a round,
/// and the farthest that something is off with them. Returns those of the last round, with its angle and how far they are off.
pub fn thin_within<K, E>(
    tolerance: f64,
    mut keys: impl FnMut(Round) -> Result<(K, f64), E>,
) -> Result<(K, f64, f64), E> {
    let first = FIRST_ANGLE * (tolerance / USUAL).max(1.0);
    let mut angle_deg = if tolerance > 0.0 { first } else { 0.0 };
    let mut round = 0;
    loop {
        let share = round as f32 / MAX_ROUNDS as f32;
        let (kept, worst) = keys(Round {
            angle_deg,
            of_first: angle_deg / first,
            share,
        })?;
        if angle_deg == 0.0 || worst <= tolerance {
            return Ok((kept, angle_deg, worst));
        }
        // What no halving reaches, all keys do.
        angle_deg = if round == MAX_ROUNDS {
            0.0
        } else {
            angle_deg * 0.5
        };
        round += 1;
    }
}

/// The value at a sample, linear between kept samples, of which there is at least one. kept: ascending.
pub fn value_between<V: Signal>(times: &[f64], values: &[V], kept: &[usize], sample: usize) -> V {
    let after = kept.partition_point(|k| *k <= sample);
    let low = kept[after.saturating_sub(1)];
    match kept.get(after) {
        Some(&high) if low != sample => {
            let u = (times[sample] - times[low]) / (times[high] - times[low]);
            V::mix(values[low], values[high], u)
        }
        _ => values[low],
    }
}

/// The angle between two rotations, radians; whatever their signs.
pub fn angle_between(a: DQuat, b: DQuat) -> f64 {
    let b = if a.dot(b) < 0.0 { -b } else { b };
    4.0 * (a - b).length().atan2((a + b).length())
}

/// The distance between two places.
pub fn distance(a: DVec3, b: DVec3) -> f64 {
    a.distance(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinned_keys_keep_to_the_tolerance() {
        let times: Vec<f64> = (0..300).map(|i| 0.01 * f64::from(i)).collect();
        let sign = |i: usize| if i.is_multiple_of(7) { -1.0 } else { 1.0 };
        let values: Vec<DQuat> = (0..300)
            .map(|i| DQuat::from_rotation_y((2.0 * times[i]).sin()) * sign(i))
            .collect();
        let tolerance = 0.1_f64.to_radians();
        let keys = thin(&times, &values, tolerance, angle_between);
        assert!(
            keys.len() < 60 && keys[0] == 0 && keys[keys.len() - 1] == 299,
            "{}",
            keys.len()
        );
        for pair in keys.windows(2) {
            for i in pair[0]..=pair[1] {
                let u = (times[i] - times[pair[0]]) / (times[pair[1]] - times[pair[0]]);
                let found = DQuat::mix(values[pair[0]], values[pair[1]], u);
                assert!(angle_between(found, values[i]) <= tolerance);
            }
        }
        assert_eq!(thin(&times, &values, 0.0, angle_between).len(), 300);
        assert_eq!(thin(&times, &vec![DVec3::X; 300], 1e-9, distance), [0]);
        assert!(thin(&[], &[] as &[f64], 1.0, |a, b| a - b).is_empty());
        let angle = angle_between(DQuat::IDENTITY, -DQuat::from_rotation_x(1e-9));
        assert!((angle - 1e-9).abs() < 1e-15);
    }
}
