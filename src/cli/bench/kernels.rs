//! Kernels that deform one chunk at a time, measured in alternation.

use super::tube::Tube;
use super::{BenchRow, thread_counts};
use crate::deform::DeformStack;
use crate::skinning::{
    Backend, BulgeProjection, CHUNK, ChunkCorrections, Compensation, CookedChunk, CorrectionPose,
    CorrectionSettings, JointPairs, SkinInput, SkinPalette, Variant, centres_of_rotation,
    centres_of_rotation_with_normals, correct, dqs, dqs_with_normals, lbs, lbs_with_normals,
};
use glam::Vec3;
use rayon::prelude::*;
use std::io;
use std::time::Instant;

/// Chunks one task of a thread skins.
const CHUNKS_PER_TASK: usize = 2;
/// Chunks that one thread skins in one repetition: a fraction of a millisecond, so that few repetitions are
/// interrupted by other programs. A larger mesh is measured part by part, a smaller one several times.
const CHUNKS_PER_REPETITION: usize = 64;

/// The input of a kernel: one chunk.
pub(super) struct ChunkView<'a> {
    index: usize,
    positions: &'a [Vec3],
    normals: &'a [Vec3],
    cooked: &'a CookedChunk,
}

pub(super) type RunChunk<'a> = Box<dyn Fn(&ChunkView<'_>, &mut [Vec3], &mut [Vec3]) + Sync + 'a>;
pub(super) type Kernels<'a> = Vec<(&'static str, RunChunk<'a>)>;

/// The figures of kernels that run in alternation on one mesh, each from about `n_skinned` points.
pub(super) fn measure(
    tube: &Tube,
    kernels: &Kernels<'_>,
    n_skinned: usize,
) -> io::Result<Vec<BenchRow>> {
    let n_points = tube.positions.len();
    let thread_counts = thread_counts();
    let n_threads = thread_counts.last().copied().unwrap_or(1);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(n_threads)
        .build()
        .map_err(io::Error::other)?;
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
                // Kernels work on different parts: none finds the caches warmed by the previous one.
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
                        pass_serial(tube, kernel, range.start / CHUNK, out, out_normals);
                    } else {
                        pool.install(|| pass_parallel(tube, kernel, &mut out, &mut out_normals));
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
            rows.push(BenchRow {
                name,
                points: n_points,
                threads,
                ns_per_point: super::median(&mut samples[k * thread_counts.len() + t]),
                floor_ns_per_point: None,
            });
        }
    }
    Ok(super::beside_floor(rows))
}

fn view(tube: &Tube, chunk: usize) -> ChunkView<'_> {
    let range = chunk * CHUNK..chunk * CHUNK + tube.chunks[chunk].n_points();
    ChunkView {
        index: chunk,
        positions: &tube.positions[range.clone()],
        normals: &tube.normals[range],
        cooked: &tube.chunks[chunk],
    }
}

/// Skins as many chunks from `first_chunk` on as fit into `out`.
pub(super) fn pass_serial(
    tube: &Tube,
    kernel: &RunChunk<'_>,
    first_chunk: usize,
    out: &mut [Vec3],
    out_normals: &mut [Vec3],
) {
    let outs = out.chunks_mut(CHUNK).zip(out_normals.chunks_mut(CHUNK));
    for (chunk, (out, out_normals)) in outs.enumerate() {
        kernel(&view(tube, first_chunk + chunk), out, out_normals);
    }
}

fn pass_parallel(tube: &Tube, kernel: &RunChunk<'_>, out: &mut [Vec3], out_normals: &mut [Vec3]) {
    let per_task = CHUNK * CHUNKS_PER_TASK;
    out.par_chunks_mut(per_task)
        .zip(out_normals.par_chunks_mut(per_task))
        .enumerate()
        .for_each(|(task, (out, out_normals))| {
            pass_serial(tube, kernel, task * CHUNKS_PER_TASK, out, out_normals);
        });
}

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

/// The floor and plain dual quaternion skinning: every group has them for comparison.
fn measures(tube: &Tube) -> Kernels<'_> {
    let rigid = &tube.rig.rigid;
    let best = Backend::detect();
    vec![
        ("floor", Box::new(floor) as RunChunk<'_>),
        (
            "dqs",
            Box::new(move |v, p, n| {
                with_input(v, rigid, best, |i| dqs_with_normals(i, v.normals, p, n));
            }),
        ),
    ]
}

/// The methods of skinning, and the whole default stack.
pub(super) fn methods<'a>(
    tube: &'a Tube,
    centres: &'a [Vec3],
    default: &'a Corrections,
) -> Kernels<'a> {
    let (rigid, scaled) = (&tube.rig.rigid, &tube.rig.scaled);
    let (best, portable) = (Backend::detect(), Backend::Portable);
    let of_chunk = |v: &ChunkView<'_>| v.index * CHUNK..v.index * CHUNK + v.positions.len();
    let mut kernels = measures(tube);
    kernels.extend([
        (
            "lbs",
            Box::new(move |v: &ChunkView<'_>, p: &mut [Vec3], n: &mut [Vec3]| {
                with_input(v, rigid, best, |i| lbs_with_normals(i, v.normals, p, n));
            }) as RunChunk<'_>,
        ),
        (
            "dqs two-phase",
            Box::new(move |v, p, n| {
                with_input(v, scaled, best, |i| dqs_with_normals(i, v.normals, p, n));
            }),
        ),
        (
            "cor",
            Box::new(move |v, p, n| {
                let centres = &centres[of_chunk(v)];
                with_input(v, rigid, best, |i| {
                    centres_of_rotation_with_normals(i, centres, v.normals, p, n);
                });
            }),
        ),
        (
            "blend",
            Box::new(move |v, p, n| {
                let mut linear = [Vec3::ZERO; CHUNK];
                let mut linear_normals = [Vec3::ZERO; CHUNK];
                let (linear, linear_normals) =
                    (&mut linear[..p.len()], &mut linear_normals[..p.len()]);
                with_input(v, rigid, best, |i| {
                    lbs_with_normals(i, v.normals, linear, linear_normals);
                    dqs_with_normals(i, v.normals, p, n);
                });
                for (p, l) in p.iter_mut().zip(linear) {
                    *p = l.lerp(*p, 0.5);
                }
                for (n, l) in n.iter_mut().zip(linear_normals) {
                    *n = l.lerp(*n, 0.5).normalize_or(*n);
                }
            }),
        ),
        (
            "default",
            Box::new(move |v, p, n| {
                with_input(v, rigid, best, |i| dqs_with_normals(i, v.normals, p, n));
                default.correct(v, p);
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
            "dqs two-phase positions",
            Box::new(move |v, p, _| with_input(v, scaled, best, |i| dqs(i, p))),
        ),
        (
            "cor positions",
            Box::new(move |v, p, _| {
                let centres = &centres[of_chunk(v)];
                with_input(v, rigid, best, |i| centres_of_rotation(i, centres, p));
            }),
        ),
        (
            "blend positions",
            Box::new(move |v, p, _| {
                let mut linear = [Vec3::ZERO; CHUNK];
                let linear = &mut linear[..p.len()];
                with_input(v, rigid, best, |i| {
                    lbs(i, linear);
                    dqs(i, p);
                });
                for (p, l) in p.iter_mut().zip(linear) {
                    *p = l.lerp(*p, 0.5);
                }
            }),
        ),
        (
            "default positions",
            Box::new(move |v, p, _| {
                with_input(v, rigid, best, |i| dqs(i, p));
                default.correct(v, p);
            }),
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
    ]);
    kernels
}

/// Each correction alone after dual quaternion skinning.
pub(super) fn corrections<'a>(
    tube: &'a Tube,
    each: &'a [(&'static str, &'static str, Corrections)],
) -> Kernels<'a> {
    let rigid = &tube.rig.rigid;
    let best = Backend::detect();
    let mut kernels = measures(tube);
    kernels.push((
        "dqs positions",
        Box::new(move |v, p, _| with_input(v, rigid, best, |i| dqs(i, p))),
    ));
    for (name, positions, corrections) in each {
        kernels.push((
            name,
            Box::new(move |v, p, n| {
                with_input(v, rigid, best, |i| dqs_with_normals(i, v.normals, p, n));
                corrections.correct(v, p);
            }),
        ));
        kernels.push((
            positions,
            Box::new(move |v, p, _| {
                with_input(v, rigid, best, |i| dqs(i, p));
                corrections.correct(v, p);
            }),
        ));
    }
    kernels
}

/// Compensation, projection, or both, cooked for a tube and posed.
pub(super) struct Corrections {
    chunks: Vec<ChunkCorrections>,
    pairs: JointPairs,
    projection: Option<BulgeProjection>,
    bones: crate::skinning::BonePose,
}

impl Corrections {
    pub(super) fn new(
        tube: &Tube,
        compensation: Option<&Compensation>,
        projection: Option<&BulgeProjection>,
    ) -> Self {
        let rig = &tube.rig;
        let mut pairs = JointPairs::default();
        let settings = CorrectionSettings {
            compensation,
            projection,
            compensation_mask: None,
            projection_mask: None,
        };
        let mut chunks: Vec<ChunkCorrections> = (0..tube.chunks.len())
            .into_par_iter()
            .map(|c| {
                let view = view(tube, c);
                let mut cooked = ChunkCorrections::cook(view.cooked, &rig.bones, &settings);
                let backend = Backend::detect();
                cooked.measure(view.positions, &rig.bones, &rig.bone_pose, backend);
                cooked
            })
            .collect();
        for chunk in &mut chunks {
            chunk.find_pairs(&mut pairs);
        }
        pairs.set_automatic(|_| 1.0);
        let compensation = compensation.cloned().unwrap_or_else(Compensation::off);
        pairs.pose(&compensation, &rig.bones, &rig.rigid);
        Self {
            chunks,
            pairs,
            projection: projection.cloned(),
            bones: rig.bone_pose.clone(),
        }
    }

    /// Those of the stack of a new model.
    pub(super) fn of_default_stack(tube: &Tube) -> Self {
        let stack = DeformStack::default();
        Self::new(tube, Some(&stack.compensation), Some(&stack.projection))
    }

    /// Each correction alone, with the names of its rows.
    pub(super) fn each(tube: &Tube) -> Vec<(&'static str, &'static str, Self)> {
        let published = BulgeProjection {
            variant: Variant::Published,
            ..BulgeProjection::default()
        };
        vec![
            (
                "dqs + compensation",
                "dqs + compensation positions",
                Self::new(tube, Some(&Compensation::default()), None),
            ),
            (
                "dqs + projection",
                "dqs + projection positions",
                Self::new(tube, None, Some(&BulgeProjection::default())),
            ),
            (
                "dqs + published projection",
                "dqs + published projection positions",
                Self::new(tube, None, Some(&published)),
            ),
        ]
    }

    fn correct(&self, view: &ChunkView<'_>, points: &mut [Vec3]) {
        let pose = CorrectionPose {
            pairs: &self.pairs,
            bones: &self.bones,
            projection: self.projection.as_ref(),
        };
        correct(&self.chunks[view.index], &pose, Backend::detect(), points);
    }
}

/// Centres of the tube's points: on its axis, a little off the point's own ring.
pub(super) fn some_centres(tube: &Tube) -> Vec<Vec3> {
    let centre = |p: &Vec3| Vec3::new(p.x.round(), 0.0, 0.0);
    tube.positions.iter().map(centre).collect()
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
