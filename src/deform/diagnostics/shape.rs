//! The input of the metrics.

use crate::mesh::Mesh;
use crate::skinning::{BonePose, Influences, SkinBones, SkinPalette};
use glam::{DVec3, Vec3};

/// One evaluated instance, borrowed. Arrays of a wrong length count as empty.
#[derive(Clone, Copy)]
pub struct ShapeView<'a> {
    /// Its geometry.
    pub mesh: &'a Mesh,
    /// The influences of its points; empty rows for a rigid instance.
    pub influences: &'a Influences,
    /// The motions of the joints; empty for a rigid instance.
    pub palette: &'a SkinPalette,
    /// Its bones.
    pub segments: &'a Segments,
    /// The hierarchy of its bones; `None` for a rigid instance.
    pub bones: Option<&'a SkinBones>,
    /// n_points: the bind shape with morph targets and the joints' scale, before any rotation.
    pub inflated: &'a [Vec3],
    /// n_points: on screen, world space.
    pub posed: &'a [Vec3],
    /// n_normals: on screen, world space, unit.
    pub normals: &'a [Vec3],
    /// n_points: the same under dual quaternion skinning alone.
    pub plain: Option<&'a [Vec3]>,
    /// n_points: the same under the stack that [`super::Metric::Difference`] compares with.
    pub other: Option<&'a [Vec3]>,
}

impl ShapeView<'_> {
    /// The number of points that have a position both at rest and in the pose.
    pub fn n_points(&self) -> usize {
        self.mesh
            .n_points()
            .min(self.inflated.len())
            .min(self.posed.len())
    }

    /// The diagonal of the box around the inflated bind shape, metres.
    pub fn diagonal(&self) -> f64 {
        let finite = self.inflated.iter().filter(|p| p.is_finite());
        let (low, high) = finite.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), &p| {
            (low.min(p), high.max(p))
        });
        if low.x <= high.x {
            low.as_dvec3().distance(high.as_dvec3())
        } else {
            0.0
        }
    }

    /// A point at rest.
    pub(super) fn at_rest(&self, point: usize) -> DVec3 {
        self.inflated[point].as_dvec3()
    }

    /// A point in the pose.
    pub(super) fn in_pose(&self, point: usize) -> DVec3 {
        self.posed[point].as_dvec3()
    }

    /// Whether all corners of a face have finite positions in the pose.
    pub(super) fn is_posed(&self, face: [u32; 3]) -> bool {
        face.into_iter().all(|p| self.posed[p as usize].is_finite())
    }

    /// The triangles that have all three corners, as points.
    pub(super) fn triangles(&self) -> &[[u32; 3]] {
        // Only a shape of another mesh lacks points; it has no faces then.
        if self.n_points() == self.mesh.n_points() {
            &self.mesh.topology().triangles
        } else {
            &[]
        }
    }

    /// The points that share an edge with `point`.
    pub(super) fn neighbours(&self, point: usize) -> &[u32] {
        if self.n_points() == self.mesh.n_points() {
            self.mesh.topology().neighbours(point as u32)
        } else {
            &[]
        }
    }
}

/// A bone in both shapes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Its ends in the inflated bind shape.
    pub inflated: [DVec3; 2],
    /// The same ends moved by their joint, world space.
    pub posed: [DVec3; 2],
}

/// The bones of each joint of a skin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Segments {
    starts: Vec<u32>,
    bones: Vec<Segment>,
    /// n_joints; empty where the hierarchy is unknown.
    above: Vec<Option<u16>>,
}

impl Segments {
    /// Bones from one list a joint.
    pub fn from_lists<T: IntoIterator<Item = Segment>>(lists: impl IntoIterator<Item = T>) -> Self {
        let mut all = Self {
            starts: vec![0],
            ..Self::default()
        };
        for list in lists {
            all.bones.extend(list);
            all.starts.push(all.bones.len() as u32);
        }
        all
    }

    /// The bones of joint `joint` of the skin; none beyond its joints.
    pub fn of(&self, joint: u16) -> &[Segment] {
        let joint = joint as usize;
        match (self.starts.get(joint), self.starts.get(joint + 1)) {
            (Some(&start), Some(&end)) => &self.bones[start as usize..end as usize],
            _ => &[],
        }
    }

    /// The bones of a skin in a pose.
    pub fn of_bones(bones: &SkinBones, pose: &BonePose) -> Self {
        let joints = 0..bones.n_joints() as u16;
        let mut all = Self::from_lists(joints.map(|joint| {
            bones.segments_of(joint).map(|segment| Segment {
                inflated: pose.inflated(segment).map(glam::Vec3::as_dvec3),
                posed: pose.posed(segment).map(glam::Vec3::as_dvec3),
            })
        }));
        all.above = bones.joints_above();
        all
    }

    /// The nearest joint of the skin above joint `joint`.
    pub fn above(&self, joint: u16) -> Option<u16> {
        self.above.get(joint as usize).copied().flatten()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::math::Transform;
    use crate::skeleton::{Joint, JointId, JointRule, Skeleton};
    use crate::skinning::{Rows, SkinBind, Stretch};
    use glam::{DAffine3, DQuat};
    use std::sync::OnceLock;

    /// An open tube of radius 1 along x from -1 to 1, 5 rings of 16 points, moved by one joint at (-1, 0, 0).
    pub(in super::super) struct Tube {
        pub(in super::super) mesh: Mesh,
        pub(in super::super) influences: Influences,
        pub(in super::super) palette: SkinPalette,
        pub(in super::super) segments: Segments,
        pub(in super::super) inflated: Vec<Vec3>,
        pub(in super::super) posed: Vec<Vec3>,
        pub(in super::super) normals: Vec<Vec3>,
    }

    impl Tube {
        pub(in super::super) fn new() -> Self {
            Self::build(false)
        }

        /// Closed by a fan on both ends.
        pub(in super::super) fn with_caps() -> Self {
            Self::build(true)
        }

        fn build(caps: bool) -> Self {
            let (mut positions, mut normals) = (Vec::new(), Vec::new());
            for ring in 0..5u8 {
                for side in 0..16u8 {
                    let (sin, cos) = (f32::from(side) * std::f32::consts::TAU / 16.0).sin_cos();
                    positions.push(Vec3::new(f32::from(ring) * 0.5 - 1.0, cos, sin));
                    normals.push(Vec3::new(0.0, cos, sin));
                }
            }
            let at = |ring: u32, side: u32| ring * 16 + side % 16;
            let mut triangles = Vec::new();
            for (ring, side) in (0..4).flat_map(|r| (0..16).map(move |s| (r, s))) {
                let (a, b) = (at(ring, side), at(ring, side + 1));
                let (c, d) = (at(ring + 1, side), at(ring + 1, side + 1));
                triangles.extend([[a, b, c], [b, d, c]]);
            }
            if caps {
                let left = positions.len() as u32;
                positions.extend([Vec3::NEG_X, Vec3::X]);
                normals.extend([Vec3::NEG_X, Vec3::X]);
                for side in 0..16 {
                    triangles.push([left, at(0, side + 1), at(0, side)]);
                    triangles.push([left + 1, at(4, side), at(4, side + 1)]);
                }
            }
            let n = positions.len() as u32;
            let mesh = Mesh {
                point_of_vertex: (0..n).collect(),
                normal_of_vertex: (0..n).collect(),
                point_of_normal: (0..n).collect(),
                positions: positions.clone(),
                normals: normals.clone(),
                triangles,
                topology: OnceLock::new(),
                ..Mesh::default()
            };
            let rows: Rows = (0..n).map(|_| vec![(0, 1.0)]).collect();
            let mut tube = Self {
                mesh,
                influences: Influences::from_rows(rows.iter()),
                palette: SkinPalette::default(),
                segments: Segments::default(),
                inflated: positions.clone(),
                posed: positions,
                normals,
            };
            tube.turn(DQuat::IDENTITY);
            tube
        }

        /// Turns the joint and all points with it, about the origin.
        pub(in super::super) fn turn(&mut self, rotation: DQuat) {
            let skeleton = Skeleton::new(vec![Joint {
                name: String::new(),
                parent: None,
                rest: Transform::IDENTITY,
                source_node: None,
                content_of: None,
                removed: false,
                rule: JointRule::default(),
            }])
            .unwrap();
            let joints = [JointId(0)];
            let inverse_bind = [DAffine3::IDENTITY];
            let bind = SkinBind::new(&skeleton, &joints, &inverse_bind, &[true], &inverse_bind);
            let world = [DAffine3::from_quat(rotation)];
            bind.pose(&world, Stretch::Inflate, &mut self.palette);
            let ends = [DVec3::NEG_X, DVec3::X];
            self.segments = Segments::from_lists([[Segment {
                inflated: ends,
                posed: ends.map(|p| rotation * p),
            }]]);
            for points in [&mut self.posed, &mut self.normals] {
                for p in points {
                    *p = (rotation * p.as_dvec3()).as_vec3();
                }
            }
        }

        /// A point of the middle ring.
        pub(in super::super) fn middle() -> usize {
            2 * 16 + 3
        }

        pub(in super::super) fn view(&self) -> ShapeView<'_> {
            ShapeView {
                mesh: &self.mesh,
                influences: &self.influences,
                palette: &self.palette,
                segments: &self.segments,
                bones: None,
                inflated: &self.inflated,
                posed: &self.posed,
                normals: &self.normals,
                plain: None,
                other: None,
            }
        }
    }

    #[test]
    fn a_shape_of_another_mesh_has_no_faces() {
        let tube = Tube::new();
        let view = ShapeView {
            posed: &tube.posed[..7],
            ..tube.view()
        };
        assert_eq!(view.n_points(), 7);
        assert!(view.triangles().is_empty() && view.neighbours(3).is_empty());
        for metric in super::super::Metric::ALL {
            assert_eq!(super::super::measure(metric, &view).values.len(), 7);
        }
    }
}
