//! Recordings and data of cluster groups with the headless editor: files are read in the background, channels are bound, and
//! each change is one undo step.

use crate::cli::done;
use crate::cluster_data::Water;
use crate::clusters_editor::{marked_arm, select, shown, undo_label, undoes};
use crate::editing::EditorHarness;
use glam::{DQuat, DVec3, Vec3};
use serde_json::{Value, json};
use sinew::cluster::channel::{BindingKind, RecordingId, ScalarDirection};
use sinew::cluster::procedural::DriverInput;
use sinew::cluster::{Base, DataLayer, DriverLayer, Fit};
use sinew::editor::OpenRequest;
use sinew::editor::clusters::DriverSource;
use sinew::finding::{Fix, Place};
use std::fmt::Write as _;
use std::path::Path;

const RECORDING: RecordingId = RecordingId(0);

fn data(h: &EditorHarness) -> DataLayer {
    let active = h.editor.active_group_layer::<DataLayer>();
    active.expect("data").1.clone()
}

/// The points of vertices of the grid as its file numbers them.
fn points<const N: usize>(h: &EditorHarness, vertices: [u32; N]) -> [u32; N] {
    let mesh = h.editor.clustered_mesh().expect("an object");
    let of = &h.editor.document().meshes()[&mesh].geometry.point_of_vertex;
    vertices.map(|vertex| of[vertex as usize])
}

fn add(h: &mut EditorHarness, path: &Path) {
    h.editor.add_recording(path);
    h.settle();
}

/// Three markers of a plate in millimetres, beside the model: at rest over the vertices 0, 8 and 72 of the grid, then turned
/// about z and risen.
fn plate() -> (String, [[DVec3; 3]; 3]) {
    let corners = [
        DVec3::new(-2.0, 0.0, -2.0),
        DVec3::new(2.0, 0.0, -2.0),
        DVec3::new(-2.0, 0.0, 2.0),
    ];
    let moved = [0.0, 0.2, 0.4]
        .map(|angle| corners.map(|p| DQuat::from_rotation_z(angle) * p + DVec3::Y * (0.5 * angle)));
    let mut text = "PathFileType\t4\t(X/Y/Z)\tplate.trc\n\
        DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\n\
        1\t1\t3\t3\tmm\t1\n\
        Frame#\tTime\tA\t\t\tB\t\t\tC\t\t\n\
        \t\tX1\tY1\tZ1\tX2\tY2\tZ2\tX3\tY3\tZ3\n\n"
        .to_owned();
    // The space of the recording: turned by 90° about y, and 3 m away.
    let to_file = |p: DVec3| {
        let turned = DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2) * p;
        (turned + DVec3::new(3.0, 1.0, 0.0)) * 1000.0
    };
    // The first marker is not that of the first vertex.
    for (frame, places) in moved.iter().enumerate() {
        let _ = write!(text, "{}\t{}", frame + 1, frame);
        for which in [1, 2, 0] {
            let at = to_file(places[which]);
            let _ = write!(text, "\t{}\t{}\t{}", at.x, at.y, at.z);
        }
        text.push('\n');
    }
    (text, moved)
}

#[test]
fn markers_of_a_trc_file_place_clusters_in_the_editor_in_files_and_on_the_command_line() {
    let water = Water::new();
    let trc = water.join("plate.trc");
    let (text, moved) = plate();
    std::fs::write(&trc, text).unwrap();
    let mut h = EditorHarness::on(OpenRequest::Path(water.join("water.glb")));
    let corners = points(&h, [0, 8, 72]);
    select(&mut h, &corners);
    h.editor.mark_selected();
    undoes(&mut h, |h| add(h, &trc));
    assert_eq!(undo_label(&h), "Add recording · plate");
    assert!(
        h.last_notice()
            .contains("plate: 3 channels, 3 samples at 1 Hz.")
    );
    undoes(&mut h, |h| assert!(h.editor.add_data(RECORDING)));
    assert_eq!(undo_label(&h), "Add data · plate");
    // Two of them are bound by hand, which fits the third.
    for (point, marker) in corners.into_iter().zip(["C", "A"]) {
        select(&mut h, &[point]);
        undoes(&mut h, |h| h.editor.add_binding(0, marker));
    }
    assert_eq!(undo_label(&h), "Data binding · plate");
    assert_eq!(data(&h).bindings[0].kind, BindingKind::Delta);
    undoes(&mut h, |h| h.editor.set_binding_places(0, 0, true));
    assert_eq!(undo_label(&h), "Data kind · plate");
    assert!(h.last_notice().contains("the group is driven by Data"));
    assert_eq!(h.editor.cluster_groups()[0].base, Base::Data);
    undoes(&mut h, |h| h.editor.set_binding_places(0, 1, true));
    undoes(&mut h, |h| h.editor.bind_nearest(0));
    let bound: Vec<(String, Vec<u32>)> = data(&h)
        .bindings
        .iter()
        .map(|b| (b.channel.clone(), b.clusters.clone()))
        .collect();
    let expected = ["C", "A", "B"].map(str::to_owned).into_iter().zip(corners);
    let expected: Vec<_> = expected.map(|(name, p)| (name, vec![p])).collect();
    assert_eq!(bound, expected);
    h.editor.bind_nearest(0);
    assert!(h.settle_and_notice().contains("every marker with a value"));
    h.editor.set_data(0, "sampling", |layer| {
        layer.played.sampling.max_gap = Some(2.0);
    });
    h.settle();

    // The rest fits exactly. A vertex that moves away is named, and how far it is.
    let fit = h.editor.data_residual(0).unwrap();
    assert_eq!(fit.n_markers, 3);
    assert!(fit.rms < 1e-6 && fit.largest < 1e-6, "{fit:?}");

    let clip = *h.editor.document().clips().keys().next().unwrap();
    h.editor.show_clip(Some(clip));
    let check = |shape: &[Vec3], which: [u32; 3], places: &[DVec3; 3], what: &str| {
        for (at, place) in which.into_iter().zip(places) {
            let off = shape[at as usize].as_dvec3().distance(*place);
            assert!(off < 1e-5, "{what}: vertex {at} is {off} away");
        }
    };
    for (secs, places) in [0.0, 1.0, 2.0].into_iter().zip(&moved) {
        h.editor.set_time(secs);
        h.settle();
        check(&shown(&h), corners, places, &format!("{secs} s"));
    }
    // The same in the saved project.
    let project = water.join("plate.ron");
    h.editor.save_as(&project);
    h.settle();
    for (secs, places) in ["0", "1", "2"].into_iter().zip(&moved) {
        check(&water.skin(&project, secs), [0, 8, 72], places, secs);
    }
    let mut again = EditorHarness::on(OpenRequest::Path(project));
    assert_eq!(data(&again), data(&h));
    again.editor.set_time(2.0);
    again.settle();
    check(&shown(&again), corners, &moved[2], "opened again");
}

/// The distances of markers from their vertices that the fit leaves, by hand: without a fit the positions as they are.
#[test]
fn the_residual_of_a_fit_counts_its_markers_and_names_the_worst() {
    let water = Water::new();
    let csv = water.join("plate.csv");
    let mut text = "time".to_owned();
    for name in ["A", "B", "C", "D"] {
        let _ = write!(text, ",{name}.x[mm],{name}.y[mm],{name}.z[mm]");
    }
    // At the vertices 0, 8, 72 and 80 of the grid, but for D, 30 mm above; 4 markers, of which D has no value at 1 s.
    text.push_str("\n0,-2000,0,-2000,2000,0,-2000,-2000,0,2000,2000,30,2000\n");
    text.push_str("1,-2000,0,-2000,2000,0,-2000,-2000,0,2000,,,\n");
    text.push_str("2,-2000,0,-2000,2000,0,-2000,-2000,0,2000,2000,30,2000\n");
    std::fs::write(&csv, text).unwrap();
    let mut h = EditorHarness::on(OpenRequest::Path(water.join("water.glb")));
    let corners = points(&h, [0, 8, 72, 80]);
    select(&mut h, &corners);
    h.editor.mark_selected();
    add(&mut h, &csv);
    h.editor.add_data(RECORDING);
    h.settle();
    for (point, marker) in corners.into_iter().zip(["A", "B", "C", "D"]) {
        select(&mut h, &[point]);
        h.editor.add_binding(0, marker);
    }
    h.editor.set_data(0, "fit", |layer| layer.fit = Fit::None);
    let fit = h.editor.data_residual(0).unwrap();
    assert_eq!((fit.n_markers, fit.worst.as_str()), (4, "D"));
    assert!((fit.largest - 0.03).abs() < 1e-6, "{fit:?}");
    assert!((fit.rms - 0.015).abs() < 1e-6, "{fit:?}");
    // Fitted, the corners of the square share what is left: 7.5 mm each, to first order.
    h.editor.set_data(0, "fit", |layer| layer.fit = Fit::Rigid);
    let fit = h.editor.data_residual(0).unwrap();
    assert!((fit.rms - 0.0075).abs() < 1e-4, "{fit:?}");
    // The markers with a value at the reference time.
    h.editor.set_data(0, "reference time", |layer| {
        layer.reference = Some(1.0);
        layer.played.sampling.max_gap = Some(0.1);
    });
    let fit = h.editor.data_residual(0).unwrap();
    assert_eq!(fit.n_markers, 3);
    assert!(fit.rms < 1e-6, "{fit:?}");
    h.editor
        .set_data(0, "reference time", |layer| layer.reference = None);
    h.settle();
    let project = water.join("plate.ron");
    h.editor.save_as(&project);
    h.settle();
    let said = done(&["clusters", project.to_str().unwrap(), "--json"]);
    let said: Value = serde_json::from_str(&said).unwrap();
    let found = &said["meshes"][0]["groups"][0]["data"][0]["fit"];
    assert_eq!(
        (&found["kind"], &found["markers"]),
        (&json!("rigid"), &json!(4))
    );
    assert!(
        (found["rms"].as_f64().unwrap() - 0.0075).abs() < 1e-4,
        "{found}"
    );
    assert!(found["largest"].as_f64().unwrap() >= 0.007, "{found}");
    assert!(found["worst"].is_string());
    let said = done(&["clusters", project.to_str().unwrap()]);
    assert!(said.contains("fit of 4 markers: 0.0075"), "{said}");
}

#[test]
fn what_is_said_of_a_vertex_shows_it() {
    let water = Water::new();
    let trc = water.join("plate.trc");
    std::fs::write(&trc, plate().0).unwrap();
    let mut h = EditorHarness::on(OpenRequest::Path(water.join("water.glb")));
    let corners = points(&h, [0, 8, 72]);
    select(&mut h, &corners);
    h.editor.mark_selected();
    add(&mut h, &trc);
    h.editor.add_data(RECORDING);
    h.settle();
    select(&mut h, &corners[1..2]);
    h.editor.add_binding(0, "A");
    h.editor.set_binding_places(0, 0, true);
    h.settle();
    let mesh = h.editor.clustered_mesh().unwrap();
    let target = Place::Points {
        mesh: mesh.0,
        points: [corners[1]].into(),
    };
    let selected = |h: &EditorHarness| -> Vec<u32> {
        let of = &h.editor.document().session().selected_points;
        of.get(&mesh).into_iter().flat_map(|p| p.iter()).collect()
    };
    // A second position of a vertex is refused: the notice names its object and group, and shows it on request.
    let name = h.editor.document().meshes()[&mesh].geometry.name.clone();
    let group = h.editor.cluster_groups()[0].name.clone();
    select(&mut h, &corners);
    h.editor.duplicate_group_layer::<DataLayer>(0);
    let said = h.settle_and_notice();
    assert!(
        said.starts_with(&format!("\"{name}\", group \"{group}\": the data: vertex "))
            && said.contains("two bindings of the kind Position"),
        "{said}"
    );
    assert_eq!(selected(&h), corners, "a refusal selects nothing by itself");
    let notice = h.notices.last().unwrap().clone();
    assert_eq!(notice.target.as_ref(), Some(&target));
    assert_eq!(
        h.editor.messages().back().unwrap().target.as_ref(),
        Some(&target)
    );
    h.editor.go_to_place(&target);
    assert_eq!(selected(&h), [corners[1]]);

    // A binding whose vertex left the group is a problem that selects it.
    h.editor.unmark_selected();
    h.settle();
    let problems = h.editor.problems().clone();
    let mut elsewhere = problems
        .iter()
        .filter(|f| f.message.contains("that this group does not have"));
    let elsewhere = elsewhere.next().expect("a problem");
    assert_eq!(elsewhere.target.as_ref(), Some(&target));
    select(&mut h, &corners);
    assert!(h.editor.go_to(elsewhere));
    assert_eq!(selected(&h), [corners[1]]);
}

#[test]
fn a_file_that_cannot_be_read_is_refused_with_its_line_and_column() {
    let mut h = marked_arm();
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("bad.csv");
    std::fs::write(&bad, "time,load\n0,1\n1,1\n2,1\nlate,7\n").unwrap();
    let n = h.editor.history().n_undo();
    add(&mut h, &bad);
    let said = h.last_notice().to_owned();
    assert!(
        said.contains("bad.csv") && said.contains("line 5") && said.contains("column 1"),
        "{said}"
    );
    assert_eq!(h.editor.history().n_undo(), n);
    add(&mut h, &folder.path().join("none.trc"));
    assert!(h.last_notice().contains("none.trc"), "{}", h.last_notice());
    assert!(h.editor.document().recordings().is_empty());
    // Mended, it is read; read again without a change, it stays.
    std::fs::write(&bad, "time,load\n0,1\n1,1\n2,1\n3,7\n").unwrap();
    add(&mut h, &bad);
    assert_eq!(h.editor.document().recordings().len(), 1);
    let n = h.editor.history().n_undo();
    add(&mut h, &bad);
    assert!(h.last_notice().contains("has not changed"));
    assert_eq!(h.editor.history().n_undo(), n);
    std::fs::write(&bad, "time,load\n0,1\n1,9\n").unwrap();
    undoes(&mut h, |h| {
        h.editor.reload_recording(RECORDING);
        h.settle();
    });
    assert_eq!(undo_label(&h), "Reload recording · bad");
}

#[test]
fn scalars_are_bound_changed_and_unbound_in_one_step_each() {
    let water = Water::new();
    let mut h = EditorHarness::on(OpenRequest::Path(water.join("water.glb")));
    select(&mut h, &[0, 8, 72]);
    h.editor.mark_selected();
    add(&mut h, &water.join("levels.csv"));
    h.editor.add_data(RECORDING);
    h.settle();
    // Without a selection all clusters of the group; a length is a length, zero as it begins, up without a skin.
    undoes(&mut h, |h| h.editor.add_binding(0, "b"));
    let made = data(&h).bindings[0].clone();
    assert_eq!((made.clusters.len(), made.scale), (3, 1.0));
    let up = BindingKind::Scalar {
        reference: 1.0,
        direction: ScalarDirection::Fixed(DVec3::Y),
    };
    assert_eq!(made.kind, up);
    select(&mut h, &[8]);
    undoes(&mut h, |h| h.editor.bind_selected(0, 0));
    assert_eq!(undo_label(&h), "Data clusters · levels");
    assert_eq!(data(&h).bindings[0].clusters, [8]);
    undoes(&mut h, |h| {
        h.editor.begin_step("Data scale · levels");
        for scale in [1.5, 2.0, 3.0] {
            h.editor
                .set_binding(0, 0, "scale", |binding| binding.scale = scale);
        }
        h.editor.end_step();
    });
    let clip = *h.editor.document().clips().keys().next().unwrap();
    h.editor.set_data(0, "sampling", |layer| {
        layer.played.sampling.max_gap = Some(10.0);
    });
    h.editor.show_clip(Some(clip));
    h.editor.set_time(2.0);
    h.settle();
    // 1.4 m at 2 s, 1 m at rest.
    assert!((shown(&h)[8].y - 1.2).abs() < 1e-6, "{}", shown(&h)[8].y);
    h.editor.remove_recording(RECORDING);
    let said = h.settle_and_notice();
    assert!(said.contains("levels"), "{said}");
    assert_eq!(h.editor.document().recordings().len(), 1);
    undoes(&mut h, |h| h.editor.remove_binding(0, 0));
    h.editor.add_binding(0, "nothing");
    assert!(h.settle_and_notice().contains("no marker and no scalar"));
    undoes(&mut h, |h| h.editor.delete_group_layer::<DataLayer>(0));
    undoes(&mut h, |h| h.editor.remove_recording(RECORDING));
    assert_eq!(undo_label(&h), "Remove recording · levels");
}

#[test]
fn a_recording_whose_file_changes_on_disk_is_a_problem_until_it_is_read_again() {
    let water = Water::new();
    let (project, _) = water.project();
    let mut h = EditorHarness::on(OpenRequest::Path(project));
    let item = |h: &EditorHarness| h.editor.document().recordings()[&RECORDING].clone();
    let before = item(&h);
    let changed = |h: &mut EditorHarness| {
        h.settle();
        let problems = h.editor.problems().iter();
        let mut changed = problems.filter(|f| f.fix == Some(Fix::Reload));
        changed.next().cloned()
    };
    assert_eq!(changed(&mut h), None);
    let file = water.join("levels.csv");
    let text = std::fs::read_to_string(&file).unwrap();
    let cut = text.trim_end().rfind('\n').unwrap();
    std::fs::write(&file, &text[..=cut]).unwrap();
    let wait = |h: &mut EditorHarness, there: bool| {
        let start = std::time::Instant::now();
        loop {
            let found = changed(h);
            if found.is_some() == there {
                return found;
            }
            assert!(start.elapsed().as_secs() < 60, "{found:?}");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    };
    let found = wait(&mut h, true).unwrap();
    assert_eq!(found.target, Some(Place::Recording(0)));
    assert!(
        found.message.contains("levels.csv changed on disk"),
        "{found}"
    );
    undoes(&mut h, |h| {
        h.editor.fix(&found, Fix::Reload);
        h.settle();
    });
    assert_eq!(undo_label(&h), "Reload recording · Levels");
    assert_ne!(item(&h), before);
    assert_eq!(wait(&mut h, false), None);
}

#[test]
fn a_recording_whose_file_is_gone_is_a_problem_with_a_fix() {
    let water = Water::new();
    let (project, _) = water.project();
    let moved = water.join("moved.csv");
    std::fs::rename(water.join("levels.csv"), &moved).unwrap();
    let mut h = EditorHarness::on(OpenRequest::Path(project));
    let item = |h: &EditorHarness| h.editor.document().recordings()[&RECORDING].clone();
    assert!(item(&h).content.is_err());
    let problems = h.editor.problems().clone();
    let mut problems = problems.iter();
    let gone = problems.find(|f| f.target == Some(Place::Recording(0)) && f.fix.is_some());
    let gone = gone.expect("a problem").clone();
    assert!(gone.message.contains("levels.csv"), "{gone}");
    assert!(h.editor.go_to(&gone));
    assert_eq!(h.editor.active_recording(), Some(RECORDING));
    h.editor.fix(&gone, Fix::Relink);
    assert_eq!(h.editor.recording_to_relink(), Some(RECORDING));
    h.editor.give_up_relinking_recording();
    undoes(&mut h, |h| {
        h.editor.relink_recording(RECORDING, &moved);
        h.settle();
    });
    assert_eq!(undo_label(&h), "Relink recording · Levels");
    assert_eq!(item(&h).path, moved);
    assert!(
        h.editor
            .problems()
            .iter()
            .all(|f| f.fix != Some(Fix::Relink))
    );
    let clip = *h.editor.document().clips().keys().next().unwrap();
    h.editor.show_clip(Some(clip));
    h.editor.set_time(1.0);
    h.settle();
    let [point] = points(&h, [8]);
    let level = shown(&h)[point as usize].y;
    assert!((level - 0.2).abs() < 1e-6, "{level}");
}

#[test]
fn a_driver_reads_the_twist_of_a_recorded_rotation() {
    let mut h = marked_arm();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("imu.csv");
    let mut text = "time,knee.qx,knee.qy,knee.qz,knee.qw\n".to_owned();
    for i in 0..=20 {
        let q = DQuat::from_rotation_x((12.0 * f64::from(i)).to_radians());
        let _ = writeln!(
            text,
            "{},{},{},{},{}",
            f64::from(i) * 0.1,
            q.x,
            q.y,
            q.z,
            q.w
        );
    }
    std::fs::write(&path, text).unwrap();
    add(&mut h, &path);
    assert!(h.editor.add_driver());
    undoes(&mut h, |h| {
        h.editor.set_driver_source(0, DriverSource::Channel);
    });
    undoes(&mut h, |h| {
        h.editor.set_driver_channel(0, RECORDING, "knee.twist_x");
    });
    assert_eq!(undo_label(&h), "Driver channel · Driver");
    let active = h.editor.active_group_layer::<DriverLayer>().unwrap().1;
    let name = "knee.twist_x".to_owned();
    assert_eq!(active.settings.input, DriverInput::Channel { name });
    let (to, gain) = (active.settings.to.to_degrees(), active.settings.gain);
    assert!((to - 240.0).abs() < 1e-6, "beyond half a turn: {to}");
    let clip = *h.editor.document().clips().keys().next().unwrap();
    h.editor.show_clip(Some(clip));
    h.editor.set_time(0.5);
    h.settle();
    let value = h.editor.driver_value().unwrap();
    assert!((value.input.unwrap().to_degrees() - 60.0).abs() < 1e-6);
    assert!((value.amount - 0.25 * gain).abs() < 1e-9);
    assert_eq!(h.editor.driver_course().unwrap().len(), 129);
}
