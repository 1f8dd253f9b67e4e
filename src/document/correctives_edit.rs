//! The corrective samples of a mesh, as an edit.

use super::dirty::Dirty;
use super::edit_error::EditError;
use super::{Document, MeshId};
use crate::deform::Correctives;
use crate::deform::correctives::{SampleSet, SampleVertices};
use std::sync::Arc;

/// New corrective samples for a mesh: one edit for a new sample, a stroke of a sculpting brush, a change of a set.
#[derive(Clone, Debug)]
pub struct CorrectivesEdit {
    /// The mesh.
    pub mesh: MeshId,
    /// Its samples.
    pub correctives: Arc<Correctives>,
    /// Bytes that the samples before and after do not share.
    bytes: usize,
}

impl CorrectivesEdit {
    /// The edit that gives a mesh of `document` these samples. Displacements of vertices that they may not hold
    /// ([`crate::deform::correctives::SampleVertices`]) are left out of samples that are new here, and stay in others. Samples whose displacements
    /// changed were captured over the present weights, if they fitted them before.
    pub fn new(document: &Document, mesh: MeshId, correctives: Arc<Correctives>) -> Self {
        let item = document.meshes.get(&mesh);
        let is_held = |set: &Arc<SampleSet>| set.vertices != SampleVertices::All;
        let correctives = match item {
            Some(item) if correctives.sets().iter().any(is_held) => {
                Arc::new(correctives.held_to(&item.clusters, &item.correctives))
            }
            _ => correctives,
        };
        let correctives = document.recaptured(mesh, correctives);
        let before = item.map(|item| &item.correctives);
        // Undo and redo swap the two: the larger difference counts.
        let bytes = before.map_or(0, |before| {
            let forth = correctives.bytes_beside(before);
            forth.max(before.bytes_beside(&correctives))
        });
        Self {
            mesh,
            correctives,
            bytes,
        }
    }

    pub(super) fn check(&self, document: &Document) -> Result<(), EditError> {
        document.check_correctives(self.mesh, &self.correctives)
    }

    pub(super) fn swap(&mut self, document: &mut Document, dirty: &mut Dirty) {
        if let Some(item) = document.meshes.get_mut(&self.mesh) {
            std::mem::swap(&mut Arc::make_mut(item).correctives, &mut self.correctives);
        }
        dirty.correctives.insert(self.mesh);
    }

    /// Folds a later edit of the same samples into this one, which holds the state before both.
    pub(super) fn absorb(&mut self, later: &Self) {
        self.bytes = self.bytes.max(later.bytes);
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.bytes
    }
}

impl Document {
    /// The active sample set of a mesh: the chosen one, else the first. `None` without sets.
    pub fn active_set(&self, mesh: MeshId) -> Option<usize> {
        let last = self
            .meshes
            .get(&mesh)?
            .correctives
            .sets()
            .len()
            .checked_sub(1)?;
        let chosen = self.session().active_samples.get(&mesh);
        Some(chosen.map_or(0, |active| active.set).min(last))
    }

    /// The active sample of a mesh, which is sculpted: its set and its index there. `None` where none is chosen.
    pub fn active_sample(&self, mesh: MeshId) -> Option<(usize, usize)> {
        let set = self.active_set(mesh)?;
        let sample = self.session().active_samples.get(&mesh)?.sample?;
        let sets = self.meshes.get(&mesh)?.correctives.sets();
        (sample < sets[set].samples.len()).then_some((set, sample))
    }

    /// Whether the skin moves alike in another document, before corrective samples.
    pub fn bends_the_same(&self, other: &Self) -> bool {
        let same_meshes = self.meshes.len() == other.meshes.len()
            && self
                .meshes
                .iter()
                .zip(&other.meshes)
                .all(|((i, a), (j, b))| {
                    let (rows, others) = (a.influences.chunks(), b.influences.chunks());
                    i == j
                        && Arc::ptr_eq(&a.geometry, &b.geometry)
                        && a.stack == b.stack
                        && a.masks == b.masks
                        && rows.len() == others.len()
                        && rows.iter().zip(others).all(|(a, b)| Arc::ptr_eq(a, b))
                });
        same_meshes && self.poses_the_same(other)
    }

    /// Whether bones, rest pose and constraints are the same in another document.
    pub fn poses_the_same(&self, other: &Self) -> bool {
        let (rest, other_rest) = (self.rest_pose(), other.rest_pose());
        let (rules, other_rules) = (self.constraints(), other.constraints());
        Arc::ptr_eq(self.skeleton(), other.skeleton())
            && (Arc::ptr_eq(rules, other_rules) || rules == other_rules)
            && (Arc::ptr_eq(rest, other_rest) || rest == other_rest)
    }

    /// Whether samples fit a mesh: their drivers are joints of the document, their points are those of the mesh.
    pub(super) fn check_correctives(
        &self,
        mesh: MeshId,
        correctives: &Correctives,
    ) -> Result<(), EditError> {
        let item = self.meshes.get(&mesh).ok_or(EditError::NoMesh(mesh))?;
        let n_joints = self.skeleton.n_live();
        for (_, driver) in correctives.drivers() {
            for joint in [Some(driver.joint), driver.relative_to]
                .into_iter()
                .flatten()
            {
                if !self.skeleton.is_live(joint) {
                    return Err(EditError::NoJoint { joint, n_joints });
                }
            }
        }
        let n_points = item.geometry.n_points();
        for sample in correctives.samples() {
            let last = sample.displacements.last_point();
            if let Some(point) = last.filter(|point| *point as usize >= n_points) {
                return Err(EditError::Point { point, n_points });
            }
        }
        Ok(())
    }

    /// Sets of samples of the project for meshes that the model does not have, as entries of the project: they are saved
    /// again, for the day that the mesh is back.
    pub fn unplaced_samples(&self) -> &[Arc<str>] {
        &self.unplaced_samples
    }

    /// Keeps a further set, see [`Document::unplaced_samples`].
    pub fn keep_unplaced_samples(&mut self, entry: Arc<str>) {
        Arc::make_mut(&mut self.unplaced_samples).push(entry);
    }

    /// The document without corrective samples.
    #[must_use]
    pub fn without_correctives(mut self) -> Self {
        for item in self.meshes.values_mut() {
            if !item.correctives.is_empty() {
                Arc::make_mut(item).correctives = Arc::default();
            }
        }
        self
    }
}
