//! What is shown of the surface besides its shape: a recorded quantity as colour, and the wet / dry line.

use super::ClustersPanel;
use crate::cluster::Quantity;
use crate::editor::Editor;
use crate::view::panels::correctives::fields::{Number, named_ui};
use crate::view::panels::correctives::heading_ui;
use crate::view::theme;
use egui::{ComboBox, Label, RichText, Role, Ui, WidgetInfo};

/// What a quantity is.
const ABOUT: &str = "Show a recorded quantity as colours on the patches, as a concentration at water gauges. Its channels are \
                     named after the places of the channels that move the clusters: inlet.salt beside inlet.level.";

/// What the line is.
const SHORE: &str = "Draw the line where this surface meets the other meshes, as water meets its bed, and count the area above \
                     them. Y is up.";

impl ClustersPanel {
    /// Draws the quantity that colours the surface, its range, and the wet / dry line.
    pub(super) fn surface_ui(&mut self, ui: &mut Ui, editor: &mut Editor) {
        heading_ui(ui, "Surface data", "");
        let known = editor.surface_display();
        let offered = editor.quantities();
        let colour = known.colour.as_ref();
        let is_shown = |quantity: &Quantity| {
            colour.is_some_and(|colour| {
                colour.recording == quantity.recording && colour.quantity == quantity.name
            })
        };
        let text = match (offered.iter().find(|q| is_shown(q)), colour) {
            (Some(quantity), _) => quantity.label(),
            // Its recording or its channels are gone.
            (None, Some(colour)) => format!("{} (missing)", colour.quantity),
            (None, None) => "None".to_owned(),
        };
        named_ui(ui, "Colour by", ABOUT, |ui| {
            let combo = ComboBox::from_id_salt("colour by")
                .width(ui.available_width())
                .selected_text(text)
                .show_ui(ui, |ui| {
                    if ui.selectable_label(colour.is_none(), "None").clicked() {
                        editor.colour_by(None);
                    }
                    for quantity in &offered {
                        let on = is_shown(quantity);
                        if ui.selectable_label(on, quantity.label()).clicked() && !on {
                            editor.colour_by(Some(quantity));
                        }
                    }
                });
            let named = || WidgetInfo::labeled(Role::ComboBox, true, "Colour by");
            combo.response.widget_info(named);
            combo.response.on_hover_text(ABOUT);
        });
        let instance = editor.clustered_instance();
        let shown = instance
            .and_then(|instance| editor.surface_data(instance))
            .cloned();
        let colours = shown.as_ref().and_then(|data| data.colours.as_ref());
        if let (Some(_), Some(colours)) = (colour, colours) {
            self.colour_range_ui(ui, editor, colours.range.map(f64::from));
        }
        let mut shore = known.shore;
        let response = ui.checkbox(&mut shore, "Wet / dry line");
        if response.on_hover_text(SHORE).changed() {
            editor.show_shore(shore);
        }
        if let Some(shore) = shown.as_ref().and_then(|data| data.shore.as_ref()) {
            let text = format!("Wet: {:.1} of {:.1} m²", shore.wet_area, shore.area);
            let dim = theme::palette(ui).text_dim;
            let about = "Wet area and total area of the surface over the bed, projected onto the horizontal plane.";
            ui.add(Label::new(RichText::new(text).color(dim)).wrap())
                .on_hover_text(about);
        }
    }

    /// Draws the values at both ends of the colours.
    fn colour_range_ui(&mut self, ui: &mut Ui, editor: &mut Editor, [low, high]: [f64; 2]) {
        let about = "The values at both ends of the colours. Values beyond have the colour of the nearest end.";
        named_ui(ui, "Range", about, |ui| {
            let number = |label, range| Number {
                label,
                range,
                speed: (high - low) * 0.01,
                decimals: 3,
                suffix: "",
                about,
                step: "Range of colours",
            };
            let least = 1e-6 * (high - low);
            let dragging = &mut self.is_dragging;
            let lowest = number("Lowest value", -1e9..=high - least);
            if let Some(low) = lowest.show_step_ui(ui, dragging, editor, low) {
                editor.set_colour_range(Some([low, high]));
            }
            let highest = number("Highest value", low + least..=1e9);
            if let Some(high) = highest.show_step_ui(ui, dragging, editor, high) {
                editor.set_colour_range(Some([low, high]));
            }
            let whole = "Use the lowest and the highest value of the recording.";
            if ui.small_button("Reset").on_hover_text(whole).clicked() {
                editor.set_colour_range(None);
            }
        });
    }
}
