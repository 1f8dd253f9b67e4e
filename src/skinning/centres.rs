//! Optimised centres of rotation, computed once for a mesh and its weights (Le & Hodgins 2016).
//!
//! The centre of a point is the mean of the surface, weighted by the similarity of its weights with those of the point:
//! `p* = sum s(w, w_t) a_t c_t / sum s(w, w_t) a_t` over triangles t of area a, centroid c and mean weights w_t. The
//! similarity is a sum over pairs of joints, so the surface is binned pair by pair, by the roots of the two weights
//! rounded to 1/96: some hundred bins a pair, however many triangles and joints there are. Roots, because for a
//! point with a small second weight only small weights matter: the error is then a fiftieth of that of weights rounded
//! to 1/64.

use super::influences::{Influences, RowRef, Rows};
use crate::mesh::{Mesh, PointSet};
use crate::task::{Cancelled, Task};
use glam::{DVec3, Vec3};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use wide::f32x8;

/// The sigma of the similarity of two sets of weights.
pub const SIGMA: f64 = 0.1;

/// A triangle whose weights differ by more than this is sampled in several places.
const SPLIT: f32 = 0.1;

/// Bins for the root of a weight between 0 and 1.
const LEVELS: usize = 96;

/// The largest number of samples along an edge of a triangle: weights differ by at most sqrt(2).
const MOST_SAMPLES: usize = 15;

/// Triangles in one partial sum.
const TRIANGLES_PER_PART: usize = 16384;

/// Parts of the work between two checks of the task: short, so that skinning on the same threads does not wait.
const PARTS_AT_ONCE: usize = 8;

/// Sums of similarities below this count as 0.
const NOTHING: f64 = 1e-30;

/// Progress texts while the surface is binned, and while centres are computed.
const STEPS: [&str; 2] = ["sorting the surface by weights", "finding centres"];

/// The similarity of the weights of two points of the surface: `sum over j != k of p_j p_k v_j v_k exp(-((p_j v_k - p_k
/// v_j) / sigma)^2)`.
///
/// Source: Le & Hodgins 2016, eq. 2; ordered pairs, so that each unordered one counts twice.
pub fn similarity(p: RowRef<'_>, v: RowRef<'_>) -> f64 {
    let weights = |row: RowRef<'_>, j: u16, k: u16| {
        (f64::from(row.weight_of(j)), f64::from(row.weight_of(k)))
    };
    let mut sum = 0.0;
    for (i, &j) in p.joints.iter().enumerate() {
        for &k in &p.joints[i + 1..] {
            let ((pj, pk), (vj, vk)) = (weights(p, j, k), weights(v, j, k));
            let apart = (pj * vk - pk * vj) / SIGMA;
            sum += 2.0 * pj * pk * vj * vk * (-apart * apart).exp();
        }
    }
    sum
}

/// The centres of rotation of the points of a mesh under one state of its influences.
#[derive(Debug)]
pub struct Centres {
    geometry: Weak<Mesh>,
    sources: Vec<Weak<Rows>>,
    /// In chunks like influences; bind space, metres.
    chunks: Vec<Vec<Vec3>>,
    without: PointSet,
}

impl Centres {
    /// Computes the centres of all points; about 0.5 s for a million points on two cores. The bits do not depend on the
    /// number of threads.
    ///
    /// A point has no centre where fewer than two joints move it, or no part of the surface has similar weights. Its
    /// bind position takes its place: [`super::centres_of_rotation`] then moves it like linear skinning.
    pub fn compute(
        mesh: &Arc<Mesh>,
        influences: &Influences,
        task: &Task,
    ) -> Result<Self, Cancelled> {
        task.step(STEPS[0], 0.0)?;
        let frame = Frame::of(mesh);
        let bins = Bins::gather(mesh, influences, frame, task)?;
        let lookup = Lookup::new(bins);
        let n_chunks = influences.chunks().len();
        let mut chunks = Vec::with_capacity(n_chunks);
        let mut without = PointSet::default();
        let mut first = 0;
        while chunks.len() < n_chunks {
            let at = chunks.len();
            let now = &influences.chunks()[at..n_chunks.min(at + PARTS_AT_ONCE)];
            let firsts = at * super::CHUNK;
            let found: Vec<Vec<Option<Vec3>>> = now
                .par_iter()
                .map(|rows| {
                    let mut pairs = PairCache::default();
                    rows.iter()
                        .map(|row| lookup.centre(row, &mut pairs, frame))
                        .collect()
                })
                .collect();
            debug_assert_eq!(first, firsts);
            for found in found {
                let mut chunk = Vec::with_capacity(found.len());
                for centre in found {
                    if centre.is_none() {
                        without.insert(first as u32);
                    }
                    chunk.push(centre.unwrap_or(mesh.positions[first]));
                    first += 1;
                }
                chunks.push(chunk);
            }
            task.step(STEPS[1], 0.5 + 0.5 * chunks.len() as f32 / n_chunks as f32)?;
        }
        Ok(Self {
            geometry: Arc::downgrade(mesh),
            sources: influences.chunks().iter().map(Arc::downgrade).collect(),
            chunks,
            without,
        })
    }

    /// Given centres in bind space, for `mesh` or for points beside it.
    pub fn given(mesh: &Arc<Mesh>, centres: &[Vec3]) -> Self {
        Self {
            geometry: Arc::downgrade(mesh),
            sources: Vec::new(),
            chunks: centres.chunks(super::CHUNK).map(<[Vec3]>::to_vec).collect(),
            without: PointSet::default(),
        }
    }

    /// Whether they were computed for this shape and these influences, by identity.
    pub fn are_of(&self, mesh: &Arc<Mesh>, influences: &Influences) -> bool {
        std::ptr::eq(self.geometry.as_ptr(), Arc::as_ptr(mesh))
            && self.sources.len() == influences.chunks().len()
            && self
                .sources
                .iter()
                .zip(influences.chunks())
                .all(|(a, b)| std::ptr::eq(a.as_ptr(), Arc::as_ptr(b)))
    }

    /// Whether they were computed for this shape, with any influences.
    pub fn fit(&self, mesh: &Arc<Mesh>) -> bool {
        std::ptr::eq(self.geometry.as_ptr(), Arc::as_ptr(mesh))
    }

    /// The centres of a chunk of points, for [`super::centres_of_rotation`].
    pub fn chunk(&self, chunk: usize) -> Option<&[Vec3]> {
        self.chunks.get(chunk).map(Vec::as_slice)
    }

    /// The centre of a point in bind space; `None` where it has none.
    pub fn centre(&self, point: u32) -> Option<Vec3> {
        if self.without.contains(point) {
            return None;
        }
        let chunk = self.chunks.get(point as usize / super::CHUNK)?;
        chunk.get(point as usize % super::CHUNK).copied()
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.chunks.iter().map(|c| c.capacity() * 12).sum::<usize>()
            + self.without.heap_bytes()
            + self.sources.capacity() * size_of::<Weak<Rows>>()
    }
}

/// The space of the sums, in which f32 suffices for meshes of any position and size.
#[derive(Clone, Copy)]
struct Frame {
    origin: DVec3,
    size: f64,
}

impl Frame {
    fn of(mesh: &Mesh) -> Self {
        let (min, max) = mesh
            .positions
            .iter()
            .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(min, max), &p| {
                (min.min(p), max.max(p))
            });
        let (min, max) = (min.as_dvec3(), max.as_dvec3());
        let size = (max - min).max_element();
        if size > 0.0 && size.is_finite() {
            Self {
                origin: 0.5 * (min + max),
                size,
            }
        } else {
            Self {
                origin: if min.is_finite() { min } else { DVec3::ZERO },
                size: 1.0,
            }
        }
    }

    fn local(self, p: Vec3) -> DVec3 {
        (p.as_dvec3() - self.origin) / self.size
    }

    fn global(self, p: DVec3) -> Vec3 {
        (self.origin + p * self.size).as_vec3()
    }
}

/// Area, area times centroid, area times both weights.
type Sums = [f64; 6];

/// The bins of one pair of joints.
#[derive(Clone)]
struct PairBins {
    /// For each cell (both levels) its index in `sums` plus one; 0 without.
    slots: Box<[u16]>,
    sums: Vec<(u16, Sums)>,
}

impl Default for PairBins {
    fn default() -> Self {
        Self {
            slots: vec![0; (LEVELS + 1) * (LEVELS + 1)].into_boxed_slice(),
            sums: Vec::new(),
        }
    }
}

impl PairBins {
    fn add(&mut self, cell: u16, values: &Sums) {
        let slot = &mut self.slots[cell as usize];
        if *slot == 0 {
            self.sums.push((cell, [0.0; 6]));
            *slot = self.sums.len() as u16;
        }
        let (_, sums) = &mut self.sums[*slot as usize - 1];
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum += value;
        }
    }
}

/// The bins of all pairs of joints, lower joint first.
#[derive(Default)]
struct Bins {
    index: BTreeMap<[u16; 2], u32>,
    pairs: Vec<PairBins>,
    /// The joints of the latest sample and their pairs: neighbours mostly have the same.
    joints: Vec<u16>,
    known: Vec<u32>,
}

impl Bins {
    fn gather(
        mesh: &Mesh,
        influences: &Influences,
        frame: Frame,
        task: &Task,
    ) -> Result<Self, Cancelled> {
        let triangles = &mesh.topology().triangles;
        let n_parts = triangles.len().div_ceil(TRIANGLES_PER_PART);
        let mut all = Self::default();
        let parts: Vec<&[[u32; 3]]> = triangles.chunks(TRIANGLES_PER_PART).collect();
        let mut n_done = 0;
        for parts in parts.chunks(PARTS_AT_ONCE) {
            let found: Vec<Self> = parts
                .par_iter()
                .map(|triangles| {
                    let mut bins = Self::default();
                    let mut sampler = Sampler::default();
                    for triangle in *triangles {
                        if task.is_cancelled() {
                            break;
                        }
                        sampler.sample(mesh, influences, frame, *triangle, &mut bins);
                    }
                    bins
                })
                .collect();
            // In the order of the parts, so that any number of threads gives the same sums.
            for bins in &found {
                all.absorb(bins);
            }
            n_done += parts.len();
            task.step(STEPS[0], 0.5 * n_done as f32 / n_parts as f32)?;
        }
        Ok(all)
    }

    fn pair(&mut self, pair: [u16; 2]) -> u32 {
        *self.index.entry(pair).or_insert_with(|| {
            self.pairs.push(PairBins::default());
            self.pairs.len() as u32 - 1
        })
    }

    /// Adds a piece of surface with these `joints` (ascending) and `weights`.
    fn add(&mut self, joints: &[u16], weights: &[f64], area: f64, centroid: DVec3) {
        if self.joints != joints {
            self.joints.clear();
            self.joints.extend_from_slice(joints);
            self.known.clear();
            for (i, &j) in joints.iter().enumerate() {
                for &k in &joints[i + 1..] {
                    let pair = self.pair([j, k]);
                    self.known.push(pair);
                }
            }
        }
        let level = |w: f64| {
            let level = w.sqrt() * LEVELS as f64;
            level.round().clamp(0.0, LEVELS as f64) as u16
        };
        let c = centroid * area;
        let mut pairs = self.known.iter();
        for (i, &wj) in weights.iter().enumerate() {
            for &wk in &weights[i + 1..] {
                let Some(&pair) = pairs.next() else { return };
                if wj > 0.0 && wk > 0.0 {
                    let cell = level(wj) * (LEVELS as u16 + 1) + level(wk);
                    let values = [area, c.x, c.y, c.z, area * wj, area * wk];
                    self.pairs[pair as usize].add(cell, &values);
                }
            }
        }
    }

    fn absorb(&mut self, other: &Self) {
        for (&pair, &theirs) in &other.index {
            let ours = self.pair(pair) as usize;
            for (cell, values) in &other.pairs[theirs as usize].sums {
                self.pairs[ours].add(*cell, values);
            }
        }
    }
}

/// Samples triangles, those whose weights differ much in several places.
#[derive(Default)]
struct Sampler {
    joints: Vec<u16>,
    /// For each joint its weight at the three corners.
    corners: Vec<[f32; 3]>,
    weights: Vec<f64>,
}

impl Sampler {
    fn sample(
        &mut self,
        mesh: &Mesh,
        influences: &Influences,
        frame: Frame,
        triangle: [u32; 3],
        bins: &mut Bins,
    ) {
        let rows = triangle.map(|p| influences.row(p));
        self.joints.clear();
        for row in rows {
            self.joints.extend_from_slice(row.joints);
        }
        self.joints.sort_unstable();
        self.joints.dedup();
        if self.joints.len() < 2 {
            return;
        }
        let [a, b, c] = triangle.map(|p| frame.local(mesh.positions[p as usize]));
        let area = 0.5 * (b - a).cross(c - a).length();
        if area <= 0.0 {
            return;
        }
        self.corners.clear();
        let corners = self.joints.iter().map(|&j| rows.map(|r| r.weight_of(j)));
        self.corners.extend(corners);
        let apart = |i: usize, j: usize| -> f32 {
            let squares = self.corners.iter().map(|w| (w[i] - w[j]).powi(2));
            squares.sum::<f32>().sqrt()
        };
        let apart = apart(0, 1).max(apart(1, 2)).max(apart(2, 0));
        // Weights are finite here; the bound makes sure that the loop ends.
        let n = ((apart / SPLIT).ceil() as usize).clamp(1, MOST_SAMPLES);
        let share = area / (n * n) as f64;
        for i in 0..n {
            for j in 0..n - i {
                // Small triangles like the whole, and mirrored ones between them.
                for shift in [1.0 / 3.0, 2.0 / 3.0] {
                    if shift > 0.5 && i + j + 1 >= n {
                        continue;
                    }
                    let (u, v) = ((i as f64 + shift) / n as f64, (j as f64 + shift) / n as f64);
                    let at = [1.0 - u - v, u, v];
                    self.weights.clear();
                    self.weights.extend(
                        self.corners
                            .iter()
                            .map(|w| (0..3).map(|k| f64::from(w[k]) * at[k]).sum::<f64>()),
                    );
                    let centroid = a * at[0] + b * at[1] + c * at[2];
                    bins.add(&self.joints, &self.weights, share, centroid);
                }
            }
        }
    }
}

/// Eight bins of a pair of joints, side by side: mean weights, area, area times centroid.
struct Bin8 {
    wj: f32x8,
    wk: f32x8,
    area: f32x8,
    moment: [f32x8; 3],
}

/// The bins in the layout in which points read them.
struct Lookup {
    index: BTreeMap<[u16; 2], u32>,
    pairs: Vec<Vec<Bin8>>,
}

/// The pairs of the joints of the latest point: neighbours mostly have the same.
#[derive(Default)]
struct PairCache {
    joints: Vec<u16>,
    pairs: Vec<Option<u32>>,
}

impl Lookup {
    fn new(bins: Bins) -> Self {
        let pairs = bins.pairs.into_iter().map(|mut pair| {
            pair.sums.sort_unstable_by_key(|(cell, _)| *cell);
            pair.sums
                .chunks(8)
                .map(|sums| {
                    let lanes = |value: &dyn Fn(&Sums) -> f64| {
                        let mut lanes = [0.0f32; 8];
                        for (lane, (_, sums)) in lanes.iter_mut().zip(sums) {
                            *lane = value(sums) as f32;
                        }
                        f32x8::from(lanes)
                    };
                    Bin8 {
                        wj: lanes(&|s| s[4] / s[0]),
                        wk: lanes(&|s| s[5] / s[0]),
                        area: lanes(&|s| s[0]),
                        moment: [1, 2, 3].map(|axis| lanes(&|s| s[axis])),
                    }
                })
                .collect()
        });
        Self {
            pairs: pairs.collect(),
            index: bins.index,
        }
    }

    fn centre(&self, row: RowRef<'_>, cache: &mut PairCache, frame: Frame) -> Option<Vec3> {
        if row.len() < 2 {
            return None;
        }
        if cache.joints != row.joints {
            cache.joints.clear();
            cache.joints.extend_from_slice(row.joints);
            cache.pairs.clear();
            for (i, &j) in row.joints.iter().enumerate() {
                for &k in &row.joints[i + 1..] {
                    cache
                        .pairs
                        .push(self.index.get(&[j.min(k), j.max(k)]).copied());
                }
            }
        }
        let mut pairs = cache.pairs.iter();
        let mut sums = [0.0f64; 4];
        for i in 0..row.len() {
            for k in i + 1..row.len() {
                let Some(Some(pair)) = pairs.next() else {
                    continue;
                };
                let (mut wi, mut wk) = (row.weights[i], row.weights[k]);
                if row.joints[i] > row.joints[k] {
                    std::mem::swap(&mut wi, &mut wk);
                }
                let product = f64::from(wi) * f64::from(wk);
                if product > 0.0 {
                    let found = similar_surface(&self.pairs[*pair as usize], wi, wk);
                    for (sum, found) in sums.iter_mut().zip(found) {
                        *sum += product * f64::from(found);
                    }
                }
            }
        }
        let [area, x, y, z] = sums;
        if area < NOTHING {
            return None;
        }
        Some(frame.global(DVec3::new(x, y, z) / area)).filter(|c| c.is_finite())
    }
}

/// The sums over the bins of a pair of joints of v_j v_k exp(...) times area and times area and centroid.
fn similar_surface(bins: &[Bin8], wj: f32, wk: f32) -> [f32; 4] {
    let scale = (1.0 / SIGMA) as f32;
    let (pj, pk) = (f32x8::splat(wj * scale), f32x8::splat(wk * scale));
    let mut sums = [f32x8::splat(0.0); 4];
    for bin in bins {
        let apart = pj.mul_sub(bin.wk, pk * bin.wj);
        let similar = (-(apart * apart)).exp() * bin.wj * bin.wk;
        sums[0] = similar.mul_add(bin.area, sums[0]);
        for axis in 0..3 {
            sums[axis + 1] = similar.mul_add(bin.moment[axis], sums[axis + 1]);
        }
    }
    sums.map(f32x8::reduce_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Le & Hodgins 2016: the similarity of two sets of weights, summed over ordered pairs of joints.
    #[test]
    fn the_similarity_is_that_of_the_paper() {
        let s = |p: &[f32], v: &[f32]| {
            let joints: Vec<u16> = (0..3).collect();
            let row = |weights| RowRef {
                joints: &joints[..p.len()],
                weights,
            };
            similarity(row(p), row(v))
        };
        let p = [0.7, 0.3];
        for (v, expected) in [
            ([0.7, 0.3], 0.0882),
            ([0.6, 0.4], 0.03708225),
            ([0.5, 0.5], 0.00192314),
            ([1.0, 0.0], 0.0),
        ] {
            assert!((s(&p, &v) - expected).abs() < 1e-7, "{v:?} {}", s(&p, &v));
        }
        let three = s(&[0.5, 0.3, 0.2], &[0.4, 0.4, 0.2]);
        assert!((three - 0.04990625).abs() < 1e-7, "{three}");
    }
}
