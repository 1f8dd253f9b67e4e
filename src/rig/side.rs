//! Symmetrizing bones, and the weights of the new ones.

use super::done::Done;
use crate::document::rig::{self, RigEdit, RigError, Symmetrized};
use crate::document::subject::{PointScope, SubjectScope};
use crate::document::{Document, Edit, MeshId};
use crate::finding::counted;
use crate::math::Axis;
use crate::mesh::PointSet;
use crate::skeleton::JointId;
use crate::skeleton::mirror::Mirror;
use crate::task::Task;
use crate::weights::automatic::some;
use crate::weights::operation::{Mirroring, Operation};
use std::sync::Arc;

pub(super) fn run(document: &Document, joint: JointId, task: &Task) -> Result<Done, RigError> {
    let (edit, found) = rig::symmetrize(document, joint)?;
    let mut notes = notes(document, &found);
    let made: Vec<JointId> = found.created.iter().map(|(new, _)| *new).collect();
    if made.is_empty() {
        return Ok(Done { edit, made, notes });
    }
    let mut changed = document.clone();
    let step = edit.clone();
    changed.apply(&mut Edit::Rig(Box::new(edit)))?;
    mirror_weights(&mut changed, &found, &mut notes, task)?;
    Ok(Done {
        edit: RigEdit::of_steps(document, &changed, &[step]),
        made,
        notes,
    })
}

/// Gives the new joints the weights of those that they mirror.
fn mirror_weights(
    changed: &mut Document,
    found: &Symmetrized,
    notes: &mut Vec<String>,
    task: &Task,
) -> Result<(), RigError> {
    let mirror = Mirror::new(changed.skeleton());
    let normal = mirror.normal();
    let world = changed.rest_pose().world_matrices(changed.skeleton());
    let meshes: Vec<MeshId> = changed.meshes().keys().copied().collect();
    for mesh in meshes {
        let Some((_, skin)) = changed.skin_of_mesh(mesh) else {
            continue;
        };
        // Whole rows: the bones that had the weight of the new ones must lose it.
        let is_source = |joint: &JointId| found.created.iter().any(|(_, source)| source == joint);
        let sources: Vec<bool> = skin.joints.iter().map(is_source).collect();
        let follows = |(slot, weight): (u16, f32)| {
            weight > 0.0 && sources.get(usize::from(slot)) == Some(&true)
        };
        let mut points = PointSet::default();
        for (p, row) in (0..).zip(changed.meshes()[&mesh].influences.iter()) {
            if row.iter().any(follows) {
                points.insert(p);
            }
        }
        let scope = SubjectScope {
            points: PointScope::These(Arc::new(points)),
            bones: None,
        };
        // The plane of the skeleton, in the space of the mesh, whose axes may be others than the world's.
        let to_world = changed.world_from_bind(mesh);
        let across = to_world.matrix3.transpose() * normal;
        let axis = Axis::ALL[across.abs().max_position()];
        // The side that most of the copied joints lie on.
        let sides = found
            .created
            .iter()
            .map(|(_, source)| world[source.get()].translation.dot(normal) - mirror.offset());
        let is_positive = sides.sum::<f64>() > 0.0;
        let operation = Operation::Mirror(Mirroring {
            axis,
            from_positive: is_positive == (across.dot(axis.unit()) > 0.0),
            ..Mirroring::default()
        });
        let outcome = changed.subject(mesh, scope).and_then(|subject| {
            operation
                .run(&subject.view(), task)
                .map_err(|error| error.to_string())
        });
        match outcome {
            Ok(outcome) if !outcome.points.is_empty() => {
                let mut edit = changed.paint_edit(mesh, outcome.points, outcome.rows);
                changed.apply(&mut edit)?;
            }
            Ok(_) => {}
            Err(why) => notes.push(why),
        }
    }
    Ok(())
}

fn notes(document: &Document, found: &Symmetrized) -> Vec<String> {
    let mut notes = Vec::new();
    let (follow, all) = found.pairs;
    let way = if found.is_behavior {
        "all axes negated, as Maya's Behavior"
    } else {
        "x negated, as Blender's"
    };
    notes.push(format!(
        "The axes are mirrored with {way}: {follow} of the model's {} follow this convention.",
        counted(all, "pair")
    ));
    let some = |joints: &[JointId]| {
        let labels = joints.iter().map(|&j| document.skeleton().label(j));
        some(labels.map(|label| format!("“{label}”")))
    };
    if !found.reparented.is_empty() {
        notes.push(format!(
            "Parent changed to match the other side: {}.",
            some(&found.reparented)
        ));
    }
    if !found.left_out.is_empty() {
        notes.push(format!(
            "Left out, because they or their parents have no side in their names: {}.",
            some(&found.left_out)
        ));
    }
    if !found.not_turned.is_empty() {
        notes.push(format!(
            "Moved but not rotated, because one side has a negative scale and the other does not: {}.",
            some(&found.not_turned)
        ));
    }
    if !found.constrained.is_empty() {
        let n = counted(found.constrained.len(), "bone");
        notes.push(format!("Constraints mirrored to {n}."));
    }
    if !found.limited.is_empty() {
        let n = counted(found.limited.len(), "bone");
        notes.push(format!("Rotation limits mirrored to {n}."));
    }
    if !found.not_constrained.is_empty() {
        notes.push(format!(
            "Constraints left out, because what they follow has no counterpart, or would follow them itself: {}.",
            some(&found.not_constrained)
        ));
    }
    if !found.created.is_empty() && !document.clips().is_empty() {
        notes.push(
            "The new bones have no keyframes, so they do not move by themselves in the clips."
                .into(),
        );
    }
    notes
}
