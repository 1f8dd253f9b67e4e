//! Helper joints and the channels of their tracks.

use crate::bake::HelperJoint;
use crate::bake::solve::helper_tracks::Helper;
use crate::math::Transform;
use crate::math::transform::normalize_or_identity;
use crate::skeleton::{Channel, Interpolation, JointId, Property};
use glam::DMat3;
use std::sync::Arc;

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
    let times: Arc<[f32]> = track.times.as_slice().into();
    let channel = |property: Property, values: Vec<f32>| {
        (!values.is_empty()).then(|| Channel {
            joint,
            property,
            interpolation: interpolation_of(track.stepped),
            times: times.clone(),
            values: values.into(),
        })
    };
    let rotations = track.rotation.iter().flat_map(|q| q.as_quat().to_array());
    let translations = track
        .translation
        .iter()
        .flat_map(|t| t.as_vec3().to_array());
    let scales = track.scale.iter().flat_map(|s| s.as_vec3().to_array());
    [
        channel(Property::Rotation, rotations.collect()),
        channel(Property::Translation, translations.collect()),
        channel(Property::Scale, scales.collect()),
    ]
    .into_iter()
    .flatten()
    .collect()
}
