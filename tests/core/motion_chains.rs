//! Motions by chains: quadrupeds, flat rigs, chains of different numbers of joints.

use crate::motion_target::target;
use crate::shared::shared_dir;
use glam::{DQuat, DVec3};
use sinew::document::Document;
use sinew::io::motion_source::read_motions;
use sinew::io::open_any;
use sinew::math::Transform;
use sinew::motion::bvh::Positions;
use sinew::motion::retarget::{BakeOptions, Retarget, RetargetError, RetargetOptions, Scale};
use sinew::motion::roles::{ChainNames, RoleMap, Roles};
use sinew::motion::{Rig, Take};
use sinew::skeleton::{Joint, JointId, Skeleton};
use sinew::task::Task;

fn chain(motion: &[&str], character: &[&str], root: bool) -> ChainNames {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    ChainNames {
        motion: names(motion),
        character: names(character),
        root,
    }
}

fn roles_of(chains: Vec<ChainNames>, source: &Rig, target: &Rig) -> [Roles; 2] {
    let map = RoleMap {
        chains,
        ..RoleMap::default()
    };
    let (mut ours, mut theirs) = (Roles::default(), Roles::default());
    map.apply([source, target], &mut ours, &mut theirs).unwrap();
    [ours, theirs]
}

/// The chains of a quadruped onto itself.
fn fox_chains() -> Vec<ChainNames> {
    let same = |names: &[&str], root| chain(names, names, root);
    vec![
        same(&["b_Hip_01"], true),
        same(&["b_Spine01_02", "b_Head_05"], false),
        same(&["b_RightUpperArm_06", "b_RightHand_08"], false),
        same(&["b_LeftUpperArm_09", "b_LeftHand_011"], false),
        same(&["b_Tail01_012", "b_Tail03_014"], false),
        same(&["b_LeftLeg01_015", "b_LeftFoot02_018"], false),
        same(&["b_RightLeg01_019", "b_RightFoot02_022"], false),
    ]
}

#[test]
fn a_quadruped_by_chains_on_itself_keeps_its_places() {
    let Some(folder) = shared_dir("a quadruped by chains") else {
        return;
    };
    let path = folder.join("models/fox/fox.glb");
    let (skeleton, is_bone) = target(&folder, "fox");
    let rig = Rig::of_skeleton(&skeleton, |j| is_bone[j]);
    let motions = read_motions(&path, &Task::new()).unwrap();
    assert_eq!(motions.len(), 3);
    for read in &motions {
        let take = read.source.take(Positions::Auto);
        let roles = roles_of(fox_chains(), &take.rest, &rig);
        let [ours, theirs] = &roles;
        let options = RetargetOptions::default();
        let none = Roles::default();
        let refused = Retarget::new(&take, &none, &skeleton, &rig, &none, &options);
        assert!(matches!(refused, Err(RetargetError::Source(_))));
        let retarget = Retarget::new(&take, ours, &skeleton, &rig, theirs, &options).unwrap();
        assert_eq!(retarget.report.chains.len(), 7);
        assert_eq!(retarget.report.root, "b_Hip_01");
        assert!((retarget.report.scale - 1.0).abs() < 1e-9);
        assert_eq!(retarget.report.reference, "zero pose");
        // The root starts where it stands, as that of a body: the places are the clip's but for one level step.
        let joint = |rig: &Rig, name: &str| rig.names.iter().position(|n| n == name).unwrap();
        let (s, t) = (joint(&take.rest, "b_Hip_01"), joint(&rig, "b_Hip_01"));
        let first = take.places(Some(0))[s];
        let step = (rig.places[t] - first).with_y(0.0);
        let size = (rig.places[t].y).abs();
        for frame in 0..take.n_frames() {
            let pose = retarget.pose(frame);
            for (j, name) in rig.names.iter().enumerate().filter(|(j, _)| is_bone[*j]) {
                let Some(own) = take.rest.names.iter().position(|n| n == name) else {
                    panic!("{name}");
                };
                if name == "_rootJoint" || name == "b_Root_00" {
                    continue;
                }
                let expected = take.places(Some(frame))[own] + step;
                let off = pose.places[j].distance(expected);
                assert!(
                    off < 1e-5 * size,
                    "{} {frame} {name}: {off} of {size}",
                    read.source.name
                );
            }
        }
        // As a clip too, within the tolerance.
        let baked = retarget.bake("Again", &BakeOptions::default(), &Task::new());
        let baked = baked.unwrap();
        assert!(baked.keys.worst <= 1e-3 && !baked.feet.is_searched);
    }
}

/// A row of joints along X, one unit apart; flat: all below a root beside them.
fn row(n: usize, step: f64, is_flat: bool) -> Skeleton {
    let mut joints = vec![Joint::new("base", None, Transform::IDENTITY)];
    for i in 0..n {
        let (parent, x) = if is_flat || i == 0 {
            (0, step * i as f64)
        } else {
            (i, step)
        };
        let at = Transform {
            translation: DVec3::new(x, if is_flat || i == 0 { 1.0 } else { 0.0 }, 0.0),
            ..Transform::IDENTITY
        };
        joints.push(Joint::new(
            format!("j{i}"),
            Some(JointId(parent as u32)),
            at,
        ));
    }
    Skeleton::new(joints).unwrap()
}

/// The row bends by this angle at each joint but the first, and its base goes along Z.
fn bent(rig: &Rig, n: usize, step: f64, angle: f64) -> Take {
    let frames = [0.0, 0.5, 1.0];
    let (mut rotations, mut places) = (Vec::new(), Vec::new());
    for share in frames {
        let mut at = DVec3::new(0.0, 1.0, share);
        let mut turn = DQuat::IDENTITY;
        rotations.push(DQuat::IDENTITY);
        places.push(DVec3::ZERO);
        for i in 0..n {
            if i > 0 {
                at += turn * (DVec3::X * step);
                turn *= DQuat::from_rotation_z(share * angle);
            }
            rotations.push(turn);
            places.push(at);
        }
    }
    Take {
        rest: rig.clone(),
        times: frames.to_vec(),
        rotations,
        places,
    }
}

#[test]
fn flat_rigs_keep_together_and_go_where_the_motion_goes() {
    let flat = row(5, 1.0, true);
    let rig = Rig::of_skeleton(&flat, |_| true);
    let take = bent(&rig, 5, 1.0, 0.3);
    let names = ["j0", "j1", "j2", "j3", "j4"];
    // Onto a flat rig, and onto one of its joints below each other.
    for is_flat in [true, false] {
        let skeleton = row(5, 1.0, is_flat);
        let target = Rig::of_skeleton(&skeleton, |_| true);
        let chains = vec![
            chain(&["j0"], &["j0"], true),
            chain(&names[1..], &names[1..], false),
        ];
        let [ours, theirs] = roles_of(chains, &take.rest, &target);
        let options = RetargetOptions::default();
        let retarget = Retarget::new(&take, &ours, &skeleton, &target, &theirs, &options).unwrap();
        for frame in 0..3 {
            let pose = retarget.pose(frame);
            for j in 1..6 {
                let off = pose.places[j].distance(take.places(Some(frame))[j]);
                assert!(off < 1e-9, "flat {is_flat}, {frame}, j{}: {off}", j - 1);
            }
        }
        let baked = retarget.bake("Bent", &BakeOptions::default(), &Task::new());
        let baked = baked.unwrap();
        assert!(baked.keys.worst <= 1e-3);
        // The clip itself moves the joints there.
        let mut pose = sinew::skeleton::Pose::rest(&skeleton);
        baked.clip.apply(1.0, &mut pose);
        let world = pose.world_matrices(&skeleton);
        let off = world[5].translation.distance(take.places(Some(2))[5]);
        assert!(off < 0.01, "{off}");
    }
}

#[test]
fn chains_of_other_numbers_of_joints_point_along_each_other() {
    let source = row(9, 1.0, false);
    let rig = Rig::of_skeleton(&source, |_| true);
    let take = bent(&rig, 9, 1.0, 0.1);
    let skeleton = row(5, 4.0, false);
    let target = Rig::of_skeleton(&skeleton, |_| true);
    let chains = vec![chain(&["j0", "j8"], &["j0", "j4"], false)];
    let [ours, theirs] = roles_of(chains, &take.rest, &target);
    let options = RetargetOptions::default();
    let retarget = Retarget::new(&take, &ours, &skeleton, &target, &theirs, &options).unwrap();
    // Lengths 16 and 8.
    assert!((retarget.report.scale - 2.0).abs() < 1e-12);
    let pose = retarget.pose(2);
    // Its base goes twice as far, and its last joint is turned as the source's last one.
    assert!((pose.places[1] - DVec3::new(0.0, 1.0, 2.0)).length() < 1e-9);
    let [found, expected] = [pose.world[5], take.rotations(Some(2))[9]];
    assert!(found.angle_between(expected) < 1e-7);
    // In between as that at the same share: joint 2 of 4 as joint 4 of 8.
    let [found, expected] = [pose.world[3], take.rotations(Some(2))[5]];
    assert!(found.angle_between(expected) < 1e-7);
    // Typed.
    let options = RetargetOptions {
        scale: Scale::Fixed(0.5),
        ..options
    };
    let retarget = Retarget::new(&take, &ours, &skeleton, &target, &theirs, &options).unwrap();
    let z = retarget.pose(2).places[1].z;
    assert!((z - 0.5).abs() < 1e-9, "{z}");
}

#[test]
fn wrong_chains_are_refused_in_sentences() {
    let skeleton = row(4, 1.0, false);
    let rig = Rig::of_skeleton(&skeleton, |_| true);
    let refused = |chains: Vec<ChainNames>| {
        let map = RoleMap {
            chains,
            ..RoleMap::default()
        };
        let (mut ours, mut theirs) = (Roles::default(), Roles::default());
        map.apply([&rig, &rig], &mut ours, &mut theirs)
    };
    let whole = chain(&["j0", "j3"], &["j0", "j3"], true);
    for (chains, why) in [
        (vec![chain(&["j3", "j0"], &["j0"], false)], "is above"),
        (vec![chain(&["jaw"], &["j0"], false)], "no joint called"),
        (vec![whole.clone(), whole.clone()], "in two chains"),
        (
            vec![chain(&["j0"], &["j0"], true), chain(&["j1"], &["j1"], true)],
            "only one",
        ),
    ] {
        let found = refused(chains).unwrap_err();
        assert!(found.contains(why), "{found}");
    }
    // One that is not chosen yet is left out.
    assert_eq!(refused(vec![chain(&["j0"], &[""], false), whole]), Ok(()));
}

#[test]
fn a_hand_of_joints_beside_each_other_is_moved_by_chains() {
    let Some(folder) = shared_dir("a flat hand") else {
        return;
    };
    let path = folder.join("models/webxr_hand_left/webxr_hand_left.glb");
    let document: Document = open_any(&path, &Task::new()).unwrap().document;
    let skeleton = document.skeleton().as_ref().clone();
    let rig = Rig::of_skeleton(&skeleton, |_| true);
    let slot = |name: &str| rig.names.iter().position(|n| n == name).unwrap();
    let finger = |name: &str| {
        [
            "metacarpal",
            "phalanx-proximal",
            "phalanx-intermediate",
            "phalanx-distal",
        ]
        .map(|part| format!("{name}-finger-{part}"))
    };
    // The index finger bends about the axis across it; the wrist turns and goes.
    let names = finger("index");
    let mut take = Take {
        rest: rig.clone(),
        times: vec![0.0, 1.0],
        rotations: [rig.rotations.clone(), rig.rotations.clone()].concat(),
        places: [rig.places.clone(), rig.places.clone()].concat(),
    };
    let n = rig.len();
    let wrist = slot("wrist");
    let turn = DQuat::from_rotation_y(0.5) * DQuat::from_rotation_x(0.2);
    let goal = rig.places[wrist] + DVec3::new(0.1, 0.2, -0.05);
    for j in 0..n {
        take.rotations[n + j] = turn * rig.rotations[j];
        take.places[n + j] = goal + turn * (rig.places[j] - rig.places[wrist]);
    }
    let joints = names.each_ref().map(|name| slot(name));
    let axis = DVec3::Z;
    let mut bend = DQuat::IDENTITY;
    for pair in joints.windows(2) {
        bend *= DQuat::from_axis_angle(axis, 0.3);
        let offset = rig.places[pair[1]] - rig.places[pair[0]];
        take.rotations[n + pair[0]] = turn * bend * rig.rotations[pair[0]];
        take.places[n + pair[1]] = take.places[n + pair[0]] + turn * bend * offset;
    }
    take.rotations[n + joints[3]] = turn * bend * rig.rotations[joints[3]];
    let mut chains = vec![chain(&["wrist"], &["wrist"], true)];
    for name in ["index", "middle", "ring", "pinky"] {
        let names = finger(name);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        chains.push(chain(&names, &names, false));
    }
    let [ours, theirs] = roles_of(chains, &take.rest, &rig);
    let options = RetargetOptions::default();
    let retarget = Retarget::new(&take, &ours, &skeleton, &rig, &theirs, &options).unwrap();
    assert_eq!(retarget.report.root, "wrist");
    let pose = retarget.pose(1);
    for name in ["index", "middle", "ring", "pinky"] {
        for joint in finger(name).map(|name| slot(&name)) {
            let off = pose.places[joint].distance(take.places[n + joint]);
            assert!(off < 1e-6, "{}: {off}", rig.names[joint]);
        }
    }
}
