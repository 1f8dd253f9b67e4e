//! The poses of a character under a motion.

use super::arc::minimal_rotation;
use super::hand::hands;
use super::leg::Leg;
use super::reference::{choose, left_of, thighs, up_axis, yaw_between};
use super::sides::check_sides;
use super::spine::{SpineJoint, blend, spine};
use super::travel::{Heights, heights, hip_middle, middles};
use super::{Mapping, RetargetError, RetargetOptions, RetargetReport, Travel};
use crate::motion::rig::{Rig, rest_rotations};
use crate::motion::roles::{Part, Role, Roles, Side, check_roles};
use crate::motion::take::Take;
use crate::skeleton::{JointId, Pose, Skeleton};
use glam::{DAffine3, DMat3, DQuat, DVec3};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Flat directions shorter than this share of the whole give a foot no heading.
const FLAT: f64 = 0.2;

/// Where a joint's rotation comes from.
#[derive(Clone, Copy, Debug)]
enum Drive {
    /// A joint of the source, and what takes the target's rest to the reference.
    Joint(usize, DQuat),
    /// Two joints of the source's spine.
    Spine(SpineJoint),
}

/// A motion on a character.
#[derive(Clone, Debug)]
pub struct Retarget<'a> {
    skeleton: Cow<'a, Skeleton>,
    /// The motion with +Y up and the character's heading.
    take: Take,
    /// n_joints of the source: the world rotations at the reference, inverse.
    reference: Vec<DQuat>,
    /// n_joints of the target.
    drives: Vec<Option<Drive>>,
    /// n_joints of the target: world rotations at rest.
    rest: Vec<DQuat>,
    rest_places: Vec<DVec3>,
    mapping: Mapping,
    hips: usize,
    /// The linear part of the space of the hips' parent.
    hips_space: DMat3,
    /// From the middle of the hip joints to the hips at rest, world.
    hips_offset: DVec3,
    /// n_frames: the middle of the hip joints.
    middles: Vec<DVec3>,
    /// n_frames: from where it would be with the whole travel to there; empty with the whole travel.
    shifts: Vec<DVec3>,
    /// Turns the result back to the recorded heading, about `start`.
    heading: DQuat,
    start: DVec3,
    /// What turned the motion to +Y up and the character's heading.
    turned: DQuat,
    sizes: Heights,
    /// The middle of the motion's hip joints at its first frame.
    first: DVec3,
    /// Whether the hips travel along the floor.
    travels: bool,
    /// What was chosen.
    pub report: RetargetReport,
}

impl<'a> Retarget<'a> {
    /// A motion on a skeleton, with the roles of both. `target` is the skeleton at rest.
    pub fn new(
        take: &Take,
        source_roles: &Roles,
        skeleton: &'a Skeleton,
        target: &Rig,
        target_roles: &Roles,
        options: &RetargetOptions,
    ) -> Result<Self, RetargetError> {
        check_roles(&take.rest, source_roles).map_err(RetargetError::Source)?;
        check_roles(target, target_roles).map_err(RetargetError::Target)?;
        if take.n_frames() == 0 {
            return Err(RetargetError::NoFrames);
        }
        let mapping = Mapping::new((&take.rest, source_roles), (target, target_roles));
        let (Some([_, hips]), Some(ours), Some(theirs)) = (
            mapping.middle(Part::Hips),
            thighs(&mapping, 0),
            thighs(&mapping, 1),
        ) else {
            return Err(RetargetError::NoLegs("one of the two"));
        };
        let (up, up_name, up_share) = up_axis(take, source_roles);
        let mut take = take.clone();
        take.turn(up);
        let chosen = choose(&take, target, &mapping, options.reference)?;
        check_sides(&mapping, 0, take.places(chosen.frame)).map_err(RetargetError::Source)?;
        check_sides(&mapping, 1, &target.places).map_err(RetargetError::Target)?;
        let yaw = yaw_between(
            left_of(take.places(chosen.frame), ours),
            left_of(&target.places, theirs),
        );
        take.turn(yaw);
        let sizes = heights(&take, target, &mapping, chosen.frame, options.scale)?;
        let mut report = report(&take, target, &mapping);
        report.up = up_name;
        report.up_share = up_share;
        report.reference = match chosen.frame {
            None => "zero pose".into(),
            Some(frame) => format!("frame {frame}"),
        };
        report.zero_pose_rms_deg = chosen.zero_rms;
        (report.best_frame, report.best_frame_rms_deg) = chosen.best;
        report.scale = sizes.scale;
        report.legs = sizes.legs;
        let places = take.places(chosen.frame);
        let drives = drives(places, target, &mapping, &take.rest, &mut report.warnings);
        if let Some(warning) = stretched(&take) {
            report.warnings.push(warning);
        }
        let source_middles: Vec<DVec3> = (0..take.n_frames())
            .map(|f| hip_middle(take.places(Some(f)), &mapping, 0).unwrap_or_default())
            .collect();
        let rest_middle = hip_middle(&target.places, &mapping, 1).unwrap_or_default();
        let with = |travel| middles(&sizes, travel, rest_middle, &source_middles, &take.times);
        let middles = with(options.travel);
        let shifts = match options.travel {
            Travel::Full => Vec::new(),
            Travel::InPlace | Travel::Vertical => {
                let kept = middles.iter().zip(with(Travel::Full));
                kept.map(|(kept, full)| *kept - full).collect()
            }
        };
        let heading = if options.keeps_heading {
            yaw.conjugate()
        } else {
            DQuat::IDENTITY
        };
        Ok(Self {
            rest: rest_rotations(skeleton),
            hips_space: match skeleton.joints()[hips].parent {
                Some(parent) => Pose::rest(skeleton).world_matrices(skeleton)[parent.get()].matrix3,
                None => DMat3::IDENTITY,
            },
            skeleton: Cow::Borrowed(skeleton),
            reference: take
                .rotations(chosen.frame)
                .iter()
                .map(|q| q.conjugate())
                .collect(),
            take,
            drives,
            rest_places: target.places.clone(),
            hips,
            mapping,
            hips_offset: target.places[hips] - rest_middle,
            turned: yaw * up,
            first: source_middles.first().copied().unwrap_or_default(),
            travels: options.travel == Travel::Full,
            sizes,
            middles,
            shifts,
            heading,
            start: rest_middle,
            report,
        })
    }

    /// The number of frames.
    pub fn n_frames(&self) -> usize {
        self.take.n_frames()
    }

    /// The times of the frames, seconds.
    pub fn times(&self) -> &[f64] {
        &self.take.times
    }

    /// The motion with +Y up and the character's heading, in its own units.
    pub fn take(&self) -> &Take {
        &self.take
    }

    /// The same without the borrowed skeleton.
    pub fn into_owned(self) -> Retarget<'static> {
        Retarget {
            skeleton: Cow::Owned(self.skeleton.into_owned()),
            ..self
        }
    }

    /// Gives a frame of the motion other world rotations and places of its joints, in the axes of the motion: for live motion.
    /// Scale and floor stay as they were found; a motion in place stays over its first frame.
    pub fn set_frame(&mut self, frame: usize, rotations: &[DQuat], places: &[DVec3]) {
        let n = self.take.rest.len();
        if frame >= self.take.n_frames() || rotations.len() != n || places.len() != n {
            return;
        }
        let own = frame * n..(frame + 1) * n;
        for (to, q) in self.take.rotations[own.clone()].iter_mut().zip(rotations) {
            *to = self.turned * *q;
        }
        for (to, place) in self.take.places[own.clone()].iter_mut().zip(places) {
            *to = self.turned * *place;
        }
        let middle = hip_middle(&self.take.places[own], &self.mapping, 0).unwrap_or_default();
        let moved = if self.travels {
            middle - self.first
        } else {
            DVec3::ZERO
        };
        self.middles[frame] = self.sizes.place(self.start, moved, middle.y);
    }

    /// Which joints move which.
    pub(super) fn mapping(&self) -> &Mapping {
        &self.mapping
    }

    /// n_joints of the target: the world places at rest.
    pub(super) fn rest_places(&self) -> &[DVec3] {
        &self.rest_places
    }

    /// The place of a point from the middle of the hip joints (metres, with the character's heading) at a frame, world.
    pub(super) fn on_way(&self, frame: usize, from_middle: DVec3) -> DVec3 {
        self.start + self.heading * (self.middles[frame] + from_middle - self.start)
    }

    /// The joint of the hips.
    pub fn hips(&self) -> usize {
        self.hips
    }

    /// Whether a joint's rotation comes from the motion.
    pub fn is_driven(&self, joint: usize) -> bool {
        self.drives[joint].is_some()
    }

    /// The world rotation of a driven joint at a frame.
    fn world_rotation(&self, frame: usize, joint: usize) -> Option<DQuat> {
        let rotations = self.take.rotations(Some(frame));
        let delta = |j: usize| rotations[j] * self.reference[j];
        let turned = match self.drives[joint]? {
            Drive::Joint(j, align) => delta(j) * align,
            Drive::Spine(at) => {
                let [low, high] = at.between.map(delta);
                blend(low, high, at.share)
            }
        };
        Some(self.heading * turned * self.rest[joint])
    }

    /// The pose of the character at a frame: the local rotation of each joint, and the local translation of the hips.
    pub fn pose(&self, frame: usize) -> RetargetPose {
        let skeleton = &*self.skeleton;
        let mut locals: Vec<DQuat> = skeleton.joints().iter().map(|j| j.rest.rotation).collect();
        let mut rotations = vec![DQuat::IDENTITY; skeleton.len()];
        let mut world = vec![DAffine3::IDENTITY; skeleton.len()];
        let mut hips = skeleton.joints()[self.hips].rest.translation;
        for &j in skeleton.order() {
            let j = j as usize;
            let joint = &skeleton.joints()[j];
            let parent = joint.parent.map(JointId::get);
            let above = parent.map_or(DQuat::IDENTITY, |p| rotations[p]);
            let space = parent.map_or(DAffine3::IDENTITY, |p| world[p]);
            if let Some(wanted) = self.world_rotation(frame, j) {
                locals[j] = above.conjugate() * wanted;
            }
            rotations[j] = above * locals[j];
            let mut local = joint.rest;
            local.rotation = locals[j];
            if j == self.hips {
                let turned = rotations[j] * self.rest[j].conjugate() * self.hips_offset;
                let middle = self.on_way(frame, DVec3::ZERO);
                let place = space.inverse().transform_point3(middle + turned);
                if place.is_finite() {
                    hips = place;
                }
                local.translation = hips;
            }
            world[j] = space * local.to_affine();
        }
        RetargetPose {
            rotations: locals,
            hips,
            places: world.iter().map(|w| w.translation).collect(),
            world: rotations,
        }
    }

    /// Where the joints are with the local rotations and the hips of a pose; its world rotations too.
    pub(super) fn place(&self, pose: &mut RetargetPose) {
        let skeleton = &*self.skeleton;
        let mut world = vec![DAffine3::IDENTITY; skeleton.len()];
        for &j in skeleton.order() {
            let j = j as usize;
            let joint = &skeleton.joints()[j];
            let parent = joint.parent.map(JointId::get);
            let mut local = joint.rest;
            local.rotation = pose.rotations[j];
            if j == self.hips {
                local.translation = pose.hips;
            }
            let above = parent.map_or(DQuat::IDENTITY, |p| pose.world[p]);
            pose.world[j] = above * local.rotation;
            world[j] = parent.map_or(DAffine3::IDENTITY, |p| world[p]) * local.to_affine();
            pose.places[j] = world[j].translation;
        }
    }

    /// Moves the hips of a pose, world; only their local translation changes yet.
    pub(super) fn move_hips(&self, pose: &mut RetargetPose, by: DVec3) {
        let moved = self.hips_space.inverse() * by;
        if moved.is_finite() {
            pose.hips += moved;
        }
    }

    /// Gives poses of all frames the whole travel, or takes what is not kept of it away again.
    pub(super) fn with_whole_travel(&self, poses: &mut [RetargetPose], whole: bool) {
        for (pose, shift) in poses.iter_mut().zip(&self.shifts) {
            let shift = self.heading * *shift;
            self.move_hips(pose, if whole { -shift } else { shift });
            self.place(pose);
        }
    }

    /// The direction that the body faces in a pose.
    pub(super) fn front(&self, pose: &RetargetPose) -> DVec3 {
        let rest = target_front(&self.rest_places, &self.mapping);
        pose.world[self.hips] * self.rest[self.hips].conjugate() * rest
    }

    /// A length of the world in the space of the hips' parent.
    pub(super) fn local_length(&self, length: f64) -> f64 {
        let scale = self.hips_space.determinant().abs().cbrt();
        if scale > 0.0 { length / scale } else { length }
    }

    /// The parent of a joint of the target.
    pub(super) fn parent(&self, joint: usize) -> Option<usize> {
        self.skeleton.joints()[joint].parent.map(JointId::get)
    }

    /// The height of a joint of the target at rest, metres.
    pub(super) fn rest_height(&self, joint: usize) -> f64 {
        self.rest_places[joint].y
    }

    /// The height of the target's bones at rest, metres.
    pub(super) fn height(&self) -> f64 {
        let heights = (0..self.drives.len()).filter(|j| self.drives[*j].is_some());
        let heights = heights.map(|j| self.rest_places[j].y);
        let (low, high) = heights.fold((f64::MAX, f64::MIN), |(l, h), y| (l.min(y), h.max(y)));
        (high - low).max(1e-9)
    }

    /// A leg that is mapped.
    pub(super) fn leg(&self, side: Side) -> Option<Leg> {
        Leg::of(&self.mapping, side)
    }

    /// The joints of the target whose rotations the motion changes, ascending.
    pub fn moved_joints(&self) -> Vec<usize> {
        (0..self.drives.len())
            .filter(|j| self.drives[*j].is_some())
            .collect()
    }
}

/// A pose of a character.
#[derive(Clone, Debug, PartialEq)]
pub struct RetargetPose {
    /// n_joints: local rotations.
    pub rotations: Vec<DQuat>,
    /// The local translation of the hips.
    pub hips: DVec3,
    /// n_joints: world places, metres.
    pub places: Vec<DVec3>,
    /// n_joints: world rotations.
    pub world: Vec<DQuat>,
}

/// Where the rotation of each joint of the target comes from. places: of the source at the reference.
fn drives(
    places: &[DVec3],
    target: &Rig,
    mapping: &Mapping,
    source: &Rig,
    warnings: &mut Vec<String>,
) -> Vec<Option<Drive>> {
    let mut drives = vec![None; target.len()];
    let mut aligned: BTreeMap<Role, DQuat> = BTreeMap::new();
    let front = target_front(&target.places, mapping);
    for role in mapping.roles.keys().filter(|role| role.part.is_limb()) {
        if let Some([[s, t], [s_end, t_end]]) = mapping.bone(*role) {
            let from = target.places[t_end] - target.places[t];
            let to = places[s_end] - places[s];
            let (turn, is_opposite) = minimal_rotation(from, to, front);
            if is_opposite {
                let name = &target.names[t];
                warnings.push(format!(
                    "\"{name}\" points the opposite way at rest: its roll was guessed."
                ));
            }
            aligned.insert(*role, turn);
        }
    }
    let forearm = |side| aligned.get(&Role::of(Part::Forearm, side)).copied();
    let hands = hands(places, target, mapping, front, |side| {
        forearm(side).unwrap_or(DQuat::IDENTITY)
    });
    for (role, [s, t]) in &mapping.roles {
        let align = match role.part {
            Part::Hand => hands.hands.get(&role.side).copied().or(forearm(role.side)),
            Part::Foot | Part::Toe => foot_yaw(places, target, mapping, *role),
            _ => aligned.get(role).copied(),
        };
        drives[*t] = Some(Drive::Joint(*s, align.unwrap_or(DQuat::IDENTITY)));
    }
    for joint in spine(source, target, mapping) {
        drives[joint.target] = Some(Drive::Spine(joint));
    }
    for (finger, [s, t]) in &mapping.fingers {
        let align = hands.fingers.get(finger).copied();
        drives[*t] = Some(Drive::Joint(*s, align.unwrap_or(DQuat::IDENTITY)));
    }
    for [s, t] in &mapping.named {
        drives[*t] = Some(Drive::Joint(*s, DQuat::IDENTITY));
    }
    drives
}

/// The direction that the target faces: from its left, level.
fn target_front(places: &[DVec3], mapping: &Mapping) -> DVec3 {
    let left = thighs(mapping, 1).and_then(|thighs| left_of(places, thighs));
    left.map_or(DVec3::Z, |left| left.cross(DVec3::Y))
}

/// The heading of a foot: the rotation about Y from its level direction at rest to the source's at the reference.
fn foot_yaw(places: &[DVec3], target: &Rig, mapping: &Mapping, role: Role) -> Option<DQuat> {
    let [[s, t], [s_end, t_end]] = mapping.bone(Role::of(Part::Foot, role.side))?;
    let flat = |along: DVec3| {
        let level = DVec3::new(along.x, 0.0, along.z);
        (level.length() > FLAT * along.length()).then(|| level.try_normalize())?
    };
    let from = flat(target.places[t_end] - target.places[t])?;
    let to = flat(places[s_end] - places[s])?;
    Some(yaw_between(Some(from), Some(to)))
}

/// A warning about joints that change their distance from their parents: a skeleton keeps its lengths.
fn stretched(take: &Take) -> Option<String> {
    const NOTICED: f64 = 0.01;
    let rest = take.places(None);
    let is_stretched = |&joint: &usize| {
        let Some(parent) = take.rest.parents[joint] else {
            return false;
        };
        let length = rest[joint].distance(rest[parent]);
        (0..take.n_frames()).any(|frame| {
            let places = take.places(Some(frame));
            (places[joint].distance(places[parent]) - length).abs() > NOTICED * length
        })
    };
    let n = (0..take.rest.len()).filter(is_stretched).count();
    match n {
        0 => None,
        1 => Some(
            "A joint of the motion changes its distance from its parent: that stretch is left out."
                .into(),
        ),
        n => Some(format!(
            "{n} joints of the motion change their distances from their parents: that stretch is left out."
        )),
    }
}

/// The names of what is mapped.
fn report(take: &Take, target: &Rig, mapping: &Mapping) -> RetargetReport {
    let names = |[s, t]: [usize; 2]| [take.rest.names[s].clone(), target.names[t].clone()];
    let of = |rig: &Rig, joints: &[usize]| joints.iter().map(|j| rig.names[*j].clone()).collect();
    let fingers = mapping.fingers.iter();
    let fingers = fingers.map(|(finger, pair)| (finger.label(), names(*pair)));
    RetargetReport {
        mapped: mapping.n_mapped(),
        roles: mapping
            .roles
            .iter()
            .map(|(role, pair)| (role.label(), names(*pair)))
            .chain(fingers)
            .collect(),
        spine: [
            of(&take.rest, &mapping.spine[0]),
            of(target, &mapping.spine[1]),
        ],
        same_name: mapping
            .named
            .iter()
            .map(|[s, _]| take.rest.names[*s].clone())
            .collect(),
        ..RetargetReport::default()
    }
}
