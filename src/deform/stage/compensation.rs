//! Stage 4: bulge compensation, as far as its settings, its pairs of joints and its painted map go.
//! [`super::bulge_corrections`] runs it.

use super::key::{Identity, LastKey};
use super::run::Run;
use crate::deform::{Compensation, DeformStack, MaskKind, Polynomial};
use crate::mesh::Mesh;
use crate::skinning::{ChunkCorrections, CookedChunk, JointPairs, SkinBones};
use std::collections::HashMap;
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
        if new_key || new_chunks {
            let ratios = if is_on {
                falloff_ratios(run.skin.chunks(), run.input.geometry, bones)
            } else {
                HashMap::new()
            };
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

/// The ratio sigma / r of each pair of joints (ascending): the width over which the second weight falls off along the
/// bone, to the radius of the limb.
///
/// sigma = 1 / (sqrt(2 pi) max |dw2/dx|) over the edges between points of the pair; r is the mean bind distance of
/// those points from the line of the bone.
fn falloff_ratios(
    chunks: &[Arc<CookedChunk>],
    geometry: &Mesh,
    bones: &SkinBones,
) -> HashMap<[u16; 2], f64> {
    // (heavier joint, second joint, its weight) of every point that has two.
    let mut pair_of: Vec<Option<([u16; 2], [f32; 2])>> = Vec::with_capacity(geometry.n_points());
    for chunk in chunks {
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
            // Edges around the limb have no slope along it.
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
