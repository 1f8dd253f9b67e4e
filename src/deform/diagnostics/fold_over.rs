//! Fold-over: inverted faces.

use super::area_change::area;
use super::{ShapeView, for_each};
use crate::math::Worse;
use crate::math::transform::normalize_or_identity;
use crate::skinning::SkinBones;
use glam::{DQuat, DVec3};
use rayon::prelude::*;
use serde::Serialize;

/// A second joint with at most this weight is left out.
const MIN_WEIGHT: f32 = 0.01;

/// Points in one run; fixed, so that the first of several equal ones is found for any number of threads.
const POINTS_PER_RUN: usize = 4096;

/// The inverted part of a surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Folds {
    /// The number of inverted faces, with those that have a corner without a finite position.
    pub faces: usize,
    /// The number of all faces.
    pub of_faces: usize,
    /// The rest area of the inverted faces, as a share of the surface, 0 - 1.
    pub area_share: f64,
    /// The largest distance of a point beyond the bisector plane of its two bones, metres; infinite for a point without a
    /// finite position.
    #[serde(skip)]
    pub deepest: f64,
    /// That point; `None` where none is beyond.
    #[serde(skip)]
    pub deepest_point: Option<u32>,
}

/// 1 where a face at the point is inverted, 0 where none is, NaN without faces, infinite where one of them has a corner
/// without a finite position.
pub(super) fn values(shape: &ShapeView<'_>, buffer: Vec<f32>) -> Vec<f32> {
    let flipped = flipped(shape);
    let triangles = shape.triangles();
    let topology = shape.mesh.topology();
    for_each(buffer, shape.n_points(), |point| {
        if flipped.is_empty() {
            return f64::NAN;
        }
        let faces = topology.faces(point as u32);
        if faces.is_empty() {
            return f64::NAN;
        }
        if !faces.iter().all(|&f| shape.is_posed(triangles[f as usize])) {
            return f64::INFINITY;
        }
        f64::from(u8::from(faces.iter().any(|&f| flipped[f as usize])))
    })
}

pub(super) fn folds(shape: &ShapeView<'_>) -> Folds {
    let flipped = flipped(shape);
    let (mut faces, mut folded, mut all) = (0, 0.0, 0.0);
    for (t, &flipped) in shape.triangles().iter().zip(&flipped) {
        let area = area(t.map(|p| shape.at_rest(p as usize)));
        if area.is_finite() {
            all += area;
            folded += if flipped { area } else { 0.0 };
        }
        faces += usize::from(flipped);
    }
    let deepest = deepest(shape);
    Folds {
        faces,
        of_faces: flipped.len(),
        area_share: if all > 0.0 { folded / all } else { 0.0 },
        deepest: deepest.map_or(0.0, |d| d.0),
        deepest_point: deepest.map(|d| d.1),
    }
}

/// The largest depth beyond the bisector plane, and its point; of several the first.
fn deepest(shape: &ShapeView<'_>) -> Option<(f64, u32)> {
    let bones = shape.bones?;
    let n = shape.n_points().min(shape.influences.len());
    let in_run = |first: usize| {
        let mut planes = Planes {
            shape,
            bones,
            known: Vec::new(),
        };
        let points = first..(first + POINTS_PER_RUN).min(n);
        points.fold(None, |best: Option<(f64, u32)>, point| {
            let depth = planes.depth(point).map(|d| 0.0.worse(d));
            let depth = depth.filter(|d| *d > 0.0);
            match depth {
                Some(depth) if best.is_none_or(|b| depth > b.0) => Some((depth, point as u32)),
                _ => best,
            }
        })
    };
    let runs: Vec<_> = (0..n.div_ceil(POINTS_PER_RUN))
        .into_par_iter()
        .map(|run| in_run(run * POINTS_PER_RUN))
        .collect();
    let found = runs.into_iter().flatten();
    found.reduce(|best, next| if next.0 > best.0 { next } else { best })
}

/// The bisector planes of pairs of joints, computed on demand.
struct Planes<'a> {
    shape: &'a ShapeView<'a>,
    bones: &'a SkinBones,
    /// Pair (above, below); a place on the plane and its unit normal, down the limb.
    known: Vec<([u16; 2], Option<[DVec3; 2]>)>,
}

impl Planes<'_> {
    /// The distance of a point beyond the plane of its two heaviest joints, metres, negative on its own side; `None`
    /// where it has no two joints of which one is an ancestor of the other.
    fn depth(&mut self, point: usize) -> Option<f64> {
        let (mut first, mut second) = ((0, 0.0f32), (0, 0.0f32));
        for (joint, weight) in self.shape.influences.row(point as u32).iter() {
            if weight > first.1 {
                (first, second) = ((joint, weight), first);
            } else if weight > second.1 {
                second = (joint, weight);
            }
        }
        if second.1 <= MIN_WEIGHT {
            return None;
        }
        let is_above = self.bones.rank(first.0) < self.bones.rank(second.0);
        let pair = if is_above {
            [first.0, second.0]
        } else {
            [second.0, first.0]
        };
        let [origin, normal] = self.plane(pair)?;
        let past = (self.shape.in_pose(point) - origin).dot(normal);
        // An infinite position is beyond the plane, on whichever side it is.
        Some(match (past.is_finite(), is_above) {
            (false, _) => f64::INFINITY,
            (true, true) => past,
            (true, false) => -past,
        })
    }

    fn plane(&mut self, pair: [u16; 2]) -> Option<[DVec3; 2]> {
        if let Some((_, plane)) = self.known.iter().find(|(p, _)| *p == pair) {
            return *plane;
        }
        let [above, below] = pair;
        let palette = self.shape.palette;
        let direction = |joint: u16, towards: Option<u16>| {
            let motion = palette.motions().get(joint as usize)?;
            Some(motion.rotation * self.bones.direction(joint, towards, palette))
        };
        let plane = || {
            if !self.bones.on_one_chain(above, below) {
                return None;
            }
            let motion = palette.motions().get(below as usize)?;
            let origin = motion.rigid().transform_point3(motion.inflated_origin);
            let sum = direction(above, Some(below))? + direction(below, None)?;
            // Bones folded onto each other have no bisector.
            (sum.length() > 1e-6).then(|| [origin, sum.normalize_or_zero()])
        };
        let plane = plane();
        self.known.push((pair, plane));
        plane
    }
}

/// For each face whether it is inverted: `n' . (b n) < 0`, b the rotation of its joints, blended at the mean weights of
/// its corners. One that is not finite counts as inverted.
fn flipped(shape: &ShapeView<'_>) -> Vec<bool> {
    let is_flipped = |mean: &mut Vec<(u16, f64)>, t: &[u32; 3]| {
        let normal = |[a, b, c]: [DVec3; 3]| (b - a).cross(c - a);
        let rest = normal(t.map(|p| shape.at_rest(p as usize)));
        let posed = normal(t.map(|p| shape.in_pose(p as usize)));
        !shape.is_posed(*t) || posed.dot(rotation(shape, t, mean) * rest) < 0.0
    };
    let triangles = shape.triangles().par_iter().with_min_len(1024);
    // One buffer a thread, not one a face.
    let mut flipped: Vec<bool> = triangles.map_init(Vec::new, is_flipped).collect();
    // What is inside out at rest is so where the pose does not flip it.
    for face in &shape.mesh.inside_out {
        let of_face = shape.triangles().get(*face as usize);
        if let (Some(flipped), Some(corners)) = (flipped.get_mut(*face as usize), of_face) {
            *flipped = !(*flipped && shape.is_posed(*corners));
        }
    }
    flipped
}

/// The rotation of dual quaternion skinning at the mean weights of the points; the identity without influences.
fn rotation(shape: &ShapeView<'_>, points: &[u32; 3], mean: &mut Vec<(u16, f64)>) -> DQuat {
    let motions = shape.palette.motions();
    mean.clear();
    for &point in points
        .iter()
        .filter(|&&p| (p as usize) < shape.influences.len())
    {
        for (joint, weight) in shape.influences.row(point).iter() {
            match mean.iter_mut().find(|(j, _)| *j == joint) {
                Some((_, sum)) => *sum += f64::from(weight),
                None => mean.push((joint, f64::from(weight))),
            }
        }
    }
    mean.retain(|(joint, _)| (*joint as usize) < motions.len());
    let pivot = mean
        .iter()
        .copied()
        .reduce(|best, next| if next.1 > best.1 { next } else { best });
    let Some((pivot, _)) = pivot else {
        return DQuat::IDENTITY;
    };
    let pivot = motions[pivot as usize].rotation;
    let mut sum = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
    for &(joint, weight) in mean.iter() {
        let q = motions[joint as usize].rotation;
        let sign = if q.dot(pivot) < 0.0 { -weight } else { weight };
        sum += q * sign;
    }
    normalize_or_identity(sum)
}

#[cfg(test)]
mod tests {
    use super::super::shape::tests::Tube;
    use super::*;

    #[test]
    fn a_tube_pulled_through_itself_is_folded_there() {
        let tube = Tube::new();
        assert_eq!(folds(&tube.view()).faces, 0);
        assert!(values(&tube.view(), Vec::new()).iter().all(|&v| v == 0.0));

        let mut tube = Tube::new();
        // The middle ring goes past the one on its right.
        for p in tube.posed.iter_mut().filter(|p| p.x.abs() < 0.1) {
            p.x += 0.75;
        }
        let view = tube.view();
        let folds = folds(&view);
        assert_eq!((folds.faces, folds.of_faces), (32, 128));
        assert!((folds.area_share - 0.25).abs() < 1e-6);
        let values = values(&view, Vec::new());
        assert_eq!(values[Tube::middle()], 1.0);
        assert_eq!(values.iter().filter(|&&v| v == 1.0).count(), 32);
    }

    #[test]
    fn a_turn_of_the_whole_folds_nothing() {
        let mut tube = Tube::new();
        tube.turn(glam::DQuat::from_rotation_z(3.0));
        assert_eq!(folds(&tube.view()).faces, 0);
    }
}
