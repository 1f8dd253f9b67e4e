//! Any deformer stack as plain linear skinning with morph targets: what every glTF player shows.
//!
//! The way of the data: a [`Document`] -> `stage` (its stacks and a player's matrices at any moment, over `times`) ->
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

mod alternate;
mod angles;
mod basis;
pub mod compare;
mod dense;
mod envelope;
mod estimate;
mod flips;
pub mod frames;
mod greedy;
mod group;
mod helpers;
mod morphs;
mod normals;
mod played;
mod practice;
mod refine;
mod retarget;
mod rows;
mod solve;
mod stage;
pub mod still;
mod times;

pub use angles::Angles;
pub use compare::{Comparison, InstanceErrors};
pub use estimate::{Estimate, estimate};
pub use practice::{PRACTICE, practice};
pub use retarget::{SkinFrames, skinning_only};

use crate::deform::DeformStack;
use crate::document::{ClipId, Document, Edit, MeshId, SkinId};
use crate::math::Transform;
use crate::math::transform::normalize_or_identity;
use crate::skeleton::{Channel, Clip, Interpolation, JointId, Property};
use crate::skinning::{Influences, RowRef, Rows};
use crate::task::{Cancelled, Task};
use glam::{DAffine3, DMat3, Vec3};
use group::Group;
use helpers::Helper;
use serde::Serialize;
use solve::{Job, Solved};
use stage::{Clips, Stage};
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

/// A moment at which two joints turn by 180 degrees against each other and dual quaternions go the other way round: the
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
        // Stacks have no part in it, and some take long to prepare.
        let _ = plain.apply(&mut Edit::Stack { mesh, stack });
    }
    Ok(Stage::new(&plain, task)?.diagonal())
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
    with_job(document, played, options, task, |job| {
        let mut baked = Baked {
            clips: played.clone(),
            ..Baked::default()
        };
        for mut group in Group::all(job.stage) {
            if let Some(solved) = job.solve(&mut group)? {
                add(&mut baked, job, &group, &solved)?;
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

/// What `work` makes of the document's stacks and clips.
fn with_job<T>(
    document: &Document,
    played: &BTreeMap<ClipId, Arc<Clip>>,
    options: &BakeOptions,
    task: &Task,
    work: impl FnOnce(&Job<'_>) -> Result<T, Cancelled>,
) -> Result<T, Cancelled> {
    let any_clip = options.mode == BakeMode::Retarget;
    let skinning = any_clip.then(|| skinning_only(document)).flatten();
    let document = skinning.as_ref().unwrap_or(document);
    let options = &retarget::options_for(options);
    let stage = Stage::new(document, task)?;
    let mut clips = clips_of(document, played);
    let practised = any_clip.then(|| practice(document));
    if let Some(practised) = &practised {
        clips.add(PRACTICE, practised);
    }
    let corrected: Vec<bool> = clips
        .ids
        .iter()
        .map(|id| options.clips.is_empty() || options.clips.contains(id) || *id == PRACTICE)
        .collect();
    let diagonal = stage.diagonal();
    let job = Job {
        stage: &stage,
        clips: &clips,
        corrected: &corrected,
        tolerance: options.tolerance * diagonal,
        diagonal,
        options,
        task,
    };
    work(&job)
}

/// The clips as seen and as played, in the same order.
fn clips_of<'a>(document: &'a Document, played: &'a BTreeMap<ClipId, Arc<Clip>>) -> Clips<'a> {
    let mut clips = Clips {
        ids: Vec::new(),
        seen: Vec::new(),
        played: Vec::new(),
    };
    for (&id, played) in played {
        clips.ids.push(id);
        clips.seen.push(document.clips().get(&id).unwrap_or(played));
        clips.played.push(played);
    }
    clips
}

/// Adds what was found for a group.
fn add(baked: &mut Baked, job: &Job<'_>, group: &Group, solved: &Solved) -> Result<(), Cancelled> {
    baked.expected = baked.expected.max(solved.worst / job.diagonal);
    baked.jumps.extend(solved.flips.iter().map(|flip| Jump {
        clip: job.clips.ids[flip.clip],
        time: flip.time,
        joints: flip.joints,
    }));
    let mut tracks: Vec<Vec<Channel>> = vec![Vec::new(); job.clips.ids.len()];
    for (&unit, helpers) in group.units.iter().zip(&solved.helpers) {
        if helpers.is_empty() {
            continue;
        }
        let joints: Vec<usize> = (0..helpers.len()).map(|h| baked.joints.len() + h).collect();
        for (h, (helper, &joint)) in helpers.iter().zip(&joints).enumerate() {
            let id = job.stage.document.skeleton().free_id(joint);
            baked.joints.push(HelperJoint {
                driver: retarget::driver(job, unit, &solved.omegas[h]),
                ..joint_of(helper, id, joint)
            });
            for (clip, tracks) in tracks.iter_mut().enumerate() {
                tracks.extend(channels_of(helper, id, clip));
            }
        }
        for &skin in &job.stage.units[unit].skins {
            baked.skins.insert(skin, joints.clone());
        }
        if let Some(frames) = retarget::frames(job, unit, &solved.omegas) {
            let skins = job.stage.units[unit].skins.iter();
            baked
                .frames
                .extend(skins.map(|&skin| (skin, frames.clone())));
        }
    }
    for (i, (part, mesh)) in group.meshes.iter().zip(&solved.meshes).enumerate() {
        let Some(item) = job.stage.item(part.mesh) else {
            continue;
        };
        let mut rows: BTreeMap<u32, Vec<(u16, f32)>> = BTreeMap::new();
        for (&point, row) in part.active.iter().zip(&mesh.rows) {
            if *row != part.omega[point as usize] {
                rows.insert(point, stored_row(row));
            }
        }
        let reweighted = !rows.is_empty();
        let influences = with_rows(&item.influences, &rows);
        let turns = normals::turns(job, group, solved, i)?;
        let morphs = morphs::Morphs::of(part, mesh, &turns, solved.unit_scale, job);
        if reweighted || !morphs.targets.is_empty() {
            for (instance, &d) in part.drawn.iter().enumerate() {
                morphs.add_channels(job, d, instance, &solved.keys, &mut tracks);
            }
            morphs.widen_others(job, part, &mut tracks);
            let baked_mesh = BakedMesh {
                influences,
                reweighted,
                targets: morphs.targets,
            };
            baked.meshes.insert(part.mesh, baked_mesh);
        }
    }
    for (id, tracks) in job.clips.ids.iter().zip(tracks) {
        if let Some(clip) = baked.clips.get_mut(id).filter(|_| !tracks.is_empty()) {
            let clip = Arc::make_mut(clip);
            for channel in tracks {
                let same = |c: &Channel| c.joint == channel.joint && c.property == channel.property;
                match clip.channels.iter().rposition(same) {
                    Some(at) => clip.channels[at] = channel,
                    None => clip.channels.push(channel),
                }
            }
        }
    }
    Ok(())
}

fn joint_of(helper: &Helper, id: JointId, number: usize) -> HelperJoint {
    HelperJoint {
        id,
        name: format!("Helper {}", number + 1),
        parent: helper.parent,
        rest: Transform {
            translation: helper.rest.translation,
            rotation: normalize_or_identity(helper.rest.rotation),
            stretch: DMat3::from_diagonal(helper.rest.scale),
        },
        inverse_bind: helper.inverse_bind,
        driver: Vec::new(),
    }
}

/// The channels that a helper has in a clip.
fn channels_of(helper: &Helper, joint: JointId, clip: usize) -> Vec<Channel> {
    let Some(track) = helper.tracks.get(clip) else {
        return Vec::new();
    };
    let times: Arc<[f32]> = track.times.as_slice().into();
    let channel = |property: Property, values: Vec<f32>| {
        (!values.is_empty()).then(|| Channel {
            joint,
            property,
            interpolation: Interpolation::Linear,
            times: times.clone(),
            values: values.into(),
        })
    };
    let turns = track.rotation.iter().flat_map(|q| q.as_quat().to_array());
    let places = track
        .translation
        .iter()
        .flat_map(|t| t.as_vec3().to_array());
    let scales = track.scale.iter().flat_map(|s| s.as_vec3().to_array());
    [
        channel(Property::Rotation, turns.collect()),
        channel(Property::Translation, places.collect()),
        channel(Property::Scale, scales.collect()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Weights as f32, summing to 1 as exactly as that allows.
fn stored_row(row: &[(u16, f64)]) -> Vec<(u16, f32)> {
    let mut stored: Vec<(u16, f32)> = row.iter().map(|&(j, w)| (j, w as f32)).collect();
    let rest = 1.0 - stored.iter().map(|r| f64::from(r.1)).sum::<f64>();
    if let Some(largest) = stored.iter_mut().max_by(|a, b| a.1.total_cmp(&b.1)) {
        largest.1 = (f64::from(largest.1) + rest) as f32;
    }
    stored
}

/// The influences with other rows at some points.
fn with_rows(influences: &Influences, rows: &BTreeMap<u32, Vec<(u16, f32)>>) -> Influences {
    if rows.is_empty() {
        return influences.clone();
    }
    let mut all = Rows::with_capacity(influences.len());
    for (point, row) in influences.iter().enumerate() {
        match rows.get(&(point as u32)) {
            Some(row) => all.push_pairs(row.iter().copied()),
            None => all.push(row),
        }
    }
    Influences::from_rows((0..all.len()).map(|i| -> RowRef<'_> { all.row(i) }))
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

    #[test]
    fn stored_weights_sum_to_1() {
        let row = stored_row(&[(0, 1.0 / 3.0), (4, 1.0 / 3.0), (2, 1.0 / 3.0)]);
        let sum: f64 = row.iter().map(|r| f64::from(r.1)).sum();
        assert!((sum - 1.0).abs() < 1e-7);
    }
}
