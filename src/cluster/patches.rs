//! The fast evaluation of free vertices, f32.

use super::blocks::{Block, CornerRow, Group};
use super::frame::CornerFrame;
use super::interpolation::{Interpolation, PatchOptions};
use super::kernel::Cubic;
use super::layout::Layout;
use super::net::ControlNet;
use super::rows::Rows;
use super::strands::{StrandPoint, Strands};
use super::surface::ClusterSurface;
use crate::skinning::Backend;
use crate::skinning::cooked::LANES;
use glam::{DMat3, DVec3, Vec3};
use rayon::prelude::*;
use std::ops::Range;

/// Groups of patches handed to a thread at a time.
const GROUPS_PER_TASK: usize = 32;

/// Points, or corners, handed to a thread at a time.
const PER_TASK: usize = 4096;

/// No slot holds this point.
const NONE: u32 = u32::MAX;

/// The patches of a layout, ready to be evaluated at poses.
///
/// A *corner* is an index into [`Layout::corners`]; a *patch* one into [`Layout::triangles`]. Free vertices have slots: eight
/// a block, the blocks of a patch one after the other; behind them the vertices on strands.
#[derive(Clone, Debug, Default)]
pub struct Patches {
    net: ControlNet,
    options: PatchOptions,
    groups: Vec<Group>,
    blocks: Vec<Block>,
    /// n_patches + 1: the first block of each patch.
    first_block: Vec<u32>,
    /// Vertices on strands and their offsets at bind.
    strands: Vec<(StrandPoint, DVec3)>,
    /// n_points: the slot of each point; [`NONE`] if it is not free.
    slot_of_point: Vec<u32>,
    points_of_slot: Rows,
    /// The patches of each corner.
    incident: Rows,
    strands_of_corner: Rows,
}

/// The buffers of an evaluation: one for each animated copy of [`Patches`].
#[derive(Clone, Debug, Default)]
pub struct PatchWork {
    /// One a corner.
    rows: Vec<CornerRow>,
    /// One a slot, in blocks.
    positions: Vec<[Vec3; LANES]>,
    /// Points that the last call of [`Patches::evaluate_some`] moved, ascending.
    moved: Vec<u32>,
    /// Patches, then strands, that it evaluated, ascending.
    changed: Vec<u32>,
}

impl Patches {
    /// Cooks the patches of a layout.
    pub fn new(surface: &ClusterSurface, layout: &Layout, options: PatchOptions) -> Self {
        let strands = if options.interpolation == Interpolation::Strands {
            Strands::automatic(surface, layout)
        } else {
            Strands::default()
        };
        Self::with_strands(surface, layout, options, &strands)
    }

    /// Cooks the patches of a layout; vertices on `strands` follow these.
    pub fn with_strands(
        surface: &ClusterSurface,
        layout: &Layout,
        options: PatchOptions,
        strands: &Strands,
    ) -> Self {
        let net = ControlNet::new(surface, layout);
        let mut blocks: Vec<Block> = Vec::new();
        let mut first_block = Vec::with_capacity(net.triangles.len() + 1);
        let mut vertex_of_slot = Vec::new();
        let on_patch = |f: &&super::Free| strands.of_vertex(f.vertex).is_none();
        let mut free = layout.free.iter().filter(on_patch).peekable();
        for patch in 0..net.triangles.len() as u32 {
            first_block.push(blocks.len() as u32);
            let mut lane = LANES;
            while let Some(free) = free.next_if(|free| free.triangle == patch) {
                if lane == LANES {
                    blocks.push(Block::EMPTY);
                    vertex_of_slot.resize(blocks.len() * LANES, NONE);
                    lane = 0;
                }
                let block = blocks.len() - 1;
                blocks[block].u[lane] = free.barycentric[0] as f32;
                blocks[block].v[lane] = free.barycentric[1] as f32;
                vertex_of_slot[block * LANES + lane] = free.vertex;
                lane += 1;
            }
        }
        first_block.push(blocks.len() as u32);
        vertex_of_slot.extend(strands.points.iter().map(|p| p.vertex));
        let slots = (0u32..).zip(&vertex_of_slot).filter(|(_, v)| **v != NONE);
        let pairs = slots
            .flat_map(|(slot, &v)| surface.points_of_vertex(v).iter().map(move |&p| (slot, p)));
        let mut slot_of_point = vec![NONE; surface.n_points()];
        for (slot, point) in pairs.clone() {
            slot_of_point[point as usize] = slot;
        }
        let n_corners = net.corners.len();
        let of_patches = (0u32..)
            .zip(&net.triangles)
            .flat_map(|(p, t)| t.map(|c| (c, p)));
        let of_strands = (0u32..).zip(&strands.points);
        let of_strands = of_strands.flat_map(|(i, s)| s.corners().map(move |c| (c, i)));
        let mut patches = Self {
            options,
            groups: Group::of(&net),
            blocks,
            first_block,
            strands: strands.points.iter().map(|p| (*p, DVec3::ZERO)).collect(),
            slot_of_point,
            points_of_slot: Rows::new(vertex_of_slot.len(), pairs),
            incident: Rows::new(n_corners, of_patches),
            strands_of_corner: Rows::new(n_corners, of_strands),
            net,
        };
        patches.find_offsets(surface, &vertex_of_slot);
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

    /// The points of the mesh that follow patches or strands, by patch.
    pub fn free_points(&self) -> &[u32] {
        self.points_of_slot.all()
    }

    /// Whether a point of the mesh follows a patch or a strand.
    pub fn is_free(&self, point: u32) -> bool {
        self.slot_of_point[point as usize] != NONE
    }

    /// The points of the mesh that follow a patch.
    pub fn points_of_patch(&self, patch: u32) -> impl Iterator<Item = u32> + '_ {
        self.slots_of_patch(patch)
            .flat_map(|slot| self.points_of_slot.row(slot).iter().copied())
    }

    /// The patches that meet a corner, ascending.
    pub fn patches_of_corner(&self, corner: u32) -> &[u32] {
        self.incident.row(corner)
    }

    /// The points of the mesh that follow the patches and strands at a corner, some of them twice.
    pub fn points_of_corner(&self, corner: u32) -> impl Iterator<Item = u32> + '_ {
        let patches = self.patches_of_corner(corner).iter();
        let on_patches = patches.flat_map(|&patch| self.points_of_patch(patch));
        let first = (self.blocks.len() * LANES) as u32;
        let strands = self.strands_of_corner.row(corner).iter();
        let on_strands = strands.flat_map(move |&strand| {
            let points = self.points_of_slot.row(first + strand);
            points.iter().copied()
        });
        on_patches.chain(on_strands)
    }

    /// Writes the free points of the mesh for `frames` (n_corners); leaves all other points of `out` (n_points).
    pub fn evaluate(&self, frames: &[CornerFrame], work: &mut PatchWork, out: &mut [Vec3]) {
        self.check(frames, out);
        self.evaluate_slots(frames, work);
        let positions = work.positions.as_flattened();
        out.par_chunks_mut(PER_TASK)
            .zip(self.slot_of_point.par_chunks(PER_TASK))
            .for_each(|(out, slots)| {
                for (out, &slot) in out.iter_mut().zip(slots) {
                    if slot != NONE {
                        *out = positions[slot as usize];
                    }
                }
            });
    }

    /// Writes the free points of the patches at the corners `changed`, with the bits of [`Patches::evaluate`]; returns these
    /// points, ascending.
    ///
    /// `changed` names all corners whose frames differ from the last evaluation with this `work`.
    pub fn evaluate_some<'w>(
        &self,
        frames: &[CornerFrame],
        changed: &[u32],
        work: &'w mut PatchWork,
        out: &mut [Vec3],
    ) -> &'w [u32] {
        self.check(frames, out);
        work.moved.clear();
        if work.rows.len() == self.n_corners() {
            for &corner in changed {
                work.rows[corner as usize] = self.row(corner, &frames[corner as usize]);
            }
        } else {
            self.evaluate_slots(frames, work);
        }
        work.change(changed.iter().flat_map(|&c| self.patches_of_corner(c)));
        for i in 0..work.changed.len() {
            let patch = work.changed[i];
            let range = self.blocks_of_patch(patch);
            let group = patch as usize / LANES * LANES;
            let mut first = [range.end as u32; LANES + 1];
            // The other patches of the group have no blocks here.
            first[..=patch as usize - group].fill(range.start as u32);
            let out = &mut work.positions[range];
            self.evaluate_groups(frames, &work.rows, group / LANES, 1, &first, out);
            work.moved.extend(self.points_of_patch(patch));
        }
        work.change(changed.iter().flat_map(|&c| self.strands_of_corner.row(c)));
        for &strand in &work.changed {
            let slot = self.blocks.len() * LANES + strand as usize;
            work.positions[slot / LANES][slot % LANES] = self.on_strand(strand as usize, frames);
            work.moved.extend(self.points_of_slot.row(slot as u32));
        }
        work.moved.sort_unstable();
        for &point in &work.moved {
            let slot = self.slot_of_point[point as usize] as usize;
            out[point as usize] = work.positions[slot / LANES][slot % LANES];
        }
        &work.moved
    }

    /// Writes, for each free point of the mesh, the displacement that the clusters' displacements `d` (n_corners, bind space)
    /// make there, as a cubic Bezier triangle; leaves all other points of `out` (n_points).
    ///
    /// For [`Interpolation::SkinnedFree`]: `v' = F(v + d(u))`, F the skin. `couple_normals`: with the gradients of `d`.
    pub fn displacements(&self, d: &[DVec3], couple_normals: bool, out: &mut [Vec3]) {
        assert_eq!(d.len(), self.n_corners(), "one displacement a corner");
        assert_eq!(
            out.len(),
            self.slot_of_point.len(),
            "one displacement a point"
        );
        let gradient = |corner: u32| {
            if couple_normals {
                self.net.rings.gradient(corner, d)
            } else {
                DMat3::ZERO
            }
        };
        let gradients: Vec<DMat3> = (0..d.len() as u32).map(gradient).collect();
        for patch in 0..self.n_patches() as u32 {
            let bezier = self.net.displacement_patch(patch, d, &gradients);
            for slot in self.slots_of_patch(patch) {
                let block = &self.blocks[slot as usize / LANES];
                let place = bezier.at(block.barycentric(slot as usize % LANES));
                for &point in self.points_of_slot.row(slot) {
                    out[point as usize] = place.as_vec3();
                }
            }
        }
    }

    fn check(&self, frames: &[CornerFrame], out: &[Vec3]) {
        assert_eq!(frames.len(), self.n_corners(), "one frame a corner");
        assert_eq!(out.len(), self.slot_of_point.len(), "one position a point");
    }

    fn blocks_of_patch(&self, patch: u32) -> Range<usize> {
        self.first_block[patch as usize] as usize..self.first_block[patch as usize + 1] as usize
    }

    fn slots_of_patch(&self, patch: u32) -> Range<u32> {
        let blocks = self.blocks_of_patch(patch);
        (blocks.start * LANES) as u32..(blocks.end * LANES) as u32
    }

    /// Sets the offsets so that the free vertices are exact at bind, in the arithmetic of the kernel.
    fn find_offsets(&mut self, surface: &ClusterSurface, vertex_of_slot: &[u32]) {
        let frames = self.net.bind_frames();
        for (strand, offset) in &mut self.strands {
            let place = strand.at(&frames, self.options.tension).0;
            *offset = surface.positions[strand.vertex as usize] - place;
        }
        let mut work = PatchWork::default();
        self.evaluate_slots(&frames, &mut work);
        let on_patch = &vertex_of_slot[..self.blocks.len() * LANES];
        for (slot, &vertex) in on_patch.iter().enumerate().filter(|(_, v)| **v != NONE) {
            let (block, lane) = (slot / LANES, slot % LANES);
            let place = work.positions[block][lane].as_dvec3();
            let offset = surface.positions[vertex as usize] - place;
            self.blocks[block].set_offset(lane, offset);
        }
    }

    fn row(&self, corner: u32, frame: &CornerFrame) -> CornerRow {
        let by_normal = self.options.interpolation == Interpolation::PointNormal;
        CornerRow::new(&self.net, corner, frame, by_normal)
    }

    /// The positions of all slots.
    fn evaluate_slots(&self, frames: &[CornerFrame], work: &mut PatchWork) {
        work.rows.resize(self.n_corners(), CornerRow::default());
        work.rows
            .par_chunks_mut(PER_TASK)
            .zip(frames.par_chunks(PER_TASK))
            .enumerate()
            .for_each(|(chunk, (rows, frames))| {
                for (i, (row, frame)) in rows.iter_mut().zip(frames).enumerate() {
                    *row = self.row((chunk * PER_TASK + i) as u32, frame);
                }
            });
        let n_blocks = self.blocks.len() + self.strands.len().div_ceil(LANES);
        work.positions.resize(n_blocks, [Vec3::ZERO; LANES]);
        let (on_patches, on_strands) = work.positions.split_at_mut(self.blocks.len());
        self.evaluate_range(frames, &work.rows, 0..self.groups.len(), on_patches);
        let on_strands = &mut on_strands.as_flattened_mut()[..self.strands.len()];
        on_strands
            .par_iter_mut()
            .enumerate()
            .for_each(|(i, out)| *out = self.on_strand(i, frames));
    }

    fn on_strand(&self, index: usize, frames: &[CornerFrame]) -> Vec3 {
        let (strand, offset) = &self.strands[index];
        let (place, rotation) = strand.at(frames, self.options.tension);
        (place + rotation * *offset).as_vec3()
    }

    /// The positions of the blocks of some groups, by halves until a task is small.
    fn evaluate_range(
        &self,
        frames: &[CornerFrame],
        rows: &[CornerRow],
        groups: Range<usize>,
        out: &mut [[Vec3; LANES]],
    ) {
        let patch = |group: usize| (group * LANES).min(self.n_patches());
        if groups.len() <= GROUPS_PER_TASK {
            let first = &self.first_block[patch(groups.start)..=patch(groups.end)];
            self.evaluate_groups(frames, rows, groups.start, groups.len(), first, out);
            return;
        }
        let middle = usize::midpoint(groups.start, groups.end);
        let [first, end] = [groups.start, middle].map(|g| self.first_block[patch(g)] as usize);
        let (left, right) = out.split_at_mut(end - first);
        rayon::join(
            || self.evaluate_range(frames, rows, groups.start..middle, left),
            || self.evaluate_range(frames, rows, middle..groups.end, right),
        );
    }

    /// The positions of the blocks that `first_block` gives each patch of `n` groups.
    fn evaluate_groups(
        &self,
        frames: &[CornerFrame],
        rows: &[CornerRow],
        first_group: usize,
        n: usize,
        first_block: &[u32],
        out: &mut [[Vec3; LANES]],
    ) {
        let blocks = first_block[0] as usize..first_block[first_block.len() - 1] as usize;
        let kind = self.options.interpolation;
        let mut one_by_one = |patch: usize, out: &mut [[Vec3; LANES]]| {
            let first = first_block[patch] as usize;
            let patch = (first_group * LANES + patch) as u32;
            self.evaluate_patch(frames, patch, &self.blocks[first..first + out.len()], out);
        };
        if kind == Interpolation::Gregory {
            let mut rest = out;
            for patch in 0..first_block.len() - 1 {
                let n_blocks = (first_block[patch + 1] - first_block[patch]) as usize;
                let (own, others) = rest.split_at_mut(n_blocks);
                one_by_one(patch, own);
                rest = others;
            }
            return;
        }
        let cubic = Cubic {
            groups: &self.groups[first_group..first_group + n],
            first_block,
            blocks: &self.blocks[blocks],
            rows,
            by_normal: kind == Interpolation::PointNormal,
        };
        cubic.evaluate(Backend::detect(), out, &mut one_by_one);
    }

    /// The positions of blocks of one patch, in f64.
    fn evaluate_patch(
        &self,
        frames: &[CornerFrame],
        patch: u32,
        blocks: &[Block],
        out: &mut [[Vec3; LANES]],
    ) {
        if blocks.is_empty() {
            return;
        }
        let shape = self.net.patch(patch, frames, self.options.interpolation);
        for (block, out) in blocks.iter().zip(out) {
            for (lane, out) in out.iter_mut().enumerate() {
                let u = block.barycentric(lane);
                let rotation = self.net.rotation(patch, frames, u);
                *out = (shape.at(u) + rotation * block.offset(lane)).as_vec3();
            }
        }
    }
}

impl PatchWork {
    /// Sets the list of changed numbers, ascending and each once.
    fn change<'a>(&mut self, numbers: impl Iterator<Item = &'a u32>) {
        self.changed.clear();
        self.changed.extend(numbers);
        self.changed.sort_unstable();
        self.changed.dedup();
    }
}
