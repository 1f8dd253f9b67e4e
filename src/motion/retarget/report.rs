//! What a retargeting chose.

use serde::Serialize;
use std::collections::BTreeMap;

/// What a retargeting chose, and what it measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RetargetReport {
    /// The up axis of the motion.
    pub up: &'static str,
    /// How much of the body's height lies along it, 0 - 1.
    pub up_share: f64,
    /// The number of joints of the character that are moved.
    pub mapped: usize,
    /// The reference: "zero pose" or "frame N".
    pub reference: String,
    /// How far the zero pose is from the character's rest pose: root mean square angle of the bones of limbs, degrees.
    pub zero_pose_rms_deg: f64,
    /// The frame that is nearest to it.
    pub best_frame: usize,
    /// How far that one is, degrees.
    pub best_frame_rms_deg: f64,
    /// Metres of the character in a unit of the motion.
    pub scale: f64,
    /// The lengths of the legs: of the motion in its units, of the character in metres.
    pub legs: [f64; 2],
    /// The joints of each role: the motion's and the character's.
    pub roles: BTreeMap<String, [String; 2]>,
    /// The spines.
    pub spine: [Vec<String>; 2],
    /// Chains: the joints of the motion's and the character's.
    pub chains: Vec<[Vec<String>; 2]>,
    /// The joint of the character that travels.
    pub root: String,
    /// Joints whose stretch is kept.
    pub stretched: Vec<String>,
    /// Joints without a role that move as those of the same name.
    pub same_name: Vec<String>,
    /// What the user should know.
    pub warnings: Vec<String>,
}
