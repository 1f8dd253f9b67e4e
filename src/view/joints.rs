//! Bones as slim octahedra: their colours and triangles.

use super::heat::hex;
use crate::skeleton::{Bone, JointIndex};
use glam::Vec3;

/// How a bone stands out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BoneState {
    /// Like all others.
    #[default]
    Normal,
    /// Under the pointer.
    Hovered,
    /// One of the selection.
    Selected,
    /// The one that tools work on.
    Active,
}

impl BoneState {
    /// Its colour, sRGB 0 - 1: greys, and the accent for what is selected.
    fn tint(self) -> [f32; 3] {
        match self {
            Self::Normal => hex(0xC4C8CD),
            Self::Hovered => hex(0xF7F8FA),
            Self::Selected => hex(0xC88D3E),
            Self::Active => hex(0xE8A33D),
        }
    }
}

/// One bone as it is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoneShape {
    /// Where it is.
    pub bone: Bone,
    /// How it stands out.
    pub state: BoneState,
}

/// Where a bone is widest, relative to its length from the head.
const WAIST: f32 = 0.16;

/// `bones` with the state of their joints.
pub fn shape_bones(bones: &[Bone], state: impl Fn(JointIndex) -> BoneState) -> Vec<BoneShape> {
    bones
        .iter()
        .map(|&bone| BoneShape {
            bone,
            state: state(bone.joint),
        })
        .collect()
}

/// Vertices of bones, three a triangle, flat normals.
#[derive(Default)]
pub(crate) struct BoneTriangles {
    pub(crate) positions: Vec<[f32; 3]>,
    pub(crate) normals: Vec<[f32; 3]>,
    pub(crate) tints: Vec<[f32; 3]>,
}

impl BoneTriangles {
    /// Replaces the content by the octahedra of `bones`.
    pub(crate) fn fill(&mut self, bones: &[BoneShape]) {
        self.positions.clear();
        self.normals.clear();
        self.tints.clear();
        for &BoneShape { bone, state } in bones {
            let axis = bone.tail - bone.head;
            let length = axis.length();
            let (bottom, top, waist) = if length > 1e-9 {
                (bone.head, bone.tail, bone.head + axis * WAIST)
            } else {
                let up = Vec3::Y * bone.radius;
                (bone.head - up, bone.head + up, bone.head)
            };
            let forward = axis.normalize_or(Vec3::Y);
            let side = bone
                .side
                .reject_from_normalized(forward)
                .try_normalize()
                .unwrap_or_else(|| forward.any_orthonormal_vector());
            let other = forward.cross(side);
            // Edges between the joint's axes, as other editors draw them: the faces then look along the axes.
            let corner = |s: f32, o: f32| {
                waist + (side * s + other * o) * (bone.radius * std::f32::consts::FRAC_1_SQRT_2)
            };
            let ring = [
                corner(1., 1.),
                corner(-1., 1.),
                corner(-1., -1.),
                corner(1., -1.),
            ];
            for i in 0..4 {
                let (a, b) = (ring[i], ring[(i + 1) % 4]);
                self.push([a, b, top], state);
                self.push([b, a, bottom], state);
            }
        }
    }

    fn push(&mut self, corners: [Vec3; 3], state: BoneState) {
        let [a, b, c] = corners;
        let normal = (b - a).cross(c - a).normalize_or_zero();
        for corner in corners {
            self.positions.push(corner.to_array());
            self.normals.push(normal.to_array());
            self.tints.push(state.tint());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bone(head: Vec3, tail: Vec3) -> BoneShape {
        let bone = Bone {
            joint: JointIndex(0),
            head,
            tail,
            side: Vec3::X,
            radius: 0.01,
        };
        BoneShape {
            bone,
            state: BoneState::Normal,
        }
    }

    #[test]
    fn a_bone_without_extent_is_a_diamond() {
        let mut triangles = BoneTriangles::default();
        triangles.fill(&[bone(Vec3::X, Vec3::X)]);
        assert_eq!(triangles.positions.len(), 24);
        assert!(
            triangles
                .normals
                .iter()
                .all(|&n| Vec3::from(n).is_normalized())
        );
    }

    #[test]
    fn faces_look_outwards() {
        let mut triangles = BoneTriangles::default();
        triangles.fill(&[bone(Vec3::ZERO, Vec3::Y)]);
        for (corner, normal) in triangles.positions.iter().zip(&triangles.normals) {
            let from_axis = Vec3::from(*corner) - Vec3::new(0., WAIST, 0.);
            assert!(from_axis.dot(Vec3::from(*normal)) > 0.0);
        }
    }
}
