//! Occlusion: whether another part of the model hides a position inside the model.

use super::Editor;
use super::pointer::surfaces;
use crate::math::Ray;
use glam::Vec3;

impl Editor {
    /// Whether another part of the model is between the eye and `point`; the skin directly around the point, which
    /// hides every bone, does not count.
    pub fn is_behind_another_part(&mut self, point: Vec3) -> bool {
        let camera = self.document.session().camera;
        let (toward_eye, room) = if camera.orthographic {
            (camera.backward(), f32::INFINITY)
        } else {
            let way = camera.eye() - point;
            (way.normalize_or_zero(), way.length())
        };
        if toward_eye == Vec3::ZERO {
            return false;
        }
        let mut surfaces = surfaces(self.views.pointed_mut(), &self.document);
        let mut cast = |origin: Vec3| {
            let ray = Ray {
                origin,
                direction: toward_eye,
            };
            let hits = surfaces.iter_mut().filter_map(|(_, s)| s.cast_ray(&ray));
            hits.map(|hit| hit.distance).min_by(f32::total_cmp)
        };
        // Out of the part's own skin, then the same distance again: clothes are within it, other limbs are not.
        let Some(out) = cast(point).filter(|&d| d < room) else {
            return false;
        };
        let clear = out * 2.0 + 1e-4 * camera.distance;
        cast(point + toward_eye * clear).is_some_and(|d| clear + d < room)
    }
}
