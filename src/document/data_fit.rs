//! How the markers of recorded data fit the vertices that they move.

use super::{Document, MeshId};
use crate::cluster::channel::{Recording, SimilarityFit};
use crate::cluster::{DataLayer, Fit};
use glam::DVec3;

/// How far the markers of data are from the vertices that they move, at its reference time after the fit.
#[derive(Clone, Debug, PartialEq)]
pub struct FitResidual {
    /// The number of markers that count: those with a value then, and with vertices.
    pub n_markers: usize,
    /// The root mean square of their distances, metres of the world, which is the unit of glTF.
    pub rms: f64,
    /// The marker that is farthest off.
    pub worst: String,
    /// And how far, metres.
    pub largest: f64,
}

impl Document {
    /// The residual of data after its fit, also where it has none; `None` without markers.
    pub fn residual_of_data(
        &self,
        mesh: MeshId,
        data: &DataLayer,
        recording: &Recording,
    ) -> Option<FitResidual> {
        let named = self.named_pairs(mesh, data, recording);
        let pairs: Vec<[DVec3; 2]> = named.iter().map(|(_, pair)| *pair).collect();
        let map = data.similarity(&pairs);
        let off = |[marker, vertex]: [DVec3; 2]| map.point(marker).distance(vertex);
        let farthest = named.iter().map(|(name, pair)| (*name, off(*pair)));
        // Of equals the first.
        let (worst, largest) = farthest.rev().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let squares: f64 = pairs.iter().map(|pair| off(*pair).powi(2)).sum();
        let rms = (squares / pairs.len() as f64).sqrt();
        rms.is_finite().then(|| FitResidual {
            n_markers: pairs.len(),
            rms,
            worst: worst.to_owned(),
            largest,
        })
    }

    /// The markers of data at its reference time, in the axes and the unit of the scene, and the rest places of the vertices that
    /// each moves: [marker, vertex], world, metres.
    pub fn marker_pairs(
        &self,
        mesh: MeshId,
        data: &DataLayer,
        recording: &Recording,
    ) -> Vec<[DVec3; 2]> {
        let named = self.named_pairs(mesh, data, recording).into_iter();
        named.map(|(_, pair)| pair).collect()
    }

    /// [`Document::marker_pairs`] with the names of the markers.
    fn named_pairs<'a>(
        &self,
        mesh: MeshId,
        data: &'a DataLayer,
        recording: &Recording,
    ) -> Vec<(&'a str, [DVec3; 2])> {
        let reference = data.reference_time(recording);
        let sampling = data.played.sampling;
        let at_rest = |name: &str| recording.marker(name, sampling)?.ok()?.at(reference);
        let pairs = data.bindings.iter().filter_map(|binding| {
            let marker = binding.marker(at_rest(&binding.channel)?);
            let places = self.rest_places(mesh, &binding.clusters);
            let n = places.len() as f64;
            let middle = places.iter().map(|p| p.1).sum::<DVec3>() / n.max(1.0);
            (n > 0.0).then_some((binding.channel.as_str(), [marker, middle]))
        });
        pairs.collect()
    }

    /// The fit of data to the vertices that its markers move; `None` without a fit or without markers.
    pub fn fit_of_data(
        &self,
        mesh: MeshId,
        data: &DataLayer,
        recording: &Recording,
    ) -> Option<SimilarityFit> {
        data.fitted(&self.marker_pairs(mesh, data, recording))
    }

    /// Metres of the world in one metre of data as its markers are fitted.
    pub fn scale_of_data(&self, mesh: MeshId, data: &DataLayer, recording: &Recording) -> f64 {
        if data.fit != Fit::Similarity {
            return 1.0;
        }
        let fit = self.fit_of_data(mesh, data, recording);
        fit.map_or(1.0, |fit| fit.map.scale)
    }
}
