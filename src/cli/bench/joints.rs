//! Forward kinematics for `sinew bench`: a rig's joints from local to world transforms, as matrices and as dual
//! quaternions. "Points" are joints here; figures are nanoseconds a joint.

use super::{BenchRow, median};
use crate::math::Transform;
use crate::skeleton::{Joint, JointId, JointRule, Pose, Skeleton};
use glam::{DQuat, DVec3};
use std::hint::black_box;
use std::time::Instant;

/// Joints of the rig: a character with fingers and a face.
const N_JOINTS: u32 = 200;
/// Poses of one repetition, a fraction of a millisecond.
const POSES_A_REPETITION: usize = 50;
const N_REPETITIONS: usize = 400;

/// One row for each representation, on one thread: "fk matrices" and "fk dual quaternions".
pub(super) fn rows() -> Vec<BenchRow> {
    let (skeleton, pose) = rig();
    let ways: [(&'static str, &dyn Fn()); 2] = [
        ("fk matrices", &|| {
            black_box(black_box(&pose).world_matrices(&skeleton));
        }),
        ("fk dual quaternions", &|| {
            black_box(black_box(&pose).world_motions(&skeleton));
        }),
    ];
    let mut samples = [const { Vec::new() }; 2];
    // Alternating, so that other programs slow both alike. The first round only warms up.
    for round in 0..=N_REPETITIONS {
        for ((_, way), samples) in ways.iter().zip(&mut samples) {
            let start = Instant::now();
            for _ in 0..POSES_A_REPETITION {
                way();
            }
            let nanoseconds = start.elapsed().as_secs_f64() * 1e9;
            if round > 0 {
                samples.push(nanoseconds / (f64::from(N_JOINTS) * POSES_A_REPETITION as f64));
            }
        }
    }
    let figures = ways.iter().zip(samples);
    figures
        .map(|((name, _), mut samples)| BenchRow {
            name,
            points: N_JOINTS as usize,
            threads: 1,
            ns_per_point: median(&mut samples),
            floor_ns_per_point: None,
        })
        .collect()
}

/// A tree of limbs of ten joints, every joint rotated and none scaled.
fn rig() -> (Skeleton, Pose) {
    let joints = (0..N_JOINTS).map(|j| Joint {
        name: String::new(),
        // Every tenth joint starts a limb at an earlier joint.
        parent: match (j, j % 10) {
            (0, _) => None,
            (_, 0) => Some(JointId(j / 3)),
            _ => Some(JointId(j - 1)),
        },
        rest: Transform::from_rotation_translation(
            DQuat::from_rotation_z(0.1 * f64::from(j % 7)),
            DVec3::new(0.1, 0.02, 0.01),
        ),
        source_node: None,
        content_of: None,
        removed: false,
        rule: JointRule::default(),
    });
    let skeleton = Skeleton::new(joints.collect()).unwrap_or_default();
    let pose = Pose::rest(&skeleton);
    (skeleton, pose)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_are_measured_on_a_rigid_rig() {
        let (skeleton, pose) = rig();
        assert_eq!(skeleton.len(), N_JOINTS as usize);
        assert!(pose.world_motions(&skeleton).is_some());
        let rows = rows();
        let names: Vec<_> = rows.iter().map(|row| row.name).collect();
        assert_eq!(names, ["fk matrices", "fk dual quaternions"]);
        assert!(rows.iter().all(|row| row.ns_per_point > 0.0));
    }
}
