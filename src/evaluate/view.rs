//! Which stacks to look at.

use crate::deform::StackChoice;

/// Names a view of the model: one stack that it is evaluated under. Pictures may share a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ViewId(pub u32);

impl ViewId {
    /// The document's own stacks.
    pub const OWN: Self = Self(0);
}

/// One view to evaluate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ViewRequest {
    /// Its name in the result.
    pub view: ViewId,
    /// What its meshes deform by.
    pub stack: StackChoice,
    /// Plain dual quaternion skinning in its place, with what it does about scale.
    pub plain: bool,
}

impl ViewRequest {
    /// The document's own stacks.
    pub fn own() -> Self {
        Self::default()
    }
}
