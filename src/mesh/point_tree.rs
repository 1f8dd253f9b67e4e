//! Nearest-neighbour queries among points (k-d tree).

use glam::Vec3;

/// Number of points in a leaf of the tree.
const LEAF: usize = 12;

/// Subtrees smaller than this are built on one thread.
const SERIAL: usize = 8192;

/// A k-d tree over some of the points of an array (Bentley 1975), balanced, without pointers: the middle of each run
/// splits it.
///
/// It stores indices only; every call takes the same positions.
#[derive(Clone, Debug, Default)]
pub struct PointTree {
    points: Vec<u32>,
    /// The axis split by the point in the middle of a run.
    axes: Vec<u8>,
}

/// The best point of a search so far.
struct Best<K> {
    /// Squared.
    distance: f32,
    found: Option<(K, u32)>,
}

impl PointTree {
    /// The tree of `points`, indices into `positions`.
    pub fn new(positions: &[Vec3], mut points: Vec<u32>) -> Self {
        let mut axes = vec![0; points.len()];
        build(positions, &mut points, &mut axes);
        Self { points, axes }
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// The point nearest to `at`, no farther than `reach`; of equally near ones that of the lowest `order`.
    pub fn nearest(&self, positions: &[Vec3], at: Vec3, reach: f32) -> Option<u32> {
        self.nearest_by(positions, at, reach, |p| {
            (positions[p as usize].distance_squared(at), p)
        })
    }
    /// The same with a custom metric: `measure` returns the squared distance from `at`, up to rounding, and the order of
    /// equally near points.
    pub fn nearest_by<K: Ord + Copy>(
        &self,
        positions: &[Vec3],
        at: Vec3,
        reach: f32,
        measure: impl Fn(u32) -> (f32, K),
    ) -> Option<u32> {
        let mut best = Best {
            distance: reach * reach,
            found: None,
        };
        self.visit(0..self.points.len(), positions, at, &measure, &mut best);
        best.found.map(|(_, point)| point)
    }

    fn visit<K: Ord + Copy>(
        &self,
        run: std::ops::Range<usize>,
        positions: &[Vec3],
        at: Vec3,
        measure: &impl Fn(u32) -> (f32, K),
        best: &mut Best<K>,
    ) {
        let mut consider = |point: u32| {
            let (distance, order) = measure(point);
            let nearer = match &best.found {
                Some((found, _)) => {
                    distance < best.distance || distance == best.distance && order < *found
                }
                None => distance <= best.distance,
            };
            if nearer {
                best.distance = distance;
                best.found = Some((order, point));
            }
        };
        if run.len() <= LEAF {
            self.points[run].iter().copied().for_each(consider);
            return;
        }
        let middle = run.start + run.len() / 2;
        let point = self.points[middle];
        consider(point);
        let axis = usize::from(self.axes[middle]);
        let beyond = at[axis] - positions[point as usize][axis];
        let (below, above) = (run.start..middle, middle + 1..run.end);
        let (near, far) = if beyond < 0.0 {
            (below, above)
        } else {
            (above, below)
        };
        self.visit(near, positions, at, measure, best);
        // A little more than the distance, so that rounding excludes no equally near point.
        if beyond * beyond <= best.distance * (1.0 + 1e-5) {
            self.visit(far, positions, at, measure, best);
        }
    }
}

fn build(positions: &[Vec3], points: &mut [u32], axes: &mut [u8]) {
    if points.len() <= LEAF {
        return;
    }
    let mut low = Vec3::INFINITY;
    let mut high = Vec3::NEG_INFINITY;
    for &p in points.iter() {
        low = low.min(positions[p as usize]);
        high = high.max(positions[p as usize]);
    }
    let axis = (high - low).max_position();
    let middle = points.len() / 2;
    points.select_nth_unstable_by(middle, |&a, &b| {
        let (pa, pb) = (positions[a as usize][axis], positions[b as usize][axis]);
        pa.total_cmp(&pb).then(a.cmp(&b))
    });
    axes[middle] = axis as u8;
    let is_large = points.len() > SERIAL;
    let (below, rest) = points.split_at_mut(middle);
    let (axes_below, axes_rest) = axes.split_at_mut(middle);
    let (above, axes_above) = (&mut rest[1..], &mut axes_rest[1..]);
    if is_large {
        rayon::join(
            || build(positions, below, axes_below),
            || build(positions, above, axes_above),
        );
    } else {
        build(positions, below, axes_below);
        build(positions, above, axes_above);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_finds_what_asking_every_point_finds() {
        // A lattice with many equal distances, so that the order decides often.
        let positions: Vec<Vec3> = (0..20_000u32)
            .map(|i| {
                Vec3::new(
                    (i % 27) as f32,
                    (i / 27 % 27) as f32,
                    (i / 729) as f32 * 0.5,
                )
            })
            .collect();
        let tree = PointTree::new(&positions, (0..20_000).collect());
        for i in 0..300u32 {
            let at = Vec3::new(
                (i % 17) as f32 * 1.5,
                (i % 29) as f32 * 0.9 - 1.0,
                (i % 11) as f32 * 1.25,
            );
            let slow = (0..20_000u32)
                .map(|p| (positions[p as usize].distance_squared(at), p))
                .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
                .filter(|(d, _)| *d <= 1.0)
                .map(|(_, p)| p);
            assert_eq!(tree.nearest(&positions, at, 1.0), slow, "{at}");
        }
        assert_eq!(PointTree::default().nearest(&[], Vec3::ZERO, 1.0), None);
    }
}
