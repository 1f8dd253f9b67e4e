//! Integration tests of the core and the command line: one binary, so that they link once.

#[path = "core/shared.rs"]
mod shared;

#[path = "core/import_models.rs"]
mod import_models;
#[path = "core/malformed.rs"]
mod malformed;
