//! A hand: five fingers of three bones each on a palm.

use super::field::{Flesh, Station};
use super::rig::Rig;
use glam::DVec3;

/// Position and orientation of a left hand.
pub(super) struct HandFrame {
    pub(super) wrist: DVec3,
    /// Unit, from the wrist to the middle finger.
    pub(super) along: DVec3,
    /// Unit, to the thumb's side.
    pub(super) aside: DVec3,
    pub(super) scale: f64,
}

/// A finger: name, knuckle, directions of its bones (along, aside, out of the palm), their lengths, the radii of its
/// joints and tip. For a hand of an adult: metres.
struct Finger {
    name: &'static str,
    knuckle: [f64; 3],
    directions: [[f64; 3]; 3],
    lengths: [f64; 3],
    radii: [f64; 4],
}

const FINGERS: [Finger; 5] = [
    Finger {
        name: "thumb",
        knuckle: [0.020, 0.017, 0.008],
        directions: [[0.66, 0.66, 0.34], [0.80, 0.52, 0.26], [0.88, 0.42, 0.18]],
        lengths: [0.044, 0.033, 0.024],
        radii: [0.0140, 0.0110, 0.0100, 0.0082],
    },
    Finger {
        name: "index",
        knuckle: [0.088, 0.031, 0.0],
        directions: [[0.98, 0.20, 0.06], [0.97, 0.19, 0.16], [0.94, 0.18, 0.28]],
        lengths: [0.042, 0.026, 0.020],
        radii: [0.0096, 0.0086, 0.0078, 0.0068],
    },
    Finger {
        name: "middle",
        knuckle: [0.092, 0.0075, -0.002],
        directions: [[0.995, 0.05, 0.07], [0.98, 0.04, 0.18], [0.95, 0.03, 0.30]],
        lengths: [0.046, 0.030, 0.021],
        radii: [0.0098, 0.0088, 0.0080, 0.0069],
    },
    Finger {
        name: "ring",
        knuckle: [0.087, -0.0155, -0.001],
        directions: [
            [0.99, -0.10, 0.08],
            [0.97, -0.10, 0.20],
            [0.94, -0.10, 0.32],
        ],
        lengths: [0.043, 0.027, 0.020],
        radii: [0.0093, 0.0084, 0.0076, 0.0066],
    },
    Finger {
        name: "pinky",
        knuckle: [0.078, -0.037, 0.002],
        directions: [
            [0.96, -0.25, 0.10],
            [0.94, -0.25, 0.22],
            [0.90, -0.24, 0.34],
        ],
        lengths: [0.034, 0.021, 0.018],
        radii: [0.0084, 0.0075, 0.0068, 0.0059],
    },
];

/// Adds the left hand's bone, its fingers and their cones; returns the hand's index.
pub(super) fn add_hand(rig: &mut Rig, flesh: &mut Flesh, parent: u16, frame: &HandFrame) -> u16 {
    let out = frame.along.cross(frame.aside);
    let scale = frame.scale;
    let direction = |[d, s, n]: [f64; 3]| frame.along * d + frame.aside * s + out * n;
    let at = |v: [f64; 3]| frame.wrist + direction(v) * scale;

    let hinge = frame.along.cross(out);
    let tail = at([0.09, 0.0, 0.0]);
    let hand = rig.add(
        "hand.L",
        Some(parent),
        [frame.wrist, tail],
        hinge,
        0.030 * scale,
    );
    let mut palm = |from: [f64; 3], to: [f64; 3], r0: f64, r1: f64| {
        flesh.add(
            hand,
            0.014 * scale,
            (at(from), r0 * scale),
            (at(to), r1 * scale),
        );
    };
    for finger in &FINGERS[1..] {
        let [d, s, n] = finger.knuckle;
        palm([0.012, s * 0.42, n], [d - 0.006, s, n], 0.0150, 0.0112);
    }
    // The heel of the palm, on both sides.
    palm([0.022, 0.010, 0.006], [0.055, 0.014, 0.006], 0.0135, 0.0115);
    palm(
        [0.020, -0.014, 0.005],
        [0.058, -0.026, 0.004],
        0.0130,
        0.0105,
    );
    for finger in &FINGERS {
        let mut joint = hand;
        let mut head = at(finger.knuckle);
        let mut stations: Vec<Station> = Vec::with_capacity(4);
        for k in 0..3 {
            let dir = direction(finger.directions[k])
                .try_normalize()
                .unwrap_or(frame.along);
            let tail = head + dir * (finger.lengths[k] * scale);
            // The thumb closes across the palm, about an axis tilted towards the palm's normal.
            let palm = if finger.name == "thumb" {
                direction([0.0, -0.75, 0.66])
            } else {
                out
            };
            let name = format!("{}.{:02}.L", finger.name, k + 1);
            let radius = finger.radii[k] * scale;
            joint = rig.add(&name, Some(joint), [head, tail], dir.cross(palm), radius);
            if k == 0 {
                rig.bones[joint as usize].reach = 0.22 * radius;
            }
            stations.push((joint, head, radius));
            if k == 2 {
                // The cone ends with the ball of the tip, near the bone's tail.
                let tip = finger.radii[3] * scale;
                stations.push((joint, tail - dir * (tip * 0.5), tip));
            }
            head = tail;
        }
        let blend = if finger.name == "thumb" { 0.012 } else { 0.006 };
        flesh.limb(blend * scale, &stations);
    }
    hand
}
