//! Offscreen pictures of a document: scene, camera, PNG.

use super::Failure;
use super::args::{Show, ViewArg};
use crate::document::{Document, Image, MeshId};
use crate::evaluate::Evaluator;
use crate::math::Camera;
use crate::math::camera::View;
use crate::view::PointMarks;
use crate::view::scene::{SceneMesh, Shading};
use std::collections::BTreeMap;

/// The scene of everything the document draws, as evaluated last.
///
/// `weights`: n_points of a mesh, for [`Shading::Weights`]; `generation`: differs for each pose and stack.
pub(crate) fn scene_meshes<'a>(
    document: &'a Document,
    evaluator: &'a Evaluator,
    weights: &'a BTreeMap<MeshId, Vec<f32>>,
    generation: u64,
) -> Vec<SceneMesh<'a>> {
    let instances = document.instances().iter();
    instances
        .filter_map(|(&id, instance)| {
            let plan = evaluator.plan(id)?;
            let item = document.meshes().get(&instance.mesh)?;
            Some(SceneMesh {
                key: u64::from(id.0),
                mesh: &item.geometry,
                positions: plan.positions(),
                normals: plan.normals(),
                generation,
                position_changes: &[],
                normal_changes: &[],
                weights: weights.get(&instance.mesh).map(Vec::as_slice),
                weights_generation: generation,
                data: None,
                tints: None,
                weight_changes: &[],
                plain_weight: 0.0,
                materials: document.materials(),
                images: document.images(),
                highlighted: false,
                marks: PointMarks::default(),
            })
        })
        .collect()
}

/// The camera that the flag names.
pub(crate) fn camera_of(view: ViewArg) -> Camera {
    Camera::looking(match view {
        ViewArg::Front => View::Front,
        ViewArg::Back => View::Back,
        ViewArg::Side => View::Right,
        ViewArg::Top => View::Top,
        ViewArg::ThreeQuarter => View::ThreeQuarter,
    })
}

/// The shading that `--show` names.
pub(crate) fn shading_of(show: &Show) -> Shading {
    match show {
        Show::Textured => Shading::Textured,
        Show::Shaded => Shading::Shaded,
        Show::Form => Shading::Form,
        Show::Wire => Shading::Wire,
        Show::Weights(_) => Shading::Weights,
        Show::HeatMap(_) => Shading::HeatMap,
    }
}

/// The bytes of a PNG file.
pub(crate) fn png(image: &Image) -> Result<Vec<u8>, Failure> {
    use image::ImageEncoder as _;
    use image::codecs::png::{CompressionType, FilterType, PngEncoder};
    let mut png = Vec::new();
    // Backgrounds are gradients: filters reduce them to a fifth of the size.
    PngEncoder::new_with_quality(&mut png, CompressionType::Best, FilterType::Adaptive)
        .write_image(
            &image.rgba,
            image.width,
            image.height,
            image::ExtendedColorType::Rgba8,
        )
        .map_err(Failure::input)?;
    Ok(png)
}
