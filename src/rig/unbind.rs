//! Taking meshes from their skins, and binding them again with the weights that they had.

use super::done::Done;
use crate::document::rig::{self, RigError};
use crate::document::{Document, MeshId};

/// Unbinds every mesh that has a skin. Those that cannot be are left bound, with a note; fails where none can.
pub(super) fn unbind(document: &Document) -> Result<Done, RigError> {
    let found = rig::unbind(document)?;
    let mut done = Done::of(found.edit);
    done.notes.push(match &found.meshes[..] {
        [mesh] => format!(
            "“{}” follows no bone now; its weights are kept.",
            name(document, *mesh)
        ),
        meshes => format!(
            "{} meshes follow no bone now; their weights are kept.",
            meshes.len()
        ),
    });
    let refusals = found.refusals.iter().map(ToString::to_string);
    done.notes.extend(refusals);
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
