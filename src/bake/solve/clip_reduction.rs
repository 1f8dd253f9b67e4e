//! The reduction of the keyframes of one clip: its tracks and their points as they stand.

use super::followers::{Followers, Moment};
use super::helper_tracks::{Helper, Keys, LocalTransform};
use super::key_sets::Keyframes;
use super::playback::{KeySolution, Playback};
use super::prices::TRACK_BYTES;
use crate::math::coprime_stride;
use crate::math::transform::normalize_or_identity;
use glam::{DQuat, DVec3};

/// Errors of clips that need not meet the tolerance may grow by this fraction of it.
const UNBOUND_SHARE: f64 = 0.15;
/// Orders of keyframes end where the deviation is below this fraction of the limit: all other keyframes are equal to
/// interpolation.
pub(super) const LEAST_DEVIATION: f64 = 0.02;
/// Bytes of a keyframe of the rotation, the translation and the scale of a helper.
pub(super) const KEY_BYTES: [f64; 3] = [8.0, 12.0, 12.0];
/// Times are checked in steps of this fraction of a clip, so that a set that does not do fails at one of the first.
const STRIDE: f64 = 0.618;

/// The keyframes of one property of a helper, `width` numbers each.
#[derive(Clone, Default)]
pub(super) struct Curve {
    /// Ascending; none: the rest value.
    pub(super) set: Vec<usize>,
    pub(super) values: Vec<f64>,
    pub(super) bytes: f64,
}

/// The weights of the displacements of a mesh in an instance.
pub(super) struct WeightCurve {
    pub(super) part: usize,
    pub(super) instance: usize,
    pub(super) d: usize,
    pub(super) k: usize,
    pub(super) set: Vec<usize>,
    /// At the keyframes of the set, k each.
    pub(super) values: Vec<f64>,
}

/// The reduction of one clip.
pub(super) struct Reduction<'r> {
    pub(super) followers: &'r Followers,
    pub(super) playback: &'r Playback<'r, 'r>,
    pub(super) clip: usize,
    pub(super) keys: Keyframes<'r>,
    pub(super) times: Vec<f64>,
    pub(super) moments: Vec<Moment>,
    /// The order in which times are checked.
    pub(super) checked: Vec<usize>,
    /// By joint set of the group, helper and property.
    pub(super) curves: Vec<Vec<[Curve; 3]>>,
    /// The same at all keyframes.
    pub(super) dense: Vec<Vec<[Curve; 3]>>,
    pub(super) weights: Vec<WeightCurve>,
    pub(super) limit: f64,
}

impl<'r> Reduction<'r> {
    /// The tracks of a clip with all keyframes.
    pub(super) fn new(
        followers: &'r Followers,
        playback: &'r Playback<'r, 'r>,
        clip: usize,
        keys: Keyframes<'r>,
        (times, moments): (Vec<f64>, Vec<Moment>),
        limit: f64,
    ) -> Self {
        let is_bound = playback.problem.corrected[clip];
        let limit = if is_bound {
            limit
        } else {
            UNBOUND_SHARE * limit
        };
        let n = keys.times.len();
        let curves = playback.helpers.iter().map(|helpers| {
            let of = |helper: &Helper| {
                let track = &helper.tracks[clip];
                let rotation = track.rotation.values.iter().flat_map(DQuat::to_array);
                let vectors = |keys: &Keys<DVec3>| -> Vec<f64> {
                    keys.values.iter().flat_map(DVec3::to_array).collect()
                };
                let values = [
                    rotation.collect(),
                    vectors(&track.translation),
                    vectors(&track.scale),
                ];
                let mut curves = [Curve::default(), Curve::default(), Curve::default()];
                for (i, (curve, values)) in curves.iter_mut().zip(values).enumerate() {
                    if !values.is_empty() {
                        curve.set = (0..n).collect();
                        curve.values = values;
                        curve.bytes = TRACK_BYTES + KEY_BYTES[i] * n as f64;
                    }
                }
                curves
            };
            helpers.iter().map(of).collect()
        });
        let curves: Vec<Vec<[Curve; 3]>> = curves.collect();
        // The multiples of a coprime stride reach all times.
        let m = times.len();
        let step = coprime_stride(((STRIDE * m as f64) as usize).max(1), m);
        Self {
            followers,
            playback,
            clip,
            keys,
            checked: (0..m).map(|i| i * step % m).collect(),
            times,
            moments,
            dense: curves.clone(),
            curves,
            weights: Self::weight_curves(playback, clip, keys),
            limit,
        }
    }

    /// The weights of instances whose tracks hold no weights of the source.
    fn weight_curves(
        playback: &Playback<'_, '_>,
        clip: usize,
        keys: Keyframes<'_>,
    ) -> Vec<WeightCurve> {
        let mut curves = Vec::new();
        let solutions = keys
            .times
            .iter()
            .map(|time| playback.weights.get(&(clip, time.to_bits())));
        let Some(solutions) = solutions.collect::<Option<Vec<&KeySolution>>>() else {
            return curves;
        };
        for (part, mesh) in playback.group.meshes.iter().enumerate() {
            let k = playback.bases[part].k();
            if k == 0 || !mesh.geometry.morphs.is_empty() || !playback.problem.corrected[clip] {
                continue;
            }
            for (instance, &d) in mesh.instances.iter().enumerate() {
                let values = solutions.iter().flat_map(|s| s.0[part][instance].iter());
                curves.push(WeightCurve {
                    part,
                    instance,
                    d,
                    k,
                    set: (0..keys.times.len()).collect(),
                    values: values.copied().collect(),
                });
            }
        }
        curves
    }

    /// The local transform of a helper in a player.
    pub(super) fn local(&self, helper: &Helper, curves: &[Curve; 3], secs: f64) -> LocalTransform {
        let mut local = helper.rest;
        let [rotation, translation, scale] = curves;
        if !rotation.set.is_empty() {
            let (k, share) = interval(&self.keys, &rotation.set, secs);
            let key = |k: usize| DQuat::from_slice(&rotation.values[4 * k..]);
            let next = key((k + 1).min(rotation.set.len() - 1));
            local.rotation = normalize_or_identity(key(k).slerp(next, share));
        }
        let vector = |curve: &Curve| {
            let (k, share) = interval(&self.keys, &curve.set, secs);
            let key = |k: usize| DVec3::from_slice(&curve.values[3 * k..]);
            key(k).lerp(key((k + 1).min(curve.set.len() - 1)), share)
        };
        if !translation.set.is_empty() {
            local.translation = vector(translation);
        }
        if !scale.set.is_empty() {
            local.scale = vector(scale);
        }
        local
    }
}

/// The values of a curve at a time, by linear interpolation.
pub(super) fn at(
    keys: &Keyframes<'_>,
    set: &[usize],
    values: &[f64],
    width: usize,
    secs: f64,
) -> Vec<f64> {
    let (k, share) = interval(keys, set, secs);
    let own = |k: usize| &values[k * width..(k + 1) * width];
    let next = (k + 1).min(set.len() - 1);
    let pairs = own(k).iter().zip(own(next));
    pairs.map(|(a, b)| a + (b - a) * share).collect()
}

/// The index in the set of the keyframe at or before a time, and the fraction of the interval after it.
pub(super) fn interval(keys: &Keyframes<'_>, set: &[usize], secs: f64) -> (usize, f64) {
    let time = |i: usize| f64::from(keys.times[set[i]]);
    let k = set.partition_point(|&k| f64::from(keys.times[k]) <= secs);
    let k = k.saturating_sub(1);
    if k + 1 >= set.len() || keys.stepped {
        return (k, 0.0);
    }
    let share = (secs - time(k)) / (time(k + 1) - time(k));
    (k, share.clamp(0.0, 1.0))
}
