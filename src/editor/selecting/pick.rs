//! The target of a click: a bone, the bone with the most influence on the skin, or a point.

use super::{Editor, POINT_REACH_PX, SelectKind, combine};
use crate::document::session::PointsOfMeshes;
use crate::document::{Document, InstanceId};
use crate::editor::pointer::{PICK_REACH_PX, surfaces};
use crate::mesh::{PointSet, SurfaceHit};
use crate::skeleton::{JointId, bone_picking};
use crate::tools::{ScreenView, SelectOp, region};
use glam::{Vec2, Vec3};
use std::sync::Arc;

/// The largest depth behind the skin at which a click beside a bone drawn through it picks the bone, as a fraction of
/// the skeleton's size: it picks a bone of the clicked limb, not of an arm behind the body.
const DEPTH_SHARE: f32 = 0.08;

/// The bones that a click can pick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PickableBones {
    /// None.
    None,
    /// Those that nothing occludes.
    Unoccluded,
    /// All, drawn through the skin.
    XRay,
}

impl Editor {
    /// The bone that a click at a viewport position picks: the one drawn on top there, otherwise one a few pixels
    /// beside it, otherwise the one with the most influence on the skin there.
    pub fn pick_for_selection(
        &mut self,
        ndc: Vec2,
        size_px: Vec2,
        seen: PickableBones,
    ) -> Option<JointId> {
        let hit = self.hit(ndc, size_px);
        let bone = self.pick_seen_bone(ndc, size_px, seen, hit.map(|(_, hit)| hit));
        bone.or_else(|| {
            let (instance, hit) = hit?;
            heaviest(
                &self.document,
                instance,
                &hit,
                self.views.of(self.views.pointed()).get(&instance)?,
            )
        })
    }

    /// The bone with the most influence on the skin at a viewport position, except hidden bones; for a mesh without a
    /// skin, the bone that carries it.
    pub fn pick_joint_in_skin(&mut self, ndc: Vec2, size_px: Vec2) -> Option<JointId> {
        let (instance, hit) = self.hit(ndc, size_px)?;
        heaviest(
            &self.document,
            instance,
            &hit,
            self.views.of(self.views.pointed()).get(&instance)?,
        )
    }

    /// Whether picking the skin under the pointer is fast enough for every frame.
    pub fn is_picking_fast(&mut self) -> bool {
        let surfaces = surfaces(self.views.pointed_mut(), &self.document);
        surfaces.iter().all(|(_, surface)| surface.is_quick())
    }

    /// Selects the target of a click.
    pub(super) fn pick(&mut self, ndc: Vec2, size_px: Vec2, op: SelectOp, seen: PickableBones) {
        match self.select_kind() {
            SelectKind::Bones => {
                let joint = self.pick_for_selection(ndc, size_px, seen);
                self.pick_joint(joint, op);
                self.activate_mesh_at(ndc, size_px);
            }
            SelectKind::Points => self.pick_point(ndc, size_px, op),
        }
    }

    /// Makes the mesh at a viewport position the active one, on which operations then act.
    pub fn activate_mesh_at(&mut self, ndc: Vec2, size_px: Vec2) {
        if let Some((instance, _)) = self.hit(ndc, size_px) {
            self.set_active_mesh(instance);
        }
    }

    /// Selects the visible point nearest to a viewport position.
    fn pick_point(&mut self, ndc: Vec2, size_px: Vec2, op: SelectOp) {
        let view = ScreenView::new(&self.document.session().camera, size_px);
        let at = view.pixel_of(ndc);
        if self.selects_controls() {
            let control = self.control_at(at, POINT_REACH_PX, &view);
            self.select_controls(control, op);
            return;
        }
        self.draw_depth(&view);
        let depth = self.selecting.depth.as_ref().map(|(_, depth)| depth);
        let for_moving = self.selecting.for_moving;
        let nearest = surfaces(self.views.pointed_mut(), &self.document)
            .iter()
            .filter_map(|(id, surface)| {
                let only = for_moving.then(|| {
                    let drawn = self.document.instances().get(id);
                    drawn.map_or_else(PointSet::default, |drawn| {
                        self.document.points_by_hand(drawn.mesh)
                    })
                });
                let (point, gap) = region::nearest_point(
                    at,
                    POINT_REACH_PX,
                    &view,
                    surface,
                    (depth, only.as_ref()),
                )?;
                Some((*id, point, gap))
            })
            .min_by(|a, b| a.2.total_cmp(&b.2));
        let mesh_of = |id: InstanceId| self.document.instances().get(&id).map(|i| i.mesh);
        let mut found = PointsOfMeshes::new();
        let mut active_mesh = None;
        if let Some((id, point, _)) = nearest
            && let Some(mesh) = mesh_of(id)
        {
            found.insert(mesh, Arc::new(PointSet::from_iter([point])));
            active_mesh = Some(mesh);
        }
        let mut selection = self.selection();
        combine(&mut selection.points, found, op);
        if active_mesh.is_some() {
            self.document.session_mut().active_mesh = active_mesh;
        }
        self.set_selection(selection);
    }

    /// The displayed surface under a viewport position.
    pub(in crate::editor) fn hit(
        &mut self,
        ndc: Vec2,
        size_px: Vec2,
    ) -> Option<(InstanceId, SurfaceHit)> {
        let camera = &self.document.session().camera;
        let ray = camera.ray(ndc, size_px.x / size_px.y.max(1.0));
        let mut surfaces = surfaces(self.views.pointed_mut(), &self.document);
        let hits = surfaces
            .iter_mut()
            .filter_map(|(id, surface)| Some((*id, surface.cast_ray(&ray)?)));
        hits.min_by(|a, b| a.1.distance.total_cmp(&b.1.distance))
    }

    /// The bone drawn on top at a viewport position, otherwise one a few pixels beside it.
    pub fn pick_bone_in_view(
        &mut self,
        ndc: Vec2,
        size_px: Vec2,
        seen: PickableBones,
    ) -> Option<JointId> {
        let hit = self.hit(ndc, size_px).map(|(_, hit)| hit);
        self.pick_seen_bone(ndc, size_px, seen, hit)
    }

    fn pick_seen_bone(
        &self,
        ndc: Vec2,
        size_px: Vec2,
        seen: PickableBones,
        hit: Option<SurfaceHit>,
    ) -> Option<JointId> {
        let farthest = match (seen, &hit) {
            (PickableBones::None, _) => return None,
            (PickableBones::Unoccluded, Some(hit)) => hit.distance,
            (PickableBones::Unoccluded, None) | (PickableBones::XRay, _) => f32::INFINITY,
        };
        let camera = &self.document.session().camera;
        let ray = camera.ray(ndc, size_px.x / size_px.y.max(1.0));
        let mut bones = self.bones_in(self.pointed_view());
        if let Some(index) = bone_picking::pick_drawn(&ray, &bones, farthest) {
            return Some(bones[index].joint);
        }
        if let Some(hit) = hit {
            let spread = spread(bones.iter().flat_map(|b| [b.head, b.tail]));
            bones.retain(|bone| {
                let behind = bone_picking::distance_along(&ray, bone) - hit.distance;
                match seen {
                    // A click beside a helper behind the skin means the skin.
                    PickableBones::XRay if bone.helper => behind <= bone.radius,
                    PickableBones::XRay => behind <= (spread * DEPTH_SHARE).max(2.0 * bone.radius),
                    _ => behind <= bone.radius,
                }
            });
        }
        let picked = bone_picking::pick_near(&ray, &bones, PICK_REACH_PX, |at| {
            camera.metres_per_pixel(at, size_px.y)
        });
        picked.map(|index| bones[index].joint)
    }
}

/// The joint with the largest sum of weights on the triangle that was hit.
fn heaviest(
    document: &Document,
    instance: InstanceId,
    hit: &SurfaceHit,
    displayed: &crate::editor::Displayed,
) -> Option<JointId> {
    let drawn = document.instances().get(&instance)?;
    let hidden = &document.session().hidden_joints;
    let Some(skin) = drawn.skin.and_then(|id| document.skins().get(&id)) else {
        let is_bone = document.bone_mask();
        let mut carriers =
            std::iter::once(drawn.joint).chain(document.skeleton().ancestors(drawn.joint));
        return carriers.find(|j| is_bone[j.get()] && !hidden.contains(j));
    };
    let influences = &document.meshes().get(&drawn.mesh)?.influences;
    let mut sums: Vec<(JointId, f32)> = Vec::new();
    for point in displayed.mesh.topology().triangles[hit.triangle as usize] {
        for (index, weight) in influences.row(point).iter() {
            let Some(&joint) = skin.joints.get(usize::from(index)) else {
                continue;
            };
            match sums.iter_mut().find(|(known, _)| *known == joint) {
                Some((_, sum)) => *sum += weight,
                None => sums.push((joint, weight)),
            }
        }
    }
    sums.retain(|(joint, sum)| *sum > 0.0 && !hidden.contains(joint));
    sums.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    sums.first().map(|(joint, _)| *joint)
}

/// The diagonal of the bounding box of `points`.
fn spread(points: impl Iterator<Item = Vec3>) -> f32 {
    let (low, high) = points.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(l, h), p| {
        (l.min(p), h.max(p))
    });
    (high - low).max(Vec3::ZERO).length()
}
