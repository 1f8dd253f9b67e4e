//! Changes of joint frames that keep every motion.

use super::clusters::turn_drivers;
use super::constraints;
use super::content::{draws_rigidly, split};
use super::correctives::follow_frames;
use super::sampling::{Motion, resampling};
use super::{RigEdit, RigError, set_joints};
use crate::document::Document;
use crate::skeleton::constraint::ChangedPart;
use crate::skeleton::resample::{Resampled, Resampling};
use crate::skeleton::{
    Channel, Clip, Frame, Interpolation, Joint, JointId, Property, Reframe, Stretch,
};
use glam::{DVec3, Vec3};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The largest deviation of the scales along the axes from their mean, as a fraction of it, that counts as uniform.
const EVEN_TOLERANCE: f64 = 1e-3;

/// The edit that changes the frames of some joints, `W' = W C`, and keeps every motion: exactly where the frames only
/// rotate, and within `tolerance` of the model's diagonal where a joint moves under an animated rotation.
///
/// Fails for a removed joint, and where a joint's own scale differs along the axes that a frame turns.
pub fn change_frames(
    document: &Document,
    frames: &BTreeMap<JointId, Frame>,
    tolerance: f64,
) -> Result<RigEdit, RigError> {
    let mut changed = document.clone();
    keep_motion(&mut changed, frames, tolerance)?;
    Ok(RigEdit::between(document, &changed))
}

/// What happens to the keyframes of a joint that moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Keys {
    /// The joint keeps its motion; keyframes are added where the new position moves on an arc, within this fraction of
    /// the model's diagonal.
    KeepMotion(f64),
    /// Keyframes keep their rotations; translations change by the same amount as the rest transform.
    NewPivot,
}

/// Changes frames and keeps every motion.
pub(super) fn keep_motion(
    document: &mut Document,
    frames: &BTreeMap<JointId, Frame>,
    tolerance: f64,
) -> Result<(), RigError> {
    apply_frames(document, frames, Keys::KeepMotion(tolerance))
}

/// Changes frames: rest pose, artist's pose, keyframes, tails, inverse bind matrices, and the content of the joints'
/// nodes.
pub(super) fn apply_frames(
    document: &mut Document,
    frames: &BTreeMap<JointId, Frame>,
    keys: Keys,
) -> Result<(), RigError> {
    let skeleton = document.skeleton.clone();
    for &joint in frames.keys() {
        if !skeleton.is_live(joint) {
            return Err(RigError::NoJoint(joint.0));
        }
    }
    let frame = |joint: Option<JointId>| {
        let frame = joint.and_then(|joint| frames.get(&joint));
        frame.copied().unwrap_or(Frame::IDENTITY)
    };
    let mut maps: BTreeMap<JointId, Reframe> = BTreeMap::new();
    for joint in skeleton.live_joints() {
        let (own, parent) = (frame(Some(joint)), frame(skeleton.joint(joint).parent));
        if own != Frame::IDENTITY || parent != Frame::IDENTITY {
            let stretch = stretch_for(document, joint, own)?;
            maps.insert(joint, Reframe::new(own, parent, stretch));
        }
    }
    let before = document.clone();
    let mut joints = skeleton.joints().to_vec();
    let pose = Arc::make_mut(&mut document.pose);
    for (&joint, map) in &maps {
        let entry: &mut Joint = &mut joints[joint.get()];
        let was = entry.rest;
        entry.rest = map.transform(&was);
        let own = frame(Some(joint));
        if own != Frame::IDENTITY {
            let inverse = own.to_affine().inverse();
            let limits = entry.rule.limits;
            entry.rule.limits = limits.and_then(|limits| limits.turned(own.rotation));
            entry.rule.tail = entry.rule.tail.map(|tail| inverse.transform_point3(tail));
        }
        let local = &mut pose.locals[joint.get()];
        *local = match keys {
            Keys::NewPivot if !map.is_exact() => {
                let mut moved = *local;
                moved.translation += entry.rest.translation - was.translation;
                moved
            }
            _ => map.transform(local),
        };
    }
    set_joints(document, joints)?;
    let mut tolerances = BTreeMap::new();
    for clip in document.motions_mut() {
        let changed = reframed(&before, clip, &maps, keys, &mut tolerances);
        if let Some(changed) = changed {
            *clip = Arc::new(changed);
        }
    }
    for skin in document.skins.values_mut() {
        if !skin.joints.iter().any(|joint| frames.contains_key(joint)) {
            continue;
        }
        let skin = Arc::make_mut(skin);
        for (joint, matrix) in skin.joints.iter().zip(&mut skin.inverse_bind) {
            if let Some(frame) = frames.get(joint) {
                *matrix = frame.to_affine().inverse() * *matrix;
            }
        }
    }
    constraints::follow_frames(document, frames)?;
    follow_frames(document, frames)?;
    turn_drivers(document, frames);
    for (&joint, frame) in frames {
        if *frame != Frame::IDENTITY && draws_rigidly(&before, joint) {
            split(document, joint, frame.inverse())?;
        }
    }
    Ok(())
}

/// A clip after the frame changes; `None` where it animates none of the joints.
fn reframed(
    before: &Document,
    clip: &Clip,
    maps: &BTreeMap<JointId, Reframe>,
    keys: Keys,
    tolerances: &mut BTreeMap<JointId, Resampling>,
) -> Option<Clip> {
    let is_moved = |c: &Channel| c.property.moves_joint() && maps.contains_key(&c.joint);
    // Turned by a constraint, a joint whose head moves needs keyframes of its place.
    let is_turned = |joint: JointId| {
        let evaluator = before.evaluator();
        let changes = evaluator.map(|evaluator| evaluator.changes(joint));
        let mut changes = changes.into_iter().flatten();
        changes.any(|part| part != ChangedPart::Translation)
    };
    let keeps = matches!(keys, Keys::KeepMotion(_));
    let any_turned =
        || (maps.iter()).any(|(&joint, map)| keeps && !map.is_exact() && is_turned(joint));
    if !clip.channels.iter().any(is_moved) && !any_turned() {
        return None;
    }
    let mut made = clip.clone();
    for channel in &mut made.channels {
        if let Some(map) = maps.get(&channel.joint) {
            *channel = map.channel(channel);
        }
    }
    for (&joint, map) in maps.iter().filter(|(_, map)| !map.is_exact()) {
        let rest = before.rest_pose.locals[joint.get()];
        let moved = map.transform(&rest).translation - rest.translation;
        let own = clip.channel_of(joint, Property::Translation);
        let others = [Property::Rotation, Property::Scale].map(|p| clip.channel_of(joint, p));
        let Keys::KeepMotion(tolerance) = keys else {
            // Keyframes of the translation change by the same amount as the rest transform.
            if let Some(c) = own {
                made.channels[c] = clip.channels[c].shifted(moved);
            }
            continue;
        };
        if others == [None, None] && !is_turned(joint) {
            if let Some(c) = own {
                let rotation = map.channel(&clip.channels[c]);
                let offset = map.transform(&rest).translation - map.channel_value(rest.translation);
                made.channels[c] = rotation.shifted(offset);
            }
            continue;
        }
        let mut motion = Motion::new(before, clip, &BTreeSet::from([joint]));
        if motion.times().is_empty() {
            continue;
        }
        let parent = before.skeleton.joint(joint).parent;
        let wanted = *tolerances
            .entry(joint)
            .or_insert_with(|| resampling(before, parent, joint, tolerance));
        let keyed = Resampled::new(&motion.times(), wanted.of_place(), |time| {
            map.transform(&motion.at(time).locals[joint.get()])
        });
        set_channel(&mut made, keyed.channel(joint, Property::Translation));
    }
    Some(made)
}

/// Replaces the channel with the same target, or appends the channel.
pub(super) fn set_channel(clip: &mut Clip, channel: Channel) {
    match clip.channel_of(channel.joint, channel.property) {
        Some(c) => clip.channels[c] = channel,
        None => clip.channels.push(channel),
    }
}

/// The rotations of axes that the joint's own scale permits, over rest pose, artist's pose and all keyframes; an error
/// where they do not include the rotation of `own`.
fn stretch_for(document: &Document, joint: JointId, own: Frame) -> Result<Stretch, RigError> {
    let rest = document.skeleton.joint(joint).rest;
    let signs = rest.scale().map(|s| if s < 0.0 { -1.0 } else { 1.0 });
    if !own.rotates() {
        return Ok(Stretch::Even(signs));
    }
    let label = || document.skeleton.label(joint);
    if rest.has_shear() {
        let is_animated = document.motions().any(|clip| {
            let mut channels = clip.channels.iter();
            channels.any(|c| c.joint == joint && c.property.moves_joint())
        });
        return if is_animated && !own.is_quarter_turn() {
            Err(RigError::StretchedAtRest {
                joint: label(),
                ratio: ratio(rest.scale()),
            })
        } else {
            Ok(Stretch::Sheared)
        };
    }
    let mirrors = |scale: DVec3| (scale * signs).min_element() < 0.0;
    let posed = document.pose.locals[joint.get()].scale();
    let mut any_mirrors = mirrors(posed);
    if any_mirrors && !own.is_quarter_turn() {
        return Err(RigError::MirrorsInPose(label()));
    }
    let mut worst = Worst::default();
    worst.meet(rest.scale(), None);
    worst.meet(posed, None);
    for clip in document.motions() {
        let scales = clip.channels.iter();
        for channel in scales.filter(|c| c.joint == joint && c.property == Property::Scale) {
            for scale in scales_of(channel) {
                if mirrors(scale) {
                    any_mirrors = true;
                    if !own.is_quarter_turn() {
                        return Err(RigError::MirrorsInClip {
                            joint: label(),
                            clip: clip.name.clone(),
                        });
                    }
                }
                worst.meet(scale, Some(&clip.name));
            }
        }
    }
    if worst.deviation <= EVEN_TOLERANCE && !any_mirrors {
        return Ok(Stretch::Even(signs));
    }
    if own.is_quarter_turn() {
        return Ok(Stretch::Uneven);
    }
    let (joint, ratio) = (label(), worst.ratio);
    Err(match worst.clip {
        Some(clip) => RigError::StretchedInClip { joint, ratio, clip },
        None => RigError::StretchedAtRest { joint, ratio },
    })
}

/// The scales at the keyframes of a channel; of splines, which can differ more between keyframes, some of those too.
fn scales_of(channel: &Channel) -> Vec<DVec3> {
    let keys = (0..channel.times.len()).map(|k| {
        let key = channel.key(k);
        Vec3::from_slice(key).as_dvec3()
    });
    let mut scales: Vec<DVec3> = keys.collect();
    if channel.interpolation == Interpolation::CubicSpline {
        for pair in channel.times.windows(2) {
            let [from, to] = [pair[0], pair[1]].map(f64::from);
            for x in [0.25, 0.5, 0.75] {
                let mut scale = [0.0; 3];
                channel.sample(from + (to - from) * x, &mut scale);
                scales.push(scale.into());
            }
        }
    }
    scales
}

/// The least uniform scale so far.
#[derive(Default)]
struct Worst {
    deviation: f64,
    ratio: f64,
    clip: Option<String>,
}

impl Worst {
    fn meet(&mut self, scale: DVec3, clip: Option<&str>) {
        let size = scale.abs();
        let mean = (size.x + size.y + size.z) / 3.0;
        let deviation = ((size / mean) - 1.0).abs().max_element();
        if mean > 0.0 && deviation > self.deviation {
            self.deviation = deviation;
            self.ratio = ratio(scale);
            self.clip = clip.map(str::to_owned);
        }
    }
}

/// The ratio of the largest scale to the smallest.
fn ratio(scale: DVec3) -> f64 {
    let size = scale.abs();
    size.max_element() / size.min_element().max(f64::MIN_POSITIVE)
}
