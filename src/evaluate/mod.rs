//! Evaluation: from a document and a pose to deformed meshes, off the UI thread.
//!
//! Data flow: the editor posts a [`Request`] (a clone of the document) into the [`Worker`]'s mailbox -> the
//! [`Evaluator`] cooks what changed and runs it under the stack of each view -> an [`Evaluated`] comes back on a
//! channel -> the editor applies its [`InstanceUpdate`]s to the displayed meshes and hands the buffers back. All
//! other work that takes longer than a frame runs on the [`Lane`], by priority.
//!
//! [`skin_picture()`] draws thumbnails of deformed surfaces.
//!
//! [`PosedSurface`] is what a scan is compared with.
//!
//! A [`Gauge`] evaluates the shapes that metrics compare: the document's own stacks, plain dual quaternion skinning,
//! other stacks.
//!
//! Invariant: a new request replaces a waiting one, never a running one.
//! Invariant: updates are applied in the order they were sent; together they equal a full evaluation, bit for bit.
//! Invariant: views share cooked data; each equals an evaluation of its own, bit for bit.
//! Invariant: a panic in a deformer ends its request, not the worker.

mod bodies;
pub mod centres;
pub mod control_net;
pub mod evaluator;
pub mod exported;
pub mod gauge;
pub mod heat_map;
pub mod lane;
pub mod layouts;
pub mod net_edges;
mod plans;
pub mod posed_surface;
mod skin_orders;
pub mod skin_picture;
pub mod surface_data;
pub mod view;
pub mod volumes;
pub mod worker;

pub use bodies::{BodyMap, ShownBody};
pub use centres::{CentreMap, has_centres, meshes_about_centres};
pub use control_net::{ControlNetShape, control_net};
pub use evaluator::Evaluator;
pub use exported::ExportedModel;
pub use gauge::{Comparison, Gauge};
pub use heat_map::{Difference, HeatFigures, HeatMapRequest, HeatUpdate, HeatValues, views_for};
pub use lane::{JobError, JobHandle, JobKind, JobStatus, Lane, Priority};
pub use layouts::{LayoutMap, SlowCooks, has_layout, meshes_with_clusters};
pub use net_edges::{
    MOST_PATCHES, NetEdge, NetEdges, SPARSE_DEGREES, VERY_SPARSE_DEGREES, net_edges,
};
pub use posed_surface::PosedSurface;
pub use skin_picture::{PictureView, skin_picture, surfaces_picture};
pub use surface_data::{DataColours, SurfaceData, SurfaceDataFinder};
pub use view::{ViewId, ViewRequest};
pub use worker::{Evaluated, InstanceUpdate, Request, Updated, Worker};
