//! Sample sets: driver joints, and shapes sculpted at their poses.

use super::{CapturedOver, Fault, SampleVertices};
use crate::deform::DeformStack;
use crate::math::Transform;
use crate::math::transform::normalize_or_identity;
use crate::psd::{Displacements, DriverMode, Kernel, PsdError};
use crate::skeleton::{JointId, Skeleton};
use glam::DQuat;
use std::sync::Arc;

/// A joint whose rotation drives a set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Driver {
    /// The joint.
    pub joint: JointId,
    /// The joint that its rotation is relative to, at first its parent; `None`: the world. Both stay what they are when
    /// joints are inserted between them.
    pub relative_to: Option<JointId>,
    /// What of its rotation from bind counts.
    pub mode: DriverMode,
    /// The weight of its squared distance, > 0.
    pub lambda: f64,
    /// Its rotation where every sample is off, unit.
    pub bind: DQuat,
}

/// A pose of the drivers, and what was sculpted at it.
#[derive(Clone, Debug)]
pub struct Sample {
    /// A label.
    pub name: String,
    /// One for each driver of its set, as [`Driver::rotation`] gives them, unit.
    pub rotations: Vec<DQuat>,
    /// Drivers of other sets that were off bind when it was sculpted, with their rotations.
    pub beside: Vec<(JointId, DQuat)>,
    /// What it moves.
    pub displacements: Displacements,
    /// The stack that it was captured on: the displacements fit another one only roughly.
    pub captured_on: Arc<DeformStack>,
    /// The weights and painted maps that it was captured over.
    pub captured_over: CapturedOver,
    /// The factor of its displacements, 0 - 2.
    pub strength: f32,
    /// Whether it is left out; the interpolation of the others stays the same.
    pub muted: bool,
}

/// Driver joints and the samples at their poses; the bind pose is an implicit sample without displacement.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleSet {
    /// A label.
    pub name: String,
    /// At least one; no other set has one of these joints.
    pub drivers: Vec<Driver>,
    /// The radial basis function.
    pub kernel: Kernel,
    /// The factor of the kernel's shape parameter, 0.25 - 4.
    pub radius: f64,
    /// The ridge of the solve, >= 0; above 0 samples are not reproduced exactly.
    pub smoothing: f64,
    /// The range of weights; holds 0 and 1.
    pub clamp: [f64; 2],
    /// Whether the correction fades out far from every sample.
    pub fade: bool,
    /// Whether each vertex weighs the drivers by its own skin weights ([`super::PointWeights`]).
    pub weighted: bool,
    /// Whether displacements stretch with the scale and shear of the joints: `R A d` instead of `R d`, where A blends
    /// their stretches by the skin weights of the point.
    pub scale_with_limb: bool,
    /// Which vertices its samples hold.
    pub vertices: SampleVertices,
    /// The samples.
    pub samples: Vec<Arc<Sample>>,
    /// Why it is off; `None`: it is solved.
    pub fault: Option<Fault>,
}

impl Driver {
    /// The driver of a joint relative to its parent, as a ball, whose bind is `rest`.
    pub fn of_joint(joint: JointId, skeleton: &Skeleton, rest: &[Transform]) -> Self {
        let mut driver = Self {
            joint,
            relative_to: skeleton.joint(joint).parent,
            mode: DriverMode::Ball,
            lambda: 1.0,
            bind: DQuat::IDENTITY,
        };
        driver.bind = driver.rotation(skeleton, rest);
        driver
    }

    /// The joint's rotation relative to [`Driver::relative_to`], unit: the product of the local rotations in between,
    /// without their scale. `locals`: n_joints.
    pub fn rotation(&self, skeleton: &Skeleton, locals: &[Transform]) -> DQuat {
        let local = |joint: JointId| {
            locals
                .get(joint.get())
                .map_or(DQuat::IDENTITY, |t| t.rotation)
        };
        let path = |from: JointId, to: Option<JointId>| {
            let above = skeleton.ancestors(from);
            let mut rotation = local(from);
            for joint in above.take_while(|&joint| Some(joint) != to) {
                rotation = local(joint) * rotation;
            }
            rotation
        };
        let to_stop = path(self.joint, self.relative_to);
        let rotation = match self.relative_to {
            Some(other) if !skeleton.ancestors(self.joint).any(|j| j == other) => {
                path(other, None).conjugate() * to_stop
            }
            _ => to_stop,
        };
        normalize_or_identity(rotation)
    }

    /// The same driver in another skin: the joint at its place there, where there is one. `from`, `to`: the joints of the
    /// skins; `rest`: n_joints of the skeleton, local. Its bind is as far from rest as here.
    #[must_use]
    pub fn in_skin(
        &self,
        from: &[JointId],
        to: &[JointId],
        skeleton: &Skeleton,
        rest: &[Transform],
    ) -> Self {
        let there = |joint: JointId| {
            let place = from.iter().position(|j| *j == joint);
            place.and_then(|place| to.get(place)).copied()
        };
        let Some(joint) = there(self.joint).filter(|joint| *joint != self.joint) else {
            return *self;
        };
        let relative_to = if self.relative_to == skeleton.joint(self.joint).parent {
            skeleton.joint(joint).parent
        } else {
            self.relative_to.map(|other| there(other).unwrap_or(other))
        };
        let mut driver = Self {
            joint,
            relative_to,
            ..*self
        };
        let (own, theirs) = (
            self.rotation(skeleton, rest),
            driver.rotation(skeleton, rest),
        );
        driver.bind = normalize_or_identity(theirs * own.conjugate() * self.bind);
        driver
    }

    /// Rotates the joint in `locals` so that [`Driver::rotation`] is `rotation`.
    pub fn pose(&self, rotation: DQuat, skeleton: &Skeleton, locals: &mut [Transform]) {
        if let Some(local) = locals.get_mut(self.joint.get()) {
            local.rotation = DQuat::IDENTITY;
            let above = self.rotation(skeleton, locals);
            locals[self.joint.get()].rotation = normalize_or_identity(above.conjugate() * rotation);
        }
    }

    /// A rotation of [`Driver::rotation`] from bind, in the joint's own space.
    pub fn from_bind(&self, rotation: DQuat) -> DQuat {
        normalize_or_identity(self.bind.conjugate() * rotation)
    }
}

impl Sample {
    /// Whether it can move a point.
    pub fn acts(&self) -> bool {
        !self.muted && self.strength > 0.0 && !self.displacements.is_empty()
    }
}

impl SampleSet {
    /// A set without samples, with the defaults: multiquadric, weights from -0.15 to 1.15.
    pub fn new(name: String, drivers: Vec<Driver>) -> Self {
        Self {
            name,
            drivers,
            kernel: Kernel::default(),
            radius: 1.0,
            smoothing: 0.0,
            clamp: [-0.15, 1.15],
            fade: false,
            weighted: false,
            scale_with_limb: false,
            vertices: SampleVertices::default(),
            samples: Vec::new(),
            fault: None,
        }
    }

    /// The number of its samples, in the project too where a driver bone is missing.
    pub fn n_samples(&self) -> usize {
        match &self.fault {
            Some(Fault::NoBone { n_samples, .. }) => *n_samples,
            _ => self.samples.len(),
        }
    }

    /// Whether the numbers that the interpolation does not read are within their ranges.
    pub(super) fn check(&self) -> Result<(), PsdError> {
        let wrong = |what: String| {
            Err(PsdError::Value {
                set: self.name.clone(),
                what,
            })
        };
        let is_rotation = |q: DQuat| (q.length() - 1.0).abs() < 1e-6;
        if !self.drivers.iter().all(|driver| is_rotation(driver.bind)) {
            return wrong("the bind rotation of a driver does not have length 1".into());
        }
        for sample in &self.samples {
            let name = &sample.name;
            if !(0.0..=2.0).contains(&sample.strength) {
                return wrong(format!(
                    "the strength {} of the sample \"{name}\" is not 0 - 2",
                    sample.strength
                ));
            }
            let rotations = sample.rotations.iter();
            let beside = sample.beside.iter().map(|(_, rotation)| rotation);
            if !rotations.chain(beside).all(|q| is_rotation(*q)) {
                return wrong(format!(
                    "the sample \"{name}\" has a rotation whose length is not 1"
                ));
            }
            if let Some((point, _)) = sample.displacements.iter().find(|(_, d)| !d.is_finite()) {
                return wrong(format!(
                    "the sample \"{name}\" moves vertex {point} by a value that is not finite"
                ));
            }
        }
        Ok(())
    }
}
