//! The inside of a mesh as voxels, and which neighbouring voxels are connected.
//!
//! Along each line of cell centres the crossings with the surface are sorted, as Dionne and de Lasa 2013 (section 3.1)
//! do with slices drawn on a graphics card: a cell is inside if most of the three lines through its centre agree.
//! Beyond the paper, two neighbouring cells are connected only if no outside lies between their centres: fingers closer
//! than a cell stay apart.

use super::welded_surface::WeldedSurface;
use crate::task::{Cancelled, Task};
use glam::{DVec3, Vec3};
use rayon::prelude::*;

/// Maximum number of cells in the bounding box: finer grids cost more memory than they gain.
const MAX_CELLS: f64 = 1.4e8;

const INSIDE: u8 = 1;
/// One bit for each axis: the next cell along it is connected with this one.
const OPEN: [u8; 3] = [2, 4, 8];

/// Cells over the bounds of a mesh.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grid {
    /// Length of a cell's edge, metres.
    pub(crate) cell: f32,
    /// Number of cells along x, y, z.
    pub(crate) dims: [usize; 3],
    origin: DVec3,
    flags: Vec<u8>,
    /// One bit per cell: inside; and the number of inside cells before each word.
    words: Vec<u64>,
    ranks: Vec<u32>,
    /// Indices of the inside cells, ascending: nodes.
    pub(crate) cells: Vec<u32>,
}

/// Where a line of cell centres meets the surface.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Crossing {
    line: u32,
    /// In cells along the line; a centre is at a whole number.
    at: f32,
    /// 1 into the mesh, -1 out of it, as the triangle is wound.
    sign: i8,
}

impl Grid {
    /// Cells such that the longest side of the bounds has `resolution` of them, plus one on every side.
    pub(crate) fn new(
        surface: &WeldedSurface,
        resolution: u32,
        task: &Task,
    ) -> Result<Self, Cancelled> {
        let (low, high) = surface.bounds();
        let (low, high) = (low.as_dvec3(), high.as_dvec3());
        let size = high - low;
        let longest = size.max_element();
        if longest <= 0.0 || !longest.is_finite() {
            return Ok(Self::default());
        }
        let mut cell = longest / f64::from(resolution.max(1));
        let count = |cell: f64| (size / cell).ceil() + 2.0;
        while count(cell).element_product() > MAX_CELLS {
            cell *= 1.05;
        }
        let dims = count(cell);
        let mut grid = Self {
            cell: cell as f32,
            dims: dims.to_array().map(|n| n as usize),
            // Centred, so that the cells of a symmetric mesh are symmetric.
            origin: (low + high) * 0.5 - dims * (cell * 0.5),
            ..Self::default()
        };
        grid.flags = vec![0; grid.dims.iter().product()];
        grid.fill(surface, task)?;
        Ok(grid)
    }

    /// Number of inside cells.
    pub(crate) fn n_nodes(&self) -> usize {
        self.cells.len()
    }

    /// The cell that contains `p`.
    pub(crate) fn cell_of(&self, p: Vec3) -> Option<[usize; 3]> {
        let at = (p.as_dvec3() - self.origin) / f64::from(self.cell);
        let cell = at.floor().to_array();
        let within = (0..3).all(|a| cell[a] >= 0.0 && cell[a] < self.dims[a] as f64);
        within.then(|| cell.map(|x| x as usize))
    }

    /// The centre of a cell.
    pub(crate) fn centre(&self, cell: [usize; 3]) -> Vec3 {
        let at = DVec3::from_array(cell.map(|x| x as f64 + 0.5));
        (self.origin + at * f64::from(self.cell)).as_vec3()
    }

    fn index(&self, [x, y, z]: [usize; 3]) -> usize {
        x + self.dims[0] * (y + self.dims[1] * z)
    }

    /// The coordinates of a cell of [`Grid::cells`].
    pub(crate) fn coordinates(&self, index: u32) -> [usize; 3] {
        let index = index as usize;
        let (nx, ny) = (self.dims[0], self.dims[1]);
        [index % nx, index / nx % ny, index / (nx * ny)]
    }

    /// The centre of a node.
    pub(crate) fn centre_of_node(&self, node: u32) -> Vec3 {
        self.centre(self.coordinates(self.cells[node as usize]))
    }

    /// The index of an inside cell among all inside cells.
    pub(crate) fn node(&self, cell: [usize; 3]) -> Option<u32> {
        if (0..3).any(|a| cell[a] >= self.dims[a]) {
            return None;
        }
        let index = self.index(cell);
        let (word, bit) = (self.words[index / 64], index % 64);
        (word >> bit & 1 == 1)
            .then(|| self.ranks[index / 64] + (word & ((1 << bit) - 1)).count_ones())
    }

    /// The cell beside one, within the grid.
    pub(crate) fn beside(
        &self,
        cell: [usize; 3],
        axis: usize,
        forward: bool,
    ) -> Option<[usize; 3]> {
        let mut next = cell;
        next[axis] = if forward {
            cell[axis] + 1
        } else {
            cell[axis].checked_sub(1)?
        };
        (next[axis] < self.dims[axis]).then_some(next)
    }

    /// Whether a cell and the next one in that direction are inside and connected.
    pub(crate) fn is_open(&self, cell: [usize; 3], axis: usize, forward: bool) -> bool {
        let from = if forward {
            cell
        } else {
            match self.beside(cell, axis, false) {
                Some(before) => before,
                None => return false,
            }
        };
        self.flags[self.index(from)] & OPEN[axis] != 0
    }

    /// The last inside cell that the straight line from `p` passes before `to`, and the axis and direction of that
    /// step.
    pub(crate) fn before(&self, p: Vec3, to: [usize; 3]) -> Option<(u32, usize, bool)> {
        let offset = self.centre(to) - p;
        // All planes around a cell are half a cell from its centre: the steepest one is met last.
        let length = offset.abs();
        let axis = (0..3).fold(0, |best, a| if length[a] > length[best] { a } else { best });
        if length[axis] < 0.5 * self.cell {
            return None;
        }
        let forward = offset[axis] > 0.0;
        let before = self.beside(to, axis, !forward)?;
        Some((self.node(before)?, axis, forward))
    }
    /// Whether the straight line from `p` to the inside cell `to` stays in connected cells. The first cell may be outside:
    /// a bone's end often is, by less than a cell.
    pub(crate) fn is_straight(&self, p: Vec3, to: [usize; 3]) -> bool {
        let Some(mut cell) = self.cell_of(p) else {
            return false;
        };
        let target = self.centre(to);
        let offset = target - p;
        let size = self.cell;
        // The parameter at which the line meets the next plane between cells, for each axis (Amanatides and Woo 1987).
        let mut next = [f32::INFINITY; 3];
        let mut step = [f32::INFINITY; 3];
        for axis in 0..3 {
            if offset[axis] != 0.0 {
                let middle = self.centre(cell)[axis];
                let plane = middle + 0.5 * size * offset[axis].signum();
                next[axis] = (plane - p[axis]) / offset[axis];
                step[axis] = size / offset[axis].abs();
            }
        }
        let mut is_first = self.node(cell).is_none();
        let most: usize = (0..3).map(|a| cell[a].abs_diff(to[a])).sum();
        for _ in 0..most {
            let axis = (0..3)
                .filter(|&a| cell[a] != to[a])
                .min_by(|&a, &b| next[a].total_cmp(&next[b]));
            let Some(axis) = axis else { break };
            let forward = to[axis] > cell[axis];
            if !self.is_open(cell, axis, forward) && !is_first {
                return false;
            }
            let Some(beside) = self.beside(cell, axis, forward) else {
                return false;
            };
            cell = beside;
            if is_first && self.node(cell).is_none() {
                return false;
            }
            is_first = false;
            next[axis] += step[axis];
        }
        cell == to && self.node(to).is_some()
    }

    /// Finds the inside cells and their connections.
    fn fill(&mut self, surface: &WeldedSurface, task: &Task) -> Result<(), Cancelled> {
        task.step("Voxelizing the mesh", 0.1)?;
        let crossings: Vec<Vec<Crossing>> = (0..3)
            .into_par_iter()
            .map(|axis| self.crossings(surface, axis, task))
            .collect();
        task.check()?;
        // Two bits count the votes for inside, two the valid lines.
        for (axis, crossings) in crossings.iter().enumerate() {
            self.vote(axis, crossings);
            task.check()?;
        }
        for vote in &mut self.flags {
            let (inside, known) = (*vote & 3, *vote >> 2);
            *vote = u8::from(2 * inside > known);
        }
        task.step("Voxelizing the mesh", 0.2)?;
        self.words = self
            .flags
            .par_chunks(64)
            .map(|chunk| {
                let bits = chunk.iter().enumerate();
                bits.fold(0, |word, (i, &f)| word | u64::from(f & INSIDE) << i)
            })
            .collect();
        let mut n = 0;
        self.ranks = self
            .words
            .iter()
            .map(|w| {
                let before = n;
                n += w.count_ones();
                before
            })
            .collect();
        self.cells = Vec::with_capacity(n as usize);
        for (i, &word) in self.words.iter().enumerate() {
            let mut word = word;
            while word != 0 {
                self.cells.push(i as u32 * 64 + word.trailing_zeros());
                word &= word - 1;
            }
        }
        for (axis, crossings) in crossings.iter().enumerate() {
            self.join(axis, crossings);
            task.check()?;
        }
        Ok(())
    }

    /// All crossings of the lines along `axis`, by line and position.
    fn crossings(&self, surface: &WeldedSurface, axis: usize, task: &Task) -> Vec<Crossing> {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let n_u = self.dims[u];
        let mut crossings = Vec::new();
        for (t, triangle) in surface.triangles.iter().enumerate() {
            if t % 4096 == 0 && task.is_cancelled() {
                break;
            }
            // In cells, centres at whole numbers.
            let corners = triangle.map(|p| {
                let p = surface.positions[p as usize].as_dvec3();
                (p - self.origin) / f64::from(self.cell) - 0.5
            });
            let (low, high) = (
                corners[0].min(corners[1]).min(corners[2]),
                corners[0].max(corners[1]).max(corners[2]),
            );
            let first = |x: f64| x.ceil().max(0.0) as usize;
            let last = |x: f64, n: usize| x.floor().clamp(-1.0, n as f64 - 1.0);
            let (last_u, last_v) = (last(high[u], n_u), last(high[v], self.dims[v]));
            if last_u < 0.0 || last_v < 0.0 {
                continue;
            }
            for j in first(low[v])..=last_v as usize {
                for i in first(low[u])..=last_u as usize {
                    let Some((at, sign)) = cross(corners, [u, v, axis], [i as f64, j as f64])
                    else {
                        continue;
                    };
                    let line = (i + n_u * j) as u32;
                    crossings.push(Crossing { line, at, sign });
                }
            }
        }
        crossings.sort_by(|a, b| {
            a.line
                .cmp(&b.line)
                .then(a.at.total_cmp(&b.at))
                .then(b.sign.cmp(&a.sign))
        });
        crossings
    }

    /// The cell at `k` along `axis` on a line.
    fn cell_on_line(&self, axis: usize, line: u32, k: usize) -> [usize; 3] {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let mut cell = [0; 3];
        cell[axis] = k;
        cell[u] = line as usize % self.dims[u];
        cell[v] = line as usize / self.dims[u];
        cell
    }

    /// Each line votes for the centres on it that are inside; a line that does not leave as often as it enters is
    /// invalid.
    fn vote(&mut self, axis: usize, crossings: &[Crossing]) {
        let mut lines = crossings.chunk_by(|a, b| a.line == b.line).peekable();
        let n_lines = self.dims[(axis + 1) % 3] * self.dims[(axis + 2) % 3];
        for line in 0..n_lines as u32 {
            let on_line = lines.next_if(|l| l[0].line == line).unwrap_or_default();
            if on_line.iter().map(|c| i32::from(c.sign)).sum::<i32>() != 0 {
                continue;
            }
            let (mut winding, mut next) = (0, 0);
            for k in 0..self.dims[axis] {
                while let Some(c) = on_line.get(next).filter(|c| c.at < k as f32) {
                    winding += i32::from(c.sign);
                    next += 1;
                }
                let index = self.index(self.cell_on_line(axis, line, k));
                self.flags[index] += 4 + u8::from(winding != 0);
            }
        }
    }
    /// Stores which inside cells are connected along `axis`: no surface lies between their centres, or only a surface with
    /// inside on both sides (the inner side of a shirt or a belt).
    fn join(&mut self, axis: usize, crossings: &[Crossing]) {
        let mut lines = crossings.chunk_by(|a, b| a.line == b.line).peekable();
        let n_lines = self.dims[(axis + 1) % 3] * self.dims[(axis + 2) % 3];
        for line in 0..n_lines as u32 {
            let on_line = lines.next_if(|l| l[0].line == line).unwrap_or_default();
            let is_known = on_line.iter().map(|c| i32::from(c.sign)).sum::<i32>() == 0;
            let (mut winding, mut next) = (0, 0);
            let mut before = None;
            for k in 0..self.dims[axis] {
                let mut is_crossed = false;
                let mut is_outside = winding == 0;
                while let Some(c) = on_line.get(next).filter(|c| c.at < k as f32) {
                    winding += i32::from(c.sign);
                    is_crossed = true;
                    is_outside |= winding == 0;
                    next += 1;
                }
                let index = self.index(self.cell_on_line(axis, line, k));
                let is_inside = self.flags[index] & INSIDE != 0;
                if let Some(previous) = before.filter(|_| is_inside)
                    && (!is_crossed || (is_known && !is_outside))
                {
                    let flags: &mut u8 = &mut self.flags[previous];
                    *flags |= OPEN[axis];
                }
                before = is_inside.then_some(index);
            }
        }
    }
}

/// Where the line at `at` of the coordinates (u, v) along axis w crosses a triangle, and in which direction.
///
/// Neighbouring triangles test their common edge with the same numbers; a line exactly on an edge or corner is treated
/// as if moved by an infinitesimal: a closed surface has no gaps and no double walls.
fn cross(corners: [DVec3; 3], [u, v, w]: [usize; 3], at: [f64; 2]) -> Option<(f32, i8)> {
    let side = |p: DVec3, q: DVec3| {
        let swapped = (q[u], q[v]) < (p[u], p[v]);
        let (a, b) = if swapped { (q, p) } else { (p, q) };
        let area = (b[u] - a[u]) * (at[1] - a[v]) - (b[v] - a[v]) * (at[0] - a[u]);
        let is_left = (area >= 0.0) != swapped;
        (is_left, if swapped { -area } else { area })
    };
    let [a, b, c] = corners;
    let (ab, bc, ca) = (side(a, b), side(b, c), side(c, a));
    if ab.0 != bc.0 || bc.0 != ca.0 {
        return None;
    }
    let total = ab.1 + bc.1 + ca.1;
    let position = if total == 0.0 {
        (a[w] + b[w] + c[w]) / 3.0
    } else {
        (a[w] * bc.1 + b[w] * ca.1 + c[w] * ab.1) / total
    };
    // Counter-clockwise seen from the far end: the normal points along the line, out of the mesh.
    Some((position as f32, if ab.0 { -1 } else { 1 }))
}
