//! The brush: strokes on weights, maps and layer masks.
//!
//! Data flow: the pointer's positions are queued in the stroke's `path` -> evenly spaced dabs along it find the points
//! that they reach (`dab`), or a `gradient` runs from the first position to the last -> `touched` stores the effect on
//! each point and on its mirror image -> `action` computes new values, of `weights` or of a `mask` -> one edit for each
//! event.
//!
//! Invariant: without accumulation a stroke changes a point by its strength at most, however often the pointer passes;
//! a smoothing stroke moves it by no more than that towards its neighbours at the start of the stroke.
//! Invariant: the result does not depend on the speed of the pointer or on the number of events.
//! Invariant: the cost of a dab depends on the points it reaches, not on the size of the mesh.

mod action;
mod changed_rows;
pub(super) mod dab;
mod gradient;
mod mask;
mod painted_bones;
mod touched;
mod weights;

use super::stroke_path::{PathPoint, StrokePath};
use super::strokes::{self, Strokes};
use super::{PointerEvent, Reach, Stamped, SurfaceView, ToolAction, ToolContext};
use crate::document::session::{BrushOptions, PaintMask, PaintTarget};
use crate::document::{Document, Edit, InstanceId, MeshId, MeshItem};
use crate::math::{Camera, Ray};
use crate::mesh::{PointSet, SurfaceHit, Symmetry};
use action::Action;
use dab::Visibility;
use gradient::Gradient;
use mask::MaskPaint;
use std::sync::Arc;
use touched::Touched;
use weights::{StrokeTarget, WeightPaint};

/// The brush.
#[derive(Debug, Default)]
pub struct Brush {
    strokes: Strokes<Stroke>,
}

/// Buffers that one stroke leaves to the next.
#[derive(Debug, Default)]
struct Work {
    reach: Reach,
    slots: Stamped<u32>,
}

#[derive(Debug)]
struct Stroke {
    /// The settings at its start, so that a point never changes in both directions.
    options: BrushOptions,
    action: Action,
    /// The position of the press.
    start: PathPoint,
    path: StrokePath,
    /// The radius of the last dab, pixels.
    radius_px: f32,
    /// The target, once the stroke has hit one.
    begun: Option<Begun>,
    /// Whether nothing can be painted; the reason was shown.
    refused: bool,
}

/// The target of a stroke and the points it has reached.
#[derive(Debug)]
struct Begun {
    instance: InstanceId,
    mesh: MeshId,
    paint: Paint,
    touched: Touched,
    /// Points that may change; `None`: all.
    mask: Option<PointSet>,
    hidden: Option<Arc<PointSet>>,
    mirror: Option<Arc<Symmetry>>,
    /// Number of points under the brush without a mirror image.
    n_unmatched: usize,
    /// Visible points; computed on first use.
    visibility: Option<Visibility>,
    gradient: Option<Gradient>,
}

/// The painted values, with the state of the stroke.
#[derive(Debug)]
enum Paint {
    Weights(Box<WeightPaint>),
    Mask(MaskPaint),
}

impl Paint {
    /// The painted values of `instance`, or the reason why it cannot be painted.
    fn begin(
        document: &Document,
        instance: InstanceId,
        action: Action,
    ) -> Result<(MeshId, Self), String> {
        match document.session().brush.target {
            PaintTarget::Weights => WeightPaint::begin(document, instance, action)
                .map(|(mesh, p)| (mesh, Self::Weights(Box::new(p)))),
            PaintTarget::Mask(_) | PaintTarget::LayerMask => {
                MaskPaint::begin(document, instance, action).map(|(mesh, p)| (mesh, Self::Mask(p)))
            }
        }
    }

    /// The name of the undo step.
    fn label(&self) -> &'static str {
        match self {
            Self::Weights(_) => "Paint weights",
            Self::Mask(paint) => paint.label(),
        }
    }

    /// The message about a stroke that reached points.
    fn take_note(&mut self) -> Option<String> {
        match self {
            Self::Weights(paint) => paint.take_note(),
            Self::Mask(paint) => paint.take_note(),
        }
    }
}

impl Brush {
    /// Whether a stroke is in progress.
    pub fn is_active(&self) -> bool {
        self.strokes.is_active()
    }

    /// Handles a pointer event; returns the actions.
    pub fn pointer(
        &mut self,
        event: &PointerEvent,
        context: &mut ToolContext<'_>,
    ) -> Vec<ToolAction> {
        self.strokes.pointer(event, context)
    }

    /// Whether the button was released before the path was painted to its end.
    pub fn is_ending(&self) -> bool {
        self.strokes.is_ending()
    }

    /// The camera at the release of the button, while that stroke is ending.
    pub fn release_camera(&self) -> Option<Camera> {
        self.strokes.release_camera()
    }

    /// Continues a stroke that is ending, and ends it once all is painted. Call once a frame, with the camera of
    /// [`Self::release_camera`] in the context. `is_urgent`: paints all of it now.
    pub fn end(&mut self, is_urgent: bool, context: &mut ToolContext<'_>) -> Vec<ToolAction> {
        self.strokes.end(is_urgent, context)
    }

    /// Ends the stroke.
    pub fn finish(&mut self, document: &Document) -> Vec<ToolAction> {
        self.strokes.finish(document)
    }

    /// Queues a position of the pointer, to be painted with the next event.
    pub fn trace(&mut self, event: &PointerEvent) {
        self.strokes.trace(event);
    }
}

impl strokes::Stroke for Stroke {
    type Work = Work;

    fn begin(event: &PointerEvent, context: &ToolContext<'_>) -> Self {
        let options = context.document.session().brush;
        let position = PathPoint::of(event);
        Self {
            options,
            action: Action::new(&options, event.smooth, event.invert),
            start: position,
            path: StrokePath::new(position),
            radius_px: options.radius_px,
            begun: None,
            refused: false,
        }
    }

    fn path(&mut self) -> &mut StrokePath {
        &mut self.path
    }

    fn spacing_px(&self) -> f32 {
        (self.radius_px * self.options.spacing).max(1.0)
    }

    fn is_refused(&self) -> bool {
        self.refused
    }

    fn is_drag(&self) -> bool {
        self.action.kind.is_gradient()
    }

    fn follow(
        &mut self,
        event: &PointerEvent,
        context: &mut ToolContext<'_>,
        work: &mut Work,
        actions: &mut Vec<ToolAction>,
    ) {
        self.draw_gradient(event, context, &mut work.slots, actions);
    }

    fn dab(
        &mut self,
        position: PathPoint,
        event: &PointerEvent,
        context: &mut ToolContext<'_>,
        Work { reach, slots }: &mut Work,
        actions: &mut Vec<ToolAction>,
    ) {
        self.touch(position, event, context, slots, reach, actions);
    }

    fn take_edit(&mut self, document: &Document, work: &mut Work) -> Option<Edit> {
        self.begun.as_mut()?.take_edit(document, &work.slots)
    }

    fn finish(self, document: &Document) -> Vec<ToolAction> {
        let Some(mut begun) = self.begun else {
            return Vec::new();
        };
        let mut actions = Vec::new();
        if let Paint::Weights(paint) = &mut begun.paint {
            paint.settle();
            let edit = paint.take_edit(document, begun.mesh, &begun.touched);
            actions.extend(edit.map(ToolAction::Apply));
        }
        actions.push(ToolAction::Commit);
        if begun.touched.is_empty() {
            actions.push(ToolAction::Notify(nothing_under(&self.options).into()));
        } else if let Some(note) = begun.paint.take_note() {
            actions.push(ToolAction::Notify(note));
        } else if begun.n_unmatched > 0 {
            actions.push(ToolAction::Notify(format!(
                "{} have no mirror image: only this side of them was painted.",
                crate::finding::counted(begun.n_unmatched, "vertex")
            )));
        }
        actions
    }
}

/// The reason why no point was reached.
fn nothing_under(options: &BrushOptions) -> &'static str {
    if options.mask != PaintMask::Off {
        "No vertex under the brush is in the paint mask."
    } else if options.kind().is_gradient() {
        "Drag to draw the gradient: no vertex is on its line or in its circle."
    } else {
        "No vertex is under the brush. Press ] for a larger brush."
    }
}

impl Stroke {
    /// Starts on `instance`; returns whether it can.
    fn begin(
        &mut self,
        instance: InstanceId,
        context: &mut ToolContext<'_>,
        slots: &mut Stamped<u32>,
        actions: &mut Vec<ToolAction>,
    ) -> bool {
        match Begun::new(instance, self, context) {
            Ok(begun) => {
                let n_points = context.document.meshes().get(&begun.mesh);
                slots.start(n_points.map_or(0, |item| item.geometry.n_points()));
                actions.push(ToolAction::Begin(begun.paint.label()));
                self.begun = Some(begun);
                true
            }
            Err(why) => {
                self.refused = true;
                actions.push(ToolAction::Notify(why));
                false
            }
        }
    }
}

impl Begun {
    /// The target of a stroke on `instance`, or the reason why it cannot start.
    fn new(
        instance: InstanceId,
        stroke: &Stroke,
        context: &mut ToolContext<'_>,
    ) -> Result<Self, String> {
        let document = context.document;
        let (mesh, paint) = Paint::begin(document, instance, stroke.action)?;
        let item = document
            .meshes()
            .get(&mesh)
            .ok_or("The mesh does not exist any more.")?;
        let name = &item.geometry.name;
        let mirror = mirror_of(mesh, item, &stroke.options, context)?;
        let mask = paint_mask(document, mesh, item, stroke.options.mask);
        if mask.as_ref().is_some_and(PointSet::is_empty) {
            let what = if stroke.options.mask == PaintMask::Faces {
                "face"
            } else {
                "vertex"
            };
            return Err(format!(
                "The paint mask is on, but no {what} of \"{name}\" is selected. Select some or turn the mask off."
            ));
        }
        if let Some((_, surface)) = context.surfaces.iter_mut().find(|(id, _)| *id == instance) {
            surface.prepare();
        }
        Ok(Self {
            instance,
            mesh,
            paint,
            touched: Touched::default(),
            mask,
            hidden: document.session().hidden_points.get(&mesh).cloned(),
            mirror,
            n_unmatched: 0,
            visibility: None,
            gradient: None,
        })
    }

    /// Whether a point may be painted.
    fn may_paint(&self, point: u32) -> bool {
        let is_in = |set: &PointSet| set.contains(point);
        self.mask.as_ref().is_none_or(is_in) && !self.hidden.as_deref().is_some_and(is_in)
    }

    /// Stores the effect on a point and on its mirror image: the maximum, or with `exactly` the new effect.
    fn affect(
        &mut self,
        point: u32,
        effect: f32,
        exactly: bool,
        item: &MeshItem,
        document: &Document,
        slots: &mut Stamped<u32>,
    ) {
        let image = match &self.mirror {
            None => None,
            Some(mirror) => {
                let partner = mirror.partner(point);
                self.n_unmatched += usize::from(partner.is_none() && slots.get(point).is_none());
                partner
            }
        };
        for (side, point) in [(0, Some(point)), (1, image)] {
            let Some(point) = point.filter(|&p| self.may_paint(p)) else {
                continue;
            };
            let (slot, is_new) = self.touched.slot(slots, point);
            if is_new {
                match &mut self.paint {
                    Paint::Mask(paint) => paint.add_slot(item, point),
                    Paint::Weights(paint) => {
                        if let Some(rows) = document.paint_rows(self.mesh) {
                            paint.add_slot(rows, point);
                        }
                    }
                }
            }
            if exactly {
                self.touched.set(slot, side, effect);
            } else {
                self.touched.raise(slot, side, effect);
            }
        }
    }

    /// Computes the new values of the slots whose effect changed.
    fn update(&mut self, item: &MeshItem, document: &Document, slots: &Stamped<u32>) -> Vec<u32> {
        let dirty = self.touched.take_dirty();
        if dirty.is_empty() {
            return dirty;
        }
        match &mut self.paint {
            Paint::Mask(paint) => paint.update(item, &self.touched, slots, &dirty),
            Paint::Weights(paint) => {
                if let Some(rows) = document.paint_rows(self.mesh) {
                    let target = StrokeTarget {
                        item,
                        rows,
                        touched: &self.touched,
                        slots,
                    };
                    paint.update(target, &dirty);
                }
            }
        }
        dirty
    }

    /// The changes since the last call.
    fn take_edit(&mut self, document: &Document, slots: &Stamped<u32>) -> Option<Edit> {
        let item = document.meshes().get(&self.mesh)?;
        self.update(item, document, slots);
        match &mut self.paint {
            Paint::Weights(paint) => paint.take_edit(document, self.mesh, &self.touched),
            Paint::Mask(paint) => paint.take_edit(self.mesh, &self.touched),
        }
    }
}

/// The mirror images of a mesh's points where the brush has symmetry, or the reason why a stroke has to wait.
pub(super) fn mirror_of(
    mesh: MeshId,
    item: &MeshItem,
    options: &BrushOptions,
    context: &ToolContext<'_>,
) -> Result<Option<Arc<Symmetry>>, String> {
    let Some(axis) = options.symmetry else {
        return Ok(None);
    };
    let known = context.mirrors.get(&mesh);
    match known.filter(|mirror| mirror.axis() == axis) {
        Some(mirror) => Ok(Some(mirror.clone())),
        None => Err(format!(
            "The mirror image of \"{}\" across {} is still being computed. Try again in a moment, or turn symmetry off.",
            item.geometry.name,
            axis.letter()
        )),
    }
}

/// The points that may change; `None`: all.
pub(super) fn paint_mask(
    document: &Document,
    mesh: MeshId,
    item: &MeshItem,
    mask: PaintMask,
) -> Option<PointSet> {
    let selected = document.session().selected_points.get(&mesh);
    let selected = || selected.map(|set| PointSet::clone(set)).unwrap_or_default();
    match mask {
        PaintMask::Off => None,
        PaintMask::Points => Some(selected()),
        PaintMask::Faces => {
            let (selected, topology) = (selected(), item.geometry.topology());
            let faces = selected.iter().flat_map(|p| topology.faces(p));
            let corners = faces.map(|&face| topology.triangles[face as usize]);
            let whole = corners.filter(|face| face.iter().all(|&p| selected.contains(p)));
            Some(whole.flatten().collect())
        }
    }
}

/// The neighbours of a point, across seams too.
fn ring(item: &MeshItem, point: u32, near: &mut Vec<u32>) {
    let topology = item.geometry.topology();
    near.clear();
    near.extend_from_slice(topology.neighbours(point));
    let mut twin = topology.next_coincident(point);
    let has_twin = twin.is_some();
    while let Some(other) = twin.filter(|&other| other != point) {
        near.extend_from_slice(topology.neighbours(other));
        twin = topology.next_coincident(other);
    }
    if has_twin {
        near.sort_unstable();
        near.dedup();
    }
}

/// The surface that `ray` hits first.
pub(super) fn nearest(
    surfaces: &mut [(InstanceId, SurfaceView<'_>)],
    ray: &Ray,
) -> Option<(InstanceId, SurfaceHit)> {
    surfaces
        .iter_mut()
        .filter_map(|(id, surface)| Some((*id, surface.cast_ray(ray)?)))
        .min_by(|a, b| a.1.distance.total_cmp(&b.1.distance))
}
