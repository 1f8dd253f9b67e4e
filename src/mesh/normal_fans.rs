//! The faces around each normal of a mesh, in the order of the kernel that transports normals.

use super::Mesh;
use glam::DVec3;
use rayon::prelude::*;

/// Normals in a block: one lane of the kernel each.
pub const LANES: usize = 8;

/// Minimum length of the cross product of a face's edges: twice its area, square metres.
const MIN_CROSS: f64 = 2e-12;

/// Maximum number of faces around a normal that are put in the order of the surface. Beyond it they stand one by one, so that
/// a point where thousands of faces meet does not take quadratic time.
const MAX_ORDERED: usize = 64;

/// Blocks that are built as one task.
const BLOCKS_PER_TASK: usize = 256;

/// The faces around each normal, eight normals a block.
///
/// The faces at a point are a fan: with the point p at the hub and the ring q0, q1, ... around it, face i is (p, q_i, q_i+1).
/// Walking along the ring reads each position once, where the triangles name each neighbour twice and the point in all.
/// Where the ring breaks off (hard edges, more than one fan), a face without constants leads to the next piece. Blocks are
/// as long as their largest fan; lanes that end sooner repeat their last neighbour, without constants.
///
/// Invariant: every index is below the number of points.
#[derive(Debug, Default)]
pub struct NormalFans {
    /// Blocks + 1: the first face of each.
    starts: Vec<u32>,
    /// The point of each normal, a block; the last block repeats its last one.
    hubs: Vec<[u32; LANES]>,
    /// The ring of block b begins at `starts[b] + b`, since it has one entry more than faces.
    rings: Vec<[u32; LANES]>,
    faces: Vec<FanFaces>,
}

/// Constants of one face of eight fans. With the edges e1 = q_i - p, e2 = q_i+1 - p and the unit normal u of the bind face,
/// and n the bind normal. All are zero where the bind face has no area.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FanFaces {
    /// e1 . n, metres.
    pub first: [f32; LANES],
    /// e2 . n, metres.
    pub second: [f32; LANES],
    /// u . n.
    pub cosine: [f32; LANES],
}

/// A block of fans: for face i the ring entries i and i + 1.
#[derive(Clone, Copy)]
pub struct FanBlock<'a> {
    /// The point of each normal.
    pub hubs: &'a [u32; LANES],
    /// One entry more than faces.
    pub ring: &'a [[u32; LANES]],
    /// The faces.
    pub faces: &'a [FanFaces],
}

impl NormalFans {
    pub(super) fn new(mesh: &Mesh) -> Self {
        mesh.topology();
        let n_blocks = mesh.normals.len().div_ceil(LANES);
        let tasks: Vec<Self> = (0..n_blocks.div_ceil(BLOCKS_PER_TASK))
            .into_par_iter()
            .map(|task| {
                let first = task * BLOCKS_PER_TASK;
                let mut part = Self::default();
                for block in first..(first + BLOCKS_PER_TASK).min(n_blocks) {
                    part.push(mesh, block);
                }
                part
            })
            .collect();
        let mut all = Self {
            starts: vec![0],
            ..Self::default()
        };
        for part in tasks {
            let base = all.faces.len() as u32;
            all.starts.extend(part.starts.iter().map(|&end| base + end));
            all.hubs.extend(part.hubs);
            all.rings.extend(part.rings);
            all.faces.extend(part.faces);
        }
        all
    }

    /// Adds a block; its end goes to `starts`.
    fn push(&mut self, mesh: &Mesh, block: usize) {
        let last = mesh.normals.len() - 1;
        let normals: [usize; LANES] = std::array::from_fn(|lane| (block * LANES + lane).min(last));
        let fans = normals.map(|normal| Fan::new(mesh, normal));
        let n_faces = fans.iter().map(|fan| fan.faces.len()).max().unwrap_or(0);
        self.hubs.push(normals.map(|n| mesh.point_of_normal[n]));
        for i in 0..=n_faces {
            let lane = |l: usize| fans[l].ring[i.min(fans[l].ring.len() - 1)];
            self.rings.push(std::array::from_fn(lane));
        }
        for i in 0..n_faces {
            let mut faces = FanFaces::default();
            for (lane, fan) in fans.iter().enumerate() {
                let [first, second, cosine] = fan.faces.get(i).copied().unwrap_or_default();
                faces.first[lane] = first;
                faces.second[lane] = second;
                faces.cosine[lane] = cosine;
            }
            self.faces.push(faces);
        }
        self.starts.push(self.faces.len() as u32);
    }

    /// Number of blocks: normals, rounded up to full blocks.
    pub fn n_blocks(&self) -> usize {
        self.hubs.len()
    }

    /// A block, which holds the normals `index * LANES ..`.
    pub fn block(&self, index: usize) -> FanBlock<'_> {
        let (start, end) = (self.starts[index] as usize, self.starts[index + 1] as usize);
        FanBlock {
            hubs: &self.hubs[index],
            ring: &self.rings[start + index..=end + index],
            faces: &self.faces[start..end],
        }
    }
}

/// The faces around one normal.
struct Fan {
    /// One entry more than faces; the hub itself where there are none.
    ring: Vec<u32>,
    /// `first`, `second` and `cosine` of each.
    faces: Vec<[f32; 3]>,
}

impl Fan {
    fn new(mesh: &Mesh, normal: usize) -> Self {
        let topology = mesh.topology();
        let hub = mesh.point_of_normal[normal];
        let edges = |&face: &u32| {
            let t = topology.triangles[face as usize];
            let at = t.iter().position(|&p| p == hub)?;
            Some((t[(at + 1) % 3], t[(at + 2) % 3]))
        };
        let mut pairs: Vec<(u32, u32)> = topology
            .faces_of_normal(normal as u32)
            .iter()
            .filter_map(edges)
            .collect();
        let ordered = pairs.len() <= MAX_ORDERED;
        let mut fan = Self {
            ring: Vec::with_capacity(pairs.len() + 1),
            faces: Vec::with_capacity(pairs.len()),
        };
        while !pairs.is_empty() {
            // A piece of the ring starts where no face leads to; a closed ring at its first face.
            let start = |&(from, _): &(u32, u32)| !pairs.iter().any(|&(_, to)| to == from);
            let start = if ordered {
                pairs.iter().position(start).unwrap_or(0)
            } else {
                pairs.len() - 1
            };
            let mut pair = pairs.remove(start);
            if !fan.ring.is_empty() {
                fan.faces.push([0.0; 3]);
            }
            fan.ring.push(pair.0);
            loop {
                fan.ring.push(pair.1);
                fan.faces.push(constants(mesh, normal, hub, pair));
                let next = |&(from, _): &(u32, u32)| from == pair.1;
                match pairs.iter().position(next).filter(|_| ordered) {
                    Some(next) => pair = pairs.remove(next),
                    None => break,
                }
            }
        }
        if fan.ring.is_empty() {
            fan.ring.push(hub);
        }
        fan
    }
}

/// `first`, `second` and `cosine` of a face, computed in f64.
fn constants(mesh: &Mesh, normal: usize, hub: u32, (q1, q2): (u32, u32)) -> [f32; 3] {
    let at = |p: u32| mesh.positions[p as usize].as_dvec3();
    let n = mesh.normals[normal].as_dvec3();
    let (e1, e2): (DVec3, DVec3) = (at(q1) - at(hub), at(q2) - at(hub));
    let cross = e1.cross(e2);
    let length = cross.length();
    // NaN counts as no area.
    if length >= MIN_CROSS {
        [e1.dot(n), e2.dot(n), cross.dot(n) / length].map(|c| c as f32)
    } else {
        [0.0; 3]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    /// A square of two triangles with a fifth point above; one smooth normal a point.
    fn roof() -> Mesh {
        let triangles = vec![[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]];
        Mesh {
            positions: vec![
                Vec3::ZERO,
                Vec3::X,
                Vec3::new(1.0, 1.0, 0.0),
                Vec3::Y,
                Vec3::new(0.5, 0.5, 0.5),
            ],
            point_of_vertex: (0..5).collect(),
            normal_of_vertex: (0..5).collect(),
            normals: vec![Vec3::Z; 5],
            point_of_normal: (0..5).collect(),
            triangles,
            ..Mesh::default()
        }
    }

    #[test]
    fn a_closed_ring_reads_each_neighbour_once_more_than_it_has() {
        let mesh = roof();
        let fans = NormalFans::new(&mesh);
        assert_eq!(fans.n_blocks(), 1);
        let block = fans.block(0);
        let lane = |lane: usize| -> Vec<u32> { block.ring.iter().map(|r| r[lane]).collect() };
        assert_eq!(lane(4), [0, 1, 2, 3, 0], "the top, all around");
        assert_eq!(lane(0), [1, 4, 3, 3, 3], "a corner, padded");
        assert_eq!(block.faces.len(), 4);
        let cosine = block.faces.iter().map(|f| f.cosine[4]);
        assert!(cosine.into_iter().all(|c| (c - 0.5f32.sqrt()).abs() < 1e-6));
        assert_eq!(block.faces[0].first[4], -0.5);
        assert_eq!(block.faces[2].cosine[0], 0.0, "no face, no constants");
    }

    #[test]
    fn pieces_of_a_fan_are_joined_by_faces_without_constants() {
        let mut mesh = roof();
        mesh.triangles = vec![[0, 1, 4], [2, 3, 4]];
        let fans = NormalFans::new(&mesh);
        let block = fans.block(0);
        let top: Vec<u32> = block.ring.iter().map(|r| r[4]).collect();
        assert_eq!(top, [0, 1, 2, 3]);
        let cosines: Vec<bool> = block.faces.iter().map(|f| f.cosine[4] != 0.0).collect();
        assert_eq!(cosines, [true, false, true]);
    }

    #[test]
    fn a_normal_without_faces_has_its_own_point_as_ring() {
        let mut mesh = roof();
        mesh.triangles = vec![[0, 1, 2], [1, 1, 3]];
        let fans = NormalFans::new(&mesh);
        let block = fans.block(0);
        assert!(block.ring.iter().all(|r| r[4] == 4));
        assert!(
            block
                .faces
                .iter()
                .all(|f| f.first[4] == 0.0 && f.cosine[3] == 0.0)
        );
    }
}
