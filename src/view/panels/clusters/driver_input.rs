//! What a driver reads: its kind, its bones, vertices or channel.

use super::ClustersPanel;
use super::layer_row::icon_ui;
use super::pick::filtered_ui;
use crate::cluster::DriverLayer;
use crate::cluster::channel::RecordingId;
use crate::cluster::procedural::{DriverInput, DriverPoint};
use crate::editor::Editor;
use crate::editor::clusters::DriverSource;
use crate::skeleton::JointId;
use crate::view::panels::correctives::fields::{Number, named_ui, pick_ui};
use crate::view::theme;
use egui::{Button, Role, Ui, WidgetInfo};
use egui_material_icons::icons;
use glam::DVec3;

/// The width of the button that takes what is selected, points.
const SELECTED: f32 = 72.0;
/// The width of a field of a vector, points.
const THIRD: f32 = 48.0;

/// An axis of a bone.
const AXES: [(DVec3, &str, &str); 6] = [
    (DVec3::X, "X", "The bone's +X axis."),
    (DVec3::Y, "Y", "The bone's +Y axis."),
    (DVec3::Z, "Z", "The bone's +Z axis."),
    (DVec3::NEG_X, "-X", "The bone's -X axis."),
    (DVec3::NEG_Y, "-Y", "The bone's -Y axis."),
    (DVec3::NEG_Z, "-Z", "The bone's -Z axis."),
];

impl ClustersPanel {
    /// Draws what a driver reads.
    pub(super) fn input_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        index: usize,
        driver: &DriverLayer,
    ) {
        let input = &driver.settings.input;
        let about = "What the driver reads.";
        named_ui(ui, "Input", about, |ui| {
            let choices = DriverSource::ALL.map(|source| (source, source.label(), source.about()));
            let width = ui.available_width();
            let shown = DriverSource::of(input);
            let (response, chosen) = pick_ui(ui, "Input", width, shown, &choices);
            response.on_hover_text(input.about());
            if let Some(source) = chosen {
                editor.set_driver_source(index, source);
            }
        });
        match input {
            DriverInput::JointAngle { joint, axis } => {
                if let Some(joint) = bone_ui(ui, editor, "Bone", *joint) {
                    set_input(editor, index, "bone", |input| {
                        if let DriverInput::JointAngle { joint: own, .. } = input {
                            *own = joint;
                        }
                    });
                }
                self.axis_ui(ui, editor, index, JointId(*joint), *axis);
            }
            DriverInput::Twist { joint } | DriverInput::Swing { joint } => {
                if let Some(joint) = bone_ui(ui, editor, "Bone", *joint) {
                    set_input(editor, index, "bone", |input| {
                        if let DriverInput::Twist { joint: own }
                        | DriverInput::Swing { joint: own } = input
                        {
                            *own = joint;
                        }
                    });
                }
            }
            DriverInput::BoneAngle { a, b } => {
                for (at, label) in ["First bone", "Second bone"].into_iter().enumerate() {
                    if let Some(joint) = bone_ui(ui, editor, label, [*a, *b][at]) {
                        set_input(editor, index, "bone", |input| {
                            if let DriverInput::BoneAngle { a, b } = input {
                                *[a, b][at] = joint;
                            }
                        });
                    }
                }
            }
            DriverInput::Distance { a, b } => {
                for (at, label) in ["From", "To"].into_iter().enumerate() {
                    point_ui(ui, editor, (index, at), label, [*a, *b][at]);
                }
            }
            DriverInput::Channel { name } => self.channel_ui(ui, editor, index, driver, name),
            DriverInput::Constant { value } => {
                let step = editor.driver_step(index, "constant");
                let number = Number {
                    label: "Value",
                    range: -1e9..=1e9,
                    speed: 0.01,
                    decimals: 3,
                    suffix: "",
                    about: "The constant that the driver reads.",
                    step: &step,
                };
                named_ui(ui, "Value", number.about, |ui| {
                    if let Some(value) =
                        number.show_step_ui(ui, &mut self.is_dragging, editor, *value)
                    {
                        set_input(editor, index, "constant", |input| {
                            *input = DriverInput::Constant { value };
                        });
                    }
                });
            }
            DriverInput::Time => {}
        }
    }

    fn axis_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        index: usize,
        joint: JointId,
        axis: DVec3,
    ) {
        let set = |editor: &mut Editor, axis: DVec3| {
            set_input(editor, index, "axis", |input| {
                if let DriverInput::JointAngle { axis: own, .. } = input {
                    *own = axis;
                }
            });
        };
        let about = "The axis of the bone about which its rotation from rest counts.";
        named_ui(ui, "Axis", about, |ui| {
            let width = (ui.available_width() - 84.0).max(40.0);
            let unit = axis.try_normalize().unwrap_or(DVec3::X);
            let mut choices = AXES.to_vec();
            let known = AXES.iter().find(|known| known.0.distance(unit) < 1e-6);
            if known.is_none() {
                choices.insert(0, (unit, "Custom", "An axis other than X, Y and Z."));
            }
            let shown = known.map_or(unit, |known| known.0);
            let (response, chosen) = pick_ui(ui, "Axis", width, shown, &choices);
            response.on_hover_text(about);
            if let Some(axis) = chosen {
                set(editor, axis);
            }
            let about = "Use the axis about which the bone is rotated in the pose on screen.";
            if ui.button("From pose").on_hover_text(about).clicked()
                && let Some(axis) = editor.driver_axis(joint)
            {
                set(editor, axis);
            }
        });
        if AXES.iter().any(|known| known.0.distance(axis) < 1e-6) {
            return;
        }
        named_ui(ui, "", about, |ui| {
            let step = editor.driver_step(index, "axis");
            if let Some(changed) = self.vector_ui(ui, editor, "Axis", &step, axis, 0.01)
                && changed.length() > 1e-6
            {
                set(editor, changed);
            }
        });
    }

    /// Draws the three numbers of a vector; returns it changed.
    pub(super) fn vector_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        name: &str,
        step: &str,
        vector: DVec3,
        speed: f64,
    ) -> Option<DVec3> {
        let mut changed = None;
        ui.spacing_mut().interact_size.x = THIRD;
        for (i, letter) in ["x", "y", "z"].into_iter().enumerate() {
            let number = Number {
                label: &format!("{name} {letter}"),
                range: -1e6..=1e6,
                speed,
                decimals: 3,
                suffix: "",
                about: &format!("{letter} of the {}.", name.to_lowercase()),
                step,
            };
            let shown = number.show_step_ui(ui, &mut self.is_dragging, editor, vector[i]);
            if let Some(value) = shown {
                let mut vector = vector;
                vector[i] = value;
                changed = Some(vector);
            }
        }
        changed
    }

    fn channel_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        index: usize,
        driver: &DriverLayer,
        name: &str,
    ) {
        let Some(played) = driver.played else {
            return;
        };
        if let Some(recording) = recording_ui(ui, editor, played.recording) {
            let item = editor.document().recordings().get(&recording);
            let channels = item.and_then(|item| Some(item.recording()?.driving_channels()));
            let channels = channels.unwrap_or_default();
            let same = channels.iter().find(|known| *known == name);
            match same.or(channels.first()).cloned() {
                Some(channel) => editor.set_driver_channel(index, recording, &channel),
                None => editor.tell("This recording has no scalar and no rotation."),
            }
        }
        let about = "The channel of the recording. A rotation can be read by its angle, or by its twist about an axis.";
        named_ui(ui, "Channel", about, |ui| {
            let item = editor.document().recordings().get(&played.recording);
            let channels = item.and_then(|item| Some(item.recording()?.driving_channels()));
            let channels = channels.unwrap_or_default();
            let chosen = channels.iter().position(|known| known == name);
            let width = ui.available_width();
            let (response, picked) = filtered_ui(ui, "Channel", width, chosen, name, &channels);
            response.on_hover_text(about);
            if let Some(channel) = picked.and_then(|at| channels.get(at)) {
                editor.set_driver_channel(index, played.recording, channel);
            }
        });
        let step = editor.driver_step(index, "sampling");
        if let Some(played) = self.played_ui(ui, editor, &played, &step) {
            editor.set_driver(index, "sampling", |layer| layer.played = Some(played));
        }
    }
}

/// Draws the recording that a layer reads; returns another one.
pub(super) fn recording_ui(
    ui: &mut Ui,
    editor: &Editor,
    shown: RecordingId,
) -> Option<RecordingId> {
    let about = "The file whose channels are read.";
    named_ui(ui, "Recording", about, |ui| {
        let recordings = editor.document().recordings();
        let ids: Vec<RecordingId> = recordings.keys().copied().collect();
        let names: Vec<String> = recordings.values().map(|item| item.name.clone()).collect();
        let chosen = ids.iter().position(|id| *id == shown);
        let text = chosen.map_or("", |at| names[at].as_str());
        let width = ui.available_width();
        let (response, picked) = filtered_ui(ui, "Recording", width, chosen, text, &names);
        response.on_hover_text(about);
        picked.and_then(|at| ids.get(at).copied())
    })
}

fn set_input(editor: &mut Editor, index: usize, what: &str, change: impl FnOnce(&mut DriverInput)) {
    editor.set_driver(index, what, |layer| change(&mut layer.settings.input));
}

/// Draws a bone that is read; returns another one.
fn bone_ui(ui: &mut Ui, editor: &Editor, label: &str, shown: u32) -> Option<u32> {
    let about = "The bone that is read.";
    named_ui(ui, label, about, |ui| {
        let width = (ui.available_width() - SELECTED).max(40.0);
        let picked = joint_ui(ui, editor, label, width, shown);
        let selected = editor.selected_driver_joint();
        let about = "Read the selected bone.";
        let label = format!("Use selected bone for {}", label.to_lowercase());
        if selected_ui(ui, &label, about, selected.is_some()) {
            return selected.map(|joint| joint.0);
        }
        picked
    })
}

/// A drop-down of bones; returns another one.
fn joint_ui(ui: &mut Ui, editor: &Editor, label: &str, width: f32, shown: u32) -> Option<u32> {
    let skeleton = editor.document().skeleton();
    let joints = editor.driver_joints();
    let names: Vec<String> = joints.iter().map(|joint| skeleton.label(*joint)).collect();
    let chosen = joints.iter().position(|joint| joint.0 == shown);
    let text = match JointId(shown) {
        joint if joint.get() < skeleton.len() => skeleton.label(joint),
        _ => String::new(),
    };
    let (response, picked) = filtered_ui(ui, label, width, chosen, &text, &names);
    response.on_hover_text(text);
    picked.and_then(|at| joints.get(at)).map(|joint| joint.0)
}

/// The button that takes what is selected; whether it was clicked.
pub(super) fn selected_ui(ui: &mut Ui, label: &str, about: &str, enabled: bool) -> bool {
    let button = ui.add_enabled(enabled, Button::new("Selected"));
    button.widget_info(|| WidgetInfo::labeled(Role::Button, enabled, label));
    let button = button.on_hover_text(about).on_disabled_hover_text(about);
    button.clicked()
}

/// Draws an end of a distance: the head of a bone, or a vertex.
fn point_ui(
    ui: &mut Ui,
    editor: &mut Editor,
    (index, at): (usize, usize),
    label: &str,
    shown: DriverPoint,
) {
    let about = "The head of a bone, or a vertex of the object as the deformer stack moves it.";
    let chosen = named_ui(ui, label, about, |ui| {
        let width = (ui.available_width() - 2.0 * (theme::ROW + 4.0)).max(40.0);
        let mut chosen = None;
        match shown {
            DriverPoint::Joint(joint) => {
                let picked = joint_ui(ui, editor, label, width, joint);
                chosen = picked.map(DriverPoint::Joint);
            }
            DriverPoint::Vertex(vertex) => {
                ui.allocate_ui(egui::vec2(width, 20.0), |ui| {
                    ui.set_min_width(width);
                    let about = "Select and frame this vertex.";
                    let link = ui.link(format!("Vertex {vertex}")).on_hover_text(about);
                    if link.clicked() {
                        editor.show_driver_vertex(vertex);
                    }
                });
            }
        }
        let bone = editor.selected_driver_joint();
        let name = format!("{label} the selected bone");
        let about = "Measure at the head of the selected bone.";
        if icon_ui(
            ui,
            icons::ICON_ACCESSIBILITY_NEW,
            &name,
            about,
            bone.is_some(),
        ) {
            chosen = bone.map(|joint| DriverPoint::Joint(joint.0));
        }
        let vertex = editor.selected_driver_vertex();
        let name = format!("{label} the selected vertex");
        let about = "Measure at the one selected vertex.";
        if icon_ui(ui, icons::ICON_ADD_LOCATION, &name, about, vertex.is_some()) {
            chosen = vertex.map(DriverPoint::Vertex);
        }
        chosen
    });
    if let Some(point) = chosen {
        set_input(editor, index, "distance", |input| {
            if let DriverInput::Distance { a, b } = input {
                *[a, b][at] = point;
            }
        });
    }
}
