//! Views: the stacks under which a document is evaluated.

use crate::deform::{BodyChoice, StackChoice};

/// The id of a view: of a stack under which the model is evaluated. Several panes may show one view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ViewId(pub u32);

impl ViewId {
    /// The document's own stacks.
    pub const OWN: Self = Self(0);
}

/// One view to evaluate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ViewRequest {
    /// Its id in the result.
    pub view: ViewId,
    /// The stack of its meshes.
    pub stack: StackChoice,
    /// Use plain dual quaternion skinning instead, with the treatment of scale of that stack.
    pub plain: bool,
}

impl ViewRequest {
    /// The document's own stacks.
    pub fn own() -> Self {
        Self::default()
    }

    /// The body that it asks for; `None`: that of the document.
    pub fn body(&self) -> Option<BodyChoice> {
        match self.stack {
            StackChoice::Body(body) => Some(body),
            _ => None,
        }
    }

    /// Whether corrective samples are applied: on the project's own stacks, and on a kept copy of one. A preset shows
    /// its stages alone.
    pub fn shows_correctives(&self) -> bool {
        self.shows_clusters() || !self.plain && self.stack == StackChoice::WithoutClusters
    }

    /// Whether control clusters are applied: where corrective samples are, unless they are left out.
    pub fn shows_clusters(&self) -> bool {
        !self.plain
            && matches!(
                self.stack,
                StackChoice::Project | StackChoice::Custom(_) | StackChoice::Body(_)
            )
    }
}
