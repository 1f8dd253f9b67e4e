//! The pose space of a driver: where the samples are, their weights around, and posing by it.

use super::drivers;
use crate::deform::correctives::{Driver, WeightsWork};
use crate::editor::Editor;
use crate::math::transform::normalize_or_identity;
use crate::psd::DriverMode;
use glam::{DQuat, DVec2, DVec3};

/// How the rotations of a driver are laid out in a plot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PoseSpace {
    /// By the angle about an axis, radians; hinges and twists.
    Angle(DVec3),
    /// By the swing of the bone along `axis`: a vector in the plane of the other two, whose direction is that in which
    /// the bone swings and whose length is the angle, 0 - pi (the azimuthal equidistant projection of the sphere).
    Swing {
        /// The direction of the bone, unit.
        axis: DVec3,
        /// The axes of the plane, unit.
        plane: [DVec3; 2],
    },
}

impl PoseSpace {
    fn of(driver: &Driver, bone: DVec3) -> Self {
        match driver.mode {
            DriverMode::Hinge(axis) | DriverMode::Twist(axis) => Self::Angle(axis),
            DriverMode::Ball => Self::swing(bone),
            DriverMode::Swing(axis) => Self::swing(axis),
        }
    }

    fn swing(axis: DVec3) -> Self {
        let axis = axis.normalize_or(DVec3::Y);
        let x = axis.any_orthonormal_vector();
        let plane = [x, axis.cross(x)];
        Self::Swing { axis, plane }
    }

    /// The place of a rotation from bind: (angle, 0), or the swing.
    pub fn place(&self, rotation: DQuat) -> DVec2 {
        match *self {
            Self::Angle(axis) => DVec2::new(about(rotation, axis).0, 0.0),
            Self::Swing { axis, plane } => {
                let (_, swing) = about(rotation, axis);
                let towards = drivers::rotation_vector(swing).cross(axis);
                DVec2::new(towards.dot(plane[0]), towards.dot(plane[1]))
            }
        }
    }

    /// The rotation from bind at a place; what the place does not say stays as in `rotation`.
    pub fn rotation(&self, place: DVec2, rotation: DQuat) -> DQuat {
        match *self {
            Self::Angle(axis) => {
                let (_, swing) = about(rotation, axis);
                swing * DQuat::from_axis_angle(axis, place.x)
            }
            Self::Swing { axis, plane } => {
                let (twist, _) = about(rotation, axis);
                let towards = plane[0] * place.x + plane[1] * place.y;
                let swing = DQuat::from_scaled_axis(axis.cross(towards));
                swing * DQuat::from_axis_angle(axis, twist)
            }
        }
    }
}

/// The angle of the twist about a unit axis, -pi to pi, and the swing: rotation = swing * twist.
fn about(rotation: DQuat, axis: DVec3) -> (f64, DQuat) {
    let along = rotation.xyz().dot(axis);
    let half = along.atan2(rotation.w);
    let turn = std::f64::consts::TAU;
    let angle = (2.0 * half + turn / 2.0).rem_euclid(turn) - turn / 2.0;
    let twist = DQuat::from_axis_angle(axis, angle);
    (angle, normalize_or_identity(rotation * twist.conjugate()))
}

impl Editor {
    /// How the rotations of a driver of a set are laid out in a plot.
    pub fn pose_space(&self, set: usize, driver: usize) -> Option<PoseSpace> {
        let known = self.driver(set, driver)?;
        let bone = self.suggested_axis(set, driver, false);
        Some(PoseSpace::of(known, bone))
    }

    /// The rotation of a driver of a set from bind, in the pose on screen.
    pub fn driver_rotation(&self, set: usize, driver: usize) -> Option<DQuat> {
        let driver = self.driver(set, driver)?;
        let pose = self.document.shown_pose();
        let rotation = driver.rotation(self.document.skeleton(), &pose.locals);
        Some(driver.from_bind(rotation))
    }

    /// The weights of the samples of a set, before their strength, at rotations of one of its drivers from bind; other
    /// bones stay as on screen. One row of n_samples values for each rotation.
    pub fn weights_along(
        &self,
        set: usize,
        driver: usize,
        rotations: impl IntoIterator<Item = DQuat>,
    ) -> Vec<Vec<f64>> {
        let Some((correctives, driver)) = self.correctives().zip(self.driver(set, driver)) else {
            return Vec::new();
        };
        let before = correctives.sets().iter().take(set);
        let first: usize = before.map(|set| set.samples.len()).sum();
        let n_samples = self.samples_of(set).len();
        let skeleton = self.document.skeleton();
        let mut locals = self.document.shown_pose().locals.clone();
        let mut work = WeightsWork::default();
        let rows = rotations.into_iter().map(|rotation| {
            driver.pose(driver.bind * rotation, skeleton, &mut locals);
            let weights = correctives.weights(skeleton, &locals, &mut work);
            weights[first..first + n_samples].to_vec()
        });
        rows.collect()
    }

    /// The rotations of all drivers of the object's samples in the pose on screen, but for one driver of a set, which is
    /// rotated so from bind: what [`Editor::weights_along`] depends on, with the samples.
    pub fn drivers_beside(
        &self,
        set: usize,
        driver: usize,
        from_bind: DQuat,
    ) -> Option<Vec<DQuat>> {
        let (correctives, own) = self.correctives().zip(self.driver(set, driver))?;
        let skeleton = self.document.skeleton();
        let mut locals = self.document.shown_pose().locals.clone();
        own.pose(own.bind * from_bind, skeleton, &mut locals);
        let drivers = correctives.drivers();
        Some(
            drivers
                .map(|(_, d)| d.rotation(skeleton, &locals))
                .collect(),
        )
    }

    /// Begins to pose a driver of a set: one undo step until [`Editor::confirm_transform`]. Returns whether it did.
    pub fn begin_pose_driver(&mut self, set: usize, driver: usize) -> bool {
        let Some(joint) = self.driver(set, driver).map(|driver| driver.joint) else {
            return false;
        };
        self.begin_pose_field(joint, "Rotate");
        self.is_posing()
    }

    /// Rotates the driver that is being posed, from bind.
    pub fn set_pose_driver(&mut self, set: usize, driver: usize, from_bind: DQuat) {
        let Some(driver) = self.driver(set, driver).copied() else {
            return;
        };
        let mut locals = self.document.free_pose().locals.clone();
        let skeleton = self.document.skeleton().clone();
        driver.pose(driver.bind * from_bind, &skeleton, &mut locals);
        if let Some(local) = locals.get(driver.joint.get()) {
            self.set_pose_field(driver.joint, *local);
        }
    }

    fn driver(&self, set: usize, driver: usize) -> Option<&Driver> {
        self.correctives()?.sets().get(set)?.drivers.get(driver)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_and_its_rotation_belong_together() {
        let axis = DVec3::new(2.0, -1.0, 2.0) / 3.0;
        for space in [PoseSpace::Angle(axis), PoseSpace::swing(axis)] {
            for (rotation, place) in [
                (DQuat::IDENTITY, DVec2::new(1.2, 0.0)),
                (
                    DQuat::from_scaled_axis(DVec3::new(0.3, 0.9, -0.4)),
                    DVec2::new(-2.5, 0.0),
                ),
            ] {
                let at = space.rotation(place, rotation);
                assert!(space.place(at).abs_diff_eq(place, 1e-12), "{space:?}");
                let same = space.rotation(space.place(rotation), rotation);
                let apart = (same.dot(rotation).abs() - 1.0).abs();
                assert!(apart < 1e-12, "{space:?}: {apart}");
            }
        }
    }

    #[test]
    fn a_bone_swings_towards_its_place() {
        let space = PoseSpace::swing(DVec3::Y);
        let PoseSpace::Swing { axis, plane } = space else {
            panic!("a swing");
        };
        let bent = space.rotation(DVec2::new(0.5, 0.0), DQuat::IDENTITY);
        let expected = axis * 0.5f64.cos() + plane[0] * 0.5f64.sin();
        assert!((bent * axis).abs_diff_eq(expected, 1e-12));
    }
}
