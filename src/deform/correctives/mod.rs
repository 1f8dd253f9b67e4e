//! Corrective samples: shapes sculpted at poses, and their interpolation (stage 7).
//!
//! Data flow: [`SampleSet`]s (driver joints, samples) -> [`Correctives::new`], which checks them and solves the
//! interpolation of [`crate::psd`] once -> [`Correctives::weights`] in a pose -> stage 7 adds the weighted
//! displacements. [`crate::deform::capture()`] turns a sculpted shape into the displacements of a sample.
//!
//! Invariant: `v' = F(v; X) + R(X) d(X)` and `d = R^T (s - F)`, with `R A` for R in sets that scale with the limb: at a sample's pose the sculpt comes back whatever the
//! stages below are, whether they can be inverted or not.
//! Invariant: the samples of a set hold only what its [`SampleVertices`] allow; every change of samples sees to it.
//! Invariant: a set that cannot be solved when a project opens is off with its [`Fault`]; nothing of it is lost.

mod captured;
mod fault;
mod held;
mod rotation;
mod sample;
mod stale;
mod sum;
mod vertices;
mod weighted;

pub use captured::{CapturedOver, SkinBase, Staleness};
pub use fault::Fault;
pub(super) use rotation::{BlendedRotation, inverse_stretch};
pub use sample::{Driver, Sample, SampleSet};
pub use sum::sum_of_samples;
pub use vertices::SampleVertices;
pub use weighted::PointWeights;
pub(super) use weighted::{PointClasses, Weighing};

use crate::math::Transform;
use crate::math::transform::normalize_or_identity;
use crate::psd::{
    Displacements, JointSolve, NamedPose, PoseInterpolation, PoseSet, PsdError, PsdWarning, Work,
};
use crate::skeleton::{JointId, Skeleton};
use glam::DQuat;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The sample sets of a mesh, checked and solved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Correctives {
    /// Those that are off come last.
    sets: Vec<Arc<SampleSet>>,
    /// One a set that is not off.
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
    /// cannot be told apart. A set that is off is solved if that is possible now, else it stays off and goes last.
    pub fn new(sets: Vec<Arc<SampleSet>>) -> Result<Self, PsdError> {
        let (sound, off): (Vec<_>, Vec<_>) = sets.into_iter().partition(|set| set.fault.is_none());
        let mut correctives = Self::solve_all(sound)?;
        let mut still_off = Vec::new();
        for mut set in off {
            if let Some(Fault::Unsolved(known)) = &set.fault {
                let mut mended = SampleSet::clone(&set);
                mended.fault = None;
                let mut sets = correctives.sets.clone();
                sets.push(Arc::new(mended));
                match Self::solve_all(sets) {
                    Ok(all) => {
                        correctives = all;
                        continue;
                    }
                    Err(why) if why != *known => {
                        Arc::make_mut(&mut set).fault = Some(Fault::Unsolved(why));
                    }
                    Err(_) => {}
                }
            }
            still_off.push(set);
        }
        for set in still_off {
            correctives.samples.extend(set.samples.iter().cloned());
            correctives.sets.push(set);
        }
        Ok(correctives)
    }

    /// These sets and one more of a project, which is off where it cannot be solved beside them.
    #[must_use]
    pub fn with_set(&self, set: SampleSet) -> Self {
        let with = |set: SampleSet| {
            let mut sets = self.sets.clone();
            sets.push(Arc::new(set));
            Self::new(sets)
        };
        let mut off = set.clone();
        with(set)
            .or_else(|why| {
                off.fault = Some(Fault::Unsolved(why));
                with(off)
            })
            // Sets that are off cannot fail.
            .unwrap_or_else(|_| self.clone())
    }

    /// Sets none of which is off.
    fn solve_all(sets: Vec<Arc<SampleSet>>) -> Result<Self, PsdError> {
        check_drivers(&sets)?;
        for set in &sets {
            set.check()?;
        }
        let solved = sets.iter().map(|set| solve(set));
        let solved = solved.collect::<Result<_, _>>()?;
        Self::joined(sets, solved)
    }

    /// Sets with the interpolation of each.
    fn joined(sets: Vec<Arc<SampleSet>>, solved: Vec<PoseInterpolation>) -> Result<Self, PsdError> {
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

    /// The sets; those that are off come last.
    pub fn sets(&self) -> &[Arc<SampleSet>] {
        &self.sets
    }

    /// The interpolation of each set that is not off.
    pub fn interpolations(&self) -> &[PoseInterpolation] {
        &self.solved
    }

    /// The joint solve of all sets.
    pub fn joint_solve(&self) -> &JointSolve {
        &self.joint_solve
    }

    /// The condition number of the joint solve of all sets.
    pub fn joint_condition(&self) -> f64 {
        self.joint_solve.condition()
    }

    /// The samples of all sets, in order.
    pub fn samples(&self) -> &[Arc<Sample>] {
        &self.samples
    }

    /// Whether some set weighs its drivers by the skin weights of each vertex, and has more than one.
    pub fn is_weighted(&self) -> bool {
        self.weighted_drivers().next().is_some()
    }

    /// The drivers that each vertex weighs by its skin weights, set by set.
    fn weighted_drivers(&self) -> impl Iterator<Item = (usize, &Driver)> {
        let sets = self.sets.iter().take(self.solved.len()).enumerate();
        let sets = sets.filter(|(_, set)| set.weighted && set.drivers.len() > 1);
        sets.flat_map(|(s, set)| set.drivers.iter().map(move |driver| (s, driver)))
    }

    /// The same samples with the lambdas of [`Correctives::weighted_drivers`] multiplied by factors, one for each. Fails
    /// where that interpolation has no solution.
    fn with_lambdas(&self, factors: impl IntoIterator<Item = f64>) -> Result<Self, PsdError> {
        let mut factors = factors.into_iter();
        let (mut sets, mut solved) = (Vec::new(), Vec::new());
        // They are checked already.
        for (set, known) in self.sets.iter().zip(&self.solved) {
            if !set.weighted || set.drivers.len() < 2 {
                sets.push(set.clone());
                solved.push(known.clone());
                continue;
            }
            let mut scaled = SampleSet::clone(set);
            for driver in &mut scaled.drivers {
                driver.lambda *= factors.next().unwrap_or(1.0);
            }
            solved.push(solve(&scaled)?);
            sets.push(Arc::new(scaled));
        }
        let mut solved = Self::joined(sets, solved)?;
        for set in &self.sets[self.solved.len()..] {
            solved.samples.extend(set.samples.iter().cloned());
            solved.sets.push(set.clone());
        }
        Ok(solved)
    }

    /// Whether the weights of the samples are the same in every pose: only what the samples move may differ.
    pub fn weighs_as(&self, other: &Self) -> bool {
        let same_set = |(a, b): (&Arc<SampleSet>, &Arc<SampleSet>)| {
            let same_sample = |(a, b): (&Arc<Sample>, &Arc<Sample>)| {
                Arc::ptr_eq(a, b) || (a.rotations == b.rotations && a.beside == b.beside)
            };
            Arc::ptr_eq(a, b)
                || (a.drivers == b.drivers
                    && a.kernel == b.kernel
                    && a.radius.to_bits() == b.radius.to_bits()
                    && a.smoothing.to_bits() == b.smoothing.to_bits()
                    && a.clamp == b.clamp
                    && (a.fade, a.weighted) == (b.fade, b.weighted)
                    && a.samples.len() == b.samples.len()
                    && a.samples.iter().zip(&b.samples).all(same_sample))
        };
        (self.sets.len(), self.solved.len()) == (other.sets.len(), other.solved.len())
            && self.sets.iter().zip(&other.sets).all(same_set)
    }

    /// Whether each of [`Correctives::samples`] scales with the limb.
    pub fn scaled(&self) -> impl Iterator<Item = bool> + '_ {
        let sets = self.sets.iter();
        sets.flat_map(|set| std::iter::repeat_n(set.scale_with_limb, set.samples.len()))
    }

    /// Whether there is no set.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// The sets that are off, each with its fault.
    pub fn off(&self) -> impl Iterator<Item = (&Arc<SampleSet>, &Fault)> {
        let sets = self.sets.iter();
        sets.filter_map(|set| Some((set, set.fault.as_ref()?)))
    }

    /// Whether some sample moves a point.
    pub fn acts(&self) -> bool {
        let sets = self.sets.iter().filter(|set| set.fault.is_none());
        let mut samples = sets.flat_map(|set| &set.samples);
        samples.any(|sample| sample.acts())
    }

    /// What works, but not as it should.
    pub fn warnings(&self) -> impl Iterator<Item = &PsdWarning> {
        self.solved.iter().flat_map(PoseInterpolation::warnings)
    }

    /// The weight of each of [`Correctives::samples`] in a pose, before its strength; 0 in sets that are off. `locals`:
    /// n_joints of the skeleton. From the second call on it allocates nothing.
    pub fn weights<'a>(
        &self,
        skeleton: &Skeleton,
        locals: &[Transform],
        work: &'a mut WeightsWork,
    ) -> &'a [f64] {
        self.weights_by(None, skeleton, locals, work)
    }

    /// As [`Correctives::weights`], in another skin: `drivers` has its own in the place of [`Correctives::drivers`]
    /// ([`Driver::in_skin`]).
    pub fn weights_by<'a>(
        &self,
        drivers: Option<&[Driver]>,
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
        let (mut first, mut first_driver) = (0, 0);
        for (set, solved) in self.sets.iter().zip(&self.solved) {
            let range = first_driver..first_driver + set.drivers.len();
            first_driver = range.end;
            let own = drivers.and_then(|drivers| drivers.get(range));
            let rotations = own.unwrap_or(&set.drivers).iter();
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

    /// Rotates the drivers of a sample, and those of other sets beside it, as they were when it was sculpted. `locals`:
    /// n_joints, the rest pose at first.
    pub fn pose(
        &self,
        set: &SampleSet,
        sample: &Sample,
        skeleton: &Skeleton,
        locals: &mut [Transform],
    ) {
        let own = set.drivers.iter().zip(sample.rotations.iter().copied());
        let beside = sample.beside.iter().filter_map(|(joint, rotation)| {
            let (_, driver) = self.drivers().find(|(_, d)| d.joint == *joint)?;
            Some((driver, *rotation))
        });
        let mut drivers: Vec<(&Driver, DQuat)> = own.chain(beside).collect();
        // Parents first: the rotation of a driver may pass over others.
        drivers.sort_by_key(|(driver, _)| skeleton.rank(driver.joint));
        for (driver, rotation) in drivers {
            driver.pose(rotation, skeleton, locals);
        }
    }

    /// The sets with each sample replaced by `change`, given its index among [`Correctives::samples`]; `None` deletes
    /// it. Fails where the new samples cannot be solved.
    pub fn map_samples(
        &self,
        mut change: impl FnMut(usize, &Arc<Sample>) -> Option<Arc<Sample>>,
    ) -> Result<Self, PsdError> {
        let mut index = 0;
        let sets = self.sets.iter().map(|set| {
            let samples = set.samples.iter().filter_map(|sample| {
                index += 1;
                change(index - 1, sample)
            });
            let samples: Vec<_> = samples.collect();
            let is_same = samples.len() == set.samples.len()
                && samples
                    .iter()
                    .zip(&set.samples)
                    .all(|(a, b)| Arc::ptr_eq(a, b));
            if is_same {
                return set.clone();
            }
            let mut set = SampleSet::clone(set);
            set.samples = samples;
            Arc::new(set)
        });
        Self::new(sets.collect())
    }

    /// The sets with other displacements for a sample, which change no weight.
    #[must_use]
    pub fn with_displacements(&self, set: usize, sample: usize, made: Displacements) -> Self {
        self.with_sample(set, sample, |sample| sample.displacements = made)
    }

    /// The sets with a sample that was captured over something else, which changes no weight.
    #[must_use]
    pub fn captured_over(&self, set: usize, sample: usize, over: CapturedOver) -> Self {
        self.with_sample(set, sample, |sample| sample.captured_over = over)
    }

    /// The sets with one sample changed in what does not affect the interpolation.
    fn with_sample(&self, set: usize, sample: usize, change: impl FnOnce(&mut Sample)) -> Self {
        let mut correctives = self.clone();
        let slot = correctives.sets.get_mut(set).map(Arc::make_mut);
        if let Some(slot) = slot.and_then(|set| set.samples.get_mut(sample)) {
            change(Arc::make_mut(slot));
            let changed = slot.clone();
            let index = self.index_of(set, sample);
            if let Some(known) = index.and_then(|index| correctives.samples.get_mut(index)) {
                *known = changed;
            }
        }
        correctives
    }

    /// The sets with displacements for `samples`, which are all those of one set, and what they were captured over; they
    /// change no weight.
    #[must_use]
    pub fn filled(
        mut self,
        samples: &[Arc<Sample>],
        displacements: Vec<(Displacements, CapturedOver)>,
    ) -> Self {
        let is_of = |set: &Arc<SampleSet>| {
            let same = |(a, b): (&Arc<Sample>, &Arc<Sample>)| Arc::ptr_eq(a, b);
            set.samples.len() == samples.len() && set.samples.iter().zip(samples).all(same)
        };
        let Some(set) = self.sets.iter().position(is_of) else {
            return self;
        };
        let first: usize = self.sets[..set].iter().map(|set| set.samples.len()).sum();
        let own = &mut Arc::make_mut(&mut self.sets[set]).samples;
        let all = own.iter_mut().zip(&mut self.samples[first..]);
        for ((own, listed), (displacements, over)) in all.zip(displacements) {
            let sample = Arc::make_mut(own);
            (sample.displacements, sample.captured_over) = (displacements, over);
            *listed = own.clone();
        }
        self
    }

    /// The index among [`Correctives::samples`] of a sample of a set; `None` where there is none.
    pub fn index_of(&self, set: usize, sample: usize) -> Option<usize> {
        let owner = self.sets.get(set)?;
        let before = self.sets[..set].iter().map(|set| set.samples.len());
        (sample < owner.samples.len()).then(|| before.sum::<usize>() + sample)
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
