//! The shader programs, compiled once per renderer.

use super::render_error::RenderError;
use super::scene::{Shading, ViewOptions};
use crate::document::Material;
use crate::editor::WeightView;
use three_d::{Context, Program};

/// One program for each kind of object that is drawn.
pub(crate) struct Programs {
    pub(crate) background: Program,
    meshes: [Program; 9],
    /// [`Shading::Textured`] with normal, roughness, occlusion and emissive textures: more expensive than most models
    /// need.
    detailed: Program,
    pub(crate) line: Program,
    pub(crate) grid: Program,
    pub(crate) bone: Program,
}

impl Programs {
    pub(crate) fn new(context: &Context) -> Result<Self, RenderError> {
        let program = |name: &'static str, vertex: &str, fragment: &str| {
            let fragment = [include_str!("shaders/common.glsl"), fragment].concat();
            Program::from_source(context, vertex, &fragment)
                .map_err(|source| RenderError::Shader { name, source })
        };
        let mesh = |shading: u32, detailed: bool| {
            let weights = shading == 3 || shading > 5;
            let define = format!(
                "#define SHADING {shading}\n#define DETAILED {}\n#define WEIGHTS {}\n#define HEAT {}\n",
                u32::from(detailed),
                u32::from(weights),
                u32::from(weights || shading == 5)
            );
            program(
                "mesh",
                &[&define, include_str!("shaders/mesh.vert")].concat(),
                &[&define, include_str!("shaders/mesh.frag")].concat(),
            )
        };
        Ok(Self {
            background: program(
                "background",
                include_str!("shaders/background.vert"),
                include_str!("shaders/background.frag"),
            )?,
            meshes: [
                mesh(0, false)?,
                mesh(1, false)?,
                mesh(2, false)?,
                mesh(3, false)?,
                mesh(4, false)?,
                mesh(5, false)?,
                mesh(6, false)?,
                mesh(7, false)?,
                mesh(8, false)?,
            ],
            detailed: mesh(0, true)?,
            line: program(
                "line",
                include_str!("shaders/line.vert"),
                include_str!("shaders/line.frag"),
            )?,
            grid: program(
                "grid",
                include_str!("shaders/grid.vert"),
                include_str!("shaders/grid.frag"),
            )?,
            bone: program(
                "bone",
                include_str!("shaders/bone.vert"),
                include_str!("shaders/bone.frag"),
            )?,
        })
    }

    /// The program of this shading, and the one for materials with more textures.
    pub(crate) fn meshes(&self, options: &ViewOptions) -> [&Program; 2] {
        let [
            textured,
            shaded,
            form,
            painted,
            wire,
            heat_map,
            bones,
            counts,
            sums,
        ] = &self.meshes;
        match options.shading {
            Shading::Textured => [textured, &self.detailed],
            Shading::Shaded => [shaded; 2],
            Shading::Form => [form; 2],
            Shading::Weights => match options.weight_view {
                WeightView::Painted => [painted; 2],
                WeightView::Bones => [bones; 2],
                WeightView::Count => [counts; 2],
                WeightView::Sum => [sums; 2],
            },
            Shading::Wire => [wire; 2],
            Shading::HeatMap => [heat_map; 2],
        }
    }
}

/// Whether a material has textures that only the detailed program reads.
pub(crate) fn is_detailed(material: &Material) -> bool {
    material.metallic_roughness_image.is_some()
        || material.normal_image.is_some()
        || material.occlusion_image.is_some()
        || material.emissive_image.is_some()
        || material.emissive != [0.0; 3]
        || material.unlit
}
