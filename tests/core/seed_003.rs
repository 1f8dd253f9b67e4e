//! Seed 003, Feng & Wan 2013, and Kavan et al. 2008: dual quaternions in plain f64, and the library's against them.

use crate::reference::Rigid;
use crate::reference::dual::Dual;
use crate::reference::larger;
use crate::skinning::Random;
use glam::{DQuat, DVec3};
use sinew::math::DualQuat;
use std::f64::consts::{FRAC_PI_2, PI};

fn random_motion(random: &mut Random) -> Dual {
    Dual::new(random.rotation(), random.vector(3.0))
}

fn of_library(q: DualQuat) -> [f64; 8] {
    let (r, d) = (q.real, q.dual);
    [r.w, r.x, r.y, r.z, d.w, d.x, d.y, d.z]
}

fn to_library(q: Dual) -> DualQuat {
    let quat = |[w, x, y, z]: [f64; 4]| DQuat::from_xyzw(x, y, z, w);
    DualQuat {
        real: quat(q.real),
        dual: quat(q.dual),
    }
}

/// Largest difference of the eight numbers, the sign of the whole being free.
fn difference(a: Dual, b: Dual) -> f64 {
    let numbers = |q: Dual| q.real.into_iter().chain(q.dual);
    let worst = |sign: f64| {
        let pairs = numbers(a).zip(numbers(b));
        pairs.map(|(x, y)| (x - sign * y).abs()).fold(0.0, larger)
    };
    worst(1.0).min(worst(-1.0))
}

fn turn_of(q: Dual) -> f64 {
    let x = q.rigid().rotation * DVec3::X;
    x.y.atan2(x.x).to_degrees().rem_euclid(360.0)
}

#[test]
fn kavan_2008_pivot_rule_of_the_reference() {
    let turns = [0.0, 170.0, 260.0]
        .map(|d: f64| Dual::new(DQuat::from_rotation_z(d.to_radians()), DVec3::ZERO));
    let weights = [0.0, 0.5, 0.5];
    assert!((turn_of(Dual::blend(&weights, &turns, 1)) - 215.0).abs() < 1e-9);
    assert!((turn_of(Dual::blend(&weights, &turns, 0)) - 35.0).abs() < 1e-9);
}

#[test]
fn kavan_2008_blends_are_never_shorter_than_the_largest_weight() {
    let mut random = Random::new(40);
    for trial in 0..500 {
        let n = 2 + trial % 4;
        let motions: Vec<Dual> = (0..n).map(|_| random_motion(&mut random)).collect();
        let weights: Vec<f64> = (0..n).map(|_| random.next() + 0.01).collect();
        let pivot = (0..n).fold(0, |p, i| if weights[i] > weights[p] { i } else { p });
        let library: Vec<DualQuat> = motions.iter().map(|&m| to_library(m)).collect();
        let blend = DualQuat::blend(&weights, &library, pivot);
        assert!(blend.real.length() >= weights[pivot] - 1e-15);
        let expected = Dual::blend(&weights, &motions, pivot);
        let actual = of_library(blend.normalized());
        let tolerance = 1e-13 / weights[pivot].powi(2);
        for (a, e) in actual
            .iter()
            .zip(expected.real.iter().chain(&expected.dual))
        {
            assert!((a - e).abs() < tolerance, "{actual:?} {expected:?}");
        }
    }
}

#[test]
fn seed_003_eqs_9_to_11_invariance_of_the_reference() {
    let mut random = Random::new(41);
    let mut worst = [0.0f64; 3];
    for trial in 0..500 {
        let n = 2 + trial % 4;
        let motions: Vec<Dual> = (0..n)
            .map(|_| {
                let sign = if random.next() < 0.5 { -1.0 } else { 1.0 };
                random_motion(&mut random).scaled(sign)
            })
            .collect();
        let mut weights: Vec<f64> = (0..n).map(|_| random.next() + 0.1).collect();
        let sum: f64 = weights.iter().sum();
        for w in &mut weights {
            *w /= sum;
        }
        let pivot = (0..n).fold(0, |p, i| if weights[i] > weights[p] { i } else { p });
        let a = random_motion(&mut random);
        let plain = Dual::blend(&weights, &motions, pivot);
        let blended = |f: &dyn Fn(Dual) -> Dual| {
            let moved: Vec<Dual> = motions.iter().map(|&m| f(m)).collect();
            Dual::blend(&weights, &moved, pivot)
        };
        let back = a.conjugate();
        for (k, (actual, expected)) in [
            (blended(&|m| a.times(m)), a.times(plain)),
            (blended(&|m| m.times(a)), plain.times(a)),
            (
                blended(&|m| a.times(m).times(back)),
                a.times(plain).times(back),
            ),
        ]
        .into_iter()
        .enumerate()
        {
            worst[k] = larger(worst[k], difference(actual, expected));
        }
    }
    println!("left, right, conjugation: {worst:?}");
    assert!(worst.iter().all(|w| *w < 1e-12), "{worst:?}");
}

#[test]
fn kavan_2008_dlb_and_sclerp_share_the_screw_axis() {
    let mut random = Random::new(42);
    let mut n = 0;
    for _ in 0..500 {
        let (a, b) = (random_motion(&mut random), random_motion(&mut random));
        let whole = a.conjugate().times(b).screw().unwrap();
        // A screw of a small angle says little about where its axis is.
        if whole.0 < 0.3 {
            continue;
        }
        n += 1;
        for t in [0.1, 0.25, 0.5, 0.8, 0.95] {
            let blend = Dual::blend(&[1.0 - t, t], &[a, b], 0);
            let screw = a.conjugate().times(blend).screw().unwrap();
            assert!(screw.2.abs_diff_eq(whole.2, 1e-11), "axis at {t}");
            assert!(screw.3.abs_diff_eq(whole.3, 1e-10), "moment at {t}");
            // The library's two ways run along it too.
            let (la, lb) = (to_library(a), to_library(b));
            let sclerp = of_library(la.conjugate() * la.sclerp(lb, t));
            let of = |q: [f64; 8]| Dual {
                real: [q[0], q[1], q[2], q[3]],
                dual: [q[4], q[5], q[6], q[7]],
            };
            let part = of(sclerp).screw().unwrap();
            assert!((part.0 - t * whole.0).abs() < 1e-10);
            assert!((part.1 - t * whole.1).abs() < 1e-9);
            assert!(part.2.abs_diff_eq(whole.2, 1e-11));
            assert!(part.3.abs_diff_eq(whole.3, 1e-10));
            assert!(difference(of(of_library(la.sclerp(lb, t))), a.sclerp(b, t)) < 1e-12);
            if t == 0.5 {
                assert!(difference(blend, a.sclerp(b, t)) < 1e-12);
            }
        }
    }
    assert!(n > 450);
}

#[test]
fn seed_003_eqs_16_and_17_closed_forms_of_dlb_between_two_poses() {
    for degrees in [30.0, 90.0, 120.0, 150.0, 180.0] {
        let angle = f64::to_radians(degrees);
        let half = 0.5 * angle;
        let to = Dual::new(DQuat::from_rotation_z(angle), DVec3::Z);
        let rest = Dual::new(DQuat::IDENTITY, DVec3::ZERO);
        for t in (0..=20).map(|i| f64::from(i) / 20.0) {
            let Rigid {
                rotation,
                translation,
            } = Dual::blend(&[1.0 - t, t], &[rest, to], 0).rigid();
            let x = rotation * DVec3::X;
            let turned = 2.0 * (t * half.sin()).atan2(1.0 - t + t * half.cos());
            assert!((x.y.atan2(x.x).rem_euclid(2.0 * PI) - turned).abs() < 1e-12);
            let both = t * (1.0 - t) * half.cos();
            let fraction = (t * t + both) / (1.0 - 2.0 * t + 2.0 * t * t + 2.0 * both);
            assert!((translation.z - fraction).abs() < 1e-12, "{degrees} {t}");
        }
    }
}

#[test]
fn seed_003_eq_20_the_angle_of_a_power_is_a_fraction_of_the_whole() {
    let to = Dual::new(DQuat::from_rotation_z(1.2), DVec3::new(0.0, 0.0, 3.0));
    let rest = Dual::new(DQuat::IDENTITY, DVec3::ZERO);
    let part = rest.sclerp(to, 0.25);
    assert!((part.real[0] - 0.15f64.cos()).abs() < 1e-15);
    assert!((part.rigid().translation.z - 0.75).abs() < 1e-15);
}

#[test]
fn seed_003_sclerp_edge_cases_of_the_reference() {
    let mut random = Random::new(43);
    for _ in 0..50 {
        let (a, b) = (random_motion(&mut random), random_motion(&mut random));
        assert!(difference(a.sclerp(a, 0.7), a) < 1e-13);
        assert!(difference(a.sclerp(a.scaled(-1.0), 0.3), a) < 1e-13);
        assert!(difference(a.sclerp(b, 0.0), a) < 1e-13);
        assert!(difference(a.sclerp(b, 1.0), b) < 1e-12);
    }
    // A half turn: w = 0 keeps its sign, and the middle is a quarter turn.
    let rest = Dual::new(DQuat::IDENTITY, DVec3::ZERO);
    let half_turn = Dual {
        real: [0.0, 0.0, 0.0, 1.0],
        ..Dual::new(
            DQuat::from_xyzw(0.0, 0.0, 1.0, 0.0),
            DVec3::new(2.0, 0.0, 4.0),
        )
    };
    let middle = Dual::new(
        DQuat::from_rotation_z(FRAC_PI_2),
        DVec3::new(1.0, -1.0, 2.0),
    );
    assert!(difference(rest.sclerp(half_turn, 0.5), middle) < 1e-15);
    assert!(difference(Dual::blend(&[0.5, 0.5], &[rest, half_turn], 0), middle) < 1e-15);
}
