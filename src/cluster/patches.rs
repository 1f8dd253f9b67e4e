//! The fast evaluation of free vertices, f32.

use super::frame::CornerFrame;
use super::interpolation::Interpolation;
use super::layout::Layout;
use super::net::ControlNet;
use super::surface::ClusterSurface;
use glam::{DVec3, Vec3};
use rayon::prelude::*;

/// Free vertices of a block: they lie on one patch.
const LANES: usize = 8;

/// Blocks handed to a thread at a time.
const BLOCKS_PER_TASK: usize = 256;

/// Points handed to a thread at a time.
const POINTS_PER_TASK: usize = 4096;

/// No block holds this point.
const NONE: u32 = u32::MAX;

/// Options of [`Patches`].
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PatchOptions {
    /// The kind of the patches.
    pub interpolation: Interpolation,
}

/// The patches of a layout, ready to be evaluated at poses.
///
/// A *corner* is an index into [`Layout::corners`]; a *patch* one into [`Layout::triangles`].
#[derive(Clone, Debug, Default)]
pub struct Patches {
    net: ControlNet,
    options: PatchOptions,
    /// Free vertices by patch.
    blocks: Vec<Block>,
    /// n_patches + 1: the first block of each patch.
    first_block: Vec<u32>,
    /// n_points: block and lane, as `block * LANES + lane`; [`NONE`] if the point is not free.
    slot_of_point: Vec<u32>,
    /// One a slot and one more: its points in `points`.
    point_starts: Vec<u32>,
    points: Vec<u32>,
    /// n_corners + 1: the patches of each corner in `patches`.
    patch_starts: Vec<u32>,
    patches: Vec<u32>,
}

/// Up to eight free vertices of a patch.
#[derive(Clone, Copy, Debug)]
struct Block {
    patch: u32,
    /// Barycentric coordinates of the first and second corner.
    u: [f32; LANES],
    v: [f32; LANES],
    /// From the patch to the vertex at bind: x, y, z.
    offset: [[f32; LANES]; 3],
}

/// The buffers of an evaluation: reuse one for as long as the patches stay the same.
#[derive(Clone, Debug, Default)]
pub struct PatchWork {
    /// One a block.
    positions: Vec<[Vec3; LANES]>,
    /// Points that the last call of [`Patches::evaluate_some`] moved, ascending.
    moved: Vec<u32>,
    /// Patches that it evaluated, ascending.
    changed: Vec<u32>,
}

impl Patches {
    /// Cooks the patches of a layout.
    pub fn new(surface: &ClusterSurface, layout: &Layout, options: PatchOptions) -> Self {
        let net = ControlNet::new(surface, layout);
        let mut patches = Self {
            options,
            patch_starts: Vec::new(),
            patches: Vec::new(),
            slot_of_point: vec![NONE; surface.n_points()],
            ..Self::default()
        };
        let frames = net.bind_frames();
        let mut free = layout.free.iter().peekable();
        let mut vertices = Vec::new();
        for patch in 0..net.triangles.len() as u32 {
            patches.first_block.push(patches.blocks.len() as u32);
            let bezier = net.bezier(patch, &frames, options.interpolation);
            let mut lane = LANES;
            while let Some(free) = free.next_if(|free| free.triangle == patch) {
                if lane == LANES {
                    patches.blocks.push(Block::empty(patch));
                    vertices.resize(patches.blocks.len() * LANES, NONE);
                    lane = 0;
                }
                let [u, v] = [0, 1].map(|i| free.barycentric[i] as f32);
                let place = bezier.at(barycentric(u, v));
                let offset = surface.positions[free.vertex as usize] - place;
                let block = patches.blocks.len() - 1;
                patches.blocks[block].set(lane, u, v, offset);
                vertices[block * LANES + lane] = free.vertex;
                lane += 1;
            }
        }
        patches.first_block.push(patches.blocks.len() as u32);
        patches.point_starts.push(0);
        for (slot, &vertex) in (0u32..).zip(&vertices) {
            if vertex != NONE {
                for &point in surface.points_of_vertex(vertex) {
                    patches.slot_of_point[point as usize] = slot;
                    patches.points.push(point);
                }
            }
            patches.point_starts.push(patches.points.len() as u32);
        }
        (patches.patch_starts, patches.patches) = patches_of_corners(&net);
        patches.net = net;
        patches
    }

    /// The corners and control points.
    pub fn net(&self) -> &ControlNet {
        &self.net
    }

    /// The options.
    pub fn options(&self) -> PatchOptions {
        self.options
    }

    /// Number of corners.
    pub fn n_corners(&self) -> usize {
        self.net.corners.len()
    }

    /// Number of patches.
    pub fn n_patches(&self) -> usize {
        self.net.triangles.len()
    }

    /// The points of the mesh that follow patches, by patch.
    pub fn free_points(&self) -> &[u32] {
        &self.points
    }

    /// Whether a point of the mesh follows a patch.
    pub fn is_free(&self, point: u32) -> bool {
        self.slot_of_point[point as usize] != NONE
    }

    /// The points of the mesh that follow a patch.
    pub fn points_of_patch(&self, patch: u32) -> &[u32] {
        let [first, end] = [0, 1].map(|i| self.first_block[patch as usize + i] as usize * LANES);
        &self.points[self.point_starts[first] as usize..self.point_starts[end] as usize]
    }

    /// The patches that meet a corner, ascending.
    pub fn patches_of_corner(&self, corner: u32) -> &[u32] {
        let [first, end] = [0, 1].map(|i| self.patch_starts[corner as usize + i] as usize);
        &self.patches[first..end]
    }

    /// Writes the free points of the mesh for `frames` (n_corners); leaves all other points of `out` (n_points).
    pub fn evaluate(&self, frames: &[CornerFrame], work: &mut PatchWork, out: &mut [Vec3]) {
        self.check(frames, out);
        work.positions
            .resize(self.blocks.len(), [Vec3::ZERO; LANES]);
        work.positions
            .par_chunks_mut(BLOCKS_PER_TASK)
            .zip(self.blocks.par_chunks(BLOCKS_PER_TASK))
            .for_each(|(out, blocks)| self.evaluate_blocks(frames, blocks, out));
        let positions = work.positions.as_flattened();
        out.par_chunks_mut(POINTS_PER_TASK)
            .zip(self.slot_of_point.par_chunks(POINTS_PER_TASK))
            .for_each(|(out, slots)| {
                for (out, &slot) in out.iter_mut().zip(slots) {
                    if slot != NONE {
                        *out = positions[slot as usize];
                    }
                }
            });
    }

    /// Writes the free points of the patches at the corners `changed`, whose frames are not those of the last evaluation, with
    /// the bits of [`Patches::evaluate`]; returns the points of these patches, ascending.
    pub fn evaluate_some<'w>(
        &self,
        frames: &[CornerFrame],
        changed: &[u32],
        work: &'w mut PatchWork,
        out: &mut [Vec3],
    ) -> &'w [u32] {
        self.check(frames, out);
        work.positions
            .resize(self.blocks.len(), [Vec3::ZERO; LANES]);
        work.changed.clear();
        for &corner in changed {
            work.changed.extend(self.patches_of_corner(corner));
        }
        work.changed.sort_unstable();
        work.changed.dedup();
        work.moved.clear();
        for &patch in &work.changed {
            let [first, end] = [0, 1].map(|i| self.first_block[patch as usize + i] as usize);
            let positions = &mut work.positions[first..end];
            self.evaluate_blocks(frames, &self.blocks[first..end], positions);
            for &point in self.points_of_patch(patch) {
                let slot = self.slot_of_point[point as usize] as usize;
                out[point as usize] = work.positions[slot / LANES][slot % LANES];
                work.moved.push(point);
            }
        }
        work.moved.sort_unstable();
        &work.moved
    }

    fn check(&self, frames: &[CornerFrame], out: &[Vec3]) {
        assert_eq!(frames.len(), self.n_corners(), "one frame a corner");
        assert_eq!(out.len(), self.slot_of_point.len(), "one position a point");
    }

    fn evaluate_blocks(&self, frames: &[CornerFrame], blocks: &[Block], out: &mut [[Vec3; LANES]]) {
        let mut current = NONE;
        let mut bezier = None;
        for (block, out) in blocks.iter().zip(out) {
            if block.patch != current {
                current = block.patch;
                bezier = Some(self.net.bezier(current, frames, self.options.interpolation));
            }
            let Some(bezier) = &bezier else { continue };
            for (lane, out) in out.iter_mut().enumerate() {
                let u = barycentric(block.u[lane], block.v[lane]);
                let offset = DVec3::from_array(block.offset.map(|axis| f64::from(axis[lane])));
                let place = bezier.at(u) + self.net.rotation(current, frames, u) * offset;
                *out = place.as_vec3();
            }
        }
    }
}

impl Block {
    fn empty(patch: u32) -> Self {
        Self {
            patch,
            u: [0.0; LANES],
            v: [0.0; LANES],
            offset: [[0.0; LANES]; 3],
        }
    }

    fn set(&mut self, lane: usize, u: f32, v: f32, offset: DVec3) {
        self.u[lane] = u;
        self.v[lane] = v;
        for (axis, value) in self.offset.iter_mut().zip(offset.to_array()) {
            axis[lane] = value as f32;
        }
    }
}

fn barycentric(u: f32, v: f32) -> [f64; 3] {
    let (u, v) = (f64::from(u), f64::from(v));
    [u, v, 1.0 - u - v]
}

/// The patches of each corner, as compressed rows.
fn patches_of_corners(net: &ControlNet) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0; net.corners.len() + 1];
    for &c in net.triangles.iter().flatten() {
        starts[c as usize + 1] += 1;
    }
    for c in 0..net.corners.len() {
        starts[c + 1] += starts[c];
    }
    let mut next = starts.clone();
    let mut patches = vec![0; net.triangles.len() * 3];
    for (patch, t) in (0u32..).zip(&net.triangles) {
        for &c in t {
            patches[next[c as usize] as usize] = patch;
            next[c as usize] += 1;
        }
    }
    (starts, patches)
}
