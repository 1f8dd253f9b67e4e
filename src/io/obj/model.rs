//! A Wavefront OBJ file as a model: it is converted to a glTF file in memory, which is imported like any other.
//!
//! An object, or a group in a file without objects, becomes a node with a mesh; each of its materials, a primitive.
//! Positions are taken as they are: the format has no unit.
//!
//! Invariant: the primitives and their vertices depend on the OBJ file alone, not on its materials, because a project
//! stores a vertex as a primitive and an index.

use super::materials::materials_json;
use super::text::{Corner, Face, NONE, Names, ObjText, bytes_of, read};
use crate::document::{PrimitiveSource, Source};
use crate::finding::{Finding, counted};
use crate::io::gltf::{ImportError, Imported, import_bytes};
use crate::io::gltf_build::{Part, parts_to_glb};
use crate::io::polygon::Splitter;
use crate::io::read::MAX_MODEL_BYTES;
use crate::task::Task;
use bytes::Bytes;
use glam::{Vec2, Vec3};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// The largest number of primitives. With more, all objects become one mesh; if that is not enough, the materials are
/// left out.
const MAX_PRIMITIVES: usize = 2048;

/// Faces between two checks for cancellation.
const SPAN: usize = 1 << 12;

/// Bytes of memory for a vertex and for a triangle on their way into a document.
const VERTEX_BYTES: u64 = 256;
const TRIANGLE_BYTES: u64 = 48;

/// The memory for a file: 64 MiB, and 20 bytes for each of its own.
const FREE_BYTES: u64 = 64 << 20;
const BYTES_PER_BYTE: u64 = 20;

/// Reads an OBJ file with its materials and images.
///
/// Returns an error if the file cannot be read or contains no faces, or when `task` is cancelled.
pub(in crate::io) fn import_obj(path: &Path, task: &Task) -> Result<Imported, ImportError> {
    task.step("Reading the file", 0.0)?;
    let bytes = Bytes::from(bytes_of(path)?);
    let folder = path.parent().unwrap_or(Path::new("."));
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut found = Vec::new();
    let glb = to_glb(&bytes, folder, &stem, &mut found, task)?;
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

/// The file as a binary glTF.
fn to_glb(
    bytes: &[u8],
    folder: &Path,
    stem: &str,
    found: &mut Vec<Finding>,
    task: &Task,
) -> Result<Vec<u8>, ImportError> {
    let mut file = read(bytes, task)?;
    if file.faces.is_empty() {
        return Err(ImportError::NoFaces);
    }
    report(&file, found);
    limit_primitives(&mut file, found);
    let parts = Assembly::of(&file, bytes.len(), task)?.into_parts(&file, stem);
    let lists = materials_json(&file.materials.list, &file.libraries.list, folder, found);
    task.check()?;
    let glb = parts_to_glb(&parts, &lists);
    if glb.len() as u64 > MAX_MODEL_BYTES {
        return Err(ImportError::TooLarge {
            place: "The mesh".into(),
            needed: glb.len() as u64,
            limit: MAX_MODEL_BYTES,
            file: bytes.len() as u64,
        });
    }
    Ok(glb)
}

/// What is left out or repaired.
fn report(file: &ObjText, found: &mut Vec<Finding>) {
    let mut say = |text: String| found.push(Finding::info("OBJ", text));
    if file.n_other > 0 {
        let n = counted(file.n_other, "line");
        say(format!(
            "{n} of curves, edges or points without faces: left out."
        ));
    }
    if file.n_short > 0 {
        let n = counted(file.n_short, "face");
        say(format!("{n} with fewer than three corners: left out."));
    }
    if file.n_unreadable > 0 {
        let n = counted(file.n_unreadable, "texture coordinate or normal");
        say(format!("{n} without finite numbers: set to 0."));
    }
}

/// Merges the objects of a file with too many primitives into one mesh, and removes the materials if that is not enough.
fn limit_primitives(file: &mut ObjText, found: &mut Vec<Finding>) {
    let n_primitives = |file: &ObjText| {
        let mut all: Vec<(u32, u32)> = file.faces.iter().map(|f| (f.name, f.material)).collect();
        all.sort_unstable();
        all.dedup();
        all.len()
    };
    if n_primitives(file) > MAX_PRIMITIVES {
        let n = counted(file.names.list.len(), "object");
        let text = format!("The file has {n}. They become one mesh.");
        found.push(Finding::warning("OBJ", text));
        file.faces.iter_mut().for_each(|face| face.name = NONE);
    }
    if n_primitives(file) > MAX_PRIMITIVES {
        let n = counted(file.materials.list.len(), "material");
        let text = format!("The file has {n}, more than {MAX_PRIMITIVES}: they are left out.");
        found.push(Finding::warning("OBJ", text));
        file.faces.iter_mut().for_each(|face| face.material = NONE);
        file.materials = Names::default();
    }
}

/// A vertex of a primitive: a corner, whose missing normal is that of a face.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    point: u32,
    uv: u32,
    /// Index of a normal, or [`Key::FACE`] plus the index of a face.
    normal: u64,
}

impl Key {
    const FACE: u64 = 1 << 32;
}

/// A primitive while it grows.
#[derive(Default)]
struct Growing {
    name: u32,
    has_uvs: bool,
    has_normals: bool,
    vertices: HashMap<Key, u32>,
    source: PrimitiveSource,
}

/// The primitives of a file, in the order of their first faces.
#[derive(Default)]
struct Assembly {
    primitives: Vec<Growing>,
    index: HashMap<(u32, u32), usize>,
}

impl Assembly {
    fn of(file: &ObjText, n_bytes: usize, task: &Task) -> Result<Self, ImportError> {
        let mut all = Self::default();
        let corners = |first: u32, face: &Face| &file.corners[first as usize..face.end as usize];
        let mut first = 0;
        for (i, face) in file.faces.iter().enumerate() {
            if i.is_multiple_of(SPAN) {
                task.check()?;
            }
            let primitive = all.primitive(face);
            for corner in corners(first, face) {
                primitive.has_uvs |= corner.uv != NONE;
                primitive.has_normals |= normal_of(file, corner).is_some();
            }
            first = face.end;
        }
        let limit = FREE_BYTES + BYTES_PER_BYTE * n_bytes as u64;
        let mut splitter = Splitter::default();
        let (mut first, mut needed) = (0, 0);
        for (i, face) in file.faces.iter().enumerate() {
            if i.is_multiple_of(SPAN) {
                let done = i as f32 / file.faces.len() as f32;
                task.step("Reading the file", 0.02 + 0.03 * done)?;
            }
            let corners = corners(first, face);
            first = face.end;
            let primitive = all.primitive(face);
            let before = primitive.size();
            primitive.add(file, corners, i, &mut splitter);
            needed += primitive.size() - before;
            if needed > limit {
                return Err(ImportError::TooLarge {
                    place: "The mesh".into(),
                    needed,
                    limit,
                    file: n_bytes as u64,
                });
            }
        }
        Ok(all)
    }

    fn primitive(&mut self, face: &Face) -> &mut Growing {
        let next = self.primitives.len();
        let index = *self.index.entry((face.name, face.material)).or_insert(next);
        if index == next {
            self.primitives.push(Growing {
                name: face.name,
                source: PrimitiveSource {
                    material: Some(face.material).filter(|&m| m != NONE),
                    ..PrimitiveSource::default()
                },
                ..Growing::default()
            });
        }
        &mut self.primitives[index]
    }

    /// The meshes, in the order of their first faces. Faces under no name have that of the file.
    fn into_parts(self, file: &ObjText, stem: &str) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        let mut index = HashMap::new();
        for primitive in self.primitives {
            // A primitive without triangles would draw its vertices.
            if primitive.source.triangles.is_empty() {
                continue;
            }
            let next = parts.len();
            let part = *index.entry(primitive.name).or_insert(next);
            if part == next {
                let name = file.names.list.get(primitive.name as usize);
                parts.push(Part {
                    name: name.map_or(stem, String::as_str).to_owned(),
                    primitives: Vec::new(),
                });
            }
            parts[part].primitives.push(primitive.source);
        }
        parts
    }
}

impl Growing {
    /// Bytes of memory that it needs on its way into a document.
    fn size(&self) -> u64 {
        VERTEX_BYTES * self.source.positions.len() as u64
            + TRIANGLE_BYTES * self.source.triangles.len() as u64
    }

    /// Adds a face as triangles. Triangles that use a point twice are left out.
    fn add(&mut self, file: &ObjText, corners: &[Corner], face: usize, splitter: &mut Splitter) {
        let position = |corner: &Corner| file.positions[corner.point as usize].as_dvec3();
        splitter.split(corners.iter().map(position));
        let face_normal = splitter.normal;
        for &[a, b, c] in &splitter.triangles {
            let triangle = [a, b, c].map(|i| corners[i as usize]);
            let [p, q, r] = triangle.map(|corner| corner.point);
            if p == q || q == r || r == p {
                continue;
            }
            let triangle = triangle.map(|corner| self.vertex(file, corner, face, face_normal));
            self.source.triangles.push(triangle);
        }
    }

    fn vertex(&mut self, file: &ObjText, corner: Corner, face: usize, face_normal: Vec3) -> u32 {
        let own = normal_of(file, &corner);
        let key = Key {
            point: corner.point,
            uv: corner.uv,
            normal: match own {
                _ if !self.has_normals => 0,
                Some(_) => u64::from(corner.normal),
                None => Key::FACE + face as u64,
            },
        };
        let next = self.source.positions.len() as u32;
        let vertex = *self.vertices.entry(key).or_insert(next);
        if vertex == next {
            let source = &mut self.source;
            source.positions.push(file.positions[corner.point as usize]);
            if self.has_normals {
                source.normals.push(own.unwrap_or(face_normal));
            }
            if self.has_uvs {
                let uv = file.uvs.get(corner.uv as usize).copied();
                let [u, v] = uv.unwrap_or(Vec2::ZERO).to_array();
                // The format has its origin at the bottom, glTF at the top.
                source.uvs.push(Vec2::new(u, 1.0 - v));
            }
        }
        vertex
    }
}

/// The unit normal of a corner; `None` where it has none, or one without a direction.
fn normal_of(file: &ObjText, corner: &Corner) -> Option<Vec3> {
    let normal = file.normals.get(corner.normal as usize)?;
    // Twice: the square of a very short or long one is out of range.
    let normal = *normal / normal.abs().max_element();
    normal.try_normalize()
}
