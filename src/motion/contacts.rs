//! When a foot rests on the floor.

use super::percentile::percentile;
use glam::DVec3;
use serde::Serialize;

/// Half of the time over which places are averaged, seconds.
const SMOOTH_SECS: f64 = 0.02;
/// The share of the frames in which a foot may be lower than its floor.
const LOW: f64 = 0.02;
/// Contacts shorter than this are dropped, seconds.
const SHORTEST_SECS: f64 = 0.1;
/// Gaps shorter than this are closed, seconds.
const SHORTEST_GAP_SECS: f64 = 0.07;

/// Below and above what a foot rests, in lengths of the leg.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactLimits {
    /// A foot comes to rest below this height ...
    pub on_height: f64,
    /// ... and this speed, a second;
    pub on_speed: f64,
    /// it leaves above this height ...
    pub off_height: f64,
    /// ... or this speed.
    pub off_speed: f64,
}

impl Default for ContactLimits {
    fn default() -> Self {
        Self {
            on_height: 0.06,
            on_speed: 0.25,
            off_height: 0.08,
            off_speed: 0.4,
        }
    }
}

/// Stretches of time, from and to, seconds, in which the left and the right foot are planted.
pub type FeetSecs = [Vec<[f64; 2]>; 2];

/// A stretch of frames in which a foot rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Contact {
    /// The first frame.
    pub first: usize,
    /// The last frame.
    pub last: usize,
}

/// The contacts of a foot. times: n, seconds, ascending; places: n, Y up; `leg`: the length of the leg in the same unit.
/// Heights are over the foot's own lowest, except for the lowest 2 % of the frames.
pub fn find_contacts(
    times: &[f64],
    places: &[DVec3],
    leg: f64,
    limits: &ContactLimits,
) -> Vec<Contact> {
    let n = times.len().min(places.len());
    if n < 2 || leg.is_nan() || leg <= 0.0 {
        return Vec::new();
    }
    let step = (times[n - 1] - times[0]) / (n - 1) as f64;
    let half = (SMOOTH_SECS / step).round() as usize;
    let smooth: Vec<DVec3> = (0..n)
        .map(|i| {
            let (from, to) = (i.saturating_sub(half), (i + half + 1).min(n));
            places[from..to].iter().sum::<DVec3>() / (to - from) as f64
        })
        .collect();
    let floor = percentile(smooth.iter().map(|p| p.y).collect(), LOW);
    let speed = |i: usize| {
        let (from, to) = (i.saturating_sub(1), (i + 1).min(n - 1));
        smooth[to].distance(smooth[from]) / (times[to] - times[from])
    };
    let mut contacts: Vec<Contact> = Vec::new();
    let mut rests = false;
    for (i, place) in smooth.iter().enumerate() {
        let (height, speed) = ((place.y - floor) / leg, speed(i) / leg);
        rests = if rests {
            !(height > limits.off_height || speed > limits.off_speed)
        } else {
            height < limits.on_height && speed < limits.on_speed
        };
        if !rests {
            continue;
        }
        match contacts.last_mut() {
            Some(last) if last.last + 1 == i => last.last = i,
            _ => contacts.push(Contact { first: i, last: i }),
        }
    }
    let mut closed: Vec<Contact> = Vec::new();
    for contact in contacts {
        match closed.last_mut() {
            Some(last) if times[contact.first] - times[last.last] < SHORTEST_GAP_SECS => {
                last.last = contact.last;
            }
            _ => closed.push(contact),
        }
    }
    closed.retain(|c| times[c.last] - times[c.first] > SHORTEST_SECS);
    closed
}

/// The frames of stretches of time, from and to, seconds: in order, apart, and at least two frames long.
pub fn contacts_at(times: &[f64], secs: &[[f64; 2]]) -> Vec<Contact> {
    let nearest = |time: f64| {
        let after = times.partition_point(|t| *t < time);
        let before = after.saturating_sub(1);
        match times.get(after) {
            Some(later) if (later - time).abs() <= (time - times[before]).abs() => after,
            _ => before,
        }
    };
    let mut found: Vec<Contact> = Vec::new();
    let mut sorted: Vec<[f64; 2]> = secs.to_vec();
    sorted.retain(|[from, to]| from.is_finite() && to.is_finite() && from < to);
    sorted.sort_by(|a, b| a[0].total_cmp(&b[0]));
    for [from, to] in sorted {
        if times.is_empty() {
            break;
        }
        let contact = Contact {
            first: nearest(from),
            last: nearest(to),
        };
        match found.last_mut() {
            Some(last) if contact.first <= last.last + 1 => last.last = last.last.max(contact.last),
            _ if contact.first < contact.last => found.push(contact),
            _ => {}
        }
    }
    found
}

/// How far a foot slides level in its contacts: its mean speed (metres a second), and the farthest that it is from the median place
/// of a contact (metres).
pub fn slide(times: &[f64], places: &[DVec3], contacts: &[Contact]) -> [f64; 2] {
    let (mut path, mut secs, mut worst) = (0.0, 0.0, 0.0_f64);
    for contact in contacts {
        let level = |p: &DVec3| DVec3::new(p.x, 0.0, p.z);
        let run: Vec<DVec3> = places[contact.first..=contact.last]
            .iter()
            .map(level)
            .collect();
        path += run.windows(2).map(|w| w[0].distance(w[1])).sum::<f64>();
        secs += times[contact.last] - times[contact.first];
        let middle = median(&run);
        worst = run.iter().map(|p| p.distance(middle)).fold(worst, f64::max);
    }
    [if secs > 0.0 { path / secs } else { 0.0 }, worst]
}

/// The median of places by axis.
pub(super) fn median(places: &[DVec3]) -> DVec3 {
    let axis = |k: usize| percentile(places.iter().map(|p| p[k]).collect(), 0.5);
    DVec3::new(axis(0), axis(1), axis(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_of_time_become_frames_in_order_and_apart() {
        let times: Vec<f64> = (0..11).map(|i| 0.1 * f64::from(i)).collect();
        let secs = [
            [0.52, 0.9],
            [-1.0, 0.24],
            [0.28, 0.3],
            [0.7, 0.7],
            [f64::NAN, 1.0],
            [0.8, 5.0],
        ];
        let found: Vec<[usize; 2]> = contacts_at(&times, &secs)
            .iter()
            .map(|c| [c.first, c.last])
            .collect();
        assert_eq!(found, [[0, 3], [5, 10]]);
        assert!(contacts_at(&[], &secs).is_empty());
    }

    #[test]
    fn a_foot_rests_between_its_steps() {
        let times: Vec<f64> = (0..200).map(|i| 0.01 * f64::from(i)).collect();
        // Rests for 0.5 s, steps for 0.5 s.
        let places: Vec<DVec3> = times
            .iter()
            .map(|t| {
                let into = (t % 1.0 - 0.5).max(0.0) * 2.0;
                let height = 0.2 * (std::f64::consts::PI * into).sin();
                DVec3::new(0.0, 3.0 + height, t.floor() + into)
            })
            .collect();
        let found = find_contacts(&times, &places, 0.9, &ContactLimits::default());
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[1].first.abs_diff(100) <= 3 && found[1].last.abs_diff(150) <= 3,
            "{found:?}"
        );
        let [speed, worst] = slide(&times, &places, &[Contact { first: 0, last: 50 }]);
        assert!(speed < 1e-12 && worst < 1e-12);
        assert!(find_contacts(&times, &places, 0.0, &ContactLimits::default()).is_empty());
        assert!(find_contacts(&[], &[], 1.0, &ContactLimits::default()).is_empty());
    }
}
