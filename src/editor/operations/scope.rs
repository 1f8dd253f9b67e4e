//! The scope of an operation, and the operation run on everything in it.

use crate::document::subject::{PointScope, SubjectScope};
use crate::document::{Document, MeshId};
use crate::task::Task;
use crate::weights::operation::{Operation, OperationError, Outcome};

/// The scope of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The points.
    pub points: ScopePoints,
    /// The bones.
    pub bones: ScopeBones,
    /// The objects.
    pub objects: ScopeObjects,
}

/// The points in the scope of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScopePoints {
    /// All points.
    #[default]
    All,
    /// The points selected when it began.
    Selected,
}

/// The bones in the scope of an operation, except locked ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScopeBones {
    /// All unlocked bones.
    #[default]
    Unlocked,
    /// The bones selected when it began.
    Selected,
    /// The active bone: it changes, the other unlocked ones are scaled to keep the sum.
    Active,
}

/// The objects in the scope of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScopeObjects {
    /// The active object; with selected points, the objects that have some.
    #[default]
    Active,
    /// All skinned objects.
    All,
}

/// The outcome for each mesh in a scope.
pub(super) type Outcomes = Result<Vec<(MeshId, Outcome)>, OperationError>;

/// The result of an operation for each mesh in its scope.
pub(super) fn run(
    document: &Document,
    operation: &Operation,
    scope: Scope,
    task: &Task,
) -> Outcomes {
    let meshes = meshes_of(document, scope);
    if meshes.is_empty() {
        return Err(OperationError::Refused(
            "No skinned object is in scope. Make one active, or select its vertices.".into(),
        ));
    }
    let session = document.session();
    let mut outcomes = Vec::new();
    let mut refused = None;
    for mesh in &meshes {
        let points = match scope.points {
            ScopePoints::All => PointScope::All,
            ScopePoints::Selected => match session.selected_points.get(mesh) {
                Some(points) => PointScope::These(points.clone()),
                None => continue,
            },
        };
        let bones = match scope.bones {
            ScopeBones::Unlocked => None,
            ScopeBones::Selected => Some(session.selected_joints.clone()),
            ScopeBones::Active => Some(session.active_joint.into_iter().collect()),
        };
        let scope = SubjectScope { points, bones };
        let outcome = document
            .subject(*mesh, scope)
            .map_err(OperationError::Refused)
            .and_then(|subject| operation.run(&subject.view(), task));
        match outcome {
            Ok(outcome) => outcomes.push((*mesh, outcome)),
            // One of several objects may lack the bone.
            Err(OperationError::Refused(why)) if meshes.len() > 1 => refused = Some(why),
            Err(error) => return Err(error),
        }
    }
    match (outcomes.is_empty(), refused) {
        (true, Some(why)) => Err(OperationError::Refused(why)),
        (true, None) => Err(OperationError::Refused(
            "No vertex of a skinned object is selected.".into(),
        )),
        _ => Ok(outcomes),
    }
}

/// The skinned meshes in a scope.
fn meshes_of(document: &Document, scope: Scope) -> Vec<MeshId> {
    let session = document.session();
    let is_skinned = |mesh: &MeshId| document.n_skin_joints(*mesh).is_some();
    let skinned = document.meshes().keys().copied().filter(is_skinned);
    match (scope.objects, scope.points) {
        (ScopeObjects::All, _) => skinned.collect(),
        (ScopeObjects::Active, ScopePoints::Selected) => skinned
            .filter(|mesh| session.selected_points.contains_key(mesh))
            .collect(),
        // Never changes an object other than the active one.
        (ScopeObjects::Active, ScopePoints::All) => match session.active_mesh {
            Some(active) => Some(active).filter(is_skinned).into_iter().collect(),
            None => skinned.take(1).collect(),
        },
    }
}
