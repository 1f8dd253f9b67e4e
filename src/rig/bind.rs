//! Binding meshes to joints at rest, with new weights.

use super::done::Done;
use crate::document::rig::{
    self, RigEdit, RigError, complete_weights, joints_to_bind, meshes_without_skin, with_skin,
};
use crate::document::subject::SubjectScope;
use crate::document::{Document, MeshId};
use crate::skeleton::JointId;
use crate::task::Task;
use crate::weights::automatic::Automatic;
use crate::weights::operation::Operation;

/// The largest distance between the places that two joints give to the mesh at rest, as a fraction of the mesh's diagonal.
const LARGEST_SPREAD: f64 = 1e-3;

/// Binds every mesh. One that has a skin keeps it: its joints' skin matrices at rest must agree, so that any weights leave it
/// where it is. One without gets a skin of the document's joints. Then the weights are computed anew.
pub(super) fn run(document: &Document, method: Automatic, task: &Task) -> Result<Done, RigError> {
    let meshes = document.meshes().keys().copied();
    let skinned = meshes.filter(|&mesh| document.skin_of_mesh(mesh).is_some());
    let skinned: Vec<MeshId> = skinned.collect();
    let rigid = meshes_without_skin(document);
    if skinned.is_empty() && rigid.is_empty() {
        return Err(RigError::Value("The model has no mesh to bind.".into()));
    }
    let joints = joints_to_bind(document);
    if joints.is_empty() {
        return Err(RigError::Value(
            "The model has no bones. Add a skeleton first, for example from a template, then bind."
                .into(),
        ));
    }
    let mut changed = document.clone();
    let (mut notes, mut n_bound) = (Vec::new(), 0);
    for mesh in skinned {
        let with = check_spread(document, mesh)
            .and_then(|()| weighted(&changed, mesh, method, &mut notes, task));
        // Bones that had no weight may place the mesh elsewhere.
        match with.and_then(|with| check_spread(&with, mesh).map(|()| with)) {
            Ok(with) => {
                n_bound += 1;
                changed = with;
            }
            Err(why) => notes.push(why.to_string()),
        }
    }
    for mesh in rigid {
        let bound = with_skin(&changed, mesh, &joints)
            .and_then(|bound| weighted(&bound, mesh, method, &mut notes, task));
        match bound {
            Ok(mut bound) => {
                n_bound += 1;
                complete_weights(&mut bound, mesh);
                notes.extend(motion_note(document, mesh, &joints));
                changed = bound;
            }
            Err(why) => notes.push(why.to_string()),
        }
    }
    if n_bound == 0 {
        return Err(RigError::Value(
            crate::sentence::shortened(&notes.join(" ")).into_owned(),
        ));
    }
    Ok(Done {
        edit: RigEdit::between(document, &changed),
        made: Vec::new(),
        notes,
    })
}

/// The document with new weights of a mesh that has a skin.
fn weighted(
    document: &Document,
    mesh: MeshId,
    method: Automatic,
    notes: &mut Vec<String>,
    task: &Task,
) -> Result<Document, RigError> {
    let outcome = document
        .subject(mesh, SubjectScope::default())
        .and_then(|subject| {
            Operation::Automatic(method)
                .run(&subject.view(), task)
                .map_err(|error| error.to_string())
        });
    let outcome = outcome.map_err(|why| {
        let name = &document.meshes()[&mesh].geometry.name;
        RigError::Value(format!("“{name}” is not bound: {why}"))
    })?;
    notes.extend(outcome.report.notes);
    let mut changed = document.clone();
    if !outcome.points.is_empty() {
        let mut edit = changed.paint_edit(mesh, outcome.points, outcome.rows);
        changed.apply(&mut edit)?;
    }
    Ok(changed)
}

/// The note that keyframes of the node no longer move a mesh. Those of nodes above all `bones` still do.
fn motion_note(document: &Document, mesh: MeshId, bones: &[JointId]) -> Option<String> {
    let skeleton = document.skeleton();
    let mut instances = document.instances().values();
    let at = instances.find(|instance| instance.mesh == mesh)?.joint;
    let is_above = |node: JointId, bone: &JointId| skeleton.ancestors(*bone).any(|a| a == node);
    let chain = std::iter::once(at).chain(skeleton.ancestors(at));
    let chain: Vec<JointId> = chain
        .filter(|&node| !bones.iter().all(|bone| is_above(node, bone)))
        .collect();
    let mut channels = document.clips().values().flat_map(|clip| &clip.channels);
    let is_moved = |joint: JointId| chain.contains(&joint);
    channels
        .any(|c| c.property.moves_joint() && is_moved(c.joint))
        .then(|| {
            format!(
                "“{}” follows its bones now: keyframes of its node no longer move it.",
                document.meshes()[&mesh].geometry.name
            )
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
