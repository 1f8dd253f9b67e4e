//! The mouse hints of each mode: the live row of the status bar, and the help.

use super::commands::Command;
use super::keymap::{KeyMap, Preset};
use super::mode::Mode;
use crate::document::session::{BrushKind, BrushOptions, SculptKind, Session};
use egui::Modifiers;
use std::borrow::Cow;

/// A gesture or keys, and what they do.
pub type Hint = (Cow<'static, str>, &'static str);

/// The commands of a transform.
const TRANSFORM: [Command; 3] = [Command::PoseMove, Command::PoseRotate, Command::PoseScale];

/// The gestures of `mode` while `modifiers` are held, the most useful first, with the keys of `map`. In modes with a
/// brush they describe that of `session`.
pub fn hints(mode: Mode, modifiers: Modifiers, map: &KeyMap, session: &Session) -> Vec<Hint> {
    let (ctrl, shift) = (modifiers.ctrl || modifiers.command, modifiers.shift);
    if !modifiers.alt {
        match mode {
            Mode::Paint => return paint_hints(&session.brush, ctrl, shift, map),
            Mode::Sculpt => return sculpt_hints(session.sculpt_kind, ctrl, shift, map),
            Mode::Cluster if session.moves_clusters => return move_hints(ctrl, shift, map),
            Mode::Cluster => return cluster_hints(ctrl, shift, map),
            Mode::Rig => return rig_hints(ctrl, shift, map),
            Mode::Select | Mode::Pose => {}
        }
    }
    gestures(fixed(mode, modifiers, map.preset))
}

/// Gestures of the mouse, which are the same in every key map.
fn gestures(rows: &[(&'static str, &'static str)]) -> Vec<Hint> {
    let hint = |&(what, does): &(&'static str, &'static str)| (what.into(), does);
    rows.iter().map(hint).collect()
}

/// The first key of each command; `None` where the map has keys for none of them.
fn keys(map: &KeyMap, commands: &[Command], does: &'static str) -> Option<Hint> {
    let chords = commands
        .iter()
        .filter_map(|&command| map.chords(command).first());
    let shown: Vec<String> = chords.map(ToString::to_string).collect();
    (!shown.is_empty()).then(|| (shown.join(" ").into(), does))
}

/// The gestures of painting.
fn paint_hints(brush: &BrushOptions, ctrl: bool, shift: bool, map: &KeyMap) -> Vec<Hint> {
    let kind = brush.kind();
    match (ctrl, shift) {
        (true, true) => gestures(&[("Ctrl+Shift+drag", "sharpen")]),
        (true, false) => gestures(&[("Ctrl+drag", opposite(brush))]),
        (false, true) => gestures(&[("Shift+drag", "smooth"), ("Shift+middle", "pan")]),
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
            let mut hints = gestures(&[("Drag", does), ("Ctrl", opposite(brush))]);
            if !kind.averages() {
                hints.extend(gestures(&[("Shift", "smooth")]));
            }
            hints.extend(brush_hints(map, true));
            hints
        }
    }
}

/// The gestures of sculpting.
fn sculpt_hints(kind: SculptKind, ctrl: bool, shift: bool, map: &KeyMap) -> Vec<Hint> {
    if kind == SculptKind::Vertices {
        return match (ctrl, shift) {
            (true, _) => gestures(&[("Ctrl+click", "deselect")]),
            (false, true) => gestures(&[("Shift+click", "extend"), ("Shift+middle", "pan")]),
            (false, false) => {
                let mut hints = gestures(&[("Click", "select a vertex"), ("Drag", "box")]);
                hints.extend(keys(map, &TRANSFORM, "move, rotate, scale"));
                hints.extend(keys(map, &[Command::ToggleSoftSelection], "soft selection"));
                hints.extend(gestures(&[("Right", "settings")]));
                hints
            }
        };
    }
    match (ctrl, shift, kind.inverse()) {
        (_, true, _) => gestures(&[("Shift+drag", "smooth"), ("Shift+middle", "pan")]),
        (true, false, Some(inverse)) => gestures(&[("Ctrl+drag", inverse)]),
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
            let mut hints = gestures(&[("Drag", does)]);
            hints.extend(inverse.map(|inverse| ("Ctrl".into(), inverse)));
            if kind != SculptKind::Smooth {
                hints.extend(gestures(&[("Shift", "smooth")]));
            }
            hints.extend(brush_hints(map, true));
            hints
        }
    }
}

/// The gestures of editing bones.
fn rig_hints(ctrl: bool, shift: bool, map: &KeyMap) -> Vec<Hint> {
    match (ctrl, shift) {
        (true, _) => gestures(&[
            ("Ctrl+click", "place a child in the limb"),
            ("Ctrl+drag", "move in steps"),
        ]),
        (false, true) => gestures(&[
            ("Shift+click", "extend, deselect"),
            ("Shift+drag", "move with precision (0.1×)"),
        ]),
        (false, false) => {
            let mut hints = gestures(&[
                ("Click", "select"),
                ("Drag a bone", "move its head or tail"),
            ]);
            hints.extend(keys(map, &[Command::PoseMove], "move"));
            hints.extend(keys(map, &[Command::Extrude], "extrude"));
            hints.extend(keys(
                map,
                &[Command::ToggleChildrenFollow],
                "children follow",
            ));
            hints.extend(gestures(&[("Right", "operations"), orbit(map.preset)]));
            hints
        }
    }
}

/// The gestures of moving clusters.
fn move_hints(ctrl: bool, shift: bool, map: &KeyMap) -> Vec<Hint> {
    match (ctrl, shift) {
        (true, _) => gestures(&[("Ctrl+click", "deselect")]),
        (false, true) => gestures(&[("Shift+click", "extend"), ("Shift+middle", "pan")]),
        (false, false) => {
            let mut hints = gestures(&[
                ("Click", "select a cluster or a control point"),
                ("Drag", "box"),
            ]);
            hints.extend(keys(map, &[Command::SelectGroup], "select the group"));
            hints.extend(keys(map, &TRANSFORM, "move, rotate, scale"));
            hints.extend(keys(map, &[Command::KeyPose], "insert keyframe"));
            hints
        }
    }
}

/// The gestures of marking clusters.
fn cluster_hints(ctrl: bool, shift: bool, map: &KeyMap) -> Vec<Hint> {
    match (ctrl, shift) {
        (true, true) => gestures(&[("Ctrl+Shift+drag", "shrink by one ring")]),
        (true, false) => gestures(&[("Ctrl+drag", "unmark")]),
        (false, true) => gestures(&[("Shift+drag", "grow by one ring"), ("Shift+middle", "pan")]),
        (false, false) => {
            let mut hints = gestures(&[
                ("Drag", "mark clusters"),
                ("Ctrl", "unmark"),
                ("Shift", "grow"),
                ("1 - 9", "group"),
            ]);
            let select = [Command::SelectBox, Command::SelectCircle];
            hints.extend(keys(map, &select, "select"));
            hints.extend(brush_hints(map, false));
            hints
        }
    }
}

/// The gesture that orbits.
fn orbit(preset: Preset) -> (&'static str, &'static str) {
    match preset {
        Preset::Maya => ("Alt+left", "orbit"),
        Preset::Blender => ("Middle", "orbit"),
    }
}

/// The gestures of all brushes.
fn brush_hints(map: &KeyMap, has_strength: bool) -> Vec<Hint> {
    let mut hints = gestures(&[("Right", "brush")]);
    let both = [Command::BrushRadius, Command::BrushStrength];
    hints.extend(if has_strength {
        keys(map, &both, "radius, strength")
    } else {
        keys(map, &both[..1], "radius")
    });
    hints.extend(gestures(&[orbit(map.preset)]));
    hints
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

fn fixed(
    mode: Mode,
    modifiers: Modifiers,
    preset: Preset,
) -> &'static [(&'static str, &'static str)] {
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
            ("Ctrl+Alt", "the same, where the system takes Alt"),
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
        let ctrl = |session: &Session| {
            hints(Mode::Paint, Modifiers::CTRL, &KeyMap::default(), session)[0].1
        };
        assert_eq!(ctrl(&session), "towards 1");
        *session.brush.value_mut() = 0.5;
        assert_eq!(ctrl(&session), "towards 0");
        session.brush.target = PaintTarget::Weights;
        assert_eq!(ctrl(&session), "subtract");
    }

    #[test]
    fn keys_in_hints_are_those_of_the_key_map() {
        let mut session = Session {
            moves_clusters: true,
            ..Session::default()
        };
        let transform = |map: &KeyMap, mode, session: &Session| {
            let all = hints(mode, Modifiers::NONE, map, session);
            let found = all.iter().find(|hint| hint.1 == "move, rotate, scale");
            found.map(|hint| hint.0.clone().into_owned())
        };
        session.sculpt_kind = SculptKind::Vertices;
        for mode in [Mode::Cluster, Mode::Sculpt] {
            let keys = |preset| transform(&KeyMap::preset(preset), mode, &session).unwrap();
            assert_eq!(keys(Preset::Blender), "G R S");
            assert_eq!(keys(Preset::Maya), "W E R");
        }
        // Keys that the user changed or removed.
        let mut map = KeyMap::default();
        let chords = KeyMap::preset(Preset::Maya)
            .chords(Command::PoseMove)
            .to_vec();
        map.rebind(Command::PoseMove, chords);
        map.rebind(Command::PoseRotate, Vec::new());
        assert_eq!(
            transform(&map, Mode::Sculpt, &session).as_deref(),
            Some("W S")
        );
        map.rebind(Command::PoseMove, Vec::new());
        map.rebind(Command::PoseScale, Vec::new());
        assert_eq!(transform(&map, Mode::Sculpt, &session), None);
    }

    #[test]
    fn every_mode_has_hints_for_every_modifier() {
        for mode in Mode::ALL {
            for map in Preset::ALL.map(KeyMap::preset) {
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
                        assert!(!hints(mode, modifiers, &map, &session).is_empty());
                    }
                    for kind in SculptKind::ALL {
                        session.sculpt_kind = kind;
                        assert!(!hints(mode, modifiers, &map, &session).is_empty());
                    }
                }
            }
        }
    }
}
