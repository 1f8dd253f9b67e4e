//! A generated model -> a new GLB file.

use crate::document::PrimitiveSource;
use crate::sample::SampleModel;
use crate::skeleton::{Clip, Interpolation, Joint, Property};
use glam::{DMat4, Vec3};
use serde_json::{Value, json};
use std::collections::HashMap;

const FLOAT: u32 = 5126;
const UNSIGNED_BYTE: u32 = 5121;
const UNSIGNED_SHORT: u32 = 5123;
const UNSIGNED_INT: u32 = 5125;
const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;

/// The model as a binary glTF 2.0 file: joints are the nodes in order, the skinned mesh's node follows and stands
/// beside the skeleton's roots in the scene.
///
/// Weights are f32, four a vertex; joints u8 below 256 joints, else u16.
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
    nodes.push(json!({ "name": model.mesh.name, "mesh": 0, "skin": 0 }));
    roots.push(n_joints);

    let primitives: Vec<Value> = model
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
    let inverse_bind = file.floats("MAT4", 16, &inverse_bind, None);
    let joints: Vec<u32> = model.skin.joints.iter().map(|j| j.0).collect();
    let animations: Vec<Value> = model
        .clips
        .iter()
        .map(|clip| file.animation(clip))
        .collect();

    let mut root = json!({
        "asset": { "version": "2.0", "generator": "Sinew" },
        "scene": 0,
        "scenes": [{ "nodes": roots }],
        "nodes": nodes,
        "meshes": [{ "name": model.mesh.name, "primitives": primitives }],
        "skins": [{ "name": model.skin.name, "inverseBindMatrices": inverse_bind, "joints": joints }],
        "materials": [{
            "name": "Skin",
            "pbrMetallicRoughness": {
                "baseColorFactor": [0.66, 0.5, 0.38, 1.0],
                "metallicFactor": 0.0,
                "roughnessFactor": 0.6,
            },
        }],
        "accessors": file.accessors,
        "bufferViews": file.views,
        "buffers": [{ "byteLength": file.bytes.len() }],
    });
    if !animations.is_empty() {
        root["animations"] = Value::Array(animations);
    }
    pack(&root, file.bytes)
}

/// Header, JSON chunk and binary chunk, each padded to 4 bytes (glTF 2.0, 4.4).
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
    let mut node = json!({ "name": joint.name });
    if !children.is_empty() {
        node["children"] = json!(children);
    }
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

/// The values as the shortest decimals that read back as the same f32.
fn numbers(values: &[f64]) -> Value {
    values
        .iter()
        .map(|&x| {
            let short = (x as f32 + 0.0).to_string().parse::<f64>();
            json!(short.unwrap_or(x))
        })
        .collect()
}

/// The binary chunk and what describes it.
#[derive(Default)]
struct Builder {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    /// Accessor of key times already written, by their bits.
    times: HashMap<Vec<u32>, usize>,
}

impl Builder {
    fn view(&mut self, data: &[u8], target: Option<u32>) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let mut view = json!({
            "buffer": 0,
            "byteOffset": self.bytes.len(),
            "byteLength": data.len(),
        });
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        self.bytes.extend_from_slice(data);
        self.views.push(view);
        self.views.len() - 1
    }

    fn accessor(&mut self, view: usize, component: u32, kind: &str, count: usize) -> usize {
        self.accessors.push(json!({
            "bufferView": view,
            "componentType": component,
            "count": count,
            "type": kind,
        }));
        self.accessors.len() - 1
    }

    fn floats(&mut self, kind: &str, width: usize, values: &[f32], target: Option<u32>) -> usize {
        let data: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        let view = self.view(&data, target);
        self.accessor(view, FLOAT, kind, values.len() / width)
    }

    fn primitive(&mut self, p: &PrimitiveSource, n_joints: usize) -> Value {
        let flat = |values: &[Vec3]| -> Vec<f32> {
            values.iter().copied().flat_map(<[f32; 3]>::from).collect()
        };
        let array = Some(ARRAY_BUFFER);
        let position = self.floats("VEC3", 3, &flat(&p.positions), array);
        let low = p.positions.iter().fold(Vec3::INFINITY, |a, &b| a.min(b));
        let high = p
            .positions
            .iter()
            .fold(Vec3::NEG_INFINITY, |a, &b| a.max(b));
        self.accessors[position]["min"] = json!(low.to_array());
        self.accessors[position]["max"] = json!(high.to_array());
        let mut attributes = json!({ "POSITION": position });
        if !p.normals.is_empty() {
            attributes["NORMAL"] = json!(self.floats("VEC3", 3, &flat(&p.normals), array));
        }
        if !p.uvs.is_empty() {
            let uvs: Vec<f32> = p.uvs.iter().copied().flat_map(<[f32; 2]>::from).collect();
            attributes["TEXCOORD_0"] = json!(self.floats("VEC2", 2, &uvs, array));
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
            let (component, data): (u32, Vec<u8>) = if n_joints < 256 {
                (UNSIGNED_BYTE, joints.iter().map(|&j| j as u8).collect())
            } else {
                (
                    UNSIGNED_SHORT,
                    joints.iter().flat_map(|j| j.to_le_bytes()).collect(),
                )
            };
            let view = self.view(&data, array);
            attributes["JOINTS_0"] =
                json!(self.accessor(view, component, "VEC4", p.positions.len()));
            attributes["WEIGHTS_0"] = json!(self.floats("VEC4", 4, &weights, array));
        }
        let mut primitive = json!({ "attributes": attributes, "material": 0 });
        if !p.triangles.is_empty() {
            let corners = p.triangles.as_flattened();
            // The highest index of each width is the primitive restart value and may not be used.
            let (component, data): (u32, Vec<u8>) = if p.positions.len() <= 65_535 {
                let short = corners.iter().flat_map(|&v| (v as u16).to_le_bytes());
                (UNSIGNED_SHORT, short.collect())
            } else {
                (
                    UNSIGNED_INT,
                    corners.iter().flat_map(|v| v.to_le_bytes()).collect(),
                )
            };
            let view = self.view(&data, Some(ELEMENT_ARRAY_BUFFER));
            primitive["indices"] = json!(self.accessor(view, component, "SCALAR", corners.len()));
        }
        primitive
    }

    fn animation(&mut self, clip: &Clip) -> Value {
        let mut samplers = Vec::new();
        let mut channels = Vec::new();
        for channel in &clip.channels {
            let bits: Vec<u32> = channel.times.iter().map(|t| t.to_bits()).collect();
            let input = if let Some(&known) = self.times.get(&bits) {
                known
            } else {
                let input = self.floats("SCALAR", 1, &channel.times, None);
                let first = channel.times.iter().copied().fold(f32::INFINITY, f32::min);
                let last = channel
                    .times
                    .iter()
                    .copied()
                    .fold(f32::NEG_INFINITY, f32::max);
                self.accessors[input]["min"] = json!([first]);
                self.accessors[input]["max"] = json!([last]);
                self.times.insert(bits, input);
                input
            };
            let (kind, width) = match channel.property {
                Property::Translation | Property::Scale => ("VEC3", 3),
                Property::Rotation => ("VEC4", 4),
                Property::MorphWeights => ("SCALAR", 1),
            };
            let output = self.floats(kind, width, &channel.values, None);
            let interpolation = match channel.interpolation {
                Interpolation::Step => "STEP",
                Interpolation::Linear => "LINEAR",
                Interpolation::CubicSpline => "CUBICSPLINE",
            };
            channels.push(json!({
                "sampler": samplers.len(),
                "target": { "node": channel.joint.0, "path": channel.property.gltf_path() },
            }));
            samplers.push(json!({
                "input": input,
                "output": output,
                "interpolation": interpolation,
            }));
        }
        json!({ "name": clip.name, "channels": channels, "samplers": samplers })
    }
}
