//! Sources with numbers at the limits of what a file can hold: exports neither panic nor hang, and report what they
//! cannot correct.

use crate::bake::with_stack;
use crate::bake_sources::{add_morphs, bend, channel, document, tube};
use crate::export_models::reopen;
use crate::gltf_builder::Gltf;
use glam::Vec3;
use sinew::bake::static_shapes::{StaticPose, static_shapes};
use sinew::bake::{BakeMode, BakeOptions, estimate};
use sinew::deform::DeformStack;
use sinew::document::{ClipId, Document};
use sinew::export::{ExportOptions, export};
use sinew::io::import_bytes;
use sinew::math::Worse;
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

/// Numbers that a damaged file can hold.
const DAMAGE: [f32; 6] = [
    f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    -3.4e38,
    1e30,
    0.0,
];

/// A tube over three joints with morph targets, in which joints bend and grow.
fn rich() -> Gltf {
    let mut gltf = tube(3);
    add_morphs(&mut gltf, true);
    let clip = bend(&mut gltf, "Bend", "LINEAR");
    let times = [0.0, 0.4, 1.0];
    let sizes = [[1.0; 3], [1.0, 1.2, 1.0], [1.0; 3]].concat();
    channel(&mut gltf, clip, 3, "scale", "LINEAR", &times, &sizes);
    let places = [[0.0, 0.66, 0.0], [0.1, 0.7, 0.0], [0.0, 0.66, 0.0]].concat();
    channel(&mut gltf, clip, 3, "translation", "LINEAR", &times, &places);
    let belly = [0.0, 0.0, 0.7, 0.2, 0.0, 0.5];
    channel(&mut gltf, clip, 0, "weights", "LINEAR", &times, &belly);
    gltf
}

/// Whether the file that an export says to be within the tolerance is so at some times.
fn keeps_its_word(document: &Document, what: &str) {
    let options = ExportOptions {
        correct: Some(BakeOptions {
            max_joints: 12,
            ..BakeOptions::default()
        }),
        ..ExportOptions::default()
    };
    let exported = match export(document, &options, &Task::new()) {
        Ok(exported) => exported,
        Err(error) => {
            assert!(error.to_string().len() < 300, "{what}: {error}");
            return;
        }
    };
    let report = exported.correction.as_ref().unwrap();
    let measured = [report.max_percent, report.p999_percent, report.rms_percent];
    assert!(measured.iter().all(|x| !x.is_nan()), "{what}: {report:?}");
    if !report.met {
        return;
    }
    let read = with_stack(reopen(&exported), &DeformStack::lbs());
    for i in 0..=20 {
        let still = StaticPose {
            clip: Some(ClipId(0)),
            time: f64::from(i) / 20.0,
        };
        let vertices = |document: &Document| -> Vec<Vec3> {
            let pose = still.pose(document).unwrap();
            let shapes = static_shapes(document, &pose, &Task::new()).unwrap();
            let shape = shapes.values().next().unwrap();
            let mesh = &document.meshes().values().next().unwrap().geometry;
            let points = mesh.point_of_vertex.iter();
            points.map(|&p| shape.positions[p as usize]).collect()
        };
        let (seen, shown) = (vertices(document), vertices(&read));
        let distances = seen.iter().zip(&shown).map(|(a, b)| a.distance(*b));
        let largest = 100.0 * f64::from(distances.fold(0.0, f32::worse)) / report.diagonal;
        let most = 1.05 * report.max_percent + 1e-3;
        assert!(largest <= most, "{what}: {largest} % at {i}: {report:?}");
    }
}

/// Damages the floats of each accessor in turn. In one process a panic would end the test, so none is hidden.
#[test]
fn damaged_numbers_never_count_as_fine() {
    let whole = rich();
    let accessors = whole.json["accessors"].as_array().unwrap().clone();
    let is_float = |accessor: &serde_json::Value| accessor["componentType"] == 5126;
    let mut n = 0;
    for (a, _) in accessors.iter().enumerate().filter(|(_, a)| is_float(a)) {
        for (i, value) in DAMAGE.into_iter().enumerate() {
            let mut gltf = whole.clone();
            gltf.change_f32s(a, |all| {
                let at = [all.len() / 2, all.len() - 1, 1][(a + i) % 3];
                all[at] = value;
            });
            let Ok(imported) = import_bytes(gltf.glb(), None, None, &Task::new()) else {
                continue;
            };
            let Ok(document) = Document::new(imported.parts) else {
                continue;
            };
            n += 1;
            let document = with_stack(document, &DeformStack::dqs());
            keeps_its_word(&document, &format!("{value:e} in accessor {a}"));
        }
    }
    assert!(n > 30, "{n} damaged files opened");
}
