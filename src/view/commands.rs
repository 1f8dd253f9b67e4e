//! The one table of commands: it feeds the menus, the tool bar and the keys.

use super::scene::Shading;
use crate::deform::SkinningMethod;
use crate::editor::Editor;
use egui::{FocusDirection, Key, KeyboardShortcut, Modifiers};

/// Something the artist can ask for by menu, button or key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Show the open dialog.
    Open,
    /// Open a built-in sample.
    Sample(&'static str),
    /// Save the project where it is.
    Save,
    /// Save the project somewhere else.
    SaveAs,
    /// Show the export dialog.
    Export,
    /// End the program.
    Quit,
    /// Take a step back.
    Undo,
    /// Do it again.
    Redo,
    /// Choose what the left button does.
    SetMode(Mode),
    /// The other mode.
    SwapMode,
    /// Choose how surfaces look.
    Show(Shading),
    /// Bones on or off.
    ToggleBones,
    /// Grid on or off.
    ToggleGrid,
    /// Fine edges on or off.
    ToggleWire,
    /// Fit everything.
    FrameAll,
    /// Fit the selection.
    FrameSelected,
    /// Look from the front.
    ViewFront,
    /// Look from the right.
    ViewSide,
    /// Look from above.
    ViewTop,
    /// Perspective or parallel.
    ToggleOrthographic,
    /// Choose the skinning method.
    UseMethod(SkinningMethod),
    /// Play or pause.
    PlayPause,
    /// Smaller brush.
    SmallerBrush,
    /// Larger brush.
    LargerBrush,
}

/// What the left button does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Picks bones.
    #[default]
    Select,
    /// Paints weights.
    Paint,
}

const fn plain(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::NONE, key)
}

const fn ctrl(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND, key)
}

const fn ctrl_shift(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), key)
}

impl Command {
    /// Every command.
    pub const ALL: &[Self] = &[
        Self::Open,
        Self::Sample("arm"),
        Self::Sample("hand"),
        Self::Sample("mannequin"),
        Self::Sample("cylinder"),
        // Before `Save` and `Undo`: of two shortcuts the one with more modifiers is asked first.
        Self::SaveAs,
        Self::Save,
        Self::Export,
        Self::Quit,
        Self::Redo,
        Self::Undo,
        Self::SetMode(Mode::Select),
        Self::SetMode(Mode::Paint),
        Self::SwapMode,
        Self::Show(Shading::Textured),
        Self::Show(Shading::Shaded),
        Self::Show(Shading::Weights),
        Self::Show(Shading::Wire),
        Self::ToggleBones,
        Self::ToggleGrid,
        Self::ToggleWire,
        Self::FrameAll,
        Self::FrameSelected,
        Self::ViewFront,
        Self::ViewSide,
        Self::ViewTop,
        Self::ToggleOrthographic,
        Self::UseMethod(SkinningMethod::Lbs),
        Self::UseMethod(SkinningMethod::Dqs),
        Self::PlayPause,
        Self::SmallerBrush,
        Self::LargerBrush,
    ];

    /// What menus and buttons say.
    pub fn label(self) -> &'static str {
        match self {
            Self::Open => "Open…",
            Self::Sample("arm") => "Sample arm",
            Self::Sample("hand") => "Sample hand",
            Self::Sample("mannequin") => "Sample mannequin",
            Self::Sample(_) => "Sample cylinder",
            Self::Save => "Save project",
            Self::SaveAs => "Save project as…",
            Self::Export => "Export glTF…",
            Self::Quit => "Quit",
            Self::Undo => "Undo",
            Self::Redo => "Redo",
            Self::SetMode(Mode::Select) => "Select",
            Self::SetMode(Mode::Paint) => "Paint",
            Self::SwapMode => "Swap mode",
            Self::Show(Shading::Textured) => "Textured",
            Self::Show(Shading::Shaded) => "Shaded",
            Self::Show(Shading::Weights) => "Weights",
            Self::Show(Shading::Wire) => "Wire",
            Self::ToggleBones => "Show bones",
            Self::ToggleGrid => "Show grid",
            Self::ToggleWire => "Wire over surface",
            Self::FrameAll => "Frame all",
            Self::FrameSelected => "Frame selected",
            Self::ViewFront => "Front view",
            Self::ViewSide => "Side view",
            Self::ViewTop => "Top view",
            Self::ToggleOrthographic => "Orthographic",
            Self::UseMethod(SkinningMethod::Lbs) => "Linear blend",
            Self::UseMethod(SkinningMethod::Dqs) => "Dual quaternion",
            Self::PlayPause => "Play / pause",
            Self::SmallerBrush => "Smaller brush",
            Self::LargerBrush => "Larger brush",
        }
    }

    /// What it does, in a sentence.
    pub fn about(self) -> &'static str {
        match self {
            Self::Open => {
                "Open a glTF model or a Sinew project. You can also drop a file on the window."
            }
            Self::Sample(_) => "Open a model that comes with Sinew.",
            Self::Save => {
                "Save what you changed as a project; the model's own file is never touched."
            }
            Self::SaveAs => "Save the project under another name.",
            Self::Export => {
                "Write a glTF file with your weights, clips and names; everything else as it came."
            }
            Self::Quit => "End Sinew.",
            Self::Undo => "Take the newest step back.",
            Self::Redo => "Do the step undone last again.",
            Self::SetMode(Mode::Select) => "Click a bone to select it.",
            Self::SetMode(Mode::Paint) => {
                "Paint the weights of the active bone: drag adds, Ctrl subtracts."
            }
            Self::SwapMode => "Swap between Select and Paint.",
            Self::Show(Shading::Textured) => "Show the model with its textures.",
            Self::Show(Shading::Shaded) => "Show plain clay: the best light to judge form.",
            Self::Show(Shading::Weights) => {
                "Show the weights of the active bone; hatched grey where it has none."
            }
            Self::Show(Shading::Wire) => "Show the edges.",
            Self::ToggleBones => "Show or hide the bones.",
            Self::ToggleGrid => "Show or hide the ground grid.",
            Self::ToggleWire => "Draw fine edges over the surface.",
            Self::FrameAll => "Move the camera until everything fits.",
            Self::FrameSelected => "Move the camera to the selected bone.",
            Self::ViewFront => "Look from the front, along the Z axis.",
            Self::ViewSide => "Look from the right, along the X axis.",
            Self::ViewTop => "Look from above, along the Y axis.",
            Self::ToggleOrthographic => "Switch between perspective and parallel projection.",
            Self::UseMethod(SkinningMethod::Lbs) => {
                "Linear blend skinning, as every glTF viewer draws it: joints collapse when they bend or twist."
            }
            Self::UseMethod(SkinningMethod::Dqs) => {
                "Dual quaternion skinning with two-phase scale: keeps the volume, bulges where joints bend."
            }
            Self::PlayPause => "Play the clip, or stop.",
            Self::SmallerBrush => "Make the brush smaller.",
            Self::LargerBrush => "Make the brush larger.",
        }
    }

    /// Its keys.
    pub fn shortcut(self) -> Option<KeyboardShortcut> {
        Some(match self {
            Self::Open => ctrl(Key::O),
            Self::Save => ctrl(Key::S),
            Self::SaveAs => ctrl_shift(Key::S),
            Self::Export => ctrl(Key::E),
            Self::Quit => ctrl(Key::Q),
            Self::Undo => ctrl(Key::Z),
            Self::Redo => ctrl_shift(Key::Z),
            Self::SwapMode => plain(Key::Tab),
            Self::PlayPause => plain(Key::Space),
            Self::FrameAll => plain(Key::Home),
            Self::FrameSelected => plain(Key::Period),
            Self::ViewFront => plain(Key::Num1),
            Self::ViewSide => plain(Key::Num3),
            Self::ViewTop => plain(Key::Num7),
            Self::ToggleOrthographic => plain(Key::Num5),
            Self::SmallerBrush => plain(Key::OpenBracket),
            Self::LargerBrush => plain(Key::CloseBracket),
            _ => return None,
        })
    }

    /// Whether it may be asked for by key while a stroke is under way: taking it back, or ending it with its mode.
    pub fn may_end_a_stroke(self) -> bool {
        matches!(self, Self::Undo | Self::SetMode(_) | Self::SwapMode)
    }

    /// Whether it can be asked for now.
    pub fn is_enabled(self, editor: &Editor) -> bool {
        let has_model = !editor.document().skeleton().is_empty();
        match self {
            Self::Open | Self::Sample(_) | Self::Quit => true,
            Self::Save | Self::SaveAs | Self::Export => {
                has_model && editor.document().source().is_some()
            }
            Self::Undo => editor.history().undo_label().is_some() || editor.is_painting(),
            Self::Redo => editor.history().redo_label().is_some(),
            Self::PlayPause => !editor.document().clips().is_empty(),
            Self::FrameSelected => !editor.document().session().selected_joints.is_empty(),
            Self::UseMethod(_) => !editor.document().skins().is_empty(),
            _ => has_model,
        }
    }

    /// What a menu shows: undo and redo name their step.
    pub fn full_label(self, editor: &Editor) -> String {
        let step = match self {
            Self::Undo => editor.history().undo_label(),
            Self::Redo => editor.history().redo_label(),
            _ => None,
        };
        step.map_or_else(
            || self.label().to_owned(),
            |step| format!("{} {}", self.label(), step.to_lowercase()),
        )
    }

    /// The tooltip: what it does and its keys.
    pub fn tooltip(self, ctx: &egui::Context) -> String {
        match self.shortcut() {
            Some(_) => format!("{}  ({})", self.about(), self.keys(ctx)),
            None => self.about().to_owned(),
        }
    }

    /// Its keys as they are printed on a keyboard; empty where it has none.
    pub fn keys(self, ctx: &egui::Context) -> String {
        let Some(keys) = self.shortcut() else {
            return String::new();
        };
        let text = ctx.format_shortcut(&keys);
        let symbol = match keys.logical_key {
            Key::OpenBracket => "[",
            Key::CloseBracket => "]",
            Key::Period => ".",
            _ => return text,
        };
        text.replace(keys.logical_key.name(), symbol)
    }
}

/// The commands whose keys were pressed, unless a text field has the focus.
pub fn pressed(ctx: &egui::Context) -> Vec<Command> {
    if ctx.text_edit_focused() {
        return Vec::new();
    }
    let asked: Vec<Command> = ctx.input_mut(|input| {
        let asked = |c: &&Command| {
            c.shortcut()
                .is_some_and(|keys| input.consume_shortcut(&keys))
        };
        Command::ALL.iter().filter(asked).copied().collect()
    });
    if asked.contains(&Command::SwapMode) {
        // Else Tab would walk on to the next widget too, and stop working once it comes to a text field.
        ctx.memory_mut(|memory| memory.move_focus(FocusDirection::None));
    }
    asked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_commands_share_keys_and_every_one_explains_itself() {
        for (i, a) in Command::ALL.iter().enumerate() {
            assert!(a.about().ends_with('.'), "{a:?}");
            for b in &Command::ALL[i + 1..] {
                assert!(
                    a.shortcut().is_none() || a.shortcut() != b.shortcut(),
                    "{a:?} and {b:?}"
                );
                assert_ne!(a.label(), b.label());
            }
        }
    }
}
