//! Files: glTF in and out.

pub mod gltf_build;
