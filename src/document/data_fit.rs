//! How the markers of recorded data fit the vertices that they move.

use super::{Document, MeshId};
use crate::cluster::channel::{Recording, SimilarityFit};
use crate::cluster::{DataLayer, Fit};
use glam::DVec3;

impl Document {
    /// The markers of data at its reference time, in the axes and the unit of the scene, and the rest places of the vertices that
    /// each moves: [marker, vertex], world, metres.
    pub fn marker_pairs(
        &self,
        mesh: MeshId,
        data: &DataLayer,
        recording: &Recording,
    ) -> Vec<[DVec3; 2]> {
        let reference = data.reference_time(recording);
        let sampling = data.played.sampling;
        let at_rest = |name: &str| recording.marker(name, sampling)?.ok()?.at(reference);
        let pairs = data.bindings.iter().filter_map(|binding| {
            let marker = binding.marker(at_rest(&binding.channel)?);
            let places = self.rest_places(mesh, &binding.clusters);
            let n = places.len() as f64;
            let middle = places.iter().map(|p| p.1).sum::<DVec3>() / n.max(1.0);
            (n > 0.0).then_some([marker, middle])
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
