//! The samples of the active set: activation, name, strength, mute and solo.

use super::fields::Number;
use super::sets::text_ui;
use super::{CorrectivesPanel, Rename, buttons_ui, colour, heading_ui, id_of};
use crate::deform::correctives::{Sample, Staleness};
use crate::editor::{Editor, SampleTask, Stale};
use crate::finding::counted;
use crate::view::commands::Command;
use crate::view::keymap;
use crate::view::panels::list::{paint_icon, switch_ui};
use crate::view::panels::rename::{NameField, RenameEnd};
use crate::view::theme;
use egui::{Key, Rect, Role, Sense, Ui, UiBuilder, Vec2, WidgetInfo, pos2, vec2};
use egui_material_icons::icons;
use std::fmt::Write;

/// Width of an icon column, points.
const ICON: f32 = 22.0;
/// Width of the strength, points.
const STRENGTH: f32 = 52.0;
/// Width of the activation as a number, points.
const WEIGHT: f32 = 40.0;
/// Size of a picture, points.
const PICTURE: Vec2 = Vec2::new(56.0, 42.0);
/// Height of a sample: its picture, and two lines beside it.
const HEIGHT: f32 = PICTURE.y + 6.0;

impl CorrectivesPanel {
    /// Draws the samples of the active set.
    pub(super) fn samples_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        commands: &mut Vec<Command>,
    ) {
        let Some(set) = editor.active_set() else {
            return;
        };
        let samples = editor.samples_of(set).to_vec();
        let name = editor.correctives().and_then(|c| c.sets().get(set));
        let name = name.map_or_else(String::new, |set| set.name.clone());
        heading_ui(ui, "Samples", &name);
        let buttons = [
            (Command::AddSample, icons::ICON_ADD),
            (Command::GoToSample, icons::ICON_MY_LOCATION),
            (Command::UpdateSample, icons::ICON_UPDATE),
            (Command::DuplicateSample, icons::ICON_CONTENT_COPY),
            (Command::SampleUp, icons::ICON_ARROW_UPWARD),
            (Command::SampleDown, icons::ICON_ARROW_DOWNWARD),
            (Command::DeleteSample, icons::ICON_DELETE),
        ];
        commands.extend(buttons_ui(ui, editor, &buttons));
        if samples.is_empty() {
            let dim = theme::palette(ui).text_dim;
            let text = "No samples in this set. Pose its drivers and add one.";
            ui.label(egui::RichText::new(text).color(dim));
            return;
        }
        let room = Rect::from_min_size(
            ui.next_widget_position(),
            Vec2::new(ui.available_width(), samples.len() as f32 * HEIGHT),
        );
        let id = ui.scope_id().with("samples");
        let focus = ui.interact(room, id, Sense::focusable_noninteractive());
        focus.widget_info(|| WidgetInfo::labeled(Role::ListBox, true, "Samples"));
        if focus.has_focus() && self.rename.is_none() {
            keys_ui(ui, editor, id, samples.len(), commands);
        }
        let first = first_of(editor, set);
        let weights = editor.sample_weights();
        for (index, sample) in samples.iter().enumerate() {
            let weight = weights.get(first + index).copied().unwrap_or(0.0);
            if self.sample_ui(ui, editor, (set, index), sample, weight, commands) {
                ui.memory_mut(|memory| memory.request_focus(id));
            }
        }
    }

    /// Draws a sample; returns whether it was clicked.
    fn sample_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        (set, index): (usize, usize),
        sample: &Sample,
        weight: f64,
        commands: &mut Vec<Command>,
    ) -> bool {
        let palette = theme::palette(ui);
        let (_, rect) = ui.allocate_space(Vec2::new(ui.available_width(), HEIGHT));
        let id = id_of(ui, "sample", set, index);
        let response = ui.interact(rect, id, Sense::CLICK);
        let is_active = editor.active_sample() == Some(index);
        if is_active {
            ui.painter().rect_filled(rect, 3.0, palette.selected);
            let bar = Rect::from_min_size(rect.min, vec2(3.0, rect.height()));
            ui.painter().rect_filled(bar, 1.0, palette.accent);
        } else if response.hovered() {
            ui.painter().rect_filled(rect, 3.0, palette.stripe);
        }
        let name = sample.name.as_str();
        let muted = if sample.muted { ", muted" } else { "" };
        let spoken = format!("{name}, weight {}{muted}", number_of(weight));
        response
            .widget_info(|| WidgetInfo::selected(Role::ListBoxOption, true, is_active, &spoken));

        let picture = Rect::from_min_size(rect.min + vec2(6.0, 3.0), PICTURE);
        // Rows out of sight need no picture.
        if ui.is_rect_visible(picture)
            && let Some(image) = editor.sample_picture(set, index)
            && let Some(texture) = self.textures.of(ui.ctx(), &image)
        {
            let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
            let strength = if sample.muted { 0.4 } else { 1.0 };
            let tint = egui::Color32::WHITE.gamma_multiply(strength);
            ui.painter().image(texture, picture, whole, tint);
        }
        let beside = rect.with_min_x(picture.right() + 4.0);
        let (upper, lower) = beside
            .shrink2(vec2(0.0, 2.0))
            .split_top_bottom_at_fraction(0.5);
        let right = upper.right() - 2.0;
        let icon_at = |k: f32| {
            let left = pos2(right - k * ICON, upper.top());
            Rect::from_min_size(left, vec2(ICON, upper.height()))
        };
        let (more, solo) = (icon_at(1.0), icon_at(2.0));
        let (bar, lower) = lower.split_left_right_at_x(right - STRENGTH - WEIGHT);
        let (number, strength) = lower.split_left_right_at_x(lower.left() + WEIGHT);
        let strength = strength.with_max_x(right);
        let more = switch_ui(
            ui,
            id.with("more"),
            more,
            icons::ICON_MORE_VERT,
            true,
            palette,
        );
        more.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("Menu of {name}")));
        egui::Popup::menu(&more).show(|ui| menu_ui(ui, editor, (set, index), commands));
        more.on_hover_text(format!("More commands for {name}."));

        let is_solo = editor.is_sample_solo(index);
        let icon = icons::ICON_FILTER_CENTER_FOCUS;
        let alone = switch_ui(ui, id.with("solo"), solo, icon, is_solo, palette);
        if is_solo {
            paint_icon(ui, solo, icon, palette.accent);
        }
        let label = format!("Solo {name}");
        alone.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, is_solo, &label));
        if alone.clicked() {
            editor.solo_sample((!is_solo).then_some(index));
        }
        alone.on_hover_text(if is_solo {
            "Show the other samples again.".to_owned()
        } else {
            format!("Mute all samples except {name}.")
        });

        let mut field = ui.new_child(
            UiBuilder::new()
                .id_salt(("strength", set, index))
                .max_rect(strength.shrink2(vec2(1.0, 2.0))),
        );
        let factor = Number {
            label: &format!("Strength of {name}"),
            range: 0.0..=200.0,
            speed: 1.0,
            decimals: 0,
            suffix: " %",
            about: "The factor of the displacements. Drag or type.",
            step: "Sample strength",
        };
        let shown = f64::from(sample.strength) * 100.0;
        if let Some(percent) = factor.show_ui(&mut field, self, editor, shown) {
            editor.set_sample_strength(index, (percent / 100.0) as f32);
        }

        let dim = palette.text_dim;
        text_ui(ui, &number_of(weight), dim, number, true, WEIGHT);
        bar_ui(ui, bar.shrink2(vec2(4.0, 7.0)), index, sample, weight);

        let eye = Rect::from_min_size(upper.min, vec2(ICON, upper.height()));
        let icon = if sample.muted {
            icons::ICON_VISIBILITY_OFF
        } else {
            icons::ICON_VISIBILITY
        };
        let mute = switch_ui(ui, id.with("eye"), eye, icon, !sample.muted, palette);
        let label = format!("Show {name}");
        mute.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, !sample.muted, &label));
        if mute.clicked() {
            editor.mute_sample(index, !sample.muted);
        }
        let what = if sample.muted { "Unmute" } else { "Mute" };
        mute.on_hover_text(format!("{what} {name}."));

        let place = Rect::from_min_max(
            pos2(eye.right() + 4.0, upper.top()),
            pos2((solo.left() - 4.0).max(eye.right() + 20.0), upper.bottom()),
        );
        let wanted = |rename: &Rename| (rename.set, rename.sample) == (set, Some(index));
        if let Some(rename) = self.rename.as_mut().filter(|rename| wanted(rename)) {
            let ended = rename
                .field
                .show_ui(ui, place, id.with("name"), "Name of the sample");
            if let Some(end) = ended {
                self.rename = None;
                if let RenameEnd::Named(name) = end {
                    editor.rename_sample(index, &name);
                }
            }
            return false;
        }
        let text = match (is_active, sample.muted) {
            (_, true) => palette.text_dim,
            (true, false) => palette.accent,
            (false, false) => palette.text,
        };
        let stale = editor.sample_staleness(set, index);
        let mut place = place;
        if stale.is_some() {
            let (icon, rest) = place.split_left_right_at_x(place.left() + 18.0);
            paint_icon(ui, icon, icons::ICON_WARNING, palette.text);
            place = rest.with_min_x(rest.left() + 2.0);
        }
        text_ui(ui, name, text, place, false, place.width());
        let clicked = response.clicked() || response.secondary_clicked();
        if response.double_clicked() {
            editor.select_sample(set, index);
            self.rename = Some(Rename {
                set,
                sample: Some(index),
                field: NameField::new(sample.name.clone()),
            });
        } else if clicked {
            editor.select_sample(set, index);
        }
        response.context_menu(|ui| menu_ui(ui, editor, (set, index), commands));
        response.on_hover_ui(|ui| {
            ui.label(about(sample, stale));
        });
        clicked
    }
}

/// Moves through the list with the keys.
fn keys_ui(
    ui: &Ui,
    editor: &mut Editor,
    id: egui::Id,
    n_samples: usize,
    commands: &mut Vec<Command>,
) {
    keymap::give_keys_to_list(ui.ctx(), id);
    let (active, last) = (editor.active_sample(), n_samples.saturating_sub(1));
    let steps = [
        (Key::ArrowDown, active.map_or(0, |a| (a + 1).min(last))),
        (Key::ArrowUp, active.unwrap_or(0).saturating_sub(1)),
        (Key::Home, 0),
        (Key::End, last),
    ];
    let to = ui.input(|i| steps.into_iter().find(|(key, _)| i.key_pressed(*key)));
    if let Some(((_, to), set)) = to.zip(editor.active_set()) {
        editor.select_sample(set, to);
    }
    if ui.input(|i| i.key_pressed(Key::Enter)) && active.is_some() {
        commands.push(Command::GoToSample);
    }
}

/// A weight with two decimals, without the sign of zero.
pub(super) fn number_of(weight: f64) -> String {
    let text = format!("{weight:.2}");
    if text == "-0.00" {
        "0.00".to_owned()
    } else {
        text
    }
}

/// Draws the weight as a bar: the zero line is at a tenth of it, so that negative weights show.
fn bar_ui(ui: &Ui, rect: Rect, index: usize, sample: &Sample, weight: f64) {
    let palette = theme::palette(ui);
    let painter = ui.painter();
    painter.rect_filled(rect, 2.0, palette.field);
    let x = |value: f64| {
        let share = ((value + 0.15) / 1.3).clamp(0.0, 1.0) as f32;
        rect.left() + share * rect.width()
    };
    let (from, to) = (x(weight.min(0.0)), x(weight.max(0.0)));
    let colour = if sample.muted {
        palette.text_dim.gamma_multiply(0.5)
    } else {
        colour(index, ui.visuals().dark_mode)
    };
    let filled = Rect::from_min_max(pos2(from, rect.top()), pos2(to, rect.bottom()));
    painter.rect_filled(filled, 1.0, colour);
    let line = egui::Stroke::new(1.0, palette.text_dim);
    painter.vline(x(0.0), rect.y_range(), line);
}

/// The tooltip of a row.
fn about(sample: &Sample, stale: Option<Staleness>) -> String {
    let n = sample.displacements.n_points();
    let mut text = format!("{}\nMoves {}.", sample.name, counted(n, "vertex"));
    if sample.muted {
        text.push_str("\nMuted.");
    }
    if let Some(why) = stale {
        let ways = if why == Staleness::WeightsLost {
            "The old weights are not known any more: sculpt it again, or keep the displacements."
        } else {
            "Re-target it to keep the shape, or keep the displacements."
        };
        let _ = write!(text, "\nCaptured {}. {ways}", why.reason());
    }
    format!("{text}\nClick to make it active, double-click to rename it.")
}

fn menu_ui(
    ui: &mut Ui,
    editor: &mut Editor,
    (set, index): (usize, usize),
    commands: &mut Vec<Command>,
) {
    for command in [
        Command::GoToSample,
        Command::UpdateSample,
        Command::DuplicateSample,
        Command::RenameSample,
        Command::SampleUp,
        Command::SampleDown,
        Command::PushOut,
        Command::DeleteSample,
    ] {
        let response = ui.button(command.label());
        if response.on_hover_text(command.tooltip(ui.ctx())).clicked() {
            editor.select_sample(set, index);
            commands.push(command);
            ui.close();
        }
    }
    if let Some(why) = editor.sample_staleness(set, index)
        && let Some(mesh) = editor.corrected_mesh()
    {
        ui.separator();
        let one = Stale::One(mesh, first_of(editor, set) + index);
        for (task, label, about) in [
            (
                SampleTask::Retarget(one),
                "Re-target",
                "Recompute this sample for the current deformer stack and weights, so that its vertices keep their sculpted shape.",
            ),
            (
                SampleTask::Keep(one),
                "Keep displacements",
                "Accept the displacements of this sample as they are on the current deformer stack and weights.",
            ),
        ] {
            if why == Staleness::WeightsLost && task == SampleTask::Retarget(one) {
                continue;
            }
            if ui.button(label).on_hover_text(about).clicked() {
                editor.change_samples(task);
                ui.close();
            }
        }
    }
}

/// The index of the first sample of a set among those of all sets.
fn first_of(editor: &Editor, set: usize) -> usize {
    (0..set).map(|set| editor.samples_of(set).len()).sum()
}
