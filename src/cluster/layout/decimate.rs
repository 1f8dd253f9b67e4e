//! Removal of free vertices, the ones with the smallest rings first.

use super::coarse::{CoarseMesh, NONE};
use super::ears::Ears;
use super::located::Located;
use super::queue::Queue;
use super::ring::Ring;
use crate::task::{Cancelled, Task};
use glam::DVec2;

/// Passes, ever more permissive: the least agreement of new faces with the surface, and the largest ring.
const PASSES: [(f64, usize); 4] = [(0.3, 10), (0.0, 16), (-0.5, 40), (-2.0, usize::MAX)];

/// How often progress is reported, vertices.
const PERIOD: usize = 4096;

/// The state of a vertex.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// It stays.
    Kept,
    /// It may be removed; `is_boundary` counts the faces of its ring differently.
    Free { is_boundary: bool },
    /// It was removed.
    Removed,
}

/// Removes as many free vertices as it can, and locates them on what is left.
pub(super) fn decimate(
    mesh: &mut CoarseMesh<'_>,
    located: &mut Located,
    states: &mut [State],
    task: &Task,
    reports: bool,
) -> Result<(), Cancelled> {
    let is_free = |s: &&State| matches!(s, State::Free { .. });
    let total = states.iter().filter(is_free).count();
    let mut remover = Remover::default();
    let mut queue = Queue::default();
    let (mut n_removed, mut n_popped) = (0, 0);
    for (least, most) in PASSES {
        let vertices = 0..states.len() as u32;
        let keys = vertices.filter_map(|v| Some((v, key(mesh, states, v)?)));
        queue.fill(states.len(), keys);
        while let Some(v) = queue.pop() {
            n_popped += 1;
            if n_popped % PERIOD == 0 {
                task.check()?;
                if reports {
                    task.step("Laying out patches", n_removed as f32 / total as f32)?;
                }
            }
            if !remover.remove(mesh, located, v, least, most) {
                continue;
            }
            states[v as usize] = State::Removed;
            n_removed += 1;
            for &p in &remover.ring.vertices {
                if let Some(key) = key(mesh, states, p) {
                    queue.set(p, key);
                }
            }
        }
        if n_removed == total {
            break;
        }
    }
    task.check()
}

/// The order in which a free vertex is removed: the area of its ring, more for large valences; as bits, which are in the
/// order of the values.
fn key(mesh: &CoarseMesh<'_>, states: &[State], v: u32) -> Option<u64> {
    let State::Free { is_boundary } = states[v as usize] else {
        return None;
    };
    let valence = mesh.faces_of(v).len() + usize::from(is_boundary);
    let penalty = 1.0 + 0.3 * valence.saturating_sub(6) as f64;
    Some((mesh.area_around(v) * penalty).to_bits())
}

/// The buffers of a removal.
#[derive(Default)]
struct Remover {
    ring: Ring,
    plane: Vec<DVec2>,
    ears: Ears,
    triangles: Vec<[u32; 3]>,
    moved: Vec<(u32, DVec2)>,
}

impl Remover {
    /// Removes `v` if the hole can be closed well enough.
    fn remove(
        &mut self,
        mesh: &mut CoarseMesh<'_>,
        located: &mut Located,
        v: u32,
        least: f64,
        most: usize,
    ) -> bool {
        let n_faces = mesh.faces_of(v).len();
        if n_faces < 2 || n_faces > most || !self.ring.find(mesh, v) {
            return false;
        }
        let ring = &self.ring.vertices;
        if ring.len() < 3 || ring.len() > most {
            return false;
        }
        let closes_edge = !self.ring.is_closed && mesh.has_edge(ring[0], ring[ring.len() - 1]);
        if closes_edge
            || !self.ring.flatten(mesh, v, &mut self.plane)
            || !self.ears.clip(mesh, v, ring, &self.plane, least)
        {
            return false;
        }
        self.moved.clear();
        self.moved.push((v, DVec2::ZERO));
        for (i, &slot) in self.ring.faces.iter().enumerate() {
            let next = (i + 1) % ring.len();
            let corners = mesh.faces[slot as usize].map(|c| match c {
                c if c == v => DVec2::ZERO,
                c if c == ring[i] => self.plane[i],
                _ => self.plane[next],
            });
            located.take(slot, corners, &mut self.moved);
        }
        self.triangles.clear();
        let ears = &self.ears.triangles;
        self.triangles
            .extend(ears.iter().map(|ear| ear.map(|i| ring[i])));
        mesh.replace(&self.ring.faces, &self.triangles);
        for &(vertex, place) in &self.moved {
            let slots = self.ring.faces.iter().zip(ears);
            let places = slots.map(|(&slot, ear)| (slot, ear.map(|i| self.plane[i])));
            located.put(vertex, place, places);
        }
        debug_assert!(located.face[v as usize] != NONE);
        true
    }
}
