//! Operations on the rig, for the window and the command line.
//!
//! Data flow: an [`Operation`] and a document -> [`Operation::run`]: one [`RigEdit`](crate::document::rig::RigEdit), the new
//! joints and notes ([`Done`]) -> [`Report::new`] measures it on the poses, before the edit is applied. What an operation
//! does to joints, clips and inverse bind matrices is in [`crate::document::rig`]; this folder adds what needs more than one
//! step there: weights, roles, and the choice of defaults.
//!
//! A motion of another skeleton becomes a clip of a document's [`Character`].
//!
//! Invariant: an operation never changes the document; what it returns is one step of undo.
//! Invariant: a refusal is one sentence that names the joint, and leaves nothing half done.

mod bind;
mod bone;
mod centre;
mod done;
mod layers;
mod levels;
mod motion;
mod operation;
mod parent;
mod pin;
mod plan;
mod remove;
mod report;
mod roll;
mod side;
mod template;
mod twist;
mod unbind;

pub use done::Done;
pub use motion::{AddMotionError, AddedMotion, Character, samples, skinned_joints};
pub use operation::Operation;
pub use report::Report;
pub use template::Template;
