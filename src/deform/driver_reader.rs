//! What a driver of control clusters reads in a pose, and the amount that it makes of it: for the deformer stack and for
//! plots.

use crate::cluster::channel::{Channel, Played, RecordingItem, Recordings};
use crate::cluster::fade::Fade;
use crate::cluster::procedural::{Driver, DriverInput, DriverPoint, InputSource};
use crate::cluster::{DriverLayer, bone_axis};
use crate::math::Transform;
use crate::skeleton::{JointId, Moment, Skeleton};
use glam::{DAffine3, DQuat, DVec3, Vec3};
use std::sync::Arc;

/// A pose and its moment, from which drivers read.
#[derive(Clone, Copy)]
pub struct PoseInputs<'a> {
    /// The node tree.
    pub skeleton: &'a Skeleton,
    /// n_joints: world transforms of the rest pose.
    pub rest_world: &'a [DAffine3],
    /// n_joints: local transforms of the pose.
    pub locals: &'a [Transform],
    /// n_joints: world transforms of the pose.
    pub world: &'a [DAffine3],
    /// n_points, world, before the control clusters act; empty where only bones are read.
    pub positions: &'a [Vec3],
    /// The time of the pose.
    pub moment: Moment,
}

/// A driver, ready to read poses.
pub struct DriverReader {
    driver: Driver,
    input: DriverInput,
    recorded: Option<Recorded>,
}

/// A scalar of a recording.
struct Recorded {
    item: Arc<RecordingItem>,
    played: Played,
    channel: Channel<f64>,
    fade: Fade,
}

impl DriverReader {
    /// Of a layer; `None` where it cannot be evaluated, as without its channel.
    pub fn new(layer: &DriverLayer, recordings: Option<&Recordings>) -> Option<Self> {
        let recorded = match &layer.settings.input {
            DriverInput::Channel { name } => {
                let played = layer.played?;
                let item = recordings?.get(&played.recording)?;
                let recording = item.recording()?;
                Some(Recorded {
                    channel: recording.scalar(name, played.sampling)?.ok()?,
                    item: item.clone(),
                    played,
                    fade: layer.settings.fade,
                })
            }
            _ => None,
        };
        Some(Self {
            driver: Driver::new(&layer.settings).ok()?,
            input: layer.settings.input.clone(),
            recorded,
        })
    }

    /// The value that it reads, in the input's unit; `None` where there is none.
    pub fn input(&self, pose: &PoseInputs<'_>) -> Option<f64> {
        match &self.recorded {
            Some(recorded) => recorded.channel.at(recorded.time(pose.moment)),
            None => self.input.value(pose),
        }
    }

    /// Its amount, metres; 0 where its input has no value, a channel that lost it holds and fades.
    pub fn amount(&self, pose: &PoseInputs<'_>) -> f64 {
        match &self.recorded {
            Some(recorded) => {
                let amount = |value| self.amount_of(Some(value));
                let shown =
                    recorded
                        .channel
                        .shown_as(recorded.time(pose.moment), &recorded.fade, amount);
                shown.value
            }
            None => self.amount_of(self.input.value(pose)),
        }
    }

    /// Its amount for a value of the input, metres.
    pub fn amount_of(&self, input: Option<f64>) -> f64 {
        self.driver.amount(input).unwrap_or(0.0)
    }
}

impl Recorded {
    /// The time of the recording at a moment, seconds.
    fn time(&self, moment: Moment) -> f64 {
        self.played.time(&self.item, moment)
    }
}

impl PoseInputs<'_> {
    fn live(&self, joint: u32) -> Option<JointId> {
        let joint = JointId(joint);
        let is_live = joint.get() < self.skeleton.len() && self.skeleton.is_live(joint);
        is_live.then_some(joint)
    }
}

impl InputSource for PoseInputs<'_> {
    fn rotation_from_bind(&self, joint: u32) -> Option<DQuat> {
        let local = self.locals.get(joint as usize)?;
        let joint = self.live(joint)?;
        let rest = self.skeleton.joint(joint).rest.rotation;
        Some(rest.conjugate() * local.rotation)
    }

    fn bone_axis(&self, joint: u32) -> Option<DVec3> {
        bone_axis(self.skeleton, self.rest_world, JointId(joint))
    }

    fn bone_direction(&self, joint: u32) -> Option<DVec3> {
        let world = self.world.get(joint as usize)?;
        Some(world.matrix3 * self.bone_axis(joint)?)
    }

    fn place(&self, point: DriverPoint) -> Option<DVec3> {
        match point {
            DriverPoint::Joint(joint) => Some(self.world.get(self.live(joint)?.get())?.translation),
            DriverPoint::Vertex(point) => Some(self.positions.get(point as usize)?.as_dvec3()),
        }
    }

    fn time(&self) -> f64 {
        self.moment.secs
    }

    fn channel(&self, _: &str) -> Option<f64> {
        // Of a recording, which knows its gaps: see [`DriverReader::amount`].
        None
    }
}
