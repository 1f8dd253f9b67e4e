//! Pose space deformation: the published numbers of the interpolation.
//!
//! Sources: Lewis et al. 2000 (pose space deformation), Huynh 2009 (metrics of 3D rotations).

use glam::{DQuat, DVec3};
use sinew::math::Worse;
use sinew::psd::{
    DriverMode, Kernel, NamedPose, PoseInterpolation, PoseSet, PsdError, PsdWarning, Work,
};
use std::f64::consts::TAU;

const HINGE: DriverMode = DriverMode::Hinge(DVec3::X);

/// A set with the defaults.
fn set<'a>(drivers: &'a [(DriverMode, f64)], poses: &'a [NamedPose<'a>]) -> PoseSet<'a> {
    PoseSet {
        name: "elbow",
        drivers,
        kernel: Kernel::MultiQuadric,
        radius: 1.0,
        smoothing: 0.0,
        clamp: [-0.15, 1.15],
        fade: false,
        poses,
    }
}

const UNCLAMPED: [f64; 2] = [-10.0, 10.0];

fn bend(degrees: f64) -> DQuat {
    DQuat::from_rotation_x(degrees.to_radians())
}

/// Samples of one driver joint, by their rotations.
struct Samples(Vec<[DQuat; 1]>);

impl Samples {
    fn bends(degrees: &[f64]) -> Self {
        Self(degrees.iter().map(|&d| [bend(d)]).collect())
    }

    fn poses(&self) -> Vec<NamedPose<'_>> {
        let poses = self.0.iter().zip(["A", "B", "C", "D", "E", "F", "G", "H"]);
        let pose = |(rotations, name)| NamedPose {
            name,
            rotations: <[DQuat; 1]>::as_slice(rotations),
        };
        poses.map(pose).collect()
    }

    fn solve(
        &self,
        mode: DriverMode,
        change: impl FnOnce(&mut PoseSet<'_>),
    ) -> Result<PoseInterpolation, PsdError> {
        let (poses, drivers) = (self.poses(), [(mode, 1.0)]);
        let mut set = set(&drivers, &poses);
        change(&mut set);
        PoseInterpolation::new(&set)
    }
}

fn weights(solved: &PoseInterpolation, rotations: &[DQuat]) -> Vec<f64> {
    let mut out = vec![0.0; solved.n_samples()];
    solved.weights(rotations.iter().copied(), &mut Work::default(), &mut out);
    out
}

fn assert_near(found: f64, expected: f64, tolerance: f64, what: &str) {
    let error = (found - expected).abs();
    assert!(error <= tolerance, "{what}: {found} not {expected}");
}

#[test]
fn one_sample_at_90_degrees_follows_the_closed_form() {
    let samples = Samples::bends(&[90.0]);
    let solved = samples.solve(HINGE, |_| {}).unwrap();
    let golden = [
        (-90.0, -0.10391),
        (0.0, 0.0),
        (15.0, 0.13610),
        (30.0, 0.31258),
        (45.0, 0.5),
        (60.0, 0.68742),
        (75.0, 0.86390),
        (90.0, 1.0),
        (120.0, 1.08521),
        (150.0, 1.09929),
        (180.0, 1.10391),
    ];
    let c = 0.2 * 90f64.to_radians();
    assert_near(solved.shape(), c, 1e-15, "c");
    let phi = |degrees: f64| degrees.to_radians().hypot(c);
    for (degrees, expected) in golden {
        let found = weights(&solved, &[bend(degrees)])[0];
        assert_near(found, expected, 6e-6, &format!("{degrees}"));
        let closed = 0.5 + (phi(degrees) - phi(degrees - 90.0)) / (2.0 * (phi(90.0) - phi(0.0)));
        assert_near(found, closed, 1e-13, &format!("{degrees}, closed"));
    }
    let gaussian = samples
        .solve(HINGE, |set| {
            set.kernel = Kernel::Gaussian;
            set.clamp = UNCLAMPED;
        })
        .unwrap();
    let golden = [(30.0, 0.359), (45.0, 0.549), (60.0, 0.728), (-90.0, -0.368)];
    for (degrees, expected) in golden {
        let found = weights(&gaussian, &[bend(degrees)])[0];
        assert_near(found, expected, 6e-4, &format!("gaussian {degrees}"));
    }
    let most = (-90..=180).map(|d| weights(&gaussian, &[bend(f64::from(d))])[0]);
    assert_near(most.fold(0.0, f64::worse), 1.102, 6e-4, "gaussian, most");
    let linear = samples
        .solve(HINGE, |set| set.kernel = Kernel::Linear)
        .unwrap();
    for (degrees, expected) in [
        (-50.0, 0.0),
        (0.0, 0.0),
        (45.0, 0.5),
        (90.0, 1.0),
        (170.0, 1.0),
    ] {
        let found = weights(&linear, &[bend(degrees)])[0];
        assert_near(found, expected, 1e-14, &format!("linear {degrees}"));
    }
}

/// c by the mean distance of neighbours: the overshoot of both sides.
#[test]
fn the_shape_parameter_decides_the_overshoot() {
    let samples = Samples::bends(&[90.0]);
    for (radius, overshoot) in [(0.5, 0.05), (1.0, 0.10), (1.75, 0.18), (2.5, 0.26)] {
        let solved = samples.solve(HINGE, |set| {
            set.radius = radius;
            set.clamp = UNCLAMPED;
        });
        let solved = solved.unwrap();
        let all = (-90..=180).map(|d| weights(&solved, &[bend(f64::from(d))])[0]);
        let (least, most) = all.fold((0.0, 0.0), |(low, high): (f64, f64), w| {
            (low.min(w), high.max(w))
        });
        assert_near(least, -overshoot, 0.006, &format!("{radius}, least"));
        assert_near(most, 1.0 + overshoot, 0.006, &format!("{radius}, most"));
    }
    let solved = samples.solve(HINGE, |set| set.radius = 4.0).unwrap();
    assert_eq!(weights(&solved, &[bend(180.0)]), [1.15], "clamped");
}

#[test]
fn no_weight_jumps_and_only_the_linear_kernel_kinks() {
    let samples = Samples::bends(&[90.0]);
    for (kernel, most) in [
        (Kernel::MultiQuadric, 0.0005),
        (Kernel::Gaussian, 0.0003),
        (Kernel::Linear, 0.0112),
    ] {
        let solved = samples.solve(HINGE, |set| {
            set.kernel = kernel;
            set.clamp = UNCLAMPED;
        });
        let solved = solved.unwrap();
        let all: Vec<f64> = (-90..=180)
            .map(|d| weights(&solved, &[bend(f64::from(d))])[0])
            .collect();
        let bends = all.windows(3).map(|w| (w[0] - 2.0 * w[1] + w[2]).abs());
        let worst = bends.fold(0.0, f64::worse);
        assert!(worst < most && worst > 0.4 * most, "{kernel:?}: {worst}");
    }
    // Two full turns of a ball, with samples off the path.
    let balls = Samples(vec![
        [bend(80.0)],
        [bend(-120.0)],
        [DQuat::from_rotation_y(1.2)],
    ]);
    let solved = balls.solve(DriverMode::Ball, |_| {}).unwrap();
    let tilt = DQuat::from_rotation_z(0.1);
    let path = (0..=1440).map(|i| weights(&solved, &[tilt * bend(f64::from(i) * 0.5)]));
    let path: Vec<Vec<f64>> = path.collect();
    for step in path.windows(2) {
        for (a, b) in step[0].iter().zip(&step[1]) {
            assert!((a - b).abs() < 0.02, "{a} {b}");
        }
    }
}

/// Two samples close to each other, at 90 degrees and some more: the guard is their distance, not the condition.
#[test]
fn close_samples_are_measured_warned_of_and_refused() {
    let solve = |apart: f64, kernel| {
        let samples = Samples::bends(&[90.0, 90.0 + apart]);
        samples.solve(HINGE, |set| set.kernel = kernel)
    };
    let gaussian = [54.0, 180.0, 980.0, 3.8e3, 1.5e4, 3.6e5];
    let multiquadric = [42.0, 120.0, 630.0, 2.4e3, 9.5e3, 2.3e5];
    for (kernel, golden) in [
        (Kernel::Gaussian, gaussian),
        (Kernel::MultiQuadric, multiquadric),
    ] {
        for (apart, expected) in [10.0, 5.0, 2.0, 1.0, 0.5, 0.1].into_iter().zip(golden) {
            let solved = solve(apart, kernel).unwrap();
            let condition = solved.condition();
            assert_near(
                condition,
                expected,
                0.03 * expected,
                &format!("{kernel:?} {apart}"),
            );
            let is_close = |w: &PsdWarning| matches!(w, PsdWarning::Close { .. });
            let warns = solved.warnings().iter().any(is_close);
            assert_eq!(warns, apart <= 2.0, "{apart}");
        }
    }
    let least = solve(0.1, Kernel::Linear).unwrap().condition();
    assert_near(least, 1.8e3, 30.0, "linear");
    let same = solve(0.05, Kernel::MultiQuadric).unwrap_err();
    let text = same.to_string();
    assert!(
        text.starts_with("samples \"A\" and \"B\" have the same driver pose"),
        "{text}"
    );
    let at_bind = Samples::bends(&[0.05]).solve(HINGE, |_| {}).unwrap_err();
    assert!(matches!(at_bind, PsdError::AtBind { .. }), "{at_bind}");
}

/// Bind, 80 degrees both ways about two axes, a twist, a mixture, 120 degrees.
fn shoulder() -> Samples {
    let (y, z) = (DQuat::from_rotation_y, DQuat::from_rotation_z);
    let r = f64::to_radians;
    let rotations = [
        y(r(80.0)),
        y(r(-80.0)),
        z(r(80.0)),
        z(r(-80.0)),
        bend(60.0),
        y(r(50.0)) * z(r(50.0)),
        y(r(120.0)),
    ];
    Samples(rotations.map(|q| [q]).to_vec())
}

#[test]
fn a_shoulder_is_well_conditioned_and_knows_no_sign() {
    let samples = shoulder();
    for kernel in [
        Kernel::MultiQuadric,
        Kernel::Linear,
        Kernel::Gaussian,
        Kernel::InverseMultiQuadric,
    ] {
        let solved = samples
            .solve(DriverMode::Ball, |set| set.kernel = kernel)
            .unwrap();
        let condition = solved.condition();
        assert!((15.0..40.0).contains(&condition), "{kernel:?}: {condition}");
        for (s, [rotation]) in samples.0.iter().enumerate() {
            let found = weights(&solved, &[*rotation]);
            assert_eq!(found, weights(&solved, &[-*rotation]));
            for (t, weight) in found.iter().enumerate() {
                let expected = f64::from(u8::from(s == t));
                assert_near(*weight, expected, 1e-12, &format!("{kernel:?} {s} {t}"));
            }
        }
        let at_bind = weights(&solved, &[DQuat::IDENTITY]);
        assert!(at_bind.iter().all(|w| w.abs() < 1e-12), "{at_bind:?}");
    }
    // A full turn: no jump, no kink.
    let solved = samples.solve(DriverMode::Ball, |_| {}).unwrap();
    let axis = DVec3::new(2.0, 6.0, 3.0) / 7.0;
    let path = (0..=720).map(|i| {
        let turn = DQuat::from_axis_angle(axis, f64::to_radians(f64::from(i) * 0.5));
        weights(&solved, &[turn])
    });
    let path: Vec<Vec<f64>> = path.collect();
    for t in 0..7 {
        let steps = path.windows(2).map(|w| (w[1][t] - w[0][t]).abs());
        let step = steps.fold(0.0, f64::worse);
        assert!(step < 0.012, "sample {t}: {step}");
        let bends = path.windows(3);
        let bends = bends.map(|w| (w[0][t] - 2.0 * w[1][t] + w[2][t]).abs());
        let bend = bends.fold(0.0, f64::worse);
        assert!(bend < 1e-3, "sample {t}: {bend}");
    }
}

/// The smallest pivot of a Cholesky factorisation; negative where a matrix is not positive definite.
fn smallest_pivot(mut a: Vec<Vec<f64>>) -> f64 {
    let mut smallest = f64::INFINITY;
    for k in 0..a.len() {
        let pivot = a[k][k];
        smallest = smallest.min(pivot);
        if pivot <= 0.0 {
            break;
        }
        for i in k + 1..a.len() {
            let factor = a[i][k] / pivot;
            let (above, below) = a.split_at_mut(i);
            for (value, above) in below[0].iter_mut().zip(&above[k]).skip(k) {
                *value -= factor * above;
            }
        }
    }
    smallest
}

/// The chordal distance is Euclidean, so that its Gaussian is positive definite for any rotations; that of the angle is
/// not.
#[test]
fn a_gaussian_of_chordal_distances_is_positive_definite() {
    let mut state = 1u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let rotations: Vec<DQuat> = (0..200)
        .map(|_| {
            // Shoemake 1992.
            let (u, v, w) = (random(), random() * TAU, random() * TAU);
            let (a, b) = ((1.0 - u).sqrt(), u.sqrt());
            DQuat::from_xyzw(a * v.sin(), a * v.cos(), b * w.sin(), b * w.cos())
        })
        .collect();
    let pivot = |sigma: f64, of_angle: bool| {
        let squared = |p: &DQuat, q: &DQuat| {
            let ball = DriverMode::Ball;
            let chord = ball.distance_squared(&ball.feature(*p), &ball.feature(*q));
            let angle = 2.0 * (0.5 * chord.sqrt()).min(1.0).asin();
            if of_angle { angle * angle } else { chord }
        };
        let row = |p: &DQuat| {
            let row = rotations.iter();
            row.map(|q| (-squared(p, q) / (2.0 * sigma * sigma)).exp())
                .collect::<Vec<_>>()
        };
        smallest_pivot(rotations.iter().map(row).collect())
    };
    assert!(pivot(1.0, false) > 0.0);
    assert!(pivot(1.0, true) < 0.0 && pivot(2.0, true) < 0.0);
}

#[test]
fn smoothing_gives_exactness_up_and_says_so() {
    let error = |smoothing: f64| {
        let solved = shoulder().solve(DriverMode::Ball, |set| {
            set.kernel = Kernel::Gaussian;
            set.radius = 3.0;
            set.smoothing = smoothing;
        });
        let solved = solved.unwrap();
        let mut warnings = solved.warnings().iter();
        warnings.find_map(|w| match w {
            PsdWarning::Inexact { error, .. } => Some(*error),
            _ => None,
        })
    };
    assert_eq!(error(0.0), None);
    for (smoothing, expected) in [(1e-10, 1e-7), (1e-8, 1e-5), (1e-6, 1e-3), (1e-4, 0.09)] {
        let found = error(smoothing).unwrap();
        let ratio = found / expected;
        assert!((0.05..20.0).contains(&ratio), "{smoothing:e}: {found:e}");
    }
}

#[test]
fn a_thin_plate_takes_hinges_and_enough_samples() {
    let drivers = [(HINGE, 1.0), (DriverMode::Hinge(DVec3::Z), 0.5)];
    let turns = [(60.0, 0.0), (0.0, 50.0), (40.0, 40.0), (-30.0, 10.0)];
    let rotation = |&(x, z): &(f64, f64)| [bend(x), DQuat::from_rotation_z(f64::to_radians(z))];
    let rotations: Vec<[DQuat; 2]> = turns.iter().map(rotation).collect();
    let poses: Vec<NamedPose<'_>> = rotations
        .iter()
        .map(|rotations| NamedPose {
            name: "plate",
            rotations,
        })
        .collect();
    let plate = |poses| PoseSet {
        kernel: Kernel::ThinPlate,
        ..set(&drivers, poses)
    };
    let solved = PoseInterpolation::new(&plate(&poses)).unwrap();
    for (s, rotations) in rotations.iter().enumerate() {
        let found = weights(&solved, rotations);
        for (t, weight) in found.iter().enumerate() {
            let expected = f64::from(u8::from(s == t));
            assert_near(*weight, expected, 1e-12, &format!("{s} {t}"));
        }
    }
    let few = PoseInterpolation::new(&plate(&poses[..1])).unwrap_err();
    assert!(matches!(few, PsdError::ThinPlate { .. }), "{few}");
    // All on one line.
    let flat = [(20.0, 0.0), (40.0, 0.0), (60.0, 0.0)];
    let flat: Vec<[DQuat; 2]> = flat.iter().map(rotation).collect();
    let poses = flat.iter().zip(["A", "B", "C"]);
    let poses: Vec<NamedPose<'_>> = poses
        .map(|(rotations, name)| NamedPose { name, rotations })
        .collect();
    let flat = PoseInterpolation::new(&plate(&poses)).unwrap_err();
    assert!(matches!(flat, PsdError::ThinPlate { .. }), "{flat}");
    let ball = shoulder().solve(DriverMode::Ball, |set| set.kernel = Kernel::ThinPlate);
    assert!(ball.unwrap_err().to_string().contains("multiquadric"));
}

#[test]
fn a_fading_set_is_exact_at_its_samples_and_off_far_away() {
    let samples = Samples::bends(&[40.0, 70.0]);
    let solved = samples.solve(HINGE, |set| set.fade = true).unwrap();
    assert_near(
        weights(&solved, &[bend(40.0)])[0],
        1.0,
        1e-12,
        "at the sample",
    );
    assert_eq!(weights(&solved, &[bend(179.0)]), [0.0, 0.0]);
    let all: Vec<f64> = (0..180)
        .map(|d| weights(&solved, &[bend(f64::from(d))])[1])
        .collect();
    assert!(
        all.windows(2).all(|w| (w[0] - w[1]).abs() < 0.08),
        "no jump"
    );
}
