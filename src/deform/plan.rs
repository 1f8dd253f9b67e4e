//! The cooked state of one instance, and its run.

use super::DeformInput;
use super::stage::{
    Changed, ChangedNormals, MorphTargets, Normals, PosedSkin, Run, Stages, inflate_shape,
};
use crate::cluster::{CornerFrame, Patches};
use crate::skinning::{BonePose, CookedChunk, SkinBones, SkinPalette};
use glam::Vec3;
use std::borrow::Cow;
use std::sync::Arc;

/// What a run changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moved {
    /// Nothing.
    Nothing,
    /// Every point and normal may have.
    All,
    /// Just these points and normals, ascending.
    Some {
        /// Points whose position changed.
        points: Vec<u32>,
        /// Entries of [`crate::mesh::Mesh::normals`] whose direction changed.
        normals: Vec<u32>,
    },
}

/// The cooked state of one instance and its latest result.
pub struct InstancePlan {
    bind: MorphTargets,
    skin: PosedSkin,
    stages: Stages,
    /// `None`: left out.
    normals: Option<Normals>,
    skips_free: bool,
}

impl Default for InstancePlan {
    fn default() -> Self {
        Self {
            bind: MorphTargets::default(),
            skin: PosedSkin::default(),
            stages: Stages::default(),
            normals: Some(Normals::default()),
            skips_free: false,
        }
    }
}

impl InstancePlan {
    /// A plan that leaves normals out, which cost about as much as the rest.
    pub fn without_normals() -> Self {
        Self {
            normals: None,
            ..Self::default()
        }
    }

    /// The same plan, which does not deform what only [`InstancePlan::base_positions`] would show: points that follow the
    /// patches between control clusters.
    #[must_use]
    pub fn for_shapes(self) -> Self {
        Self {
            skips_free: true,
            ..self
        }
    }

    /// Deforms what changed since the latest run.
    pub fn run(&mut self, input: &DeformInput<'_>) -> Moved {
        self.bind.update(input);
        self.skin.update(input);
        let changed = self.stages.run(&Run {
            input,
            bind: &self.bind,
            skin: &self.skin,
            probe: None,
            skips_free: self.skips_free,
        });
        let normals = self.normals.as_mut().map(|normals| {
            let shape = self.stages.shape();
            normals.run(input.geometry, shape, &changed)
        });
        match (changed, normals) {
            (Changed::Nothing, _) => Moved::Nothing,
            (Changed::Points(points), Some(ChangedNormals::Some(normals))) => {
                Moved::Some { points, normals }
            }
            (Changed::Points(points), None) => Moved::Some {
                points,
                normals: Vec::new(),
            },
            (Changed::All, _) | (_, Some(ChangedNormals::All)) => Moved::All,
        }
    }

    /// n_points deformed positions, world space; empty before the first run.
    pub fn positions(&self) -> &[Vec3] {
        self.stages.shape()
    }

    /// As [`InstancePlan::positions`], before the corrective samples (stage 7): the shape on which they are sculpted. Not up to
    /// date in a plan [`InstancePlan::for_shapes`].
    pub fn base_positions(&self) -> Cow<'_, [Vec3]> {
        self.stages.base_shape()
    }

    /// A point of [`InstancePlan::base_positions`]; `None` beyond the last one.
    pub fn base_position(&self, point: u32) -> Option<Vec3> {
        self.stages.base_position(point as usize)
    }

    /// The patches between control clusters, and the frames of their corners in the latest run, world space; `None` where
    /// there are none.
    pub fn patches(&self) -> Option<(&Patches, Cow<'_, [CornerFrame]>)> {
        self.stages.patches()
    }

    /// n_points: the values that those known at some clusters (points) make on the patches between them, as cubic Bezier
    /// triangles, not beyond the known ones; NaN on parts without clusters. `None` where no clusters act, or nothing is known.
    pub fn scalars(&self, known: &[(u32, f64)]) -> Option<Vec<f32>> {
        self.stages.scalars(known)
    }

    /// n_normals deformed normals, world space, unit; empty before the first run, and where they are left out.
    pub fn normals(&self) -> &[Vec3] {
        self.normals.as_ref().map_or(&[], Normals::normals)
    }

    /// The skin matrices of the latest run; empty for a rigid instance.
    pub fn palette(&self) -> &SkinPalette {
        self.skin.palette()
    }

    /// The bones of the skin, and where they are in the latest run; `None` for a rigid instance.
    pub fn bones(&self) -> Option<(&SkinBones, &BonePose)> {
        let (bones, pose) = self.skin.bones()?;
        Some((bones, pose))
    }

    /// The influences of the latest run in the order of the kernels; none for a rigid instance.
    pub fn chunks(&self) -> &[Arc<CookedChunk>] {
        self.skin.chunks()
    }

    /// n_points: the morphed, inflated bind shape of the latest run, in which radii and rest distances are measured
    /// ([`SkinPalette::unit_scale`] times mesh space); of a rigid instance the morphed bind shape. Allocates.
    pub fn inflated_bind(&self) -> Vec<Vec3> {
        let mut out = Vec::new();
        self.inflated_bind_into(&mut out);
        out
    }

    /// As [`InstancePlan::inflated_bind`], into a buffer that is used again.
    pub fn inflated_bind_into(&self, out: &mut Vec<Vec3>) {
        let bind = self.bind.shape();
        out.clear();
        out.extend_from_slice(bind);
        inflate_shape(bind, self.chunks(), self.palette(), out);
    }
}
