//! Stage 4: bulge compensation, as far as its settings, its pairs of joints and its painted map go.
//! [`super::bulge_corrections`] runs it.

use super::key::{Identity, LastKey};
use super::run::Run;
use crate::deform::chunks::FEW_CHUNKS;
use crate::deform::{Compensation, CookedMesh, DeformStack, MaskKind, Polynomial, Variant};
use crate::mesh::Mesh;
use crate::skinning::{CHUNK, ChunkCorrections, CookedChunk, Influences, JointPairs, SkinBones};
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
    has_radius: bool,
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
        has_radius: applied.variant != Variant::Algorithm1,
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

/// The falloff of each pair of joints in one chunk.
#[derive(Default)]
struct ChunkFalloff {
    source: Identity<CookedChunk>,
    of_pairs: HashMap<[u16; 2], Falloff>,
}

/// The falloff of the second weight of the points of a pair of joints along the bone.
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

/// Measures the chunks with changed influences again, and their neighbours. Returns the number of measured chunks.
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
            // An edge has a slope at both ends.
            let points = c * CHUNK..geometry.n_points().min(c * CHUNK + chunk.n_points());
            let around = points.flat_map(|p| topology.neighbours(p as u32));
            stale.extend(around.map(|&q| q as usize / CHUNK));
        }
    }
    let measure = |c: usize| (c, falloff_of(c, chunks, geometry, bones));
    // Points after the last chunk have no rows.
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

/// The ratio sigma / r of each pair of joints of a skin (ascending indices), as automatic strength measures it.
///
/// `joint_order`: n_joints, the rank of each joint of the skin, by which the kernels order influences.
pub fn falloff_of_pairs(
    influences: &Influences,
    joint_order: &[u32],
    geometry: &Mesh,
    bones: &SkinBones,
) -> HashMap<[u16; 2], f64> {
    let mut cooked = CookedMesh::default();
    cooked.update(influences, joint_order);
    let mut falloffs = Vec::new();
    update_falloffs(&mut falloffs, cooked.chunks(), geometry, bones);
    falloff_ratios(&falloffs)
}

/// The ratio sigma / r of each pair of joints (ascending): the width over which the second weight falls off along the
/// bone, to the radius of the limb.
///
/// sigma = 1 / (sqrt(2 pi) max |dw2/dx|) over the edges between points of the pair; r is the mean bind distance of
/// those points from the line of the bone. Chunks are summed in order, so that the result does not depend on which of
/// them were measured again.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::open_sample;
    use crate::skinning::{LeafPoints, Rows, SkinBind};
    use crate::task::Task;

    #[test]
    fn only_changed_chunks_and_their_neighbours_are_measured_again() {
        let opened = open_sample("mannequin", &Task::new()).unwrap();
        let document = opened.document;
        let (&mesh, item) = document.meshes().iter().next().unwrap();
        let (_, skin) = document.skin_of_mesh(mesh).unwrap();
        let (skeleton, geometry) = (document.skeleton(), &item.geometry);
        let n_joints = skin.joints.len();
        let rest = document.rest_pose().world_matrices(skeleton);
        let bind = SkinBind::new(
            skeleton,
            &skin.joints,
            &skin.inverse_bind,
            &vec![true; n_joints],
            &rest,
        );
        let leaves = SkinBones::leaves(&bind, skeleton);
        let bones = SkinBones::new(&bind, skeleton, &LeafPoints::new(&leaves));
        let order: Vec<u32> = (0..n_joints as u32).collect();
        let mut influences = item.influences.clone();
        let mut cooked = CookedMesh::default();
        cooked.update(&influences, &order);
        let mut falloffs = Vec::new();
        let n_chunks = cooked.chunks().len();
        let n = update_falloffs(&mut falloffs, cooked.chunks(), geometry, &bones);
        assert_eq!(n, n_chunks);
        let before = falloff_ratios(&falloffs);

        let changed = 0..geometry.n_points().min(50) as u32;
        let mut rows: Rows = changed
            .clone()
            .map(|p| {
                let w = p as f32 / 100.0;
                vec![(0, 1.0 - w), (1, w)]
            })
            .collect();
        influences.swap_rows(&changed.collect::<Vec<_>>(), &mut rows);
        cooked.update(&influences, &order);
        let n = update_falloffs(&mut falloffs, cooked.chunks(), geometry, &bones);
        assert!(n > 0 && n < n_chunks, "{n} of {n_chunks}");
        let mut fresh = Vec::new();
        update_falloffs(&mut fresh, cooked.chunks(), geometry, &bones);
        let after = falloff_ratios(&falloffs);
        assert!(after == falloff_ratios(&fresh) && after != before);
    }
}
