//! `sinew skin`: the positions of the deformed vertices as an array.

use super::args::SkinArgs;
use super::{Failure, centres, load, scene};
use crate::evaluate::Evaluator;
use glam::Vec3;
use std::process::ExitCode;

/// A run of vertices in the output.
#[derive(serde::Serialize)]
struct Draw {
    node: u32,
    name: String,
    mesh: u32,
    primitive: usize,
    skin: Option<u32>,
    offset: usize,
    count: usize,
}

#[derive(serde::Serialize)]
struct Output {
    draws: Vec<Draw>,
    positions: Vec<[f32; 3]>,
}

pub(crate) fn run(args: &SkinArgs) -> Result<ExitCode, Failure> {
    let extension = args
        .out
        .extension()
        .and_then(|e| e.to_str())
        .map(str::to_ascii_lowercase);
    let is_json = match extension.as_deref() {
        Some("npy") => false,
        Some("json") => true,
        _ => {
            return Err(Failure::Usage(format!(
                "--out {} must end in .npy or .json.",
                args.out.display()
            )));
        }
    };
    let mut loaded = load::load(&args.file)?;
    args.body.apply(&mut loaded.document)?;
    let out = loaded.claim(&args.out, &args.pose)?;
    scene::apply_stack(&mut loaded.document, &args.stack)?;
    let pose = scene::pose(&loaded, &args.pose)?;
    let document = &loaded.document;
    let mut evaluator = Evaluator::for_shapes();
    evaluator.set_cooks(centres::find([document]));
    evaluator.evaluate(document, pose.at());

    let mut output = Output {
        draws: Vec::new(),
        positions: Vec::new(),
    };
    for (&id, instance) in document.instances() {
        let (Some(plan), Some(item)) = (evaluator.plan(id), document.meshes().get(&instance.mesh))
        else {
            continue;
        };
        let geometry = &item.geometry;
        for (p, primitive) in geometry.primitives.iter().enumerate() {
            output.draws.push(Draw {
                node: id.0,
                name: document.skeleton().joint(instance.joint).name.clone(),
                mesh: instance.mesh.0,
                primitive: p,
                skin: instance.skin.map(|s| s.0),
                offset: output.positions.len(),
                count: primitive.vertices.len(),
            });
            let vertices = primitive.vertices.start as usize..primitive.vertices.end as usize;
            let points = &geometry.point_of_vertex[vertices];
            output.positions.extend(
                points
                    .iter()
                    .map(|&point| plan.positions()[point as usize].to_array()),
            );
        }
    }
    if output.positions.is_empty() {
        return Err(Failure::Input(format!(
            "{} has no mesh in its scene.",
            args.file.display()
        )));
    }
    if let Some(i) = output
        .positions
        .iter()
        .position(|p| !Vec3::from_array(*p).is_finite())
    {
        return Err(Failure::Input(format!(
            "Vertex {i} has no finite position in this pose."
        )));
    }
    let bytes = if is_json {
        serde_json::to_vec(&output).map_err(Failure::input)?
    } else {
        npy(&output.positions)?
    };
    out.write(&bytes).map_err(Failure::input)?;
    Ok(ExitCode::SUCCESS)
}

/// A float32 array of shape (n, 3).
fn npy(positions: &[[f32; 3]]) -> std::io::Result<Vec<u8>> {
    use npyz::WriterBuilder;
    let mut bytes = Vec::with_capacity(positions.len() * 12 + 128);
    let mut writer = npyz::WriteOptions::new()
        .default_dtype()
        .shape(&[positions.len() as u64, 3])
        .writer(&mut bytes)
        .begin_nd()?;
    writer.extend(positions.iter().flatten())?;
    writer.finish()?;
    Ok(bytes)
}
