//! The proposed samples of a joint: its region, its rays, the shapes chosen along them, with notes and pictures.

use super::choose::{Bend, Chosen, MOST, RayPoses, Shape, choose};
use super::proposal::{PICTURE_PX, Proposal, SuggestError, SuggestSettings, Suggestion};
use super::rays::{Range, Ray};
use super::skin::{JointSkin, Poser};
use crate::deform::capture;
use crate::document::{Document, Image, InstanceId, MeshItem};
use crate::evaluate::{PictureView, skin_picture};
use crate::finding::counted;
use crate::math::sparse::FactorError;
use crate::relax::{Coarse, Metrics, NeighbourhoodError, Posed, Region};
use crate::skeleton::JointId;
use crate::task::{Cancelled, Task};
use glam::{DVec3, Vec3};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Skinning is good enough where nothing crosses and the strain, the change of volume and that of the dihedral angles
/// (degrees) stay below.
const GOOD: (f64, f64, f64) = (0.45, 0.05, 12.0);

/// Edges longer than this, in radii, are refused, and warned of; a region of fewer free vertices is refused.
const COARSE: (f64, f64) = (0.7, 0.45);
const FEWEST: usize = 30;

/// Samples of two joints that share more of their vertices than this deserve a warning.
const SHARED: f64 = 0.2;

/// Suggests samples for a joint: for each mesh that it bends the poses at which the skinning is bad, with relaxed shapes.
///
/// Fails where no mesh bends there, where each is too coarse, and when it is cancelled.
pub fn suggest(
    document: &Document,
    joint: JointId,
    settings: &SuggestSettings,
    task: &Task,
) -> Result<Vec<Suggestion>, SuggestError> {
    let label = document.skeleton().label(joint);
    let instances = JointSkin::instances(document, joint);
    if instances.is_empty() {
        return Err(SuggestError::NoMesh { joint: label });
    }
    let mut found = Vec::new();
    let mut failed = Vec::new();
    for instance in instances {
        match of_instance(document, instance, joint, settings, task) {
            Ok(suggestion) => found.push(suggestion),
            Err(SuggestError::Cancelled(why)) => return Err(why.into()),
            Err(why) => failed.push(why),
        }
    }
    let matters = |why: &&SuggestError| !matches!(why, SuggestError::NothingBlends { .. });
    match found.first_mut() {
        Some(first) => first
            .notes
            .extend(failed.iter().filter(matters).map(ToString::to_string)),
        None => {
            let first = failed.iter().find(matters).or(failed.first()).cloned();
            return Err(first.unwrap_or(SuggestError::NothingBlends { joint: label }));
        }
    }
    Ok(found)
}

fn of_instance(
    document: &Document,
    instance: InstanceId,
    joint: JointId,
    settings: &SuggestSettings,
    task: &Task,
) -> Result<Suggestion, SuggestError> {
    let label = document.skeleton().label(joint);
    let skin = skin_of(document, instance, joint, settings, task)?;
    let range = Range::of(document, &skin);
    let mut poser = Poser::new(document, settings.outline).on_samples(settings.on_samples);
    let poses = posed(document, &mut poser, &skin, &range.rays, task)?;
    let ends: Vec<Vec<DVec3>> = ends(&poses).map(|posed| posed.skinned.clone()).collect();
    let (region, n_held) = match settings.reach {
        Some(reach) => (Region::new(&skin.around, reach), 0),
        None => Region::choose(&skin.around, &ends),
    };
    let mut made = Suggestion {
        joint,
        mesh: skin.mesh,
        instance,
        mode: range.mode,
        radius: skin.around.radius,
        reach: region.reach,
        n_free: region.free.len(),
        proposals: Vec::new(),
        notes: Vec::new(),
    };
    check_region(&skin, &region, n_held, &label, &mut made.notes)?;
    if range.rays.is_empty() {
        made.notes.push(format!(
            "The clips bend \"{label}\" by less than 25°: it needs no samples."
        ));
        return Ok(made);
    }
    let Some(item) = document.meshes().get(&skin.mesh) else {
        return Ok(made);
    };
    let chosen = relax_all(document, &skin, &region, &range, poses, settings, task)?;
    for (ray, chosen) in chosen {
        let title = |angle: f64| title(ray, angle, range.rays.len());
        made.notes.extend(chosen.snaps.iter().map(|[from, to]| {
            format!(
                "The fold snaps between {} and {}: one more sample there helps.",
                title(*from),
                title(*to)
            )
        }));
        for shape in &chosen.shapes {
            let title = title(shape.angle);
            if shape.after.crossings > shape.before.crossings {
                made.notes.push(format!(
                    "{title}: the result has more crossings than before; it is not offered."
                ));
                continue;
            }
            let pose = ray.pose(document, joint, shape.angle);
            poser.pose(&skin, &pose);
            let world = pose.world_matrices(document.skeleton())[joint.get()];
            made.proposals.push(proposal(
                (&poser, world.transform_vector3(ray.axis)),
                &skin,
                item,
                shape,
                (ray, settings),
                format!("{label} {title}"),
            ));
        }
    }
    if made.proposals.is_empty() && made.notes.is_empty() {
        made.notes.push("Skinning is good enough here.".into());
    }
    warn_of_shared(item, &mut made);
    Ok(made)
}

/// The surface around a joint, without the points that the settings protect.
pub(super) fn skin_of(
    document: &Document,
    instance: InstanceId,
    joint: JointId,
    settings: &SuggestSettings,
    task: &Task,
) -> Result<JointSkin, SuggestError> {
    let skin = JointSkin::new(document, instance, joint, task);
    let mut skin = skin.map_err(|why| match why {
        NeighbourhoodError::Cancelled(why) => SuggestError::Cancelled(why),
        NeighbourhoodError::NothingBlends => SuggestError::NothingBlends {
            joint: document.skeleton().label(joint),
        },
    })?;
    let selected = document.session().selected_points.get(&skin.mesh);
    if let Some(selected) = selected.filter(|_| settings.protects_selected) {
        let own = &skin.points;
        skin.around
            .protect(|p| own[p].iter().any(|&point| selected.contains(point)));
    }
    Ok(skin)
}

/// The skinned surface in each pose of the rays: (index of the ray, angle in radians, surface).
pub(super) fn posed(
    document: &Document,
    poser: &mut Poser<'_>,
    skin: &JointSkin,
    rays: &[Ray],
    task: &Task,
) -> Result<Vec<(usize, f64, Posed)>, Cancelled> {
    let mut poses = Vec::new();
    for (ray, of_ray) in rays.iter().enumerate() {
        for &angle in &of_ray.angles {
            task.check()?;
            let pose = of_ray.pose(document, skin.joint, angle);
            poses.push((ray, angle, poser.pose(skin, &pose)));
        }
    }
    Ok(poses)
}

/// The last pose of each ray.
fn ends(poses: &[(usize, f64, Posed)]) -> impl Iterator<Item = &Posed> {
    let next = poses.iter().skip(1).map(|p| Some(p.0)).chain([None]);
    let last = poses
        .iter()
        .zip(next)
        .filter(|(pose, next)| Some(pose.0) != *next);
    last.map(|(pose, _)| &pose.2)
}

/// Refuses a region that is too coarse; notes what to know about others.
fn check_region(
    skin: &JointSkin,
    region: &Region,
    n_held: usize,
    label: &str,
    notes: &mut Vec<String>,
) -> Result<(), SuggestError> {
    let edge = region.edge / skin.around.radius;
    let percent = (edge * 100.0).round() as usize;
    if edge > COARSE.0 || region.free.len() < FEWEST {
        return Err(SuggestError::TooCoarse {
            joint: label.to_owned(),
            percent,
            n_free: region.free.len(),
        });
    }
    if edge > COARSE.1 {
        notes.push(format!(
            "The mesh is coarse: edges are {percent} % of the limb's radius."
        ));
    }
    if n_held > 0 {
        notes.push(format!(
            "Rigid parts overlap beyond the region ({n_held} triangles): reduce the range or widen the weights."
        ));
    }
    let exempt = skin.around.n_exempt();
    if exempt > 0 {
        notes.push(format!(
            "The mesh crosses itself in the bind pose here: {exempt} triangles are exempt."
        ));
    }
    let kept = skin.around.n_blended_throughout();
    if kept > 0 {
        notes.push(format!(
            "Not relaxed: {} all of whose vertices blend between bones.",
            counted(kept, "shell")
        ));
    }
    Ok(())
}

/// The rays along which the skinning is bad, each with its samples. Rays and poses are relaxed in parallel.
fn relax_all<'a>(
    document: &Document,
    skin: &JointSkin,
    region: &Region,
    range: &'a Range,
    poses: Vec<(usize, f64, Posed)>,
    settings: &SuggestSettings,
    task: &Task,
) -> Result<Vec<(&'a Ray, Chosen)>, SuggestError> {
    let coarse = Coarse::new(&skin.around, region);
    let mut bend = Bend {
        document,
        skin,
        region,
        coarse: coarse.as_ref(),
        mode: range.mode,
        settings: &settings.relax,
        task,
        done: &|_| task.check(),
    };
    let measured = poses.into_par_iter().map(|(ray, angle, posed)| {
        task.check()?;
        let before = bend.measured(&range.rays[ray], angle, &posed, &posed.skinned);
        Ok((ray, posed, before))
    });
    let measured: Result<Vec<_>, Cancelled> = measured.collect();
    let mut rays: Vec<RayPoses<'_>> = range.rays.iter().map(RayPoses::new).collect();
    for (ray, posed, before) in measured? {
        rays[ray].posed.push(posed);
        rays[ray].before.push(before);
    }
    rays.retain(|ray| !ray.before.iter().all(is_good));
    let n_dense = if bend.coarse.is_some() { MOST } else { 0 };
    let n: usize = rays.iter().map(|ray| ray.posed.len() + n_dense).sum();
    let n_done = AtomicUsize::new(0);
    let done = |more: usize| {
        let done = n_done.fetch_add(more, Ordering::Relaxed) + more;
        task.step("Relaxing poses", done as f32 / n as f32)
    };
    bend.done = &done;
    let of_ray = |ray: &RayPoses<'a>| Ok((ray.ray, choose(&bend, ray, MOST)?));
    let found: Result<Vec<_>, FactorError> = rays.par_iter().map(of_ray).collect();
    found.map_err(|why| unsolved(document, skin.joint, &why))
}

/// The error of a joint whose equations were not solved.
pub(super) fn unsolved(document: &Document, joint: JointId, why: &FactorError) -> SuggestError {
    match why {
        FactorError::Cancelled(why) => SuggestError::Cancelled(*why),
        FactorError::Failed { .. } => SuggestError::Unsolved {
            joint: document.skeleton().label(joint),
            why: why.to_string(),
        },
    }
}

fn is_good(metrics: &Metrics) -> bool {
    let (strain, volume, dihedral) = GOOD;
    metrics.crossings == 0
        && metrics.strain <= strain
        && metrics.volume.abs() <= volume
        && metrics.dihedral <= dihedral.to_radians()
}

/// A pose of a ray for people: its angle, and where there are several rays the axis.
fn title(ray: &Ray, angle: f64, n_rays: usize) -> String {
    let angle = angle.to_degrees().round();
    if n_rays < 2 {
        return format!("{angle}°");
    }
    let axis = ray.axis;
    let main = axis.abs().max_position();
    let sign = if axis[main] < 0.0 { "-" } else { "+" };
    format!("{angle}° about {sign}{}", ["X", "Y", "Z"][main])
}

/// The proposal of a shape. `axis`: that of the bend, world.
pub(super) fn proposal(
    (poser, axis): (&Poser<'_>, DVec3),
    skin: &JointSkin,
    item: &MeshItem,
    shape: &Shape,
    (ray, settings): (&Ray, &SuggestSettings),
    name: String,
) -> Proposal {
    let sculpted = shape.relaxed.displacements.iter().flat_map(|&(p, _)| {
        let place = shape.relaxed.positions[p as usize].as_vec3();
        skin.points[p as usize]
            .iter()
            .map(move |&point| (point, place))
    });
    let plan = poser.evaluator().plan(skin.instance);
    let base = plan.map_or_else(Default::default, |plan| plan.base_positions());
    // What the present samples move stays with the sample that replaces them.
    let posed = poser.shape(skin.instance);
    let kept = (0..).zip(base.iter().zip(&*posed));
    let kept = kept.filter_map(|(point, (base, place))| (place != base).then_some((point, *place)));
    let sculpted: BTreeMap<u32, Vec3> = kept.chain(sculpted).collect();
    let sculpted: Vec<_> = sculpted.into_iter().collect();
    let captured = plan.map(|plan| capture(plan, &item.stack, &item.masks, &sculpted));
    let captured = captured.unwrap_or_default();
    let mut notes = Vec::new();
    if shape.after.crossings > 0 {
        notes.push(format!("{} triangles still cross.", shape.after.crossings));
    }
    if captured.n_singular > 0 {
        let vertices = counted(captured.n_singular, "vertex");
        notes.push(format!(
            "Linear skinning collapses {vertices} in this pose; they follow their heaviest bone."
        ));
    }
    Proposal {
        name,
        axis: ray.axis,
        angle: shape.angle,
        captured,
        before: shape.before,
        after: shape.after,
        is_recommended: shape.after.crossings == 0,
        notes,
        pictures: pictures(&posed, &sculpted, axis, item),
        settings: *settings,
    }
}

/// The skin before and with the sculpted places, with what moves marked.
fn pictures(
    skinned: &[Vec3],
    sculpted: &[(u32, Vec3)],
    axis: DVec3,
    item: &MeshItem,
) -> Option<[Arc<Image>; 2]> {
    let mut after = skinned.to_vec();
    for &(point, place) in sculpted {
        after[point as usize] = place;
    }
    let distance = |&(point, place): &(u32, Vec3)| place.distance(skinned[point as usize]);
    let longest = sculpted.iter().map(distance).fold(0.0, f32::max);
    let marks = sculpted
        .iter()
        .map(|moved| (moved.0, distance(moved) / longest));
    let marks: Vec<(u32, f32)> = marks.filter(|(_, share)| share.is_finite()).collect();
    let places = sculpted.iter().map(|moved| moved.1);
    let view = PictureView::of_bend(places, axis.as_vec3(), skinned)?;
    let picture =
        |positions: &[Vec3]| skin_picture(&item.geometry, positions, &marks, &view, PICTURE_PX);
    Some([Arc::new(picture(skinned)), Arc::new(picture(&after))])
}

/// Notes samples of other joints that move the same points.
fn warn_of_shared(item: &MeshItem, made: &mut Suggestion) {
    let own = made
        .proposals
        .iter()
        .flat_map(|proposal| proposal.captured.displacements.iter());
    let own: BTreeSet<u32> = own.map(|(point, _)| point).collect();
    for set in item.correctives.sets() {
        if own.is_empty() || set.drivers.iter().any(|driver| driver.joint == made.joint) {
            continue;
        }
        let theirs = set
            .samples
            .iter()
            .flat_map(|sample| sample.displacements.iter());
        let theirs: BTreeSet<u32> = theirs.map(|(point, _)| point).collect();
        let share = own.intersection(&theirs).count() as f64 / own.len() as f64;
        if share > SHARED {
            made.notes.push(format!(
                "{:.0} % of the vertices also belong to the samples of \"{}\": both add up there.",
                share * 100.0,
                set.name
            ));
        }
    }
}
