//! The sample that a stroke sculpts.

use crate::deform::correctives::WeightsWork;
use crate::document::{Document, InstanceId, MeshId};

/// A sample with a smaller weight in the pose is not sculpted: the displacement would be more than four times as large
/// as the offset on screen.
const LEAST_WEIGHT: f64 = 0.25;

/// A sample with a smaller strength is not sculpted, for the same reason.
const LEAST_STRENGTH: f32 = 0.25;

/// The active sample of a mesh, in the pose on screen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) instance: InstanceId,
    pub(super) mesh: MeshId,
    pub(super) set: usize,
    /// Its index in the set.
    pub(super) sample: usize,
    /// Its weight in the pose times its strength: the offset of a point is this times R d.
    pub(super) factor: f64,
}

impl Target {
    /// What a stroke on `instance` sculpts, or the reason why it cannot.
    pub(super) fn find(document: &Document, instance: InstanceId) -> Result<Self, String> {
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
        let sets = item.correctives.sets();
        let chosen = session.active_samples.get(&mesh);
        let place = chosen.and_then(|active| Some((active.set, active.sample?)));
        let place = place.and_then(|(set, sample)| Some((set, sample, sets.get(set)?)));
        let found = place.and_then(|(set, i, of)| Some((set, i, of, of.samples.get(i)?)));
        let Some((set, index, owner, sample)) = found else {
            return Err("Add a sample at this pose first, or select one.".into());
        };
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
        let pose = document.shown_pose();
        let mut work = WeightsWork::default();
        let weights = item
            .correctives
            .weights(document.skeleton(), &pose.locals, &mut work);
        let first: usize = sets[..set].iter().map(|set| set.samples.len()).sum();
        let weight = weights.get(first + index).copied().unwrap_or_default();
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
            factor: weight * f64::from(sample.strength),
        })
    }
}
