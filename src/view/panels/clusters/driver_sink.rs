//! What a driver moves: its gain, its direction, and how much of it each cluster takes.

use super::ClustersPanel;
use super::driver_input::selected_ui;
use super::pick::filtered_ui;
use crate::cluster::DriverLayer;
use crate::cluster::procedural::{Profile, SinkDirection, SinkMask};
use crate::editor::Editor;
use crate::finding::counted;
use crate::skeleton::JointId;
use crate::view::panels::correctives::fields::{Number, named_ui, pick_ui};
use crate::view::theme;
use egui::{Label, RichText, Ui};
use glam::DVec3;

/// The width of the two fields of a row, points.
const HALF: f32 = 72.0;

/// A kind of direction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Normal,
    BoneAxis,
    Radial,
    Fixed,
}

impl Way {
    const ALL: [Self; 4] = [Self::Normal, Self::BoneAxis, Self::Radial, Self::Fixed];

    fn of(direction: SinkDirection) -> Self {
        match direction {
            SinkDirection::Normal => Self::Normal,
            SinkDirection::BoneAxis => Self::BoneAxis,
            SinkDirection::Radial => Self::Radial,
            SinkDirection::Fixed(_) => Self::Fixed,
        }
    }

    fn direction(self) -> SinkDirection {
        match self {
            Self::Normal => SinkDirection::Normal,
            Self::BoneAxis => SinkDirection::BoneAxis,
            Self::Radial => SinkDirection::Radial,
            Self::Fixed => SinkDirection::Fixed(DVec3::Y),
        }
    }
}

impl ClustersPanel {
    /// Draws what a driver moves, and where to.
    pub(super) fn sink_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        index: usize,
        driver: &DriverLayer,
    ) {
        self.gain_ui(ui, editor, index, driver.settings.gain);
        let sink = driver.settings.sink;
        let about = "The direction in which the clusters move.";
        named_ui(ui, "Direction", about, |ui| {
            let choices =
                Way::ALL.map(|way| (way, way.direction().label(), way.direction().about()));
            let width = ui.available_width();
            let shown = Way::of(sink.direction);
            let (response, chosen) = pick_ui(ui, "Direction", width, shown, &choices);
            response.on_hover_text(sink.direction.about());
            if let Some(way) = chosen {
                let direction = way.direction();
                let needs = matches!(way, Way::BoneAxis | Way::Radial);
                with_bone(editor, index, "direction", needs, |layer| {
                    layer.settings.sink.direction = direction;
                });
            }
        });
        if let SinkDirection::Fixed(fixed) = sink.direction {
            let about = "The direction in the bind pose of the object, of any length. It rotates with the skin.";
            named_ui(ui, "", about, |ui| {
                let step = editor.driver_step(index, "direction");
                if let Some(fixed) = self.vector_ui(ui, editor, "Direction", &step, fixed, 0.01)
                    && fixed.length() > 1e-6
                {
                    editor.set_driver(index, "direction", |layer| {
                        layer.settings.sink.direction = SinkDirection::Fixed(fixed);
                    });
                }
            });
        }
        self.mask_ui(ui, editor, index, sink.mask);
        if sink.needs_bone() {
            bone_ui(ui, editor, index, driver.bone);
        }
        self.weight_ui(ui, editor, index, driver);
    }

    fn gain_ui(&mut self, ui: &mut Ui, editor: &mut Editor, index: usize, gain: f64) {
        let about = "How far the driver moves the clusters at the end of its range: in metres of the world, and as a part of \
                     the object's size. Below 0 they move the other way.";
        let size = editor.object_size();
        let step = editor.driver_step(index, "gain");
        named_ui(ui, "Gain", about, |ui| {
            ui.spacing_mut().interact_size.x = HALF;
            let metres = Number {
                label: "Gain",
                range: -1e6..=1e6,
                speed: size * 0.0005,
                decimals: (3.0 - size.log10()).clamp(1.0, 6.0) as usize,
                suffix: " m",
                about,
                step: &step,
            };
            let mut wanted = metres.show_step_ui(ui, &mut self.is_dragging, editor, gain);
            let percent = Number {
                label: "Gain of the object's size",
                range: -1e6..=1e6,
                speed: 0.05,
                decimals: 2,
                suffix: " %",
                ..metres
            };
            let shown = 100.0 * gain / size;
            let percent = percent.show_step_ui(ui, &mut self.is_dragging, editor, shown);
            wanted = wanted.or(percent.map(|percent| percent / 100.0 * size));
            if let Some(gain) = wanted {
                editor.set_driver(index, "gain", |layer| layer.settings.gain = gain);
            }
        });
    }

    fn mask_ui(&mut self, ui: &mut Ui, editor: &mut Editor, index: usize, mask: SinkMask) {
        let about = "How much each cluster moves: all equally, or by a profile along a bone, multiplied by its painted weight.";
        let choices = [
            (
                false,
                "Uniform",
                "Every cluster of the group moves by the whole amount.",
            ),
            (
                true,
                "Along a bone",
                "Largest at one place along the bone; falls off as cos\u{b2} of the distance from it.",
            ),
        ];
        named_ui(ui, "Profile", about, |ui| {
            let width = ui.available_width();
            let shown = matches!(mask, SinkMask::AlongBone { .. });
            let (response, chosen) = pick_ui(ui, "Driver profile", width, shown, &choices);
            response.on_hover_text(about);
            if let Some(along) = chosen {
                let mask = if along {
                    SinkMask::AlongBone {
                        centre: 0.5,
                        profile: Profile::Cosine { half_width: 0.5 },
                    }
                } else {
                    SinkMask::Painted
                };
                with_bone(editor, index, "profile", along, |layer| {
                    layer.settings.sink.mask = mask;
                });
            }
        });
        let SinkMask::AlongBone { centre, profile } = mask else {
            return;
        };
        let about = "The place along the bone where the clusters move most, and how far the profile reaches to both sides, in \
                     parts of the bone's length.";
        let step = editor.driver_step(index, "profile");
        named_ui(ui, "Position, falloff", about, |ui| {
            ui.spacing_mut().interact_size.x = HALF;
            let place = Number {
                label: "Position of the driver",
                range: -200.0..=300.0,
                speed: 0.25,
                decimals: 1,
                suffix: " %",
                about: "The position along the bone: 0 % is its head, 100 % its tail.",
                step: &step,
            };
            let placed = place.show_step_ui(ui, &mut self.is_dragging, editor, 100.0 * centre);
            let reach = Number {
                label: "Reach of the driver",
                range: 1.0..=1000.0,
                about: "How far the profile reaches along the bone, in both directions.",
                ..place
            };
            let reached =
                reach.show_step_ui(ui, &mut self.is_dragging, editor, 100.0 * profile.reach());
            if placed.is_none() && reached.is_none() {
                return;
            }
            let mask = SinkMask::AlongBone {
                centre: placed.map_or(centre, |percent| percent / 100.0),
                profile: reached.map_or(profile, |percent| profile.with_reach(percent / 100.0)),
            };
            editor.set_driver(index, "profile", |layer| layer.settings.sink.mask = mask);
        });
    }

    fn weight_ui(&mut self, ui: &mut Ui, editor: &mut Editor, index: usize, driver: &DriverLayer) {
        let about = "The weight of this driver at the selected clusters, 0 \u{2013} 1. It is 1 at all others that have none of their own.";
        let n = editor.selected_clusters_of_group().len();
        let step = editor.driver_step(index, "weight");
        named_ui(ui, "Weight", about, |ui| {
            ui.spacing_mut().interact_size.x = HALF;
            let shown = editor.driver_weight(index);
            let number = Number {
                label: "Weight of the selected clusters",
                range: 0.0..=1.0,
                speed: 0.005,
                decimals: 3,
                suffix: "",
                about,
                step: &step,
            };
            let mut wanted = None;
            ui.add_enabled_ui(n > 0, |ui| {
                let value = shown.unwrap_or(1.0);
                wanted = number.show_step_ui(ui, &mut self.is_dragging, editor, value);
            });
            if let Some(weight) = wanted {
                editor.set_driver_weight(index, weight);
            }
            let painted = driver.weights.len();
            let text = match (n, painted) {
                (0, 0) => "select clusters".to_owned(),
                (0, painted) => counted(painted, "weight"),
                (n, _) if shown.is_none() => format!("{n} differ"),
                (n, _) => format!("at {n}"),
            };
            let dim = theme::palette(ui).text_dim;
            ui.add(Label::new(RichText::new(text).color(dim)).truncate())
                .on_hover_text(about);
        });
    }
}

/// Changes a driver; where the change needs a bone and it has none, it gets the selected one, else the one that moves its
/// clusters most.
fn with_bone(
    editor: &mut Editor,
    index: usize,
    what: &str,
    needs: bool,
    change: impl FnOnce(&mut DriverLayer),
) {
    let bone = if needs {
        editor.bone_for_driver(index)
    } else {
        None
    };
    if needs && bone.is_none() {
        editor.tell("This needs a bone of the object's skin. Select one with a child first.");
        return;
    }
    editor.set_driver(index, what, |layer| {
        layer.bone = bone.or(layer.bone);
        change(layer);
    });
}

/// Draws the bone of the direction and the profile.
fn bone_ui(ui: &mut Ui, editor: &mut Editor, index: usize, shown: Option<[JointId; 2]>) {
    let about = "The bone from which the direction and the profile are measured, at bind.";
    named_ui(ui, "Along bone", about, |ui| {
        let bones = editor.muscle_bones();
        let names: Vec<String> = bones.iter().map(|b| editor.muscle_bone_label(*b)).collect();
        let chosen = bones.iter().position(|bone| Some(*bone) == shown);
        let text = shown.map_or_else(String::new, |bone| editor.muscle_bone_label(bone));
        let width = (ui.available_width() - 72.0).max(40.0);
        let (response, picked) = filtered_ui(ui, "Along bone", width, chosen, &text, &names);
        response.on_hover_text(about);
        let mut bone = picked.and_then(|at| bones.get(at).copied());
        let selected = editor.selected_muscle_bone();
        let label = "Use selected bone for the direction";
        if selected_ui(ui, label, "Use the selected bone.", selected.is_some()) {
            bone = selected;
        }
        if let Some(bone) = bone {
            editor.set_driver(index, "bone", |layer| layer.bone = Some(bone));
        }
    });
}
