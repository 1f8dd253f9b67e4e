//! The look of docked panels: a slim row of tabs or a heading above each.

use super::fit::{GAP, TAB_BAR};
use super::host::{Action, PanelHost};
use crate::view::frame::PanelKind;
use egui::{
    Align2, Button, CornerRadius, Frame, Id, Margin, Rect, Response, Role, Sense, TextStyle, Ui,
    Vec2, Visuals, WidgetInfo, WidgetText,
};
use egui_material_icons::{MaterialIcon, icons};
use egui_tiles::{
    Behavior, ResizeState, SimplificationOptions, TabState, Tabs, TileId, Tiles, UiResponse,
};

/// Draws the panel tree for one frame.
pub(super) struct DockBehavior<'a> {
    pub(super) host: &'a mut dyn PanelHost,
    pub(super) actions: Vec<Action>,
    /// The tile without a bar: the viewport alone has its own header.
    pub(super) without_bar: Option<TileId>,
}

/// Draws a panel on its background; padded, except for the viewport.
pub(super) fn panel_frame_ui(ui: &mut Ui, host: &mut dyn PanelHost, panel: PanelKind) {
    let rect = ui.max_rect();
    ui.set_clip_rect(ui.clip_rect().intersect(rect));
    let margin = match panel {
        PanelKind::Viewport => Margin::ZERO,
        _ => Margin::symmetric(8, 4),
    };
    ui.painter().rect_filled(rect, 0.0, ui.visuals().panel_fill);
    Frame::new().inner_margin(margin).show(ui, |ui| {
        ui.set_min_size(ui.available_size());
        host.panel_ui(ui, panel);
    });
}

/// A small button in a panel heading, with label and tooltip.
pub(super) fn heading_button_ui(ui: &mut Ui, icon: MaterialIcon, label: &str, about: &str) -> bool {
    let text = icon
        .rich_text()
        .size(14.0)
        .color(ui.visuals().weak_text_color());
    let response = ui.add(
        Button::new(text)
            .frame_when_inactive(false)
            .min_size(Vec2::splat(20.0))
            .corner_radius(CornerRadius::same(3)),
    );
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, label));
    response.on_hover_text(about).clicked()
}

impl DockBehavior<'_> {
    fn panel_of(tiles: &Tiles<PanelKind>, id: TileId) -> Option<PanelKind> {
        tiles.get_pane(&id).copied()
    }

    fn is_alone(tiles: &Tiles<PanelKind>, id: TileId) -> bool {
        let parent = tiles.parent_of(id).and_then(|p| tiles.get_container(p));
        parent.is_none_or(|p| n_shown(tiles, p) < 2)
    }
}

fn n_shown(tiles: &Tiles<PanelKind>, container: &egui_tiles::Container) -> usize {
    let shown = |id: &&TileId| tiles.is_visible_in_layout(**id);
    container.children().filter(shown).count()
}

impl Behavior<PanelKind> for DockBehavior<'_> {
    fn pane_ui(&mut self, ui: &mut Ui, _tile: TileId, panel: &mut PanelKind) -> UiResponse {
        panel_frame_ui(ui, self.host, *panel);
        UiResponse::None
    }

    fn tab_title_for_pane(&mut self, panel: &PanelKind) -> WidgetText {
        self.host.panel_title(*panel).into()
    }

    fn tab_title_for_tile(&mut self, tiles: &Tiles<PanelKind>, id: TileId) -> WidgetText {
        // A tab with several panels lists their names.
        let mut titles = Vec::new();
        let mut waiting = vec![id];
        while let Some(id) = waiting.pop() {
            match tiles.get(id) {
                Some(egui_tiles::Tile::Pane(panel)) => titles.push(self.host.panel_title(*panel)),
                Some(egui_tiles::Tile::Container(c)) => waiting.extend(c.children().copied()),
                None => {}
            }
        }
        titles.join(", ").into()
    }

    fn tab_ui(
        &mut self,
        tiles: &mut Tiles<PanelKind>,
        ui: &mut Ui,
        id: Id,
        tile: TileId,
        state: &TabState,
    ) -> Response {
        let title = self.tab_title_for_tile(tiles, tile).text().to_owned();
        let font = TextStyle::Button.resolve(ui.style());
        let is_alone = Self::is_alone(tiles, tile);
        let visuals = ui.visuals();
        let colour = if state.active {
            visuals.text_color()
        } else {
            visuals.weak_text_color()
        };
        let galley = ui.painter().layout_no_wrap(title.clone(), font, colour);
        let close = if state.closable { 22.0 } else { 0.0 };
        let size = Vec2::new(galley.size().x + 16.0 + close, ui.available_height());
        let (_, rect) = ui.allocate_space(size);
        // The title drags, the button beside it closes.
        let (title_rect, button) = rect.split_left_right_at_x(rect.right() - close);
        let response = ui
            .interact(title_rect, id, Sense::click_and_drag())
            .on_hover_cursor(egui::CursorIcon::Grab)
            .on_hover_text("Drag to dock the panel elsewhere.");
        response.widget_info(|| WidgetInfo::selected(Role::Tab, true, state.active, &title));
        if ui.is_rect_visible(rect) && !state.is_being_dragged {
            if state.active && !is_alone {
                // Connected with the panel below.
                let shape = CornerRadius {
                    nw: 4,
                    ne: 4,
                    sw: 0,
                    se: 0,
                };
                ui.painter()
                    .rect_filled(rect, shape, ui.visuals().panel_fill);
            }
            if response.has_focus() {
                let stroke = ui.visuals().selection.stroke;
                ui.painter()
                    .rect_stroke(rect, 3.0, stroke, egui::StrokeKind::Inside);
            }
            let at = Align2::LEFT_CENTER
                .align_size_within_rect(galley.size(), rect.shrink2(Vec2::new(8.0, 0.0)));
            ui.painter().galley(at.min, galley, colour);
        }
        if state.closable {
            let button = Rect::from_center_size(button.center(), Vec2::splat(18.0));
            self.close_ui(ui, button, id, tiles, tile, &title);
        }
        if response.middle_clicked() {
            self.close(tiles, tile);
        }
        response
    }

    fn is_tab_closable(&self, tiles: &Tiles<PanelKind>, id: TileId) -> bool {
        Self::panel_of(tiles, id).is_some_and(|panel| panel != PanelKind::Viewport)
    }

    fn top_bar_right_ui(
        &mut self,
        tiles: &Tiles<PanelKind>,
        ui: &mut Ui,
        _tile: TileId,
        tabs: &Tabs,
        _scroll: &mut f32,
    ) {
        let Some(panel) = tabs.active.and_then(|id| Self::panel_of(tiles, id)) else {
            return;
        };
        ui.spacing_mut().item_spacing.x = 0.0;
        ui.spacing_mut().button_padding = Vec2::splat(2.0);
        ui.add_space(4.0);
        self.actions.extend(heading_buttons_ui(ui, panel, false));
    }

    fn is_tab_bar_visible(&self, tile: TileId, _tabs: &Tabs) -> bool {
        self.without_bar != Some(tile)
    }

    fn tab_bar_height(&self, _style: &egui::Style) -> f32 {
        TAB_BAR
    }

    fn gap_width(&self, _style: &egui::Style) -> f32 {
        GAP
    }

    fn min_size(&self) -> f32 {
        56.0
    }

    fn tab_bar_color(&self, visuals: &Visuals) -> egui::Color32 {
        visuals.faint_bg_color
    }

    fn resize_stroke(&self, style: &egui::Style, state: ResizeState) -> egui::Stroke {
        let colour = match state {
            ResizeState::Idle => style.visuals.widgets.noninteractive.bg_stroke.color,
            ResizeState::Hovering => style.visuals.weak_text_color(),
            ResizeState::Dragging => style.visuals.text_color(),
        };
        egui::Stroke::new(GAP, colour)
    }

    fn simplification_options(&self) -> SimplificationOptions {
        SimplificationOptions {
            all_panes_must_have_tabs: true,
            flatten_tabs_in_tabs: true,
            ..SimplificationOptions::default()
        }
    }

    /// Ctrl+Tab is the mode pie menu.
    fn cycle_tabs_with_keyboard(&self) -> bool {
        false
    }
}

impl DockBehavior<'_> {
    fn close(&mut self, tiles: &Tiles<PanelKind>, tile: TileId) {
        if let Some(panel) = Self::panel_of(tiles, tile).filter(|p| *p != PanelKind::Viewport) {
            self.actions.push(Action::Close(panel));
        }
    }

    fn close_ui(
        &mut self,
        ui: &mut Ui,
        rect: Rect,
        id: Id,
        tiles: &Tiles<PanelKind>,
        tile: TileId,
        title: &str,
    ) {
        let response = ui.interact(rect, id.with("close"), Sense::click());
        let label = format!("Close {title}");
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &label));
        let visuals = ui.visuals();
        let colour = if response.hovered() || response.has_focus() {
            let fill = visuals.widgets.hovered.weak_bg_fill;
            ui.painter().rect_filled(rect, 3.0, fill);
            visuals.text_color()
        } else {
            visuals.weak_text_color()
        };
        let icon = icons::ICON_CLOSE;
        let job = WidgetText::from(icon.rich_text().size(12.0).color(colour));
        let galley = job.into_galley(ui, None, f32::INFINITY, TextStyle::Button);
        let at = Align2::CENTER_CENTER.align_size_within_rect(galley.size(), rect);
        ui.painter().galley(at.min, galley, colour);
        let about = "Close this panel. The Window menu opens it again.";
        if response.on_hover_text(about).clicked() {
            self.close(tiles, tile);
        }
    }
}

/// Draws the buttons at the right end of a panel heading, from the right.
pub(super) fn heading_buttons_ui(
    ui: &mut Ui,
    panel: PanelKind,
    is_maximised: bool,
) -> Option<Action> {
    let mut action = None;
    let name = panel.label();
    let (icon, verb, about) = if is_maximised {
        let about = "Restore the other panels  (Ctrl+Space)";
        (icons::ICON_FULLSCREEN_EXIT, "Restore", about)
    } else {
        let about = "Fill the window with this panel  (Ctrl+Space)";
        (icons::ICON_FULLSCREEN, "Maximise", about)
    };
    if heading_button_ui(ui, icon, &format!("{verb} {name}"), about) {
        action = Some(Action::Maximise(panel));
    }
    if panel != PanelKind::Viewport && !is_maximised {
        let about = "Move this panel into a floating window.";
        if heading_button_ui(ui, icons::ICON_OPEN_IN_NEW, &format!("Float {name}"), about) {
            action = Some(Action::Float(panel));
        }
    }
    action
}
