//! The body of a person in the headless editor: fitted in the background, shown and exported in place of the template, undone.

use crate::brushes::ndc;
use crate::cli::{done, text};
use crate::editing::{EditorHarness, SIZE};
use crate::shared::shared_dir;
use glam::{DQuat, Vec3};
use sinew::cluster::map::gains::{Gain, GainKind};
use sinew::deform::diagnostics::Metric;
use sinew::deform::{BodyChoice, DeformStack, SkinningMethod, StackChoice, StackPreset};
use sinew::document::{Document, Edit, IndividualShape, MeshId, Person, Variation};
use sinew::editor::exporting::Correction;
use sinew::editor::{OpenRequest, PickableBones, ScanOptions};
use sinew::evaluate::{Difference, Evaluator, ViewId};
use sinew::io::{open_any, project};
use sinew::math::Worse;
use sinew::skeleton::JointId;
use sinew::skeleton::joint_limits::JointLimits;
use sinew::task::Task;
use sinew::twin::scan::Align;
use sinew::twin::suggest::next_row;
use sinew::twin::{FitOptions, FlippedFaces, Kind, MeasuredSide, Measurement};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

fn character() -> EditorHarness {
    EditorHarness::on(OpenRequest::Path("assets/mannequin.glb".into()))
}

/// The table of a taller person with longer thighs and thicker forearms.
fn rows(document: &Document) -> Vec<Measurement> {
    let body = document.body().unwrap();
    let mut rows = Vec::new();
    for (kind, factor) in [
        (Kind::Height, 1.08),
        (Kind::Length, 1.1),
        (Kind::Girth, 1.2),
    ] {
        let mut row = next_row(&body, &rows, kind).unwrap();
        row.value *= factor;
        rows.push(row);
    }
    rows
}

/// The height of what is on screen.
fn height(h: &EditorHarness) -> f32 {
    height_in(h, ViewId::OWN)
}

/// The height of what a view shows.
fn height_in(h: &EditorHarness, view: ViewId) -> f32 {
    let shown = h.editor.displayed_in(view).values();
    let ys = shown.flat_map(|d| d.positions.iter().map(|p| p.y));
    let (low, high) = ys.fold((f32::MAX, f32::MIN), |(l, h), y| (l.min(y), h.max(y)));
    high - low
}

#[test]
fn rows_are_suggested_with_the_measures_of_the_template() {
    let document = open_any("assets/mannequin.glb".as_ref(), &Task::new())
        .unwrap()
        .document;
    let body = document.body().unwrap();
    let mut rows = Vec::new();
    for kind in [Kind::Length, Kind::Length, Kind::Girth, Kind::Height] {
        rows.push(next_row(&body, &rows, kind).unwrap());
    }
    let parts: Vec<&str> = rows.iter().map(|row| row.bone.as_str()).collect();
    assert_eq!(parts, ["upperarm", "forearm", "upperarm", ""]);
    assert_eq!(rows[0].side, Some(MeasuredSide::Both));
    assert!(
        next_row(&body, &rows, Kind::Height).is_none(),
        "there is one"
    );
    // With the template's values everything stays, but for the digits of a table.
    let shape = IndividualShape::new(&document, &rows, &FitOptions::default(), &Task::new());
    let report = shape.unwrap().report;
    assert!(
        report
            .rows
            .iter()
            .all(|row| (row.factor - 1.0).abs() < 1e-3),
        "{report:?}"
    );
}

#[test]
fn the_individual_is_shown_exported_and_undone() {
    let mut h = character();
    let template = h.editor.document().clone();
    let before = height(&h);
    let rows = rows(&template);
    h.editor
        .measure(rows.clone(), FitOptions::default(), "Measure");
    h.settle();
    assert_eq!(h.editor.individual_failure(), None);
    let report = h.editor.individual_shape().unwrap().report.clone();
    assert!(report.worst() < 1e-3, "{report:?}");
    assert!(!h.editor.shows_individual());
    assert!(
        (height(&h) - before).abs() < 1e-6,
        "the template is shown until it is asked for"
    );
    let volume = |h: &mut EditorHarness| {
        h.editor.measure_volume();
        h.settle();
        assert!(!h.editor.is_volume_stale());
        h.editor.volume_study().unwrap().whole.rest
    };
    // Millimetres of the Export page are those of the body that is exported.
    let diagonal = |h: &mut EditorHarness| {
        h.editor.measure_diagonal();
        h.settle();
        h.editor.rest_diagonal().unwrap()
    };
    let before_m = diagonal(&mut h);
    let box_of = |document: &Document| {
        let meshes = document.meshes().values();
        let points = meshes.flat_map(|item| &item.geometry.positions);
        let ends = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let (low, high) = points.fold(ends, |(l, h), p| (l.min(*p), h.max(*p)));
        f64::from((high - low).length())
    };
    let person = h.editor.individual_shape().unwrap().of(&template);
    let expected = box_of(&person) / box_of(&template);
    let before_m3 = volume(&mut h);
    h.editor.show_individual(true);
    h.settle();
    assert!(h.editor.shows_individual());
    let grown = diagonal(&mut h) / before_m;
    assert!((grown - expected).abs() < 1e-6, "{grown} {expected}");
    let tall = height(&h);
    // Its volume is measured, not the template's.
    assert!(h.editor.is_volume_stale());
    let volume = volume(&mut h);
    assert!(volume > 1.05 * before_m3, "{volume} {before_m3}");
    assert!(
        (f64::from(tall) - report.height[1]).abs() < 1e-3,
        "{tall} {:?}",
        report.height
    );
    // The bones are where the body has them.
    let world = h.editor.world().to_vec();
    let mut joints = template.skeleton().live_joints();
    let joint = joints
        .find(|j| template.skeleton().joint(*j).name == "head")
        .unwrap();
    let rest = template.rest_pose().world_matrices(template.skeleton());
    assert!(
        world[joint.get()]
            .translation
            .distance(rest[joint.get()].translation)
            > 1e-3
    );
    // What is exported is what is shown.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("person.glb");
    h.editor.export_settings_mut().correction = Some(Correction::None);
    h.editor.save_export(&path);
    h.settle();
    let read = open_any(&path, &Task::new()).unwrap().document;
    assert!((read.body().unwrap().height() - report.height[1]).abs() < 1e-5);
    h.editor.show_individual(false);
    h.settle();
    let plain = folder.path().join("template.glb");
    h.editor.save_export(&plain);
    h.settle();
    let read = open_any(&plain, &Task::new()).unwrap().document;
    assert!((read.body().unwrap().height() - f64::from(before)).abs() < 1e-4);
    // A pose is made on the template, and the individual takes it.
    h.editor.show_individual(true);
    h.settle();
    let turned = JointId(template.skeleton().order()[2]);
    h.editor.select_joint(Some(turned));
    h.editor.reset_pose(sinew::editor::ResetPart::All);
    h.settle();
    // Another table is fitted, a broken one says why, and undo returns.
    let mut broken = rows.clone();
    broken[1].bone = "wing".into();
    h.editor.measure(broken, FitOptions::default(), "Measure");
    h.settle();
    let why = h.editor.individual_failure().unwrap();
    assert_eq!(why, "Row 2: there is no bone or role \"wing\".");
    assert!(!h.editor.shows_individual() && (height(&h) - before).abs() < 1e-6);
    h.editor.undo();
    h.settle();
    assert_eq!(h.editor.individual_failure(), None);
    assert!((height(&h) - tall).abs() < 1e-6, "shown again");
    h.editor
        .measure(Vec::new(), FitOptions::default(), "Remove measurements");
    h.settle();
    assert!(h.editor.document().individual().is_none());
    assert!((height(&h) - before).abs() < 1e-6);
    while h.editor.history().undo_label().is_some() {
        h.editor.undo();
    }
    h.settle();
    assert!(h.editor.document().same_content(&template));
}

#[test]
fn girths_are_tapes_on_the_body_that_move_along_their_bone() {
    let mut h = character();
    let rows = rows(&h.editor.document().clone());
    let girth = rows.iter().position(|row| row.kind == Kind::Girth).unwrap();
    let value = rows[girth].value;
    h.editor.measure(rows, FitOptions::default(), "Measure");
    h.settle();
    h.editor.show_individual(true);
    h.settle();
    assert_eq!(h.editor.tapes_in(ViewId::OWN, 4), [], "nobody asked");
    h.editor.ask_for_tapes(4);
    let tapes = h.editor.tapes_in(ViewId::OWN, 5);
    assert_eq!(h.editor.tapes_in(ViewId::OWN, 6), [], "no longer");
    assert_eq!(tapes.len(), 2, "one a side");
    assert_ne!(tapes[0].joint, tapes[1].joint);
    for tape in &tapes {
        assert_eq!((tape.row, tape.at), (girth, 0.5));
        // The person's girth, on the body at rest.
        let (number, unit) = tape.length.split_once(' ').unwrap();
        assert_eq!(unit, "cm");
        let off = number.parse::<f64>().unwrap() - value;
        assert!(off.abs() < 0.06, "{}", tape.length);
        // In the middle of the bone, around it.
        let sum: Vec3 = tape.curve.iter().sum();
        let centre = (sum / tape.curve.len() as f32).as_dvec3();
        let [head, tail] = tape.bone;
        let along = (centre - head).dot(tail - head) / (tail - head).length_squared();
        assert!((along - 0.5).abs() < 0.02, "{along}");
    }
    let n_steps = h.editor.history().n_undo();
    h.editor.move_tape(girth, 0.7);
    h.settle();
    assert_eq!(h.editor.individual_failure(), None);
    let moved = h.editor.tapes_in(ViewId::OWN, 5);
    assert!(
        moved
            .iter()
            .all(|tape| tape.at == 0.7 && tape.length == tapes[0].length)
    );
    assert_eq!(h.editor.history().n_undo(), n_steps + 1);
    assert_eq!(h.editor.history().undo_label(), Some("Move tape"));
    h.editor.undo();
    h.settle();
    assert_eq!(h.editor.tapes_in(ViewId::OWN, 5), tapes);
    h.check();
}

#[test]
fn a_table_is_read_in_the_background() {
    let mut h = character();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.csv");
    std::fs::write(&path, "kind,value,unit\nheight,180,cm\n").unwrap();
    h.editor.import_measurements(&path);
    h.settle();
    let individual = h.editor.document().individual().unwrap();
    assert_eq!(individual.rows.len(), 1);
    assert_eq!(h.editor.history().undo_label(), Some("Import measurements"));
    h.editor.add_measurement(Kind::Length);
    h.settle();
    assert_eq!(h.editor.document().individual().unwrap().rows.len(), 2);
    let shape = h.editor.individual_shape().unwrap();
    assert!((shape.report.height[1] - 1.8).abs() < 1e-4);
    std::fs::write(&path, "kind,value\nheight,tall\n").unwrap();
    h.editor.import_measurements(&path);
    h.settle();
    assert_eq!(
        h.editor.document().individual().unwrap().rows.len(),
        2,
        "nothing changed"
    );
}

/// Writes the surface on screen, moved, as a scan.
fn write_scan(h: &EditorHarness, path: &Path, by: Vec3) {
    let (mut text, mut first) = (String::new(), 1);
    for shown in h.editor.displayed().values() {
        for p in shown.positions.iter() {
            let p = *p + by;
            writeln!(text, "v {} {} {}", p.x, p.y, p.z).unwrap();
        }
        for t in &shown.mesh.topology().triangles {
            let [a, b, c] = t.map(|point| point + first);
            writeln!(text, "f {a} {b} {c}").unwrap();
        }
        first += shown.positions.len() as u32;
    }
    std::fs::write(path, text).unwrap();
}

#[test]
fn the_body_on_screen_is_compared_with_a_scan_in_the_background() {
    let mut h = EditorHarness::new();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scan.obj");
    let id = *h.editor.displayed().keys().next().unwrap();
    let by = Vec3::splat(0.003 / 3f32.sqrt());
    write_scan(&h, &path, by);
    h.editor.show_heat_map(Some(Metric::ScanDistance));
    h.settle();
    assert!(h.editor.heat_map_in(ViewId::OWN, id).is_none());
    // Where its file places it, it is 3 mm aside.
    let as_placed = ScanOptions {
        align: Align::None,
        ..ScanOptions::default()
    };
    h.editor.set_scan_options(as_placed);
    h.editor.compare_with_scan(&path);
    assert!(h.editor.comparing_scan().is_some());
    h.settle();
    assert_eq!(h.editor.scan_failure(), None);
    let scan = h.editor.scan_comparison().unwrap();
    assert!(scan.accuracy.alignment.is_none());
    let found = scan.accuracy.body;
    assert!(found.rms > 1e-3 && found.max.abs() <= 0.003 + 1e-6);
    assert_eq!(found.within_5mm, 1.0);
    assert!(!scan.body_at.bone.is_empty() && scan.body_at.target.is_some());
    let map = h.editor.heat_map_in(ViewId::OWN, id).unwrap();
    let n_points = h.editor.displayed()[&id].positions.len();
    assert_eq!(map.values.len(), n_points);
    // The scan is outside of one side of the body, and inside of the other.
    let figures = h.editor.heat_figures(ViewId::OWN).unwrap();
    assert!(figures.summary.max > 0.0015 && figures.summary.min < -0.0015);
    assert!(figures.worst.is_some() && h.editor.worst_place(ViewId::OWN).is_some());
    assert!(!h.editor.is_scan_stale() && !h.editor.history().is_modified());
    // Aligned, it is the body.
    h.editor.set_scan_options(ScanOptions::default());
    assert!(h.editor.is_scan_stale());
    h.editor.compare_again();
    h.settle();
    let scan = h.editor.scan_comparison().unwrap();
    assert!(scan.accuracy.alignment.is_some() && scan.accuracy.scan.rms < 1e-5);
    // Another pose is said to be another one.
    let clip = *h.editor.document().clips().keys().next().unwrap();
    h.editor.show_clip(Some(clip));
    h.editor.set_time(0.5);
    h.editor.show_heat_map(Some(Metric::ScanDistance));
    h.settle();
    assert!(h.editor.is_scan_stale());
    let stack = StackChoice::Preset(StackPreset::ALL[1]);
    h.editor.show_views(std::slice::from_ref(&stack));
    h.settle();
    let badge = h.editor.scan_badge(h.editor.view_of(&stack).unwrap());
    assert_eq!(
        badge,
        Some("The scan was compared on another deformer stack.")
    );
    let badge = h.editor.scan_badge(ViewId::OWN).unwrap();
    assert!(badge.starts_with("The model has changed since these distances were measured."));
    h.editor.show_clip(None);
    h.settle();
    assert!(!h.editor.is_scan_stale());
    assert_eq!(h.editor.scan_badge(ViewId::OWN), None);
    // What cannot be read says why, and the figures stay; a cancelled one too.
    let missing = folder.path().join("none.ply");
    h.editor.compare_with_scan(&missing);
    h.settle();
    let why = h.editor.scan_failure().unwrap();
    assert!(why.contains("none.ply cannot be read"), "{why}");
    h.editor.compare_with_scan(&path);
    h.editor.cancel_scan();
    h.settle();
    assert!(h.editor.scan_comparison().is_some());
    h.editor.forget_scan();
    h.settle();
    assert!(h.editor.scan_comparison().is_none());
    assert!(h.editor.heat_map_in(ViewId::OWN, id).is_none());
}

#[test]
fn a_what_if_is_compared_with_the_individual_in_views_of_their_own() {
    let mut h = character();
    let template = h.editor.document().clone();
    let before = height(&h);
    h.editor.duplicate_individual();
    assert!(
        h.editor.document().person(Person::WhatIf).is_none(),
        "of what?"
    );
    let rows = rows(&template);
    h.editor.measure(rows, FitOptions::default(), "Measure");
    h.settle();
    let measured = h.editor.document().individual().unwrap().clone();
    h.editor.duplicate_individual();
    assert_eq!(
        h.editor.history().undo_label(),
        Some("Duplicate as what-if")
    );
    assert_eq!(h.editor.edited_person(), Person::WhatIf);
    let mut rows = h.editor.measurements().unwrap().rows.clone();
    rows[0].value *= 1.1;
    h.editor
        .measure(rows, measured.options, "Change measurements");
    h.settle();
    assert_eq!(h.editor.individual_failure(), None);
    assert_eq!(*h.editor.document().individual().unwrap(), measured);
    // Each in a view of its own, while the template is on screen.
    let choices = BodyChoice::ALL.map(StackChoice::Body);
    h.editor.show_views(&choices);
    h.settle();
    let views = choices
        .clone()
        .map(|choice| h.editor.view_of(&choice).unwrap());
    let [low, middle, high] = views.map(|view| height_in(&h, view));
    assert!((low - before).abs() < 1e-6 && (height(&h) - before).abs() < 1e-6);
    assert!((middle / low - 1.08).abs() < 2e-3, "{middle} {low}");
    assert!((high / middle - 1.1).abs() < 2e-3, "{high} {middle}");
    let shape = h.editor.shape_of(Person::WhatIf).unwrap();
    let document = shape.of(h.editor.document());
    let mut full = Evaluator::default();
    full.evaluate(&document, document.shown_pose().at(document.shown_moment()));
    for (id, shown) in h.editor.displayed_in(views[2]) {
        assert_eq!(
            shown.positions.as_slice(),
            full.plan(*id).unwrap().positions()
        );
    }
    // With bones of their own.
    let top = |view: ViewId| {
        let bones = h.editor.bones_in(view);
        bones
            .iter()
            .map(|bone| bone.head.y)
            .fold(f32::MIN, f32::max)
    };
    assert!(top(views[2]) > top(views[1]) && top(views[1]) > top(ViewId::OWN));
    assert!(h.editor.shows_other_body(views[2]) && !h.editor.shows_other_body(ViewId::OWN));
    // A click there picks the bone that is drawn there, which is not where the template has it.
    let drawn = h.editor.bones_in(views[2]);
    let highest = drawn.iter().max_by(|a, b| a.head.y.total_cmp(&b.head.y));
    let highest = *highest.unwrap();
    let at = ndc(&h, highest.head.lerp(highest.tail, 0.5));
    h.editor.point_in(views[2]);
    assert_eq!(h.editor.pick_bone(at, SIZE), Some(highest.joint));
    let place = h.editor.pointed_world()[highest.joint.get()].translation;
    assert!((place.y - f64::from(highest.head.y)).abs() < 1e-5);
    let seen = PickableBones::XRay;
    assert_eq!(
        h.editor.pick_bone_in_view(at, SIZE, seen),
        Some(highest.joint)
    );
    h.editor.point_in(ViewId::OWN);
    assert_ne!(h.editor.pick_bone(at, SIZE), Some(highest.joint));
    assert_ne!(
        h.editor.pick_bone_in_view(at, SIZE, seen),
        Some(highest.joint)
    );
    assert_eq!(h.editor.pointed_world(), h.editor.world());
    assert!(
        views
            .iter()
            .all(|view| h.editor.body_badge(*view).is_none())
    );
    // How far they are apart.
    h.editor.set_difference(Difference {
        of: Some(choices[2].clone()),
        to: choices[1].clone(),
    });
    h.editor.show_heat_map(Some(Metric::Difference));
    h.settle();
    let figures = *h.editor.heat_figures(ViewId::OWN).unwrap();
    assert!(figures.summary.max > 0.05, "{figures:?}");
    h.editor.show_heat_map(None);
    // The project keeps both.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("person.ron");
    h.editor.save_as(&path);
    h.settle();
    let read = open_any(&path, &Task::new()).unwrap().document;
    for person in Person::ALL {
        assert_eq!(read.person(person), h.editor.document().person(person));
    }
    // What is removed is said to be missing, and undo brings it back.
    h.editor.remove_what_if();
    h.settle();
    assert_eq!(h.editor.edited_person(), Person::Individual);
    assert_eq!(h.editor.body_badge(views[2]), Some("There is no what-if."));
    assert!((height_in(&h, views[2]) - before).abs() < 1e-6);
    h.editor.undo();
    h.settle();
    assert!((height_in(&h, views[2]) - high).abs() < 1e-6);
    while h.editor.history().undo_label().is_some() {
        h.editor.undo();
    }
    h.settle();
    assert!(h.editor.document().same_content(&template));
}

/// Bends the left forearm and skins all meshes about centres of rotation.
fn about_centres(h: &mut EditorHarness) {
    let forearm = {
        let joints = h.editor.document().skeleton().live_joints();
        let skeleton = h.editor.document().skeleton();
        let mut joints = joints.filter(|j| skeleton.label(*j).to_lowercase().contains("forearm"));
        joints.next().unwrap()
    };
    let mut local = h.editor.document().pose().locals[forearm.get()];
    local.rotation *= DQuat::from_rotation_x(1.2) * DQuat::from_rotation_z(0.8);
    let (joints, locals) = (vec![forearm], vec![local]);
    h.editor
        .apply(Edit::Pose { joints, locals }, "Bend")
        .unwrap();
    let meshes: Vec<MeshId> = h.editor.document().meshes().keys().copied().collect();
    for mesh in meshes {
        let stack = Arc::new(DeformStack::bare(SkinningMethod::CentresOfRotation));
        h.editor
            .apply(Edit::Stack { mesh, stack }, "Centres")
            .unwrap();
    }
}

/// The positions that a view shows, and those of an evaluation that computes its own centres.
fn assert_shown(h: &EditorHarness, view: ViewId, document: &Document) {
    let mut full = Evaluator::default();
    full.evaluate(document, document.shown_pose().at(document.shown_moment()));
    for (id, shown) in h.editor.displayed_in(view) {
        let wanted = full.plan(*id).unwrap().positions();
        assert_eq!(shown.positions.as_slice(), wanted, "{view:?}");
    }
}

#[test]
fn each_body_is_skinned_about_centres_of_its_own() {
    let mut h = character();
    about_centres(&mut h);
    let rows = rows(h.editor.document());
    h.editor.measure(rows, FitOptions::default(), "Measure");
    h.editor.duplicate_individual();
    let mut rows = h.editor.measurements().unwrap().rows.clone();
    rows[0].value *= 1.1;
    h.editor.measure(rows, FitOptions::default(), "Measure");
    h.editor.show_individual(true);
    h.settle();
    let choices = BodyChoice::ALL.map(StackChoice::Body);
    h.editor.show_views(&choices);
    h.settle();
    let template = h.editor.document().clone();
    let individual = h.editor.shape_of(Person::Individual).unwrap().of(&template);
    let what_if = h.editor.shape_of(Person::WhatIf).unwrap().of(&template);
    assert!(h.editor.shows_individual());
    assert_shown(&h, ViewId::OWN, &individual);
    for (choice, document) in choices.iter().zip([&template, &individual, &what_if]) {
        let view = h.editor.view_of(choice).unwrap();
        assert_eq!(h.editor.centres_badge(view), None);
        assert_shown(&h, view, document);
    }
    // A scan is compared with the same body as on the command line.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scan.obj");
    write_scan(&h, &path, Vec3::ZERO);
    let as_placed = ScanOptions {
        align: Align::None,
        ..ScanOptions::default()
    };
    h.editor.set_scan_options(as_placed);
    h.editor.compare_with_scan(&path);
    h.settle();
    let scan = h.editor.scan_comparison().unwrap();
    assert_eq!(scan.body, BodyChoice::Individual);
    assert!(
        scan.accuracy.body.max.abs() < 1e-5,
        "{:?}",
        scan.accuracy.body
    );
    assert!(!h.editor.is_scan_stale());
    // The discontinuity of each body is measured against its own plain skinning, as it is where it is alone.
    let individual_view = h.editor.view_of(&choices[1]).unwrap();
    let what_if_view = h.editor.view_of(&choices[2]).unwrap();
    h.editor.show_heat_map(Some(Metric::Discontinuity));
    h.settle();
    let together = *h.editor.heat_figures(what_if_view).unwrap();
    assert_eq!(
        h.editor.heat_figures(individual_view).unwrap().summary,
        h.editor.heat_figures(ViewId::OWN).unwrap().summary
    );
    h.editor.show_views(&choices[2..]);
    h.settle();
    let view = h.editor.view_of(&choices[2]).unwrap();
    h.editor.show_individual(false);
    h.settle();
    assert_eq!(
        h.editor.heat_figures(view).unwrap().summary,
        together.summary
    );
}

#[test]
fn a_difference_from_a_body_that_is_not_there_is_no_number() {
    let mut h = character();
    let rows = rows(h.editor.document());
    h.editor.measure(rows, FitOptions::default(), "Measure");
    h.settle();
    // A project without a what-if is that of builds before there was one, and opens without one.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("person.ron");
    h.editor.save_as(&path);
    h.settle();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("individual: ") && !text.contains("what_if"));
    let read = open_any(&path, &Task::new()).unwrap().document;
    assert!(read.individual().is_some() && read.person(Person::WhatIf).is_none());
    h.editor.set_difference(Difference {
        of: Some(StackChoice::Body(BodyChoice::Individual)),
        to: StackChoice::Body(BodyChoice::WhatIf),
    });
    h.editor.show_heat_map(Some(Metric::Difference));
    h.settle();
    assert!(h.editor.has_body(BodyChoice::Individual) && !h.editor.has_body(BodyChoice::WhatIf));
    let figures = h.editor.heat_figures(ViewId::OWN).unwrap();
    assert_eq!(figures.summary.n, 0, "{figures:?}");
    assert_eq!(
        h.editor.body_badge(ViewId::OWN),
        Some("There is no what-if.")
    );
    h.editor.duplicate_individual();
    h.settle();
    assert_eq!(h.editor.body_badge(ViewId::OWN), None);
    assert!(h.editor.heat_figures(ViewId::OWN).unwrap().summary.n > 0);
    // A table that cannot be fitted says so.
    h.editor.fit_individual();
    h.editor.poll(0.0);
    h.editor.cancel_individual();
    h.settle();
    if h.editor.individual_failure().is_some() {
        let badge = h.editor.body_badge(ViewId::OWN).unwrap();
        assert!(
            badge.starts_with("The what-if could not be fitted"),
            "{badge}"
        );
    }
}

#[test]
fn rows_that_arrive_after_another_table_is_edited_are_dropped() {
    let mut h = character();
    let rows = rows(h.editor.document());
    h.editor.measure(rows, FitOptions::default(), "Measure");
    h.editor.duplicate_individual();
    h.settle();
    let known = h.editor.document().individual().unwrap().clone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("person.csv");
    std::fs::write(&path, "kind,value,unit\nheight,1.9,m\n").unwrap();
    assert_eq!(h.editor.edited_person(), Person::WhatIf);
    h.editor.import_measurements(&path);
    // The what-if is gone before the file is read.
    h.editor.undo();
    h.settle();
    assert_eq!(h.editor.edited_person(), Person::Individual);
    assert_eq!(*h.editor.document().individual().unwrap(), known);
    // Measurements are those of the person, whichever table is edited.
    h.editor.redo();
    h.editor.edit_person(Person::WhatIf);
    h.editor.remove_measurements();
    h.settle();
    assert!(h.editor.document().individual().is_none());
    assert!(h.editor.document().person(Person::WhatIf).is_some());
}

#[test]
fn hidden_meshes_are_left_out_of_a_comparison_with_a_scan() {
    let mut h = character();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scan.obj");
    write_scan(&h, &path, Vec3::ZERO);
    let ids: Vec<_> = h.editor.displayed().keys().copied().collect();
    h.editor.compare_with_scan(&path);
    h.settle();
    let all = h.editor.scan_comparison().unwrap().accuracy.body.n;
    assert!(h.editor.heat_map_in(ViewId::OWN, ids[0]).is_none());
    h.editor.set_instance_hidden(ids[0], true);
    h.settle();
    assert!(h.editor.is_scan_stale());
    h.editor.compare_again();
    // Cleared while it runs, nothing is said.
    h.editor.forget_scan();
    h.settle();
    assert_eq!(h.editor.scan_failure(), None);
    h.editor.compare_with_scan(&path);
    h.settle();
    match h.editor.scan_comparison() {
        Some(scan) => assert!(scan.accuracy.body.n < all),
        None => assert!(ids.len() == 1 && h.editor.scan_failure().is_some()),
    }
}

#[test]
fn a_project_of_the_command_line_is_framed_and_a_saved_view_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.ron");
    let document = open_any("assets/mannequin.glb".as_ref(), &Task::new())
        .unwrap()
        .document;
    project::save(&document, &path, &Task::new()).unwrap();
    let open = || EditorHarness::on(OpenRequest::Path(path.clone()));
    let camera = |h: &EditorHarness| h.editor.document().session().camera;
    let mut h = open();
    assert_ne!(camera(&h), document.session().camera);
    let model = EditorHarness::on(OpenRequest::Path("assets/mannequin.glb".into()));
    assert_eq!(camera(&h), camera(&model));
    h.editor.camera_mut().yaw += 0.5;
    h.editor.save_as(&path);
    h.settle();
    assert_eq!(camera(&open()), camera(&h));
}

/// The document that a view of a body shows.
fn what_if(h: &EditorHarness) -> Document {
    let table = h.editor.document().person(Person::WhatIf).unwrap();
    let shape = h.editor.shape_of(Person::WhatIf).unwrap();
    shape.of_table(h.editor.document(), table)
}

/// The points of the first mesh in a view.
fn points_in(h: &EditorHarness, choice: &StackChoice) -> Vec<Vec3> {
    let view = h.editor.view_of(choice).unwrap();
    let shown = h.editor.displayed_in(view).values().next().unwrap();
    shown.positions.to_vec()
}

#[test]
fn a_what_if_has_a_limit_of_its_own_which_clips_keep_to() {
    let mut h = EditorHarness::on(OpenRequest::Path("assets/arm.glb".into()));
    let template = h.editor.document().clone();
    h.editor.add_measurement(Kind::Length);
    h.settle();
    h.editor.duplicate_individual();
    h.settle();
    let named = |name: &str| {
        let mut joints = template.skeleton().live_joints();
        joints
            .find(|j| template.skeleton().joint(*j).name == name)
            .unwrap()
    };
    let forearm = named("forearm");
    h.editor.add_varied_limits(forearm);
    assert_eq!(h.editor.history().undo_label(), Some("Add limit"));
    let limits = JointLimits([[0.0, 0.5], [0.0; 2], [0.0; 2]]);
    let own = Variation::Limits {
        joint: forearm,
        limits,
    };
    h.editor.vary(vec![own.clone()], "Change limits and gains");
    let choices = [BodyChoice::Individual, BodyChoice::WhatIf].map(StackChoice::Body);
    h.editor.show_views(&choices);
    // The clip bends the elbow by 120 degrees about x in its middle.
    let clip = template
        .clips()
        .iter()
        .find(|(_, clip)| clip.name == "Bend")
        .unwrap();
    h.editor.show_clip(Some(*clip.0));
    h.editor.set_time(1.2);
    h.settle();
    let bend = |document: &Document| {
        let rest = template.skeleton().joint(forearm).rest.rotation;
        let now = document.shown_pose().locals[forearm.get()].rotation;
        (rest.conjugate() * now).to_scaled_axis()
    };
    let free = bend(h.editor.document());
    assert!((free.x.to_degrees() - 120.0).abs() < 1e-4, "{free}");
    let held = bend(&what_if(&h));
    assert!((held.x - 0.5).abs() < 1e-9 && held.y.abs() < 1e-9, "{held}");
    assert!(points_in(&h, &choices[0]) != points_in(&h, &choices[1]));
    // Within the limits both are the same.
    h.editor.set_time(0.0);
    h.settle();
    let apart = |h: &EditorHarness| {
        let [a, b] = choices.each_ref().map(|choice| points_in(h, choice));
        let apart = a.iter().zip(&b).map(|(a, b)| a.distance(*b));
        apart.fold(0.0, f32::worse)
    };
    assert!(apart(&h) < 1e-6);
    // Saved and read again; the clip and the template's own limits are untouched.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.ron");
    project::save(h.editor.document(), &path, &Task::new()).unwrap();
    let read = open_any(&path, &Task::new()).unwrap().document;
    let table = read.person(Person::WhatIf).unwrap();
    assert_eq!(table.variations, [own]);
    assert_eq!(read.individual().unwrap().variations, []);
    assert!(read.constraints().is_empty());
    assert_eq!(read.skeleton().joint(forearm).rule.limits, None);
    // The command line has it too.
    let skinned = |body: &str, time: &str| {
        let out = folder.path().join("p.npy");
        let (file, to) = (text(&path), text(&out));
        done(&[
            "skin", file, "--clip", "Bend", "--time", time, "--body", body, "--out", to,
        ]);
        std::fs::read(&out).unwrap()
    };
    assert!(skinned("what-if", "1.2") != skinned("individual", "1.2"));
    assert!(skinned("what-if", "0.0") == skinned("individual", "0.0"));
    // Undone in steps: the change, the new limit.
    h.editor.undo();
    let free = JointLimits([JointLimits::FREE; 3]);
    let first = Variation::Limits {
        joint: forearm,
        limits: free,
    };
    assert_eq!(h.editor.variations(), [first]);
    h.editor.undo();
    assert_eq!(h.editor.variations(), []);
    h.editor.set_time(1.2);
    h.settle();
    assert!(apart(&h) < 1e-6);
    // Values that are none are refused in a sentence.
    let limits = JointLimits([[1.0, 0.0]; 3]);
    h.editor.vary(
        vec![Variation::Limits {
            joint: forearm,
            limits,
        }],
        "Change",
    );
    assert_eq!(h.editor.variations(), []);
    h.settle();
    assert!(
        h.last_notice().contains("a limit is no range of angles"),
        "{}",
        h.last_notice()
    );
    h.check();
}

#[test]
fn a_what_if_has_a_gain_of_its_own() {
    let mut h = EditorHarness::on(OpenRequest::Sample("control-clusters-arm".into()));
    let gains = h.editor.document().gains();
    let muscle = gains
        .iter()
        .find(|gain| gain.kind == GainKind::Muscle)
        .unwrap()
        .clone();
    h.editor.add_measurement(Kind::Length);
    h.settle();
    h.editor.duplicate_individual();
    h.editor.add_varied_gain(muscle.clone());
    let choices = [BodyChoice::Individual, BodyChoice::WhatIf].map(StackChoice::Body);
    h.editor.show_views(&choices);
    let clip = *h.editor.document().clips().keys().next().unwrap();
    h.editor.show_clip(Some(clip));
    h.editor.set_time(2.0);
    h.settle();
    let shown = |h: &EditorHarness| choices.each_ref().map(|choice| points_in(h, choice));
    let [own, same] = shown(&h);
    assert_eq!(own, same, "a factor of 1 changes nothing");
    let amplitude = |document: &Document| {
        let item = document
            .meshes()
            .values()
            .find(|item| !item.clusters.is_empty())
            .unwrap();
        let (_, muscle) = item.clusters.muscles().next().unwrap();
        muscle.settings.amplitude
    };
    let before = amplitude(&what_if(&h));
    let serial = std::ptr::from_ref(h.editor.shape_of(Person::WhatIf).unwrap());
    let gain = |factor: f64| {
        let gain = muscle.clone();
        vec![Variation::Gain { gain, factor }]
    };
    h.editor.vary(gain(3.0), "Change limits and gains");
    h.settle();
    assert_eq!(amplitude(&what_if(&h)), 3.0 * before);
    assert_eq!(
        std::ptr::from_ref(h.editor.shape_of(Person::WhatIf).unwrap()),
        serial,
        "no fit is needed"
    );
    let [other, stronger] = shown(&h);
    assert_eq!(own, other, "the individual keeps its gains");
    let apart = own.iter().zip(&stronger).map(|(a, b)| a.distance(*b));
    let apart = apart.fold(0.0, f32::max);
    assert!(apart > 1e-3, "{apart}");
    // The parts keep their identity, so that nothing is computed again.
    let [a, b] = [what_if(&h), what_if(&h)];
    let items = a.meshes().values().zip(b.meshes().values());
    assert!(items.into_iter().all(|(a, b)| Arc::ptr_eq(a, b)));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.ron");
    project::save(h.editor.document(), &path, &Task::new()).unwrap();
    let read = open_any(&path, &Task::new()).unwrap().document;
    assert_eq!(read.person(Person::WhatIf).unwrap().variations, gain(3.0));
    // A gain of a layer that is gone does nothing.
    let lost = Gain {
        layer: "gone".into(),
        ..muscle.clone()
    };
    h.editor.vary(
        vec![Variation::Gain {
            gain: lost,
            factor: 3.0,
        }],
        "Change",
    );
    h.settle();
    let [_, plain] = shown(&h);
    assert_eq!(own, plain);
    // A factor with which the layer is not valid is refused, with its reason; one that becomes such a factor is a problem.
    h.editor.vary(gain(2.0), "Change");
    let groups = h.editor.cluster_groups();
    let group = groups.iter().position(|group| group.name == muscle.group);
    h.editor.choose_group(group.expect("its group") as u16);
    let raise = |h: &mut EditorHarness, to: f64| {
        let raised = h
            .editor
            .set_muscle(0, "Raise", |muscle| muscle.amplitude = to);
        h.settle();
        assert!(raised, "{}", h.last_notice());
    };
    let of_what_if = |h: &EditorHarness| {
        let problems = h.editor.problems().iter();
        let of = problems.filter(|f| f.to_string().contains("With the what-if's factor"));
        of.count()
    };
    raise(&mut h, 2e4);
    h.editor.vary(gain(100.0), "Change");
    h.settle();
    let why = h.last_notice();
    assert!(
        why.contains("cannot be multiplied by this factor: the amplitude"),
        "{why}"
    );
    assert_eq!(h.editor.variations(), gain(2.0));
    assert_eq!(of_what_if(&h), 0);
    raise(&mut h, 6e5);
    assert_eq!(of_what_if(&h), 1);
    // It comes down in steps, and the first one is not enough.
    h.editor.vary(gain(1.9), "Change");
    h.settle();
    assert_eq!(h.editor.variations(), gain(1.9), "{}", h.last_notice());
    assert_eq!(of_what_if(&h), 1);
    h.editor.vary(gain(1.0), "Change");
    h.settle();
    assert_eq!(of_what_if(&h), 0);
    h.editor.vary(gain(-1.0), "Change");
    h.settle();
    assert!(
        h.last_notice()
            .contains("multiplied by -1, which is not 0 - 100"),
        "{}",
        h.last_notice()
    );
    h.check();
}

#[test]
fn faces_that_the_fit_flipped_are_on_the_fold_over_map() {
    let Some(shared) = shared_dir("flipped faces on screen") else {
        return;
    };
    let path = shared.join("models/cesium_man/cesium_man.glb");
    let mut h = EditorHarness::on(OpenRequest::Path(path));
    let body = h.editor.document().body().unwrap();
    let mut rows = Vec::new();
    for _ in 0..4 {
        let mut row = next_row(&body, &rows, Kind::Length).unwrap();
        row.value *= 2.0;
        rows.push(row);
    }
    h.editor
        .measure(rows.clone(), FitOptions::default(), "Measure");
    h.editor.show_heat_map(Some(Metric::FoldOver));
    h.settle();
    let flipped = h.editor.individual_shape().unwrap().report.flipped;
    assert!(flipped > 0 && h.editor.fit_flips());
    let folded = |h: &EditorHarness| {
        let id = *h.editor.displayed().keys().next().unwrap();
        let map = h.editor.heat_map_in(ViewId::OWN, id).unwrap();
        map.values.iter().filter(|value| **value > 0.0).count()
    };
    let on_template = folded(&h);
    h.editor.show_individual(true);
    h.settle();
    assert!(folded(&h) > on_template, "{} {on_template}", folded(&h));
    assert!(h.editor.worst_place(ViewId::OWN).is_some());
    let smooth = FitOptions {
        flipped: FlippedFaces::Smooth,
        ..FitOptions::default()
    };
    h.editor.measure(rows, smooth, "Change measurements");
    h.settle();
    assert!(!h.editor.fit_flips());
    assert_eq!(folded(&h), on_template);
    // The option is saved.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.ron");
    project::save(h.editor.document(), &path, &Task::new()).unwrap();
    let read = open_any(&path, &Task::new()).unwrap().document;
    assert_eq!(read.individual().unwrap().options, smooth);
    h.check();
}

#[test]
fn a_renamed_bone_is_renamed_in_the_table() {
    let mut h = character();
    let rows = rows(h.editor.document());
    let mut length = rows[1].clone();
    length.side = None;
    (length.bone, length.to) = ("upper_arm.L".into(), "forearm.L".into());
    length.value = 0.6 / length.unit.metres();
    h.editor.measure(
        vec![rows[0].clone(), length],
        FitOptions::default(),
        "Measure",
    );
    h.settle();
    assert_eq!(h.editor.individual_failure(), None);
    let chain = |h: &EditorHarness| {
        let row = &h.editor.measurements().unwrap().rows[1];
        [row.bone.clone(), row.to.clone()]
    };
    let forearm = h.editor.document().skeleton().joint_named("forearm.L");
    h.editor.rename_joint(forearm.unwrap(), "lower_arm.L");
    h.settle();
    assert_eq!(chain(&h), ["upper_arm.L", "lower_arm.L"]);
    assert_eq!(h.editor.individual_failure(), None, "it is fitted again");
    assert_eq!(h.editor.history().undo_label(), Some("Rename bone"));
    h.editor.undo();
    h.settle();
    assert_eq!(chain(&h), ["upper_arm.L", "forearm.L"]);
    assert_eq!(h.editor.individual_failure(), None);
}
