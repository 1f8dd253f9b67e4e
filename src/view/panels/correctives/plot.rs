//! The pose space of a driver: weight curves over an angle, or the samples around the swing of a bone. A drag poses.

use super::samples::number_of;
use super::{CorrectivesPanel, colour};
use crate::deform::Correctives;
use crate::editor::{Editor, PoseSpace};
use crate::view::theme;
use egui::{
    Align2, Color32, FontId, Id, Label, Rect, Response, RichText, Role, Sense, Stroke, Ui, Vec2,
    WidgetInfo, pos2, vec2,
};
use egui_plot::{Line, Plot, PlotPoints, VLine};
use glam::{DQuat, DVec2};
use std::f64::consts::PI;
use std::sync::Arc;

/// Height of the title, points.
const TITLE: f32 = 20.0;
/// Degrees between two values of a curve.
const STEP: i32 = 2;
/// Cells of the shaded disc along its diameter.
const CELLS: usize = 40;

/// Weights at the places of a plot, until the samples, the twist of the driver or another driver change.
#[derive(Default)]
pub(super) struct PlotWeights {
    known: Option<(PlotKey, Vec<Vec<f64>>)>,
}

/// What they depend on.
struct PlotKey {
    correctives: Arc<Correctives>,
    set: usize,
    driver: usize,
    space: PoseSpace,
    /// The rotations of all drivers, with that of the plot where nothing is swung.
    drivers: Vec<DQuat>,
}

/// Rotations whose components differ less are one.
const SAME: f64 = 1e-9;

impl PlotKey {
    fn of(editor: &Editor, plotted: Plotted) -> Option<Self> {
        let Plotted {
            set, driver, space, ..
        } = plotted;
        Some(Self {
            correctives: editor.correctives()?.clone(),
            set,
            driver,
            space,
            drivers: editor.drivers_beside(set, driver, plotted.at(DVec2::ZERO))?,
        })
    }

    fn is(&self, other: &Self) -> bool {
        let drivers = self.drivers.iter().zip(&other.drivers);
        (Arc::ptr_eq(&self.correctives, &other.correctives)
            || self.correctives.weighs_as(&other.correctives))
            && (self.set, self.driver) == (other.set, other.driver)
            && self.space == other.space
            && self.drivers.len() == other.drivers.len()
            && drivers.into_iter().all(|(a, b)| a.abs_diff_eq(*b, SAME))
    }
}

impl PlotWeights {
    /// The weights of the samples of the set at places, which are the same for each plot of a kind: a row for each.
    fn at(
        &mut self,
        editor: &Editor,
        plotted: Plotted,
        places: impl Iterator<Item = DVec2>,
    ) -> &[Vec<f64>] {
        let Some(key) = PlotKey::of(editor, plotted) else {
            return &[];
        };
        let known = self.known.take().filter(|(known, _)| known.is(&key));
        let made = known.unwrap_or_else(|| {
            let rotations = places.map(|place| plotted.at(place));
            let rows = editor.weights_along(plotted.set, plotted.driver, rotations);
            (key, rows)
        });
        &self.known.insert(made).1
    }
}

/// What is plotted: a set and one of its drivers.
#[derive(Clone, Copy)]
struct Plotted {
    set: usize,
    driver: usize,
    space: PoseSpace,
    /// The rotation of the driver from bind.
    rotation: DQuat,
}

impl Plotted {
    /// The rotation of the driver at a place of the plot.
    fn at(&self, place: DVec2) -> DQuat {
        self.space.rotation(place, self.rotation)
    }
}

impl CorrectivesPanel {
    /// Draws the pose space of the chosen driver.
    pub(super) fn plot_ui(&mut self, ui: &mut Ui, editor: &mut Editor, rect: Rect) {
        let driver = self.driver;
        let plotted = editor.active_set().and_then(|set| {
            Some(Plotted {
                set,
                driver,
                space: editor.pose_space(set, driver)?,
                rotation: editor.driver_rotation(set, driver)?,
            })
        });
        let Some(plotted) = plotted else {
            return;
        };
        if rect.height() < 60.0 || rect.width() < 80.0 {
            return;
        }
        let sets = editor.correctives().map_or(&[][..], |c| c.sets());
        let joint = sets
            .get(plotted.set)
            .and_then(|set| set.drivers.get(driver))
            .map(|driver| driver.joint);
        let name = joint.map_or_else(String::new, |j| editor.document().skeleton().label(j));
        let place = plotted.space.place(plotted.rotation);
        let title = match plotted.space {
            PoseSpace::Angle(_) => format!("{name}: angle {:.0}°", place.x.to_degrees()),
            PoseSpace::Swing { .. } => format!("{name}: swing {:.0}°", place.length().to_degrees()),
        };
        let about = match plotted.space {
            PoseSpace::Angle(_) => {
                "The weight of each sample over the angle of the driver. Click or drag to pose it."
            }
            PoseSpace::Swing { .. } => {
                "Every direction of the bone: bind is in the centre, the opposite direction on the rim. Dots are samples, \
                 the cross is the pose on screen; the shade is the weight of the active sample. Click or drag to pose."
            }
        };
        ui.allocate_ui(Vec2::new(rect.width(), TITLE), |ui| {
            let label = Label::new(RichText::new(&title))
                .truncate()
                .selectable(false);
            ui.add(label).on_hover_text(about);
        });
        let room = rect.with_min_y(rect.top() + TITLE + 2.0);
        let (response, wanted) = match plotted.space {
            PoseSpace::Angle(_) => curves_ui(ui, editor, &mut self.plot, plotted, room),
            PoseSpace::Swing { .. } => disc_ui(ui, editor, &mut self.plot, plotted, room),
        };
        response.widget_info(|| {
            WidgetInfo::labeled(Role::Canvas, true, format!("Pose space of {title}"))
        });
        self.pose(editor, plotted, &response, wanted);
    }

    fn pose(
        &mut self,
        editor: &mut Editor,
        plotted: Plotted,
        response: &Response,
        wanted: Option<DVec2>,
    ) {
        let begins = response.drag_started() || response.clicked();
        if begins && editor.begin_pose_driver(plotted.set, plotted.driver) {
            self.is_posing = true;
        }
        if let Some(place) = wanted.filter(|_| self.is_posing) {
            let rotation = plotted.space.rotation(place, plotted.rotation);
            editor.set_pose_driver(plotted.set, plotted.driver, rotation);
        }
        if (response.drag_stopped() || response.clicked()) && self.is_posing {
            self.is_posing = false;
            editor.confirm_transform();
        }
    }
}

/// Draws the weight of each sample over the angle; returns the angle that was clicked or dragged to.
fn curves_ui(
    ui: &mut Ui,
    editor: &Editor,
    weights: &mut PlotWeights,
    plotted: Plotted,
    room: Rect,
) -> (Response, Option<DVec2>) {
    let palette = theme::palette(ui);
    let Plotted {
        set,
        space,
        rotation,
        ..
    } = plotted;
    let angles: Vec<f64> = (-180..=180).step_by(STEP as usize).map(f64::from).collect();
    let places = angles.iter();
    let places = places.map(|degrees| DVec2::new(degrees.to_radians(), 0.0));
    let rows = weights.at(editor, plotted, places);
    let samples = editor.samples_of(set);
    let now = space.place(rotation).x.to_degrees();
    let active = editor.active_sample();
    let (grid, is_dark) = (palette.text_dim, ui.visuals().dark_mode);
    let plot = Plot::new(Id::unique("pose space curves"))
        .width(room.width())
        .height(room.height())
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_double_click_reset(false)
        .allow_axis_zoom_drag(false)
        .show_x(false)
        .show_y(false)
        .set_margin_fraction(Vec2::new(0.0, 0.05))
        .grid_color(grid.gamma_multiply(0.45))
        .cursor_color(Color32::TRANSPARENT)
        .y_axis_min_width(24.0)
        .x_axis_formatter(|mark, _| format!("{:.0}°", mark.value))
        .include_x(-180.0)
        .include_x(180.0)
        .include_y(-0.15)
        .include_y(1.15)
        .sense(Sense::click_and_drag());
    let shown = plot.show(ui, |plot| {
        for (index, sample) in samples.iter().enumerate() {
            let colour = colour(index, is_dark);
            let points = angles.iter().zip(rows);
            let points = points.map(|(angle, row)| [*angle, row[index]]);
            let width = if active == Some(index) { 2.5 } else { 1.25 };
            let points = PlotPoints::from(points.collect::<Vec<_>>());
            plot.line(
                Line::new(sample.name.as_str(), points)
                    .color(colour)
                    .width(width),
            );
        }
        plot.vline(VLine::new("now", now).color(palette.accent));
    });
    let response = shown.response;
    let at = response
        .interact_pointer_pos()
        .filter(|_| response.clicked() || response.dragged() || response.drag_started());
    let wanted = at.map(|at| {
        let degrees = shown.transform.value_from_position(at).x;
        DVec2::new(degrees.clamp(-180.0, 180.0).to_radians(), 0.0)
    });
    (response, wanted)
}

/// The swings in the middle of the shaded cells, in all that touch the disc.
fn cells() -> impl Iterator<Item = DVec2> {
    let cell = 2.0 / CELLS as f64;
    let middle = move |i: usize| (i as f64 + 0.5) * cell - 1.0;
    let all = (0..CELLS * CELLS).map(move |i| DVec2::new(middle(i % CELLS), -middle(i / CELLS)));
    all.filter(move |at| at.length() <= 1.0 + cell)
        .map(|at| at * PI)
}

/// Draws the disc of swings; returns the swing that was clicked or dragged to.
fn disc_ui(
    ui: &mut Ui,
    editor: &Editor,
    shade: &mut PlotWeights,
    plotted: Plotted,
    room: Rect,
) -> (Response, Option<DVec2>) {
    let palette = theme::palette(ui);
    let Plotted {
        set,
        driver,
        space,
        rotation,
    } = plotted;
    let response = ui.interact(room, ui.scope_id().with("disc"), Sense::click_and_drag());
    let painter = ui.painter().with_clip_rect(room.intersect(ui.clip_rect()));
    let (centre, radius) = (room.center(), room.size().min_elem() * 0.5 - 6.0);
    let to_screen = |place: DVec2| {
        let at = place / PI * f64::from(radius);
        centre + vec2(at.x as f32, -at.y as f32)
    };
    let from_screen = |at: egui::Pos2| {
        let at = (at - centre) / radius;
        DVec2::new(f64::from(at.x), -f64::from(at.y)) * PI
    };
    painter.circle_filled(centre, radius, palette.field);
    let (samples, active) = (editor.samples_of(set), editor.active_sample());

    if let Some(index) = active {
        let cell = 2.0 * radius / CELLS as f32;
        let rows = shade.at(editor, plotted, cells());
        for (place, row) in cells().zip(rows) {
            let at = to_screen(place);
            let share = row[index].clamp(0.0, 1.0) as f32 * 0.55;
            let shade = colour(index, ui.visuals().dark_mode).gamma_multiply(share);
            painter.rect_filled(Rect::from_center_size(at, Vec2::splat(cell)), 0.0, shade);
        }
        // A clean rim: the corners of cells outside are painted over.
        let over = Stroke::new(2.0 * cell, palette.panel);
        painter.circle_stroke(centre, radius + cell, over);
    }
    let ring = Stroke::new(1.0, palette.text_dim.gamma_multiply(0.5));
    let font = FontId::proportional(10.0);
    for degrees in [90.0_f32, 180.0] {
        let r = radius * degrees / 180.0;
        painter.circle_stroke(centre, r, ring);
        let at = pos2(centre.x + 2.0, centre.y - r + 1.0);
        let text = format!("{degrees:.0}°");
        painter.text(at, Align2::LEFT_TOP, text, font.clone(), palette.text_dim);
    }
    painter.hline(centre.x - radius..=centre.x + radius, centre.y, ring);
    painter.vline(centre.x, centre.y - radius..=centre.y + radius, ring);

    let now = to_screen(space.place(rotation));
    let weights = editor.weights_along(set, driver, [rotation]);
    let sets = editor.correctives().map_or(&[][..], |c| c.sets());
    let known = sets
        .get(set)
        .and_then(|set| set.drivers.get(driver).map(|driver| (set, driver)));
    let mut labels = Vec::new();
    for (index, sample) in samples.iter().enumerate() {
        let Some(((_, driver), captured)) = known.zip(sample.rotations.get(driver)) else {
            continue;
        };
        let at = to_screen(space.place(driver.from_bind(*captured)));
        let weight = weights.first().map_or(0.0, |row| row[index]);
        let colour = colour(index, ui.visuals().dark_mode);
        let near = weight.clamp(0.0, 1.0) as f32;
        painter.line_segment([now, at], Stroke::new(1.5, colour.gamma_multiply(near)));
        painter.circle_filled(at, 3.0 + 3.0 * near, colour);
        if active == Some(index) {
            painter.circle_stroke(at, 7.5, Stroke::new(1.5, palette.accent));
        }
        let hovers = response
            .hover_pos()
            .is_some_and(|pointer| pointer.distance(at) < 8.0);
        if hovers || active == Some(index) {
            let text = format!("{} {}", sample.name, number_of(weight));
            let on_left = at.x > centre.x;
            let (anchor, side) = if on_left {
                (Align2::RIGHT_CENTER, -10.0)
            } else {
                (Align2::LEFT_CENTER, 10.0)
            };
            let font = FontId::proportional(12.0);
            labels.push((at + vec2(side, 0.0), anchor, text, font));
        }
    }
    // Over all dots.
    for (at, anchor, text, font) in labels {
        let galley = painter.layout_no_wrap(text, font, palette.text);
        let rect = anchor.anchor_size(at, galley.size());
        painter.rect_filled(rect.expand(2.0), 2.0, palette.panel.gamma_multiply(0.85));
        painter.galley(rect.min, galley, palette.text);
    }
    let cross = Stroke::new(2.0, palette.accent);
    for arm in [vec2(5.0, 0.0), vec2(0.0, 5.0)] {
        painter.line_segment([now - arm, now + arm], cross);
    }
    let at = response
        .interact_pointer_pos()
        .filter(|_| response.clicked() || response.dragged() || response.drag_started());
    // At the rim all directions are the same rotation about different axes: stay a little inside.
    let wanted = at.map(|at| from_screen(at).clamp_length_max(0.98 * PI));
    (response, wanted)
}
