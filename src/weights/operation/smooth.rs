//! Smooths weights over the surface.

use super::surroundings::Surroundings;
use super::{OperationError, Outcome, Subject, share};
use crate::task::Task;

/// Averages each point with its neighbours, weighted by inverse distance, the given number of iterations. Joints spread
/// to neighbours that did not have them.
pub(super) fn run(
    iterations: u32,
    strength: f32,
    subject: &Subject<'_>,
    task: &Task,
) -> Result<Outcome, OperationError> {
    share(strength, "The strength")?;
    if !(1..=500).contains(&iterations) {
        return Err(OperationError::Refused(format!(
            "The number of iterations must be 1 - 500, not {iterations}."
        )));
    }
    task.step("Smoothing", 0.0)?;
    let points = subject.scope().collect();
    let mut field = Surroundings::new(subject, points, task)?;
    if strength > 0.0 {
        for i in 0..iterations {
            task.step("Smoothing", i as f32 / iterations as f32)?;
            field.pass(strength, |_| true, |_| true, task)?;
        }
    }
    field.outcome("Smoothing", |_| None, Vec::new(), task)
}
