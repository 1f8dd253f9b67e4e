//! Helper joints and the channels of their tracks.

use crate::bake::HelperJoint;
use crate::bake::solve::helper_tracks::Helper;
use crate::math::Transform;
use crate::math::transform::normalize_or_identity;
use crate::skeleton::{Channel, Interpolation, JointId, Property};
use glam::{DMat3, DVec3};

pub(super) fn joint_of(helper: &Helper, id: JointId, number: usize) -> HelperJoint {
    HelperJoint {
        id,
        name: format!("Helper {}", number + 1),
        parent: helper.parent,
        rest: Transform {
            translation: helper.rest.translation,
            rotation: normalize_or_identity(helper.rest.rotation),
            stretch: DMat3::from_diagonal(helper.rest.scale),
        },
        inverse_bind: helper.inverse_bind,
        driver: Vec::new(),
    }
}

/// The interpolation of tracks that hold their values between keyframes, or not.
pub(super) fn interpolation_of(stepped: bool) -> Interpolation {
    if stepped {
        Interpolation::Step
    } else {
        Interpolation::Linear
    }
}

/// The channels of a helper in a clip.
pub(super) fn channels_of(helper: &Helper, joint: JointId, clip: usize) -> Vec<Channel> {
    let Some(track) = helper.tracks.get(clip) else {
        return Vec::new();
    };
    let channel = |property: Property, times: &[f32], values: Vec<f32>| {
        (!values.is_empty()).then(|| Channel {
            joint,
            property,
            interpolation: interpolation_of(track.stepped),
            times: times.into(),
            values: values.into(),
        })
    };
    let rotations = &track.rotation.values;
    let rotations = rotations.iter().flat_map(|q| q.as_quat().to_array());
    let of = |values: &[DVec3]| -> Vec<f32> {
        let values = values.iter().flat_map(|v| v.as_vec3().to_array());
        values.collect()
    };
    [
        channel(
            Property::Rotation,
            &track.rotation.times,
            rotations.collect(),
        ),
        channel(
            Property::Translation,
            &track.translation.times,
            of(&track.translation.values),
        ),
        channel(Property::Scale, &track.scale.times, of(&track.scale.values)),
    ]
    .into_iter()
    .flatten()
    .collect()
}
