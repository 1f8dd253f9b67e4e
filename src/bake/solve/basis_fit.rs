//! Displacements of a candidate, fitted to what its tracks leave: of whole meshes or of their regions, without entries that
//! hardly move a point.

use super::TRAINING_SHARE;
use super::alternating::basis_of;
use super::candidates::{Candidate, MOVED_SHARE};
use super::displacements::{Basis, Residuals};
use super::mesh_basis::{Block, MeshBasis};
use super::playback::Playback;
use super::regions::{JointPair, Partition, Region, pair_of};
use super::training::TrainingSet;
use crate::bake::problem::group::GroupMesh;
use crate::math::Worse;
use crate::task::Cancelled;
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

/// Fits of a region start from this fraction of the displacements that its rank asks for.
const FIRST_SHARE: f64 = 0.6;

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
            let (residuals, basis) =
                basis_of(self.problem, self.group, training, i, of_part, candidate)?;
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
        let mut regions = match self.regions[i].take() {
            Some(regions) => regions,
            None => self.find_regions(part, residuals)?,
        };
        let norms = residuals.max_norm_of_points();
        let by_pair = regions.by_pair();
        let mut places = vec![Vec::new(); regions.regions.len()];
        let still = MOVED_SHARE * problem.tolerance;
        for (place, (&point, _)) in part
            .active
            .iter()
            .zip(&norms)
            .enumerate()
            .filter(|p| *p.1.1 > still)
        {
            let pair = pair_of(&part.weights[point as usize]);
            if let Some(region) = nearest_region(&by_pair, pair) {
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
            let first = (FIRST_SHARE * k as f64).ceil() as usize;
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

/// The region of a pair of joints: its own, or else one that has a joint of it; `None` where there is no region.
fn nearest_region(by_pair: &BTreeMap<JointPair, usize>, pair: JointPair) -> Option<usize> {
    let own = by_pair.get(&pair);
    let has = |other: &JointPair, joint: u16| other.0 == joint || other.1 == joint;
    let of = |joint: u16| by_pair.iter().find(|(other, _)| has(other, joint));
    let near = || {
        of(pair.0)
            .or_else(|| of(pair.1))
            .or(by_pair.first_key_value())
    };
    own.or_else(|| near().map(|(_, region)| region)).copied()
}
