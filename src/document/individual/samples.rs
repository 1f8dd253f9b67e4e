//! The displacements of corrective samples on an individual.

use crate::deform::Correctives;
use crate::deform::correctives::Sample;
use crate::psd::Displacements;
use glam::{DMat3, Vec3};
use std::sync::Arc;

/// `d' = (sum_b w_b S_b) d` for the displacements of all samples; weights and poses stay.
pub(in crate::document) fn scaled_samples(
    samples: &Arc<Correctives>,
    maps: &[DMat3],
) -> Arc<Correctives> {
    if samples.samples().is_empty() {
        return samples.clone();
    }
    let scaled = samples.map_samples(|_, sample| {
        let mut sample = Sample::clone(sample);
        let moved = sample.displacements.iter();
        let moved = moved.map(|(point, d)| (point, mapped(maps, point as usize, d)));
        sample.displacements = Displacements::new(moved.collect());
        Some(Arc::new(sample))
    });
    // Displacements have no part in what is solved, so that it was solved before.
    scaled.map_or_else(|_| samples.clone(), Arc::new)
}

/// A displacement of a point on the individual.
pub(super) fn mapped(maps: &[DMat3], point: usize, d: Vec3) -> Vec3 {
    maps.get(point)
        .map_or(d, |map| (*map * d.as_dvec3()).as_vec3())
}
