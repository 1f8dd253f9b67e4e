//! The brush: one stroke for everything that is painted on points, under the pointer, along the surface.
//!
//! What it makes of a point is up to what is painted: `weights` of the active bone, or a `mask` of the stack.
//!
//! Invariant: without accumulation: however often the pointer passes, a point goes no further than the strength in one
//! stroke.

mod mask;
mod weights;

use super::{PointerEvent, PointerKind, SurfaceView, ToolAction, ToolContext};
use crate::document::session::{BrushOptions, PaintTarget};
use crate::document::{Document, Edit, InstanceId, MeshId, MeshItem};
use crate::math::Ray;
use crate::mesh::SurfaceHit;
use glam::Vec2;
use mask::MaskPaint;
use std::collections::HashMap;
use std::time::{Duration, Instant};
use weights::WeightPaint;

/// What the dabs of one pointer event may take; the rest of the way is painted at the next one.
const EVENT_BUDGET: Duration = Duration::from_millis(8);

/// The brush.
#[derive(Debug, Default)]
pub struct Brush {
    stroke: Option<Stroke>,
}

#[derive(Debug)]
struct Stroke {
    instance: InstanceId,
    mesh: MeshId,
    /// Whether it does the opposite: as the stroke began, so that a point never jumps both ways.
    invert: bool,
    last_dab: Vec2,
    /// The largest effect on each touched point so far.
    reached: HashMap<u32, f32>,
    paint: Paint,
}

/// What is painted, with what it knows of the stroke.
#[derive(Debug)]
enum Paint {
    Weights(WeightPaint),
    Mask(MaskPaint),
}

impl Paint {
    /// What can be painted on `instance`, or why nothing can.
    fn begin(document: &Document, instance: InstanceId) -> Result<(MeshId, Self), String> {
        match document.session().brush.target {
            PaintTarget::Weights => {
                WeightPaint::begin(document, instance).map(|(mesh, p)| (mesh, Self::Weights(p)))
            }
            PaintTarget::Mask(kind) => {
                MaskPaint::begin(document, instance, kind).map(|(mesh, p)| (mesh, Self::Mask(p)))
            }
        }
    }

    /// What the undo step is called.
    fn label(&self) -> &'static str {
        match self {
            Self::Weights(_) => "Paint weights",
            Self::Mask(paint) => paint.label(),
        }
    }

    /// Goes `effect`, 0 - 1, of the way at a point; of several times in one event the last counts.
    fn touch(
        &mut self,
        item: &MeshItem,
        point: u32,
        effect: f32,
        brush: &BrushOptions,
        invert: bool,
    ) {
        match self {
            Self::Weights(paint) => paint.touch(item, point, effect, brush, invert),
            Self::Mask(paint) => paint.touch(item, point, effect, brush, invert),
        }
    }

    /// What changed since it was last asked.
    fn take_edit(&mut self, mesh: MeshId) -> Option<Edit> {
        match self {
            Self::Weights(paint) => paint.take_edit(mesh),
            Self::Mask(paint) => paint.take_edit(mesh),
        }
    }

    /// What the artist should know of a stroke that touched points.
    fn say(&self, brush: &BrushOptions, invert: bool) -> Option<String> {
        match self {
            Self::Weights(paint) => paint.say(),
            Self::Mask(paint) => paint.say(brush, invert),
        }
    }
}

impl Brush {
    /// Whether a stroke is under way.
    pub fn is_active(&self) -> bool {
        self.stroke.is_some()
    }

    /// What the event makes of the stroke.
    pub fn pointer(
        &mut self,
        event: &PointerEvent,
        context: &mut ToolContext<'_>,
    ) -> Vec<ToolAction> {
        match event.kind {
            PointerKind::Press => self.press(event, context),
            PointerKind::Drag => self.drag(event, context, Some(EVENT_BUDGET)),
            PointerKind::Release => {
                let mut actions = self.drag(event, context, None);
                actions.extend(self.finish(&context.document.session().brush));
                actions
            }
            PointerKind::Cancel => self
                .stroke
                .take()
                .map(|_| ToolAction::Cancel)
                .into_iter()
                .collect(),
        }
    }

    /// Ends the stroke as it is.
    pub fn finish(&mut self, brush: &BrushOptions) -> Vec<ToolAction> {
        let Some(stroke) = self.stroke.take() else {
            return Vec::new();
        };
        let mut actions = vec![ToolAction::Commit];
        if stroke.reached.is_empty() {
            actions.push(ToolAction::Say(
                "No point lies under the brush; ] makes it larger.".into(),
            ));
        } else {
            let said = stroke.paint.say(brush, stroke.invert);
            actions.extend(said.map(ToolAction::Say));
        }
        actions
    }

    fn press(&mut self, event: &PointerEvent, context: &mut ToolContext<'_>) -> Vec<ToolAction> {
        self.stroke = None;
        let ray = event.ray(context.camera);
        let Some((instance, hit)) = nearest(context.surfaces, &ray) else {
            return Vec::new();
        };
        match Paint::begin(context.document, instance) {
            Ok((mesh, paint)) => {
                let stroke = self.stroke.insert(Stroke {
                    instance,
                    mesh,
                    invert: event.invert,
                    last_dab: event.ndc,
                    reached: HashMap::new(),
                    paint,
                });
                let mut actions = vec![ToolAction::Begin(stroke.paint.label())];
                stroke.dab(event, &ray, &hit, context);
                actions.extend(stroke.paint.take_edit(stroke.mesh).map(ToolAction::Apply));
                actions
            }
            Err(why) => vec![ToolAction::Say(why)],
        }
    }

    fn drag(
        &mut self,
        event: &PointerEvent,
        context: &mut ToolContext<'_>,
        budget: Option<Duration>,
    ) -> Vec<ToolAction> {
        let Some(stroke) = &mut self.stroke else {
            return Vec::new();
        };
        let brush = &context.document.session().brush;
        let spacing_px = (brush.radius_px * brush.spacing).max(1.0);
        let travelled = (event.ndc - stroke.last_dab) * event.size_px * 0.5;
        let n_dabs = (travelled.length() / spacing_px) as usize;
        let (start, began) = (stroke.last_dab, Instant::now());
        for i in 1..=n_dabs {
            let ndc = start + (event.ndc - start) * (i as f32 / n_dabs as f32);
            let at = PointerEvent { ndc, ..*event };
            let ray = at.ray(context.camera);
            stroke.last_dab = ndc;
            let surface = context
                .surfaces
                .iter_mut()
                .find(|(id, _)| *id == stroke.instance);
            if let Some(hit) = surface.and_then(|(_, surface)| surface.cast_ray(&ray)) {
                stroke.dab(&at, &ray, &hit, context);
            }
            if budget.is_some_and(|budget| began.elapsed() > budget) {
                break;
            }
        }
        let edit = stroke.paint.take_edit(stroke.mesh);
        edit.map(ToolAction::Apply).into_iter().collect()
    }
}

impl Stroke {
    /// One touch of the brush.
    fn dab(
        &mut self,
        event: &PointerEvent,
        ray: &Ray,
        hit: &SurfaceHit,
        context: &ToolContext<'_>,
    ) {
        let brush = &context.document.session().brush;
        let Some(item) = context.document.meshes().get(&self.mesh) else {
            return;
        };
        let mut surfaces = context.surfaces.iter();
        let Some((_, surface)) = surfaces.find(|(id, _)| *id == self.instance) else {
            return;
        };
        let radius = brush.radius_px
            * context
                .camera
                .metres_per_pixel(hit.position, event.size_px.y);
        for (point, distance) in surface.within(hit, radius) {
            let effect = brush.strength * brush.falloff.at(distance / radius);
            if effect <= 0.0 || (brush.front_faces_only && !surface.faces(point, ray.direction)) {
                continue;
            }
            let reached = self.reached.entry(point).or_insert(0.0);
            if effect <= *reached {
                continue;
            }
            *reached = effect;
            self.paint.touch(item, point, effect, brush, self.invert);
        }
    }
}

/// The surface that `ray` meets first.
fn nearest(
    surfaces: &mut [(InstanceId, SurfaceView<'_>)],
    ray: &Ray,
) -> Option<(InstanceId, SurfaceHit)> {
    surfaces
        .iter_mut()
        .filter_map(|(id, surface)| Some((*id, surface.cast_ray(ray)?)))
        .min_by(|a, b| a.1.distance.total_cmp(&b.1.distance))
}
