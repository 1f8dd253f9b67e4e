//! The bones of a skin in one pose: the segments that corrections measure distances from.

use super::palette::{Motion, Row8, SkinPalette};
use super::skin_bones::SkinBones;
use glam::{DVec3, Vec3};

/// The segments of a skin's bones in one pose. Filled by [`BonePose::update`]; buffers are reused.
#[derive(Clone, Debug, Default)]
pub struct BonePose {
    /// n_segments, inflated bind space; rest distances are measured from them.
    pub(crate) inflated: Vec<Row8>,
    /// n_segments, posed world space, moved rigidly by their joint.
    pub(crate) posed: Vec<Row8>,
}

impl BonePose {
    /// Computes the segments of `bones` under `palette`. Returns whether one moved in the inflated bind shape: rest
    /// distances from it are then outdated.
    pub fn update(&mut self, bones: &SkinBones, palette: &SkinPalette) -> bool {
        let n = bones.n_segments();
        let mut changed = self.inflated.len() != n;
        self.inflated.resize(n, Row8::default());
        self.posed.resize(n, Row8::default());
        let rows = self.inflated.iter_mut().zip(&mut self.posed);
        for (segment, (inflated, posed)) in bones.segments().iter().zip(rows) {
            let motion = palette
                .motions()
                .get(segment.joint as usize)
                .copied()
                .unwrap_or(Motion::IDENTITY);
            let a = motion.inflated_origin;
            let b = SkinBones::inflated_end(segment.end, &motion, palette);
            let rigid = motion.rigid();
            let row = segment_row(a, b);
            changed |= *inflated != row;
            *inflated = row;
            *posed = segment_row(rigid.transform_point3(a), rigid.transform_point3(b));
        }
        changed
    }

    /// Start and end of a segment in the inflated bind shape.
    pub fn inflated(&self, segment: usize) -> [Vec3; 2] {
        ends(&self.inflated[segment])
    }

    /// Start and end of a segment in the pose, world space.
    pub fn posed(&self, segment: usize) -> [Vec3; 2] {
        ends(&self.posed[segment])
    }
}

/// Start and end of a segment.
fn ends(row: &Row8) -> [Vec3; 2] {
    let r = row.0;
    let a = Vec3::new(r[0], r[1], r[2]);
    [a, a + Vec3::new(r[4], r[5], r[6])]
}

/// A segment in the layout of the kernels: (start x y z, 1 / length^2, direction x length x y z, 0); a point has 0 for
/// both.
fn segment_row(a: DVec3, b: DVec3) -> Row8 {
    let d = b - a;
    let inverse = 1.0 / d.length_squared();
    let usable = a.is_finite() && d.is_finite() && inverse.is_finite() && inverse < 1e30;
    let (d, inverse) = if usable {
        (d, inverse)
    } else {
        (DVec3::ZERO, 0.0)
    };
    let a = if a.is_finite() { a } else { DVec3::ZERO };
    let (a, d) = (a.as_vec3(), d.as_vec3());
    Row8([a.x, a.y, a.z, inverse as f32, d.x, d.y, d.z, 0.0])
}
