//! Writes clips as morph targets, for players without skinning: skins and joints are removed, each skinned mesh gets a
//! target per frame.

use super::clips::patch_clips;
use super::destination::{Destination, Written};
use super::encoding::Displaced;
use super::error::GltfWriteError;
use super::json::{MESHOPT, each, entry_mut, place};
use super::nodes::{AddedNodes, node_of};
use super::package::{Package, Packed};
use super::patch::Patch;
use super::prune::{kept_nodes, prune_nodes};
use super::referenced::add_referenced;
use super::report::ExportReport;
use super::shapes::{LocalShape, drop_skins, drop_weights, free, strip, write_primitive};
use super::targets::Writer;
use super::uncompress::uncompress_once;
use crate::bake::BakeOptions;
use crate::bake::frames::{Frame, FramedInstance, frame_channel};
use crate::document::{ClipId, Document, InstanceId, MeshId, MeshItem};
use crate::skeleton::{Clip, JointId, Property};
use crate::task::Task;
use glam::Vec3;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The shapes of each skinned instance.
pub type Framed = BTreeMap<InstanceId, FramedInstance>;

/// A written file of morph frames.
pub struct WrittenFrames {
    /// The files.
    pub written: Written,
    /// The clips of the file: those that animate something in it.
    pub clips: BTreeMap<ClipId, Arc<Clip>>,
    /// The number of instances with separate nodes, because their own nodes cannot represent the shapes.
    pub n_freed: usize,
    /// Whether tangents were omitted.
    pub without_tangents: bool,
}

/// Writes the model with the shapes of `framed` as morph targets, played by `clips`.
///
/// The report's `instances`: the instance in the file for each instance of the document.
pub fn write_frames(
    document: &Document,
    clips: &BTreeMap<ClipId, Arc<Clip>>,
    framed: &Framed,
    correct: &BakeOptions,
    destination: &Destination<'_>,
    task: &Task,
) -> Result<WrittenFrames, GltfWriteError> {
    let source = document.source().ok_or(GltfWriteError::NoSource)?;
    let mut report = ExportReport::default();
    let (package, mut patch) = Package::without_skins(document, source, destination, &mut report)?;
    let WrittenMeshes {
        freed,
        nodes,
        without_tangents,
    } = write_meshes(document, framed, correct, &mut patch, &mut report, task)?;
    free(document, &freed, &mut patch.json);
    let of_skins = drop_skins(&mut patch.json);
    let kept = kept_nodes(&patch.json, &of_skins);
    let is_kept = |node: usize| {
        let kept = kept.as_ref().and_then(|kept| kept.get(node));
        kept.copied().unwrap_or(true)
    };
    let tracks = track_joints(document, framed, &freed);
    let with_frames = clips_with_frames(document, clips, framed, &tracks, &is_kept);
    let joints = freed.iter();
    let joints = joints.filter_map(|(id, _)| Some((*tracks.get(id)?, *nodes.get(id)?)));
    let added = AddedNodes {
        joints: joints.collect(),
        meshes: BTreeMap::new(),
    };
    patch_clips(
        document,
        None,
        &added,
        (&with_frames, &source.repairs),
        &mut patch,
        &mut report,
        task,
    )?;
    // A clip without motion is omitted.
    let moves = |id: &ClipId| {
        let clip = with_frames.get(id);
        clip.is_some_and(|clip| clip.channels.iter().any(|c| !c.times.is_empty()))
    };
    let clips = clips.iter().filter(|(id, _)| moves(id));
    let clips = clips.map(|(id, clip)| (*id, clip.clone())).collect();
    patch.dropped_extensions.extend(MESHOPT);
    let places = kept.map(|kept| prune_nodes(&mut patch.json, &kept));
    task.step("Writing the model", 0.9)?;
    let patched = patch.finish();
    report.n_bytes_added = patched.n_bytes_added;
    let Packed { mut files, json } = package.finish(patched, destination.meshopt)?;
    let outside = destination.include_outside;
    add_referenced(source, &json, outside, &mut files, &mut report)?;
    let place_of = |node: usize| match &places {
        Some(places) => places.get(node).copied().flatten(),
        None => Some(node),
    };
    let instances = document.instances().iter().filter_map(|(&id, instance)| {
        let own = || node_of(document, instance.joint);
        let node = nodes.get(&id).copied().unwrap_or_else(own);
        let node = u32::try_from(place_of(node)?).ok()?;
        Some((id, InstanceId(node)))
    });
    report.instances = Some(instances.collect());
    Ok(WrittenFrames {
        written: Written { files, report },
        clips,
        n_freed: freed.len(),
        without_tangents,
    })
}

/// The result of writing the meshes.
#[derive(Default)]
struct WrittenMeshes {
    /// Instances with separate nodes, and the meshes that these draw.
    freed: Vec<(InstanceId, usize)>,
    /// The node of each morphed instance.
    nodes: BTreeMap<InstanceId, usize>,
    /// Whether there were tangents.
    without_tangents: bool,
}

/// Writes a mesh with its targets for each morphed instance.
fn write_meshes(
    document: &Document,
    framed: &Framed,
    correct: &BakeOptions,
    patch: &mut Patch,
    report: &mut ExportReport,
    task: &Task,
) -> Result<WrittenMeshes, GltfWriteError> {
    let n_nodes = each(&patch.json, "nodes").count();
    let mut written = WrittenMeshes::default();
    for (&mesh, item) in document.meshes() {
        let drawn = || document.instances().iter().filter(|(_, i)| i.mesh == mesh);
        let skinned: Vec<_> = drawn().filter(|(id, _)| framed.contains_key(id)).collect();
        if skinned.is_empty() {
            continue;
        }
        // If a rigid instance or a node that is not an instance draws the mesh, it must not reference compressed data that
        // is removed, or weights that nothing reads.
        for primitive in 0..item.geometry.primitives.len() {
            uncompress_once(document, patch, mesh, primitive, report)?;
            drop_weights(&mut patch.json, mesh, primitive);
        }
        let source = entry_mut(&mut patch.json, "meshes", mesh.0 as usize).cloned();
        let is_drawn_too = skinned.len() < drawn().count() || document.left_out().draws(mesh);
        strip(document, mesh, item, true, patch, report)?;
        let stripped = entry_mut(&mut patch.json, "meshes", mesh.0 as usize).cloned();
        let (Some(source), Some(stripped)) = (source, stripped) else {
            continue;
        };
        if is_drawn_too {
            place(&mut patch.json, "meshes", Some(mesh.0 as usize), source);
        }
        for (i, (id, instance)) in skinned.into_iter().enumerate() {
            task.check()?;
            let at = if i == 0 && !is_drawn_too {
                mesh.0 as usize
            } else {
                place(&mut patch.json, "meshes", None, stripped.clone())
            };
            let node = node_of(document, instance.joint);
            if let Some(entry) = entry_mut(&mut patch.json, "nodes", node) {
                entry.shift_remove("weights");
                entry.insert("mesh".into(), at.into());
            }
            let Some(framed) = framed.get(id) else {
                continue;
            };
            if framed.freed {
                let new = n_nodes + written.freed.len();
                written.nodes.insert(*id, new);
                written.freed.push((*id, at));
            } else {
                written.nodes.insert(*id, node);
            }
            let place = (at, mesh, item.as_ref());
            written.without_tangents |= write_instance(patch, place, framed, correct)?;
            report.n_primitives_rewritten += item.geometry.primitives.len();
        }
    }
    Ok(written)
}

/// A frame with one entry per vertex.
fn of_vertices(item: &MeshItem, frame: &Frame) -> LocalShape {
    let at = |list: &[Vec3], of: &[u32]| -> Vec<Vec3> {
        let of = of.iter().map(|&i| list.get(i as usize).copied());
        of.map(Option::unwrap_or_default).collect()
    };
    LocalShape {
        positions: at(&frame.positions, &item.geometry.point_of_vertex),
        normals: at(&frame.normals, &item.geometry.normal_of_vertex),
    }
}

/// Writes the base shape and the targets of an instance of `mesh` into the mesh at `at`; returns whether it had
/// tangents.
fn write_instance(
    patch: &mut Patch,
    (at, mesh, item): (usize, MeshId, &MeshItem),
    framed: &FramedInstance,
    correct: &BakeOptions,
) -> Result<bool, GltfWriteError> {
    let base = of_vertices(item, &framed.base);
    let mut had_tangents = false;
    for primitive in 0..item.geometry.primitives.len() {
        had_tangents |= write_primitive(patch, at, mesh, item, primitive, &base)?;
    }
    let mut writer = Writer::new(correct.sparse);
    for target in &framed.targets {
        let shape = of_vertices(item, target);
        for (p, primitive) in item.geometry.primitives.iter().enumerate() {
            let range = primitive.vertices.start as usize..primitive.vertices.end as usize;
            let minus = |a: &[Vec3], b: &[Vec3]| -> Vec<Vec3> {
                let pairs = a[range.clone()].iter().zip(&b[range.clone()]);
                pairs.map(|(a, b)| *a - *b).collect()
            };
            let entry = entry_mut(&mut patch.json, "meshes", at);
            let attributes = entry.and_then(|e| e.get("primitives")?.get(p)?.get("attributes"));
            let has_normals = attributes.is_some_and(|a| a.get("NORMAL").is_some());
            let mut target = Map::new();
            let positions = minus(&shape.positions, &base.positions);
            let positions = writer.displacements(patch, &positions, Displaced::Positions);
            target.insert("POSITION".into(), positions.into());
            if has_normals && correct.normals {
                let normals = minus(&shape.normals, &base.normals);
                let normals = writer.displacements(patch, &normals, Displaced::Normals);
                target.insert("NORMAL".into(), normals.into());
            }
            let entry = entry_mut(&mut patch.json, "meshes", at)
                .and_then(|e| e.get_mut("primitives")?.get_mut(p)?.as_object_mut());
            let list = entry.map(|e| e.entry("targets").or_insert_with(|| json!([])));
            if let Some(list) = list.and_then(Value::as_array_mut) {
                list.push(Value::Object(target));
            }
        }
    }
    if let Some(entry) =
        entry_mut(&mut patch.json, "meshes", at).filter(|_| !framed.targets.is_empty())
    {
        let extras = entry.entry("extras").or_insert_with(|| json!({}));
        if let Some(extras) = extras.as_object_mut() {
            let names = framed.targets.iter().map(|t| Value::from(t.name.as_str()));
            extras.insert("targetNames".into(), names.collect());
        }
    }
    Ok(had_tangents)
}

/// The clips with a weights channel for each morphed instance, and without channels of removed nodes.
fn clips_with_frames(
    document: &Document,
    clips: &BTreeMap<ClipId, Arc<Clip>>,
    framed: &Framed,
    tracks: &BTreeMap<InstanceId, JointId>,
    is_kept: &dyn Fn(usize) -> bool,
) -> BTreeMap<ClipId, Arc<Clip>> {
    let baked: BTreeSet<JointId> = framed
        .keys()
        .filter_map(|id| Some(document.instances().get(id)?.joint))
        .collect();
    let with_frames = clips.iter().map(|(&id, clip)| {
        let mut clip = Clip::clone(clip);
        clip.channels.retain(|channel| {
            let is_old =
                channel.property == Property::MorphWeights && baked.contains(&channel.joint);
            !is_old && is_kept(node_of(document, channel.joint))
        });
        for (instance, framed) in framed {
            if let (Some(keys), Some(&joint)) = (framed.tracks.get(&id), tracks.get(instance)) {
                clip.channels
                    .push(frame_channel(keys, framed.targets.len(), joint));
            }
        }
        (id, Arc::new(clip))
    });
    with_frames.collect()
}

/// The joint that the weights channels of each morphed instance animate: its own, or an unused handle for a separate
/// node.
fn track_joints(
    document: &Document,
    framed: &Framed,
    freed: &[(InstanceId, usize)],
) -> BTreeMap<InstanceId, JointId> {
    let joint = |id: &InstanceId| match freed.iter().position(|(other, _)| other == id) {
        Some(nth) => Some(document.skeleton().free_id(nth)),
        None => Some(document.instances().get(id)?.joint),
    };
    framed
        .keys()
        .filter_map(|id| Some((*id, joint(id)?)))
        .collect()
}
