//! One operation after another on a snapshot, as one edit.

use crate::document::rig::RigEdit;
use crate::document::{Document, Edit};
use crate::rig::{Operation, Report};
use crate::skeleton::JointId;
use crate::task::Task;

/// Most reasons in one message.
const MOST_REASONS: usize = 2;

/// What a run did.
pub(super) struct Done {
    /// The edit of the document before it.
    pub(super) edit: RigEdit,
    /// One report for each step that was done.
    pub(super) reports: Vec<Report>,
    /// New joints that are still there.
    pub(super) made: Vec<JointId>,
    /// Why some of the steps were not done.
    pub(super) left_out: Vec<String>,
}

/// What a run did, or why it did nothing.
pub(super) type Outcome = Result<Done, String>;

/// Runs `operations` one after another on a copy of `base`. Steps that are refused are left out, unless all are.
pub(super) fn run(base: &Document, operations: &[Operation], task: &Task) -> Outcome {
    let mut document = base.clone();
    let (mut steps, mut reports) = (Vec::new(), Vec::new());
    let (mut made, mut refused) = (Vec::new(), Vec::new());
    let n = operations.len().max(1) as f32;
    for (i, operation) in operations.iter().enumerate() {
        let fraction = i as f32 / n;
        task.step("Computing the bones", fraction)
            .map_err(|cancelled| cancelled.to_string())?;
        let done = match operation.run(&document, task) {
            Ok(done) => done,
            Err(why) => {
                task.check().map_err(|cancelled| cancelled.to_string())?;
                refused.push(why.to_string());
                continue;
            }
        };
        let mut after = document.clone();
        if let Err(why) = after.apply(&mut Edit::Rig(Box::new(done.edit.clone()))) {
            refused.push(why.to_string());
            continue;
        }
        task.step("Measuring the clips", fraction + 0.5 / n)
            .map_err(|cancelled| cancelled.to_string())?;
        reports.push(Report::new(operation, &done, &document, &after));
        made.extend(done.made);
        steps.push(done.edit);
        document = after;
    }
    if steps.is_empty() {
        return Err(refused
            .into_iter()
            .next()
            .unwrap_or_else(|| "Select a bone first.".into()));
    }
    made.retain(|&joint| document.skeleton().is_live(joint));
    let n_more = refused.len().saturating_sub(MOST_REASONS);
    refused.truncate(MOST_REASONS);
    if n_more > 0 {
        refused.push(format!("{n_more} more were left out."));
    }
    let edit = match steps.len() {
        // As the operation made it.
        1 => steps.remove(0),
        _ => RigEdit::of_steps(base, &document, &steps),
    };
    Ok(Done {
        edit,
        reports,
        made,
        left_out: refused,
    })
}
