//! Markers that jump: steps of recorded data that are too long for the clusters that they move.

use crate::cluster::channel::{BindingKind, Recording, find_jumps};
use crate::cluster::{DataLayer, MeshLayout};
use crate::document::{Document, MeshItem};
use crate::evaluate::LayoutMap;
use crate::finding::{Finding, counted};
use glam::DVec3;

/// A warning for each channel that moves a cluster by more than two edges between corners in one step of its recording.
pub(super) fn of_document(document: &Document, layouts: &LayoutMap) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (id, item) in document.meshes() {
        let Some(layout) = layouts.get(id) else {
            continue;
        };
        for (_, data) in item.clusters.data().filter(|(_, data)| !data.muted) {
            let recording = document.recordings().get(&data.played.recording);
            if let Some(recording) = recording.and_then(|item| item.recording()) {
                findings.extend(of_data(item, layout, data, recording));
            }
        }
    }
    findings
}

fn of_data(
    item: &MeshItem,
    layout: &MeshLayout,
    data: &DataLayer,
    recording: &Recording,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for binding in &data.bindings {
        let Some(edge) = shortest_edge(item, layout, &binding.clusters) else {
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
                let place = |m: &DVec3| m.is_finite().then(|| binding.marker(*m));
                values.iter().map(place).collect()
            }
        };
        let jumps = find_jumps(places, edge);
        if let Some(jump) = jumps.first() {
            let time = recording.times.get(jump.frame).copied().unwrap_or(0.0);
            findings.push(Finding::warning(
                format!("data \"{}\"", data.name),
                format!(
                    "The channel \"{}\" jumps {}, first by {:.3} m at {time} s, more than {:.3} m: were two markers swapped?",
                    binding.channel,
                    counted(jumps.len(), "time"),
                    jump.distance,
                    jump.limit
                ),
            ));
        }
    }
    findings
}

/// The shortest edge between corners at some points, bind space; `None` where they are no corners.
fn shortest_edge(item: &MeshItem, layout: &MeshLayout, points: &[u32]) -> Option<f64> {
    let surface = layout.surface();
    let vertices = points.iter().map(|&point| surface.vertex_of_point(point));
    let vertices: Vec<u32> = vertices.collect();
    let place = |vertex: u32| {
        let point = surface.points_of_vertex(vertex)[0];
        item.geometry.positions[point as usize].as_dvec3()
    };
    let edges = layout.layout().triangles.iter();
    let edges = edges.flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]);
    let own = edges.filter(|(a, b)| vertices.contains(a) || vertices.contains(b));
    own.map(|(a, b)| place(a).distance(place(b)))
        .min_by(f64::total_cmp)
}
