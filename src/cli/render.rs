//! `sinew render`: an offscreen picture of the viewport.

use super::args::{RenderArgs, Show};
use super::heat::{self, HeatMaps};
use super::picture::{camera_of, png, scene_meshes, shading_of};
use super::{Failure, centres, load, scene};
use crate::document::{Document, Image, LeftOut, MeshId};
use crate::evaluate::{Gauge, SurfaceData, SurfaceDataFinder};
use crate::finding::counted;
use crate::skeleton::{JointId, bone_segments};
use crate::view::heat_map::{DataScale, figures_of};
use crate::view::scene::{Scene, ViewOptions, frame_bounds};
use crate::view::{BoneState, shape_bones};
use glam::Vec3;
use std::collections::BTreeMap;
use std::process::ExitCode;

pub(crate) fn run(args: &RenderArgs) -> Result<ExitCode, Failure> {
    let mut loaded = load::load(&args.file)?;
    args.body.apply(&mut loaded.document)?;
    let out = loaded.claim(&args.out, &args.pose)?;
    let own = loaded.document.clone();
    scene::apply_stack(&mut loaded.document, &args.stack)?;
    let pose = scene::pose(&loaded, &args.pose)?;
    let document = &loaded.document;
    let mut gauge = Gauge::default();
    let comparison = heat::comparison(&args.show, || args.against.document(&own));
    gauge.set_cooks(&centres::find(
        std::iter::once(document).chain(&comparison.other),
    ));
    gauge.evaluate(document, pose.at(), &comparison);
    let heat_maps = HeatMaps::of(&args.show, &gauge, document);
    let evaluator = gauge.evaluator();

    let joint = match &args.show {
        Show::Weights(bone) => Some(find_bone(document, bone)?),
        _ => None,
    };
    let weights: BTreeMap<MeshId, Vec<f32>> = joint
        .into_iter()
        .flat_map(|joint| {
            document
                .meshes()
                .iter()
                .map(move |(id, item)| (joint, *id, item))
        })
        .filter_map(|(joint, id, item)| {
            let index = document.skin_joint(id, joint)?;
            Some((
                id,
                item.influences
                    .iter()
                    .map(|row| row.weight_of(index))
                    .collect(),
            ))
        })
        .collect();
    let mut meshes = scene_meshes(document, evaluator, &weights, 1);
    let surfaces = SurfaceDataFinder::default().find(evaluator, document, pose.at().moment);
    let shows_data = matches!(args.show, Show::Textured | Show::Shaded);
    let coloured = |data: &&SurfaceData| shows_data && data.colours.is_some();
    for data in surfaces.iter().filter(coloured) {
        let key = u64::from(data.instance.0);
        if let Some(mesh) = meshes.iter_mut().find(|mesh| mesh.key == key)
            && let Some(colours) = &data.colours
        {
            mesh.weights = Some(&colours.values);
            mesh.data = Some(DataScale::new(colours.range));
        }
    }
    if meshes.is_empty() {
        return Err(Failure::Input(format!(
            "{} has no mesh in its scene.",
            args.file.display()
        )));
    }
    let boxes = &document.left_out().boxes;
    let positions: Vec<Vec3> = meshes
        .iter()
        .flat_map(|m| m.positions.iter())
        .chain(boxes.iter().flatten())
        .copied()
        .collect();
    let mut camera = camera_of(args.view);
    if let Some((centre, radius)) = frame_bounds(&positions) {
        camera.frame(centre, radius);
    }
    let in_skin = document.bone_mask();
    let state = |j| {
        if joint == Some(j) {
            BoneState::Active
        } else {
            BoneState::Normal
        }
    };
    let weighted = document.weighted_joints();
    let bones = bone_segments::bones_of_rig(
        document.skeleton(),
        evaluator.world(),
        |j| in_skin[j.get()],
        |j| weighted[j.get()],
    );
    let bones = shape_bones(&bones, state);
    // Weights need the bones to be understood; pictures of the model show the model alone.
    let show_bones = args.bones || joint.is_some();
    let mut options = ViewOptions {
        shading: shading_of(&args.show),
        ramp: args.ramp.into(),
        theme: args.theme.into(),
        wire_overlay: args.wire,
        show_bones,
        ..ViewOptions::default()
    };
    if let Some(heat_maps) = &heat_maps {
        heat_maps.show(&mut meshes, &mut options);
    }
    let scene = Scene {
        camera: &camera,
        meshes,
        bones: &bones,
        boxes,
        ground: 0.0,
        options: &options,
    };
    let (width, height) = args.size;
    explain_boxes(document.left_out(), scene.n_boxed(width, height));
    let mut image = crate::view::render_to_image(&scene, width, height).map_err(Failure::input)?;
    if let Some(heat_maps) = &heat_maps {
        explain(&mut image, heat_maps, args);
    }
    explain_surfaces(&mut image, &surfaces, shows_data, args);
    let png = png(&image)?;
    out.write(&png).map_err(Failure::input)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints how many objects the picture shows as bounding boxes because they exceed the memory budget of the file or the
/// drawing budget of the picture.
fn explain_boxes(left_out: &LeftOut, n_boxed: usize) {
    let n_left_out = left_out.nodes.len();
    if n_left_out > 0 {
        let is_cut =
            n_left_out > left_out.boxes.len() && left_out.boxes.len() == LeftOut::MAX_BOXES;
        println!(
            "{} would need more memory than a file of this size may use. {}, in the rest pose.",
            counted(n_left_out, "object"),
            shown_as(is_cut.then_some(LeftOut::MAX_BOXES))
        );
    }
    if n_boxed > 0 {
        println!(
            "{} would cause too much overdraw. {}.",
            counted(n_boxed, "object"),
            shown_as((n_boxed > Scene::MAX_BOXED).then_some(Scene::MAX_BOXED))
        );
    }
}

/// Says that the picture shows bounding boxes, for all objects or only for the `first` ones.
fn shown_as(first: Option<usize>) -> String {
    match first {
        Some(n) => format!("The picture shows the first {n} as bounding boxes"),
        None => "The picture shows bounding boxes instead".to_owned(),
    }
}

/// Prints the wet areas and draws the legend of recorded data on the picture.
fn explain_surfaces(
    image: &mut Image,
    surfaces: &[SurfaceData],
    shows_data: bool,
    args: &RenderArgs,
) {
    for shore in surfaces.iter().filter_map(|data| data.shore.as_ref()) {
        println!("Wet: {:.1} of {:.1} m2", shore.wet_area, shore.area);
    }
    let mut colours = surfaces.iter().filter_map(|data| data.colours.as_ref());
    let Some(colours) = colours.next().filter(|_| shows_data) else {
        return;
    };
    let [low, high] = colours.range;
    println!("{}: {low} to {high}", colours.label);
    #[cfg(feature = "gui")]
    if !args.no_legend {
        let scale = DataScale::new(colours.range);
        super::legend::draw_data(image, scale, &colours.label, args.theme.into());
    }
    // Without the window's font there is no text.
    #[cfg(not(feature = "gui"))]
    let _ = (image, args);
}

/// Prints the summary of a heat map and draws its legend on the picture.
fn explain(image: &mut Image, heat_maps: &HeatMaps, args: &RenderArgs) {
    let (scale, summary) = (heat_maps.scale(), &heat_maps.summary);
    let figures = figures_of(scale.metric, summary);
    let figures = figures
        .iter()
        .map(|(name, value)| format!("{name} {value}"));
    println!("{}", scale.caption());
    println!("{}", figures.collect::<Vec<_>>().join(", "));
    #[cfg(feature = "gui")]
    if !args.no_legend {
        super::legend::draw(image, &scale, summary, args.theme.into());
    }
    // Without the window's font there is no text.
    #[cfg(not(feature = "gui"))]
    let _ = (image, args);
}

/// A bone by node number or name.
fn find_bone(document: &Document, wanted: &str) -> Result<JointId, Failure> {
    let skeleton = document.skeleton();
    scene::find_joint(document, wanted).ok_or_else(|| {
        let names: Vec<_> = document
            .skins()
            .values()
            .flat_map(|s| s.joints.iter())
            .take(12)
            .map(|&j| format!("\"{}\"", skeleton.label(j)))
            .collect();
        Failure::Usage(format!(
            "The model has no bone \"{wanted}\"; it has {} ...",
            names.join(", ")
        ))
    })
}
