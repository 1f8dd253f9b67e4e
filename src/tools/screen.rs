//! Projection between the world and the pixels of the viewport.

use crate::math::{Camera, Ray};
use glam::{DVec3, Vec2, Vec3};

/// A camera and the size of the picture. Pixels are logical ones, from the top left, y down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Screen {
    /// The camera.
    pub camera: Camera,
    /// Logical pixels of the viewport.
    pub size_px: Vec2,
}

impl Screen {
    /// The view of `camera` in a viewport of `size_px`.
    pub fn new(camera: Camera, size_px: Vec2) -> Self {
        Self {
            camera,
            size_px: size_px.max(Vec2::ONE),
        }
    }

    /// The pixel of a world position; `None` behind the camera.
    pub fn project(&self, point: Vec3) -> Option<Vec2> {
        let camera = &self.camera;
        let from_eye = point - camera.eye();
        let depth = -from_eye.dot(camera.backward());
        let at_depth = if camera.orthographic {
            camera.distance
        } else if depth > camera.distance * 1e-4 {
            depth
        } else {
            return None;
        };
        let half_height = at_depth * (camera.fov_y * 0.5).tan();
        let per_metre = self.size_px.y * 0.5 / half_height;
        let offset = Vec2::new(from_eye.dot(camera.right()), -from_eye.dot(camera.up()));
        let px = self.size_px * 0.5 + offset * per_metre;
        px.is_finite().then_some(px)
    }

    /// The world ray under a pixel.
    pub fn ray(&self, px: Vec2) -> Ray {
        let unit = px / self.size_px;
        let ndc = Vec2::new(unit.x * 2.0 - 1.0, 1.0 - unit.y * 2.0);
        self.camera.ray(ndc, self.size_px.x / self.size_px.y)
    }

    /// The fraction of a line, 0 at its start and 1 at its end, whose place is nearest to the ray under a pixel; `None` where the
    /// line points at the eye.
    pub fn fraction_along(&self, px: Vec2, [start, end]: [DVec3; 2]) -> Option<f64> {
        let ray = self.ray(px);
        let (origin, way) = (ray.origin.as_dvec3(), ray.direction.as_dvec3());
        let along = end - start;
        // The nearest points of two lines: both distances are at right angles to them.
        let (aa, ab, bb) = (along.length_squared(), along.dot(way), way.length_squared());
        let from = origin - start;
        let det = aa * bb - ab * ab;
        let fraction = (bb * along.dot(from) - ab * way.dot(from)) / det;
        (det > 1e-4 * aa * bb && fraction.is_finite()).then_some(fraction)
    }

    /// World length of one pixel at the depth of `point`.
    pub fn metres_per_px(&self, point: Vec3) -> f32 {
        self.camera.metres_per_pixel(point, self.size_px.y)
    }

    /// Unit vector from `point` to the camera.
    pub fn toward_eye(&self, point: Vec3) -> Vec3 {
        if self.camera.orthographic {
            self.camera.backward()
        } else {
            (self.camera.eye() - point).normalize_or(self.camera.backward())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_on_a_line_is_found_under_its_pixel() {
        let screen = Screen::new(Camera::default(), Vec2::new(800.0, 600.0));
        let line = [DVec3::new(-0.3, 0.1, 0.2), DVec3::new(0.5, 0.4, -0.1)];
        for fraction in [-0.5, 0.0, 0.37, 1.0] {
            let at = line[0] + (line[1] - line[0]) * fraction;
            let px = screen.project(at.as_vec3()).unwrap();
            let found = screen.fraction_along(px, line).unwrap();
            assert!((found - fraction).abs() < 1e-4, "{fraction} {found}");
        }
        let towards = screen.toward_eye(Vec3::ZERO).as_dvec3();
        let centre = screen.project(Vec3::ZERO).unwrap();
        assert_eq!(screen.fraction_along(centre, [DVec3::ZERO, towards]), None);
    }

    #[test]
    fn what_is_projected_lies_under_its_pixel() {
        for orthographic in [false, true] {
            let camera = Camera {
                orthographic,
                ..Camera::default()
            };
            let screen = Screen::new(camera, Vec2::new(800.0, 600.0));
            let point = Vec3::new(0.4, -0.2, 0.3);
            let px = screen.project(point).unwrap();
            let clip = camera.clip_from_world(800.0 / 600.0).project_point3(point);
            let expected = Vec2::new(400.0 + 400.0 * clip.x, 300.0 - 300.0 * clip.y);
            assert!(px.abs_diff_eq(expected, 1e-2), "{px} {expected}");
            let ray = screen.ray(px);
            let along = (point - ray.origin).dot(ray.direction);
            assert!((ray.origin + ray.direction * along).abs_diff_eq(point, 1e-4));
        }
    }

    #[test]
    fn nothing_behind_the_camera_is_visible() {
        let screen = Screen::new(Camera::default(), Vec2::new(800.0, 600.0));
        let behind = screen.camera.eye() + screen.camera.backward();
        assert_eq!(screen.project(behind), None);
    }
}
