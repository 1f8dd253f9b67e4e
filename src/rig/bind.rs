//! Binding skinned meshes to their joints at rest, with new weights.

use super::done::Done;
use crate::document::rig::{self, RigEdit, RigError};
use crate::document::subject::SubjectScope;
use crate::document::{Document, MeshId};
use crate::task::Task;
use crate::weights::automatic::Automatic;
use crate::weights::operation::Operation;

/// The largest distance between the places that two joints give to the mesh at rest, as a fraction of the mesh's diagonal.
const LARGEST_SPREAD: f64 = 1e-3;

/// Binds every mesh that has a skin: its joints' skin matrices at rest must agree, so that any weights leave it where it is;
/// then its weights are computed anew.
pub(super) fn run(document: &Document, method: Automatic, task: &Task) -> Result<Done, RigError> {
    let meshes: Vec<MeshId> = document.meshes().keys().copied().collect();
    let skinned = meshes
        .into_iter()
        .filter(|&mesh| document.skin_of_mesh(mesh).is_some());
    let skinned: Vec<MeshId> = skinned.collect();
    if skinned.is_empty() {
        return Err(RigError::Value(
            "No mesh has a skin, so there are no bones to bind it to.".into(),
        ));
    }
    let mut changed = document.clone();
    let (mut notes, mut n_bound) = (Vec::new(), 0);
    for mesh in skinned {
        let name = document.meshes()[&mesh].geometry.name.clone();
        check_spread(document, mesh)?;
        let outcome = changed
            .subject(mesh, SubjectScope::default())
            .and_then(|subject| {
                Operation::Automatic(method)
                    .run(&subject.view(), task)
                    .map_err(|error| error.to_string())
            });
        match outcome {
            Ok(outcome) => {
                n_bound += 1;
                notes.extend(outcome.report.notes);
                if !outcome.points.is_empty() {
                    let mut edit = changed.paint_edit(mesh, outcome.points, outcome.rows);
                    changed.apply(&mut edit)?;
                    // Bones that had no weight may place the mesh elsewhere.
                    check_spread(&changed, mesh)?;
                }
            }
            Err(why) => notes.push(format!("“{name}” is not bound: {why}")),
        }
    }
    if n_bound == 0 {
        return Err(RigError::Value(notes.join(" ")));
    }
    Ok(Done {
        edit: RigEdit::between(document, &changed),
        made: Vec::new(),
        notes,
    })
}

/// Refuses a mesh that its weighted joints place differently at rest: new weights would bend it.
fn check_spread(document: &Document, mesh: MeshId) -> Result<(), RigError> {
    let Some((id, skin)) = document.skin_of_mesh(mesh) else {
        return Ok(());
    };
    let spread = rig::spread_at_rest(document, mesh);
    if spread <= LARGEST_SPREAD {
        return Ok(());
    }
    let name = if skin.name.is_empty() {
        format!("{}", id.0)
    } else {
        skin.name.clone()
    };
    Err(RigError::Spread {
        skin: name,
        percent: 100.0 * spread,
    })
}
