//! Inverse kinematics in places: the soft end of a reach, and chains of any length.

use crate::skeleton::ik::STRAIGHT;
use glam::DVec3;

/// The most bones of a chain.
pub const MOST_BONES: usize = 32;
/// The most rounds of a chain.
pub const MOST_ROUNDS: usize = 20;
/// The distance to the target, as a fraction of the chain's length, at which it counts as reached.
pub const REACHED: f64 = 1e-4;

/// The distance that a chain of length `length` reaches for, so that it never becomes straight: from `length - softness`
/// on it approaches `length` with a continuous slope. softness: 0 - `length`, metres; 0 changes nothing.
///
/// d' = L - s exp(-(d - (L - s)) / s).
pub fn soft_distance(distance: f64, length: f64, softness: f64) -> f64 {
    let from = length - softness;
    if softness <= 0.0 || distance <= from {
        distance
    } else {
        length - softness * (-(distance - from) / softness).exp()
    }
}

/// What a chain reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChainReached {
    /// Rounds, each from the end to the root and back.
    pub n_rounds: usize,
    /// The distance that is left, metres.
    pub gap: f64,
}

/// Moves the joints of a chain so that the last reaches `target` and the first stays; bones keep their lengths. Stops at a
/// gap below `reached` x the chain's length. A target beyond reach makes a straight line, exactly. A chain of more than
/// [`MOST_BONES`] bones stays. `side`: the direction in which a straight chain bends; without one a target on its line is
/// not reached.
///
/// Source: FABRIK, Aristidou and Lasenby 2011.
pub fn reach_chain(
    joints: &mut [DVec3],
    target: DVec3,
    side: Option<DVec3>,
    reached: f64,
    most_rounds: usize,
) -> ChainReached {
    let none = |gap| ChainReached { n_rounds: 0, gap };
    let (Some(&root), Some(&end)) = (joints.first(), joints.last()) else {
        return none(0.0);
    };
    let length_of = |i: usize, joints: &[DVec3]| joints[i + 1].distance(joints[i]);
    let n = joints.len() - 1;
    let length: f64 = (0..n).map(|i| length_of(i, joints)).sum();
    if !target.is_finite() || !length.is_finite() || length <= 0.0 || n > MOST_BONES {
        return none(end.distance(target));
    }
    let mut lengths = [0.0; MOST_BONES];
    for (i, bone) in lengths[..n].iter_mut().enumerate() {
        *bone = length_of(i, joints);
    }
    let pull = target - root;
    if pull.length() >= length {
        let along = pull / pull.length();
        let mut at = root;
        for i in 0..n {
            at += along * lengths[i];
            joints[i + 1] = at;
        }
        return none(at.distance(target));
    }
    if let Some(side) = side {
        let slack = (length * length - pull.length_squared()).max(0.0).sqrt();
        bow(joints, &lengths[..n], side, slack);
    }
    let mut found = none(end.distance(target));
    while found.n_rounds < most_rounds && found.gap >= reached * length {
        joints[n] = target;
        for i in (0..n).rev() {
            joints[i] = joints[i + 1] + towards(joints[i] - joints[i + 1]) * lengths[i];
        }
        joints[0] = root;
        for i in 0..n {
            joints[i + 1] = joints[i] + towards(joints[i + 1] - joints[i]) * lengths[i];
        }
        found.n_rounds += 1;
        found.gap = joints[n].distance(target);
    }
    found
}

/// Bows a chain that is straight, or nearly, towards `side`: the less the more it bends by itself, so that a chain that
/// straightens does not jump. `slack`: how far it could bow, metres.
fn bow(joints: &mut [DVec3], lengths: &[f64], side: DVec3, slack: f64) {
    let (root, end) = (joints[0], joints[joints.len() - 1]);
    let length: f64 = lengths.iter().sum();
    let along = (end - root).try_normalize();
    let along = along.unwrap_or_else(|| towards(joints[1] - root));
    let off = joints
        .iter()
        .map(|&j| (j - root).reject_from_normalized(along).length());
    let bent = off.fold(0.0, f64::max) / (STRAIGHT * length);
    if bent >= 1.0 {
        return;
    }
    let side = side.reject_from_normalized(along).try_normalize();
    let side = side.unwrap_or_else(|| along.any_orthonormal_vector());
    let mut passed = 0.0;
    for (joint, bone) in joints[1..].iter_mut().zip(lengths) {
        passed += bone;
        let x = passed / length;
        *joint += side * ((1.0 - bent) * slack * 2.0 * x * (1.0 - x));
    }
}

/// The direction; X where there is none.
fn towards(v: DVec3) -> DVec3 {
    v.try_normalize().unwrap_or(DVec3::X)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skeleton::ik::TwoBone;

    #[test]
    fn a_soft_reach_never_straightens() {
        for (distance, expected) in [
            (1.6, 1.6),
            (1.7, 1.7),
            (1.75, 1.739346934),
            (1.8, 1.7632120559),
            (2.0, 1.7950212932),
            (3.0, 1.799999774),
        ] {
            let soft = soft_distance(distance, 1.8, 0.1);
            assert!((soft - expected).abs() < 1e-9, "{distance}: {soft}");
            assert_eq!(soft_distance(distance, 1.8, 0.0), distance);
        }
    }

    #[test]
    fn two_bones_reach_where_they_are_published_to() {
        let arm = TwoBone {
            root: DVec3::ZERO,
            mid: DVec3::X,
            end: DVec3::new(1.8, 0.0, 0.0),
        };
        let pole = Some(DVec3::new(0.2, 0.3, 1.0));
        let at = |x: f64, y: f64| arm.reach(DVec3::new(x, y, 0.0), pole).positions;
        let near = at(1.2, 0.9);
        let mid = DVec3::new(0.6607531463, 0.5689958049, 0.4895396344);
        assert!(near.mid.distance(mid) < 1e-9, "{}", near.mid);
        let soft = at(soft_distance(1.75, 1.8, 0.1), 0.0);
        let mid = DVec3::new(0.9731605842, 0.0661265326, 0.2204217753);
        assert!(soft.mid.distance(mid) < 1e-9, "{}", soft.mid);
        assert!((soft.end.x - 1.739346934).abs() < 1e-9);
        // Nearer than the difference of the lengths.
        assert!((at(0.05, 0.0).end.length() - 0.2).abs() < 1e-12);
    }

    fn chain() -> [DVec3; 5] {
        [
            DVec3::ZERO,
            DVec3::new(0.0, 1.0, 0.1),
            DVec3::new(0.0, 2.0, 0.0),
            DVec3::new(0.0, 3.0, 0.1),
            DVec3::new(0.0, 3.5, 0.0),
        ]
    }

    #[test]
    fn chains_reach_in_the_published_rounds() {
        for (target, rounds) in [
            ([1.0, 2.0, 1.0], 3),
            ([2.0, 1.0, 0.0], 4),
            ([0.3, 0.3, 0.2], 12),
            ([0.0, 3.51, 0.0], 78),
        ] {
            let mut joints = chain();
            let found = reach_chain(&mut joints, target.into(), None, 1e-6, 200);
            assert_eq!(found.n_rounds, rounds, "{target:?}");
            for (pair, before) in joints.windows(2).zip(chain().windows(2)) {
                let change = pair[0].distance(pair[1]) - before[0].distance(before[1]);
                assert!(change.abs() < 1e-12);
            }
        }
        let mut joints = chain();
        reach_chain(
            &mut joints,
            DVec3::new(1.0, 2.0, 1.0),
            None,
            1e-6,
            MOST_ROUNDS,
        );
        let expected = [
            [0.0003335596, 1.0001829833, 0.0981523745],
            [0.0306628760, 2.0026016294, 0.0330602049],
            [0.6949066245, 2.3022768830, 0.7251403918],
        ];
        for (joint, expected) in joints[1..4].iter().zip(expected) {
            assert!(joint.distance(expected.into()) < 1e-9, "{joint}");
        }
    }

    /// The loop of FABRIK keeps what is on a line on it: gaps of 0.5 after any number of rounds.
    #[test]
    fn a_straight_chain_bows_to_its_side_and_reaches_targets_on_its_line() {
        let straight = || [0.0, 1.0, 2.0, 3.0].map(|y| DVec3::new(0.0, y, 0.0));
        for height in [0.5, 1.5, 2.5, 2.9] {
            let target = DVec3::new(0.0, height, 0.0);
            let mut joints = straight();
            let found = reach_chain(&mut joints, target, Some(DVec3::NEG_Z), REACHED, 60);
            assert!(found.gap < 3.0 * REACHED, "{height}: {found:?}");
            assert!(joints[1].z < -0.1 && joints[1].x.abs() < 1e-9, "{joints:?}");
        }
        // On its line there is no other way than along it.
        let mut joints = straight();
        let target = DVec3::new(0.0, 2.5, 0.0);
        let found = reach_chain(&mut joints, target, None, REACHED, 60);
        assert!(found.gap > 0.4);
    }

    #[test]
    fn a_chain_that_cannot_reach_is_a_straight_line() {
        let mut joints = chain();
        let found = reach_chain(
            &mut joints,
            DVec3::new(0.0, 0.0, 9.0),
            None,
            REACHED,
            MOST_ROUNDS,
        );
        assert_eq!(found.n_rounds, 0);
        assert!(joints.iter().all(|j| j.x == 0.0 && j.y == 0.0));
        let length: f64 = chain().windows(2).map(|p| p[0].distance(p[1])).sum();
        assert!((joints[4].z - length).abs() < 1e-12);
        assert!((found.gap - (9.0 - length)).abs() < 1e-12);
        assert_eq!(reach_chain(&mut [], DVec3::X, None, REACHED, 5).gap, 0.0);
        let mut still = [DVec3::ONE; 3];
        let found = reach_chain(&mut still, DVec3::NAN, None, REACHED, 5);
        assert!(still == [DVec3::ONE; 3] && found.gap.is_nan());
    }
}
