//! Problems of control clusters: layers whose bones or recordings are missing or have gaps, and control points that do not fit.

use super::controls::of_controls;
use super::sites;
use crate::cluster::channel::{BindingKind, Channel, Recording, RecordingItem, Sampling};
use crate::cluster::procedural::{BindPoint, DriverInput};
use crate::cluster::signal::Signal;
use crate::cluster::{Base, ClusterGroup, DataLayer, DriverLayer};
use crate::document::{Document, MeshId, MeshItem, Person};
use crate::finding::{Finding, Fix, Place, counted};
use glam::DVec3;
use std::collections::BTreeSet;

/// Markers that are farther off their vertices than this fraction of the extent of those do not fit.
const MAX_MISFIT: f64 = 0.2;
/// The largest number of notes about the lines of a recording.
const MAX_NOTES: usize = 8;

/// Groups that stay as they are in a what-if, as a factor of their gains would make a layer invalid.
fn of_variations(document: &Document) -> Vec<Finding> {
    let what_if = document.person(Person::WhatIf);
    let variations = what_if.map_or(&[][..], |table| &table.variations);
    let faults = document.gain_faults(variations).into_iter();
    let findings = faults.map(|fault| {
        let place = format!("layer \"{}\" of the group \"{}\"", fault.layer, fault.group);
        let why = format!(
            "With the what-if's factor, {}. Its gains are not applied to this group; choose a smaller factor.",
            fault.why
        );
        Finding::warning(place, why)
    });
    findings.collect()
}

/// The problems of all recordings and of the layers that read them, drivers without their bones among them, and of lattices and
/// cages.
pub fn of_layers(document: &Document) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (id, item) in document.recordings().iter() {
        let of = Place::Recording(id.0);
        if let Err(why) = &item.content {
            let place = format!("recording \"{}\"", item.name);
            let why = format!("{why}. The layers that read it do not act; choose the file again.");
            let finding = Finding::warning(place, why).at(of.clone());
            findings.push(finding.fixed_by(Some(Fix::Relink)));
        }
        let notes = item.recording().map_or(&[][..], |of| &of.notes);
        for note in notes.iter().take(MAX_NOTES) {
            let place = format!("recording \"{}\", line {}", item.name, note.line);
            findings.push(Finding::info(place, note.text.clone()).at(of.clone()));
        }
        if let Some(more) = notes.len().checked_sub(MAX_NOTES).filter(|n| *n > 0) {
            let place = format!("recording \"{}\"", item.name);
            findings.push(Finding::info(
                place,
                format!("{} more.", counted(more, "note")),
            ));
        }
    }
    findings.extend(of_variations(document));
    for (&id, item) in document.meshes() {
        findings.extend(of_controls(id, item));
        for group in item.clusters.groups() {
            let place = |layer: &str| format!("layer \"{layer}\" of the group \"{}\"", group.name);
            let own = || points_of(item, &group.name);
            let warning = |layer: &str, why: String| {
                let finding = Finding::warning(place(layer), why);
                finding.at(at_points(id, own()))
            };
            for muscle in group.muscles.iter().filter(|muscle| !muscle.muted) {
                let why = sites::of_muscle(document, id, muscle, &bind_points(item, &own()));
                findings.extend(why.map(|why| warning(&muscle.name, why)));
            }
            for driver in group.drivers.iter().filter(|driver| !driver.muted) {
                let why = sites::of_driver(document, id, driver);
                findings.extend(why.map(|why| warning(&driver.name, why)));
            }
            for driver in &group.drivers {
                for why in of_driver(document, driver) {
                    findings.push(warning(&driver.name, why));
                }
            }
            for kept in &group.unplaced {
                let why = format!("{} The project keeps it, and it does not act.", kept.why);
                findings.push(warning(&kept.name, why));
            }
            for data in &group.data {
                for (why, points) in of_data(document, (id, item), group, data) {
                    let finding = Finding::warning(place(&data.name), why);
                    findings.push(finding.at(at_points(id, points)));
                }
            }
        }
    }
    findings
}

fn at_points(mesh: MeshId, points: Vec<u32>) -> Place {
    Place::Points {
        mesh: mesh.0,
        points: points.into(),
    }
}

/// The clusters of a group.
fn points_of(item: &MeshItem, group: &str) -> Vec<u32> {
    let group = item.clusters.group_named(group);
    let own = item.clusters.clusters().iter();
    let own = own.filter(|cluster| Some(cluster.1) == group);
    own.map(|cluster| cluster.0).collect()
}

/// Clusters at bind.
fn bind_points(item: &MeshItem, clusters: &[u32]) -> Vec<BindPoint> {
    let places = clusters.iter();
    let places = places.filter_map(|point| item.geometry.positions.get(*point as usize));
    let points = places.map(|position| BindPoint {
        position: position.as_dvec3(),
        // Whether a muscle can be evaluated depends on neither.
        normal: DVec3::Y,
        area: 1.0,
        mask: 1.0,
    });
    points.collect()
}

fn of_driver(document: &Document, driver: &DriverLayer) -> Vec<String> {
    let skeleton = document.skeleton();
    let mut joints = driver.joints().into_iter();
    if let Some(joint) = joints.find(|&joint| !skeleton.is_live(joint)) {
        let bone = &skeleton.joint(joint).name;
        return vec![format!(
            "It reads the bone \"{bone}\", which was removed, and does not act."
        )];
    }
    let (DriverInput::Channel { name }, Some(played)) = (&driver.settings.input, &driver.played)
    else {
        return Vec::new();
    };
    let item = document.recordings().get(&played.recording);
    let Some((item, recording)) = item.and_then(|item| Some((item, item.recording()?))) else {
        return Vec::new();
    };
    let channel = recording.scalar(name, played.sampling);
    let channel = channel.and_then(Result::ok);
    of_channel(item, name, "scalar", channel.as_ref())
        .into_iter()
        .collect()
}

/// What is wrong with data, and the points that it is about.
fn of_data(
    document: &Document,
    (id, mesh): (MeshId, &MeshItem),
    group: &ClusterGroup,
    data: &DataLayer,
) -> Vec<(String, Vec<u32>)> {
    let item = document.recordings().get(&data.played.recording);
    let Some((item, recording)) = item.and_then(|item| Some((item, item.recording()?))) else {
        return Vec::new();
    };
    let markers = data.bindings.iter();
    let markers = markers.filter(|binding| !matches!(binding.kind, BindingKind::Scalar { .. }));
    let bound: BTreeSet<u32> = markers.flat_map(|b| b.clusters.iter().copied()).collect();
    let misfit = fit_problem(document, id, data, recording);
    let misfit = misfit.map(|why| (why, bound.into_iter().collect()));
    let mut found: Vec<(String, Vec<u32>)> = misfit.into_iter().collect();
    let own = mesh.clusters.group_named(&group.name);
    for binding in &data.bindings {
        let name = &binding.channel;
        let sampling = data.played.sampling;
        if matches!(binding.kind, BindingKind::Scalar { .. }) {
            let channel = scalar(recording, name, sampling);
            let why = of_channel(item, name, "scalar", channel.as_ref());
            found.extend(why.map(|why| (why, binding.clusters.clone())));
        } else {
            let channel = recording.marker(name, sampling).and_then(Result::ok);
            let why = of_channel(item, name, "marker", channel.as_ref());
            found.extend(why.map(|why| (why, binding.clusters.clone())));
            let reference = data.reference_time(recording);
            if channel.is_some_and(|channel| channel.at(reference).is_none()) {
                let why = format!(
                    "The marker \"{name}\" has no value at the reference time, {reference} s, and moves nothing."
                );
                found.push((why, binding.clusters.clone()));
            }
        }
        let bound = binding.clusters.iter();
        let elsewhere = bound.filter(|point| mesh.clusters.group_of(**point) != own);
        let elsewhere: Vec<u32> = elsewhere.copied().collect();
        if !elsewhere.is_empty() {
            let n = counted(elsewhere.len(), "vertex");
            let why = format!("\"{name}\" is bound to {n} that this group does not have.");
            found.push((why, elsewhere));
        }
    }
    if group.base == Base::Data && !group.data.iter().any(DataLayer::places) {
        let why = "No marker is the position of a cluster of this group, which is driven by Data.";
        found.push((why.into(), points_of(mesh, &group.name)));
    }
    found
}

/// Why markers do not fit their vertices at the reference time.
fn fit_problem(
    document: &Document,
    mesh: MeshId,
    data: &DataLayer,
    recording: &Recording,
) -> Option<String> {
    let pairs = document.marker_pairs(mesh, data, recording);
    let fit = data.fitted(&pairs)?;
    if pairs.len() > 2 && !fit.has_rotation {
        return Some(
            "Its markers, or their vertices, lie on a line: the fit translates them without rotating them."
                .into(),
        );
    }
    if fit.is_mirrored {
        return Some(
            "At the reference time its markers are a mirror image of their vertices: flip one axis of its bindings."
                .into(),
        );
    }
    let n = pairs.len() as f64;
    let middle = pairs.iter().map(|pair| pair[1]).sum::<DVec3>() / n;
    let square = pairs.iter().map(|pair| pair[1].distance_squared(middle));
    let spread = (square.sum::<f64>() / n).sqrt();
    (fit.rms > MAX_MISFIT * spread).then(|| {
        format!(
            "Its markers are off their vertices by {:.1} mm on average at the reference time, after the fit: are the right vertices \
             bound?",
            1000.0 * fit.rms
        )
    })
}

fn scalar(recording: &Recording, name: &str, sampling: Sampling) -> Option<Channel<f64>> {
    recording.scalar(name, sampling)?.ok()
}

/// What is wrong with a channel.
fn of_channel<V: Signal>(
    item: &RecordingItem,
    name: &str,
    kind: &str,
    channel: Option<&Channel<V>>,
) -> Option<String> {
    let Some(channel) = channel else {
        return Some(format!(
            "The recording \"{}\" has no {kind} \"{name}\".",
            item.name
        ));
    };
    if channel.times().is_empty() {
        return Some(format!("The {kind} \"{name}\" has no value."));
    }
    let gaps: Vec<[f64; 2]> = channel.gaps().collect();
    let [from, to] = *gaps.first()?;
    Some(format!(
        "The {kind} \"{name}\" has {} longer than {:.3} s, the first from {from} to {to} s: its last value is held there and \
         fades.",
        counted(gaps.len(), "gap"),
        channel.max_gap()
    ))
}
