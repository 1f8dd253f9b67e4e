//! Writes a generated model as a new GLB file.

use super::gltf_json::{
    ComponentType, Target, accessor, at, buffer, channel, members, path_of, value, view,
};
use crate::document::PrimitiveSource;
use crate::sample::SampleModel;
use crate::sample::reservoir::SampleScene;
use crate::skeleton::{Clip, Interpolation, Joint, Property};
use ::gltf::json::accessor::{Accessor, Type};
use ::gltf::json::mesh::{Mode, Primitive, Semantic};
use ::gltf::json::validation::Checked;
use ::gltf::json::{
    Animation, Asset, Extras, Mesh, Node, Scene, Skin, animation, buffer as buffers,
};
use glam::{DMat4, Vec3};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// The model as a binary glTF 2.0 file: joints are the nodes in order; the skinned mesh's node follows them, as another
/// root of the scene.
///
/// Weights are f32, four per vertex; joints u8 below 256 joints, otherwise u16.
pub fn to_glb(model: &SampleModel) -> Vec<u8> {
    let mut file = Builder::default();
    let n_joints = model.joints.len();
    let mut children = vec![Vec::new(); n_joints];
    let mut roots = Vec::new();
    for (j, joint) in model.joints.iter().enumerate() {
        match joint.parent {
            Some(p) => children[p.get()].push(j),
            None => roots.push(j),
        }
    }
    let mut nodes: Vec<Value> = model
        .joints
        .iter()
        .zip(&children)
        .map(|(joint, children)| joint_node(joint, children))
        .collect();
    nodes.push(value(&Node {
        name: Some(model.mesh.name.clone()),
        mesh: Some(at(0)),
        skin: Some(at(0)),
        ..Node::default()
    }));
    roots.push(n_joints);

    let primitives: Vec<Primitive> = model
        .mesh
        .primitives
        .iter()
        .map(|p| file.primitive(p, model.skin.joints.len()))
        .collect();
    let inverse_bind: Vec<f32> = model
        .skin
        .inverse_bind
        .iter()
        .flat_map(|m| DMat4::from(*m).to_cols_array())
        .map(|x| x as f32)
        .collect();
    let inverse_bind = file.floats(Type::Mat4, &inverse_bind, None);
    let animations: Vec<Value> = model
        .clips
        .iter()
        .map(|clip| file.animation(clip))
        .collect();
    let scene = Scene {
        nodes: roots.into_iter().map(at).collect(),
        name: None,
        extensions: None,
        extras: Extras::default(),
    };
    let mesh = Mesh {
        name: Some(model.mesh.name.clone()),
        primitives: Vec::new(),
        weights: None,
        extensions: None,
        extras: Extras::default(),
    };
    let mut mesh = members(&mesh);
    let primitives = primitives.iter().map(value);
    mesh.insert("primitives".into(), primitives.collect());
    let joints = model.skin.joints.iter();
    let skin = Skin {
        name: Some(model.skin.name.clone()),
        inverse_bind_matrices: Some(at(inverse_bind)),
        joints: joints.map(|j| at(j.get())).collect(),
        skeleton: None,
        extensions: None,
        extras: Extras::default(),
    };
    let asset = Asset {
        version: "2.0".into(),
        generator: Some("Sinew".into()),
        ..Asset::default()
    };
    let mut root = json!({
        "asset": value(&asset),
        "scene": 0,
        "scenes": [value(&scene)],
        "nodes": nodes,
        "meshes": [mesh],
        "skins": [value(&skin)],
        // The crate stores colours as f32.
        "materials": [{
            "name": "Skin",
            "pbrMetallicRoughness": {
                "baseColorFactor": [0.66, 0.5, 0.38, 1.0],
                "metallicFactor": 0.0,
                "roughnessFactor": 0.6,
            },
        }],
        "accessors": file.accessors.iter().map(value).collect::<Vec<_>>(),
        "bufferViews": file.views.iter().map(value).collect::<Vec<_>>(),
        "buffers": [value(&buffer(file.bytes.len()))],
    });
    if !animations.is_empty() {
        root["animations"] = Value::Array(animations);
    }
    pack(&root, file.bytes)
}

/// Meshes without a skeleton as a binary glTF 2.0 file: one root node, one mesh and one material each, in order.
pub fn scene_to_glb(scene: &SampleScene) -> Vec<u8> {
    let mut file = Builder::default();
    let (mut parts, mut materials) = (Vec::new(), Vec::new());
    for (index, (mesh, [r, g, b])) in scene.meshes.iter().enumerate() {
        let mut primitives = mesh.primitives.clone();
        for primitive in &mut primitives {
            primitive.material = Some(index as u32);
        }
        parts.push(Part {
            name: mesh.name.clone(),
            primitives,
        });
        materials.push(json!({
            "name": mesh.name,
            "pbrMetallicRoughness": {
                "baseColorFactor": numbers(&[*r, *g, *b, 1.0].map(f64::from)),
                "metallicFactor": 0.0,
                "roughnessFactor": 0.6,
            },
        }));
    }
    let (nodes, meshes) = file.parts(&parts);
    let animations: Vec<Value> = scene
        .clips
        .iter()
        .map(|clip| file.animation(clip))
        .collect();
    file.pack(
        &nodes,
        &meshes,
        &json!({"materials": materials, "animations": animations}),
    )
}

/// A mesh without a skin, and the node that draws it.
pub(super) struct Part {
    /// The name of both.
    pub(super) name: String,
    /// Their materials are indices into those of the file.
    pub(super) primitives: Vec<PrimitiveSource>,
}

/// Meshes without bones as a binary glTF 2.0 file: a node each, all of them roots of the scene. `lists`: further members
/// of the root, such as `materials`; empty ones are left out.
pub(super) fn parts_to_glb(parts: &[Part], lists: &Value) -> Vec<u8> {
    let mut file = Builder::default();
    let (nodes, meshes) = file.parts(parts);
    file.pack(&nodes, &meshes, lists)
}

/// Header, JSON chunk and BIN chunk, each padded to 4 bytes (glTF 2.0, 4.4).
fn pack(json: &Value, mut binary: Vec<u8>) -> Vec<u8> {
    let mut json = json.to_string().into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    binary.resize(binary.len().next_multiple_of(4), 0);
    let total = 12 + 8 + json.len() + 8 + binary.len();
    let mut out = Vec::with_capacity(total);
    out.extend(b"glTF");
    out.extend(2u32.to_le_bytes());
    out.extend((total as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", json), (b"BIN\0", binary)] {
        out.extend((chunk.len() as u32).to_le_bytes());
        out.extend(kind);
        out.extend(chunk);
    }
    out
}

fn joint_node(joint: &Joint, children: &[usize]) -> Value {
    let mut node = value(&Node {
        name: Some(joint.name.clone()),
        children: (!children.is_empty()).then(|| children.iter().copied().map(at).collect()),
        ..Node::default()
    });
    let rest = &joint.rest;
    if rest.has_shear() {
        node["matrix"] = numbers(&rest.to_matrix().to_cols_array());
        return node;
    }
    if rest.translation != glam::DVec3::ZERO {
        node["translation"] = numbers(&rest.translation.to_array());
    }
    if rest.rotation != glam::DQuat::IDENTITY {
        node["rotation"] = numbers(&rest.rotation.to_array());
    }
    if rest.scale() != glam::DVec3::ONE {
        node["scale"] = numbers(&rest.scale().to_array());
    }
    node
}

/// The values as the shortest decimals that round-trip to the same f32.
fn numbers(values: &[f64]) -> Value {
    values
        .iter()
        .map(|&x| {
            let short = (x as f32 + 0.0).to_string().parse::<f64>();
            json!(short.unwrap_or(x))
        })
        .collect()
}

/// The BIN chunk, and the accessors and buffer views into it.
#[derive(Default)]
struct Builder {
    bytes: Vec<u8>,
    views: Vec<buffers::View>,
    accessors: Vec<Accessor>,
    /// Accessors of keyframe times already written, by the bits of the times.
    times: HashMap<Vec<u32>, usize>,
}

impl Builder {
    /// The nodes and meshes of parts.
    fn parts(&mut self, parts: &[Part]) -> (Vec<Value>, Vec<Value>) {
        let (mut nodes, mut meshes) = (Vec::new(), Vec::new());
        for (index, part) in parts.iter().enumerate() {
            let primitives = part.primitives.iter().map(|p| {
                let mut primitive = value(&self.primitive(p, 0));
                if let Some(members) = primitive.as_object_mut() {
                    match p.material {
                        Some(material) => members.insert("material".into(), json!(material)),
                        None => members.remove("material"),
                    };
                }
                primitive
            });
            let primitives: Vec<Value> = primitives.collect();
            nodes.push(json!({"name": part.name, "mesh": index}));
            meshes.push(json!({"name": part.name, "primitives": primitives}));
        }
        (nodes, meshes)
    }

    /// The file, with all nodes as roots of its scene. `lists`: further members of the root; empty ones are left out.
    fn pack(self, nodes: &[Value], meshes: &[Value], lists: &Value) -> Vec<u8> {
        let mut root = json!({
            "asset": {"version": "2.0", "generator": "Sinew"},
            "scene": 0,
            "scenes": [{"nodes": (0..nodes.len()).collect::<Vec<_>>()}],
            "nodes": nodes,
            "meshes": meshes,
        });
        for (name, list) in lists.as_object().into_iter().flatten() {
            if list.as_array().is_some_and(|list| !list.is_empty()) {
                root[name] = list.clone();
            }
        }
        root["accessors"] = self.accessors.iter().map(value).collect();
        root["bufferViews"] = self.views.iter().map(value).collect();
        root["buffers"] = json!([value(&buffer(self.bytes.len()))]);
        pack(&root, self.bytes)
    }

    fn view(&mut self, data: &[u8], target: Option<Target>) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let offset = self.bytes.len();
        self.bytes.extend_from_slice(data);
        self.views.push(view(0, offset, data.len(), target));
        self.views.len() - 1
    }

    fn accessor(
        &mut self,
        view: usize,
        component: ComponentType,
        kind: Type,
        count: usize,
    ) -> usize {
        self.accessors
            .push(accessor(Some(view), component, kind, count));
        self.accessors.len() - 1
    }

    fn floats(&mut self, kind: Type, values: &[f32], target: Option<Target>) -> usize {
        let data: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        let view = self.view(&data, target);
        let count = values.len() / kind.multiplicity();
        self.accessor(view, ComponentType::F32, kind, count)
    }

    fn primitive(&mut self, p: &PrimitiveSource, n_joints: usize) -> Primitive {
        let flat = |values: &[Vec3]| -> Vec<f32> {
            values.iter().copied().flat_map(<[f32; 3]>::from).collect()
        };
        let array = Some(Target::ArrayBuffer);
        let position = self.floats(Type::Vec3, &flat(&p.positions), array);
        let low = p.positions.iter().fold(Vec3::INFINITY, |a, &b| a.min(b));
        let high = p
            .positions
            .iter()
            .fold(Vec3::NEG_INFINITY, |a, &b| a.max(b));
        self.accessors[position].min = Some(json!(low.to_array()));
        self.accessors[position].max = Some(json!(high.to_array()));
        let mut attributes = vec![(Semantic::Positions, position)];
        if !p.normals.is_empty() {
            let normals = self.floats(Type::Vec3, &flat(&p.normals), array);
            attributes.push((Semantic::Normals, normals));
        }
        if !p.uvs.is_empty() {
            let uvs: Vec<f32> = p.uvs.iter().copied().flat_map(<[f32; 2]>::from).collect();
            attributes.push((Semantic::TexCoords(0), self.floats(Type::Vec2, &uvs, array)));
        }
        if !p.influences.is_empty() {
            let mut joints = Vec::with_capacity(4 * p.positions.len());
            let mut weights = Vec::with_capacity(4 * p.positions.len());
            for row in p.influences.iter() {
                debug_assert!(row.len() <= 4);
                let mut pairs = row.iter();
                for _ in 0..4 {
                    let (joint, weight) = pairs.next().unwrap_or((0, 0.0));
                    joints.push(joint);
                    weights.push(weight);
                }
            }
            let (component, data): (ComponentType, Vec<u8>) = if n_joints < 256 {
                (ComponentType::U8, joints.iter().map(|&j| j as u8).collect())
            } else {
                (
                    ComponentType::U16,
                    joints.iter().flat_map(|j| j.to_le_bytes()).collect(),
                )
            };
            let view = self.view(&data, array);
            let joints = self.accessor(view, component, Type::Vec4, p.positions.len());
            attributes.push((Semantic::Joints(0), joints));
            let weights = self.floats(Type::Vec4, &weights, array);
            attributes.push((Semantic::Weights(0), weights));
        }
        let attributes = attributes
            .into_iter()
            .map(|(semantic, accessor)| (Checked::Valid(semantic), at(accessor)));
        Primitive {
            attributes: attributes.collect::<BTreeMap<_, _>>(),
            extensions: None,
            extras: Extras::default(),
            indices: (!p.triangles.is_empty()).then(|| at(self.indices(p))),
            material: Some(at(0)),
            mode: Checked::Valid(Mode::Triangles),
            targets: None,
        }
    }

    fn indices(&mut self, p: &PrimitiveSource) -> usize {
        let corners = p.triangles.as_flattened();
        // The largest index of each type is the primitive restart value and must not be used.
        let (component, data): (ComponentType, Vec<u8>) = if p.positions.len() <= 65_535 {
            let short = corners.iter().flat_map(|&v| (v as u16).to_le_bytes());
            (ComponentType::U16, short.collect())
        } else {
            (
                ComponentType::U32,
                corners.iter().flat_map(|v| v.to_le_bytes()).collect(),
            )
        };
        let view = self.view(&data, Some(Target::ElementArrayBuffer));
        self.accessor(view, component, Type::Scalar, corners.len())
    }

    fn animation(&mut self, clip: &Clip) -> Value {
        let mut samplers = Vec::new();
        let mut channels = Vec::new();
        for track in &clip.channels {
            let Some(path) = path_of(track.property) else {
                continue;
            };
            let bits: Vec<u32> = track.times.iter().map(|t| t.to_bits()).collect();
            let input = if let Some(&known) = self.times.get(&bits) {
                known
            } else {
                let input = self.floats(Type::Scalar, &track.times, None);
                let times = || track.times.iter().copied();
                let first = times().fold(f32::INFINITY, f32::min);
                let last = times().fold(f32::NEG_INFINITY, f32::max);
                self.accessors[input].min = Some(json!([first]));
                self.accessors[input].max = Some(json!([last]));
                self.times.insert(bits, input);
                input
            };
            let kind = match track.property {
                Property::Translation | Property::Scale => Type::Vec3,
                Property::Rotation => Type::Vec4,
                Property::MorphWeights | Property::Influence(_) => Type::Scalar,
            };
            let output = self.floats(kind, &track.values, None);
            let interpolation = match track.interpolation {
                Interpolation::Step => animation::Interpolation::Step,
                Interpolation::Linear => animation::Interpolation::Linear,
                Interpolation::CubicSpline => animation::Interpolation::CubicSpline,
            };
            channels.push(channel(samplers.len(), track.joint.get(), path));
            samplers.push(animation::Sampler {
                input: at(input),
                output: at(output),
                interpolation: Checked::Valid(interpolation),
                extensions: None,
                extras: Extras::default(),
            });
        }
        let mut entry = members(&Animation {
            name: Some(clip.name.clone()),
            channels: Vec::new(),
            samplers: Vec::new(),
            extensions: None,
            extras: Extras::default(),
        });
        entry.insert("channels".into(), channels.iter().map(value).collect());
        entry.insert("samplers".into(), samplers.iter().map(value).collect());
        Value::Object(entry)
    }
}
