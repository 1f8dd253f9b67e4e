//! The sample of a water surface in the window: its colours, their range and the wet / dry line, in the panel and undone.

use crate::window::Window;
use egui::Role;
use sinew::view::commands::Command;
use sinew::view::frame::{PanelKind, Workspace};

/// The Clusters workspace on the sample.
fn water() -> Window {
    // High enough for the whole panel.
    let mut window = Window::sized("arm.glb", [1366.0, 1500.0], 1.0);
    window.find_and_run(Command::Sample("water-surface"));
    window.settle();
    window.click(Role::Tab, Workspace::Clusters.label());
    assert!(window.app().dock().is_open(PanelKind::Clusters));
    window.wait("patches", |app| app.editor().current_layout().is_some());
    window.settle();
    window
}

/// The number of different hues in the viewport.
fn n_hues(window: &mut Window, name: &str) -> usize {
    let rect = window.viewport();
    let picture = window.picture(name);
    let pixels = picture.enumerate_pixels();
    let inside = pixels.filter(|(x, y, _)| rect.contains(egui::pos2(*x as f32, *y as f32)));
    let hues: std::collections::BTreeSet<u8> = inside
        .filter_map(|(_, _, p)| {
            let [r, g, b, _] = p.0.map(i32::from);
            let (high, low) = (r.max(g).max(b), r.min(g).min(b));
            // Grey has no hue.
            let spread = (high - low > 60).then_some(high - low)?;
            let hue = match high {
                _ if high == r => (g - b) * 10 / spread,
                _ if high == g => 20 + (b - r) * 10 / spread,
                _ => 40 + (r - g) * 10 / spread,
            };
            Some((hue + 10) as u8)
        })
        .collect();
    hues.len()
}

#[test]
fn salt_colours_the_water_and_the_panel_says_what_is_shown() {
    let mut window = water();
    let coloured = n_hues(&mut window, "water-salt");
    assert!(window.says("Colours of salt, g/l: 0, 10, 20, 30"));
    assert!(window.says("Wet: "));
    let wet = |window: &Window| {
        let data = window
            .editor()
            .all_surface_data()
            .next()
            .expect("water")
            .clone();
        data.shore.expect("a line").wet_area
    };
    let before = wet(&window);
    assert!(before > 500.0, "{before}");

    window.pick("Colour by", "level, m");
    window.settle();
    assert_eq!(
        window.editor().history().undo_label(),
        Some("Colour by level, m")
    );
    assert!(window.says("Colours of level, m: "));
    window.picture("water-level");
    window.pick("Colour by", "None");
    window.settle();
    assert!(!window.says("Colours of level, m: "));
    let plain = n_hues(&mut window, "water-plain");
    assert!(coloured > plain + 5, "{coloured} {plain}");
    window.press_widget(Role::CheckBox, "Wet / dry line");
    window.settle();
    assert!(!window.says("Wet: "));
    let editor = window.harness.state_mut().editor_mut();
    for _ in 0..3 {
        editor.undo();
    }
    window.settle();
    assert!(window.says("Colours of salt, g/l: 0, 10, 20, 30"));
    assert_eq!(wet(&window), before);

    // Later the reservoir is drawn down.
    let editor = window.harness.state_mut().editor_mut();
    editor.set_time(12.0);
    window.settle();
    assert!(wet(&window) < before);
    window.picture("water-drawn-down");
}
