//! Evaluates constraints over a pose.

use super::aim::aim;
use super::kind::{Constraint, Constraints, Rule, Space};
use super::limit::limit_euler;
use super::order::{Closing, Cycle, Order, Step, chain};
use super::reach::{MOST_BONES, MOST_ROUNDS, REACHED, reach_chain, soft_distance};
use super::swing_twist::twist_angle;
use crate::math::transform::normalize_or_identity;
use crate::skeleton::ik::{BendSide, Chain, TwoBone, rotate_in_world};
use crate::skeleton::orientation::{orientation, parent_world_of, world_of};
use crate::skeleton::slerp::slerp_shortest;
use crate::skeleton::{JointId, Pose, Skeleton};
use glam::{DAffine3, DMat3, DQuat, DVec3};
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::TAU;
use std::sync::Arc;

/// A scale of 0 counts as this.
const LEAST_SCALE: f64 = 1e-9;

/// The most times that a chain is bent towards its target, and the part of the gap that must be left for another one.
const MOST_PASSES: usize = 12;
const GAIN: f64 = 0.9;

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

/// A constraint that acts, in the order of the evaluation.
#[derive(Clone, Debug)]
struct Act {
    joint: JointId,
    constraint: Constraint,
    /// Whether the influence begins at the rest rotation: the first constraint of a joint that changes its rotation, where it
    /// gives one of its own. Later ones begin at the result of the earlier.
    from_rest: bool,
    /// The joints that a reach bends, the uppermost first, its own last.
    bent: Vec<JointId>,
    /// Which way a reach bends them where they are straight.
    side: BendSide,
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
                if acts_on
                    && follows
                    && is_open
                    && !constraint.is_muted
                    && constraint.influence > 0.0
                {
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
    /// reaches last. A result that is not finite is left out. Allocates nothing.
    pub fn apply(&self, pose: &mut Pose) {
        if pose.locals.len() < self.skeleton.len() {
            return;
        }
        for act in &self.acts {
            if act.bent.len() > 1 {
                self.reach(pose, act);
            } else {
                let was = pose.locals[act.joint.get()];
                self.apply_to_joint(pose, act);
                if !pose.locals[act.joint.get()].is_finite() {
                    pose.locals[act.joint.get()] = was;
                }
            }
        }
    }

    fn apply_to_joint(&self, pose: &mut Pose, act: &Act) {
        let joint = act.joint;
        let Constraint {
            rule, influence, ..
        } = &act.constraint;
        let rest_of = |joint: JointId| &self.skeleton.joint(joint).rest;
        let rest = rest_of(joint);
        let now = pose.locals[joint.get()];
        let parent = || parent_world_of(&self.skeleton, pose, joint);
        let local = |joint: JointId| (rest_of(joint), &pose.locals[joint.get()]);
        let rotation = match *rule {
            Rule::CopyRotation {
                source,
                space: Space::Local,
                ..
            } => {
                let (was, is) = local(source);
                rest.rotation * (was.rotation.conjugate() * is.rotation)
            }
            Rule::CopyRotation {
                source,
                keeps_offset,
                ..
            } => {
                let is = orientation(world_of(&self.skeleton, pose, source).matrix3);
                let above = orientation(parent().matrix3).transpose();
                let turned = if keeps_offset {
                    let was = orientation(self.rest_world[source.get()].matrix3);
                    let own = orientation(self.rest_world[joint.get()].matrix3);
                    above * is * was.transpose() * own
                } else {
                    above * is
                };
                proper(turned)
            }
            Rule::TwistShare {
                source,
                axis,
                share,
                centre,
            } => {
                let (was, is) = local(source);
                // In the parent's space: a parent's own axes, or the space that siblings share.
                let turn = if self.skeleton.joint(joint).parent == Some(source) {
                    was.rotation.conjugate() * is.rotation
                } else {
                    is.rotation * was.rotation.conjugate()
                };
                let turn = rest.rotation.conjugate() * turn * rest.rotation;
                let angle = twist_angle(turn, axis);
                let angle = angle - TAU * ((angle - centre) / TAU).round();
                rest.rotation * DQuat::from_axis_angle(axis, angle * share)
            }
            Rule::Aim { target, axis, up } => {
                let above = orientation(parent().matrix3);
                let at = world_of(&self.skeleton, pose, joint).translation;
                let there = world_of(&self.skeleton, pose, target).translation;
                let into = above.transpose();
                // In the parent's space, so that mirrored parents need no other rule.
                let up = up.map(|up| super::aim::Up {
                    direction: into * up.direction,
                    ..up
                });
                aim(rest.rotation, axis, into * (there - at), up)
            }
            Rule::LimitAngles(ranges) => {
                let turn = rest.rotation.conjugate() * now.rotation;
                rest.rotation * limit_euler(turn, ranges)
            }
            Rule::LimitCone(cone) => {
                let turn = rest.rotation.conjugate() * now.rotation;
                rest.rotation * cone.limit(turn)
            }
            Rule::CopyLocation {
                source,
                keeps_offset,
            } => {
                let place = |j: JointId| self.rest_world[j.get()].translation;
                let offset = if keeps_offset {
                    place(joint) - place(source)
                } else {
                    DVec3::ZERO
                };
                let above = self.skeleton.joint(joint).parent;
                let above = above.map_or(DAffine3::IDENTITY, |parent| {
                    world_of(&self.skeleton, pose, parent)
                });
                let there = world_of(&self.skeleton, pose, source).translation + offset;
                let wanted = above.inverse().transform_point3(there);
                if wanted.is_finite() {
                    pose.locals[joint.get()].translation = now.translation.lerp(wanted, *influence);
                }
                return;
            }
            Rule::CopyScale { source } => {
                let (was, is) = local(source);
                let floor = |s: DVec3| {
                    s.map(|s| {
                        if s.abs() < LEAST_SCALE {
                            LEAST_SCALE
                        } else {
                            s
                        }
                    })
                };
                let ratio = floor(is.scale()) / floor(was.scale());
                let factor = ratio.map(|r| r.abs().powf(*influence).copysign(r));
                pose.locals[joint.get()].stretch = now.stretch * DMat3::from_diagonal(factor);
                return;
            }
            Rule::ReachTwoBones { .. } | Rule::ReachChain { .. } => return,
        };
        let from = if act.from_rest {
            rest.rotation
        } else {
            now.rotation
        };
        pose.locals[joint.get()].rotation = slerp_shortest(from, rotation, *influence);
    }

    fn reach(&self, pose: &mut Pose, act: &Act) {
        let joints = &act.bent[..];
        let skeleton = &*self.skeleton;
        let place = |pose: &Pose, joint: JointId| world_of(skeleton, pose, joint).translation;
        let mut before = [DQuat::IDENTITY; MOST_BONES + 1];
        for (rotation, &joint) in before.iter_mut().zip(joints) {
            *rotation = pose.locals[joint.get()].rotation;
        }
        match act.constraint.rule {
            Rule::ReachTwoBones {
                target,
                pole,
                softness,
            } => {
                let chain = Chain {
                    root: joints[0],
                    mid: joints[1],
                    end: joints[2],
                };
                let TwoBone { root, mid, end } = chain.positions(skeleton, pose);
                let length = root.distance(mid) + mid.distance(end);
                let pull = place(pose, target) - root;
                let soft = soft_distance(pull.length(), length, softness * length);
                let target = root + pull.normalize_or_zero() * soft;
                let pole = pole.map(|pole| place(pose, pole));
                chain.reach_towards(skeleton, pose, act.side, target, pole);
            }
            Rule::ReachChain { target, .. } => {
                let target = place(pose, target);
                self.reach_by_chain(pose, act, target);
            }
            _ => return,
        }
        for (joint, before) in joints.iter().zip(before) {
            let local = &mut pose.locals[joint.get()];
            let rotation = slerp_shortest(before, local.rotation, act.constraint.influence);
            local.rotation = if rotation.is_finite() {
                rotation
            } else {
                before
            };
        }
    }
}

impl Evaluator {
    /// Bends a chain until its end is at the target, again where it stays off: near its full reach, and under scale that is not
    /// uniform, which changes the lengths of its bones.
    fn reach_by_chain(&self, pose: &mut Pose, act: &Act, target: DVec3) {
        let (skeleton, joints) = (&*self.skeleton, &act.bent[..]);
        let n = joints.len();
        let place = |pose: &Pose, joint: JointId| world_of(skeleton, pose, joint).translation;
        let side = act.side.in_world(skeleton, pose, joints[0]);
        let mut places = [DVec3::ZERO; MOST_BONES + 1];
        let mut best = [DQuat::IDENTITY; MOST_BONES + 1];
        let mut least = f64::INFINITY;
        for _ in 0..MOST_PASSES {
            for (at, &joint) in places.iter_mut().zip(joints) {
                *at = place(pose, joint);
            }
            let bones = places[..n].windows(2);
            let length: f64 = bones.map(|bone| bone[0].distance(bone[1])).sum();
            reach_chain(&mut places[..n], target, Some(side), REACHED, MOST_ROUNDS);
            for i in 0..n - 1 {
                // The shortest arc keeps the roll.
                let from = place(pose, joints[i + 1]) - place(pose, joints[i]);
                let to = places[i + 1] - places[i];
                if let (Some(from), Some(to)) = (from.try_normalize(), to.try_normalize()) {
                    let arc = DQuat::from_rotation_arc(from, to);
                    rotate_in_world(skeleton, pose, joints[i], arc);
                }
            }
            let gap = place(pose, joints[n - 1]).distance(target);
            let gains = gap < GAIN * least;
            if gap < least {
                least = gap;
                for (rotation, joint) in best.iter_mut().zip(joints) {
                    *rotation = pose.locals[joint.get()].rotation;
                }
            }
            if !gains || gap < REACHED * length {
                break;
            }
        }
        if least.is_finite() {
            for (rotation, joint) in best.iter().zip(joints) {
                pose.locals[joint.get()].rotation = *rotation;
            }
        }
    }
}

impl Act {
    /// What it changes of a local transform.
    fn part(&self) -> ChangedPart {
        match self.constraint.rule {
            Rule::CopyLocation { .. } => ChangedPart::Translation,
            Rule::CopyScale { .. } => ChangedPart::Scale,
            _ => ChangedPart::Rotation,
        }
    }

    /// The joints whose local transforms it changes.
    fn changed(&self) -> impl Iterator<Item = JointId> + '_ {
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

/// The rotation of an orthonormal matrix; of one that mirrors, with x negated.
fn proper(matrix: DMat3) -> DQuat {
    let matrix = if matrix.determinant() < 0.0 {
        matrix * DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0))
    } else {
        matrix
    };
    normalize_or_identity(DQuat::from_mat3(&matrix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Transform;
    use crate::skeleton::Joint;

    /// An arm along x with a hand, and a target: root 0, elbow 1, hand 2, target 3, helper 4 (child of the elbow).
    fn arm() -> Skeleton {
        let at = |x: f64, y: f64| Transform {
            translation: DVec3::new(x, y, 0.0),
            ..Transform::IDENTITY
        };
        let joint = |name: &str, parent: Option<u32>, rest: Transform| {
            Joint::new(name, parent.map(JointId), rest)
        };
        Skeleton::new(vec![
            joint("arm", None, at(0.0, 0.0)),
            joint("elbow", Some(0), at(1.0, 0.0)),
            joint("hand", Some(1), at(0.8, 0.0)),
            joint("target", None, at(1.2, 0.9)),
            joint("helper", Some(1), at(0.4, 0.0)),
        ])
        .unwrap()
    }

    fn applied(constraints: &[(u32, Rule, f64)], pose: &Pose) -> Pose {
        let skeleton = Arc::new(arm());
        let mut all = Constraints::new();
        for (joint, rule, influence) in constraints {
            all.entry(JointId(*joint)).or_default().push(Constraint {
                influence: *influence,
                ..Constraint::new(rule.clone())
            });
        }
        let mut pose = pose.clone();
        let evaluator = Evaluator::new(&skeleton, &all).unwrap();
        evaluator.apply(&mut pose);
        let mut again = pose.clone();
        again.locals.clone_from(&pose.locals);
        assert_eq!(again, pose);
        pose
    }

    fn place(pose: &Pose, joint: u32) -> DVec3 {
        world_of(&arm(), pose, JointId(joint)).translation
    }

    #[test]
    fn helpers_share_what_the_hand_turns() {
        let mut pose = Pose::rest(&arm());
        pose.locals[2].rotation = DQuat::from_rotation_x(1.0);
        let twist = Rule::TwistShare {
            source: JointId(2),
            axis: DVec3::X,
            share: 0.5,
            centre: 0.0,
        };
        let turned = applied(&[(4, twist.clone(), 1.0)], &pose);
        let half = DQuat::from_rotation_x(0.5);
        assert!(turned.locals[4].rotation.abs_diff_eq(half, 1e-12));
        // The same by half of a copied rotation.
        let copy = Rule::CopyRotation {
            source: JointId(2),
            space: Space::Local,
            keeps_offset: true,
        };
        let turned = applied(&[(4, copy, 0.5)], &pose);
        assert!(turned.locals[4].rotation.abs_diff_eq(half, 1e-12));
        // About a centre it reads past the half turn.
        pose.locals[2].rotation = DQuat::from_rotation_x(190f64.to_radians());
        let centred = Rule::TwistShare {
            source: JointId(2),
            axis: DVec3::X,
            share: 0.5,
            centre: 1.0,
        };
        let turned = applied(&[(4, centred, 1.0)], &pose);
        let expected = DQuat::from_rotation_x(95f64.to_radians());
        assert!(turned.locals[4].rotation.abs_diff_eq(expected, 1e-9));
    }

    #[test]
    fn an_arm_reaches_with_both_kinds_of_reach() {
        let pose = Pose::rest(&arm());
        let bones = Rule::ReachTwoBones {
            target: JointId(3),
            pole: None,
            softness: 0.0,
        };
        let reached = applied(&[(2, bones.clone(), 1.0)], &pose);
        assert!(place(&reached, 2).distance(DVec3::new(1.2, 0.9, 0.0)) < 1e-9);
        let chain = Rule::ReachChain {
            target: JointId(3),
            n_bones: 2,
        };
        let mut bent = pose.clone();
        bent.locals[1].rotation = DQuat::from_rotation_z(0.4);
        let reached = applied(&[(2, chain, 1.0)], &bent);
        let gap = place(&reached, 2).distance(DVec3::new(1.2, 0.9, 0.0));
        assert!(gap < 2.0 * 1.8e-4, "{gap}");
        // A helper sees the elbow that the reach bent.
        let aim_at = Rule::Aim {
            target: JointId(3),
            axis: DVec3::X,
            up: None,
        };
        let reached = applied(&[(2, bones.clone(), 1.0), (4, aim_at, 1.0)], &pose);
        let helper = world_of(&arm(), &reached, JointId(4));
        let to = (place(&reached, 3) - helper.translation).normalize_or_zero();
        assert!(helper.matrix3.x_axis.distance(to) < 1e-9);
        assert_eq!(applied(&[(2, bones, 0.0)], &pose), pose);
    }

    #[test]
    fn places_scales_and_world_rotations_are_copied() {
        let mut pose = Pose::rest(&arm());
        pose.locals[3].rotation = DQuat::from_rotation_z(0.7);
        pose.locals[3].stretch = DMat3::from_diagonal(DVec3::new(4.0, 1.0, 1.0));
        pose.locals[0].rotation = DQuat::from_rotation_y(0.3);
        let location = Rule::CopyLocation {
            source: JointId(3),
            keeps_offset: false,
        };
        let made = applied(&[(4, location, 1.0)], &pose);
        assert!(place(&made, 4).distance(place(&made, 3)) < 1e-12);
        let scale = Rule::CopyScale { source: JointId(3) };
        let made = applied(&[(4, scale, 0.5)], &pose);
        assert!((made.locals[4].scale().x - 2.0).abs() < 1e-12);
        for keeps_offset in [false, true] {
            let rotation = Rule::CopyRotation {
                source: JointId(3),
                space: Space::World,
                keeps_offset,
            };
            let made = applied(&[(4, rotation, 1.0)], &pose);
            let world = world_of(&arm(), &made, JointId(4)).matrix3;
            let expected = DMat3::from_rotation_z(0.7);
            assert!(world.abs_diff_eq(expected, 1e-12));
        }
    }

    /// METHODS-rigging 4, *Twist share*: the turn is read in the owner's axes, also that of its parent. A share of -1 takes
    /// the parent's twist away.
    #[test]
    fn a_parents_twist_is_read_in_the_axes_of_the_child() {
        let mut joints = arm().joints().to_vec();
        // The child's y is its parent's -x, along the arm.
        joints[4].rest.rotation = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2);
        let skeleton = Arc::new(Skeleton::new(joints).unwrap());
        let mut pose = Pose::rest(&skeleton);
        let before = world_of(&skeleton, &pose, JointId(4)).matrix3;
        pose.locals[1].rotation = DQuat::from_rotation_x(0.8);
        for share in [-1.0, 0.25] {
            let twist = Constraint::new(Rule::TwistShare {
                source: JointId(1),
                axis: DVec3::Y,
                share,
                centre: 0.0,
            });
            let constraints = Constraints::from([(JointId(4), vec![twist])]);
            let mut pose = pose.clone();
            let evaluator = Evaluator::new(&skeleton, &constraints).unwrap();
            evaluator.apply(&mut pose);
            let expected = DMat3::from_rotation_x(0.8 * (1.0 + share)) * before;
            let now = world_of(&skeleton, &pose, JointId(4)).matrix3;
            assert!(now.abs_diff_eq(expected, 1e-12), "{share}: {now}");
        }
    }

    /// A constraint of the place or the scale changes nothing for a rotation below it.
    #[test]
    fn a_rotation_is_blended_with_rest_below_a_copied_place() {
        let mut pose = Pose::rest(&arm());
        pose.locals[2].rotation = DQuat::from_rotation_x(1.0);
        pose.locals[4].rotation = DQuat::from_rotation_y(0.8);
        let copy = Rule::CopyRotation {
            source: JointId(2),
            space: Space::Local,
            keeps_offset: true,
        };
        let place = Rule::CopyLocation {
            source: JointId(3),
            keeps_offset: true,
        };
        let alone = applied(&[(4, copy.clone(), 0.5)], &pose);
        let scale = Rule::CopyScale { source: JointId(3) };
        let below = applied(&[(4, place, 1.0), (4, scale, 1.0), (4, copy, 0.5)], &pose);
        assert_eq!(alone.locals[4].rotation, below.locals[4].rotation);
        let half = DQuat::from_rotation_x(0.5);
        assert!(alone.locals[4].rotation.abs_diff_eq(half, 1e-12));
    }

    /// METHODS-rigging 4, *Straight chains*: the bend side of the rest pose, else elbows back and knees forward, whatever the
    /// direction of the target.
    #[test]
    fn straight_limbs_bend_to_their_side_wherever_the_target_is() {
        let bones = Rule::ReachTwoBones {
            target: JointId(3),
            pole: None,
            softness: 0.0,
        };
        let chain = Rule::ReachChain {
            target: JointId(3),
            n_bones: 2,
        };
        for rule in [bones, chain] {
            for step in 0..24 {
                let mut pose = Pose::rest(&arm());
                let turn = DQuat::from_rotation_z(f64::from(step) * TAU / 24.0);
                pose.locals[3].translation = turn * DVec3::new(1.2, 0.0, 0.0);
                pose.locals[0].rotation = turn;
                let reached = applied(&[(2, rule.clone(), 1.0)], &pose);
                let gap = place(&reached, 2).distance(place(&pose, 3));
                assert!(gap < 2e-4 * 1.8, "{rule:?}, {step}: {gap}");
                // An arm along x: the elbow goes back.
                assert!(place(&reached, 1).z < -0.3, "{rule:?}, {step}");
            }
        }
        // Nor does it jump where the clip passes the straight pose, bent a little to its side.
        let chain = Rule::ReachChain {
            target: JointId(3),
            n_bones: 2,
        };
        let mut last: Option<DVec3> = None;
        for step in 0..=40 {
            let mut pose = Pose::rest(&arm());
            pose.locals[3].translation = DVec3::new(1.2, 0.0, 0.0);
            pose.locals[1].rotation = DQuat::from_rotation_y(-0.02 * f64::from(step) / 40.0);
            pose.locals[1].rotation = pose.locals[1].rotation.conjugate();
            let elbow = place(&applied(&[(2, chain.clone(), 1.0)], &pose), 1);
            if let Some(last) = last {
                assert!(elbow.distance(last) < 0.05, "{step}: {elbow} {last}");
            }
            last = Some(elbow);
        }
    }

    #[test]
    fn a_reach_arrives_under_scale_that_is_not_uniform_and_near_its_full_length() {
        let mut joints = arm().joints().to_vec();
        let rest = &mut joints[0].rest;
        rest.stretch = DMat3::from_diagonal(DVec3::new(1.0, 2.0, 1.0));
        joints[1].rest.rotation = DQuat::from_rotation_z(-0.3);
        let skeleton = Arc::new(Skeleton::new(joints).unwrap());
        let bones = Rule::ReachTwoBones {
            target: JointId(3),
            pole: None,
            softness: 0.0,
        };
        let chain = Rule::ReachChain {
            target: JointId(3),
            n_bones: 2,
        };
        for (rule, tolerance) in [(bones, 1e-6), (chain, 1e-3)] {
            for at in [DVec3::new(0.9, 0.9, 0.2), DVec3::new(1.3, -0.4, 0.0)] {
                let list = vec![Constraint::new(rule.clone())];
                let constraints = Constraints::from([(JointId(2), list)]);
                let evaluator = Evaluator::new(&skeleton, &constraints).unwrap();
                let mut pose = Pose::rest(&skeleton);
                pose.locals[3].translation = at;
                evaluator.apply(&mut pose);
                let gap = world_of(&skeleton, &pose, JointId(2))
                    .translation
                    .distance(at);
                assert!(gap < tolerance, "{rule:?} to {at}: {gap}");
            }
        }
    }

    #[test]
    fn limits_act_after_what_stands_before_them() {
        let mut pose = Pose::rest(&arm());
        pose.locals[2].rotation = DQuat::from_rotation_x(1.0);
        let copy = Rule::CopyRotation {
            source: JointId(2),
            space: Space::Local,
            keeps_offset: true,
        };
        let limit = Rule::LimitAngles([[-0.2, 0.2], [0.0, 0.0], [0.0, 0.0]]);
        let made = applied(&[(4, copy.clone(), 1.0), (4, limit.clone(), 1.0)], &pose);
        let expected = DQuat::from_rotation_x(0.2);
        assert!(made.locals[4].rotation.abs_diff_eq(expected, 1e-12));
        let made = applied(&[(4, limit, 1.0), (4, copy, 1.0)], &pose);
        let expected = DQuat::from_rotation_x(1.0);
        assert!(made.locals[4].rotation.abs_diff_eq(expected, 1e-12));
    }
}
