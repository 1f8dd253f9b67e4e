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

use super::strokes::Strokes;
use super::{PointerEvent, ToolAction, ToolContext};
use crate::document::Document;
use crate::math::Camera;
use stroke::Stroke;

/// The sculpting brush.
#[derive(Debug, Default)]
pub struct Sculpt {
    strokes: Strokes<Stroke>,
}

impl Sculpt {
    /// Whether a stroke is in progress.
    pub fn is_active(&self) -> bool {
        self.strokes.is_active()
    }

    /// Whether the button was released before the path was sculpted to its end.
    pub fn is_ending(&self) -> bool {
        self.strokes.is_ending()
    }

    /// The camera at the release of the button, while that stroke is ending.
    pub fn release_camera(&self) -> Option<Camera> {
        self.strokes.release_camera()
    }

    /// Handles a pointer event; returns the actions.
    pub fn pointer(
        &mut self,
        event: &PointerEvent,
        context: &mut ToolContext<'_>,
    ) -> Vec<ToolAction> {
        self.strokes.pointer(event, context)
    }

    /// Queues the position of an event.
    pub fn trace(&mut self, event: &PointerEvent) {
        self.strokes.trace(event);
    }

    /// Continues a stroke that is ending, and ends it once all is sculpted. Call once a frame, with the camera of
    /// [`Self::release_camera`] in the context. `is_urgent`: sculpts all of it now.
    pub fn end(&mut self, is_urgent: bool, context: &mut ToolContext<'_>) -> Vec<ToolAction> {
        self.strokes.end(is_urgent, context)
    }

    /// Ends the stroke.
    pub fn finish(&mut self, document: &Document) -> Vec<ToolAction> {
        self.strokes.finish(document)
    }
}
