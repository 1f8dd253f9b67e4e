//! Volume: the change of the volume that closed surfaces enclose.

use super::ShapeView;
use crate::mesh::Mesh;
use glam::DVec3;
use rayon::prelude::*;

/// Faces in one partial sum; fixed, so that sums do not depend on the number of threads.
const FACES_PER_SUM: usize = 4096;

/// Parts with less than this share of the cubed diagonal as volume are flat.
const MIN_VOLUME: f64 = 1e-9;

/// Joints with less than this share of the rest volume have no change.
const MIN_SHARE: f64 = 1e-3;

/// The closed parts of a mesh. Depends on its faces alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Enclosure {
    /// n_triangles: the island of each face.
    island_of_face: Vec<u32>,
    /// One an island ([`crate::mesh::islands`]).
    closed: Vec<bool>,
    /// One an island: its lowest point.
    first_point: Vec<u32>,
}

impl Enclosure {
    /// An island is closed if its faces run along each edge equally often in both directions; coincident points count
    /// as one.
    pub fn of(mesh: &Mesh) -> Self {
        let topology = mesh.topology();
        let n_points = mesh.n_points();
        let island = topology.islands(n_points);
        let mut place: Vec<u32> = (0..n_points as u32).collect();
        for point in 0..n_points as u32 {
            // Each ring once, from its lowest point: thousands of points may coincide.
            if place[point as usize] != point {
                continue;
            }
            let mut next = topology.next_coincident(point);
            while let Some(other) = next.filter(|&o| o != point) {
                place[other as usize] = point;
                next = topology.next_coincident(other);
            }
        }
        let mut edges: Vec<(u64, bool)> = Vec::with_capacity(topology.triangles.len() * 3);
        for t in &topology.triangles {
            let [a, b, c] = t.map(|p| place[p as usize]);
            if a != b && b != c && c != a {
                edges.extend([(a, b), (b, c), (c, a)].map(|(from, to)| {
                    let key = u64::from(from.min(to)) << 32 | u64::from(from.max(to));
                    (key, from < to)
                }));
            }
        }
        edges.par_sort_unstable();
        let n_islands = island.iter().max().map_or(0, |&i| i as usize + 1);
        let mut closed = vec![false; n_islands];
        let mut open = vec![false; n_islands];
        for edge in edges.chunk_by(|a, b| a.0 == b.0) {
            let at = island[(edge[0].0 >> 32) as usize] as usize;
            let forward = edge.iter().filter(|(_, forward)| *forward).count();
            closed[at] = true;
            open[at] |= 2 * forward != edge.len();
        }
        let mut first_point = vec![u32::MAX; n_islands];
        for (point, &i) in island.iter().enumerate() {
            let first = &mut first_point[i as usize];
            *first = (*first).min(point as u32);
        }
        Self {
            island_of_face: topology
                .triangles
                .iter()
                .map(|t| island[t[0] as usize])
                .collect(),
            closed: closed.iter().zip(&open).map(|(c, o)| *c && !o).collect(),
            first_point,
        }
    }

    /// Whether some part is closed.
    pub fn any_closed(&self) -> bool {
        self.closed.contains(&true)
    }
}

/// The volume of a part, cubic metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Volume {
    /// It has holes or is flat.
    Open,
    /// It is closed.
    Closed {
        /// In the inflated bind shape.
        rest: f64,
        /// In the pose; infinite where a position is not finite.
        posed: f64,
    },
}

impl Volume {
    /// `V'/V - 1`; `None` where it is undefined.
    pub fn change(self) -> Option<f64> {
        match self {
            Self::Open => None,
            Self::Closed { rest, posed } => Some(change(rest, posed)),
        }
    }
}

/// `posed / rest - 1`; infinite where that is not a number.
fn change(rest: f64, posed: f64) -> f64 {
    let change = posed / rest - 1.0;
    if change.is_finite() {
        change
    } else {
        f64::INFINITY
    }
}

/// A connected part of a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartVolume {
    /// Its lowest point.
    pub first_point: u32,
    /// The number of its faces.
    pub n_faces: usize,
    /// Its volume.
    pub volume: Volume,
}

/// The share of a joint in the volume of all closed parts: the volume of its limb less those of the limbs below.
/// **Approximate**: the surface is cut by its weights, and each cut is closed as if it went through the position of the
/// joint below it. The shares of a chain add up to the whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointVolume {
    /// The joint of the skin.
    pub joint: u16,
    /// Cubic metres in the inflated bind shape.
    pub rest: f64,
    /// Cubic metres in the pose.
    pub posed: f64,
    /// `posed / rest - 1`; `None` for a joint whose share is too small to compare.
    pub change: Option<f64>,
}

/// The change of the volume of one instance in a pose.
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeReport {
    /// All closed parts together; [`Volume::Open`] if there is none.
    pub closed_parts: Volume,
    /// Whether the whole mesh is closed: then [`VolumeReport::closed_parts`] is its volume.
    pub is_closed: bool,
    /// Each part that has a face, in order of its lowest point.
    pub parts: Vec<PartVolume>,
    /// Joints that move a closed part, ascending.
    pub joints: Vec<JointVolume>,
}

impl VolumeReport {
    /// The report of a shape. `enclosure`: of its mesh.
    pub fn of(shape: &ShapeView<'_>, enclosure: &Enclosure) -> Self {
        let triangles = shape.triangles();
        let n_islands = enclosure.closed.len();
        let complete = triangles.len() == enclosure.island_of_face.len();
        let triangles = if complete { triangles } else { &[] };
        let centre = [mean(shape.inflated), mean(shape.posed)];
        let n_joints = shape.palette.n_joints();
        let runs: Vec<Sums> = triangles
            .par_chunks(FACES_PER_SUM)
            .enumerate()
            .map(|(run, faces)| {
                let mut sums = Sums::new(n_joints);
                for (i, t) in faces.iter().enumerate() {
                    let island = enclosure.island_of_face[run * FACES_PER_SUM + i];
                    sums.add(shape, t, island, enclosure, centre);
                }
                sums
            })
            .collect();
        let mut islands = vec![([0.0; 2], 0usize); n_islands];
        let mut fluxes = vec![Flux::default(); n_joints];
        for run in runs {
            for (island, volume, faces) in run.islands {
                let at = &mut islands[island as usize];
                at.0[0] += volume[0];
                at.0[1] += volume[1];
                at.1 += faces;
            }
            for (sum, flux) in fluxes.iter_mut().zip(run.joints) {
                sum.add(&flux);
            }
        }
        let shares = shares(shape, &fluxes, centre);
        Self::assemble(shape, enclosure, &islands, &shares)
    }

    fn assemble(
        shape: &ShapeView<'_>,
        enclosure: &Enclosure,
        islands: &[([f64; 2], usize)],
        shares: &[Option<[f64; 2]>],
    ) -> Self {
        let least = MIN_VOLUME * shape.diagonal().powi(3);
        let volume = |closed: bool, [rest, posed]: [f64; 2]| {
            if closed && rest.abs() > least {
                // An inverted surface encloses as much as one that is not.
                let sign = rest.signum();
                Volume::Closed {
                    rest: rest * sign,
                    posed: if posed.is_finite() {
                        posed * sign
                    } else {
                        f64::INFINITY
                    },
                }
            } else {
                Volume::Open
            }
        };
        let mut parts: Vec<PartVolume> = islands
            .iter()
            .enumerate()
            .filter(|(_, (_, n_faces))| *n_faces > 0)
            .map(|(i, &(sums, n_faces))| PartVolume {
                first_point: enclosure.first_point[i],
                n_faces,
                volume: volume(enclosure.closed[i], sums),
            })
            .collect();
        parts.sort_by_key(|p| p.first_point);
        let mut all = [0.0; 2];
        for part in &parts {
            if let Volume::Closed { rest, posed } = part.volume {
                all[0] += rest;
                all[1] += posed;
            }
        }
        let closed = |p: &PartVolume| p.volume != Volume::Open;
        let any = parts.iter().any(closed);
        Self {
            closed_parts: volume(any, all),
            is_closed: any && parts.iter().all(closed),
            joints: shares
                .iter()
                .enumerate()
                .filter_map(|(joint, share)| Some((joint, share.filter(|_| any)?)))
                .map(|(joint, [rest, posed])| JointVolume {
                    joint: joint as u16,
                    rest,
                    posed,
                    change: (rest > MIN_SHARE * all[0]).then(|| change(rest, posed)),
                })
                .collect(),
            parts,
        }
    }
}

/// The faces that a joint moves, by weight, in both shapes.
#[derive(Clone, Copy, Debug, Default)]
struct Flux {
    /// `sum w (c - centre) . n A / 3`, c the face's centroid.
    moment: [f64; 2],
    /// `sum w n A / 3`.
    area: [DVec3; 2],
    /// Whether any face is moved.
    moves: bool,
}

impl Flux {
    fn add(&mut self, other: &Self) {
        for i in 0..2 {
            self.moment[i] += other.moment[i];
            self.area[i] += other.area[i];
        }
        self.moves |= other.moves;
    }
}

/// Each joint's share of the volume, at rest and posed; `None` where it moves no face.
///
/// With s the sum of the weights of a joint and all joints below it, `sum s (c - o) . n A / 3` is the volume of that
/// limb: the term of the cut vanishes if it goes through o, the position of the joint. The volume of a joint alone is
/// its limb less the limbs directly below. (Cones from the position of each joint to its own faces would leave out the
/// far ends, which rotate with a bend: they differ by a sixth for an elbow that keeps its volume.)
fn shares(shape: &ShapeView<'_>, fluxes: &[Flux], centre: [DVec3; 2]) -> Vec<Option<[f64; 2]>> {
    let n = fluxes.len();
    let above = |joint: usize| shape.segments.above(joint as u16).map(usize::from);
    let mut limbs = fluxes.to_vec();
    for (joint, flux) in fluxes.iter().enumerate() {
        let mut next = above(joint);
        // A tree of n joints is not deeper than n.
        for _ in 0..n {
            let Some(limb) = next.and_then(|a| limbs.get_mut(a)) else {
                break;
            };
            limb.add(flux);
            next = next.and_then(above);
        }
    }
    let volumes: Vec<[f64; 2]> = limbs
        .iter()
        .zip(shape.palette.motions())
        .map(|(limb, motion)| {
            let rest = motion.inflated_origin;
            let origins = [rest, motion.rigid().transform_point3(rest)];
            [0, 1].map(|i| limb.moment[i] - (origins[i] - centre[i]).dot(limb.area[i]))
        })
        .collect();
    let mut shares = volumes.clone();
    for (joint, volume) in volumes.iter().enumerate() {
        if let Some(share) = above(joint).and_then(|a| shares.get_mut(a)) {
            share[0] -= volume[0];
            share[1] -= volume[1];
        }
    }
    let known = shares.into_iter().zip(fluxes);
    known
        .map(|(share, flux)| Some(share).filter(|_| flux.moves))
        .collect()
}

/// Sums over a run of faces.
struct Sums {
    /// Island, volumes and faces; neighbours in memory are mostly of one island.
    islands: Vec<(u32, [f64; 2], usize)>,
    joints: Vec<Flux>,
}

impl Sums {
    fn new(n_joints: usize) -> Self {
        Self {
            islands: Vec::new(),
            joints: vec![Flux::default(); n_joints],
        }
    }

    fn add(
        &mut self,
        shape: &ShapeView<'_>,
        t: &[u32; 3],
        island: u32,
        enclosure: &Enclosure,
        centre: [DVec3; 2],
    ) {
        let mut corners = [
            t.map(|p| shape.at_rest(p as usize)),
            t.map(|p| shape.in_pose(p as usize)),
        ];
        for i in 0..2 {
            corners[i] = corners[i].map(|p| p - centre[i]);
        }
        let volumes = corners.map(|[a, b, c]| a.dot(b.cross(c)) / 6.0);
        if self.islands.last().is_none_or(|last| last.0 != island) {
            self.islands.push((island, [0.0; 2], 0));
        }
        if let Some(last) = self.islands.last_mut() {
            last.1[0] += volumes[0];
            last.1[1] += volumes[1];
            last.2 += 1;
        }
        if !enclosure.closed[island as usize] {
            return;
        }
        // (c - centre) . n A / 3 is the volume of the cone from the centre.
        let areas = corners.map(|[a, b, c]| (b - a).cross(c - a) / 6.0);
        let points = t.iter().filter(|&&p| (p as usize) < shape.influences.len());
        for (joint, weight) in points.flat_map(|&p| shape.influences.row(p).iter()) {
            if let Some(flux) = self.joints.get_mut(joint as usize) {
                let weight = f64::from(weight) / 3.0;
                flux.add(&Flux {
                    moment: volumes.map(|v| weight * v),
                    area: areas.map(|a| weight * a),
                    moves: weight > 0.0,
                });
            }
        }
    }
}

/// The mean of the points, summed on one thread.
fn mean(points: &[glam::Vec3]) -> DVec3 {
    let sum: DVec3 = points.iter().map(|p| p.as_dvec3()).sum();
    sum / points.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::super::shape::tests::Tube;
    use super::*;
    use glam::Vec3;

    /// The tube with a disc on both ends.
    fn closed_tube() -> Tube {
        let mut tube = Tube::with_caps();
        tube.turn(glam::DQuat::from_rotation_z(0.3));
        tube
    }

    #[test]
    fn a_closed_tube_keeps_its_prism_and_an_open_one_encloses_nothing() {
        let open = Tube::new();
        let report = VolumeReport::of(&open.view(), &Enclosure::of(&open.mesh));
        assert_eq!(report.closed_parts, Volume::Open);
        assert!(!report.is_closed && report.joints.is_empty());
        assert_eq!(report.parts.len(), 1);

        let mut tube = closed_tube();
        let enclosure = Enclosure::of(&tube.mesh);
        let report = VolumeReport::of(&tube.view(), &enclosure);
        // A prism over a regular 16-gon.
        let prism = 2.0 * 8.0 * (std::f64::consts::TAU / 16.0).sin();
        let Volume::Closed { rest, .. } = report.closed_parts else {
            panic!("{report:?}")
        };
        assert!((rest - prism).abs() < 1e-6, "{rest} {prism}");
        assert!(report.is_closed && report.closed_parts.change().unwrap().abs() < 1e-6);
        for p in &mut tube.posed {
            *p *= 0.5;
        }
        let report = VolumeReport::of(&tube.view(), &enclosure);
        assert!((report.closed_parts.change().unwrap() + 0.875).abs() < 1e-6);
    }

    #[test]
    fn one_joints_share_of_a_closed_part_is_all_of_it() {
        let tube = closed_tube();
        let report = VolumeReport::of(&tube.view(), &Enclosure::of(&tube.mesh));
        let Volume::Closed { rest, posed } = report.closed_parts else {
            panic!("{report:?}")
        };
        let [joint] = report.joints[..] else {
            panic!("{report:?}")
        };
        assert!((joint.rest - rest).abs() < 1e-9 && (joint.posed - posed).abs() < 1e-6);
    }

    #[test]
    fn a_flat_surface_encloses_nothing() {
        let mut tube = closed_tube();
        for p in &mut tube.inflated {
            *p *= Vec3::new(1.0, 1.0, 0.0);
        }
        let report = VolumeReport::of(&tube.view(), &Enclosure::of(&tube.mesh));
        assert_eq!(report.closed_parts, Volume::Open);
    }
}
