//! Undo and redo.

use super::session::{ActiveSample, PointsOfMeshes};
use super::{Dirty, Document, Edit, EditError, LayerId, MeshId};
use crate::mesh::PointSet;
use crate::skeleton::JointId;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// The selection, and whether the pose was keyed: restored with its undo step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Selection {
    active_joint: Option<JointId>,
    active_mesh: Option<MeshId>,
    joints: BTreeSet<JointId>,
    unkeyed: bool,
    points: PointsOfMeshes,
    layers: BTreeMap<MeshId, LayerId>,
    samples: BTreeMap<MeshId, ActiveSample>,
    groups: [BTreeMap<MeshId, u16>; 2],
}

impl Selection {
    fn of(document: &Document) -> Self {
        let session = document.session();
        Self {
            active_joint: session.active_joint,
            active_mesh: session.active_mesh,
            joints: session.selected_joints.clone(),
            unkeyed: session.playback.unkeyed,
            points: session.selected_points.clone(),
            layers: session.active_layers.clone(),
            samples: session.active_samples.clone(),
            groups: [&session.active_groups, &session.isolated_groups].map(Clone::clone),
        }
    }

    /// `with_pose`: the step changed the pose, so the step restores whether it was keyed. Otherwise the time may have
    /// changed since.
    fn restore(&self, document: &mut Document, with_pose: bool) {
        let session = document.session_mut();
        if with_pose {
            session.playback.unkeyed = self.unkeyed;
        }
        session.active_joint = self.active_joint;
        session.active_mesh = self.active_mesh;
        session.selected_joints.clone_from(&self.joints);
        session.selected_points.clone_from(&self.points);
        session.active_layers.clone_from(&self.layers);
        session.active_samples.clone_from(&self.samples);
        let [active, isolated] = self.groups.clone();
        (session.active_groups, session.isolated_groups) = (active, isolated);
        // Hidden items stay hidden, and hidden or removed items are never selected.
        session.deselect_hidden();
        let skeleton = document.skeleton().clone();
        document.session_mut().follow_skeleton(&skeleton);
    }

    /// Bytes of the point sets that are not shared with `other`.
    fn bytes_beside(&self, other: &Self) -> usize {
        let shared = |(mesh, set): &(&MeshId, &Arc<PointSet>)| {
            other.points.get(mesh).is_some_and(|s| Arc::ptr_eq(s, set))
        };
        let own = self.points.iter().filter(|entry| !shared(entry));
        own.map(|(_, set)| set.heap_bytes()).sum()
    }
}

impl Step {
    /// Whether undo and redo of the step change the pose on screen.
    fn poses(&self) -> bool {
        self.before.unkeyed != self.after.unkeyed || self.edits.iter().any(Edit::is_pose)
    }
}

/// What a setting step changed: its name, and the mesh if it applies to that mesh only.
pub type Setting = (&'static str, Option<MeshId>);

/// One undo step: edits that were made together.
#[derive(Clone, Debug)]
struct Step {
    label: String,
    /// The setting that it changed; consecutive changes of one setting are one step.
    setting: Option<Setting>,
    /// In the order of application; each holds the state before it (undo) or after it (redo).
    edits: Vec<Edit>,
    before: Selection,
    after: Selection,
    bytes: usize,
}

/// The steps that can be undone and redone, bounded in bytes.
#[derive(Clone, Debug)]
pub struct History {
    undo: VecDeque<Step>,
    redo: Vec<Step>,
    open: Option<Step>,
    bytes: usize,
    limit_bytes: usize,
    n_dropped: usize,
    /// Steps applied minus steps undone since the start; compared with the saved position to tell whether the document
    /// is modified.
    position: i64,
    saved_position: Option<i64>,
    revision: u64,
    /// As `revision`, without changes of the pose alone.
    revision_but_for_poses: u64,
}

impl Default for History {
    fn default() -> Self {
        Self::with_limit(256 << 20)
    }
}

impl History {
    /// An empty history that keeps at most `limit_bytes` of payload (and always the newest step).
    pub fn with_limit(limit_bytes: usize) -> Self {
        Self {
            undo: VecDeque::new(),
            redo: Vec::new(),
            open: None,
            bytes: 0,
            limit_bytes,
            n_dropped: 0,
            position: 0,
            saved_position: Some(0),
            revision: 0,
            revision_but_for_poses: 0,
        }
    }

    /// Number of steps between the saved state and this one; `None` where the saved state can no longer be reached.
    pub fn n_unsaved_steps(&self) -> Option<u64> {
        self.saved_position
            .map(|saved| saved.abs_diff(self.position))
    }

    /// Opens a step with a label as the user reads it: "Paint weights". Commits a step that is still open.
    pub fn begin(&mut self, document: &Document, label: &str) {
        self.commit(document);
        let selection = Selection::of(document);
        self.open = Some(Step {
            label: label.to_owned(),
            setting: None,
            edits: Vec::new(),
            before: selection.clone(),
            after: selection,
            bytes: 0,
        });
    }

    /// [`History::begin`] of a step that changes `setting`. Changed again right afterwards, it stays one step with the
    /// newer label; the step disappears once the state is the one before it.
    pub fn begin_setting(&mut self, document: &Document, label: &str, setting: Setting) {
        self.begin(document, label);
        if let Some(step) = &mut self.open {
            step.setting = Some(setting);
        }
    }

    /// Gives the open step another label.
    pub fn name_step(&mut self, label: impl Into<String>) {
        if let Some(step) = &mut self.open {
            step.label = label.into();
        }
    }

    /// Number of points whose weights the open step changes.
    pub fn n_open_points(&self) -> usize {
        let edits = self.open.iter().flat_map(|step| &step.edits);
        edits.map(Edit::n_points).sum()
    }

    /// Whether a step is open.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Applies an edit inside the open step and folds it into one of the step's edits where both change the same thing.
    /// Without an open step the edit becomes a step of its own, labelled `label`. On `Err` nothing changed.
    pub fn apply(
        &mut self,
        document: &mut Document,
        mut edit: Edit,
        label: &str,
    ) -> Result<Dirty, EditError> {
        if self.open.is_none() {
            let single = Selection::of(document);
            let dirty = document.apply(&mut edit)?;
            self.revise(std::slice::from_ref(&edit));
            self.open = Some(Step {
                label: label.to_owned(),
                setting: None,
                edits: vec![edit],
                before: single.clone(),
                after: single,
                bytes: 0,
            });
            self.commit(document);
            return Ok(dirty);
        }
        let dirty = document.apply(&mut edit)?;
        self.revise(std::slice::from_ref(&edit));
        if let Some(step) = &mut self.open {
            // A drag may change several things in alternation, such as the stacks of all objects. Edits of different
            // things commute, except for layers and what is painted on them.
            let mut rest = Some(edit);
            for earlier in step.edits.iter_mut().rev() {
                rest = rest.and_then(|edit| earlier.absorb(edit));
                if rest.as_ref().is_none_or(|edit| !earlier.commutes(edit)) {
                    break;
                }
            }
            step.edits.extend(rest);
        }
        Ok(dirty)
    }

    /// Commits the open step. A step without edits is discarded.
    pub fn commit(&mut self, document: &Document) {
        let Some(mut step) = self.open.take() else {
            return;
        };
        if step.edits.is_empty() {
            return;
        }
        step.edits.iter_mut().for_each(Edit::seal);
        step.after = Selection::of(document);
        step = self.fold_setting(document, step);
        step.bytes = step.edits.iter().map(Edit::heap_bytes).sum::<usize>()
            + step.label.len()
            + size_of::<Step>()
            + self
                .undo
                .back()
                .map_or(0, |previous| step.before.bytes_beside(&previous.after))
            + step.after.bytes_beside(&step.before);
        for undone in self.redo.drain(..) {
            self.bytes -= undone.bytes;
            // The saved state was on the redo branch that is discarded now.
            if self
                .saved_position
                .is_some_and(|saved| saved > self.position)
            {
                self.saved_position = None;
            }
        }
        if step.edits.is_empty() {
            return;
        }
        self.bytes += step.bytes;
        self.position += 1;
        self.undo.push_back(step);
        while self.bytes > self.limit_bytes && self.undo.len() > 1 {
            if let Some(oldest) = self.undo.pop_front() {
                self.bytes -= oldest.bytes;
                self.n_dropped += 1;
            }
        }
    }

    /// `step` with the newest step, which is removed, folded in, where both change the same setting. It has no edits
    /// where the document is as before both.
    fn fold_setting(&mut self, document: &Document, mut step: Step) -> Step {
        let is_saved = self.saved_position == Some(self.position);
        let newest = self.undo.back().filter(|newest| {
            newest.setting.is_some() && newest.setting == step.setting && !is_saved
        });
        if newest.is_none() {
            return step;
        }
        let Some(mut folded) = self.undo.pop_back() else {
            return step;
        };
        self.bytes -= folded.bytes;
        self.position -= 1;
        for later in step.edits.drain(..) {
            let mut rest = Some(later);
            for edit in &mut folded.edits {
                rest = rest.and_then(|later| edit.absorb(later));
            }
            folded.edits.extend(rest);
        }
        folded.edits.retain(|edit| !edit.is_in(document));
        folded.label = step.label;
        folded.after = step.after;
        folded
    }

    /// Cancels the open step: the document is as before [`History::begin`].
    pub fn cancel(&mut self, document: &mut Document) -> Dirty {
        let Some(mut step) = self.open.take() else {
            return Dirty::default();
        };
        self.revise(&step.edits);
        step.before.restore(document, true);
        revert(document, &mut step.edits)
    }

    /// Undoes the newest step (an open one is committed first). `None`: there is nothing to undo.
    pub fn undo(&mut self, document: &mut Document) -> Option<Dirty> {
        self.commit(document);
        let mut step = self.undo.pop_back()?;
        let dirty = revert(document, &mut step.edits);
        step.before.restore(document, step.poses());
        self.position -= 1;
        self.revise(&step.edits);
        self.redo.push(step);
        Some(dirty)
    }

    /// Undoes and discards the newest step, so that it cannot be redone. `None`: there is none.
    pub fn drop_newest(&mut self, document: &mut Document) -> Option<Dirty> {
        self.commit(document);
        let mut step = self.undo.pop_back()?;
        let dirty = revert(document, &mut step.edits);
        step.before.restore(document, step.poses());
        self.bytes -= step.bytes;
        // The state that was saved after it can no longer be reached.
        if self.saved_position == Some(self.position) {
            self.saved_position = None;
        }
        self.position -= 1;
        self.revise(&step.edits);
        Some(dirty)
    }

    /// Redoes the step that was undone last. `None`: there is nothing to redo.
    pub fn redo(&mut self, document: &mut Document) -> Option<Dirty> {
        self.commit(document);
        let mut step = self.redo.pop()?;
        let mut dirty = Dirty::default();
        for edit in &mut step.edits {
            dirty.merge(document.exchange(edit));
        }
        step.after.restore(document, step.poses());
        self.position += 1;
        self.revise(&step.edits);
        self.undo.push_back(step);
        Some(dirty)
    }

    /// Undoes or redoes until `n_done` of the kept steps are done; an open step is committed first. Returns what is
    /// stale.
    pub fn jump(&mut self, document: &mut Document, n_done: usize) -> Dirty {
        self.commit(document);
        let mut dirty = Dirty::default();
        while self.undo.len() > n_done {
            let Some(stale) = self.undo(document) else {
                break;
            };
            dirty.merge(stale);
        }
        while self.undo.len() < n_done {
            let Some(stale) = self.redo(document) else {
                break;
            };
            dirty.merge(stale);
        }
        dirty
    }

    /// The labels of all kept steps, the oldest first; the first [`History::n_undo`] of them are done.
    pub fn labels(&self) -> impl ExactSizeIterator<Item = &str> + DoubleEndedIterator {
        let n_undo = self.undo.len();
        (0..self.n_steps()).map(move |i| {
            let step = if i < n_undo {
                &self.undo[i]
            } else {
                &self.redo[self.redo.len() - 1 - (i - n_undo)]
            };
            step.label.as_str()
        })
    }

    /// The number of kept steps, done or undone.
    pub fn n_steps(&self) -> usize {
        self.undo.len() + self.redo.len()
    }

    /// How many of the kept steps were done when the document was saved; `None` where that state cannot be reached.
    pub fn saved_step(&self) -> Option<usize> {
        let oldest = self.position - self.undo.len() as i64;
        let saved = usize::try_from(self.saved_position? - oldest).ok()?;
        (saved <= self.n_steps()).then_some(saved)
    }

    /// The label of the step that the next undo reverts.
    pub fn undo_label(&self) -> Option<&str> {
        self.undo.back().map(|step| step.label.as_str())
    }

    /// The label of the step that the next redo applies.
    pub fn redo_label(&self) -> Option<&str> {
        self.redo.last().map(|step| step.label.as_str())
    }

    /// The number of steps that can be undone.
    pub fn n_undo(&self) -> usize {
        self.undo.len()
    }

    /// The number of oldest steps that were dropped to stay within the limit.
    pub fn n_dropped(&self) -> usize {
        self.n_dropped
    }

    /// Bytes of payload that are kept.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The limit of the payload, bytes.
    pub fn limit_bytes(&self) -> usize {
        self.limit_bytes
    }

    /// Marks the present state as the saved one.
    pub fn mark_saved(&mut self) {
        self.saved_position = Some(self.position);
    }

    /// Marks that no state is the saved one: the document was recovered.
    pub fn mark_unsaved(&mut self) {
        self.saved_position = None;
    }

    /// Whether the document differs from the saved one.
    pub fn is_modified(&self) -> bool {
        self.saved_position != Some(self.position)
            || self
                .open
                .as_ref()
                .is_some_and(|step| !step.edits.is_empty())
    }

    /// A number that grows with every change, undo and redo; autosave compares it.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// As [`History::revision`], but changes of the artist's pose alone do not count; for caches that do not depend on
    /// the pose.
    pub fn revision_but_for_poses(&self) -> u64 {
        self.revision_but_for_poses
    }

    fn revise(&mut self, edits: &[Edit]) {
        self.revision += 1;
        self.revision_but_for_poses += u64::from(!edits.iter().all(Edit::is_pose));
    }
}

fn revert(document: &mut Document, edits: &mut [Edit]) -> Dirty {
    let mut dirty = Dirty::default();
    for edit in edits.iter_mut().rev() {
        dirty.merge(document.exchange(edit));
    }
    dirty
}
