//! Pointer tools: small state machines that turn pointer events into edits.
//!
//! Data flow: the viewport makes a [`PointerEvent`] with a world ray -> the tool picks on the *deformed*
//! surface ([`ToolContext`]) -> [`ToolAction`]s, which the editor applies through the history.
//!
//! Invariant: a tool never changes the document itself; its state of a stroke ends with the stroke.

pub mod brush;
pub mod constraint;
pub mod depth;
pub mod gizmo;
pub mod marking;
pub mod pointer;
pub mod reach;
pub mod region;
pub mod screen;
pub mod screen_view;
pub mod sculpt;
pub mod select;
mod stamped;
mod stroke_path;
mod strokes;
pub mod surface;
pub mod transform;
pub mod typed;

pub use crate::math::Axis;
pub use brush::Brush;
pub use constraint::Constraint;
pub use depth::DepthBuffer;
pub use gizmo::{Gizmo, Handle};
pub use marking::Marking;
pub use pointer::{PointerEvent, PointerKind, ToolAction, ToolContext};
pub use reach::Reach;
pub use region::Region;
pub use screen::Screen;
pub use screen_view::ScreenView;
pub use sculpt::Sculpt;
pub use select::{SelectAction, SelectEvent, SelectOp, SelectShape, SelectTool};
pub use stamped::Stamped;
pub use surface::SurfaceView;
pub use transform::{PointerPrecision, Transforming};
