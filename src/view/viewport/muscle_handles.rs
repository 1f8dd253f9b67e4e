//! Handles on the active muscle: its place along the bone, and how far it reaches. A drag is one undo step.

use super::Viewport;
use super::panes::Pane;
use super::pose::{pos, px, screen};
use crate::cluster::procedural::{MuscleSettings, Profile};
use crate::editor::Editor;
use crate::editor::clusters::MuscleSite;
use crate::evaluate::ViewId;
use crate::tools::Screen;
use crate::view::chord::take_escape;
use crate::view::mode::Mode;
use crate::view::theme;
use egui::{
    Align2, Color32, CursorIcon, PointerButton, Pos2, Rect, Role, Sense, Shape, Stroke, TextStyle,
    Ui, Vec2, WidgetInfo,
};
use glam::{DAffine3, DVec3, Vec3};

/// Points of the line of the bulge.
const LINE: usize = 33;
/// Half the side of what grabs a handle, points.
const GRAB: f32 = 9.0;
/// Half the width of a handle, points.
const SIZE: f32 = 5.5;
/// The smallest reach that a drag gives.
const LEAST_REACH: f64 = 0.01;

/// A part of a muscle that can be dragged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Place,
    /// The end of the reach towards the head, or towards the tail of the bone.
    Reach {
        at_tail: bool,
    },
}

impl Part {
    const ALL: [Self; 3] = [
        Self::Reach { at_tail: false },
        Self::Reach { at_tail: true },
        Self::Place,
    ];

    /// The place of the handle, in lengths of the bone.
    fn fraction(self, settings: &MuscleSettings) -> f64 {
        let reach = settings.profile.reach();
        match self {
            Self::Place => settings.centre,
            Self::Reach { at_tail: true } => settings.centre + reach,
            Self::Reach { at_tail: false } => settings.centre - reach,
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Place => "Place of the muscle",
            Self::Reach { at_tail: true } => "Reach of the muscle towards the tail",
            Self::Reach { at_tail: false } => "Reach of the muscle towards the head",
        }
    }

    fn step(self) -> &'static str {
        match self {
            Self::Place => "Place of muscle",
            Self::Reach { .. } => "Reach of muscle",
        }
    }
}

/// A handle being dragged.
#[derive(Clone, Copy, Debug)]
pub(super) struct MuscleDrag {
    part: Part,
    muscle: usize,
    /// The fraction of the bone from the pointer to the handle.
    offset: f64,
}

/// The active muscle in the pose on screen.
struct Shown {
    muscle: usize,
    settings: MuscleSettings,
    site: MuscleSite,
    /// Across the bone, bind space, unit.
    side: DVec3,
    /// Bind space -> world.
    posed: DAffine3,
}

impl Shown {
    fn new(editor: &mut Editor) -> Option<Self> {
        let (muscle, layer) = editor.active_muscle()?;
        let settings = layer.settings.clone();
        let site = editor.muscle_site()?.clone();
        let posed = site.posed(editor.world())?;
        Some(Self {
            muscle,
            side: site.across(settings.side),
            settings,
            site,
            posed,
        })
    }

    /// A place on the surface at a fraction of the bone, raised by a length, metres.
    fn place(&self, fraction: f64, raised: f64) -> Vec3 {
        let out = self.side * (self.site.surface(fraction, self.side) + raised);
        let at = self.site.point(fraction, out);
        self.posed.transform_point3(at).as_vec3()
    }

    /// The fraction of the bone whose place beside it is nearest to the ray of a pixel; `None` where the bone points at
    /// the eye.
    fn fraction_at(&self, at: glam::Vec2, screen: &Screen) -> Option<f64> {
        let beside = self.side * self.site.surface(self.settings.centre, self.side);
        let bone = [0.0, 1.0].map(|f| {
            let at = self.site.point(f, beside);
            self.posed.transform_point3(at)
        });
        screen.fraction_along(at, bone)
    }
}

impl Viewport {
    /// Draws the handles of the active muscle and lets them be dragged, in Cluster mode on the object's own stack.
    pub(super) fn muscle_ui(&mut self, ui: &Ui, pane: &Pane, editor: &mut Editor) {
        if pane.view != ViewId::OWN {
            return;
        }
        let is_shown = self.mode == Mode::Cluster && self.options.show_clusters;
        let shown = is_shown.then(|| Shown::new(editor)).flatten();
        let is_down = ui.input(|i| i.pointer.any_down());
        if self.muscle_drag.is_some_and(|drag| {
            !is_down
                || shown
                    .as_ref()
                    .is_none_or(|shown| shown.muscle != drag.muscle)
        }) {
            // Its release no widget received, or the muscle is gone.
            self.muscle_drag = None;
            editor.end_step();
        }
        let Some(shown) = shown else {
            return;
        };
        let screen = screen(editor, pane.picture);
        line_ui(ui, pane, &shown, &screen, editor);
        for part in Part::ALL {
            self.handle_ui(ui, pane, &shown, &screen, part, editor);
        }
    }

    fn handle_ui(
        &mut self,
        ui: &Ui,
        pane: &Pane,
        shown: &Shown,
        screen: &Screen,
        part: Part,
        editor: &mut Editor,
    ) {
        let fraction = part.fraction(&shown.settings);
        let Some(at) = screen.project(shown.place(fraction, 0.0)) else {
            return;
        };
        let at = pos(at, pane.picture);
        if !pane.clip.contains(at) {
            return;
        }
        let id = ui.scope_id().with(("muscle", part.label()));
        let area = Rect::from_center_size(at, Vec2::splat(2.0 * GRAB));
        let response = ui.interact(area, id, Sense::click_and_drag());
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, part.label()));
        let pointer = response.interact_pointer_pos();
        if response.drag_started_by(PointerButton::Primary)
            && let Some(origin) = ui.input(|i| i.pointer.press_origin())
            && let Some(from) = shown.fraction_at(px(origin, pane.picture), screen)
        {
            editor.begin_step(part.step());
            self.muscle_drag = Some(MuscleDrag {
                part,
                muscle: shown.muscle,
                offset: fraction - from,
            });
        }
        let drag = self.muscle_drag.filter(|drag| drag.part == part);
        if let Some(drag) = drag {
            if ui.input_mut(take_escape) {
                self.muscle_drag = None;
                editor.cancel_step();
                return;
            }
            if let Some(to) = pointer.and_then(|at| shown.fraction_at(px(at, pane.picture), screen))
            {
                drag_to(editor, shown, drag, to + drag.offset);
            }
            if response.drag_stopped() {
                self.muscle_drag = None;
                editor.end_step();
            }
        }
        self.paint_handle(ui, pane, shown, (part, at), &response);
    }

    fn paint_handle(
        &self,
        ui: &Ui,
        pane: &Pane,
        shown: &Shown,
        (part, at): (Part, Pos2),
        response: &egui::Response,
    ) {
        let palette = theme::palette(ui);
        let painter = ui.painter().with_clip_rect(pane.clip);
        let is_dragged = self.muscle_drag.is_some_and(|drag| drag.part == part);
        let is_hot = is_dragged || response.hovered() || response.has_focus();
        let fill = if is_hot {
            palette.accent
        } else {
            palette.overlay
        };
        let rim = Stroke::new(2.0, Color32::from_black_alpha(200));
        if part == Part::Place {
            let r = SIZE + 1.5;
            let corners = [(0.0, -r), (r, 0.0), (0.0, r), (-r, 0.0)];
            let corners = corners.map(|(x, y)| at + Vec2::new(x, y)).to_vec();
            painter.add(Shape::convex_polygon(corners, fill, rim));
        } else {
            painter.circle(at, SIZE - 0.5, fill, rim);
        }
        if is_hot {
            let icon = if is_dragged {
                CursorIcon::Grabbing
            } else {
                CursorIcon::Grab
            };
            ui.ctx().set_cursor_icon(icon);
            let percent = match part {
                Part::Place => 100.0 * shown.settings.centre,
                Part::Reach { .. } => 100.0 * shown.settings.profile.reach(),
            };
            let name = if part == Part::Place {
                "Place"
            } else {
                "Reach"
            };
            let text = format!("{name} {percent:.0} % of the bone");
            let font = TextStyle::Body.resolve(ui.style());
            let galley = painter.layout_no_wrap(text, font, palette.text);
            let place = Align2::LEFT_CENTER.anchor_size(at + Vec2::new(14.0, 0.0), galley.size());
            painter.rect_filled(place.expand(3.0), 3.0, palette.panel.gamma_multiply(0.9));
            painter.galley(place.min, galley, palette.text);
        }
    }
}

/// The bulge along the bone at full strength, over the surface.
fn line_ui(ui: &Ui, pane: &Pane, shown: &Shown, screen: &Screen, editor: &Editor) {
    let Shown { settings, site, .. } = shown;
    let ends = if matches!(settings.profile, Profile::Gaussian { .. }) {
        2.5
    } else {
        1.0
    };
    let reach = ends * settings.profile.reach();
    let at_least = 0.06 * site.radius * settings.amplitude.signum();
    let line = |raised: bool| -> Vec<Pos2> {
        let fractions = (0..LINE).map(|i| {
            let share = i as f64 / (LINE - 1) as f64;
            settings.centre + reach * (2.0 * share - 1.0)
        });
        let points = fractions.filter_map(|fraction| {
            let height = settings.profile.at(fraction - settings.centre);
            let height = height * (settings.amplitude + at_least);
            let world = shown.place(fraction, if raised { height } else { 0.0 });
            screen.project(world).map(|at| pos(at, pane.picture))
        });
        points.collect()
    };
    let painter = ui.painter().with_clip_rect(pane.clip);
    let palette = theme::palette(ui);
    let is_muted = editor
        .active_muscle()
        .is_some_and(|(_, muscle)| muscle.muted);
    let colour = if is_muted {
        palette.overlay.gamma_multiply(0.5)
    } else {
        palette.accent
    };
    let [base, bulge] = [false, true].map(line);
    painter.add(Shape::line(
        base.clone(),
        Stroke::new(3.0, palette.overlay_halo),
    ));
    painter.add(Shape::dashed_line(
        &base,
        Stroke::new(1.5, palette.overlay),
        4.0,
        3.0,
    ));
    painter.add(Shape::line(
        bulge.clone(),
        Stroke::new(4.0, palette.overlay_halo),
    ));
    painter.add(Shape::line(bulge, Stroke::new(2.0, colour)));
}

/// Moves a handle to a fraction of the bone.
fn drag_to(editor: &mut Editor, shown: &Shown, drag: MuscleDrag, to: f64) {
    let centre = shown.settings.centre;
    let label = drag.part.step();
    match drag.part {
        Part::Place => {
            let to = to.clamp(-1.0, 2.0);
            editor.set_muscle(drag.muscle, label, |s| s.centre = to);
        }
        Part::Reach { at_tail } => {
            let far = if at_tail { to - centre } else { centre - to };
            let far = far.clamp(LEAST_REACH, 3.0);
            editor.set_muscle(drag.muscle, label, |s| {
                s.profile = s.profile.with_reach(far);
            });
        }
    }
}
