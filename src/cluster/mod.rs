//! The Control Cluster Method (Bukatov, Gridchina & Zastavnoy 2014): what moves clusters of vertices beside the skin.
//!
//! Data flow: bones, time and channels -> [`procedural`] (muscles, drivers) and [`channel`] (recorded markers and scalars)
//! -> displacements or places of clusters, added to the skinned shape; [`lattice`] and [`cage`] move them by control
//! points.
//!
//! Invariant: everything here is plain numbers in, plain numbers out; the same input gives the same bits for any number
//! of threads.
//! Invariant: at bind no procedural displacement moves anything, unless a rest offset was asked for.

pub mod cage;
pub mod channel;
mod check;
pub mod fade;
pub mod lattice;
pub mod procedural;
pub mod signal;
