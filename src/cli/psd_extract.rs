//! `sinew psd --extract`: a sculpted mesh of the same topology -> a corrective sample.

use super::args::PsdArgs;
use super::load::Loaded;
use super::{Failure, load, psd_report, scene};
use crate::deform::correctives::{Correctives, Driver, Sample, SampleSet};
use crate::deform::{Captured, DeformStack, capture};
use crate::document::{CorrectivesEdit, Document, Edit, Instance, InstanceId, MeshId};
use crate::evaluate::Evaluator;
use crate::finding::counted;
use crate::io::project;
use crate::psd::DriverMode;
use crate::skeleton::{JointId, Pose};
use crate::task::Task;
use glam::{DQuat, Vec3};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// A joint whose rotation is closer to bind drives nothing: 2 degrees, in chordal distance.
const UNPOSED: f64 = 0.035;

/// A point that is closer to the posed shape was not sculpted, as a fraction of the diagonal.
const UNMOVED: f32 = 1e-6;

pub(super) fn run(args: &PsdArgs, target: &Path, out: &mut dyn Write) -> Result<ExitCode, Failure> {
    let path = args
        .out
        .as_deref()
        .filter(|path| crate::io::is_project(path));
    let Some(path) = path else {
        return Err(Failure::Usage(
            "--extract writes a project: give --out a name that ends in .ron.".into(),
        ));
    };
    if args.pose.clip.is_none() && args.pose.pose.is_none() {
        return Err(Failure::Usage(
            "--extract needs the pose that was sculpted: --pose or --clip.".into(),
        ));
    }
    let mut loaded = load::load(&args.file)?;
    let mut sculpted = load::load(target)?;
    loaded.outputs.protect(target, "the sculpted mesh");
    let what = "the model of the sculpted mesh";
    loaded.outputs.protect_model(&sculpted.document, what);
    if let Some(pose) = &args.pose.pose {
        loaded.outputs.protect(pose, "the pose file");
    }
    let output = loaded.outputs.claim_project(path).map_err(Failure::input)?;
    let pose = scene::pose(&loaded, &args.pose)?;
    // As any viewer shows it.
    scene::set_stacks(&mut sculpted.document, |_| Ok(DeformStack::lbs()))?;
    let found = sculpts(&loaded, &pose, &sculpted.document, target)?;
    let mut document = loaded.document;
    let mut lines = Vec::new();
    for (mesh, sculpt) in found {
        lines.push(add_sample(&mut document, mesh, &sculpt, &pose, args)?);
    }
    project::save(&document, output.path(), &Task::new()).map_err(Failure::input)?;
    if args.json {
        psd_report::print(&document, &pose, true, out)?;
    } else {
        for line in lines {
            writeln!(out, "{line}")?;
        }
        writeln!(out, "Wrote {}", path.display())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What was sculpted of each mesh: its points and what moves them there.
fn sculpts(
    loaded: &Loaded,
    pose: &Pose,
    sculpted: &Document,
    target: &Path,
) -> Result<BTreeMap<MeshId, Captured>, Failure> {
    let document = &loaded.document;
    let (mut posed, mut other) = (Evaluator::default(), Evaluator::default());
    posed.evaluate(document, pose);
    other.evaluate(sculpted, sculpted.rest_pose());
    let mut found = BTreeMap::new();
    let mut any_like = false;
    for (&id, instance) in document.instances() {
        if instance.skin.is_none() || found.contains_key(&instance.mesh) {
            continue;
        }
        let (Some(plan), Some(item)) = (posed.plan(id), document.meshes().get(&instance.mesh))
        else {
            continue;
        };
        let Some(like) = like(document, instance, sculpted) else {
            continue;
        };
        any_like = true;
        let Some(other) = other.plan(like) else {
            continue;
        };
        let base = plan.base_positions();
        let tolerance = UNMOVED * diagonal(base);
        let their_mesh = sculpted.instances()[&like].mesh;
        let their_points = &sculpted.meshes()[&their_mesh].geometry.point_of_vertex;
        let first_vertex = item.geometry.first_vertex_of_point();
        let places = (0..).zip(base.iter().zip(first_vertex.iter()));
        let moved = places.filter_map(|(point, (from, &vertex))| {
            let place = other.positions()[their_points[vertex as usize] as usize];
            (place.distance(*from) > tolerance).then_some((point, place))
        });
        let moved: Vec<(u32, Vec3)> = moved.collect();
        let captured = capture(plan, &item.stack, &item.masks, &moved);
        if !captured.displacements.is_empty() {
            found.insert(instance.mesh, captured);
        }
    }
    let target = target.display();
    if !any_like {
        return Err(Failure::Input(format!(
            "{target} has no mesh with the vertices of a skinned mesh of the model."
        )));
    }
    if found.is_empty() {
        return Err(Failure::Input(format!(
            "{target} does not differ from the model in this pose: there is nothing to extract."
        )));
    }
    Ok(found)
}

/// The instance of another document that has the vertices of this one: that of the same node name, else the only one.
fn like(document: &Document, instance: &Instance, other: &Document) -> Option<InstanceId> {
    let counts = |document: &Document, mesh: MeshId| {
        let primitives = document.meshes().get(&mesh)?.geometry.primitives.iter();
        Some(primitives.map(|p| p.vertices.len()).collect::<Vec<_>>())
    };
    let wanted = counts(document, instance.mesh)?;
    let same = other.instances().iter();
    let same = same.filter(|(_, i)| counts(other, i.mesh).as_ref() == Some(&wanted));
    let same: Vec<_> = same.collect();
    let name = &document.skeleton().joint(instance.joint).name;
    let named = same
        .iter()
        .find(|(_, i)| &other.skeleton().joint(i.joint).name == name);
    match (named, &same[..]) {
        (Some((id, _)), _) | (None, [(id, _)]) => Some(**id),
        _ => None,
    }
}

/// Adds a sample to a mesh, to the set that all its drivers belong to, else to a new one. Returns a line about it.
fn add_sample(
    document: &mut Document,
    mesh: MeshId,
    captured: &Captured,
    pose: &Pose,
    args: &PsdArgs,
) -> Result<String, Failure> {
    let joints = drivers(document, mesh, captured, pose, &args.drivers)?;
    let skeleton = document.skeleton().clone();
    let item = document.meshes()[&mesh].clone();
    let mut sets = item.correctives.sets().to_vec();
    let owns = |set: &Arc<SampleSet>| {
        let own: BTreeSet<JointId> = set.drivers.iter().map(|d| d.joint).collect();
        joints.is_subset(&own)
    };
    let index = sets.iter().position(owns).unwrap_or_else(|| {
        let rest = &document.rest_pose().locals;
        let drivers = joints.iter().map(|&j| Driver::of_joint(j, &skeleton, rest));
        let names: Vec<_> = joints.iter().map(|&j| skeleton.label(j)).collect();
        let set = SampleSet::new(names.join(" + "), drivers.collect());
        sets.push(Arc::new(set));
        sets.len() - 1
    });
    let rotation = |driver: &Driver| driver.rotation(&skeleton, &pose.locals);
    let others = sets.iter().enumerate().filter(|(i, _)| *i != index);
    let others = others.flat_map(|(_, set)| &set.drivers);
    let beside = others.filter(|driver| is_posed(driver, rotation(driver)));
    let name = args.name.clone().unwrap_or_else(|| {
        let taken = |name: &String| sets[index].samples.iter().any(|s| s.name == *name);
        let mut names = (1..).map(|n| format!("Sample {n}"));
        names.find(|name| !taken(name)).unwrap_or_default()
    });
    let sample = Sample {
        name: name.clone(),
        rotations: sets[index].drivers.iter().map(rotation).collect(),
        beside: beside.map(|d| (d.joint, rotation(d))).collect(),
        displacements: captured.displacements.clone(),
        captured_on: item.stack.clone(),
        strength: 1.0,
        muted: false,
    };
    let set = Arc::make_mut(&mut sets[index]);
    // A sample of that name is sculpted anew.
    match set.samples.iter_mut().find(|known| known.name == name) {
        Some(known) => *known = Arc::new(sample),
        None => set.samples.push(Arc::new(sample)),
    }
    let title = set.name.clone();
    let correctives = Correctives::new(sets).map_err(refused)?;
    let edit = CorrectivesEdit::new(document, mesh, Arc::new(correctives));
    document
        .apply(&mut Edit::Correctives(edit))
        .map_err(Failure::input)?;
    let lengths = captured.displacements.iter().map(|(_, d)| d.length());
    let collapsed = match captured.n_singular {
        0 => String::new(),
        n => format!(
            " Linear skinning collapses {} in this pose; they follow their heaviest bone.",
            counted(n, "vertex")
        ),
    };
    Ok(format!(
        "Sample \"{name}\" of \"{title}\": {}, moved by up to {:.4} m.{collapsed}",
        counted(captured.displacements.n_points(), "vertex"),
        lengths.fold(0.0, f32::max)
    ))
}

fn refused(why: impl std::fmt::Display) -> Failure {
    let mut text = why.to_string();
    if let Some(first) = text.get(..1).map(str::to_uppercase) {
        text.replace_range(..1, &first);
    }
    Failure::Input(format!("{text}."))
}

/// The driver joints of a sample: those that were asked for, else the posed joints that move its points.
fn drivers(
    document: &Document,
    mesh: MeshId,
    captured: &Captured,
    pose: &Pose,
    wanted: &[String],
) -> Result<BTreeSet<JointId>, Failure> {
    let skeleton = document.skeleton();
    if !wanted.is_empty() {
        let by_name = |name: &String| {
            let number = name
                .parse()
                .ok()
                .and_then(|node| skeleton.joint_of_node(node));
            let named = skeleton.live_joints().find(|&j| skeleton.label(j) == *name);
            named
                .or(number.filter(|&j| skeleton.is_live(j)))
                .ok_or_else(|| {
                    Failure::Usage(format!("--drivers {name}: there is no bone of that name."))
                })
        };
        return wanted.iter().map(by_name).collect();
    }
    let rest = &document.rest_pose().locals;
    let is_posed = |joint: JointId| {
        let driver = Driver::of_joint(joint, skeleton, rest);
        is_posed(&driver, driver.rotation(skeleton, &pose.locals))
    };
    let item = &document.meshes()[&mesh];
    let mut moving = BTreeSet::new();
    if let Some((_, skin)) = document.skin_of_mesh(mesh) {
        for (point, _) in captured.displacements.iter() {
            let row = item.influences.row(point);
            let slots = row.iter().filter(|(_, weight)| *weight > 0.0);
            moving.extend(slots.filter_map(|(slot, _)| skin.joints.get(usize::from(slot))));
        }
    }
    let posed: BTreeSet<JointId> = moving
        .into_iter()
        .copied()
        .filter(|&j| is_posed(j))
        .collect();
    if posed.is_empty() {
        return Err(Failure::Input(
            "No bone of the sculpted vertices is posed: correct the bind mesh instead, or choose bones with --drivers."
                .into(),
        ));
    }
    Ok(posed)
}

fn is_posed(driver: &Driver, rotation: DQuat) -> bool {
    let (ball, here) = (DriverMode::Ball, driver.from_bind(rotation).to_array());
    ball.distance_squared(&here, &DQuat::IDENTITY.to_array()) > UNPOSED * UNPOSED
}

fn diagonal(positions: &[Vec3]) -> f32 {
    let (low, high) = positions
        .iter()
        .fold((Vec3::MAX, Vec3::MIN), |(low, high), p| {
            (low.min(*p), high.max(*p))
        });
    (high - low).max(Vec3::ZERO).length()
}
