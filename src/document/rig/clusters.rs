//! Muscles and drivers of control clusters follow their joints.

use super::RigError;
use crate::cluster::DriverLayer;
use crate::cluster::procedural::DriverInput;
use crate::document::Document;
use crate::skeleton::{Frame, JointId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Gives drivers by the angle about an axis the new axes of their joints: they read the same angles.
pub(super) fn turn_drivers(document: &mut Document, frames: &BTreeMap<JointId, Frame>) {
    let turn = |driver: &mut DriverLayer| {
        let DriverInput::JointAngle { joint, axis } = &mut driver.settings.input else {
            return;
        };
        if let Some(frame) = frames.get(&JointId(*joint)).filter(|f| f.rotates()) {
            *axis = frame.rotation.conjugate() * *axis;
        }
    };
    for item in document.meshes.values_mut() {
        let turned = item.clusters.with_drivers(turn);
        if turned != *item.clusters {
            Arc::make_mut(item).clusters = Arc::new(turned);
        }
    }
}

/// Refuses to remove a joint that a muscle lies on or bends with.
pub(super) fn check_muscles(document: &Document, joint: JointId) -> Result<(), RigError> {
    for item in document.meshes.values() {
        let mut muscles = item.clusters.muscles();
        let found = muscles.find(|(_, m)| m.upper == joint || m.lower == joint);
        if let Some((_, muscle)) = found {
            return Err(RigError::HoldsMuscle {
                joint: document.skeleton.label(joint),
                muscle: muscle.name.clone(),
            });
        }
    }
    Ok(())
}
