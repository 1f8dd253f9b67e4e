//! Integration tests of the core and the command line: one binary, so that they link once.

#[path = "core/project.rs"]
mod project;
#[path = "core/shared.rs"]
mod shared;
