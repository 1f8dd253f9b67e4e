//! Bakes any deformer stack into linear blend skinning with morph targets and keyframes, which every glTF player
//! shows.
//!
//! Data flow: [`Document`] -> `problem` (frames of its clips sampled, in groups of meshes that share joints) ->
//! `solve` (helper joints placed; then alternating least squares over helper motions, weights and displacements;
//! keyframes checked as played, then reduced) -> `emit` (tracks, weight rows, morph targets, drivers) -> [`Baked`], which the export
//! writes. [`mod@compare`] measures what was written. The method is smooth skinning decomposition (Le and Deng 2012;
//! Kavan et al. 2010) with given joints, extended by helper joints that follow dual quaternion blends and by
//! corrective displacements. A bake that any clip can use (`retarget`) is fitted to the skinning method alone and to
//! training poses that no clip has.
//!
//! Invariant: the same bits for any number of threads.
//! Invariant: points that need no correction, and clips, channels and joints of the source, stay as they are.
//! Invariant: an error is measured on the values that a player reads, rounded as in the file; a missed tolerance is
//! reported.

pub mod compare;
mod compared_times;
mod comparison;
mod emit;
mod estimate;
pub mod frames;
mod normal_angles;
mod peaks;
mod played_file;
mod problem;
mod retarget;
mod sample_targets;
mod solve;
pub mod static_shapes;

pub use comparison::{Comparison, InstanceErrors};
pub use estimate::{Estimate, estimate};
pub use normal_angles::Angles;
pub use problem::antipodal::JumpCause;
pub use problem::training_poses::{TRAINING_CLIP, training_clip};
pub use retarget::{SkinFrames, driven_part};
pub use sample_targets::sample_targets;
pub(crate) use solve::weight_ranges::is_byte;

use crate::deform::DeformStack;
use crate::document::{ClipId, Document, Edit, MeshId, SkinId};
use crate::math::Transform;
use crate::skeleton::{Clip, JointId};
use crate::skinning::Influences;
use crate::task::{Cancelled, Task};
use glam::{DAffine3, Vec3};
use problem::group::Group;
use problem::key_times::{JUMP_SECS, MIN_KEY_INTERVAL};
use problem::sampler::Sampler;
use problem::with_problem;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The use of a corrected file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BakeMode {
    /// Its own clips: helper joints with tracks, and morph targets.
    #[default]
    Clips,
    /// Any clip: helper joints follow blends of other joints, and the morph targets of corrective samples follow the
    /// rotations of driver joints; an engine evaluates both from the drivers in the file. They also have tracks for the
    /// file's own clips. No other morph targets.
    Retarget,
    /// Players without skinning: one morph target a frame and no skin. Made by [`frames`], not by [`bake`].
    Frames,
}

impl BakeMode {
    /// The time that a jump of a clip takes in the file, milliseconds; as morph frames, the longest.
    pub fn jump_ms(self) -> f64 {
        let secs = match self {
            Self::Clips | Self::Retarget => JUMP_SECS,
            Self::Frames => MIN_KEY_INTERVAL,
        };
        1e3 * secs
    }
}

/// The most morph targets of a mesh: some engines read no more.
pub const MAX_MORPHS: usize = 256;

/// The smallest and the largest share of the source that normals may take.
pub const NORMALS_SHARE: std::ops::RangeInclusive<f64> = 0.01..=1.0;

/// Options of a bake.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "They are switches of an export, each of its own."
)]
pub struct BakeOptions {
    /// The use of the file.
    pub mode: BakeMode,
    /// The largest allowed distance from the stack's result, as a fraction of the diagonal in the rest pose.
    pub tolerance: f64,
    /// The largest number of morph targets of a mesh.
    pub max_morphs: usize,
    /// The largest number of joints of a skin, the source's included.
    pub max_joints: usize,
    /// Keep morph weights within 0 - 1, for one target more.
    pub unipolar: bool,
    /// Also write normal deltas of morph targets.
    pub normals: bool,
    /// About how many bytes the normal deltas of clips may take, as a fraction of those of the source: more in small files
    /// and beside a small or a very large correction, see `emit::normal_budget`. Without a limit they would outweigh all
    /// other data.
    pub normals_share: f64,
    /// Write morph targets as sparse accessors where that is smaller.
    pub sparse: bool,
    /// Quantize the morph targets of clips to 16 bits and their normals to 8, which requires `KHR_mesh_quantization` of players.
    pub quantize: bool,
    /// Clips that must meet the tolerance; empty: all.
    pub clips: Vec<ClipId>,
}

impl Default for BakeOptions {
    fn default() -> Self {
        Self {
            mode: BakeMode::default(),
            tolerance: 0.001,
            max_morphs: 128,
            max_joints: 256,
            unipolar: true,
            normals: true,
            normals_share: 0.09,
            sparse: true,
            quantize: false,
            clips: Vec::new(),
        }
    }
}

impl BakeOptions {
    /// Checks the range of every number; the error is a sentence for the user.
    pub fn check(&self) -> Result<(), String> {
        if !(self.tolerance >= 1e-5 && self.tolerance <= 0.1) {
            return Err(format!(
                "The tolerance is {} % of the model's diagonal; it must be 0.001 - 10 %.",
                crate::finding::trimmed(100.0 * self.tolerance)
            ));
        }
        if self.max_morphs > MAX_MORPHS {
            return Err(format!(
                "{} morph targets are more than {MAX_MORPHS}.",
                self.max_morphs
            ));
        }
        if !NORMALS_SHARE.contains(&self.normals_share) {
            return Err(format!(
                "The share of normals is {} % of the model's size; it must be 1 - 100 %.",
                crate::finding::trimmed(100.0 * self.normals_share)
            ));
        }
        if self.max_joints > 1024 {
            return Err(format!("{} joints are more than 1024.", self.max_joints));
        }
        Ok(())
    }
}

/// A helper joint.
#[derive(Clone, Debug, PartialEq)]
pub struct HelperJoint {
    /// Its handle in the clips of [`Baked`], which no joint of the document has.
    pub id: JointId,
    /// The node's name.
    pub name: String,
    /// The parent joint.
    pub parent: JointId,
    /// Its local transform in the rest pose.
    pub rest: Transform,
    /// Its inverse bind matrix: mesh space in the bind pose -> helper space.
    pub inverse_bind: DAffine3,
    /// The joints and weights whose dual quaternion blend it follows, largest first; empty where its motion is only in
    /// tracks.
    pub driver: Vec<(JointId, f64)>,
}

/// A morph target: its nonzero entries, ascending, mesh space.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BakedTarget {
    /// A label; if empty, it is named as a correction.
    pub name: String,
    /// Points and displacements.
    pub positions: Vec<(u32, Vec3)>,
    /// Entries of the mesh's `normals` and their deltas.
    pub normals: Vec<(u32, Vec3)>,
}

/// Changes of a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct BakedMesh {
    /// One row a point. Indices from the number of the skin's joints on are helper joints.
    pub influences: Influences,
    /// Whether the influences differ from the document's.
    pub reweighted: bool,
    /// Targets to append to the source's.
    pub targets: Vec<BakedTarget>,
}

/// A bake: what changes in the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Baked {
    /// New joints.
    pub joints: Vec<HelperJoint>,
    /// For each skin with helper joints, their indices in `joints`, in slot order.
    pub skins: BTreeMap<SkinId, Vec<usize>>,
    /// For each skin with driven helper joints, what their drivers need besides.
    pub frames: BTreeMap<SkinId, SkinFrames>,
    /// The meshes that change.
    pub meshes: BTreeMap<MeshId, BakedMesh>,
    /// For each mesh whose targets are corrective samples that engines drive: the sample of each target, as an index
    /// into those of the document's mesh.
    pub samples: BTreeMap<MeshId, Vec<usize>>,
    /// All clips of the file.
    pub clips: BTreeMap<ClipId, Arc<Clip>>,
    /// Jumps of the skin, by clip and time.
    pub jumps: Vec<Jump>,
    /// The largest error at the sampled times, as a fraction of the diagonal.
    pub expected: f64,
}

/// A discontinuity of dual quaternion skinning in a continuous motion. The file reproduces it within [`BakeMode::jump_ms`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jump {
    /// Its clip.
    pub clip: ClipId,
    /// Its time, seconds.
    pub time: f64,
    /// The two joints whose relative rotation jumps; a flat one comes first.
    pub joints: (JointId, JointId),
    /// Its cause.
    pub cause: JumpCause,
}

impl Baked {
    /// Whether nothing needs correction.
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty() && self.meshes.is_empty()
    }

    /// Whether `joint` is one of the new joints.
    pub fn is_helper(&self, joint: JointId) -> bool {
        self.joints.iter().any(|helper| helper.id == joint)
    }
}

/// The diagonal of the bounding box of everything in the rest pose, metres; 1 for an empty document. Tolerances are
/// fractions of it.
pub fn diagonal_at_rest(document: &Document, task: &Task) -> Result<f64, Cancelled> {
    let mut plain = document.clone();
    let linear = Arc::new(DeformStack::lbs());
    for &mesh in document.meshes().keys() {
        let stack = linear.clone();
        // Stacks do not change the rest pose, and some are slow to cook.
        let _ = plain.apply(&mut Edit::Stack { mesh, stack });
    }
    Ok(Sampler::new(&plain, task)?.diagonal())
}

/// Bakes the document's stacks for the clips `played`, which are as the file will have them. `None` where no point
/// needs correction.
///
/// The options must be in their ranges ([`BakeOptions::check`]).
pub fn bake(
    document: &Document,
    played: &BTreeMap<ClipId, Arc<Clip>>,
    options: &BakeOptions,
    task: &Task,
) -> Result<Option<Baked>, Cancelled> {
    with_problem(document, played, options, task, |problem| {
        let mut baked = Baked {
            clips: played.clone(),
            ..Baked::default()
        };
        for mut group in Group::all(problem.sampler) {
            let solved = problem.solve(&mut group)?;
            if let Some(solved) = &solved {
                emit::add(&mut baked, problem, &group, solved)?;
            }
            if options.mode == BakeMode::Retarget {
                emit::samples::add(&mut baked, problem, &group, solved.as_ref(), document)?;
            }
        }
        // The training clip is not in the file.
        baked.jumps.retain(|jump| jump.clip != TRAINING_CLIP);
        baked
            .jumps
            .sort_by(|a, b| a.clip.cmp(&b.clip).then(a.time.total_cmp(&b.time)));
        Ok((!baked.is_empty()).then_some(baked))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_ranges() {
        assert_eq!(BakeOptions::default().check(), Ok(()));
        for tolerance in [0.0, 1.0, f64::NAN] {
            let options = BakeOptions {
                tolerance,
                ..BakeOptions::default()
            };
            assert!(options.check().is_err());
        }
    }
}
