//! What editing the rig of a model with many clips costs, off the window's thread, and what its constraints cost a pose.
//!
//! `cargo bench --no-default-features --bench rigging -- MODEL.glb [JOINT]` prints medians; compare rows of one run only.
//! Without a model it takes the sample arm. `JOINT`: a bone by its name, by default the one whose channels have most
//! keyframes. The new document is what the viewport shows; the report measures all its clips.

use glam::DVec3;
use sinew::document::rig::measure::{diagonal, n_keys};
use sinew::document::rig::{Axis, Intent};
use sinew::document::{Document, Edit};
use sinew::io::{gltf_build, import_bytes};
use sinew::rig::{Operation, Report};
use sinew::sample::{SampleKind, sample};
use sinew::skeleton::constraint::{
    Constraint, Constraints, CopiedAxes, EulerOrder, Evaluator, Rule, Space,
};
use sinew::skeleton::ik::TwoBone;
use sinew::skeleton::{JointId, Pose};
use sinew::task::Task;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Runs of one row.
const RUNS: usize = 9;

fn main() {
    let mut args = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with("--"));
    let document = document(args.next().as_deref());
    let joint = joint(&document, args.next().as_deref());
    let skeleton = document.skeleton();
    println!(
        "{} bones, {} clips, {} keyframes; \u{201c}{}\u{201d}",
        skeleton.live_joints().count(),
        document.clips().len(),
        n_keys(&document),
        skeleton.label(joint)
    );
    println!(
        "{:34} {:>12} {:>12} {:>12}",
        "operation", "document", "report", "both"
    );
    for operation in operations(&document, joint) {
        edit(&document, &operation);
    }
    constraints(&document);
    two_bones();
}

/// A model with its clips.
fn document(path: Option<&str>) -> Document {
    let glb = match path {
        Some(path) => std::fs::read(path).expect("the model"),
        None => gltf_build::to_glb(&sample(SampleKind::Arm, 10_000)),
    };
    let imported = import_bytes(glb.into(), None, None, &Task::new()).expect("a model");
    Document::new(imported.parts).expect("a document")
}

fn joint(document: &Document, name: Option<&str>) -> JointId {
    let skeleton = document.skeleton();
    let mut joints = skeleton.live_joints();
    if let Some(name) = name {
        let named = joints.find(|&j| skeleton.joint(j).name == name);
        return named.expect("a bone of this name");
    }
    let n_keys = |joint: JointId| -> usize {
        let channels = document.clips().values().flat_map(|clip| &clip.channels);
        let own = channels.filter(|channel| channel.joint == joint);
        own.map(|channel| channel.times.len()).sum()
    };
    // With a parent and children, so that every operation can be done.
    let inner =
        joints.filter(|&j| skeleton.joint(j).parent.is_some() && !skeleton.children(j).is_empty());
    inner.max_by_key(|&j| n_keys(j)).expect("a bone")
}

fn operations(document: &Document, joint: JointId) -> Vec<Operation> {
    let skeleton = document.skeleton();
    let by = DVec3::new(0.01, 0.02, 0.005) * diagonal(document);
    let above = skeleton.joint(joint).parent;
    let parent = above.and_then(|parent| skeleton.joint(parent).parent);
    let moves = [
        Intent::NewPivot,
        Intent::KeepMotion,
        Intent::ChildrenKeepMotion,
    ];
    let moves = moves.map(|intent| Operation::Move { joint, by, intent });
    let mut all = moves.to_vec();
    all.extend([
        Operation::MoveTree { joint, by },
        Operation::Roll { joint, angle: 0.5 },
        Operation::Orient {
            joint,
            aim: Axis::Y,
            second: Axis::Z,
        },
        Operation::Insert { joint, n: 3 },
        Operation::Twist { joint, n: 3 },
        Operation::Half { joint },
        Operation::Extrude { joint, by },
        Operation::Remove { joint },
        Operation::Dissolve { joint },
        Operation::Centre { joint },
        Operation::Symmetrize { joint },
    ]);
    all.extend(parent.map(|parent| Operation::Reparent { joint, parent }));
    all
}

/// An operation, its document and its report.
fn edit(document: &Document, operation: &Operation) {
    let task = Task::new();
    let mut times: Vec<[Duration; 3]> = Vec::new();
    for _ in 0..RUNS {
        let start = Instant::now();
        let done = match operation.run(document, &task) {
            Ok(done) => done,
            Err(why) => {
                println!("{:34} {why}", name(operation));
                return;
            }
        };
        let mut after = document.clone();
        let applied = after.apply(&mut Edit::Rig(Box::new(done.edit.clone())));
        applied.expect("a sound rig");
        let made = start.elapsed();
        let measuring = Instant::now();
        black_box(Report::new(operation, &done, document, &after));
        times.push([made, measuring.elapsed(), start.elapsed()]);
    }
    let median = |part: usize| {
        let mut all: Vec<Duration> = times.iter().map(|run| run[part]).collect();
        all.sort();
        all[RUNS / 2].as_secs_f64() * 1e3
    };
    println!(
        "{:34} {:>9.2} ms {:>9.2} ms {:>9.2} ms",
        name(operation),
        median(0),
        median(1),
        median(2)
    );
}

fn name(operation: &Operation) -> String {
    match operation {
        Operation::Move { intent, .. } => format!("{}, {intent:?}", operation.label()),
        _ => operation.label().to_owned(),
    }
}

/// A rule that follows a joint.
type Follow = fn(JointId) -> Rule;

/// One constraint on every bone with a parent, which it follows.
fn constraints(document: &Document) {
    let skeleton = document.skeleton();
    let with_parent = skeleton.live_joints().filter_map(|joint| {
        let parent = skeleton.joint(joint).parent?;
        skeleton.joint(parent).parent?;
        Some((joint, parent))
    });
    let pairs: Vec<(JointId, JointId)> = with_parent.collect();
    let rules: [Follow; 4] = [
        |source| Rule::CopyRotation {
            source,
            space: Space::Local,
            keeps_offset: true,
            axes: CopiedAxes::ALL,
        },
        |source| Rule::TwistShare {
            source,
            axis: DVec3::Y,
            share: 0.5,
            centre: 0.0,
        },
        |target| Rule::Aim {
            target,
            axis: DVec3::Y,
            up: None,
        },
        |_| Rule::LimitAngles {
            ranges: [[-1.0, 1.0]; 3],
            order: EulerOrder::default(),
        },
    ];
    let pose: Pose = Pose::clone(document.rest_pose());
    for rule in rules {
        let of =
            |&(joint, source): &(JointId, JointId)| (joint, vec![Constraint::new(rule(source))]);
        let all: Constraints = pairs.iter().map(of).collect();
        let Ok(evaluator) = Evaluator::new(skeleton, &all) else {
            continue;
        };
        let mut times: Vec<f64> = (0..100 * RUNS)
            .map(|_| {
                let mut pose = pose.clone();
                let start = Instant::now();
                evaluator.apply(black_box(&mut pose));
                start.elapsed().as_secs_f64()
            })
            .collect();
        times.sort_by(f64::total_cmp);
        let each = times[times.len() / 2] / pairs.len().max(1) as f64;
        println!(
            "{:34} {:>9.3} \u{b5}s each of {}",
            rule(JointId(0)).label(),
            each * 1e6,
            pairs.len()
        );
    }
}

/// A chain of two bones, reached with and without a pole.
fn two_bones() {
    let chain = TwoBone {
        root: DVec3::ZERO,
        mid: DVec3::new(0.0, 1.0, 0.1),
        end: DVec3::new(0.0, 1.9, 0.0),
    };
    for (name, pole) in [("without", None), ("with", Some(DVec3::new(0.2, 0.3, 1.0)))] {
        const N: usize = 100_000;
        let mut times: Vec<f64> = (0..RUNS)
            .map(|_| {
                let start = Instant::now();
                for i in 0..N {
                    let target = DVec3::new(0.3, 1.0 + 1e-6 * i as f64, 0.4);
                    black_box(chain.reach(black_box(target), black_box(pole)));
                }
                start.elapsed().as_secs_f64() / N as f64
            })
            .collect();
        times.sort_by(f64::total_cmp);
        println!(
            "{:34} {:>9.3} \u{b5}s",
            format!("two bones {name} a pole"),
            times[RUNS / 2] * 1e6
        );
    }
}
