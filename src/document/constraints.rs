//! The constraints of joints: where poses meet them, and the edit of a joint's list.

use super::{Dirty, Document, EditError, UnplacedConstraint};
use crate::skeleton::constraint::{Closing, Constraint, Constraints, Evaluator, Order};
use crate::skeleton::{JointId, Pose, Property, Skeleton};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A new list of constraints for one joint.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstraintsEdit {
    /// The joint that they act on.
    pub joint: JointId,
    /// Its constraints, in the order in which they act.
    pub list: Vec<Constraint>,
}

impl Document {
    /// The constraints of all joints.
    pub fn constraints(&self) -> &Arc<Constraints> {
        &self.constraints
    }

    /// The constraints as imported.
    pub fn source_constraints(&self) -> &Arc<Constraints> {
        &self.source_constraints
    }

    /// The constraints of a joint, in the order in which they act.
    pub fn constraints_of(&self, joint: JointId) -> &[Constraint] {
        self.constraints.get(&joint).map_or(&[], Vec::as_slice)
    }

    /// The constraints in the order of their evaluation; `None` where none acts.
    pub fn evaluator(&self) -> Option<&Arc<Evaluator>> {
        let evaluator = self.evaluator.as_ref();
        evaluator.filter(|evaluator| !evaluator.is_idle())
    }

    /// The dependency cycles that constraints of the source form; those that close them do not act.
    pub fn constraint_cycles(&self) -> &[Closing] {
        self.evaluator.as_ref().map_or(&[], |e| e.closing())
    }

    /// Constraints of the project that the model has no joint for, or that their joint cannot have.
    pub fn unplaced_constraints(&self) -> &Arc<Vec<UnplacedConstraint>> {
        &self.unplaced_constraints
    }

    /// Keeps further constraints, see [`Document::unplaced_constraints`].
    pub fn keep_unplaced_constraints(&mut self, further: Vec<UnplacedConstraint>) {
        if !further.is_empty() {
            Arc::make_mut(&mut self.unplaced_constraints).extend(further);
        }
    }

    pub(super) fn swap_unplaced_constraints(
        &mut self,
        list: &mut Arc<Vec<UnplacedConstraint>>,
        dirty: &mut Dirty,
    ) {
        std::mem::swap(&mut self.unplaced_constraints, list);
        dirty.joints = true;
    }

    /// Applies the constraints to a pose that has none yet: the pose of a clip, or the artist's.
    ///
    /// [`Document::shown_pose`] and [`Document::pose_of_clip`] have them already. The rest pose never has them.
    pub fn constrain(&self, pose: &mut Pose) {
        if let Some(evaluator) = self.evaluator() {
            evaluator.apply(pose);
        }
    }

    /// Whether a clip animates the influence of a constraint of `joint`.
    pub fn keys_influence(&self, joint: JointId, constraint: &Constraint) -> bool {
        constraint.keyed_as.is_some_and(|number| {
            let property = Property::Influence(number);
            let mut clips = self.clips.values();
            clips.any(|clip| clip.channel_of(joint, property).is_some())
        })
    }

    /// A number for the influence of a constraint of `joint` that neither a constraint of it nor a channel has.
    pub fn free_influence_number(&self, joint: JointId) -> Option<u16> {
        let list = self.constraints_of(joint).iter();
        let channels = self.clips.values().flat_map(|clip| &clip.channels);
        let keyed = channels.filter_map(|c| match c.property {
            Property::Influence(number) if c.joint == joint => Some(number),
            _ => None,
        });
        let taken = list.filter_map(|c| c.keyed_as).chain(keyed).max();
        taken.map_or(Some(1), |last| last.checked_add(1))
    }

    /// The document without constraints: as a player has it that knows only keyframes.
    #[must_use]
    pub fn without_constraints(mut self) -> Self {
        self.set_constraints(Arc::default());
        for clip in self
            .clips
            .values_mut()
            .filter(|clip| clip.keys_influences())
        {
            Arc::make_mut(clip).remove_influences();
        }
        self
    }

    /// The edit that gives `joint` this list; `None` where it has it.
    pub fn constraints_edit(
        &self,
        joint: JointId,
        list: Vec<Constraint>,
    ) -> Option<ConstraintsEdit> {
        (self.constraints_of(joint) != list).then_some(ConstraintsEdit { joint, list })
    }

    /// Gives joints the lists of a project, all at once, because one after another they could close cycles for a moment. Of
    /// a cycle that stays, as a source may have it, one constraint does not act ([`Document::constraint_cycles`]). Lists of
    /// removed joints and constraints that do not fit their joint are left out.
    pub fn restore_constraints(&mut self, lists: BTreeMap<JointId, Vec<Constraint>>) {
        let skeleton = self.skeleton.clone();
        let mut constraints = Constraints::clone(&self.constraints);
        for (joint, mut list) in lists {
            list.retain(|c| skeleton.is_live(joint) && c.check(joint, &skeleton).is_ok());
            if list.is_empty() {
                constraints.remove(&joint);
            } else {
                constraints.insert(joint, list);
            }
        }
        self.set_constraints(Arc::new(constraints));
    }

    pub(super) fn set_constraints(&mut self, constraints: Arc<Constraints>) {
        self.constraints = constraints;
        self.order_constraints();
    }

    /// Orders the constraints again, after joints or constraints changed.
    pub(super) fn order_constraints(&mut self) {
        self.evaluator = (!self.constraints.is_empty()).then(|| {
            let constraints = &self.constraints;
            Arc::new(Evaluator::without_cycles(&self.skeleton, constraints))
        });
    }

    /// The constraints with the list of one joint replaced.
    fn constraints_with(&self, edit: &ConstraintsEdit) -> Constraints {
        let mut constraints = Constraints::clone(&self.constraints);
        if edit.list.is_empty() {
            constraints.remove(&edit.joint);
        } else {
            constraints.insert(edit.joint, edit.list.clone());
        }
        constraints
    }
}

impl ConstraintsEdit {
    pub(super) fn check(&self, document: &Document) -> Result<(), EditError> {
        let skeleton = &document.skeleton;
        if !skeleton.is_live(self.joint) {
            return Err(EditError::NoJoint {
                joint: self.joint,
                n_joints: skeleton.n_live(),
            });
        }
        for constraint in &self.list {
            constraint
                .check(self.joint, skeleton)
                .map_err(|why| EditError::Constraint {
                    joint: skeleton.label(self.joint),
                    rule: constraint.rule.label(),
                    why,
                })?;
        }
        let constraints = document.constraints_with(self);
        check_cycles(document, &constraints, skeleton, Some(self.joint))
    }

    pub(super) fn swap(&mut self, document: &mut Document, dirty: &mut Dirty) {
        let now = Arc::new(document.constraints_with(self));
        self.list = document.constraints_of(self.joint).to_vec();
        document.set_constraints(now);
        dirty.joints = true;
        dirty.pose = true;
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.list.len() * size_of::<Constraint>()
    }
}

/// Refuses constraints that close a cycle: of those in a file, each that does not act in the document may stay as it is.
/// `edited`: the joint whose list is a new one.
pub(super) fn check_cycles(
    document: &Document,
    constraints: &Constraints,
    skeleton: &Skeleton,
    edited: Option<JointId>,
) -> Result<(), EditError> {
    let (_, closing) = Order::opened(skeleton, constraints);
    let before = document.constraint_cycles();
    let n_of = |list: &[Closing], joint| list.iter().filter(|c| c.joint == joint).count();
    let new = closing.iter().find(|now| {
        if edited == Some(now.joint) {
            n_of(&closing, now.joint) > n_of(before, now.joint)
        } else {
            let mut before = before.iter();
            !before.any(|was| (was.joint, was.index) == (now.joint, now.index))
        }
    });
    match new {
        Some(closing) => Err(EditError::Cycle(closing.cycle.0.clone())),
        None => Ok(()),
    }
}
