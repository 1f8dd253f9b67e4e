//! Generated models: samples for the first start, and meshes of any size for measurements.
//!
//! Data flow: bones and cones (`figure`, `hand`, `leg`) -> a signed distance field (`field`) -> a closed mesh (`polygonize`)
//! of the requested size (`remesh`) -> weights at each point (`weights`) and texture coordinates (`unwrap`) ->
//! [`SampleModel`]. The arms and the cylinder are rings around an axis (`tube`).
//!
//! Invariant: the same request gives the same bits on every machine and any number of threads: only + - * / and square
//! roots in f64, and `libm` for the rest.
//! Invariant: meshes are closed, rows hold at most 4 influences and sum to 1; the reservoir ([`reservoir`]) has no skeleton.

mod body;
mod coarse_arm;
mod field;
mod figure;
mod hand;
mod leg;
mod motion;
mod moves;
mod polygonize;
mod remesh;
pub mod reservoir;
mod rig;
mod tube;
mod unwrap;
mod weights;

use crate::document::MeshSource;
use crate::document::parts::Skin;
use crate::math::Transform;
use crate::skeleton::{Clip, Joint, JointId, JointRule};
use glam::{DAffine3, DVec3};
use rig::Rig;

/// The name of the recording that ships with the sample of a water surface.
pub const GAUGES_FILE: &str = "reservoir-gauges.csv";

/// The content of a recording that ships with a sample.
pub fn recording(name: &str) -> Option<String> {
    (name == GAUGES_FILE).then(reservoir::recording)
}

/// A generated rigged character.
#[derive(Clone, Debug)]
pub struct SampleModel {
    /// A name, also used as the stem of a file.
    pub name: String,
    /// The node tree, parents before children.
    pub joints: Vec<Joint>,
    /// The joints that the mesh's influences index, and their inverse bind matrices.
    pub skin: Skin,
    /// One primitive; each row at most 4 influences.
    pub mesh: MeshSource,
    /// Its clips.
    pub clips: Vec<Clip>,
}

/// The kinds of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SampleKind {
    /// An upper arm and a forearm: the window starts with it.
    Arm,
    /// A left hand with five fingers of three bones.
    Hand,
    /// A left leg: thigh, shin, foot and toes.
    Leg,
    /// A standing figure with fingers and toes.
    Mannequin,
    /// The cylinder on which skinning methods are measured: radius 1, length 10, elbow in the middle.
    Cylinder,
    /// An arm with a fist of a few hundred points, for control clusters.
    CoarseArm,
}

impl SampleKind {
    /// All kinds.
    pub const ALL: [Self; 6] = [
        Self::Arm,
        Self::Hand,
        Self::Leg,
        Self::Mannequin,
        Self::Cylinder,
        Self::CoarseArm,
    ];

    /// Its name on the command line, and the stem of its file in `assets/`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Arm => "arm",
            Self::Hand => "hand",
            Self::Leg => "leg",
            Self::Mannequin => "mannequin",
            Self::Cylinder => "cylinder",
            Self::CoarseArm => "coarse-arm",
        }
    }

    /// The number of points of the one in `assets/`.
    pub fn default_points(self) -> usize {
        match self {
            Self::Arm => 4_000,
            Self::Hand | Self::Leg => 5_000,
            Self::Mannequin => 9_000,
            Self::Cylinder => 12_866,
            Self::CoarseArm => 262,
        }
    }
}

/// The model of this kind with about `n_points` points (within a tenth, from some hundred to millions).
pub fn sample(kind: SampleKind, n_points: usize) -> SampleModel {
    match kind {
        SampleKind::Arm => arm(n_points),
        SampleKind::Cylinder => cylinder(n_points),
        SampleKind::CoarseArm => coarse_arm::coarse_arm(n_points),
        SampleKind::Hand => {
            let body = figure::hand();
            let joints = body.rig.joints();
            let clips = moves::hand_clips(&body.rig, &joints);
            of_body(&body, joints, clips, n_points)
        }
        SampleKind::Leg => {
            let body = leg::leg();
            let joints = body.rig.joints();
            let clips = leg::clips(&body.rig, &joints);
            of_body(&body, joints, clips, n_points)
        }
        SampleKind::Mannequin => {
            let body = figure::mannequin();
            let joints = body.rig.joints();
            let clips = moves::mannequin_clips(&body.rig, &joints);
            of_body(&body, joints, clips, n_points)
        }
    }
}

fn of_body(
    body: &body::Body,
    joints: Vec<Joint>,
    clips: Vec<Clip>,
    n_points: usize,
) -> SampleModel {
    SampleModel {
        name: body.name.to_owned(),
        joints,
        skin: body.rig.skin(body.name),
        mesh: body::build(body, n_points),
        clips,
    }
}

fn arm(n_points: usize) -> SampleModel {
    let mut rig = Rig::default();
    let at = |x: f64| DVec3::new(x, tube::ARM_HEIGHT, 0.0);
    let (shoulder, elbow, wrist) = (at(-tube::ARM_HALF), at(0.0), at(tube::ARM_HALF));
    let upper = rig.add("upper_arm", None, [shoulder, elbow], DVec3::Z, 0.04);
    let forearm = rig.add("forearm", Some(upper), [elbow, wrist], DVec3::Z, 0.04);
    // It has no weight: it gives the forearm its length.
    let tip = [wrist, wrist + DVec3::X * 0.03];
    rig.add("wrist", Some(forearm), tip, DVec3::Z, 0.04);
    let joints = rig.joints();
    SampleModel {
        name: "arm".to_owned(),
        clips: motion::bend_and_twist(&joints, forearm, DVec3::X, DVec3::Y),
        skin: rig.skin("arm"),
        mesh: tube::arm(n_points),
        joints,
    }
}

fn cylinder(n_points: usize) -> SampleModel {
    let start = DVec3::new(-5.0, 0.0, 0.0);
    let joint = |name: &str, parent: Option<u32>, translation: DVec3| Joint {
        name: name.to_owned(),
        parent: parent.map(JointId),
        rest: Transform {
            translation,
            ..Transform::IDENTITY
        },
        source_node: None,
        content_of: None,
        removed: false,
        rule: JointRule::default(),
    };
    let joints = vec![joint("upper", None, start), joint("lower", Some(0), -start)];
    SampleModel {
        name: "cylinder".to_owned(),
        clips: motion::bend_and_twist(&joints, 1, DVec3::Z, DVec3::X),
        skin: Skin {
            name: "cylinder".to_owned(),
            joints: vec![JointId(0), JointId(1)],
            inverse_bind: vec![DAffine3::from_translation(-start), DAffine3::IDENTITY],
        },
        mesh: tube::cylinder(n_points),
        joints,
    }
}
