//! Stage 8: the displacements of clusters that the artist moves by hand.

use super::corners::Corners;
use crate::cluster::{Base, ClusterMap, ControlMotion};
use crate::deform::stage::run::Run;
use glam::DVec3;

/// The clusters of all groups that are moved by hand, and their displacements in the latest run.
#[derive(Default)]
pub(super) struct ByHand {
    groups: Vec<OnCorners>,
    /// One a corner, bind space at the size of the world, metres.
    displacements: Vec<DVec3>,
    next: Vec<DVec3>,
    /// One a corner: whether its group is moved by hand.
    moved: Vec<bool>,
    /// By point, at the moment of the latest run.
    offsets: Vec<(u32, DVec3)>,
}

/// A group and its corners.
struct OnCorners {
    motion: ControlMotion,
    /// (point, corner), ascending.
    corners: Vec<(u32, u32)>,
}

impl ByHand {
    /// Takes the groups of a map. Displacements stay those of the latest run, so that the next one finds what changes.
    pub(super) fn take(&mut self, corners: &Corners, map: &ClusterMap) {
        self.moved.clear();
        self.moved.resize(corners.len(), false);
        self.displacements.resize(corners.len(), DVec3::ZERO);
        self.groups.clear();
        for (index, group) in (0u16..).zip(map.groups()) {
            if group.base != Base::Hand {
                continue;
            }
            let of_group = (0u32..).zip(&corners.points);
            let of_group = of_group.filter(|(_, (_, of))| *of == Some(index));
            let mut own: Vec<(u32, u32)> = of_group.map(|(c, (point, _))| (*point, c)).collect();
            own.sort_unstable();
            for &(_, corner) in &own {
                self.moved[corner as usize] = true;
            }
            self.groups.push(OnCorners {
                motion: group.hand.clone(),
                corners: own,
            });
        }
    }

    /// Whether a corner has ever a displacement.
    pub(super) fn act(&self) -> bool {
        let mut groups = self.groups.iter();
        groups.any(|group| !group.motion.is_empty())
    }

    /// Whether the group of a corner is moved by hand.
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
        for group in &self.groups {
            group.motion.at(moment, &mut self.offsets);
            let mut corners = group.corners.iter().peekable();
            for &(point, offset) in &self.offsets {
                while corners.next_if(|c| c.0 < point).is_some() {}
                if let Some(&(_, corner)) = corners.next_if(|c| c.0 == point) {
                    self.next[corner as usize] = offset;
                }
            }
        }
        let pairs = (0u32..).zip(self.displacements.iter().zip(&self.next));
        stale.extend(pairs.filter(|(_, (a, b))| a != b).map(|pair| pair.0));
        std::mem::swap(&mut self.displacements, &mut self.next);
    }
}
