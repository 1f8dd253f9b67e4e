//! Adding a constraint to a joint, as an edit of the rig.

use super::{RigEdit, RigError, check_live};
use crate::document::{ConstraintsEdit, Document, Edit};
use crate::skeleton::JointId;
use crate::skeleton::constraint::Constraint;

/// The edit that adds a constraint to a joint, after those that it has. Fails where the joint cannot have it, and for a
/// dependency cycle.
pub fn add_constraint(
    document: &Document,
    joint: JointId,
    constraint: &Constraint,
) -> Result<RigEdit, RigError> {
    check_live(document, joint)?;
    let mut changed = document.clone();
    constrain(&mut changed, joint, constraint.clone())?;
    Ok(RigEdit::between(document, &changed))
}

/// Adds a constraint to a joint of a scratch copy.
pub(super) fn constrain(
    changed: &mut Document,
    joint: JointId,
    constraint: Constraint,
) -> Result<(), RigError> {
    let mut list = changed.constraints_of(joint).to_vec();
    list.push(constraint);
    changed.apply(&mut Edit::Constraints(ConstraintsEdit { joint, list }))?;
    Ok(())
}
