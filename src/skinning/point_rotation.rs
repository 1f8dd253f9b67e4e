//! The blended rotation of a single point, for what is sculpted on the deformed surface.

use super::cooked::{CookedChunk, LANES};
use super::palette::{AFFINE_ROWS, SkinPalette};
use crate::math::dual_quaternion::quat_from_rotation;
use crate::math::transform::normalize_or_identity;
use crate::math::{polar, squared_singular_values};
use glam::{DMat3, DQuat, DVec3};

/// A blended matrix whose smallest singular value is below this fraction of the largest has no rotation worth using.
const SINGULAR: f64 = 1e-4;

/// The rotation of dual quaternion skinning at a point of a chunk, unit; the identity without influences.
///
/// Quaternions are blended in the hemisphere of the heaviest joint. Source: Kavan et al. 2008.
pub fn dual_quaternion_rotation(chunk: &CookedChunk, point: usize, palette: &SkinPalette) -> DQuat {
    let motions = palette.motions();
    let mut sum = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
    let mut pivot = None;
    for (joint, weight) in influences(chunk, point) {
        let Some(motion) = motions.get(usize::from(joint)) else {
            continue;
        };
        let q = motion.rotation;
        let pivot = *pivot.get_or_insert(q);
        sum += q * if pivot.dot(q) < 0.0 { -weight } else { weight };
    }
    normalize_or_identity(sum)
}

/// The rotation of linear blend skinning at a point of a chunk: the polar rotation of the blended matrix, unit; the
/// identity without influences. `Err`: the matrix is nearly singular, and this is the rotation of the heaviest joint.
pub fn linear_rotation(
    chunk: &CookedChunk,
    point: usize,
    palette: &SkinPalette,
) -> Result<DQuat, DQuat> {
    let mut sum = DMat3::ZERO;
    let mut pivot = None;
    for (joint, weight) in influences(chunk, point) {
        let first = usize::from(joint) * AFFINE_ROWS;
        let Some([upper, lower]) = palette.lbs.get(first..first + AFFINE_ROWS) else {
            continue;
        };
        let (u, l) = (upper.0.map(f64::from), lower.0.map(f64::from));
        sum += DMat3::from_cols(
            DVec3::new(u[0], u[4], l[0]),
            DVec3::new(u[1], u[5], l[1]),
            DVec3::new(u[2], u[6], l[2]),
        ) * weight;
        pivot.get_or_insert(joint);
    }
    let Some(pivot) = pivot else {
        return Ok(DQuat::IDENTITY);
    };
    if is_singular(sum) {
        let motion = palette.motions().get(usize::from(pivot));
        return Err(motion.map_or(DQuat::IDENTITY, |motion| motion.rotation));
    }
    Ok(quat_from_rotation(polar(sum).0))
}

/// The blended scale and shear of the joints at a point of a chunk, which two-phase skinning applies to the bind shape
/// (Lee et al. 2013); the identity without influences.
pub fn blended_stretch(chunk: &CookedChunk, point: usize, palette: &SkinPalette) -> DMat3 {
    let (mut sum, mut total) = (DMat3::ZERO, 0.0);
    for (joint, weight) in influences(chunk, point) {
        if let Some(motion) = palette.motions().get(usize::from(joint)) {
            sum += motion.stretch * weight;
            total += weight;
        }
    }
    if total > 0.0 {
        sum * (1.0 / total)
    } else {
        DMat3::IDENTITY
    }
}

/// The influences of a point, the heaviest first.
fn influences(chunk: &CookedChunk, point: usize) -> impl Iterator<Item = (u16, f64)> + '_ {
    let is_moved =
        point < chunk.n_points() && chunk.unmoved().binary_search(&(point as u16)).is_err();
    let slots = is_moved.then(|| chunk.block(point / LANES));
    let lane = point % LANES;
    slots
        .into_iter()
        .flat_map(|(joints, weights)| joints.iter().zip(weights))
        .map(move |(joints, weights)| (joints[lane], f64::from(weights[lane])))
        .filter(|(_, weight)| *weight > 0.0)
}

/// Whether the smallest singular value is below [`SINGULAR`] times the largest.
fn is_singular(a: DMat3) -> bool {
    let squared = a.transpose() * a;
    let trace = squared.x_axis.x + squared.y_axis.y + squared.z_axis.z;
    if !trace.is_finite() || trace <= 0.0 {
        return true;
    }
    // The largest value s has s^2 <= trace, so a larger determinant than this rules it out.
    if a.determinant().abs() > SINGULAR * trace.powf(1.5) {
        return false;
    }
    let [largest, smallest] = squared_singular_values(a);
    smallest <= SINGULAR * SINGULAR * largest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collapsed_matrix_is_singular_and_a_flat_one_is_not_yet() {
        let r = DMat3::from_quat(DQuat::from_xyzw(0.5, -0.1, 0.7, 0.5));
        for (smallest, expected) in [(0.0, true), (5e-5, true), (2e-4, false), (1.0, false)] {
            let a = r * DMat3::from_diagonal(DVec3::new(1.0, 0.3, smallest)) * r;
            assert_eq!(is_singular(a), expected, "{smallest}");
            assert_eq!(is_singular(a * 1e-3), expected, "{smallest}");
        }
        assert!(is_singular(DMat3::ZERO));
        assert!(!is_singular(DMat3::IDENTITY * 0.01));
    }
}
