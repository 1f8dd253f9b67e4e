//! The shader programs, compiled once a renderer.

use super::renderer::RenderError;
use super::scene::Shading;
use three_d::{Context, Program};

/// One program for each kind of thing that is drawn.
pub(crate) struct Programs {
    pub(crate) background: Program,
    meshes: [Program; 4],
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
        let mesh = |shading: u32| {
            let define = format!("#define SHADING {shading}\n");
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
            meshes: [mesh(0)?, mesh(1)?, mesh(2)?, mesh(3)?],
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

    /// The program that draws surfaces in this way.
    pub(crate) fn mesh(&self, shading: Shading) -> &Program {
        let [textured, shaded, weights, wire] = &self.meshes;
        match shading {
            Shading::Textured => textured,
            Shading::Shaded => shaded,
            Shading::Weights => weights,
            Shading::Wire => wire,
        }
    }
}
