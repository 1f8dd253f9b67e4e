//! Weights that are no weights: NaN, infinite, negative, zero, or of no joint. Exports are free of them, say so, and are
//! never measured as if they were fine.

use crate::bake::{corrected, with_stack};
use crate::bake_sources::{bend, draw, tube};
use crate::cli;
use crate::export_models::reopen;
use crate::gltf_builder::Gltf;
use serde_json::json;
use sinew::bake::BakeOptions;
use sinew::deform::DeformStack;
use sinew::document::checks::ModelChecks;
use sinew::document::{Document, Edit, MeshId, fixes};
use sinew::export::{ExportOptions, export, preflight};
use sinew::finding::{Finding, Fix, Place, Severity};
use sinew::io::import_bytes;
use sinew::skeleton::JointId;
use sinew::task::Task;
use std::sync::Arc;

const MESH: MeshId = MeshId(0);
/// Two vertices of the ring in the middle of the tube, where both joints pull, and one of the ring after the next.
const VERTICES: [usize; 3] = [97, 98, 115];
const FAULTS: [[f32; 4]; 5] = [
    [f32::NAN; 4],
    [f32::INFINITY, 0.0, 0.0, 0.0],
    [f32::NAN, 0.5, 0.0, 0.0],
    [-0.25, 0.75, 0.0, 0.0],
    [0.0; 4],
];

/// A tube over two joints that bends, with these weights at some vertices.
fn faulty(weights: [f32; 4]) -> Gltf {
    let mut gltf = tube(2);
    bend(&mut gltf, "Bend", "LINEAR");
    let accessor = &gltf.json["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"];
    gltf.change_f32s(accessor.as_u64().unwrap() as usize, |all| {
        for vertex in VERTICES {
            all[4 * vertex..4 * vertex + 4].copy_from_slice(&weights);
        }
    });
    gltf
}

fn open(gltf: Gltf, stack: &DeformStack) -> Document {
    let imported = import_bytes(gltf.glb(), None, None, &Task::new()).unwrap();
    with_stack(Document::new(imported.parts).unwrap(), stack)
}

/// The rows of all skinned primitives of a file, as another reader has them: joints and weights of all sets.
fn raw_rows(bytes: &[u8]) -> Vec<Vec<(u16, f32)>> {
    let file = gltf::Gltf::from_slice_without_validation(bytes).unwrap();
    let blob = file.blob.as_deref();
    let mut rows = Vec::new();
    for primitive in file
        .meshes()
        .flat_map(|mesh| mesh.primitives().collect::<Vec<_>>())
    {
        let reader = primitive.reader(|_| blob);
        let (Some(joints), Some(weights)) = (reader.read_joints(0), reader.read_weights(0)) else {
            continue;
        };
        let pairs = joints.into_u16().zip(weights.into_f32());
        rows.extend(pairs.map(|(j, w)| j.into_iter().zip(w).collect::<Vec<_>>()));
    }
    rows
}

/// The vertices of a file whose weights players cannot use.
fn unusable(bytes: &[u8]) -> usize {
    let is_usable = |row: &Vec<(u16, f32)>| {
        let sum: f32 = row.iter().map(|(_, w)| w).sum();
        // NaN counts as unusable.
        row.iter().all(|(_, w)| *w >= 0.0) && (sum - 1.0).abs() < 1e-3
    };
    let rows = raw_rows(bytes);
    assert!(rows.len() >= 200);
    rows.iter().filter(|row| !is_usable(row)).count()
}

fn about_weights(findings: &[Finding]) -> Vec<&Finding> {
    let is = |f: &&Finding| f.message.contains("weight") && f.message.contains("source");
    findings.iter().filter(is).collect()
}

#[test]
fn a_changed_file_is_free_of_invalid_weights_in_primitives_that_nobody_touched() {
    for weights in FAULTS {
        let mut document = open(faulty(weights), &DeformStack::lbs());
        let source = document.source().unwrap().bytes.clone();
        assert!(unusable(&source) >= 3, "{weights:?}");
        let name = "Renamed".to_owned();
        let joint = JointId(1);
        document
            .apply(&mut Edit::JointName { joint, name })
            .unwrap();
        let exported = export(&document, &ExportOptions::default(), &Task::new()).unwrap();
        assert_eq!(exported.report.n_primitives_rewritten, 1);
        assert_eq!(unusable(&exported.files[0].1), 0, "{weights:?}");
        let read = reopen(&exported);
        assert!(!read.has_invalid_weights());
        for (now, before) in read.meshes()[&MESH]
            .influences
            .iter()
            .zip(document.meshes()[&MESH].influences.iter())
        {
            assert_eq!(now, before);
        }
    }
}

#[test]
fn a_corrected_file_is_free_of_them_and_within_what_its_report_says() {
    for weights in FAULTS {
        // The second mesh needs no correction, so the bake leaves it alone.
        let mut gltf = faulty(weights);
        let rigid = gltf.json["meshes"][0].clone();
        let mesh = gltf.push("meshes", rigid);
        let joints = gltf.u8s("VEC4", &[1, 0, 0, 0].repeat(200));
        let mut own = [1.0, 0.0, 0.0, 0.0].repeat(200);
        own[4 * VERTICES[0]..4 * VERTICES[0] + 4].copy_from_slice(&weights);
        let own = gltf.f32s("VEC4", &own);
        let attributes = &mut gltf.json["meshes"][mesh]["primitives"][0]["attributes"];
        attributes["JOINTS_0"] = json!(joints);
        attributes["WEIGHTS_0"] = json!(own);
        draw(&mut gltf, mesh, 0);
        let document = open(gltf, &DeformStack::dqs());
        let (exported, report) = corrected(&document, BakeOptions::default());
        assert_eq!(unusable(&exported.files[0].1), 0, "{weights:?}");
        assert!(report.met && report.before_max_percent > 0.1, "{report:?}");
    }
}

#[test]
fn a_copy_of_the_source_keeps_its_bytes_and_says_what_is_wrong() {
    for weights in FAULTS {
        let document = open(faulty(weights), &DeformStack::lbs());
        let plain = export(&document, &ExportOptions::default(), &Task::new()).unwrap();
        assert!(plain.report.verbatim);
        assert_eq!(plain.files[0].1, document.source().unwrap().bytes);
        let told = about_weights(&plain.report.findings);
        assert!(told[0].message.starts_with("3 vertices have"), "{told:?}");

        // With a correction that has nothing to do, the error of weights that are not zero is unknown.
        let (copied, report) = corrected(&document, BakeOptions::default());
        assert!(copied.report.verbatim);
        let is_zero = weights == [0.0; 4];
        assert_eq!(report.met, is_zero, "{weights:?}: {report:?}");
        assert_eq!(report.max_percent.is_infinite(), !is_zero);
        if !is_zero {
            let first = &copied.report.findings[0];
            assert!(first.message.contains("is missed"), "{first}");
        }

        let options = ExportOptions {
            fix_weights: true,
            ..ExportOptions::default()
        };
        let fixed = export(&document, &options, &Task::new()).unwrap();
        assert!(!fixed.report.verbatim && fixed.report.findings.is_empty());
        assert_eq!(unusable(&fixed.files[0].1), 0, "{weights:?}");
    }
}

#[test]
fn a_copy_of_a_valid_source_has_nothing_to_mend() {
    let document = open(faulty([0.5, 0.5, 0.0, 0.0]), &DeformStack::lbs());
    let options = ExportOptions {
        fix_weights: true,
        ..ExportOptions::default()
    };
    let exported = export(&document, &options, &Task::new()).unwrap();
    assert!(exported.report.verbatim && !document.has_invalid_weights());
    assert!(preflight(&document, &options).is_empty());
}

#[test]
fn preflight_counts_them_and_a_fix_copies_the_nearest_weights() {
    let mut document = open(faulty([0.0; 4]), &DeformStack::lbs());
    let told = |document: &Document| {
        let findings = preflight(document, &ExportOptions::default());
        let told = about_weights(&findings);
        assert_eq!(told.len(), 1, "{findings:?}");
        told[0].clone()
    };
    let finding = told(&document);
    assert_eq!(
        (finding.severity, finding.fix),
        (Severity::Warning, Some(Fix::CopyNearest))
    );
    assert!(
        finding
            .message
            .contains("no valid weight above 0 at 3 vertices"),
        "{finding}"
    );
    let report = ModelChecks::default().run(&document, &Task::new()).unwrap();
    let of_model = |f: &&Finding| f.fix == Some(Fix::CopyNearest);
    assert!(
        report
            .findings
            .iter()
            .any(|f| of_model(&f) && f.target == finding.target)
    );
    let Some(Place::Points { mesh: 0, points }) = finding.target else {
        panic!("{:?}", finding.target);
    };
    assert_eq!(points.len(), 3);

    let fixed = fixes::fix(&document, MESH, &points, Fix::CopyNearest, &Task::new()).unwrap();
    let mut edit = fixed.edit.unwrap();
    document.apply(&mut edit).unwrap();
    let item = &document.meshes()[&MESH];
    for &point in points.iter() {
        let distance = |p: u32| {
            let positions = &item.geometry.positions;
            positions[p as usize].distance(positions[point as usize])
        };
        let all = 0..item.influences.len() as u32;
        let valid: Vec<u32> = all.filter(|p| !points.contains(p)).collect();
        let least = valid.iter().map(|&p| distance(p)).reduce(f32::min).unwrap();
        let row = item.influences.row(point);
        let mut nearest = valid.iter().filter(|p| distance(**p) < 1.001 * least);
        assert!(nearest.any(|&p| item.influences.row(p) == row), "{row:?}");
        assert_eq!(row.len(), 2, "{row:?}");
    }
    let after = told(&document);
    assert_eq!(after.fix, None);
    let report = ModelChecks::default().run(&document, &Task::new()).unwrap();
    assert!(report.findings.iter().all(|f| !of_model(&f)));
    let exported = export(&document, &ExportOptions::default(), &Task::new()).unwrap();
    assert!(!exported.report.verbatim);
    assert_eq!(unusable(&exported.files[0].1), 0);
    // One undo step restores every bit.
    document.apply(&mut edit).unwrap();
    assert_eq!(document.meshes()[&MESH].points_to_fix()[..], points[..]);

    let broken = open(faulty([f32::NAN, 0.5, 0.0, 0.0]), &DeformStack::lbs());
    let finding = told(&broken);
    assert!(
        finding.fix.is_none()
            && finding
                .message
                .contains("not a number or of no joint at 3 vertices")
    );
}

#[test]
fn locked_bones_keep_their_weights() {
    let mut document = open(faulty([0.0; 4]), &DeformStack::lbs());
    let points = document.meshes()[&MESH].points_to_fix();
    let first = document.skins().values().next().unwrap().joints[0];
    let locks = Arc::new([first].into());
    document.apply(&mut Edit::Locks(locks)).unwrap();
    let fixed = fixes::fix(&document, MESH, &points, Fix::CopyNearest, &Task::new()).unwrap();
    assert!(
        fixed.edit.is_none() && fixed.message.contains("locked"),
        "{}",
        fixed.message
    );
}

#[test]
fn normalising_on_the_command_line_fixes_a_file() {
    let folder = tempfile::tempdir().unwrap();
    for (i, weights) in FAULTS.into_iter().enumerate() {
        let path = folder.path().join(format!("{i}.glb"));
        let out = folder.path().join(format!("{i}-out.glb"));
        std::fs::write(&path, faulty(weights).glb()).unwrap();
        let (path, to) = (cli::text(&path), cli::text(&out));
        cli::done(&["weights", path, "--normalize", "--out", to]);
        assert_eq!(unusable(&std::fs::read(&out).unwrap()), 0, "{weights:?}");
        let said = cli::done(&["export", path, "--out", to]);
        assert!(said.contains("3 vertices have invalid weights"), "{said}");
        assert!(unusable(&std::fs::read(&out).unwrap()) >= 3);
        let said = cli::done(&["export", path, "--fix-weights", "--out", to]);
        assert!(!said.contains("invalid"), "{said}");
        assert_eq!(unusable(&std::fs::read(&out).unwrap()), 0, "{weights:?}");
    }
}
