//! Displacements and their weights as morph targets and tracks.

use super::normals::NormalDeltas;
use super::tracks::interpolation_of;
use crate::bake::BakedTarget;
use crate::bake::problem::Problem;
use crate::bake::problem::group::GroupMesh;
use crate::bake::solve::MeshSolution;
use crate::bake::solve::weight_ranges::{TargetRanges, WeightRange, is_byte, nearest_byte};
use crate::math::Worse;
use crate::mesh::Mesh;
use crate::skeleton::{Channel, Clip, JointId, Property};
use glam::{DVec3, Vec3};
use std::collections::BTreeMap;
use std::ops::Range;

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
    /// The ranges of the weights of displacements, then of further targets.
    ranges: Vec<WeightRange>,
    /// The number of ranges that belong to displacements; those after them belong to targets that only turn normals.
    n_displacements: usize,
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
        let is_signed = !problem.options.unipolar;
        let range_of = |i: usize| WeightRange::of(all().map(|w| w[i]), is_signed);
        let TargetRanges {
            by_displacement,
            scale,
        } = &solved.ranges;
        let n_displacements = by_displacement.len();
        let mut ranges = by_displacement.clone();
        ranges.extend((n_displacements..k).map(range_of));
        let offset = ranges.iter().any(|r| r.lowest < 0.0).then_some(1.0 / scale);
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
                positions: scaled(&positions[i], ranges[i].range),
                normals: scaled(of_normals(i), ranges[i].range),
            })
            .collect();
        if offset.is_some() {
            targets.push(BakedTarget {
                name: String::new(),
                positions: at_lowest(&positions, &ranges, *scale),
                normals: at_lowest(normals, &ranges, *scale),
            });
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
            n_displacements,
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
            ranges: vec![WeightRange::of([1.0].into_iter(), false); targets.len()],
            n_displacements: targets.len(),
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
                values.extend(ranges.map(|(w, range)| range.fraction(*w) as f32));
                values.extend(self.offset.map(|weight| weight as f32));
            }
            self.round_normals(&mut values);
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

    /// Rounds the weights of targets that only turn normals to 8 bits where those of displacements are.
    fn round_normals(&self, values: &mut [f32]) {
        let row = self.n_source + self.ranges.len() + usize::from(self.offset.is_some());
        let first = self.n_source + self.n_displacements;
        let turning = first..self.n_source + self.ranges.len();
        if self.n_source == 0 {
            round_columns(values, row, turning);
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

/// Vectors at ascending indices.
type Column = Vec<(u32, DVec3)>;

/// The entries of a target: vectors times its range, without zeros.
fn scaled(column: &[(u32, DVec3)], range: f64) -> Vec<(u32, Vec3)> {
    let scaled = column.iter().map(|&(i, b)| (i, (b * range).as_vec3()));
    scaled.filter(|(_, d)| *d != Vec3::ZERO).collect()
}

/// The entries of the target that adds all displacements at their lowest weights, times `scale`.
fn at_lowest(columns: &[Column], ranges: &[WeightRange], scale: f64) -> Vec<(u32, Vec3)> {
    let mut sums: BTreeMap<u32, DVec3> = BTreeMap::new();
    for (column, range) in columns.iter().zip(ranges) {
        for &(i, b) in column {
            *sums.entry(i).or_default() += b * range.lowest;
        }
    }
    let sums = sums.into_iter().map(|(i, d)| (i, (d * scale).as_vec3()));
    sums.filter(|(_, d)| *d != Vec3::ZERO).collect()
}

/// Rounds some columns of rows of weights to normalised 8-bit integers where all other columns are such integers and the
/// weights of these are within 0 - 1.
fn round_columns(values: &mut [f32], width: usize, columns: Range<usize>) {
    let fits = |(i, w): (usize, &f32)| {
        if columns.contains(&(i % width)) {
            (0.0..=1.0).contains(w)
        } else {
            is_byte(f64::from(*w))
        }
    };
    if columns.is_empty() || !values.iter().enumerate().all(fits) {
        return;
    }
    for row in values.chunks_exact_mut(width) {
        for w in &mut row[columns.clone()] {
            *w = nearest_byte(f64::from(*w)) as f32;
        }
    }
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
    fn weights_of_normals_are_rounded_where_the_others_are_bytes() {
        let rounded = |values: [f32; 4]| {
            let mut values = values;
            round_columns(&mut values, 2, 1..2);
            values
        };
        // Two rows of a displacement and a target that only turns normals.
        assert_eq!(
            rounded([1.0, 0.25, 0.0, 1.0]),
            [1.0, 64.0 / 255.0, 0.0, 1.0]
        );
        for kept in [[0.5, 0.25, 0.0, 1.0], [1.0, -0.25, 0.0, 1.0]] {
            assert_eq!(rounded(kept), kept);
        }
        let mut without = [0.25, -0.5];
        round_columns(&mut without, 1, 0..1);
        assert_eq!(without, [0.25, -0.5]);
    }
}
