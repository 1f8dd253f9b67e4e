//! Influences, palettes and the skinning kernels.
//!
//! Invariant: kernels never allocate and never branch on the number of threads; the same input gives the same bits.

pub mod influences;

pub use influences::{Influences, RowRef, Rows};
