//! Displacements of a candidate, fitted to what its tracks leave: of whole meshes or of their regions, without entries that
//! hardly move a point.

use super::TRAINING_SHARE;
use super::alternating::basis_of;
use super::bands::{BlendBand, band_of};
use super::candidates::{Candidate, MOVED_SHARE};
use super::displacements::{self, Basis, Residuals};
use super::mesh_basis::{Block, MeshBasis};
use super::playback::Playback;
use super::regions::{Partition, Region};
use super::training::TrainingSet;
use crate::bake::problem::group::GroupMesh;
use crate::math::Worse;
use crate::task::{Cancelled, Task};
use glam::DVec3;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Displacements that move a point by less than a fraction of the tolerance are dropped: the largest of these fractions
/// that leaves the error below the limit, itself a fraction of the tolerance.
const SPARSE_SHARES: [f64; 5] = [0.55, 0.4, 0.25, 0.15, 0.08];
const SPARSE_LIMIT: f64 = 0.85;

/// Points of a mesh and frames from which its regions are found; they bound the time.
const MAX_REGION_POINTS: usize = 3000;
const MAX_REGION_FRAMES: usize = 64;

/// The first fits of a region start from this fraction of the number of displacements that its rank suggests.
const FIRST_SHARE: f64 = 0.6;
/// To save time, the first fits of a region use only this many points with the largest residuals, and about as many others
/// at a regular stride. Fits of all points then start from the number of displacements that these need.
const WORST_POINTS: usize = 500;

impl Playback<'_, '_> {
    /// Fits the displacements of all meshes to the training set.
    pub(crate) fn fit_bases(
        &mut self,
        training: &TrainingSet,
        candidate: &Candidate,
    ) -> Result<(), Cancelled> {
        for i in 0..self.group.meshes.len() {
            let points = &self.group.meshes[i].active;
            let of_part = (points.as_slice(), self.rows[i].as_slice());
            let iterations = displacements::ITERATIONS;
            let (residuals, basis) = basis_of(
                self.problem,
                self.group,
                training,
                i,
                of_part,
                candidate,
                iterations,
            )?;
            let n = points.len();
            let basis = match basis {
                Some(basis) => MeshBasis::whole(n, basis.k, self.sparse(&residuals, basis)),
                None if candidate.regional[i] => self.fit_regions(i, &residuals)?,
                None => MeshBasis::new(n, Vec::new()),
            };
            self.bases[i] = Arc::new(basis);
        }
        Ok(())
    }

    /// Fits displacements of the regions of mesh `i` to the residuals of its active points.
    fn fit_regions(&mut self, i: usize, residuals: &Residuals) -> Result<MeshBasis, Cancelled> {
        let (problem, part) = (self.problem, &self.group.meshes[i]);
        let known = self.regions[i].take();
        let is_known = known.is_some();
        let mut regions = match known {
            Some(regions) => regions,
            None => self.find_regions(part, residuals)?,
        };
        let norms = residuals.max_norm_of_points();
        let by_band = regions.by_band();
        let mut places = vec![Vec::new(); regions.regions.len()];
        let still = MOVED_SHARE * problem.tolerance;
        for (place, (&point, _)) in part
            .active
            .iter()
            .zip(&norms)
            .enumerate()
            .filter(|p| *p.1.1 > still)
        {
            let band = band_of(&part.weights[point as usize]);
            if let Some(region) = nearest_region(&by_band, band) {
                places[region].push(place as u32);
            }
        }
        let room = problem.most_morphs().saturating_sub(regions.k());
        let extra = room / regions.regions.len().max(1);
        let target_error = TRAINING_SHARE * problem.tolerance;
        let fit = |(region, places): (&Region, Vec<u32>)| -> Result<Block, Cancelled> {
            if places.is_empty() {
                return Ok(Block {
                    places,
                    k: 0,
                    b: Vec::new(),
                });
            }
            let own = residuals.of_points(&places);
            let (k, most) = (region.k, region.k + extra);
            // A larger training set rarely needs fewer displacements.
            let first = if is_known {
                k
            } else {
                let least = (FIRST_SHARE * k as f64).ceil() as usize;
                starting_rank(&own, (least, most), target_error, problem.task)?
            };
            let bases = own.bases(first, most, target_error, problem.task)?;
            let best = bases
                .into_iter()
                .min_by(|a, b| a.max_error.total_cmp(&b.max_error));
            let basis = best.unwrap_or_else(|| Basis::none(&own));
            let k = basis.k;
            Ok(Block {
                k,
                b: self.sparse(&own, basis),
                places,
            })
        };
        let blocks: Vec<Block> = regions
            .regions
            .par_iter()
            .zip(places)
            .map(fit)
            .collect::<Result<_, Cancelled>>()?;
        for (region, block) in regions.regions.iter_mut().zip(&blocks) {
            region.k = block.k.max(1);
        }
        self.regions[i] = Some(regions);
        Ok(MeshBasis::new(part.active.len(), blocks))
    }

    /// The regions of a mesh, found from points and frames at a regular stride.
    fn find_regions(
        &self,
        part: &GroupMesh,
        residuals: &Residuals,
    ) -> Result<Partition, Cancelled> {
        let step = part.active.len().div_ceil(MAX_REGION_POINTS).max(1);
        let places: Vec<u32> = (0..part.active.len() as u32).step_by(step).collect();
        let few = residuals.of_points(&places).every_frame(MAX_REGION_FRAMES);
        let prices = self.problem.morph_prices(part, self.sampling);
        let points = places.iter().map(|&place| part.active[place as usize]);
        self.problem
            .partition(part, points, &few, (&prices, step as f64))
    }

    /// The displacements without entries that hardly move a point.
    fn sparse(&self, residuals: &Residuals, basis: Basis) -> Vec<DVec3> {
        let k = basis.k;
        let reach: Vec<f64> = (0..k)
            .map(|i| {
                basis
                    .w
                    .iter()
                    .skip(i)
                    .step_by(k)
                    .fold(0.0f64, |m, w| m.worse(w.abs()))
            })
            .collect();
        let limit = basis.max_error.max(SPARSE_LIMIT * self.problem.tolerance);
        for share in SPARSE_SHARES {
            let least = share * self.problem.tolerance / self.unit_scale;
            let mut b = basis.b.clone();
            for (b, reach) in b.iter_mut().zip(reach.iter().cycle()) {
                if b.length() * reach < least {
                    *b = DVec3::ZERO;
                }
            }
            if residuals.max_error_with(k, &b, &basis.w) <= limit {
                return b;
            }
        }
        basis.b
    }
}

/// The number of displacements from which fits of a region start: the number that a subset of its points needs, but at least
/// `least`.
fn starting_rank(
    residuals: &Residuals,
    (least, most): (usize, usize),
    target_error: f64,
    task: &Task,
) -> Result<usize, Cancelled> {
    let n = residuals.n();
    if n <= 3 * WORST_POINTS {
        return Ok(least);
    }
    let norms = residuals.max_norm_of_points();
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.sort_by(|&a, &b| {
        norms[b as usize]
            .total_cmp(&norms[a as usize])
            .then(a.cmp(&b))
    });
    let (worst, others) = order.split_at(WORST_POINTS);
    let others = others.iter().step_by(others.len() / WORST_POINTS);
    let mut few: Vec<u32> = worst.iter().chain(others).copied().collect();
    few.sort_unstable();
    let bases = residuals
        .of_points(&few)
        .bases(least, most, target_error, task)?;
    let best = bases
        .iter()
        .min_by(|a, b| a.max_error.total_cmp(&b.max_error));
    Ok(best.map_or(least, |basis| basis.k))
}

/// The region of a band. A band without one joins that of the nearest band of the same joints, or else one that has one of
/// its joints, or else the first. `None` where there is no region.
fn nearest_region(by_band: &BTreeMap<BlendBand, usize>, band: BlendBand) -> Option<usize> {
    let first = BlendBand { index: 0, ..band };
    let last = BlendBand {
        index: u8::MAX,
        ..band
    };
    let of_joints = by_band.range(first..=last);
    let has = |other: &BlendBand, joint: u16| [other.joints.0, other.joints.1].contains(&joint);
    let of = |joint: u16| by_band.iter().find(|(other, _)| has(other, joint));
    let near = || {
        of(band.joints.0)
            .or_else(|| of(band.joints.1))
            .or(by_band.first_key_value())
    };
    let nearest = of_joints.min_by_key(|(other, _)| other.index.abs_diff(band.index));
    nearest.or_else(near).map(|(_, region)| *region)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points whose residuals are combinations of two displacements with independent weights over time.
    fn of_rank_two(n: usize) -> Residuals {
        let t = 6;
        let mut residuals = Residuals {
            t,
            a: Vec::new(),
            r: Vec::new(),
        };
        for p in 0..n {
            for f in 0..t {
                let (x, y) = ((p as f32).sin(), (p as f32).cos());
                let at = f as f32;
                residuals
                    .a
                    .push([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
                residuals
                    .r
                    .push([x * at.sin(), y * (2.0 * at).cos(), x * at.sin()]);
            }
        }
        residuals
    }

    #[test]
    fn fits_of_large_regions_start_where_a_part_of_their_points_ends() {
        let start = |n: usize, least: usize| {
            starting_rank(&of_rank_two(n), (least, 6), 1e-4, &Task::new()).unwrap()
        };
        let large = 3 * WORST_POINTS + 1;
        assert_eq!(start(large, 1), 2);
        assert_eq!(start(large, 4), 4);
        // In small regions, even the first fits use all points.
        assert_eq!(start(20, 1), 1);
    }

    #[test]
    fn points_of_a_band_without_region_join_the_nearest_one() {
        let band = |joints, index| BlendBand { joints, index };
        let regions = BTreeMap::from([
            (band((0, 1), 1), 7),
            (band((0, 1), 5), 8),
            (band((2, 3), 0), 9),
        ]);
        let of = |joints, index| nearest_region(&regions, band(joints, index));
        assert_eq!(of((0, 1), 5), Some(8));
        assert_eq!(of((0, 1), 2), Some(7));
        // Of two as near, the first.
        assert_eq!(of((0, 1), 3), Some(7));
        assert_eq!(of((0, 1), 7), Some(8));
        assert_eq!(of((1, 4), 7), Some(7));
        assert_eq!(of((3, 4), 0), Some(9));
        assert_eq!(of((5, 6), 0), Some(7));
        assert_eq!(nearest_region(&BTreeMap::new(), band((0, 1), 0)), None);
    }
}
