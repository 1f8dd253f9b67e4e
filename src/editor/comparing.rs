//! The comparison stacks: state of the split and wipe views.

use super::Editor;
use crate::deform::StackChoice;
use crate::document::Compare;

impl Editor {
    /// The comparison state: panes, choices and the wipe.
    pub fn compare(&self) -> &Compare {
        &self.document.session().compare
    }

    /// Mutable access to the comparison state.
    pub fn compare_mut(&mut self) -> &mut Compare {
        &mut self.document.session_mut().compare
    }

    /// The current stack as a fixed choice, for comparison after later changes: the one that Properties shows.
    pub fn stack_to_keep(&self) -> Option<StackChoice> {
        Some(StackChoice::Custom(self.stack()?.clone()))
    }

    /// Makes a copy of the current stack the comparison stack.
    pub fn keep_stack_as_before(&mut self) {
        if let Some(kept) = self.stack_to_keep() {
            self.compare_mut().before = kept;
        }
    }
}
