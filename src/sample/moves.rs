//! The clips of hand and mannequin: fist and spread, a walk, a range of motion.

use super::motion::{ClipBuilder, index, steps, turn, wave};
use super::rig::Rig;
use crate::skeleton::{Clip, Joint, Pose, Skeleton};
use glam::{DQuat, DVec3};
use std::f64::consts::{FRAC_1_SQRT_2, TAU};

const FINGERS: [&str; 5] = ["thumb", "index", "middle", "ring", "pinky"];

/// Rotation of each bone of a finger about its hinge in a fist, degrees.
fn fist_degrees(finger: &str, bone: usize) -> f64 {
    match finger {
        "thumb" => [26.0, 34.0, 46.0][bone],
        _ => [72.0, 88.0, 52.0][bone],
    }
}

/// The clips Fist and Spread of the hand.
pub(super) fn hand_clips(rig: &Rig, joints: &[Joint]) -> Vec<Clip> {
    let times = steps(0.0, 2.0, 20);
    let mut fist = ClipBuilder::new("Fist", joints);
    let mut spread = ClipBuilder::new("Spread", joints);
    for (f, finger) in FINGERS.into_iter().enumerate() {
        for bone in 0..3 {
            let Some(joint) = rig.find(&format!("{finger}.{:02}.L", bone + 1)) else {
                continue;
            };
            // Each finger a little later than the previous one.
            let late = 0.03 * (4 - f) as f64;
            let degrees = fist_degrees(finger, bone);
            fist.rotate(index(joint), &times, |k| {
                let x = ((times[k] / 2.0 - late) / (1.0 - late)).clamp(0.0, 1.0);
                turn(DVec3::X, degrees * wave(x))
            });
            let apart = [-16.0, -9.0, -1.0, 7.0, 14.0][f];
            let back = if bone == 0 { -12.0 } else { -8.0 };
            spread.rotate(index(joint), &times, |k| {
                let x = wave(times[k] / 2.0);
                let aside = if bone == 0 { apart } else { 0.0 };
                turn(DVec3::Z, aside * x) * turn(DVec3::X, back * x)
            });
        }
    }
    vec![fist.finish(), spread.finish()]
}

/// The mannequin's clips.
pub(super) fn mannequin_clips(rig: &Rig, joints: &[Joint]) -> Vec<Clip> {
    vec![walk(rig, joints), range_of_motion(rig, joints)]
}

/// A rotation about a world axis in the rest pose, for the left side; mirrored for the right side.
fn world_turn(rig: &Rig, joint: u16, axis: DVec3, degrees: f64) -> DQuat {
    let bone = &rig.bones[joint as usize];
    // The left bone of a pair comes first.
    let axis = if bone.twin < joint {
        DVec3::new(axis.x, -axis.y, -axis.z)
    } else {
        axis
    };
    turn(bone.frame().conjugate() * axis, degrees)
}

/// A smooth bump of height 1 at `centre` of a cycle of length 1; a larger `sharpness` makes it shorter.
fn cyclic_bump(phase: f64, centre: f64, sharpness: f64) -> f64 {
    libm::exp(sharpness * (libm::cos((phase - centre) * TAU) - 1.0))
}

/// A walk on the spot: 1.1 s for two steps. Phase 0 is when the left heel strikes.
fn walk(rig: &Rig, joints: &[Joint]) -> Clip {
    const CYCLE_SECS: f64 = 1.1;
    const N_KEYS: usize = 24;
    let sin = |x: f64| libm::sin(x * TAU);
    let cos = |x: f64| libm::cos(x * TAU);
    let rotation = |joint: u16, phase: f64| -> Option<DQuat> {
        let name = rig.bones[joint as usize].name.as_str();
        // The right side does the same half a cycle later.
        let (base, p) = match name.split_once(".R") {
            Some((base, "")) => (base, phase + 0.5),
            _ => (name.trim_end_matches(".L"), phase),
        };
        let world = |axis: DVec3, degrees: f64| world_turn(rig, joint, axis, degrees);
        let (x, y, z) = (DVec3::X, DVec3::Y, DVec3::Z);
        Some(match base {
            // The pelvis rotates its striking side forward and drops the swinging side.
            "hips" => world(y, -6.0 * cos(p)) * world(z, 3.5 * sin(p)) * world(x, 2.0),
            "spine.01" => world(y, 4.0 * cos(p)) * world(z, -2.2 * sin(p)),
            "spine.02" => world(y, 4.0 * cos(p)) * world(z, -1.6 * sin(p)),
            "chest" => world(y, 5.0 * cos(p)) * world(z, -0.8 * sin(p)),
            "neck" => world(y, -3.5 * cos(p)),
            "head" => world(y, -3.5 * cos(p)) * world(x, -2.0 + 1.2 * cos(2.0 * p)),
            "clavicle" => world(y, 2.0 * cos(p)),
            "upper_arm" => world(x, 3.0 + 21.0 * cos(p + 0.02)) * world(z, -37.0),
            "forearm" => turn(x, 17.0 + 13.0 * (0.5 - 0.5 * cos(p - 0.03))),
            "hand" => turn(x, 4.0 * sin(p)),
            "thigh" => turn(x, -7.0 - 22.0 * cos(p) - 7.0 * cyclic_bump(p, 0.82, 3.0)),
            "shin" => turn(
                x,
                4.0 + 13.0 * cyclic_bump(p, 0.13, 6.0) + 58.0 * cyclic_bump(p, 0.72, 3.2),
            ),
            "foot" => turn(
                x,
                -4.0 + 9.0 * cyclic_bump(p, 0.07, 16.0) - 8.0 * cyclic_bump(p, 0.42, 8.0)
                    + 24.0 * cyclic_bump(p, 0.62, 10.0)
                    - 4.0 * cyclic_bump(p, 0.95, 8.0),
            ),
            "toes" => turn(x, -28.0 * cyclic_bump(p, 0.54, 14.0)),
            _ if base.ends_with(".01") || base.ends_with(".02") || base.ends_with(".03") => {
                let degrees = if base.starts_with("thumb") { 6.0 } else { 14.0 };
                turn(x, degrees + 2.0 * cos(p))
            }
            _ => return None,
        })
    };
    let times = steps(0.0, CYCLE_SECS, N_KEYS);
    let mut clip = ClipBuilder::new("Walk", joints);
    for joint in 0..joints.len() as u16 {
        let is_finger = rig.bones[joint as usize].parent.is_some_and(|p| {
            let parent = &rig.bones[p as usize].name;
            parent.starts_with("hand") || FINGERS.iter().any(|f| parent.starts_with(f))
        });
        if rotation(joint, 0.0).is_some() {
            // Fingers hardly move: few keys.
            let own = if is_finger {
                steps(0.0, CYCLE_SECS, 4)
            } else {
                times.clone()
            };
            clip.rotate(index(joint), &own, |k| {
                rotation(joint, own[k] / CYCLE_SECS).unwrap_or(DQuat::IDENTITY)
            });
        }
    }
    // The lower foot stands on the ground: that gives the height of the hips.
    if let (Some(hips), Ok(skeleton)) = (rig.find("hips"), Skeleton::new(joints.to_vec())) {
        let rest_lowest = lowest_sole(rig, &skeleton, &Pose::rest(&skeleton));
        let heights: Vec<f64> = times
            .iter()
            .map(|&t| {
                let mut pose = Pose::rest(&skeleton);
                for joint in 0..joints.len() as u16 {
                    if let Some(q) = rotation(joint, t / CYCLE_SECS) {
                        let local = &mut pose.locals[joint as usize];
                        local.rotation *= q;
                    }
                }
                rest_lowest - lowest_sole(rig, &skeleton, &pose)
            })
            .collect();
        // The transitions from sole to sole are smoothed.
        let n = N_KEYS;
        let smooth = |k: usize| {
            let at = |k: usize| heights[k % n];
            0.25 * at(k + n - 1) + 0.5 * at(k) + 0.25 * at(k + 1)
        };
        let root_frame = rig.bones[hips as usize]
            .parent
            .map_or(DQuat::IDENTITY, |p| rig.bones[p as usize].frame());
        clip.translate(index(hips), &times, |k| {
            let sway = 0.018 * sin(k as f64 / n as f64 - 0.02);
            root_frame.conjugate() * DVec3::new(sway, smooth(k), 0.0)
        });
    }
    clip.finish()
}

/// Height of the lowest of both soles' heel, ball and toe tip.
fn lowest_sole(rig: &Rig, skeleton: &Skeleton, pose: &Pose) -> f64 {
    let world = pose.world_matrices(skeleton);
    let marks = [
        ("foot", DVec3::new(0.100, 0.001, -0.055)),
        ("foot", DVec3::new(0.106, 0.001, 0.100)),
        ("toes", DVec3::new(0.105, 0.0, 0.165)),
    ];
    let mut lowest = f64::INFINITY;
    for (name, mark) in marks {
        for (side, sign) in [(".L", 1.0), (".R", -1.0)] {
            if let Some(joint) = rig.find(&format!("{name}{side}")) {
                let bone = &rig.bones[joint as usize];
                let at_rest = DVec3::new(mark.x * sign, mark.y, mark.z);
                let in_joint = bone.frame().conjugate() * (at_rest - bone.head);
                lowest = lowest.min(world[joint as usize].transform_point3(in_joint).y);
            }
        }
    }
    lowest
}

/// A rotation of a joint and back: bone, start and end in seconds, world axis in the rest pose (`None`: its hinge),
/// degrees. A name without a side means both.
type Turn = (&'static str, f64, f64, Option<DVec3>, f64);

const DOWN_ARM: DVec3 = DVec3::new(FRAC_1_SQRT_2, -FRAC_1_SQRT_2, 0.0);

const RANGE: [Turn; 35] = [
    ("neck", 0.0, 0.7, Some(DVec3::X), 22.0),
    ("head", 0.0, 0.7, Some(DVec3::X), 16.0),
    ("neck", 0.7, 1.3, Some(DVec3::Y), 30.0),
    ("head", 0.7, 1.3, Some(DVec3::Y), 32.0),
    ("clavicle", 1.2, 2.6, Some(DVec3::Z), 16.0),
    ("upper_arm", 1.2, 2.6, Some(DVec3::Z), 96.0),
    ("upper_arm", 2.6, 3.7, Some(DVec3::X), -75.0),
    ("forearm", 2.8, 4.0, None, 128.0),
    ("forearm", 4.0, 4.9, Some(DOWN_ARM), -85.0),
    ("hand", 4.4, 5.2, None, 55.0),
    ("thumb.01", 4.8, 5.8, None, 26.0),
    ("thumb.02", 4.8, 5.8, None, 34.0),
    ("thumb.03", 4.8, 5.8, None, 46.0),
    ("index.01", 4.8, 5.8, None, 72.0),
    ("index.02", 4.8, 5.8, None, 88.0),
    ("index.03", 4.8, 5.8, None, 52.0),
    ("middle.01", 4.8, 5.8, None, 72.0),
    ("middle.02", 4.8, 5.8, None, 88.0),
    ("middle.03", 4.8, 5.8, None, 52.0),
    ("ring.01", 4.8, 5.8, None, 72.0),
    ("ring.02", 4.8, 5.8, None, 88.0),
    ("ring.03", 4.8, 5.8, None, 52.0),
    ("pinky.01", 4.8, 5.8, None, 72.0),
    ("pinky.02", 4.8, 5.8, None, 88.0),
    ("pinky.03", 4.8, 5.8, None, 52.0),
    ("spine.01", 5.6, 6.7, Some(DVec3::X), 24.0),
    ("spine.02", 5.6, 6.7, Some(DVec3::X), 24.0),
    ("spine.01", 6.7, 7.5, Some(DVec3::Y), 16.0),
    ("spine.02", 6.7, 7.5, Some(DVec3::Y), 18.0),
    ("chest", 6.7, 7.5, Some(DVec3::Y), 20.0),
    ("thigh.L", 7.2, 8.3, None, -88.0),
    ("shin.L", 7.2, 8.3, None, 105.0),
    ("thigh.R", 8.1, 9.2, None, -88.0),
    ("shin.R", 8.1, 9.2, None, 105.0),
    ("foot.R", 8.1, 9.2, None, 30.0),
];

/// The range of motion: neck, shoulders, elbows, wrists, fingers, spine, hips and knees, one after the other.
fn range_of_motion(rig: &Rig, joints: &[Joint]) -> Clip {
    let mut clip = ClipBuilder::new("Range of motion", joints);
    for (j, bone) in rig.bones.iter().enumerate() {
        let own: Vec<&Turn> = RANGE
            .iter()
            .filter(|turn| {
                turn.0 == bone.name
                    || turn.0 == bone.name.trim_end_matches(['L', 'R']).trim_end_matches('.')
            })
            .collect();
        if own.is_empty() {
            continue;
        }
        let mut times: Vec<f64> = own.iter().flat_map(|t| steps(t.1, t.2, 10)).collect();
        times.sort_by(f64::total_cmp);
        times.dedup_by(|a, b| (*a - *b).abs() < 0.01);
        clip.rotate(index(j as u16), &times, |k| {
            let time = times[k];
            own.iter()
                .fold(DQuat::IDENTITY, |q, &&(_, start, end, axis, degrees)| {
                    let x = ((time - start) / (end - start)).clamp(0.0, 1.0);
                    let degrees = degrees * wave(x);
                    q * match axis {
                        Some(axis) => world_turn(rig, j as u16, axis, degrees),
                        None => turn(DVec3::X, degrees),
                    }
                })
        });
    }
    clip.finish()
}
