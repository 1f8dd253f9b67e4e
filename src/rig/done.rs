//! What an operation returns.

use crate::document::rig::RigEdit;
use crate::skeleton::JointId;

/// What an operation did.
#[derive(Clone, Debug)]
pub struct Done {
    /// The edit: one step of undo.
    pub edit: RigEdit,
    /// New joints.
    pub made: Vec<JointId>,
    /// What the artist should know, in sentences.
    pub notes: Vec<String>,
}

impl Done {
    /// An edit without new joints and notes.
    pub(super) fn of(edit: RigEdit) -> Self {
        Self {
            edit,
            made: Vec::new(),
            notes: Vec::new(),
        }
    }
}
