//! A limb of two bones with a joint at the origin, skinned in f64, and its clusters at poses.

use crate::cluster_shapes::{Arm, RADIUS, tube};
use glam::{DMat3, DQuat, DVec3};
use sinew::cluster::{
    ClusterSurface, ControlNet, CornerFrame, ExactPatches, Layout, PatchOptions, Stencil,
};
use sinew::task::Task;

/// The skin of the limb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Skin {
    Linear,
    DualQuaternion,
}

/// How corners get their frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// From the skin.
    A,
    /// From positions.
    B,
    /// The rotation of the skin, without stretch: normals are those of bind, rotated.
    Rotated,
}

/// A limb.
pub(crate) struct Limb {
    pub(crate) surface: ClusterSurface,
    /// n_vertices weights of the lower bone.
    pub(crate) lower: Vec<f64>,
}

impl Limb {
    /// The arm of the fixtures.
    pub(crate) fn arm(arm: &Arm) -> Self {
        Self {
            surface: arm.surface.clone(),
            lower: arm.lower.clone(),
        }
    }

    /// The cylinder of METHODS: 40 x 81 vertices.
    pub(crate) fn cylinder() -> Self {
        let surface = tube(40, 81, RADIUS, 4.0);
        let lower = surface
            .positions
            .iter()
            .map(|p| smoothstep((p.z + 0.6) / 1.2));
        Self {
            lower: lower.collect(),
            surface,
        }
    }

    /// The same cylinder with its squares split along the other diagonal, as METHODS 1.7 has it: a twist tells them apart.
    pub(crate) fn cylinder_of_table() -> Self {
        let cylinder = Self::cylinder();
        let columns = 40;
        let at = |row: usize, column: usize| (row * columns + column % columns) as u32;
        let squares = (0..80).flat_map(|row| (0..columns).map(move |column| (row, column)));
        let triangles = squares.flat_map(|(row, column)| {
            let [a, b] = [at(row, column), at(row, column + 1)];
            let [c, d] = [at(row + 1, column), at(row + 1, column + 1)];
            [[a, b, c], [b, d, c]]
        });
        let triangles: Vec<[u32; 3]> = triangles.collect();
        let positions = cylinder.surface.positions.clone();
        Self {
            surface: ClusterSurface::from_triangles(positions, &triangles),
            lower: cylinder.lower,
        }
    }

    /// The skinned position and rotation of a vertex at `p` with a weight of the lower bone, which `turn` rotates.
    pub(crate) fn skin(p: DVec3, lower: f64, turn: DQuat, skin: Skin) -> (DVec3, DQuat) {
        let lower = lower.clamp(0.0, 1.0);
        match skin {
            Skin::DualQuaternion => {
                // Both bones rotate about the origin, so that the dual parts vanish.
                let sign = if turn.w < 0.0 { -1.0 } else { 1.0 };
                let q = DQuat::IDENTITY * (1.0 - lower) + turn * (sign * lower);
                let q = q * (1.0 / q.length());
                (q * p, q)
            }
            Skin::Linear => {
                let m = DMat3::IDENTITY * (1.0 - lower) + DMat3::from_quat(turn) * lower;
                let q = DQuat::from_mat3(&sinew::math::polar(m).0);
                (m * p, q)
            }
        }
    }

    /// All vertices, skinned.
    pub(crate) fn skinned(&self, turn: DQuat, skin: Skin) -> Vec<DVec3> {
        let vertices = self.surface.positions.iter().zip(&self.lower);
        vertices
            .map(|(&p, &w)| Self::skin(p, w, turn, skin).0)
            .collect()
    }

    /// The frames of some vertices in mode A.
    pub(crate) fn frames(&self, vertices: &[u32], turn: DQuat, skin: Skin) -> Vec<CornerFrame> {
        let stencils = Stencil::of(&self.surface, vertices);
        let frame = |(&v, stencil): (&u32, &Stencil)| {
            let (p, w) = (self.surface.positions[v as usize], self.lower[v as usize]);
            let (position, rotation) = Self::skin(p, w, turn, skin);
            let gradient = stencil.gradient(w, |j| self.lower[j as usize]);
            let skinned = stencil
                .virtual_points()
                .map(|offset| Self::skin(p + offset, w + gradient.dot(offset), turn, skin).0);
            match stencil.columns(skinned) {
                Some(columns) => {
                    CornerFrame::with_columns(position, &stencil.plane, columns, rotation)
                }
                None => CornerFrame {
                    jacobian: DMat3::from_quat(rotation),
                    rotation,
                    ..CornerFrame::at(position)
                },
            }
        };
        vertices.iter().zip(&stencils).map(frame).collect()
    }

    /// The frames of the corners of a net.
    pub(crate) fn corner_frames(
        &self,
        net: &ControlNet,
        turn: DQuat,
        skin: Skin,
        mode: Mode,
    ) -> Vec<CornerFrame> {
        match mode {
            Mode::A => self.frames(&net.corners, turn, skin),
            Mode::Rotated => {
                let corners = net.corners.iter().map(|&v| {
                    let (p, w) = (self.surface.positions[v as usize], self.lower[v as usize]);
                    let (position, rotation) = Self::skin(p, w, turn, skin);
                    CornerFrame {
                        jacobian: DMat3::from_quat(rotation),
                        rotation,
                        ..CornerFrame::at(position)
                    }
                });
                corners.collect()
            }
            Mode::B => {
                let all = self.skinned(turn, skin);
                let x: Vec<DVec3> = net.corners.iter().map(|&v| all[v as usize]).collect();
                net.frames_of_positions(&x)
            }
        }
    }
}

/// A limb with clusters.
pub(crate) struct Clustered<'a> {
    pub(crate) limb: &'a Limb,
    pub(crate) layout: Layout,
    pub(crate) net: ControlNet,
}

impl<'a> Clustered<'a> {
    pub(crate) fn new(limb: &'a Limb, clusters: &[bool]) -> Self {
        let layout = Layout::new(&limb.surface, clusters, &Task::new()).unwrap();
        Self {
            net: ControlNet::new(&limb.surface, &layout),
            layout,
            limb,
        }
    }

    pub(crate) fn exact(&self, options: PatchOptions) -> ExactPatches<'_> {
        ExactPatches::new(&self.limb.surface, &self.layout, &self.net, options)
    }

    /// All vertices: free ones from the patches, others from `frames` and the skin.
    pub(crate) fn posed(
        &self,
        turn: DQuat,
        skin: Skin,
        mode: Mode,
        options: PatchOptions,
    ) -> Vec<DVec3> {
        let mut all = self.limb.skinned(turn, skin);
        let frames = self.limb.corner_frames(&self.net, turn, skin, mode);
        let free = self.exact(options).evaluate(&frames);
        for (place, free) in free.into_iter().zip(&self.layout.free) {
            all[free.vertex as usize] = place;
        }
        all
    }

    /// Root mean square and largest distance from dual quaternion skinning, over free vertices, in % of the radius.
    pub(crate) fn error(&self, turn: DQuat, posed: &[DVec3]) -> (f64, f64) {
        let truth = self.limb.skinned(turn, Skin::DualQuaternion);
        let vertices = self.layout.free.iter().map(|f| f.vertex as usize);
        error(vertices.map(|v| posed[v].distance(truth[v])))
    }
}

/// Root mean square and maximum, in % of the radius.
pub(crate) fn error(distances: impl Iterator<Item = f64>) -> (f64, f64) {
    let (mut sum, mut n, mut most) = (0.0, 0, 0.0);
    for d in distances {
        assert!(d.is_finite());
        sum += d * d;
        n += 1;
        most = f64::max(most, d);
    }
    let percent = 100.0 / RADIUS;
    ((sum / f64::from(n.max(1))).sqrt() * percent, most * percent)
}

/// The rotation of the lower bone: a bend about x.
pub(crate) fn bend(degrees: f64) -> DQuat {
    DQuat::from_rotation_x(degrees.to_radians())
}

/// The rotation of the lower bone: a twist about z.
pub(crate) fn twist(degrees: f64) -> DQuat {
    DQuat::from_rotation_z(degrees.to_radians())
}

pub(crate) fn smoothstep(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}
