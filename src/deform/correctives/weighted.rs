//! Weighted pose space deformation: each point measures the distance of poses by the joints that move it.
//!
//! After Kurihara & Miyata 2004. Their formula weighs joints by the skin weights of the vertex; here the squared distance
//! of driver j counts `lambda_j l_jv` with `l_jv = max(w_vj, w_v,parent(j))`, divided by their sum over the drivers of the
//! set and rounded to sixteenths, at least one. Few points then differ, and those that are alike share one solve: their
//! class. The lowest step keeps the samples apart for every class, so that each is reproduced exactly.

use super::{Correctives, Driver, WeightsWork};
use crate::math::Transform;
use crate::skeleton::{JointId, Skeleton};
use crate::skinning::{CHUNK, Influences, RowRef, Rows};
use std::collections::HashMap;

/// Steps of a factor.
const STEPS: f64 = 16.0;

/// The class of each point of a chunk that has a displacement; 0 of others.
pub(in crate::deform) type PointClasses = [u16; CHUNK];

/// The most classes; points of others count the drivers alike.
const MOST: usize = 4096;

/// A driver of a weighted set.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Slots {
    set: usize,
    /// The joint's place in the skin, and that of the joint that it bends against.
    joint: Option<u16>,
    parent: Option<u16>,
}

/// The classes of the points of a mesh, and the weights of the samples for each.
#[derive(Debug, Default)]
pub(in crate::deform) struct Weighing {
    slots: Vec<Slots>,
    /// One a class; the first counts the drivers as the sets say.
    solutions: Vec<Correctives>,
    /// By the factors of the drivers, in steps.
    class_of: HashMap<Vec<u8>, u16>,
}

impl Weighing {
    /// The weighing of samples. `joints`: those of the first skin of the mesh; another has its own at their places.
    pub(in crate::deform) fn new(correctives: &Correctives, joints: &[JointId]) -> Self {
        Self {
            slots: slots(correctives, joints).collect(),
            solutions: vec![correctives.clone()],
            class_of: HashMap::new(),
        }
    }

    /// Whether it is that of other samples with the same poses, for the same skin.
    pub(in crate::deform) fn fits(&self, correctives: &Correctives, joints: &[JointId]) -> bool {
        let known = self.solutions.first();
        known.is_some_and(|known| known.weighs_as(correctives))
            && slots(correctives, joints).eq(self.slots.iter().copied())
    }

    /// The class of a point.
    pub(in crate::deform) fn class(&mut self, row: RowRef<'_>) -> u16 {
        let Some(factors) = self.factors(row) else {
            return 0;
        };
        if let Some(&class) = self.class_of.get(&factors) {
            return class;
        }
        let scaled = factors.iter().map(|&steps| f64::from(steps) / STEPS);
        let solved = self.solutions[0].with_lambdas(scaled);
        let class = match solved {
            Ok(solved) if self.solutions.len() < MOST => {
                self.solutions.push(solved);
                (self.solutions.len() - 1) as u16
            }
            // The sets as they are have a solution.
            _ => 0,
        };
        self.class_of.insert(factors, class);
        class
    }

    /// Finds the classes of points of a chunk, by their places in it.
    pub(in crate::deform) fn classify(
        &mut self,
        rows: &Rows,
        points: impl Iterator<Item = usize>,
        classes: &mut PointClasses,
    ) {
        for i in points.filter(|i| *i < rows.len()) {
            classes[i] = self.class(rows.row(i));
        }
    }

    /// The number of classes so far.
    pub(in crate::deform) fn n_classes(&self) -> usize {
        self.solutions.len()
    }

    /// The weights of all samples for a class in a pose, before their strength.
    pub(in crate::deform) fn weights<'a>(
        &self,
        class: u16,
        drivers: Option<&[Driver]>,
        skeleton: &Skeleton,
        locals: &[Transform],
        work: &'a mut WeightsWork,
    ) -> &'a [f64] {
        self.solutions[usize::from(class)].weights_by(drivers, skeleton, locals, work)
    }

    /// The factors of the drivers for a point, in steps; `None` where none of them moves it.
    fn factors(&self, row: RowRef<'_>) -> Option<Vec<u8>> {
        let weight = |slot: Option<u16>| slot.map_or(0.0, |slot| f64::from(row.weight_of(slot)));
        let own = |slots: &Slots| weight(slots.joint).max(weight(slots.parent));
        let mut factors = Vec::with_capacity(self.slots.len());
        let mut any = false;
        for set in self.slots.chunk_by(|a, b| a.set == b.set) {
            let total: f64 = set.iter().map(own).sum();
            any |= total > 0.0;
            factors.extend(set.iter().map(|slots| {
                let share = if total > 0.0 { own(slots) / total } else { 1.0 };
                (share * STEPS).round().clamp(1.0, STEPS) as u8
            }));
        }
        any.then_some(factors)
    }
}

/// The drivers of weighted sets in a skin.
fn slots<'a>(
    correctives: &'a Correctives,
    joints: &'a [JointId],
) -> impl Iterator<Item = Slots> + 'a {
    let slot = |joint: JointId| {
        let index = joints.iter().position(|j| *j == joint)?;
        u16::try_from(index).ok()
    };
    let drivers = correctives.weighted_drivers();
    drivers.map(move |(set, driver)| Slots {
        set,
        joint: slot(driver.joint),
        parent: driver.relative_to.and_then(slot),
    })
}

/// The weights of all samples at single points of a mesh in one pose.
#[derive(Debug)]
pub struct PointWeights {
    weighing: Option<Weighing>,
    influences: Influences,
    /// One a class: n_samples.
    weights: HashMap<u16, Vec<f64>>,
    /// Those of another skin than the first of the mesh.
    drivers: Option<Vec<Driver>>,
    skeleton: std::sync::Arc<Skeleton>,
    locals: Vec<Transform>,
}

impl PointWeights {
    /// The weights in a pose. `joints`: those of the first skin of the mesh; `drivers`: those of another skin
    /// ([`Driver::in_skin`]); `locals`: n_joints of the skeleton.
    pub fn new(
        correctives: &Correctives,
        joints: &[JointId],
        drivers: Option<Vec<Driver>>,
        influences: &Influences,
        (skeleton, locals): (&std::sync::Arc<Skeleton>, &[Transform]),
    ) -> Self {
        let mut work = WeightsWork::default();
        let plain = correctives.weights_by(drivers.as_deref(), skeleton, locals, &mut work);
        let plain = plain.to_vec();
        let is_weighted = correctives.is_weighted();
        Self {
            weighing: is_weighted.then(|| Weighing::new(correctives, joints)),
            influences: influences.clone(),
            weights: HashMap::from([(0, plain)]),
            drivers,
            skeleton: skeleton.clone(),
            locals: locals.to_vec(),
        }
    }

    /// n_samples: the weight of each at a point, before its strength.
    pub fn at(&mut self, point: u32) -> &[f64] {
        let class = self.class(point);
        self.of_class(class)
    }

    /// Whether points differ: some set weighs its drivers by the skin weights of each.
    pub(super) fn is_weighted(&self) -> bool {
        self.weighing.is_some()
    }

    /// The number of classes so far, at least one.
    pub(super) fn n_classes(&self) -> usize {
        self.weighing.as_ref().map_or(1, Weighing::n_classes)
    }

    /// The class of a point.
    pub(super) fn class(&mut self, point: u32) -> u16 {
        let row = self.influences.row(point);
        let weighing = self.weighing.as_mut();
        weighing.map_or(0, |weighing| weighing.class(row))
    }

    /// n_samples: the weight of each for a class, before its strength.
    pub(super) fn of_class(&mut self, class: u16) -> &[f64] {
        self.weights.entry(class).or_insert_with(|| {
            let mut work = WeightsWork::default();
            let weighing = self.weighing.as_ref();
            weighing.map_or_else(Vec::new, |weighing| {
                let drivers = self.drivers.as_deref();
                let weights =
                    weighing.weights(class, drivers, &self.skeleton, &self.locals, &mut work);
                weights.to_vec()
            })
        })
    }
}
