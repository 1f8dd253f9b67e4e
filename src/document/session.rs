//! The session: camera, playback, selection, tool options. Saved with the project, never part of undo.

pub use super::brush::{
    BrushKind, BrushOptions, FalloffShape, Normalising, PaintMask, PaintedBones, Pressure,
    RadiusUnit, SmoothedBones,
};

pub use super::paint_target::{MaskValues, PaintTarget};
pub use super::sculpt_kind::SculptKind;
use super::{ClipId, Compare, InstanceId, LayerId, MeshId};
use crate::math::Camera;
use crate::mesh::PointSet;
use crate::skeleton::{JointId, Pose, RigidInterpolation, Skeleton};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Which clip is shown at which time.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(clippy::struct_excessive_bools)] // settings, each on its own
pub struct Playback {
    /// The clip on screen; `None`: the artist's pose.
    pub clip: Option<ClipId>,
    /// Time in the clip, seconds.
    pub time_secs: f64,
    /// Speed factor.
    pub speed: f64,
    /// Restart at the end.
    pub looping: bool,
    /// The range to play, from and to, seconds; `None`: the whole clip.
    pub range: Option<(f64, f64)>,
    /// Frames per second, for display and stepping.
    pub fps: u32,
    /// Whether the clip plays. Not saved: a project opens paused.
    pub playing: bool,
    /// Whether the artist's pose is shown instead of the clip, because it has not been keyed yet.
    pub unkeyed: bool,
    /// Whether a changed pose is keyed at once. Not saved.
    pub auto_key: bool,
}

/// Frames per second by default.
const DEFAULT_FPS: u32 = 30;

impl Default for Playback {
    fn default() -> Self {
        Self {
            clip: None,
            time_secs: 0.0,
            speed: 1.0,
            looping: true,
            range: None,
            fps: DEFAULT_FPS,
            playing: false,
            unkeyed: false,
            auto_key: false,
        }
    }
}

/// What a transform of bones changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TransformKind {
    /// Location.
    Move,
    /// Rotation about the head.
    #[default]
    Rotate,
    /// Scale.
    Scale,
}

/// Transform orientation: the axes along which a transform works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PoseSpace {
    /// The bone's axes.
    #[default]
    Local,
    /// The world's axes.
    World,
    /// The axes of the bone's parent.
    Parent,
}

/// What a pose is blended towards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BlendTarget {
    /// The pose that was copied last.
    Copied,
    /// The rest pose of the file.
    #[default]
    Rest,
    /// The clip at the previous keyframe.
    KeyBefore,
    /// The clip at the next keyframe.
    KeyAfter,
}

impl BlendTarget {
    /// All targets, in the order of lists.
    pub const ALL: [Self; 4] = [Self::Copied, Self::Rest, Self::KeyBefore, Self::KeyAfter];

    /// The label in lists: "Copied pose".
    pub fn label(self) -> &'static str {
        match self {
            Self::Copied => "Copied pose",
            Self::Rest => "Rest pose",
            Self::KeyBefore => "Previous keyframe",
            Self::KeyAfter => "Next keyframe",
        }
    }

    /// The label within a sentence: "the copied pose".
    pub fn noun(self) -> &'static str {
        match self {
            Self::Copied => "the copied pose",
            Self::Rest => "the rest pose",
            Self::KeyBefore => "the previous keyframe",
            Self::KeyAfter => "the next keyframe",
        }
    }
}

/// The posing tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoseOptions {
    /// The gizmo.
    pub gizmo: TransformKind,
    /// Its axes.
    pub space: PoseSpace,
    /// What poses are blended towards.
    pub blend_target: BlendTarget,
    /// How blended bones are interpolated.
    pub blend_interpolation: RigidInterpolation,
}

impl Default for PoseOptions {
    fn default() -> Self {
        Self {
            gizmo: TransformKind::default(),
            space: PoseSpace::default(),
            blend_target: BlendTarget::default(),
            blend_interpolation: DEFAULT_INTERPOLATION,
        }
    }
}

/// A screw motion swings a limb round its joint between two poses.
const DEFAULT_INTERPOLATION: RigidInterpolation = RigidInterpolation::Screw;

/// What clicks and the selection commands select.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SelectKind {
    /// Bones.
    #[default]
    Bones,
    /// Points of meshes.
    Points,
}

/// Points of several meshes; no mesh has an empty set. Cloning shares the sets.
pub type PointsOfMeshes = BTreeMap<MeshId, Arc<PointSet>>;

/// The corrective sample that is shown and sculpted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActiveSample {
    /// The index of its set.
    pub set: usize,
    /// Its index in the set; `None`: only the set is chosen.
    pub sample: Option<usize>,
}

/// The state of the window when the project was saved.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(clippy::struct_excessive_bools)] // settings, each on its own
pub struct Session {
    /// The view.
    pub camera: Camera,
    /// Clip and time.
    pub playback: Playback,
    /// The brush.
    pub brush: BrushOptions,
    /// The joint whose weights are painted and shown.
    pub active_joint: Option<JointId>,
    /// The mesh that is painted.
    pub active_mesh: Option<MeshId>,
    /// The painted layer of each mesh that has layers.
    pub active_layers: BTreeMap<MeshId, LayerId>,
    /// The chosen corrective sample of each mesh. Not saved.
    pub active_samples: BTreeMap<MeshId, ActiveSample>,
    /// The chosen group of control clusters of each mesh, by its index. Not saved.
    pub active_groups: BTreeMap<MeshId, u16>,
    /// The group of control clusters of each mesh that is shown alone, by its index. Not saved.
    pub isolated_groups: BTreeMap<MeshId, u16>,
    /// What a sculpting stroke does; its other settings are those of the brush. Not saved.
    pub sculpt_kind: SculptKind,
    /// Whether transformed vertices take along those within the radius of the brush. Not saved.
    pub soft_selection: bool,
    /// Whether the left mouse button selects and moves clusters in Cluster mode, instead of marking.
    pub moves_clusters: bool,
    /// The selected control points of lattices and cages, by mesh and group. Not saved.
    pub selected_controls: BTreeMap<(MeshId, u16), BTreeSet<u32>>,
    /// The selection.
    pub selected_joints: BTreeSet<JointId>,
    /// The posing tools.
    pub pose: PoseOptions,
    /// Whether the rest pose is shown instead of the pose or the clip. Not saved.
    pub shows_rest: bool,
    /// Whether the individual is shown instead of the template, where the document has one.
    pub shows_individual: bool,
    /// What live motion shows instead of the clip or the artist's pose. Not saved.
    pub live_pose: Option<Arc<Pose>>,
    /// Joints that keep their position while their ancestors move.
    pub pins: BTreeSet<JointId>,
    /// Selected points. A project keeps them by vertices, not here.
    pub selected_points: PointsOfMeshes,
    /// Whether bones or points are selected.
    pub select_kind: SelectKind,
    /// Box, circle and lasso selection also reach points that face away or are occluded.
    pub select_through: bool,
    /// Bones that are neither drawn nor picked.
    pub hidden_joints: BTreeSet<JointId>,
    /// Points that are neither drawn, picked nor painted; a face with one of them is not drawn. A project keeps them by
    /// vertices, not here.
    pub hidden_points: PointsOfMeshes,
    /// Objects that are neither drawn, picked nor painted.
    pub hidden_instances: BTreeSet<InstanceId>,
    /// Colours that the user gave to bones, sRGB; other bones have a default colour.
    pub joint_colours: BTreeMap<JointId, [u8; 3]>,
    /// The counterpart of a bone on the other side, where the user overrides the one found by name.
    pub joint_pairs: BTreeMap<JointId, JointId>,
    /// Panes, what they show, and the comparison stack.
    pub compare: Compare,
}

impl Session {
    /// Deselects everything that is hidden.
    pub fn deselect_hidden(&mut self) {
        for (mesh, hidden) in &self.hidden_points {
            let Some(selected) = self.selected_points.get_mut(mesh) else {
                continue;
            };
            if selected.intersects(hidden) {
                Arc::make_mut(selected).subtract(hidden);
            }
        }
        self.selected_points.retain(|_, set| !set.is_empty());
        let hidden = &self.hidden_joints;
        self.selected_joints.retain(|joint| !hidden.contains(joint));
    }

    /// Deselects removed joints, and drops the entries of slots that `skeleton` does not have. Entries of removed
    /// joints that were hidden, coloured, pinned or paired are kept: undo restores the joints.
    pub(super) fn follow_skeleton(&mut self, skeleton: &Skeleton) {
        let is_slot = |joint: JointId| joint.get() < skeleton.len();
        self.active_joint = self.active_joint.filter(|&joint| skeleton.is_live(joint));
        self.selected_joints
            .retain(|&joint| skeleton.is_live(joint));
        self.pins.retain(|&joint| is_slot(joint));
        self.hidden_joints.retain(|&joint| is_slot(joint));
        self.joint_colours.retain(|&joint, _| is_slot(joint));
        self.joint_pairs
            .retain(|&a, &mut b| is_slot(a) && is_slot(b));
    }

    /// Gives `joint` the visibility, colour and pin of `other`.
    pub(super) fn inherit_joint(&mut self, joint: JointId, other: JointId) {
        if self.hidden_joints.contains(&other) {
            self.hidden_joints.insert(joint);
        }
        if self.pins.contains(&other) {
            self.pins.insert(joint);
        }
        if let Some(&colour) = self.joint_colours.get(&other) {
            self.joint_colours.insert(joint, colour);
        }
    }
}
