//! The poses of a character under a motion.

use super::chain::{carried, order};
use super::drive::Drive;
use super::drives::{drives, target_front};
use super::leg::Leg;
use super::moved::{How, Moved, root_above};
use super::reference::{choose, up_axis, yaw_of};
use super::sides::check_sides;
use super::spine::blend;
use super::stretch::{stretched, stretches};
use super::travel::{Heights, heights, hip_middle, middles};
use super::{Mapping, RetargetError, RetargetOptions, RetargetReport, RootMotion, Travel};
use crate::motion::rig::{Rig, rest_rotations};
use crate::motion::roles::{Roles, Side, check_roles};
use crate::motion::take::Take;
use crate::skeleton::{JointId, Pose, Skeleton};
use glam::{DAffine3, DMat3, DQuat, DVec3};
use std::borrow::Cow;

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
    /// The joints of the target, each after what it hangs on.
    order: Vec<u32>,
    /// Joints that move in their parents.
    moved: Vec<Moved>,
    /// n_joints of the target: their places in `moved`.
    slots: Vec<Option<usize>>,
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
        let roles = [source_roles, target_roles];
        Self::made(take, roles, skeleton, target, options, false)
    }

    /// As [`Retarget::new`], of a motion whose frames change ([`Retarget::set_frame`]): where stretch is kept, every bone may
    /// stretch.
    pub fn live(
        take: &Take,
        source_roles: &Roles,
        skeleton: &'a Skeleton,
        target: &Rig,
        target_roles: &Roles,
        options: &RetargetOptions,
    ) -> Result<Self, RetargetError> {
        let roles = [source_roles, target_roles];
        Self::made(take, roles, skeleton, target, options, true)
    }

    fn made(
        take: &Take,
        [source_roles, target_roles]: [&Roles; 2],
        skeleton: &'a Skeleton,
        target: &Rig,
        options: &RetargetOptions,
        is_live: bool,
    ) -> Result<Self, RetargetError> {
        if take.n_frames() == 0 {
            return Err(RetargetError::NoFrames);
        }
        let (mapping, no_body) = mapping((&take.rest, source_roles), (target, target_roles))?;
        let rest_middle = hip_middle(&target.places, &mapping, 1);
        let (Some([_, hips]), Some(rest_middle)) = (mapping.carrier(), rest_middle) else {
            return Err(RetargetError::NoLegs("one of the two"));
        };
        let is_body = no_body.is_none();
        let (up, up_name, up_share) = if is_body {
            up_axis(take, source_roles)
        } else {
            // Without a body nothing tells what is up.
            (DQuat::IDENTITY, "+Y", 1.0)
        };
        let mut take = take.clone();
        take.turn(up);
        let chosen = choose(&take, target, &mapping, options.reference)?;
        if is_body {
            check_sides(&mapping, 0, take.places(chosen.frame)).map_err(RetargetError::Source)?;
            check_sides(&mapping, 1, &target.places).map_err(RetargetError::Target)?;
        }
        let yaw = yaw_of(take.places(chosen.frame), target, &mapping);
        take.turn(yaw);
        let sizes = heights(&take, target, &mapping, chosen.frame, options.scale)?;
        let mut report = report(&take, target, &mapping);
        if let Some(why) = no_body {
            report.warnings.push(format!(
                "Only chains and bones of the same names move: {why}."
            ));
        }
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
        let twists = &target_roles.twists;
        let drives = drives(
            places,
            target,
            &mapping,
            &take.rest,
            twists,
            &mut report.warnings,
        );
        let of_chains = carried(target, &mapping);
        let order = if of_chains.is_empty() {
            skeleton.order().to_vec()
        } else {
            order(target, &of_chains).ok_or(RetargetError::Circle)?
        };
        let carries = |c: &super::chain::Carried| Moved {
            joint: c.joint,
            how: How::Carried(c.by),
        };
        let mut moved: Vec<Moved> = of_chains.iter().map(carries).collect();
        if options.keeps_stretch {
            let is_carried = |joint| of_chains.iter().any(|c| c.joint == joint);
            moved.extend(stretches(&take, &mapping, is_live, is_carried));
        } else if let Some(warning) = stretched(&take) {
            report.warnings.push(warning);
        }
        if options.root == RootMotion::Root {
            match root_above(target, hips) {
                Some(joint) => {
                    // It moves in one way only.
                    moved.retain(|moved| moved.joint != joint);
                    moved.push(Moved {
                        joint,
                        how: How::Root,
                    });
                }
                None => report.warnings.push(format!(
                    "\"{}\" is the root joint of the skeleton already: the root motion stays on it.",
                    target.names[hips]
                )),
            }
        }
        report.stretched = moved
            .iter()
            .filter(|m| matches!(m.how, How::Stretch { .. }))
            .map(|m| target.names[m.joint].clone())
            .collect();
        report.root = match moved.last() {
            Some(Moved {
                joint,
                how: How::Root,
            }) => target.names[*joint].clone(),
            _ => target.names[hips].clone(),
        };
        let mut slots = vec![None; target.len()];
        for (slot, moved) in moved.iter().enumerate() {
            slots[moved.joint] = Some(slot);
        }
        let source_middles: Vec<DVec3> = (0..take.n_frames())
            .map(|f| hip_middle(take.places(Some(f)), &mapping, 0).unwrap_or_default())
            .collect();
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
            order,
            moved,
            slots,
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
            Drive::Between(at, align) => {
                let [low, high] = at.between.map(delta);
                blend(low, high, at.share) * align
            }
            Drive::Twist(at) => {
                let turned = |joint: usize| {
                    let world = self.world_rotation(frame, joint)?;
                    Some(world * self.rest[joint].conjugate())
                };
                let (forearm, hand) = (turned(at.forearm)?, turned(at.hand)?);
                let turn = at.turn(forearm.conjugate() * hand);
                return Some(forearm * turn * self.rest[joint]);
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
        let rest_of = |moved: &Moved| skeleton.joints()[moved.joint].rest.translation;
        let mut translations: Vec<DVec3> = self.moved.iter().map(rest_of).collect();
        for &j in &self.order {
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
            let place = if j == self.hips {
                let turned = rotations[j] * self.rest[j].conjugate() * self.hips_offset;
                Some(
                    space
                        .inverse()
                        .transform_point3(self.on_way(frame, DVec3::ZERO) + turned),
                )
            } else {
                match self.slots[j].map(|slot| self.moved[slot].how) {
                    None | Some(How::Root) => None,
                    Some(How::Carried(by)) => {
                        let turned = rotations[by] * self.rest[by].conjugate();
                        let offset = turned * (self.rest_places[j] - self.rest_places[by]);
                        Some(
                            space
                                .inverse()
                                .transform_point3(world[by].translation + offset),
                        )
                    }
                    Some(How::Stretch {
                        joint: of,
                        parent,
                        length,
                    }) => {
                        let places = self.take.places(Some(frame));
                        let factor = places[of].distance(places[parent]) / length;
                        Some(joint.rest.translation * factor)
                    }
                }
            };
            if let Some(place) = place.filter(|place| place.is_finite()) {
                local.translation = place;
            }
            match self.slots[j] {
                _ if j == self.hips => hips = local.translation,
                Some(slot) => translations[slot] = local.translation,
                None => {}
            }
            world[j] = space * local.to_affine();
        }
        RetargetPose {
            rotations: locals,
            hips,
            translations,
            places: world.iter().map(|w| w.translation).collect(),
            world: rotations,
        }
    }

    /// Where the joints are with the local rotations and translations of a pose; its world rotations too.
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
            } else if let Some(slot) = self.slots[j] {
                local.translation = pose.translations[slot];
            }
            let above = parent.map_or(DQuat::IDENTITY, |p| pose.world[p]);
            pose.world[j] = above * local.rotation;
            world[j] = parent.map_or(DAffine3::IDENTITY, |p| world[p]) * local.to_affine();
            pose.places[j] = world[j].translation;
        }
    }

    /// The skeleton of the target.
    pub(super) fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// n_joints of the target: world rotations at rest.
    pub(super) fn rest_rotations(&self) -> &[DQuat] {
        &self.rest
    }

    /// The joints besides the hips that move in their parents, as [`RetargetPose::translations`] has them.
    pub fn translated_joints(&self) -> impl Iterator<Item = usize> + '_ {
        self.moved.iter().map(|moved| moved.joint)
    }

    /// The same, with how they move.
    pub(super) fn moved(&self) -> &[Moved] {
        &self.moved
    }

    /// The joint that takes the travel of the hips over.
    pub(super) fn root(&self) -> Option<usize> {
        let mut moved = self.moved.iter();
        let root = moved.find(|moved| matches!(moved.how, How::Root));
        root.map(|moved| moved.joint)
    }

    /// Whether a foot can be locked.
    pub(super) fn has_legs(&self) -> bool {
        crate::motion::roles::SIDES
            .into_iter()
            .any(|side| self.leg(side).is_some())
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

    /// The direction that the target faces at rest.
    pub(super) fn front_at_rest(&self) -> DVec3 {
        target_front(&self.rest_places, &self.mapping)
    }

    /// The direction that the body faces in a pose.
    pub(super) fn front(&self, pose: &RetargetPose) -> DVec3 {
        pose.world[self.hips] * self.rest[self.hips].conjugate() * self.front_at_rest()
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
        let root = self.root();
        (0..self.drives.len())
            .filter(|j| self.drives[*j].is_some() || root == Some(*j))
            .collect()
    }
}

/// The pairs of two skeletons, and why they are no bodies where chains alone are mapped.
fn mapping(
    source: (&Rig, &Roles),
    target: (&Rig, &Roles),
) -> Result<(Mapping, Option<RetargetError>), RetargetError> {
    let is_body = check_roles(source.0, source.1).map_err(RetargetError::Source);
    let is_body =
        is_body.and_then(|()| check_roles(target.0, target.1).map_err(RetargetError::Target));
    match is_body {
        Ok(()) => Ok((Mapping::new(source, target), None)),
        Err(why) if source.1.chains.is_empty() => Err(why),
        Err(why) => {
            let (ours, theirs) = (source.1.only_chains(), target.1.only_chains());
            let mapping = Mapping::new((source.0, &ours), (target.0, &theirs));
            Ok((mapping, Some(why)))
        }
    }
}

/// A pose of a character.
#[derive(Clone, Debug, PartialEq)]
pub struct RetargetPose {
    /// n_joints: local rotations.
    pub rotations: Vec<DQuat>,
    /// The local translation of the hips.
    pub hips: DVec3,
    /// The local translations of [`Retarget::translated_joints`].
    pub translations: Vec<DVec3>,
    /// n_joints: world places, metres.
    pub places: Vec<DVec3>,
    /// n_joints: world rotations.
    pub world: Vec<DQuat>,
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
        chains: mapping
            .chains
            .iter()
            .map(|[ours, theirs]| [of(&take.rest, ours), of(target, theirs)])
            .collect(),
        same_name: mapping
            .named
            .iter()
            .map(|[s, _]| take.rest.names[*s].clone())
            .collect(),
        ..RetargetReport::default()
    }
}
