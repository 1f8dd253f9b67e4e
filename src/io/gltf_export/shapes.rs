//! Writes a static model: the source with given shapes, without skins, clips and morph targets.

use super::destination::{Destination, Written};
use super::drivers::drop_drivers;
use super::error::GltfWriteError;
use super::json::{MESHOPT, each, entry_mut, index, place};
use super::nodes::{node_of, patch_transforms};
use super::package::{Package, Packed};
use super::patch::{NewAccessor, Patch};
use super::primitives::{attributes_mut, points_of, primitive_mut};
use super::prune::{kept_nodes, prune_nodes};
use super::referenced::add_referenced;
use super::report::ExportReport;
use super::uncompress;
use crate::bake::static_shapes::{StaticShape, into_node};
use crate::document::{Document, InstanceId, MeshId, MeshItem};
use crate::finding::{Finding, counted};
use crate::io::gltf_json::{ComponentType, Target, at, members};
use crate::skeleton::Pose;
use crate::task::Task;
use ::gltf::json::Node;
use ::gltf::json::accessor::Type;
use bytes::Bytes;
use glam::{DAffine3, Vec3};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The message about tangents.
pub const WITHOUT_TANGENTS: &str =
    "Tangents are not in the file: they belong to the undeformed shape. Viewers compute their own.";

/// Writes the model in `pose`, each instance with its shape of `shapes`.
///
/// The report's `instances`: the instance in the file for each instance of the document.
pub fn write_shapes(
    document: &Document,
    pose: &Pose,
    shapes: &BTreeMap<InstanceId, StaticShape>,
    destination: &Destination<'_>,
    task: &Task,
) -> Result<Written, GltfWriteError> {
    let source = document.source().ok_or(GltfWriteError::NoSource)?;
    let mut report = ExportReport::default();
    let (package, mut patch) = Package::without_skins(document, source, destination, &mut report)?;
    patch_transforms(document, pose, &mut patch.json, &mut report);
    let mut placed = Placed::default();
    for (done, (&mesh, item)) in document.meshes().iter().enumerate() {
        task.step(
            "Writing the mesh",
            done as f32 / document.meshes().len() as f32,
        )?;
        let variants = variants_of(document, mesh, item, shapes);
        let is_written = variants.iter().any(|v| v.shape.is_some());
        strip(document, mesh, item, is_written, &mut patch, &mut report)?;
        write_variants(
            document,
            mesh,
            item,
            &variants,
            &mut patch,
            &mut placed,
            &mut report,
        )?;
    }
    placed.add_findings(document, &mut report);
    let n_nodes = each(&patch.json, "nodes").count();
    free(document, &placed.freed, &mut patch.json);
    let joints = drop_motion(&mut patch.json);
    // Extensions of removed data are removed too.
    patch.dropped_extensions.extend(MESHOPT);
    patch.dropped_extensions.insert("KHR_animation_pointer");
    let kept = kept_nodes(&patch.json, &joints);
    let places = kept.map(|kept| prune_nodes(&mut patch.json, &kept));
    task.step("Writing the model", 0.9)?;
    let patched = patch.finish();
    report.n_bytes_added = patched.n_bytes_added;
    let Packed { mut files, json } = package.finish(patched, destination.meshopt)?;
    let outside = destination.include_outside;
    add_referenced(source, &json, outside, &mut files, &mut report)?;

    let instances = document.instances().iter().filter_map(|(&id, instance)| {
        let own = node_of(document, instance.joint);
        let freed = placed.freed.iter().position(|(freed, _)| *freed == id);
        let node = freed.map_or(own, |i| n_nodes + i);
        let node = match &places {
            Some(places) => places.get(node).copied().flatten()?,
            None => node,
        };
        Some((id, InstanceId(u32::try_from(node).ok()?)))
    });
    report.instances = Some(instances.collect());
    Ok(Written { files, report })
}

/// A distinct shape of a mesh, shown by one or more instances.
#[derive(Debug)]
pub(super) struct Variant {
    /// Positions and normals, one per vertex, in node space; `None` for the source's.
    pub(super) shape: Option<LocalShape>,
    /// The instances that show it, and whether their nodes cannot represent it.
    pub(super) instances: Vec<(InstanceId, bool)>,
}

/// Positions and normals of all vertices of a mesh.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LocalShape {
    /// n_vertices.
    pub(super) positions: Vec<Vec3>,
    /// n_vertices, unit.
    pub(super) normals: Vec<Vec3>,
}

impl LocalShape {
    /// `shape` transformed by `into` from world space to node space.
    pub(super) fn of(item: &MeshItem, shape: &StaticShape, into: DAffine3) -> Self {
        let mesh = &item.geometry;
        let local = |p: &Vec3| into.transform_point3(p.as_dvec3()).as_vec3();
        let positions: Vec<Vec3> = shape.positions.iter().map(local).collect();
        // Normals transform by the inverse transpose; `into` is the inverse of the node.
        let back = into.matrix3.inverse().transpose();
        let local = |n: &Vec3| {
            let turned = back * n.as_dvec3();
            turned.try_normalize().map_or(*n, glam::DVec3::as_vec3)
        };
        let normals: Vec<Vec3> = shape.normals.iter().map(local).collect();
        let at = |list: &[Vec3], of_vertex: &[u32]| -> Vec<Vec3> {
            let of = of_vertex.iter().map(|&i| list.get(i as usize).copied());
            of.map(Option::unwrap_or_default).collect()
        };
        Self {
            positions: at(&positions, &mesh.point_of_vertex),
            normals: at(&normals, &mesh.normal_of_vertex),
        }
    }
}

/// The distinct shapes of a mesh's instances.
fn variants_of(
    document: &Document,
    mesh: MeshId,
    item: &MeshItem,
    shapes: &BTreeMap<InstanceId, StaticShape>,
) -> Vec<Variant> {
    let mut variants: Vec<Variant> = Vec::new();
    let drawn = document.instances().iter();
    for (&id, instance) in drawn.filter(|(_, i)| i.mesh == mesh) {
        let Some(shape) = shapes.get(&id) else {
            continue;
        };
        let into = if instance.skin.is_some() {
            into_node(shape.node)
        } else {
            // Players flip the winding of mirrored nodes, as in the source.
            let volume = shape.node.matrix3.determinant();
            (volume.is_finite() && volume != 0.0).then(|| shape.node.inverse())
        };
        let (shape, is_free) = if shape.as_in_source {
            (None, false)
        } else {
            let local = LocalShape::of(item, shape, into.unwrap_or(DAffine3::IDENTITY));
            (Some(local), into.is_none())
        };
        match variants.iter_mut().find(|v| v.shape == shape) {
            Some(variant) => variant.instances.push((id, is_free)),
            None => variants.push(Variant {
                shape,
                instances: vec![(id, is_free)],
            }),
        }
    }
    variants
}

/// Removes weights and morph targets from a mesh, and decompresses it if its data is about to be written.
pub(super) fn strip(
    document: &Document,
    mesh: MeshId,
    item: &MeshItem,
    is_written: bool,
    patch: &mut Patch,
    report: &mut ExportReport,
) -> Result<(), GltfWriteError> {
    for primitive in 0..item.geometry.primitives.len() {
        if is_written {
            uncompress::uncompress_once(document, patch, mesh, primitive, report)?;
        }
        drop_weights(&mut patch.json, mesh, primitive);
        if let Some(primitive) = primitive_mut(&mut patch.json, mesh, primitive) {
            primitive.shift_remove("targets");
        }
    }
    if let Some(entry) = entry_mut(&mut patch.json, "meshes", mesh.0 as usize) {
        entry.shift_remove("weights");
        if let Some(Value::Object(extras)) = entry.get_mut("extras") {
            extras.shift_remove("targetNames");
            if extras.is_empty() {
                entry.shift_remove("extras");
            }
        }
    }
    Ok(())
}

/// Removes joints and weights from a primitive.
pub(super) fn drop_weights(json: &mut Value, mesh: MeshId, primitive: usize) {
    if let Some(attributes) = attributes_mut(json, mesh, primitive) {
        attributes.retain(|name, _| !(name.starts_with("JOINTS_") || name.starts_with("WEIGHTS_")));
    }
}

/// The result of writing the shapes.
#[derive(Default)]
struct Placed {
    /// Instances whose nodes cannot represent their shape, and the mesh that they draw.
    freed: Vec<(InstanceId, usize)>,
    copies: usize,
    without_tangents: usize,
}

impl Placed {
    fn add_findings(&self, document: &Document, report: &mut ExportReport) {
        if self.copies > 0 {
            let message = format!(
                "{} written: instances of one mesh show different ones.",
                counted(self.copies, "further shape")
            );
            report.findings.push(Finding::info("meshes", message));
        }
        if self.without_tangents > 0 {
            let finding = Finding::info("meshes", WITHOUT_TANGENTS);
            report.findings.push(finding);
        }
        for (id, _) in &self.freed {
            let joint = document.instances().get(id).map(|i| i.joint);
            let label = joint.map_or_else(String::new, |j| document.skeleton().label(j));
            report.findings.push(Finding::info(
                format!("node \"{label}\""),
                "It is mirrored or flat, so it cannot carry the deformed mesh: a separate node does.",
            ));
        }
    }
}

fn write_variants(
    document: &Document,
    mesh: MeshId,
    item: &MeshItem,
    variants: &[Variant],
    patch: &mut Patch,
    placed: &mut Placed,
    report: &mut ExportReport,
) -> Result<(), GltfWriteError> {
    let stripped = entry_mut(&mut patch.json, "meshes", mesh.0 as usize).cloned();
    for (v, variant) in variants.iter().enumerate() {
        let at = match &stripped {
            Some(copy) if v > 0 => {
                placed.copies += 1;
                let at = place(&mut patch.json, "meshes", None, copy.clone());
                for (id, _) in &variant.instances {
                    let Some(instance) = document.instances().get(id) else {
                        continue;
                    };
                    let node = node_of(document, instance.joint);
                    if let Some(entry) = entry_mut(&mut patch.json, "nodes", node) {
                        entry.insert("mesh".into(), at.into());
                    }
                }
                at
            }
            _ => mesh.0 as usize,
        };
        let freed = variant.instances.iter().filter(|(_, is_free)| *is_free);
        placed.freed.extend(freed.map(|(id, _)| (*id, at)));
        let Some(shape) = &variant.shape else {
            continue;
        };
        for primitive in 0..item.geometry.primitives.len() {
            placed.without_tangents +=
                usize::from(write_primitive(patch, at, mesh, item, primitive, shape)?);
            report.n_primitives_rewritten += 1;
        }
    }
    Ok(())
}

/// Writes the shape of a primitive; returns whether it had tangents.
pub(super) fn write_primitive(
    patch: &mut Patch,
    at: usize,
    mesh: MeshId,
    item: &MeshItem,
    primitive: usize,
    shape: &LocalShape,
) -> Result<bool, GltfWriteError> {
    let n_vertices = points_of(item, primitive).len();
    let Some(range) = item.geometry.primitives.get(primitive) else {
        return Ok(false);
    };
    let range = range.vertices.start as usize..range.vertices.end as usize;
    let id = MeshId(at as u32);
    let Some(attributes) = attributes_mut(&mut patch.json, id, primitive) else {
        return Err(GltfWriteError::PrimitiveMissing {
            mesh: mesh.0,
            primitive,
        });
    };
    let has_normals = attributes.contains_key("NORMAL");
    let had_tangents = attributes.shift_remove("TANGENT").is_some();
    let position = index(attributes.get("POSITION"));
    let found = position
        .and_then(|i| index(patch.json.get("accessors")?.get(i)?.get("count")))
        .unwrap_or(0);
    if found != n_vertices {
        return Err(GltfWriteError::VertexCount {
            mesh: mesh.0,
            primitive,
            found,
            expected: n_vertices,
        });
    }
    if n_vertices == 0 {
        return Ok(had_tangents);
    }
    let positions = put_vectors(patch, &shape.positions[range.clone()], None, true);
    let normals = has_normals.then(|| put_vectors(patch, &shape.normals[range], None, false));
    if let Some(attributes) = attributes_mut(&mut patch.json, id, primitive) {
        attributes.insert("POSITION".into(), positions.into());
        if let Some(normals) = normals {
            attributes.insert("NORMAL".into(), normals.into());
        }
    }
    Ok(had_tangents)
}

/// Stores one vector per vertex, in the place of the accessor `replaces`.
pub(super) fn put_vectors(
    patch: &mut Patch,
    vectors: &[Vec3],
    replaces: Option<usize>,
    bounded: bool,
) -> usize {
    let bits = |v: Vec3| v.to_array().map(|x| f64::from(x).to_bits()).to_vec();
    let bounds = bounded.then(|| {
        let low = vectors.iter().fold(Vec3::INFINITY, |a, v| a.min(*v));
        let high = vectors.iter().fold(Vec3::NEG_INFINITY, |a, v| a.max(*v));
        (bits(low), bits(high))
    });
    patch.release(replaces);
    patch.put(NewAccessor {
        replaces,
        component: ComponentType::F32,
        kind: Type::Vec3,
        normalized: false,
        count: vectors.len(),
        bytes: Bytes::copy_from_slice(bytemuck::cast_slice(vectors)),
        target: Some(Target::ArrayBuffer),
        bounds,
    })
}

/// Adds a root node for each instance whose own node cannot represent its shape, to every scene that contains it.
pub(super) fn free(document: &Document, freed: &[(InstanceId, usize)], json: &mut Value) {
    for (id, mesh) in freed {
        let Some(instance) = document.instances().get(id) else {
            continue;
        };
        let node = node_of(document, instance.joint);
        let mut new = Node {
            mesh: Some(at(*mesh)),
            ..Node::default()
        };
        if let Some(old) = entry_mut(json, "nodes", node) {
            old.shift_remove("mesh");
            let name = old.get("name").and_then(Value::as_str);
            new.name = name.map(str::to_owned);
        }
        let new = place(json, "nodes", None, members(&new));
        add_root(json, new, node);
    }
}

/// Makes `new` a root node of every scene that contains `node`; returns whether there is any.
pub(super) fn add_root(json: &mut Value, new: usize, node: usize) -> bool {
    let nodes: Vec<Value> = each(json, "nodes").cloned().collect();
    let mut is_added = false;
    for scene in 0..each(json, "scenes").count() {
        let Some(roots) = entry_mut(json, "scenes", scene)
            .and_then(|scene| scene.get_mut("nodes"))
            .and_then(Value::as_array_mut)
        else {
            continue;
        };
        if reaches(&nodes, roots, node) {
            roots.push(new.into());
            is_added = true;
        }
    }
    is_added
}

/// Whether `node` is one of `roots` or their descendants.
fn reaches(nodes: &[Value], roots: &[Value], node: usize) -> bool {
    let mut seen = BTreeSet::new();
    let mut open: Vec<usize> = roots.iter().filter_map(|r| index(Some(r))).collect();
    while let Some(next) = open.pop() {
        if next == node {
            return true;
        }
        if seen.insert(next)
            && let Some(entry) = nodes.get(next)
        {
            open.extend(each(entry, "children").filter_map(|c| index(Some(c))));
        }
    }
    false
}

/// Removes skins, clips and default morph weights; returns the nodes that were joints.
fn drop_motion(json: &mut Value) -> BTreeSet<usize> {
    let joints = drop_skins(json);
    for node in 0..each(json, "nodes").count() {
        if let Some(entry) = entry_mut(json, "nodes", node) {
            entry.shift_remove("weights");
        }
    }
    if let Some(root) = json.as_object_mut() {
        root.shift_remove("animations");
    }
    joints
}

/// Removes skins; returns the nodes that were joints.
pub(super) fn drop_skins(json: &mut Value) -> BTreeSet<usize> {
    let skins = each(json, "skins");
    let joints = skins.flat_map(|skin| each(skin, "joints"));
    let joints = joints.filter_map(|j| index(Some(j))).collect();
    for node in 0..each(json, "nodes").count() {
        if let Some(entry) = entry_mut(json, "nodes", node) {
            entry.shift_remove("skin");
        }
    }
    if let Some(root) = json.as_object_mut() {
        root.shift_remove("skins");
    }
    // The drivers of helper joints reference skins and nodes by index.
    drop_drivers(json);
    joints
}
