//! Stage 4: bulge compensation, as far as its settings, its pairs of joints and its painted map go.
//! [`super::bulge_corrections`] runs it.

use super::key::{Identity, LastKey};
use super::run::Run;
use crate::deform::chunks::FEW_CHUNKS;
use crate::deform::{Compensation, DeformStack, MaskKind, Polynomial};
use crate::mesh::Mesh;
use crate::skinning::{CHUNK, ChunkCorrections, CookedChunk, JointPairs, SkinBones};
use rayon::prelude::*;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The painted map.
pub(super) const MASK: MaskKind = MaskKind::Compensation;

/// The settings that decide which pairs of joints move a point, and by which factor; the others count in the pose only.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CookedSettings {
    polynomial: Polynomial,
    third_bone_fade: bool,
    siblings: bool,
}

/// The settings; `None` where the stage is off.
pub(super) fn settings(stack: &DeformStack) -> Option<&Compensation> {
    Some(&stack.compensation).filter(|c| c.enabled)
}

/// The settings that chunks are cooked with; `None` where the stage is off.
pub(super) fn cooked_settings(stack: &DeformStack) -> Option<CookedSettings> {
    let applied = settings(stack)?.as_applied();
    Some(CookedSettings {
        polynomial: applied.polynomial,
        third_bone_fade: applied.third_bone_fade,
        siblings: applied.siblings,
    })
}

/// The pairs of joints of an instance, each with its offset in the pose.
#[derive(Default)]
pub(super) struct PosedPairs {
    pairs: JointPairs,
    automatic_by: LastKey<AutomaticKey>,
    /// One a chunk; empty without automatic strengths.
    falloffs: Vec<ChunkFalloff>,
}

/// What automatic strengths depend on, besides the influences.
#[derive(Default, PartialEq)]
struct AutomaticKey {
    is_on: bool,
    geometry: Identity<Mesh>,
    bones: Identity<SkinBones>,
}

impl PosedPairs {
    /// Finds the pairs of a chunk among all, and adds new ones.
    pub(super) fn find(&mut self, chunk: &mut ChunkCorrections) {
        chunk.find_pairs(&mut self.pairs);
    }

    /// Brings automatic strengths and offsets up to date; `new_chunks`: some chunk was cooked again. Returns whether a
    /// strength changed: points of any chunk may then move otherwise.
    pub(super) fn update(
        &mut self,
        run: &Run<'_>,
        bones: &Arc<SkinBones>,
        new_chunks: bool,
    ) -> bool {
        let stack = run.input.stack;
        let is_on = settings(stack).is_some_and(|c| c.as_applied().auto_strength);
        let new_key = self.automatic_by.replace(|_| AutomaticKey {
            is_on,
            geometry: Identity::of(Some(run.input.geometry)),
            bones: Identity::of(Some(bones)),
        });
        let mut changed = false;
        if new_key {
            self.falloffs = Vec::new();
        }
        if new_key || new_chunks {
            if is_on {
                let chunks = run.skin.chunks();
                update_falloffs(&mut self.falloffs, chunks, run.input.geometry, bones);
            }
            let ratios = falloff_ratios(&self.falloffs);
            changed = self.pairs.set_automatic(|[a, b]| {
                let ratio = ratios.get(&[a.min(b), a.max(b)]);
                ratio.map_or(1.0, |&r| Compensation::automatic_strength(r) as f32)
            });
        }
        let palette = run.skin.palette();
        self.pairs.pose(&stack.compensation, bones, palette);
        changed
    }

    /// The pairs with their offsets in the pose.
    pub(super) fn posed(&self) -> &JointPairs {
        &self.pairs
    }
}

/// How the second weights of the points of a chunk fall off.
#[derive(Default)]
struct ChunkFalloff {
    source: Identity<CookedChunk>,
    of_pairs: HashMap<[u16; 2], Falloff>,
}

/// How the second weight of the points of a pair of joints falls off along the bone.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Falloff {
    /// The largest |dw2/dx| over the edges between points of the pair.
    slope: f64,
    /// The sum of the distances of these points from the line of the bone.
    radii: f64,
    n_points: u32,
}

impl Falloff {
    fn add(&mut self, other: Self) {
        self.slope = self.slope.max(other.slope);
        self.radii += other.radii;
        self.n_points += other.n_points;
    }
}

/// Measures the chunks with other influences than before again, and those around them; returns how many.
fn update_falloffs(
    falloffs: &mut Vec<ChunkFalloff>,
    chunks: &[Arc<CookedChunk>],
    geometry: &Mesh,
    bones: &SkinBones,
) -> usize {
    falloffs.resize_with(chunks.len(), ChunkFalloff::default);
    let topology = geometry.topology();
    let mut stale = BTreeSet::new();
    for (c, (known, chunk)) in falloffs.iter_mut().zip(chunks).enumerate() {
        if !known.source.is(Some(chunk)) {
            known.source = Identity::of(Some(chunk));
            stale.insert(c);
            // An edge has a slope on both of its ends.
            let points = c * CHUNK..geometry.n_points().min(c * CHUNK + chunk.n_points());
            let around = points.flat_map(|p| topology.neighbours(p as u32));
            stale.extend(around.map(|&q| q as usize / CHUNK));
        }
    }
    let measure = |c: usize| (c, falloff_of(c, chunks, geometry, bones));
    // Past the last chunk there are points without rows.
    stale.retain(|c| *c < chunks.len());
    let measured: Vec<_> = if stale.len() > FEW_CHUNKS {
        stale.par_iter().map(|&c| measure(c)).collect()
    } else {
        stale.iter().map(|&c| measure(c)).collect()
    };
    for (c, of_pairs) in measured {
        falloffs[c].of_pairs = of_pairs;
    }
    stale.len()
}

/// The falloff of each pair of joints (ascending) over the points of chunk `c`.
fn falloff_of(
    c: usize,
    chunks: &[Arc<CookedChunk>],
    geometry: &Mesh,
    bones: &SkinBones,
) -> HashMap<[u16; 2], Falloff> {
    // The two heaviest joints of a point, ascending, and their weights.
    let pair_of = |point: usize| {
        let [(a, wa), (b, wb)] = chunks.get(point / CHUNK)?.first_two(point % CHUNK)?;
        Some(if a < b {
            ([a, b], [wa, wb])
        } else {
            ([b, a], [wb, wa])
        })
    };
    let place = |point: usize| geometry.positions[point].as_dvec3() * bones.unit_scale();
    let mut of_pairs: HashMap<[u16; 2], Falloff> = HashMap::new();
    for p in c * CHUNK..geometry.n_points().min((c + 1) * CHUNK) {
        let Some((pair, weights)) = pair_of(p) else {
            continue;
        };
        let Some((head, along)) = bones.bind_line(pair) else {
            continue;
        };
        let at = place(p);
        let out = at - head;
        let mut falloff = Falloff {
            slope: 0.0,
            radii: (out - along * out.dot(along)).length(),
            n_points: 1,
        };
        for &q in geometry.topology().neighbours(p as u32) {
            let Some((other, other_weights)) = pair_of(q as usize) else {
                continue;
            };
            let edge = place(q as usize) - at;
            let run = edge.dot(along).abs();
            // Edges around the limb have no slope along it.
            if other == pair && run > 0.5 * edge.length() && run > 0.0 {
                let slope = f64::from((other_weights[1] - weights[1]).abs()) / run;
                falloff.slope = falloff.slope.max(slope);
            }
        }
        of_pairs.entry(pair).or_default().add(falloff);
    }
    of_pairs
}

/// The ratio sigma / r of each pair of joints (ascending): the width over which the second weight falls off along the
/// bone, to the radius of the limb.
///
/// sigma = 1 / (sqrt(2 pi) max |dw2/dx|) over the edges between points of the pair; r is the mean bind distance of
/// those points from the line of the bone. Chunks are summed in their order, so that it does not matter which of them
/// were measured again.
fn falloff_ratios(falloffs: &[ChunkFalloff]) -> HashMap<[u16; 2], f64> {
    let mut of_pairs: HashMap<[u16; 2], Falloff> = HashMap::new();
    for (pair, falloff) in falloffs.iter().flat_map(|chunk| &chunk.of_pairs) {
        of_pairs.entry(*pair).or_default().add(*falloff);
    }
    let pairs = of_pairs.into_iter();
    pairs
        .filter(|(_, falloff)| falloff.slope > 0.0 && falloff.radii > 0.0)
        .map(|(pair, falloff)| {
            let sigma = 1.0 / ((2.0 * std::f64::consts::PI).sqrt() * falloff.slope);
            let radius = falloff.radii / f64::from(falloff.n_points);
            (pair, sigma / radius)
        })
        .collect()
}
