//! The docked panels of the open workspace.

use super::arrangement::{Arrangement, Floating, NARROW, Node, WHOLE};
use super::behavior::{DockBehavior, heading_button_ui, heading_buttons_ui, panel_frame_ui};
use super::fit::{TAB_BAR, fit, holds_viewport};
use super::host::{Action, PanelHost};
use crate::view::frame::{PanelKind, Workspace};
use egui::{Frame, Id, Pos2, Rect, RichText, Ui, Vec2};
use egui_material_icons::icons;
use egui_tiles::{Container, Linear, LinearDir, Tile, TileId, Tiles, Tree};

/// The panels of a workspace: their places and their visibility.
pub struct Dock {
    tree: Tree<PanelKind>,
    floating: Vec<Floating>,
    maximised: Option<PanelKind>,
    /// The panels of the last frame and their rectangles, topmost last.
    shown: Vec<(PanelKind, Rect)>,
    /// The workspace whose default layout gives way to another one in a narrow window.
    workspace: Option<Workspace>,
    /// The panels as they were before the window became narrow.
    folded: Option<Node>,
}

impl Default for Dock {
    /// No panels; a placeholder while the app draws the dock.
    fn default() -> Self {
        Self {
            tree: Tree::empty(Id::NULL),
            floating: Vec::new(),
            maximised: None,
            shown: Vec::new(),
            workspace: None,
            folded: None,
        }
    }
}

impl Dock {
    /// A dock with the panels of a workspace. While they are where the default layout has them, they move together in a
    /// narrow window.
    pub fn of_workspace(workspace: Workspace, arrangement: &Arrangement) -> Self {
        Self {
            workspace: Some(workspace),
            ..Self::new(workspace.label(), arrangement)
        }
    }

    /// A dock with the panels of `arrangement`. `name` is unique among the docks of the program.
    pub fn new(name: &str, arrangement: &Arrangement) -> Self {
        let arrangement = arrangement.clone().cleaned();
        let mut tiles = Tiles::default();
        let root = build(&mut tiles, &arrangement.root);
        let mut dock = Self {
            tree: Tree::new(Id::unique(("dock", name)), root, tiles),
            floating: arrangement.floating,
            maximised: None,
            shown: Vec::new(),
            workspace: None,
            folded: None,
        };
        for panel in arrangement.closed {
            dock.set_docked(panel, false);
        }
        for floating in dock.floating.clone() {
            dock.set_docked(floating.panel, false);
        }
        dock
    }

    /// The arrangement to save: that of a wide window.
    pub fn arrangement(&self) -> Arrangement {
        let root = self.root();
        let folded = self
            .folded
            .clone()
            .filter(|_| self.is_as(self.narrow_root()));
        let root = folded.or(root);
        let closed = PanelKind::ALL.into_iter().filter(|p| !self.is_open(*p));
        Arrangement {
            root: root.unwrap_or(Node::Panel(PanelKind::Viewport)),
            closed: closed.collect(),
            floating: self.floating.clone(),
        }
        .cleaned()
    }

    fn root(&self) -> Option<Node> {
        self.tree.root().and_then(|root| read(&self.tree, root))
    }

    fn narrow_root(&self) -> Option<Node> {
        self.workspace.and_then(Arrangement::narrow_root)
    }

    /// Whether the panels are where `other` has them.
    fn is_as(&self, other: Option<Node>) -> bool {
        let places = self.root().map(|root| root.places());
        places.is_some() && places == other.map(|other| other.places())
    }

    /// Moves panels of the default layout together in a narrow window, and back in a wide one. What the user has docked
    /// elsewhere stays there.
    fn adapt(&mut self, width: f32) {
        let (Some(workspace), Some(narrow)) = (self.workspace, self.narrow_root()) else {
            return;
        };
        if width < NARROW && self.folded.is_none() {
            let default = Arrangement::of_workspace(workspace).root;
            if self.is_as(Some(default)) {
                let root = self.root();
                self.rebuild(&narrow);
                self.folded = root;
            }
        } else if width >= NARROW
            && let Some(wide) = self.folded.take()
            && self.is_as(Some(narrow))
        {
            self.rebuild(&wide);
        }
    }

    /// Puts the panels where `root` has them; closed and floating ones stay closed and floating.
    fn rebuild(&mut self, root: &Node) {
        let gone: Vec<PanelKind> = PanelKind::ALL
            .into_iter()
            .filter(|p| !self.is_docked(*p))
            .collect();
        let mut tiles = Tiles::default();
        let root = build(&mut tiles, root);
        self.tree = Tree::new(self.tree.id(), root, tiles);
        for panel in gone {
            self.set_docked(panel, false);
        }
    }

    /// Whether a panel is docked or floating, possibly behind another tab.
    pub fn is_open(&self, panel: PanelKind) -> bool {
        self.is_docked(panel) || self.is_floating(panel)
    }

    /// Whether a panel floats.
    pub fn is_floating(&self, panel: PanelKind) -> bool {
        self.floating.iter().any(|f| f.panel == panel)
    }

    /// The maximised panel.
    pub fn maximised(&self) -> Option<PanelKind> {
        self.maximised
    }

    /// The panels of the last frame and their rectangles.
    pub fn shown(&self) -> &[(PanelKind, Rect)] {
        &self.shown
    }

    /// Opens a panel, or brings its tab to the front.
    pub fn open(&mut self, panel: PanelKind) {
        if self.maximised.is_some_and(|m| m != panel) {
            self.maximised = None;
        }
        if !self.is_floating(panel) {
            self.set_docked(panel, true);
            self.tree.make_active(|_, tile| *tile == Tile::Pane(panel));
        }
    }

    /// Closes a panel; the viewport stays open.
    pub fn close(&mut self, panel: PanelKind) {
        if panel == PanelKind::Viewport {
            return;
        }
        self.floating.retain(|f| f.panel != panel);
        self.set_docked(panel, false);
        if self.maximised == Some(panel) {
            self.maximised = None;
        }
    }

    /// Opens a closed panel, closes an open one.
    pub fn toggle(&mut self, panel: PanelKind) {
        if self.is_open(panel) {
            self.close(panel);
        } else {
            self.open(panel);
        }
    }

    /// Makes a panel float near its place; the viewport stays docked.
    pub fn float(&mut self, panel: PanelKind) {
        if panel == PanelKind::Viewport || self.is_floating(panel) {
            return;
        }
        let place = self.shown.iter().find(|(shown, _)| *shown == panel);
        let rect = place.map_or(
            Rect::from_min_size(Pos2::new(160.0, 120.0), Vec2::new(320.0, 320.0)),
            |(_, rect)| {
                // Never exactly over another floating panel.
                let step = 28.0 * self.floating.len() as f32;
                rect.translate(Vec2::new(-48.0 - step, step - 48.0))
            },
        );
        let size = rect
            .size()
            .clamp(Vec2::new(240.0, 160.0), Vec2::new(640.0, 480.0));
        self.set_docked(panel, false);
        self.maximised = None;
        self.floating.push(Floating {
            panel,
            at: [rect.min.x.max(8.0), rect.min.y.max(40.0)],
            size: size.into(),
        });
    }

    /// Docks a floating panel in its former place.
    pub fn dock(&mut self, panel: PanelKind) {
        self.floating.retain(|f| f.panel != panel);
        self.open(panel);
    }

    /// Maximises the panel under `pointer` (the viewport if there is none), or restores all panels.
    pub fn toggle_maximised(&mut self, pointer: Option<Pos2>) {
        self.maximised = match self.maximised {
            Some(_) => None,
            None => {
                let under = |at: Pos2| self.shown.iter().rev().find(|(_, r)| r.contains(at));
                let found = pointer.and_then(under).map(|(panel, _)| *panel);
                Some(found.unwrap_or(PanelKind::Viewport))
            }
        };
    }

    /// Restores all panels; returns whether one was maximised.
    pub fn restore(&mut self) -> bool {
        self.maximised.take().is_some()
    }

    /// Draws the panels over all remaining space of `ui`.
    pub fn show_ui(&mut self, ui: &mut Ui, host: &mut dyn PanelHost) {
        self.shown.clear();
        let mut actions = Vec::new();
        if let Some(panel) = self.maximised {
            self.shown.push((panel, ui.available_rect_before_wrap()));
            actions.extend(maximised_ui(ui, host, panel));
        } else {
            let rect = ui.available_rect_before_wrap();
            self.adapt(rect.width());
            fit(&mut self.tree, rect.size());
            let mut behavior = DockBehavior {
                host,
                actions: Vec::new(),
                without_bar: place_without_bar(&self.tree),
            };
            self.tree.ui(&mut behavior, ui);
            actions.append(&mut behavior.actions);
            self.note_places();
            for i in 0..self.floating.len() {
                let (rect, action) = floating_ui(ui, host, self.tree.id(), self.floating[i]);
                self.shown.push((self.floating[i].panel, rect));
                self.floating[i].at = rect.min.into();
                self.floating[i].size = rect.size().into();
                actions.extend(action);
            }
        }
        if !actions.is_empty() {
            ui.ctx().request_repaint();
        }
        for action in actions {
            match action {
                Action::Close(panel) => self.close(panel),
                Action::Float(panel) => self.float(panel),
                Action::Dock(panel) => self.dock(panel),
                Action::Maximise(panel) => {
                    self.maximised = match self.maximised {
                        Some(_) => None,
                        None => Some(panel),
                    };
                }
            }
        }
    }

    /// Stores the rectangles of the docked panels with their headings.
    fn note_places(&mut self) {
        for id in self.tree.active_tiles() {
            if let Some(Tile::Pane(panel)) = self.tree.tiles.get(id) {
                let place = self.tree.tiles.parent_of(id).unwrap_or(id);
                if let Some(rect) = self.tree.tiles.rect(place) {
                    self.shown.push((*panel, rect));
                }
            }
        }
    }

    fn is_docked(&self, panel: PanelKind) -> bool {
        let tile = self.tree.tiles.find_pane(&panel);
        tile.is_some_and(|tile| self.tree.is_visible(tile))
    }

    fn set_docked(&mut self, panel: PanelKind, docked: bool) {
        if let Some(tile) = self.tree.tiles.find_pane(&panel) {
            self.tree.set_visible(tile, docked);
        }
    }
}

fn maximised_ui(ui: &mut Ui, host: &mut dyn PanelHost, panel: PanelKind) -> Option<Action> {
    let rect = ui.available_rect_before_wrap();
    let mut action = None;
    let mut below = rect;
    if panel != PanelKind::Viewport {
        let (heading, rest) = rect.split_top_bottom_at_y(rect.top() + TAB_BAR);
        below = rest;
        let mut bar = ui.new_child(egui::UiBuilder::new().max_rect(heading));
        action = heading_ui(&mut bar, &host.panel_title(panel), |ui| {
            heading_buttons_ui(ui, panel, true)
        });
    }
    let mut inner = ui.new_child(
        egui::UiBuilder::new()
            .id_salt(("maximised", panel))
            .max_rect(below),
    );
    panel_frame_ui(&mut inner, host, panel);
    ui.advance_cursor_after_rect(rect);
    action
}

/// A heading with a title at the left and buttons at the right.
fn heading_ui<R>(ui: &mut Ui, title: &str, buttons: impl FnOnce(&mut Ui) -> R) -> R {
    let rect = ui.max_rect();
    ui.painter()
        .rect_filled(rect, 0.0, ui.visuals().faint_bg_color);
    let layout = egui::Layout::right_to_left(egui::Align::Center);
    ui.with_layout(layout, |ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        ui.spacing_mut().button_padding = Vec2::splat(2.0);
        ui.add_space(4.0);
        let result = buttons(ui);
        let left = egui::Layout::left_to_right(egui::Align::Center);
        ui.with_layout(left, |ui| {
            ui.add_space(8.0);
            let label = egui::Label::new(RichText::new(title).strong());
            ui.add(label.truncate().selectable(false));
        });
        result
    })
    .inner
}

fn floating_ui(
    ui: &mut Ui,
    host: &mut dyn PanelHost,
    dock: Id,
    floating: Floating,
) -> (Rect, Option<Action>) {
    let panel = floating.panel;
    let frame = Frame::window(ui.style()).inner_margin(0.0);
    let mut action = None;
    let start = Rect::from_min_size(floating.at.into(), floating.size.into());
    let shown = egui::Window::new(panel.label())
        .id(Id::unique(("floating", dock, panel)))
        .title_bar(false)
        .frame(frame)
        .drag_area(egui::WindowDrag::Anywhere)
        .default_rect(start)
        .min_size([200.0, 120.0])
        .resizable(true)
        .collapsible(false)
        .constrain_to(ui.ctx().content_rect())
        .show(ui.ctx(), |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            let rect = ui.available_rect_before_wrap();
            let (bar, below) = rect.split_top_bottom_at_y(rect.top() + TAB_BAR);
            let mut heading = ui.new_child(egui::UiBuilder::new().max_rect(bar));
            action = heading_ui(&mut heading, &host.panel_title(panel), |ui| {
                floating_buttons_ui(ui, panel)
            });
            let mut inner = ui.new_child(egui::UiBuilder::new().max_rect(below));
            inner.spacing_mut().item_spacing.y = 4.0;
            panel_frame_ui(&mut inner, host, panel);
            ui.advance_cursor_after_rect(rect);
        });
    (shown.map_or(start, |s| s.response.rect), action)
}

/// Draws the buttons of a floating panel, from the right.
fn floating_buttons_ui(ui: &mut Ui, panel: PanelKind) -> Option<Action> {
    let mut action = None;
    let name = panel.label();
    let about = "Close this panel. The Window menu opens it again.";
    if heading_button_ui(ui, icons::ICON_CLOSE, &format!("Close {name}"), about) {
        action = Some(Action::Close(panel));
    }
    let maximise = heading_buttons_ui_maximise(ui, panel);
    let about = "Dock this panel again.";
    if heading_button_ui(
        ui,
        icons::ICON_PICTURE_IN_PICTURE,
        &format!("Dock {name}"),
        about,
    ) {
        action = Some(Action::Dock(panel));
    }
    action.or(maximise)
}

fn heading_buttons_ui_maximise(ui: &mut Ui, panel: PanelKind) -> Option<Action> {
    let about = "Fill the window with this panel  (Ctrl+Space)";
    let label = format!("Maximise {}", panel.label());
    heading_button_ui(ui, icons::ICON_FULLSCREEN, &label, about).then_some(Action::Maximise(panel))
}

/// The tile where the viewport shows alone.
fn place_without_bar(tree: &Tree<PanelKind>) -> Option<TileId> {
    let view = tree.tiles.find_pane(&PanelKind::Viewport)?;
    let place = tree.tiles.parent_of(view)?;
    let Container::Tabs(tabs) = tree.tiles.get_container(place)? else {
        return None;
    };
    let shown = tabs.children.iter();
    let alone = shown
        .filter(|&&child| tree.is_visible_in_layout(child))
        .count()
        == 1;
    alone.then_some(place)
}

fn build(tiles: &mut Tiles<PanelKind>, node: &Node) -> TileId {
    let linear = |tiles: &mut Tiles<PanelKind>, dir, nodes: &[(f32, Node)]| {
        let children: Vec<_> = nodes.iter().map(|(_, n)| build(tiles, n)).collect();
        let mut linear = Linear::new(dir, children.clone());
        for (child, (size, _)) in children.into_iter().zip(nodes) {
            linear.shares.set_share(child, *size);
        }
        tiles.insert_container(linear)
    };
    match node {
        Node::Panel(panel) => {
            let pane = tiles.insert_pane(*panel);
            tiles.insert_tab_tile(vec![pane])
        }
        Node::Tabs(active, nodes) => {
            let children: Vec<_> = nodes
                .iter()
                .map(|node| match node {
                    Node::Panel(panel) => tiles.insert_pane(*panel),
                    other => build(tiles, other),
                })
                .collect();
            let mut tabs = egui_tiles::Tabs::new(children);
            if let Some(child) = tabs.children.get(*active).copied() {
                tabs.set_active(child);
            }
            tiles.insert_container(tabs)
        }
        Node::Row(nodes) => linear(tiles, LinearDir::Horizontal, nodes),
        Node::Column(nodes) => linear(tiles, LinearDir::Vertical, nodes),
    }
}

fn read(tree: &Tree<PanelKind>, id: TileId) -> Option<Node> {
    match tree.tiles.get(id)? {
        Tile::Pane(panel) => Some(Node::Panel(*panel)),
        Tile::Container(Container::Tabs(tabs)) => {
            let nodes: Vec<_> = tabs
                .children
                .iter()
                .filter_map(|&c| read(tree, c))
                .collect();
            let front = tabs.children.iter().position(|c| Some(*c) == tabs.active);
            match <[Node; 1]>::try_from(nodes) {
                Ok([only]) => Some(only),
                Err(nodes) => Some(Node::Tabs(front.unwrap_or(0), nodes)),
            }
        }
        Tile::Container(Container::Linear(linear)) => {
            // Sizes that follow from the window are not saved, so that an untouched layout stays the default.
            let views: Vec<bool> = linear
                .children
                .iter()
                .map(|&c| holds_viewport(tree, c))
                .collect();
            let sum: f32 = linear.children.iter().map(|&c| linear.shares[c]).sum();
            let is_proportional = !views.contains(&true);
            let sized = linear.children.iter().zip(views);
            let sized = sized.filter_map(|(&c, is_view)| {
                let size = match linear.shares[c] {
                    _ if is_view => WHOLE,
                    share if is_proportional => (share * WHOLE / sum).round(),
                    share => share.round(),
                };
                Some((size, read(tree, c)?))
            });
            match linear.dir {
                LinearDir::Horizontal => Some(Node::Row(sized.collect())),
                LinearDir::Vertical => Some(Node::Column(sized.collect())),
            }
        }
        Tile::Container(Container::Grid(grid)) => {
            let nodes = grid.children().filter_map(|&c| read(tree, c));
            Some(Node::Tabs(0, nodes.collect()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::frame::Workspace;

    #[test]
    fn an_arrangement_comes_back_as_it_was() {
        for workspace in Workspace::ALL {
            let mut saved = Arrangement::of_workspace(workspace);
            assert_eq!(Dock::new("a", &saved).arrangement(), saved);
            saved.closed.insert(PanelKind::History);
            saved.floating.push(Floating {
                panel: PanelKind::Problems,
                at: [40.0, 50.0],
                size: [300.0, 200.0],
            });
            assert_eq!(Dock::new("a", &saved).arrangement(), saved);
        }
    }

    #[test]
    fn in_a_narrow_window_the_clusters_are_a_tab_beside_the_properties() {
        let mut saved = Arrangement::of_workspace(Workspace::Clusters);
        saved.closed.insert(PanelKind::History);
        let mut dock = Dock::of_workspace(Workspace::Clusters, &saved);
        dock.adapt(683.0);
        let narrow = Arrangement::narrow_root(Workspace::Clusters);
        assert!(dock.is_as(narrow.clone()) && !dock.is_open(PanelKind::History));
        assert!(dock.is_open(PanelKind::Clusters));
        assert_eq!(
            dock.arrangement(),
            saved,
            "what is saved is of a wide window"
        );
        dock.adapt(1366.0);
        assert_eq!(dock.arrangement(), saved);
        assert!(!dock.is_as(narrow.clone()));
        // What the user has arranged stays.
        let mut other = saved.clone();
        if let Node::Column(parts) = &mut other.root {
            parts.reverse();
        }
        let mut dock = Dock::of_workspace(Workspace::Clusters, &other);
        dock.adapt(683.0);
        assert!(!dock.is_as(narrow));
        assert_eq!(dock.arrangement(), other);
    }

    #[test]
    fn panels_close_float_and_come_back_to_their_place() {
        let saved = Arrangement::of_workspace(Workspace::Rig);
        let mut dock = Dock::new("a", &saved);
        dock.close(PanelKind::Hierarchy);
        assert!(!dock.is_open(PanelKind::Hierarchy));
        dock.float(PanelKind::Properties);
        assert!(dock.is_floating(PanelKind::Properties) && dock.is_open(PanelKind::Properties));
        dock.close(PanelKind::Viewport);
        dock.float(PanelKind::Viewport);
        assert!(dock.is_open(PanelKind::Viewport) && !dock.is_floating(PanelKind::Viewport));
        dock.toggle(PanelKind::Hierarchy);
        dock.dock(PanelKind::Properties);
        assert_eq!(dock.arrangement(), saved);
    }
}
