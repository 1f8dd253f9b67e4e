//! Limits of joints: inverse kinematics stays inside, and clips that leave them are named.

use crate::cli::done as cli;
use crate::export_models::open;
use crate::rig_tools::{done, refused};
use glam::{DQuat, DVec3, EulerRot};
use sinew::document::checks::of_joint_limits;
use sinew::document::{Document, Edit, History};
use sinew::math::Transform;
use sinew::rig::Operation;
use sinew::skeleton::ik::Chain;
use sinew::skeleton::joint_limits::JointLimits;
use sinew::skeleton::mirror::{Mirror, PosedJoint};
use sinew::skeleton::{JointId, JointRule, Pose, Property, RangeOfMotion};
use std::collections::BTreeSet;
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

fn mannequin() -> Document {
    open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/mannequin.glb"))
}

fn named(document: &Document, name: &str) -> JointId {
    let skeleton = document.skeleton();
    let mut joints = skeleton.live_joints();
    joints.find(|&j| skeleton.joint(j).name == name).unwrap()
}

#[test]
fn a_range_of_motion_stays_within_the_limits() {
    let mut document = mannequin();
    let joint = named(&document, "forearm.L");
    let limits = [[-0.1, 0.7], [0.0; 2], [-0.4, 0.0]];
    limited(&mut document, joint, limits);
    let chosen = BTreeSet::from([joint]);
    let settings = RangeOfMotion::default();
    let skeleton = document.skeleton();
    let moves = settings.moves(skeleton, &chosen);
    let ranges: Vec<(usize, [f64; 2])> = moves.iter().map(|m| (m.axis, m.range)).collect();
    assert_eq!(ranges, [(0, limits[0]), (2, limits[2])], "y has no freedom");
    let clip = settings.clip("Range", skeleton, &chosen);
    let rest = skeleton.joint(joint).rest;
    let mut reached = [[0.0f64; 2]; 3];
    for i in 0..=400 {
        let time = f64::from(clip.end_secs()) * f64::from(i) / 400.0;
        let rotation = document.pose_of_clip(&clip, time).locals[joint.get()].rotation;
        assert!(JointLimits(limits).excess(rotation, &rest) < 1e-5);
        let turn = (rest.rotation.conjugate() * rotation).to_scaled_axis();
        for (axis, reached) in reached.iter_mut().enumerate() {
            *reached = [reached[0].min(turn[axis]), reached[1].max(turn[axis])];
        }
    }
    for (reached, limits) in reached.as_flattened().iter().zip(limits.as_flattened()) {
        assert!((reached - limits).abs() < 1e-3, "{reached} {limits}");
    }
}

#[test]
fn symmetrizing_mirrors_the_limits() {
    let mut document = mannequin();
    let [joint, other] = ["forearm.L", "forearm.R"].map(|name| named(&document, name));
    limited(
        &mut document,
        joint,
        [[-0.1, 0.7], [-0.3, 0.2], [-0.4, 0.0]],
    );
    let (did, _) = done(&mut document, &Operation::Symmetrize { joint });
    let said = "Rotation limits mirrored to 1 bone.";
    assert!(did.notes.iter().any(|note| note == said), "{:?}", did.notes);
    let skeleton = document.skeleton();
    let [ours, theirs] = [joint, other].map(|j| skeleton.joint(j).rule.limits.unwrap());
    // The mirror image of a rotation exceeds the limits by as much.
    let mirror = Mirror::new(skeleton);
    let spaces = [joint, other].map(|j| mirror.rest_spaces(j));
    let rests = [joint, other].map(|j| skeleton.joint(j).rest);
    for k in 0..40 {
        let wild = DQuat::from_euler(
            EulerRot::ZYX,
            (f64::from(k) * 0.37).sin(),
            (f64::from(k) * 0.71).cos(),
            (f64::from(k) * 1.3).sin(),
        );
        let local = Transform {
            rotation: rests[0].rotation * wild,
            ..rests[0]
        };
        let posed = PosedJoint {
            local,
            rest: rests[0],
            spaces: spaces[0],
        };
        let image = posed.carried_to(&rests[1], spaces[1], mirror.reflection());
        let off = ours.excess(local.rotation, &rests[0]);
        let image_off = theirs.excess(image.rotation, &rests[1]);
        assert!((off - image_off).abs() < 1e-6, "{off} {image_off}");
    }
    assert!(theirs == ours.mirrored(false) || theirs == ours.mirrored(true));
}

#[test]
fn the_command_line_sets_limits() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("arm.ron");
    let out = out.to_str().unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/mannequin.glb");
    let file = file.to_str().unwrap();
    let ranges = "-10:150,0:0,free";
    let said = cli(&["rig", file, "--limits", "forearm.L", ranges, "--out", out]);
    assert!(
        said.contains("Set rotation limits: 1 bone changed"),
        "{said}"
    );
    let document = sinew::io::open_any(Path::new(out), &sinew::task::Task::new());
    let document = document.unwrap().document;
    let joint = named(&document, "forearm.L");
    let limits = document.skeleton().joint(joint).rule.limits.unwrap();
    let bend = [-10.0f64, 150.0].map(f64::to_radians);
    for (limit, wanted) in limits.0.iter().zip([bend, [0.0; 2], JointLimits::FREE]) {
        assert!((limit[0] - wanted[0]).abs() < 1e-9 && (limit[1] - wanted[1]).abs() < 1e-9);
    }
    let freed = folder.path().join("freed.ron");
    let freed = freed.to_str().unwrap();
    cli(&["rig", out, "--limits", "forearm.L", "none", "--out", freed]);
    let document = sinew::io::open_any(Path::new(freed), &sinew::task::Task::new());
    let document = document.unwrap().document;
    assert_eq!(document.skeleton().joint(joint).rule.limits, None);
    let wrong = Operation::Limit {
        joint,
        limits: Some(JointLimits([[1.0, -1.0]; 3])),
    };
    assert!(refused(&document, &wrong).contains("no range of angles"));
}
