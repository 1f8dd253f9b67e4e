//! Motions on characters, against an independent prototype's places.

use crate::motion_bvh::read;
use crate::motion_target::{PAIRS, target};
use crate::shared::shared_dir;
use glam::{DQuat, DVec3};
use serde_json::Value;
use sinew::math::Transform;
use sinew::motion::bvh::{Bvh, BvhPoses, Positions};
use sinew::motion::retarget::{
    BakeOptions, Reference, Retarget, RetargetOptions, RetargetPose, Scale, Travel,
};
use sinew::motion::roles::{by_structure, check_roles, find_roles};
use sinew::motion::{Rig, Take};
use sinew::skeleton::{Joint, JointId, Skeleton};
use sinew::task::Task;
use std::path::Path;

pub(crate) fn oracle(folder: &Path, source: &str, target: &str) -> Value {
    let path = folder.join(format!(
        "motion/oracle/retarget/retarget_{source}__{target}.json"
    ));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn place(value: &Value) -> DVec3 {
    let at = |axis: usize| value[axis].as_f64().unwrap();
    DVec3::new(at(0), at(1), at(2))
}

#[test]
fn places_agree_with_the_prototype() {
    let Some(folder) = shared_dir("retargeted places") else {
        return;
    };
    for (source, name) in PAIRS {
        let oracle = oracle(&folder, source, name);
        let bvh = read(&folder.join("motion/bvh").join(source).with_extension("bvh"));
        let take = Take::of_bvh(&bvh, Positions::Auto);
        let (skeleton, is_bone) = target(&folder, name);
        let rig = Rig::of_skeleton(&skeleton, |j| is_bone[j]);
        let (mut ours, mut theirs) = (find_roles(&take.rest), find_roles(&rig));
        // The prototype knows no fingers.
        ours.fingers.clear();
        theirs.fingers.clear();
        let retarget = Retarget::new(
            &take,
            &ours,
            &skeleton,
            &rig,
            &theirs,
            &RetargetOptions::default(),
        );
        let retarget = retarget.unwrap_or_else(|why| panic!("{source} on {name}: {why}"));
        let report = &retarget.report;
        let expected = &oracle["report"];
        for (role, pair) in oracle["map"].as_object().unwrap() {
            if role == "spine" {
                assert_eq!(&serde_json::json!(report.spine), pair, "{source} on {name}");
            } else {
                let found = serde_json::json!(report.roles.get(role));
                assert_eq!(&found, pair, "{source} on {name}: {role}");
            }
        }
        println!(
            "{source} on {name}: {:?}",
            (
                report.reference.as_str(),
                report.zero_pose_rms_deg,
                report.best_frame,
                report.best_frame_rms_deg,
                report.scale
            )
        );
        assert_eq!(report.mapped as u64, expected["mapped"].as_u64().unwrap());
        assert_eq!(Value::from(report.up), expected["up"]);
        assert!((report.up_share - expected["up_share"].as_f64().unwrap()).abs() < 1e-3);
        assert_eq!(
            Value::from(report.reference.as_str()),
            expected["reference"]
        );
        let zero = expected["zero_pose_rms_deg"].as_f64().unwrap();
        assert!(
            (report.zero_pose_rms_deg - zero).abs() < 1e-4,
            "{} {zero}",
            report.zero_pose_rms_deg
        );
        assert!((report.scale - expected["scale"].as_f64().unwrap()).abs() < 1e-7);
        let mut worst = (0.0, String::new());
        for (frame, places) in oracle["places"].as_object().unwrap() {
            let pose = retarget.pose(frame.parse().unwrap());
            let joints = oracle["joints"].as_array().unwrap();
            for (joint, expected) in joints.iter().zip(places.as_array().unwrap()) {
                let joint = joint.as_str().unwrap();
                let at = (0..rig.len()).find(|j| rig.is_bone[*j] && rig.names[*j] == joint);
                let off = pose.places[at.unwrap()].distance(place(expected));
                if off > worst.0 || off.is_nan() {
                    worst = (off, format!("{joint} at frame {frame}"));
                }
            }
        }
        println!("  off by {:.1e} m: {}", worst.0, worst.1);
        assert!(
            worst.0 < 1e-4,
            "{source} on {name}: {} m, {}",
            worst.0,
            worst.1
        );
    }
}

#[test]
fn feet_are_held_and_keys_are_few() {
    let Some(folder) = shared_dir("foot lock and keys") else {
        return;
    };
    for (source, name) in PAIRS {
        let oracle = oracle(&folder, source, name);
        let bvh = read(&folder.join("motion/bvh").join(source).with_extension("bvh"));
        let take = Take::of_bvh(&bvh, Positions::Auto);
        let (skeleton, is_bone) = target(&folder, name);
        let rig = Rig::of_skeleton(&skeleton, |j| is_bone[j]);
        let (ours, theirs) = (find_roles(&take.rest), find_roles(&rig));
        let retarget = Retarget::new(
            &take,
            &ours,
            &skeleton,
            &rig,
            &theirs,
            &RetargetOptions::default(),
        )
        .unwrap();
        let (poses, feet) = retarget.poses(true, &Task::new()).unwrap();
        let [before, after] = [&oracle["slide_before"], &oracle["slide_after"]];
        println!(
            "{source} on {name}: {:.4?} -> {:.4?}, drop {:.4}, miss {:.4}; page {before} -> {after}, {}",
            feet.slide_before, feet.slide_after, feet.hip_drop, feet.out_of_reach, oracle["lock"]
        );
        let times = retarget.times();
        for (side, key) in ["l", "r"].into_iter().enumerate() {
            let expected = oracle["contacts_s"][key].as_array().unwrap();
            assert_eq!(
                feet.contacts[side].len(),
                expected.len(),
                "{source} on {name}: {key}"
            );
            for (found, expected) in feet.contacts[side].iter().zip(expected) {
                for (frame, expected) in [found.first, found.last]
                    .into_iter()
                    .zip(expected.as_array().unwrap())
                {
                    assert!((times[frame] - expected.as_f64().unwrap()).abs() < 1e-3);
                }
            }
        }
        let number = |value: &Value, i: usize| value[i].as_f64().unwrap();
        for i in 0..2 {
            assert!(
                (feet.slide_before[i] - number(before, i)).abs() < 1e-5,
                "{source} on {name}"
            );
            if feet.holds {
                let allowed = (number(after, i) * 1.1).max(1e-5);
                assert!(
                    feet.slide_after[i] <= allowed,
                    "{source} on {name}: {}",
                    feet.slide_after[i]
                );
            }
        }
        if feet.holds {
            let [drop, miss] =
                ["hip_drop", "out_of_reach"].map(|key| oracle["lock"][key].as_f64().unwrap());
            assert!(
                (feet.hip_drop - drop).abs() < 1e-4 && feet.out_of_reach < 1.1 * miss.max(1e-6)
            );
        }
        let free = retarget.poses(false, &Task::new()).unwrap().0;
        for (pose, free) in poses.iter().zip(&free) {
            for j in 0..rig.len() {
                if let Some(parent) = rig.parents[j].filter(|_| j != retarget.hips()) {
                    let length = |p: &RetargetPose| p.places[j].distance(p.places[parent]);
                    assert!((length(pose) - length(free)).abs() < 1e-6);
                }
            }
        }
        let baked = retarget
            .bake(source, &BakeOptions::default(), &Task::new())
            .unwrap();
        println!("  {:?}; page {}", baked.keys, oracle["thinning"]);
        assert!(baked.keys.worst <= 1e-3 && baked.keys.keys < baked.keys.of);
        for channel in &baked.clip.channels {
            let (n, times) = (channel.times.len(), retarget.times());
            assert_eq!(channel.times[0], 0.0);
            assert!(n == 1 || channel.times[n - 1] == *times.last().unwrap() as f32);
        }
        let coarse = BakeOptions {
            tolerance: 1e-2,
            ..BakeOptions::default()
        };
        let coarse = retarget.bake(source, &coarse, &Task::new()).unwrap();
        assert!(coarse.keys.worst <= 1e-2 && coarse.keys.keys < baked.keys.keys);
        let all = BakeOptions {
            tolerance: 0.0,
            ..BakeOptions::default()
        };
        let all = retarget.bake(source, &all, &Task::new()).unwrap();
        assert_eq!(all.keys.keys, all.keys.of);
    }
}

/// The skeleton of a BVH file, with its rest pose.
fn skeleton_of(bvh: &Bvh, scale: f64, name: impl Fn(&str) -> String) -> Skeleton {
    let joints = bvh.joints.iter().map(|joint| {
        let parent = joint.parent.map(|p| JointId(p as u32));
        let rest = Transform::from_rotation_translation(DQuat::IDENTITY, joint.offset * scale);
        Joint::new(name(&joint.name), parent, rest)
    });
    Skeleton::new(joints.collect()).unwrap()
}

#[test]
fn a_motion_on_its_own_skeleton_is_itself_at_any_size() {
    let Some(folder) = shared_dir("a motion on itself") else {
        return;
    };
    let bvh = read(&folder.join("motion/bvh/cmu_12_01_walk.bvh"));
    let take = Take::of_bvh(&bvh, Positions::Auto);
    let poses = BvhPoses::new(&bvh, Positions::Auto);
    for scale in [1.0, 0.06] {
        let skeleton = skeleton_of(&bvh, scale, str::to_owned);
        let rig = Rig::of_skeleton(&skeleton, |_| true);
        let (ours, theirs) = (find_roles(&take.rest), find_roles(&rig));
        let options = RetargetOptions {
            keeps_heading: true,
            ..RetargetOptions::default()
        };
        let made = Retarget::new(&take, &ours, &skeleton, &rig, &theirs, &options).unwrap();
        assert!((made.report.scale - scale).abs() < 1e-12);
        for frame in [0, 174, 523] {
            let (pose, places) = (made.pose(frame), poses.places(Some(frame)));
            // The floor of the motion is that of the rest pose: all joints are moved by as much.
            let moved = pose.places[0] - places[0] * scale;
            let first = made.pose(0).places[0] - poses.places(Some(0))[0] * scale;
            assert!((moved - first).length() < 1e-9, "{moved} {first}");
            for (j, place) in places.iter().enumerate() {
                let off = (pose.places[j] - *place * scale - moved).length();
                assert!(off < 1e-6 * scale, "{}: {off}", bvh.joints[j].name);
            }
        }
    }
}

#[test]
fn heading_travel_and_scale_do_what_they_say() {
    let Some(folder) = shared_dir("heading and travel") else {
        return;
    };
    let bvh = read(&folder.join("motion/bvh/fair_dab.bvh"));
    let take = Take::of_bvh(&bvh, Positions::Auto);
    let (skeleton, is_bone) = target(&folder, "mannequiny");
    let rig = Rig::of_skeleton(&skeleton, |j| is_bone[j]);
    let (ours, theirs) = (find_roles(&take.rest), find_roles(&rig));
    let make = |options: RetargetOptions| {
        Retarget::new(&take, &ours, &skeleton, &rig, &theirs, &options).unwrap()
    };
    let forward = make(RetargetOptions::default());
    let recorded = make(RetargetOptions {
        keeps_heading: true,
        ..RetargetOptions::default()
    });
    let hips = forward.hips();
    // The recorded heading is the forward one turned by one yaw.
    let turn = |frame: usize| {
        recorded.pose(frame).world[hips] * forward.pose(frame).world[hips].conjugate()
    };
    let first = turn(0);
    assert!(first.x.abs() < 1e-6 && first.z.abs() < 1e-6);
    for frame in [50, 200, 338] {
        assert!((turn(frame).dot(first).abs() - 1.0).abs() < 1e-6);
    }
    let vertical = make(RetargetOptions {
        travel: Travel::Vertical,
        ..RetargetOptions::default()
    });
    let half = make(RetargetOptions {
        scale: Scale::Fixed(forward.report.scale * 0.5),
        ..RetargetOptions::default()
    });
    assert_eq!(half.report.scale, forward.report.scale * 0.5);
    for frame in [0, 100, 338] {
        let [free, held] = [&forward, &vertical].map(|made| made.pose(frame).places[hips]);
        assert!((free.y - held.y).abs() < 1e-12);
        assert!(DVec3::new(held.x, 0.0, held.z).length() < 0.1);
    }
    let why = Retarget::new(
        &take,
        &ours,
        &skeleton,
        &rig,
        &theirs,
        &RetargetOptions {
            reference: Reference::Frame(339),
            ..RetargetOptions::default()
        },
    );
    let why = why.unwrap_err().to_string();
    assert_eq!(
        why,
        "the reference is frame 339, the motion has 339 frames, counted from 0"
    );
}

#[test]
fn names_that_say_nothing_give_the_same_roles_by_structure() {
    let Some(folder) = shared_dir("roles by structure") else {
        return;
    };
    for (name, n) in [("mannequiny", 20), ("kaykit_knight", 17)] {
        let (skeleton, is_bone) = target(&folder, name);
        let mut rig = Rig::of_skeleton(&skeleton, |j| is_bone[j]);
        let named = find_roles(&rig);
        for (j, name) in rig.names.iter_mut().enumerate() {
            *name = format!("node {j}");
        }
        let found = by_structure(&rig).unwrap();
        let same = named
            .joints
            .iter()
            .filter(|(role, joint)| found.joints.get(role) == Some(joint));
        println!(
            "{name}: {} of {} roles",
            same.clone().count(),
            named.joints.len()
        );
        assert_eq!(
            same.count(),
            named.joints.len(),
            "{name}: {found:?} {named:?}"
        );
        assert!(found.len() >= n);
    }
}

#[test]
fn what_is_no_biped_is_said() {
    let bvh = Bvh::parse(
        "HIERARCHY\nROOT Hips\n{\nOFFSET 0 1 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n}\nMOTION\nFrames: 1\nFrame Time: 0.1\n0 0 0\n",
        &Task::new(),
    )
    .unwrap();
    let take = Take::of_bvh(&bvh, Positions::Auto);
    let roles = find_roles(&take.rest);
    let why = check_roles(&take.rest, &roles).unwrap_err().to_string();
    assert_eq!(
        why,
        "no legs were found: map thigh, shin and foot, or add chains"
    );
}

/// Where the travel is left out, a body walks on a floor that moves: its legs are those of the whole walk.
#[test]
fn feet_rest_on_the_floor_of_the_whole_walk() {
    let Some(folder) = shared_dir("foot lock in place") else {
        return;
    };
    let (source, name) = PAIRS[0];
    let bvh = read(&folder.join("motion/bvh").join(source).with_extension("bvh"));
    let take = Take::of_bvh(&bvh, Positions::Auto);
    let (skeleton, is_bone) = target(&folder, name);
    let rig = Rig::of_skeleton(&skeleton, |j| is_bone[j]);
    let (ours, theirs) = (find_roles(&take.rest), find_roles(&rig));
    let poses = |travel: Travel| {
        let options = RetargetOptions {
            travel,
            keeps_heading: true,
            ..RetargetOptions::default()
        };
        let retarget = Retarget::new(&take, &ours, &skeleton, &rig, &theirs, &options).unwrap();
        let (poses, feet) = retarget.poses(true, &Task::new()).unwrap();
        (poses, feet, retarget.hips())
    };
    let (whole, feet, hips) = poses(Travel::Full);
    assert!(feet.holds);
    for travel in [Travel::InPlace, Travel::Vertical] {
        let (kept, feet_of_kept, _) = poses(travel);
        assert_eq!(feet_of_kept.contacts, feet.contacts);
        let mut farthest = 0.0_f64;
        for (a, b) in whole.iter().zip(&kept) {
            let shift = b.places[hips] - a.places[hips];
            assert!(shift.y.abs() < 1e-9);
            farthest = farthest.max(shift.length());
            // Joints above the hips stay.
            let below = (0..rig.len()).filter(|j| rig.is_below(*j, hips));
            for j in below {
                let off = b.places[j] - a.places[j] - shift;
                assert!(off.length() < 1e-6, "{travel:?}: {off}");
            }
        }
        assert!(farthest > 1.0, "{farthest}");
    }
}
