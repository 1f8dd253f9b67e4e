//! Relaxation of the skin around a joint: from the skinned surface at a pose to one that keeps its shape, its volume and
//! its outline, and does not cross itself.
//!
//! Data flow: a joint's weights on the bind surface -> [`Neighbourhood`] (the surface around it, its radius, geodesic
//! distances) -> [`Region`] (which points move, the systems of one joint, shared by its poses) -> [`relax`] with a
//! [`Posed`] surface, or [`relax_sweep`] with several in a row -> [`Relaxed`] -> [`Metrics`] before and after.
//! [`push_out()`] resolves the contacts alone.
//!
//! The energy is as-rigid-as-possible (Sorkine & Alexa 2007) with smoothed rotations (Levi & Gotsman 2015), on the
//! surface alone; beside it stand the volume of the region, contacts of the surface with itself, and the outline of the
//! skinned shape where the skin is stretched.
//!
//! Invariant: the same input gives the same bits for any number of threads.
//! Invariant: held points stay where skinning put them.
//! Invariant: a rotated and moved pose gives the rotated and moved shape, up to rounding.

mod coarse;
mod contact;
mod crossing;
mod energy;
mod metrics;
mod neighbourhood;
mod outline;
mod posed;
mod push_out;
mod region;
mod settings;
mod solve;
mod surface;
mod sweep;
mod volume;
mod winding;

pub use coarse::Coarse;
pub use metrics::{BoneAxes, Metrics};
pub use neighbourhood::{Bending, Neighbourhood, NeighbourhoodError};
pub use posed::Posed;
pub use push_out::push_out;
pub use region::{REACHES, Region};
pub use settings::RelaxSettings;
pub use solve::{Relaxed, Start, relax};
pub use surface::Surface;
pub use sweep::{SNAP, relax_sweep};
