//! What moves the corners: the stack, a skinning method of their own, or nothing.

use super::corners::Corners;
use super::probe::SkinProbe;
use crate::cluster::{Base, ClusterMap, CornerFrame, TangentPlane};
use crate::deform::correctives::BlendedRotation;
use crate::deform::stage::changed::Changed;
use crate::deform::stage::run::Run;
use crate::deform::{DeformStack, MaskKind, SkinningMethod};
use crate::math::dual_quaternion::quat_from_rotation;
use crate::math::polar;
use crate::skinning::{CHUNK, RowRef};
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// The corners by what moves them.
pub(super) struct Bases {
    /// One a corner: its base, and its index among the corners of the probe of that base.
    of_corner: Vec<(Base, u32)>,
    /// In the order of [`PROBED`]; empty without a skin.
    probes: Vec<SkinProbe>,
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
        Self {
            probes: probes
                .map(|which| SkinProbe::new(which, corners, run.input))
                .collect(),
            of_corner,
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
            match probe.run(run, stack, corners, self.is_new) {
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

    /// The frame of a corner as its base moves it. `place`: where the stages before have it, world.
    pub(super) fn frame(
        &self,
        run: &Run<'_>,
        corners: &Corners,
        plane: &TangentPlane,
        place: DVec3,
        corner: u32,
    ) -> CornerFrame {
        let (base, i) = self.of_corner[corner as usize];
        let (point, _) = corners.points[corner as usize];
        if base.is_at_rest() {
            let matrix = rest_matrix(run, point);
            let bind = corners.position(corner) / corners.unit;
            let position = matrix.transform_point3(bind);
            return affine_frame(position, matrix.matrix3, corners.unit, plane);
        }
        let probe = PROBED.iter().position(|probed| *probed == base);
        match probe.and_then(|probe| self.probes.get(probe)) {
            Some(probe) => {
                let probed = probe.probed(i as usize);
                let rotation = rotation(run, base, point);
                let frame =
                    CornerFrame::with_columns(probed.position, plane, probed.columns, rotation);
                if self.mirrors && mirrors(run, base, point) {
                    frame.mirrored(plane)
                } else {
                    frame
                }
            }
            None => {
                let node = run.input.world.get(run.input.node.get());
                let matrix = node.map_or(DMat3::IDENTITY, |node| node.matrix3);
                affine_frame(place, matrix, corners.unit, plane)
            }
        }
    }
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
    let (c, i) = (point as usize / CHUNK, point as usize % CHUNK);
    let Some(chunk) = run.skin.chunks().get(c) else {
        return DQuat::IDENTITY;
    };
    let stack = run.input.stack;
    let blended = BlendedRotation {
        method: method_of(base).unwrap_or(stack.method),
        blend: stack.blend,
        mask: run.input.masks.chunk(MaskKind::Blend, c),
        chunk,
        palette: run.skin.palette(),
    };
    blended.any_at(i)
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
