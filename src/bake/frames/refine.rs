//! Where the shapes along a clip bend between two sampled times: more times there.

use super::samples::Samples;
use crate::bake::problem::key_times::is_jump;
use crate::math::Worse;
use crate::task::{Cancelled, Task};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Times between which the shapes are sampled once more: the middles of the two intervals around each time at which an
/// instance is farther than `tolerance` (world) from the line between its shapes before and after. On a smooth course the
/// shapes in those middles are off by a quarter of that at most. Ascending; an interval so short that it counts as a jump is not
/// divided, so that a jump of the shapes ends up in one.
pub(super) fn times_between(
    samples: &[Samples],
    tolerance: f64,
    task: &Task,
) -> Result<Vec<f64>, Cancelled> {
    let Some(times) = samples.first().map(|samples| &samples.times) else {
        return Ok(Vec::new());
    };
    let mut more = BTreeSet::new();
    for i in 1..times.len().saturating_sub(1) {
        task.check()?;
        let off = samples.iter().map(|samples| off_line(samples, i));
        let off = off.fold(0.0, f64::worse);
        // What is not finite has no course to follow.
        if !off.is_finite() || off <= tolerance {
            continue;
        }
        for pair in times[i - 1..=i + 1].windows(2) {
            let middle = (0.5 * (pair[0] + pair[1])) as f32;
            let is_between = pair[0] < f64::from(middle) && f64::from(middle) < pair[1];
            if is_between && !is_jump(pair[0], pair[1]) {
                more.insert(middle.to_bits());
            }
        }
    }
    // The bits of numbers that are not negative ascend as they do.
    Ok(more
        .into_iter()
        .map(|bits| f64::from(f32::from_bits(bits)))
        .collect())
}

/// The largest distance of a shape from the line between the ones before and after it, world.
fn off_line(samples: &Samples, i: usize) -> f64 {
    let (start, here, end) = (samples.times[i - 1], samples.times[i], samples.times[i + 1]);
    let share = ((here - start) / (end - start)) as f32;
    let (before, after) = (&samples.positions[i - 1], &samples.positions[i + 1]);
    let node = samples.node[i];
    let points = samples.positions[i].par_iter().with_min_len(4096);
    let distances = points.enumerate().map(|(p, place)| {
        let off = (before[p].lerp(after[p], share) - *place).as_dvec3();
        (node * off).length()
    });
    distances.reduce(|| 0.0, f64::worse)
}

/// Joins the samples of other times to those of an instance.
pub(super) fn join(samples: &mut Samples, more: Samples) {
    let own = std::mem::take(samples);
    let all = |samples: Samples| {
        let shapes = samples.positions.into_iter().zip(samples.node);
        samples.times.into_iter().zip(shapes)
    };
    let mut joined: Vec<_> = all(own).chain(all(more)).collect();
    joined.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (time, (positions, node)) in joined {
        samples.times.push(time);
        samples.positions.push(positions);
        samples.node.push(node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DMat3, Vec3};

    fn along(times: &[f64], height: impl Fn(f64) -> f64) -> Samples {
        let place = |&t: &f64| vec![Vec3::new(t as f32, height(t) as f32, 0.0)];
        Samples {
            times: times.to_vec(),
            positions: times.iter().map(place).collect(),
            node: vec![DMat3::IDENTITY; times.len()],
        }
    }

    #[test]
    fn a_course_is_divided_where_it_bends() {
        let found = |samples: &Samples, tolerance| {
            times_between(std::slice::from_ref(samples), tolerance, &Task::new()).unwrap()
        };
        let times = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5];
        // Straight to 1, a parabola from there.
        let bend = |t: f64| (t - 1.0).max(0.0).powi(2);
        let mut samples = along(&times, bend);
        assert_eq!(found(&samples, 0.2), [1.25, 1.75, 2.25]);
        assert!(found(&samples, 0.3).is_empty());
        let more = along(&[1.25, 1.75, 2.25], bend);
        join(&mut samples, more);
        assert!(samples.times.is_sorted() && samples.times.len() == 9);
        assert!(found(&samples, 0.2).is_empty());
        // A jump has no times within it.
        let jump = along(&[0.0, 0.998, 1.0, 2.0], |t| f64::from(u8::from(t >= 1.0)));
        assert_eq!(found(&jump, 0.1), [0.499, 1.5].map(|t| f64::from(t as f32)));
        assert!(found(&along(&times, |_| f64::NAN), 0.1).is_empty());
        // One in a longer interval is narrowed down.
        let jump = along(&[0.0, 0.997, 1.0, 2.0], |t| f64::from(u8::from(t >= 1.0)));
        assert!(found(&jump, 0.1).contains(&f64::from(0.9985f32)));
    }
}
