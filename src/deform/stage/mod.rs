//! The stages of the deformer stack, one file each: what a stage depends on (its key), what it keeps (its cache), and
//! what changed in the shape that it passes on.
//!
//! Data flow of a run: [`MorphTargets`] (stage 1) and [`PosedSkin`] (palette and bones of the pose) come first, because
//! later stages read both. Then each stage in the table of [`Stages`] takes the shape of the stage before it and what
//! [`Changed`] in it, and passes its own on. [`Normals`] (stage 10) come last.
//!
//! Stages 2 to 5 run in one pass ([`skinning_pass`]), in which a chunk of 1024 points goes through all four before the
//! next one does: the points stay in the first-level cache, and stages 4 and 5 load and store a point once for both.
//! Each of the four has its own key all the same. So has stage 7, which runs in that pass, too, unless stage 6 lies between.
//!
//! Where control clusters follow, [`sparse_skinning`] runs stages 2 to 5 in its place, of the points that are read.
//!
//! A further stage is one file with an `impl Stage`, and one line of that table.
//!
//! Invariant: a stage recomputes a point where its key, the shape before it or that point's rows and painted maps have
//! changed; so an incremental run has the bits of a full one.
//! Invariant: a stage that does not act keeps no memory.
//! Invariant: from the third run on, a run that changes nothing but the pose allocates nothing.

mod bulge_corrections;
mod changed;
mod clusters;
mod compensation;
mod corrective_smooth;
mod gathered;
mod inflation;
mod key;
mod left_out;
mod morph_targets;
mod node_motion;
mod normals;
mod pose_space;
mod pose_space_stage;
mod posed_skin;
mod projection;
mod run;
mod skinning;
mod skinning_pass;
mod sparse_skinning;
mod table;

pub(super) use changed::Changed;
pub use compensation::falloff_of_pairs;
pub(super) use inflation::inflate_shape;
pub(super) use morph_targets::MorphTargets;
pub(super) use normals::{ChangedNormals, Normals};
pub(super) use posed_skin::PosedSkin;
pub(super) use run::Run;
pub(super) use table::Stages;
