//! Sources with numbers at the limits of what a file can hold: exports neither panic nor hang, and report what they
//! cannot correct.

use crate::bake_sources::{bend, channel, document, tube};
use crate::gltf_builder::Gltf;
use sinew::bake::{BakeMode, BakeOptions, estimate};
use sinew::document::Document;
use sinew::export::{ExportOptions, export};
use sinew::task::Task;

const MODES: [BakeMode; 3] = [BakeMode::Clips, BakeMode::Retarget, BakeMode::Frames];

/// Exports in every mode; a result within the tolerance has a measured error.
fn exports(document: &Document, what: &str) {
    for mode in MODES {
        let correct = BakeOptions {
            mode,
            max_joints: 12,
            ..BakeOptions::default()
        };
        if mode != BakeMode::Frames {
            estimate(document, document.clips(), &correct, &Task::new()).unwrap();
        }
        let options = ExportOptions {
            correct: Some(correct),
            ..ExportOptions::default()
        };
        match export(document, &options, &Task::new()) {
            Ok(exported) => {
                let report = exported.correction.unwrap();
                let met = report.max_percent <= report.tolerance_percent;
                assert!(met || !report.met, "{what}, {mode:?}: {report:?}");
            }
            Err(error) => assert!(error.to_string().len() < 300, "{what}, {mode:?}: {error}"),
        }
    }
}

/// A tube over two joints that bends.
fn bent() -> Gltf {
    let mut gltf = tube(2);
    bend(&mut gltf, "Bend", "LINEAR");
    gltf
}

#[test]
fn one_huge_value_of_an_inverse_bind_matrix() {
    for value in [-3.4e38, 3.4e38, 1e30, 1e-38] {
        for at in [0, 4, 13, 16 + 5, 16 + 12] {
            let mut gltf = bent();
            let accessor = gltf.json["skins"][0]["inverseBindMatrices"].as_u64();
            gltf.change_f32s(accessor.unwrap() as usize, |all| all[at] = value);
            exports(&document(gltf), &format!("{value:e} at {at}"));
        }
    }
}

#[test]
fn inverse_bind_matrices_without_volume() {
    let mut gltf = bent();
    let accessor = gltf.json["skins"][0]["inverseBindMatrices"].as_u64();
    gltf.change_f32s(accessor.unwrap() as usize, |all| all[16..27].fill(0.0));
    exports(&document(gltf), "flat");
}

#[test]
fn joints_of_huge_and_no_scale() {
    for scale in [0.0, 1e-38, 1e30, 3.4e38] {
        let mut gltf = bent();
        let clip = gltf.json["animations"].as_array().unwrap().len() - 1;
        let values = [[1.0; 3], [scale; 3]].concat();
        channel(&mut gltf, clip, 2, "scale", "LINEAR", &[0.0, 1.0], &values);
        exports(&document(gltf), &format!("scale {scale:e}"));
    }
}

#[test]
fn keyframes_at_the_end_of_time() {
    for end in [1e13, 3.4e38] {
        let mut gltf = tube(2);
        let clip = crate::bake_sources::clip(&mut gltf, "Long");
        let times = [0.0, end];
        // Past 180 degrees, where dual quaternions jump.
        let turns = [160.0, 200.0];
        crate::bake_sources::turn(&mut gltf, clip, 2, "LINEAR", &times, &turns);
        exports(&document(gltf), &format!("{end:e} s"));
    }
}
