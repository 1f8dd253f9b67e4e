//! Where the panels are: docked side by side or as tabs, floating, maximised, closed.
//!
//! The way of the data: an [`Arrangement`] (what is saved, sizes in points) -> a [`Dock`] (egui_tiles) -> each frame
//! [`Dock::show_ui`] asks the [`PanelHost`] to draw the panels that show -> [`Dock::arrangement`] to save it again.
//!
//! Invariant: every panel is at exactly one place; a closed or floating one keeps its place among the docked.
//! Invariant: the viewport is never closed and never floats.

mod arrangement;
mod behavior;
mod dock;
mod fit;
mod host;

pub use arrangement::{Arrangement, Floating, Node};
pub use dock::Dock;
pub use host::PanelHost;
