//! Joints that take back their parent's scale, and joints whose place follows another's inflation (METHODS 4.3, 4.4).

use crate::skins::{assert_close, cook, influences, skin};
use glam::{DAffine3, DMat3, DQuat, DVec3};
use sinew::math::Transform;
use sinew::skeleton::{Joint, JointId, JointRule, Pose, Skeleton};
use sinew::skinning::{SkinBind, SkinPalette, Stretch, dqs, inflate};
use std::f64::consts::FRAC_PI_2;

type Local = (DVec3, DQuat, DVec3);

/// A chain of joints bound where `bind` rests, in `pose`; `rule` is the last joint's.
fn palette(bind: &[Local], pose: &[Local], rule: JointRule) -> SkinPalette {
    let trs = |(t, q, s): &Local| Transform::from_trs(*t, *q, *s);
    let joints = bind.iter().enumerate().map(|(j, local)| Joint {
        name: String::new(),
        parent: j.checked_sub(1).map(|p| JointId(p as u32)),
        rest: trs(local),
        source_node: None,
        content_of: None,
        removed: false,
        rule: if j + 1 == bind.len() {
            rule
        } else {
            JointRule::default()
        },
    });
    let skeleton = Skeleton::new(joints.collect()).unwrap();
    let rest = Pose::rest(&skeleton).world_matrices(&skeleton);
    let inverse_bind: Vec<DAffine3> = rest.iter().map(DAffine3::inverse).collect();
    let joints: Vec<JointId> = (0..skeleton.len() as u32).map(JointId).collect();
    let bound = vec![true; joints.len()];
    let skin_bind = SkinBind::new(&skeleton, &joints, &inverse_bind, &bound, &rest);
    let mut posed = Pose::rest(&skeleton);
    posed.locals = pose.iter().map(trs).collect();
    let mut palette = SkinPalette::default();
    let world = posed.world_matrices(&skeleton);
    skin_bind.pose(&world, Stretch::Inflate, &mut palette);
    palette
}

fn compensating() -> JointRule {
    JointRule {
        compensates_scale: true,
        ..JointRule::default()
    }
}

fn along(x: f64) -> Local {
    (DVec3::X * x, DQuat::IDENTITY, DVec3::ONE)
}

/// Where the kernels put `point`, inflated and posed.
fn check(
    palette: &SkinPalette,
    point: [f64; 3],
    weights: [f64; 3],
    inflated: Option<[f64; 3]>,
    posed: [f64; 3],
) {
    let chunks = cook(&influences(&[weights.into_iter().enumerate().collect()]));
    let p = [DVec3::from_array(point).as_vec3()];
    if let Some(inflated) = inflated {
        let found = skin(&p, &chunks, palette, inflate);
        assert_close("inflated", &found, &[DVec3::from_array(inflated)]);
    }
    let found = skin(&p, &chunks, palette, dqs);
    assert_close("posed", &found, &[DVec3::from_array(posed)]);
}

#[test]
fn seed_004_table_ii_of_a_compensating_joint() {
    let bind = [along(0.0), along(4.0), along(4.0)];
    let mut pose = bind;
    pose[1].2 = DVec3::new(2.0, 1.5, 1.0);
    pose[2].1 = DQuat::from_rotation_z(FRAC_PI_2);
    let palette = palette(&bind, &pose, compensating());
    let last = palette.motions()[2];
    assert!(last.stretch.abs_diff_eq(DMat3::IDENTITY, 1e-12));
    assert!(last.inflated_origin.abs_diff_eq(DVec3::X * 12.0, 1e-12));
    assert!(
        last.translation
            .abs_diff_eq(DVec3::new(12.0, -12.0, 0.0), 1e-12)
    );
    let third = 0.3166915015;
    let rows = [
        ([10.0, 0.5, 0.25], [0.0, 0.0, 1.0], [11.5, 2.0, 0.25]),
        (
            [7.7, -1.0, 0.0],
            [0.0, 1.0 - third, third],
            [12.1772931723, -1.4225402387, 0.0],
        ),
        (
            [8.0, -1.0, 0.0],
            [0.0, 0.5, 0.5],
            [12.8838834765, -0.8838834765, 0.0],
        ),
    ];
    for (point, weights, posed) in rows {
        check(&palette, point, weights, None, posed);
    }
}

#[test]
fn seed_004_sheared_chain_with_a_compensating_joint() {
    let local = |x: f64, q: DQuat, s: [f64; 3]| (DVec3::X * x, q, DVec3::from_array(s));
    let one = [1.0; 3];
    let diagonal = DVec3::new(0.0, 1.0, 1.0).normalize_or_zero();
    let bind = [
        local(0.0, DQuat::IDENTITY, one),
        local(4.0, DQuat::from_rotation_z(0.3), one),
        local(3.0, DQuat::from_rotation_x(0.5), one),
    ];
    let pose = [
        local(0.0, DQuat::from_rotation_y(0.4), [1.2, 1.0, 0.9]),
        local(4.0, DQuat::from_rotation_z(0.9), [1.5, 0.8, 1.1]),
        local(3.0, DQuat::from_axis_angle(diagonal, 0.7), [1.0, 1.3, 1.0]),
    ];
    let palette = palette(&bind, &pose, compensating());
    let rows = [
        (
            [5.0, 0.5, -0.25],
            [0.0, 1.0, 0.0],
            [6.473768481, 0.5705063922, -0.2475],
            [5.3353719795, 1.386707896, -2.5244709384],
        ),
        (
            [5.0, 0.5, -0.25],
            [0.25, 0.5, 0.25],
            [6.6507142785, 0.624090014, -0.2476613898],
            [6.0526888127, 0.9940419323, -2.5429934035],
        ),
        (
            [7.5, 1.0, 0.5],
            [0.0, 0.4, 0.6],
            [10.3205069479, 1.3146503896, 0.5062673449],
            [7.8527878966, 4.4002210542, -3.0127703518],
        ),
    ];
    for (point, weights, inflated, posed) in rows {
        check(&palette, point, weights, Some(inflated), posed);
    }
}

#[test]
fn only_the_parents_own_scale_is_taken_back() {
    // Grandparent (2, 1, 1), parent (1, 1.5, 1) turned by 0.6 rad, child by 0.7: Maya's child keeps the grandparent's
    // stretch.
    let bind = [along(0.0), along(4.0), along(4.0)];
    let mut pose = bind;
    pose[0].2 = DVec3::new(2.0, 1.0, 1.0);
    pose[1].2 = DVec3::new(1.0, 1.5, 1.0);
    pose[1].1 = DQuat::from_rotation_z(0.6);
    pose[2].1 = DQuat::from_rotation_z(0.7);
    let child = palette(&bind, &pose, compensating()).motions()[2].stretch;
    let expected =
        DMat3::from_cols_array(&[1.0716, -0.2578, 0.0, -0.2578, 1.9284, 0.0, 0.0, 0.0, 1.0]);
    assert!(child.abs_diff_eq(expected, 1e-4), "{child}");
}

#[test]
fn a_joint_may_follow_another_ones_inflation() {
    let bind = [along(0.0), along(4.0), along(4.0)];
    let mut pose = bind;
    pose[1].2 = DVec3::new(2.0, 1.0, 1.0);
    let origin = |rule| palette(&bind, &pose, rule).motions()[2].inflated_origin.x;
    assert!((origin(JointRule::default()) - 12.0).abs() < 1e-12);
    let follows_root = JointRule {
        inflation_parent: Some(JointId(0)),
        ..JointRule::default()
    };
    assert!((origin(follows_root) - 8.0).abs() < 1e-12);
}

#[test]
fn rules_that_cannot_be_are_refused_with_a_reason() {
    let joints = (0..2).map(|j: u32| Joint {
        name: format!("joint {j}"),
        parent: j.checked_sub(1).map(JointId),
        rest: Transform::from_rotation_translation(DQuat::IDENTITY, DVec3::X),
        source_node: None,
        content_of: None,
        removed: false,
        rule: JointRule::default(),
    });
    let skeleton = Skeleton::new(joints.collect()).unwrap();
    let check = |rule: JointRule| rule.check(JointId(0), &skeleton).unwrap_err();
    let follows = |j| JointRule {
        inflation_parent: Some(JointId(j)),
        ..JointRule::default()
    };
    assert!(check(follows(1)).contains("comes after it"));
    assert!(check(follows(9)).contains("no bone 9"));
    let nowhere = JointRule {
        tail: Some(DVec3::NAN),
        ..JointRule::default()
    };
    assert!(check(nowhere).contains("is not finite"));
}
