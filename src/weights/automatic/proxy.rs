//! A coarse copy of the inside of a mesh, on which large systems are solved.
//!
//! Blocks of cells become nodes, one for each connected part of the block: a node never spans two fingers. A node's
//! volume and its faces with others are the sums over its cells (a finite volume discretisation).

use super::solid::Solid;
use super::welded_surface::WeldedSurface;
use crate::math::{DisjointSets, Symmetric};
use glam::Vec3;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Radius of a node's interpolation kernel, in blocks.
const RADIUS: f32 = 2.2;

/// Minimum volume of a node as a fraction of a block: keeps slivers from dominating.
const MIN_VOLUME: f64 = 0.1;

/// The nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Proxy {
    /// n_cells of the grid: the node of each.
    pub(crate) node_of_cell: Vec<u32>,
    /// n_nodes: centre.
    pub(crate) centres: Vec<Vec3>,
    /// n_nodes: volume as a fraction of a full block.
    pub(crate) volumes: Vec<f64>,
    /// (a, b, area as a fraction of a full face), a < b, ascending.
    pub(crate) faces: Vec<(u32, u32, f64)>,
    /// n_nodes: the nodes joined to each, ascending.
    joined: Vec<Vec<u32>>,
    /// Length of a block's edge, metres.
    pub(crate) block: f32,
}

impl Proxy {
    /// Blocks of `side` cells.
    pub(crate) fn new(solid: &Solid, side: usize) -> Self {
        let grid = &solid.grid;
        let n = grid.n_nodes();
        let block = |cell: [usize; 3]| cell.map(|x| x / side);
        let mut nodes = DisjointSets::new(n);
        let mut across = Vec::new();
        for node in 0..n as u32 {
            let cell = grid.coordinates(grid.cells[node as usize]);
            for axis in 0..3 {
                if !grid.is_open(cell, axis, true) {
                    continue;
                }
                let Some(next) = grid.beside(cell, axis, true) else {
                    continue;
                };
                let Some(other) = grid.node(next) else {
                    continue;
                };
                if block(cell) == block(next) {
                    nodes.join(node, other);
                } else {
                    across.push((node, other));
                }
            }
        }
        let (n_nodes, node_of_cell) = nodes.numbers();
        let mut proxy = Self {
            node_of_cell,
            centres: vec![Vec3::ZERO; n_nodes],
            volumes: vec![0.0; n_nodes],
            block: grid.cell * side as f32,
            ..Self::default()
        };
        let full = (side * side * side) as f64;
        for (cell, &node) in proxy.node_of_cell.iter().enumerate() {
            proxy.centres[node as usize] += grid.centre_of_node(cell as u32);
            proxy.volumes[node as usize] += 1.0;
        }
        for (centre, volume) in proxy.centres.iter_mut().zip(&mut proxy.volumes) {
            *centre /= *volume as f32;
            *volume = (*volume / full).max(MIN_VOLUME);
        }
        proxy.gather_faces(across, side);
        proxy
    }

    fn gather_faces(&mut self, across: Vec<(u32, u32)>, side: usize) {
        let share = 1.0 / (side * side) as f64;
        let mut faces: Vec<(u32, u32, f64)> = across
            .into_iter()
            .map(|(a, b)| {
                let (a, b) = (self.node_of_cell[a as usize], self.node_of_cell[b as usize]);
                (a.min(b), a.max(b), share)
            })
            .collect();
        faces.sort_by_key(|f| (f.0, f.1));
        faces.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
        // The conductance of a face is inversely proportional to the distance of the centres.
        for face in &mut faces {
            let apart = self.centres[face.0 as usize].distance(self.centres[face.1 as usize]);
            face.2 *= f64::from(self.block / apart.max(0.3 * self.block));
        }
        self.joined = vec![Vec::new(); self.centres.len()];
        for &(a, b, _) in &faces {
            self.joined[a as usize].push(b);
            self.joined[b as usize].push(a);
        }
        for joined in &mut self.joined {
            joined.sort_unstable();
        }
        self.faces = faces;
    }

    /// Number of nodes.
    pub(crate) fn n(&self) -> usize {
        self.centres.len()
    }

    /// L M^-1 L: the energy of the Laplacian (Jacobson et al. 2011, equation 2), lengths in blocks.
    pub(crate) fn bilaplacian(&self) -> Symmetric {
        let laplacian = Symmetric::laplacian(&vec![0.0; self.n()], &self.faces);
        let inverse: Vec<f64> = self.volumes.iter().map(|v| 1.0 / v).collect();
        laplacian.squared(&inverse)
    }

    /// Mean number of steps from a node to the nearest constrained one (`held`); 1 if none is.
    pub(crate) fn mean_distance(&self, held: impl Fn(usize) -> bool) -> f64 {
        let mut seen: Vec<bool> = (0..self.n()).map(&held).collect();
        let mut front: Vec<u32> = (0..self.n() as u32).filter(|&n| seen[n as usize]).collect();
        let (mut sum, mut n, mut step) = (0.0, 0.0, 0.0);
        while !front.is_empty() {
            step += 1.0;
            let mut next = Vec::new();
            for node in front {
                for &other in &self.joined[node as usize] {
                    if !std::mem::replace(&mut seen[other as usize], true) {
                        next.push(other);
                        sum += step;
                        n += 1.0;
                    }
                }
            }
            front = next;
        }
        if n > 0.0 { sum / n } else { 1.0 }
    }
    /// n_positions: the node at which each position is interpolated; `None` if its patch is connected to no inside cell,
    /// not even over other patches.
    pub(crate) fn nodes_of_positions(
        &self,
        surface: &WeldedSurface,
        solid: &Solid,
    ) -> Vec<Option<u32>> {
        let n = solid.middles.len();
        let mut node_of_patch: Vec<Option<u32>> = vec![None; n];
        let mut open = BinaryHeap::new();
        for patch in 0..n as u32 {
            let p = solid.positions[patch as usize];
            let near = |&c: &u32| {
                (
                    solid.grid.centre_of_node(c).distance_squared(p).to_bits(),
                    c,
                )
            };
            if let Some(&cell) = solid.cells_of_patch(patch).iter().min_by_key(|c| near(c)) {
                open.push(Reverse((0u32, patch, self.node_of_cell[cell as usize])));
            }
        }
        while let Some(Reverse((bits, patch, node))) = open.pop() {
            if node_of_patch[patch as usize].is_some() {
                // Already settled: nearer, or with the lower node.
                continue;
            }
            node_of_patch[patch as usize] = Some(node);
            for &next in solid.patches_beside(patch) {
                if node_of_patch[next as usize].is_none() {
                    let step =
                        solid.positions[patch as usize].distance(solid.positions[next as usize]);
                    let way = f32::from_bits(bits) + step;
                    open.push(Reverse((way.to_bits(), next, node)));
                }
            }
        }
        let patches = solid.patch_of_position.iter();
        debug_assert_eq!(patches.len(), surface.n());
        patches
            .map(|&patch| node_of_patch[patch as usize])
            .collect()
    }

    /// The nodes within two steps of `node`, itself first: those that can contribute to a position there.
    pub(crate) fn around(&self, node: u32, around: &mut Vec<u32>) {
        around.clear();
        around.push(node);
        for _ in 0..2 {
            for i in 0..around.len() {
                let next = around[i];
                around.extend(&self.joined[next as usize]);
            }
            around[1..].sort_unstable();
            around.dedup();
            let mut is_first = true;
            around.retain(|&n| n != node || std::mem::take(&mut is_first));
        }
    }

    /// The kernel of a node at `p`: 1 at its centre, 0 beyond [`RADIUS`] blocks.
    pub(crate) fn kernel(&self, node: u32, p: Vec3) -> f32 {
        let r = self.centres[node as usize].distance(p) / (RADIUS * self.block);
        let near = (1.0 - r).max(0.0);
        // Wendland's function: smooth where it ends.
        near.powi(4) * (4.0 * r + 1.0) * self.volumes[node as usize] as f32
    }
}
