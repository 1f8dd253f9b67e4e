//! Fingers of a motion on those of a character, and limbs whose sides are swapped.

use crate::editing::EditorHarness;
use crate::live_motion::BONES;
use glam::{DQuat, DVec3};
use sinew::editor::OpenRequest;
use sinew::math::Worse;
use sinew::motion::Track;
use sinew::motion::retarget::{MotionSettings, Retarget, RetargetOptions};
use sinew::motion::vmc::take_of_body;
use sinew::motion::{Recording, Rig};
use sinew::rig::Character;
use sinew::skeleton::Clip;
use std::path::Path;

/// A second of a body in a T-pose whose left fingers and right index close.
fn grip() -> Recording {
    let times: Vec<f64> = (0..=60).map(|i| f64::from(i) / 60.0).collect();
    let fingers = ["Thumb", "Index", "Middle", "Ring", "Little"];
    let segments = ["Proximal", "Intermediate", "Distal"];
    let of = |side: &str, finger: &str| segments.map(|s| format!("{side}{finger}{s}"));
    let mut names: Vec<String> = BONES.map(str::to_owned).to_vec();
    names.extend(fingers.iter().flat_map(|finger| of("Left", finger)));
    names.extend(of("Right", "Index"));
    let rotations = names.into_iter().map(|name| {
        let turn = |t: &f64| {
            let is_hand = name == "LeftHand" || name == "LeftUpperArm";
            let sign = if name.starts_with("Right") { 1.0 } else { -1.0 };
            match &name {
                _ if is_hand => DQuat::from_rotation_y(0.3 * t),
                name if name.contains("Thumb") => DQuat::from_rotation_y(0.4 * t),
                name if segments.iter().any(|s| name.ends_with(s)) => {
                    DQuat::from_rotation_z(sign * 0.9 * t)
                }
                _ => DQuat::IDENTITY,
            }
        };
        Track {
            values: times.iter().map(turn).collect(),
            name: name.clone(),
        }
    });
    Recording {
        rotations: rotations.collect(),
        times: times.clone(),
        ..Recording::default()
    }
}

fn at(rig: &Rig, name: &str) -> usize {
    rig.names.iter().position(|n| n == name).expect(name)
}

#[test]
fn fingers_point_as_those_of_the_motion() {
    let h = EditorHarness::on(OpenRequest::Path("assets/mannequin.glb".into()));
    let character = Character::of(h.editor.document());
    let take = take_of_body(&grip()).unwrap();
    let roles = character
        .roles(&take.rest, &MotionSettings::default())
        .unwrap();
    assert_eq!(roles.each_ref().map(|roles| roles.fingers.len()), [18, 30]);
    let made = Retarget::new(
        &take,
        &roles[0],
        character.skeleton(),
        &character.rig,
        &roles[1],
        &RetargetOptions::default(),
    );
    let made = made.unwrap();
    let pair = ["LeftThumbProximal", "thumb.01.L"].map(str::to_owned);
    assert_eq!(made.report.roles["l.thumb1"], pair);
    let source = made.take();
    let mut worst = 0.0_f64;
    for frame in [0, 20, 60] {
        let pose = made.pose(frame);
        let places = source.places(Some(frame));
        for [a, b, c, d] in [
            [
                "LeftThumbProximal",
                "LeftThumbIntermediate",
                "thumb.01.L",
                "thumb.02.L",
            ],
            [
                "LeftIndexProximal",
                "LeftIndexIntermediate",
                "index.01.L",
                "index.02.L",
            ],
            [
                "LeftLittleIntermediate",
                "LeftLittleDistal",
                "pinky.02.L",
                "pinky.03.L",
            ],
            [
                "RightIndexIntermediate",
                "RightIndexDistal",
                "index.02.R",
                "index.03.R",
            ],
        ] {
            let [a, b] = [a, b].map(|name| places[at(&source.rest, name)]);
            let [c, d] = [c, d].map(|name| pose.places[at(&character.rig, name)]);
            worst = worst.worse((b - a).angle_between(d - c));
        }
    }
    println!("fingers: {:.1e} degrees", worst.to_degrees());
    assert!(worst.to_degrees() < 1e-3, "{}", worst.to_degrees());
    // The hand lies as the source's: across the palm in the same direction.
    let (pose, places) = (made.pose(60), source.places(Some(60)));
    let across = |places: &[DVec3], rig: &Rig, [first, hand]: [&str; 2], last: &str| {
        let [first, hand, last] = [first, hand, last].map(|name| places[at(rig, name)]);
        (last - first).cross(first - hand)
    };
    let ours = across(
        places,
        &source.rest,
        ["LeftIndexProximal", "LeftHand"],
        "LeftLittleProximal",
    );
    let theirs = across(
        &pose.places,
        &character.rig,
        ["index.01.L", "hand.L"],
        "pinky.01.L",
    );
    assert!(ours.angle_between(theirs).to_degrees() < 15.0);
}

/// The walker with the names of left and right exchanged.
fn swapped(folder: &Path, words: &[&str]) -> std::path::PathBuf {
    let text = std::fs::read_to_string("tests/data/walker.bvh").unwrap();
    let exchanged = |line: &str| {
        if !words.iter().any(|word| line.ends_with(word)) {
            return line.to_owned();
        }
        let line = line.replace("Left", "@").replace("Right", "Left");
        line.replace('@', "Right")
    };
    let lines: Vec<String> = text.lines().map(exchanged).collect();
    let path = folder.join("swapped.bvh");
    std::fs::write(&path, lines.join("\n")).unwrap();
    path
}

#[test]
fn swapped_limbs_are_refused_and_exchanged() {
    let added = |path: &Path| {
        let mut h = EditorHarness::on(OpenRequest::Path("assets/mannequin.glb".into()));
        h.editor.add_motion(path);
        h.settle();
        h
    };
    let clip = |h: &EditorHarness| -> Clip {
        let id = h.editor.adding_motion().unwrap().clip().unwrap();
        h.editor.document().clips()[&id].as_ref().clone()
    };
    let right = clip(&added(Path::new("tests/data/walker.bvh")));
    let folder = tempfile::tempdir().unwrap();
    let legs = ["UpLeg", "Leg", "Foot", "ToeBase"];
    let arms = ["Shoulder", "Arm", "Hand"];
    for (words, what) in [
        ([&legs[..], &arms].concat(), "legs and arms"),
        (arms.to_vec(), "arms"),
    ] {
        let mut h = added(&swapped(folder.path(), &words));
        let motion = h.editor.adding_motion().unwrap();
        let expected =
            format!("The motion: the left and the right {what} are swapped: swap their sides.");
        assert_eq!(motion.failure(), Some(expected.as_str()));
        assert!(motion.has_swapped_sides() && motion.clip().is_none());
        h.editor.swap_sides();
        h.settle();
        let motion = h.editor.adding_motion().unwrap();
        assert_eq!(motion.failure(), None);
        assert!(!motion.has_swapped_sides());
        let made = clip(&h);
        assert_eq!(made.channels.len(), right.channels.len());
        for (made, right) in made.channels.iter().zip(&right.channels) {
            assert_eq!((made.joint, &made.times), (right.joint, &right.times));
            assert_eq!(made.values, right.values);
        }
    }
}
