//! Files: glTF in and out.

pub mod gltf_build;
//! What goes in and out: model files.
//!
//! The way of the data: the bytes of a .gltf or .glb file (and its folder) -> [`gltf::import_file`] -> `Parts` for a
//! document, and findings for the Problems panel.
//!
//! Invariant: no file, however broken, makes the program panic, hang or take more than 64 MiB + 20 x its size.
//! Invariant: a source keeps the bytes of its file verbatim.

pub mod gltf;

pub use gltf::{Fault, ImportError, Imported, import_bytes, import_file};
//! Files in and out.

pub mod project;
//! Files in and out.

pub mod atomic;
pub mod gltf_export;
