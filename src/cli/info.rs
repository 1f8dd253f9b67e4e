//! `sinew info`: the contents of a model.

use super::args::InfoArgs;
use super::{Failure, load};
use crate::document::{Document, LayerStack};
use crate::finding::{Finding, counted, thousands};
use crate::motion::roles::HumanBone;
use crate::skeleton::JointId;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;

#[derive(Serialize)]
struct Info {
    file: String,
    bytes: Option<usize>,
    generator: Option<String>,
    extensions_used: Vec<String>,
    extensions_required: Vec<String>,
    nodes: usize,
    meshes: Vec<MeshInfo>,
    skins: Vec<SkinInfo>,
    instances: usize,
    clips: Vec<ClipInfo>,
    materials: usize,
    images: usize,
    humanoid: HumanoidInfo,
    findings: Vec<Finding>,
}

/// Which bone is which of a human body.
#[derive(Serialize)]
struct HumanoidInfo {
    summary: String,
    /// How many of the bones that a human needs are known, and how many it needs.
    required: [usize; 2],
    /// By their names in VRM 1.0; those that are not known are left out.
    bones: BTreeMap<String, HumanBoneInfo>,
}

#[derive(Serialize)]
struct HumanBoneInfo {
    bone: String,
    /// The node of the file; none for a bone made in Sinew.
    node: Option<u32>,
    found_by: &'static str,
}

#[derive(Serialize)]
struct MeshInfo {
    id: u32,
    name: String,
    primitives: usize,
    vertices: usize,
    points: usize,
    triangles: usize,
    morph_targets: usize,
    max_influences: usize,
    drawn_by: usize,
    /// From bottom to top; empty if the mesh has only its base layer.
    layers: Vec<LayerInfo>,
}

#[derive(Serialize)]
struct LayerInfo {
    id: u32,
    name: String,
    /// Number of points that the layer affects.
    points: usize,
    opacity: f32,
    shown: bool,
}

#[derive(Serialize)]
struct SkinInfo {
    id: u32,
    name: String,
    joints: usize,
}

#[derive(Serialize)]
struct ClipInfo {
    id: u32,
    name: String,
    channels: usize,
    start_secs: f32,
    end_secs: f32,
}

pub(crate) fn run(args: &InfoArgs, out: &mut dyn Write) -> Result<ExitCode, Failure> {
    let loaded = load::load(&args.file)?;
    let info = gather(
        args.file.display().to_string(),
        &loaded.document,
        loaded.findings,
    );
    if args.json {
        serde_json::to_writer_pretty(&mut *out, &info).map_err(Failure::input)?;
        writeln!(out)?;
    } else {
        print(&info, out)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn gather(file: String, document: &Document, findings: Vec<Finding>) -> Info {
    let source = document.source();
    let strings = |key: &str| -> Vec<String> {
        let list = source
            .and_then(|s| s.json.get(key))
            .and_then(|v| v.as_array());
        list.into_iter()
            .flatten()
            .filter_map(|v| v.as_str())
            .map(str::to_owned)
            .collect()
    };
    Info {
        file,
        bytes: source.map(|s| s.file_bytes().len()),
        generator: source
            .and_then(|s| s.json.pointer("/asset/generator"))
            .and_then(|v| v.as_str())
            .map(str::to_owned),
        extensions_used: strings("extensionsUsed"),
        extensions_required: strings("extensionsRequired"),
        nodes: document.skeleton().n_live(),
        meshes: document
            .meshes()
            .iter()
            .map(|(&id, item)| MeshInfo {
                id: id.0,
                name: item.geometry.name.clone(),
                primitives: item.geometry.primitives.len(),
                vertices: item.geometry.n_vertices(),
                points: item.geometry.n_points(),
                triangles: item.geometry.triangles.len(),
                morph_targets: item.geometry.morphs.len(),
                max_influences: item
                    .influences
                    .chunks()
                    .iter()
                    .map(|c| c.max_len())
                    .max()
                    .unwrap_or(0),
                drawn_by: document
                    .instances()
                    .values()
                    .filter(|i| i.mesh == id)
                    .count(),
                layers: layers(&item.layers),
            })
            .collect(),
        skins: document
            .skins()
            .iter()
            .map(|(&id, skin)| SkinInfo {
                id: id.0,
                name: skin.name.clone(),
                joints: skin.joints.len(),
            })
            .collect(),
        instances: document.instances().len(),
        clips: document
            .clips()
            .iter()
            .map(|(&id, clip)| ClipInfo {
                id: id.0,
                name: clip.name.clone(),
                channels: clip.channels.len(),
                start_secs: clip.start_secs(),
                end_secs: clip.end_secs(),
            })
            .collect(),
        materials: document.materials().len(),
        images: document.images().len(),
        humanoid: humanoid(document),
        findings,
    }
}

fn humanoid(document: &Document) -> HumanoidInfo {
    let map = document.humanoid();
    let skeleton = document.skeleton();
    let bones = HumanBone::all().filter_map(|bone| {
        let joint = JointId(map.joint(bone)? as u32);
        let info = HumanBoneInfo {
            bone: skeleton.label(joint),
            node: skeleton.joint(joint).source_node,
            found_by: map.found(bone).label(),
        };
        Some((bone.name(), info))
    });
    HumanoidInfo {
        summary: map.summary(),
        required: [map.n_required(), HumanBone::N_REQUIRED],
        bones: bones.collect(),
    }
}

fn layers(stack: &LayerStack) -> Vec<LayerInfo> {
    let layers = stack.layers().iter().enumerate();
    layers
        .map(|(index, layer)| LayerInfo {
            id: layer.id.0,
            name: layer.name.clone(),
            points: layer.n_rows(),
            opacity: layer.opacity,
            shown: stack.is_visible(index),
        })
        .collect()
}

fn print(info: &Info, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "{}", info.file)?;
    if let Some(bytes) = info.bytes {
        writeln!(
            out,
            "  {:.1} KB, {}",
            bytes as f64 / 1024.0,
            info.generator.as_deref().unwrap_or("no generator")
        )?;
    }
    if !info.extensions_used.is_empty() {
        writeln!(out, "  extensions: {}", info.extensions_used.join(", "))?;
    }
    writeln!(
        out,
        "  {}, {}, {}, {}",
        counted(info.nodes, "node"),
        counted(info.instances, "mesh instance"),
        counted(info.materials, "material"),
        counted(info.images, "image")
    )?;
    for mesh in &info.meshes {
        writeln!(
            out,
            "  mesh {} \"{}\": {} ({} in the file), {}, {}, up to {}, {}, {}",
            mesh.id,
            mesh.name,
            counted(mesh.points, "vertex"),
            thousands(mesh.vertices),
            counted(mesh.triangles, "triangle"),
            counted(mesh.primitives, "primitive"),
            counted(mesh.max_influences, "influence"),
            counted(mesh.morph_targets, "morph target"),
            counted(mesh.drawn_by, "instance")
        )?;
        for layer in mesh.layers.iter().rev() {
            writeln!(
                out,
                "    layer \"{}\": affects {}, {:.0} % opacity{}",
                layer.name,
                counted(layer.points, "vertex"),
                layer.opacity * 100.0,
                if layer.shown { "" } else { ", not shown" }
            )?;
        }
    }
    for skin in &info.skins {
        writeln!(
            out,
            "  skin {} \"{}\": {}",
            skin.id,
            skin.name,
            counted(skin.joints, "bone")
        )?;
    }
    if info.humanoid.required[0] > 0 {
        writeln!(out, "  {}", info.humanoid.summary)?;
    }
    for clip in &info.clips {
        writeln!(
            out,
            "  clip {} \"{}\": {:.3} - {:.3} s, {}",
            clip.id,
            clip.name,
            clip.start_secs,
            clip.end_secs,
            counted(clip.channels, "channel")
        )?;
    }
    for finding in &info.findings {
        writeln!(out, "  {finding}")?;
    }
    Ok(())
}
