//! What the skin under a place of the viewport says: its weights and the bone that moves it most.

use super::Editor;
use crate::document::session::PaintTarget;
use glam::Vec2;

impl Editor {
    /// What is painted, under a place of the viewport: the weight of the active bone, or the value of the map,
    /// interpolated over the face.
    pub fn value_at(&mut self, ndc: Vec2, size_px: Vec2) -> Option<f32> {
        let target = self.paint_target();
        let joint = self.document.session().active_joint;
        if target == PaintTarget::Weights && joint.is_none() {
            return None;
        }
        let (instance, hit) = self.hit(ndc, size_px)?;
        let mesh = self.document.instances().get(&instance)?.mesh;
        let item = self.document.meshes().get(&mesh)?;
        let index = match target {
            PaintTarget::Weights => self.document.skin_joint(mesh, joint?)?,
            PaintTarget::Mask(_) => 0,
        };
        let value = |point: u32| match target {
            PaintTarget::Weights => item.influences.row(point).weight_of(index),
            PaintTarget::Mask(kind) => item.masks.value(kind, point),
        };
        let corners = item
            .geometry
            .topology()
            .triangles
            .get(hit.triangle as usize)?;
        let corners = corners.iter().zip(hit.barycentric.to_array());
        Some(corners.map(|(&point, share)| value(point) * share).sum())
    }

    /// Gives the brush what is painted under a place of the viewport: a weight, or the value of the map.
    pub fn sample_value(&mut self, ndc: Vec2, size_px: Vec2) {
        let target = self.paint_target();
        match self.value_at(ndc, size_px) {
            Some(value) => {
                *self.brush_mut().value_mut() = value.clamp(0.0, target.limit());
                self.say(format!("The brush paints {value:.2} now."));
            }
            None if target != PaintTarget::Weights => {
                self.say("There is no surface under the pointer.");
            }
            None if self.document.session().active_joint.is_none() => {
                self.say("Choose a bone first: its weight is taken.");
            }
            None => self.say("There is no surface of the active bone under the pointer."),
        }
    }

    /// Makes the bone that moves the surface under a place of the viewport most the active one.
    pub fn pick_bone_in_skin(&mut self, ndc: Vec2, size_px: Vec2) {
        if let Some(joint) = self.pick_joint_in_skin(ndc, size_px) {
            self.select_joint(Some(joint));
        }
    }
}
