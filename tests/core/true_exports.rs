//! What an export says of odd sources is what players show: corrections that are not better, files cut short, repairs, rest
//! poses without size, models far away, meshes of joints and primitives without vertices.

use crate::bake_sources::{bend, tube};
use crate::cli;

use crate::gltf_builder::Gltf;

use sinew::export::export;

fn bent() -> Gltf {
    let mut gltf = tube(2);
    bend(&mut gltf, "Bend", "LINEAR");
    gltf
}

#[test]
fn a_file_that_is_cut_short_is_not_exported() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (from, to) = (path("cut.glb"), path("out.glb"));
    let bytes = bent().glb();
    std::fs::write(&from, &bytes[..bytes.len() - 60]).unwrap();
    for correct in ["none", "clips"] {
        let said = cli::fails(&["export", &from, "--correct", correct, "--out", &to], 1);
        assert!(said.contains("cut short"), "{said}");
        assert!(!std::path::Path::new(&to).exists());
    }
    std::fs::write(&from, &bytes).unwrap();
    cli::done(&["export", &from, "--correct", "none", "--out", &to]);
}
