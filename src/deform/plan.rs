//! The cooked state of one instance, and its run.

use super::corrections::{ChunkState, Corrections};
use super::{CookedMesh, DeformStack, MaskKind, Masks, ScaleMode, SkinningMethod, Smoother};
use crate::mesh::{Mesh, normals};
use crate::skeleton::{JointId, Skeleton};
use crate::skinning::influences::CHUNK;
use crate::skinning::{
    self, BonePose, Centres, CookedChunk, CorrectionPose, Influences, JointPairs, LeafPoints,
    SkinBind, SkinBones, SkinInput, SkinPalette, Stretch,
};
use glam::{DAffine3, Vec3};
use rayon::prelude::*;
use std::sync::Arc;

/// Below this many points handing work to other threads costs more than it saves.
const SERIAL_POINTS: usize = 4096;

/// Painted values of one chunk of points.
type MaskChunk = Arc<[f32; CHUNK]>;

/// A skin as the plan needs it.
#[derive(Clone, Copy)]
pub struct SkinSource<'a> {
    /// The skeleton's joint for each joint index of the influences.
    pub joints: &'a [JointId],
    /// One for each joint.
    pub inverse_bind: &'a [DAffine3],
    /// All meshes that the skin moves, with their influences as imported: how far the bones of leaves reach. Clothes
    /// and body agree on it, and painting does not change it.
    pub meshes: &'a [(&'a Arc<Mesh>, &'a Influences)],
}

/// Everything that deforms one instance of a mesh in one pose.
#[derive(Clone, Copy)]
pub struct DeformInput<'a> {
    /// The bind shape.
    pub geometry: &'a Arc<Mesh>,
    /// Its influences in the kernels' order.
    pub cooked: &'a CookedMesh,
    /// How it deforms.
    pub stack: &'a DeformStack,
    /// How much of each part of the stack its points take.
    pub masks: &'a Masks,
    /// Its centres of rotation, found for these or for earlier influences; without them
    /// [`SkinningMethod::CentresOfRotation`] moves points as dual quaternion skinning does.
    pub centres: Option<&'a Arc<Centres>>,
    /// The node tree.
    pub skeleton: &'a Arc<Skeleton>,
    /// The node that draws the mesh.
    pub node: JointId,
    /// What moves the points; `None`: the node.
    pub skin: Option<SkinSource<'a>>,
    /// n_joints of the skeleton: world transforms of the file's rest pose; known by identity.
    pub rest_world: &'a Arc<Vec<DAffine3>>,
    /// n_joints of the skeleton: world transforms of the pose.
    pub world: &'a [DAffine3],
    /// One a morph target; missing ones count as 0.
    pub morph_weights: &'a [f32],
}

/// What a run changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moved {
    /// Nothing.
    Nothing,
    /// Every point and normal may have.
    All,
    /// Just these points and normals, ascending.
    Some {
        /// Points whose position changed.
        points: Vec<u32>,
        /// Entries of [`Mesh::normals`] whose direction changed.
        normals: Vec<u32>,
    },
}

/// The cooked state of one instance and its latest result.
#[derive(Default)]
pub struct InstancePlan {
    /// What the latest result was made from, and the buffers of the one before.
    key: Option<Key>,
    spare: Option<Key>,
    bind: Option<SkinBind>,
    bones: Option<Arc<SkinBones>>,
    bone_pose: BonePose,
    /// A bone is elsewhere in the inflated bind shape than in the latest run.
    bones_moved: bool,
    palette: SkinPalette,
    chunks: Vec<Arc<CookedChunk>>,
    blend_masks: Vec<Option<MaskChunk>>,
    corrections: Corrections,
    centres: Option<Arc<Centres>>,
    smoother: Smoother,
    smooth_masks: Vec<Option<MaskChunk>>,
    /// The shape whose detail the smoother keeps was inflated.
    rest_inflates: bool,
    /// The bind shape with morph targets; empty while every weight is 0.
    morphed: Vec<Vec3>,
    /// The result of stage 5, where stage 6 follows; empty otherwise.
    skinned: Vec<Vec3>,
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    /// Nobody asks for normals.
    shapes_only: bool,
}

/// What the whole result depends on; chunks of influences and painted maps are compared one by one.
///
/// It holds what it compares by identity, so that no address is ever used again for something else.
#[derive(Default)]
struct Key {
    geometry: Arc<Mesh>,
    stack: Option<DeformStack>,
    bind: BindKey,
    morph_weights: Vec<f32>,
    /// Skin matrices, or the node's world transform.
    matrices: Vec<DAffine3>,
    /// Positions of the joints in the inflated bind shape: with the matrices they fix both phases.
    inflated: Vec<glam::DVec3>,
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.geometry, &other.geometry)
            && self.stack == other.stack
            && self.bind == other.bind
            && self.morph_weights == other.morph_weights
            && self.matrices == other.matrices
            && self.inflated == other.inflated
    }
}

/// What the bind data depends on.
#[derive(Default)]
struct BindKey {
    skeleton: Arc<Skeleton>,
    joints: Vec<JointId>,
    inverse_bind: Vec<DAffine3>,
    bound: Vec<bool>,
    meshes: Vec<Arc<Mesh>>,
}

impl PartialEq for BindKey {
    fn eq(&self, other: &Self) -> bool {
        (Arc::ptr_eq(&self.skeleton, &other.skeleton) || self.skeleton.moves_like(&other.skeleton))
            && self.joints == other.joints
            && self.inverse_bind == other.inverse_bind
            && self.bound == other.bound
            && self.meshes.len() == other.meshes.len()
            && self
                .meshes
                .iter()
                .zip(&other.meshes)
                .all(|(a, b)| Arc::ptr_eq(a, b))
    }
}

impl InstancePlan {
    /// A plan that leaves normals out, which cost about as much as the rest.
    pub fn without_normals() -> Self {
        Self {
            shapes_only: true,
            ..Self::default()
        }
    }

    /// n_points deformed positions, world space.
    pub fn positions(&self) -> &[Vec3] {
        &self.positions
    }

    /// n_normals deformed normals, world space, unit; not of this pose where the plan was made without.
    pub fn normals(&self) -> &[Vec3] {
        &self.normals
    }

    /// The skin matrices of the latest run; empty for a rigid instance.
    pub fn palette(&self) -> &SkinPalette {
        &self.palette
    }

    /// The bones of the skin, and where they are in the latest run; `None` for a rigid instance.
    pub fn bones(&self) -> Option<(&SkinBones, &BonePose)> {
        Some((self.bones.as_deref()?, &self.bone_pose))
    }

    /// The influences of the latest run in the kernels' order; none for a rigid instance.
    pub fn chunks(&self) -> &[Arc<CookedChunk>] {
        &self.chunks
    }

    /// n_points: the morphed, inflated bind shape of the latest run, what radii and rest distances are measured in
    /// ([`SkinPalette::unit_scale`] times mesh space); of a rigid instance the morphed bind shape. Allocates.
    pub fn inflated_bind(&self) -> Vec<Vec3> {
        let mut out = Vec::new();
        self.inflated_bind_into(&mut out);
        out
    }

    /// [`InstancePlan::inflated_bind`] in a buffer that is used again and again.
    pub fn inflated_bind_into(&self, out: &mut Vec<Vec3>) {
        out.clear();
        let Some(key) = &self.key else {
            return;
        };
        let bind = bind_shape(&key.geometry.positions, &self.morphed);
        out.extend_from_slice(bind);
        inflate(bind, &self.chunks, &self.palette, out);
    }

    /// Deforms what changed since the latest run.
    pub fn run(&mut self, input: &DeformInput<'_>) -> Moved {
        let key = self.prepare(input);
        let n_points = input.geometry.n_points();
        let mut fresh = self.key.as_ref() != Some(&key) || self.positions.len() != n_points;
        let stale_bind = self.key.as_ref().is_none_or(|k| {
            !Arc::ptr_eq(&k.geometry, &key.geometry) || k.morph_weights != key.morph_weights
        });
        if stale_bind {
            self.morph(input);
        }
        // A joint that moves no point, and so is not in the key, may stretch a bone.
        let bones_moved = std::mem::take(&mut self.bones_moved);
        if stale_bind || bones_moved {
            self.corrections.forget_distances();
        }
        fresh |= self.take_centres(input);
        let stale_rest = stale_bind
            || self.key.as_ref().is_none_or(|k| {
                k.bind != key.bind || !same_passes(k.stack.as_ref(), key.stack.as_ref())
            });
        fresh |= bones_moved && input.stack.corrects_bulges();
        self.spare = self.key.replace(key);
        if let Some(bones) = self.bones.as_ref().filter(|_| input.skin.is_some()) {
            fresh |= self.corrections.update(
                input.stack,
                input.cooked,
                input.masks,
                input.geometry,
                bones,
                &self.palette,
            );
        }
        let smooths = smooths(input);
        // What the bind shape inflates to follows the influences: then no ring around an edit bounds what it changes.
        fresh |= smooths && self.palette.inflates() && !self.has_chunks_of(input.cooked);
        if fresh {
            self.chunks.clear();
            self.blend_masks.clear();
            self.smooth_masks.clear();
            if input.skin.is_some() {
                self.chunks.extend_from_slice(input.cooked.chunks());
                let masks = (0..self.chunks.len()).map(|c| blend_mask(input, c).cloned());
                self.blend_masks.extend(masks);
            }
            self.positions.resize(n_points, Vec3::ZERO);
            self.normals
                .resize(input.geometry.normals.len(), Vec3::ZERO);
            let mut positions = std::mem::take(&mut self.positions);
            if smooths {
                let mut skinned = std::mem::take(&mut self.skinned);
                skinned.resize(n_points, Vec3::ZERO);
                self.skin_all(input, &mut skinned);
                self.smooth_all(input, stale_rest, &skinned, &mut positions);
                self.skinned = skinned;
            } else {
                self.smoother = Smoother::default();
                self.skinned = Vec::new();
                self.skin_all(input, &mut positions);
            }
            self.positions = positions;
            self.carry_normals(input);
            return Moved::All;
        }
        self.run_changed_chunks(input)
    }

    /// Stage 10 for every normal.
    fn carry_normals(&mut self, input: &DeformInput<'_>) {
        if self.shapes_only {
            return;
        }
        // Authored normals belong to the bind shape without morphs, so that is what they are carried from.
        normals::transport_all(
            input.geometry,
            &input.geometry.positions,
            &self.positions,
            &mut self.normals,
        );
    }

    /// Whether the latest run had the same influences.
    fn has_chunks_of(&self, cooked: &CookedMesh) -> bool {
        self.chunks.len() == cooked.chunks().len()
            && self
                .chunks
                .iter()
                .zip(cooked.chunks())
                .all(|(a, b)| Arc::ptr_eq(a, b))
    }

    /// Takes over the centres of rotation that the stack asks for; whether they are other ones than before.
    fn take_centres(&mut self, input: &DeformInput<'_>) -> bool {
        let asked = input.stack.method == SkinningMethod::CentresOfRotation;
        let centres = input
            .centres
            .filter(|c| asked && input.skin.is_some() && c.fit(input.geometry));
        let same = match (&self.centres, centres) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        };
        if !same {
            self.centres = centres.cloned();
        }
        !same
    }

    /// Stage 6 for every point, from `skinned` to `out`.
    fn smooth_all(
        &mut self,
        input: &DeformInput<'_>,
        stale_rest: bool,
        skinned: &[Vec3],
        out: &mut [Vec3],
    ) {
        let (settings, mesh) = (&input.stack.smooth, input.geometry);
        let inflates = self.palette.inflates();
        if stale_rest || inflates || self.rest_inflates || !self.smoother.is_ready(skinned.len()) {
            let bind = bind_shape(&mesh.positions, &self.morphed);
            inflate(bind, &self.chunks, &self.palette, out);
            self.smoother.set_rest(mesh, settings, out);
            self.rest_inflates = inflates;
        }
        self.smoother.run(mesh, settings, input.masks, skinned, out);
        let masks = (0..self.chunks.len()).map(|c| smooth_mask(input, c).cloned());
        self.smooth_masks.clear();
        self.smooth_masks.extend(masks);
    }

    /// Stage 6 where `changed` points were skinned anew or the painted map is another; the points that moved, `None`
    /// where all may have.
    fn smooth_around(&mut self, input: &DeformInput<'_>, changed: &[u32]) -> Option<Vec<u32>> {
        let mut repainted = Vec::new();
        for (c, old) in self.smooth_masks.iter_mut().enumerate() {
            let new = smooth_mask(input, c);
            if same_mask(Some(old), new) {
                continue;
            }
            let value = |mask: Option<&MaskChunk>, i: usize| {
                mask.map_or(MaskKind::UNPAINTED, |m| m[i]).to_bits()
            };
            let n = CHUNK.min(self.skinned.len() - c * CHUNK);
            let other = (0..n).filter(|&i| value(old.as_ref(), i) != value(new, i));
            repainted.extend(other.map(|i| (c * CHUNK + i) as u32));
            *old = new.cloned();
        }
        if changed.is_empty() && repainted.is_empty() {
            return Some(Vec::new());
        }
        let moved = self.smoother.run_around(
            input.geometry,
            &input.stack.smooth,
            input.masks,
            changed,
            &repainted,
            &self.skinned,
            &mut self.positions,
        );
        moved.map(<[u32]>::to_vec)
    }

    /// Re-skins the chunks that were cooked anew and carries the normals around what moved.
    fn run_changed_chunks(&mut self, input: &DeformInput<'_>) -> Moved {
        if input.skin.is_none() {
            return Moved::Nothing;
        }
        let smooths = smooths(input);
        let mut points = Vec::new();
        let mut before = [Vec3::ZERO; CHUNK];
        let mut result = std::mem::take(if smooths {
            &mut self.skinned
        } else {
            &mut self.positions
        });
        let bind = bind_shape(&input.geometry.positions, &self.morphed);
        let (states, pairs) = self.corrections.chunks_mut();
        let run = ChunkRun {
            stack: input.stack,
            palette: &self.palette,
            bones: self.bones.as_deref(),
            bone_pose: &self.bone_pose,
            pairs,
            centres: self.centres.as_deref(),
        };
        for (c, chunk) in input.cooked.chunks().iter().enumerate() {
            let blend = blend_mask(input, c);
            let same_mask = same_mask(self.blend_masks.get(c), blend);
            let known = self
                .chunks
                .get(c)
                .is_some_and(|old| Arc::ptr_eq(old, chunk));
            if known && same_mask && !states[c].stale {
                continue;
            }
            let range = c * CHUNK..(c * CHUNK + chunk.n_points()).min(result.len());
            let before = &mut before[..range.len()];
            before.copy_from_slice(&result[range.clone()]);
            let out = &mut result[range.clone()];
            run.skin(
                c,
                chunk,
                &bind[range.clone()],
                blend.map(|m| &m[..]),
                &mut states[c],
                out,
            );
            let moved = before
                .iter()
                .zip(&*out)
                .enumerate()
                .filter(|(_, (a, b))| !same_bits(**a, **b));
            points.extend(moved.map(|(i, _)| (range.start + i) as u32));
            if let Some(slot) = self.chunks.get_mut(c) {
                *slot = chunk.clone();
            }
            if let Some(slot) = self.blend_masks.get_mut(c) {
                *slot = blend.cloned();
            }
        }
        if smooths {
            self.skinned = result;
            match self.smooth_around(input, &points) {
                Some(smoothed) => points = smoothed,
                None => {
                    self.carry_normals(input);
                    return Moved::All;
                }
            }
        } else {
            self.positions = result;
        }
        if points.is_empty() {
            return Moved::Nothing;
        }
        if self.shapes_only {
            return Moved::Some {
                points,
                normals: Vec::new(),
            };
        }
        let topology = input.geometry.topology();
        let mut around: Vec<u32> = points
            .iter()
            .flat_map(|&p| topology.neighbours(p).iter().copied().chain([p]))
            .flat_map(|p| topology.normals_of_point(p))
            .collect();
        around.sort_unstable();
        around.dedup();
        around.retain(|&n| {
            let range = n as usize..n as usize + 1;
            let old = self.normals[n as usize];
            let out = &mut self.normals[range.clone()];
            normals::transport(
                input.geometry,
                &input.geometry.positions,
                &self.positions,
                range,
                out,
            );
            !same_bits(out[0], old)
        });
        Moved::Some {
            points,
            normals: around,
        }
    }

    /// Brings bind data, palette and bones up to date; what the result depends on. Steady poses allocate nothing.
    fn prepare(&mut self, input: &DeformInput<'_>) -> Key {
        let mut key = self.spare.take().unwrap_or_default();
        key.geometry = input.geometry.clone();
        key.stack = Some(input.stack.clone());
        key.morph_weights.clear();
        key.morph_weights.extend_from_slice(input.morph_weights);
        key.matrices.clear();
        key.inflated.clear();
        let bind_key = &mut key.bind;
        bind_key.skeleton = input.skeleton.clone();
        bind_key.joints.clear();
        bind_key.inverse_bind.clear();
        bind_key.meshes.clear();
        let Some(skin) = input.skin else {
            bind_key.bound.clear();
            self.bones = None;
            let world = input.world.get(input.node.get());
            key.matrices.push(world.copied().unwrap_or_default());
            return key;
        };
        bind_key.joints.extend_from_slice(skin.joints);
        bind_key.inverse_bind.extend_from_slice(skin.inverse_bind);
        bind_key
            .meshes
            .extend(skin.meshes.iter().map(|(mesh, _)| (*mesh).clone()));
        input
            .cooked
            .bound_into(skin.joints.len(), &mut bind_key.bound);
        let known = self.key.as_ref().is_some_and(|k| k.bind == *bind_key);
        let bind = match self.bind.take().filter(|_| known) {
            Some(bind) => bind,
            None => {
                let bind = SkinBind::new(
                    input.skeleton,
                    skin.joints,
                    skin.inverse_bind,
                    &bind_key.bound,
                    input.rest_world,
                );
                self.bones = Some(Arc::new(bones_of(&bind, input.skeleton, skin.meshes)));
                bind
            }
        };
        let stretch = match input.stack.scale {
            ScaleMode::Drop if input.stack.method.is_rigid() => Stretch::Drop,
            _ => Stretch::Inflate,
        };
        bind.pose(input.world, stretch, &mut self.palette);
        if let Some(bones) = &self.bones
            && self.bone_pose.update(bones, &self.palette)
        {
            self.bones_moved = true;
        }
        self.bind = Some(bind);
        let motions = self.palette.motions().iter();
        key.inflated.extend(motions.map(|m| m.inflated_origin));
        key.matrices.extend_from_slice(self.palette.skin_matrices());
        key
    }

    /// Stage 1: the bind shape with the source's morph targets.
    fn morph(&mut self, input: &DeformInput<'_>) {
        let targets = || {
            let morphs = input.geometry.morphs.iter().zip(input.morph_weights);
            morphs
                .filter(|(_, w)| **w != 0.0)
                .map(|(morph, &w)| (w, morph.deltas.as_slice()))
        };
        self.morphed.clear();
        if targets().next().is_none() {
            return;
        }
        self.morphed.extend_from_slice(&input.geometry.positions);
        for_chunks(&mut self.morphed, |first, chunk| {
            for (weight, deltas) in targets() {
                for (p, d) in chunk.iter_mut().zip(&deltas[first..]) {
                    *p += *d * weight;
                }
            }
        });
    }

    /// Stages 2 to 5 for every point.
    fn skin_all(&mut self, input: &DeformInput<'_>, positions: &mut [Vec3]) {
        let bind = bind_shape(&input.geometry.positions, &self.morphed);
        if input.skin.is_none() {
            let world = input
                .world
                .get(input.node.get())
                .copied()
                .unwrap_or_default();
            for_chunks(positions, |first, out| {
                for (o, p) in out.iter_mut().zip(&bind[first..]) {
                    *o = world.transform_point3(p.as_dvec3()).as_vec3();
                }
            });
            return;
        }
        if self.chunks.len() * CHUNK < positions.len() {
            // The document's invariants rule points without rows out.
            positions.copy_from_slice(bind);
        }
        let (states, pairs) = self.corrections.chunks_mut();
        let run = ChunkRun {
            stack: input.stack,
            palette: &self.palette,
            bones: self.bones.as_deref(),
            bone_pose: &self.bone_pose,
            pairs,
            centres: self.centres.as_deref(),
        };
        let (chunks, blend_masks) = (&self.chunks, &self.blend_masks);
        let work = |c: usize, out: &mut [Vec3], state: &mut ChunkState| {
            let bind = &bind[c * CHUNK..c * CHUNK + out.len()];
            let mask = blend_masks[c].as_ref().map(|m| &m[..]);
            run.skin(c, &chunks[c], bind, mask, state, out);
        };
        if positions.len() < SERIAL_POINTS {
            for (c, (out, state)) in positions.chunks_mut(CHUNK).zip(states).enumerate() {
                work(c, out, state);
            }
        } else {
            // Two chunks at a time amortise the scheduling.
            positions
                .par_chunks_mut(CHUNK)
                .zip(states)
                .with_min_len(2)
                .enumerate()
                .for_each(|(c, (out, state))| work(c, out, state));
        }
    }
}

/// The painted share of dual quaternion skinning, where the stack reads it.
fn blend_mask<'a>(input: &DeformInput<'a>, chunk: usize) -> Option<&'a MaskChunk> {
    let reads = input.stack.reads_mask(MaskKind::Blend);
    let masks = input.masks;
    reads.then(|| masks.chunk(MaskKind::Blend, chunk)).flatten()
}

/// The painted strength of the corrective smooth.
fn smooth_mask<'a>(input: &DeformInput<'a>, chunk: usize) -> Option<&'a MaskChunk> {
    let masks = input.masks;
    masks.chunk(MaskKind::Smooth, chunk)
}

/// Whether painted values are the ones known, by identity.
fn same_mask(known: Option<&Option<MaskChunk>>, now: Option<&MaskChunk>) -> bool {
    match (known, now) {
        (Some(Some(a)), Some(b)) => Arc::ptr_eq(a, b),
        (Some(None) | None, None) => true,
        _ => false,
    }
}

/// Whether stage 6 moves points: what follows a node moves as one piece.
fn smooths(input: &DeformInput<'_>) -> bool {
    input.skin.is_some() && input.stack.smooth.acts()
}

/// Whether two stacks smooth the bind shape alike.
fn same_passes(a: Option<&DeformStack>, b: Option<&DeformStack>) -> bool {
    let passes = |stack: Option<&DeformStack>| {
        stack.map(|s| (s.smooth.factor.to_bits(), s.smooth.iterations))
    };
    passes(a) == passes(b)
}

/// The inflated bind shape of all points: what radii, rest distances and detail are measured in.
fn inflate(bind: &[Vec3], chunks: &[Arc<CookedChunk>], palette: &SkinPalette, out: &mut [Vec3]) {
    for_chunks(out, |first, out| {
        let bind = &bind[first..first + out.len()];
        match chunks
            .get(first / CHUNK)
            .map(|c| SkinInput::new(bind, c, palette))
        {
            Some(Ok(input)) => skinning::inflate(&input, out),
            _ => out.copy_from_slice(bind),
        }
    });
}

/// The bones of a skin, those of leaves as far as its meshes reach.
fn bones_of(
    bind: &SkinBind,
    skeleton: &Skeleton,
    meshes: &[(&Arc<Mesh>, &Influences)],
) -> SkinBones {
    let leaves = SkinBones::leaves(bind);
    let mut points = LeafPoints::new(&leaves);
    for (mesh, influences) in meshes {
        points.add(&leaves, &mesh.positions, influences.iter());
    }
    SkinBones::new(bind, skeleton, &points)
}

/// Calls `work(first, chunk)` for chunks of [`CHUNK`] items, on several threads when there are many.
fn for_chunks(items: &mut [Vec3], work: impl Fn(usize, &mut [Vec3]) + Sync) {
    if items.len() < SERIAL_POINTS {
        items
            .chunks_mut(CHUNK)
            .enumerate()
            .for_each(|(c, chunk)| work(c * CHUNK, chunk));
    } else {
        // Two chunks at a time amortise the scheduling.
        items
            .par_chunks_mut(CHUNK)
            .with_min_len(2)
            .enumerate()
            .for_each(|(c, chunk)| work(c * CHUNK, chunk));
    }
}

/// Whether two values are the same, zeros of either sign apart: what is shown has the bits of a full run.
fn same_bits(a: Vec3, b: Vec3) -> bool {
    a.to_array().map(f32::to_bits) == b.to_array().map(f32::to_bits)
}

fn bind_shape<'a>(positions: &'a [Vec3], morphed: &'a [Vec3]) -> &'a [Vec3] {
    if morphed.is_empty() {
        positions
    } else {
        morphed
    }
}

/// Stages 2 to 5 of a chunk in one pose.
struct ChunkRun<'a> {
    stack: &'a DeformStack,
    palette: &'a SkinPalette,
    bones: Option<&'a SkinBones>,
    bone_pose: &'a BonePose,
    pairs: &'a JointPairs,
    centres: Option<&'a Centres>,
}

impl ChunkRun<'_> {
    /// Moves the bind points of a chunk to their place in the pose. Allocates nothing.
    ///
    /// `index`: the chunk's place; `bind`, `out`: n_points; `blend`: at least as many shares of dual quaternion skinning, `None`: 1.
    fn skin(
        &self,
        index: usize,
        chunk: &CookedChunk,
        bind: &[Vec3],
        blend: Option<&[f32]>,
        state: &mut ChunkState,
        out: &mut [Vec3],
    ) {
        state.stale = false;
        let Ok(input) = SkinInput::new(bind, chunk, self.palette) else {
            // The document's invariants rule this out; the bind shape is the picture that loses least.
            out.copy_from_slice(bind);
            return;
        };
        let corrects = !state.is_empty();
        let inflates = input.needs_inflation();
        let mut inflated = [Vec3::ZERO; CHUNK];
        let inflated = &mut inflated[..out.len()];
        // Distances of a shape that inflates are those of this pose only.
        if inflates && (corrects || self.stack.method.is_rigid()) || corrects && !state.measured {
            skinning::inflate(&input, inflated);
            if corrects && let Some(bones) = self.bones {
                state.measure(inflated, bones, self.bone_pose);
                state.measured = !inflates;
            }
        }
        let phase_2 = if inflates {
            input.with_inflated(inflated).unwrap_or(input)
        } else {
            input
        };
        match self.stack.method {
            SkinningMethod::Lbs => skinning::lbs(&input, out),
            SkinningMethod::Dqs => skinning::dqs(&phase_2, out),
            SkinningMethod::CentresOfRotation => {
                let centres = self.centres.and_then(|c| c.chunk(index));
                match centres.filter(|c| c.len() == out.len()) {
                    Some(centres) => skinning::centres_of_rotation(&phase_2, centres, out),
                    None => skinning::dqs(&phase_2, out),
                }
            }
            SkinningMethod::Blend => {
                let mut linear = [Vec3::ZERO; CHUNK];
                let linear = &mut linear[..out.len()];
                skinning::lbs(&input, linear);
                skinning::dqs(&phase_2, out);
                for (i, (out, linear)) in out.iter_mut().zip(linear).enumerate() {
                    let share = self.stack.blend * blend.map_or(1.0, |m| m[i]);
                    *out = linear.lerp(*out, share);
                }
            }
        }
        if corrects {
            let pose = CorrectionPose {
                pairs: self.pairs,
                bones: self.bone_pose,
                projection: Corrections::projection(self.stack),
            };
            state.correct(&pose, out);
        }
    }
}
