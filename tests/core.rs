//! Integration tests of the core and the command line: one binary, so that they link once.

#[path = "core/import_models.rs"]
mod import_models;
#[path = "core/malformed.rs"]
mod malformed;
#[path = "core/project.rs"]
mod project;
#[path = "core/project_files.rs"]
mod project_files;
#[path = "core/shared.rs"]
mod shared;
