//! The Export page: options, computing, the report, the file beside the model, saving.

use crate::window::{CTRL, CTRL_SHIFT, Window, asset};
use egui::accesskit::Toggled;
use egui::{Key, Modifiers, Role};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use sinew::app::Folders;
use sinew::deform::diagnostics::Metric;
use sinew::deform::{StackChoice, StackPreset};
use sinew::document::{ClipId, Document, PaneLayout};
use sinew::editor::exporting::{Correction, Standing};
use sinew::io::import_file;
use sinew::math::Worse;
use sinew::task::Task;
use sinew::view::scene::Shading;
use std::path::Path;
use std::process::Command;

/// The page on the arm, for a coarse correction of one clip without helper joints, which is quick.
fn page() -> Window {
    let mut window = Window::on("arm.glb");
    coarse(&mut window);
    window.key(CTRL, Key::E);
    window
}

fn coarse(window: &mut Window) {
    let first = *window.document().clips().keys().next().expect("a clip");
    let editor = window.harness.state_mut().editor_mut();
    let bake = &mut editor.export_settings_mut().bake;
    bake.tolerance = 0.02;
    bake.max_joints = 1;
    bake.clips = vec![first];
}

fn is_on(window: &Window, role: Role, label: &str) -> bool {
    let node = window.harness.get_by_role_and_label(role, label);
    node.accesskit_node().toggled() == Some(Toggled::True)
}

/// Clicks a widget wherever the page is scrolled to.
fn press(window: &mut Window, role: Role, label: &str) {
    let node = window.harness.get_by_role_and_label(role, label);
    node.click_accesskit();
    window.harness.step();
    window.settle();
}

fn is_open(window: &Window) -> bool {
    window.harness.query_by_label("Close the page").is_some()
}

#[test]
fn a_corrected_file_is_computed_looked_at_and_saved() {
    let mut window = page();
    assert!(is_open(&window));
    assert!(is_on(&window, Role::RadioButton, "For these clips"));
    assert!(window.says("Corrected: 1 of "));
    // Keys of the commands are letters of the path.
    let path = window.folder.path().join("arm-out.glb");
    window.write(&path.display().to_string());
    assert!(is_on(&window, Role::RadioButton, "Binary (.glb)"));
    let mm = window.editor().rest_diagonal().expect("it is measured") * 20.0;
    assert!(window.says(&format!("= {mm:.1} mm")), "2 % of the diagonal");

    // What it will come to is told while options are chosen.
    window.wait_until("an estimate", |w| w.says("Estimate: "));
    assert!(window.says("without the correction"));
    assert!(window.says("Before export: "));
    window.picture("export-options");

    // Enter computes; nothing is written.
    window.key(Modifiers::NONE, Key::Enter);
    assert_eq!(window.editor().export_standing(&path), Standing::Current);
    assert!(!path.exists());
    assert!(window.says("Within tolerance: largest error found"));
    window.picture("export-computed");

    // The worst place: clip, time, point, with the file beside the model.
    press(&mut window, Role::Button, "Show");
    assert_eq!(window.editor().exporting().beside(), Some(PaneLayout::Two));
    let result = window.editor().exporting().result().expect("a result");
    let worst = result.correction().and_then(|c| c.worst.clone());
    let worst = worst.expect("a worst place");
    let (clip, _) = window.editor().shown_clip().expect("a clip");
    assert_eq!(Some(clip), worst.clip_id);
    let time = window.editor().playback().time_secs;
    assert!((time - worst.time).abs() < 1e-6);
    assert!(window.says("Viewport 1: This project") && window.says("Viewport 2: As exported"));
    let view = window.editor().view_of(&StackChoice::Exported);
    assert!(
        window
            .editor()
            .is_view_shown(view.expect("it is asked for"))
    );
    window.picture("export-beside");

    let before = window.app().viewport().options;
    press(&mut window, Role::CheckBox, "Colour difference");
    let options = window.app().viewport().options;
    assert_eq!(
        (options.shading, options.metric),
        (Shading::HeatMap, Metric::Difference)
    );
    let figures = window.editor().heat_figures(view.expect("a view"));
    let largest = f64::from(figures.expect("it is measured").summary.max);
    let report = window.editor().exporting().result();
    let report = report.and_then(|r| r.correction()).expect("a report");
    let said = report.max_percent / 100.0 * report.diagonal;
    // The metric is in millimetres or metres; both tell the same.
    let same = |scale: f64| (largest - said * scale).abs() < 1e-3 * said * scale + 1e-6;
    assert!(same(1.0) || same(1e3), "{largest} {said}");
    window.picture("export-difference");
    press(&mut window, Role::RadioButton, "Wipe");
    assert_eq!(window.editor().exporting().beside(), Some(PaneLayout::Wipe));
    window.picture("export-wipe");

    // It plays.
    window.harness.key_press(Key::Space);
    let serial = window.editor().picture_serial();
    window.wait("it plays", move |app| {
        app.editor().picture_serial() > serial + 3
    });
    window.harness.key_press(Key::Space);
    window.settle();

    window.click(Role::Button, "Save");
    assert!(window.says("Exported arm-out.glb."));
    let result = window.editor().exporting().result().expect("a result");
    let computed = result.exported().files[0].1.clone();
    assert_eq!(std::fs::read(&path).expect("it is written"), computed);

    // It is asked before it is written over.
    window.click(Role::Button, "Save");
    assert!(window.says("arm-out.glb already exists. Replace it?"));
    window.click(Role::Button, "Replace");
    assert!(!window.says("already exists. Replace it?"));

    // An edit makes it stale.
    let editor = window.harness.state_mut().editor_mut();
    editor.use_preset(StackPreset::Dqs);
    window.settle();
    assert!(window.says("The model changed. Compute again."));

    // Without the file beside it, nothing is coloured by the difference to it.
    press(&mut window, Role::RadioButton, "Off");
    let options = window.app().viewport().options;
    assert_eq!(
        (options.shading, options.metric),
        (before.shading, before.metric)
    );

    // Esc leaves the page, and all is as it was.
    window.key(Modifiers::NONE, Key::Escape);
    assert!(!is_open(&window));
    assert_eq!(window.editor().exporting().beside(), None);
    assert_ne!(window.app().viewport().options.shading, Shading::HeatMap);
    assert!(!window.says("As exported"));
}

#[test]
fn what_is_chosen_stays_and_a_plain_export_is_saved_at_once() {
    let mut window = page();
    window.click(Role::RadioButton, "None");
    assert_eq!(window.editor().correction(), Correction::None);
    assert!(window.says("elbows collapse"));
    window.click(Role::RadioButton, "8 influences");
    window.click(Role::RadioButton, "Text (.gltf)");
    window.click(Role::Button, "Close");
    assert!(!is_open(&window));
    window.key(CTRL, Key::E);
    assert!(is_on(&window, Role::RadioButton, "None"));
    assert!(is_on(&window, Role::RadioButton, "8 influences"));
    assert!(is_on(&window, Role::RadioButton, "Text (.gltf)"));
    let path = window.folder.path().join("plain.gltf");
    window.write(&path.display().to_string());
    window.key(Modifiers::NONE, Key::Enter);
    assert!(window.says("Exported plain.gltf."));
    assert!(path.is_file());
    // The page says what the file came to.
    assert!(window.says("Computed"));
    let result = window.editor().exporting().result().expect("a result");
    assert!(result.correction().is_none());

    // Another workspace leaves the page; its panels are all there.
    window.click(Role::Tab, "Weights");
    assert!(!is_open(&window));
    assert!(
        window
            .harness
            .query_by_role_and_label(Role::Tree, "Bones")
            .is_some()
    );
}

#[test]
fn a_preset_sets_what_its_program_reads() {
    let mut window = page();
    press(&mut window, Role::RadioButton, "For these clips");
    window.click(Role::ComboBox, "Preset");
    window.picture("export presets");
    window.click(Role::Button, "three.js");
    assert!(is_on(&window, Role::CheckBox, "Quantize"));
    window.click(Role::ComboBox, "Preset");
    window.click(Role::Button, "Blender");
    assert!(!is_on(&window, Role::CheckBox, "Quantize"));
    assert!(!is_on(&window, Role::CheckBox, "Normals"));
    window.click(Role::RadioButton, "None");
    assert!(is_on(&window, Role::RadioButton, "8 influences"));
    window.picture("export preset of Blender");
    window.click(Role::RadioButton, "4 influences");
    assert_eq!(window.editor().exporting().settings().preset(), None);
}

#[test]
fn esc_ends_a_typed_number_before_it_leaves_the_page() {
    let mut window = page();
    press(&mut window, Role::RadioButton, "For these clips");
    window.click(Role::SpinButton, "Max morph targets");
    window.write("3");
    window.key(Modifiers::NONE, Key::Escape);
    assert!(is_open(&window));
    window.key(Modifiers::NONE, Key::Escape);
    assert!(!is_open(&window));
}

#[test]
fn the_share_of_normals_is_set_where_normals_are_written() {
    let mut window = page();
    let share = |window: &Window| window.editor().exporting().settings().bake.normals_share;
    let is_shown = |window: &Window| {
        let (role, name) = (Role::SpinButton, "Normals share");
        let found = window.harness.query_by_role_and_label(role, name);
        found.is_some()
    };
    assert!(is_shown(&window));
    window.click(Role::SpinButton, "Normals share");
    window.write("20");
    window.key(Modifiers::NONE, Key::Enter);
    assert_eq!(share(&window), 0.2);
    window.click(Role::CheckBox, "Normals");
    assert!(!is_shown(&window), "no normals, no share of them");
    window.click(Role::CheckBox, "Normals");
    assert!(is_shown(&window));
    window.click(Role::RadioButton, "Morph frames");
    assert!(!is_shown(&window), "frames have all normals");
    assert_eq!(share(&window), 0.2, "a choice is kept");
}

#[test]
fn a_missed_tolerance_is_said_in_words_and_computing_is_stopped() {
    let mut window = page();
    let editor = window.harness.state_mut().editor_mut();
    let bake = &mut editor.export_settings_mut().bake;
    bake.tolerance = 1e-4;
    bake.max_morphs = 0;
    let path = window.folder.path().join("arm.glb");
    window.write(&path.display().to_string());
    window.click(Role::Button, "Compute");
    assert!(window.says("Tolerance missed: largest error found"));
    assert!(window.says("tolerance 0.01 %"));
    window.picture("export-missed");

    let editor = window.harness.state_mut().editor_mut();
    editor.export_settings_mut().bake.max_morphs = 5;
    window.harness.step();
    assert!(window.says("The options changed. Compute again."));
    window
        .harness
        .get_by_role_and_label(Role::Button, "Compute")
        .click();
    window.wait("it computes", |app| {
        app.editor().computing_export().is_some()
    });
    window.harness.step();
    window
        .harness
        .get_by_role_and_label(Role::Button, "Cancel export")
        .click();
    window.wait_until("it is cancelled", |window| {
        window.says("The export was cancelled. No file was written.")
    });
    window.settle();
    assert!(!path.exists());
}

/// What the command line writes of the arm.
fn command_line(out: &Path, flags: &[&str]) -> Vec<u8> {
    let done = Command::new(env!("CARGO_BIN_EXE_sinew"))
        .arg("export")
        .arg(asset("arm.glb"))
        .arg("--out")
        .arg(out)
        .args(flags)
        .output()
        .expect("it runs");
    assert!(done.status.success(), "{done:?}");
    std::fs::read(out).expect("it is written")
}

fn first_clip(window: &Window) -> (ClipId, String) {
    let mut clips = window.document().clips().iter();
    let (id, clip) = clips.next().expect("a clip");
    (*id, clip.name.clone())
}

#[test]
fn frames_are_computed_looked_at_and_saved_as_the_command_line_writes_them() {
    let mut window = page();
    let path = window.folder.path().join("frames.glb");
    window.write(&path.display().to_string());
    window.click(Role::RadioButton, "Morph frames");
    assert_eq!(window.editor().correction(), Correction::Frames);
    // Only what applies.
    for label in ["Max morph targets", "Max joints", "4 influences"] {
        let mut shown = window
            .harness
            .query_all_by_role_and_label(Role::SpinButton, label);
        assert!(shown.next().is_none(), "{label}");
    }
    assert!(window.harness.query_by_label("Weights 0–1").is_none());
    assert!(window.harness.query_by_label("Normals").is_some());
    assert!(window.harness.query_by_label("Sparse").is_some());
    assert!(window.says("In the file: 1 of "));
    window.wait_until("an estimate", |w| w.says("Estimate: about "));
    window.picture("export-frames");
    assert!(window.says("the file has no skin"));
    assert!(!window.says("without the correction"));

    window.key(Modifiers::NONE, Key::Enter);
    assert_eq!(window.editor().export_standing(&path), Standing::Current);
    assert!(window.says("Within tolerance: largest error found"));
    assert!(!window.says("Helper joints"));
    press(&mut window, Role::Button, "Show");
    assert_eq!(window.editor().exporting().beside(), Some(PaneLayout::Two));
    window.picture("export-frames-beside");
    let view = window.editor().view_of(&StackChoice::Exported);
    let view = view.expect("it is asked for");
    let file = window.editor().displayed_in(view);
    let pairs = window.editor().displayed().iter();
    let off = pairs.flat_map(|(id, own)| {
        let there = file.get(id).expect("every mesh is in the file");
        let pairs = own.positions.iter().zip(&*there.positions);
        pairs.map(|(a, b)| f64::from(a.distance(*b)))
    });
    let result = window.editor().exporting().result().expect("a result");
    let report = result.correction().expect("a report");
    let percent = 100.0 * off.fold(0.0, f64::worse) / report.diagonal;
    assert!((percent - report.max_percent).abs() < 1e-3, "{percent}");

    // Without a clip it has nothing to show but its rest.
    let editor = window.harness.state_mut().editor_mut();
    editor.show_clip(None);
    window.settle();
    assert!(window.says("The file has no bones to pose"));

    window.click(Role::Button, "Save");
    assert!(window.says("Exported frames.glb."));
    let (_, clip) = first_clip(&window);
    let again = window.folder.path().join("again.glb");
    let flags = ["--correct", "frames", "--tolerance", "2%", "--clips", &clip];
    let theirs = command_line(&again, &flags);
    assert!(std::fs::read(&path).expect("it is written") == theirs);
}

#[test]
fn clips_of_an_export_are_ticked_all_or_only_the_one_on_screen() {
    let mut window = page();
    window.click(Role::DisclosureTriangle, "Corrected: 1 of 3 clips");
    let chosen = |window: &Window| {
        let settings = window.editor().exporting().settings();
        settings.bake.clips.clone()
    };
    let ids: Vec<_> = window.document().clips().keys().copied().collect();
    press(&mut window, Role::Button, "All clips");
    assert!(chosen(&window).is_empty() && window.says("Corrected: 3 clips"));
    let editor = window.harness.state_mut().editor_mut();
    editor.show_clip(Some(ids[1]));
    window.settle();
    press(&mut window, Role::Button, "Current clip only");
    assert_eq!(chosen(&window), [ids[1]]);
    window.picture("export-clips");
    let name = window.document().clips()[&ids[0]].name.clone();
    press(&mut window, Role::CheckBox, &name);
    assert_eq!(chosen(&window), [ids[0], ids[1]]);
    // The last that was missing makes it all.
    let name = window.document().clips()[&ids[2]].name.clone();
    press(&mut window, Role::CheckBox, &name);
    assert!(chosen(&window).is_empty());
}

#[test]
fn the_moment_on_screen_is_saved_as_a_mesh() {
    let mut window = Window::on("arm.glb");
    window.key(CTRL_SHIFT, Key::E);
    assert!(is_on(&window, Role::RadioButton, "Current frame as mesh"));
    assert!(
        window.says("Export current frame as mesh") && window.says("On screen: the rest pose.")
    );
    // Nothing of it is computed first, or corrected.
    for label in ["Compute", "Correction", "Tolerance"] {
        assert!(window.harness.query_by_label(label).is_none(), "{label}");
    }
    let (id, clip) = first_clip(&window);
    let editor = window.harness.state_mut().editor_mut();
    editor.show_clip(Some(id));
    editor.set_time(0.5);
    window.settle();
    let moment = format!("\"{clip}\" at 0.500 s (frame 15)");
    assert!(window.says(&moment));
    let flags = ["--still", "--clip", &clip, "--time", "0.5"];
    for (radio, name) in [
        ("Binary (.glb)", "moment.glb"),
        ("Text (.gltf)", "moment.gltf"),
        ("OBJ (.obj)", "moment.obj"),
    ] {
        let folder = window.folder.path().to_owned();
        if name == "moment.glb" {
            window.write(&folder.join(name).display().to_string());
        } else {
            window.click(Role::RadioButton, radio);
        }
        assert!(is_on(&window, Role::RadioButton, radio));
        window.click(Role::Button, "Save");
        assert!(window.says(&format!("Exported {name}: {moment}.")));
        assert!(window.says(&format!("Saved {name}: {moment}.")));
        let theirs = tempfile::tempdir().expect("a folder");
        let theirs = command_line(&theirs.path().join(name), &flags);
        let mine = std::fs::read(folder.join(name)).expect("it is written");
        assert!(mine == theirs, "{name}");
    }
    window.picture("export-still");
    // It is asked before it is written over.
    window.click(Role::Button, "Save");
    assert!(window.says("moment.obj already exists. Replace it?"));
    window.click(Role::Button, "Replace");
    assert!(!window.says("already exists. Replace it?"));

    // Both kinds keep their own path; a model is no OBJ.
    window.click(Role::RadioButton, "Model");
    assert!(window.says("Export glTF") && !window.says("Saved moment.obj"));
    assert!(window.harness.query_by_label("OBJ (.obj)").is_none());
    let path = window.folder.path().join("arm.obj");
    window.write(&path.display().to_string());
    window.click(Role::Button, "Compute");
    assert!(
        window.says(
            "An .obj file holds one frame as a mesh. Choose Current frame as mesh to write it."
        )
    );
    window.click(Role::RadioButton, "Current frame as mesh");
    assert!(is_on(&window, Role::RadioButton, "OBJ (.obj)"));
    window.key(Modifiers::NONE, Key::Escape);
    assert!(!is_open(&window));
    // The keys say which.
    window.key(CTRL, Key::E);
    assert!(is_on(&window, Role::RadioButton, "Model"));
}

#[test]
fn in_a_small_window_page_and_timeline_keep_what_they_hold_in_sight() {
    let mut window = Window::sized("arm.glb", [1366.0, 768.0], 2.0);
    let (id, _) = first_clip(&window);
    let editor = window.harness.state_mut().editor_mut();
    editor.show_clip(Some(id));
    window.settle();
    for key in [CTRL, CTRL_SHIFT] {
        window.key(key, Key::E);
        let page = window.harness.get_by_label("Close the page").rect();
        let timeline = window.harness.get_by_label("Time").rect();
        for label in ["Seconds", "Frame"] {
            let node = window
                .harness
                .get_by_role_and_label(Role::SpinButton, label);
            let rect = node.rect();
            assert!(rect.width() > 55.0, "{label}: {rect}");
            assert!(rect.right() <= timeline.right() + 14.0, "{label}: {rect}");
            assert!(rect.right() < page.left());
        }
        assert!(timeline.height() > 20.0, "the ruler is in sight");
        let status = window.harness.get_by_label_contains("nothing selected");
        assert!(timeline.bottom() < status.rect().top(), "{timeline}");
        window.picture(if key == CTRL {
            "export-small"
        } else {
            "export-small-still"
        });
        window.key(Modifiers::NONE, Key::Escape);
    }
}

#[test]
fn an_export_over_its_own_model_is_refused_before_any_question() {
    let mut window = page();
    let model = asset("arm.glb");
    let before = std::fs::read(&model).expect("the sample");
    window.write(&model.display().to_string());
    window.click(Role::Button, "Save");
    assert!(window.says("is the model itself"));
    assert!(!window.says("already exists. Replace it?"));
    assert!(window.editor().computing_export().is_none());
    assert_eq!(std::fs::read(&model).expect("the sample"), before);
}

#[test]
fn closing_the_window_waits_for_an_export_or_cancels_it() {
    let mut window = page();
    let path = window.folder.path().join("arm.glb");
    let start = |window: &mut Window| {
        window.harness.state_mut().editor_mut().save_export(&path);
        let unwritten = window.editor().unwritten_export();
        assert_eq!(unwritten.map(|(name, _)| name).as_deref(), Some("arm.glb"));
    };
    let press = |window: &mut Window, label: &str| {
        let button = window.harness.get_by_role_and_label(Role::Button, label);
        button.click();
        window.harness.step();
    };
    start(&mut window);
    assert!(!window.close_while_busy());
    assert!(window.says("arm.glb is not written yet"));
    press(&mut window, "Keep open");
    window.harness.step();
    assert!(!window.says("is not written yet") && window.editor().unwritten_export().is_some());
    assert!(!window.close_while_busy());
    press(&mut window, "Close when done");
    window.harness.step();
    assert!(!window.says("is not written yet") && !path.exists());
    window.wait_until("it closes", Window::was_told_to_close);
    assert!(path.exists());
    assert!(window.close(), "and is not asked again");

    let mut window = page();
    let path = window.folder.path().join("arm.glb");
    window.harness.state_mut().editor_mut().save_export(&path);
    assert!(!window.close_while_busy());
    press(&mut window, "Cancel export and close");
    assert!(window.was_told_to_close());
    let folder = window.folder.clone();
    drop(window);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// The JSON and the data of the sample arm.
fn parts_of_arm() -> (serde_json::Value, Vec<u8>) {
    let bytes = std::fs::read(asset("arm.glb")).expect("the sample");
    let n = u32::from_le_bytes(bytes[12..16].try_into().expect("four bytes")) as usize;
    let json = serde_json::from_slice(&bytes[20..20 + n]).expect("JSON");
    (json, bytes[28 + n..].to_vec())
}

fn opened(path: &Path) -> Document {
    let imported = import_file(path, &Task::new()).expect("it opens");
    assert!(imported.findings.is_empty(), "{:?}", imported.findings);
    Document::new(imported.parts).expect("it is consistent")
}

#[test]
fn invalid_weights_are_fixed_if_that_is_ticked() {
    let mut window = Window::on("cylinder.glb");
    let (json, data) = parts_of_arm();
    let accessor = &json["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"];
    let view = &json["accessors"][accessor.as_u64().expect("an index") as usize]["bufferView"];
    let view = &json["bufferViews"][view.as_u64().expect("an index") as usize];
    let start = view["byteOffset"].as_u64().expect("an offset") as usize;
    let mut bytes = std::fs::read(asset("arm.glb")).expect("the sample");
    let weights = bytes.len() - data.len() + start;
    for vertex in [10, 20, 30] {
        bytes[weights + 16 * vertex..][..16].copy_from_slice(&[0xff; 16]);
    }
    let model = window.folder.path().join("broken.glb");
    std::fs::write(&model, &bytes).expect("it is written");
    window.drop_file(&model);
    assert!(window.document().has_invalid_weights());

    window.key(CTRL, Key::E);
    let path = window.folder.path().join("fixed.glb");
    window.write(&path.display().to_string());
    window.click(Role::RadioButton, "None");
    window.click(Role::Button, "Save");
    assert!(std::fs::read(&path).expect("it is written") == bytes);
    assert!(!is_on(&window, Role::CheckBox, "Fix invalid weights"));
    press(&mut window, Role::CheckBox, "Fix invalid weights");
    assert!(is_on(&window, Role::CheckBox, "Fix invalid weights"));
    window.click(Role::Button, "Save");
    window.click(Role::Button, "Replace");
    let fixed = opened(&path);
    assert!(!fixed.has_invalid_weights());
    // The file has the weights that the document uses.
    let influences = |document: &Document| {
        let mut items = document.meshes().values();
        items.next().expect("a mesh").influences.clone()
    };
    assert!(influences(&fixed) == influences(window.document()));
    // The checkbox is missing for a model without invalid weights.
    window.key(Modifiers::NONE, Key::Escape);
    window.drop_file(asset("arm.glb"));
    window.key(CTRL, Key::E);
    assert!(window.says("Compress") && !window.says("Fix invalid weights"));
}

#[test]
fn files_outside_of_the_models_folder_are_included_if_that_is_ticked() {
    let mut window = Window::on("cylinder.glb");
    let folder = window.folder.path().to_owned();
    let (mut json, data) = parts_of_arm();
    json["buffers"][0]["uri"] = "../arm.bin".into();
    std::fs::create_dir(folder.join("model")).expect("a folder");
    std::fs::write(folder.join("arm.bin"), data).expect("it is written");
    let model = folder.join("model/arm.gltf");
    std::fs::write(&model, json.to_string()).expect("it is written");
    window.drop_file(&model);
    let n_points = |document: &Document| {
        let items = document.meshes().values();
        items.map(|item| item.geometry.n_points()).sum::<usize>()
    };
    let n = n_points(window.document());
    assert!(n > 1000);

    window.key(CTRL, Key::E);
    let path = folder.join("packed.glb");
    window.write(&path.display().to_string());
    window.click(Role::RadioButton, "None");
    window.click(Role::Button, "Save");
    assert!(window.says("To include it in the export, choose") && !path.exists());
    let label = "Include files outside the folder";
    assert!(!is_on(&window, Role::CheckBox, label));
    press(&mut window, Role::CheckBox, label);
    window.click(Role::Button, "Save");
    assert!(window.says("Exported packed.glb."));
    assert_eq!(n_points(&opened(&path)), n);
}

/// A copy of a GLB file that requires an extension of players.
fn requiring(extension: &str, glb: &[u8]) -> Vec<u8> {
    let length =
        |at: usize| u32::from_le_bytes(glb[at..at + 4].try_into().expect("4 bytes")) as usize;
    let (json, rest) = glb[20..].split_at(length(12));
    let mut json: serde_json::Value = serde_json::from_slice(json).expect("JSON");
    for key in ["extensionsUsed", "extensionsRequired"] {
        json[key] = serde_json::json!([extension]);
    }
    let mut text = serde_json::to_vec(&json).expect("JSON");
    text.resize(text.len().next_multiple_of(4), b' ');
    let size = |n: usize| (n as u32).to_le_bytes();
    let total = size(20 + text.len() + rest.len());
    [
        &glb[..8],
        &total,
        &size(text.len()),
        &glb[16..20],
        &text,
        rest,
    ]
    .concat()
}

#[test]
fn a_model_that_requires_quantization_gets_quantized_morph_targets() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("arm.glb");
    let glb = std::fs::read(asset("arm.glb")).expect("the sample");
    std::fs::write(&path, requiring("KHR_mesh_quantization", &glb)).expect("a file");
    let mut window = Window::with_folders(Some(&path), Folders::default());
    coarse(&mut window);
    window.key(CTRL, Key::E);
    assert!(is_on(&window, Role::CheckBox, "Quantize"));
    let node = window
        .harness
        .get_by_role_and_label(Role::CheckBox, "Quantize");
    assert!(node.accesskit_node().is_disabled());
    window.picture("export of a quantized model");
}
