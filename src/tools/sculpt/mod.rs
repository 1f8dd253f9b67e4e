//! Sculpting: strokes on the posed, deformed surface that change the displacements of the active corrective sample.
//!
//! Data flow: a press on the surface finds the sample and its weight in the pose ([`crate::document::SculptTarget`]) and takes the surface as it
//! is there (`shape`) -> evenly spaced dabs, or the drag of Grab and Slide (`drag`), find the points that they reach ->
//! `brushes` gives the offset o of each point in the world -> its displacement becomes `d + R^T o / (weight strength)`,
//! with R the blended rotation that carries displacements (`moved`) -> one edit for each event. Selected vertices take
//! the offset of a transform instead ([`VertexTransform`]).
//!
//! Invariant: the surface moves by o at the pose of the stroke, at any bend and under any skinning method.
//! Invariant: a stroke does not depend on the speed of the pointer, on the number of events, or on how far the picture
//! lags behind: it reaches what the brush covers on the surface of the press, and follows its own points from there.
//! Invariant: the cost of a dab depends on the points it reaches, not on the size of the mesh.

mod brushes;
mod drag;
mod moved;
mod shape;
mod stroke;
mod vertices;

pub use vertices::{VertexTransform, selected_vertices};

use super::stroke_path::{PathPoint, StrokePath};
use super::{PointerEvent, PointerKind, Reach, ToolAction, ToolContext};
use crate::document::session::SculptKind;
use crate::math::Camera;
use std::time::{Duration, Instant};
use stroke::Stroke;

/// Time budget of the dabs of one pointer event; the rest of the path follows at the next event, or once a frame after
/// the button was released.
const EVENT_BUDGET: Duration = Duration::from_millis(8);

/// Minimum number of dabs when the button is released: most strokes end there.
const MIN_DABS_AT_RELEASE: usize = 16;

/// The sculpting brush.
#[derive(Debug, Default)]
pub struct Sculpt {
    stroke: Option<Stroke>,
    reach: Reach,
}

impl Sculpt {
    /// Whether a stroke is in progress.
    pub fn is_active(&self) -> bool {
        self.stroke.is_some()
    }

    /// Whether the button was released before the path was sculpted to its end.
    pub fn is_ending(&self) -> bool {
        self.ending().is_some()
    }

    /// The camera at the release of the button, while that stroke is ending.
    pub fn release_camera(&self) -> Option<Camera> {
        self.ending().map(|(_, camera)| camera)
    }

    fn ending(&self) -> Option<(PointerEvent, Camera)> {
        self.stroke.as_ref().and_then(|stroke| stroke.ending)
    }

    /// Handles a pointer event; returns the actions.
    pub fn pointer(
        &mut self,
        event: &PointerEvent,
        context: &mut ToolContext<'_>,
    ) -> Vec<ToolAction> {
        match event.kind {
            PointerKind::Press => {
                self.press(event, context);
                self.advance(event, context, Some(EVENT_BUDGET), 0)
            }
            // A released stroke finishes without further events.
            PointerKind::Drag | PointerKind::Release if self.is_ending() => Vec::new(),
            PointerKind::Drag => {
                self.trace(event);
                self.advance(event, context, Some(EVENT_BUDGET), 0)
            }
            PointerKind::Release => {
                self.trace(event);
                if let Some(stroke) = &mut self.stroke {
                    stroke.ending = Some((*event, *context.camera));
                }
                self.go_on(context, Some(EVENT_BUDGET), MIN_DABS_AT_RELEASE)
            }
            PointerKind::Cancel => {
                let stroke = self.stroke.take();
                stroke.map(|_| ToolAction::Cancel).into_iter().collect()
            }
        }
    }

    /// Queues the position of an event.
    pub fn trace(&mut self, event: &PointerEvent) {
        if let Some(stroke) = &mut self.stroke
            && stroke.ending.is_none()
        {
            stroke.path.push(PathPoint::of(event));
        }
    }

    /// Continues a stroke that is ending, and ends it once all is sculpted. Call once a frame, with the camera of
    /// [`Self::release_camera`] in the context. `is_urgent`: sculpts all of it now.
    pub fn end(&mut self, is_urgent: bool, context: &mut ToolContext<'_>) -> Vec<ToolAction> {
        self.go_on(context, (!is_urgent).then_some(EVENT_BUDGET), 0)
    }

    /// Ends the stroke.
    pub fn finish(&mut self) -> Vec<ToolAction> {
        self.stroke.take().map_or_else(Vec::new, Stroke::finish)
    }

    fn press(&mut self, event: &PointerEvent, context: &ToolContext<'_>) {
        let session = context.document.session();
        let kind = if event.smooth {
            SculptKind::Smooth
        } else {
            session.sculpt_kind
        };
        self.stroke = Some(Stroke {
            options: session.brush,
            kind,
            invert: event.invert,
            radius_px: session.brush.radius_px,
            path: StrokePath::new(PathPoint::of(event)),
            begun: None,
            refused: false,
            ending: None,
        });
    }

    fn go_on(
        &mut self,
        context: &mut ToolContext<'_>,
        budget: Option<Duration>,
        n_at_least: usize,
    ) -> Vec<ToolAction> {
        let Some((event, _)) = self.ending() else {
            return Vec::new();
        };
        let mut actions = self.advance(&event, context, budget, n_at_least);
        if self.stroke.as_ref().is_none_or(|s| s.path.is_done()) {
            actions.extend(self.finish());
        }
        actions
    }

    /// Sculpts along the path within the time budget, `n_at_least` dabs in any case.
    fn advance(
        &mut self,
        event: &PointerEvent,
        context: &mut ToolContext<'_>,
        budget: Option<Duration>,
        n_at_least: usize,
    ) -> Vec<ToolAction> {
        let mut actions = Vec::new();
        let Some(stroke) = &mut self.stroke else {
            return actions;
        };
        if stroke.refused {
            stroke.path.clear();
            return actions;
        }
        if stroke.kind.is_drag() {
            stroke.drag(event, context, &mut self.reach, &mut actions);
        } else {
            let (began, mut n_dabs) = (Instant::now(), 0);
            while let Some(position) = stroke.next_dab(event.size_px) {
                stroke.dab(position, event, context, &mut self.reach, &mut actions);
                n_dabs += 1;
                let is_late = budget.is_some_and(|b| n_dabs >= n_at_least && began.elapsed() > b);
                if stroke.refused || is_late {
                    break;
                }
            }
        }
        let edit = stroke.take_edit(context.document);
        actions.extend(edit.map(ToolAction::Apply));
        actions
    }
}
