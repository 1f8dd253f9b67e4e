//! A coarse arm with a fist, like the one on which Bukatov et al. 2014 show control clusters (their Figs 3 and 4): few
//! vertices, most of which can be clusters.

use super::SampleModel;
use super::motion::{ClipBuilder, index, steps, turn, wave};
use super::rig::Rig;
use super::tube::{Tube, grid, smooth_stations};
use super::weights::{exact_row, normal_integral};
use crate::document::MeshSource;
use crate::skeleton::{Clip, Joint};
use glam::{DQuat, DVec3};
use std::f64::consts::TAU;

/// Height of the axis above the ground, metres.
const HEIGHT: f64 = 0.15;
/// The joints along x, metres: shoulder, elbow, wrist, knuckles.
const JOINTS: [f64; 4] = [-0.29, 0.0, 0.26, 0.345];
/// The ends of the skin along x, metres.
const ENDS: [f64; 2] = [-0.345, 0.372];
/// Standard deviations of the weights across elbow and wrist, metres.
const FALLOFFS: [f64; 2] = [0.024, 0.016];

/// The arm with about `n_points` points.
pub(super) fn coarse_arm(n_points: usize) -> SampleModel {
    let mut rig = Rig::default();
    let [shoulder, elbow, wrist, knuckles] = JOINTS.map(|x| DVec3::new(x, HEIGHT, 0.0));
    let upper = rig.add("upper_arm", None, [shoulder, elbow], DVec3::Z, 0.04);
    let forearm = rig.add("forearm", Some(upper), [elbow, wrist], DVec3::Z, 0.04);
    let hand = rig.add("hand", Some(forearm), [wrist, knuckles], DVec3::Z, 0.03);
    // It has no weight: it gives the hand its length.
    let tip = [knuckles, knuckles + DVec3::X * 0.03];
    rig.add("hand_end", Some(hand), tip, DVec3::Z, 0.03);
    let joints = rig.joints();
    SampleModel {
        name: "coarse-arm".to_owned(),
        clips: clips(&joints, forearm),
        skin: rig.skin("coarse-arm"),
        mesh: skin(n_points),
        joints,
    }
}

/// The bend of the paper's Fig. 4 from 0 to 120 degrees at 50 degrees a second; there and back; and a twist.
fn clips(joints: &[Joint], forearm: u16) -> Vec<Clip> {
    let times = steps(0.0, 2.4, 24);
    let share = |k: usize| times[k] / 2.4;
    let clip = |name: &str, rotation: &dyn Fn(usize) -> DQuat| {
        let mut clip = ClipBuilder::new(name, joints);
        clip.rotate(index(forearm), &times, rotation);
        clip.finish()
    };
    vec![
        clip("Bend", &|k| turn(DVec3::X, 120.0 * share(k))),
        clip("Flex", &|k| turn(DVec3::X, 120.0 * wave(share(k)))),
        clip("Twist", &|k| turn(DVec3::Y, 120.0 * wave(share(k)))),
    ]
}

fn skin(n_points: usize) -> MeshSource {
    let (n_rings, n_sides) = grid(n_points, 2.6);
    let tube = Tube {
        n_rings,
        n_sides,
        place: &|t, turn| {
            // The ends are points of their own.
            let t = (t * (n_rings - 1) as f64 + 1.0) / (n_rings + 1) as f64;
            let h = 1e-4;
            let p = place(t, turn);
            let across = place(t, turn + h) - place(t, turn - h);
            let along = place((t + h).min(1.0), turn) - place((t - h).max(0.0), turn);
            let normal = across.cross(along);
            (p, normal.try_normalize().unwrap_or(DVec3::X))
        },
        ends: ENDS.map(|x| DVec3::new(x, HEIGHT, 0.0)),
    };
    tube.mesh("coarse-arm", &|p| {
        let past = |k: usize| normal_integral((p.x - JOINTS[k + 1]) / FALLOFFS[k]);
        let [elbow, wrist] = [past(0), past(1)];
        exact_row([1.0 - elbow, elbow * (1.0 - wrist), elbow * wrist])
    })
}

/// A point of the skin: `t` runs along it, `turn` around it from the upper (flexor) side.
fn place(t: f64, turn: f64) -> DVec3 {
    // Half heights and half widths at stations along x.
    const HEIGHTS: [(f64, f64); 10] = [
        (-0.35, 0.048),
        (-0.28, 0.052),
        (-0.15, 0.046),
        (0.0, 0.037),
        (0.07, 0.041),
        (0.19, 0.029),
        (0.25, 0.024),
        (0.29, 0.037),
        (0.34, 0.041),
        (0.38, 0.034),
    ];
    const WIDTHS: [(f64, f64); 10] = [
        (-0.35, 0.048),
        (-0.28, 0.050),
        (-0.15, 0.043),
        (0.0, 0.038),
        (0.07, 0.042),
        (0.19, 0.033),
        (0.25, 0.030),
        (0.29, 0.043),
        (0.34, 0.047),
        (0.38, 0.040),
    ];
    let [low, high] = ENDS;
    let x = low + (high - low) * spacing(t);
    let (sin, cos) = libm::sincos(turn * TAU);
    let bump = |centre: f64, width: f64| {
        let d = (x - centre) / width;
        libm::exp(-d * d)
    };
    let up = cos.max(0.0) * cos.max(0.0);
    let below = (-cos).max(0.0) * (-cos).max(0.0);
    // Biceps, triceps, the elbow's tip, and the thumb that lies over the fist.
    let bulge = 0.004 * up * bump(-0.13, 0.08)
        + 0.004 * below * bump(-0.17, 0.08)
        + 0.004 * below * below * bump(-0.004, 0.03)
        + 0.008 * (0.6 * cos + 0.8 * sin).max(0.0).powi(2) * bump(0.30, 0.035);
    let round = |depth: f64, reach: f64| {
        let d = 1.0 - (depth / reach).clamp(0.0, 1.0);
        (1.0 - d * d).max(0.0).sqrt()
    };
    let end = round(x - low, 0.045) * round(high - x, 0.034);
    let height = (smooth_stations(&HEIGHTS, x) + bulge) * end;
    let width = (smooth_stations(&WIDTHS, x) + bulge) * end;
    DVec3::new(x, HEIGHT + height * cos, width * sin)
}

/// Maps 0..1 to 0..1 so that rings are closer at the ends and at the elbow than between.
fn spacing(t: f64) -> f64 {
    const SHARE: f64 = 0.4;
    t - SHARE * libm::sin(2.0 * TAU * t) / (2.0 * TAU)
}
