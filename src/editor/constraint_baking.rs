//! Bakes the constraints into the clips: one job on the lane and one undo step.

use super::files::SnapshotRevision;
use super::jobs::EditorJob;
use super::{Editor, FileJob};
use crate::document::constraint_keys::LARGEST_DEGREES;
use crate::document::rig::KEY_TOLERANCE;
use crate::document::{ConstraintKeys, ConstraintsEdit, Document, Edit};
use crate::finding::counted;
use crate::skeleton::constraint::set_channels;
use crate::skeleton::{Clip, RigidInterpolation};
use crate::task::{Cancelled, Task};
use std::sync::Arc;

/// The label of the undo step.
const LABEL: &str = "Bake constraints to keyframes";

impl Editor {
    /// Whether a constraint acts and there is a clip for its keyframes.
    pub fn can_bake_constraints(&self) -> bool {
        self.document.evaluator().is_some() && !self.document.clips().is_empty()
    }

    /// Starts to make keyframes of what the constraints of all bones do to all clips: once they are computed, one undo step,
    /// which also mutes the constraints and leaves the artist's pose as it is shown.
    pub fn bake_constraints(&mut self) {
        if !self.can_bake_constraints() || !self.can_start_file_job() {
            return;
        }
        let mut clips = self.document.clips().values();
        let screw = clips.find(|clip| clip.rigid_interpolation != RigidInterpolation::Components);
        if let Some(clip) = screw {
            let why = format!(
                "The clip \"{}\" has screw interpolation, in which single channels cannot be baked. Set its interpolation to \
                 Components first. Exports need no baking.",
                clip.name
            );
            self.notify(why);
            return;
        }
        self.finish_tool();
        let document = self.document.clone();
        let job = self.lane.submit(EditorJob::Fix, LABEL, move |task| {
            // Of a cancelled job nothing is used.
            baked(&document, task).map_err(|Cancelled| "It was cancelled.".to_owned())
        });
        self.job = Some(FileJob::Samples {
            label: LABEL,
            revision: SnapshotRevision::WithPose(self.history.revision()),
            job,
        });
    }
}

/// The edits, and what they do.
fn baked(document: &Document, task: &Task) -> Result<(Vec<Edit>, String), Cancelled> {
    let mut edits = Vec::new();
    let (mut n_keys, mut worst) = (0, 0.0f64);
    if let Some(keys) = ConstraintKeys::of(document) {
        let n_clips = document.clips().len();
        for (i, (&id, clip)) in document.clips().iter().enumerate() {
            task.step("Baking", i as f32 / n_clips as f32)?;
            let made = keys.baked(clip, task)?;
            worst = worst.max(made.worst);
            n_keys += made.channels.iter().map(|c| c.times.len()).sum::<usize>();
            if !made.channels.is_empty() {
                let mut clip = Clip::clone(clip);
                set_channels(&mut clip, made.channels);
                let clip = Some(Arc::new(clip));
                edits.push(Edit::Clip { id, clip });
            }
        }
    }
    let shown = document.constrained(document.pose().clone());
    edits.extend(Edit::pose_change(document.pose(), &shown));
    for (&joint, list) in document.constraints().iter() {
        let mut list = list.clone();
        for constraint in list.iter_mut().filter(|c| c.acts()) {
            constraint.is_muted = true;
        }
        if list != document.constraints_of(joint) {
            edits.push(Edit::Constraints(ConstraintsEdit { joint, list }));
        }
    }
    let mut message = format!(
        "The constraints became {} and are muted.",
        counted(n_keys, "keyframe")
    );
    if worst > 1.0 {
        let off = format!(
            " Where a bone moves fastest, they are off by up to {worst:.1} times {LARGEST_DEGREES}° or {} % of the model's size.",
            100.0 * KEY_TOLERANCE
        );
        message.push_str(&off);
    }
    Ok((edits, message))
}
