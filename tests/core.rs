//! Integration tests of the core and the command line: one binary, so that they link once.

#[path = "core/shared.rs"]
mod shared;

#[path = "core/export.rs"]
mod export;
#[path = "core/export_models.rs"]
mod export_models;
#[path = "core/import_models.rs"]
mod import_models;
#[path = "core/malformed.rs"]
mod malformed;
