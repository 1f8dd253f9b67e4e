//! Muscles and drivers that cannot act where they lie: without their bones, or without a side.

use crate::cluster::procedural::{BindPoint, Bone, Muscle, Sink};
use crate::cluster::{DriverLayer, MuscleLayer};
use crate::document::{Document, MeshId};
use crate::skeleton::JointId;
use glam::DVec3;

/// Why a muscle does not act. `points`: the clusters of its group at bind.
pub(super) fn of_muscle(
    document: &Document,
    mesh: MeshId,
    muscle: &MuscleLayer,
    points: &[BindPoint],
) -> Option<String> {
    let bone = match bone(document, mesh, [muscle.upper, muscle.lower]) {
        Ok(bone) => bone,
        Err(why) => return Some(why),
    };
    let made = Muscle::new(&muscle.settings, bone, points);
    made.err().map(|why| format!("It does not act: {why}."))
}

/// Why a driver does not act on its bone.
pub(super) fn of_driver(document: &Document, mesh: MeshId, driver: &DriverLayer) -> Option<String> {
    let joints = driver.bone?;
    let skeleton = document.skeleton();
    if joints.iter().any(|&joint| !skeleton.is_live(joint)) {
        // Reported with the other bones that it reads.
        return None;
    }
    let sink = &driver.settings.sink;
    match bone(document, mesh, joints) {
        Ok(bone) => {
            let made = Sink::new(sink, Some(bone), &[]);
            made.err().map(|why| format!("It does not act: {why}."))
        }
        Err(why) => sink.needs_bone().then_some(why),
    }
}

/// The bone between two joints of the skin at bind, mesh space; else why there is none.
fn bone(document: &Document, mesh: MeshId, joints: [JointId; 2]) -> Result<Bone, String> {
    let Some((_, skin)) = document.skin_of_mesh(mesh) else {
        return Err("It does not act: the object has no skin, and so no bones.".into());
    };
    let mut bone = [DVec3::ZERO; 2];
    for (place, joint) in bone.iter_mut().zip(joints) {
        let slot = skin.joints.iter().position(|&other| other == joint);
        let inverse = slot.and_then(|slot| skin.inverse_bind.get(slot));
        let at = inverse.map(|inverse| inverse.inverse().translation);
        *place = at.filter(|at| at.is_finite()).ok_or_else(|| {
            format!(
                "It does not act: its bone \"{}\" is not in the skin of the object.",
                document.skeleton().label(joint)
            )
        })?;
    }
    Ok(bone)
}
