//! The as-rigid-as-possible energy with smoothed rotations: local rotations and the right-hand side of the global step.

use super::neighbourhood::Neighbourhood;
use super::region::{HELD, Region};
use crate::math::polar::polar;
use glam::{DMat3, DVec3};
use rayon::prelude::*;

/// Points handed to a thread at a time.
const POINTS_PER_TASK: usize = 64;

/// The rotations that fit the neighbourhoods of points best: of each point of [`Region::rotating`] that of
/// `sum_j w_ij (x_i - x_j)(p_i - p_j)^T + alpha r^2 sum_j w_ij R_j`, with determinant 1.
///
/// Sorkine & Alexa 2007, eq. 5; the second sum smooths rotations (Levi & Gotsman 2015, eq. 5). `rotations`: n_points,
/// those before; `fitted`: one for each rotating point.
pub(super) fn fit_rotations(
    around: &Neighbourhood,
    region: &Region,
    stiffness: f64,
    x: &[DVec3],
    rotations: &[DMat3],
    fitted: &mut Vec<DMat3>,
) {
    let surface = &around.surface;
    let smoothing = stiffness * around.radius * around.radius;
    let of_point = |&i: &u32| {
        let (x_i, p_i) = (x[i as usize], surface.bind[i as usize]);
        let mut sum = DMat3::ZERO;
        for &(j, weight) in surface.links(i) {
            let (moved, bound) = (x_i - x[j as usize], p_i - surface.bind[j as usize]);
            let outer = DMat3::from_cols(moved * bound.x, moved * bound.y, moved * bound.z);
            sum += (outer + rotations[j as usize] * smoothing) * weight;
        }
        nearest_rotation(sum)
    };
    let rotating = region.rotating.par_iter().with_min_len(POINTS_PER_TASK);
    rotating.map(of_point).collect_into_vec(fitted);
}

/// The constant part of the right-hand side, one for each free point:
/// `b_i = sum_j w_ij (R_i + R_j)/2 (p_i - p_j)` plus `w_ij x_j` of held neighbours (Sorkine & Alexa 2007, eq. 8).
pub(super) fn right_hand_side(
    around: &Neighbourhood,
    region: &Region,
    x: &[DVec3],
    rotations: &[DMat3],
    out: &mut Vec<DVec3>,
) {
    let surface = &around.surface;
    let of_point = |&i: &u32| {
        let (r_i, p_i) = (rotations[i as usize], surface.bind[i as usize]);
        let mut sum = DVec3::ZERO;
        for &(j, weight) in surface.links(i) {
            let bound = p_i - surface.bind[j as usize];
            let mut term = (r_i + rotations[j as usize]) * bound * 0.5;
            if region.free_index[j as usize] == HELD {
                term += x[j as usize];
            }
            sum += term * weight;
        }
        sum
    };
    let free = region.free.par_iter().with_min_len(POINTS_PER_TASK);
    free.map(of_point).collect_into_vec(out);
}

/// The rotation R that maximises `tr(R^T m)` (Horn 1988): the polar rotation, or, of a matrix with a negative
/// determinant, its reflection along the direction of least stretch.
fn nearest_rotation(m: DMat3) -> DMat3 {
    if m.determinant() >= 0.0 {
        return polar(m).0;
    }
    // -m = q p with a proper rotation q; m maps best by -q with the axis of p's smallest eigenvalue turned round.
    let (q, p) = polar(-m);
    let axis = least_axis(p);
    let outer = DMat3::from_cols(axis * axis.x, axis * axis.y, axis * axis.z);
    q * (outer * 2.0 - DMat3::IDENTITY)
}

/// The unit eigenvector of the smallest eigenvalue of a symmetric positive semidefinite matrix: the power iteration on
/// its adjugate, by squaring.
fn least_axis(p: DMat3) -> DVec3 {
    let [a, b, c] = [p.x_axis, p.y_axis, p.z_axis];
    let mut power = DMat3::from_cols(b.cross(c), c.cross(a), a.cross(b));
    for _ in 0..12 {
        let columns = power.to_cols_array();
        let largest = columns.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        if largest.is_nan() || largest <= 0.0 {
            return DVec3::X;
        }
        power *= 1.0 / largest;
        power *= power;
    }
    let columns = [power.x_axis, power.y_axis, power.z_axis];
    let longest = columns.into_iter().reduce(|a, b| {
        if b.length_squared() > a.length_squared() {
            b
        } else {
            a
        }
    });
    longest.map_or(DVec3::X, |v| v.normalize_or(DVec3::X))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::polar::orthonormality_error;
    use glam::DQuat;

    #[test]
    fn a_mirrored_matrix_gets_the_nearest_rotation() {
        let r = DMat3::from_quat(DQuat::from_rotation_y(0.7) * DQuat::from_rotation_x(2.0));
        let s = DMat3::from_quat(DQuat::from_rotation_z(0.4) * DQuat::from_rotation_x(-0.9));
        for stretch in [
            [3.0, -0.4, 2.0],
            [1.0, 2.0, 3.0],
            [-0.1, 2.0, 1.0],
            [-1.0, -2.0, -0.5],
        ] {
            let m = r * s * DMat3::from_diagonal(DVec3::from_array(stretch)) * s.transpose();
            let found = nearest_rotation(m);
            assert!(
                orthonormality_error(found) < 1e-12 && (found.determinant() - 1.0).abs() < 1e-12
            );
            // The trace is the sum of the singular values, the smallest one negated where the determinant is negative.
            let mut sizes = stretch.map(f64::abs);
            sizes.sort_by(f64::total_cmp);
            let sign = stretch.iter().product::<f64>().signum();
            let expected = sizes[1] + sizes[2] + sign * sizes[0];
            let trace = found.x_axis.dot(m.x_axis)
                + found.y_axis.dot(m.y_axis)
                + found.z_axis.dot(m.z_axis);
            assert!(
                (trace - expected).abs() < 1e-9,
                "{stretch:?}: {trace} {expected}"
            );
        }
    }
}
