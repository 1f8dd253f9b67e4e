//! Binding skinned meshes to their joints at rest, with new weights.

use super::done::Done;
use crate::document::rig::{RigEdit, RigError};
use crate::document::subject::SubjectScope;
use crate::document::{Document, MeshId, Skin};
use crate::skinning::RowRef;
use crate::task::Task;
use crate::weights::automatic::Automatic;
use crate::weights::operation::Operation;
use glam::{DAffine3, DVec3};

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
    let spread = spread(document, mesh, skin);
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

/// How far apart the weighted joints of a skin place a mesh at rest: the largest distance of a corner of its bounds, as a
/// fraction of their diagonal.
fn spread(document: &Document, mesh: MeshId, skin: &Skin) -> f64 {
    let item = &document.meshes()[&mesh];
    let mut is_weighted = vec![false; skin.joints.len()];
    for (slot, weight) in item.influences.iter().flat_map(RowRef::iter) {
        if weight > 0.0
            && let Some(entry) = is_weighted.get_mut(usize::from(slot))
        {
            *entry = true;
        }
    }
    let world = document.rest_pose().world_matrices(document.skeleton());
    let slots = skin.joints.iter().zip(&skin.inverse_bind).zip(is_weighted);
    let matrices: Vec<DAffine3> = slots
        .filter(|(_, weighted)| *weighted)
        .map(|((joint, inverse_bind), _)| world[joint.get()] * *inverse_bind)
        .collect();
    let places = item.geometry.positions.iter().map(|p| p.as_dvec3());
    let bounds = places.filter(|p| p.is_finite()).map(|p| (p, p));
    let bounds = bounds.reduce(|(low, high), (p, _)| (low.min(p), high.max(p)));
    let (Some((low, high)), Some(first)) = (bounds, matrices.first()) else {
        return 0.0;
    };
    let corner = |i: u32| {
        let pick = |axis: usize| {
            if i >> axis & 1 == 0 {
                low[axis]
            } else {
                high[axis]
            }
        };
        DVec3::new(pick(0), pick(1), pick(2))
    };
    let diagonal = first.transform_vector3(high - low).length();
    let mut largest: f64 = 0.0;
    for i in 0..8 {
        let at = first.transform_point3(corner(i));
        for matrix in &matrices[1..] {
            let apart = matrix.transform_point3(corner(i)).distance(at);
            if apart.is_nan() {
                return f64::INFINITY;
            }
            largest = largest.max(apart);
        }
    }
    if diagonal > 0.0 {
        largest / diagonal
    } else {
        0.0
    }
}
