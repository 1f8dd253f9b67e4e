//! Bulge compensation and projection of a chunk of points: what does not depend on the pose, and one kernel for both.
//!
//! The eight points of a block are neighbours and mostly bend about the same bones. So a slot of a block is one bone
//! (or pair of joints) for all eight, with weight 0 for points that it does not correct: a bone is read once and spread
//! over the lanes, a fifth of the cost of gathering one for each point.

// See `simd`: kernel bodies belong inside of the function that is compiled with the backend's instructions.
#![allow(clippy::inline_always)]

use super::bone_pose::BonePose;
use super::compensation::{Compensation, JointPairs, Variant};
use super::cooked::{CookedChunk, LANES};
use super::kernels::{dot, load_block, store_block};
use super::palette::Row8;
use super::projection::BulgeProjection;
use super::simd::{Backend, Kernel, Simd, dispatch};
use super::skin_bones::SkinBones;
use glam::Vec3;

/// The inputs of a chunk's corrections, besides its influences.
#[derive(Clone, Copy)]
pub struct CorrectionSettings<'a> {
    /// Stage 4; `None`: left out.
    pub compensation: Option<&'a Compensation>,
    /// Stage 5; `None`: left out.
    pub projection: Option<&'a BulgeProjection>,
    /// n_points factors; `None`: 1.
    pub compensation_mask: Option<&'a [f32]>,
    /// n_points factors; `None`: 1.
    pub projection_mask: Option<&'a [f32]>,
}

/// The corrections of one chunk of points, in blocks of 8.
///
/// [`ChunkCorrections::cook`] finds the bones that correct each point, and their weights; [`ChunkCorrections::measure`]
/// adds the rest distances in a (morphed, inflated) bind shape; [`correct`] moves points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChunkCorrections {
    n_points: usize,
    /// The distinct pairs of joints in the order of their first point, and the index of each in [`JointPairs`].
    pairs: Vec<[u16; 2]>,
    pair_index: Vec<u32>,
    /// Block b owns pair slots `pair_starts[b] .. pair_starts[b + 1]`.
    pair_starts: Vec<u32>,
    /// n_pair_slots: an index into `pairs`.
    pair_slots: Vec<u16>,
    /// n_pair_slots: the factor of the weights and the painted map.
    pair_weights: Vec<[f32; LANES]>,
    /// n_pair_slots: the same times the point's rest distance from the heavier joint's bones, metres.
    amplitudes: Vec<[f32; LANES]>,
    /// Whether that distance is left out, as in Algorithm 1 of the paper.
    without_radius: bool,
    /// Block b owns bone slots `bone_starts[b] .. bone_starts[b + 1]`.
    bone_starts: Vec<u32>,
    /// n_bone_slots: a segment of [`SkinBones`]; ascending in a block, so that those of one joint are together.
    bone_slots: Vec<u32>,
    /// n_bone_slots: the joint's share in the correction and the painted map.
    bone_weights: Vec<[f32; LANES]>,
    /// n_bone_slots: the share of this segment of the joint.
    shares: Vec<[f32; LANES]>,
    /// n_bone_slots: rest distance from the segment, metres.
    rests: Vec<[f32; LANES]>,
}

impl ChunkCorrections {
    /// The bones that correct the points of `chunk`, and their weights; without rest distances. Allocates.
    pub fn cook(chunk: &CookedChunk, bones: &SkinBones, settings: &CorrectionSettings<'_>) -> Self {
        Self::cook_after(None, chunk, bones, settings)
    }

    /// As [`ChunkCorrections::cook`]; takes the blocks with the same influences from `before`: an earlier state of the
    /// chunk and its corrections, cooked with the same bones and settings.
    pub fn cook_after(
        before: Option<(&CookedChunk, &Self)>,
        chunk: &CookedChunk,
        bones: &SkinBones,
        settings: &CorrectionSettings<'_>,
    ) -> Self {
        let before = before.filter(|(old, _)| old.n_points() == chunk.n_points());
        let n_points = chunk.n_points();
        let n_blocks = n_points.div_ceil(LANES);
        let mut cooked = Self {
            n_points,
            pair_starts: Vec::with_capacity(n_blocks + 1),
            bone_starts: Vec::with_capacity(n_blocks + 1),
            ..Self::default()
        };
        cooked.pair_starts.push(0);
        cooked.bone_starts.push(0);
        let mut row: Vec<(u16, f32)> = Vec::new();
        let mut shares = Vec::new();
        let mut pair_slots: Vec<([u16; 2], [f32; LANES])> = Vec::new();
        let mut bone_slots: Vec<(u32, [f32; LANES])> = Vec::new();
        let mut taken: Vec<([u16; 2], bool)> = Vec::new();
        for block in 0..n_blocks {
            pair_slots.clear();
            bone_slots.clear();
            let (joints, weights) = chunk.block(block);
            let same = before.filter(|(old, _)| old.block(block) == (joints, weights));
            if let Some((_, known)) = same {
                pair_slots.extend(known.pairs_of_block(block));
                bone_slots.extend(known.bones_of_block(block));
            }
            let n_lanes = LANES.min(n_points - block * LANES);
            for lane in 0..if same.is_some() { 0 } else { n_lanes } {
                let point = block * LANES + lane;
                row.clear();
                let slots = joints.iter().zip(weights);
                row.extend(
                    slots
                        .map(|(j, w)| (j[lane], w[lane]))
                        .take_while(|(_, w)| *w > 0.0),
                );
                // One joint alone moves its points rigidly: no bulge.
                if row.len() < 2 {
                    continue;
                }
                if let Some(settings) = settings
                    .compensation
                    .map(|c| (c, settings.compensation_mask))
                {
                    let (compensation, mask) = settings;
                    let third = row.get(2).map_or(0.0, |i| i.1);
                    let factor = compensation.weight_factor([row[0].1, row[1].1, third])
                        * mask.map_or(1.0, |m| m[point]);
                    let pair = [row[0].0, row[1].0];
                    if factor != 0.0 && takes(compensation, bones, pair, &mut taken) {
                        add_lane(&mut pair_slots, pair, lane, factor);
                    }
                }
                if let Some(projection) = settings.projection {
                    let mask = settings.projection_mask.map_or(1.0, |m| m[point]);
                    if mask == 0.0 {
                        continue;
                    }
                    projection.shares(&row, bones, &mut shares);
                    for &(joint, share) in &shares {
                        for segment in bones.segments_of(joint) {
                            add_lane(&mut bone_slots, segment as u32, lane, share * mask);
                        }
                    }
                }
            }
            pair_slots.sort_unstable_by_key(|s| s.0);
            bone_slots.sort_unstable_by_key(|s| s.0);
            for &(pair, weights) in &pair_slots {
                let index = cooked.pairs.iter().position(|p| *p == pair);
                cooked
                    .pair_slots
                    .push(index.unwrap_or(cooked.pairs.len()) as u16);
                if index.is_none() {
                    cooked.pairs.push(pair);
                }
                cooked.pair_weights.push(weights);
            }
            for &(segment, weights) in &bone_slots {
                cooked.bone_slots.push(segment);
                cooked.bone_weights.push(weights);
            }
            cooked.pair_starts.push(cooked.pair_slots.len() as u32);
            cooked.bone_starts.push(cooked.bone_slots.len() as u32);
        }
        cooked.without_radius = settings
            .compensation
            .is_some_and(|c| c.variant == Variant::Algorithm1);
        cooked.amplitudes = vec![[0.0; LANES]; cooked.pair_slots.len()];
        cooked.shares = vec![[0.0; LANES]; cooked.bone_slots.len()];
        cooked.rests = vec![[0.0; LANES]; cooked.bone_slots.len()];
        cooked.pair_slots.shrink_to_fit();
        cooked.pair_weights.shrink_to_fit();
        cooked.bone_slots.shrink_to_fit();
        cooked.bone_weights.shrink_to_fit();
        cooked
    }

    /// The pairs of a block, with their weights.
    fn pairs_of_block(&self, block: usize) -> impl Iterator<Item = ([u16; 2], [f32; LANES])> + '_ {
        let slots = self.pair_starts[block] as usize..self.pair_starts[block + 1] as usize;
        slots.map(|s| {
            (
                self.pairs[self.pair_slots[s] as usize],
                self.pair_weights[s],
            )
        })
    }

    /// The segments of a block, with their weights.
    fn bones_of_block(&self, block: usize) -> impl Iterator<Item = (u32, [f32; LANES])> + '_ {
        let slots = self.bone_starts[block] as usize..self.bone_starts[block + 1] as usize;
        slots.map(|s| (self.bone_slots[s], self.bone_weights[s]))
    }

    /// Looks up the chunk's pairs among all pairs of the mesh, and adds new ones to those.
    pub fn find_pairs(&mut self, all: &mut JointPairs) {
        self.pair_index.clear();
        self.pair_index
            .extend(self.pairs.iter().map(|&pair| all.index_of(pair)));
    }

    /// Whether no point of the chunk is ever corrected.
    pub fn is_empty(&self) -> bool {
        self.pair_slots.is_empty() && self.bone_slots.is_empty()
    }

    /// Computes the rest distances. `bind`: n_points, inflated bind space, as the bones of `pose`. Allocates nothing.
    pub fn measure(&mut self, bind: &[Vec3], bones: &SkinBones, pose: &BonePose, backend: Backend) {
        assert_eq!(bind.len(), self.n_points, "one position a point");
        dispatch(
            backend,
            Measure {
                chunk: self,
                bind,
                bones,
                pose,
            },
        );
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        let lanes = size_of::<[f32; LANES]>();
        self.pairs.capacity() * 4
            + (self.pair_index.capacity() + self.pair_starts.capacity()) * 4
            + self.pair_slots.capacity() * 2
            + (self.pair_weights.capacity() + self.amplitudes.capacity()) * lanes
            + (self.bone_starts.capacity() + self.bone_slots.capacity()) * 4
            + (self.bone_weights.capacity() + self.shares.capacity() + self.rests.capacity())
                * lanes
    }
}

/// Whether compensation moves points of a pair; cached for the chunk, because walking up chains is slow.
fn takes(
    compensation: &Compensation,
    bones: &SkinBones,
    pair: [u16; 2],
    known: &mut Vec<([u16; 2], bool)>,
) -> bool {
    if let Some((_, taken)) = known.iter().find(|(p, _)| *p == pair) {
        return *taken;
    }
    let taken = compensation.takes_pair(bones, pair);
    known.push((pair, taken));
    taken
}

/// Sets one lane of the slot of `key`, and adds the slot where it is missing.
fn add_lane<K: PartialEq>(slots: &mut Vec<(K, [f32; LANES])>, key: K, lane: usize, value: f32) {
    match slots.iter_mut().find(|(k, _)| *k == key) {
        Some((_, lanes)) => lanes[lane] = value,
        None => {
            let mut lanes = [0.0; LANES];
            lanes[lane] = value;
            slots.push((key, lanes));
        }
    }
}

/// The inputs of the kernel that depend on the pose.
#[derive(Clone, Copy)]
pub struct CorrectionPose<'a> {
    /// Posed ([`JointPairs::pose`]).
    pub pairs: &'a JointPairs,
    /// Updated ([`BonePose::update`]).
    pub bones: &'a BonePose,
    /// The settings that the chunks were cooked with; only the strength may have changed.
    pub projection: Option<&'a BulgeProjection>,
}

/// Compensates and then projects the skinned points of a chunk in place.
///
/// `points`: n_points, posed world space. Allocates nothing; a point depends on no other.
pub fn correct(
    chunk: &ChunkCorrections,
    pose: &CorrectionPose<'_>,
    backend: Backend,
    points: &mut [Vec3],
) {
    assert_eq!(points.len(), chunk.n_points, "one position a point");
    if chunk.is_empty() {
        return;
    }
    let published = pose.projection.is_some_and(|p| p.variant.is_published());
    if published {
        dispatch(
            backend,
            Correct::<true> {
                chunk,
                pose,
                points,
            },
        );
    } else {
        dispatch(
            backend,
            Correct::<false> {
                chunk,
                pose,
                points,
            },
        );
    }
}

#[inline(always)]
fn splat3<S: Simd>(simd: S, v: &[f32]) -> [S::F; 3] {
    [simd.splat(v[0]), simd.splat(v[1]), simd.splat(v[2])]
}

/// The vector from the nearest point of a segment to `p`.
#[inline(always)]
fn from_segment<S: Simd>(simd: S, row: &Row8, p: [S::F; 3]) -> [S::F; 3] {
    let a = splat3(simd, &row.0[..3]);
    let d = splat3(simd, &row.0[4..7]);
    let x = [
        simd.sub(p[0], a[0]),
        simd.sub(p[1], a[1]),
        simd.sub(p[2], a[2]),
    ];
    let t = simd.mul(dot(simd, x, d), simd.splat(row.0[3]));
    let t = simd.max(simd.min(t, simd.splat(1.0)), simd.splat(0.0));
    [
        simd.neg_mul_add(t, d[0], x[0]),
        simd.neg_mul_add(t, d[1], x[1]),
        simd.neg_mul_add(t, d[2], x[2]),
    ]
}

struct Correct<'a, 'o, const PUBLISHED: bool> {
    chunk: &'a ChunkCorrections,
    pose: &'a CorrectionPose<'a>,
    points: &'o mut [Vec3],
}

impl<const PUBLISHED: bool> Kernel for Correct<'_, '_, PUBLISHED> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (chunk, pose) = (self.chunk, self.pose);
        let (pair_rows, bone_rows) = (pose.pairs.rows(), pose.bones.posed.as_slice());
        let strength = simd.splat(pose.projection.map_or(0.0, |p| p.strength));
        let zero = simd.splat(0.0);
        for block in 0..chunk.n_points.div_ceil(LANES) {
            let pairs = chunk.pair_starts[block] as usize..chunk.pair_starts[block + 1] as usize;
            let bones = chunk.bone_starts[block] as usize..chunk.bone_starts[block + 1] as usize;
            if pairs.is_empty() && bones.is_empty() {
                continue;
            }
            let skinned = load_block(simd, self.points, block);
            let mut v = skinned;
            for slot in pairs {
                let row = &pair_rows[chunk.pair_index[chunk.pair_slots[slot] as usize] as usize].0;
                let amplitude = simd.from_lanes(&chunk.amplitudes[slot]);
                let wanted = simd.mul(amplitude, simd.splat(row[3]));
                // The fold guard: no farther than the bisector plane of the joint.
                let along = dot(simd, skinned, splat3(simd, &row[4..7]));
                let room = simd.max(simd.sub(simd.splat(row[7]), along), zero);
                let l = simd.min(wanted, room);
                v = [
                    simd.mul_add(l, simd.splat(row[0]), v[0]),
                    simd.mul_add(l, simd.splat(row[1]), v[1]),
                    simd.mul_add(l, simd.splat(row[2]), v[2]),
                ];
            }
            if !bones.is_empty() {
                let moved = if PUBLISHED {
                    project_published(simd, chunk, bones, bone_rows, v)
                } else {
                    project_blended(simd, chunk, bones, bone_rows, v)
                };
                v = [
                    simd.mul_add(strength, moved[0], v[0]),
                    simd.mul_add(strength, moved[1], v[1]),
                    simd.mul_add(strength, moved[2], v[2]),
                ];
            }
            store_block(simd, v, self.points, block);
        }
    }
}

/// The weighted sum of the corrections towards all bones of a block.
#[inline(always)]
fn project_blended<S: Simd>(
    simd: S,
    chunk: &ChunkCorrections,
    slots: std::ops::Range<usize>,
    rows: &[Row8],
    v: [S::F; 3],
) -> [S::F; 3] {
    let (zero, one) = (simd.splat(0.0), simd.splat(1.0));
    let mut moved = [zero; 3];
    for slot in slots {
        let x = from_segment(simd, &rows[chunk.bone_slots[slot] as usize], v);
        let squared = dot(simd, x, x);
        let rest = simd.from_lanes(&chunk.rests[slot]);
        let share = simd.from_lanes(&chunk.shares[slot]);
        let scale = simd.sub(simd.div(rest, simd.sqrt(squared)), one);
        // Only inwards. A point on its bone (0 / 0) stays too.
        let scale = simd.select_gt(squared, simd.mul(rest, rest), simd.mul(share, scale), zero);
        moved = [
            simd.mul_add(scale, x[0], moved[0]),
            simd.mul_add(scale, x[1], moved[1]),
            simd.mul_add(scale, x[2], moved[2]),
        ];
    }
    moved
}

/// The correction towards the nearest bone of each point's heaviest joint (Kim & Han 2014).
#[inline(always)]
fn project_published<S: Simd>(
    simd: S,
    chunk: &ChunkCorrections,
    slots: std::ops::Range<usize>,
    rows: &[Row8],
    v: [S::F; 3],
) -> [S::F; 3] {
    let (zero, one, far) = (simd.splat(0.0), simd.splat(1.0), simd.splat(f32::MAX));
    let mut nearest = [zero; 3];
    let (mut nearest_squared, mut nearest_rest, mut nearest_share) = (far, far, zero);
    for slot in slots {
        let x = from_segment(simd, &rows[chunk.bone_slots[slot] as usize], v);
        // The whole share of the joint: the nearest of its bones takes it.
        let share = simd.from_lanes(&chunk.bone_weights[slot]);
        // Bones of other joints are infinitely far.
        let squared = simd.select_gt(share, zero, dot(simd, x, x), far);
        nearest = [
            simd.select_gt(nearest_squared, squared, x[0], nearest[0]),
            simd.select_gt(nearest_squared, squared, x[1], nearest[1]),
            simd.select_gt(nearest_squared, squared, x[2], nearest[2]),
        ];
        let rest = simd.from_lanes(&chunk.rests[slot]);
        nearest_share = simd.select_gt(nearest_squared, squared, share, nearest_share);
        // The rest distance from the bone that was nearest at rest, which may be another.
        nearest_rest = simd.select_gt(share, zero, simd.min(nearest_rest, rest), nearest_rest);
        nearest_squared = simd.min(squared, nearest_squared);
    }
    let scale = simd.sub(simd.div(nearest_rest, simd.sqrt(nearest_squared)), one);
    let scale = simd.mul(nearest_share, scale);
    let limit = simd.mul(nearest_rest, nearest_rest);
    let scale = simd.select_gt(nearest_squared, limit, scale, zero);
    let scale = simd.select_gt(nearest_share, zero, scale, zero);
    [
        simd.mul(scale, nearest[0]),
        simd.mul(scale, nearest[1]),
        simd.mul(scale, nearest[2]),
    ]
}

struct Measure<'a> {
    chunk: &'a mut ChunkCorrections,
    bind: &'a [Vec3],
    bones: &'a SkinBones,
    pose: &'a BonePose,
}

impl Kernel for Measure<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (chunk, rows) = (self.chunk, self.pose.inflated.as_slice());
        for block in 0..chunk.n_points.div_ceil(LANES) {
            let pairs = chunk.pair_starts[block] as usize..chunk.pair_starts[block + 1] as usize;
            let bones = chunk.bone_starts[block] as usize..chunk.bone_starts[block + 1] as usize;
            if pairs.is_empty() && bones.is_empty() {
                continue;
            }
            let p = load_block(simd, self.bind, block);
            for slot in pairs {
                let [heavier, _] = chunk.pairs[chunk.pair_slots[slot] as usize];
                let mut squared = simd.splat(f32::MAX);
                for segment in self.bones.segments_of(heavier) {
                    let x = from_segment(simd, &rows[segment], p);
                    squared = simd.min(squared, dot(simd, x, x));
                }
                let weights = simd.from_lanes(&chunk.pair_weights[slot]);
                let amplitude = if chunk.without_radius {
                    weights
                } else {
                    simd.mul(weights, simd.sqrt(squared))
                };
                chunk.amplitudes[slot] = simd.to_array(amplitude);
            }
            for slot in bones.clone() {
                let x = from_segment(simd, &rows[chunk.bone_slots[slot] as usize], p);
                chunk.rests[slot] = simd.to_array(simd.sqrt(dot(simd, x, x)));
            }
            share_out(chunk, bones, self.bones);
        }
    }
}

/// Divides the share of each joint among its segments by `(nearest / distance)^4` at rest.
fn share_out(chunk: &mut ChunkCorrections, slots: std::ops::Range<usize>, bones: &SkinBones) {
    let joint = |slot: u32| bones.joint_of_segment(slot as usize);
    let mut first = slots.start;
    while first < slots.end {
        let owner = joint(chunk.bone_slots[first]);
        let n = chunk.bone_slots[first..slots.end]
            .iter()
            .take_while(|&&s| joint(s) == owner)
            .count();
        let group = first..first + n;
        first += n;
        chunk.shares[group.clone()].copy_from_slice(&chunk.bone_weights[group.clone()]);
        if n == 1 {
            continue;
        }
        for lane in 0..LANES {
            let rests = chunk.rests[group.clone()].iter().map(|r| r[lane]);
            let nearest = rests.clone().fold(f32::MAX, f32::min);
            // Relative to the nearest one, so that models of any size stay in the range of f32.
            let nearness = |rest: f32| {
                if rest <= nearest {
                    1.0
                } else {
                    (nearest / rest).powi(4)
                }
            };
            let total: f32 = rests.map(nearness).sum();
            for slot in group.clone() {
                chunk.shares[slot][lane] *= nearness(chunk.rests[slot][lane]) / total;
            }
        }
    }
}
