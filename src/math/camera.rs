//! The orbit camera of the viewport.

use glam::{Mat4, Vec2, Vec3};

/// An orbit camera: rotates about `target` at `distance`. World space, metres, radians.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// The point in the middle of the view.
    pub target: Vec3,
    /// Rotation about +Y; 0 looks along -Z, from the front of a glTF model.
    pub yaw: f32,
    /// Height of the eye above the horizon, within +-pi/2.
    pub pitch: f32,
    /// From the eye to the target, > 0.
    pub distance: f32,
    /// Vertical field of view of the perspective projection.
    pub fov_y: f32,
    /// Parallel projection with the same size at the target.
    pub orthographic: bool,
}

/// Limit of the pitch: looking straight up would leave no right direction.
const STEEPEST: f32 = std::f32::consts::FRAC_PI_2 - 1e-3;

/// A named direction to look from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// At the face of a glTF model, along -Z.
    Front,
    /// From behind, along +Z.
    Back,
    /// From the right of the front view, along -X: at the model's left side.
    Right,
    /// From the other side, along +X.
    Left,
    /// At the head, along -Y.
    Top,
    /// From below, along +Y.
    Bottom,
    /// From the front, a little from its left and from above.
    #[default]
    ThreeQuarter,
}

impl View {
    /// The six along an axis.
    pub const AXES: [Self; 6] = [
        Self::Front,
        Self::Back,
        Self::Right,
        Self::Left,
        Self::Top,
        Self::Bottom,
    ];

    /// Its name.
    pub fn label(self) -> &'static str {
        match self {
            Self::Front => "Front",
            Self::Back => "Back",
            Self::Right => "Right",
            Self::Left => "Left",
            Self::Top => "Top",
            Self::Bottom => "Bottom",
            Self::ThreeQuarter => "User",
        }
    }

    /// Yaw and pitch of a camera that looks from here.
    fn angles(self) -> (f32, f32) {
        use std::f32::consts::{FRAC_PI_2, PI};
        match self {
            Self::Front => (0.0, 0.0),
            Self::Back => (PI, 0.0),
            Self::Right => (FRAC_PI_2, 0.0),
            Self::Left => (-FRAC_PI_2, 0.0),
            Self::Top => (0.0, STEEPEST),
            Self::Bottom => (0.0, -STEEPEST),
            Self::ThreeQuarter => (0.6, 0.3),
        }
    }
}

/// A half line in world space; `direction` is unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    /// Where it starts.
    pub origin: Vec3,
    /// Where it goes, unit.
    pub direction: Vec3,
}

impl Default for Camera {
    fn default() -> Self {
        Self {
            target: Vec3::ZERO,
            yaw: 0.5,
            pitch: 0.3,
            distance: 5.0,
            fov_y: 0.6,
            orthographic: false,
        }
    }
}

impl Camera {
    /// A camera that looks from `view`; call [`Camera::frame`] next.
    pub fn looking(view: View) -> Self {
        let (yaw, pitch) = view.angles();
        Self {
            yaw,
            pitch,
            ..Self::default()
        }
    }

    /// The same camera looking from `view` at the same target.
    #[must_use]
    pub fn turned_to(self, view: View) -> Self {
        let (yaw, pitch) = view.angles();
        Self { yaw, pitch, ..self }
    }

    /// The same camera looking from the other side at the same target.
    #[must_use]
    pub fn turned_round(self) -> Self {
        let yaw = self.yaw + std::f32::consts::PI;
        // From above the other side is below, with the same side up.
        let (yaw, pitch) = if self.pitch.abs() > STEEPEST - 1e-2 {
            (self.yaw, -self.pitch)
        } else {
            (yaw, self.pitch)
        };
        Self {
            yaw: wrapped(yaw),
            pitch,
            ..self
        }
    }

    /// The same camera after an orbit about its target by screen angles, radians.
    #[must_use]
    pub fn turned_by(self, delta_yaw: f32, delta_pitch: f32) -> Self {
        let mut turned = self;
        turned.orbit(self.target, delta_yaw, delta_pitch);
        // Computed from the angles: the way over the position of the eye would round.
        turned.target = self.target;
        turned
    }

    /// The axis-aligned view of this camera, if it has one.
    pub fn axis_view(&self) -> Option<View> {
        View::AXES.into_iter().find(|view| {
            let (yaw, pitch) = view.angles();
            let level = pitch == 0.0;
            (self.pitch - pitch).abs() < 1.5e-3
                && (!level || wrapped(self.yaw - yaw).abs() < 1.5e-3)
        })
    }

    /// The interpolation from this camera to `to` by `share`, 0 - 1; exactly `to` at 1.
    ///
    /// Angles follow the shorter arc, the distance is interpolated geometrically; the projection changes immediately.
    #[must_use]
    pub fn toward(&self, to: &Self, share: f32) -> Self {
        if share >= 1.0 {
            return *to;
        }
        let mix = |a: f32, b: f32| a + (b - a) * share;
        Self {
            target: self.target.lerp(to.target, share),
            yaw: self.yaw + wrapped(to.yaw - self.yaw) * share,
            pitch: mix(self.pitch, to.pitch),
            distance: self.distance * (to.distance / self.distance).powf(share),
            fov_y: mix(self.fov_y, to.fov_y),
            orthographic: to.orthographic,
        }
    }

    /// Unit vector from the target to the eye.
    pub fn backward(&self) -> Vec3 {
        let (sp, cp) = self.pitch.sin_cos();
        let (sy, cy) = self.yaw.sin_cos();
        Vec3::new(cp * sy, sp, cp * cy)
    }

    /// Unit vector to the right of the view.
    pub fn right(&self) -> Vec3 {
        let (sy, cy) = self.yaw.sin_cos();
        Vec3::new(cy, 0.0, -sy)
    }

    /// Unit vector up in the view.
    pub fn up(&self) -> Vec3 {
        self.backward().cross(self.right())
    }

    /// The position of the eye.
    pub fn eye(&self) -> Vec3 {
        self.target + self.backward() * self.distance
    }

    /// World -> view (right, up, backward).
    pub fn view_from_world(&self) -> Mat4 {
        glam::camera::rh::view::look_at_mat4(self.eye(), self.target, self.up())
    }

    /// View -> clip, OpenGL depth -1..1, for a viewport of `aspect` = width / height.
    pub fn clip_from_view(&self, aspect: f32) -> Mat4 {
        let far = self.distance * 100.0;
        if self.orthographic {
            let half_height = self.distance * (self.fov_y * 0.5).tan();
            let half_width = half_height * aspect;
            glam::camera::rh::proj::opengl::orthographic(
                -half_width,
                half_width,
                -half_height,
                half_height,
                -far,
                far,
            )
        } else {
            glam::camera::rh::proj::opengl::perspective(
                self.fov_y,
                aspect,
                self.distance * 0.01,
                far,
            )
        }
    }

    /// World -> clip.
    pub fn clip_from_world(&self, aspect: f32) -> Mat4 {
        self.clip_from_view(aspect) * self.view_from_world()
    }

    /// The ray under a viewport position: `ndc` from (-1, -1) bottom left to (1, 1) top right.
    pub fn ray(&self, ndc: Vec2, aspect: f32) -> Ray {
        let half_height = (self.fov_y * 0.5).tan();
        let offset =
            self.right() * (ndc.x * half_height * aspect) + self.up() * (ndc.y * half_height);
        if self.orthographic {
            let origin = self.eye() + offset * self.distance;
            Ray {
                origin,
                direction: -self.backward(),
            }
        } else {
            Ray {
                origin: self.eye(),
                direction: (offset - self.backward()).normalize_or(-self.backward()),
            }
        }
    }

    /// World length of one pixel at depth of `point`, for a viewport `height_px` tall.
    pub fn metres_per_pixel(&self, point: Vec3, height_px: f32) -> f32 {
        let depth = if self.orthographic {
            self.distance
        } else {
            (self.eye() - point).dot(self.backward())
        };
        2.0 * depth.max(self.distance * 0.01) * (self.fov_y * 0.5).tan() / height_px.max(1.0)
    }

    /// Orbits the eye about `pivot`, which keeps its position on the screen, by screen angles, radians.
    pub fn orbit(&mut self, pivot: Vec3, delta_yaw: f32, delta_pitch: f32) {
        let local = self.view_from_world().transform_point3(pivot);
        self.yaw = (self.yaw + delta_yaw) % std::f32::consts::TAU;
        self.pitch = (self.pitch + delta_pitch).clamp(-STEEPEST, STEEPEST);
        let eye =
            pivot - (self.right() * local.x + self.up() * local.y + self.backward() * local.z);
        self.target = eye - self.backward() * self.distance;
    }

    /// Pans the view so that points at the target's depth follow the pointer; world units of the screen plane.
    pub fn pan(&mut self, right: f32, up: f32) {
        self.target -= self.right() * right + self.up() * up;
    }

    /// Multiplies the distance by `factor`, keeping the position of `toward` on the screen.
    pub fn zoom(&mut self, factor: f32, toward: Vec3) {
        let distance = (self.distance * factor).clamp(1e-4, 1e7);
        let applied = distance / self.distance;
        self.target = toward + (self.target - toward) * applied;
        self.distance = distance;
    }

    /// Frames a sphere so that it fills the view's height; the direction stays.
    pub fn frame(&mut self, centre: Vec3, radius: f32) {
        self.frame_in(centre, radius, 1.0);
    }

    /// Frames a sphere so that it fits the view, also a view narrower than high; `aspect` = width / height.
    pub fn frame_in(&mut self, centre: Vec3, radius: f32, aspect: f32) {
        let half_angle = ((self.fov_y * 0.5).tan() * aspect.clamp(1e-3, 1.0)).atan();
        self.target = centre;
        self.distance = (radius.max(1e-4) / half_angle.sin()).min(1e7);
    }
}

/// The equivalent angle within +-pi.
fn wrapped(angle: f32) -> f32 {
    use std::f32::consts::{PI, TAU};
    (angle + PI).rem_euclid(TAU) - PI
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_ray_goes_to_the_target_in_both_projections() {
        for orthographic in [false, true] {
            let camera = Camera {
                target: Vec3::new(1., 2., 3.),
                orthographic,
                ..Camera::default()
            };
            let ray = camera.ray(Vec2::ZERO, 1.5);
            let along = (camera.target - ray.origin).dot(ray.direction);
            assert!((ray.origin + ray.direction * along).abs_diff_eq(camera.target, 1e-5));
        }
    }

    #[test]
    fn a_ray_goes_through_what_projects_to_its_place() {
        for orthographic in [false, true] {
            let camera = Camera {
                orthographic,
                ..Camera::default()
            };
            let point = Vec3::new(0.4, -0.3, 0.2);
            let clip = camera.clip_from_world(1.3) * point.extend(1.0);
            let ray = camera.ray(Vec2::new(clip.x, clip.y) / clip.w, 1.3);
            let along = (point - ray.origin).dot(ray.direction);
            assert!((ray.origin + ray.direction * along).abs_diff_eq(point, 1e-5));
        }
    }

    #[test]
    fn named_views_look_along_their_axes() {
        let forward = |view| -Camera::looking(view).backward();
        assert!(forward(View::Front).abs_diff_eq(Vec3::NEG_Z, 1e-6));
        assert!(forward(View::Back).abs_diff_eq(Vec3::Z, 1e-6));
        assert!(forward(View::Right).abs_diff_eq(Vec3::NEG_X, 1e-6));
        assert!(forward(View::Left).abs_diff_eq(Vec3::X, 1e-6));
        assert!(forward(View::Top).abs_diff_eq(Vec3::NEG_Y, 2e-3));
        assert!(forward(View::Bottom).abs_diff_eq(Vec3::Y, 2e-3));
        assert!(forward(View::ThreeQuarter).y < 0.0);
    }

    #[test]
    fn a_framed_sphere_touches_the_nearer_edge_of_the_view() {
        for (aspect, edge) in [(0.5, 0.5), (2.0, 1.0)] {
            let mut camera = Camera::looking(View::Front);
            camera.frame_in(Vec3::ONE, 0.3, aspect);
            // The sphere's outline is where a ray in the edge touches it.
            let half = (camera.fov_y * 0.5).tan() * edge;
            let distance_to_ray = camera.distance * half.atan().sin();
            assert!((distance_to_ray - 0.3).abs() < 1e-5);
        }
    }

    #[test]
    fn orbit_keeps_its_pivot_on_the_screen() {
        let mut camera = Camera::default();
        let pivot = Vec3::new(0.5, 0.2, -0.4);
        let before = camera.clip_from_world(1.0).project_point3(pivot);
        camera.orbit(pivot, 0.7, -0.2);
        assert!(
            camera
                .clip_from_world(1.0)
                .project_point3(pivot)
                .abs_diff_eq(before, 1e-4)
        );
    }

    #[test]
    fn a_camera_knows_which_view_it_is_and_its_opposite() {
        for (view, opposite) in [
            (View::Front, View::Back),
            (View::Right, View::Left),
            (View::Top, View::Bottom),
        ] {
            let camera = Camera::default().turned_to(view);
            assert_eq!(camera.axis_view(), Some(view));
            assert_eq!(camera.turned_round().axis_view(), Some(opposite));
            assert_eq!(camera.turned_round().turned_round().axis_view(), Some(view));
        }
        assert_eq!(Camera::default().axis_view(), None);
        let mut turned = Camera::default().turned_to(View::Front);
        for _ in 0..6 {
            turned = turned.turned_by(15f32.to_radians(), 0.0);
        }
        assert_eq!(turned.axis_view(), Some(View::Right));
    }

    #[test]
    fn a_move_ends_exactly_and_turns_the_shorter_way() {
        let from = Camera {
            yaw: 3.0,
            ..Camera::default()
        };
        let to = Camera {
            yaw: -3.0,
            distance: 0.01,
            target: Vec3::X,
            ..from
        };
        assert_eq!(from.toward(&to, 1.0), to);
        assert_eq!(from.toward(&to, 0.0).yaw, from.yaw);
        let half = from.toward(&to, 0.5);
        assert!(
            (half.yaw - std::f32::consts::PI).abs() < 1e-5,
            "{}",
            half.yaw
        );
        assert!((half.distance - (from.distance * to.distance).sqrt()).abs() < 1e-5);
    }
}
