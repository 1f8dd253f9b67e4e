//! Displacements of points: their weighted sum, and a posed shape moved by it in the frames of blended rotations.

// See `simd`: kernel bodies belong inside of the function that is compiled with the backend's instructions.
#![allow(clippy::inline_always)]

use super::cooked::LANES;
use super::influences::CHUNK;
use super::input::SkinInput;
use super::kernels::{
    add3, blended_dual_quaternions, cross, dot, load_block, mul_add3, store_block,
};
use super::simd::{Backend, Gather, Kernel, Simd, dispatch};
use glam::Vec3;

/// `sums[p] += factor * value` for some points of a chunk; several that follow each other take the time of one.
///
/// `points`: ascending, in the chunk; `values`: one for each.
pub(crate) fn add_displacements(
    sums: &mut [Vec3; CHUNK],
    points: &[u16],
    values: &[Vec3],
    factor: f32,
) {
    add_on(Backend::detect(), sums, points, values, factor);
}

fn add_on(
    backend: Backend,
    sums: &mut [Vec3; CHUNK],
    points: &[u16],
    values: &[Vec3],
    factor: f32,
) {
    assert_eq!(points.len(), values.len(), "one value a point");
    let kernel = AddDisplacements {
        sums,
        points,
        values,
        factor,
    };
    dispatch(backend, kernel);
}

/// `shape += R d` with the blended rotation R of dual quaternion skinning; the identity without influences. Points whose
/// displacement d is zero keep their bits, and cost little.
///
/// `displacements`, `shape`: n_points. The positions of `input` are not read.
pub fn add_rotated(input: &SkinInput<'_>, displacements: &[Vec3], shape: &mut [Vec3]) {
    input.check(displacements.len());
    input.check(shape.len());
    let kernel = AddRotated {
        input,
        displacements,
        shape,
    };
    dispatch(input.backend, kernel);
}

struct AddDisplacements<'a> {
    sums: &'a mut [Vec3; CHUNK],
    points: &'a [u16],
    values: &'a [Vec3],
    factor: f32,
}

impl Kernel for AddDisplacements<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self {
            sums,
            points,
            values,
            factor,
        } = self;
        let mut done = 0;
        while let Some(&first) = points.get(done) {
            let n = run_length(&points[done..]);
            let start = usize::from(first);
            let sums: &mut [f32] = bytemuck::cast_slice_mut(&mut sums[start..start + n]);
            let values: &[f32] = bytemuck::cast_slice(&values[done..done + n]);
            let (sums, last_sums) = sums.as_chunks_mut::<LANES>();
            let (values, last_values) = values.as_chunks::<LANES>();
            // No fused multiply-add: a sum is the same wherever in a run its point stands.
            for (sums, values) in sums.iter_mut().zip(values) {
                let scaled = simd.mul(simd.from_lanes(values), simd.splat(factor));
                *sums = simd.to_array(simd.add(simd.from_lanes(sums), scaled));
            }
            for (sum, value) in last_sums.iter_mut().zip(last_values) {
                *sum += value * factor;
            }
            done += n;
        }
    }
}

/// How many of the first points, of which there is one, follow each other without a gap.
#[inline(always)]
fn run_length(points: &[u16]) -> usize {
    let (first, last) = (points[0], points[points.len() - 1]);
    // Ascending, so that the ends tell.
    if usize::from(last - first) + 1 == points.len() {
        return points.len();
    }
    let pairs = points.windows(2);
    1 + pairs.take_while(|pair| pair[0] + 1 == pair[1]).count()
}

struct AddRotated<'a, 'o> {
    input: &'a SkinInput<'a>,
    displacements: &'a [Vec3],
    shape: &'o mut [Vec3],
}

impl Kernel for AddRotated<'_, '_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let input = self.input;
        let rows = Gather::new(&input.palette.rigid, input.chunk);
        let (zero, two) = (simd.splat(0.0), simd.splat(2.0));
        let unmoved = input.chunk.unmoved();
        for (block, moved) in self.displacements.chunks(LANES).enumerate() {
            if moved.iter().all(|d| *d == Vec3::ZERO) {
                continue;
            }
            let [x, y, z, w, ..] =
                blended_dual_quaternions(simd, rows, input.needs_sign_test, block);
            let r = [x, y, z];
            let mut s = simd.div(two, simd.mul_add(w, w, dot(simd, r, r)));
            if !unmoved.is_empty() {
                let mut lanes = simd.to_array(s);
                for (point, s) in (block * LANES..).zip(&mut lanes) {
                    if unmoved.binary_search(&(point as u16)).is_ok() {
                        *s = 0.0;
                    }
                }
                s = simd.from_lanes(&lanes);
            }
            let d = load_block(simd, self.displacements, block);
            // R d = d + s r x (r x d + w d): s normalises without a square root.
            let inner = mul_add3(simd, w, d, cross(simd, r, d));
            let turned = mul_add3(simd, s, cross(simd, r, inner), d);
            let posed = load_block(simd, self.shape, block);
            let moved = add3(simd, posed, turned);
            let length = dot(simd, d, d);
            let shown = [
                simd.select_gt(length, zero, moved[0], posed[0]),
                simd.select_gt(length, zero, moved[1], posed[1]),
                simd.select_gt(length, zero, moved[2], posed[2]),
            ];
            store_block(simd, shown, self.shape, block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BACKENDS: [Backend; 2] = [Backend::Avx2, Backend::Portable];

    #[test]
    fn sums_do_not_depend_on_the_runs_of_their_points() {
        let value = |p: u16| Vec3::new(f32::from(p) * 0.37, 1.0, -0.1 * f32::from(p));
        let every: Vec<u16> = (0..CHUNK as u16).collect();
        let gaps: Vec<u16> = (3..40).chain([45, 47, 48, 50]).chain(100..123).collect();
        for backend in BACKENDS {
            for points in [&every, &gaps, &vec![7], &Vec::new(), &vec![5, 1023]] {
                let values: Vec<Vec3> = points.iter().map(|&p| value(p)).collect();
                let mut sums = [Vec3::Y; CHUNK];
                add_on(backend, &mut sums, points, &values, 0.3);
                for (p, sum) in (0..).zip(sums) {
                    let mut expected = Vec3::Y;
                    if points.contains(&p) {
                        expected += value(p) * 0.3;
                    }
                    assert_eq!(sum, expected, "{p}, {backend:?}");
                }
            }
        }
    }
}
