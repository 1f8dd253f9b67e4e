//! Relaxed shapes along the rays of a joint, and the few of them that carry the rest.

use super::proposal::{PICTURE_PX, Proposal, SuggestError, SuggestSettings, Suggestion};
use super::rays::{Range, Ray};
use super::skin::{JointSkin, Poser};
use crate::deform::capture;
use crate::document::{Document, Image, InstanceId, MeshItem};
use crate::evaluate::{PictureView, skin_picture};
use crate::finding::counted;
use crate::math::Worse;
use crate::math::sparse::FactorError;
use crate::psd::{DriverMode, Kernel, NamedPose, PoseInterpolation, PoseSet, Work};
use crate::relax::{
    Coarse, Metrics, NeighbourhoodError, Posed, Region, Relaxed, SNAP, relax_sweep,
};
use crate::skeleton::JointId;
use crate::task::Task;
use glam::{DQuat, DVec3, Vec3};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Skinning is good enough where nothing crosses and the strain, the change of volume and that of the dihedral angles
/// (degrees) stay below.
const GOOD: (f64, f64, f64) = (0.45, 0.05, 12.0);

/// Samples are added until the rms miss is below this, in radii, and nothing crosses in between.
const MISS: f64 = 0.02;

/// The most samples of a ray, and the least angle between two of them, degrees.
const MOST: usize = 4;
const APART: f64 = 15.0;

/// Edges longer than this, in radii, are refused, and warned of; a region of fewer free vertices is refused.
const COARSE: (f64, f64) = (0.7, 0.45);
const FEWEST: usize = 30;

/// Samples of two joints that share more of their vertices than this deserve a warning.
const SHARED: f64 = 0.2;

/// One pose of a ray.
struct Step {
    ray: usize,
    angle: f64,
    posed: Posed,
    relaxed: Relaxed,
    /// One for each free point: its displacement in the frame of bind.
    displacements: Vec<DVec3>,
    before: Metrics,
    after: Metrics,
}

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
    let skin = JointSkin::new(document, instance, joint, task);
    let mut skin = skin.map_err(|why| match why {
        NeighbourhoodError::Cancelled(why) => SuggestError::Cancelled(why),
        NeighbourhoodError::NothingBlends => SuggestError::NothingBlends {
            joint: label.clone(),
        },
    })?;
    let selected = document.session().selected_points.get(&skin.mesh);
    if let Some(selected) = selected.filter(|_| settings.protects_selected) {
        let own = &skin.points;
        skin.around
            .protect(|p| own[p].iter().any(|&point| selected.contains(point)));
    }
    let range = Range::of(document, &skin);
    let mut poser = Poser::new(document, settings.outline);
    let mut poses = Vec::new();
    for (ray, of_ray) in range.rays.iter().enumerate() {
        for &angle in &of_ray.angles {
            task.check()?;
            let pose = of_ray.pose(document, joint, angle);
            poses.push((ray, angle, poser.pose(&skin, &pose)));
        }
    }
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
    let steps = relax_all(document, &skin, &region, &range, &poses, settings, task)?;
    let Some(item) = document.meshes().get(&skin.mesh) else {
        return Ok(made);
    };
    for (index, ray) in range.rays.iter().enumerate() {
        let own: Vec<&Step> = steps.iter().filter(|step| step.ray == index).collect();
        if own.iter().all(|step| is_good(&step.before)) {
            continue;
        }
        made.notes.extend(snaps(&own, &skin, ray, range.rays.len()));
        for k in choose(&own, &skin, &region, &range, ray) {
            let step = own[k];
            let title = title(ray, step.angle, range.rays.len());
            if step.after.crossings > step.before.crossings {
                made.notes.push(format!(
                    "{title}: the result has more crossings than before; it is not offered."
                ));
                continue;
            }
            let pose = ray.pose(document, joint, step.angle);
            poser.pose(&skin, &pose);
            let world = pose.world_matrices(document.skeleton())[joint.get()];
            made.proposals.push(proposal(
                (&poser, world.transform_vector3(ray.axis)),
                &skin,
                item,
                step,
                ray,
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
            "The bind pose crosses itself here: {exempt} triangles are exempt."
        ));
    }
    let kept = skin.around.n_blended_throughout();
    if kept > 0 {
        notes.push(format!(
            "{} all of whose vertices blend: kept as skinned.",
            counted(kept, "shell")
        ));
    }
    Ok(())
}

/// Relaxes all poses, in parallel.
fn relax_all(
    document: &Document,
    skin: &JointSkin,
    region: &Region,
    range: &Range,
    poses: &[(usize, f64, Posed)],
    settings: &SuggestSettings,
    task: &Task,
) -> Result<Vec<Step>, SuggestError> {
    let coarse = Coarse::new(&skin.around, region);
    let (n, n_done) = (poses.len(), AtomicUsize::new(0));
    let skeleton = document.skeleton();
    let done = || {
        let done = n_done.fetch_add(1, Ordering::Relaxed) + 1;
        task.step("Relaxing poses", done as f32 / n as f32)
    };
    let of_ray = |ray: usize| -> Result<Vec<Step>, FactorError> {
        let own = poses.iter().filter(|pose| pose.0 == ray);
        let (angles, posed): (Vec<f64>, Vec<Posed>) =
            own.map(|(_, angle, posed)| (*angle, posed.clone())).unzip();
        let relaxed = relax_sweep(
            &skin.around,
            region,
            &posed,
            &settings.relax,
            coarse.as_ref(),
            task,
            &done,
        )?;
        let steps = (relaxed, posed, angles).into_par_iter();
        let step = |(relaxed, posed, angle): (Relaxed, Posed, f64)| {
            let pose = range.rays[ray].pose(document, skin.joint, angle);
            let axes = skin.bone_axes(skeleton, &pose);
            let measure =
                |x: &[DVec3]| Metrics::new(&skin.around, region, &posed.skinned, x, &axes);
            let (before, after) = (measure(&posed.skinned), measure(&relaxed.positions));
            Step {
                ray,
                angle,
                displacements: relaxed.of_free(region, &posed),
                posed,
                relaxed,
                before,
                after,
            }
        };
        Ok(steps.map(step).collect())
    };
    let rays: Result<Vec<Vec<Step>>, FactorError> =
        (0..range.rays.len()).into_par_iter().map(of_ray).collect();
    let rays = rays.map_err(|why| match why {
        FactorError::Cancelled(why) => SuggestError::Cancelled(why),
        FactorError::Failed { .. } => SuggestError::Unsolved {
            joint: skeleton.label(skin.joint),
            why: why.to_string(),
        },
    });
    Ok(rays?.into_iter().flatten().collect())
}

fn is_good(metrics: &Metrics) -> bool {
    let (strain, volume, dihedral) = GOOD;
    metrics.crossings == 0
        && metrics.strain <= strain
        && metrics.volume.abs() <= volume
        && metrics.dihedral <= dihedral.to_radians()
}

/// The steps of a ray whose interpolation carries all of them, ascending: the end, then greedily the largest miss.
fn choose(
    steps: &[&Step],
    skin: &JointSkin,
    region: &Region,
    range: &Range,
    ray: &Ray,
) -> Vec<usize> {
    let Some(last) = steps.len().checked_sub(1) else {
        return Vec::new();
    };
    let mut chosen = BTreeSet::from([last]);
    while chosen.len() < MOST {
        let Some(shapes) = interpolated(steps, &chosen, range.mode, ray) else {
            break;
        };
        let misses: Vec<f64> = steps
            .iter()
            .zip(&shapes)
            .map(|(step, d)| rms_apart(&step.displacements, d))
            .collect();
        let crosses = steps.par_iter().zip(&shapes).any(|(step, d)| {
            let mut x = step.posed.skinned.clone();
            for (&p, d) in region.free.iter().zip(d) {
                x[p as usize] += step.posed.rotations[p as usize] * *d;
            }
            region.n_crossings(&skin.around, &x) > step.after.crossings
        });
        let is_near = misses.iter().all(|miss| *miss < MISS * skin.around.radius);
        if is_near && !crosses {
            break;
        }
        let is_apart = |k: &usize| {
            let known = chosen.iter().map(|&c| steps[c].angle).chain([0.0]);
            known
                .into_iter()
                .all(|angle| (angle - steps[*k].angle).abs() >= APART.to_radians())
        };
        let candidates = (0..steps.len()).filter(is_apart);
        let Some(worst) = candidates.max_by(|&a, &b| misses[a].total_cmp(&misses[b])) else {
            break;
        };
        chosen.insert(worst);
    }
    chosen.into_iter().collect()
}

/// One for each step: the displacements that the chosen ones give it.
fn interpolated(
    steps: &[&Step],
    chosen: &BTreeSet<usize>,
    mode: DriverMode,
    ray: &Ray,
) -> Option<Vec<Vec<DVec3>>> {
    let rotations: Vec<[DQuat; 1]> = chosen
        .iter()
        .map(|&k| [ray.rotation(steps[k].angle)])
        .collect();
    let poses = rotations.iter().map(|rotations| NamedPose {
        name: "",
        rotations,
    });
    let poses: Vec<NamedPose<'_>> = poses.collect();
    let solved = PoseInterpolation::new(&PoseSet {
        name: "",
        drivers: &[(mode, 1.0)],
        kernel: Kernel::default(),
        radius: 1.0,
        smoothing: 0.0,
        clamp: [-0.15, 1.15],
        fade: false,
        poses: &poses,
    });
    let solved = solved.ok()?;
    let (mut work, mut weights) = (Work::default(), vec![0.0; chosen.len()]);
    let of_step = |step: &&Step| {
        solved.weights([ray.rotation(step.angle)], &mut work, &mut weights);
        let mut sums = vec![DVec3::ZERO; step.displacements.len()];
        for (&k, &weight) in chosen.iter().zip(&weights) {
            for (sum, d) in sums.iter_mut().zip(&steps[k].displacements) {
                *sum += *d * weight;
            }
        }
        sums
    };
    Some(steps.iter().map(of_step).collect())
}

fn rms_apart(a: &[DVec3], b: &[DVec3]) -> f64 {
    let sum: f64 = a.iter().zip(b).map(|(a, b)| a.distance_squared(*b)).sum();
    (sum / a.len().max(1) as f64).sqrt()
}

/// Sentences about steps between which the fold snaps.
fn snaps(steps: &[&Step], skin: &JointSkin, ray: &Ray, n_rays: usize) -> Vec<String> {
    let pairs = steps.windows(2).filter(|pair| {
        let apart = pair[0].displacements.iter().zip(&pair[1].displacements);
        apart.map(|(a, b)| a.distance(*b)).fold(0.0, f64::worse) > SNAP * skin.around.radius
    });
    let sentence = |pair: &[&Step]| {
        format!(
            "The fold snaps between {} and {}: one more sample there helps.",
            title(ray, pair[0].angle, n_rays),
            title(ray, pair[1].angle, n_rays)
        )
    };
    pairs.map(sentence).collect()
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

/// The proposal of a step. `axis`: that of the bend, world.
fn proposal(
    (poser, axis): (&Poser<'_>, DVec3),
    skin: &JointSkin,
    item: &MeshItem,
    step: &Step,
    ray: &Ray,
    name: String,
) -> Proposal {
    let sculpted = step.relaxed.displacements.iter().flat_map(|&(p, _)| {
        let place = step.relaxed.positions[p as usize].as_vec3();
        skin.points[p as usize]
            .iter()
            .map(move |&point| (point, place))
    });
    let sculpted: Vec<_> = sculpted.collect();
    let plan = poser.evaluator().plan(skin.instance);
    let captured = plan.map(|plan| capture(plan, &item.stack, &item.masks, &sculpted));
    let captured = captured.unwrap_or_default();
    let mut notes = Vec::new();
    if step.after.crossings > 0 {
        notes.push(format!("{} triangles still cross.", step.after.crossings));
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
        angle: step.angle,
        captured,
        before: step.before,
        after: step.after,
        is_recommended: step.after.crossings == 0,
        notes,
        pictures: plan.and_then(|plan| pictures(plan.base_positions(), &sculpted, axis, item)),
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
    let marks: Vec<(u32, f32)> = marks.collect();
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
