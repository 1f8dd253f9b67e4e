//! How far the markers of the active data are from their vertices, measured once until something about it changes.

use super::Editor;
use crate::cluster::DataLayer;
use crate::cluster::channel::Recordings;
use crate::document::{Document, FitResidual, MeshId};
use std::sync::Arc;

/// The residual that was measured last, and of what.
pub(in crate::editor) struct KnownResidual {
    document: Document,
    mesh: MeshId,
    layer: DataLayer,
    recordings: Arc<Recordings>,
    residual: Option<FitResidual>,
}

impl Editor {
    /// How the markers of data of the active group fit their vertices at the reference time; `None` without markers.
    pub fn data_residual(&mut self, layer: usize) -> Option<FitResidual> {
        let mesh = self.clustered_mesh()?;
        let data = self.group_layers::<DataLayer>().get(layer)?.clone();
        let recordings = self.document.recordings();
        let known = self.residual.as_ref().filter(|known| {
            known.mesh == mesh
                && known.layer == data
                && Arc::ptr_eq(&known.recordings, recordings)
                && known.document.bends_the_same(&self.document)
        });
        if let Some(known) = known {
            return known.residual.clone();
        }
        let recording = self.recording_of_data(layer);
        let residual =
            recording.and_then(|recording| self.document.residual_of_data(mesh, &data, &recording));
        self.residual = Some(KnownResidual {
            document: self.document.clone(),
            mesh,
            layer: data,
            recordings: recordings.clone(),
            residual: residual.clone(),
        });
        residual
    }
}
