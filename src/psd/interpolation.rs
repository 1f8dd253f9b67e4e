//! The weights of the samples of one set in any pose, by radial basis functions.

use super::driver::Feature;
use super::kernel::Tail;
use super::{DriverMode, Kernel, PsdError, PsdWarning};
use crate::math::{dense, smootherstep};
use glam::DQuat;
use std::sync::OnceLock;

/// Two poses that are closer are one (0.06 degrees).
const SAME: f64 = 1e-3;
/// Two poses that are closer deserve a warning (2 degrees).
const CLOSE: f64 = 0.035;
/// Above this condition number the linear kernel is used.
const BAD_CONDITION: f64 = 1e8;
/// Above this condition number the samples are refused.
const MAX_CONDITION: f64 = 1e12;
/// The largest number of hinges of a thin plate.
const MAX_PLATE: usize = 3;

/// The samples of a set and how to interpolate between them.
#[derive(Clone, Copy, Debug)]
pub struct PoseSet<'a> {
    /// Its name in errors.
    pub name: &'a str,
    /// What counts of each driver's rotation, and the weight lambda of its squared distance, > 0.
    pub drivers: &'a [(DriverMode, f64)],
    /// The radial basis function.
    pub kernel: Kernel,
    /// The factor of the kernel's shape parameter, 0.25 - 4.
    pub radius: f64,
    /// The ridge of the solve, >= 0; above 0 the weights at the samples are not exact.
    pub smoothing: f64,
    /// The range of weights; holds 0 and 1.
    pub clamp: [f64; 2],
    /// Whether the weights fade to 0 far from every sample and bind.
    pub fade: bool,
    /// The samples; the bind pose is an implicit one more.
    pub poses: &'a [NamedPose<'a>],
}

/// The pose of a sample.
#[derive(Clone, Copy, Debug)]
pub struct NamedPose<'a> {
    /// Its name in errors.
    pub name: &'a str,
    /// One for each driver: its rotation from bind in its own space, unit.
    pub rotations: &'a [DQuat],
}

/// Buffers of [`PoseInterpolation::weights`], used again.
#[derive(Clone, Debug, Default)]
pub struct Work {
    features: Vec<Feature>,
    kernels: Vec<f64>,
}

/// The solved interpolation of a set: weights w(X) with w_i(X_j) = 1 where i is j, else 0.
///
/// With [K + ridge, P; P^T, 0] A = [1; 0] the weights are A^T [k(X); p(X)], where K holds the kernel between the poses
/// (bind first), and P the polynomial tail (Lewis et al. 2000, with the constant tail of Kurihara & Miyata's
/// normalisation).
#[derive(Clone, Debug, PartialEq)]
pub struct PoseInterpolation {
    drivers: Vec<(DriverMode, f64)>,
    /// The one in use.
    kernel: Kernel,
    shape: f64,
    nearest: f64,
    clamp: [f64; 2],
    fade: bool,
    /// n_nodes x n_drivers: bind, then the samples.
    nodes: Vec<Feature>,
    /// n_samples x (n_nodes + n_tail), by rows.
    coefficients: Vec<f64>,
    smoothing: f64,
    condition: Condition,
    cardinality: f64,
    warnings: Vec<PsdWarning>,
}

/// The condition number of a system, found when it is asked for: of large systems that takes as long as the solve.
#[derive(Clone, Debug, Default)]
struct Condition(OnceLock<f64>);

impl PartialEq for Condition {
    /// It follows from the system.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl PoseInterpolation {
    /// Solves for the weights of the samples; once for each edit, n^3.
    pub fn new(set: &PoseSet<'_>) -> Result<Self, PsdError> {
        check(set)?;
        let bind = set
            .drivers
            .iter()
            .map(|(mode, _)| mode.feature(DQuat::IDENTITY));
        let mut nodes: Vec<Feature> = bind.collect();
        for pose in set.poses {
            let drivers = set.drivers.iter().zip(pose.rotations);
            nodes.extend(drivers.map(|((mode, _), rotation)| mode.feature(*rotation)));
        }
        let mut warnings = Vec::new();
        let distances = distances(set, &nodes, &mut warnings)?;
        let nearest = mean_nearest(&distances, 1 + set.poses.len());
        let mut solved = Self {
            drivers: set.drivers.to_vec(),
            kernel: set.kernel,
            shape: set.kernel.shape(nearest, set.radius),
            nearest,
            clamp: set.clamp,
            fade: set.fade,
            nodes,
            coefficients: Vec::new(),
            smoothing: set.smoothing,
            condition: Condition::default(),
            cardinality: 0.0,
            warnings,
        };
        if set.poses.is_empty() {
            return Ok(solved);
        }
        if set.kernel == Kernel::ThinPlate && !solved.has_plate() {
            return Err(PsdError::ThinPlate {
                set: set.name.to_owned(),
            });
        }
        let refused = |condition| match set.kernel {
            Kernel::ThinPlate => PsdError::ThinPlate {
                set: set.name.to_owned(),
            },
            _ => PsdError::Conditioning {
                set: set.name.to_owned(),
                condition,
            },
        };
        let condition = solved.solve(&distances);
        if condition > MAX_CONDITION {
            return Err(refused(condition));
        }
        if condition > BAD_CONDITION && set.kernel != Kernel::Linear {
            solved.warnings.push(PsdWarning::LinearInstead {
                set: set.name.to_owned(),
                condition,
            });
            solved.kernel = Kernel::Linear;
            solved.shape = 0.0;
            let condition = solved.solve(&distances);
            if condition > MAX_CONDITION {
                return Err(refused(condition));
            }
        }
        solved.cardinality = solved.error(set.poses);
        if set.smoothing > 0.0 {
            let error = solved.cardinality;
            solved.warnings.push(PsdWarning::Inexact {
                set: set.name.to_owned(),
                smoothing: set.smoothing,
                error,
            });
        }
        Ok(solved)
    }

    /// The number of samples, without bind.
    pub fn n_samples(&self) -> usize {
        self.n_nodes() - 1
    }

    /// The kernel in use: the chosen one, or the linear one where that is ill-conditioned.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// The kernel's shape parameter, c or sigma.
    pub fn shape(&self) -> f64 {
        self.shape
    }

    /// The mean distance of the poses, bind included, from their nearest neighbours.
    pub fn nearest(&self) -> f64 {
        self.nearest
    }

    /// n_samples x (1 + n_samples + n_tail), by rows: the factors of the kernels at bind and at the samples, then of the
    /// polynomial tail.
    pub fn coefficients(&self) -> impl Iterator<Item = &[f64]> {
        let width = self.n_nodes() + self.n_tail();
        self.coefficients.chunks_exact(width)
    }

    /// The condition number of the solved system.
    pub fn condition(&self) -> f64 {
        if self.n_samples() == 0 {
            return 1.0;
        }
        *self.condition.0.get_or_init(|| {
            let n = self.n_nodes();
            let mut distances = vec![0.0; n * n];
            let nodes = || self.nodes.chunks_exact(self.drivers.len());
            for (row, a) in distances.chunks_exact_mut(n).zip(nodes()) {
                for (distance, b) in row.iter_mut().zip(nodes()) {
                    *distance = distance_squared(&self.drivers, a, b).sqrt();
                }
            }
            let size = n + self.n_tail();
            dense::symmetric_condition_number(&self.matrix(&distances), size)
        })
    }

    /// The largest deviation of the weights at the samples' own poses from 1, and at the other samples' poses from 0;
    /// NaN where a weight is not a number.
    pub fn cardinality(&self) -> f64 {
        self.cardinality
    }

    /// What works, but not as it should.
    pub fn warnings(&self) -> &[PsdWarning] {
        &self.warnings
    }

    /// Writes the weight of each sample into `out`. `rotations`: one for each driver, from bind in its own space, unit.
    pub fn weights(
        &self,
        rotations: impl IntoIterator<Item = DQuat>,
        work: &mut Work,
        out: &mut [f64],
    ) {
        if out.is_empty() {
            return;
        }
        let Work { features, kernels } = work;
        features.clear();
        let drivers = self.drivers.iter().zip(rotations);
        features.extend(drivers.map(|((mode, _), rotation)| mode.feature(rotation)));
        kernels.clear();
        let mut least = f64::INFINITY;
        for node in self.nodes.chunks_exact(self.drivers.len()) {
            let r2 = distance_squared(&self.drivers, features, node);
            least = least.min(r2);
            kernels.push(self.kernel.value(r2, self.shape));
        }
        self.push_tail(features, kernels);
        let fade = if self.fade {
            let beyond = least.sqrt() / self.nearest - 1.0;
            smootherstep(1.0 - beyond)
        } else {
            1.0
        };
        let rows = self.coefficients.chunks_exact(kernels.len());
        let [low, high] = self.clamp;
        for (out, row) in out.iter_mut().zip(rows) {
            *out = fade * dot(row, kernels).clamp(low, high);
        }
    }

    fn n_nodes(&self) -> usize {
        self.nodes.len() / self.drivers.len()
    }

    fn n_tail(&self) -> usize {
        match self.kernel.tail() {
            Tail::None => 0,
            Tail::Constant => 1,
            Tail::Linear => 1 + self.drivers.len(),
        }
    }

    /// Appends the polynomial at a pose.
    fn push_tail(&self, features: &[Feature], out: &mut Vec<f64>) {
        let tail = self.kernel.tail();
        if tail != Tail::None {
            out.push(1.0);
        }
        if tail == Tail::Linear {
            let drivers = self.drivers.iter().zip(features);
            out.extend(drivers.map(|((_, lambda), feature)| lambda.sqrt() * feature[0]));
        }
    }

    /// Whether the drivers and samples can carry a thin plate.
    fn has_plate(&self) -> bool {
        let mut drivers = self.drivers.iter();
        drivers.all(|(mode, _)| matches!(mode, DriverMode::Hinge(_)))
            && self.drivers.len() <= MAX_PLATE
            && self.n_nodes() > self.drivers.len()
    }

    /// Solves for the coefficients under the kernel in use. Returns the condition number where it is bad, infinite where
    /// the system is singular, else a bound of it.
    fn solve(&mut self, distances: &[f64]) -> f64 {
        self.condition = Condition::default();
        let n = self.n_nodes();
        let size = n + self.n_tail();
        let matrix = self.matrix(distances);
        let Some(inverse) = dense::inverse(&matrix, size) else {
            self.condition = Condition(f64::INFINITY.into());
            return f64::INFINITY;
        };
        // Column i of the inverse solves for sample i; bind carries no displacement.
        self.coefficients = inverse[size..n * size].to_vec();
        // Of a symmetric matrix the norm of the largest column is at least that of the largest eigenvalue.
        let bound = largest_column(&matrix, size) * largest_column(&inverse, size);
        if bound <= BAD_CONDITION {
            return bound;
        }
        let condition = dense::symmetric_condition_number(&matrix, size);
        self.condition = Condition(condition.into());
        condition
    }

    /// The system under the kernel in use, by columns. `distances`: n_nodes x n_nodes.
    fn matrix(&self, distances: &[f64]) -> Vec<f64> {
        let n = self.n_nodes();
        let size = n + self.n_tail();
        let mut matrix = vec![0.0; size * size];
        let mut tail = Vec::new();
        for j in 0..n {
            for i in 0..n {
                let r = distances[j * n + i];
                matrix[j * size + i] = self.kernel.value(r * r, self.shape);
            }
            // Not in the row of bind: the weights are 0 there however smooth they are.
            if j > 0 {
                matrix[j * size + j] += self.smoothing;
            }
            tail.clear();
            let n_drivers = self.drivers.len();
            self.push_tail(&self.nodes[j * n_drivers..][..n_drivers], &mut tail);
            for (t, &value) in (n..).zip(&tail) {
                matrix[j * size + t] = value;
                matrix[t * size + j] = value;
            }
        }
        matrix
    }

    /// The largest deviation of the weights at the samples from 1 and 0; NaN stays.
    fn error(&self, poses: &[NamedPose<'_>]) -> f64 {
        let (mut work, mut weights) = (Work::default(), vec![0.0; poses.len()]);
        let mut error: f64 = 0.0;
        for (s, pose) in poses.iter().enumerate() {
            self.weights(pose.rotations.iter().copied(), &mut work, &mut weights);
            for (t, weight) in weights.iter().enumerate() {
                let apart = (weight - f64::from(u8::from(s == t))).abs();
                // `f64::max` alone would drop a NaN.
                if apart.is_nan() {
                    return apart;
                }
                error = error.max(apart);
            }
        }
        error
    }
}

/// The dot product of two rows of one length, in four sums side by side: one alone waits for each addition.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest = a.remainder().iter().zip(b.remainder());
    let rest: f64 = rest.map(|(a, b)| a * b).sum();
    let mut sums = [0.0; 4];
    for (a, b) in a.zip(b) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// The largest sum of magnitudes of a column: the 1-norm of a matrix.
fn largest_column(matrix: &[f64], size: usize) -> f64 {
    let columns = matrix.chunks_exact(size);
    let sums = columns.map(|column| column.iter().map(|v| v.abs()).sum::<f64>());
    sums.fold(0.0, f64::max)
}

fn distance_squared(drivers: &[(DriverMode, f64)], a: &[Feature], b: &[Feature]) -> f64 {
    let features = a.iter().zip(b);
    drivers
        .iter()
        .zip(features)
        .map(|((mode, lambda), (a, b))| lambda * mode.distance_squared(a, b))
        .sum()
}

/// n_nodes x n_nodes distances. Fails where two are one pose; warns where two are close.
fn distances(
    set: &PoseSet<'_>,
    nodes: &[Feature],
    warnings: &mut Vec<PsdWarning>,
) -> Result<Vec<f64>, PsdError> {
    let n = 1 + set.poses.len();
    let node = |i: usize| &nodes[i * set.drivers.len()..][..set.drivers.len()];
    let name = |i: usize| match i.checked_sub(1) {
        Some(sample) => set.poses[sample].name.to_owned(),
        None => "bind".to_owned(),
    };
    let mut distances = vec![0.0; n * n];
    for j in 1..n {
        for i in 0..j {
            let distance = distance_squared(set.drivers, node(i), node(j)).sqrt();
            distances[i * n + j] = distance;
            distances[j * n + i] = distance;
            if distance < SAME && i == 0 {
                return Err(PsdError::AtBind {
                    sample: name(j),
                    distance,
                });
            }
            if distance >= CLOSE {
                continue;
            }
            let (a, b) = (name(i), name(j));
            if distance < SAME {
                return Err(PsdError::Duplicate { a, b, distance });
            }
            if distance < CLOSE {
                warnings.push(PsdWarning::Close { a, b, distance });
            }
        }
    }
    Ok(distances)
}

/// The mean distance of a pose to its nearest neighbour; 0 for bind alone.
fn mean_nearest(distances: &[f64], n: usize) -> f64 {
    if n < 2 {
        return 0.0;
    }
    let nearest = (0..n).map(|i| {
        let others = (0..n).filter(|&j| j != i);
        others
            .map(|j| distances[i * n + j])
            .fold(f64::INFINITY, f64::min)
    });
    nearest.sum::<f64>() / n as f64
}

/// Whether every number is within its range.
fn check(set: &PoseSet<'_>) -> Result<(), PsdError> {
    if set.drivers.is_empty() {
        return Err(PsdError::NoDriver {
            set: set.name.to_owned(),
        });
    }
    let wrong = |what: String| {
        Err(PsdError::Value {
            set: set.name.to_owned(),
            what,
        })
    };
    for &(mode, lambda) in set.drivers {
        if !(lambda.is_finite() && lambda > 0.0) {
            return wrong(format!("the weight {lambda} of a driver is not above 0"));
        }
        if let Some(axis) = mode.axis()
            && ((axis.length() - 1.0).abs() > 1e-6 || !axis.is_finite())
        {
            return wrong(format!(
                "the axis {axis} of a driver does not have length 1"
            ));
        }
    }
    if !(0.25..=4.0).contains(&set.radius) {
        return wrong(format!("the radius {} is not 0.25 - 4", set.radius));
    }
    if !(set.smoothing.is_finite() && set.smoothing >= 0.0) {
        return wrong(format!("the smoothing {} is not 0 or more", set.smoothing));
    }
    let [low, high] = set.clamp;
    if !(low.is_finite() && high.is_finite() && low <= 0.0 && high >= 1.0) {
        return wrong(format!(
            "the range of weights {low} - {high} does not hold 0 and 1"
        ));
    }
    for pose in set.poses {
        if pose.rotations.len() != set.drivers.len() {
            return wrong(format!(
                "the sample \"{}\" has {} rotations for {} driver bones",
                pose.name,
                pose.rotations.len(),
                set.drivers.len()
            ));
        }
        let is_rotation = |q: &DQuat| (q.length() - 1.0).abs() < 1e-6;
        if !pose.rotations.iter().all(is_rotation) {
            return wrong(format!(
                "the sample \"{}\" has a rotation whose length is not 1",
                pose.name
            ));
        }
    }
    Ok(())
}
