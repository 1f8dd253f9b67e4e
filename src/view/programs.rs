//! The shader programs, compiled once a renderer.

use super::renderer::RenderError;
use three_d::{Context, Program};

/// One program for each kind of thing that is drawn.
pub(crate) struct Programs {
    pub(crate) background: Program,
    pub(crate) mesh: Program,
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
        Ok(Self {
            background: program(
                "background",
                include_str!("shaders/background.vert"),
                include_str!("shaders/background.frag"),
            )?,
            mesh: program(
                "mesh",
                include_str!("shaders/mesh.vert"),
                include_str!("shaders/mesh.frag"),
            )?,
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
}
