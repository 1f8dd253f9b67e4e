//! Points that follow helper joints or have displacements, with their errors over time, for the reduction of keyframes.

use super::helper_tracks::Helper;
use super::playback::Playback;
use crate::bake::problem::rows::blended;
use crate::bake::problem::sampler::{Frame, FrameTime, SampleRequest};
use crate::task::Cancelled;
use glam::{DAffine3, DVec3, Vec3};

/// A point that follows helpers or has displacements, in one instance.
pub(super) struct Follower {
    /// Its mesh of the group, and the instance of the sampler.
    pub(super) part: usize,
    pub(super) d: usize,
    /// The index among the instances of the mesh.
    pub(super) instance: usize,
    /// The joint set of the group.
    pub(super) joint_set: usize,
    pub(super) point: u32,
    /// The index among the active points of the mesh.
    pub(super) place: usize,
}

/// What all clips share.
pub(super) struct Followers {
    pub(super) all: Vec<Follower>,
    /// By joint set of the group and helper: the followers with their weights.
    pub(super) of_helper: Vec<Vec<Vec<(u32, f32)>>>,
    /// By joint set of the group and helper: the effect on its points, in the world, of a rotation of 1 radian, a
    /// translation of 1, and a scale of 1.
    pub(super) effects: Vec<Vec<[f64; 3]>>,
}

/// The followers at one time.
pub(super) struct Moment {
    /// Errors as they stand, and positions at bind with displacements.
    pub(super) errors: Vec<Vec3>,
    pub(super) positions: Vec<Vec3>,
    /// By joint set of the group and helper: the world transform of the parent.
    pub(super) parents: Vec<Vec<DAffine3>>,
    /// By joint set of the group: the matrices of the joints of the source.
    pub(super) joints: Vec<Vec<DAffine3>>,
}

impl Playback<'_, '_> {
    /// The followers at the times of clips.
    pub(super) fn moments(
        &self,
        followers: &Followers,
        of_clips: &[(usize, Vec<f64>)],
    ) -> Result<Vec<Vec<Moment>>, Cancelled> {
        let times = of_clips.iter().flat_map(|(clip, times)| {
            let at = move |&secs: &f64| FrameTime {
                clip: Some(*clip),
                secs,
            };
            times.iter().map(at)
        });
        let times: Vec<FrameTime> = times.collect();
        let drawn = self.group.instances();
        let (clips, task) = (self.problem.clips, self.problem.task);
        let look = |_: usize, frame: Frame| self.moment(followers, &frame);
        let sampler = self.problem.sampler;
        let found = sampler.sample(clips, &times, SampleRequest::own(&drawn), task, look)?;
        let mut found = found.into_iter();
        let of_clip = |(_, times): &(usize, Vec<f64>)| found.by_ref().take(times.len()).collect();
        Ok(of_clips.iter().map(of_clip).collect())
    }

    fn moment(&self, followers: &Followers, frame: &Frame) -> Moment {
        let matrices = self.matrices(frame);
        let weights = self.weights_between(frame.time);
        let is_bound = frame.time.clip.is_some_and(|c| self.problem.corrected[c]);
        let mut moment = Moment {
            errors: Vec::with_capacity(followers.all.len()),
            positions: Vec::with_capacity(followers.all.len()),
            parents: Vec::new(),
            joints: Vec::new(),
        };
        for follower in &followers.all {
            let part = &self.group.meshes[follower.part];
            let drawn = &frame.instances[follower.d];
            let mut position = part.bind(follower.point, drawn);
            if let Some(w) = &weights {
                let w = &w[follower.part][follower.instance];
                position += self.bases[follower.part].displacement(follower.place, w);
            }
            let row = &self.rows[follower.part][follower.place];
            let matrix = blended(row, &matrices[follower.joint_set]);
            let target = drawn.target[follower.point as usize].as_dvec3();
            let error = target - matrix.transform_point3(position);
            // Without a target only the change counts.
            let error = if is_bound { error } else { DVec3::ZERO };
            moment.errors.push(error.as_vec3());
            moment.positions.push(position.as_vec3());
        }
        let helpers = self.helpers.iter();
        let parents = helpers.map(|helpers| {
            let worlds = helpers.iter().map(|h| frame.world[h.parent.get()]);
            worlds.collect()
        });
        moment.parents = parents.collect();
        let joint_sets = self.group.joint_sets.iter();
        let joints = joint_sets.map(|&u| frame.joint_sets[u].with_helpers(&[]));
        moment.joints = joints.collect();
        moment
    }
}

impl Followers {
    /// The followers of all meshes.
    pub(super) fn of(playback: &Playback<'_, '_>) -> Self {
        let group = playback.group;
        let sampler = playback.problem.sampler;
        let mut followers = Self {
            all: Vec::new(),
            of_helper: playback
                .helpers
                .iter()
                .map(|helpers| vec![Vec::new(); helpers.len()])
                .collect(),
            effects: Vec::new(),
        };
        let n_joints = group.n_joints.unwrap_or(usize::MAX);
        for (part, mesh) in group.meshes.iter().enumerate() {
            for (instance, &d) in mesh.instances.iter().enumerate() {
                let of = sampler.instances[d].joint_set;
                let joint_set = group.joint_sets.iter().position(|&u| u == of);
                let joint_set = joint_set.unwrap_or(0);
                for (place, &point) in mesh.active.iter().enumerate() {
                    let row = &playback.rows[part][place];
                    let helpers = row.iter().filter(|r| usize::from(r.0) >= n_joints);
                    let (_, b) = playback.bases[part].of_place(place);
                    let moves = b.iter().any(|b| *b != DVec3::ZERO);
                    if !moves && helpers.clone().next().is_none() {
                        continue;
                    }
                    let index = followers.all.len() as u32;
                    for &(slot, weight) in helpers {
                        let helper = usize::from(slot) - n_joints;
                        followers.of_helper[joint_set][helper].push((index, weight as f32));
                    }
                    followers.all.push(Follower {
                        part,
                        d,
                        instance,
                        joint_set,
                        point,
                        place,
                    });
                }
            }
        }
        let rest = &sampler.rest_world;
        let all = playback.helpers.iter().zip(&followers.of_helper);
        let effects = all.map(|(helpers, of_helper)| {
            let of = |(helper, own): (&Helper, &Vec<(u32, f32)>)| {
                let world = rest[helper.parent.get()].matrix3;
                let scale = world.determinant().abs().cbrt();
                let (mut reach, mut most) = (0.0f64, 0.0f64);
                for &(index, weight) in own {
                    let follower = &followers.all[index as usize];
                    let position =
                        group.meshes[follower.part].geometry.positions[follower.point as usize];
                    let from = helper.inverse_bind.transform_point3(position.as_dvec3());
                    reach = reach.max(f64::from(weight) * from.length());
                    most = most.max(f64::from(weight));
                }
                [scale * reach, scale * most, scale * reach]
            };
            helpers.iter().zip(of_helper).map(of).collect()
        });
        followers.effects = effects.collect();
        followers
    }

    /// Every `step`-th follower.
    pub(super) fn every(&self, step: usize) -> Self {
        let is_kept = |index: &usize| index.is_multiple_of(step);
        let of_helper = self.of_helper.iter().map(|helpers| {
            let few = helpers.iter().map(|own| {
                let kept = own.iter().filter(|f| is_kept(&(f.0 as usize)));
                kept.map(|&(index, w)| (index / step as u32, w)).collect()
            });
            few.collect()
        });
        let all = self
            .all
            .iter()
            .step_by(step)
            .map(|follower| Follower { ..*follower });
        Self {
            of_helper: of_helper.collect(),
            all: all.collect(),
            effects: self.effects.clone(),
        }
    }
}
