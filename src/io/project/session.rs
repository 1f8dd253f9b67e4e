//! The session (view, playback, selection, tools) in the project format.
//!
//! A file omits values equal to the defaults, which are part of the format. Selected and hidden points have a list of
//! their own (see [`super::points`]).

use super::brush::Brush;
use super::joints::{self, JointRef, Joints};
use super::stack::{self, StackChoice};
use super::types::{RigidInterpolation, all_finite, enums, is_default, structs};
use crate::document::{
    ClipId, Compare as LiveCompare, Document, InstanceId, LayerId, MeshId, PaneLayout,
    Session as LiveSession, session as live,
};
use crate::finding::Finding;
use crate::math;
use crate::skeleton::JointId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// The range of the playback speed.
const SPEEDS: RangeInclusive<f64> = 0.1..=4.0;
/// The range of the playback time, seconds: up to a day.
const TIMES_SECS: RangeInclusive<f64> = 0.0..=86_400.0;

enums! {
    /// How the viewport is divided.
    #[derive(Default)]
    Layout = PaneLayout { #[default] One, Two, Four, Wipe }

    /// What the gizmo does.
    #[derive(Default)]
    TransformKind = live::TransformKind { Move, #[default] Rotate, Scale }

    /// The axes of the gizmo.
    #[derive(Default)]
    PoseSpace = live::PoseSpace { #[default] Local, World, Parent }

    /// What poses are blended towards.
    #[derive(Default)]
    BlendTarget = live::BlendTarget { Copied, #[default] Rest, KeyBefore, KeyAfter }

    /// What clicks select.
    #[derive(Default)]
    SelectKind = live::SelectKind { #[default] Bones, Points }
}

structs! {
    /// The posing tools.
    #[serde(default)]
    PoseOptions = live::PoseOptions {
        gizmo: TransformKind,
        space: PoseSpace,
        #[serde(skip_serializing_if = "is_default")]
        blend_target: BlendTarget,
        #[serde(rename = "blend_way", skip_serializing_if = "is_screw")]
        blend_interpolation: RigidInterpolation,
    }
}

impl Default for PoseOptions {
    fn default() -> Self {
        Self {
            gizmo: TransformKind::Rotate,
            space: PoseSpace::Local,
            blend_target: BlendTarget::Rest,
            blend_interpolation: RigidInterpolation::Screw,
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde expects"
)]
fn is_screw(interpolation: &RigidInterpolation) -> bool {
    *interpolation == RigidInterpolation::Screw
}

structs! {
    /// The view.
    Camera = math::Camera {
        target: (f32, f32, f32),
        yaw: f32,
        pitch: f32,
        distance: f32,
        fov_y: f32,
        orthographic: bool,
    }
}

impl Default for Camera {
    fn default() -> Self {
        math::Camera::default().into()
    }
}

/// Which clip is shown at which time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Playback {
    clip: Option<u32>,
    time_secs: f64,
    speed: f64,
    looping: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<(f64, f64)>,
    #[serde(skip_serializing_if = "is_default_fps")]
    fps: u32,
}

const DEFAULT_FPS: u32 = 30;

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde expects"
)]
fn is_default_fps(fps: &u32) -> bool {
    *fps == DEFAULT_FPS
}

impl Default for Playback {
    fn default() -> Self {
        Self {
            clip: None,
            time_secs: 0.0,
            speed: 1.0,
            looping: true,
            range: None,
            fps: DEFAULT_FPS,
        }
    }
}

/// What the views compare.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Compare {
    layout: Layout,
    elsewhere: Layout,
    choices: [StackChoice; 4],
    wipe: f32,
    before: StackChoice,
}

impl Default for Compare {
    fn default() -> Self {
        use super::stack::StackPreset::{CentresOfRotation, Dqs, Lbs};
        Self {
            layout: Layout::Two,
            elsewhere: Layout::One,
            choices: [
                StackChoice::Preset(Lbs),
                StackChoice::Project,
                StackChoice::Preset(Dqs),
                StackChoice::Preset(CentresOfRotation),
            ],
            wipe: 0.5,
            before: StackChoice::Preset(Lbs),
        }
    }
}

/// The state of the window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Session {
    pub(super) camera: Camera,
    pub(super) playback: Playback,
    pub(super) brush: Brush,
    pub(super) active_joint: Option<JointRef>,
    pub(super) active_mesh: Option<u32>,
    /// The active layer of each mesh that has layers.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) active_layers: BTreeMap<u32, u32>,
    pub(super) selected_joints: Vec<JointRef>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) pose: PoseOptions,
    /// Joints that keep their position while their ancestors move.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) pins: Vec<JointRef>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) select_kind: SelectKind,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) select_through: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) hidden_joints: Vec<JointRef>,
    /// Hidden objects, by the node that draws them.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) hidden_instances: BTreeSet<u32>,
    /// Joints and their colours, sRGB.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) joint_colours: Vec<(JointRef, [u8; 3])>,
    /// Joints and their counterparts on the other side, where the names do not match.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) joint_pairs: Vec<(JointRef, JointRef)>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) compare: Compare,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) shows_individual: bool,
}

/// The session of `document`, without its points.
pub(super) fn collect(document: &Document) -> Session {
    // Destructuring: a new field of the session does not compile until it is handled here.
    let LiveSession {
        camera,
        playback,
        brush,
        active_joint,
        active_mesh,
        active_layers,
        active_samples: _,
        active_groups: _,
        isolated_groups: _,
        sculpt_kind: _,
        soft_selection: _,
        moves_clusters: _,
        selected_controls: _,
        selected_joints,
        pose,
        shows_rest: _,
        shows_individual,
        live_pose: _,
        pins,
        selected_points: _,
        select_kind,
        select_through,
        hidden_joints,
        hidden_points: _,
        hidden_instances,
        joint_colours,
        joint_pairs,
        compare,
    } = document.session();
    let joint = |&joint: &JointId| joints::reference(document, joint);
    let joints = |set: &BTreeSet<JointId>| set.iter().map(joint).collect();
    Session {
        camera: (*camera).into(),
        playback: Playback {
            clip: playback.clip.map(|clip| clip.0),
            time_secs: playback.time_secs,
            speed: playback.speed,
            looping: playback.looping,
            range: playback.range,
            fps: playback.fps,
        },
        brush: (*brush).into(),
        active_joint: active_joint.as_ref().map(joint),
        active_mesh: active_mesh.map(|mesh| mesh.0),
        active_layers: active_layers.iter().map(|(m, l)| (m.0, l.0)).collect(),
        selected_joints: joints(selected_joints),
        pose: (*pose).into(),
        shows_individual: *shows_individual,
        pins: joints(pins),
        select_kind: (*select_kind).into(),
        select_through: *select_through,
        hidden_joints: joints(hidden_joints),
        hidden_instances: hidden_instances.iter().map(|id| id.0).collect(),
        joint_colours: joint_colours.iter().map(|(j, c)| (joint(j), *c)).collect(),
        joint_pairs: joint_pairs
            .iter()
            .map(|(a, b)| (joint(a), joint(b)))
            .collect(),
        compare: compared(compare),
    }
}

/// A project has no exported file when it opens: the default choice replaces it.
fn compared(live: &LiveCompare) -> Compare {
    let LiveCompare {
        layout,
        elsewhere,
        choices,
        wipe,
        before,
    } = live;
    let mut compare = Compare {
        layout: (*layout).into(),
        elsewhere: (*elsewhere).into(),
        wipe: *wipe,
        ..Compare::default()
    };
    let of_panes = compare.choices.iter_mut().zip(choices);
    for (choice, live) in of_panes.chain([(&mut compare.before, before)]) {
        if let Some(live) = stack::choice(live) {
            *choice = live;
        }
    }
    compare
}

/// The session for `document`, without items that its model does not have; `None` where a number is invalid.
///
/// What is skipped becomes a finding.
pub(super) fn restore(
    session: Session,
    document: &Document,
    joints: &mut Joints,
    findings: &mut Vec<Finding>,
) -> Option<LiveSession> {
    let mut playback = session.playback.clone();
    let default = Playback::default();
    playback.speed = within(playback.speed, SPEEDS, default.speed);
    playback.time_secs = within(playback.time_secs, TIMES_SECS, default.time_secs);
    let finite = Session {
        playback: playback.clone(),
        // Its numbers are clamped to their ranges.
        brush: Brush::default(),
        ..session.clone()
    };
    if !all_finite(&finite) || session.camera.distance <= 0.0 {
        findings.push(Finding::warning(
            "session",
            "The view or a tool has an invalid value; both are reset.",
        ));
        return None;
    }
    let mut find = |joint: &JointRef| joints.find_joint(joint, findings);
    let mut set = |list: &[JointRef]| list.iter().filter_map(&mut find).collect();
    let mut selected_joints: BTreeSet<JointId> = set(&session.selected_joints);
    selected_joints.retain(|&joint| document.skeleton().is_live(joint));
    let pins = set(&session.pins);
    let hidden_joints = set(&session.hidden_joints);
    let colours = session.joint_colours.iter();
    let joint_colours = colours.filter_map(|(joint, colour)| Some((find(joint)?, *colour)));
    let joint_colours = joint_colours.collect();
    let pairs = session.joint_pairs.iter();
    let joint_pairs = pairs.filter_map(|(a, b)| Some((find(a)?, find(b)?)));
    let joint_pairs = joint_pairs.collect();
    let active_joint = session.active_joint.as_ref().and_then(&mut find);
    let active_joint = active_joint.filter(|&joint| document.skeleton().is_live(joint));
    let layers = session.active_layers.into_iter();
    Some(LiveSession {
        camera: session.camera.into(),
        playback: live::Playback {
            clip: playback
                .clip
                .map(ClipId)
                .filter(|id| document.clips().contains_key(id)),
            time_secs: playback.time_secs,
            speed: playback.speed,
            looping: playback.looping,
            range: playback
                .range
                .filter(|(start, end)| *start >= 0.0 && start < end),
            fps: playback.fps.clamp(1, 1000),
            playing: false,
            unkeyed: false,
            auto_key: false,
        },
        brush: live::BrushOptions::from(session.brush).clamped(),
        active_joint,
        active_mesh: session
            .active_mesh
            .map(MeshId)
            .filter(|id| document.meshes().contains_key(id)),
        active_layers: layers
            .map(|(mesh, layer)| (MeshId(mesh), LayerId(layer)))
            .filter(|(mesh, layer)| document.layer(*mesh, *layer).is_some())
            .collect(),
        active_samples: BTreeMap::new(),
        active_groups: BTreeMap::new(),
        isolated_groups: BTreeMap::new(),
        sculpt_kind: live::SculptKind::default(),
        soft_selection: false,
        moves_clusters: false,
        selected_controls: BTreeMap::new(),
        selected_joints,
        pose: session.pose.into(),
        shows_rest: false,
        shows_individual: session.shows_individual,
        live_pose: None,
        pins,
        selected_points: live::PointsOfMeshes::default(),
        select_kind: session.select_kind.into(),
        select_through: session.select_through,
        hidden_joints,
        hidden_points: live::PointsOfMeshes::default(),
        hidden_instances: session
            .hidden_instances
            .into_iter()
            .map(InstanceId)
            .filter(|id| document.instances().contains_key(id))
            .collect(),
        joint_colours,
        joint_pairs,
        compare: comparing(session.compare, findings),
    })
}

/// Stacks to compare with are checked like those of meshes.
fn comparing(mut compare: Compare, findings: &mut Vec<Finding>) -> LiveCompare {
    let default = Compare::default();
    let choices = compare.choices.iter_mut().zip(default.choices);
    for (choice, default) in choices.chain([(&mut compare.before, default.before)]) {
        let StackChoice::Custom(stack) = choice else {
            continue;
        };
        if let Err(why) = crate::deform::DeformStack::from(stack.clone()).check() {
            findings.push(Finding::warning(
                "session",
                format!("A stack to compare with cannot be used: {why}."),
            ));
            *choice = default;
        }
    }
    LiveCompare {
        layout: compare.layout.into(),
        elsewhere: compare.elsewhere.into(),
        choices: compare.choices.map(Into::into),
        wipe: compare.wipe.clamp(0.0, 1.0),
        before: compare.before.into(),
    }
}

/// `value` clamped to `bounds`; `default` where it is not a number.
fn within(value: f64, bounds: RangeInclusive<f64>, default: f64) -> f64 {
    if value.is_nan() {
        default
    } else {
        value.clamp(*bounds.start(), *bounds.end())
    }
}
