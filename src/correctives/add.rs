//! A captured shape -> a new sample of a set.

use super::edit_of;
use crate::deform::Captured;
use crate::deform::correctives::{Correctives, Driver, Sample, SampleSet};
use crate::document::{Document, Edit, MeshId};
use crate::finding::counted;
use crate::math::Worse;
use crate::psd::DriverMode;
use crate::sentence::sentence;
use crate::skeleton::{JointId, Pose};
use glam::DQuat;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

/// A joint whose rotation is closer to bind drives nothing: 2 degrees, in chordal distance.
const UNPOSED: f64 = 0.035;

/// What to make of a captured shape.
#[derive(Clone, Debug, Default)]
pub struct NewSample {
    /// Its name; an existing sample of its set is replaced. `None`: "Sample 1", "Sample 2" ...
    pub name: Option<String>,
    /// The joints that drive it; empty: the posed joints that move its points.
    pub drivers: BTreeSet<JointId>,
}

/// The result of [`add_sample`].
#[derive(Clone, Debug)]
pub struct Added {
    /// The edit.
    pub edit: Edit,
    /// The name of the sample.
    pub name: String,
    /// A sentence about it.
    pub message: String,
}

/// Adds a sample at `pose` to a mesh: to the set that all its drivers belong to, or to a new one where there is none or it
/// is off. Fails with a sentence where nothing is posed, or the sample cannot be solved beside the others.
pub fn add_sample(
    document: &Document,
    mesh: MeshId,
    captured: &Captured,
    pose: &Pose,
    new: &NewSample,
) -> Result<Added, String> {
    let joints = if new.drivers.is_empty() {
        posed_drivers(document, mesh, captured, pose)?
    } else {
        new.drivers.clone()
    };
    let skeleton = document.skeleton();
    let item = &document.meshes()[&mesh];
    let mut sets = item.correctives.sets().to_vec();
    let owns = |set: &Arc<SampleSet>| {
        let own: BTreeSet<JointId> = set.drivers.iter().map(|d| d.joint).collect();
        set.fault.is_none() && joints.is_subset(&own)
    };
    let index = sets.iter().position(owns).unwrap_or_else(|| {
        let rest = &document.rest_pose().locals;
        let drivers = joints.iter().map(|&j| Driver::of_joint(j, skeleton, rest));
        let names: Vec<_> = joints.iter().map(|&j| skeleton.label(j)).collect();
        let set = SampleSet::new(names.join(" + "), drivers.collect());
        sets.push(Arc::new(set));
        sets.len() - 1
    });
    let rotation = |driver: &Driver| driver.rotation(skeleton, &pose.locals);
    let others = sets.iter().enumerate().filter(|(i, _)| *i != index);
    let others = others.flat_map(|(_, set)| &set.drivers);
    let beside = others.filter(|driver| is_posed(driver, rotation(driver)));
    let name = new.name.clone().unwrap_or_else(|| {
        let taken = |name: &String| sets[index].samples.iter().any(|s| s.name == *name);
        let mut names = (1..).map(|n| format!("Sample {n}"));
        names.find(|name| !taken(name)).unwrap_or_default()
    });
    let all = captured.for_set(&sets[index]);
    let displacements = sets[index].held(all, &item.clusters);
    let n_left_out = all.n_points() - displacements.n_points();
    if displacements.is_empty() && n_left_out > 0 {
        return Err(format!(
            "The set \"{}\" holds only control clusters, and the sculpt moves none of them.",
            sets[index].name
        ));
    }
    let sample = Sample {
        name: name.clone(),
        rotations: sets[index].drivers.iter().map(rotation).collect(),
        beside: beside.map(|d| (d.joint, rotation(d))).collect(),
        displacements: displacements.clone(),
        captured_on: item.stack.clone(),
        captured_over: document.captured_now(mesh),
        strength: 1.0,
        muted: false,
    };
    let set = Arc::make_mut(&mut sets[index]);
    // A sample of that name is sculpted anew.
    match set.samples.iter_mut().find(|known| known.name == name) {
        Some(known) => *known = Arc::new(sample),
        None => set.samples.push(Arc::new(sample)),
    }
    let (title, scales) = (set.name.clone(), set.scale_with_limb);
    let correctives = Correctives::new(sets).map_err(|why| sentence(&why.to_string()))?;
    let edit = edit_of(document, mesh, correctives);
    let lengths = displacements.iter().map(|(_, d)| d.length());
    let mut notes = String::new();
    if captured.n_singular > 0 {
        let n = counted(captured.n_singular, "vertex");
        let _ = write!(
            notes,
            " Linear skinning collapses {n} in this pose; they follow their heaviest bone."
        );
    }
    if n_left_out > 0 {
        let n = counted(n_left_out, "vertex");
        let _ = write!(
            notes,
            " {n} that are no control clusters of the set are left out."
        );
    }
    if scales && !captured.flat.is_empty() {
        let n = counted(captured.flat.len(), "vertex");
        let _ = write!(
            notes,
            " {n} are scaled to nearly nothing in this pose; they are left out."
        );
    }
    let message = format!(
        "Sample \"{name}\" of \"{title}\": {}, moved by up to {:.4} m.{notes}",
        counted(displacements.n_points(), "vertex"),
        lengths.fold(0.0, f32::worse)
    );
    Ok(Added {
        edit,
        name,
        message,
    })
}

/// The posed joints that move the points of a captured shape. Fails with a sentence where there are none.
pub fn posed_drivers(
    document: &Document,
    mesh: MeshId,
    captured: &Captured,
    pose: &Pose,
) -> Result<BTreeSet<JointId>, String> {
    let skeleton = document.skeleton();
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
        return Err(
            "No bone of the sculpted vertices is posed: correct the bind mesh instead, or choose the driver bones."
                .into(),
        );
    }
    Ok(posed)
}

fn is_posed(driver: &Driver, rotation: DQuat) -> bool {
    let (ball, here) = (DriverMode::Ball, driver.from_bind(rotation).to_array());
    ball.distance_squared(&here, &DQuat::IDENTITY.to_array()) > UNPOSED * UNPOSED
}
