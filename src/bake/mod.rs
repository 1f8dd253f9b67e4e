//! Any deformer stack as plain linear skinning with morph targets: what every glTF player shows.
//!
//! The way of the data: a [`Document`] -> `sampler` (its stacks and a player's matrices at any frame, over `times`) ->
//! `group` (what hangs together, which points are off and when) -> `greedy` (`helpers`: joints between joints; `rows`:
//! weights over them; `refine`: their motions where corrections ask for more) -> `basis` (displacements for what is left
//! over), by turns (`alternate`) -> `solve` (how much of both) -> `played` (weights at all keys with the matrices of a player, more keys where the
//! played result strays) -> [`Baked`], which [`crate::io::gltf_export`] writes. [`compare`] then looks at what was written
//! as a player does. What any clip is to show (`retarget`) is fitted to the skinning alone and over poses that no clip has
//! (`practice`).
//!
//! Invariant: the same bits for any number of threads.
//! Invariant: points that need no correction, and clips, channels and joints of the source, stay as they are.
//! Invariant: an error is measured on what a player shows, rounded as the file has it; a miss is said.

pub mod compare;
mod emit;
mod estimate;
pub mod frames;
mod normal_angles;
mod problem;
mod retarget;
mod solve;
pub mod still;

pub use compare::{Comparison, InstanceErrors};
pub use estimate::{Estimate, estimate};
pub use normal_angles::Angles;
pub use problem::training_poses::{PRACTICE, practice};
pub use retarget::{SkinFrames, skinning_only};

use crate::deform::DeformStack;
use crate::document::{ClipId, Document, Edit, MeshId, SkinId};
use crate::math::Transform;
use crate::skeleton::{Clip, JointId};
use crate::skinning::Influences;
use crate::task::{Cancelled, Task};
use glam::{DAffine3, Vec3};
use problem::group::Group;
use problem::sampler::Sampler;
use problem::with_problem;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a corrected file is made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BakeMode {
    /// The clips in it: helper joints with tracks, and morph targets.
    #[default]
    Clips,
    /// Any clip: helper joints that follow from the other joints, which an engine drives by what the file says of them;
    /// they have tracks for the clips in it. No morph targets.
    Retarget,
    /// Players without skinning: a morph target a frame, and no skin. Made by [`frames`], not by [`bake`].
    Frames,
}

/// How to bake.
#[derive(Clone, Debug, PartialEq)]
pub struct BakeOptions {
    /// What for.
    pub mode: BakeMode,
    /// The largest distance from what the stack shows, as a fraction of the model's diagonal at rest.
    pub tolerance: f64,
    /// Most morph targets that a mesh gets.
    pub max_morphs: usize,
    /// Most joints of a skin, the source's included.
    pub max_joints: usize,
    /// Keep morph weights within 0 - 1, at the price of one target more.
    pub unipolar: bool,
    /// Morph targets turn normals too.
    pub normals: bool,
    /// Write of a morph target only what it moves, where that is smaller.
    pub sparse: bool,
    /// Clips whose corrections must meet the tolerance; empty: all.
    pub clips: Vec<ClipId>,
}

impl Default for BakeOptions {
    fn default() -> Self {
        Self {
            mode: BakeMode::default(),
            tolerance: 0.001,
            max_morphs: 8,
            max_joints: 256,
            unipolar: true,
            normals: true,
            sparse: true,
            clips: Vec::new(),
        }
    }
}

impl BakeOptions {
    /// Whether every number is in its range; else which is not, as a sentence.
    pub fn check(&self) -> Result<(), String> {
        if !(self.tolerance >= 1e-5 && self.tolerance <= 0.1) {
            return Err(format!(
                "The tolerance is {} % of the model's diagonal; it must be 0.001 - 10 %.",
                crate::finding::trimmed(100.0 * self.tolerance)
            ));
        }
        if self.max_morphs > 64 {
            return Err(format!(
                "{} morph targets are more than 64.",
                self.max_morphs
            ));
        }
        if self.max_joints > 1024 {
            return Err(format!("{} joints are more than 1024.", self.max_joints));
        }
        Ok(())
    }
}

/// A joint that goes between joints.
#[derive(Clone, Debug, PartialEq)]
pub struct HelperJoint {
    /// Its handle in the clips of [`Baked`], which no joint of the document has.
    pub id: JointId,
    /// Its label.
    pub name: String,
    /// What it hangs from.
    pub parent: JointId,
    /// Its transform without a clip.
    pub rest: Transform,
    /// Bind-pose mesh space -> its space.
    pub inverse_bind: DAffine3,
    /// Joints and weights whose dual quaternion blend it follows, largest first; empty where it follows nothing but its
    /// tracks.
    pub driver: Vec<(JointId, f64)>,
}

/// A morph target that a mesh gets: what it moves, ascending, mesh space.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BakedTarget {
    /// Points and displacements.
    pub positions: Vec<(u32, Vec3)>,
    /// Entries of the mesh's `normals` and what is added to them.
    pub normals: Vec<(u32, Vec3)>,
}

/// What changes of a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct BakedMesh {
    /// One row a point. Indices from the number of the skin's joints on are helper joints.
    pub influences: Influences,
    /// Whether they differ from the document's.
    pub reweighted: bool,
    /// Targets after those of the source.
    pub targets: Vec<BakedTarget>,
}

/// What a player needs to show what the stacks show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Baked {
    /// New joints.
    pub joints: Vec<HelperJoint>,
    /// For each skin that gets some, which of `joints` follow its own.
    pub skins: BTreeMap<SkinId, Vec<usize>>,
    /// Of those skins, what drivers of their helpers need besides: only where the helpers follow joints.
    pub frames: BTreeMap<SkinId, SkinFrames>,
    /// Meshes that change.
    pub meshes: BTreeMap<MeshId, BakedMesh>,
    /// All clips of the file.
    pub clips: BTreeMap<ClipId, Arc<Clip>>,
    /// Where the stacks' skin itself jumps, in order of clips and times.
    pub jumps: Vec<Jump>,
    /// The largest error found while baking, as a fraction of the diagonal.
    pub expected: f64,
}

/// A frame at which two joints turn by 180 degrees against each other and dual quaternions go the other way round: the
/// skin jumps there, in the file within two milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jump {
    /// The clip.
    pub clip: ClipId,
    /// Seconds.
    pub time: f64,
    /// The joints.
    pub joints: (JointId, JointId),
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

/// The diagonal of the box around everything at rest, metres: what tolerances are fractions of. 1 where there is nothing.
pub fn diagonal_at_rest(document: &Document, task: &Task) -> Result<f64, Cancelled> {
    let mut plain = document.clone();
    let linear = Arc::new(DeformStack::lbs());
    for &mesh in document.meshes().keys() {
        let stack = linear.clone();
        // StackChoice have no part in it, and some take long to prepare.
        let _ = plain.apply(&mut Edit::Stack { mesh, stack });
    }
    Ok(Sampler::new(&plain, task)?.diagonal())
}

/// Bakes the document's stacks for `played`, its clips as the file will have them. `None` where no point is off.
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
            if let Some(solved) = problem.solve(&mut group)? {
                emit::add(&mut baked, problem, &group, &solved)?;
            }
        }
        // The poses for practice are no clip of the file.
        baked.jumps.retain(|jump| jump.clip != PRACTICE);
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
