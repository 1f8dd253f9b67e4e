//! The order in which constraints are evaluated.

use super::cycles::{Closing, Cycle, open};
use super::graph::{Graph, Step};
use super::kind::Constraints;
use crate::skeleton::Skeleton;

/// The steps of an evaluation, in an order in which each comes after all that it needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    pub(super) steps: Vec<Step>,
}

impl Order {
    /// Kahn's order over the joints' local and world transforms; of several steps that are possible the one of the joint
    /// that comes first in the skeleton. Fails with a sentence that names the joints of a cycle.
    pub fn new(skeleton: &Skeleton, constraints: &Constraints) -> Result<Self, Cycle> {
        let (order, closing) = Self::opened(skeleton, constraints);
        match closing.into_iter().next() {
            None => Ok(order),
            Some(closing) => Err(closing.cycle),
        }
    }

    /// As [`Order::new`], without the constraints that would close a cycle: of joints in order of id, those that come first
    /// act.
    pub fn opened(skeleton: &Skeleton, constraints: &Constraints) -> (Self, Vec<Closing>) {
        let graph = Graph::new(skeleton, constraints);
        let mut is_active = vec![true; graph.edges.len()];
        let (steps, is_left) = graph.ordered(skeleton, &is_active);
        if steps.len() == graph.steps.len() {
            return (Self { steps }, Vec::new());
        }
        let closing = open(&graph, skeleton, &is_left, &mut is_active);
        let (steps, _) = graph.ordered(skeleton, &is_active);
        (Self { steps }, closing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Transform;
    use crate::skeleton::constraint::{Constraint, CopiedAxes, Rule, Space};
    use crate::skeleton::{Joint, JointId};
    use glam::DVec3;

    fn arm() -> Skeleton {
        let joint = |name: &str, parent: Option<u32>| {
            Joint::new(name, parent.map(JointId), Transform::IDENTITY)
        };
        let joints = vec![
            joint("arm.l", None),
            joint("elbow.l", Some(0)),
            joint("hand.l", Some(1)),
            joint("target", None),
        ];
        Skeleton::new(joints).unwrap()
    }

    fn reach(target: u32) -> Constraint {
        Constraint::new(Rule::ReachTwoBones {
            target: JointId(target),
            pole: None,
            softness: 0.0,
        })
    }

    fn aim_at(target: u32) -> Constraint {
        Constraint::new(Rule::Aim {
            target: JointId(target),
            axis: DVec3::Y,
            up: None,
        })
    }

    #[test]
    fn what_a_constraint_needs_comes_first() {
        let constraints = Constraints::from([(JointId(2), vec![reach(3)]), (JointId(3), vec![])]);
        let order = Order::new(&arm(), &constraints).unwrap();
        let place = |step: Step| order.steps.iter().position(|&s| s == step).unwrap();
        let reach = place(Step::Reach(JointId(2), 0));
        assert!(place(Step::World(JointId(3))) < reach);
        for joint in 0..3 {
            assert!(place(Step::Local(JointId(joint))) < reach);
            assert!(place(Step::World(JointId(joint))) > reach);
        }
    }

    /// Every joint of `n` follows another: those of each pair each other, or all in one ring.
    fn ring(n: u32, is_pairs: bool) -> (Skeleton, Constraints) {
        let joint = |j: u32| Joint::new(format!("bone {j}"), None, Transform::IDENTITY);
        let copy = |joint: u32| {
            let source = JointId(if is_pairs { joint ^ 1 } else { (joint + 1) % n });
            let rule = Rule::CopyRotation {
                source,
                space: Space::Local,
                keeps_offset: true,
                axes: CopiedAxes::ALL,
            };
            (JointId(joint), vec![Constraint::new(rule)])
        };
        let skeleton = Skeleton::new((0..n).map(joint).collect()).unwrap();
        (skeleton, (0..n).map(copy).collect())
    }

    /// Many cycles are opened in one pass, and a long one has a short sentence.
    #[test]
    fn many_and_long_cycles_are_opened() {
        let (skeleton, constraints) = ring(10_000, true);
        let (order, closing) = Order::opened(&skeleton, &constraints);
        assert_eq!((order.steps.len(), closing.len()), (20_000, 5_000));
        // Those that come first act.
        assert!(closing.iter().all(|c| c.joint.0 % 2 == 1 && c.index == 0));
        let said =
            "“bone 1” follows “bone 0” (Copy Rotation), which follows “bone 1” (Copy Rotation).";
        assert_eq!(closing[0].cycle.0, said);
        let (skeleton, constraints) = ring(3_000, false);
        let (_, closing) = Order::opened(&skeleton, &constraints);
        let [Closing { joint, cycle, .. }] = &closing[..] else {
            panic!("{closing:?}");
        };
        assert_eq!(*joint, JointId(2_999));
        assert_eq!(
            cycle.0,
            "“bone 2999” follows “bone 0” (Copy Rotation), which follows “bone 1” (Copy Rotation), \
             …, which follows “bone 2999” (Copy Rotation)."
        );
        assert_eq!(Order::new(&skeleton, &constraints).unwrap_err(), *cycle);
    }

    #[test]
    fn a_cycle_is_named() {
        let copy = Constraint::new(Rule::CopyLocation {
            source: JointId(2),
            keeps_offset: true,
            axes: [true; 3],
            space: Space::World,
        });
        let constraints =
            Constraints::from([(JointId(2), vec![reach(3)]), (JointId(3), vec![copy])]);
        let why = Order::new(&arm(), &constraints).unwrap_err().to_string();
        let said = [
            "“hand.l” follows “target” (Two-Bone IK), which follows “hand.l” (Copy Location).",
            "“target” follows “hand.l” (Copy Location), which follows “target” (Two-Bone IK).",
        ];
        assert!(said.contains(&why.as_str()), "{why}");
        // A joint cannot aim at what hangs from it.
        let constraints = Constraints::from([(JointId(0), vec![aim_at(2)])]);
        let why = Order::new(&arm(), &constraints).unwrap_err().to_string();
        assert_eq!(why, "“arm.l” follows “hand.l” (Damped Track).");
        // Switched off it does nothing.
        let mut muted = constraints;
        muted.get_mut(&JointId(0)).unwrap()[0].is_muted = true;
        assert!(Order::new(&arm(), &muted).is_ok());
    }
}
