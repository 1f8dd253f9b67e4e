//! Control clusters: marked points, and a surface that interpolates them.
//!
//! Invariant: nothing here knows a skin or a document.

pub mod map;
pub mod preset;

pub use map::{Base, ClusterGroup, ClusterMap, Glyph, MapError, PatchSettings, PatchSurface};
pub use preset::GroupPreset;
