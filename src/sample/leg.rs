//! A left leg that stands on the ground: thigh, shin, foot and toes.
//!
//! Its bones have the lengths of an adult 1.75 m tall: thigh 0.245, shin 0.246, foot 0.039 high and 0.152 long, as fractions of
//! the height (Drillis and Contini 1966, in Winter, *Biomechanics and Motor Control of Human Movement*).

use super::body::Body;
use super::field::Flesh;
use super::figure::limb_chart;
use super::motion::{ClipBuilder, index, steps, turn, wave};
use super::rig::Rig;
use crate::skeleton::{Clip, Joint};
use glam::{DQuat, DVec3};

const fn v(x: f64, y: f64, z: f64) -> DVec3 {
    DVec3::new(x, y, z)
}

const HIP: DVec3 = v(0.0, 0.928, 0.0);
const KNEE: DVec3 = v(0.002, 0.499, 0.006);
const ANKLE: DVec3 = v(0.004, 0.070, -0.022);
const BALL: DVec3 = v(0.008, 0.022, 0.110);
const TOE: DVec3 = v(0.012, 0.016, 0.185);
/// Names of the bones, parents before children.
const BONES: [&str; 4] = ["thigh.L", "shin.L", "foot.L", "toes.L"];

/// How far the joints of [`BONES`] bend in the squat, degrees.
const SQUAT: [f64; 4] = [-80.0, 115.0, -35.0, 0.0];

/// The leg.
pub(super) fn leg() -> Body {
    let mut rig = Rig::default();
    let mut flesh = Flesh::default();
    let places = [HIP, KNEE, ANKLE, BALL, TOE];
    let mut parent = None;
    let bones = [0, 1, 2, 3].map(|k| {
        let radius = [0.090, 0.056, 0.038, 0.026][k];
        let ends = [places[k], places[k + 1]];
        let bone = rig.add(BONES[k], parent, ends, DVec3::X, radius);
        parent = Some(bone);
        bone
    });
    let [thigh, shin, foot, toes] = bones;

    flesh.limb(
        0.05,
        &[
            (thigh, HIP - v(0.0, 0.044, 0.0), 0.084),
            (thigh, v(0.002, 0.780, 0.002), 0.085),
            (thigh, v(0.002, 0.680, 0.004), 0.076),
            (thigh, v(0.002, 0.580, 0.004), 0.062),
            (shin, KNEE - v(0.0, 0.0, 0.006), 0.053),
            (shin, v(0.002, 0.430, -0.004), 0.050),
            (shin, v(0.003, 0.350, -0.008), 0.049),
            (shin, v(0.004, 0.250, -0.014), 0.041),
            (shin, v(0.004, 0.150, -0.019), 0.033),
            (shin, ANKLE, 0.032),
        ],
    );
    // The muscles in front of the thigh, the kneecap, both heads of the calf, and the ankle's bones at its sides.
    flesh.add(
        thigh,
        0.05,
        (v(0.004, 0.830, 0.028), 0.062),
        (v(0.002, 0.610, 0.026), 0.044),
    );
    flesh.add(
        shin,
        0.03,
        (v(0.002, 0.522, 0.038), 0.019),
        (v(0.002, 0.468, 0.034), 0.017),
    );
    flesh.add(
        shin,
        0.04,
        (v(-0.018, 0.410, -0.034), 0.034),
        (v(-0.012, 0.315, -0.034), 0.025),
    );
    flesh.add(
        shin,
        0.04,
        (v(0.020, 0.420, -0.032), 0.032),
        (v(0.016, 0.335, -0.032), 0.025),
    );
    for (x, y) in [(-0.022, 0.078), (0.030, 0.068)] {
        let (top, low) = (v(x, y + 0.006, -0.018), v(x, y - 0.006, -0.018));
        flesh.add(shin, 0.025, (top, 0.013), (low, 0.013));
    }
    // Heel, instep, outer edge, and the toes on both sides.
    flesh.add(
        foot,
        0.03,
        (v(0.004, 0.036, -0.047), 0.034),
        (v(0.004, 0.070, -0.018), 0.034),
    );
    flesh.add(
        foot,
        0.04,
        (v(0.005, 0.074, -0.002), 0.033),
        (v(0.006, 0.032, 0.104), 0.031),
    );
    flesh.add(
        foot,
        0.03,
        (v(0.008, 0.033, -0.032), 0.031),
        (v(0.026, 0.026, 0.092), 0.025),
    );
    flesh.add(
        toes,
        0.022,
        (v(0.002, 0.027, 0.110), 0.026),
        (v(0.000, 0.0205, 0.176), 0.020),
    );
    flesh.add(
        toes,
        0.04,
        (v(0.026, 0.0235, 0.102), 0.023),
        (v(0.026, 0.0185, 0.160), 0.018),
    );

    let mut charts = Vec::new();
    limb_chart(&rig, &mut charts, &[thigh, shin], DVec3::Z, 0.065);
    limb_chart(&rig, &mut charts, &[foot, toes], DVec3::Y, 0.045);
    Body {
        name: "leg",
        rig,
        parts: flesh.parts,
        is_symmetric: false,
        stands: true,
        charts,
        cell: 0.004,
    }
}

/// The clips of the leg: the knee, the ankle, and a squat with the foot on the ground.
pub(super) fn clips(rig: &Rig, joints: &[Joint]) -> Vec<Clip> {
    let times = steps(0.0, 2.0, 20);
    let share = |k: usize| wave(times[k] / 2.0);
    let clip = |name: &str, degrees: [f64; 4]| {
        let mut clip = ClipBuilder::new(name, joints);
        for (joint, most) in (0..).zip(degrees) {
            if most != 0.0 {
                let rotation = |k: usize| turn(DVec3::X, most * share(k));
                clip.rotate(index(joint), &times, rotation);
            }
        }
        clip
    };
    let mut squat = clip("Squat", SQUAT);
    squat.translate(index(0), &times, |k| {
        ANKLE - bent_ankle(rig, [SQUAT[0] * share(k), SQUAT[1] * share(k)])
    });
    vec![
        clip("Bend", [0.0, 120.0, 0.0, 0.0]).finish(),
        clip("Point", [0.0, 0.0, 45.0, 20.0]).finish(),
        squat.finish(),
    ]
}

/// Where the ankle is with thigh and shin turned about their hinges, degrees.
fn bent_ankle(rig: &Rig, degrees: [f64; 2]) -> DVec3 {
    let turned = |k: usize| -> DQuat {
        let frame = rig.bones[k].frame();
        frame * turn(DVec3::X, degrees[k]) * frame.conjugate()
    };
    let thigh = turned(0);
    let shin = thigh * turned(1);
    HIP + thigh * (KNEE - HIP) + shin * (ANKLE - KNEE)
}
