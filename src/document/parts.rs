//! The parts of a document.

use super::layers::LayerStack;
use super::{ClipId, InstanceId, InvalidWeights, MeshId, SkinId, Source};
use crate::cluster::ClusterMap;
use crate::deform::{Correctives, DeformStack, Masks};
use crate::math::bounding_box::Corners;
use crate::mesh::Mesh;
use crate::skeleton::constraint::Constraints;
use crate::skeleton::{Clip, JointId, Skeleton};
use crate::skinning::Influences;
use glam::DAffine3;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A mesh with everything that is painted on it.
#[derive(Clone, Debug)]
pub struct MeshItem {
    /// Points, vertices, faces, morph targets.
    pub geometry: Arc<Mesh>,
    /// One row per point with indices into the joint list of the skins that draw this mesh. Where there are layers:
    /// their composite.
    pub influences: Influences,
    /// The layers whose composite `influences` is; empty where the influences are painted directly.
    pub layers: LayerStack,
    /// The influences as imported. Unedited chunks are shared with `influences`: they take no memory, and comparing
    /// pointers finds the edits.
    pub source_influences: Influences,
    /// Weights of the source that are not valid; `influences` and `source_influences` have valid ones in their place.
    pub invalid: Arc<InvalidWeights>,
    /// How the mesh deforms.
    pub stack: Arc<DeformStack>,
    /// Painted maps: how strongly each part of the stack affects each point.
    pub masks: Masks,
    /// Shapes sculpted at poses.
    pub correctives: Arc<Correctives>,
    /// Control clusters; between them a surface of patches moves the points.
    pub clusters: Arc<ClusterMap>,
    /// Morph weights of an instance that has none of its own; one per morph target.
    pub morph_weights: Vec<f32>,
}

/// A list of joints and their inverse bind matrices.
#[derive(Clone, Debug, PartialEq)]
pub struct Skin {
    /// A label; may be empty.
    pub name: String,
    /// The joints that influences index: one of the skeleton for each entry.
    pub joints: Vec<JointId>,
    /// One for each joint: bind-pose mesh space -> joint space. Missing ones are the identity.
    pub inverse_bind: Vec<DAffine3>,
}

/// A node that draws a mesh, with a skin or rigidly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The node. Its own transform is ignored where there is a skin (glTF 2.0, 3.7.3.3).
    pub joint: JointId,
    /// The mesh that it draws.
    pub mesh: MeshId,
    /// The skin that moves the points; `None`: the node's world transform does.
    pub skin: Option<SkinId>,
}

/// The material of a primitive (glTF 2.0, 3.9).
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// A label; may be empty.
    pub name: String,
    /// Linear RGBA factor.
    pub base_color: [f32; 4],
    /// Index into the document's images.
    pub base_color_image: Option<u32>,
    /// 0 dielectric - 1 metal.
    pub metallic: f32,
    /// 0 smooth - 1 rough.
    pub roughness: f32,
    /// Index into the document's images: roughness in green, metal in blue, times the factors above.
    pub metallic_roughness_image: Option<u32>,
    /// Index into the document's images: tangent-space normals.
    pub normal_image: Option<u32>,
    /// Scale of the normal texture's x and y.
    pub normal_scale: f32,
    /// Index into the document's images: ambient occlusion, in red.
    pub occlusion_image: Option<u32>,
    /// Strength of the occlusion, 0 - 1.
    pub occlusion_strength: f32,
    /// Linear RGB emission; may exceed 1.
    pub emissive: [f32; 3],
    /// Index into the document's images: emission, times the factor above.
    pub emissive_image: Option<u32>,
    /// Draw back faces as well.
    pub double_sided: bool,
    /// Discard texels with alpha below this.
    pub alpha_cutoff: Option<f32>,
    /// Alpha is the opacity (`BLEND`).
    pub blended: bool,
    /// Show the base colour without lighting (`KHR_materials_unlit`).
    pub unlit: bool,
}

impl Material {
    /// The indices of the images that it uses.
    pub fn images(&self) -> impl Iterator<Item = u32> {
        let images = [
            self.base_color_image,
            self.metallic_roughness_image,
            self.normal_image,
            self.occlusion_image,
            self.emissive_image,
        ];
        images.into_iter().flatten()
    }
}

impl Default for Material {
    fn default() -> Self {
        Self {
            name: String::new(),
            base_color: [0.8, 0.8, 0.8, 1.0],
            base_color_image: None,
            metallic: 0.0,
            roughness: 0.6,
            metallic_roughness_image: None,
            normal_image: None,
            normal_scale: 1.0,
            occlusion_image: None,
            occlusion_strength: 1.0,
            emissive: [0.0; 3],
            emissive_image: None,
            double_sided: false,
            alpha_cutoff: None,
            blended: false,
            unlit: false,
        }
    }
}

/// A decoded picture, 8-bit sRGB RGBA, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// width x height x 4.
    pub rgba: Vec<u8>,
}

/// Nodes that are not instances because they would exceed the memory budget by instantiating a mesh again. Sinew shows them
/// as bounding boxes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeftOut {
    /// The nodes. Exports keep them but do not correct them.
    pub nodes: Vec<Instance>,
    /// The bounding boxes of their meshes in the rest pose of the file, world space, without duplicates.
    pub boxes: Vec<Corners>,
}

impl LeftOut {
    /// The largest number of boxes.
    pub const MAX_BOXES: usize = 1000;

    /// Whether one of the nodes draws `mesh`.
    pub fn draws(&self, mesh: MeshId) -> bool {
        self.nodes.iter().any(|node| node.mesh == mesh)
    }
}

/// The parts that an importer fills and [`super::Document::new`] checks.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// The source file; `None` for a document without a file.
    pub source: Option<Arc<Source>>,
    /// The joint hierarchy.
    pub skeleton: Arc<Skeleton>,
    /// Meshes.
    pub meshes: BTreeMap<MeshId, Arc<MeshItem>>,
    /// Skins.
    pub skins: BTreeMap<SkinId, Arc<Skin>>,
    /// The instances to draw, in order of node index.
    pub instances: BTreeMap<InstanceId, Arc<Instance>>,
    /// Clips.
    pub clips: BTreeMap<ClipId, Arc<Clip>>,
    /// Morph weights of the joints that draw a mesh with targets, as the file has them (node, else mesh).
    pub rest_morph_weights: BTreeMap<JointId, Vec<f32>>,
    /// The nodes that would exceed the memory budget by instantiating a mesh again.
    pub left_out: Arc<LeftOut>,
    /// Constraints of joints.
    pub constraints: Constraints,
    /// Materials; primitives refer to them by index.
    pub materials: Arc<Vec<Material>>,
    /// Images; materials refer to them by index. `None` where one could not be decoded.
    pub images: Arc<Vec<Option<Arc<Image>>>>,
}
