//! The list of muscles of the active group.

use super::{ClustersPanel, Rename, Renamed};
use crate::cluster::MuscleLayer;
use crate::editor::Editor;
use crate::view::commands::Command;
use crate::view::panels::correctives::sets::text_ui;
use crate::view::panels::correctives::{buttons_ui, heading_ui};
use crate::view::panels::rename::{NameField, RenameEnd};
use crate::view::theme;
use egui::{Button, Label, Rect, RichText, Role, Sense, Ui, Vec2, WidgetInfo, pos2, vec2};
use egui_material_icons::{MaterialIcon, icons};

/// The width of one button in a row, points.
const BUTTON: f32 = 20.0;

impl ClustersPanel {
    /// Draws the muscles of the active group, and the settings of the active one.
    pub(super) fn muscles_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        commands: &mut Vec<Command>,
    ) {
        let Some(group) = editor.active_group() else {
            return;
        };
        heading_ui(ui, "Muscles", "");
        let n_clusters = editor.cluster_counts().get(usize::from(group)).copied();
        let has_skin = editor
            .clustered_mesh()
            .is_some_and(|mesh| editor.document().skin_of_mesh(mesh).is_some());
        let muscles = editor.muscles().to_vec();
        let about = if !has_skin {
            Some("Muscles lie on the bones of a skin, and this object has none.")
        } else if n_clusters.unwrap_or_default() == 0 {
            Some(
                "A muscle bulges the clusters of a group as a joint bends. Mark vertices over the muscle, then add one.",
            )
        } else if muscles.is_empty() {
            Some(
                "A muscle bulges the clusters of this group as a joint bends. Select the bone beside them and add one.",
            )
        } else {
            None
        };
        if let Some(about) = about {
            let dim = theme::palette(ui).text_dim;
            ui.add(Label::new(RichText::new(about).color(dim)).wrap());
        }
        if has_skin && muscles.is_empty() {
            let command = Command::AddMuscle;
            let button = ui.button(command.label());
            if button.on_hover_text(command.tooltip(ui.ctx())).clicked() {
                commands.push(command);
            }
        } else if has_skin {
            let buttons = [(Command::AddMuscle, icons::ICON_ADD)];
            commands.extend(buttons_ui(ui, editor, &buttons));
        }
        for (index, muscle) in muscles.iter().enumerate() {
            self.muscle_row_ui(ui, editor, index, muscle);
        }
        let active = editor.active_muscle();
        if let Some((index, muscle)) = active.map(|(index, muscle)| (index, muscle.clone())) {
            ui.add_space(4.0);
            self.muscle_ui(ui, editor, index, &muscle);
        }
    }

    fn muscle_row_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        index: usize,
        muscle: &MuscleLayer,
    ) {
        let palette = theme::palette(ui);
        let size = Vec2::new(ui.available_width(), theme::ROW);
        let (_, rect) = ui.allocate_space(size);
        let id = ui.scope_id().with(("muscle", index));
        let (own, buttons) = rect.split_left_right_at_x(rect.right() - 2.0 * BUTTON);
        let response = ui.interact(own, id, Sense::CLICK);
        let is_active = editor
            .active_muscle()
            .is_some_and(|(active, _)| active == index);
        if is_active {
            ui.painter().rect_filled(rect, 3.0, palette.selected);
            let bar = Rect::from_min_size(rect.min, vec2(3.0, rect.height()));
            ui.painter().rect_filled(bar, 1.0, palette.accent);
        } else if response.hovered() {
            ui.painter().rect_filled(rect, 3.0, palette.stripe);
        }
        let name = &muscle.name;
        let bone = editor.muscle_bone_label([muscle.upper, muscle.lower]);
        let spoken = format!("{name}, on {bone}");
        response
            .widget_info(|| WidgetInfo::selected(Role::ListBoxOption, true, is_active, &spoken));
        self.muscle_buttons_ui(ui, editor, buttons, (index, muscle));
        let place = own.with_min_x(own.left() + 8.0);
        let wanted = Renamed::Muscle(index);
        if let Some(rename) = self.rename.as_mut().filter(|r| r.what == wanted) {
            let end = rename
                .field
                .show_ui(ui, place, id.with("name"), "Name of the muscle");
            if let Some(end) = end {
                self.rename = None;
                if let RenameEnd::Named(name) = end {
                    editor.rename_muscle(index, &name);
                }
            }
            return;
        }
        let right = text_ui(
            ui,
            &bone,
            palette.text_dim,
            place,
            true,
            place.width() * 0.5,
        );
        let colour = match (is_active, muscle.muted) {
            (_, true) => palette.text_dim,
            (true, false) => palette.accent,
            (false, false) => palette.text,
        };
        let own = place.with_max_x(right - 6.0);
        text_ui(ui, name, colour, own, false, own.width());
        if response.double_clicked() {
            editor.choose_muscle(index);
            self.rename = Some(Rename {
                what: wanted,
                field: NameField::new(name.clone()),
            });
        } else if response.clicked() {
            editor.choose_muscle(index);
        }
        response.on_hover_text(format!(
            "{name} on {bone}\nClick to edit it. Double-click to rename it."
        ));
    }

    /// Draws mute and delete at the right end of a row.
    fn muscle_buttons_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        rect: Rect,
        (index, muscle): (usize, &MuscleLayer),
    ) {
        let button = |ui: &mut Ui, at: usize, icon: MaterialIcon| {
            let left = rect.left() + BUTTON * at as f32;
            let place = Rect::from_min_size(pos2(left, rect.top()), vec2(BUTTON, rect.height()));
            let palette = theme::palette(ui);
            let text = icon.rich_text().size(14.0).color(palette.text_dim);
            ui.put(place, Button::new(text).frame(false))
        };
        let (name, muted) = (&muscle.name, muscle.muted);
        let icon = if muted {
            icons::ICON_VISIBILITY_OFF
        } else {
            icons::ICON_VISIBILITY
        };
        let mute = button(ui, 0, icon);
        let label = format!("Show {name}");
        mute.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, !muted, &label));
        if mute.clicked() {
            editor.mute_muscle(index, !muted);
        }
        let verb = if muted { "Unmute" } else { "Mute" };
        mute.on_hover_text(format!("{verb} {name}."));
        let delete = button(ui, 1, icons::ICON_DELETE);
        let label = format!("Delete {name}");
        delete.widget_info(|| WidgetInfo::labeled(Role::Button, true, &label));
        if delete.on_hover_text(label.clone()).clicked() {
            self.rename = None;
            editor.delete_muscle(index);
        }
    }
}
