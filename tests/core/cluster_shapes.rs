//! The surfaces of the tests of clusters: the arm of the shared fixtures, and generated ones.

use crate::npy::read_npy;
use crate::shared::shared_dir;
use glam::DVec3;
use sinew::cluster::ClusterSurface;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::f64::consts::TAU;
use std::path::PathBuf;

/// The irregular arm of `fixtures/bumpy_arm`.
pub(crate) struct Arm {
    folder: PathBuf,
    pub(crate) surface: ClusterSurface,
    /// n_vertices weights of the lower bone.
    pub(crate) lower: Vec<f64>,
}

/// The limb radius of both test limbs, metres.
pub(crate) const RADIUS: f64 = 0.5;

impl Arm {
    /// `None` without the shared test data.
    pub(crate) fn load(test: &str) -> Option<Self> {
        let folder = shared_dir(test)?.join("fixtures/bumpy_arm");
        let positions = vectors(&read_npy(&folder.join("positions.npy")).1);
        let triangles = triples(&read_npy(&folder.join("triangles.npy")).1);
        let weights = read_npy(&folder.join("weights.npy")).1;
        Some(Self {
            surface: ClusterSurface::from_triangles(positions, &triangles),
            lower: weights.chunks(2).map(|w| w[1]).collect(),
            folder,
        })
    }

    /// The vertices of a cluster set: "05", "10" or "20" per cent.
    pub(crate) fn clusters(&self, percent: &str) -> Vec<bool> {
        let (_, vertices) = read_npy(&self.folder.join(format!("clusters_{percent}.npy")));
        self.marked(vertices.into_iter().map(|v| v as usize))
    }

    /// The vertex from which the fixture's clusters are [`farthest`] from each other.
    pub(crate) const FIRST: usize = 3111;

    /// The vertices of a cluster set in the order in which they were chosen.
    pub(crate) fn ordered(&self, percent: &str) -> Vec<usize> {
        let (_, vertices) = read_npy(&self.folder.join(format!("clusters_{percent}.npy")));
        vertices.into_iter().map(|v| v as usize).collect()
    }

    /// Marks some vertices.
    pub(crate) fn marked(&self, vertices: impl IntoIterator<Item = usize>) -> Vec<bool> {
        marked(self.surface.n_vertices(), vertices)
    }

    /// Positions of the reference: `expected_…`.
    pub(crate) fn expected(&self, name: &str) -> Vec<DVec3> {
        vectors(&read_npy(&self.folder.join(format!("expected_{name}.npy"))).1)
    }

    /// The reference's coarse triangles.
    pub(crate) fn layout_triangles(&self, percent: &str) -> Vec<[u32; 3]> {
        triples(&read_npy(&self.folder.join(format!("layout_triangles_{percent}.npy"))).1)
    }
}

fn vectors(values: &[f64]) -> Vec<DVec3> {
    values.chunks(3).map(DVec3::from_slice).collect()
}

fn triples(values: &[f64]) -> Vec<[u32; 3]> {
    let triple = |t: &[f64]| [t[0] as u32, t[1] as u32, t[2] as u32];
    values.chunks(3).map(triple).collect()
}

/// n flags, some of them set.
pub(crate) fn marked(n: usize, vertices: impl IntoIterator<Item = usize>) -> Vec<bool> {
    let mut marked = vec![false; n];
    for v in vertices {
        marked[v] = true;
    }
    marked
}

/// The first `n` vertices from `first` on, each the farthest from those before along the edges; of equals the first.
pub(crate) fn farthest(surface: &ClusterSurface, first: usize, n: usize) -> Vec<usize> {
    let mut rings = vec![Vec::new(); surface.n_vertices()];
    for &[a, b, c] in &surface.triangles {
        for (i, j) in [(a, b), (b, c), (c, a)].map(|(i, j)| (i as usize, j as usize)) {
            let length = surface.positions[i].distance(surface.positions[j]);
            rings[i].push((j, length));
            rings[j].push((i, length));
        }
    }
    let mut far = vec![f64::INFINITY; rings.len()];
    let mut chosen = Vec::with_capacity(n);
    let mut next = first;
    while chosen.len() < n {
        chosen.push(next);
        far[next] = 0.0;
        // Distances are not negative: their bits are in the same order.
        let mut open = BinaryHeap::from([Reverse((0, next))]);
        while let Some(Reverse((bits, v))) = open.pop() {
            if f64::from_bits(bits) > far[v] {
                continue;
            }
            for &(w, length) in &rings[v] {
                let distance = far[v] + length;
                if distance < far[w] {
                    far[w] = distance;
                    open.push(Reverse((distance.to_bits(), w)));
                }
            }
        }
        let others = (0..far.len()).rev();
        next = others
            .max_by(|&a, &b| far[a].total_cmp(&far[b]))
            .unwrap_or(first);
    }
    chosen
}

/// A deterministic sequence of numbers below `n`.
pub(crate) fn numbers(seed: u64, n: usize) -> impl Iterator<Item = usize> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        // SplitMix64 (Steele, Lea & Flood 2014).
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    })
}

/// A tube around z of `rows` rings of `columns` vertices, open at both ends, from `-length / 2` to `length / 2`.
pub(crate) fn tube(columns: usize, rows: usize, radius: f64, length: f64) -> ClusterSurface {
    let mut positions = Vec::new();
    for (row, column) in grid(columns, rows) {
        let angle = TAU * column as f64 / columns as f64;
        let z = length * (row as f64 / (rows - 1) as f64 - 0.5);
        positions.push(DVec3::new(radius * angle.cos(), radius * angle.sin(), z));
    }
    let mut triangles = Vec::new();
    for (row, column) in grid(columns, rows - 1) {
        quad(&mut triangles, columns, row, column, row + 1);
    }
    ClusterSurface::from_triangles(positions, &triangles)
}

/// A flat sheet of `n` x `n` vertices, 1 wide.
pub(crate) fn sheet(n: usize) -> ClusterSurface {
    let place = |(i, j): (usize, usize)| DVec3::new(j as f64, i as f64, 0.0) / (n - 1) as f64;
    let mut triangles = Vec::new();
    for (row, column) in grid(n - 1, n - 1) {
        quad(&mut triangles, n, row, column, row + 1);
    }
    ClusterSurface::from_triangles(grid(n, n).map(place).collect(), &triangles)
}

/// A torus around z.
pub(crate) fn torus(columns: usize, rows: usize) -> ClusterSurface {
    let mut positions = Vec::new();
    for (row, column) in grid(columns, rows) {
        let (u, v) = (
            TAU * row as f64 / rows as f64,
            TAU * column as f64 / columns as f64,
        );
        let radius = 1.0 + 0.4 * v.cos();
        positions.push(DVec3::new(
            radius * u.cos(),
            radius * u.sin(),
            0.4 * v.sin(),
        ));
    }
    let mut triangles = Vec::new();
    for (row, column) in grid(columns, rows) {
        quad(&mut triangles, columns, row, column, (row + 1) % rows);
    }
    ClusterSurface::from_triangles(positions, &triangles)
}

/// A unit sphere of `rows` rings between two poles, which are the last vertices.
pub(crate) fn sphere(columns: usize, rows: usize) -> ClusterSurface {
    let mut positions = Vec::new();
    for (row, column) in grid(columns, rows) {
        let angle = TAU * column as f64 / columns as f64;
        let (sin, cos) = (TAU / 2.0 * (row + 1) as f64 / (rows + 1) as f64).sin_cos();
        positions.push(DVec3::new(sin * angle.cos(), sin * angle.sin(), -cos));
    }
    let mut triangles = Vec::new();
    for (row, column) in grid(columns, rows - 1) {
        quad(&mut triangles, columns, row, column, row + 1);
    }
    let (south, north) = ((columns * rows) as u32, (columns * rows) as u32 + 1);
    positions.extend([-DVec3::Z, DVec3::Z]);
    for c in 0..columns as u32 {
        let (n, last) = (columns as u32, (columns * (rows - 1)) as u32);
        triangles.push([south, (c + 1) % n, c]);
        triangles.push([north, last + c, last + (c + 1) % n]);
    }
    ClusterSurface::from_triangles(positions, &triangles)
}

/// A box whose sides are grids of `n` x `n` squares, closed.
pub(crate) fn cube(n: usize) -> ClusterSurface {
    let mut numbers = std::collections::BTreeMap::new();
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    for side in 0..6 {
        let axis = side / 2;
        let mut at = |i: usize, j: usize| {
            let mut p = [0; 3];
            p[axis] = n * (side % 2);
            p[(axis + 1) % 3] = i;
            p[(axis + 2) % 3] = j;
            *numbers.entry(p).or_insert_with(|| {
                positions.push(DVec3::from_array(p.map(|v| v as f64)) / n as f64);
                positions.len() as u32 - 1
            })
        };
        for (i, j) in grid(n, n) {
            let mut q = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            if side % 2 == 0 {
                q.reverse();
            }
            triangles.extend([[q[0], q[1], q[2]], [q[0], q[2], q[3]]]);
        }
    }
    ClusterSurface::from_triangles(positions, &triangles)
}

/// One surface of both, the vertices of the second after those of the first.
pub(crate) fn both(a: &ClusterSurface, b: &ClusterSurface, offset: DVec3) -> ClusterSurface {
    let n = a.n_vertices() as u32;
    let moved = b.positions.iter().map(|p| *p + offset);
    let positions = a.positions.iter().copied().chain(moved).collect();
    let second = b.triangles.iter().map(|t| t.map(|v| v + n));
    let triangles: Vec<[u32; 3]> = a.triangles.iter().copied().chain(second).collect();
    ClusterSurface::from_triangles(positions, &triangles)
}

fn grid(columns: usize, rows: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..rows * columns).map(move |i| (i / columns, i % columns))
}

fn quad(triangles: &mut Vec<[u32; 3]>, columns: usize, row: usize, column: usize, above: usize) {
    let at = |row: usize, column: usize| (row * columns + column % columns) as u32;
    let (a, b) = (at(row, column), at(row, column + 1));
    let (c, d) = (at(above, column + 1), at(above, column));
    triangles.extend([[a, b, c], [a, c, d]]);
}
