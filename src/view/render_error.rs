//! Why the GPU draws nothing.

use three_d::core::CoreError;

/// Why nothing could be drawn.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The context is unusable.
    #[error(
        "OpenGL is not usable here: {0}. Sinew needs OpenGL 3.3; updating the graphics driver usually helps."
    )]
    Context(CoreError),
    /// A shader was refused.
    #[error(
        "the graphics driver refused the {name} shader. Updating the driver usually helps. Details: {source}"
    )]
    Shader {
        /// Which.
        name: &'static str,
        /// The driver's log.
        source: CoreError,
    },
    /// A picture larger than the GPU can draw.
    #[error("{width} x {height} pixels are more than this GPU draws; at most {limit} x {limit}")]
    TooLarge {
        /// Asked for.
        width: u32,
        /// Asked for.
        height: u32,
        /// The GPU's limit on either.
        limit: u32,
    },
    /// A framebuffer was refused.
    #[error("the graphics driver refused a framebuffer: {0}")]
    Framebuffer(String),
}
