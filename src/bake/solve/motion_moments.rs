//! Moments of the points of helpers, from which the normal equations of their motions follow.
//!
//! To first order, a unit of a degree of freedom of a helper moves a point of weight w by `w C p`, for its homogeneous bind
//! position p and a 3 x 4 matrix C, its *velocity field*. The normal equations sum the products of these over the points;
//! with the second moments `M = sum w w' irls p p^T` of two helpers, such a sum is `tr(C M C'^T)`, whatever the number of
//! points. Positions are relative to the centroid of the points of one of the two helpers: about a far origin the products
//! would cancel.

// The bodies must end up inside of what is compiled for AVX2, whatever the optimiser thinks of their size.
#![allow(clippy::inline_always)]

use super::displacements::displacement;
use super::envelope::{Envelope, EnvelopeSystem};
use super::linear::add_dots;
use crate::bake::problem::rows::{WeightRow, blended};
use crate::skinning::{Backend, Kernel, Simd, dispatch};
use glam::{DAffine3, DVec3};

/// Degrees of freedom of a helper: rotation and translation. Scale would need a track of its own and gains little.
pub(crate) const DOF: usize = 6;

/// A vector that is linear in the homogeneous bind position of a point, relative to an origin: a 3 x 4 matrix by rows.
pub(crate) type Field = [[f64; 4]; 3];

/// The entries of a symmetric 4 x 4 matrix `sum p p^T`: (xx, xy, xz, yy), (yz, zz, 0, 0), (x, y, z, 1).
type SecondMoment = [[f64; 4]; 3];

/// A point of the fit.
pub(crate) struct FitPoint {
    pub(crate) point: u32,
    pub(crate) row: WeightRow,
    /// Its displacements, bind space.
    pub(crate) b: Vec<DVec3>,
    /// Its IRLS weight.
    pub(crate) irls: f64,
}

impl FitPoint {
    /// A point without displacements, of IRLS weight 1.
    pub(crate) fn by(point: u32, row: WeightRow) -> Self {
        Self {
            point,
            row,
            b: Vec::new(),
            irls: 1.0,
        }
    }
}

/// A point of an instance at a frame.
pub(crate) struct Observed<'a> {
    pub(crate) fit_point: &'a FitPoint,
    /// Bind position with the source's morph targets.
    pub(crate) position: DVec3,
    /// Target position, world.
    pub(crate) target: DVec3,
}

/// The points of an instance at a frame.
pub(crate) struct InstancePoints<'a, I> {
    pub(crate) points: I,
    /// The weights of its displacements.
    pub(crate) w: &'a [f64],
    /// The first of these in the border.
    pub(crate) first: usize,
}

/// Sums over points, by helper and by unknown of the border.
pub(crate) struct Moments<'a> {
    envelope: &'a Envelope,
    n_joints: usize,
    /// By helper: the origin of its sums, bind space.
    origins: &'a [DVec3],
    /// By pair of helpers that the envelope stores: `sum w w' irls p p^T`, about the origin of the helper of the row.
    pairs: Vec<SecondMoment>,
    /// By helper: `sum w irls r p^T` for the residuals r.
    residuals: Vec<Field>,
    /// By unknown of the border, then by helper: `sum w irls e p^T` for the effects e of a unit of that displacement, world.
    borders: Vec<Field>,
    /// By unknown of the border: `sum irls e.e'` with the unknowns of its instance up to itself.
    squares: Vec<Vec<f64>>,
    /// By unknown of the border: `sum irls e.r`.
    right: Vec<f64>,
    /// The effects on one point, by component.
    effects: [Vec<f64>; 3],
}

impl<'a> Moments<'a> {
    /// No points yet; slots from `n_joints` on are helpers. `origins`: of each helper, near its points, bind space.
    pub(crate) fn new(
        envelope: &'a Envelope,
        n_joints: usize,
        origins: &'a [DVec3],
        n_border: usize,
    ) -> Self {
        let n_helpers = envelope.n_blocks();
        let zero = [[0.0; 4]; 3];
        Self {
            envelope,
            n_joints,
            origins,
            pairs: vec![zero; envelope.n_pairs()],
            residuals: vec![zero; n_helpers],
            borders: vec![zero; n_border * n_helpers],
            squares: vec![Vec::new(); n_border],
            right: vec![0.0; n_border],
            effects: [(); 3].map(|()| vec![0.0; n_border]),
        }
    }

    /// Adds the points of an instance at these matrices of joints and helpers. `with_matrix`: also the sums for the matrix of
    /// the normal equations; without it, only those for the right-hand side.
    pub(crate) fn add<'p>(
        &mut self,
        points: InstancePoints<'_, impl Iterator<Item = Observed<'p>>>,
        matrices: &[DAffine3],
        with_matrix: bool,
    ) {
        if with_matrix {
            let of_instance = &mut self.squares[points.first..points.first + points.w.len()];
            for (i, squares) in of_instance.iter_mut().enumerate() {
                squares.resize(i + 1, 0.0);
            }
        }
        let sums = Sums {
            moments: self,
            points,
            matrices,
            with_matrix,
        };
        dispatch(Backend::detect(), sums);
    }

    /// Moves the right-hand side into `system`, by the fields of the degrees of freedom of each helper, about its origin.
    pub(crate) fn take_right(&mut self, fields: &[[Field; DOF]], system: &mut EnvelopeSystem<'_>) {
        let helpers = self.residuals.iter_mut().zip(fields);
        for (h, (residual, fields)) in helpers.enumerate() {
            system.add_right(h, &products(fields, residual));
            *residual = [[0.0; 4]; 3];
        }
        for (i, right) in self.right.iter_mut().enumerate() {
            system.add_border_right(i, *right);
            *right = 0.0;
        }
    }

    /// Adds the matrix of the normal equations to `system`, by the same fields.
    pub(crate) fn add_matrix(&self, fields: &[[Field; DOF]], system: &mut EnvelopeSystem<'_>) {
        let matrix = Matrix {
            moments: self,
            fields,
            system,
        };
        dispatch(Backend::detect(), matrix);
    }
}

/// The points of an instance, added to moments.
struct Sums<'a, 'm, 'e, I> {
    moments: &'m mut Moments<'e>,
    points: InstancePoints<'a, I>,
    matrices: &'a [DAffine3],
    with_matrix: bool,
}

impl<'p, I: Iterator<Item = Observed<'p>>> Kernel for Sums<'_, '_, '_, I> {
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self {
            moments,
            points: InstancePoints { points, w, first },
            matrices,
            with_matrix,
        } = self;
        let (envelope, origins, n_joints) = (moments.envelope, moments.origins, moments.n_joints);
        let helper = |slot: u16| usize::from(slot).checked_sub(n_joints);
        for observed in points {
            let FitPoint { row, b, irls, .. } = observed.fit_point;
            let position = observed.position + displacement(b, w);
            let matrix = blended(row, matrices);
            let residual = observed.target - matrix.transform_point3(position);
            for (n, &(slot, weight)) in row.iter().enumerate() {
                let Some(h) = helper(slot) else { continue };
                let p = position - origins[h];
                add_outer(&mut moments.residuals[h], residual * (weight * irls), p);
                if !with_matrix {
                    continue;
                }
                for &(slot, other_weight) in &row[..=n] {
                    if let Some(other) = helper(slot) {
                        let (pair, of_row) = envelope.pair(h, other);
                        let p = position - origins[of_row];
                        add_second_moment(
                            &mut moments.pairs[pair],
                            weight * other_weight * irls,
                            p,
                        );
                    }
                }
            }
            for (i, b) in b.iter().enumerate() {
                let effect = matrix.matrix3 * *b;
                moments.right[first + i] += irls * effect.dot(residual);
                if !with_matrix {
                    continue;
                }
                let [xs, ys, zs] = &mut moments.effects;
                (xs[i], ys[i], zs[i]) = (effect.x, effect.y, effect.z);
                let axes = [&xs[..=i], &ys[..=i], &zs[..=i]];
                add_dots(&mut moments.squares[first + i], *irls, effect, axes);
                for &(slot, weight) in row {
                    if let Some(h) = helper(slot) {
                        let border = &mut moments.borders[(first + i) * envelope.n_blocks() + h];
                        add_outer(border, effect * (weight * irls), position - origins[h]);
                    }
                }
            }
        }
    }
}

/// The matrix of the normal equations, added to a system.
struct Matrix<'a, 'm, 'e> {
    moments: &'a Moments<'m>,
    fields: &'a [[Field; DOF]],
    system: &'a mut EnvelopeSystem<'e>,
}

impl Kernel for Matrix<'_, '_, '_> {
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self {
            moments,
            fields,
            system,
        } = self;
        for (row, column, pair) in moments.envelope.pairs() {
            let moment = &moments.pairs[pair];
            // This entry is `sum w w' irls`: at 0 no point follows both helpers.
            if moment[2][3] == 0.0 {
                continue;
            }
            let mut columns = fields[column];
            move_origin(&mut columns, moments.origins[row] - moments.origins[column]);
            let mut block = [[0.0; DOF]; DOF];
            for (of_row, field) in block.iter_mut().zip(&fields[row]) {
                *of_row = products(&columns, &times_moment(field, moment));
            }
            system.add_block(row, column, &block);
        }
        let n_helpers = fields.len().max(1);
        let borders = moments.borders.chunks_exact(n_helpers);
        for (i, of_border) in borders.enumerate() {
            for (h, (border, fields)) in of_border.iter().zip(fields).enumerate() {
                system.add_border_block(i, h, &products(fields, border));
            }
        }
        for (i, squares) in moments.squares.iter().enumerate() {
            system.add_border_row(i, squares);
        }
    }
}

/// Adds `v p^T` for the homogeneous p.
#[inline(always)]
fn add_outer(sum: &mut Field, v: DVec3, p: DVec3) {
    let p = [p.x, p.y, p.z, 1.0];
    for (sum, v) in sum.iter_mut().zip([v.x, v.y, v.z]) {
        for (sum, p) in sum.iter_mut().zip(p) {
            *sum += v * p;
        }
    }
}

/// Adds `factor p p^T` for the homogeneous p.
#[inline(always)]
fn add_second_moment(sum: &mut SecondMoment, factor: f64, p: DVec3) {
    let f = p * factor;
    let terms = [
        [f.x * p.x, f.x * p.y, f.x * p.z, f.y * p.y],
        [f.y * p.z, f.z * p.z, 0.0, 0.0],
        [f.x, f.y, f.z, factor],
    ];
    for (sum, terms) in sum.iter_mut().zip(terms) {
        for (sum, term) in sum.iter_mut().zip(terms) {
            *sum += term;
        }
    }
}

/// The same fields for positions relative to an origin that is moved by `by`.
#[inline(always)]
fn move_origin(fields: &mut [Field; DOF], by: DVec3) {
    for [x, y, z, one] in fields.iter_mut().flatten() {
        *one += *x * by.x + *y * by.y + *z * by.z;
    }
}

/// `C M`.
#[inline(always)]
fn times_moment(field: &Field, moment: &SecondMoment) -> Field {
    let [[xx, xy, xz, yy], [yz, zz, _, _], [x, y, z, one]] = *moment;
    let moment = [
        [xx, xy, xz, x],
        [xy, yy, yz, y],
        [xz, yz, zz, z],
        [x, y, z, one],
    ];
    let mut product = [[0.0; 4]; 3];
    for (product, row) in product.iter_mut().zip(field) {
        for (of_field, of_moment) in row.iter().zip(&moment) {
            for (sum, m) in product.iter_mut().zip(of_moment) {
                *sum += of_field * m;
            }
        }
    }
    product
}

/// `tr(a b^T)` for each of the fields a.
#[inline(always)]
fn products(fields: &[Field; DOF], b: &Field) -> [f64; DOF] {
    let mut products = [0.0; DOF];
    for (product, a) in products.iter_mut().zip(fields) {
        let mut sums = [0.0; 4];
        for (a, b) in a.iter().zip(b) {
            for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
                *sum += a * b;
            }
        }
        *product = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
    products
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DMat3;

    /// A number in -1 .. 1 that depends on `i` without a pattern.
    fn number(i: usize) -> f64 {
        (12.9898 * i as f64).sin()
    }

    fn vector(i: usize) -> DVec3 {
        DVec3::new(number(3 * i), number(3 * i + 1), number(3 * i + 2))
    }

    fn matrix(i: usize) -> DAffine3 {
        DAffine3 {
            matrix3: DMat3::from_cols(vector(4 * i), vector(4 * i + 1), vector(4 * i + 2)),
            translation: vector(4 * i + 3),
        }
    }

    fn velocity(field: &Field, p: DVec3) -> DVec3 {
        let row = |row: &[f64; 4]| DVec3::from_slice(row).dot(p) + row[3];
        DVec3::new(row(&field[0]), row(&field[1]), row(&field[2]))
    }

    fn place(instance: usize, fit_point: &FitPoint) -> Observed<'_> {
        let seed = 40 * instance + fit_point.point as usize;
        Observed {
            fit_point,
            position: vector(200 + seed),
            target: vector(300 + seed),
        }
    }

    /// Two instances of meshes with 1 and 2 displacements, one joint and three helpers, the last without points. The solution
    /// of the system is that of dense normal equations that are summed point by point.
    #[test]
    fn moments_give_the_sums_over_points() {
        const N: usize = 3 * DOF + 3;
        let rows: [WeightRow; 4] = [
            vec![(0, 0.4), (1, 0.6)],
            vec![(2, 0.3), (1, 0.5), (0, 0.2)],
            vec![(2, 1.0)],
            vec![(0, 1.0)],
        ];
        let made = |instance: usize| {
            let point = |n: usize| FitPoint {
                point: n as u32,
                row: rows[n % 4].clone(),
                b: (0..=instance).map(|k| vector(50 + 7 * n + k)).collect(),
                irls: 1.5 + number(n),
            };
            (0..20).map(point).collect::<Vec<_>>()
        };
        let instances = [made(0), made(1)];
        let matrices: Vec<DAffine3> = (0..4).map(matrix).collect();
        let w = [0.3, -0.2, 0.7];
        let field = |i: usize| -> Field {
            std::array::from_fn(|row| std::array::from_fn(|c| number(900 + 12 * i + 4 * row + c)))
        };
        let fields: Vec<[Field; DOF]> = (0..3)
            .map(|h| std::array::from_fn(|i| field(DOF * h + i)))
            .collect();

        // The keys are sorted to positions 2, 0 and 1.
        let slots = |point: &FitPoint| -> Vec<usize> {
            let slots = point.row.iter();
            slots
                .filter_map(|r| usize::from(r.0).checked_sub(1))
                .collect()
        };
        let equations = instances.iter().flatten().map(|p| slots(p).into_iter());
        let envelope = Envelope::new(&[2, 0, 1], DOF, equations);
        let mut system = envelope.system(3);
        let origins = [vector(500), vector(501), vector(502)];
        let mut moments = Moments::new(&envelope, 1, &origins, 3);
        for (instance, points) in instances.iter().enumerate() {
            let points = InstancePoints {
                points: points.iter().map(|point| place(instance, point)),
                w: &w[instance..=2 * instance],
                first: instance,
            };
            moments.add(points, &matrices, true);
        }
        moments.take_right(&fields, &mut system);
        moments.add_matrix(&fields, &mut system);

        let (mut dense, mut right) = ([[0.0; N]; N], [0.0; N]);
        for (instance, points) in instances.iter().enumerate() {
            for point in points {
                let Observed {
                    position, target, ..
                } = place(instance, point);
                let w = &w[instance..=2 * instance];
                let p = position + displacement(&point.b, w);
                let matrix = blended(&point.row, &matrices);
                let residual = target - matrix.transform_point3(p);
                let mut columns = [DVec3::ZERO; N];
                for &(slot, weight) in point.row.iter().filter(|r| r.0 > 0) {
                    let h = usize::from(slot) - 1;
                    for i in 0..DOF {
                        columns[h * DOF + i] = velocity(&fields[h][i], p - origins[h]) * weight;
                    }
                }
                for (i, b) in point.b.iter().enumerate() {
                    columns[3 * DOF + instance + i] = matrix.matrix3 * *b;
                }
                for i in 0..N {
                    right[i] += point.irls * columns[i].dot(residual);
                    for j in 0..N {
                        dense[i][j] += point.irls * columns[i].dot(columns[j]);
                    }
                }
            }
        }
        for h in 0..3 {
            for i in 0..DOF {
                system.hold(h, i, 0.5, 0.0);
                dense[h * DOF + i][h * DOF + i] += 0.5;
            }
        }
        let check = |found: &[f64], right: &[f64; N]| {
            for (row, right) in dense.iter().zip(right) {
                let product: f64 = row.iter().zip(found).map(|(a, x)| a * x).sum();
                assert!((product - right).abs() < 1e-9, "{product} {right}");
            }
        };
        check(&system.solve().unwrap(), &right);

        // The right-hand side alone, after it was moved out: the same again.
        for (instance, points) in instances.iter().enumerate() {
            let points = InstancePoints {
                points: points.iter().map(|point| place(instance, point)),
                w: &w[instance..=2 * instance],
                first: instance,
            };
            moments.add(points, &matrices, false);
        }
        moments.take_right(&fields, &mut system);
        check(&system.solve().unwrap(), &right);
    }
}
