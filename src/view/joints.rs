//! Bones as slim octahedra with a ball at each joint: triangles and colours.

use super::scenery::{BoneState, Scenery};
use crate::skeleton::bone_shape::{BALL, Octahedron};
use crate::skeleton::{Bone, JointId};
use glam::Vec3;
use std::collections::HashMap;

/// A bone to draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoneShape {
    /// Its geometry.
    pub bone: Bone,
    /// Its highlight.
    pub state: BoneState,
    /// Its custom colour, sRGB 0 to 1; `None`: the theme's. The selection colour overrides it.
    pub colour: Option<[f32; 3]>,
}

/// Opacity factor of a helper bone.
const HELPER_OPACITY: f32 = 0.55;
/// Outline width of a bone and of the active bone, points.
const OUTLINE: f32 = 1.1;
const ACTIVE_OUTLINE: f32 = 1.7;

/// The shapes of `bones` with the highlight of their joints.
pub fn shape_bones(bones: &[Bone], state: impl Fn(JointId) -> BoneState) -> Vec<BoneShape> {
    bones
        .iter()
        .map(|&bone| BoneShape {
            bone,
            state: state(bone.joint),
            colour: None,
        })
        .collect()
}

/// The vertices of bones, three per triangle.
#[derive(Default)]
pub(crate) struct BoneTriangles {
    pub(crate) positions: Vec<[f32; 3]>,
    /// Unit normal, and 1 where the triangle's edges are drawn.
    pub(crate) normals: Vec<[f32; 4]>,
    /// The direction in which the outline expands, unit length.
    pub(crate) outwards: Vec<[f32; 3]>,
    /// Fill, sRGB, and opacity.
    pub(crate) fills: Vec<[f32; 4]>,
    /// Outline, sRGB, and its width in points.
    pub(crate) outlines: Vec<[f32; 4]>,
}

/// Fill and outline of one bone.
type Paint = [[f32; 4]; 2];

impl BoneTriangles {
    /// Replaces the content with the octahedra and balls of `bones`.
    pub(crate) fn fill(&mut self, bones: &[BoneShape], scenery: &Scenery) {
        self.positions.clear();
        self.normals.clear();
        self.outwards.clear();
        self.fills.clear();
        self.outlines.clear();
        // The widest bone of each joint carries its ball.
        let mut balls: HashMap<JointId, (Vec3, f32, Paint)> = HashMap::new();
        for shape in bones {
            let paint = paint(shape, scenery);
            let bone = &shape.bone;
            if bone.head != bone.tail {
                let radius = bone.radius * BALL;
                let ball = balls
                    .entry(bone.joint)
                    .or_insert((bone.head, radius, paint));
                if radius > ball.1 {
                    *ball = (bone.head, radius, paint);
                }
            }
            self.octahedron(bone, paint);
        }
        for shape in bones {
            if let Some((centre, radius, paint)) = balls.remove(&shape.bone.joint) {
                self.ball(centre, radius, paint);
            }
        }
    }

    fn octahedron(&mut self, bone: &Bone, paint: Paint) {
        let shape = Octahedron::new(bone);
        for face in shape.faces() {
            let up = if face[2] == shape.top { 1.0 } else { -1.0 };
            self.face(face, shape.forward * up, paint);
        }
    }

    /// A flat face; its outline also expands to the `tip` at the last corner.
    fn face(&mut self, corners: [Vec3; 3], tip: Vec3, paint: Paint) {
        let [a, b, c] = corners;
        let normal = (b - a).cross(c - a).normalize_or_zero();
        for (i, corner) in corners.into_iter().enumerate() {
            let outward = if i == 2 { normal + tip } else { normal };
            self.push(
                corner,
                normal.extend(1.0).to_array(),
                outward.normalize_or(normal),
                paint,
            );
        }
    }

    fn ball(&mut self, centre: Vec3, radius: f32, paint: Paint) {
        // An octahedron with each face divided into four: round at the few pixels of a joint.
        for signs in 0..8u32 {
            let sign = |bit: u32| if signs >> bit & 1 == 0 { 1.0 } else { -1.0 };
            let (x, y, z) = (Vec3::X * sign(0), Vec3::Y * sign(1), Vec3::Z * sign(2));
            let (x, y) = if sign(0) * sign(1) * sign(2) > 0.0 {
                (x, y)
            } else {
                (y, x)
            };
            let half = |a: Vec3, b: Vec3| (a + b).normalize_or_zero();
            let (xy, yz, zx) = (half(x, y), half(y, z), half(z, x));
            for face in [[x, xy, zx], [xy, y, yz], [zx, yz, z], [xy, yz, zx]] {
                for normal in face {
                    self.push(
                        centre + normal * radius,
                        normal.extend(0.0).to_array(),
                        normal,
                        paint,
                    );
                }
            }
        }
    }

    fn push(&mut self, position: Vec3, normal: [f32; 4], outward: Vec3, [fill, outline]: Paint) {
        self.positions.push(position.to_array());
        self.normals.push(normal);
        self.outwards.push(outward.to_array());
        self.fills.push(fill);
        self.outlines.push(outline);
    }
}

fn paint(shape: &BoneShape, scenery: &Scenery) -> Paint {
    let [[r, g, b], [or, og, ob]] = scenery.of_bone(shape.state, shape.colour);
    let opacity = match shape.state {
        BoneState::Normal if shape.bone.helper => HELPER_OPACITY,
        _ => 1.0,
    };
    let width = match shape.state {
        BoneState::Active => ACTIVE_OUTLINE,
        BoneState::Normal if shape.bone.helper => OUTLINE * 0.6,
        _ => OUTLINE,
    };
    [[r, g, b, opacity], [or, og, ob, width]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::scenery::Theme;

    fn bone(head: Vec3, tail: Vec3) -> BoneShape {
        let bone = Bone {
            joint: JointId(0),
            head,
            tail,
            side: Vec3::X,
            radius: 0.01,
            helper: false,
        };
        BoneShape {
            bone,
            state: BoneState::Normal,
            colour: None,
        }
    }

    fn triangles(bones: &[BoneShape]) -> BoneTriangles {
        let mut triangles = BoneTriangles::default();
        triangles.fill(bones, Scenery::of(Theme::Dark));
        triangles
    }

    #[test]
    fn a_bone_without_extent_is_a_diamond() {
        let triangles = triangles(&[bone(Vec3::X, Vec3::X)]);
        assert_eq!(triangles.positions.len(), 24);
        assert!(
            triangles
                .normals
                .iter()
                .all(|&[x, y, z, _]| Vec3::new(x, y, z).is_normalized())
        );
    }

    #[test]
    fn a_joint_with_two_bones_has_one_ball() {
        let two = triangles(&[bone(Vec3::ZERO, Vec3::Y), bone(Vec3::ZERO, Vec3::X)]);
        assert_eq!(two.positions.len(), 2 * 24 + 32 * 3);
    }

    #[test]
    fn faces_and_outlines_look_outwards() {
        let triangles = triangles(&[bone(Vec3::ZERO, Vec3::Y)]);
        for i in 0..24 {
            let [x, y, z, _] = triangles.normals[i];
            let from_axis = Vec3::from(triangles.positions[i]) - Vec3::new(0., 0.16, 0.);
            assert!(from_axis.dot(Vec3::new(x, y, z)) > 0.0);
            assert!(from_axis.dot(triangles.outwards[i].into()) > 0.0);
        }
        for corners in triangles.positions[24..].chunks_exact(3) {
            let [a, b, c] = [0, 1, 2].map(|i| Vec3::from(corners[i]));
            assert!((b - a).cross(c - a).dot(a + b + c) > 0.0, "wound outwards");
        }
    }

    #[test]
    fn a_bone_has_its_colour_until_it_is_active() {
        let mut shape = bone(Vec3::ZERO, Vec3::Y);
        shape.colour = Some([0.1, 0.2, 0.9]);
        assert_eq!(triangles(&[shape]).fills[0], [0.1, 0.2, 0.9, 1.0]);
        shape.state = BoneState::Active;
        let [r, _, b, _] = triangles(&[shape]).fills[0];
        assert!(r > b);
    }
}
