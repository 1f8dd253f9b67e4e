//! Motions as recordings of the document: undone and saved with their settings, adjusted later, kept without a file.

use crate::editing::EditorHarness;
use crate::live_motion::BONES;
use glam::DQuat;
use sinew::cluster::channel::{RecordingId, RecordingItem};
use sinew::document::Edit;
use sinew::editor::OpenRequest;
use sinew::editor::clusters::TableOptions;
use sinew::io::channels::read_recording;
use sinew::motion::align::ClockMap;
use sinew::motion::retarget::Travel;
use sinew::motion::timing::Steps;
use sinew::motion::{Event, Recording, Timing, Track};
use sinew::task::Task;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

const WALKER: &str = "tests/data/walker.bvh";
pub(crate) const FIRST: RecordingId = RecordingId(0);

pub(crate) fn character() -> EditorHarness {
    EditorHarness::on(OpenRequest::Path("assets/mannequin.glb".into()))
}

pub(crate) fn label(h: &EditorHarness) -> &str {
    h.editor.history().undo_label().unwrap_or_default()
}

pub(crate) fn item(h: &EditorHarness) -> Arc<RecordingItem> {
    h.editor.document().recordings()[&FIRST].clone()
}

/// The same project, saved and opened again.
pub(crate) fn reopened(h: &mut EditorHarness, folder: &Path) -> EditorHarness {
    let path = folder.join("project.ron");
    h.editor.save_as(&path);
    h.settle();
    EditorHarness::on(OpenRequest::Path(path))
}

/// A live walk of two seconds with the bones of Unity.
pub(crate) fn kept() -> RecordingItem {
    let times: Vec<f64> = (0..120).map(|i| 5.0 + f64::from(i) / 60.0).collect();
    let rotations = BONES.iter().map(|name| Track {
        name: (*name).to_owned(),
        values: times
            .iter()
            .map(|t| match *name {
                "LeftUpperLeg" => DQuat::from_rotation_x(0.5 * (3.0 * t).sin()),
                _ => DQuat::IDENTITY,
            })
            .collect(),
    });
    let recording = Recording {
        rotations: rotations.collect(),
        device: Some("VMC".into()),
        times,
        ..Recording::default()
    };
    RecordingItem::new("Take 1", "", 7, Ok(Arc::new(recording)))
}

#[test]
fn a_kept_recording_that_cannot_be_read_is_saved_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let mut h = character();
    let add = Edit::Recording {
        id: FIRST,
        recording: Some(Arc::new(kept())),
    };
    h.editor.apply(add, "Record motion").unwrap();
    h.settle();
    drop(reopened(&mut h, folder.path()));
    // As if another version had written what this one cannot read.
    let path = folder.path().join("project.ron");
    let text = std::fs::read_to_string(&path).unwrap();
    let at = text.find("n_bytes").unwrap();
    let digits = at + text[at..].find(|c: char| c.is_ascii_digit()).unwrap();
    let end = digits + text[digits..].find(|c: char| !c.is_ascii_digit()).unwrap();
    let damaged = format!("{}7{}", &text[..digits], &text[end..]);
    std::fs::write(&path, &damaged).unwrap();
    let mut again = EditorHarness::on(OpenRequest::Path(path.clone()));
    let found = item(&again);
    assert!(found.content.is_err() && found.is_kept(), "{found:?}");
    // It survives a change and two saves.
    for _ in 0..2 {
        let mut renamed = RecordingItem::clone(&item(&again));
        renamed.name.push('!');
        let edit = Edit::Recording {
            id: FIRST,
            recording: Some(Arc::new(renamed)),
        };
        again.editor.apply(edit, "Rename").unwrap();
        again.settle();
        again = reopened(&mut again, folder.path());
    }
    assert_eq!(item(&again).name, "Take 1!!");
    let saved = std::fs::read_to_string(&path).unwrap();
    let block = |text: &str| {
        let from = text.find("n_bytes").unwrap();
        let from = from + text[from..].find("data").unwrap();
        text[from..from + 200].to_owned()
    };
    assert_eq!(block(&saved), block(&damaged));
    let number = saved.find("n_bytes").unwrap();
    assert!(
        saved[number..number + 12].contains('7'),
        "{}",
        &saved[number..number + 12]
    );
}

#[test]
fn a_motion_stays_with_its_file_and_settings() {
    let folder = tempfile::tempdir().unwrap();
    let walker = folder.path().join("walker.bvh");
    std::fs::copy(WALKER, &walker).unwrap();
    let mut h = character();
    let n_clips = h.editor.document().clips().len();
    h.editor.add_motion(&walker);
    h.settle();
    let motion = item(&h).motion.clone().unwrap();
    assert_eq!(item(&h).name, "walker");
    assert_eq!(item(&h).path, walker);
    let clip = motion.clip.unwrap();
    assert!(h.editor.document().clips().contains_key(&clip));
    let recording = item(&h).content.clone().unwrap();
    assert_eq!(recording.rotations.len(), 21);
    h.editor.undo();
    h.settle();
    assert!(
        h.editor.document().recordings().is_empty(),
        "one step with the clip"
    );
    assert_eq!(h.editor.document().clips().len(), n_clips);
    h.editor.redo();
    h.settle();
    h.check();

    // Another setting, and the artist's own name for the clip.
    h.editor.adjust_motion(FIRST);
    h.settle();
    let mut settings = h.editor.adding_motion().unwrap().settings().clone();
    settings.retarget.travel = Travel::InPlace;
    settings.bake.contacts = Some([vec![[0.1, 0.4]], vec![[0.5, 0.9]]]);
    h.editor.set_motion_settings(settings.clone());
    h.settle();
    assert_eq!(label(&h), "Adjust motion · walker");
    assert_eq!(h.editor.document().clips().len(), n_clips + 1);
    let feet = item(&h).motion.as_ref().unwrap().feet.clone();
    assert_eq!([feet[0].len(), feet[1].len()], [1, 1]);
    assert!((feet[0][0][0] - 0.1).abs() < 0.05, "{feet:?}");
    h.editor.end_motion();
    h.editor.rename_clip("Stroll");
    h.settle();

    let before = item(&h);
    let mut again = reopened(&mut h, folder.path());
    assert_eq!(item(&again), before);
    let motion = item(&again).motion.clone().unwrap();
    assert!(
        motion.source.is_some(),
        "the skeleton is read from the file"
    );
    assert_eq!(motion.settings, settings);
    let (ours, theirs) = (h.editor.document(), again.editor.document());
    assert_eq!(ours.recordings(), theirs.recordings());
    assert_eq!(ours.clips()[&clip], theirs.clips()[&clip]);

    // Its settings open again; the clip changes only with them.
    let edited = again.editor.document().clips()[&clip].clone();
    again.editor.adjust_motion(FIRST);
    again.settle();
    let adding = again.editor.adding_motion().unwrap();
    assert_eq!(adding.settings(), &settings);
    assert_eq!(adding.recording(), Some(FIRST));
    assert!(adding.result().is_some() && !adding.pairs().is_empty());
    assert_eq!(again.editor.history().undo_label(), None);
    assert!(again.editor.motion_ghost().is_some());
    assert!(Arc::ptr_eq(
        &again.editor.document().clips()[&clip],
        &edited
    ));
    settings.retarget.travel = Travel::Full;
    again.editor.set_motion_settings(settings);
    again.settle();
    assert_eq!(label(&again), "Adjust motion · Stroll");
    assert_ne!(again.editor.document().clips()[&clip], edited);
    again.editor.take_back_motion();
    again.settle();
    assert_eq!(again.editor.document().clips()[&clip], edited);

    // A file that is gone is a problem; what it became stays.
    std::fs::remove_file(&walker).unwrap();
    let mut gone = EditorHarness::on(OpenRequest::Path(folder.path().join("project.ron")));
    assert!(item(&gone).content.is_err());
    assert!(gone.editor.document().clips().contains_key(&clip));
    gone.editor.adjust_motion(FIRST);
    gone.settle();
    assert!(
        gone.last_notice().contains("walker.bvh"),
        "{}",
        gone.last_notice()
    );
    assert!(gone.editor.adding_motion().is_none());
}

#[test]
fn live_motion_is_kept_in_the_project_and_put_on_the_character() {
    let folder = tempfile::tempdir().unwrap();
    let mut h = character();
    let mut live = kept();
    live.clock = ClockMap { a: 1.0, b: -5.0 };
    live.stamps = vec![Event {
        name: "clap".into(),
        time: 5.5,
        width: 0.04,
    }];
    let add = Edit::Recording {
        id: FIRST,
        recording: Some(Arc::new(live)),
    };
    h.editor.apply(add, "Record motion").unwrap();
    h.settle();
    assert_eq!(item(&h).span(), Some([0.0, 5.0 + 119.0 / 60.0 - 5.0]));
    let mut again = reopened(&mut h, folder.path());
    assert_eq!(item(&again), item(&h));
    let (ours, theirs) = (item(&h), item(&again));
    let (ours, theirs) = (
        ours.content.as_ref().unwrap(),
        theirs.content.as_ref().unwrap(),
    );
    assert_eq!(ours.times, theirs.times);
    for track in &ours.rotations {
        let mut tracks = theirs.rotations.iter();
        let found = tracks.find(|t| t.name == track.name).unwrap();
        assert!(
            found
                .values
                .iter()
                .zip(&track.values)
                .all(|(a, b)| a.abs_diff_eq(*b, 1e-15))
        );
    }
    let text = std::fs::read_to_string(folder.path().join("project.ron")).unwrap();
    assert!(
        text.contains("kept:") && text.contains("path: \"\""),
        "no file is named"
    );

    again.editor.adjust_motion(FIRST);
    again.settle();
    assert_eq!(label(&again), "Add motion · Take 1");
    let motion = item(&again).motion.clone().unwrap();
    let clip = &again.editor.document().clips()[&motion.clip.unwrap()];
    assert!((clip.end_secs() - 119.0 / 60.0).abs() < 0.02);
    let mut thrice = reopened(&mut again, folder.path());
    assert!(item(&thrice).motion.as_ref().unwrap().source.is_some());
    thrice.editor.remove_recording(FIRST);
    thrice.settle();
    assert!(thrice.editor.document().recordings().is_empty());
    assert_eq!(label(&thrice), "Remove recording · Take 1");
}

#[test]
fn channels_that_name_no_bone_move_no_body() {
    let mut h = character();
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("emg.csv");
    std::fs::write(&csv, "time,emg\n41520,1\n41521,2\n").unwrap();
    h.editor.add_recording(&csv);
    h.settle();
    let span = item(&h).span();
    assert_eq!(span, Some([0.0, 1.0]), "a time of day begins at 0");
    h.editor.adjust_motion(FIRST);
    h.settle();
    let said = h.last_notice();
    assert!(
        said.contains("\"emg\" moves nothing: none of its rotations"),
        "{said}"
    );
    assert!(h.editor.adding_motion().is_none());
}

#[test]
fn stamps_mark_moments_are_undone_and_saved() {
    let mut h = character();
    h.editor.add_stamp();
    h.settle();
    assert!(h.last_notice().starts_with("Record or import a motion"));
    h.editor.add_motion(Path::new(WALKER));
    h.settle();
    let added = label(&h).to_owned();
    let clip = h.editor.playback().clip;
    h.editor.show_clip(None);
    h.editor.add_stamp();
    h.settle();
    assert!(h.last_notice().starts_with("Select a clip first"));
    h.editor.show_clip(clip);
    for time in [0.5, 0.2, 0.2] {
        h.editor.set_time(time);
        h.editor.add_stamp();
    }
    h.settle();
    assert_eq!(h.last_notice(), "There is already a stamp at this time.");
    let stamps = |h: &EditorHarness| -> Vec<(String, f64)> {
        let stamps = item(h).stamps.clone().into_iter();
        stamps.map(|stamp| (stamp.name, stamp.time)).collect()
    };
    let both = [("Stamp (2)".to_owned(), 0.2), ("Stamp".to_owned(), 0.5)];
    assert_eq!(stamps(&h), both);
    assert_eq!(label(&h), "Add stamp at 0.20 s · walker");
    h.editor.delete_stamp(FIRST, 1);
    assert_eq!(stamps(&h), both[..1]);
    assert_eq!(label(&h), "Delete stamp Stamp · walker");
    h.editor.undo();
    let folder = tempfile::tempdir().unwrap();
    let again = reopened(&mut h, folder.path());
    assert_eq!(stamps(&again), both);
    // A stamp is a time of the device.
    let mut moved = RecordingItem::clone(&item(&h));
    moved.clock = ClockMap { a: 2.0, b: 0.1 };
    let edit = Edit::Recording {
        id: FIRST,
        recording: Some(Arc::new(moved)),
    };
    h.editor.apply(edit, "Clock").unwrap();
    h.editor.set_time(0.7);
    h.editor.add_stamp();
    assert!((stamps(&h)[1].1 - 0.3).abs() < 1e-12);
    for _ in 0..4 {
        h.editor.undo();
    }
    assert_eq!((label(&h), stamps(&h).len()), (added.as_str(), 0));
    h.settle();
    h.check();
}

#[test]
fn recordings_are_written_as_a_table_at_common_times() {
    let mut h = character();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("a.csv"), "t,emg\n0,1\n1,2\n2,3\n").unwrap();
    std::fs::write(at("b.csv"), "t,load\n1,5\n2,6\n3,7\n").unwrap();
    for name in ["a.csv", "b.csv"] {
        h.editor.add_recording(&at(name));
        h.settle();
    }
    h.editor.set_table_options(TableOptions {
        rate: 2.0,
        ..TableOptions::default()
    });
    let n_steps = h.editor.history().n_undo();
    h.editor.export_table(&at("table.csv"));
    h.settle();
    assert_eq!(
        h.notices.last().unwrap().text,
        "Exported table.csv: 3 rows of 2 channels, 1 to 2 s."
    );
    let text = std::fs::read_to_string(at("table.csv")).unwrap();
    assert!(text.contains("# fps=2\nt,a.emg,a.emg.valid,b.load,b.load.valid\n1,2,1,5,1\n"));
    // As lines, the same; it reads back.
    h.editor.export_table(&at("table.jsonl"));
    h.settle();
    let read = read_recording(&at("table.jsonl"), &Task::new()).unwrap();
    assert_eq!(read.times, [1.0, 1.5, 2.0]);
    assert_eq!(read.scalars[0].values, [2.0, 2.5, 3.0]);
    // The active one alone, and over the loop range.
    let b = h.editor.document().recording_named("b").unwrap();
    h.editor.choose_recording(b);
    h.editor.set_table_options(TableOptions {
        rate: 2.0,
        only_active: true,
        ..TableOptions::default()
    });
    h.editor.export_table(&at("table.csv"));
    h.settle();
    let text = std::fs::read_to_string(at("table.csv")).unwrap();
    assert!(text.contains("t,b.load,b.load.valid\n1,5,1\n1.5,") && text.ends_with("3,7,1\n"));
    // No recording is overwritten, and rates stay in their range.
    h.editor.export_table(&at("a.csv"));
    h.settle();
    let last = h.notices.last().unwrap();
    assert!(
        last.is_error && last.text.contains("a recording"),
        "{last:?}"
    );
    h.editor.set_table_options(TableOptions {
        rate: f64::NAN,
        ..TableOptions::default()
    });
    assert_eq!(h.editor.table_options().rate, 2.0);
    assert_eq!(h.editor.history().n_undo(), n_steps, "no step");
}

#[test]
fn stamps_and_the_offset_are_typed_and_undone() {
    let mut h = character();
    h.editor.add_motion(Path::new(WALKER));
    h.settle();
    assert!(
        h.editor.recording_summary(FIRST).is_some(),
        "read in the background"
    );
    let added = label(&h).to_owned();
    let stamps = |h: &EditorHarness| -> Vec<(String, f64)> {
        let stamps = item(h).stamps.clone().into_iter();
        stamps.map(|stamp| (stamp.name, stamp.time)).collect()
    };
    assert!(h.editor.add_stamp_at(FIRST, 0.75, " heel "));
    assert!(h.editor.add_stamp_at(FIRST, 0.25, ""));
    assert!(!h.editor.add_stamp_at(FIRST, 0.25, "twice"));
    assert!(!h.editor.add_stamp_at(FIRST, f64::NAN, "never"));
    let both = [("Stamp".to_owned(), 0.25), ("heel".to_owned(), 0.75)];
    assert_eq!(stamps(&h), both);
    assert_eq!(label(&h), "Add stamp at 0.25 s · walker");
    // Moved past the other one, and renamed to a name that is taken.
    h.editor.set_stamp(FIRST, 0, 0.9, "Stamp");
    assert_eq!(
        stamps(&h),
        [("heel".to_owned(), 0.75), ("Stamp".to_owned(), 0.9)]
    );
    assert_eq!(label(&h), "Move stamp Stamp · walker");
    h.editor.set_stamp(FIRST, 1, 0.9, "heel");
    assert_eq!(stamps(&h)[1], ("heel (2)".to_owned(), 0.9));
    assert_eq!(label(&h), "Rename stamp Stamp · walker");
    let before = h.editor.history().n_undo();
    h.editor.set_stamp(FIRST, 1, 0.75, "heel (2)");
    h.editor.set_stamp(FIRST, 1, 0.9, "heel (2)");
    h.editor.set_stamp(FIRST, 7, 0.1, "none");
    assert_eq!(h.editor.history().n_undo(), before, "nothing changed");
    // The offset moves the recording with its stamps.
    h.editor.set_recording_offset(FIRST, 1.5);
    assert_eq!(item(&h).clock, ClockMap { a: 1.0, b: 1.5 });
    assert_eq!(label(&h), "Move recording · walker");
    assert!(h.editor.add_stamp_at(FIRST, 1.6, "early"));
    assert!((stamps(&h)[0].1 - 0.1).abs() < 1e-12);
    h.editor.set_recording_offset(FIRST, f64::INFINITY);
    assert_eq!(label(&h), "Add stamp at 1.60 s · walker");
    for _ in 0..6 {
        h.editor.undo();
    }
    assert_eq!((label(&h), stamps(&h).len()), (added.as_str(), 0));
    assert_eq!(item(&h).clock, ClockMap::SAME);
    h.settle();
    h.check();
}

#[test]
fn foot_contacts_are_changed_by_hand_held_and_undone() {
    let mut h = character();
    h.editor.add_motion(Path::new(WALKER));
    h.settle();
    h.editor.end_motion();
    let clip = h.editor.playback().clip.unwrap();
    let keys = |h: &EditorHarness| h.editor.document().clips()[&clip].clone();
    let found = h.editor.contacts_of(FIRST).unwrap();
    let before = keys(&h);
    let feet = [vec![[0.1, 0.5]], vec![[0.6, 0.9], [0.8, 0.95]]];
    h.editor.set_contacts(FIRST, Some(feet));
    // They are shown at once, while the clip is made.
    let wanted = [vec![[0.1, 0.5]], vec![[0.6, 0.95]]];
    assert_eq!(h.editor.contacts_of(FIRST).unwrap(), wanted);
    h.settle();
    assert_eq!(label(&h), "Change foot contacts · walker");
    let near = |feet: &[Vec<[f64; 2]>; 2]| {
        feet.iter()
            .flatten()
            .zip(wanted.iter().flatten())
            .all(|(a, b)| (a[0] - b[0]).abs() < 0.05 && (a[1] - b[1]).abs() < 0.05)
    };
    let held = h.editor.contacts_of(FIRST).unwrap();
    assert!(
        held[0].len() == 1 && held[1].len() == 1 && near(&held),
        "{held:?}"
    );
    assert_eq!(keys(&h).name, before.name);
    assert_ne!(keys(&h), before, "the feet are held there");
    let settings = item(&h).motion.as_ref().unwrap().settings.clone();
    assert_eq!(settings.bake.contacts, Some(wanted));
    // Each change is a step of its own.
    let n = h.editor.history().n_undo();
    h.editor
        .set_contacts(FIRST, Some([vec![[0.1, 0.4]], Vec::new()]));
    h.settle();
    assert_eq!(h.editor.history().n_undo(), n + 1);
    assert!(h.editor.contacts_of(FIRST).unwrap()[1].is_empty());
    h.editor.undo();
    assert_eq!(h.editor.contacts_of(FIRST).unwrap(), held);
    h.editor.undo();
    assert_eq!(h.editor.contacts_of(FIRST).unwrap(), found);
    assert_eq!(keys(&h), before);
    // Found again in place of those by hand.
    h.editor.redo();
    h.editor.set_contacts(FIRST, None);
    h.settle();
    assert_eq!(h.editor.contacts_of(FIRST).unwrap(), found);
    assert_eq!(keys(&h), before);
    // Keyframes that were edited are not replaced without a word, neither now nor after saving; undo brings them back.
    let is_said = |h: &EditorHarness| {
        h.last_notice()
            .contains("of \"walker\" that had been edited were replaced")
    };
    assert!(!is_said(&h), "{}", h.last_notice());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.ron");
    h.editor.save_as(&path);
    h.settle();
    let mut own = EditorHarness::on(OpenRequest::Path(path));
    own.editor
        .set_contacts(FIRST, Some([vec![[0.1, 0.4]], Vec::new()]));
    own.settle();
    assert_eq!(label(&own), "Change foot contacts · walker");
    assert!(
        !own.notices
            .iter()
            .any(|n| n.text.contains("that had been edited"))
    );
    let time = before.channels[0].times[0];
    h.editor.delete_keys_at(time, None);
    let edited = keys(&h);
    assert_ne!(edited, before);
    let path = folder.path().join("edited.ron");
    h.editor.save_as(&path);
    h.settle();
    let mut again = EditorHarness::on(OpenRequest::Path(path));
    for h in [&mut h, &mut again] {
        h.editor
            .set_contacts(FIRST, Some([vec![[0.1, 0.4]], Vec::new()]));
        h.settle();
        assert!(is_said(h), "{}", h.last_notice());
        h.editor.undo();
        assert_eq!(keys(h), edited);
    }
    // What has no clip has no contacts.
    let none = RecordingId(9);
    assert!(h.editor.contacts_of(none).is_none());
    h.editor.set_contacts(none, None);
    h.settle();
    h.check();
}

#[test]
fn a_change_of_contacts_meets_other_edits() {
    let mut h = character();
    h.editor.add_motion(Path::new(WALKER));
    h.settle();
    h.editor.end_motion();
    let found = h.editor.contacts_of(FIRST).unwrap();
    let feet = [vec![[0.1, 0.5]], Vec::new()];
    // An edit while the clip is made: both are there.
    h.editor.set_contacts(FIRST, Some(feet.clone()));
    assert!(h.editor.add_stamp_at(FIRST, 0.5, "step"));
    h.settle();
    assert_eq!(label(&h), "Change foot contacts · walker");
    let known = item(&h);
    assert_eq!(known.stamps.len(), 1);
    let settings = &known.motion.as_ref().unwrap().settings;
    assert_eq!(settings.bake.contacts, Some(feet));
    assert!(h.editor.contacts_of(FIRST).unwrap()[1].is_empty());
    assert_eq!(h.editor.free_feet(FIRST), None);
    // An undo ends the next change: it takes nothing from what can be redone.
    h.editor
        .set_contacts(FIRST, Some([Vec::new(), vec![[0.2, 0.6]]]));
    h.editor.undo();
    h.settle();
    assert_eq!(h.editor.contacts_of(FIRST).unwrap(), found);
    assert!(h.editor.history().redo_label().is_some());
    assert!(
        h.last_notice().contains("were not changed"),
        "{}",
        h.last_notice()
    );
    // What is too short, or beyond the clip, is refused and changes nothing.
    let n = h.editor.history().n_undo();
    for short in [[0.3, 0.31], [1e3, 1e3 + 0.5]] {
        h.editor
            .set_contacts(FIRST, Some([vec![short], Vec::new()]));
        h.settle();
        assert!(h.last_notice().contains("at least 0.02 s"));
    }
    assert_eq!(h.editor.history().n_undo(), n);
    assert_eq!(h.editor.contacts_of(FIRST).unwrap(), found);
}

#[test]
fn samples_at_a_regular_rate_are_undone_and_saved() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("load.csv");
    let write = |late: f64| {
        let mut text = String::from("# event: clap at 1.0\ntime,load\n");
        for i in 0..300 {
            // 100 Hz, each third sample 3 ms late, and one later.
            let more = if i % 3 == 0 { 3e-3 } else { 0.0 };
            let more = more + if i == 151 { late } else { 0.0 };
            writeln!(text, "{},{}", f64::from(i) * 0.01 + more, i % 7).unwrap();
        }
        std::fs::write(&csv, &text).unwrap();
    };
    write(0.0);
    let mut h = character();
    h.editor.add_recording(&csv);
    h.settle();
    assert!(h.editor.add_stamp_at(FIRST, 2.0, "hit"));
    let before = item(&h);
    h.editor.set_recording_timing(FIRST, Timing::Regular);
    h.settle();
    assert_eq!(label(&h), "Change times · load");
    let after = item(&h);
    let steps = |item: &RecordingItem| Steps::of(&item.recording().unwrap().times).unwrap();
    assert!(steps(&before).jitter > 2e-3 && steps(&after).jitter < 1e-9);
    assert!((steps(&after).median - 0.01).abs() < 1e-6);
    assert_eq!(after.as_stamped(), before.content.as_ref().ok());
    // Each sample is 1 ms late on average, and so are moments between them, by their neighbours.
    let clap = after.recording().unwrap().events[0].time;
    assert!((clap - 1.0).abs() < 3e-3 && clap != 1.0, "{clap}");
    assert!((after.stamps[0].time - 2.0).abs() < 3e-3);
    h.editor.undo();
    h.settle();
    assert_eq!(item(&h), before);
    h.editor.redo();
    h.settle();
    let again = reopened(&mut h, folder.path());
    assert_eq!(item(&again), after);
    assert_eq!(item(&again).recording(), after.recording());
    // As recorded, to the bit.
    h.editor.set_recording_timing(FIRST, Timing::AsStamped);
    h.settle();
    assert_eq!(item(&h).recording(), before.recording());

    // A file that has no regular rate any more is not read, and a rate is refused with its place.
    h.editor.undo();
    h.settle();
    write(7e-3);
    h.editor.reload_recording(FIRST);
    h.settle();
    assert!(
        h.last_notice().contains("the sample at 1.517 s is"),
        "{}",
        h.last_notice()
    );
    assert_eq!(item(&h), after);
    h.editor
        .set_recording_timing(FIRST, Timing::FramesPerSecond);
    h.settle();
    let notice = h.last_notice();
    assert!(notice.contains("only a BVH file with"), "{notice}");
    assert_eq!(item(&h), after);
}

#[test]
fn kept_motion_is_saved_as_it_was_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let mut h = character();
    let mut live = kept();
    let mut recording = Recording::clone(live.recording().unwrap());
    for (i, time) in recording.times.iter_mut().enumerate() {
        *time += if i % 5 == 0 { 4e-3 } else { 0.0 };
    }
    live.content = Ok(Arc::new(recording));
    let add = Edit::Recording {
        id: FIRST,
        recording: Some(Arc::new(live)),
    };
    h.editor.apply(add, "Record motion").unwrap();
    h.settle();
    let before = item(&h);
    h.editor.adjust_motion(FIRST);
    h.settle();
    h.editor.end_motion();
    let clip = item(&h).motion.as_ref().unwrap().clip.unwrap();
    let jittered = h.editor.document().clips()[&clip].clone();
    // The clip is made again in the same step.
    h.editor.set_recording_timing(FIRST, Timing::Regular);
    h.settle();
    assert_eq!(label(&h), "Change times · Take 1");
    let regular = item(&h);
    assert_eq!(regular.timing, Timing::Regular);
    let clips = h.editor.document().clips();
    assert!(!Arc::ptr_eq(&clips[&clip], &jittered));
    assert_ne!(clips[&clip].fingerprint(), jittered.fingerprint());
    let again = reopened(&mut h, folder.path());
    let found = item(&again);
    assert_eq!(
        found.recording().unwrap().times,
        regular.recording().unwrap().times
    );
    assert_eq!(
        found.as_stamped().unwrap().times,
        before.recording().unwrap().times
    );
    h.editor.undo();
    h.settle();
    assert_eq!(item(&h).recording(), before.recording());
    assert!(Arc::ptr_eq(&h.editor.document().clips()[&clip], &jittered));
}

/// The walk, with its frame rate as the frame time.
pub(crate) fn mistaken(folder: &Path) -> std::path::PathBuf {
    let text = std::fs::read_to_string(WALKER).unwrap();
    let at = text.find("Frame Time:").unwrap();
    let end = at + text[at..].find('\n').unwrap();
    let path = folder.join("walker.bvh");
    std::fs::write(
        &path,
        format!("{}Frame Time: 30{}", &text[..at], &text[end..]),
    )
    .unwrap();
    path
}

#[test]
fn a_frame_rate_as_frame_time_is_fixed_for_the_recording_and_its_clip() {
    let folder = tempfile::tempdir().unwrap();
    let walker = mistaken(folder.path());
    let mut h = character();
    h.editor.add_motion(&walker);
    h.settle();
    let secs = |h: &EditorHarness| {
        let item = item(h);
        let clip = item.motion.as_ref().unwrap().clip.unwrap();
        let times = &item.recording().unwrap().times;
        let clip = &h.editor.document().clips()[&clip];
        [
            times[1],
            f64::from(clip.end_secs()) / (times.len() - 1) as f64,
        ]
    };
    let near = |found: [f64; 2], known: f64| {
        let is_near = found.iter().all(|found| (found / known - 1.0).abs() < 1e-3);
        assert!(is_near, "{found:?}, not {known}");
    };
    near(secs(&h), 30.0);
    // While it is adjusted, in the same step.
    assert_eq!(
        h.editor.adding_motion().unwrap().odd_frame_time(),
        Some((30.0, false))
    );
    h.editor.read_frame_rate(true);
    h.settle();
    near(secs(&h), 1.0 / 30.0);
    let adding = h.editor.adding_motion().unwrap();
    assert_eq!(adding.odd_frame_time(), Some((30.0, true)));
    assert!(
        adding
            .notes()
            .any(|note| note.ends_with("The frame time, 30, is read as frames per second."))
    );
    assert_eq!(label(&h), "Add motion · walker");
    h.editor.end_motion();
    let again = reopened(&mut h, folder.path());
    assert_eq!(item(&again), item(&h));
    near(secs(&again), 1.0 / 30.0);
    // Later, in the list: the clip is made again, as one step.
    h.editor.set_recording_timing(FIRST, Timing::AsStamped);
    h.settle();
    assert_eq!(label(&h), "Change times · walker");
    near(secs(&h), 30.0);
    h.editor.undo();
    h.settle();
    near(secs(&h), 1.0 / 30.0);
    // Adjusted again.
    h.editor.adjust_motion(FIRST);
    h.settle();
    h.editor.read_frame_rate(false);
    h.settle();
    near(secs(&h), 30.0);
    assert_eq!(item(&h).name, "walker");
    h.editor.end_motion();
}
