//! Tiny glTF files for tests: JSON by hand, binary data appended as it is needed.

use bytes::Bytes;
use serde_json::{Value, json};

/// A glTF file in the making.
#[derive(Clone)]
pub(crate) struct Gltf {
    /// Everything but `buffers`, `bufferViews` and `accessors`, which the methods below fill.
    pub(crate) json: Value,
    bin: Vec<u8>,
}

impl Gltf {
    pub(crate) fn new(json: Value) -> Self {
        let mut gltf = Self {
            json,
            bin: Vec::new(),
        };
        gltf.json["asset"] = json!({"version": "2.0"});
        gltf
    }

    /// Appends an entry to a list of the root; its index.
    pub(crate) fn push(&mut self, list: &str, entry: Value) -> usize {
        if self.json[list].is_null() {
            self.json[list] = json!([]);
        }
        let entries = self.json[list].as_array_mut().unwrap();
        entries.push(entry);
        entries.len() - 1
    }

    /// Appends bytes as a buffer view; its index.
    pub(crate) fn view(&mut self, bytes: &[u8]) -> usize {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let offset = self.bin.len();
        self.bin.extend_from_slice(bytes);
        self.push(
            "bufferViews",
            json!({"buffer": 0, "byteOffset": offset, "byteLength": bytes.len()}),
        )
    }

    /// An accessor over a new buffer view; its index.
    pub(crate) fn accessor(&mut self, kind: &str, component: u32, bytes: &[u8]) -> usize {
        let size = width(kind) * [1, 1, 2, 2, 0, 4, 4][component as usize - 5120];
        let view = self.view(bytes);
        self.push(
            "accessors",
            json!({"bufferView": view, "componentType": component, "count": bytes.len() / size, "type": kind}),
        )
    }

    pub(crate) fn f32s(&mut self, kind: &str, values: &[f32]) -> usize {
        self.accessor(kind, 5126, bytemuck::cast_slice(values))
    }

    /// Changes the numbers of an accessor of floats in place.
    pub(crate) fn change_f32s(&mut self, accessor: usize, change: impl FnOnce(&mut [f32])) {
        let view = self.json["accessors"][accessor]["bufferView"].as_u64();
        let view = &self.json["bufferViews"][view.unwrap() as usize];
        let number = |key: &str| view[key].as_u64().unwrap() as usize;
        let bytes = &mut self.bin[number("byteOffset")..][..number("byteLength")];
        let mut values: Vec<f32> = bytemuck::pod_collect_to_vec(bytes);
        change(&mut values);
        bytes.copy_from_slice(bytemuck::cast_slice(&values));
    }

    pub(crate) fn u8s(&mut self, kind: &str, values: &[u8]) -> usize {
        self.accessor(kind, 5121, values)
    }

    pub(crate) fn u16s(&mut self, kind: &str, values: &[u16]) -> usize {
        self.accessor(kind, 5123, bytemuck::cast_slice(values))
    }

    pub(crate) fn i16s(&mut self, kind: &str, values: &[i16]) -> usize {
        self.accessor(kind, 5122, bytemuck::cast_slice(values))
    }

    /// Marks an accessor as normalised; the same index.
    pub(crate) fn normalized(&mut self, accessor: usize) -> usize {
        self.json["accessors"][accessor]["normalized"] = json!(true);
        accessor
    }

    /// Moves the elements of accessors into rows of a new buffer view: an element of each accessor of a group after the other,
    /// and one group after the other. Those of a group have equally many elements, and all groups have the same rows.
    pub(crate) fn interleave(&mut self, groups: &[Vec<usize>]) {
        let number = |value: &Value| value.as_u64().unwrap() as usize;
        let mut rows = Vec::new();
        let mut places = Vec::new();
        let mut stride = 0;
        for group in groups {
            let columns = group.iter().map(|&i| {
                let accessor = &self.json["accessors"][i];
                let view = &self.json["bufferViews"][number(&accessor["bufferView"])];
                let bytes = &self.bin[number(&view["byteOffset"])..][..number(&view["byteLength"])];
                (i, bytes, bytes.len() / number(&accessor["count"]))
            });
            let columns: Vec<(usize, &[u8], usize)> = columns.collect();
            let mut at = rows.len();
            for (i, _, size) in &columns {
                places.push((*i, at));
                at += size;
            }
            stride = at - rows.len();
            for row in 0..columns[0].1.len() / columns[0].2 {
                for (_, bytes, size) in &columns {
                    rows.extend_from_slice(&bytes[row * size..][..*size]);
                }
            }
        }
        let view = self.view(&rows);
        self.json["bufferViews"][view]["byteStride"] = json!(stride);
        for (i, at) in places {
            self.json["accessors"][i]["bufferView"] = json!(view);
            self.json["accessors"][i]["byteOffset"] = json!(at);
        }
    }

    /// The binary container.
    pub(crate) fn glb(mut self) -> Bytes {
        if !self.bin.is_empty() {
            self.json["buffers"] = json!([{"byteLength": self.bin.len()}]);
        }
        let mut text = serde_json::to_vec(&self.json).unwrap();
        text.resize(text.len().next_multiple_of(4), b' ');
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let mut out = b"glTF\x02\0\0\0".to_vec();
        let length = 12 + 8 + text.len() + 8 + self.bin.len();
        out.extend((length as u32).to_le_bytes());
        out.extend((text.len() as u32).to_le_bytes());
        out.extend(b"JSON");
        out.extend(text);
        out.extend((self.bin.len() as u32).to_le_bytes());
        out.extend(b"BIN\0");
        out.extend(self.bin);
        out.into()
    }
}

fn width(kind: &str) -> usize {
    match kind {
        "SCALAR" => 1,
        "VEC2" => 2,
        "VEC3" => 3,
        "VEC4" => 4,
        _ => 16,
    }
}

/// Corners of a triangle in the plane z = 0.
pub(crate) const TRIANGLE: [f32; 9] = [0., 0., 0., 1., 0., 0., 0., 1., 0.];

/// A triangle drawn by node 0, without a skin.
pub(crate) fn triangle() -> Gltf {
    let mut gltf = Gltf::new(json!({"nodes": [{"mesh": 0}]}));
    let positions = gltf.f32s("VEC3", &TRIANGLE);
    gltf.push(
        "meshes",
        json!({"primitives": [{"attributes": {"POSITION": positions}}]}),
    );
    gltf
}

/// A triangle drawn by node 0 with skin 0 over joints 1 and 2, and these weights for each vertex.
pub(crate) fn skinned(joints: [[u8; 4]; 3], weights: [[f32; 4]; 3]) -> Gltf {
    let mut gltf = triangle();
    gltf.json["nodes"] = json!([
        {"mesh": 0, "skin": 0, "translation": [9, 9, 9]},
        {"name": "A", "children": [2]},
        {"name": "B", "translation": [1, 0, 0]}
    ]);
    gltf.json["skins"] = json!([{"joints": [1, 2]}]);
    let joints = gltf.u8s("VEC4", joints.as_flattened());
    let weights = gltf.f32s("VEC4", weights.as_flattened());
    let attributes = &mut gltf.json["meshes"][0]["primitives"][0]["attributes"];
    attributes["JOINTS_0"] = json!(joints);
    attributes["WEIGHTS_0"] = json!(weights);
    gltf
}
