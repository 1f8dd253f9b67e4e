//! The amount by which the pointer, or a typed number, moves, rotates or scales each bone.

use super::{AngleSource, Axis, Constraint, Subject, Transforming};
use crate::document::session::{PoseSpace, TransformKind};
use crate::math::Transform;
use crate::skeleton::orientation::rotation_in_space;
use crate::tools::gizmo;
use glam::{DMat3, DQuat, DVec3, Vec2, Vec3};
use std::f64::consts::{PI, TAU};

/// Degrees of a snapped step.
const SNAP_DEGREES: f64 = 5.0;
/// Factor of a snapped step.
const SNAP_SCALE: f64 = 0.1;
/// Factor of a pixel with Shift.
pub(super) const PRECISE: f64 = 0.1;
/// Rotation of the trackball for one pixel, radians.
const TRACKBALL_PER_PX: f64 = 0.01;
/// Smallest absolute scale.
const MIN_SCALE: f64 = 1e-3;
/// Below this cosine a ring counts as edge-on and is dragged along its tangent.
pub(super) const EDGE_ON: f32 = 0.2;

impl Transforming {
    pub(super) fn is_move(&self) -> bool {
        self.kind == TransformKind::Move
    }

    /// From the axes of the transform to the world, for one joint; orthonormal.
    pub(super) fn space_of(&self, subject: &Subject) -> DMat3 {
        match self.space {
            PoseSpace::Local => subject.own,
            PoseSpace::Parent => subject.parent,
            PoseSpace::World => DMat3::IDENTITY,
        }
    }

    /// The world axis of the active joint's rotation by a positive angle: in a mirrored space the opposite one.
    pub(super) fn turn_axis(&self, axis: Axis) -> DVec3 {
        let map = self.space_of(&self.subjects[self.active]);
        map * axis.unit() * map.determinant().signum()
    }

    /// Signed angle of the pointer between two positions, radians.
    pub(super) fn angle_between(&self, from_px: Vec2, to_px: Vec2) -> f64 {
        match self.turning {
            AngleSource::Screen => {
                let Some(centre) = self.screen.project(self.pivot) else {
                    return 0.0;
                };
                let (a, b) = ((from_px - centre).as_dvec2(), (to_px - centre).as_dvec2());
                if a.length() < 1.0 || b.length() < 1.0 {
                    return 0.0;
                }
                // y points down: counter-clockwise on the screen is positive.
                wrapped(-a.perp_dot(b).atan2(a.dot(b)))
            }
            AngleSource::Ring { axis, zero } => {
                let angle = |px| {
                    let at = self.on_plane(px, axis)?;
                    let (x, y) = (zero - self.pivot, axis.cross(zero - self.pivot));
                    let at = at - self.pivot;
                    Some(f64::from(at.dot(y)).atan2(f64::from(at.dot(x))))
                };
                match (angle(from_px), angle(to_px)) {
                    (Some(a), Some(b)) => wrapped(b - a),
                    _ => 0.0,
                }
            }
            AngleSource::Tangent {
                along_px,
                radius_px,
            } => f64::from((to_px - from_px).dot(along_px) / radius_px),
        }
    }

    /// The intersection of the pointer's ray with the plane through the pivot and perpendicular to `normal`.
    pub(super) fn on_plane(&self, px: Vec2, normal: Vec3) -> Option<Vec3> {
        let ray = self.screen.ray(px);
        let slope = ray.direction.dot(normal);
        let along = (self.pivot - ray.origin).dot(normal) / slope;
        let at = ray.origin + ray.direction * along;
        (slope.abs() > 1e-4 && along > 0.0 && at.is_finite()).then_some(at)
    }

    /// Continues with the angle on the screen instead of the ring.
    pub(super) fn release_ring(&mut self) {
        if self.turning != AngleSource::Screen {
            self.turned *= self.facing();
            self.turning = AngleSource::Screen;
        }
    }

    /// +1 if the axis of rotation points to the camera, else -1.
    pub(super) fn facing(&self) -> f64 {
        match self.constraint {
            Constraint::Axis(axis) | Constraint::Plane(axis) => {
                let to_eye = self.screen.toward_eye(self.pivot).as_dvec3();
                if self.turn_axis(axis).dot(to_eye) < 0.0 {
                    -1.0
                } else {
                    1.0
                }
            }
            _ => 1.0,
        }
    }

    /// The angle of the rotation, radians.
    pub(super) fn angle(&self) -> f64 {
        if let Some(degrees) = self.typed.value() {
            return degrees.to_radians();
        }
        let turned = match self.turning {
            AngleSource::Screen => self.turned * self.facing(),
            _ => self.turned,
        };
        if self.snap {
            snapped(turned.to_degrees(), self.step(SNAP_DEGREES)).to_radians()
        } else {
            turned
        }
    }

    /// The factor of the scale.
    pub(super) fn factor(&self) -> f64 {
        let factor = match (self.typed.value(), self.constraint) {
            (Some(typed), _) => typed,
            (None, Constraint::Axis(axis)) if self.is_on_axis(axis) => {
                let radius = gizmo::radius_px(&self.screen) * self.screen.metres_per_px(self.pivot);
                let axis = self.space_of(&self.subjects[self.active]) * axis.unit();
                1.0 + self.along_axis(axis) / f64::from(radius)
            }
            _ => {
                let centre = self.screen.project(self.pivot).unwrap_or(self.start_px);
                let before = self.start_px.distance(centre);
                let least = 8.0;
                if before < least {
                    // Grabbed in the centre: right is larger.
                    let along = self.virtual_px.x - self.start_px.x;
                    f64::from(1.0 + along / gizmo::radius_px(&self.screen))
                } else {
                    f64::from(self.virtual_px.distance(centre) / before)
                }
            }
        };
        let factor = if self.snap && self.typed.value().is_none() {
            snapped(factor, self.step(SNAP_SCALE))
        } else {
            factor
        };
        if self.typed.value().is_some() && factor.abs() >= MIN_SCALE {
            return factor;
        }
        factor.max(MIN_SCALE)
    }

    /// Whether the pointer started on the positive side of an axis.
    pub(super) fn is_on_axis(&self, axis: Axis) -> bool {
        let axis = (self.space_of(&self.subjects[self.active]) * axis.unit()).as_vec3();
        let to_eye = self.screen.toward_eye(self.pivot);
        let tip = self.pivot
            + axis * self.screen.metres_per_px(self.pivot) * gizmo::radius_px(&self.screen);
        let tip = self.screen.project(tip);
        axis.dot(to_eye).abs() < 0.98 && tip.is_some_and(|tip| tip.distance(self.start_px) < 16.0)
    }

    /// The displacement of the pointer along the line through the pivot, metres.
    pub(super) fn along_axis(&self, axis: DVec3) -> f64 {
        let axis_f = axis.as_vec3();
        let at = |px: Vec2| {
            // The point of the line nearest to the ray.
            let ray = self.screen.ray(px);
            let slope = axis_f.dot(ray.direction);
            let from = ray.origin - self.pivot;
            let across = 1.0 - slope * slope;
            (across > 2.5e-3)
                .then(|| f64::from((axis_f.dot(from) - slope * ray.direction.dot(from)) / across))
        };
        match (at(self.start_px), at(self.virtual_px)) {
            (Some(a), Some(b)) => b - a,
            // The line points at the camera: dragging up moves away.
            _ => {
                let up = self.start_px.y - self.virtual_px.y;
                let to_eye = self.screen.toward_eye(self.pivot);
                f64::from(-up * self.screen.metres_per_px(self.pivot) * axis_f.dot(to_eye).signum())
            }
        }
    }

    /// The world translation of one joint, metres.
    pub(super) fn translation(&self, subject: &Subject) -> DVec3 {
        let map = self.space_of(subject);
        let typed = self.typed.value();
        let step = self.step(self.move_step());
        let snap = |v: f64| {
            if self.snap { snapped(v, step) } else { v }
        };
        // Measured at the active joint; each joint moves by the same amount along its own axes.
        let measured = self.space_of(&self.subjects[self.active]);
        match (self.constraint, typed) {
            (Constraint::Axis(axis), typed) => {
                let along = typed.unwrap_or_else(|| snap(self.along_axis(measured * axis.unit())));
                map * axis.unit() * along
            }
            (Constraint::Plane(axis), Some(typed)) => {
                let first = Axis::ALL[usize::from(axis == Axis::X)];
                map * first.unit() * typed
            }
            (_, Some(typed)) => map * DVec3::X * typed,
            (Constraint::Plane(axis), None) => {
                let normal = (measured * axis.unit()).as_vec3();
                let facing = normal.dot(self.screen.toward_eye(self.pivot)).abs();
                let pair = if facing > 0.05 {
                    self.on_plane(self.start_px, normal)
                        .zip(self.on_plane(self.virtual_px, normal))
                } else {
                    None
                };
                let translation = pair.map_or_else(|| self.in_view(), |(a, b)| (b - a).as_dvec3());
                let mut inside = measured.transpose() * translation;
                inside[axis.index()] = 0.0;
                map * DVec3::new(snap(inside.x), snap(inside.y), snap(inside.z))
            }
            (Constraint::Free | Constraint::Trackball, None) => {
                let translation = self.in_view();
                DVec3::new(
                    snap(translation.x),
                    snap(translation.y),
                    snap(translation.z),
                )
            }
        }
    }

    /// The pointer's displacement in the view plane at the depth of the pivot, metres.
    pub(super) fn in_view(&self) -> DVec3 {
        let delta = (self.virtual_px - self.start_px) * self.screen.metres_per_px(self.pivot);
        let camera = &self.screen.camera;
        (camera.right() * delta.x - camera.up() * delta.y).as_dvec3()
    }

    /// A tenth of the power of ten nearest to the height of the view.
    pub(super) fn move_step(&self) -> f64 {
        let height = f64::from(self.screen.metres_per_px(self.pivot) * self.screen.size_px.y);
        0.1 * 10f64.powf(height.max(1e-9).log10().floor())
    }

    pub(super) fn step(&self, step: f64) -> f64 {
        if self.precise { step * PRECISE } else { step }
    }

    pub(super) fn transformed(&self, subject: &Subject) -> Transform {
        let mut local = subject.start;
        match self.kind {
            TransformKind::Rotate => local.rotation = self.rotated(subject),
            TransformKind::Move => {
                let translation = self.translation(subject);
                if translation != DVec3::ZERO {
                    let linear = subject.parent_linear;
                    let inside = if linear.determinant().abs() > 1e-30 {
                        linear.inverse() * translation
                    } else {
                        subject.parent.transpose() * translation
                    };
                    local.translation += inside;
                }
            }
            TransformKind::Scale => {
                let scale = self.scale(subject);
                if scale != DVec3::ONE {
                    local.stretch *= DMat3::from_diagonal(scale);
                }
            }
        }
        if local.is_finite() {
            local
        } else {
            subject.start
        }
    }

    pub(super) fn rotated(&self, subject: &Subject) -> DQuat {
        let start = subject.start.rotation;
        let in_world = |turn: DQuat| rotation_in_space(subject.parent, turn) * start;
        match self.constraint {
            Constraint::Axis(axis) | Constraint::Plane(axis) => {
                let angle = self.angle();
                if angle == 0.0 {
                    return start;
                }
                let turn = DQuat::from_axis_angle(axis.unit(), angle);
                match self.space {
                    PoseSpace::Local => start * turn,
                    PoseSpace::Parent => turn * start,
                    PoseSpace::World => in_world(turn),
                }
            }
            Constraint::Free => {
                let angle = self.angle();
                if angle == 0.0 {
                    return start;
                }
                let axis = self.screen.toward_eye(self.pivot).as_dvec3();
                in_world(DQuat::from_axis_angle(axis.normalize_or(DVec3::Z), angle))
            }
            Constraint::Trackball => {
                let about = self.trackball();
                if about == DVec3::ZERO {
                    return start;
                }
                in_world(DQuat::from_scaled_axis(about))
            }
        }
    }

    /// The rotation of the trackball as its axis in the world times its angle.
    pub(super) fn trackball(&self) -> DVec3 {
        let delta = (self.virtual_px - self.start_px).as_dvec2() * TRACKBALL_PER_PX;
        let camera = &self.screen.camera;
        camera.up().as_dvec3() * delta.x + camera.right().as_dvec3() * delta.y
    }

    /// The factors along the joint's own axes.
    pub(super) fn scale(&self, subject: &Subject) -> DVec3 {
        let factors = self.factors();
        if self.space == PoseSpace::Local
            || matches!(self.constraint, Constraint::Free | Constraint::Trackball)
        {
            return factors;
        }
        // Without shear: the component of each own axis along the constraint's axis.
        let along = |axis: Axis| {
            let share = subject.own.transpose() * (self.space_of(subject) * axis.unit());
            DVec3::ONE + share * share * (factors[axis.index()] - 1.0)
        };
        Axis::ALL.into_iter().map(along).product()
    }

    /// The factors along the axes of the transform.
    pub(super) fn factors(&self) -> DVec3 {
        let factor = self.factor();
        let scales = |axis: Axis| match self.constraint {
            Constraint::Free | Constraint::Trackball => true,
            Constraint::Axis(only) => axis == only,
            Constraint::Plane(kept) => axis != kept,
        };
        DVec3::from(Axis::ALL.map(|axis| if scales(axis) { factor } else { 1.0 }))
    }
}

pub(super) fn wrapped(angle: f64) -> f64 {
    (angle + PI).rem_euclid(TAU) - PI
}

pub(super) fn snapped(value: f64, step: f64) -> f64 {
    (value / step).round() * step
}

/// Removes the minus of a number that rounds to zero.
pub(super) fn tidy(value: f64, least: f64) -> f64 {
    if value.abs() < least { 0.0 } else { value }
}
