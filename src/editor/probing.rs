//! What the skin under a place of the viewport says: its weights and the bone that moves it most.

use super::Editor;
use glam::Vec2;

impl Editor {
    /// The weight of the active bone under a place of the viewport, interpolated over the face.
    pub fn weight_at(&mut self, ndc: Vec2, size_px: Vec2) -> Option<f32> {
        let joint = self.document.session().active_joint?;
        let (instance, hit) = self.hit(ndc, size_px)?;
        let mesh = self.document.instances().get(&instance)?.mesh;
        let index = self.document.skin_joint(mesh, joint)?;
        let item = self.document.meshes().get(&mesh)?;
        let corners = item
            .geometry
            .topology()
            .triangles
            .get(hit.triangle as usize)?;
        let shares = hit.barycentric.to_array();
        let weights = corners.iter().zip(shares);
        let weighted = weights.map(|(&p, share)| item.influences.row(p).weight_of(index) * share);
        Some(weighted.sum())
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

    /// Makes the bone that moves the surface under a place of the viewport most the active one.
    pub fn pick_bone_in_skin(&mut self, ndc: Vec2, size_px: Vec2) {
        if let Some(joint) = self.pick_joint_in_skin(ndc, size_px) {
            self.select_joint(Some(joint));
        }
    }
}
