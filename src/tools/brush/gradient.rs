//! Gradients: from the start of the drag to the pointer, over all visible points.

use super::dab::Visibility;
use super::{Stroke, nearest};
use crate::document::InstanceId;
use crate::document::session::BrushKind;
use crate::tools::{PointerEvent, ScreenView, Stamped, ToolAction, ToolContext};
use glam::Vec2;
use rayon::prelude::*;

/// Minimum length of a drag to draw a gradient, pixels.
const MIN_LENGTH_PX: f32 = 2.0;

/// The points that a gradient may change.
#[derive(Debug)]
pub(super) struct Gradient {
    /// The points, with their pixels at the start of the drag.
    points: Vec<(u32, Vec2)>,
    /// Its end when it was last drawn.
    drawn_to: Option<Vec2>,
}

/// The smallest number of points per thread.
const POINTS_PER_TASK: usize = 4096;

impl Stroke {
    /// Draws the gradient to the pointer; restores points that only an earlier end reached.
    pub(super) fn draw_gradient(
        &mut self,
        event: &PointerEvent,
        context: &mut ToolContext<'_>,
        slots: &mut Stamped<u32>,
        actions: &mut Vec<ToolAction>,
    ) {
        self.path.skip_to_end();
        if self.begun.is_none() {
            let Some(instance) = self.object_of(event, context) else {
                return;
            };
            if !self.begin(instance, context, slots, actions) {
                return;
            }
        }
        let options = self.options;
        let Some(begun) = &mut self.begun else { return };
        let view = ScreenView::new(context.camera, event.size_px);
        if begun.gradient.is_none() {
            if !options.xray {
                begun.visibility = Some(Visibility::new(context.camera, event.size_px, context));
            }
            let on = begun.instance;
            let surface = context.surfaces.iter().find(|(id, _)| *id == on);
            let Some((_, surface)) = surface else { return };
            let places = (0..)
                .zip(surface.positions.iter())
                .filter_map(|(point, &position)| {
                    let at = view.project(position)?.truncate();
                    let reaches = begun.may_paint(point)
                        && (!options.front_faces_only
                            || surface.faces(point, view.view_direction(position)))
                        && begun.is_seen(surface, point);
                    reaches.then_some((point, at))
                });
            begun.gradient = Some(Gradient {
                points: places.collect(),
                drawn_to: None,
            });
        }
        let Some(item) = context.document.meshes().get(&begun.mesh) else {
            return;
        };
        let (from, to) = (
            view.pixel_of(self.start.ndc),
            view.pixel_of(self.path.at.ndc),
        );
        let line = to - from;
        let length = line.length();
        let Some(mut gradient) = begun.gradient.take_if(|gradient| {
            // Already drawn, or too short.
            gradient.drawn_to != Some(to) && !(length < MIN_LENGTH_PX && begun.touched.is_empty())
        }) else {
            return;
        };
        gradient.drawn_to = Some(to);
        let kind = self.action.kind;
        let effect_at = |&(_, at): &(u32, Vec2)| {
            let share = if length < MIN_LENGTH_PX {
                f32::INFINITY
            } else if kind == BrushKind::Radial {
                at.distance(from) / length
            } else {
                ((at - from).dot(line) / (length * length)).max(0.0)
            };
            options.strength * options.fades_to(share)
        };
        let points = gradient.points.par_iter().with_min_len(POINTS_PER_TASK);
        let effects: Vec<f32> = points.map(effect_at).collect();
        for (&(point, _), effect) in gradient.points.iter().zip(effects) {
            // A point that was never reached keeps no slot.
            if effect > 0.0 || slots.get(point).is_some() {
                begun.affect(point, effect, true, item, context.document, slots);
            }
        }
        begun.gradient = Some(gradient);
    }

    /// The object under the start of the drag, else the active one, else the one under the pointer.
    fn object_of(&self, event: &PointerEvent, context: &mut ToolContext<'_>) -> Option<InstanceId> {
        let mut under = |ndc: Vec2| {
            let at = PointerEvent { ndc, ..*event };
            let ray = at.ray(context.camera);
            nearest(context.surfaces, &ray).map(|(instance, _)| instance)
        };
        let found = under(self.start.ndc);
        let here = found.or_else(|| under(self.path.at.ndc));
        let document = context.document;
        let active = document.session().active_mesh;
        let is_active = |id: &InstanceId| {
            let instance = document.instances().get(id);
            instance.is_some_and(|i| Some(i.mesh) == active)
        };
        let mut ids = context.surfaces.iter().map(|(id, _)| *id);
        found.or_else(|| ids.find(is_active)).or(here)
    }
}
