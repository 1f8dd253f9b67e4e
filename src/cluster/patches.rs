//! The fast evaluation of free vertices, f32.

use super::blocks::{Block, CornerRow, Group, OnPatch};
use super::frame::{CornerFrame, TangentPlane};
use super::interpolation::{Interpolation, PatchOptions};
use super::kernel::Cubic;
use super::layout::Layout;
use super::net::{ControlNet, Patch, rotation_between};
use super::rows::Rows;
use super::strands::{StrandPoint, Strands};
use super::surface::ClusterSurface;
use crate::mesh::PointSet;
use crate::skinning::cooked::LANES;
use glam::{DMat3, DVec3, Vec3};
use rayon::prelude::*;

/// Points of a tile, least and most. A tile is evaluated at a time, with all blocks that have points in it: a block across two
/// tiles twice, so that a large mesh, whose patches are long runs of points, has large tiles.
const TILE: [usize; 2] = [16_384, 65_536];

/// About as many tiles has a mesh of neither few nor very many points: for this many threads.
const TILES: usize = 16;

/// Corners handed to a thread at a time.
const CORNERS_PER_TASK: usize = 4096;

/// With more changed patches than this a partial evaluation is shared between threads.
const MANY: usize = 512;

/// The patches of a layout, ready to be evaluated at poses.
///
/// A *corner* is an index into [`Layout::corners`]; a *patch* one into [`Layout::triangles`].
#[derive(Clone, Debug, Default)]
pub struct Patches {
    net: ControlNet,
    options: PatchOptions,
    /// n_corners: both tangents and the normal at bind.
    planes: Vec<[Vec3; 3]>,
    groups: Vec<Group>,
    blocks: Vec<Block>,
    blocks_of_patch: Rows,
    points_of_patch: Rows,
    /// Points on strands.
    strands: Vec<Strand>,
    /// The points on patches and strands.
    is_free: PointSet,
    n_points: usize,
    /// Points of a tile.
    tile: usize,
    /// The patches of each corner, and the blocks of each tile.
    of_corner: Rows,
    of_tile: Rows,
    /// The strands of each corner, and those of each tile.
    strands_of_corner: Rows,
    strands_of_tile: Rows,
}

/// A point on a strand.
#[derive(Clone, Copy, Debug)]
struct Strand {
    at: StrandPoint,
    point: u32,
    /// From the strand to the vertex at bind, metres.
    offset: DVec3,
}

/// All corners at a pose.
#[derive(Clone, Copy)]
struct Posed<'a> {
    rows: &'a [CornerRow],
    /// `None`: those of the rows.
    frames: Option<&'a [CornerFrame]>,
}

impl Posed<'_> {
    fn frame(&self, corner: u32, net: &ControlNet) -> CornerFrame {
        let corner = corner as usize;
        match self.frames {
            Some(frames) => frames[corner],
            None => self.rows[corner].frame(&net.planes[corner]),
        }
    }
}

/// The buffers of an evaluation: one for each animated copy of [`Patches`].
#[derive(Clone, Debug, Default)]
pub struct PatchWork {
    /// One a corner.
    rows: Vec<CornerRow>,
    /// Points that the last call of [`Patches::evaluate_some`] moved, ascending.
    moved: Vec<u32>,
    /// Patches, then strands, that it evaluated, ascending.
    changed: Vec<u32>,
    /// n_patches: those in `changed`, where they are many.
    is_changed: Vec<bool>,
    /// Their blocks, where they are few.
    blocks: Vec<u32>,
    /// n_corners: the gradients of displacements.
    gradients: Vec<DMat3>,
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
        let (n_patches, n_corners) = (net.triangles.len(), net.corners.len());
        // The points of a seam are evaluated one by one.
        let on_patch = layout
            .free
            .iter()
            .filter(|f| strands.of_vertex(f.vertex).is_none());
        let on_patch = on_patch.flat_map(|f| {
            let points = surface.points_of_vertex(f.vertex);
            points.iter().map(move |&point| (f, point))
        });
        let on_patch: Vec<OnPatch> = on_patch
            .map(|(f, point)| (f.triangle, point, f.barycentric))
            .collect();
        let points = Rows::new(n_patches, on_patch.iter().map(|on| (on.0, on.1)));
        let blocks = Block::of(&on_patch);
        let on_strand = strands.points.iter().flat_map(|&at| {
            let points = surface.points_of_vertex(at.vertex).iter();
            points.map(move |&point| Strand {
                at,
                point,
                offset: DVec3::ZERO,
            })
        });
        let on_strand: Vec<Strand> = on_strand.collect();
        let in_tile = (surface.n_points() / TILES).next_power_of_two();
        let in_tile = in_tile.clamp(TILE[0], TILE[1]);
        let n_tiles = surface.n_points().div_ceil(in_tile);
        let tile = |point: u32| point / in_tile as u32;
        let numbered = (0u32..).zip(&blocks);
        let mut of_tile: Vec<(u32, u32)> = numbered
            .clone()
            .flat_map(|(b, block)| block.points.map(|p| (tile(p), b)))
            .collect();
        of_tile.sort_unstable();
        of_tile.dedup();
        let mut of_patch: Vec<(u32, u32)> = numbered
            .flat_map(|(b, block)| (0..LANES).map(move |lane| (block.patch(lane), b)))
            .collect();
        of_patch.dedup();
        let of_corner = (0u32..)
            .zip(&net.triangles)
            .flat_map(|(p, t)| t.map(|c| (c, p)));
        let strands_numbered = (0u32..).zip(&on_strand);
        let strand_corners = strands_numbered
            .clone()
            .flat_map(|(i, s)| s.at.corners().map(move |c| (c, i)));
        let strand_tiles = strands_numbered.map(|(i, s)| (tile(s.point), i));
        let plane = |p: &TangentPlane| [p.tangents[0], p.tangents[1], p.normal].map(DVec3::as_vec3);
        let free = points.all().iter().copied();
        let mut patches = Self {
            options,
            planes: net.planes.iter().map(plane).collect(),
            groups: Group::of(&net),
            blocks_of_patch: Rows::new(n_patches, of_patch.into_iter()),
            blocks,
            is_free: free.chain(on_strand.iter().map(|s| s.point)).collect(),
            points_of_patch: points,
            n_points: surface.n_points(),
            tile: in_tile,
            of_corner: Rows::new(n_corners, of_corner),
            of_tile: Rows::new(n_tiles, of_tile.into_iter()),
            strands_of_corner: Rows::new(n_corners, strand_corners),
            strands_of_tile: Rows::new(n_tiles, strand_tiles),
            strands: on_strand,
            net,
        };
        patches.find_offsets(surface);
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

    /// The points of the mesh that follow patches or strands.
    pub fn free_points(&self) -> &PointSet {
        &self.is_free
    }

    /// Whether a point of the mesh follows a patch or a strand.
    pub fn is_free(&self, point: u32) -> bool {
        self.is_free.contains(point)
    }

    /// The points of the mesh that follow a patch.
    pub fn points_of_patch(&self, patch: u32) -> &[u32] {
        self.points_of_patch.row(patch)
    }

    /// The patches that meet a corner, ascending.
    pub fn patches_of_corner(&self, corner: u32) -> &[u32] {
        self.of_corner.row(corner)
    }

    /// The points of the mesh that follow the patches and strands at a corner, some of them twice.
    pub fn points_of_corner(&self, corner: u32) -> impl Iterator<Item = u32> + '_ {
        let patches = self.patches_of_corner(corner).iter();
        let on_patches = patches.flat_map(|&patch| self.points_of_patch(patch).iter().copied());
        let strands = self.strands_of_corner.row(corner).iter();
        on_patches.chain(strands.map(|&strand| self.strands[strand as usize].point))
    }

    /// Writes the free points of the mesh for `frames` (n_corners); leaves all other points of `out` (n_points).
    pub fn evaluate(&self, frames: &[CornerFrame], work: &mut PatchWork, out: &mut [Vec3]) {
        self.check(frames.len(), out);
        self.update_rows(frames, work);
        let corners = Posed {
            rows: &work.rows,
            frames: Some(frames),
        };
        self.evaluate_tiles(corners, None, out);
    }

    /// As [`Patches::evaluate`] of corners as the kernel reads them, n_corners: transported patches alone.
    pub fn evaluate_rows(&self, rows: &[CornerRow], out: &mut [Vec3]) {
        self.check(rows.len(), out);
        self.check_kind();
        self.evaluate_tiles(Posed { rows, frames: None }, None, out);
    }

    /// The corners as [`Patches::evaluate_rows`] reads them.
    pub fn rows(&self, frames: &[CornerFrame]) -> Vec<CornerRow> {
        let mut work = PatchWork::default();
        self.update_rows(frames, &mut work);
        work.rows
    }

    /// Writes the free points of the patches at the corners `changed`, with the bits of [`Patches::evaluate`]; returns these
    /// points, ascending.
    ///
    /// `changed` names all corners whose frames differ from the last evaluation with this `work`. Points of other patches that
    /// share a block with these are written too, with the bits they have.
    pub fn evaluate_some<'w>(
        &self,
        frames: &[CornerFrame],
        changed: &[u32],
        work: &'w mut PatchWork,
        out: &mut [Vec3],
    ) -> &'w [u32] {
        self.check(frames.len(), out);
        if work.rows.len() == self.n_corners() {
            for &corner in changed {
                work.rows[corner as usize] = self.row(corner, &frames[corner as usize]);
            }
        } else {
            self.update_rows(frames, work);
        }
        let rows = std::mem::take(&mut work.rows);
        let corners = Posed {
            rows: &rows,
            frames: Some(frames),
        };
        self.evaluate_changed(corners, changed, work, out);
        work.rows = rows;
        &work.moved
    }

    /// As [`Patches::evaluate_some`] of corners as the kernel reads them, n_corners: transported patches alone.
    pub(crate) fn evaluate_some_rows(
        &self,
        rows: &[CornerRow],
        changed: &[u32],
        work: &mut PatchWork,
        out: &mut [Vec3],
    ) {
        self.check(rows.len(), out);
        self.check_kind();
        self.evaluate_changed(Posed { rows, frames: None }, changed, work, out);
    }

    fn evaluate_changed(
        &self,
        corners: Posed<'_>,
        changed: &[u32],
        work: &mut PatchWork,
        out: &mut [Vec3],
    ) {
        work.moved.clear();
        work.change(changed.iter().flat_map(|&c| self.patches_of_corner(c)));
        if work.changed.len() > MANY {
            work.is_changed.clear();
            work.is_changed.resize(self.n_patches(), false);
            for &patch in &work.changed {
                work.is_changed[patch as usize] = true;
            }
            self.evaluate_tiles(corners, Some(&work.is_changed), out);
        } else {
            let blocks = work.changed.iter();
            let blocks = blocks.flat_map(|&p| self.blocks_of_patch.row(p));
            work.blocks.clear();
            work.blocks.extend(blocks);
            // Patches of a group share blocks.
            work.blocks.sort_unstable();
            work.blocks.dedup();
            self.evaluate_blocks(corners, work.blocks.iter().copied(), 0, out);
        }
        for &patch in &work.changed {
            work.moved.extend(self.points_of_patch(patch));
        }
        work.change(changed.iter().flat_map(|&c| self.strands_of_corner.row(c)));
        for &strand in &work.changed {
            let point = self.strands[strand as usize].point;
            out[point as usize] = self.on_strand(strand, corners);
            work.moved.push(point);
        }
        work.moved.sort_unstable();
    }

    /// Writes, for each free point of the mesh, the displacement that the clusters' displacements `d` (n_corners, bind space)
    /// make there, as a cubic Bezier triangle; leaves all other points of `out` (n_points).
    ///
    /// For [`Interpolation::SkinnedFree`]: `v' = F(v + d(u))`, F the skin. `couple_normals`: with the gradients of `d`.
    pub fn displacements(
        &self,
        d: &[DVec3],
        couple_normals: bool,
        work: &mut PatchWork,
        out: &mut [Vec3],
    ) {
        assert_eq!(d.len(), self.n_corners(), "one displacement a corner");
        assert_eq!(out.len(), self.n_points, "one displacement a point");
        let gradient = |corner: u32| {
            if couple_normals {
                self.net.rings.gradient(corner, d)
            } else {
                DMat3::ZERO
            }
        };
        work.gradients.clear();
        work.gradients.extend((0..d.len() as u32).map(gradient));
        let mut last = None;
        for block in &self.blocks {
            for lane in 0..LANES {
                let patch = block.patch(lane);
                let bezier = match last.take() {
                    Some((of, bezier)) if of == patch => bezier,
                    _ => self.net.displacement_patch(patch, d, &work.gradients),
                };
                let displacement = bezier.at(block.barycentric(lane)).as_vec3();
                block.write(lane, displacement, 0, out);
                last = Some((patch, bezier));
            }
        }
    }

    /// A value at each corner from those known at some, each once: the others are means of their neighbours, weighted by
    /// the lengths of the edges between them; NaN on components without a known one. `None` where none is known.
    pub fn spread(&self, known: &[(u32, f64)]) -> Option<Vec<f64>> {
        /// Further sweeps change nothing that a colour shows.
        const SWEEPS: usize = 400;
        let n = self.n_corners();
        let mean = known.iter().map(|k| k.1).sum::<f64>() / known.len().max(1) as f64;
        let (mut values, mut is_known) = (vec![mean; n], vec![false; n]);
        for &(corner, value) in known {
            values[corner as usize] = value;
            is_known[corner as usize] = true;
        }
        let mut is_reached = is_known.clone();
        let mut stack: Vec<u32> = known.iter().map(|k| k.0).collect();
        while let Some(corner) = stack.pop() {
            for &other in self.net.rings.neighbours(corner) {
                if !std::mem::replace(&mut is_reached[other as usize], true) {
                    stack.push(other);
                }
            }
        }
        for (value, is_reached) in values.iter_mut().zip(&is_reached) {
            if !is_reached {
                *value = f64::NAN;
            }
        }
        let is_unknown = |c: &u32| is_reached[*c as usize] && !is_known[*c as usize];
        let unknown: Vec<u32> = (0..n as u32).filter(is_unknown).collect();
        let places = &self.net.positions;
        for _ in 0..SWEEPS {
            let mut largest = 0f64;
            for &corner in &unknown {
                let c = corner as usize;
                let (mut sum, mut total) = (0.0, 0.0);
                for &other in self.net.rings.neighbours(corner) {
                    let length = places[c].distance(places[other as usize]);
                    let weight = 1.0 / length.max(1e-12);
                    sum += weight * values[other as usize];
                    total += weight;
                }
                if total > 0.0 {
                    let value = sum / total;
                    largest = largest.max((value - values[c]).abs());
                    values[c] = value;
                }
            }
            if largest <= 1e-9 * mean.abs() {
                break;
            }
        }
        (!known.is_empty()).then_some(values)
    }

    /// n_points: values at the free points that those at the corners (n_corners) make, as cubic Bezier triangles; NaN elsewhere.
    pub fn scalars(&self, values: &[f64]) -> Vec<f32> {
        let along: Vec<DVec3> = values.iter().map(|&value| DVec3::X * value).collect();
        let mut out = vec![Vec3::NAN; self.n_points];
        self.displacements(&along, true, &mut PatchWork::default(), &mut out);
        if !self.strands.is_empty() {
            let frames: Vec<CornerFrame> = along.into_iter().map(CornerFrame::at).collect();
            for strand in &self.strands {
                let (place, _) = strand.at.at(&frames, self.options.tension);
                out[strand.point as usize] = place.as_vec3();
            }
        }
        out.into_iter().map(|value| value.x).collect()
    }

    fn check(&self, n_corners: usize, out: &[Vec3]) {
        assert_eq!(n_corners, self.n_corners(), "one frame a corner");
        assert_eq!(out.len(), self.n_points, "one position a point");
    }

    /// Rows hold no more of a corner than these patches read.
    fn check_kind(&self) {
        let kind = self.options.interpolation;
        assert_eq!(kind, Interpolation::TransportedBezier, "patches of rows");
    }

    /// Sets the offsets so that the free points are exact at bind, in the arithmetic of the kernel.
    fn find_offsets(&mut self, surface: &ClusterSurface) {
        let frames = self.net.bind_frames();
        let bind = |point: u32| surface.positions[surface.vertex_of_point(point) as usize];
        for strand in &mut self.strands {
            strand.offset = bind(strand.point) - strand.at.at(&frames, self.options.tension).0;
        }
        let mut on_patch = vec![Vec3::ZERO; self.n_points];
        self.evaluate(&frames, &mut PatchWork::default(), &mut on_patch);
        for block in &mut self.blocks {
            for (lane, point) in block.points.into_iter().enumerate() {
                let offset = bind(point) - on_patch[point as usize].as_dvec3();
                block.set_offset(lane, offset);
            }
        }
    }

    /// A corner as the kernel reads it, of patches that are not rebuilt from normals.
    pub(crate) fn row_with_tangents(&self, corner: u32, frame: &CornerFrame) -> CornerRow {
        CornerRow::new(&self.planes[corner as usize], frame, false)
    }

    fn row(&self, corner: u32, frame: &CornerFrame) -> CornerRow {
        let by_normal = self.options.interpolation == Interpolation::PointNormal;
        CornerRow::new(&self.planes[corner as usize], frame, by_normal)
    }

    fn update_rows(&self, frames: &[CornerFrame], work: &mut PatchWork) {
        work.rows.resize(self.n_corners(), CornerRow::default());
        work.rows
            .par_chunks_mut(CORNERS_PER_TASK)
            .zip(frames.par_chunks(CORNERS_PER_TASK))
            .enumerate()
            .for_each(|(chunk, (rows, frames))| {
                for (i, (row, frame)) in rows.iter_mut().zip(frames).enumerate() {
                    *row = self.row((chunk * CORNERS_PER_TASK + i) as u32, frame);
                }
            });
    }

    /// Writes the points of all patches, or of those that are flagged, and in the first case of all strands.
    fn evaluate_tiles(&self, corners: Posed<'_>, flags: Option<&[bool]>, out: &mut [Vec3]) {
        // Of no patches at all: one tile, and none of its blocks.
        out.par_chunks_mut(self.tile.max(1))
            .enumerate()
            .for_each(|(tile, out)| {
                let start = (tile * self.tile) as u32;
                let blocks = self.of_tile.row(tile as u32).iter().copied();
                if let Some(flags) = flags {
                    let blocks = blocks.filter(|&b| {
                        let block = &self.blocks[b as usize];
                        (0..LANES).any(|lane| flags[block.patch(lane) as usize])
                    });
                    self.evaluate_blocks(corners, blocks, start, out);
                    return;
                }
                self.evaluate_blocks(corners, blocks, start, out);
                for &strand in self.strands_of_tile.row(tile as u32) {
                    let point = self.strands[strand as usize].point;
                    out[(point - start) as usize] = self.on_strand(strand, corners);
                }
            });
    }

    /// Writes those points of some blocks that lie in a run of points.
    fn evaluate_blocks(
        &self,
        corners: Posed<'_>,
        blocks: impl Iterator<Item = u32>,
        start: u32,
        out: &mut [Vec3],
    ) {
        let kind = self.options.interpolation;
        let mut last: Option<(u32, [CornerFrame; 3], Patch)> = None;
        let mut exactly = |block: u32, lane: usize, out: &mut [Vec3]| {
            let block = &self.blocks[block as usize];
            let patch = block.patch(lane);
            let known = last.take().filter(|(known, ..)| *known == patch);
            let (_, own, shape) = last.insert(known.unwrap_or_else(|| {
                let own = self.net.triangles[patch as usize].map(|c| corners.frame(c, &self.net));
                (patch, own, self.net.patch_between(patch, &own, kind))
            }));
            let (u, offset) = (block.barycentric(lane), block.offset(lane));
            let place = shape.at(u) + rotation_between(own, u) * offset;
            block.write(lane, place.as_vec3(), start, out);
        };
        if kind == Interpolation::Gregory {
            blocks.for_each(|block| (0..LANES).for_each(|lane| exactly(block, lane, out)));
            return;
        }
        let cubic = Cubic {
            groups: &self.groups,
            blocks: &self.blocks,
            rows: corners.rows,
            by_normal: kind == Interpolation::PointNormal,
        };
        cubic.evaluate(blocks, start, out, &mut exactly);
    }

    fn on_strand(&self, index: u32, corners: Posed<'_>) -> Vec3 {
        let Strand { at, offset, .. } = &self.strands[index as usize];
        let frames = corners.frames.expect("strands are evaluated on frames");
        let (place, rotation) = at.at(frames, self.options.tension);
        (place + rotation * *offset).as_vec3()
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
