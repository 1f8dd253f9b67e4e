//! The frame around the work: panels, workspaces, themes, settings, welcome, recovery, toasts.

use crate::window::{CTRL, Window, asset};
use egui::{Key, Modifiers, PointerButton, Pos2, Role, Vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use sinew::app::Folders;
use sinew::app::settings::SettingsFile;
use sinew::app::thumbnails::Thumbnails;
use sinew::io::project::Autosaves;
use sinew::view::frame::{PanelKind, Workspace};
use sinew::view::mode::Mode;
use sinew::view::theme::{self, ThemeChoice};
use std::path::Path;

/// Everything below one folder.
fn folders(folder: &Path) -> Folders {
    Folders {
        autosaves: Some(Autosaves::in_folder(folder.join("autosave"))),
        settings: Some(folder.join("settings.ron")),
        thumbnails: Some(Thumbnails::in_folder(folder.join("thumbnails"))),
    }
}

impl Window {
    fn is_open(&self, panel: PanelKind) -> bool {
        self.app().dock().is_open(panel)
    }

    fn has(&self, role: Role, label: &str) -> bool {
        self.harness.query_by_role_and_label(role, label).is_some()
    }

    /// The place of a docked or floating panel.
    fn panel(&self, panel: PanelKind) -> egui::Rect {
        let shown = self.app().dock().shown().iter();
        let found = shown.rev().find(|(kind, _)| *kind == panel);
        found.unwrap_or_else(|| panic!("{panel:?} does not show")).1
    }

    /// What the program writes when it ends.
    fn end(mut self) {
        eframe::App::on_exit(self.harness.state_mut(), None);
    }
}

#[test]
fn a_panel_closes_and_comes_back_by_the_window_menu() {
    let mut window = Window::on("arm.glb");
    let before = window.viewport();
    assert!(window.has(Role::TextInput, "Filter bones"));
    window.click(Role::Button, "Close Hierarchy");
    assert!(!window.is_open(PanelKind::Hierarchy));
    assert!(!window.has(Role::TextInput, "Filter bones"));
    window.click(Role::Button, "Close Properties");
    assert!(
        window.viewport().width() > before.width() + 200.0,
        "its room is the viewport's"
    );
    window.choose("Window", "Hierarchy panel");
    window.choose("Window", "Properties panel");
    assert!(window.has(Role::TextInput, "Filter bones"));
    assert_eq!(window.viewport(), before, "where it was");
    assert!(!window.has(Role::Button, "Close Viewport"));
}

#[test]
fn a_panel_floats_works_there_and_docks_again() {
    let mut window = Window::on("arm.glb");
    let before = window.viewport();
    window.click(Role::Button, "Float Hierarchy");
    assert!(window.app().dock().is_floating(PanelKind::Hierarchy));
    assert!(window.has(Role::Button, "Dock Hierarchy"));
    let at = window.panel(PanelKind::Hierarchy);
    let bone = window.bones()[1];
    window.select(bone);
    // Dragged by its heading.
    let heading = at.min + Vec2::new(40.0, 12.0);
    let by = Vec2::new(-200.0, 30.0);
    window.drag(PointerButton::Primary, Modifiers::NONE, heading, by);
    let moved = window.panel(PanelKind::Hierarchy).min - at.min;
    assert!((moved - by).length() < 4.0, "{moved:?}");
    window.picture("floating");
    window.click(Role::Button, "Dock Hierarchy");
    assert!(!window.app().dock().is_floating(PanelKind::Hierarchy));
    assert_eq!(window.viewport(), before);
    window.click(Role::Button, "Float Hierarchy");
    window.click(Role::Button, "Close Hierarchy");
    assert!(!window.is_open(PanelKind::Hierarchy));
}

#[test]
fn ctrl_space_maximises_the_panel_under_the_pointer() {
    let mut window = Window::on("arm.glb");
    let at = window.panel(PanelKind::Hierarchy).center();
    window.move_to(at);
    window.key(CTRL, Key::Space);
    assert_eq!(window.app().dock().maximised(), Some(PanelKind::Hierarchy));
    assert!(window.has(Role::TextInput, "Filter bones"));
    assert!(window.harness.query_by_label("Viewport").is_none());
    assert!(window.panel(PanelKind::Hierarchy).width() > 1200.0);
    window.key(CTRL, Key::Space);
    assert_eq!(window.app().dock().maximised(), None);
    let at = window.viewport().center();
    window.move_to(at);
    window.key(CTRL, Key::Space);
    assert_eq!(window.app().dock().maximised(), Some(PanelKind::Viewport));
    assert!(!window.has(Role::TextInput, "Filter bones"));
    window.key(Modifiers::NONE, Key::Escape);
    assert_eq!(window.app().dock().maximised(), None);
    window.click(Role::Button, "Maximise Properties");
    window.click(Role::Button, "Restore Properties");
    assert_eq!(window.app().dock().maximised(), None);
}

#[test]
fn a_tab_is_dragged_to_another_place() {
    let mut window = Window::on("arm.glb");
    let tab = window
        .harness
        .get_by_role_and_label(Role::Tab, "Timeline")
        .rect();
    let from = tab.left_center() + Vec2::new(12.0, 0.0);
    let to = window.viewport().right_center() - Vec2::new(40.0, 0.0);
    window.move_to(from);
    window.button(from, PointerButton::Primary, true, Modifiers::NONE);
    for i in 1..=12 {
        window.move_to(from + (to - from) * (i as f32 / 12.0));
    }
    window.button(to, PointerButton::Primary, false, Modifiers::NONE);
    window.settle();
    let timeline = window.panel(PanelKind::Timeline);
    assert!(
        timeline.height() > 300.0,
        "beside the viewport: {timeline:?}"
    );
    assert!(timeline.left() > window.viewport().right() - 4.0);
    window.choose("Window", "Reset workspace");
    assert!(window.panel(PanelKind::Timeline).height() < 200.0);
}

#[test]
fn workspaces_keep_selection_pose_brush_and_their_own_layout() {
    let mut window = Window::on("mannequin.glb");
    let bone = window.bones()[3];
    window.select(bone);
    window
        .harness
        .state_mut()
        .editor_mut()
        .brush_mut()
        .radius_px = 77.0;
    let (camera, playback) = (
        window.document().session().camera,
        window.document().session().playback,
    );
    window.click(Role::Tab, "Weights");
    assert_eq!(window.app().viewport().mode, Mode::Paint);
    window.click(Role::Button, "Close Timeline");
    assert!(!window.is_open(PanelKind::Timeline));
    window.click(Role::Tab, "Animate");
    assert_eq!(window.app().viewport().mode, Mode::Pose);
    assert!(window.is_open(PanelKind::Timeline), "layouts are their own");
    for (key, workspace) in [
        (Key::PageUp, Workspace::Correctives),
        (Key::PageUp, Workspace::Clusters),
        (Key::PageUp, Workspace::Weights),
        (Key::PageUp, Workspace::Rig),
        (Key::PageUp, Workspace::Compare),
        (Key::PageUp, Workspace::Animate),
        (Key::PageDown, Workspace::Compare),
        (Key::PageDown, Workspace::Rig),
        (Key::PageDown, Workspace::Weights),
    ] {
        window.key(CTRL, key);
        assert_eq!(window.app().settings().workspace, workspace);
    }
    assert!(!window.is_open(PanelKind::Timeline), "and are remembered");
    let session = window.document().session();
    assert_eq!(session.active_joint, Some(bone));
    assert_eq!(session.brush.radius_px, 77.0);
    assert_eq!((session.camera, session.playback), (camera, playback));
    assert!(!window.editor().history().is_modified());
    window.choose("Window", "Reset workspace");
    assert!(window.is_open(PanelKind::Timeline));
}

#[test]
fn layout_theme_size_and_recents_outlive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let file = asset("arm.glb");
    let mut window = Window::with_folders(Some(&file), folders(folder.path()));
    window.click(Role::Button, "Close Properties");
    window.click(Role::Button, "Float Hierarchy");
    window.key(Modifiers::NONE, Key::T);
    window.choose("Window", "Light theme");
    window.choose("Window", "Increase UI scale");
    window.click(Role::Tab, "Animate");
    window.end();

    let mut window = Window::with_folders(Some(&file), folders(folder.path()));
    assert_eq!(theme::choice(&window.harness.ctx), ThemeChoice::Light);
    assert_eq!(window.harness.ctx.zoom_factor(), 1.125);
    assert_eq!(window.app().settings().workspace, Workspace::Animate);
    assert_eq!(window.app().viewport().mode, Mode::Pose);
    assert!(!window.has(Role::Button, "Paint"), "no tool bar");
    assert_eq!(window.app().settings().recents[0].path, file);
    window.click(Role::Tab, "Rig");
    assert!(!window.is_open(PanelKind::Properties));
    assert!(window.app().dock().is_floating(PanelKind::Hierarchy));
}

#[test]
fn a_settings_file_that_cannot_be_read_is_said_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.ron");
    std::fs::write(&path, "this is not (a settings file").unwrap();
    let window = Window::with_folders(Some(&asset("arm.glb")), folders(folder.path()));
    assert!(window.says("The settings cannot be read"));
    assert_eq!(window.app().settings().ui_scale, 1.0);
    window.end();
    assert!(folder.path().join("settings.ron.kept").exists());
    let mut again = SettingsFile::open(Some(path));
    assert_eq!(again.take_notice(), None);
}

#[test]
fn themes_change_the_whole_window() {
    let mut window = Window::on("arm.glb");
    let mut grounds = Vec::new();
    for choice in ThemeChoice::ALL {
        window.choose("Window", &format!("{} theme", choice.label()));
        assert_eq!(theme::choice(&window.harness.ctx), choice);
        let at = window.panel(PanelKind::Properties).right_bottom() - Vec2::splat(6.0);
        window.harness.remove_cursor();
        window.settle();
        let picture = window.picture(&format!("theme-{}", choice.label()));
        let pixel = picture.get_pixel(at.x as u32, at.y as u32).0;
        let panel = choice.palette().panel;
        assert_eq!(pixel[..3], panel.to_array()[..3], "{choice:?}");
        grounds.push(pixel);
    }
    grounds.sort_unstable();
    grounds.dedup();
    assert_eq!(grounds.len(), 3);
}

#[test]
fn toasts_take_neither_the_focus_nor_the_pointer() {
    let mut window = Window::on("arm.glb");
    window.harness.get_by_label("Filter bones").focus();
    window.harness.step();
    window.drop_file(window.folder.path().join("nowhere.glb"));
    assert!(window.says("nowhere.glb") && window.has(Role::Alert, &error_text(&window)));
    let field = window.harness.get_by_label("Filter bones");
    assert!(
        field.accesskit_node().is_focused(),
        "the field keeps the focus"
    );
    window.key(Modifiers::NONE, Key::A);
    assert!(
        window
            .editor()
            .messages()
            .iter()
            .any(|m| m.text.contains("nowhere.glb"))
    );
    // A click through it picks in the viewport: nothing there, so nothing is selected.
    let toast = window.harness.get_by_role(Role::Alert).rect();
    let at = toast.left_center() + Vec2::new(60.0, 0.0);
    assert!(window.viewport().contains(at));
    window.press(at);
    window.release(at);
    window.settle();
    let viewport = window.harness.get_by_label("Viewport");
    assert!(
        viewport.accesskit_node().is_focused(),
        "the click went through"
    );
    window.click(Role::Button, "Dismiss");
    assert!(!window.has(Role::Button, "Dismiss") && window.app().toasts().is_empty());
}

#[test]
fn messages_about_a_file_leave_when_another_opens() {
    let mut window = Window::on("arm.glb");
    let broken = window.folder.path().join("broken.glb");
    std::fs::write(&broken, b"not a model").expect("a file");
    window.drop_file(&broken);
    assert!(window.has(Role::Button, "Dismiss"));
    window.drop_file(asset("mannequin.glb"));
    assert!(window.document().skeleton().len() > 10, "it is open");
    assert!(!window.has(Role::Button, "Dismiss"));
}

fn error_text(window: &Window) -> String {
    let node = window.harness.get_by_role(Role::Alert);
    node.accesskit_node().label().unwrap_or_default()
}

#[test]
fn the_welcome_shows_recent_files_and_closes_on_escape() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("my arm.glb");
    std::fs::copy(asset("arm.glb"), &model).unwrap();
    let gone = folder.path().join("gone.glb");
    std::fs::copy(asset("cylinder.glb"), &gone).unwrap();
    let mut window = Window::with_folders(Some(&gone), folders(folder.path()));
    assert!(!window.says("Welcome to Sinew"), "not over a file");
    window.picture("gone");
    // Opening another keeps a picture of this one; so does a save.
    window.drop_file(&model);
    window.picture("my arm");
    window.harness.step();
    window.end();
    std::fs::remove_file(&gone).unwrap();

    let mut window = Window::with_folders(None, folders(folder.path()));
    assert!(window.says("Welcome to Sinew"));
    window.wait_until("looked at", |w| w.says("This file no longer exists."));
    assert!(window.has(Role::Button, "Open my arm.glb"));
    assert!(window.has(Role::Button, "gone.glb is missing"));
    let thumbnails = std::fs::read_dir(folder.path().join("thumbnails")).unwrap();
    assert!(thumbnails.count() >= 1);
    window.picture("welcome");
    window.key(Modifiers::NONE, Key::Escape);
    assert!(!window.says("Welcome to Sinew"));
    assert!(
        !window.editor().displayed().is_empty(),
        "the sample arm is below"
    );
    window.choose("Help", "Welcome");
    window.click(Role::Button, "Open my arm.glb");
    assert_eq!(window.editor().model_name(), "my arm.glb");
    window.choose("Help", "Welcome");
    window.click(Role::CheckBox, "Show at start");
    // A click beside it.
    let at = Pos2::new(40.0, 400.0);
    window.press(at);
    window.release(at);
    window.settle();
    assert!(!window.says("Welcome to Sinew"));
    window.choose("Help", "Welcome");
    window.click(Role::Button, "Hand");
    assert_eq!(window.editor().model_name(), "sample hand");
    window.end();
    let window = Window::with_folders(None, folders(folder.path()));
    assert!(!window.says("Welcome to Sinew"), "switched off");
}

#[test]
fn recovered_work_shows_a_preview_and_the_steps() {
    let folder = tempfile::tempdir().unwrap();
    let places = || folders(folder.path());
    let mut window = Window::with_folders(Some(&asset("arm.glb")), places());
    let bone = window.bones()[0];
    window.select(bone);
    window.key(Modifiers::NONE, Key::Tab);
    window.stroke();
    window.stroke();
    window.picture("before recovery");
    window.harness.state_mut().editor_mut().autosave_now();
    window.wait("an autosave", |app| {
        app.editor().latest_autosave().is_some()
    });
    window.picture("autosave");
    window.harness.step();
    let preview = || {
        let entries = std::fs::read_dir(folder.path().join("autosave")).unwrap();
        entries
            .flatten()
            .any(|e| e.path().extension().is_some_and(|e| e == "png"))
    };
    window.wait("a preview", |_| preview());

    // As after a crash.
    drop(window);
    let mut again = Window::with_folders(Some(&asset("cylinder.glb")), places());
    again.wait_until("the offer", |w| w.says("Recovered work"));
    assert!(again.says("2 unsaved steps") && again.has(Role::Image, "Preview of arm"));
    again.harness.step();
    again.picture("recovery");
    // Dropping a file works over a dialog, and the offer stays.
    again.drop_file(asset("hand.glb"));
    assert_eq!(again.editor().model_name(), "hand.glb");
    again.click(Role::Button, "Discard…");
    assert!(again.says("Delete this work permanently?") && preview());
    again.click(Role::Button, "Keep");
    assert!(again.has(Role::Button, "Restore") && preview());
    again.click(Role::Button, "Discard…");
    again.click(Role::Button, "Delete");
    assert!(!again.says("Recovered work") && !preview());
}

#[test]
fn about_lists_the_licences() {
    let mut window = Window::on("arm.glb");
    window.choose("Help", "About Sinew");
    assert!(window.says(&format!("Sinew {}", env!("CARGO_PKG_VERSION"))));
    assert!(window.says("accesskit") && window.says("Third-party software"));
    window.picture("about");
    window.key(Modifiers::NONE, Key::Escape);
    assert!(!window.says("Third-party software"));
}

#[test]
fn hints_follow_the_mode_and_the_keys_that_are_held() {
    let mut window = Window::on("arm.glb");
    assert!(window.says("Click select"));
    window.harness.event(egui::Event::ModifiersChanged(CTRL));
    window.harness.step();
    assert!(window.says("subtract"));
    window
        .harness
        .event(egui::Event::ModifiersChanged(Modifiers::NONE));
    window.click(Role::Tab, "Weights");
    assert!(window.says("paint"));
    window.harness.event(egui::Event::ModifiersChanged(CTRL));
    window.harness.step();
    assert!(window.says("subtract"));
}
