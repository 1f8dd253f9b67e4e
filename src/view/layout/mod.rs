//! The panel layout: docked side by side or as tabs, floating, maximised, closed.
//!
//! Data flow: an [`Arrangement`] (saved, sizes in points) -> a [`Dock`] (egui_tiles) -> each frame [`Dock::show_ui`]
//! calls the [`PanelHost`] for the visible panels -> [`Dock::arrangement`] to save it again.
//!
//! Invariant: each panel has exactly one place; a closed or floating one keeps its place among the docked.
//! Invariant: the viewport never closes and never floats.

mod arrangement;
mod behavior;
mod dock;
mod fit;
mod host;

pub use arrangement::{Arrangement, Floating, Node};
pub use dock::Dock;
pub use host::PanelHost;
