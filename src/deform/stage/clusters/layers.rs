//! Stage 8: what the layers of the groups add to their clusters.

use super::corners::Corners;
use super::data::Data;
use super::drivers::Drivers;
use super::muscles::Muscles;
use crate::cluster::{ClusterMap, ControlNet, CornerFrame, TangentPlane};
use crate::deform::stage::run::Run;
use glam::{DVec3, Vec3};

/// The layers of all groups on their corners.
#[derive(Default)]
pub(super) struct Layers {
    muscles: Muscles,
    drivers: Drivers,
    data: Data,
}

impl Layers {
    /// The layers of a map.
    pub(super) fn new(
        run: &Run<'_>,
        corners: &Corners,
        net: &ControlNet,
        map: &ClusterMap,
    ) -> Self {
        Self {
            muscles: Muscles::new(run, corners, net, map),
            drivers: Drivers::new(run, corners, net, map),
            data: Data::new(run, corners, map),
        }
    }

    /// Whether bones at bind and recordings are still those that they were made of.
    pub(super) fn fit(&self, run: &Run<'_>) -> bool {
        self.muscles.fit(run) && self.drivers.fit(run) && self.data.fit(run)
    }

    /// Whether there are any.
    pub(super) fn act(&self) -> bool {
        self.muscles.act() || self.drives()
    }

    /// Whether there are any besides muscles.
    pub(super) fn drives(&self) -> bool {
        self.drivers.act() || self.data.act()
    }

    /// Whether a layer moves a corner at some time.
    pub(super) fn moves(&self, corner: u32) -> bool {
        self.muscles.displacement(corner).is_some()
            || self.drivers.displacement(corner).is_some()
            || self.data.moves(corner)
    }

    /// The displacement of a corner, world, metres. `frame`: as its base moves it.
    pub(super) fn displacement(
        &self,
        corner: u32,
        frame: &CornerFrame,
        plane: &TangentPlane,
    ) -> DVec3 {
        let muscles = self.muscles.displacement(corner);
        let mut sum = muscles.map_or(DVec3::ZERO, |d| frame.rotation * d);
        if let Some(d) = self.drivers.displacement(corner) {
            sum += frame.rotation * d;
        }
        if let Some(displaced) = self.data.displaced(corner) {
            sum += displaced.world;
            if displaced.along_normal != 0.0 {
                sum += frame.jacobian * plane.normal * displaced.along_normal;
            }
        }
        sum
    }

    /// Brings the displacements to the pose and its moment; adds the corners that move to `stale`. `before`: the shape of the
    /// stages before, n_points.
    pub(super) fn run(
        &mut self,
        run: &Run<'_>,
        corners: &Corners,
        before: &[Vec3],
        stale: &mut Vec<u32>,
    ) {
        self.muscles.run(run, stale);
        self.drivers.run(run, before, stale);
        self.data.run(run, corners, stale);
    }
}
