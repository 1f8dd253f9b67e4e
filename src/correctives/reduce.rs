//! Samples of the whole mesh, reduced to its control clusters: the patches carry them to the free vertices.

use super::retarget::pose_of;
use super::skinned_instance;
use crate::cluster::{Corrective, Interpolation, MeshLayout, extract};
use crate::deform::correctives::Sample;
use crate::deform::{Correctives, InstancePlan, sculpted};
use crate::document::{Document, MeshId};
use crate::evaluate::Evaluator;
use crate::psd::{Displacements, PsdError};
use crate::task::{Cancelled, Task};
use glam::{DQuat, DVec3};
use std::sync::Arc;

/// What clusters keep of a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduced {
    /// The name of the sample.
    pub name: String,
    /// The number of points that it moved.
    pub n_moved: usize,
    /// The number of points that keep their displacement.
    pub n_kept: usize,
    /// The root mean square of what is lost in its pose, as a fraction of that of the correction: 0 loses nothing. The
    /// error that the patches have without it is left out.
    pub residual: f64,
    /// The largest distance that a vertex misses of its correction, metres.
    pub largest: f64,
}

impl std::fmt::Display for Reduced {
    /// One sentence.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "\"{}\": {} of {} vertices keep their displacement; {:.1} % of the correction (rms) is lost, at most {} m.",
            self.name,
            self.n_kept,
            self.n_moved,
            100.0 * self.residual,
            rounded(self.largest),
        )
    }
}

/// Why samples are not reduced.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReduceError {
    /// The mesh has no set of this index, or nothing deforms it.
    #[error("The object has no corrective samples.")]
    NoSet,
    /// The mesh has no clusters.
    #[error("The object has no clusters. Mark some where the samples move it first.")]
    NoClusters,
    /// Free vertices keep their own samples.
    #[error(
        "With the surface \"Skinned free vertices\" each vertex keeps its own samples. Choose another surface first."
    )]
    SkinnedFree,
    /// No sample moves a cluster.
    #[error(
        "The samples move no cluster: nothing of them would be left. Mark clusters where they move the object first."
    )]
    NothingLeft,
    /// The changed samples cannot be interpolated.
    #[error("{0}.")]
    Samples(#[from] PsdError),
    /// It was cancelled.
    #[error("Cancelled.")]
    Cancelled(#[from] Cancelled),
}

/// The samples of a mesh with those of one set reduced to the displacements of its clusters, and what these keep of each
/// ([`extract`]). Parts of the mesh without a cluster keep theirs.
pub fn reduce(
    document: &Document,
    mesh: MeshId,
    set: usize,
    task: &Task,
) -> Result<(Correctives, Vec<Reduced>), ReduceError> {
    let item = document.meshes().get(&mesh).ok_or(ReduceError::NoSet)?;
    let instance = skinned_instance(document, mesh).ok_or(ReduceError::NoSet)?;
    let correctives = &item.correctives;
    let of = correctives.sets().get(set).ok_or(ReduceError::NoSet)?;
    let map = &item.clusters;
    if of.samples.is_empty() {
        return Err(ReduceError::NoSet);
    }
    if !map.acts() {
        return Err(ReduceError::NoClusters);
    }
    if map.settings().interpolation == Interpolation::SkinnedFree {
        return Err(ReduceError::SkinnedFree);
    }
    let layout = MeshLayout::quietly(&item.geometry, map, task)?;
    let keeps = |point: u32| {
        let vertex = layout.surface().vertex_of_point(point);
        map.group_of(point).is_some() || layout.layout().excluded.binary_search(&vertex).is_ok()
    };
    let bare = document.clone().without_correctives();
    let plain = bare.clone().without_clusters();
    let (mut skin, mut patched) = (Evaluator::default(), Evaluator::default());
    skin.evaluate(&plain, plain.rest_pose());
    let bind = skin.plan(instance).map(InstancePlan::inflated_bind);
    let bind = bind.ok_or(ReduceError::NoSet)?;
    let surface = layout.surface();
    let first = |vertex: u32| surface.points_of_vertex(vertex)[0] as usize;
    let n_vertices = surface.n_vertices() as u32;
    let positions = (0..n_vertices).map(|v| bind[first(v)].as_dvec3());
    let sized = surface.with_positions(positions.collect());
    let options = (map.settings().options(), map.settings().couples_normals);
    let mut reduced = Vec::new();
    let mut samples: Vec<Arc<Sample>> = Vec::new();
    for (i, sample) in of.samples.iter().enumerate() {
        task.step("Reducing samples", i as f32 / of.samples.len() as f32)?;
        let pose = pose_of(document, correctives, of, sample);
        skin.evaluate(&plain, &pose);
        patched.evaluate(&bare, &pose);
        let (Some(skinned), Some(with_patches)) = (skin.plan(instance), patched.plan(instance))
        else {
            return Err(ReduceError::NoSet);
        };
        let (patches, frames) = with_patches.patches().ok_or(ReduceError::NoClusters)?;
        let places: Vec<DVec3> = skinned.positions().iter().map(|p| p.as_dvec3()).collect();
        // In the world, where they are as long as at bind but for stretched limbs.
        let mut moved = vec![DVec3::ZERO; places.len()];
        for (point, place) in sculpted(skinned, &item.stack, &item.masks, of, &sample.displacements)
        {
            moved[point as usize] = place.as_dvec3() - places[point as usize];
        }
        let of_vertices =
            |of: &[DVec3]| -> Vec<DVec3> { (0..n_vertices).map(|v| of[first(v)]).collect() };
        // What the patches alone are off by is no loss of the correction.
        let uncorrected = with_patches.positions().iter().map(|p| p.as_dvec3());
        let corrective = Corrective {
            skinned: &of_vertices(&uncorrected.collect::<Vec<_>>()),
            rotations: &vec![DQuat::IDENTITY; n_vertices as usize],
            displacements: &of_vertices(&moved),
        };
        let found = extract(
            &sized,
            layout.layout(),
            patches.net(),
            options,
            &frames,
            &corrective,
        );
        let kept: Vec<_> = sample
            .displacements
            .iter()
            .filter(|(p, _)| keeps(*p))
            .collect();
        reduced.push(Reduced {
            name: sample.name.clone(),
            n_moved: sample.displacements.n_points(),
            n_kept: kept.len(),
            residual: found.residual,
            largest: found.largest,
        });
        let mut sample = Sample::clone(sample);
        sample.displacements = Displacements::new(kept);
        samples.push(Arc::new(sample));
    }
    task.check()?;
    if reduced.iter().all(|sample| sample.n_kept == 0) {
        return Err(ReduceError::NothingLeft);
    }
    let before: usize = correctives.sets()[..set]
        .iter()
        .map(|s| s.samples.len())
        .sum();
    let changed = correctives.map_samples(|index, sample| {
        let own = index.checked_sub(before).and_then(|i| samples.get(i));
        Some(own.unwrap_or(sample).clone())
    })?;
    Ok((changed, reduced))
}

/// A length with three digits that count.
fn rounded(length: f64) -> String {
    if length <= 0.0 || !length.is_finite() {
        return "0".to_owned();
    }
    let decimals = (2.0 - length.log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{length:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_said_in_a_sentence() {
        let reduced = Reduced {
            name: "Elbow 90".into(),
            n_moved: 668,
            n_kept: 64,
            residual: 0.107,
            largest: 0.003_456_7,
        };
        assert_eq!(
            reduced.to_string(),
            "\"Elbow 90\": 64 of 668 vertices keep their displacement; 10.7 % of the correction (rms) is lost, at most \
             0.00346 m."
        );
        assert_eq!(rounded(0.0), "0");
        assert_eq!(rounded(123.456), "123");
    }
}
