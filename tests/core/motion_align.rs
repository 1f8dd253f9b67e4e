//! Recordings of several devices put on one clock in the editor: by claps, by channels of the same motion.

use crate::editing::EditorHarness;
use crate::shared::shared_dir;
use serde_json::Value;
use sinew::cluster::channel::{RecordingId, RecordingItem};
use sinew::editor::OpenRequest;
use sinew::motion::align::ClockMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn character() -> EditorHarness {
    EditorHarness::on(OpenRequest::Path("assets/mannequin.glb".into()))
}

fn label(h: &EditorHarness) -> &str {
    h.editor.history().undo_label().unwrap_or_default()
}

/// Adds a recording, which becomes the active one.
fn add(h: &mut EditorHarness, path: &Path) -> RecordingId {
    h.editor.add_recording(path);
    h.settle();
    h.editor.active_recording().expect("it was added")
}

fn item(h: &EditorHarness, id: RecordingId) -> Arc<RecordingItem> {
    h.editor.document().recordings()[&id].clone()
}

fn written(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name).with_extension("csv");
    std::fs::write(&path, text).unwrap();
    path
}

/// A course at 100 Hz for 30 s that never repeats, with claps at 1 and 29 s; `late` seconds later on its own clock.
fn course(late: f64, of: impl Fn(f64) -> f64) -> String {
    let mut csv = "time,load,clap\n".to_owned();
    for i in 0..=3000 {
        let t = f64::from(i) * 0.01;
        let clap = u8::from(i == 100 || i == 2900);
        writeln!(csv, "{},{},{clap}", t + late, of(t)).unwrap();
    }
    csv
}

fn load(t: f64) -> f64 {
    (1.1 * t).sin() + 0.7 * (2.9 * t * (1.0 + 0.05 * t)).sin()
}

#[test]
fn claps_align_the_devices_of_one_elbow() {
    let Some(folder) = shared_dir("clocks").map(|shared| shared.join("motion/streams")) else {
        return;
    };
    let truth: Value =
        serde_json::from_slice(&std::fs::read(folder.join("truth.json")).unwrap()).unwrap();
    let own = tempfile::tempdir().unwrap();
    // Stated between samples: as good as exact.
    let marks =
        "# event: peak 1 at 1.000\n# event: peak 2 at 29.000\ntime,x\n0.05,1\n0.15,2\n0.25,3\n";
    let marks = written(own.path(), "marks", marks);
    let mut h = character();
    assert_eq!(h.editor.why_not_align(), Some("Add a recording first."));
    add(&mut h, &marks);
    let why = h.editor.why_not_align().unwrap();
    assert!(why.starts_with("Add another recording first"), "{why}");
    for (device, file, channel, drift, error) in [
        ("imu", "imu_forearm.csv", "accel", 201.6, "± 179 ppm"),
        ("camera", "camera_wrist.csv", "clap", -540.6, "± 298 ppm"),
    ] {
        let id = add(&mut h, &folder.join(file));
        let before = item(&h, id).clock;
        let why = h.editor.why_not_align().unwrap();
        assert!(
            why.starts_with("No stamp or event has the same name"),
            "{why}"
        );
        h.editor.set_motion_channel(id, channel);
        let steps = h.editor.history().n_undo();
        h.editor.find_claps();
        h.settle();
        let stamps = item(&h, id).stamps.clone();
        let names: Vec<&str> = stamps.iter().map(|stamp| stamp.name.as_str()).collect();
        assert_eq!(names, ["peak 1", "peak 2"], "{}", h.last_notice());
        assert_eq!(h.editor.history().n_undo(), steps + 1);
        assert!(label(&h).starts_with("Find claps · "), "{}", label(&h));
        h.editor.find_claps();
        h.settle();
        assert_eq!(h.editor.history().n_undo(), steps + 1, "they are known");

        h.editor.align_by_stamps();
        let clock = item(&h, id).clock;
        assert!((clock.drift() - drift).abs() < 1.0, "{}", clock.drift());
        assert_eq!(h.editor.history().n_undo(), steps + 2);
        assert!(label(&h).starts_with("Align by stamps · "), "{}", label(&h));
        let report = h.editor.alignment_report().to_vec();
        assert!(
            report[0].starts_with("2 pairs with marks: drift "),
            "{report:?}"
        );
        assert!(report[0].contains(error), "{report:?}");
        assert!(
            report[1].starts_with("Largest residual 0.00 ms"),
            "{report:?}"
        );
        // Against the true clock, as METHODS-twin 3.1 gives it.
        let [a, b] = ["a", "b"].map(|key| truth[device][key].as_f64().unwrap());
        let off = [0.0, 15.0, 30.0].map(|t| (clock.common((t - b) / a) - t) * 1e3);
        let limit = if device == "imu" { 0.35 } else { 4.6 };
        assert!(off.iter().all(|off| off.abs() < limit), "{device}: {off:?}");

        // One pair sets the offset alone.
        h.editor.delete_stamp(id, 1);
        h.editor.set_recording_offset(id, clock.b + 5.0);
        assert!(h.editor.alignment_report().is_empty(), "of another clock");
        h.editor.align_by_stamps();
        let one = item(&h, id).clock;
        assert!(
            one.a == clock.a && (one.b - clock.b).abs() < 1e-6,
            "{one:?}"
        );
        let report = h.editor.alignment_report();
        assert!(
            report[0].starts_with("1 pair with marks: the offset is set"),
            "{report:?}"
        );
        for _ in 0..4 {
            h.editor.undo();
        }
        assert_eq!(item(&h, id).clock, before);
        assert_eq!(item(&h, id).stamps, stamps);
        h.editor.undo();
        assert!(item(&h, id).stamps.is_empty());
    }
    h.settle();
    h.check();
}

#[test]
fn claps_without_a_drift_say_so_and_close_ones_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut h = character();
    let mut ids = Vec::new();
    for (name, late) in [("a", 0.0), ("b", 0.25)] {
        let path = written(folder.path(), name, &course(late, load));
        let id = add(&mut h, &path);
        h.editor.set_motion_channel(id, "clap");
        h.editor.find_claps();
        h.settle();
        ids.push(id);
    }
    h.editor.align_by_stamps();
    let clock = item(&h, ids[1]).clock;
    assert!(clock.a == 1.0 && (clock.b + 0.25).abs() < 1e-9, "{clock:?}");
    // Half a step of each, over 28 s.
    let report = h.editor.alignment_report();
    let expected = "2 pairs with a: the drift is not distinguishable from none (± 357 ppm).";
    assert_eq!(report[0], expected);
    // Nothing in a load looks like a clap.
    h.editor.set_motion_channel(ids[1], "load");
    let steps = h.editor.history().n_undo();
    h.editor.find_claps();
    h.settle();
    assert!(
        h.last_notice().starts_with("No peak stands out in load"),
        "{}",
        h.last_notice()
    );
    // Two moments too close for a clock.
    h.editor.set_stamp(ids[0], 1, 1.5, "peak 2");
    h.editor.set_stamp(ids[1], 1, 1.5, "peak 2");
    h.editor.align_by_stamps();
    h.settle();
    assert!(
        h.last_notice().contains("at least 1 s apart"),
        "{}",
        h.last_notice()
    );
    assert_eq!(h.editor.history().n_undo(), steps + 2);
}

#[test]
fn an_offset_is_suggested_and_applied_or_said_not_to_be_clear() {
    let folder = tempfile::tempdir().unwrap();
    let mut h = character();
    let reference = written(folder.path(), "a", &course(0.0, load));
    add(&mut h, &reference);
    let why = h.editor.why_not_suggest_offset().unwrap();
    assert!(why.starts_with("Add another recording first"), "{why}");
    let moved = written(folder.path(), "b", &course(-0.37, |t| 3.0 + 40.0 * load(t)));
    let id = add(&mut h, &moved);
    assert_eq!(h.editor.motion_channel(id).as_deref(), Some("load"));
    let steps = h.editor.history().n_undo();
    h.editor.suggest_offset();
    h.settle();
    let suggested = h.editor.suggested_offset().expect("it was compared");
    assert!(
        (suggested.found.best.offset - 0.37).abs() < 0.01,
        "{:?}",
        suggested.found
    );
    let text = suggested.text();
    assert!(
        text.starts_with("Offset +0.370 s, correlation 1.00"),
        "{text}"
    );
    assert_eq!(h.editor.history().n_undo(), steps, "only shown");
    h.editor.apply_suggested_offset();
    assert_eq!(label(&h), "Apply suggested offset · b");
    assert!((item(&h, id).clock.b - 0.37).abs() < 0.01);
    assert!(h.editor.suggested_offset().is_none(), "it is applied");
    h.editor.undo();
    assert_eq!(item(&h, id).clock, ClockMap::SAME);

    // Noise is like nothing.
    let noise = |t: f64| (1e4 * (12.9898 * t + 1.0).sin()).fract();
    let noise = written(folder.path(), "noise", &course(0.0, noise));
    add(&mut h, &noise);
    h.editor.suggest_offset();
    h.settle();
    let text = h.editor.suggested_offset().expect("compared").text();
    assert!(
        text.starts_with("No offset is clear: the best one"),
        "{text}"
    );
    // A channel that stands still is refused by its name.
    let still = written(folder.path(), "still", &course(0.0, |_| 9.81));
    add(&mut h, &still);
    h.editor.suggest_offset();
    h.settle();
    assert!(
        h.last_notice().contains("\"still: load\" does not change"),
        "{}",
        h.last_notice()
    );
    assert!(h.editor.suggested_offset().is_none());
}

#[test]
fn a_wide_peak_tells_less_about_the_drift() {
    let folder = tempfile::tempdir().unwrap();
    let mut h = character();
    // Bumps of 0.1 s at half of their height, which are 60 ms farther apart on the second device.
    for (name, late) in [("a", 0.0), ("b", 0.06)] {
        let mut csv = "time,clap\n".to_owned();
        for i in 0..=3000 {
            let t = f64::from(i) * 0.01;
            let bump = |at: f64| (1.0 - (t - at).abs() / 0.1).max(0.0);
            writeln!(csv, "{t},{}", bump(1.0) + bump(29.0 + late)).unwrap();
        }
        let path = written(folder.path(), name, &csv);
        add(&mut h, &path);
        h.editor.find_claps();
        h.settle();
    }
    h.editor.align_by_stamps();
    let report = h.editor.alignment_report();
    // 0.1 s of each, over 28.06 s; half a step of each would be 356 ppm.
    let expected = "2 pairs with a: the drift is not distinguishable from none (± 7128 ppm).";
    assert_eq!(report[0], expected);
    // It stays with the stamp in the project.
    let saved = folder.path().join("project.ron");
    h.editor.save_as(&saved);
    h.settle();
    let again = EditorHarness::on(OpenRequest::Path(saved));
    let (ours, theirs) = (h.editor.document(), again.editor.document());
    assert_eq!(ours.recordings(), theirs.recordings());
    let stamps = &theirs.recordings().values().next().unwrap().stamps;
    assert!((stamps[0].width - 0.1).abs() < 1e-6, "{stamps:?}");
}
