//! What the clusters of a document are, and how their patches stand in a pose.

use super::Failure;
use super::centres;
use crate::cluster::channel::Recording;
use crate::cluster::{Base, CageMesh, CageSource, ControlKey, DataLayer, DriverLayer, MeshLayout};
use crate::document::{ClipId, Document, MeshId, MeshItem, checks};
use crate::evaluate::{Evaluator, NetEdge, SPARSE_DEGREES, VERY_SPARSE_DEGREES, net_edges};
use crate::finding::{Finding, Place, counted};
use crate::mesh::Mesh;
use crate::skeleton::PoseAt;
use crate::suggest::ClusterRound;
use serde::Serialize;
use std::io::Write;

/// The control clusters of a document.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    meshes: Vec<MeshReport>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    recordings: Vec<RecordingReport>,
    /// Markers that jump, channels with gaps, files that are missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<Finding>,
}

/// The control clusters of one mesh.
#[derive(Debug, Serialize)]
struct MeshReport {
    mesh: u32,
    name: String,
    /// Distinct positions; the vertices of a seam count once.
    points: usize,
    clusters: usize,
    groups: Vec<GroupReport>,
    /// Corners of patches that are no clusters.
    anchors: usize,
    anchor_vertices: Vec<Vertex>,
    patches: usize,
    /// Points that follow patches.
    free: usize,
    /// Points that follow the deformer stack, because their part of the mesh has no cluster.
    excluded: usize,
    /// Edges between corners.
    edges: usize,
    /// Those along which the rotation differs by more than 60 degrees in the pose.
    sparse_edges: usize,
    /// And by more than 90 degrees.
    very_sparse_edges: usize,
    /// The largest difference, degrees.
    worst_edge_degrees: f64,
    /// The rounds of a suggestion.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggested: Vec<ClusterRound>,
}

#[derive(Debug, Serialize)]
struct GroupReport {
    name: String,
    base: &'static str,
    clusters: usize,
    /// Clusters, or control points of its base, that are displaced outside of clips.
    #[serde(skip_serializing_if = "is_none")]
    displaced: usize,
    /// The numbers of control points of its lattice, where that is its base.
    #[serde(skip_serializing_if = "Option::is_none")]
    lattice: Option<[u32; 3]>,
    /// Its cage, where that is its base.
    #[serde(skip_serializing_if = "Option::is_none")]
    cage: Option<CageReport>,
    /// The clips with keyframes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    clips: Vec<ClipReport>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    muscles: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    drivers: Vec<DriverReport>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    data: Vec<DataReport>,
}

/// The cage of a group.
#[derive(Debug, Serialize)]
struct CageReport {
    /// "box", or the name of an object.
    source: String,
    vertices: usize,
    triangles: usize,
}

/// The keyframes of a group in a clip.
#[derive(Debug, Serialize)]
struct ClipReport {
    clip: u32,
    name: String,
    keyframes: usize,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde expects"
)]
fn is_none(n: &usize) -> bool {
    *n == 0
}

#[derive(Debug, Serialize)]
struct DriverReport {
    name: String,
    input: &'static str,
    muted: bool,
}

#[derive(Debug, Serialize)]
struct DataReport {
    name: String,
    recording: String,
    muted: bool,
    /// How its markers fit their vertices at its reference time.
    #[serde(skip_serializing_if = "Option::is_none")]
    fit: Option<FitReport>,
    bindings: Vec<BindingReport>,
}

/// How markers fit their vertices.
#[derive(Debug, Serialize)]
struct FitReport {
    /// "none", "rigid" or "similarity".
    kind: &'static str,
    /// The number of markers that count.
    markers: usize,
    /// The root mean square of their distances after the fit, metres.
    rms: f64,
    /// The marker that is farthest off.
    worst: String,
    /// And how far, metres.
    largest: f64,
}

#[derive(Debug, Serialize)]
struct BindingReport {
    channel: String,
    kind: &'static str,
    clusters: usize,
}

/// A recording of the document.
#[derive(Debug, Serialize)]
struct RecordingReport {
    name: String,
    file: String,
    /// Why it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    samples: usize,
    /// First and last, seconds.
    seconds: [f64; 2],
    markers: Vec<String>,
    scalars: Vec<String>,
}

/// A vertex as the file numbers it.
#[derive(Debug, Serialize)]
pub(super) struct Vertex {
    pub(super) primitive: usize,
    pub(super) vertex: u32,
}

impl Report {
    /// The report of a document in a pose. `suggested`: the rounds of each mesh that got clusters.
    pub(super) fn of(
        document: &Document,
        at: PoseAt<'_>,
        suggested: &[(MeshId, Vec<ClusterRound>)],
    ) -> Self {
        let cooks = centres::find([document]);
        let mut evaluator = Evaluator::default();
        evaluator.set_cooks(cooks.clone());
        if document.has_clusters() {
            evaluator.evaluate(document, at);
        }
        let meshes = document.meshes().iter().map(|(&id, item)| {
            let mut instances = document.instances().iter();
            let first = instances.find(|(_, i)| i.mesh == id).map(|(&id, _)| id);
            let rounds = suggested.iter().find(|(mesh, _)| *mesh == id);
            let rounds = rounds.map_or_else(Vec::new, |(_, rounds)| rounds.clone());
            let layout = cooks.layouts.get(&id).map(|layout| &**layout);
            let edges = layout
                .zip(first)
                .map_or_else(Vec::new, |(layout, instance)| {
                    net_edges(&evaluator, layout, instance)
                });
            mesh_report(document, item, (id, layout), &edges, rounds)
        });
        let meshes = meshes.collect();
        let mut findings = checks::of_layers(document);
        findings.extend(checks::of_jumps(document, &cooks.layouts));
        for finding in &mut findings {
            // Points are numbers of ours, which no other program knows.
            if matches!(finding.target, Some(Place::Points { .. })) {
                finding.target = None;
            }
        }
        Self {
            meshes,
            recordings: recordings(document),
            findings,
        }
    }

    pub(super) fn print_json(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(self).map_err(Failure::input)?;
        writeln!(out, "{text}")?;
        Ok(())
    }

    pub(super) fn print(&self, out: &mut dyn Write) -> Result<(), Failure> {
        for mesh in &self.meshes {
            writeln!(
                out,
                "mesh {} \"{}\": {} of {}, {}, {}, {}",
                mesh.mesh,
                mesh.name,
                counted(mesh.clusters, "cluster"),
                counted(mesh.points, "vertex"),
                counted(mesh.anchors, "anchor"),
                counted(mesh.patches, "patch"),
                counted(mesh.free, "free vertex"),
            )?;
            for group in &mesh.groups {
                let n = counted(group.clusters, "cluster");
                writeln!(out, "  \"{}\": {n}, moved by {}", group.name, group.base)?;
                if let Some([l, m, n]) = group.lattice {
                    writeln!(out, "    lattice of {l} × {m} × {n} control points")?;
                }
                if let Some(cage) = &group.cage {
                    let n = counted(cage.vertices, "control point");
                    writeln!(out, "    cage of {n}: {}", cage.source)?;
                }
                if group.displaced > 0 {
                    let is_by_hand = group.lattice.is_none() && group.cage.is_none();
                    let noun = if is_by_hand {
                        "cluster"
                    } else {
                        "control point"
                    };
                    writeln!(out, "    {} displaced", counted(group.displaced, noun))?;
                }
                for clip in &group.clips {
                    let n = counted(clip.keyframes, "keyframe");
                    writeln!(out, "    {n} in clip {} \"{}\"", clip.clip, clip.name)?;
                }
                for muscle in &group.muscles {
                    writeln!(out, "    muscle \"{muscle}\"")?;
                }
                for driver in &group.drivers {
                    let input = driver.input.to_lowercase();
                    writeln!(out, "    driver \"{}\": {input}", driver.name)?;
                }
                for data in &group.data {
                    let n = counted(data.bindings.len(), "channel");
                    let from = &data.recording;
                    writeln!(out, "    data \"{}\": {n} of \"{from}\"", data.name)?;
                    if let Some(fit) = &data.fit {
                        let n = counted(fit.markers, "marker");
                        writeln!(
                            out,
                            "      fit of {n}: {:.6} m RMS, farthest \"{}\" by {:.6} m",
                            fit.rms, fit.worst, fit.largest
                        )?;
                    }
                }
            }
            if mesh.clusters > 0 && mesh.excluded > 0 {
                let n = counted(mesh.excluded, "vertex");
                writeln!(out, "  {n} in parts without a cluster")?;
            }
            if mesh.sparse_edges > 0 {
                writeln!(
                    out,
                    "  too sparse in this pose: rotation differs by more than 60° along {}, by more than 90° along {}; at most {:.0}°",
                    counted(mesh.sparse_edges, "edge"),
                    mesh.very_sparse_edges,
                    mesh.worst_edge_degrees,
                )?;
            }
            for round in &mesh.suggested {
                writeln!(
                    out,
                    "  suggested {}: error {:.3} %, rms {:.3} %",
                    counted(round.n_clusters, "cluster"),
                    100.0 * round.max,
                    100.0 * round.rms,
                )?;
            }
        }
        for item in &self.recordings {
            let [first, last] = item.seconds;
            writeln!(
                out,
                "recording \"{}\": {}, {first} - {last} s, {}, {}",
                item.name,
                counted(item.samples, "sample"),
                counted(item.markers.len(), "marker"),
                counted(item.scalars.len(), "scalar"),
            )?;
        }
        for finding in &self.findings {
            writeln!(out, "{finding}")?;
        }
        Ok(())
    }
}

fn mesh_report(
    document: &Document,
    item: &MeshItem,
    (id, layout): (MeshId, Option<&MeshLayout>),
    edges: &[NetEdge],
    suggested: Vec<ClusterRound>,
) -> MeshReport {
    let map = &item.clusters;
    let clip_report = |(clip, keys): (ClipId, &[ControlKey])| {
        let known = document.clips().get(&clip);
        ClipReport {
            clip: clip.0,
            name: known.map_or_else(String::new, |clip| clip.name.clone()),
            keyframes: keys.len(),
        }
    };
    // The vertices of a seam count once.
    let counts = document.cluster_counts(id);
    let n_clusters = counts.iter().sum();
    let groups = map.groups().iter().zip(counts);
    let groups = groups.map(|(group, clusters)| GroupReport {
        name: group.name.clone(),
        base: group.base.key(),
        clusters,
        displaced: group.motion().map_or(0, |motion| motion.still().len()),
        lattice: group
            .lattice
            .as_ref()
            .filter(|_| group.base == Base::Lattice)
            .map(|lattice| lattice.settings.counts),
        cage: group
            .cage
            .as_ref()
            .filter(|_| group.base == Base::Cage)
            .map(|cage| cage_report(&cage.mesh)),
        clips: group
            .motion()
            .map_or_else(Vec::new, |motion| motion.clips().map(clip_report).collect()),
        muscles: group.muscles.iter().map(|m| m.name.clone()).collect(),
        drivers: group.drivers.iter().map(driver_report).collect(),
        data: group
            .data
            .iter()
            .map(|data| data_report(document, id, data))
            .collect(),
    });
    let mut report = MeshReport {
        mesh: id.0,
        name: item.geometry.name.clone(),
        points: item.geometry.n_points(),
        clusters: n_clusters,
        groups: groups.collect(),
        anchors: 0,
        anchor_vertices: Vec::new(),
        patches: 0,
        free: 0,
        excluded: 0,
        edges: 0,
        sparse_edges: 0,
        very_sparse_edges: 0,
        worst_edge_degrees: 0.0,
        suggested,
    };
    if let Some(of) = layout {
        let (surface, layout) = (of.surface(), of.layout());
        let n_points = |vertex: &u32| surface.points_of_vertex(*vertex).len();
        report.anchors = layout.anchors.len();
        let first = item.geometry.first_vertex_of_point();
        let anchors = layout.anchors.iter();
        let anchors = anchors.map(|&vertex| surface.points_of_vertex(vertex)[0]);
        report.anchor_vertices = anchors
            .filter_map(|point| vertex_of(&item.geometry, &first, point))
            .collect();
        report.patches = layout.triangles.len();
        report.free = layout.free.iter().map(|free| n_points(&free.vertex)).sum();
        report.excluded = layout.excluded.iter().map(n_points).sum();
    }
    report.edges = edges.len();
    for edge in edges {
        report.sparse_edges += usize::from(edge.degrees > SPARSE_DEGREES);
        report.very_sparse_edges += usize::from(edge.degrees > VERY_SPARSE_DEGREES);
        report.worst_edge_degrees = report.worst_edge_degrees.max(edge.degrees);
    }
    report
}

fn cage_report(mesh: &CageMesh) -> CageReport {
    CageReport {
        source: match mesh.source() {
            CageSource::Box { .. } => "box".to_owned(),
            CageSource::Object(name) => name.clone(),
        },
        vertices: mesh.vertices().len(),
        triangles: mesh.triangles().len(),
    }
}

fn driver_report(driver: &DriverLayer) -> DriverReport {
    DriverReport {
        name: driver.name.clone(),
        input: driver.settings.input.label(),
        muted: driver.muted,
    }
}

fn data_report(document: &Document, mesh: MeshId, data: &DataLayer) -> DataReport {
    let item = document.recordings().get(&data.played.recording);
    let bindings = data.bindings.iter().map(|binding| BindingReport {
        channel: binding.channel.clone(),
        kind: binding.kind.key(),
        clusters: binding.clusters.len(),
    });
    DataReport {
        name: data.name.clone(),
        recording: item.map_or_else(String::new, |item| item.name.clone()),
        muted: data.muted,
        fit: item.and_then(|item| fit_report(document, mesh, data, item.recording()?)),
        bindings: bindings.collect(),
    }
}

fn fit_report(
    document: &Document,
    mesh: MeshId,
    data: &DataLayer,
    recording: &Recording,
) -> Option<FitReport> {
    let residual = document.residual_of_data(mesh, data, recording)?;
    Some(FitReport {
        kind: data.fit.key(),
        markers: residual.n_markers,
        rms: residual.rms,
        worst: residual.worst,
        largest: residual.largest,
    })
}

fn recordings(document: &Document) -> Vec<RecordingReport> {
    let items = document.recordings().values();
    let items = items.map(|item| {
        let of = item.recording();
        let times = of.map_or(&[][..], |of| &of.times);
        RecordingReport {
            name: item.name.clone(),
            file: item.path.display().to_string(),
            fault: item.content.as_ref().err().cloned(),
            samples: times.len(),
            seconds: [times.first(), times.last()].map(|t| t.copied().unwrap_or(0.0)),
            markers: of.map_or_else(Vec::new, |of| {
                of.markers.iter().map(|t| t.name.clone()).collect()
            }),
            scalars: of.map_or_else(Vec::new, |of| {
                of.scalars.iter().map(|t| t.name.clone()).collect()
            }),
        }
    });
    items.collect()
}

/// The first vertex of a point, as the file numbers it. `first`: [`Mesh::first_vertex_of_point`].
pub(super) fn vertex_of(mesh: &Mesh, first: &[u32], point: u32) -> Option<Vertex> {
    let vertex = *first.get(point as usize)?;
    let primitive = mesh.primitive_of_vertex(vertex)?;
    Some(Vertex {
        primitive,
        vertex: vertex - mesh.primitives[primitive].vertices.start,
    })
}
