//! The window content: bars at the edges, docked panels, notifications and dialogs.

use super::SinewApp;
use super::dialogs::export::ExportPage;
use crate::editor::OpenRequest;
use crate::view::chord::take_escape;
use crate::view::commands::Command;
use crate::view::frame::{PanelKind, Workspace};
use crate::view::keymap;
use crate::view::layout::PanelHost;
use crate::view::panels::{self, Status, TOOL_BAR_WIDTH};
use crate::view::theme;
use eframe::egui;
use egui::{CentralPanel, Frame, Margin, Panel, ScrollArea, Ui};

impl SinewApp {
    /// Draws the whole window.
    pub(super) fn shell_ui(&mut self, ui: &mut Ui) {
        let ctx = ui.ctx().clone();
        let is_modal = self.is_modal();
        if self.is_welcome_only() {
            // The welcome closes when another file opens.
            let pressed = keymap::of(&ctx).pressed(&ctx, self.viewport.mode);
            let gives_way = |c: &Command| {
                matches!(
                    c,
                    Command::Open
                        | Command::Quit
                        | Command::FindCommand
                        | Command::Preferences
                        | Command::ShowKeys
                )
            };
            if let Some(command) = pressed.into_iter().find(gives_way) {
                self.welcome = None;
                self.run_command(command, &ctx);
            }
        }
        // A running transform takes the keys itself: X is an axis then.
        if !is_modal && self.editor.transforming().is_none() {
            let is_painting = self.editor.is_painting();
            if !is_painting && self.timeline.is_over_keys() && keymap::takes_delete(&ctx) {
                self.timeline.delete_keys(&mut self.editor);
            }
            // A running stroke is one undo step: only few commands may interrupt it.
            let pressed = keymap::of(&ctx)
                .pressed(&ctx, self.viewport.mode)
                .into_iter();
            // Run them now: a command that starts here takes the following keys.
            for command in pressed.filter(|c| !is_painting || c.may_end_a_stroke()) {
                if let Some(command) = self.meant_by_key(command, &ctx) {
                    self.run_command(command, &ctx);
                }
            }
        }
        let map = keymap::of(&ctx);
        self.viewport
            .hold_before(!is_modal && map.is_held(&ctx, Command::ShowBefore));
        self.bars_ui(ui);
        self.export_ui(ui);
        let ground = theme::palette(ui).panel;
        CentralPanel::no_frame()
            .frame(Frame::new().fill(ground))
            .show(ui, |ui| self.dock_ui(ui));
        if !is_modal && self.dock.maximised().is_some() && !ctx.text_edit_focused() {
            // After the panels, so that a drag or a field uses Esc first.
            if !self.editor.is_painting() && ctx.input_mut(take_escape) {
                self.dock.restore();
                ctx.request_repaint();
            }
        }
        if !is_modal && self.export.is_open() {
            let has_window = self.weight_range.is_some();
            if self.export.keys(&ctx, &mut self.editor, has_window) {
                self.close_export();
                ctx.request_repaint();
            }
        }
        self.note_layout();
        if !self
            .dock
            .shown()
            .iter()
            .any(|(p, _)| *p == PanelKind::Viewport)
        {
            // A hidden viewport has no hover state.
            self.viewport.pointer_commands.clear();
        }
        let view = self.dock.shown().iter();
        let view = view.rev().find(|(panel, _)| *panel == PanelKind::Viewport);
        let over = view.map_or_else(|| ctx.content_rect(), |(_, rect)| *rect);
        if !is_modal {
            panels::operation_ui(&ctx, over, &mut self.editor);
        }
        if let Some(target) = self.toasts.show(&ctx, over) {
            self.editor.go_to_place(&target);
        }
        self.dialogs_ui(&ctx);
        let chosen = self.overlay_ui(&ctx);
        self.commands.extend(chosen);
        self.note_keys(&ctx);
        for command in std::mem::take(&mut self.commands) {
            self.run_command(command, &ctx);
        }
    }

    /// Draws the menu bar with the workspaces, and the status bar.
    fn bars_ui(&mut self, ui: &mut Ui) {
        let fill = theme::palette(ui).panel;
        let bar = Frame::new()
            .fill(fill)
            .inner_margin(Margin::symmetric(theme::PADDING, 4));
        let menus = Panel::top("menu").frame(bar).show(ui, |ui| {
            let is_on = |command| self.is_on(command);
            let workspace = self.settings.settings.workspace;
            let recents = self.recents();
            panels::menu_bar_ui(ui, &self.editor, workspace, &recents, &is_on)
        });
        let menus = menus.inner;
        if let Some(path) = menus.recent {
            self.open(OpenRequest::Path(path));
        }
        let status = Status {
            mode: self.viewport.mode,
            memory: self.memory.bytes(),
            saved: self.saved_text(ui.ctx()),
            painted: self.viewport.value_under_pointer(),
            n_boxed: self.viewport.n_boxed(),
        };
        Panel::bottom("status")
            .frame(bar.inner_margin(Margin::symmetric(theme::PADDING, 2)))
            .show(ui, |ui| {
                panels::status_bar_ui(ui, &mut self.editor, &status);
            });
        self.commands.extend(menus.commands);
    }

    /// Draws the Export page at the right of the panels.
    fn export_ui(&mut self, ui: &mut Ui) {
        if !self.export.is_open() {
            return;
        }
        let frame = Frame::new()
            .fill(theme::palette(ui).panel)
            .inner_margin(Margin::same(theme::PADDING));
        let is_coloured = self.is_difference_coloured();
        let commands = Panel::right("export")
            .frame(frame)
            .exact_size(ExportPage::width(ui.ctx()))
            .resizable(false)
            .show(ui, |ui| {
                self.export.show_ui(ui, &mut self.editor, is_coloured)
            });
        let commands = commands.inner;
        if let Some(colour) = commands.difference {
            self.colour_difference(colour);
        } else if self.editor.exporting().beside().is_none() {
            // Without a computed file there is no difference.
            self.colour_difference(false);
        }
        if commands.closes {
            self.close_export();
            ui.ctx().request_repaint();
        }
    }

    /// Draws the panels; the app hosts them while the dock is taken out.
    fn dock_ui(&mut self, ui: &mut Ui) {
        self.timeline.forget_pointer();
        let mut dock = std::mem::take(&mut self.dock);
        dock.show_ui(ui, self);
        self.dock = dock;
    }

    /// Draws the viewport with toolbar and header.
    fn viewport_ui(&mut self, ui: &mut Ui) {
        let bar = Frame::new()
            .fill(theme::palette(ui).panel)
            .inner_margin(Margin::symmetric(theme::PADDING, 2));
        let mut commands = Vec::new();
        if self.settings.settings.show_tool_bar {
            Panel::left("tools")
                .frame(
                    Frame::new()
                        .fill(theme::palette(ui).panel)
                        .inner_margin(Margin::symmetric(6, 6)),
                )
                .exact_size(TOOL_BAR_WIDTH)
                .resizable(false)
                .show(ui, |ui| {
                    let is_on = |command| self.is_on(command);
                    let mode = self.viewport.mode;
                    commands.extend(panels::tool_bar_ui(ui, mode, &self.editor, &is_on));
                });
            // The toolbar chooses the gizmo; only keys start a transform at once.
            commands.retain(|&command| !self.choose_gizmo(command));
        }
        Panel::top("header").frame(bar).show(ui, |ui| {
            let is_on = |command| self.is_on(command);
            commands.extend(panels::header_ui(ui, &self.editor, &self.viewport, &is_on));
        });
        self.commands.extend(commands);
        let workspace = self.settings.settings.workspace;
        self.viewport.set_compares(workspace == Workspace::Compare);
        CentralPanel::no_frame().show(ui, |ui| self.viewport.show_ui(ui, &mut self.editor));
        self.commands.append(&mut self.viewport.chosen);
    }
}

impl PanelHost for SinewApp {
    fn panel_ui(&mut self, ui: &mut Ui, panel: PanelKind) {
        let mode = self.viewport.mode;
        match panel {
            PanelKind::Viewport => self.viewport_ui(ui),
            PanelKind::Hierarchy => {
                let commands = self.hierarchy.show_ui(ui, &mut self.editor);
                self.commands.extend(commands);
            }
            PanelKind::Properties => {
                let properties = ScrollArea::vertical()
                    .id_salt(("properties", mode))
                    .show(ui, |ui| panels::properties_ui(ui, &mut self.editor, mode));
                self.commands.extend(properties.inner);
            }
            PanelKind::Timeline => {
                let commands = self.timeline.show_ui(ui, &mut self.editor);
                self.commands.extend(commands);
            }
            PanelKind::Problems => panels::problems_ui(ui, &mut self.editor),
            PanelKind::History => panels::history_ui(ui, &mut self.editor),
            PanelKind::Volume => self.volume.show_ui(ui, &mut self.editor),
            PanelKind::Influences => self.influences.show_ui(ui, &mut self.editor),
            PanelKind::Correctives => {
                let commands = self.correctives.show_ui(ui, &mut self.editor);
                self.commands.extend(commands);
            }
            PanelKind::Clusters => {
                let commands = self.clusters.show_ui(ui, &mut self.editor);
                self.commands.extend(commands);
            }
            PanelKind::Motion => {
                let commands = self.motion.show_ui(ui, &mut self.editor);
                self.commands.extend(commands);
            }
            PanelKind::Individual => {
                let commands = self.individual.show_ui(ui, &mut self.editor);
                self.commands.extend(commands);
            }
            PanelKind::Poses => {
                let commands = self.poses.show_ui(ui, &mut self.editor);
                self.commands.extend(commands);
            }
            PanelKind::Layers => {
                let commands = self.layers.show_ui(ui, &mut self.editor);
                self.commands.extend(commands);
            }
        }
    }

    fn panel_title(&self, panel: PanelKind) -> String {
        match panel {
            PanelKind::Problems => panels::problems_title(&self.editor),
            _ => panel.label().to_owned(),
        }
    }
}
