//! The list of groups, and the settings of the active one.

use super::controls::points_ui;
use super::hand::hand_ui;
use super::{ClustersPanel, Rename, Renamed, glyph_ui};
use crate::cluster::preset::FREE_COLOUR;
use crate::cluster::{Base, ClusterGroup, Glyph, GroupPreset};
use crate::editor::Editor;
use crate::finding::{counted, thousands};
use crate::view::commands::Command;
use crate::view::panels::correctives::fields::{named_ui, pick_ui};
use crate::view::panels::correctives::sets::text_ui;
use crate::view::panels::correctives::{buttons_ui, heading_ui};
use crate::view::panels::rename::{NameField, RenameEnd};
use crate::view::theme;
use egui::{Button, Rect, RichText, Role, Sense, Ui, Vec2, WidgetInfo, pos2, vec2};
use egui_material_icons::{MaterialIcon, icons};
use std::sync::Arc;

/// The width of the number and the glyph at the left of a row, points.
const GLYPH: f32 = 34.0;
/// The width of one button in a row, points.
const BUTTON: f32 = 20.0;

impl ClustersPanel {
    /// Draws the list and the active group.
    pub(super) fn groups_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        commands: &mut Vec<Command>,
    ) {
        heading_ui(ui, "Groups", "");
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 2.0;
            add_ui(ui, commands);
            let buttons = [
                (Command::MarkSelected, icons::ICON_ADD_LOCATION),
                (Command::UnmarkSelected, icons::ICON_LAYERS_CLEAR),
                (Command::GrowGroup, icons::ICON_EXPAND_CONTENT),
                (Command::ShrinkGroup, icons::ICON_COLLAPSE_CONTENT),
                (Command::UnmarkAll, icons::ICON_DELETE),
            ];
            commands.extend(buttons_ui(ui, editor, &buttons));
        });
        let groups = editor.cluster_groups().to_vec();
        let counts = editor.cluster_counts();
        for (index, group) in groups.iter().enumerate() {
            let n = counts.get(index).copied().unwrap_or_default();
            self.row_ui(ui, editor, index as u16, group, n);
        }
        free_ui(ui, editor, counts.iter().sum());
        let active = editor.active_group();
        if let Some((active, group)) =
            active.and_then(|a| Some((a, groups.get(usize::from(a))?.clone())))
        {
            ui.add_space(4.0);
            heading_ui(ui, &group.name, "");
            group_ui(ui, self, editor, (active, &group));
        }
    }

    fn row_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        index: u16,
        group: &Arc<ClusterGroup>,
        n: usize,
    ) {
        let palette = theme::palette(ui);
        let size = Vec2::new(ui.available_width(), theme::ROW);
        let (_, rect) = ui.allocate_space(size);
        let id = ui.scope_id().with(("group", index));
        let (own, buttons) = rect.split_left_right_at_x(rect.right() - 3.0 * BUTTON);
        let response = ui.interact(own, id, Sense::CLICK);
        let is_active = editor.active_group() == Some(index);
        if is_active {
            ui.painter().rect_filled(rect, 3.0, palette.selected);
            let bar = Rect::from_min_size(rect.min, vec2(3.0, rect.height()));
            ui.painter().rect_filled(bar, 1.0, palette.accent);
        } else if response.hovered() {
            ui.painter().rect_filled(rect, 3.0, palette.stripe);
        }
        let count = counted(n, "cluster");
        let spoken = format!("{}, {count}", group.name);
        response
            .widget_info(|| WidgetInfo::selected(Role::ListBoxOption, true, is_active, &spoken));
        let number = if index < 9 {
            format!("{}", index + 1)
        } else {
            String::new()
        };
        text_ui(
            ui,
            &number,
            palette.text_dim,
            own.with_min_x(own.left() + 7.0),
            false,
            12.0,
        );
        let centre = pos2(own.left() + 25.0, own.center().y);
        glyph_ui(ui.painter(), centre, 11.0, group.glyph, group.colour);
        Self::row_buttons_ui(ui, editor, buttons, (index, group));
        let place = own.with_min_x(own.left() + GLYPH);
        if let Some(rename) = self
            .rename
            .as_mut()
            .filter(|r| r.what == Renamed::Group(index))
        {
            let field = rename
                .field
                .show_ui(ui, place, id.with("name"), "Name of the group");
            if let Some(end) = field {
                self.rename = None;
                if let RenameEnd::Named(name) = end {
                    editor.rename_group(index, &name);
                }
            }
            return;
        }
        let right = text_ui(ui, &thousands(n), palette.text_dim, place, true, 60.0);
        let colour = if is_active {
            palette.accent
        } else {
            palette.text
        };
        let name = place.with_max_x(right - 6.0);
        text_ui(ui, &group.name, colour, name, false, name.width());
        if response.double_clicked() {
            self.rename = Some(Rename {
                what: Renamed::Group(index),
                field: NameField::new(group.name.clone()),
            });
        } else if response.clicked() {
            editor.choose_group(index);
        }
        let key = if index < 9 {
            format!("  ({})", index + 1)
        } else {
            String::new()
        };
        response.on_hover_text(format!(
            "{}: {count}, moved by: {}\nClick to mark into it{key}. Double-click to rename it.",
            group.name,
            group.base.label().to_lowercase(),
        ));
    }

    /// Draws select, isolate and delete at the right end of a row.
    fn row_buttons_ui(
        ui: &mut Ui,
        editor: &mut Editor,
        rect: Rect,
        (index, group): (u16, &ClusterGroup),
    ) {
        let name = &group.name;
        let is_alone = editor.isolated_group() == Some(index);
        let button =
            |ui: &mut Ui, at: usize, icon: MaterialIcon, label: String, about: &str, on| {
                let left = rect.left() + BUTTON * at as f32;
                let place =
                    Rect::from_min_size(pos2(left, rect.top()), vec2(BUTTON, rect.height()));
                let palette = theme::palette(ui);
                let colour = if on { palette.accent } else { palette.text_dim };
                let text = icon.rich_text().size(14.0).color(colour);
                let response = ui.put(place, Button::new(text).frame(false));
                response.widget_info(|| WidgetInfo::selected(Role::Button, true, on, &label));
                response
                    .on_hover_text(format!("{label}\n{about}"))
                    .clicked()
            };
        let select = "Select its vertices.";
        if button(
            ui,
            0,
            icons::ICON_SELECT_ALL,
            format!("Select {name}"),
            select,
            false,
        ) {
            editor.select_group(index);
        }
        let isolate = "Hide the clusters of all other groups, and protect them from strokes.";
        let icon = icons::ICON_FILTER_CENTER_FOCUS;
        if button(ui, 1, icon, format!("Isolate {name}"), isolate, is_alone) {
            editor.isolate_group((!is_alone).then_some(index));
        }
        let delete = "Its clusters become free vertices.";
        if button(
            ui,
            2,
            icons::ICON_DELETE,
            format!("Delete {name}"),
            delete,
            false,
        ) {
            editor.delete_group(index);
        }
    }
}

/// The menu that adds a group.
fn add_ui(ui: &mut Ui, commands: &mut Vec<Command>) {
    let icon = icons::ICON_ADD.rich_text().size(16.0);
    let response = ui.menu_button(icon, |ui| {
        for preset in GroupPreset::ALL {
            let command = Command::AddGroup(preset);
            let item = ui.button(command.label());
            if item.on_hover_text(command.tooltip(ui.ctx())).clicked() {
                commands.push(command);
                ui.close();
            }
        }
    });
    let response = response.response;
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Add a group"));
    response
        .on_hover_text("Add a group of clusters: one of the paper's kinds, or one of your own.");
}

/// The row of the free vertices.
fn free_ui(ui: &mut Ui, editor: &Editor, n_clusters: usize) {
    let Some(mesh) = editor.clustered_mesh() else {
        return;
    };
    let Some(item) = editor.document().meshes().get(&mesh) else {
        return;
    };
    let palette = theme::palette(ui);
    let (rect, response) =
        ui.allocate_exact_size(Vec2::new(ui.available_width(), theme::ROW), Sense::hover());
    let n = item.geometry.n_points().saturating_sub(n_clusters);
    let centre = pos2(rect.left() + 25.0, rect.center().y);
    glyph_ui(ui.painter(), centre, 6.0, Glyph::Circle, FREE_COLOUR);
    let place = rect.with_min_x(rect.left() + GLYPH);
    text_ui(ui, "Free", palette.text_dim, place, false, place.width());
    let place = place.with_max_x(rect.right() - 3.0 * BUTTON);
    text_ui(ui, &thousands(n), palette.text_dim, place, true, 80.0);
    let text = counted(n, "free vertex");
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &text));
    response.on_hover_text("Vertices without a mark. They follow the patches between clusters.");
}

/// Draws what moves the clusters of a group, its glyph and its colour.
fn group_ui(
    ui: &mut Ui,
    panel: &mut ClustersPanel,
    editor: &mut Editor,
    (index, group): (u16, &ClusterGroup),
) {
    let about = "What moves the clusters of the group.";
    named_ui(ui, "Driven by", about, |ui| {
        let choices = Base::ALL.map(|base| (base, base.label(), base.about()));
        let width = ui.available_width();
        let (response, chosen) = pick_ui(ui, "Driven by", width, group.base, &choices);
        response.on_hover_text(group.base.about());
        if let Some(base) = chosen {
            editor.set_group_base(index, base);
        }
    });
    let about = "The shape and the colour of its marks.";
    named_ui(ui, "Mark", about, |ui| {
        let choices = Glyph::ALL.map(|glyph| (glyph, glyph.label(), about));
        let width = (ui.available_width() - 32.0).max(40.0);
        let (response, chosen) = pick_ui(ui, "Glyph", width, group.glyph, &choices);
        response.on_hover_text(about);
        if let Some(glyph) = chosen {
            editor.set_group_glyph(index, glyph);
        }
        let mut colour = group.colour;
        let response = ui.color_edit_button_srgb(&mut colour);
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Colour of the group"));
        if response.changed() {
            if !panel.is_dragging {
                panel.is_dragging = true;
                editor.begin_step("Colour of group");
            }
            editor.set_group_colour(index, colour);
        }
        response.on_hover_text("The colour of its marks.");
    });
    let dim = theme::palette(ui).text_dim;
    ui.add(egui::Label::new(RichText::new(group.base.about()).color(dim)).wrap());
    match (group.base, &group.lattice, &group.cage) {
        (Base::Hand, ..) => hand_ui(ui, editor, group),
        (Base::Lattice, Some(lattice), _) => {
            panel.lattice_ui(ui, editor, (index, group), lattice);
        }
        (Base::Cage, _, Some(cage)) => panel.cage_ui(ui, editor, (index, group), cage),
        (Base::Lattice | Base::Cage, ..) => points_ui(ui, editor, (index, group)),
        _ => {}
    }
}
