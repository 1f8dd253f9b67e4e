//! What the artist compares the project's stacks with.

use super::Editor;
use crate::deform::StackChoice;
use crate::document::Compare;

impl Editor {
    /// Panes, choices and the wipe.
    pub fn compare(&self) -> &Compare {
        &self.document.session().compare
    }

    /// The same, to change.
    pub fn compare_mut(&mut self) -> &mut Compare {
        &mut self.document.session_mut().compare
    }

    /// The stack as it is now, to look at when it has changed: the one that Properties show.
    pub fn stack_to_keep(&self) -> Option<StackChoice> {
        Some(StackChoice::Custom(self.stack()?.clone()))
    }

    /// Makes the stack as it is now what is shown as "before".
    pub fn keep_stack_as_before(&mut self) {
        if let Some(kept) = self.stack_to_keep() {
            self.compare_mut().before = kept;
        }
    }
}
