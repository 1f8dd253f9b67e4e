//! Constraints of a project that the model has no place for: they do not act, and the project keeps them.

use crate::skeleton::JointId;
use std::sync::Arc;

/// A constraint that the model has no joint for, or that its joint cannot have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnplacedConstraint {
    /// The name of its rule.
    pub rule: &'static str,
    /// The name of its joint in the project.
    pub bone: String,
    /// Its joint, where the model has it.
    pub joint: Option<JointId>,
    /// Why it does not act: the end of a sentence.
    pub why: String,
    /// The constraint as an entry of the project, to be saved again.
    pub entry: Arc<str>,
}

impl UnplacedConstraint {
    /// What is said of it: a sentence.
    pub fn message(&self) -> String {
        format!(
            "“{}” does not act: {}. The project keeps it.",
            self.rule, self.why
        )
    }
}
