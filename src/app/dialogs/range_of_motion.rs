//! The settings of a range-of-motion clip.

use super::{modal, take_enter};
use crate::editor::Editor;
use crate::finding::counted;
use crate::skeleton::RangeOfMotion;
use crate::view::theme;
use eframe::egui;
use egui::{DragValue, Grid, RichText, Role, TextEdit, Ui, WidgetInfo};

/// The default name of the clip.
const NAME: &str = "Range of motion";
/// Duration of one move, seconds.
const MOVE_SECS: std::ops::RangeInclusive<f64> = 0.1..=10.0;
const WIDTH: f32 = 400.0;

/// The dialog and its settings.
pub(in crate::app) struct RangeDialog {
    settings: RangeOfMotion,
    /// Degrees, as typed.
    degrees: [f64; 3],
    name: String,
}

impl RangeDialog {
    /// The dialog with the last settings.
    pub(in crate::app) fn new(editor: &Editor, settings: RangeOfMotion) -> Self {
        Self {
            settings,
            degrees: settings
                .angles
                .map(|a| (a.to_degrees() * 10.0).round() / 10.0),
            name: editor.free_preview_name(NAME),
        }
    }

    /// The current settings.
    pub(in crate::app) fn settings(&self) -> RangeOfMotion {
        self.settings
    }

    /// Draws the dialog and makes the clip on confirmation; returns whether it stays open.
    pub(in crate::app) fn show(&mut self, ctx: &egui::Context, editor: &mut Editor) -> bool {
        let mut make = false;
        let mut cancelled = false;
        let joints = editor.range_of_motion_joints();
        let n_moves = self
            .settings
            .moves(editor.document().skeleton(), &joints)
            .len();
        let name = self.name.trim().to_owned();
        let ready = n_moves > 0 && !name.is_empty();
        let replaces = editor.has_clip_named(&name);
        let modal = modal(ctx, "range of motion").show(ctx, |ui| {
            ui.set_width(WIDTH);
            ui.heading("Range of motion");
            ui.add_space(2.0);
            let is_all = editor.document().session().selected_joints.is_empty();
            let which = match (is_all, joints.len()) {
                (true, n) => format!("all {} with weights", counted(n, "bone")),
                (false, 1) => format!("the selected bone, {}", selected_label(editor)),
                (false, n) => format!("the {}", counted(n, "selected bone")),
            };
            let in_turn = if joints.len() == 1 {
                ""
            } else {
                ", one after the other,"
            };
            ui.label(format!(
                "Makes a preview clip that rotates {which}{in_turn} to both sides and back to the rest pose."
            ));
            ui.add_space(4.0);
            self.fields_ui(ui);
            ui.add_space(4.0);
            let palette = theme::palette(ui);
            let (text, colour) = if n_moves == 0 {
                (
                    "Nothing moves. Set an angle, and enable bend or twist."
                        .to_owned(),
                    palette.error,
                )
            } else {
                let moves = counted(n_moves, "move");
                let length = n_moves as f64 * self.settings.move_secs;
                let fewer = if is_all && joints.len() > 1 {
                    " Select bones first to use fewer."
                } else {
                    ""
                };
                (format!("{moves}, {length:.1} s.{fewer}"), palette.text_dim)
            };
            ui.label(RichText::new(text).color(colour));
            if replaces && !is_preview(editor, &name) {
                let text = format!(
                    "\"{name}\" is an exported clip. This preview would replace it."
                );
                ui.label(RichText::new(text).color(palette.accent));
            }
            ui.add_space(8.0);
            ui.horizontal(|ui| {
                let (verb, about) = if replaces {
                    (
                        "Replace",
                        "Replace the clip of this name  (Enter)",
                    )
                } else {
                    ("Make", "Add the clip and show it  (Enter)")
                };
                let button = ui.add_enabled(ready, egui::Button::new(verb));
                make |= button.on_hover_text(about).clicked();
                let cancel = ui.button("Cancel").on_hover_text("Cancel  (Esc)");
                cancelled = cancel.clicked();
            });
        });
        // Call it once only: it consumes Esc.
        let closes = modal.should_close();
        if make || (ready && !closes && take_enter(ctx)) {
            return !editor.make_range_of_motion(&self.settings, &name);
        }
        !cancelled && !closes
    }

    fn fields_ui(&mut self, ui: &mut Ui) {
        let palette = theme::palette(ui);
        Grid::new("range of motion")
            .num_columns(2)
            .spacing([12.0, 6.0])
            .show(ui, |ui| {
                ui.label("Angle");
                ui.horizontal(|ui| {
                    for (axis, (letter, colour)) in
                        [("X", palette.x), ("Y", palette.y), ("Z", palette.z)]
                            .into_iter()
                            .enumerate()
                    {
                        let degrees = &mut self.degrees[axis];
                        let field = DragValue::new(degrees)
                            .range(0.0..=180.0)
                            .speed(0.5)
                            .max_decimals(1)
                            .suffix("°");
                        ui.colored_label(colour, letter);
                        let response = ui.add_sized([64.0, theme::ROW], field);
                        let label = format!("Angle {letter}");
                        response.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, &label));
                        let response = response.on_hover_text(format!(
                            "Angle to both sides about the bone's {letter} axis in the rest pose. 0 skips the axis."
                        ));
                        if response.changed() {
                            self.settings.angles[axis] = degrees.to_radians();
                        }
                    }
                });
                ui.end_row();
                ui.label("Moves");
                ui.horizontal(|ui| {
                    ui.checkbox(&mut self.settings.bend, "Bend")
                        .on_hover_text("Rotate about the axes across the bone.");
                    ui.checkbox(&mut self.settings.twist, "Twist")
                        .on_hover_text("Rotate about the axis along the bone.");
                });
                ui.end_row();
                ui.label("Duration per move");
                let field = DragValue::new(&mut self.settings.move_secs)
                    .range(MOVE_SECS)
                    .speed(0.02)
                    .max_decimals(2)
                    .suffix(" s");
                let response = ui.add_sized([64.0, theme::ROW], field);
                response.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "Duration per move"));
                response.on_hover_text(
                    "Seconds to rotate to one side, to the other, and back to the rest pose.",
                );
                ui.end_row();
                ui.label("Name");
                let field = TextEdit::singleline(&mut self.name).desired_width(240.0);
                ui.add(field)
                    .widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Clip name"));
                ui.end_row();
            });
    }
}

/// The name of the selected bone.
fn selected_label(editor: &Editor) -> String {
    let document = editor.document();
    let joint = document.session().selected_joints.first();
    joint.map_or_else(String::new, |&joint| document.skeleton().label(joint))
}

/// Whether the first clip with that name is a preview.
fn is_preview(editor: &Editor, name: &str) -> bool {
    let mut clips = editor.document().clips().values();
    clips
        .find(|clip| clip.name == name)
        .is_some_and(|clip| clip.preview)
}
