//! What a channel of a recording is bound to by hand: a bone's rotation, its angle about an axis or its place, a morph target, a
//! corrective sample, or nothing.

use super::clusters::layer_row::dim_ui;
use super::clusters::pick::filtered_ui;
use super::correctives::fields::{Number, named_ui, pick_ui};
use crate::cluster::channel::RecordingId;
use crate::editor::Editor;
use crate::motion::ChannelKind;
use crate::motion::bindings::{BoundTo, HingeAxis, Linear};
use egui::Ui;

/// The width of a drop-down, points.
const WIDTH: f32 = 150.0;

/// The binding of a channel while it has no target yet.
#[derive(Default)]
pub(super) struct BindingRows {
    draft: Option<Draft>,
}

/// What a channel will be bound to.
struct Draft {
    of: BindingOf,
    channel: String,
    kind: ChannelKind,
    to: BoundTo,
}

/// Whose channel is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BindingOf {
    /// That of a recording.
    Recording(RecordingId),
    /// One that is received live.
    Live,
}

impl BindingOf {
    fn moves_the_body(self, editor: &Editor, channel: (&str, ChannelKind)) -> bool {
        match self {
            Self::Recording(id) => editor.moves_the_body(id, channel),
            // Those of a live body are listed only where they are bound.
            Self::Live => false,
        }
    }

    fn known(self, editor: &Editor, channel: (&str, ChannelKind)) -> Option<BoundTo> {
        let known = match self {
            Self::Recording(id) => editor.binding_of(id, channel),
            Self::Live => editor.live_binding_of(channel),
        };
        known.cloned()
    }

    fn bind(self, editor: &mut Editor, channel: (&str, ChannelKind), to: Option<BoundTo>) {
        match self {
            Self::Recording(id) => editor.bind_channel(id, channel, to),
            Self::Live => editor.bind_live_channel(channel, to),
        }
    }

    fn about(self) -> &'static str {
        match self {
            Self::Recording(_) => "What this channel moves in the clip of its recording.",
            Self::Live => {
                "What this channel moves on the character while you listen. A recording of it keeps this."
            }
        }
    }
}

/// What a channel can be bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    ByName,
    Rotation,
    WorldRotation,
    Hinge,
    Translation,
    Morph,
    Sample,
    Display,
}

/// What a binding moves, in a few words.
pub(super) fn binding_words(to: &BoundTo) -> String {
    let (kind, _) = Kind::of(Some(to)).words();
    match name_of(&mut to.clone()) {
        Some(name) => format!("{kind}: {name}"),
        None => kind.to_owned(),
    }
}

impl Kind {
    fn of(to: Option<&BoundTo>) -> Self {
        match to {
            None => Self::ByName,
            Some(BoundTo::Display) => Self::Display,
            Some(BoundTo::Rotation { in_world: true, .. }) => Self::WorldRotation,
            Some(BoundTo::Rotation { .. }) => Self::Rotation,
            Some(BoundTo::Hinge { .. }) => Self::Hinge,
            Some(BoundTo::Translation { .. }) => Self::Translation,
            Some(BoundTo::Morph { .. }) => Self::Morph,
            Some(BoundTo::Sample { .. }) => Self::Sample,
        }
    }

    /// Its name in lists, and a tooltip.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::ByName => (
                "By name",
                "The bone or the morph target of the channel's name follows it, if there is one.",
            ),
            Self::Rotation => (
                "Rotation, local",
                "The channel is the rotation of a bone in the space of its parent.",
            ),
            Self::WorldRotation => (
                "Rotation, world",
                "The channel is the rotation of a bone in the world.",
            ),
            Self::Hinge => (
                "Hinge angle",
                "The channel rotates a bone from rest about one of its axes.",
            ),
            Self::Translation => (
                "Location",
                "The bone moves as far as the channel moves, in world space: from its first position, or live from where it was when you bound it.",
            ),
            Self::Morph => (
                "Morph target",
                "The channel is the weight of a morph target.",
            ),
            Self::Sample => (
                "Corrective sample",
                "The channel is the weight of a corrective sample: its bones rotate from rest at 0 to the pose of the sample at 1.",
            ),
            Self::Display => (
                "Display only",
                "The channel moves nothing; its values are only shown.",
            ),
        }
    }

    /// What a channel of a kind can be bound to.
    fn choices(kind: ChannelKind) -> &'static [Self] {
        match kind {
            ChannelKind::Rotation => &[
                Self::ByName,
                Self::Rotation,
                Self::WorldRotation,
                Self::Display,
            ],
            ChannelKind::Scalar => &[
                Self::ByName,
                Self::Hinge,
                Self::Morph,
                Self::Sample,
                Self::Display,
            ],
            ChannelKind::Marker | ChannelKind::Text => {
                &[Self::ByName, Self::Translation, Self::Display]
            }
        }
    }

    /// A binding of this kind to a bone, or whatever has no name yet.
    fn to(self, joint: &str) -> Option<BoundTo> {
        let joint = joint.to_owned();
        let scale = Linear::default();
        Some(match self {
            Self::ByName => return None,
            Self::Rotation | Self::WorldRotation => BoundTo::Rotation {
                joint,
                in_world: self == Self::WorldRotation,
            },
            Self::Hinge => BoundTo::Hinge {
                joint,
                axis: HingeAxis::X,
                scale,
            },
            Self::Translation => BoundTo::Translation {
                joint,
                gain: 1.0,
                from: None,
            },
            Self::Morph => BoundTo::Morph {
                target: String::new(),
                scale,
            },
            Self::Sample => BoundTo::Sample {
                sample: String::new(),
                scale,
            },
            Self::Display => BoundTo::Display,
        })
    }
}

/// The name of the bone, morph target or sample of a binding; `None` where it has none.
fn name_of(to: &mut BoundTo) -> Option<&mut String> {
    match to {
        BoundTo::Display => None,
        BoundTo::Rotation { joint, .. }
        | BoundTo::Hinge { joint, .. }
        | BoundTo::Translation { joint, .. } => Some(joint),
        BoundTo::Morph { target, .. } => Some(target),
        BoundTo::Sample { sample, .. } => Some(sample),
    }
}

impl BindingRows {
    /// Draws what a channel of a kind is bound to.
    pub(super) fn show_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        (of, channel): (BindingOf, (&str, ChannelKind)),
    ) {
        let (name, kind) = channel;
        let known = of.known(editor, channel);
        if known.is_none() && of.moves_the_body(editor, channel) {
            dim_ui(
                ui,
                "This channel moves the body: Adjust motion pairs its bones.",
            );
            return;
        }
        let is_its =
            |draft: &Draft| draft.of == of && (draft.channel.as_str(), draft.kind) == channel;
        self.draft = self.draft.take().filter(is_its);
        let shown = match &self.draft {
            Some(draft) => Some(draft.to.clone()),
            None => known.clone(),
        };
        let mut next = shown.clone();
        kind_ui(ui, editor, (of.about(), kind), &mut next);
        if let Some(to) = &mut next {
            target_ui(ui, editor, to);
        }
        if next == shown {
            return;
        }
        let is_whole = next
            .as_mut()
            .is_none_or(|to| name_of(to).is_none_or(|name| !name.is_empty()));
        if is_whole {
            self.draft = None;
            of.bind(editor, channel, next);
        } else {
            self.draft = next.map(|to| Draft {
                of,
                channel: name.to_owned(),
                kind,
                to,
            });
        }
    }
}

/// Draws the kind of a binding; another one begins with the bone that it had, or with the selected one.
fn kind_ui(
    ui: &mut Ui,
    editor: &Editor,
    (about, kind): (&str, ChannelKind),
    to: &mut Option<BoundTo>,
) {
    named_ui(ui, "Bind to", about, |ui| {
        let choices = Kind::choices(kind).iter().map(|kind| {
            let (label, about) = kind.words();
            (*kind, label, about)
        });
        let choices: Vec<(Kind, &str, &str)> = choices.collect();
        let now = Kind::of(to.as_ref());
        let width = ui.available_width().min(WIDTH);
        let (response, chosen) = pick_ui(ui, "Bind to", width, now, &choices);
        response.on_hover_text(now.words().1);
        if let Some(kind) = chosen {
            let joint = to.as_ref().and_then(BoundTo::joint).map(str::to_owned);
            let selected = || {
                let joint = editor.selected_driver_joint()?;
                Some(editor.document().skeleton().joint(joint).name.clone())
            };
            *to = kind.to(&joint.or_else(selected).unwrap_or_default());
        }
    });
}

/// Draws what a binding moves and how.
fn target_ui(ui: &mut Ui, editor: &Editor, to: &mut BoundTo) {
    let (label, about, names) = match to {
        BoundTo::Display => return,
        BoundTo::Morph { .. } => (
            "Morph target",
            "The morph target that follows the channel.",
            editor.bindable_morphs(),
        ),
        BoundTo::Sample { .. } => (
            "Sample",
            "The corrective sample that follows the channel.",
            editor.bindable_samples(),
        ),
        BoundTo::Rotation { .. } | BoundTo::Hinge { .. } | BoundTo::Translation { .. } => {
            ("Bone", "The bone that follows the channel.", bones(editor))
        }
    };
    if names.is_empty() {
        let why = match to {
            BoundTo::Sample { .. } => {
                "This character has no corrective sample whose driver bones rotate in their parents' spaces.".to_owned()
            }
            _ => format!("This character has no {}.", label.to_lowercase()),
        };
        dim_ui(ui, &why);
        return;
    }
    if let Some(name) = name_of(to) {
        named_ui(ui, label, about, |ui| {
            let chosen = names.iter().position(|of| of == name);
            let text = match name.as_str() {
                "" => "Choose\u{2026}",
                name => name,
            };
            let width = ui.available_width().min(WIDTH);
            let label = format!("{label} of the channel");
            let (response, picked) = filtered_ui(ui, &label, width, chosen, text, &names);
            response.on_hover_text(about);
            if let Some(picked) = picked.and_then(|at| names.get(at)) {
                name.clone_from(picked);
            }
        });
    }
    match to {
        BoundTo::Hinge { axis, scale, .. } => {
            let about = "The axis about which the bone rotates.";
            named_ui(ui, "Axis", about, |ui| {
                let choices = HingeAxis::ALL.map(|axis| (axis, axis.label(), axis.about()));
                let width = ui.available_width().min(WIDTH);
                let (response, chosen) = pick_ui(ui, "Axis of the hinge", width, *axis, &choices);
                response.on_hover_text(axis.about());
                if let Some(chosen) = chosen {
                    *axis = chosen;
                }
            });
            scale_ui(ui, scale, "\u{b0}");
        }
        BoundTo::Morph { scale, .. } | BoundTo::Sample { scale, .. } => scale_ui(ui, scale, ""),
        BoundTo::Translation { gain, .. } => {
            gain_ui(ui, gain, "Scales the displacement.");
        }
        BoundTo::Rotation { .. } | BoundTo::Display => {}
    }
}

/// The names of the bones, each once.
fn bones(editor: &Editor) -> Vec<String> {
    let skeleton = editor.document().skeleton();
    let mut known = std::collections::BTreeSet::new();
    let names = skeleton
        .live_joints()
        .map(|joint| skeleton.joint(joint).name.clone());
    names
        .filter(|name| !name.is_empty() && known.insert(name.clone()))
        .collect()
}

fn scale_ui(ui: &mut Ui, scale: &mut Linear, suffix: &str) {
    let about = if suffix.is_empty() {
        "The weight is gain \u{d7} value + offset."
    } else {
        "The angle in degrees is gain \u{d7} value + offset; the value of an angle is in degrees too."
    };
    gain_ui(ui, &mut scale.gain, about);
    let label = "Offset of the binding";
    number_ui(ui, "Offset", label, suffix, about, &mut scale.offset);
}

fn gain_ui(ui: &mut Ui, gain: &mut f64, about: &str) {
    number_ui(ui, "Gain", "Gain of the binding", "", about, gain);
}

fn number_ui(ui: &mut Ui, name: &str, label: &str, suffix: &str, about: &str, number: &mut f64) {
    named_ui(ui, name, about, |ui| {
        let field = Number {
            label,
            range: -1e6..=1e6,
            speed: 0.01,
            decimals: 4,
            suffix,
            about,
            step: "",
        };
        if let Some(next) = field.show_free_ui(ui, *number) {
            *number = next;
        }
    });
}
