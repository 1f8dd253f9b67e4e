//! Dependency cycles of constraints, as a file can have them.

use crate::document::Document;
use crate::finding::Finding;
use crate::skeleton::constraint::Closing;

/// A finding for each cycle.
pub fn of_constraints(document: &Document) -> Vec<Finding> {
    let cycles = document.constraint_cycles().iter();
    let finding = |closing: &Closing| {
        let cycle = &closing.cycle;
        let message = format!(
            "{cycle} That is a dependency cycle: the constraint that closes it does not act."
        );
        Finding::warning("constraints", message)
    };
    cycles.map(finding).collect()
}
