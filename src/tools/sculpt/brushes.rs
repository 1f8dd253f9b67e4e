//! The offset of each point under the brushes that work in dabs.

use super::moved::Moved;
use super::shape::{Normals, Shape};
use crate::document::session::SculptKind;
use glam::Vec3;
use rayon::prelude::*;

/// The offset of Inflate in one dab is this times the radius, the spacing and the effect.
const INFLATE: f32 = 0.5;

/// The fraction of the way to the centre that Pinch moves a point in one dab is this times the spacing and the effect.
const PINCH: f32 = 2.0;

/// A dab: where it is, and what it does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dab {
    pub(super) kind: SculptKind,
    /// The position on the surface under the pointer, world.
    pub(super) centre: Vec3,
    /// Metres.
    pub(super) radius: f32,
    /// The distance between dabs as a fraction of the radius.
    pub(super) spacing: f32,
    /// Ctrl.
    pub(super) invert: bool,
}

/// Points for one task of a thread, which costs some ten microseconds.
pub(super) const POINTS_PER_TASK: usize = 256;

/// The displacement that a dab adds to each of `reached`, points with the effect of the brush on them, 0 - 1. All read
/// the surface before the dab.
pub(super) fn displacements(
    dab: &Dab,
    reached: &[(u32, f32)],
    shape: &Shape,
    moved: &mut Moved,
) -> Vec<Vec3> {
    match dab.kind {
        SculptKind::Relax => moved.reach_neighbours(reached, shape),
        kind => {
            let points = reached.iter().map(|reached| reached.0);
            moved.reach(points, shape, kind == SculptKind::Smooth);
        }
    }
    let moved = &*moved;
    let is_about_plane = matches!(dab.kind, SculptKind::Flatten | SculptKind::Pinch);
    let plane = Plane::mean(if is_about_plane { reached } else { &[] }, shape);
    let sign = if dab.invert { -1.0 } else { 1.0 };
    let spacing = dab.spacing.min(1.0);
    let of_point = |normals: &mut Normals<'_>, &(point, effect): &(u32, f32)| {
        let here = shape.now(point);
        let offset = match dab.kind {
            SculptKind::Inflate => {
                let length = INFLATE * spacing * dab.radius * effect * sign;
                normals.of(point) * length
            }
            SculptKind::Smooth => (mean(shape, moved, point) - here) * effect,
            SculptKind::Relax => (relaxed(shape, moved, point) - here) * effect,
            SculptKind::Flatten => plane.offset(here) * -effect * sign,
            SculptKind::Pinch => {
                let inwards = dab.centre - here;
                let along = inwards - plane.normal * inwards.dot(plane.normal);
                along * (PINCH * spacing).min(1.0) * effect * sign
            }
            SculptKind::Erase => return moved.current(point) * -effect,
            // Drags have no dabs.
            SculptKind::Grab | SculptKind::Slide | SculptKind::Vertices => Vec3::ZERO,
        };
        moved.displacement(point, offset)
    };
    let runs = reached.par_chunks(POINTS_PER_TASK).map(|run| {
        let mut normals = shape.normals_now();
        let points = run.iter().map(|reached| of_point(&mut normals, reached));
        points.collect::<Vec<Vec3>>()
    });
    runs.collect::<Vec<Vec<Vec3>>>().concat()
}

/// The mean of the neighbours.
fn mean(shape: &Shape, moved: &Moved, point: u32) -> Vec3 {
    let ring = moved.ring(point);
    if ring.is_empty() {
        return shape.now(point);
    }
    let sum: Vec3 = ring.iter().map(|&p| shape.now(p)).sum();
    sum / ring.len() as f32
}

/// The position where the edges of a point are closest to their shape of bind: the mean over its neighbours j of
/// `p_j + (R_i + R_j) / 2 (b_i - b_j)` (Sorkine & Alexa 2007, eq. 8, with equal weights and the rotations of the skin).
fn relaxed(shape: &Shape, moved: &Moved, point: u32) -> Vec3 {
    mean(shape, moved, point) + moved.bind_offset(point)
}

/// The mean plane of some points.
struct Plane {
    place: Vec3,
    /// Unit.
    normal: Vec3,
}

impl Plane {
    /// Of points by their effect.
    fn mean(reached: &[(u32, f32)], shape: &Shape) -> Self {
        // Fixed runs, added in order: the same bits for any number of threads.
        let runs = reached.par_chunks(POINTS_PER_TASK).map(|run| {
            let mut sums = (Vec3::ZERO, Vec3::ZERO, 0.0);
            let mut normals = shape.normals_now();
            for &(point, effect) in run {
                sums.0 += shape.now(point) * effect;
                sums.1 += normals.of(point) * effect;
                sums.2 += effect;
            }
            sums
        });
        let runs: Vec<(Vec3, Vec3, f32)> = runs.collect();
        let add = |a: (Vec3, Vec3, f32), b: &(Vec3, Vec3, f32)| (a.0 + b.0, a.1 + b.1, a.2 + b.2);
        let (place, normal, total) = runs.iter().fold((Vec3::ZERO, Vec3::ZERO, 0.0), add);
        Self {
            place: place / f32::max(total, f32::MIN_POSITIVE),
            normal: normal.normalize_or_zero(),
        }
    }

    /// From the plane to a position.
    fn offset(&self, at: Vec3) -> Vec3 {
        self.normal * (at - self.place).dot(self.normal)
    }
}
