//! Weights and bones under a viewport position.

use super::Editor;
use crate::deform::MaskKind;
use crate::document::MeshId;
use crate::document::session::PaintTarget;
use crate::skeleton::JointId;
use glam::{Vec2, Vec3};

/// The influences of a point.
#[derive(Clone, Debug, PartialEq)]
pub struct PointInfluences {
    /// The mesh.
    pub mesh: MeshId,
    /// The point.
    pub point: u32,
    /// The displayed position, world space.
    pub place: Vec3,
    /// Bones and their weights above 0, the largest first.
    pub weights: Vec<(JointId, f32)>,
}

/// A position on a displayed surface, with its normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfacePlace {
    /// World space.
    pub position: Vec3,
    /// Unit length, world space.
    pub normal: Vec3,
}

impl Editor {
    /// The brush on the displayed surface under a viewport position, and its mirror image.
    pub fn brush_places(
        &mut self,
        ndc: Vec2,
        size_px: Vec2,
    ) -> Option<(SurfacePlace, Option<SurfacePlace>)> {
        let (instance, hit) = self.hit(ndc, size_px)?;
        let mesh = self.document.instances().get(&instance)?.mesh;
        let shown = self.views.of(self.views.pointed()).get(&instance)?;
        let topology = shown.mesh.topology();
        let corners = *topology.triangles.get(hit.triangle as usize)?;
        let normal_of = |point: u32| {
            let normals = topology.normals_of_point(point);
            let sum: Vec3 = normals.map(|n| shown.normals[n as usize]).sum();
            sum.normalize_or(Vec3::Y)
        };
        let shares = corners.into_iter().zip(hit.barycentric.to_array());
        let normal: Vec3 = shares.map(|(p, share)| normal_of(p) * share).sum();
        let here = SurfacePlace {
            position: hit.position,
            normal: normal.normalize_or(Vec3::Y),
        };
        let images = corners.map(|point| self.mirror_image(mesh, point));
        let image = match images {
            [Some(a), Some(b), Some(c)] => {
                let share = hit.barycentric;
                let [a_at, b_at, c_at] = [a, b, c].map(|p| shown.positions[p as usize]);
                Some(SurfacePlace {
                    position: a_at * share.x + b_at * share.y + c_at * share.z,
                    normal: (normal_of(a) + normal_of(b) + normal_of(c)).normalize_or(Vec3::Y),
                })
            }
            _ => None,
        };
        Some((here, image))
    }

    /// The painted value under a viewport position, interpolated over the face: the weight of the active bone, or the
    /// value of the map.
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
            PaintTarget::Mask(_) | PaintTarget::LayerMask => 0,
        };
        let map = self.document.map_seen(mesh);
        let value = |point: u32| match target {
            PaintTarget::Weights => item.influences.row(point).weight_of(index),
            PaintTarget::Mask(_) | PaintTarget::LayerMask => {
                map.map_or(MaskKind::UNPAINTED, |map| map.value(item, point))
            }
        };
        let corners = item
            .geometry
            .topology()
            .triangles
            .get(hit.triangle as usize)?;
        let corners = corners.iter().zip(hit.barycentric.to_array());
        Some(corners.map(|(&point, share)| value(point) * share).sum())
    }

    /// The influences of the point nearest to a viewport position, on the face there.
    pub fn influences_at(&mut self, ndc: Vec2, size_px: Vec2) -> Option<PointInfluences> {
        let (instance, hit) = self.hit(ndc, size_px)?;
        let shown = self.displayed_in(self.pointed_view()).get(&instance)?;
        let corners = shown.mesh.topology().triangles.get(hit.triangle as usize)?;
        let shares = hit.barycentric.to_array();
        let nearest = (0..3).max_by(|&a, &b| shares[a].total_cmp(&shares[b]))?;
        let point = corners[nearest];
        let place = *shown.positions.get(point as usize)?;
        let drawn = self.document.instances().get(&instance)?;
        let skin = self.document.skins().get(&drawn.skin?)?;
        let item = self.document.meshes().get(&drawn.mesh)?;
        let row = item.influences.row(point).iter();
        let mut weights: Vec<(JointId, f32)> = row
            .filter(|(_, weight)| *weight > 0.0)
            .filter_map(|(joint, weight)| Some((*skin.joints.get(usize::from(joint))?, weight)))
            .collect();
        weights.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Some(PointInfluences {
            mesh: drawn.mesh,
            point,
            place,
            weights,
        })
    }

    /// Sets the brush value to the painted value under a viewport position, if there is one.
    pub(super) fn take_value(&mut self, ndc: Vec2, size_px: Vec2) -> Option<f32> {
        let limit = self.paint_target().limit();
        let value = self.value_at(ndc, size_px)?.clamp(0.0, limit);
        *self.brush_mut().value_mut() = value;
        Some(value)
    }

    /// Sets the brush value to the painted value under a viewport position, a weight or the value of the map, and
    /// notifies it.
    pub fn sample_value(&mut self, ndc: Vec2, size_px: Vec2) {
        let target = self.paint_target();
        match self.take_value(ndc, size_px) {
            Some(value) => self.notify(format!("Brush value: {value:.2}.")),
            None if target != PaintTarget::Weights => {
                self.notify("No surface under the pointer.");
            }
            None if self.document.session().active_joint.is_none() => {
                self.notify("Select a bone first. Its weight is sampled.");
            }
            None => self.notify("No surface of the active bone's object under the pointer."),
        }
    }

    /// Makes the bone with the most influence on the surface under a viewport position active.
    pub fn pick_bone_in_skin(&mut self, ndc: Vec2, size_px: Vec2) {
        if let Some(joint) = self.pick_joint_in_skin(ndc, size_px) {
            self.select_joint(Some(joint));
        }
    }
}
