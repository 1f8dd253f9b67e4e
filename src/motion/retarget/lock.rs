//! Feet that stay where they rest.

use super::leg::Leg;
use super::target::{Retarget, RetargetPose};
use crate::motion::contacts::{
    Contact, ContactLimits, FeetSecs, contacts_at, find_contacts, median, slide,
};
use crate::motion::roles::{SIDES, Side};
use crate::skeleton::ik::TwoBone;
use glam::{DQuat, DVec3};
use serde::Serialize;

/// The time over which a foot goes to its place and leaves it, seconds.
const EASE_SECS: f64 = 0.1;
/// Legs are bent at least so much: this share of their length.
const REACH: f64 = 0.999;
/// The farthest that the hips sink, in lengths of the leg.
const MAX_SINK: f64 = 0.05;
/// How far in front of the knee the plane of a leg passes, in lengths of the leg.
const STRAIGHT_BIAS: f64 = 0.02;

/// What resting feet were found and held.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FootLock {
    /// The contacts of the left and the right foot, frames.
    pub contacts: [Vec<Contact>; 2],
    /// Before: the mean speed of the resting toes (metres a second), and the farthest they are from their places (metres).
    pub slide_before: [f64; 2],
    /// The same after.
    pub slide_after: [f64; 2],
    /// The farthest that the hips sink, metres.
    pub hip_drop: f64,
    /// The farthest that an ankle misses its place, metres.
    pub out_of_reach: f64,
    /// Whether contacts were looked for.
    pub is_searched: bool,
    /// Whether feet were held: not with fewer than two contacts that were found, where they hardly rest.
    pub holds: bool,
}

/// Poses with their resting feet held, and what was found; `by_hand` replaces that.
pub(super) fn lock(
    retarget: &Retarget<'_>,
    poses: &mut [RetargetPose],
    by_hand: Option<&FeetSecs>,
    limits: &ContactLimits,
) -> FootLock {
    let times = retarget.times();
    let legs: Vec<(Side, Leg)> = SIDES
        .into_iter()
        .filter_map(|side| Some((side, retarget.leg(side)?)))
        .collect();
    let mut found = FootLock {
        is_searched: true,
        ..FootLock::default()
    };
    let mut before = Vec::new();
    for (i, (_, leg)) in legs.iter().enumerate() {
        let take = retarget.take();
        let frames = 0..take.n_frames();
        let source: Vec<DVec3> = frames.map(|f| take.places(Some(f))[leg.source]).collect();
        let contacts = match by_hand {
            Some(feet) => contacts_at(times, &feet[i.min(1)]),
            None => find_contacts(times, &source, retarget.report.legs[0], limits),
        };
        before.push(slide_of(times, poses, leg, &contacts));
        found.contacts[i.min(1)] = contacts;
    }
    found.slide_before = worst(&before, &found.contacts, times);
    found.slide_after = found.slide_before;
    // A single contact by hand is intended; a single one that was found is no walk.
    let least = if by_hand.is_some() { 1 } else { 2 };
    found.holds = found.contacts.iter().map(Vec::len).sum::<usize>() >= least;
    if !found.holds {
        return found;
    }
    // The goals of the ankles, and how far the hips must sink for them.
    let mut goals: Vec<Vec<DVec3>> = Vec::new();
    let mut sink = vec![0.0_f64; poses.len()];
    for (i, (_, leg)) in legs.iter().enumerate() {
        let toes: Vec<DVec3> = poses.iter().map(|pose| pose.places[leg.toe]).collect();
        let height = retarget.rest_height(leg.toe);
        let places: Vec<DVec3> = found.contacts[i.min(1)]
            .iter()
            .map(|c| {
                let middle = median(&toes[c.first..=c.last]);
                DVec3::new(middle.x, height, middle.z)
            })
            .collect();
        let mut of_leg = Vec::with_capacity(poses.len());
        for (frame, pose) in poses.iter().enumerate() {
            let (weight, place) = weight(times, frame, &found.contacts[i.min(1)], &places);
            let goal = pose.places[leg.foot] + (place - toes[frame]) * weight;
            let pull = goal - pose.places[leg.thigh];
            let length = leg_length(pose, leg);
            let flat = pull.x * pull.x + pull.z * pull.z;
            let reach = length * REACH;
            if pull.length() > reach {
                let need = -pull.y - (reach * reach - flat).max(0.0).sqrt();
                sink[frame] = sink[frame].max(need.min(MAX_SINK * length));
            }
            of_leg.push(goal);
        }
        goals.push(of_leg);
    }
    let sink = eased(times, &sink);
    for (frame, pose) in poses.iter_mut().enumerate() {
        let drop = DVec3::Y * -sink[frame];
        found.hip_drop = found.hip_drop.max(sink[frame]);
        retarget.move_hips(pose, drop);
        for ((_, leg), goals) in legs.iter().zip(&goals) {
            let miss = bend(retarget, pose, leg, drop, goals[frame]);
            found.out_of_reach = found.out_of_reach.max(miss);
        }
        retarget.place(pose);
    }
    let after: Vec<[f64; 2]> = legs
        .iter()
        .enumerate()
        .map(|(i, (_, leg))| slide_of(times, poses, leg, &found.contacts[i.min(1)]))
        .collect();
    found.slide_after = worst(&after, &found.contacts, times);
    found
}

fn leg_length(pose: &RetargetPose, leg: &Leg) -> f64 {
    let [thigh, shin, foot] = [leg.thigh, leg.shin, leg.foot].map(|j| pose.places[j]);
    thigh.distance(shin) + shin.distance(foot)
}

fn slide_of(times: &[f64], poses: &[RetargetPose], leg: &Leg, contacts: &[Contact]) -> [f64; 2] {
    let toes: Vec<DVec3> = poses.iter().map(|pose| pose.places[leg.toe]).collect();
    slide(times, &toes, contacts)
}

/// The mean speed over all contacts of both feet, and the farthest of both.
fn worst(slides: &[[f64; 2]], contacts: &[Vec<Contact>; 2], times: &[f64]) -> [f64; 2] {
    let secs = |contacts: &Vec<Contact>| -> f64 {
        contacts
            .iter()
            .map(|c| times[c.last] - times[c.first])
            .sum()
    };
    let all: f64 = contacts.iter().map(secs).sum();
    let path: f64 = slides
        .iter()
        .zip(contacts)
        .map(|(s, c)| s[0] * secs(c))
        .sum();
    let far = slides.iter().map(|s| s[1]).fold(0.0, f64::max);
    [if all > 0.0 { path / all } else { 0.0 }, far]
}

/// How much a foot is held at a frame, and where: fully in a contact, less and less around it.
fn weight(times: &[f64], frame: usize, contacts: &[Contact], places: &[DVec3]) -> (f64, DVec3) {
    let now = times[frame];
    let mut best = (0.0, DVec3::ZERO);
    for (contact, place) in contacts.iter().zip(places) {
        let away = (times[contact.first] - now)
            .max(now - times[contact.last])
            .max(0.0);
        let x = (1.0 - away / EASE_SECS).clamp(0.0, 1.0);
        let weight = x * x * (3.0 - 2.0 * x);
        if weight > best.0 {
            best = (weight, *place);
        }
    }
    best
}

/// The largest value around each, smoothed with a Hann window: at least the value itself.
fn eased(times: &[f64], values: &[f64]) -> Vec<f64> {
    let half = EASE_SECS * 0.5;
    let around = |i: usize| {
        let from = times.partition_point(|t| *t < times[i] - half - 1e-9);
        let to = times.partition_point(|t| *t <= times[i] + half + 1e-9);
        from..to
    };
    let largest: Vec<f64> = (0..values.len())
        .map(|i| values[around(i)].iter().copied().fold(0.0, f64::max))
        .collect();
    let smooth = |i: usize| {
        let (mut sum, mut weights) = (0.0, 0.0);
        for k in around(i) {
            let x = (times[k] - times[i]) / half;
            let weight = 0.5 + 0.5 * (std::f64::consts::PI * x).cos();
            sum += weight * largest[k];
            weights += weight;
        }
        if weights > 0.0 {
            sum / weights
        } else {
            largest[i]
        }
    };
    (0..values.len()).map(smooth).collect()
}

/// Bends a leg so that its ankle reaches a goal, and keeps the rotation of its foot; returns how far it misses.
fn bend(
    retarget: &Retarget<'_>,
    pose: &mut RetargetPose,
    leg: &Leg,
    drop: DVec3,
    goal: DVec3,
) -> f64 {
    let [root, mid, end] = [leg.thigh, leg.shin, leg.foot].map(|j| pose.places[j] + drop);
    // The plane of the knee as it is; a straight leg bends forward.
    let forward = retarget.front(pose) * (STRAIGHT_BIAS * leg_length(pose, leg));
    let reached = TwoBone { root, mid, end }.reach(goal, Some(mid + forward));
    let turn = |pose: &mut RetargetPose, joint: usize, above: DQuat, wanted: DQuat| {
        let parent = retarget.parent(joint).map(|p| above * pose.world[p]);
        let parent = parent.unwrap_or(DQuat::IDENTITY);
        pose.rotations[joint] = parent.conjugate() * wanted;
    };
    let (thigh, shin) = (reached.root_rotation, reached.mid_rotation);
    let [of_thigh, of_shin, of_foot] = [leg.thigh, leg.shin, leg.foot].map(|j| pose.world[j]);
    // What lies between the joints of a split limb follows the one above.
    turn(pose, leg.thigh, DQuat::IDENTITY, thigh * of_thigh);
    turn(pose, leg.shin, thigh, shin * of_shin);
    turn(pose, leg.foot, shin, of_foot);
    reached.positions.end.distance(goal)
}
