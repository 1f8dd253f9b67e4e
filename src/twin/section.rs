//! The girth of a bone: the perimeter of the skin in a plane normal to it.

use super::body::{Body, Shape};
use super::bones::BoneLine;
use crate::skeleton::JointId;
use glam::DVec3;
use std::collections::HashMap;

/// A plane across a bone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// On the axis of the bone.
    pub(super) centre: DVec3,
    /// Along the bone, unit.
    pub(super) normal: DVec3,
}

impl Cut {
    /// Normal to a bone at a place of it, 0 - 1; `None` where it has no length.
    pub(super) fn of(line: &BoneLine, at: f64) -> Option<Self> {
        let normal = line.axis();
        let centre = line.head + (line.tail - line.head) * at;
        (normal != DVec3::ZERO).then_some(Self { centre, normal })
    }
}

/// The triangles round a bone, of each mesh of a body: those whose points follow most the bone, its parent or its children.
#[derive(Clone, Debug)]
pub(super) struct Sleeve {
    /// One list a mesh; triangles of welded points.
    triangles: Vec<Vec<[u32; 3]>>,
}

impl Sleeve {
    pub(super) fn of(body: &Body, joint: JointId) -> Self {
        let mut near = vec![joint.0];
        near.extend(body.skeleton.logical_parent(joint).map(|parent| parent.0));
        near.extend(
            body.skeleton
                .logical_children(joint)
                .iter()
                .map(|child| child.0),
        );
        let of_shape = |shape: &Shape| {
            let is_near = |p: &u32| near.contains(&shape.dominant[*p as usize]);
            let triangles = shape.triangles.iter().filter(|t| t.iter().all(is_near));
            let welded = triangles.map(|t| t.map(|p| shape.welded[p as usize]));
            welded.collect()
        };
        Self {
            triangles: body.shapes.iter().map(of_shape).collect(),
        }
    }

    /// The perimeter of [`Sleeve::curve`], metres.
    pub(super) fn girth(&self, points: &[&[DVec3]], cut: Cut) -> Option<f64> {
        let curve = self.curve(points, cut)?;
        curve.length(|point| points[curve.mesh][point as usize])
    }

    /// The closed curve in the plane that goes around the axis, of several the nearest. `points`: of each mesh, metres.
    pub(super) fn curve(&self, points: &[&[DVec3]], cut: Cut) -> Option<SkinCurve> {
        let meshes = self.triangles.iter().zip(points).enumerate();
        let loops = meshes.flat_map(|(mesh, (triangles, points))| {
            let loops = closed_loops(triangles, points, cut).into_iter();
            loops.map(move |crossings| SkinCurve { mesh, crossings })
        });
        let round = loops.filter_map(|curve| {
            let places = curve.places(|point| points[curve.mesh][point as usize]);
            winds_round(&places, cut).then(|| (distance(&places, cut.centre), curve))
        });
        let nearest = round.reduce(|best, found| if best.0 <= found.0 { best } else { found });
        nearest.map(|(_, curve)| curve)
    }
}

/// A closed curve on the skin: where a plane cuts it in the rest pose.
#[derive(Clone, Debug)]
pub(super) struct SkinCurve {
    /// The mesh that it lies on, by its place in the body.
    pub(super) mesh: usize,
    crossings: Vec<Crossing>,
}

/// Where a curve crosses an edge of triangles.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    edge: (u32, u32),
    /// 0 at the first point of the edge, 1 at the second.
    at: f64,
}

impl SkinCurve {
    /// Its corners, metres. `position`: of a point of its mesh.
    pub(super) fn places(&self, position: impl Fn(u32) -> DVec3) -> Vec<DVec3> {
        let place = |crossing: &Crossing| {
            let (a, b) = crossing.edge;
            let (a, b) = (position(a), position(b));
            a + (b - a) * crossing.at
        };
        self.crossings.iter().map(place).collect()
    }

    /// Its length, metres; `None` where a position is not finite. `position`: of a point of its mesh, metres.
    pub(super) fn length(&self, position: impl Fn(u32) -> DVec3) -> Option<f64> {
        let length = perimeter(&self.places(position));
        length.is_finite().then_some(length)
    }
}

fn perimeter(curve: &[DVec3]) -> f64 {
    sides(curve).map(|(a, b)| a.distance(b)).sum()
}

fn sides(curve: &[DVec3]) -> impl Iterator<Item = (DVec3, DVec3)> + '_ {
    let next = curve.iter().cycle().skip(1);
    curve.iter().copied().zip(next.copied())
}

/// The mean distance of the corners of a curve. The nearest corner would not do: a skirt may touch the leg that it surrounds.
fn distance(curve: &[DVec3], centre: DVec3) -> f64 {
    let distances = curve.iter().map(|p| p.distance(centre));
    distances.sum::<f64>() / curve.len() as f64
}

/// Whether the curve goes round the axis: its winding number is not 0.
fn winds_round(curve: &[DVec3], cut: Cut) -> bool {
    let x = cut.normal.any_orthonormal_vector();
    let y = cut.normal.cross(x);
    let turns = sides(curve).map(|(a, b)| {
        let flat = |p: DVec3| ((p - cut.centre).dot(x), (p - cut.centre).dot(y));
        let ((ax, ay), (bx, by)) = (flat(a), flat(b));
        (ax * by - ay * bx).atan2(ax * bx + ay * by)
    });
    turns.sum::<f64>().abs() > std::f64::consts::PI
}

/// The closed curves in which a plane meets triangles; points on the plane count as above it, so that every crossing is
/// inside an edge.
fn closed_loops(triangles: &[[u32; 3]], points: &[DVec3], cut: Cut) -> Vec<Vec<Crossing>> {
    let height = |p: u32| (points[p as usize] - cut.centre).dot(cut.normal);
    let mut nodes: HashMap<(u32, u32), usize> = HashMap::new();
    let mut crossings: Vec<Crossing> = Vec::new();
    let mut segments: Vec<[usize; 2]> = Vec::new();
    for t in triangles {
        let heights = t.map(height);
        let above = heights.map(|h| h >= 0.0);
        if above[0] == above[1] && above[1] == above[2] {
            continue;
        }
        let mut ends = [0; 2];
        let mut n = 0;
        for (i, j) in [(0, 1), (1, 2), (2, 0)] {
            if above[i] == above[j] || n == 2 {
                continue;
            }
            let key = (t[i].min(t[j]), t[i].max(t[j]));
            ends[n] = *nodes.entry(key).or_insert_with(|| {
                let (ha, hb) = (height(key.0), height(key.1));
                crossings.push(Crossing {
                    edge: key,
                    at: ha / (ha - hb),
                });
                crossings.len() - 1
            });
            n += 1;
        }
        if n == 2 && ends[0] != ends[1] {
            segments.push(ends);
        }
    }
    // The segments at each crossing: two on a closed surface.
    let mut at: Vec<Vec<usize>> = vec![Vec::new(); crossings.len()];
    for (s, ends) in segments.iter().enumerate() {
        for end in ends {
            at[*end].push(s);
        }
    }
    let mut used = vec![false; segments.len()];
    let mut loops = Vec::new();
    for first in 0..segments.len() {
        if std::mem::replace(&mut used[first], true) {
            continue;
        }
        let [start, mut now] = segments[first];
        let mut curve = vec![crossings[start]];
        while now != start {
            curve.push(crossings[now]);
            let Some(&next) = at[now].iter().find(|s| !used[**s]) else {
                break;
            };
            used[next] = true;
            let [a, b] = segments[next];
            now = if a == now { b } else { a };
        }
        if now == start && curve.len() > 2 {
            loops.push(curve);
        }
    }
    loops
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tube along Y with a square section of side 2 `half`, from y = 0 to 1; without its last side where it is open.
    fn tube(half: f64, is_open: bool) -> (Vec<[u32; 3]>, Vec<DVec3>) {
        let ring = [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]];
        let points = [0.0, 1.0].into_iter().flat_map(|y| {
            ring.into_iter()
                .map(move |[x, z]| DVec3::new(x * half, y, z * half))
        });
        let sides = (0..4 - u32::from(is_open)).flat_map(|i| {
            let j = (i + 1) % 4;
            [[i, j, 4 + i], [j, 4 + j, 4 + i]]
        });
        (sides.collect(), points.collect())
    }

    fn girth(meshes: &[(Vec<[u32; 3]>, Vec<DVec3>)], centre: DVec3) -> Option<f64> {
        let sleeve = Sleeve {
            triangles: meshes.iter().map(|m| m.0.clone()).collect(),
        };
        let points: Vec<&[DVec3]> = meshes.iter().map(|m| &m.1[..]).collect();
        let normal = DVec3::Y;
        sleeve.girth(&points, Cut { centre, normal })
    }

    #[test]
    fn a_girth_is_the_perimeter_of_a_closed_curve_round_the_bone() {
        let inside = DVec3::new(0.3, 0.5, 0.0);
        let found = girth(&[tube(1.0, false)], inside).unwrap();
        assert!((found - 8.0).abs() < 1e-12, "{found}");
        assert_eq!(girth(&[tube(1.0, true)], inside), None, "open");
        assert_eq!(girth(&[tube(1.0, false)], DVec3::new(3.0, 0.5, 0.0)), None);
        // Of two the nearer one, whatever their order.
        let both = [tube(2.0, false), tube(1.0, false)];
        assert!((girth(&both, inside).unwrap() - 8.0).abs() < 1e-12);
        // Through the points themselves, which count as above it.
        let on = DVec3::new(0.0, 0.0, 0.0);
        assert_eq!(
            girth(&[tube(1.0, false)], on),
            None,
            "there is nothing below"
        );
        assert!((girth(&[tube(1.0, false)], DVec3::Y).unwrap() - 8.0).abs() < 1e-12);
        assert!(
            (girth(&[tube(1.0, false)], DVec3::ZERO + DVec3::Y * 1e-9).unwrap() - 8.0).abs() < 1e-6
        );
    }
}
