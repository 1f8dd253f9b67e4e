//! What goes in and out: model files and projects.
//!
//! The way of the data: the bytes of a .gltf or .glb file (and its folder) -> [`gltf::import_file`] -> `Parts` for a
//! document, and findings for the Problems panel. What the artist made of it goes to and comes from a [`project`].
//!
//! Invariant: no file, however broken, makes the program panic, hang or take more than 64 MiB + 20 x its size.
//! Invariant: a source keeps the bytes of its file verbatim.

pub mod gltf;
pub mod project;

pub use gltf::{Fault, ImportError, Imported, import_bytes, import_file};
