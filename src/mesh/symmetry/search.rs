//! The search for mirror images: by position, by topology, then the nearest.

use crate::math::Axis;
use crate::mesh::point_tree::PointTree;
use crate::mesh::{Mesh, PointSet, Topology};
use crate::task::{Cancelled, Task};
use glam::Vec3;
use rayon::prelude::*;

/// Tolerance of mirrored positions, as a fraction of the bounding-box diagonal.
const EXACT: f32 = 1e-5;

/// The same as a fraction of the median edge length: one distant point must not enlarge it for a whole character.
const EXACT_OF_EDGE: f32 = 0.02;

/// Maximum number of rounds in which positions whose nearest match was taken try the next one.
const MAX_ROUNDS: usize = 12;

/// A position whose edges do not all mirror is matched along an edge only within this fraction of the edge's length
/// from the mirrored position.
const MAX_EDGE_ERROR: f32 = 0.35;

/// Where more points than this share a position they are matched in order instead of by their neighbours.
const MAX_COINCIDENT: usize = 32;

/// Index of no position.
const NONE: u32 = u32::MAX;

/// How a counterpart was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FoundBy {
    /// It lies at the mirrored position.
    Position,
    /// The edges around it mirror those around matched points.
    Topology,
    /// It is the nearest within the tolerance.
    Nearest,
}

/// The result of a search.
pub(super) struct Matches {
    /// n_points: the counterpart; itself on the centre line; `None` if there is none.
    pub(super) partners: Vec<Option<(u32, FoundBy)>>,
    /// For points without a counterpart, ascending: the closest substitute.
    pub(super) substitutes: Vec<(u32, u32)>,
}

/// The state of a search. It matches *places*: bind positions, each represented by the lowest of its points.
pub(super) struct Search<'a> {
    mesh: &'a Mesh,
    topology: &'a Topology,
    axis: usize,
    centre: f32,
    /// n_points: the lowest point at the same position.
    place: Vec<u32>,
    /// Places shared by too many points to follow their edges.
    crowded: PointSet,
    /// n_points: for places, the mirrored place.
    partner: Vec<u32>,
    how: Vec<FoundBy>,
}

/// A candidate pair of places, suggested by an edge, the lower first.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Proposal {
    pair: (u32, u32),
    error: f32,
}

impl<'a> Search<'a> {
    pub(super) fn new(mesh: &'a Mesh, axis: Axis, centre: f32) -> Self {
        let topology = mesh.topology();
        let mut place: Vec<u32> = (0..mesh.n_points() as u32).collect();
        let mut crowded = PointSet::default();
        let mut shared: Vec<u32> = topology.coincident_pairs().map(|(p, _)| p).collect();
        shared.sort_unstable();
        for point in shared {
            if place[point as usize] != point {
                continue;
            }
            let (mut at, mut n) = (point, 1);
            while let Some(next) = topology.next_coincident(at).filter(|&q| q != point) {
                place[next as usize] = point;
                (at, n) = (next, n + 1);
            }
            if n > MAX_COINCIDENT {
                crowded.insert(point);
            }
        }
        Self {
            mesh,
            topology,
            axis: axis.index(),
            centre,
            place,
            crowded,
            partner: vec![NONE; mesh.n_points()],
            how: vec![FoundBy::Position; mesh.n_points()],
        }
    }

    fn at(&self, place: u32) -> Vec3 {
        self.mesh.positions[place as usize]
    }

    fn mirrored(&self, place: u32) -> Vec3 {
        let mut p = self.at(place);
        p[self.axis] = 2.0 * self.centre - p[self.axis];
        p
    }

    /// The vector from the mirror image of one place to the other; the same bits in either order.
    fn apart(&self, a: u32, b: u32) -> f32 {
        let (a, b) = (self.at(a), self.at(b));
        let mut between = a - b;
        between[self.axis] = a[self.axis] + b[self.axis] - 2.0 * self.centre;
        between.length_squared()
    }

    fn is_matched(&self, place: u32) -> bool {
        self.partner[place as usize] != NONE
    }

    fn join(&mut self, a: u32, b: u32, how: FoundBy) {
        for (one, other) in [(a, b), (b, a)] {
            self.partner[one as usize] = other;
            self.how[one as usize] = how;
        }
    }

    /// Places without a counterpart, ascending.
    pub(super) fn unmatched(&self) -> Vec<u32> {
        (0..self.place.len() as u32)
            .filter(|&p| self.place[p as usize] == p && !self.is_matched(p))
            .collect()
    }

    /// Matches mutual nearest neighbours of `places` across the plane, within `reach`, until none is left.
    pub(super) fn by_position(
        &mut self,
        mut places: Vec<u32>,
        reach: f32,
        how: FoundBy,
        task: &Task,
    ) -> Result<(), Cancelled> {
        if reach.is_nan() || reach < 0.0 {
            return Ok(());
        }
        let positions = &self.mesh.positions;
        for _ in 0..MAX_ROUNDS {
            task.check()?;
            if places.is_empty() {
                break;
            }
            let tree = PointTree::new(positions, places.clone());
            task.check()?;
            let search = &*self;
            let nearest = |&a: &u32| {
                if task.is_cancelled() {
                    return NONE;
                }
                let measure = |b: u32| (search.apart(a, b), (a.min(b), a.max(b)));
                tree.nearest_by(positions, search.mirrored(a), reach, measure)
                    .unwrap_or(NONE)
            };
            let chosen: Vec<u32> = places.par_iter().with_min_len(512).map(nearest).collect();
            task.check()?;
            let choice = |b: u32| {
                let i = places.binary_search(&b);
                i.map_or(NONE, |i| chosen[i])
            };
            let is_mutual = |(&a, &b): (&u32, &u32)| b != NONE && a <= b && choice(b) == a;
            let pairs: Vec<(u32, u32)> = places
                .par_iter()
                .zip(&chosen)
                .filter(|&pair| is_mutual(pair))
                .map(|(&a, &b)| (a, b))
                .collect();
            // A place without a candidate within reach gets none later.
            let kept = places.iter().zip(&chosen).filter(|(_, b)| **b != NONE);
            let kept: Vec<u32> = kept.map(|(&a, _)| a).collect();
            for &(a, b) in &pairs {
                self.join(a, b, how);
            }
            places = kept;
            places.retain(|&p| !self.is_matched(p));
            if pairs.is_empty() {
                break;
            }
        }
        Ok(())
    }

    /// All points at a place.
    fn members(&self, place: u32) -> impl Iterator<Item = u32> + '_ {
        let next = move |&at: &u32| {
            self.topology
                .next_coincident(at)
                .filter(|&next| next != place)
        };
        std::iter::successors(Some(place), next)
    }

    /// The places of the corners of all faces around a place.
    fn faces(&self, place: u32) -> impl Iterator<Item = [u32; 3]> + '_ {
        self.members(place).flat_map(move |point| {
            let faces = self.topology.faces(point).iter();
            faces.map(|&f| self.topology.triangles[f as usize].map(|p| self.place[p as usize]))
        })
    }

    /// The places that share an edge with a place, ascending.
    fn ring(&self, place: u32) -> Vec<u32> {
        let neighbours = self.members(place);
        let mut ring: Vec<u32> = neighbours
            .flat_map(|point| self.topology.neighbours(point))
            .map(|&q| self.place[q as usize])
            .filter(|&q| q != place)
            .collect();
        ring.sort_unstable();
        ring.dedup();
        ring
    }

    /// Propagates matches along mirrored faces and edges to unmatched places.
    pub(super) fn by_topology(&mut self, tolerance: f32, task: &Task) -> Result<(), Cancelled> {
        let mut frontier: Vec<u32> = (0..self.place.len() as u32)
            .into_par_iter()
            .filter(|&p| {
                self.is_matched(p)
                    && !self.crowded.contains(p)
                    && self
                        .members(p)
                        .flat_map(|m| self.topology.neighbours(m))
                        .any(|&q| !self.is_matched(self.place[q as usize]))
            })
            .collect();
        while !frontier.is_empty() {
            task.check()?;
            let search = &*self;
            let mut proposals: Vec<Proposal> = frontier
                .par_iter()
                .with_min_len(64)
                .flat_map_iter(|&p| search.proposals_at(p, tolerance))
                .collect();
            proposals
                .par_sort_unstable_by(|a, b| a.pair.cmp(&b.pair).then(a.error.total_cmp(&b.error)));
            // Candidates with most votes first, then by distance.
            let mut ranked: Vec<(usize, Proposal)> = proposals
                .chunk_by(|a, b| a.pair == b.pair)
                .map(|same| (same.len(), same[0]))
                .collect();
            ranked.sort_by(|(n, a), (m, b)| m.cmp(n).then(a.error.total_cmp(&b.error)));
            frontier.clear();
            for (_, Proposal { pair: (a, b), .. }) in ranked {
                if !self.is_matched(a) && !self.is_matched(b) {
                    self.join(a, b, FoundBy::Topology);
                    frontier.push(a);
                    if a != b {
                        frontier.push(b);
                    }
                }
            }
            frontier.sort_unstable();
        }
        Ok(())
    }

    /// The candidates for the third corners of faces on edges from `here`, a matched place, to other matched places.
    fn proposals_at(&self, here: u32, tolerance: f32) -> Vec<Proposal> {
        let mut out = Vec::new();
        for face in self.faces(here) {
            let Some(turn) = face.iter().position(|&c| c == here) else {
                continue;
            };
            let [u, x, y] = [face[turn], face[(turn + 1) % 3], face[(turn + 2) % 3]];
            if u == x || x == y || u == y {
                continue;
            }
            // The edge in the order of the face, and its opposite corner.
            let edge = match (self.is_matched(x), self.is_matched(y)) {
                (true, false) => (u, x, y),
                (false, true) => (y, u, x),
                _ => continue,
            };
            out.extend(self.proposal(edge, tolerance));
        }
        out
    }

    fn proposal(&self, (s, t, w): (u32, u32, u32), tolerance: f32) -> Option<Proposal> {
        let (s2, t2) = (self.partner[s as usize], self.partner[t as usize]);
        if [s, t, w, s2, t2].iter().any(|&p| self.crowded.contains(p)) {
            return None;
        }
        // The mirrored face has the mirrored edge in reverse order.
        let across = |[a, b, c]: [u32; 3]| match (t2, s2) {
            edge if edge == (a, b) => Some(c),
            edge if edge == (b, c) => Some(a),
            edge if edge == (c, a) => Some(b),
            _ => None,
        };
        let corners: Vec<u32> = self
            .faces(s2)
            .filter_map(across)
            .filter(|&c| !self.is_matched(c))
            .collect();
        let mut around = self.ring(s2);
        around.extend(self.ring(t2));
        around.retain(|&c| !self.is_matched(c) && !self.crowded.contains(c));
        let flip = |mut v: Vec3| {
            v[self.axis] = -v[self.axis];
            v
        };
        let from_edge = self.at(w) - (self.at(s) + self.at(t)) * 0.5;
        let expected = (self.at(s2) + self.at(t2)) * 0.5 + flip(from_edge);
        let size = 0.5 * (self.at(w).distance(self.at(s)) + self.at(w).distance(self.at(t)));
        let (error, best) = around
            .into_iter()
            .map(|c| (self.at(c).distance(expected) / size, c))
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))?;
        let fits = if corners.contains(&best) && self.edges_mirror(w, best) {
            // The same faces on both sides: the distance does not matter.
            error.is_finite()
        } else {
            error < MAX_EDGE_ERROR && self.apart(w, best) <= tolerance * tolerance
        };
        fits.then_some(Proposal {
            pair: (w.min(best), w.max(best)),
            error,
        })
    }

    /// Whether both places have the same number of faces, and matched neighbours of one are neighbours of the other.
    fn edges_mirror(&self, a: u32, b: u32) -> bool {
        let rings = [self.ring(a), self.ring(b)];
        let covers = |from: &[u32], to: &[u32]| {
            from.iter().all(|&q| {
                let image = self.partner[q as usize];
                image == NONE || to.binary_search(&image).is_ok()
            })
        };
        rings[0].len() == rings[1].len()
            && self.faces(a).count() == self.faces(b).count()
            && covers(&rings[0], &rings[1])
            && covers(&rings[1], &rings[0])
    }

    /// Converts matches of places to matches of points.
    pub(super) fn finish(self, tolerance: f32, task: &Task) -> Result<Matches, Cancelled> {
        let mut partners: Vec<Option<(u32, FoundBy)>> = vec![None; self.place.len()];
        for place in 0..self.place.len() as u32 {
            let other = self.partner[place as usize];
            if self.place[place as usize] != place || other == NONE || other < place {
                continue;
            }
            let how = self.how[place as usize];
            for (a, b) in self.member_pairs(place, other) {
                partners[a as usize] = Some((b, how));
                partners[b as usize] = Some((a, how));
            }
        }
        task.check()?;
        let alone: Vec<u32> = (0..self.place.len() as u32)
            .filter(|&p| partners[p as usize].is_none())
            .collect();
        let mut substitutes = Vec::new();
        if !alone.is_empty() {
            let places = (0..self.place.len() as u32).filter(|&p| self.place[p as usize] == p);
            let tree = PointTree::new(&self.mesh.positions, places.collect());
            // For places, the counterpart of the first of their points that has one.
            let mut of_place = vec![NONE; self.place.len()];
            for (&place, partner) in self.place.iter().zip(&partners) {
                if let (NONE, Some((q, _))) = (of_place[place as usize], partner) {
                    of_place[place as usize] = *q;
                }
            }
            let found = |&point: &u32| {
                let place = self.place[point as usize];
                if of_place[place as usize] != NONE {
                    return Some((point, of_place[place as usize]));
                }
                if tolerance.is_nan() || tolerance <= 0.0 || task.is_cancelled() {
                    return None;
                }
                let at = self.mirrored(place);
                let near = tree.nearest(&self.mesh.positions, at, tolerance)?;
                // A place off the centre line is not its own counterpart.
                (near != place).then_some((point, near))
            };
            let found: Vec<_> = alone.par_iter().with_min_len(512).map(found).collect();
            substitutes.extend(found.into_iter().flatten());
        }
        task.step("Finding mirrored points", 1.0)?;
        Ok(Matches {
            partners,
            substitutes,
        })
    }

    /// Matches the points of two mirrored places by their neighbours.
    fn member_pairs(&self, a: u32, b: u32) -> Vec<(u32, u32)> {
        let mut ours: Vec<u32> = self.members(a).collect();
        ours.sort_unstable();
        if a == b {
            // On the centre line both sides of a seam are their own counterparts.
            return ours.into_iter().map(|p| (p, p)).collect();
        }
        let mut theirs: Vec<u32> = self.members(b).collect();
        theirs.sort_unstable();
        if ours.len() == 1 && theirs.len() == 1 || ours.len().max(theirs.len()) > MAX_COINCIDENT {
            return ours.into_iter().zip(theirs).collect();
        }
        let around = |point: u32| -> Vec<u32> {
            let neighbours = self.topology.neighbours(point).iter();
            let mut places: Vec<u32> = neighbours.map(|&q| self.place[q as usize]).collect();
            places.sort_unstable();
            places
        };
        let theirs: Vec<(u32, Vec<u32>)> = theirs.into_iter().map(|p| (p, around(p))).collect();
        let mut ranked: Vec<(usize, u32, u32)> = Vec::new();
        for &p in &ours {
            let images: Vec<u32> = around(p)
                .iter()
                .map(|&q| self.partner[q as usize])
                .collect();
            ranked.extend(theirs.iter().map(|(q, places)| {
                let shared = images.iter().filter(|i| places.binary_search(i).is_ok());
                (shared.count(), p, *q)
            }));
        }
        ranked.sort_by(|x, y| y.0.cmp(&x.0).then((x.1, x.2).cmp(&(y.1, y.2))));
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for (_, p, q) in ranked {
            if pairs.iter().all(|&(a, b)| a != p && b != q) {
                pairs.push((p, q));
            }
        }
        pairs
    }
}

/// Tolerance of mirrored positions, metres.
pub(super) fn exact_tolerance(mesh: &Mesh) -> f32 {
    let positions = &mesh.positions;
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for &p in positions {
        low = low.min(p);
        high = high.max(p);
    }
    let of_bounds = EXACT * low.distance(high);
    // A few thousand edges suffice for the median.
    let step = mesh.triangles.len() / 4096 + 1;
    let at = |v: u32| positions[mesh.point_of_vertex[v as usize] as usize];
    let edges = mesh.triangles.iter().step_by(step);
    let mut lengths: Vec<f32> = edges.map(|t| at(t[0]).distance(at(t[1]))).collect();
    if lengths.is_empty() {
        return of_bounds;
    }
    let middle = lengths.len() / 2;
    let (_, usual, _) = lengths.select_nth_unstable_by(middle, f32::total_cmp);
    of_bounds.min(EXACT_OF_EDGE * *usual)
}
