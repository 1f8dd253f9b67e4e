//! The Add brush: gives the active bone more weight under the pointer, or less with Ctrl.

use super::{PointerEvent, PointerKind, SurfaceView, ToolAction, ToolContext};
use crate::document::{Document, Edit, InstanceId, MeshId};
use crate::math::Ray;
use crate::mesh::SurfaceHit;
use crate::skinning::{RowRef, Rows};
use crate::weights::{PaintRules, set_weight};
use glam::Vec2;
use std::collections::HashMap;

/// Most dabs between two pointer events; a jump across the screen is no stroke.
const MAX_DABS: usize = 64;

/// The Add weight brush.
///
/// Without accumulation: however often the pointer passes, a point changes by no more than the strength in one stroke.
#[derive(Debug, Default)]
pub struct WeightBrush {
    stroke: Option<Stroke>,
}

#[derive(Debug)]
struct Stroke {
    instance: InstanceId,
    mesh: MeshId,
    /// Index of the painted bone in the influences.
    joint: u16,
    /// n_skin_joints.
    locked: Vec<bool>,
    last_dab: Vec2,
    /// What each touched point had before the stroke, and the largest effect so far.
    touched: HashMap<u32, (Vec<(u16, f32)>, f32)>,
}

impl WeightBrush {
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
            PointerKind::Drag => self.drag(event, context),
            PointerKind::Release => self
                .stroke
                .take()
                .map(|_| ToolAction::Commit)
                .into_iter()
                .collect(),
            PointerKind::Cancel => self
                .stroke
                .take()
                .map(|_| ToolAction::Cancel)
                .into_iter()
                .collect(),
        }
    }

    fn press(&mut self, event: &PointerEvent, context: &mut ToolContext<'_>) -> Vec<ToolAction> {
        self.stroke = None;
        let ray = event.ray(context.camera);
        let Some((instance, hit)) = nearest(context.surfaces, &ray) else {
            return Vec::new();
        };
        match begin(context.document, instance, event.ndc) {
            Ok(stroke) => {
                let mut actions = vec![ToolAction::Begin("Paint weights")];
                let stroke = self.stroke.insert(stroke);
                actions.extend(dab(stroke, event, &ray, &hit, context));
                actions
            }
            Err(why) => vec![ToolAction::Say(why)],
        }
    }

    fn drag(&mut self, event: &PointerEvent, context: &mut ToolContext<'_>) -> Vec<ToolAction> {
        let Some(stroke) = &mut self.stroke else {
            return Vec::new();
        };
        let brush = &context.document.session().brush;
        let spacing_px = (brush.radius_px * brush.spacing).max(1.0);
        let travelled = (event.ndc - stroke.last_dab) * event.size_px * 0.5;
        let n_dabs = ((travelled.length() / spacing_px) as usize).min(MAX_DABS);
        let start = stroke.last_dab;
        let mut actions = Vec::new();
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
                actions.extend(dab(stroke, &at, &ray, &hit, context));
            }
        }
        actions
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

/// A stroke on `instance`, or why there can be none.
fn begin(document: &Document, instance: InstanceId, ndc: Vec2) -> Result<Stroke, String> {
    let skeleton = document.skeleton();
    let Some(drawn) = document.instances().get(&instance) else {
        return Err("The mesh is gone.".into());
    };
    let name = document
        .meshes()
        .get(&drawn.mesh)
        .map_or("", |m| m.geometry.name.as_str());
    let Some(skin) = drawn.skin.and_then(|s| document.skins().get(&s)) else {
        return Err(format!(
            "\"{name}\" is not skinned: it follows one bone, so there are no weights to paint."
        ));
    };
    let Some(active) = document.session().active_joint else {
        return Err(
            "No bone is active. Click a bone in the view or in the list, then paint.".into(),
        );
    };
    let label = skeleton.label(active);
    let Some(joint) = skin.joints.iter().position(|&j| j == active) else {
        return Err(format!(
            "\"{label}\" is no bone of the skin that moves \"{name}\"."
        ));
    };
    let locked: Vec<bool> = skin
        .joints
        .iter()
        .map(|j| document.locked().contains(j))
        .collect();
    if locked[joint] {
        return Err(format!("\"{label}\" is locked. Unlock it to paint."));
    }
    if document.session().brush.normalise
        && locked.len() > 1
        && locked.iter().filter(|l| !**l).count() == 1
    {
        return Err(format!(
            "All bones but \"{label}\" are locked, so no weight can move. Unlock another one."
        ));
    }
    Ok(Stroke {
        instance,
        mesh: drawn.mesh,
        joint: joint as u16,
        locked,
        last_dab: ndc,
        touched: HashMap::new(),
    })
}

/// One touch of the brush: an edit of the points it changes, if any.
fn dab(
    stroke: &mut Stroke,
    event: &PointerEvent,
    ray: &Ray,
    hit: &SurfaceHit,
    context: &ToolContext<'_>,
) -> Option<ToolAction> {
    let brush = &context.document.session().brush;
    let item = context.document.meshes().get(&stroke.mesh)?;
    let (_, surface) = context
        .surfaces
        .iter()
        .find(|(id, _)| *id == stroke.instance)?;
    let radius = brush.radius_px
        * context
            .camera
            .metres_per_pixel(hit.position, event.size_px.y);
    let rules = PaintRules {
        locked: &stroke.locked,
        normalise: brush.normalise,
        max_influences: brush.max_influences,
    };
    let mut points = Vec::new();
    let mut rows = Rows::default();
    let mut row = Vec::new();
    for (point, distance) in surface.within(hit, radius) {
        let effect = brush.strength * brush.falloff.at(distance / radius);
        if effect <= 0.0 || (brush.front_faces_only && !surface.faces(point, ray.direction)) {
            continue;
        }
        let (before, reached) = stroke
            .touched
            .entry(point)
            .or_insert_with(|| (item.influences.row(point).iter().collect(), 0.0));
        if effect <= *reached {
            continue;
        }
        *reached = effect;
        let (joints, weights): (Vec<u16>, Vec<f32>) = before.iter().copied().unzip();
        let before = RowRef {
            joints: &joints,
            weights: &weights,
        };
        let amount = if event.invert { -effect } else { effect } * brush.weight;
        let weight = before.weight_of(stroke.joint) + amount;
        if set_weight(before, stroke.joint, weight, &rules, &mut row) {
            points.push(point);
            rows.push_pairs(row.iter().copied());
        }
    }
    (!points.is_empty()).then(|| ToolAction::Apply(Edit::influences(stroke.mesh, points, rows)))
}
