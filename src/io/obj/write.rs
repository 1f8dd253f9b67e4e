//! Wavefront OBJ: one frame of a document as a mesh, with its materials and images.
//!
//! Positions are in world space, metres, one `v` per point, so that seams stay closed. `vt` has its origin at the
//! bottom as the format requires, so the second coordinate is 1 minus the model's, rounded; all other numbers
//! round-trip as f32.

use crate::bake::static_shapes::StaticShape;
use crate::document::{Document, Instance, InstanceId, Material, MeshItem};
use crate::finding::Finding;
use crate::io::gltf_export::{ExportReport, Written, picture_of};
use crate::io::read::{MAX_MODEL_BYTES, MAX_SMALL_BYTES, read_text};
use crate::task::{Cancelled, Task};
use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

/// Writes the instances of `document` with the given shapes to memory: `name`.obj, `name`.mtl if there are materials,
/// and the images they use.
pub fn write_obj(
    document: &Document,
    shapes: &BTreeMap<InstanceId, StaticShape>,
    name: &str,
    task: &Task,
) -> Result<Written, Cancelled> {
    let name = if name.is_empty() { "model" } else { name };
    let mut report = ExportReport::default();
    let names = material_names(document);
    let mut files = Vec::new();
    let mut text = String::from("# Sinew: metres, y up\n");
    if !names.is_empty() {
        let _ = writeln!(text, "mtllib {name}.mtl");
    }
    let mut next = Next::default();
    for (done, (id, shape)) in shapes.iter().enumerate() {
        task.step("Writing the mesh", done as f32 / shapes.len() as f32)?;
        let Some(instance) = document.instances().get(id) else {
            continue;
        };
        if let Some(item) = document.meshes().get(&instance.mesh) {
            let _ = writeln!(text, "o {}", label(document, instance, item));
            write_shape(&mut text, shape, item, &names, &mut next, &mut report);
            report.n_primitives_rewritten += item.geometry.primitives.len();
        }
    }
    if shapes.is_empty() {
        let nothing = "The model draws nothing: the file contains no mesh.";
        report.findings.push(Finding::warning("model", nothing));
    }
    files.push((format!("{name}.obj"), Bytes::from(text)));
    if !names.is_empty() {
        let mut pictures = Vec::new();
        let text = write_materials(document, name, &names, &mut pictures, &mut report);
        files.push((format!("{name}.mtl"), Bytes::from(text)));
        files.extend(pictures);
    }
    report.n_bytes_added = files.iter().map(|(_, bytes)| bytes.len()).sum();
    Ok(Written { files, report })
}

/// The next index of each kind; the format counts from 1.
#[derive(Default)]
struct Next {
    points: usize,
    uvs: usize,
    normals: usize,
}

fn write_shape(
    text: &mut String,
    shape: &StaticShape,
    item: &MeshItem,
    names: &[String],
    next: &mut Next,
    report: &mut ExportReport,
) {
    let mesh = &item.geometry;
    for p in &shape.positions {
        let _ = writeln!(text, "v {} {} {}", p.x, p.y, p.z);
    }
    for uv in &mesh.uvs {
        let _ = writeln!(text, "vt {} {}", uv.x, 1.0 - uv.y);
    }
    for n in &shape.normals {
        let _ = writeln!(text, "vn {} {} {}", n.x, n.y, n.z);
    }
    let corner = |vertex: u32| {
        let vertex = vertex as usize;
        let point = next.points + mesh.point_of_vertex[vertex] as usize + 1;
        let normal = next.normals + mesh.normal_of_vertex[vertex] as usize + 1;
        if mesh.uvs.is_empty() {
            format!("{point}//{normal}")
        } else {
            format!("{point}/{}/{normal}", next.uvs + vertex + 1)
        }
    };
    let mut without_faces = 0;
    for primitive in &mesh.primitives {
        if primitive.triangles.is_empty() {
            without_faces += 1;
            continue;
        }
        if let Some(name) = primitive.material.and_then(|m| names.get(m as usize)) {
            let _ = writeln!(text, "usemtl {name}");
        }
        let range = primitive.triangles.start as usize..primitive.triangles.end as usize;
        for triangle in &mesh.triangles[range] {
            let [a, mut b, mut c] = *triangle;
            if shape.mirrored {
                (b, c) = (c, b);
            }
            let _ = writeln!(text, "f {} {} {}", corner(a), corner(b), corner(c));
        }
    }
    next.points += shape.positions.len();
    next.uvs += mesh.uvs.len();
    next.normals += shape.normals.len();
    let place = || format!("mesh \"{}\"", mesh.name);
    if without_faces > 0 {
        report.findings.push(Finding::warning(
            place(),
            "Points and lines are in the file as vertices without faces.",
        ));
    }
    if !mesh.colors.is_empty() {
        report.findings.push(Finding::info(
            place(),
            "The format has no vertex colours: they are not in the file.",
        ));
    }
}

/// The name of an object: that of the node, otherwise of the mesh.
fn label(document: &Document, instance: &Instance, item: &MeshItem) -> String {
    let node = document.skeleton().joints().get(instance.joint.get());
    let named = node.map(|n| n.name.as_str()).filter(|n| !n.is_empty());
    let mesh = Some(item.geometry.name.as_str()).filter(|n| !n.is_empty());
    match named.or(mesh) {
        Some(name) => word(name),
        None => format!("node_{}", instance.joint.get()),
    }
}

/// A name without white space, which ends names in this format.
fn word(name: &str) -> String {
    let part = |c: char| {
        if c.is_whitespace() || c.is_control() {
            '_'
        } else {
            c
        }
    };
    name.chars().map(part).collect()
}

/// The names of the materials, each a unique word.
fn material_names(document: &Document) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let materials = document.materials().iter().enumerate();
    let named = materials.map(|(i, material)| {
        let mut name = word(&material.name);
        if name.is_empty() || taken.contains(&name) {
            name = format!("{name}_{i}");
        }
        while taken.contains(&name) {
            name.push('_');
        }
        taken.insert(name.clone());
        name
    });
    named.collect()
}

/// The text of the .mtl file; adds the images it references.
fn write_materials(
    document: &Document,
    name: &str,
    names: &[String],
    pictures: &mut Vec<(String, Bytes)>,
    report: &mut ExportReport,
) -> String {
    let mut text = String::new();
    let mut known: BTreeMap<u32, Option<String>> = BTreeMap::new();
    for (material, title) in document.materials().iter().zip(names) {
        let [r, g, b, alpha] = material.base_color;
        let _ = writeln!(text, "newmtl {title}");
        let _ = writeln!(text, "Kd {r} {g} {b}");
        let _ = writeln!(text, "d {alpha}");
        let _ = writeln!(text, "Pr {}\nPm {}", material.roughness, material.metallic);
        let [r, g, b] = material.emissive;
        if material.emissive != [0.0; 3] {
            let _ = writeln!(text, "Ke {r} {g} {b}");
        }
        let _ = writeln!(text, "illum {}", if material.unlit { 0 } else { 2 });
        for (key, image) in maps_of(material) {
            let file = known.entry(image).or_insert_with(|| {
                let found = picture_of(document, image as usize, name);
                let Some((file, bytes)) = found else {
                    report.findings.push(Finding::warning(
                        format!("images[{image}]"),
                        "It could not be read; the material is written without it.",
                    ));
                    return None;
                };
                pictures.push((file.clone(), bytes));
                Some(file)
            });
            if let Some(file) = file {
                let _ = writeln!(text, "{key} {file}");
            }
        }
        text.push('\n');
    }
    text
}

/// The images of a material that the format supports.
fn maps_of(material: &Material) -> impl Iterator<Item = (&'static str, u32)> {
    let maps = [
        ("map_Kd", material.base_color_image),
        ("map_Ke", material.emissive_image),
        ("norm", material.normal_image),
    ];
    maps.into_iter().filter_map(|(key, i)| Some((key, i?)))
}

/// The files that an OBJ at `path`, if it exists, references: an export replaces them with it. Pipes and devices
/// reference none.
pub fn files_of_obj(path: &Path) -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    let folder = path.parent().unwrap_or(Path::new(""));
    let named = |path: &Path, keys: &[&str], most: u64| -> BTreeSet<String> {
        let text = read_text(path, most).unwrap_or_default();
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        let named = lines.filter(|(key, _)| keys.contains(key));
        named.map(|(_, name)| name.trim().to_owned()).collect()
    };
    for library in named(path, &["mtllib"], MAX_MODEL_BYTES) {
        let keys = ["map_Kd", "map_Ke", "norm"];
        let pictures = named(&folder.join(&library), &keys, MAX_SMALL_BYTES);
        files.extend(pictures);
        files.insert(library);
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_single_words() {
        assert_eq!(word("left arm\n2"), "left_arm_2");
    }

    #[test]
    fn an_obj_knows_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.obj");
        assert!(files_of_obj(&path).is_empty());
        std::fs::write(&path, "mtllib a.mtl\nv 0 0 0\n").unwrap();
        std::fs::write(folder.path().join("a.mtl"), "newmtl m\nmap_Kd a_0.png\n").unwrap();
        let files = files_of_obj(&path).into_iter().collect::<Vec<_>>();
        assert_eq!(files, ["a.mtl", "a_0.png"]);
    }
}
