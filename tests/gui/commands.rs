//! Menus, the row of buttons, keys and the timeline.

use crate::window::{CTRL, CTRL_SHIFT, Window, is_menu_item};
use egui::{Key, Modifiers, Role};
use egui_kittest::Node;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use sinew::deform::SkinningMethod;
use sinew::view::Shading;
use sinew::view::commands::Command;
use sinew::view::commands::table::{Group, TABLE};
use sinew::view::mode::Mode;
use std::collections::{BTreeMap, BTreeSet};

/// Label -> menu and whether it can be pressed, from opening every menu and every submenu.
fn items(window: &mut Window) -> BTreeMap<String, (Group, bool)> {
    let mut found = BTreeMap::new();
    for group in Group::ALL {
        let in_menu = TABLE.iter().filter(|row| row.group == group);
        let submenus: BTreeSet<&str> = in_menu.map(|row| row.submenu).collect();
        for submenu in submenus {
            window.click(Role::Button, group.label());
            if !submenu.is_empty() {
                window.open_submenu(submenu);
            }
            for node in window.harness.root().children_recursive() {
                let node = node.accesskit_node();
                if is_menu_item(node.role()) {
                    let label = node.label().expect("items have labels");
                    found.insert(label, (group, !node.is_disabled()));
                }
            }
            window.key(Modifiers::NONE, Key::Escape);
            window.key(Modifiers::NONE, Key::Escape);
        }
    }
    found
}

fn assert_all_commands_are_offered(window: &mut Window) {
    let items = items(window);
    let labels = Command::all().map(|command| command.full_label(window.editor()));
    let missing: Vec<String> = labels.filter(|label| !items.contains_key(label)).collect();
    assert!(missing.is_empty(), "in no menu: {missing:?}");
    assert_eq!(items.len(), TABLE.len());
    for command in Command::all() {
        let label = command.full_label(window.editor());
        let (group, enabled) = items
            .get(&label)
            .unwrap_or_else(|| panic!("{label} is in no menu"));
        assert_eq!(*group, command.group(), "{label}");
        assert_eq!(*enabled, command.is_enabled(window.editor()), "{label}");
    }
    // The buttons of the tool bar and the header say the same.
    for command in [Command::SetMode(Mode::Paint), Command::Show(Shading::Wire)] {
        let button = window
            .harness
            .get_by_role_and_label(Role::Button, command.label());
        let enabled = !button.accesskit_node().is_disabled();
        assert_eq!(
            enabled,
            command.is_enabled(window.editor()),
            "{}",
            command.label()
        );
    }
}

#[test]
fn every_command_is_in_a_menu_and_enabled_when_it_can_be_asked_for() {
    let mut window = Window::on("arm.glb");
    assert_all_commands_are_offered(&mut window);
    assert!(!Command::Undo.is_enabled(window.editor()));
    let bone = window.bones()[0];
    window.select(bone);
    window.choose("Skinning", "Linear blend");
    window.choose("Edit", &Command::Undo.full_label(window.editor()));
    assert!(Command::Undo.is_enabled(window.editor()) || Command::Redo.is_enabled(window.editor()));
    assert_all_commands_are_offered(&mut window);
}

#[test]
fn items_of_the_view_menu_do_what_they_say() {
    let mut window = Window::on("arm.glb");
    for shading in [
        Shading::Shaded,
        Shading::Weights,
        Shading::Wire,
        Shading::Textured,
    ] {
        window.choose("View", Command::Show(shading).label());
        assert_eq!(window.app().viewport().options.shading, shading);
    }
    let switches = |w: &Window| {
        let options = w.app().viewport().options;
        [
            options.show_bones,
            options.show_grid,
            options.wire_overlay,
            w.document().session().camera.orthographic,
        ]
    };
    for (i, label) in [
        "Show bones",
        "Show grid",
        "Wireframe overlay",
        "Orthographic",
    ]
    .into_iter()
    .enumerate()
    {
        let before = switches(&window);
        window.choose("View", label);
        let mut expected = before;
        expected[i] = !before[i];
        assert_eq!(switches(&window), expected, "{label}");
        window.choose("View", label);
        assert_eq!(switches(&window), before, "{label}");
    }
    for (label, axis) in [
        ("Front view", glam::Vec3::Z),
        ("Right view", glam::Vec3::X),
        ("Top view", glam::Vec3::Y),
    ] {
        window.choose("View", label);
        let backward = window.document().session().camera.backward();
        assert!(backward.abs_diff_eq(axis, 2e-3), "{label}: {backward}");
    }
    let bone = window.bones()[1];
    window.select(bone);
    let far = window.document().session().camera.distance;
    window.choose("View", "Frame selected");
    assert!(window.document().session().camera.distance < far);
    window.choose("View", "Frame all");
    assert_eq!(window.document().session().camera.distance, far);
}

#[test]
fn the_skinning_method_changes_the_picture_in_one_step() {
    let mut window = Window::on("arm.glb");
    window.harness.key_press(Key::Space);
    window.harness.key_press(Key::Space);
    window.settle();
    let (start, end) = window.editor().clip_range().expect("a clip");
    window
        .harness
        .get_by_label("Time")
        .set_value_accesskit(start.midpoint(end));
    window.settle();
    let dual = window.positions();
    let by_method = |window: &mut Window, label: &str| {
        window.choose("Skinning", label);
        window.positions()
    };
    let linear = by_method(&mut window, "Linear blend");
    assert_eq!(window.editor().method(), SkinningMethod::Lbs);
    assert!(linear != dual);
    window.key(CTRL, Key::Z);
    assert_eq!(window.editor().method(), SkinningMethod::Dqs);
    assert!(window.positions() == dual);
    window.key(CTRL_SHIFT, Key::Z);
    assert!(window.positions() == linear);
    window.key(CTRL, Key::Z);
    window.key(CTRL_SHIFT, Key::Z);
    assert!(window.positions() == linear);
    // Chosen back right after, it is as if nothing had been chosen.
    assert!(by_method(&mut window, "Dual quaternion") == dual);
    assert_eq!(window.editor().history().n_steps(), 0);
}

#[test]
fn space_plays_and_the_time_can_be_dragged() {
    let mut window = Window::on("arm.glb");
    let clips: Vec<String> = window
        .document()
        .clips()
        .values()
        .map(|c| c.name.clone())
        .collect();
    assert!(!clips.is_empty());
    let combo = window.harness.get_by_role_and_label(Role::ComboBox, "Clip");
    combo.click();
    window.settle();
    for clip in clips.iter().map(String::as_str).chain(["Free pose"]) {
        assert!(
            window.harness.query_all_by_label(clip).next().is_some(),
            "{clip}"
        );
    }
    window.click(Role::Button, &clips[0]);
    let shown = window.document().session().playback.clip;
    assert_eq!(shown, window.document().clips().keys().next().copied());

    let time = |w: &Window| w.document().session().playback.time_secs;
    let rest = window.positions();
    window.harness.key_press(Key::Space);
    window.wait("time runs", |app| {
        app.editor().document().session().playback.time_secs > 0.2
    });
    assert!(window.editor().is_playing());
    window.harness.key_press(Key::Space);
    window.settle();
    assert!(!window.editor().is_playing());
    let stopped = time(&window);
    assert!(window.positions() != rest);
    window.settle();
    assert_eq!(time(&window), stopped);

    let rect = window.harness.get_by_label("Time").rect();
    let before = window.positions();
    window.press(rect.left_center() + egui::vec2(8.0, 0.0));
    let middle = rect.center();
    window.move_to(middle);
    window.release(middle);
    window.settle();
    let (start, end) = window.editor().clip_range().expect("a clip");
    assert!((time(&window) - start.midpoint(end)).abs() < 0.02 * (end - start));
    assert!(window.positions() != before);
}

#[test]
fn tab_only_ever_swaps_the_mode() {
    let mut window = Window::on("arm.glb");
    for i in 0..20 {
        let before = window.app().viewport().mode;
        window.harness.key_press(Key::Tab);
        window.harness.step();
        assert_ne!(window.app().viewport().mode, before, "press {i}");
        let nodes = window.harness.root().children_recursive();
        let focused: Vec<_> = nodes.filter(Node::is_focused).collect();
        assert!(focused.is_empty(), "press {i} went on to {focused:?}");
    }
    window.key(Modifiers::NONE, Key::Tab);
    assert_eq!(window.app().viewport().mode, sinew::view::mode::Mode::Paint);
    let radius = window.document().session().brush.radius_px;
    window.key(Modifiers::NONE, Key::CloseBracket);
    assert!(window.document().session().brush.radius_px > radius);
}

#[test]
fn the_list_of_bones_filters_and_locks() {
    let mut window = Window::on("mannequin.glb");
    let bones = window.bones();
    let labels: Vec<String> = bones
        .iter()
        .map(|&b| window.document().skeleton().label(b))
        .collect();
    window.click(Role::TextInput, "Filter bones");
    // Letters of a filter are no shortcuts.
    window.write(&labels[3].to_uppercase());
    assert!(
        window
            .harness
            .query_by_role_and_label(Role::TreeItem, &labels[3])
            .is_some()
    );
    assert!(
        window
            .harness
            .query_by_role_and_label(Role::TreeItem, &labels[labels.len() - 1])
            .is_none()
    );
    let lock = format!("Lock {}", labels[3]);
    window.click(Role::CheckBox, &lock);
    assert!(window.document().locked().contains(&bones[3]));
    assert_eq!(window.editor().history().undo_label(), Some("Lock bone"));
    window.click(Role::CheckBox, &lock);
    assert!(window.document().locked().is_empty());
}

#[test]
fn menus_name_keys_as_they_are_printed() {
    let ctx = egui::Context::default();
    ctx.set_os(egui::os::OperatingSystem::Nix);
    for (command, keys) in [
        (Command::Undo, "Ctrl+Z"),
        (Command::SmallerBrush, "["),
        (Command::LargerBrush, "]"),
        (Command::FrameSelected, "."),
        (Command::Show(Shading::Wire), ""),
    ] {
        assert_eq!(command.keys(&ctx), keys);
    }
}
