//! Why the GPU draws nothing.

use three_d::core::CoreError;

/// The reason why nothing could be drawn.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The context is unusable.
    #[error(
        "OpenGL is not usable here: {0}. Sinew needs OpenGL 3.3; updating the graphics driver usually helps."
    )]
    Context(CoreError),
    /// A shader did not compile.
    #[error(
        "the graphics driver refused the {name} shader. Updating the driver usually helps. Details: {source}"
    )]
    Shader {
        /// The name of the shader.
        name: &'static str,
        /// The driver's log.
        source: CoreError,
    },
    /// A picture larger than the GPU can draw.
    #[error("{width} x {height} pixels exceed the limit of this GPU, {limit} x {limit}")]
    TooLarge {
        /// The requested width.
        width: u32,
        /// The requested height.
        height: u32,
        /// The GPU's limit on either.
        limit: u32,
    },
    /// A framebuffer could not be created.
    #[error("the graphics driver refused a framebuffer: {0}")]
    Framebuffer(String),
}
