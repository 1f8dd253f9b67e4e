//! The map of the world that a transform applies to points, and its attenuation by soft selection.

use super::{Constraint, Transforming};
use crate::document::session::TransformKind;
use glam::{DMat3, DQuat, DVec3, Vec3};

/// A translation, or a rotation or scale about a pivot, world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointMap {
    pivot: DVec3,
    translation: DVec3,
    /// The axis of the rotation times its angle, which may exceed a half turn.
    rotation: DVec3,
    /// Symmetric.
    scale: DMat3,
}

impl PointMap {
    /// The axis of the rotation times its angle, radians, which may exceed a half turn.
    pub fn rotation(&self) -> DVec3 {
        self.rotation
    }

    /// The offset of a point at `place`, metres. `effect`: 0 for none of the transform, 1 for all; in between the
    /// translation, the angle and the factors are those of a part of it, so that a rotation does not shrink what it
    /// bends.
    pub fn offset(&self, place: Vec3, effect: f32) -> Vec3 {
        let effect = f64::from(effect);
        let from_pivot = place.as_dvec3() - self.pivot;
        let scale = DMat3::IDENTITY * (1.0 - effect) + self.scale * effect;
        let rotation = DQuat::from_scaled_axis(self.rotation * effect);
        let moved = rotation * (scale * from_pivot) - from_pivot;
        (moved + self.translation * effect).as_vec3()
    }
}

impl Transforming {
    /// The map of the points that [`Transforming::of_points`] began with.
    pub fn point_map(&self) -> PointMap {
        let subject = &self.subjects[self.active];
        let mut map = PointMap {
            pivot: self.pivot.as_dvec3(),
            translation: DVec3::ZERO,
            rotation: DVec3::ZERO,
            scale: DMat3::IDENTITY,
        };
        match self.kind {
            TransformKind::Move => map.translation = self.translation(subject),
            TransformKind::Rotate => {
                map.rotation = match self.constraint {
                    Constraint::Axis(axis) | Constraint::Plane(axis) => {
                        self.turn_axis(axis) * self.angle()
                    }
                    Constraint::Free => {
                        let axis = self.screen.toward_eye(self.pivot).as_dvec3();
                        axis.normalize_or(DVec3::Z) * self.angle()
                    }
                    Constraint::Trackball => self.trackball(),
                };
            }
            TransformKind::Scale => {
                let axes = self.space_of(subject);
                map.scale = axes * DMat3::from_diagonal(self.factors()) * axes.transpose();
            }
        }
        map
    }
}

/// Axes whose z axis is `normal`, orthonormal, right-handed; those of the world for zero.
pub(super) fn frame(normal: Vec3) -> DMat3 {
    let z = normal.as_dvec3().normalize_or(DVec3::Z);
    let x = z.any_orthonormal_vector();
    DMat3::from_cols(x, z.cross(x), z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    #[test]
    fn a_part_of_a_rotation_keeps_the_distance_from_the_pivot() {
        let map = PointMap {
            pivot: DVec3::new(1.0, 2.0, 3.0),
            translation: DVec3::ZERO,
            rotation: DVec3::Z * TAU * 0.75,
            scale: DMat3::IDENTITY,
        };
        let place = Vec3::new(2.0, 2.0, 3.0);
        for (effect, wanted) in [
            (0.0, Vec3::ZERO),
            (1.0 / 3.0, Vec3::new(-1.0, 1.0, 0.0)),
            (2.0 / 3.0, Vec3::new(-2.0, 0.0, 0.0)),
            (1.0, Vec3::new(-1.0, -1.0, 0.0)),
        ] {
            let offset = map.offset(place, effect);
            assert!(offset.distance(wanted) < 1e-6, "{effect}: {offset}");
        }
    }

    #[test]
    fn scale_and_translation_fade_in_proportion() {
        let map = PointMap {
            pivot: DVec3::ZERO,
            translation: DVec3::X,
            rotation: DVec3::ZERO,
            scale: DMat3::from_diagonal(DVec3::new(1.0, 3.0, 1.0)),
        };
        let offset = map.offset(Vec3::new(0.0, 2.0, 0.0), 0.25);
        assert!(
            offset.distance(Vec3::new(0.25, 1.0, 0.0)) < 1e-6,
            "{offset}"
        );
    }
}
