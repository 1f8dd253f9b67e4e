//! The keyframes of a channel, adapted to the requirements of glTF.

use crate::document::repairs::is_unit;
use crate::finding::Finding;
use crate::skeleton::{Channel, Interpolation, Property};

/// Keyframes ready to be written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Keys {
    pub(super) property: Property,
    pub(super) interpolation: Interpolation,
    /// Strictly ascending, seconds.
    pub(super) times: Vec<f32>,
    pub(super) values: Vec<f32>,
}

/// The keyframes of `channel`, repaired where glTF is stricter than the document; `None` if none are left.
pub(super) fn fit(channel: &Channel, place: &str, findings: &mut Vec<Finding>) -> Option<Keys> {
    if channel.times.is_empty() || channel.values.is_empty() {
        return None;
    }
    let mut keys = Keys {
        property: channel.property,
        interpolation: channel.interpolation,
        times: channel.times.to_vec(),
        values: channel.values.to_vec(),
    };
    if keys.times[0] < 0.0 {
        findings.push(Finding::warning(
            place,
            "It has keyframes before 0 seconds, which most players do not show.",
        ));
    }
    separate(&mut keys.times);
    if keys.interpolation == Interpolation::CubicSpline && keys.times.len() == 1 {
        // A spline needs two keyframes (glTF 2.0, appendix C.4); a single one is a constant.
        keys.values = channel.key(0).to_vec();
        keys.interpolation = Interpolation::Linear;
    }
    if keys.property == Property::Rotation && keys.interpolation != Interpolation::CubicSpline {
        make_unit(&mut keys.values);
    }
    Some(keys)
}

/// Makes ascending times strictly ascending: later ones of equal times move to the next f32, so that a jump stays a
/// jump.
fn separate(times: &mut [f32]) {
    for k in 1..times.len() {
        if times[k] <= times[k - 1] {
            times[k] = times[k - 1].next_up();
        }
    }
}

/// Normalises quaternions to unit length. Sampling does the same, so the motion is unchanged.
fn make_unit(values: &mut [f32]) {
    for q in values.chunks_exact_mut(4) {
        if is_unit(q) {
            continue;
        }
        let length = q.iter().map(|x| x * x).sum::<f32>().sqrt();
        if length > 1e-20 {
            for x in q {
                *x /= length;
            }
        } else {
            q.copy_from_slice(&[0.0, 0.0, 0.0, 1.0]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skeleton::JointId;

    fn fitted(interpolation: Interpolation, times: &[f32], values: &[f32]) -> Keys {
        let channel = Channel {
            joint: JointId(0),
            property: Property::Rotation,
            interpolation,
            times: times.into(),
            values: values.into(),
        };
        fit(&channel, "clip", &mut Vec::new()).unwrap()
    }

    #[test]
    fn equal_times_become_a_jump() {
        let mut times = [0.0, 1.0, 1.0, 1.0, 2.0];
        separate(&mut times);
        assert!(times.is_sorted_by(|a, b| a < b), "{times:?}");
        assert_eq!((times[1], times[4]), (1.0, 2.0));
        assert!(times[3] < 1.000001);
    }

    #[test]
    fn a_spline_of_one_key_is_a_constant() {
        let values = [9., 9., 9., 9., 0., 0., 0., 1., 9., 9., 9., 9.];
        let keys = fitted(Interpolation::CubicSpline, &[0.5], &values);
        assert_eq!(keys.interpolation, Interpolation::Linear);
        assert_eq!(keys.values, [0., 0., 0., 1.]);
    }

    #[test]
    fn quaternions_are_scaled_only_where_their_length_is_off() {
        let keys = fitted(
            Interpolation::Linear,
            &[0.0, 1.0],
            &[0., 0., 3., 4., 0., 0.6, 0., 0.8001],
        );
        assert_eq!(keys.values, [0., 0., 0.6, 0.8, 0., 0.6, 0., 0.8001]);
    }
}
