//! Corrective samples: shapes sculpted at poses, and their interpolation (stage 7).
//!
//! Data flow: [`SampleSet`]s (driver joints, samples) -> [`Correctives::new`], which checks them and solves the
//! interpolation of [`crate::psd`] once -> [`Correctives::weights`] in a pose -> stage 7 adds the weighted
//! displacements. [`crate::deform::capture()`] turns a sculpted shape into the displacements of a sample.
//!
//! Invariant: `v' = F(v; X) + R(X) d(X)` and `d = R^T (s - F)`: at a sample's pose the sculpt comes back whatever the
//! stages below are, whether they can be inverted or not.

mod rotation;
mod sample;

pub(super) use rotation::BlendedRotation;
pub use sample::{Driver, Sample, SampleSet};

use crate::math::Transform;
use crate::math::transform::normalize_or_identity;
use crate::psd::{JointSolve, NamedPose, PoseInterpolation, PoseSet, PsdError, PsdWarning, Work};
use crate::skeleton::{JointId, Skeleton};
use glam::DQuat;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The sample sets of a mesh, checked and solved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Correctives {
    sets: Vec<Arc<SampleSet>>,
    /// One a set.
    solved: Vec<PoseInterpolation>,
    joint_solve: JointSolve,
    /// The samples of all sets, in order.
    samples: Vec<Arc<Sample>>,
}

/// Buffers of [`Correctives::weights`], used again.
#[derive(Clone, Debug, Default)]
pub struct WeightsWork {
    work: Work,
    weights: Vec<f64>,
    scratch: Vec<f64>,
}

impl Correctives {
    /// Checks and solves sets of samples. Fails where a number is out of its range, sets share a joint, or samples
    /// cannot be told apart.
    pub fn new(sets: Vec<Arc<SampleSet>>) -> Result<Self, PsdError> {
        check_drivers(&sets)?;
        let mut solved = Vec::with_capacity(sets.len());
        for set in &sets {
            set.check()?;
            solved.push(solve(set)?);
        }
        let samples = sets.iter().flat_map(|set| &set.samples).cloned();
        let mut correctives = Self {
            samples: samples.collect(),
            sets,
            solved,
            joint_solve: JointSolve::default(),
        };
        correctives.joint_solve = correctives.reconcile()?;
        Ok(correctives)
    }

    /// The sets.
    pub fn sets(&self) -> &[Arc<SampleSet>] {
        &self.sets
    }

    /// The interpolation of each set.
    pub fn interpolations(&self) -> &[PoseInterpolation] {
        &self.solved
    }

    /// The condition number of the joint solve of all sets.
    pub fn joint_condition(&self) -> f64 {
        self.joint_solve.condition()
    }

    /// The samples of all sets, in order.
    pub fn samples(&self) -> &[Arc<Sample>] {
        &self.samples
    }

    /// Whether there is no set.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Whether some sample moves a point.
    pub fn acts(&self) -> bool {
        self.samples.iter().any(|sample| sample.acts())
    }

    /// What works, but not as it should.
    pub fn warnings(&self) -> impl Iterator<Item = &PsdWarning> {
        self.solved.iter().flat_map(PoseInterpolation::warnings)
    }

    /// The weight of each of [`Correctives::samples`] in a pose, before its strength. `locals`: n_joints of the skeleton.
    /// From the second call on it allocates nothing.
    pub fn weights<'a>(
        &self,
        skeleton: &Skeleton,
        locals: &[Transform],
        work: &'a mut WeightsWork,
    ) -> &'a [f64] {
        let WeightsWork {
            work,
            weights,
            scratch,
        } = work;
        weights.clear();
        weights.resize(self.samples.len(), 0.0);
        let mut first = 0;
        for (set, solved) in self.sets.iter().zip(&self.solved) {
            let rotations = set.drivers.iter();
            let rotations = rotations.map(|d| d.from_bind(d.rotation(skeleton, locals)));
            let n = solved.n_samples();
            solved.weights(rotations, work, &mut weights[first..first + n]);
            first += n;
        }
        self.joint_solve.apply(weights, scratch);
        weights
    }

    /// The drivers of all sets, each with its set.
    pub fn drivers(&self) -> impl Iterator<Item = (&Arc<SampleSet>, &Driver)> {
        let sets = self.sets.iter();
        sets.flat_map(|set| set.drivers.iter().map(move |driver| (set, driver)))
    }

    /// The sets after the axes of joints rotated, `W' = W C`: `q' = C_b^-1 q C_a` for a driver a relative to b, so that
    /// distances and weights stay the same. `axes`: C of a joint.
    pub fn reframed(&self, axes: impl Fn(JointId) -> DQuat) -> Result<Self, PsdError> {
        let before = |joint: Option<JointId>| joint.map_or(DQuat::IDENTITY, &axes).conjugate();
        let maps = self.drivers().map(|(_, driver)| {
            let map = (before(driver.relative_to), axes(driver.joint));
            (driver.joint, map)
        });
        let maps: BTreeMap<JointId, (DQuat, DQuat)> = maps.collect();
        let map = |joint: JointId, q: DQuat| {
            let known = maps.get(&joint);
            known.map_or(q, |&(before, after)| {
                normalize_or_identity(before * q * after)
            })
        };
        let sets = self.sets.iter().map(|set| {
            let mut set = SampleSet::clone(set);
            for sample in &mut set.samples {
                let sample = Arc::make_mut(sample);
                for (driver, rotation) in set.drivers.iter().zip(&mut sample.rotations) {
                    *rotation = map(driver.joint, *rotation);
                }
                for (joint, rotation) in &mut sample.beside {
                    *rotation = map(*joint, *rotation);
                }
            }
            for driver in &mut set.drivers {
                driver.bind = map(driver.joint, driver.bind);
                if let Some(axis) = driver.mode.axis() {
                    let turned = axes(driver.joint).conjugate() * axis;
                    driver.mode = driver.mode.with_axis(turned.normalize_or(axis));
                }
            }
            Arc::new(set)
        });
        Self::new(sets.collect())
    }

    /// Bytes that the samples do not share with those of `other`.
    pub fn bytes_beside(&self, other: &Self) -> usize {
        let known: BTreeMap<_, _> = other.samples.iter().map(|s| (&s.name, s)).collect();
        let samples = self.samples.iter().map(|sample| {
            let twin = known.get(&sample.name);
            let is_shared = twin.is_some_and(|twin| Arc::ptr_eq(twin, sample));
            if is_shared {
                return size_of::<usize>();
            }
            let shared = twin.map(|twin| &twin.displacements);
            let rotations = (sample.rotations.len() + sample.beside.len()) * size_of::<DQuat>();
            size_of::<Sample>() + rotations + sample.displacements.bytes_beside(shared)
        });
        // The coefficients of the solve are n x n.
        let n = self.samples.len();
        samples.sum::<usize>() + n * n * size_of::<f64>()
    }

    /// The solve of all sets together.
    fn reconcile(&self) -> Result<JointSolve, PsdError> {
        let n = self.samples.len();
        let set_of = self.sets.iter().enumerate();
        let set_of: Vec<usize> = set_of
            .flat_map(|(g, set)| set.samples.iter().map(move |_| g))
            .collect();
        let mut weights = vec![0.0; n * n];
        let mut work = Work::default();
        for (s, row) in weights.chunks_exact_mut(n.max(1)).enumerate() {
            let mut first = 0;
            for (g, (set, solved)) in self.sets.iter().zip(&self.solved).enumerate() {
                let out = &mut row[first..first + solved.n_samples()];
                first += out.len();
                // Its own set counts as exact.
                if g == set_of[s] {
                    continue;
                }
                let beside = &self.samples[s].beside;
                let rotations = set.drivers.iter().map(|driver| {
                    let known = beside.iter().find(|(joint, _)| *joint == driver.joint);
                    known.map_or(DQuat::IDENTITY, |(_, q)| driver.from_bind(*q))
                });
                solved.weights(rotations, &mut work, out);
            }
        }
        JointSolve::new(&weights, &set_of)
    }
}

/// The interpolation of one set.
fn solve(set: &SampleSet) -> Result<PoseInterpolation, PsdError> {
    let drivers: Vec<_> = set.drivers.iter().map(|d| (d.mode, d.lambda)).collect();
    let rotations = set.samples.iter().map(|sample| {
        let drivers = set.drivers.iter().zip(&sample.rotations);
        drivers.map(|(d, q)| d.from_bind(*q)).collect()
    });
    let rotations: Vec<Vec<DQuat>> = rotations.collect();
    let poses = set.samples.iter().zip(&rotations);
    let poses: Vec<_> = poses
        .map(|(sample, rotations)| NamedPose {
            name: &sample.name,
            rotations,
        })
        .collect();
    PoseInterpolation::new(&PoseSet {
        name: &set.name,
        drivers: &drivers,
        kernel: set.kernel,
        radius: set.radius,
        smoothing: set.smoothing,
        clamp: set.clamp,
        fade: set.fade,
        poses: &poses,
    })
}

/// A joint drives one set, once.
fn check_drivers(sets: &[Arc<SampleSet>]) -> Result<(), PsdError> {
    let mut owners: BTreeMap<JointId, &str> = BTreeMap::new();
    for set in sets {
        let mut own = BTreeSet::new();
        for driver in &set.drivers {
            if !own.insert(driver.joint) {
                return Err(PsdError::Value {
                    set: set.name.clone(),
                    what: "a driver bone is listed twice".into(),
                });
            }
            if let Some(other) = owners.insert(driver.joint, &set.name) {
                return Err(PsdError::SharedDriver {
                    a: other.to_owned(),
                    b: set.name.clone(),
                });
            }
        }
    }
    Ok(())
}
