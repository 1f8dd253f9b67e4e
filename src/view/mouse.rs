//! What the mouse does in each mode, in words: the help and the hints of the status bar.

use super::keymap::Preset;
use super::mode::Mode;

/// What the mouse does in `mode`: (what is pressed, what happens), the left button first, then the camera.
pub fn table(mode: Mode, preset: Preset) -> Vec<(&'static str, &'static str)> {
    let mut rows = match mode {
        Mode::Select => vec![
            ("Click", "select what is under the pointer"),
            ("Drag", "select in a box"),
            ("Shift", "add to the selection"),
            ("Ctrl", "take out of the selection"),
            ("Right click", "menu of the selection"),
        ],
        Mode::Pose => vec![
            ("Click", "select the bone under the pointer"),
            ("Drag a handle", "move, rotate or scale"),
            ("Drag a pinned end", "bend its chain"),
            ("Ctrl", "snap to 5°"),
            ("Shift", "ten times finer"),
            ("Right click", "menu of the bone"),
        ],
        Mode::Paint => vec![
            ("Drag", "add weight"),
            ("Ctrl+drag", "take weight away"),
            ("Esc", "take the stroke back"),
            ("Right click", "brush settings"),
        ],
    };
    rows.extend(match preset {
        Preset::Blender => [
            ("Middle drag", "orbit"),
            ("Shift+middle", "pan"),
            ("Ctrl+middle, wheel", "zoom"),
        ],
        Preset::Maya => [
            ("Alt+left", "tumble"),
            ("Alt+middle", "track"),
            ("Alt+right", "dolly"),
        ],
    });
    rows
}
