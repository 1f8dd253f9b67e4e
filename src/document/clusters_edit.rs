//! The control clusters of a mesh, as an edit.

use super::dirty::Dirty;
use super::edit_error::EditError;
use super::{Document, Instance, MeshId, MeshItem};
use crate::cluster::ClusterMap;
use std::sync::Arc;

/// New control clusters for a mesh: one edit for a stroke that marks points, a change of a group or of the settings.
#[derive(Clone, Debug)]
pub struct ClustersEdit {
    /// The mesh.
    pub mesh: MeshId,
    /// Its clusters.
    pub clusters: Arc<ClusterMap>,
    /// Bytes that the clusters before and after do not share.
    bytes: usize,
}

impl ClustersEdit {
    /// The edit that gives a mesh of `document` these clusters.
    pub fn new(document: &Document, mesh: MeshId, clusters: Arc<ClusterMap>) -> Self {
        let before = document.meshes.get(&mesh).map(|item| &item.clusters);
        // Undo and redo swap the two: the larger difference counts.
        let bytes = before.map_or(0, |before| {
            let forth = clusters.bytes_beside(before);
            forth.max(before.bytes_beside(&clusters))
        });
        Self {
            mesh,
            clusters,
            bytes,
        }
    }

    pub(super) fn check(&self, document: &Document) -> Result<(), EditError> {
        document.check_clusters(self.mesh, &self.clusters)
    }

    pub(super) fn swap(&mut self, document: &mut Document, dirty: &mut Dirty) {
        if let Some(item) = document.meshes.get_mut(&self.mesh) {
            std::mem::swap(&mut Arc::make_mut(item).clusters, &mut self.clusters);
        }
        dirty.clusters.insert(self.mesh);
    }

    /// Folds a later edit of the same clusters into this one, which holds the state before both.
    pub(super) fn absorb(&mut self, later: &Self) {
        self.bytes = self.bytes.max(later.bytes);
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.bytes
    }
}

impl Document {
    /// Whether clusters fit a mesh: their points and those moved by hand are those of the mesh; the bones of their muscles, and
    /// what their drivers and data read, are those of the document.
    pub(super) fn check_clusters(
        &self,
        mesh: MeshId,
        clusters: &ClusterMap,
    ) -> Result<(), EditError> {
        let item = self.meshes.get(&mesh).ok_or(EditError::NoMesh(mesh))?;
        let n_joints = self.skeleton.n_live();
        for (_, muscle) in clusters.muscles() {
            for joint in [muscle.upper, muscle.lower] {
                if !self.skeleton.is_live(joint) {
                    return Err(EditError::NoJoint { joint, n_joints });
                }
            }
        }
        let n_points = item.geometry.n_points();
        let is_point = |point: u32| {
            if (point as usize) < n_points {
                Ok(())
            } else {
                Err(EditError::Point { point, n_points })
            }
        };
        for (_, driver) in clusters.drivers() {
            // A joint may have been removed: the driver then rests. One that never was is a mistake.
            let mut joints = driver.joints().into_iter();
            if let Some(joint) = joints.find(|joint| joint.get() >= self.skeleton.len()) {
                return Err(EditError::NoJoint { joint, n_joints });
            }
            driver.points().into_iter().try_for_each(is_point)?;
        }
        let bindings = clusters.data().flat_map(|(_, data)| &data.bindings);
        let mut bound = bindings.flat_map(|binding| &binding.clusters);
        bound.try_for_each(|&point| is_point(point))?;
        let mut read = clusters.recordings().into_iter();
        if let Some(recording) = read.find(|id| !self.recordings.contains_key(id)) {
            return Err(EditError::NoRecording(recording));
        }
        let by_hand = clusters.groups().iter();
        let by_hand = by_hand.filter_map(|group| group.hand.last_control());
        match clusters.last_point().into_iter().chain(by_hand).max() {
            Some(point) if point as usize >= n_points => Err(EditError::Point { point, n_points }),
            _ => Ok(()),
        }
    }

    /// Whether control clusters deform an instance that has no skin.
    pub fn is_driven(&self, instance: &Instance) -> bool {
        let item = self.meshes.get(&instance.mesh);
        let is_driven =
            |item: &MeshItem| item.clusters.acts() && item.clusters.moves_without_skin();
        instance.skin.is_none() && item.is_some_and(|item| is_driven(item))
    }

    /// Whether a mesh has groups of control clusters, with clusters or yet without.
    pub fn has_cluster_groups(&self) -> bool {
        self.meshes.values().any(|item| !item.clusters.is_empty())
    }

    /// Whether a mesh has control clusters.
    pub fn has_clusters(&self) -> bool {
        self.meshes.values().any(|item| item.clusters.acts())
    }

    /// Clusters of the project for meshes that the model does not have, or that are not valid, as entries of the project:
    /// they are saved again.
    pub fn unplaced_clusters(&self) -> &[Arc<str>] {
        &self.unplaced_clusters
    }

    /// Keeps further clusters, see [`Document::unplaced_clusters`].
    pub fn keep_unplaced_clusters(&mut self, entry: Arc<str>) {
        Arc::make_mut(&mut self.unplaced_clusters).push(entry);
    }

    /// The document without control clusters.
    #[must_use]
    pub fn without_clusters(mut self) -> Self {
        for item in self.meshes.values_mut() {
            if !item.clusters.is_empty() {
                Arc::make_mut(item).clusters = Arc::default();
            }
        }
        self
    }
}
