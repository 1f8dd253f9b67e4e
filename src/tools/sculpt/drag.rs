//! Grab and Slide: the points of the press follow the pointer.

use super::brushes::POINTS_PER_TASK;
use super::stroke::{Grabbed, Stroke};
use crate::document::session::SculptKind;
use crate::math::Camera;
use crate::tools::stroke_path::PathPoint;
use crate::tools::strokes::Stroke as _;
use crate::tools::{PointerEvent, Reach, ToolAction, ToolContext};
use glam::{Vec2, Vec3};
use rayon::prelude::*;

impl Stroke {
    /// Moves the points of the press to the newest position of the pointer.
    pub(super) fn drag(
        &mut self,
        event: &PointerEvent,
        context: &mut ToolContext<'_>,
        reach: &mut Reach,
        actions: &mut Vec<ToolAction>,
    ) {
        if self.begun.is_none() {
            let spacing = self.spacing_px();
            let Some(press) = self.path.next_dab(spacing, event.size_px) else {
                return;
            };
            let Some(dab) = self.reach(press, event, context, reach, actions) else {
                if !std::mem::replace(&mut self.refused, true) {
                    let why = format!(
                        "{} moves what is under the pointer: start the stroke on the mesh.",
                        self.kind.label()
                    );
                    actions.push(ToolAction::Notify(why));
                }
                return;
            };
            let Some(begun) = &mut self.begun else {
                return;
            };
            begun.grabbed = Some(Grabbed {
                place: dab.centre,
                triangles: vec![None; dab.points.len()],
                points: dab.points,
            });
        }
        self.path.skip_to_end();
        let at = self.path.at;
        let Some(begun) = &mut self.begun else {
            return;
        };
        let Some(mut grabbed) = begun.grabbed.take() else {
            return;
        };
        let movement = under(context.camera, event.size_px, at, grabbed.place)
            .map_or(Vec3::ZERO, |place| place - grabbed.place);
        let slides = self.kind == SculptKind::Slide;
        let points = grabbed.points.iter().map(|reached| reached.0);
        begun.moved.reach(points, &begun.shape, false);
        let (shape, moved) = (&begun.shape, &begun.moved);
        let topology = shape.geometry().topology();
        let of_run = |(points, triangles): (&[(u32, f32)], &mut [Option<u32>])| {
            let mut before: Option<(u32, Option<u32>)> = None;
            let of_point = |(&(point, effect), triangle): (&(u32, f32), &mut Option<u32>)| {
                let start = shape.start[point as usize];
                let mut place = start + movement * effect;
                if slides {
                    // Neighbours slide to neighbouring triangles.
                    let beside =
                        before.filter(|(last, _)| topology.neighbours(point).contains(last));
                    let found = shape.slide(place, point, [*triangle, beside.and_then(|b| b.1)]);
                    *triangle = found.map(|found| found.0);
                    before = Some((point, *triangle));
                    place = found.map_or(start, |found| found.1);
                }
                moved.displacement(point, place - start)
            };
            let points = points.iter().zip(triangles);
            points.map(of_point).collect::<Vec<Vec3>>()
        };
        let points = grabbed.points.par_chunks(POINTS_PER_TASK);
        let triangles = grabbed.triangles.par_chunks_mut(POINTS_PER_TASK);
        let displacements: Vec<Vec<Vec3>> = points.zip(triangles).map(of_run).collect();
        let displacements = displacements.concat();
        begun.apply(&grabbed.points, displacements, true);
        begun.grabbed = Some(grabbed);
    }
}

/// The position under the pointer in the plane through `place` that faces the camera.
fn under(camera: &Camera, size_px: Vec2, at: PathPoint, place: Vec3) -> Option<Vec3> {
    let ray = camera.ray(at.ndc, size_px.x / size_px.y.max(1.0));
    let normal = camera.backward();
    let distance = (place - ray.origin).dot(normal) / ray.direction.dot(normal);
    distance
        .is_finite()
        .then(|| ray.origin + ray.direction * distance)
}
