//! Constraints that follow each other in a circle, as a file can have them.

use crate::document::Document;
use crate::finding::Finding;
use crate::skeleton::constraint::Closing;

/// A finding for each circle.
pub fn of_constraints(document: &Document) -> Vec<Finding> {
    let cycles = document.constraint_cycles().iter();
    let finding = |closing: &Closing| {
        let cycle = &closing.cycle;
        let message = format!("{cycle} The constraint that closes the circle does not act.");
        Finding::warning("constraints", message)
    };
    cycles.map(finding).collect()
}
