//! The projection of a camera in a viewport: world positions -> pixels, and pixels -> rays.

use crate::math::{Camera, Ray};
use glam::{Mat4, Vec2, Vec3, Vec4};

/// A camera and a viewport: world -> logical pixels, x to the right, y up from the bottom left corner.
#[derive(Clone, Copy, Debug)]
pub struct ScreenView {
    camera: Camera,
    clip_from_world: Mat4,
    clip_from_view: Mat4,
    size_px: Vec2,
}

impl ScreenView {
    /// The view of `camera` in a viewport of `size_px` logical pixels.
    pub fn new(camera: &Camera, size_px: Vec2) -> Self {
        let size_px = size_px.max(Vec2::ONE);
        let aspect = size_px.x / size_px.y;
        Self {
            camera: *camera,
            clip_from_world: camera.clip_from_world(aspect),
            clip_from_view: camera.clip_from_view(aspect),
            size_px,
        }
    }

    /// Logical pixels of the viewport.
    pub fn size_px(&self) -> Vec2 {
        self.size_px
    }

    /// The pixel of a viewport position, (-1, -1) bottom left to (1, 1) top right.
    pub fn pixel_of(&self, ndc: Vec2) -> Vec2 {
        (ndc * 0.5 + 0.5) * self.size_px
    }

    /// Pixel and depth (0 near - 1 far) of a world position; `None` outside of the near and far planes.
    pub fn project(&self, world: Vec3) -> Option<Vec3> {
        self.on_screen(self.clip(world))
    }

    /// As [`ScreenView::project`], with the depth that `world` would have `metres` nearer to the camera.
    pub(super) fn project_nearer(&self, world: Vec3, metres: f32) -> Option<Vec3> {
        let clip = self.clip(world);
        let mut screen = self.on_screen(clip)?;
        let step = self.clip_from_view.z_axis * metres;
        let w = clip.w + step.w;
        screen.z = if w > 0.0 {
            (clip.z + step.z) / w * 0.5 + 0.5
        } else {
            0.0
        };
        Some(screen)
    }

    /// The world ray under a pixel.
    pub(super) fn ray_at(&self, at: Vec2) -> Ray {
        let ndc = at / self.size_px * 2.0 - 1.0;
        self.camera.ray(ndc, self.size_px.x / self.size_px.y)
    }

    /// The size of a pixel in a corner of the screen, perpendicular to its ray, as a multiple of that in the centre.
    pub(super) fn widening(&self) -> f32 {
        if self.camera.orthographic {
            return 1.0;
        }
        let up = (self.camera.fov_y * 0.5).tan();
        let side = up * self.size_px.x / self.size_px.y;
        1.0 + up * up + side * side
    }

    /// World length of a pixel at `point`.
    pub(super) fn metres_per_pixel(&self, point: Vec3) -> f32 {
        self.camera.metres_per_pixel(point, self.size_px.y)
    }

    /// The view direction from the camera to `point`, of any length.
    pub(super) fn view_direction(&self, point: Vec3) -> Vec3 {
        if self.camera.orthographic {
            -self.camera.backward()
        } else {
            point - self.camera.eye()
        }
    }

    /// The ends of a segment in pixels, as far as it lies in front of the camera.
    pub(super) fn project_segment(&self, head: Vec3, tail: Vec3) -> Option<(Vec2, Vec2)> {
        let (mut a, mut b) = (self.clip(head), self.clip(tail));
        // Distance in front of the near plane, in clip units.
        let near = |p: Vec4| p.z + p.w;
        let cut = |inside: Vec4, outside: Vec4| {
            let t = near(inside) / (near(inside) - near(outside));
            inside.lerp(outside, t * 0.999)
        };
        match (near(a) > 0.0, near(b) > 0.0) {
            (false, false) => return None,
            (true, false) => b = cut(a, b),
            (false, true) => a = cut(b, a),
            (true, true) => {}
        }
        let pixel = |p: Vec4| self.pixel_of(p.truncate().truncate() / p.w);
        let (a, b) = (pixel(a), pixel(b));
        (a.is_finite() && b.is_finite()).then_some((a, b))
    }

    fn clip(&self, world: Vec3) -> Vec4 {
        self.clip_from_world * world.extend(1.0)
    }

    fn on_screen(&self, clip: Vec4) -> Option<Vec3> {
        let inverse = 1.0 / clip.w;
        let depth = clip.z * inverse * 0.5 + 0.5;
        let x = (clip.x * inverse * 0.5 + 0.5) * self.size_px.x;
        let y = (clip.y * inverse * 0.5 + 0.5) * self.size_px.y;
        // Comparisons that NaN fails.
        (clip.w > 0.0 && (0.0..=1.0).contains(&depth) && (x + y).is_finite())
            .then_some(Vec3::new(x, y, depth))
    }
}
