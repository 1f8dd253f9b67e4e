//! Files in and out.

pub mod atomic;
pub mod gltf_export;
