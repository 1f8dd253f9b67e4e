//! The mouse hints of each mode: the live row of the status bar, and the help.

use super::keymap::Preset;
use super::mode::Mode;
use crate::document::session::{BrushKind, BrushOptions, SculptKind, Session};
use egui::Modifiers;

/// A gesture and its effect.
pub type Hint = (&'static str, &'static str);

/// The gestures of `mode` while `modifiers` are held, the most useful first. In modes with a brush they describe
/// that of `session`.
pub fn hints(mode: Mode, modifiers: Modifiers, preset: Preset, session: &Session) -> Vec<Hint> {
    let (ctrl, shift) = (modifiers.ctrl || modifiers.command, modifiers.shift);
    if !modifiers.alt {
        match mode {
            Mode::Paint => return paint_hints(&session.brush, ctrl, shift, preset),
            Mode::Sculpt => return sculpt_hints(session.sculpt_kind, ctrl, shift, preset),
            Mode::Cluster if session.moves_clusters => return move_hints(ctrl, shift),
            Mode::Cluster => return cluster_hints(ctrl, shift, preset),
            Mode::Rig => return rig_hints(ctrl, shift, preset),
            Mode::Select | Mode::Pose => {}
        }
    }
    fixed(mode, modifiers, preset).to_vec()
}

/// The gestures of painting.
fn paint_hints(brush: &BrushOptions, ctrl: bool, shift: bool, preset: Preset) -> Vec<Hint> {
    let kind = brush.kind();
    match (ctrl, shift) {
        (true, true) => vec![("Ctrl+Shift+drag", "sharpen")],
        (true, false) => vec![("Ctrl+drag", opposite(brush))],
        (false, true) => vec![("Shift+drag", "smooth"), ("Shift+middle", "pan")],
        (false, false) => {
            let does = match kind {
                BrushKind::Add => "paint: add",
                BrushKind::Replace => "paint: replace",
                BrushKind::Scale => "paint: scale",
                BrushKind::Smooth => "paint: smooth",
                BrushKind::Sharpen => "paint: sharpen",
                BrushKind::Gradient => "paint a gradient",
                BrushKind::Radial => "paint a radial gradient",
                BrushKind::Sample => "sample the value",
            };
            let mut hints = vec![("Drag", does), ("Ctrl", opposite(brush))];
            if !kind.averages() {
                hints.push(("Shift", "smooth"));
            }
            hints.extend(brush_hints(preset));
            hints
        }
    }
}

/// The gestures of sculpting.
fn sculpt_hints(kind: SculptKind, ctrl: bool, shift: bool, preset: Preset) -> Vec<Hint> {
    if kind == SculptKind::Vertices {
        return match (ctrl, shift) {
            (true, _) => vec![("Ctrl+click", "deselect")],
            (false, true) => vec![("Shift+click", "extend"), ("Shift+middle", "pan")],
            (false, false) => vec![
                ("Click", "select a vertex"),
                ("Drag", "box"),
                ("G R S", "move, rotate, scale"),
                ("O", "soft selection"),
                ("Right", "settings"),
            ],
        };
    }
    match (ctrl, shift, kind.inverse()) {
        (_, true, _) => vec![("Shift+drag", "smooth"), ("Shift+middle", "pan")],
        (true, false, Some(inverse)) => vec![("Ctrl+drag", inverse)],
        (_, false, inverse) => {
            let does = match kind {
                SculptKind::Grab => "grab",
                SculptKind::Inflate => "inflate",
                SculptKind::Smooth => "smooth",
                SculptKind::Relax => "relax to rest",
                SculptKind::Flatten => "flatten",
                SculptKind::Pinch => "pinch",
                SculptKind::Slide => "slide along the surface",
                SculptKind::Erase => "erase the correction",
                SculptKind::Vertices => "select",
            };
            let mut hints = vec![("Drag", does)];
            hints.extend(inverse.map(|inverse| ("Ctrl", inverse)));
            if kind != SculptKind::Smooth {
                hints.push(("Shift", "smooth"));
            }
            hints.extend(brush_hints(preset));
            hints
        }
    }
}

/// The gestures of editing bones.
fn rig_hints(ctrl: bool, shift: bool, preset: Preset) -> Vec<Hint> {
    let maya = preset == Preset::Maya;
    match (ctrl, shift) {
        (true, _) => vec![("Ctrl+click", "deselect"), ("Ctrl+drag", "move in steps")],
        (false, true) => vec![
            ("Shift+click", "extend"),
            ("Shift+drag", "move with precision (0.1×)"),
        ],
        (false, false) => vec![
            ("Click", "select"),
            ("Drag a bone", "move its head or tail"),
            (if maya { "W" } else { "G" }, "move"),
            ("E", "extrude"),
            ("Right", "operations"),
            if maya {
                ("Alt+left", "orbit")
            } else {
                ("Middle", "orbit")
            },
        ],
    }
}

/// The gestures of moving clusters.
fn move_hints(ctrl: bool, shift: bool) -> Vec<Hint> {
    match (ctrl, shift) {
        (true, _) => vec![("Ctrl+click", "deselect")],
        (false, true) => vec![("Shift+click", "extend"), ("Shift+middle", "pan")],
        (false, false) => vec![
            ("Click", "select a cluster or a control point"),
            ("Drag", "box"),
            ("L", "select the group"),
            ("G R S", "move, rotate, scale"),
            ("I", "insert keyframe"),
        ],
    }
}

/// The gestures of marking clusters.
fn cluster_hints(ctrl: bool, shift: bool, preset: Preset) -> Vec<Hint> {
    match (ctrl, shift) {
        (true, true) => vec![("Ctrl+Shift+drag", "shrink by one ring")],
        (true, false) => vec![("Ctrl+drag", "unmark")],
        (false, true) => vec![("Shift+drag", "grow by one ring"), ("Shift+middle", "pan")],
        (false, false) => {
            let mut hints = vec![
                ("Drag", "mark clusters"),
                ("Ctrl", "unmark"),
                ("Shift", "grow"),
                ("1 - 9", "group"),
            ];
            if preset == Preset::Blender {
                hints.push(("B C", "select"));
            }
            hints.extend(brush_hints(preset));
            if preset == Preset::Maya {
                hints.retain(|hint| hint.0 != "B M");
                hints.push(("B", "radius"));
            }
            hints
        }
    }
}

/// The gestures of all brushes.
fn brush_hints(preset: Preset) -> [Hint; 3] {
    match preset {
        Preset::Maya => [
            ("Right", "brush"),
            ("B M", "radius, strength"),
            ("Alt+left", "orbit"),
        ],
        Preset::Blender => [("Right", "brush"), ("[ ]", "radius"), ("Middle", "orbit")],
    }
}

/// The effect of a stroke with Ctrl.
fn opposite(brush: &BrushOptions) -> &'static str {
    let from_0 = brush.value() <= 0.0;
    match brush.kind() {
        BrushKind::Add if from_0 => "add",
        BrushKind::Add => "subtract",
        BrushKind::Replace | BrushKind::Gradient | BrushKind::Radial if from_0 => "towards 1",
        BrushKind::Replace | BrushKind::Gradient | BrushKind::Radial => "towards 0",
        BrushKind::Scale => "divide",
        BrushKind::Smooth => "sharpen",
        BrushKind::Sharpen => "smooth",
        BrushKind::Sample => "pick the bone",
    }
}

fn fixed(mode: Mode, modifiers: Modifiers, preset: Preset) -> &'static [Hint] {
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
        (Mode::Paint, false, false, true) => &[("Alt+left", "pick the bone")],
        (_, false, false, true) => &[("Alt+drag", "orbit")],
        (_, false, true, true) => &[("Alt+Shift+drag", "pan")],
        (Mode::Select, true, false, false) => {
            &[("Ctrl+click", "subtract"), ("Ctrl+drag", "subtract by box")]
        }
        (Mode::Select, false, true, false) => &[
            ("Shift+click", "extend"),
            ("Shift+drag", "extend by box"),
            ("Shift+middle", "pan"),
        ],
        (Mode::Pose, true, false, false) => &[("Ctrl+drag", "snap to 5°")],
        (Mode::Pose, false, true, false) => &[
            ("Shift+drag", "precision (0.1×)"),
            ("Shift+click", "extend"),
            ("Shift+middle", "pan"),
        ],
        (Mode::Select, ..) if maya => &[
            ("Click", "select"),
            ("Drag", "box select"),
            ("Right", "menu"),
            ("Alt+left", "orbit"),
            ("Wheel", "zoom"),
        ],
        (Mode::Pose, ..) if maya => &[
            ("Drag a handle", "pose"),
            ("Drag a pinned end", "bend its chain (IK)"),
            ("Right", "menu"),
            ("Alt+left", "orbit"),
        ],
        (Mode::Select, ..) => &[
            ("Click", "select"),
            ("Drag", "box select"),
            ("Right", "menu"),
            ("Middle", "orbit"),
            ("Wheel", "zoom"),
        ],
        (Mode::Pose, ..) => &[
            ("Drag a handle", "pose"),
            ("Drag a pinned end", "bend its chain (IK)"),
            ("Right", "menu"),
            ("Middle", "orbit"),
        ],
        (Mode::Paint | Mode::Cluster | Mode::Sculpt | Mode::Rig, ..) => &[("Middle", "orbit")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deform::MaskKind;
    use crate::document::session::PaintTarget;

    #[test]
    fn maps_are_not_spoken_of_as_weights() {
        let mut session = Session::default();
        session.brush.target = PaintTarget::Mask(MaskKind::Smooth);
        let ctrl =
            |session: &Session| hints(Mode::Paint, Modifiers::CTRL, Preset::Blender, session)[0].1;
        assert_eq!(ctrl(&session), "towards 1");
        *session.brush.value_mut() = 0.5;
        assert_eq!(ctrl(&session), "towards 0");
        session.brush.target = PaintTarget::Weights;
        assert_eq!(ctrl(&session), "subtract");
    }

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
                    // Ctrl+Shift alone has no gesture of its own.
                    let mut session = Session::default();
                    for kind in BrushKind::ALL {
                        session.brush.weights_kind = kind;
                        assert!(!hints(mode, modifiers, preset, &session).is_empty());
                    }
                    for kind in SculptKind::ALL {
                        session.sculpt_kind = kind;
                        assert!(!hints(mode, modifiers, preset, &session).is_empty());
                    }
                }
            }
        }
    }
}
