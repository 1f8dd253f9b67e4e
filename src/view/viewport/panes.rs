//! The panes: their rectangles, their deformer stacks, and which one is active.

use super::{Drag, Viewport};
use crate::deform::{StackChoice, StackPreset};
use crate::document::PaneLayout;
use crate::editor::Editor;
use crate::evaluate::ViewId;
use crate::view::theme;
use egui::emath::GuiRounding as _;
use egui::{Rect, Response, Role, Stroke, Ui, Vec2, WidgetInfo};

/// Maximum number of panes.
pub(super) const MOST: usize = 4;
/// Gap between panes, points.
const GAP: f32 = 2.0;
/// Height of a pane's header, points.
const HEAD: f32 = 28.0;
/// Half the size of the cross that shows the pointer position in other panes, points.
const ECHO: f32 = 5.0;

/// The state of the panes between frames.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // what is going on, each on its own
pub(super) struct Panes {
    /// Whether the Compare workspace is open.
    pub(super) compares: bool,
    /// The active pane: the last one under the pointer.
    pub(super) active: usize,
    /// Whether the keyboard chose it; valid until the pointer moves.
    by_keys: bool,
    /// The views drawn last; each stays until its replacement is ready.
    shown: [ViewId; MOST],
    /// Whether the comparison key is held.
    is_held: bool,
    /// Whether the comparison was turned on in the menu.
    is_latched: bool,
    /// Whether the model is shown under linear blend skinning.
    shows_lbs: bool,
    /// The buffers that the GPU keeps.
    pub(super) kept: u64,
}

/// One pane in this frame.
#[derive(Clone, Debug)]
pub(super) struct Pane {
    /// Its index, from left to right and top to bottom.
    pub(super) index: usize,
    /// The rectangle of the picture.
    pub(super) picture: Rect,
    /// The visible part of the picture: less than all of it on either side of a wipe.
    pub(super) clip: Rect,
    /// The rectangle of the header.
    pub(super) head: Option<Rect>,
    /// The stack it shows unless the comparison is on.
    pub(super) choice: StackChoice,
    /// The view that is drawn.
    pub(super) view: ViewId,
    /// Whether it shows another stack for now: the comparison, or linear blend skinning.
    pub(super) is_before: bool,
}

impl Viewport {
    /// The pane layout of this workspace.
    pub fn layout(&self, editor: &Editor) -> PaneLayout {
        if let Some(layout) = editor.exporting().beside() {
            return layout;
        }
        let compare = editor.compare();
        if self.panes.compares {
            compare.layout
        } else {
            compare.elsewhere
        }
    }

    /// Sets the pane layout of this workspace; ends the comparison with an exported file.
    pub fn set_layout(&mut self, layout: PaneLayout, editor: &mut Editor) {
        editor.show_exported(None);
        let compares = self.panes.compares;
        let compare = editor.compare_mut();
        if compares {
            compare.layout = layout;
        } else {
            compare.elsewhere = layout;
        }
    }

    /// Sets whether the Compare workspace is open, which has its own layout.
    pub fn set_compares(&mut self, compares: bool) {
        self.panes.compares = compares;
    }

    /// Sets whether the comparison key is held.
    pub fn hold_before(&mut self, is_held: bool) {
        self.panes.is_held = is_held;
    }

    /// Toggles the comparison from the menu.
    pub fn toggle_before(&mut self) {
        self.panes.is_latched = !self.panes.is_latched;
    }

    /// Whether the comparison is on.
    pub fn shows_before(&self) -> bool {
        self.panes.is_held != self.panes.is_latched
    }

    /// Shows the model under linear blend skinning, or again under its own stack.
    pub fn toggle_lbs(&mut self) {
        self.panes.shows_lbs = !self.panes.shows_lbs;
    }

    /// Whether the model is shown under linear blend skinning, whatever its stack is.
    pub fn shows_lbs(&self) -> bool {
        self.panes.shows_lbs
    }

    /// The stack that is shown for now instead of a pane's own.
    pub(super) fn instead(&self, editor: &Editor) -> Option<StackChoice> {
        if self.shows_before() {
            Some(editor.compare().before.clone())
        } else {
            self.panes
                .shows_lbs
                .then_some(StackChoice::Preset(StackPreset::Lbs))
        }
    }

    /// The active pane.
    pub fn active_pane(&self) -> usize {
        self.panes.active
    }

    /// Activates the pane that received the keyboard focus.
    pub(super) fn focus_pane(&mut self, pane: usize) {
        if self.drag == Drag::None {
            self.panes.active = pane;
            self.panes.by_keys = true;
        }
    }

    /// The stack of each pane, without the comparison.
    fn choices(&self, editor: &Editor) -> Vec<StackChoice> {
        if editor.exporting().beside().is_some() {
            return vec![StackChoice::Project, StackChoice::Exported];
        }
        let choices = &editor.compare().choices;
        match self.layout(editor) {
            PaneLayout::One if self.panes.compares => {
                vec![choices[self.panes.active.min(MOST - 1)].clone()]
            }
            // A workspace with one pane shows the current stack.
            PaneLayout::One => vec![StackChoice::Project],
            layout => choices[..layout.n_panes()].to_vec(),
        }
    }

    /// The panes of this frame; requests their views.
    pub(super) fn lay_out(&mut self, ui: &Ui, rect: Rect, editor: &mut Editor) -> Vec<Pane> {
        let layout = self.layout(editor);
        let choices = self.choices(editor);
        let has_heads = layout != PaneLayout::One || self.panes.compares;
        let areas = split(layout, rect, ui.pixels_per_point());
        let mut panes: Vec<Pane> = choices
            .into_iter()
            .zip(areas)
            .enumerate()
            .map(|(index, (choice, area))| {
                let (head, picture) = area.split_top_bottom_at_y(area.top() + HEAD);
                let (head, picture) = if has_heads {
                    (Some(head), picture)
                } else {
                    (None, area)
                };
                Pane {
                    index,
                    picture,
                    clip: picture,
                    head,
                    choice,
                    view: ViewId::OWN,
                    is_before: false,
                }
            })
            .collect();
        if layout == PaneLayout::Wipe {
            let line = wipe_line(panes[0].picture, editor.compare().wipe);
            panes[0].clip.set_right(line);
            panes[1].clip.set_left(line);
            for (pane, is_left) in panes.iter_mut().zip([true, false]) {
                pane.head = pane.head.map(|head| {
                    let (left, right) = head.split_left_right_at_fraction(0.5);
                    if is_left { left } else { right }
                });
            }
        }
        self.point_at(ui, layout, &panes, editor);
        // The active pane shows the comparison; in a wipe both sides do.
        let before = self.instead(editor).is_some();
        let active = self.active_in(panes.len());
        for pane in &mut panes {
            pane.is_before = before && (layout == PaneLayout::Wipe || pane.index == active);
        }
        self.ask_for_views(&mut panes, editor);
        panes
    }

    /// The active pane of `n`; 0 if there is only one.
    pub(super) fn active_in(&self, n: usize) -> usize {
        if n == 1 {
            0
        } else {
            self.panes.active.min(n - 1)
        }
    }

    /// Activates the pane under the pointer, except during a drag.
    fn point_at(&mut self, ui: &Ui, layout: PaneLayout, panes: &[Pane], editor: &Editor) {
        if layout == PaneLayout::One {
            return;
        }
        let (at, moved, down, pressed) = ui.input(|i| {
            let pointer = &i.pointer;
            (
                pointer.latest_pos(),
                pointer.delta() != Vec2::ZERO,
                pointer.any_down(),
                pointer.any_pressed(),
            )
        });
        self.panes.by_keys &= !moved && !pressed;
        let Some(at) = at.filter(|_| !self.panes.by_keys) else {
            return;
        };
        if layout == PaneLayout::Wipe {
            // A stroke may cross the line: on either side it paints the visible surface.
            if panes[0].picture.contains(at) {
                self.panes.active = usize::from(at.x >= panes[0].clip.right());
            }
            return;
        }
        let is_busy = self.drag != Drag::None
            || self.adjust.is_some()
            || editor.transforming().is_some()
            || editor.is_painting()
            || (down && !pressed);
        if is_busy {
            return;
        }
        let is_under = |pane: &&Pane| {
            let all = pane.head.map_or(pane.picture, |h| h.union(pane.picture));
            ui.rect_contains_pointer(all)
        };
        if let Some(pane) = panes.iter().find(is_under) {
            self.panes.active = pane.index;
        }
    }

    /// Requests the views of the panes and sets which ones are drawn.
    fn ask_for_views(&mut self, panes: &mut [Pane], editor: &mut Editor) {
        let instead = self.instead(editor);
        let mut wanted: Vec<StackChoice> = panes.iter().map(|p| p.choice.clone()).collect();
        wanted.extend(instead.clone());
        editor.show_views(&wanted);
        for pane in panes {
            let instead = instead.as_ref().filter(|_| pane.is_before);
            let choice = instead.unwrap_or(&pane.choice);
            let last = &mut self.panes.shown[pane.index];
            if let Some(view) = editor.view_of(choice).filter(|v| editor.is_view_shown(*v)) {
                *last = view;
            } else if !editor.is_view_shown(*last) {
                *last = ViewId::OWN;
            }
            pane.view = *last;
        }
    }

    /// Draws the pointer position in the other panes, to compare the same place.
    pub(super) fn echo_pointer(&self, ui: &Ui, panes: &[Pane], editor: &Editor) {
        let active = self.active_in(panes.len());
        let from = panes[active].picture;
        let hovered = ui.input(|i| i.pointer.hover_pos());
        let Some(at) = hovered.filter(|at| from.contains(*at)) else {
            return;
        };
        let palette = theme::palette(ui);
        let share = (at - from.min) / from.size();
        for pane in panes.iter().filter(|pane| pane.index != active) {
            let at = pane.picture.min + share * pane.picture.size();
            let painter = ui.painter().with_clip_rect(pane.picture);
            let line = palette.overlay.gamma_multiply(0.7);
            let lines = [(3.0, palette.overlay_halo), (1.0, line)];
            for (width, colour) in lines {
                let stroke = Stroke::new(width, colour);
                if self.mode.has_brush() && !self.is_selecting(editor) {
                    let radius = Self::brush_radius_px(editor, pane.picture);
                    painter.circle_stroke(at, radius, stroke);
                }
                for along in [Vec2::X, Vec2::Y] {
                    painter.line_segment([at - ECHO * along, at + ECHO * along], stroke);
                }
            }
        }
    }

    /// Sets the accessible name of a picture.
    pub(super) fn name_picture(response: &Response, pane: &Pane, layout: PaneLayout) {
        let name = match layout {
            PaneLayout::One => "Viewport".to_owned(),
            _ => format!("Viewport {}: {}", pane.index + 1, pane.choice.label()),
        };
        response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, &name));
    }

    /// Tells the GPU which views ended, so that it frees their buffers.
    pub(super) fn free_gone_views(&mut self, editor: &Editor) {
        let serial = editor.views_serial();
        if self.panes.kept != serial {
            self.panes.kept = serial;
            let mut gpu = self.lock_gpu();
            gpu.keep_meshes = Some(editor.mesh_keys());
        }
    }
}

/// The horizontal position of the wipe line.
pub(super) fn wipe_line(picture: Rect, wipe: f32) -> f32 {
    picture.left() + (picture.width() * wipe.clamp(0.0, 1.0)).round()
}

/// The rectangles of a layout, from left to right and top to bottom.
fn split(layout: PaneLayout, rect: Rect, pixels_per_point: f32) -> Vec<Rect> {
    let beside = |rect: Rect| {
        let middle = rect.center().x;
        let (left, right) = rect.split_left_right_at_x(middle);
        [
            left.with_max_x(middle - 0.5 * GAP),
            right.with_min_x(middle + 0.5 * GAP),
        ]
    };
    let areas = match layout {
        PaneLayout::One => vec![rect],
        PaneLayout::Wipe => vec![rect; 2],
        PaneLayout::Two => beside(rect).to_vec(),
        PaneLayout::Four => {
            let middle = rect.center().y;
            let (above, below) = rect.split_top_bottom_at_y(middle);
            let above = above.with_max_y(middle - 0.5 * GAP);
            let below = below.with_min_y(middle + 0.5 * GAP);
            [beside(above), beside(below)].concat()
        }
    };
    let whole = |area: Rect| area.round_to_pixels(pixels_per_point);
    areas.into_iter().map(whole).collect()
}

/// The panes that hold the shared overlays.
pub(super) struct Shared {
    /// The view name, at the top left.
    pub(super) label: usize,
    /// The axis gizmo, at the top right.
    pub(super) axes: usize,
    /// The legend, at the bottom left.
    pub(super) legend: usize,
}

impl Shared {
    pub(super) fn of(layout: PaneLayout) -> Self {
        let (axes, legend) = match layout {
            PaneLayout::One | PaneLayout::Wipe => (0, 0),
            PaneLayout::Two => (1, 0),
            PaneLayout::Four => (1, 2),
        };
        Self {
            label: 0,
            axes,
            legend,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::pos2;

    #[test]
    fn panes_fill_the_viewport_and_do_not_overlap() {
        let rect = Rect::from_min_max(pos2(10.0, 20.0), pos2(811.0, 503.0));
        for layout in PaneLayout::ALL {
            let areas = split(layout, rect, 1.5);
            assert_eq!(areas.len(), layout.n_panes());
            let all = areas.iter().fold(Rect::NOTHING, |a, b| a.union(*b));
            assert!(all.expand(1.0).contains_rect(rect), "{layout:?}: {all:?}");
            if layout == PaneLayout::Wipe {
                continue;
            }
            for (i, a) in areas.iter().enumerate() {
                assert!(
                    areas[i + 1..]
                        .iter()
                        .all(|b| !a.intersect(*b).is_positive())
                );
                // Linked cameras show the same in panes of equal shape.
                assert!((a.size() - areas[0].size()).length() < 2.0);
            }
        }
    }
}
