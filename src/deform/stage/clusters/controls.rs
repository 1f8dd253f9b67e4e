//! Stage 8: the displacements of clusters by control points: by hand each cluster is its own, else those of a lattice or a
//! cage.

use super::corners::Corners;
use crate::cluster::cage::Cage;
use crate::cluster::controls::dense;
use crate::cluster::lattice::{Lattice, LatticeSettings};
use crate::cluster::{Base, CageMesh, ClusterGroup, ClusterMap, ControlMotion, is_slow_to_bind};
use crate::deform::stage::run::Run;
use crate::task::Task;
use glam::DVec3;
use std::sync::Arc;

/// The clusters of all groups that have control points, and their displacements in the latest run.
#[derive(Default)]
pub(super) struct Controls {
    groups: Vec<OnCorners>,
    /// One a corner, bind space at the size of the world, metres.
    displacements: Vec<DVec3>,
    next: Vec<DVec3>,
    /// One a corner: whether control points move it.
    moved: Vec<bool>,
    /// By control, at the moment of the latest run.
    offsets: Vec<(u32, DVec3)>,
    /// Metres of the world in one unit of the mesh.
    unit: f64,
}

/// A group and its corners.
struct OnCorners {
    motion: ControlMotion,
    rest: Rest,
    /// (point, corner), ascending.
    corners: Vec<(u32, u32)>,
    bound: Bound,
    /// What `values` are of; `None` before the first run.
    shown: Option<Vec<(u32, DVec3)>>,
    /// One for each of `corners`.
    values: Vec<DVec3>,
}

/// Control points at rest.
#[derive(PartialEq)]
enum Rest {
    Clusters,
    Lattice(LatticeSettings),
    Cage(Arc<CageMesh>),
}

/// How the corners follow the control points.
enum Bound {
    /// Each is one.
    Clusters,
    Lattice(Lattice),
    Cage(Arc<Cage>),
}

impl Rest {
    /// The control points of a group; `None` where it has none.
    fn of(group: &ClusterGroup) -> Option<Self> {
        match group.base {
            Base::Hand => Some(Self::Clusters),
            Base::Lattice => {
                let lattice = group.lattice.as_ref()?;
                Some(Self::Lattice(lattice.settings))
            }
            Base::Cage => Some(Self::Cage(group.cage.as_ref()?.mesh.clone())),
            Base::Stack | Base::Lbs | Base::Dqs | Base::Fixed | Base::Data => None,
        }
    }

    /// Binds corners to them; `None` where the settings do not allow it, which the checks of the document say.
    fn bind(&self, corners: &[(u32, u32)], of: &Corners) -> Option<Bound> {
        let points = || -> Vec<DVec3> {
            let points = corners.iter().map(|c| of.rest[c.1 as usize]);
            points.collect()
        };
        match self {
            Self::Clusters => Some(Bound::Clusters),
            Self::Lattice(settings) => {
                let lattice = Lattice::new(settings, &points()).ok()?;
                Some(Bound::Lattice(lattice))
            }
            Self::Cage(mesh) => {
                let own = || corners.iter().map(|corner| corner.0);
                let mut known = of.cages.iter();
                if let Some(known) = known.find(|known| known.is_of(mesh, own())) {
                    return Some(Bound::Cage(known.cage()?.clone()));
                }
                // The layout that is being computed has it.
                if is_slow_to_bind(mesh, corners.len()) {
                    return None;
                }
                let cage = Cage::new(mesh.vertices(), mesh.triangles(), &points(), &Task::new());
                Some(Bound::Cage(Arc::new(cage.ok()?)))
            }
        }
    }
}

impl Controls {
    /// Takes the groups of a map. Displacements stay those of the latest run, so that the next one finds what changes.
    pub(super) fn take(&mut self, corners: &Corners, map: &ClusterMap) {
        self.unit = corners.unit;
        self.moved.clear();
        self.moved.resize(corners.len(), false);
        self.displacements.resize(corners.len(), DVec3::ZERO);
        let mut before = std::mem::take(&mut self.groups);
        for (index, group) in (0u16..).zip(map.groups()) {
            let Some((rest, motion)) = Rest::of(group).zip(group.motion()) else {
                continue;
            };
            let of_group = (0u32..).zip(&corners.points);
            let of_group = of_group.filter(|(_, (_, of))| *of == Some(index));
            let mut own: Vec<(u32, u32)> = of_group.map(|(c, (point, _))| (*point, c)).collect();
            own.sort_unstable();
            let same = before
                .iter()
                .position(|known| known.rest == rest && known.corners == own);
            let known = same.map(|at| before.swap_remove(at));
            let bound = match known {
                Some(known) => Some((known.bound, known.shown, known.values)),
                None => rest
                    .bind(&own, corners)
                    .map(|bound| (bound, None, Vec::new())),
            };
            let Some((bound, shown, values)) = bound else {
                continue;
            };
            for &(_, corner) in &own {
                self.moved[corner as usize] = true;
            }
            self.groups.push(OnCorners {
                motion: motion.clone(),
                rest,
                corners: own,
                bound,
                shown,
                values,
            });
        }
    }

    /// Whether a corner has ever a displacement.
    pub(super) fn act(&self) -> bool {
        let mut groups = self.groups.iter();
        groups.any(|group| !group.motion.is_empty())
    }

    /// Whether control points move a corner.
    pub(super) fn moves(&self, corner: u32) -> bool {
        self.moved.get(corner as usize).copied().unwrap_or(false)
    }

    /// The displacement of a corner.
    pub(super) fn displacement(&self, corner: u32) -> DVec3 {
        let found = self.displacements.get(corner as usize);
        found.copied().unwrap_or(DVec3::ZERO)
    }

    /// Brings the displacements to the moment; adds the corners that move to `stale`.
    pub(super) fn run(&mut self, run: &Run<'_>, stale: &mut Vec<u32>) {
        self.next.clear();
        self.next.resize(self.displacements.len(), DVec3::ZERO);
        let moment = run.input.moment;
        for group in &mut self.groups {
            group.motion.at(moment, &mut self.offsets);
            if group.shown.as_ref() != Some(&self.offsets) {
                group.show(&self.offsets, self.unit);
            }
            for (&(_, corner), value) in group.corners.iter().zip(&group.values) {
                self.next[corner as usize] = *value;
            }
        }
        let pairs = (0u32..).zip(self.displacements.iter().zip(&self.next));
        stale.extend(pairs.filter(|(_, (a, b))| a != b).map(|pair| pair.0));
        std::mem::swap(&mut self.displacements, &mut self.next);
    }
}

impl OnCorners {
    /// Displaces its corners by the displacements of the control points, ascending by control. Those of lattices and cages have
    /// the units of the mesh.
    fn show(&mut self, offsets: &[(u32, DVec3)], unit: f64) {
        self.values.clear();
        self.values.resize(self.corners.len(), DVec3::ZERO);
        let controls = |n| dense(offsets.iter().copied(), n);
        match (&self.bound, &self.rest) {
            (Bound::Lattice(lattice), Rest::Lattice(settings)) => {
                lattice.add(&controls(settings.n_controls()), &mut self.values);
            }
            (Bound::Cage(cage), Rest::Cage(mesh)) => {
                cage.add(&controls(mesh.vertices().len()), &mut self.values);
            }
            _ => {
                let mut corners = self.corners.iter().zip(&mut self.values).peekable();
                for &(point, offset) in offsets {
                    while corners.next_if(|(c, _)| c.0 < point).is_some() {}
                    if let Some((_, value)) = corners.next_if(|(c, _)| c.0 == point) {
                        *value = offset;
                    }
                }
            }
        }
        if self.rest != Rest::Clusters {
            for value in &mut self.values {
                *value *= unit;
            }
        }
        let shown = self.shown.get_or_insert_default();
        shown.clear();
        shown.extend_from_slice(offsets);
    }
}
