//! Weights of corrective samples from the `psd` list of a written file, as an engine computes them.
//!
//! The manual documents the format ("Driving helper joints").

use crate::document::{Document, MeshId};
use crate::math::transform::normalize_or_identity;
use crate::psd::{DriverMode, Kernel};
use crate::skeleton::{Channel, Clip, Interpolation, JointId, Pose, Property};
use glam::{DQuat, DVec3};
use serde::Deserialize;
use std::sync::Arc;

/// The samples of a mesh.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct MeshSamples {
    mesh: u32,
    sets: Vec<Set>,
    /// The joint solve, by rows; absent for the identity.
    joint: Option<Vec<Vec<f64>>>,
}

#[derive(Clone, Debug, Deserialize)]
struct Set {
    drivers: Vec<Driver>,
    kernel: String,
    c: f64,
    tail: String,
    clamp: [f64; 2],
    fade: Option<f64>,
    samples: Vec<Sample>,
    coefficients: Vec<Vec<f64>>,
}

#[derive(Clone, Debug, Deserialize)]
struct Driver {
    node: u32,
    #[serde(rename = "relativeTo")]
    relative_to: Option<u32>,
    mode: String,
    axis: Option<[f64; 3]>,
    lambda: f64,
    bind: [f64; 4],
}

#[derive(Clone, Debug, Deserialize)]
struct Sample {
    target: Option<usize>,
    rotations: Vec<[f64; 4]>,
}

impl MeshSamples {
    /// Adds channels to `clip` for the morph targets of every skinned instance of the mesh, at `times`.
    pub(super) fn drive(&self, document: &Document, times: &Arc<[f32]>, clip: &mut Clip) {
        let mesh = MeshId(self.mesh);
        let Some(item) = document.meshes().get(&mesh) else {
            return;
        };
        let n_targets = item.geometry.morphs.len();
        let poses = times
            .iter()
            .map(|&t| document.keyed_pose(clip, f64::from(t)));
        let poses: Vec<Pose> = poses.collect();
        let weights = poses.iter().map(|pose| self.weights(document, pose));
        let Some(weights) = weights.collect::<Option<Vec<_>>>() else {
            return;
        };
        let instances = document.instances().values();
        for instance in instances.filter(|i| i.mesh == mesh && i.skin.is_some()) {
            let mut values = Vec::with_capacity(times.len() * n_targets);
            for (pose, driven) in poses.iter().zip(&weights) {
                let mut row = pose.morph_weights.get(instance.joint.get()).cloned();
                let row = row.get_or_insert_default();
                row.resize(n_targets, 0.0);
                for &(target, weight) in driven {
                    if let Some(value) = row.get_mut(target) {
                        *value = weight as f32;
                    }
                }
                values.extend_from_slice(row);
            }
            let is_own =
                |c: &Channel| c.joint == instance.joint && c.property == Property::MorphWeights;
            clip.channels.retain(|channel| !is_own(channel));
            clip.channels.push(Channel {
                joint: instance.joint,
                property: Property::MorphWeights,
                interpolation: Interpolation::Linear,
                times: times.clone(),
                values: values.into(),
            });
        }
    }

    /// The weights of the driven targets in a pose; `None` if the list lacks something.
    fn weights(&self, document: &Document, pose: &Pose) -> Option<Vec<(usize, f64)>> {
        let mut weights = Vec::new();
        for set in &self.sets {
            weights.extend(set.weights(document, pose)?);
        }
        if let Some(joint) = &self.joint {
            let rows = joint.iter();
            let row = |row: &Vec<f64>| row.iter().zip(&weights).map(|(a, w)| a * w).sum();
            weights = rows.map(row).collect();
        }
        let samples = self.sets.iter().flat_map(|set| &set.samples);
        let driven = samples.zip(weights);
        Some(
            driven
                .filter_map(|(sample, weight)| Some((sample.target?, weight)))
                .collect(),
        )
    }
}

impl Set {
    fn weights(&self, document: &Document, pose: &Pose) -> Option<Vec<f64>> {
        let modes = self.drivers.iter().map(Driver::mode);
        let modes: Vec<DriverMode> = modes.collect::<Option<_>>()?;
        let binds = self
            .drivers
            .iter()
            .map(|driver| DQuat::from_array(driver.bind));
        let binds: Vec<DQuat> = binds.collect();
        let kernel = Kernel::ALL.into_iter().find(|k| k.name() == self.kernel)?;
        let drivers = || self.drivers.iter().zip(&modes).zip(&binds);
        let now = drivers().map(|((driver, mode), bind)| {
            let rotation = driver.rotation(document, pose)?;
            Some(mode.feature(bind.conjugate() * rotation))
        });
        let now: Vec<_> = now.collect::<Option<_>>()?;
        // Bind first, then the samples.
        let bind = binds.iter().map(DQuat::to_array).collect();
        let nodes = std::iter::once(bind).chain(self.samples.iter().map(|s| s.rotations.clone()));
        let (mut terms, mut nearest) = (Vec::new(), f64::INFINITY);
        for rotations in nodes {
            let mut squared = 0.0;
            for (((driver, mode), bind), (rotation, now)) in
                drivers().zip(rotations.iter().zip(&now))
            {
                let rotation = bind.conjugate() * DQuat::from_array(*rotation);
                squared += driver.lambda * mode.distance_squared(&mode.feature(rotation), now);
            }
            nearest = nearest.min(squared.sqrt());
            terms.push(kernel.value(squared, self.c));
        }
        if self.tail != "none" {
            terms.push(1.0);
        }
        if self.tail == "linear" {
            let hinges = self.drivers.iter().zip(&now);
            terms.extend(hinges.map(|(driver, now)| driver.lambda.sqrt() * now[0]));
        }
        let fade = self.fade.map_or(1.0, |from| {
            let x = (2.0 - nearest / from).clamp(0.0, 1.0);
            x * x * x * (x * (6.0 * x - 15.0) + 10.0)
        });
        let rows = self.coefficients.iter().map(|row| {
            let weight: f64 = row.iter().zip(&terms).map(|(a, term)| a * term).sum();
            fade * weight.clamp(self.clamp[0], self.clamp[1])
        });
        Some(rows.collect())
    }
}

impl Driver {
    fn mode(&self) -> Option<DriverMode> {
        let axis = self.axis.map(DVec3::from);
        match self.mode.as_str() {
            "ball" => Some(DriverMode::Ball),
            "hinge" => axis.map(DriverMode::Hinge),
            "swing" => axis.map(DriverMode::Swing),
            "twist" => axis.map(DriverMode::Twist),
            _ => None,
        }
    }

    /// The rotation of the node relative to the other one, by local rotations.
    fn rotation(&self, document: &Document, pose: &Pose) -> Option<DQuat> {
        let skeleton = document.skeleton();
        let joint = skeleton.joint_of_node(self.node)?;
        let other = match self.relative_to {
            Some(node) => Some(skeleton.joint_of_node(node)?),
            None => None,
        };
        let from_root = |joint: JointId| {
            let chain = [joint].into_iter().chain(skeleton.ancestors(joint));
            let locals = chain.map(|joint| pose.locals[joint.get()].rotation);
            locals.fold(DQuat::IDENTITY, |below, local| local * below)
        };
        let above = other.map_or(DQuat::IDENTITY, from_root);
        Some(normalize_or_identity(above.conjugate() * from_root(joint)))
    }
}
