//! Dependency cycles of constraints, as a file can have them, and constraints that have no place in the model.

use crate::document::{Document, UnplacedConstraint};
use crate::finding::{Finding, Fix, Place};
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

/// A finding for each constraint that the project keeps without a place in the model.
pub fn of_kept_constraints(document: &Document) -> Vec<Finding> {
    let kept = (0..).zip(document.unplaced_constraints().iter());
    kept.map(|(index, kept)| of_kept_constraint(index, kept))
        .collect()
}

/// The finding for a constraint that the project keeps, by its index.
pub fn of_kept_constraint(index: u32, kept: &UnplacedConstraint) -> Finding {
    Finding::warning(
        format!("constraints of bone \"{}\"", kept.bone),
        kept.message(),
    )
    .at(Place::KeptConstraint(index))
    .fixed_by(Some(Fix::DeleteConstraint))
}
