//! Solutions as glTF data: helper joints and tracks, weight rows, morph targets, drivers.

mod drivers;
mod normal_budget;
mod normal_fit;
mod normal_moments;
mod normals;
mod rows;
pub(crate) mod samples;
mod targets;
mod tracks;

pub(crate) use normal_budget::bytes_of_normals;

use super::problem::Problem;
use super::problem::group::Group;
use super::solve::Solution;
use super::{Baked, BakedMesh, HelperJoint, Jump};
use crate::math::Worse;
use crate::skeleton::Channel;
use crate::task::Cancelled;
use rows::{stored_row, with_rows};
use std::collections::BTreeMap;
use std::sync::Arc;
use targets::MorphTargets;
use tracks::{channels_of, joint_of};

/// Adds the solution of a group.
pub(crate) fn add(
    baked: &mut Baked,
    problem: &Problem<'_>,
    group: &Group,
    solved: &Solution,
) -> Result<(), Cancelled> {
    baked.expected = baked.expected.worse(solved.max_error / problem.diagonal);
    baked.jumps.extend(solved.flips.iter().map(|flip| Jump {
        clip: problem.clips.ids[flip.clip],
        time: flip.time,
        joints: flip.joints,
        cause: flip.cause,
    }));
    let skeleton = problem.sampler.document.skeleton();
    let mut tracks: Vec<Vec<Channel>> = vec![Vec::new(); problem.clips.ids.len()];
    for (&joint_set, helpers) in group.joint_sets.iter().zip(&solved.helpers) {
        if helpers.is_empty() {
            continue;
        }
        let joints: Vec<usize> = (0..helpers.len()).map(|h| baked.joints.len() + h).collect();
        for (h, (helper, &joint)) in helpers.iter().zip(&joints).enumerate() {
            let id = skeleton.free_id(joint);
            baked.joints.push(HelperJoint {
                driver: drivers::driver(problem, joint_set, &solved.codebook[h]),
                ..joint_of(helper, id, joint)
            });
            for (clip, tracks) in tracks.iter_mut().enumerate() {
                tracks.extend(channels_of(helper, id, clip));
            }
        }
        for &skin in &problem.sampler.joint_sets[joint_set].skins {
            baked.skins.insert(skin, joints.clone());
        }
        if let Some(frames) = drivers::frames(problem, joint_set, &solved.codebook) {
            let skins = problem.sampler.joint_sets[joint_set].skins.iter();
            baked
                .frames
                .extend(skins.map(|&skin| (skin, frames.clone())));
        }
    }
    for (i, (part, mesh)) in group.meshes.iter().zip(&solved.meshes).enumerate() {
        let Some(item) = problem.sampler.item(part.mesh) else {
            continue;
        };
        let mut rows: BTreeMap<u32, Vec<(u16, f32)>> = BTreeMap::new();
        for (&point, row) in part.active.iter().zip(&mesh.rows) {
            if *row != part.weights[point as usize] {
                rows.insert(point, stored_row(row));
            }
        }
        let reweighted = !rows.is_empty();
        let influences = with_rows(&item.influences, &rows);
        let normal_deltas = normals::normal_deltas(problem, group, solved, i)?;
        let more = normal_deltas.more.as_ref();
        let with_more = more.map(|more| {
            let m = normal_deltas.columns.len() - mesh.basis.k();
            mesh.with_weights(more, m)
        });
        let mesh = with_more.as_ref().unwrap_or(mesh);
        let morphs = MorphTargets::of(part, mesh, &normal_deltas, solved.unit_scale, problem);
        if reweighted || !morphs.targets.is_empty() {
            for (instance, &d) in part.instances.iter().enumerate() {
                let keys = (&solved.keys[..], &solved.stepped[..]);
                morphs.add_channels(problem, d, instance, keys, &mut tracks);
            }
            morphs.widen_others(problem, part, &mut tracks);
            let baked_mesh = BakedMesh {
                influences,
                reweighted,
                targets: morphs.targets,
            };
            baked.meshes.insert(part.mesh, baked_mesh);
        }
    }
    add_tracks(baked, problem, tracks);
    Ok(())
}

/// Adds channels to the clips of the file, by clip; they replace channels of the same property.
fn add_tracks(baked: &mut Baked, problem: &Problem<'_>, tracks: Vec<Vec<Channel>>) {
    for (id, tracks) in problem.clips.ids.iter().zip(tracks) {
        if let Some(clip) = baked.clips.get_mut(id).filter(|_| !tracks.is_empty()) {
            let clip = Arc::make_mut(clip);
            for channel in tracks {
                let same = |c: &Channel| c.joint == channel.joint && c.property == channel.property;
                match clip.channels.iter().rposition(same) {
                    Some(at) => clip.channels[at] = channel,
                    None => clip.channels.push(channel),
                }
            }
        }
    }
}
