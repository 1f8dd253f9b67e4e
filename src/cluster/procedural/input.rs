//! What drives a driver: angles, distances, time, a channel.

use super::angles::bone_angle;
use crate::cluster::check::direction;
use crate::math::swing_twist::{swing_angle, twist_angle};
use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// An input of a driver. Joints are named by their slots, vertices by their points; axes are in the joint's own space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum DriverInput {
    /// The angle of a joint's rotation from bind about an axis, radians, -pi to pi.
    JointAngle {
        /// The joint.
        joint: u32,
        /// The axis, of any length.
        axis: DVec3,
    },
    /// The twist of a joint's rotation from bind about its bone, radians, -pi to pi.
    Twist {
        /// The joint.
        joint: u32,
    },
    /// How far a joint's rotation tilts its bone from bind, radians, 0 - pi.
    Swing {
        /// The joint.
        joint: u32,
    },
    /// The angle between the bones of two joints, radians, 0 - pi.
    BoneAngle {
        /// The first joint.
        a: u32,
        /// The second joint.
        b: u32,
    },
    /// The distance between two points, metres.
    Distance {
        /// From.
        a: DriverPoint,
        /// To.
        b: DriverPoint,
    },
    /// The time, seconds.
    Time,
    /// The value of a scalar channel.
    Channel {
        /// Its name.
        name: String,
    },
    /// A number.
    Constant {
        /// The number.
        value: f64,
    },
}

/// A place that a pose moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DriverPoint {
    /// The head of a joint.
    Joint(u32),
    /// A point of the skinned mesh.
    Vertex(u32),
}

/// Where inputs are read from. What does not exist is `None`: its driver then adds nothing; only recorded channels hold and fade.
pub trait InputSource {
    /// The joint's rotation from bind, in its own space, unit.
    fn rotation_from_bind(&self, joint: u32) -> Option<DQuat>;
    /// The direction of the joint's bone at bind, in the joint's own space, unit.
    fn bone_axis(&self, joint: u32) -> Option<DVec3>;
    /// The direction of the joint's bone now, object space, of any length.
    fn bone_direction(&self, joint: u32) -> Option<DVec3>;
    /// A place now, object space, metres.
    fn place(&self, point: DriverPoint) -> Option<DVec3>;
    /// The time, seconds.
    fn time(&self) -> f64;
    /// The value of a scalar channel now.
    fn channel(&self, name: &str) -> Option<f64>;
}

impl DriverInput {
    /// The name of its kind in lists.
    pub fn label(&self) -> &'static str {
        match self {
            Self::JointAngle { .. } => "Joint angle",
            Self::Twist { .. } => "Twist",
            Self::Swing { .. } => "Swing",
            Self::BoneAngle { .. } => "Angle between bones",
            Self::Distance { .. } => "Distance",
            Self::Time => "Time",
            Self::Channel { .. } => "Channel",
            Self::Constant { .. } => "Constant",
        }
    }

    /// A sentence about its kind, for tooltips.
    pub fn about(&self) -> &'static str {
        match self {
            Self::JointAngle { .. } => "The rotation of a bone from rest about an axis.",
            Self::Twist { .. } => "The rotation of a bone from rest about its own axis.",
            Self::Swing { .. } => "The angle by which a bone is tilted from rest.",
            Self::BoneAngle { .. } => "The angle between two bones.",
            Self::Distance { .. } => "The distance between two bone heads or vertices.",
            Self::Time => "The time in the clip.",
            Self::Channel { .. } => "A scalar of a recording.",
            Self::Constant { .. } => "A fixed number.",
        }
    }

    /// Whether its unit is the radian.
    pub fn is_angle(&self) -> bool {
        matches!(
            self,
            Self::JointAngle { .. }
                | Self::Twist { .. }
                | Self::Swing { .. }
                | Self::BoneAngle { .. }
        )
    }

    /// An error that names what is not valid.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Self::JointAngle { axis, .. } => direction("the axis of the driver", *axis),
            Self::Constant { value } => {
                crate::cluster::check::within("the constant of the driver", *value, -1e9, 1e9)
            }
            Self::Channel { name } if name.is_empty() => {
                Err("the channel of the driver has no name".into())
            }
            _ => Ok(()),
        }
    }

    /// Its value now; `None` where it does not exist or is not finite.
    pub fn value(&self, source: &impl InputSource) -> Option<f64> {
        let value = match self {
            Self::JointAngle { joint, axis } => {
                let rotation = source.rotation_from_bind(*joint)?;
                twist_angle(rotation, axis.try_normalize()?)
            }
            Self::Twist { joint } => twist_angle(
                source.rotation_from_bind(*joint)?,
                source.bone_axis(*joint)?,
            ),
            Self::Swing { joint } => swing_angle(
                source.rotation_from_bind(*joint)?,
                source.bone_axis(*joint)?,
            ),
            Self::BoneAngle { a, b } => {
                bone_angle(source.bone_direction(*a)?, source.bone_direction(*b)?, None)
            }
            Self::Distance { a, b } => source.place(*a)?.distance(source.place(*b)?),
            Self::Time => source.time(),
            Self::Channel { name } => source.channel(name)?,
            Self::Constant { value } => *value,
        };
        Some(value).filter(|v| v.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Joint 0 is bent by 0.8 about z and twisted by 0.3 about its bone, x; joint 1 has a bone without length.
    struct Elbow;

    impl InputSource for Elbow {
        fn rotation_from_bind(&self, joint: u32) -> Option<DQuat> {
            let rotation = DQuat::from_rotation_z(0.8) * DQuat::from_rotation_x(0.3);
            (joint < 2).then_some(rotation)
        }
        fn bone_axis(&self, joint: u32) -> Option<DVec3> {
            (joint < 2).then_some(DVec3::X)
        }
        fn bone_direction(&self, joint: u32) -> Option<DVec3> {
            [DVec3::X, DVec3::ZERO, DVec3::Y * 2.0]
                .get(joint as usize)
                .copied()
        }
        fn place(&self, point: DriverPoint) -> Option<DVec3> {
            match point {
                DriverPoint::Joint(joint) => Some(DVec3::X * f64::from(joint)),
                DriverPoint::Vertex(7) => Some(DVec3::Y),
                DriverPoint::Vertex(_) => None,
            }
        }
        fn time(&self) -> f64 {
            2.5
        }
        fn channel(&self, name: &str) -> Option<f64> {
            match name {
                "emg" => Some(40.0),
                "lost" => Some(f64::NAN),
                _ => None,
            }
        }
    }

    #[test]
    fn each_input_reads_its_part_of_the_pose() {
        let near = |input: DriverInput, expected: f64| {
            let found = input.value(&Elbow).unwrap();
            assert!((found - expected).abs() < 1e-14, "{input:?}: {found}");
        };
        near(DriverInput::Twist { joint: 0 }, 0.3);
        near(DriverInput::Swing { joint: 0 }, 0.8);
        let axis = DVec3::X * 7.0;
        near(DriverInput::JointAngle { joint: 0, axis }, 0.3);
        near(
            DriverInput::BoneAngle { a: 0, b: 2 },
            std::f64::consts::FRAC_PI_2,
        );
        let (a, b) = (DriverPoint::Joint(1), DriverPoint::Vertex(7));
        near(DriverInput::Distance { a, b }, 2f64.sqrt());
        near(DriverInput::Time, 2.5);
        near(DriverInput::Channel { name: "emg".into() }, 40.0);
        near(DriverInput::Constant { value: -3.0 }, -3.0);
    }

    #[test]
    fn what_is_not_there_has_no_value() {
        let b = DriverPoint::Vertex(8);
        for input in [
            DriverInput::Twist { joint: 9 },
            DriverInput::BoneAngle { a: 0, b: 1 },
            DriverInput::Channel {
                name: "lost".into(),
            },
            DriverInput::Channel {
                name: "none".into(),
            },
            DriverInput::Distance { a: b, b },
        ] {
            assert_eq!(input.value(&Elbow), None, "{input:?}");
        }
        let axis = DVec3::ZERO;
        let why = DriverInput::JointAngle { joint: 0, axis }.check();
        assert_eq!(
            why.unwrap_err(),
            "the axis of the driver is (0, 0, 0), which is no direction"
        );
    }
}
