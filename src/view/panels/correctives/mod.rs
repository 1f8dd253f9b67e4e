//! The Correctives panel: sample sets and their drivers, the samples of the active set, the pose space of a driver, and
//! suggested samples.
//!
//! Data flow: the correctives of the active object and the pose on screen -> rows and plots -> commands, or changes that
//! the editor applies at once.

pub(in crate::view::panels) mod fields;
mod plot;
mod samples;
pub(in crate::view::panels) mod sets;
mod suggestions;
mod vertices;

use super::rename::NameField;
use super::textures::Textures;
use crate::editor::Editor;
use crate::view::commands::Command;
use crate::view::theme;
use egui::{
    Button, Color32, Id, Label, Rect, RichText, Role, ScrollArea, Ui, UiBuilder, Vec2, WidgetInfo,
};
use egui_material_icons::MaterialIcon;

/// From this width on the sets, the samples and the plot stand side by side, points.
const WIDE: f32 = 760.0;
/// The width of the sets, side by side, points.
const SETS: f32 = 264.0;
/// The largest width of the plot, side by side, points.
const PLOT: f32 = 340.0;
/// The smallest width of the samples, side by side, points.
const SAMPLES: f32 = 280.0;
/// The gap between them, points.
const GAP: f32 = 14.0;

/// The Correctives panel and its state between frames.
#[derive(Default)]
pub struct CorrectivesPanel {
    /// The model that it shows.
    model: u64,
    /// The driver of the active set whose pose space is plotted.
    driver: usize,
    rename: Option<Rename>,
    /// Whether a number is being dragged.
    is_dragging: bool,
    /// Whether a driver is posed in the plot.
    is_posing: bool,
    /// The suggestions whose settings are shown.
    tuned: Option<suggestions::Tuned>,
    textures: Textures,
    /// The weights in the plot.
    plot: plot::PlotWeights,
}

/// A name being edited.
struct Rename {
    set: usize,
    /// The sample; `None`: the set itself.
    sample: Option<usize>,
    field: NameField,
}

impl CorrectivesPanel {
    /// Draws the panel; returns the requested commands.
    pub fn show_ui(&mut self, ui: &mut Ui, editor: &mut Editor) -> Vec<Command> {
        self.textures.free_unused();
        self.forget_what_is_gone(ui, editor);
        let mut commands = Vec::new();
        let room = ui.available_rect_before_wrap();
        if room.width() < 60.0 || room.height() < 24.0 {
            return commands;
        }
        if editor.correctives().is_none() {
            let text = "Select an object with a skin to correct its shape at poses.";
            ui.label(RichText::new(text).color(theme::palette(ui).text_dim));
            return commands;
        }
        let has_suggestions = suggestions::are_shown(editor);
        let has_sets = editor.active_set().is_some();
        if !has_sets && !has_suggestions {
            scroll_ui(ui, "empty", |ui| empty_ui(ui, editor, &mut commands));
            return commands;
        }
        if room.width() < WIDE {
            scroll_ui(ui, "narrow", |ui| {
                if has_suggestions {
                    self.suggestions_ui(ui, editor, &mut commands);
                    ui.separator();
                }
                self.sets_ui(ui, editor, &mut commands);
                if has_sets {
                    ui.separator();
                    self.samples_ui(ui, editor, &mut commands);
                    ui.separator();
                    let width = ui.available_width();
                    let (_, rect) = ui.allocate_space(Vec2::new(width, width.min(240.0)));
                    self.plot_ui(&mut part(ui, "plot", rect), editor, rect);
                }
            });
            return commands;
        }
        let (sets, rest) = room.split_left_right_at_x(room.left() + SETS);
        let plot = (rest.width() - GAP - SAMPLES).min(PLOT);
        let (samples, plot) = rest.split_left_right_at_x(rest.right() - plot);
        let samples = samples.with_min_x(samples.left() + GAP);
        let samples = samples.with_max_x(samples.right() - GAP);
        scroll_ui(&mut part(ui, "sets", sets), "sets", |ui| {
            self.sets_ui(ui, editor, &mut commands);
        });
        scroll_ui(&mut part(ui, "samples", samples), "samples", |ui| {
            if has_suggestions {
                self.suggestions_ui(ui, editor, &mut commands);
            }
            if has_suggestions && has_sets {
                ui.separator();
            }
            if has_sets {
                self.samples_ui(ui, editor, &mut commands);
            }
        });
        if has_sets {
            self.plot_ui(&mut part(ui, "pose space", plot), editor, plot);
        }
        ui.allocate_rect(room, egui::Sense::hover());
        commands
    }

    /// Starts renaming the active sample.
    pub fn start_renaming(&mut self, editor: &Editor) {
        let Some((set, sample)) = editor.active_set().zip(editor.active_sample()) else {
            return;
        };
        if let Some(known) = editor.samples_of(set).get(sample) {
            self.rename = Some(Rename {
                set,
                sample: Some(sample),
                field: NameField::new(known.name.clone()),
            });
        }
    }

    fn forget_what_is_gone(&mut self, ui: &Ui, editor: &mut Editor) {
        if std::mem::replace(&mut self.model, editor.model_serial()) != editor.model_serial() {
            *self = Self {
                model: editor.model_serial(),
                ..Self::default()
            };
        }
        // End a drag whose release no widget received.
        if !ui.input(|i| i.pointer.any_down()) {
            if std::mem::take(&mut self.is_dragging) {
                editor.end_step();
            }
            if std::mem::take(&mut self.is_posing) {
                editor.confirm_transform();
            }
        }
        let sets = editor.correctives().map_or(&[][..], |c| c.sets());
        let active = editor.active_set();
        let is_there = |rename: &Rename| {
            let set = sets.get(rename.set);
            set.is_some_and(|set| rename.sample.is_none_or(|s| s < set.samples.len()))
                && (rename.sample.is_none() || active == Some(rename.set))
        };
        if !self.rename.as_ref().is_none_or(is_there) {
            self.rename = None;
        }
        let set = active.and_then(|set| sets.get(set));
        let n_drivers = set.map_or(0, |set| set.drivers.len());
        self.driver = self.driver.min(n_drivers.saturating_sub(1));
    }
}

/// Draws the empty state.
fn empty_ui(ui: &mut Ui, editor: &Editor, commands: &mut Vec<Command>) {
    ui.label("No corrective samples.");
    let dim = theme::palette(ui).text_dim;
    let text = "A corrective sample changes the shape of the skin at a pose. Pose a bone, add a sample, and sculpt it; \
                the correction blends in as the bone approaches that pose.";
    ui.add(Label::new(RichText::new(text).color(dim)).wrap());
    ui.add_space(4.0);
    ui.horizontal_wrapped(|ui| {
        for command in [
            Command::AddSample,
            Command::SuggestCorrectives,
            Command::ImportSculpt,
        ] {
            let enabled = command.is_enabled(editor);
            let button = ui.add_enabled(enabled, Button::new(command.label()));
            let button = button.on_hover_text(command.tooltip(ui.ctx()));
            if button.on_disabled_hover_text(command.about()).clicked() {
                commands.push(command);
            }
        }
    });
}

/// A row of icon buttons for commands; returns the requested one.
pub(in crate::view::panels) fn buttons_ui(
    ui: &mut Ui,
    editor: &Editor,
    buttons: &[(Command, MaterialIcon)],
) -> Option<Command> {
    let mut chosen = None;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = Vec2::splat(2.0);
        ui.spacing_mut().button_padding = Vec2::splat(3.0);
        for &(command, icon) in buttons {
            let enabled = command.is_enabled(editor);
            let button = Button::new(icon.rich_text().size(16.0));
            let button = button.min_size(Vec2::splat(theme::ROW));
            let response = ui.add_enabled(enabled, button);
            response.widget_info(|| WidgetInfo::labeled(Role::Button, enabled, command.label()));
            let about = format!("{}\n{}", command.label(), command.tooltip(ui.ctx()));
            let response = response.on_hover_text(about);
            if response.on_disabled_hover_text(command.about()).clicked() {
                chosen = Some(command);
            }
        }
    });
    chosen
}

/// A heading with a secondary text beside it.
pub(in crate::view::panels) fn heading_ui(ui: &mut Ui, text: &str, beside: &str) {
    ui.horizontal(|ui| {
        ui.label(RichText::new(text).strong());
        let dim = theme::palette(ui).text_dim;
        ui.add(Label::new(RichText::new(beside).color(dim)).truncate());
    });
}

/// A child that draws over a rectangle alone.
pub(in crate::view::panels) fn part(ui: &mut Ui, name: &str, rect: Rect) -> Ui {
    let mut part = ui.new_child(UiBuilder::new().id_salt(name).max_rect(rect));
    part.set_clip_rect(rect.expand(2.0).intersect(ui.clip_rect()));
    part
}

/// A vertical scroll area that fills its place.
pub(in crate::view::panels) fn scroll_ui(ui: &mut Ui, name: &str, content: impl FnOnce(&mut Ui)) {
    ScrollArea::vertical()
        .id_salt(name)
        .auto_shrink([false, false])
        .show(ui, content);
}

/// The colour of the curve, the bar and the dot of a sample: one of eight that differ in hue and lightness.
fn colour(sample: usize, is_dark: bool) -> Color32 {
    // Okabe & Ito's palette for colour-blind readers, without black; the last is grey.
    const HUES: [(u8, u8, u8); 8] = [
        (86, 180, 233),
        (230, 159, 0),
        (0, 158, 115),
        (204, 121, 167),
        (240, 228, 66),
        (0, 114, 178),
        (213, 94, 0),
        (150, 150, 150),
    ];
    let (r, g, b) = HUES[sample % HUES.len()];
    let colour = Color32::from_rgb(r, g, b);
    if is_dark {
        colour
    } else {
        colour.lerp_to_gamma(Color32::BLACK, 0.3)
    }
}

/// The id of a widget of a set or a sample.
fn id_of(ui: &Ui, what: &str, set: usize, index: usize) -> Id {
    ui.scope_id().with((what, set, index))
}
