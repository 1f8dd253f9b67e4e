//! A keyboard shortcut: a key with modifiers, "Ctrl+Shift+Z".

use egui::{Event, InputState, Key, Modifiers};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// A key with exactly these modifiers. Ctrl is Command on a Mac.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Chord {
    /// Ctrl, or Command on a Mac.
    pub ctrl: bool,
    /// Shift.
    pub shift: bool,
    /// Alt, or Option on a Mac.
    pub alt: bool,
    /// The key.
    pub key: Key,
}

impl Chord {
    /// A key without modifiers.
    pub const fn key(key: Key) -> Self {
        Self {
            ctrl: false,
            shift: false,
            alt: false,
            key,
        }
    }

    /// Adds Ctrl.
    #[must_use]
    pub const fn ctrl(mut self) -> Self {
        self.ctrl = true;
        self
    }

    /// Adds Shift.
    #[must_use]
    pub const fn shift(mut self) -> Self {
        self.shift = true;
        self
    }

    /// Adds Alt.
    #[must_use]
    pub const fn alt(mut self) -> Self {
        self.alt = true;
        self
    }

    /// The chord of a key press, to record a new shortcut.
    pub fn pressed(key: Key, modifiers: Modifiers) -> Self {
        Self {
            ctrl: modifiers.command || modifiers.ctrl,
            shift: modifiers.shift,
            alt: modifiers.alt,
            key,
        }
    }

    fn matches(self, key: Key, modifiers: Modifiers) -> bool {
        // Plus is Shift+Equals on many keyboards and its own key on others.
        let is_plus = self.key == Key::Plus && matches!(key, Key::Plus | Key::Equals);
        (self.key == key || is_plus)
            && self.ctrl == (modifiers.command || modifiers.ctrl)
            && self.alt == modifiers.alt
            && (self.shift == modifiers.shift || is_plus && !self.shift)
    }

    /// Whether it was pressed in this frame; consumes the press. Key repeats count only if `repeats`.
    pub fn consume(self, input: &mut InputState, repeats: bool) -> bool {
        let before = input.events.len();
        let mut found = false;
        input.events.retain(|event| {
            let (is_it, counts) = match event {
                Event::Key {
                    key,
                    pressed: true,
                    repeat,
                    modifiers,
                    ..
                } => (self.matches(*key, *modifiers), !*repeat || repeats),
                // The windowing layer sends these events for Ctrl+C, X and V alone. Ctrl may be up again in this frame.
                Event::Copy => (self.matches(Key::C, Modifiers::COMMAND), true),
                Event::Cut => (self.matches(Key::X, Modifiers::COMMAND), true),
                Event::Paste(_) => (self.matches(Key::V, Modifiers::COMMAND), true),
                _ => (false, false),
            };
            found |= is_it && counts;
            !is_it
        });
        found && input.events.len() < before
    }
}

/// Whether Esc was pressed, with any modifiers; consumes the press.
pub(crate) fn take_escape(input: &mut InputState) -> bool {
    let held = input.modifiers;
    input.consume_key(held, Key::Escape)
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (held, name) in [
            (self.ctrl, "Ctrl+"),
            (self.shift, "Shift+"),
            (self.alt, "Alt+"),
        ] {
            if held {
                f.write_str(name)?;
            }
        }
        f.write_str(match self.key {
            Key::OpenBracket => "[",
            Key::CloseBracket => "]",
            Key::Period => ".",
            Key::Comma => ",",
            Key::Slash => "/",
            Key::Plus => "+",
            Key::Minus => "-",
            Key::ArrowLeft => "Left",
            Key::ArrowRight => "Right",
            Key::ArrowUp => "Up",
            Key::ArrowDown => "Down",
            key => key.name(),
        })
    }
}

impl std::str::FromStr for Chord {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut chord = Self::key(Key::Space);
        let mut rest = text;
        loop {
            let found = ["Ctrl+", "Shift+", "Alt+"]
                .into_iter()
                .find_map(|m| rest.strip_prefix(m).map(|r| (m, r)));
            let Some((modifier, after)) = found else {
                break;
            };
            match modifier {
                "Ctrl+" => chord.ctrl = true,
                "Shift+" => chord.shift = true,
                _ => chord.alt = true,
            }
            rest = after;
        }
        let key = match rest {
            "+" => Some(Key::Plus),
            "-" => Some(Key::Minus),
            name => Key::from_name(name),
        };
        chord.key = key.ok_or_else(|| format!("\"{text}\" is not a known key."))?;
        Ok(chord)
    }
}

impl Serialize for Chord {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Chord {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Reads lists of keys without those unknown to this version. A list with no known keys is dropped; an empty list is
/// kept.
pub(super) fn read_known<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Vec<Chord>>, D::Error> {
    let lists = BTreeMap::<String, Vec<String>>::deserialize(deserializer)?;
    let known = lists.into_iter().filter_map(|(id, texts)| {
        let chords: Vec<Chord> = texts.iter().filter_map(|text| text.parse().ok()).collect();
        (texts.is_empty() || !chords.is_empty()).then_some((id, chords))
    });
    Ok(known.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_reads_back_as_it_is_written() {
        for &key in Key::ALL {
            for chord in [
                Chord::key(key),
                Chord::key(key).ctrl().shift(),
                Chord::key(key).alt(),
            ] {
                let text = chord.to_string();
                assert_eq!(text.parse(), Ok(chord), "{text}");
            }
        }
        assert!("Ctrl+Nonsense".parse::<Chord>().is_err());
    }

    #[test]
    fn modifiers_must_be_exactly_those() {
        let save = Chord::key(Key::S).ctrl();
        assert!(save.matches(Key::S, Modifiers::COMMAND));
        assert!(!save.matches(Key::S, Modifiers::COMMAND | Modifiers::SHIFT));
        assert!(!save.matches(Key::S, Modifiers::NONE));
        let grow = Chord::key(Key::Plus).ctrl();
        assert!(grow.matches(Key::Equals, Modifiers::COMMAND | Modifiers::SHIFT));
    }
}
