//! Muscles of control clusters <-> the project format.

use super::joints::{self, JointRef, Joints};
use super::types::is_default;
use crate::cluster::MuscleLayer;
use crate::cluster::procedural::{
    CurveSettings, EnvelopeSettings, EnvelopeShape, MuscleDirection, MuscleSettings, Profile,
};
use crate::document::Document;
use crate::finding::Finding;
use serde::{Deserialize, Serialize};

/// A muscle of a group of clusters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MuscleEntry {
    title: String,
    upper: JointRef,
    lower: JointRef,
    /// Metres.
    amplitude: f64,
    /// In lengths of the bone.
    centre: f64,
    profile: ProfileEntry,
    power: f64,
    /// Object space at bind.
    side: (f64, f64, f64),
    /// Object space at bind; none: any bend counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    flexion: Option<(f64, f64, f64)>,
    /// Radians from bind.
    start: f64,
    end: f64,
    #[serde(default, skip_serializing_if = "is_default")]
    envelope: EnvelopeEntry,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    radial: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    preserve_volume: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    muted: bool,
}

/// The profile along the bone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum ProfileEntry {
    Cosine { half_width: f64 },
    Gaussian { sigma: f64 },
}

/// The course over the angle.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
enum EnvelopeEntry {
    #[default]
    Smootherstep,
    Curve {
        keys: Vec<(f64, f64)>,
        rest_offset: bool,
    },
    Spindle {
        origin: f64,
        insertion: f64,
    },
}

/// The entry of a muscle.
pub(super) fn collect(document: &Document, muscle: &MuscleLayer) -> MuscleEntry {
    let settings = &muscle.settings;
    MuscleEntry {
        title: muscle.name.clone(),
        upper: joints::reference(document, muscle.upper),
        lower: joints::reference(document, muscle.lower),
        amplitude: settings.amplitude,
        centre: settings.centre,
        profile: match settings.profile {
            Profile::Cosine { half_width } => ProfileEntry::Cosine { half_width },
            Profile::Gaussian { sigma } => ProfileEntry::Gaussian { sigma },
        },
        power: settings.power,
        side: settings.side.into(),
        flexion: settings.flexion.map(Into::into),
        start: settings.envelope.start,
        end: settings.envelope.end,
        envelope: match &settings.envelope.shape {
            EnvelopeShape::Smootherstep => EnvelopeEntry::Smootherstep,
            EnvelopeShape::Curve(curve) => EnvelopeEntry::Curve {
                keys: curve.keys.iter().map(|&[x, y]| (x, y)).collect(),
                rest_offset: curve.rest_offset,
            },
            &EnvelopeShape::Spindle { origin, insertion } => {
                EnvelopeEntry::Spindle { origin, insertion }
            }
        },
        radial: settings.direction == MuscleDirection::Radial,
        preserve_volume: settings.preserve_volume,
        muted: muscle.muted,
    }
}

impl MuscleEntry {
    pub(super) fn title(&self) -> &str {
        &self.title
    }
}

/// The muscle of an entry; `None` where the model has no longer one of its bones.
pub(super) fn restore(
    entry: MuscleEntry,
    joints: &mut Joints,
    findings: &mut Vec<Finding>,
) -> Option<MuscleLayer> {
    let found = [&entry.upper, &entry.lower].map(|joint| joints.find_joint(joint, findings));
    let [Some(upper), Some(lower)] = found else {
        return None;
    };
    let shape = match entry.envelope {
        EnvelopeEntry::Smootherstep => EnvelopeShape::Smootherstep,
        EnvelopeEntry::Curve { keys, rest_offset } => EnvelopeShape::Curve(CurveSettings {
            keys: keys.into_iter().map(|(x, y)| [x, y]).collect(),
            rest_offset,
        }),
        EnvelopeEntry::Spindle { origin, insertion } => {
            EnvelopeShape::Spindle { origin, insertion }
        }
    };
    Some(MuscleLayer {
        name: entry.title,
        upper,
        lower,
        settings: MuscleSettings {
            amplitude: entry.amplitude,
            centre: entry.centre,
            profile: match entry.profile {
                ProfileEntry::Cosine { half_width } => Profile::Cosine { half_width },
                ProfileEntry::Gaussian { sigma } => Profile::Gaussian { sigma },
            },
            power: entry.power,
            side: entry.side.into(),
            flexion: entry.flexion.map(Into::into),
            envelope: EnvelopeSettings {
                start: entry.start,
                end: entry.end,
                shape,
            },
            direction: if entry.radial {
                MuscleDirection::Radial
            } else {
                MuscleDirection::Normal
            },
            preserve_volume: entry.preserve_volume,
        },
        muted: entry.muted,
    })
}
