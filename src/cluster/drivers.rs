//! Drivers as layers of a group of clusters: an input of the pose or of a recording displaces them.

use super::channel::{Played, RecordingId};
use super::check::within;
use super::main_child::main_child;
use super::procedural::{DriverInput, DriverPoint, DriverSettings};
use crate::skeleton::{JointId, Skeleton};
use glam::{DAffine3, DVec3};

/// A driver of the clusters of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct DriverLayer {
    /// A label.
    pub name: String,
    /// Input, range, curve, gain and direction; joints are [`JointId`]s, vertices points of the mesh.
    pub settings: DriverSettings,
    /// The recording of [`DriverInput::Channel`].
    pub played: Option<Played>,
    /// The joints at the head and the tail of the bone of its direction and profile.
    pub bone: Option<[JointId; 2]>,
    /// Painted weights of its clusters, 0 - 1, ascending by point; 1 where none is listed.
    pub weights: Vec<(u32, f64)>,
    /// Whether it is left out.
    pub muted: bool,
}

impl DriverLayer {
    /// An error that names what is not valid.
    pub fn check(&self) -> Result<(), String> {
        self.settings.check()?;
        if matches!(self.settings.input, DriverInput::Channel { .. }) && self.played.is_none() {
            return Err("its channel has no recording".into());
        }
        if let Some(played) = &self.played {
            played.check()?;
        }
        if self.settings.sink.needs_bone() && self.bone.is_none() {
            return Err("its direction or its profile needs a bone".into());
        }
        for (point, weight) in &self.weights {
            within(&format!("the weight of vertex {point}"), *weight, 0.0, 1.0)?;
        }
        if self.weights.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
            return Err("its weights are not in ascending order of their vertices".into());
        }
        Ok(())
    }

    /// The joints that it reads or lies on.
    pub fn joints(&self) -> Vec<JointId> {
        let of_point = |point: &DriverPoint| match point {
            DriverPoint::Joint(joint) => Some(*joint),
            DriverPoint::Vertex(_) => None,
        };
        let read = match &self.settings.input {
            DriverInput::JointAngle { joint, .. }
            | DriverInput::Twist { joint }
            | DriverInput::Swing { joint } => vec![*joint],
            DriverInput::BoneAngle { a, b } => vec![*a, *b],
            DriverInput::Distance { a, b } => [a, b].into_iter().filter_map(of_point).collect(),
            DriverInput::Time | DriverInput::Channel { .. } | DriverInput::Constant { .. } => {
                Vec::new()
            }
        };
        let read = read.into_iter().map(JointId);
        read.chain(self.bone.into_iter().flatten()).collect()
    }

    /// The points that it reads or weights.
    pub fn points(&self) -> Vec<u32> {
        let mut points: Vec<u32> = self.weights.iter().map(|weight| weight.0).collect();
        if let DriverInput::Distance { a, b } = &self.settings.input {
            points.extend([a, b].into_iter().filter_map(|point| match point {
                DriverPoint::Vertex(point) => Some(*point),
                DriverPoint::Joint(_) => None,
            }));
        }
        points
    }

    /// The recording that it reads.
    pub fn recording(&self) -> Option<RecordingId> {
        let reads = matches!(self.settings.input, DriverInput::Channel { .. });
        self.played.filter(|_| reads).map(|played| played.recording)
    }
}

/// The direction of a joint's bone in the rest pose, in the joint's own space, unit: towards the child that continues it,
/// or where it has none straight on. `None` where the bone has no length, or the joint was removed.
pub fn bone_axis(skeleton: &Skeleton, rest_world: &[DAffine3], joint: JointId) -> Option<DVec3> {
    if joint.get() >= skeleton.len() || !skeleton.is_live(joint) {
        return None;
    }
    let place = |joint: JointId| Some(rest_world.get(joint.get())?.translation);
    let out = match main_child(skeleton, rest_world, joint) {
        Some(child) => place(child)? - place(joint)?,
        None => place(joint)? - place(skeleton.joint(joint).parent?)?,
    };
    (rest_world[joint.get()].matrix3.inverse() * out).try_normalize()
}
