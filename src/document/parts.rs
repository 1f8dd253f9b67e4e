//! What a document is made of.

use super::layers::LayerStack;
use super::{ClipId, InstanceId, MeshId, SkinId, Source};
use crate::deform::{DeformStack, Masks};
use crate::mesh::Mesh;
use crate::skeleton::{Clip, JointId, Skeleton};
use crate::skinning::Influences;
use glam::DAffine3;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A mesh with everything the artist paints on it.
#[derive(Clone, Debug)]
pub struct MeshItem {
    /// Points, vertices, faces, morph targets.
    pub geometry: Arc<Mesh>,
    /// One row a point, indices into the joint list of the skins that draw this mesh. Where there are layers: what they
    /// show together.
    pub influences: Influences,
    /// The layers that `influences` are made of; empty where what is painted is the result.
    pub layers: LayerStack,
    /// The influences as imported. Unedited chunks are shared with `influences`, so this costs nothing and a
    /// pointer comparison finds what the artist changed.
    pub source_influences: Influences,
    /// How the mesh deforms.
    pub stack: Arc<DeformStack>,
    /// How much of each part of the stack its points take, as painted.
    pub masks: Masks,
    /// Morph weights of an instance that has none of its own; one a morph target.
    pub morph_weights: Vec<f32>,
}

/// A list of joints and their inverse bind matrices.
#[derive(Clone, Debug, PartialEq)]
pub struct Skin {
    /// A label; may be empty.
    pub name: String,
    /// What influences index: the skeleton's joint for each entry.
    pub joints: Vec<JointId>,
    /// One for each joint: bind-pose mesh space -> joint space. Absent ones are filled in as identity.
    pub inverse_bind: Vec<DAffine3>,
}

/// A node that draws a mesh, with a skin or rigidly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The node. Its own transform is ignored where there is a skin (glTF 2.0, 3.7.3.3).
    pub joint: JointId,
    /// What it draws.
    pub mesh: MeshId,
    /// What moves the points; `None`: the node's world transform.
    pub skin: Option<SkinId>,
}

/// How a primitive looks.
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
    /// How strongly they bend the surface's own.
    pub normal_scale: f32,
    /// Index into the document's images: what light from around reaches, in red.
    pub occlusion_image: Option<u32>,
    /// How much of it applies, 0 - 1.
    pub occlusion_strength: f32,
    /// Linear RGB of its own light; may exceed 1.
    pub emissive: [f32; 3],
    /// Index into the document's images, times the factor above.
    pub emissive_image: Option<u32>,
    /// Draw back faces too.
    pub double_sided: bool,
    /// Discard texels with alpha below this.
    pub alpha_cutoff: Option<f32>,
    /// Alpha is how opaque it is.
    pub blended: bool,
    /// Its colour is shown as it is, without light.
    pub unlit: bool,
}

impl Material {
    /// The images that it shows.
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

/// What an importer fills and [`super::Document::new`] checks.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// Where it came from; `None` for a document without a file.
    pub source: Option<Arc<Source>>,
    /// The node tree.
    pub skeleton: Arc<Skeleton>,
    /// Meshes.
    pub meshes: BTreeMap<MeshId, Arc<MeshItem>>,
    /// Skins.
    pub skins: BTreeMap<SkinId, Arc<Skin>>,
    /// What is drawn, in order of node index.
    pub instances: BTreeMap<InstanceId, Arc<Instance>>,
    /// Clips.
    pub clips: BTreeMap<ClipId, Arc<Clip>>,
    /// Morph weights of the joints that draw a mesh with targets, as the file has them (node, else mesh).
    pub rest_morph_weights: BTreeMap<JointId, Vec<f32>>,
    /// Materials that primitives name by index.
    pub materials: Arc<Vec<Material>>,
    /// Images that materials name by index; `None` where none could be decoded.
    pub images: Arc<Vec<Option<Arc<Image>>>>,
}
