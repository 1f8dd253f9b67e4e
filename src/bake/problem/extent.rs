//! Axis-aligned boxes around points.

use glam::Vec3;

/// A box around the finite ones of some points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    low: Vec3,
    high: Vec3,
}

impl Extent {
    /// A box without points.
    pub(crate) const EMPTY: Self = Self {
        low: Vec3::INFINITY,
        high: Vec3::NEG_INFINITY,
    };

    /// Includes a point if it is finite.
    pub(crate) fn extend(&mut self, p: Vec3) {
        if p.is_finite() {
            self.low = self.low.min(p);
            self.high = self.high.max(p);
        }
    }

    /// The length of the diagonal; 0 where it is not finite.
    pub(crate) fn diagonal(&self) -> f64 {
        let size = f64::from((self.high - self.low).length());
        if size.is_finite() { size } else { 0.0 }
    }

    /// The largest absolute coordinate; 0 without points.
    pub(crate) fn reach(&self) -> f64 {
        let most = self.low.abs().max(self.high.abs()).max_element();
        if most.is_finite() {
            f64::from(most)
        } else {
            0.0
        }
    }

    /// The corners.
    pub(crate) fn corners(&self) -> impl Iterator<Item = Vec3> + use<> {
        let ends = [self.low, self.high];
        let corner = move |i: usize| Vec3::new(ends[i & 1].x, ends[(i >> 1) & 1].y, ends[i >> 2].z);
        (0..8).map(corner)
    }
}

impl FromIterator<Vec3> for Extent {
    fn from_iter<T: IntoIterator<Item = Vec3>>(points: T) -> Self {
        let mut extent = Self::EMPTY;
        points.into_iter().for_each(|p| extent.extend(p));
        extent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_without_points_has_no_size() {
        assert_eq!(Extent::EMPTY.diagonal(), 0.0);
        assert_eq!(Extent::EMPTY.reach(), 0.0);
    }

    #[test]
    fn points_without_a_position_are_left_out() {
        let points = [
            Vec3::NAN,
            Vec3::new(-2.0, 0.0, 0.0),
            Vec3::new(1.0, 4.0, 0.0),
        ];
        let extent: Extent = points.into_iter().collect();
        assert_eq!((extent.diagonal(), extent.reach()), (5.0, 4.0));
        let corners: Extent = extent.corners().collect();
        assert_eq!(corners.diagonal(), 5.0);
    }
}
