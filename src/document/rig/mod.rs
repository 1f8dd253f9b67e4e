//! Changes of the joints: adding, moving, turning, reparenting and removing them without losing mesh, weights or clips.
//!
//! Data flow: an operation ([`extrude`], [`insert`], [`move_joint`], [`orient`], [`reparent`], [`remove`]) changes a scratch
//! copy of the document; [`RigEdit::between`] collects what differs; [`crate::document::Edit::Rig`] exchanges it as one
//! step. [`RigReport`] measures what it does to the poses.
//!
//! Invariant: joint frames change by `W' = W C`, inverse bind matrices by `C^-1`, never by inverting `W`: skin matrices
//! stay as they are, also where the rest pose is not the bind pose.
//! Invariant: a `JointId` and a slot of a skin never change their meaning; new ones are appended.
//! Invariant: keys are local transforms, not offsets from rest: a rest transform changes without its clips.

mod edit;
mod error;

pub use edit::RigEdit;
pub use error::RigError;
