//! Limits of joints: inverse kinematics stays inside, and clips that leave them are named.

use crate::export_models::open;
use glam::DVec3;
use sinew::document::checks::of_joint_limits;
use sinew::document::{Document, Edit, History};
use sinew::skeleton::ik::Chain;
use sinew::skeleton::joint_limits::JointLimits;
use sinew::skeleton::{JointId, JointRule, Pose, Property};
use std::path::Path;

fn arm() -> Document {
    open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/arm.glb"))
}

fn limited(document: &mut Document, joint: JointId, ranges: [[f64; 2]; 3]) {
    let limits = Some(JointLimits(ranges));
    let rule = JointRule {
        limits,
        ..JointRule::default()
    };
    let before = document.clone();
    let mut history = History::default();
    history
        .apply(document, Edit::JointRule { joint, rule }, "Set bone limits")
        .unwrap();
    let after = document.clone();
    history.undo(document).unwrap();
    assert!(document.same_content(&before));
    history.redo(document).unwrap();
    assert!(document.same_content(&after));
}

#[test]
fn clips_that_leave_the_limits_are_named() {
    let mut document = arm();
    let clips = document.clips().values();
    let turned = clips
        .flat_map(|clip| &clip.channels)
        .filter(|c| c.property == Property::Rotation);
    let joint = turned.map(|c| c.joint).next_back().unwrap();
    assert_eq!(of_joint_limits(&document), []);
    limited(&mut document, joint, [JointLimits::FREE; 3]);
    assert_eq!(of_joint_limits(&document), []);
    limited(&mut document, joint, [[0.0; 2]; 3]);
    let found = of_joint_limits(&document);
    assert_eq!(found.len(), 1);
    assert!(
        found[0]
            .message
            .contains("exceeds its rotation limits by up to"),
        "{found:?}"
    );
    let invalid = JointRule {
        limits: Some(JointLimits([[1.0, -1.0]; 3])),
        ..JointRule::default()
    };
    assert!(
        document
            .apply(&mut Edit::JointRule {
                joint,
                rule: invalid
            })
            .is_err()
    );
}

#[test]
fn a_chain_reaches_within_its_limits() {
    let mut document = arm();
    let skeleton = document.skeleton().clone();
    let mut joints = skeleton.live_joints();
    let end = joints.find(|&j| skeleton.joint(j).name == "wrist").unwrap();
    drop(joints);
    let chain = Chain::above(&skeleton, end, |_| true).unwrap();
    let rest: Pose = (**document.rest_pose()).clone();
    let at = |pose: &Pose, j: JointId| pose.world_matrices(&skeleton)[j.get()].translation;
    let root = at(&rest, chain.root);
    let target = root + (at(&rest, end) - root) * 0.6 + DVec3::Z * 0.02;
    let mut free = rest.clone();
    assert!(chain.reach(&skeleton, &mut free, &rest, target, None) < 1e-9);
    // The middle joint may bend half as far.
    let bend = free.locals[chain.mid.get()]
        .rotation
        .angle_between(rest.locals[chain.mid.get()].rotation);
    let most = 0.5 * bend;
    limited(&mut document, chain.mid, [[-most, most]; 3]);
    let skeleton = document.skeleton().clone();
    let mut held = rest.clone();
    let gap = chain.reach(&skeleton, &mut held, &rest, target, None);
    let limits = JointLimits([[-most, most]; 3]);
    let rest_of = &skeleton.joint(chain.mid).rest;
    assert_eq!(
        limits.excess(held.locals[chain.mid.get()].rotation, rest_of),
        0.0
    );
    assert!(gap > 1e-6, "it cannot reach so near: {gap}");
    // A joint with room for it changes nothing.
    limited(&mut document, chain.mid, [JointLimits::FREE; 3]);
    let mut again = rest.clone();
    chain.reach(
        &document.skeleton().clone(),
        &mut again,
        &rest,
        target,
        None,
    );
    assert_eq!(again.locals, free.locals);
}
