//! Exports computed in memory by the headless editor: looked at, out of date after an edit, cancelled, saved as they are.

use crate::cli::{asset, done, text};
use crate::editing::EditorHarness;
use crate::reference::larger;
use crate::shared::shared_dir;
use glam::{DQuat, Vec2};
use sinew::bake::BakeOptions;
use sinew::deform::{StackChoice, StackPreset};
use sinew::document::session::Normalising;
use sinew::document::{Edit, PaneLayout};
use sinew::editor::OpenRequest;
use sinew::editor::exporting::{Correction, Standing};
use sinew::evaluate::ViewId;
use sinew::skeleton::JointId;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The arm, to be corrected coarsely, in one clip and without helper joints, which is quick.
fn arm() -> EditorHarness {
    let mut h = EditorHarness::on(OpenRequest::Path(PathBuf::from(asset("arm"))));
    let first = *h.editor.document().clips().keys().next().unwrap();
    let bake = &mut h.editor.export_settings_mut().bake;
    bake.tolerance = 0.02;
    bake.max_joints = 1;
    bake.clips = vec![first];
    h
}

/// A pose that no clip has.
fn bend(h: &mut EditorHarness) {
    h.editor.show_clip(None);
    let joints = vec![JointId(1)];
    let mut local = h.editor.document().rest_pose().locals[1];
    local.rotation = DQuat::from_rotation_x(1.0) * local.rotation;
    let locals = vec![local];
    let pose = Edit::Pose { joints, locals };
    h.editor.apply(pose, "Bend").unwrap();
    h.settle();
}

/// The name of the clip that is corrected.
fn clip_name(h: &EditorHarness) -> String {
    let clips = h.editor.document().clips();
    clips.values().next().unwrap().name.clone()
}

/// The arm with a corrected export of it in memory.
fn computed(path: &Path) -> EditorHarness {
    let mut h = arm();
    h.editor.compute_export(path);
    assert!(h.editor.computing_export().is_some());
    h.settle();
    assert_eq!(h.editor.export_standing(path), Standing::Current);
    h
}

#[test]
fn a_computed_export_is_looked_at_and_saved_with_the_bytes_of_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arm-sinew.glb");
    let mut h = computed(&path);
    assert!(!path.exists(), "nothing is written yet");
    let result = h.editor.exporting().result().unwrap();
    let report = result.correction().unwrap().clone();
    assert!(report.met && report.before_max_percent > report.max_percent);
    assert_eq!(report.bytes, result.n_bytes());
    let bytes = result.exported().files[0].1.clone();

    h.editor.save_export(&path);
    assert!(h.editor.computing_export().is_none(), "not computed twice");
    h.settle();
    assert!(
        h.last_notice().starts_with("Exported arm-sinew.glb."),
        "{}",
        h.last_notice()
    );
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    let again = folder.path().join("again.glb");
    done(&[
        "export",
        &asset("arm"),
        "--out",
        text(&again),
        "--correct",
        "clips",
        "--tolerance",
        "2%",
        "--max-joints",
        "1",
        "--clips",
        &clip_name(&h),
    ]);
    assert_eq!(std::fs::read(&again).unwrap(), bytes, "as `sinew export`");
    // One file has the same bytes wherever it is saved.
    let elsewhere = folder.path().join("elsewhere.glb");
    assert_eq!(h.editor.export_standing(&elsewhere), Standing::Current);
}

#[test]
fn other_options_and_text_files_are_the_command_lines_too() {
    let folder = tempfile::tempdir().unwrap();
    let flags: [(&str, &[&str]); 3] = [
        (
            "a/frames.gltf",
            &[
                "--correct",
                "frames",
                "--tolerance",
                "3%",
                "--no-normals",
                "--dense",
            ],
        ),
        (
            "a/arm.gltf",
            &[
                "--correct",
                "clips",
                "--tolerance",
                "3%",
                "--max-joints",
                "1",
                "--signed-weights",
                "--normals-share",
                "20%",
            ],
        ),
        ("a/plain.glb", &["--influences", "8"]),
    ];
    for (name, flags) in flags {
        let (mine, theirs) = (
            folder.path().join("mine").join(name),
            folder.path().join("theirs").join(name),
        );
        for path in [&mine, &theirs] {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        }
        let mut h = arm();
        assert_eq!(h.editor.correction(), Correction::Clips, "by its stack");
        let settings = h.editor.export_settings_mut();
        if name.ends_with("gltf") {
            settings.bake.tolerance = 0.03;
            settings.bake.unipolar = false;
            settings.bake.normals_share = 0.2;
            if name.contains("frames") {
                settings.correction = Some(Correction::Frames);
                settings.bake.normals = false;
                settings.bake.sparse = false;
            }
        } else {
            settings.correction = Some(Correction::None);
            settings.influences = 8;
        }
        // Saved without a look at it: it is computed first.
        h.editor.save_export(&mine);
        h.settle();
        let arm = asset("arm");
        let mut args = vec!["export", &arm, "--out", text(&theirs)];
        args.extend(flags);
        let clip = clip_name(&h);
        if name.ends_with("gltf") {
            args.extend(["--clips", &clip]);
        }
        done(&args);
        let (mine, theirs) = (files_in(&mine), files_in(&theirs));
        assert_eq!(mine, theirs, "{name}: {}", h.last_notice());
        assert!(!mine.is_empty());
    }
}

#[test]
fn edits_options_and_places_make_a_result_stale() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arm.gltf");
    let mut h = computed(&path);
    let other = folder.path().join("other.gltf");
    assert_eq!(h.editor.export_standing(&other), Standing::PlaceChanged);
    let binary = folder.path().join("arm.glb");
    assert_eq!(h.editor.export_standing(&binary), Standing::OptionsChanged);
    h.editor.export_settings_mut().bake.max_morphs = 3;
    assert_eq!(h.editor.export_standing(&path), Standing::OptionsChanged);
    h.editor.export_settings_mut().bake.max_morphs = BakeOptions::default().max_morphs;
    assert_eq!(h.editor.export_standing(&path), Standing::Current);

    h.editor.select_joint(Some(JointId(2)));
    let at = h.place_of(2);
    h.drag(at, at + Vec2::new(0.05, 0.02), false);
    assert!(h.editor.history().is_modified());
    let standing = h.editor.export_standing(&path);
    assert_eq!(standing, Standing::ModelChanged);
    assert!(standing.sentence().unwrap().contains("Compute again"));
    let before = h.editor.exporting().result().unwrap().exported().clone();
    h.editor.save_export(&path);
    h.settle();
    let after = h.editor.exporting().result().unwrap().exported();
    assert_ne!(after.files, before.files, "computed again");
    assert_eq!(std::fs::read(&path).unwrap(), after.files[0].1);
    h.editor.open(OpenRequest::Sample("cylinder".into()));
    h.settle();
    assert_eq!(h.editor.export_standing(&path), Standing::None);
}

#[test]
fn the_project_is_saved_while_an_export_is_computed_and_a_pose_keeps_it_current() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arm.glb");
    let mut h = arm();
    h.editor.save_export(&path);
    h.editor.save_as(&folder.path().join("arm.ron"));
    h.settle();
    assert!(folder.path().join("arm.ron").is_file());
    assert!(path.is_file(), "{}", h.last_notice());
    assert_eq!(h.editor.export_standing(&path), Standing::Current);

    let posed = |h: &mut EditorHarness, degrees: f64| {
        let joint = JointId(2);
        let mut local = h.editor.document().pose().locals[joint.get()];
        local.rotation *= glam::DQuat::from_rotation_x(degrees.to_radians());
        let edit = Edit::Pose {
            joints: vec![joint],
            locals: vec![local],
        };
        h.editor.apply(edit, "Pose").unwrap();
        h.settle();
    };
    posed(&mut h, 20.0);
    assert_eq!(h.editor.export_standing(&path), Standing::Current);
    let settings = h.editor.export_settings_mut();
    settings.correction = Some(Correction::None);
    settings.write_pose_as_rest = true;
    h.editor.compute_export(&path);
    h.settle();
    assert_eq!(h.editor.export_standing(&path), Standing::Current);
    posed(&mut h, 20.0);
    assert_eq!(h.editor.export_standing(&path), Standing::ModelChanged);
}

#[test]
fn a_save_and_the_checks_end_while_an_export_is_computed() {
    let folder = tempfile::tempdir().unwrap();
    let mut h = EditorHarness::on(OpenRequest::Sample("mannequin".into()));
    h.editor.export_settings_mut().bake.tolerance = 1e-5;
    h.editor
        .compute_export(&folder.path().join("mannequin.glb"));
    let step = |h: &EditorHarness| h.editor.computing_export().unwrap().label();
    wait_until(&mut h, |h| !["", "Waiting"].contains(&step(h).as_str()));

    let n_found = h.editor.findings().len();
    let mesh = *h.editor.document().meshes().keys().next().unwrap();
    h.editor.brush_mut().normalise = Normalising::Off;
    let row = h.editor.document().meshes()[&mesh].influences.row(0);
    let cells: Vec<_> = row.iter().map(|(joint, _)| (0, joint, 0.1)).collect();
    assert_eq!(h.editor.set_weights(mesh, &cells, "Edit weights"), 0);
    wait_until(&mut h, |h| h.editor.findings().len() > n_found);
    let project = folder.path().join("arm.ron");
    h.editor.save_as(&project);
    wait_until(&mut h, |h| h.editor.saved_at().is_some());
    assert!(project.is_file() && !h.editor.history().is_modified());

    let task = h.editor.computing_export().expect("it is still computed");
    assert!(!h.editor.is_idle() && !task.is_cancelled());
    h.editor.stop_computing();
    h.settle();
    assert_eq!(
        h.last_notice(),
        "The export was cancelled. No file was written."
    );
}

fn wait_until(h: &mut EditorHarness, is_so: impl Fn(&EditorHarness) -> bool) {
    let deadline = Instant::now() + Duration::from_mins(2);
    while !is_so(h) {
        assert!(Instant::now() < deadline, "it does not come to that");
        h.editor.poll(0.0);
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn computing_can_be_cancelled_and_a_bad_option_is_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arm.glb");
    let mut h = arm();
    h.editor.save_export(&path);
    h.editor.stop_computing();
    h.settle();
    assert_eq!(
        h.last_notice(),
        "The export was cancelled. No file was written."
    );
    assert_eq!(h.editor.export_standing(&path), Standing::None);
    h.editor.export_settings_mut().bake.tolerance = 3.0;
    h.editor.compute_export(&path);
    h.settle();
    assert!(h.last_notice().contains("tolerance"), "{}", h.last_notice());
    h.editor.compute_export(&folder.path().join("arm.obj"));
    h.settle();
    assert!(h.last_notice().contains(".gltf"), "{}", h.last_notice());
    assert!(!path.exists());
}

/// Waits without a poll, so that results are not taken.
fn wait_for_jobs(h: &EditorHarness) {
    let deadline = Instant::now() + Duration::from_mins(2);
    while h.editor.running().is_some() {
        assert!(Instant::now() < deadline, "a job that ended is still shown");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn an_export_that_is_cancelled_when_it_is_ready_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arm.glb");
    let mut h = arm();
    h.editor.save_export(&path);
    wait_for_jobs(&h);
    h.editor.stop_computing();
    h.settle();
    assert_eq!(
        h.last_notice(),
        "The export was cancelled. No file was written."
    );
    assert_eq!(h.editor.export_standing(&path), Standing::None);
    assert!(!path.exists());
}

#[test]
fn an_export_that_waits_for_another_file_can_be_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arm.glb");
    let mut h = arm();
    let mesh = *h.editor.document().meshes().keys().next().unwrap();
    h.editor.brush_mut().normalise = Normalising::Off;
    h.editor.set_weights(mesh, &[(0, 0, 0.1)], "Edit weights");
    h.settle();
    // A fix cannot be taken over in the middle of a step.
    h.editor.normalise_off_sum();
    h.editor.begin_step("Drag a slider");
    assert!(h.editor.job().is_some());
    h.editor.save_export(&path);
    h.editor.begin_step("Drag a slider");
    wait_for_jobs(&h);
    for _ in 0..3 {
        h.editor.poll(0.0);
    }
    assert!(h.editor.job().is_some() && h.editor.computing_export().is_some());
    h.editor.stop_computing();
    h.editor.poll(0.0);
    assert!(h.editor.job().is_some() && h.editor.computing_export().is_none());
    h.editor.end_step();
    h.settle();
    let cancelled = "The export was cancelled. No file was written.";
    assert!(h.notices.iter().any(|n| n.text == cancelled));
    assert!(!path.exists());
    assert_eq!(h.editor.n_off_sum(), 0, "the fix goes on");
}

fn wait_for_estimate(h: &mut EditorHarness) {
    let start = Instant::now();
    while h.editor.exporting().advice().is_estimating() {
        assert!(start.elapsed() < Duration::from_mins(2), "no estimate");
        h.editor.poll(0.0);
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn what_an_export_will_come_to_is_told_before_it_is_computed() {
    let mut h = arm();
    let path = Path::new("arm.glb");
    h.editor.advise_export(path);
    h.settle();
    assert!(!h.editor.exporting().advice().findings().is_empty());
    wait_for_estimate(&mut h);
    let estimate = *h.editor.exporting().advice().estimate().unwrap();
    assert!(estimate.morph_targets > 0 && Some(estimate.error) < estimate.before);
    h.editor.measure_diagonal();
    h.settle();
    let diagonal = h.editor.rest_diagonal().unwrap();
    assert!((diagonal - estimate.diagonal).abs() < 1e-6 * diagonal);

    // Other options are told of anew; without a correction there is nothing to estimate.
    h.editor.export_settings_mut().correction = Some(Correction::None);
    h.editor.advise_export(path);
    h.settle();
    let advice = h.editor.exporting().advice();
    assert!(advice.estimate().is_none() && !advice.is_estimating());
    let findings = advice.findings().iter();
    assert!(
        findings
            .clone()
            .any(|f| f.message.contains("linear blend skinning"))
    );
    // What was stopped for computing is told again.
    h.editor.compute_export(path);
    h.editor.stop_computing();
    h.settle();
    h.editor.export_settings_mut().correction = None;
    h.editor.compute_export(path);
    h.editor.stop_computing();
    h.settle();
    h.editor.advise_export(path);
    assert!(h.editor.exporting().advice().is_estimating());
    wait_for_estimate(&mut h);
    assert!(h.editor.exporting().advice().estimate().is_some());
    h.editor.stop_advising();
    assert!(h.editor.exporting().advice().findings().is_empty());
}

#[test]
fn the_view_of_the_file_shows_what_the_report_says() {
    for correction in [Correction::Clips, Correction::Frames] {
        shows_what_the_report_says(correction);
    }
}

/// The largest distance between what is on screen and in a view, metres, and its point.
fn farthest(h: &EditorHarness, view: ViewId) -> (f32, u32) {
    let mut largest = (0.0f32, 0);
    for (id, own) in h.editor.displayed() {
        let file = &h.editor.displayed_in(view)[id];
        assert_eq!(file.normals.len(), own.normals.len());
        assert_eq!(file.positions.len(), own.positions.len());
        for (point, (a, b)) in own.positions.iter().zip(&*file.positions).enumerate() {
            assert!(a.is_finite() && b.is_finite(), "{point}: {a} {b}");
            if a.distance(*b) > largest.0 {
                largest = (a.distance(*b), point as u32);
            }
        }
    }
    largest
}

#[test]
fn frames_of_many_parts_are_seen_where_they_are() {
    let Some(shared) = shared_dir("frames_of_many_parts_are_seen_where_they_are") else {
        return;
    };
    for (model, clip) in [
        ("kaykit_knight/kaykit_knight.glb", 1),
        ("robot_expressive/robot_expressive.glb", 2),
    ] {
        let path = shared.join("models").join(model);
        let mut h = EditorHarness::on(OpenRequest::Path(path));
        let clip = *h.editor.document().clips().keys().nth(clip).unwrap();
        let settings = h.editor.export_settings_mut();
        settings.correction = Some(Correction::Frames);
        settings.bake.tolerance = 0.005;
        settings.bake.clips = vec![clip];
        h.editor.compute_export(Path::new("frames.glb"));
        h.settle();
        h.editor.show_exported(Some(PaneLayout::Two));
        h.editor.show_views(&[StackChoice::Exported]);
        h.editor.show_clip(Some(clip));
        let (start, end) = h.editor.clip_range().unwrap();
        let result = h.editor.exporting().result().unwrap();
        let report = result.correction().unwrap().clone();
        let mut most = 0.0f64;
        for i in 0..5 {
            h.editor
                .set_time(start + (end - start) * f64::from(i) / 4.0);
            h.settle();
            let view = h.editor.view_of(&StackChoice::Exported).unwrap();
            most = larger(
                most,
                100.0 * f64::from(farthest(&h, view).0) / report.diagonal,
            );
        }
        println!("{model}: {most} of {}", report.max_percent);
        assert!(most <= report.max_percent + 1e-3, "{model}: {most}");
    }
}

fn shows_what_the_report_says(correction: Correction) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arm.glb");
    let mut h = arm();
    h.editor.export_settings_mut().correction = Some(correction);
    h.editor.compute_export(&path);
    h.settle();
    h.editor.show_exported(Some(PaneLayout::Two));
    h.editor
        .show_views(&[StackChoice::Exported, StackChoice::Preset(StackPreset::Lbs)]);
    assert!(h.editor.show_worst_of_export());
    h.settle();
    let result = h.editor.exporting().result().unwrap();
    let report = result.correction().unwrap();
    let worst = report.worst.as_ref().unwrap();
    let (clip, shown) = h.editor.shown_clip().unwrap();
    assert_eq!((Some(clip), &shown.name), (worst.clip_id, &worst.clip));
    assert!(result.model().has_clip(clip));
    let view = h.editor.view_of(&StackChoice::Exported).unwrap();
    let (distance, point) = farthest(&h, view);
    let percent = 100.0 * f64::from(distance) / report.diagonal;
    assert!((percent - report.max_percent).abs() < 1e-4, "{percent}");
    assert_eq!(point, worst.point);
    let selected: Vec<_> = h
        .editor
        .document()
        .session()
        .selected_points
        .values()
        .collect();
    assert!(selected.len() == 1 && selected[0].iter().eq([point]));
    let target = h.editor.document().session().camera.target;
    let place = h.editor.displayed().values().next().unwrap().positions[point as usize];
    assert!(target.distance(place) < 1e-3, "it is framed");

    // It plays with the timeline, and stays within what was reported.
    let most = report.max_percent;
    let diagonal = report.diagonal;
    let end = h.editor.clip_range().unwrap().1;
    for i in 0..5 {
        h.editor.set_time(end * f64::from(i) / 4.0);
        h.settle();
        let percent = 100.0 * f64::from(farthest(&h, view).0) / diagonal;
        assert!(percent <= most + 1e-4, "{percent} at {i}");
    }
    // A pose that no clip has: bones that are there take it, a file without bones rests.
    let result = h.editor.exporting().result().unwrap();
    let has_bones = result.model().keeps_nodes();
    assert_eq!(has_bones, correction != Correction::Frames);
    bend(&mut h);
    let is_posed = 100.0 * f64::from(farthest(&h, view).0) / diagonal;
    assert_eq!(is_posed > 10.0, !has_bones, "{is_posed}");
    h.editor.show_exported(None);
    h.editor.show_views(&[]);
    h.settle();
    assert_eq!(h.editor.n_views(), 1);
}

#[test]
fn a_still_is_the_moment_on_screen_and_the_command_lines() {
    let folder = tempfile::tempdir().unwrap();
    let mut h = arm();
    let (clip, name) = {
        let (id, clip) = h.editor.document().clips().iter().next().unwrap();
        (*id, clip.name.clone())
    };
    assert_eq!(h.editor.shown_frame_label(), "the rest pose");
    h.editor.show_clip(Some(clip));
    h.editor.set_time(0.5);
    h.settle();
    let moment = format!("\"{name}\" at 0.500 s (frame 15)");
    assert_eq!(h.editor.shown_frame_label(), moment);
    for file in ["arm.glb", "arm.gltf", "arm.obj"] {
        let mine = folder.path().join("mine").join(file);
        let theirs = folder.path().join("theirs").join(file);
        for path in [&mine, &theirs] {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        }
        h.editor.save_static_mesh(&mine);
        assert!(h.editor.job().is_some(), "it is written elsewhere");
        h.settle();
        let told = format!("Exported {file}: {moment}.");
        assert!(h.last_notice().starts_with(&told), "{}", h.last_notice());
        let saved = h.editor.exporting().static_mesh().unwrap();
        assert_eq!(
            (saved.name().as_str(), saved.frame_label()),
            (file, &*moment)
        );
        let arm = asset("arm");
        let out = text(&theirs);
        done(&[
            "export", &arm, "--out", out, "--still", "--clip", &name, "--time", "0.5",
        ]);
        assert_eq!(files_in(&mine), files_in(&theirs), "{file}");
    }

    bend(&mut h);
    assert_eq!(h.editor.shown_frame_label(), "your own pose");
    let posed = folder.path().join("posed.obj");
    h.editor.save_static_mesh(&posed);
    h.settle();
    assert!(posed.is_file());
    // A place where nothing can be written is said.
    h.editor
        .save_static_mesh(&folder.path().join("nowhere/x.fbx"));
    h.settle();
    assert!(h.last_notice().contains(".glb"), "{}", h.last_notice());
    let saved = h.editor.exporting().static_mesh().unwrap();
    assert_eq!(saved.name(), "posed.obj", "what was saved last");
    h.editor.open(OpenRequest::Sample("hand".into()));
    h.settle();
    assert!(h.editor.exporting().static_mesh().is_none());
}

/// Names and bytes of all files beside `path`.
fn files_in(path: &Path) -> Vec<(std::ffi::OsString, Vec<u8>)> {
    let entries = std::fs::read_dir(path.parent().unwrap()).unwrap();
    let entries = entries.map(Result::unwrap);
    let mut files: Vec<_> = entries
        .map(|e| (e.file_name(), std::fs::read(e.path()).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn what_was_told_stays_until_it_is_told_anew() {
    let mut h = arm();
    let path = Path::new("arm.glb");
    h.editor.export_settings_mut().correction = Some(Correction::Frames);
    h.editor.advise_export(path);
    wait_for_estimate(&mut h);
    let first = *h.editor.exporting().advice().estimate().unwrap();
    assert!(first.morph_targets > 0 && first.before.is_none());
    // While a value is dragged.
    for tolerance in [0.012, 0.011, 0.01] {
        h.editor.export_settings_mut().bake.tolerance = tolerance;
        h.editor.advise_export(path);
        let advice = h.editor.exporting().advice();
        assert!(advice.is_estimating() && !advice.findings().is_empty());
        assert_eq!(advice.estimate(), Some(&first));
        h.editor.poll(0.0);
        let advice = h.editor.exporting().advice();
        assert!(advice.estimate().is_some() && !advice.findings().is_empty());
    }
    let start = Instant::now();
    while h.editor.exporting().advice().estimate() == Some(&first) {
        assert!(start.elapsed() < Duration::from_mins(2), "no new estimate");
        h.editor.advise_export(path);
        h.editor.poll(0.0);
        std::thread::sleep(Duration::from_millis(1));
    }
    let second = *h.editor.exporting().advice().estimate().unwrap();
    assert!(second.morph_targets > first.morph_targets && second.error <= 0.01);
    // What another correction comes to is no word on this one.
    h.editor.export_settings_mut().correction = Some(Correction::Retarget);
    h.editor.advise_export(path);
    assert!(h.editor.exporting().advice().estimate().is_none());
    assert!(!h.editor.exporting().advice().findings().is_empty());
}
