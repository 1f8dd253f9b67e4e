//! Taking meshes from their skins, and binding them again with the weights that they had.

use super::done::Done;
use crate::document::rig::{self, RigError};
use crate::document::{Document, MeshId};

/// Unbinds every mesh that has a skin. Those that cannot be are left bound, with a note; fails where none can.
pub(super) fn unbind(document: &Document) -> Result<Done, RigError> {
    let meshes = document.meshes().keys().copied();
    let bound = meshes.filter(|&mesh| document.skin_of_mesh(mesh).is_some());
    let (mut notes, mut able) = (Vec::new(), Vec::new());
    for mesh in bound {
        match rig::unbind(document, &[mesh]) {
            Ok(_) => able.push(mesh),
            Err(why) => notes.push(why.to_string()),
        }
    }
    if able.is_empty() {
        return Err(match notes.into_iter().next() {
            Some(why) => RigError::Value(why),
            None => RigError::Value("No mesh is bound.".into()),
        });
    }
    let mut done = Done::of(rig::unbind(document, &able)?);
    done.notes.push(match &able[..] {
        [mesh] => format!(
            "“{}” follows no bone now; its weights are kept.",
            name(document, *mesh)
        ),
        _ => format!(
            "{} meshes follow no bone now; their weights are kept.",
            able.len()
        ),
    });
    done.notes.extend(notes);
    Ok(done)
}

/// Binds unbound meshes again.
pub(super) fn bind_kept(document: &Document) -> Result<Done, RigError> {
    let (edit, meshes) = rig::bind_kept(document)?;
    let mut done = Done::of(edit);
    done.notes.push(match &meshes[..] {
        [mesh] => format!(
            "“{}” has the weights again that it had.",
            name(document, *mesh)
        ),
        _ => format!(
            "{} meshes have the weights again that they had.",
            meshes.len()
        ),
    });
    Ok(done)
}

fn name(document: &Document, mesh: MeshId) -> &str {
    let item = document.meshes().get(&mesh);
    item.map_or("", |item| &item.geometry.name)
}
