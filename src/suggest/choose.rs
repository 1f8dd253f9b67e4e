//! Relaxed shapes along a ray of a joint, and the few of them that carry the rest.
//!
//! On a dense mesh the shapes along the ray are those of its coarser surface, which tell at which poses samples are needed;
//! the dense surface is relaxed at those poses alone, and checked for crossings in between.

use super::rays::Ray;
use super::skin::JointSkin;
use crate::document::Document;
use crate::math::Worse;
use crate::math::sparse::FactorError;
use crate::psd::{DriverMode, Kernel, NamedPose, PoseInterpolation, PoseSet, Work};
use crate::relax::{
    Coarse, Metrics, Neighbourhood, Posed, Region, RelaxSettings, Relaxed, SNAP, Start, relax,
    relax_sweep,
};
use crate::task::{Cancelled, Task};
use glam::{DQuat, DVec3};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Samples are added until the rms miss is below this, in radii, and nothing crosses in between.
const MISS: f64 = 0.02;

/// The most samples of a ray, and the least angle between two of them, degrees.
pub(super) const MOST: usize = 4;
const APART: f64 = 15.0;

/// What all rays of a joint share.
pub(super) struct Bend<'a> {
    pub(super) document: &'a Document,
    pub(super) skin: &'a JointSkin,
    pub(super) region: &'a Region,
    /// Where the region is dense.
    pub(super) coarse: Option<&'a Coarse>,
    pub(super) mode: DriverMode,
    pub(super) settings: &'a RelaxSettings,
    pub(super) task: &'a Task,
    /// Called after so many relaxed poses.
    pub(super) done: &'a (dyn Fn(usize) -> Result<(), Cancelled> + Sync),
}

/// A ray and its skinned poses; all vectors have one entry a pose.
pub(super) struct RayPoses<'a> {
    pub(super) ray: &'a Ray,
    pub(super) posed: Vec<Posed>,
    /// The measures of the skinned shapes.
    pub(super) before: Vec<Metrics>,
}

impl<'a> RayPoses<'a> {
    /// No poses of a ray yet.
    pub(super) fn new(ray: &'a Ray) -> Self {
        Self {
            ray,
            posed: Vec::new(),
            before: Vec::new(),
        }
    }
}

/// The relaxed shape of a pose that becomes a sample.
pub(super) struct Shape {
    /// About the axis of the ray, radians.
    pub(super) angle: f64,
    pub(super) relaxed: Relaxed,
    pub(super) before: Metrics,
    pub(super) after: Metrics,
}

/// What was found along a ray.
pub(super) struct Chosen {
    /// By angle.
    pub(super) shapes: Vec<Shape>,
    /// Angles between which the fold snaps, radians.
    pub(super) snaps: Vec<[f64; 2]>,
}

/// The steps of a ray whose interpolation carries all of them, at most so many: the end, then greedily the largest miss.
pub(super) fn choose(
    bend: &Bend<'_>,
    poses: &RayPoses<'_>,
    most: usize,
) -> Result<Chosen, FactorError> {
    let angles = &poses.ray.angles;
    let sweep = Sweep::new(bend, poses)?;
    let snaps = sweep.snaps(angles);
    let mut dense = match bend.coarse {
        Some(_) => BTreeMap::new(),
        None => sweep.relaxed.iter().cloned().enumerate().collect(),
    };
    let mut chosen: BTreeSet<usize> = poses.posed.len().checked_sub(1).into_iter().collect();
    while !chosen.is_empty() && chosen.len() < most {
        let Some(weights) = weights(poses.ray, bend.mode, &chosen) else {
            break;
        };
        let shapes = sweep.interpolated(&chosen, &weights);
        let apart = sweep.displacements.iter().zip(&shapes);
        let misses: Vec<f64> = apart.map(|(own, d)| rms_apart(own, d)).collect();
        let is_near = |miss: &f64| *miss < MISS * bend.skin.around.radius;
        if misses.iter().all(is_near)
            && !sweep.crosses(&shapes)
            && !crosses_dense(bend, poses, &sweep.relaxed, (&chosen, &weights), &mut dense)?
        {
            break;
        }
        let is_apart = |k: &usize| {
            let mut known = chosen.iter().map(|&c| angles[c]).chain([0.0]);
            known.all(|angle| (angle - angles[*k]).abs() >= APART.to_radians())
        };
        let candidates = (0..angles.len()).filter(is_apart);
        let Some(worst) = candidates.max_by(|&a, &b| misses[a].total_cmp(&misses[b])) else {
            break;
        };
        chosen.insert(worst);
    }
    relax_dense(bend, poses, &sweep.relaxed, &chosen, &mut dense)?;
    if bend.coarse.is_some() {
        (bend.done)(most.saturating_sub(dense.len()))?;
    }
    let shapes = dense.into_par_iter().filter(|(k, _)| chosen.contains(k));
    let shapes = shapes.map(|(k, relaxed)| Shape {
        angle: angles[k],
        before: poses.before[k],
        after: bend.measured(poses.ray, angles[k], &poses.posed[k], &relaxed.positions),
        relaxed,
    });
    Ok(Chosen {
        shapes: shapes.collect(),
        snaps,
    })
}

impl Bend<'_> {
    /// The measures of the dense surface at `x` in a pose of a ray.
    pub(super) fn measured(&self, ray: &Ray, angle: f64, posed: &Posed, x: &[DVec3]) -> Metrics {
        let pose = ray.pose(self.document, self.skin.joint, angle);
        let axes = self.skin.bone_axes(self.document.skeleton(), &pose);
        Metrics::new(&self.skin.around, self.region, &posed.skinned, x, &axes)
    }
}

/// The relaxed shapes of all poses of a ray, on the coarser surface where there is one.
struct Sweep<'a> {
    around: &'a Neighbourhood,
    region: &'a Region,
    posed: Cow<'a, [Posed]>,
    relaxed: Vec<Relaxed>,
    /// One for each free point of each pose: its displacement in the frame of bind.
    displacements: Vec<Vec<DVec3>>,
    /// Triangles that cross in each pose.
    crossings: Vec<usize>,
}

impl<'a> Sweep<'a> {
    fn new(bend: &Bend<'a>, poses: &'a RayPoses<'_>) -> Result<Self, FactorError> {
        let (around, region, posed, settings) = match bend.coarse {
            None => (
                &bend.skin.around,
                bend.region,
                Cow::Borrowed(&poses.posed[..]),
                *bend.settings,
            ),
            Some(coarse) => (
                coarse.around(),
                coarse.region(),
                poses.posed.iter().map(|p| coarse.posed(p)).collect(),
                Coarse::settings(bend.settings),
            ),
        };
        let done = || (bend.done)(1);
        let relaxed = relax_sweep(around, region, &posed, &settings, bend.task, &done)?;
        let pairs = relaxed.par_iter().zip(&posed[..]);
        let of_pose = |(relaxed, posed): (&Relaxed, &Posed)| {
            let crossings = region.n_crossings(around, &relaxed.positions);
            (relaxed.of_free(region, posed), crossings)
        };
        let (displacements, crossings) = pairs.map(of_pose).unzip();
        Ok(Self {
            around,
            region,
            posed,
            relaxed,
            displacements,
            crossings,
        })
    }

    /// The angles between which a fold snaps.
    fn snaps(&self, angles: &[f64]) -> Vec<[f64; 2]> {
        let is_snap = |pair: &&[Vec<DVec3>]| {
            let apart = pair[0].iter().zip(&pair[1]);
            let largest = apart.map(|(a, b)| a.distance(*b)).fold(0.0, f64::worse);
            largest > SNAP * self.around.radius
        };
        let pairs = self.displacements.windows(2).zip(angles.windows(2));
        let snaps = pairs.filter(|(pair, _)| is_snap(pair));
        snaps.map(|(_, angles)| [angles[0], angles[1]]).collect()
    }

    /// One for each pose: the displacements that the chosen ones give it.
    fn interpolated(&self, chosen: &BTreeSet<usize>, weights: &[Vec<f64>]) -> Vec<Vec<DVec3>> {
        let chosen: Vec<&[DVec3]> = chosen.iter().map(|&k| &self.displacements[k][..]).collect();
        weights.iter().map(|of| weighted(&chosen, of)).collect()
    }

    /// Whether more crosses in a pose with these displacements than relaxed.
    fn crosses(&self, shapes: &[Vec<DVec3>]) -> bool {
        let all = shapes.par_iter().zip(&self.posed[..]).zip(&self.crossings);
        all.into_par_iter()
            .any(|((d, posed), &own)| n_crossings(self.around, self.region, posed, d) > own)
    }
}

/// Relaxes the dense surface in the chosen poses, from the shapes of the coarser one.
fn relax_dense(
    bend: &Bend<'_>,
    poses: &RayPoses<'_>,
    of_coarse: &[Relaxed],
    chosen: &BTreeSet<usize>,
    dense: &mut BTreeMap<usize, Relaxed>,
) -> Result<(), FactorError> {
    let Some(coarse) = bend.coarse else {
        return Ok(());
    };
    let missing: Vec<usize> = chosen
        .iter()
        .copied()
        .filter(|k| !dense.contains_key(k))
        .collect();
    let of_pose = |k: usize| {
        let start = Start::Coarse(coarse, &of_coarse[k].displacements);
        let (around, settings) = (&bend.skin.around, bend.settings);
        let relaxed = relax(
            around,
            bend.region,
            &poses.posed[k],
            settings,
            start,
            bend.task,
        )?;
        (bend.done)(1)?;
        Ok((k, relaxed))
    };
    let found: Result<Vec<(usize, Relaxed)>, FactorError> =
        missing.into_par_iter().map(of_pose).collect();
    dense.extend(found?);
    Ok(())
}

/// Whether the dense surface crosses itself more in a pose, with what the chosen ones give it, than in those.
fn crosses_dense(
    bend: &Bend<'_>,
    poses: &RayPoses<'_>,
    of_coarse: &[Relaxed],
    (chosen, weights): (&BTreeSet<usize>, &[Vec<f64>]),
    dense: &mut BTreeMap<usize, Relaxed>,
) -> Result<bool, FactorError> {
    if bend.coarse.is_none() {
        return Ok(false);
    }
    relax_dense(bend, poses, of_coarse, chosen, dense)?;
    let (around, region) = (&bend.skin.around, bend.region);
    let chosen: Vec<usize> = chosen.iter().copied().collect();
    let own: Vec<Vec<DVec3>> = chosen
        .iter()
        .map(|k| dense[k].of_free(region, &poses.posed[*k]))
        .collect();
    let own: Vec<&[DVec3]> = own.iter().map(|d| &d[..]).collect();
    let crossings = chosen
        .par_iter()
        .map(|k| region.n_crossings(around, &dense[k].positions));
    let most = crossings.max().unwrap_or_default();
    let all = weights.par_iter().zip(&poses.posed);
    Ok(all.into_par_iter().any(|(weights, posed)| {
        n_crossings(around, region, posed, &weighted(&own, weights)) > most
    }))
}

/// The number of triangles that cross with these displacements of the free points.
fn n_crossings(around: &Neighbourhood, region: &Region, posed: &Posed, d: &[DVec3]) -> usize {
    let mut x = posed.skinned.clone();
    for (&p, d) in region.free.iter().zip(d) {
        x[p as usize] += posed.rotations[p as usize] * *d;
    }
    region.n_crossings(around, &x)
}

/// One for each pose of a ray: the weights of the chosen ones in it. `None`: they have no interpolation.
fn weights(ray: &Ray, mode: DriverMode, chosen: &BTreeSet<usize>) -> Option<Vec<Vec<f64>>> {
    let rotations: Vec<[DQuat; 1]> = chosen
        .iter()
        .map(|&k| [ray.rotation(ray.angles[k])])
        .collect();
    let poses = rotations.iter().map(|rotations| NamedPose {
        name: "",
        rotations,
    });
    let poses: Vec<NamedPose<'_>> = poses.collect();
    let solved = PoseInterpolation::new(&PoseSet {
        name: "",
        drivers: &[(mode, 1.0)],
        kernel: Kernel::default(),
        radius: 1.0,
        smoothing: 0.0,
        clamp: [-0.15, 1.15],
        fade: false,
        poses: &poses,
    });
    let solved = solved.ok()?;
    let mut work = Work::default();
    let of_pose = |angle: &f64| {
        let mut weights = vec![0.0; chosen.len()];
        solved.weights([ray.rotation(*angle)], &mut work, &mut weights);
        weights
    };
    Some(ray.angles.iter().map(of_pose).collect())
}

/// The weighted sum of displacements.
fn weighted(shapes: &[&[DVec3]], weights: &[f64]) -> Vec<DVec3> {
    let n = shapes.first().map_or(0, |shape| shape.len());
    let mut sums = vec![DVec3::ZERO; n];
    for (shape, &weight) in shapes.iter().zip(weights) {
        for (sum, d) in sums.iter_mut().zip(*shape) {
            *sum += *d * weight;
        }
    }
    sums
}

fn rms_apart(a: &[DVec3], b: &[DVec3]) -> f64 {
    let sum: f64 = a.iter().zip(b).map(|(a, b)| a.distance_squared(*b)).sum();
    (sum / a.len().max(1) as f64).sqrt()
}
