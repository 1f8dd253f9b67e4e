//! Drivers and data of control clusters <-> the project format.

use super::joints::{self, JointRef, Joints};
use super::keys;
use super::points_of_primitives::PrimitivePoints;
use super::types::{enums, is_default};
use crate::cluster::channel::{
    AxisMap, Binding, BindingKind, Ends, Interpolation, Played, RecordingId, Sampling,
    ScalarDirection, SignedAxis,
};
use crate::cluster::fade::Fade;
use crate::cluster::procedural::{
    CurveSettings, DriverInput, DriverPoint, DriverSettings, Normalisation, Profile, SinkDirection,
    SinkMask, SinkSettings,
};
use crate::cluster::{self, DataLayer, DriverLayer};
use crate::document::Document;
use crate::finding::{Finding, counted};
use crate::mesh::Mesh;
use crate::skeleton::JointId;
use serde::{Deserialize, Serialize};

enums! {
    /// What happens to an input beyond its range.
    #[derive(Default)]
    RangeEntry = Normalisation { #[default] Clamp, Extend, Cycle }

    /// The value between two samples.
    #[derive(Default)]
    BetweenEntry = Interpolation { #[default] Linear, Hold, Pchip, Sclerp }

    /// The value beyond the samples.
    #[derive(Default)]
    EndsEntry = Ends { #[default] Hold, Loop, Invalid }

    /// How the space of markers becomes that of the scene.
    #[derive(Default)]
    FitEntry = cluster::Fit { None, #[default] Rigid, Similarity }

    /// An axis of data.
    AxisEntry = SignedAxis { PlusX, MinusX, PlusY, MinusY, PlusZ, MinusZ }
}

type Triple = (f64, f64, f64);

/// A driver of a group of clusters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DriverEntry {
    title: String,
    input: InputEntry,
    from: f64,
    to: f64,
    #[serde(default, skip_serializing_if = "is_default")]
    beyond: RangeEntry,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    curve: Option<CurveEntry>,
    /// Metres.
    gain: f64,
    #[serde(default, skip_serializing_if = "is_default")]
    fade: FadeEntry,
    #[serde(default, skip_serializing_if = "is_default")]
    direction: DirectionEntry,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    along: Option<AlongEntry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bone: Option<(JointRef, JointRef)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    weights: Vec<WeightEntry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    played: Option<PlayedEntry>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    muted: bool,
}

/// The data of one recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DataEntry {
    title: String,
    played: PlayedEntry,
    #[serde(default, skip_serializing_if = "is_default")]
    fit: FitEntry,
    /// Seconds of the recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reference: Option<f64>,
    #[serde(default, skip_serializing_if = "is_default")]
    fade: FadeEntry,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    muted: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    bindings: Vec<BindingEntry>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum InputEntry {
    JointAngle { joint: JointRef, axis: Triple },
    Twist { joint: JointRef },
    Swing { joint: JointRef },
    BoneAngle { a: JointRef, b: JointRef },
    Distance { a: PlaceEntry, b: PlaceEntry },
    Time,
    Channel { name: String },
    Constant { value: f64 },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum PlaceEntry {
    Joint(JointRef),
    /// Primitive and vertex.
    Vertex(u32, u32),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CurveEntry {
    keys: Vec<(f64, f64)>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    rest_offset: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FadeEntry {
    hold: f64,
    fade: f64,
    ease: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
enum DirectionEntry {
    #[default]
    Normal,
    BoneAxis,
    Radial,
    Fixed(Triple),
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum AlongEntry {
    Cosine { centre: f64, half_width: f64 },
    Gaussian { centre: f64, sigma: f64 },
}

/// The weight of a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WeightEntry {
    #[serde(default, skip_serializing_if = "is_default")]
    p: u32,
    v: u32,
    w: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlayedEntry {
    recording: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    start: f64,
    #[serde(default, skip_serializing_if = "is_default")]
    between: BetweenEntry,
    #[serde(default, skip_serializing_if = "is_default")]
    ends: EndsEntry,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_gap: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BindingEntry {
    channel: String,
    kind: KindEntry,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    scale: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    axes: Option<[AxisEntry; 3]>,
    #[serde(default, skip_serializing_if = "is_default")]
    offset: Triple,
    points: Vec<PrimitivePoints>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum KindEntry {
    Absolute,
    Delta,
    Scalar {
        reference: f64,
        /// The normal of each vertex, where there is none.
        direction: Option<Triple>,
    },
}

fn one() -> f64 {
    1.0
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde expects"
)]
fn is_one(value: &f64) -> bool {
    value.to_bits() == 1f64.to_bits()
}

impl Default for FadeEntry {
    fn default() -> Self {
        Fade::default().into()
    }
}

impl From<Fade> for FadeEntry {
    fn from(Fade { hold, fade, ease }: Fade) -> Self {
        Self { hold, fade, ease }
    }
}

impl From<FadeEntry> for Fade {
    fn from(FadeEntry { hold, fade, ease }: FadeEntry) -> Self {
        Self { hold, fade, ease }
    }
}

impl From<Played> for PlayedEntry {
    fn from(played: Played) -> Self {
        Self {
            recording: played.recording.0,
            start: played.start,
            between: played.sampling.interpolation.into(),
            ends: played.sampling.ends.into(),
            max_gap: played.sampling.max_gap,
        }
    }
}

impl From<PlayedEntry> for Played {
    fn from(entry: PlayedEntry) -> Self {
        Self {
            recording: RecordingId(entry.recording),
            start: entry.start,
            sampling: Sampling {
                interpolation: entry.between.into(),
                ends: entry.ends.into(),
                max_gap: entry.max_gap,
            },
        }
    }
}

/// The entry of a driver of a mesh.
pub(super) fn collect_driver(document: &Document, mesh: &Mesh, layer: &DriverLayer) -> DriverEntry {
    let settings = &layer.settings;
    let joint = |joint: u32| joints::reference(document, JointId(joint));
    let place = |point: DriverPoint| match point {
        DriverPoint::Joint(slot) => PlaceEntry::Joint(joint(slot)),
        DriverPoint::Vertex(point) => {
            let key = keys::of_points(mesh, vec![point]);
            let key = key
                .first()
                .map_or((0, 0), |key| (key.primitive, key.vertex));
            PlaceEntry::Vertex(key.0, key.1)
        }
    };
    let weights = layer.weights.iter().flat_map(|&(point, w)| {
        let keys = keys::of_points(mesh, vec![point]).into_iter();
        keys.map(move |key| WeightEntry {
            p: key.primitive,
            v: key.vertex,
            w,
        })
    });
    DriverEntry {
        title: layer.name.clone(),
        input: match &settings.input {
            DriverInput::JointAngle { joint: of, axis } => InputEntry::JointAngle {
                joint: joint(*of),
                axis: (*axis).into(),
            },
            DriverInput::Twist { joint: of } => InputEntry::Twist { joint: joint(*of) },
            DriverInput::Swing { joint: of } => InputEntry::Swing { joint: joint(*of) },
            DriverInput::BoneAngle { a, b } => InputEntry::BoneAngle {
                a: joint(*a),
                b: joint(*b),
            },
            DriverInput::Distance { a, b } => InputEntry::Distance {
                a: place(*a),
                b: place(*b),
            },
            DriverInput::Time => InputEntry::Time,
            DriverInput::Channel { name } => InputEntry::Channel { name: name.clone() },
            DriverInput::Constant { value } => InputEntry::Constant { value: *value },
        },
        from: settings.from,
        to: settings.to,
        beyond: settings.mode.into(),
        curve: settings.curve.as_ref().map(|curve| CurveEntry {
            keys: curve.keys.iter().map(|&[x, y]| (x, y)).collect(),
            rest_offset: curve.rest_offset,
        }),
        gain: settings.gain,
        fade: settings.fade.into(),
        direction: match settings.sink.direction {
            SinkDirection::Normal => DirectionEntry::Normal,
            SinkDirection::BoneAxis => DirectionEntry::BoneAxis,
            SinkDirection::Radial => DirectionEntry::Radial,
            SinkDirection::Fixed(fixed) => DirectionEntry::Fixed(fixed.into()),
        },
        along: match settings.sink.mask {
            SinkMask::Painted => None,
            SinkMask::AlongBone { centre, profile } => Some(match profile {
                Profile::Cosine { half_width } => AlongEntry::Cosine { centre, half_width },
                Profile::Gaussian { sigma } => AlongEntry::Gaussian { centre, sigma },
            }),
        },
        bone: layer
            .bone
            .map(|[head, tail]| (joint(head.0), joint(tail.0))),
        weights: weights.collect(),
        played: layer.played.map(Into::into),
        muted: layer.muted,
    }
}

/// The entry of the data of a mesh.
pub(super) fn collect_data(mesh: &Mesh, layer: &DataLayer) -> DataEntry {
    let bindings = layer.bindings.iter().map(|binding| {
        let keys = keys::of_points(mesh, binding.clusters.clone());
        let primitives = keys.chunk_by(|a, b| a.primitive == b.primitive);
        BindingEntry {
            channel: binding.channel.clone(),
            kind: match binding.kind {
                BindingKind::Absolute => KindEntry::Absolute,
                BindingKind::Delta => KindEntry::Delta,
                BindingKind::Scalar {
                    reference,
                    direction,
                } => KindEntry::Scalar {
                    reference,
                    direction: match direction {
                        ScalarDirection::Normal => None,
                        ScalarDirection::Fixed(fixed) => Some(fixed.into()),
                    },
                },
            },
            scale: binding.scale,
            axes: (binding.axes != AxisMap::SAME).then(|| binding.axes.0.map(Into::into)),
            offset: binding.offset.into(),
            points: primitives
                .map(|keys| PrimitivePoints {
                    p: keys[0].primitive,
                    v: keys.iter().map(|key| key.vertex).collect(),
                })
                .collect(),
        }
    });
    DataEntry {
        title: layer.name.clone(),
        played: layer.played.into(),
        fit: layer.fit.into(),
        reference: layer.reference,
        fade: layer.fade.into(),
        muted: layer.muted,
        bindings: bindings.collect(),
    }
}

impl DriverEntry {
    pub(super) fn title(&self) -> &str {
        &self.title
    }

    /// The recording that it reads.
    pub(super) fn recording(&self) -> Option<RecordingId> {
        let played = self.played.as_ref()?;
        Some(RecordingId(played.recording))
    }
}

impl DataEntry {
    pub(super) fn title(&self) -> &str {
        &self.title
    }

    /// The recording that it plays.
    pub(super) fn recording(&self) -> RecordingId {
        RecordingId(self.played.recording)
    }
}

/// The driver of an entry; `None` where the model has no longer a bone or a vertex that it reads.
pub(super) fn restore_driver(
    entry: DriverEntry,
    mesh: &Mesh,
    joints: &mut Joints,
    findings: &mut Vec<Finding>,
) -> Option<DriverLayer> {
    let mut joint = |joint: &JointRef| joints.find_joint(joint, findings);
    let mut slot = |of: &JointRef| Some(joint(of)?.0);
    let input = match &entry.input {
        InputEntry::JointAngle { joint, axis } => DriverInput::JointAngle {
            joint: slot(joint)?,
            axis: (*axis).into(),
        },
        InputEntry::Twist { joint } => DriverInput::Twist {
            joint: slot(joint)?,
        },
        InputEntry::Swing { joint } => DriverInput::Swing {
            joint: slot(joint)?,
        },
        InputEntry::BoneAngle { a, b } => DriverInput::BoneAngle {
            a: slot(a)?,
            b: slot(b)?,
        },
        InputEntry::Distance { a, b } => {
            let mut point = |of: &PlaceEntry| match of {
                PlaceEntry::Joint(joint) => Some(DriverPoint::Joint(slot(joint)?)),
                PlaceEntry::Vertex(p, v) => {
                    Some(DriverPoint::Vertex(keys::point_of(mesh, *p, *v)?))
                }
            };
            DriverInput::Distance {
                a: point(a)?,
                b: point(b)?,
            }
        }
        InputEntry::Time => DriverInput::Time,
        InputEntry::Channel { name } => DriverInput::Channel { name: name.clone() },
        InputEntry::Constant { value } => DriverInput::Constant { value: *value },
    };
    let bone = match &entry.bone {
        Some((head, tail)) => Some([slot(head)?, slot(tail)?].map(JointId)),
        None => None,
    };
    let weights = entry.weights.iter();
    let mut weights: Vec<(u32, f64)> = weights
        .filter_map(|weight| Some((keys::point_of(mesh, weight.p, weight.v)?, weight.w)))
        .collect();
    weights.sort_by_key(|weight| weight.0);
    weights.dedup_by_key(|weight| weight.0);
    Some(DriverLayer {
        name: entry.title,
        settings: DriverSettings {
            input,
            from: entry.from,
            to: entry.to,
            mode: entry.beyond.into(),
            curve: entry.curve.map(|curve| CurveSettings {
                keys: curve.keys.into_iter().map(|(x, y)| [x, y]).collect(),
                rest_offset: curve.rest_offset,
            }),
            gain: entry.gain,
            fade: entry.fade.into(),
            sink: SinkSettings {
                direction: match entry.direction {
                    DirectionEntry::Normal => SinkDirection::Normal,
                    DirectionEntry::BoneAxis => SinkDirection::BoneAxis,
                    DirectionEntry::Radial => SinkDirection::Radial,
                    DirectionEntry::Fixed(fixed) => SinkDirection::Fixed(fixed.into()),
                },
                mask: match entry.along {
                    None => SinkMask::Painted,
                    Some(AlongEntry::Cosine { centre, half_width }) => SinkMask::AlongBone {
                        centre,
                        profile: Profile::Cosine { half_width },
                    },
                    Some(AlongEntry::Gaussian { centre, sigma }) => SinkMask::AlongBone {
                        centre,
                        profile: Profile::Gaussian { sigma },
                    },
                },
            },
        },
        played: entry.played.map(Into::into),
        bone,
        weights,
        muted: entry.muted,
    })
}

/// The data of an entry, with a finding about vertices that the mesh no longer has.
pub(super) fn restore_data(
    entry: DataEntry,
    mesh: &Mesh,
    findings: &mut Vec<Finding>,
) -> DataLayer {
    let mut n_missing = 0;
    let bindings = entry.bindings.into_iter().map(|binding| {
        let keys = binding.points.iter();
        let keys = keys.flat_map(|part| part.v.iter().map(|&v| (part.p, v)));
        let mut clusters = Vec::new();
        for (p, v) in keys {
            match keys::point_of(mesh, p, v) {
                Some(point) => clusters.push(point),
                None => n_missing += 1,
            }
        }
        clusters.sort_unstable();
        clusters.dedup();
        Binding {
            channel: binding.channel,
            clusters,
            kind: match binding.kind {
                KindEntry::Absolute => BindingKind::Absolute,
                KindEntry::Delta => BindingKind::Delta,
                KindEntry::Scalar {
                    reference,
                    direction,
                } => BindingKind::Scalar {
                    reference,
                    direction: direction.map_or(ScalarDirection::Normal, |fixed| {
                        ScalarDirection::Fixed(fixed.into())
                    }),
                },
            },
            scale: binding.scale,
            axes: binding
                .axes
                .map_or(AxisMap::SAME, |axes| AxisMap(axes.map(Into::into))),
            offset: binding.offset.into(),
        }
    });
    let bindings = bindings.collect();
    if n_missing > 0 {
        let n = counted(n_missing, "vertex");
        let why = format!("It is bound to {n} that the mesh does not have; these are skipped.");
        findings.push(Finding::warning(format!("data \"{}\"", entry.title), why));
    }
    DataLayer {
        name: entry.title,
        played: entry.played.into(),
        fit: entry.fit.into(),
        reference: entry.reference,
        fade: entry.fade.into(),
        bindings,
        muted: entry.muted,
    }
}
