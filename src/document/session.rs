//! Where the artist was: camera, playback, selection, tool options. Saved with the project, never part of undo.

pub use super::brush::{
    BrushKind, BrushOptions, Normalising, PaintMask, PaintedBones, Pressure, Projection,
    RadiusUnit, SmoothedBones,
};

use super::{ClipId, Compare, InstanceId, LayerId, MeshId};
use crate::deform::MaskKind;
use crate::math::Camera;
use crate::mesh::PointSet;
use crate::skeleton::{InBetweens, JointId, Skeleton};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What is shown at which moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Playback {
    /// The clip on screen; `None`: the artist's own pose.
    pub clip: Option<ClipId>,
    /// Time in the clip, seconds.
    pub time_secs: f64,
    /// Speed factor.
    pub speed: f64,
    /// Start again at the end.
    pub looping: bool,
    /// What is played, from and to, seconds; `None`: the clip.
    pub range: Option<(f64, f64)>,
    /// Frames a second, as time is counted and stepped.
    pub fps: u32,
    /// Whether time runs. Not saved: a project opens at rest.
    pub playing: bool,
    /// Whether the artist's pose is shown over the clip, because it has not been keyed yet.
    pub unkeyed: bool,
}

/// Frames per second by default.
const USUAL_FPS: u32 = 30;

impl Default for Playback {
    fn default() -> Self {
        Self {
            clip: None,
            time_secs: 0.0,
            speed: 1.0,
            looping: true,
            range: None,
            fps: USUAL_FPS,
            playing: false,
            unkeyed: false,
        }
    }
}

/// What a transform does to bones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TransformKind {
    /// They change place.
    Move,
    /// They turn about their heads.
    #[default]
    Rotate,
    /// They grow and shrink.
    Scale,
}

/// Whose axes a transform goes along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PoseSpace {
    /// The bone's own.
    #[default]
    Local,
    /// The world's.
    World,
    /// Those of the bone's parent.
    Parent,
}

/// What a pose is blended towards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BlendTarget {
    /// The pose that was copied last.
    Copied,
    /// The pose of the file.
    #[default]
    Rest,
    /// The clip at the key before the present time.
    KeyBefore,
    /// The clip at the key after it.
    KeyAfter,
}

impl BlendTarget {
    /// Every one, in the order in which they are offered.
    pub const ALL: [Self; 4] = [Self::Copied, Self::Rest, Self::KeyBefore, Self::KeyAfter];

    /// What the artist chooses: "Copied pose".
    pub fn label(self) -> &'static str {
        match self {
            Self::Copied => "Copied pose",
            Self::Rest => "Rest pose",
            Self::KeyBefore => "Previous keyframe",
            Self::KeyAfter => "Next keyframe",
        }
    }

    /// The same inside of a sentence: "the copied pose".
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
    /// The way that blended bones go.
    pub blend_way: InBetweens,
}

impl Default for PoseOptions {
    fn default() -> Self {
        Self {
            gizmo: TransformKind::default(),
            space: PoseSpace::default(),
            blend_target: BlendTarget::default(),
            blend_way: USUAL_WAY,
        }
    }
}

/// Between two poses a limb swings round.
const USUAL_WAY: InBetweens = InBetweens::Screw;

/// What the brush paints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PaintTarget {
    /// The weights of the active bone.
    #[default]
    Weights,
    /// A painted map of the stack.
    Mask(MaskKind),
    /// The mask of the active layer.
    LayerMask,
}

impl PaintTarget {
    /// All of them, as lists show them.
    pub const ALL: [Self; 6] = [
        Self::Weights,
        Self::LayerMask,
        Self::Mask(MaskKind::Blend),
        Self::Mask(MaskKind::Compensation),
        Self::Mask(MaskKind::Projection),
        Self::Mask(MaskKind::Smooth),
    ];

    /// The map of the stack, where it is one.
    pub fn mask(self) -> Option<MaskKind> {
        match self {
            Self::Weights | Self::LayerMask => None,
            Self::Mask(kind) => Some(kind),
        }
    }

    /// Whether it is a map, and not weights.
    pub fn is_map(self) -> bool {
        self != Self::Weights
    }

    /// The largest value that can be painted; the smallest is 0.
    pub fn limit(self) -> f32 {
        self.mask().map_or(1.0, MaskKind::limit)
    }
}

/// What the brush makes of each painted map. 0 at first: maps that were never painted are 1 everywhere, so a first stroke
/// shows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MaskValues {
    pub(crate) blend: f32,
    pub(crate) compensation: f32,
    pub(crate) projection: f32,
    pub(crate) smooth: f32,
    pub(crate) layer: f32,
}

impl MaskValues {
    /// The value for a map, 0 - [`MaskKind::limit`].
    pub fn get(&self, kind: MaskKind) -> f32 {
        let value = match kind {
            MaskKind::Blend => self.blend,
            MaskKind::Compensation => self.compensation,
            MaskKind::Projection => self.projection,
            MaskKind::Smooth => self.smooth,
        };
        value.clamp(0.0, kind.limit())
    }

    /// The value for a map, to change.
    pub fn get_mut(&mut self, kind: MaskKind) -> &mut f32 {
        match kind {
            MaskKind::Blend => &mut self.blend,
            MaskKind::Compensation => &mut self.compensation,
            MaskKind::Projection => &mut self.projection,
            MaskKind::Smooth => &mut self.smooth,
        }
    }

    /// The value for masks of layers, 0 - 1.
    pub fn layer(&self) -> f32 {
        self.layer.clamp(0.0, 1.0)
    }

    /// The same, to change.
    pub fn layer_mut(&mut self) -> &mut f32 {
        &mut self.layer
    }
}

/// What clicks and the selection commands are about.
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

/// Where the artist was when the project was saved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Session {
    /// The view.
    pub camera: Camera,
    /// Clip and time.
    pub playback: Playback,
    /// The brush.
    pub brush: BrushOptions,
    /// The joint that is painted and shown in the heat map.
    pub active_joint: Option<JointId>,
    /// The mesh that is painted.
    pub active_mesh: Option<MeshId>,
    /// The layer that is painted, of meshes that have layers.
    pub active_layers: BTreeMap<MeshId, LayerId>,
    /// The selection.
    pub selected_joints: BTreeSet<JointId>,
    /// The posing tools.
    pub pose: PoseOptions,
    /// Joints that stay in their place while what is above them moves.
    pub pins: BTreeSet<JointId>,
    /// Selected points. A project keeps them by vertices, not here.
    pub selected_points: PointsOfMeshes,
    /// Whether bones or points are picked.
    pub select_kind: SelectKind,
    /// Boxes, circles and lassos also reach points that face away or are covered.
    pub select_through: bool,
    /// Bones that are neither drawn nor picked.
    pub hidden_joints: BTreeSet<JointId>,
    /// Points that are neither drawn, picked nor painted; a face with one of them is not drawn. A project keeps them by
    /// vertices, not here.
    pub hidden_points: PointsOfMeshes,
    /// Objects that are neither drawn, picked nor painted.
    pub hidden_instances: BTreeSet<InstanceId>,
    /// Colours that the artist gave to bones, sRGB; the others have one by default.
    pub joint_colours: BTreeMap<JointId, [u8; 3]>,
    /// Which bone is which other one's on the other side, where the artist knows better than the names.
    pub joint_pairs: BTreeMap<JointId, JointId>,
    /// Panes, what they show, and what "before" is.
    pub compare: Compare,
}

impl Session {
    /// Takes everything hidden out of the selection.
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

    /// Takes removed joints out of the selection, and forgets what was kept of slots that `skeleton` does not have. Hidden,
    /// coloured, pinned and paired joints that were removed are kept: undo brings them back.
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

    /// Makes `joint` hidden, coloured and pinned as `other` is.
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
