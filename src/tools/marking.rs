//! Marking control clusters: strokes on the posed, deformed surface that put points into the active group.
//!
//! Data flow: evenly spaced dabs along the path find the points under the brush -> those that the stroke changes, with
//! their mirror images and the other sides of seams, are collected -> one edit for each event.
//!
//! Invariant: Shift grows, and Ctrl+Shift shrinks, the clusters of the press by one ring, however often the pointer
//! passes.
//! Invariant: with one group shown alone, the clusters of the others stay as they are.

use super::brush::dab::{OnScreen, Visibility, find, pressed};
use super::brush::{mirror_of, nearest};
use super::stroke_path::{PathPoint, StrokePath};
use super::strokes::{self, Strokes};
use super::{PointerEvent, Reach, ToolAction, ToolContext};
use crate::cluster::{ClusterMap, GroupPreset};
use crate::document::session::{BrushOptions, FalloffShape};
use crate::document::{ClustersEdit, Document, Edit, InstanceId, MeshId, MeshItem};
use crate::finding::counted;
use crate::math::Camera;
use crate::mesh::{PointSet, SurfaceHit, Symmetry, Topology};
use std::sync::Arc;

/// The brush that marks clusters.
#[derive(Debug, Default)]
pub struct Marking {
    strokes: Strokes<Stroke>,
}

/// What a stroke does with the points under the brush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Mark,
    Unmark,
    Grow,
    Shrink,
}

impl Act {
    fn of(event: &PointerEvent) -> Self {
        match (event.invert, event.smooth) {
            (false, false) => Self::Mark,
            (true, false) => Self::Unmark,
            (false, true) => Self::Grow,
            (true, true) => Self::Shrink,
        }
    }

    fn adds(self) -> bool {
        matches!(self, Self::Mark | Self::Grow)
    }
}

#[derive(Debug)]
struct Stroke {
    /// The settings at its start.
    options: BrushOptions,
    act: Act,
    path: StrokePath,
    /// The radius of the last dab, pixels.
    radius_px: f32,
    begun: Option<Begun>,
    /// Whether nothing can be marked; the reason was shown.
    refused: bool,
}

/// The mesh of a stroke and the points it has changed.
#[derive(Debug)]
struct Begun {
    instance: InstanceId,
    mesh: MeshId,
    /// The clusters at the press, with the group that is marked.
    start: ClusterMap,
    group: u16,
    /// The only group that may change.
    alone: Option<u16>,
    mirror: Option<Arc<Symmetry>>,
    /// Whether symmetry is on and the object has no skin to take the mirror image from.
    lacks_mirror: bool,
    visibility: Option<Visibility>,
    changed: PointSet,
    /// Changed since the last edit.
    fresh: Vec<u32>,
}

impl Marking {
    /// Whether a stroke is in progress.
    pub fn is_active(&self) -> bool {
        self.strokes.is_active()
    }

    /// Whether the button was released before the path was followed to its end.
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

    /// Continues a stroke that is ending, and ends it once all of its path is followed. Call once a frame, with the camera
    /// of [`Self::release_camera`] in the context. `is_urgent`: follows all of it now.
    pub fn end(&mut self, is_urgent: bool, context: &mut ToolContext<'_>) -> Vec<ToolAction> {
        self.strokes.end(is_urgent, context)
    }

    /// Ends the stroke.
    pub fn finish(&mut self, document: &Document) -> Vec<ToolAction> {
        self.strokes.finish(document)
    }
}

impl strokes::Stroke for Stroke {
    type Work = Reach;

    fn begin(event: &PointerEvent, context: &ToolContext<'_>) -> Self {
        let options = context.document.session().brush;
        Self {
            options,
            act: Act::of(event),
            path: StrokePath::new(PathPoint::of(event)),
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

    /// Changes the points under the brush at `position`.
    fn dab(
        &mut self,
        position: PathPoint,
        event: &PointerEvent,
        context: &mut ToolContext<'_>,
        reach: &mut Reach,
        actions: &mut Vec<ToolAction>,
    ) {
        let at = PointerEvent {
            ndc: position.ndc,
            ..*event
        };
        let ray = at.ray(context.camera);
        let is_first = self.begun.is_none();
        if is_first {
            let Some((instance, _)) = nearest(context.surfaces, &ray) else {
                return;
            };
            match Begun::new(instance, self.act, &self.options, context) {
                Ok(begun) => {
                    actions.push(ToolAction::Begin(if self.act.adds() {
                        "Mark clusters"
                    } else {
                        "Unmark clusters"
                    }));
                    self.begun = Some(begun);
                }
                Err(why) => {
                    self.refused = true;
                    actions.push(ToolAction::Notify(why));
                    return;
                }
            }
        }
        let options = self.options;
        let Some(begun) = &mut self.begun else { return };
        let needs_visibility = options.falloff_shape != FalloffShape::Surface && !options.xray;
        if needs_visibility && begun.visibility.is_none() {
            begun.visibility = Some(Visibility::new(context.camera, event.size_px, context));
        }
        let on = begun.instance;
        let surface = context.surfaces.iter_mut().find(|(id, _)| *id == on);
        let Some((_, surface)) = surface else { return };
        let Some(item) = context.document.meshes().get(&begun.mesh) else {
            return;
        };
        let (_, size) = pressed(&options, position.pressure);
        let hit = surface.cast_ray(&ray);
        let metres = |hit: SurfaceHit| {
            let position = hit.position;
            context.camera.metres_per_pixel(position, event.size_px.y)
        };
        let under = hit.map(|hit| (hit, options.radius_in_world(metres(hit)) * size));
        if let Some(hit) = hit {
            self.radius_px = (options.radius_on_screen(metres(hit)) * size).max(1e-3);
        }
        let on_screen = OnScreen {
            camera: context.camera,
            size_px: event.size_px,
            ndc: position.ndc,
            radius_px: self.radius_px,
        };
        let topology = item.geometry.topology();
        let mut is_empty = true;
        if find(surface, options.falloff_shape, under, &on_screen, reach).is_some() {
            for &(point, _) in &reach.found {
                let is_reached = (!options.front_faces_only || surface.faces(point, ray.direction))
                    && begun
                        .visibility
                        .as_ref()
                        .is_none_or(|v| options.xray || v.is_visible(surface, point));
                if is_reached {
                    is_empty = false;
                    begun.change(point, self.act, topology);
                }
            }
        }
        // A click between the vertices of a coarse mesh means the nearest one.
        if let Some(hit) = hit.filter(|_| is_first && is_empty) {
            let corners = topology.triangles[hit.triangle as usize];
            let distance = |p: &u32| surface.positions[*p as usize].distance(hit.position);
            let nearest = corners.into_iter();
            let nearest = nearest.min_by(|a, b| distance(a).total_cmp(&distance(b)));
            if let Some(point) = nearest {
                begun.change(point, self.act, topology);
            }
        }
    }

    fn take_edit(&mut self, document: &Document, _: &mut Reach) -> Option<Edit> {
        let act = self.act;
        let begun = self.begun.as_mut().filter(|b| !b.fresh.is_empty())?;
        let item = document.meshes().get(&begun.mesh)?;
        let fresh = std::mem::take(&mut begun.fresh);
        let known: &ClusterMap = &item.clusters;
        // The first edit also adds the group, if there was none.
        let is_new = known.groups().len() < begun.start.groups().len();
        let known = if is_new { &begun.start } else { known };
        let map = known.with_points(&fresh, act.adds().then_some(begun.group));
        let edit = ClustersEdit::new(document, begun.mesh, Arc::new(map));
        Some(Edit::Clusters(edit))
    }

    fn finish(self, document: &Document) -> Vec<ToolAction> {
        let Some(begun) = self.begun else {
            return Vec::new();
        };
        let mut actions = Vec::new();
        if begun.changed.is_empty() {
            actions.extend(begun.why_nothing(self.act).map(ToolAction::Notify));
        } else if let Some(item) = document.meshes().get(&begun.mesh) {
            let n = begun.n_changed(item.geometry.topology());
            actions.push(ToolAction::Name(begun.label(self.act, n)));
            if begun.lacks_mirror {
                let why = "Symmetry needs an object with a skin: only one side was marked.";
                actions.push(ToolAction::Notify(why.into()));
            }
            let changed: Vec<u32> = begun.changed.iter().collect();
            let to = self.act.adds().then_some(begun.group);
            let lost = begun.start.lost_by_hand(&changed, to).len();
            if lost > 0 {
                actions.push(ToolAction::Notify(format!(
                    "The displacements by hand of {} are lost. Undo restores them.",
                    counted(lost, "vertex")
                )));
            }
        }
        actions.push(ToolAction::Commit);
        actions
    }
}

impl Begun {
    /// A stroke on an instance, or the reason why it cannot start.
    fn new(
        instance: InstanceId,
        act: Act,
        options: &BrushOptions,
        context: &ToolContext<'_>,
    ) -> Result<Self, String> {
        let gone = "The mesh does not exist any more.";
        let document = context.document;
        let mesh = document.instances().get(&instance).ok_or(gone)?.mesh;
        let item: &MeshItem = document.meshes().get(&mesh).ok_or(gone)?;
        let mut start = ClusterMap::clone(&item.clusters);
        if act != Act::Mark && !start.acts() {
            let name = &item.geometry.name;
            return Err(format!(
                "\"{name}\" has no clusters. Drag without Ctrl and Shift to mark some."
            ));
        }
        if start.groups().is_empty() {
            let group = GroupPreset::Skin.group(&start);
            start = start.with_group(None, group).map_err(|e| e.to_string())?;
        }
        // Without a skin there is no mirror image to look for.
        let has_skin = document.skin_of_mesh(mesh).is_some();
        Ok(Self {
            instance,
            mesh,
            group: document.active_group(mesh).unwrap_or_default(),
            alone: document.isolated_group(mesh),
            mirror: if has_skin {
                mirror_of(mesh, item, options, context)?
            } else {
                None
            },
            lacks_mirror: !has_skin && options.symmetry.is_some(),
            start,
            visibility: None,
            changed: PointSet::default(),
            fresh: Vec::new(),
        })
    }

    /// Changes a point, its mirror image, and the other sides of their seams.
    fn change(&mut self, point: u32, act: Act, topology: &Topology) {
        let image = self
            .mirror
            .as_ref()
            .and_then(|mirror| mirror.partner(point));
        for point in [Some(point), image].into_iter().flatten() {
            if !self.is_meant(point, act, topology) {
                continue;
            }
            for side in std::iter::once(point).chain(topology.twins(point)) {
                let is_other = self.start.group_of(side) != act.adds().then_some(self.group);
                if is_other && self.changed.insert(side) {
                    self.fresh.push(side);
                }
            }
        }
    }

    /// Whether the stroke changes a point under the brush.
    fn is_meant(&self, point: u32, act: Act, topology: &Topology) -> bool {
        let group = self.start.group_of(point);
        if group.is_some_and(|group| self.alone.is_some_and(|alone| alone != group)) {
            return false;
        }
        let is_own = |point: u32| self.start.group_of(point) == Some(self.group);
        let has_near = |wanted: bool| {
            let mut sides = std::iter::once(point).chain(topology.twins(point));
            sides.any(|side| {
                let mut near = topology.neighbours(side).iter();
                near.any(|&q| is_own(q) == wanted)
            })
        };
        match act {
            Act::Mark => !is_own(point),
            Act::Unmark => group.is_some(),
            Act::Grow => group.is_none() && has_near(true),
            Act::Shrink => is_own(point) && has_near(false),
        }
    }

    /// The number of changed points, with the sides of a seam as one.
    fn n_changed(&self, topology: &Topology) -> usize {
        let is_counted = |twin: u32, point: u32| twin < point && self.changed.contains(twin);
        let points = self.changed.iter();
        points
            .filter(|&point| !topology.twins(point).any(|twin| is_counted(twin, point)))
            .count()
    }

    /// The name of the undo step: "Mark 14 clusters · Skin".
    fn label(&self, act: Act, n: usize) -> String {
        let clusters = counted(n, "cluster");
        if !act.adds() {
            return format!("Unmark {clusters}");
        }
        let group = self.start.groups().get(usize::from(self.group));
        let group = group.map_or("", |group| group.name.as_str());
        format!("Mark {clusters} · {group}")
    }

    /// Why a stroke over the surface changed nothing, where that is a surprise.
    fn why_nothing(&self, act: Act) -> Option<String> {
        let group = self.start.groups().get(usize::from(self.group))?;
        match act {
            Act::Grow
                if self
                    .start
                    .counts()
                    .get(usize::from(self.group))
                    .is_none_or(|n| *n == 0) =>
            {
                Some(format!(
                    "The group \"{}\" has no clusters to grow.",
                    group.name
                ))
            }
            _ => None,
        }
    }
}
