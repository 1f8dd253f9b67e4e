//! Displacements and their weights as morph targets and tracks.

use super::normals::NormalDeltas;
use super::tracks::interpolation_of;
use crate::bake::BakedTarget;
use crate::bake::problem::Problem;
use crate::bake::problem::group::GroupMesh;
use crate::bake::solve::MeshSolution;
use crate::math::Worse;
use crate::mesh::Mesh;
use crate::skeleton::{Channel, Clip, JointId, Property};
use glam::{DVec3, Vec3};
use std::collections::BTreeMap;

/// A clip gets no weights track where all targets together move points by less than this fraction of the tolerance.
const NEGLIGIBLE: f64 = 0.02;
/// Nor where they turn normals by less than this, radians.
const NEGLIGIBLE_TURN: f64 = 0.01;

/// The morph targets of a mesh and the affine map of their weights.
pub(crate) struct MorphTargets<'a> {
    pub(crate) targets: Vec<BakedTarget>,
    /// By instance, clip, keyframe: the weight of each displacement.
    weights: &'a [Vec<Vec<Vec<f64>>>],
    /// By instance and clip: the keyframes that stay; `None`, or no entry: all.
    kept: &'a [Vec<Option<Vec<usize>>>],
    /// The lowest weight and the range of each displacement: the target is the displacement times the range, its
    /// weight `(w - lowest) / range`.
    ranges: Vec<(f64, f64)>,
    /// The constant weight of a last target, which adds the displacements at their lowest weights.
    offset: Option<f64>,
    /// The largest length of each displacement, bind space.
    reach: Vec<f64>,
    /// The largest length of the normal deltas of each.
    turns: Vec<f64>,
    /// The scale from bind space to the world.
    unit_scale: f64,
    n_source: usize,
}

impl<'a> MorphTargets<'a> {
    pub(crate) fn of(
        part: &GroupMesh,
        solved: &'a MeshSolution,
        normal_deltas: &NormalDeltas,
        unit_scale: f64,
        problem: &Problem<'_>,
    ) -> Self {
        let k = solved.basis.k();
        let all = || solved.weights.iter().flatten().flatten();
        let ranges: Vec<(f64, f64)> = (0..k)
            .map(|i| {
                let low = all().map(|w| w[i]).fold(0.0, f64::min);
                let high = all().map(|w| w[i]).fold(0.0, f64::max);
                // A displacement of constant weight 0: any range will do.
                let range = if problem.options.unipolar {
                    high - low
                } else {
                    high.max(-low)
                };
                let range = if range > 0.0 { range } else { 1.0 };
                (if problem.options.unipolar { low } else { 0.0 }, range)
            })
            .collect();
        let mut ranges = ranges;
        let mut offset = ranges.iter().any(|r| r.0 < 0.0).then_some(1.0);
        let places = solved.basis.columns();
        let point_of = |&(place, b): &(u32, DVec3)| (part.active[place as usize], b);
        let positions: Vec<Column> = places
            .iter()
            .map(|column| column.iter().map(point_of).collect())
            .collect();
        let normals = &normal_deltas.columns;
        let of_normals = |i: usize| normals.get(i).map_or(&[][..], Vec::as_slice);
        let mut targets: Vec<BakedTarget> = (0..k)
            .map(|i| BakedTarget {
                name: String::new(),
                positions: scaled(&positions[i], ranges[i].1),
                normals: scaled(of_normals(i), ranges[i].1),
            })
            .collect();
        if offset.is_some() {
            targets.push(BakedTarget {
                name: String::new(),
                positions: at_lowest(&positions, &ranges),
                normals: at_lowest(normals, &ranges),
            });
        }
        if problem.options.quantize {
            let widths = ranges.iter_mut().map(|range| &mut range.1);
            // The weights are divided by what the targets are multiplied by.
            let mut inverse = offset;
            let precision = Precision {
                rounding: ROUNDING_SHARE * problem.tolerance / unit_scale,
                within_one: targets
                    .iter()
                    .all(|target| largest(&target.positions) <= 1.0),
            };
            for (target, width) in targets.iter_mut().zip(widths.chain(&mut inverse)) {
                *width *= fill_range(target, precision);
            }
            offset = inverse.map(f64::recip);
        }
        let longest = |column: &[(u32, DVec3)]| -> f64 {
            let lengths = column.iter().map(|(_, b)| b.length());
            lengths.fold(0.0, f64::worse)
        };
        Self {
            reach: positions.iter().map(|column| longest(column)).collect(),
            turns: (0..k).map(|i| longest(of_normals(i))).collect(),
            targets,
            weights: &solved.weights,
            kept: &solved.kept,
            ranges,
            offset,
            unit_scale,
            n_source: part.geometry.morphs.len(),
        }
    }

    /// Finished targets, with their weights by instance, clip, keyframe.
    pub(crate) fn of_samples(
        targets: Vec<BakedTarget>,
        weights: &'a [Vec<Vec<Vec<f64>>>],
        geometry: &Mesh,
        unit_scale: f64,
    ) -> Self {
        let reach = targets.iter().map(|target| {
            let lengths = target.positions.iter().map(|(_, d)| f64::from(d.length()));
            lengths.fold(0.0, f64::worse)
        });
        Self {
            reach: reach.collect(),
            turns: Vec::new(),
            ranges: vec![(0.0, 1.0); targets.len()],
            targets,
            weights,
            kept: &[],
            offset: None,
            unit_scale,
            n_source: geometry.morphs.len(),
        }
    }

    /// Adds weights tracks of instance `d` (the mesh's `instance`-th) to the tracks of each clip. `stepped`: the clips in
    /// which they hold their values between keyframes.
    pub(crate) fn add_channels(
        &self,
        problem: &Problem<'_>,
        d: usize,
        instance: usize,
        (keys, stepped): (&[Vec<f32>], &[bool]),
        tracks: &mut [Vec<Channel>],
    ) {
        if self.targets.is_empty() {
            return;
        }
        let drawn = &problem.sampler.instances[d];
        let rest = problem
            .sampler
            .document
            .rest_pose()
            .morph_weights
            .get(drawn.node.get());
        let mut rest = rest.cloned().unwrap_or_default();
        rest.resize(self.n_source, 0.0);
        for (clip, tracks) in tracks.iter_mut().enumerate() {
            let weights = &self.weights[instance][clip];
            let source = morph_channel(problem.clips.written[clip], drawn.node);
            if weights.is_empty() || self.is_negligible(weights, problem) {
                tracks.extend(source.map(|channel| self.widened(channel)));
                continue;
            }
            let kept = self
                .kept
                .get(instance)
                .and_then(|clips| clips[clip].as_ref());
            let all = || (0..keys[clip].len().min(weights.len())).collect();
            let kept: Vec<usize> = kept.cloned().unwrap_or_else(all);
            let mut values = Vec::new();
            let mut times = Vec::with_capacity(kept.len());
            let mut own = vec![0.0; self.n_source];
            for (time, weights) in kept.iter().map(|&k| (keys[clip][k], &weights[k])) {
                times.push(time);
                for (own, rest) in own.iter_mut().zip(&rest) {
                    *own = f64::from(*rest);
                }
                if let Some(channel) = source {
                    let width = channel.width().min(own.len());
                    if channel.width() == self.n_source {
                        channel.sample(f64::from(time), &mut own[..width]);
                    }
                }
                values.extend(own.iter().map(|w| *w as f32));
                let ranges = weights.iter().zip(&self.ranges);
                values.extend(ranges.map(|(w, (low, range))| ((w - low) / range) as f32));
                values.extend(self.offset.map(|weight| weight as f32));
            }
            tracks.push(Channel {
                joint: drawn.node,
                property: Property::MorphWeights,
                interpolation: interpolation_of(stepped[clip]),
                times: times.into(),
                values: values.into(),
            });
        }
    }

    /// Adds the source's weights tracks of nodes that draw the mesh without a skin, with weights 0 for the new
    /// targets.
    pub(crate) fn widen_others(
        &self,
        problem: &Problem<'_>,
        part: &GroupMesh,
        tracks: &mut [Vec<Channel>],
    ) {
        if self.targets.is_empty() {
            return;
        }
        let sampler = problem.sampler;
        let is_drawn = |node| {
            part.instances
                .iter()
                .any(|&d| sampler.instances[d].node == node)
        };
        for instance in sampler.document.instances().values() {
            if instance.mesh != part.mesh || is_drawn(instance.joint) {
                continue;
            }
            for (clip, tracks) in tracks.iter_mut().enumerate() {
                let source = morph_channel(problem.clips.written[clip], instance.joint);
                tracks.extend(source.map(|channel| self.widened(channel)));
            }
        }
    }

    fn is_negligible(&self, weights: &[Vec<f64>], problem: &Problem<'_>) -> bool {
        let largest = |reach: &[f64]| {
            let of = |w: &Vec<f64>| -> f64 {
                let pairs = w.iter().zip(reach);
                pairs.map(|(w, reach)| w.abs() * reach).sum()
            };
            weights.iter().map(of).fold(0.0, f64::worse)
        };
        largest(&self.reach) * self.unit_scale < NEGLIGIBLE * problem.tolerance
            && largest(&self.turns) < NEGLIGIBLE_TURN
    }

    /// A weights track of the source with weights 0 for the new targets.
    fn widened(&self, channel: &Channel) -> Channel {
        let new = self.targets.len();
        let width = self.n_source.max(1);
        let rows = channel.values.chunks(width);
        let values = rows.flat_map(|row| row.iter().copied().chain(std::iter::repeat_n(0.0, new)));
        Channel {
            values: values.collect(),
            ..channel.clone()
        }
    }
}

/// The precision required of morph targets that are stored as normalised 16-bit integers.
#[derive(Clone, Copy)]
struct Precision {
    /// The largest rounding error allowed for a displacement, bind space.
    rounding: f64,
    /// Whether all weights are within 0 - 1, so that every track of the mesh stores them in 16 bits.
    within_one: bool,
}

/// Half the quantisation step of a normalised 16-bit integer.
const HALF_STEP: f64 = 0.5 / 32767.0;
/// The rounding error of a displacement may reach this fraction of the tolerance.
const ROUNDING_SHARE: f64 = 0.03;

/// The largest absolute component of these entries.
fn largest(entries: &[(u32, Vec3)]) -> f64 {
    let all = entries.iter().map(|(_, d)| d.abs().max_element());
    f64::from(all.fold(0.0, f32::worse))
}

/// Scales a target for accessors of normalised 16-bit integers and returns the factor; the caller divides the weights by it.
/// Displacements stay within -1 - 1 and, if their largest component m is at most 1, weights stay within 0 - 1. Both are most
/// precise at the factor 1 / sqrt(m), where both reach sqrt(m). Normal deltas share the weights and may exceed 1 at this
/// factor; a smaller one keeps them within 1 if displacements remain precise enough. Normal deltas that exceed 1 are written
/// as floats.
fn fill_range(target: &mut BakedTarget, precision: Precision) -> f64 {
    let (moved, turned) = (largest(&target.positions), largest(&target.normals));
    let least = if precision.within_one { 1.0 } else { 0.0 };
    let of_normals = turned.recip().max(least);
    let factor = if moved > 1.0 {
        moved.recip()
    } else if moved > 0.0 {
        let best = moved.sqrt().recip();
        let smaller = of_normals.min(best);
        if HALF_STEP <= precision.rounding * smaller {
            smaller
        } else {
            best
        }
    } else {
        of_normals
    };
    if !factor.is_finite() || factor <= 0.0 {
        return 1.0;
    }
    let all = target.positions.iter_mut().chain(&mut target.normals);
    for (_, d) in all {
        *d *= factor as f32;
    }
    f64::from(factor as f32)
}

/// Vectors at ascending indices.
type Column = Vec<(u32, DVec3)>;

/// The entries of a target: vectors times its range, without zeros.
fn scaled(column: &[(u32, DVec3)], range: f64) -> Vec<(u32, Vec3)> {
    let scaled = column.iter().map(|&(i, b)| (i, (b * range).as_vec3()));
    scaled.filter(|(_, d)| *d != Vec3::ZERO).collect()
}

/// The entries of the target that adds all displacements at their lowest weights.
fn at_lowest(columns: &[Column], ranges: &[(f64, f64)]) -> Vec<(u32, Vec3)> {
    let mut sums: BTreeMap<u32, DVec3> = BTreeMap::new();
    for (column, (lowest, _)) in columns.iter().zip(ranges) {
        for &(i, b) in column {
            *sums.entry(i).or_default() += b * *lowest;
        }
    }
    let sums = sums.into_iter().map(|(i, d)| (i, d.as_vec3()));
    sums.filter(|(_, d)| *d != Vec3::ZERO).collect()
}

/// The weights channel of a node in a clip; the last of duplicates.
fn morph_channel(clip: &Clip, node: JointId) -> Option<&Channel> {
    let is = |c: &&Channel| c.joint == node && c.property == Property::MorphWeights;
    clip.channels.iter().rfind(is)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_bits_are_shared_by_a_target_and_its_weights() {
        let target = |moved: f32, turned: f32| BakedTarget {
            name: String::new(),
            positions: vec![(0, Vec3::new(0.0, -moved, 0.0))],
            normals: vec![(0, Vec3::X * turned)],
        };
        let (fine, coarse) = (1e-6, 1e-4);
        for (moved, turned, rounding, within_one, factor) in [
            (0.04, 0.0, coarse, true, 5.0),
            (0.04, 0.1, coarse, true, 5.0),
            // Normal deltas stay within 1 if displacements remain precise enough.
            (0.04, 0.5, coarse, true, 2.0),
            (0.04, 0.5, fine, true, 5.0),
            // A factor below 1 would raise weights above 1: it is used only if other weights exceed 1 anyway.
            (0.04, 2.0, coarse, true, 1.0),
            (0.04, 2.0, coarse, false, 0.5),
            (0.0, 0.5, coarse, true, 2.0),
            (0.0, 2.0, coarse, true, 1.0),
            (0.0, 2.0, coarse, false, 0.5),
            (4.0, 0.1, coarse, false, 0.25),
        ] {
            let precision = Precision {
                rounding,
                within_one,
            };
            let mut scaled = target(moved, turned);
            let found = fill_range(&mut scaled, precision);
            assert!((found - factor).abs() < 1e-6, "{moved} {turned}: {found}");
            assert!((scaled.positions[0].1.y + moved * factor as f32).abs() < 1e-6);
            assert!((scaled.normals[0].1.x - turned * factor as f32).abs() < 1e-6);
            assert!(scaled.positions[0].1.y >= -1.0);
        }
        let precision = Precision {
            rounding: coarse,
            within_one: true,
        };
        assert_eq!(fill_range(&mut BakedTarget::default(), precision), 1.0);
    }
}
