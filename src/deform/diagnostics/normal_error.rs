//! Normal error: the angle between shaded and geometric normals.

use super::{ShapeView, for_each, larger};
use glam::DVec3;

/// The largest angle, degrees, between a normal at the point and the area-weighted normal of the faces that show it;
/// NaN where no face does, infinite where one of them is not finite.
pub(super) fn values(shape: &ShapeView<'_>, buffer: Vec<f32>) -> Vec<f32> {
    let triangles = shape.triangles();
    let topology = shape.mesh.topology();
    let normals = (shape.normals.len() == shape.mesh.normals.len()).then_some(shape.normals);
    for_each(buffer, shape.n_points(), |point| {
        let (Some(normals), false) = (normals, triangles.is_empty()) else {
            return f64::NAN;
        };
        let mut worst = f64::NAN;
        for n in topology.normals_of_point(point as u32) {
            let mut sum = DVec3::ZERO;
            for &f in topology.faces_of_normal(n) {
                let [a, b, c] = triangles[f as usize].map(|p| shape.in_pose(p as usize));
                sum += (b - a).cross(c - a);
            }
            let shaded = normals[n as usize].as_dvec3();
            if !(sum.is_finite() && shaded.is_finite()) {
                return f64::INFINITY;
            }
            if let (Some(face), Some(shaded)) = (sum.try_normalize(), shaded.try_normalize()) {
                // The sine too: an arc cosine has no digits left at small angles.
                let angle = face.cross(shaded).length().atan2(face.dot(shaded));
                worst = larger(worst, angle.to_degrees());
            }
        }
        worst
    })
}

#[cfg(test)]
mod tests {
    use super::super::shape::tests::Tube;
    use super::*;

    #[test]
    fn turned_normals_err_by_the_angle() {
        let mut tube = Tube::new();
        let straight = values(&tube.view(), Vec::new());
        assert!(straight.iter().all(|v| *v < 12.0), "{straight:?}");
        let turn = glam::Quat::from_rotation_x(0.5);
        for n in &mut tube.normals {
            *n = turn * *n;
        }
        // The middle ring's faces lie evenly around it.
        let found = values(&tube.view(), Vec::new())[Tube::middle()];
        assert!(
            (f64::from(found) - 0.5f64.to_degrees()).abs() < 12.0,
            "{found}"
        );
        tube.posed.fill(glam::Vec3::ZERO);
        assert!(values(&tube.view(), Vec::new()).iter().all(|v| v.is_nan()));
    }
}
