//! Stage 7: pose space deformation, `v' = F + R d`, or `F + R A d` in sets that scale with the limb ([`Correctives`]).
//!
//! [`PoseSpace`] weighs the samples in the pose and displaces one chunk of points at a time. It runs in the pass of stages 2
//! to 5 ([`super::skinning_pass`]), where a chunk without displacements costs nothing, or as a stage of its own where another
//! one lies between ([`super::pose_space_stage`]).

use super::key::{Identity, LastKey, refill};
use super::run::Run;
use crate::deform::correctives::{
    BlendedRotation, Correctives, Driver, PointClasses, Sample, Weighing, WeightsWork,
};
use crate::deform::{DeformInput, MaskKind, SkinningMethod};
use crate::psd::DisplacementChunk;
use crate::skinning::{CHUNK, Rows};
use glam::{DMat3, Vec3};
use std::sync::Arc;

/// A sample with a smaller weight than this moves nothing: below the rounding of positions.
const NEGLIGIBLE: f64 = 1e-9;

/// The corrective samples of an instance with a skin, weighed in the pose of a run.
#[derive(Default)]
pub(super) struct PoseSpace {
    key: LastKey<Key>,
    correctives: Identity<Correctives>,
    /// One a chunk: whether some sample, with a weight or without, displaces points of it.
    displaces: Vec<bool>,
    /// One a chunk: the painted map that the rotation of [`SkinningMethod::Blend`] follows.
    masks: Vec<Identity<[f32; CHUNK]>>,
    work: WeightsWork,
    /// The drivers in the skin of the instance, where it is not the first one of the mesh.
    drivers: Vec<Driver>,
    weighted: Option<Weighted>,
    /// One a chunk: whether its displacements or what carries them changed in the latest run.
    stale: Vec<bool>,
}

/// The classes of points whose samples have weights of their own.
struct Weighted {
    weighing: Weighing,
    /// One a chunk that has displacements: its rows, and the class of each point.
    chunks: Vec<Option<(Arc<Rows>, Box<PointClasses>)>>,
    /// n_classes x n_samples: weight times strength, 0 where that is negligible.
    factors: Vec<f32>,
}

/// What every point depends on.
#[derive(Default, PartialEq)]
struct Key {
    method: SkinningMethod,
    /// Bits of the blend.
    blend: u32,
    /// The samples with a weight, and the bits of weight times strength.
    active: Vec<(u32, u32)>,
    /// The bits of [`Weighted::factors`].
    factors: Vec<u32>,
    /// One a sample: whether its displacements stretch with the scale of the joints; empty where no joint has any.
    stretched: Vec<bool>,
}

/// The samples that act, with the bits of their factors.
fn active<'a>(
    correctives: &'a Correctives,
    weights: &'a [f64],
) -> impl Iterator<Item = (u32, u32)> + 'a {
    let samples = correctives.samples().iter().zip(weights);
    (0..).zip(samples).filter_map(|(s, (sample, &weight))| {
        let factor = factor(sample, weight);
        (factor != 0.0).then(|| (s, factor.to_bits()))
    })
}

/// Weight times strength of a sample; 0 where it moves nothing.
fn factor(sample: &Sample, weight: f64) -> f32 {
    if sample.acts() && weight.abs() > NEGLIGIBLE {
        weight as f32 * sample.strength
    } else {
        0.0
    }
}

impl PoseSpace {
    /// Whether samples are part of the stack.
    pub(super) fn acts(run: &Run<'_>) -> bool {
        let input = run.input;
        input.skin.is_some() && input.correctives.is_some_and(|c| c.acts())
    }

    /// Takes samples and painted maps over, and weighs the samples in the pose. Returns whether each point with a
    /// displacement may move otherwise than before; else only those of stale chunks do.
    pub(super) fn update(&mut self, run: &Run<'_>, n_points: usize) -> bool {
        let input = run.input;
        let Some(correctives) = input.correctives else {
            return false;
        };
        self.stale.clear();
        self.stale.resize(n_points.div_ceil(CHUNK), false);
        self.drivers.clear();
        if let Some((home, skin)) = input.home.zip(input.skin) {
            let own = correctives.drivers().map(|(_, driver)| {
                driver.in_skin(home.joints, skin.joints, input.skeleton, home.rest)
            });
            self.drivers.extend(own);
        }
        self.weigh(run, correctives);
        let drivers = input.home.map(|_| &self.drivers[..]);
        let (skeleton, locals) = (input.skeleton, input.locals);
        let weights = correctives.weights_by(drivers, skeleton, locals, &mut self.work);
        let factors = self.weighted.as_ref().map_or(&[][..], |w| &w.factors);
        let new_key = self.key.replace(|old| Key {
            method: input.stack.method,
            blend: input.stack.blend.to_bits(),
            active: refill(old.active, active(correctives, weights)),
            factors: refill(old.factors, factors.iter().map(|f| f.to_bits())),
            stretched: refill(
                old.stretched,
                correctives
                    .scaled()
                    .filter(|_| run.skin.palette().inflates()),
            ),
        });
        let other_samples = self.take_correctives(correctives);
        self.take_masks(input);
        new_key || other_samples
    }

    /// Whether the displacements of a chunk, or what carries them, changed in the latest run.
    pub(super) fn is_stale(&self, chunk: usize) -> bool {
        self.stale.get(chunk) == Some(&true)
    }

    /// Whether some sample, with a weight or without, displaces points of a chunk.
    pub(super) fn displaces(&self, chunk: usize) -> bool {
        self.displaces.get(chunk) == Some(&true)
    }

    /// Brings the classes of points up to date, and the weights of the samples for each. Marks chunks whose classes
    /// changed.
    fn weigh(&mut self, run: &Run<'_>, correctives: &Arc<Correctives>) {
        let input = run.input;
        let Some(skin) = input.skin.as_ref().filter(|_| correctives.is_weighted()) else {
            self.weighted = None;
            return;
        };
        let known = self.weighted.take();
        let joints = input.home.map_or(skin.joints, |home| home.joints);
        let known = known.filter(|known| known.weighing.fits(correctives, joints));
        let mut weighted = known.unwrap_or_else(|| Weighted {
            weighing: Weighing::new(correctives, joints),
            chunks: Vec::new(),
            factors: Vec::new(),
        });
        weighted.chunks.resize_with(self.stale.len(), || None);
        // Samples that moved other points before.
        let before = self.correctives.value().map_or(&[][..], |c| c.samples());
        let changed = correctives.samples().iter().enumerate();
        let changed =
            changed.filter(|(s, now)| !before.get(*s).is_some_and(|b| Arc::ptr_eq(b, now)));
        let changed: Vec<usize> = changed.map(|(s, _)| s).collect();
        for (c, (known, stale)) in weighted.chunks.iter_mut().zip(&mut self.stale).enumerate() {
            let samples = correctives.samples();
            let chunk_of = |s: usize| samples[s].displacements.chunk(c);
            let Some(rows) = input.cooked.rows(c) else {
                continue;
            };
            let weighing = &mut weighted.weighing;
            // Only points that are moved count: others need no solve of their own.
            let mut classify = |classes: &mut PointClasses, chunk: &DisplacementChunk| {
                weighing.classify(rows, chunk.iter().map(|(i, _)| i), classes);
            };
            match known {
                Some((of, classes)) if Arc::ptr_eq(of, rows) => {
                    for &s in &changed {
                        let old = before.get(s).and_then(|b| b.displacements.chunk(c));
                        let is_known =
                            |new: &&Arc<_>| old.is_some_and(|old| Arc::ptr_eq(old, *new));
                        if let Some(chunk) = chunk_of(s).filter(|new| !is_known(new)) {
                            classify(classes, chunk);
                        }
                    }
                }
                _ => {
                    let mut classes = Box::new([0; CHUNK]);
                    let mut any = false;
                    for chunk in (0..samples.len()).filter_map(chunk_of) {
                        classify(&mut classes, chunk);
                        any = true;
                    }
                    if any {
                        *known = Some((rows.clone(), classes));
                        *stale = true;
                    }
                }
            }
        }
        weighted.factors.clear();
        for class in 0..weighted.weighing.n_classes() {
            let weights = weighted.weighing.weights(
                class as u16,
                input.home.map(|_| &self.drivers[..]),
                input.skeleton,
                input.locals,
                &mut self.work,
            );
            let samples = correctives.samples().iter().zip(weights);
            let factors = samples.map(|(sample, &weight)| factor(sample, weight));
            weighted.factors.extend(factors);
        }
        self.weighted = Some(weighted);
    }

    /// Takes the samples over, and marks the chunks whose displacements changed. Returns whether others than before may
    /// have.
    fn take_correctives(&mut self, correctives: &Arc<Correctives>) -> bool {
        let (n_chunks, now) = (self.stale.len(), correctives.samples());
        let displaces = |c| now.iter().any(|s| s.displacements.chunk(c).is_some());
        let same_chunks = self.displaces.len() == n_chunks;
        if self.correctives.is(Some(correctives)) && same_chunks {
            return false;
        }
        let before = std::mem::replace(&mut self.correctives, Identity::of(Some(correctives)));
        let before = before.value().map(|before| before.samples());
        let before = before.filter(|before| before.len() == now.len() && same_chunks);
        let Some(before) = before else {
            self.displaces.clear();
            self.displaces.extend((0..n_chunks).map(displaces));
            return true;
        };
        for (a, b) in before.iter().zip(now) {
            if Arc::ptr_eq(a, b) {
                continue;
            }
            for (c, stale) in self.stale.iter_mut().enumerate() {
                let (a, b) = (a.displacements.chunk(c), b.displacements.chunk(c));
                if a.is_some() != b.is_some() {
                    self.displaces[c] = displaces(c);
                }
                *stale |= match (a, b) {
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

    /// Adds the displacements of the active samples to a chunk of points. Allocates nothing; a chunk without any costs
    /// nothing.
    pub(super) fn displace(&self, run: &Run<'_>, index: usize, shape: &mut [Vec3]) {
        let (Some(key), Some(correctives)) = (self.key.known(), self.correctives.value()) else {
            return;
        };
        if !self.displaces(index) {
            return;
        }
        let weighted = self.weighted.as_ref();
        let classes = weighted.and_then(|w| Some((w, w.chunks.get(index)?.as_ref()?)));
        let chunk_of = |&(s, factor): &(u32, u32)| {
            let displacements = correctives.samples()[s as usize]
                .displacements
                .chunk(index)?;
            Some((s as usize, displacements, f32::from_bits(factor)))
        };
        let Some(chunk) = run.skin.chunks().get(index) else {
            return;
        };
        if classes.is_none() && key.active.iter().find_map(chunk_of).is_none() {
            return;
        }
        // The samples whose displacements stretch, or those of which do not.
        let add = |stretched: bool, sums: &mut [Vec3; CHUNK]| {
            let counts = |s: usize| (key.stretched.get(s) == Some(&true)) == stretched;
            let Some((weighted, (_, classes))) = classes else {
                let active = key.active.iter().filter_map(chunk_of);
                for (_, displacements, factor) in active.filter(|(s, ..)| counts(*s)) {
                    displacements.add_to(sums, factor);
                }
                return;
            };
            let samples = correctives.samples();
            let active = samples.iter().enumerate();
            for (s, sample) in active.filter(|(s, sample)| sample.acts() && counts(*s)) {
                let moved = sample.displacements.chunk(index);
                for (i, displacement) in moved.into_iter().flat_map(|chunk| chunk.iter()) {
                    let class = usize::from(classes[i]);
                    sums[i] += displacement * weighted.factors[class * samples.len() + s];
                }
            }
        };
        let stack = run.input.stack;
        let rotation = BlendedRotation {
            method: stack.method,
            blend: stack.blend,
            mask: run.input.masks.chunk(MaskKind::Blend, index),
            chunk,
            palette: run.skin.palette(),
        };
        let mut sums = [Vec3::ZERO; CHUNK];
        add(false, &mut sums);
        if !key.stretched.is_empty() {
            let mut stretched = [Vec3::ZERO; CHUNK];
            add(true, &mut stretched);
            for (i, (sum, stretched)) in sums.iter_mut().zip(stretched).enumerate() {
                if stretched != Vec3::ZERO {
                    let stretch = rotation.stretch_at(i).unwrap_or(DMat3::IDENTITY);
                    *sum += (stretch * stretched.as_dvec3()).as_vec3();
                }
            }
        }
        rotation.add_to(shape, &sums[..shape.len()]);
    }
}
