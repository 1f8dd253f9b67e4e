//! Regions of the body with morph targets of their own.
//!
//! A target that moves one region only has entries for the points of that region. Points start in clusters by their two
//! heaviest joints; two clusters merge while one set of targets for both takes fewer bytes than two sets. The number of
//! targets of a cluster is the rank of its residuals, pulled back to bind space, that leaves at most the target error
//! (truncated singular value decomposition; an upper bound of what alternating least squares need later).

use super::displacements::Residuals;
use super::linear::eigenvectors;
use super::prices::MorphPrices;
use crate::bake::problem::rows::WeightRow;
use crate::math::Worse;
use crate::task::{Cancelled, Task};
use glam::DVec3;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The two heaviest joints of a point, the lower slot first; twice the same where it has one.
pub(crate) type JointPair = (u16, u16);

/// Merges of a cluster that are considered: with clusters of a common joint, and with others. They bound the time.
const COMMON_PARTNERS: usize = 6;
const OTHER_PARTNERS: usize = 2;

/// The factor by which the error may rise until the targets are few enough.
const ERROR_STEP: f64 = 1.2;
/// It rises this often at most: 8e7 times, beyond any residual, so that no region has a displacement left.
const MAX_ERROR_STEPS: usize = 100;

/// A region, for points of some residuals.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    /// The pairs of joints of its points, ascending.
    pub(crate) pairs: Vec<JointPair>,
    /// The number of its points.
    pub(crate) n_points: usize,
    /// The number of displacements that it needs.
    pub(crate) k: usize,
}

/// A division of a mesh into regions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Partition {
    pub(crate) regions: Vec<Region>,
    /// The largest error that the ranks leave, world.
    pub(crate) max_error: f64,
}

impl Partition {
    /// The number of displacements of all regions.
    pub(crate) fn k(&self) -> usize {
        self.regions.iter().map(|region| region.k).sum()
    }

    /// The regions by the pair of joints.
    pub(crate) fn by_pair(&self) -> BTreeMap<JointPair, usize> {
        let regions = self.regions.iter().enumerate();
        regions
            .flat_map(|(i, region)| region.pairs.iter().map(move |&pair| (pair, i)))
            .collect()
    }
}

/// Limits of a division.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegionLimits {
    /// Points below this error need no displacement, world.
    pub(crate) still: f64,
    /// The error that the displacements of a region may leave, world.
    pub(crate) target_error: f64,
    /// The largest number of displacements.
    pub(crate) most: usize,
}

/// The two heaviest joints of a row.
pub(crate) fn pair_of(row: &WeightRow) -> JointPair {
    let heavier = |best: Option<(u16, f64)>, next: &(u16, f64)| match best {
        Some(best) if best.1 >= next.1 => Some(best),
        _ => Some(*next),
    };
    let first = row.iter().fold(None, heavier).map_or(0, |r| r.0);
    let others = row.iter().filter(|r| r.0 != first);
    let second = others.fold(None, heavier).map_or(first, |r| r.0);
    (first.min(second), first.max(second))
}

/// A cluster of points.
#[derive(Clone)]
struct Cluster {
    pairs: Vec<JointPair>,
    /// Ascending indices among the points of the residuals.
    points: Vec<u32>,
    /// The Gram matrix of its displacements over time: t x t.
    gram: Vec<f64>,
    k: usize,
    error: f64,
}

/// A merge of two clusters and the bytes that it saves.
struct Merge {
    gain: f64,
    k: usize,
    error: f64,
}

/// The residuals of a mesh, pulled back.
struct Pulled<'a> {
    residuals: &'a Residuals,
    /// Displacements at bind that explain the residuals: n x t.
    d: Vec<[f32; 3]>,
    target_error: f64,
}

/// Divides points with these pairs of joints into regions. The prices are of a point of the residuals.
pub(crate) fn partition(
    residuals: &Residuals,
    pairs: &[JointPair],
    prices: &MorphPrices,
    limits: RegionLimits,
    task: &Task,
) -> Result<Partition, Cancelled> {
    let mut pulled = Pulled {
        residuals,
        d: residuals.pulled_back(),
        target_error: limits.target_error,
    };
    let norms = residuals.max_norm_of_points();
    let mut by_pair: BTreeMap<JointPair, Vec<u32>> = BTreeMap::new();
    let mut still = 0.0f64;
    for (i, (&pair, &norm)) in pairs.iter().zip(&norms).enumerate() {
        if norm <= limits.still {
            still = still.worse(norm);
        } else {
            by_pair.entry(pair).or_default().push(i as u32);
        }
    }
    let clusters: Vec<(JointPair, Vec<u32>)> = by_pair.into_iter().collect();
    let clusters: Vec<Cluster> = clusters
        .into_par_iter()
        .map(|(pair, points)| {
            let gram = pulled.gram(&points);
            let (k, error) = pulled.rank(&points, &gram);
            let pairs = vec![pair];
            Cluster {
                pairs,
                points,
                gram,
                k,
                error,
            }
        })
        .collect();
    let mut clusters = pulled.merge(clusters, prices, task)?;
    let mut steps = 0;
    while clusters.iter().map(|c| c.k).sum::<usize>() > limits.most && steps < MAX_ERROR_STEPS {
        task.check()?;
        steps += 1;
        pulled.target_error *= ERROR_STEP;
        clusters.par_iter_mut().for_each(|cluster| {
            (cluster.k, cluster.error) = pulled.rank(&cluster.points, &cluster.gram);
        });
    }
    let max_error = clusters.iter().map(|c| c.error).fold(still, f64::worse);
    let regions = clusters.into_iter().filter(|c| c.k > 0).map(|c| Region {
        pairs: c.pairs,
        n_points: c.points.len(),
        k: c.k,
    });
    Ok(Partition {
        regions: regions.collect(),
        max_error,
    })
}

impl Pulled<'_> {
    /// Displacements of a point over time.
    fn of(&self, point: u32) -> &[[f32; 3]] {
        let t = self.residuals.t;
        &self.d[point as usize * t..(point as usize + 1) * t]
    }

    fn gram(&self, points: &[u32]) -> Vec<f64> {
        let t = self.residuals.t;
        let mut gram = vec![0.0; t * t];
        for &point in points {
            let d = self.of(point);
            for f in 0..t {
                for g in 0..=f {
                    let dot: f32 = d[f].iter().zip(d[g]).map(|(a, b)| a * b).sum();
                    gram[f * t + g] += f64::from(dot);
                }
            }
        }
        for f in 0..t {
            for g in 0..f {
                gram[g * t + f] = gram[f * t + g];
            }
        }
        gram
    }

    /// The number of principal components that leaves at most the target error, and the error that they leave.
    fn rank(&self, points: &[u32], gram: &[f64]) -> (usize, f64) {
        let t = self.residuals.t;
        let mut left: Vec<DVec3> = points
            .iter()
            .flat_map(|&p| self.of(p))
            .map(|d| DVec3::from_array(d.map(f64::from)))
            .collect();
        let error_of = |left: &[DVec3]| {
            let rows = points.iter().zip(left.chunks_exact(t.max(1)));
            let errors = rows.flat_map(|(&p, left)| {
                let first = p as usize * t;
                let frames = left.iter().enumerate();
                frames.map(move |(f, d)| (self.residuals.a(first + f) * *d).length_squared())
            });
            errors.fold(0.0, f64::worse).sqrt()
        };
        let mut error = error_of(&left);
        if error <= self.target_error || gram.iter().any(|x| !x.is_finite()) {
            return (0, error);
        }
        for (k, direction) in eigenvectors(gram, t).iter().enumerate() {
            for row in left.chunks_exact_mut(t) {
                let along: DVec3 = row.iter().zip(direction).map(|(d, v)| *d * *v).sum();
                for (d, v) in row.iter_mut().zip(direction) {
                    *d -= along * *v;
                }
            }
            error = error_of(&left);
            if error <= self.target_error {
                return (k + 1, error);
            }
        }
        (t, error)
    }

    /// Merges clusters greedily while that saves bytes.
    fn merge(
        &self,
        clusters: Vec<Cluster>,
        prices: &MorphPrices,
        task: &Task,
    ) -> Result<Vec<Cluster>, Cancelled> {
        let mut clusters: Vec<Option<Cluster>> = clusters.into_iter().map(Some).collect();
        let mut merges: BTreeMap<(usize, usize), Merge> = BTreeMap::new();
        for i in 0..clusters.len() {
            task.check()?;
            self.add_merges(&clusters, i, prices, &mut merges);
        }
        loop {
            task.check()?;
            // The first of equal gains, so that the order never matters.
            let best = merges.iter().reduce(|best, next| {
                if next.1.gain > best.1.gain {
                    next
                } else {
                    best
                }
            });
            let Some((&(a, b), merge)) = best else { break };
            let (k, error) = (merge.k, merge.error);
            let (Some(low), Some(high)) = (clusters[a].take(), clusters[b].take()) else {
                break;
            };
            merges.retain(|&(x, y), _| ![a, b].contains(&x) && ![a, b].contains(&y));
            let (points, gram) = union(&low, &high);
            let mut pairs = low.pairs;
            pairs.extend(high.pairs);
            pairs.sort_unstable();
            clusters.push(Some(Cluster {
                pairs,
                points,
                gram,
                k,
                error,
            }));
            self.add_merges(&clusters, clusters.len() - 1, prices, &mut merges);
        }
        Ok(clusters.into_iter().flatten().collect())
    }

    /// Adds the merges of cluster `i` with its likeliest partners that save bytes.
    fn add_merges(
        &self,
        clusters: &[Option<Cluster>],
        i: usize,
        prices: &MorphPrices,
        merges: &mut BTreeMap<(usize, usize), Merge>,
    ) {
        let Some(own) = &clusters[i] else { return };
        let bytes = |cluster: &Cluster| prices.of_block(cluster.k, cluster.points.len() as f64);
        // Both together need as many displacements as either.
        let most = |other: &Cluster| {
            let n = own.points.len() + other.points.len();
            bytes(own) + bytes(other) - prices.of_block(own.k.max(other.k), n as f64)
        };
        let others = clusters.iter().enumerate().filter(|(j, _)| *j != i);
        let mut partners: Vec<(bool, f64, usize)> = others
            .filter_map(|(j, other)| {
                let other = other.as_ref()?;
                Some((shares_joint(own, other), most(other), j))
            })
            .filter(|partner| partner.1 > 0.0)
            .collect();
        partners.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)));
        let n_common = partners.iter().filter(|p| p.0).count();
        let common = partners.iter().take(n_common.min(COMMON_PARTNERS));
        let others = partners.iter().skip(n_common).take(OTHER_PARTNERS);
        let chosen: Vec<usize> = common.chain(others).map(|p| p.2).collect();
        let found: Vec<((usize, usize), Merge)> = chosen
            .into_par_iter()
            .filter(|&j| !merges.contains_key(&(i.min(j), i.max(j))))
            .filter_map(|j| {
                let other = clusters[j].as_ref()?;
                let (points, gram) = union(own, other);
                let (k, error) = self.rank(&points, &gram);
                let after = prices.of_block(k, points.len() as f64);
                let gain = bytes(own) + bytes(other) - after;
                (gain > 0.0).then_some(((i.min(j), i.max(j)), Merge { gain, k, error }))
            })
            .collect();
        merges.extend(found);
    }
}

fn shares_joint(a: &Cluster, b: &Cluster) -> bool {
    let joints = |c: &Cluster| -> Vec<u16> { c.pairs.iter().flat_map(|p| [p.0, p.1]).collect() };
    let own = joints(a);
    joints(b).iter().any(|joint| own.contains(joint))
}

/// The points and the Gram matrix of two clusters.
fn union(a: &Cluster, b: &Cluster) -> (Vec<u32>, Vec<f64>) {
    let mut points: Vec<u32> = a.points.iter().chain(&b.points).copied().collect();
    points.sort_unstable();
    let gram = a.gram.iter().zip(&b.gram).map(|(a, b)| a + b);
    (points, gram.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DMat3, Vec3};

    const LIMITS: RegionLimits = RegionLimits {
        still: 1e-3,
        target_error: 1e-3,
        most: 100,
    };

    fn prices(target: f64) -> MorphPrices {
        MorphPrices {
            target,
            target_alone: target,
            entry: 14.0,
            tracks: 0.0,
            extra: 0,
        }
    }

    /// Two limbs of `n` points: the first moves by sin, the other by `other` over 12 frames, and points that rest.
    fn limbs(n: usize, other: impl Fn(f64) -> f64) -> (Residuals, Vec<JointPair>) {
        let mut residuals = Residuals {
            t: 12,
            a: Vec::new(),
            r: Vec::new(),
        };
        let mut pairs = Vec::new();
        for p in 0..3 * n {
            let limb = p % 3;
            pairs.push([(0, 1), (1, 2), (2, 3)][limb]);
            let b = Vec3::new(1.0, (p as f32).sin(), 0.3);
            for f in 0..12 {
                let at = f64::from(f) * 0.5;
                let w = [at.sin(), other(at), 0.0][limb];
                let a = DMat3::from_rotation_z(0.1 * at);
                residuals.a.push(a.to_cols_array().map(|x| x as f32));
                residuals
                    .r
                    .push((a * (b.as_dvec3() * w)).to_array().map(|x| x as f32));
            }
        }
        (residuals, pairs)
    }

    #[test]
    fn limbs_that_move_apart_have_targets_of_their_own() {
        let (residuals, pairs) = limbs(50, |at| (3.0 * at).cos());
        let found = partition(&residuals, &pairs, &prices(400.0), LIMITS, &Task::new()).unwrap();
        let mut ks: Vec<_> = found
            .regions
            .iter()
            .map(|r| (r.pairs.clone(), r.k))
            .collect();
        ks.sort();
        // The third limb rests.
        assert_eq!(ks, vec![(vec![(0, 1)], 1), (vec![(1, 2)], 1)]);
        assert!(found.max_error < 1e-3 && found.k() == 2, "{found:?}");
    }

    #[test]
    fn limbs_that_move_together_share_their_targets_where_these_are_dear() {
        let (residuals, pairs) = limbs(50, f64::sin);
        let found = partition(&residuals, &pairs, &prices(400.0), LIMITS, &Task::new()).unwrap();
        assert_eq!(found.regions.len(), 1);
        assert_eq!((found.regions[0].n_points, found.k()), (100, 1));
        assert_eq!(found.by_pair()[&(1, 2)], 0);
    }

    #[test]
    fn fewer_targets_leave_a_larger_error() {
        let (residuals, pairs) = limbs(50, |at| (3.0 * at).cos() + at);
        let few = RegionLimits { most: 1, ..LIMITS };
        let found = partition(&residuals, &pairs, &prices(400.0), few, &Task::new()).unwrap();
        assert!(found.k() <= 1 && found.max_error > 1e-3, "{found:?}");
    }

    #[test]
    fn the_two_heaviest_joints_are_found() {
        assert_eq!(pair_of(&vec![(4, 0.2), (2, 0.5), (9, 0.3)]), (2, 9));
        assert_eq!(pair_of(&vec![(4, 1.0)]), (4, 4));
        assert_eq!(pair_of(&Vec::new()), (0, 0));
    }
}
