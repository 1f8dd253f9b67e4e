//! Control clusters frame by frame: mirrored and scaled skins under the patches, and the memory that frames take.

use crate::clustered::{MESH, bent, shape};
use crate::models::tube;
use glam::{DMat3, DVec3, Vec3};
use sinew::cluster::{Base, ClusterGroup, ClusterMap, Interpolation, PatchSettings};
use sinew::deform::{DeformStack, ScaleMode, SkinningMethod};
use sinew::document::{ClustersEdit, Document, Edit};
use sinew::evaluate::Evaluator;
use sinew::math::Worse;
use sinew::skeleton::Pose;
use std::sync::Arc;

/// Of the tube.
const RADIUS: f64 = 0.4;

fn with_stack(document: &Document, stack: DeformStack) -> Document {
    let mut document = document.clone();
    let stack = Arc::new(stack);
    let mut edit = Edit::Stack { mesh: MESH, stack };
    document.apply(&mut edit).unwrap();
    document
}

/// Every `nth` point is a cluster.
fn marked(document: &Document, nth: usize, base: Base, settings: PatchSettings) -> Document {
    let mut document = document.clone();
    let group = ClusterGroup {
        base,
        ..ClusterGroup::new("Clusters", 0)
    };
    let n = document.meshes()[&MESH].geometry.n_points() as u32;
    let points = (0..n).step_by(nth).map(|point| (point, 0)).collect();
    let map = ClusterMap::new(vec![Arc::new(group)], points, settings).unwrap();
    let edit = ClustersEdit::new(&document, MESH, Arc::new(map));
    document.apply(&mut Edit::Clusters(edit)).unwrap();
    document
}

fn settings() -> impl Iterator<Item = PatchSettings> {
    let kinds = Interpolation::ALL.into_iter();
    kinds.flat_map(|interpolation| {
        [false, true].map(|positions_only| PatchSettings {
            interpolation,
            positions_only,
            ..PatchSettings::default()
        })
    })
}

/// The whole skeleton mirrored in z: what the patches show is the mirror image of what they showed, with every kind of
/// patch, tangents of the skin and of positions alone, and every base. Few clusters: the vertices lie far from the patches,
/// and details on the wrong side would show.
#[test]
fn a_mirrored_skeleton_shows_the_mirror_image() {
    let plain = tube(40);
    let across = DVec3::new(1.0, 1.0, -1.0);
    for method in [
        SkinningMethod::Dqs,
        SkinningMethod::Lbs,
        SkinningMethod::Blend,
    ] {
        let stacked = with_stack(&plain, DeformStack::bare(method));
        for settings in settings() {
            for base in [Base::Stack, Base::Lbs, Base::Dqs] {
                let document = marked(&stacked, 37, base, settings);
                let pose = bent(&document, 70.0);
                let mut mirrored = pose.clone();
                mirrored.locals[0].stretch = DMat3::from_diagonal(across);
                let own = shape(&document, &pose);
                let image = shape(&document, &mirrored);
                let pairs = own.iter().zip(&image);
                let apart = pairs.map(|(a, b)| (*a * across.as_vec3()).distance(*b));
                let apart = apart.fold(0.0, f32::worse);
                assert!(apart < 2e-5, "{method:?} {settings:?} {base:?}: {apart}");
                // Not because nothing is free or nothing moves.
                let rest = shape(&document, &Pose::rest(document.skeleton()));
                let pairs = own.iter().zip(&rest);
                assert!(pairs.filter(|(a, b)| a.distance(**b) > 0.1).count() > 100);
            }
        }
    }
}

/// RMS and largest distance of two shapes, % of the radius.
fn errors(a: &[Vec3], b: &[Vec3]) -> [f64; 2] {
    let apart = a.iter().zip(b).map(|(a, b)| f64::from(a.distance(*b)));
    let (mut sum, mut largest) = (0.0, 0.0f64);
    for d in apart {
        sum += d * d;
        largest = largest.worse(d);
    }
    [(sum / a.len() as f64).sqrt(), largest].map(|e| 100.0 * e / RADIUS)
}

/// A limb scaled under the patches. The paper's clusters move rigidly, without scale and shear. Here the skin of a cluster
/// is two-phase: its Jacobian stretches the patches, and only what lies beside them is not stretched.
#[test]
fn a_scaled_limb_under_the_patches_is_that_of_two_phase_skinning() {
    let plain = with_stack(&tube(60), DeformStack::dqs());
    let rigid = with_stack(
        &plain,
        DeformStack {
            scale: ScaleMode::Drop,
            ..DeformStack::dqs()
        },
    );
    // Errors against two-phase skinning of every vertex, % of the radius: RMS and largest of two-phase clusters, RMS of
    // clusters that leave scale out. The weights of the tube have kinks, and with them the scaled shape has.
    for (name, scale, expected) in [
        (
            "length x 1.3",
            DVec3::new(1.3, 1.0, 1.0),
            [1.755, 13.96, 28.9],
        ),
        (
            "girth x 1.3",
            DVec3::new(1.0, 1.3, 1.3),
            [2.48, 20.86, 20.5],
        ),
        ("all x 1.3", DVec3::splat(1.3), [2.60, 20.86, 35.4]),
    ] {
        let mut pose = bent(&plain, 60.0);
        pose.locals[1].stretch = DMat3::from_diagonal(scale);
        let two_phase = shape(&plain, &pose);
        let over = |document: &Document| {
            let clusters = marked(document, 9, Base::Stack, PatchSettings::default());
            errors(&shape(&clusters, &pose), &two_phase)
        };
        let ([rms, largest], rigid) = (over(&plain), over(&rigid));
        println!(
            "{name}: two-phase clusters {rms:.2} %, largest {largest:.2} %; rigid clusters {rigid:.1?} %"
        );
        for (found, expected) in [rms, largest, rigid[0]].into_iter().zip(expected) {
            assert!(
                (found / expected - 1.0).abs() < 0.05,
                "{name}: {found} {expected}"
            );
        }
    }
}

/// Allocations of the frames of a moving model with clusters, counted in a process of its own: here other tests allocate
/// too.
#[test]
fn frames_of_moving_clusters_allocate_nothing() {
    const CHILD: &str = "SINEW_COUNT_CLUSTER_ALLOCATIONS";
    if std::env::var_os(CHILD).is_some() {
        count_allocations();
        return;
    }
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "cluster_frames::frames_of_moving_clusters_allocate_nothing",
            "--exact",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(CHILD, "1")
        .env("RAYON_NUM_THREADS", "2")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    print!("{said}");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{errors}");
}

fn count_allocations() {
    for settings in settings() {
        let document = marked(&tube(300), 12, Base::Stack, settings);
        let poses: Vec<Pose> = (0..14)
            .map(|i| bent(&document, 5.0 * f64::from(i)))
            .collect();
        let mut evaluator = Evaluator::default();
        for pose in &poses[..6] {
            evaluator.evaluate(&document, pose);
        }
        let region = stats_alloc::Region::new(crate::ALLOCATOR);
        for pose in &poses[6..] {
            evaluator.evaluate(&document, pose);
        }
        let change = region.change();
        println!(
            "{:?}, positions only {}: {} allocations and {} reallocations in 8 frames",
            settings.interpolation,
            settings.positions_only,
            change.allocations,
            change.reallocations
        );
        // A vector of what moved is handed out each frame; rayon's queues grow once in a while.
        assert!(
            change.allocations + change.reallocations <= 24,
            "{settings:?}: {change:?}"
        );
    }
}
