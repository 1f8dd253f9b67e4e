//! Layers of control clusters that a change of the rig lets read other values.

use crate::cluster::DriverLayer;
use crate::cluster::procedural::DriverInput;
use crate::deform::PoseInputs;
use crate::document::Document;
use crate::skeleton::{JointId, Moment, Pose};

/// The most names in a note.
const MAX_NAMES: usize = 3;
/// An angle that does not count, radians.
const NOTHING: f64 = 1e-6;

/// What measures from the rest pose, where `pose` becomes that: muscles, drivers, and groups that stay at rest.
pub(super) fn of_new_rest(document: &Document, pose: &Pose) -> Option<String> {
    let skeleton = document.skeleton();
    let rest_world = document.rest_pose().world_matrices(skeleton);
    let world = pose.world_matrices(skeleton);
    let inputs = PoseInputs {
        skeleton,
        rest_world: &rest_world,
        locals: &pose.locals,
        world: &world,
        positions: &[],
        moment: Moment::default(),
    };
    let mut names = Vec::new();
    for item in document.meshes().values() {
        for (_, muscle) in item.clusters.muscles() {
            let bend = muscle.flexion(skeleton, &rest_world).bend(&world);
            if bend.abs() > NOTHING {
                names.push(format!("the muscle “{}”", muscle.name));
            }
        }
        for (_, driver) in item.clusters.drivers() {
            let value = turned_joint(driver).and_then(|_| driver.settings.input.value(&inputs));
            if value.is_some_and(|value| value.abs() > NOTHING) {
                names.push(format!("the driver “{}”", driver.name));
            }
        }
        let at_rest = item.clusters.groups().iter();
        let at_rest = at_rest.filter(|group| group.base.is_at_rest());
        names.extend(at_rest.map(|group| format!("the group “{}”", group.name)));
    }
    note(
        &names,
        "These are measured from the rest pose, so the clusters now move differently",
    )
}

/// The drivers that read the rotation of `joint` in its parent, which becomes another.
pub(super) fn of_new_parent(document: &Document, joint: JointId) -> Option<String> {
    let items = document.meshes().values();
    let drivers = items.flat_map(|item| item.clusters.drivers());
    let drivers = drivers.filter(|(_, driver)| turned_joint(driver) == Some(joint));
    let names: Vec<String> = drivers
        .map(|(_, driver)| format!("the driver “{}”", driver.name))
        .collect();
    note(
        &names,
        "These read the rotation relative to the parent, which may differ now",
    )
}

/// The joint whose rotation from rest a driver reads.
fn turned_joint(driver: &DriverLayer) -> Option<JointId> {
    match driver.settings.input {
        DriverInput::JointAngle { joint, .. }
        | DriverInput::Twist { joint }
        | DriverInput::Swing { joint } => Some(JointId(joint)),
        _ => None,
    }
}

fn note(names: &[String], what: &str) -> Option<String> {
    let shown = names.get(..MAX_NAMES.min(names.len()))?.join(", ");
    let more = match names.len().saturating_sub(MAX_NAMES) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    (!names.is_empty()).then(|| format!("{what}: {shown}{more}."))
}
