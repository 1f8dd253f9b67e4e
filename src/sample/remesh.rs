//! Remeshes a polygonised body to an even, well-shaped mesh with the requested number of points.

use super::field::Field;
use glam::DVec3;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Points and triangles; closed, or open along x = 0 where it is half of a body.
pub(super) struct Surface {
    pub(super) positions: Vec<DVec3>,
    pub(super) triangles: Vec<[u32; 3]>,
}

/// `fine` with about `n_points` points of the whole body (twice the half, less the points at x = 0), on the surface
/// of `field`; where the body is thin, triangles are small.
pub(super) fn remesh(fine: Surface, field: &Field, n_points: usize, half: bool) -> Surface {
    // Subdivision until there are enough; a closed surface of genus 0 goes from V to 4 V - 6 points.
    let mut n_base = n_points as f64;
    let mut n_splits = 0;
    while n_base > 60_000.0
        && n_base * if half { 0.5 } else { 1.0 } > fine.positions.len() as f64 * 0.6
    {
        n_base = (n_base - 2.0) / 4.0 + 2.0;
        n_splits += 1;
    }
    let mut editable = Editable::new(fine, field, half);
    let n_base = n_base.round() as usize; // Short edges are collapsed first, everywhere, with relaxation before longer ones: a greedy order would leave badly
    // shaped regions.
    let mut longest = editable.middle_length();
    for _ in 0..24 {
        if editable.collapse(field, n_base, longest) {
            break;
        }
        editable.flip();
        editable.relax(field, 1);
        longest *= 1.3;
    }
    for _ in 0..4 {
        editable.flip();
        editable.relax(field, 2);
    }
    let mut surface = editable.finish();
    for _ in 0..n_splits {
        surface = split(&surface, field, half);
    }
    surface
}

/// A triangle mesh that knows the faces at each point.
struct Editable {
    positions: Vec<DVec3>,
    /// Unit normals of the body.
    normals: Vec<DVec3>,
    /// Target edge length at each point, up to one common factor.
    sizes: Vec<f64>,
    /// Whether a point lies at x = 0 on the rim of a half.
    rim: Vec<bool>,
    triangles: Vec<[u32; 3]>,
    /// Live triangles at each point; empty for a removed point.
    faces: Vec<Vec<u32>>,
}

impl Editable {
    fn new(surface: Surface, field: &Field, half: bool) -> Self {
        let Surface {
            positions,
            triangles,
        } = surface;
        let rim: Vec<bool> = positions.iter().map(|p| half && p.x == 0.0).collect();
        let positions: Vec<DVec3> = positions
            .into_par_iter()
            .zip(&rim)
            .map(|(p, &rim)| on_rim(field.project(p, 3), rim))
            .collect();
        let sizes = positions
            .par_iter()
            .map(|&p| field.radius(p).sqrt())
            .collect();
        let normals = positions.par_iter().map(|&p| normal(field, p)).collect();
        let mut faces = vec![Vec::new(); positions.len()];
        for (f, t) in triangles.iter().enumerate() {
            for &v in t {
                faces[v as usize].push(f as u32);
            }
        }
        Self {
            positions,
            normals,
            sizes,
            rim,
            triangles,
            faces,
        }
    }

    fn neighbours(&self, v: u32) -> Vec<u32> {
        let mut ring: Vec<u32> = self.faces[v as usize]
            .iter()
            .flat_map(|&f| self.triangles[f as usize])
            .filter(|&u| u != v)
            .collect();
        ring.sort_unstable();
        ring.dedup();
        ring
    }

    /// Length of an edge relative to the target at its position.
    fn relative_length(&self, a: u32, b: u32) -> f64 {
        let (i, j) = (a as usize, b as usize);
        self.positions[i].distance(self.positions[j]) / (self.sizes[i] + self.sizes[j])
    }

    /// The median of the edges' relative lengths.
    fn middle_length(&self) -> f64 {
        let mut lengths: Vec<f64> = self
            .triangles
            .par_iter()
            .flat_map_iter(|&[a, b, c]| [(a, b), (b, c), (c, a)])
            .map(|(a, b)| self.relative_length(a, b))
            .collect();
        lengths.par_sort_unstable_by(f64::total_cmp);
        lengths.get(lengths.len() / 2).copied().unwrap_or(0.0)
    }

    /// Collapses edges of at most `longest` relative length, the shortest first; true once the whole body has
    /// `n_points` points.
    fn collapse(&mut self, field: &Field, n_points: usize, longest: f64) -> bool {
        let half = self.rim.contains(&true);
        let live = |v: &usize| !self.faces[*v].is_empty();
        let mut n_live = (0..self.positions.len()).filter(live).count();
        let mut n_rim = (0..self.positions.len())
            .filter(live)
            .filter(|&v| self.rim[v])
            .count();
        let mut versions = vec![0u32; self.positions.len()];
        let mut heap = BinaryHeap::new();
        // Bits of positive numbers are in the numbers' order.
        let key = |this: &Self, a: u32, b: u32| this.relative_length(a, b).to_bits();
        let longest = longest.to_bits();
        for a in 0..self.positions.len() as u32 {
            for b in self.neighbours(a) {
                let length = key(self, a, b);
                if a < b && length <= longest {
                    heap.push(Reverse((length, a, b, 0)));
                }
            }
        }
        while (if half { 2 * n_live - n_rim } else { n_live }) > n_points {
            let Some(Reverse((_, a, b, version))) = heap.pop() else {
                return false;
            };
            if version != versions[a as usize] + versions[b as usize]
                || self.faces[a as usize].is_empty()
                || self.faces[b as usize].is_empty()
            {
                continue;
            }
            let (rim_a, rim_b) = (self.rim[a as usize], self.rim[b as usize]);
            let Some(target) = self.collapse_target(field, a, b, f64::from_bits(longest)) else {
                continue;
            };
            self.merge(a, b, target, normal(field, target));
            n_live -= 1;
            n_rim -= usize::from(rim_a && rim_b);
            // Keys of other edges at `a` are stale now.
            versions[a as usize] += 1;
            for c in self.neighbours(a) {
                let (low, high) = (a.min(c), a.max(c));
                let version = versions[a as usize] + versions[c as usize];
                let length = key(self, low, high);
                if length <= longest {
                    heap.push(Reverse((length, low, high, version)));
                }
            }
        }
        true
    }

    /// Where the edge's point would go, if the surface stays a manifold, no triangle turns over and no edge becomes
    /// much longer than `longest`.
    fn collapse_target(&self, field: &Field, a: u32, b: u32, longest: f64) -> Option<DVec3> {
        let (i, j) = (a as usize, b as usize);
        let shared: Vec<u32> = self.faces[i]
            .iter()
            .copied()
            .filter(|f| self.faces[j].contains(f))
            .collect();
        let ring_a = self.neighbours(a);
        let ring_b = self.neighbours(b);
        let common = ring_a.iter().filter(|v| ring_b.contains(v)).count();
        let on_open_edge = shared.len() == 1;
        if common != shared.len()
            || (self.rim[i] && self.rim[j] && !on_open_edge)
            || ring_a.len() + ring_b.len() > 14
        {
            return None;
        }
        // A closed shape needs at least a tetrahedron to stay one.
        if ring_a.len() + ring_b.len() - common < 5 {
            return None;
        }
        // An edge between two points of the rim would coincide with its own mirror image.
        if self.rim[i] != self.rim[j] {
            let (inner, outer) = if self.rim[i] {
                (&ring_b, &ring_a)
            } else {
                (&ring_a, &ring_b)
            };
            let is_chord =
                |v: &u32| self.rim[*v as usize] && *v != a && *v != b && !outer.contains(v);
            if inner.iter().any(is_chord) {
                return None;
            }
        }
        let (pa, pb) = (self.positions[i], self.positions[j]);
        let targets = match (self.rim[i], self.rim[j]) {
            (true, false) => vec![pa],
            (false, true) => vec![pb],
            (rim, _) => vec![on_rim(field.project((pa + pb) * 0.5, 1), rim), pa, pb],
        };
        let size = (self.sizes[i] + self.sizes[j]) * 0.5;
        let reach = |target: DVec3| {
            ring_a.iter().chain(&ring_b).all(|&v| {
                let length = target.distance(self.positions[v as usize]);
                length <= 1.7 * longest * (size + self.sizes[v as usize])
            })
        };
        targets
            .into_iter()
            .find(|&target| reach(target) && self.may_move(field, [a, b], target))
    }

    /// Whether the triangles at the edge keep orientation and shape with both its ends at `target`.
    fn may_move(&self, field: &Field, [a, b]: [u32; 2], target: DVec3) -> bool {
        let target_normal = normal(field, target);
        [(a, b), (b, a)].into_iter().all(|(v, other)| {
            self.faces[v as usize].iter().all(|&f| {
                let t = self.triangles[f as usize];
                if t.contains(&other) {
                    return true;
                }
                let old = t.map(|u| self.positions[u as usize]);
                let new = t.map(|u| {
                    if u == v {
                        target
                    } else {
                        self.positions[u as usize]
                    }
                });
                let facing: DVec3 = t
                    .iter()
                    .map(|&u| {
                        if u == v {
                            target_normal
                        } else {
                            self.normals[u as usize]
                        }
                    })
                    .sum();
                faces(new, facing) && shape(new) >= shape(old).min(0.25)
            })
        })
    }

    fn merge(&mut self, a: u32, b: u32, target: DVec3, normal: DVec3) {
        let (i, j) = (a as usize, b as usize);
        for f in std::mem::take(&mut self.faces[j]) {
            if self.faces[i].contains(&f) {
                for v in self.triangles[f as usize] {
                    self.faces[v as usize].retain(|&g| g != f);
                }
            } else {
                for v in &mut self.triangles[f as usize] {
                    if *v == b {
                        *v = a;
                    }
                }
                self.faces[i].push(f);
            }
        }
        self.positions[i] = target;
        self.normals[i] = normal;
        self.sizes[i] = 0.5 * (self.sizes[i] + self.sizes[j]);
        self.rim[i] |= self.rim[j];
    }

    /// Flips edges where that brings the valences of the four points nearer to six (four on the rim).
    fn flip(&mut self) {
        for a in 0..self.positions.len() as u32 {
            for b in self.neighbours(a) {
                if a < b {
                    self.flip_edge(a, b);
                }
            }
        }
    }

    fn flip_edge(&mut self, a: u32, b: u32) {
        let shared: Vec<u32> = self.faces[a as usize]
            .iter()
            .copied()
            .filter(|f| self.faces[b as usize].contains(f))
            .collect();
        let &[f, g] = &shared[..] else { return };
        let third = |f: u32| {
            self.triangles[f as usize]
                .into_iter()
                .find(|&v| v != a && v != b)
        };
        let (Some(c), Some(d)) = (third(f), third(g)) else {
            return;
        };
        let excess = |v: u32, change: i64| {
            let wish = if self.rim[v as usize] { 3 } else { 6 };
            let n = self.faces[v as usize].len() as i64 + change - wish;
            n * n
        };
        let before = excess(a, 0) + excess(b, 0) + excess(c, 0) + excess(d, 0);
        let after = excess(a, -1) + excess(b, -1) + excess(c, 1) + excess(d, 1);
        if after >= before
            || self.faces[a as usize].len() < 4
            || self.faces[b as usize].len() < 4
            || (self.rim[c as usize] && self.rim[d as usize])
            || self.neighbours(c).contains(&d)
        {
            return;
        }
        // `f` contains a -> b or b -> a; the new triangles keep its orientation.
        let t = self.triangles[f as usize];
        let forward = (0..3).any(|k| t[k] == a && t[(k + 1) % 3] == b);
        let (from, to) = if forward { (a, b) } else { (b, a) };
        let new_f = [c, from, d];
        let new_g = [d, to, c];
        let corners = |t: [u32; 3]| t.map(|v| self.positions[v as usize]);
        let old_shape = shape(corners(self.triangles[f as usize]))
            .min(shape(corners(self.triangles[g as usize])));
        let facing: DVec3 = [a, b, c, d].iter().map(|&v| self.normals[v as usize]).sum();
        for new in [new_f, new_g] {
            if !faces(corners(new), facing) || shape(corners(new)) < old_shape.min(0.25) {
                return;
            }
        }
        self.triangles[f as usize] = new_f;
        self.triangles[g as usize] = new_g;
        self.faces[to as usize].retain(|&x| x != f);
        self.faces[from as usize].retain(|&x| x != g);
        self.faces[d as usize].push(f);
        self.faces[c as usize].push(g);
    }

    /// Moves each point towards the centroid of its neighbours, along the surface (tangential relaxation).
    fn relax(&mut self, field: &Field, n_rounds: usize) {
        for _ in 0..n_rounds {
            self.positions = (0..self.positions.len())
                .into_par_iter()
                .map(|i| {
                    let p = self.positions[i];
                    let rim = self.rim[i];
                    if self.faces[i].is_empty() {
                        return p;
                    }
                    let mut middle = DVec3::ZERO;
                    let mut n = 0.0;
                    for v in self.neighbours(i as u32) {
                        if !rim || self.rim[v as usize] {
                            middle += self.positions[v as usize];
                            n += 1.0;
                        }
                    }
                    let normal = self.normals[i];
                    let step = middle / n - p;
                    let moved = p + (step - normal * normal.dot(step)) * 0.6;
                    let moved = on_rim(field.project(on_rim(moved, rim), 2), rim);
                    // Where the mesh is too coarse for the shape a step may flip a triangle: no step then.
                    let keeps = self.faces[i].iter().all(|&f| {
                        let t = self.triangles[f as usize];
                        let old = t.map(|v| self.positions[v as usize]);
                        let new = t.map(|v| {
                            if v as usize == i {
                                moved
                            } else {
                                self.positions[v as usize]
                            }
                        });
                        let facing: DVec3 = t.iter().map(|&v| self.normals[v as usize]).sum();
                        faces(new, facing) && shape(new) >= shape(old).min(0.25)
                    });
                    if keeps { moved } else { p }
                })
                .collect();
            self.normals = self
                .positions
                .par_iter()
                .map(|&p| normal(field, p))
                .collect();
        }
    }

    /// The live points and triangles, renumbered.
    fn finish(self) -> Surface {
        let mut new_of_old = vec![u32::MAX; self.positions.len()];
        let mut positions = Vec::new();
        let mut live: Vec<u32> = self.faces.iter().flatten().copied().collect();
        live.sort_unstable();
        live.dedup();
        for (v, faces) in self.faces.iter().enumerate() {
            if !faces.is_empty() {
                new_of_old[v] = positions.len() as u32;
                positions.push(self.positions[v]);
            }
        }
        Surface {
            positions,
            triangles: live
                .into_iter()
                .map(|f| self.triangles[f as usize].map(|v| new_of_old[v as usize]))
                .collect(),
        }
    }
}

fn on_rim(p: DVec3, rim: bool) -> DVec3 {
    if rim { p.with_x(0.0) } else { p }
}

/// Normal of a triangle, as long as twice its area.
fn area_vector([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a)
}

/// Whether the normal of a triangle is within 66 degrees of `facing`.
fn faces(corners: [DVec3; 3], facing: DVec3) -> bool {
    let area = area_vector(corners);
    area.dot(facing) > 0.4 * area.length() * facing.length()
}

/// The shape quality of a triangle: 0 for a line, 1 for equal sides.
fn shape(corners: [DVec3; 3]) -> f64 {
    let [a, b, c] = corners;
    let longest = a
        .distance_squared(b)
        .max(b.distance_squared(c))
        .max(c.distance_squared(a));
    area_vector(corners).length() / (longest * 0.75f64.sqrt()).max(f64::MIN_POSITIVE)
}

fn normal(field: &Field, p: DVec3) -> DVec3 {
    field.hit(p).gradient.try_normalize().unwrap_or(DVec3::Y)
}

/// Four triangles for each one, the new points on the surface.
fn split(surface: &Surface, field: &Field, half: bool) -> Surface {
    let mut edges: Vec<(u32, u32)> = surface
        .triangles
        .par_iter()
        .flat_map_iter(|&[a, b, c]| [(a, b), (b, c), (c, a)].map(|(a, b)| (a.min(b), a.max(b))))
        .collect();
    edges.par_sort_unstable();
    edges.dedup();
    let n_old = surface.positions.len() as u32;
    let middle =
        |a: u32, b: u32| n_old + edges.partition_point(|&e| e < (a.min(b), a.max(b))) as u32;
    let mut positions = surface.positions.clone();
    positions.par_extend(edges.par_iter().map(|&(a, b)| {
        let (a, b) = (surface.positions[a as usize], surface.positions[b as usize]);
        let rim = half && a.x == 0.0 && b.x == 0.0;
        on_rim(field.project((a + b) * 0.5, 2), rim)
    }));
    let triangles = surface
        .triangles
        .par_iter()
        .flat_map_iter(|&[a, b, c]| {
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
        })
        .collect();
    Surface {
        positions,
        triangles,
    }
}

/// The whole body of a half: `half` and its mirror image, joined along x = 0; and for each point whether it is a
/// mirror image, and of which point.
pub(super) fn mirror(half: &Surface) -> (Surface, Vec<u32>) {
    let n = half.positions.len() as u32;
    let mut positions = half.positions.clone();
    let mut source: Vec<u32> = (0..n).collect();
    let mut twin: HashMap<u32, u32> = HashMap::new();
    for (v, p) in half.positions.iter().enumerate() {
        if p.x != 0.0 {
            twin.insert(v as u32, positions.len() as u32);
            positions.push(DVec3::new(-p.x, p.y, p.z));
            source.push(v as u32);
        }
    }
    let mut triangles = half.triangles.clone();
    triangles.extend(half.triangles.iter().map(|&[a, b, c]| {
        let image = |v: u32| twin.get(&v).copied().unwrap_or(v);
        [image(a), image(c), image(b)]
    }));
    (
        Surface {
            positions,
            triangles,
        },
        source,
    )
}
