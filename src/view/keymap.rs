//! The key map: a preset and the user's changes.

use super::chord::Chord;
use super::commands::Command;
use super::commands::table::TABLE;
use super::mode::Mode;
use egui::{Context, EventFilter, FocusDirection, Id, Key, Modifiers, Popup};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A preset of shortcuts and navigation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Preset {
    /// G R S transforms, numpad views, the middle button orbits.
    #[default]
    Blender,
    /// W E R gizmos, F frames, Alt with the buttons tumbles, tracks and dollies.
    Maya,
}

impl Preset {
    /// All presets.
    pub const ALL: [Self; 2] = [Self::Blender, Self::Maya];

    /// The name of the preset.
    pub fn label(self) -> &'static str {
        match self {
            Self::Blender => "Blender",
            Self::Maya => "Maya",
        }
    }
}

/// A preset and the user's changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeyMap {
    /// The preset.
    pub preset: Preset,
    /// Command id -> keys that replace the preset's. Unknown ids have no effect.
    #[serde(deserialize_with = "super::chord::read_known")]
    overrides: BTreeMap<String, Vec<Chord>>,
}

/// Two commands with the same keys in the same mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clash {
    /// The command that runs: it is first in the table.
    pub wins: Command,
    /// The command that does not run.
    pub loses: Command,
    /// The shared keys.
    pub chord: Chord,
}

impl KeyMap {
    /// A preset without changes.
    pub fn preset(preset: Preset) -> Self {
        Self {
            preset,
            overrides: BTreeMap::new(),
        }
    }

    /// The keys of a command, the displayed one first.
    pub fn chords(&self, command: Command) -> &[Chord] {
        let row = command.row();
        match self.overrides.get(row.id) {
            Some(chords) => chords,
            None => match self.preset {
                Preset::Blender => row.blender,
                Preset::Maya => row.maya,
            },
        }
    }

    /// Whether the user changed the keys of the command.
    pub fn is_changed(&self, command: Command) -> bool {
        self.overrides.contains_key(command.row().id)
    }

    /// Sets the keys of a command; an empty list removes them.
    pub fn rebind(&mut self, command: Command, chords: Vec<Chord>) {
        self.overrides.insert(command.row().id.to_owned(), chords);
        // Keys equal to the preset's are not a change.
        let kept = std::mem::take(&mut self.overrides);
        let plain = Self::preset(self.preset);
        self.overrides = kept
            .into_iter()
            .filter(|(id, chords)| {
                Command::by_id(id).is_none_or(|command| plain.chords(command) != chords)
            })
            .collect();
    }

    /// Restores the preset's keys of a command.
    pub fn reset(&mut self, command: Command) {
        self.overrides.remove(command.row().id);
    }

    /// Restores the preset's keys of all commands.
    pub fn reset_all(&mut self) {
        self.overrides.clear();
    }

    /// The keys that run more than one command in the same mode.
    pub fn clashes(&self) -> Vec<Clash> {
        let mut clashes = Vec::new();
        for (i, a) in TABLE.iter().enumerate() {
            for b in &TABLE[i + 1..] {
                if !a.modes.iter().any(|mode| b.modes.contains(mode)) {
                    continue;
                }
                let shared = self
                    .chords(a.command)
                    .iter()
                    .filter(|chord| self.chords(b.command).contains(chord));
                clashes.extend(shared.map(|&chord| Clash {
                    wins: a.command,
                    loses: b.command,
                    chord,
                }));
            }
        }
        clashes
    }

    /// Whether a key of a held command ([`Command::is_held`]) is down, with any modifiers, and no text field has the
    /// focus.
    pub fn is_held(&self, ctx: &Context, command: Command) -> bool {
        if ctx.text_edit_focused() {
            return false;
        }
        let is_down = |chord: &Chord, input: &egui::InputState| {
            let held = input.modifiers;
            input.key_down(chord.key)
                && (held.command || held.ctrl || !chord.ctrl)
                && (held.shift || !chord.shift)
                && (held.alt || !chord.alt)
        };
        ctx.input(|input| self.chords(command).iter().any(|c| is_down(c, input)))
    }

    /// The commands whose keys were pressed in `mode`, unless a text field has the focus or a menu is open.
    pub fn pressed(&self, ctx: &Context, mode: Mode) -> Vec<Command> {
        // An open menu or drop-down keeps its keys.
        if ctx.text_edit_focused() || Popup::is_any_open(ctx) {
            return Vec::new();
        }
        let taken = keys_of_list(ctx);
        let rows = TABLE.iter().filter(|row| row.modes.contains(&mode));
        let commands: Vec<Command> = ctx.input_mut(|input| {
            rows.map(|row| row.command)
                .filter(|&command| {
                    // Held commands are read in each frame; still consume their presses.
                    // Check every chord, so that two presses in one frame are both consumed.
                    self.chords(command).iter().fold(false, |found, chord| {
                        let is_taken = taken.is_some_and(|claim| claim.takes(*chord));
                        !is_taken && chord.consume(input, command.repeats()) || found
                    }) && !command.is_held()
                })
                .collect()
        });
        if commands
            .iter()
            .any(|command| matches!(command, Command::SwapMode | Command::ModePie))
        {
            // Otherwise Tab would also move the focus, and stop working once it reaches a text field.
            ctx.memory_mut(|memory| memory.move_focus(FocusDirection::None));
        }
        commands
    }
}

/// Takes the press of a key that deletes, for a panel under the pointer whose items it deletes: Delete, Backspace, and in
/// the Blender preset X. Returns whether there was one.
pub fn takes_delete(ctx: &Context) -> bool {
    if ctx.text_edit_focused() || Popup::is_any_open(ctx) {
        return false;
    }
    let keys: &[Key] = match of(ctx).preset {
        Preset::Blender => &[Key::Delete, Key::Backspace, Key::X],
        Preset::Maya => &[Key::Delete, Key::Backspace],
    };
    ctx.input_mut(|input| {
        let mut keys = keys.iter();
        keys.any(|&key| input.consume_key(Modifiers::NONE, key))
    })
}

/// The navigation keys of lists.
pub const LIST_KEYS: &[Key] = &[
    Key::ArrowUp,
    Key::ArrowDown,
    Key::ArrowLeft,
    Key::ArrowRight,
    Key::Home,
    Key::End,
    Key::PageUp,
    Key::PageDown,
    Key::Enter,
];

/// The keys of a table besides [`LIST_KEYS`]: select, edit, copy and paste cells.
const CELL_KEYS: &[Key] = &[
    Key::Num0,
    Key::Num1,
    Key::Num2,
    Key::Num3,
    Key::Num4,
    Key::Num5,
    Key::Num6,
    Key::Num7,
    Key::Num8,
    Key::Num9,
    Key::Period,
    Key::Comma,
    Key::Delete,
    Key::Backspace,
    Key::F2,
];
/// The table keys with Ctrl.
const CELL_KEYS_WITH_CTRL: &[Key] = &[Key::C, Key::V];

/// The keys that a widget owns while it has the focus.
#[derive(Clone, Copy)]
struct Claim {
    widget: Id,
    has_cells: bool,
}

impl Claim {
    fn takes(self, chord: Chord) -> bool {
        let key = &chord.key;
        if chord.ctrl {
            self.has_cells && !chord.alt && CELL_KEYS_WITH_CTRL.contains(key)
        } else {
            LIST_KEYS.contains(key) || self.has_cells && CELL_KEYS.contains(key)
        }
    }
}

/// Reserves [`LIST_KEYS`] without Ctrl for the widget `list` while it has the focus: neither commands nor focus
/// navigation use them. Call it in each frame.
pub fn give_keys_to_list(ctx: &Context, list: Id) {
    claim_keys(ctx, list, false);
}

/// Reserves the list keys, and those for numbers, copy and paste, for a table with editable cells.
pub fn give_keys_to_cells(ctx: &Context, table: Id) {
    claim_keys(ctx, table, true);
}

fn claim_keys(ctx: &Context, list: Id, has_cells: bool) {
    let claim = Claim {
        widget: list,
        has_cells,
    };
    ctx.data_mut(|data| data.insert_temp(list_id(), claim));
    let filter = EventFilter {
        horizontal_arrows: true,
        vertical_arrows: true,
        ..EventFilter::default()
    };
    ctx.memory_mut(|memory| memory.set_focus_lock_filter(list, filter));
}

fn keys_of_list(ctx: &Context) -> Option<Claim> {
    let focused = ctx.memory(egui::Memory::focused)?;
    let claim = ctx.data(|data| data.get_temp::<Claim>(list_id()));
    claim.filter(|claim| claim.widget == focused)
}

fn list_id() -> Id {
    Id::unique("list with keys")
}

/// The active key map.
pub fn of(ctx: &Context) -> Arc<KeyMap> {
    ctx.data(|data| data.get_temp(key_map_id()))
        .unwrap_or_default()
}

/// Activates a key map.
pub fn set(ctx: &Context, map: KeyMap) {
    ctx.data_mut(|data| data.insert_temp(key_map_id(), Arc::new(map)));
}

fn key_map_id() -> Id {
    Id::unique("key map")
}

impl Command {
    /// The command's first shortcut in the active key map.
    pub fn shortcut(self, ctx: &egui::Context) -> Option<Chord> {
        of(ctx).chords(self).first().copied()
    }

    /// The tooltip with the first shortcut.
    pub fn tooltip(self, ctx: &egui::Context) -> String {
        match self.shortcut(ctx) {
            Some(chord) => format!("{}  ({chord})", self.about()),
            None => self.about().to_owned(),
        }
    }

    /// The shortcut as printed on a keyboard; empty for none.
    pub fn keys(self, ctx: &egui::Context) -> String {
        self.shortcut(ctx)
            .map_or_else(String::new, |chord| chord.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::Key;

    #[test]
    fn no_preset_clashes() {
        for preset in Preset::ALL {
            assert_eq!(KeyMap::preset(preset).clashes(), [], "{preset:?}");
        }
    }

    #[test]
    fn rebinding_warns_of_clashes_and_is_taken_back() {
        let mut map = KeyMap::default();
        map.rebind(Command::KeyPose, vec![Chord::key(Key::A)]);
        let clash = map.clashes();
        assert_eq!(clash.len(), 1);
        assert_eq!(
            (clash[0].wins, clash[0].loses),
            (Command::SelectAll, Command::KeyPose)
        );
        map.rebind(Command::KeyPose, vec![Chord::key(Key::I)]);
        assert_eq!(map, KeyMap::default());
        map.rebind(Command::Save, Vec::new());
        assert!(map.chords(Command::Save).is_empty());
        map.reset(Command::Save);
        assert_eq!(map, KeyMap::default());
    }

    #[test]
    fn the_same_keys_may_serve_different_modes() {
        let mut map = KeyMap::default();
        // Extrude bone, in Edit bones mode only.
        map.rebind(Command::SwapWeight, map.chords(Command::Extrude).to_vec());
        assert!(!map.chords(Command::SwapWeight).is_empty());
        assert_eq!(map.clashes(), []);
    }

    #[test]
    fn settings_keep_what_was_changed() {
        let mut map = KeyMap::preset(Preset::Maya);
        map.rebind(Command::Save, vec![Chord::key(Key::F12).shift()]);
        let text = ron::to_string(&map).expect("a key map is written");
        assert!(text.contains("Shift+F12"), "{text}");
        assert_eq!(ron::from_str::<KeyMap>(&text), Ok(map));
    }
}
