//! The input of the deformer stack for the instances of a document.
//!
//! Evaluation, bakes and static-mesh exports all build this input here, so that they agree on what deforms an instance.

use super::{Document, Instance, InstanceId, MeshId, Skin, SkinId};
use crate::cluster::MeshLayout;
use crate::deform::cook::joint_order;
use crate::deform::correctives::{Driver, PointWeights};
use crate::deform::{
    ClusterInput, CookedMesh, DeformInput, DeformStack, HomeSkin, PointRotations, SkinSource,
};
use crate::mesh::Mesh;
use crate::skeleton::{Moment, Pose};
use crate::skinning::{Centres, Influences};
use glam::DAffine3;
use std::sync::Arc;

/// A mesh that a skin moves, and its influences as imported.
pub type SkinnedMesh<'a> = (&'a Arc<Mesh>, &'a Influences);

/// A document in one pose.
#[derive(Clone, Copy)]
pub struct PosedDocument<'a> {
    /// The document whose instances are deformed.
    pub document: &'a Document,
    /// The pose, of which morph weights are read, and the local rotations that drive samples; the transforms are those of
    /// `world`.
    pub pose: &'a Pose,
    /// Its time.
    pub moment: Moment,
    /// n_joints of the skeleton: world transforms of the file's rest pose; compared by identity.
    pub rest_world: &'a Arc<Vec<DAffine3>>,
    /// n_joints of the skeleton: world transforms of `pose`.
    pub world: &'a [DAffine3],
}

/// What the caller of the stack caches and chooses for one instance.
#[derive(Clone, Copy)]
pub struct CookedInstance<'a> {
    /// The stack that deforms it; `None`: the stack of its mesh.
    pub stack: Option<&'a DeformStack>,
    /// Whether its corrective samples are applied.
    pub correctives: bool,
    /// The patches between its control clusters, where they have been laid out; `None`: clusters are left out.
    pub layout: Option<&'a Arc<MeshLayout>>,
    /// The influences of its mesh in the order of [`Document::joint_order`]; not read without a skin.
    pub influences: &'a CookedMesh,
    /// The centres of rotation of its mesh, where they have been computed.
    pub centres: Option<&'a Arc<Centres>>,
    /// The meshes that its skin moves ([`Document::meshes_of_skin`]); not read without a skin.
    pub skin_meshes: &'a [SkinnedMesh<'a>],
}

impl<'a> PosedDocument<'a> {
    /// The input of the deformer stack for an instance; `None` where its mesh is not in the document.
    pub fn deform_input(
        &self,
        instance: &Instance,
        cooked: CookedInstance<'a>,
    ) -> Option<DeformInput<'a>> {
        let document = self.document;
        let item = document.meshes().get(&instance.mesh)?;
        let skin = instance.skin.and_then(|skin| document.skins().get(&skin));
        let clusters = cooked.layout.filter(|_| item.clusters.acts());
        let morph_weights = self.pose.morph_weights.get(instance.joint.get());
        Some(DeformInput {
            geometry: &item.geometry,
            cooked: cooked.influences,
            stack: cooked.stack.unwrap_or(&item.stack),
            masks: &item.masks,
            correctives: cooked.correctives.then_some(&item.correctives),
            home: document.home_skin(instance),
            clusters: clusters.map(|layout| ClusterInput {
                map: &item.clusters,
                layout,
                recordings: document.recordings(),
            }),
            centres: cooked.centres,
            skeleton: document.skeleton(),
            node: instance.joint,
            skin: skin.map(|skin| SkinSource {
                joints: &skin.joints,
                inverse_bind: &skin.inverse_bind,
                meshes: cooked.skin_meshes,
            }),
            rest_world: self.rest_world,
            locals: &self.pose.locals,
            world: self.world,
            moment: self.moment,
            morph_weights: morph_weights.map_or(&[], Vec::as_slice),
        })
    }
}

impl Document {
    /// The first skin of the mesh of an instance that has samples, where another skin moves the instance.
    fn home_skin(&self, instance: &Instance) -> Option<HomeSkin<'_>> {
        let item = self.meshes().get(&instance.mesh)?;
        if item.correctives.is_empty() {
            return None;
        }
        let (home, skin) = self.skin_of_mesh(instance.mesh)?;
        (instance.skin != Some(home)).then(|| HomeSkin {
            joints: &skin.joints,
            rest: &self.rest_pose().locals,
        })
    }

    /// The drivers of the samples of an instance, in the order of [`crate::deform::Correctives::drivers`], where another
    /// skin than the first of its mesh moves it.
    pub fn drivers_of(&self, instance: &Instance) -> Option<Vec<Driver>> {
        let home = self.home_skin(instance)?;
        let skin = self.skins().get(&instance.skin?)?;
        let correctives = &self.meshes().get(&instance.mesh)?.correctives;
        let drivers = correctives.drivers().map(|(_, driver)| {
            driver.in_skin(home.joints, &skin.joints, self.skeleton(), home.rest)
        });
        Some(drivers.collect())
    }

    /// The weights of all samples of an instance at single points, in the pose on screen; `None` without a skin.
    pub fn point_weights(&self, instance: InstanceId) -> Option<PointWeights> {
        let instance = self.instances().get(&instance)?;
        let item = self.meshes().get(&instance.mesh)?;
        let (_, home) = self.skin_of_mesh(instance.mesh)?;
        Some(PointWeights::new(
            &item.correctives,
            &home.joints,
            self.drivers_of(instance),
            &item.influences,
            (self.skeleton(), &self.shown_pose().locals),
        ))
    }

    /// The blended rotations of the points of an instance in the pose on screen; `None` without a skin.
    pub fn point_rotations(&self, instance: InstanceId) -> Option<PointRotations> {
        let instance = self.instances().get(&instance)?;
        let item = self.meshes().get(&instance.mesh)?;
        let skin = self.skins().get(&instance.skin?)?;
        let source = SkinSource {
            joints: &skin.joints,
            inverse_bind: &skin.inverse_bind,
            meshes: &[],
        };
        let skeleton = self.skeleton();
        let worlds = (
            &self.rest_pose().world_matrices(skeleton)[..],
            &self.shown_pose().world_matrices(skeleton)[..],
        );
        Some(PointRotations::new(
            skeleton,
            &source,
            worlds,
            &item.influences,
            &item.stack,
            &item.masks,
        ))
    }

    /// For each joint of a skin its index in the skin's joints sorted parents first: the order in which [`CookedMesh`]
    /// stores influences.
    pub fn joint_order(&self, skin: &Skin) -> Vec<u32> {
        joint_order(skin.joints.iter().map(|&j| self.skeleton().logical_rank(j)))
    }

    /// The meshes that a skin moves, each once, in order of id.
    pub fn meshes_of_skin(&self, skin: SkinId) -> Vec<SkinnedMesh<'_>> {
        let (mut ids, mut meshes) = (Vec::new(), Vec::new());
        self.meshes_of_skin_into(skin, &mut ids, &mut meshes);
        meshes
    }

    /// As [`Document::meshes_of_skin`], into buffers that are reused; `ids` names the meshes.
    pub fn meshes_of_skin_into<'a>(
        &'a self,
        skin: SkinId,
        ids: &mut Vec<MeshId>,
        meshes: &mut Vec<SkinnedMesh<'a>>,
    ) {
        ids.clear();
        meshes.clear();
        let instances = self.instances().values();
        let of_skin = instances.filter(|i| i.skin == Some(skin));
        ids.extend(of_skin.map(|i| i.mesh));
        ids.sort_unstable();
        ids.dedup();
        let items = ids.iter().filter_map(|id| self.meshes().get(id));
        meshes.extend(items.map(|item| (&item.geometry, &item.source_influences)));
    }
}
