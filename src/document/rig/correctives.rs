//! Corrective samples follow their driver joints.

use super::RigError;
use crate::deform::correctives::{Correctives, SampleSet};
use crate::document::Document;
use crate::psd::PsdError;
use crate::skeleton::{Frame, JointId};
use glam::DQuat;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Gives drivers and samples the new axes of their joints: weights stay the same.
pub(super) fn follow_frames(
    document: &mut Document,
    frames: &BTreeMap<JointId, Frame>,
) -> Result<(), PsdError> {
    let rotates = |joint: JointId| frames.get(&joint).is_some_and(|frame| frame.rotates());
    for item in document.meshes.values_mut() {
        let is_driven = item
            .correctives
            .drivers()
            .any(|(_, driver)| rotates(driver.joint) || driver.relative_to.is_some_and(rotates));
        if is_driven {
            let axes = |joint: JointId| frames.get(&joint).map_or(DQuat::IDENTITY, |f| f.rotation);
            Arc::make_mut(item).correctives = Arc::new(item.correctives.reframed(axes)?);
        }
    }
    Ok(())
}

/// Drivers of a joint that keeps its keyframes under another parent become relative to that parent.
pub(super) fn follow_parent(
    document: &mut Document,
    joint: JointId,
    before: Option<JointId>,
    after: Option<JointId>,
) -> Result<(), PsdError> {
    for item in document.meshes.values_mut() {
        let is_own = |joint_of, relative_to| joint_of == joint && relative_to == before;
        let mut is_driven = false;
        for (_, driver) in item.correctives.drivers() {
            is_driven |= is_own(driver.joint, driver.relative_to);
        }
        if is_driven {
            let sets = item.correctives.sets().iter().map(|set| {
                let mut set = SampleSet::clone(set);
                for driver in &mut set.drivers {
                    if is_own(driver.joint, driver.relative_to) {
                        driver.relative_to = after;
                    }
                }
                Arc::new(set)
            });
            let moved = Correctives::new(sets.collect())?;
            Arc::make_mut(item).correctives = Arc::new(moved);
        }
    }
    Ok(())
}

/// Refuses to remove a joint that drives samples.
pub(super) fn check_samples(document: &Document, joint: JointId) -> Result<(), RigError> {
    for item in document.meshes.values() {
        let mut drivers = item.correctives.drivers();
        let driven = drivers.find(|(_, d)| d.joint == joint || d.relative_to == Some(joint));
        if let Some((set, driver)) = driven {
            return Err(RigError::DrivesSamples {
                joint: document.skeleton.label(joint),
                set: set.name.clone(),
                driver: document.skeleton.label(driver.joint),
            });
        }
    }
    Ok(())
}
