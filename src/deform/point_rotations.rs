//! The blended rotations of a few points in a pose, without deforming the mesh.

use super::cook::joint_order;
use super::correctives::BlendedRotation;
use super::{DeformStack, MaskKind, Masks, SkinSource};
use crate::skeleton::Skeleton;
use crate::skinning::{CHUNK, CookedChunk, Influences, RowRef, SkinBind, SkinPalette, Stretch};
use glam::{DAffine3, DQuat};
use std::collections::HashMap;
use std::sync::Arc;

/// The blended rotation R of any point of an instance with a skin in one pose, which carries the displacements of
/// samples: the same bits as [`super::point_rotation`], cooked chunk by chunk when first asked for.
#[derive(Debug)]
pub struct PointRotations {
    stack: Arc<DeformStack>,
    masks: Masks,
    influences: Influences,
    order: Vec<u32>,
    palette: SkinPalette,
    chunks: HashMap<usize, CookedChunk>,
}

impl PointRotations {
    /// The rotations under a stack. `rest_world`, `world`: n_joints of the skeleton, world transforms of the file's rest
    /// pose and of the pose. The meshes of the skin are not read.
    pub fn new(
        skeleton: &Skeleton,
        skin: &SkinSource<'_>,
        (rest_world, world): (&[DAffine3], &[DAffine3]),
        influences: &Influences,
        stack: &Arc<DeformStack>,
        masks: &Masks,
    ) -> Self {
        let mut bound = vec![false; skin.joints.len()];
        for (joint, weight) in influences.iter().flat_map(RowRef::iter) {
            if weight > 0.0
                && let Some(bound) = bound.get_mut(usize::from(joint))
            {
                *bound = true;
            }
        }
        let bind = SkinBind::new(skeleton, skin.joints, skin.inverse_bind, &bound, rest_world);
        let mut palette = SkinPalette::default();
        // The stretch does not change rotations.
        bind.pose(world, Stretch::Inflate, &mut palette);
        Self {
            stack: stack.clone(),
            masks: masks.clone(),
            influences: influences.clone(),
            order: joint_order(skin.joints.iter().map(|&joint| skeleton.rank(joint))),
            palette,
            chunks: HashMap::new(),
        }
    }

    /// The rotation of a point, world from mesh space at bind, unit.
    pub fn at(&mut self, point: u32) -> DQuat {
        let (c, i) = (point as usize / CHUNK, point as usize % CHUNK);
        let Some(rows) = self.influences.chunks().get(c) else {
            return DQuat::IDENTITY;
        };
        let chunk = self.chunks.entry(c);
        let chunk = chunk.or_insert_with(|| CookedChunk::cook(rows, &self.order));
        let rotation = BlendedRotation {
            method: self.stack.method,
            blend: self.stack.blend,
            mask: self.masks.chunk(MaskKind::Blend, c),
            chunk,
            palette: &self.palette,
        };
        rotation.any_at(i)
    }

    /// Metres of the world in one unit of the mesh at rest.
    pub fn unit_scale(&self) -> f64 {
        self.palette.unit_scale()
    }
}
