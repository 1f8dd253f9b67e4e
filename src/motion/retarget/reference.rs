//! The up axis of a motion, and the pose of it that a character's rest pose corresponds to.

use super::{Mapping, RetargetError, chain};
use crate::motion::rig::Rig;
use crate::motion::roles::{Part, Role, Roles, SIDES, Side};
use crate::motion::take::Take;
use glam::{DQuat, DVec3};
use std::f64::consts::{FRAC_PI_2, PI};

/// The largest number of frames that are looked at.
const MAX_FRAMES: usize = 200;
/// The zero pose is kept unless a frame is nearer to the rest pose by more than this, degrees.
const MUCH_NEARER: f64 = 15.0;

/// Which pose of a motion is the reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reference {
    /// The zero pose where it is a body and not much farther from the character's rest pose than the best frame; else that
    /// frame.
    #[default]
    Auto,
    /// The frame whose bones point most as those of the character at rest.
    Best,
    /// All channels 0; of a clip, the rest pose.
    Zero,
    /// A frame.
    Frame(usize),
}

/// The reference that was chosen, and how far the poses are from the character's rest pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReferencePose {
    /// The frame; `None` for the zero pose.
    pub frame: Option<usize>,
    /// Of the zero pose: the root mean square angle of the bones of the limbs, degrees.
    pub zero_rms: f64,
    /// Whether the zero pose is a body: the head well above the feet.
    pub zero_is_body: bool,
    /// The best frame and its angle, degrees.
    pub best: (usize, f64),
}

/// The rotation that takes the up axis of a motion to +Y, the name of the axis, and how much of the height lies along it.
pub(super) fn up_axis(take: &Take, roles: &Roles) -> (DQuat, &'static str, f64) {
    let frames = spread(take.n_frames());
    let feet = SIDES.map(|side| roles.get(Part::Foot, side));
    let top = roles.middle(Part::Head).or(roles.middle(Part::Neck));
    let heights = frames.iter().map(|&frame| {
        let places = take.places(Some(frame));
        match (top, feet) {
            (Some(top), [Some(left), Some(right)]) => {
                places[top] - (places[left] + places[right]) * 0.5
            }
            // Without a head the longest axis of the box.
            _ => {
                let (low, high) = places
                    .iter()
                    .fold((DVec3::MAX, DVec3::MIN), |(l, h), p| (l.min(*p), h.max(*p)));
                let size = high - low;
                DVec3::AXES[size.max_position()] * size.max_element()
            }
        }
    });
    let heights: Vec<DVec3> = heights.collect();
    let mut middle = DVec3::ZERO;
    for axis in 0..3 {
        let mut values: Vec<f64> = heights.iter().map(|h| h[axis]).collect();
        values.sort_by(f64::total_cmp);
        let n = values.len();
        if n > 0 {
            middle[axis] = (values[(n - 1) / 2] + values[n / 2]) * 0.5;
        }
    }
    let axis = middle.abs().max_position();
    let share = middle[axis].abs() / middle.length().max(f64::MIN_POSITIVE);
    let (turn, name) = match (axis, middle[axis] < 0.0) {
        (0, false) => (DQuat::from_rotation_z(FRAC_PI_2), "+X"),
        (0, true) => (DQuat::from_rotation_z(-FRAC_PI_2), "-X"),
        (1, false) => (DQuat::IDENTITY, "+Y"),
        (1, true) => (DQuat::from_rotation_x(PI), "-Y"),
        (_, false) => (DQuat::from_rotation_x(-FRAC_PI_2), "+Z"),
        (_, true) => (DQuat::from_rotation_x(FRAC_PI_2), "-Z"),
    };
    (turn, name, share)
}

/// Up to 200 frames, evenly spaced.
pub(super) fn spread(n_frames: usize) -> Vec<usize> {
    if n_frames <= MAX_FRAMES {
        return (0..n_frames).collect();
    }
    let step = (n_frames - 1) as f64 / (MAX_FRAMES - 1) as f64;
    (0..MAX_FRAMES)
        .map(|i| (i as f64 * step) as usize)
        .collect()
}

/// The direction to the left of a body: across its hips, level.
pub(super) fn left_of(places: &[DVec3], thighs: [usize; 2]) -> Option<DVec3> {
    let across = places[thighs[0]] - places[thighs[1]];
    DVec3::new(across.x, 0.0, across.z).try_normalize()
}

/// The rotation about Y that takes one level direction to another; none without one of them.
pub(super) fn yaw_between(from: Option<DVec3>, to: Option<DVec3>) -> DQuat {
    match (from, to) {
        (Some(from), Some(to)) => {
            let angle = from.cross(to).y.atan2(from.dot(to));
            DQuat::from_rotation_y(angle)
        }
        _ => DQuat::IDENTITY,
    }
}

/// The thighs of one side of the pairs: 0 the source's, 1 the target's.
pub(super) fn thighs(mapping: &Mapping, of: usize) -> Option<[usize; 2]> {
    let role = |side| Role::of(Part::Thigh, side);
    let left = mapping.roles.get(&role(Side::Left))?[of];
    Some([left, mapping.roles.get(&role(Side::Right))?[of]])
}

/// The rotation about Y that takes a pose of the source to the heading of the target at rest.
pub(super) fn yaw_of(places: &[DVec3], target: &Rig, mapping: &Mapping) -> DQuat {
    if mapping.root.is_some() {
        return chain::yaw(places, target, mapping);
    }
    let [ours, theirs] = [0, 1].map(|of| thighs(mapping, of));
    yaw_between(
        ours.and_then(|thighs| left_of(places, thighs)),
        theirs.and_then(|thighs| left_of(&target.places, thighs)),
    )
}

/// Chooses the reference of a motion whose up axis is +Y.
pub(super) fn choose(
    take: &Take,
    target: &Rig,
    mapping: &Mapping,
    wanted: Reference,
) -> Result<ReferencePose, RetargetError> {
    let rms = |places: &[DVec3]| rms(places, &take.rest, target, mapping);
    let zero_rms = rms(take.places(None));
    let frames = spread(take.n_frames());
    let angles = frames.iter().map(|&f| (f, rms(take.places(Some(f)))));
    let best = angles.reduce(|a, b| if b.1 < a.1 { b } else { a });
    let best = best.ok_or(RetargetError::NoFrames)?;
    // Of what else has chains it is not known how it stands.
    let zero_is_body = mapping.root.is_some() || is_body(take.places(None), mapping);
    let frame = match wanted {
        Reference::Zero => None,
        Reference::Frame(frame) if frame >= take.n_frames() => {
            let n_frames = take.n_frames();
            return Err(RetargetError::NoFrame { frame, n_frames });
        }
        Reference::Frame(frame) => Some(frame),
        Reference::Auto if zero_is_body && zero_rms <= best.1 + MUCH_NEARER => None,
        Reference::Best | Reference::Auto => Some(best.0),
    };
    Ok(ReferencePose {
        frame,
        zero_rms,
        zero_is_body,
        best,
    })
}

/// Whether the head is above the feet by more than half of the pose's extent.
fn is_body(places: &[DVec3], mapping: &Mapping) -> bool {
    let top = mapping.middle(Part::Head).or(mapping.middle(Part::Neck));
    let feet = SIDES.map(|side| {
        let role = Role::of(Part::Foot, side);
        mapping.roles.get(&role).copied()
    });
    let (Some(top), [Some(left), Some(right)]) = (top, feet) else {
        return false;
    };
    let (low, high) = places
        .iter()
        .fold((DVec3::MAX, DVec3::MIN), |(l, h), p| (l.min(*p), h.max(*p)));
    let feet = (places[left[0]].y + places[right[0]].y) * 0.5;
    places[top[0]].y - feet > 0.5 * (high - low).max_element()
}

/// The root mean square angle between the bones of limbs and the neck of a pose, turned to the target's heading, and those of the target
/// at rest, degrees.
fn rms(places: &[DVec3], source: &Rig, target: &Rig, mapping: &Mapping) -> f64 {
    let yaw = yaw_of(places, target, mapping);
    let (mut squares, mut n) = (0.0, 0.0);
    if mapping.root.is_some() {
        let angles = chain::angles(places, yaw, source, target, mapping);
        for angle in angles.into_iter().filter(|angle| angle.is_finite()) {
            squares += angle * angle;
            n += 1.0;
        }
    }
    let is_compared = |role: &&Role| role.part.is_limb() || role.part == Part::Neck;
    for role in mapping.roles.keys().filter(is_compared) {
        let Some([[s, t], [s_end, t_end]]) = mapping.bone(*role) else {
            continue;
        };
        let ours = yaw * (places[s_end] - places[s]);
        let theirs = target.places[t_end] - target.places[t];
        let angle = ours.angle_between(theirs).to_degrees();
        if angle.is_finite() {
            squares += angle * angle;
            n += 1.0;
        }
    }
    f64::sqrt(squares / f64::max(n, 1.0))
}
