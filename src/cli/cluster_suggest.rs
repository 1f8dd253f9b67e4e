//! `sinew clusters --suggest`: clusters for every mesh with a skin.

use super::Failure;
use super::centres::with_progress;
use crate::document::{ClustersEdit, Document, Edit, MeshId};
use crate::suggest::{ClusterGoal, ClusterRound, Training, suggest_clusters};
use std::sync::Arc;

/// Adds clusters to each mesh with a skin, until the goal is reached. Returns the rounds of each.
pub(super) fn apply(
    document: &mut Document,
    goal: ClusterGoal,
) -> Result<Vec<(MeshId, Vec<ClusterRound>)>, Failure> {
    let training = Training::new(document);
    let meshes = document.meshes().keys().copied();
    let skinned: Vec<MeshId> = meshes
        .filter(|&mesh| document.skin_of_mesh(mesh).is_some())
        .collect();
    if skinned.is_empty() {
        return Err(Failure::Input(
            "No mesh of the model has a skin: there is no deformation to approximate.".into(),
        ));
    }
    let mut rounds = Vec::new();
    for mesh in skinned {
        let name = document.meshes()[&mesh].geometry.name.clone();
        let found = with_progress("choosing clusters", &name, |task| {
            suggest_clusters(document, mesh, goal, &training, task)
        });
        let found = found.map_err(Failure::input)?;
        let edit = ClustersEdit::new(document, mesh, Arc::new(found.map));
        document
            .apply(&mut Edit::Clusters(edit))
            .map_err(Failure::input)?;
        rounds.push((mesh, found.rounds));
    }
    Ok(rounds)
}
