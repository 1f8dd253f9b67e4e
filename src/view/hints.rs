//! What the mouse does in each mode: the live row of the status bar, and the help.

use super::keymap::Preset;
use super::mode::Mode;
use egui::Modifiers;

/// A gesture and what it does.
pub type Hint = (&'static str, &'static str);

/// The gestures of `mode` while `modifiers` are held, the most useful first.
pub fn hints(mode: Mode, modifiers: Modifiers, preset: Preset) -> &'static [Hint] {
    let maya = preset == Preset::Maya;
    let (ctrl, shift, alt) = (
        modifiers.ctrl || modifiers.command,
        modifiers.shift,
        modifiers.alt,
    );
    match (mode, ctrl, shift, alt) {
        (_, false, false, true) if maya => &[
            ("Alt+left", "orbit"),
            ("Alt+middle", "pan"),
            ("Alt+right", "zoom"),
        ],
        (_, true, false, true) => &[("Ctrl+Alt+drag", "orbit")],
        (_, true, true, true) => &[("Ctrl+Alt+Shift+drag", "pan")],
        (Mode::Paint, false, false, true) => &[("Alt+left", "pick the bone under the pointer")],
        (_, false, false, true) => &[("Alt+drag", "orbit")],
        (_, false, true, true) => &[("Alt+Shift+drag", "pan")],
        (Mode::Select, true, false, false) => &[
            ("Ctrl+click", "take from the selection"),
            ("Ctrl+drag", "take a box away"),
        ],
        (Mode::Select, false, true, false) => &[
            ("Shift+click", "add to the selection"),
            ("Shift+drag", "add a box"),
            ("Shift+middle", "pan"),
        ],
        (Mode::Pose, true, false, false) => &[("Ctrl+drag", "in steps of 5°")],
        (Mode::Pose, false, true, false) => &[
            ("Shift+drag", "ten times finer"),
            ("Shift+click", "add to the selection"),
            ("Shift+middle", "pan"),
        ],
        (Mode::Paint, true, false, false) => &[("Ctrl+drag", "subtract")],
        (Mode::Paint, false, true, false) => &[("Shift+middle", "pan")],
        (Mode::Select, ..) if maya => &[
            ("Click", "pick"),
            ("Drag", "box"),
            ("Right", "menu"),
            ("Alt+left", "orbit"),
            ("Wheel", "zoom"),
        ],
        (Mode::Pose, ..) if maya => &[
            ("Drag a handle", "pose"),
            ("Drag a pinned end", "bend its chain"),
            ("Right", "menu"),
            ("Alt+left", "orbit"),
        ],
        (Mode::Paint, ..) if maya => &[
            ("Drag", "paint"),
            ("Ctrl", "subtract"),
            ("Right", "brush"),
            ("Alt+left", "orbit"),
        ],
        (Mode::Select, ..) => &[
            ("Click", "pick"),
            ("Drag", "box"),
            ("Right", "menu"),
            ("Middle", "orbit"),
            ("Wheel", "zoom"),
        ],
        (Mode::Pose, ..) => &[
            ("Drag a handle", "pose"),
            ("Drag a pinned end", "bend its chain"),
            ("Right", "menu"),
            ("Middle", "orbit"),
        ],
        (Mode::Paint, ..) => &[
            ("Drag", "paint"),
            ("Ctrl", "subtract"),
            ("Right", "brush"),
            ("[ ]", "radius"),
            ("Middle", "orbit"),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_has_hints_for_every_modifier() {
        for mode in Mode::ALL {
            for preset in Preset::ALL {
                for bits in 0..8 {
                    let modifiers = Modifiers {
                        ctrl: bits & 1 != 0,
                        shift: bits & 2 != 0,
                        alt: bits & 4 != 0,
                        ..Modifiers::NONE
                    };
                    // Ctrl+Shift alone does nothing of its own.
                    assert!(!hints(mode, modifiers, preset).is_empty());
                }
            }
        }
    }
}
