//! `sinew bench`: how fast this machine skins, beside what moving the bytes alone costs.
//!
//! All kernels run in turn, again and again, and the medians are compared: a busy neighbour then slows all alike.

use crate::math::Transform;
use crate::skeleton::{Joint, JointIndex, JointRule, Pose, Skeleton};
use crate::skinning::{
    Backend, CHUNK, CookedChunk, Rows, SkinBind, SkinInput, SkinPalette, Stretch, dqs,
    dqs_with_normals, lbs, lbs_with_normals,
};
use glam::{DQuat, DVec3, Vec3};
use rayon::prelude::*;
use serde::Serialize;
use std::io::{self, Write};
use std::time::Instant;

const N_JOINTS: usize = 60;
const INFLUENCES: usize = 4;
/// Neighbours around the tube.
const N_SIDES: usize = 64;
/// Chunks one task of a thread skins.
const CHUNKS_PER_TASK: usize = 2;
/// Chunks that one thread skins in one repetition: a fraction of a millisecond, so that few repetitions are
/// interrupted by other programs. A larger mesh is measured part by part, a smaller one several times.
const CHUNKS_PER_REPETITION: usize = 64;
/// Points skinned in all repetitions of a kernel.
const POINTS_PER_KERNEL: usize = 20_000_000;

/// One measured figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BenchRow {
    /// The kernel; positions and normals unless it says so.
    pub name: &'static str,
    /// Points of the mesh.
    pub points: usize,
    /// Threads at work.
    pub threads: usize,
    /// Median of the repetitions, wall clock.
    pub ns_per_point: f64,
}

/// Measures and writes one row for each kernel, mesh size and number of threads: a table, or a JSON list.
///
/// `points`: one mesh size instead of 10k, 100k and 1M. The rows of forward kinematics come last, per joint.
pub fn run(points: Option<usize>, json: bool, out: &mut dyn Write) -> io::Result<()> {
    let sizes = points.map_or_else(|| vec![10_000, 100_000, 1_000_000], |n| vec![n.max(1)]);
    let mut rows = Vec::new();
    for n_points in sizes {
        rows.extend(measure(n_points, POINTS_PER_KERNEL)?);
    }
    rows.extend(super::bench_fk::rows());
    write_rows(&rows, json, out)
}

fn write_rows(rows: &[BenchRow], json: bool, out: &mut dyn Write) -> io::Result<()> {
    if json {
        serde_json::to_writer_pretty(&mut *out, rows)?;
        return writeln!(out);
    }
    writeln!(
        out,
        "{:<20} {:>9} {:>7} {:>9} {:>8}",
        "kernel", "points", "threads", "ns/point", "x floor"
    )?;
    for row in rows {
        let floor = rows.iter().find(|other| {
            (other.name, other.points, other.threads) == ("floor", row.points, row.threads)
        });
        let ratio = floor.map_or(f64::NAN, |floor| row.ns_per_point / floor.ns_per_point);
        writeln!(
            out,
            "{:<20} {:>9} {:>7} {:>9.3} {:>8.2}",
            row.name, row.points, row.threads, row.ns_per_point, ratio
        )?;
    }
    Ok(())
}

/// What a kernel reads: one chunk.
struct ChunkView<'a> {
    positions: &'a [Vec3],
    normals: &'a [Vec3],
    cooked: &'a CookedChunk,
}

type RunChunk<'a> = Box<dyn Fn(&ChunkView<'_>, &mut [Vec3], &mut [Vec3]) + Sync + 'a>;

/// The figures of all kernels on one mesh, each from about `n_skinned` points.
fn measure(n_points: usize, n_skinned: usize) -> io::Result<Vec<BenchRow>> {
    let tube = Tube::new(n_points);
    let kernels = kernels(&tube);
    let n_threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(n_threads)
        .build()
        .map_err(io::Error::other)?;
    let mut thread_counts = vec![1, n_threads];
    thread_counts.dedup();
    let n_parts = tube.chunks.len().div_ceil(CHUNKS_PER_REPETITION);
    let n_passes = (CHUNKS_PER_REPETITION / tube.chunks.len()).max(1);
    let n_rounds = (n_skinned * n_parts / (n_points * n_passes)).max(1);
    let mut out = vec![Vec3::ZERO; n_points];
    let mut out_normals = vec![Vec3::ZERO; n_points];
    let mut samples = vec![Vec::new(); kernels.len() * thread_counts.len()];
    // The first round only warms up.
    for round in 0..=n_rounds {
        for (k, (_, kernel)) in kernels.iter().enumerate() {
            for (t, &threads) in thread_counts.iter().enumerate() {
                // Kernels work on different parts in turn: none finds the caches warmed by the one before.
                let part = (round + k * (n_parts / kernels.len() + 1)) % n_parts;
                let first = part * CHUNKS_PER_REPETITION * CHUNK;
                let range = first..n_points.min(first + CHUNKS_PER_REPETITION * CHUNK);
                if threads > 1 && round % n_parts != 0 {
                    continue;
                }
                let n_sampled = if threads == 1 { range.len() } else { n_points };
                let start = Instant::now();
                for _ in 0..n_passes {
                    if threads == 1 {
                        let (out, out_normals) =
                            (&mut out[range.clone()], &mut out_normals[range.clone()]);
                        tube.pass_serial(kernel, range.start / CHUNK, out, out_normals);
                    } else {
                        pool.install(|| tube.pass_parallel(kernel, &mut out, &mut out_normals));
                    }
                }
                let nanoseconds = start.elapsed().as_secs_f64() * 1e9;
                if round > 0 || threads > 1 && n_rounds < n_parts {
                    samples[k * thread_counts.len() + t]
                        .push(nanoseconds / (n_sampled * n_passes) as f64);
                }
            }
        }
    }
    let mut rows = Vec::new();
    for (t, &threads) in thread_counts.iter().enumerate() {
        for (k, (name, _)) in kernels.iter().enumerate() {
            let samples = &mut samples[k * thread_counts.len() + t];
            samples.sort_by(f64::total_cmp);
            rows.push(BenchRow {
                name,
                points: n_points,
                threads,
                ns_per_point: samples[samples.len() / 2],
            });
        }
    }
    Ok(rows)
}

/// The kernels by name.
fn kernels(tube: &Tube) -> Vec<(&'static str, RunChunk<'_>)> {
    fn with_input(
        view: &ChunkView<'_>,
        palette: &SkinPalette,
        backend: Backend,
        run: impl FnOnce(&SkinInput<'_>),
    ) {
        // The tube's own rows always fit its palettes.
        if let Ok(input) = SkinInput::new(view.positions, view.cooked, palette) {
            run(&input.on(backend));
        }
    }
    let (rigid, scaled) = (&tube.rigid, &tube.scaled);
    let (best, portable) = (Backend::detect(), Backend::Portable);
    vec![
        ("floor", Box::new(floor) as RunChunk<'_>),
        (
            "lbs",
            Box::new(move |v, p, n| {
                with_input(v, rigid, best, |i| lbs_with_normals(i, v.normals, p, n));
            }),
        ),
        (
            "dqs",
            Box::new(move |v, p, n| {
                with_input(v, rigid, best, |i| dqs_with_normals(i, v.normals, p, n));
            }),
        ),
        (
            "dqs two-phase",
            Box::new(move |v, p, n| {
                with_input(v, scaled, best, |i| dqs_with_normals(i, v.normals, p, n));
            }),
        ),
        (
            "lbs positions",
            Box::new(move |v, p, _| with_input(v, rigid, best, |i| lbs(i, p))),
        ),
        (
            "dqs positions",
            Box::new(move |v, p, _| with_input(v, rigid, best, |i| dqs(i, p))),
        ),
        (
            "lbs portable",
            Box::new(move |v, p, n| {
                with_input(v, rigid, portable, |i| lbs_with_normals(i, v.normals, p, n));
            }),
        ),
        (
            "dqs portable",
            Box::new(move |v, p, n| {
                with_input(v, rigid, portable, |i| dqs_with_normals(i, v.normals, p, n));
            }),
        ),
    ]
}

/// Reads the bytes that skinning reads, adds once, and writes positions and normals.
fn floor(view: &ChunkView<'_>, out: &mut [Vec3], out_normals: &mut [Vec3]) {
    let lanes = 8;
    let points = view.positions.chunks(lanes).zip(view.normals.chunks(lanes));
    let outs = out.chunks_mut(lanes).zip(out_normals.chunks_mut(lanes));
    for (block, ((p, n), (out, out_n))) in points.zip(outs).enumerate() {
        let (joints, weights) = view.cooked.block(block);
        let (joints, weights) = (joints.as_flattened(), weights.as_flattened());
        let (p, n): (&[f32], &[f32]) = (bytemuck::cast_slice(p), bytemuck::cast_slice(n));
        let out: &mut [f32] = bytemuck::cast_slice_mut(out);
        let out_n: &mut [f32] = bytemuck::cast_slice_mut(out_n);
        for ((out, p), w) in out.iter_mut().zip(p).zip(weights) {
            *out = p + w;
        }
        for ((out, n), &j) in out_n.iter_mut().zip(n).zip(joints) {
            *out = n + f32::from(j);
        }
    }
}

/// A bent tube along a chain of joints, weights falling off along it.
struct Tube {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    chunks: Vec<CookedChunk>,
    /// Rotations only.
    rigid: SkinPalette,
    /// Every joint scales, so that both phases run.
    scaled: SkinPalette,
}

impl Tube {
    fn new(n_points: usize) -> Self {
        let skeleton = chain();
        let rest = Pose::rest(&skeleton).world_matrices(&skeleton);
        let inverse_bind: Vec<_> = rest.iter().map(glam::DAffine3::inverse).collect();
        let joints: Vec<_> = (0..N_JOINTS as u32).map(JointIndex).collect();
        let bind = SkinBind::new(&skeleton, &joints, &inverse_bind, &[true; N_JOINTS], &rest);
        let palette = |scale: DVec3| {
            let mut pose = Pose::rest(&skeleton);
            for local in &mut pose.locals {
                local.rotation = DQuat::from_rotation_z(0.05) * DQuat::from_rotation_x(0.02);
            }
            let mut world = pose.world_matrices(&skeleton);
            for matrix in &mut world {
                matrix.matrix3 *= glam::DMat3::from_diagonal(scale);
            }
            let mut palette = SkinPalette::default();
            bind.pose(&world, Stretch::Inflate, &mut palette);
            palette
        };

        let n_rings = n_points.div_ceil(N_SIDES);
        let along =
            |point: usize| (point / N_SIDES) as f32 / n_rings as f32 * (N_JOINTS as f32 - 1.0);
        let around = |point: usize| {
            let angle = (point % N_SIDES) as f32 / N_SIDES as f32 * std::f32::consts::TAU;
            Vec3::new(0.0, angle.cos(), angle.sin())
        };
        let normals: Vec<Vec3> = (0..n_points).map(around).collect();
        let positions = (0..n_points)
            .map(|p| Vec3::new(along(p), 0.0, 0.0) + normals[p])
            .collect();
        let chunks = (0..n_points.div_ceil(CHUNK)).into_par_iter().map(|c| {
            let mut rows = Rows::with_capacity(CHUNK);
            for point in c * CHUNK..((c + 1) * CHUNK).min(n_points) {
                rows.push_pairs(row_at(along(point)));
            }
            CookedChunk::cook(&rows, bind.ranks())
        });
        Self {
            positions,
            normals,
            chunks: chunks.collect(),
            rigid: palette(DVec3::ONE),
            scaled: palette(DVec3::new(1.0, 1.2, 0.9)),
        }
    }

    fn view(&self, chunk: usize) -> ChunkView<'_> {
        let range = chunk * CHUNK..chunk * CHUNK + self.chunks[chunk].n_points();
        ChunkView {
            positions: &self.positions[range.clone()],
            normals: &self.normals[range],
            cooked: &self.chunks[chunk],
        }
    }

    /// Skins chunks from `first_chunk` on, as many as `out` has room for.
    fn pass_serial(
        &self,
        kernel: &RunChunk<'_>,
        first_chunk: usize,
        out: &mut [Vec3],
        out_normals: &mut [Vec3],
    ) {
        let outs = out.chunks_mut(CHUNK).zip(out_normals.chunks_mut(CHUNK));
        for (chunk, (out, out_normals)) in outs.enumerate() {
            kernel(&self.view(first_chunk + chunk), out, out_normals);
        }
    }

    fn pass_parallel(&self, kernel: &RunChunk<'_>, out: &mut [Vec3], out_normals: &mut [Vec3]) {
        let per_task = CHUNK * CHUNKS_PER_TASK;
        out.par_chunks_mut(per_task)
            .zip(out_normals.par_chunks_mut(per_task))
            .enumerate()
            .for_each(|(task, (out, out_normals))| {
                self.pass_serial(kernel, task * CHUNKS_PER_TASK, out, out_normals);
            });
    }
}

/// Joints one metre apart along x.
fn chain() -> Skeleton {
    let joints = (0..N_JOINTS as u32).map(|j| Joint {
        name: String::new(),
        parent: j.checked_sub(1).map(JointIndex),
        rest: Transform::from_rotation_translation(
            DQuat::IDENTITY,
            DVec3::new(f64::from(j.min(1)), 0.0, 0.0),
        ),
        source_node: None,
        rule: JointRule::default(),
    });
    Skeleton::new(joints.collect()).unwrap_or_default()
}

/// The four joints nearest to x on the chain, by a bell of the distance, sum 1.
fn row_at(x: f32) -> [(u16, f32); INFLUENCES] {
    let last_first = (N_JOINTS - INFLUENCES) as f32;
    let first = (x - 0.5 * INFLUENCES as f32 + 1.0)
        .floor()
        .clamp(0.0, last_first);
    let bell: [f32; INFLUENCES] = std::array::from_fn(|k| (-(x - first - k as f32).powi(2)).exp());
    let sum: f32 = bell.iter().sum();
    std::array::from_fn(|k| (first as u16 + k as u16, bell[k] / sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_reports_every_number_of_threads() {
        let mut out = Vec::new();
        write_rows(&measure(3000, 10_000).unwrap(), true, &mut out).unwrap();
        let rows: serde_json::Value = serde_json::from_slice(&out).unwrap();
        let rows = rows.as_array().unwrap();
        for name in ["floor", "lbs", "dqs"] {
            assert!(rows.iter().any(|r| r["name"] == name && r["threads"] == 1));
        }
        assert!(
            rows.iter()
                .all(|r| r["ns_per_point"].as_f64().unwrap() > 0.0)
        );
        assert!(rows.iter().all(|r| r["points"] == 3000));
    }

    #[test]
    fn the_tube_moves_as_one_piece_and_takes_the_fast_path() {
        let tube = Tube::new(5000);
        assert!(!tube.rigid.inflates());
        assert!(tube.scaled.inflates());
        let mut out = vec![Vec3::ZERO; 5000];
        let mut out_normals = out.clone();
        for (name, kernel) in &kernels(&tube) {
            tube.pass_serial(kernel, 0, &mut out, &mut out_normals);
            assert!(out.iter().all(|p| p.is_finite()), "{name}");
        }
    }
}
