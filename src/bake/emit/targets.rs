//! Displacements and their weights as morph targets and tracks.

use super::normals::NormalDeltas;
use super::tracks::interpolation_of;
use crate::bake::BakedTarget;
use crate::bake::problem::Problem;
use crate::bake::problem::group::GroupMesh;
use crate::bake::solve::MeshSolution;
use crate::mesh::Mesh;
use crate::skeleton::{Channel, Clip, JointId, Property};
use glam::{DVec3, Vec3};

/// A clip gets no weights track where all targets together move points by less than this fraction of the tolerance.
const NEGLIGIBLE: f64 = 0.02;

/// The morph targets of a mesh and the affine map of their weights.
pub(crate) struct MorphTargets<'a> {
    pub(crate) targets: Vec<BakedTarget>,
    solved: &'a MeshSolution,
    /// The lowest weight and the range of each displacement: the target is the displacement times the range, its
    /// weight `(w - lowest) / range`.
    ranges: Vec<(f64, f64)>,
    /// Whether a last target, always at weight 1, adds the displacements at their lowest weights.
    offset: bool,
    /// The largest length of each displacement, bind space.
    reach: Vec<f64>,
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
        let k = solved.k;
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
        let offset = ranges.iter().any(|r| r.0 < 0.0);
        let entries = |d: &dyn Fn(&[DVec3]) -> DVec3| BakedTarget {
            name: String::new(),
            positions: entries(&part.active, k, &solved.b, d),
            normals: entries(&normal_deltas.normals, k, &normal_deltas.d, d),
        };
        let mut targets: Vec<BakedTarget> = (0..k)
            .map(|i| entries(&|b: &[DVec3]| b[i] * ranges[i].1))
            .collect();
        if offset {
            let lowest = |b: &[DVec3]| b.iter().zip(&ranges).map(|(b, r)| *b * r.0).sum();
            targets.push(entries(&lowest));
        }
        let reach = (0..k).map(|i| {
            let lengths = solved
                .b
                .iter()
                .skip(i)
                .step_by(k.max(1))
                .map(|b| b.length());
            lengths.fold(0.0, f64::max)
        });
        Self {
            reach: reach.collect(),
            targets,
            solved,
            ranges,
            offset,
            unit_scale,
            n_source: part.geometry.morphs.len(),
        }
    }

    /// Finished targets, with the weights of their tracks in `solved`.
    pub(crate) fn of_samples(
        targets: Vec<BakedTarget>,
        solved: &'a MeshSolution,
        geometry: &Mesh,
        unit_scale: f64,
    ) -> Self {
        let reach = targets.iter().map(|target| {
            let lengths = target.positions.iter().map(|(_, d)| f64::from(d.length()));
            lengths.fold(0.0, f64::max)
        });
        Self {
            reach: reach.collect(),
            ranges: vec![(0.0, 1.0); targets.len()],
            targets,
            solved,
            offset: false,
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
            let weights = &self.solved.weights[instance][clip];
            let source = morph_channel(problem.clips.written[clip], drawn.node);
            if weights.is_empty() || self.is_negligible(weights, problem) {
                tracks.extend(source.map(|channel| self.widened(channel)));
                continue;
            }
            let mut values = Vec::new();
            let mut own = vec![0.0; self.n_source];
            for (&time, weights) in keys[clip].iter().zip(weights) {
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
                values.extend(self.offset.then_some(1.0));
            }
            tracks.push(Channel {
                joint: drawn.node,
                property: Property::MorphWeights,
                interpolation: interpolation_of(stepped[clip]),
                times: keys[clip].as_slice().into(),
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
        let largest = weights.iter().map(|w| {
            w.iter()
                .zip(&self.reach)
                .map(|(w, reach)| w.abs() * reach)
                .sum::<f64>()
        });
        largest.fold(0.0, f64::max) * self.unit_scale < NEGLIGIBLE * problem.tolerance
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

/// The entries of a target: `d` of the k vectors of each index, without zeros.
fn entries(
    indices: &[u32],
    k: usize,
    vectors: &[DVec3],
    d: &dyn Fn(&[DVec3]) -> DVec3,
) -> Vec<(u32, Vec3)> {
    let made = indices.iter().zip(vectors.chunks_exact(k.max(1)));
    made.map(|(&index, vectors)| (index, d(vectors).as_vec3()))
        .filter(|(_, d)| *d != Vec3::ZERO)
        .collect()
}

/// The weights channel of a node in a clip; the last of duplicates.
fn morph_channel(clip: &Clip, node: JointId) -> Option<&Channel> {
    let is = |c: &&Channel| c.joint == node && c.property == Property::MorphWeights;
    clip.channels.iter().rfind(is)
}
