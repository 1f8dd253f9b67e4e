//! Stage 8: what the layers of the groups add to their clusters.

use super::controls::Controls;
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
    controls: Controls,
}

impl Layers {
    /// The layers of a map. `controls`: those of a map before, on the same corners.
    pub(super) fn new(
        run: &Run<'_>,
        corners: &Corners,
        net: &ControlNet,
        map: &ClusterMap,
        mut controls: Controls,
    ) -> Self {
        controls.take(corners, map);
        Self {
            muscles: Muscles::new(run, corners, net, map),
            drivers: Drivers::new(run, corners, net, map),
            data: Data::new(run, corners, map),
            controls,
        }
    }

    /// Whether bones at bind and recordings are still those that they were made of.
    pub(super) fn fit(&self, run: &Run<'_>) -> bool {
        self.muscles.fit(run) && self.drivers.fit(run) && self.data.fit(run)
    }

    /// Takes the control points of the groups of a map; the other layers stay as they are.
    pub(super) fn take_controls(&mut self, corners: &Corners, map: &ClusterMap) {
        self.controls.take(corners, map);
    }

    /// Gives away the control points.
    pub(super) fn into_controls(self) -> Controls {
        self.controls
    }

    /// Whether there are any.
    pub(super) fn act(&self) -> bool {
        self.act_besides_controls() || self.controls.act()
    }

    /// Whether there are any besides control points.
    pub(super) fn act_besides_controls(&self) -> bool {
        self.muscles.act() || self.drives()
    }

    /// Whether there are drivers or data.
    pub(super) fn drives(&self) -> bool {
        self.drivers.act() || self.data.act()
    }

    /// Whether a layer moves a corner at some time.
    pub(super) fn moves(&self, corner: u32) -> bool {
        self.muscles.displacement(corner).is_some()
            || self.drivers.displacement(corner).is_some()
            || self.data.moves(corner)
            || self.controls.moves(corner)
    }

    /// The displacement of a corner, world, metres. `frame`: as its base moves it.
    pub(super) fn displacement(
        &self,
        corner: u32,
        frame: &CornerFrame,
        plane: &TangentPlane,
    ) -> DVec3 {
        let bulge = self.muscles.displacement(corner).unwrap_or(DVec3::ZERO);
        let added = bulge + self.controls.displacement(corner);
        let mut sum = DVec3::ZERO;
        if added != DVec3::ZERO {
            sum += frame.carry(added);
        }
        if let Some(d) = self.drivers.displacement(corner) {
            sum += frame.carry(d);
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
        self.controls.run(run, stale);
    }
}
