//! Sinew: an editor in which artists make rigged characters bend well.
//!
//! What follows is `src/ARCHITECTURE.md`.
#![doc = include_str!("ARCHITECTURE.md")]

#[cfg(feature = "gui")]
pub mod app;
pub mod bake;
pub mod cli;
pub mod cluster;
pub mod correctives;
pub mod deform;
pub mod document;
pub mod editor;
pub mod evaluate;
pub mod export;
pub mod finding;
pub mod io;
pub mod math;
pub mod mesh;
pub mod motion;
pub mod psd;
pub mod relax;
pub mod rig;
pub mod sample;
pub mod sentence;
pub mod skeleton;
pub mod skinning;
pub mod suggest;
pub mod task;
pub mod tools;
pub mod twin;
#[cfg(feature = "render")]
pub mod view;
pub mod weights;
