//! Fewer keyframes for the weights of displacements in a clip.

use super::clip_reduction::{LEAST_DEVIATION, Reduction, at};
use super::key_sets::set_sizes;
use super::track_reduction::{TIME_BYTES, TIMES_BYTES};
use super::weight_ranges::{BYTES_OF_U8, BYTES_OF_U16, WeightRange, bytes_of_weight};
use crate::bake::problem::rows::blended;
use crate::math::Worse;
use glam::{DAffine3, Vec3};

impl Reduction<'_> {
    /// Gives the weights of an instance 8 bits where that is precise enough, and the fewest keyframes.
    pub(super) fn reduce_weights(&mut self, w: usize) {
        let curve = &self.weights[w];
        let k = curve.k;
        let dense: Vec<f64> = (self.keys.times.iter())
            .flat_map(|&time| at(&self.keys, &curve.set, &curve.values, k, f64::from(time)))
            .collect();
        let basis = &self.playback.bases[curve.part];
        let columns = basis.columns();
        let reach = columns.iter().map(|column| {
            let lengths = column.iter().map(|(_, b)| b.length());
            self.playback.unit_scale * lengths.fold(0.0, f64::worse)
        });
        let reach: Vec<f64> = reach.collect();
        let order = self
            .keys
            .order(LEAST_DEVIATION * self.limit, |(from, to), key, share| {
                let of = |(x, reach): (usize, &f64)| {
                    let (a, b) = (dense[from * k + x], dense[to * k + x]);
                    reach * (a + (b - a) * share - dense[key * k + x]).abs()
                };
                reach.iter().enumerate().map(of).fold(0.0, f64::worse)
            });
        self.round_weights(w);
        if self.playback.problem.options.unipolar {
            self.drop_keyframes(w, (&dense, &order), BYTES_OF_U8);
        }
        self.drop_keyframes(w, (&dense, &order), BYTES_OF_U16);
    }

    /// Takes the fewest keyframes, the first of `order`, with which no point exceeds the limit, if the weights take fewer bytes
    /// then. Weights take `of_weight` bytes each and are fitted to the `dense` ones.
    fn drop_keyframes(&mut self, w: usize, (dense, order): (&[f64], &[usize]), of_weight: f64) {
        let playback = self.playback;
        let curve = &self.weights[w];
        let (k, ranges) = (curve.k, &playback.ranges[curve.part].by_displacement);
        let now = bytes_of_weight(curve.values.chunks_exact(k), ranges) * curve.values.len() as f64;
        let bytes = |n: usize| TIMES_BYTES + (of_weight * k as f64 + TIME_BYTES) * n as f64;
        let n_firm = self.keys.firm.iter().filter(|firm| **firm).count();
        let mut sizes = set_sizes(n_firm, order.len());
        sizes.retain(|&n| bytes(n) < now);
        let (mut low, mut high) = (0, sizes.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            let mut set = order[..sizes[middle]].to_vec();
            set.sort_unstable();
            let mut values = self.keys.fit(dense, k, &set);
            if of_weight == BYTES_OF_U8 {
                round(&mut values, ranges, WeightRange::in_bytes);
            } else {
                round(&mut values, ranges, WeightRange::clamped);
            }
            if self.take_weights(w, set, values) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
    }

    /// Rounds the weights of an instance to 8 bits at the keyframes that they have, if no point exceeds the limit.
    pub(super) fn round_weights(&mut self, w: usize) {
        if self.playback.problem.options.unipolar {
            let curve = &self.weights[w];
            let (set, mut values) = (curve.set.clone(), curve.values.clone());
            let ranges = &self.playback.ranges[curve.part].by_displacement;
            round(&mut values, ranges, WeightRange::in_bytes);
            if values != curve.values {
                self.take_weights(w, set, values);
            }
        }
    }

    /// Takes weights if no point exceeds the limit, or its present error where that is larger.
    fn take_weights(&mut self, w: usize, set: Vec<usize>, values: Vec<f64>) -> bool {
        let curve = &self.weights[w];
        let limit = (self.limit * self.limit) as f32;
        let own: Vec<usize> = (0..self.followers.all.len())
            .filter(|&f| {
                let follower = &self.followers.all[f];
                (follower.part, follower.d) == (curve.part, curve.d)
            })
            .collect();
        let basis = &self.playback.bases[curve.part];
        // The change of each follower's position at bind, and of its error.
        let changes = |t: usize| -> Vec<(usize, Vec3, Vec3)> {
            let secs = self.times[t];
            let before = at(&self.keys, &curve.set, &curve.values, curve.k, secs);
            let mut change = at(&self.keys, &set, &values, curve.k, secs);
            change.iter_mut().zip(before).for_each(|(a, b)| *a -= b);
            let joint_set = own.first().map_or(0, |&f| self.followers.all[f].joint_set);
            let matrices = self.matrices(joint_set, t);
            let of = |&f: &usize| {
                let follower = &self.followers.all[f];
                let moved = basis.displacement(follower.place, &change);
                let row = &self.playback.rows[follower.part][follower.place];
                let error = blended(row, &matrices).matrix3 * moved;
                (f, moved.as_vec3(), error.as_vec3())
            };
            own.iter().map(of).collect()
        };
        let does = self.checked.iter().all(|&t| {
            changes(t).into_iter().all(|(f, _, error)| {
                let old = self.moments[t].errors[f];
                (old - error).length_squared() <= limit.max(old.length_squared())
            })
        });
        if !does {
            return false;
        }
        let all: Vec<Vec<(usize, Vec3, Vec3)>> = (0..self.times.len()).map(changes).collect();
        for (moment, changes) in self.moments.iter_mut().zip(all) {
            for (f, moved, error) in changes {
                moment.positions[f] += moved;
                moment.errors[f] -= error;
            }
        }
        let curve = &mut self.weights[w];
        (curve.set, curve.values) = (set, values);
        true
    }

    /// The matrices of joints and helpers of a joint set.
    fn matrices(&self, i: usize, t: usize) -> Vec<DAffine3> {
        let moment = &self.moments[t];
        let mut matrices = moment.joints[i].clone();
        if let Some(curves) = self.curves.get(i) {
            let helpers = self.playback.helpers[i].iter().zip(curves);
            let helpers = helpers.zip(&moment.parents[i]);
            matrices.extend(helpers.map(|((helper, curves), parent)| {
                *parent
                    * self.local(helper, curves, self.times[t]).to_affine()
                    * helper.inverse_bind
            }));
        }
        matrices
    }
}

/// Replaces weights, row by row, by what `to` makes of them in their ranges.
fn round(values: &mut [f64], ranges: &[WeightRange], to: impl Fn(WeightRange, f64) -> f64) {
    for (value, range) in values.iter_mut().zip(ranges.iter().cycle()) {
        *value = to(*range, *value);
    }
}
