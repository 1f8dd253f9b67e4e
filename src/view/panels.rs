//! The panels around the viewport.

use super::commands::{Command, Mode};
use super::scene::Shading;
use super::theme;
use super::viewport::Viewport;
use crate::deform::SkinningMethod;
use crate::editor::Editor;
use crate::finding::Severity;
use crate::skeleton::JointIndex;
use crate::weights::falloff::Falloff;
use egui::{Align, Layout, RichText, Role, ScrollArea, Sense, TextEdit, Ui, WidgetInfo};
use egui_material_icons::{MaterialIcon, icons};

/// What the panels remember between frames.
#[derive(Default)]
pub struct Panels {
    filter: String,
    /// The bone that the list scrolled to last.
    scrolled_to: Option<JointIndex>,
}

/// A button for a command: its label and icon, its tooltip with the keys.
fn command_button_ui(
    ui: &mut Ui,
    command: Command,
    icon: MaterialIcon,
    editor: &Editor,
    asked: &mut Vec<Command>,
) {
    let button = egui::Button::new(icon.rich_text().size(16.0)).min_size(egui::Vec2::splat(28.0));
    let response = ui.add_enabled(command.is_enabled(editor), button);
    let response = response.on_hover_text(format!(
        "{}\n{}",
        command.label(),
        command.tooltip(ui.ctx())
    ));
    response.widget_info(|| {
        WidgetInfo::labeled(Role::Button, command.is_enabled(editor), command.label())
    });
    if response.clicked() {
        asked.push(command);
    }
}

/// The menus; what was asked for.
pub fn menu_bar_ui(ui: &mut Ui, editor: &Editor, view: &Viewport) -> Vec<Command> {
    let mut asked = Vec::new();
    let mut item = |ui: &mut Ui, command: Command, checked: Option<bool>| {
        // Every item keeps room for the mark, so that labels stand in one column.
        let colour = match checked {
            Some(true) => theme::ACCENT,
            Some(false) | None => egui::Color32::TRANSPARENT,
        };
        let mark = icons::ICON_CHECK.rich_text().size(14.0).color(colour);
        let label = command.full_label(editor);
        let keys = command.keys(ui.ctx());
        let button = egui::Button::new((mark, label.as_str())).shortcut_text(keys);
        let enabled = command.is_enabled(editor);
        let response = ui
            .add_enabled(enabled, button)
            .on_hover_text(command.about());
        response.widget_info(|| match checked {
            Some(on) => WidgetInfo::selected(Role::MenuItemCheckBox, enabled, on, &label),
            None => WidgetInfo::labeled(Role::MenuItem, enabled, &label),
        });
        if response.clicked() {
            asked.push(command);
            ui.close();
        }
    };
    egui::MenuBar::new().ui(ui, |ui| {
        ui.menu_button("File", |ui| {
            item(ui, Command::Open, None);
            ui.separator();
            for sample in ["arm", "hand", "mannequin", "cylinder"] {
                item(ui, Command::Sample(sample), None);
            }
            ui.separator();
            item(ui, Command::Save, None);
            item(ui, Command::SaveAs, None);
            item(ui, Command::Export, None);
            ui.separator();
            item(ui, Command::Quit, None);
        });
        ui.menu_button("Edit", |ui| {
            item(ui, Command::Undo, None);
            item(ui, Command::Redo, None);
            ui.separator();
            for mode in [Mode::Select, Mode::Paint] {
                item(ui, Command::SetMode(mode), Some(view.mode == mode));
            }
            item(ui, Command::SwapMode, None);
            ui.separator();
            item(ui, Command::SmallerBrush, None);
            item(ui, Command::LargerBrush, None);
        });
        ui.menu_button("View", |ui| {
            for shading in [
                Shading::Textured,
                Shading::Shaded,
                Shading::Weights,
                Shading::Wire,
            ] {
                item(
                    ui,
                    Command::Show(shading),
                    Some(view.options.shading == shading),
                );
            }
            ui.separator();
            item(ui, Command::ToggleBones, Some(view.options.show_bones));
            item(ui, Command::ToggleGrid, Some(view.options.show_grid));
            item(ui, Command::ToggleWire, Some(view.options.wire_overlay));
            ui.separator();
            item(ui, Command::FrameAll, None);
            item(ui, Command::FrameSelected, None);
            for view in [Command::ViewFront, Command::ViewSide, Command::ViewTop] {
                item(ui, view, None);
            }
            item(
                ui,
                Command::ToggleOrthographic,
                Some(editor.document().session().camera.orthographic),
            );
        });
        ui.menu_button("Animation", |ui| {
            item(ui, Command::PlayPause, None);
        });
        ui.menu_button("Skinning", |ui| {
            for method in [SkinningMethod::Lbs, SkinningMethod::Dqs] {
                item(
                    ui,
                    Command::UseMethod(method),
                    Some(editor.method() == method),
                );
            }
        });
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let name = editor.model_name();
            let mark = if editor.history().is_modified() {
                " (not saved)"
            } else {
                ""
            };
            let text = RichText::new(format!("{name}{mark}")).color(theme::TEXT_DIM);
            ui.add(egui::Label::new(text).truncate());
        });
    });
    asked
}

/// The row above the viewport: file and undo buttons, mode, shading, skinning method.
pub fn header_ui(ui: &mut Ui, editor: &Editor, view: &Viewport) -> Vec<Command> {
    let mut asked = Vec::new();
    ui.horizontal_wrapped(|ui| {
        command_button_ui(
            ui,
            Command::Open,
            icons::ICON_FOLDER_OPEN,
            editor,
            &mut asked,
        );
        command_button_ui(ui, Command::Save, icons::ICON_SAVE, editor, &mut asked);
        command_button_ui(
            ui,
            Command::Export,
            icons::ICON_FILE_EXPORT,
            editor,
            &mut asked,
        );
        ui.separator();
        command_button_ui(ui, Command::Undo, icons::ICON_UNDO, editor, &mut asked);
        command_button_ui(ui, Command::Redo, icons::ICON_REDO, editor, &mut asked);
        ui.separator();
        let mut choice = |ui: &mut Ui, on: bool, command: Command| {
            let enabled = command.is_enabled(editor);
            let response = ui.add_enabled(enabled, egui::Button::selectable(on, command.label()));
            if response.on_hover_text(command.tooltip(ui.ctx())).clicked() {
                asked.push(command);
            }
        };
        for mode in [Mode::Select, Mode::Paint] {
            choice(ui, view.mode == mode, Command::SetMode(mode));
        }
        ui.separator();
        for shading in [
            Shading::Textured,
            Shading::Shaded,
            Shading::Weights,
            Shading::Wire,
        ] {
            choice(ui, view.options.shading == shading, Command::Show(shading));
        }
        ui.separator();
        for method in [SkinningMethod::Lbs, SkinningMethod::Dqs] {
            choice(ui, editor.method() == method, Command::UseMethod(method));
        }
    });
    asked
}

impl Panels {
    /// The list of bones: a click selects, the lock keeps weights.
    pub fn hierarchy_ui(&mut self, ui: &mut Ui, editor: &mut Editor) {
        ui.heading("Bones");
        let document = editor.document();
        let skeleton = document.skeleton().clone();
        let in_skin = document.skin_joint_mask();
        if !in_skin.contains(&true) {
            ui.label(
                "No skeleton in this file. Open another model, or a sample from the File menu.",
            );
            return;
        }
        let field = TextEdit::singleline(&mut self.filter)
            .hint_text("Filter bones")
            .desired_width(f32::INFINITY);
        let response = ui.add(field);
        response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Filter bones"));
        let wanted = self.filter.to_lowercase();
        let depth_of = |joint: JointIndex| {
            skeleton
                .ancestors(joint)
                .filter(|j| in_skin[j.get()])
                .count()
        };
        let rows: Vec<(JointIndex, String, usize)> = depth_first(&skeleton)
            .into_iter()
            .filter(|j| in_skin[j.get()])
            .map(|j| (j, skeleton.label(j), depth_of(j)))
            .filter(|(_, label, _)| wanted.is_empty() || label.to_lowercase().contains(&wanted))
            .collect();
        let active = document.session().active_joint;
        let locked = document.locked().clone();
        let (mut select, mut lock) = (None, None);
        let scroll_to = active.filter(|_| active != self.scrolled_to);
        self.scrolled_to = active;
        ScrollArea::vertical()
            .id_salt("bones")
            .auto_shrink([false, false])
            .show(ui, |ui| {
                for (joint, label, depth) in rows {
                    ui.horizontal(|ui| {
                        ui.spacing_mut().item_spacing.x = 2.0;
                        let is_locked = locked.contains(&joint);
                        let icon = if is_locked {
                            icons::ICON_LOCK
                        } else {
                            icons::ICON_LOCK_OPEN
                        };
                        let colour = if is_locked {
                            theme::ACCENT
                        } else {
                            theme::TEXT_DIM.gamma_multiply(0.5)
                        };
                        let button = egui::Button::new(icon.rich_text().size(14.0).color(colour))
                            .frame(false);
                        let about = if is_locked {
                            "Unlock the weights of"
                        } else {
                            "Lock the weights of"
                        };
                        let response = ui.add(button).on_hover_text(format!("{about} {label}."));
                        response.widget_info(|| {
                            WidgetInfo::selected(
                                Role::CheckBox,
                                true,
                                is_locked,
                                format!("Lock {label}"),
                            )
                        });
                        if response.clicked() {
                            lock = Some(joint);
                        }
                        ui.add_space(depth.min(12) as f32 * 10.0);
                        let chosen = active == Some(joint);
                        let text = RichText::new(&label).color(if chosen {
                            theme::ACCENT
                        } else {
                            theme::TEXT
                        });
                        let response = ui.add(egui::Button::selectable(chosen, text).truncate());
                        if response.clicked() {
                            select = Some(joint);
                        }
                        if scroll_to == Some(joint) && !response.clicked() {
                            response.scroll_to_me(Some(Align::Center));
                        }
                    });
                }
            });
        if let Some(joint) = select {
            self.scrolled_to = Some(joint);
            editor.select_joint(Some(joint));
        }
        if let Some(joint) = lock {
            editor.toggle_lock(joint);
        }
    }
}

/// All joints, children after their parent.
fn depth_first(skeleton: &crate::skeleton::Skeleton) -> Vec<JointIndex> {
    let mut order = Vec::with_capacity(skeleton.len());
    let mut stack: Vec<JointIndex> = skeleton.roots().collect();
    stack.reverse();
    while let Some(joint) = stack.pop() {
        order.push(joint);
        stack.extend(skeleton.children(joint).iter().rev());
    }
    order
}

/// What the mode and the selection need: the brush, the active bone.
pub fn properties_ui(ui: &mut Ui, editor: &mut Editor, mode: Mode) {
    let active = editor.document().session().active_joint;
    ui.heading(match mode {
        Mode::Select => "Selection",
        Mode::Paint => "Brush",
    });
    match active {
        Some(joint) => {
            ui.horizontal(|ui| {
                ui.label("Active bone");
                let label = editor.document().skeleton().label(joint);
                ui.add(egui::Label::new(RichText::new(label).color(theme::ACCENT)).truncate());
            });
            for (mesh, heat) in editor.heat() {
                let n = heat.values.iter().filter(|w| **w > 0.0).count();
                let name = editor
                    .document()
                    .meshes()
                    .get(mesh)
                    .map_or("", |m| m.geometry.name.as_str());
                ui.label(
                    RichText::new(format!(
                        "moves {n} of {} points of {name}",
                        heat.values.len()
                    ))
                    .color(theme::TEXT_DIM),
                );
            }
        }
        None => {
            ui.label("Click a bone in the view or in the list.");
        }
    }
    if mode != Mode::Paint {
        return;
    }
    let brush = editor.brush_mut();
    egui::Grid::new("brush")
        .num_columns(2)
        .spacing([8.0, 4.0])
        .show(ui, |ui| {
            let row = |ui: &mut Ui, label: &str, about: &str, slider: egui::Slider<'_>| {
                let name = ui.label(label);
                ui.add(slider).labelled_by(name.id).on_hover_text(about);
                ui.end_row();
            };
            row(
                ui,
                "Weight",
                "What a stroke at full strength adds.",
                egui::Slider::new(&mut brush.weight, 0.0..=1.0),
            );
            row(
                ui,
                "Strength",
                "How much of it one stroke adds.",
                egui::Slider::new(&mut brush.strength, 0.0..=1.0),
            );
            let radius = egui::Slider::new(&mut brush.radius_px, 1.0..=500.0)
                .logarithmic(true)
                .suffix(" px")
                .integer();
            row(
                ui,
                "Radius",
                "Size of the brush on the screen ( [ and ] ).",
                radius,
            );
            row(
                ui,
                "Influences",
                "Most bones a painted point may follow.",
                egui::Slider::new(&mut brush.max_influences, 1..=8),
            );
            let name = ui.label("Falloff");
            egui::ComboBox::from_id_salt("falloff")
                .selected_text(brush.falloff.label())
                .show_ui(ui, |ui| {
                    for falloff in Falloff::ALL {
                        ui.selectable_value(&mut brush.falloff, falloff, falloff.label());
                    }
                })
                .response
                .labelled_by(name.id);
            ui.end_row();
        });
    ui.checkbox(&mut brush.front_faces_only, "Front faces only")
        .on_hover_text("Leave points alone that face away from you.");
    ui.checkbox(&mut brush.normalise, "Normalise")
        .on_hover_text("Keep each point's weights at a sum of 1.");
}

/// Clip, play, time.
pub fn timeline_ui(ui: &mut Ui, editor: &mut Editor) -> Vec<Command> {
    let mut asked = Vec::new();
    ui.horizontal(|ui| {
        let clips: Vec<_> = editor
            .document()
            .clips()
            .iter()
            .map(|(&id, c)| (id, clip_label(id.0, &c.name)))
            .collect();
        if clips.is_empty() {
            ui.label(RichText::new("No clips in this file.").color(theme::TEXT_DIM));
            return;
        }
        let playing = editor.is_playing();
        let icon = if playing {
            icons::ICON_PAUSE
        } else {
            icons::ICON_PLAY_ARROW
        };
        command_button_ui(ui, Command::PlayPause, icon, editor, &mut asked);
        let shown = editor.document().session().playback.clip;
        let text = clips
            .iter()
            .find(|(id, _)| Some(*id) == shown)
            .map_or("Own pose", |(_, label)| label.as_str());
        let combo = egui::ComboBox::from_id_salt("clip")
            .width(180.0)
            .selected_text(text)
            .show_ui(ui, |ui| {
                let mut chosen = None;
                if ui.selectable_label(shown.is_none(), "Own pose").clicked() {
                    chosen = Some(None);
                }
                for (id, label) in &clips {
                    if ui.selectable_label(shown == Some(*id), label).clicked() {
                        chosen = Some(Some(*id));
                    }
                }
                chosen
            });
        combo
            .response
            .widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, "Clip"));
        combo
            .response
            .on_hover_text("The clip on screen, or the pose you made.");
        if let Some(chosen) = combo.inner.flatten() {
            editor.show_clip(chosen);
        }
        if let Some((start, end)) = editor.clip_range() {
            let mut time = editor.document().session().playback.time_secs;
            let width = (ui.available_width() - 90.0).max(60.0);
            ui.spacing_mut().slider_width = width;
            let slider =
                egui::Slider::new(&mut time, start..=end.max(start + 1e-3)).show_value(false);
            let response = ui.add(slider);
            response.widget_info(|| WidgetInfo::slider(true, time, "Time"));
            if response.on_hover_text("Drag to scrub.").changed() {
                editor.set_time(time);
            }
            ui.label(RichText::new(format!("{time:6.2} s")).monospace());
        }
    });
    asked
}

fn clip_label(index: u32, name: &str) -> String {
    if name.is_empty() {
        format!("Clip {index}")
    } else {
        name.to_owned()
    }
}

/// Import findings and the like.
pub fn problems_ui(ui: &mut Ui, editor: &Editor) {
    let findings = editor.findings();
    if findings.is_empty() {
        ui.label(RichText::new("No problems in this model.").color(theme::TEXT_DIM));
        return;
    }
    ScrollArea::vertical()
        .id_salt("problems")
        .auto_shrink([false, false])
        .show(ui, |ui| {
            for finding in findings {
                ui.horizontal_wrapped(|ui| {
                    let (icon, colour) = match finding.severity {
                        Severity::Error => (icons::ICON_ERROR, theme::ERROR),
                        Severity::Warning => (icons::ICON_WARNING, theme::ACCENT),
                        Severity::Info => (icons::ICON_INFO, theme::TEXT_DIM),
                    };
                    ui.label(icon.rich_text().size(14.0).color(colour))
                        .on_hover_text(finding.severity.label());
                    ui.label(RichText::new(&finding.place).color(theme::TEXT_DIM));
                    ui.label(&finding.message);
                });
            }
        });
}

/// Hints, the job under way, and what the last re-skin took.
pub fn status_bar_ui(ui: &mut Ui, editor: &mut Editor, mode: Mode, notice: Option<(&str, bool)>) {
    let mut cancel = false;
    let hint = match mode {
        Mode::Select => {
            "Click picks a bone · Middle drag orbits · Shift+middle pans · Wheel zooms · Tab paints"
        }
        Mode::Paint => {
            "Drag adds · Ctrl+drag subtracts · Esc takes the stroke back · [ ] radius · Tab selects"
        }
    };
    let text = match notice {
        Some((text, true)) => RichText::new(text).color(theme::ERROR),
        Some((text, false)) => RichText::new(text).color(theme::ACCENT),
        None => RichText::new(hint).color(theme::TEXT_DIM),
    };
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let points: usize = editor.displayed().values().map(|d| d.positions.len()).sum();
            let figures = format!(
                "{points} points · re-skin {:.2} ms",
                editor.skin_secs() * 1e3
            );
            ui.label(
                RichText::new(figures)
                    .color(theme::TEXT_DIM)
                    .monospace()
                    .size(11.0),
            )
            .on_hover_text("Points on screen, and what the latest deformation took on its thread.");
            if let Some(job) = editor.job() {
                let stop = ui
                    .button("Cancel")
                    .on_hover_text("Stop this job; nothing is changed.");
                cancel = stop.clicked();
                let bar = egui::ProgressBar::new(job.task().fraction())
                    .desired_width(120.0)
                    .show_percentage();
                ui.add(bar)
                    .widget_info(|| WidgetInfo::labeled(Role::ProgressIndicator, true, "Progress"));
                let step = job.task().label();
                ui.label(if step.is_empty() {
                    job.label().to_owned()
                } else {
                    format!("{} · {step}", job.label())
                });
            }
            // What is left of the row; a longer text is cut and shown whole under the pointer.
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.add(egui::Label::new(text).truncate());
            });
        });
    });
    if cancel {
        editor.cancel_job();
    }
    // The bar is one row, whatever it says.
    ui.allocate_response(egui::Vec2::ZERO, Sense::hover());
}
