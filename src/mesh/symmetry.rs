//! Mirror images of points in bind pose.

use super::point_tree::PointTree;
use super::{Mesh, PointSet, Topology};
use crate::math::Axis;
use crate::task::{Cancelled, Task};
use glam::Vec3;
use rayon::prelude::*;

/// Tolerance of mirrored positions, as a fraction of the bounding-box diagonal.
const EXACT: f32 = 1e-5;

/// The same as a fraction of the median edge length: one distant point must not enlarge it for a whole character.
const EXACT_OF_EDGE: f32 = 0.02;

/// Maximum number of rounds in which positions whose nearest match was taken try the next one.
const ROUNDS: usize = 12;

/// A position whose edges do not all mirror is matched along an edge only within this fraction of the edge's length
/// from the mirrored position.
const PLAUSIBLE: f32 = 0.35;

/// Where more points than this share a position they are matched in order instead of by their neighbours.
const CROWD: usize = 32;

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

/// The number of points by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SymmetryCounts {
    /// Points on the centre line: their own counterpart.
    pub centre: usize,
    /// Points with a counterpart at the mirrored position.
    pub position: usize,
    /// Points matched by the surrounding edges.
    pub topology: usize,
    /// Points matched with the nearest one.
    pub nearest: usize,
    /// Points without a counterpart that have a substitute ([`Symmetry::source`]).
    pub stand_in: usize,
    /// Points with neither.
    pub unmatched: usize,
}

/// The mirror images of the points of a mesh across a plane of its bind pose.
///
/// It depends on the bind positions and the faces only, never on the pose shown.
///
/// Invariant: the counterpart of a point's counterpart is the point.
#[derive(Clone, Debug, PartialEq)]
pub struct Symmetry {
    axis: Axis,
    centre: f32,
    /// n_points: the counterpart; itself on the centre line; `None` if there is none.
    partners: Vec<Option<(u32, FoundBy)>>,
    /// For points without a counterpart, ascending: the closest substitute.
    stand_ins: Vec<(u32, u32)>,
}

impl Symmetry {
    /// Finds every point's counterpart across the plane through the origin: by position, then by topology, then the
    /// nearest within `tolerance`, metres.
    pub fn find(mesh: &Mesh, axis: Axis, tolerance: f32, task: &Task) -> Result<Self, Cancelled> {
        Self::find_about(mesh, axis, 0.0, tolerance, task)
    }

    /// The same across the plane where the coordinate is `centre`, metres.
    pub fn find_about(
        mesh: &Mesh,
        axis: Axis,
        centre: f32,
        tolerance: f32,
        task: &Task,
    ) -> Result<Self, Cancelled> {
        task.step("Finding mirrored points", 0.0)?;
        let mut search = Search::new(mesh, axis, centre);
        let all = search.unmatched();
        search.by_position(all, exactness(mesh), FoundBy::Position, task)?;
        task.step("Finding mirrored points", 0.5)?;
        search.by_topology(tolerance, task)?;
        task.step("Finding mirrored points", 0.8)?;
        let rest = search.unmatched();
        search.by_position(rest, tolerance, FoundBy::Nearest, task)?;
        task.step("Finding mirrored points", 0.9)?;
        search.finish(tolerance, task)
    }

    /// The axis perpendicular to the plane.
    pub fn axis(&self) -> Axis {
        self.axis
    }

    /// The coordinate of the plane, metres.
    pub fn centre(&self) -> f32 {
        self.centre
    }

    /// Number of points of the mesh.
    pub fn n_points(&self) -> usize {
        self.partners.len()
    }

    /// The counterpart of a point; itself on the centre line.
    pub fn partner(&self, point: u32) -> Option<u32> {
        self.found(point).map(|(partner, _)| partner)
    }

    /// The same, and how it was found.
    pub fn found(&self, point: u32) -> Option<(u32, FoundBy)> {
        *self.partners.get(point as usize)?
    }
    /// The point whose mirrored weights fit this one: its counterpart; if the other side has fewer points here, the
    /// counterpart of a point at the same position, else the nearest one within the tolerance.
    pub fn source(&self, point: u32) -> Option<u32> {
        self.partner(point).or_else(|| {
            let at = self.stand_ins.binary_search_by_key(&point, |&(p, _)| p);
            at.ok().map(|i| self.stand_ins[i].1)
        })
    }

    /// Points without a counterpart, ascending, with the substitute of [`Symmetry::source`].
    pub fn stand_ins(&self) -> &[(u32, u32)] {
        &self.stand_ins
    }

    /// Points without a counterpart.
    pub fn unmatched(&self) -> PointSet {
        self.points_where(Option::is_none)
    }

    /// Points on the centre line.
    pub fn centre_points(&self) -> PointSet {
        let points = self.partners.iter().enumerate();
        points
            .filter(|(p, partner)| matches!(partner, Some((q, _)) if *q as usize == *p))
            .map(|(p, _)| p as u32)
            .collect()
    }

    /// The number of points by result.
    pub fn counts(&self) -> SymmetryCounts {
        let mut counts = SymmetryCounts::default();
        for (point, partner) in self.partners.iter().enumerate() {
            *match partner {
                Some((q, _)) if *q as usize == point => &mut counts.centre,
                Some((_, FoundBy::Position)) => &mut counts.position,
                Some((_, FoundBy::Topology)) => &mut counts.topology,
                Some((_, FoundBy::Nearest)) => &mut counts.nearest,
                None => &mut counts.unmatched,
            } += 1;
        }
        counts.stand_in = self.stand_ins.len();
        counts.unmatched -= counts.stand_in;
        counts
    }

    fn points_where(&self, is_in: impl Fn(&Option<(u32, FoundBy)>) -> bool + Sync) -> PointSet {
        let word = |partners: &[Option<(u32, FoundBy)>]| {
            let bits = partners.iter().enumerate();
            bits.fold(0, |word, (i, p)| word | u64::from(is_in(p)) << i)
        };
        PointSet::from_words(self.partners.par_chunks(64).map(word).collect())
    }
}

/// Tolerance of mirrored positions, metres.
fn exactness(mesh: &Mesh) -> f32 {
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

/// The state of a search. It matches *places*: bind positions, each represented by the lowest of its points.
struct Search<'a> {
    mesh: &'a Mesh,
    topology: &'a Topology,
    axis: usize,
    named: Axis,
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
    fn new(mesh: &'a Mesh, axis: Axis, centre: f32) -> Self {
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
            if n > CROWD {
                crowded.insert(point);
            }
        }
        Self {
            mesh,
            topology,
            axis: axis.index(),
            named: axis,
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
    fn unmatched(&self) -> Vec<u32> {
        (0..self.place.len() as u32)
            .filter(|&p| self.place[p as usize] == p && !self.is_matched(p))
            .collect()
    }

    /// Matches mutual nearest neighbours of `places` across the plane, within `reach`, until none is left.
    fn by_position(
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
        for _ in 0..ROUNDS {
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
    fn by_topology(&mut self, tolerance: f32, task: &Task) -> Result<(), Cancelled> {
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
            error < PLAUSIBLE && self.apart(w, best) <= tolerance * tolerance
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
    fn finish(self, tolerance: f32, task: &Task) -> Result<Symmetry, Cancelled> {
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
        let mut stand_ins = Vec::new();
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
            stand_ins.extend(found.into_iter().flatten());
        }
        task.step("Finding mirrored points", 1.0)?;
        Ok(Symmetry {
            axis: self.named,
            centre: self.centre,
            partners,
            stand_ins,
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
        if ours.len() == 1 && theirs.len() == 1 || ours.len().max(theirs.len()) > CROWD {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A sheet of (2 n + 1) x n points around x = 0, its quads cut towards the middle on both sides.
    fn sheet(n: u32) -> Mesh {
        let wide = 2 * n + 1;
        let point = |x: u32, y: u32| y * wide + x;
        let positions = (0..wide * n)
            .map(|i| {
                let (x, y) = ((i % wide) as f32 - n as f32, (i / wide) as f32);
                Vec3::new(x * 0.1, y * 0.1, (x.abs() * 0.7 + y * 1.3).sin() * 0.05)
            })
            .collect();
        let mut triangles = Vec::new();
        for y in 0..n - 1 {
            for x in 0..wide - 1 {
                let [a, b, c, d] = [
                    point(x, y),
                    point(x + 1, y),
                    point(x + 1, y + 1),
                    point(x, y + 1),
                ];
                triangles.extend(if x < n {
                    [[a, b, c], [a, c, d]]
                } else {
                    [[a, b, d], [b, c, d]]
                });
            }
        }
        mesh(positions, triangles)
    }

    fn mesh(positions: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Mesh {
        let n = positions.len();
        Mesh {
            point_of_vertex: (0..n as u32).collect(),
            normal_of_vertex: vec![0; n],
            normals: vec![Vec3::Z],
            point_of_normal: vec![0],
            positions,
            triangles,
            ..Mesh::default()
        }
    }

    fn found(mesh: &Mesh, tolerance: f32) -> Symmetry {
        let symmetry = Symmetry::find(mesh, Axis::X, tolerance, &Task::new()).unwrap();
        for p in 0..mesh.n_points() as u32 {
            if let Some(q) = symmetry.partner(p) {
                assert_eq!(symmetry.partner(q), Some(p), "{p} - {q}");
            }
        }
        symmetry
    }

    fn image(n: u32, point: u32) -> u32 {
        let wide = 2 * n + 1;
        point / wide * wide + (wide - 1 - point % wide)
    }

    #[test]
    fn a_symmetric_sheet_matches_by_position() {
        let mesh = sheet(10);
        let symmetry = found(&mesh, 0.01);
        for p in 0..210 {
            assert_eq!(symmetry.found(p), Some((image(10, p), FoundBy::Position)));
        }
        let counts = symmetry.counts();
        assert_eq!(
            (counts.centre, counts.position, counts.unmatched),
            (10, 200, 0)
        );
        assert_eq!(symmetry.centre_points().count(), 10);
        assert!(symmetry.unmatched().is_empty());
        let other = Symmetry::find(&mesh, Axis::Y, 0.0, &Task::new()).unwrap();
        assert!(other.counts().unmatched > 100);
    }

    #[test]
    fn a_sheet_beside_the_origin_needs_its_centre() {
        let mut mesh = sheet(6);
        mesh.positions.iter_mut().for_each(|p| p.x += 3.0);
        assert_eq!(found(&mesh, 0.001).counts().position, 0);
        let about = Symmetry::find_about(&mesh, Axis::X, 3.0, 0.0, &Task::new()).unwrap();
        assert_eq!(about.counts().unmatched, 0);
        assert_eq!(about.partner(0), Some(12));
    }

    #[test]
    fn a_side_that_was_moved_matches_by_its_faces() {
        let n = 12;
        let mut mesh = sheet(n);
        // One side is bent away, farther than the next points are apart, and jittered.
        for (i, p) in mesh
            .positions
            .iter_mut()
            .enumerate()
            .filter(|(_, p)| p.x > 0.05)
        {
            let jitter = Vec3::new((i as f32).sin(), (i as f32 * 1.7).cos(), 0.0) * 0.01;
            *p += Vec3::new(0.0, -0.4 * p.x, 0.5 * p.x * p.x) + jitter;
        }
        let symmetry = found(&mesh, 0.001);
        for p in 0..mesh.n_points() as u32 {
            assert_eq!(symmetry.partner(p), Some(image(n, p)), "{p}");
        }
        let counts = symmetry.counts();
        assert_eq!(counts.topology, 2 * 12 * 12);
    }

    #[test]
    fn quads_cut_the_same_way_on_both_sides_still_match() {
        let n = 8;
        let mut mesh = sheet(n);
        let wide = 2 * n + 1;
        mesh.triangles = (0..n - 1)
            .flat_map(|y| (0..wide - 1).map(move |x| y * wide + x))
            .flat_map(|a| [[a, a + 1, a + wide + 1], [a, a + wide + 1, a + wide]])
            .collect();
        for (i, p) in mesh
            .positions
            .iter_mut()
            .enumerate()
            .filter(|(_, p)| p.x > 0.05)
        {
            *p += Vec3::new((i as f32).sin(), (i as f32 * 1.7).cos(), 0.0) * 0.01;
        }
        let symmetry = found(&mesh, 0.05);
        for p in 0..mesh.n_points() as u32 {
            assert_eq!(symmetry.partner(p), Some(image(n, p)), "{p}");
        }
    }

    #[test]
    fn the_sides_of_a_seam_find_their_own() {
        // Columns 2 and 6 of nine are cut: each point stands there twice.
        let n = 4;
        let mut mesh = sheet(n);
        let wide = 2 * n + 1;
        for (column, left_of) in [(2, true), (6, false)] {
            for y in 0..n {
                let (old, new) = (y * wide + column, mesh.positions.len() as u32);
                mesh.positions.push(mesh.positions[old as usize]);
                for triangle in &mut mesh.triangles {
                    let is_outer = triangle.iter().filter(|&&c| c < wide * n).any(|&c| {
                        if left_of {
                            c % wide < column
                        } else {
                            c % wide > column
                        }
                    });
                    if is_outer {
                        triangle
                            .iter_mut()
                            .filter(|c| **c == old)
                            .for_each(|c| *c = new);
                    }
                }
            }
        }
        let n_points = mesh.positions.len();
        mesh.point_of_vertex = (0..n_points as u32).collect();
        mesh.normal_of_vertex = vec![0; n_points];
        let symmetry = found(&mesh, 0.01);
        assert_eq!(symmetry.counts().unmatched, 0);
        for y in 0..n {
            assert_eq!(symmetry.partner(y * wide + 2), Some(y * wide + 6));
            assert_eq!(symmetry.partner(wide * n + y), Some(wide * n + n + y));
        }
    }

    #[test]
    fn what_one_side_has_alone_is_told_and_gets_a_stand_in() {
        let n = 5;
        let mut mesh = sheet(n);
        let tip = mesh.positions.len() as u32;
        // A seam side without its like, a spike within the tolerance and one beyond it.
        mesh.positions.push(mesh.positions[1]);
        mesh.positions.push(mesh.positions[1] + Vec3::Z * 0.02);
        mesh.positions.push(mesh.positions[1] + Vec3::Z * 5.0);
        mesh.triangles.extend([[tip, tip + 1, tip + 2]]);
        mesh.point_of_vertex = (0..tip + 3).collect();
        mesh.normal_of_vertex = vec![0; tip as usize + 3];
        let symmetry = found(&mesh, 0.05);
        assert_eq!(
            symmetry.unmatched().iter().collect::<Vec<_>>(),
            [tip, tip + 1, tip + 2]
        );
        let other = symmetry.partner(1).unwrap();
        assert_eq!(symmetry.source(tip), Some(other));
        assert_eq!(symmetry.source(tip + 1), Some(other));
        assert_eq!(symmetry.source(tip + 2), None);
        let counts = symmetry.counts();
        assert_eq!((counts.stand_in, counts.unmatched), (2, 1));
    }

    #[test]
    fn one_place_for_all_points_takes_no_time() {
        let n = 20_000;
        let mut all = mesh(vec![Vec3::X; n], Vec::new());
        assert_eq!(found(&all, 0.1).counts().unmatched, n);
        all.positions.fill(Vec3::ZERO);
        all = mesh(all.positions, Vec::new());
        assert_eq!(found(&all, 0.1).counts().centre, n);
    }

    #[test]
    fn it_stops_when_asked_and_gives_the_same_on_any_number_of_threads() {
        let task = Task::new();
        task.cancel();
        assert!(Symmetry::find(&sheet(4), Axis::X, 0.01, &task).is_err());
        let mut mesh = sheet(20);
        for (i, p) in mesh.positions.iter_mut().enumerate() {
            *p += Vec3::splat((i as f32 * 0.37).sin() * 0.004);
        }
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.unwrap().install(|| found(&mesh, 0.1))
        };
        assert_eq!(on(1), on(2));
        assert_eq!(on(1), on(7));
    }
}
