//! Names in any script and of any length.

use crate::window::{Window, asset};
use egui::{FallbackRequest, FontFamily, Role};
use egui_kittest::kittest::Queryable as _;
use serde_json::Value;
use sinew::view::commands::Command;
use sinew::view::mode::Mode;
use sinew::view::system_fonts::system_fonts;
use std::path::PathBuf;

/// Names of bones by script. The window's own font has Latin and Cyrillic letters.
const NAMES: [(&str, &str); 5] = [
    ("Cyrillic", "Плечо_левое"),
    ("Japanese", "左ひじ_カタ"),
    ("Chinese", "脊柱_骨骼"),
    ("Korean", "왼팔_뼈"),
    ("Arabic", "ذراع_يمنى"),
];

/// Whether this machine has a font with all letters of `name`.
fn has_font(name: &str) -> bool {
    let fonts = system_fonts();
    name.chars().filter(|c| c.is_alphabetic()).all(|c| {
        let cluster = c.to_string();
        let family = &FontFamily::Proportional;
        let cluster = &cluster;
        fonts
            .font_for(&FallbackRequest { cluster, family })
            .is_some()
    })
}

/// The sample `file` whose first bones have other names, as a file in the folder of `window`.
fn renamed(window: &Window, file: &str, names: &[String]) -> PathBuf {
    let bytes = std::fs::read(asset(file)).expect("the sample");
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
    let end = 20 + word(12) as usize;
    let mut json: Value = serde_json::from_slice(&bytes[20..end]).expect("JSON");
    let joints: Vec<Value> = json["skins"][0]["joints"]
        .as_array()
        .expect("a skin")
        .clone();
    for (joint, name) in joints.iter().zip(names) {
        json["nodes"][joint.as_u64().expect("an index") as usize]["name"] = name.clone().into();
    }
    let mut text = serde_json::to_vec(&json).expect("JSON");
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut out = bytes[..8].to_vec();
    let total = 20 + text.len() + bytes.len() - end;
    out.extend((total as u32).to_le_bytes());
    out.extend((text.len() as u32).to_le_bytes());
    out.extend(b"JSON");
    out.extend(text);
    out.extend(&bytes[end..]);
    let path = window.folder.path().join("names.glb");
    std::fs::write(&path, out).expect("the file is written");
    path
}

#[test]
fn names_in_other_scripts_are_drawn_with_fonts_of_the_system() {
    let mut window = Window::on("arm.glb");
    let found = NAMES.iter().filter(|(_, name)| has_font(name));
    let found: Vec<&(&str, &str)> = found.collect();
    // A missing glyph ends the test in a panic.
    window.harness.ctx.add_font_provider(system_fonts());
    let names: Vec<String> = found.iter().map(|(_, name)| (*name).to_owned()).collect();
    let cyrillic = vec![NAMES[0].1.to_owned()];
    let names = if names.is_empty() { cyrillic } else { names };
    let path = renamed(&window, "mannequin.glb", &names);
    window.drop_file(path);
    for name in &names {
        let row = window.harness.query_by_role_and_label(Role::TreeItem, name);
        assert!(row.is_some(), "{name}");
    }
    let bone = window.bones()[0];
    window.select(bone);
    window.find_and_run(Command::SetMode(Mode::Paint));
    window.picture("names in other scripts");
}

#[test]
fn long_names_lose_their_middle_and_cover_nothing() {
    let mut window = Window::sized("arm.glb", [1024.0, 640.0], 1.0);
    let long = |end: &str| format!("mixamorig:{}{end}", "VeryLongRigNamespace:".repeat(8));
    let names: Vec<String> = ["LeftArm", "LeftHandThumb1", "LeftHandThumb2"]
        .map(long)
        .to_vec();
    let path = renamed(&window, "arm.glb", &names);
    window.drop_file(path);
    let bone = window.bones()[1];
    window.select(bone);
    window.find_and_run(Command::SetMode(Mode::Paint));
    // The value under the brush shows the bone's name in the status bar.
    let at = window.on_model();
    window.move_to(at);
    window.settle();
    let whole = window
        .harness
        .query_by_role_and_label(Role::TreeItem, &names[1]);
    assert!(whole.is_some(), "screen readers get all of it");
    let hint = window
        .harness
        .get_by_label_contains("Paint     Drag")
        .rect();
    let chosen = window.harness.get_by_label("1 bone").rect();
    assert!(hint.right() <= chosen.left(), "{hint:?} {chosen:?}");
    assert!(hint.width() > 200.0, "the hints keep room: {hint:?}");
    window.picture("long names");
}
