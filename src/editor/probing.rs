//! What the skin under a place of the viewport says: its weights and the bone that moves it most.

use super::Editor;
use crate::document::{Document, InstanceId};
use crate::mesh::SurfaceHit;
use crate::skeleton::JointIndex;
use glam::Vec2;

impl Editor {
    /// The nearest visible surface under a place of the viewport.
    pub(super) fn hit_at(&mut self, ndc: Vec2, size_px: Vec2) -> Option<(InstanceId, SurfaceHit)> {
        let camera = self.document.session().camera;
        let ray = camera.ray(ndc, size_px.x / size_px.y.max(1.0));
        let mut surfaces = super::pointer::surfaces(&mut self.displayed);
        let hits = surfaces
            .iter_mut()
            .filter_map(|(id, surface)| Some((*id, surface.cast_ray(&ray)?)));
        hits.min_by(|a, b| a.1.distance.total_cmp(&b.1.distance))
    }

    /// The weight of the active bone under a place of the viewport, interpolated over the face.
    pub fn weight_at(&mut self, ndc: Vec2, size_px: Vec2) -> Option<f32> {
        let joint = self.document.session().active_joint?;
        let (instance, hit) = self.hit_at(ndc, size_px)?;
        let mesh = self.document.instances().get(&instance)?.mesh;
        let index = self.document.skin_joint(mesh, joint)?;
        let weights = corners(&self.document, instance, &hit)?;
        let of_corner = |(row, share): &(Vec<(u16, f32)>, f32)| {
            let weight = row.iter().find(|(j, _)| *j == index).map_or(0.0, |(_, w)| *w);
            weight * share
        };
        Some(weights.iter().map(of_corner).sum())
    }

    /// Gives the brush the weight of the active bone under a place of the viewport.
    pub fn sample_weight(&mut self, ndc: Vec2, size_px: Vec2) {
        match self.weight_at(ndc, size_px) {
            Some(weight) => {
                self.brush_mut().weight = weight.clamp(0.0, 1.0);
                self.say(format!("The brush paints {weight:.2} now."));
            }
            None if self.document.session().active_joint.is_none() => {
                self.say("Choose a bone first: its weight is taken.");
            }
            None => self.say("There is no surface of the active bone under the pointer."),
        }
    }
}
