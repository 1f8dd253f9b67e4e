//! Freezing the scale of a joint: what is below it keeps its size without it.

use super::content::{draws_rigidly, split};
use super::{RigEdit, RigError, check_live, joints_of, set_joints};
use crate::document::Document;
use crate::math::Transform;
use crate::skeleton::{Channel, JointId, Property};
use glam::{DMat3, DQuat, DVec3};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The largest deviation of the scales along the axes from their mean, as a fraction of it, that counts as uniform.
const EVEN_TOLERANCE: f64 = 1e-3;
/// A rotation by less than this, as the length of its quaternion's vector, does not turn a joint.
const STILL: f64 = 1e-9;

/// The edit that makes the rest scale k of a joint 1. Positions below it and their keyframes become k times as large, and
/// inverse bind matrices change by k, exactly; joints that draw a rigid mesh, a camera or a light get the scale themselves.
///
/// Fails for a scale that mirrors or is 0, one that is not uniform where something below rotates, and a scale of 1.
pub fn freeze_scale(document: &Document, joint: JointId) -> Result<RigEdit, RigError> {
    check_live(document, joint)?;
    let skeleton = document.skeleton.clone();
    let label = || skeleton.label(joint);
    let scale = skeleton.joint(joint).rest.scale();
    if scale.min_element() <= 0.0 || skeleton.joint(joint).rest.has_shear() {
        return Err(RigError::FreezeMirrored(label()));
    }
    let below: Vec<JointId> = skeleton
        .live_joints()
        .filter(|&j| skeleton.ancestors(j).any(|a| a == joint))
        .collect();
    let mean = (scale.x + scale.y + scale.z) / 3.0;
    let is_even = ((scale / mean) - 1.0).abs().max_element() <= EVEN_TOLERANCE;
    let k = if is_even { DVec3::splat(mean) } else { scale };
    if k == DVec3::ONE {
        return Err(RigError::Unchanged(format!(
            "“{}” has a scale of 1",
            label()
        )));
    }
    if let Some(&turning) = below
        .iter()
        .find(|&&j| !is_even && turns_or_shears(document, j))
    {
        return Err(RigError::FreezeTurns {
            joint: label(),
            below: skeleton.label(turning),
        });
    }
    if let Some(&held) = below
        .iter()
        .find(|&&j| skeleton.joint(j).rule.compensates_scale)
    {
        return Err(RigError::FreezeCompensates {
            joint: label(),
            below: skeleton.label(held),
        });
    }
    let mut changed = document.clone();
    if draws_rigidly(document, joint) {
        let held = Transform {
            stretch: DMat3::from_diagonal(k),
            ..Transform::IDENTITY
        };
        // Its own frame changes by 1 / k below, and that of its content not at all.
        split(&mut changed, joint, held)?;
    }
    // C = diag(c) of each joint.
    let frames: BTreeMap<JointId, DVec3> = std::iter::once((joint, k.recip()))
        .chain(below.iter().map(|&j| {
            let c = if draws_rigidly(document, j) {
                DVec3::ONE
            } else {
                k.recip()
            };
            (j, c)
        }))
        .collect();
    let above = |j: JointId| {
        let parent = skeleton.joint(j).parent;
        let frame = parent.and_then(|parent| frames.get(&parent));
        frame.copied().unwrap_or(DVec3::ONE)
    };
    let mut joints = joints_of(&changed);
    for (&j, &own) in &frames {
        let map = Scaling {
            place: above(j).recip(),
            scale: own / above(j),
        };
        let entry = &mut joints[j.get()];
        entry.rest = map.transform(&entry.rest);
        entry.rule.tail = entry.rule.tail.map(|tail| tail / own);
        let local = &mut Arc::make_mut(&mut changed.pose).locals[j.get()];
        *local = map.transform(local);
        for clip in changed.motions_mut() {
            if clip.channels.iter().any(|c| c.joint == j) {
                let channels = &mut Arc::make_mut(clip).channels;
                for channel in channels.iter_mut().filter(|c| c.joint == j) {
                    *channel = map.channel(channel);
                }
            }
        }
    }
    set_joints(&mut changed, joints)?;
    for skin in changed.skins.values_mut() {
        if !skin.joints.iter().any(|j| frames.contains_key(j)) {
            continue;
        }
        let skin = Arc::make_mut(skin);
        for (j, matrix) in skin.joints.iter().zip(&mut skin.inverse_bind) {
            if let Some(own) = frames.get(j) {
                let inverse = own.recip();
                matrix.matrix3 = DMat3::from_diagonal(inverse) * matrix.matrix3;
                matrix.translation *= inverse;
            }
        }
    }
    Ok(RigEdit::between(document, &changed))
}

/// `C_p^-1 L C_j` for diagonal frames that rotations of L do not meet, or that are uniform.
struct Scaling {
    place: DVec3,
    scale: DVec3,
}

impl Scaling {
    fn transform(&self, local: &Transform) -> Transform {
        Transform {
            translation: local.translation * self.place,
            rotation: local.rotation,
            // The same factor on both sides leaves it bit for bit.
            stretch: if self.scale == DVec3::ONE {
                local.stretch
            } else {
                local.stretch * DMat3::from_diagonal(self.scale)
            },
        }
    }

    fn channel(&self, channel: &Channel) -> Channel {
        let factor = match channel.property {
            Property::Translation => self.place,
            Property::Scale if self.scale != DVec3::ONE => self.scale,
            _ => return channel.clone(),
        };
        channel.mapped(|v, _| (DVec3::from_slice(v) * factor).to_array().into())
    }
}

/// Whether a joint rotates or shears in the rest pose, in the artist's pose or in a clip.
fn turns_or_shears(document: &Document, joint: JointId) -> bool {
    let turns = |q: DQuat| DVec3::new(q.x, q.y, q.z).length() > STILL;
    let locals = [
        &document.skeleton.joint(joint).rest,
        &document.pose.locals[joint.get()],
    ];
    let channels = document.motions().flat_map(|clip| &clip.channels);
    let mut rotations = channels.filter(|c| c.joint == joint && c.property == Property::Rotation);
    locals.iter().any(|l| turns(l.rotation) || l.has_shear())
        || rotations.any(|channel| {
            (0..channel.times.len()).any(|key| {
                let v = channel.key(key);
                v[..3].iter().any(|x| f64::from(x.abs()) > STILL)
            })
        })
}
