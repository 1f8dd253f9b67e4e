//! Meshes of a project that are copies of meshes of the model, found by number and name.

use super::v11::Named;
use crate::document::MeshId;
use std::collections::BTreeMap;

/// The copies of a project, by their numbers and names there; `None` for skipped ones.
#[derive(Default)]
pub(super) struct Copies(pub(super) BTreeMap<Named, Option<MeshId>>);

impl Copies {
    /// The copy of a number and name in the project, if they are those of a copy.
    pub(super) fn find(&self, number: u32, name: &str) -> Found {
        match self.0.get(&Named(number, name.to_owned())) {
            Some(Some(id)) => Found::Copy(*id),
            Some(None) => Found::Skipped,
            None => Found::NoCopy,
        }
    }
}

/// What a number and a name of a project are among its copies.
pub(super) enum Found {
    /// This one.
    Copy(MeshId),
    /// One that is skipped.
    Skipped,
    /// A mesh of the model.
    NoCopy,
}
