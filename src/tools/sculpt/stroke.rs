//! One stroke: its dabs, the points that they reach, and their mirror images.

use super::brushes::{self, Dab};
use super::moved::Moved;
use super::shape::Shape;
use crate::document::session::{BrushOptions, FalloffShape, SculptKind};
use crate::document::{Document, Edit, SculptTarget};
use crate::finding::counted;
use crate::mesh::{PointSet, Symmetry};
use crate::tools::brush::dab::{OnScreen, Visibility, find, pressed};
use crate::tools::brush::{mirror_of, nearest, paint_mask};
use crate::tools::stroke_path::{PathPoint, StrokePath};
use crate::tools::strokes;
use crate::tools::{PointerEvent, Reach, ToolAction, ToolContext};
use glam::Vec3;
use std::sync::Arc;

/// A stroke in progress.
#[derive(Debug)]
pub(super) struct Stroke {
    /// The settings at its start.
    pub(super) options: BrushOptions,
    pub(super) kind: SculptKind,
    /// Ctrl at its start.
    pub(super) invert: bool,
    /// The radius of the last dab, pixels.
    pub(super) radius_px: f32,
    pub(super) path: StrokePath,
    /// The target, once the stroke has hit one.
    pub(super) begun: Option<Begun>,
    /// Whether nothing can be sculpted; the reason was shown.
    pub(super) refused: bool,
}

/// What a stroke sculpts, and what it has done so far.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) target: SculptTarget,
    pub(super) shape: Shape,
    pub(super) moved: Moved,
    /// What the stroke replaces where the kind of brush is a drag.
    pub(super) grabbed: Option<Grabbed>,
    /// Points that may change; `None`: all.
    mask: Option<PointSet>,
    /// Points that the samples of the set may hold; `None`: all.
    held: Option<PointSet>,
    hidden: Option<Arc<PointSet>>,
    mirror: Option<Arc<Symmetry>>,
    /// Points under the brush without a mirror image.
    unmatched: PointSet,
    visibility: Option<Visibility>,
}

/// The points that a drag moves.
#[derive(Debug)]
pub(super) struct Grabbed {
    /// The position on the surface at the press.
    pub(super) place: Vec3,
    /// Points with the effect of the brush on them.
    pub(super) points: Vec<(u32, f32)>,
    /// Under Slide the triangle of the surface on which each of them is, once it moved.
    pub(super) triangles: Vec<Option<u32>>,
}

/// A dab, and the points that it reaches with the effect of the brush on each.
pub(super) struct Reached {
    pub(super) centre: Vec3,
    radius: f32,
    pub(super) points: Vec<(u32, f32)>,
}

impl strokes::Stroke for Stroke {
    type Work = Reach;

    fn begin(event: &PointerEvent, context: &ToolContext<'_>) -> Self {
        let session = context.document.session();
        let kind = if event.smooth {
            SculptKind::Smooth
        } else {
            session.sculpt_kind
        };
        Self {
            options: session.brush,
            kind,
            invert: event.invert,
            radius_px: session.brush.radius_px,
            path: StrokePath::new(PathPoint::of(event)),
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
        self.kind.is_drag()
    }

    fn follow(
        &mut self,
        event: &PointerEvent,
        context: &mut ToolContext<'_>,
        reach: &mut Reach,
        actions: &mut Vec<ToolAction>,
    ) {
        self.drag(event, context, reach, actions);
    }

    /// Applies a dab to the surface under `position`.
    fn dab(
        &mut self,
        position: PathPoint,
        event: &PointerEvent,
        context: &mut ToolContext<'_>,
        reach: &mut Reach,
        actions: &mut Vec<ToolAction>,
    ) {
        let Some(found) = self.reach(position, event, context, reach, actions) else {
            return;
        };
        let dab = Dab {
            kind: self.kind,
            centre: found.centre,
            radius: found.radius,
            spacing: self.options.spacing,
            invert: self.invert,
        };
        if let Some(begun) = &mut self.begun {
            begun.dab(&dab, found.points);
        }
    }

    fn take_edit(&mut self, document: &Document, _: &mut Reach) -> Option<Edit> {
        self.begun.as_mut()?.take_edit(document)
    }

    fn finish(self, _: &Document) -> Vec<ToolAction> {
        let Some(begun) = self.begun else {
            return Vec::new();
        };
        let mut actions = vec![ToolAction::Commit];
        if begun.moved.is_empty() {
            let why = if begun.mask.is_some() {
                "No vertex under the brush is in the paint mask."
            } else if begun.held.is_some() {
                "No vertex under the brush is a control cluster of the set."
            } else {
                "No vertex is under the brush. Press ] for a larger brush."
            };
            actions.push(ToolAction::Notify(why.into()));
        }
        actions.extend(begun.one_sided().map(ToolAction::Notify));
        actions
    }
}

impl Stroke {
    /// The points under the brush at a position of the path. `None`: beside the surface, or refused.
    pub(super) fn reach(
        &mut self,
        position: PathPoint,
        event: &PointerEvent,
        context: &mut ToolContext<'_>,
        reach: &mut Reach,
        actions: &mut Vec<ToolAction>,
    ) -> Option<Reached> {
        let at = PointerEvent {
            ndc: position.ndc,
            ..*event
        };
        let ray = at.ray(context.camera);
        if self.begun.is_none() {
            let (instance, _) = nearest(context.surfaces, &ray)?;
            let target = SculptTarget::find(context.document, instance);
            let begun = target.and_then(|target| Begun::new(target, &self.options, context));
            match begun {
                Ok(begun) => {
                    actions.push(ToolAction::Begin("Sculpt"));
                    self.begun = Some(begun);
                }
                Err(why) => {
                    self.refused = true;
                    actions.push(ToolAction::Notify(why));
                }
            }
        }
        let options = &self.options;
        let begun = self.begun.as_mut()?;
        let hit = begun.shape.cast_ray(&ray)?;
        let centre = begun.shape.place_now(&hit);
        let (strength, size) = pressed(options, position.pressure);
        let metres = context
            .camera
            .metres_per_pixel(hit.position, event.size_px.y);
        self.radius_px = (options.radius_on_screen(metres) * size).max(1e-3);
        let needs_visibility = options.falloff_shape != FalloffShape::Surface && !options.xray;
        if needs_visibility && begun.visibility.is_none() {
            begun.visibility = Some(Visibility::new(context.camera, event.size_px, context));
        }
        let world = options.radius_in_world(metres) * size;
        let on_screen = OnScreen {
            camera: context.camera,
            size_px: event.size_px,
            ndc: position.ndc,
            radius_px: self.radius_px,
        };
        let shape = options.falloff_shape;
        let radius = begun
            .shape
            .with_start(|surface| find(surface, shape, Some((hit, world)), &on_screen, reach))?;
        // A drag follows the pointer in full, and takes all of a silhouette with it.
        let is_drag = self.kind.is_drag();
        let strength = if is_drag {
            strength
        } else {
            strength * options.strength
        };
        let any_side = is_drag || !options.front_faces_only;
        let mut points = Vec::with_capacity(reach.found.len());
        for &(point, distance) in &reach.found {
            let effect = strength * options.fades_to(distance / radius);
            // A comparison that NaN fails.
            if effect > 0.0
                && begun.may_sculpt(point)
                && (any_side || begun.faces(point, ray.direction))
                && begun.is_seen(point)
            {
                points.push((point, effect));
            }
        }
        // Neighbours in memory one after the other, as most meshes are.
        points.sort_unstable_by_key(|reached| reached.0);
        Some(Reached {
            centre,
            radius: world,
            points,
        })
    }
}

impl Begun {
    /// A stroke on a target, or the reason why it cannot start.
    pub(super) fn new(
        target: SculptTarget,
        options: &BrushOptions,
        context: &mut ToolContext<'_>,
    ) -> Result<Self, String> {
        let gone = "The mesh does not exist any more.";
        let document = context.document;
        let item = document.meshes().get(&target.mesh).ok_or(gone)?;
        let name = &item.geometry.name;
        let mirror = mirror_of(target.mesh, item, options, context)?;
        let mask = paint_mask(document, target.mesh, item, options.mask);
        if mask.as_ref().is_some_and(PointSet::is_empty) {
            return Err(format!(
                "The paint mask is on, but nothing of \"{name}\" is selected. Select some or turn the mask off."
            ));
        }
        let hidden = document.session().hidden_points.get(&target.mesh).cloned();
        let surfaces = context.surfaces.iter_mut();
        let surface = surfaces
            .map(|(id, surface)| (*id, surface))
            .find(|(id, _)| *id == target.instance);
        let (_, surface) = surface.ok_or(gone)?;
        let rotations = document.point_rotations(target.instance).ok_or(gone)?;
        let factors = target.factors(document).ok_or(gone)?;
        let set = item.correctives.sets().get(target.set).ok_or(gone)?;
        let sample = set.samples.get(target.sample).ok_or(gone)?;
        let sample = sample.displacements.clone();
        let held = set.vertices.points(&item.clusters);
        Ok(Self {
            shape: Shape::new(item, surface, hidden.clone()),
            moved: Moved::new(rotations, sample, factors, item.geometry.n_points()),
            target,
            grabbed: None,
            mask,
            held,
            hidden,
            mirror,
            unmatched: PointSet::default(),
            visibility: None,
        })
    }

    /// The changes since the last call.
    pub(super) fn take_edit(&mut self, document: &Document) -> Option<Edit> {
        self.moved
            .take_edit(document, &self.target, self.shape.negligible)
    }

    /// What is said of points without a mirror image.
    pub(super) fn one_sided(&self) -> Option<String> {
        let n = self.unmatched.count();
        (n > 0).then(|| {
            let have = if n == 1 { "has" } else { "have" };
            format!(
                "{} {have} no mirror image: only this side was sculpted.",
                counted(n, "vertex")
            )
        })
    }

    /// Whether a point may change.
    pub(super) fn may_sculpt(&self, point: u32) -> bool {
        let is_in = |set: &PointSet| set.contains(point);
        self.mask.as_ref().is_none_or(is_in)
            && self.held.as_ref().is_none_or(is_in)
            && !self.hidden.as_deref().is_some_and(is_in)
    }

    /// Whether a point of the surface at the press faces a camera that looks along `direction`.
    fn faces(&self, point: u32, direction: Vec3) -> bool {
        let known = self.moved.start_normal(point);
        let normal = known.unwrap_or_else(|| self.shape.start_normal(point));
        normal.dot(direction) <= 0.0
    }

    /// Whether a point is visible, if the settings require that.
    fn is_seen(&mut self, point: u32) -> bool {
        let Self {
            visibility, shape, ..
        } = self;
        visibility.as_ref().is_none_or(|visibility| {
            shape.with_start(|surface| visibility.is_visible(surface, point))
        })
    }

    /// Applies a dab to points.
    fn dab(&mut self, dab: &Dab, mut reached: Vec<(u32, f32)>) {
        // Each side of what these brushes do follows from the points there alone.
        let is_local = !matches!(dab.kind, SculptKind::Flatten | SculptKind::Pinch);
        if is_local {
            self.add_images(&mut reached);
        }
        let made = brushes::displacements(dab, &reached, &self.shape, &mut self.moved);
        if is_local {
            let points = reached.iter().map(|reached| reached.0);
            self.add_all(points.zip(made), false);
        } else {
            self.apply(&reached, made, false);
        }
    }

    /// Adds the mirror images of points, each with the larger effect.
    fn add_images(&mut self, reached: &mut Vec<(u32, f32)>) {
        let Some(mirror) = self.mirror.clone() else {
            return;
        };
        for i in 0..reached.len() {
            let (point, effect) = reached[i];
            match mirror.partner(point) {
                Some(image) if self.may_sculpt(image) => reached.push((image, effect)),
                Some(_) => {}
                None => {
                    self.unmatched.insert(point);
                }
            }
        }
        reached.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        reached.dedup_by_key(|r| r.0);
    }

    /// Adds displacements to points that were reached, and their reflections to the mirror images. A point that is reached on both sides
    /// moves by the mean of the two, so that the centre line stays in the plane. `instead`: see [`Moved::add`].
    pub(super) fn apply(
        &mut self,
        reached: &[(u32, f32)],
        displacements: Vec<Vec3>,
        instead: bool,
    ) {
        let Some(mirror) = self.mirror.clone() else {
            let points = reached.iter().map(|reached| reached.0);
            self.add_all(points.zip(displacements), instead);
            return;
        };
        let own = reached.iter().zip(displacements);
        let mut all: Vec<(u32, f32, Vec3)> = own.map(|(&(p, e), d)| (p, e, d)).collect();
        for i in 0..all.len() {
            let (point, effect, d) = all[i];
            match mirror.partner(point) {
                Some(image) if self.may_sculpt(image) => {
                    all.push((image, effect, mirror.axis().reflect(d)));
                }
                Some(_) => {}
                None => {
                    self.unmatched.insert(point);
                }
            }
        }
        // Stable: a point's own comes before that of its image.
        all.sort_by_key(|part| part.0);
        let merged = all.chunk_by(|a, b| a.0 == b.0).map(|parts| {
            let total: f32 = parts.iter().map(|part| part.1).sum();
            let most = parts.iter().map(|part| part.1).fold(0.0, f32::max);
            let sum: Vec3 = parts.iter().map(|part| part.2).sum();
            let mean = if total > 0.0 {
                sum * (most / total)
            } else {
                sum
            };
            (parts[0].0, mean)
        });
        let merged: Vec<(u32, Vec3)> = merged.collect();
        // The images, too.
        let points = merged.iter().map(|part| part.0);
        self.moved.reach(points, &self.shape, false);
        self.add_all(merged.into_iter(), instead);
    }

    fn add_all(&mut self, displacements: impl Iterator<Item = (u32, Vec3)>, instead: bool) {
        for (point, d) in displacements {
            if let Some(offset) = self.moved.add(point, d, instead) {
                self.shape.set_offset(point, offset);
            }
        }
    }
}
