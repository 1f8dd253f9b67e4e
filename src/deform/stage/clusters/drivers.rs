//! Stage 8: the displacements of clusters by the drivers of their groups.

use super::corners::Corners;
use super::muscles::bone;
use crate::cluster::procedural::{BindPoint, Bone, Sink};
use crate::cluster::{ClusterMap, ControlNet, DriverLayer};
use crate::deform::driver_reader::{DriverReader, PoseInputs};
use crate::deform::stage::run::Run;
use crate::skeleton::JointId;
use glam::{DVec3, Vec3};

/// The drivers of all groups on their corners, and their displacements in the latest run.
#[derive(Default)]
pub(super) struct Drivers {
    layers: Vec<OnCorners>,
    /// One a corner, bind space at the size of the world, metres; empty without drivers.
    displacements: Vec<DVec3>,
    /// One a corner: whether a driver moves it at some time.
    moved: Vec<bool>,
    /// The bones of all layers that have one, as they were at bind.
    bones: Vec<([JointId; 2], Option<Bone>)>,
    unit: f64,
}

/// A driver on the corners of its group.
struct OnCorners {
    reader: DriverReader,
    corners: Vec<u32>,
    /// At an amount of 1: one for each of `corners`.
    units: Vec<DVec3>,
    /// In the latest run, metres; `None` before the first.
    amount: Option<f64>,
}

impl Drivers {
    /// The drivers of a map. One that cannot be evaluated, as without its bone or its channel, is left out.
    pub(super) fn new(
        run: &Run<'_>,
        corners: &Corners,
        net: &ControlNet,
        map: &ClusterMap,
    ) -> Self {
        let (mut layers, mut bones) = (Vec::new(), Vec::new());
        for (group, layer) in map.drivers().filter(|(_, driver)| !driver.muted) {
            let bone = layer.bone.map(|joints| {
                let found = bone(run, joints, corners.unit);
                bones.push((joints, found));
                found
            });
            layers.extend(OnCorners::new(
                run,
                (corners, net),
                group,
                layer,
                bone.flatten(),
            ));
        }
        let mut moved = vec![false; if layers.is_empty() { 0 } else { corners.len() }];
        for layer in &layers {
            for (&corner, unit) in layer.corners.iter().zip(&layer.units) {
                moved[corner as usize] |= *unit != DVec3::ZERO;
            }
        }
        Self {
            displacements: vec![DVec3::ZERO; moved.len()],
            moved,
            layers,
            bones,
            unit: corners.unit,
        }
    }

    /// Whether their bones at bind are still those of the skin.
    pub(super) fn fit(&self, run: &Run<'_>) -> bool {
        let mut bones = self.bones.iter();
        bones.all(|&(joints, known)| bone(run, joints, self.unit) == known)
    }

    /// Whether there are any.
    pub(super) fn act(&self) -> bool {
        !self.layers.is_empty()
    }

    /// The displacement of a corner; `None` where no driver moves it.
    pub(super) fn displacement(&self, corner: u32) -> Option<DVec3> {
        let moved = self.moved.get(corner as usize).copied()?;
        moved.then(|| self.displacements[corner as usize])
    }

    /// Brings the displacements to the pose and its moment; adds the corners that move to `stale`.
    pub(super) fn run(&mut self, run: &Run<'_>, before: &[Vec3], stale: &mut Vec<u32>) {
        let input = run.input;
        let pose = PoseInputs {
            skeleton: input.skeleton,
            rest_world: input.rest_world,
            locals: input.locals,
            world: input.world,
            positions: before,
            moment: input.moment,
        };
        let mut any = false;
        for layer in &mut self.layers {
            let amount = layer.reader.amount(&pose);
            if layer.amount.map(f64::to_bits) != Some(amount.to_bits()) {
                layer.amount = Some(amount);
                stale.extend_from_slice(&layer.corners);
                any = true;
            }
        }
        if !any {
            return;
        }
        self.displacements.fill(DVec3::ZERO);
        for layer in &self.layers {
            let amount = layer.amount.unwrap_or(0.0);
            for (&corner, unit) in layer.corners.iter().zip(&layer.units) {
                self.displacements[corner as usize] += *unit * amount;
            }
        }
    }
}

impl OnCorners {
    fn new(
        run: &Run<'_>,
        (corners, net): (&Corners, &ControlNet),
        group: u16,
        layer: &DriverLayer,
        bone: Option<Bone>,
    ) -> Option<Self> {
        let weight = |point: u32| {
            let at = layer.weights.binary_search_by_key(&point, |w| w.0);
            at.map_or(1.0, |at| layer.weights[at].1)
        };
        let of_group = (0u32..).zip(&corners.points);
        let of_group = of_group.filter(|(_, (_, of))| *of == Some(group));
        let (which, points): (Vec<u32>, Vec<BindPoint>) = of_group
            .map(|(corner, &(point, _))| {
                let bind = BindPoint {
                    position: net.positions[corner as usize],
                    normal: net.planes[corner as usize].normal,
                    area: 0.0,
                    mask: weight(point),
                };
                (corner, bind)
            })
            .unzip();
        let recordings = run.input.clusters.map(|clusters| &**clusters.recordings);
        let sink = Sink::new(&layer.settings.sink, bone, &points).ok()?;
        Some(Self {
            reader: DriverReader::new(layer, recordings)?,
            corners: which,
            units: sink.units().to_vec(),
            amount: None,
        })
    }
}
