//! A Wavefront OBJ file as a model: its text becomes a glTF file in memory, which is then imported as any other.
//!
//! An object or group becomes a node with a mesh; each of its materials, a primitive. Polygons are split into fans of
//! triangles. Positions are taken as they are: the format has no unit. The crate `tobj` reads the text.

use crate::document::{PrimitiveSource, Source};
use crate::finding::Finding;
use crate::io::gltf::{ImportError, Imported, import_bytes};
use crate::io::gltf_build::{Part, parts_to_glb};
use crate::io::gltf_export::uri_of;
use crate::io::read::{MAX_MODEL_BYTES, read_file};
use crate::sentence::shortened_name;
use crate::task::Task;
use bytes::Bytes;
use glam::{Vec2, Vec3};
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::io::{self, BufRead, Read};
use std::path::{Component, Path};
use std::sync::Arc;
use tobj::{LoadError, LoadOptions, Material, Model};
use xxhash_rust::xxh3::xxh3_64;

/// Characters of a name in a sentence.
const NAME_LENGTH: usize = 60;

/// Largest number that the format's `Ns` (shininess) has in practice.
const MAX_SHININESS: f32 = 1000.0;

/// Reads an OBJ file with its materials and images.
///
/// Returns an error if the file cannot be read or contains no faces, or when `task` is cancelled.
pub(in crate::io) fn import_obj(path: &Path, task: &Task) -> Result<Imported, ImportError> {
    task.step("Reading the file", 0.0)?;
    let bytes = read_file(path, MAX_MODEL_BYTES).map_err(|source| ImportError::Io {
        path: path.to_owned(),
        source,
    })?;
    let bytes = Bytes::from(bytes);
    let folder = path.parent().unwrap_or(Path::new("."));
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let (glb, found) = to_glb(&bytes, folder, &stem, task)?;
    let mut imported = import_bytes(glb.into(), Some(folder), Some(path), task)?;
    if let Some(source) = &mut imported.parts.source {
        let source: &mut Source = Arc::make_mut(source);
        // A project asks whether its model changed: that is about the file, whatever is made of it.
        source.fingerprint = xxh3_64(&bytes);
        source.converted_from = Some(bytes);
    }
    imported.findings.splice(0..0, found);
    Ok(imported)
}

/// The file as a binary glTF, and what was left out.
fn to_glb(
    bytes: &[u8],
    folder: &Path,
    stem: &str,
    task: &Task,
) -> Result<(Vec<u8>, Vec<Finding>), ImportError> {
    // Names may be in any encoding; all else is ASCII.
    let text = String::from_utf8_lossy(bytes);
    // A backslash continues a line on the next one. A vertical tab is white space that is counted as a line end.
    let text = text.replace("\\\r\n", " \u{b}").replace("\\\n", " \u{b}");
    let mut lines = Lines::new(&text, task);
    let options = LoadOptions {
        single_index: true,
        triangulate: true,
        ignore_points: true,
        ignore_lines: true,
    };
    let found = RefCell::new(Vec::new());
    let loaded = tobj::load_obj_buf(&mut lines, &options, |library| {
        load_library(folder, library, &mut found.borrow_mut())
    });
    task.check()?;
    let line = lines.line.get();
    let (models, materials) = loaded.map_err(|error| ImportError::Obj {
        line,
        why: reason(error),
    })?;
    let materials = materials.unwrap_or_default();
    let found = found.into_inner();
    let parts = parts(models, stem);
    if parts.is_empty() {
        return Err(ImportError::NoFaces);
    }
    let materials = Materials::of(&materials);
    Ok((parts_to_glb(&parts, &materials.json()), found))
}

/// The meshes of the file; neighbouring models of one name are the primitives of one.
fn parts(models: Vec<Model>, stem: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut last_name = None;
    for model in models {
        let mesh = model.mesh;
        if mesh.indices.is_empty() {
            continue;
        }
        let vectors = |flat: &[f32]| -> Vec<Vec3> {
            let vectors = flat.as_chunks().0.iter();
            vectors.map(|v| Vec3::from_array(*v)).collect()
        };
        let uvs = mesh.texcoords.as_chunks().0.iter();
        let primitive = PrimitiveSource {
            positions: vectors(&mesh.positions),
            normals: unit(vectors(&mesh.normals)),
            // The format has its origin at the bottom, glTF at the top.
            uvs: uvs.map(|&[u, v]| Vec2::new(u, 1.0 - v)).collect(),
            triangles: mesh.indices.as_chunks().0.to_vec(),
            material: mesh.material_id.map(|id| id as u32),
            ..PrimitiveSource::default()
        };
        if last_name.as_ref() != Some(&model.name) {
            // The name that the crate gives to faces before the first object.
            let is_unnamed = model.name.is_empty() || model.name == "unnamed_object";
            parts.push(Part {
                name: if is_unnamed { stem } else { &model.name }.to_owned(),
                primitives: Vec::new(),
            });
            last_name = Some(model.name);
        }
        if let Some(part) = parts.last_mut() {
            part.primitives.push(primitive);
        }
    }
    parts
}

/// Unit normals; none where one of them has no direction, so that the importer derives them from the faces.
fn unit(normals: Vec<Vec3>) -> Vec<Vec3> {
    let unit: Option<Vec<Vec3>> = normals.into_iter().map(Vec3::try_normalize).collect();
    unit.unwrap_or_default()
}

/// The materials of a library; none, with a finding, where it cannot be read.
fn load_library(folder: &Path, library: &Path, found: &mut Vec<Finding>) -> tobj::MTLLoadResult {
    let name = library.display().to_string();
    let mut left_out = |why: &str| {
        let place = format!("mtllib {}", shortened_name(&name, NAME_LENGTH));
        let text = format!("The materials are left out: {why}.");
        found.push(Finding::warning(place, text));
        Ok(Default::default())
    };
    let inside = |c: Component<'_>| matches!(c, Component::Normal(_) | Component::CurDir);
    if !library.components().all(inside) {
        return left_out("the file lies outside the folder of the model");
    }
    let Ok(bytes) = read_file(&folder.join(library), MAX_MODEL_BYTES) else {
        return left_out("the file cannot be read");
    };
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.as_bytes();
    tobj::load_mtl_buf(&mut lines).or_else(|_| left_out("the file has an error"))
}

/// Materials as glTF has them, with the images they use.
#[derive(Default)]
struct Materials {
    materials: Vec<Value>,
    /// URIs.
    images: Vec<String>,
}

impl Materials {
    fn of(materials: &[Material]) -> Self {
        let mut all = Self::default();
        for material in materials {
            let material = all.material(material);
            all.materials.push(material);
        }
        all
    }

    fn material(&mut self, material: &Material) -> Value {
        let number = |key: &str| -> Option<f32> {
            let number = material.unknown_param.get(key)?.trim().parse().ok()?;
            Some(number).filter(|x: &f32| x.is_finite())
        };
        let alpha = material.dissolve.filter(|d| d.is_finite()).unwrap_or(1.0);
        let alpha = alpha.clamp(0.0, 1.0);
        let picture = material.diffuse_texture.as_deref();
        let [r, g, b] = match picture {
            // The picture is the colour, as in other programs.
            Some(_) => [1.0; 3],
            None => colour(material.diffuse.unwrap_or([0.8; 3])),
        };
        let shininess = material.shininess.unwrap_or(0.0);
        // The formula by which Blender reads `Ns`.
        let rough = 1.0 - (shininess.clamp(0.0, MAX_SHININESS) / MAX_SHININESS).sqrt();
        let rough = number("Pr").unwrap_or(rough).clamp(0.0, 1.0);
        let mut surface = json!({
            "baseColorFactor": [r, g, b, alpha],
            "metallicFactor": number("Pm").unwrap_or(0.0).clamp(0.0, 1.0),
            "roughnessFactor": if rough.is_finite() { rough } else { 1.0 },
        });
        if let Some(texture) = picture.and_then(|map| self.texture(map)) {
            surface["baseColorTexture"] = texture;
        }
        let mut out = json!({"name": material.name, "pbrMetallicRoughness": surface});
        if alpha < 1.0 {
            out["alphaMode"] = json!("BLEND");
        }
        if let Some(emissive) = material.emissive.map(colour).filter(|e| *e != [0.0; 3]) {
            out["emissiveFactor"] = json!(emissive);
        }
        for (key, target) in [("map_Ke", "emissiveTexture"), ("norm", "normalTexture")] {
            let map = material.unknown_param.get(key);
            if let Some(texture) = map.and_then(|map| self.texture(map)) {
                out[target] = texture;
            }
        }
        out
    }

    /// A reference to the image of a map, whose options are left out.
    fn texture(&mut self, map: &str) -> Option<Value> {
        let file = file_of(map);
        if file.is_empty() {
            return None;
        }
        let uri = uri_of(&file.replace('\\', "/"));
        let known = self.images.iter().position(|image| *image == uri);
        let index = known.unwrap_or_else(|| {
            self.images.push(uri);
            self.images.len() - 1
        });
        Some(json!({"index": index}))
    }

    /// The root lists of a glTF file.
    fn json(self) -> Value {
        let n = self.images.len();
        let images = self.images.into_iter().map(|uri| json!({"uri": uri}));
        json!({
            "materials": self.materials,
            "images": images.collect::<Vec<_>>(),
            "textures": (0..n).map(|i| json!({"source": i})).collect::<Vec<_>>(),
        })
    }
}

/// The file that a map names after its options, such as `-s 1 1 1` and `-clamp on`.
fn file_of(map: &str) -> &str {
    let mut rest = map.trim();
    let mut after_option = false;
    while let Some((word, after)) = rest.split_once(char::is_whitespace) {
        let is_option = word.starts_with('-') && word.parse::<f32>().is_err();
        let is_value =
            word.parse::<f32>().is_ok() || word == "on" || word == "off" || word.len() == 1;
        if !(is_option || after_option && is_value) {
            break;
        }
        after_option = true;
        rest = after.trim_start();
    }
    rest
}

/// A colour within the range of glTF; 0 for a number that is none.
fn colour(rgb: [f32; 3]) -> [f32; 3] {
    rgb.map(|c| {
        if c.is_finite() {
            c.clamp(0.0, 1.0)
        } else {
            0.0
        }
    })
}

fn reason(error: LoadError) -> &'static str {
    match error {
        LoadError::PositionParseError | LoadError::ColorParseError => {
            "a vertex (v) needs three numbers"
        }
        LoadError::NormalParseError => "a normal (vn) needs three numbers",
        LoadError::TexcoordParseError => "a texture coordinate (vt) needs two numbers",
        LoadError::FaceParseError => "a face (f) needs numbers of vertices",
        LoadError::InvalidPolygon => "a face (f) needs at least three vertices",
        LoadError::FaceVertexOutOfBounds => "a face uses a vertex (v) that the file does not have",
        LoadError::FaceTexCoordOutOfBounds => {
            "a face uses a texture coordinate (vt) that the file does not have"
        }
        LoadError::FaceNormalOutOfBounds => "a face uses a normal (vn) that the file does not have",
        LoadError::InvalidObjectName => "an object (o) or group (g) has no name",
        LoadError::MaterialParseError => "usemtl needs the name of a material",
        _ => "the line cannot be read",
    }
}

/// The lines of a text, one at a time, so that an error can name its line.
struct Lines<'a> {
    rest: &'a [u8],
    /// The line that was read last, from 1.
    line: Cell<usize>,
    task: &'a Task,
}

/// Lines between two checks for cancellation.
const SPAN: usize = 1 << 12;

impl<'a> Lines<'a> {
    fn new(text: &'a str, task: &'a Task) -> Self {
        Self {
            rest: text.as_bytes(),
            line: Cell::new(0),
            task,
        }
    }

    fn end(&self) -> usize {
        let end = self.rest.iter().position(|&byte| byte == b'\n');
        end.map_or(self.rest.len(), |end| end + 1)
    }
}

impl Read for Lines<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(out)?;
        self.consume(n);
        Ok(n)
    }
}

impl BufRead for Lines<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.line.get().is_multiple_of(SPAN) && self.task.check().is_err() {
            return Err(io::Error::other("cancelled"));
        }
        Ok(&self.rest[..self.end()])
    }

    fn consume(&mut self, n: usize) {
        let (used, rest) = self.rest.split_at(n);
        let is_end = |byte: &&u8| matches!(byte, b'\n' | 0x0b);
        let ends = used.iter().filter(is_end).count();
        // The last line may end without a line end.
        let unended = usize::from(!used.is_empty() && rest.is_empty() && !used.ends_with(b"\n"));
        self.line.set(self.line.get() + ends + unended);
        self.rest = rest;
    }
}
