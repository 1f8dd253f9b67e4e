//! The custom falloff curve of a brush, from its centre to its rim.

use super::falloff::Falloff;
use crate::math::monotone_cubic::fritsch_carlson;
use glam::Vec2;

/// The effect over the distance from the centre, both 0 - 1, through points: monotone cubic pieces between them, so
/// that it never overshoots (Fritsch & Carlson 1980).
///
/// It has 2 to [`Curve::MAX_POINTS`] points; the first lies at distance 0 and the last at 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curve {
    n_points: usize,
    points: [Vec2; Self::MAX_POINTS],
    slopes: [f32; Self::MAX_POINTS],
}

impl Curve {
    /// Maximum number of points.
    pub const MAX_POINTS: usize = 12;
    /// Minimum distance between points, along x.
    pub const MIN_SPACING: f32 = 0.01;

    /// The curve through `points`: sorted by distance, clamped to 0 - 1, without those that are too close to another or
    /// too many. If fewer than two are left it is that of [`Falloff::Smooth`].
    pub fn new(points: &[Vec2]) -> Self {
        let mut kept: Vec<Vec2> = points
            .iter()
            .filter(|p| p.is_finite())
            .map(|p| p.clamp(Vec2::ZERO, Vec2::ONE))
            .collect();
        kept.sort_by(|a, b| a.x.total_cmp(&b.x));
        kept.dedup_by(|b, a| b.x - a.x < Self::MIN_SPACING);
        kept.truncate(Self::MAX_POINTS);
        if kept.len() < 2 {
            return Self::like(Falloff::Smooth);
        }
        let last = kept.len() - 1;
        kept[0].x = 0.0;
        kept[last].x = 1.0;
        let mut curve = Self {
            n_points: kept.len(),
            points: [Vec2::ZERO; Self::MAX_POINTS],
            slopes: [0.0; Self::MAX_POINTS],
        };
        curve.points[..kept.len()].copy_from_slice(&kept);
        curve.find_slopes();
        curve
    }

    /// The custom curve that approximates another falloff.
    pub fn like(falloff: Falloff) -> Self {
        let places: &[f32] = match falloff {
            Falloff::Linear | Falloff::Constant | Falloff::Custom => &[0.0, 1.0],
            Falloff::Smooth | Falloff::Sharp => &[0.0, 0.25, 0.5, 0.75, 1.0],
            Falloff::Root => &[0.0, 0.4, 0.75, 0.94, 1.0],
        };
        let plain = if falloff == Falloff::Custom {
            Falloff::Linear
        } else {
            falloff
        };
        let points: Vec<Vec2> = places
            .iter()
            .map(|&x| Vec2::new(x, plain.shape(x)))
            .collect();
        Self::new(&points)
    }

    /// Its points, from the centre outwards.
    pub fn points(&self) -> &[Vec2] {
        &self.points[..self.n_points]
    }

    /// The effect at `x`, 0 - 1.
    pub fn at(&self, x: f32) -> f32 {
        let points = self.points();
        let i = points[1..points.len() - 1].partition_point(|p| p.x <= x);
        let (a, b) = (points[i], points[i + 1]);
        let width = b.x - a.x;
        let t = ((x - a.x) / width).clamp(0.0, 1.0);
        let (t2, t3) = (t * t, t * t * t);
        let value = a.y * (2.0 * t3 - 3.0 * t2 + 1.0)
            + b.y * (3.0 * t2 - 2.0 * t3)
            + width * self.slopes[i] * (t3 - 2.0 * t2 + t)
            + width * self.slopes[i + 1] * (t3 - t2);
        value.clamp(0.0, 1.0)
    }

    /// Adds a point; returns the curve and the point's index, `None` if it already has the maximum number.
    pub fn with(&self, point: Vec2) -> Option<(Self, usize)> {
        let is_free = |p: &Vec2| (p.x - point.x).abs() >= Self::MIN_SPACING;
        if self.n_points == Self::MAX_POINTS || !self.points().iter().all(is_free) {
            return None;
        }
        let mut points = self.points().to_vec();
        let i = points.partition_point(|p| p.x < point.x);
        if i == 0 || i == points.len() {
            return None;
        }
        points.insert(i, point);
        Some((Self::new(&points), i))
    }

    /// Moves the point `index`, between its neighbours; the end points only vertically.
    #[must_use]
    pub fn moved(&self, index: usize, to: Vec2) -> Self {
        let mut points = self.points().to_vec();
        let last = points.len() - 1;
        if index > last || !to.is_finite() {
            return *self;
        }
        let x = if index == 0 || index == last {
            points[index].x
        } else {
            // Slightly more than the minimum, so that rounding does not drop it.
            let spacing = Self::MIN_SPACING * 1.01;
            let (low, high) = (points[index - 1].x + spacing, points[index + 1].x - spacing);
            to.x.clamp(low.min(high), high)
        };
        points[index] = Vec2::new(x, to.y);
        Self::new(&points)
    }

    /// Removes the point `index`; the end points stay.
    #[must_use]
    pub fn without(&self, index: usize) -> Self {
        if index == 0 || index + 1 >= self.n_points {
            return *self;
        }
        let mut points = self.points().to_vec();
        points.remove(index);
        Self::new(&points)
    }

    fn find_slopes(&mut self) {
        let [x, y] = [0, 1].map(|axis| {
            let places = self.points().iter().map(|p| f64::from(p[axis]));
            places.collect::<Vec<_>>()
        });
        let slopes = fritsch_carlson(&x, &y);
        for (slope, exact) in self.slopes.iter_mut().zip(slopes) {
            *slope = exact as f32;
        }
    }
}

impl Default for Curve {
    fn default() -> Self {
        Self::like(Falloff::Smooth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_through_its_points_and_never_beyond_two_neighbours() {
        let points = [(0.0, 0.2), (0.3, 0.9), (0.5, 0.9), (0.8, 0.1), (1.0, 0.4)];
        let points = points.map(Vec2::from);
        let curve = Curve::new(&points);
        for p in points {
            assert!((curve.at(p.x) - p.y).abs() < 1e-6);
        }
        for i in 0..=1000 {
            let x = i as f32 / 1000.0;
            let after = points.iter().position(|p| p.x >= x).unwrap().max(1);
            let (a, b) = (points[after - 1].y, points[after].y);
            let y = curve.at(x);
            assert!((a.min(b) - 1e-6..=a.max(b) + 1e-6).contains(&y), "{x} {y}");
        }
    }

    #[test]
    fn points_are_moved_added_and_removed_within_bounds() {
        let curve = Curve::like(Falloff::Linear);
        assert_eq!(curve.points().len(), 2);
        let (curve, i) = curve.with(Vec2::new(0.5, 0.9)).unwrap();
        assert_eq!((i, curve.points().len()), (1, 3));
        assert_eq!(curve.with(Vec2::new(0.5, 0.1)), None, "one is there");
        let moved = curve.moved(1, Vec2::new(7.0, -3.0));
        assert_eq!(moved.points().len(), 3);
        assert!(moved.points()[1].x < 1.0 && moved.points()[1].y == 0.0);
        let end = curve.moved(0, Vec2::new(0.4, 0.5));
        assert_eq!(end.points()[0], Vec2::new(0.0, 0.5));
        assert_eq!(curve.without(0), curve, "the ends stay");
        assert_eq!(curve.without(1), Curve::like(Falloff::Linear));
        let mut full = curve;
        for i in 0..40 {
            let x = 0.02 + i as f32 * 0.024;
            full = full.with(Vec2::new(x, 0.5)).map_or(full, |(c, _)| c);
        }
        assert_eq!(full.points().len(), Curve::MAX_POINTS);
    }

    #[test]
    fn any_points_make_a_valid_curve() {
        assert_eq!(Curve::new(&[]), Curve::default());
        assert_eq!(Curve::new(&[Vec2::new(0.5, 1.0)]), Curve::default());
        let points = [(1.0, -4.0), (0.2, 7.0), (0.2001, 0.3), (0.6, 0.5)];
        let odd = Curve::new(&points.map(Vec2::from));
        let expected = [(0.0, 1.0), (0.6, 0.5), (1.0, 0.0)].map(Vec2::from);
        assert_eq!(odd.points(), expected);
        assert_eq!(Curve::new(odd.points()), odd);
    }

    #[test]
    fn the_presets_look_like_the_shapes() {
        for falloff in [
            Falloff::Smooth,
            Falloff::Linear,
            Falloff::Sharp,
            Falloff::Root,
        ] {
            let curve = Curve::like(falloff);
            for i in 0..=20 {
                let x = i as f32 / 20.0;
                let off = (curve.at(x) - falloff.at(x, |x| curve.at(x))).abs();
                assert!(off < 0.08, "{falloff:?} at {x}: {off}");
            }
        }
    }
}
