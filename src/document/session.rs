//! Where the artist was: camera, playback, selection, tool options. Saved with the project, never part of undo.

use super::{ClipId, InstanceId, MeshId};
use crate::math::Camera;
use crate::skeleton::JointIndex;
use crate::weights::falloff::Falloff;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What is shown at which moment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Playback {
    /// The clip on screen; `None`: the artist's own pose.
    pub clip: Option<ClipId>,
    /// Time in the clip, seconds.
    pub time_secs: f64,
    /// Speed factor.
    pub speed: f64,
    /// Start again at the end.
    pub looping: bool,
    /// Whether time runs. Not saved: a project opens at rest.
    #[serde(skip)]
    pub playing: bool,
}

impl Default for Playback {
    fn default() -> Self {
        Self {
            clip: None,
            time_secs: 0.0,
            speed: 1.0,
            looping: true,
            playing: false,
        }
    }
}

/// The weight brush.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BrushOptions {
    /// What a stroke at full strength adds, 0 - 1.
    pub weight: f32,
    /// How much of the way one stroke goes, 0 - 1.
    pub strength: f32,
    /// Radius on the screen, logical pixels.
    pub radius_px: f32,
    /// How the effect fades.
    pub falloff: Falloff,
    /// Distance between dabs as a fraction of the radius.
    pub spacing: f32,
    /// Leave points alone that face away from the eye.
    pub front_faces_only: bool,
    /// Keep each point's sum at 1 while painting.
    pub normalise: bool,
    /// Most influences a point may keep when edited.
    pub max_influences: usize,
}

impl Default for BrushOptions {
    fn default() -> Self {
        Self {
            weight: 1.0,
            strength: 0.5,
            radius_px: 50.0,
            falloff: Falloff::Smooth,
            spacing: 0.1,
            front_faces_only: true,
            normalise: true,
            max_influences: 4,
        }
    }
}

/// Where the artist was when the project was saved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Session {
    /// The view.
    pub camera: Camera,
    /// Clip and time.
    pub playback: Playback,
    /// The weight brush.
    pub brush: BrushOptions,
    /// The joint that is painted and shown in the heat map.
    pub active_joint: Option<JointIndex>,
    /// The mesh that is painted.
    pub active_mesh: Option<MeshId>,
    /// The selection.
    pub selected_joints: BTreeSet<JointIndex>,
    /// Bones that are not shown.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub hidden_joints: BTreeSet<JointIndex>,
    /// Objects that are not drawn.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub hidden_instances: BTreeSet<InstanceId>,
    /// Colours that the artist gave to bones, sRGB; the others have one by default.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub joint_colours: BTreeMap<JointIndex, [u8; 3]>,
}
