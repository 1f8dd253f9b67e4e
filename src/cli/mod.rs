//! The commands of the command line.
//!
//! Invariant: every command writes to the `Write` it is given and returns errors; only `main` prints and exits.

pub mod bench;
