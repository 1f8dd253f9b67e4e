//! Integration tests of the core and the command line: one binary, so that they link once.

#[path = "reference/mod.rs"]
mod reference;
#[path = "core/seed_004.rs"]
mod seed_004;
#[path = "core/seed_papers.rs"]
mod seed_papers;
#[path = "core/shared.rs"]
mod shared;
#[path = "core/skinning.rs"]
mod skinning;
#[path = "core/skins.rs"]
mod skins;
