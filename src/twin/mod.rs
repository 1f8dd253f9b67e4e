//! The digital twin: a template body that takes the measurements of a person.
//!
//! Data flow: a table of [`Measurement`]s ([`table`]) and a [`Body`] (the skinned meshes of a skeleton at rest, with its
//! template measures, [`template`]) -> [`plan`] (the joints of each row) -> [`mod@fit`]: height, lengths, trunk, girths by
//! fixed point, ground -> [`Fitted`], which places joints and points, and [`bind`], the new rest transforms, inverse bind
//! matrices, displacements and keyframes.
//!
//! A bone b scales by `S_b = sG 1 + (sL - sG) u u^T` about its head, u its direction at rest; a point moves by
//! `v' = sum_b w_b (S_b (v - a_b) + a'_b)`, joints by `a'_child = a'_parent + S_parent (a_child - a_parent)`.
//!
//! Invariant: the template is never changed; an empty table gives the identity.
//! Invariant: the same bits for any number of threads.
//! Invariant: every refusal is a sentence that names its row.

pub mod bind;
mod body;
mod bones;
mod error;
mod factor;
pub mod fit;
mod flipped;
mod measurement;
pub mod normals;
pub mod plan;
mod report;
pub mod scan;
mod section;
pub mod suggest;
pub mod table;
mod tapes;
pub mod template;

pub use body::{Body, SkinnedShape};
pub use bones::BoneLine;
pub use error::TwinError;
pub use factor::BoneFactor;
pub use fit::{Fitted, fit};
pub use measurement::{FitOptions, FlippedFaces, Kind, MeasuredSide, Measurement, Sides, Unit};
pub use report::{FitReport, FittedRow};
pub use tapes::Tape;
