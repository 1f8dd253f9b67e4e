//! Proposed samples -> an edit of the document.

use super::proposal::{Proposal, Suggestion};
use crate::deform::correctives::{Correctives, Driver, Sample, SampleSet};
use crate::document::{CorrectivesEdit, Document};
use crate::math::Worse;
use crate::math::transform::normalize_or_identity;
use crate::psd::{DriverMode, PsdError};
use crate::skeleton::Pose;
use glam::DQuat;
use std::sync::Arc;

/// Samples of the joint that are closer than this to an accepted one are replaced, degrees.
const REPLACED: f64 = 15.0;

/// Poses of the joint that are closer are one, radians.
const SAME: f64 = 1e-6;

impl Suggestion {
    /// The edit that adds the proposals that `accepts` takes (by their index) to the set that the joint drives, or to a
    /// new one where there is none or it is off. Samples at nearly the same pose are replaced. Fails where the interpolation of the samples has no
    /// solution.
    pub fn accept(
        &self,
        document: &Document,
        accepts: impl Fn(usize) -> bool,
    ) -> Result<CorrectivesEdit, PsdError> {
        let taken = self.proposals.iter().enumerate();
        let taken = taken
            .filter(|(k, _)| accepts(*k))
            .map(|(_, proposal)| proposal);
        let correctives = self.with(document, taken)?;
        Ok(CorrectivesEdit::new(
            document,
            self.mesh,
            Arc::new(correctives),
        ))
    }

    /// The sample of the document in the pose of a proposal; `None` where there is none.
    pub fn sample_at<'a>(
        &self,
        document: &'a Document,
        proposal: &Proposal,
    ) -> Option<&'a Arc<Sample>> {
        let sets = document.meshes().get(&self.mesh)?.correctives.sets();
        let set = sets.iter().find(|set| self.is_driver_of(set))?;
        let rotations = self.rotations(document, set, proposal);
        let mut samples = set.samples.iter();
        samples.find(|sample| angle(&set.drivers, &sample.rotations, &rotations) < SAME)
    }

    /// Whether the joint drives a set that is not off.
    fn is_driver_of(&self, set: &SampleSet) -> bool {
        set.fault.is_none() && set.drivers.iter().any(|d| d.joint == self.joint)
    }

    /// The rotations of the drivers of a set in the pose of a proposal.
    fn rotations(&self, document: &Document, set: &SampleSet, proposal: &Proposal) -> Vec<DQuat> {
        let mut pose = Pose::clone(document.rest_pose());
        let local = &mut pose.locals[self.joint.get()];
        local.rotation = normalize_or_identity(local.rotation * proposal.rotation());
        let drivers = set.drivers.iter();
        drivers
            .map(|driver| driver.rotation(document.skeleton(), &pose.locals))
            .collect()
    }

    fn with<'a>(
        &self,
        document: &Document,
        taken: impl Iterator<Item = &'a Proposal>,
    ) -> Result<Correctives, PsdError> {
        let skeleton = document.skeleton();
        let Some(item) = document.meshes().get(&self.mesh) else {
            return Ok(Correctives::default());
        };
        let mut sets = item.correctives.sets().to_vec();
        let index = sets
            .iter()
            .position(|set| self.is_driver_of(set))
            .unwrap_or_else(|| {
                let rest = &document.rest_pose().locals;
                let driver = Driver {
                    mode: self.mode,
                    ..Driver::of_joint(self.joint, skeleton, rest)
                };
                let set = SampleSet::new(skeleton.label(self.joint), vec![driver]);
                sets.push(Arc::new(set));
                sets.len() - 1
            });
        let set = Arc::make_mut(&mut sets[index]);
        for proposal in taken {
            let rotations = self.rotations(document, set, proposal);
            let drivers = set.drivers.clone();
            set.samples.retain(|known| {
                angle(&drivers, &known.rotations, &rotations) >= REPLACED.to_radians()
            });
            let taken = |name: &str| set.samples.iter().any(|sample| sample.name == name);
            let mut names = (2..).map(|n| format!("{} ({n})", proposal.name));
            let name = if taken(&proposal.name) {
                names.find(|name| !taken(name)).unwrap_or_default()
            } else {
                proposal.name.clone()
            };
            let displacements = proposal.captured.for_set(set).clone();
            set.samples.push(Arc::new(Sample {
                name,
                rotations,
                beside: Vec::new(),
                displacements,
                captured_on: item.stack.clone(),
                captured_over: document.captured_now(self.mesh),
                strength: 1.0,
                muted: false,
            }));
        }
        Correctives::new(sets)
    }
}

/// The largest angle between the rotations of a driver, radians.
fn angle(drivers: &[Driver], a: &[DQuat], b: &[DQuat]) -> f64 {
    let each = drivers.iter().zip(a.iter().zip(b)).map(|(driver, (a, b))| {
        let feature = |q: &DQuat| driver.mode.feature(driver.from_bind(*q));
        let distance = driver
            .mode
            .distance_squared(&feature(a), &feature(b))
            .sqrt();
        match driver.mode {
            DriverMode::Hinge(_) => distance,
            _ => 2.0 * (0.5 * distance).min(1.0).asin(),
        }
    });
    each.fold(0.0, f64::worse)
}
