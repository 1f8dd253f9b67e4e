//! Conversions from glam (ours) to cgmath (three-d), by value, at the call only.

use glam::{Mat4, Vec2, Vec3};

/// Converts a matrix.
pub(crate) fn matrix(m: Mat4) -> cgmath::Matrix4<f32> {
    m.to_cols_array_2d().into()
}

/// Converts a vector.
pub(crate) fn vector3(v: Vec3) -> cgmath::Vector3<f32> {
    v.to_array().into()
}

/// Converts a vector.
pub(crate) fn vector2(v: Vec2) -> cgmath::Vector2<f32> {
    v.to_array().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stay_columns() {
        let m = matrix(Mat4::from_translation(Vec3::new(1., 2., 3.)));
        assert_eq!(m.w, cgmath::Vector4::new(1., 2., 3., 1.));
    }
}
