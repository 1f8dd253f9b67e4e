//! What the channels of a recording move: each bound to clusters, with its kind, scale, axes and offset.

use super::ClustersPanel;
use super::driver_input::selected_ui;
use super::layer_row::{dim_ui, icon_ui};
use super::pick::filtered_ui;
use crate::cluster::DataLayer;
use crate::cluster::channel::{
    AxisMap, Binding, BindingKind, Recording, ScalarDirection, SignedAxis,
};
use crate::editor::Editor;
use crate::finding::counted;
use crate::view::panels::correctives::fields::{Number, named_ui, pick_ui};
use crate::view::panels::correctives::sets::text_ui;
use crate::view::theme;
use egui::{Rect, Role, Sense, Ui, Vec2, WidgetInfo, vec2};
use egui_material_icons::icons;
use glam::DVec3;

/// The width of the two fields of a row, points.
const HALF: f32 = 72.0;
/// The width of a drop-down of an axis, points.
const AXIS: f32 = 44.0;

impl ClustersPanel {
    /// Draws the bindings of a layer, and the active one.
    pub(super) fn bindings_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        index: usize,
        layer: &DataLayer,
    ) {
        let recording = editor.recording_of_data(index);
        let mut names: Vec<String> = Vec::new();
        if let Some(of) = &recording {
            names.extend(of.markers.iter().map(|track| track.name.clone()));
            names.extend(of.driving_channels());
        }
        let about = "Bind a marker or a value to the selected clusters of the group; without a selection, to all of them.";
        named_ui(ui, "Bind", about, |ui| {
            let width = ui.available_width();
            let shown = "Choose a channel";
            let (response, picked) = filtered_ui(ui, "Bind channel", width, None, shown, &names);
            response.on_hover_text(about);
            if let Some(channel) = picked.and_then(|at| names.get(at)) {
                editor.add_binding(index, channel);
                self.binding = layer.bindings.len();
            }
        });
        if recording.as_ref().is_some_and(|of| !of.markers.is_empty()) {
            let about = "Bind each marker that moves nothing yet to the free cluster nearest to it at the reference time, as its \
                         position. The group is then driven by Data.";
            if ui
                .button("Bind nearest markers")
                .on_hover_text(about)
                .clicked()
            {
                editor.bind_nearest(index);
            }
        }
        // It may just have been bound.
        let layers = editor.group_layers::<DataLayer>();
        let Some(layer) = layers.get(index).cloned() else {
            return;
        };
        if layer.bindings.is_empty() {
            dim_ui(ui, "No channel of this recording moves clusters yet.");
            return;
        }
        self.binding = self.binding.min(layer.bindings.len() - 1);
        for (at, binding) in layer.bindings.iter().enumerate() {
            self.binding_row_ui(ui, at, binding);
        }
        let at = self.binding;
        if let Some(binding) = layer.bindings.get(at) {
            self.binding_ui(ui, editor, (index, at), binding, recording.as_deref());
        }
    }

    fn binding_row_ui(&mut self, ui: &mut Ui, at: usize, binding: &Binding) {
        let palette = theme::palette(ui);
        let size = Vec2::new(ui.available_width(), theme::ROW);
        let (rect, response) = ui.allocate_exact_size(size, Sense::CLICK);
        let is_active = self.binding == at;
        if is_active {
            ui.painter().rect_filled(rect, 3.0, palette.selected);
            let bar = Rect::from_min_size(rect.min, vec2(3.0, rect.height()));
            ui.painter().rect_filled(bar, 1.0, palette.accent);
        } else if response.hovered() {
            ui.painter().rect_filled(rect, 3.0, palette.stripe);
        }
        let n = binding.clusters.len();
        let moves = match binding.kind {
            BindingKind::Absolute => "places",
            _ => "moves",
        };
        let beside = format!("{moves} {}", counted(n, "vertex"));
        let name = &binding.channel;
        let spoken = format!("{name}, {beside}");
        response
            .widget_info(|| WidgetInfo::selected(Role::ListBoxOption, true, is_active, &spoken));
        let place = rect.with_min_x(rect.left() + 8.0);
        let width = place.width() * 0.55;
        let right = text_ui(ui, &beside, palette.text_dim, place, true, width);
        let own = place.with_max_x(right - 6.0);
        let colour = if is_active {
            palette.accent
        } else {
            palette.text
        };
        text_ui(ui, name, colour, own, false, own.width());
        if response.clicked() {
            self.binding = at;
        }
        response.on_hover_text(format!("{spoken}\nClick to edit it."));
    }

    fn binding_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        (layer, at): (usize, usize),
        binding: &Binding,
        recording: Option<&Recording>,
    ) {
        let about = "The vertices that the channel moves.";
        named_ui(ui, "Clusters", about, |ui| {
            let has = editor.has_selected_vertices();
            let about = "Bind the selected clusters of the group instead.";
            if selected_ui(ui, "Bind selected clusters", about, has) {
                editor.bind_selected(layer, at);
            }
            let about = "Select the clusters that it moves.";
            if icon_ui(
                ui,
                icons::ICON_SELECT_ALL,
                "Select bound clusters",
                about,
                true,
            ) {
                editor.select_bound(layer, at);
            }
            let about = "Remove this channel from the data.";
            let label = format!("Unbind {}", binding.channel);
            if icon_ui(ui, icons::ICON_DELETE, &label, about, true) {
                editor.remove_binding(layer, at);
            }
        });
        if let BindingKind::Scalar {
            reference,
            direction,
        } = binding.kind
        {
            self.scalar_ui(ui, editor, (layer, at), (reference, direction), recording);
        } else {
            let about = "How the marker moves its clusters.";
            named_ui(ui, "Kind", about, |ui| {
                let choices = [BindingKind::Delta, BindingKind::Absolute]
                    .map(|kind| (kind == BindingKind::Absolute, kind.label(), kind.about()));
                let shown = binding.kind == BindingKind::Absolute;
                let width = ui.available_width();
                let (response, chosen) = pick_ui(ui, "Kind", width, shown, &choices);
                response.on_hover_text(binding.kind.about());
                if let Some(places) = chosen {
                    editor.set_binding_places(layer, at, places);
                }
            });
        }
        let is_scalar = matches!(binding.kind, BindingKind::Scalar { .. });
        let (unit, size) = match recording.filter(|_| is_scalar) {
            Some(recording) => recording.shown_unit(&binding.channel),
            None => ("", 1.0),
        };
        let suffix = if unit.is_empty() {
            String::new()
        } else {
            format!(" m/{unit}")
        };
        let about = if is_scalar {
            "Metres per unit of the value."
        } else {
            "Multiplies the marker's position."
        };
        named_ui(ui, "Scale", about, |ui| {
            ui.spacing_mut().interact_size.x = HALF;
            let step = editor.data_step(layer, "scale");
            let number = Number {
                label: "Scale",
                range: -1e6..=1e6,
                speed: ((binding.scale * size).abs() * 0.005).max(1e-5),
                decimals: 5,
                suffix: &suffix,
                about,
                step: &step,
            };
            let shown = binding.scale * size;
            let shown = number.show_step_ui(ui, &mut self.is_dragging, editor, shown);
            if let Some(scale) = shown {
                editor.set_binding(layer, at, "scale", |binding| binding.scale = scale / size);
            }
        });
        if !is_scalar {
            axes_ui(ui, editor, (layer, at), binding.axes);
            let about = "Added to the position of the marker, metres.";
            named_ui(ui, "Offset", about, |ui| {
                let step = editor.data_step(layer, "offset");
                let offset = binding.offset;
                if let Some(offset) = self.vector_ui(ui, editor, "Offset", &step, offset, 0.002) {
                    editor.set_binding(layer, at, "offset", |binding| binding.offset = offset);
                }
            });
        }
    }

    fn scalar_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        (layer, at): (usize, usize),
        (reference, direction): (f64, ScalarDirection),
        recording: Option<&Recording>,
    ) {
        let set = |editor: &mut Editor, what: &str, kind: BindingKind| {
            editor.set_binding(layer, at, what, |binding| binding.kind = kind);
        };
        let layers = editor.group_layers::<DataLayer>();
        let name = layers
            .get(layer)
            .and_then(|data| Some(data.bindings.get(at)?.channel.clone()))
            .unwrap_or_default();
        let (text, size) = recording.map_or(("", 1.0), |of| of.shown_unit(&name));
        let suffix = if text.is_empty() || text == "\u{b0}" {
            text.to_owned()
        } else {
            format!(" {text}")
        };
        let about = "The value that displaces nothing.";
        named_ui(ui, "Rest value", about, |ui| {
            ui.spacing_mut().interact_size.x = HALF;
            let step = editor.data_step(layer, "reference");
            let number = Number {
                label: "Rest value",
                range: -1e9..=1e9,
                speed: ((reference / size).abs() * 0.005).max(1e-3),
                decimals: 4,
                suffix: &suffix,
                about,
                step: &step,
            };
            let shown = number.show_step_ui(ui, &mut self.is_dragging, editor, reference / size);
            if let Some(value) = shown {
                let reference = value * size;
                let kind = BindingKind::Scalar {
                    reference,
                    direction,
                };
                set(editor, "reference", kind);
            }
        });
        let about = "The direction in which the clusters move.";
        named_ui(ui, "Direction", about, |ui| {
            let choices = [
                (false, "Normal", "Along the normal of each vertex."),
                (true, "Fixed", "In one world direction, such as up."),
            ];
            let width = ui.available_width();
            let shown = direction != ScalarDirection::Normal;
            let (response, chosen) = pick_ui(ui, "Direction of the value", width, shown, &choices);
            response.on_hover_text(about);
            if let Some(fixed) = chosen {
                let direction = if fixed {
                    ScalarDirection::Fixed(DVec3::Y)
                } else {
                    ScalarDirection::Normal
                };
                let kind = BindingKind::Scalar {
                    reference,
                    direction,
                };
                set(editor, "direction", kind);
            }
        });
        if let ScalarDirection::Fixed(fixed) = direction {
            named_ui(ui, "", about, |ui| {
                let step = editor.data_step(layer, "direction");
                let name = "Direction of the value";
                if let Some(fixed) = self.vector_ui(ui, editor, name, &step, fixed, 0.01)
                    && fixed.length() > 1e-6
                {
                    let direction = ScalarDirection::Fixed(fixed);
                    let kind = BindingKind::Scalar {
                        reference,
                        direction,
                    };
                    set(editor, "direction", kind);
                }
            });
        }
    }
}

/// Draws which axes of the data are x, y and z of the scene.
fn axes_ui(ui: &mut Ui, editor: &mut Editor, (layer, at): (usize, usize), axes: AxisMap) {
    let about = "Which axes of the data are x, y and z of the scene. Z up: X, Z, -Y.";
    named_ui(ui, "Axes", about, |ui| {
        for (i, letter) in ["x", "y", "z"].into_iter().enumerate() {
            let choices = SignedAxis::ALL.map(|axis| (axis, axis.label(), about));
            let label = format!("Axis for {letter}");
            let (response, chosen) = pick_ui(ui, &label, AXIS, axes.0[i], &choices);
            response.on_hover_text(about);
            if let Some(axis) = chosen {
                let axes = axes.with(i, axis);
                editor.set_binding(layer, at, "axes", |binding| binding.axes = axes);
            }
        }
    });
}
