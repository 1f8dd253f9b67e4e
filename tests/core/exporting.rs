//! Exports computed in memory by the headless editor: looked at, out of date after an edit, cancelled, saved as they are.

use crate::cli::{asset, done, text};
use crate::editing::EditorHarness;
use glam::Vec2;
use sinew::bake::BakeOptions;
use sinew::deform::{StackChoice, StackPreset};
use sinew::document::{Edit, PaneLayout};
use sinew::editor::OpenRequest;
use sinew::editor::exporting::{Correction, Standing};
use sinew::skeleton::JointIndex;
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
    let flags: [(&str, &[&str]); 2] = [
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
        let read = |folder: &Path| {
            let mut files: Vec<_> = std::fs::read_dir(folder)
                .unwrap()
                .map(|e| e.unwrap())
                .map(|e| (e.file_name(), std::fs::read(e.path()).unwrap()))
                .collect();
            files.sort();
            files
        };
        let (mine, theirs) = (read(mine.parent().unwrap()), read(theirs.parent().unwrap()));
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

    h.editor.select_joint(Some(JointIndex(2)));
    let at = h.place_of(2);
    h.drag(at, at + Vec2::new(0.05, 0.02), false);
    assert!(h.editor.history().is_modified());
    let standing = h.editor.export_standing(&path);
    assert_eq!(standing, Standing::ModelChanged);
    assert!(standing.sentence().unwrap().contains("compute again"));
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
        let joint = JointIndex(2);
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
fn computing_can_be_cancelled_and_a_bad_option_is_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arm.glb");
    let mut h = arm();
    h.editor.save_export(&path);
    h.editor.stop_computing();
    h.settle();
    assert_eq!(
        h.last_notice(),
        "The export was cancelled; nothing was written."
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

#[test]
fn what_an_export_will_come_to_is_told_before_it_is_computed() {
    let mut h = arm();
    let path = Path::new("arm.glb");
    let wait = |h: &mut EditorHarness| {
        let start = Instant::now();
        while h.editor.exporting().advice().is_estimating() {
            assert!(start.elapsed() < Duration::from_mins(2), "no estimate");
            h.editor.poll(0.0);
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    h.editor.advise_export(path);
    h.settle();
    assert!(!h.editor.exporting().advice().findings().is_empty());
    wait(&mut h);
    let estimate = *h.editor.exporting().advice().estimate().unwrap();
    assert!(estimate.morph_targets > 0 && estimate.error < estimate.before);
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
            .any(|f| f.message.contains("linear skinning"))
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
    wait(&mut h);
    assert!(h.editor.exporting().advice().estimate().is_some());
    h.editor.stop_advising();
    assert!(h.editor.exporting().advice().findings().is_empty());
}

#[test]
fn the_view_of_the_file_shows_what_the_report_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arm.glb");
    let mut h = arm();
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
    let farthest = |h: &EditorHarness| {
        let mut largest = (0.0f32, 0);
        for (id, own) in h.editor.displayed() {
            let file = &h.editor.displayed_in(view)[id];
            assert_eq!(file.normals.len(), own.normals.len());
            for (point, (a, b)) in own.positions.iter().zip(&*file.positions).enumerate() {
                if a.distance(*b) > largest.0 {
                    largest = (a.distance(*b), point as u32);
                }
            }
        }
        largest
    };
    let (distance, point) = farthest(&h);
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
        let percent = 100.0 * f64::from(farthest(&h).0) / diagonal;
        assert!(percent <= most + 1e-4, "{percent} at {i}");
    }
    h.editor.show_exported(None);
    h.editor.show_views(&[]);
    h.settle();
    assert_eq!(h.editor.n_views(), 1);
}
