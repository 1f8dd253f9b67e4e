//! BVH files: real ones, odd ones and broken ones.

use crate::npy::read_npy;
use crate::shared::shared_dir;
use serde_json::Value;
use sinew::math::Worse;
use sinew::motion::bvh::{Bvh, BvhPoses, Placement, Positions};
use sinew::task::Task;
use std::path::Path;
use std::time::Instant;

pub(crate) fn read(path: &Path) -> Bvh {
    let bytes = std::fs::read(path).unwrap();
    Bvh::read(bytes, &Task::new()).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()))
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn places_of_real_files_agree_with_independent_readers() {
    let Some(shared) = shared_dir("places of BVH files") else {
        return;
    };
    let folder = shared.join("motion");
    for name in [
        "cmu_12_01_walk",
        "cmu_jumping_jacks",
        "fair_dab",
        "makehuman_tpose",
        "makehuman_walk1",
        "rokoko_jesse_dance",
    ] {
        let bvh = read(&folder.join("bvh").join(name).with_extension("bvh"));
        let oracle = folder.join("oracle").join(name);
        let index = json(&oracle.join("index.json"));
        let names: Vec<&str> = bvh.joints.iter().map(|j| j.name.as_str()).collect();
        assert_eq!(Value::from(names), index["joints"], "{name}");
        assert_eq!(bvh.n_frames as u64, index["n_frames"].as_u64().unwrap());
        assert_eq!(bvh.n_channels as u64, index["n_channels"].as_u64().unwrap());
        assert_eq!(bvh.frame_secs, index["frame_time"].as_f64().unwrap());
        let n_ends: usize = bvh.joints.iter().map(|j| j.end_sites.len()).sum();
        assert_eq!(n_ends as u64, index["end_sites"].as_u64().unwrap());
        let poses = BvhPoses::new(&bvh, Positions::Auto);
        for (placement, key) in [
            (Placement::None, "none"),
            (Placement::Replace, "replace"),
            (Placement::Add, "add"),
        ] {
            let found = poses.placements().iter().filter(|p| **p == placement);
            let expected = index["position_channels"][key].as_u64().unwrap_or(0);
            assert_eq!(found.count() as u64, expected, "{name}: {key}");
        }
        let (shape, places) = read_npy(&oracle.join("positions.npy"));
        let frames = index["frames"].as_array().unwrap();
        assert_eq!(shape, [frames.len(), bvh.joints.len(), 3]);
        let diagonal = index["diag"].as_f64().unwrap();
        let mut expected = places.chunks_exact(3);
        let mut worst = 0.0_f64;
        for frame in frames {
            let found = poses.places(Some(frame.as_u64().unwrap() as usize));
            for (place, expected) in found.iter().zip(&mut expected) {
                for axis in 0..3 {
                    worst = worst.worse((place[axis] - expected[axis]).abs());
                }
            }
        }
        println!("{name}: {:e} of the diagonal", worst / diagonal);
        assert!(worst <= 1e-9 * diagonal, "{name}: {}", worst / diagonal);
    }
}

#[test]
fn odd_files_are_read_with_their_notes() {
    let Some(shared) = shared_dir("odd BVH files") else {
        return;
    };
    let folder = shared.join("motion");
    let expected = json(&folder.join("expected.json"));
    let noted = |name: &str| -> &[&str] {
        match name {
            "frames_0" => &["only a rest pose"],
            "frame_time_0" => &["frame time is 0: 1/30 s assumed"],
            "frame_time_fps" => &["more than a second: frames per second meant?"],
            "fewer_frames" => &["Frames says 5, found 2"],
            "last_row_cut" => &["cut off (4 of 9 numbers)", "Frames says 3, found 2"],
            "wrapped_rows" => &["wrapped over lines"],
            "nan_values" => &["2 values are not numbers: missing"],
            "duplicate_names" => &["second joint called \"Hips\""],
            "no_channels_line" => &["\"Chest\" has no CHANNELS: it does not move"],
            _ => &[],
        }
    };
    let mut n = 0;
    for (key, expected) in expected.as_object().unwrap() {
        let Some(name) = key.strip_prefix("odd/") else {
            continue;
        };
        n += 1;
        let bvh = read(&folder.join(key));
        let name = name.trim_end_matches(".bvh");
        let said = noted(name);
        assert_eq!(bvh.notes.len(), said.len(), "{name}: {:?}", bvh.notes);
        for said in said {
            let found = bvh.notes.iter().any(|note| note.text.contains(said));
            assert!(found, "{name}: {:?}", bvh.notes);
        }
        if let Some(joints) = expected.get("joints") {
            let names: Vec<&str> = bvh.joints.iter().map(|j| j.name.as_str()).collect();
            assert_eq!(&Value::from(names), joints, "{name}");
            assert_eq!(expected["frames"], bvh.n_frames, "{name}");
        }
        let poses = BvhPoses::new(&bvh, Positions::Auto);
        if let Some(places) = expected.get("places_last_frame") {
            let found = poses.places(Some(bvh.n_frames - 1));
            for (place, expected) in found.iter().zip(places.as_array().unwrap()) {
                for axis in 0..3 {
                    let off = place[axis] - expected[axis].as_f64().unwrap();
                    assert!(off.abs() < 1e-9, "{name}: {place} for {expected}");
                }
            }
        }
        // A missing value is none that is drawn.
        assert!(poses.places(Some(1)).iter().all(|place| place.is_finite()));
    }
    assert_eq!(n, 24);
}

/// What the sentence about each file has to say.
const REFUSED: [(&str, &[&str]); 26] = [
    ("empty", &["the file is empty"]),
    ("binary", &["not a text file"]),
    ("not_bvh", &["line 1: HIERARCHY expected"]),
    ("no_hierarchy", &["line 1: MOTION comes before HIERARCHY"]),
    ("no_root", &["no ROOT"]),
    ("no_motion", &["the file ends before MOTION"]),
    ("unclosed", &["one \"{\" is open at MOTION"]),
    ("extra_brace", &["line 16: \"}\" does not close a joint"]),
    ("no_brace", &["\"{\" expected after \"JOINT Chest\""]),
    ("offset_two", &["line 8: OFFSET needs 3 numbers, found 2"]),
    ("offset_word", &["line 8: \"half\" is not a number"]),
    ("offset_nan", &["line 8: OFFSET is not finite"]),
    ("channel_count", &["line 9: CHANNELS says 4, but names 3"]),
    ("channel_name", &["line 9: unknown channel \"Wrotation\""]),
    ("channel_twice", &["line 9: channel \"Zrotation\" twice"]),
    ("joint_in_end", &["a joint inside an End Site"]),
    ("joint_first", &["JOINT \"Hips\" has no parent"]),
    ("unknown_word", &["line 8: unknown word \"OFSET\""]),
    ("no_frames_line", &["line 17: \"Frames:\" expected"]),
    ("frames_negative", &["line 17: \"-2\""]),
    ("frame_time_word", &["line 18: \"fast\" is not a number"]),
    ("frame_time_negative", &["line 18: \"-0.03\""]),
    (
        "row_short",
        &["line 20: a frame has 8 numbers, the channels need 9"],
    ),
    (
        "row_long",
        &["line 20: a frame has 10 numbers, the channels need 9"],
    ),
    ("row_word", &["line 20: \"x\" is not a number"]),
    ("deep", &["nested more than 256 deep"]),
];

#[test]
fn broken_files_are_refused_with_their_place() {
    let Some(shared) = shared_dir("broken BVH files") else {
        return;
    };
    let folder = shared.join("motion/malformed");
    for (name, said) in REFUSED {
        let bytes = std::fs::read(folder.join(name).with_extension("bvh")).unwrap();
        let why = Bvh::read(bytes, &Task::new()).unwrap_err().to_string();
        for said in said {
            assert!(why.contains(said), "{name}: {why}");
        }
        assert!(why.chars().count() <= 300);
    }
    let huge = read(&folder.join("frames_huge.bvh"));
    assert_eq!(huge.notes[0].text, "Frames says 99999999999, found 2.");
    assert_eq!(huge.n_frames, 2);
}

/// A walk of 4,511 frames and 96 channels, 3.4 MB, is read within the time of a blink.
#[test]
fn a_long_take_is_read_fast() {
    let Some(shared) = shared_dir("the speed of BVH files") else {
        return;
    };
    let path = shared.join("motion/bvh/cmu_12_01_walk.bvh");
    let text = std::fs::read_to_string(path).unwrap();
    let start = text.find("Frame Time:").unwrap();
    let rows: Vec<&str> = text[start..]
        .lines()
        .skip(1)
        .filter(|l| !l.trim().is_empty())
        .collect();
    let long = text[..start].replace("524", "4511") + "Frame Time: .0083333\n";
    let long = rows
        .iter()
        .cycle()
        .take(4511)
        .fold(long, |long, row| long + row + "\n");
    let started = Instant::now();
    let bvh = Bvh::read(long.into_bytes(), &Task::new()).unwrap();
    let took = started.elapsed();
    println!("4,511 frames x {} channels: {took:?}", bvh.n_channels);
    assert_eq!((bvh.n_frames, bvh.n_channels), (4511, 96));
    assert!(bvh.notes.is_empty(), "{:?}", bvh.notes);
    // The target is 0.15 s; this bound holds without optimisation and on a busy machine.
    assert!(took.as_secs_f64() < 3.0, "{took:?}");
}

#[test]
fn a_rule_for_positions_may_be_forced() {
    let text = "HIERARCHY\nROOT a\n{\nOFFSET 0 94 0\nCHANNELS 3 Xposition Yposition Zposition\n\
        JOINT b\n{\nOFFSET 0 5 0\nCHANNELS 1 Yposition\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\n}\n\
        MOTION\nFrames: 1\nFrame Time: 0.01\n1 90 0 0.5\n";
    let bvh = Bvh::parse(text, &Task::new()).unwrap();
    let top = |rule| BvhPoses::new(&bvh, rule).places(Some(0))[1].y;
    assert_eq!(top(Positions::Auto), 95.5);
    assert_eq!(top(Positions::Replace), 90.5);
    assert_eq!(top(Positions::Add), 189.5);
    assert_eq!(BvhPoses::new(&bvh, Positions::Add).places(None)[1].y, 99.0);
}

/// Changed bytes of every small file: read or refused, and what is read has places that are drawn.
#[test]
fn changed_files_are_read_or_refused() {
    let Some(shared) = shared_dir("changed BVH files") else {
        return;
    };
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    };
    let mut n_read = 0;
    for folder in ["odd", "malformed"] {
        for entry in std::fs::read_dir(shared.join("motion").join(folder)).unwrap() {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            if bytes.len() > 4096 {
                continue;
            }
            for _ in 0..60 {
                let mut changed = bytes.clone();
                for _ in 0..=next(4) {
                    let at = next(changed.len() + 1);
                    match next(16) {
                        0..8 => changed.insert(at, b" {}-.,1e9\n\rJNxX\xFF\0"[next(17)]),
                        8..15 if at < changed.len() => drop(changed.remove(at)),
                        _ => changed.truncate(at.max(1)),
                    }
                }
                let Ok(bvh) = Bvh::read(changed, &Task::new()) else {
                    continue;
                };
                n_read += 1;
                let poses = BvhPoses::new(&bvh, Positions::Auto);
                for frame in (0..bvh.n_frames).map(Some).chain([None]) {
                    assert_eq!(poses.places(frame).len(), bvh.joints.len());
                }
            }
        }
    }
    assert!(n_read > 50, "{n_read}");
}
