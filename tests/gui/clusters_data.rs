//! Recordings and data of groups of clusters in the window: dropped, added, bound, scrubbed, and found again.

use crate::clusters::{clustering, undo_label, with_clusters_on_a_bone};
use crate::window::{CTRL, Window};
use egui::{Key, Modifiers, Role};
use sinew::cluster::DataLayer;
use sinew::cluster::channel::BindingKind;
use sinew::math::Worse;
use sinew::motion::ChannelKind;
use sinew::view::commands::Command;
use std::fmt::Write as _;
use std::path::PathBuf;

/// A file of a load and a marker that rises.
fn recording(window: &Window) -> PathBuf {
    let path = window.folder.path().join("load.csv");
    let mut text = "time,load[N],wrist.x,wrist.y,wrist.z,hip.qx,hip.qy,hip.qz,hip.qw\n".to_owned();
    for i in 0..=20 {
        let t = f64::from(i) * 0.1;
        let _ = writeln!(text, "{t},{},0,{},0,0,0,0,1", 100.0 * t, 0.05 * t);
    }
    std::fs::write(&path, text).expect("a file");
    path
}

fn data(window: &Window) -> DataLayer {
    let active = window.editor().active_group_layer::<DataLayer>();
    active.expect("data").1.clone()
}

#[test]
fn a_dropped_recording_is_bound_scrubbed_and_taken_back() {
    let mut window = clustering();
    let path = recording(&window);
    window.drop_file(&path);
    assert_eq!(undo_label(&window), "Add recording · load");
    assert!(window.says("load, 10 Hz, 2 s"), "clusters are not needed");
    let mut window = with_clusters_on_a_bone();
    assert!(window.says("A recording holds markers and values over time"));
    let path = recording(&window);
    window.drop_file(&path);
    assert_eq!(undo_label(&window), "Add recording · load");
    assert!(window.says("load, 10 Hz, 2 s"));
    assert!(window.says("wrist: 0, 0, 0 m"));
    assert!(window.says("hip: 0°"));
    window.scroll_panel(-700.0);
    window.picture("recording-added");

    window.press_widget(Role::Button, "Add data");
    window.press_widget(Role::Button, "load");
    assert_eq!(undo_label(&window), "Add data · load");
    window.pick("Bind channel", "wrist");
    assert_eq!(undo_label(&window), "Data binding · load");
    let n = window.editor().cluster_counts()[0];
    assert!(data(&window).bindings[0].clusters.len() >= n);
    assert_eq!(data(&window).bindings[0].kind, BindingKind::Delta);
    assert!(window.says("wrist, moves"));
    window.scroll_panel(-300.0);
    window.picture("data-marker");

    let clip = *window.document().clips().keys().next().expect("a clip");
    let editor = window.harness.state_mut().editor_mut();
    editor.show_clip(Some(clip));
    editor.set_time(0.0);
    window.settle();
    let before = window.positions();
    assert!(window.says("load: 0 N"));
    // The bone is still in this clip or not: what the marker adds is the difference to the muted layer.
    window.harness.state_mut().editor_mut().set_time(1.0);
    window.settle();
    let moved = window.positions();
    window.press_widget(Role::CheckBox, "Show load");
    assert_eq!(undo_label(&window), "Mute data · load");
    let still = window.positions();
    let risen = moved.iter().zip(&still).map(|(a, b)| a.y - b.y);
    let risen = risen.fold(0.0, f32::worse);
    assert!((risen - 0.05).abs() < 0.005, "{risen}");
    assert_eq!(before.len(), moved.len());
    window.key(CTRL, Key::Z);

    // One marker fits the middle of its vertices.
    assert!(window.says("0 m RMS, 1 marker"));
    window.pick("Axis for x", "-Y");
    assert_eq!(data(&window).bindings[0].axes.label(), "-Y, X, Z");
    assert_eq!(undo_label(&window), "Data axes · load");
    window.pick("Sampling", "Monotone cubic");
    window.press_widget(Role::CheckBox, "Automatic longest gap");
    assert_eq!(data(&window).played.sampling.max_gap, Some(0.25));
    window.press_widget(Role::CheckBox, "Rest at the first sample");
    assert_eq!(data(&window).reference, Some(0.0));
    window.pick("Fit", "None");
    window.pick("Bind channel", "load");
    assert!(window.says("Rest value"));
    window.assert_panel_fits();
    window.reach(Role::SpinButton, "Rest value");
    window.picture("data-scalar");
    window.pick("Direction of the value", "Fixed");
    assert!(matches!(
        data(&window).bindings[1].kind,
        BindingKind::Scalar { .. }
    ));
    window.press_widget(Role::Button, "Unbind load");
    assert_eq!(data(&window).bindings.len(), 1);
    window.press_widget(Role::Button, "Bind nearest markers");
    assert!(window.says("every marker with a value"));
    window.press_widget(Role::Button, "Delete load");
    window.press_widget(Role::Button, "Remove recording");
    assert!(window.document().recordings().is_empty());
    window.key(CTRL, Key::Z);
    assert_eq!(window.document().recordings().len(), 1);
}

#[test]
fn a_refusal_about_a_vertex_shows_it_from_the_notification_and_from_the_messages() {
    let mut window = with_clusters_on_a_bone();
    let path = recording(&window);
    window.drop_file(&path);
    window.press_widget(Role::Button, "Add data");
    window.press_widget(Role::Button, "load");
    let editor = window.harness.state_mut().editor_mut();
    let mesh = editor.clustered_mesh().expect("an object");
    let cluster = editor.clusters().expect("clusters").clusters()[0].0;
    editor.select_points_of([(mesh, [cluster].into_iter().collect())]);
    editor.add_binding(0, "wrist");
    editor.set_binding_places(0, 0, true);
    window.settle();
    let selected = |window: &Window| -> Vec<u32> {
        let of = &window.document().session().selected_points;
        of.get(&mesh).into_iter().flat_map(|p| p.iter()).collect()
    };
    for from_messages in [false, true] {
        let editor = window.harness.state_mut().editor_mut();
        editor.select_points_of([]);
        window.settle();
        if from_messages {
            window.click(Role::Tab, "Problems");
            window.click(Role::Button, "Messages");
            assert!(window.says("two bindings of the kind Position"));
        } else {
            window.press_widget(Role::Button, "Duplicate data");
            assert!(window.says("two bindings of the kind Position"));
            window.picture("refused-vertex");
        }
        window.click(Role::Button, "Show");
        assert_eq!(selected(&window), [cluster], "{from_messages}");
    }
}

#[test]
fn a_recording_is_chosen_in_a_dialog_and_relinked_from_the_problems() {
    let mut window = with_clusters_on_a_bone();
    let path = recording(&window);
    window.find_and_run(Command::AddRecording);
    window.settle();
    window.write(&path.display().to_string());
    window.key(Modifiers::NONE, Key::Enter);
    window.wait_until("the recording", |w| !w.document().recordings().is_empty());
    window.settle();
    assert_eq!(undo_label(&window), "Add recording · load");
    let project = window.folder.path().join("arm.ron");
    window.harness.state_mut().editor_mut().save_as(&project);
    window.settle();
    let moved = window.folder.path().join("moved.csv");
    std::fs::rename(&path, &moved).expect("it is moved");
    window.drop_file(&project);
    assert!(window.says("load, cannot be read"));
    window.scroll_panel(-2000.0);
    window.picture("recording-missing");
    window.click(Role::Tab, "Problems (1)");
    window.picture("recording-problem");
    window.click(Role::Button, "Fix: Relink\u{2026}");
    assert!(window.says("Choose its new location."));
    window.picture("recording-relink");
    window.write(&moved.display().to_string());
    window.key(Modifiers::NONE, Key::Enter);
    window.settle();
    assert_eq!(undo_label(&window), "Relink recording · load");
    assert!(window.says("load, 10 Hz, 2 s"));
    assert!(!window.says("Fix: Relink"));
}

#[test]
fn a_channel_says_its_value_its_extremes_and_when_it_is_above_a_threshold() {
    let mut window = with_clusters_on_a_bone();
    let path = recording(&window);
    window.drop_file(&path);
    window.harness.state_mut().editor_mut().set_time(0.55);
    window.settle();
    assert!(window.says("load: 55 N"));
    assert!(window.says("wrist: 0, 0.028, 0 m"));
    window.harness.state_mut().editor_mut().set_time(5.0);
    window.settle();
    assert!(window.says("load: no value"));
    window.reach(Role::ListBoxOption, "load: no value");
    window.press_widget(Role::ListBoxOption, "load: no value");
    window.reach(Role::SpinButton, "Above");
    assert!(window.says("Min 0 N at 0.00 s"));
    assert!(window.says("Mean 100 N"));
    window.press_widget(Role::Link, "Max 200 N at 2.00 s");
    assert!((window.editor().playback().time_secs - 2.0).abs() < 1e-9);
    assert!(window.says("load: 200 N"));
    window.click(Role::SpinButton, "Above");
    window.write("150");
    window.key(Modifiers::NONE, Key::Enter);
    assert!(window.says("0.50 s in 1 stretch"));
    window.picture("recording-asked");
    window.press_widget(Role::Link, "1.50 - 2.00 s");
    assert!((window.editor().playback().time_secs - 1.5).abs() < 1e-6);
    window.assert_panel_fits();
    // The channel is bound to the selected bone at once; its clip is shown.
    let id = *window.document().recordings().keys().next().expect("one");
    window.reach(Role::ComboBox, "Bind to");
    window.pick("Bind to", "Hinge angle");
    window.settle();
    assert_eq!(undo_label(&window), "Bind channels · load");
    let bone = window.bones()[0];
    let name = window.document().skeleton().joint(bone).name.clone();
    let bound = window
        .editor()
        .binding_of(id, ("load", ChannelKind::Scalar))
        .cloned();
    assert_eq!(
        bound.as_ref().and_then(|to| to.joint()),
        Some(name.as_str())
    );
    let n_clips = window.document().clips().len();
    window.reach(Role::SpinButton, "Gain of the binding");
    window.picture("channel-bound");
    window.click(Role::SpinButton, "Gain of the binding");
    window.write("0.5");
    window.key(Modifiers::NONE, Key::Enter);
    window.settle();
    let bound = window
        .editor()
        .binding_of(id, ("load", ChannelKind::Scalar))
        .cloned();
    let scale = bound.and_then(|to| to.scale()).expect("a number");
    assert_eq!((scale.gain, scale.offset), (0.5, 0.0));
    assert_eq!(
        window.document().clips().len(),
        n_clips,
        "the clip is made again"
    );
    assert_eq!(window.editor().contacts_of(id), None, "it has no feet");
    window.find_and_run(Command::Undo);
    window.find_and_run(Command::Undo);
    window.settle();
    assert_eq!(
        window
            .editor()
            .binding_of(id, ("load", ChannelKind::Scalar)),
        None
    );
}
