//! A standing figure 1.75 m tall, smooth like an artist's mannequin, and a hand on its own.
//!
//! The arms hang at 45 degrees (an A-pose): halfway between raised and hanging, so that shoulders bend by half as much
//! as from a T-pose in either direction.

use super::body::Body;
use super::field::Flesh;
use super::hand::{HandFrame, add_hand};
use super::rig::Rig;
use super::unwrap::Chart;
use glam::DVec3;

const fn v(x: f64, y: f64, z: f64) -> DVec3 {
    DVec3::new(x, y, z)
}

/// The mannequin.
pub(super) fn mannequin() -> Body {
    let mut rig = Rig::default();
    let mut flesh = Flesh::default();
    let x = DVec3::X;

    // Trunk and head. Cones are given for the left half; a part on the centre line is its own mirror image.
    let root = rig.add("root", None, [DVec3::ZERO, v(0.0, 0.0, 0.2)], x, 0.1);
    let spine_heads = [
        v(0.0, 0.95, -0.005),
        v(0.0, 1.04, -0.008),
        v(0.0, 1.15, -0.005),
        v(0.0, 1.265, -0.008),
        v(0.0, 1.465, -0.02),
        v(0.0, 1.545, -0.005),
        v(0.0, 1.75, 0.0),
    ];
    let names = ["hips", "spine.01", "spine.02", "chest", "neck", "head"];
    let radii = [0.10, 0.085, 0.085, 0.09, 0.055, 0.05];
    let mut spine = [0; 6];
    let mut parent = root;
    for k in 0..6 {
        parent = rig.add(
            names[k],
            Some(parent),
            [spine_heads[k], spine_heads[k + 1]],
            x,
            radii[k],
        );
        spine[k] = parent;
    }
    let [hips, spine_1, spine_2, chest, neck, head] = spine;
    let trunk = [
        (hips, v(0.070, 0.920, -0.006), 0.086),
        (spine_1, v(0.054, 1.035, 0.000), 0.087),
        (spine_2, v(0.050, 1.130, 0.002), 0.086),
        (chest, v(0.062, 1.250, 0.000), 0.096),
        (chest, v(0.080, 1.350, -0.006), 0.084),
    ];
    flesh.limb(0.05, &trunk);
    flesh.add(
        hips,
        0.05,
        (v(0.066, 0.885, -0.042), 0.070),
        (v(0.060, 0.950, -0.030), 0.068),
    );
    flesh.add(
        chest,
        0.06,
        (v(0.058, 1.320, 0.034), 0.052),
        (v(0.092, 1.355, 0.024), 0.046),
    );
    flesh.add(
        chest,
        0.06,
        (v(0.034, 1.330, -0.020), 0.082),
        (v(0.036, 1.400, -0.022), 0.060),
    );
    flesh.add(
        chest,
        0.06,
        (v(0.020, 1.462, -0.028), 0.030),
        (v(0.105, 1.422, -0.026), 0.028),
    );
    flesh.add(
        neck,
        0.04,
        (v(0.0, 1.43, -0.022), 0.050),
        (v(0.0, 1.545, -0.008), 0.045),
    );
    flesh.add(
        head,
        0.03,
        (v(0.0, 1.662, -0.020), 0.083),
        (v(0.0, 1.574, 0.030), 0.048),
    );
    flesh.add(
        head,
        0.05,
        (v(0.0, 1.668, -0.030), 0.076),
        (v(0.0, 1.640, 0.024), 0.062),
    );
    // A nose and ears tell front from back.
    flesh.add(
        head,
        0.024,
        (v(0.0, 1.645, 0.086), 0.008),
        (v(0.0, 1.614, 0.0935), 0.011),
    );
    flesh.add(
        head,
        0.014,
        (v(0.081, 1.616, -0.014), 0.0085),
        (v(0.087, 1.650, -0.022), 0.0125),
    );

    let left = rig.bones.len() as u16;
    // Arm.
    let down = v(0.5f64.sqrt(), -(0.5f64.sqrt()), 0.0);
    let shoulder = v(0.178, 1.405, -0.014);
    let elbow = shoulder + down * 0.285 + v(0.0, 0.0, -0.006);
    let wrist = elbow + (down + v(0.0, 0.0, 0.045)) * 0.255;
    let collar = v(0.025, 1.415, 0.010);
    let hinge = down.cross(DVec3::Z);
    let clavicle = rig.add(
        "clavicle.L",
        Some(chest),
        [collar, shoulder],
        DVec3::Z,
        0.055,
    );
    rig.bones[clavicle as usize].falloff = 0.045;
    rig.bones[clavicle as usize].reach = 0.05;
    let upper_arm = rig.add(
        "upper_arm.L",
        Some(clavicle),
        [shoulder, elbow],
        hinge,
        0.056,
    );
    rig.bones[upper_arm as usize].reach = 0.04;
    let forearm = rig.add("forearm.L", Some(upper_arm), [elbow, wrist], hinge, 0.042);
    flesh.add(
        clavicle,
        0.06,
        (v(0.045, 1.420, -0.020), 0.036),
        (shoulder - v(0.020, 0.004, 0.0), 0.042),
    );
    let upper = |t: f64| shoulder + (elbow - shoulder) * t;
    let fore = |t: f64| elbow + (wrist - elbow) * t;
    let arm = [
        (upper_arm, shoulder, 0.049),
        (upper_arm, upper(0.42) + v(0.0, 0.0, 0.003), 0.0475),
        (forearm, elbow, 0.0385),
        (forearm, fore(0.26), 0.0410),
        (forearm, fore(0.65), 0.0325),
        (forearm, wrist, 0.0255),
    ];
    flesh.limb(0.04, &arm);
    let hand = add_hand(
        &mut rig,
        &mut flesh,
        forearm,
        &HandFrame {
            wrist,
            along: down,
            aside: DVec3::Z,
            scale: 1.0,
        },
    );

    // Leg.
    let hip = v(0.094, 0.92, -0.002);
    let knee = v(0.098, 0.505, 0.012);
    let ankle = v(0.100, 0.088, -0.018);
    let ball = v(0.106, 0.022, 0.105);
    let toe = v(0.112, 0.016, 0.178);
    let thigh = rig.add("thigh.L", Some(hips), [hip, knee], x, 0.09);
    rig.bones[thigh as usize].falloff = 0.05;
    rig.bones[thigh as usize].reach = 0.05;
    let shin = rig.add("shin.L", Some(thigh), [knee, ankle], x, 0.056);
    let foot = rig.add("foot.L", Some(shin), [ankle, ball], x, 0.038);
    let toes = rig.add("toes.L", Some(foot), [ball, toe], x, 0.026);
    let leg = [
        (thigh, hip - v(0.004, 0.030, 0.0), 0.080),
        (thigh, v(0.097, 0.720, 0.008), 0.074),
        (shin, knee, 0.053),
        (shin, v(0.100, 0.380, -0.006), 0.0545),
        (shin, v(0.100, 0.230, -0.012), 0.042),
        (shin, ankle, 0.033),
    ];
    flesh.limb(0.05, &leg);
    flesh.add(
        foot,
        0.03,
        (v(0.100, 0.036, -0.045), 0.035),
        (v(0.100, 0.075, -0.012), 0.034),
    );
    flesh.add(
        foot,
        0.04,
        (v(0.101, 0.078, 0.0), 0.033),
        (v(0.104, 0.032, 0.100), 0.031),
    );
    flesh.add(
        foot,
        0.03,
        (v(0.104, 0.033, -0.03), 0.031),
        (v(0.122, 0.026, 0.088), 0.025),
    );
    flesh.add(
        toes,
        0.022,
        (v(0.100, 0.027, 0.105), 0.026),
        (v(0.098, 0.0205, 0.172), 0.020),
    );
    flesh.add(
        toes,
        0.04,
        (v(0.122, 0.0235, 0.098), 0.023),
        (v(0.122, 0.0185, 0.156), 0.018),
    );
    rig.mirror(left..rig.bones.len() as u16);

    let mut charts = vec![
        Chart {
            bones: [
                &[root, hips, spine_1, spine_2, chest, clavicle][..],
                &[rig.bones[clavicle as usize].twin],
            ]
            .concat(),
            low: v(0.0, 0.84, 0.0),
            high: v(0.0, 1.46, 0.0),
            front: DVec3::Z,
            radius: 0.13,
        },
        Chart {
            bones: vec![neck, head],
            low: v(0.0, 1.44, 0.0),
            high: v(0.0, 1.75, 0.0),
            front: DVec3::Z,
            radius: 0.085,
        },
    ];
    limb_chart(&rig, &mut charts, &[upper_arm, forearm], DVec3::Z, 0.045);
    limb_chart(&rig, &mut charts, &[thigh, shin], DVec3::Z, 0.065);
    limb_chart(&rig, &mut charts, &[foot, toes], DVec3::Y, 0.045);
    hand_charts(&rig, &mut charts, hand, true);
    Body {
        name: "mannequin",
        rig,
        parts: flesh.parts,
        is_symmetric: true,
        stands: true,
        charts,
        cell: 0.0055,
    }
}

/// A left hand that points up, palm to the front, on the end of its forearm.
pub(super) fn hand() -> Body {
    let mut rig = Rig::default();
    let mut flesh = Flesh::default();
    let root = v(0.0, 0.03, 0.0);
    let wrist = v(0.0, 0.10, 0.0);
    let forearm = rig.add("forearm.L", None, [root, wrist], -DVec3::X, 0.028);
    flesh.add(forearm, 0.02, (v(0.0, 0.032, 0.0), 0.030), (wrist, 0.0255));
    let frame = HandFrame {
        wrist,
        along: DVec3::Y,
        aside: -DVec3::X,
        scale: 1.0,
    };
    let hand = add_hand(&mut rig, &mut flesh, forearm, &frame);
    let mut charts = Vec::new();
    limb_chart(&rig, &mut charts, &[forearm], DVec3::Z, 0.03);
    hand_charts(&rig, &mut charts, hand, false);
    Body {
        name: "hand",
        rig,
        parts: flesh.parts,
        is_symmetric: false,
        stands: false,
        charts,
        cell: 0.0018,
    }
}

/// The palm and each finger.
fn hand_charts(rig: &Rig, charts: &mut Vec<Chart>, hand: u16, both: bool) {
    let mirrored = |charts: &mut Vec<Chart>, bones: &[u16], front, radius| {
        if both {
            limb_chart(rig, charts, bones, front, radius);
        } else {
            let n = charts.len();
            limb_chart(rig, charts, bones, front, radius);
            charts.truncate(n + 1);
        }
    };
    let palm = rig.bones[hand as usize]
        .hinge
        .cross(rig.bones[hand as usize].direction());
    mirrored(charts, &[hand], palm, 0.034);
    for finger in 0..5 {
        let first = hand + 1 + 3 * finger;
        mirrored(charts, &[first, first + 1, first + 2], palm, 0.009);
    }
}

/// The UV chart of a chain of bones, and one for its mirror image if it has one.
pub(super) fn limb_chart(
    rig: &Rig,
    charts: &mut Vec<Chart>,
    bones: &[u16],
    front: DVec3,
    radius: f64,
) {
    let twins: Vec<u16> = bones.iter().map(|&b| rig.bones[b as usize].twin).collect();
    let sides = if twins == bones {
        vec![bones.to_vec()]
    } else {
        vec![bones.to_vec(), twins]
    };
    for (side, bones) in sides.into_iter().enumerate() {
        let (Some(&first), Some(&last)) = (bones.first(), bones.last()) else {
            continue;
        };
        charts.push(Chart {
            low: rig.bones[first as usize].head,
            high: rig.bones[last as usize].tail,
            front: if side == 1 {
                v(-front.x, front.y, front.z)
            } else {
                front
            },
            bones,
            radius,
        });
    }
}
