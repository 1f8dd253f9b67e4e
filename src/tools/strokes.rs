//! The state machine of strokes, shared by the brushes that paint, sculpt and mark.
//!
//! Data flow: a press begins a stroke -> the pointer's positions are queued in its path -> evenly spaced dabs along it,
//! within a time budget for each event -> one edit for each event -> the release follows the rest of the path, over
//! several frames where there is much of it -> the stroke ends.
//!
//! Invariant: a released stroke finishes without further events; a cancelled one leaves nothing.

use super::stroke_path::{PathPoint, StrokePath};
use super::{PointerEvent, PointerKind, ToolAction, ToolContext};
use crate::document::{Document, Edit};
use crate::math::Camera;
use std::time::{Duration, Instant};

/// Time budget of the dabs of one pointer event; the rest of the path follows at the next event, or once a frame after
/// the button was released.
const EVENT_BUDGET: Duration = Duration::from_millis(8);

/// Minimum number of dabs when the button is released: most strokes end there.
const MIN_DABS_AT_RELEASE: usize = 16;

/// What a brush does in a stroke.
pub(super) trait Stroke: Sized {
    /// Buffers that one stroke leaves to the next.
    type Work: Default;

    /// A stroke of the settings at a press.
    fn begin(event: &PointerEvent, context: &ToolContext<'_>) -> Self;

    /// The path of the pointer.
    fn path(&mut self) -> &mut StrokePath;

    /// The distance of the next dab from the last one, pixels.
    fn spacing_px(&self) -> f32;

    /// Whether it can do nothing; the reason was shown.
    fn is_refused(&self) -> bool;

    /// Whether it follows the pointer as a whole ([`Stroke::follow`]), without dabs.
    fn is_drag(&self) -> bool {
        false
    }

    /// Brings a drag to the newest position of its path.
    fn follow(
        &mut self,
        _event: &PointerEvent,
        _context: &mut ToolContext<'_>,
        _work: &mut Self::Work,
        _actions: &mut Vec<ToolAction>,
    ) {
    }

    /// Applies a dab at a position of the path.
    fn dab(
        &mut self,
        position: PathPoint,
        event: &PointerEvent,
        context: &mut ToolContext<'_>,
        work: &mut Self::Work,
        actions: &mut Vec<ToolAction>,
    );

    /// The changes since the last call.
    fn take_edit(&mut self, document: &Document, work: &mut Self::Work) -> Option<Edit>;

    /// The actions at its end.
    fn finish(self, document: &Document) -> Vec<ToolAction>;
}

/// The stroke in progress, if any.
#[derive(Debug)]
pub(super) struct Strokes<S: Stroke> {
    stroke: Option<S>,
    /// The release event and the camera, once the button was released.
    ending: Option<(PointerEvent, Camera)>,
    work: S::Work,
}

impl<S: Stroke> Default for Strokes<S> {
    fn default() -> Self {
        Self {
            stroke: None,
            ending: None,
            work: S::Work::default(),
        }
    }
}

impl<S: Stroke> Strokes<S> {
    /// Whether a stroke is in progress.
    pub(super) fn is_active(&self) -> bool {
        self.stroke.is_some()
    }

    /// Whether the button was released before the path was followed to its end.
    pub(super) fn is_ending(&self) -> bool {
        self.ending.is_some()
    }

    /// The camera at the release of the button, while that stroke is ending.
    pub(super) fn release_camera(&self) -> Option<Camera> {
        self.ending.map(|(_, camera)| camera)
    }

    /// Handles a pointer event; returns the actions.
    pub(super) fn pointer(
        &mut self,
        event: &PointerEvent,
        context: &mut ToolContext<'_>,
    ) -> Vec<ToolAction> {
        match event.kind {
            PointerKind::Press => {
                self.stroke = Some(S::begin(event, context));
                self.ending = None;
                self.advance(event, context, Some(EVENT_BUDGET), 0)
            }
            PointerKind::Drag | PointerKind::Release if self.is_ending() => Vec::new(),
            PointerKind::Drag => {
                self.trace(event);
                self.advance(event, context, Some(EVENT_BUDGET), 0)
            }
            PointerKind::Release => {
                self.trace(event);
                if self.is_active() {
                    self.ending = Some((*event, *context.camera));
                }
                self.go_on(context, Some(EVENT_BUDGET), MIN_DABS_AT_RELEASE)
            }
            PointerKind::Cancel => {
                let stroke = self.take();
                stroke.map(|_| ToolAction::Cancel).into_iter().collect()
            }
        }
    }

    /// Queues the position of an event, for the next one.
    pub(super) fn trace(&mut self, event: &PointerEvent) {
        if let Some(stroke) = &mut self.stroke
            && self.ending.is_none()
        {
            stroke.path().push(PathPoint::of(event));
        }
    }

    /// Continues a stroke that is ending, and ends it once all of its path is followed. Call once a frame, with the camera
    /// of [`Self::release_camera`] in the context. `is_urgent`: follows all of it now.
    pub(super) fn end(
        &mut self,
        is_urgent: bool,
        context: &mut ToolContext<'_>,
    ) -> Vec<ToolAction> {
        self.go_on(context, (!is_urgent).then_some(EVENT_BUDGET), 0)
    }

    /// Ends the stroke.
    pub(super) fn finish(&mut self, document: &Document) -> Vec<ToolAction> {
        let stroke = self.take();
        stroke.map_or_else(Vec::new, |stroke| stroke.finish(document))
    }

    fn take(&mut self) -> Option<S> {
        self.ending = None;
        self.stroke.take()
    }

    fn go_on(
        &mut self,
        context: &mut ToolContext<'_>,
        budget: Option<Duration>,
        n_at_least: usize,
    ) -> Vec<ToolAction> {
        let Some((event, _)) = self.ending else {
            return Vec::new();
        };
        let mut actions = self.advance(&event, context, budget, n_at_least);
        let stroke = self.stroke.as_mut();
        if stroke.is_none_or(|stroke| stroke.path().is_done()) {
            actions.extend(self.finish(context.document));
        }
        actions
    }

    /// Follows the path within the time budget, `n_at_least` dabs in any case.
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
        if stroke.is_refused() {
            stroke.path().clear();
            return actions;
        }
        let (began, work) = (Instant::now(), &mut self.work);
        if stroke.is_drag() {
            stroke.follow(event, context, work, &mut actions);
        } else {
            let mut n_dabs = 0;
            loop {
                let spacing = stroke.spacing_px();
                let Some(position) = stroke.path().next_dab(spacing, event.size_px) else {
                    break;
                };
                stroke.dab(position, event, context, work, &mut actions);
                n_dabs += 1;
                let is_late = budget.is_some_and(|b| n_dabs >= n_at_least && began.elapsed() > b);
                if stroke.is_refused() || is_late {
                    break;
                }
            }
        }
        if stroke.is_refused() {
            stroke.path().clear();
        }
        let edit = stroke.take_edit(context.document, work);
        actions.extend(edit.map(ToolAction::Apply));
        actions
    }
}
