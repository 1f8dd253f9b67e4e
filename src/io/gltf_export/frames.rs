//! Clips as morph targets, for players without skinning: skins and joints go, each skinned mesh gets a target a frame.

use super::clips::patch_clips;
use super::compact::{kept_nodes, prune_nodes};
use super::joints::patch_joints;
use super::nodes::{AddedNodes, node_of, patch_names};
use super::package::Package;
use super::patch::{Patch, entry_mut, place};
use super::read_back::read_files;
use super::report::ExportReport;
use super::still::{
    LocalShape, WITHOUT_TANGENTS, drop_skins, drop_weights, free, strip, write_primitive,
};
use super::targets::Writer;
use super::uncompress::uncompress_once;
use super::uses::each;
use super::verify::{CorrectedMesh, CorrectionReport};
use super::{
    ExportError, ExportOptions, Exported, WrittenClips, add_referenced, name_of, size_of_source,
};
use crate::bake::BakeOptions;
use crate::bake::compare::uncorrected;
use crate::bake::frames::{Frame, FramedInstance, compare_frames, frame_channel, frames};
use crate::document::{ClipId, Document, InstanceId, MeshId, MeshItem};
use crate::finding::{Finding, counted};
use crate::skeleton::{Clip, JointId, Property};
use crate::task::Task;
use glam::Vec3;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

/// Targets that every viewer of note shows.
pub const FEW_TARGETS: usize = 64;
/// Targets beyond which Filament refuses a model.
const MANY: usize = 256;

/// Why a file of frames makes no sense.
pub(super) const NO_CLIP: &str = "There is no clip to make frames of; a still holds the pose.";
pub(super) const NO_SKIN: &str = "The model has no skinned mesh, so that nothing needs frames.";

/// Whether a clip is one of those that are asked for.
pub(super) fn is_chosen(correct: &BakeOptions, id: ClipId) -> bool {
    correct.clips.is_empty() || correct.clips.contains(&id)
}

/// Whether a clip moves anything.
pub(super) fn has_keys(clip: &Clip) -> bool {
    clip.channels.iter().any(|c| !c.times.is_empty())
}

type Framed = BTreeMap<InstanceId, FramedInstance>;

/// Writes the model with frames for the clips that `correct` names, and looks at what was written as a player does.
pub(super) fn export_frames(
    document: &Document,
    mut written: WrittenClips,
    correct: &BakeOptions,
    options: &ExportOptions,
    is_free: &dyn Fn(&str) -> bool,
    task: &Task,
) -> Result<Exported, ExportError> {
    let source = document.source().ok_or(ExportError::NoSource)?;
    let n_before = written.clips.len();
    written.clips.retain(|id, _| is_chosen(correct, *id));
    let n_chosen = written.clips.len();
    written.clips.retain(|_, clip| has_keys(clip));
    let clips = written.clips.clone();
    let refuse = |why: &str| Err(ExportError::Correction { why: why.into() });
    if clips.is_empty() {
        return refuse(NO_CLIP);
    }
    if document.instances().values().all(|i| i.skin.is_none()) {
        return refuse(NO_SKIN);
    }
    let start = Instant::now();
    let framed = frames(document, &clips, correct.tolerance, task)?;
    let bake_seconds = start.elapsed().as_secs_f64();
    let mut report = ExportReport::default();
    let name = name_of(source, options);
    let mut package = Package::new(
        source,
        options.container,
        &name,
        is_free,
        &mut report.findings,
    );
    let mut patch = package.patch();
    patch_joints(document, &mut patch, &mut report);
    patch_names(document, &mut patch.json);
    let WrittenMeshes {
        freed,
        nodes,
        without_tangents,
    } = write_meshes(document, &framed, correct, &mut patch, &mut report, task)?;
    free(document, &freed, &mut patch.json);
    let joints = drop_skins(&mut patch.json);
    let kept = kept_nodes(&patch.json, &joints);
    let is_kept = |node: usize| {
        let kept = kept.as_ref().and_then(|kept| kept.get(node));
        kept.copied().unwrap_or(true)
    };
    let tracks = track_joints(document, &framed, &freed);
    written.clips = clips_with_frames(document, &clips, &framed, &tracks, &is_kept);
    let added: AddedNodes = freed
        .iter()
        .filter_map(|(id, _)| Some((*tracks.get(id)?, *nodes.get(id)?)))
        .collect();
    patch_clips(
        document,
        None,
        &added,
        &written.clips,
        &mut patch,
        &mut report,
        task,
    )?;
    // A clip in which nothing moves is not in the file.
    let is_written = |id: &ClipId| written.clips.get(id).is_some_and(|clip| has_keys(clip));
    let shown_clips: BTreeMap<ClipId, Arc<Clip>> = clips
        .iter()
        .filter(|(id, _)| is_written(id))
        .map(|(id, clip)| (*id, clip.clone()))
        .collect();
    written.report(&mut report);
    patch.dropped_extensions.extend(super::patch::MESHOPT);
    let places = kept.map(|kept| prune_nodes(&mut patch.json, &kept));
    task.step("Writing the model", 0.9)?;
    report.n_bytes_added = patch.n_bytes_appended();
    let (mut files, json) = package.finish_compact(patch)?;
    add_referenced(source, &json, &mut files, &mut report);

    let start = Instant::now();
    let read = read_files(&files)?;
    let place_of = |node: usize| match &places {
        Some(places) => places.get(node).copied().flatten(),
        None => Some(node),
    };
    let there = document.instances().iter().filter_map(|(&id, instance)| {
        let own = || node_of(document, instance.joint);
        let node = nodes.get(&id).copied().unwrap_or_else(own);
        let node = u32::try_from(place_of(node)?).ok()?;
        Some((id, InstanceId(node)))
    });
    let there: BTreeMap<InstanceId, InstanceId> = there.collect();
    let after = compare_frames(document, &read, &shown_clips, &there, task)?;
    let chosen: Vec<ClipId> = clips.keys().copied().collect();
    let mut before = uncorrected(document, &clips, &chosen, task)?;
    // The normals of frames are not looked at, so that nothing is said of any.
    before.normals = after.normals;
    let mut correction = CorrectionReport::new(document, correct, None, &before, &after);
    correction.nothing_to_do = false;
    let off = framed.values().map(|framed| framed.off);
    correction.expected_max_percent = 100.0 * off.fold(0.0, f64::max);
    correction.meshes = corrected_meshes(document, &framed, correct.normals);
    let n_targets = framed.values().map(|f| f.targets.len()).max().unwrap_or(0);
    correction.morph_targets = n_targets;
    correction.bake_seconds = bake_seconds;
    correction.check_seconds = start.elapsed().as_secs_f64();
    correction.bytes = files.iter().map(|(_, bytes)| bytes.len()).sum();
    correction.source_bytes = size_of_source(source);
    correction.size_ratio = correction.bytes as f64 / correction.source_bytes.max(1) as f64;
    let told = Told {
        n_targets,
        n_not_chosen: n_before - n_chosen,
        n_still: n_chosen - shown_clips.len(),
        n_freed: freed.len(),
        without_tangents,
    };
    told.tell(&mut report);
    report.instances = Some(there);
    report.tell_correction(correction);
    Ok(Exported { files, report })
}

/// What the report says besides the errors.
struct Told {
    n_targets: usize,
    n_not_chosen: usize,
    /// Chosen clips in which nothing moves.
    n_still: usize,
    n_freed: usize,
    without_tangents: bool,
}

impl Told {
    fn tell(&self, report: &mut ExportReport) {
        let mut first = Vec::new();
        if self.n_targets > FEW_TARGETS {
            let refuses = if self.n_targets > MANY {
                " Viewers made with Filament refuse more than 256."
            } else {
                ""
            };
            first.push(Finding::warning(
                "frames",
                format!(
                    "A mesh has {}; some viewers show no more than {FEW_TARGETS}.{refuses}",
                    counted(self.n_targets, "morph target")
                ),
            ));
        }
        let left_out = [
            (self.n_not_chosen, "not chosen, so not in the file."),
            (
                self.n_still,
                "not in the file, since nothing would move there.",
            ),
        ];
        for (n, why) in left_out.into_iter().filter(|(n, _)| *n > 0) {
            first.push(Finding::info(
                "clips",
                format!("{} without frames: {why}", counted(n, "clip")),
            ));
        }
        if self.without_tangents {
            first.push(Finding::info("meshes", WITHOUT_TANGENTS));
        }
        if self.n_freed > 0 {
            first.push(Finding::info(
                "nodes",
                format!(
                    "{} flat or mirrored at some moment: the meshes there have nodes of their own.",
                    counted(self.n_freed, "node")
                ),
            ));
        }
        report.findings.splice(0..0, first);
    }
}

fn corrected_meshes(document: &Document, framed: &Framed, normals: bool) -> Vec<CorrectedMesh> {
    let meshes = framed.iter().filter_map(|(id, framed)| {
        let instance = document.instances().get(id)?;
        let item = document.meshes().get(&instance.mesh)?;
        let moved = framed.targets.iter().map(|target| {
            let pairs = target.positions.iter().zip(&framed.base.positions);
            pairs.filter(|(a, b)| a != b).count()
        });
        Some(CorrectedMesh {
            mesh: instance.mesh.0,
            name: item.geometry.name.clone(),
            reweighted: false,
            morph_targets: framed.targets.len(),
            displacements: moved.sum(),
            turned_normals: if normals {
                framed.targets.iter().map(|t| t.normals.len()).sum()
            } else {
                0
            },
        })
    });
    meshes.collect()
}

/// What came of the meshes.
#[derive(Default)]
struct WrittenMeshes {
    /// Instances that got nodes of their own, with the meshes that these draw.
    freed: Vec<(InstanceId, usize)>,
    /// The node of every framed instance.
    nodes: BTreeMap<InstanceId, usize>,
    /// Whether there were tangents.
    without_tangents: bool,
}

/// Gives each framed instance a mesh with its targets.
fn write_meshes(
    document: &Document,
    framed: &Framed,
    correct: &BakeOptions,
    patch: &mut Patch,
    report: &mut ExportReport,
    task: &Task,
) -> Result<WrittenMeshes, ExportError> {
    let n_nodes = each(&patch.json, "nodes").count();
    let mut written = WrittenMeshes::default();
    for (&mesh, item) in document.meshes() {
        let drawn = || document.instances().iter().filter(|(_, i)| i.mesh == mesh);
        let skinned: Vec<_> = drawn().filter(|(id, _)| framed.contains_key(id)).collect();
        if skinned.is_empty() {
            continue;
        }
        // What a rigid instance keeps must not point at compressed data that goes, nor at weights that nothing reads.
        for primitive in 0..item.geometry.primitives.len() {
            uncompress_once(document, patch, mesh, primitive, report)?;
            drop_weights(&mut patch.json, mesh, primitive);
        }
        let source = entry_mut(&mut patch.json, "meshes", mesh.0 as usize).cloned();
        let is_rigid_too = skinned.len() < drawn().count();
        strip(document, mesh, item, true, patch, report)?;
        let stripped = entry_mut(&mut patch.json, "meshes", mesh.0 as usize).cloned();
        let (Some(source), Some(stripped)) = (source, stripped) else {
            continue;
        };
        if is_rigid_too {
            place(&mut patch.json, "meshes", Some(mesh.0 as usize), source);
        }
        for (i, (id, instance)) in skinned.into_iter().enumerate() {
            task.check()?;
            let at = if i == 0 && !is_rigid_too {
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
            written.without_tangents |= write_frames(patch, place, framed, correct)?;
            report.n_primitives_rewritten += item.geometry.primitives.len();
        }
    }
    Ok(written)
}

/// A frame with one entry a vertex.
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

/// Writes the base and the targets of an instance of `mesh` into the mesh at `at`; whether it had tangents.
fn write_frames(
    patch: &mut Patch,
    (at, mesh, item): (usize, MeshId, &MeshItem),
    framed: &FramedInstance,
    correct: &BakeOptions,
) -> Result<bool, ExportError> {
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
            let positions = writer.displacements(patch, &positions);
            target.insert("POSITION".into(), positions.into());
            if has_normals && correct.normals {
                let normals = minus(&shape.normals, &base.normals);
                let normals = writer.displacements(patch, &normals);
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

/// The clips with a track of weights for each framed instance, and without what moves only nodes that go.
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

/// What the tracks of each framed instance move: its joint, or where it has a node of its own a handle that no joint has.
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
