//! The skin matrices of one pose, in the layouts of the kernels.

use glam::{DAffine3, DMat3, DQuat, DVec3};

/// Eight f32 that never straddle a cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(32))]
pub(crate) struct Row8(pub(crate) [f32; 8]);

/// Rows of [`Row8`] that one affine matrix takes: (m00 m01 m02 tx, m10 m11 m12 ty), (m20 m21 m22 tz, 0 0 0 0).
pub(crate) const AFFINE_ROWS: usize = 2;

/// How scale and shear of the joints are applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stretch {
    /// Stretch the bind shape first, then move it rigidly (Lee et al. 2013).
    #[default]
    Inflate,
    /// Not at all: only rotations and the positions of joints move points.
    Drop,
}

/// How one joint moves its points: `x -> rotation * N(s x) + translation` with
/// `N(x) = stretch * (x - origin) + inflated_origin`. Exactly the skin matrix where nothing was dropped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// Q_j: unit, relative to the bind pose, on its parent's hemisphere.
    pub rotation: DQuat,
    /// Translation of the rigid motion R_j, metres.
    pub translation: DVec3,
    /// P_j: scale and shear in bind axes; the identity exactly where the joint has none.
    pub stretch: DMat3,
    /// g_j: the joint's bind position, scaled bind space.
    pub origin: DVec3,
    /// h_j: the joint's position in the inflated bind shape.
    pub inflated_origin: DVec3,
}

impl Motion {
    /// The identity.
    pub const IDENTITY: Self = Self {
        rotation: DQuat::IDENTITY,
        translation: DVec3::ZERO,
        stretch: DMat3::IDENTITY,
        origin: DVec3::ZERO,
        inflated_origin: DVec3::ZERO,
    };

    /// R_j: inflated bind space -> posed world space, rigid.
    pub fn rigid(&self) -> DAffine3 {
        DAffine3::from_rotation_translation(self.rotation, self.translation)
    }

    /// N_j: scaled bind space -> inflated bind space.
    pub fn inflation(&self) -> DAffine3 {
        DAffine3::from_mat3_translation(
            self.stretch,
            self.inflated_origin - self.stretch * self.origin,
        )
    }

    /// The largest coordinate in it, infinite where one is not finite.
    pub(super) fn reach(&self) -> f64 {
        [self.translation, self.origin, self.inflated_origin]
            .iter()
            .map(|v| {
                if v.is_finite() {
                    v.abs().max_element()
                } else {
                    f64::INFINITY
                }
            })
            .fold(0.0, f64::max)
    }

    /// Whether every number has the bits of another's.
    fn same_bits(&self, other: &Self) -> bool {
        // Arrays, not an iterator over all numbers: compared in a tenth of the time.
        let bits = |m: &Self| {
            (
                m.rotation.to_array().map(f64::to_bits),
                m.translation.to_array().map(f64::to_bits),
                m.stretch.to_cols_array().map(f64::to_bits),
                m.origin.to_array().map(f64::to_bits),
                m.inflated_origin.to_array().map(f64::to_bits),
            )
        };
        bits(self) == bits(other)
    }

    /// Whether the inflation leaves every point where it is.
    fn is_rigid(&self) -> bool {
        let reach = 1e-12 * (1.0 + self.origin.abs().max_element());
        self.stretch == DMat3::IDENTITY && self.origin.abs_diff_eq(self.inflated_origin, reach)
    }
}

/// The motion of a node in one pose.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeMotion {
    pub(super) rotation: DQuat,
    pub(super) stretch: DMat3,
    pub(super) inflated_origin: DVec3,
}

/// The skin matrices of one pose. Filled by [`super::SkinBind::pose`]; every number is finite.
#[derive(Clone, Debug)]
pub struct SkinPalette {
    unit_scale: f64,
    stretch: Stretch,
    motions: Vec<Motion>,
    /// Positions of all nodes of [`super::SkinBind`] in the inflated bind shape, parents first.
    inflated_nodes: Vec<DVec3>,
    /// The motions of the nodes while the palette is filled; kept for its memory.
    scratch: Vec<NodeMotion>,
    skin_matrices: Vec<DAffine3>,
    /// [`AFFINE_ROWS`] a joint: original bind space -> posed world space.
    pub(crate) lbs: Vec<Row8>,
    /// [`AFFINE_ROWS`] a joint: original bind space -> inflated bind space.
    pub(crate) inflate: Vec<Row8>,
    /// One a joint: inflated bind space -> posed world space, (real x y z w, dual x y z w).
    pub(crate) rigid: Vec<Row8>,
    /// [`AFFINE_ROWS`] a joint: the same motion as a matrix.
    pub(crate) rigid_affine: Vec<Row8>,
    /// One a joint: whether its inflation moves anything.
    inflates: Vec<bool>,
    any_inflates: bool,
}

impl Default for SkinPalette {
    fn default() -> Self {
        let mut palette = Self {
            unit_scale: 1.0,
            stretch: Stretch::default(),
            motions: Vec::new(),
            inflated_nodes: Vec::new(),
            scratch: Vec::new(),
            skin_matrices: Vec::new(),
            lbs: Vec::new(),
            inflate: Vec::new(),
            rigid: Vec::new(),
            rigid_affine: Vec::new(),
            inflates: Vec::new(),
            any_inflates: false,
        };
        palette.begin(1.0, Stretch::default());
        palette.finish();
        palette
    }
}

impl SkinPalette {
    /// The number of its joints.
    pub fn n_joints(&self) -> usize {
        self.motions.len()
    }

    /// The factor of bind positions before inflation and rigid motion (not before LBS).
    pub fn unit_scale(&self) -> f64 {
        self.unit_scale
    }

    /// How scale and shear were applied.
    pub fn stretch(&self) -> Stretch {
        self.stretch
    }

    /// Whether some joint's inflation moves points; else the inflated bind shape is the bind shape times the unit.
    pub fn inflates(&self) -> bool {
        self.any_inflates
    }

    /// Whether joint `joint`'s inflation moves points.
    pub(crate) fn joint_inflates(&self, joint: u16) -> bool {
        self.inflates.get(joint as usize) == Some(&true)
    }

    /// How each joint of the skin moves its points, f64.
    pub fn motions(&self) -> &[Motion] {
        &self.motions
    }

    /// h of every node of [`super::SkinBind`], inflated bind space.
    pub(crate) fn inflated_nodes(&self) -> &[DVec3] {
        &self.inflated_nodes
    }

    pub(super) fn set_inflated_nodes(&mut self, origins: impl Iterator<Item = DVec3>) {
        self.inflated_nodes.clear();
        self.inflated_nodes.extend(origins);
    }

    /// Whether it moves every point to the same bits as another palette.
    pub(crate) fn same_bits(&self, other: &Self) -> bool {
        let same = |a: &[Row8], b: &[Row8]| {
            bytemuck::cast_slice::<_, u32>(a) == bytemuck::cast_slice::<_, u32>(b)
        };
        self.unit_scale.to_bits() == other.unit_scale.to_bits()
            && self.stretch == other.stretch
            && same(&self.lbs, &other.lbs)
            && same(&self.inflate, &other.inflate)
            && same(&self.rigid, &other.rigid)
            && self.inflates == other.inflates
            && self.motions.len() == other.motions.len()
            && (self.motions.iter().zip(&other.motions)).all(|(a, b)| a.same_bits(b))
    }

    /// The bits of all inflations; none where no joint inflates.
    pub(crate) fn inflation_bits(&self) -> impl Iterator<Item = u32> {
        let rows = if self.any_inflates {
            &self.inflate[..]
        } else {
            &[]
        };
        let joints = self.inflates.iter().take(rows.len());
        let flags = joints.map(|&inflates| u32::from(inflates));
        flags.chain(bytemuck::cast_slice::<_, u32>(rows).iter().copied())
    }

    /// K_j: original bind space -> posed world space of each joint of the skin, f64, as glTF has it.
    pub fn skin_matrices(&self) -> &[DAffine3] {
        &self.skin_matrices
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.motions.capacity() * size_of::<Motion>()
            + self.inflated_nodes.capacity() * size_of::<DVec3>()
            + self.skin_matrices.capacity() * size_of::<DAffine3>()
            + (self.lbs.capacity()
                + self.inflate.capacity()
                + self.rigid.capacity()
                + self.rigid_affine.capacity())
                * size_of::<Row8>()
            + self.inflates.capacity()
    }

    pub(super) fn take_scratch(&mut self) -> Vec<NodeMotion> {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch
    }

    pub(super) fn give_scratch(&mut self, scratch: Vec<NodeMotion>) {
        self.scratch = scratch;
    }

    pub(super) fn begin(&mut self, unit_scale: f64, stretch: Stretch) {
        self.unit_scale = unit_scale;
        self.stretch = stretch;
        self.motions.clear();
        self.skin_matrices.clear();
        self.lbs.clear();
        self.inflate.clear();
        self.rigid.clear();
        self.rigid_affine.clear();
        self.inflates.clear();
        self.any_inflates = false;
    }

    pub(super) fn push(&mut self, skin_matrix: DAffine3, motion: Motion) {
        self.motions.push(motion);
        self.skin_matrices.push(skin_matrix);
        self.push_rows(skin_matrix, &motion);
        let inflates = !motion.is_rigid();
        self.inflates.push(inflates);
        self.any_inflates |= inflates;
    }

    /// Adds the row that points without influences read: there is always one to read.
    pub(super) fn finish(&mut self) {
        self.push_rows(DAffine3::IDENTITY, &Motion::IDENTITY);
    }

    fn push_rows(&mut self, skin_matrix: DAffine3, motion: &Motion) {
        self.lbs.extend(affine_rows(skin_matrix));
        let unit = DAffine3::from_scale(DVec3::splat(self.unit_scale));
        self.inflate.extend(affine_rows(motion.inflation() * unit));
        self.rigid_affine.extend(affine_rows(motion.rigid()));
        let q =
            crate::math::DualQuat::from_rotation_translation(motion.rotation, motion.translation);
        let (r, d) = (q.real.as_quat(), q.dual.as_quat());
        self.rigid
            .push(Row8([r.x, r.y, r.z, r.w, d.x, d.y, d.z, d.w]));
    }
}

fn affine_rows(m: DAffine3) -> [Row8; AFFINE_ROWS] {
    let [x, y, z, t] = m.to_cols_array_2d().map(|c| c.map(|v| v as f32));
    [
        Row8([x[0], y[0], z[0], t[0], x[1], y[1], z[1], t[1]]),
        Row8([x[2], y[2], z[2], t[2], 0.0, 0.0, 0.0, 0.0]),
    ]
}
