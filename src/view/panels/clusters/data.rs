//! The recorded data of the active group: the list of its layers, and how the active one reads its recording.

use super::driver_input::recording_ui;
use super::driver_response::length_text;
use super::layer_row::{LayerRow, dim_ui, order_ui};
use super::{ClustersPanel, Renamed};
use crate::cluster::{DataLayer, Fit};
use crate::document::FitResidual;
use crate::editor::Editor;
use crate::finding::counted;
use crate::view::panels::correctives::fields::{Number, named_ui, pick_ui};
use crate::view::panels::correctives::heading_ui;
use crate::view::theme;
use egui::{Button, Label, RichText, Role, Ui, Vec2, WidgetInfo};
use egui_material_icons::icons;

/// The width of the two fields of a row, points.
const HALF: f32 = 72.0;
/// The width of a field beside a check box, points.
const FIELD: f32 = 56.0;

impl ClustersPanel {
    /// Draws the data of the active group, and the settings of the active layer.
    pub(super) fn data_ui(&mut self, ui: &mut Ui, editor: &mut Editor) {
        if editor.active_group().is_none() {
            return;
        }
        heading_ui(ui, "Data", "");
        let layers = editor.group_layers::<DataLayer>().to_vec();
        let recordings = editor.document().recordings().clone();
        if layers.is_empty() {
            dim_ui(
                ui,
                "Data moves the clusters of this group by the markers and values of a recording.",
            );
        }
        if recordings.is_empty() && layers.is_empty() {
            return;
        }
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing = Vec2::splat(2.0);
            let icon = icons::ICON_ADD.rich_text().size(16.0);
            let button = Button::new(icon).min_size(Vec2::splat(theme::ROW));
            let label = "Add data";
            let (menu, _) = egui::containers::menu::MenuButton::from_button(button).ui(ui, |ui| {
                for (&id, item) in recordings.iter() {
                    if ui.button(&item.name).clicked() {
                        editor.add_data(id);
                        ui.close();
                    }
                }
            });
            menu.widget_info(|| WidgetInfo::labeled(Role::Button, true, label));
            menu.on_hover_text("Add data\nChoose the recording that moves clusters of this group.");
            order_ui::<DataLayer>(ui, editor);
        });
        for (index, layer) in layers.iter().enumerate() {
            let item = recordings.get(&layer.played.recording);
            let row = LayerRow {
                index,
                what: Renamed::Data(index),
                beside: item.map_or("no recording", |item| item.name.as_str()),
                joined: "by",
            };
            self.layer_row_ui(ui, editor, layer, &row);
        }
        let active = editor.active_group_layer::<DataLayer>();
        let Some((index, layer)) = active.map(|(index, layer)| (index, layer.clone())) else {
            return;
        };
        ui.add_space(4.0);
        self.bindings_ui(ui, editor, index, &layer);
        self.playing_ui(ui, editor, index, &layer);
    }

    /// Draws the recording of a layer, how it is played, and how its markers are fitted.
    fn playing_ui(&mut self, ui: &mut Ui, editor: &mut Editor, index: usize, layer: &DataLayer) {
        if let Some(recording) = recording_ui(ui, editor, layer.played.recording) {
            let recordings = editor.document().recordings().clone();
            editor.set_data(index, "recording", |layer| {
                layer.played = layer.played.of(recording, &recordings);
            });
        }
        let step = editor.data_step(index, "sampling");
        if let Some(played) = self.played_ui(ui, editor, &layer.played, &step) {
            editor.set_data(index, "sampling", |layer| layer.played = played);
        }
        self.reference_ui(ui, editor, index, layer);
        let about = "How the space of the markers becomes that of the scene.";
        named_ui(ui, "Fit", about, |ui| {
            let choices = Fit::ALL.map(|fit| (fit, fit.label(), fit.about()));
            let width = ui.available_width();
            let (response, chosen) = pick_ui(ui, "Fit", width, layer.fit, &choices);
            response.on_hover_text(layer.fit.about());
            if let Some(fit) = chosen {
                editor.set_data(index, "fit", |layer| layer.fit = fit);
            }
        });
        if let Some(residual) = editor.data_residual(index) {
            residual_ui(ui, &residual);
        }
        let about = "While a channel has no value, how long its last one holds, and how long it takes to fade out then.";
        named_ui(ui, "On signal loss", about, |ui| {
            ui.spacing_mut().interact_size.x = HALF;
            let step = editor.data_step(index, "fade");
            let hold = Number {
                label: "Hold",
                range: 0.0..=60.0,
                speed: 0.01,
                decimals: 3,
                suffix: " s",
                about: "How long the last value holds.",
                step: &step,
            };
            let held = hold.show_step_ui(ui, &mut self.is_dragging, editor, layer.fade.hold);
            let fade = Number {
                label: "Fade",
                about: "How long it then takes to fade out.",
                ..hold
            };
            let faded = fade.show_step_ui(ui, &mut self.is_dragging, editor, layer.fade.fade);
            if held.is_some() || faded.is_some() {
                editor.set_data(index, "fade", |layer| {
                    layer.fade.hold = held.unwrap_or(layer.fade.hold);
                    layer.fade.fade = faded.unwrap_or(layer.fade.fade);
                });
            }
        });
    }

    fn reference_ui(&mut self, ui: &mut Ui, editor: &mut Editor, index: usize, layer: &DataLayer) {
        let about = "The time of the recording at which the model is at rest: there markers are fitted, and displace nothing.";
        let first = editor.recording_of_data(index);
        let first = first.map_or(0.0, |of| of.times.first().copied().unwrap_or(0.0));
        named_ui(ui, "Reference time", about, |ui| {
            let mut at_first = layer.reference.is_none();
            let check = ui.checkbox(&mut at_first, "First sample");
            check.widget_info(|| {
                let label = "Rest at the first sample";
                WidgetInfo::selected(Role::CheckBox, true, at_first, label)
            });
            if check.on_hover_text(about).changed() {
                editor.set_data(index, "reference time", |layer| {
                    layer.reference = (!at_first).then_some(first);
                });
            } else if let Some(secs) = layer.reference {
                ui.spacing_mut().interact_size.x = FIELD;
                let step = editor.data_step(index, "reference time");
                let number = Number {
                    label: "Reference time",
                    range: -1e9..=1e9,
                    speed: 0.01,
                    decimals: 3,
                    suffix: " s",
                    about,
                    step: &step,
                };
                if let Some(secs) = number.show_step_ui(ui, &mut self.is_dragging, editor, secs) {
                    editor.set_data(index, "reference time", |layer| {
                        layer.reference = Some(secs);
                    });
                }
            }
        });
    }
}

/// Draws how far the markers are from their vertices after the fit.
fn residual_ui(ui: &mut Ui, residual: &FitResidual) {
    let about = "How far the markers are from their vertices at the reference time, after the fit: the root mean square of all \
                 that have a value there, and the one that is farthest off.";
    let text = format!(
        "{} RMS, {}",
        length_text(residual.rms),
        counted(residual.n_markers, "marker")
    );
    named_ui(ui, "Residual", about, |ui| {
        let label = Label::new(RichText::new(text).color(theme::palette(ui).text_dim));
        ui.add(label.truncate()).on_hover_text(about);
    });
    if residual.n_markers > 1 {
        let text = format!("{}, {} off", residual.worst, length_text(residual.largest));
        named_ui(ui, "Farthest", about, |ui| {
            let label = Label::new(RichText::new(text).color(theme::palette(ui).text_dim));
            ui.add(label.truncate()).on_hover_text(about);
        });
    }
}
