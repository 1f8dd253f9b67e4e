//! A proposal with other settings: the shape of its pose, relaxed again.

use super::choose::{Bend, RayPoses, choose};
use super::proposal::{Proposal, SuggestError, SuggestSettings, Suggestion};
use super::propose::{posed, proposal, skin_of, unsolved};
use super::rays::Ray;
use super::skin::Poser;
use crate::document::Document;
use crate::relax::{Coarse, Region};
use crate::task::Task;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Computes a proposal (by index) of a suggestion again, with settings of its own: the same pose, name and region unless
/// the settings give a reach. With the settings that it has the result is the same to the bit. It is not ticked where
/// triangles cross.
///
/// Fails where it is cancelled, and where the document no longer has that joint, mesh or proposal.
pub fn tune(
    document: &Document,
    suggestion: &Suggestion,
    index: usize,
    settings: &SuggestSettings,
    task: &Task,
) -> Result<Proposal, SuggestError> {
    let joint = suggestion.joint;
    let gone = || SuggestError::NoMesh {
        joint: document.skeleton().label(joint),
    };
    let old = suggestion.proposals.get(index).ok_or_else(gone)?;
    let item = document.meshes().get(&suggestion.mesh).ok_or_else(gone)?;
    let skin = skin_of(document, suggestion.instance, joint, settings, task)?;
    let region = Region::new(&skin.around, settings.reach.unwrap_or(suggestion.reach));
    let ray = Ray::new(old.axis, old.angle);
    let mut poser = Poser::new(document, settings.outline).on_samples(settings.on_samples);
    let poses = posed(
        document,
        &mut poser,
        &skin,
        std::slice::from_ref(&ray),
        task,
    )?;
    let coarse = Coarse::new(&skin.around, &region);
    let n = poses.len() + usize::from(coarse.is_some());
    let n_done = AtomicUsize::new(0);
    let done = |more: usize| {
        let done = n_done.fetch_add(more, Ordering::Relaxed) + more;
        task.step("Relaxing poses", done as f32 / n as f32)
    };
    let bend = Bend {
        document,
        skin: &skin,
        region: &region,
        coarse: coarse.as_ref(),
        mode: suggestion.mode,
        settings: &settings.relax,
        task,
        done: &done,
    };
    let mut of_ray = RayPoses::new(&ray);
    for (_, angle, posed) in poses {
        let before = bend.measured(&ray, angle, &posed, &posed.skinned);
        of_ray.before.push(before);
        of_ray.posed.push(posed);
    }
    let chosen = choose(&bend, &of_ray, 1).map_err(|why| unsolved(document, joint, &why))?;
    let shape = chosen.shapes.last().ok_or_else(gone)?;
    let pose = ray.pose(document, joint, shape.angle);
    poser.pose(&skin, &pose);
    let world = pose.world_matrices(document.skeleton())[joint.get()];
    let mut made = proposal(
        (&poser, world.transform_vector3(ray.axis)),
        &skin,
        item,
        shape,
        (&ray, settings),
        old.name.clone(),
    );
    if shape.after.crossings > shape.before.crossings {
        made.notes
            .push("The result has more crossings than before.".into());
    }
    Ok(made)
}
