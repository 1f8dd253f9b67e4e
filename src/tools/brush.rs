//! The Add brush: gives the active bone more weight under the pointer, or less with Ctrl.

use super::{PointerEvent, PointerKind, SurfaceView, ToolAction, ToolContext};
use crate::document::{Document, Edit, InstanceId, MeshId};
use crate::math::Ray;
use crate::mesh::SurfaceHit;
use crate::skinning::RowRef;
use crate::weights::{PaintRules, set_weight};
use glam::Vec2;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, Instant};

/// What the dabs of one pointer event may take; the rest of the way is painted at the next one.
const EVENT_BUDGET: Duration = Duration::from_millis(8);

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
    /// Whether weight is taken away: as the stroke began, so that a point never jumps both ways.
    invert: bool,
    last_dab: Vec2,
    /// What each touched point had before the stroke, and the largest effect so far.
    touched: HashMap<u32, (Vec<(u16, f32)>, f32)>,
    /// Points that lost influences to the limit.
    limited: HashSet<u32>,
}

/// New rows by point: of several dabs in one event the last counts.
type NewRows = BTreeMap<u32, Vec<(u16, f32)>>;

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
            PointerKind::Drag => self.drag(event, context, Some(EVENT_BUDGET)),
            PointerKind::Release => {
                let mut actions = self.drag(event, context, None);
                actions.extend(self.finish());
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
    pub fn finish(&mut self) -> Vec<ToolAction> {
        let Some(stroke) = self.stroke.take() else {
            return Vec::new();
        };
        let mut actions = vec![ToolAction::Commit];
        if stroke.touched.is_empty() {
            actions.push(ToolAction::Say(
                "No point lies under the brush; ] makes it larger.".into(),
            ));
        }
        if !stroke.limited.is_empty() {
            actions.push(ToolAction::Say(format!(
                "{} points had more influences than the brush allows; their smallest ones went.",
                stroke.limited.len()
            )));
        }
        actions
    }

    fn press(&mut self, event: &PointerEvent, context: &mut ToolContext<'_>) -> Vec<ToolAction> {
        self.stroke = None;
        let ray = event.ray(context.camera);
        let Some((instance, hit)) = nearest(context.surfaces, &ray) else {
            return Vec::new();
        };
        match begin(context.document, instance, event) {
            Ok(stroke) => {
                let stroke = self.stroke.insert(stroke);
                let mut rows = NewRows::new();
                dab(stroke, event, &ray, &hit, context, &mut rows);
                let mut actions = vec![ToolAction::Begin("Paint weights")];
                actions.extend(edit(stroke.mesh, rows));
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
        let mut rows = NewRows::new();
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
                dab(stroke, &at, &ray, &hit, context, &mut rows);
            }
            if budget.is_some_and(|budget| began.elapsed() > budget) {
                break;
            }
        }
        edit(stroke.mesh, rows).into_iter().collect()
    }
}

fn edit(mesh: MeshId, rows: NewRows) -> Option<ToolAction> {
    let (points, rows): (Vec<u32>, Vec<_>) = rows.into_iter().unzip();
    (!points.is_empty())
        .then(|| ToolAction::Apply(Edit::influences(mesh, points, rows.into_iter().collect())))
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
fn begin(
    document: &Document,
    instance: InstanceId,
    event: &PointerEvent,
) -> Result<Stroke, String> {
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
    if document
        .n_skin_joints(drawn.mesh)
        .is_some_and(|n| joint >= n)
    {
        return Err(format!(
            "Not every skin that moves \"{name}\" has the bone \"{label}\", so it cannot be painted."
        ));
    }
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
        invert: event.invert,
        last_dab: event.ndc,
        touched: HashMap::new(),
        limited: HashSet::new(),
    })
}

/// One touch of the brush: adds the rows it changes to `rows`.
fn dab(
    stroke: &mut Stroke,
    event: &PointerEvent,
    ray: &Ray,
    hit: &SurfaceHit,
    context: &ToolContext<'_>,
    rows: &mut NewRows,
) {
    let brush = &context.document.session().brush;
    let Some(item) = context.document.meshes().get(&stroke.mesh) else {
        return;
    };
    let Some((_, surface)) = context
        .surfaces
        .iter()
        .find(|(id, _)| *id == stroke.instance)
    else {
        return;
    };
    let radius = brush.radius_px
        * context
            .camera
            .metres_per_pixel(hit.position, event.size_px.y);
    let rules = PaintRules {
        locked: &stroke.locked,
        normalise: brush.normalise,
        max_influences: brush.max_influences,
    };
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
        // To add nothing is not what anybody wants: weight 0 takes away.
        let (adds, weight) = if brush.weight > 0.0 {
            (!stroke.invert, brush.weight)
        } else {
            (stroke.invert, 1.0)
        };
        let amount = if adds { effect } else { -effect } * weight;
        let weight = before.weight_of(stroke.joint) + amount;
        let mut row = Vec::new();
        if set_weight(before, stroke.joint, weight, &rules, &mut row) {
            if before.len() > brush.max_influences && row.len() < before.len() {
                stroke.limited.insert(point);
            }
            rows.insert(point, row);
        }
    }
}
