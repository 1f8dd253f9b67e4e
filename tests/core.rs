//! Integration tests of the core and the command line: one binary, so that they link once.

#[path = "core/shared.rs"]
mod shared;

#[path = "core/gltf_builder.rs"]
mod gltf_builder;
#[path = "core/import_models.rs"]
mod import_models;
#[path = "core/import_traps.rs"]
mod import_traps;
#[path = "core/malformed.rs"]
mod malformed;
