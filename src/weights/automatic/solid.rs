//! The inside of a mesh and its surface as one graph, in which distances from bones are measured.
//!
//! Nodes are the inside cells of the grid, then the patches: the connected positions of the surface within one cell.
//! Patches are joined along edges, and with the surrounding inside cells that are visible from them, so that open
//! sheets and parts thinner than a cell are reached over their surface.

use super::grid::Grid;
use super::heat::sees;
use super::welded_surface::WeldedSurface;
use crate::math::DisjointSets;
use crate::mesh::SurfaceIndex;
use crate::task::{Cancelled, Task};
use glam::Vec3;
use rayon::prelude::*;

/// Patches per task.
const PATCHES_PER_TASK: usize = 256;

/// The graph.
#[derive(Clone, Debug, Default)]
pub(crate) struct Solid {
    /// The grid.
    pub(crate) grid: Grid,
    /// n_positions: the patch of each.
    pub(crate) patch_of_position: Vec<u32>,
    /// n_patches: the position nearest to its centre.
    pub(crate) middles: Vec<u32>,
    /// n_patches: the coordinates of that position.
    pub(crate) positions: Vec<Vec3>,
    /// Inside cells visible from a patch, as nodes.
    cells: Links,
    /// Patches beside a patch.
    beside: Links,
    /// Patches from which an inside cell is visible: (cell's node, patch), ascending.
    patches_of_cell: Vec<(u32, u32)>,
}

/// Compressed rows.
#[derive(Clone, Debug, Default)]
struct Links {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Links {
    /// From (row, item), ascending.
    fn new(n: usize, pairs: &[(u32, u32)]) -> Self {
        let mut starts = vec![0; n + 1];
        for &(row, _) in pairs {
            starts[row as usize + 1] += 1;
        }
        for i in 0..n {
            starts[i + 1] += starts[i];
        }
        Self {
            starts,
            items: pairs.iter().map(|p| p.1).collect(),
        }
    }

    fn row(&self, row: u32) -> &[u32] {
        let range = self.starts[row as usize] as usize..self.starts[row as usize + 1] as usize;
        &self.items[range]
    }
}

impl Solid {
    /// The graph of a mesh, with `resolution` cells along the longest side of its bounds.
    pub(crate) fn new(
        surface: &WeldedSurface,
        index: &SurfaceIndex,
        resolution: u32,
        task: &Task,
    ) -> Result<Self, Cancelled> {
        let grid = Grid::new(surface, resolution, task)?;
        let mut solid = Self {
            grid,
            ..Self::default()
        };
        task.step("Connecting the surface to the voxels", 0.25)?;
        solid.gather_patches(surface);
        let runs: Vec<Vec<(u32, u32)>> = (0..solid.middles.len().div_ceil(PATCHES_PER_TASK))
            .into_par_iter()
            .map(|run| {
                let mut links = Vec::new();
                if task.is_cancelled() {
                    return links;
                }
                let last = ((run + 1) * PATCHES_PER_TASK).min(solid.middles.len());
                for patch in run * PATCHES_PER_TASK..last {
                    solid.link_cells(surface, index, patch as u32, &mut links);
                }
                links
            })
            .collect();
        task.check()?;
        let links = runs.concat();
        let mut patches_of_cell: Vec<(u32, u32)> = links.iter().map(|&(p, c)| (c, p)).collect();
        patches_of_cell.sort_unstable();
        solid.cells = Links::new(solid.middles.len(), &links);
        solid.patches_of_cell = patches_of_cell;
        Ok(solid)
    }

    /// Number of nodes: cells, then patches.
    pub(crate) fn n_nodes(&self) -> usize {
        self.grid.n_nodes() + self.middles.len()
    }

    /// The first patch's node.
    pub(crate) fn first_patch(&self) -> u32 {
        self.grid.n_nodes() as u32
    }

    /// The position of a node.
    pub(crate) fn position(&self, node: u32) -> Vec3 {
        match node.checked_sub(self.first_patch()) {
            Some(patch) => self.positions[patch as usize],
            None => self.grid.centre_of_node(node),
        }
    }

    /// The inside cells visible from a patch, as nodes.
    pub(crate) fn cells_of_patch(&self, patch: u32) -> &[u32] {
        self.cells.row(patch)
    }

    /// The patches beside a patch.
    pub(crate) fn patches_beside(&self, patch: u32) -> &[u32] {
        self.beside.row(patch)
    }

    /// Calls `visit` with each node joined to `node`.
    pub(crate) fn each_neighbour(&self, node: u32, mut visit: impl FnMut(u32)) {
        let first_patch = self.first_patch();
        if let Some(patch) = node.checked_sub(first_patch) {
            self.cells.row(patch).iter().for_each(|&c| visit(c));
            self.beside
                .row(patch)
                .iter()
                .for_each(|&p| visit(first_patch + p));
            return;
        }
        let cell = self.grid.coordinates(self.grid.cells[node as usize]);
        for axis in 0..3 {
            for forward in [false, true] {
                if self.grid.is_open(cell, axis, forward)
                    && let Some(beside) = self.grid.beside(cell, axis, forward)
                    && let Some(next) = self.grid.node(beside)
                {
                    visit(next);
                }
            }
        }
        let start = self.patches_of_cell.partition_point(|l| l.0 < node);
        let links = self.patches_of_cell[start..].iter();
        links
            .take_while(|l| l.0 == node)
            .for_each(|l| visit(first_patch + l.1));
    }

    /// Joins the connected positions of each cell to patches.
    fn gather_patches(&mut self, surface: &WeldedSurface) {
        let n = surface.n();
        let cell_of: Vec<[u16; 3]> = surface
            .positions
            .iter()
            .map(|&p| self.grid.cell_of(p).unwrap_or_default().map(|x| x as u16))
            .collect();
        let mut patches = DisjointSets::new(n);
        for position in 0..n as u32 {
            for &q in surface.neighbours(position) {
                if q > position && cell_of[q as usize] == cell_of[position as usize] {
                    patches.join(position, q);
                }
            }
        }
        let (n_patches, patch_of_position) = patches.numbers();
        self.patch_of_position = patch_of_position;
        let mut sums = vec![(Vec3::ZERO, 0.0); n_patches];
        for (&patch, &position) in self.patch_of_position.iter().zip(&surface.positions) {
            let sum = &mut sums[patch as usize];
            sum.0 += position;
            sum.1 += 1.0;
        }
        let mut best = vec![(f32::INFINITY, 0u32); sums.len()];
        for position in 0..n as u32 {
            let patch = self.patch_of_position[position as usize] as usize;
            let middle = sums[patch].0 / sums[patch].1;
            let distance = middle.distance_squared(surface.positions[position as usize]);
            if distance < best[patch].0 {
                best[patch] = (distance, position);
            }
        }
        self.middles = best.into_iter().map(|b| b.1).collect();
        self.positions = self
            .middles
            .iter()
            .map(|&m| surface.positions[m as usize])
            .collect();
        let mut pairs = Vec::new();
        for position in 0..n as u32 {
            let patch = self.patch_of_position[position as usize];
            for &q in surface.neighbours(position) {
                let other = self.patch_of_position[q as usize];
                if other != patch {
                    pairs.push((patch, other));
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        self.beside = Links::new(self.middles.len(), &pairs);
    }

    /// The inside cells in and around the cell of a patch that are visible from its centre.
    fn link_cells(
        &self,
        surface: &WeldedSurface,
        index: &SurfaceIndex,
        patch: u32,
        links: &mut Vec<(u32, u32)>,
    ) {
        let position = self.middles[patch as usize] as usize;
        let p = surface.positions[position];
        let Some(cell) = self.grid.cell_of(p) else {
            return;
        };
        let first = links.len();
        for z in cell[2].saturating_sub(1)..=cell[2] + 1 {
            for y in cell[1].saturating_sub(1)..=cell[1] + 1 {
                for x in cell[0].saturating_sub(1)..=cell[0] + 1 {
                    let Some(node) = self.grid.node([x, y, z]) else {
                        continue;
                    };
                    let centre = self.grid.centre([x, y, z]);
                    if sees(surface, index, position, p, centre) {
                        links.push((patch, node));
                    }
                }
            }
        }
        links[first..].sort_unstable();
    }
}
