//! What all corrective samples together add in one pose.

use super::{Correctives, PointClasses, PointWeights, Sample};
use crate::deform::PointRotations;
use crate::psd::{DisplacementChunk, Displacements};
use crate::skinning::CHUNK;
use glam::Vec3;
use rayon::prelude::*;
use std::sync::Arc;

/// A sample with a smaller weight does not count.
const NO_WEIGHT: f64 = 1e-6;

/// The displacements that all samples together add in a pose, as those of one sample of a set that `scales` with the limb,
/// or does not. `weights`, `rotations`: in that pose, of the mesh of the samples. The same bits for any number of threads.
pub fn sum_of_samples(
    correctives: &Correctives,
    weights: &mut PointWeights,
    rotations: &PointRotations,
    scales: bool,
) -> Displacements {
    let samples = correctives.samples().iter().zip(correctives.scaled());
    let samples = samples.enumerate().filter(|(_, (s, _))| s.acts());
    let samples: Vec<Acting<'_>> = samples
        .map(|(index, (sample, is_scaled))| Acting {
            index,
            sample,
            is_scaled,
        })
        .collect();
    let n_chunks = samples.iter().map(|s| s.sample.displacements.n_chunks());
    let n_chunks = n_chunks.max().unwrap_or(0);
    let classes: Option<Vec<Box<PointClasses>>> = weights.is_weighted().then(|| {
        let of_chunk = |c| classes_of(&samples, c, weights);
        (0..n_chunks).map(of_chunk).collect()
    });
    let factors: Vec<Vec<f32>> = (0..weights.n_classes())
        .map(|class| {
            let weights = weights.of_class(class as u16);
            samples.iter().map(|s| s.factor(weights)).collect()
        })
        .collect();
    let chunks = (0..n_chunks).into_par_iter().map(|c| {
        let classes = classes.as_ref().map(|classes| &*classes[c]);
        let mut sums = sums_of(&samples, c, classes, &factors);
        let (plain, scaled) = sums.split_at_mut(1);
        let (plain, scaled) = (&mut plain[0], &scaled[0]);
        for (i, (plain, scaled)) in plain.iter_mut().zip(scaled).enumerate() {
            if *plain == Vec3::ZERO && *scaled == Vec3::ZERO {
                continue;
            }
            let Some([stretch, inverse]) = rotations.stretch_at((c * CHUNK + i) as u32) else {
                *plain += *scaled;
                continue;
            };
            let (own, other) = (plain.as_dvec3(), scaled.as_dvec3());
            let shown = if scales {
                inverse * own + other
            } else {
                own + stretch * other
            };
            *plain = shown.as_vec3();
        }
        DisplacementChunk::of_array(plain)
    });
    Displacements::from_chunks(chunks.collect())
}

/// A sample that acts, with its place among all.
struct Acting<'a> {
    index: usize,
    sample: &'a Arc<Sample>,
    is_scaled: bool,
}

impl Acting<'_> {
    /// Of its displacements, where the samples have these weights; 0 where it does not count.
    fn factor(&self, weights: &[f64]) -> f32 {
        let weight = weights.get(self.index).copied().unwrap_or(0.0);
        if weight.abs() > NO_WEIGHT {
            (weight * f64::from(self.sample.strength)) as f32
        } else {
            0.0
        }
    }
}

/// The classes of the points of a chunk that some sample moves.
fn classes_of(samples: &[Acting<'_>], c: usize, weights: &mut PointWeights) -> Box<PointClasses> {
    let mut is_known = [false; CHUNK];
    let mut classes = Box::new([0; CHUNK]);
    let chunks = samples
        .iter()
        .filter_map(|s| s.sample.displacements.chunk(c));
    for (i, _) in chunks.flat_map(|chunk| chunk.iter()) {
        if !std::mem::replace(&mut is_known[i], true) {
            classes[i] = weights.class((c * CHUNK + i) as u32);
        }
    }
    classes
}

/// The sums of the displacements of a chunk: of the samples that do not scale with the limb, and of those that do. `factors`:
/// of each sample, by class.
fn sums_of(
    samples: &[Acting<'_>],
    c: usize,
    classes: Option<&PointClasses>,
    factors: &[Vec<f32>],
) -> Vec<[Vec3; CHUNK]> {
    let mut sums = vec![[Vec3::ZERO; CHUNK]; 2];
    for (k, sample) in samples.iter().enumerate() {
        let Some(chunk) = sample.sample.displacements.chunk(c) else {
            continue;
        };
        let own = &mut sums[usize::from(sample.is_scaled)];
        match classes {
            None if factors[0][k] != 0.0 => chunk.add_to(own, factors[0][k]),
            None => {}
            Some(classes) => {
                for (i, displacement) in chunk.iter() {
                    own[i] += displacement * factors[usize::from(classes[i])][k];
                }
            }
        }
    }
    sums
}
