//! Edge flips that make the coarse triangles rounder.

use super::coarse::{CoarseMesh, NONE};
use super::located::Located;
use crate::task::{Cancelled, Task};
use glam::DVec2;
use std::f64::consts::PI;

/// The most passes over all edges.
const PASSES: usize = 10;

/// An edge is flipped if its opposite angles are larger than a half turn by this, radians.
const ANGLE: f64 = 1e-3;

/// Twice the smallest area of a new triangle, as a fraction of the squared length of the edge.
const SMALLEST: f64 = 1e-12;

/// A pair of faces that agrees with the surface by at least this cosine may replace any other.
const GOOD: f64 = 0.5;

/// Flips interior edges until the triangles are locally Delaunay, where that does not turn them away from the surface.
pub(super) fn flip_edges(
    mesh: &mut CoarseMesh<'_>,
    located: &mut Located,
    task: &Task,
) -> Result<(), Cancelled> {
    let mut moved = Vec::new();
    for _ in 0..PASSES {
        let mut n_flips = 0;
        for slot in 0..mesh.faces.len() as u32 {
            if slot.is_multiple_of(4096) {
                task.check()?;
            }
            for i in 0..3 {
                let face = mesh.faces[slot as usize];
                if face[0] != NONE && face[i] < face[(i + 1) % 3] {
                    n_flips += usize::from(flip(mesh, located, slot, i, &mut moved));
                }
            }
        }
        if n_flips == 0 {
            break;
        }
    }
    Ok(())
}

/// Flips the edge after corner `i` of a face, if that is better.
fn flip(
    mesh: &mut CoarseMesh<'_>,
    located: &mut Located,
    slot: u32,
    i: usize,
    moved: &mut Vec<(u32, DVec2)>,
) -> bool {
    let face = mesh.faces[slot as usize];
    let (a, b, c) = (face[i], face[(i + 1) % 3], face[(i + 2) % 3]);
    let Some(other) = mesh.face_along(b, a) else {
        return false;
    };
    let other_face = mesh.faces[other as usize];
    let Some(d) = other_face.into_iter().find(|&v| v != a && v != b) else {
        return false;
    };
    if c == d || mesh.n_faces_at(a, b) != 2 {
        return false;
    }
    let Some(hinge) = unfold(mesh, [a, b, c, d]) else {
        return false;
    };
    let angle = |at: DVec2| {
        let (p, q) = (hinge[0] - at, hinge[1] - at);
        p.perp_dot(q).abs().atan2(p.dot(q))
    };
    if angle(hinge[2]) + angle(hinge[3]) <= PI + ANGLE || mesh.has_edge(c, d) {
        return false;
    }
    let place = |v: u32| hinge[[a, b, c, d].iter().position(|&w| w == v).unwrap_or(0)];
    let new = [[a, d, c], [d, b, c]];
    let least = SMALLEST * hinge[1].x * hinge[1].x;
    let is_convex = new.iter().all(|t| {
        let [p, q, r] = t.map(place);
        (q - p).perp_dot(r - p) > least
    });
    let worst = |t: [[u32; 3]; 2]| mesh.agreement(t[0], None).min(mesh.agreement(t[1], None));
    if !is_convex || worst(new) < worst([face, other_face]).min(GOOD) {
        return false;
    }
    moved.clear();
    located.take(slot, face.map(place), moved);
    located.take(other, other_face.map(place), moved);
    let places = new.map(|t| t.map(place));
    mesh.replace(&[slot, other], &new);
    for &(vertex, at) in &*moved {
        located.put(vertex, at, [slot, other].into_iter().zip(places));
    }
    true
}

/// The places of a, b, c and d in the plane, with the faces (a, b, c) and (b, a, d) unfolded along the edge from a at the
/// origin to b on the x axis. `None` for an edge without length.
fn unfold(mesh: &CoarseMesh<'_>, [a, b, c, d]: [u32; 4]) -> Option<[DVec2; 4]> {
    let [pa, pb, pc, pd] = [a, b, c, d].map(|v| mesh.surface.positions[v as usize]);
    let edge = pb - pa;
    let axis = edge.try_normalize()?;
    let place = |p: glam::DVec3, side: f64| {
        let along = (p - pa).dot(axis);
        DVec2::new(along, side * (p - pa - axis * along).length())
    };
    let end = DVec2::new(edge.length(), 0.0);
    Some([DVec2::ZERO, end, place(pc, 1.0), place(pd, -1.0)])
}
