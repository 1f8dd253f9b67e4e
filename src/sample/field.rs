//! A smooth body as a signed distance: round cones under a smooth union.

use glam::DVec3;
use rayon::prelude::*;

/// The hull of two balls: centres `a`, `b`, radii `ra`, `rb`; neither ball holds the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundCone {
    a: DVec3,
    ra: f64,
    rb: f64,
    axis: DVec3,
    length_squared: f64,
}

/// A station along a limb: joint, centre, radius.
pub(super) type Station = (u16, DVec3, f64);

/// Collects the cones of a body.
#[derive(Default)]
pub(super) struct Flesh {
    pub(super) parts: Vec<Part>,
    n_groups: u16,
}

impl Flesh {
    /// Adds a limb of two balls.
    pub(super) fn add(&mut self, joint: u16, blend: f64, a: (DVec3, f64), b: (DVec3, f64)) {
        self.limb(blend, &[(joint, a.0, a.1), (joint, b.0, b.1)]);
    }

    /// Adds a limb whose centre line and radius interpolate `stations` (Catmull-Rom spline).
    pub(super) fn limb(&mut self, blend: f64, stations: &[Station]) {
        let last = stations.len() - 1;
        let n_steps = if last == 1 { 1 } else { 5 };
        let at = |k: usize, t: f64| {
            let [a, b, c, d] = [k.saturating_sub(1), k, k + 1, (k + 2).min(last)]
                .map(|i| stations[i].1.extend(stations[i].2));
            let (t2, t3) = (t * t, t * t * t);
            (b * 2.0
                + (c - a) * t
                + (a * 2.0 - b * 5.0 + c * 4.0 - d) * t2
                + (b * 3.0 - a - c * 3.0 + d) * t3)
                * 0.5
        };
        for (k, &(joint, ..)) in stations[..last].iter().enumerate() {
            for step in 0..n_steps {
                let [a, b] = [step, step + 1].map(|s| at(k, s as f64 / n_steps as f64));
                self.parts.push(Part {
                    cone: RoundCone::new(a.truncate(), b.truncate(), a.w, b.w),
                    joint,
                    twin: None,
                    group: self.n_groups,
                    blend,
                });
            }
        }
        self.n_groups += 1;
    }
}

/// A part of the body: a cone of one joint and, in a symmetric body, its mirror image at -x.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) cone: RoundCone,
    pub(super) joint: u16,
    pub(super) twin: Option<(RoundCone, u16)>,
    /// The limb's number. Consecutive parts of one limb share balls and get a plain union.
    pub(super) group: u16,
    /// Width of the smooth union of the limb with the previous ones, metres.
    pub(super) blend: f64,
}

/// Width of the smooth union of a part and its mirror image, metres.
const TWIN_BLEND: f64 = 0.05;

/// Width of the rounding between a sole and its sides, metres.
const SOLE_BLEND: f64 = 0.012;

/// All parts, and for each block of space those that can contribute to the surface.
pub(super) struct Field {
    pub(super) parts: Vec<Part>,
    /// Whether the body ends at y = 0 with a flat sole.
    stands: bool,
    low: DVec3,
    block_size: f64,
    n_blocks: [usize; 3],
    /// Candidates of each block that the surface may cross; `None` elsewhere.
    blocks: Vec<Option<Box<[u16]>>>,
    all: Box<[u16]>,
}

/// A distance, metres, and its gradient.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    pub(super) distance: f64,
    pub(super) gradient: DVec3,
}

impl RoundCone {
    pub(super) fn new(a: DVec3, b: DVec3, ra: f64, rb: f64) -> Self {
        let axis = b - a;
        let length_squared = axis.length_squared();
        debug_assert!(length_squared > (ra - rb) * (ra - rb), "{a} {b} {ra} {rb}");
        Self {
            a,
            ra,
            rb,
            axis,
            length_squared,
        }
    }

    /// Whether both centres lie at x = 0.
    pub(super) fn is_central(&self) -> bool {
        self.a.x == 0.0 && self.axis.x == 0.0
    }

    /// The cone at -x.
    pub(super) fn mirrored(&self) -> Self {
        let flip = |v: DVec3| DVec3::new(-v.x, v.y, v.z);
        Self {
            a: flip(self.a),
            axis: flip(self.axis),
            ..*self
        }
    }

    /// Signed distance and its gradient (Quilez, "Round cone", in the form for arbitrary end points).
    pub(super) fn hit(&self, p: DVec3) -> Hit {
        let from_a = p - self.a;
        let along = from_a.dot(self.axis) / self.length_squared;
        let beside = from_a - self.axis * along;
        let rho = beside.length();
        let dr = self.ra - self.rb;
        let length = self.length_squared.sqrt();
        // The cone's side touches each ball at a ring that lies dr / length * rho behind the foot point.
        let slope = dr / (self.length_squared - dr * dr).sqrt() / length;
        let foot = along - slope * rho;
        let ball = |offset: DVec3, radius: f64| {
            let l = offset.length();
            Hit {
                distance: l - radius,
                gradient: if l > 0.0 { offset / l } else { DVec3::Y },
            }
        };
        if foot <= 0.0 {
            return ball(from_a, self.ra);
        }
        if foot >= 1.0 {
            return ball(from_a - self.axis, self.rb);
        }
        let cos = (1.0 - dr * dr / self.length_squared).sqrt();
        let out = if rho > 0.0 { beside / rho } else { DVec3::ZERO };
        Hit {
            distance: rho * cos + along * dr - self.ra,
            gradient: out * cos + self.axis * (dr / self.length_squared),
        }
    }

    /// Radius of the cone beside `p`.
    fn radius_at(&self, p: DVec3) -> f64 {
        let t = ((p - self.a).dot(self.axis) / self.length_squared).clamp(0.0, 1.0);
        self.ra + (self.rb - self.ra) * t
    }

    fn bounds(&self) -> (DVec3, DVec3) {
        let b = self.a + self.axis;
        (
            (self.a - self.ra).min(b - self.rb),
            (self.a + self.ra).max(b + self.rb),
        )
    }
}

/// Smooth minimum with a quadratic fillet of width `k`; exactly the smaller one where they differ by `k` or more.
fn smooth_min(a: Hit, b: Hit, k: f64) -> Hit {
    let (near, far) = if a.distance <= b.distance {
        (a, b)
    } else {
        (b, a)
    };
    let overlap = k - (far.distance - near.distance);
    // An infinite distance means no limb, on either side.
    if far.distance.is_infinite() || overlap <= 0.0 {
        return near;
    }
    let h = overlap / k;
    Hit {
        distance: near.distance - overlap * h / 4.0,
        gradient: near.gradient * (1.0 - h / 2.0) + far.gradient * (h / 2.0),
    }
}

impl Field {
    /// The field of `parts`, with blocks of `block_size` metres that start at `x = 0` where `half`, cut at the
    /// ground where it `stands`.
    pub(super) fn new(parts: Vec<Part>, block_size: f64, half: bool, stands: bool) -> Self {
        let mut low = DVec3::INFINITY;
        let mut high = DVec3::NEG_INFINITY;
        for part in &parts {
            let (l, h) = part.cone.bounds();
            (low, high) = (low.min(l), high.max(h));
        }
        // Smooth unions swell by a quarter of their width; few meet at one position.
        let widest = parts.iter().fold(TWIN_BLEND, |w: f64, p| w.max(p.blend));
        low -= block_size * 0.37 + widest * 0.75;
        high += block_size * 0.37 + widest * 0.75;
        if half {
            low.x = 0.0;
        }
        let count = |extent: f64| (extent / block_size).ceil() as usize;
        let extent = high - low;
        let n_blocks = [count(extent.x), count(extent.y), count(extent.z)];
        let all: Box<[u16]> = (0..parts.len() as u16).collect();
        let mut field = Self {
            parts,
            stands,
            low,
            block_size,
            n_blocks,
            blocks: Vec::new(),
            all,
        }; // The value at the centre bounds the whole block: the distance is 1-Lipschitz. A margin of twice the widest union
        // keeps the result bit-equal to that of all parts.
        let reach = block_size * 0.5 * 3f64.sqrt();
        field.blocks = (0..n_blocks[0] * n_blocks[1] * n_blocks[2])
            .into_par_iter()
            .map(|i| {
                let [x, y, z] = field.block_index(i);
                let centre =
                    low + (DVec3::new(x as f64, y as f64, z as f64) + 0.5) * field.block_size;
                let distance = field.hit_of(&field.all, centre).distance;
                (distance.abs() <= reach * 1.3).then(|| {
                    field
                        .all
                        .iter()
                        .copied()
                        .filter(|&part| {
                            let d = field.parts[part as usize].nearest(centre);
                            d <= distance + 2.6 * reach + 2.0 * widest
                        })
                        .collect()
                })
            })
            .collect();
        field
    }

    /// Lowest corner of the grid.
    pub(super) fn low(&self) -> DVec3 {
        self.low
    }

    /// Blocks along each axis.
    pub(super) fn n_blocks(&self) -> [usize; 3] {
        self.n_blocks
    }

    /// Coordinates of block `i`.
    pub(super) fn block_index(&self, i: usize) -> [usize; 3] {
        let [nx, ny, _] = self.n_blocks;
        [i % nx, i / nx % ny, i / nx / ny]
    }

    /// The parts that can contribute in block `i`, if the surface may cross it.
    pub(super) fn block(&self, i: usize) -> Option<&[u16]> {
        self.blocks[i].as_deref()
    }

    /// The parts that can contribute at `p`.
    pub(super) fn candidates(&self, p: DVec3) -> &[u16] {
        let cell = (p - self.low) / self.block_size;
        let inside = |x: f64, n: usize| x >= 0.0 && x < n as f64;
        let [nx, ny, nz] = self.n_blocks;
        // A half body is queried at x >= 0 only.
        if !(inside(cell.x, nx) && inside(cell.y, ny) && inside(cell.z, nz)) {
            return &self.all;
        }
        let i = cell.x as usize + nx * (cell.y as usize + ny * cell.z as usize);
        self.blocks[i].as_deref().unwrap_or(&self.all)
    }

    /// Signed distance of the smooth union at `p`, and its gradient.
    pub(super) fn hit(&self, p: DVec3) -> Hit {
        self.hit_of(self.candidates(p), p)
    }

    /// [`Field::hit`] of some of the parts.
    pub(super) fn hit_of(&self, candidates: &[u16], p: DVec3) -> Hit {
        const FAR: Hit = Hit {
            distance: f64::INFINITY,
            gradient: DVec3::ZERO,
        };
        let nearer = |a: Hit, b: Hit| if b.distance < a.distance { b } else { a };
        let mut union = FAR;
        let mut rest = candidates;
        while let Some(&first) = rest.first() {
            let Part { group, blend, .. } = self.parts[first as usize];
            let (mut limb, mut twin) = (FAR, FAR);
            while let Some((&i, later)) = rest.split_first() {
                let part = &self.parts[i as usize];
                if part.group != group {
                    break;
                }
                limb = nearer(limb, part.cone.hit(p));
                if let Some((cone, _)) = &part.twin {
                    twin = nearer(twin, cone.hit(p));
                }
                rest = later;
            }
            // Mirror images are united first: the result is symmetric to the last bit.
            let both = smooth_min(limb, twin, TWIN_BLEND);
            union = smooth_min(union, both, blend);
        }
        if self.stands {
            // The part above the ground, by the smooth maximum with the distance below it.
            let below = Hit {
                distance: p.y,
                gradient: DVec3::Y,
            };
            let inside = Hit {
                distance: -union.distance,
                gradient: -union.gradient,
            };
            let cut = smooth_min(inside, below, SOLE_BLEND);
            return Hit {
                distance: -cut.distance,
                gradient: -cut.gradient,
            };
        }
        union
    }

    /// The point of the surface near `p`, by Newton's method along the gradient.
    pub(super) fn project(&self, p: DVec3, n_steps: usize) -> DVec3 {
        let mut p = p;
        for _ in 0..n_steps {
            let hit = self.hit(p);
            let slope = hit.gradient.length_squared().max(0.05);
            p -= hit.gradient * (hit.distance / slope);
        }
        p
    }

    /// Outward unit normal of the surface at `p`, by differences over a tetrahedron of corners.
    pub(super) fn normal(&self, p: DVec3) -> DVec3 {
        const STEP: f64 = 2e-4;
        let candidates = self.candidates(p);
        [(1., -1., -1.), (-1., -1., 1.), (-1., 1., -1.), (1., 1., 1.)]
            .into_iter()
            .map(|(x, y, z)| {
                let corner = DVec3::new(x, y, z);
                corner * self.hit_of(candidates, p + corner * STEP).distance
            })
            .sum::<DVec3>()
            .try_normalize()
            .unwrap_or(DVec3::Y)
    }

    /// Radius of the body's part nearest to `p`, metres.
    pub(super) fn radius(&self, p: DVec3) -> f64 {
        let mut nearest = (f64::INFINITY, 0.0);
        for &i in self.candidates(p) {
            let part = &self.parts[i as usize];
            let d = part.cone.hit(p).distance;
            if d < nearest.0 {
                nearest = (d, part.cone.radius_at(p));
            }
        }
        nearest.1
    }
}

impl Part {
    fn nearest(&self, p: DVec3) -> f64 {
        let d = self.cone.hit(p).distance;
        self.twin.map_or(d, |(twin, _)| d.min(twin.hit(p).distance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_cone_measures_from_its_balls_and_its_side() {
        let cone = RoundCone::new(DVec3::ZERO, DVec3::new(4.0, 0.0, 0.0), 1.0, 1.0);
        assert_eq!(cone.hit(DVec3::new(-3.0, 0.0, 0.0)).distance, 2.0);
        assert_eq!(cone.hit(DVec3::new(7.0, 0.0, 0.0)).distance, 2.0);
        assert_eq!(cone.hit(DVec3::new(2.0, 3.0, 0.0)).distance, 2.0);
        let tapered = RoundCone::new(DVec3::ZERO, DVec3::new(5.0, 0.0, 0.0), 4.0, 1.0);
        // The side's normal is (3/5, 4/5): a foot on the first ball is at (12/5, 16/5).
        let hit = tapered.hit(DVec3::new(2.4 + 0.6 + 0.8, 3.2 + 0.8 - 0.6, 0.0));
        assert!((hit.distance - 1.0).abs() < 1e-12, "{hit:?}");
        assert!(hit.gradient.abs_diff_eq(DVec3::new(0.6, 0.8, 0.0), 1e-12));
    }
}
