//! The cooked state of one instance, and its run.

use super::{CookedMesh, DeformStack, ScaleMode, SkinningMethod};
use crate::mesh::{Mesh, normals};
use crate::skeleton::{JointIndex, Skeleton};
use crate::skinning::influences::CHUNK;
use crate::skinning::{self, CookedChunk, SkinBind, SkinInput, SkinPalette, Stretch};
use glam::{DAffine3, Vec3};
use rayon::prelude::*;
use std::sync::Arc;

/// Below this many points handing work to other threads costs more than it saves.
const SERIAL_POINTS: usize = 4096;

/// A skin as the plan needs it.
#[derive(Clone, Copy)]
pub struct SkinSource<'a> {
    /// The skeleton's joint for each joint index of the influences.
    pub joints: &'a [JointIndex],
    /// One for each joint.
    pub inverse_bind: &'a [DAffine3],
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
    /// The node tree.
    pub skeleton: &'a Arc<Skeleton>,
    /// The node that draws the mesh.
    pub node: JointIndex,
    /// What moves the points; `None`: the node.
    pub skin: Option<SkinSource<'a>>,
    /// n_joints of the skeleton: world transforms of the file's rest pose.
    pub rest_world: &'a [DAffine3],
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
    key: Option<Key>,
    bind: Option<SkinBind>,
    palette: SkinPalette,
    chunks: Vec<Arc<CookedChunk>>,
    /// The bind shape with morph targets; empty while every weight is 0.
    morphed: Vec<Vec3>,
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
}

/// What the whole result depends on; the chunks are compared one by one.
///
/// It holds what it compares by identity, so that no address is ever used again for something else.
struct Key {
    geometry: Arc<Mesh>,
    stack: DeformStack,
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
struct BindKey {
    skeleton: Arc<Skeleton>,
    joints: Vec<JointIndex>,
    inverse_bind: Vec<DAffine3>,
    bound: Vec<bool>,
}

impl PartialEq for BindKey {
    fn eq(&self, other: &Self) -> bool {
        (Arc::ptr_eq(&self.skeleton, &other.skeleton) || self.skeleton.moves_like(&other.skeleton))
            && self.joints == other.joints
            && self.inverse_bind == other.inverse_bind
            && self.bound == other.bound
    }
}

impl InstancePlan {
    /// n_points deformed positions, world space.
    pub fn positions(&self) -> &[Vec3] {
        &self.positions
    }

    /// n_normals deformed normals, world space, unit.
    pub fn normals(&self) -> &[Vec3] {
        &self.normals
    }

    /// The skin matrices of the latest run; empty for a rigid instance.
    pub fn palette(&self) -> &SkinPalette {
        &self.palette
    }

    /// Deforms what changed since the latest run.
    pub fn run(&mut self, input: &DeformInput<'_>) -> Moved {
        let key = self.prepare(input);
        let n_points = input.geometry.n_points();
        let fresh = self.key.as_ref() != Some(&key) || self.positions.len() != n_points;
        let stale_bind = self.key.as_ref().is_none_or(|k| {
            !Arc::ptr_eq(&k.geometry, &key.geometry) || k.morph_weights != key.morph_weights
        });
        if stale_bind {
            self.morph(input);
        }
        self.key = Some(key);
        if fresh {
            self.chunks = if input.skin.is_some() {
                input.cooked.chunks().to_vec()
            } else {
                Vec::new()
            };
            self.positions.resize(n_points, Vec3::ZERO);
            self.normals
                .resize(input.geometry.normals.len(), Vec3::ZERO);
            self.skin_all(input);
            // Authored normals belong to the bind shape without morphs, so that is what they are carried from.
            normals::transport_all(
                input.geometry,
                &input.geometry.positions,
                &self.positions,
                &mut self.normals,
            );
            return Moved::All;
        }
        self.run_changed_chunks(input)
    }

    /// Re-skins the chunks that were cooked anew and carries the normals around what moved.
    fn run_changed_chunks(&mut self, input: &DeformInput<'_>) -> Moved {
        if input.skin.is_none() {
            return Moved::Nothing;
        }
        let mut points = Vec::new();
        let mut before = [Vec3::ZERO; CHUNK];
        for (c, chunk) in input.cooked.chunks().iter().enumerate() {
            if self
                .chunks
                .get(c)
                .is_some_and(|old| Arc::ptr_eq(old, chunk))
            {
                continue;
            }
            let range = c * CHUNK..(c * CHUNK + chunk.n_points()).min(self.positions.len());
            let before = &mut before[..range.len()];
            before.copy_from_slice(&self.positions[range.clone()]);
            let bind = bind_shape(&input.geometry.positions, &self.morphed);
            skin_chunk(
                input.stack,
                chunk,
                &self.palette,
                &bind[range.clone()],
                &mut self.positions[range.clone()],
            );
            let after = &self.positions[range.clone()];
            let moved = before
                .iter()
                .zip(after)
                .enumerate()
                .filter(|(_, (a, b))| !same_bits(**a, **b));
            points.extend(moved.map(|(i, _)| (range.start + i) as u32));
            if let Some(slot) = self.chunks.get_mut(c) {
                *slot = chunk.clone();
            }
        }
        if points.is_empty() {
            return Moved::Nothing;
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

    /// Brings bind data and palette up to date; what the result depends on.
    fn prepare(&mut self, input: &DeformInput<'_>) -> Key {
        let geometry = input.geometry.clone();
        let stretch = match input.stack.scale {
            ScaleMode::TwoPhase => Stretch::Inflate,
            ScaleMode::Drop => Stretch::Drop,
        };
        let (bind_key, matrices, inflated) = match input.skin {
            Some(skin) => {
                let bind_key = BindKey {
                    skeleton: input.skeleton.clone(),
                    joints: skin.joints.to_vec(),
                    inverse_bind: skin.inverse_bind.to_vec(),
                    bound: input.cooked.bound(skin.joints.len()),
                };
                let known = self.key.as_ref().is_some_and(|k| k.bind == bind_key);
                let bind = match self.bind.take().filter(|_| known) {
                    Some(bind) => bind,
                    None => SkinBind::new(
                        input.skeleton,
                        skin.joints,
                        skin.inverse_bind,
                        &bind_key.bound,
                        input.rest_world,
                    ),
                };
                bind.pose(input.world, stretch, &mut self.palette);
                self.bind = Some(bind);
                let inflated = self
                    .palette
                    .motions()
                    .iter()
                    .map(|m| m.inflated_origin)
                    .collect();
                (bind_key, self.palette.skin_matrices().to_vec(), inflated)
            }
            None => {
                let world = input
                    .world
                    .get(input.node.get())
                    .copied()
                    .unwrap_or_default();
                let bind_key = BindKey {
                    skeleton: input.skeleton.clone(),
                    joints: Vec::new(),
                    inverse_bind: Vec::new(),
                    bound: Vec::new(),
                };
                (bind_key, vec![world], Vec::new())
            }
        };
        Key {
            geometry,
            stack: input.stack.clone(),
            bind: bind_key,
            morph_weights: input.morph_weights.to_vec(),
            matrices,
            inflated,
        }
    }

    /// Stage 1: the bind shape with the source's morph targets.
    fn morph(&mut self, input: &DeformInput<'_>) {
        let active: Vec<(f32, &[Vec3])> = input
            .geometry
            .morphs
            .iter()
            .zip(input.morph_weights)
            .filter(|(_, w)| **w != 0.0)
            .map(|(morph, &w)| (w, morph.deltas.as_slice()))
            .collect();
        self.morphed.clear();
        if active.is_empty() {
            return;
        }
        self.morphed.extend_from_slice(&input.geometry.positions);
        for_chunks(&mut self.morphed, |first, chunk| {
            for &(weight, deltas) in &active {
                for (p, d) in chunk.iter_mut().zip(&deltas[first..]) {
                    *p += *d * weight;
                }
            }
        });
    }

    /// Stages 2 and 3 for every point.
    fn skin_all(&mut self, input: &DeformInput<'_>) {
        let bind = bind_shape(&input.geometry.positions, &self.morphed);
        let (stack, palette, chunks) = (input.stack, &self.palette, &self.chunks);
        if input.skin.is_none() {
            let world = input
                .world
                .get(input.node.get())
                .copied()
                .unwrap_or_default();
            for_chunks(&mut self.positions, |first, out| {
                for (o, p) in out.iter_mut().zip(&bind[first..]) {
                    *o = world.transform_point3(p.as_dvec3()).as_vec3();
                }
            });
            return;
        }
        for_chunks(&mut self.positions, |first, out| {
            let bind = &bind[first..first + out.len()];
            match chunks.get(first / CHUNK) {
                Some(chunk) => skin_chunk(stack, chunk, palette, bind, out),
                None => out.copy_from_slice(bind),
            }
        });
    }
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

/// Stages 2 and 3 for one chunk.
fn skin_chunk(
    stack: &DeformStack,
    chunk: &CookedChunk,
    palette: &SkinPalette,
    bind: &[Vec3],
    out: &mut [Vec3],
) {
    match SkinInput::new(bind, chunk, palette) {
        Ok(input) => match stack.method {
            SkinningMethod::Lbs => skinning::lbs(&input, out),
            _ => skinning::dqs(&input, out),
        },
        // The document's invariants rule this out; the bind shape is the picture that loses least.
        Err(_) => out.copy_from_slice(bind),
    }
}
