//! What of control clusters the model has no place for, kept as text and saved again.

use super::ProjectError;
use super::cluster_entries::{ClusterEntry, GroupEntry};
use super::driven::{DataEntry, DriverEntry};
use super::migrate::from_ron;
use super::muscles::MuscleEntry;
use crate::cluster::channel::RecordingId;
use crate::cluster::{ClusterGroup, UnplacedLayer};
use crate::document::Document;
use crate::finding::Finding;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A layer of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum KeptLayer {
    Muscle(MuscleEntry),
    Driver(DriverEntry),
    Data(DataEntry),
}

impl KeptLayer {
    fn label(&self) -> (&'static str, &str) {
        match self {
            Self::Muscle(entry) => ("muscle", entry.title()),
            Self::Driver(entry) => ("driver", entry.title()),
            Self::Data(entry) => ("data", entry.title()),
        }
    }

    /// The recording that it reads.
    fn recording(&self) -> Option<RecordingId> {
        match self {
            Self::Muscle(_) => None,
            Self::Driver(entry) => entry.recording(),
            Self::Data(entry) => Some(entry.recording()),
        }
    }

    /// The layer, kept as text, and a finding that says so. `why`: a sentence.
    pub(super) fn keep(
        self,
        why: String,
        findings: &mut Vec<Finding>,
    ) -> Result<UnplacedLayer, String> {
        let (kind, name) = self.label();
        let place = format!("{kind} \"{name}\"");
        let said = format!("{why} The project keeps it, and it does not act.");
        findings.push(Finding::warning(place, said));
        Ok(UnplacedLayer {
            name: name.to_owned(),
            recording: self.recording(),
            why,
            entry: ron::to_string(&self).map_err(|why| why.to_string())?.into(),
        })
    }
}

/// Puts the layers that a group keeps back into its entry.
pub(super) fn restore(group: &ClusterGroup, entry: &mut GroupEntry) -> Result<(), String> {
    for kept in &group.unplaced {
        match from_ron(&kept.entry).map_err(|why| why.to_string())? {
            KeptLayer::Muscle(muscle) => entry.muscles.push(muscle),
            KeptLayer::Driver(driver) => entry.drivers.push(driver),
            KeptLayer::Data(data) => entry.data.push(data),
        }
    }
    Ok(())
}

/// The clusters of a mesh as text, to be saved again. `place`: for messages.
pub(super) fn kept(entry: &ClusterEntry, place: &str) -> Result<Arc<str>, ProjectError> {
    let text = ron::to_string(entry).map_err(|error| ProjectError::Damaged {
        place: place.to_owned(),
        why: error.to_string(),
    })?;
    Ok(text.into())
}

/// The entries of clusters whose mesh the model does not have, or that are not valid.
pub(super) fn entries(document: &Document) -> Result<Vec<ClusterEntry>, ProjectError> {
    let entries = document.unplaced_clusters().iter();
    entries.map(|entry| from_ron(entry)).collect()
}
