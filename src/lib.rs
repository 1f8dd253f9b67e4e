//! Sinew: an editor in which artists make rigged characters bend well.

pub mod deform;
pub mod document;
pub mod finding;
pub mod io;
pub mod math;
pub mod mesh;
pub mod sample;
pub mod skeleton;
pub mod skinning;
pub mod task;
