//! The Control Cluster Method: a few marked vertices are moved, the others follow Bezier patches between them.
//!
//! Data flow: a mesh -> [`ClusterSurface`] (seams welded) and the marked vertices -> [`Layout`] (coarse triangles between
//! them, each free vertex's place on one) -> [`Patches`] (cooked), evaluated at a pose from one [`CornerFrame`] a corner.
//! Frames come from a skin ([`Stencil`], mode A) or from positions alone ([`ControlNet::frames_of_positions`], mode B;
//! anchors by [`AnchorFits`]). [`suggest()`] chooses clusters, [`extract()`] takes a corrective of the whole mesh to them.
//! Bones, time and channels -> [`procedural`] (muscles, drivers) and [`channel`] (recorded markers and scalars) ->
//! displacements or places of clusters, added to the skinned shape as layers of their groups ([`MuscleLayer`],
//! [`DriverLayer`], [`DataLayer`]); [`ControlMotion`] holds what the artist adds by hand, with keyframes in clips.
//! [`lattice`] and [`cage`] move them by control points ([`LatticeControls`], [`CageControls`]).
//!
//! The method is that of Bukatov, Gridchina & Zastavnoy 2014, "Using dual quaternions for Control Cluster Method". The paper
//! names no layout and no kind of patch; those are ours, and each file names its source.
//!
//! Invariant: the same input gives the same bits for any number of threads.
//! Invariant: at bind the free vertices are where the mesh has them.
//! Invariant: at bind no procedural displacement moves anything, unless a rest offset was asked for.

mod anchors;
mod bezier;
mod blocks;
mod bound_cage;
pub mod cage;
mod cage_mesh;
pub mod channel;
pub mod controls;
mod corner_lanes;
mod cubics;
mod data;
mod driven;
mod drivers;
mod exact;
mod extract;
mod frame;
mod gradient;
mod gregory;
mod group;
mod interpolation;
mod kernel;
pub mod lattice;
pub mod layout;
mod main_child;
pub mod map;
mod mesh_layout;
pub mod motion;
mod muscles;
mod net;
mod patches;
pub mod preset;
pub mod procedural;
mod readings;
mod rotation_fit;
mod rows;
mod stencil;
mod strands;
mod suggest;
mod surface;
mod surface_display;
mod unplaced;

use crate::math::check;
pub use crate::motion::{fade, signal};
pub use anchors::AnchorFits;
pub use bezier::BezierTriangle;
pub use blocks::CornerRow;
pub use bound_cage::{BoundCage, is_slow_to_bind};
pub use cage_mesh::{CageMesh, CageSource};
pub use controls::{CageControls, LatticeControls};
pub(crate) use corner_lanes::CornerLanes;
pub use data::{DataLayer, Fit};
pub use drivers::{DriverLayer, bone_axis};
pub use exact::ExactPatches;
pub use extract::{Corrective, Extraction, extract};
pub use frame::{CornerFrame, TangentPlane, reflected};
pub use gradient::CornerRings;
pub use gregory::GregoryTriangle;
pub use group::{Base, ClusterGroup, Glyph};
pub use interpolation::{Interpolation, PatchOptions};
pub use layout::{Free, Layout};
pub use map::{ClusterMap, MapError, PatchSettings};
pub use mesh_layout::MeshLayout;
pub use motion::{ControlKey, ControlMotion, MotionError};
pub use muscles::{Flexion, MuscleLayer};
pub use net::{ControlNet, Patch};
pub use patches::{PatchWork, Patches};
pub use preset::GroupPreset;
pub use readings::{Quantity, Readings};
pub use stencil::Stencil;
pub use strands::{StrandPoint, Strands};
pub use suggest::{ClusterErrors, SuggestRound, SuggestSettings, Suggestion, suggest};
pub use surface::ClusterSurface;
pub use surface_display::{ColourBy, SurfaceDisplay};
pub use unplaced::UnplacedLayer;
