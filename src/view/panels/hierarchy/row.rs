//! One row of the hierarchy.

use super::tree::{Item, Row, VisibleRow};
use super::{Action, Hierarchy, menu};
use crate::document::checks::Badges;
use crate::editor::Editor;
use crate::finding::{counted, thousands};
use crate::skeleton::JointId;
use crate::view::joint_colour::joint_colour;
use crate::view::middle;
use crate::view::panels::list::{paint_icon, switch_ui};
use crate::view::theme::{self, Palette};
use egui::{
    Align2, Color32, FontId, Id, PopupCloseBehavior, Rect, Response, Role, Sense, StrokeKind, Ui,
    Vec2, WidgetInfo, pos2, vec2,
};
use egui_material_icons::{MaterialIcon, icons};

/// Indentation per level, points.
const INDENT: f32 = 10.0;
/// Deeper levels are not indented further.
const MOST_LEVELS: usize = 14;
/// Width of an icon column, points.
const ICON: f32 = 20.0;
/// Width of the colour column, points.
const SWATCH: f32 = 18.0;

/// Draws a row and collects its actions.
pub(super) fn row_ui(
    list: &mut Hierarchy,
    ui: &mut Ui,
    editor: &Editor,
    visible: VisibleRow,
    rect: Rect,
    has_focus: bool,
    actions: &mut Vec<Action>,
) {
    let palette = theme::palette(ui);
    let row = list.tree.row(visible.row);
    let item = row.item;
    let id = ui.scope_id().with(item);
    let response = ui.interact(rect, id, Sense::CLICK);
    let session = editor.document().session();
    let (is_active, is_selected) = match item {
        Item::Joint(joint) => (
            session.active_joint == Some(joint),
            session.selected_joints.contains(&joint),
        ),
        Item::Object(object) => {
            let mesh = editor.document().instances().get(&object).map(|i| i.mesh);
            (false, mesh.is_some() && mesh == session.active_mesh)
        }
    };
    let is_cursor = has_focus && list.cursor == Some(item);
    backdrop(
        ui,
        rect,
        palette,
        &response,
        (is_active, is_selected, is_cursor),
    );
    let is_folded = list.tree.is_collapsed(item);
    response.widget_info(|| {
        let label = match item {
            Item::Joint(_) => row.label.clone(),
            Item::Object(_) => format!("{} (object)", row.label),
        };
        WidgetInfo::selected(Role::TreeItem, true, is_selected, label)
    });
    let (depth, n_below) = (row.depth, row.n_below);
    ui.ctx().accesskit_node_builder(id, |node| {
        node.set_level(depth + 1);
        if n_below > 0 {
            node.set_expanded(!is_folded);
        }
    });

    let mut left = rect.left() + 4.0 + depth.min(MOST_LEVELS) as f32 * INDENT;
    if n_below > 0 {
        let fold = Rect::from_min_size(pos2(left, rect.top()), vec2(16.0, rect.height()));
        if fold_ui(ui, id, fold, &row.label, is_folded, palette) {
            actions.push(Action::Fold(item, !is_folded));
        }
    }
    left += 16.0;
    let label = row.label.clone();
    let right = match item {
        Item::Joint(joint) => bone_columns_ui(ui, editor, row, joint, rect, &response, actions),
        Item::Object(object) => {
            let is_hidden = session.hidden_instances.contains(&object);
            let eye = column(rect, ICON, ICON + 4.0);
            let response = eye_ui(ui, id, eye, &label, is_hidden, palette);
            if response.clicked() {
                actions.push(Action::HideObject(object, !is_hidden));
            }
            let icon = Rect::from_min_size(pos2(left, rect.top()), vec2(16.0, rect.height()));
            paint_icon(ui, icon, icons::ICON_DEPLOYED_CODE, palette.text_dim);
            left += ICON;
            let mesh = editor.document().instances().get(&object).map(|i| i.mesh);
            let points = mesh
                .and_then(|mesh| editor.document().meshes().get(&mesh))
                .map_or(0, |m| m.geometry.n_points());
            let right = eye.left() - SWATCH - 4.0;
            paint_count(ui, rect, right, points, palette.text_dim) - 4.0
        }
    };
    let name = Rect::from_min_max(
        pos2(left, rect.top()),
        pos2(right.max(left + 16.0), rect.bottom()),
    );
    let is_renamed = list
        .rename
        .as_ref()
        .is_some_and(|rename| Item::Joint(rename.joint) == item);
    if is_renamed {
        rename_ui(list, ui, name, id, actions);
    } else {
        let colour = if is_active {
            palette.accent
        } else if visible.is_dim || matches!(item, Item::Joint(_)) && !is_bone(list, visible) {
            palette.text_dim
        } else {
            palette.text
        };
        let text = middle::body(ui, &label, name.width());
        let at = pos2(name.left(), name.center().y - text.size().y * 0.5);
        ui.painter()
            .galley_with_override_text_color(at, text, colour);
    }
    if response.double_clicked() {
        actions.push(Action::Frame(item));
    } else if response.clicked() {
        actions.push(Action::Select(item, ui.input(|i| i.modifiers)));
    }
    response.context_menu(|ui| menu::menu_ui(ui, editor, item, &label, actions));
    response.on_hover_ui(|ui| {
        ui.label(about(editor, item, &label));
    });
}

fn is_bone(list: &Hierarchy, visible: VisibleRow) -> bool {
    list.tree.row(visible.row).is_bone
}

/// Draws the background of a row: selection, hover, focus.
fn backdrop(
    ui: &Ui,
    rect: Rect,
    palette: &Palette,
    response: &Response,
    (is_active, is_selected, is_cursor): (bool, bool, bool),
) {
    let painter = ui.painter();
    if is_selected {
        painter.rect_filled(rect, 3.0, palette.selected);
    } else if response.hovered() {
        painter.rect_filled(rect, 3.0, palette.stripe);
    }
    if is_active {
        let bar = Rect::from_min_size(rect.min, vec2(3.0, rect.height()));
        painter.rect_filled(bar, 1.0, palette.accent);
    }
    if is_cursor {
        painter.rect_stroke(
            rect.shrink(0.5),
            3.0,
            egui::Stroke::new(1.0, palette.text_dim),
            StrokeKind::Inside,
        );
    }
}

/// Draws the columns of a bone from the right; returns the right end of the name.
fn bone_columns_ui(
    ui: &mut Ui,
    editor: &Editor,
    row: &Row,
    joint: JointId,
    rect: Rect,
    response: &Response,
    actions: &mut Vec<Action>,
) -> f32 {
    let palette = theme::palette(ui);
    let document = editor.document();
    let id = response.id;
    if !row.is_bone {
        return rect.right() - 4.0;
    }
    let lock = column(rect, ICON, ICON + 4.0);
    let is_locked = document.locked().contains(&joint);
    let pressed = lock_ui(ui, id, lock, &row.label, is_locked, palette);
    if pressed.clicked() {
        actions.push(if ui.input(|i| i.modifiers.alt) {
            Action::LockOthers(joint)
        } else {
            Action::Lock(joint, !is_locked)
        });
    }
    let eye = lock.translate(vec2(-ICON, 0.0));
    let is_hidden = document.session().hidden_joints.contains(&joint);
    if eye_ui(ui, id, eye, &row.label, is_hidden, palette).clicked() {
        actions.push(Action::HideJoint(joint, !is_hidden));
    }
    let swatch = Rect::from_min_max(
        pos2(eye.left() - SWATCH, rect.top()),
        pos2(eye.left(), rect.bottom()),
    );
    swatch_ui(ui, editor, id, swatch, joint, &row.label, actions);
    let report = editor.report();
    let mut right = swatch.left() - 4.0;
    let n_moved = report.n_moved.get(joint.get()).copied().unwrap_or(0) as usize;
    right = paint_count(ui, rect, right, n_moved, palette.text_dim) - 4.0;
    let badges = report.badges.get(joint.get()).copied().unwrap_or_default();
    for (icon, what, why) in shown_badges(badges) {
        let place = Rect::from_min_max(pos2(right - 16.0, rect.top()), pos2(right, rect.bottom()));
        paint_icon(ui, place, icon, palette.text_dim);
        let badge = ui.interact(place, id.with(what), Sense::hover());
        badge.widget_info(|| {
            WidgetInfo::labeled(Role::Image, true, format!("{}: {what}", row.label))
        });
        badge.on_hover_text(format!("{what}: {why}"));
        right -= 16.0;
    }
    right - 2.0
}

/// The badges of a bone, with their explanations.
fn shown_badges(
    badges: Badges,
) -> impl Iterator<Item = (MaterialIcon, &'static str, &'static str)> {
    [
        (
            badges.scaled,
            (
                icons::ICON_ASPECT_RATIO,
                "Scaled",
                "its scale is not 1 in the rest pose or in your pose.",
            ),
        ),
        (
            badges.unpaired,
            (
                icons::ICON_LINK_OFF,
                "Unpaired",
                "no matching bone on the other side.",
            ),
        ),
        (
            badges.unweighted,
            (
                icons::ICON_HIDE_SOURCE,
                "Unweighted",
                "it influences no vertices.",
            ),
        ),
    ]
    .into_iter()
    .filter(|(is_worn, _)| *is_worn)
    .map(|(_, badge)| badge)
}

/// The column that ends `from_right` minus its width before the row does.
fn column(rect: Rect, width: f32, from_right: f32) -> Rect {
    let left = rect.right() - from_right;
    Rect::from_min_size(pos2(left, rect.top()), vec2(width, rect.height()))
}

/// Draws a number that ends at `right`; returns its left edge.
fn paint_count(ui: &Ui, rect: Rect, right: f32, n: usize, colour: Color32) -> f32 {
    let at = pos2(right, rect.center().y);
    let font = FontId::proportional(11.0);
    let painter = ui.painter();
    painter
        .text(at, Align2::RIGHT_CENTER, thousands(n), font, colour)
        .left()
}

fn fold_ui(ui: &Ui, id: Id, rect: Rect, label: &str, is_folded: bool, palette: &Palette) -> bool {
    let response = ui.interact(rect, id.with("fold"), Sense::CLICK);
    let icon = if is_folded {
        icons::ICON_CHEVRON_RIGHT
    } else {
        icons::ICON_EXPAND_MORE
    };
    let (colour, what) = if response.hovered() {
        (palette.text, is_folded)
    } else {
        (palette.text_dim, is_folded)
    };
    paint_icon(ui, rect, icon, colour);
    let what = if what { "Expand" } else { "Collapse" };
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("{what} {label}")));
    response.clicked()
}

fn lock_ui(
    ui: &Ui,
    id: Id,
    rect: Rect,
    label: &str,
    is_locked: bool,
    palette: &Palette,
) -> Response {
    let icon = if is_locked {
        icons::ICON_LOCK
    } else {
        icons::ICON_LOCK_OPEN_RIGHT
    };
    let response = switch_ui(ui, id.with("lock"), rect, icon, is_locked, palette);
    response.widget_info(|| {
        WidgetInfo::selected(Role::CheckBox, true, is_locked, format!("Lock {label}"))
    });
    let what = if is_locked { "Unlock" } else { "Lock" };
    response.on_hover_text(format!(
        "{what} the weights of {label}.\nAlt+click locks all other bones."
    ))
}

fn eye_ui(
    ui: &Ui,
    id: Id,
    rect: Rect,
    label: &str,
    is_hidden: bool,
    palette: &Palette,
) -> Response {
    let icon = if is_hidden {
        icons::ICON_VISIBILITY_OFF
    } else {
        icons::ICON_VISIBILITY
    };
    let response = switch_ui(ui, id.with("eye"), rect, icon, is_hidden, palette);
    response.widget_info(|| {
        WidgetInfo::selected(Role::CheckBox, true, !is_hidden, format!("Show {label}"))
    });
    let what = if is_hidden { "Show" } else { "Hide" };
    response.on_hover_text(format!("{what} {label}."))
}

fn swatch_ui(
    ui: &Ui,
    editor: &Editor,
    id: Id,
    rect: Rect,
    joint: JointId,
    label: &str,
    actions: &mut Vec<Action>,
) {
    let session = editor.document().session();
    let colour = joint_colour(session, joint);
    let response = ui.interact(rect, id.with("colour"), Sense::CLICK);
    let square = Rect::from_center_size(rect.center(), Vec2::splat(11.0));
    ui.painter().rect_filled(square, 2.0, colour);
    if response.hovered() {
        let palette = theme::palette(ui);
        ui.painter().rect_stroke(
            square,
            2.0,
            egui::Stroke::new(1.0, palette.text),
            StrokeKind::Outside,
        );
    }
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("Colour of {label}")));
    egui::Popup::menu(&response)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .show(|ui| {
            ui.spacing_mut().slider_width = 180.0;
            let mut new = colour;
            egui::color_picker::color_picker_color32(
                ui,
                &mut new,
                egui::color_picker::Alpha::Opaque,
            );
            if new != colour {
                actions.push(Action::Colour(joint, Some([new.r(), new.g(), new.b()])));
            }
            let is_set = session.joint_colours.contains_key(&joint);
            let button = ui
                .add_enabled(is_set, egui::Button::new("Reset to default"))
                .on_hover_text("Remove the custom colour.");
            if button.clicked() {
                actions.push(Action::Colour(joint, None));
                ui.close();
            }
        });
    response.on_hover_text(format!("Colour of {label}. Click to change it."));
}

/// The text field of a rename.
fn rename_ui(list: &mut Hierarchy, ui: &mut Ui, rect: Rect, id: Id, actions: &mut Vec<Action>) {
    let Some(rename) = &mut list.rename else {
        return;
    };
    let field = &mut rename.field;
    if let Some(left) = field.show_ui(ui, rect, id.with("name"), "Name of the bone") {
        actions.push(Action::EndRename(left));
    }
}

/// The tooltip of a row: path and counts.
fn about(editor: &Editor, item: Item, label: &str) -> String {
    let document = editor.document();
    match item {
        Item::Joint(joint) => {
            let skeleton = document.skeleton();
            let mut path: Vec<String> = skeleton
                .ancestors(joint)
                .map(|j| skeleton.label(j))
                .collect();
            path.reverse();
            path.push(label.to_owned());
            let n_moved = editor.report().n_moved.get(joint.get()).copied();
            let n_all: usize = document
                .meshes()
                .values()
                .map(|m| m.geometry.n_points())
                .sum();
            format!(
                "{}\nInfluences {} of {}. {}.",
                path.join(" / "),
                thousands(n_moved.unwrap_or(0) as usize),
                counted(n_all, "vertex"),
                match skeleton.children(joint).len() {
                    0 => "No children".to_owned(),
                    n => counted(n, "child"),
                }
            )
        }
        Item::Object(id) => {
            let Some(instance) = document.instances().get(&id) else {
                return label.to_owned();
            };
            let Some(item) = document.meshes().get(&instance.mesh) else {
                return label.to_owned();
            };
            let skin = if instance.skin.is_some() {
                "skinned"
            } else {
                "follows one node"
            };
            format!(
                "{label} (mesh \"{}\")\n{}, {}, {skin}.",
                item.geometry.name,
                counted(item.geometry.n_points(), "vertex"),
                counted(item.geometry.triangles.len(), "triangle")
            )
        }
    }
}
