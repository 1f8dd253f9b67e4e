//! Local transforms of joints <-> the project format.

use super::v7::TransformEntry;
use crate::math::Transform;
use glam::{DMat3, DQuat, DVec3};

/// The components of `local` that differ from those of `base`.
pub(super) fn difference(local: &Transform, base: &Transform) -> TransformEntry {
    let stretched = local.stretch != base.stretch;
    let sheared = local.has_shear();
    TransformEntry {
        translation: (local.translation != base.translation).then(|| local.translation.into()),
        rotation: (local.rotation != base.rotation).then(|| local.rotation.into()),
        scale: (stretched && !sheared).then(|| local.scale().into()),
        stretch: (stretched && sheared).then(|| {
            let columns = local.stretch;
            [columns.x_axis, columns.y_axis, columns.z_axis].map(Into::into)
        }),
    }
}

/// `base` with the components of `entry`; the error is the start of a sentence.
pub(super) fn restore(base: &Transform, entry: &TransformEntry) -> Result<Transform, &'static str> {
    let mut local = *base;
    if let Some(translation) = entry.translation {
        local.translation = translation.into();
    }
    if let Some((x, y, z, w)) = entry.rotation {
        local.rotation = DQuat::from_xyzw(x, y, z, w);
        // Rounding errors of a rotation are kept; a quaternion that is no rotation is not.
        if !(0.25..4.0).contains(&local.rotation.length_squared()) {
            return Err("It has a rotation whose length is not 1");
        }
    }
    if let Some(scale) = entry.scale {
        local.stretch = DMat3::from_diagonal(scale.into());
    }
    if let Some(columns) = entry.stretch {
        let [x, y, z] = columns.map(DVec3::from);
        local.stretch = DMat3::from_cols(x, y, z);
    }
    if local.is_finite() {
        Ok(local)
    } else {
        Err("It has a value that is not a finite number")
    }
}
