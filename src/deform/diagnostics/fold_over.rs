//! Fold-over: faces that are turned inside out.

use super::area_change::area;
use super::{ShapeView, for_each};
use glam::{DQuat, DVec3};
use rayon::prelude::*;
use serde::Serialize;

/// How much of a surface is turned inside out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Folds {
    /// How many faces.
    pub faces: usize,
    /// Of how many.
    pub of_faces: usize,
    /// Their area at rest, as a share of the whole surface, 0 - 1.
    pub area_share: f64,
}

/// 1 where a face at the point is turned inside out, 0 where none is, NaN without faces.
pub(super) fn values(shape: &ShapeView<'_>, buffer: Vec<f32>) -> Vec<f32> {
    let flipped = flipped(shape);
    let topology = shape.mesh.topology();
    for_each(buffer, shape.n_points(), |point| {
        if flipped.is_empty() {
            return f64::NAN;
        }
        let faces = topology.faces(point as u32);
        if faces.is_empty() {
            return f64::NAN;
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
    Folds {
        faces,
        of_faces: flipped.len(),
        area_share: if all > 0.0 { folded / all } else { 0.0 },
    }
}

/// For each face whether `n' . (b n) < 0`: its normal looks away from where its joints' rotation, blended at the mean
/// weights of its corners, turned it.
fn flipped(shape: &ShapeView<'_>) -> Vec<bool> {
    let is_flipped = |t: &[u32; 3]| {
        let normal = |[a, b, c]: [DVec3; 3]| (b - a).cross(c - a);
        let rest = normal(t.map(|p| shape.at_rest(p as usize)));
        let posed = normal(t.map(|p| shape.in_pose(p as usize)));
        posed.dot(rotation(shape, t) * rest) < 0.0
    };
    shape
        .triangles()
        .par_iter()
        .with_min_len(1024)
        .map(is_flipped)
        .collect()
}

/// The rotation of dual quaternion skinning at the mean weights of the points; the identity without influences.
fn rotation(shape: &ShapeView<'_>, points: &[u32; 3]) -> DQuat {
    let motions = shape.palette.motions();
    let mut mean: Vec<(u16, f64)> = Vec::with_capacity(12);
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
    for (joint, weight) in mean {
        let q = motions[joint as usize].rotation;
        let sign = if q.dot(pivot) < 0.0 { -weight } else { weight };
        sum = sum + q * sign;
    }
    if sum.length_squared() > 1e-24 {
        sum.normalize()
    } else {
        DQuat::IDENTITY
    }
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
        assert_eq!(values[tube.middle()], 1.0);
        assert_eq!(values.iter().filter(|&&v| v == 1.0).count(), 32);
    }

    #[test]
    fn a_turn_of_the_whole_folds_nothing() {
        let mut tube = Tube::new();
        tube.turn(glam::DQuat::from_rotation_z(3.0));
        assert_eq!(folds(&tube.view()).faces, 0);
    }
}
