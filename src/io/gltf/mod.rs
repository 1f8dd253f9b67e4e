//! The glTF 2.0 importer: reads a file as [`Parts`].
//!
//! Data flow: bytes -> `container` (JSON, BIN chunk) -> `buffers` (buffers, buffer views; `uri`, `meshopt`) ->
//! `accessor` (bulk decoding; `draco`) -> `nodes`, `skin`, `mesh` (`primitive`, `faces`, `influences`), `clip`,
//! `material`, `image` -> [`Imported`].
//!
//! A fault in one part leaves that part out and becomes a [`Finding`]; the import fails only if nothing usable is left,
//! with the message of the first fault.
//!
//! This reader does not use the crate `gltf`, whose JSON types the writers use: the crate slices buffers without
//! checks, so that it panics on broken files, and its f32 transforms do not reproduce the file's numbers.
//!
//! Invariant: indices are those of the file: joint = node, instance = node; the same for mesh, skin, clip, material and
//! image.
//! Invariant: every count, index, offset and size in the file is checked against the bytes present before use.
//! Invariant: memory for data of the file is charged to `budget` before it is allocated.
//! Invariant: the result and the order of the findings do not depend on the number of threads.

mod accessor;
mod baked;
mod budget;
mod buffers;
mod clip;
mod container;
mod draco;
mod error;
mod faces;
mod findings;
mod image;
mod influences;
mod json;
mod left_out;
mod material;
mod mesh;
mod meshopt;
mod node_constraint;
mod nodes;
mod primitive;
mod skin;
mod uncompress;
mod uri;

pub(in crate::io) use baked::mark as mark_baked;
pub use error::{Fault, ImportError};
pub(crate) use uncompress::{PlainAttribute, uncompress};

use crate::document::{Instance, InstanceId, LeftOut, MeshId, Parts, Repairs, SkinId, Source};
use crate::finding::Finding;
use crate::io::read::{MAX_MODEL_BYTES, read_file};
use crate::skeleton::{JointId, Skeleton};
use crate::task::Task;
use budget::Budget;
use buffers::Data;
use bytes::Bytes;
use findings::Findings;
use mesh::{Drawing, Meshes};
use nodes::Tree;
use skin::ReadSkin;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Required extensions that need no finding: Sinew reads them, or they do not affect what it shows.
const KNOWN_EXTENSIONS: [&str; 9] = [
    "KHR_mesh_quantization",
    "EXT_meshopt_compression",
    "KHR_meshopt_compression",
    "KHR_draco_mesh_compression",
    "KHR_texture_transform",
    "EXT_texture_webp",
    "MSFT_texture_dds",
    "KHR_lights_punctual",
    "VRMC_node_constraint",
];

/// An imported model, and what was repaired, left out or guessed.
#[derive(Debug)]
pub struct Imported {
    /// The parts of a [`crate::document`].
    pub parts: Parts,
    /// In the order of reading.
    pub findings: Vec<Finding>,
}

/// Reads a .gltf or .glb file with external buffers and images from its folder.
///
/// Returns an error if the file cannot be read or contains nothing usable, or when `task` is cancelled.
pub fn import_file(path: &Path, task: &Task) -> Result<Imported, ImportError> {
    task.step("Reading the file", 0.0)?;
    let bytes = read_file(path, MAX_MODEL_BYTES).map_err(|source| ImportError::Io {
        path: path.to_owned(),
        source,
    })?;
    let folder = path.parent().unwrap_or(Path::new("."));
    import_bytes(bytes.into(), Some(folder), Some(path), task)
}

/// Reads the bytes of a .gltf or .glb file. External files are read from `folder`; `path` becomes the document's source
/// path.
///
/// Returns the errors of [`import_file`].
pub fn import_bytes(
    bytes: Bytes,
    folder: Option<&Path>,
    path: Option<&Path>,
    task: &Task,
) -> Result<Imported, ImportError> {
    import(bytes, (folder, path), None, task)
}

/// Reads an exported file again, without its images, which are those of the exported document. The nodes `drawn` instantiate
/// their meshes, whatever the size of the file, and no others do.
pub(crate) fn import_written(
    bytes: Bytes,
    folder: &Path,
    drawn: &BTreeSet<InstanceId>,
    task: &Task,
) -> Result<Imported, ImportError> {
    import(bytes, (Some(folder), None), Some(drawn), task)
}

fn import(
    bytes: Bytes,
    (folder, path): (Option<&Path>, Option<&Path>),
    chosen: Option<&BTreeSet<InstanceId>>,
    task: &Task,
) -> Result<Imported, ImportError> {
    task.step("Reading the file", 0.02)?;
    let mut findings = Findings::default();
    let budget = match chosen {
        None => Budget::new(bytes.len()),
        Some(_) => Budget::of_export(bytes.len()),
    };
    let container = container::open(&bytes, &budget, &mut findings)?;
    let data = Data::load(&bytes, &container, folder, &budget, &mut findings);
    let outside = uri::outside(&container.json, folder, &mut findings);
    let unknown = unknown_extensions(&data, &mut findings);
    task.step("Reading joints", 0.05)?;
    let tree = nodes::read(&data, &mut findings)?;
    let (materials, uv_maps) = material::read_all(&data, &mut findings);
    let skins = skin::read_all(&data, &mut findings);
    let drawings = drawings(&data, &skins);
    let mut meshes = mesh::read_all(&data, &drawings, &uv_maps, task, &mut findings)?;
    fail_if_nothing_is_left(&data, &meshes, &unknown)?;
    let drawn = drawn(&data, &tree, &skins, (&meshes, chosen), &mut findings);
    let instances = drawn.instances;
    report_skins(&skins, &tree.skeleton, &instances, &meshes, &mut findings);
    let n_targets = targets_of_nodes(&data);
    let rest_morph_weights = rest_morph_weights(&data, &n_targets, &meshes, &mut findings);
    let mut repairs = Repairs {
        skins: (0..).zip(&skins).filter_map(is_repaired).collect(),
        rotations: tree.repaired,
        ..Repairs::default()
    };
    let clips = clip::read_all(&data, &n_targets, task, &mut repairs, &mut findings)?;
    let images = match chosen {
        None => image::read_all(&data, &materials, folder, task, &mut findings)?,
        Some(_) => vec![None; data.len("images")],
    };
    task.step("Reading the file", 0.98)?;
    report_emptiness(&data, meshes.items.len(), instances.len(), &mut findings);

    let constraints = node_constraint::read_all(&data, &tree.skeleton, &mut findings);

    let is_skinned = instances.values().any(|drawn| drawn.skin.is_some());
    baked::use_lbs(
        &container.json,
        &mut meshes.items,
        is_skinned,
        &mut findings,
    );

    let source = Source {
        path: path.map(Path::to_owned),
        sample: None,
        fingerprint: data.fingerprint(),
        kind: container.kind,
        buffers: data.all_buffers(),
        outside,
        bytes,
        converted_from: None,
        repairs,
        json: container.json,
    };
    let parts = Parts {
        source: Some(Arc::new(source)),
        skeleton: Arc::new(tree.skeleton),
        meshes: meshes.items,
        skins: skins
            .into_iter()
            .enumerate()
            .filter_map(|(i, read)| Some((SkinId(i as u32), Arc::new(read?.skin))))
            .collect(),
        instances,
        clips,
        rest_morph_weights,
        left_out: Arc::new(drawn.left_out),
        constraints,
        materials: Arc::new(materials),
        images: Arc::new(images),
    };
    Ok(Imported {
        parts,
        findings: findings.into_list(),
    })
}

/// The skin of an entry whose inverse bind matrices were repaired.
fn is_repaired((i, read): (u32, &Option<ReadSkin>)) -> Option<SkinId> {
    read.as_ref().filter(|read| read.is_repaired())?;
    Some(SkinId(i))
}

/// For each mesh, the joint-list entries that are usable in every skin that draws it.
fn drawings(data: &Data<'_>, skins: &[Option<ReadSkin>]) -> Vec<Drawing> {
    let mut drawings = vec![Drawing::default(); data.len("meshes")];
    for i in 0..data.len("nodes") {
        let at = data.at("nodes", i);
        let mesh = at.index("mesh", "meshes", drawings.len());
        let skin = at.index("skin", "skins", skins.len());
        let (Ok(Some(mesh)), Ok(Some(skin))) = (mesh, skin) else {
            continue;
        };
        let Some(skin) = &skins[skin] else {
            continue;
        };
        match &mut drawings[mesh].slots {
            slots @ None => *slots = Some(skin.usable.clone()),
            Some(slots) => {
                slots.truncate(skin.usable.len());
                for (slot, &usable) in slots.iter_mut().zip(&skin.usable) {
                    *slot &= usable;
                }
            }
        }
    }
    drawings
}

/// The nodes of the scene that draw a mesh: instances, and nodes beyond the memory budget.
struct Drawn {
    instances: BTreeMap<InstanceId, Arc<Instance>>,
    left_out: LeftOut,
}

/// Finds the nodes of the scene that reference a mesh; with `chosen`, only these.
fn drawn(
    data: &Data<'_>,
    tree: &Tree,
    skins: &[Option<ReadSkin>],
    (meshes, chosen): (&Meshes, Option<&BTreeSet<InstanceId>>),
    findings: &mut Findings,
) -> Drawn {
    let mut instances = BTreeMap::new();
    let mut drawn = BTreeSet::new();
    let mut too_many = Vec::new();
    let mut first_left_out = None;
    let is_chosen = |&i: &usize| chosen.is_none_or(|ids| ids.contains(&InstanceId(i as u32)));
    let in_scene = (0..data.len("nodes")).filter(|&i| tree.in_scene[i]);
    for i in in_scene.filter(is_chosen) {
        let at = data.at("nodes", i);
        let skin = at.index("skin", "skins", skins.len());
        let skin = skin.unwrap_or_else(|fault| {
            findings.push(fault.finding("The node's mesh is drawn without a skin."));
            None
        });
        let mesh = match at.index("mesh", "meshes", data.len("meshes")) {
            Ok(Some(mesh)) => MeshId(mesh as u32),
            Ok(None) => continue,
            Err(fault) => {
                findings.push(fault.finding("The node draws nothing."));
                continue;
            }
        };
        let Some(item) = meshes.items.get(&mesh) else {
            findings.push(Finding::error(
                at.path("mesh"),
                format!("{} draws meshes[{}], which was left out.", at.place, mesh.0),
            ));
            continue;
        };
        let mut skin = skin.filter(|&s| skins[s].is_some());
        if skin.is_some() && !meshes.used[mesh.0 as usize].contains(&true) {
            findings.push(Finding::warning(
                at.path("skin"),
                format!(
                    "{} has a skin, but meshes[{}] has no weights; the mesh follows its node.",
                    at.place, mesh.0
                ),
            ));
            skin = None;
        }
        let n_joints = skin.map_or(0, |s| skins[s].as_ref().map_or(0, ReadSkin::n_joints));
        let n_vertices = item.geometry.n_vertices();
        let instance = Instance {
            joint: nodes::joint_of_node(i),
            mesh,
            skin: skin.map(|s| SkinId(s as u32)),
        };
        // The first node of each mesh costs nothing.
        let is_free = drawn.insert(mesh) || chosen.is_some();
        let fits = is_free || data.budget.charge_repeated(n_vertices, n_joints);
        if !fits {
            first_left_out.get_or_insert(i);
            too_many.push(instance);
            continue;
        }
        instances.insert(InstanceId(i as u32), Arc::new(instance));
    }
    if let Some(first) = first_left_out {
        findings.push(nodes::instantiated_too_often(first, too_many.len()));
    }
    Drawn {
        instances,
        left_out: left_out::of(&too_many, &tree.skeleton, skins, meshes),
    }
}

/// The default morph weights of all nodes whose meshes have morph targets: clips also animate nodes that are not instances,
/// such as those of other scenes.
fn rest_morph_weights(
    data: &Data<'_>,
    n_targets: &[usize],
    meshes: &Meshes,
    findings: &mut Findings,
) -> BTreeMap<JointId, Vec<f32>> {
    let mut all = BTreeMap::new();
    for (i, &n) in n_targets.iter().enumerate().filter(|(_, n)| **n > 0) {
        let at = data.at("nodes", i);
        let mesh = at.index("mesh", "meshes", data.len("meshes"));
        let mesh = mesh.ok().flatten().map(|mesh| MeshId(mesh as u32));
        let item = mesh.and_then(|mesh| meshes.items.get(&mesh));
        let n = item.map_or(n, |item| item.geometry.morphs.len());
        let weights = mesh::morph_weights(&at, n, findings);
        let of_mesh = || item.map_or_else(|| vec![0.0; n], |item| item.morph_weights.clone());
        all.insert(nodes::joint_of_node(i), weights.unwrap_or_else(of_mesh));
    }
    all
}

/// The number of morph targets of each node's mesh.
fn targets_of_nodes(data: &Data<'_>) -> Vec<usize> {
    let n_meshes = data.len("meshes");
    let of_mesh: Vec<usize> = (0..n_meshes)
        .map(|m| mesh::n_targets(&data.at("meshes", m)))
        .collect();
    (0..data.len("nodes"))
        .map(|i| {
            let mesh = data.at("nodes", i).index("mesh", "meshes", n_meshes);
            mesh.ok().flatten().map_or(0, |m| of_mesh[m])
        })
        .collect()
}

fn report_skins(
    skins: &[Option<ReadSkin>],
    skeleton: &Skeleton,
    instances: &BTreeMap<InstanceId, Arc<Instance>>,
    meshes: &Meshes,
    findings: &mut Findings,
) {
    let roots = nodes::roots(skeleton);
    for (s, skin) in skins.iter().enumerate() {
        if let Some(skin) = skin {
            skin::report_roots(skin, &roots, &format!("skins[{s}]"), findings);
        }
        let Some(skin) = skin.as_ref().filter(|skin| !skin.is_affine()) else {
            continue;
        };
        let drawn: BTreeSet<MeshId> = instances
            .values()
            .filter(|instance| instance.skin == Some(SkinId(s as u32)))
            .map(|instance| instance.mesh)
            .collect();
        let used: Vec<&[bool]> = drawn.iter().map(|m| &*meshes.used[m.0 as usize]).collect();
        skin::report_not_affine(skin, &format!("skins[{s}]"), &used, findings);
    }
}

/// The names of the required extensions that Sinew does not support.
fn unknown_extensions(data: &Data<'_>, findings: &mut Findings) -> Vec<String> {
    let root = json::At::new(data.json, "");
    let required = root.items("extensionsRequired").unwrap_or_default();
    let mut unknown = Vec::new();
    for at in required.iter() {
        let name = at.value.as_str().unwrap_or("(not a name)");
        if KNOWN_EXTENSIONS.contains(&name) || name.starts_with("KHR_materials_") {
            continue;
        }
        findings.push(Finding::warning(
            &at.place,
            format!(
                "The file requires {name}, which Sinew does not support; its data is not shown."
            ),
        ));
        unknown.push(name.to_owned());
    }
    unknown
}

/// Rejects a file whose meshes all failed, with the first fault; one without meshes may still contain a clip.
fn fail_if_nothing_is_left(
    data: &Data<'_>,
    meshes: &Meshes,
    unknown: &[String],
) -> Result<(), ImportError> {
    if data.len("meshes") == 0 || !meshes.items.is_empty() {
        return Ok(());
    }
    let Some(fault) = meshes.faults.first() else {
        return Ok(());
    };
    let mut fault = fault.clone();
    if let Some(name) = unknown.first() {
        fault.message.pop();
        fault.message = format!(
            "{}; the file requires {name}, which Sinew does not support.",
            fault.message
        );
    }
    Err(fault.into())
}

fn report_emptiness(data: &Data<'_>, n_meshes: usize, n_instances: usize, findings: &mut Findings) {
    if data.len("meshes") == 0 {
        let message = match (data.len("nodes"), data.len("animations")) {
            (0, 0) => "The file contains no mesh, no joint and no clip.",
            (_, 0) => "The file contains joints, but no mesh.",
            _ => "The file contains clips, but no mesh.",
        };
        findings.push(Finding::info("file", message));
    }
    if let Some(finding) = nodes::nothing_drawn(n_meshes, n_instances) {
        findings.push(finding);
    }
}
