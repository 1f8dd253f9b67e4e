//! The sample that is sculpted, and whether it can be in the pose on screen.

use super::{Document, InstanceId, MeshId};
use crate::deform::correctives::{PointWeights, WeightsWork};

/// A sample with a smaller weight in the pose is not sculpted: the displacement would be more than four times as large
/// as the offset on screen.
const LEAST_WEIGHT: f64 = 0.25;

/// A sample with a smaller strength is not sculpted, for the same reason.
const LEAST_STRENGTH: f32 = 0.25;

/// The active sample of a mesh, in the pose on screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SculptTarget {
    /// The instance on which it is sculpted.
    pub instance: InstanceId,
    /// Its mesh.
    pub mesh: MeshId,
    /// The sample's set.
    pub set: usize,
    /// Its index in the set.
    pub sample: usize,
}

/// The factor of the displacement of each point: its weight in the pose times the strength of the sample. In a weighted
/// set it depends on the skin weights of the point.
#[derive(Debug)]
pub struct SculptFactors {
    weights: PointWeights,
    index: usize,
    strength: f64,
    /// Whether the displacements stretch with the scale of the joints.
    pub scales: bool,
}

impl SculptFactors {
    /// The factor of a point. Where the sample has hardly any weight, the offset falls behind instead of growing beyond
    /// bounds.
    pub fn at(&mut self, point: u32) -> f64 {
        let weight = self.weights.at(point).get(self.index).copied();
        weight.unwrap_or(1.0).max(LEAST_WEIGHT) * self.strength
    }
}

impl SculptTarget {
    /// The factors of all points in the pose on screen.
    pub fn factors(&self, document: &Document) -> Option<SculptFactors> {
        let correctives = &document.meshes().get(&self.mesh)?.correctives;
        let index = correctives.index_of(self.set, self.sample)?;
        Some(SculptFactors {
            weights: document.point_weights(self.instance)?,
            index,
            strength: f64::from(correctives.samples()[index].strength),
            scales: correctives.sets()[self.set].scale_with_limb,
        })
    }

    /// What is sculpted on `instance` in the pose on screen, or the reason why nothing can be.
    pub fn find(document: &Document, instance: InstanceId) -> Result<Self, String> {
        let gone = "The mesh does not exist any more.";
        let drawn = document.instances().get(&instance).ok_or(gone)?;
        let mesh = drawn.mesh;
        let item = document.meshes().get(&mesh).ok_or(gone)?;
        let name = &item.geometry.name;
        if drawn.skin.is_none() {
            return Err(format!(
                "\"{name}\" has no skin: it has no samples to sculpt."
            ));
        }
        let session = document.session();
        if session.active_mesh != Some(mesh) {
            return Err(format!("Select \"{name}\" first, to sculpt its samples."));
        }
        let correctives = &item.correctives;
        let Some((set, index)) = document.active_sample(mesh) else {
            return Err("Add a sample at this pose first, or select one.".into());
        };
        let owner = &correctives.sets()[set];
        let sample = &owner.samples[index];
        if owner.fault.is_some() {
            return Err(format!("The set \"{}\" is off. See Problems.", owner.name));
        }
        if sample.muted {
            return Err(format!("Unmute \"{}\" first, to sculpt it.", sample.name));
        }
        if sample.strength < LEAST_STRENGTH {
            return Err(format!(
                "Raise the strength of \"{}\" first: it is {:.2}.",
                sample.name, sample.strength
            ));
        }
        if owner.vertices.is_lost(&item.clusters) {
            return Err(format!(
                "The set \"{}\" holds control clusters of the group \"{}\", which does not exist. Choose its vertices again.",
                owner.name,
                owner.vertices.group().unwrap_or_default()
            ));
        }
        let held = owner.vertices.points(&item.clusters);
        if held.is_some_and(|held| held.is_empty()) {
            return Err(format!(
                "The set \"{}\" holds only control clusters, and none are marked: mark some, or let it hold all vertices.",
                owner.name
            ));
        }
        let pose = document.shown_pose();
        let mut work = WeightsWork::default();
        let drivers = document.drivers_of(drawn);
        let (skeleton, locals) = (document.skeleton(), &pose.locals);
        let weights = correctives.weights_by(drivers.as_deref(), skeleton, locals, &mut work);
        let weight = correctives.index_of(set, index).map(|i| weights[i]);
        let weight = weight.unwrap_or_default();
        if weight.is_nan() || weight < LEAST_WEIGHT {
            return Err(format!(
                "Go to \"{}\" first: its weight in this pose is {weight:.2}.",
                sample.name
            ));
        }
        Ok(Self {
            instance,
            mesh,
            set,
            sample: index,
        })
    }
}
