//! Drivers of groups of clusters in the window: added, dragged, drawn over the clip, and taken back.

use crate::clusters::{clustering, undo_label, with_clusters_on_a_bone};
use crate::window::{CTRL, Window};
use egui::{Key, Modifiers, PointerButton, Role, Vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use sinew::cluster::DriverLayer;
use sinew::cluster::procedural::{
    DriverInput, DriverPoint, Normalisation, SinkDirection, SinkMask,
};

fn driver(window: &Window) -> DriverLayer {
    let active = window.editor().active_group_layer::<DriverLayer>();
    active.expect("a driver").1.clone()
}

/// Drags the field of a number sideways, wherever its panel has it.
fn drag_number(window: &mut Window, label: &str, by: f32) {
    let at = window.reach(Role::SpinButton, label);
    let by = Vec2::new(by, 0.0);
    window.drag(PointerButton::Primary, Modifiers::NONE, at, by);
}

#[test]
fn a_driver_is_added_in_the_panel_and_its_range_dragged() {
    let mut window = clustering();
    window.choose_add("Add procedural group");
    assert!(window.says("A driver displaces the clusters of this group"));
    let mut window = with_clusters_on_a_bone();
    let bones = window.bones();
    window.select(bones[1]);
    window.press_widget(Role::Button, "Add driver");
    assert_eq!(undo_label(&window), "Add driver · Driver");
    let input = driver(&window).settings.input;
    assert_eq!(input, DriverInput::Swing { joint: bones[1].0 });
    // The pose on screen: bent by 1.2 rad.
    assert!(window.says("Amount of the driver over the input: 68.755\u{b0}"));
    window.scroll_panel(-500.0);
    window.picture("driver-added");

    let n = window.editor().history().n_undo();
    let before = driver(&window);
    drag_number(&mut window, "End of the range", 30.0);
    assert_eq!(undo_label(&window), "Driver range · Driver");
    assert_eq!(window.editor().history().n_undo(), n + 1, "one drag");
    assert!(driver(&window).settings.to > before.settings.to);
    drag_number(&mut window, "Gain", 20.0);
    assert_eq!(undo_label(&window), "Driver gain · Driver");
    assert!(driver(&window).settings.gain > before.settings.gain);
    window.key(CTRL, Key::Z);
    window.key(CTRL, Key::Z);
    assert_eq!(driver(&window), before);
    window.press_widget(Role::Button, "End from pose");
    assert!((driver(&window).settings.to - 1.2).abs() < 1e-6);
    window.pick("Extrapolation", "Linear");
    assert_eq!(driver(&window).settings.mode, Normalisation::Extend);
    assert_eq!(undo_label(&window), "Driver extrapolation · Driver");

    window.pick("Response", "Curve");
    let n = window.editor().history().n_undo();
    let at = window.reach(Role::Button, "Curve point 2 of 2: 1.00 at 1.00");
    window.picture("driver-curve");
    window.drag(
        PointerButton::Primary,
        Modifiers::NONE,
        at,
        Vec2::new(-30.0, 20.0),
    );
    assert_eq!(undo_label(&window), "Driver curve · Driver");
    assert_eq!(window.editor().history().n_undo(), n + 1, "one drag");

    window.pick("Direction", "Radial");
    assert_eq!(
        driver(&window).settings.sink.direction,
        SinkDirection::Radial
    );
    assert!(driver(&window).bone.is_some());
    window.pick("Driver profile", "Along a bone");
    let mask = driver(&window).settings.sink.mask;
    assert!(matches!(mask, SinkMask::AlongBone { .. }));
    window.assert_panel_fits();
    window.scroll_panel(-900.0);
    window.picture("driver-sink");
    window.press_widget(Role::CheckBox, "Show Driver");
    assert!(driver(&window).muted);
    window.press_widget(Role::Button, "Duplicate driver");
    assert_eq!(driver(&window).name, "Driver (2)");
    window.press_widget(Role::Button, "Delete Driver");
    assert_eq!(window.editor().group_layers::<DriverLayer>().len(), 1);
}

#[test]
fn each_input_of_a_driver_is_chosen_and_the_clip_drawn() {
    let mut window = with_clusters_on_a_bone();
    let bones = window.bones();
    window.press_widget(Role::Button, "Add driver");
    for (choice, says) in [
        ("Joint angle", "From pose"),
        ("Angle between bones", "Use selected bone for second bone"),
        ("Distance", "From the selected vertex"),
        ("Constant", "Value"),
        ("Time", "Start of the range"),
        ("Twist", "Use selected bone for bone"),
    ] {
        window.pick("Input", choice);
        assert!(window.says(says), "{choice}");
        window.assert_panel_fits();
        window.reach(Role::ComboBox, "Input");
        window.picture(&format!("driver-input-{choice}"));
    }
    // A vertex that is read is selected and framed by a click on its number.
    window.pick("Input", "Distance");
    let editor = window.harness.state_mut().editor_mut();
    let mesh = editor.clustered_mesh().expect("an object");
    editor.select_points_of([(mesh, [7].into_iter().collect())]);
    window.settle();
    window.press_widget(Role::Button, "From the selected vertex");
    let editor = window.harness.state_mut().editor_mut();
    editor.select_points_of([]);
    window.settle();
    window.press_widget(Role::Link, "Vertex 7");
    assert!(window.document().session().selected_points[&mesh].contains(7));
    window.pick("Input", "Twist");
    window.select(bones[1]);
    window.press_widget(Role::Button, "Use selected bone for bone");
    assert_eq!(
        driver(&window).settings.input,
        DriverInput::Twist { joint: bones[1].0 }
    );
    let label = window.document().skeleton().label(bones[0]);
    window.press_widget(Role::ComboBox, "Bone");
    window.picture("driver-bones");
    window.key(Modifiers::NONE, Key::Escape);
    window.pick("Bone", &label);
    assert_eq!(
        driver(&window).settings.input,
        DriverInput::Twist { joint: bones[0].0 }
    );
    let clip = *window.document().clips().keys().next().expect("a clip");
    let editor = window.harness.state_mut().editor_mut();
    editor.show_clip(Some(clip));
    editor.set_time(0.4);
    window.settle();
    assert!(window.says("Amount of the driver over the clip"));
    window.picture("driver-clip");
}

/// Whether a number with this unit stands beside *Now*, and how far the clusters are moved.
fn now(window: &Window, unit: &str) -> String {
    let found = window.harness.query_all_by_label_contains(", moves by ");
    let texts = found.filter_map(|node| {
        node.accesskit_node()
            .label()
            .or(node.accesskit_node().value())
    });
    let texts: Vec<String> = texts.filter(|text| !text.starts_with("Amount")).collect();
    let [text] = &texts[..] else {
        panic!("{texts:?}");
    };
    let value = text.split(", moves by ").next().unwrap_or_default();
    assert!(value.ends_with(unit), "{text}");
    assert!(window.says("Now"));
    assert!(
        window.says(&format!("the input: {text}")) || window.says(&format!("the clip: {text}"))
    );
    text.clone()
}

#[test]
fn each_kind_of_driver_shows_its_value_while_posing_and_playing() {
    let mut window = with_clusters_on_a_bone();
    let path = window.folder.path().join("load.csv");
    std::fs::write(&path, "time,load[N]\n0,0\n1,100\n2,200\n").expect("a file");
    window.drop_file(&path);
    let bones = window.bones();
    window.select(bones[1]);
    window.press_widget(Role::Button, "Add driver");
    let clip = *window.document().clips().keys().next().expect("a clip");
    let end = |b| DriverInput::Distance {
        a: DriverPoint::Joint(bones[0].0),
        b,
    };
    // The vertex farthest from the first bone's head.
    let head = window.editor().world()[bones[0].get()]
        .translation
        .as_vec3();
    let positions = window.positions();
    let far = positions.iter().enumerate();
    let far = far.max_by(|a, b| a.1.distance(head).total_cmp(&b.1.distance(head)));
    let far = far.map_or(0, |(point, _)| point as u32);
    for (choice, unit, follows_pose) in [
        ("Swing", "\u{b0}", true),
        ("Joint angle", "\u{b0}", true),
        ("Angle between bones", "\u{b0}", true),
        ("Twist", "\u{b0}", false),
        ("Distance", " m", true),
        ("Vertices", " m", true),
        ("Time", " s", false),
        ("Channel", " N", false),
        ("Constant", "", false),
    ] {
        window.harness.state_mut().editor_mut().show_clip(None);
        window.settle();
        let input = match choice {
            "Vertices" => Some(end(DriverPoint::Vertex(far))),
            "Distance" => Some(end(DriverPoint::Joint(bones[2].0))),
            "Angle between bones" => Some(DriverInput::BoneAngle {
                a: bones[0].0,
                b: bones[1].0,
            }),
            _ => None,
        };
        if choice != "Vertices" {
            window.pick("Input", choice);
        }
        if let Some(input) = input {
            let editor = window.harness.state_mut().editor_mut();
            editor.set_driver(0, "input", |layer| layer.settings.input = input);
            window.settle();
            window.settle();
        }
        let before = now(&window, unit);
        // A drag of the bone, before it ends.
        let mut local = window.document().free_pose().locals[bones[1].get()];
        window
            .harness
            .state_mut()
            .editor_mut()
            .begin_pose_field(bones[1], "Rotate");
        local.rotation *= glam::DQuat::from_rotation_x(-0.4);
        window
            .harness
            .state_mut()
            .editor_mut()
            .set_pose_field(bones[1], local);
        window.settle();
        window.settle();
        let posed = now(&window, unit);
        assert_eq!(posed != before, follows_pose, "{choice}: {before}, {posed}");
        window.harness.state_mut().editor_mut().cancel_transform();
        window.settle();
        // The clip, at two of its times.
        window
            .harness
            .state_mut()
            .editor_mut()
            .show_clip(Some(clip));
        let mut shown = [0.2, 0.9].map(|secs| {
            window.harness.state_mut().editor_mut().set_time(secs);
            window.settle();
            window.settle();
            now(&window, unit)
        });
        shown.sort();
        let follows_clip = follows_pose || ["Time", "Channel"].contains(&choice);
        // Whether the clip twists the bone does not matter here.
        let is_known = choice == "Twist" || (shown[0] != shown[1]) == follows_clip;
        assert!(is_known, "{choice}: {shown:?}");
    }
}
