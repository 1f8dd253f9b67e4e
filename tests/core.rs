//! Integration tests of the core and the command line: one binary, so that they link once.

#[path = "core/samples.rs"]
mod samples;
#[path = "core/shared.rs"]
mod shared;
