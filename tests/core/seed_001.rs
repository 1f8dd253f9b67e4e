//! Seed 001, after Kim & Han 2014, "Bulge free dual quaternion skinning": projection as published and blended, in
//! plain f64.

use crate::reference::bones::dominant;
use crate::reference::bones::moved;
use crate::reference::compensation::{Compensation, F_MANUAL};
use crate::reference::cylinder::{Cylinder, N_SIDES, SIGMA, bones, pose, row_at};
use crate::reference::fixture::Fixture;
use crate::reference::larger;
use crate::reference::metrics::measure;
use crate::reference::projection::{Blended, published, pull_in, sibling_fade};
use crate::reference::{Rigid, Row, distance_to_segment, dqs};
use crate::seed_000::{THREE_BONES, three_bones, unguarded};
use glam::{DAffine3, DVec3};
use std::f64::consts::FRAC_1_SQRT_2;

fn rigid(matrices: &[DAffine3]) -> Vec<Rigid> {
    matrices.iter().map(Rigid::from_matrix).collect()
}

fn close(what: &str, actual: f64, expected: f64, tolerance: f64) {
    assert!(
        (actual - expected).abs() <= tolerance,
        "{what}: {actual}, not {expected}"
    );
}

/// The points of the golden table, projected as published.
#[rustfmt::skip]
pub(crate) const GOLDEN: [(f64, f64, [f64; 3], [f64; 3]); 8] = [
    (90.0, 0.0, [-0.5, -1.0, 0.0], [-0.1604429079, -1.0, 0.0]),
    (90.0, 0.0, [-0.5, 1.0, 0.0], [-0.7889038248, 0.7922315035, 0.0]),
    (90.0, 0.0, [-0.5, 0.0, 1.0], [-0.4746733664, -0.1552111986, 0.9878813106]),
    (90.0, 0.0, [0.5, -1.0, 0.0], [1.0, 0.1604429079, 0.0]),
    (90.0, 0.0, [0.25, -0.6, 0.8], [0.6247346282, -0.0857537355, 0.7761140001]),
    (60.0, 0.0, [-0.5, -1.0, 0.0], [-0.2706769970, -1.0, 0.0]),
    (90.0, 45.0, [-0.5, -1.0, 0.0], [-0.1891048434, -0.9968048713, -0.0798752065]),
    (90.0, 0.0, [0.0, -1.0, 0.0], [FRAC_1_SQRT_2, -FRAC_1_SQRT_2, 0.0]),
];

#[test]
fn seed_001_golden_points_of_the_cylinder() {
    for (bend, twist, p, expected) in GOLDEN {
        let motions = rigid(&pose(bend, twist));
        let p = DVec3::from_array(p);
        let row = row_at(p.x);
        let actual = published(p, &row, dqs(p, &row, &motions), &bones(), &motions);
        assert!(
            actual.abs_diff_eq(DVec3::from_array(expected), 1e-9),
            "{p} at {bend} {twist}: {actual}, not {expected:?}"
        );
    }
}

/// Published and blended, of the points of [`THREE_BONES`].
pub(crate) const THREE_BONES_PROJECTED: [([f64; 3], [f64; 3]); 4] = [
    (
        [0.2533060057, -0.4809550663, 0.7102945105],
        [0.2719948748, -0.4672997653, 0.733042585],
    ),
    (
        [0.3726077403, 1.8278335341, -0.6163747591],
        [0.3726077403, 1.8278335341, -0.6163747591],
    ),
    (
        [1.2903762305, 0.1022102057, 0.5696334413],
        [1.2338882529, 0.3367614552, 0.5051517229],
    ),
    (
        [0.0923200075, -0.7994348403, 0.3903600292],
        [0.0926737773, -0.8024982703, 0.3918558867],
    ),
];

#[test]
fn seed_001_three_bone_golden_points() {
    let (bones, motions) = three_bones();
    for ((p, weights, ..), (hard, soft)) in THREE_BONES.iter().zip(THREE_BONES_PROJECTED) {
        let p = DVec3::from_array(*p);
        let row: Row = weights.iter().copied().enumerate().collect();
        let posed = dqs(p, &row, &motions);
        let actual = published(p, &row, posed, &bones, &motions);
        assert!(
            actual.abs_diff_eq(DVec3::from_array(hard), 1e-9),
            "{p}: {actual}"
        );
        let actual = Blended::default().project(p, &row, posed, &bones, &motions);
        assert!(
            actual.abs_diff_eq(DVec3::from_array(soft), 1e-9),
            "{p}: {actual}"
        );
    }
}

#[test]
fn seed_001_a_leaf_needs_a_tail() {
    // With a point, or nothing, for the last bone the bulge of DQS stays.
    let shape = Cylinder::new();
    let matrices = pose(90.0, 0.0);
    let motions = rigid(&matrices);
    let mut short = bones();
    short.tails[1] = None;
    let posed = each(&shape, |p, row| {
        published(p, row, dqs(p, row, &motions), &short, &motions)
    });
    close(
        "bulge",
        measure(&shape, &posed, &matrices).0[0],
        0.1189,
        1e-4,
    );
    // The virtual tail goes on from the parent, as far as the leaf's points.
    let tail = bones().virtual_tail(1, &shape.positions, &shape.rows);
    assert!(tail.abs_diff_eq(DVec3::new(5.0, 0.0, 0.0), 1e-12));
    let mut coincident = bones();
    coincident.origins[0] = DVec3::ZERO;
    let tail = coincident.virtual_tail(1, &shape.positions, &shape.rows);
    assert!(tail.abs_diff_eq(DVec3::new(5.0, 0.0, 0.0), 1e-12));
}

fn each(shape: &Cylinder, f: impl Fn(DVec3, &Row) -> DVec3) -> Vec<DVec3> {
    let points = shape.positions.iter().zip(&shape.rows);
    points.map(|(p, row)| f(*p, row)).collect()
}

#[test]
fn seed_001_projection_only_pulls_in() {
    let segment = [(DVec3::ZERO, DVec3::X)];
    let inside = DVec3::new(0.5, 0.2, 0.0);
    assert_eq!(pull_in(inside, &segment, 0.3), inside);
    let outside = DVec3::new(0.5, 0.6, 0.8);
    assert!(pull_in(outside, &segment, 0.5).abs_diff_eq(DVec3::new(0.5, 0.3, 0.4), 1e-15));
    // A point of the bone at bind goes back to the bone; a bone of no length is a point.
    assert_eq!(pull_in(outside, &segment, 0.0), DVec3::new(0.5, 0.0, 0.0));
    let point = [(DVec3::X, DVec3::X)];
    assert!(pull_in(DVec3::X * 3.0, &point, 0.5).abs_diff_eq(DVec3::X * 1.5, 1e-15));
    assert_eq!(pull_in(DVec3::X, &point, 0.0), DVec3::X);
}

#[test]
fn seed_001_off_plane_the_published_form_jumps_and_the_blended_one_does_not() {
    // The line of equal weights lies beside the joint: (shift, step and bulge of published, blended, compensated).
    for (shift, dqs_bulge, hard, soft, compensated) in [
        (0.0, 0.119, (0.0095, 0.0), (0.0094, 0.009), (0.0113, 0.008)),
        (
            0.1,
            0.143,
            (0.0108, 0.003),
            (0.0106, 0.014),
            (0.0113, 0.024),
        ),
        (0.3, 0.201, (0.044, 0.037), (0.0132, 0.031), (0.0113, 0.085)),
        (0.5, 0.270, (0.129, 0.118), (0.0161, 0.063), (0.0113, 0.174)),
    ] {
        let shape = Cylinder::with(401, SIGMA, shift);
        let matrices = pose(90.0, 0.0);
        let motions = rigid(&matrices);
        let (bones, blended) = (bones(), Blended::default());
        let posed = each(&shape, |p, row| dqs(p, row, &motions));
        close(
            "DQS",
            measure(&shape, &posed, &matrices).0[0],
            dqs_bulge,
            5.1e-4,
        );
        let corrected = |f: &dyn Fn(usize) -> DVec3| (0..posed.len()).map(f).collect::<Vec<_>>();
        let of = |v: usize| (shape.positions[v], &shape.rows[v], posed[v]);
        let hard_posed = corrected(&|v| {
            let (p, row, d) = of(v);
            published(p, row, d, &bones, &motions)
        });
        let soft_posed = corrected(&|v| {
            let (p, row, d) = of(v);
            blended.project(p, row, d, &bones, &motions)
        });
        let options: Compensation = unguarded(F_MANUAL);
        let compensated_posed =
            options.apply(&shape.positions, &shape.rows, &posed, &bones, &motions);
        for (after, (step, bulge)) in [
            (&hard_posed, hard),
            (&soft_posed, soft),
            (&compensated_posed, compensated),
        ] {
            let correction = |i: usize| {
                let v = i * N_SIDES + N_SIDES / 2;
                after[v] - posed[v]
            };
            let largest = (0..400)
                .map(|i| correction(i).distance(correction(i + 1)))
                .fold(0.0, larger);
            close(
                "step",
                largest,
                step,
                if step > 0.02 { 5e-4 } else { 5.1e-5 },
            );
            close("bulge", measure(&shape, after, &matrices).0[0], bulge, 6e-4);
        }
    }
}

#[test]
fn seed_001_variants_on_the_cylinder_and_the_fork() {
    // (p, sibling fade, bulge at 30, 60, 90, 120; jump and jump by edge at h = .15 and .075).
    #[rustfmt::skip]
    let table = [
        (1.0, false, [0.0120, 0.0188, 0.0228, 0.0251], [(0.154, 1.01), (0.111, 1.08)]),
        (2.0, false, [0.0064, 0.0083, 0.0087, 0.0087], [(0.183, 1.26), (0.132, 1.31)]),
        (3.0, false, [0.0037, 0.0040, 0.0040, 0.0040], [(0.200, 1.37), (0.139, 1.41)]),
        (4.0, false, [0.0023, 0.0023, 0.0023, 0.0023], [(0.203, 1.39), (0.141, 1.65)]),
        (2.0, true, [0.0064, 0.0083, 0.0087, 0.0087], [(0.154, 1.03), (0.113, 1.10)]),
        (4.0, true, [0.0023, 0.0023, 0.0023, 0.0023], [(0.166, 1.14), (0.121, 1.19)]),
    ];
    let (shape, bones_of_cylinder) = (Cylinder::with(401, SIGMA, 0.0), bones());
    for (k, bend) in [30.0, 60.0, 90.0, 120.0].into_iter().enumerate() {
        let matrices = pose(bend, 0.0);
        let motions = rigid(&matrices);
        let posed = each(&shape, |q, row| dqs(q, row, &motions));
        for (p, sibling_fade, bulges, _) in table {
            let options = Blended {
                p,
                sibling_fade,
                ..Blended::default()
            };
            let project = |v: usize| {
                let (q, row) = (shape.positions[v], &shape.rows[v]);
                options.project(q, row, posed[v], &bones_of_cylinder, &motions)
            };
            let projected: Vec<DVec3> = (0..posed.len()).map(project).collect();
            let bulge = measure(&shape, &projected, &matrices).0[0];
            close("bulge", bulge, bulges[k], 1.01e-4);
        }
    }
    for (k, name) in ["fork_h150", "fork_h075"].iter().enumerate() {
        let Some(fixture) = Fixture::read(name) else {
            return;
        };
        let Fixture { bones, motions, .. } = &fixture;
        for (p, fade, _, jumps) in table {
            let options = Blended {
                p,
                sibling_fade: fade,
                ..Blended::default()
            };
            let posed = fixture.each(|q, row, d| options.project(q, row, d, bones, motions));
            let (jump, ratio) = fixture.jumps(&posed);
            close("jump", jump, jumps[k].0, 6e-4);
            close("jump by edge", ratio, jumps[k].1, 5.1e-3);
        }
        let hard = fixture.each(|q, row, d| published(q, row, d, bones, motions));
        let (jump, ratio) = fixture.jumps(&hard);
        let expected = [(0.308, 1.88), (0.319, 5.99)][k];
        close("published jump", jump, expected.0, 5.1e-4);
        close("published jump by edge", ratio, expected.1, 5.1e-3);
        // One nearest bone instead of all by distance: its jump grows as the mesh gets finer.
        let nearest = fixture.each(|q, row, d| {
            let (mut sum, mut total) = (DVec3::ZERO, 0.0);
            for &(j, w) in row.iter().filter(|r| r.1 > 1e-6) {
                let segments: Vec<_> = bones.segments(j);
                let segments: Vec<_> = segments.iter().map(|s| moved(&motions[j], *s)).collect();
                sum += (pull_in(d, &segments, bones.distance(j, q)) - d) * (w * w);
                total += w * w;
            }
            d + sum / total
        });
        close(
            "nearest bone",
            fixture.jumps(&nearest).1,
            [1.26, 1.40][k],
            5.1e-3,
        );
        // The published form faded by the largest weight off the dominant chain.
        let faded = fixture.each(|q, row, d| {
            let main = dominant(row);
            let weight = |keep: &dyn Fn(usize) -> bool| {
                let kept = row.iter().filter(|r| keep(r.0));
                kept.map(|r| r.1).fold(0.0, larger)
            };
            let fade = 1.0 - weight(&|j| !bones.on_one_chain(main, j)) / weight(&|_| true);
            d.lerp(published(q, row, d, bones, motions), fade)
        });
        let (jump, ratio) = fixture.jumps(&faded);
        let expected = [(0.167, 1.15), (0.121, 1.32)][k];
        close("faded jump", jump, expected.0, 6e-4);
        close("faded jump by edge", ratio, expected.1, 5.1e-3);
    }
}

#[test]
fn seed_001_fixtures_come_out_as_expected() {
    for name in ["junction_h20", "junction_h10", "fork_h150", "fork_h075"] {
        let Some(fixture) = Fixture::read(name) else {
            return;
        };
        let Fixture { bones, motions, .. } = &fixture;
        let hard = fixture.each(|p, row, d| published(p, row, d, bones, motions));
        let soft = fixture.each(|p, row, d| Blended::default().project(p, row, d, bones, motions));
        let expected = (
            fixture.expected("projection_published"),
            fixture.expected("projection_blended_p2"),
        );
        for v in 0..hard.len() {
            assert!(
                soft[v].abs_diff_eq(expected.1[v], 1e-12),
                "{name} point {v}"
            );
            assert!(
                fixture.is_tie(v) || hard[v].abs_diff_eq(expected.0[v], 1e-12),
                "{name} point {v}"
            );
        }
    }
}

#[test]
fn seed_001_sibling_fade_is_one_on_chains_and_none_between_equal_fingers() {
    let (chain, _) = three_bones();
    assert_eq!(
        sibling_fade(&vec![(0, 0.4), (1, 0.3), (2, 0.3)], &chain),
        1.0
    );
    let mut fork = chain.clone();
    fork.parents[2] = Some(0);
    assert_eq!(sibling_fade(&vec![(1, 0.5), (2, 0.5)], &fork), 0.0);
    assert_eq!(
        sibling_fade(&vec![(0, 0.5), (1, 0.25), (2, 0.25)], &fork),
        0.5
    );
    assert_eq!(sibling_fade(&vec![(0, 0.5), (1, 0.5)], &fork), 1.0);
}

#[test]
fn seed_001_a_bone_of_several_children_is_as_far_as_the_nearest() {
    let Some(fixture) = Fixture::read("fork_h150") else {
        return;
    };
    let palm = fixture.bones.segments(0);
    assert_eq!(palm.len(), 3);
    let p = DVec3::new(-0.5, 1.4, 0.3);
    let nearest = palm
        .iter()
        .map(|s| distance_to_segment(p, s.0, s.1))
        .fold(f64::MAX, f64::min);
    assert_eq!(fixture.bones.distance(0, p), nearest);
}
