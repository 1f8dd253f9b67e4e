//! The layers of clusters as a JSON file has them: angles in degrees, lengths in metres, times in seconds.

use super::cluster_controls::{CageJson, LatticeJson};
use super::cluster_data_json::Data;
use super::cluster_json_reader::{Direction, FadeTimes, Reader, one_of};
use crate::cluster::procedural::{
    CurveSettings, DriverInput, DriverPoint, DriverSettings, EnvelopeSettings, EnvelopeShape,
    MuscleDirection, MuscleSettings, Normalisation, Profile, SinkDirection, SinkMask, SinkSettings,
};
use crate::cluster::{DriverLayer, MuscleLayer};
use serde::Deserialize;

/// A file of layers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Layers {
    #[serde(default)]
    pub(super) recordings: Vec<Recording>,
    #[serde(default)]
    pub(super) groups: Vec<GroupLayers>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recording {
    pub(super) name: String,
    pub(super) file: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupLayers {
    pub(super) mesh: MeshName,
    pub(super) name: String,
    #[serde(default)]
    pub(super) base: Option<String>,
    /// Vertices to mark for the group.
    #[serde(default)]
    pub(super) vertices: Vec<u32>,
    #[serde(default)]
    pub(super) primitive: u32,
    #[serde(default)]
    pub(super) muscles: Option<Vec<Muscle>>,
    #[serde(default)]
    pub(super) drivers: Option<Vec<Driver>>,
    #[serde(default)]
    pub(super) data: Option<Vec<Data>>,
    #[serde(default)]
    pub(super) lattice: Option<LatticeJson>,
    #[serde(default)]
    pub(super) cage: Option<CageJson>,
}

/// The mesh's index in the file, or its name.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum MeshName {
    Index(u32),
    Name(String),
}

#[allow(clippy::struct_excessive_bools)] // settings, each on its own
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Muscle {
    pub(super) name: String,
    upper: String,
    lower: String,
    amplitude: f64,
    side: [f64; 3],
    /// The side to which its joint flexes; without one any bend counts.
    #[serde(default)]
    flexion: Option<[f64; 3]>,
    #[serde(default)]
    centre: Option<f64>,
    #[serde(default)]
    half_width: Option<f64>,
    #[serde(default)]
    sigma: Option<f64>,
    #[serde(default)]
    power: Option<f64>,
    #[serde(default)]
    start: f64,
    #[serde(default)]
    end: Option<f64>,
    #[serde(default)]
    curve: Option<Vec<[f64; 2]>>,
    /// Whether the curve may begin above 0.
    #[serde(default)]
    rest_offset: bool,
    /// Distances of origin and insertion from the joint.
    #[serde(default)]
    spindle: Option<[f64; 2]>,
    #[serde(default)]
    radial: bool,
    #[serde(default)]
    preserve_volume: bool,
    #[serde(default)]
    muted: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Driver {
    pub(super) name: String,
    input: Input,
    from: f64,
    to: f64,
    gain: f64,
    #[serde(default)]
    mode: Option<String>,
    #[serde(default)]
    curve: Option<Vec<[f64; 2]>>,
    #[serde(default)]
    rest_offset: bool,
    #[serde(default)]
    direction: Option<Direction>,
    #[serde(default)]
    centre: Option<f64>,
    #[serde(default)]
    half_width: Option<f64>,
    #[serde(default)]
    sigma: Option<f64>,
    #[serde(default)]
    bone: Option<[String; 2]>,
    #[serde(default)]
    weights: Vec<Weight>,
    #[serde(default)]
    fade: FadeTimes,
    #[serde(default)]
    muted: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Input {
    JointAngle {
        joint: String,
        axis: [f64; 3],
    },
    Twist {
        joint: String,
    },
    Swing {
        joint: String,
    },
    BoneAngle {
        a: String,
        b: String,
    },
    Distance {
        a: Place,
        b: Place,
    },
    Time {},
    Channel {
        channel: String,
        recording: String,
        #[serde(default)]
        start: f64,
        #[serde(default)]
        interpolation: Option<String>,
        #[serde(default)]
        ends: Option<String>,
        #[serde(default)]
        max_gap: Option<f64>,
    },
    Constant {
        value: f64,
    },
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Place {
    Joint(String),
    Vertex {
        #[serde(default)]
        primitive: u32,
        vertex: u32,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Weight {
    #[serde(default)]
    primitive: u32,
    vertex: u32,
    #[serde(rename = "weight")]
    value: f64,
}

fn profile(half_width: Option<f64>, sigma: Option<f64>) -> Result<Profile, String> {
    match (half_width, sigma) {
        (Some(_), Some(_)) => Err("it has both half_width and sigma; give one of them".into()),
        (Some(half_width), None) => Ok(Profile::Cosine { half_width }),
        (None, Some(sigma)) => Ok(Profile::Gaussian { sigma }),
        (None, None) => Ok(Profile::default()),
    }
}

impl Muscle {
    /// The muscle.
    pub(super) fn layer(&self, reader: &Reader<'_>) -> Result<MuscleLayer, String> {
        let default = MuscleSettings::for_limb(1.0, self.side.into());
        Ok(MuscleLayer {
            name: self.name.clone(),
            upper: reader.joint(&self.upper)?,
            lower: reader.joint(&self.lower)?,
            settings: MuscleSettings {
                amplitude: self.amplitude,
                centre: self.centre.unwrap_or(default.centre),
                profile: profile(self.half_width, self.sigma)?,
                power: self.power.unwrap_or(default.power),
                flexion: self.flexion.map(Into::into),
                envelope: self.envelope()?,
                direction: if self.radial {
                    MuscleDirection::Radial
                } else {
                    MuscleDirection::Normal
                },
                preserve_volume: self.preserve_volume,
                ..default
            },
            muted: self.muted,
        })
    }

    /// Its course over the angle.
    fn envelope(&self) -> Result<EnvelopeSettings, String> {
        let shape = match (&self.curve, self.spindle) {
            (Some(_), Some(_)) => {
                return Err("it has both curve and spindle; give one of them".into());
            }
            (Some(keys), None) => EnvelopeShape::Curve(CurveSettings {
                keys: keys.clone(),
                rest_offset: self.rest_offset,
            }),
            (None, Some([origin, insertion])) => EnvelopeShape::Spindle { origin, insertion },
            (None, None) => EnvelopeShape::Smootherstep,
        };
        let default = EnvelopeSettings::default();
        Ok(EnvelopeSettings {
            start: self.start.to_radians(),
            end: self.end.map_or(default.end, f64::to_radians),
            shape,
        })
    }
}

impl Driver {
    /// The driver.
    pub(super) fn layer(&self, reader: &Reader<'_>) -> Result<DriverLayer, String> {
        let place = |place: &Place| match place {
            Place::Joint(joint) => Ok(DriverPoint::Joint(reader.slot(joint)?)),
            Place::Vertex { primitive, vertex } => {
                Ok::<_, String>(DriverPoint::Vertex(reader.point(*primitive, *vertex)?))
            }
        };
        let mut played = None;
        let input = match &self.input {
            Input::JointAngle { joint, axis } => DriverInput::JointAngle {
                joint: reader.slot(joint)?,
                axis: (*axis).into(),
            },
            Input::Twist { joint } => DriverInput::Twist {
                joint: reader.slot(joint)?,
            },
            Input::Swing { joint } => DriverInput::Swing {
                joint: reader.slot(joint)?,
            },
            Input::BoneAngle { a, b } => DriverInput::BoneAngle {
                a: reader.slot(a)?,
                b: reader.slot(b)?,
            },
            Input::Distance { a, b } => DriverInput::Distance {
                a: place(a)?,
                b: place(b)?,
            },
            Input::Time {} => DriverInput::Time,
            Input::Channel {
                channel,
                recording,
                start,
                interpolation,
                ends,
                max_gap,
            } => {
                let sampling = (interpolation.as_deref(), ends.as_deref(), *max_gap);
                played = Some(reader.played(recording, *start, sampling)?);
                DriverInput::Channel {
                    name: channel.clone(),
                }
            }
            Input::Constant { value } => DriverInput::Constant { value: *value },
        };
        let in_unit = |x: f64| if input.is_angle() { x.to_radians() } else { x };
        let modes = Normalisation::ALL.map(|mode| (mode.key(), mode));
        let has_profile =
            self.centre.is_some() || self.half_width.is_some() || self.sigma.is_some();
        let mut weights = Vec::with_capacity(self.weights.len());
        for weight in &self.weights {
            weights.push((reader.point(weight.primitive, weight.vertex)?, weight.value));
        }
        weights.sort_by_key(|weight: &(u32, f64)| weight.0);
        weights.dedup_by_key(|weight| weight.0);
        Ok(DriverLayer {
            name: self.name.clone(),
            settings: DriverSettings {
                from: in_unit(self.from),
                to: in_unit(self.to),
                input,
                mode: one_of("mode", self.mode.as_deref(), &modes)?,
                curve: self.curve.as_ref().map(|keys| CurveSettings {
                    keys: keys.clone(),
                    rest_offset: self.rest_offset,
                }),
                gain: self.gain,
                fade: self.fade.fade(),
                sink: SinkSettings {
                    direction: match &self.direction {
                        None => SinkDirection::Normal,
                        Some(Direction::Fixed(fixed)) => SinkDirection::Fixed((*fixed).into()),
                        Some(Direction::Named(word)) => one_of(
                            "direction",
                            Some(word),
                            &[
                                ("normal", SinkDirection::Normal),
                                ("bone_axis", SinkDirection::BoneAxis),
                                ("radial", SinkDirection::Radial),
                            ],
                        )?,
                    },
                    mask: if has_profile {
                        SinkMask::AlongBone {
                            centre: self.centre.unwrap_or(0.5),
                            profile: profile(self.half_width, self.sigma)?,
                        }
                    } else {
                        SinkMask::Painted
                    },
                },
            },
            played,
            bone: match &self.bone {
                None => None,
                Some([head, tail]) => Some([reader.joint(head)?, reader.joint(tail)?]),
            },
            weights,
            muted: self.muted,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_muscle_has_a_curve_or_a_spindle() {
        let shape = |more: &str| {
            let text = format!(
                "{{\"name\": \"Biceps\", \"upper\": \"A\", \"lower\": \"B\", \"amplitude\": 0.1, \"side\": [0, 1, 0]{more}}}"
            );
            let muscle: Muscle = serde_json::from_str(&text).unwrap();
            muscle.envelope().map(|envelope| envelope.shape)
        };
        assert_eq!(shape(""), Ok(EnvelopeShape::Smootherstep));
        let (origin, insertion) = (0.9, 0.15);
        let spindle = EnvelopeShape::Spindle { origin, insertion };
        assert_eq!(shape(", \"spindle\": [0.9, 0.15]"), Ok(spindle));
        let curve = ", \"curve\": [[0, 0.2], [1, 1]], \"rest_offset\": true";
        let expected = EnvelopeShape::Curve(CurveSettings {
            keys: vec![[0.0, 0.2], [1.0, 1.0]],
            rest_offset: true,
        });
        assert_eq!(shape(curve), Ok(expected));
        assert!(shape(&format!("{curve}, \"spindle\": [0.9, 0.15]")).is_err());
    }
}
