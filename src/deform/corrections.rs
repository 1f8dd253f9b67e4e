//! Stages 4 and 5 of one instance: the cooked corrections of its chunks, and what they mean in a pose.

use super::{CookedMesh, DeformStack, MaskKind, Masks};
use crate::mesh::Mesh;
use crate::skinning::{
    Backend, BonePose, ChunkCorrections, Compensation, CookedChunk, CorrectionPose,
    CorrectionSettings, JointPairs, Polynomial, Projection, SkinBones, SkinPalette, Variant,
};
use glam::Vec3;
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// Handing fewer chunks to other threads costs more than cooking them.
const FEW_CHUNKS: usize = 4;

/// The corrections of one instance.
#[derive(Default)]
pub(super) struct Corrections {
    settings: Option<CookedSettings>,
    bones: Option<Arc<SkinBones>>,
    pub(super) pairs: JointPairs,
    /// Whether the pairs have automatic strengths.
    automatic: bool,
    chunks: Vec<ChunkState>,
}

/// The settings that cooked chunks depend on; the others only count in the pose.
#[derive(Clone, PartialEq)]
struct CookedSettings {
    /// f, the third bone's fade, and whether siblings are taken.
    compensation: Option<(Polynomial, bool, bool)>,
    /// p, the sibling fade and the variant.
    projection: Option<(f32, bool, Variant)>,
}

impl CookedSettings {
    fn of(stack: &DeformStack) -> Self {
        let (c, p) = (
            stack.compensation.as_applied(),
            stack.projection.as_applied(),
        );
        Self {
            compensation: c
                .enabled
                .then_some((c.polynomial, c.third_bone_fade, c.siblings)),
            projection: p.enabled.then_some((p.power, p.sibling_fade, p.variant)),
        }
    }
}

/// One chunk.
#[derive(Default)]
pub(super) struct ChunkState {
    source: Option<Arc<CookedChunk>>,
    masks: [Option<Arc<[f32; crate::skinning::CHUNK]>>; 2],
    cooked: ChunkCorrections,
    /// Distances are those of the bind shape without inflation.
    pub(super) measured: bool,
    /// Cooked again since it last moved points.
    pub(super) stale: bool,
}

impl ChunkState {
    /// Distances in a bind shape.
    pub(super) fn measure(&mut self, bind: &[Vec3], bones: &SkinBones, pose: &BonePose) {
        self.cooked.measure(bind, bones, pose, Backend::detect());
    }

    /// Moves skinned points.
    pub(super) fn correct(&self, pose: &CorrectionPose<'_>, points: &mut [Vec3]) {
        crate::skinning::correct(&self.cooked, pose, Backend::detect(), points);
    }

    /// Whether it never moves a point.
    pub(super) fn is_empty(&self) -> bool {
        self.cooked.is_empty()
    }
}

impl Corrections {
    /// Brings the chunks up to date with stack, bones, influences and painted maps, and the pairs with the pose.
    /// Returns whether points of chunks that were not cooked again move too.
    pub(super) fn update(
        &mut self,
        stack: &DeformStack,
        cooked: &CookedMesh,
        masks: &Masks,
        geometry: &Mesh,
        bones: &Arc<SkinBones>,
        palette: &SkinPalette,
    ) -> bool {
        let n_chunks = cooked.chunks().len();
        if !stack.corrects_bulges() {
            if self.settings.take().is_some() {
                self.chunks.clear();
                self.pairs.clear();
            }
            self.chunks.resize_with(n_chunks, ChunkState::default);
            return false;
        }
        let settings = CookedSettings::of(stack);
        let same_bones = self.bones.as_ref().is_some_and(|b| Arc::ptr_eq(b, bones));
        if self.settings.as_ref() != Some(&settings) || !same_bones {
            self.settings = Some(settings);
            self.bones = Some(bones.clone());
            self.pairs.clear();
            self.chunks.clear();
        }
        self.chunks.resize_with(n_chunks, ChunkState::default);
        let n_cooked = self.cook(stack, cooked, masks, bones);
        let mut everywhere = false;
        if n_cooked > 0 {
            for state in self.chunks.iter_mut().filter(|s| s.stale) {
                state.cooked.find_pairs(&mut self.pairs);
            }
        }
        let automatic = stack.compensation.as_applied().auto_strength;
        if n_cooked > 0 || automatic != self.automatic {
            self.automatic = automatic;
            everywhere = self.automatic(stack, cooked, geometry, bones);
        }
        self.pairs.pose(&stack.compensation, bones, palette);
        everywhere
    }

    /// Cooks the chunks whose influences or painted maps are not the ones cooked before; returns how many.
    fn cook(
        &mut self,
        stack: &DeformStack,
        cooked: &CookedMesh,
        masks: &Masks,
        bones: &SkinBones,
    ) -> usize {
        let compensation = Some(&stack.compensation).filter(|c| c.enabled);
        let projection = Some(&stack.projection).filter(|p| p.enabled);
        let mask = |kind, of: bool, c| of.then(|| masks.chunk(kind, c)).flatten();
        let masks_of = |c| {
            [
                mask(MaskKind::Compensation, compensation.is_some(), c),
                mask(MaskKind::Projection, projection.is_some(), c),
            ]
        };
        let same = |a: &Option<Arc<_>>, b: Option<&Arc<_>>| match (a, b) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        };
        let is_known = |c: usize, state: &ChunkState, chunk: &Arc<CookedChunk>| {
            let [a, b] = masks_of(c);
            state.source.as_ref().is_some_and(|s| Arc::ptr_eq(s, chunk))
                && same(&state.masks[0], a)
                && same(&state.masks[1], b)
        };
        let cook = |(c, (state, chunk)): (usize, (&mut ChunkState, &Arc<CookedChunk>))| {
            if is_known(c, state, chunk) {
                return;
            }
            let of_chunk = masks_of(c);
            let n = chunk.n_points();
            state.cooked = ChunkCorrections::cook(
                chunk,
                bones,
                &CorrectionSettings {
                    compensation,
                    projection,
                    compensation_mask: of_chunk[0].map(|m| &m[..n]),
                    projection_mask: of_chunk[1].map(|m| &m[..n]),
                },
            );
            state.masks = of_chunk.map(|m| m.cloned());
            state.source = Some(chunk.clone());
            state.measured = false;
            state.stale = true;
        };
        let n_changed = self
            .chunks
            .iter()
            .zip(cooked.chunks())
            .enumerate()
            .filter(|(c, (state, chunk))| !is_known(*c, state, chunk))
            .count();
        if n_changed > FEW_CHUNKS {
            self.chunks
                .par_iter_mut()
                .zip(cooked.chunks())
                .enumerate()
                .for_each(cook);
        } else if n_changed > 0 {
            self.chunks
                .iter_mut()
                .zip(cooked.chunks())
                .enumerate()
                .for_each(cook);
        }
        n_changed
    }

    /// Automatic strengths of all pairs; whether one changed. Without the setting all are 1.
    fn automatic(
        &mut self,
        stack: &DeformStack,
        cooked: &CookedMesh,
        geometry: &Mesh,
        bones: &SkinBones,
    ) -> bool {
        let settings = stack.compensation.as_applied();
        if !settings.enabled || !settings.auto_strength {
            return self.pairs.set_automatic(|_| 1.0);
        }
        let widths = falloffs(cooked, geometry, bones);
        self.pairs.set_automatic(|[a, b]| {
            widths
                .get(&[a.min(b), a.max(b)])
                .map_or(1.0, |&ratio| Compensation::automatic_strength(ratio) as f32)
        })
    }

    /// Distances are no longer those of the bind shape.
    pub(super) fn forget_distances(&mut self) {
        for state in &mut self.chunks {
            state.measured = false;
        }
    }

    /// One a chunk.
    pub(super) fn chunks_mut(&mut self) -> (&mut [ChunkState], &JointPairs) {
        (&mut self.chunks, &self.pairs)
    }

    /// Projection's settings for the kernel.
    pub(super) fn projection(stack: &DeformStack) -> Option<&Projection> {
        Some(&stack.projection).filter(|p| p.enabled)
    }
}

/// sigma / r of each pair of joints (ascending): how wide the second weight falls off along the bone, against the
/// limb's radius.
///
/// sigma = 1 / (sqrt(2 pi) max |dw2/dx|) over the edges between points of the pair; r is the mean bind
/// distance of those points from the bone's line.
fn falloffs(cooked: &CookedMesh, geometry: &Mesh, bones: &SkinBones) -> HashMap<[u16; 2], f64> {
    // (heavier joint, second joint, its weight) of every point that has two.
    let mut pair_of: Vec<Option<([u16; 2], [f32; 2])>> = Vec::with_capacity(geometry.n_points());
    for chunk in cooked.chunks() {
        pair_of.extend(chunk.first_two().map(|two| {
            two.map(|[(a, wa), (b, wb)]| {
                if a < b {
                    ([a, b], [wa, wb])
                } else {
                    ([b, a], [wb, wa])
                }
            })
        }));
    }
    let mut steepest: HashMap<[u16; 2], (f64, f64, u32)> = HashMap::new();
    let topology = geometry.topology();
    for (p, item) in pair_of.iter().enumerate() {
        let Some((pair, weights)) = item else {
            continue;
        };
        let Some((head, along)) = bones.bind_line(*pair) else {
            continue;
        };
        let at = geometry.positions[p].as_dvec3() * bones.unit_scale();
        let entry = steepest.entry(*pair).or_default();
        let out = at - head;
        entry.1 += (out - along * out.dot(along)).length();
        entry.2 += 1;
        for &q in topology.neighbours(p as u32) {
            let Some(Some((other, other_weights))) = pair_of.get(q as usize) else {
                continue;
            };
            let edge = geometry.positions[q as usize].as_dvec3() * bones.unit_scale() - at;
            let run = edge.dot(along).abs();
            // Edges around the limb say nothing of the way along it.
            if other == pair && run > 0.5 * edge.length() && run > 0.0 {
                let slope = f64::from((other_weights[1] - weights[1]).abs()) / run;
                entry.0 = entry.0.max(slope);
            }
        }
    }
    steepest
        .into_iter()
        .filter(|(_, (slope, radius, _))| *slope > 0.0 && *radius > 0.0)
        .map(|(pair, (slope, radius, n))| {
            let sigma = 1.0 / ((2.0 * std::f64::consts::PI).sqrt() * slope);
            (pair, sigma / (radius / f64::from(n)))
        })
        .collect()
}
