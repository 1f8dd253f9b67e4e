//! Fewer keyframes for the tracks of a helper joint in a clip.

use super::clip_reduction::{Curve, KEY_BYTES, LEAST_DEVIATION, Reduction};
use super::helper_tracks::{angle, quantised};
use super::key_sets::set_sizes;
use super::prices::TRACK_BYTES;
use crate::math::Worse;
use crate::math::transform::normalize_or_identity;
use glam::{DMat3, DQuat, DVec3, Vec3};
use std::collections::BTreeMap;

/// Bytes of keyframe times of a track's own: an accessor, and a float each.
pub(super) const TIMES_BYTES: f64 = 115.0;
pub(super) const TIME_BYTES: f64 = 4.0;
/// Numbers of a keyframe of each.
const WIDTHS: [usize; 3] = [4, 3, 3];
/// The largest rotation of a helper against its motion at all keyframes: below half a degree shading is not visibly
/// different.
const MAX_TURN_DEGREES: f64 = 0.5;

/// A track: the joint set of the group, the helper and the property.
type TrackPlace = (usize, usize, usize);

impl Reduction<'_> {
    /// The order of keyframes by the largest deviation of any track.
    pub(super) fn shared_order(&self) -> Vec<usize> {
        let mut tracks = Vec::new();
        for (helpers, effects) in self.dense.iter().zip(&self.followers.effects) {
            for (curves, effects) in helpers.iter().zip(effects) {
                for (property, curve) in curves.iter().enumerate() {
                    if !curve.values.is_empty() {
                        tracks.push((&curve.values, property, effects[property]));
                    }
                }
            }
        }
        self.keys
            .order(LEAST_DEVIATION * self.limit, |pair, k, share| {
                let of = |&(values, property, effect): &(&Vec<f64>, usize, f64)| {
                    effect * deviation(values, property, pair, k, share)
                };
                tracks.iter().map(of).fold(0.0, f64::worse)
            })
    }

    /// Gives a track the fewest bytes.
    pub(super) fn reduce(&mut self, i: usize, h: usize, property: usize, shared: &[usize]) {
        let now = self.curves[i][h][property].bytes;
        if now <= 0.0 {
            return;
        }
        let none = Curve::default();
        if self.take(i, h, property, none) {
            return;
        }
        let values = &self.dense[i][h][property].values;
        let constant = Curve {
            set: vec![0],
            values: mean(values, property),
            bytes: TRACK_BYTES + KEY_BYTES[property],
        };
        if constant.bytes < now && self.take(i, h, property, constant) {
            return;
        }
        let key = KEY_BYTES[property];
        self.shorten(i, h, property, shared, |n| TRACK_BYTES + key * n as f64);
        // Times of its own are worth their bytes only where they save as many.
        let now = self.curves[i][h][property].bytes;
        let n_firm = self.keys.firm.iter().filter(|firm| **firm).count();
        let price = |n: usize| TRACK_BYTES + TIMES_BYTES + (key + TIME_BYTES) * n as f64;
        if price(n_firm) < now {
            let effect = self.followers.effects[i][h][property];
            let values = &self.dense[i][h][property].values;
            let least = LEAST_DEVIATION * self.limit;
            let own = self.keys.order(least, |pair, k, share| {
                effect * deviation(values, property, pair, k, share)
            });
            self.shorten(i, h, property, &own, price);
        }
    }

    /// Moves the tracks of sets that few use to the next larger one, where that takes fewer bytes than times of their own.
    pub(super) fn merge_sets(&mut self) {
        let mut users: BTreeMap<(usize, Vec<usize>), Vec<TrackPlace>> = BTreeMap::new();
        for (i, helpers) in self.curves.iter().enumerate() {
            for (h, curves) in helpers.iter().enumerate() {
                for (property, curve) in curves.iter().enumerate() {
                    let n = curve.set.len();
                    if n > 1 {
                        let tracks = users.entry((n, curve.set.clone())).or_default();
                        tracks.push((i, h, property));
                    }
                }
            }
        }
        let mut sets: Vec<(Vec<usize>, Vec<TrackPlace>)> = users
            .into_iter()
            .map(|((_, set), users)| (set, users))
            .collect();
        for s in 0..sets.len().saturating_sub(1) {
            let n = sets[s].0.len() as f64;
            let larger = sets[s + 1].0.clone();
            let more = larger.len() as f64 - n;
            let keys = sets[s].1.iter().map(|track| KEY_BYTES[track.2]);
            let price = more * keys.sum::<f64>();
            if price >= TIMES_BYTES + TIME_BYTES * n {
                continue;
            }
            let tracks = std::mem::take(&mut sets[s].1);
            let moved = tracks.into_iter().filter(|&(i, h, property)| {
                let bytes = TRACK_BYTES + KEY_BYTES[property] * larger.len() as f64;
                let curve = self.fitted((i, h, property), larger.clone(), bytes);
                self.take(i, h, property, curve)
            });
            let moved: Vec<TrackPlace> = moved.collect();
            sets[s + 1].1.extend(moved);
        }
    }

    /// The curve of a property of a helper at the keyframes of a set.
    fn fitted(&self, (i, h, property): TrackPlace, set: Vec<usize>, bytes: f64) -> Curve {
        let dense = &self.dense[i][h][property].values;
        let mut values = self.keys.fit(dense, WIDTHS[property], &set);
        as_stored(&mut values, property);
        Curve { set, values, bytes }
    }

    /// Takes the shortest set in this order that does, if it takes fewer bytes than now.
    fn shorten(
        &mut self,
        i: usize,
        h: usize,
        property: usize,
        order: &[usize],
        price: impl Fn(usize) -> f64,
    ) {
        let now = self.curves[i][h][property].bytes;
        let n_firm = self.keys.firm.iter().filter(|firm| **firm).count();
        let mut sizes = set_sizes(n_firm, order.len());
        sizes.retain(|&n| price(n) < now);
        let (mut low, mut high) = (0, sizes.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            let mut set = order[..sizes[middle]].to_vec();
            set.sort_unstable();
            let curve = self.fitted((i, h, property), set, price(sizes[middle]));
            if self.take(i, h, property, curve) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
    }

    /// Takes a curve if no follower of the helper exceeds the limit, or its present error where that is larger.
    fn take(&mut self, i: usize, h: usize, property: usize, curve: Curve) -> bool {
        let limit = (self.limit * self.limit) as f32;
        let followers = &self.followers.of_helper[i][h];
        let before = &self.curves[i][h];
        let after = {
            let mut after = before.clone();
            after[property] = curve;
            after
        };
        let does = self.checked.iter().all(|&t| {
            let moment = &self.moments[t];
            let is_near = || self.turned(i, h, &after, t).to_degrees() <= MAX_TURN_DEGREES;
            if property == 0 && !is_near() {
                return false;
            }
            let change = self.change(i, h, before, &after, t);
            followers.iter().all(|&(index, weight)| {
                let old = moment.errors[index as usize];
                let new = old - moved(&change, moment.positions[index as usize]) * weight;
                new.length_squared() <= limit.max(old.length_squared())
            })
        });
        if !does {
            return false;
        }
        for t in 0..self.times.len() {
            let change = self.change(i, h, &self.curves[i][h], &after, t);
            let moment = &mut self.moments[t];
            for &(index, weight) in followers {
                let index = index as usize;
                moment.errors[index] -= moved(&change, moment.positions[index]) * weight;
            }
        }
        self.curves[i][h] = after;
        true
    }

    /// The angle between a helper's rotation and that of all keyframes at a time, radians.
    fn turned(&self, i: usize, h: usize, after: &[Curve; 3], t: usize) -> f64 {
        let helper = &self.playback.helpers[i][h];
        let secs = self.times[t];
        let dense = self.local(helper, &self.dense[i][h], secs).rotation;
        angle(self.local(helper, after, secs).rotation, dense)
    }

    /// What the matrix of a helper changes by at a time, from some curves to others.
    fn change(
        &self,
        i: usize,
        h: usize,
        before: &[Curve; 3],
        after: &[Curve; 3],
        t: usize,
    ) -> (DMat3, DVec3) {
        let helper = &self.playback.helpers[i][h];
        let parent = self.moments[t].parents[i][h];
        let secs = self.times[t];
        let from = parent * self.local(helper, before, secs).to_affine() * helper.inverse_bind;
        let to = parent * self.local(helper, after, secs).to_affine() * helper.inverse_bind;
        (to.matrix3 - from.matrix3, to.translation - from.translation)
    }
}

/// What a change of a matrix moves a position by.
fn moved(change: &(DMat3, DVec3), position: Vec3) -> Vec3 {
    change.0.as_mat3() * position + change.1.as_vec3()
}

/// How far a keyframe lies from an interpolation of two others: radians, or units of the property.
fn deviation(
    values: &[f64],
    property: usize,
    (from, to): (usize, usize),
    k: usize,
    share: f64,
) -> f64 {
    if property == 0 {
        let key = |k: usize| DQuat::from_slice(&values[4 * k..]);
        // Straight interpolation is near enough to choose keyframes by.
        let between = normalize_or_identity(key(from).lerp(key(to), share));
        return angle(between, key(k));
    }
    let key = |k: usize| DVec3::from_slice(&values[3 * k..]);
    key(from).lerp(key(to), share).distance(key(k))
}

/// The mean of all keyframes, as a file stores it.
fn mean(values: &[f64], property: usize) -> Vec<f64> {
    let width = WIDTHS[property];
    let n = (values.len() / width).max(1) as f64;
    let mut mean = vec![0.0; width];
    for value in values.chunks_exact(width) {
        mean.iter_mut().zip(value).for_each(|(m, x)| *m += x / n);
    }
    as_stored(&mut mean, property);
    mean
}

/// Rounds values as a file stores them; rotations are normalised.
fn as_stored(values: &mut [f64], property: usize) {
    if property == 0 {
        for q in values.as_chunks_mut::<4>().0 {
            let unit = normalize_or_identity(DQuat::from_array(*q));
            *q = quantised(unit).to_array();
        }
    } else {
        for x in values {
            *x = f64::from(*x as f32);
        }
    }
}
