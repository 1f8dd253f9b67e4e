//! Regions of the body with morph targets of their own.
//!
//! A target that moves one region only has entries for the points of that region. Points start in clusters by their two
//! heaviest joints and, where many points blend the same two, by bands of the blend. Two clusters merge while one set of
//! targets for both takes fewer bytes than two sets. The number of targets of a cluster is the rank of its residuals, pulled
//! back to bind space, that leaves at most the target error (truncated singular value decomposition; an upper bound of what
//! alternating least squares need later).

use super::bands::{BlendBand, JointPair, Members, first_clusters, of_joint_pairs};
use super::displacements::Residuals;
use super::linear::eigenvectors;
use super::prices::MorphPrices;
use crate::math::Worse;
use crate::task::{Cancelled, Task};
use glam::DVec3;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Merging a cluster is tried with this many others: bands of the same blend, clusters with a common joint, and the rest.
/// They bound the time.
const BAND_PARTNERS: usize = 3;
const COMMON_PARTNERS: usize = 6;
const OTHER_PARTNERS: usize = 2;

/// The factor by which the error may rise until the targets are few enough.
const ERROR_STEP: f64 = 1.2;
/// It rises this often at most: 8e7 times, beyond any residual, so that no region has a displacement left.
const MAX_ERROR_STEPS: usize = 100;

/// A region, for points of some residuals.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    /// The bands of its points, ascending.
    pub(crate) bands: Vec<BlendBand>,
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

    /// The region of each band.
    pub(crate) fn by_band(&self) -> BTreeMap<BlendBand, usize> {
        let regions = self.regions.iter().enumerate();
        regions
            .flat_map(|(i, region)| region.bands.iter().map(move |&band| (band, i)))
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

/// A cluster of points.
#[derive(Clone)]
struct Cluster {
    bands: Vec<BlendBand>,
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

/// Divides points into regions. `bands`: the band of each point. The prices are of a point of the residuals.
pub(crate) fn partition(
    residuals: &Residuals,
    bands: &[BlendBand],
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
    let mut by_band: BTreeMap<BlendBand, Vec<u32>> = BTreeMap::new();
    let mut still = 0.0f64;
    for (i, (&band, &norm)) in bands.iter().zip(&norms).enumerate() {
        if norm <= limits.still {
            still = still.worse(norm);
        } else {
            by_band.entry(band).or_default().push(i as u32);
        }
    }
    let bands = first_clusters(&by_band, prices);
    let pairs = of_joint_pairs(&by_band);
    let is_split = bands.len() > pairs.len();
    let (mut max_error, mut clusters) = pulled.divide(bands, prices, limits, task)?;
    // The ranks of bands add up to more targets than those of whole blends; if these are too many, the error rises.
    if is_split && max_error > limits.target_error {
        let (error, whole) = pulled.divide(pairs, prices, limits, task)?;
        if error < max_error {
            (max_error, clusters) = (error, whole);
        }
    }
    let regions = clusters.into_iter().filter(|c| c.k > 0).map(|c| Region {
        bands: c.bands,
        n_points: c.points.len(),
        k: c.k,
    });
    Ok(Partition {
        regions: regions.collect(),
        max_error: still.worse(max_error),
    })
}

impl Pulled<'_> {
    /// Displacements of a point over time.
    fn of(&self, point: u32) -> &[[f32; 3]] {
        let t = self.residuals.t;
        &self.d[point as usize * t..(point as usize + 1) * t]
    }

    /// Merges clusters, then relaxes the target error until they need at most `limits.most` targets. Returns the largest
    /// error, world, and the clusters.
    fn divide(
        &mut self,
        clusters: Vec<Members>,
        prices: &MorphPrices,
        limits: RegionLimits,
        task: &Task,
    ) -> Result<(f64, Vec<Cluster>), Cancelled> {
        self.target_error = limits.target_error;
        let clusters: Vec<Cluster> = clusters
            .into_par_iter()
            .map(|(bands, points)| {
                let gram = self.gram(&points);
                let (k, error) = self.rank(&points, &gram);
                Cluster {
                    bands,
                    points,
                    gram,
                    k,
                    error,
                }
            })
            .collect();
        let mut clusters = self.merge(clusters, prices, task)?;
        let mut steps = 0;
        while clusters.iter().map(|c| c.k).sum::<usize>() > limits.most && steps < MAX_ERROR_STEPS {
            task.check()?;
            steps += 1;
            self.target_error *= ERROR_STEP;
            let pulled = &*self;
            clusters.par_iter_mut().for_each(|cluster| {
                (cluster.k, cluster.error) = pulled.rank(&cluster.points, &cluster.gram);
            });
        }
        let max_error = clusters.iter().map(|c| c.error).fold(0.0, f64::worse);
        Ok((max_error, clusters))
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
            let mut bands = low.bands;
            bands.extend(high.bands);
            bands.sort_unstable();
            clusters.push(Some(Cluster {
                bands,
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
        let joints = ClusterJoints::of(own);
        let bytes = |cluster: &Cluster| prices.of_block(cluster.k, cluster.points.len() as f64);
        // Both together need as many displacements as either.
        let most = |other: &Cluster| {
            let n = own.points.len() + other.points.len();
            bytes(own) + bytes(other) - prices.of_block(own.k.max(other.k), n as f64)
        };
        let others = clusters.iter().enumerate().filter(|(j, _)| *j != i);
        let mut partners: Vec<(SharedJoints, f64, usize)> = others
            .filter_map(|(j, other)| {
                let other = other.as_ref()?;
                Some((joints.shared_with(other), most(other), j))
            })
            .filter(|partner| partner.1 > 0.0)
            .collect();
        partners.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.2.cmp(&b.2)));
        let chosen = [
            (SharedJoints::Both, BAND_PARTNERS),
            (SharedJoints::One, COMMON_PARTNERS),
            (SharedJoints::None, OTHER_PARTNERS),
        ];
        let chosen: Vec<usize> = chosen
            .iter()
            .flat_map(|&(shared, most)| partners.iter().filter(move |p| p.0 == shared).take(most))
            .map(|partner| partner.2)
            .collect();
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

/// The joints that two clusters have in common: none, a single one, or both of a blend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SharedJoints {
    None,
    One,
    Both,
}

/// The joints of a cluster.
struct ClusterJoints {
    pairs: BTreeSet<JointPair>,
    joints: BTreeSet<u16>,
}

impl ClusterJoints {
    fn of(cluster: &Cluster) -> Self {
        let pairs: BTreeSet<JointPair> = cluster.bands.iter().map(|band| band.joints).collect();
        let joints = pairs.iter().flat_map(|pair| [pair.0, pair.1]).collect();
        Self { pairs, joints }
    }

    fn shared_with(&self, other: &Cluster) -> SharedJoints {
        let mut pairs = other.bands.iter().map(|band| band.joints);
        if pairs.clone().any(|pair| self.pairs.contains(&pair)) {
            SharedJoints::Both
        } else if pairs.any(|(a, b)| self.joints.contains(&a) || self.joints.contains(&b)) {
            SharedJoints::One
        } else {
            SharedJoints::None
        }
    }
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

    fn band(joints: JointPair, index: u8) -> BlendBand {
        BlendBand { joints, index }
    }

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
    fn limbs(n: usize, other: impl Fn(f64) -> f64) -> (Residuals, Vec<BlendBand>) {
        let mut residuals = Residuals {
            t: 12,
            a: Vec::new(),
            r: Vec::new(),
        };
        let mut bands = Vec::new();
        for p in 0..3 * n {
            let limb = p % 3;
            let joints = [(0, 1), (1, 2), (2, 3)][limb];
            bands.push(band(joints, 3));
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
        (residuals, bands)
    }

    #[test]
    fn limbs_that_move_apart_have_targets_of_their_own() {
        let (residuals, bands) = limbs(50, |at| (3.0 * at).cos());
        let found = partition(&residuals, &bands, &prices(400.0), LIMITS, &Task::new()).unwrap();
        let mut ks: Vec<_> = found
            .regions
            .iter()
            .map(|r| (r.bands.clone(), r.k))
            .collect();
        ks.sort();
        // The third limb rests.
        assert_eq!(
            ks,
            vec![(vec![band((0, 1), 3)], 1), (vec![band((1, 2), 3)], 1)]
        );
        assert!(found.max_error < 1e-3 && found.k() == 2, "{found:?}");
    }

    #[test]
    fn limbs_that_move_together_share_their_targets_where_these_are_dear() {
        let (residuals, bands) = limbs(50, f64::sin);
        let found = partition(&residuals, &bands, &prices(400.0), LIMITS, &Task::new()).unwrap();
        assert_eq!(found.regions.len(), 1);
        assert_eq!((found.regions[0].n_points, found.k()), (100, 1));
        assert_eq!(found.by_band()[&band((1, 2), 3)], 0);
    }

    #[test]
    fn fewer_targets_leave_a_larger_error() {
        let (residuals, bands) = limbs(50, |at| (3.0 * at).cos() + at);
        let few = RegionLimits { most: 1, ..LIMITS };
        let found = partition(&residuals, &bands, &prices(400.0), few, &Task::new()).unwrap();
        assert!(found.k() <= 1 && found.max_error > 1e-3, "{found:?}");
    }

    /// Points of one blend in three bands, of which one moves with a sine, one with a cosine, and one not at all.
    fn blend(n: usize) -> (Residuals, Vec<BlendBand>) {
        let (residuals, bands) = limbs(n, |at| (3.0 * at).cos());
        let bands = (0..bands.len()).map(|p| band((0, 1), (p % 3) as u8));
        (residuals, bands.collect())
    }

    #[test]
    fn bands_of_a_dense_blend_have_targets_of_their_own() {
        let found = |n: usize, target: f64| {
            let (residuals, bands) = blend(n);
            partition(&residuals, &bands, &prices(target), LIMITS, &Task::new()).unwrap()
        };
        let of_regions = |found: &Partition| -> Vec<_> {
            found.regions.iter().map(|r| (r.n_points, r.k)).collect()
        };
        // One target for each of two bands moves half as many points as two for both.
        let dense = found(200, 400.0);
        assert_eq!(of_regions(&dense), vec![(200, 1), (200, 1)]);
        assert!(dense.max_error < 1e-3);
        // Bands of few points are one cluster.
        assert_eq!(of_regions(&found(20, 400.0)), vec![(40, 2)]);
    }

    #[test]
    fn whole_blends_take_the_place_of_bands_that_need_too_many_targets() {
        // Each of three bands moves with two of three functions of time: bands need six targets, the whole blend three.
        let mut residuals = Residuals {
            t: 12,
            a: Vec::new(),
            r: Vec::new(),
        };
        let mut bands = Vec::new();
        for p in 0..600usize {
            let b = p % 3;
            bands.push(band((0, 1), b as u8));
            let (x, y) = ((p as f32).sin(), (p as f32).cos());
            for f in 0..12 {
                let at = 0.5 * f as f32;
                let functions = [at.sin(), (3.0 * at).cos(), 0.3 * at];
                residuals
                    .a
                    .push(DMat3::IDENTITY.to_cols_array().map(|x| x as f32));
                residuals
                    .r
                    .push([x * functions[b], y * functions[(b + 1) % 3], 0.0]);
            }
        }
        let found = |most: usize| {
            let limits = RegionLimits { most, ..LIMITS };
            partition(&residuals, &bands, &prices(400.0), limits, &Task::new()).unwrap()
        };
        let split = found(6);
        assert_eq!((split.regions.len(), split.k()), (3, 6));
        let whole = found(3);
        assert_eq!((whole.regions.len(), whole.k()), (1, 3));
        assert!(whole.max_error < 1e-3, "{whole:?}");
    }

    #[test]
    fn clusters_share_joints() {
        let cluster = |bands: &[BlendBand]| Cluster {
            bands: bands.to_vec(),
            points: Vec::new(),
            gram: Vec::new(),
            k: 0,
            error: 0.0,
        };
        let own = ClusterJoints::of(&cluster(&[band((0, 1), 0), band((3, 4), 2)]));
        let shared = |bands: &[BlendBand]| own.shared_with(&cluster(bands));
        assert_eq!(
            shared(&[band((5, 6), 0), band((3, 4), 7)]),
            SharedJoints::Both
        );
        assert_eq!(shared(&[band((1, 3), 0)]), SharedJoints::One);
        assert_eq!(shared(&[band((2, 5), 0)]), SharedJoints::None);
    }
}
