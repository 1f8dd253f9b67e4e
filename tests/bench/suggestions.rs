//! What suggested corrective samples cost: seconds a joint, on the clock and of all processors together, and how soon Cancel
//! is obeyed.
//!
//! `cargo bench --no-default-features --bench suggestions`; without the shared models only the sample models are measured.

use sinew::document::Document;
use sinew::io::{gltf_build, open_any};
use sinew::sample::{SampleKind, sample};
use sinew::skeleton::JointId;
use sinew::suggest::{SuggestError, SuggestSettings, suggest};
use sinew::task::Task;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn main() {
    let folder = tempfile::tempdir().unwrap();
    for n_points in [4000, 10_000, 40_000] {
        let path = folder.path().join(format!("{n_points}.glb"));
        std::fs::write(
            &path,
            gltf_build::to_glb(&sample(SampleKind::Arm, n_points)),
        )
        .unwrap();
        measure("arm", &path, "forearm");
    }
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    measure("hand", &assets.join("hand.glb"), "index.02.L");
    measure("mannequin", &assets.join("mannequin.glb"), "upper_arm.L");
    let shared = std::env::var_os("SINEW_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    let cesium = shared.join("models/cesium_man/cesium_man.glb");
    if cesium.exists() {
        measure("CesiumMan", &cesium, "Skeleton_neck_joint_1");
    }
    cancel(&folder.path().join("10000.glb"));
}

fn open(path: &Path, bone: &str) -> (Document, JointId) {
    let document = open_any(path, &Task::new()).unwrap().document;
    let is_named = |joint: &JointId| document.skeleton().label(*joint) == bone;
    let joint = document.skeleton().live_joints().find(is_named).unwrap();
    (document, joint)
}

fn measure(model: &str, path: &Path, bone: &str) {
    let (document, joint) = open(path, bone);
    let n_points: usize = document
        .meshes()
        .values()
        .map(|item| item.geometry.n_points())
        .sum();
    let (start, spent) = (Instant::now(), processor_secs());
    let found = suggest(&document, joint, &SuggestSettings::default(), &Task::new()).unwrap();
    let took = start.elapsed();
    println!(
        "{model}, {n_points} vertices, {bone}: {:.1} s, {:.1} s of processors, {} vertices move, {} samples",
        took.as_secs_f64(),
        processor_secs() - spent,
        found.iter().map(|f| f.n_free).sum::<usize>(),
        found.iter().map(|f| f.proposals.len()).sum::<usize>(),
    );
}

/// What this process has spent on all processors together, in hundredths; NaN where `/proc` does not say.
fn processor_secs() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the name, in parentheses: the 12th and 13th are user and system time.
    let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields);
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok());
    ticks(11)
        .zip(ticks(12))
        .map_or(f64::NAN, |(user, system)| (user + system) / 100.0)
}

/// Cancels at every twentieth of the time that a joint takes.
fn cancel(path: &Path) {
    let (document, joint) = open(path, "forearm");
    let settings = SuggestSettings::default();
    let start = Instant::now();
    suggest(&document, joint, &settings, &Task::new()).unwrap();
    let whole = start.elapsed();
    let late = (0..20).filter_map(|k| {
        let task = Task::new();
        let stop = task.clone();
        let cancelled = std::thread::spawn(move || {
            std::thread::sleep(whole * k / 20);
            stop.cancel();
            Instant::now()
        });
        let result = suggest(&document, joint, &settings, &task);
        let late = cancelled.join().unwrap().elapsed();
        matches!(result, Err(SuggestError::Cancelled(_))).then_some(late)
    });
    let mut late: Vec<Duration> = late.collect();
    late.sort();
    println!(
        "cancelled {} times within {whole:.1?}: obeyed after {:.1?} (median), {:.1?} at most",
        late.len(),
        late[late.len() / 2],
        late[late.len() - 1]
    );
}
