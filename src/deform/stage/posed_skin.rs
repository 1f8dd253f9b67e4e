//! The skin of an instance in the pose of a run: palette, bones and influences, which stages 2 to 6 read.

use super::key::{Identity, LastKey, refill};
use crate::deform::{DeformInput, ScaleMode, SkinSource};
use crate::mesh::Mesh;
use crate::skeleton::{JointId, Skeleton};
use crate::skinning::{
    BonePose, CookedChunk, LeafPoints, SkinBind, SkinBones, SkinPalette, Stretch,
};
use glam::DAffine3;
use std::sync::Arc;

/// The skin of an instance, posed. Empty for an instance without one.
#[derive(Default)]
pub(in crate::deform) struct PosedSkin {
    key: LastKey<Key>,
    bind: Option<SkinBind>,
    bones: Option<Arc<SkinBones>>,
    bone_pose: BonePose,
    palette: SkinPalette,
    /// The palette of the run before, kept for its memory.
    spare: SkinPalette,
    chunks: Vec<Arc<CookedChunk>>,
    changes: Changes,
}

/// What the latest run changed.
#[derive(Default)]
pub(in crate::deform) struct Changes {
    /// Some number of the palette.
    pub(super) palette: bool,
    /// Some bone lies elsewhere in the inflated bind shape. Not every such change is one of the palette: a joint that
    /// moves no point may stretch a bone.
    pub(super) inflated_bones: bool,
    /// Chunks with other influences, ascending.
    pub(super) chunks: Vec<usize>,
    /// Other points than before have no influences.
    pub(super) unmoved_points: bool,
}

/// What the bind data depends on.
#[derive(Default, PartialEq)]
struct Key {
    skeleton: BindTree,
    rest_world: Identity<Vec<DAffine3>>,
    joints: Vec<JointId>,
    /// As bits, so that NaN equals itself.
    inverse_bind: Vec<[u64; 12]>,
    bound: Vec<bool>,
    /// Their influences as imported change only with the joints of the skin.
    meshes: Vec<Identity<Mesh>>,
}

/// A skeleton, but for the names of its joints.
#[derive(Default)]
struct BindTree(Identity<Skeleton>);

impl PartialEq for BindTree {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
            || match (self.0.value(), other.0.value()) {
                (Some(a), Some(b)) => a.moves_like(b),
                _ => false,
            }
    }
}

impl PosedSkin {
    /// Brings everything up to date with `input`.
    pub(in crate::deform) fn update(&mut self, input: &DeformInput<'_>) {
        let Some(skin) = input.skin else {
            if self.bind.is_some() {
                *self = Self::default();
            }
            return;
        };
        self.take_chunks(input);
        let is_new = self.key.replace(|old| Key {
            skeleton: BindTree(Identity::of(Some(input.skeleton))),
            rest_world: Identity::of(Some(input.rest_world)),
            joints: refill(old.joints, skin.joints.iter().copied()),
            inverse_bind: refill(
                old.inverse_bind,
                (skin.inverse_bind.iter()).map(|m| m.to_cols_array().map(f64::to_bits)),
            ),
            bound: {
                let mut bound = old.bound;
                input.cooked.bound_into(skin.joints.len(), &mut bound);
                bound
            },
            meshes: refill(
                old.meshes,
                skin.meshes.iter().map(|(mesh, _)| Identity::of(Some(mesh))),
            ),
        });
        let bind = match self.bind.take().filter(|_| !is_new) {
            Some(bind) => bind,
            None => self.rebind(input, &skin),
        };
        let stretch = match input.stack.scale {
            ScaleMode::Drop if input.stack.method.is_rigid() => Stretch::Drop,
            _ => Stretch::Inflate,
        };
        bind.pose(input.world, stretch, &mut self.spare);
        std::mem::swap(&mut self.palette, &mut self.spare);
        self.changes.palette = !self.palette.same_bits(&self.spare);
        let bones = self.bones.as_ref();
        self.changes.inflated_bones =
            bones.is_some_and(|bones| self.bone_pose.update(bones, &self.palette));
        self.bind = Some(bind);
    }

    fn take_chunks(&mut self, input: &DeformInput<'_>) {
        let chunks = input.cooked.chunks();
        let changes = &mut self.changes;
        changes.chunks.clear();
        changes.unmoved_points = self.chunks.len() != chunks.len();
        if changes.unmoved_points {
            self.chunks.clear();
            self.chunks.extend_from_slice(chunks);
            changes.chunks.extend(0..chunks.len());
            return;
        }
        for (c, (known, chunk)) in self.chunks.iter_mut().zip(chunks).enumerate() {
            if !Arc::ptr_eq(known, chunk) {
                changes.chunks.push(c);
                changes.unmoved_points |= known.unmoved() != chunk.unmoved();
                *known = chunk.clone();
            }
        }
    }

    /// Bind data and bones, those of leaf joints as long as the meshes of the skin reach.
    fn rebind(&mut self, input: &DeformInput<'_>, skin: &SkinSource<'_>) -> SkinBind {
        let bound = self.key.known().map_or(&[][..], |key| &key.bound);
        let bind = SkinBind::new(
            input.skeleton,
            skin.joints,
            skin.inverse_bind,
            bound,
            input.rest_world,
        );
        let leaves = SkinBones::leaves(&bind, input.skeleton);
        let mut points = LeafPoints::new(&leaves);
        for (mesh, influences) in skin.meshes {
            points.add(&leaves, &mesh.positions, influences.iter());
        }
        let bones = SkinBones::new(&bind, input.skeleton, &points);
        self.bones = Some(Arc::new(bones));
        bind
    }

    /// The skin matrices of the pose.
    pub(in crate::deform) fn palette(&self) -> &SkinPalette {
        &self.palette
    }

    /// The bones of the skin, and where they are in the pose; `None` without a skin.
    pub(in crate::deform) fn bones(&self) -> Option<(&Arc<SkinBones>, &BonePose)> {
        Some((self.bones.as_ref()?, &self.bone_pose))
    }

    /// The influences in the order of the kernels; none without a skin.
    pub(in crate::deform) fn chunks(&self) -> &[Arc<CookedChunk>] {
        &self.chunks
    }

    /// What the latest run changed.
    pub(super) fn changes(&self) -> &Changes {
        &self.changes
    }
}
