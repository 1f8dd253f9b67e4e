//! Normal transport: bind normals carried to a deformed surface.
//!
//! n' = normalize(sum over the faces f that use n of A_f cof(J_f) n), J_f the deformation gradient of the face. With
//! E = [e1, e2, u] of the bind face and u its unit normal, A cof(E' E^-1) = cof(E') E^T / 2, which needs neither an inverse nor
//! a division by the bind area: for each face, with D = e1' x e2' and u' = D / |D|,
//! 2 A cof(J) n = u' x (e1' (e2 . n) - e2' (e1 . n)) + D (u . n).
//! The products with n are constants of the mesh ([`NormalFans`]).
//!
//! Invariant: a normal depends on the faces of its fan only, in their order: any split into runs gives the same bits.

// The kernel's body must end up inside of `with_avx2` (`skinning::simd`), whatever the optimiser thinks of its size.
#![allow(clippy::inline_always)]

use crate::mesh::Mesh;
use crate::mesh::normal_fans::{FanBlock, LANES, NormalFans};
use crate::skinning::{Backend, Kernel, Simd, dispatch};
use glam::Vec3;
use rayon::prelude::*;
use std::ops::Range;

/// Blocks of a task.
const BLOCKS_PER_TASK: usize = 256;

/// How many blocks ahead the faces of successive blocks are prefetched. By itself, the CPU does so up to the end of a page only:
/// for seven blocks.
const BLOCKS_AHEAD: usize = 4;

/// Blocks of a list that are worth a task.
const LISTED_PER_TASK: usize = 64;

/// Carries all normals of `mesh` to `deformed`, n_points, on rayon's threads. A normal whose faces have all collapsed keeps
/// its bind direction. `out`: n_normals, unit.
pub fn transport_normals(mesh: &Mesh, deformed: &[Vec3], out: &mut [Vec3]) {
    transport_on(Backend::detect(), mesh, deformed, out);
}

fn transport_on(backend: Backend, mesh: &Mesh, deformed: &[Vec3], out: &mut [Vec3]) {
    let fans = mesh.normal_fans();
    out.par_chunks_mut(BLOCKS_PER_TASK * LANES)
        .enumerate()
        .for_each(|(task, out)| {
            let first = task * BLOCKS_PER_TASK;
            let blocks = first..first + out.len().div_ceil(LANES);
            dispatch(
                backend,
                Transport {
                    fans,
                    deformed,
                    blocks,
                    blocks_ahead: BLOCKS_AHEAD,
                    found: |block: usize, carried: &[Vec3; LANES]| {
                        let start = (block - first) * LANES;
                        let end = (start + LANES).min(out.len());
                        out[start..end].copy_from_slice(&carried[..end - start]);
                        keep_bind_directions(mesh, block, &mut out[start..end]);
                    },
                },
            );
        });
}

/// Carries the normals of `blocks`, ascending ([`NormalFans`]), as [`transport_normals`] does and with the same bits, and returns
/// those whose bits differ from `normals`, ascending, which it writes.
pub(super) fn transport_blocks(
    mesh: &Mesh,
    deformed: &[Vec3],
    blocks: &[u32],
    normals: &mut [Vec3],
) -> Vec<u32> {
    let fans = mesh.normal_fans();
    let backend = Backend::detect();
    let old = &*normals;
    let changed: Vec<(u32, Vec3)> = blocks
        .par_chunks(LISTED_PER_TASK)
        .flat_map_iter(|blocks| {
            let mut changed = Vec::new();
            let found = |block: usize, carried: &[Vec3; LANES]| {
                let start = block * LANES;
                let end = (start + LANES).min(old.len());
                let mut carried = *carried;
                keep_bind_directions(mesh, block, &mut carried[..end - start]);
                for (n, &new) in (start..end).zip(&carried) {
                    if !crate::math::same_bits(new, old[n]) {
                        changed.push((n as u32, new));
                    }
                }
            };
            let blocks = blocks.iter().map(|&b| b as usize);
            dispatch(
                backend,
                Transport {
                    fans,
                    deformed,
                    blocks,
                    blocks_ahead: 0,
                    found,
                },
            );
            changed
        })
        .collect();
    for &(n, new) in &changed {
        normals[n as usize] = new;
    }
    changed.into_iter().map(|(n, _)| n).collect()
}

/// The blocks that hold `range` of the normals.
pub(super) fn blocks_of(range: Range<u32>) -> Range<u32> {
    if range.is_empty() {
        return 0..0;
    }
    range.start / LANES as u32..(range.end - 1) / LANES as u32 + 1
}

/// Where the faces of a normal have no area, the kernel's quotient is not finite.
fn keep_bind_directions(mesh: &Mesh, block: usize, carried: &mut [Vec3]) {
    for (normal, bind) in carried.iter_mut().zip(&mesh.normals[block * LANES..]) {
        if !normal.is_finite() {
            *normal = *bind;
        }
    }
}

/// The kernel over some blocks.
struct Transport<'a, B, F> {
    fans: &'a NormalFans,
    deformed: &'a [Vec3],
    blocks: B,
    /// How many blocks ahead the faces are prefetched; 0 where the blocks do not follow each other.
    blocks_ahead: usize,
    /// Takes each block and its eight normals, which are not finite where all faces have collapsed.
    found: F,
}

impl<B: Iterator<Item = usize>, F: FnMut(usize, &[Vec3; LANES])> Kernel for Transport<'_, B, F> {
    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        for index in self.blocks {
            let sum = sum_of(
                simd,
                self.fans.block(index),
                self.blocks_ahead,
                self.deformed,
            );
            let length = simd.sqrt(dot(simd, sum, sum));
            let mut carried = [Vec3::ZERO; LANES];
            let unit = [
                simd.div(sum[0], length),
                simd.div(sum[1], length),
                simd.div(sum[2], length),
            ];
            simd.store(unit, &mut carried);
            (self.found)(index, &carried);
        }
    }
}

type Three<S> = [<S as Simd>::F; 3];

/// The sum over the faces of a block, eight normals.
#[inline(always)]
fn sum_of<S: Simd>(
    simd: S,
    block: FanBlock<'_>,
    blocks_ahead: usize,
    deformed: &[Vec3],
) -> Three<S> {
    let (zero, one) = (simd.splat(0.0), simd.splat(1.0));
    let tiny = simd.splat(f32::MIN_POSITIVE);
    let hub = simd.gather(deformed, block.hubs);
    let (first, ring) = block.ring.split_first().expect("a ring has an entry");
    let mut e1 = sub(simd, simd.gather(deformed, first), hub);
    let mut sum = [zero; 3];
    // Blocks are as long as their neighbours as a rule.
    let (ahead, ring_ahead) = (
        blocks_ahead * block.faces.len(),
        blocks_ahead * block.ring.len(),
    );
    for (i, (faces, next)) in block.faces.iter().zip(ring).enumerate() {
        simd.prefetch(block.faces, ahead + i);
        simd.prefetch(block.ring, ring_ahead + i);
        let e2 = sub(simd, simd.gather(deformed, next), hub);
        let (first, second, cosine) = (
            simd.from_lanes(&faces.first),
            simd.from_lanes(&faces.second),
            simd.from_lanes(&faces.cosine),
        );
        let area = cross(simd, e1, e2);
        let squared = dot(simd, area, area);
        // A collapsed face has no direction.
        let inverse = simd.div(one, simd.sqrt(squared));
        let inverse = simd.select_gt(squared, tiny, inverse, zero);
        let tangent = [
            simd.mul_sub(e1[0], second, simd.mul(e2[0], first)),
            simd.mul_sub(e1[1], second, simd.mul(e2[1], first)),
            simd.mul_sub(e1[2], second, simd.mul(e2[2], first)),
        ];
        let turned = cross(simd, area, tangent);
        for k in 0..3 {
            let flat = simd.mul_add(area[k], cosine, sum[k]);
            sum[k] = simd.mul_add(turned[k], inverse, flat);
        }
        e1 = e2;
    }
    sum
}

#[inline(always)]
fn sub<S: Simd>(simd: S, a: Three<S>, b: Three<S>) -> Three<S> {
    [
        simd.sub(a[0], b[0]),
        simd.sub(a[1], b[1]),
        simd.sub(a[2], b[2]),
    ]
}

#[inline(always)]
fn dot<S: Simd>(simd: S, a: Three<S>, b: Three<S>) -> S::F {
    simd.mul_add(a[2], b[2], simd.mul_add(a[1], b[1], simd.mul(a[0], b[0])))
}

#[inline(always)]
fn cross<S: Simd>(simd: S, a: Three<S>, b: Three<S>) -> Three<S> {
    [
        simd.mul_sub(a[1], b[2], simd.mul(a[2], b[1])),
        simd.mul_sub(a[2], b[0], simd.mul(a[0], b[2])),
        simd.mul_sub(a[0], b[1], simd.mul(a[1], b[0])),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::normals::merge;
    use glam::{DMat3, DVec3};

    /// A bumpy tube of 24 x 30 points with a hard edge along one side, and its shape bent and stretched.
    fn tube() -> (Mesh, Vec<Vec3>) {
        let (sides, rings) = (24u32, 30u32);
        let mut positions = Vec::new();
        for ring in 0..rings {
            for side in 0..sides {
                let angle = side as f32 / sides as f32 * std::f32::consts::TAU;
                let radius = 0.1 + 0.02 * (3.0 * angle).sin() + 0.01 * (ring as f32).cos();
                positions.push(Vec3::new(
                    radius * angle.cos(),
                    0.02 * ring as f32,
                    -radius * angle.sin(),
                ));
            }
        }
        let mut faces = Vec::new();
        for ring in 0..rings - 1 {
            for side in 0..sides {
                let next = (side + 1) % sides;
                let (a, b) = (ring * sides + side, ring * sides + next);
                faces.extend([[a, b, b + sides], [a, b + sides, a + sides]]);
            }
        }
        // A vertex for each corner; smooth normals, but for the faces of the first side.
        let area = |t: [u32; 3]| {
            let [a, b, c] = t.map(|p| positions[p as usize]);
            (b - a).cross(c - a)
        };
        let mut smooth = vec![Vec3::ZERO; positions.len()];
        for &t in &faces {
            for p in t {
                smooth[p as usize] += area(t);
            }
        }
        let mut point_of_vertex = Vec::new();
        let mut normals = Vec::new();
        let mut triangles = Vec::new();
        for (f, &t) in faces.iter().enumerate() {
            let hard = f % (2 * sides as usize) < 2;
            triangles.push([0, 1, 2].map(|k| (3 * f + k) as u32));
            for p in t {
                point_of_vertex.push(p);
                let normal = if hard { area(t) } else { smooth[p as usize] };
                normals.push(normal.normalize_or_zero());
            }
        }
        let merged = merge(positions.len(), &point_of_vertex, &normals);
        let deformed = positions
            .iter()
            .map(|p| {
                let angle = 2.0 * p.y;
                let (sin, cos) = angle.sin_cos();
                Vec3::new(
                    1.2 * p.x + 0.3 * sin,
                    p.y * cos - p.z * sin,
                    p.z * cos + 0.1 * p.y,
                )
            })
            .collect();
        let mesh = Mesh {
            positions,
            point_of_vertex,
            normal_of_vertex: merged.normal_of_vertex,
            normals: merged.normals,
            point_of_normal: merged.point_of_normal,
            triangles,
            ..Mesh::default()
        };
        (mesh, deformed)
    }

    /// normalize(sum of A cof(J) n) in f64, straight from the definition.
    fn definition(mesh: &Mesh, deformed: &[Vec3], normal: usize) -> DVec3 {
        let n = mesh.normals[normal].as_dvec3();
        let mut sum = DVec3::ZERO;
        for &face in mesh.topology().faces_of_normal(normal as u32) {
            let t = mesh.topology().triangles[face as usize].map(|p| p as usize);
            let frame = |points: &[Vec3]| {
                let [a, b, c] = t.map(|p| points[p].as_dvec3());
                let area = (b - a).cross(c - a);
                (
                    DMat3::from_cols(b - a, c - a, area.normalize_or_zero()),
                    area.length(),
                )
            };
            let ((bind, area), (now, _)) = (frame(&mesh.positions), frame(deformed));
            let gradient = now * bind.inverse();
            let cofactor = gradient.inverse().transpose() * gradient.determinant();
            sum += cofactor * n * area;
        }
        sum.normalize_or_zero()
    }

    #[test]
    fn normals_are_those_of_the_definition_on_both_backends() {
        let (mesh, deformed) = tube();
        assert!(mesh.normals.len() > mesh.n_points(), "hard edges");
        for backend in [Backend::detect(), Backend::Portable] {
            let mut out = vec![Vec3::ZERO; mesh.normals.len()];
            transport_on(backend, &mesh, &deformed, &mut out);
            for (n, carried) in out.iter().enumerate() {
                let error = (carried.as_dvec3() - definition(&mesh, &deformed, n)).length();
                assert!(error < 1e-5, "{backend:?}, normal {n}: {error:e}");
            }
        }
    }

    #[test]
    fn the_bind_shape_keeps_its_normals() {
        let (mesh, _) = tube();
        let mut out = vec![Vec3::ZERO; mesh.normals.len()];
        transport_normals(&mesh, &mesh.positions, &mut out);
        for (carried, bind) in out.iter().zip(&mesh.normals) {
            assert!((*carried - *bind).length() < 1e-5, "{carried} {bind}");
        }
    }

    #[test]
    fn listed_blocks_have_the_bits_of_a_full_run() {
        let (mesh, mut deformed) = tube();
        let mut normals = vec![Vec3::ZERO; mesh.normals.len()];
        transport_normals(&mesh, &deformed, &mut normals);
        let before = normals.clone();
        deformed[100] += Vec3::new(0.01, 0.0, 0.02);
        let all: Vec<u32> = (0..mesh.normal_fans().n_blocks() as u32).collect();
        let changed = transport_blocks(&mesh, &deformed, &all, &mut normals);
        let mut full = vec![Vec3::ZERO; normals.len()];
        transport_normals(&mesh, &deformed, &mut full);
        assert_eq!(normals, full);
        let differing: Vec<u32> = (0..full.len() as u32)
            .filter(|&n| full[n as usize] != before[n as usize])
            .collect();
        assert_eq!(changed, differing);
        assert!((3..40).contains(&changed.len()), "{}", changed.len());
    }

    #[test]
    fn where_all_faces_have_collapsed_the_bind_direction_stays() {
        let (mesh, _) = tube();
        let mut out = vec![Vec3::ZERO; mesh.normals.len()];
        transport_normals(&mesh, &vec![Vec3::ONE; mesh.n_points()], &mut out);
        assert_eq!(out, mesh.normals);
    }

    #[test]
    fn blocks_of_a_range_of_normals() {
        assert_eq!(blocks_of(5..5), 0..0);
        assert_eq!(blocks_of(0..8), 0..1);
        assert_eq!(blocks_of(7..9), 0..2);
    }
}
