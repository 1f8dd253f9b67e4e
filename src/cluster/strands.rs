//! Cardinal splines along strands of the mesh: the older interpolation of the Control Cluster Method.

use super::frame::{CornerFrame, reflecting};
use super::layout::Layout;
use super::net::blended_rotation;
use super::surface::ClusterSurface;
use glam::{DMat3, DVec3};

/// The most edges between two clusters of a strand.
const LONGEST: usize = 1000;

/// No corner: the end of a strand.
const NONE: u32 = u32::MAX;

/// A free vertex on a strand: between two clusters along mesh edges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StrandPoint {
    /// The vertex of the surface.
    pub vertex: u32,
    /// The two clusters before it and the two after it, as corners; the first and the last may be missing.
    corners: [u32; 4],
    /// Arc lengths at bind between these, metres.
    spans: [f64; 3],
    /// The fraction of the middle span before the vertex.
    t: f64,
}

impl StrandPoint {
    /// Its corners.
    pub fn corners(&self) -> impl Iterator<Item = u32> + Clone + '_ {
        self.corners.into_iter().filter(|&c| c != NONE)
    }

    /// The place on the spline, and the matrix that carries details there: a rotation, after a reflection where the first
    /// of its two corners mirrors.
    ///
    /// A cubic Hermite span with the tangents of a non-uniform cardinal spline (Catmull & Rom 1974 for `tension` 0);
    /// beyond its ends a strand goes straight on.
    pub fn at(&self, frames: &[CornerFrame], tension: f64) -> (DVec3, DMat3) {
        let [_, first, second, _] = self.corners.map(|c| frames.get(c as usize));
        let (Some(first), Some(second)) = (first, second) else {
            return (DVec3::ZERO, DMat3::IDENTITY);
        };
        let beyond =
            |c: u32, straight: DVec3| frames.get(c as usize).map_or(straight, |f| f.position);
        let (p1, p2) = (first.position, second.position);
        let p = [
            beyond(self.corners[0], p1 * 2.0 - p2),
            p1,
            p2,
            beyond(self.corners[3], p2 * 2.0 - p1),
        ];
        let t = self.t;
        let rotations = [first.rotation, second.rotation, first.rotation];
        let rotation = blended_rotation(rotations, [1.0 - t, t, 0.0]);
        let carrying = reflecting(rotation, first.mirrored);
        (cardinal(p, self.spans, t, tension), carrying)
    }
}

/// The free vertices of a layout that lie on strands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Strands {
    /// The vertices, ascending.
    pub points: Vec<StrandPoint>,
}

impl Strands {
    /// Strands of the mesh lines through each free vertex: a line crosses a vertex of six faces by the opposite edge, and ends
    /// elsewhere. The shortest one between two corners is taken; other vertices follow patches.
    pub fn automatic(surface: &ClusterSurface, layout: &Layout) -> Self {
        let lines = Lines::new(surface, layout);
        let points = layout
            .free
            .iter()
            .filter_map(|free| lines.through(free.vertex));
        let mut points: Vec<StrandPoint> = points.collect();
        points.sort_unstable_by_key(|p| p.vertex);
        Self { points }
    }

    /// Strands along paths of vertices. A vertex before the first corner of its path, or after the last one, follows patches;
    /// of two paths the first counts.
    pub fn along(surface: &ClusterSurface, layout: &Layout, paths: &[Vec<u32>]) -> Self {
        let mut points = Vec::new();
        for path in paths {
            let mut lengths = vec![0.0];
            for edge in path.windows(2) {
                let [a, b] = [edge[0], edge[1]].map(|v| surface.positions[v as usize]);
                lengths.push(lengths[lengths.len() - 1] + a.distance(b));
            }
            let knots: Vec<(usize, u32)> = (0..)
                .zip(path)
                .filter_map(|(i, &v)| Some((i, layout.corner_of_vertex(v)?)))
                .collect();
            for (k, pair) in knots.windows(2).enumerate() {
                let before = k.checked_sub(1).map(|k| knots[k]);
                let after = knots.get(k + 2).copied();
                let span = lengths[pair[1].0] - lengths[pair[0].0];
                let length = |a: usize, b: usize| lengths[b] - lengths[a];
                let inside = pair[0].0 + 1..pair[1].0;
                for (i, &vertex) in inside.clone().zip(&path[inside]) {
                    points.push(StrandPoint {
                        vertex,
                        corners: [
                            before.map_or(NONE, |b| b.1),
                            pair[0].1,
                            pair[1].1,
                            after.map_or(NONE, |a| a.1),
                        ],
                        spans: [
                            before.map_or(span, |b| length(b.0, pair[0].0)),
                            span,
                            after.map_or(span, |a| length(pair[1].0, a.0)),
                        ],
                        t: fraction(length(pair[0].0, i), span),
                    });
                }
            }
        }
        points.sort_by_key(|p| p.vertex);
        points.dedup_by_key(|p| p.vertex);
        Self { points }
    }

    /// The place of a vertex on its strand.
    pub fn of_vertex(&self, vertex: u32) -> Option<&StrandPoint> {
        let i = self
            .points
            .binary_search_by_key(&vertex, |p| p.vertex)
            .ok()?;
        Some(&self.points[i])
    }
}

/// A point of the non-uniform cardinal spline through `p` with spans `[a, b, c]`, at the fraction `t` of the middle one.
fn cardinal(p: [DVec3; 4], [a, b, c]: [f64; 3], t: f64, tension: f64) -> DVec3 {
    let slope = |d: DVec3, span: f64| if span > 0.0 { d / span } else { DVec3::ZERO };
    let (s0, s1, s2) = (
        slope(p[1] - p[0], a),
        slope(p[2] - p[1], b),
        slope(p[3] - p[2], c),
    );
    let tangent = |before: f64, s: DVec3, after: f64, r: DVec3| {
        slope(
            (s * after + r * before) * ((1.0 - tension) * b),
            before + after,
        )
    };
    let (m1, m2) = (tangent(a, s0, b, s1), tangent(b, s1, c, s2));
    let (t2, t3) = (t * t, t * t * t);
    p[1] * (2.0 * t3 - 3.0 * t2 + 1.0)
        + m1 * (t3 - 2.0 * t2 + t)
        + p[2] * (3.0 * t2 - 2.0 * t3)
        + m2 * (t3 - t2)
}

fn fraction(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.5 }
}

/// The lines of the mesh.
struct Lines<'a> {
    surface: &'a ClusterSurface,
    /// n_vertices: the corner at the vertex, or [`NONE`].
    corner: Vec<u32>,
    /// The faces of each vertex, as compressed rows: (from, to) counter-clockwise around it.
    starts: Vec<u32>,
    sides: Vec<(u32, u32)>,
}

impl<'a> Lines<'a> {
    fn new(surface: &'a ClusterSurface, layout: &Layout) -> Self {
        let mut corner = vec![NONE; surface.n_vertices()];
        for (i, &v) in (0u32..).zip(&layout.corners) {
            corner[v as usize] = i;
        }
        let mut sides: Vec<(u32, u32, u32)> = surface
            .triangles
            .iter()
            .flat_map(|&[a, b, c]| [(a, b, c), (b, c, a), (c, a, b)])
            .collect();
        sides.sort_unstable();
        let starts = (0..=surface.n_vertices() as u32)
            .map(|v| sides.partition_point(|s| s.0 < v) as u32)
            .collect();
        Self {
            surface,
            corner,
            starts,
            sides: sides.into_iter().map(|s| (s.1, s.2)).collect(),
        }
    }

    /// The six neighbours around a vertex, counter-clockwise; `None` on a boundary and for other numbers of faces.
    fn ring(&self, v: u32) -> Option<[u32; 6]> {
        let [first, end] = [0, 1].map(|i| self.starts[v as usize + i] as usize);
        let sides = &self.sides[first..end];
        if sides.len() != 6 {
            return None;
        }
        let mut ring = [sides[0].0; 6];
        for i in 1..6 {
            ring[i] = sides.iter().find(|s| s.0 == ring[i - 1])?.1;
        }
        let closes = sides.iter().any(|s| *s == (ring[5], ring[0]));
        (closes && (1..6).all(|i| !ring[..i].contains(&ring[i]))).then_some(ring)
    }

    /// Walks from `v` to its neighbour `to` and on to the next corner: the corner, the length, the vertex before it.
    fn walk(&self, v: u32, to: u32) -> Option<(u32, f64, u32)> {
        let (start, mut from, mut at, mut length) = (v, v, to, 0.0);
        for _ in 0..LONGEST {
            length +=
                self.surface.positions[from as usize].distance(self.surface.positions[at as usize]);
            if self.corner[at as usize] != NONE {
                return Some((at, length, from));
            }
            let next = self.opposite(at, from)?;
            if at == start {
                return None;
            }
            (from, at) = (at, next);
        }
        None
    }

    /// Where a line that reaches a vertex from `from` goes on.
    fn opposite(&self, v: u32, from: u32) -> Option<u32> {
        let ring = self.ring(v)?;
        let i = ring.iter().position(|&w| w == from)?;
        Some(ring[(i + 3) % 6])
    }

    /// The place of a free vertex on the shortest line through it.
    fn through(&self, v: u32) -> Option<StrandPoint> {
        let ring = self.ring(v)?;
        let mut best = None;
        for i in 0..3 {
            let (Some(back), Some(ahead)) = (self.walk(v, ring[i]), self.walk(v, ring[i + 3]))
            else {
                continue;
            };
            let length = back.1 + ahead.1;
            if best.is_none_or(|(shortest, _, _)| length < shortest) && back.0 != ahead.0 {
                best = Some((length, back, ahead));
            }
        }
        let (span, back, ahead) = best?;
        let beyond = |(corner, _, from): (u32, f64, u32)| {
            let next = self.opposite(corner, from)?;
            self.walk(corner, next)
        };
        let (before, after) = (beyond(back), beyond(ahead));
        let corner = |v: u32| self.corner[v as usize];
        Some(StrandPoint {
            vertex: v,
            corners: [
                before.map_or(NONE, |b| corner(b.0)),
                corner(back.0),
                corner(ahead.0),
                after.map_or(NONE, |a| corner(a.0)),
            ],
            spans: [
                before.map_or(span, |b| b.1),
                span,
                after.map_or(span, |a| a.1),
            ],
            t: fraction(back.1, span),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniform_knots_give_the_catmull_rom_spline() {
        let p = [
            DVec3::ZERO,
            DVec3::new(1.0, 2.0, 0.0),
            DVec3::new(3.0, 3.0, 1.0),
            DVec3::new(4.0, 1.0, 1.0),
        ];
        let middle = cardinal(p, [1.0; 3], 0.5, 0.0);
        assert!((middle - DVec3::new(2.0, 2.75, 0.5)).length() < 1e-15);
        let straight = cardinal(p, [1.0; 3], 0.5, 1.0);
        assert!((straight - (p[1] + p[2]) / 2.0).length() < 1e-15);
        assert_eq!(cardinal(p, [0.3, 2.0, 1.0], 0.0, 0.2), p[1]);
        assert_eq!(cardinal(p, [0.3, 2.0, 1.0], 1.0, 0.2), p[2]);
    }

    #[test]
    fn spans_join_smoothly_with_uneven_knots() {
        let p = [0.0, 1.0, 1.5, 4.0, 4.5].map(|x: f64| DVec3::new(x, x.sin(), x * x));
        let spans = [1.0, 0.5, 2.5, 0.5];
        let h = 1e-6;
        let left = [p[0], p[1], p[2], p[3]];
        let right = [p[1], p[2], p[3], p[4]];
        let end = cardinal(left, [spans[0], spans[1], spans[2]], 1.0 - h, 0.0);
        let start = cardinal(right, [spans[1], spans[2], spans[3]], h, 0.0);
        // Derivatives by arc length on both sides of p[2].
        let (before, after) = (
            (p[2] - end) / (h * spans[1]),
            (start - p[2]) / (h * spans[2]),
        );
        assert!((before - after).length() < 1e-4, "{before} {after}");
    }
}
