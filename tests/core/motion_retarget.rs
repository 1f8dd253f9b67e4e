//! Motions on characters, against an independent prototype's places.

use crate::motion_bvh::read;
use crate::motion_target::target;
use crate::shared::shared_dir;
use glam::DVec3;
use serde_json::Value;
use sinew::motion::bvh::Positions;
use sinew::motion::retarget::{Retarget, RetargetOptions};
use sinew::motion::roles::find_roles;
use sinew::motion::{Rig, Take};
use std::path::Path;

/// The six pairs of motions and characters.
pub(crate) const PAIRS: [(&str, &str); 6] = [
    ("cmu_12_01_walk", "mannequiny"),
    ("cmu_12_01_walk", "cesium_man"),
    ("cmu_jumping_jacks", "mannequiny"),
    ("fair_dab", "kaykit_knight"),
    ("makehuman_walk1", "mannequiny"),
    ("rokoko_jesse_dance", "mannequiny"),
];

pub(crate) fn oracle(folder: &Path, source: &str, target: &str) -> Value {
    let path = folder.join(format!("motion/oracle/retarget/retarget_{source}__{target}.json"));
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
        let (ours, theirs) = (find_roles(&take.rest), find_roles(&rig));
        let retarget =
            Retarget::new(&take, &ours, &skeleton, &rig, &theirs, &RetargetOptions::default());
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
        println!("{source} on {name}: {:?}", (report.reference.as_str(), report.zero_pose_rms_deg, report.best_frame, report.best_frame_rms_deg, report.scale));
        assert_eq!(report.mapped as u64, expected["mapped"].as_u64().unwrap());
        assert_eq!(Value::from(report.up), expected["up"]);
        assert!((report.up_share - expected["up_share"].as_f64().unwrap()).abs() < 1e-3);
        assert_eq!(Value::from(report.reference.as_str()), expected["reference"]);
        let zero = expected["zero_pose_rms_deg"].as_f64().unwrap();
        assert!((report.zero_pose_rms_deg - zero).abs() < 1e-4, "{} {zero}", report.zero_pose_rms_deg);
        assert!((report.scale - expected["scale"].as_f64().unwrap()).abs() < 1e-7);
        let mut worst = (0.0, String::new());
        for (frame, places) in oracle["places"].as_object().unwrap() {
            let pose = retarget.pose(frame.parse().unwrap());
            let joints = oracle["joints"].as_array().unwrap();
            for (joint, expected) in joints.iter().zip(places.as_array().unwrap()) {
                let joint = joint.as_str().unwrap();
                let at = (0..rig.len()).find(|j| rig.is_bone[*j] && rig.names[*j] == joint);
                let off = pose.places[at.unwrap()].distance(place(expected));
                if off > worst.0 {
                    worst = (off, format!("{joint} at frame {frame}"));
                }
            }
        }
        println!("  off by {:.1e} m: {}", worst.0, worst.1);
        assert!(worst.0 < 1e-4, "{source} on {name}: {} m, {}", worst.0, worst.1);
    }
}
