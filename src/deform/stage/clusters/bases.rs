//! What moves the corners: the stack, a skinning method of their own, or nothing.

use super::corners::Corners;
use super::probe::{self, CORNERS_PER_CHUNK, SkinProbe};
use crate::cluster::{Base, ClusterMap, CornerFrame, CornerRow, Patches, TangentPlane};
use crate::deform::stage::changed::Changed;
use crate::deform::stage::run::Run;
use crate::deform::{DeformInput, DeformStack, SkinningMethod};
use crate::math::dual_quaternion::quat_from_rotation;
use crate::math::polar;
use crate::skinning::{CHUNK, RowRef};
use glam::{DAffine3, DMat3, DQuat, DVec3, Vec3};
use rayon::prelude::*;

/// The corners by what moves them.
pub(super) struct Bases {
    /// One a corner: its base, and its index among the corners of the probe of that base.
    of_corner: Vec<(Base, u32)>,
    /// In the order of [`PROBED`]; empty without a skin.
    probes: Vec<SkinProbe>,
    /// Whether some corner follows no probe.
    has_others: bool,
    /// Rows of the corners of one probe among those of others.
    spare: Vec<CornerRow>,
    /// Whether a joint of the skin mirrors in the latest pose.
    mirrors: bool,
    /// Without a skin: from the mesh to the world, now and in the rest pose, in the latest run.
    node: Option<[DAffine3; 2]>,
    is_new: bool,
}

/// The bases that probes follow.
const PROBED: [Base; 3] = [Base::Stack, Base::Lbs, Base::Dqs];

impl Bases {
    /// The bases of the corners under a map.
    pub(super) fn new(run: &Run<'_>, corners: &Corners, map: &ClusterMap) -> Self {
        let mut of_corner: Vec<(Base, u32)> = (0..corners.len())
            .map(|corner| (corners.base(corner, map), 0))
            .collect();
        let probes = PROBED.map(|base| {
            let mut which = Vec::new();
            for (corner, entry) in (0u32..).zip(&mut of_corner) {
                if entry.0 == base {
                    entry.1 = which.len() as u32;
                    which.push(corner);
                }
            }
            which
        });
        let has_skin = run.input.skin.is_some();
        let probes = probes.into_iter().filter(|_| has_skin);
        let probes: Vec<SkinProbe> = probes
            .map(|which| SkinProbe::new(which, corners, run.input))
            .collect();
        let n_probed: usize = probes.iter().map(|probe| probe.corners().len()).sum();
        Self {
            probes,
            has_others: n_probed < of_corner.len(),
            of_corner,
            spare: Vec::new(),
            mirrors: false,
            node: None,
            is_new: true,
        }
    }

    /// The base of a corner.
    pub(super) fn of(&self, corner: u32) -> Base {
        self.of_corner[corner as usize].0
    }

    /// Deforms the probes; adds the corners that may move otherwise to `stale`. Returns whether all may.
    pub(super) fn run(&mut self, run: &Run<'_>, corners: &Corners, stale: &mut Vec<u32>) -> bool {
        let mut all = self.is_new;
        let mut joints = 0..run.skin.palette().n_joints();
        self.mirrors = joints.any(|joint| {
            let mut bases = PROBED.iter();
            bases.any(|base| joint_mirrors(run, *base, joint as u16))
        });
        if run.input.skin.is_none() {
            let node = run.input.node.get();
            let matrices = [run.input.world.get(node), run.input.rest_world.get(node)];
            let matrices = matrices.map(|matrix| matrix.copied().unwrap_or_default());
            all |= self.node.replace(matrices) != Some(matrices);
        } else {
            // Their matrices are cheap; nothing says when they change.
            let corners_and_bases = (0u32..).zip(&self.of_corner);
            let at_rest = corners_and_bases.filter(|(_, (base, _))| base.is_at_rest());
            stale.extend(at_rest.map(|(corner, _)| corner));
        }
        for (base, probe) in PROBED.into_iter().zip(&mut self.probes) {
            let own = stack_of(base, run.input.stack);
            let stack = own.as_ref().unwrap_or(run.input.stack);
            let with_places = base != Base::Stack || adds(run.input);
            match probe.run(run, stack, corners, self.is_new, with_places) {
                Changed::Nothing => {}
                Changed::Points(which) => {
                    let of_probe = probe.corners();
                    stale.extend(which.iter().map(|&i| of_probe[i as usize]));
                }
                Changed::All => all = true,
            }
        }
        self.is_new = false;
        all
    }

    /// Writes the rows of all corners as their bases move them, with their tangents. `before`: the shape of the stages before,
    /// n_points; `rows`: n_corners.
    pub(super) fn rows(
        &mut self,
        run: &Run<'_>,
        on: (&Corners, &Patches),
        before: &[Vec3],
        rows: &mut [CornerRow],
    ) {
        let mut spare = std::mem::take(&mut self.spare);
        for (base, probe) in PROBED.into_iter().zip(&self.probes) {
            let which = probe.corners();
            let all = which.len() == rows.len();
            let of_probe = if all {
                &mut *rows
            } else {
                spare.resize(which.len(), CornerRow::default());
                &mut spare[..]
            };
            let chunks = of_probe.par_chunks_mut(CORNERS_PER_CHUNK).enumerate();
            chunks.for_each(|(chunk, rows)| {
                self.rows_of_chunk(run, on, before, (base, probe, chunk), rows);
            });
            if !all {
                for (&corner, row) in which.iter().zip(&spare) {
                    rows[corner as usize] = *row;
                }
            }
        }
        self.spare = spare;
        if self.has_others {
            let chunks = rows.par_chunks_mut(CORNERS_PER_CHUNK).enumerate();
            chunks.for_each(|(chunk, rows)| {
                let first = (chunk * CORNERS_PER_CHUNK) as u32;
                for (corner, row) in (first..).zip(rows) {
                    if let Some(frame) = self.frame_beside_skin(run, on, before, corner) {
                        *row = on.1.row_with_tangents(corner, &frame);
                    }
                }
            });
        }
    }

    /// As [`Bases::rows`], of the corners `which`, ascending, and with the same bits.
    pub(super) fn rows_of(
        &self,
        run: &Run<'_>,
        on: (&Corners, &Patches),
        before: &[Vec3],
        which: &[u32],
        found: &mut dyn FnMut(u32, &CornerRow),
    ) {
        let mut rows = [CornerRow::default(); CORNERS_PER_CHUNK];
        for (base, probe) in PROBED.into_iter().zip(&self.probes) {
            let mut known = usize::MAX;
            for &corner in which {
                let (of, i) = self.of_corner[corner as usize];
                if of != base {
                    continue;
                }
                let (chunk, i) = (
                    i as usize / CORNERS_PER_CHUNK,
                    i as usize % CORNERS_PER_CHUNK,
                );
                if chunk != known {
                    known = chunk;
                    let n = probe.corners().len() - chunk * CORNERS_PER_CHUNK;
                    let rows = &mut rows[..n.min(CORNERS_PER_CHUNK)];
                    self.rows_of_chunk(run, on, before, (base, probe, chunk), rows);
                }
                found(corner, &rows[i]);
            }
        }
        for &corner in which {
            if let Some(frame) = self.frame_beside_skin(run, on, before, corner) {
                found(corner, &on.1.row_with_tangents(corner, &frame));
            }
        }
    }

    /// The rows of a chunk of a probe, f32; in f64 where the skin mirrors, or no plane is left.
    fn rows_of_chunk(
        &self,
        run: &Run<'_>,
        (corners, patches): (&Corners, &Patches),
        before: &[Vec3],
        (base, probe, chunk): (Base, &SkinProbe, usize),
        rows: &mut [CornerRow],
    ) {
        let method = method_of(base).unwrap_or(run.input.stack.method);
        let some_flat = probe.rows(run, method, before, chunk, rows);
        if !some_flat && !self.mirrors {
            return;
        }
        let which = &probe.corners()[chunk * CORNERS_PER_CHUNK..];
        for (&corner, row) in which.iter().zip(rows) {
            let (point, _) = corners.points[corner as usize];
            let mirrors = self.mirrors && mirrors(run, base, point);
            if mirrors || row.is_flat() {
                let plane = &patches.net().planes[corner as usize];
                let frame = row.frame(plane);
                let frame = if mirrors {
                    frame.mirrored(plane)
                } else {
                    frame
                };
                *row = patches.row_with_tangents(corner, &frame);
            }
        }
    }

    /// The frame of a corner as its base moves it. `row`: of [`Bases::rows`].
    pub(super) fn frame(
        &self,
        run: &Run<'_>,
        on: (&Corners, &Patches),
        before: &[Vec3],
        row: &CornerRow,
        corner: u32,
    ) -> CornerFrame {
        let beside = self.frame_beside_skin(run, on, before, corner);
        beside.unwrap_or_else(|| row.frame(&on.1.net().planes[corner as usize]))
    }

    /// The frame of a corner that no probe follows.
    fn frame_beside_skin(
        &self,
        run: &Run<'_>,
        (corners, patches): (&Corners, &Patches),
        before: &[Vec3],
        corner: u32,
    ) -> Option<CornerFrame> {
        let plane = &patches.net().planes[corner as usize];
        let (base, _) = self.of_corner[corner as usize];
        let (point, _) = corners.points[corner as usize];
        if base.is_at_rest() {
            let matrix = rest_matrix(run, point);
            let bind = corners.position(corner) / corners.unit;
            let position = matrix.transform_point3(bind);
            return Some(affine_frame(position, matrix.matrix3, corners.unit, plane));
        }
        self.probes.is_empty().then(|| {
            let node = run.input.world.get(run.input.node.get());
            let matrix = node.map_or(DMat3::IDENTITY, |node| node.matrix3);
            let place = before[point as usize].as_dvec3();
            affine_frame(place, matrix, corners.unit, plane)
        })
    }
}

/// Whether stages 6 and 7 move points after the skin.
pub(super) fn adds(input: &DeformInput<'_>) -> bool {
    input.stack.smooth.acts() || input.correctives.is_some_and(|c| c.acts())
}

/// The stack of a base; `None`: that of the mesh.
fn stack_of(base: Base, own: &DeformStack) -> Option<DeformStack> {
    let method = method_of(base)?;
    Some(DeformStack {
        scale: own.scale,
        ..DeformStack::bare(method)
    })
}

/// The skinning method of a base; `None`: that of the stack.
fn method_of(base: Base) -> Option<SkinningMethod> {
    match base {
        Base::Lbs => Some(SkinningMethod::Lbs),
        Base::Dqs => Some(SkinningMethod::Dqs),
        Base::Stack | Base::Fixed | Base::Hand | Base::Lattice | Base::Cage | Base::Data => None,
    }
}

/// The blended rotation of a point.
pub(super) fn rotation(run: &Run<'_>, base: Base, point: u32) -> DQuat {
    let method = method_of(base).unwrap_or(run.input.stack.method);
    probe::rotation(run, method, point)
}

/// Whether the skin mirrors at a point: as its heaviest joint does.
fn mirrors(run: &Run<'_>, base: Base, point: u32) -> bool {
    let rows = run.input.cooked.rows(point as usize / CHUNK);
    let row = rows.map(|rows| rows.row(point as usize % CHUNK));
    let influences = row.into_iter().flat_map(RowRef::iter);
    let heaviest = influences.max_by(|a, b| a.1.total_cmp(&b.1));
    heaviest.is_some_and(|(joint, _)| joint_mirrors(run, base, joint))
}

/// Whether a joint of the skin mirrors: its whole matrix under linear skinning, else the scale that inflates.
fn joint_mirrors(run: &Run<'_>, base: Base, joint: u16) -> bool {
    let palette = run.skin.palette();
    let method = method_of(base).unwrap_or(run.input.stack.method);
    let determinant = if method == SkinningMethod::Lbs {
        let matrix = palette.skin_matrices().get(usize::from(joint));
        matrix.map(|matrix| matrix.matrix3.determinant())
    } else {
        let motion = palette.motions().get(usize::from(joint));
        motion.map(|motion| motion.stretch.determinant())
    };
    determinant.is_some_and(|determinant| determinant < 0.0)
}

/// From mesh space to the rest pose of the model at a point: the blended skin matrices, or the node.
pub(super) fn rest_matrix(run: &Run<'_>, point: u32) -> DAffine3 {
    let input = run.input;
    let rest = |joint: usize| {
        input
            .rest_world
            .get(joint)
            .copied()
            .unwrap_or(DAffine3::IDENTITY)
    };
    let Some(skin) = input.skin else {
        return rest(input.node.get());
    };
    let rows = input.cooked.rows(point as usize / CHUNK);
    let row = rows.map(|rows| rows.row(point as usize % CHUNK));
    let (mut sum, mut total) = (DAffine3::ZERO, 0.0);
    for (joint, weight) in row.into_iter().flat_map(RowRef::iter) {
        let joint = usize::from(joint);
        if let Some(node) = skin.joints.get(joint) {
            let inverse = skin.inverse_bind.get(joint);
            let matrix = rest(node.get()) * inverse.copied().unwrap_or(DAffine3::IDENTITY);
            let weight = f64::from(weight);
            sum.matrix3 += matrix.matrix3 * weight;
            sum.translation += matrix.translation * weight;
            total += weight;
        }
    }
    if total > 0.0 {
        DAffine3 {
            matrix3: sum.matrix3 * (1.0 / total),
            translation: sum.translation / total,
        }
    } else {
        DAffine3::IDENTITY
    }
}

/// The frame of a corner that a matrix moves.
fn affine_frame(position: DVec3, matrix: DMat3, unit: f64, plane: &TangentPlane) -> CornerFrame {
    let rotation = quat_from_rotation(polar(matrix).0);
    let columns = plane.tangents.map(|t| matrix * t / unit);
    let frame = CornerFrame::with_columns(position, plane, columns, rotation);
    if matrix.determinant() < 0.0 {
        frame.mirrored(plane)
    } else {
        frame
    }
}
