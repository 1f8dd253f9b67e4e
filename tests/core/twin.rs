//! The body of a person made of a template, against the numbers of an independent prototype.

use crate::cli::{asset, done, fails, text};
use crate::shared::shared_dir;
use glam::{DAffine3, DVec3};
use serde_json::Value;
use sinew::document::parts::{Instance, Parts};
use sinew::document::{
    Document, Edit, History, Individual, IndividualEdit, IndividualShape, InstanceId, SkinId,
};
use sinew::export::{ExportOptions, export};
use sinew::io::gltf_build::to_glb;
use sinew::io::project;
use sinew::io::{import_bytes, open_any};
use sinew::math::Worse;
use sinew::sample::{SampleKind, sample};
use sinew::skeleton::{Property, Skeleton};
use sinew::skinning::Influences;
use sinew::task::Task;
use sinew::twin::template::girth_at;
use sinew::twin::{FitOptions, FlippedFaces, Kind, MeasuredSide, Measurement, Sides, Unit};
use std::path::Path;
use std::sync::Arc;

const MODELS: [&str; 4] = ["mannequiny", "cesium_man", "greenman", "kaykit_knight"];

fn open(shared: &Path, name: &str) -> Document {
    let path = shared.join("models").join(name).join(format!("{name}.glb"));
    open_any(&path, &Task::new()).unwrap().document
}

fn golden(shared: &Path, model: &str) -> Value {
    let path = shared.join("motion/oracle/retarget/template_measurements.json");
    let all: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    all[model].clone()
}

fn row(kind: Kind, bone: &str, at: f64, value: f64) -> Measurement {
    Measurement {
        kind,
        bone: bone.into(),
        at,
        value,
        ..Measurement::default()
    }
}

/// The rows of the prototype: girths x .9, 1.15, 1.2, 1.1 and lengths x 1.1, 1.08, .95, 1.05 of thighs, shins, upper arms and
/// forearms; girths that the template does not have are left out.
fn rows_of(golden: &Value, at: &str) -> Vec<Measurement> {
    let parts = [
        ("thigh", 0.9, 1.1),
        ("shin", 1.15, 1.08),
        ("upperarm", 1.2, 0.95),
        ("forearm", 1.1, 1.05),
    ];
    let mut rows = Vec::new();
    for side in ["l", "r"] {
        for (part, girth, length) in parts {
            let entry = &golden["template"][format!("{side}.{part}")];
            let Some(bone) = entry["bone"].as_str() else {
                continue;
            };
            let template = entry["length"].as_f64().unwrap();
            rows.push(row(Kind::Length, bone, 0.0, template * length));
            if let Some(template) = entry["girth"][at].as_f64() {
                let at = at.parse().unwrap();
                rows.push(row(Kind::Girth, bone, at, template * girth));
            }
        }
    }
    rows
}

/// The largest difference between what the skin does to the points at rest and the points, metres; the mesh space of the
/// first joint places them.
fn off_at_rest(document: &Document) -> f64 {
    let world = document.rest_pose().world_matrices(document.skeleton());
    let mut worst: f64 = 0.0;
    for (&id, item) in document.meshes() {
        let Some((_, skin)) = document.skin_of_mesh(id) else {
            continue;
        };
        let joints = skin.joints.iter().zip(&skin.inverse_bind);
        let palette: Vec<DAffine3> = joints.map(|(j, bind)| world[j.get()] * *bind).collect();
        for (point, position) in item.geometry.positions.iter().enumerate() {
            let v = position.as_dvec3();
            let (mut skinned, mut sum) = (DVec3::ZERO, 0.0);
            for (joint, weight) in item.influences.row(point as u32).iter() {
                let weight = f64::from(weight);
                skinned += palette[usize::from(joint)].transform_point3(v) * weight;
                sum += weight;
            }
            if sum > 0.0 {
                worst = worst.worse((skinned / sum).distance(palette[0].transform_point3(v)));
            }
        }
    }
    worst
}

#[test]
fn templates_measure_what_the_prototype_found() {
    let Some(shared) = shared_dir("template measures") else {
        return;
    };
    for model in MODELS {
        let golden = golden(&shared, model);
        let document = open(&shared, model);
        let body = document.body().unwrap();
        let measures = document.template_measures().unwrap();
        let near = |found: f64, expected: f64, what: &str| {
            let error = found / expected - 1.0;
            assert!(
                error.abs() < 1e-3,
                "{model} {what}: {found}, not {expected}"
            );
        };
        near(
            measures.height,
            golden["height"].as_f64().unwrap(),
            "height",
        );
        for (role, expected) in golden["template"].as_object().unwrap() {
            let name = expected["bone"].as_str().unwrap();
            let bone = measures.bones.iter().find(|b| b.bone == name).unwrap();
            assert_eq!(bone.role.as_deref(), Some(role.as_str()), "{model} {name}");
            near(bone.length, expected["length"].as_f64().unwrap(), role);
            for (at, girth) in ["0.25", "0.5", "0.75"].into_iter().zip(bone.girths) {
                match (girth, expected["girth"][at].as_f64()) {
                    (Some(found), Some(expected)) => near(found, expected, &format!("{role} {at}")),
                    (found, expected) => assert_eq!(found, expected, "{model} {role} {at}"),
                }
                let again = girth_at(&body, bone.joint, at.parse().unwrap());
                assert_eq!(girth, again);
            }
        }
    }
}

/// Errors of girths in percent before each round and after the last, and faces that turn over. The prototype's knight was off by
/// 0.53 % after its first round, and ended at the same error in the same number of rounds.
const FITS: [(&str, &[f64], usize); 3] = [
    ("mannequiny", &[16.7, 0.0], 0),
    ("cesium_man", &[16.7, 4.65, 1.98, 0.81, 0.33, 0.13, 0.05], 1),
    ("kaykit_knight", &[16.7, 0.95, 0.03], 0),
];

#[test]
fn girths_and_lengths_are_reached_as_the_prototype_reached_them() {
    let Some(shared) = shared_dir("fitted bodies") else {
        return;
    };
    for (model, errors, flipped) in FITS {
        let document = open(&shared, model);
        let rows = rows_of(&golden(&shared, model), "0.5");
        let made = document.individualised(&rows, &FitOptions::default(), &Task::new());
        let made = made.unwrap_or_else(|why| panic!("{model}: {why}"));
        let report = &made.report;
        println!(
            "{model}: girths {:?} %, lift {}, {} of {} turned over",
            report
                .girth_errors
                .iter()
                .map(|e| e * 100.0)
                .collect::<Vec<_>>(),
            report.lift,
            report.flipped,
            report.triangles
        );
        assert_eq!(report.girth_errors.len(), errors.len(), "{model}");
        for (found, expected) in report.girth_errors.iter().zip(errors) {
            let percent = found * 100.0;
            assert!(
                (percent - expected).abs() < 0.06,
                "{model}: {percent}, not {expected}"
            );
        }
        for row in &report.rows {
            let most = if row.is(Kind::Length) { 1e-12 } else { 1e-3 };
            assert!(row.error.abs() < most, "{model}: {row:?}");
        }
        assert_eq!(report.flipped, flipped, "{model}");
        if model == "mannequiny" {
            // Its soles sink from -.005 to -.077 m where the body is not lifted.
            assert!((report.lift - 0.072).abs() < 1e-3, "{}", report.lift);
        }
        assert!(off_at_rest(&made.document) < 1e-12, "{model}");
        // The template's own numbers, measured again on the new body, which knows nothing of the table.
        let body = made.document.body().unwrap();
        for row in &report.rows {
            let joint = body
                .bones()
                .find(|j| body.skeleton().joint(*j).name == row.bone)
                .unwrap();
            let found = match row.at {
                None => body.line(joint).length(),
                Some(at) => girth_at(&body, joint, at).unwrap(),
            };
            let error = found / row.target - 1.0;
            assert!(
                error.abs() < 1.001e-3,
                "{model} {} {}: {error}",
                row.kind,
                row.bone
            );
        }
        assert!(
            (lowest(&made.document) - lowest(&document)).abs() < 1e-6,
            "{model}"
        );
    }
}

/// The lowest point at rest.
fn lowest(document: &Document) -> f64 {
    let world = document.rest_pose().world_matrices(document.skeleton());
    let mut lowest = f64::INFINITY;
    for (&id, item) in document.meshes() {
        if let Some((_, skin)) = document.skin_of_mesh(id) {
            let place = world[skin.joints[0].get()] * skin.inverse_bind[0];
            for p in &item.geometry.positions {
                lowest = lowest.min(place.transform_point3(p.as_dvec3()).y);
            }
        }
    }
    lowest
}

#[test]
fn the_trunk_takes_up_what_the_legs_leave_of_the_height() {
    let Some(shared) = shared_dir("fitted heights") else {
        return;
    };
    let document = open(&shared, "mannequiny");
    let golden = golden(&shared, "mannequiny");
    let scale = 1.7 / golden["height"].as_f64().unwrap();
    let mut rows = vec![row(Kind::Height, "", 0.0, 1.7)];
    for (role, factor) in [("l.thigh", 1.06), ("l.shin", 0.97)] {
        let length = golden["template"][role]["length"].as_f64().unwrap();
        rows.push(row(Kind::Length, role, 0.0, length * scale * factor));
    }
    let options = FitOptions::default();
    let made = document
        .individualised(&rows, &options, &Task::new())
        .unwrap();
    println!("{:?}", made.report);
    assert!(
        (made.report.trunk.unwrap() - 0.9836).abs() < 1e-3,
        "{:?}",
        made.report.trunk
    );
    assert!(made.report.trunk_steps <= 2);
    assert!((made.report.height[1] - 1.7).abs() < 1.7e-5);
    assert!((made.document.body().unwrap().height() - 1.7).abs() < 2e-5);
    // Both legs, though only one was measured.
    assert_eq!(
        made.report.rows.iter().filter(|row| row.mirrored).count(),
        2
    );
    assert!(made.report.worst() < 1e-3);
    let loose = FitOptions {
        fit_height: false,
        ..options
    };
    let made = document
        .individualised(&rows, &loose, &Task::new())
        .unwrap();
    assert_eq!(made.report.trunk, None);
    assert!((made.report.height[1] - 1.7).abs() > 1e-3);
}

#[test]
fn without_rows_and_without_changes_the_model_is_the_template() {
    let Some(shared) = shared_dir("an individual of nothing") else {
        return;
    };
    for model in MODELS {
        let document = open(&shared, model);
        let before = document.clone();
        let made = document.individualised(&[], &FitOptions::default(), &Task::new());
        assert!(made.unwrap().document.same_content(&document), "{model}");
        let rows = rows_of(&golden(&shared, model), "0.5");
        if rows.is_empty() {
            continue;
        }
        let made = document.individualised(&rows, &FitOptions::default(), &Task::new());
        assert!(!made.unwrap().document.same_content(&document), "{model}");
        assert!(
            document.same_content(&before),
            "{model}: the template is not touched"
        );
    }
}

/// Bits of all numbers of a document that an individual changes.
fn bits(document: &Document) -> Vec<u64> {
    let mut bits = Vec::new();
    for item in document.meshes().values() {
        let vectors = item.geometry.positions.iter().chain(&item.geometry.normals);
        bits.extend(
            vectors
                .flat_map(glam::Vec3::to_array)
                .map(|x| u64::from(x.to_bits())),
        );
    }
    for joint in document.skeleton().joints() {
        bits.extend(joint.rest.translation.to_array().map(f64::to_bits));
    }
    for skin in document.skins().values() {
        let matrices = skin
            .inverse_bind
            .iter()
            .flat_map(glam::DAffine3::to_cols_array);
        bits.extend(matrices.map(f64::to_bits));
    }
    for channel in document.clips().values().flat_map(|clip| &clip.channels) {
        bits.extend(channel.values.iter().map(|x| u64::from(x.to_bits())));
    }
    bits
}

#[test]
fn two_runs_and_any_number_of_threads_give_the_same_bits() {
    let Some(shared) = shared_dir("threads of an individual") else {
        return;
    };
    let document = open(&shared, "cesium_man");
    let rows = rows_of(&golden(&shared, "cesium_man"), "0.5");
    let run = || {
        let made = document.individualised(&rows, &FitOptions::default(), &Task::new());
        bits(&made.unwrap().document)
    };
    let expected = run();
    for n in [1, 3, 8] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(n)
            .build()
            .unwrap();
        assert!(pool.install(run) == expected, "{n} threads");
    }
}

#[test]
fn a_table_of_one_side_is_for_both_unless_it_says_so() {
    let Some(shared) = shared_dir("sides of an individual") else {
        return;
    };
    let document = open(&shared, "mannequiny");
    let rows = |side: MeasuredSide| {
        let mut rows = vec![
            row(Kind::Length, "thigh", 0.0, 0.41),
            row(Kind::Girth, "forearm", 0.5, 0.2),
        ];
        for row in &mut rows {
            row.side = Some(side);
        }
        rows
    };
    let made = |rows: &[Measurement], sides: Sides| {
        let options = FitOptions {
            sides,
            ..FitOptions::default()
        };
        document
            .individualised(rows, &options, &Task::new())
            .unwrap()
    };
    let [left, right, both] = MeasuredSide::ALL.map(|side| made(&rows(side), Sides::Both));
    let same = bits(&left.document);
    assert!(same == bits(&both.document) && same == bits(&right.document));
    assert_eq!(
        left.report.rows.iter().filter(|row| row.mirrored).count(),
        2
    );
    let own = made(&rows(MeasuredSide::Left), Sides::Own);
    assert_eq!(own.report.rows.len(), 2);
    let lengths = ["thigh.l", "thigh.r"].map(|name| {
        let body = own.document.body().unwrap();
        let joint = body
            .bones()
            .find(|j| body.skeleton().joint(*j).name == name)
            .unwrap();
        body.line(joint).length()
    });
    assert!(
        (lengths[0] - 0.41).abs() < 1e-6 && (lengths[1] - 0.389355).abs() < 1e-5,
        "{lengths:?}"
    );
}

#[test]
fn rotations_of_clips_stay_and_translations_follow() {
    let Some(shared) = shared_dir("clips of an individual") else {
        return;
    };
    for model in ["mannequiny", "cesium_man"] {
        let document = open(&shared, model);
        let rows = rows_of(&golden(&shared, model), "0.5");
        let made = document
            .individualised(&rows, &FitOptions::default(), &Task::new())
            .unwrap();
        let mut n_moved = 0;
        for (id, clip) in document.clips() {
            let after = &made.document.clips()[id];
            assert_eq!(clip.channels.len(), after.channels.len());
            for (a, b) in clip.channels.iter().zip(&after.channels) {
                assert_eq!(
                    (a.joint, a.property, &a.times),
                    (b.joint, b.property, &b.times)
                );
                if a.property == Property::Translation {
                    n_moved += usize::from(a.values != b.values);
                } else {
                    assert_eq!(a.values, b.values, "{model}");
                }
            }
        }
        let keyed = document.clips().values().flat_map(|clip| &clip.channels);
        let has_keys = keyed.clone().any(|c| c.property == Property::Translation);
        assert_eq!(has_keys, n_moved > 0, "{model}");
        // The rest pose is that of the new bind.
        assert_eq!(made.document.pose(), made.document.rest_pose());
    }
}

#[test]
fn the_file_of_an_individual_reads_back_as_it() {
    let Some(shared) = shared_dir("a written individual") else {
        return;
    };
    for model in ["mannequiny", "cesium_man", "kaykit_knight"] {
        let document = open(&shared, model);
        let rows = rows_of(&golden(&shared, model), "0.5");
        let made = document
            .individualised(&rows, &FitOptions::default(), &Task::new())
            .unwrap();
        let options = ExportOptions {
            influences: 8,
            ..ExportOptions::default()
        };
        let exported = export(&made.document, &options, &Task::new()).unwrap();
        let read = import_bytes(exported.files[0].1.clone(), None, None, &Task::new()).unwrap();
        let read = Document::new(read.parts).unwrap();
        for (id, item) in made.document.meshes() {
            let other = &read.meshes()[id].geometry;
            let vertices = |mesh: &sinew::mesh::Mesh| -> Vec<glam::Vec3> {
                let points = mesh.point_of_vertex.iter();
                points.map(|p| mesh.positions[*p as usize]).collect()
            };
            assert!(
                vertices(&item.geometry) == vertices(other),
                "{model}: positions"
            );
            assert_eq!(item.geometry.morphs.len(), other.morphs.len());
        }
        // Matrices and transforms are f32 in the file.
        assert!(off_at_rest(&read) < 2e-6, "{model}");
        for (a, b) in read
            .skeleton()
            .joints()
            .iter()
            .zip(made.document.skeleton().joints())
        {
            assert!(
                a.rest.translation.distance(b.rest.translation)
                    < 1e-6 * (1.0 + b.rest.translation.length())
            );
        }
        // Its girths are the measured ones.
        let body = read.body().unwrap();
        for row in made.report.rows.iter().filter(|row| row.is(Kind::Girth)) {
            let joint = body
                .bones()
                .find(|j| body.skeleton().joint(*j).name == row.bone)
                .unwrap();
            let girth = girth_at(&body, joint, row.at.unwrap()).unwrap();
            assert!(
                (girth / row.target - 1.0).abs() < 1.1e-3,
                "{model} {row:?}: {girth}"
            );
        }
    }
}

#[test]
fn several_girths_on_a_bone_are_their_mean_or_a_taper() {
    let Some(shared) = shared_dir("tapered bones") else {
        return;
    };
    let document = open(&shared, "mannequiny");
    let golden = golden(&shared, "mannequiny");
    let girths = &golden["template"]["l.shin"]["girth"];
    let rows = [
        row(
            Kind::Girth,
            "l.shin",
            0.25,
            girths["0.25"].as_f64().unwrap() * 1.2,
        ),
        row(
            Kind::Girth,
            "l.shin",
            0.75,
            girths["0.75"].as_f64().unwrap() * 0.9,
        ),
    ];
    let options = FitOptions::default();
    let mean = document
        .individualised(&rows, &options, &Task::new())
        .unwrap();
    for row in &mean.report.rows {
        let factor = row.measured / row.template;
        assert!(
            (factor - 1.05).abs() < 0.02,
            "the mean of 1.2 and 0.9: {row:?}"
        );
    }
    let taper = FitOptions {
        taper: true,
        ..options
    };
    let made = document
        .individualised(&rows, &taper, &Task::new())
        .unwrap();
    assert!(made.report.worst() < 1e-3, "{:?}", made.report);
    assert_eq!(made.report.rows.len(), 4, "both sides");
}

/// Thighs, shins, upper arms and forearms of both sides, all by one factor.
fn limbs(golden: &Value, kind: Kind, factor: f64) -> Vec<Measurement> {
    let mut rows = Vec::new();
    for side in ["l", "r"] {
        for part in ["thigh", "shin", "upperarm", "forearm"] {
            let entry = &golden["template"][format!("{side}.{part}")];
            let Some(bone) = entry["bone"].as_str() else {
                continue;
            };
            let template = match kind {
                Kind::Girth => entry["girth"]["0.5"].as_f64(),
                _ => entry["length"].as_f64(),
            };
            let at = if kind == Kind::Girth { 0.5 } else { 0.0 };
            rows.extend(template.map(|template| row(kind, bone, at, template * factor)));
        }
    }
    rows
}

/// Model, factor, faces that flip by lengths and by girths (METHODS-twin 5.2).
const FLIPS: [(&str, f64, [usize; 2]); 8] = [
    ("mannequiny", 0.5, [0, 0]),
    ("mannequiny", 2.0, [0, 0]),
    ("mannequiny", 3.0, [0, 0]),
    ("cesium_man", 0.5, [1, 0]),
    ("cesium_man", 2.0, [3, 7]),
    ("cesium_man", 3.0, [13, 12]),
    ("kaykit_knight", 3.0, [0, 10]),
    ("greenman", 3.0, [8, 0]),
];

#[test]
fn lengths_flip_as_many_faces_as_in_the_prototype_and_are_smoothed_back() {
    let Some(shared) = shared_dir("flipped faces") else {
        return;
    };
    let mut n_smoothed = 0;
    for (model, factor, expected) in FLIPS {
        let golden = golden(&shared, model);
        let document = open(&shared, model);
        for (kind, expected) in [Kind::Length, Kind::Girth].into_iter().zip(expected) {
            let rows = limbs(&golden, kind, factor);
            if rows.is_empty() {
                continue;
            }
            let fitted = |flipped: FlippedFaces| {
                let options = FitOptions {
                    flipped,
                    ..FitOptions::default()
                };
                document
                    .individualised(&rows, &options, &Task::new())
                    .unwrap()
            };
            let kept = fitted(FlippedFaces::Keep);
            let what = format!("{model} {kind:?} x {factor}");
            println!(
                "{what}: {} flipped, {expected} in the prototype",
                kept.report.flipped
            );
            assert_eq!(kept.report.smoothed, 0, "{what}");
            if kind == Kind::Length {
                assert_eq!(kept.report.flipped, expected, "{what}");
            }
            let inside_out = |made: &Document| {
                let meshes = made.meshes().values();
                meshes
                    .map(|item| item.geometry.inside_out.len())
                    .sum::<usize>()
            };
            assert_eq!(inside_out(&kept.document), kept.report.flipped, "{what}");
            let smooth = fitted(FlippedFaces::Smooth);
            if kept.report.flipped == 0 {
                assert!(bits(&smooth.document) == bits(&kept.document), "{what}");
                continue;
            }
            println!(
                "  smoothed {} vertices, {} flipped, measurements off by {} after {}",
                smooth.report.smoothed,
                smooth.report.flipped,
                smooth.report.worst(),
                kept.report.worst()
            );
            // What is three times as large keeps a few: then the smallest number that was found counts.
            assert!(smooth.report.flipped <= kept.report.flipped, "{what}");
            assert_eq!(
                inside_out(&smooth.document),
                smooth.report.flipped,
                "{what}"
            );
            assert!(off_at_rest(&smooth.document) < 1e-12, "{what}");
            if kind == Kind::Length && factor < 3.0 {
                assert_eq!(smooth.report.flipped, 0, "{what}");
                let n_points = document.body().unwrap().n_points();
                assert!(smooth.report.smoothed * 5 < n_points, "{what}");
            }
            n_smoothed += usize::from(smooth.report.flipped < kept.report.flipped);
        }
    }
    assert!(n_smoothed >= 2, "{n_smoothed}");
}

#[test]
fn what_cannot_be_fitted_is_refused_in_a_sentence_with_its_row() {
    let Some(shared) = shared_dir("refused measurements") else {
        return;
    };
    let document = open(&shared, "kaykit_knight");
    let refused = |rows: &[Measurement]| {
        let made = document.individualised(rows, &FitOptions::default(), &Task::new());
        made.map(|_| ()).unwrap_err().to_string()
    };
    let girth = |bone: &str, at: f64| row(Kind::Girth, bone, at, 0.8);
    let length = |bone: &str, value: f64| row(Kind::Length, bone, 0.0, value);
    for (rows, said) in [
        (
            vec![girth("lowerleg.l", 0.5)],
            "Row 1: the skin round \"lowerleg.l\" is open at 50 %; try 45 %, where it is closed.",
        ),
        (
            vec![length("thigh", 0.25), length("elbow", 1.0)],
            "Row 2: there is no bone or role \"elbow\".",
        ),
        (
            vec![length("UpperLeg.l", 0.25)],
            "Row 1: there is no bone or role \"UpperLeg.l\"; there is \"upperleg.l\".",
        ),
        (
            vec![length("thigh", 5.0)],
            "Row 1: 5 m is 22.0189 times the template's 0.2271 m; a factor must be 0.2 - 5.",
        ),
        (
            vec![length("thigh", 0.0)],
            "Row 1: the value 0 is not a number above 0.",
        ),
        (
            vec![length("thigh", f64::NAN)],
            "Row 1: the value NaN is not a number above 0.",
        ),
        (
            vec![length("thigh", 0.25), length("l.thigh", 0.25)],
            "Row 2: the length of \"upperleg.l\" is in row 1 already.",
        ),
        (
            vec![
                row(Kind::Height, "", 0.0, 2.0),
                row(Kind::Height, "", 0.0, 2.0),
            ],
            "Row 2: the height is in row 1 already.",
        ),
    ] {
        assert_eq!(refused(&rows), said);
    }
    let chain = Measurement {
        to: "upperarm".into(),
        ..length("thigh", 0.5)
    };
    assert_eq!(
        refused(&[chain]),
        "Row 1: \"thigh\" is not above \"upperarm\", so they are no chain."
    );
    let named = Measurement {
        id: "calf".into(),
        ..girth("shin", 0.6)
    };
    assert!(
        refused(&[named])
            .starts_with("Row 1 (\"calf\"): the skin round \"lowerleg.l\" is open at 60 %")
    );
    let made = Document::default().individualised(
        &[length("a", 1.0)],
        &FitOptions::default(),
        &Task::new(),
    );
    let why = made.map(|_| ()).unwrap_err().to_string();
    assert_eq!(why, "The model has no skin: bind it to bones first.");
}

/// The sample arm, changed, as a document.
fn changed_arm(change: impl FnOnce(&mut Parts)) -> Document {
    let model = to_glb(&sample(SampleKind::Arm, 400));
    let mut parts = import_bytes(model.into(), None, None, &Task::new())
        .unwrap()
        .parts;
    change(&mut parts);
    Document::new(parts).unwrap()
}

#[test]
fn models_without_a_body_to_measure_say_what_they_lack() {
    let refused = |document: &Document, rows: &[Measurement]| {
        let made = document.individualised(rows, &FitOptions::default(), &Task::new());
        made.map(|_| ()).unwrap_err().to_string()
    };
    let forearm = [row(Kind::Length, "forearm", 0.0, 0.3)];
    let bare = changed_arm(|parts| {
        let item = parts.meshes.values_mut().next().unwrap();
        let silent = Influences::silent(item.geometry.n_points());
        let item = Arc::make_mut(item);
        item.influences = silent.clone();
        item.source_influences = silent;
    });
    assert_eq!(
        refused(&bare, &forearm),
        "The skin of \"arm\" has no weights: paint or compute them first."
    );
    let rigid = changed_arm(|parts| {
        for instance in parts.instances.values_mut() {
            Arc::make_mut(instance).skin = None;
        }
    });
    assert_eq!(
        refused(&rigid, &forearm),
        "The model has no skin: bind it to bones first."
    );
    let shared = changed_arm(|parts| {
        let (&id, skin) = parts.skins.iter().next().unwrap();
        let (second, skin) = (SkinId(id.0 + 1), skin.clone());
        parts.skins.insert(second, skin);
        let (&first, instance) = parts.instances.iter().next().unwrap();
        let mut other = Instance::clone(instance);
        other.skin = Some(second);
        parts
            .instances
            .insert(InstanceId(first.0 + 1), Arc::new(other));
    });
    assert_eq!(
        refused(&shared, &forearm),
        "The mesh \"arm\" is drawn with 2 skins, which cannot share one shape: give each its own mesh first."
    );
    let flat = changed_arm(|parts| {
        let mut joints = parts.skeleton.joints().to_vec();
        let wrist = joints
            .iter_mut()
            .find(|joint| joint.name == "wrist")
            .unwrap();
        wrist.rest.translation = DVec3::ZERO;
        parts.skeleton = Arc::new(Skeleton::new(joints).unwrap());
    });
    let said = "Row 1: the bone \"forearm\" has no length.";
    assert_eq!(refused(&flat, &forearm), said);
    assert_eq!(
        refused(&flat, &[row(Kind::Girth, "forearm", 0.5, 0.2)]),
        said
    );
}

/// The sample arm with a longer and thicker forearm.
fn arm() -> (Document, Individual) {
    let document = open_any(Path::new(&asset("arm")), &Task::new())
        .unwrap()
        .document;
    let body = document.body().unwrap();
    let joint = body
        .bones()
        .find(|j| body.skeleton().joint(*j).name == "forearm")
        .unwrap();
    let girth = girth_at(&body, joint, 0.5).unwrap();
    let individual = Individual {
        template: document.template_fingerprint(),
        rows: vec![
            row(
                Kind::Length,
                "forearm",
                0.0,
                body.line(joint).length() * 1.2,
            ),
            Measurement {
                id: "round the \"forearm\"".into(),
                unit: Unit::Centimetre,
                ..row(Kind::Girth, "forearm", 0.5, girth * 100.0 * 1.3)
            },
        ],
        variations: Vec::new(),
        options: FitOptions {
            sides: Sides::Own,
            ..FitOptions::default()
        },
    };
    (document, individual)
}

#[test]
fn measurements_are_undone_and_saved_and_the_template_stays() {
    let (mut document, individual) = arm();
    let before = document.clone();
    let mut history = History::default();
    let edit = Edit::Individual(IndividualEdit::new(Some(individual.clone())));
    history.apply(&mut document, edit, "Measure").unwrap();
    assert_eq!(document.individual().map(|i| &**i), Some(&individual));
    for (id, item) in document.meshes() {
        assert!(std::sync::Arc::ptr_eq(item, &before.meshes()[id]));
    }
    assert!(!document.same_content(&before));
    history.undo(&mut document);
    assert!(document.same_content(&before));
    history.redo(&mut document);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("person.ron");
    project::save(&document, &path, &Task::new()).unwrap();
    let opened = open_any(&path, &Task::new()).unwrap();
    assert!(opened.findings.is_empty(), "{:?}", opened.findings);
    assert_eq!(
        opened.document.individual().map(|i| &**i),
        Some(&individual)
    );
    let made = |document: &Document| {
        let rows = &document.individual().unwrap().rows;
        IndividualShape::new(document, rows, &individual.options, &Task::new())
            .unwrap()
            .of(document)
    };
    assert!(bits(&made(&opened.document)) == bits(&made(&document)));
    // The template has changed: it is said, and the table is fitted to the new one.
    let project = std::fs::read_to_string(&path).unwrap();
    let fingerprint = format!("{:016x}", individual.template);
    let (model, measured) = project.split_once("individual:").unwrap();
    let other = measured.replace(&fingerprint, "0123456789abcdef");
    std::fs::write(&path, format!("{model}individual:{other}")).unwrap();
    let opened = open_any(&path, &Task::new()).unwrap();
    assert_eq!(opened.findings.len(), 1, "{:?}", opened.findings);
    assert!(
        opened.findings[0]
            .message
            .starts_with("The template has changed since it was measured")
    );

    let mut bad = individual.clone();
    bad.rows[1].value = f64::NAN;
    let edit = &mut Edit::Individual(IndividualEdit::new(Some(bad)));
    let why = document.apply(edit).unwrap_err().to_string();
    assert!(
        why.contains("row 2 (\"round the \"forearm\"\"): the value NaN"),
        "{why}"
    );
}

#[test]
fn a_shape_follows_weights_poses_and_names_but_not_another_rig() {
    let (mut document, individual) = arm();
    let shape = IndividualShape::new(
        &document,
        &individual.rows,
        &individual.options,
        &Task::new(),
    );
    let shape = shape.unwrap();
    let (first, second) = (shape.of(&document), shape.of(&document));
    for (id, item) in first.meshes() {
        assert!(
            std::sync::Arc::ptr_eq(item, &second.meshes()[id]),
            "equal parts keep their identity"
        );
    }
    assert!(std::sync::Arc::ptr_eq(first.skeleton(), second.skeleton()));
    assert!(std::sync::Arc::ptr_eq(
        first.rest_pose(),
        second.rest_pose()
    ));
    assert!(shape.is_current(&document));
    let joint = document.skeleton().live_joints().nth(1).unwrap();
    let name = Edit::JointName {
        joint,
        name: "Elbow".into(),
    };
    document.apply(&mut name.clone()).unwrap();
    assert!(shape.can_show(&document));
    let made = shape.of(&document);
    assert_eq!(made.skeleton().joint(joint).name, "Elbow");
    // A bone that is moved in the rest pose is another template.
    let operation = sinew::rig::Operation::Move {
        joint,
        by: DVec3::new(0.01, 0.0, 0.0),
        intent: sinew::document::rig::Intent::NewPivot,
    };
    let moved = operation.run(&document, &Task::new()).unwrap();
    document
        .apply(&mut Edit::Rig(Box::new(moved.edit)))
        .unwrap();
    assert!(!shape.can_show(&document) && !shape.is_current(&document));
    assert!(shape.of(&document).same_content(&document));
}

#[test]
fn the_command_line_measures_and_makes_bodies() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let arm = asset("arm");
    let table = done(&["body", &arm, "--template"]);
    assert!(
        table.contains("forearm") && table.contains("girth m at 25 %, 50 %, 75 %"),
        "{table}"
    );
    let json: Value = serde_json::from_str(&done(&["body", &arm, "--template", "--json"])).unwrap();
    let bones = json["bones"].as_array().unwrap();
    let forearm = bones.iter().find(|b| b["bone"] == "forearm").unwrap();
    let (length, girth) = (
        forearm["length"].as_f64().unwrap(),
        forearm["girth"]["0.5"].as_f64().unwrap(),
    );
    let rows = format!(
        "id,kind,bone,value,unit,at\n,length,forearm,{},cm,\nround,girth,forearm,{},m,0.5\n",
        length * 110.0,
        girth * 1.25
    );
    std::fs::write(at("m.csv"), rows).unwrap();
    let (csv, out, report) = (at("m.csv"), at("x.glb"), at("r.json"));
    let said = done(&[
        "body",
        &arm,
        "--measure",
        text(&csv),
        "--fit-height",
        "--sides",
        "own",
        "--out",
        text(&out),
        "--report",
        text(&report),
    ]);
    assert!(
        said.contains("length of forearm: ") && said.contains("Wrote "),
        "{said}"
    );
    let report: Value = serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();
    assert_eq!(report["rows"].as_array().unwrap().len(), 2);
    assert!((report["rows"][0]["factor"].as_f64().unwrap() - 1.1).abs() < 1e-9);
    assert!(report["rows"][1]["error"].as_f64().unwrap().abs() < 1e-3);
    // What was written measures what was asked for.
    let again: Value =
        serde_json::from_str(&done(&["body", text(&out), "--template", "--json"])).unwrap();
    let bones = again["bones"].as_array().unwrap();
    let forearm = bones.iter().find(|b| b["bone"] == "forearm").unwrap();
    let near = |found: &Value, wanted: f64| (found.as_f64().unwrap() / wanted - 1.0).abs() < 1.1e-3;
    assert!(near(&forearm["length"], length * 1.1), "{forearm}");
    assert!(near(&forearm["girth"]["0.5"], girth * 1.25), "{forearm}");
    // A project keeps the template and the table, and gives the same file.
    let (project, other) = (at("p.ron"), at("y.glb"));
    done(&[
        "body",
        &arm,
        "--measure",
        text(&csv),
        "--sides",
        "own",
        "--out",
        text(&project),
    ]);
    done(&["body", text(&project), "--out", text(&other)]);
    assert!(std::fs::read(&out).unwrap() == std::fs::read(&other).unwrap());

    let why = fails(&["body", &arm, "--out", text(&other)], 2);
    assert!(why.contains("No measurements are given"), "{why}");
    std::fs::write(&csv, "kind,bone,value\nlength,elbow,1\n").unwrap();
    let why = fails(&["body", &arm, "--measure", text(&csv)], 1);
    assert!(
        why.contains("m.csv: Row 1: there is no bone or role \"elbow\"."),
        "{why}"
    );
    std::fs::write(&csv, "kind,bone,value\nlength,forearm,long\n").unwrap();
    let why = fails(&["body", &arm, "--measure", text(&csv)], 1);
    assert!(
        why.contains("m.csv: line 2, column 3: \"long\" is not a number."),
        "{why}"
    );
}

#[test]
fn mutated_tables_give_a_body_or_a_sentence() {
    let (document, _) = arm();
    let csv = "id,kind,bone,to,at,side,value,unit\nx,length,forearm,,,,0.3,m\ny,girth,forearm,,0.5,,40,cm\nz,height,,,,,1,in\n";
    let json = r#"[{"kind": "girth", "bone": "forearm", "at": 0.5, "value": 12.5, "unit": "in"}, {"kind": "height", "value": 2}]"#;
    let bits: Vec<char> = ",\"\n;#[]{}:.-0123456789enaxlr \u{0}\u{feff}é"
        .chars()
        .collect();
    let mut random = 7_u32;
    let mut next = |n: usize| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) as usize % n
    };
    let (mut read, mut fitted) = (0, 0);
    for case in 0..4000 {
        let mut text: Vec<char> = if case % 2 == 0 { csv } else { json }.chars().collect();
        for _ in 0..=next(4) {
            let at = next(text.len());
            match next(3) {
                0 => text[at] = bits[next(bits.len())],
                1 => text.insert(at, bits[next(bits.len())]),
                _ => {
                    text.remove(at);
                }
            }
        }
        let text: String = text.into_iter().collect();
        let rows = match sinew::twin::table::parse_measurements(&text) {
            Ok(rows) => rows,
            Err(fault) => {
                assert!(fault.to_string().len() > 5, "{text:?}: {fault}");
                continue;
            }
        };
        read += 1;
        assert!(rows.iter().all(|row| row.check().is_ok()), "{text:?}");
        match document.individualised(&rows, &FitOptions::default(), &Task::new()) {
            Ok(made) => {
                fitted += 1;
                for item in made.document.meshes().values() {
                    assert!(
                        item.geometry.positions.iter().all(|p| p.is_finite()),
                        "{text:?}"
                    );
                    assert!(
                        item.geometry.normals.iter().all(|n| n.is_finite()),
                        "{text:?}"
                    );
                }
            }
            Err(why) => assert!(why.to_string().ends_with('.'), "{text:?}: {why}"),
        }
    }
    println!("{read} tables read, {fitted} fitted");
    assert!(read > 200 && fitted > 10, "{read} {fitted}");
}
