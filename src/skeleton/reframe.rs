//! Changes of a joint's frame, `W' = W C`, and of the local transforms and keyframes that keep every motion.
//!
//! For every joint and time `L' = C_p^-1 L C_j`, where `C_p` is the change of the parent's frame.

use super::{Channel, Property};
use crate::math::Transform;
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// Entries of a rotation matrix within this of 0 or +-1 make it a quarter turn.
const QUARTER_TOLERANCE: f64 = 1e-9;

/// A change of frame C in the joint's own space: a rotation about the joint, then a translation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// The rotation of the axes, unit.
    pub rotation: DQuat,
    /// The translation of the joint, in its old axes and units.
    pub translation: DVec3,
}

impl Frame {
    /// The identity.
    pub const IDENTITY: Self = Self {
        rotation: DQuat::IDENTITY,
        translation: DVec3::ZERO,
    };

    /// A rotation of the axes.
    pub fn from_rotation(rotation: DQuat) -> Self {
        Self {
            rotation,
            ..Self::IDENTITY
        }
    }

    /// A translation of the joint.
    pub fn from_translation(translation: DVec3) -> Self {
        Self {
            translation,
            ..Self::IDENTITY
        }
    }

    /// C.
    pub fn to_affine(self) -> DAffine3 {
        DAffine3::from_rotation_translation(self.rotation, self.translation)
    }

    /// C^-1 as a local transform: that of a child which keeps its world transform.
    pub fn inverse(self) -> Transform {
        let back = self.rotation.conjugate();
        Transform::from_rotation_translation(back, -(back * self.translation))
    }

    /// Whether it rotates the axes.
    pub fn rotates(self) -> bool {
        self.rotation != DQuat::IDENTITY
    }

    /// Whether each new axis is parallel to an old one.
    pub fn is_quarter_turn(self) -> bool {
        let m = DMat3::from_quat(self.rotation).to_cols_array();
        m.iter()
            .all(|x| x.abs() < QUARTER_TOLERANCE || (x.abs() - 1.0).abs() < QUARTER_TOLERANCE)
    }
}

/// Which rotations of its axes the scale of a joint permits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stretch {
    /// Uniform scale, with these signs: any rotation.
    Even(DVec3),
    /// Non-uniform scale: only quarter turns keep it a scale.
    Uneven,
    /// A matrix with shear: any rotation, but only quarter turns where it is animated.
    Sheared,
}

/// The map from old to new local transforms and keyframes of a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reframe {
    own: Frame,
    parent: Frame,
    /// The right factor of rotations.
    right_factor: DQuat,
    stretch: Stretch,
}

impl Reframe {
    /// The map for a joint whose frame changes by `own` and its parent's by `parent`.
    pub fn new(own: Frame, parent: Frame, stretch: Stretch) -> Self {
        // R S C = R (S C S^-1) S: for a uniform scale, only the signs of S matter.
        let right_factor = match stretch {
            Stretch::Even(signs) if own.rotates() => {
                let c = own.rotation;
                let mirror = signs.x * signs.y * signs.z;
                let axis = DVec3::new(c.x, c.y, c.z) * signs * mirror;
                DQuat::from_xyzw(axis.x, axis.y, axis.z, c.w)
            }
            _ => own.rotation,
        };
        Self {
            own,
            parent,
            right_factor,
            stretch,
        }
    }

    /// `C_p^-1 L C_j`.
    pub fn transform(&self, local: &Transform) -> Transform {
        let moved = local.translation + local.linear() * self.own.translation;
        let mut made = *local;
        made.translation = if self.parent == Frame::IDENTITY {
            moved
        } else {
            self.parent.rotation.conjugate() * (moved - self.parent.translation)
        };
        if self.own.rotates() || self.parent.rotates() {
            made.rotation = self.parent.rotation.conjugate() * local.rotation * self.right_factor;
        }
        if self.own.rotates() && !matches!(self.stretch, Stretch::Even(_)) {
            let c = DMat3::from_quat(self.own.rotation);
            made.stretch = c.transpose() * local.stretch * c;
            if self.stretch == Stretch::Uneven {
                made.stretch = DMat3::from_diagonal(self.permuted(local.scale()));
            }
        }
        made
    }

    /// Whether the keyframes can be mapped without new ones: the joint itself does not move.
    pub fn is_exact(&self) -> bool {
        self.own.translation == DVec3::ZERO
    }

    /// The mapped keyframes; those of a translation only for a joint that does not move ([`Self::is_exact`]). Shares
    /// the keyframes where nothing changes.
    ///
    /// Exact between keyframes for every interpolation, because each map is affine and tangents get its linear part.
    /// The signs of quaternions stay, so slerp takes the shorter arc before and after.
    pub fn channel(&self, channel: &Channel) -> Channel {
        let back = self.parent.rotation.conjugate();
        match channel.property {
            Property::Rotation if self.own.rotates() || self.parent.rotates() => {
                channel.mapped(|v, _| {
                    (back * DQuat::from_slice(v) * self.right_factor)
                        .to_array()
                        .into()
                })
            }
            Property::Translation if self.parent != Frame::IDENTITY => {
                channel.mapped(|v, is_value| {
                    let offset = if is_value {
                        self.parent.translation
                    } else {
                        DVec3::ZERO
                    };
                    (back * (DVec3::from_slice(v) - offset)).to_array().into()
                })
            }
            Property::Scale if self.own.rotates() && !matches!(self.stretch, Stretch::Even(_)) => {
                channel.mapped(|v, _| self.permuted(DVec3::from_slice(v)).to_array().into())
            }
            _ => channel.clone(),
        }
    }

    /// The value of a translation channel under [`Reframe::channel`].
    pub fn channel_value(&self, translation: DVec3) -> DVec3 {
        self.parent.rotation.conjugate() * (translation - self.parent.translation)
    }

    /// The scales along the new axes.
    fn permuted(&self, scale: DVec3) -> DVec3 {
        let c = DMat3::from_quat(self.own.rotation);
        let size = |axis: DVec3| (axis * axis).round().dot(scale);
        DVec3::new(size(c.x_axis), size(c.y_axis), size(c.z_axis))
    }
}

impl Channel {
    /// The channel with every value and tangent replaced: `map` gets the numbers as f64 and whether they are a value.
    /// Times are shared.
    #[must_use]
    pub fn mapped(&self, map: impl Fn(&[f64], bool) -> Vec<f64>) -> Self {
        let width = self.width();
        let per_key = self.interpolation.values_per_key();
        let entries = self.values.chunks_exact(width.max(1)).enumerate();
        let values = entries.flat_map(|(i, entry)| {
            let entry: Vec<f64> = entry.iter().map(|&v| f64::from(v)).collect();
            let is_value = per_key == 1 || i % per_key == 1;
            map(&entry, is_value).into_iter().map(|v| v as f32)
        });
        Self {
            values: values.collect(),
            ..self.clone()
        }
    }

    /// A translation channel with `offset` added to every value.
    #[must_use]
    pub fn shifted(&self, offset: DVec3) -> Self {
        self.mapped(|v, is_value| {
            let offset = if is_value { offset } else { DVec3::ZERO };
            (DVec3::from_slice(v) + offset).to_array().into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::transform::normalize_or_identity;

    fn close(a: DAffine3, b: DAffine3, tolerance: f64) {
        assert!(a.abs_diff_eq(b, tolerance), "{a}\n{b}");
    }

    #[test]
    fn local_transforms_follow_the_frames_of_joint_and_parent() {
        let c = normalize_or_identity(DQuat::from_xyzw(0.3, -0.2, 0.6, 0.7));
        let own = Frame {
            rotation: c,
            translation: DVec3::new(0.1, -0.4, 0.2),
        };
        let parent = Frame {
            rotation: DQuat::from_rotation_y(0.8),
            translation: DVec3::new(1.0, 0.0, -3.0),
        };
        let q = normalize_or_identity(DQuat::from_xyzw(-0.1, 0.5, 0.2, 0.9));
        for signs in [DVec3::ONE, DVec3::new(-1.0, 1.0, 1.0), DVec3::NEG_ONE] {
            let local = Transform::from_trs(DVec3::new(3.0, 1.0, 2.0), q, signs * 1.7);
            let made = Reframe::new(own, parent, Stretch::Even(signs)).transform(&local);
            let expected = parent.to_affine().inverse() * local.to_affine() * own.to_affine();
            close(made.to_affine(), expected, 1e-14);
            assert_eq!(made.stretch, local.stretch);
            let back = own.inverse().to_affine() * own.to_affine();
            close(back, DAffine3::IDENTITY, 1e-15);
        }
    }

    #[test]
    fn a_joint_with_non_uniform_scale_takes_quarter_turns() {
        let right_factor = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2)
            * DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
        let own = Frame::from_rotation(right_factor);
        assert!(own.is_quarter_turn());
        assert!(!Frame::from_rotation(DQuat::from_rotation_x(0.3)).is_quarter_turn());
        let scale = DVec3::new(1.0, 2.0, 3.0);
        let local = Transform::from_trs(DVec3::ONE, DQuat::from_rotation_y(0.4), scale);
        let made = Reframe::new(own, Frame::IDENTITY, Stretch::Uneven).transform(&local);
        close(made.to_affine(), local.to_affine() * own.to_affine(), 1e-15);
        assert!(!made.has_shear());
    }

    #[test]
    fn a_sheared_joint_keeps_its_whole_stretch_and_permutes_its_scale_keyframes() {
        let shear = DMat3::from_cols(DVec3::X, DVec3::new(0.5, 2.0, 0.0), DVec3::Z);
        let local = Transform {
            stretch: shear,
            ..Transform::from_rotation_translation(DQuat::from_rotation_y(0.4), DVec3::ONE)
        };
        let parent = Frame::from_rotation(DQuat::from_rotation_z(-0.8));
        for angle in [0.3, std::f64::consts::FRAC_PI_2] {
            let own = Frame::from_rotation(DQuat::from_rotation_x(angle));
            let made = Reframe::new(own, parent, Stretch::Sheared).transform(&local);
            let expected = parent.to_affine().inverse() * local.to_affine() * own.to_affine();
            close(made.to_affine(), expected, 1e-15);
        }
        let turn = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
        let map = Reframe::new(
            Frame::from_rotation(turn),
            Frame::IDENTITY,
            Stretch::Sheared,
        );
        let keys = Channel {
            joint: crate::skeleton::JointId(0),
            property: Property::Scale,
            interpolation: crate::skeleton::Interpolation::Linear,
            times: [0.0].into(),
            values: [1.0, 2.0, -3.0].into(),
        };
        assert_eq!(map.channel(&keys).values[..], [1.0, -3.0, 2.0]);
    }
}
