//! A constraint that acts, with what its evaluation needs in every frame.

use super::kind::{Constraint, Rule};
use crate::skeleton::JointId;
use crate::skeleton::ik::BendSide;

/// A constraint that acts, in the order of the evaluation.
#[derive(Clone, Debug)]
pub(super) struct Act {
    pub(super) joint: JointId,
    pub(super) constraint: Constraint,
    /// Whether the influence begins at the rest rotation: the first constraint of a joint that changes its rotation, where it
    /// gives one of its own. Later ones begin at the result of the earlier.
    pub(super) from_rest: bool,
    /// The joints that a reach bends, the uppermost first, its own last.
    pub(super) bent: Vec<JointId>,
    /// Which way a reach bends them where they are straight.
    pub(super) side: BendSide,
}

impl Act {
    /// What it changes of a local transform.
    pub(super) fn part(&self) -> ChangedPart {
        match self.constraint.rule {
            Rule::CopyLocation { .. } => ChangedPart::Translation,
            Rule::CopyScale { .. } => ChangedPart::Scale,
            _ => ChangedPart::Rotation,
        }
    }

    /// The joints whose local transforms it changes.
    pub(super) fn changed(&self) -> impl Iterator<Item = JointId> + '_ {
        let bends = self.bent.len() > 1;
        let last = self.bent.len() - usize::from(bends);
        // The end of a reach keeps its own rotation.
        self.bent[..last].iter().copied()
    }
}

/// A part of a local transform that constraints change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangedPart {
    /// The translation.
    Translation,
    /// The rotation.
    Rotation,
    /// The stretch.
    Scale,
}
