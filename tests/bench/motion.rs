//! Motions on characters and bodies of persons: how fast, how much feet slide, how many keyframes are kept, and what is left of
//! the errors of girths.
//!
//! `cargo bench --bench motion` needs the shared test data (`SINEW_SHARED`, else `../shared`) and prints tables.

use median::median;
use motion_target::{PAIRS, target};
use sinew::document::Document;
use sinew::io::open_any;
use sinew::motion::bvh::{Bvh, Positions};
use sinew::motion::retarget::{BakeOptions, Retarget, RetargetOptions};
use sinew::motion::roles::find_roles;
use sinew::motion::{Rig, Take};
use sinew::task::Task;
use sinew::twin::{FitOptions, Kind, Measurement};
use std::path::Path;
use std::time::Instant;

#[path = "median.rs"]
mod median;

#[path = "../core/motion_target.rs"]
mod motion_target;
#[path = "../core/shared.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod shared;

const RUNS: usize = 9;
/// Tolerances of joint places, of the character's height.
const TOLERANCES: [f64; 3] = [1e-3, 3e-3, 1e-2];
/// Factors of girths and lengths by role.
const FACTORS: [(&str, f64, f64); 4] = [
    ("thigh", 0.9, 1.1),
    ("shin", 1.15, 1.08),
    ("upperarm", 1.2, 0.95),
    ("forearm", 1.1, 1.05),
];

fn main() {
    let Some(shared) = shared::shared_dir("the bench of motions") else {
        return;
    };
    reading(&shared);
    retargeting(&shared);
    individuals(&shared);
}

/// Reading BVH files; one is repeated to the length of a long take.
fn reading(shared: &Path) {
    for (name, copies) in [("cmu_12_01_walk", 1), ("cmu_12_01_walk", 9)] {
        let bytes = repeated(&bytes_of(shared, name), copies);
        let bvh = Bvh::read(bytes.clone(), &Task::new()).expect("it is a motion");
        let took = median(RUNS, || {
            let bvh = Bvh::read(bytes.clone(), &Task::new()).expect("it is a motion");
            assert!(bvh.n_frames > 0);
        });
        println!(
            "reading {name}, {} frames x {} channels, {:.1} MB: {:.1} ms",
            bvh.n_frames,
            bvh.joints.iter().map(|j| j.channels.len()).sum::<usize>(),
            bytes.len() as f64 * 1e-6,
            took.as_secs_f64() * 1e3
        );
    }
}

fn bytes_of(shared: &Path, name: &str) -> Vec<u8> {
    let path = shared.join("motion/bvh").join(name).with_extension("bvh");
    std::fs::read(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

/// A BVH file with all its frames several times over.
fn repeated(bytes: &[u8], copies: usize) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let (head, motion) = text.split_once("Frames:").expect("a motion");
    let (n_frames, motion) = motion.split_once('\n').expect("a number of frames");
    let (step, rows) = motion.split_once('\n').expect("a frame time");
    let n_frames: usize = n_frames.trim().parse().expect("a number");
    let rows = rows.trim_end();
    let mut out = format!("{head}Frames: {}\n{step}\n", n_frames * copies);
    for _ in 0..copies {
        out.push_str(rows);
        out.push('\n');
    }
    out.into_bytes()
}

/// Six motions on characters, with default options.
fn retargeting(shared: &Path) {
    println!();
    for (source, name) in PAIRS {
        let bvh = Bvh::read(bytes_of(shared, source), &Task::new()).expect("it is a motion");
        let take = Take::of_bvh(&bvh, Positions::Auto);
        let (skeleton, is_bone) = target(shared, name);
        let rig = Rig::of_skeleton(&skeleton, |j| is_bone[j]);
        let (ours, theirs) = (find_roles(&take.rest), find_roles(&rig));
        let options = RetargetOptions::default();
        let made = Retarget::new(&take, &ours, &skeleton, &rig, &theirs, &options);
        let made = made.unwrap_or_else(|why| panic!("{source} on {name}: {why}"));
        let n_frames = take.n_frames();
        let took = median(RUNS, || {
            for frame in 0..n_frames {
                std::hint::black_box(made.pose(frame));
            }
        });
        let (_, feet) = made.poses(true, &Task::new()).expect("not cancelled");
        let cm = |metres: f64| 100.0 * metres;
        println!(
            "{source} on {name}: {n_frames} frames, {} joints, {:.1} us a frame; {} contacts, slide {:.1} cm/s and {:.1} cm \
             -> {:.1} cm/s and {:.1} cm{}",
            rig.len(),
            took.as_secs_f64() * 1e6 / n_frames as f64,
            feet.contacts.iter().map(Vec::len).sum::<usize>(),
            cm(feet.slide_before[0]),
            cm(feet.slide_before[1]),
            cm(feet.slide_after[0]),
            cm(feet.slide_after[1]),
            if feet.holds { "" } else { ", not held" },
        );
        for tolerance in TOLERANCES {
            let options = BakeOptions {
                tolerance,
                ..BakeOptions::default()
            };
            let start = Instant::now();
            let baked = made.bake(source, &options, &Task::new());
            let keys = baked.expect("not cancelled").keys;
            println!(
                "    tolerance {:.1} % of the height: {} of {} keyframes, worst joint {:.2} %, baked in {:.0} ms",
                100.0 * tolerance,
                keys.keys,
                keys.of,
                100.0 * keys.worst,
                start.elapsed().as_secs_f64() * 1e3
            );
        }
    }
}

/// The middle girths and the lengths of both arms and legs, changed.
fn rows_of(document: &Document) -> Vec<Measurement> {
    let measures = document.template_measures().expect("a skinned body");
    let mut rows = Vec::new();
    for bone in &measures.bones {
        let role = bone.role.as_deref().and_then(|role| role.split_once('.'));
        let Some((_, part)) = role else {
            continue;
        };
        let Some((_, girth, length)) = FACTORS.into_iter().find(|(name, ..)| *name == part) else {
            continue;
        };
        let row = |kind, at, value| Measurement {
            kind,
            bone: bone.bone.clone(),
            at,
            value,
            ..Measurement::default()
        };
        rows.push(row(Kind::Length, 0.0, bone.length * length));
        if let Some(template) = bone.girths[1] {
            rows.push(row(Kind::Girth, 0.5, template * girth));
        }
    }
    rows
}

/// Bodies of persons with eight lengths and up to eight girths.
fn individuals(shared: &Path) {
    println!();
    for name in ["mannequiny", "cesium_man", "kaykit_knight"] {
        let path = shared.join("models").join(name).join(format!("{name}.glb"));
        let document = open_any(&path, &Task::new()).expect("a model").document;
        let rows = rows_of(&document);
        let fit = || {
            let made = document.individualised(&rows, &FitOptions::default(), &Task::new());
            made.unwrap_or_else(|why| panic!("{name}: {why}"))
        };
        let report = fit().report;
        let took = median(RUNS, || drop(std::hint::black_box(fit())));
        let errors = report.girth_errors.iter();
        let errors: Vec<String> = errors.map(|e| format!("{:.2}", 100.0 * e)).collect();
        let measured = document.template_measures().expect("a skinned body");
        println!(
            "{name}: {} vertices, {} measurements: girth errors {} % by round, {} of {} faces flipped, {:.0} ms",
            measured.n_points,
            rows.len(),
            errors.join(", "),
            report.flipped,
            report.triangles,
            took.as_secs_f64() * 1e3
        );
    }
}
