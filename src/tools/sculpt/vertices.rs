//! Moving selected vertices: a transform of their positions on screen becomes displacements of the active sample.

use super::stroke::Begun;
use crate::document::session::{BrushOptions, PaintMask, Session};
use crate::document::{Document, Edit, InstanceId, SculptTarget};
use crate::tools::transform::PointMap;
use crate::tools::{Reach, ToolContext};
use glam::Vec3;

/// A transform of the selected vertices of the active mesh in progress, with those that soft selection takes along.
#[derive(Debug)]
pub struct VertexTransform {
    begun: Begun,
    selected: Vec<u32>,
    /// All points that the transform has reached, ascending, with the effect on each.
    points: Vec<(u32, f32)>,
}

/// The instance of the active mesh whose vertices are moved, with its selected points; `None` without any.
pub fn selected_vertices(document: &Document) -> Option<(InstanceId, Vec<u32>)> {
    let session = document.session();
    let mesh = session.active_mesh?;
    let selected = session.selected_points.get(&mesh)?;
    let hidden = session.hidden_points.get(&mesh);
    let is_shown = |point: &u32| !hidden.is_some_and(|hidden| hidden.contains(*point));
    let points: Vec<u32> = selected.iter().filter(is_shown).collect();
    let mut instances = document.instances().iter();
    let (&id, _) = instances.find(|(_, i)| i.mesh == mesh && i.skin.is_some())?;
    (!points.is_empty()).then_some((id, points))
}

impl VertexTransform {
    /// A transform of the selected vertices, or the reason why there is none.
    pub fn begin(context: &mut ToolContext<'_>) -> Result<Self, String> {
        let document = context.document;
        let (instance, selected) = selected_vertices(document)
            .ok_or("Select vertices first: click one, or press B and drag a box.")?;
        let target = SculptTarget::find(document, instance)?;
        // The selection is what moves, not what may.
        let options = BrushOptions {
            mask: PaintMask::Off,
            ..document.session().brush
        };
        let begun = Begun::new(target, &options, context)?;
        let points = selected.iter().map(|&point| (point, 1.0));
        let mut made = Self {
            begun,
            points: points.collect(),
            selected,
        };
        made.leave_out_what_is_not_held();
        if made.points.is_empty() {
            return Err("None of the selected vertices is a control cluster of the set.".into());
        }
        Ok(made)
    }

    /// The number of selected vertices.
    pub fn n_selected(&self) -> usize {
        self.selected.len()
    }

    /// The mean position of the selected vertices at the start, and their mean normal, unit or zero; world.
    pub fn pivot(&self) -> (Vec3, Vec3) {
        let shape = &self.begun.shape;
        let places = self.selected.iter().map(|&p| shape.start[p as usize]);
        let normals = self.selected.iter().map(|&p| shape.start_normal(p));
        let mean = places.sum::<Vec3>() / self.selected.len() as f32;
        (mean, normals.sum::<Vec3>().normalize_or_zero())
    }

    /// Takes along the vertices within `radius` metres of a selected one along the surface, with the falloff of the brush;
    /// `None`: the selected ones only.
    pub fn set_reach(&mut self, radius: Option<f32>, session: &Session, reach: &mut Reach) {
        let mut points: Vec<(u32, f32)> = self.points.iter().map(|&(p, _)| (p, 0.0)).collect();
        points.extend(self.selected.iter().map(|&point| (point, 1.0)));
        if let Some(radius) = radius {
            let sources = self.selected.iter().copied();
            self.begun
                .shape
                .with_start(|surface| surface.around(sources, radius, reach));
            let near = reach.found.iter();
            points.extend(near.map(|&(point, distance)| {
                let effect = session.brush.fades_to(distance / radius);
                (point, if distance > 0.0 { effect } else { 1.0 })
            }));
        }
        points.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        points.dedup_by_key(|point| point.0);
        self.points = points;
        self.leave_out_what_is_not_held();
    }

    fn leave_out_what_is_not_held(&mut self) {
        let begun = &self.begun;
        self.points.retain(|(point, _)| begun.may_sculpt(*point));
    }

    /// Applies a map to the positions at the start. Returns the edit.
    pub fn apply(&mut self, map: &PointMap, document: &Document) -> Option<Edit> {
        let points = self.points.iter().map(|reached| reached.0);
        self.begun.moved.reach(points, &self.begun.shape, false);
        let (shape, moved) = (&self.begun.shape, &self.begun.moved);
        let displacements = self.points.iter().map(|&(point, effect)| {
            let offset = map.offset(shape.start[point as usize], effect);
            moved.displacement(point, offset)
        });
        let displacements = displacements.collect();
        self.begun.apply(&self.points, displacements, true);
        self.begun.take_edit(document)
    }

    /// What is said at the end.
    pub fn note(&self) -> Option<String> {
        self.begun.one_sided()
    }
}
