//! Stage 7: pose space deformation, `v' = F + R d` ([`Correctives`]).

use super::changed::Changed;
use super::key::{Identity, LastKey, refill};
use super::run::{Run, Stage};
use crate::deform::chunks::{FEW_CHUNKS, for_chunks};
use crate::deform::correctives::{BlendedRotation, Correctives, WeightsWork};
use crate::deform::{DeformInput, MaskKind, SkinningMethod};
use crate::math::same_bits;
use crate::psd::DisplacementChunk;
use crate::skinning::CHUNK;
use glam::Vec3;
use rayon::prelude::*;
use std::sync::Arc;

/// A sample with a smaller weight than this moves nothing: below the rounding of positions.
const NEGLIGIBLE: f64 = 1e-9;

/// The corrected shape of an instance with a skin, world space.
#[derive(Default)]
pub(super) struct PoseSpaceStage {
    key: LastKey<Key>,
    correctives: Identity<Correctives>,
    /// One a chunk: the painted map that the rotation of [`SkinningMethod::Blend`] follows.
    masks: Vec<Identity<[f32; CHUNK]>>,
    work: WeightsWork,
    /// One a chunk: whether it has to be displaced again.
    stale: Vec<bool>,
    shape: Vec<Vec3>,
}

/// What every point depends on.
#[derive(Default, PartialEq)]
struct Key {
    method: SkinningMethod,
    /// Bits of the blend.
    blend: u32,
    /// The samples with a weight, and the bits of weight times strength.
    active: Vec<(u32, u32)>,
}

impl Stage for PoseSpaceStage {
    fn acts(input: &DeformInput<'_>) -> bool {
        input.skin.is_some() && input.correctives.is_some_and(|c| c.acts())
    }

    fn run(&mut self, run: &Run<'_>, before: &[Vec3], changed: Changed) -> Changed {
        let input = run.input;
        let Some(correctives) = input.correctives else {
            return changed;
        };
        let weights = correctives.weights(input.skeleton, input.locals, &mut self.work);
        let new_key = self.key.replace(|old| Key {
            method: input.stack.method,
            blend: input.stack.blend.to_bits(),
            active: refill(old.active, active(correctives, weights)),
        });
        self.stale.clear();
        self.stale.resize(before.len().div_ceil(CHUNK), false);
        let other_samples = self.take_correctives(correctives);
        self.take_masks(input);
        let changes = run.skin.changes();
        if new_key || other_samples || changes.palette || changed == Changed::All {
            self.run_all(run, correctives, before);
            return Changed::All;
        }
        for &c in &changes.chunks {
            if let Some(stale) = self.stale.get_mut(c) {
                *stale = true;
            }
        }
        if let Changed::Points(points) = &changed {
            for &point in points {
                self.stale[point as usize / CHUNK] = true;
            }
        }
        Changed::points(self.run_stale(run, correctives, before))
    }

    fn shape(&self) -> &[Vec3] {
        &self.shape
    }
}

/// The samples that act, with the bits of their factors.
fn active<'a>(
    correctives: &'a Correctives,
    weights: &'a [f64],
) -> impl Iterator<Item = (u32, u32)> + 'a {
    let samples = correctives.samples().iter().zip(weights);
    (0..).zip(samples).filter_map(|(s, (sample, &weight))| {
        let acts = sample.acts() && weight.abs() > NEGLIGIBLE;
        acts.then(|| (s, (weight as f32 * sample.strength).to_bits()))
    })
}

impl PoseSpaceStage {
    /// Takes the samples over, and marks the chunks whose displacements changed. Returns whether others than before may
    /// have.
    fn take_correctives(&mut self, correctives: &Arc<Correctives>) -> bool {
        if self.correctives.is(Some(correctives)) {
            return false;
        }
        let before = std::mem::replace(&mut self.correctives, Identity::of(Some(correctives)));
        let (Some(before), now) = (before.value(), correctives.samples()) else {
            return true;
        };
        if before.samples().len() != now.len() {
            return true;
        }
        for (a, b) in before.samples().iter().zip(now) {
            if Arc::ptr_eq(a, b) {
                continue;
            }
            for (c, stale) in self.stale.iter_mut().enumerate() {
                *stale |= match (a.displacements.chunk(c), b.displacements.chunk(c)) {
                    (Some(a), Some(b)) => !Arc::ptr_eq(a, b),
                    (a, b) => a.is_some() != b.is_some(),
                };
            }
        }
        false
    }

    /// Takes the painted maps over, and marks the chunks whose map changed.
    fn take_masks(&mut self, input: &DeformInput<'_>) {
        let reads = input.stack.reads_mask(MaskKind::Blend);
        self.masks.resize_with(self.stale.len(), Identity::default);
        for (c, (known, stale)) in self.masks.iter_mut().zip(&mut self.stale).enumerate() {
            let mask = input.masks.chunk(MaskKind::Blend, c).filter(|_| reads);
            if !known.is(mask) {
                *known = Identity::of(mask);
                *stale = true;
            }
        }
    }

    fn run_all(&mut self, run: &Run<'_>, correctives: &Correctives, before: &[Vec3]) {
        self.shape.resize(before.len(), Vec3::ZERO);
        let Some(key) = self.key.known() else {
            return;
        };
        for_chunks(&mut self.shape, |first, out| {
            out.copy_from_slice(&before[first..first + out.len()]);
            displace(run, correctives, &key.active, first / CHUNK, out);
        });
    }

    /// The stale chunks; the points that moved, ascending.
    fn run_stale(&mut self, run: &Run<'_>, correctives: &Correctives, before: &[Vec3]) -> Vec<u32> {
        let Some(key) = self.key.known() else {
            return Vec::new();
        };
        let stale = &self.stale;
        let work = |(c, out): (usize, &mut [Vec3])| {
            let mut old = [Vec3::ZERO; CHUNK];
            let old = &mut old[..out.len()];
            old.copy_from_slice(out);
            out.copy_from_slice(&before[c * CHUNK..c * CHUNK + out.len()]);
            displace(run, correctives, &key.active, c, out);
            let points = old.iter().zip(&*out).enumerate();
            let moved = points.filter(|(_, (a, b))| !same_bits(**a, **b));
            moved
                .map(|(i, _)| (c * CHUNK + i) as u32)
                .collect::<Vec<u32>>()
        };
        let is_stale = |(c, _): &(usize, &mut [Vec3])| stale[*c];
        if stale.iter().filter(|stale| **stale).count() > FEW_CHUNKS {
            let chunks = self.shape.par_chunks_mut(CHUNK).enumerate();
            let parts: Vec<Vec<u32>> = chunks.filter(is_stale).map(work).collect();
            parts.concat()
        } else {
            let chunks = self.shape.chunks_mut(CHUNK).enumerate();
            chunks.filter(is_stale).flat_map(work).collect()
        }
    }
}

/// Adds the displacements of the active samples to a chunk of points. Allocates nothing; a chunk without any costs a
/// look at each sample.
fn displace(
    run: &Run<'_>,
    correctives: &Correctives,
    active: &[(u32, u32)],
    index: usize,
    out: &mut [Vec3],
) {
    let chunk_of = |&(s, factor): &(u32, u32)| -> Option<(&Arc<DisplacementChunk>, f32)> {
        let displacements = &correctives.samples()[s as usize].displacements;
        Some((displacements.chunk(index)?, f32::from_bits(factor)))
    };
    let Some(chunk) = run.skin.chunks().get(index) else {
        return;
    };
    if active.iter().find_map(chunk_of).is_none() {
        return;
    }
    let mut sums = [Vec3::ZERO; CHUNK];
    for (displacements, factor) in active.iter().filter_map(chunk_of) {
        for (i, displacement) in displacements.iter() {
            sums[i] += displacement * factor;
        }
    }
    let stack = run.input.stack;
    let rotation = BlendedRotation {
        method: stack.method,
        blend: stack.blend,
        mask: run.input.masks.chunk(MaskKind::Blend, index),
        chunk,
        palette: run.skin.palette(),
    };
    for (i, (out, sum)) in out.iter_mut().zip(sums).enumerate() {
        if sum != Vec3::ZERO {
            *out += (rotation.any_at(i) * sum.as_dvec3()).as_vec3();
        }
    }
}
