//! The blended rotations and stretches of a few points in a pose, without deforming the mesh.

use super::cook::joint_order;
use super::correctives::{BlendedRotation, inverse_stretch};
use super::{DeformStack, MaskKind, Masks, ScaleMode, SkinSource};
use crate::skeleton::Skeleton;
use crate::skinning::{CHUNK, CookedChunk, Influences, RowRef, SkinBind, SkinPalette, Stretch};
use glam::{DAffine3, DMat3, DQuat};
use std::sync::{Arc, OnceLock};

/// The blended rotation R of any point of an instance with a skin in one pose, which carries the displacements of
/// samples: the same bits as in a deformation of the whole mesh, cooked chunk by chunk when first asked for, from any thread.
#[derive(Debug)]
pub struct PointRotations {
    stack: Arc<DeformStack>,
    masks: Masks,
    influences: Influences,
    order: Vec<u32>,
    palette: SkinPalette,
    chunks: Vec<OnceLock<CookedChunk>>,
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
        let drops = stack.scale == ScaleMode::Drop && stack.method.is_rigid();
        let stretch = if drops {
            Stretch::Drop
        } else {
            Stretch::Inflate
        };
        bind.pose(world, stretch, &mut palette);
        Self {
            stack: stack.clone(),
            masks: masks.clone(),
            influences: influences.clone(),
            order: joint_order(
                skin.joints
                    .iter()
                    .map(|&joint| skeleton.logical_rank(joint)),
            ),
            palette,
            chunks: vec![OnceLock::new(); influences.chunks().len()],
        }
    }

    /// The rotation of a point, world from mesh space at bind, unit.
    pub fn at(&self, point: u32) -> DQuat {
        self.blended(point)
            .map_or(DQuat::IDENTITY, |(rotation, i)| rotation.any_at(i))
    }

    /// The stretch of a point and its inverse, which is zero where the point is scaled to nearly nothing; `None` where no
    /// joint has scale or shear.
    pub fn stretch_at(&self, point: u32) -> Option<[DMat3; 2]> {
        let (rotation, i) = self.blended(point)?;
        let stretch = rotation.stretch_at(i)?;
        Some([stretch, inverse_stretch(stretch).unwrap_or(DMat3::ZERO)])
    }

    /// The chunk of a point, and the index of the point in it.
    fn blended(&self, point: u32) -> Option<(BlendedRotation<'_>, usize)> {
        let (c, i) = (point as usize / CHUNK, point as usize % CHUNK);
        let rows = self.influences.chunks().get(c)?;
        let chunk = self.chunks.get(c)?;
        let chunk = chunk.get_or_init(|| CookedChunk::cook(rows, &self.order));
        let rotation = BlendedRotation {
            method: self.stack.method,
            blend: self.stack.blend,
            mask: self.masks.chunk(MaskKind::Blend, c),
            chunk,
            palette: &self.palette,
        };
        Some((rotation, i))
    }

    /// Metres of the world in one unit of the mesh at rest.
    pub fn unit_scale(&self) -> f64 {
        self.palette.unit_scale()
    }
}
