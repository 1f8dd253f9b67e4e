//! What operations on the weights of a whole mesh cost, off the window's thread.
//!
//! `cargo bench --no-default-features --bench operations` prints medians of one run; compare rows of one run only. The
//! unit of the ratios is one pass over all rows that copies them.

use median::median;
use sinew::document::subject::SubjectScope;
use sinew::document::{Document, MeshId};
use sinew::io::{gltf_build, import_bytes};
use sinew::sample::{SampleKind, sample};
use sinew::skinning::Influences;
use sinew::task::Task;
use sinew::weights::automatic::Automatic;
use sinew::weights::operation::{Mirroring, Operation};
use std::hint::black_box;
use std::time::Duration;

#[path = "median.rs"]
mod median;

fn main() {
    for n_points in [100_000, 1_000_000] {
        let document = document(n_points);
        let mesh = *document.meshes().keys().next().expect("a mesh");
        println!("{n_points} points of the arm");
        let copy = copying(&document, mesh);
        row("copy every row", copy, copy);
        let mut operations = vec![
            ("normalise", Operation::Normalise),
            ("limit to 2", Operation::Limit { most: 2 }),
            ("prune below 0.05", Operation::Prune { below: 0.05 }),
            (
                "smooth, 5 iterations",
                Operation::Smooth {
                    iterations: 5,
                    strength: 0.5,
                },
            ),
            ("hammer", Operation::Hammer),
            ("mirror x", Operation::Mirror(Mirroring::default())),
            (
                "automatic: bone heat",
                Operation::Automatic(Automatic::Heat),
            ),
            (
                "automatic: geodesic voxel, 128",
                Operation::Automatic(Automatic::Voxel {
                    resolution: 128,
                    falloff: 0.3,
                }),
            ),
        ];
        if n_points == 100_000 {
            let biharmonic = Automatic::Biharmonic { resolution: 32 };
            operations.push((
                "automatic: bounded biharmonic, 32",
                Operation::Automatic(biharmonic),
            ));
        }
        for (name, operation) in operations {
            row(name, operating(&document, mesh, &operation), copy);
        }
    }
}

/// The arm with its rows.
fn document(n_points: usize) -> Document {
    let model = sample(SampleKind::Arm, n_points);
    let glb = gltf_build::to_glb(&model);
    let imported = import_bytes(glb.into(), None, None, &Task::new()).expect("a model");
    Document::new(imported.parts).expect("a document")
}

fn copying(document: &Document, mesh: MeshId) -> Duration {
    let rows = &document.meshes()[&mesh].influences;
    median(5, || {
        black_box(Influences::from_rows(rows.iter()));
    })
}

fn operating(document: &Document, mesh: MeshId, operation: &Operation) -> Duration {
    let parts = document
        .subject(mesh, SubjectScope::default())
        .expect("a skinned mesh");
    let n = if operation.is_slow() { 1 } else { 5 };
    median(n, || {
        let outcome = operation.run(&parts.view(), &Task::new());
        black_box(outcome.expect("an outcome"));
    })
}

fn row(name: &str, time: Duration, unit: Duration) {
    let ratio = time.as_secs_f64() / unit.as_secs_f64();
    println!(
        "{name:40} {:10.1} ms  {ratio:8.1} x",
        time.as_secs_f64() * 1e3
    );
}
