//! Commands on the control clusters of the active object.
//!
//! Data flow: a command derives a new [`ClusterMap`] from that of the mesh and applies it as one edit; strokes go through
//! [`crate::tools::Marking`].
//!
//! Invariant: a change that is refused leaves the document as it was and says why in one sentence.

mod aligning;
mod cage_replacement;
mod control_net;
mod controls;
mod data_layers;
mod data_residual;
mod driver_subject;
mod driver_values;
mod drivers;
mod group_layers;
mod groups;
mod hand;
mod keys;
mod marker_match;
mod marks;
mod muscle_site;
mod muscles;
mod net;
mod object_size;
mod recording_table;
mod recording_watch;
mod recordings;
mod sparse;
mod stamps;
mod suggesting;

pub(super) use aligning::Aligning;
pub(super) use data_residual::KnownResidual;
pub(super) use driver_values::DriverValues;
pub(super) use muscles::Muscles;
pub(super) use recording_table::RecordingTables;
pub(super) use recording_watch::RecordingWatch;
pub(super) use recordings::{NOT_TIMED, RecordingFiles, free_recording_name};
pub(super) use sparse::SparseClusters;
pub(super) use suggesting::ClusterSuggestions;

pub use aligning::SuggestedOffset;
pub use controls::ControlPoints;
pub use driver_values::DriverValue;
pub use drivers::DriverSource;
pub use group_layers::{ActiveLayers, GroupLayer};
pub use keys::GroupKeys;
pub use muscle_site::MuscleSite;
pub use recording_table::{TABLE_RATES, TableOptions};
pub use suggesting::ClusterTarget;

use super::Editor;
use crate::cluster::{ClusterMap, MapError, PatchSettings};
use crate::document::{ClustersEdit, Edit, MeshId, MeshItem};
use crate::finding::Place;
use crate::tools::PointerEvent;
use std::sync::Arc;

/// The editor's state for control clusters; not part of the document.
#[derive(Default)]
pub(super) struct Clustering {
    /// The transform of clusters in progress.
    moving: Option<hand::ClusterMove>,
    /// The keyframe of a group that is dragged.
    key_drag: Option<keys::GroupKeyDrag>,
    pub(super) net: control_net::ShownNet,
    size: object_size::ObjectSize,
    /// The cage that is being replaced.
    replacement: cage_replacement::CageReplacement,
}

impl Clustering {
    /// Drops what belongs to a model, for another one.
    pub(super) fn forget_model(&mut self) {
        self.replacement = cage_replacement::CageReplacement::default();
        self.size = object_size::ObjectSize::default();
    }
}

impl Editor {
    /// The object whose control clusters are shown and edited: the active one.
    pub fn clustered_mesh(&self) -> Option<MeshId> {
        let mesh = self.document.session().active_mesh?;
        self.document.meshes().contains_key(&mesh).then_some(mesh)
    }

    /// Its control clusters; `None` without an active object.
    pub fn clusters(&self) -> Option<&Arc<ClusterMap>> {
        Some(&self.clustered_item()?.1.clusters)
    }

    /// How the free points of the object follow its clusters.
    pub fn patch_settings(&self) -> PatchSettings {
        self.clusters()
            .map(|map| *map.settings())
            .unwrap_or_default()
    }

    /// Changes how the free points follow, as one undo step or as part of the open one.
    pub fn set_patch_settings(&mut self, label: &str, settings: PatchSettings) -> bool {
        self.change_clusters(label, |map| map.with_settings(settings))
    }

    /// Starts a stroke that marks clusters of the object under the pointer, which becomes the active one; further events
    /// go to [`Editor::pointer`].
    pub fn begin_marking(&mut self, event: &PointerEvent) {
        self.edit_template();
        self.end_stroke(true);
        if let Some((instance, _)) = self.hit(event.ndc, event.size_px) {
            self.set_active_mesh(instance);
        }
        self.with_marking(|marking, context| marking.pointer(event, context));
    }

    fn clustered_item(&self) -> Option<(MeshId, &MeshItem)> {
        let mesh = self.clustered_mesh()?;
        let item = self.document.meshes().get(&mesh)?;
        Some((mesh, item))
    }

    /// Changes the clusters of the object as one undo step, or as part of the step opened with [`Editor::begin_step`].
    /// Returns whether they changed.
    pub(super) fn change_clusters(
        &mut self,
        label: &str,
        change: impl FnOnce(&ClusterMap) -> Result<ClusterMap, MapError>,
    ) -> bool {
        let is_tool = self.is_painting() || self.is_posing() || self.is_dragging_keys();
        if is_tool {
            self.finish_tool();
        }
        let Some((mesh, item)) = self.clustered_item() else {
            self.notify("Select an object first.");
            return false;
        };
        let changed = match change(&item.clusters) {
            Ok(changed) => changed,
            Err(why) => {
                let Some(point) = why.point() else {
                    self.notify(sentence(&why));
                    return false;
                };
                let target = Place::Points {
                    mesh: mesh.0,
                    points: [point].into(),
                };
                let text = about_vertex(item, &why, point);
                self.notify_at(text, target);
                return false;
            }
        };
        if changed == *item.clusters {
            return false;
        }
        let edit = ClustersEdit::new(&self.document, mesh, Arc::new(changed));
        match self.apply(Edit::Clusters(edit), label) {
            Ok(()) => true,
            Err(error) => {
                self.notify_error(sentence(&error));
                false
            }
        }
    }
}

/// An error about a vertex, with its object and group.
fn about_vertex(item: &MeshItem, why: &MapError, point: u32) -> String {
    let map = &item.clusters;
    let group = map.group_of(point).map(usize::from);
    let group = group.and_then(|group| map.groups().get(group));
    let of = group.map_or_else(String::new, |group| format!(", group \"{}\"", group.name));
    format!("\"{}\"{of}: {why}.", item.geometry.name)
}

/// An error as a sentence.
fn sentence(error: &impl std::fmt::Display) -> String {
    let mut text = error.to_string();
    if let Some(first) = text.get(..1).map(str::to_uppercase) {
        text.replace_range(..1, &first);
    }
    text.push('.');
    text
}
