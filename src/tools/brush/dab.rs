//! One dab of the brush: the points it reaches, and its effect on each.

use super::{Begun, Stroke, nearest};
use crate::document::session::{BrushOptions, FalloffShape, Pressure};
use crate::math::Camera;
use crate::mesh::SurfaceHit;
use crate::tools::stroke_path::PathPoint;
use crate::tools::{
    DepthBuffer, PointerEvent, Reach, ScreenView, Stamped, SurfaceView, ToolAction, ToolContext,
};
use glam::Vec2;

/// The visible points of everything on screen at the start of a stroke.
pub(in crate::tools) struct Visibility {
    pub(in crate::tools) view: ScreenView,
    depth: DepthBuffer,
}

impl std::fmt::Debug for Visibility {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Visibility").finish_non_exhaustive()
    }
}

impl Visibility {
    /// The view of `camera` in a viewport of `size_px`.
    pub(in crate::tools) fn new(camera: &Camera, size_px: Vec2, context: &ToolContext<'_>) -> Self {
        let view = ScreenView::new(camera, size_px);
        let surfaces = context.surfaces.iter().map(|(_, surface)| surface);
        let depth = DepthBuffer::new(&view, surfaces);
        Self { view, depth }
    }

    /// Whether `point` of `surface` is visible.
    pub(in crate::tools) fn is_visible(&self, surface: &SurfaceView<'_>, point: u32) -> bool {
        self.depth.sees(&self.view, surface, point)
    }
}

impl Stroke {
    /// Applies a dab to the surface under `position`: the target of the stroke, or the nearest surface if it has none yet.
    pub(super) fn touch(
        &mut self,
        position: PathPoint,
        event: &PointerEvent,
        context: &mut ToolContext<'_>,
        slots: &mut Stamped<u32>,
        reach: &mut Reach,
        actions: &mut Vec<ToolAction>,
    ) {
        let at = PointerEvent {
            ndc: position.ndc,
            ..*event
        };
        let ray = at.ray(context.camera);
        let hit = match &self.begun {
            Some(begun) => {
                let on = begun.instance;
                let surface = context.surfaces.iter_mut().find(|(id, _)| *id == on);
                surface.and_then(|(_, surface)| surface.cast_ray(&ray))
            }
            None => {
                let Some((instance, hit)) = nearest(context.surfaces, &ray) else {
                    return;
                };
                if !self.begin(instance, context, slots, actions) {
                    return;
                }
                Some(hit)
            }
        };
        let options = self.options;
        let Some(begun) = &mut self.begun else { return };
        let (strength, size) = pressed(&options, position.pressure);
        let metres_per_px = hit.map(|hit| {
            context
                .camera
                .metres_per_pixel(hit.position, event.size_px.y)
        });
        if let Some(metres) = metres_per_px {
            self.radius_px = (options.radius_on_screen(metres) * size).max(1e-3);
        }
        let needs_visibility = options.falloff_shape != FalloffShape::Surface && !options.xray;
        if needs_visibility && begun.visibility.is_none() {
            begun.visibility = Some(Visibility::new(context.camera, event.size_px, context));
        }
        let on = begun.instance;
        let surface = context.surfaces.iter_mut().find(|(id, _)| *id == on);
        let Some((_, surface)) = surface else { return };
        let under = hit.zip(metres_per_px).map(|(hit, metres)| {
            let radius = options.radius_in_world(metres) * size;
            (hit, radius)
        });
        let on_screen = OnScreen {
            camera: context.camera,
            size_px: event.size_px,
            ndc: position.ndc,
            radius_px: self.radius_px,
        };
        let Some(radius) = find(surface, options.falloff_shape, under, &on_screen, reach) else {
            return;
        };
        let Some(item) = context.document.meshes().get(&begun.mesh) else {
            return;
        };
        for &(point, distance) in &reach.found {
            let effect = options.strength * strength * options.fades_to(distance / radius);
            // Comparisons that NaN fails.
            let reaches = effect > 0.0
                && begun.may_paint(point)
                && (!options.front_faces_only || surface.faces(point, ray.direction))
                && (options.xray || begun.is_seen(surface, point));
            if reaches {
                begun.affect(point, effect, false, item, context.document, slots);
            }
        }
        if options.accumulate {
            let dirty = begun.update(item, context.document, slots);
            begun.touched.forget(&dirty);
        }
    }
}

impl Begun {
    /// Whether a point is visible, if the settings require that.
    pub(super) fn is_seen(&self, surface: &SurfaceView<'_>, point: u32) -> bool {
        self.visibility
            .as_ref()
            .is_none_or(|v| v.is_visible(surface, point))
    }
}

/// A dab on the screen.
pub(in crate::tools) struct OnScreen<'a> {
    pub(in crate::tools) camera: &'a Camera,
    pub(in crate::tools) size_px: Vec2,
    pub(in crate::tools) ndc: Vec2,
    pub(in crate::tools) radius_px: f32,
}

/// Finds the points of a dab with their distances, and returns its radius in the unit of those. `under`: the position
/// under the pointer, and the radius there, metres; `None` beside the surface.
pub(in crate::tools) fn find(
    surface: &mut SurfaceView<'_>,
    shape: FalloffShape,
    under: Option<(SurfaceHit, f32)>,
    on_screen: &OnScreen<'_>,
    reach: &mut Reach,
) -> Option<f32> {
    match (shape, under) {
        (FalloffShape::Surface, Some((hit, radius))) => {
            surface.within(&hit, radius, reach);
            Some(radius)
        }
        (FalloffShape::Volume, Some((hit, radius))) => {
            surface.prepare();
            surface.in_ball(hit.position, radius, reach);
            Some(radius)
        }
        (FalloffShape::Screen, _) => {
            surface.prepare();
            let view = ScreenView::new(on_screen.camera, on_screen.size_px);
            let at = view.pixel_of(on_screen.ndc);
            surface.in_circle(&view, at, on_screen.radius_px, reach);
            Some(on_screen.radius_px)
        }
        (_, None) => None,
    }
}

/// The factors of a pen's pressure on strength and radius.
pub(in crate::tools) fn pressed(options: &BrushOptions, pressure: Option<f32>) -> (f32, f32) {
    /// Minimum factor of the radius: the lightest pressure still paints.
    const SMALLEST: f32 = 0.05;
    let Some(force) = pressure.filter(|f| f.is_finite()) else {
        return (1.0, 1.0);
    };
    let force = force.clamp(0.0, 1.0);
    let size = force.max(SMALLEST);
    match options.pressure {
        Pressure::Off => (1.0, 1.0),
        Pressure::Strength => (force, 1.0),
        Pressure::Size => (1.0, size),
        Pressure::Both => (force, size),
    }
}
