//! Evaluates constraints over a pose.

use super::act::{Act, ChangedPart};
use super::apply::apply;
use super::bend::reach;
use super::cycles::{Closing, Cycle};
use super::graph::{Step, chain};
use super::kind::Constraints;
use super::order::Order;
use super::reach::MOST_BONES;
use crate::skeleton::ik::BendSide;
use crate::skeleton::{JointId, Pose, Skeleton};
use glam::DAffine3;
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Constraints of a skeleton in their order.
///
/// A pure function of the pose: the same pose gives the same bits, whether a clip is scrubbed, played or baked.
#[derive(Clone, Debug)]
pub struct Evaluator {
    skeleton: Arc<Skeleton>,
    rest_world: Arc<[DAffine3]>,
    acts: Vec<Act>,
    closing: Vec<Closing>,
}
impl Evaluator {
    /// The constraints of a skeleton; fails where they form a cycle. Those of joints that were removed, and those that
    /// follow one, do nothing.
    pub fn new(skeleton: &Arc<Skeleton>, constraints: &Constraints) -> Result<Self, Cycle> {
        let order = Order::new(skeleton, constraints)?;
        Ok(Self::of(skeleton, constraints, &order, Vec::new()))
    }

    /// As [`Evaluator::new`], without the constraints that would close a cycle: of joints in order of id, those that come
    /// first act.
    pub fn without_cycles(skeleton: &Arc<Skeleton>, constraints: &Constraints) -> Self {
        let (order, closing) = Order::opened(skeleton, constraints);
        Self::of(skeleton, constraints, &order, closing)
    }

    fn of(
        skeleton: &Arc<Skeleton>,
        constraints: &Constraints,
        order: &Order,
        closing: Vec<Closing>,
    ) -> Self {
        let closes: BTreeSet<_> = closing.iter().map(|c| (c.joint, c.index)).collect();
        let mut acts: Vec<Act> = Vec::new();
        let rest = LazyCell::new(|| Pose::rest(skeleton));
        for &step in &order.steps {
            let (joint, reach) = match step {
                Step::World(_) => continue,
                Step::Local(joint) => (joint, None),
                Step::Reach(joint, i) => (joint, Some(i)),
            };
            let list = constraints.get(&joint).into_iter().flatten().enumerate();
            for (i, constraint) in list.filter(|(i, c)| match reach {
                None => c.rule.n_bones() == 0,
                Some(reach) => *i == reach,
            }) {
                let n_bones = constraint.rule.n_bones();
                let mut bent = chain(skeleton, joint, n_bones);
                bent.reverse();
                let acts_on = bent.len() == n_bones + 1 && n_bones <= MOST_BONES;
                let follows = constraint.rule.sources().all(|j| skeleton.is_live(j));
                let is_open = !closes.contains(&(joint, i));
                if acts_on && follows && is_open && constraint.acts() {
                    let earlier = acts.iter().rev().take_while(|act| act.joint == joint);
                    let mut parts = earlier.map(Act::part);
                    let is_first = parts.all(|part| part != ChangedPart::Rotation);
                    acts.push(Act {
                        joint,
                        from_rest: is_first && constraint.rule.gives_rotation(),
                        constraint: constraint.clone(),
                        side: if bent.len() > 1 {
                            BendSide::of(skeleton, &rest, &bent)
                        } else {
                            BendSide::default()
                        },
                        bent,
                    });
                }
            }
        }
        Self {
            rest_world: if acts.is_empty() {
                Arc::default()
            } else {
                rest.world_matrices(skeleton).into()
            },
            skeleton: skeleton.clone(),
            acts,
            closing,
        }
    }

    /// The constraints that [`Evaluator::without_cycles`] left out.
    pub fn closing(&self) -> &[Closing] {
        &self.closing
    }

    /// Whether nothing acts: [`Evaluator::apply`] changes no pose.
    pub fn is_idle(&self) -> bool {
        self.acts.is_empty()
    }

    /// Only the constraints that change one of `joints`, which must include all that these are computed from.
    #[must_use]
    pub fn only(&self, joints: &BTreeSet<JointId>) -> Self {
        let is_wanted = |act: &&Act| act.changed().any(|joint| joints.contains(&joint));
        Self {
            skeleton: self.skeleton.clone(),
            rest_world: self.rest_world.clone(),
            acts: self.acts.iter().filter(is_wanted).cloned().collect(),
            closing: Vec::new(),
        }
    }

    /// The joints whose local transforms it changes, with those that each one's result is computed from: sources and all
    /// ancestors. In the order of the evaluation; a joint that several constraints change comes once.
    pub fn driven(&self) -> Vec<(JointId, BTreeSet<JointId>)> {
        let mut inputs: BTreeMap<JointId, BTreeSet<JointId>> = BTreeMap::new();
        let mut driven: Vec<JointId> = Vec::new();
        let above = |joint: JointId| std::iter::once(joint).chain(self.skeleton.ancestors(joint));
        for act in &self.acts {
            let rule = &act.constraint.rule;
            let seeds = rule
                .sources()
                .chain([act.joint])
                .chain(act.bent.iter().copied());
            let mut from: BTreeSet<JointId> = seeds.flat_map(above).collect();
            for joint in from.clone() {
                from.extend(inputs.get(&joint).into_iter().flatten());
            }
            for joint in act.changed() {
                if !driven.contains(&joint) {
                    driven.push(joint);
                }
                inputs.entry(joint).or_default().extend(&from);
            }
        }
        let sets = driven.into_iter().map(|joint| {
            let from = inputs.get(&joint).cloned();
            (joint, from.unwrap_or_default())
        });
        sets.collect()
    }

    /// The properties of a joint that its constraints change.
    pub fn changes(&self, joint: JointId) -> BTreeSet<ChangedPart> {
        let acts = self
            .acts
            .iter()
            .filter(|act| act.changed().any(|j| j == joint));
        acts.map(Act::part).collect()
    }

    /// Applies all constraints to a pose, each after all that it depends on; those of one joint in the order of its list,
    /// reaches last. Influences that the pose has from its clip replace those of the constraints. A result that is not finite is left out. Allocates nothing.
    pub fn apply(&self, pose: &mut Pose) {
        if pose.locals.len() < self.skeleton.len() {
            return;
        }
        for act in &self.acts {
            let constraint = &act.constraint;
            let keyed = constraint.keyed_as;
            let keyed = keyed.and_then(|number| pose.influence(act.joint, number));
            let influence = keyed.unwrap_or(constraint.influence);
            if influence <= 0.0 {
                continue;
            }
            if act.bent.len() > 1 {
                reach(&self.skeleton, pose, act, influence);
            } else {
                let was = pose.locals[act.joint.get()];
                // While it is switched on and off, the joint's own keyframes are what it leaves and comes back to.
                let from_rest = act.from_rest && keyed.is_none();
                apply(
                    &self.skeleton,
                    &self.rest_world,
                    pose,
                    act,
                    (influence, from_rest),
                );
                if !pose.locals[act.joint.get()].is_finite() {
                    pose.locals[act.joint.get()] = was;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
