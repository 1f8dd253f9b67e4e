//! How far the corners of patches turn against each other in a pose, along the edges between them.

use super::{Evaluator, ViewId};
use crate::cluster::MeshLayout;
use crate::document::InstanceId;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The angle between the rotations of the ends of an edge from which its clusters are too sparse, degrees.
pub const SPARSE_DEGREES: f64 = 60.0;
/// The angle from which patches bulge visibly, degrees.
pub const VERY_SPARSE_DEGREES: f64 = 90.0;

/// The largest number of patches whose net is measured and drawn: a larger one would cover the surface, and delay each frame.
pub const MOST_PATCHES: usize = 13_000;

/// An edge of the net.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetEdge {
    /// The points at its ends, one side of a seam each.
    pub ends: [u32; 2],
    /// The angle between the rotations of its ends, degrees.
    pub degrees: f64,
}

/// The edges of the patches of one instance in a pose.
#[derive(Clone, Debug)]
pub struct NetEdges {
    /// The instance.
    pub instance: InstanceId,
    /// Its patches.
    pub layout: Arc<MeshLayout>,
    /// Their edges, each once; none of more than [`MOST_PATCHES`].
    pub edges: Vec<NetEdge>,
}

/// The edges of a layout, each once, with how far the corners of an instance turn along them as `evaluator` has them: by
/// everything that moves clusters. Where no clusters act, the surface moves as one piece, and nothing turns.
pub fn net_edges(evaluator: &Evaluator, layout: &MeshLayout, instance: InstanceId) -> Vec<NetEdge> {
    let (surface, corners) = (layout.surface(), &layout.layout().corners);
    let plan = evaluator.plan_in(ViewId::OWN, instance);
    let posed = plan.and_then(|plan| plan.patches());
    // They may still be those of earlier clusters.
    let posed = posed.filter(|(patches, _)| patches.net().corners == *corners);
    let rotation = |vertex: u32| {
        let corner = corners.binary_search(&vertex).ok()?;
        Some(posed.as_ref()?.1.get(corner)?.rotation)
    };
    let triangles = layout.layout().triangles.iter();
    let sides = triangles.flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]);
    let edges: BTreeSet<(u32, u32)> = sides.map(|(a, b)| (a.min(b), a.max(b))).collect();
    let edges = edges.into_iter().map(|(a, b)| {
        let degrees = rotation(a).zip(rotation(b)).map_or(0.0, |(p, q)| {
            // The quaternion and its opposite are one rotation.
            2.0 * p.dot(q).abs().min(1.0).acos().to_degrees()
        });
        NetEdge {
            ends: [a, b].map(|vertex| surface.points_of_vertex(vertex)[0]),
            degrees,
        }
    });
    edges.collect()
}
