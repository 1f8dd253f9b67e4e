//! The rotation, scale and translation that best take markers to vertices.

use crate::math::polar::nearest_rotation;
use glam::{DMat3, DVec3};

/// Points whose distance from a common line is below this fraction of their extent count as collinear.
const COLLINEAR: f64 = 1e-4;

/// A map `x -> scale * rotation * x + translation`; its rotation is proper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Similarity {
    /// > 0.
    pub scale: f64,
    /// Orthonormal, determinant +1.
    pub rotation: DMat3,
    /// Metres.
    pub translation: DVec3,
}

/// A similarity and how well it fits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimilarityFit {
    /// The map.
    pub map: Similarity,
    /// Whether the points determine a rotation; if not, the map is a translation.
    pub has_rotation: bool,
    /// The root mean square distance that is left, metres.
    pub rms: f64,
    /// Whether the markers are a mirror image of the vertices: an axis of the data has the wrong sign.
    pub is_mirrored: bool,
}

/// Why markers cannot be fitted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimilarityError {
    /// There are no pairs.
    #[error("no marker has a value at the reference time, so that nothing can be fitted")]
    NoPairs,
    /// A position is not finite.
    #[error("pair {index} of a marker and a vertex is not finite")]
    NotFinite {
        /// Its index.
        index: usize,
    },
}

impl Similarity {
    /// No change.
    pub const IDENTITY: Self = Self {
        scale: 1.0,
        rotation: DMat3::IDENTITY,
        translation: DVec3::ZERO,
    };

    /// Where a position goes.
    pub fn point(&self, point: DVec3) -> DVec3 {
        self.vector(point) + self.translation
    }

    /// Where a displacement goes.
    pub fn vector(&self, vector: DVec3) -> DVec3 {
        self.rotation * vector * self.scale
    }
}

/// The similarity that takes the first of each pair closest to the second, in the least squares sense (Kabsch 1978,
/// Umeyama 1991, eq. 40 - 42); with scale 1 unless `with_scale`. Fewer than three points, or points on a line, give a
/// translation.
pub fn fit_similarity(
    pairs: &[[DVec3; 2]],
    with_scale: bool,
) -> Result<SimilarityFit, SimilarityError> {
    if pairs.is_empty() {
        return Err(SimilarityError::NoPairs);
    }
    let is_broken = |[a, b]: &[DVec3; 2]| !a.is_finite() || !b.is_finite();
    if let Some(index) = pairs.iter().position(is_broken) {
        return Err(SimilarityError::NotFinite { index });
    }
    let n = pairs.len() as f64;
    let centre = |side: usize| pairs.iter().map(|pair| pair[side]).sum::<DVec3>() / n;
    let (from, to) = (centre(0), centre(1));
    let offsets: Vec<[DVec3; 2]> = pairs.iter().map(|[a, b]| [*a - from, *b - to]).collect();
    let has_rotation = [0, 1].iter().all(|&side| spans_a_plane(&offsets, side));
    let mut map = Similarity::IDENTITY;
    let mut is_mirrored = false;
    if has_rotation {
        let covariance = offsets.iter().fold(DMat3::ZERO, |sum, [a, b]| {
            sum + DMat3::from_cols(*b * a.x, *b * a.y, *b * a.z)
        });
        map.rotation = nearest_rotation(covariance);
        is_mirrored = mirrors(covariance);
        if with_scale {
            let spread: f64 = offsets.iter().map(|[a, _]| a.length_squared()).sum();
            let together: f64 = offsets.iter().map(|[a, b]| b.dot(map.rotation * *a)).sum();
            let scale = together / spread;
            // Mirrored data may fit best at no size at all.
            if scale.is_finite() && scale > 0.0 {
                map.scale = scale;
            }
        }
    }
    map.translation = to - map.vector(from);
    let left: f64 = offsets
        .iter()
        .map(|[a, b]| (map.vector(*a) - *b).length_squared())
        .sum();
    Ok(SimilarityFit {
        map,
        has_rotation,
        rms: (left / n).sqrt(),
        is_mirrored,
    })
}

/// Whether the centred points are not all on one line.
fn spans_a_plane(offsets: &[[DVec3; 2]], side: usize) -> bool {
    let lengths = offsets.iter().map(|pair| pair[side].length());
    let extent = lengths.fold(0.0, f64::max);
    let farthest = offsets.iter().find(|pair| pair[side].length() == extent);
    let Some(line) = farthest.and_then(|pair| pair[side].try_normalize()) else {
        return false;
    };
    let across = |pair: &[DVec3; 2]| pair[side].reject_from_normalized(line).length();
    offsets.len() >= 3 && offsets.iter().map(across).fold(0.0, f64::max) > COLLINEAR * extent
}

/// Whether a covariance has a clearly negative determinant; that of points in a plane is 0.
fn mirrors(covariance: DMat3) -> bool {
    let columns = [covariance.x_axis, covariance.y_axis, covariance.z_axis];
    let size = columns
        .iter()
        .map(|c| c.length_squared())
        .sum::<f64>()
        .sqrt();
    (covariance * (1.0 / size)).determinant() < -1e-6
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;

    #[test]
    fn too_few_points_or_a_line_give_a_translation() {
        let shift = DVec3::new(1.0, -2.0, 0.5);
        let line: Vec<_> = (0..5)
            .map(|i| DVec3::ONE * f64::from(i))
            .map(|p| [p, p + shift])
            .collect();
        for pairs in [&line[..], &line[..2], &line[..1]] {
            let fit = fit_similarity(pairs, true).unwrap();
            assert!(!fit.has_rotation && fit.rms < 1e-15);
            assert_eq!((fit.map.rotation, fit.map.scale), (DMat3::IDENTITY, 1.0));
            assert!(fit.map.translation.abs_diff_eq(shift, 1e-15));
        }
        assert_eq!(fit_similarity(&[], true), Err(SimilarityError::NoPairs));
        let broken = fit_similarity(&[[DVec3::ZERO, DVec3::NAN]], true);
        assert_eq!(broken, Err(SimilarityError::NotFinite { index: 0 }));
    }

    #[test]
    fn points_in_a_plane_are_not_mirrored() {
        let turn = DQuat::from_rotation_y(2.0);
        let square = [
            DVec3::X,
            DVec3::Y,
            -DVec3::X,
            -DVec3::Y,
            DVec3::new(0.5, 0.1, 0.0),
        ];
        let pairs = square.map(|p| [p, turn * p * 3.0]);
        let fit = fit_similarity(&pairs, true).unwrap();
        assert!(fit.has_rotation && !fit.is_mirrored && fit.rms < 1e-14);
        assert!((fit.map.scale - 3.0).abs() < 1e-14);
        assert!(fit.map.rotation.abs_diff_eq(DMat3::from_quat(turn), 1e-14));
    }
}
