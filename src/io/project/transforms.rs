//! Local transforms of joints <-> the project format.

use super::v11::TransformEntry;
use crate::io::pose_file::MAX_NUMBER;
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
    let is_small = |v: DVec3| v.abs().max_element() <= MAX_NUMBER;
    let [x, y, z] = [0, 1, 2].map(|i| local.stretch.col(i));
    if !local.is_finite() {
        Err("It has a value that is not a finite number")
    } else if ![local.translation, x, y, z].into_iter().all(is_small) {
        Err("It has a number above 1e12")
    } else {
        Ok(local)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_cannot_be_shown_are_refused() {
        let base = Transform::IDENTITY;
        let moved = |x| TransformEntry {
            translation: Some((x, 0.0, 0.0)),
            ..difference(&base, &base)
        };
        assert!(restore(&base, &moved(1e12)).is_ok());
        for (x, why) in [
            (1e13, "above 1e12"),
            (-1e300, "above 1e12"),
            (f64::NAN, "finite"),
        ] {
            assert!(restore(&base, &moved(x)).unwrap_err().contains(why));
        }
        let scaled = TransformEntry {
            scale: Some((1.0, 1e200, 1.0)),
            ..difference(&base, &base)
        };
        assert!(restore(&base, &scaled).is_err());
    }
}
