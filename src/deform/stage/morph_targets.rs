//! Stage 1: the bind shape with the morph targets of the source.

use super::changed::Changed;
use super::key::{Identity, LastKey, refill};
use crate::deform::DeformInput;
use crate::deform::chunks::for_chunks;
use crate::mesh::Mesh;
use glam::Vec3;

/// The morphed bind shape: radii, rest distances and detail are measured in it.
#[derive(Default)]
pub(in crate::deform) struct MorphTargets {
    key: LastKey<Key>,
    /// Empty while every weight is 0.
    morphed: Vec<Vec3>,
    changed: bool,
}

#[derive(Default, PartialEq)]
struct Key {
    geometry: Identity<Mesh>,
    /// Bits of the morph weights.
    weights: Vec<u32>,
}

impl MorphTargets {
    /// Brings the shape up to date.
    pub(in crate::deform) fn update(&mut self, input: &DeformInput<'_>) {
        self.changed = self.key.replace(|old| Key {
            geometry: Identity::of(Some(input.geometry)),
            weights: refill(old.weights, input.morph_weights.iter().map(|w| w.to_bits())),
        });
        if self.changed {
            self.morph(input);
        }
    }

    fn morph(&mut self, input: &DeformInput<'_>) {
        let targets = || {
            let morphs = input.geometry.morphs.iter().zip(input.morph_weights);
            morphs
                .filter(|(_, w)| **w != 0.0)
                .map(|(morph, &w)| (w, morph.deltas.as_slice()))
        };
        self.morphed.clear();
        if targets().next().is_none() {
            return;
        }
        self.morphed.extend_from_slice(&input.geometry.positions);
        for_chunks(&mut self.morphed, |first, chunk| {
            for (weight, deltas) in targets() {
                for (p, d) in chunk.iter_mut().zip(&deltas[first..]) {
                    *p += *d * weight;
                }
            }
        });
    }

    /// What the latest run changed.
    pub(super) fn changed(&self) -> Changed {
        if self.changed {
            Changed::All
        } else {
            Changed::Nothing
        }
    }

    /// n_points, mesh space, metres; empty before the first run.
    pub(in crate::deform) fn shape(&self) -> &[Vec3] {
        if !self.morphed.is_empty() {
            return &self.morphed;
        }
        let geometry = self.key.known().and_then(|key| key.geometry.value());
        geometry.map_or(&[], |mesh| &mesh.positions)
    }
}
