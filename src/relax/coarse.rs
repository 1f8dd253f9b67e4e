//! A coarser surface of a dense region, where the relaxation starts: its steps travel one edge an iteration.

use super::neighbourhood::Neighbourhood;
use super::posed::Posed;
use super::region::Region;
use super::settings::RelaxSettings;
use super::surface::Surface;
use crate::mesh::box_tree::{Bounds, BoxTree};
use crate::mesh::triangle::normal;
use glam::DVec3;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Regions with shorter edges than this, in radii, start coarse.
const DENSE: f64 = 0.2;

/// The length that edges are collapsed to, in radii, and the longest edge that a collapse may make.
const TARGET: (f64, f64) = (0.35, 0.55);

/// The least cosine between the normals of a triangle before and after a collapse.
const ALIKE: f64 = 0.3;

/// The least quality of a new triangle, `4 sqrt(3) area / sum of squared edges`: 1 for an equilateral one.
const LEAST_QUALITY: f64 = 0.2;

/// How many coarse points move a fine one.
const NEAREST: usize = 4;

/// A coarse region in the place of a dense one.
#[derive(Clone, Debug)]
pub struct Coarse {
    /// Its surface: some of the points of the dense one.
    around: Neighbourhood,
    /// Its region.
    region: Region,
    /// The dense point of each of its points.
    kept: Vec<u32>,
    /// One for each free point of the dense region: coarse points and their shares, sum 1.
    sources: Vec<Vec<(u32, f64)>>,
}

impl Coarse {
    /// The coarse region, with edges of about a third of the radius; `None` where the region is not dense.
    pub fn new(around: &Neighbourhood, region: &Region) -> Option<Self> {
        if region.edge >= DENSE * around.radius {
            return None;
        }
        let (kept, triangles) = Collapse::new(around, region).run();
        let mut number = vec![u32::MAX; around.n_points()];
        for (i, &p) in (0..).zip(&kept) {
            number[p as usize] = i;
        }
        let triangles = triangles.into_iter().map(|t| t.map(|p| number[p as usize]));
        let coarse = around.coarser(&kept, triangles.collect());
        let region_of = Region::new(&coarse, region.reach);
        let sources = sources(&around.surface, region, &coarse.surface);
        Some(Self {
            around: coarse,
            region: region_of,
            kept,
            sources,
        })
    }

    /// Its surface.
    pub fn around(&self) -> &Neighbourhood {
        &self.around
    }

    /// Its region.
    pub fn region(&self) -> &Region {
        &self.region
    }

    /// The parameters of a relaxation of it, from those of the dense one, which parts what still crosses here.
    pub fn settings(settings: &RelaxSettings) -> RelaxSettings {
        RelaxSettings {
            widens: false,
            ..*settings
        }
    }

    /// The part of a pose of the dense surface.
    pub fn posed(&self, posed: &Posed) -> Posed {
        let kept = self.kept.iter().map(|&p| p as usize);
        Posed {
            skinned: kept.clone().map(|p| posed.skinned[p]).collect(),
            outline: kept.clone().map(|p| posed.outline[p]).collect(),
            rotations: kept.map(|p| posed.rotations[p]).collect(),
        }
    }

    /// One for each free point of the dense region: the displacement that coarse ones give it, in the frame of bind.
    pub(super) fn carried(&self, displacements: &[(u32, DVec3)]) -> Vec<DVec3> {
        let mut of_coarse = vec![DVec3::ZERO; self.kept.len()];
        for &(p, d) in displacements {
            of_coarse[p as usize] = d;
        }
        let sources = self.sources.iter();
        let sum = |shares: &Vec<(u32, f64)>| {
            shares
                .iter()
                .map(|&(c, share)| of_coarse[c as usize] * share)
                .sum()
        };
        sources.map(sum).collect()
    }
}

/// The nearest coarse points of each free point at bind, in its shell, with shares by the inverse squared distance.
fn sources(fine: &Surface, region: &Region, coarse: &Surface) -> Vec<Vec<(u32, f64)>> {
    let tree = BoxTree::new(coarse.n_points(), |i| {
        Bounds::around([coarse.bind[i as usize]])
    });
    let of_point = |&p: &u32| {
        let (here, shell) = (fine.bind[p as usize], fine.shells[p as usize]);
        let mut best: Vec<(f64, u32)> = Vec::with_capacity(NEAREST + 1);
        tree.nearest(here, f64::INFINITY, |i, _| {
            if coarse.shells[i as usize] != shell {
                return None;
            }
            let entry = (coarse.bind[i as usize].distance_squared(here), i);
            let at = best.partition_point(|known| *known < entry);
            best.insert(at, entry);
            best.truncate(NEAREST);
            best.get(NEAREST - 1).map(|last| last.0)
        });
        if let Some(&(0.0, same)) = best.first() {
            return vec![(same, 1.0)];
        }
        let sum: f64 = best.iter().map(|(d, _)| 1.0 / d).sum();
        best.into_iter().map(|(d, i)| (i, 1.0 / d / sum)).collect()
    };
    region.free.iter().map(of_point).collect()
}

/// Half-edge collapses of free points, shortest edge first (Hoppe 1996): no point moves, held points stay.
struct Collapse<'a> {
    around: &'a Neighbourhood,
    region: &'a Region,
    triangles: Vec<[u32; 3]>,
    is_gone: Vec<bool>,
    /// n_points: the triangles at each, gone ones among them.
    fans: Vec<Vec<u32>>,
    is_removed: Vec<bool>,
}

impl<'a> Collapse<'a> {
    fn new(around: &'a Neighbourhood, region: &'a Region) -> Self {
        let triangles = around.surface.triangles.clone();
        let mut fans = vec![Vec::new(); around.n_points()];
        for (t, corners) in (0..).zip(&triangles) {
            for &p in corners {
                fans[p as usize].push(t);
            }
        }
        Self {
            around,
            region,
            is_gone: vec![false; triangles.len()],
            triangles,
            fans,
            is_removed: vec![false; around.n_points()],
        }
    }

    /// The points and the triangles that are left.
    fn run(mut self) -> (Vec<u32>, Vec<[u32; 3]>) {
        let bind = &self.around.surface.bind;
        let limit = TARGET.0 * self.around.radius;
        let mut queue = BinaryHeap::new();
        let push = |queue: &mut BinaryHeap<_>, from: u32, to: u32| {
            let length = bind[from as usize].distance(bind[to as usize]);
            if length < limit {
                queue.push(Reverse((length.to_bits(), from, to)));
            }
        };
        for &p in &self.region.free {
            for &(q, _) in self.around.surface.links(p) {
                push(&mut queue, p, q);
            }
        }
        while let Some(Reverse((_, from, to))) = queue.pop() {
            if self.is_removed[from as usize]
                || self.is_removed[to as usize]
                || !self.can_collapse(from, to)
            {
                continue;
            }
            self.collapse(from, to);
            for q in self.ring(to) {
                for (a, b) in [(to, q), (q, to)] {
                    if self.region.is_free(a) {
                        push(&mut queue, a, b);
                    }
                }
            }
        }
        let kept = (0..self.around.n_points() as u32).filter(|&p| !self.is_removed[p as usize]);
        let left = self
            .triangles
            .iter()
            .zip(&self.is_gone)
            .filter(|(_, gone)| !**gone);
        (kept.collect(), left.map(|(t, _)| *t).collect())
    }

    /// The triangles at a point.
    fn fan(&self, p: u32) -> impl Iterator<Item = (u32, [u32; 3])> + '_ {
        let own = self.fans[p as usize]
            .iter()
            .filter(|t| !self.is_gone[**t as usize]);
        own.map(|&t| (t, self.triangles[t as usize]))
    }

    /// The neighbours of a point, ascending.
    fn ring(&self, p: u32) -> Vec<u32> {
        let mut ring: Vec<u32> = self
            .fan(p)
            .flat_map(|(_, corners)| corners)
            .filter(|&q| q != p)
            .collect();
        ring.sort_unstable();
        ring.dedup();
        ring
    }

    fn can_collapse(&self, from: u32, to: u32) -> bool {
        let bind = &self.around.surface.bind;
        let (ring, other) = (self.ring(from), self.ring(to));
        if ring.binary_search(&to).is_err() || ring.len() != self.fan(from).count() {
            // An open or non-manifold fan keeps its point.
            return false;
        }
        // The link condition (Dey et al. 1999): the two share the two points opposite of their edge alone.
        let n_common = ring
            .iter()
            .filter(|q| other.binary_search(q).is_ok())
            .count();
        let n_shared = self
            .fan(from)
            .filter(|(_, corners)| corners.contains(&to))
            .count();
        if n_common != 2 || n_shared != 2 {
            return false;
        }
        let longest = TARGET.1 * self.around.radius;
        let is_short =
            |&q: &u32| q == to || bind[q as usize].distance(bind[to as usize]) <= longest;
        if !ring.iter().all(is_short) {
            return false;
        }
        let mut others = self.fan(from).filter(|(_, corners)| !corners.contains(&to));
        others.all(|(_, corners)| {
            let before = corners.map(|p| bind[p as usize]);
            let after = corners.map(|p| bind[if p == from { to } else { p } as usize]);
            normal(before).dot(normal(after)) > ALIKE && quality(after) > LEAST_QUALITY
        })
    }

    fn collapse(&mut self, from: u32, to: u32) {
        let fan: Vec<(u32, [u32; 3])> = self.fan(from).collect();
        for (t, corners) in fan {
            if corners.contains(&to) {
                self.is_gone[t as usize] = true;
            } else {
                self.triangles[t as usize] = corners.map(|p| if p == from { to } else { p });
                self.fans[to as usize].push(t);
            }
        }
        self.is_removed[from as usize] = true;
    }
}

fn quality([a, b, c]: [DVec3; 3]) -> f64 {
    let edges = (b - a).length_squared() + (c - b).length_squared() + (a - c).length_squared();
    2.0 * 3f64.sqrt() * (b - a).cross(c - a).length() / edges
}
