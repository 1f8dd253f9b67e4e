//! The deformer stack: what the artist composes, and what runs.

pub mod stack;

pub use stack::{DeformStack, ScaleMode, SkinningMethod};
