//! The document: everything the artist can change, and the only door to change it.
//!
//! The way of the data: an importer fills [`Parts`] -> [`Document::new`] -> edits through `History` -> clones for the
//! worker, saves and exports.
//!
//! Invariant: fields are private to this folder; only `Edit` changes a document.
//! Invariant: cloning is cheap: everything large sits behind an `Arc`.

pub mod ids;
pub mod parts;
pub mod session;
pub mod source;

pub use ids::{ClipId, InstanceId, MeshId, SkinId};
pub use parts::{Image, Instance, Material, MeshItem, Parts, Skin};
pub use session::Session;
pub use source::{Source, SourceKind};
