//! Markers that jump: steps of recorded data that are too long for the clusters that they move.

use crate::cluster::channel::{BindingKind, Recording, find_jumps};
use crate::cluster::{DataLayer, MeshLayout};
use crate::document::{Document, MeshId};
use crate::finding::{Finding, Place, counted};
use glam::DVec3;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A warning for each channel that moves a cluster by more than two edges between corners in one step of its recording.
/// `layouts`: of the meshes that have data.
pub fn of_jumps(document: &Document, layouts: &BTreeMap<MeshId, Arc<MeshLayout>>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (&id, item) in document.meshes() {
        let Some(layout) = layouts.get(&id) else {
            continue;
        };
        for (_, data) in item.clusters.data().filter(|(_, data)| !data.muted) {
            let recording = document.recordings().get(&data.played.recording);
            if let Some(recording) = recording.and_then(|item| item.recording()) {
                findings.extend(of_data(document, (id, layout), data, recording));
            }
        }
    }
    findings
}

fn of_data(
    document: &Document,
    (mesh, layout): (MeshId, &MeshLayout),
    data: &DataLayer,
    recording: &Recording,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let scale = document.scale_of_data(mesh, data, recording);
    for binding in &data.bindings {
        let edge = shortest_edge(document, (mesh, layout), &binding.clusters);
        let Some(edge) = edge else {
            continue;
        };
        let places: Vec<Option<DVec3>> = match binding.kind {
            BindingKind::Scalar { .. } => {
                // A scalar of the file, or a part of a rotation.
                let channel = recording.scalar(&binding.channel, data.played.sampling);
                let channel = channel.and_then(Result::ok);
                let value = |&time: &f64| channel.as_ref()?.at(time);
                let place = |y: f64| y.is_finite().then(|| DVec3::X * (binding.scale * y));
                let times = recording.times.iter();
                times.map(|time| value(time).and_then(place)).collect()
            }
            BindingKind::Absolute | BindingKind::Delta => {
                let track = recording.markers.iter().find(|t| t.name == binding.channel);
                let values = track.map_or(&[][..], |track| &track.values);
                let place = |m: &DVec3| m.is_finite().then(|| scale * binding.marker(*m));
                values.iter().map(place).collect()
            }
        };
        let jumps = find_jumps(places, edge);
        if let Some(jump) = jumps.first() {
            let time = recording.times.get(jump.frame).copied().unwrap_or(0.0);
            let finding = Finding::warning(
                format!("data \"{}\"", data.name),
                format!(
                    "The channel \"{}\" jumps {}, first by {:.3} m at {time} s, more than {:.3} m: were two markers swapped?",
                    binding.channel,
                    counted(jumps.len(), "time"),
                    jump.distance,
                    jump.limit
                ),
            );
            findings.push(finding.at(Place::Points {
                mesh: mesh.0,
                points: binding.clusters.clone().into(),
            }));
        }
    }
    findings
}

/// The shortest edge between corners at some points in the rest pose, world, metres; `None` where they are no corners.
fn shortest_edge(
    document: &Document,
    (mesh, layout): (MeshId, &MeshLayout),
    points: &[u32],
) -> Option<f64> {
    let surface = layout.surface();
    let vertices = points.iter().map(|&point| surface.vertex_of_point(point));
    let vertices: BTreeSet<u32> = vertices.collect();
    let edges = layout.layout().triangles.iter();
    let edges = edges.flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]);
    let own = edges.filter(|(a, b)| vertices.contains(a) || vertices.contains(b));
    let own: Vec<(u32, u32)> = own.collect();
    let ends = own.iter().flat_map(|&(a, b)| [a, b]);
    let ends: Vec<u32> = ends.map(|v| surface.points_of_vertex(v)[0]).collect();
    let places = document.rest_places(mesh, &ends);
    let lengths = places.chunks_exact(2).map(|p| p[0].1.distance(p[1].1));
    lengths.min_by(f64::total_cmp)
}
