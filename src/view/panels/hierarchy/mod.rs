//! The hierarchy of objects and bones.
//!
//! A list of our own instead of a tree crate: it has columns, names for screen readers, and rows outside the view cost
//! nothing.
//!
//! Invariant: only visible rows are laid out; row data is rebuilt when the document changes, not every frame.

mod keys;
mod menu;
mod row;
mod tree;

use super::super::commands::Command;
use super::super::{keymap, theme};
use super::rename::{NameField, RenameEnd};
use crate::document::InstanceId;
use crate::document::session::SelectKind;
use crate::editor::{Editor, RigKind};
use crate::rig::Template;
use crate::skeleton::JointId;
use egui::{
    Align, Key, Modifiers, Rect, RichText, Role, ScrollArea, Sense, TextEdit, Ui, Vec2, WidgetInfo,
};
use egui_material_icons::icons;
use std::collections::BTreeSet;
use tree::{Item, Tree};

/// The hierarchy panel and its state between frames.
#[derive(Default)]
pub struct Hierarchy {
    filter: String,
    all_nodes: bool,
    tree: Tree,
    /// The row from which the arrow keys move.
    cursor: Option<Item>,
    /// The row where a range selection starts.
    anchor: Option<Item>,
    /// The active bone at the last update, to notice a change made elsewhere.
    shown: Option<JointId>,
    scroll_to: Option<Item>,
    rename: Option<Rename>,
    /// The model it shows.
    model: u64,
}

/// A name being edited.
struct Rename {
    joint: JointId,
    field: NameField,
}

/// An action on a row.
enum Action {
    /// Pressed with these modifiers.
    Select(Item, Modifiers),
    Fold(Item, bool),
    Rename(JointId),
    EndRename(RenameEnd),
    Frame(Item),
    Lock(JointId, bool),
    LockOthers(JointId),
    HideJoint(JointId, bool),
    HideObject(InstanceId, bool),
    Isolate(JointId),
    SelectChildren(JointId),
    Colour(JointId, Option<[u8; 3]>),
    /// Runs a command on the selected bones with this one.
    Run(JointId, Command),
}

impl Hierarchy {
    /// Draws the tree: click selects, the eye hides, the lock locks weights. Returns the requested commands.
    pub fn show_ui(&mut self, ui: &mut Ui, editor: &mut Editor) -> Vec<Command> {
        let mut commands = Vec::new();
        if std::mem::replace(&mut self.model, editor.model_serial()) != editor.model_serial() {
            // Pending input belongs to the previous model.
            self.rename = None;
            self.cursor = None;
            self.anchor = None;
        }
        let document = editor.document();
        if document.skeleton().is_empty() {
            if editor.job().is_none() {
                empty_ui(ui, "Nothing is open.", &mut commands);
            }
            return commands;
        }
        self.tree.update(
            document,
            editor.model_serial(),
            &self.filter,
            self.all_nodes,
        );
        self.head_ui(ui, editor);
        let active = editor.document().session().active_joint;
        if active != self.shown {
            self.shown = active;
            if let Some(joint) = active {
                self.reveal(Item::Joint(joint));
            }
        }
        let actions = self.rows_ui(ui, editor);
        for action in actions {
            if let Action::Run(joint, command) = action {
                if !editor.document().session().selected_joints.contains(&joint) {
                    self.select(Item::Joint(joint), Modifiers::NONE, editor);
                }
                commands.push(command);
            } else {
                self.perform(action, editor, ui.ctx());
            }
        }
        if self.tree.n_bones() == 0 {
            no_bones_ui(ui, editor, &mut commands);
        } else if self.tree.visible().is_empty() {
            ui.label(
                RichText::new(format!("No bone name contains \"{}\".", self.filter.trim()))
                    .color(theme::palette(ui).text_dim),
            );
        }
        commands
    }

    /// Starts renaming `joint`.
    pub fn start_rename(&mut self, joint: JointId, editor: &Editor) {
        let skeleton = editor.document().skeleton();
        if skeleton.is_live(joint) {
            self.rename = Some(Rename {
                joint,
                field: NameField::new(skeleton.joint(joint).name.clone()),
            });
            self.reveal(Item::Joint(joint));
        }
    }

    /// Unfolds the ancestors of `item` and scrolls to it.
    fn reveal(&mut self, item: Item) {
        self.tree.reveal(item);
        self.cursor = Some(item);
        self.scroll_to = Some(item);
    }

    /// Draws the row above the tree: filter, all nodes, locks.
    fn head_ui(&mut self, ui: &mut Ui, editor: &mut Editor) {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 4.0;
            let buttons = 3.0 * (theme::ROW + 4.0);
            let field = TextEdit::singleline(&mut self.filter)
                .hint_text("Filter bones")
                .desired_width((ui.available_width() - buttons).max(40.0));
            let response = ui.add(field);
            response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Filter bones"));
            if response.lost_focus() && ui.input(|i| i.key_pressed(Key::Escape)) {
                self.filter.clear();
            }
            let response = if self.filter.is_empty() {
                response.on_hover_text("Show only rows whose name contains this text.")
            } else {
                response.on_hover_text(format!(
                    "{} found. Esc shows all rows.",
                    crate::finding::counted(self.tree.n_matches(), "row")
                ))
            };
            drop(response);
            let n_nodes = editor.document().skeleton().n_live();
            let all = tool_ui(
                ui,
                icons::ICON_ACCOUNT_TREE,
                "All nodes",
                "Also list nodes that are not joints of a skin.",
                Some(self.all_nodes),
                n_nodes > self.tree.n_bones(),
            );
            if all {
                self.all_nodes = !self.all_nodes;
            }
            let session = editor.document().session();
            let (selected, active) = (session.selected_joints.clone(), session.active_joint);
            let kept: BTreeSet<JointId> = selected.into_iter().chain(active).collect();
            let n_locked = editor.document().locked().len();
            if tool_ui(
                ui,
                icons::ICON_LOCK,
                "Lock all others",
                "Lock the weights of all bones except the selected ones. Alt+click a lock to do this for one bone.",
                None,
                !kept.is_empty(),
            ) {
                editor.lock_others(&kept);
            }
            if tool_ui(
                ui,
                icons::ICON_LOCK_OPEN_RIGHT,
                "Unlock all",
                "Unlock the weights of all bones.",
                None,
                n_locked > 0,
            ) {
                editor.unlock_all();
            }
        });
    }

    /// Draws the visible rows.
    fn rows_ui(&mut self, ui: &mut Ui, editor: &Editor) -> Vec<Action> {
        let mut actions = Vec::new();
        let id = ui.scope_id().with("bones");
        let n_rows = self.tree.visible().len();
        if self.tree.n_bones() == 0 && n_rows == 0 {
            return actions;
        }
        let focus = ui.interact(
            ui.available_rect_before_wrap(),
            id,
            Sense::focusable_noninteractive(),
        );
        focus.widget_info(|| WidgetInfo::labeled(Role::Tree, true, "Bones"));
        let has_focus = focus.has_focus();
        if has_focus {
            keymap::give_keys_to_list(ui.ctx(), id);
            if self.rename.is_none() {
                actions.extend(keys::pressed(self, ui, editor));
            }
        }
        let height = n_rows as f32 * theme::ROW;
        let room = if self.tree.n_bones() == 0 {
            height.min(ui.available_height())
        } else {
            ui.available_height()
        };
        ScrollArea::vertical()
            .id_salt("bones")
            .auto_shrink([false, false])
            .max_height(room)
            .show_viewport(ui, |ui, viewport| {
                ui.set_height(height);
                ui.set_width(ui.available_width());
                let (left, top) = (ui.min_rect().left(), ui.min_rect().top());
                let width = ui.available_width();
                let rect_of = |place: usize| {
                    let y = top + place as f32 * theme::ROW;
                    Rect::from_min_size(egui::pos2(left, y), Vec2::new(width, theme::ROW))
                };
                let first = ((viewport.min.y / theme::ROW).floor().max(0.0) as usize).min(n_rows);
                let last = ((viewport.max.y / theme::ROW).ceil().max(0.0) as usize).min(n_rows);
                for place in first..last {
                    let visible = self.tree.visible()[place];
                    row::row_ui(
                        self,
                        ui,
                        editor,
                        visible,
                        rect_of(place),
                        has_focus,
                        &mut actions,
                    );
                }
                if let Some(place) = self.scroll_to.take().and_then(|item| self.tree.place(item)) {
                    let rect = rect_of(place);
                    let shown = viewport.translate(egui::vec2(left, top));
                    if rect.top() < shown.top() || rect.bottom() > shown.bottom() {
                        let align = if has_focus { None } else { Some(Align::Center) };
                        ui.scroll_to_rect(rect, align);
                    }
                }
            });
        if actions
            .iter()
            .any(|action| matches!(action, Action::Select(..)))
        {
            ui.memory_mut(|memory| memory.request_focus(id));
        }
        actions
    }

    fn perform(&mut self, action: Action, editor: &mut Editor, ctx: &egui::Context) {
        match action {
            Action::Select(item, modifiers) => self.select(item, modifiers, editor),
            Action::Fold(item, fold) => self.tree.collapse(item, fold),
            Action::Rename(joint) => self.start_rename(joint, editor),
            Action::EndRename(left) => {
                if let (Some(rename), RenameEnd::Named(name)) = (self.rename.take(), left) {
                    editor.rename_joint(rename.joint, &name);
                }
                ctx.request_repaint();
            }
            Action::Frame(Item::Joint(joint)) => {
                if !editor.document().session().selected_joints.contains(&joint) {
                    self.select(Item::Joint(joint), Modifiers::NONE, editor);
                }
                editor.frame_selected();
            }
            Action::Frame(Item::Object(id)) => editor.frame_instance(id),
            Action::Lock(joint, lock) => editor.lock_joints(&target_joints(editor, joint), lock),
            Action::LockOthers(joint) => editor.lock_others(&target_joints(editor, joint)),
            Action::HideJoint(joint, hide) => {
                editor.set_joints_hidden(&target_joints(editor, joint), hide);
            }
            Action::HideObject(id, hide) => editor.set_instance_hidden(id, hide),
            Action::Isolate(joint) => {
                if editor.is_isolated() {
                    editor.toggle_isolate();
                }
                editor.set_select_kind(SelectKind::Bones);
                editor.select_joints(editor.with_children(joint), Some(joint));
                self.shown = Some(joint);
                editor.toggle_isolate();
            }
            Action::SelectChildren(joint) => {
                editor.select_joints(editor.with_children(joint), Some(joint));
                self.shown = Some(joint);
            }
            // It is run by the app.
            Action::Run(..) => {}
            Action::Colour(joint, colour) => editor.set_joint_colour(joint, colour),
        }
    }

    /// Selects the row of a press: alone it replaces the selection, Shift extends to the row, Ctrl toggles the row.
    fn select(&mut self, item: Item, modifiers: Modifiers, editor: &mut Editor) {
        self.cursor = Some(item);
        let joint = match item {
            Item::Object(id) => {
                editor.set_active_mesh(id);
                self.anchor = Some(item);
                return;
            }
            Item::Joint(joint) => joint,
        };
        let mut selected = editor.document().session().selected_joints.clone();
        let from = self.anchor.and_then(|anchor| self.tree.place(anchor));
        let to = self.tree.place(item);
        let mut active = Some(joint);
        match (from, to) {
            (Some(from), Some(to)) if modifiers.shift => {
                if !modifiers.command {
                    selected.clear();
                }
                selected.extend(self.tree.range(from, to));
            }
            _ if modifiers.command => {
                self.anchor = Some(item);
                if !selected.remove(&joint) {
                    selected.insert(joint);
                } else if editor.document().session().active_joint == active {
                    active = selected.first().copied();
                } else {
                    active = editor.document().session().active_joint;
                }
            }
            _ => {
                self.anchor = Some(item);
                selected = [joint].into();
            }
        }
        self.shown = active;
        self.scroll_to = Some(item);
        editor.select_joints(selected, active);
    }
}

/// The bones that an action on `joint` affects: the whole selection if `joint` is part of it.
fn target_joints(editor: &Editor, joint: JointId) -> BTreeSet<JointId> {
    let selected = &editor.document().session().selected_joints;
    if selected.contains(&joint) {
        selected.clone()
    } else {
        [joint].into()
    }
}

/// A small icon button; `on` is the state of a toggle.
fn tool_ui(
    ui: &mut Ui,
    icon: egui_material_icons::MaterialIcon,
    label: &str,
    about: &str,
    on: Option<bool>,
    enabled: bool,
) -> bool {
    let button = egui::Button::new(icon.rich_text().size(16.0))
        .selected(on == Some(true))
        .min_size(Vec2::splat(theme::ROW));
    let response = ui
        .scope(|ui| {
            ui.spacing_mut().button_padding = Vec2::splat(3.0);
            ui.add_enabled(enabled, button)
        })
        .inner;
    response.widget_info(|| match on {
        Some(on) => WidgetInfo::selected(Role::CheckBox, enabled, on, label),
        None => WidgetInfo::labeled(Role::Button, enabled, label),
    });
    let response = response.on_hover_text(format!("{label}\n{about}"));
    response.on_disabled_hover_text(about).clicked()
}

/// Draws what a model without bones offers.
fn no_bones_ui(ui: &mut Ui, editor: &Editor, commands: &mut Vec<Command>) {
    if editor.document().meshes().is_empty() {
        return empty_ui(ui, "This file has no bones.", commands);
    }
    ui.add_space(8.0);
    ui.label("This model has no bones.");
    ui.label(
        RichText::new(
            "Draw joints, or add a skeleton and move its bones into place. Then bind the mesh (Bones › Bind):",
        )
        .color(theme::palette(ui).text_dim),
    );
    ui.add_space(4.0);
    ui.horizontal_wrapped(|ui| {
        let command = Command::DrawJoints;
        let tooltip = command.tooltip(ui.ctx());
        if ui.button(command.label()).on_hover_text(tooltip).clicked() {
            commands.push(command);
        }
        for template in Template::ALL {
            let command = Command::EditRig(RigKind::Template(template));
            let tooltip = command.tooltip(ui.ctx());
            if ui.button(template.label()).on_hover_text(tooltip).clicked() {
                commands.push(command);
            }
        }
    });
}

/// Draws the empty state and its commands.
fn empty_ui(ui: &mut Ui, what: &str, commands: &mut Vec<Command>) {
    ui.add_space(8.0);
    ui.label(what);
    ui.label(
        RichText::new("Weights, poses and clips need bones. Open a rigged model or a sample:")
            .color(theme::palette(ui).text_dim),
    );
    ui.add_space(4.0);
    ui.horizontal_wrapped(|ui| {
        let samples = ["mannequin", "arm", "hand", "leg"];
        for command in std::iter::once(Command::Open).chain(samples.map(Command::Sample)) {
            let tooltip = command.tooltip(ui.ctx());
            if ui.button(command.label()).on_hover_text(tooltip).clicked() {
                commands.push(command);
            }
        }
    });
}
