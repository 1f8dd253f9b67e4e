//! PLY files (Turk 1994, "The PLY polygon file format"): the points and faces of a scan.
//!
//! Text, and binary of either byte order. The elements `vertex` (with x, y, z, perhaps nx, ny, nz) and `face` (with a list
//! `vertex_indices` or `vertex_index`) are read; others are skipped.
//!
//! Invariant: a count of the header reserves no memory that the bytes of the file do not fill.

mod fault;
mod header;
mod rows;
mod shape;

pub use fault::PlyFault;
pub(super) use shape::{PlyPoints, read_ply};
