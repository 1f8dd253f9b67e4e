//! Other times of the samples of a motion: what was set by hand keeps its place among them.

use crate::clusters_editor::select;
use crate::editing::EditorHarness;
use crate::motion_recordings::{FIRST, character, item, kept, label, mistaken, reopened};
use sinew::cluster::DataLayer;
use sinew::document::Edit;
use sinew::motion::contacts::FeetSecs;
use sinew::motion::timing::moved_time;
use sinew::motion::{Recording, Timing};
use std::sync::Arc;

/// The same places in a walk whose steps are 900 times as long.
fn same_places(found: &FeetSecs, known: &FeetSecs, factor: f64) {
    let of = |feet: &FeetSecs| -> Vec<f64> { feet.iter().flatten().flatten().copied().collect() };
    let (found, known) = (of(found), of(known));
    assert_eq!(found.len(), known.len(), "{found:?} {known:?}");
    for (found, known) in found.iter().zip(known) {
        let off = (found - factor * known).abs();
        assert!(off < 1e-3 * factor, "{found}, not {known} times {factor}");
    }
}

#[test]
fn contacts_and_reference_times_follow_the_times_of_the_samples() {
    let folder = tempfile::tempdir().unwrap();
    let mut h = character();
    h.editor.add_motion(&mistaken(folder.path()));
    h.settle();
    h.editor.end_motion();
    let by_hand: FeetSecs = [vec![[120.0, 300.0]], vec![[330.0, 480.0], [600.0, 690.0]]];
    h.editor.set_contacts(FIRST, Some(by_hand.clone()));
    h.settle();
    same_places(&h.editor.contacts_of(FIRST).unwrap(), &by_hand, 1.0);
    select(&mut h, &[0]);
    h.editor.mark_selected();
    assert!(h.editor.add_data(FIRST));
    h.editor
        .set_data(0, "reference", |data| data.reference = Some(315.0));
    h.settle();
    let reference = |h: &EditorHarness| {
        let data = h.editor.active_group_layer::<DataLayer>().unwrap();
        data.1.reference.unwrap()
    };
    let set = |h: &EditorHarness| {
        item(h)
            .motion
            .as_ref()
            .unwrap()
            .settings
            .bake
            .contacts
            .clone()
    };
    let n = h.editor.history().n_undo();
    h.editor
        .set_recording_timing(FIRST, Timing::FramesPerSecond);
    h.settle();
    assert_eq!(label(&h), "Change times · walker");
    assert_eq!(h.editor.history().n_undo(), n + 1);
    same_places(&set(&h).unwrap(), &by_hand, 1.0 / 900.0);
    // They hold the same frames.
    same_places(&h.editor.contacts_of(FIRST).unwrap(), &by_hand, 1.0 / 900.0);
    assert!((reference(&h) - 0.35).abs() < 1e-9, "{}", reference(&h));
    h.editor.undo();
    h.settle();
    assert_eq!((set(&h).as_ref(), reference(&h)), (Some(&by_hand), 315.0));
    h.editor.redo();
    h.settle();
    // What is saved or read again is not moved twice.
    let again = reopened(&mut h, folder.path());
    same_places(&set(&again).unwrap(), &by_hand, 1.0 / 900.0);
    let data = again.editor.document().meshes().values();
    let mut data = data.flat_map(|mesh| mesh.clusters.data());
    assert!((data.next().unwrap().1.reference.unwrap() - 0.35).abs() < 1e-9);
    h.editor.reload_recording(FIRST);
    h.settle();
    same_places(&set(&h).unwrap(), &by_hand, 1.0 / 900.0);

    // While it is adjusted, in the step of the adjustment.
    h.editor.adjust_motion(FIRST);
    h.settle();
    let n = h.editor.history().n_undo();
    h.editor.read_frame_rate(false);
    h.settle();
    assert_eq!(h.editor.history().n_undo(), n + 1);
    same_places(&h.editor.contacts_of(FIRST).unwrap(), &by_hand, 1.0);
    assert!((reference(&h) - 315.0).abs() < 1e-6, "{}", reference(&h));
    h.editor.read_frame_rate(true);
    h.settle();
    assert_eq!(h.editor.history().n_undo(), n + 1);
    same_places(&h.editor.contacts_of(FIRST).unwrap(), &by_hand, 1.0 / 900.0);
    assert!((reference(&h) - 0.35).abs() < 1e-9);
    h.editor.end_motion();
}

#[test]
fn contacts_of_live_motion_follow_its_regular_times() {
    let mut live = kept();
    let mut recording = Recording::clone(live.recording().unwrap());
    // The first half is late by 4 ms and less, the second is not.
    for (i, time) in recording.times.iter_mut().enumerate() {
        *time += if i < 60 { 4e-3 } else { 0.0 };
    }
    live.content = Ok(Arc::new(recording));
    let mut h = character();
    let add = Edit::Recording {
        id: FIRST,
        recording: Some(Arc::new(live)),
    };
    h.editor.apply(add, "Record motion").unwrap();
    h.editor.adjust_motion(FIRST);
    h.settle();
    h.editor.end_motion();
    let by_hand: FeetSecs = [vec![[0.5, 1.5]], Vec::new()];
    h.editor.set_contacts(FIRST, Some(by_hand.clone()));
    h.settle();
    let before = item(&h);
    h.editor.set_recording_timing(FIRST, Timing::Regular);
    h.settle();
    let after = item(&h);
    let [now, then] = [&before, &after].map(|item| &item.recording().unwrap().times);
    let moved = |secs: f64| moved_time(secs + now[0], now, then) - then[0];
    let set = after
        .motion
        .as_ref()
        .unwrap()
        .settings
        .bake
        .contacts
        .clone();
    let known: FeetSecs = [vec![[moved(0.5), moved(1.5)]], Vec::new()];
    assert_eq!(set, Some(known));
    assert!((moved(1.5) - 1.5).abs() > 3e-4, "{}", moved(1.5));
}
