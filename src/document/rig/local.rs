//! Local transforms of a joint under another parent.

use super::RigError;
use crate::math::polar::{largest_entry, orthonormality_error};
use crate::math::transform::normalize_or_identity;
use crate::math::{Transform, polar};
use crate::skeleton::orientation::{parent_world_of, world_of};
use crate::skeleton::{Channel, JointId, Pose, Property, Skeleton};
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// Shorter bones have no direction, in the units of their joint.
pub(super) const SHORTEST_BONE: f64 = 1e-10;

/// The largest off-diagonal entry of a stretch, as a fraction of the matrix norm, that does not count as shear.
const SHEAR_TOLERANCE: f64 = 1e-4;
/// The largest deviation of a transform from a similarity, as a fraction.
const SIMILAR_TOLERANCE: f64 = 1e-9;
/// A determinant below this fraction of the cube of the largest entry makes a matrix singular.
const SINGULAR_TOLERANCE: f64 = 1e-12;

/// A similarity between two parents' spaces, which every keyframe can follow: rotation, translation and uniform scale.
pub(super) struct Similarity {
    rotation: DQuat,
    scale: f64,
    map: DAffine3,
}

/// The map from a joint's world transform to its local transform under its parent in a pose.
pub(super) struct IntoLocal {
    /// The inverse of the parent's world transform.
    pub(super) parent: DAffine3,
    /// The inverse of the linear part that applies to the joint: without the parent's own stretch where the joint
    /// compensates for it.
    linear: DMat3,
}

impl IntoLocal {
    /// Fails where the parent's world transform is singular or not finite.
    pub(super) fn new(
        skeleton: &Skeleton,
        pose: &Pose,
        joint: JointId,
        place: impl FnOnce() -> String,
    ) -> Result<Self, RigError> {
        let Some(parent) = skeleton.joint(joint).parent else {
            return Ok(Self {
                parent: DAffine3::IDENTITY,
                linear: DMat3::IDENTITY,
            });
        };
        let world = world_of(skeleton, pose, parent);
        let inverse = inverse(world).ok_or_else(|| RigError::Singular {
            joint: skeleton.label(parent),
            place: place(),
        })?;
        let linear = if skeleton.joint(joint).rule.compensates_scale {
            parent_world_of(skeleton, pose, joint).matrix3.inverse()
        } else {
            inverse.matrix3
        };
        Ok(Self {
            parent: inverse,
            linear,
        })
    }

    pub(super) fn local(&self, world: DAffine3) -> DAffine3 {
        DAffine3 {
            matrix3: self.linear * world.matrix3,
            translation: self.parent.transform_point3(world.translation),
        }
    }
}

/// The inverse of `map`, unless that is singular or not finite.
pub(super) fn inverse(map: DAffine3) -> Option<DAffine3> {
    let inverse = map.inverse();
    let size = largest_entry(map.matrix3);
    let is_regular = map.matrix3.determinant().abs() > SINGULAR_TOLERANCE * size.powi(3);
    (is_regular && inverse.is_finite()).then_some(inverse)
}

impl Similarity {
    /// The map, if it is one.
    pub(super) fn of(map: DAffine3) -> Option<Self> {
        let determinant = map.matrix3.determinant();
        if !map.is_finite() || determinant <= 0.0 {
            return None;
        }
        let scale = determinant.cbrt();
        let rotation = map.matrix3 * (1.0 / scale);
        (orthonormality_error(rotation) < SIMILAR_TOLERANCE).then(|| Self {
            rotation: normalize_or_identity(DQuat::from_mat3(&rotation)),
            scale,
            map,
        })
    }

    /// M L, with all of its stretch.
    pub(super) fn transform(&self, local: &Transform) -> Transform {
        Transform {
            translation: self.map.transform_point3(local.translation),
            rotation: self.rotation * local.rotation,
            stretch: local.stretch * self.scale,
        }
    }

    pub(super) fn channel(&self, channel: &Channel) -> Channel {
        match channel.property {
            Property::Rotation => {
                channel.mapped(|v, _| (self.rotation * DQuat::from_slice(v)).to_array().into())
            }
            Property::Translation => channel.mapped(|v, is_value| {
                let v = DVec3::from_slice(v);
                let moved = if is_value {
                    self.map.transform_point3(v)
                } else {
                    self.map.transform_vector3(v)
                };
                moved.to_array().into()
            }),
            Property::Scale => channel.mapped(|v, _| v.iter().map(|v| v * self.scale).collect()),
            Property::MorphWeights | Property::Influence(_) => channel.clone(),
        }
    }
}

pub(super) fn signs(scale: DVec3) -> DVec3 {
    scale.map(|s| if s < 0.0 { -1.0 } else { 1.0 })
}

/// Decomposes affine transforms into translation, rotation and scale, with the signs of the joint's own scale.
pub(super) struct Splitter {
    pub(super) label: String,
    pub(super) signs: DVec3,
    pub(super) nearest: bool,
}

impl Splitter {
    pub(super) fn split(&self, map: DAffine3) -> Result<Transform, RigError> {
        let linear = map.matrix3;
        let mut signs = self.signs;
        if (linear * DMat3::from_diagonal(signs)).determinant() < 0.0 {
            signs = -signs;
        }
        let mirror = DMat3::from_diagonal(signs);
        let (rotation, stretch) = polar(linear * mirror);
        let sizes = DVec3::new(stretch.x_axis.x, stretch.y_axis.y, stretch.z_axis.z);
        let off = stretch - DMat3::from_diagonal(sizes);
        let shear = largest_entry(off) / largest_entry(stretch).max(f64::MIN_POSITIVE);
        // Not finite, it is no transform at all.
        let is_held = shear <= SHEAR_TOLERANCE || (self.nearest && shear.is_finite());
        if !is_held || !map.is_finite() {
            return Err(RigError::Shear {
                joint: self.label.clone(),
                shear,
            });
        }
        Ok(Transform::from_trs(
            map.translation,
            normalize_or_identity(DQuat::from_mat3(&rotation)),
            sizes * signs,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flattened_maps_have_no_inverse() {
        let scaled = |scale: DVec3| inverse(DAffine3::from_scale(scale)).is_some();
        assert!(scaled(DVec3::splat(1e-9)));
        assert!(!scaled(DVec3::new(1.0, 0.0, 1.0)));
        assert!(!scaled(DVec3::ZERO));
        assert!(!scaled(DVec3::NAN));
    }
}
